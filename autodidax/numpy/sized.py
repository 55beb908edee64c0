"""Results whose size depends on values, in a size that is given: as many of them as there is room for, then a filling.

jax.numpy's `size=` and `fill_value=`: with them `nonzero`, `unique`, `compress` and their kin work under jit and vmap.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of, get_aval, shape_of
from autodidax.numpy.dispatch import function_for, operand
from autodidax.numpy.joining import concatenate
from autodidax.numpy.reductions import cumsum
from autodidax.numpy.reductions import sum as sum_of
from autodidax.numpy.shaping import moveaxis, ravel
from autodidax.primitives import sorting
from autodidax.primitives.comparison import equal, logical_and, logical_not, logical_or, not_equal
from autodidax.primitives.convert import astype
from autodidax.primitives.gather import take
from autodidax.primitives.select import where
from autodidax.primitives.shape import reshape


def with_size(traced: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function of the same name where nothing is traced and no size is given, else `traced`."""
    numpy_function = getattr(np, traced.__name__)

    def plain(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            return numpy_function(*args)
        if kwargs.get("size") is not None:
            return traced(*args, **kwargs)
        return numpy_function(*args, **{k: v for k, v in kwargs.items() if k not in ("size", "fill_value")})

    plain.__name__ = numpy_function.__name__
    return function_for(plain)(traced)


def size_of(name: str, size: Any) -> int:
    """The size as an integer that is not negative."""
    n = operator.index(size)
    if n < 0:
        raise errors.ShapeError(f"{name}: size={n}", mend="give a size that is not negative")
    return n


def positions(mask: Any, size: int) -> tuple[Any, Any]:
    """Where the first `size` entries of a vector of booleans are that hold, and which of these positions are real.

    mask : (n,) -> integers (size,), booleans (size,); the other positions point somewhere into the vector.
    """
    n = shape_of(mask)[0]
    order = sorting.argsort(logical_not(mask), 0, stable=True)[:size]
    if size > n:
        order = concatenate([order, np.zeros(size - n, np.intp)])
    return order, np.arange(size) < sum_of(astype(mask, np.intp))


def fill(values: Any, real: Any, value: Any, axis: int = 0) -> Any:
    """The value in the places along an axis that are not real: (..., size, ...) -> same shape and dtype."""
    shape = [1] * len(shape_of(values))
    shape[axis] = -1
    return where(reshape(real, shape=(*shape[:axis], shape_of(real)[0], *shape[axis + 1 :])), values,
                 astype(operand(value), dtype_of(values)))  # fmt: skip


def taken(name: str, a: Any, mask: Any, size: Any, value: Any, axis: int = 0) -> Any:
    """The first `size` slices along an axis where the mask holds."""
    size = size_of(name, size)
    if not shape_of(a)[axis] or not shape_of(mask)[0]:
        shape = (*shape_of(a)[:axis], size, *shape_of(a)[axis + 1 :])
        return np.broadcast_to(np.asarray(value, dtype_of(a)), shape).copy()
    index, real = positions(mask, size)
    return fill(take(a, index, axis), real, value, axis)


def nonzero(a: Any, size: Any, fill_value: Any) -> tuple[Any, ...]:
    """`numpy.nonzero` in a given size; the filling is one number, or one an axis."""
    a = operand(a)
    shape, size = shape_of(a), size_of("nonzero", size)
    if fill_value is None or np.ndim(fill_value) == 0:
        fill_value = (0 if fill_value is None else fill_value,) * len(shape)
    if len(fill_value) != len(shape):
        raise errors.ShapeError(
            f"nonzero: {len(fill_value)} values to fill with, for {len(shape)} axes", mend="give one number an axis"
        )
    if not get_aval(a).size:
        return tuple(np.full(size, value) for value in fill_value)
    flat, real = positions(not_equal(ravel(a), 0), size)
    strides = [int(np.prod(shape[k + 1 :], dtype=np.intp)) for k in range(len(shape))]
    found = [flat // stride % n for stride, n in zip(strides, shape, strict=True)]
    return tuple(fill(index, real, value) for index, value in zip(found, fill_value, strict=True))


class Sorted:
    """The slices of an array along its first axis in ascending order, the first of equal ones marked.

    order : the positions of the slices in the array, (n,); new : booleans (n,).
    """

    def __init__(self, a: Any, equal_nan: bool = True):
        n = shape_of(a)[0]
        rows = reshape(a, shape=(n, get_aval(a).size // n))
        columns = [rows[:, k] for k in range(shape_of(rows)[1])]
        single = len(columns) == 1
        self.order = sorting.argsort(columns[0], 0, stable=True) if single else sorting.lexsort_p(*columns, axis=0)
        same: Any = np.ones(n - 1, bool)
        for column in columns:
            values = take(column, self.order, 0)
            after, before = values[1:], values[:-1]
            pair = equal(after, before)
            if equal_nan and dtype_of(a).kind in "fc":
                pair = logical_or(pair, logical_and(not_equal(after, after), not_equal(before, before)))
            same = logical_and(same, pair)
        self.new = concatenate([np.ones(1, bool), logical_not(same)])

    def where_new(self, size: int) -> tuple[Any, Any, Any]:
        """Of the first `size` different slices: their places in the order, in the array, and whether they are real."""
        places, real = positions(self.new, size)
        places = fill(places, real, 0)
        return places, take(self.order, places, 0), real


def unique(
    a: Any, size: Any, fill_value: Any, axis: Any, index: bool, inverse: bool, counts: bool, equal_nan: bool
) -> Any:
    """`numpy.unique` in a given size: the least entries, then the filling, by default the least entry again.

    Positions of fillings are that of the least entry, their counts 0.
    """
    size = size_of("unique", size)
    along = ravel(a) if axis is None else moveaxis(a, axis, 0)
    n = shape_of(along)[0]
    if not get_aval(along).size:
        raise errors.ShapeError(
            f"unique: an array of shape {shape_of(a)} has no entry to fill {size} places with",
            mend="leave size= away",
        )
    found = Sorted(along, equal_nan)
    places, first, real = found.where_new(size)
    values = take(along, first, 0)
    if fill_value is not None:
        values = fill(values, real, fill_value)
    results = [values if axis is None else moveaxis(values, 0, axis)]
    if index:
        results.append(first)
    if inverse:
        numbers = take(cumsum(astype(found.new, np.intp)) - 1, sorting.argsort(found.order, 0, stable=True), 0)
        results.append(reshape(numbers, shape=shape_of(a)) if axis is None else numbers)
    if counts:
        results.append(_counts(found.new, places, real, n))
    return results[0] if len(results) == 1 else tuple(results)


def _counts(new: Any, places: Any, real: Any, n: int) -> Any:
    """How many slices lie between the places of different ones and the next."""
    index, there = positions(new, shape_of(places)[0] + 1)
    ends = fill(index, there, n)[1:]
    return fill(ends - places, real, 0)
