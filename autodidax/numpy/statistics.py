"""Variance, averages, medians, and the reductions that leave NaN out."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.numpy.concreteness import known_value
from autodidax.numpy.dispatch import NoValue, axis_of, given, kept, numpy_function, operand, reduction_axes, refuse_out
from autodidax.numpy.reductions import argmax, argmin, cumprod, cumsum, entry_count, max, mean, min, prod
from autodidax.numpy.reductions import sum as sum_of
from autodidax.primitives import elementwise as ew
from autodidax.primitives import reductions as red
from autodidax.primitives.comparison import greater, logical_not, not_equal
from autodidax.primitives.convert import astype, conj, real
from autodidax.primitives.select import where as select
from autodidax.primitives.shape import reshape, transpose

mean_of = mean  # where a parameter hides the name


@numpy_function
def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NoValue, correction: Any = NoValue,
) -> Any:  # fmt: skip
    """Mean squared deviation from the mean over axes, divided by n - ddof; real for complex entries.

    Source: numpy.var.
    """
    refuse_out("var", out)
    a = operand(a)
    if given(correction):
        if ddof != 0:
            raise errors.ArgumentError(f"ddof={ddof} and correction={correction}", mend="give one of the two")
        ddof = correction
    _require_number("ddof", ddof)
    if dtype is None and dtype_of(a).kind in "iub":
        dtype = np.float64
    narrow = dtype is None and dtype_of(a) == np.float16 and not given(mean)
    a = astype(a, np.float32) if narrow else a
    center = operand(mean) if given(mean) else mean_of(a, axis, dtype, keepdims=True, where=where)
    deviation = a - center
    squared = ew.square(deviation) if dtype_of(a).kind != "c" else real(deviation * conj(deviation))
    count = entry_count(squared, axis, where, keepdims) - ddof
    count = builtins.max(count, 0.0) if isinstance(count, float) else ew.maximum(count, 0.0)
    total = sum_of(squared, axis, dtype, keepdims=keepdims, where=where)
    return astype(total / count, np.float16 if narrow else dtype_of(total))


def _root(variance: Any) -> Any:
    root = ew.sqrt if dtype_of(variance).kind == "c" else ew.deviation_from_variance
    return astype(root(variance), dtype_of(variance))


def _require_number(name: str, value: Any) -> None:
    value = value if isinstance(value, Tracer) else np.asarray(value)
    if dtype_of(value).kind not in "biuf":
        raise errors.DtypeError(f"{name} has the dtype {dtype_of(value)}", mend=f"give a real number for {name}")
    if shape_of(value):
        raise errors.ShapeError(f"{name} has the shape {shape_of(value)}", mend=f"give one number for {name}")


@numpy_function
def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NoValue, correction: Any = NoValue,
) -> Any:  # fmt: skip
    """Standard deviation over axes: the square root of `var`.

    Where all entries are equal it is 0, as its derivative is then, like that of `norm` at 0 (in JAX it is nan).

    Source: numpy.std.
    """
    refuse_out("std", out)
    variance = var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return _root(variance)


@numpy_function
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    """Weighted mean over axes; 1-d weights lie along the axis.

    Source: numpy.average.
    """
    a = operand(a)
    shape = shape_of(a)
    if weights is None:
        result = mean_of(a, axis, keepdims=keepdims)
        scale: Any = entry_count(a, axis)
    else:
        weights = operand(weights)
        weights = weights_along(weights, axis, shape)
        dtype = np.result_type(dtype_of(a), dtype_of(weights), *([np.float64] if dtype_of(a).kind in "iub" else []))
        scale = sum_of(weights, axis, dtype, keepdims=keepdims)
        result = sum_of(astype(a, dtype) * astype(weights, dtype), axis, keepdims=keepdims) / scale
    if not returned:
        return result
    return result, scale + 0.0 * result


def weights_along(weights: Any, axis: Any, shape: tuple[int, ...]) -> Any:
    """Weights of a shape, or of the axes of it that are named, as an array that broadcasts to it."""
    if shape_of(weights) == shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = tuple(axis_of(k, len(shape)) for k in (axis if isinstance(axis, tuple) else (axis,)))
    if shape_of(weights) != tuple(shape[k] for k in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    order = tuple(int(k) for k in np.argsort(axes))
    weights = transpose(weights, permutation=order) if len(axes) > 1 else weights
    return reshape(weights, shape=tuple(n if k in axes else 1 for k, n in enumerate(shape)))


def isnan_mask(a: Any) -> Any:
    """Where an array is NaN, or None for a dtype that cannot be."""
    return not_equal(a, a) if dtype_of(a).kind in "fc" else None


def _without_nan(a: Any, neutral: Any) -> tuple[Any, Any]:
    """The operand with NaN replaced, and the mask of the entries that were not NaN (True: all of them)."""
    a = operand(a)
    nan = isnan_mask(a)
    return (a, True) if nan is None else (select(nan, neutral, a), logical_not(nan))


def real_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of the real part of numbers of a dtype."""
    return np.empty(0, dtype).real.dtype


