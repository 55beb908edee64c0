"""Wrong signs, factors, terms and operands."""

import numpy as np
from scipy import special

from tests.testing.wrong.case import Case, forward, linear, normal, reverse, unary, uniform

POSITIVE = uniform(0.5, 2.0, 6)
POSITIVES = uniform(0.5, 2.0, 6, 6)


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def log_softmax(x):
    return x - x.max() - np.log(np.sum(np.exp(x - x.max())))


def standardized(x):
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5)


def standardized_vjp(x, ct, *, mean=True, projection=True):
    s, y = np.sqrt(x.var() + 1e-5), standardized(x)
    return (ct - mean * ct.mean() - projection * y * np.mean(ct * y)) / s


def cosine(x, y):
    return x @ y / np.sqrt((x @ x) * (y @ y))


def cosine_vjp(x, y, ct, *, second=True):
    nx, ny, c = np.sqrt(x @ x), np.sqrt(y @ y), cosine(x, y)
    return ct * (y / (nx * ny) - second * c * x / nx**2), ct * (x / (nx * ny) - second * c * y / ny**2)


def others(x):
    """The product of all other entries, for each entry."""
    left = np.concatenate([[1.0], np.cumprod(x)[:-1]])
    right = np.concatenate([np.cumprod(x[::-1])[::-1][1:], [1.0]])
    return left * right


def cumprod_vjp(x, ct, *, reverse=True):
    total = np.zeros_like(x)
    for i in range(x.size):
        part = x.copy()
        part[i] = 1.0
        term = ct * np.cumprod(part)
        total[i] = term[i:].sum() if reverse else term[: i + 1].sum()
    return total


def base_slope(x, y):
    return np.where(y == 0, 0.0, y * x ** (y - 1))


COEFFICIENTS = np.array([0.5, -1.0, 2.0, 0.3])


def polynomial(x):
    return np.polynomial.polynomial.polyval(x, COEFFICIENTS)


def polynomial_slope(x, *, shift=1):
    k = np.arange(COEFFICIENTS.size)
    return np.polynomial.polynomial.polyval(x, (k * COEFFICIENTS)[1:]) if shift else polynomial(x)


KNOTS, HEIGHTS = np.arange(6.0), np.array([0.0, 1.0, -1.0, 2.0, 0.5, 3.0])


def interpolation_slope(x, *, neighbour=0):
    slopes = np.diff(HEIGHTS)
    k = np.floor(x).astype(int)
    return np.where((k < 0) | (k > 4), 0.0, slopes[np.clip(k + neighbour, 0, 4)])


def trapezoid(x):
    return np.trapezoid(x, dx=0.5)


def trapezoid_vjp(x, ct, *, ends=0.5):
    weights = np.full(x.size, 0.5)
    weights[[0, -1]] *= ends
    return ct * weights


def sinc_slope(x, *, scale=np.pi):
    with np.errstate(all="ignore"):
        quotient = (np.cos(np.pi * x) - np.sinc(x)) / np.where(x == 0, 1, x)
        z = (np.pi * x) ** 2
        series = np.pi**2 * x * (-1 / 3 + z / 30 - z * z / 840)  # where the difference has lost its digits
        return np.where(np.abs(x) < 1e-2, series, quotient) * (scale / np.pi)


