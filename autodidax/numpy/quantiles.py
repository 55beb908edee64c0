"""Medians, quantiles and percentiles, by all of NumPy's methods, with and without NaN.

The entries that a quantile is taken of are sorted into one last axis. A quantile q of n entries lies at a position
between 0 and n - 1, which depends on the method; its value is an entry or lies between two neighbours. So its
derivative goes to those entries (equal ones keep the order they came in), and where q is traced, to q: the slope
between the neighbours, at an entry itself that on its right, and 0 beyond the last entry and for methods that give an
entry alone. Weights decide which entry is meant: the result is piecewise constant in them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, get_aval, shape_of
from autodidax.numpy.concreteness import known_value
from autodidax.numpy.dispatch import NoValue, axes_of, given, numpy_function, operand, refuse_out
from autodidax.numpy.reductions import cumsum, mean
from autodidax.numpy.reductions import sum as sum_of
from autodidax.numpy.statistics import isnan_mask, nanmean, weights_along
from autodidax.primitives import sorting
from autodidax.primitives.comparison import equal, greater_equal, less, logical_not, logical_or
from autodidax.primitives.convert import astype
from autodidax.primitives.elementwise import divide, maximum, minimum
from autodidax.primitives.gather import take, take_along_axis
from autodidax.primitives.rounding import ceil, floor, rint
from autodidax.primitives.select import where
from autodidax.primitives.shape import broadcast_to, expand_dims, moveaxis, reshape, transpose


def _last_axis(a: Any, axes: tuple[int, ...]) -> Any:
    """The entries that a reduction over axes meets, in one last axis."""
    shape = shape_of(a)
    kept = tuple(k for k in range(len(shape)) if k not in axes)
    a = transpose(a, permutation=(*kept, *axes))
    return reshape(a, shape=(*(shape[k] for k in kept), math.prod(shape[k] for k in axes)))


def _numbers(lines: Any) -> Any:
    """How many entries of each sorted line are no NaN, with an axis of size 1; an integer where all lines agree."""
    nan = isnan_mask(lines)
    return shape_of(lines)[-1] if nan is None else sum_of(logical_not(nan), axis=-1, keepdims=True)


def _entries(lines: Any, positions: Any) -> Any:
    """Entries of lines at positions, which are cut to the ends: of all lines alike (k,), or of each line (..., k)."""
    last = len(shape_of(lines)) - 1
    if len(shape_of(positions)) < 2:
        return take(lines, positions, last, mode="clip")
    return take_along_axis(lines, positions, last, mode="clip")


def _working_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype that NumPy takes the mean of two entries in."""
    return np.dtype(np.float32 if dtype == np.float16 else np.float64 if dtype.kind in "iub" else dtype)


