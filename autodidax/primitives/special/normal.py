"""Error functions and the normal distribution, accurate in the tails in every order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.avals import ShapedArray
from autodidax.core.primitive import Pointwise, Primitive, pointwise, sample
from autodidax.primitives.comparison import less
from autodidax.primitives.convert import real
from autodidax.primitives.elementwise import also, divide, exp
from autodidax.primitives.select import where
from autodidax.primitives.special.partials import Partials, draws

_TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)
_ROOT_TWO_OVER_PI = math.sqrt(2.0 / math.pi)

erf = pointwise("erf", sc.erf, lambda _, x: _TWO_OVER_ROOT_PI * exp(-(x * x)))
erfc = pointwise("erfc", sc.erfc, lambda _, x: -_TWO_OVER_ROOT_PI * exp(-(x * x)))
erfi = pointwise("erfi", sc.erfi, lambda _, x: _TWO_OVER_ROOT_PI * exp(x * x))
erfinv = pointwise(
    "erfinv", sc.erfinv, lambda y, _: exp(y * y) / _TWO_OVER_ROOT_PI, domain=(-0.9, 0.9), complex_ok=False
)
erfcinv = pointwise(
    "erfcinv", sc.erfcinv, lambda y, _: exp(y * y) / -_TWO_OVER_ROOT_PI, domain=(0.1, 1.9), complex_ok=False
)
ndtr = pointwise("ndtr", sc.ndtr, lambda _, x: 0.5 * _ROOT_TWO_OVER_PI * exp(-0.5 * (x * x)))
ndtri = pointwise(
    "ndtri", sc.ndtri, lambda y, _: exp(0.5 * (y * y)) / (0.5 * _ROOT_TWO_OVER_PI), domain=(0.1, 0.9), complex_ok=False
)


def _hazard(x: Any) -> Any:
    """The normal density over the distribution function, without the cancellation of exp(-x**2/2 - log_ndtr(x))."""
    return _ROOT_TWO_OVER_PI / sc.erfcx(x * -math.sqrt(0.5))


def _tail_fraction(t: np.ndarray, k: int) -> np.ndarray:
    """k/(t + (k+1)/(t + ...)) for t > 3/2, cut off after 120 terms at its fixed point there for a real t."""
    last = k + 120
    fraction = 2.0 * last / (np.hypot(abs(t), 2.0 * math.sqrt(last)) + t)
    for n in range(last - 1, k - 1, -1):
        fraction = n / (t + fraction)
    return fraction


_TAIL = -1.5  # below it the continued fraction


class NormalTailRatio(Primitive):
    """r_k(x), by which the derivatives of log_ndtr and erfcx stay accurate in every order: (...) -> (...), k >= 1.

    With h the density over the distribution function, r_1 = h + x and r_k (r_{k+1} - x) = k, so that h' = -h r_1 and
    r_k' = r_k (r_{k+1} - r_k) = k - r_k (r_k - x). Where x is negative and the recurrence cancels, the same is read as
    the continued fraction r_k = k/(-x + (k+1)/(-x + ...)).

    Source: the repeated integrals of the complementary error function, https://dlmf.nist.gov/7.18.
    """

    def impl(self, x, *, k):
        x = np.asarray(x)
        tail = x.real < _TAIL
        near = np.where(tail, 0.0, x)
        out = near + _hazard(near)
        for n in range(1, k):
            out = n / out + near
        if tail.any():
            out = np.asarray(out)
            out[tail] = _tail_fraction(-x[tail], k)
        return out[()]

    def abstract_eval(self, x, *, k):
        return ShapedArray(x.shape, sc.erfcx(np.ones(1, x.dtype)).dtype)

    def jvp(self, out, primals, tangents, *, k):
        x = primals[0]
        tail = out * (self(x, k=k + 1) - out)
        near = k - out * (
            ndtr_hazard(x) if k == 1 else divide(k - 1.0, self(x, k=k - 1))
        )  # r_k - x, without cancelling
        return tangents[0] * where(less(real(x), _TAIL), tail, near)

    def batch(self, args, dims, *, k):
        return self(*args, k=k), 0

    def samples(self, rng):
        for k in (1, 2, 4):
            yield sample(np.array([-30.0, -8.0, -2.1, -1.9, -0.3, 0.0, 1.5, 6.0]), k=k)
        yield sample(rng.normal(), k=1)
        yield sample(rng.normal(size=(0, 2)), k=1)
        yield sample(np.array([-8.0, -1.0, 2.0], np.float32), k=2)


_TAILS = sample(np.array([-30.0, -8.0, 8.0]), name="tails")
normal_tail_ratio = NormalTailRatio("normal_tail_ratio")
erfcx = also(
    pointwise("erfcx", sc.erfcx, lambda y, x: y * (-math.sqrt(2.0) * normal_tail_ratio(-math.sqrt(2.0) * x, k=1))),
    sample(np.array([-2.5, 8.0, 30.0]), name="tails"),
)
log_ndtr = also(pointwise("log_ndtr", sc.log_ndtr, lambda _, x: ndtr_hazard(x)), _TAILS)
ndtr_hazard: Pointwise = also(pointwise("ndtr_hazard", _hazard, lambda y, x: -(y * normal_tail_ratio(x, k=1))), _TAILS)
# the quantile of a probability given by its logarithm
ndtri_exp = also(
    pointwise("ndtri_exp", sc.ndtri_exp, lambda y, _: divide(1.0, ndtr_hazard(y)), domain=(-3.0, -0.2)),
    sample(np.array([-400.0, -30.0, -0.1]), name="tails"),
)


def _owen_by_h(_: Any, h: Any, a: Any) -> Any:
    """-1/2 times the density at h times erf(a h / sqrt(2))."""
    return (-0.25 * _ROOT_TWO_OVER_PI) * exp(-0.5 * (h * h)) * erf(math.sqrt(0.5) * (a * h))


owens_t = also(
    pointwise(
        "owens_t", sc.owens_t, _owen_by_h,
        lambda _, h, a: divide(exp(-0.5 * (h * h) * (1.0 + a * a)), (2.0 * math.pi) * (1.0 + a * a)),
    ),
    sample(np.array([-3.0, 0.0, 6.0]), np.array([0.5, 2.0, -1.5]), name="tails"),
)  # fmt: skip

_FAR = 6.25  # from there on the asymptotic series of w holds to the last digit, and its recurrence loses too many


def hermite(n: int, z: np.ndarray) -> np.ndarray:
    """The n-th derivative of exp(-z**2) over exp(-z**2)."""
    below, here = np.zeros_like(z), np.ones_like(z)
    for k in range(n):
        below, here = here, -2.0 * z * here - 2.0 * k * below
    return here


def _upward(n: int, z: np.ndarray, value: np.ndarray, constant: complex) -> np.ndarray:
    """The n-th derivative of a solution of f' = -2 z f + constant."""
    below, here = value, -2.0 * z * value + constant
    for k in range(1, n):
        below, here = here, -2.0 * z * here - 2.0 * k * below
    return here if n else value


