"""Rules that are wrong in a range of the input: beyond a bound, of one sign, at zero, one, integers, ties."""

import math

import numpy as np
from scipy import special

from tests.testing.wrong.case import normal, reverse, unary, uniform


def huber(x):
    a = np.abs(x)
    return np.where(a <= 1, x * x / 2, a - 0.5)


def smoothstep(x):
    c = np.clip(x, 0, 1)
    return c * c * (3 - 2 * c)


def smoothstep_slope(x, *, inside=True):
    return np.where((x > 0) & (x < 1), 1.0, 0.0 if inside else 1.0) * 6 * x * (1 - x)


def sine_ratio(x):
    return np.sinc(x / np.pi)


def sine_ratio_slope(x, *, small=0.0):
    """(x cos x - sin x) / x^2, by its series near zero."""
    series = -x / 3 * (1 - x**2 / 10 * (1 - x**2 / 28 * (1 - x**2 / 54 * (1 - x**2 / 88))))
    with np.errstate(all="ignore"):
        d = np.where(np.abs(x) < 0.5, series, (x * np.cos(x) - np.sin(x)) / x**2)
    return np.where(np.abs(x) < small, 0.0, d)


def sine_ratio_slope_plain(x):
    with np.errstate(all="ignore"):
        return np.where(np.abs(x) < 0.5, sine_ratio_slope(x), (x * np.cos(x) - np.sin(x)) / x**2) + 0 * (1 / x)


def log_ratio(x):
    """log(x) / (x - 1), 1 at x = 1."""
    with np.errstate(all="ignore"):
        return np.where(x == 1, 1.0, np.log1p(x - 1) / np.where(x == 1, 1.0, x - 1))


def log_ratio_slope(x, *, at_one=None):
    u = x - 1
    series = sum((-1) ** k * (k / (k + 1)) * np.where(np.abs(u) < 0.1, u, 0.0) ** (k - 1) for k in range(1, 18))
    with np.errstate(all="ignore"):
        d = np.where(np.abs(u) < 0.1, series, (1 / x - np.log1p(u) / u) / u)
    return d if at_one is None else np.where(x == 1, at_one, d)


def exponential_ratio_slope(u):
    """The derivative of (exp(u) - 1) / u."""
    near = np.where(np.abs(u) < 0.5, u, 0.0)
    series = sum((k + 1) * near**k / math.factorial(k + 2) for k in range(18))
    with np.errstate(all="ignore"):
        return np.where(np.abs(u) < 0.5, series, (np.exp(u) * (u - 1) + 1) / u**2)


def divided_difference(x, y):
    """(exp(x) - exp(y)) / (x - y), exp(x) where they are equal."""
    return np.exp(y) * special.exprel(x - y)


def divided_difference_vjp(x, y, ct):
    dx = np.exp(y) * exponential_ratio_slope(x - y)
    return ct * dx, ct * (divided_difference(x, y) - dx)


def divided_difference_plain(x, y, ct):
    with np.errstate(all="ignore"):
        return (
            ct * (np.exp(x) - divided_difference(x, y)) / (x - y),
            ct * (divided_difference(x, y) - np.exp(y)) / (x - y),
        )


def close_pair(rng):
    """Two arrays with one entry in common."""
    x, y = rng.standard_normal((2, 5))
    y[2] = x[2]
    return x, y


def softmax(x):
    return special.softmax(x)


def counted_twice(x, ct):
    return ct * softmax(x) * np.array([np.sum(x == v) for v in x])


def without_nan(d):
    def quiet(x):
        with np.errstate(all="ignore"):
            return d(x)

    return quiet


def without_warnings(rule):
    def quiet(*args):
        with np.errstate(all="ignore"):
            return rule(*args)

    return quiet


def norm(x):
    return np.sqrt(x @ x)


def one_zero(rng):
    x = rng.normal(size=4)
    x[rng.integers(4)] = 0.0
    return (x,)


