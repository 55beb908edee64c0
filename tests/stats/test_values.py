"""The distributions against SciPy's: values on tables with tails, edges of the support and parameters that are none."""

import numpy as np
import pytest
import scipy.stats

import autodidax.scipy.stats as stats
from autodidax import errors

INF = np.inf

# distribution: shape parameters, arguments
CONTINUOUS = {
    "norm": [((), [-38.0, -9.0, -1.0, 0.0, 0.3, 8.0, 38.0])],
    "lognorm": [((0.7,), [-1.0, 0.0, 1e-9, 0.1, 1.0, 30.0, 1e8])],
    "halfnorm": [((), [-1.0, 0.0, 0.3, 3.0, 30.0])],
    "truncnorm": [
        ((-1.0, 2.0), [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0]),
        ((8.0, 20.0), [8.0, 8.1, 10.0, 19.0, 20.0]),
        ((-20.0, -8.0), [-20.0, -15.0, -9.0, -8.1, -8.0]),
        ((-2.0, INF), [-2.0, 0.0, 5.0, 30.0]),
        ((-INF, 0.5), [-37.0, -8.0, 0.0, 0.5]),
    ],
    "expon": [((), [-1.0, 0.0, 1e-9, 0.4, 30.0, 700.0])],
    "weibull_min": [((1.7,), [-1.0, 0.0, 1e-9, 0.4, 3.0, 40.0]), ((1.0,), [0.0, 1.0])],
    "rayleigh": [((), [-1.0, 0.0, 1e-9, 0.4, 3.0, 30.0])],
    "pareto": [((2.5,), [0.5, 1.0, 2.0, 1e6])],
    "gumbel_r": [((), [-6.0, -1.0, 0.0, 1.0, 40.0])],
    "gumbel_l": [((), [-40.0, -1.0, 0.0, 1.0, 6.0])],
    "laplace": [((), [-700.0, -1.0, 0.0, 1e-9, 1.0, 700.0])],
    "logistic": [((), [-700.0, -1.0, 0.0, 1e-9, 1.0, 700.0])],
    "uniform": [((), [-1.0, 0.0, 0.3, 1.0, 2.0])],
    "cauchy": [((), [-1e9, -1.0, 0.0, 1e-9, 2.0, 1e9, 1e200])],
    "gamma": [((2.3,), [-1.0, 0.0, 1e-9, 0.4, 3.0, 30.0, 500.0]), ((1.0,), [0.0, 0.4]), ((0.5,), [1e-300, 300.0])],
    "chi2": [((3.3,), [-1.0, 0.0, 1e-9, 0.4, 3.0, 30.0, 500.0])],
    "gennorm": [((1.3,), [-100.0, -1.0, 0.0, 0.3, 2.0, 50.0])],
    "beta": [((2.3, 0.7), [-1.0, 0.0, 1e-9, 0.4, 0.99999]), ((1.0, 1.0), [0.0, 0.5, 1.0]), ((0.4, 0.5), [0.1, 0.8])],
    "f": [((3.2, 5.5), [-1.0, 0.0, 1e-9, 0.4, 3.0, 1e6])],
    "t": [((3.3,), [-1e5, -40.0, -3.0, 0.0, 2.0, 1e5]), ((1e6,), [-20.0, 0.0, 3.0]), ((INF,), [-20.0, 0.0, 3.0])],
    "vonmises": [((1.3,), [-4.0, -1.0, 0.0, 1.0, 4.0]), ((0.0,), [-3.0, 0.0, 3.0])],
}  # fmt: skip
DISCRETE = {
    "poisson": [((3.3,), [-1.0, 0.0, 1.0, 2.5, 3.0, 10.0]), ((0.0,), [0.0, 1.0])],
    "bernoulli": [((0.3,), [-1.0, 0.0, 0.5, 1.0, 2.0]), ((0.0,), [0.0, 1.0]), ((1.0,), [0.0, 1.0])],
    "binom": [((10, 0.3), [-1.0, 0.0, 3.0, 5.5, 10.0, 11.0]), ((5, 0.0), [0.0, 1.0]), ((5, 1.0), [4.0, 5.0])],
    "nbinom": [((3.5, 0.4), [-1.0, 0.0, 3.0, 50.0, 300.0])],
    "geom": [((0.3,), [-1.0, 0.0, 1.0, 1.5, 3.0, 20.0])],
    "betabinom": [((10, 2.3, 0.63), [-1.0, 0.0, 3.0, 5.5, 9.0, 10.0, 11.0])],
}
PROBABILITIES = [-0.1, 0.0, 1e-9, 0.1, 0.25, 0.5, 0.6, 0.9, 1.0, 1.1, np.nan]

# where SciPy's digits end before ours, which the oracle in test_tails.py shows; (distribution, function)
SCIPY_LOSES = {
    ("vonmises", "ppf"), ("vonmises", "isf"), ("truncnorm", "isf"), ("truncnorm", "ppf"), ("halfnorm", "ppf"),
    ("f", "isf"), ("binom", "logcdf"), ("geom", "logcdf"), ("poisson", "logcdf"),
}  # fmt: skip


