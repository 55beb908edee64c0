"""Sorting, partitions and binary search."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, shape_of
from autodidax.numpy.dispatch import axes_of, numpy_function, operand, refuse
from autodidax.primitives import sorting as prim

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
    return prim.searchsorted(operand(a), operand(v), side, None if sorter is None else operand(sorter))


@numpy_function
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The number of the bin that each entry falls into, for increasing bin edges.

    Source: numpy.digitize.
    """
    bins = operand(bins)
    if not isinstance(bins, Tracer) and np.any(np.diff(bins) < 0):
        raise errors.UnsupportedError(
            "digitize: decreasing bins are not supported on traced values", mend="reverse them: len(bins) - result"
        )
    return prim.searchsorted(bins, operand(x), "left" if right else "right")


__all__ = ["argpartition", "argsort", "digitize", "lexsort", "partition", "searchsorted", "sort"]
