"""Reading parts of arrays by functions over getitem: modes for indices out of bounds, take, dynamic slices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import Masked, ShapedArray
from autodidax.core.interpreters import Tracer, bind, dtype_of, shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.comparison import greater, greater_equal, less, logical_and
from autodidax.primitives.convert import astype
from autodidax.primitives.indexing import (
    Layout,
    Slot,
    Template,
    canonical_index,
    getitem_p,
    layout,
    scatter_set,
)
from autodidax.primitives.select import where
from autodidax.primitives.shape import broadcast_to, canonical_axis, expand_dims, reshape

Shape = tuple[int, ...]

#: names of what happens to an index out of bounds; None raises, as "promise_in_bounds" does
MODES = (None, "promise_in_bounds", "clip", "fill", "drop", "wrap")


def check_mode(mode: Any) -> Any:
    """A mode by its name or the name of an enumeration's member (as in jax.lax.GatherScatterMode)."""
    name = mode.lower() if isinstance(mode, str) else getattr(mode, "name", mode)
    name = name.lower() if isinstance(name, str) else name
    name = {"fill_or_drop": "fill", "raise": None}.get(name, name)
    if name not in MODES:
        raise errors.ArgumentError(
            f"mode {mode!r} for an index out of bounds", mend=f"use one of {', '.join(map(repr, MODES))}"
        )
    return name


class Indexed:
    """An index for an array of a given shape, with the advanced items that may lie out of bounds."""

    __slots__ = ("x_shape", "template", "arrays", "form")

    def __init__(self, x_shape: Shape, index: Any):
        self.x_shape = x_shape
        self.template, self.arrays = canonical_index(x_shape, index, bounds=False)
        self.form: Layout = layout(x_shape, self.template, [shape_of(a) for a in self.arrays], bounds=False)

    def moved(self, change: Any) -> tuple[Template, list[Any]]:
        """Template and arrays with change(index, size of its axis) in the place of every integer and array."""
        template, arrays = list(self.template), list(self.arrays)
        for position, (item, axis) in enumerate(zip(self.template, self.form.axes, strict=True)):
            if axis is None or type(item) is slice:
                continue
            n = self.x_shape[axis]
            if type(item) is Slot:
                arrays[item.k] = change(arrays[item.k], n)
            else:
                template[position] = int(change(np.int64(item), n))
        return tuple(template), arrays

    def inside(self) -> Any:
        """Which entries of the advanced indices are in bounds (broadcast over the result), or True where all are."""
        valid: Any = True
        for item, axis in zip(self.template, self.form.axes, strict=True):
            if axis is None or type(item) is slice:
                continue
            n = self.x_shape[axis]
            i = wrapped(self.arrays[item.k] if type(item) is Slot else np.int64(item), n)
            ok = logical_and(greater_equal(i, 0), less(i, n))
            if isinstance(ok, Tracer) or not np.all(ok):
                valid = ok if valid is True else logical_and(valid, ok)
        if valid is True or not shape_of(valid):
            return valid
        behind = len(self.form.shape) - self.form.place - len(self.form.advanced)
        return reshape(valid, shape=(*shape_of(valid), *(1,) * behind))


def signed(i: Any) -> Any:
    """An index array as int64, in which sums with sizes do not overflow."""
    return i if dtype_of(i) == np.int64 else astype(i, np.int64)


def wrapped(i: Any, n: int) -> Any:
    """Negative indices counted from the end, once."""
    i = signed(i)
    return where(less(i, 0), i + n, i)


def clipped(i: Any, n: int) -> Any:
    """Indices brought into 0, ..., n - 1 by taking the nearest."""
    i = signed(i)
    return where(less(i, 0), 0, where(greater(i, n - 1), n - 1, i))


