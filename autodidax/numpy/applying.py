"""Functions applied to parts of arrays, insertions, packed bits."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, frames, shape_of
from autodidax.numpy.concreteness import concrete, known_value
from autodidax.numpy.dispatch import axis_of, function_for, holds_tracer, numpy_function, operand
from autodidax.numpy.indexing import at
from autodidax.numpy.joining import concatenate, stack
from autodidax.numpy.reductions import sum as sum_of
from autodidax.numpy.shaping import broadcast_to, expand_dims, moveaxis, ravel
from autodidax.primitives import rearrange, sorting
from autodidax.primitives.comparison import logical_not, logical_or, not_equal
from autodidax.primitives.convert import astype, real
from autodidax.primitives.gather import take
from autodidax.primitives.scatter import check_cast
from autodidax.primitives.select import where
from autodidax.primitives.shape import pad, reshape
from autodidax.transforms.vmap import vmap


def _of_functions(traced: Callable[..., Any]) -> Callable[..., Any]:
    """As `numpy_function`, for what calls functions: these may close over traced values, so NumPy's own serves where no
    transform is open."""
    plain = getattr(np, traced.__name__)
    function = function_for(lambda *args, **kwargs: (traced if frames() else plain)(*args, **kwargs))(traced)
    function.numpy_function = plain  # type: ignore[attr-defined]  # what it stands for, see protocols
    return function


@numpy_function
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """A copy with values put before the given positions along an axis, or of the flattened array.

    Source: numpy.insert.
    """
    arr, values = operand(arr), operand(values)
    if holds_tracer(obj):
        obj = known_value(operand(obj))
        if obj is None:
            raise errors.ConcretizationTypeError(
                "insert: the positions are not known",
                mend="give plain positions; under jit make them static (static_argnums)",
            )
    if axis is None:
        arr, k = ravel(arr), 0
    else:
        k = axis_of(axis, len(shape_of(arr)))
    check_cast("insert", values, dtype_of(arr))
    values = astype(values, dtype_of(arr))
    shape, n = shape_of(arr), shape_of(arr)[k]
    index = np.arange(*obj.indices(n)) if isinstance(obj, slice) else np.array(obj)
    if index.dtype == bool:
        if index.ndim != 1:
            raise ValueError("boolean array argument obj to insert must be one dimensional")
        index = np.flatnonzero(index)
    elif index.dtype.kind not in "iu" and not (isinstance(obj, list | tuple) and index.size == 0):
        raise IndexError(f"insert: positions of dtype {index.dtype}; give integers")
    elif index.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    if index.size == 1:
        return _insert_at(arr, index, values, k)
    index = index.astype(np.intp) if index.size == 0 else index
    if np.any((index < -n) | (index > n)):
        raise IndexError(f"index {obj} is out of bounds for axis {k} with size {n}")
    index = np.where(index < 0, index + n, index)
    index[np.argsort(index, kind="stable")] += np.arange(len(index))
    new = broadcast_to(values, (*shape[:k], len(index), *shape[k + 1 :]))
    source = np.empty(n + len(index), np.intp)  # where each entry of the result is in the two arrays joined
    old = np.ones(len(source), bool)
    old[index] = False
    source[old], source[index] = np.arange(n), n + np.arange(len(index))
    return take(concatenate([arr, new], axis=k), source, k)


def _insert_at(arr: Any, index: np.ndarray, values: Any, k: int) -> Any:
    """Any number of slices put before one position."""
    shape, n, position = shape_of(arr), shape_of(arr)[k], int(index.item())
    if not -n <= position <= n:
        raise IndexError(f"index {position} is out of bounds for axis {k} with size {n}")
    position += n if position < 0 else 0
    own = shape_of(values)
    if len(own) < len(shape):
        values = reshape(values, shape=(*(1,) * (len(shape) - len(own)), *own))
    if index.ndim == 0:  # as NumPy: values of a position alone count along the first axis
        values = moveaxis(values, 0, k)
    new = broadcast_to(values, (*shape[:k], shape_of(values)[k], *shape[k + 1 :]))
    before, after = (arr[rearrange.along(k, s)] for s in (slice(0, position), slice(position, None)))
    return concatenate([before, new, after], axis=k)


@_of_functions
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """For each entry the function (or number) of the last condition that holds, of one more of them where none does.

    Each function gets the entries where its condition holds; where the condition is not known (jit, vmap), all entries,
    so it has to be elementwise then.

    Source: numpy.piecewise.
    """
    x = operand(x)
    conditions = _conditions(x, condlist)
    if len(conditions) == len(funclist) - 1:
        none = logical_not(functools.reduce(logical_or, conditions))
        conditions = [*conditions, none]
    elif len(conditions) != len(funclist):
        count = len(conditions)
        raise ValueError(f"with {count} condition(s), either {count} or {count + 1} functions are expected")
    shape, dtype = shape_of(x), dtype_of(x)
    out: Any = np.zeros(shape, dtype)
    for condition, function in zip(conditions, funclist, strict=True):
        held = known_value(condition)
        if not callable(function):
            out = where(condition, _result(function, dtype), out)
        elif held is None:
            out = where(condition, _result(function(x, *args, **kw), dtype), out)
        elif np.any(held):
            index = np.nonzero(np.broadcast_to(held, shape)) if shape else (None,)
            out = at(out)[index].set(_result(function(x[index], *args, **kw), dtype))
    return out


def _result(value: Any, dtype: Any) -> Any:
    value = operand(value)
    check_cast("piecewise", value, dtype)
    return astype(value, dtype)


def _conditions(x: Any, condlist: Any) -> list[Any]:
    """The conditions as a list of masks, of a single one too."""
    conditions: list[Any]
    if isinstance(condlist, list | tuple):
        conditions = list(condlist)
    else:
        condlist = operand(condlist)
        conditions = [condlist[k] for k in range(shape_of(condlist)[0])] if shape_of(condlist) else [condlist]
    single = not isinstance(conditions[0], list | np.ndarray | Tracer) or not shape_of(operand(conditions[0]))
    if single and shape_of(x):
        conditions = [condlist]
    masks = [operand(c) for c in conditions]
    return [c if dtype_of(c).kind == "b" else not_equal(c, 0) for c in masks]


@_of_functions
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of vectors applied along an axis: (..., n, ...) -> (..., *shape of its result, ...).

    Under vmap and jit it is mapped, and traced once; else it is called once a vector, as NumPy does.

    Source: numpy.apply_along_axis.
    """
    arr = operand(arr)
    k = axis_of(axis, len(shape_of(arr)))
    last = moveaxis(arr, k, -1)
    lead = shape_of(last)[:-1]
    count = int(np.prod(lead))
    if not count:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    rows = reshape(last, shape=(count, shape_of(last)[-1]))
    call = lambda row: operand(func1d(row, *args, **kwargs))
    if isinstance(concrete(arr) if isinstance(arr, Tracer) else arr, Tracer):
        found = vmap(call)(rows)
    else:
        found = stack([call(rows[i]) for i in range(count)])
    own = shape_of(found)[1:]
    found = reshape(found, shape=(*lead, *own))
    return moveaxis(found, range(len(lead), len(lead) + len(own)), range(k, k + len(own)))


