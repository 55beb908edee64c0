"""Sorting, partitions and binary search."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import shape_of
from autodidax.numpy.concreteness import known_value
from autodidax.numpy.dispatch import axes_of, extended, numpy_function, one_of, operand, refuse
from autodidax.primitives import sorting as prim
from autodidax.primitives.comparison import greater_equal
from autodidax.primitives.convert import astype
from autodidax.primitives.select import where
from autodidax.primitives.shape import flip

_KINDS = {"quicksort", "heapsort", "mergesort", "stable"}


def _check_kind(name: str, kind: Any, stable: Any, order: Any) -> None:
    refuse(name, order=order)
    if kind is not None and stable is not None:
        raise errors.ArgumentError(f"{name}: kind={kind!r} and stable={stable!r}", mend="give one of the two")
    if kind is not None and str(kind).lower() not in _KINDS:
        raise errors.ArgumentError(f"{name}: there is no kind={kind!r}", mend=f"give one of {sorted(_KINDS)}")


@extended("descending")
def sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = False
) -> Any:
    """A copy sorted along an axis, or of the flattened array; equal entries keep their order.

    The descending order is the ascending one turned round, so that NaN comes first.

    Source: numpy.sort, jax.numpy.sort.
    """
    _check_kind("sort", kind, stable, order)
    return prim.sort(operand(a), axis, descending=bool(descending))


@extended("descending", "dtype")
def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = False,
    dtype: Any = None,
) -> Any:  # fmt: skip
    """Positions that sort along an axis; piecewise constant, so their derivative is zero. In descending order NaN comes
    first, and equal entries keep their order unless `stable` is False.

    Source: numpy.argsort, jax.numpy.argsort.
    """
    _check_kind("argsort", kind, stable, order)
    stable = bool(stable) or kind in ("stable", "mergesort") or (descending and stable is None)
    found = prim.argsort(operand(a), axis, stable=stable, descending=bool(descending))
    return found if dtype is None else astype(found, np.dtype(dtype))


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


#: jax.numpy's names of ways to search, which have no effect here
_METHODS = ("default", "scan", "scan_unrolled", "sort", "compare_all")


@extended("method")
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None, *, method: Any = None) -> Any:
    """Where values would go in a sorted vector; piecewise constant, so its derivative is zero.

    Source: numpy.searchsorted, jax.numpy.searchsorted.
    """
    one_of("searchsorted", "method", method, *_METHODS)
    return prim.searchsorted(operand(a), operand(v), side, None if sorter is None else operand(sorter))


@extended("method")
def digitize(x: Any, bins: Any, right: bool = False, *, method: Any = None) -> Any:
    """The number of the bin that each entry falls into, for increasing or decreasing bin edges.

    Source: numpy.digitize, jax.numpy.digitize.
    """
    one_of("digitize", "method", method, *_METHODS)
    bins, x = operand(bins), operand(x)
    if len(shape_of(bins)) != 1:
        raise ValueError("object of too small depth for desired array" if not shape_of(bins) else "object too deep")
    n, side = shape_of(bins)[0], "left" if right else "right"
    increasing = prim.searchsorted(bins, x, side)
    known = known_value(bins)
    if n < 2 or (known is not None and np.all(known[1:] >= known[:-1])):
        return increasing
    if known is not None and not np.all(known[1:] <= known[:-1]):
        raise ValueError("bins must be monotonically increasing or decreasing")
    decreasing = n - prim.searchsorted(flip(bins, axes=(0,)), x, side)
    return decreasing if known is not None else where(greater_equal(bins[-1], bins[0]), increasing, decreasing)


__all__ = ["argpartition", "argsort", "digitize", "lexsort", "partition", "searchsorted", "sort"]
