"""Functions that write into their first argument: on traced values they raise, or, with `inplace=False` as in
jax.numpy, return a copy that differs there."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy.callers import WRITERS
from autodidax.numpy.dispatch import axis_of, function_for, numpy_function, operand
from autodidax.numpy.indexing import at
from autodidax.numpy.reductions import cumsum
from autodidax.numpy.shaping import ravel
from autodidax.primitives.comparison import not_equal
from autodidax.primitives.convert import astype
from autodidax.primitives.gather import along_axis_index, take
from autodidax.primitives.scatter import check_cast
from autodidax.primitives.select import where
from autodidax.primitives.shape import reshape


def _refused(function: Any) -> errors.AutodidaxError:
    return errors.MutationError(
        f"{function.__name__}: a traced value cannot be written into, nor be written into a plain array",
        mend=WRITERS[function],
    )


def _writing(copied: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function of the same name where nothing is traced and `inplace` is true. Else it is refused where
    `inplace` is true, and `copied` where it is not."""
    numpy_function = getattr(np, copied.__name__)

    def plain(*args: Any, inplace: Any = True, **kwargs: Any) -> Any:
        return numpy_function(*args, **kwargs) if inplace else copied(*args, inplace=inplace, **kwargs)

    plain.__name__ = numpy_function.__name__
    return function_for(plain)(copied)


def _values(name: str, values: Any, a: Any, count: int) -> Any:
    """The values as a vector of `count` entries, over and over again, in the dtype of the array."""
    values = ravel(operand(values))
    check_cast(name, values, dtype_of(a))
    n = shape_of(values)[0]
    if count and not n:
        raise ValueError(f"{name}: there are no values to write")
    return astype(take(values, np.arange(count) % n, 0) if count else values[:0], dtype_of(a))


@_writing
def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Any:
    """A value, or values over and over again, on the main diagonal: (n, m) or (n, ..., n) -> a copy, if not in place.

    wrap : whether the diagonal of a tall matrix starts again below, one row between.

    Source: numpy.fill_diagonal, jax.numpy.fill_diagonal.
    """
    if inplace:
        raise _refused(np.fill_diagonal)
    a = operand(a)
    shape = shape_of(a)
    if len(shape) < 2:
        raise ValueError("array must be at least 2-d")
    end = None
    if len(shape) == 2:
        step = shape[1] + 1
        end = None if wrap else shape[1] * shape[1]
    elif len(set(shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    else:
        step = 1 + sum(math.prod(shape[: k + 1]) for k in range(len(shape) - 1))
    index = np.arange(math.prod(shape))[:end:step]
    return reshape(at(ravel(a))[index].set(_values("fill_diagonal", val, a, index.size)), shape=shape)


@_writing
def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Any:
    """Values, one after the other and over and over again, where the mask holds: a copy, if not in place.

    Source: numpy.place, jax.numpy.place.
    """
    if inplace:
        raise _refused(np.place)
    arr, mask = operand(arr), not_equal(ravel(operand(mask)), 0)
    flat = ravel(arr)
    count = shape_of(flat)[0]
    if shape_of(mask)[0] != count:
        raise ValueError("place: mask and data must be the same size")
    values = _values("place", vals, arr, count)
    number = cumsum(astype(mask, np.intp)) - 1  # of each entry to write, among them
    return reshape(where(mask, take(values, number, 0, "clip"), flat), shape=shape_of(arr)) if count else arr


@_writing
def put(a: Any, ind: Any, v: Any, mode: Any = None, *, inplace: bool = True) -> Any:
    """Values, over and over again, at positions in the flattened array; where a position occurs twice the last one
    counts. A copy, if not in place.

    mode : "raise" (None), "wrap" or "clip" for positions out of bounds.

    Source: numpy.put, jax.numpy.put.
    """
    if inplace:
        raise _refused(np.put)
    a, ind = operand(a), ravel(operand(ind))
    values = _values("put", v, a, shape_of(ind)[0])
    mode = None if mode == "raise" else mode
    return reshape(at(ravel(a))[ind].set(values, mode=mode), shape=shape_of(a)) if shape_of(ind)[0] else a


@_writing
def put_along_axis(
    arr: Any, indices: Any, values: Any, axis: Any = -1, *, inplace: bool = True, mode: Any = None
) -> Any:
    """Values at positions along an axis that differ from line to line, as argsort gives them: a copy, if not in place.

    mode : what happens to positions out of bounds, see `at`.

    Source: numpy.put_along_axis, jax.numpy.put_along_axis.
    """
    if inplace:
        raise _refused(np.put_along_axis)
    arr, indices, values = operand(arr), operand(indices), operand(values)
    check_cast("put_along_axis", values, dtype_of(arr))
    values = astype(values, dtype_of(arr))
    flat = ravel(arr) if axis is None else arr
    index = along_axis_index(shape_of(flat), indices, axis_of(0 if axis is None else axis, len(shape_of(flat))))
    return reshape(at(flat)[index].set(values, mode=mode), shape=shape_of(arr))


@numpy_function
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> Any:
    """It writes into a plain array; on traced values it raises. Source: numpy.copyto."""
    raise _refused(np.copyto)


@numpy_function
def putmask(a: Any, mask: Any, values: Any) -> Any:
    """It writes into a plain array; on traced values it raises. Source: numpy.putmask."""
    raise _refused(np.putmask)


__all__ = ["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"]
