"""Airy functions, plain and scaled, and their integrals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.interpreters import dtype_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.comparison import greater
from autodidax.primitives.convert import real
from autodidax.primitives.elementwise import sign, sqrt
from autodidax.primitives.select import where
from autodidax.primitives.special.order_derivatives import bessel_derivative
from autodidax.primitives.special.several_results import SeveralResults, argument_samples

_SIDES = sample(np.array([-7.0, -1.0, 0.0, 6.0]), name="both sides")


def _airy_slopes(outs: Any, x: Any) -> list[Any]:
    ai, aip, bi, bip = outs
    return [aip, x * ai, bip, x * bi]


airy = SeveralResults(
    "airy", sc.airy, _airy_slopes, samples=argument_samples(-3.0, 2.0, _SIDES, complex_ok=True), module=__name__
)


def _scaled_slopes(outs: Any, x: Any) -> list[Any]:
    """exp(zeta) Ai and exp(-zeta) Bi and the same of their derivatives, for real x.

    For x > 1 by Bessel functions of order 1/3 and 2/3 of zeta = 2/3 x**(3/2), the derivatives of which do not cancel.
    """
    ai, aip, bi, bip = outs
    large, positive = greater(x, 1.0), greater(x, 0.0)
    y = where(large, x, 2.0)
    root = sqrt(y)
    zeta = (2.0 / 3.0) * y * root

    def slope(function: str, order: float) -> Any:
        return bessel_derivative(order, zeta, function=function, a=0, n=1)

    third = y * (1.0 / math.sqrt(3.0))
    grown = third * (slope("ive", -1.0 / 3.0) + slope("ive", 1.0 / 3.0))
    grown_prime = third * root * (slope("ive", -2.0 / 3.0) + slope("ive", 2.0 / 3.0))
    far = [
        0.5 * ai / y + third * (1.0 / math.pi) * slope("kve", 1.0 / 3.0),
        aip / y - third * root * (1.0 / math.pi) * slope("kve", 2.0 / 3.0),
        0.5 * bi / y + grown,
        bip / y + grown_prime,
    ]
    beside = where(positive, sqrt(where(positive, x, 1.0)), 0.0)  # exp(-zeta) is a phase for negative x, and left out
    near = [aip + beside * ai, x * ai + beside * aip, bip - beside * bi, x * bi - beside * bip]
    return [where(large, f, n) for f, n in zip(far, near, strict=True)]


class AiryScaledComplex(Primitive):
    """airye of a complex array; its last two results, scaled by the exponential of a modulus, are not holomorphic."""

    multiple_results = True

    def impl(self, z):
        return list(sc.airye(z))

    def abstract_eval(self, z):
        return [z.update(weak_type=False)] * 4

    def jvp(self, out, primals, tangents):
        (z,), (t,) = primals, tangents
        ai, aip, bi, bip = out
        root = sqrt(z)
        turn = t * root
        modulus = sign(real((2.0 / 3.0) * z * root)) * real(turn)  # the tangent of |Re zeta|
        return [t * aip + turn * ai, t * (z * ai) + turn * aip, t * bip - modulus * bi, t * (z * bi) - modulus * bip]

    def batch(self, args, dims):
        return self(*args), [0] * 4

    def samples(self, rng):
        for shape in [(), (3,), (2, 2), (0,)]:
            yield sample(rng.uniform(0.5, 2.0, shape) * (1.0 + 0.0j) + 1j * rng.uniform(0.5, 1.5, shape))
        yield sample(rng.uniform(-2.0, -1.0, 3) - 1.0j)
        yield sample((rng.uniform(0.5, 2.0, 3) + 1j).astype(np.complex64))


airye_complex = AiryScaledComplex("airye_complex", module=__name__)


class AiryScaled(SeveralResults):
    """airye: Ai and its derivative times exp(2/3 x**(3/2)), Bi and its derivative times exp(-|Re 2/3 x**(3/2)|)."""

    def __call__(self, *args: Any, **params: Any) -> Any:
        return airye_complex(*args) if dtype_of(args[0]).kind == "c" else super().__call__(*args)


airye = AiryScaled(
    "airye", sc.airye, _scaled_slopes, module=__name__,
    samples=argument_samples(0.2, 3.0, sample(np.array([1.5, 20.0, 300.0]), name="large")),
)  # fmt: skip


def _integral_slopes(_outs: Any, x: Any) -> list[Any]:
    right, left = airy(x), airy(-x)
    return [right[0], right[2], left[0], left[2]]


itairy = SeveralResults(
    "itairy", sc.itairy, _integral_slopes, samples=argument_samples(0.2, 3.0, sample(np.array([-2.0, -0.5]))),
    module=__name__,
)  # fmt: skip
itairy.checked = "SciPy computes it to some seven digits only, its derivatives to all"
