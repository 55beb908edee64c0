"""Tangents, cotangents and linear functions."""

import numpy as np

from autodidax import (
    jvp,
    linear_transpose,
    linearize,
    vjp,
)
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


def loss(w, x):
    return np.sum(w * x)


@bad(
    ValueError,
    """
    ShapeError: jvp: tangent 0 has shape (2,), its primal has shape (3,)
      in: jvp_with_another_shape (here)
      mend: give both the same shape
    """,
)
def jvp_with_another_shape():
    jvp(np.sin, (X,), (np.ones(2),))  # <- here


@bad(
    TypeError,
    """
    DtypeError: jvp: tangent 0 has dtype complex128, its primal has dtype float64
      in: jvp_with_a_complex_tangent (here)
      mend: pass its real part, or make both complex
    """,
)
def jvp_with_a_complex_tangent():
    jvp(np.sin, (X,), (1j * X,))  # <- here


@bad(
    TypeError,
    """
    DtypeError: jvp: tangent 1 is not zero, and its primal has dtype int64, which has no derivative
      in: jvp_with_a_tangent_of_an_integer (here)
      mend: pass None or np.zeros(shape, autodidax.float0), or convert the value to float
    """,
)
def jvp_with_a_tangent_of_an_integer():
    jvp(lambda x, n: x**n, (2.0, 3), (1.0, 1.0))  # <- here


@bad(
    ValueError,
    """
    TreeError: jvp: the tree of the tangents does not match that of the primals: at [0]: dict with keys 'b', 'w'
            expected, dict with keys 'w' given (missing 'b')
      in: jvp_with_another_structure (here)
      mend: give the tangents the structure ({'b': *, 'w': *},)
    """,
)
def jvp_with_another_structure():
    jvp(lambda p: p["w"] * p["b"], ({"w": 2.0, "b": 1.0},), ({"w": 1.0},))  # <- here


@bad(
    ValueError,
    """
    TreeError: jvp: the tree of the tangents does not match that of the primals: at the root: tuple of 2
            expected, tuple of 1 given
      in: jvp_with_too_few_tangents (here)
      mend: give the tangents the structure (*, *)
    """,
)
def jvp_with_too_few_tangents():
    jvp(loss, (X, X), (X,))  # <- here


@bad(
    TypeError,
    """
    ArgumentError: jvp: primals must be a tuple or list with one entry an argument, got ndarray
      in: jvp_without_tuples (here)
      mend: write jvp(f, (x,), (tx,)) for a function of one argument
    """,
)
def jvp_without_tuples():
    jvp(np.sin, X, X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: pullback of sin: cotangent 0 has shape (), the output has shape (3,)
      in: vjp_with_another_shape (here)
      mend: give both the same shape
    """,
)
def vjp_with_another_shape():
    _, pullback = vjp(np.sin, X)
    pullback(1.0)  # <- here


@bad(
    ValueError,
    """
    TreeError: pullback of <lambda>: the tree of the cotangent does not match that of the output: at the root:
            dict with keys 'y', 'z' expected, tuple of 2 given
      in: vjp_with_another_structure (here)
      mend: give the cotangent the structure {'y': *, 'z': *}
    """,
)
def vjp_with_another_structure():
    _, pullback = vjp(lambda x: {"y": x, "z": 2.0 * x}, X)
    pullback((X, X))  # <- here


@bad(
    TypeError,
    """
    ArgumentError: the pullback of <lambda> takes one cotangent, a tree like the output, it was given 2
      in: vjp_with_two_cotangents (here)
      mend: pack the cotangents of several outputs as the function packs its outputs: pullback((ct1, ct2))
    """,
)
def vjp_with_two_cotangents():
    _, pullback = vjp(lambda x: (x, 2.0 * x), X)
    pullback(X, X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: pullback of sin: cotangent 0 has dtype complex128, the output has dtype float64
      in: vjp_with_a_complex_cotangent (here)
      mend: pass its real part, or make both complex
    """,
)
def vjp_with_a_complex_cotangent():
    _, pullback = vjp(np.sin, X)
    pullback(1j * X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: linearized sin: tangent 0 has shape (4,), its primal has shape (3,)
      in: linearize_with_another_shape (here)
      mend: give both the same shape
    """,
)
def linearize_with_another_shape():
    _, f_jvp = linearize(np.sin, X)
    f_jvp(np.ones(4))  # <- here


@bad(
    TypeError,
    """
    NotLinearError: sin is not linear, in linear_transpose of <lambda>
      in: <lambda> (here), under linear_transpose of <lambda>
      mend: use only linear operations on the linear input, or differentiate with vjp instead
    """,
)
def transpose_of_a_sine():
    linear_transpose(lambda x: 2.0 * np.sin(x), X)  # <- here


@bad(
    TypeError,
    """
    NotLinearError: add adds a constant, so the function is affine, in linear_transpose of <lambda>
      in: <lambda> (here), under linear_transpose of <lambda>
      mend: use only linear operations on the linear input, or differentiate with vjp instead
    """,
)
def transpose_of_an_affine_function():
    linear_transpose(lambda x: 2.0 * x + 1.0, X)  # <- here


@bad(
    TypeError,
    """
    NotLinearError: mul multiplies two values that both depend on the linear input, in linear_transpose of
            <lambda>
      in: <lambda> (here), under linear_transpose of <lambda>
      mend: use only linear operations on the linear input, or differentiate with vjp instead
    """,
)
def transpose_of_a_product():
    linear_transpose(lambda x, y: x * y, X, X)  # <- here


@bad(
    TypeError,
    """
    NotLinearError: gt is not linear in its first operand, in linear_transpose of <lambda>
      in: <lambda> (here), under linear_transpose of <lambda>
      mend: use only linear operations on the linear input, or differentiate with vjp instead
    """,
)
def transpose_of_a_branch():
    linear_transpose(lambda x: x if x > 0 else 2.0 * x, 1.0)  # <- here


@bad(
    TypeError,
    """
    DtypeError: linear_transpose: argument 'x' has dtype int64
      in: transpose_of_integers (here)
      mend: give a floating or complex dtype, and close over integer arguments
    """,
)
def transpose_of_integers():
    linear_transpose(lambda x: 2 * x, np.arange(3))  # <- here


@bad(
    ValueError,
    """
    ShapeError: transpose of <lambda>: cotangent 0 has shape (3,), the output has shape ()
      in: transpose_with_another_shape (here)
      mend: give both the same shape
    """,
)
def transpose_with_another_shape():
    linear_transpose(lambda x: np.sum(x), X)(X)  # <- here
