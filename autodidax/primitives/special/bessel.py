"""Bessel functions."""

from __future__ import annotations

import scipy.special as sc

from autodidax.core.primitive import Pointwise, pointwise
from autodidax.primitives.elementwise import sign
from autodidax.primitives.special.orders import not_in, order_samples

# modified Bessel functions of the first kind, and the same times exp(-|x|)

i0 = pointwise("i0", sc.i0, lambda _, x: i1(x), complex_ok=False)
i1: Pointwise = pointwise("i1", sc.i1, lambda _, x: 0.5 * (i0(x) + iv(2, x)), complex_ok=False)
iv: Pointwise = pointwise(
    "iv", sc.iv, nin=2, samples=order_samples(0.5, 4.0), module=__name__,
    products=(not_in("iv", "order"), lambda t, _z, v, x: t * (0.5 * (iv(v - 1, x) + iv(v + 1, x)))),
)  # fmt: skip
i0e = pointwise("i0e", sc.i0e, lambda y, x: i1e(x) - sign(x) * y, complex_ok=False)
i1e: Pointwise = pointwise("i1e", sc.i1e, lambda y, x: 0.5 * (i0e(x) + ive(2, x)) - sign(x) * y, complex_ok=False)
ive: Pointwise = pointwise(
    "ive", sc.ive, nin=2, samples=order_samples(0.5, 4.0), module=__name__,
    products=(
        not_in("ive", "order"),
        lambda t, z, v, x: t * (0.5 * (ive(v - 1, x) + ive(v + 1, x)) - sign(x) * z),
    ),
)  # fmt: skip
