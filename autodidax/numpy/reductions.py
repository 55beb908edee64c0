"""Sums, products, extrema and running sums along axes, with NumPy's keywords."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of, get_aval, shape_of
from autodidax.numpy.dispatch import (
    NoValue,
    axis_of,
    extended,
    given,
    kept,
    numpy_function,
    operand,
    reduction_axes,
    refuse_out,
)
from autodidax.primitives import cumulative as cum
from autodidax.primitives import elementwise as ew
from autodidax.primitives import reductions as red
from autodidax.primitives.comparison import not_equal
from autodidax.primitives.convert import astype
from autodidax.primitives.scatter import check_cast
from autodidax.primitives.select import where as select
from autodidax.primitives.shape import broadcast_to, concatenate, expand_dims, reduce_sum, reshape


def cast_operand(x: Any, dtype: Any) -> Any:
    """The operand (or the result) of a reduction in the dtype that the reduction is to be computed in."""
    if dtype is None:
        return x
    if np.dtype(dtype).kind not in "biufc":
        raise errors.DtypeError(f"dtype={np.dtype(dtype)} of a traced value", mend="give the dtype of numbers")
    return astype(x, dtype)


def reduced(primitive: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """A reduction over axes, which stay as axes of size 1 with keepdims."""
    axes = reduction_axes(axis, len(shape_of(a)))
    out = primitive(a, axes=axes)
    return expand_dims(out, axes) if kept(keepdims) else out


def masked(a: Any, where: Any, neutral: Any) -> Any:
    """The entries to be reduced: the neutral element where the mask is false."""
    return a if where is True or not given(where) else select(operand(where), a, neutral)


def _initial(initial: Any, x: Any) -> Any:
    """A start value of a reduction in the dtype of its operand or result."""
    initial = operand(initial)
    if shape_of(initial):
        raise errors.ShapeError(f"initial has the shape {shape_of(initial)}", mend="give one number for initial")
    check_cast("initial", initial, dtype_of(x))
    return astype(initial, dtype_of(x))


def is_true(x: Any) -> Any:
    return x if dtype_of(x).kind == "b" else not_equal(x, 0)


def _own_integers(a: Any, dtype: Any) -> Any:
    """The dtype of a sum or product that was asked not to widen small integers."""
    return dtype_of(a) if dtype is None and dtype_of(a).kind in "iu" else dtype


@extended("promote_integers")
def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NoValue,
    where: Any = True, *, promote_integers: bool = True,
) -> Any:  # fmt: skip
    """Sum over axes: (..., n, ...) -> (...); with `promote_integers=False` integers keep their dtype.

    Source: numpy.sum, jax.numpy.sum.
    """
    if not promote_integers:
        a = operand(a)
        dtype = _own_integers(a, dtype)
    if axis is None and dtype is None and keepdims is False and initial is NoValue and where is True and out is None:
        a = operand(a)
        return reduce_sum(a, axes=tuple(range(a.ndim)))
    refuse_out("sum", out)
    a = cast_operand(masked(operand(a), where, 0), dtype)
    total = cast_operand(reduced(reduce_sum, a, axis, keepdims), dtype)
    return total + _initial(initial, total) if given(initial) else total


@numpy_function
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    """Arithmetic mean over axes: (..., n, ...) -> (...); integers give float64.

    Source: numpy.mean.
    """
    a = operand(a)
    if axis is None and dtype is None and keepdims is False and where is True and out is None:
        aval = get_aval(a)
        if aval.dtype.kind in "fc" and aval.dtype != np.float16:
            return reduce_sum(a, axes=tuple(range(len(aval.shape)))) / float(aval.size)
    refuse_out("mean", out)
    kind = dtype_of(a).kind
    if dtype is None and kind in "iub":
        dtype = np.float64
    elif dtype is None and dtype_of(a) == np.float16:
        return astype(mean(a, axis, np.float32, None, keepdims, where=where), np.float16)
    total = sum(a, axis, dtype, None, keepdims, where=where)
    return astype(total / entry_count(a, axis, where, keepdims), dtype_of(total))


def entry_count(a: Any, axis: Any, where: Any = True, keepdims: Any = False) -> Any:
    """How many entries a reduction meets, as a Python float or (with a mask) an array of floats."""
    shape = shape_of(a)
    if where is True or not given(where):
        count = 1.0
        for k in reduction_axes(axis, len(shape)):
            count *= shape[k]
        return count
    mask = broadcast_to(is_true(operand(where)), shape=shape)
    dtype = dtype_of(a)
    return astype(sum(mask, axis, keepdims=keepdims), dtype if dtype.kind in "fc" else np.float64)


@extended("promote_integers")
def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NoValue,
    where: Any = True, *, promote_integers: bool = True,
) -> Any:  # fmt: skip
    """Product over axes: (..., n, ...) -> (...); its derivative is right with zeros among the entries. With
    `promote_integers=False` integers keep their dtype.

    Source: numpy.prod, jax.numpy.prod.
    """
    a = operand(a)
    refuse_out("prod", out)
    if not promote_integers:
        dtype = _own_integers(a, dtype)
    a = cast_operand(masked(a, where, 1), dtype)
    product = cast_operand(reduced(red.reduce_prod, a, axis, keepdims), dtype)
    return product * _initial(initial, product) if given(initial) else product


def _extremum(
    name: str, primitive: Any, pairwise: Any, a: Any, axis: Any, out: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    a = operand(a)
    refuse_out(name, out)
    if given(initial):
        initial = _initial(initial, a)
    if where is not True and given(where):
        if not given(initial):
            raise ValueError(f"{name}: where= needs initial=, as the mask may leave no entry")
        a = masked(a, where, initial)
    if not given(initial):
        return reduced(primitive, a, axis, keepdims)
    shape = shape_of(a)
    axes = reduction_axes(axis, len(shape))
    if builtins.any(shape[k] == 0 for k in axes):
        rest = [(1 if k in axes else n) for k, n in enumerate(shape) if k not in axes or kept(keepdims)]
        return broadcast_to(initial, shape=tuple(rest))
    return pairwise(reduced(primitive, a, axis, keepdims), initial)


@numpy_function
def max(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NoValue, where: Any = True
) -> Any:
    """Largest entry over axes: (..., n, ...) -> (...); entries that tie share the derivative equally.

    Source: numpy.max.
    """
    return _extremum("max", red.reduce_max, ew.maximum, a, axis, out, keepdims, initial, where)


@numpy_function
def min(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = NoValue, where: Any = True
) -> Any:
    """Smallest entry over axes: (..., n, ...) -> (...); entries that tie share the derivative equally.

    Source: numpy.min.
    """
    return _extremum("min", red.reduce_min, ew.minimum, a, axis, out, keepdims, initial, where)


amax = max
amin = min


@numpy_function
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """Largest minus smallest entry over axes.

    Source: numpy.ptp.
    """
    refuse_out("ptp", out)
    return max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims)


@numpy_function
def all(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Any:
    """Whether all entries over axes are true; piecewise constant, so its derivative is zero.

    Source: numpy.all.
    """
    refuse_out("all", out)
    return reduced(red.reduce_and, masked(is_true(operand(a)), where, True), axis, keepdims)


@numpy_function
def any(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Any:
    """Whether any entry over axes is true; piecewise constant, so its derivative is zero.

    Source: numpy.any.
    """
    refuse_out("any", out)
    return reduced(red.reduce_or, masked(is_true(operand(a)), where, False), axis, keepdims)


@numpy_function
def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """Number of entries over axes that are not zero; piecewise constant, so its derivative is zero.

    Source: numpy.count_nonzero.
    """
    keepdims = keepdims if axis is not None or keepdims else False  # of any type, as NumPy has it
    return sum(is_true(operand(a)), axis, keepdims=keepdims)


def _arg_extremum(name: str, primitive: Any, a: Any, axis: Any, out: Any, keepdims: Any) -> Any:
    a = operand(a)
    refuse_out(name, out)
    rank = len(shape_of(a))
    if axis is None:
        found = primitive(reshape(a, shape=(get_aval(a).size,)), axis=0)
        return reshape(found, shape=(1,) * rank) if given(keepdims) and keepdims else found
    if rank == 0 and axis in (0, -1):
        return primitive(reshape(a, shape=(1,)), axis=0)
    k = axis_of(axis, rank)
    found = primitive(a, axis=k)
    return expand_dims(found, (k,)) if given(keepdims) and keepdims else found


@numpy_function
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """Position of the largest entry, the first of several; piecewise constant, so its derivative is zero.

    Source: numpy.argmax.
    """
    return _arg_extremum("argmax", red.argmax, a, axis, out, keepdims)


@numpy_function
def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """Position of the smallest entry, the first of several; piecewise constant, so its derivative is zero.

    Source: numpy.argmin.
    """
    return _arg_extremum("argmin", red.argmin, a, axis, out, keepdims)


def _flat_unless(a: Any, axis: Any) -> tuple[Any, int]:
    """The operand of a running sum and its axis; with None it is flattened, as NumPy does."""
    a = operand(a)
    if axis is None:
        return reshape(a, shape=(get_aval(a).size,)), 0
    if not shape_of(a):
        a = reshape(a, shape=(1,))
    return a, axis_of(axis, len(shape_of(a)))


@numpy_function
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running sum along an axis, or of the flattened array: (..., n, ...) -> the same shape.

    Source: numpy.cumsum.
    """
    refuse_out("cumsum", out)
    a, k = _flat_unless(a, axis)
    return cast_operand(cum.cumsum(cast_operand(a, dtype), axis=k, reverse=False), dtype)


