"""Gradients: what is differentiated, and with respect to what."""

import numpy as np

from autodidax import (
    elementwise_grad,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    value_and_grad,
)
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


def loss(w, x):
    return np.sum(w * x)


@bad(
    ValueError,
    """
    ShapeError: grad needs <lambda> to return a scalar, it returned shape (3,)
      in: grad_of_a_vector (here), under grad of <lambda>
      mend: sum or index the output, or use jacrev, jacfwd or elementwise_grad for non-scalar outputs
    """,
)
def grad_of_a_vector():
    grad(lambda x: x**2)(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: grad needs <lambda> to return a scalar, it returned a tuple
      in: grad_of_a_tuple (here), under grad of <lambda>
      mend: return one scalar, use has_aux=True for (scalar, extras), or jacrev for several outputs
    """,
)
def grad_of_a_tuple():
    grad(lambda x: (np.sum(x), x))(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: grad needs f to return a scalar, it returned None
      in: grad_of_nothing (here), under grad of f
      mend: return one scalar, use has_aux=True for (scalar, extras), or jacrev for several outputs
    """,
)
def grad_of_nothing():
    def f(x):
        np.sum(x)

    grad(f)(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: grad needs <lambda> to return a scalar, it returned shape (1,)
      in: grad_of_a_vector_of_one (here), under grad of <lambda>
      mend: sum or index the output, or use jacrev, jacfwd or elementwise_grad for non-scalar outputs
    """,
)
def grad_of_a_vector_of_one():
    grad(lambda x: np.sum(x, keepdims=True))(X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: grad needs inputs of float or complex dtype, argument 'x' of <lambda> has dtype int64
      in: grad_of_an_integer (here), under grad of <lambda>
      mend: pass a float (3.0 instead of 3, x.astype(float)), or choose other arguments with argnums
    """,
)
def grad_of_an_integer():
    grad(lambda x: x**2)(3)  # <- here


@bad(
    TypeError,
    """
    DtypeError: grad needs inputs of float or complex dtype, argument 'x' of <lambda> has dtype int64
      in: grad_of_integers (here), under grad of <lambda>
      mend: pass a float (3.0 instead of 3, x.astype(float)), or choose other arguments with argnums
    """,
)
def grad_of_integers():
    grad(lambda x: np.sum(x**2))(np.arange(3))  # <- here


@bad(
    TypeError,
    """
    DtypeError: grad needs inputs of float or complex dtype, argument 'x' of <lambda> has dtype bool
      in: grad_of_a_boolean (here), under grad of <lambda>
      mend: pass a float (3.0 instead of 3, x.astype(float)), or choose other arguments with argnums
    """,
)
def grad_of_a_boolean():
    grad(lambda x: 1.0 * x)(True)  # <- here


@bad(
    TypeError,
    """
    DtypeError: grad needs inputs of float or complex dtype, argument 'p'['steps'] of <lambda> has dtype int64
      in: grad_of_an_integer_in_a_tree (here), under grad of <lambda>
      mend: pass a float (3.0 instead of 3, x.astype(float)), or choose other arguments with argnums
    """,
)
def grad_of_an_integer_in_a_tree():
    params = {"w": X, "steps": 3}
    grad(lambda p: np.sum(p["w"]) * p["steps"])(params)  # <- here


