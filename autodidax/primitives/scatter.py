"""Combining updates into parts of arrays: products and extrema at an index, and modes for indices out of bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, peel, shape_of
from autodidax.core.primitive import sample
from autodidax.primitives.comparison import equal
from autodidax.primitives.convert import astype
from autodidax.primitives.cumulative import exclusive_run_products, run_starts
from autodidax.primitives.elementwise import add, multiply
from autodidax.primitives.extrema import maximum, minimum
from autodidax.primitives.gather import Indexed, check_mode, clipped, signed, wrapped
from autodidax.primitives.indexing import (
    Scatter,
    Slot,
    Template,
    canonical_index,
    getitem_p,
    layout,
    never_repeats,
    scatter_add,
    scatter_set,
)
from autodidax.primitives.select import where
from autodidax.primitives.shape import broadcast_to, pad, reshape
from autodidax.primitives.sorting import argsort


def _zeros_like(x: Any) -> np.ndarray:
    return np.zeros(shape_of(x), dtype_of(x))


class ScatterMul(Scatter):
    """x with entries multiplied by updates at an index; an entry named several times by each of its updates."""

    ufunc = np.multiply

    def jvp(self, out, primals, tangents, *, index):
        x, updates, *arrays = primals
        tx, tu = tangents[:2]
        from_x = from_u = None
        if tx is not None:
            from_x = tx * scatter_mul(np.ones(shape_of(x), dtype_of(x)), updates, *arrays, index=index)
        if tu is not None:
            factor = getitem_p(x, *arrays, index=index)
            if not never_repeats(arrays):
                factor = factor * _other_updates(shape_of(x), updates, arrays, index)
            from_u = scatter_add(_zeros_like(x), tu * factor, *arrays, index=index)
        return from_u if from_x is None else from_x if from_u is None else from_x + from_u

    def samples(self, rng):
        yield from super().samples(rng)
        updates = np.array([0.0, 2.0, 3.0, 0.0, 0.0, 5.0])
        i = np.array([0, 0, 0, 1, 1, 2])
        yield sample(rng.normal(size=4), updates, i, index=(Slot(0),), name="zeros among repeated updates")


def _other_updates(x_shape: tuple[int, ...], updates: Any, arrays: Sequence[Any], index: Template) -> Any:
    """For each update the product of the other updates to its entry, without a division."""
    ids = np.arange(math.prod(x_shape)).reshape(x_shape)
    entries = reshape(getitem_p(ids, *arrays, index=index), shape=(math.prod(shape_of(updates)),))
    order = argsort(entries, stable=True)
    flat = reshape(updates, shape=shape_of(entries))
    others = exclusive_run_products(
        getitem_p(flat, order, index=(Slot(0),)), run_starts(getitem_p(entries, order, index=(Slot(0),)))
    )
    back = argsort(order)
    return reshape(getitem_p(others, back, index=(Slot(0),)), shape=shape_of(updates))


class _ScatterExtremum(Scatter):
    """x with the larger (smaller) of entry and updates at an index; those that tie share the derivative equally."""

    def jvp(self, out, primals, tangents, *, index):
        x, updates, *arrays = primals
        tx, tu = tangents[:2]
        stays = equal(x, out)
        wins = equal(updates, getitem_p(out, *arrays, index=index))
        count = scatter_add(astype(stays, dtype_of(x)), astype(wins, dtype_of(x)), *arrays, index=index)
        total: Any = _zeros_like(x) if tx is None else where(stays, tx, 0)
        if tu is not None:
            total = scatter_add(total, where(wins, tu, 0), *arrays, index=index)
        # nothing equals a nan
        return total / where(equal(count, 0), np.nan, count)

    def samples(self, rng):
        yield from (s for s in super().samples(rng) if s.args[0].dtype.kind != "c")
        x, updates = np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 3.0, 0.0])
        yield sample(x, updates, np.array([0, 1, 1, 2]), index=(Slot(0),), nonsmooth=True, name="ties")


class ScatterMax(_ScatterExtremum):
    """x with the largest of each entry and its updates at an index; ties share the derivative equally."""

    ufunc = np.maximum


class ScatterMin(_ScatterExtremum):
    """x with the smallest of each entry and its updates at an index; ties share the derivative equally."""

    ufunc = np.minimum


scatter_mul = ScatterMul("scatter_mul")
scatter_max = ScatterMax("scatter_max")
scatter_min = ScatterMin("scatter_min")


#: the operation of an entry and its update, where each entry gets one at most
_COMBINE = {scatter_add: add.op, scatter_mul: multiply.op, scatter_max: maximum, scatter_min: minimum}


def check_cast(name: str, x: Any, dtype: np.dtype) -> None:
    """Raise DtypeError where a traced number that has a derivative is to go, unasked, into an array of integers, or a
    complex number into one of real numbers."""
    if dtype_of(x).kind == "c" and dtype.kind != "c":
        raise errors.DtypeError(
            f"{name}: a value of dtype {dtype_of(x)} in an array of dtype {dtype} would lose its imaginary part",
            mend="make the array complex first, or take the real part of the value",
        )
    if isinstance(x, Tracer) and dtype_of(x).kind in "fc" and dtype.kind in "iub":
        raise errors.DtypeError(
            f"{name}: a traced value of dtype {dtype_of(x)} in an array of dtype {dtype} would lose its fraction and "
            "its derivative",
            mend="make the array one of floats: a.astype(float); or convert the value with astype",
        )


def fitted_updates(x: Any, updates: Any, shape: tuple[int, ...]) -> Any:
    """Updates with the shape of the indexed part and the dtype of x.

    Raises DtypeError for complex updates of a real array, ShapeError where the shapes do not broadcast.
    """
    dtype = dtype_of(x)
    if not isinstance(updates, Tracer):
        updates = np.asarray(updates)
    if dtype_of(updates).kind == "c" and dtype.kind != "c":
        raise errors.DtypeError(
            f"complex updates of an array of dtype {dtype} would lose their imaginary part",
            mend="make the array complex first, or take the real part of the updates",
        )
    check_cast("at", updates, dtype)
    own = shape_of(updates)
    while len(own) > len(shape) and own[0] == 1:  # as assignment does in NumPy
        updates, own = reshape(updates, shape=own[1:]), own[1:]
    updates = astype(updates, dtype)
    if own == shape:
        return updates
    if len(own) > len(shape) or any(m not in (1, n) for m, n in zip(own[::-1], shape[::-1], strict=False)):
        raise errors.ShapeError(
            f"updates of shape {own} do not broadcast to the indexed part, which has shape {shape}",
            mend="give the updates the shape of x[index], or axes of size 1",
        )
    return broadcast_to(updates, shape=shape)


def update_at(scatter: Scatter, x: Any, index: Any, updates: Any, mode: Any = None) -> Any:
    """x with `updates` combined by a scatter primitive at any index that NumPy takes; they broadcast to x[index].

    mode : None and "promise_in_bounds" raise an IndexError for an index out of bounds; "drop" (also called "fill")
        leaves such updates out, "clip" applies them to the nearest entry, "wrap" counts modulo the size.

    A mask whose values are not known takes one value for all its places (axes behind the mask's may differ).

    Raises ShapeError where the updates do not broadcast, DtypeError for complex updates of a real array.

    Source: jax.numpy.ndarray.at, whose default is "drop".
    """
    mode = check_mode(mode)
    shape = shape_of(x)
    if isinstance(index, Tracer) and index.dtype.kind == "b" and isinstance(peel(index), Tracer):
        rank = len(index.shape)
        part = shape[rank:]
        if shape[:rank] == index.shape and np.ndim(updates) <= len(part):  # one value for all places
            values = fitted_updates(x, updates, part)
            combined = values if scatter is scatter_set else _COMBINE[scatter](x, values)
            return where(reshape(index, shape=(*index.shape, *(1,) * len(part))), combined, x)
    if mode is None or mode == "promise_in_bounds":
        template, arrays = canonical_index(shape, index)
        part = layout(shape, template, [shape_of(a) for a in arrays]).shape
        return scatter(x, fitted_updates(x, updates, part), *arrays, index=template)
    indexed = Indexed(shape, index)
    updates = fitted_updates(x, updates, indexed.form.shape)
    if mode == "wrap":
        template, arrays = indexed.moved(lambda i, n: signed(i) % n)
    elif mode == "clip" or indexed.inside() is True:
        template, arrays = indexed.moved(lambda i, n: clipped(wrapped(i, n), n))
    else:
        return _dropping(scatter, x, indexed, updates)
    return scatter(x, updates, *arrays, index=template)


def _dropping(scatter: Scatter, x: Any, indexed: Indexed, updates: Any) -> Any:
    """The updates out of bounds go to an entry behind the end of their axis, which is cut off again."""
    template, arrays = indexed.moved(_behind_if_outside)
    axes = [k for item, k in zip(template, indexed.form.axes, strict=True) if type(item) is not slice and k is not None]
    # what slices select is said by the size of x: make their bounds explicit
    template = tuple(
        _explicit(item, indexed.x_shape[k]) if type(item) is slice and k is not None else item
        for item, k in zip(template, indexed.form.axes, strict=True)
    )
    wide = pad(x, widths=tuple((0, 1 if k in axes else 0) for k in range(len(indexed.x_shape))))
    out = scatter(wide, updates, *arrays, index=template)
    return out[tuple(slice(0, n) for n in indexed.x_shape)]


def _behind_if_outside(i: Any, n: int) -> Any:
    i = wrapped(i, n)
    return where(equal(i, clipped(i, n)), i, n)


def _explicit(s: slice, n: int) -> slice:
    start, stop, step = s.indices(n)
    return slice(start, None if stop < 0 else stop, step)
