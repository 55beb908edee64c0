"""Choosing entries: where, select, take, and the searches whose result depends on values."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, get_aval, shape_of
from autodidax.numpy.concreteness import concrete, describe
from autodidax.numpy.dispatch import axis_of, function_for, numpy_function, operand, promote, refuse_out, strong
from autodidax.primitives import gather, rearrange, rounding
from autodidax.primitives.comparison import not_equal
from autodidax.primitives.select import where as select_entries
from autodidax.primitives.shape import broadcast_to, reshape


def known(name: str, x: Any) -> Any:
    """The plain value of an argument that decides about the shape of a result."""
    x = operand(x)
    value = concrete(x) if isinstance(x, Tracer) else x
    if isinstance(value, Tracer):
        raise errors.ConcretizationTypeError(
            f"{name}: the size of the result depends on the values of {describe(x)}, which are not known",
            mend="use where(condition, x, y), which keeps the shape; or compute the condition from plain arrays",
        )
    return value


@numpy_function
def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Entries of x where the condition holds, else of y; with the condition alone, the positions where it holds.

    The branch that is not taken has no influence on a derivative, whatever it holds.

    Source: numpy.where.
    """
    if x is None and y is None:
        return nonzero(condition)
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
        out = select_entries(operand(condition), operand(choice), out)
    return out


@numpy_function
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """For each entry of an integer array the entry of the choice with that number.

    Source: numpy.choose.
    """
    refuse_out("choose", out)
    a = operand(a)
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
    a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise", fill_value: Any = None
) -> Any:
    if mode in ("raise", "wrap", "clip"):
        return np.take(a, indices, axis, out, mode)
    return gather.take(np.asarray(a), np.asarray(indices), axis, mode, fill_value)


@function_for(_plain_take)
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise", fill_value: Any = None) -> Any:
    """Entries along an axis, or of the flattened array, at integer positions: (..., n, ...) -> (..., *indices, ...).

    As in JAX, mode may also be "fill" (entries out of bounds are `fill_value`, by default NaN).

    Source: numpy.take, jax.numpy.take.
    """
    refuse_out("take", out)
    return gather.take(operand(a), operand(indices), axis, mode, fill_value)


@numpy_function
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """Entries at positions along an axis that differ from line to line, as argsort gives them.

    Source: numpy.take_along_axis.
    """
    return gather.take_along_axis(operand(arr), operand(indices), axis)


@numpy_function
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """The slices along an axis where a 1-d condition holds; its values have to be known.

    Source: numpy.compress.
    """
    refuse_out("compress", out)
    a = operand(a)
    if axis is None:
        a, axis = reshape(a, shape=(get_aval(a).size,)), 0
    return a[rearrange.along(axis_of(axis, len(shape_of(a))), np.flatnonzero(known("compress", condition)))]


@numpy_function
def extract(condition: Any, arr: Any) -> Any:
    """The entries of the flattened array where the condition holds; its values have to be known.

    Source: numpy.extract.
    """
    arr = operand(arr)
    return reshape(arr, shape=(get_aval(arr).size,))[np.flatnonzero(known("extract", condition))]


@numpy_function
def nonzero(a: Any) -> Any:
    """Positions of the entries that are not zero, one array an axis; the values have to be known.

    Source: numpy.nonzero.
    """
    return np.nonzero(known("nonzero", a))


@numpy_function
def flatnonzero(a: Any) -> Any:
    """Positions in the flattened array of the entries that are not zero; the values have to be known.

    Source: numpy.flatnonzero.
    """
    return np.flatnonzero(known("flatnonzero", a))


@numpy_function
def argwhere(a: Any) -> Any:
    """Positions of the entries that are not zero, one row each; the values have to be known.

    Source: numpy.argwhere.
    """
    return np.argwhere(known("argwhere", a))


@numpy_function
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """NaN and infinities replaced by numbers (by default 0 and the largest finite ones); their derivative is 0.

    Source: numpy.nan_to_num.
    """
    return strong(rounding.nan_to_num(operand(x), nan, posinf, neginf))


__all__ = [
    "argwhere", "choose", "compress", "extract", "flatnonzero", "nan_to_num", "nonzero", "select", "take",
    "take_along_axis", "where",
]  # fmt: skip