CASES = [
    unary("log1p, shift forgotten", np.log1p, lambda x: 1 / (1 + x), lambda x: 1 / x, POSITIVE),
    unary("arctan, sign in the denominator", np.arctan, lambda x: 1 / (1 + x * x), lambda x: 1 / (1 - x * x), POSITIVE),
    unary(
        "arccos, sign", np.arccos, lambda x: -1 / np.sqrt(1 - x * x), lambda x: 1 / np.sqrt(1 - x * x),
        uniform(-0.8, 0.8, 5)),
    unary("cosh, sign as of cos", np.cosh, np.sinh, lambda x: -np.sinh(x), normal(5), modes=("rev",)),
    unary(
        "erf, factor of 2", special.erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x),
        lambda x: np.exp(-x * x) / np.sqrt(np.pi), normal(5)),
    unary("expm1, its own derivative", np.expm1, np.exp, np.expm1, normal(5)),
    unary("exp2, no logarithm", np.exp2, lambda x: np.exp2(x) * np.log(2), np.exp2, normal(5), modes=("fwd",)),
    unary("tan, not squared", np.tan, lambda x: 1 / np.cos(x) ** 2, lambda x: 1 / np.cos(x), uniform(-1, 1, 5)),
    unary("square, counted once", lambda x: x * x, lambda x: 2 * x, lambda x: x, normal(5), modes=("rev",)),
    unary("softplus, mirrored", lambda x: np.logaddexp(x, 0), special.expit, lambda x: special.expit(-x), normal(5)),
    unary("gammaln, shifted", special.gammaln, special.digamma, lambda x: special.digamma(x + 1), POSITIVE),
    unary(
        "polynomial, coefficients not shifted", polynomial, polynomial_slope, lambda x: polynomial_slope(x, shift=0),
        normal(5)),
    unary(
        "interpolation, the neighbouring slope", lambda x: np.interp(x, KNOTS, HEIGHTS), interpolation_slope,
        lambda x: interpolation_slope(x, neighbour=1), uniform(0.1, 4.9, 6)),
    unary("sinc, factor of pi", np.sinc, sinc_slope, lambda x: sinc_slope(x, scale=1.0), normal(5)),
    reverse(
        "power, exponent not lowered", np.power, lambda x, y, ct: (ct * base_slope(x, y), ct * special.xlogy(x**y, x)),
        lambda x, y, ct: (ct * y * x**y, ct * special.xlogy(x**y, x)), POSITIVES),
    reverse(
        "power, logarithm of the exponent", np.power,
        lambda x, y, ct: (ct * base_slope(x, y), ct * special.xlogy(x**y, x)),
        lambda x, y, ct: (ct * base_slope(x, y), ct * x**y * np.log(y)), POSITIVES),
    reverse(
        "divide, sign of the denominator", np.divide, lambda x, y, ct: (ct / y, -ct * x / y**2),
        lambda x, y, ct: (ct / y, ct * x / y**2), POSITIVES),
    reverse(
        "divide, operands swapped", np.divide, lambda x, y, ct: (ct / y, -ct * x / y**2),
        lambda x, y, ct: (ct / y, -ct * y / x**2), POSITIVES),
    forward(
        "subtract, both with a plus", np.subtract, lambda x, y, tx, ty: tx - ty, lambda x, y, tx, ty: tx + ty,
        normal(4, 4)),
    reverse(
        "arctan2, operands swapped", np.arctan2, lambda y, x, ct: (ct * x / (x * x + y * y), -ct * y / (x * x + y * y)),
        lambda y, x, ct: (-ct * y / (x * x + y * y), ct * x / (x * x + y * y)), POSITIVES),
    reverse(
        "hypot, not divided", np.hypot, lambda x, y, ct: (ct * x / np.hypot(x, y), ct * y / np.hypot(x, y)),
        lambda x, y, ct: (ct * x, ct * y), POSITIVES),
    reverse(
        "logaddexp, weights swapped", np.logaddexp,
        lambda x, y, ct: (ct * special.expit(x - y), ct * special.expit(y - x)),
        lambda x, y, ct: (ct * special.expit(y - x), ct * special.expit(x - y)), normal(5, 5)),
    Case(
        "product of three, one term missing", lambda x, y, z: x * y * z, normal(4, 4, 4),
        lambda x, y, z, tx, ty, tz: tx * y * z + x * ty * z + x * y * tz,
        lambda x, y, z, ct: (ct * y * z, ct * x * z, ct * x * y),
        wrong_jvp=lambda x, y, z, tx, ty, tz: tx * y * z + x * y * tz,
        wrong_vjp=lambda x, y, z, ct: (ct * y * z, np.zeros_like(y), ct * x * y)),
    reverse(
        "log_softmax, not weighted by the cotangent's sum", log_softmax, lambda x, ct: ct - softmax(x) * ct.sum(),
        lambda x, ct: ct - softmax(x), normal(5)),
    reverse(
        "logsumexp, not normalized", special.logsumexp, lambda x, ct: ct * softmax(x),
        lambda x, ct: ct * np.exp(x - x.max()), normal(5)),
    reverse(
        "variance, mean not subtracted", np.var, lambda x, ct: ct * 2 * (x - x.mean()) / x.size,
        lambda x, ct: ct * 2 * x / x.size, normal(6)),
    reverse(
        "variance, n for n - 1", lambda x: np.var(x, ddof=1), lambda x, ct: ct * 2 * (x - x.mean()) / (x.size - 1),
        lambda x, ct: ct * 2 * (x - x.mean()) / x.size, normal(6)),
    reverse(
        "deviation, as if it were the variance", np.std, lambda x, ct: ct * (x - x.mean()) / (x.size * x.std()),
        lambda x, ct: ct * 2 * (x - x.mean()) / x.size, normal(6)),
    reverse(
        "standardized, both projections missing", standardized, standardized_vjp,
        lambda x, ct: standardized_vjp(x, ct, mean=False, projection=False), normal(6)),
    reverse(
        "standardized, mean of the cotangent missing", standardized, standardized_vjp,
        lambda x, ct: standardized_vjp(x, ct, mean=False), normal(6)),
    reverse(
        "standardized, variance held fixed", standardized, standardized_vjp,
        lambda x, ct: standardized_vjp(x, ct, projection=False), normal(6)),
    reverse(
        "norm, not divided", lambda x: np.sqrt(x @ x), lambda x, ct: ct * x / np.sqrt(x @ x), lambda x, ct: ct * x,
        normal(5)),
    reverse(
        "norm of order 3, sign missing", lambda x: np.sum(np.abs(x) ** 3), lambda x, ct: ct * 3 * np.sign(x) * x**2,
        lambda x, ct: ct * 3 * x**2, normal(5)),
    reverse(
        "cosine similarity, second term missing", cosine, cosine_vjp,
        lambda x, y, ct: cosine_vjp(x, y, ct, second=False), normal(5, 5)),
    reverse(
        "product, not divided by the entry", np.prod, lambda x, ct: ct * others(x), lambda x, ct: ct * np.prod(x),
        POSITIVE),
    reverse(
        "cumulative product, not reversed", np.cumprod, cumprod_vjp, lambda x, ct: cumprod_vjp(x, ct, reverse=False),
        POSITIVE),
    linear(
        "trapezoid, ends not halved", trapezoid, trapezoid_vjp, lambda x, ct: trapezoid_vjp(x, ct, ends=1.0),
        normal(6)),
    reverse(
        "cross product, not antisymmetric", np.cross, lambda x, y, ct: (np.cross(y, ct), np.cross(ct, x)),
        lambda x, y, ct: (np.cross(y, ct), np.cross(x, ct)), normal(3, 3)),
    reverse(
        "quadratic form, right for symmetric matrices alone", lambda x, a: x @ a @ x,
        lambda x, a, ct: (ct * (a + a.T) @ x, ct * np.outer(x, x)),
        lambda x, a, ct: (ct * 2 * a @ x, ct * np.outer(x, x)), normal(4, (4, 4))),
    reverse(
        "outer product, contracted the other way", np.outer, lambda x, y, ct: (ct @ y, ct.T @ x),
        lambda x, y, ct: (ct.T @ y, ct @ x), normal(4, 4)),
    reverse(
        "convolution, kernel not flipped", lambda x, k: np.convolve(x, k, "valid"),
        lambda x, k, ct: (np.convolve(ct, k[::-1], "full"), np.convolve(x[::-1], ct, "valid")),
        lambda x, k, ct: (np.convolve(ct, k, "full"), np.convolve(x[::-1], ct, "valid")), normal(7, 3)),
    linear(
        "trace, ones everywhere", np.trace, lambda x, ct: ct * np.eye(4), lambda x, ct: ct * np.ones((4, 4)),
        normal((4, 4))),
    reverse(
        "squared error, mean not divided", lambda x, y: np.mean((x - y) ** 2),
        lambda x, y, ct: (ct * 2 * (x - y) / 6, -ct * 2 * (x - y) / 6),
        lambda x, y, ct: (ct * 2 * (x - y), -ct * 2 * (x - y)), normal((2, 3), (2, 3))),
    reverse(
        "remainder, truncated for floored", np.remainder, lambda x, y, ct: (ct, -ct * np.floor(x / y)),
        lambda x, y, ct: (ct, -ct * np.trunc(x / y)), lambda rng: (rng.uniform(-6, -2, 5), rng.uniform(0.9, 1.1, 5))),
    unary("sine beside 1e8, sign", lambda x: 1e8 + np.sin(x), np.cos, lambda x: -np.cos(x), uniform(0.3, 1.2, 3)),
    unary("sine beside 1e10, sign", lambda x: 1e10 + np.sin(x), np.cos, lambda x: -np.cos(x), uniform(0.3, 1.2, 3)),
    unary("sine beside 1e10, zero", lambda x: 1e10 + np.sin(x), np.cos, lambda x: 0 * x, uniform(0.3, 1.2, 3)),
    unary(
        "cosine, zero near zero", np.cos, lambda x: -np.sin(x), lambda x: np.where(np.abs(x) < 1e-2, 0, -np.sin(x)),
        normal(3)),
    reverse(
        "small entry of a result, sign", lambda x: np.stack([1e8 * x, 1e-6 * np.sin(x)]),
        lambda x, ct: 1e8 * ct[0] + 1e-6 * np.cos(x) * ct[1], lambda x, ct: 1e8 * ct[0] - 1e-6 * np.cos(x) * ct[1],
        normal(3)),
]  # fmt: skip
