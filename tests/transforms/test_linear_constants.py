"""Constants beside the linear term of linear_transpose and custom_linear_solve: a zero passes, all else is refused."""

import numpy as np
import pytest

from autodidax import errors, grad, jit, lax, linear_transpose, vmap

X = np.array([0.5, -1.5, 2.5])
A = np.diag([2.0, 4.0, 5.0])


def transposed(fun, x=1.0):
    """k -> the transpose at 1 of x -> fun(k, x)."""
    return lambda k: linear_transpose(lambda x: fun(k, x), x)(1.0)[0]


ZERO = transposed(lambda k, x: 0.0 * k + x)
SCAN = transposed(lambda k, x: lax.scan(lambda c, r: (c * k + r, c), 0.0, x)[0], X)
# name -> (call, result)
ZEROS = {
    "plain": (lambda: ZERO(2.0), 1.0),
    "grad": (lambda: grad(ZERO)(2.0), 0.0),
    "jit": (lambda: jit(ZERO)(2.0), 1.0),
    "vmap": (lambda: vmap(ZERO)(np.array([1.0, 2.0])), [1.0, 1.0]),
    "jit of vmap": (lambda: jit(vmap(ZERO))(np.array([1.0, 2.0])), [1.0, 1.0]),
    "moved and divided": (lambda: jit(transposed(lambda k, x: x - np.sum(0.0 * k, axis=0) / 3.0))(X), 1.0),
    "in a staged function": (lambda: jit(transposed(jit(lambda k, x: 0.0 * k + x)))(2.0), 1.0),
    "scan": (lambda: SCAN(2.0), [4.0, 2.0, 1.0]),
    "scan under jit": (lambda: jit(SCAN)(2.0), [4.0, 2.0, 1.0]),
    "scan under grad": (lambda: grad(lambda k: np.sum(SCAN(k)))(2.0), 5.0),
}  # fmt: skip


@pytest.mark.parametrize("name", ZEROS)
def test_a_zero_passes(name):
    call, expected = ZEROS[name]
    np.testing.assert_array_equal(call(), expected)


NO_ZEROS = {
    "a traced value": lambda k, x: k + x,
    "a function of zero": lambda k, x: np.cos(0.0 * k) + x,
    "a zero and something else": lambda k, x: (0.0 * k + k) + x,
    "a product with no zero": lambda k, x: 2.0 * k + x,
}


@pytest.mark.parametrize("transform", [lambda f: f, grad, jit], ids=["plain", "grad", "jit"])
@pytest.mark.parametrize("name", NO_ZEROS)
def test_all_else_is_refused(name, transform):
    with pytest.raises(errors.NotLinearError, match="adds a constant"):
        transform(transposed(NO_ZEROS[name]))(2.0)


@pytest.mark.parametrize("staged", [lambda f: f, jit], ids=["plain", "jit"])
def test_the_matrix_of_a_linear_solve(staged):
    def f(x, b):
        solve = lambda _, b: np.linalg.solve(A, b)
        return np.sum(lax.custom_linear_solve(lambda v: A @ v + 0.0 * x, b, solve, solve))

    np.testing.assert_allclose(staged(f)(X, X), np.sum(X / np.diag(A)), rtol=1e-14)
    of_x, of_b = staged(grad(f, (0, 1)))(X, X)
    np.testing.assert_array_equal(of_x, 0.0)
    np.testing.assert_allclose(of_b, 1 / np.diag(A), rtol=1e-14)
