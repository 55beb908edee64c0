"""Indexing: reading and writing parts of arrays, with NumPy's basic and advanced indices.

An index is kept as a static template (a tuple of integers, slices, None, Ellipsis, booleans and `Slot`s) beside the
index arrays, which are operands: slot k stands for the k-th array. `canonical_index` makes both from what a user
writes; `layout` says what shape comes out and where the axes of the index arrays stand in it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autodidax import errors
from autodidax.core.avals import PYTHON_SCALARS, Masked, ShapedArray, broadcast_shapes
from autodidax.core.interpreters import Tracer, bind, dtype_of, peel, shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.comparison import equal
from autodidax.primitives.select import where
from autodidax.primitives.shape import broadcast_to, reshape, stack, transpose

Template = tuple[Any, ...]
Shape = tuple[int, ...]


class IndexShapeError(errors.ShapeError, IndexError):
    """Index arrays whose shapes do not broadcast: an IndexError, as NumPy's own is."""


class Slot:
    """The place of an index array in a template."""

    __slots__ = ("k",)

    def __init__(self, k: int):
        self.k = k

    def __repr__(self) -> str:
        return f"[{self.k}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slot) and other.k == self.k

    def __hash__(self) -> int:
        return hash(("Slot", self.k))


def fill(template: Template, arrays: Sequence[Any]) -> Template:
    """The actual index: slots replaced by their arrays."""
    if not arrays:
        return template
    return tuple(arrays[i.k] if type(i) is Slot else i for i in template)


# What a user writes


def canonical_index(x_shape: Shape, index: Any, *, bounds: bool = True) -> tuple[Template, list[Any]]:
    """Template and index arrays of any index that NumPy takes, for an array of shape `x_shape`.

    Integers become non-negative Python ints, boolean masks the arrays of their nonzero positions, lists arrays. With
    `bounds=False` integers outside their axis are let through as they are.

    Raises OutOfBoundsError for an integer outside its axis, too many indices or a mask of another shape,
    NonConcreteBooleanIndexError for a traced mask, TracerIntegerConversionError for a traced bound of a slice.
    """
    items = [_item(i) for i in (index if type(index) is tuple else (index,))]
    used = [_axes_used(i) for i in items]
    n_ellipses = sum(i is Ellipsis for i in items)
    if n_ellipses > 1:
        raise errors.OutOfBoundsError("an index may hold one Ellipsis ('...')", mend="write ':' for the other ones")
    spare = len(x_shape) - sum(used)
    if spare < 0:
        raise _too_many(x_shape, sum(used))
    template: list[Any] = []
    arrays: list[Any] = []

    def add_array(a: Any) -> None:
        template.append(Slot(len(arrays)))
        arrays.append(a)

    axis = 0
    for item, n_axes in zip(items, used, strict=True):
        if item is Ellipsis:
            axis += spare
            template.append(item)
            continue
        if type(item) is int:
            template.append(_checked(item, axis, x_shape) if bounds else item)
        elif not _is_array(item):
            template.append(item)
        elif dtype_of(item).kind == "b":
            own = x_shape[axis : axis + n_axes]
            if item.shape != own:
                raise errors.OutOfBoundsError(
                    f"a boolean mask of shape {item.shape} indexes axes of shape {own}",
                    mend="give the mask the shape of the axes that it selects from",
                )
            for a in item.nonzero():
                add_array(a)
        else:
            add_array(item)
        axis += n_axes
    return tuple(template), arrays


def _is_array(item: Any) -> bool:
    return isinstance(item, np.ndarray | Tracer)


def _axes_used(item: Any) -> int:
    """How many axes of the array an item takes up."""
    if item is None or item is Ellipsis or type(item) is bool:
        return 0
    return item.ndim if _is_array(item) and dtype_of(item).kind == "b" else 1


