"""What the NumPy backend knows of primitives: ufuncs that can write into a buffer, and whose results are their own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodidax.core.avals import ShapedArray
from autodidax.core.jaxpr import JaxprEqn
from autodidax.core.primitive import Pointwise, Primitive

#: primitives whose implementation is Python's operator, so that it keeps Python scalars; on arrays it is this ufunc
OPERATORS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "neg": np.negative,
    "square": np.square, "abs": np.absolute, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor, "remainder": np.remainder, "floor_divide": np.floor_divide,
}  # fmt: skip
#: structural primitives with results of their own; those of the others may be views of their operands
COPYING = {
    "concatenate", "stack", "pad", "where", "scatter_into_zeros", "scatter_add", "scatter_set", "diagonal_embed",
}  # fmt: skip
REDUCTIONS = {"reduce_sum": np.add, "reduce_max": np.maximum, "reduce_min": np.minimum}


def size_of(aval: ShapedArray) -> int:
    """Number of entries; 0 where a size is known at run time only."""
    shape = aval.shape
    if not shape:
        return 1
    for n in shape:
        if type(n) is not int:
            return 0
    return shape[0] if len(shape) == 1 else math.prod(shape)


def ufunc_of(p: Primitive) -> np.ufunc | None:
    """The ufunc that is a primitive's implementation on arrays, with one result; None where there is none."""
    if not isinstance(p, Pointwise):
        return None
    found: Any = p.impl if isinstance(p.impl, np.ufunc) else OPERATORS.get(p.name)
    return found if found is not None and found.nout == 1 else None


def into(ufunc: np.ufunc, target: str) -> str:
    """The argument that makes a ufunc write into a buffer; NumPy wants the name of it for two ufuncs."""
    return f"out={target}" if ufunc in (np.maximum, np.minimum) else target


def is_known(p: Primitive) -> bool:
    """Whether an implementation is a ufunc or the package's own: that of a user may return its operand, or keep
    something from call to call."""
    return ufunc_of(p) is not None or p.module.startswith("autodidax.")


def is_fresh(eqn: JaxprEqn) -> bool:
    """Whether the results share no memory with operands or anything else."""
    p = eqn.primitive
    if p.higher_order or p.name in ("stop_gradient", "name") or not is_known(p):
        return False
    if p.name == "reduce_sum":
        return bool(eqn.params["axes"])
    if p.name == "convert_element_type":
        return eqn.invars[0].aval.dtype != eqn.outvars[0].aval.dtype
    return p.name in COPYING or not p.structural
