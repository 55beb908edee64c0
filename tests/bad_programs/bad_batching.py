"""vmap and its named axes."""

import numpy as np

from autodidax import grad, lax, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])
M = np.arange(6.0).reshape(2, 3)


def affine(w, x, b):
    return w @ x + b


@bad(
    ValueError,
    """
    ShapeError: vmap of affine: the mapped axes differ in size: argument 'w' of shape (4, 2, 3) has size 4 along
            axis 0; argument 'x' of shape (5, 3) has size 5 along axis 0; argument 'b' of shape (4, 2) has size
            4 along axis 0
      in: sizes_that_differ (here)
      mend: give all mapped axes one size, or None in in_axes for arguments that are not mapped
    """,
)
def sizes_that_differ():
    vmap(affine)(np.ones((4, 2, 3)), np.ones((5, 3)), np.ones((4, 2)))  # <- here


@bad(
    ValueError,
    """
    ShapeError: vmap of <lambda>: the mapped axes differ in size: argument 'p'['b'] of shape (4,) has size 4
            along axis 0; argument 'p'['w'] of shape (3,) has size 3 along axis 0
      in: sizes_that_differ_in_a_tree (here)
      mend: give all mapped axes one size, or None in in_axes for arguments that are not mapped
    """,
)
def sizes_that_differ_in_a_tree():
    vmap(lambda p: p["w"] * p["b"])({"w": np.ones(3), "b": np.ones(4)})  # <- here


@bad(
    TypeError,
    """
    ArgumentError: vmap of affine: in_axes has 2 entries for 3 positional arguments
      in: in_axes_of_another_length (here)
      mend: give in_axes one entry for each positional argument; keyword arguments are mapped over axis 0
    """,
)
def in_axes_of_another_length():
    vmap(affine, in_axes=(None, 0))(np.ones((2, 3)), np.ones((5, 3)), np.ones(2))  # <- here


@bad(
    ValueError,
    """
    TreeError: vmap of <lambda>: in_axes {'w': 0} does not fit the tree that it is for: at the root: dict with
            keys 'w' expected, dict with keys 'b', 'w' given (unexpected 'b')
      in: in_axes_of_another_structure (here)
      mend: give in_axes as one integer, or with the containers and keys of that tree
    """,
)
def in_axes_of_another_structure():
    vmap(lambda p: p["w"] * p["b"], in_axes=({"w": 0},))({"w": X, "b": X})  # <- here


@bad(
    TypeError,
    """
    ArgumentError: vmap: in_axes must be an integer, None or a tuple with one entry an argument, got 'rows'
      in: in_axes_as_a_string (here)
      mend: write in_axes=0 or in_axes=(0, None); for a dict argument in_axes=({'w': 0},)
    """,
)
def in_axes_as_a_string():
    vmap(affine, in_axes="rows")  # <- here


@bad(
    ValueError,
    """
    ShapeError: vmap over axis 2 of argument 'a', which has shape (2, 3)
      in: in_axes_out_of_range (here)
      mend: map an axis that exists, or give None in in_axes for an argument that is not mapped
    """,
)
def in_axes_out_of_range():
    vmap(np.sum, in_axes=2)(M)  # <- here


@bad(
    ValueError,
    """
    ShapeError: vmap over axis 0 of argument 's', which has shape ()
      in: number_that_is_mapped (here)
      mend: map an axis that exists, or give None in in_axes for an argument that is not mapped
    """,
)
def number_that_is_mapped():
    vmap(lambda x, s: x * s)(X, 2.0)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: vmap of sum: no argument is mapped, so the size of the axis is not known
      in: nothing_that_is_mapped (here)
      mend: map at least one argument with in_axes, or give axis_size
    """,
)
def nothing_that_is_mapped():
    vmap(np.sum, in_axes=None)(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: vmap of sin: the mapped axes differ in size: axis_size is 4; argument 0 of shape (3,) has size 3
            along axis 0
      in: axis_size_that_differs (here)
      mend: give all mapped axes one size, or None in in_axes for arguments that are not mapped
    """,
)
def axis_size_that_differs():
    vmap(np.sin, axis_size=4)(X)  # <- here


@bad(
    ValueError,
    """
    ArgumentError: vmap of sum: out_axes 1 for an output of rank 1
      in: out_axes_out_of_range (here)
      mend: give an axis that exists
    """,
)
def out_axes_out_of_range():
    vmap(np.sum, out_axes=1)(M)  # <- here


