"""Order statistics without NaN, covariances: values, derivatives, mapping and staging."""

import warnings

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import errors
from autodidax.test_util import check_grads
from tests.numpy_api import laws
from tests.numpy_api.agreement import Case, assert_same

rng = np.random.default_rng(13)
m34, n24, v4, w4 = rng.normal(size=(3, 4)), rng.normal(size=(2, 4)), rng.normal(size=4), rng.uniform(0.5, 1.5, 4)
t234 = rng.normal(size=(2, 3, 4))
holes = np.array([[1.0, np.nan, 3.5, 0.2], [4.0, 5.0, np.nan, np.nan], [2.0, -1.0, 0.7, 0.1]])
METHODS = [
    "linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
    "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased",
]  # fmt: skip

CASES = [
    *(Case("nanmedian", x, **k) for x in (holes, m34) for k in ({}, dict(axis=0), dict(axis=1, keepdims=True))),
    Case("nanmedian", t234, axis=(0, -1)),
    *(Case("nanquantile", holes, q, axis=1, method=m, wrt=(0,)) for m in METHODS for q in (0.4, [0.0, 0.37, 1.0])),
    *(Case("nanquantile", t234, q, wrt=(0,), **k) for q in (0.3, [[0.1], [0.8]])
      for k in ({}, dict(axis=-1), dict(axis=1, keepdims=True))),
    Case("nanquantile", t234, [0.3, 0.9], axis=(0, 2), wrt=(0,)),
    Case("nanpercentile", holes, 30, axis=0), Case("nanpercentile", holes, [10.0, 90.0], wrt=(0,)),
    Case("nanpercentile", m34, 25.0, axis=1, method="hazen", wrt=(0,)), Case("nanquantile", m34, 1, axis=0),
    Case("cov", m34), Case("cov", v4), Case("cov", m34, rowvar=False), Case("cov", m34, n24), Case("cov", v4, w4),
    Case("cov", m34, bias=True), Case("cov", m34, ddof=2), Case("cov", m34, fweights=np.array([1, 3, 2, 1])),
    Case("cov", m34, ddof=0, aweights=w4), Case("cov", m34, aweights=w4, fweights=np.array([1, 3, 2, 1])),
    Case("cov", m34, None, True, False, None, None, w4, label="traced weights"), Case("cov", m34 + 1j * m34[::-1]),
    Case("cov", m34, m34.T[:, :3].T[:1], rowvar=True), Case("corrcoef", m34), Case("corrcoef", v4, w4),
    Case("corrcoef", m34, rowvar=False), Case("corrcoef", v4), Case("corrcoef", m34 + 1j * m34[::-1]),
]  # fmt: skip
SMOOTH = [c for c in CASES if c.wrt]


def derivatives(case):
    """The derivative of the entries that are there; NaN entries take part in no difference."""
    x, *rest = case.args
    there = np.isfinite(x)
    f = lambda v: case.call(anp, (anp.at(x)[there].set(v), *rest))
    check_grads(f, (x[there],), order=2, points="given")


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_plain_value(case):
    laws.plain_value(case)


@pytest.mark.parametrize("law", laws.ALL, ids=lambda f: f.__name__)
@pytest.mark.parametrize("case", [c for c in SMOOTH if c.args[0] is not holes], ids=repr)
def test_laws(case, law):
    law(case)


@pytest.mark.parametrize("law", [laws.traced_value, derivatives, laws.staged, laws.mapped], ids=lambda f: f.__name__)
@pytest.mark.parametrize("case", [c for c in SMOOTH if c.args[0] is holes], ids=repr)
def test_laws_with_holes(case, law):
    law(case)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("q", [0.25, 0.5, [0.2, 0.5, 0.75], np.float32(0.3), 0, [0, 1]], ids=repr)
def test_methods(method, dtype, q):
    x = np.array([[3, 1, 7, 2, 9], [4, 4, 0, 8, 6]]).astype(dtype)
    got = autodidax.jit(lambda x: np.nanquantile(x, q, axis=1, method=method))(x)
    assert_same(got, np.nanquantile(x, q, axis=1, method=method), exact=False)


def test_nothing_but_nan():
    x = np.array([[np.nan, np.nan], [1.0, 3.0]])
    for f in (np.nanmedian, lambda x, axis: np.nanquantile(x, 0.5, axis)):
        np.testing.assert_array_equal(autodidax.jit(lambda x, f=f: f(x, axis=1))(x), [np.nan, 2.0])
        _, pull = autodidax.vjp(lambda x, f=f: f(x, axis=1)[1], x)
        np.testing.assert_array_equal(pull(1.0)[0], [[0.0, 0.0], [0.5, 0.5]])


def test_perfect_correlation_has_right_derivatives():
    """The coefficient is 1 at most, so its slope is 0 there and its curvature is not."""
    f = lambda x: anp.corrcoef(x, 2.0 * v4 + 1.0)[0, 1]
    np.testing.assert_allclose(autodidax.grad(f)(v4), np.zeros(4), atol=1e-12)
    hessian = autodidax.hessian(f)(v4)
    centered = v4 - v4.mean()
    square = centered @ centered
    want = -(np.eye(4) - 0.25 - np.outer(centered, centered) / square) / square
    np.testing.assert_allclose(hessian, want, atol=1e-10)


def test_too_few_degrees_of_freedom_warn():
    with pytest.warns(RuntimeWarning) as caught:
        got, _ = autodidax.jvp(anp.cov, (v4[:1],), (v4[:1],))
    assert any("Degrees of freedom" in str(w.message) for w in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(got, np.cov(v4[:1]))


REFUSED = {
    "q above 1": (lambda x: np.nanquantile(x, 1.5), ValueError, "range"),
    "q above 100": (lambda x: np.nanpercentile(x, 150), ValueError, "range"),
    "method": (lambda x: np.nanquantile(x, 0.5, method="best"), ValueError, "method"),
    "weights": (lambda x: np.nanquantile(x, 0.5, method="hazen", weights=w4), ValueError, "inverted_cdf"),
    "out": (lambda x: np.nanmedian(x, out=np.zeros(())), errors.MutationError, "out"),
    "complex": (lambda x: np.nanquantile(x * 1j, 0.5), TypeError, "real"),
    "axis": (lambda x: np.nanmedian(x, axis=1), np.exceptions.AxisError, "axis 1"),
    "cov, ddof": (lambda x: np.cov(x, ddof=0.5), ValueError, "integer"),
    "cov, three axes": (lambda x: np.cov(x[None, None]), ValueError, "2 dimensions"),
    "cov, fweights": (lambda x: np.cov(x, fweights=[0.5] * 4), TypeError, "integer"),
    "cov, negative": (lambda x: np.cov(x, aweights=-w4), ValueError, "negative"),
    "cov, lengths": (lambda x: np.cov(x, aweights=w4[:2]), RuntimeError, "incompatible"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    function, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        autodidax.vjp(function, v4)
