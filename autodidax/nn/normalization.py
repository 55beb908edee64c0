"""Normalization over axes: softmax and its logarithm, sums and means of exponentials, standard scores.

With `where=`, a boolean mask, the other entries do not count, whatever they hold, and their derivatives are 0.
"""

from __future__ import annotations

import math
from typing import Any

from autodidax import errors
from autodidax.core.interpreters import dtype_of, get_aval, shape_of
from autodidax.nn.operands import floating
from autodidax.numpy import reductions as anp
from autodidax.numpy.dispatch import operand
from autodidax.primitives import activations, normalization
from autodidax.primitives.convert import astype
from autodidax.primitives.elementwise import sqrt, square
from autodidax.primitives.extrema import maximum
from autodidax.primitives.select import where as select
from autodidax.primitives.shape import canonical_axes, expand_dims
from autodidax.scipy.special import exponentials


def _axes(name: str, axis: Any, x: Any) -> tuple[int, ...]:
    rank = len(shape_of(x))
    return tuple(range(rank)) if axis is None else tuple(sorted(canonical_axes(axis, rank, name)))


def _normalized(name: str, primitive: Any, x: Any, axis: Any, where: Any, elsewhere: float) -> Any:
    x = floating(name, x)
    if where is None:
        return primitive(x, axes=_axes(name, axis, x))
    counted = operand(where)
    x = select(counted, x, -math.inf)
    return select(counted, primitive(x, axes=_axes(name, axis, x)), elsewhere)


def softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """exp(x) over its sum along axes: (..., n, ...) -> same shape; 0 where `where` is false. Source: jax.nn.softmax.

    >>> import numpy as np
    >>> softmax(np.array([0.0, 0.0, 5.0]), where=np.array([True, True, False])).tolist()
    [0.5, 0.5, 0.0]
    """
    return _normalized("softmax", normalization.softmax, x, axis, where, 0.0)


def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """Logarithm of softmax; -inf where `where` is false. Source: jax.nn.log_softmax."""
    return _normalized("log_softmax", normalization.log_softmax, x, axis, where, -math.inf)


def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False, where: Any = None
) -> Any:
    """log(sum(b exp(a))) over axes, without overflow: (..., n, ...) -> (...). Source: jax.nn.logsumexp."""
    a = floating("logsumexp", a)
    if where is not None:
        a = select(operand(where), a, -math.inf)
    return exponentials.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign)


def logmeanexp(x: Any, axis: Any = None, where: Any = None, keepdims: bool = False) -> Any:
    """log(mean(exp(x))) over axes, with the digits of a small result; nan of no entries: (..., n, ...) -> (...).

    Source: jax.nn.logmeanexp.
    """
    x = floating("logmeanexp", x)
    counted = astype(True if where is None else operand(where), bool)
    x = select(counted, x, -math.inf) if where is not None else x  # brought to one shape
    axes = _axes("logmeanexp", axis, x)
    out = activations.logmeanexp(x, counted, axes=axes)
    return expand_dims(out, axes) if keepdims else out


def standardize(
    x: Any,
    axis: Any = -1,
    mean: Any = None,
    variance: Any = None,
    epsilon: Any = 1e-5,
    where: Any = None,
    *,
    algorithm: str = "fast",
) -> Any:
    """(x - mean)/sqrt(variance + epsilon) along axes: (..., n, ...) -> same shape. Source: jax.nn.standardize.

    The variance is that around the mean for either algorithm, without the cancellation of mean(x**2) - mean**2. They
    differ where another mean is given: "fast" takes mean(x**2) - mean**2 with it, and "stable" the mean of
    (x - mean)**2.

    Raises
    ------
    ArgumentError : for another algorithm.
    """
    if algorithm not in ("fast", "stable"):
        raise errors.ArgumentError(
            f"standardize: there is no algorithm {algorithm!r}", mend="write algorithm='fast' or algorithm='stable'"
        )
    x = floating("standardize", x)
    over: dict[str, Any] = dict(axis=None if axis is None else _axes("standardize", axis, x), keepdims=True)
    if where is not None:
        over["where"] = operand(where)
    center: Any = anp.mean(x, **over) if mean is None or (variance is None and algorithm == "fast") else None
    around = center if mean is None else operand(mean)
    if variance is None:
        variance = anp.mean(square(x - (around if center is None else center)), **over)
        if mean is not None and algorithm == "fast":
            variance = maximum(variance + (center - around) * (center + around), 0.0)
    spread = operand(variance) + epsilon
    if get_aval(spread).weak_type:  # a Python number yields to the dtype of x
        spread = astype(spread, dtype_of(x))
    return (x - around) / sqrt(spread)


__all__ = ["log_softmax", "logmeanexp", "logsumexp", "softmax", "standardize"]