def _item(i: Any) -> Any:
    """One entry of an index as int, slice of ints, None, Ellipsis, bool, or array of integers or booleans."""
    if type(i) is int or i is None or i is Ellipsis or type(i) is bool:
        return i
    if isinstance(i, slice):
        return slice(*[_slice_bound(b) for b in (i.start, i.stop, i.step)])
    if isinstance(i, list | tuple):
        i = _array_of_list(i)
    i = peel(i)
    if isinstance(i, Tracer):
        kind = i.dtype.kind
        if kind == "b":
            raise errors.NonConcreteBooleanIndexError(
                "a boolean mask whose values are not known while tracing: the size of the result would depend on them",
                mend="select with where(mask, x, 0), or compute the mask from values that are not traced",
            )
        if kind not in "iu":
            raise _no_index(i.dtype)
        return i
    if isinstance(i, np.bool_) or (isinstance(i, np.ndarray) and i.dtype.kind == "b" and i.ndim == 0):
        return bool(i)
    if isinstance(i, np.ndarray):
        if i.dtype.kind not in "iub":
            raise _no_index(i.dtype)
        return int(i) if i.ndim == 0 else i
    try:
        return operator.index(i)
    except TypeError:
        if hasattr(i, "__array__"):
            return _item(np.asarray(i))
        raise _no_index(f"{type(i).__name__}") from None


def _array_of_list(items: Any) -> Any:
    """A (nested) list as an index array; entries may be traced integers."""
    if any(isinstance(i, Tracer) for i in _leaves(items)):
        return stack(*[_array_of_list(i) if isinstance(i, list | tuple) else i for i in items], axis=0)
    a = np.asarray(items)
    return a.astype(np.intp) if a.size == 0 and a.dtype.kind != "b" else a


def _leaves(items: Any) -> Iterator[Any]:
    for i in items:
        if isinstance(i, list | tuple):
            yield from _leaves(i)
        else:
            yield i


def _slice_bound(b: Any) -> int | None:
    if b is None or type(b) is int:
        return b
    b = peel(b)
    if isinstance(b, Tracer):
        raise errors.TracerIntegerConversionError(
            "a slice with a traced bound: the size of the result would depend on its value",
            mend="use lax.dynamic_slice(x, starts, sizes), whose sizes are static, or a mask with where",
        )
    try:
        return operator.index(b)
    except TypeError:
        raise _no_index(f"{type(b).__name__} in a slice") from None


class IndexDtypeError(errors.DtypeError, IndexError):
    """An index that is no integer, boolean, slice, None or Ellipsis."""


def _no_index(what: Any) -> errors.AutodidaxError:
    text = str(what).startswith("str")
    return IndexDtypeError(
        f"an array is indexed with {what}; indices are integers, booleans, slices, None and Ellipsis",
        mend="names are keys of dicts: pass a dict of arrays" if text else "convert the index with astype(int)",
    )


def _too_many(x_shape: Shape, n: int) -> errors.AutodidaxError:
    return errors.OutOfBoundsError(
        f"{n} indices for an array of shape {x_shape}, which has {errors.counted(len(x_shape), 'axis')}",
        mend="give at most one index for each axis",
    )


def _checked(i: int, axis: int, x_shape: Shape) -> int:
    """An integer index, non-negative."""
    n = x_shape[axis]
    if not -n <= i < n:
        raise errors.OutOfBoundsError(
            f"index {i} is out of bounds for axis {axis} of size {n}, of an array of shape {x_shape}",
            mend=f"use an index from {-n} to {n - 1}, or anp.at(x)[i].get(mode='fill'), to write .set(v, mode='drop')"
            if n
            else "index an axis that is not empty",
        )
    return i + n if i < 0 else i


# What comes out


class Layout(NamedTuple):
    """Shape of x[index], the common shape of its advanced indices, the place of their axes in the result, whether
    they are separated by a slice, None or Ellipsis (then they come first), and the axis of x of each item."""

    shape: Shape
    advanced: Shape
    place: int
    separated: bool
    axes: tuple[int | None, ...]