@_of_functions
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """A function of an array and an axis applied to one axis after the other; axes that it removes stay, of size 1.

    Source: numpy.apply_over_axes.
    """
    a = operand(a)
    for axis in np.atleast_1d(axes).tolist():
        k = len(shape_of(a)) + axis if axis < 0 else axis
        result = operand(func(a, k))
        if len(shape_of(result)) != len(shape_of(a)):
            result = expand_dims(result, k)
        if len(shape_of(result)) != len(shape_of(a)):
            raise ValueError("function is not returning an array of the correct shape")
        a = result
    return a


@numpy_function
def real_if_close(a: Any, tol: Any = 100) -> Any:
    """The real part of complex numbers whose imaginary parts are all within `tol` epsilons of 0 (or `tol` itself, where
    it is at most 1), else the numbers; their values have to be known.

    Source: numpy.real_if_close.
    """
    a = operand(a)
    if dtype_of(a).kind != "c":
        return a
    values = known_value(a)
    if values is None:
        raise errors.ConcretizationTypeError(
            "real_if_close: the dtype of the result depends on values that are not known",
            mend="take the real part: x.real",
        )
    limit = tol * np.finfo(dtype_of(a)).eps if tol > 1 else tol
    return real(a) if np.all(np.abs(values.imag) < limit) else a


