"""Samples against SciPy's distributions: Kolmogorov-Smirnov for continuous ones, chi-square for discrete ones."""

import numpy as np
import pytest
import scipy.stats as st

import autodidax as ad
from autodidax import random

N = 20000
WEIGHTS = np.array([0.1, 0.25, 0.05, 0.6])
LOGITS = np.log(WEIGHTS) + 3.0

#: draw of n numbers, and their distribution function
CONTINUOUS = {
    "uniform": (lambda k, n: random.uniform(k, (n,), None, -1.0, 3.0), st.uniform(-1, 4)),
    "normal": (lambda k, n: random.normal(k, (n,)), st.norm),
    "exponential": (lambda k, n: random.exponential(k, (n,)), st.expon),
    "gumbel": (lambda k, n: random.gumbel(k, (n,)), st.gumbel_r),
    "gumbel high": (lambda k, n: random.gumbel(k, (n,), mode="high"), st.gumbel_r),
    "gumbel highest": (lambda k, n: random.gumbel(k, (n,), np.float32, mode="highest"), st.gumbel_r),
    "laplace": (lambda k, n: random.laplace(k, (n,)), st.laplace),
    "logistic": (lambda k, n: random.logistic(k, (n,)), st.logistic),
    "cauchy": (lambda k, n: random.cauchy(k, (n,)), st.cauchy),
    "pareto": (lambda k, n: random.pareto(k, 2.5, (n,)), st.pareto(2.5)),
    "rayleigh": (lambda k, n: random.rayleigh(k, 2.5, (n,)), st.rayleigh(scale=2.5)),
    "weibull_min": (lambda k, n: random.weibull_min(k, 2.0, 0.7, (n,)), st.weibull_min(0.7, scale=2)),
    "triangular": (lambda k, n: random.triangular(k, -1.0, 0.5, 2.0, (n,)), st.triang(0.5, loc=-1, scale=3)),
    "wald": (lambda k, n: random.wald(k, 1.5, (n,)), st.invgauss(1.5)),
    "maxwell": (lambda k, n: random.maxwell(k, (n,)), st.maxwell),
    "double_sided_maxwell": (
        lambda k, n: abs(random.double_sided_maxwell(k, 1.0, 2.0, (n,)) - 1.0), st.maxwell(scale=2)
    ),
    "lognormal": (lambda k, n: random.lognormal(k, 0.5, (n,)), st.lognorm(0.5)),
    "truncated_normal": (lambda k, n: random.truncated_normal(k, -0.5, 2.0, (n,)), st.truncnorm(-0.5, 2)),
    "multivariate_normal": (
        lambda k, n: random.multivariate_normal(k, np.zeros(2), np.array([[1.0, 0.9], [0.9, 1.0]]), (n,)) @ [1, -1],
        st.norm(scale=np.sqrt(0.2)),
    ),
    "generalized_normal": (lambda k, n: random.generalized_normal(k, 1.5, (n,)), st.gennorm(1.5)),
    "ball": (lambda k, n: (random.ball(k, 3, 2, (n,)) ** 2).sum(-1) ** 1.5, st.uniform),
    "gamma, small": (lambda k, n: random.gamma(k, 0.2, (n,)), st.gamma(0.2)),
    "gamma": (lambda k, n: random.gamma(k, 2.5, (n,)), st.gamma(2.5)),
    "gamma, large": (lambda k, n: random.gamma(k, 1e4, (n,)), st.gamma(1e4)),
    "loggamma": (lambda k, n: random.loggamma(k, 0.05, (n,)), st.loggamma(0.05)),
    "beta": (lambda k, n: random.beta(k, 0.7, 2.0, (n,)), st.beta(0.7, 2)),
    "dirichlet": (lambda k, n: random.dirichlet(k, np.array([0.5, 1.0, 3.0]), (n,))[:, 1], st.beta(1, 3.5)),
    "chisquare": (lambda k, n: random.chisquare(k, 3.0, (n,)), st.chi2(3)),
    "t": (lambda k, n: random.t(k, 2.5, (n,)), st.t(2.5)),
    "f": (lambda k, n: random.f(k, 3.0, 7.0, (n,)), st.f(3, 7)),
    "orthogonal": (lambda k, n: random.orthogonal(k, 3, (n,))[:, 0, 0], st.uniform(-1, 2)),
}  # fmt: skip

