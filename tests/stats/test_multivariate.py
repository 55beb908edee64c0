"""Distributions of vectors: SciPy's values, and derivatives to second order."""

import numpy as np
import pytest
import scipy.stats

import autodidax as ad
import autodidax.scipy.stats as stats
from autodidax import errors
from autodidax.test_util import check_grads

RNG = np.random.default_rng(0)
X, MEAN = RNG.normal(size=(4, 3)), RNG.normal(size=3)
ROOT = RNG.normal(size=(3, 3))
COV = ROOT @ ROOT.T + np.eye(3)
ALPHA, POINT = np.array([0.5, 1.3, 2.0]), np.array([0.2, 0.3, 0.5])
P = np.array([0.2, 0.3, 0.5])

CALLS = {
    "multivariate_normal": (X, MEAN, COV),
    "multivariate_normal, one": (X[0], MEAN, COV),
    "multivariate_normal, no mean": (X, None, COV),
    "multivariate_normal, number": (X, MEAN, 2.0),
    "multivariate_normal, diagonal": (X, MEAN, np.array([1.0, 2.0, 3.0])),
    "multivariate_normal, identity": (X, MEAN),
    "multivariate_normal, of numbers": (X[:, 0], 0.1, 2.0),
    "multivariate_normal, of a number": (0.3, 0.1, 2.0),
    "dirichlet": (POINT, ALPHA),
    "dirichlet, one component less": (POINT[:2], ALPHA),
    "dirichlet, several": (RNG.dirichlet(ALPHA, 5).T, ALPHA),
    "multinomial": (np.array([1, 2, 3]), 6, P),
    "multinomial, several": (np.array([[1, 2, 3], [0, 6, 0], [1, 1, 1]]), 6, P),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("log", ["", "log"])
def test_values_of_scipy(name, log):
    dist = name.split(",")[0]
    function = log + ("pmf" if dist == "multinomial" else "pdf")
    got, want = (getattr(getattr(s, dist), function)(*CALLS[name]) for s in (stats, scipy.stats))
    np.testing.assert_allclose(got, want, rtol=1e-12)
    single = [a.astype(np.float32) if getattr(a, "dtype", None) == np.float64 else a for a in CALLS[name]]
    if dist != "multinomial" and name != "multivariate_normal, of a number":
        assert getattr(getattr(stats, dist), function)(*single).dtype == np.float32


def softmax(u):
    e = ad.numpy.exp(u)
    return e / ad.numpy.sum(e)


DERIVATIVES = {
    "multivariate_normal": (lambda x, m, c: stats.multivariate_normal.logpdf(x, m, c + c.T), (X, MEAN, COV)),
    "multivariate_normal.pdf": (stats.multivariate_normal.pdf, (X[0], MEAN, np.array([1.0, 2.0, 3.0]))),
    "dirichlet": (lambda u, a: stats.dirichlet.logpdf(softmax(u), a), (np.log(POINT), ALPHA)),
    "multinomial": (lambda p: stats.multinomial.logpmf(np.array([1, 2, 3]), 6, p), (P,)),
}


@pytest.mark.parametrize(("f", "args"), DERIVATIVES.values(), ids=DERIVATIVES)
def test_derivatives(f, args):
    check_grads(f, args, order=2)


def test_batches():
    rows = ad.vmap(stats.multivariate_normal.logpdf, in_axes=(0, None, None))(X, MEAN, COV)
    np.testing.assert_allclose(rows, stats.multivariate_normal.logpdf(X, MEAN, COV), rtol=1e-13)
    covs = np.stack([COV, 2 * COV, 3 * COV, np.eye(3)])
    both = stats.multivariate_normal.logpdf(X, MEAN, covs)
    np.testing.assert_allclose(
        ad.jit(ad.vmap(stats.multivariate_normal.logpdf, in_axes=(0, None, 0)))(X, MEAN, covs), both
    )
    np.testing.assert_allclose(both[2], scipy.stats.multivariate_normal.logpdf(X[2], MEAN, covs[2]), rtol=1e-12)


def test_outside():
    assert stats.dirichlet.logpdf(np.array([0.2, 0.9, 0.5]), ALPHA) == -np.inf
    assert np.isnan(stats.dirichlet.pdf(POINT, -ALPHA))
    assert stats.multinomial.pmf(np.array([1.0, 2.5, 2.5]), 6, P) == 0
    assert np.isnan(stats.multinomial.pmf(np.array([1, 2, 3]), 6, -P))
    np.testing.assert_array_equal(
        ad.grad(lambda p: stats.multinomial.logpmf(np.array([0, 3, 3]), 6, p))(np.array([0.0, 0.5, 0.5])), [0, 6, 6]
    )


BAD = {
    "singular": (lambda: stats.multivariate_normal.pdf(X, MEAN, COV, allow_singular=True), errors.UnsupportedError),
    "cov": (lambda: stats.multivariate_normal.pdf(X, MEAN, COV[:2]), errors.ShapeError),
    "x": (lambda: stats.multivariate_normal.pdf(X[:, :2], MEAN[:1], COV), errors.ShapeError),
    "dirichlet": (lambda: stats.dirichlet.pdf(np.ones(5), ALPHA), errors.ShapeError),
}


@pytest.mark.parametrize(("call", "error"), BAD.values(), ids=BAD)
def test_bad_input(call, error):
    with pytest.raises(error):
        call()
