"""Kelvin functions, the Bessel functions I and K on the ray of angle pi/4.

The derivatives of ber and bei come from I, without a division by x; those of ker and kei from their equation, as K
would lose to rounding what is not infinite of it at 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.convert import imag, real
from autodidax.primitives.elementwise import also
from autodidax.primitives.special.bessel import iv
from autodidax.primitives.special.several_results import SeveralResults, argument_samples

_RAY = complex(math.sqrt(0.5), math.sqrt(0.5))


def _curvature(x: Any) -> Any:
    """The second derivative of ber + i bei."""
    z = x * _RAY
    return 0.5j * (iv(0, z) + iv(2, z))


_BOTH = sample(np.array([-3.0, 0.0, 15.0]), name="negative, at 0, large")
_POSITIVE = sample(np.array([0.05, 15.0]), name="small, large")


def _entire(name: str, ufunc: Any, slope: Any) -> Pointwise:
    return also(pointwise(name, ufunc, slope, module=__name__, complex_ok=False), _BOTH)


def _decaying(name: str, ufunc: Any, slope: Any) -> Pointwise:
    return also(pointwise(name, ufunc, slope, domain=(0.5, 4.0), module=__name__, complex_ok=False), _POSITIVE)


berp = _entire("berp", sc.berp, lambda _, x: real(_curvature(x)))
beip = _entire("beip", sc.beip, lambda _, x: imag(_curvature(x)))
ber = _entire("ber", sc.ber, lambda _, x: berp(x))
bei = _entire("bei", sc.bei, lambda _, x: beip(x))
kerp: Pointwise = _decaying("kerp", sc.kerp, lambda y, x: -(kei(x) + y / x))
keip: Pointwise = _decaying("keip", sc.keip, lambda y, x: ker(x) - y / x)
ker: Pointwise = _decaying("ker", sc.ker, lambda _, x: kerp(x))
kei: Pointwise = _decaying("kei", sc.kei, lambda _, x: keip(x))

kelvin = SeveralResults(
    "kelvin", sc.kelvin, lambda outs, x: [outs[2], outs[3], _curvature(x), 1.0j * outs[1] - outs[3] / x],
    samples=argument_samples(0.5, 4.0, _POSITIVE), module=__name__,
)  # fmt: skip
