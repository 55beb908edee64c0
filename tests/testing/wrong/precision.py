"""Rules that are nearly right: relative errors from 1e-3 to 1e-11, approximations, differences, cancellation."""

import numpy as np
from scipy import special

from tests.testing.wrong.case import forward, normal, reverse, unary, uniform

POSITIVE = uniform(0.5, 2.0, 6)
MATRIX = np.random.default_rng(3).standard_normal((5, 5)) / 5


def off(name, f, d, error, args, **options):
    """A derivative with a uniform relative error."""
    return unary(f"{name}, relative error {error:g}", f, d, lambda x: d(x) * (1 + error), args, **options)


def erf_slope_by_table(x):
    """The derivative of Abramowitz and Stegun's approximation 7.1.26 of erf."""
    p, a = 0.3275911, (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
    u = np.abs(x)
    t = 1 / (1 + p * u)
    poly = sum(c * t ** (k + 1) for k, c in enumerate(a))
    slope = sum((k + 1) * c * t**k for k, c in enumerate(a)) * -p * t * t
    return -(slope - 2 * u * poly) * np.exp(-u * u)


def digamma_asymptotic(x):
    return np.log(x) - 1 / (2 * x) - 1 / (12 * x**2)


def forward_difference(f, h=1e-8):
    return lambda x: (f(x + h) - f(x)) / h


def central_difference(f, h=1e-4):
    return lambda x: (f(x + h) - f(x - h)) / (2 * h)


def complex_step(x):
    return np.imag(np.sin(x + 1e-30j)) / 1e-30


def fixed_point(b):
    """The solution of x = M x + b."""
    return np.linalg.solve(np.eye(5) - MATRIX, b)


def neumann_series(b, ct, terms=8):
    g = total = ct
    for _ in range(terms):
        g = MATRIX.T @ g
        total = total + g
    return total


def unit(x):
    return x / np.sqrt(x @ x)


def unit_vjp(x, ct, *, eps=0.0):
    n = np.sqrt(x @ x) + eps
    y = x / n
    return (ct - y * (y @ ct)) / n


def one_entry(d):
    def rule(x):
        y = d(x)
        y[3] *= 1 + 1e-6
        return y

    return rule


CASES = [
    off("tanh", np.tanh, lambda x: 1 / np.cosh(x) ** 2, 1e-3, normal(5)),
    off("sin", np.sin, np.cos, -1e-5, normal(5)),
    off("log", np.log, lambda x: 1 / x, 1e-6, POSITIVE),
    off("arctan", np.arctan, lambda x: 1 / (1 + x * x), 1e-7, normal(5)),
    off("exp2", np.exp2, lambda x: np.exp2(x) * np.log(2), 1e-8, normal(5)),
    off("cube", lambda x: x**3, lambda x: 3 * x * x, -1e-9, POSITIVE),
    off("expm1", np.expm1, np.exp, 1e-10, normal(5)),
    off("square", np.square, lambda x: 2 * x, 1e-11, POSITIVE),
    off("sin in float32", np.sin, np.cos, 1e-4, lambda rng: (rng.uniform(0.5, 1.2, 6).astype(np.float32),)),
    off("exp in float32", np.exp, np.exp, 2e-5, lambda rng: (rng.uniform(0.5, 1.2, 6).astype(np.float32),)),
    unary("one entry of 8, relative error 1e-6", np.sin, np.cos, one_entry(np.cos), normal(8)),
    unary(
        "erf, the derivative of an approximation", special.erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x),
        erf_slope_by_table, normal(5)),
    unary(
        "gammaln, the derivative of an asymptotic series", special.gammaln, special.digamma, digamma_asymptotic,
        uniform(4, 8, 5)),
    unary("forward difference in the rule", np.sin, complex_step, forward_difference(np.sin), normal(5), strict=True),
    unary("central difference in the rule", np.sin, np.cos, central_difference(np.sin), normal(5)),
    unary(
        "pi in float32", lambda x: np.sin(np.pi * x), lambda x: np.pi * np.cos(np.pi * x),
        lambda x: float(np.float32(np.pi)) * np.cos(np.pi * x), normal(5)),
    unary(
        "a constant of five digits", special.ndtr, lambda x: np.exp(-x * x / 2) / np.sqrt(2 * np.pi),
        lambda x: 0.39894 * np.exp(-x * x / 2), normal(5)),
    unary(
        "log10, a constant of five digits", np.log10, lambda x: 1 / (x * np.log(10)), lambda x: 1 / (x * 2.3026),
        POSITIVE),
    unary(
        "temperature, a rounded offset", lambda x: np.exp(1 / (x + 273.15)),
        lambda x: -np.exp(1 / (x + 273.15)) / (x + 273.15) ** 2, lambda x: -np.exp(1 / (x + 273.15)) / (x + 273) ** 2,
        uniform(10, 30, 5)),
    reverse(
        "iteration ended early", fixed_point, lambda b, ct: np.linalg.solve((np.eye(5) - MATRIX).T, ct), neumann_series,
        normal(5)),
    reverse(
        "unit vector, a small number in the denominator", unit, unit_vjp, lambda x, ct: unit_vjp(x, ct, eps=1e-8),
        normal(5)),
    forward(
        "sum, rounded to float16", lambda x: np.exp(x).sum(), lambda x, t: np.sum(np.exp(x) * t),
        lambda x, t: np.sum(np.exp(x) * t, dtype=np.float16).astype(np.float64), normal(5)),
    unary(
        "1 - cos of tiny entries", lambda x: np.sin(x / 2) ** 2, lambda x: np.sin(x) / 2,
        lambda x: np.sign(x) * np.sqrt(np.maximum(1 - np.cos(x) ** 2, 0)) / 2,
        lambda rng: (1e-5 * rng.uniform(1, 3, 5),), strict=True),
    unary(
        "difference of roots of large entries", lambda x: 1 / (np.sqrt(x + 1) + np.sqrt(x)),
        lambda x: -0.5 / (np.sqrt(x) * np.sqrt(x + 1) * (np.sqrt(x + 1) + np.sqrt(x))),
        lambda x: 0.5 / np.sqrt(x + 1) - 0.5 / np.sqrt(x), lambda rng: (1e6 * rng.uniform(1, 3, 5),), strict=True),
    unary(
        "log1p, digits lost beside a constant", np.log1p, lambda x: 1 / (1 + x), lambda x: (1 / (1 + x) + 1e6) - 1e6,
        POSITIVE, strict=True),
]  # fmt: skip