def layout(x_shape: Shape, template: Template, array_shapes: Sequence[Shape], *, bounds: bool = True) -> Layout:
    """NumPy's rules for the shape of an indexed array. Source: NumPy's user guide, "Indexing on ndarrays"."""
    used = [0 if i is None or i is Ellipsis or type(i) is bool else 1 for i in template]
    spare = len(x_shape) - sum(used)
    if spare < 0:
        raise _too_many(x_shape, sum(used))
    has_advanced = any(type(i) is Slot or type(i) is bool for i in template)
    rest: list[int] = []
    shapes: list[Shape] = []
    positions: list[int] = []
    axes: list[int | None] = []
    axis = place = 0
    for position, (item, n_axes) in enumerate(zip(template, used, strict=True)):
        axes.append(axis if n_axes else None)
        if item is None:
            rest.append(1)
        elif item is Ellipsis:
            rest += x_shape[axis : axis + spare]
            axis += spare
        elif type(item) is slice:
            rest.append(_slice_size(item, x_shape[axis]))
        else:
            if bounds and type(item) is int:
                _checked(item, axis, x_shape)
            if has_advanced:
                if not positions:
                    place = len(rest)
                positions.append(position)
                shapes.append(
                    array_shapes[item.k] if type(item) is Slot else (int(item),) if type(item) is bool else ()
                )
        axis += n_axes
    rest += x_shape[axis:]
    try:
        advanced = broadcast_shapes("index arrays", *shapes) if shapes else ()
    except errors.ShapeError as error:
        raise IndexShapeError(error.message, mend=error.mend) from None
    separated = bool(positions) and positions[-1] - positions[0] + 1 != len(positions)
    place = 0 if separated else place
    return Layout((*rest[:place], *advanced, *rest[place:]), advanced, place, separated, tuple(axes))


def _slice_size(s: slice, n: int) -> int:
    if s.start is None and s.stop is None and (s.step is None or s.step in (1, -1)):
        return n
    return len(range(*s.indices(n)))


def batched_index(
    template: Template, arrays: Sequence[Any], dims: Sequence[int | None], x_mapped: bool, x_shape: Shape, size: int
) -> tuple[Template, list[Any], tuple[int, ...]]:
    """The index for a batch: template, arrays, and the permutation that brings the raw result to (batch, *result).

    `x_shape` is the shape of one row of x; mapped arrays have their batch axis first. An empty permutation stands for
    no change.
    """
    if not arrays and bool not in map(type, template):
        return (slice(None), *template), [], ()
    shapes = [shape_of(a)[d is not None :] for a, d in zip(arrays, dims, strict=True)]
    form = layout(x_shape, template, shapes)
    rank, n_advanced = len(form.shape), len(form.advanced)
    if all(d is None for d in dims):
        # a new slice in front; the axes of separated advanced indices come before it
        at = n_advanced if form.separated else 0
        order = (at, *(k for k in range(rank + 1) if k != at))
        return (slice(None), *template), list(arrays), order
    aligned = []
    for a, d, s in zip(arrays, dims, shapes, strict=True):
        lacking = n_advanced - len(s)
        aligned.append(reshape(a, shape=(size, *(1,) * lacking, *s)) if d is not None and lacking else a)
    if not x_mapped:
        # the axes (batch, *advanced) stand where those of the advanced indices were
        order = (form.place, *(k for k in range(rank + 1) if k != form.place))
        return template, aligned, order
    rows = np.arange(size).reshape((size, *(1,) * n_advanced))
    # raw result: (batch, *advanced, *rest)
    before = range(1 + n_advanced, 1 + n_advanced + form.place)
    after = range(1 + n_advanced + form.place, rank + 1)
    order = (0, *before, *range(1, 1 + n_advanced), *after)
    return (Slot(len(aligned)), *template), [*aligned, rows], order


def permuted(x: Any, order: tuple[int, ...]) -> Any:
    """x with its axes in another order; x itself where the order is its own."""
    return x if not order or order == tuple(range(len(order))) else transpose(x, permutation=order)


def inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    """The inverse of a permutation."""
    return tuple(int(k) for k in np.argsort(order))


def never_repeats(arrays: Sequence[Any]) -> bool:
    """Whether an index names no entry twice, as far as the shapes tell."""
    return all(isinstance(a, int) or a.size <= 1 for a in arrays)


