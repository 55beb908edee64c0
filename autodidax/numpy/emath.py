"""numpy.emath, differentiable: roots, logarithms, powers and inverse functions that become complex where they have to.

Whether they do depends on values, so where these are not known (jit, vmap) real operands are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of
from autodidax.numpy import elementwise as real_functions
from autodidax.numpy.concreteness import known_value
from autodidax.numpy.dispatch import function_for, operand, strong
from autodidax.primitives.convert import astype


def _emath_function(traced: Callable[..., Any]) -> Callable[..., Any]:
    """numpy.emath's function of the same name where no argument is traced, else `traced`."""
    return function_for(getattr(np.emath, traced.__name__))(traced)


def _complex_if(name: str, x: Any, outside: Callable[[Any], Any]) -> Any:
    """A real operand as complex numbers, where any of its values is outside of the real domain."""
    x = strong(operand(x))
    if dtype_of(x).kind == "c":
        return x
    known = known_value(x)
    if known is None:
        raise errors.ConcretizationTypeError(
            f"{name}: whether the result is complex depends on values that are not known",
            mend=f"write numpy.{name} for a real result, or convert the operand: x.astype(complex)",
        )
    if not np.any(outside(np.asarray(known))):
        return x
    return astype(x, np.complex64 if dtype_of(x).char in "fbhBH" else np.complex128)


def _negative(x: Any) -> Any:
    return x < 0


def _beyond_one(x: Any) -> Any:
    return np.abs(x) > 1


@_emath_function
def sqrt(x: Any) -> Any:
    """Square root; imaginary where x < 0.

    Source: numpy.emath.sqrt.
    """
    return real_functions.sqrt(_complex_if("sqrt", x, _negative))


@_emath_function
def log(x: Any) -> Any:
    """Natural logarithm; complex where x < 0.

    Source: numpy.emath.log.
    """
    return real_functions.log(_complex_if("log", x, _negative))


@_emath_function
def log2(x: Any) -> Any:
    """Logarithm to base 2; complex where x < 0.

    Source: numpy.emath.log2.
    """
    return real_functions.log2(_complex_if("log2", x, _negative))


@_emath_function
def log10(x: Any) -> Any:
    """Logarithm to base 10; complex where x < 0.

    Source: numpy.emath.log10.
    """
    return real_functions.log10(_complex_if("log10", x, _negative))


@_emath_function
def logn(n: Any, x: Any) -> Any:
    """Logarithm of x to base n; complex where one of them is negative.

    Source: numpy.emath.logn.
    """
    return log(x) / log(n)


@_emath_function
def power(x: Any, p: Any) -> Any:
    """x to the power p; complex where x < 0.

    Source: numpy.emath.power.
    """
    p = strong(operand(p))
    known = known_value(p)
    if dtype_of(p).kind in "iu" and (known is None or np.any(known < 0)):
        p = p * 1.0
    return real_functions.power(_complex_if("power", x, _negative), p)


@_emath_function
def arccos(x: Any) -> Any:
    """Inverse cosine; complex where |x| > 1.

    Source: numpy.emath.arccos.
    """
    return real_functions.arccos(_complex_if("arccos", x, _beyond_one))


@_emath_function
def arcsin(x: Any) -> Any:
    """Inverse sine; complex where |x| > 1.

    Source: numpy.emath.arcsin.
    """
    return real_functions.arcsin(_complex_if("arcsin", x, _beyond_one))


@_emath_function
def arctanh(x: Any) -> Any:
    """Inverse hyperbolic tangent; complex where |x| > 1.

    Source: numpy.emath.arctanh.
    """
    return real_functions.arctanh(_complex_if("arctanh", x, _beyond_one))


__all__ = ["arccos", "arcsin", "arctanh", "log", "log2", "log10", "logn", "power", "sqrt"]
