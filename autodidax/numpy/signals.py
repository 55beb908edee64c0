"""Sampled functions: convolution, correlation, interpolation, phases, and the Bessel function of the Kaiser window."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.core.primitive import registry
from autodidax.numpy.contraction import PRECISION, in_preferred_dtype
from autodidax.numpy.differences import diff
from autodidax.numpy.dispatch import axis_of, extended, numpy_function, operand
from autodidax.numpy.joining import concatenate
from autodidax.numpy.reductions import cumsum
from autodidax.numpy.shaping import atleast_1d
from autodidax.numpy.ufuncs import load_scipy
from autodidax.primitives import convolution, rearrange
from autodidax.primitives.comparison import equal, greater, isfinite, isnan, less, logical_and, logical_not, logical_or
from autodidax.primitives.convert import astype, conj, stop_gradient_p
from autodidax.primitives.elementwise import absolute, divide
from autodidax.primitives.gather import clipped, take
from autodidax.primitives.rounding import rint
from autodidax.primitives.select import where
from autodidax.primitives.shape import flip
from autodidax.primitives.sorting import argsort, searchsorted


def _sequence(name: str, argument: str, x: Any) -> Any:
    x = atleast_1d(operand(x))
    if len(shape_of(x)) != 1:
        raise ValueError(f"{name}: object too deep for desired array: {argument} has shape {shape_of(x)}")
    if shape_of(x)[0] == 0:
        raise ValueError(f"{argument} cannot be empty")
    return x


def _mode(name: str, mode: Any) -> str:
    """One of "valid", "same" and "full", by its name or NumPy's number."""
    modes = ("valid", "same", "full")
    if isinstance(mode, int) and 0 <= mode < 3:
        return modes[mode]
    if mode not in modes:
        raise ValueError(f"{name}: mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    return mode


@extended(*PRECISION)
def convolve(a: Any, v: Any, mode: Any = "full", *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Sums over k of a[k] v[i - k]: (n,), (m,) -> (n + m - 1,); max(n, m) in the middle for "same", and those without
    an edge for "valid".

    Source: numpy.convolve, jax.numpy.convolve.
    """
    a, v, mode = _sequence("convolve", "a", a), _sequence("convolve", "v", v), _mode("convolve", mode)
    return in_preferred_dtype(lambda a, v: convolution.convolve(a, v, mode), (a, v), preferred_element_type)


@extended(*PRECISION)
def correlate(a: Any, v: Any, mode: Any = "valid", *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Sums over k of a[k + i] conj(v[k]): (n,), (m,) -> (n + m - 1,) for "full", and as `convolve` for other modes.

    Source: numpy.correlate, jax.numpy.correlate.
    """
    for name, x in (("a", a), ("v", v)):
        if not shape_of(operand(x)):
            raise errors.ShapeError(f"correlate: {name} is a number", mend="give arrays of one axis")
    a, v, mode = _sequence("correlate", "a", a), _sequence("correlate", "v", v), _mode("correlate", mode)
    return in_preferred_dtype(lambda a, v: _correlate(a, v, mode), (a, v), preferred_element_type)


def _correlate(a: Any, v: Any, mode: str) -> Any:
    backward = flip(conj(v), axes=(0,))
    if shape_of(a)[0] >= shape_of(v)[0]:
        return convolution.convolve(a, backward, mode)
    # NumPy correlates the longer one with the shorter one and turns the result round, which sets the middle
    return flip(convolution.convolve(flip(backward, axes=(0,)), flip(a, axes=(0,)), mode), axes=(0,))


@numpy_function
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Values at x of the line through increasing points (xp, fp), `left` and `right` of them by default the ends:
    (...), (n,), (n,) -> (...).

    Differentiable in x, xp, fp, left, right and period. At a knot the slope in x is that of the segment on its right,
    at the last knot that of the last segment.

    Source: numpy.interp.
    """
    x, xp, fp = operand(x), operand(xp), operand(fp)
    if len(shape_of(xp)) != 1 or len(shape_of(fp)) != 1:
        raise ValueError("Data points must be 1-D sequences" if period is not None else "object too deep for array")
    n = shape_of(xp)[0]
    if n == 0:
        raise ValueError("array of sample points is empty")
    if n != shape_of(fp)[0]:
        raise ValueError("fp and xp are not of the same length.")
    dtype = np.dtype(np.complex128 if dtype_of(fp).kind == "c" else np.float64)
    for name, value in (("x", x), ("xp", xp)):
        if dtype_of(value).kind == "c":
            raise errors.DtypeError(f"interp: {name} is complex", mend=f"give the real part of {name}")
    x, xp, fp = astype(x, np.float64), astype(xp, np.float64), astype(fp, dtype)
    if period is not None:
        period = operand(period)
        if shape_of(period):
            raise errors.ShapeError(f"interp: period has the shape {shape_of(period)}", mend="give one number")
        x, xp, fp = _periodic(x, xp, fp, period)
        left = right = None
        n += 2
    last = max(n - 1, 1)
    segment = clipped(searchsorted(xp, x, "right") - 1, last)
    following = segment + 1 if n > 1 else segment
    before, after, low, high = (
        take(xp, segment, 0),
        take(xp, following, 0),
        take(fp, segment, 0),
        take(fp, following, 0),
    )
    value = _on_line(x, before, after, low, high, equal(x, xp[-1]))
    value = where(greater(x, xp[-1]), fp[-1] if right is None else _end(right, dtype), value)
    return astype(where(less(x, xp[0]), fp[0] if left is None else _end(left, dtype), value), dtype)


def _on_line(x: Any, before: Any, after: Any, low: Any, high: Any, from_after: Any) -> Any:
    """The line through (before, low) and (after, high) at x, computed from `before`, or `after` where that is exact;
    where values are infinite, what NumPy makes of them."""
    width = after - before
    slope = divide(high - low, where(equal(width, 0), 1.0, width))
    value = low + slope * (x - before)
    value = where(logical_or(from_after, isnan(value)), high + slope * (x - after), value)
    here = logical_or(from_after, logical_and(logical_or(equal(x, before), equal(low, high)), equal(x, x)))
    return where(logical_and(here, logical_not(isfinite(slope))), where(from_after, high, low), value)


def _end(x: Any, dtype: np.dtype) -> Any:
    x = operand(x)
    if shape_of(x):
        raise errors.ShapeError(f"interp: left or right has the shape {shape_of(x)}", mend="give one number")
    if dtype_of(x).kind == "c" and dtype.kind != "c":
        raise TypeError("interp: a complex value beside a real fp")
    return astype(x, dtype)


def _periodic(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    """Points within one period, with one more on either side."""
    if not isinstance(period, Tracer) and period == 0:
        raise ValueError("period must be a non-zero value")
    period = absolute(period)
    x, xp = x % period, xp % period
    order = argsort(xp)
    xp, fp = take(xp, order, 0), take(fp, order, 0)
    return (
        x,
        concatenate([xp[-1:] - period, xp, xp[:1] + period]),
        concatenate([fp[-1:], fp, fp[:1]]),
    )


@numpy_function
def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 2 * np.pi) -> Any:
    """Phases along an axis, with multiples of the period added so that no step is longer than half of it (or shorter
    steps than `discont` stay): (..., n, ...) -> the same shape.

    The multiples are piecewise constant: the derivative in p is that of the identity.

    Source: numpy.unwrap.
    """
    p = operand(p)
    k = axis_of(axis, len(shape_of(p)))
    period_, discont = operand(period), None if discont is None else operand(discont)
    fixed = _constant(period_)
    steps = _constant(diff(p, axis=k))
    dtype = np.result_type(dtype_of(steps), period if type(period) in (int, float) else dtype_of(period_))
    if dtype.kind in "iu":
        half, ambiguous = fixed // 2, fixed % 2 == 0
    else:
        half, ambiguous = fixed / 2, True
    wrapped = (steps - -half) % fixed + -half
    if ambiguous is not False:
        at_end = logical_and(logical_and(equal(wrapped, -half), greater(steps, 0)), ambiguous)
        wrapped = where(at_end, half, wrapped)
    limit = fixed / 2 if discont is None else discont
    correction = where(less(absolute(steps), limit), 0, wrapped - steps)
    if isinstance(period_, Tracer):  # the same value, as a multiple of the period
        correction = correction + rint(divide(correction, fixed)) * (period_ - fixed)
    first = p[rearrange.along(k, slice(0, 1))]
    rest = p[rearrange.along(k, slice(1, None))] + cumsum(correction, axis=k)
    return concatenate([astype(first, dtype), astype(rest, dtype)], axis=k)


def _constant(x: Any) -> Any:
    return stop_gradient_p(x) if isinstance(x, Tracer) else x


@numpy_function
def i0(x: Any) -> Any:
    """Modified Bessel function of the first kind of order 0, by NumPy's expansions; its derivatives are SciPy's.

    Source: numpy.i0.
    """
    x = operand(x)
    if dtype_of(x).kind == "c":
        raise TypeError("i0 not supported for complex values")
    for load in load_scipy:
        load()
    return registry["numpy_i0"](x)


__all__ = ["convolve", "correlate", "i0", "interp", "unwrap"]
