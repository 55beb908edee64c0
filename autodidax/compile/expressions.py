"""Equations as NumPy expressions, where these are shorter than a call of the primitive's implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax.compile.emission import Names
from autodidax.compile.kernels import REDUCTIONS, size_of
from autodidax.core.jaxpr import JaxprEqn, Literal
from autodidax.primitives.select import BITS, MANY, is_zero, or_zero

LARGE_PRODUCT = 1 << 20  # entries of one operand times those of the other

Expression = Callable[[Names, JaxprEqn, list[str]], str | None]


def expression(names: Names, eqn: JaxprEqn) -> str:
    """An equation as text, in terms of the names of its operands; operands with axes are arrays."""
    write = EXPRESSIONS.get(eqn.primitive.name)
    if write is not None and eqn.invars[0].aval.shape and eqn.primitive.module.startswith("autodidax."):
        text = write(names, eqn, [names.atom(a) for a in eqn.invars])
        if text is not None:
            return text
    return names.call(eqn)


def _getitem(names: Names, eqn: JaxprEqn, args: list[str]) -> str | None:
    index = basic_index(eqn.params["index"])
    return None if len(args) > 1 or index is None else f"{args[0]}[{index}]"


def basic_index(index: Any) -> str | None:
    """A basic index, not an empty one, as it is written."""
    parts = [_index(i) for i in (index if type(index) is tuple else (index,))]
    return ", ".join(map(str, parts)) if parts and None not in parts else None


def _index(i: Any) -> str | None:
    """One entry of a basic index, as it is written."""
    if i is Ellipsis:
        return "..."
    if i is None or type(i) is int:
        return repr(i)
    if type(i) is slice and all(v is None or type(v) is int for v in (i.start, i.stop, i.step)):
        start, stop, step = ("" if v is None else str(v) for v in (i.start, i.stop, i.step))
        return f"{start}:{stop}" + f":{step}" * bool(step)
    return None


def _transpose(names: Names, eqn: JaxprEqn, args: list[str]) -> str:
    permutation = eqn.params["permutation"]
    return f"{args[0]}.T" if permutation == (1, 0) else f"{args[0]}.transpose({permutation!r})"


def _reshape(names: Names, eqn: JaxprEqn, args: list[str]) -> str | None:
    shape = eqn.params["shape"]
    return f"{args[0]}.reshape({shape!r})" if shape and all(type(n) is int for n in shape) else None


def _reduce(names: Names, eqn: JaxprEqn, args: list[str]) -> str | None:
    axes = eqn.params["axes"]
    if not axes:
        return None
    if eqn.primitive.name != "reduce_sum" and eqn.invars[0].aval.dtype.kind not in "fi":
        return None
    ufunc = REDUCTIONS[eqn.primitive.name]
    axis = axes[0] if len(axes) == 1 else axes
    return f"{names.function(f'{ufunc.__name__}_reduce', ufunc.reduce)}({args[0]}, {axis!r})"


def _matmul(names: Names, eqn: JaxprEqn, args: list[str]) -> str | None:
    if not all(a.aval.shape for a in eqn.invars):
        return None
    name = names.function("matmul", np.matmul)
    x, y = eqn.invars
    if len(x.aval.shape) > 2 and len(y.aval.shape) == 2 and size_of(x.aval) * size_of(y.aval) >= LARGE_PRODUCT:
        # one product in the place of a stack of them: BLAS may add in another order
        width = x.aval.shape[-1]
        return f"{name}({args[0]}.reshape({(-1, width)!r}), {args[1]}).reshape({eqn.outvars[0].aval.shape!r})"
    return f"{name}({', '.join(args)})"


def choice(names: Names, eqn: JaxprEqn, args: list[str]) -> str:
    """`where` of a condition that has axes."""
    c, x, y = eqn.invars
    zero = type(y) is Literal and is_zero(y.val) and x.aval.dtype == eqn.outvars[0].aval.dtype
    if zero and size_of(c.aval) >= MANY and c.aval.dtype == bool and x.aval.shape and x.aval.dtype in BITS:
        return f"{names.function('or_zero', or_zero)}({args[0]}, {args[1]})"
    return f"{names.function('where', np.where)}({', '.join(args)})"


def _astype(names: Names, eqn: JaxprEqn, args: list[str]) -> str | None:
    source, target = eqn.invars[0].aval.dtype, eqn.outvars[0].aval.dtype
    if source.kind not in "fib" or target.kind not in "fib":
        return None
    return f"{args[0]}.astype({names.function(target.name, target)})"


EXPRESSIONS: dict[str, Expression] = {
    "getitem": _getitem, "transpose": _transpose, "reshape": _reshape, "reduce_sum": _reduce, "reduce_max": _reduce,
    "reduce_min": _reduce, "matmul": _matmul, "where": choice, "convert_element_type": _astype,
}  # fmt: skip
