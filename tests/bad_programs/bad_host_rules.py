"""Primitives of somebody's functions, and their rules."""

import numpy as np

from autodidax import grad, jit, jvp, primitive_from
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


def total(**rules):
    """The sum of what a library's function returns, with these rules."""
    doubled = primitive_from(lambda x: 2.0 * x, name="doubled", register=False, **rules)
    return lambda x: np.sum(doubled(x))  # <- here


@bad(
    TypeError,
    """
    NondifferentiableError: doubled has no derivative: primitive_from was given neither jvp= nor vjp= for it
      in: <lambda> (here), under grad of <lambda>
      mend: apply it to stop_gradient(x), or to a value that does not depend on the differentiated argument
    """,
)
def library_function_without_rules():
    grad(total())(X)


@bad(
    ValueError,
    """
    ShapeError: doubled: its jvp returned a tangent of shape (2,) for a result of shape (3,)
      in: <lambda> (here), under jvp of <lambda>
      mend: return a tangent of the result's shape from the function that was given as jvp=
    """,
)
def tangent_of_another_shape():
    jvp(total(jvp=lambda out, primals, tangents: 2.0 * tangents[0][:2]), (X,), (X,))


@bad(
    ValueError,
    """
    ShapeError: doubled: its jvp returned a tangent of shape () for a result of shape (3,)
      in: tangent_of_another_shape_in_reverse_mode (here), under the transpose of jvp of doubled
      mend: return a tangent of the result's shape from the function that was given as jvp=
    """,
)
def tangent_of_another_shape_in_reverse_mode():
    grad(total(jvp=lambda out, primals, tangents: np.sum(tangents[0])))(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: doubled: its vjp returned a cotangent of shape () for operand 0, which has shape (3,)
      in: cotangent_that_is_summed_too_much (here)
      mend: return a cotangent of the operand's shape from the function that was given as vjp=
    """,
)
def cotangent_that_is_summed_too_much():
    grad(total(vjp=lambda ct, out, primals: [np.sum(ct)]))(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: doubled: its vjp returned a cotangent of shape (2, 3) for operand 0, which has shape (3,)
      in: <lambda> (here), under jit of grad_<lambda>
      mend: return a cotangent of the operand's shape from the function that was given as vjp=
    """,
)
def cotangent_with_an_axis_too_many():
    jit(grad(total(vjp=lambda ct, out, primals: [np.stack([ct, ct])])))(X)  # <- here


@bad(
    ValueError,
    """
    TreeError: doubled: its vjp must return a list with one entry for each operand, here 1, it returned an array
            of shape (3,) and dtype float64
      in: cotangent_without_a_list (here)
      mend: return a list from the function that was given as vjp=, with None for zeros
    """,
)
def cotangent_without_a_list():
    grad(total(vjp=lambda ct, out, primals: 2.0 * ct))(X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: doubled: <lambda> is called as vjp(ct, out, primals): takes 2 positional arguments but 3 were
            given
      in: vjp_rule_of_two_arguments (here)
      mend: define it with the arguments of vjp(ct, out, primals)
    """,
)
def vjp_rule_of_two_arguments():
    grad(total(vjp=lambda ct, out: [2.0 * ct]))(X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: doubled: <lambda> is called as jvp(out, primals, tangents): takes 2 positional arguments but
            3 were given
      in: <lambda> (here), under jvp of <lambda>
      mend: define it with the arguments of jvp(out, primals, tangents)
    """,
)
def jvp_rule_of_two_arguments():
    jvp(total(jvp=lambda primals, tangents: 2.0 * tangents[0]), (X,), (X,))
