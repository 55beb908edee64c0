"""Derivatives of the distributions to second order in all arguments, under every transform, and at the edges."""

import numpy as np
import pytest

import autodidax as ad
import autodidax.scipy.stats as stats
from autodidax import errors
from autodidax.test_util import check_grads

# distribution: shape parameters, points
CONTINUOUS = {
    "norm": ((), [-3.0, 0.3, 2.0]),
    "lognorm": ((0.7,), [0.2, 1.3, 4.0]),
    "halfnorm": ((), [0.2, 1.3, 4.0]),
    "truncnorm": ((-1.0, 2.0), [-0.5, 0.3, 1.5]),
    "expon": ((), [0.2, 1.3, 4.0]),
    "weibull_min": ((1.7,), [0.2, 1.3, 2.0]),
    "rayleigh": ((), [0.2, 1.3, 4.0]),
    "pareto": ((2.5,), [1.2, 2.0, 5.0]),
    "gumbel_r": ((), [-1.5, 0.3, 4.0]),
    "gumbel_l": ((), [-4.0, 0.3, 1.5]),
    "laplace": ((), [-2.0, 0.3, 4.0]),
    "logistic": ((), [-2.0, 0.3, 4.0]),
    "uniform": ((), [0.2, 0.7]),
    "cauchy": ((), [-3.0, 0.2, 2.0]),
    "gamma": ((2.3,), [0.3, 2.0, 5.0]),
    "chi2": ((3.3,), [0.3, 2.0, 5.0]),
    "gennorm": ((1.3,), [-2.0, 0.3, 1.5]),
    "beta": ((2.3, 0.7), [0.2, 0.5, 0.9]),
    "f": ((3.2, 5.5), [0.3, 1.0, 4.0]),
    "t": ((3.4,), [-2.0, 0.3, 4.0]),
    "vonmises": ((1.3,), [-2.0, 0.3, 1.0]),
}
# distribution: constant arguments, parameters
DISCRETE = {
    "poisson": (([0, 3, 9],), (3.3,)),
    "bernoulli": (([0, 1],), (0.3,)),
    "binom": (([0, 3, 9], 10), (0.3,)),
    "nbinom": (([0, 3, 9],), (3.5, 0.4)),
    "geom": (([1, 3, 9],), (0.3,)),
    "betabinom": (([0, 3, 9], 10), (2.3, 0.63)),
}
CONTINUOUS_CASES = [(name, function) for name in CONTINUOUS for function in stats.norm.functions]
DISCRETE_CASES = [(name, f) for name in DISCRETE for f in ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")]


def problem(name, function):
    """A function of continuous arguments, and these."""
    f = getattr(getattr(stats, name), function)
    if name in DISCRETE:
        constant, parameters = DISCRETE[name]
        return lambda *args: f(np.array(constant[0], float), *constant[1:], *args), parameters
    shapes, xs = CONTINUOUS[name]
    x = np.array([0.1, 0.4, 0.8] if function in ("ppf", "isf") else xs)
    return f, (x, *shapes, 0.02, 1.1)


def total(f):
    return lambda *args: ad.numpy.sum(f(*args))


@pytest.mark.parametrize(("name", "function"), CONTINUOUS_CASES + DISCRETE_CASES)
def test_transforms_agree(name, function):
    f, args = problem(name, function)
    every = tuple(range(len(args)))
    want = ad.grad(total(f), every)(*args)
    directions = [np.ones(np.shape(a)) for a in args]
    forward = ad.jvp(total(f), tuple(map(np.asarray, args)), tuple(directions))[1]
    np.testing.assert_allclose(forward, sum(np.sum(g) for g in want), rtol=1e-10, atol=1e-13)
    for got, g in zip(ad.jit(ad.grad(total(f), every))(*args), want, strict=True):
        np.testing.assert_allclose(got, g, rtol=1e-10, atol=1e-13)
    single = [np.asarray(a, np.float32)[()] for a in args]
    for got, g in zip(ad.grad(total(f), every)(*single), want, strict=True):
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, g, rtol=2e-3, atol=2e-4)
    rows = [np.stack([np.asarray(a), np.asarray(a) * 1.01]) for a in args]
    value, gradients = ad.vmap(ad.value_and_grad(total(f), every))(*rows)
    for k in range(2):
        row = [r[k] for r in rows]
        np.testing.assert_allclose(value[k], total(f)(*row), rtol=1e-12, atol=1e-14)
        for got, g in zip(gradients, ad.grad(total(f), every)(*row), strict=True):
            np.testing.assert_allclose(got[k], g, rtol=1e-10, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "function"), CONTINUOUS_CASES + DISCRETE_CASES)
def test_second_order(name, function):
    f, args = problem(name, function)
    check_grads(f, tuple(map(np.asarray, args)), order=2)


@pytest.mark.parametrize("name", ["norm", "t", "gamma", "vonmises", "truncnorm", "poisson", "betabinom"])
def test_second_order_of_some(name):
    function = "logsf" if name != "t" else "cdf"
    f, args = problem(name, function)
    check_grads(f, tuple(map(np.asarray, args)), order=2)


