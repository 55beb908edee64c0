"""The von Mises distribution, on angles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.avals import ShapedArray, broadcast_shapes
from autodidax.core.interpreters import Tracer
from autodidax.core.primitive import Pointwise, Primitive, align_batch, pointwise, sample
from autodidax.primitives.comparison import equal, greater, greater_equal, less, logical_and
from autodidax.primitives.elementwise import exp, log, sin
from autodidax.primitives.rounding import floor
from autodidax.primitives.select import where
from autodidax.primitives.special.bessel import i0e
from autodidax.scipy.stats.distributions import Symmetric, log_of

_FALL = 45.0  # the logarithm of what the integrand falls by until it is cut off
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(80)
_LARGE = 60.0  # concentrations from which the Bessel function is its asymptotic series
_SERIES = [1.0]
for _k in range(1, 24):
    _SERIES.append(_SERIES[-1] * (2 * _k - 1) ** 2 / (8.0 * _k))


def _cosine_less_one(y: Any) -> Any:
    half = sin(0.5 * y)
    return -2.0 * (half * half)


def _log_i0e(kappa: Any) -> Any:
    """log(exp(-kappa) I_0(kappa)): for large kappa by its series in 1/kappa, as there the slope is small, and as a
    difference of Bessel functions would lose its digits."""
    large = greater_equal(kappa, _LARGE)
    if not isinstance(large, Tracer):
        if not np.any(large):
            return log(i0e(kappa))
        if np.all(large):
            return _asymptotic(kappa)
    return where(large, _asymptotic(where(large, kappa, _LARGE)), log(i0e(where(large, 1.0, kappa))))


def _asymptotic(kappa: Any) -> Any:
    u = 1.0 / kappa
    total = _SERIES[-1] * u
    for c in reversed(_SERIES[1:-1]):
        total = (total + c) * u
    return log(1.0 + total) - 0.5 * log(2.0 * math.pi * kappa)


class LowerArc(Primitive):
    """The integral of (cos t - 1)**order exp(kappa (cos t - 1)) over t from -pi to y, for y in [-pi, 0] and kappa >= 0:
    the order-th derivative of the first in kappa: (...), (...) -> (...).

    The integrand has one sign, so that a small tail has all its digits.
    """

    def impl(self, y: Any, kappa: Any, *, order: int) -> Any:
        dtype = np.result_type(y, kappa, 0.0)
        y, kappa = np.broadcast_arrays(np.asarray(y, np.float64), np.asarray(kappa, np.float64))
        inside = (y >= -math.pi - 1e-6) & (y <= 0.0) & (kappa >= 0.0)
        y, kappa = np.where(inside, np.maximum(y, -math.pi), -1.0), np.where(inside, kappa, 1.0)
        # cut off where sin(t/2)**2 exceeds sin(y/2)**2 by _FALL/(2 kappa)
        with np.errstate(divide="ignore"):
            square = np.minimum(np.sin(0.5 * y) ** 2 + 0.5 * _FALL / kappa, 1.0)
        low = -2.0 * np.arcsin(np.sqrt(square))
        center, half = 0.5 * (y + low)[..., None], 0.5 * (y - low)[..., None]
        fall = -2.0 * np.sin(0.5 * (center + half * _NODES)) ** 2
        total = np.sum(_WEIGHTS * fall**order * np.exp(kappa[..., None] * fall), axis=-1) * half[..., 0]
        return np.where(inside, total, np.nan).astype(dtype)[()]

    def abstract_eval(self, y: Any, kappa: Any, *, order: int) -> ShapedArray:
        dtypes = [a.dtype.type(0).item() if a.weak_type else a.dtype for a in (y, kappa)]
        return ShapedArray(broadcast_shapes(self.name, y.shape, kappa.shape), np.result_type(*dtypes, 0.0))

    def jvp(self, out: Any, primals: Any, tangents: Any, *, order: int) -> Any:
        y, kappa = primals
        ty, tkappa = tangents
        total = None
        if ty is not None:
            fall = _cosine_less_one(y)
            total = ty * (fall**order * exp(kappa * fall))
        if tkappa is not None:
            term = tkappa * self(y, kappa, order=order + 1)
            total = term if total is None else total + term
        return total

    def batch(self, args: Any, dims: Any, *, order: int) -> tuple[Any, int]:
        return self(*align_batch(args, dims), order=order), 0

    def samples(self, rng: Any) -> Any:
        for order in (0, 1, 2):
            yield sample(np.array([-3.0, -1.2, -0.3, -0.1]), np.array([0.5, 1.0, 30.0, 400.0]), order=order)
        yield sample(-1.3, 0.7, order=0)
        yield sample(rng.uniform(-2.0, -1.0, (2, 1)), rng.uniform(0.5, 2.0, 3), order=1)
        yield sample(rng.uniform(-2.0, -1.0, (0, 2)), np.array(1.0), order=0)
        yield sample(np.array([-2.0, -1.0], np.float32), np.array([0.5, 3.0], np.float32), order=0)


lower_arc = LowerArc("lower_arc")


def _tail(y: Any, kappa: Any) -> Any:
    """The probability of angles from -pi to y <= 0."""
    return lower_arc(y, kappa, order=0) * exp(-_log_i0e(kappa)) / (2.0 * math.pi)


def _quantile(q: Any, kappa: Any) -> Any:
    """The angle below which the share q lies, by Newton's method on the logarithm of the tail, inside of a bracket."""
    dtype = np.result_type(q, kappa, 0.0)
    q, kappa = np.broadcast_arrays(np.asarray(q, np.float64), np.asarray(kappa, np.float64))
    usable = (q > 0.0) & (q < 1.0) & (kappa >= 0.0)
    level = np.where(usable & (q != 0.5), np.minimum(q, 1.0 - q), 0.25)
    k = np.where(usable, kappa, 1.0)
    log_level = np.log(level * (2.0 * math.pi * sc.i0e(k)))
    low, high = np.full(q.shape, -math.pi), np.zeros(q.shape)
    y = np.maximum(sc.ndtri(level) / np.sqrt(k + 0.5), -2.5)
    with np.errstate(all="ignore"):
        for _ in range(80):
            tail = lower_arc.impl(y, k, order=0)
            excess = np.log(tail) - log_level
            low, high = np.where(excess < 0.0, y, low), np.where(excess < 0.0, high, y)
            after = y - excess * tail * np.exp(2.0 * k * np.sin(0.5 * y) ** 2)
            after = np.where((after >= low) & (after <= high), after, 0.5 * (low + high))
            done = np.all(np.abs(after - y) <= 1e-15 * np.abs(y))
            y = after
            if done:
                break
    y = np.where(q == 0.5, 0.0, np.where(q > 0.5, -y, y))
    ends = np.where(q == 0.0, -math.pi, np.where(q == 1.0, math.pi, np.nan))
    return np.where(usable, y, ends).astype(dtype)[()]