def cases(table):
    for name, rows in table.items():
        for shapes, xs in rows:
            for function in getattr(stats, name).functions:
                yield pytest.param(name, function, shapes, xs, id=f"{name}{shapes}-{function}".replace(" ", ""))


def compare(name, function, x, args, rtol):
    with np.errstate(all="ignore"):
        got, want = (getattr(getattr(s, name), function)(x, *args) for s in (stats, scipy.stats))
    np.testing.assert_allclose(got, want, rtol=rtol, atol=0)
    assert got.dtype == np.float64


@pytest.mark.parametrize(("name", "function", "shapes", "xs"), [*cases(CONTINUOUS), *cases(DISCRETE)])
def test_values_of_scipy(name, function, shapes, xs):
    quantile = function in ("ppf", "isf")
    x = np.array(PROBABILITIES if quantile else xs)
    rtol = 1e-5 if (name, function) in SCIPY_LOSES else 2e-11 if name in ("vonmises", "t") else 1e-12
    moved = (0.3, 2.0) if name in CONTINUOUS else (2,)
    if (name, function) == ("vonmises", "ppf") or (name, function) == ("vonmises", "isf"):
        x = x[x != 0.5]  # exactly 0
    compare(name, function, x, shapes, rtol)
    compare(name, function, x, (*shapes, *moved), rtol)
    with np.errstate(all="ignore"):
        single = getattr(getattr(stats, name), function)(x.astype(np.float32), *shapes)
        double = getattr(getattr(stats, name), function)(x.astype(np.float32).astype(float), *shapes)
    assert single.dtype == np.float32
    if not quantile:
        well = (np.abs(double) > 1e-30) & (np.abs(double) < 1e30) & np.isfinite(single)
        np.testing.assert_allclose(single[well], double[well], rtol=2e-4)


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_bad_parameters_give_nan_and_nan_goes_through(name):
    dist = getattr(stats, name)
    shapes = (CONTINUOUS | DISCRETE)[name][0][0]
    x = 0.9 if name == "beta" else 1.0
    mass = "pdf" if name in CONTINUOUS else "pmf"
    for function in (mass, "logcdf", "sf"):
        assert np.isnan(getattr(dist, function)(np.nan, *shapes))
        if name in CONTINUOUS:
            assert np.isnan(getattr(dist, function)(x, *shapes, 0.0, -1.0))
        for k in range(len(shapes)):
            if name != "truncnorm":
                assert np.isnan(getattr(dist, function)(x, *shapes[:k], -2.5, *shapes[k + 1 :]))
    assert np.isnan(dist.ppf(1.5, *shapes))


def test_keywords_and_arrays_of_parameters():
    want = scipy.stats.gamma.logpdf(np.array([[1.0], [2.0]]), np.array([0.5, 1.5, -1.0]), loc=0.1, scale=2.0)
    got = stats.gamma.logpdf(np.array([[1.0], [2.0]]), a=np.array([0.5, 1.5, -1.0]), scale=2.0, loc=0.1)
    np.testing.assert_allclose(got, want, rtol=1e-13)
    assert stats.norm.pdf([0, 1]).dtype == np.float64 and stats.norm.cdf(0) == 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.gamma.pdf(1.0), "no a"),
        (lambda: stats.norm.pdf(1.0, 0.0, 1.0, 2.0), "4 arguments"),
        (lambda: stats.norm.pdf(1.0, 0.0, loc=1.0), "loc twice"),
        (lambda: stats.norm.pdf(1.0, mu=1.0), "argument mu"),
    ],
    ids=["missing", "too many", "twice", "unknown"],
)
def test_wrong_arguments(call, message):
    with pytest.raises(errors.ArgumentError, match=message):
        call()


def test_complex_arguments_are_refused():
    with pytest.raises(errors.DtypeError, match="real numbers"):
        stats.norm.pdf(1j)


def test_digits_that_scipy_loses():
    np.testing.assert_allclose(stats.f.isf(1e-20, 3.0, 5.0), 1 / scipy.stats.f.ppf(1e-20, 5.0, 3.0), rtol=1e-12)
    np.testing.assert_allclose(stats.t.ppf(1e-300, 3.3), -9.0995059601158e90, rtol=1e-10)
    q = np.array([1e-9, 0.2, 1 - 1e-9])
    np.testing.assert_allclose(stats.vonmises.cdf(stats.vonmises.ppf(q, 1e3), 1e3), q, rtol=1e-10)
    np.testing.assert_allclose(stats.truncnorm.sf(stats.truncnorm.isf(q, 8.0, 20.0), 8.0, 20.0), q, rtol=1e-12)
    assert stats.poisson.isf(1e-20, 3.3) == 31 and stats.geom.isf(1e-20, 0.3) == 130
