"""Rearranging entries: diagonals, triangles, roll, tile, repeat, split, and padding in NumPy's modes."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.core.primitive import sample
from autodidax.primitives.convert import convert_element_type
from autodidax.primitives.indexing import getitem
from autodidax.primitives.select import where
from autodidax.primitives.shape import (
    Structural,
    broadcast_to,
    canonical_axes,
    canonical_axis,
    concatenate,
    expand_dims,
    moveaxis,
    pad,
    reshape,
)


class Diagonal(Structural):
    """The diagonal of the last two axes, `offset` above the main one: (..., n, m) -> (..., k)."""

    def impl(self, x, *, offset):
        return np.diagonal(x, offset, -2, -1)

    def abstract_eval(self, x, *, offset):
        n, m = x.shape[-2:]
        return ShapedArray((*x.shape[:-2], diagonal_size(n, m, offset)), x.dtype)

    def transpose(self, ct, x, *, offset):
        return [diagonal_embed_p(ct, offset=offset, shape=x.shape[-2:])]

    def batch(self, args, dims, *, offset):
        return diagonal_p(*args, offset=offset), 0

    def samples(self, rng):
        for shape, offset in [((3, 3), 0), ((2, 3, 4), 1), ((4, 2), -2), ((2, 3), 7), ((0, 3), 0)]:
            yield sample(rng.normal(size=shape), offset=offset)
        yield sample(rng.normal(size=(2, 2)).astype(np.float32), offset=0)
        yield sample(rng.normal(size=(2, 2)) + 1j, offset=0)


class DiagonalEmbed(Structural):
    """Zeros of shape (n, m) with a diagonal, `offset` above the main one, in the last two axes: (..., k) ->
    (..., n, m)."""

    def impl(self, x, *, offset, shape):
        out = np.zeros((*x.shape[:-1], *shape), x.dtype)
        k = np.arange(x.shape[-1])
        out[..., k + max(-offset, 0), k + max(offset, 0)] = x
        return out

    def abstract_eval(self, x, *, offset, shape):
        *batch, k = x.shape
        if k != diagonal_size(shape[0], shape[1], offset):
            raise errors.ShapeError(
                f"diagonal_embed: {k} entries for the diagonal {offset} of a matrix of shape {shape}",
                mend="give as many entries as the diagonal has",
            )
        return ShapedArray((*batch, *shape), x.dtype)

    def transpose(self, ct, x, *, offset, shape):
        return [diagonal_p(ct, offset=offset)]

    def batch(self, args, dims, *, offset, shape):
        return diagonal_embed_p(*args, offset=offset, shape=shape), 0

    def samples(self, rng):
        for size, offset, shape in [((3,), 0, (3, 3)), ((2, 3), 1, (3, 4)), ((2,), -2, (4, 2)), ((0,), 0, (0, 3))]:
            yield sample(rng.normal(size=size), offset=offset, shape=shape)
        yield sample(rng.normal(size=2).astype(np.float32), offset=0, shape=(2, 2))
        yield sample(rng.normal(size=2) + 1j, offset=0, shape=(2, 2))


diagonal_p = Diagonal("diagonal")
diagonal_embed_p = DiagonalEmbed("diagonal_embed")


def diagonal_size(n: int, m: int, offset: int) -> int:
    """How many entries the diagonal `offset` of an (n, m) matrix has."""
    return max(min(n + min(offset, 0), m - max(offset, 0)), 0)


def along(axis: int, item: Any) -> tuple[Any, ...]:
    """The index that applies `item` to one axis."""
    return (*(slice(None),) * axis, item)


def split(x: Any, sections: Any, axis: int = 0) -> list[Any]:
    """Parts along an axis: `sections` equal ones, or cut before the given positions. Source: numpy.split."""
    axis = canonical_axis(axis, len(shape_of(x)), "split")
    n = shape_of(x)[axis]
    if isinstance(sections, int | np.integer):
        if n % sections:
            raise errors.ShapeError(
                f"split: axis {axis} of size {n} does not divide into {sections} equal parts",
                mend="use array_split, or give the positions to cut at",
            )
        cuts = [n // sections * k for k in range(1, int(sections))]
    else:
        cuts = [operator.index(k) for k in sections]
    return [x[along(axis, slice(a, b))] for a, b in zip([0, *cuts], [*cuts, n], strict=True)]


def roll(x: Any, shift: Any, axis: Any = None) -> Any:
    """Entries moved along axes, those pushed out coming in at the other end; a shift may be a traced integer.

    Source: numpy.roll.
    """
    shape = shape_of(x)
    if axis is None:
        return reshape(roll(reshape(x, shape=(math.prod(shape),)), shift, 0), shape=shape)
    axes = tuple(axis) if isinstance(axis, tuple | list) else (axis,)
    shifts = list(shift) if isinstance(shift, tuple | list | np.ndarray) and np.shape(shift) else [shift]
    axes, shifts = axes * (len(shifts) if len(axes) == 1 else 1), shifts * (len(axes) if len(shifts) == 1 else 1)
    for s, k in zip(shifts, axes, strict=True):
        k = canonical_axis(k, len(shape), "roll")
        n = shape[k]
        if isinstance(s, Tracer):
            positions: Any = np.arange(n)
            x = getitem(x, along(k, (positions - s) % n)) if n else x
        elif n and s % n:
            x = concatenate(x[along(k, slice(n - s % n, n))], x[along(k, slice(0, n - s % n))], axis=k)
    return x


def tile(x: Any, reps: Any) -> Any:
    """x repeated as a whole along each axis. Source: numpy.tile."""
    reps = tuple(operator.index(r) for r in (reps if isinstance(reps, tuple | list | np.ndarray) else (reps,)))
    shape = shape_of(x)
    reps = (*(1,) * (len(shape) - len(reps)), *reps)
    shape = (*(1,) * (len(reps) - len(shape)), *shape)
    apart = tuple(k for n in shape for k in (1, n))
    copies = tuple(k for r, n in zip(reps, shape, strict=True) for k in (r, n))
    whole = tuple(r * n for r, n in zip(reps, shape, strict=True))
    return reshape(broadcast_to(reshape(x, shape=apart), shape=copies), shape=whole)


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each entry repeated, along an axis or of the flattened array; `repeats` is static. Source: numpy.repeat."""
    shape = shape_of(x)
    if axis is None:
        x, shape, axis = reshape(x, shape=(math.prod(shape),)), (math.prod(shape),), 0
    axis = canonical_axis(axis, len(shape), "repeat")
    if np.size(repeats) == 1:
        r = int(np.reshape(repeats, ()))
        copies = broadcast_to(expand_dims(x, (axis + 1,)), shape=(*shape[: axis + 1], r, *shape[axis + 1 :]))
        return reshape(copies, shape=(*shape[:axis], shape[axis] * r, *shape[axis + 1 :]))
    return x[along(axis, np.repeat(np.arange(shape[axis]), repeats))]


