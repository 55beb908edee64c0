"""Derivatives: what is differentiated, with respect to what, along what."""

import numpy as np

from autodidax import (
    elementwise_grad,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linear_transpose,
    linearize,
    value_and_grad,
    vjp,
)
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


def loss(w, x):
    return np.sum(w * x)


@bad(ValueError)
def grad_of_a_vector():
    grad(lambda x: x**2)(X)  # <- here


@bad(ValueError)
def grad_of_a_tuple():
    grad(lambda x: (np.sum(x), x))(X)  # <- here


@bad(ValueError)
def grad_of_nothing():
    def f(x):
        np.sum(x)

    grad(f)(X)  # <- here


@bad(ValueError)
def grad_of_a_vector_of_one():
    grad(lambda x: np.sum(x, keepdims=True))(X)  # <- here


@bad(TypeError)
def grad_of_an_integer():
    grad(lambda x: x**2)(3)  # <- here


@bad(TypeError)
def grad_of_integers():
    grad(lambda x: np.sum(x**2))(np.arange(3))  # <- here


@bad(TypeError)
def grad_of_a_boolean():
    grad(lambda x: 1.0 * x)(True)  # <- here


@bad(TypeError)
def grad_of_an_integer_in_a_tree():
    params = {"w": X, "steps": 3}
    grad(lambda p: np.sum(p["w"]) * p["steps"])(params)  # <- here


@bad(TypeError)
def grad_of_a_count():
    grad(lambda x: np.sum(x > 0))(X)  # <- here


@bad(TypeError)
def grad_of_a_complex_result():
    grad(lambda z: z * z)(1.0 + 2.0j)  # <- here


@bad(TypeError)
def grad_holomorphic_of_a_real_argument():
    grad(lambda z: z * z, holomorphic=True)(2.0)  # <- here


@bad(TypeError)
def grad_holomorphic_of_a_real_result():
    grad(lambda z: np.abs(z), holomorphic=True)(1.0 + 2.0j)  # <- here


@bad(ValueError)
def grad_argnums_out_of_range():
    grad(loss, argnums=2)(X, X)  # <- here


@bad(TypeError)
def grad_argnums_of_a_keyword():
    grad(loss, argnums=1)(X, x=X)  # <- here


@bad(TypeError)
def grad_argnums_as_a_name():
    grad(loss, argnums="w")(X, X)  # <- here


@bad(ValueError)
def grad_argnames_that_are_unknown():
    grad(loss, argnames="weights")(X, X)  # <- here


@bad(TypeError)
def grad_has_aux_without_a_pair():
    value_and_grad(lambda x: np.sum(x), has_aux=True)(X)  # <- here


@bad(ValueError)
def grad_with_aux_that_was_not_announced():
    grad(lambda x: (np.sum(x), {"n": 3}))(X)  # <- here


@bad(TypeError)
def grad_of_a_value():
    grad(loss(X, X))  # <- here


@bad(TypeError)
def grad_of_a_string():
    grad(loss)("weights", X)  # <- here


@bad(TypeError)
def grad_called_with_the_arguments():
    grad(loss, X, X)  # <- here


@bad(ValueError)
def hessian_of_a_vector():
    hvp(lambda x: x**2, (X,), (X,))  # <- here


@bad(TypeError)
def hessian_of_integers():
    hessian(lambda x: np.sum(x**2))(np.arange(3))  # <- here


@bad(TypeError)
def jacobian_of_integers():
    jacrev(lambda x: x**2)(np.arange(3))  # <- here


@bad(TypeError)
def jacobian_of_a_complex_argument():
    jacfwd(lambda z: z * z)(np.ones(2, complex))  # <- here


@bad(TypeError)
def elementwise_grad_of_integers():
    elementwise_grad(np.sin)(np.arange(3))  # <- here


@bad(ValueError)
def jvp_with_another_shape():
    jvp(np.sin, (X,), (np.ones(2),))  # <- here


@bad(TypeError)
def jvp_with_a_complex_tangent():
    jvp(np.sin, (X,), (1j * X,))  # <- here


@bad(TypeError)
def jvp_with_a_tangent_of_an_integer():
    jvp(lambda x, n: x**n, (2.0, 3), (1.0, 1.0))  # <- here


@bad(ValueError)
def jvp_with_another_structure():
    jvp(lambda p: p["w"] * p["b"], ({"w": 2.0, "b": 1.0},), ({"w": 1.0},))  # <- here


@bad(ValueError)
def jvp_with_too_few_tangents():
    jvp(loss, (X, X), (X,))  # <- here


@bad(TypeError)
def jvp_without_tuples():
    jvp(np.sin, X, X)  # <- here


@bad(ValueError)
def vjp_with_another_shape():
    _, pullback = vjp(np.sin, X)
    pullback(1.0)  # <- here


@bad(ValueError)
def vjp_with_another_structure():
    _, pullback = vjp(lambda x: {"y": x, "z": 2.0 * x}, X)
    pullback((X, X))  # <- here


@bad(TypeError)
def vjp_with_two_cotangents():
    _, pullback = vjp(lambda x: (x, 2.0 * x), X)
    pullback(X, X)  # <- here


@bad(TypeError)
def vjp_with_a_complex_cotangent():
    _, pullback = vjp(np.sin, X)
    pullback(1j * X)  # <- here


@bad(ValueError)
def linearize_with_another_shape():
    _, f_jvp = linearize(np.sin, X)
    f_jvp(np.ones(4))  # <- here


@bad(TypeError)
def transpose_of_a_sine():
    linear_transpose(lambda x: 2.0 * np.sin(x), X)  # <- here


@bad(TypeError)
def transpose_of_an_affine_function():
    linear_transpose(lambda x: 2.0 * x + 1.0, X)  # <- here


@bad(TypeError)
def transpose_of_a_product():
    linear_transpose(lambda x, y: x * y, X, X)  # <- here


@bad(TypeError)
def transpose_of_a_branch():
    linear_transpose(lambda x: x if x > 0 else 2.0 * x, 1.0)  # <- here


@bad(TypeError)
def transpose_of_integers():
    linear_transpose(lambda x: 2 * x, np.arange(3))  # <- here


@bad(ValueError)
def transpose_with_another_shape():
    linear_transpose(lambda x: np.sum(x), X)(X)  # <- here
