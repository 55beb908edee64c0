"""Sums of exponentials, and what is normalized by them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

from autodidax.core.avals import broadcast_shapes
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy.dispatch import axes_of, function_for, operand
from autodidax.primitives.comparison import equal, isfinite, less_equal, logical_and, logical_not
from autodidax.primitives.convert import real, stop_gradient_p
from autodidax.primitives.elementwise import absolute, exp, log, sign
from autodidax.primitives.normalization import log_softmax as _log_softmax_p
from autodidax.primitives.normalization import softmax as _softmax_p
from autodidax.primitives.reductions import logsumexp as _logsumexp_p
from autodidax.primitives.reductions import reduce_max
from autodidax.primitives.select import where
from autodidax.primitives.shape import broadcast_to, expand_dims, reduce_sum


@function_for(scipy.special.logsumexp)
def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """log(sum(b exp(a))) over axes, without overflow: (..., n, ...) -> (...); with return_sign also the sum's sign.

    Source: scipy.special.logsumexp.
    """
    a = operand(a)
    if b is None and not return_sign:
        axes = axes_of(axis, len(shape_of(a)))
        out = _logsumexp_p(a, axes=axes)
        return expand_dims(out, axes) if keepdims else out
    counted = a
    if b is not None:
        b = operand(b)
        shape = broadcast_shapes("logsumexp", shape_of(a), shape_of(b))
        a, b = broadcast_to(a, shape=shape), broadcast_to(b, shape=shape)
        counted = where(equal(b, 0), -math.inf, a)
    axes = axes_of(axis, len(shape_of(a)))
    largest = expand_dims(reduce_max(stop_gradient_p(counted), axes=axes), axes)
    largest = where(isfinite(largest), largest, 0)
    shifted = a - largest
    if b is not None:  # a term of weight zero does not count, whatever it is, but the sum varies with its weight
        limit = math.log(np.finfo(dtype_of(shifted)).max)
        beyond = logical_and(equal(b, 0), logical_not(less_equal(real(shifted), limit)))
        shifted = where(beyond, limit, shifted)
    terms = exp(shifted)
    total = reduce_sum(terms if b is None else b * terms, axes=axes)
    if keepdims:
        total = expand_dims(total, axes)
    else:
        largest = reduce_sum(largest, axes=axes)
    if return_sign:
        return log(absolute(total)) + largest, sign(total)
    return log(total) + largest


@function_for(scipy.special.softmax)
def softmax(x: Any, axis: Any = None) -> Any:
    """exp(x) divided by its sum over axes: (..., n, ...) -> same shape; source: scipy.special.softmax."""
    x = operand(x)
    if dtype_of(x).kind == "c":
        return exp(log_softmax(x, axis=axis))
    return _softmax_p(x, axes=axes_of(axis, len(shape_of(x))))


def _plain_log_softmax(x: Any, axis: Any = None) -> Any:
    """As SciPy's, which has 0 for an entry with nearly all the weight; this one keeps its digits."""
    x = np.asarray(x)
    if x.dtype.kind not in "fiub":
        return scipy.special.log_softmax(x, axis=axis)
    return _log_softmax_p.impl(x, axes=axes_of(axis, x.ndim))


@function_for(_plain_log_softmax)
def log_softmax(x: Any, axis: Any = None) -> Any:
    """Logarithm of softmax: x - logsumexp(x) over axes; source: scipy.special.log_softmax."""
    x = operand(x)
    if dtype_of(x).kind == "c":
        return x - logsumexp(x, axis=axis, keepdims=True)
    return _log_softmax_p(x, axes=axes_of(axis, len(shape_of(x))))