@numpy_function
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NoValue,
    where: Any = True,
) -> Any:  # fmt: skip
    """Sum over axes of the entries that are not NaN.

    Source: numpy.nansum.
    """
    return sum_of(_without_nan(a, 0)[0], axis, dtype, out, kept(keepdims), initial, where)


@numpy_function
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NoValue,
    where: Any = True,
) -> Any:  # fmt: skip
    """Product over axes of the entries that are not NaN.

    Source: numpy.nanprod.
    """
    return prod(_without_nan(a, 1)[0], axis, dtype, out, kept(keepdims), initial, where)


@numpy_function
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    """Mean over axes of the entries that are not NaN; NaN where there are none.

    Source: numpy.nanmean.
    """
    filled, valid = _without_nan(a, 0)
    return mean_of(filled, axis, dtype, out, kept(keepdims), where=_both(valid, where))


def _both(valid: Any, where: Any) -> Any:
    if where is True or not given(where):
        return valid
    return where if valid is True else valid & where


@numpy_function
def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NoValue, correction: Any = NoValue,
) -> Any:  # fmt: skip
    """Variance over axes of the entries that are not NaN.

    Source: numpy.nanvar.
    """
    filled, valid = _without_nan(a, 0)
    keepdims = kept(keepdims)
    where = _both(valid, where)
    if valid is not True and given(mean) and dtype_of(filled).kind != "c":
        mean = real(operand(mean))  # as NumPy casts the deviations
    result = var(filled, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    if valid is True:
        return result
    freedom = entry_count(filled, axis, where, keepdims) - (correction if given(correction) else ddof)
    result = select(greater(freedom, 0), result, np.nan)
    return astype(result, real_dtype(dtype_of(filled)) if dtype is None else dtype)


@numpy_function
def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NoValue, correction: Any = NoValue,
) -> Any:  # fmt: skip
    """Standard deviation over axes of the entries that are not NaN; its derivative where all are equal is 0.

    Source: numpy.nanstd.
    """
    refuse_out("nanstd", out)
    variance = nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return _root(variance)


def _is_nan(x: Any) -> bool:
    value = known_value(operand(x))
    return value is not None and bool(np.any(np.isnan(value)))


def _nan_extremum(
    function: Any, worst: float, a: Any, axis: Any, out: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    a = operand(a)
    keepdims = kept(keepdims)
    filled, valid = _without_nan(a, worst)
    initial = NoValue if given(initial) and _is_nan(initial) else initial
    result = function(filled, axis, out, keepdims, initial, where)
    if valid is True or given(initial):
        return result
    none_left = logical_not(red.reduce_or(valid, axes=reduction_axes(axis, len(shape_of(a)))))
    return select(reshape(none_left, shape=shape_of(result)), np.nan, result)


@numpy_function
def nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NoValue, where: Any = True
) -> Any:
    """Largest entry over axes that is not NaN; NaN, without NumPy's warning, where there is none.

    Source: numpy.nanmax.
    """
    return _nan_extremum(max, -np.inf, a, axis, out, keepdims, initial, where)


@numpy_function
def nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NoValue, where: Any = True
) -> Any:
    """Smallest entry over axes that is not NaN; NaN, without NumPy's warning, where there is none.

    Source: numpy.nanmin.
    """
    return _nan_extremum(min, np.inf, a, axis, out, keepdims, initial, where)


@numpy_function
def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """Position of the largest entry that is not NaN (0 where all are NaN: a traced value cannot raise).

    Source: numpy.nanargmax.
    """
    return argmax(_without_nan(a, -np.inf)[0], axis, out, keepdims=keepdims)


@numpy_function
def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """Position of the smallest entry that is not NaN (0 where all are NaN: a traced value cannot raise).

    Source: numpy.nanargmin.
    """
    return argmin(_without_nan(a, np.inf)[0], axis, out, keepdims=keepdims)


@numpy_function
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running sum along an axis with NaN counted as 0.

    Source: numpy.nancumsum.
    """
    return cumsum(_without_nan(a, 0)[0], axis, dtype, out)


@numpy_function
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running product along an axis with NaN counted as 1.

    Source: numpy.nancumprod.
    """
    return cumprod(_without_nan(a, 1)[0], axis, dtype, out)


__all__ = [
    "average", "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd",
    "nansum", "nanvar", "std", "var",
]  # fmt: skip
