"""Elementwise functions of lax that differ from NumPy's of the same purpose, or that NumPy lacks."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy import elementwise as anp
from autodidax.numpy.dispatch import operand
from autodidax.numpy.selecting import where
from autodidax.primitives import convert
from autodidax.primitives.convert import make_complex
from autodidax.primitives.elementwise import pow_operator


class RoundingMethod(enum.Enum):
    """How `round` treats numbers halfway between two integers."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def div(x: Any, y: Any) -> Any:
    """x / y; of two integers the quotient rounded towards zero. Source: jax.lax.div."""
    x, y = operand(x), operand(y)
    if dtype_of(x).kind in "iu" and dtype_of(y).kind in "iu":
        return anp.floor_divide(x - anp.fmod(x, y), y)
    return anp.divide(x, y)


def round(x: Any, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Any:
    """The nearest integer; halves go away from zero, or to the even one. Source: jax.lax.round."""
    if RoundingMethod(rounding_method) is RoundingMethod.TO_NEAREST_EVEN:
        return anp.rint(x)
    whole = anp.trunc(x)
    return anp.copysign(whole + where(anp.absolute(x - whole) >= 0.5, anp.sign(x), 0), x)


def rsqrt(x: Any) -> Any:
    """1 / sqrt(x). Source: jax.lax.rsqrt."""
    return 1.0 / anp.sqrt(x)


def integer_pow(x: Any, y: int) -> Any:
    """x**y for a fixed integer y; right at x = 0 to all orders. Source: jax.lax.integer_pow."""
    return pow_operator(operand(x), int(y))


def complex(x: Any, y: Any) -> Any:
    """x + i y of real x and y. Source: jax.lax.complex."""
    return make_complex(operand(x), operand(y))


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """`operand` in another dtype. Source: jax.lax.convert_element_type."""
    return convert.astype(operand, new_dtype)


def clamp(min: Any, x: Any, max: Any) -> Any:
    """x brought between min and max; these are scalars or have the shape of x. Source: jax.lax.clamp."""
    for name, bound in (("min", min), ("max", max)):
        _same_or_scalar("clamp", name, bound, "x", x)
    return anp.clip(x, min, max)


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Entries of on_true where pred holds, else of on_false; pred is a scalar or of their shape.

    Source: jax.lax.select.
    """
    return select_n(pred, on_false, on_true)


def select_n(which: Any, *cases: Any) -> Any:
    """Entry i from cases[which[i]]: which is boolean for two cases, or an integer in range; a scalar or of the shape
    that all cases have. Source: jax.lax.select_n."""
    if not cases:
        raise errors.ArgumentError("select_n: no cases", mend="give at least one")
    which = operand(which)
    for k, case in enumerate(cases):
        if shape_of(operand(case)) != shape_of(operand(cases[0])):
            raise errors.ShapeError(
                f"select_n: case {k} has shape {shape_of(operand(case))}, case 0 {shape_of(operand(cases[0]))}",
                mend="broadcast the cases to one shape",
            )
    _same_or_scalar("select_n", "which", which, "the cases", cases[0])
    kind = dtype_of(which).kind
    if (kind == "b" and len(cases) > 2) or kind not in "biu":
        raise errors.DtypeError(
            f"select_n: {len(cases)} cases chosen by dtype {dtype_of(which)}",
            mend="choose by integers (or two by booleans)",
        )
    out = cases[0]
    for k, case in enumerate(cases[1:], 1):
        out = where(which if kind == "b" else which >= k, case, out)
    return out


def _same_or_scalar(name: str, what: str, x: Any, other: str, y: Any) -> None:
    if shape_of(operand(x)) not in ((), shape_of(operand(y))):
        raise errors.ShapeError(
            f"{name}: {what} has shape {shape_of(operand(x))}, {other} {shape_of(operand(y))}",
            mend="make it a scalar, or broadcast it",
        )


def _as_kind(x: Any, kind: str) -> Any:
    return convert.astype(x, np.dtype(f"{kind}{dtype_of(x).itemsize}"))


def shift_right_arithmetic(x: Any, y: Any) -> Any:
    """Bits moved down, copies of the highest bit moving in. Source: jax.lax.shift_right_arithmetic."""
    x, y = operand(x), operand(y)
    return convert.astype(anp.right_shift(_as_kind(x, "i"), _as_kind(y, "i")), dtype_of(x))


def shift_right_logical(x: Any, y: Any) -> Any:
    """Bits moved down, zeros moving in. Source: jax.lax.shift_right_logical."""
    x, y = operand(x), operand(y)
    return convert.astype(anp.right_shift(_as_kind(x, "u"), _as_kind(y, "u")), dtype_of(x))


def population_count(x: Any) -> Any:
    """Number of bits that are 1, in the dtype of x. Source: jax.lax.population_count."""
    x = operand(x)
    return convert.astype(anp.bitwise_count(_as_kind(x, "u")), dtype_of(x))


def clz(x: Any) -> Any:
    """Number of zero bits above the highest 1, in the dtype of x. Source: jax.lax.clz."""
    x = operand(x)
    bits = 8 * dtype_of(x).itemsize
    filled = _as_kind(x, "u")
    shift = 1
    while shift < bits:  # every bit below the highest 1 becomes 1
        filled = filled | filled >> shift
        shift *= 2
    return bits - convert.astype(anp.bitwise_count(filled), dtype_of(x))
