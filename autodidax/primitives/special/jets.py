"""Truncated power series in one or more parameters: how derivatives of every order in a parameter are computed.

A jet holds the Taylor coefficients of a function of d parameters around a point, as an array with one leading axis a
parameter: entry [i, j, ...] is the coefficient of e**i f**j ..., that is the partial derivative over i! j!. The axes
behind are those of the points. Products and compositions are cut off at the size of the leading axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def constant(value: Any, orders: Sequence[int]) -> np.ndarray:
    """The jet of something that does not depend on the parameters."""
    value = np.asarray(value)
    jet = np.zeros((*[n + 1 for n in orders], *value.shape), np.result_type(value.dtype, np.float64))
    jet[(0,) * len(orders)] = value
    return jet


def linear(value: Any, orders: Sequence[int], axis: int, slope: float = 1.0) -> np.ndarray:
    """The jet of value + slope * (the parameter of this axis)."""
    jet = constant(value, orders)
    if orders[axis]:
        jet[tuple(int(k == axis) for k in range(len(orders)))] = slope
    return jet


def product(p: np.ndarray, q: np.ndarray, d: int) -> np.ndarray:
    """The product of two jets of d parameters."""
    out = np.zeros(np.broadcast_shapes(p.shape, q.shape), np.result_type(p, q))
    sizes = out.shape[:d]
    for index in np.ndindex(*sizes):
        if np.any(p[index]):
            ahead = tuple(slice(i, None) for i in index)
            behind = tuple(slice(0, n - i) for i, n in zip(index, sizes, strict=True))
            out[ahead] += p[index] * q[behind]
    return out


def _composed(p: np.ndarray, coefficients: Sequence[Any], d: int) -> np.ndarray:
    """f(p), from the Taylor coefficients of f at p's value: the sum of coefficients[k] * (p - p0)**k."""
    small = p.copy()
    small[(0,) * d] = 0
    orders = [n - 1 for n in p.shape[:d]]
    power = constant(np.ones_like(p[(0,) * d]), orders)
    out = coefficients[0] * power
    for c in coefficients[1:]:
        power = product(power, small, d)
        out = out + c * power
    return out


def _total(p: np.ndarray, d: int) -> int:
    return sum(p.shape[:d]) - d


def exponential(p: np.ndarray, d: int) -> np.ndarray:
    """exp of a jet."""
    value = np.exp(p[(0,) * d])
    return _composed(p, [value / math.factorial(k) for k in range(_total(p, d) + 1)], d)


def reciprocal(p: np.ndarray, d: int) -> np.ndarray:
    """1 / a jet."""
    inverse = 1.0 / p[(0,) * d]
    return _composed(p, [(-1.0) ** k * inverse ** (k + 1) for k in range(_total(p, d) + 1)], d)


def square_root(p: np.ndarray, d: int) -> np.ndarray:
    """The root of a jet whose value is positive."""
    value = p[(0,) * d]
    coefficients = [np.sqrt(value)]
    for k in range(_total(p, d)):
        coefficients.append(coefficients[-1] * (0.5 - k) / ((k + 1) * value))
    return _composed(p, coefficients, d)


def along(coefficients: Sequence[Any], weights: Sequence[float]) -> np.ndarray:
    """The jet of f(weights[0] * e + weights[1] * f + ...) from the Taylor coefficients of f, one parameter a weight.

    As many coefficients are used as there are: the leading axes all have that size.
    """
    size = len(coefficients)
    d = len(weights)
    first = np.asarray(coefficients[0])
    jet = np.zeros((size,) * d + first.shape, np.result_type(*coefficients, np.float64))
    for index in np.ndindex(*(size,) * d):
        total = sum(index)
        if total < size:
            ways = math.factorial(total) / math.prod(map(math.factorial, index))
            weight = math.prod(w**i for w, i in zip(weights, index, strict=True))
            jet[index] = coefficients[total] * (ways * weight)
    return jet


def times_linear(jet: np.ndarray, value: Any, axis: int, slope: float = 1.0) -> np.ndarray:
    """The jet times (value + slope * the parameter of this axis)."""
    out = jet * value
    ahead = (slice(None),) * axis
    out[(*ahead, slice(1, None))] += slope * jet[(*ahead, slice(0, -1))]
    return out


def times_affine(jet: np.ndarray, value: Any, weights: Sequence[float]) -> np.ndarray:
    """The jet times (value + the weighted sum of the parameters)."""
    out = jet * value
    for axis, weight in enumerate(weights):
        if weight:
            ahead = (slice(None),) * axis
            out[(*ahead, slice(1, None))] += weight * jet[(*ahead, slice(0, -1))]
    return out


def over_affine(jet: np.ndarray, value: Any, weights: Sequence[float]) -> np.ndarray:
    """The jet over (value + the weighted sum of the parameters)."""
    out = jet / value
    for index in np.ndindex(*jet.shape[: len(weights)]):
        for axis, weight in enumerate(weights):
            if weight and index[axis]:
                out[index] -= weight * out[(*index[:axis], index[axis] - 1, *index[axis + 1 :])] / value
    return out


def derivative(jet: np.ndarray, orders: Sequence[int]) -> np.ndarray:
    """The partial derivative of these orders that a jet holds."""
    return jet[tuple(orders)] * float(math.prod(map(math.factorial, orders)))


__all__ = [
    "along", "constant", "derivative", "exponential", "linear", "over_affine", "product", "reciprocal", "square_root",
    "times_affine", "times_linear",
]  # fmt: skip
