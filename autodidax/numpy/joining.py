"""Joining arrays and cutting them up: concatenate, stack, block, split and their relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy.concreteness import known_value
from autodidax.numpy.dispatch import (
    axis_of,
    check_casting,
    extended,
    holds_tracer,
    numpy_function,
    operand,
    refuse_out,
)
from autodidax.numpy.shaping import atleast_1d, atleast_2d, atleast_3d, ravel
from autodidax.primitives import rearrange
from autodidax.primitives import shape as prim
from autodidax.primitives.comparison import less, less_equal
from autodidax.primitives.convert import astype
from autodidax.primitives.elementwise import maximum, minimum
from autodidax.primitives.gather import take
from autodidax.primitives.select import where
from autodidax.primitives.sorting import sort


def _parts(arrays: Any) -> list[Any]:
    """The operands of a join: a traced array stands for its rows."""
    return [operand(a) for a in arrays]


def _cast_all(arrays: list[Any], dtype: Any, casting: str) -> list[Any]:
    if casting != "same_kind":
        check_casting(casting)
    if dtype is None:
        return arrays
    dtype = np.dtype(dtype)
    for a in arrays:
        if not np.can_cast(dtype_of(a), dtype, casting=casting):  # type: ignore[arg-type]  # any text
            raise TypeError(f"Cannot cast array data from {dtype_of(a)} to {dtype} according to the rule '{casting}'")
    return [astype(a, dtype) for a in arrays]


@numpy_function
def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """Arrays joined along an axis, or flattened first where it is None.

    Source: numpy.concatenate.
    """
    refuse_out("concatenate", out)
    parts = _parts(arrays)
    if axis is None:
        parts, axis = [ravel(a) for a in parts], 0
    elif any(not shape_of(a) for a in parts):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    return prim.concatenate(*_cast_all(parts, dtype, casting), axis=axis_of(axis, len(shape_of(parts[0]))))


concat = concatenate


@numpy_function
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """Values joined to the end of an array.

    Source: numpy.append.
    """
    return concatenate([operand(arr), operand(values)], axis=axis)


@numpy_function
def stack(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays of one shape joined along a new axis.

    Source: numpy.stack.
    """
    refuse_out("stack", out)
    parts = _cast_all(_parts(arrays), dtype, casting)
    return prim.stack(*parts, axis=axis_of(axis, len(shape_of(parts[0])) + 1))


@numpy_function
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays joined along the first axis; (n,) counts as (1, n).

    Source: numpy.vstack.
    """
    return concatenate([atleast_2d(a) for a in _parts(tup)], axis=0, dtype=dtype, casting=casting)


@numpy_function
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Arrays joined along the second axis, or along the first where they have one only.

    Source: numpy.hstack.
    """
    parts = [atleast_1d(a) for a in _parts(tup)]
    axis = 0 if len(shape_of(parts[0])) == 1 else 1
    return concatenate(parts, axis=axis, dtype=dtype, casting=casting)


@extended("dtype")
def dstack(tup: Any, *, dtype: Any = None) -> Any:
    """Arrays joined along the third axis, in any dtype that is given.

    Source: numpy.dstack, jax.numpy.dstack.
    """
    return concatenate([atleast_3d(a) for a in _parts(tup)], axis=2, dtype=dtype, casting="unsafe")


@numpy_function
def column_stack(tup: Any) -> Any:
    """Arrays joined along the second axis; (n,) counts as (n, 1).

    Source: numpy.column_stack.
    """
    columns = [a if len(shape_of(a)) > 1 else prim.reshape(a, shape=(*(shape_of(a) or (1,)), 1)) for a in _parts(tup)]
    return concatenate(columns, axis=1)


@numpy_function
def block(arrays: Any) -> Any:
    """An array assembled from nested lists of blocks: the innermost lists join along the last axis.

    Source: numpy.block.
    """

    def depth(x: Any) -> int:
        return 1 + max(map(depth, x)) if isinstance(x, list) else 0

    def leaves(x: Any) -> list[Any]:
        return [leaf for item in x for leaf in leaves(item)] if isinstance(x, list) else [operand(x)]

    levels = depth(arrays)
    rank = max(levels, *(len(shape_of(leaf)) for leaf in leaves(arrays)))

    def join(x: Any, level: int) -> Any:
        if not isinstance(x, list):
            x = operand(x)
            return prim.reshape(x, shape=(*(1,) * (rank - len(shape_of(x))), *shape_of(x)))
        return concatenate([join(item, level + 1) for item in x], axis=rank - levels + level)

    return join(arrays, 0)


