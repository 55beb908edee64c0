"""Parabolic cylinder functions with their derivatives, differentiable in the variable to every order."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.primitive import sample
from autodidax.primitives.special.several_results import SeveralResults, parameter_samples

_CONSTANT = "has no derivative in its parameter: there is no closed form for it"


def _weber_slopes(outs: Any, v: Any, x: Any) -> list[Any]:
    return [outs[1], (0.25 * (x * x) - v - 0.5) * outs[0]]


def _whittaker_slopes(outs: Any, a: Any, x: Any) -> list[Any]:
    return [outs[1], (a - 0.25 * (x * x)) * outs[0]]


_SIDES = sample(np.array([0, 1, 3]), np.array([-1.5, 0.0, 4.0]), name="both sides")
pbdv = SeveralResults(
    "pbdv", sc.pbdv, _CONSTANT, _weber_slopes, module=__name__, samples=parameter_samples((1,), -2.0, 3.0, _SIDES)
)
pbvv = SeveralResults(
    "pbvv", sc.pbvv, _CONSTANT, _weber_slopes, module=__name__, samples=parameter_samples((2,), 0.2, 3.0, single=False)
)
pbwa = SeveralResults(
    "pbwa", sc.pbwa, _CONSTANT, _whittaker_slopes, module=__name__, samples=parameter_samples((1,), -2.0, 3.0)
)