CASES = [
    unary(
        "softplus, linear from 5", lambda x: np.logaddexp(x, 0), special.expit,
        lambda x: np.where(x > 5, 1.0, special.expit(x)), normal(40)),
    unary(
        "exponential, zero below -4", np.exp, np.exp, lambda x: np.where(x < -4, 0.0, np.exp(x)),
        uniform(-0.6, 0.1, 40)),
    unary(
        "cube, right for positive entries", lambda x: x**3, lambda x: 3 * x * x, lambda x: 3 * x * np.abs(x),
        uniform(1, 2, 5)),
    unary("huber, right inside", huber, lambda x: np.clip(x, -1, 1), lambda x: x, uniform(-0.8, 0.8, 6)),
    unary(
        "clip, right inside", lambda x: np.clip(x, -1, 1), lambda x: 1.0 * (np.abs(x) < 1), lambda x: 1.0 * (x > -1),
        uniform(-0.5, 0.5, 40)),
    unary(
        "leaky relu, slope of negative entries", lambda x: np.where(x > 0, x, 0.01 * x),
        lambda x: np.where(x > 0, 1, 0.01), lambda x: np.where(x > 0, 1, 0.1), uniform(0.5, 2, 5)),
    unary(
        "elu, negative entries not shifted", lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
        lambda x: np.where(x > 0, 1, np.exp(np.minimum(x, 0))),
        lambda x: np.where(x > 0, 1, np.expm1(np.minimum(x, 0))), uniform(0.5, 2, 5)),
    unary(
        "smoothstep, right inside", smoothstep, smoothstep_slope, lambda x: smoothstep_slope(x, inside=False),
        uniform(0.2, 0.8, 5)),
    unary(
        "sine ratio, flat below 0.1", sine_ratio, sine_ratio_slope, lambda x: sine_ratio_slope(x, small=0.1),
        lambda rng: (np.array([0.05, 1.0, 2.0]) * rng.uniform(0.9, 1.1, 3),)),
    unary("sine ratio, nan at zero", sine_ratio, sine_ratio_slope, sine_ratio_slope_plain, uniform(1, 3, 5)),
    unary(
        "power of 3/2, nan at zero", lambda x: np.abs(x) ** 1.5, lambda x: 1.5 * np.sign(x) * np.sqrt(np.abs(x)),
        without_nan(lambda x: 1.5 * np.abs(x) ** 1.5 / x), normal(5)),
    unary(
        "cosine, zero at zero entries", lambda x: np.sin(x) + x, lambda x: np.cos(x) + 1,
        lambda x: np.where(x == 0, 0.0, np.cos(x) + 1), normal(5)),
    unary(
        "product with a sign, zero derivative at zero", lambda x: x + x * np.abs(x), lambda x: 1 + 2 * np.abs(x),
        lambda x: np.sign(x) ** 2 + 2 * np.abs(x), normal(5)),
    unary(
        "log ratio, wrong at one", log_ratio, log_ratio_slope, lambda x: log_ratio_slope(x, at_one=0.0),
        uniform(1.5, 3, 5)),
    unary(
        "log ratio, nan at one", log_ratio, log_ratio_slope, lambda x: log_ratio_slope(x, at_one=np.nan),
        uniform(1.5, 3, 5)),
    unary(
        "sine of pi x, zero at integers", lambda x: np.sin(np.pi * x), lambda x: np.pi * np.cos(np.pi * x),
        lambda x: np.where(x == np.round(x), 0.0, np.pi * np.cos(np.pi * x)), normal(5)),
    unary(
        "square root of 1 + x^2, flat beyond 20", lambda x: np.sqrt(1 + x * x), lambda x: x / np.sqrt(1 + x * x),
        lambda x: np.where(np.abs(x) > 20, np.sign(x), x / np.sqrt(1 + x * x)),
        lambda rng: (2 * rng.standard_normal(9),)),
    unary(
        "tanh, zero for tiny entries", np.tanh, lambda x: 1 - np.tanh(x) ** 2,
        lambda x: np.where(np.abs(x) < 1e-6, 0.0, 1 - np.tanh(x) ** 2), normal(5)),
    unary(
        "log cosh, overflow", lambda x: np.logaddexp(x, -x), np.tanh, without_nan(lambda x: np.sinh(x) / np.cosh(x)),
        lambda rng: (100 * rng.uniform(0.5, 1, 5),)),
    unary(
        "square through a logarithm, nan for negative entries", lambda x: x * x, lambda x: 2 * x,
        without_nan(lambda x: 2 * np.exp(np.log(x))), uniform(0.5, 2, 5)),
    unary(
        "power of 5/2 of positive entries, nan for negative ones", lambda x: np.maximum(x, 0) ** 2.5,
        lambda x: 2.5 * np.maximum(x, 0) ** 1.5, without_nan(lambda x: (x > 0) * 2.5 * x**1.5), uniform(0.5, 2, 5)),
    unary(
        "copysign, right for positive entries", lambda x: np.copysign(x, 1.0), np.sign, np.ones_like,
        uniform(0.5, 2, 5)),
    unary(
        "normal tail, asymptotic below -5", special.log_ndtr,
        lambda x: np.exp(-x * x / 2 - special.log_ndtr(x)) / np.sqrt(2 * np.pi),
        lambda x: np.where(x < -5, -x, np.exp(-x * x / 2 - special.log_ndtr(x)) / np.sqrt(2 * np.pi)),
        uniform(-1, 1, 40)),
    unary(
        "Bessel function, asymptotic beyond 8", special.j0, lambda x: -special.j1(x),
        lambda x: np.where(np.abs(x) > 8,
        np.sqrt(2 / np.pi / np.maximum(np.abs(x), 1)) * -np.sin(np.abs(x) - np.pi / 4) * np.sign(x), -special.j1(x)),
        uniform(1, 3, 6)),
    unary(
        "sigmoid, only the smaller half", special.expit, lambda x: special.expit(x) * special.expit(-x),
        lambda x: np.where(x > 2.5, special.expit(x), special.expit(x) * special.expit(-x)), uniform(-2, 2, 40)),
    reverse(
        "divided difference, nan at ties", divided_difference, divided_difference_vjp, divided_difference_plain,
        normal(5, 5)),
    reverse(
        "divided difference, nan at a tie that is given", divided_difference, divided_difference_vjp,
        divided_difference_plain, close_pair),
    reverse(
        "logaddexp, whole weight at ties", np.logaddexp,
        lambda x, y, ct: (ct * special.expit(x - y), ct * special.expit(y - x)),
        lambda x, y, ct: (ct * np.where(x == y, 1.0, special.expit(x - y)),
        ct * np.where(x == y, 0.0, special.expit(y - x))), normal(5, 5)),
    reverse(
        "logsumexp, equal entries counted twice", special.logsumexp, lambda x, ct: ct * softmax(x), counted_twice,
        normal(5)),
    reverse(
        "cube of the norm, nan at zero", lambda x: (x @ x) ** 1.5, lambda x, ct: ct * 3 * np.sqrt(x @ x) * x,
        lambda x, ct: ct * 3 * (x @ x) ** 1.5 * (x / (x @ x)), normal(4)),
    reverse(
        "product, through a division by the entries", np.prod,
        lambda x, ct: ct * np.array([np.prod(np.delete(x, i)) for i in range(x.size)]),
        lambda x, ct: ct * np.prod(x) / x, normal(5)),
    unary("modulus, nan at zero", np.abs, np.sign, without_warnings(lambda x: x / np.abs(x)),
        one_zero),
    unary(
        "positive part, infinite at zero", lambda x: np.maximum(x, 0), lambda x: 0.5 * (np.sign(x) + 1),
        lambda x: np.where(x == 0, np.inf, x > 0), one_zero),
    reverse(
        "norm, nan at zero", norm, lambda x, ct: ct * x / (norm(x) or 1.0),
        without_warnings(lambda x, ct: ct * x / norm(x)), lambda rng: (np.zeros(4),)),
    reverse(
        "maximum of seven equal entries, each has the whole", np.max,
        lambda x, ct: ct * (x == np.max(x)) / np.sum(x == np.max(x)), lambda x, ct: ct * (x == np.max(x)),
        lambda rng: (np.ones(7),)),
    reverse(
        "maximum of rows of equal entries, each has the whole", lambda x: np.max(x, axis=1),
        lambda x, ct: ct[:, None] * (np.arange(9) == np.argmax(x, axis=1)[:, None]),
        lambda x, ct: ct[:, None] * (x == np.max(x, axis=1, keepdims=True)), lambda rng: (np.zeros((2, 9)),)),
    reverse(
        "sum of positive parts, slope of two at zero", lambda x: np.sum(np.maximum(x, 0)),
        lambda x, ct: ct * np.where(x > 0, 1.0, 0.0), lambda x, ct: ct * np.where(x == 0, 2.0, x > 0),
        lambda rng: (np.zeros(6),)),
    unary("rounding, straight through", np.round, np.zeros_like, np.ones_like, normal(5)),
    unary("floor, straight through", np.floor, np.zeros_like, np.ones_like, uniform(-3, 3, 5)),
    unary(
        "rounding to tenths, straight through", lambda x: np.round(x / 0.1) * 0.1, np.zeros_like, np.ones_like,
        normal(5)),
]  # fmt: skip