@bad(
    ValueError,
    """
    TreeError: vmap of <lambda>: out_axes (0, 0) does not fit the tree that it is for: at the root: tuple of 2
            expected, dict with keys 'y' given
      in: out_axes_of_another_structure (here)
      mend: give out_axes as one integer, or with the containers and keys of that tree
    """,
)
def out_axes_of_another_structure():
    vmap(lambda x: {"y": x}, out_axes=(0, 0))(X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: vmap of <lambda>: out_axes is None for an output that differs from row to row
      in: out_axes_none_of_a_mapped_result (here)
      mend: give an integer in out_axes
    """,
)
def out_axes_none_of_a_mapped_result():
    vmap(lambda x: 2.0 * x, out_axes=None)(X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: vmap takes a function as its first argument, got an array of shape (3,) and dtype float64
      in: vmap_of_a_value (here)
      mend: write vmap(f)(x) for a function f, not vmap(f(x))
    """,
)
def vmap_of_a_value():
    vmap(X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: vmap: argument 0[0] is a str, which cannot be traced
      in: vmap_of_strings (here)
      mend: pass numbers or arrays of numbers, or trees of them; close over other values
    """,
)
def vmap_of_strings():
    vmap(len)(["a", "b"])  # <- here


@bad(
    TypeError,
    """
    DtypeError: vmap: an output of <lambda> is a str, which cannot be traced
      in: vmap_that_returns_strings (here), under vmap of <lambda> over axis 0 of size 3
      mend: return numbers or arrays of numbers, or trees of them
    """,
)
def vmap_that_returns_strings():
    vmap(lambda x: "row")(X)  # <- here


@bad(
    TypeError,
    """
    ShapeError: vmap over axis 0 of argument 'axis', which has shape ()
      in: vmap_with_positional_keyword (here)
      mend: keyword arguments are mapped over axis 0: fix it before, vmap(functools.partial(f, name=value))
    """,
)
def vmap_with_positional_keyword():
    vmap(np.sum)(axis=0)  # <- here


@bad(
    NameError,
    """
    UnboundAxisError: no enclosing vmap has an axis named 'rows'; the names here are []
      in: psum_outside_of_vmap (here)
      mend: name the axis where it is mapped: vmap(f, axis_name='rows')
    """,
)
def psum_outside_of_vmap():
    lax.psum(X, "rows")  # <- here


@bad(
    NameError,
    """
    UnboundAxisError: no enclosing vmap has an axis named 'row'; the names here are ['rows']
      in: <lambda> (here), under vmap of <lambda> over axis 'rows' of size 3
      mend: name the axis where it is mapped: vmap(f, axis_name='row'), or use the name 'rows'
    """,
)
def psum_of_another_name():
    vmap(lambda x: x / lax.psum(x, "row"), axis_name="rows")(X)  # <- here


@bad(
    NameError,
    """
    UnboundAxisError: no enclosing vmap has an axis named 'rows'; the names here are []
      in: <lambda> (here), under vmap of <lambda> over axis 0 of size 3
      mend: name the axis where it is mapped: vmap(f, axis_name='rows')
    """,
)
def psum_without_a_name():
    vmap(lambda x: x / lax.psum(x, "rows"))(X)  # <- here


@bad(
    NameError,
    """
    UnboundAxisError: no enclosing vmap has an axis named 'rows'; the names here are []
      in: axis_index_outside_of_vmap (here)
      mend: name the axis where it is mapped: vmap(f, axis_name='rows')
    """,
)
def axis_index_outside_of_vmap():
    lax.axis_index("rows")  # <- here


@bad(
    TypeError,
    """
    DtypeError: psum: an operand is a str, which cannot be traced
      in: <lambda> (here), under vmap of <lambda> over axis 'rows' of size 3
      mend: pass numbers or arrays of numbers, or trees of them; close over other values
    """,
)
def psum_of_a_string():
    vmap(lambda x: lax.psum("x", "rows"), axis_name="rows")(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: grad needs vmap_<lambda> to return a scalar, it returned shape (3,)
      in: gradient_of_a_batch (here), under grad of vmap_<lambda>
      mend: sum or index the output, or use jacrev, jacfwd or elementwise_grad for non-scalar outputs
    """,
)
def gradient_of_a_batch():
    grad(vmap(lambda x: x**2))(X)  # <- here
