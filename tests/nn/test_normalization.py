"""softmax and its kin, with axes and `where`; standard scores; one_hot."""

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors, nn
from autodidax.test_util import check_grads

X = np.random.default_rng(0).normal(size=(3, 4))
SOME = np.array([[True, False, True, True], [False] * 4, [True, True, True, True]])
EACH = np.array([[True, False, True, True], [True, True, False, True], [True] * 4])

CALLS = {
    "softmax": (nn.softmax, {}),
    "softmax, axes": (nn.softmax, {"axis": (0, 1)}),
    "softmax, all": (nn.softmax, {"axis": None}),
    "softmax, where": (nn.softmax, {"where": SOME}),
    "log_softmax": (nn.log_softmax, {"axis": 0}),
    "log_softmax, where": (nn.log_softmax, {"where": SOME}),
    "logsumexp": (nn.logsumexp, {"axis": 1}),
    "logsumexp, where": (nn.logsumexp, {"axis": 1, "where": EACH}),
    "logsumexp, b": (nn.logsumexp, {"axis": 0, "b": abs(X), "where": EACH}),
    "logmeanexp": (nn.logmeanexp, {}),
    "logmeanexp, where": (nn.logmeanexp, {"axis": -1, "where": EACH, "keepdims": True}),
    "standardize": (nn.standardize, {}),
    "standardize, axes": (nn.standardize, {"axis": (0, 1)}),
    "standardize, where": (nn.standardize, {"where": EACH}),
    "standardize, mean": (nn.standardize, {"mean": 0.3}),
    "standardize, mean, stable": (nn.standardize, {"mean": 0.3, "algorithm": "stable"}),
    "standardize, variance": (nn.standardize, {"variance": 2.0, "epsilon": 1e-3}),
    "standardize, both": (nn.standardize, {"mean": 0.1, "variance": 2.0}),
}


@pytest.mark.parametrize(("f", "kwargs"), CALLS.values(), ids=CALLS)
def test_derivatives(f, kwargs):
    def finite(x):
        y = f(x, **kwargs)
        return ad.numpy.where(np.isfinite(f(X, **kwargs)), y, 0.0)

    check_grads(finite, (X,), order=2, points="given")
    np.testing.assert_allclose(ad.jit(finite)(X), finite(X), rtol=1e-13, atol=1e-15)
    single = {k: v.astype(np.float32) if k == "b" else v for k, v in kwargs.items()}
    assert f(X.astype(np.float32), **single).dtype == np.float32
    if "where" not in kwargs and "b" not in kwargs:
        np.testing.assert_allclose(
            ad.vmap(lambda x: f(x, **kwargs))(np.stack([X, 2 * X]))[1], f(2 * X, **kwargs), rtol=1e-12, atol=1e-15
        )


def test_rows_without_entries():
    np.testing.assert_array_equal(nn.softmax(X, where=SOME)[1], 0)
    np.testing.assert_array_equal(nn.log_softmax(X, where=SOME)[1], -np.inf)
    assert nn.logsumexp(X, axis=1, where=SOME)[1] == -np.inf
    assert np.isnan(nn.logmeanexp(X, axis=1, where=SOME)[1])
    for f in (nn.softmax, nn.log_softmax, nn.logsumexp):

        def total(x, f=f):
            y = f(x, axis=1, where=SOME)
            y = y[:, None] if f is nn.logsumexp else y
            return ad.numpy.sum(ad.numpy.where(SOME, y, 0.0) * X)

        for wrap in (lambda g: g, ad.jit):
            np.testing.assert_array_equal(wrap(ad.grad(total))(X)[1], 0)


def test_where_hides_what_it_leaves_out():
    spoiled = np.where(EACH, X, np.nan)
    for f, kwargs in [(nn.softmax, {}), (nn.logsumexp, {"axis": 1}), (nn.logmeanexp, {"axis": 1})]:
        total = lambda x, f=f, kwargs=kwargs: ad.numpy.sum(f(x, where=EACH, **kwargs) ** 2)
        np.testing.assert_allclose(total(spoiled), total(X), rtol=1e-13)
        np.testing.assert_allclose(ad.grad(total)(spoiled), ad.grad(total)(X), rtol=1e-12)


def test_digits():
    tiny = np.array([1e-9, -2e-9, 4e-9])
    np.testing.assert_allclose(nn.logmeanexp(tiny), 1e-9, rtol=1e-7)
    np.testing.assert_allclose(nn.logmeanexp(np.full(3, 1e-12)), 1e-12, rtol=1e-15)
    np.testing.assert_allclose(nn.logmeanexp(np.array([0.0] + [-1000.0] * 9999)), -np.log(10000.0), rtol=1e-15)
    shifted = np.array([1.0, 2.0, 3.0]) + 1e8
    np.testing.assert_allclose(nn.standardize(shifted), nn.standardize(shifted - 1e8), rtol=1e-12)


def test_bad_input():
    with pytest.raises(errors.ArgumentError, match="no algorithm"):
        nn.standardize(X, algorithm="slow")
    with pytest.raises(errors.ShapeError):
        nn.softmax(X, axis=2)


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_one_hot(axis):
    x = np.array([[0, 3], [1, -1]])
    want = np.moveaxis((x[..., None] == np.arange(3)).astype(float), -1, axis)
    np.testing.assert_array_equal(nn.one_hot(x, 3, axis=axis), want)
    np.testing.assert_array_equal(ad.jit(lambda x: nn.one_hot(x, 3, axis=axis, dtype=np.float32))(x), want)


def test_one_hot_of_what_varies():
    np.testing.assert_array_equal(ad.vmap(lambda k: nn.one_hot(k, 3))(np.arange(3)), np.eye(3))
    assert nn.one_hot(np.arange(2), 2, dtype=np.int8).dtype == np.int8 and nn.one_hot(1, 0).shape == (0,)
    assert ad.grad(lambda w: ad.numpy.sum(nn.one_hot(2, 4) * w * np.arange(4.0)))(1.0) == 2.0
    with pytest.raises(errors.ShapeError):
        nn.one_hot(np.arange(2), 2, axis=2)


@pytest.mark.slow
@pytest.mark.parametrize(("f", "kwargs"), CALLS.values(), ids=CALLS)
def test_jax(f, kwargs):
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    jax.config.update("jax_enable_x64", True)
    g = getattr(jax.nn, f.__name__)
    np.testing.assert_allclose(f(X, **kwargs), g(X, **kwargs), rtol=1e-11, atol=1e-13)

    def total(f, np_):
        return lambda x: np_.sum(np_.where(np.isfinite(g(X, **kwargs)), f(x, **kwargs), 0.0) ** 2)

    np.testing.assert_allclose(ad.grad(total(f, ad.numpy))(X), jax.grad(total(g, jax.numpy))(X), rtol=1e-9, atol=1e-11)
