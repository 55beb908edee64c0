"""Shapes, slices and arrays of one value, under lax's names; parameters are as in JAX, bounds are checked."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy import creation, joining, shaping
from autodidax.numpy import elementwise as anp
from autodidax.numpy.dispatch import operand as as_operand
from autodidax.numpy.indexing import at
from autodidax.primitives import gather, rearrange
from autodidax.primitives.convert import astype
from autodidax.primitives.shape import canonical_axis


def broadcast(operand: Any, sizes: Sequence[int]) -> Any:
    """New leading axes of these sizes. Source: jax.lax.broadcast."""
    return shaping.broadcast_to(operand, (*sizes, *shape_of(as_operand(operand))))


def broadcast_in_dim(operand: Any, shape: Sequence[int], broadcast_dimensions: Sequence[int]) -> Any:
    """`operand` as an array of `shape`, its axis k standing at broadcast_dimensions[k].

    Source: jax.lax.broadcast_in_dim.
    """
    x, shape, places = as_operand(operand), tuple(shape), tuple(broadcast_dimensions)
    sizes = shape_of(x)
    fits = len(places) == len(sizes) and list(places) == sorted(set(places))
    if not fits or any(not 0 <= k < len(shape) or n not in (1, shape[k]) for k, n in zip(places, sizes, strict=True)):
        raise errors.ShapeError(
            f"broadcast_in_dim: shape {sizes} at the axes {places} of {shape}",
            mend="give one axis, in rising order, for each axis of the operand; sizes are equal or 1",
        )
    expanded = [1] * len(shape)
    for k, n in zip(places, sizes, strict=True):
        expanded[k] = n
    return shaping.broadcast_to(shaping.reshape(x, tuple(expanded)), shape)


def broadcast_to_rank(x: Any, rank: int) -> Any:
    """New leading axes of size 1 up to a rank. Source: jax.lax.broadcast_to_rank."""
    x = as_operand(x)
    return shaping.reshape(x, (*(1,) * (rank - len(shape_of(x))), *shape_of(x)))


def reshape(operand: Any, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None) -> Any:
    """The entries, read in the order of the axes `dimensions`, in another shape. Source: jax.lax.reshape."""
    x = operand if dimensions is None else shaping.transpose(operand, tuple(dimensions))
    return shaping.reshape(x, tuple(new_sizes))


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """The axes from start to before stop as one. Source: jax.lax.collapse."""
    x = as_operand(operand)
    shape = shape_of(x)
    start, stop, _ = builtins.slice(start_dimension, stop_dimension).indices(len(shape))
    return shaping.reshape(x, (*shape[:start], int(np.prod(shape[start:stop])), *shape[stop:]))


def expand_dims(array: Any, dimensions: Sequence[int]) -> Any:
    """Axes of size 1 at these places of the result. Source: jax.lax.expand_dims."""
    return shaping.expand_dims(array, tuple(dimensions))


def squeeze(array: Any, dimensions: Sequence[int]) -> Any:
    """Without these axes, which have size 1. Source: jax.lax.squeeze."""
    return shaping.squeeze(array, tuple(dimensions))


def transpose(operand: Any, permutation: Sequence[int]) -> Any:
    """The axes in another order. Source: jax.lax.transpose."""
    return shaping.transpose(operand, tuple(int(k) for k in permutation))


def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """Backwards along these axes. Source: jax.lax.rev."""
    return shaping.flip(operand, tuple(dimensions))


def tile(operand: Any, reps: Sequence[int]) -> Any:
    """Copies side by side. Source: jax.lax.tile."""
    return shaping.tile(operand, tuple(reps))


def concatenate(operands: Any, dimension: int) -> Any:
    """Arrays joined along an axis. Source: jax.lax.concatenate."""
    return joining.concatenate(list(operands), axis=dimension)


def stack(operands: Any, axis: int = 0) -> Any:
    """Arrays joined along a new axis. Source: jax.lax.stack."""
    return joining.stack(list(operands), axis=axis)


def unstack(x: Any, axis: int = 0) -> tuple[Any, ...]:
    """The slices along an axis. Source: jax.lax.unstack."""
    return joining.unstack(x, axis=axis)


def split(operand: Any, sizes: Sequence[int], axis: int = 0) -> list[Any]:
    """Pieces of these sizes along an axis. Source: jax.lax.split."""
    x = as_operand(operand)
    n = shape_of(x)[canonical_axis(axis, len(shape_of(x)), "split")]
    if sum(sizes) != n:
        raise errors.ShapeError(f"split: sizes {tuple(sizes)} of an axis of {n}", mend=f"give sizes that add up to {n}")
    return joining.split(x, np.cumsum(sizes)[:-1].tolist(), axis)


# slices


def slice(
    operand: Any, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None
) -> Any:
    """operand[start:limit:stride] along every axis, within bounds. Source: jax.lax.slice."""
    x = as_operand(operand)
    shape = shape_of(x)
    steps = (1,) * len(shape) if strides is None else tuple(strides)
    fits = len(start_indices) == len(limit_indices) == len(steps) == len(shape) and all(
        0 <= a <= b <= n and s > 0 for a, b, s, n in zip(start_indices, limit_indices, steps, shape, strict=True)
    )
    if not fits:
        raise errors.ShapeError(
            f"slice: from {tuple(start_indices)} to {tuple(limit_indices)} by {steps} of shape {shape}",
            mend="give a start, a limit and a positive stride for each axis, with 0 <= start <= limit <= size",
        )
    return x[tuple(map(builtins.slice, start_indices, limit_indices, steps))] if shape else x


def slice_in_dim(operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0) -> Any:
    """operand[start:limit:stride] along one axis; negative indices count from the end. Source: jax.lax.slice_in_dim."""
    x = as_operand(operand)
    axis = canonical_axis(axis, len(shape_of(x)), "slice_in_dim")
    n = shape_of(x)[axis]
    start = 0 if start_index is None else start_index + n * (start_index < 0)
    limit = n if limit_index is None else limit_index + n * (limit_index < 0)
    starts, limits, steps = [0] * len(shape_of(x)), list(shape_of(x)), [1] * len(shape_of(x))
    starts[axis], limits[axis], steps[axis] = start, limit, stride
    return slice(x, starts, limits, steps)


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """One entry along an axis. Source: jax.lax.index_in_dim."""
    x = as_operand(operand)
    axis = canonical_axis(axis, len(shape_of(x)), "index_in_dim")
    n = shape_of(x)[axis]
    index = operator.index(index)
    if not -n <= index < n:
        raise errors.OutOfBoundsError(
            f"index_in_dim: index {index} of axis {axis}, of size {n}", mend=f"use {-n} to {n - 1}"
        )
    part = slice_in_dim(x, index % n, index % n + 1, axis=axis)
    return part if keepdims else shaping.squeeze(part, axis)


def _starts(start_indices: Any, allow_negative: Any) -> Any:
    if allow_negative is True:
        return start_indices
    starts = list(start_indices)
    allowed = [allow_negative] * len(starts) if isinstance(allow_negative, bool) else list(allow_negative)
    return [i if ok else anp.maximum(i, 0) for i, ok in zip(starts, allowed, strict=True)]


def dynamic_slice(
    operand: Any, start_indices: Any, slice_sizes: Sequence[int], *, allow_negative_indices: Any = True
) -> Any:
    """A window of static sizes at starts that may be traced; one that would reach out is moved inside. Negative starts
    count from the end where that is allowed, else they are 0. Source: jax.lax.dynamic_slice."""
    return gather.dynamic_slice(as_operand(operand), _starts(start_indices, allow_negative_indices), slice_sizes)


def dynamic_update_slice(operand: Any, update: Any, start_indices: Any, *, allow_negative_indices: Any = True) -> Any:
    """A copy with a window replaced; starts as in `dynamic_slice`. Source: jax.lax.dynamic_update_slice."""
    starts = _starts(start_indices, allow_negative_indices)
    return gather.dynamic_update_slice(as_operand(operand), as_operand(update), starts)


def _along(x: Any, index: Any, axis: int, name: str) -> tuple[int, list[Any]]:
    axis = canonical_axis(axis, len(shape_of(x)), name)
    starts: list[Any] = [0] * len(shape_of(x))
    starts[axis] = index
    return axis, starts


def dynamic_slice_in_dim(
    operand: Any, start_index: Any, slice_size: int, axis: int = 0, *, allow_negative_indices: bool = True
) -> Any:
    """`dynamic_slice` along one axis. Source: jax.lax.dynamic_slice_in_dim."""
    x = as_operand(operand)
    axis, starts = _along(x, start_index, axis, "dynamic_slice_in_dim")
    sizes = list(shape_of(x))
    sizes[axis] = slice_size
    return dynamic_slice(x, starts, sizes, allow_negative_indices=allow_negative_indices)


def dynamic_index_in_dim(
    operand: Any, index: Any, axis: int = 0, keepdims: bool = True, *, allow_negative_indices: bool = True
) -> Any:
    """One entry along an axis, at an index that may be traced. Source: jax.lax.dynamic_index_in_dim."""
    part = dynamic_slice_in_dim(operand, index, 1, axis, allow_negative_indices=allow_negative_indices)
    return part if keepdims else shaping.squeeze(part, axis)


def dynamic_update_slice_in_dim(
    operand: Any, update: Any, start_index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """`dynamic_update_slice` along one axis. Source: jax.lax.dynamic_update_slice_in_dim."""
    x = as_operand(operand)
    _, starts = _along(x, start_index, axis, "dynamic_update_slice_in_dim")
    return dynamic_update_slice(x, update, starts, allow_negative_indices=allow_negative_indices)


def dynamic_update_index_in_dim(
    operand: Any, update: Any, index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """A copy with one entry along an axis replaced; the update may lack that axis. Source:
    jax.lax.dynamic_update_index_in_dim."""
    x, update = as_operand(operand), as_operand(update)
    axis = canonical_axis(axis, len(shape_of(x)), "dynamic_update_index_in_dim")
    if len(shape_of(update)) != len(shape_of(x)):
        update = shaping.expand_dims(update, axis)
    return dynamic_update_slice_in_dim(x, update, index, axis, allow_negative_indices=allow_negative_indices)


def pad(operand: Any, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]) -> Any:
    """`operand` with a value around and between its entries: (before, after, between) for each axis; a negative number
    before or after takes entries away. Source: jax.lax.pad."""
    x = as_operand(operand)
    shape, config = shape_of(x), [tuple(map(operator.index, c)) for c in padding_config]
    fits = len(config) == len(shape) and all(
        gap >= 0 and lo + n + max(n - 1, 0) * gap + hi >= 0 for n, (lo, hi, gap) in zip(shape, config, strict=True)
    )
    if not fits:
        raise errors.ShapeError(
            f"pad: padding_config {config} for shape {shape}",
            mend="give (before, after, between) for each axis, between >= 0, that leave no negative size",
        )
    value = astype(as_operand(padding_value), dtype_of(x))
    if any(c[2] for c in config):
        spread = tuple(n + max(n - 1, 0) * c[2] for n, c in zip(shape, config, strict=True))
        places = tuple(builtins.slice(None, None, c[2] + 1) for c in config)
        x = at(shaping.broadcast_to(value, spread))[places].set(x)
    widths = tuple((max(lo, 0), max(hi, 0)) for lo, hi, _ in config)
    if any(map(any, widths)):
        x = rearrange.pad_constant(x, widths, value)
    if any(lo < 0 or hi < 0 for lo, hi, _ in config):
        sizes = shape_of(x)
        kept = [(max(-lo, 0), n - max(-hi, 0)) for (lo, hi, _), n in zip(config, sizes, strict=True)]
        x = slice(x, [a for a, _ in kept], [b for _, b in kept])
    return x


# arrays of one value, and of positions


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """An array of one value. Source: jax.lax.full."""
    return creation.full(shape, fill_value, dtype)


def full_like(x: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """An array of one value, with the shape and dtype of x where they are not given. Source: jax.lax.full_like."""
    x = as_operand(x)
    return creation.full(shape_of(x) if shape is None else shape, fill_value, dtype_of(x) if dtype is None else dtype)


def iota(dtype: Any, size: int) -> np.ndarray:
    """0, 1, ..., size - 1. Source: jax.lax.iota."""
    return np.arange(size).astype(dtype)


def broadcasted_iota(dtype: Any, shape: Sequence[int], dimension: int) -> np.ndarray:
    """The positions along an axis, as an array of `shape`. Source: jax.lax.broadcasted_iota."""
    axis = canonical_axis(dimension, len(shape), "broadcasted_iota")
    along = [1] * len(shape)
    along[axis] = shape[axis]
    return np.array(np.broadcast_to(iota(dtype, shape[axis]).reshape(along), tuple(shape)))