@bad(
    TypeError,
    """
    DtypeError: grad needs a floating output, <lambda> returned dtype int64, which has no derivative
      in: grad_of_a_count (here), under grad of <lambda>
      mend: return a float; integer and boolean results are constant almost everywhere
    """,
)
def grad_of_a_count():
    grad(lambda x: np.sum(x > 0))(X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: grad needs a real output, <lambda> returned complex128
      in: grad_of_a_complex_result (here), under grad of <lambda>
      mend: return a real number (e.g. np.real(z), abs(z)), or set holomorphic=True for a holomorphic function
    """,
)
def grad_of_a_complex_result():
    grad(lambda z: z * z)(1.0 + 2.0j)  # <- here


@bad(
    TypeError,
    """
    DtypeError: grad with holomorphic=True needs complex inputs, argument 'z' of <lambda> has dtype float64
      in: grad_holomorphic_of_a_real_argument (here), under grad of <lambda>
      mend: convert the input to complex, or leave holomorphic out
    """,
)
def grad_holomorphic_of_a_real_argument():
    grad(lambda z: z * z, holomorphic=True)(2.0)  # <- here


@bad(
    TypeError,
    """
    DtypeError: grad with holomorphic=True needs a complex output, <lambda> returned float64
      in: grad_holomorphic_of_a_real_result (here), under grad of <lambda>
      mend: return a complex value, or leave holomorphic out
    """,
)
def grad_holomorphic_of_a_real_result():
    grad(lambda z: np.abs(z), holomorphic=True)(1.0 + 2.0j)  # <- here


@bad(
    ValueError,
    """
    ArgumentError: grad: argnums 2 of loss, which was called with 2 positional arguments
      in: grad_argnums_out_of_range (here)
      mend: give argnums within the positional arguments, or use argnames for keywords
    """,
)
def grad_argnums_out_of_range():
    grad(loss, argnums=2)(X, X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: grad: argnums 1 of loss, which was called with 1 positional argument
      in: grad_argnums_of_a_keyword (here)
      mend: give argnums within the positional arguments, or use argnames for keywords
    """,
)
def grad_argnums_of_a_keyword():
    grad(loss, argnums=1)(X, x=X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: grad: argnums must be an integer or a tuple of integers, got 'w'
      in: grad_argnums_as_a_name (here)
      mend: write argnums=0 or argnums=(0, 1); keywords go in argnames
    """,
)
def grad_argnums_as_a_name():
    grad(loss, argnums="w")(X, X)  # <- here


@bad(
    ValueError,
    """
    ArgumentError: grad: argnames 'weights' is no argument of this call of loss
      in: grad_argnames_that_are_unknown (here)
      mend: its parameters are w, x; pass 'weights' by position or keyword
    """,
)
def grad_argnames_that_are_unknown():
    grad(loss, argnames="weights")(X, X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: value_and_grad with has_aux=True needs <lambda> to return a pair (output, aux), got a traced
            value (f64[])
      in: grad_has_aux_without_a_pair (here), under value_and_grad of <lambda>
      mend: return (output, aux), or leave has_aux out
    """,
)
def grad_has_aux_without_a_pair():
    value_and_grad(lambda x: np.sum(x), has_aux=True)(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: grad needs <lambda> to return a scalar, it returned a tuple
      in: grad_with_aux_that_was_not_announced (here), under grad of <lambda>
      mend: return one scalar, use has_aux=True for (scalar, extras), or jacrev for several outputs
    """,
)
def grad_with_aux_that_was_not_announced():
    grad(lambda x: (np.sum(x), {"n": 3}))(X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: grad takes a function as its first argument, got a float64
      in: grad_of_a_value (here)
      mend: write grad(f)(x) for a function f, not grad(f(x))
    """,
)
def grad_of_a_value():
    grad(loss(X, X))  # <- here


@bad(
    TypeError,
    """
    DtypeError: argument 'w' of loss is a str, which cannot be traced
      in: grad_of_a_string (here), under grad of loss
      mend: pass numbers or arrays of numbers, or trees of them; close over other values
    """,
)
def grad_of_a_string():
    grad(loss)("weights", X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: grad: argnums must be an integer or a tuple of integers, got array([ 0.5, -1.5,  2.5])
      in: grad_called_with_the_arguments (here)
      mend: write argnums=0 or argnums=(0, 1); keywords go in argnames
    """,
)
def grad_called_with_the_arguments():
    grad(loss, X, X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: hvp needs <lambda> to return a scalar, it returned shape (3,)
      in: hessian_of_a_vector (here), under hvp of <lambda>, under jvp of grad_<lambda>
      mend: sum or index the output, or use jacrev, jacfwd or elementwise_grad for non-scalar outputs
    """,
)
def hessian_of_a_vector():
    hvp(lambda x: x**2, (X,), (X,))  # <- here


@bad(
    TypeError,
    """
    DtypeError: hessian needs inputs of float or complex dtype, argument 'x' of <lambda> has dtype int64
      in: hessian_of_integers (here)
      mend: pass a float (3.0 instead of 3, x.astype(float)), or choose other arguments with argnums
    """,
)
def hessian_of_integers():
    hessian(lambda x: np.sum(x**2))(np.arange(3))  # <- here


@bad(
    TypeError,
    """
    DtypeError: jacrev needs inputs of float or complex dtype, argument 'x' of <lambda> has dtype int64
      in: jacobian_of_integers (here)
      mend: pass a float (3.0 instead of 3, x.astype(float)), or choose other arguments with argnums
    """,
)
def jacobian_of_integers():
    jacrev(lambda x: x**2)(np.arange(3))  # <- here


@bad(
    TypeError,
    """
    DtypeError: jacfwd needs real inputs, argument 'z' of <lambda> has dtype complex128
      in: jacobian_of_a_complex_argument (here)
      mend: set holomorphic=True, differentiate with respect to real and imaginary parts, or use jvp
    """,
)
def jacobian_of_a_complex_argument():
    jacfwd(lambda z: z * z)(np.ones(2, complex))  # <- here


@bad(
    TypeError,
    """
    DtypeError: grad needs inputs of float or complex dtype, argument 0 of sin has dtype int64
      in: elementwise_grad_of_integers (here), under grad of sin
      mend: pass a float (3.0 instead of 3, x.astype(float)), or choose other arguments with argnums
    """,
)
def elementwise_grad_of_integers():
    elementwise_grad(np.sin)(np.arange(3))  # <- here
