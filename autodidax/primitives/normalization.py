"""Exponentials over their sum along axes, and the logarithm of that."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax.core.avals import ShapedArray
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.elementwise import exp
from autodidax.primitives.shape import expand_dims, reduce_sum


class _Normalized(Primitive):
    """What both have in common: (..., n, ...) -> same shape; integers become floats."""

    def abstract_eval(self, x, *, axes):
        return ShapedArray(x.shape, x.dtype if x.dtype.kind == "f" else np.dtype(np.float64))

    def batch(self, args, dims, *, axes):
        return self(args[0], axes=tuple(k + 1 for k in axes)), 0

    def samples(self, rng):
        for shape, axes in [((2, 3), (1,)), ((2, 3), (0, 1)), ((2, 3, 4), (0, 2)), ((2, 3), ()), ((0, 3), (1,))]:
            yield sample(rng.normal(size=shape), axes=axes)
        yield sample(rng.normal(), axes=(), name="0-d")
        yield sample(rng.normal(size=(4,)).astype(np.float32), axes=(0,), name="float32")
        yield sample(np.array([1000.0, 1001.0, 900.0]), axes=(0,), name="large")
        yield sample(np.array([[-np.inf, 1.0, 2.0], [0.5, -0.5, 0.0]]), axes=(1,), nonsmooth=True, name="-inf")


class Softmax(_Normalized):
    """exp(x) / sum(exp(x)) over axes, without overflow. Source: scipy.special.softmax."""

    def impl(self, x, *, axes):
        with np.errstate(invalid="ignore"):
            terms = np.exp(_below_largest(x, axes))
            return (terms / np.add.reduce(terms, axis=axes, keepdims=True))[()]

    def jvp(self, out, primals, tangents, *, axes):
        return out * _centered(tangents[0], out, axes)

    def vjp(self, ct, out, primals, active, *, axes):
        return [_balanced(out * ct, out, axes)]


class LogSoftmax(_Normalized):
    """x - logsumexp(x) over axes. Source: scipy.special.log_softmax."""

    def impl(self, x, *, axes):
        with np.errstate(invalid="ignore", divide="ignore"):
            shifted = _below_largest(x, axes)
            terms = np.exp(shifted)
            # the largest terms are counted, and the rest goes through log1p, which keeps the digits of a small sum
            top = shifted == 0
            count = np.add.reduce(top, axis=axes, dtype=shifted.dtype, keepdims=True)
            rest = np.add.reduce(np.where(top, shifted.dtype.type(0), terms), axis=axes, keepdims=True)
            return (shifted - (np.log1p(rest / count) + np.log(count)))[()]

    def jvp(self, out, primals, tangents, *, axes):
        return _centered(tangents[0], exp(out), axes)

    def vjp(self, ct, out, primals, active, *, axes):
        return [_balanced(ct, exp(out), axes)]


def _below_largest(x: Any, axes: tuple[int, ...]) -> np.ndarray:
    """x less its largest entry over axes, where that is finite."""
    x = np.asarray(x)
    if x.dtype.kind != "f":
        x = x.astype(np.float64)
    largest = np.maximum.reduce(x, axis=axes, keepdims=True, initial=-np.inf)
    return x - np.where(np.isfinite(largest), largest, x.dtype.type(0))


def _centered(t: Any, weights: Any, axes: tuple[int, ...]) -> Any:
    """t less its weighted mean. The mean is taken off twice: what rounding leaves of it the first time is large beside
    the move of an entry whose weight is nearly one."""
    for _ in range(2):
        t = t - expand_dims(reduce_sum(weights * t, axes=axes), axes)
    return t


def _balanced(ct: Any, weights: Any, axes: tuple[int, ...]) -> Any:
    """ct less its sum, dealt out by the weights: the transpose of `_centered`."""
    for _ in range(2):
        ct = ct - weights * expand_dims(reduce_sum(ct, axes=axes), axes)
    return ct


softmax = Softmax("softmax")
log_softmax = LogSoftmax("log_softmax")

__all__ = ["log_softmax", "softmax"]
