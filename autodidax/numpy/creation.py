"""Making arrays: from nested lists, of one value, ranges."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, get_aval, shape_of
from autodidax.numpy.dispatch import axis_of, numpy_function, operand, strong
from autodidax.numpy.shaping import full_shape, moveaxis
from autodidax.primitives import rounding
from autodidax.primitives.convert import astype as convert
from autodidax.primitives.scatter import check_cast
from autodidax.primitives.shape import broadcast_to, concatenate, expand_dims, reshape


@numpy_function
def array(
    object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K", subok: bool = False, ndmin: int = 0,
    ndmax: int = 0, like: Any = None,
) -> Any:  # fmt: skip
    """An array from numbers, arrays and traced values in nested lists; the dtype is the one they promote to.

    Source: numpy.array.
    """
    x = strong(operand(object))
    if dtype is not None:
        x = convert(x, dtype)
    rank = len(shape_of(x))
    return reshape(x, shape=(*(1,) * (ndmin - rank), *shape_of(x))) if rank < ndmin else x


@numpy_function
def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Any:
    """As `array`, without a copy where that is possible.

    Source: numpy.asarray.
    """
    return array(a, dtype)


@numpy_function
def asanyarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Any:
    """As `asarray`: traced values have no subclasses.

    Source: numpy.asanyarray.
    """
    return array(a, dtype)


@numpy_function
def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """As `asarray`, of rank 1 at least: traced values have no memory order.

    Source: numpy.ascontiguousarray.
    """
    return array(a, dtype, ndmin=1)


@numpy_function
def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """As `ascontiguousarray`.

    Source: numpy.asfortranarray.
    """
    return array(a, dtype, ndmin=1)


@numpy_function
def copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    """A copy; a traced value is immutable, and stands for itself.

    Source: numpy.copy.
    """
    return strong(operand(a))


@numpy_function
def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    """The array in another dtype.

    Source: numpy.astype.
    """
    return convert(x, dtype)


def _shape_and_dtype(a: Any, dtype: Any, shape: Any) -> tuple[tuple[int, ...], np.dtype]:
    aval = get_aval(operand(a))
    dtype = aval.dtype if dtype is None else np.dtype(dtype)
    return full_shape(shape, 1, ()) if shape is not None else aval.shape, dtype


@numpy_function
def zeros_like(
    a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Plain zeros of the shape and dtype of an array.

    Source: numpy.zeros_like.
    """
    return np.zeros(*_shape_and_dtype(a, dtype, shape))


@numpy_function
def ones_like(
    a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Plain ones of the shape and dtype of an array.

    Source: numpy.ones_like.
    """
    return np.ones(*_shape_and_dtype(a, dtype, shape))


@numpy_function
def empty_like(
    prototype: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Plain zeros of the shape and dtype of an array: what is left open must not depend on the run.

    Source: numpy.empty_like.
    """
    return np.zeros(*_shape_and_dtype(prototype, dtype, shape))


@numpy_function
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None
) -> Any:
    """An array filled with a value, which may be traced and broadcasts to the shape.

    Source: numpy.full.
    """
    fill = strong(operand(fill_value))
    fill = fill if dtype is None else convert(fill, dtype)
    return _filling(fill, full_shape(shape, 1, ()))


def _filling(fill: Any, shape: tuple[int, ...]) -> Any:
    """A value in every place of a shape; axes of size 1 more than the shape has are left out, as NumPy does."""
    own = shape_of(fill)
    extra = len(own) - len(shape)
    if extra > 0 and set(own[:extra]) == {1}:
        fill = reshape(fill, shape=own[extra:])
    return broadcast_to(fill, shape=shape)


@numpy_function
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *,
    device: Any = None,
) -> Any:  # fmt: skip
    """An array of the shape and dtype of another, filled with a value, which may be traced.

    Source: numpy.full_like.
    """
    to_integers = dtype is None
    shape, dtype = _shape_and_dtype(a, dtype, shape)
    fill = strong(operand(fill_value))
    if to_integers:
        check_cast("full_like", fill, dtype)
    return _filling(convert(fill, dtype), shape)


@numpy_function
def arange(*args: Any, **kwargs: Any) -> Any:
    """NumPy's range; traced bounds raise, as the size would depend on values.

    Source: numpy.arange.
    """
    raise errors.ConcretizationTypeError(
        "arange: the size of the result would depend on the values of traced bounds",
        mend="write start + step * np.arange(n) with a known n, or linspace(start, stop, n)",
    )


