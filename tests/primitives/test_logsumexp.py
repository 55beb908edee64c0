"""scipy.special's logsumexp, softmax and log_softmax: SciPy's values, and derivatives to second order."""

import numpy as np
import pytest
import scipy.special

import autodidax as ad
from autodidax.scipy import special
from autodidax.test_util import check_grads

RNG = np.random.default_rng(0)
X, B = RNG.normal(size=(3, 4)), np.abs(RNG.normal(size=(3, 4)))
B[0, 0] = 0.0

CALLS = {
    "all": {},
    "axis": {"axis": 1},
    "axes, kept": {"axis": (0, 1), "keepdims": True},
    "weights with a zero": {"axis": 0, "b": B},
    "weights of a row": {"axis": -1, "b": B[1]},
    "weights, kept": {"axis": 1, "keepdims": True, "b": B},
}


@pytest.mark.parametrize("kwargs", CALLS.values(), ids=CALLS)
def test_logsumexp(kwargs):
    f = lambda x: special.logsumexp(x, **kwargs)
    np.testing.assert_allclose(ad.jit(f)(X), scipy.special.logsumexp(X, **kwargs), rtol=1e-14)
    check_grads(f, (X,), order=2)


def test_the_sign_of_a_weighted_sum():
    weights = RNG.normal(size=(3, 4))
    value, sign = ad.jit(lambda x: special.logsumexp(x, axis=1, b=weights, return_sign=True))(X)
    want, want_sign = scipy.special.logsumexp(X, axis=1, b=weights, return_sign=True)
    np.testing.assert_allclose(value, want)
    np.testing.assert_array_equal(sign, want_sign)
    check_grads(lambda x, b: special.logsumexp(x, axis=1, b=b, return_sign=True)[0], (X, weights), order=2)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_softmax(name, axis):
    f = lambda x: getattr(special, name)(x, axis=axis)
    np.testing.assert_allclose(ad.jit(f)(X), getattr(scipy.special, name)(X, axis=axis), rtol=1e-14)
    check_grads(f, (X,), order=2)
    assert ad.jacrev(f)(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("level", [0.0, 300.0, -3000.0])
def test_weights_of_large_numbers_keep_their_digits(dtype, level):
    x = np.array([level, level + 1, level - 2], dtype)
    want = np.exp(np.array([0.0, 1, -2])) / np.sum(np.exp([0.0, 1, -2]))
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(ad.grad(special.logsumexp)(x), want, rtol=4 * eps)
    np.testing.assert_allclose(special.softmax(x), want, rtol=4 * eps)
    np.testing.assert_allclose(np.exp(special.log_softmax(x)), want, rtol=8 * eps)


@pytest.mark.parametrize("level", [0.0, 1e3, -1e5])
@pytest.mark.parametrize("gap", [5.0, 15.0, 25.0])
def test_softmax_of_one_entry_far_above_the_other(level, gap):
    # the slope of the larger one is that of a logistic function, far in its tail
    x, t = np.array([level, level - gap]), np.array([2.0, -1.0])
    slope = np.exp(-gap) / (1 + np.exp(-gap)) ** 2
    ty = ad.jvp(special.softmax, (x,), (t,))[1]
    np.testing.assert_allclose(ty, [3 * slope, -3 * slope], rtol=1e-14)
    for f in (special.log_softmax, ad.jit(special.log_softmax)):
        np.testing.assert_allclose(f(x)[0], -np.log1p(np.exp(-gap)), rtol=1e-14)