def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal of two axes, as the last axis of the result. Source: numpy.diagonal."""
    ndim = len(shape_of(x))
    axes = canonical_axes((axis1, axis2), ndim, "diagonal")
    return diagonal_p(moveaxis(x, axes, (ndim - 2, ndim - 1)), offset=operator.index(offset))


def diagonal_embed(x: Any, offset: int = 0) -> Any:
    """Square matrices with x on a diagonal: (..., k) -> (..., n, n), with n = k + |offset|."""
    n = shape_of(x)[-1] + abs(offset)
    return diagonal_embed_p(x, offset=int(offset), shape=(n, n))


def diag(x: Any, offset: int = 0) -> Any:
    """The diagonal of a matrix, or the matrix with a given diagonal. Source: numpy.diag."""
    ndim = len(shape_of(x))
    if ndim not in (1, 2):
        raise errors.ShapeError(
            f"diag: an array of {errors.counted(ndim, 'axis')}", mend="give one axis (to embed) or two (to extract)"
        )
    return diagonal_embed(x, offset) if ndim == 1 else diagonal(x, offset)


def tril(x: Any, k: int = 0) -> Any:
    """The lower triangle of the last two axes, zeros above diagonal k; x[None] for one axis. Source: numpy.tril."""
    n, m = _matrix_shape(x)
    return where(np.tri(n, m, k, dtype=bool), x, dtype_of(x).type(0))


def triu(x: Any, k: int = 0) -> Any:
    """The upper triangle of the last two axes, zeros below diagonal k. Source: numpy.triu."""
    n, m = _matrix_shape(x)
    return where(np.tri(n, m, k - 1, dtype=bool), dtype_of(x).type(0), x)


def _matrix_shape(x: Any) -> tuple[int, int]:
    shape = shape_of(x)
    if not shape:
        raise errors.ShapeError("a triangle of an array with no axis", mend="give an array with at least one axis")
    return (shape[-2] if len(shape) > 1 else shape[-1]), shape[-1]


def pad_widths(width: Any, ndim: int) -> tuple[tuple[int, int], ...]:
    """What numpy.pad takes as pad_width, as ((before, after), ...)."""
    if isinstance(width, dict):
        given = {canonical_axis(k, ndim, "pad"): v for k, v in width.items()}
        width = [given.get(k, (0, 0)) for k in range(ndim)]
        width = [(v, v) if np.ndim(v) == 0 else v for v in width]
    width = np.asarray(width)
    if width.dtype.kind not in "iu" and width.size:
        raise errors.DtypeError(f"pad: pad_width has the dtype {width.dtype}", mend="give whole numbers of entries")
    return tuple((int(a), int(b)) for a, b in np.broadcast_to(width, (ndim, 2)))


def pad_constant(x: Any, widths: tuple[tuple[int, int], ...], value: Any = 0) -> Any:
    """x with a constant around it: one value, or ((before, after), ...) an axis; values may be traced.

    As in NumPy the value is cast to the dtype of x, and a later axis decides about the corners.
    """
    if not isinstance(value, Tracer) and not np.any(value):
        return pad(x, widths=widths)
    for k, (width, values) in enumerate(zip(widths, _pairs(value, len(widths)), strict=True)):
        parts = [x]
        for n, v, at in zip(width, values, (0, len(parts)), strict=True):
            if n:
                block = broadcast_to(_cast_like(v, x), shape=(*shape_of(x)[:k], n, *shape_of(x)[k + 1 :]))
                parts.insert(at if at == 0 else len(parts), block)
        x = concatenate(*parts, axis=k) if len(parts) > 1 else x
    return x


def _pairs(value: Any, ndim: int) -> list[tuple[Any, Any]]:
    """Values before and after along each axis."""
    if isinstance(value, Tracer) and value.ndim == 0:
        return [(value, value)] * ndim
    if isinstance(value, Tracer):
        table = broadcast_to(value, shape=(ndim, 2))
        return [(table[k, 0], table[k, 1]) for k in range(ndim)]
    return [(a, b) for a, b in np.broadcast_to(np.asarray(value), (ndim, 2))]


def _cast_like(v: Any, x: Any) -> Any:
    return convert_element_type(v, dtype=dtype_of(x)) if dtype_of(v) != dtype_of(x) else v


def pad_copied(x: Any, widths: tuple[tuple[int, int], ...], mode: str) -> Any:
    """x with copies of its own entries around it: mode "edge", "reflect", "symmetric" or "wrap", as numpy.pad's."""
    for k, (n, width) in enumerate(zip(shape_of(x), widths, strict=True)):
        if width != (0, 0):
            x = x[along(k, np.pad(np.arange(n), width, mode=mode))]  # type: ignore[call-overload]  # one of four names
    return x
