"""Initial weights: each function returns a function of (key, shape, dtype) that draws them.

A weight's axes are by default (..., inputs, outputs); the axes before those are its receptive field.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax import errors, random
from autodidax.numpy.dispatch import operand
from autodidax.numpy.joining import stack
from autodidax.primitives.convert import astype
from autodidax.primitives.elementwise import cos, log1p, sin, sqrt
from autodidax.primitives.shape import broadcast_to, moveaxis, reshape

Initializer = Callable[..., Any]
Axes = int | Sequence[int]

# standard deviations of the standard normal distribution cut off at -2 and 2, and of the complex one at modulus 2
_TRUNCATED, _TRUNCATED_COMPLEX = 0.8796256610342398, 0.9531116438049121


def _shape(shape: Any) -> tuple[int, ...]:
    return tuple(map(int, shape)) if isinstance(shape, tuple | list) else (int(shape),)


def _dtype(dtype: Any) -> np.dtype:
    return np.dtype(np.float64 if dtype is None else dtype)


def zeros(key: Any, shape: Any, dtype: Any = None) -> np.ndarray:
    """Zeros; the key is not used. Source: jax.nn.initializers.zeros."""
    return np.zeros(_shape(shape), _dtype(dtype))


def ones(key: Any, shape: Any, dtype: Any = None) -> np.ndarray:
    """Ones; the key is not used. Source: jax.nn.initializers.ones."""
    return np.ones(_shape(shape), _dtype(dtype))


def constant(value: Any, dtype: Any = None) -> Initializer:
    """Draws value, which broadcasts to the shape. Source: jax.nn.initializers.constant."""
    default = dtype

    def init(key: Any, shape: Any, dtype: Any = None) -> Any:
        kind = _dtype(default if dtype is None else dtype)
        return broadcast_to(astype(operand(value), kind), shape=_shape(shape)) + kind.type(0)

    return init


def uniform(scale: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Draws from [0, scale), evenly. Source: jax.nn.initializers.uniform."""
    default = dtype

    def init(key: Any, shape: Any, dtype: Any = None) -> Any:
        kind = _dtype(default if dtype is None else dtype)
        return random.uniform(key, _shape(shape), kind) * astype(operand(scale), kind)

    return init