def getitem_mode(x: Any, index: Any, mode: Any = None, fill_value: Any = None) -> Any:
    """x[index] with a choice for indices out of bounds.

    mode : None and "promise_in_bounds" raise an IndexError; "clip" takes the nearest entry; "fill" (also called
        "drop") gives `fill_value`, by default nan for inexact dtypes, the least value for signed integers, the
        largest for unsigned ones, and True for booleans; "wrap" counts modulo the size.

    Source: jax.numpy.ndarray.at, whose default is "fill".
    """
    mode = check_mode(mode)
    shape = shape_of(x)
    if mode is None or mode == "promise_in_bounds":
        template, arrays = canonical_index(shape, index)
        return bind(getitem_p, x, *arrays, index=template)
    indexed = Indexed(shape, index)
    if mode == "wrap":
        template, arrays = indexed.moved(lambda i, n: signed(i) % n)
        return bind(getitem_p, x, *arrays, index=template)
    valid = True if mode == "clip" else indexed.inside()
    fill_dtype = dtype_of(x)
    if valid is not True and any(indexed.x_shape[k] == 0 for k in _indexed_axes(indexed)):
        return broadcast_to(_fill_value(fill_dtype, fill_value), shape=indexed.form.shape)
    template, arrays = indexed.moved(lambda i, n: clipped(wrapped(i, n), n))
    out = bind(getitem_p, x, *arrays, index=template)
    return out if valid is True else where(valid, out, _fill_value(fill_dtype, fill_value))


def _indexed_axes(indexed: Indexed) -> list[int]:
    return [
        k
        for item, k in zip(indexed.template, indexed.form.axes, strict=True)
        if k is not None and type(item) is not slice
    ]


def _fill_value(dtype: np.dtype, given: Any) -> Any:
    if given is not None:
        return astype(given, dtype) if isinstance(given, Tracer) else np.asarray(given).astype(dtype)[()]
    if dtype.kind in "fc":
        return dtype.type(np.nan)
    if dtype.kind == "b":
        return np.True_
    return dtype.type(np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max)


def take(x: Any, indices: Any, axis: int | None = None, mode: Any = "raise", fill_value: Any = None) -> Any:
    """Entries of x at `indices` along one axis, or of the flattened x: (..., n, ...) -> (..., *indices.shape, ...).

    mode : "raise" an IndexError out of bounds, "wrap" modulo the size, "clip" to the nearest (negative ones to 0),
        or "fill" with `fill_value` (as `getitem_mode`).

    Source: numpy.take; the mode "fill" is that of jax.numpy.take.
    """
    if axis is None:
        x, axis = reshape(x, shape=(math.prod(shape_of(x)),)), 0
    axis = canonical_axis(axis, len(shape_of(x)), "take")
    if not isinstance(indices, Tracer):
        indices = np.asarray(indices)
        if indices.size == 0:
            indices = indices.astype(np.intp)
    n = shape_of(x)[axis]
    name = check_mode(mode)
    if name == "clip":
        indices, name = clipped(indices, n), None
    return getitem_mode(x, (*(slice(None),) * axis, indices), name, fill_value)


def along_axis_index(x_shape: Shape, indices: Any, axis: int) -> tuple[Any, ...]:
    """The index that stands for `indices` along one axis and for each position itself along the others."""
    own = shape_of(indices)
    if len(own) != len(x_shape):
        raise errors.ShapeError(
            f"indices of shape {own} along axis {axis} of an array of shape {x_shape}",
            mend="give the indices as many axes as the array has",
        )
    ndim = len(own)
    return tuple(
        indices if k == axis else np.arange(n).reshape((-1, *(1,) * (ndim - 1 - k))) for k, n in enumerate(x_shape)
    )


def take_along_axis(x: Any, indices: Any, axis: int | None = -1, mode: Any = None, fill_value: Any = None) -> Any:
    """Entries of x at positions along one axis that differ from line to line, as argsort gives them.

    Source: numpy.take_along_axis.
    """
    if axis is None:
        x, axis = reshape(x, shape=(math.prod(shape_of(x)),)), 0
    axis = canonical_axis(axis, len(shape_of(x)), "take_along_axis")
    return getitem_mode(x, along_axis_index(shape_of(x), indices, axis), mode, fill_value)


