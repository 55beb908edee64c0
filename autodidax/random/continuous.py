"""Continuous distributions whose distribution function has an inverse in closed form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import quietly
from autodidax.primitives.comparison import greater_equal, less
from autodidax.primitives.elementwise import absolute, exp, log, log1p, power, sign, sqrt
from autodidax.primitives.random_bits import fine_uniform
from autodidax.primitives.select import where
from autodidax.primitives.trigonometric import tan
from autodidax.random.arguments import Shape, broadcast, dtype_argument, parameters, shape_argument
from autodidax.random.key_array import KeyArray
from autodidax.random.keys import single_key
from autodidax.random.uniforms import between, unit


def exponential_numbers(one: KeyArray, shape: Shape, dtype: np.dtype) -> Any:
    return -log1p(-unit(one, shape, dtype))


def exponential(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Exponential numbers of mean 1.

    Source: jax.random.exponential.

    >>> from autodidax import random
    >>> random.exponential(random.key(0), (2,)).round(3)
    array([0.542, 0.244])
    """
    one = single_key("exponential", key)
    return exponential_numbers(one, shape_argument("exponential", shape), dtype_argument("exponential", dtype))


GUMBEL_MODES = ("low", "high", "highest")


def check_mode(name: str, mode: Any) -> str:
    """The mode of a draw of Gumbel numbers, "low" for None."""
    if mode is None:
        return "low"
    if mode not in GUMBEL_MODES:
        raise errors.ArgumentError(
            f"{name}: there is no mode {mode!r}", mend=f"give mode= one of {', '.join(map(repr, GUMBEL_MODES))}"
        )
    return str(mode)


def gumbel_numbers(one: KeyArray, shape: Shape, dtype: np.dtype, mode: str) -> Any:
    """Standard Gumbel numbers; the modes differ in how far the lower tail of the uniform numbers reaches."""
    tiny = np.finfo(dtype).tiny
    if mode == "low":
        return -log(-log(between(one, shape, dtype, tiny, dtype.type(1))))
    if mode == "highest" and dtype == np.float32:
        low_half, x = fine_uniform(one._data, shape=shape, generator=one._generator)
        # x is the distance from the nearer end; in the upper half that is the upper end
        return where(low_half, -log(-log1p(-x)), -log(-log(x)))
    both = unit(one, (2, *shape), dtype)
    high = both[0]
    x = where(greater_equal(high, 0.5), high, high + 2.0 ** -np.finfo(dtype).nmant * both[1] + tiny)
    return -log(-log1p(-x))


def gumbel(key: Any, shape: Any = (), dtype: Any = None, mode: str | None = None) -> Any:
    """Standard Gumbel numbers; mode="high" or "highest" has more of the upper tail in float32.

    Source: jax.random.gumbel.
    """
    one = single_key("gumbel", key)
    shape, dtype = shape_argument("gumbel", shape), dtype_argument("gumbel", dtype)
    return gumbel_numbers(one, shape, dtype, check_mode("gumbel", mode))


def laplace(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Laplace numbers of location 0 and scale 1.

    Source: jax.random.laplace.
    """
    one = single_key("laplace", key)
    shape, dtype = shape_argument("laplace", shape), dtype_argument("laplace", dtype)
    u = between(one, shape, dtype, dtype.type(-1) + np.finfo(dtype).epsneg, dtype.type(1))
    return sign(u) * log1p(-absolute(u))


def logistic(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Logistic numbers of location 0 and scale 1.

    Source: jax.random.logistic.
    """
    one = single_key("logistic", key)
    shape, dtype = shape_argument("logistic", shape), dtype_argument("logistic", dtype)
    u = between(one, shape, dtype, np.finfo(dtype).tiny, dtype.type(1))
    return log(u) - log1p(-u)


def cauchy(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Cauchy numbers of location 0 and scale 1.

    Source: jax.random.cauchy.
    """
    one = single_key("cauchy", key)
    shape, dtype = shape_argument("cauchy", shape), dtype_argument("cauchy", dtype)
    return tan(dtype.type(math.pi) * (between(one, shape, dtype, np.finfo(dtype).eps, dtype.type(1)) - 0.5))


def pareto(key: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Pareto numbers above 1 with the tail x**-b, differentiable in b.

    Source: jax.random.pareto.
    """
    one = single_key("pareto", key)
    dtype = dtype_argument("pareto", dtype)
    shape, (b,) = parameters("pareto", shape, dtype, b=b)
    return exp(exponential_numbers(one, shape, dtype) / b)


def weibull_min(key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Weibull numbers, differentiable in scale and concentration.

    Source: jax.random.weibull_min.
    """
    one = single_key("weibull_min", key)
    shape, dtype = shape_argument("weibull_min", shape), dtype_argument("weibull_min", dtype)
    _, (scale, concentration) = parameters("weibull_min", None, dtype, scale=scale, concentration=concentration)
    return power(exponential_numbers(one, shape, dtype), 1.0 / concentration) * scale


def rayleigh(key: Any, scale: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Rayleigh numbers, differentiable in scale.

    Source: jax.random.rayleigh.
    """
    one = single_key("rayleigh", key)
    dtype = dtype_argument("rayleigh", dtype)
    shape, (scale,) = parameters("rayleigh", shape, dtype, scale=scale)
    with quietly():  # of a uniform number 0 it is inf
        return scale * sqrt(log(unit(one, shape, dtype)) * -2.0)


def triangular(key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers between left and right with a triangular density that is largest at mode, differentiable in all three.

    Source: jax.random.triangular.
    """
    one = single_key("triangular", key)
    dtype = dtype_argument("triangular", dtype)
    shape, (left, mode, right) = parameters("triangular", shape, dtype, left=left, mode=mode, right=right)
    left, mode, right = (broadcast(x, shape) for x in (left, mode, right))
    u = unit(one, shape, dtype)
    below = less(u, (mode - left) / (right - left))
    rising = left + sqrt(u * (right - left) * (mode - left))
    falling = right - sqrt((1.0 - u) * (right - left) * (right - mode))
    return where(below, rising, falling)
