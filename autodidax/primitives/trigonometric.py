"""Trigonometric and hyperbolic functions and their inverses, angles, hypot and sinc."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import dtype_of
from autodidax.core.primitive import Pointwise, Primitive, pointwise, sample
from autodidax.primitives.elementwise import arctan2, cos, divide, hypot, sin, sqrt, tanh

tan = pointwise("tan", np.tan, lambda y, _: 1.0 + y * y, domain=(-1.2, 1.2))
# (1 - x)(1 + x) is exact near 1 where 1 - x*x is not; its own derivative is -2x, so that no factor 0 meets an infinite
# cotangent where x is 1
one_minus_square = pointwise(
    "one_minus_square", lambda x: (1.0 - x) * (1.0 + x), lambda _, x: -2.0 * x, module=__name__, domain=(-2.0, 2.0)
)


def _cosine_of_arcsin(x: Any) -> Any:
    """The root of 1 - x*x. Of complex numbers it has the sign that arcsin and arccos have on their cuts, |x| > 1, on
    either side: so it is taken of two factors, and these in a way that keeps the sign of an imaginary part of 0."""
    if dtype_of(x).kind == "c":
        return sqrt(-(x - 1.0)) * sqrt(x - (-1.0))
    return sqrt(one_minus_square(x))


arcsin = pointwise("arcsin", np.arcsin, lambda _, x: 1.0 / _cosine_of_arcsin(x), domain=(-0.9, 0.9))
arccos = pointwise("arccos", np.arccos, lambda _, x: -1.0 / _cosine_of_arcsin(x), domain=(-0.9, 0.9))
arctan = pointwise("arctan", np.arctan, lambda _, x: divide(1.0, 1.0 + x * x))
sinh = pointwise("sinh", np.sinh, lambda _, x: cosh(x))
cosh: Pointwise = pointwise("cosh", np.cosh, lambda _, x: sinh(x))


def _arcsinh_slope(_, x):
    """1/sqrt(1 + x*x), on the reals without overflow."""
    # x*x - (-1): adding 1 would lose the sign of an imaginary part of 0, which tells the sides of the cuts apart
    return 1.0 / (sqrt(x * x - (-1.0)) if dtype_of(x).kind == "c" else hypot(x, 1.0))


arcsinh = pointwise("arcsinh", np.arcsinh, _arcsinh_slope)
# two roots: the complex branch cuts of one root of the product lie elsewhere
arccosh = pointwise(
    "arccosh", np.arccosh, lambda _, x: divide(1.0, sqrt(x - 1.0)) / sqrt(x - (-1.0)), domain=(1.1, 3.0)
)
arctanh = pointwise("arctanh", np.arctanh, lambda _, x: divide(1.0, one_minus_square(x)), domain=(-0.9, 0.9))


def _scaling(name: str, ufunc: np.ufunc, factor: float) -> Pointwise:
    return pointwise(
        name, ufunc, linear=True, complex_ok=False, module=__name__, products=(lambda t, _y, _x: t * factor,)
    )


degrees = _scaling("degrees", np.degrees, 180.0 / math.pi)
rad2deg = _scaling("rad2deg", np.rad2deg, 180.0 / math.pi)
radians = _scaling("radians", np.radians, math.pi / 180.0)
deg2rad = _scaling("deg2rad", np.deg2rad, math.pi / 180.0)


def _sine_quotient(u: np.ndarray, order: int) -> np.ndarray:
    """The order-th derivative of f(u) = sin(u)/u, by f's series near 0 and by u f' + f = cos(u) elsewhere."""
    near = abs(u) <= order + 1.0
    v = np.where(near, u, 0.0)
    # f is the integral of cos(u s) over s in [0, 1]; its derivatives integrate s**order times a sine or cosine
    series = np.zeros_like(v)
    for m in range(2 * order + 40, -1, -1):
        series *= v / (m + 1)
        if (m + order) % 2 == 0:
            series += (-1.0) ** ((m + order) // 2) / (m + order + 1)
    w = np.where(near, order + 1.0, u)
    cycle = (np.sin(w), np.cos(w))
    far = cycle[0] / w
    for k in range(1, order + 1):  # u f^(k) + k f^(k-1) is the k-th derivative of sin; stable for |u| > k
        far = ((-1.0) ** (k // 2) * cycle[k % 2] - k * far) / w
    return np.where(near, series, far)


class Sinc(Primitive):
    """The order-th derivative of sin(pi x)/(pi x): (...) -> (...); right at and near 0 in every order.

    Source: numpy.sinc.
    """

    def impl(self, x, *, order):
        if order == 0:
            return np.sinc(x)
        dtype = np.sinc(np.ones(1, dtype_of(x))).dtype
        u = np.pi * np.asarray(x, np.result_type(dtype, np.float64))
        return (np.pi**order * _sine_quotient(u, order)).astype(dtype)[()]

    def abstract_eval(self, x, *, order):
        return ShapedArray(x.shape, np.sinc(np.ones(1, x.dtype)).dtype)

    def jvp(self, out, primals, tangents, *, order):
        return tangents[0] * self(primals[0], order=order + 1)

    def batch(self, args, dims, *, order):
        return self(*args, order=order), 0

    def samples(self, rng):
        for order in (0, 1, 2, 5):
            yield sample(rng.uniform(-3.0, 3.0, 6), order=order)
            yield sample(np.array([0.0, 1e-9, 1e-3, 1.0]), order=order, name="near 0")
        yield sample(rng.normal(), order=1)
        yield sample(rng.normal(size=(0, 2)), order=1)
        yield sample(rng.normal(size=3).astype(np.float32), order=1)
        yield sample(rng.normal(size=3) + 0.5j, order=1)


sinc_derivative = Sinc("sinc")


def sinc(x: Any) -> Any:
    """sin(pi x)/(pi x), 1 at 0."""
    return sinc_derivative(x, order=0)


__all__ = [
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cos", "cosh", "deg2rad", "degrees",
    "hypot", "rad2deg", "radians", "sin", "sinc", "sinc_derivative", "sinh", "tan", "tanh",
]  # fmt: skip