def _far_faddeeva(n: int, z: np.ndarray) -> np.ndarray:
    """The n-th derivative of w by its asymptotic series, in the upper half plane."""
    term = 1j / math.sqrt(math.pi) * (-1.0) ** n * math.factorial(n) / z ** (n + 1)
    total = np.zeros_like(z)
    for m in range(45):
        total = total + term
        k = 2 * m + 1
        term = term * (m + 0.5) * (k + n) * (k + n + 1) / (k * (k + 1)) / (z * z)
        term = np.where(abs(term) < abs(total), term, 0.0)
    return total


def _fraction_faddeeva(n: int, z: np.ndarray) -> np.ndarray:
    """The n-th derivative of w in the upper half plane away from the real line, where upward recurrence loses digits.

    The derivatives are its minimal solution, so that their ratios are continued fractions (Gautschi).
    """
    ratio = np.zeros_like(z)  # of the derivative of order k + 1 to that of order k
    ratios = []
    for k in range(n + 400, 0, -1):
        ratio = -2.0 * k / (2.0 * z + ratio)
        if k <= n:
            ratios.append(ratio)
    total = sc.wofz(z)
    for r in reversed(ratios):
        total = total * r
    return total


def faddeeva_slope(n: int, z: np.ndarray) -> np.ndarray:
    """The n-th derivative of w(z) = exp(-z**2) erfc(-i z)."""
    below = z.imag < 0.0
    u = np.where(below, -z, z)
    far, off = abs(u) >= _FAR, u.imag >= 1.0
    out = _upward(n, u, sc.wofz(u), 2j / math.sqrt(math.pi))
    if far.any():
        out = np.where(far, _far_faddeeva(n, np.where(far, u, _FAR)), out)
    if (off & ~far).any():
        out = np.where(off & ~far, _fraction_faddeeva(n, np.where(off & ~far, u, 1j)), out)
    reflected = 2.0 * hermite(n, z) * np.exp(-z * z) - (-1.0) ** n * out
    return np.where(below, reflected, out)