class GetItem(Primitive):
    """x[index]: linear in x; its transpose adds into zeros."""

    linear_in = (0,)
    structural = True

    def impl(self, x, *arrays, index):
        if type(x) in PYTHON_SCALARS:
            x = np.asarray(x)
        try:
            return x[fill(index, arrays)]
        except (IndexError, OverflowError) as error:
            raise out_of_bounds(x, arrays, index, error) from None

    def abstract_eval(self, x, *arrays, index):
        return ShapedArray(layout(x.shape, index, [a.shape for a in arrays]).shape, x.dtype)

    def transpose(self, ct, x, *arrays, index):
        g = added_into_zeros(ct, x.shape, arrays, index)
        if any(shape_of(a) for a in arrays):  # an index array or a mask selects: the rest is a structural zero
            g = Masked(g, added_into_zeros(np.ones(shape_of(ct), bool), x.shape, arrays, index))
        return [g, *[None] * len(arrays)]

    def pull(self, ct, index, shape, dtype):
        """The cotangent of x for a basic index (the record's short form)."""
        if type(ct) is Masked:
            mask = added_into_zeros(ct.mask, shape, (), index)
            return Masked(self.pull(ct.val, index, shape, dtype), mask)
        return added_into_zeros(ct, shape, (), index)

    def batch(self, args, dims, *, index):
        (x, *arrays), (dx, *array_dims) = args, dims
        size = next(shape_of(a)[0] for a, d in zip(args, dims, strict=True) if d is not None)
        row = shape_of(x)[dx is not None :]
        template, arrays, order = batched_index(index, arrays, array_dims, dx is not None, row, size)
        return permuted(getitem_p(x, *arrays, index=template), order), 0

    def samples(self, rng):
        for x, arrays, index, name in _index_samples(rng):
            yield sample(x, *arrays, index=index, name=name)


def _index_samples(rng: np.random.Generator) -> Iterator[tuple[np.ndarray, list[np.ndarray], Template, str]]:
    """Arrays with index arrays and templates: every kind of index, and every placement of the advanced ones."""
    x = rng.normal(size=(3, 4))
    i, j = rng.permutation([2, 0, -1]), rng.permutation([1, 1, 2])[None]
    c = rng.normal(size=(2, 3, 4, 3))
    yield x, [], (1,), "integer"
    yield x, [], (slice(0, 2), 1), "slice and integer"
    yield x, [], (Ellipsis, None, -1), "Ellipsis and None"
    yield x, [], (slice(None, None, -1), slice(1, 4, 2)), "steps"
    yield x, [], (slice(3, 3),), "nothing"
    yield x, [], (2, 3), "one entry"
    yield np.array(1.5), [], (None,), "0-d"
    yield rng.normal(size=3), [np.array([0, 0, 2])], (Slot(0),), "repeated"
    yield rng.normal(size=(0, 3)), [np.array([1, 1])], (slice(None), Slot(0)), "empty array"
    yield x, [np.zeros((0, 2), int)], (Slot(0),), "empty index"
    yield x, [np.array(1)], (Slot(0),), "0-d index array"
    yield x, [i, j], (Slot(0), Slot(1)), "two arrays, broadcast"
    yield c, [i], (slice(None), slice(None), Slot(0)), "array behind slices"
    yield x, [i, j[None]], (Slot(0), Slot(1)), "two arrays, of ranks 1 and 3"
    yield c, [i], (Ellipsis, Slot(0)), "array behind Ellipsis"
    yield c, [i], (1, Ellipsis, Slot(0)), "Ellipsis between integer and array"
    yield c, [i, j], (slice(None), Slot(0), Slot(1)), "adjacent arrays"
    yield c, [i, j], (slice(None), Slot(0), slice(None), Slot(1)), "separated arrays"
    yield c, [i, j], (slice(None), Slot(0), None, Slot(1)), "separated by None"
    yield c, [i, j], (Ellipsis, Slot(0), Slot(1)), "behind Ellipsis"
    yield c, [i], (1, slice(None), Slot(0)), "integer and array, separated"
    yield c, [i], (slice(None), 2, Slot(0)), "integer and array, adjacent"
    yield c, [i], (slice(None), True, Slot(0)), "boolean scalar"
    yield c, [], (Ellipsis, False), "false scalar"
    yield x.astype(np.float32), [i], (Slot(0),), "float32"
    yield x + 1j, [i], (slice(None), Slot(0)), "complex"