def _promoting(x: Any) -> Any:
    """What stands for an operand where dtypes promote: a Python scalar yields to arrays."""
    aval = get_aval(x)
    return aval.dtype.type(1).item() if aval.weak_type else aval.dtype


@numpy_function
def linspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: Any = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    """Evenly spaced numbers between bounds, which may be traced arrays: a new axis of size `num`.

    Source: numpy.linspace.
    """
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    start, stop = operand(start), operand(stop)
    inexact = np.result_type(_promoting(start), _promoting(stop), 1.0)
    delta = convert(stop, inexact) - convert(start, inexact)
    start = convert(start, inexact) + 0 * delta  # in the shape of both
    intervals = num - 1 if endpoint else num
    steps = np.arange(num, dtype=inexact).reshape((num, *(1,) * len(shape_of(start))))
    out = start + steps * (delta / intervals if intervals > 0 else delta)
    if endpoint and num > 1:
        last = broadcast_to(convert(stop, inexact), shape=shape_of(start))
        out = concatenate(out[:-1], reshape(last, shape=(1, *shape_of(start))), axis=0)
    if axis != 0:
        out = moveaxis(out, 0, axis_of(axis, len(shape_of(out))))
    if dtype is not None:
        out = convert(rounding.floor(out) if np.dtype(dtype).kind in "iu" else out, dtype)
    return (out, delta / intervals if intervals > 0 else np.nan) if retstep else out


@numpy_function
def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: Any = 0
) -> Any:
    """Numbers spaced evenly on a logarithmic scale: base ** linspace(start, stop, num).

    Source: numpy.logspace.
    """
    base = operand(base)
    if shape_of(base):
        rank = max(len(shape_of(operand(x))) for x in (start, stop, base))
        start, stop, base = (array(x, ndmin=rank) for x in (start, stop, base))
        base = expand_dims(base, (axis_of(axis, rank + 1),))
    out = base ** linspace(start, stop, num, endpoint, axis=axis)
    return out if dtype is None else convert(out, dtype)


@numpy_function
def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: Any = 0) -> Any:
    """Numbers in constant ratio between bounds, which may be traced arrays: a new axis of size `num`.

    Source: numpy.geomspace.
    """
    num = operator.index(num)
    if num < 0:
        raise errors.ShapeError(f"geomspace: {num} points", mend="give a number of points that is not negative")
    start, stop = operand(start), operand(stop)
    inexact = np.result_type(dtype_of(start), dtype_of(stop), np.float64)
    if any(not isinstance(x, Tracer) and np.any(x == 0) for x in (start, stop)):
        raise errors.ArgumentError("geomspace: a bound is 0", mend="give bounds that are not 0")
    start, stop = convert(start, inexact), convert(stop, inexact)
    ratio = stop / start
    start = broadcast_to(start, shape=shape_of(ratio))
    share = np.arange(num) / max(num - 1 if endpoint else num, 1)
    out = start * ratio ** share.reshape((num, *(1,) * len(shape_of(ratio))))
    if endpoint and num > 1:
        last = broadcast_to(stop, shape=(1, *shape_of(ratio)))
        out = concatenate(out[:-1], last, axis=0)
    if axis != 0:
        out = moveaxis(out, 0, axis_of(axis, len(shape_of(out))))
    return out if dtype is None else convert(out, dtype)


@numpy_function
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """The matrix of powers of a vector: (n,) -> (n, N), highest power first.

    Source: numpy.vander.
    """
    x = operand(x)
    if len(shape_of(x)) != 1:
        raise errors.ShapeError(f"vander: x has shape {shape_of(x)}", mend="give a vector: x.ravel()")
    count = shape_of(x)[0] if N is None else operator.index(N)
    if count < 0:
        raise errors.ArgumentError(f"vander: N is {count}", mend="give a number of columns of 0 or more")
    exponents = np.arange(count)
    return reshape(x, shape=(shape_of(x)[0], 1)) ** (exponents if increasing else exponents[::-1])


__all__ = [
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "astype", "copy",
    "empty_like", "full", "full_like", "geomspace", "linspace", "logspace", "ones_like", "vander", "zeros_like",
]  # fmt: skip