def put_along_axis(x: Any, indices: Any, values: Any, axis: int | None) -> Any:
    """x with values at positions along one axis that differ from line to line; returns the changed copy.

    Source: numpy.put_along_axis, which writes in place.
    """
    shape = shape_of(x)
    if axis is None:
        flat = put_along_axis(reshape(x, shape=(math.prod(shape),)), indices, values, 0)
        return reshape(flat, shape=shape)
    axis = canonical_axis(axis, len(shape), "put_along_axis")
    template, arrays = canonical_index(shape, along_axis_index(shape, indices, axis))
    part = layout(shape, template, [shape_of(a) for a in arrays]).shape
    values = broadcast_to(astype(values, dtype_of(x)), shape=part)
    return scatter_set(x, values, *arrays, index=template)


# Slices of static size at traced starts


def _clamped(start: Any, size: int, n: int) -> int:
    return max(0, min(int(start), n - size))


def _window_samples(rng):
    x = rng.normal(size=(3, 4))
    yield x, (rng.integers(2), rng.integers(3)), (2, 2), "inside"
    yield rng.normal(size=(2, 3, 4)), (np.int64(0), rng.integers(2), rng.integers(3)), (1, 2, 2), "three axes"
    yield x, (np.int64(-5), np.int64(3)), (2, 3), "clamped"
    yield x, (np.int32(1), np.int32(0)), (0, 4), "empty"
    yield x, (np.int64(0), np.int64(0)), (3, 4), "whole"
    yield np.float64(2.0), (), (), "0-d"
    yield x.astype(np.float32), (np.int64(1), np.int64(1)), (1, 3), "float32"
    yield x + 1j, (np.int64(2), np.int64(1)), (1, 2), "complex"


def _window_index(
    starts: Sequence[Any], sizes: Shape, shape: Shape, size: int, rows: bool
) -> tuple[Template, list[Any]]:
    """Index of one window a batch entry: starts of shape (batch,) or (), windows of shape `sizes`."""
    arrays: list[Any] = []
    rank = len(sizes)
    for k, (start, width, n) in enumerate(zip(starts, sizes, shape, strict=True)):
        first = where(less(start, 0), 0, where(greater(start, n - width), n - width, start))
        first = expand_dims(first, tuple(range(-rank, 0))) if shape_of(first) else first
        arrays.append(signed(first) + np.arange(width).reshape((-1, *(1,) * (rank - 1 - k))))
    if rows:
        arrays.insert(0, np.arange(size).reshape((-1, *(1,) * rank)))
    return tuple(Slot(k) for k in range(len(arrays))), arrays


class DynamicSlice(Primitive):
    """A window of static sizes at given starts, moved inside where it would reach out of x.

    Source: jax.lax.dynamic_slice.
    """

    linear_in = (0,)
    structural = True

    def impl(self, x, *starts, sizes):
        x = x if type(x) is np.ndarray else np.asarray(x)
        return x[tuple(slice(s := _clamped(i, w, n), s + w) for i, w, n in zip(starts, sizes, x.shape, strict=True))]

    def abstract_eval(self, x, *starts, sizes):
        _check_window("dynamic_slice", x.shape, starts, sizes)
        return ShapedArray(sizes, x.dtype)

    def transpose(self, ct, x, *starts, sizes):
        zeros = np.zeros(x.shape, dtype_of(ct))[()]
        return [dynamic_update_slice_p(zeros, ct, *starts), *[None] * len(starts)]

    def batch(self, args, dims, *, sizes):
        (x, *starts), (dx, *start_dims) = args, dims
        if all(d is None for d in start_dims):
            return dynamic_slice_p(x, 0, *starts, sizes=(shape_of(x)[0], *sizes)), 0
        size = next(shape_of(a)[0] for a, d in zip(starts, start_dims, strict=True) if d is not None)
        template, arrays = _window_index(starts, sizes, shape_of(x)[dx is not None :], size, dx is not None)
        return getitem_p(x, *arrays, index=template), 0

    def samples(self, rng):
        for x, starts, sizes, name in _window_samples(rng):
            yield sample(x, *starts, sizes=sizes, name=name)


