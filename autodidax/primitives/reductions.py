"""Reductions over axes: products, extrema, logic, positions of extrema, logsumexp (sums stand in shape.py)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import Tracer, dtype_of, peel, shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.comparison import equal, logical_or, not_equal
from autodidax.primitives.convert import astype
from autodidax.primitives.cumulative import exclusive_products
from autodidax.primitives.elementwise import exp
from autodidax.primitives.select import where
from autodidax.primitives.shape import expand_dims, reduce_sum, reduced_dtype, reshape, transpose, without_axes


class _Reduction(Primitive):
    """ufunc.reduce over axes, which go: (..., n, ...) -> (...)."""

    ufunc: np.ufunc

    def impl(self, x, *, axes):
        return self.ufunc.reduce(x, axis=axes)

    def batch(self, args, dims, *, axes):
        return self(args[0], axes=tuple(k + 1 for k in axes)), 0


def _samples(rng, complex_ok=False):
    for shape, axes in [((2, 3), (0,)), ((2, 3), (0, 1)), ((2, 3, 4), (1,)), ((2, 3, 4), (0, 2)), ((2, 3), ())]:
        yield sample(rng.normal(size=shape), axes=axes)
    yield sample(rng.normal(), axes=(), name="0-d")
    yield sample(rng.normal(size=(3, 0)), axes=(0,), name="empty result")
    yield sample(rng.normal(size=(3,)).astype(np.float32), axes=(0,), name="float32")
    if complex_ok:
        yield sample(rng.normal(size=(2, 3)) + 0.5j, axes=(1,), name="complex")


class ReduceProd(_Reduction):
    """Product over axes, which go; its derivative holds with any number of zeros, in every order."""

    ufunc = np.multiply

    def abstract_eval(self, x, *, axes):
        return ShapedArray(without_axes(x.shape, axes), reduced_dtype(np.multiply, x.dtype))

    def jvp(self, out, primals, tangents, *, axes):
        x, t = _last_axis_flat(primals[0], axes), _last_axis_flat(tangents[0], axes)
        last = len(shape_of(x)) - 1
        return reduce_sum(t * exclusive_products(x, last), axes=(last,))

    def samples(self, rng):
        yield from _samples(rng, complex_ok=True)
        yield sample(rng.normal(size=(0, 3)), axes=(0,), name="empty product")
        yield sample(np.array([[2.0, 0.0, 3.0], [0.0, 1.0, 0.0], [1.0, 2.0, 3.0]]), axes=(1,), name="zeros")
        yield sample(np.array([3, 4], np.int8), axes=(0,), name="integers widen")


def _last_axis_flat(x: Any, axes: tuple[int, ...]) -> Any:
    """x with the given axes brought to the end and made one."""
    shape = shape_of(x)
    kept = tuple(k for k in range(len(shape)) if k not in axes)
    if kept + axes != tuple(range(len(shape))):
        x = transpose(x, permutation=kept + axes)
    flat = (*(shape[k] for k in kept), math.prod(shape[k] for k in axes))
    return reshape(x, shape=flat) if len(axes) != 1 else x


class _ReduceExtremum(_Reduction):
    """Largest or smallest entry over axes, which go; entries that tie share the derivative equally."""

    def abstract_eval(self, x, *, axes):
        _require_entries(self.name, x.shape, axes)
        return ShapedArray(without_axes(x.shape, axes), x.dtype)

    def jvp(self, out, primals, tangents, *, axes):
        (x,), (t,) = primals, tangents
        # a nan wins, as in the value, and its derivative is nan
        chosen = logical_or(equal(x, expand_dims(out, axes)), not_equal(x, x))
        count = astype(reduce_sum(chosen, axes=axes), dtype_of(out))
        return reduce_sum(where(chosen, t, 0), axes=axes) / where(not_equal(out, out), np.nan, count)

    def samples(self, rng):
        yield from _samples(rng)
        ties = np.array([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]])
        yield sample(ties, axes=(1,), nonsmooth=True, name="ties")
        yield sample(ties, axes=(0, 1), nonsmooth=True, name="ties over all")


def _require_entries(name: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    if any(shape[k] == 0 for k in axes) and all(without_axes(shape, axes)):
        raise errors.ShapeError(
            f"{name} over axes {axes} of shape {shape}: no entries, and no value to begin with",
            mend="give initial=..., or an array with entries",
        )


class ReduceMax(_ReduceExtremum):
    """Largest entry over axes, which go; ties share the derivative equally."""

    ufunc = np.maximum


class ReduceMin(_ReduceExtremum):
    """Smallest entry over axes, which go; ties share the derivative equally."""

    ufunc = np.minimum


class _ReduceLogical(_Reduction):
    zero_derivative = True

    def impl(self, x, *, axes):
        return self.ufunc.reduce(x, axis=axes, dtype=bool)

    def abstract_eval(self, x, *, axes):
        return ShapedArray(without_axes(x.shape, axes), np.dtype(bool))

    def samples(self, rng):
        for shape, axes in [((2, 3), (0,)), ((2, 3), (0, 1)), ((0, 3), (0,)), ((), ())]:
            yield sample(rng.random(shape) < 0.5, axes=axes)
        yield sample(rng.normal(size=(2, 3)), axes=(1,), name="numbers")


class ReduceOr(_ReduceLogical):
    """Whether any entry is true, over axes, which go."""

    ufunc = np.logical_or


class ReduceAnd(_ReduceLogical):
    """Whether all entries are true, over axes, which go."""

    ufunc = np.logical_and


class ArgExtremum(Primitive):
    """Position of the largest (or smallest) entry along one axis, which goes; the first of several, or of nans."""

    zero_derivative = True

    def __init__(self, name, fun):
        super().__init__(name, numpy_function=fun)
        self.fun = fun

    def impl(self, x, *, axis):
        return self.fun(x, axis=axis)

    def abstract_eval(self, x, *, axis):
        _require_entries(self.name, x.shape, (axis,))
        return ShapedArray(without_axes(x.shape, (axis,)), np.dtype(np.intp))

    def batch(self, args, dims, *, axis):
        return self(args[0], axis=axis + 1), 0

    def samples(self, rng):
        for shape, axis in [((2, 3), 0), ((2, 3), 1), ((3,), 0), ((2, 3, 4), 1)]:
            yield sample(rng.normal(size=shape), axis=axis)
        yield sample(np.array([1.0, 3.0, 3.0]), axis=0, name="ties")
        yield sample(np.arange(3), axis=0, name="integers")


class LogSumExp(Primitive):
    """log(sum(exp(x))) over axes, which go, without overflow; the derivative is the softmax-weighted sum.

    Integers become floats. Where all entries are -inf (or there is none) the result is -inf and the derivative 0;
    where some are inf the result is inf and they share the derivative equally. Source: scipy.special.logsumexp.
    """

    def impl(self, x, *, axes):
        x = np.asarray(x)
        if x.dtype.kind not in "f":
            x = x.astype(np.float64)
        largest = np.maximum.reduce(x, axis=axes, keepdims=True, initial=-np.inf)
        finite = np.isfinite(largest)
        shift = np.where(finite, largest, x.dtype.type(0))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            terms = np.exp(x - shift)
            shape = without_axes(x.shape, axes)
            # the largest terms are counted, and the rest goes through log1p, which keeps the digits of a small sum
            top = x == shift
            count = np.add.reduce(top, axis=axes, dtype=x.dtype)
            rest = np.add.reduce(np.where(top, x.dtype.type(0), terms), axis=axes) / count
            out = np.log1p(rest) + np.log(count) + np.reshape(shift, shape)
            if finite.all():
                return out
            return np.where(np.reshape(finite, shape), out, np.log(np.add.reduce(terms, axis=axes)))[()]

    def abstract_eval(self, x, *, axes):
        dtype = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
        return ShapedArray(without_axes(x.shape, axes), dtype)

    def jvp(self, out, primals, tangents, *, axes):
        (x,), (t,) = primals, tangents
        return reduce_sum(_softmax(x, out, axes) * t, axes=axes)

    def batch(self, args, dims, *, axes):
        return logsumexp(args[0], axes=tuple(k + 1 for k in axes)), 0

    def samples(self, rng):
        yield from _samples(rng)
        yield sample(rng.normal(size=(0, 3)), axes=(0,), nonsmooth=True, name="of no entries")
        yield sample(np.array([1000.0, 1001.0, -1000.0]), axes=(0,), name="large")
        yield sample(np.array([[-np.inf, 1.0], [-np.inf, -np.inf]]), axes=(1,), name="-inf")
        yield sample(np.array([[np.inf, 1.0, np.inf]]), axes=(1,), nonsmooth=True, name="inf")


def _softmax(x: Any, total: Any, axes: tuple[int, ...]) -> Any:
    """exp(x - total), with 0 for an empty total and equal shares for an infinite one.

    It is divided by its sum, which is one but for the rounding of a large total.
    """
    plain = peel(total)
    total = expand_dims(total, axes)
    if not isinstance(plain, Tracer) and np.all(np.isfinite(plain)):
        terms = exp(x - total)
        return terms / expand_dims(reduce_sum(terms, axes=axes), axes)
    infinite = equal(total, np.inf)
    chosen = equal(x, np.inf)
    count = expand_dims(astype(reduce_sum(chosen, axes=axes), dtype_of(total)), axes)
    finite = where(infinite, 0, where(equal(total, -np.inf), 0, total))
    shares = astype(chosen, dtype_of(total)) / where(equal(count, 0), 1, count)
    terms = exp(where(infinite, 0, x) - finite)
    one = expand_dims(reduce_sum(terms, axes=axes), axes)
    return where(infinite, shares, terms / where(equal(total, -np.inf), 1, one))


reduce_prod = ReduceProd("reduce_prod", numpy_function=np.prod)
reduce_max = ReduceMax("reduce_max", numpy_function=np.max)
reduce_min = ReduceMin("reduce_min", numpy_function=np.min)
reduce_or = ReduceOr("reduce_or", numpy_function=np.any)
reduce_and = ReduceAnd("reduce_and", numpy_function=np.all)
argmax = ArgExtremum("argmax", np.argmax)
argmin = ArgExtremum("argmin", np.argmin)
logsumexp = LogSumExp("logsumexp")

__all__ = [
    "argmax", "argmin", "logsumexp", "reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_prod",
    "reduce_sum",
]  # fmt: skip