@numpy_function
def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Any]:
    """Parts along an axis: a number of equal ones, or cut before the given positions.

    Source: numpy.split.
    """
    return rearrange.split(operand(ary), indices_or_sections, axis)


@numpy_function
def array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Any]:
    """Parts along an axis; the first of a number of parts may be larger by one.

    Source: numpy.array_split.
    """
    ary = operand(ary)
    if hasattr(indices_or_sections, "__len__"):
        return rearrange.split(ary, indices_or_sections, axis)
    count = int(indices_or_sections)
    if count <= 0:
        raise ValueError("number sections must be larger than 0.")
    each, larger = divmod(shape_of(ary)[axis_of(axis, len(shape_of(ary)))], count)
    return rearrange.split(ary, [k * each + min(k, larger) for k in range(1, count)], axis)


@numpy_function
def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Parts along the first axis.

    Source: numpy.vsplit.
    """
    return rearrange.split(operand(ary), indices_or_sections, 0)


@numpy_function
def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Parts along the second axis, or along the first of an array with one only.

    Source: numpy.hsplit.
    """
    ary = operand(ary)
    return rearrange.split(ary, indices_or_sections, 1 if len(shape_of(ary)) > 1 else 0)


@numpy_function
def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Parts along the third axis.

    Source: numpy.dsplit.
    """
    return rearrange.split(operand(ary), indices_or_sections, 2)


@numpy_function
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The slices along an axis, without it.

    Source: numpy.unstack.
    """
    x = operand(x)
    k = axis_of(axis, len(shape_of(x)))
    return tuple(x[rearrange.along(k, i)] for i in range(shape_of(x)[k]))


@numpy_function
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """Coordinate arrays of the grid that 1-d coordinates span.

    Source: numpy.meshgrid.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    axes = [ravel(operand(x)) for x in xi]
    rank = len(axes)
    place = [1, 0, *range(2, rank)] if indexing == "xy" and rank > 1 else list(range(rank))
    sizes = [0] * rank
    for x, k in zip(axes, place, strict=True):
        sizes[k] = shape_of(x)[0]
    out = []
    for x, k in zip(axes, place, strict=True):
        x = prim.reshape(x, shape=tuple(sizes[k] if i == k else 1 for i in range(rank)))
        out.append(x if sparse else prim.broadcast_to(x, shape=tuple(sizes)))
    return tuple(out)


@extended("assume_unique_indices")
def delete(arr: Any, obj: Any, axis: Any = None, *, assume_unique_indices: bool = False) -> Any:
    """The array without the entries at the given positions of an axis.

    Integer positions that differ from each other may be traced, with `assume_unique_indices`. Those out of bounds raise
    where they are known, else they stand for the first entry, or for one of the last.

    Source: numpy.delete, jax.numpy.delete.
    """
    arr = operand(arr)
    if axis is None:
        arr, axis = ravel(arr), 0
    k = axis_of(axis, len(shape_of(arr)))
    if holds_tracer(obj):
        obj = operand(obj)
        if not assume_unique_indices or dtype_of(obj).kind not in "iu":
            raise errors.TracerIntegerConversionError(
                "delete: the positions of the entries are traced, and the result depends on them",
                mend="give known positions; with anp.delete(..., assume_unique_indices=True) they may be traced; or "
                "keep the shape, with np.where(np.arange(n) == k, 0.0, x)",
            )
        return take(arr, _others(obj, shape_of(arr)[k]), k)
    return arr[rearrange.along(k, np.delete(np.arange(shape_of(arr)[k]), obj))]


def _others(index: Any, n: int) -> Any:
    """The positions among n that are not in an index of different ones, in order: (k,) -> (n - k,)."""
    index = astype(ravel(index), np.intp)
    known = known_value(index)
    if known is not None and np.any((known < -n) | (known >= n)):
        raise IndexError(f"delete: an index of {known} is out of bounds for {n} entries")
    count = shape_of(index)[0]
    index = sort(minimum(maximum(where(less(index, 0), index + n, index), 0), n))
    rest = np.arange(n - count)
    # the one numbered i has before it those that are deleted among the first i + 1 that stay
    passed = less_equal(prim.reshape(index - np.arange(count), shape=(count, 1)), rest)
    return rest + prim.reduce_sum(astype(passed, np.intp), axes=(0,))


__all__ = [
    "append", "array_split", "block", "column_stack", "concat", "concatenate", "delete", "dsplit", "dstack", "hsplit",
    "hstack", "meshgrid", "split", "stack", "unstack", "vsplit", "vstack",
]  # fmt: skip
