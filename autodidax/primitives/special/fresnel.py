"""Fresnel integrals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.interpreters import dtype_of
from autodidax.core.primitive import sample
from autodidax.primitives.elementwise import cos, exp, sin
from autodidax.primitives.rounding import rint
from autodidax.primitives.special.normal import normal_tail_ratio
from autodidax.primitives.special.several_results import SeveralResults, argument_samples


def _quarter_turns(z: Any) -> Any:
    """z**2 for the sine and cosine of pi z**2 / 2: less a multiple of 4, so that a large real z keeps its digits."""
    if dtype_of(z).kind == "c":
        return z * z
    whole = rint(z)
    rest = z - whole
    odd = whole - 2.0 * rint(0.5 * whole)  # -1, 0 or 1
    return odd * odd + 2.0 * (odd * rest) + 4.0 * _fraction(rint(0.5 * whole) * rest) + rest * rest


def _fraction(x: Any) -> Any:
    return x - rint(x)


def _fresnel_slopes(_outs: Any, z: Any) -> list[Any]:
    angle = (0.5 * math.pi) * _quarter_turns(z)
    return [sin(angle), cos(angle)]


fresnel = SeveralResults(
    "fresnel", sc.fresnel, _fresnel_slopes, module=__name__,
    samples=argument_samples(-2.0, 2.0, sample(np.array([-7.3, 0.0, 20.6]), name="at 0, large"), complex_ok=True),
)  # fmt: skip

_TURN = complex(math.cos(0.25 * math.pi), -math.sin(0.25 * math.pi))  # exp(-i pi/4)


def _plus_slopes(outs: Any, x: Any) -> list[Any]:
    """The second is erfcx(exp(-i pi/4) x) / 2, whose derivatives do not cancel for large x."""
    ratio = normal_tail_ratio(-math.sqrt(2.0) * (x * _TURN), k=1)
    return [-exp(1.0j * (x * x)), outs[1] * (-math.sqrt(2.0) * _TURN * ratio)]


def _minus_slopes(outs: Any, x: Any) -> list[Any]:
    turn = _TURN.conjugate()
    ratio = normal_tail_ratio(-math.sqrt(2.0) * (x * turn), k=1)
    return [-exp(-1.0j * (x * x)), outs[1] * (-math.sqrt(2.0) * turn * ratio)]


_FAR = sample(np.array([-2.5, 0.0, 12.0]), name="negative, at 0, large")
modfresnelp = SeveralResults(
    "modfresnelp", sc.modfresnelp, _plus_slopes, module=__name__, samples=argument_samples(-1.0, 3.0, _FAR)
)
modfresnelm = SeveralResults(
    "modfresnelm", sc.modfresnelm, _minus_slopes, module=__name__, samples=argument_samples(-1.0, 3.0, _FAR)
)
for p in (modfresnelp, modfresnelm):
    p.checked = "SciPy's first result is wrong for negative arguments, its derivative is that of the integral"
