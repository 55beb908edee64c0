"""Choosing entries: where, select, take, and the searches whose result depends on values."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, get_aval, shape_of
from autodidax.numpy import sized
from autodidax.numpy.concreteness import concrete, describe
from autodidax.numpy.dispatch import axis_of, function_for, numpy_function, operand, promote, refuse_out, strong
from autodidax.numpy.shaping import ravel
from autodidax.numpy.sized import with_size
from autodidax.primitives import gather, rearrange, rounding
from autodidax.primitives.comparison import less, not_equal
from autodidax.primitives.select import where as select_entries
from autodidax.primitives.shape import broadcast_to, stack


def known(name: str, x: Any) -> Any:
    """The plain value of an argument that decides about the shape of a result."""
    x = operand(x)
    value = concrete(x) if isinstance(x, Tracer) else x
    if isinstance(value, Tracer):
        raise errors.ConcretizationTypeError(
            f"{name}: the size of the result depends on the values of {describe(x)}, which are not known",
            mend=f"use where(condition, x, y), which keeps the shape; or anp.{name}(..., size=n); "
            "or compute the condition from plain arrays",
        )
    return value


@with_size
def where(condition: Any, x: Any = None, y: Any = None, /, *, size: Any = None, fill_value: Any = None) -> Any:
    """Entries of x where the condition holds, else of y; with the condition alone, the positions where it holds, as of
    `nonzero`.

    The branch that is not taken has no influence on a derivative, whatever it holds.

    Source: numpy.where, jax.numpy.where.
    """
    if x is None and y is None:
        return np.nonzero(known("where", condition)) if size is None else sized.nonzero(condition, size, fill_value)
    if size is not None or fill_value is not None:
        raise errors.ArgumentError(
            "where: size= and fill_value= are for positions, where the condition is given alone",
            mend="leave them away",
        )
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    condition = operand(condition)
    if dtype_of(condition).kind != "b":
        condition = not_equal(condition, 0)
    return select_entries(condition, operand(x), operand(y))


@numpy_function
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """For each entry the choice of the first condition that holds, else the default.

    Source: numpy.select.
    """
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    out = operand(default)
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        condition = operand(condition)
        if dtype_of(condition).kind != "b":
            raise errors.DtypeError(f"select: a condition of dtype {dtype_of(condition)}", mend="give booleans: c != 0")
        out = select_entries(condition, operand(choice), out)
    return out


@numpy_function
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """For each entry of an integer array the entry of the choice with that number.

    Source: numpy.choose.
    """
    refuse_out("choose", out)
    if mode not in ("raise", "wrap", "clip"):
        raise errors.ArgumentError(f"choose: there is no mode={mode!r}", mend="use 'raise', 'wrap' or 'clip'")
    a = operand(a)
    if dtype_of(a).kind not in "biu":
        raise errors.DtypeError(f"choose: numbers of choices of dtype {dtype_of(a)}", mend="give integers")
    options = promote([operand(c) for c in choices])
    shape = np.broadcast_shapes(shape_of(a), *map(shape_of, options))
    if mode == "wrap":
        a = a % len(options)
    elif mode == "raise" and not isinstance(a, Tracer) and np.any((a < 0) | (a >= len(options))):
        raise ValueError("invalid entry in choice array")
    result = broadcast_to(options[0], shape=shape)
    for k, option in enumerate(options[1:], 1):
        result = select_entries(a >= k, option, result)
    return result


def _plain_take(
    a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise", fill_value: Any = None, **_: Any
) -> Any:
    if mode in ("raise", "wrap", "clip"):
        return np.take(a, indices, axis, out, mode)
    return gather.take(np.asarray(a), np.asarray(indices), axis, mode, fill_value)


@function_for(_plain_take)
def take(
    a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise", fill_value: Any = None, *,
    unique_indices: bool = False, indices_are_sorted: bool = False,
) -> Any:  # fmt: skip
    """Entries along an axis, or of the flattened array, at integer positions: (..., n, ...) -> (..., *indices, ...).

    As in JAX, mode may also be "fill" (entries out of bounds are `fill_value`, by default NaN); what else is said of
    the indices has no effect.

    Source: numpy.take, jax.numpy.take.
    """
    refuse_out("take", out)
    return gather.take(operand(a), operand(indices), axis, mode, fill_value)


def _plain_take_along_axis(
    arr: Any, indices: Any, axis: Any = -1, mode: Any = None, fill_value: Any = None, *,
    wrap_negative_indices: Any = None,
) -> Any:  # fmt: skip
    if mode is None and wrap_negative_indices is None:
        return np.take_along_axis(arr, indices, axis)
    return _along_axis(np.asarray(arr), np.asarray(indices), axis, mode, fill_value, wrap_negative_indices)


def _along_axis(arr: Any, indices: Any, axis: Any, mode: Any, fill_value: Any, wrap_negative_indices: Any) -> Any:
    if wrap_negative_indices is not None and not wrap_negative_indices:
        n = get_aval(arr).size if axis is None else shape_of(arr)[axis_of(axis, len(shape_of(arr)))]
        # below the least index that counts from the end, which is out of bounds
        indices = select_entries(less(indices, 0), -n - 1, indices)
    return gather.take_along_axis(arr, indices, axis, mode, fill_value)


@function_for(_plain_take_along_axis)
def take_along_axis(
    arr: Any, indices: Any, axis: Any = -1, mode: Any = None, fill_value: Any = None, *,
    wrap_negative_indices: Any = None,
) -> Any:  # fmt: skip
    """Entries at positions along an axis that differ from line to line, as argsort gives them.

    mode : what happens to positions out of bounds: they raise (None), or as in JAX "clip" or "fill" with `fill_value`.
    wrap_negative_indices : False puts negative positions out of bounds; else they count from the end.

    Source: numpy.take_along_axis, jax.numpy.take_along_axis.
    """
    return _along_axis(operand(arr), operand(indices), axis, mode, fill_value, wrap_negative_indices)


@with_size
def compress(
    condition: Any, a: Any, axis: Any = None, out: Any = None, *, size: Any = None, fill_value: Any = 0
) -> Any:
    """The slices along an axis where a 1-d condition holds. Its values have to be known, unless `size` says how many
    slices there are: those behind the last one are the fill_value.

    Source: numpy.compress, jax.numpy.compress.
    """
    refuse_out("compress", out)
    a = operand(a)
    if axis is None:
        a, axis = ravel(a), 0
    axis = axis_of(axis, len(shape_of(a)))
    if len(shape_of(operand(condition))) != 1:
        raise errors.ShapeError(
            f"compress: a condition of shape {shape_of(operand(condition))}", mend="give a condition of one axis"
        )
    if size is None:
        return a[rearrange.along(axis, np.flatnonzero(known("compress", condition)))]
    mask = not_equal(operand(condition), 0)
    if len(shape_of(mask)) != 1 or shape_of(mask)[0] > shape_of(a)[axis]:
        raise errors.ShapeError(
            f"compress: a condition of shape {shape_of(mask)} for axis {axis} of shape {shape_of(a)}",
            mend="give a vector of booleans, no longer than the axis",
        )
    return sized.taken("compress", a, mask, size, _filling(fill_value), axis)


def _filling(fill_value: Any) -> Any:
    return 0 if fill_value is None else fill_value


@with_size
def extract(condition: Any, arr: Any, *, size: Any = None, fill_value: Any = 0) -> Any:
    """The entries of the flattened array where the condition holds; for `size`, see `compress`.

    Source: numpy.extract, jax.numpy.extract.
    """
    arr = ravel(operand(arr))
    if size is None:
        return arr[np.flatnonzero(known("extract", condition))]
    return compress(ravel(operand(condition)), arr, size=size, fill_value=fill_value)


@with_size
def nonzero(a: Any, *, size: Any = None, fill_value: Any = None) -> Any:
    """Positions of the entries that are not zero, one array an axis. The values have to be known, unless `size` says
    how many positions there are: those behind the last one are the fill_value, by default 0.

    Source: numpy.nonzero, jax.numpy.nonzero.
    """
    return np.nonzero(known("nonzero", a)) if size is None else sized.nonzero(a, size, fill_value)


@with_size
def flatnonzero(a: Any, *, size: Any = None, fill_value: Any = None) -> Any:
    """Positions in the flattened array of the entries that are not zero; for `size`, see `nonzero`.

    Source: numpy.flatnonzero, jax.numpy.flatnonzero.
    """
    if size is None:
        return np.flatnonzero(known("flatnonzero", a))
    return sized.nonzero(ravel(operand(a)), size, fill_value)[0]


@with_size
def argwhere(a: Any, *, size: Any = None, fill_value: Any = None) -> Any:
    """Positions of the entries that are not zero, one row each; for `size`, see `nonzero`.

    Source: numpy.argwhere, jax.numpy.argwhere.
    """
    if size is None:
        return np.argwhere(known("argwhere", a))
    found = sized.nonzero(a, size, fill_value)
    return stack(*found, axis=1) if found else np.zeros((operator.index(size), 0), np.intp)


@numpy_function
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """NaN and infinities replaced by numbers (by default 0 and the largest finite ones); their derivative is 0.

    Source: numpy.nan_to_num.
    """
    for name, value in (("nan", nan), ("posinf", posinf), ("neginf", neginf)):
        if value is not None and dtype_of(operand(value)).kind == "c":
            raise errors.DtypeError(f"nan_to_num: {name} is complex", mend=f"give a real number for {name}")
    return strong(rounding.nan_to_num(operand(x), nan, posinf, neginf))


__all__ = [
    "argwhere", "choose", "compress", "extract", "flatnonzero", "nan_to_num", "nonzero", "select", "take",
    "take_along_axis", "where",
]  # fmt: skip