def out_of_bounds(x: Any, arrays: Sequence[Any], index: Template, error: Exception) -> errors.AutodidaxError:
    """The package's error for an index that NumPy refused, with axis and size where an entry is out of bounds."""
    form = layout(np.shape(x), index, [np.shape(a) for a in arrays])
    for item, axis in zip(index, form.axes, strict=True):
        if type(item) is Slot and axis is not None:
            n = np.shape(x)[axis]
            a = np.asarray(arrays[item.k])
            outside = a[(a < -n) | (a >= n)]
            if outside.size:
                _checked(int(outside.flat[0]), axis, np.shape(x))
    return errors.OutOfBoundsError(str(error), mend="compare the index with the shape of the array")


getitem_p = GetItem("getitem")


def getitem(x: Any, index: Any) -> Any:
    """x[index] for any index that NumPy takes; x and integer index arrays may be traced.

    Raises OutOfBoundsError (an IndexError) where an entry lies outside its axis.
    """
    template, arrays = canonical_index(shape_of(x), index)
    return bind(getitem_p, x, *arrays, index=template)


# Writing


def accumulate(ufunc: np.ufunc, out: np.ndarray, arrays: Sequence[Any], index: Template, updates: Any) -> Any:
    """`out` with out[index] = ufunc(out[index], updates) once an update, in place; a scalar for 0-d `out`."""
    actual = fill(index, arrays)
    if never_repeats(arrays):
        out[actual] = ufunc(out[actual], updates)
    elif out.ndim == 1 and len(actual) == 1:
        ufunc.at(out, actual[0], updates)
    elif out.size <= 8 * np.size(updates):
        # ufunc.at is several times as fast on flat arrays
        flat = np.arange(out.size).reshape(out.shape)[actual]
        ufunc.at(out.reshape(-1), flat.reshape(-1), np.broadcast_to(updates, flat.shape).reshape(-1))
    else:
        ufunc.at(out, actual, updates)
    return out if out.ndim else out[()]


def added_into_zeros(ct: Any, shape: Shape, arrays: Sequence[Any], index: Template) -> Any:
    """Zeros of a shape with `ct` added at an index: the transpose of reading there."""
    return bind(scatter_into_zeros, ct, *arrays, index=index, shape=shape)


class ScatterIntoZeros(Primitive):
    """Zeros of a shape with updates added at an index: the transpose of reading there."""

    linear_in = (0,)
    structural = True

    def impl(self, updates, *arrays, index, shape):
        return accumulate(np.add, np.zeros(shape, dtype_of(updates)), arrays, index, updates)

    def abstract_eval(self, updates, *arrays, index, shape):
        return ShapedArray(shape, updates.dtype)

    def transpose(self, ct, updates, *arrays, index, shape):
        return [getitem_p(ct, *arrays, index=index), *[None] * len(arrays)]

    def batch(self, args, dims, *, index, shape):
        size = next(shape_of(a)[0] for a, d in zip(args, dims, strict=True) if d is not None)
        updates = args[0] if dims[0] is not None else broadcast_to(args[0], shape=(size, *shape_of(args[0])))
        template, arrays, order = batched_index(index, args[1:], dims[1:], True, shape, size)
        updates = permuted(updates, inverse(order))
        return self(updates, *arrays, index=template, shape=(size, *shape)), 0

    def samples(self, rng):
        for x, arrays, index, name in _index_samples(rng):
            form = layout(x.shape, index, [a.shape for a in arrays])
            updates = rng.uniform(0.5, 1.5, form.shape).astype(x.dtype)
            yield sample(updates, *arrays, index=index, shape=x.shape, name=name)


