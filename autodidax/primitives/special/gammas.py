"""The gamma function and its kin: digamma, polygamma, beta, and ratios of gamma functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.comparison import less, logical_and
from autodidax.primitives.elementwise import also, cos, sin
from autodidax.primitives.select import where
from autodidax.primitives.special import jets
from autodidax.primitives.special.orders import not_in, order_samples
from autodidax.primitives.special.partials import Partials, draws
from autodidax.primitives.special.zetas import BERNOULLI, sine_jet

_SHIFT = 20  # from there on the asymptotic series of polygamma holds


def _cotangent_slope(n: int, z: np.ndarray) -> np.ndarray:
    """The n-th derivative of pi cot(pi z), a polynomial in the cotangent, whose own derivative is -pi (1 + cot**2)."""
    cot = 1.0 / np.tan(math.pi * (z - np.round(z.real)))
    polynomial = np.polynomial.Polynomial([0.0, 1.0])
    for _ in range(n):
        polynomial = -polynomial.deriv() * np.polynomial.Polynomial([1.0, 0.0, 1.0])
    return math.pi ** (n + 1) * polynomial(cot)


def _complex_polygamma(n: int, z: np.ndarray) -> np.ndarray:
    """The n-th derivative of digamma, n >= 1, of complex numbers.

    Source: https://dlmf.nist.gov/5.15: the recurrence, the reflection and the asymptotic series.
    """
    left = z.real < 0.5
    w = np.where(left, 1.0 - z, z)
    v = w + _SHIFT
    out = math.factorial(n - 1) / v**n + math.factorial(n) / (2.0 * v ** (n + 1))
    for m, b in enumerate(BERNOULLI, 1):
        out = out + b * math.factorial(2 * m + n - 1) / math.factorial(2 * m) / v ** (2 * m + n)
    for k in range(_SHIFT):
        out = out + math.factorial(n) / (w + k) ** (n + 1)
    out = (-1.0) ** (n + 1) * out
    mirror = (-1.0) ** n * out - _cotangent_slope(n, np.where(left, z, 0.25))
    return np.where(left, mirror, out)


def polygamma_values(n: int, x: Any) -> Any:
    """The n-th derivative of digamma; float32 stays float32."""
    if n == 0:
        return sc.digamma(x)
    if np.asarray(x).dtype.kind == "c":
        x = np.asarray(x)
        return _complex_polygamma(n, x.astype(np.complex128)).astype(x.dtype)[()]
    return (-1.0) ** (n + 1) * float(math.factorial(n)) * sc.zeta(n + 1.0, x)


def _polygamma(n: Any, x: Any) -> Any:
    """(-1)**(n+1) n! zeta(n+1, x), digamma for n = 0; a Python n keeps the dtype of x."""
    if type(n) is int:
        return polygamma_values(n, x)
    if np.asarray(x).dtype.kind == "c" and np.asarray(n).dtype.kind != "c":
        n, x = np.broadcast_arrays(n, x)
        out = np.empty(x.shape, np.result_type(x, sc.gamma(n)))
        for order in np.unique(n):
            out[n == order] = polygamma_values(int(order), x[n == order])
        return out[()]
    higher = (-1.0) ** (n + 1) * sc.gamma(n + 1.0) * sc.zeta(n + 1.0, x)
    return np.where(np.equal(n, 0), sc.digamma(x), higher)[()]


def _orders_and_complex(rng):
    yield from order_samples(0.5, 4.0)(rng)
    yield sample(1, np.array([2.5 + 1j, -1.3 - 0.2j, 0.1 + 30j]), name="complex")
    yield sample(np.array([0, 1, 2]), np.array([0.5 + 1j, -1.5 + 1j, 2.0 - 1j]), name="complex, array of orders")
    yield sample(2, np.array([-0.4, -2.7]), name="negative")


gammaln = also(
    pointwise("gammaln", sc.gammaln, lambda _, x: digamma(x), domain=(0.3, 4.0), complex_ok=False),
    sample(np.array([-0.4, -2.7]), name="negative"),
)
loggamma = also(
    pointwise("loggamma", sc.loggamma, lambda _, x: digamma(x), domain=(0.3, 4.0)),
    sample(np.array([-1.5 + 1j, 0.2 - 20j]), name="complex, left"),
)
gamma = also(
    pointwise("gamma", sc.gamma, lambda y, x: y * digamma(x), domain=(0.3, 4.0)),
    sample(np.array([-0.4, -2.7]), name="negative"),
)
digamma: Pointwise = also(
    pointwise("digamma", sc.digamma, lambda _, x: polygamma(1, x), domain=(0.3, 4.0)),
    sample(np.array([-0.4, -2.7]), name="negative"),
    sample(np.array([-1.5 + 1j, -30.2 - 0.1j]), name="complex, left"),
)
polygamma: Pointwise = pointwise(
    "polygamma", sc.polygamma, impl=_polygamma, nin=2, samples=_orders_and_complex, module=__name__,
    products=(not_in("polygamma", "order"), lambda t, _z, n, x: t * polygamma(n + 1, x)),
)  # fmt: skip
gammasgn = pointwise("gammasgn", sc.gammasgn, zero_derivative=True, module=__name__)


def _log_gamma_jet(z: np.ndarray, order: int, slope: float = 1.0) -> np.ndarray:
    """The Taylor coefficients of log gamma(z + slope e) in e, right of 0."""
    first = sc.loggamma(z) if z.dtype.kind == "c" else sc.gammaln(z)
    rest = [polygamma_values(k - 1, z) * slope**k / math.factorial(k) for k in range(1, order + 1)]
    return np.stack([first, *rest])


class ReciprocalGamma(Partials):
    """1 / gamma(z), an entire function, right at the poles of gamma in every order. Source: scipy.special.rgamma."""

    ufunc = numpy_function = sc.rgamma

    def evaluate(self, z, *, orders):
        (n,) = orders
        left = z.real < 0.5
        right = jets.exponential(-_log_gamma_jet(np.where(left, 1.0, z), n), 1)
        w = np.where(left, z, 0.0)
        mirror = jets.exponential(_log_gamma_jet(1.0 - w, n, -1.0), 1)
        turned = jets.product(sine_jet(w, n, 1.0) / math.pi, mirror, 1)
        return jets.derivative(np.where(left, turned, right), orders)

    def samples(self, rng):
        for n in (0, 1, 2):
            yield sample(np.array([0.0, -1.0, -3.0, -2.6, 0.7, 5.5]), orders=(n,), name="poles")
            yield sample(np.array([-2.0 + 0j, -2.5 + 1j, 3.0 - 2j]), orders=(n,), name="complex")
        yield from draws(rng, [(0.3, 4.0)], {"orders": (1,)})


rgamma = ReciprocalGamma("rgamma")


def _difference(n: int, z: np.ndarray, m: np.ndarray) -> np.ndarray:
    """The n-th derivative of digamma at z + m, less that at z; both positive. It does not cancel where m is small.

    Source: https://dlmf.nist.gov/5.15: the recurrence and the asymptotic series, difference by difference.
    """

    def powers(base: np.ndarray, p: int) -> np.ndarray:
        """(base + m)**-p - base**-p"""
        return base**-p * np.expm1(-p * np.log1p(m / base))

    base = z + _SHIFT
    if n:
        out = math.factorial(n - 1) * powers(base, n) + math.factorial(n) / 2.0 * powers(base, n + 1)
    else:
        out = -np.log1p(m / base) + powers(base, 1) / 2.0
    for k, b in enumerate(BERNOULLI, 1):
        out = out + b * math.factorial(2 * k + n - 1) / math.factorial(2 * k) * powers(base, 2 * k + n)
    for k in range(_SHIFT):
        out = out + math.factorial(n) * powers(z + k, n + 1)
    return (-1.0) ** (n + 1) * out


def polygamma_difference_values(n: int, z: np.ndarray, m: np.ndarray) -> np.ndarray:
    """As `_difference`, plainly subtracted where an argument is not positive."""
    fine = (z > 0.0) & (z + m > 0.0)
    out = _difference(n, np.where(fine, z, 1.0), np.where(fine, m, 0.0))
    if not fine.all():
        out = np.where(fine, out, polygamma_values(n, z + m) - polygamma_values(n, z))
    return out


class DigammaDifference(Partials):
    """digamma(z + m) - digamma(z), and its derivatives in z: it does not cancel where m is small beside z."""

    like = sc.poch
    nin = 2

    def evaluate(self, z, m, *, orders):
        return polygamma_difference_values(orders[0], z, m)

    def slope(self, k, out, args, orders):
        z, m = args
        return self(z, m, orders=(orders[0] + 1, 0)) if k == 0 else polygamma(orders[0] + 1, z + m)

    def samples(self, rng):
        yield from draws(rng, [(0.5, 4.0), (-0.3, 2.0)], *[{"orders": (n, 0)} for n in (0, 1, 2)])
        yield sample(np.array([1e3, 0.4, -2.5]), np.array([0.1, 30.0, 0.2]), orders=(0, 0), name="all over")


digamma_difference = DigammaDifference("digamma_difference")


def _beta_slope(z: Any, a: Any, b: Any) -> Any:
    """The derivative of beta(a, b) in a: beta(a, b) (digamma(a) - digamma(a + b)).

    At a + b = 0, -1, ... and close by the second product is 0 times infinity, or loses its digits. There digamma and
    1 / gamma are reflected: digamma(s) / gamma(s) = gamma(1 - s) (digamma(1 - s) sin(pi s) / pi - cos(pi s)).

    Source: https://dlmf.nist.gov/5.5.
    """
    s = a + b
    low = logical_and(less(s, 0.01), less(-100.0, s))
    u, v, w = where(low, a, 1.0), where(low, b, 1.0), where(low, 1.0 - s, 1.0)
    turned = cos(math.pi * w) + digamma(w) * sin(math.pi * w) / math.pi  # by half a turn beside s
    reflected = z * digamma(u) - gamma(u) * gamma(v) * gamma(w) * turned
    return where(low, reflected, -(z * digamma_difference(where(low, 1.0, a), where(low, 1.0, b))))


beta = also(
    pointwise(
        "beta", sc.beta, _beta_slope, lambda z, a, b: _beta_slope(z, b, a), domain=(0.3, 4.0), complex_ok=False
    ),
    sample(np.array([0.3, 1.7, 0.6]), np.array([-0.3, -2.7, 0.4]), name="sum of 0, -1, 1"),
)  # fmt: skip
betaln = also(
    pointwise(
        "betaln", sc.betaln,
        lambda _, a, b: -digamma_difference(a, b),
        lambda _, a, b: -digamma_difference(b, a),
        domain=(0.3, 4.0), complex_ok=False,
    ),
    sample(np.array([1e4, 1e6]), np.array([0.7, 0.4]), name="large and small"),
)  # fmt: skip


class _Ratio(Partials):
    """A ratio of gamma functions of sums of its two operands, as the product of three parts: the value, or what stands
    for it, a jet of exponentials of log gamma functions, and a jet of sines from the reflection of those left of 0."""

    nin = 2

    def of_logs(self, coefficient: Any, orders: tuple[int, ...]) -> np.ndarray:
        """The jet of exp(log f - log f(here)) from the partial derivatives coefficient(i, j) of log f."""
        jet = np.stack([np.stack([coefficient(i, j) for j in range(orders[1] + 1)]) for i in range(orders[0] + 1)])
        for i, j in np.ndindex(*jet.shape[:2]):
            jet[i, j] /= math.factorial(i) * math.factorial(j)
        return jets.exponential(jet, 2)


def _reflected_sine(z: np.ndarray, left: np.ndarray, weights: tuple[int, int], orders: tuple[int, ...]) -> np.ndarray:
    """The jet of sin(pi z), z varying with the operands by these weights, and 1 where not left."""
    size = max(orders)
    total = sum(orders)
    series = sine_jet(np.where(left, z, 0.5), total, 1.0) / math.pi
    jet = jets.along(list(series), weights)[: orders[0] + 1, : orders[1] + 1] if size else series[None, :1]
    return np.where(left, jet, jets.constant(np.ones(z.shape), orders))


class Pochhammer(_Ratio):
    """The rising factorial gamma(z + m) / gamma(z). Source: scipy.special.poch.

    Right at z = 0, -1, ... for whole m, where the function is a polynomial in z; as a function of m it has no limit
    there, and the derivative is nan.
    """

    ufunc = numpy_function = sc.poch

    def evaluate(self, z, m, *, orders):
        top = z + m
        left, top_left = z <= 0.0, top <= 0.0
        both = left & top_left
        value = sc.poch(z, m)

        def log_slope(i: int, j: int) -> np.ndarray:
            n = i + j
            if n == 0:
                zero = np.zeros(z.shape)
                start = np.where(top_left, -sc.gammaln(1.0 - top), sc.gammaln(top))
                start = start + np.where(left, sc.gammaln(1.0 - z), -sc.gammaln(z))
                return np.where(left | top_left, start, zero)
            sign = (-1.0) ** n
            upper = np.where(
                top_left,
                -sign * polygamma_values(n - 1, np.where(top_left, 1.0 - top, 1.0)),
                polygamma_values(n - 1, np.where(top_left, 1.0, top)),
            )
            if j:
                return upper
            lower = np.where(
                left,
                sign * polygamma_values(n - 1, np.where(left, 1.0 - z, 1.0)),
                -polygamma_values(n - 1, np.where(left, 1.0, z)),
            )
            right = ~(left | top_left)
            pair = polygamma_difference_values(n - 1, np.where(right, z, 1.0), np.where(right, m, 0.0))
            mirrored = polygamma_difference_values(n - 1, np.where(both, 1.0 - top, 1.0), np.where(both, m, 0.0))
            return np.where(right, pair, np.where(both, sign * mirrored, upper + lower))

        jet = self.of_logs(log_slope, orders) * np.where(left | top_left, 1.0, value)
        whole = both & (m == np.round(m))
        if orders[1] == 0:
            sign = 1.0 - 2.0 * (np.abs(m) % 2)
            jet = jet * np.where(whole, sign, 1.0)
        else:
            whole = np.zeros_like(whole)
        over = _reflected_sine(top, top_left & ~whole, (1, 1), orders)
        under = _reflected_sine(z, left & ~whole, (1, 0), orders)
        jet = jets.product(jets.product(jet, under, 2), jets.reciprocal(over, 2), 2)
        out = jets.derivative(jet, orders)
        return np.where(self._polynomial(z, m, orders), _rising_slope(z, m, orders[0]), out)

    def _polynomial(self, z: np.ndarray, m: np.ndarray, orders: tuple[int, ...]) -> np.ndarray:
        return (m == np.round(m)) & (m >= 0) & (m <= 64) & (z <= 0.0) & (z + m >= 0.0) & (orders[1] == 0)

    def samples(self, rng):
        for orders in [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2)]:
            yield sample(rng.uniform(0.5, 4.0, 3), rng.uniform(-0.3, 2.0, 3), orders=orders)
            yield sample(
                np.array([-0.7, -3.2, -2.4, 0.3]), np.array([0.3, 5.1, -1.5, -0.6]), orders=orders, name="left"
            )
        yield sample(
            np.array([-3.0, -4.0, -1.0, 0.0, -2.6]),
            np.array([2.0, 3.0, 3.0, 2.0, 2.0]),
            orders=(1, 0),
            nonsmooth=True,
            name="poles",
        )
        yield from draws(rng, [(0.5, 1.5), (0.2, 1.0)], {"orders": (1, 0)})


def _rising_slope(z: np.ndarray, m: np.ndarray, order: int) -> np.ndarray:
    """The derivative in z of z (z + 1) ... (z + m - 1), for whole m from 0 to 64."""
    count = np.where((m >= 0) & (m <= 64), m, 0)
    jet = jets.constant(np.ones(z.shape), (order,))
    for k in range(int(np.max(count, initial=0))):
        jet = np.where(k < count, jets.times_linear(jet, z + k, 0), jet)
    return jets.derivative(jet, (order,))


poch = Pochhammer("poch")


class Binomial(_Ratio):
    """The binomial coefficient gamma(n + 1) / (gamma(k + 1) gamma(n - k + 1)). Source: scipy.special.binom."""

    ufunc = numpy_function = sc.binom

    def evaluate(self, n, k, *, orders):
        tops = n + 1.0, k + 1.0, n - k + 1.0
        lefts = [t < 0.5 for t in tops]
        plain = ~(lefts[0] | lefts[1] | lefts[2])

        def log_slope(i: int, j: int) -> np.ndarray:
            order = i + j
            out = np.zeros(n.shape)
            for top, left, weight, factor in zip(
                tops, lefts, ((1, 0), (0, 1), (1, -1)), (1.0, -1.0, -1.0), strict=True
            ):
                if (i and not weight[0]) or (j and not weight[1]):
                    continue
                w = np.where(left, 1.0 - top, top)
                part = sc.gammaln(w) if order == 0 else polygamma_values(order - 1, w)
                out = out + factor * np.where(left, -((-1.0) ** order) * part, part) * float(weight[1]) ** j
            if order == 0:
                return np.where(plain, 0.0, out)
            if i == 0 or j == 0:  # the pairs that nearly cancel
                u, d = (tops[2], k) if j == 0 else (tops[1], n - 2.0 * k)
                if j == 0 or order % 2:
                    pair = polygamma_difference_values(order - 1, np.where(plain, u, 1.0), np.where(plain, d, 0.0))
                    out = np.where(plain, pair, out)
            return out

        jet = self.of_logs(log_slope, orders) * np.where(plain, sc.binom(n, k), 1.0)
        over = _reflected_sine(tops[0], lefts[0], (1, 0), orders)
        for top, left, weights in zip(tops[1:], lefts[1:], ((0, 1), (1, -1)), strict=True):
            jet = jets.product(jet, _reflected_sine(top, left, weights, orders), 2)
        return jets.derivative(jets.product(jet, jets.reciprocal(over, 2), 2), orders)

    def samples(self, rng):
        for orders in [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2)]:
            yield sample(rng.uniform(2.5, 6.0, 3), rng.uniform(0.2, 2.0, 3), orders=orders)
            yield sample(
                np.array([2.0, 3.5, -1.5, 4.0]), np.array([5.0, -1.4, 0.7, 2.0]), orders=orders, name="outside"
            )
        yield from draws(rng, [(2.5, 6.0), (0.2, 2.0)], {"orders": (1, 0)})


binom = Binomial("binom")
