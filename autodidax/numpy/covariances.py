"""Covariances and correlations."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.numpy.concreteness import known_value
from autodidax.numpy.contraction import dot
from autodidax.numpy.dispatch import numpy_function, operand
from autodidax.numpy.joining import concatenate
from autodidax.numpy.reductions import sum as sum_of
from autodidax.numpy.shaping import atleast_2d, squeeze
from autodidax.numpy.statistics import average
from autodidax.primitives.comparison import greater
from autodidax.primitives.convert import astype, conj, imag, make_complex, real, stop_gradient_p
from autodidax.primitives.elementwise import divide, sqrt
from autodidax.primitives.extrema import clip
from autodidax.primitives.rearrange import diagonal
from autodidax.primitives.select import where


@numpy_function
def cov(
    m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    """Covariances of variables, each a row (or a column, with rowvar=False): (k, n) -> (k, k), without axes of size 1.

    Differentiable in m, y and aweights.

    Source: numpy.cov.
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    x = _observations(operand(m), None if y is None else operand(y), rowvar, dtype)
    if shape_of(x)[0] == 0:
        return np.array([]).reshape(0, 0)
    n = shape_of(x)[1]
    ddof = ddof if ddof is not None else 1 if bias == 0 else 0
    w = None if fweights is None else _weights("fweights", fweights, n)
    values = known_value(w)
    if values is not None and np.any(values != np.around(values)):
        raise TypeError("fweights must be integer")
    if aweights is not None:
        aweights = _weights("aweights", aweights, n)
        w = aweights if w is None else w * aweights
    mean, total = average(x, axis=1, weights=w, returned=True)
    factor: Any = n - ddof
    if w is not None:
        total = astype(real(total[0]), np.float64)
        if ddof == 0:
            factor = total
        elif aweights is None:
            factor = total - ddof
        else:
            factor = total - ddof * sum_of(w * aweights) / total
    x = x - mean[:, None]
    product = dot(x, conj((x if w is None else x * w).T))
    return squeeze(product * divide(1.0, _positive(factor)))


def _observations(m: Any, y: Any, rowvar: Any, dtype: Any) -> Any:
    """All variables as rows of one matrix."""
    for name, a in (("m", m), ("y", y)):
        if a is not None and len(shape_of(a)) > 2:
            raise ValueError(f"{name} has more than 2 dimensions")
    if dtype is None:
        dtype = np.result_type(dtype_of(m), np.float64, *([] if y is None else [dtype_of(y)]))
    x = atleast_2d(astype(m, dtype))
    x = x.T if not rowvar and len(shape_of(m)) != 1 else x
    if y is None or shape_of(x)[0] == 0:
        return x
    y = atleast_2d(astype(y, dtype))
    y = y.T if not rowvar and shape_of(y)[0] != 1 else y
    return concatenate([x, y], axis=0)


def _weights(name: str, w: Any, n: int) -> Any:
    w = astype(operand(w), np.float64)
    if len(shape_of(w)) > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if shape_of(w)[0] != n:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    values = known_value(w)
    if values is not None and np.any(values < 0):
        raise ValueError(f"{name} cannot be negative")
    return w


def _positive(factor: Any) -> Any:
    """The degrees of freedom, 0 with a warning where there are none."""
    value = known_value(factor)
    if value is None:
        return where(greater(factor, 0.0), factor, 0.0)
    if value <= 0:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=4)
        return 0.0
    return factor


@numpy_function
def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Any:
    """Correlation coefficients of variables, each a row (or a column, with rowvar=False): (k, n) -> (k, k).

    Source: numpy.corrcoef.
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if not shape_of(c):
        return divide(c, c)
    deviation = sqrt(real(diagonal(c)))
    c = c / deviation[:, None] / deviation
    # rounding alone makes them larger than 1: the derivative is that without the clip
    bounded = clip(real(c), -1.0, 1.0)
    if dtype_of(c).kind == "c":
        bounded = make_complex(bounded, clip(imag(c), -1.0, 1.0))
    return c + _constant(bounded - c)


def _constant(x: Any) -> Any:
    return stop_gradient_p(x) if isinstance(x, Tracer) else x


__all__ = ["corrcoef", "cov"]
