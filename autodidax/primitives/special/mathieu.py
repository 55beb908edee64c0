"""Mathieu functions, differentiable in the variable; the characteristic values once in the parameter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.elementwise import cos
from autodidax.primitives.special.polynomials import constant_in
from autodidax.primitives.special.several_results import SeveralResults, parameter_samples
from autodidax.primitives.trigonometric import cosh

_DEGREE = math.pi / 180.0
_ANGLES = np.arange(128) * (180.0 / 128)


def _mean_of_cosine(function: Any) -> Any:
    """The derivative of a characteristic value in q: 2 cos(2x) in the mean over the squared function."""

    def slope(m: Any, q: Any) -> Any:
        m, q = np.asarray(m, np.float64), np.asarray(q)
        values = function(m[..., None], q.astype(np.float64)[..., None], _ANGLES)[0]
        out = 4.0 * np.mean(np.cos(2.0 * _DEGREE * _ANGLES) * values * values, -1)
        return out.astype(np.result_type(q.dtype, np.float32) if q.dtype.kind == "f" else np.float64)[()]

    return slope


def _value_samples(rng):
    for shapes in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0, 2), ())]:
        yield sample(rng.integers(1, 5, shapes[0]), rng.uniform(0.5, 8.0, shapes[1]))
    yield sample(2, rng.uniform(0.5, 8.0, 3).astype(np.float32))
    yield sample(3, np.array([0.0, 20.0]), name="at 0, large")


def _characteristic_value(ufunc: Any, function: Any) -> tuple[Pointwise, Pointwise]:
    name = ufunc.__name__
    slope = pointwise(
        f"{name}_slope", _mean_of_cosine(function), nin=2, module=__name__, samples=_value_samples, complex_ok=False,
        nondifferentiable=f"{name} has one derivative in its parameter here",
    )  # fmt: skip
    value = pointwise(
        name, ufunc, nin=2, module=__name__, samples=_value_samples, complex_ok=False,
        products=(constant_in(name, "order", 2), lambda t, _z, m, q: t * slope(m, q)),
    )  # fmt: skip
    value.checked = "it has one derivative, which the tests compare with differences of its values"
    return value, slope


mathieu_a, mathieu_a_slope = _characteristic_value(sc.mathieu_a, sc.mathieu_cem)
mathieu_b, mathieu_b_slope = _characteristic_value(sc.mathieu_b, sc.mathieu_sem)

_CONSTANT = (
    "has no derivative in its order: it is an integer",
    "has no derivative in its parameter: there is no closed form for it",
)


def _angular(ufunc: Any, characteristic_value: Pointwise) -> SeveralResults:
    def slopes(outs: Any, m: Any, q: Any, x: Any) -> list[Any]:
        y, y_prime = outs
        curvature = 2.0 * q * cos((2.0 * _DEGREE) * x) - characteristic_value(m, q)
        return [_DEGREE * y_prime, _DEGREE * (curvature * y)]

    samples = parameter_samples((2, 3), 5.0, 170.0, single=False)  # SciPy has nan in single precision
    return SeveralResults(ufunc.__name__, ufunc, *_CONSTANT, slopes, samples=samples, module=__name__)


def _radial(ufunc: Any, characteristic_value: Pointwise) -> SeveralResults:
    def slopes(outs: Any, m: Any, q: Any, x: Any) -> list[Any]:
        y, y_prime = outs
        return [y_prime, (characteristic_value(m, q) - 2.0 * q * cosh(2.0 * x)) * y]

    samples = parameter_samples((2, 3), 0.3, 1.5, single=False)
    return SeveralResults(ufunc.__name__, ufunc, *_CONSTANT, slopes, samples=samples, module=__name__)


mathieu_cem = _angular(sc.mathieu_cem, mathieu_a)
mathieu_sem = _angular(sc.mathieu_sem, mathieu_b)
mathieu_modcem1 = _radial(sc.mathieu_modcem1, mathieu_a)
mathieu_modcem2 = _radial(sc.mathieu_modcem2, mathieu_a)
mathieu_modsem1 = _radial(sc.mathieu_modsem1, mathieu_b)
mathieu_modsem2 = _radial(sc.mathieu_modsem2, mathieu_b)
