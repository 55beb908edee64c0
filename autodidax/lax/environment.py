"""Collectives made of others, and functions about where a program runs, under lax's names."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy.dispatch import operand as as_operand
from autodidax.numpy.indexing import at
from autodidax.numpy.selecting import take, where
from autodidax.primitives.convert import astype
from autodidax.primitives.shape import moveaxis, reshape
from autodidax.transforms.collectives import axis_index, axis_size, psum


def all_gather(x: Any, axis_name: Hashable, *, axis: int = 0, tiled: bool = False) -> Any:
    """The values of all rows of a named axis of vmap, along a new axis; with `tiled` joined along that axis.

    Source: jax.lax.all_gather.
    """
    size = axis_size(axis_name)

    def gathered(leaf: Any) -> Any:
        leaf = as_operand(leaf)
        own = at(np.zeros((size, *shape_of(leaf)), dtype_of(leaf)))[axis_index(axis_name)].set(leaf)
        rows = moveaxis(astype(psum(own, axis_name), dtype_of(leaf)), 0, axis)
        if not tiled:
            return rows
        shape = shape_of(leaf)
        k = axis % len(shape)
        return reshape(rows, shape=(*shape[:k], size * shape[k], *shape[k + 1 :]))

    return tree.map(gathered, x)


def ppermute(x: Any, axis_name: Hashable, perm: Sequence[tuple[int, int]]) -> Any:
    """For each (source, destination) of `perm` the source's value at the destination, along a named axis of vmap; zeros
    where nothing is sent. Source: jax.lax.ppermute."""
    size = axis_size(axis_name)
    pairs = [(int(a), int(b)) for a, b in perm]
    ends = [[a for a, _ in pairs], [b for _, b in pairs]]
    if any(len(set(side)) != len(side) or any(not 0 <= k < size for k in side) for side in ends):
        raise errors.ArgumentError(
            f"ppermute: {pairs} along an axis of {size}",
            mend=f"name each source and destination once, from 0 to {size - 1}",
        )
    sources = np.zeros(size, int)
    sources[ends[1]] = ends[0]
    receives = np.isin(np.arange(size), ends[1])
    row = axis_index(axis_name)

    def moved(leaf: Any) -> Any:
        value = take(all_gather(leaf, axis_name), take(sources, row), axis=0)
        return where(take(receives, row), value, np.zeros((), dtype_of(value)))

    return tree.map(moved, x)


def platform_dependent(
    *args: Any, default: Callable[..., Any] | None = None, **per_platform: Callable[..., Any]
) -> Any:
    """The function given for "cpu", or the default, applied to the arguments. Source: jax.lax.platform_dependent."""
    chosen = per_platform.get("cpu", default)
    if chosen is None:
        raise errors.ArgumentError("platform_dependent: nothing is given for cpu", mend="give cpu= or default=")
    return chosen(*args)


def optimization_barrier(operand: Any, /) -> Any:
    """`operand` itself: nothing here moves computations. Source: jax.lax.optimization_barrier."""
    return operand
