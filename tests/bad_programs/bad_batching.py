"""vmap and its named axes."""

import numpy as np

from autodidax import grad, lax, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])
M = np.arange(6.0).reshape(2, 3)


def affine(w, x, b):
    return w @ x + b


@bad(ValueError)
def sizes_that_differ():
    vmap(affine)(np.ones((4, 2, 3)), np.ones((5, 3)), np.ones((4, 2)))  # <- here


@bad(ValueError)
def sizes_that_differ_in_a_tree():
    vmap(lambda p: p["w"] * p["b"])({"w": np.ones(3), "b": np.ones(4)})  # <- here


@bad(TypeError)
def in_axes_of_another_length():
    vmap(affine, in_axes=(None, 0))(np.ones((2, 3)), np.ones((5, 3)), np.ones(2))  # <- here


@bad(ValueError)
def in_axes_of_another_structure():
    vmap(lambda p: p["w"] * p["b"], in_axes=({"w": 0},))({"w": X, "b": X})  # <- here


@bad(TypeError)
def in_axes_as_a_string():
    vmap(affine, in_axes="rows")  # <- here


@bad(ValueError)
def in_axes_out_of_range():
    vmap(np.sum, in_axes=2)(M)  # <- here


@bad(ValueError)
def number_that_is_mapped():
    vmap(lambda x, s: x * s)(X, 2.0)  # <- here


@bad(TypeError)
def nothing_that_is_mapped():
    vmap(np.sum, in_axes=None)(X)  # <- here


@bad(ValueError)
def axis_size_that_differs():
    vmap(np.sin, axis_size=4)(X)  # <- here


@bad(ValueError)
def out_axes_out_of_range():
    vmap(np.sum, out_axes=1)(M)  # <- here


@bad(ValueError)
def out_axes_of_another_structure():
    vmap(lambda x: {"y": x}, out_axes=(0, 0))(X)  # <- here


@bad(TypeError)
def out_axes_none_of_a_mapped_result():
    vmap(lambda x: 2.0 * x, out_axes=None)(X)  # <- here


@bad(TypeError)
def vmap_of_a_value():
    vmap(X)  # <- here


@bad(TypeError)
def vmap_of_strings():
    vmap(len)(["a", "b"])  # <- here


@bad(TypeError)
def vmap_that_returns_strings():
    vmap(lambda x: "row")(X)  # <- here


@bad(TypeError)
def vmap_with_positional_keyword():
    vmap(np.sum)(axis=0)  # <- here


@bad(NameError)
def psum_outside_of_vmap():
    lax.psum(X, "rows")  # <- here


@bad(NameError)
def psum_of_another_name():
    vmap(lambda x: x / lax.psum(x, "row"), axis_name="rows")(X)  # <- here


@bad(NameError)
def psum_without_a_name():
    vmap(lambda x: x / lax.psum(x, "rows"))(X)  # <- here


@bad(NameError)
def axis_index_outside_of_vmap():
    lax.axis_index("rows")  # <- here


@bad(TypeError)
def psum_of_a_string():
    vmap(lambda x: lax.psum("x", "rows"), axis_name="rows")(X)  # <- here


@bad(ValueError)
def gradient_of_a_batch():
    grad(vmap(lambda x: x**2))(X)  # <- here
