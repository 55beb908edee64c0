"""Spheroidal wave functions with their derivatives, differentiable in the variable to every order.

The derivative of the second result follows from the equation, away from its singular points -1 and 1. SciPy's radial
functions of the second kind are accurate for c x above 3 only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.special.several_results import SeveralResults, parameter_samples

_CONSTANT = "has no derivative in its parameters: there is no closed form for it"


def _cv_samples(rng):
    for shapes in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0, 2), ())]:
        yield sample(np.ones(shapes[0]), 2.0, rng.uniform(0.5, 3.0, shapes[1]))
    yield sample(1, 2, rng.uniform(0.5, 3.0, 2).astype(np.float32))


def _characteristic_value(ufunc: Any) -> Pointwise:
    return pointwise(
        ufunc.__name__, ufunc, nin=3, module=__name__, samples=_cv_samples, complex_ok=False,
        nondifferentiable="there is no closed form for the derivatives of characteristic values",
    )  # fmt: skip


pro_cv = _characteristic_value(sc.pro_cv)
obl_cv = _characteristic_value(sc.obl_cv)
pro_cv.checked = obl_cv.checked = "SciPy does not return from calls with large parameters, which the checker tries"


def _slopes(cv: Any, side: float, stretch: float) -> Any:
    """(side x**2 - side) y'' + 2 side x y' = (cv + stretch c**2 x**2 + ...) y, of both kinds.

    side is 1 for the variable itself, and -1 where the radial variable of an oblate spheroid is imaginary.
    """

    def slopes(outs: Any, m: Any, c: Any, x: Any) -> list[Any]:
        y, y_prime = outs
        below = 1.0 - side * (x * x)
        pull = cv + (stretch * c * c) * (x * x) - m * m / below
        return [y_prime, (2.0 * side * x * y_prime - side * (pull * y)) / below]

    return slopes


def _family(name: str, characteristic_value: Pointwise, side: float, stretch: float, low: float, high: float) -> Any:
    plain, with_cv = getattr(sc, name), getattr(sc, f"{name}_cv")

    def slopes(outs: Any, m: Any, n: Any, c: Any, x: Any) -> list[Any]:
        return _slopes(characteristic_value(m, n, c), side, stretch)(outs, m, c, x)

    def slopes_with_cv(outs: Any, m: Any, _n: Any, c: Any, cv: Any, x: Any) -> list[Any]:
        return _slopes(cv, side, stretch)(outs, m, c, x)

    samples = parameter_samples((1, 2, 1.5), low, high)
    value = SeveralResults(name, plain, *[_CONSTANT] * 3, slopes, samples=samples, module=__name__)
    samples = parameter_samples((1, 2, 1.5, float(getattr(sc, f"{name[:3]}_cv")(1, 2, 1.5))), low, high)
    given = SeveralResults(f"{name}_cv", with_cv, *[_CONSTANT] * 4, slopes_with_cv, samples=samples, module=__name__)
    value.checked = given.checked = "SciPy crashes at parameters that are large or nan, which the checker tries"
    return value, given


pro_ang1, pro_ang1_cv = _family("pro_ang1", pro_cv, 1.0, -1.0, -0.8, 0.8)
pro_rad1, pro_rad1_cv = _family("pro_rad1", pro_cv, 1.0, -1.0, 1.3, 3.0)
pro_rad2, pro_rad2_cv = _family("pro_rad2", pro_cv, 1.0, -1.0, 1.3, 3.0)
obl_ang1, obl_ang1_cv = _family("obl_ang1", obl_cv, 1.0, 1.0, -0.8, 0.8)
obl_rad1, obl_rad1_cv = _family("obl_rad1", obl_cv, -1.0, -1.0, 0.3, 3.0)
obl_rad2, obl_rad2_cv = _family("obl_rad2", obl_cv, -1.0, -1.0, 0.3, 3.0)
