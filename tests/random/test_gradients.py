"""Reparameterised gradients: samples move with their parameters so that they stay at their level of the distribution
function. Against differences of the inverse distribution function, and for gamma against recorded values of 250 digits.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.stats as st

import autodidax as ad
import autodidax.numpy as anp
from autodidax import errors, lax, random
from autodidax.primitives.random_gamma import gamma_implicit_slope, log_gamma_implicit_slope
from autodidax.test_util import check_grads

SLOPES = np.array(
    json.loads(Path(__file__).with_name("recorded_slopes.json").read_text("utf-8"))["a, log(x), d log(x) / d a"]
)
KEY = random.key(21)

#: draw of a few numbers with given parameters, the distribution with these parameters, and where to compare
SAMPLERS = {
    "uniform": (lambda k, a, b: random.uniform(k, (20,), None, a, b), lambda a, b: st.uniform(a, b - a), (-1.0, 3.0)),
    "normal": (lambda k, m, s: m + s * random.normal(k, (20,)), st.norm, (0.3, 2.0)),
    "exponential": (lambda k, s: s * random.exponential(k, (20,)), lambda s: st.expon(scale=s), (1.5,)),
    "pareto": (lambda k, b: random.pareto(k, b, (20,)), st.pareto, (2.5,)),
    "rayleigh": (lambda k, s: random.rayleigh(k, s, (20,)), lambda s: st.rayleigh(scale=s), (2.5,)),
    "weibull_min": (
        lambda k, s, c: random.weibull_min(k, s, c, (20,)), lambda s, c: st.weibull_min(c, scale=s), (2.0, 0.7)
    ),
    "triangular": (
        lambda k, a, m, b: random.triangular(k, a, m, b, (20,)),
        lambda a, m, b: st.triang((m - a) / (b - a), loc=a, scale=b - a), (-1.0, 0.5, 2.0),
    ),
    "wald": (lambda k, m: random.wald(k, m, (20,)), st.invgauss, (1.5,)),
    "lognormal": (lambda k, s: random.lognormal(k, s, (20,)), st.lognorm, (0.5,)),
    "truncated_normal": (lambda k, a, b: random.truncated_normal(k, a, b, (20,)), st.truncnorm, (-0.5, 2.0)),
    "gamma, small": (lambda k, a: random.gamma(k, a, (20,)), st.gamma, (0.3,)),
    "gamma": (lambda k, a: random.gamma(k, a, (20,)), st.gamma, (2.5,)),
    "gamma, large": (lambda k, a: random.gamma(k, a, (20,)), st.gamma, (500.0,)),
    "gamma with a scale": (
        lambda k, a, s: s * random.gamma(k, a, (20,)), lambda a, s: st.gamma(a, scale=s), (2.5, 3.0)
    ),
    "loggamma": (lambda k, a: random.loggamma(k, a, (20,)), st.loggamma, (0.7,)),
    "chisquare": (lambda k, d: random.chisquare(k, d, (20,)), st.chi2, (3.0,)),
}  # fmt: skip


@pytest.mark.parametrize("generator", ["threefry2x32", "philox"])
@pytest.mark.parametrize(("draw", "distribution", "parameters"), SAMPLERS.values(), ids=SAMPLERS)
def test_samples_stay_at_their_level(draw, distribution, parameters, generator):
    key = random.key(21, impl=generator)
    x = draw(key, *parameters)
    level = distribution(*parameters).cdf(x)
    upper = level > 0.5
    survival = distribution(*parameters).sf(x)

    def moved(*changed):
        other = distribution(*changed)
        return np.where(upper, other.isf(survival), other.ppf(level))

    jacobian = ad.jacfwd(lambda *p: draw(key, *p), argnums=tuple(range(len(parameters))))(*parameters)
    for i, p in enumerate(parameters):
        h = 1e-4 * max(abs(p), 0.1)
        steps = [moved(*[q + s * h * (j == i) for j, q in enumerate(parameters)]) for s in (-2, -1, 1, 2)]
        expected = (steps[0] - 8 * steps[1] + 8 * steps[2] - steps[3]) / (12 * h)
        np.testing.assert_allclose(jacobian[i], expected, rtol=2e-6, atol=1e-8)


#: made of several samples, each of which moves: what is known of their gradient is its mean
RATIOS = {
    "beta": (lambda k, a, b: random.beta(k, a, b, (4000,)), lambda a, b: st.beta(a, b), (0.7, 2.0)),
    "t": (lambda k, d: random.t(k, d, (4000,)), st.t, (4.5,)),
    "f": (lambda k, m, n: random.f(k, m, n, (4000,)), st.f, (5.0, 12.0)),
    "generalized_normal": (lambda k, p: random.generalized_normal(k, p, (4000,)), st.gennorm, (1.5,)),
}
SMOOTH = {"atan": (np.arctan, lambda x: 1 / (1 + x * x)), "cos": (np.cos, lambda x: -np.sin(x))}


@pytest.mark.parametrize(("draw", "distribution", "parameters"), RATIOS.values(), ids=RATIOS)
@pytest.mark.parametrize("test", SMOOTH)
def test_gradients_of_expectations(draw, distribution, parameters, test):
    """The mean of the gradients is the gradient of the mean."""
    value, _ = SMOOTH[test]
    pulled = ad.jacfwd(
        lambda *p: {"atan": anp.arctan, "cos": anp.cos}[test](draw(KEY, *p)), tuple(range(len(parameters)))
    )
    for i, (p, each) in enumerate(zip(parameters, pulled(*parameters), strict=True)):
        h = 1e-3 * p
        means = [distribution(*[q + s * h * (j == i) for j, q in enumerate(parameters)]).expect(value) for s in (-1, 1)]
        expected = (means[1] - means[0]) / (2 * h)
        assert abs(each.mean() - expected) < 4.5 * each.std() / np.sqrt(len(each)) + 1e-9


def test_recorded_slopes():
    a, log_x, slopes = SLOPES.T
    np.testing.assert_allclose(log_gamma_implicit_slope(a, log_x), slopes, rtol=2e-13)
    x = np.exp(log_x)
    visible = x > 1e-290
    np.testing.assert_allclose(gamma_implicit_slope(a[visible], x[visible]), (slopes * x)[visible], rtol=1e-11)
    single = gamma_implicit_slope(a.astype(np.float32), x.astype(np.float32))
    assert single.dtype == np.float32


def test_slopes_of_known_distributions():
    x = np.linspace(0.1, 20.0, 50)
    with pytest.raises(ValueError, match="broadcast"):
        gamma_implicit_slope(np.ones(3), np.ones(2))
    assert gamma_implicit_slope(np.ones((2, 1)), x).shape == (2, 50)
    np.testing.assert_array_equal(gamma_implicit_slope(2.0, 0.0), 0.0)
    for a, point in [(-1.0, 1.0), (0.0, 1.0), (np.nan, 1.0), (np.inf, 1.0), (1.0, np.nan), (1.0, np.inf), (1.0, -1.0)]:
        assert np.isnan(gamma_implicit_slope(a, point))


def test_reverse_mode_jit_and_vmap_agree():
    a = np.array([0.3, 1.0, 7.0, 200.0])
    f = lambda a: anp.sum(anp.sin(random.gamma(KEY, a)) + random.loggamma(KEY, a))
    g = ad.grad(f)(a)
    np.testing.assert_allclose(ad.jit(ad.grad(f))(a), g, rtol=1e-14)
    np.testing.assert_allclose(ad.grad(ad.jit(f))(a), g, rtol=1e-14)
    np.testing.assert_allclose(ad.jacfwd(f)(a), g, rtol=1e-14)
    keys = random.split(KEY, 3)
    each = ad.vmap(lambda k, a: ad.grad(lambda a: random.beta(k, a, 2.0))(a))(keys, a[:3])
    np.testing.assert_allclose(
        each, [ad.grad(lambda a, k=k: random.beta(k, a, 2.0))(v) for k, v in zip(keys, a, strict=False)]
    )


def test_gradients_of_compositions():
    """What is differentiable to all orders, and is compared with differences of the draw itself."""
    draws = [
        lambda m, s: anp.sum(m + s * random.normal(KEY, (3,))),
        lambda a, b: anp.sum(random.uniform(KEY, (3,), None, a, a + b)),
        lambda s, c: anp.sum(random.weibull_min(KEY, s, c, (3,))),
        lambda a, b: anp.sum(random.truncated_normal(KEY, a - 1.0, b, (3,))),
        lambda m, c: anp.sum(random.multivariate_normal(KEY, m * anp.ones(2), c * np.eye(2) + 0.1)),
        lambda s, b: anp.sum(random.lognormal(KEY, s, (3,)) * random.pareto(KEY, b, (3,))),
    ]
    for draw in draws:
        check_grads(draw, (0.4, 1.3))


def test_float32_stays():
    for draw in (random.gamma, random.loggamma, random.chisquare, random.t, random.wald):
        a = np.array([0.5, 3.0], np.float32)
        g = ad.grad(lambda a, draw=draw: anp.sum(draw(KEY, a, None, np.float32)))(a)
        assert g.dtype == np.float32 and np.isfinite(g).all()


def test_tiny_parameters():
    """Samples far below the smallest number have finite logarithms, with finite slopes."""
    key = random.key(0)
    x, slope = ad.value_and_grad(lambda a: random.loggamma(key, a))(1e-4)
    assert x < -1e3 and np.isfinite(slope) and slope > 0
    for value in ad.grad(lambda a: random.gamma(key, a))(1e-4), ad.grad(lambda a: random.beta(key, a, 1.0))(1e-3):
        assert np.isfinite(value)
    g = ad.jacfwd(lambda a: random.dirichlet(key, a))(np.full(3, 1e-3))
    assert np.isfinite(g).all()
    np.testing.assert_allclose(g.sum(0), 0, atol=1e-12)


REFUSED = {
    "bernoulli": (lambda p: random.bernoulli(KEY, p), "p"),
    "binomial": (lambda p: random.binomial(KEY, 10, p), "p"),
    "categorical": (lambda p: random.categorical(KEY, anp.stack([p, p])), "logits"),
    "choice": (lambda p: random.choice(KEY, 2, p=anp.stack([p, 1 - p])), "p"),
    "geometric": (lambda p: random.geometric(KEY, p), "p"),
    "multinomial": (lambda p: random.multinomial(KEY, 10, anp.stack([p, 1 - p])).sum(), "p"),
    "poisson": (lambda p: random.poisson(KEY, p), "lam"),
    "randint": (lambda p: random.randint(KEY, (), 0, 10 * p), "maxval"),
}
MEND = (
    "draw with stop_gradient({}); for the derivative of an expectation use the score function, stop_gradient(value) * "
    "log_probability(sample), or a relaxation, softmax((logits + gumbel noise) / temperature)"
)


@pytest.mark.parametrize("name", REFUSED)
def test_discrete_samples_have_no_derivative(name):
    draw, what = REFUSED[name]
    for differentiate in (ad.grad, ad.jacfwd, lambda f: lambda p: ad.vmap(ad.grad(f))(np.array([p, p]))):
        with pytest.raises(errors.NondifferentiableError) as caught:
            differentiate(lambda p: p * draw(p))(0.5)
        lines = str(caught.value).split("\n")
        assert lines[0] == f"random.{name} has no derivative in {what}: its samples jump from one value to the next"
        assert lines[2] == f"  mend: {MEND.format(what)}"
    with pytest.raises(errors.NondifferentiableError, match="parameter of a discrete distribution"):
        ad.grad(ad.jit(lambda p: p * draw(p)))(0.5)
    sample = draw(0.5)
    np.testing.assert_array_equal(ad.grad(lambda p: p * draw(lax.stop_gradient(p)))(0.5), sample)
    np.testing.assert_array_equal(ad.jit(draw)(0.5), sample)


def test_a_second_derivative_is_refused():
    with pytest.raises(errors.NondifferentiableError, match="second derivative of a gamma sample"):
        ad.hessian(lambda a: random.gamma(KEY, a))(2.0)


def test_wald_to_higher_orders():
    """Against differences of the first derivative, which follows the sample to its level for another mean."""
    level = st.invgauss(1.5).cdf(x := random.wald(KEY, 1.5))
    h = 1e-3
    moved = [st.invgauss(1.5 + s * h).ppf(level) for s in (-1, 1)]
    second = ad.grad(ad.grad(lambda m: random.wald(KEY, m)))(1.5)
    np.testing.assert_allclose(second, (moved[0] - 2 * x + moved[1]) / h**2, rtol=1e-4)