@numpy_function
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    """Middle entry over axes, or the mean of the two in the middle; NaN where there is one.

    Source: numpy.median.
    """
    refuse_out("median", out)
    a = operand(a)
    axes = axes_of(axis, len(shape_of(a)))
    lines = sorting.sort(_last_axis(a, axes))
    n = shape_of(lines)[-1]
    if n == 0:
        return mean(a, axes, keepdims=keepdims)
    wide = _working_dtype(dtype_of(lines))
    low, high = astype(lines[..., (n - 1) // 2], wide), astype(lines[..., n // 2], wide)
    middle = high if n % 2 else (low + high) / 2.0
    middle = astype(middle, np.float16) if dtype_of(lines) == np.float16 else middle
    nan = isnan_mask(lines[..., -1])
    middle = middle if nan is None else where(nan, math.nan, middle)
    return expand_dims(middle, axes) if given(keepdims) and keepdims else middle


@numpy_function
def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = NoValue) -> Any:
    """Middle entry over axes of those that are not NaN, or the mean of the two in the middle; NaN, without NumPy's
    warning, where there are none.

    Source: numpy.nanmedian.
    """
    refuse_out("nanmedian", out)
    a = operand(a)
    if get_aval(a).size == 0:
        return nanmean(a, axis, keepdims=keepdims)
    axes = axes_of(axis, len(shape_of(a)))
    lines = sorting.sort(_last_axis(a, axes))
    count = _numbers(lines)
    if isinstance(count, int):
        return median.__wrapped__(a, axis, keepdims=keepdims)  # type: ignore[attr-defined]  # no entry can be NaN
    wide = _working_dtype(dtype_of(lines))
    low, high = (astype(_entries(lines, k)[..., 0], wide) for k in (maximum(count - 1, 0) // 2, count // 2))
    middle = where(equal(count[..., 0] % 2, 1), high, (low + high) / 2.0)
    middle = where(equal(count[..., 0], 0), math.nan, middle)
    middle = astype(middle, np.float16) if dtype_of(lines) == np.float16 else middle
    return expand_dims(middle, axes) if given(keepdims) and keepdims else middle


@numpy_function
def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Quantiles over axes, by any of NumPy's methods; the axes of q come first. NaN where there is one.

    Source: numpy.quantile; Hyndman and Fan (1996).
    """
    refuse_out("quantile", out)
    return _Quantiles("quantile", q, method, weights, without_nan=False).of(a, axis, keepdims)


@numpy_function
def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = NoValue, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Quantiles over axes of the entries that are not NaN, by any of NumPy's methods; the axes of q come first (NumPy
    leaves one of several behind where `axis` names several). NaN, without NumPy's warning, where there are no entries.

    Source: numpy.nanquantile.
    """
    refuse_out("nanquantile", out)
    return _Quantiles("nanquantile", q, method, weights, without_nan=True).of(a, axis, keepdims)


@numpy_function
def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Quantiles at q percent: see `quantile`.

    Source: numpy.percentile.
    """
    refuse_out("percentile", out)
    return _Quantiles("percentile", _hundredth(q), method, weights, without_nan=False).of(a, axis, keepdims)


@numpy_function
def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = NoValue, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Quantiles at q percent of the entries that are not NaN: see `nanquantile`.

    Source: numpy.nanpercentile.
    """
    refuse_out("nanpercentile", out)
    return _Quantiles("nanpercentile", _hundredth(q), method, weights, without_nan=True).of(a, axis, keepdims)


def _hundredth(q: Any) -> Any:
    return q / 100 if type(q) in (int, float) else divide(operand(q), 100)


class _Quantiles:
    """What is asked for beside the entries: levels, a method, weights; checked as NumPy checks them."""

    def __init__(self, name: str, q: Any, method: str, weights: Any, *, without_nan: bool) -> None:
        self.name, self.method, self.weights, self.without_nan = name, method, weights, without_nan
        self.weak = q.weak_type if isinstance(q, Tracer) else type(q) in (int, float)  # yields to the entries' dtype
        q = operand(q)
        if dtype_of(q).kind == "c":
            raise errors.DtypeError(f"{name}: q is complex", mend="give real numbers for q")
        q = q if isinstance(q, Tracer) else np.asarray(q)
        values = known_value(q)
        if values is not None and not np.all((np.asarray(values) >= 0) & (np.asarray(values) <= 1)):
            what, end = ("Percentiles", 100) if name.endswith("percentile") else ("Quantiles", 1)
            raise errors.ArgumentError(f"{what} must be in the range [0, {end}]", mend=f"give q from 0 to {end}")
        if len(shape_of(q)) > 2:
            raise errors.ShapeError(f"{name}: q has the shape {shape_of(q)}", mend="give a scalar or 1d q")
        if weights is not None and method != "inverted_cdf":
            raise errors.ArgumentError(
                f"Only method 'inverted_cdf' supports weights. Got: {method}.", mend="give method='inverted_cdf'"
            )
        if method not in _POSITIONS:
            raise errors.ArgumentError(
                f"{method!r} is not a valid method of {name}", mend=f"use one of {', '.join(_POSITIONS)}"
            )
        self.levels = q

    def of(self, a: Any, axis: Any, keepdims: Any) -> Any:
        """The quantiles of an array over axes: (*q.shape, ...)."""
        a = operand(a)
        if dtype_of(a).kind == "c":
            raise errors.DtypeError(
                f"{self.name}: a has the dtype {dtype_of(a)}", mend="a must be an array of real numbers: take real(a)"
            )
        if self.without_nan and get_aval(a).size == 0:
            return nanmean(a, axis, keepdims=keepdims)
        axes = axes_of(axis, len(shape_of(a)))
        lines = _last_axis(a, axes)
        if shape_of(lines)[-1] == 0 and get_aval(self.levels).size and math.prod(shape_of(lines)[:-1]) != 0:
            raise errors.OutOfBoundsError(
                f"{self.name} over axes {axes} of shape {shape_of(a)}: no entries", mend="give an array with entries"
            )
        if shape_of(lines)[-1] == 0:
            return np.empty((*shape_of(self.levels), *_kept(shape_of(a), axes, keepdims)), dtype_of(lines))
        if self.weights is None:
            found = self._by_position(sorting.sort(lines))
        else:
            weights = weights_along(operand(self.weights), axis, shape_of(a))
            found = self._by_weight(lines, _last_axis(broadcast_to(weights, shape=shape_of(a)), axes))
        found = moveaxis(found, len(shape_of(found)) - 1, 0)
        return reshape(found, shape=(*shape_of(self.levels), *_kept(shape_of(a), axes, keepdims)))

    def _flat_levels(self) -> Any:
        return reshape(self.levels, shape=(math.prod(shape_of(self.levels)),))

    def _by_position(self, lines: Any) -> Any:
        """Quantiles of sorted lines: (..., n) -> (..., k)."""
        method, levels, dtype = self.method, self._flat_levels(), dtype_of(lines)
        whole = method in _OF_INTEGERS and dtype.kind in "iub" and not self.weak
        if dtype_of(levels).kind != "f":
            method = "lower" if method == "linear" or whole else method  # the first or last entry, without arithmetic
            levels = astype(levels, np.float64)
        count = _numbers(lines) if self.without_nan else shape_of(lines)[-1]
        n = float(count) if isinstance(count, int) else astype(count, dtype_of(levels))
        position, last = _POSITIONS[method](n, levels), maximum(n - 1.0, 0.0)

        def at(p: Any) -> Any:
            return _entries(lines, astype(minimum(maximum(p, 0.0), last), np.intp))

        if method in _OF_ONE_ENTRY:
            value = at(position)
        else:
            if dtype.kind == "b":
                raise errors.DtypeError(
                    f"{self.name} between two booleans", mend="give numbers, or a method such as 'lower' or 'nearest'"
                )
            value = self._between(at, method, position, last, dtype, dtype_of(levels))
        if dtype_of(value).kind != "f" or dtype.kind != "f":
            return value
        missing = equal(count, 0) if self.without_nan else isnan_mask(lines[..., -1:])
        return where(missing, math.nan, value)

    def _between(self, at: Any, method: str, position: Any, last: Any, dtype: np.dtype, levels_dtype: np.dtype) -> Any:
        below = floor(position)
        share = position - below
        if method == "averaged_inverted_cdf":
            share = where(equal(share, 0.0), 0.5, 1.0)
        elif method == "midpoint":
            share = where(equal(share, 0.0), 0.0, 0.5)
        # beyond an end the entry at the end is meant
        share = where(logical_or(less(position, 0.0), greater_equal(position, last)), 0.0, share)
        kind = np.dtype(np.float64) if dtype.kind in "iu" else dtype
        in_dtype = kind if self.weak else levels_dtype
        share = astype(share, levels_dtype)
        low, high = (astype(at(p), kind) for p in (below, below + 1.0))
        near_low = low + (high - low) * astype(share, in_dtype)
        near_high = high - (high - low) * astype(1.0 - share, in_dtype)
        return where(less(share, 0.5), near_low, near_high)

    def _by_weight(self, lines: Any, weights: Any) -> Any:
        """Entries at which the share of the weights reaches the levels: two of (..., n) -> (..., k)."""
        known = known_value(weights)
        if known is not None and np.any(np.asarray(known) < 0):
            raise errors.ArgumentError("Weights must be non-negative.", mend="give weights of 0 or more")
        order = sorting.argsort(lines, stable=True)
        lines, weights = take_along_axis(lines, order), take_along_axis(weights, order)
        nan = isnan_mask(lines)
        if self.without_nan and nan is not None:
            weights = where(nan, 0, weights)
        reached = cumsum(weights, axis=-1, dtype=np.float64)
        total = reached[..., -1:]
        empty = equal(_numbers(lines), 0) if self.without_nan else False
        known = known_value(where(empty, 1.0, total))
        if known is not None and not np.all((np.asarray(known) > 0) & (np.asarray(known) < np.inf)):
            raise errors.ArgumentError(
                "Weights included NaN, inf or were all zero.", mend="give finite weights, one of them above 0"
            )
        reached = reached / where(equal(total, 0), 1.0, total)
        levels = self._flat_levels()
        if dtype_of(levels).kind == "f":
            reached = astype(reached, dtype_of(levels))
        reached = where(equal(reached, 0), -1.0, reached)  # entries without weight are never meant
        rank = len(shape_of(lines)) - 1
        levels = broadcast_to(levels, shape=(*shape_of(lines)[:-1], shape_of(levels)[0]))
        index = sorting.searchsorted_p(reached, levels, side="left", batch_rank=rank)
        value = _entries(lines, minimum(index, shape_of(lines)[-1] - 1))
        if nan is None:
            return value
        return where(empty if self.without_nan else nan[..., -1:], math.nan, value)


def _kept(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: Any) -> tuple[int, ...]:
    """The shape that a reduction over axes leaves."""
    if given(keepdims) and keepdims:
        return tuple(1 if k in axes else n for k, n in enumerate(shape))
    return tuple(n for k, n in enumerate(shape) if k not in axes)


def _weibull_like(alpha: float, beta: float) -> Any:
    """Positions from the plotting positions of Hyndman and Fan (1996) with these parameters."""
    return lambda n, q: n * q + (alpha + q * (1.0 - alpha - beta)) - 1.0


def _nearest_even(position: Any) -> Any:
    """The next whole position, or the position itself where it is whole and odd: counted from 1 that is even."""
    below = floor(position)
    return where(equal(position, below) & equal(below % 2.0, 1.0), below, below + 1.0)


#: where the quantile q of n sorted entries lies, counted from 0
_POSITIONS: dict[str, Any] = {
    "inverted_cdf": lambda n, q: ceil(n * q - 1.0),
    "averaged_inverted_cdf": lambda n, q: n * q - 1.0,
    "closest_observation": lambda n, q: _nearest_even(n * q - 1.0 - 0.5),
    "interpolated_inverted_cdf": _weibull_like(0.0, 1.0),
    "hazen": _weibull_like(0.5, 0.5),
    "weibull": _weibull_like(0.0, 0.0),
    "linear": lambda n, q: (n - 1.0) * q,
    "median_unbiased": _weibull_like(1.0 / 3.0, 1.0 / 3.0),
    "normal_unbiased": _weibull_like(3.0 / 8.0, 3.0 / 8.0),
    "lower": lambda n, q: floor((n - 1.0) * q),
    "higher": lambda n, q: ceil((n - 1.0) * q),
    "midpoint": lambda n, q: 0.5 * (floor((n - 1.0) * q) + ceil((n - 1.0) * q)),
    "nearest": lambda n, q: rint((n - 1.0) * q),
}
_OF_INTEGERS = {"averaged_inverted_cdf", "interpolated_inverted_cdf", "weibull"}  # whole positions for whole levels
_OF_ONE_ENTRY = {"lower", "higher", "nearest", "inverted_cdf", "closest_observation"}

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]