#: draw of n whole numbers, and their distribution
DISCRETE = {
    "bernoulli": (lambda k, n: random.bernoulli(k, 0.3, (n,)), st.bernoulli(0.3)),
    "bernoulli high": (lambda k, n: random.bernoulli(k, 0.3, (n,), "high"), st.bernoulli(0.3)),
    "rademacher": (lambda k, n: random.rademacher(k, (n,)), st.rv_discrete(values=([-1, 1], [0.5, 0.5]))),
    "randint": (lambda k, n: random.randint(k, (n,), -3, 8), st.randint(-3, 8)),
    "randint uint8": (lambda k, n: random.randint(k, (n,), 250, 256, np.uint8), st.randint(250, 256)),
    "bits": (lambda k, n: random.bits(k, (n,), np.uint8) >> 4, st.randint(0, 16)),
    "choice": (lambda k, n: random.choice(k, 7, (n,)), st.randint(0, 7)),
    "choice with chances": (
        lambda k, n: random.choice(k, 4, (n,), p=WEIGHTS), st.rv_discrete(values=(range(4), WEIGHTS))
    ),
    "first of a permutation": (
        lambda k, n: ad.vmap(lambda key: random.permutation(key, 5)[0])(random.split(k, n)), st.randint(0, 5)
    ),
    "categorical": (lambda k, n: random.categorical(k, LOGITS, shape=(n,)), st.rv_discrete(values=(range(4), WEIGHTS))),
    "poisson, small": (lambda k, n: random.poisson(k, 2.5, (n,)), st.poisson(2.5)),
    "poisson, large": (lambda k, n: random.poisson(k, 40.0, (n,)), st.poisson(40)),
    "geometric": (lambda k, n: random.geometric(k, 0.3, (n,)), st.geom(0.3)),
    "binomial, few": (lambda k, n: random.binomial(k, 12, 0.3, (n,)), st.binom(12, 0.3)),
    "binomial, many": (lambda k, n: random.binomial(k, 100, 0.7, (n,)), st.binom(100, 0.7)),
    "multinomial": (lambda k, n: random.multinomial(k, 20, WEIGHTS, shape=(n, 4))[:, 1], st.binom(20, 0.25)),
}  # fmt: skip
GENERATORS = ["threefry2x32", "philox"]


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize(("draw", "distribution"), CONTINUOUS.values(), ids=CONTINUOUS)
def test_continuous(draw, distribution, generator):
    x = draw(random.key(11, impl=generator), N)
    assert x.shape == (N,)
    assert st.kstest(x, distribution.cdf).pvalue > 1e-3


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize(("draw", "distribution"), DISCRETE.values(), ids=DISCRETE)
def test_discrete(draw, distribution, generator):
    x = draw(random.key(12, impl=generator), N).astype(int)
    values = np.arange(int(distribution.ppf(1e-6)), int(distribution.ppf(1 - 1e-6)) + 1)
    expected = N * distribution.pmf(values)
    found = np.array([(x == v).sum() for v in values])
    often = expected > 10  # the rest is one class
    pooled = [np.append(c[often], N - c[often].sum()) for c in (found, expected)]
    if pooled[1][-1] < 1e-6 * N:
        assert pooled[0][-1] <= 2
        pooled = [c[:-1] for c in pooled]
        pooled[1] = pooled[1] * pooled[0].sum() / pooled[1].sum()
    assert st.chisquare(*pooled).pvalue > 1e-3


