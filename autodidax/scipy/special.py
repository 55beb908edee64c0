"""scipy.special, differentiable to every order: the functions bear SciPy's names, and keep float32."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from autodidax.core.avals import broadcast_shapes
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.core.primitive import Pointwise
from autodidax.numpy.dispatch import axes_of, function_for, operand
from autodidax.primitives import special as _primitives
from autodidax.primitives.comparison import equal, isfinite, less_equal, logical_and, logical_not
from autodidax.primitives.convert import real, stop_gradient_p
from autodidax.primitives.elementwise import absolute, exp, log, sign
from autodidax.primitives.normalization import log_softmax as _log_softmax_p
from autodidax.primitives.normalization import softmax as _softmax_p
from autodidax.primitives.reductions import logsumexp as _logsumexp_p
from autodidax.primitives.reductions import reduce_max
from autodidax.primitives.select import where
from autodidax.primitives.shape import broadcast_to, expand_dims, reduce_sum


def _public(primitive: Pointwise, doc: str) -> Callable[..., Any]:
    op: Callable[..., Any] = primitive.op
    op.__doc__ = f"{doc}\n\nSource: scipy.special.{op.__name__}.\n"
    return op


erf = _public(_primitives.erf, "Error function: 2/sqrt(pi) times the integral of exp(-t**2) from 0 to x.")
erfc = _public(_primitives.erfc, "Complementary error function, 1 - erf(x).")
erfcx = _public(_primitives.erfcx, "Scaled complementary error function, exp(x**2) erfc(x).")
erfinv = _public(_primitives.erfinv, "Inverse of erf, on (-1, 1).")
erfcinv = _public(_primitives.erfcinv, "Inverse of erfc, on (0, 2).")
ndtr = _public(_primitives.ndtr, "Distribution function of the standard normal distribution.")
log_ndtr = _public(_primitives.log_ndtr, "Logarithm of ndtr, accurate in both tails, its derivatives too.")
ndtri = _public(_primitives.ndtri, "Inverse of ndtr, on (0, 1).")
expit = _public(_primitives.expit, "Logistic function, 1/(1 + exp(-x)).")
logit = _public(_primitives.logit, "Inverse of expit: log(x/(1 - x)) on (0, 1).")
log_expit = _public(_primitives.log_expit, "Logarithm of expit.")
xlogy = _public(_primitives.xlogy, "x log(y), and 0 where x is 0.")
xlog1py = _public(_primitives.xlog1py, "x log(1 + y), and 0 where x is 0.")
entr = _public(_primitives.entr, "Entropy of one probability: -x log(x), and 0 at 0.")
rel_entr = _public(_primitives.rel_entr, "Relative entropy of one probability: x log(x/y), and 0 at x = 0.")
kl_div = _public(_primitives.kl_div, "x log(x/y) - x + y, which is rel_entr made convex in both.")
gamma = _public(_primitives.gamma, "Gamma function.")
gammaln = _public(_primitives.gammaln, "Logarithm of the absolute value of the gamma function.")
loggamma = _public(_primitives.loggamma, "Principal branch of the logarithm of the gamma function, of a real argument.")
digamma = psi = _public(_primitives.digamma, "Derivative of gammaln.")
beta = _public(_primitives.beta, "Beta function, gamma(a) gamma(b)/gamma(a + b).")
betaln = _public(_primitives.betaln, "Logarithm of the absolute value of the beta function.")
i0 = _public(_primitives.i0, "Modified Bessel function of the first kind, order 0.")
i0e = _public(_primitives.i0e, "exp(-|x|) i0(x).")
i1 = _public(_primitives.i1, "Modified Bessel function of the first kind, order 1.")
i1e = _public(_primitives.i1e, "exp(-|x|) i1(x).")
iv = _public(_primitives.iv, "Modified Bessel function of the first kind, iv(v, x), of constant order v.")
ive = _public(_primitives.ive, "exp(-|x|) iv(v, x), of constant order v.")
polygamma = _public(_primitives.polygamma, "polygamma(n, x), the n-th derivative of digamma, of constant order n >= 0.")


def zeta(x: Any, q: Any = None) -> Any:
    """Hurwitz zeta function: the sum of (k + q)**-x over k = 0, 1, ...; without q the Riemann zeta function.

    Differentiable in q.

    Source: scipy.special.zeta.
    """
    return _primitives.riemann_zeta(x) if q is None else _primitives.zeta(x, q)


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


__all__ = [
    "beta", "betaln", "digamma", "entr", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "expit", "gamma", "gammaln", "i0",
    "i0e", "i1", "i1e", "iv", "ive", "kl_div", "log_expit", "log_ndtr", "log_softmax", "loggamma", "logit",
    "logsumexp", "ndtr", "ndtri", "polygamma", "psi", "rel_entr", "softmax", "xlog1py", "xlogy", "zeta",
]  # fmt: skip