def dawson_slope(n: int, z: np.ndarray) -> np.ndarray:
    """The n-th derivative of Dawson's function."""
    far = abs(z) >= _FAR
    out = _upward(n, z, sc.dawsn(z), 1.0)
    if far.any():
        below = z.imag < 0.0
        u = np.where(far, np.where(below, -z, z), _FAR).astype(complex)
        w = 0.5j * math.sqrt(math.pi) * (hermite(n, u) * np.exp(-u * u) - _far_faddeeva(n, u))
        w = np.where(below, (-1.0) ** (n + 1) * w, w)
        out = np.where(far, w if z.dtype.kind == "c" else w.real, out)
    return out


class Faddeeva(Partials):
    """w(z) = exp(-z**2) erfc(-i z), complex always, and its derivatives. Source: scipy.special.wofz."""

    ufunc = numpy_function = sc.wofz

    def evaluate(self, z, *, orders):
        return faddeeva_slope(orders[0], z.astype(complex))

    def samples(self, rng):
        for n in (0, 1, 2):
            yield sample(np.array([0.3 + 0.2j, -3.0 + 2.0j, 8.0 + 0.1j, 0.5 - 0.7j]), orders=(n,), name="complex")
            yield sample(rng.normal(size=3), orders=(n,), name="real")
        yield from draws(rng, [(-2.0, 2.0)], {"orders": (1,)})
        yield sample((rng.normal(size=2) + 1j).astype(np.complex64), orders=(1,), name="complex64")


class Dawson(Partials):
    """Dawson's function, exp(-x**2) times the integral of exp(t**2) up to x, and its derivatives.

    Source: scipy.special.dawsn.
    """

    ufunc = numpy_function = sc.dawsn

    def evaluate(self, z, *, orders):
        return dawson_slope(orders[0], z)

    def samples(self, rng):
        for n in (0, 1, 2):
            yield sample(np.array([-12.0, -1.5, 0.0, 0.4, 6.5, 8.0]), orders=(n,), name="near and far")
            yield sample(np.array([0.3 + 0.2j, 8.0 + 0.1j, -9.0 - 0.5j]), orders=(n,), name="complex")
        yield from draws(rng, [(-2.0, 2.0)], {"orders": (1,)})


wofz = Faddeeva("wofz")
dawsn = Dawson("dawsn")


class Voigt(Partials):
    """The Voigt profile: a normal density of deviation sigma folded with a Cauchy density of half width gamma.

    With W = w(z) / (sigma sqrt(2 pi)) and z = (x + i gamma) / (sigma sqrt(2)), this is the real part of W, for orders
    (n, m) that of i**m times the n-th derivative of W in x: a step in gamma turns it, and the profile spreads in
    sigma**2 / 2 as heat does. So no formula cancels. Source: scipy.special.voigt_profile.
    """

    ufunc = numpy_function = sc.voigt_profile
    nin = 3

    def evaluate(self, x, sigma, gamma, *, orders):
        n, turns, _ = orders
        root = math.sqrt(2.0) * sigma
        z = (x + 1j * gamma) / root
        lorentzian = ~(abs(z) < 1e9)
        w = faddeeva_slope(n, np.where(lorentzian, 1j, z)) / root ** (n + 1) / math.sqrt(math.pi)
        limit = 1j / math.pi * (-1.0) ** n * math.factorial(n) / (x + 1j * gamma) ** (n + 1)
        return (np.where(lorentzian, limit, w) * 1j**turns).real

    def slope(self, k, out, args, orders):
        n, turns, _ = orders
        if k == 0:
            return self(*args, orders=(n + 1, turns, 0))
        if k == 1:
            return args[1] * self(*args, orders=(n + 2, turns, 0))
        return self(*args, orders=(n + 1, (turns + 1) % 4, 0))

    def samples(self, rng):
        domains = [(-2.0, 2.0), (0.5, 2.0), (0.3, 2.0)]
        yield from draws(rng, domains, *[{"orders": (n, m, 0)} for n, m in [(0, 0), (1, 1), (2, 2), (3, 3), (1, 0)]])
        yield sample(np.array([30.0, 0.0]), np.array([0.5, 1.0]), np.array([0.1, 1e-3]), orders=(0, 0, 0), name="tail")


voigt_profile = Voigt("voigt_profile")
