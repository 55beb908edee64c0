"""The operands of the functions of this package."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of
from autodidax.numpy.dispatch import operand, strong
from autodidax.primitives.convert import astype


def number(name: str, x: Any) -> Any:
    """An argument as a real array or number, traced or not; integers stay integers."""
    x = strong(operand(x))
    if dtype_of(x).kind == "c":
        raise errors.DtypeError(
            f"{name} takes real numbers, not {dtype_of(x)}", mend="apply it to the real and imaginary parts"
        )
    return x


def floating(name: str, x: Any) -> Any:
    """An argument as a real floating array or number; integers and booleans become float64."""
    x = number(name, x)
    return x if dtype_of(x).kind == "f" else astype(x, np.float64)
