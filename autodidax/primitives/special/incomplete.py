"""The incomplete gamma and beta functions and their inverses, with the derivatives in all operands.

A derivative in a parameter multiplies the integrand by a logarithm. What is integrated is always the smaller tail, so
that the derivative keeps its digits where the function is close to 0 or 1; the logarithms are taken relative to the
mode, and the normalization, a jet in the parameters, relative to the value there, so that nothing cancels where the
parameters are large. The tail is mapped to the logarithm of the variable (for beta: of x / (1 - x)), cut off
where the integrand has fallen by exp(-45), and integrated by Gauss-Legendre panels.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.primitive import pointwise, sample
from autodidax.primitives.comparison import equal
from autodidax.primitives.elementwise import divide
from autodidax.primitives.select import where
from autodidax.primitives.special import jets
from autodidax.primitives.special.gammas import polygamma_difference_values, polygamma_values
from autodidax.primitives.special.partials import Partials, draws
from autodidax.primitives.special.zetas import BERNOULLI

_FALL = 45.0  # the logarithm of what the integrand falls by until it is cut off


@functools.cache
def gauss_legendre(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on [-1, 1]."""
    return np.polynomial.legendre.leggauss(count)


def panels(breaks: list[np.ndarray], end: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of Gauss-Legendre rules on [0, end] broken at these points, shape (points, all nodes)."""
    inner = np.sort(np.clip(np.stack(breaks, axis=-1), 0.0, end[:, None]), axis=-1)
    edges = np.concatenate([np.zeros((end.size, 1)), inner, end[:, None]], axis=-1)
    nodes, weights = gauss_legendre(count)
    half = 0.5 * np.diff(edges, axis=-1)[:, :, None]
    s = edges[:, :-1, None] + half * (1.0 + nodes)
    return s.reshape(end.size, -1), (half * weights).reshape(end.size, -1)


def _log_excess(u: np.ndarray, ratio: np.ndarray) -> np.ndarray:
    """u - log(ratio) for ratio = 1 + u, without cancellation where it is near 1."""
    near = abs(u) < 0.4
    r = np.where(near, u, 0.0) / (2.0 + np.where(near, u, 0.0))
    series = sum(r ** (2 * k + 1) / (2 * k + 1) for k in range(1, 14))
    return np.where(near, 2.0 * (r * r / (1.0 - r) - series), u - np.log(np.where(near, 1.0, ratio)))


def _stirling(a: np.ndarray) -> np.ndarray:
    """log gamma(a) less (a - 1/2) log a - a + log(2 pi)/2, for a >= 10."""
    out = np.zeros_like(a)
    for k, b in enumerate(BERNOULLI[:8], 1):
        out = out + b / (2 * k * (2 * k - 1)) / a ** (2 * k - 1)
    return out


def gamma_weight(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """x**a exp(-x) / gamma(a + 1), to all digits where a is large."""
    large = a >= 10.0
    b = np.where(large, a, 10.0)
    far = np.exp(-b * _log_excess((x - b) / b, x / b) - _stirling(b)) / np.sqrt(2.0 * math.pi * b)
    return np.where(large, far, x**a * np.exp(-x) * sc.rgamma(np.where(large, 1.0, a) + 1.0))


def _scaled_gamma_jet(a: np.ndarray, base: np.ndarray, order: int) -> np.ndarray:
    """The jet in e of base**e gamma(a) / gamma(a + e)."""
    logs = [np.zeros(a.shape)]
    for k in range(1, order + 1):
        logs.append(((np.log(base) if k == 1 else 0.0) - polygamma_values(k - 1, a)) / math.factorial(k))
    return jets.exponential(np.stack(logs), 1)


def _moment_jet(u: np.ndarray, integrand: np.ndarray, order: int) -> np.ndarray:
    return np.stack([np.sum(u**k * integrand, axis=-1) / math.factorial(k) for k in range(order + 1)])


def _lower_gamma(a: np.ndarray, x: np.ndarray, order: int) -> np.ndarray:
    """The jet of gammainc in a, for a >= 1 and 0 < x <= a."""
    end = (_FALL + x) / a
    for _ in range(40):  # the exponent is convex, and so approached from the right
        rise = a * end + x * np.expm1(-end)
        if np.all(rise < _FALL + 5.0):
            break
        end = end - (rise - _FALL) / (a - x * np.exp(-end))
    s, weights = panels([end / 24, end / 8, end / 3], end, 20)
    integrand = weights * np.exp(-(a[:, None] * s + x[:, None] * np.expm1(-s)))
    u = np.log(x / a)[:, None] - s
    jet = jets.product(_scaled_gamma_jet(a, a, order), _moment_jet(u, integrand, order), 1)
    return jet * (a * gamma_weight(a, x))


def _upper_gamma(a: np.ndarray, x: np.ndarray, order: int) -> np.ndarray:
    """The jet of gammaincc in a, for 0 <= a <= x."""
    c = _FALL / x
    end = np.log1p(c + np.sqrt(c * c + 2.0 * c))
    edge = np.minimum(end, 3.0)
    s, weights = panels([end - 40.0, end - 16.0, end - 7.0, end - edge, end - 0.66 * edge], end, 20)
    integrand = weights * np.exp(a[:, None] * s - x[:, None] * np.expm1(s))
    base = np.maximum(a, 1.0)
    jet = _moment_jet(np.log(x / base)[:, None] + s, integrand, order)
    # 1 / gamma(a) = a / gamma(a + 1), which has no pole
    scale = jets.product(jets.linear(a, (order,), 0), _scaled_gamma_jet(a + 1.0, base, order), 1)
    return jets.product(scale, jet, 1) * gamma_weight(a, x)


def _density_jet(a: np.ndarray, x: np.ndarray, order: int) -> np.ndarray:
    """The jet in a of x**a exp(-x) / gamma(a + 1)."""
    return _scaled_gamma_jet(a + 1.0, x, order) * gamma_weight(a, x)


def gamma_parameter_slope(n: int, a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The n-th derivative of gammainc(a, x) in a, n >= 1."""
    inside = (a >= 0.0) & (x > 0.0) & (x < np.inf) & (a < np.inf)
    lower = inside & (x <= a)
    upper = inside & ~lower
    out = np.where((a >= 0.0) & (x >= 0.0), 0.0, np.nan)
    if lower.any():
        p, y = a[lower], x[lower]
        small = p < 1.0
        jet = _lower_gamma(np.where(small, p + 1.0, p), y, n)
        if small.any():  # gammainc(a, x) = gammainc(a + 1, x) + x**a exp(-x) / gamma(a + 1)
            jet = jet + np.where(small, _density_jet(np.where(small, p, 1.0), y, n), 0.0)
        out[lower] = jets.derivative(jet, (n,))
    if upper.any():
        out[upper] = -jets.derivative(_upper_gamma(a[upper], x[upper], n), (n,))
    return out


class GammaDensity(Partials):
    """x**(a - 1) exp(-x) / gamma(a), and its derivatives in a."""

    like = sc.gammainc
    nin = 2

    def evaluate(self, a, x, *, orders):
        n = orders[0]
        small = a < 1.0
        jet = _density_jet(np.where(small, a, a - 1.0), x, n)
        if small.any():
            lowered = jets.product(jets.linear(a, (n,), 0), jet, 1) / x
            jet = np.where(small, lowered, jet)
        out = jets.derivative(jet, orders[:1])
        if n == 0:
            out = np.where(x == 0.0, np.where(a > 1.0, 0.0, np.where(a == 1.0, 1.0, np.inf)), out)
        return np.where(x < 0.0, np.nan, out)

    def slope(self, k, out, args, orders):
        a, x = args
        n = orders[0]
        if k == 0:
            return self(a, x, orders=(n + 1, 0))
        slope = (divide(a - 1.0, x) - 1.0) * out
        return slope + divide(n * self(a, x, orders=(n - 1, 0)), x) if n else slope

    def samples(self, rng):
        for n in (0, 1, 2):
            yield sample(
                np.array([0.3, 1.0, 2.5, 40.0]), np.array([0.2, 1.5, 3.0, 45.0]), orders=(n, 0), name="all over"
            )
        yield from draws(rng, [(0.5, 4.0), (0.3, 3.0)], {"orders": (0, 0)})


gamma_density = GammaDensity("gamma_density")


class IncompleteGamma(Partials):
    """The regularized lower incomplete gamma function, and its derivatives in a. Source: scipy.special.gammainc."""

    ufunc = numpy_function = sc.gammainc
    nin = 2
    sign = 1.0

    def evaluate(self, a, x, *, orders):
        return self.sign * gamma_parameter_slope(orders[0], a, x)

    def slope(self, k, out, args, orders):
        n = orders[0]
        return self(*args, orders=(n + 1, 0)) if k == 0 else self.sign * gamma_density(*args, orders=(n, 0))

    def samples(self, rng):
        for n in (0, 1, 2):
            a = np.array([0.2, 0.7, 2.0, 5.0, 5.0, 300.0])
            yield sample(a, np.array([0.1, 2.0, 0.3, 5.1, 14.0, 290.0]), orders=(n, 0), name="all over")
        yield from draws(rng, [(0.5, 4.0), (0.3, 3.0)], {"orders": (1, 0)}, {"orders": (0, 0)})


class ComplementedIncompleteGamma(IncompleteGamma):
    """The regularized upper incomplete gamma function, and its derivatives in a. Source: scipy.special.gammaincc."""

    ufunc = numpy_function = sc.gammaincc
    sign = -1.0


gammainc = IncompleteGamma("gammainc")
gammaincc = ComplementedIncompleteGamma("gammaincc")


def _quantile_by_shape(x: Any, a: Any, _y: Any) -> Any:
    """The derivative in a of x, of which gammainc(a, x) is held."""
    at_0 = equal(x, 0)
    inner = where(at_0, 1.0, x)
    return where(at_0, 0.0, -divide(gammainc(a, inner, orders=(1, 0)), gamma_density(a, inner)))


gammaincinv = pointwise(
    "gammaincinv", sc.gammaincinv, _quantile_by_shape, lambda x, a, _: divide(1.0, gamma_density(a, x)),
    domain=[(0.5, 4.0), (0.1, 0.9)], complex_ok=False, module=__name__,
)  # fmt: skip
gammainccinv = pointwise(
    "gammainccinv", sc.gammainccinv, _quantile_by_shape, lambda x, a, _: divide(-1.0, gamma_density(a, x)),
    domain=[(0.5, 4.0), (0.1, 0.9)], complex_ok=False, module=__name__,
)  # fmt: skip


# the incomplete beta function


def beta_weight(a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x**a y**b gamma(a + b + 1) / (gamma(a + 1) gamma(b + 1)), to all digits where a, b are large; y = 1 - x."""
    large = (a >= 10.0) & (b >= 10.0)
    p, q = np.where(large, a, 10.0), np.where(large, b, 10.0)
    off = x * q - y * p
    fall = p * _log_excess(off / p, x * (p + q) / p) + q * _log_excess(-off / q, y * (p + q) / q)
    fall = fall - _stirling(p + q) + _stirling(p) + _stirling(q)
    far = np.exp(-fall) * np.sqrt((p + q) / (2.0 * math.pi * p * q))
    low, high = np.minimum(a, b), np.maximum(a, b)
    # gamma(high + low + 1) / gamma(high + 1), by the rising factorial
    log_x = np.where(x < 0.5, np.log(x), np.log1p(-y))
    log_y = np.where(y < 0.5, np.log(y), np.log1p(-x))
    near = np.exp(a * log_x + b * log_y) * sc.poch(high + 1.0, low) * sc.rgamma(low + 1.0)
    return np.where(large, far, near)


def _beta_scale_jet(
    a: np.ndarray, b: np.ndarray, log_x: np.ndarray, log_y: np.ndarray, orders: tuple[int, ...]
) -> np.ndarray:
    """The jet of exp(e log_x + f log_y) gamma(a + b + 1) / (gamma(a + 1) gamma(b + 1)), over its value."""
    logs = np.zeros((orders[0] + 1, orders[1] + 1, a.size))
    for i, j in np.ndindex(*logs.shape[:2]):
        n = i + j
        if n == 0:
            continue
        if j == 0:
            value = polygamma_difference_values(n - 1, a + 1.0, b)
        elif i == 0:
            value = polygamma_difference_values(n - 1, b + 1.0, a)
        else:
            value = polygamma_values(n - 1, a + b + 1.0)
        if n == 1:
            value = value + (log_x if i else log_y)
        logs[i, j] = value / (math.factorial(i) * math.factorial(j))
    return jets.exponential(logs, 2)


def _share_jet(a: np.ndarray, b: np.ndarray, orders: tuple[int, ...]) -> np.ndarray:
    """The jet of b / (a + b)."""
    total = jets.times_affine(jets.constant(np.ones(a.shape), orders), a + b, (1.0, 1.0))
    return jets.times_linear(jets.reciprocal(total, 2), b, 1)


def _lower_beta(a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray, orders: tuple[int, ...]) -> np.ndarray:
    """The jet of betainc(a, b, x) in a and b, for a >= 1 and x <= a / (a + b); y = 1 - x."""
    total = a + b
    end = (_FALL - total * np.log(y)) / a
    for _ in range(80):  # the exponent is convex, and so approached from the right
        inner = np.log1p(x * np.expm1(-end))
        rise = a * end + total * inner
        if np.all(rise < _FALL + 5.0):
            break
        end = end - (rise - _FALL) / (a - total * x * np.exp(-end - inner))
    middle = np.log(x / y)
    breaks = [0.33 * end, 0.67 * end]
    breaks += [np.full(end.shape, length) for length in (1.0, 3.0, 8.0, 20.0)]
    breaks += [end - length for length in (1.0, 3.0, 8.0, 20.0)]
    breaks += [middle + length for length in (-12.0, -4.0, -1.3, 1.3, 4.0, 12.0)]
    s, weights = panels(breaks, end, 12)
    inner = np.log1p(x[:, None] * np.expm1(-s))
    integrand = weights * np.exp(-(a[:, None] * s + total[:, None] * inner))
    base = np.maximum(b, 1.0)
    log_mode, log_rest = -np.log1p(base / a), np.log(base / (a + base))
    log_x = np.where(x < 0.5, np.log(x), np.log1p(-y))
    log_y = np.where(y < 0.5, np.log(y), np.log1p(-x))
    u = (log_x - log_mode)[:, None] - s - inner
    v = (log_y - log_rest)[:, None] - inner
    moments = np.stack(
        [
            np.stack(
                [
                    np.sum(u**i * v**j * integrand, axis=-1) / (math.factorial(i) * math.factorial(j))
                    for j in range(orders[1] + 1)
                ]
            )
            for i in range(orders[0] + 1)
        ]
    )
    # 1 / gamma(a) = a / gamma(a + 1), which has no pole, and so on
    scale = jets.times_linear(_beta_scale_jet(a, b, log_mode, log_rest, orders), a, 0)
    scale = jets.product(scale, _share_jet(a, b, orders), 2)
    return jets.product(scale, moments, 2) * beta_weight(a, b, x, y)


def _beta_step_jet(a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray, orders: tuple[int, ...]) -> np.ndarray:
    """The jet of x**a y**b gamma(a + b) / (gamma(a + 1) gamma(b)), which is betainc(a, b, x) - betainc(a + 1, b, x)."""
    jet = jets.product(_beta_scale_jet(a, b, np.log(x), np.log(y), orders), _share_jet(a, b, orders), 2)
    return jet * beta_weight(a, b, x, y)


def _tail_jet(a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray, orders: tuple[int, ...]) -> np.ndarray:
    small = a < 1.0
    jet = _lower_beta(np.where(small, a + 1.0, a), b, x, y, orders)
    if small.any():
        jet = jet + np.where(small, _beta_step_jet(np.where(small, a, 1.0), b, x, y, orders), 0.0)
    return jet


def beta_parameter_slope(
    m: int, n: int, a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray | None = None
) -> np.ndarray:
    """The derivative of betainc(a, b, x) of order m in a and n in b, not both 0; y is 1 - x where that is known."""
    y = 1.0 - x if y is None else y
    valid = (a > 0.0) & (b > 0.0) & (x >= 0.0) & (x <= 1.0)
    inside = valid & (x > 0.0) & (y > 0.0) & np.isfinite(a + b)
    lower = inside & (x * b <= y * a)
    upper = inside & ~lower
    out = np.where(valid, 0.0, np.nan)
    if lower.any():
        out[lower] = jets.derivative(_tail_jet(a[lower], b[lower], x[lower], y[lower], (m, n)), (m, n))
    if upper.any():
        out[upper] = -jets.derivative(_tail_jet(b[upper], a[upper], y[upper], x[upper], (n, m)), (n, m))
    return out


class BetaDensity(Partials):
    """x**(a - 1) (1 - x)**(b - 1) / beta(a, b), and its derivatives in a and b."""

    like = sc.betainc
    nin = 3

    def evaluate(self, a, b, x, *, orders):
        orders, y = orders[:2], 1.0 - x
        scale = jets.times_linear(_beta_scale_jet(a, b, np.log(x), np.log1p(-x), orders), a, 0)
        jet = jets.product(scale, _share_jet(a, b, orders), 2) * (beta_weight(a, b, x, y) / (x * y))
        return np.where((x > 0.0) & (x < 1.0), jets.derivative(jet, orders), self.at_ends(a, b, x, orders))

    def at_ends(self, a, b, x, orders):
        """What the density is at 0 and 1."""
        shape = np.where(x == 0.0, a, b)
        other = np.where(x == 0.0, b, a)
        value = np.where(shape > 1.0, 0.0, np.where(shape == 1.0, other, np.inf))
        return np.where((x == 0.0) | (x == 1.0), np.nan if any(orders) else value, np.nan)

    def slope(self, k, out, args, orders):
        a, b, x = args
        m, n, _ = orders
        if k < 2:
            return self(a, b, x, orders=(m + (k == 0), n + (k == 1), 0))
        slope = out * (divide(a - 1.0, x) - divide(b - 1.0, 1.0 - x))
        if m:
            slope = slope + divide(m * self(a, b, x, orders=(m - 1, n, 0)), x)
        if n:
            slope = slope - divide(n * self(a, b, x, orders=(m, n - 1, 0)), 1.0 - x)
        return slope

    def samples(self, rng):
        for orders in [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]:
            a, b = np.array([0.3, 1.0, 2.5, 40.0]), np.array([1.2, 0.7, 3.0, 60.0])
            yield sample(a, b, np.array([0.2, 0.9, 0.5, 0.38]), orders=orders, name="all over")
        yield from draws(rng, [(0.5, 4.0), (0.5, 4.0), (0.1, 0.9)], {"orders": (0, 0, 0)})


beta_density = BetaDensity("beta_density")


class IncompleteBeta(Partials):
    """The regularized incomplete beta function, and its derivatives in a and b. Source: scipy.special.betainc."""

    ufunc = numpy_function = sc.betainc
    nin = 3
    sign = 1.0

    def evaluate(self, a, b, x, *, orders):
        return self.sign * beta_parameter_slope(orders[0], orders[1], a, b, x)

    def slope(self, k, out, args, orders):
        m, n, _ = orders
        if k < 2:
            return self(*args, orders=(m + (k == 0), n + (k == 1), 0))
        return self.sign * beta_density(*args, orders=orders)

    def samples(self, rng):
        for orders in [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (2, 0, 0)]:
            a, b = np.array([0.3, 0.7, 2.5, 5.0, 90.0]), np.array([1.2, 0.4, 3.0, 0.5, 60.0])
            yield sample(a, b, np.array([0.1, 0.9, 0.4, 0.8, 0.61]), orders=orders, name="all over")
        yield from draws(rng, [(0.5, 4.0), (0.5, 4.0), (0.1, 0.9)], {"orders": (1, 0, 0)}, {"orders": (0, 0, 0)})


class ComplementedIncompleteBeta(IncompleteBeta):
    """1 - betainc(a, b, x), and its derivatives in a and b. Source: scipy.special.betaincc."""

    ufunc = numpy_function = sc.betaincc
    sign = -1.0


betainc = IncompleteBeta("betainc")
betaincc = ComplementedIncompleteBeta("betaincc")


def _beta_quantile(k: int) -> Any:
    """The derivative in a or b of x, of which betainc(a, b, x) is held."""
    orders = (int(k == 0), int(k == 1), 0)

    def partial(x: Any, a: Any, b: Any, _y: Any) -> Any:
        at_end = equal(x * (1.0 - x), 0)
        inner = where(at_end, 0.5, x)
        return where(at_end, 0.0, -divide(betainc(a, b, inner, orders=orders), beta_density(a, b, inner)))

    return partial


_BETA_DOMAIN = [(0.5, 4.0), (0.5, 4.0), (0.1, 0.9)]
betaincinv = pointwise(
    "betaincinv", sc.betaincinv, _beta_quantile(0), _beta_quantile(1),
    lambda x, a, b, _: divide(1.0, beta_density(a, b, x)),
    domain=_BETA_DOMAIN, complex_ok=False, module=__name__,
)  # fmt: skip
betainccinv = pointwise(
    "betainccinv", sc.betainccinv, _beta_quantile(0), _beta_quantile(1),
    lambda x, a, b, _: divide(-1.0, beta_density(a, b, x)),
    domain=_BETA_DOMAIN, complex_ok=False, module=__name__,
)  # fmt: skip
for _quantile in (gammaincinv, gammainccinv, betaincinv, betainccinv):
    _quantile.costly = True  # their derivatives are those of gammainc and betainc