class DynamicUpdateSlice(Primitive):
    """x with a window replaced by an update, at given starts, moved inside where it would reach out of x.

    Source: jax.lax.dynamic_update_slice.
    """

    linear_in = (0, 1)
    structural = True

    def impl(self, x, update, *starts):
        out = np.array(x, order="C")
        sizes = np.shape(update)
        out[tuple(slice(s := _clamped(i, w, n), s + w) for i, w, n in zip(starts, sizes, out.shape, strict=True))] = (
            update
        )
        return out if out.ndim else out[()]

    def abstract_eval(self, x, update, *starts):
        _check_window("dynamic_update_slice", x.shape, starts, update.shape)
        return ShapedArray(x.shape, x.dtype)

    def transpose(self, ct, x, update, *starts):
        sizes = shape_of(update)
        zeros = np.zeros(sizes, dtype_of(ct))[()]
        x_bar = None
        if isinstance(x, ShapedArray):
            kept = dynamic_update_slice_p(np.ones(x.shape, bool), np.zeros(sizes, bool), *starts)
            x_bar = Masked(dynamic_update_slice_p(ct, zeros, *starts), kept)
        update_bar = dynamic_slice_p(ct, *starts, sizes=sizes) if isinstance(update, ShapedArray) else None
        return [x_bar, update_bar, *[None] * len(starts)]

    def batch(self, args, dims):
        size = next(shape_of(a)[0] for a, d in zip(args, dims, strict=True) if d is not None)
        x, update = (
            broadcast_to(a, shape=(size, *shape_of(a))) if d is None else a
            for a, d in zip(args[:2], dims[:2], strict=True)
        )
        starts = args[2:]
        if all(d is None for d in dims[2:]):
            return dynamic_update_slice_p(x, update, 0, *starts), 0
        template, arrays = _window_index(starts, shape_of(update)[1:], shape_of(x)[1:], size, True)
        return scatter_set(x, update, *arrays, index=template), 0

    def samples(self, rng):
        for x, starts, sizes, name in _window_samples(rng):
            yield sample(x, rng.normal(size=sizes).astype(x.dtype), *starts, name=name)


def _check_window(name: str, shape: Shape, starts: Sequence[Any], sizes: Shape) -> None:
    fits = len(sizes) == len(starts) == len(shape) and all(0 <= w <= n for w, n in zip(sizes, shape, strict=True))
    if not fits:
        raise errors.ShapeError(
            f"{name}: a window of shape {tuple(sizes)} at {len(starts)} starts, of an array of shape {shape}",
            mend="give one start and one size an axis, with sizes no larger than the array",
        )


dynamic_slice_p = DynamicSlice("dynamic_slice")
dynamic_update_slice_p = DynamicUpdateSlice("dynamic_update_slice")


def _starts(given: Any) -> list[Any]:
    """Starts as a list of scalars, from a sequence or a one-dimensional (traced) array."""
    if isinstance(given, Tracer) and len(shape_of(given)) == 1:
        return [getitem_p(given, index=(k,)) for k in range(shape_of(given)[0])]
    if not isinstance(given, tuple | list | np.ndarray):
        given = (given,)
    return [i if isinstance(i, Tracer) else np.int64(np.reshape(i, ())) for i in given]


def dynamic_slice(x: Any, start_indices: Any, slice_sizes: Sequence[int]) -> Any:
    """A window of static sizes, at starts that may be traced; one that would reach out of x is moved inside.

    Negative starts count from the end. Source: jax.lax.dynamic_slice.
    """
    shape = shape_of(x)
    starts, sizes = _starts(start_indices), tuple(int(w) for w in slice_sizes)
    _check_window("dynamic_slice", shape, starts, sizes)
    return dynamic_slice_p(x, *[wrapped(i, n) for i, n in zip(starts, shape, strict=True)], sizes=sizes)


def dynamic_update_slice(x: Any, update: Any, start_indices: Any) -> Any:
    """x with a window replaced by `update`, at starts that may be traced. Source: jax.lax.dynamic_update_slice."""
    shape = shape_of(x)
    starts = _starts(start_indices)
    update = astype(update, dtype_of(x))
    _check_window("dynamic_update_slice", shape, starts, shape_of(update))
    return dynamic_update_slice_p(x, update, *[wrapped(i, n) for i, n in zip(starts, shape, strict=True)])