@numpy_function
def sort_complex(a: Any) -> Any:
    """A copy in ascending order along the last axis, as complex numbers.

    Source: numpy.sort_complex.
    """
    a = sorting.sort(operand(a), -1)
    if dtype_of(a).kind == "c":
        return a
    return astype(a, np.complex64 if dtype_of(a).char in "bhBH" else np.complex128)


def _bit_axis(name: str, a: Any, axis: Any, bitorder: Any) -> tuple[Any, np.ndarray]:
    """The integers with the axis of their bits last, and the weights of eight bits."""
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    a = ravel(a) if axis is None else moveaxis(a, axis_of(axis, len(shape_of(a))), -1)
    weights = np.left_shift(np.uint8(1), np.arange(8, dtype=np.uint8))
    return a, weights[::-1] if bitorder == "big" else weights


@numpy_function
def packbits(a: Any, /, axis: Any = None, bitorder: Any = "big") -> Any:
    """Integers or booleans as bits, eight in a byte along an axis, or of the flattened array.

    Source: numpy.packbits.
    """
    a = operand(a)
    if dtype_of(a).kind not in "iub":
        raise TypeError("Expected an input array of integer or boolean data type")
    bits, weights = _bit_axis("packbits", a, axis, bitorder)
    n = shape_of(bits)[-1]
    bits = astype(not_equal(bits, 0), np.uint8)
    bits = pad(bits, widths=(*((0, 0) for _ in shape_of(bits)[:-1]), (0, -n % 8)))
    bits = reshape(bits, shape=(*shape_of(bits)[:-1], (n + 7) // 8, 8))
    packed = astype(sum_of(bits * weights, axis=-1), np.uint8)
    return packed if axis is None else moveaxis(packed, -1, axis)


@numpy_function
def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: Any = "big") -> Any:
    """The bits of bytes, eight for each along an axis, or of the flattened array; the first `count` of them, with zeros
    behind, or all but the last -count.

    Source: numpy.unpackbits.
    """
    a = operand(a)
    if dtype_of(a) != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    packed, weights = _bit_axis("unpackbits", a, axis, bitorder)
    lead, n = shape_of(packed)[:-1], shape_of(packed)[-1]
    bits = astype(not_equal(packed[..., None] & weights, 0), np.uint8)
    bits = reshape(bits, shape=(*lead, 8 * n))
    if count is not None:
        bits = bits[..., :count]
        if count < 0 and -count > 8 * n:
            raise ValueError(f"-count {-count} is larger than the number of bits {8 * n}")
        if count > 8 * n:
            bits = pad(bits, widths=(*((0, 0) for _ in lead), (0, count - 8 * n)))
    return bits if axis is None else moveaxis(bits, -1, axis)


@numpy_function
def isfortran(a: Any) -> Any:
    """Whether an array lies in memory with its first axis running fastest; traced values have no memory of their own.

    Source: numpy.isfortran.
    """
    raise errors.UnsupportedError(
        "isfortran: traced values have no memory of their own",
        mend="leave the question away, or ask it of plain arrays",
    )


__all__ = [
    "apply_along_axis", "apply_over_axes", "insert", "isfortran", "packbits", "piecewise", "real_if_close",
    "sort_complex", "unpackbits",
]  # fmt: skip
