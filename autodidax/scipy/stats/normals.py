"""The normal distribution and those made of it: norm, lognorm, halfnorm, truncnorm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodidax.core.interpreters import Tracer
from autodidax.primitives.activations import log1mexp, normal_density
from autodidax.primitives.comparison import greater, less, logical_and, logical_not, logical_or
from autodidax.primitives.convert import stop_gradient_p
from autodidax.primitives.elementwise import exp, log, log1p, logaddexp
from autodidax.primitives.extrema import clip, maximum
from autodidax.primitives.select import where
from autodidax.primitives.special.normal import erf, erfinv, log_ndtr, ndtr, ndtri, ndtri_exp
from autodidax.scipy.stats.distributions import Continuous, Symmetric, both, choose, finite_positive, log_of

_LOG_ROOT_2_PI = 0.5 * math.log(2.0 * math.pi)
_ROOT_HALF = math.sqrt(0.5)


class Norm(Symmetric):
    """The normal distribution. Source: scipy.stats.norm."""

    def _pdf(self, y: Any) -> Any:
        return normal_density(y)

    def _logpdf(self, y: Any) -> Any:
        return -0.5 * (y * y) - _LOG_ROOT_2_PI

    def _cdf(self, y: Any) -> Any:
        return ndtr(y)

    def _logcdf(self, y: Any) -> Any:
        return log_ndtr(y)

    def _ppf(self, q: Any) -> Any:
        return ndtri(q)


class LogNorm(Continuous):
    """The distribution of exp(s z) for a normal z. Source: scipy.stats.lognorm."""

    parameters = {"s": (finite_positive, 1.0)}
    open_functions = Continuous.functions
    interior = 1.0

    def support(self, s: Any) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _logpdf(self, y: Any, s: Any) -> Any:
        z = log(y) / s
        return -0.5 * (z * z) - _LOG_ROOT_2_PI - log(s) - log(y)

    def _cdf(self, y: Any, s: Any) -> Any:
        return ndtr(log(y) / s)

    def _sf(self, y: Any, s: Any) -> Any:
        return ndtr(-log(y) / s)

    def _logcdf(self, y: Any, s: Any) -> Any:
        return log_ndtr(log(y) / s)

    def _logsf(self, y: Any, s: Any) -> Any:
        return log_ndtr(-log(y) / s)

    def _ppf(self, q: Any, s: Any) -> Any:
        return exp(s * ndtri(q))

    def _isf(self, q: Any, s: Any) -> Any:
        return exp(-s * ndtri(q))


class HalfNorm(Continuous):
    """The distribution of |z| for a normal z. Source: scipy.stats.halfnorm."""

    def support(self) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _pdf(self, y: Any) -> Any:
        return 2.0 * normal_density(y)

    def _logpdf(self, y: Any) -> Any:
        return -0.5 * (y * y) - (_LOG_ROOT_2_PI - math.log(2.0))

    def _cdf(self, y: Any) -> Any:
        return erf(_ROOT_HALF * y)

    def _sf(self, y: Any) -> Any:
        return 2.0 * ndtr(-y)

    def _logsf(self, y: Any) -> Any:
        near = less(y, 0.5)
        return where(near, log1p(-self._cdf(where(near, y, 0.0))), math.log(2.0) + log_ndtr(-y))

    def _ppf(self, q: Any) -> Any:
        return math.sqrt(2.0) * erfinv(q)

    def _isf(self, q: Any) -> Any:
        return -ndtri(0.5 * q)


# the probability of an interval

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


def log_mass(a: Any, b: Any) -> Any:
    """log(ndtr(b) - ndtr(a)) for a < b: from the tail that both lie in, from both tails, or from the middle, and over a
    short interval by quadrature, where each of these would cancel."""
    short = less((b - a) * (1.0 + maximum(-a, b)), 0.5)
    one_side = logical_or(greater(a, 0.0), less(b, 0.0))
    tail = logical_and(one_side, logical_not(short))
    across = logical_not(logical_or(short, one_side))
    return _chosen(
        (short, _over_short, 0.0, 0.1), (tail, _in_tail, 1.0, 2.0), (across, _across_0, -1.0, 1.0), operands=(a, b)
    )


def _chosen(*cases: Any, operands: tuple[Any, Any]) -> Any:
    """The case whose condition holds, each computed on harmless operands elsewhere."""
    out = None
    for condition, f, low, high in cases:
        if not isinstance(condition, Tracer):
            if not np.any(condition):
                continue
            if np.all(condition):
                return f(*operands)
        value = f(where(condition, operands[0], low), where(condition, operands[1], high))
        out = where(condition, value, 0.0) if out is None else where(condition, value, out)
    return math.nan * operands[0] if out is None else out


def _in_tail(a: Any, b: Any) -> Any:
    right = greater(a, 0.0)
    outer, inner = log_ndtr(where(right, -b, a)), log_ndtr(where(right, -a, b))
    return inner + log1mexp(inner - outer)


def _across_0(a: Any, b: Any) -> Any:
    middle = 0.5 * (erf(_ROOT_HALF * b) - erf(_ROOT_HALF * a))
    return log_of(middle, ndtr(a) + ndtr(-b))


def _over_short(a: Any, b: Any) -> Any:
    center, half = 0.5 * (a + b), 0.5 * (b - a)
    total = 0.0
    for node, weight in zip(_NODES.tolist(), _WEIGHTS.tolist(), strict=True):
        step = half * node
        total = total + weight * exp(-step * (center + 0.5 * step))
    return log(half) - 0.5 * (center * center) - _LOG_ROOT_2_PI + log(total)


class TruncNorm(Continuous):
    """The normal distribution between a and b, in units of scale from loc. Source: scipy.stats.truncnorm."""

    parameters = {"a": (lambda a: less(a, math.inf), -1.0), "b": (lambda b: greater(b, -math.inf), 1.0)}
    open_functions = ("cdf", "sf")

    def checked(self, a: Any, b: Any) -> tuple[Any, list[Any]]:
        valid, (a, b) = super().checked(a, b)
        ordered = both(less(a, b))
        return both(valid, ordered), [choose(ordered, a, -1.0), choose(ordered, b, 1.0)]

    def support(self, a: Any, b: Any) -> tuple[Any, Any]:
        return a, b

    def inner(self, a: Any, b: Any) -> Any:
        low, high = maximum(a, -1e8), -maximum(-b, -1e8)
        return 0.5 * low + 0.5 * high

    def _logpdf(self, y: Any, a: Any, b: Any) -> Any:
        return -0.5 * (y * y) - _LOG_ROOT_2_PI - log_mass(a, b)

    def _logcdf(self, y: Any, a: Any, b: Any) -> Any:
        return _log_share(a, y, y, b)

    def _logsf(self, y: Any, a: Any, b: Any) -> Any:
        return _log_share(y, b, a, y)

    def _cdf(self, y: Any, a: Any, b: Any) -> Any:
        return _share(a, y, y, b)

    def _sf(self, y: Any, a: Any, b: Any) -> Any:
        return _share(y, b, a, y)

    def _ppf(self, q: Any, a: Any, b: Any) -> Any:
        return _within(_from_below(log(q), log1p(-q), a, b), a, b)

    def _isf(self, q: Any, a: Any, b: Any) -> Any:
        return _within(-_from_below(log(q), log1p(-q), -b, -a), a, b)


def _log_share(low: Any, high: Any, other_low: Any, other_high: Any) -> Any:
    """log of the mass of an interval over the mass of it and the rest beside it."""
    return -logaddexp(0.0, log_mass(other_low, other_high) - log_mass(low, high))


def _share(low: Any, high: Any, other_low: Any, other_high: Any) -> Any:
    return exp(_log_share(low, high, other_low, other_high))


def _within(x: Any, a: Any, b: Any) -> Any:
    """x moved into [a, b], where rounding has led it out, with the derivatives of x."""
    return x + stop_gradient_p(clip(x, a, b) - x)


def _from_below(log_q: Any, log_rest: Any, a: Any, b: Any) -> Any:
    """The point below which the share q lies, from whichever tail it is farther in."""
    right = greater(a + b, 0.0)
    low, high = where(right, -b, a), where(right, -a, b)
    level = logaddexp(log_ndtr(low) + where(right, log_q, log_rest), log_ndtr(high) + where(right, log_rest, log_q))
    x = ndtri_exp(level)
    return where(right, -x, x)


norm = Norm("norm")
lognorm = LogNorm("lognorm")
halfnorm = HalfNorm("halfnorm")
truncnorm = TruncNorm("truncnorm")

__all__ = ["halfnorm", "log_mass", "lognorm", "norm", "truncnorm"]
