"""Sorting, order statistics and binary search."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.numpy.dispatch import axes_of, given, numpy_function, operand, refuse, refuse_out
from autodidax.numpy.statistics import isnan_mask
from autodidax.primitives import sorting as prim
from autodidax.primitives.convert import astype
from autodidax.primitives.select import where as select
from autodidax.primitives.shape import concatenate, expand_dims, reshape, transpose

_KINDS = {"quicksort", "heapsort", "mergesort", "stable"}


def _check_kind(name: str, kind: Any, stable: Any, order: Any) -> None:
    refuse(name, order=order)
    if kind is not None and stable is not None:
        raise errors.ArgumentError(f"{name}: kind={kind!r} and stable={stable!r}", mend="give one of the two")
    if kind is not None and str(kind).lower() not in _KINDS:
        raise errors.ArgumentError(f"{name}: there is no kind={kind!r}", mend=f"give one of {sorted(_KINDS)}")


@numpy_function
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """A copy sorted along an axis, or of the flattened array; equal entries keep their order.

    Source: numpy.sort.
    """
    _check_kind("sort", kind, stable, order)
    return prim.sort(operand(a), axis)


@numpy_function
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """Positions that sort along an axis; piecewise constant, so their derivative is zero.

    Source: numpy.argsort.
    """
    _check_kind("argsort", kind, stable, order)
    return prim.argsort(operand(a), axis, stable=bool(stable) or kind in ("stable", "mergesort"))


@numpy_function
def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    """A copy with the entries numbered `kth` in their sorted places, smaller ones before and larger ones behind them.

    Source: numpy.partition.
    """
    refuse("partition", order=order)
    return prim.partition(operand(a), kth, axis)


@numpy_function
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    """Positions that partition along an axis; piecewise constant, so their derivative is zero.

    Source: numpy.argpartition.
    """
    refuse("argpartition", order=order)
    return prim.argpartition(operand(a), kth, axis)


@numpy_function
def lexsort(keys: Any, axis: Any = -1) -> Any:
    """Positions that sort by several keys, the last one first; piecewise constant, so their derivative is zero.

    Source: numpy.lexsort.
    """
    rows = [operand(k) for k in keys]
    return prim.lexsort_p(*reversed(rows), axis=axes_of(axis, len(shape_of(rows[0])))[0])


@numpy_function
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Where values would go in a sorted vector; piecewise constant, so its derivative is zero.

    Source: numpy.searchsorted.
    """
    return prim.searchsorted(operand(a), operand(v), side, sorter)


@numpy_function
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The number of the bin that each entry falls into, for increasing bin edges.

    Source: numpy.digitize.
    """
    if not isinstance(bins, Tracer) and np.any(np.diff(bins) < 0):
        raise errors.UnsupportedError(
            "digitize: decreasing bins are not supported on traced values", mend="reverse them: len(bins) - result"
        )
    return prim.searchsorted(operand(bins), operand(x), "left" if right else "right")


def _lines(a: Any, axis: Any) -> tuple[Any, tuple[int, ...]]:
    """The entries that a reduction over axes meets in one last axis, sorted; and the axes."""
    shape = shape_of(a)
    axes = axes_of(axis, len(shape))
    kept = tuple(k for k in range(len(shape)) if k not in axes)
    a = transpose(a, permutation=(*kept, *axes))
    n = int(np.prod([shape[k] for k in axes]))
    a = reshape(a, shape=(*(shape[k] for k in kept), n))
    return prim.sort(a, len(kept)), axes


def _nan_where_any(result: Any, lines: Any) -> Any:
    """NaN where a line holds one: it is sorted to the end."""
    nan = isnan_mask(lines[..., -1])
    return result if nan is None else select(nan, dtype_of(result).type(np.nan), result)


@numpy_function
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    """Middle entry over axes, or the mean of the two in the middle; NaN where there is one.

    Source: numpy.median.
    """
    refuse_out("median", out)
    lines, axes = _lines(operand(a), axis)
    n = shape_of(lines)[-1]
    if n == 0:
        raise errors.ShapeError("median of no entries", mend="give axes that hold an entry at least")
    wide = {"f2": np.float32}.get(dtype_of(lines).str[1:], np.float64 if dtype_of(lines).kind in "iub" else None)
    low, high = lines[..., (n - 1) // 2], lines[..., n // 2]
    if wide is not None:  # the sum of two small integers may be none
        low, high = astype(low, wide), astype(high, wide)
    middle = high if n % 2 else (low + high) / 2.0
    middle = astype(middle, np.float16) if dtype_of(lines) == np.float16 else middle
    middle = _nan_where_any(middle, lines)
    return expand_dims(middle, axes) if given(keepdims) and keepdims else middle


@numpy_function
def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Quantiles over axes, interpolated linearly between neighbours; q is plain, and its axes come first.

    Source: numpy.quantile.
    """
    refuse_out("quantile", out)
    refuse("quantile", weights=weights, method=None if method == "linear" else method)
    if isinstance(q, Tracer):
        raise errors.UnsupportedError("quantile of a traced q", mend="give plain numbers between 0 and 1 for q")
    levels = np.asarray(q, float)
    if np.any((levels < 0) | (levels > 1)):
        raise ValueError("Quantiles must be in the range [0, 1]")
    lines, axes = _lines(operand(a), axis)
    # a Python number yields to the dtype of the entries, an array of levels keeps its own
    kind = np.asarray(q).dtype
    as_share: Any = float if type(q) in (int, float) else kind.type if kind.kind == "f" else np.float64
    found = [_interpolated(lines, float(level), as_share) for level in levels.ravel()]
    if given(keepdims) and keepdims:
        found = [expand_dims(x, axes) for x in found]
    if levels.ndim == 0:
        return found[0]
    from_first = [reshape(x, shape=(1, *shape_of(x))) for x in found]
    joined = concatenate(*from_first, axis=0)
    return reshape(joined, shape=(*levels.shape, *shape_of(found[0])))


def _interpolated(lines: Any, level: float, as_share: Any) -> Any:
    position = level * (shape_of(lines)[-1] - 1)
    below = int(np.floor(position))
    above = min(below + 1, shape_of(lines)[-1] - 1)
    share = as_share(position - below)
    low, high = lines[..., below], lines[..., above]
    value = low + (high - low) * share if share < 0.5 else high - (high - low) * (1.0 - share)
    return _nan_where_any(value if dtype_of(value).kind in "fc" else astype(value, np.float64), lines)


@numpy_function
def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Quantiles at q percent: see `quantile`.

    Source: numpy.percentile.
    """
    if isinstance(q, Tracer):
        raise errors.UnsupportedError("percentile of a traced q", mend="give plain numbers between 0 and 100 for q")
    q = q / 100 if type(q) in (int, float) else np.true_divide(q, 100)
    return quantile(a, q, axis, out, overwrite_input, method, keepdims, weights=weights)


__all__ = [
    "argpartition", "argsort", "digitize", "lexsort", "median", "partition", "percentile", "quantile", "searchsorted",
    "sort",
]  # fmt: skip