def _quantile_samples(rng: np.random.Generator) -> Any:
    yield sample(np.array([0.01, 0.3, 0.5, 0.9]), np.array([0.5, 3.0, 1.0, 40.0]))
    yield sample(0.2, 1.5)
    yield sample(rng.uniform(0.1, 0.9, (2, 1)), rng.uniform(0.5, 2.0, 2))
    yield sample(np.array([0.2, 0.6], np.float32), np.array([0.5, 2.0], np.float32))
    yield sample(rng.uniform(0.1, 0.9, (0, 2)), np.array(1.0))


def _density(y: Any, kappa: Any) -> Any:
    return exp(kappa * _cosine_less_one(y) - _log_i0e(kappa)) / (2.0 * math.pi)


def _cdf(y: Any, kappa: Any) -> Any:
    right = greater(y, 0.0)
    tail = _tail(where(right, -y, y), kappa)
    return where(right, 1.0 - tail, tail)


def _cdf_by_kappa(y: Any, kappa: Any) -> Any:
    right = greater(y, 0.0)
    near = where(right, -y, y)
    scale = exp(-_log_i0e(kappa)) / (2.0 * math.pi)
    ratio = _mean_cosine_less_one(kappa)
    slope = (lower_arc(near, kappa, order=1) - ratio * lower_arc(near, kappa, order=0)) * scale
    return where(right, -slope, slope)


def _mean_cosine_less_one(kappa: Any) -> Any:
    """The derivative of _log_i0e."""
    middle = 0.0 * kappa
    return lower_arc(middle, kappa, order=1) / lower_arc(middle, kappa, order=0)


vonmises_ppf: Pointwise = pointwise(
    "vonmises_ppf", _quantile, lambda y, _q, kappa: 1.0 / _density(y, kappa),
    lambda y, _q, kappa: -_cdf_by_kappa(y, kappa) / _density(y, kappa),
    samples=_quantile_samples, complex_ok=False, module=__name__,
)  # fmt: skip
vonmises_ppf.costly = True  # each value is solved for


class VonMises(Symmetric):
    """The von Mises distribution of angles, of concentration kappa around loc. Source: scipy.stats.vonmises.

    The density is periodic, and the distribution function rises by 1 with every turn, from 0 at -pi.
    """

    parameters = {"kappa": (lambda kappa: logical_and(greater_equal(kappa, 0.0), less(kappa, math.inf)), 1.0)}

    def _logpdf(self, y: Any, kappa: Any) -> Any:
        return kappa * _cosine_less_one(y) - _log_i0e(kappa) - math.log(2.0 * math.pi)

    def _pdf(self, y: Any, kappa: Any) -> Any:
        return _density(y, kappa)

    def _cdf(self, y: Any, kappa: Any) -> Any:
        turns, angle = _turns(y)
        return _cdf(angle, kappa) + turns

    def _logcdf(self, y: Any, kappa: Any) -> Any:
        turns, angle = _turns(y)
        first = equal(turns, 0.0)
        further = where(first, 0.5, _cdf(angle, kappa) + turns)
        return where(first, log_of(_cdf(angle, kappa), _cdf(-angle, kappa)), log(further))

    def _ppf(self, q: Any, kappa: Any) -> Any:
        return vonmises_ppf(q, kappa)


def _turns(y: Any) -> tuple[Any, Any]:
    """Whole turns, and the angle in [-pi, pi) that is left."""
    turns = floor((y + math.pi) / (2.0 * math.pi))
    return turns, y - 2.0 * math.pi * turns


vonmises = VonMises("vonmises")

__all__ = ["vonmises"]
