"""Reshaping, permuting and repeating: the same entries in another arrangement."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of, get_aval, shape_of
from autodidax.numpy.dispatch import (
    axes_of,
    axis_of,
    function_for,
    numpy_function,
    operand,
    reduction_axes,
    refuse_out,
    strong,
)
from autodidax.numpy.reductions import sum as sum_of
from autodidax.primitives import rearrange
from autodidax.primitives import shape as prim
from autodidax.primitives.cumulative import cumsum
from autodidax.primitives.gather import take
from autodidax.primitives.sorting import searchsorted


def full_shape(shape: Any, size: int, old: tuple[int, ...]) -> tuple[int, ...]:
    """A shape as a tuple of integers, with -1 worked out."""
    entries = tuple(map(operator.index, shape)) if hasattr(shape, "__len__") else (operator.index(shape),)
    if -1 not in entries:
        return entries
    known = math.prod(n for n in entries if n != -1)
    if entries.count(-1) > 1 or known == 0 or size % known:
        raise errors.ShapeError(
            f"reshape: shape {old} has {size} entries, which do not fill {entries}",
            mend="leave one axis at most to be worked out (-1), and give sizes whose product divides the size",
        )
    return tuple(size // known if n == -1 else n for n in entries)


def reversed_axes(a: Any) -> Any:
    """The transpose that reverses all axes."""
    return prim.transpose(a, permutation=tuple(reversed(range(len(shape_of(a))))))


@numpy_function
def reshape(a: Any, /, shape: Any = None, order: Any = "C", *, newshape: Any = None, copy: Any = None) -> Any:
    """The same entries in another shape of the same size, read and written in C or Fortran order.

    Source: numpy.reshape.
    """
    a = operand(a)
    new = full_shape(shape if shape is not None else newshape, get_aval(a).size, shape_of(a))
    if order == "F":
        return reversed_axes(prim.reshape(reversed_axes(a), shape=new[::-1]))
    return prim.reshape(a, shape=new)


@numpy_function
def ravel(a: Any, order: Any = "C") -> Any:
    """All entries in one axis.

    Source: numpy.ravel.
    """
    return reshape(a, -1 if get_aval(operand(a)).size else 0, order)


@numpy_function
def transpose(a: Any, axes: Any = None) -> Any:
    """The axes permuted; reversed where no permutation is given.

    Source: numpy.transpose.
    """
    a = operand(a)
    rank = len(shape_of(a))
    if axes is None:
        return reversed_axes(a) if rank > 1 else strong(a)
    permutation = tuple(axis_of(k, rank) for k in (axes if hasattr(axes, "__len__") else (axes,)))
    if sorted(permutation) != list(range(rank)):
        raise ValueError("axes don't match array")
    return prim.transpose(a, permutation=permutation)


permute_dims = transpose


@numpy_function
def matrix_transpose(x: Any, /) -> Any:
    """The last two axes exchanged: (..., n, m) -> (..., m, n).

    Source: numpy.matrix_transpose.
    """
    return swapaxes(x, -1, -2)


@numpy_function
def swapaxes(a: Any, axis1: Any, axis2: Any) -> Any:
    """Two axes exchanged.

    Source: numpy.swapaxes.
    """
    a = operand(a)
    rank = len(shape_of(a))
    order = list(range(rank))
    i, j = axis_of(axis1, rank), axis_of(axis2, rank)
    order[i], order[j] = j, i
    return prim.transpose(a, permutation=tuple(order))


@numpy_function
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Axes moved to other places; the others keep their order.

    Source: numpy.moveaxis.
    """
    a = operand(a)
    rank = len(shape_of(a))
    sources = [axis_of(k, rank) for k in (source if hasattr(source, "__len__") else (source,))]
    places = [axis_of(k, rank) for k in (destination if hasattr(destination, "__len__") else (destination,))]
    if len(sources) != len(places) or len(set(sources)) != len(sources) or len(set(places)) != len(places):
        raise ValueError("moveaxis: source and destination need the same number of distinct axes")
    order = [k for k in range(rank) if k not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return prim.transpose(a, permutation=tuple(order))


@numpy_function
def rollaxis(a: Any, axis: Any, start: int = 0) -> Any:
    """One axis moved before the axis `start`.

    Source: numpy.rollaxis.
    """
    rank = len(shape_of(operand(a)))
    order = np.rollaxis(np.broadcast_to(0, tuple(range(1, rank + 1))), axis, start).shape
    return prim.transpose(operand(a), permutation=tuple(n - 1 for n in order))


@numpy_function
def squeeze(a: Any, axis: Any = None) -> Any:
    """Axes of size 1 removed: all of them, or those given.

    Source: numpy.squeeze.
    """
    a = operand(a)
    shape = shape_of(a)
    axes = reduction_axes(axis, len(shape)) if axis is not None else tuple(k for k, n in enumerate(shape) if n == 1)
    if any(shape[k] != 1 for k in axes):
        raise errors.ShapeError(
            f"squeeze: axis {axis} of an array of shape {shape} does not have size 1", mend="name axes of size 1 only"
        )
    return prim.reshape(a, shape=tuple(n for k, n in enumerate(shape) if k not in axes))


@numpy_function
def expand_dims(a: Any, axis: Any) -> Any:
    """Axes of size 1 inserted at these positions of the result.

    Source: numpy.expand_dims.
    """
    a = operand(a)
    count = len(axis) if isinstance(axis, tuple | list) else 1
    return prim.expand_dims(a, axes_of(axis, len(shape_of(a)) + count))


@numpy_function
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """Copies along new leading axes and along axes of size 1.

    Source: numpy.broadcast_to.
    """
    return prim.broadcast_to(operand(array), shape=full_shape(shape, 1, ()))


@numpy_function
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """All arrays in the shape that they broadcast to.

    Source: numpy.broadcast_arrays.
    """
    arrays = [operand(a) for a in args]
    shape = np.broadcast_shapes(*map(shape_of, arrays))
    return tuple(prim.broadcast_to(a, shape=shape) if shape_of(a) != shape else strong(a) for a in arrays)


def _at_least(rank: int, arrays: Any, widen: Any) -> Any:
    out = tuple(
        prim.reshape(a, shape=widen(shape_of(a))) if len(shape_of(a)) < rank else a for a in map(operand, arrays)
    )
    return out[0] if len(out) == 1 else out


@numpy_function
def atleast_1d(*arys: Any) -> Any:
    """Arrays of rank 1 at least.

    Source: numpy.atleast_1d.
    """
    return _at_least(1, arys, lambda shape: (1,))


@numpy_function
def atleast_2d(*arys: Any) -> Any:
    """Arrays of rank 2 at least; (n,) becomes (1, n).

    Source: numpy.atleast_2d.
    """
    return _at_least(2, arys, lambda shape: (1, *shape) if shape else (1, 1))


@numpy_function
def atleast_3d(*arys: Any) -> Any:
    """Arrays of rank 3 at least; (n,) becomes (1, n, 1) and (n, m) becomes (n, m, 1).

    Source: numpy.atleast_3d.
    """
    return _at_least(3, arys, lambda shape: (1, *shape, 1) if len(shape) == 1 else (*shape, *(1,) * (3 - len(shape))))


@numpy_function
def flip(m: Any, axis: Any = None) -> Any:
    """Reversal along axes, or along all of them.

    Source: numpy.flip.
    """
    m = operand(m)
    return prim.flip(m, axes=axes_of(axis, len(shape_of(m))))


@numpy_function
def flipud(m: Any) -> Any:
    """Reversal along the first axis.

    Source: numpy.flipud.
    """
    return flip(m, 0)


@numpy_function
def fliplr(m: Any) -> Any:
    """Reversal along the second axis.

    Source: numpy.fliplr.
    """
    return flip(m, 1)


@numpy_function
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """k quarter turns in the plane of two axes, from the first towards the second.

    Source: numpy.rot90.
    """
    m = operand(m)
    first, second = (axis_of(axis, len(shape_of(m))) for axis in axes)
    if first == second:
        raise errors.ArgumentError(f"rot90: axes={axes} are one axis", mend="name two axes")
    k %= 4
    if k == 0:
        return m
    if k == 2:
        return flip(m, (first, second))
    if k == 1:
        return swapaxes(flip(m, second), first, second)
    return flip(swapaxes(m, first, second), second)


@numpy_function
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Entries moved along axes, those that leave at one end coming back at the other.

    Source: numpy.roll.
    """
    return strong(rearrange.roll(operand(a), shift, axis))


def _plain_repeat(a: Any, repeats: Any, axis: Any = None, *, total_repeat_length: Any = None) -> Any:
    if total_repeat_length is None:
        return np.repeat(a, repeats, axis)
    return _repeated(operand(a), repeats, axis, total_repeat_length)


@function_for(_plain_repeat)
def repeat(a: Any, repeats: Any, axis: Any = None, *, total_repeat_length: Any = None) -> Any:
    """Each entry along an axis repeated, all equally often or each its own number of times.

    total_repeat_length : as in JAX, the length of the result, with which the numbers need not be known (jit, vmap): it
        is cut off there, or the last entry goes on.

    Source: numpy.repeat, jax.numpy.repeat.
    """
    a = operand(a)
    if total_repeat_length is not None:
        return _repeated(a, repeats, axis, total_repeat_length)
    if np.any(np.asarray(repeats) < 0):
        raise errors.ShapeError(f"repeat: repeats={repeats}", mend="give counts that are not negative")
    return rearrange.repeat(a if shape_of(a) else prim.reshape(a, shape=(1,)), repeats, axis)


def _repeated(a: Any, repeats: Any, axis: Any, length: Any) -> Any:
    """`repeat` to a length that is given."""
    if axis is None:
        a, axis = ravel(a), 0
    axis = axis_of(axis, len(shape_of(a)))
    n = shape_of(a)[axis]
    if not n:
        raise errors.ShapeError(
            f"repeat: no entry along axis {axis} of shape {shape_of(a)}", mend="leave total_repeat_length= away"
        )
    counts = prim.broadcast_to(operand(repeats), shape=(n,))
    ends = cumsum(counts, axis=0, reverse=False)
    index = searchsorted(ends, np.arange(operator.index(length)), "right")
    return take(a, index, axis, "clip")


@numpy_function
def tile(A: Any, reps: Any) -> Any:
    """The array set side by side with itself along each axis.

    Source: numpy.tile.
    """
    return strong(rearrange.tile(operand(A), reps))


@numpy_function
def resize(a: Any, new_shape: Any) -> Any:
    """An array of another size, filled with copies of the entries in C order.

    Source: numpy.resize.
    """
    a = ravel(a)
    shape = tuple(map(operator.index, new_shape if hasattr(new_shape, "__len__") else (new_shape,)))
    if any(n < 0 for n in shape):
        raise errors.ShapeError(f"resize: new_shape {shape} has a negative size", mend="give sizes of 0 or more")
    if shape_of(a)[0] == 0:
        return np.zeros(shape, dtype_of(a))
    return prim.reshape(a[np.arange(math.prod(shape)) % shape_of(a)[0]], shape=shape)


@numpy_function
def diag(v: Any, k: int = 0) -> Any:
    """The k-th diagonal of a matrix, (n, m) -> (d,), or the matrix with this diagonal, (n,) -> (n + |k|, n + |k|).

    Source: numpy.diag.
    """
    v = operand(v)
    if len(shape_of(v)) not in (1, 2):
        raise errors.ShapeError(
            f"diag: shape {shape_of(v)} is neither that of a vector nor of a matrix", mend="use diagonal for stacks"
        )
    return rearrange.diag(v, k)


@numpy_function
def diagflat(v: Any, k: int = 0) -> Any:
    """The matrix whose k-th diagonal holds all entries of an array.

    Source: numpy.diagflat.
    """
    return rearrange.diag(ravel(v), k)


@numpy_function
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Diagonals of the planes of two axes, as a new last axis.

    Source: numpy.diagonal.
    """
    a = operand(a)
    if len(shape_of(a)) < 2:
        raise errors.ShapeError(
            f"a diagonal of an array of shape {shape_of(a)}, which has fewer than two axes",
            mend="give a matrix: anp.diag(v) is the one with the diagonal v, and v.sum() its trace",
        )
    return rearrange.diagonal(a, offset, axis1, axis2)


@numpy_function
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """Sum of a diagonal: (..., n, m) -> (...).

    Source: numpy.trace.
    """
    refuse_out("trace", out)
    return sum_of(diagonal(a, offset, axis1, axis2), -1, dtype)


@numpy_function
def tril(m: Any, k: int = 0) -> Any:
    """The entries on and below the k-th diagonal, zeros above.

    Source: numpy.tril.
    """
    return rearrange.tril(operand(m), k)


@numpy_function
def triu(m: Any, k: int = 0) -> Any:
    """The entries on and above the k-th diagonal, zeros below.

    Source: numpy.triu.
    """
    return rearrange.triu(operand(m), k)


__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to", "diag", "diagflat", "diagonal",
    "expand_dims", "flip", "fliplr", "flipud", "matrix_transpose", "moveaxis", "permute_dims", "ravel",
    "repeat", "reshape", "resize", "roll", "rollaxis", "rot90", "squeeze", "swapaxes", "tile", "trace",
    "transpose", "tril", "triu",
]  # fmt: skip
