"""Reductions and running sums along axes."""

from __future__ import annotations

import numpy as np

from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives import elementwise as ew
from autodidax.primitives.comparison import equal
from autodidax.primitives.convert import astype
from autodidax.primitives.select import where
from autodidax.primitives.shape import expand_dims, flip, reduce_sum, without_axes


class _ReduceExtremum(Primitive):
    """Largest or smallest entry over axes, which go; entries that tie share the derivative equally."""

    ufunc: np.ufunc

    def impl(self, x, *, axes):
        return self.ufunc.reduce(x, axis=axes)

    def abstract_eval(self, x, *, axes):
        return ShapedArray(without_axes(x.shape, axes), x.dtype)

    def jvp(self, out, primals, tangents, *, axes):
        (x,), (t,) = primals, tangents
        chosen = equal(x, expand_dims(out, axes))
        count = astype(reduce_sum(chosen, axes=axes), out.dtype)
        return reduce_sum(where(chosen, t, 0), axes=axes) / count

    def batch(self, args, dims, *, axes):
        return self(args[0], axes=tuple(k + 1 for k in axes)), 0

    def samples(self, rng):
        yield sample(rng.normal(size=(2, 3)), axes=(0,))
        yield sample(rng.normal(size=(2, 3)), axes=(0, 1))
        yield sample(rng.normal(size=(2, 3, 4)), axes=(1,))
        yield sample(rng.normal(), axes=())
        yield sample(rng.normal(size=(3, 0)), axes=(0,))
        yield sample(rng.normal(size=(3,)).astype(np.float32), axes=(0,))
        yield sample(np.array([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]]), axes=(1,), nonsmooth=True, name="ties")


class ReduceMax(_ReduceExtremum):
    ufunc = np.maximum


class ReduceMin(_ReduceExtremum):
    ufunc = np.minimum


class _ReduceLogical(Primitive):
    zero_derivative = True
    ufunc: np.ufunc

    def impl(self, x, *, axes):
        return self.ufunc.reduce(x, axis=axes, dtype=bool)

    def abstract_eval(self, x, *, axes):
        return ShapedArray(without_axes(x.shape, axes), np.dtype(bool))

    def batch(self, args, dims, *, axes):
        return self(args[0], axes=tuple(k + 1 for k in axes)), 0

    def samples(self, rng):
        yield sample(rng.random((2, 3)) < 0.5, axes=(0,))
        yield sample(rng.random((2, 3)) < 0.5, axes=(0, 1))
        yield sample(rng.random((0, 3)) < 0.5, axes=(0,))


class ReduceOr(_ReduceLogical):
    """Whether any entry is true, over axes, which go."""

    ufunc = np.logical_or


class ReduceAnd(_ReduceLogical):
    """Whether all entries are true, over axes, which go."""

    ufunc = np.logical_and


class ArgExtremum(Primitive):
    """Position of the largest (or smallest) entry along one axis, which goes; the first of several."""

    zero_derivative = True

    def __init__(self, name, fun):
        super().__init__(name, numpy_function=fun)
        self.fun = fun

    def impl(self, x, *, axis):
        return self.fun(x, axis=axis)

    def abstract_eval(self, x, *, axis):
        return ShapedArray(without_axes(x.shape, (axis,)), np.dtype(np.intp))

    def batch(self, args, dims, *, axis):
        return self(args[0], axis=axis + 1), 0

    def samples(self, rng):
        yield sample(rng.normal(size=(2, 3)), axis=0)
        yield sample(rng.normal(size=(3,)), axis=0)


class CumSum(Primitive):
    """Running sum along one axis: (..., n, ...) -> same shape and dtype."""

    linear = True

    def impl(self, x, *, axis, reverse):
        if reverse:
            return np.flip(np.cumsum(np.flip(x, axis), axis=axis), axis)
        return np.cumsum(x, axis=axis)

    def abstract_eval(self, x, *, axis, reverse):
        return ShapedArray(x.shape, np.cumsum(np.empty(0, x.dtype)).dtype)

    def transpose(self, ct, x, *, axis, reverse):  # the lower-triangular matrix of ones becomes the upper one
        return [cumsum(ct, axis=axis, reverse=not reverse)]

    def batch(self, args, dims, *, axis, reverse):
        return cumsum(args[0], axis=axis + 1, reverse=reverse), 0

    def samples(self, rng):
        yield sample(rng.normal(size=(3, 4)), axis=1, reverse=True)
        yield sample(rng.normal(size=(3, 4)), axis=0, reverse=False)
        yield sample(rng.normal(size=(0, 4)), axis=0, reverse=False)
        yield sample(rng.normal(size=(3,)).astype(np.float32), axis=0, reverse=False)


reduce_max = ReduceMax("reduce_max")
reduce_min = ReduceMin("reduce_min")
reduce_or = ReduceOr("reduce_or")
reduce_and = ReduceAnd("reduce_and")
argmax = ArgExtremum("argmax", np.argmax)
argmin = ArgExtremum("argmin", np.argmin)
cumsum = CumSum("cumsum")

__all__ = [
    "argmax", "argmin", "cumsum", "ew", "flip", "reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_sum",
    "shape_of",
]  # fmt: skip
