"""Spherical Bessel functions, and those of Riccati."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.special

from autodidax.numpy.dispatch import function_for, operand
from autodidax.primitives.shape import stack
from autodidax.primitives.special import spherical as _primitives


def _public(plain: Callable[..., Any], value: Callable[..., Any], slope: Callable[..., Any]) -> Callable[..., Any]:
    def function(n: Any, z: Any, derivative: bool = False) -> Any:
        return (slope if derivative else value)(operand(n), operand(z))

    function.__name__ = function.__qualname__ = plain.__name__
    function.__doc__ = f"{plain.__name__}(n, z), or its derivative in z.\n\nSource: scipy.special.{plain.__name__}."
    return function_for(plain)(function)


spherical_jn = _public(scipy.special.spherical_jn, _primitives.spherical_jn, _primitives.jn_slope)
spherical_yn = _public(scipy.special.spherical_yn, _primitives.spherical_yn, _primitives.yn_slope)
spherical_in = _public(scipy.special.spherical_in, _primitives.spherical_in, _primitives.in_slope)
spherical_kn = _public(scipy.special.spherical_kn, _primitives.spherical_kn, _primitives.kn_slope)


def _riccati(n: int, x: Any, value: Callable[..., Any], slope: Callable[..., Any]) -> tuple[Any, Any]:
    values = [value(k, x) for k in range(n + 1)]
    slopes = [values[k] + x * slope(k, x) for k in range(n + 1)]
    return stack(*[x * y for y in values], axis=0), stack(*slopes, axis=0)


@function_for(scipy.special.riccati_jn)
def riccati_jn(n: int, x: Any) -> tuple[Any, Any]:
    """x spherical_jn(k, x) for k = 0, ..., n, and their derivatives. Source: scipy.special.riccati_jn."""
    return _riccati(n, x, _primitives.spherical_jn, _primitives.jn_slope)


@function_for(scipy.special.riccati_yn)
def riccati_yn(n: int, x: Any) -> tuple[Any, Any]:
    """x spherical_yn(k, x) for k = 0, ..., n, and their derivatives. Source: scipy.special.riccati_yn."""
    return _riccati(n, x, _primitives.spherical_yn, _primitives.yn_slope)
