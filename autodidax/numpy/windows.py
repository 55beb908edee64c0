"""Window functions, for tapering signals, of which that of Kaiser has a parameter to differentiate; sliding windows."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy import bartlett, blackman, hamming, hanning

from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy.dispatch import axis_of, numpy_function, operand
from autodidax.numpy.shaping import moveaxis
from autodidax.numpy.signals import i0
from autodidax.primitives.convert import astype
from autodidax.primitives.gather import take


@numpy_function
def kaiser(M: Any, beta: Any) -> Any:
    """The Kaiser window of M points, i0(beta sqrt(1 - t^2)) / i0(beta) for t from -1 to 1: (M,).

    Source: numpy.kaiser.
    """
    count, beta = operator.index(M), operand(beta)
    beta = astype(beta, np.result_type(np.float64, dtype_of(beta)))
    if count == 1:
        return np.ones(1, dtype_of(beta))
    middle = (count - 1) / 2
    return i0(beta * np.sqrt(1 - ((np.arange(count) - middle) / middle) ** 2.0)) / i0(beta)


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """All windows of a shape in an array, its place first: (..., n, ...) -> (..., n - w + 1, ..., w).

    Of a traced value it is a copy, as all is. Source: numpy.lib.stride_tricks.sliding_window_view.
    """
    x = operand(x)
    rank = len(shape_of(x))
    sizes = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    axes = range(rank) if axis is None else axis if np.iterable(axis) else (axis,)
    axes = [axis_of(k, rank) for k in axes]
    if len(sizes) != len(axes):
        raise ValueError(f"window_shape {sizes} has {len(sizes)} entries for {len(axes)} axes: give one an axis")
    for k, size in zip(axes, map(operator.index, sizes), strict=True):
        places = shape_of(x)[k] - size + 1
        if size < 0 or places < 1:
            raise ValueError(f"window_shape {sizes} does not fit an array of shape {shape_of(x)}")
        x = moveaxis(take(x, np.arange(places)[:, None] + np.arange(size), k), k + 1, -1)
    return x


__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser", "sliding_window_view"]