scatter_into_zeros = ScatterIntoZeros("scatter_into_zeros")


class Scatter(Primitive):
    """x with updates written or combined at an index: updates have the shape of x[index] and the dtype of x."""

    ufunc: np.ufunc

    def impl(self, x, updates, *arrays, index):
        try:
            return accumulate(self.ufunc, np.array(x, order="C"), arrays, index, updates)
        except IndexError as error:
            raise out_of_bounds(x, arrays, index, error) from None

    def abstract_eval(self, x, updates, *arrays, index):
        shape = layout(x.shape, index, [a.shape for a in arrays]).shape
        if updates.shape != shape:
            raise errors.ShapeError(
                f"{self.name}: updates have shape {updates.shape}, the indexed part has shape {shape}",
                mend="broadcast the updates to the shape of x[index]",
            )
        return ShapedArray(x.shape, x.dtype)

    def batch(self, args, dims, *, index):
        size = next(shape_of(a)[0] for a, d in zip(args, dims, strict=True) if d is not None)
        x, updates = (
            broadcast_to(a, shape=(size, *shape_of(a))) if d is None else a
            for a, d in zip(args[:2], dims[:2], strict=True)
        )
        template, arrays, order = batched_index(index, args[2:], dims[2:], True, shape_of(x)[1:], size)
        return self(x, permuted(updates, inverse(order)), *arrays, index=template), 0

    def samples(self, rng):
        for x, arrays, index, name in _index_samples(rng):
            shape = layout(x.shape, index, [a.shape for a in arrays]).shape
            updates = rng.uniform(0.5, 1.5, shape).astype(x.dtype)
            yield sample(x, updates, *arrays, index=index, name=name)


class ScatterAdd(Scatter):
    """x with updates added at an index; an entry named several times gets every update."""

    linear_in = (0, 1)
    structural = True
    ufunc = np.add

    def transpose(self, ct, x, updates, *arrays, index):
        g = getitem_p(ct, *arrays, index=index) if isinstance(updates, ShapedArray) else None
        return [ct, g, *[None] * len(arrays)]


class ScatterSet(Scatter):
    """x with updates in the place of x[index]; of several updates to one entry the last one, in C order, counts."""

    linear_in = (0, 1)
    structural = True

    def impl(self, x, updates, *arrays, index):
        out = np.array(x, order="C")
        try:
            # in C order, which decides between several updates of one entry
            out[fill(index, [np.asarray(a, order="C") for a in arrays])] = np.asarray(updates, order="C")
        except IndexError as error:
            raise out_of_bounds(x, arrays, index, error) from None
        return out if out.ndim else out[()]

    def transpose(self, ct, x, updates, *arrays, index):
        x_bar = u_bar = None
        if isinstance(x, ShapedArray):
            written = shape_of(updates)
            kept = scatter_set(np.ones(x.shape, bool), np.zeros(written, bool), *arrays, index=index)
            x_bar = Masked(scatter_set(ct, np.zeros(written, dtype_of(ct)), *arrays, index=index), kept)
        if isinstance(updates, ShapedArray):
            u_bar = getitem_p(ct, *arrays, index=index)
            if not never_repeats(arrays):
                stays = last_writer(shape_of(x), updates.shape, arrays, index)
                u_bar = Masked(where(stays, u_bar, dtype_of(ct).type(0)), stays)
        return [x_bar, u_bar, *[None] * len(arrays)]


def last_writer(x_shape: Shape, u_shape: Shape, arrays: Sequence[Any], index: Template) -> Any:
    """Which updates are the last ones, in C order, to their entries: bool of the updates' shape."""
    order = np.arange(math.prod(u_shape)).reshape(u_shape)
    writer = scatter_set(np.zeros(x_shape, order.dtype), order, *arrays, index=index)
    return equal(getitem_p(writer, *arrays, index=index), order)


scatter_add = ScatterAdd("scatter_add")
scatter_set = ScatterSet("scatter_set")