@numpy_function
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running product along an axis, or of the flattened array; its derivative is right with zeros in it.

    Source: numpy.cumprod.
    """
    refuse_out("cumprod", out)
    a, k = _flat_unless(a, axis)
    return cast_operand(cum.cumprod(cast_operand(a, dtype), axis=k, reverse=False), dtype)


def _with_initial(running: Any, x: Any, axis: Any, initial: float, include: bool) -> Any:
    """A running sum or product along an axis that a vector need not name, with the neutral element put before it."""
    x = operand(x)
    x = x if shape_of(x) else reshape(x, shape=(1,))
    if axis is None:
        if len(shape_of(x)) != 1:
            raise errors.ShapeError(f"a running sum or product of an array of shape {shape_of(x)}", mend="give an axis")
        axis = 0
    out = running(x, axis)
    if not include:
        return out
    k = axis_of(axis, len(shape_of(x)))
    first = np.full((*shape_of(out)[:k], 1, *shape_of(out)[k + 1 :]), initial, dtype_of(out))
    return concatenate(first, out, axis=k)


@numpy_function
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Running sum along an axis, on request with a 0 before it.

    Source: numpy.cumulative_sum.
    """
    refuse_out("cumulative_sum", out)
    return _with_initial(lambda a, k: cumsum(a, k, dtype), x, axis, 0, include_initial)


