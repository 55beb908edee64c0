"""Error functions and the normal distribution, accurate in the tails in every order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.avals import ShapedArray
from autodidax.core.primitive import Pointwise, Primitive, pointwise, sample
from autodidax.primitives.comparison import less
from autodidax.primitives.convert import real
from autodidax.primitives.elementwise import also, divide, exp
from autodidax.primitives.select import where

_TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)
_ROOT_TWO_OVER_PI = math.sqrt(2.0 / math.pi)

erf = pointwise("erf", sc.erf, lambda _, x: _TWO_OVER_ROOT_PI * exp(-(x * x)))
erfc = pointwise("erfc", sc.erfc, lambda _, x: -_TWO_OVER_ROOT_PI * exp(-(x * x)))
erfinv = pointwise(
    "erfinv", sc.erfinv, lambda y, _: exp(y * y) / _TWO_OVER_ROOT_PI, domain=(-0.9, 0.9), complex_ok=False
)
erfcinv = pointwise(
    "erfcinv", sc.erfcinv, lambda y, _: exp(y * y) / -_TWO_OVER_ROOT_PI, domain=(0.1, 1.9), complex_ok=False
)
ndtr = pointwise("ndtr", sc.ndtr, lambda _, x: 0.5 * _ROOT_TWO_OVER_PI * exp(-0.5 * (x * x)))
ndtri = pointwise(
    "ndtri", sc.ndtri, lambda y, _: exp(0.5 * (y * y)) / (0.5 * _ROOT_TWO_OVER_PI), domain=(0.1, 0.9), complex_ok=False
)


def _hazard(x: Any) -> Any:
    """The normal density over the distribution function, without the cancellation of exp(-x**2/2 - log_ndtr(x))."""
    return _ROOT_TWO_OVER_PI / sc.erfcx(x * -math.sqrt(0.5))


def _tail_fraction(t: np.ndarray, k: int) -> np.ndarray:
    """k/(t + (k+1)/(t + ...)) for t > 3/2, cut off after 120 terms at its fixed point there for a real t."""
    last = k + 120
    fraction = 2.0 * last / (np.hypot(abs(t), 2.0 * math.sqrt(last)) + t)
    for n in range(last - 1, k - 1, -1):
        fraction = n / (t + fraction)
    return fraction


_TAIL = -1.5  # below it the continued fraction


class NormalTailRatio(Primitive):
    """r_k(x), by which the derivatives of log_ndtr and erfcx stay accurate in every order: (...) -> (...), k >= 1.

    With h the density over the distribution function, r_1 = h + x and r_k (r_{k+1} - x) = k, so that h' = -h r_1 and
    r_k' = r_k (r_{k+1} - r_k) = k - r_k (r_k - x). Where x is negative and the recurrence cancels, the same is read as
    the continued fraction r_k = k/(-x + (k+1)/(-x + ...)).

    Source: the repeated integrals of the complementary error function, https://dlmf.nist.gov/7.18.
    """

    def impl(self, x, *, k):
        x = np.asarray(x)
        tail = x.real < _TAIL
        near = np.where(tail, 0.0, x)
        out = near + _hazard(near)
        for n in range(1, k):
            out = n / out + near
        if tail.any():
            out = np.asarray(out)
            out[tail] = _tail_fraction(-x[tail], k)
        return out[()]

    def abstract_eval(self, x, *, k):
        return ShapedArray(x.shape, sc.erfcx(np.ones(1, x.dtype)).dtype)

    def jvp(self, out, primals, tangents, *, k):
        x = primals[0]
        tail = out * (self(x, k=k + 1) - out)
        near = k - out * (
            ndtr_hazard(x) if k == 1 else divide(k - 1.0, self(x, k=k - 1))
        )  # r_k - x, without cancelling
        return tangents[0] * where(less(real(x), _TAIL), tail, near)

    def batch(self, args, dims, *, k):
        return self(*args, k=k), 0

    def samples(self, rng):
        for k in (1, 2, 4):
            yield sample(np.array([-30.0, -8.0, -2.1, -1.9, -0.3, 0.0, 1.5, 6.0]), k=k)
        yield sample(rng.normal(), k=1)
        yield sample(rng.normal(size=(0, 2)), k=1)
        yield sample(np.array([-8.0, -1.0, 2.0], np.float32), k=2)


_TAILS = sample(np.array([-30.0, -8.0, 8.0]), name="tails")
normal_tail_ratio = NormalTailRatio("normal_tail_ratio")
erfcx = also(
    pointwise("erfcx", sc.erfcx, lambda y, x: y * (-math.sqrt(2.0) * normal_tail_ratio(-math.sqrt(2.0) * x, k=1))),
    sample(np.array([-2.5, 8.0, 30.0]), name="tails"),
)
log_ndtr = also(pointwise("log_ndtr", sc.log_ndtr, lambda _, x: ndtr_hazard(x)), _TAILS)
ndtr_hazard: Pointwise = also(pointwise("ndtr_hazard", _hazard, lambda y, x: -(y * normal_tail_ratio(x, k=1))), _TAILS)