@pytest.mark.parametrize("generator", GENERATORS)
def test_keys_are_independent(generator):
    """Numbers of neighbouring seeds, places of a split and numbers folded in, and of pairs of them."""
    keys = [random.key(i, impl=generator) for i in range(500)]
    keys += list(random.split(keys[0], 500)) + [random.fold_in(keys[1], i) for i in range(500)]
    x = ad.vmap(lambda key: random.normal(key, (20,)))(np.stack(keys))
    assert st.kstest(x.ravel(), st.norm.cdf).pvalue > 1e-3
    assert st.kstest((x[1:] * x[:-1]).mean(1) * np.sqrt(20), st.norm.cdf).pvalue > 1e-4


def test_draws_without_replacement():
    keys = random.split(random.key(0), 500)
    chosen = ad.vmap(lambda k: random.choice(k, 6, (4,), False))(keys)
    assert all(len(set(row)) == 4 for row in chosen)
    weighted = ad.vmap(lambda k: random.choice(k, 4, (2,), False, WEIGHTS))(keys)
    first = np.bincount(weighted[:, 0], minlength=4)
    assert st.chisquare(first, 500 * WEIGHTS).pvalue > 1e-3
    assert (weighted[:, 0] != weighted[:, 1]).all()


def test_matrices_are_orthogonal():
    for dtype in (np.float64, np.float32, np.complex128):
        for n, m in ((4, 4), (2, 5), (5, 2)):
            q = random.orthogonal(random.key(0), n, (3,), dtype, m)
            assert q.shape == (3, n, m) and q.dtype == dtype
            short = q @ q.conj().swapaxes(1, 2) if n <= m else q.conj().swapaxes(1, 2) @ q
            np.testing.assert_allclose(short, np.broadcast_to(np.eye(min(n, m)), short.shape), atol=1e-5)


def test_bounds():
    key = random.key(0)
    x = random.truncated_normal(key, -0.1, np.array([0.0, 0.3]), (10000, 2), np.float32)
    assert x.min() > np.float32(-0.1) and (x.max(0) < np.float32([0.0, 0.3])).all()
    x = random.uniform(key, (100000,), np.float32)
    assert x.min() >= 0 and x.max() < 1
    x = random.uniform(key, (1000,), None, 5.0, 5.0 + 1e-15)
    assert x.min() >= 5.0


IMPOSSIBLE = {
    "gamma": lambda k: random.gamma(k, np.array([-0.5, -3.0, np.nan])),
    "loggamma": lambda k: random.loggamma(k, np.array([-0.5, -3.0, np.nan])),
    "beta": lambda k: random.beta(k, np.array([-0.5, 1.0]), np.array([1.0, np.nan])),
    "binomial": lambda k: random.binomial(k, np.array([-1.0, 3.0, 3.0, np.nan]), np.array([0.5, -0.1, 1.1, 0.5])),
    "chisquare": lambda k: random.chisquare(k, -1.0),
    "t": lambda k: random.t(k, np.nan),
}


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("draw", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_impossible_parameters_give_nan(draw, generator):
    assert np.isnan(draw(random.key(0, impl=generator))).all()


def test_extreme_parameters():
    key = random.key(0)
    for generator in GENERATORS:
        key = random.key(0, impl=generator)
        np.testing.assert_array_equal(random.gamma(key, np.array([0.0, np.inf])), [0.0, np.inf])
        np.testing.assert_array_equal(random.loggamma(key, 0.0), -np.inf)
        np.testing.assert_array_equal(random.poisson(key, np.array([0.0, -1.0, np.nan, np.inf])), [0, -1, -1, -1])
        np.testing.assert_array_equal(
            random.binomial(key, np.array([5.0, 5.0, 0.0, np.inf]), np.array([0.0, 1.0, 0.3, 0.3])), [0, 5, 0, np.inf]
        )
        np.testing.assert_array_equal(
            random.geometric(key, np.array([0.0, 1.0, 2.0]), dtype=np.int32), [np.iinfo(np.int32).max, 1, 0]
        )
        assert np.isfinite(random.loggamma(key, np.full(1000, 1e-4))).all()
