"""Comparisons of whole arrays, and questions that each entry answers: piecewise constant, so their derivative is 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax.core.interpreters import Tracer, dtype_of, get_aval, shape_of
from autodidax.numpy.concreteness import concrete
from autodidax.numpy.dispatch import extended, numpy_function, one_of, operand
from autodidax.numpy.reductions import all as all_of
from autodidax.numpy.ufuncs import lookup
from autodidax.primitives.comparison import equal, logical_and, logical_or, not_equal
from autodidax.primitives.shape import reshape


def _answer(x: Any) -> Any:
    """A Python bool where the value is known, as NumPy returns it."""
    value = concrete(x) if isinstance(x, Tracer) else x
    return value if isinstance(value, Tracer) else bool(value)


@numpy_function
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Whether entries differ by at most atol + rtol |b|; infinities of one sign are close to each other.

    Source: numpy.isclose.
    """
    a, b = operand(a), operand(b)
    if dtype_of(b).kind in "iub":
        b = b * 1.0
    finite = lookup(np.isfinite)(b)
    near = lookup(np.less_equal)(lookup(np.absolute)(a - b), atol + rtol * lookup(np.absolute)(b))
    result = logical_or(logical_and(near, finite), equal(a, b))
    return logical_or(result, logical_and(not_equal(a, a), not_equal(b, b))) if equal_nan else result


@numpy_function
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Whether all entries are close; traced where values are not known.

    Source: numpy.allclose.
    """
    return _answer(all_of(isclose(a, b, rtol, atol, equal_nan)))


@numpy_function
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Whether two arrays have one shape and equal entries; traced where values are not known.

    Source: numpy.array_equal.
    """
    a1, a2 = operand(a1), operand(a2)
    if shape_of(a1) != shape_of(a2):
        return False
    same = equal(a1, a2)
    if equal_nan:
        same = logical_or(same, logical_and(not_equal(a1, a1), not_equal(a2, a2)))
    return _answer(all_of(same))


@numpy_function
def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether two arrays broadcast to one shape and have equal entries there.

    Source: numpy.array_equiv.
    """
    a1, a2 = operand(a1), operand(a2)
    try:
        np.broadcast_shapes(shape_of(a1), shape_of(a2))
    except ValueError:
        return False
    return _answer(all_of(equal(a1, a2)))


@numpy_function
def iscomplex(x: Any) -> Any:
    """Whether entries have an imaginary part other than 0.

    Source: numpy.iscomplex.
    """
    x = operand(x)
    return not_equal(x.imag, 0) if dtype_of(x).kind == "c" else np.zeros(shape_of(x), bool)[()]


@numpy_function
def isreal(x: Any) -> Any:
    """Whether entries have the imaginary part 0.

    Source: numpy.isreal.
    """
    x = operand(x)
    return equal(x.imag, 0) if dtype_of(x).kind == "c" else np.ones(shape_of(x), bool)[()]


@numpy_function
def isposinf(x: Any, out: Any = None) -> Any:
    """Whether entries are plus infinity.

    Source: numpy.isposinf.
    """
    return equal(operand(x), np.inf)


@numpy_function
def isneginf(x: Any, out: Any = None) -> Any:
    """Whether entries are minus infinity.

    Source: numpy.isneginf.
    """
    return equal(operand(x), -np.inf)


@extended("method")
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None,
    method: Any = None,
) -> Any:  # fmt: skip
    """Whether entries are among those of another array. `kind`, and jax.numpy's `method`, have no effect.

    Source: numpy.isin, jax.numpy.isin.
    """
    one_of("isin", "method", method, "auto", "compare_all", "binary_search", "sort")
    element, others = operand(element), operand(test_elements)
    among = (element[..., None] == reshape(others, shape=(get_aval(others).size,))).any(axis=-1)
    return lookup(np.logical_not)(among) if invert else among


__all__ = [
    "allclose", "array_equal", "array_equiv", "isclose", "iscomplex", "isin", "isneginf", "isposinf", "isreal",
]  # fmt: skip
