"""Sorting and searching: sort, argsort, lexsort, partition, searchsorted, top_k.

Sorting permutes, so its derivative is that permutation of the tangents. Equal entries are told apart by their
position (the stable order): each keeps its own derivative, and nothing is shared, since any order of equal entries
gives the same values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.gather import take, take_along_axis
from autodidax.primitives.shape import all_mapped, canonical_axis, flip, reshape


def _samples(rng):
    for shape, axis in [((4,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 2), 1), ((0,), 0), ((0, 3), 1), ((1,), 0)]:
        yield rng.normal(size=shape), dict(axis=axis)
    yield rng.normal(size=4).astype(np.float32), dict(axis=0, name="float32")
    yield rng.normal(size=4) + 1j * rng.normal(size=4), dict(axis=0, name="complex")
    yield np.array([[2.0, 1.0, 2.0], [1.0, 1.0, 0.0]]), dict(axis=1, nonsmooth=True, name="ties")
    yield np.array([3, 1, 2]), dict(axis=0, name="integers")


class Sort(Primitive):
    """Entries in ascending order along one axis, nans last: same shape and dtype."""

    def impl(self, x, *, axis):
        return np.sort(x, axis=axis)

    def abstract_eval(self, x, *, axis):
        return ShapedArray(x.shape, x.dtype)

    def jvp(self, out, primals, tangents, *, axis):
        (x,), (t,) = primals, tangents
        return take_along_axis(t, argsort_p(x, axis=axis, stable=True), axis)

    def batch(self, args, dims, *, axis):
        return sort_p(args[0], axis=axis + 1), 0

    def samples(self, rng):
        for x, given in _samples(rng):
            yield sample(x, **given)


class ArgSort(Primitive):
    """Positions of the entries in ascending order along one axis; NumPy's default order of equal entries, or the
    stable one."""

    zero_derivative = True

    def impl(self, x, *, axis, stable):
        return np.argsort(x, axis=axis, kind="stable" if stable else None)

    def abstract_eval(self, x, *, axis, stable):
        return ShapedArray(x.shape, np.dtype(np.intp))

    def batch(self, args, dims, *, axis, stable):
        return argsort_p(args[0], axis=axis + 1, stable=stable), 0

    def samples(self, rng):
        for x, given in _samples(rng):
            yield sample(x, stable=True, **given)
        yield sample(rng.integers(3, size=(2, 40)), axis=1, stable=True, name="many ties")
        yield sample(rng.normal(size=(2, 3)), axis=1, stable=False)


class LexSort(Primitive):
    """Positions in ascending order of several keys of one shape along one axis; the first key decides first."""

    zero_derivative = True

    def impl(self, *keys, axis):
        return np.lexsort(keys[::-1], axis=axis)

    def abstract_eval(self, *keys, axis):
        if any(k.shape != keys[0].shape for k in keys):
            raise errors.ShapeError(
                f"lexsort: keys of shapes {', '.join(str(k.shape) for k in keys)}", mend="give all keys one shape"
            )
        return ShapedArray(keys[0].shape, np.dtype(np.intp))

    def batch(self, args, dims, *, axis):
        return lexsort_p(*all_mapped(args, dims), axis=axis + 1), 0

    def samples(self, rng):
        yield sample(np.array([1, 0, 1, 0]), rng.normal(size=4), axis=0)
        yield sample(rng.integers(0, 2, (2, 3)), rng.normal(size=(2, 3)), axis=1)


class ArgPartition(Primitive):
    """Positions such that the entries numbered `kth` are where sorting would put them, smaller ones before them."""

    zero_derivative = True

    def impl(self, x, *, kth, axis):
        return np.argpartition(x, kth, axis=axis)

    def abstract_eval(self, x, *, kth, axis):
        n = x.shape[axis]
        if not all(-n <= k < n for k in kth):
            raise errors.OutOfBoundsError(f"argpartition: kth {kth} of {n} entries", mend=f"use {-n} to {n - 1}")
        return ShapedArray(x.shape, np.dtype(np.intp))

    def batch(self, args, dims, *, kth, axis):
        return argpartition_p(args[0], kth=kth, axis=axis + 1), 0

    def samples(self, rng):
        yield sample(rng.normal(size=7), kth=(3,), axis=0)
        yield sample(rng.normal(size=(3, 4)), kth=(1, 2), axis=1)


class SearchSorted(Primitive):
    """Where values would go in a sorted array: (*batch, n), (*batch, ...) -> (*batch, ...), integers.

    `batch_rank` leading axes of both operands belong together.
    """

    zero_derivative = True

    def impl(self, sorted_array, values, *, side, batch_rank):
        if not batch_rank:
            return np.searchsorted(sorted_array, values, side=side)
        out = np.empty(values.shape, np.intp)
        for k in np.ndindex(values.shape[:batch_rank]):
            out[k] = np.searchsorted(sorted_array[k], values[k], side=side)
        return out

    def abstract_eval(self, sorted_array, values, *, side, batch_rank):
        if sorted_array.ndim != batch_rank + 1:
            raise errors.ShapeError(
                f"searchsorted: the sorted array has shape {sorted_array.shape[batch_rank:]}",
                mend="give an array of one axis; map over others with vmap",
            )
        return ShapedArray(values.shape, np.dtype(np.intp))

    def batch(self, args, dims, *, side, batch_rank):
        if dims[0] is None and not batch_rank:
            return searchsorted_p(*args, side=side, batch_rank=0), 0
        return searchsorted_p(*all_mapped(args, dims), side=side, batch_rank=batch_rank + 1), 0

    def samples(self, rng):
        a = np.array([-1.0, 0.0, 0.0, 2.0])
        for side in ("left", "right"):
            yield sample(a, np.float64(0.0), side=side, batch_rank=0)
            yield sample(a, rng.normal(size=(2, 3)), side=side, batch_rank=0)
        yield sample(np.sort(rng.normal(size=(2, 4)), -1), rng.normal(size=(2, 3)), side="left", batch_rank=1)
        yield sample(a[:0], rng.normal(size=2), side="left", batch_rank=0, name="empty")


sort_p = Sort("sort", numpy_function=np.sort)
argsort_p = ArgSort("argsort", numpy_function=np.argsort)
lexsort_p = LexSort("lexsort")
argpartition_p = ArgPartition("argpartition", numpy_function=np.argpartition)
searchsorted_p = SearchSorted("searchsorted", numpy_function=np.searchsorted)


def _one_axis(x: Any, axis: int | None, name: str) -> tuple[Any, int]:
    """The array and a non-negative axis; flattened for None."""
    if axis is None:
        return reshape(x, shape=(math.prod(shape_of(x)),)), 0
    return x, canonical_axis(axis, len(shape_of(x)), name)


def sort(x: Any, axis: int | None = -1, *, descending: bool = False) -> Any:
    """Entries in ascending (or descending) order along an axis, or of the flattened array. Source: numpy.sort."""
    x, axis = _one_axis(x, axis, "sort")
    out = sort_p(x, axis=axis)
    return flip(out, axes=(axis,)) if descending else out


def argsort(x: Any, axis: int | None = -1, *, stable: bool = False, descending: bool = False) -> Any:
    """Positions in ascending order along an axis; the descending order keeps equal entries in order where stable.

    Source: numpy.argsort.
    """
    x, axis = _one_axis(x, axis, "argsort")
    if not descending:
        return argsort_p(x, axis=axis, stable=stable)
    backward = argsort_p(flip(x, axes=(axis,)), axis=axis, stable=stable)
    return shape_of(x)[axis] - 1 - flip(backward, axes=(axis,))


def sort_by_keys(operands: Sequence[Any], axis: int = -1, num_keys: int = 1) -> list[Any]:
    """Several arrays of one shape, all permuted along an axis so that the first `num_keys` of them are in
    lexicographic order; equal keys keep their order. Source: jax.lax.sort."""
    operands = list(operands)
    axis = canonical_axis(axis, len(shape_of(operands[0])), "sort")
    order = lexsort_p(*operands[:num_keys], axis=axis)
    return [take_along_axis(x, order, axis) for x in operands]


def argpartition(x: Any, kth: Any, axis: int | None = -1) -> Any:
    """Positions that put the entries numbered `kth` in their sorted places. Source: numpy.argpartition."""
    x, axis = _one_axis(x, axis, "argpartition")
    numbers = np.asarray(kth)
    if numbers.size and numbers.dtype.kind not in "biu":
        raise errors.DtypeError(f"partition: kth={kth!r} is no integer", mend="give the numbers of entries, from 0 on")
    if numbers.ndim > 1:
        raise errors.ShapeError(f"partition: kth has the shape {numbers.shape}", mend="give one number or a list")
    return argpartition_p(x, kth=tuple(map(int, np.atleast_1d(numbers))), axis=axis)


def partition(x: Any, kth: Any, axis: int | None = -1) -> Any:
    """Entries with those numbered `kth` in their sorted places, smaller ones before and larger ones behind them.

    The order within the parts is that of argpartition. Source: numpy.partition.
    """
    x, axis = _one_axis(x, axis, "partition")
    return take_along_axis(x, argpartition(x, kth, axis), axis)


def searchsorted(sorted_array: Any, values: Any, side: str = "left", sorter: Any = None) -> Any:
    """Positions at which values would keep a sorted array in order. Source: numpy.searchsorted."""
    if side not in ("left", "right"):
        raise errors.ArgumentError(f"searchsorted: side {side!r}", mend="use 'left' or 'right'")
    if sorter is not None:
        if dtype_of(sorter).kind not in "iu":
            raise errors.DtypeError("searchsorted: the sorter holds no integers", mend="give what argsort returns")
        if shape_of(sorter) != shape_of(sorted_array):
            raise errors.ShapeError(
                f"searchsorted: a sorter of shape {shape_of(sorter)} for an array of shape {shape_of(sorted_array)}",
                mend="give what argsort returns for the array",
            )
        sorted_array = take(sorted_array, sorter, 0)
    return searchsorted_p(sorted_array, values, side=side, batch_rank=0)


def top_k(x: Any, k: int, axis: int = -1) -> tuple[Any, Any]:
    """The k largest entries along an axis in descending order, and their positions; of equal ones the first comes
    first. Source: jax.lax.top_k."""
    axis = canonical_axis(axis, len(shape_of(x)), "top_k")
    n = shape_of(x)[axis]
    if not 0 <= k <= n:
        raise errors.ArgumentError(f"top_k: {k} of {n} entries", mend=f"take at most {n}")
    order = argsort(x, axis, stable=True, descending=True)
    order = order[(slice(None),) * axis + (slice(0, k),)]
    return take_along_axis(x, order, axis), order