@numpy_function
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Running product along an axis, on request with a 1 before it.

    Source: numpy.cumulative_prod.
    """
    refuse_out("cumulative_prod", out)
    return _with_initial(lambda a, k: cumprod(a, k, dtype), x, axis, 1, include_initial)


def maximum_accumulate(a: Any, axis: int = 0) -> Any:
    """Running maximum along an axis: what numpy.maximum.accumulate gives on traced values."""
    a, k = _flat_unless(a, axis)
    return cum.cummax(a, axis=k, reverse=False)


def minimum_accumulate(a: Any, axis: int = 0) -> Any:
    """Running minimum along an axis: what numpy.minimum.accumulate gives on traced values."""
    a, k = _flat_unless(a, axis)
    return cum.cummin(a, axis=k, reverse=False)


def logaddexp_reduce(a: Any, axis: Any = 0, keepdims: Any = False, initial: Any = NoValue, where: Any = True) -> Any:
    """log(sum(exp(a))) over axes: what numpy.logaddexp.reduce gives on traced values."""
    total = reduced(red.logsumexp, masked(operand(a), where, -np.inf), axis, keepdims)
    return ew.logaddexp(total, initial) if given(initial) else total


__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "count_nonzero", "cumprod", "cumsum", "cumulative_prod",
    "cumulative_sum", "max", "mean", "min",
    "prod", "ptp", "sum",
]  # fmt: skip
