"""Exact algebra: equations whose result is another value at hand, or that of a cheaper equation, bit for bit.

The sign of a zero counts: x + 0.0 is not x, for it is 0.0 where x is -0.0; x - 0.0 is. There is one exception: in a
backward pass, what is added to a part of an array leaves the rest as it is, where the eager run adds zeros to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax.core.avals import ShapedArray
from autodidax.core.jaxpr import Atom, ClosedJaxpr, JaxprEqn, Literal, Var
from autodidax.core.primitive import registry


class Definitions(dict[Var, JaxprEqn]):
    """The equations that make the values of the new program so far, and how often each value is read."""

    def __init__(self, closed: ClosedJaxpr):
        super().__init__()
        self.uses = Counter(a for eqn in closed.jaxpr.eqns for a in eqn.invars if type(a) is Var)
        self.uses.update(a for a in closed.jaxpr.outvars if type(a) is Var)


Rule = Callable[[JaxprEqn, Definitions], Any]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule for primitives of these names: (equation, definitions so far) -> the atom that its result is, an
    equation in its place, or None."""

    def register(found: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, found))
        return found

    return register


def _same(a: Atom, aval: ShapedArray) -> bool:
    """Whether a value has this aval."""
    own = a.aval
    return own.shape == aval.shape and own.dtype == aval.dtype and own.weak_type == aval.weak_type


def _is(a: Atom, number: float) -> bool:
    """Whether an operand is this number, the sign of a zero included."""
    if type(a) is not Literal or a.aval.dtype.kind not in "fi":
        return False
    return bool(a.val == number) and (number != 0 or bool(np.signbit(a.val) == np.signbit(number)))


def _made_by(a: Atom, made: Definitions, name: str) -> JaxprEqn | None:
    eqn = made.get(a) if type(a) is Var else None
    return eqn if eqn is not None and eqn.primitive.name == name else None


def _instead(eqn: JaxprEqn, name: str, *operands: Atom, **params: Any) -> JaxprEqn:
    return JaxprEqn(registry[name], list(operands), eqn.outvars, params, eqn.quiet, eqn.mark)


@rule("mul")
def _mul(eqn: JaxprEqn, made: Definitions) -> Any:
    x, y = eqn.invars
    aval = eqn.outvars[0].aval
    for a, b in ((x, y), (y, x)):
        if type(b) is Literal and aval.dtype.kind in "fi":
            if _is(b, 1.0) and _same(a, aval):
                return a
            if _is(b, -1.0) and _same(a, aval):
                return _instead(eqn, "neg", a)
    if aval.dtype.kind == "f":
        p, q = _made_by(x, made, "neg"), _made_by(y, made, "neg")
        if p is not None and q is not None:
            return _instead(eqn, "mul", p.invars[0], q.invars[0])
    return None


@rule("div")
def _div(eqn: JaxprEqn, made: Definitions) -> Any:
    x, y = eqn.invars
    aval = eqn.outvars[0].aval
    if type(y) is not Literal or aval.dtype.kind != "f" or not _same(x, aval):
        return None
    if _is(y, 1.0):
        return x
    mantissa, exponent = np.frexp(np.float64(y.val)) if type(y.val) in (int, float) else (0.0, 0)
    if abs(mantissa) == 0.5 and abs(exponent) < 100:  # a power of two has an exact inverse
        return _instead(eqn, "mul", x, Literal(1.0 / float(y.val)))
    return None


@rule("add")
def _add(eqn: JaxprEqn, made: Definitions) -> Any:
    x, y = eqn.invars
    aval = eqn.outvars[0].aval
    kind = aval.dtype.kind
    for a, b in ((x, y), (y, x)):
        if _is(b, -0.0 if kind == "f" else 0) and kind in "fi" and _same(a, aval):
            return a
        negated = _made_by(b, made, "neg") if kind == "f" else None
        if negated is not None:
            return _instead(eqn, "sub", a, negated.invars[0])
    return _added_to_a_part(eqn, made) if eqn.quiet else None


def _added_to_a_part(eqn: JaxprEqn, made: Definitions) -> JaxprEqn | None:
    """The cotangent of a part of an array is added in its place, not as an array that is zero elsewhere."""
    x, y = eqn.invars
    for a, b in ((x, y), (y, x)):
        part = _made_by(b, made, "scatter_into_zeros")
        if part is None or len(part.invars) > 1 or made.uses[part.outvars[0]] != 1:
            continue
        if a.aval.shape and _same(a, eqn.outvars[0].aval) and _same(part.outvars[0], a.aval):
            return _instead(eqn, "scatter_add", a, part.invars[0], index=part.params["index"])
    return None


@rule("sub")
def _sub(eqn: JaxprEqn, made: Definitions) -> Any:
    x, y = eqn.invars
    aval = eqn.outvars[0].aval
    if _is(y, 0.0 if aval.dtype.kind == "f" else 0) and aval.dtype.kind in "fi" and _same(x, aval):
        return x
    negated = _made_by(y, made, "neg") if aval.dtype.kind == "f" else None
    return None if negated is None else _instead(eqn, "add", x, negated.invars[0])


@rule("neg")
def _neg(eqn: JaxprEqn, made: Definitions) -> Any:
    inner = _made_by(eqn.invars[0], made, "neg")
    return inner.invars[0] if inner is not None and _same(inner.invars[0], eqn.outvars[0].aval) else None


@rule("where")
def _where(eqn: JaxprEqn, made: Definitions) -> Any:
    c, x, y = eqn.invars
    aval = eqn.outvars[0].aval
    for k, branch in ((1, x), (2, y)):
        inner = _made_by(branch, made, "where")
        if inner is not None and inner.invars[0] is c and inner.invars[k].aval.dtype == aval.dtype:
            chosen = [c, inner.invars[1], y] if k == 1 else [c, x, inner.invars[2]]
            if chosen[k].aval.shape == aval.shape:
                return _instead(eqn, "where", *chosen)
    return None


@rule("transpose")
def _transpose(eqn: JaxprEqn, made: Definitions) -> Any:
    permutation = eqn.params["permutation"]
    x = eqn.invars[0]
    inner = _made_by(x, made, "transpose")
    if inner is not None:
        permutation = tuple(inner.params["permutation"][k] for k in permutation)
        x = inner.invars[0]
    if permutation == tuple(range(len(permutation))):
        return x
    return None if inner is None else _instead(eqn, "transpose", x, permutation=permutation)


@rule("reshape")
def _reshape(eqn: JaxprEqn, made: Definitions) -> Any:
    x = eqn.invars[0]
    inner = _made_by(x, made, "reshape")
    if inner is not None:
        x = inner.invars[0]
    if _same(x, eqn.outvars[0].aval):
        return x
    return None if inner is None else _instead(eqn, "reshape", x, **eqn.params)


@rule("broadcast_to", "convert_element_type", "name")
def _unchanged(eqn: JaxprEqn, made: Definitions) -> Any:
    return eqn.invars[0] if _same(eqn.invars[0], eqn.outvars[0].aval) else None