# at an edge of the support, or beyond: function, arguments, derivatives in the first argument, first and second
EDGES = {
    "gamma.pdf, a = 1": (stats.gamma.pdf, (0.0, 1.0), -1.0, 1.0),
    "gamma.pdf, a = 2": (stats.gamma.pdf, (0.0, 2.0), 1.0, -2.0),
    "gamma.pdf, a = 3": (stats.gamma.pdf, (0.0, 3.0), 0.0, 1.0),
    "gamma.pdf beyond": (stats.gamma.pdf, (-1.0, 2.0), 0.0, 0.0),
    "gamma.logpdf beyond": (stats.gamma.logpdf, (-1.0, 2.0), 0.0, 0.0),
    "beta.pdf at 0": (stats.beta.pdf, (0.0, 2.0, 3.0), 12.0, -48.0),
    "beta.pdf at 1": (stats.beta.pdf, (1.0, 3.0, 2.0), -12.0, -48.0),
    "expon.cdf": (stats.expon.cdf, (0.0,), 1.0, -1.0),
    "expon.logsf": (stats.expon.logsf, (0.0,), -1.0, 0.0),
    "weibull_min.pdf": (stats.weibull_min.pdf, (0.0, 2.0), 2.0, 0.0),
    "rayleigh.pdf": (stats.rayleigh.pdf, (0.0,), 1.0, 0.0),
    "uniform.cdf": (stats.uniform.cdf, (1.0,), 1.0, 0.0),
    "lognorm.pdf": (stats.lognorm.pdf, (0.0, 1.0), 0.0, 0.0),
    "laplace.logpdf, its kink": (stats.laplace.logpdf, (0.0,), 0.0, 0.0),
    "laplace.cdf in the middle": (stats.laplace.cdf, (0.0,), 0.5, 0.5),
    "gennorm.cdf in the middle": (stats.gennorm.cdf, (0.0, 2.0), 1 / np.sqrt(np.pi), 0.0),
    "t.cdf in the middle": (stats.t.cdf, (0.0, 3.0), 2 / (np.pi * np.sqrt(3)), 0.0),
    "truncnorm.cdf beyond": (stats.truncnorm.cdf, (3.0, -1.0, 2.0), 0.0, 0.0),
    "poisson.cdf between integers": (stats.poisson.cdf, (2.5, 3.0), 0.0, 0.0),
}


@pytest.mark.parametrize(("f", "args", "first", "second"), EDGES.values(), ids=EDGES)
def test_edges(f, args, first, second):
    def along(x):
        return f(x, *args[1:])

    for wrap in (lambda g: g, ad.jit):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(wrap(ad.grad(along))(args[0]), first, atol=1e-15)
            np.testing.assert_allclose(wrap(ad.grad(ad.grad(along)))(args[0]), second, atol=1e-14)
            np.testing.assert_allclose(ad.jvp(along, (args[0],), (1.0,))[1], first, atol=1e-15)


@pytest.mark.parametrize("function", ["pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_no_nan_of_a_branch_that_is_not_taken(name, function):
    """Arguments outside of the support, and rows of bad parameters, leave the gradients of the others alone."""
    f, (x, *rest) = problem(name, function)
    far = -50.0 if name in ("truncnorm", "beta", "uniform") else 0.5 if name == "pareto" else -1.0
    far = 3.0 if name == "vonmises" else far  # it has no outside
    mixed = np.append(x, far)
    every = tuple(range(1, len(rest) + 1))
    for wrap in (lambda g: g, ad.jit):
        kept = lambda *a: ad.numpy.sum(ad.numpy.where(mixed == mixed[-1], 0.0, f(*a)))
        gradients = wrap(ad.grad(kept, every))(mixed, *rest)
        want = ad.grad(lambda *a: ad.numpy.sum(f(*a)), every)(x, *rest)
        for got, g in zip(gradients, want, strict=True):
            np.testing.assert_allclose(got, g, rtol=1e-9, atol=1e-12)
        assert not np.isnan(wrap(ad.grad(lambda x: ad.numpy.sum(f(x, *rest))))(mixed)).any()


def test_betabinom_needs_its_number_of_trials():
    assert ad.jit(lambda a: stats.betabinom.cdf(3, 10, a, 2.0))(1.5) == stats.betabinom.cdf(3, 10, 1.5, 2.0)
    with pytest.raises(errors.ConcretizationTypeError, match="n is traced"):
        ad.jit(lambda n: stats.betabinom.cdf(3, n, 1.5, 2.0))(10.0)


def test_quantiles_on_integers_are_constant():
    assert ad.grad(lambda mu: stats.poisson.ppf(0.3, mu))(4.4) == 0.0
    assert ad.grad(lambda a: stats.betabinom.ppf(0.3, 10, a, 2.0))(4.4) == 0.0