def normal(stddev: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Draws from the normal distribution of mean 0. Source: jax.nn.initializers.normal."""
    default = dtype

    def init(key: Any, shape: Any, dtype: Any = None) -> Any:
        kind = _dtype(default if dtype is None else dtype)
        return random.normal(key, _shape(shape), kind) * astype(operand(stddev), kind)

    return init


def truncated_normal(stddev: Any = 1e-2, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0) -> Initializer:
    """Draws stddev times a standard normal number between lower and upper.

    Source: jax.nn.initializers.truncated_normal.
    """
    default = dtype

    def init(key: Any, shape: Any, dtype: Any = None) -> Any:
        kind = _dtype(default if dtype is None else dtype)
        return random.truncated_normal(key, lower, upper, _shape(shape), kind) * astype(operand(stddev), kind)

    return init


def _sizes(shape: tuple[int, ...], axes: Axes) -> int:
    return shape[axes] if isinstance(axes, int) else math.prod(shape[k] for k in axes)


def _fans(shape: tuple[int, ...], in_axis: Axes, out_axis: Axes, batch_axis: Axes) -> tuple[float, float]:
    """How many inputs an output depends on, and outputs on an input."""
    if len(shape) < 2 and in_axis == -2:
        raise errors.ShapeError(
            f"weights of shape {shape} have no axes of inputs and outputs", mend="give two axes, or in_axis=..."
        )
    inputs, outputs = _sizes(shape, in_axis), _sizes(shape, out_axis)
    field = math.prod(shape) / inputs / outputs / _sizes(shape, batch_axis)
    return inputs * field, outputs * field


_DENOMINATORS: dict[str, Callable[[float, float], float]] = {
    "fan_in": lambda fan_in, _: fan_in,
    "fan_out": lambda _, fan_out: fan_out,
    "fan_avg": lambda fan_in, fan_out: (fan_in + fan_out) / 2,
    "fan_geo_avg": lambda fan_in, fan_out: math.sqrt(fan_in * fan_out),
}


def _complex_in_disc(key: Any, shape: tuple[int, ...], dtype: np.dtype, radius_of: Callable[[Any], Any]) -> Any:
    """Complex numbers of uniform angle whose modulus is a function of a number from [0, 1)."""
    part = np.empty(0, dtype).real.dtype
    for_radius, for_angle = random.split(key)
    radius = radius_of(random.uniform(for_radius, shape, part))
    angle = (2 * math.pi) * random.uniform(for_angle, shape, part)
    return astype(radius, dtype) * (cos(angle) + 1j * sin(angle))


def _truncated(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    if dtype.kind == "f":
        return random.truncated_normal(key, -2, 2, shape, dtype) / dtype.type(_TRUNCATED)
    drawn = _complex_in_disc(key, shape, dtype, lambda u: sqrt(-log1p(math.expm1(-4.0) * u)))
    return drawn / dtype.type(_TRUNCATED_COMPLEX)


def _uniform(key: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    if dtype.kind == "f":
        return random.uniform(key, shape, dtype, -1) * dtype.type(math.sqrt(3.0))
    return _complex_in_disc(key, shape, dtype, lambda u: sqrt(2.0 * u))


_DISTRIBUTIONS: dict[str, Callable[[Any, tuple[int, ...], np.dtype], Any]] = {
    "truncated_normal": _truncated,
    "normal": lambda key, shape, dtype: random.normal(key, shape, dtype),
    "uniform": _uniform,
}


def _choice(what: str, name: str, table: dict[str, Any]) -> Any:
    if name not in table:
        raise errors.ArgumentError(
            f"variance_scaling has no {what} {name!r}", mend=f"choose one of {', '.join(map(repr, table))}"
        )
    return table[name]


def variance_scaling(
    scale: Any,
    mode: str,
    distribution: str,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: Any = None,
) -> Initializer:
    """Draws numbers of mean 0 and variance scale/n, where n is what `mode` says of a weight's inputs and outputs.

    mode : "fan_in", "fan_out", "fan_avg" or "fan_geo_avg".
    distribution : "truncated_normal" (at two standard deviations), "normal" or "uniform".

    Source: jax.nn.initializers.variance_scaling.
    """
    denominator, draw = _choice("mode", mode, _DENOMINATORS), _choice("distribution", distribution, _DISTRIBUTIONS)
    default = dtype

    def init(key: Any, shape: Any, dtype: Any = None) -> Any:
        kind, shape = _dtype(default if dtype is None else dtype), _shape(shape)
        variance = scale / denominator(*_fans(shape, in_axis, out_axis, batch_axis))
        return draw(key, shape, kind) * astype(sqrt(operand(variance)), kind)

    return init


def _named(name: str, scale: float, mode: str, distribution: str, source: str) -> Callable[..., Initializer]:
    def initializer(in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    initializer.__name__ = initializer.__qualname__ = name
    initializer.__doc__ = (
        f"variance_scaling({scale}, {mode!r}, {distribution!r}), after {source}. Source: jax.nn.initializers.{name}."
    )
    return initializer


_GLOROT, _LECUN, _HE = "Glorot and Bengio 2010", "LeCun et al. 1998", "He et al. 2015"
glorot_uniform = xavier_uniform = _named("glorot_uniform", 1.0, "fan_avg", "uniform", _GLOROT)
glorot_normal = xavier_normal = _named("glorot_normal", 1.0, "fan_avg", "truncated_normal", _GLOROT)
lecun_uniform = _named("lecun_uniform", 1.0, "fan_in", "uniform", _LECUN)
lecun_normal = _named("lecun_normal", 1.0, "fan_in", "truncated_normal", _LECUN)
he_uniform = kaiming_uniform = _named("he_uniform", 2.0, "fan_in", "uniform", _HE)
he_normal = kaiming_normal = _named("he_normal", 2.0, "fan_in", "truncated_normal", _HE)


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Draws scale times a matrix of orthonormal columns, or rows where those are fewer; the axes other than
    that of the columns are taken together: (..., n).

    Source: jax.nn.initializers.orthogonal.
    """
    default = dtype

    def init(key: Any, shape: Any, dtype: Any = None) -> Any:
        kind, shape = _dtype(default if dtype is None else dtype), _shape(shape)
        if len(shape) < 2:
            raise errors.ShapeError(f"orthogonal weights of shape {shape}", mend="give a shape of two axes or more")
        if 0 in shape:
            return np.zeros(shape, kind)
        columns = shape[column_axis]
        others = list(shape)
        del others[column_axis]
        matrix = random.orthogonal(key, math.prod(others), (), kind, columns)
        return astype(operand(scale), kind) * moveaxis(reshape(matrix, shape=(*others, columns)), -1, column_axis)

    return init


def delta_orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Draws a convolution kernel that is an orthogonal matrix at its center and 0 elsewhere: (..., inputs, outputs) of
    one to three spatial axes, with no more inputs than outputs.

    Source: jax.nn.initializers.delta_orthogonal; Xiao et al. 2018.
    """
    matrix, default = orthogonal(scale, column_axis, dtype), dtype

    def init(key: Any, shape: Any, dtype: Any = None) -> Any:
        kind, shape = _dtype(default if dtype is None else dtype), _shape(shape)
        if len(shape) not in (3, 4, 5) or shape[-2] > shape[-1]:
            raise errors.ShapeError(
                f"a delta orthogonal kernel of shape {shape}",
                mend="give one to three spatial axes, inputs and outputs, with no more inputs than outputs",
            )
        center = matrix(key, shape[-2:], kind)
        field = shape[:-2]
        middle = np.ravel_multi_index(tuple((n - 1) // 2 for n in field), field)
        empty = np.zeros(shape[-2:], kind)
        return reshape(stack([center if k == middle else empty for k in range(math.prod(field))]), shape=shape)

    return init


__all__ = [
    "constant", "delta_orthogonal", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "kaiming_normal",
    "kaiming_uniform", "lecun_normal", "lecun_uniform", "normal", "ones", "orthogonal", "truncated_normal", "uniform",
    "variance_scaling", "xavier_normal", "xavier_uniform", "zeros",
]  # fmt: skip
