"""Integers as vectors."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autodidax.core.interpreters import shape_of
from autodidax.numpy.dispatch import operand
from autodidax.primitives.comparison import equal
from autodidax.primitives.convert import astype
from autodidax.primitives.shape import canonical_axis, expand_dims


def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Any:
    """1 at the place that x names and 0 elsewhere, along a new axis: i64[...] -> f64[..., num_classes].

    Numbers below 0, or of num_classes and more, give zeros. It is constant in x. Source: jax.nn.one_hot.

    >>> import numpy as np
    >>> one_hot(np.array([0, 2, 7]), 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    x = operand(x)
    rank = len(shape_of(x)) + 1
    k = canonical_axis(axis, rank, "one_hot")
    classes = np.arange(operator.index(num_classes)).reshape([-1 if j == k else 1 for j in range(rank)])
    return astype(equal(expand_dims(x, (k,)), classes), np.float64 if dtype is None else dtype)


__all__ = ["one_hot"]
