"""Common subexpressions: what two equations of the same results have in common."""

from __future__ import annotations

from typing import Any

from autodidax.core.jaxpr import JaxprEqn, Literal

COMMUTATIVE = {"add", "mul", "eq", "ne", "and", "or"}
_EXACT = {int: "i", bool: "b"}


def key_of(eqn: JaxprEqn) -> Any:
    """A key of primitive, operands and parameters; None where these cannot be compared."""
    p = eqn.primitive
    if p.higher_order or p.effect:
        return None
    operands = [_name(a) if type(a) is Literal else id(a) for a in eqn.invars]
    if p.name in COMMUTATIVE:
        operands.sort(key=_order)
    if not eqn.params:
        return (p.code, *operands)
    key = (p.code, *operands, *[(name, type(value), value) for name, value in eqn.params.items()])
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _order(operand: Any) -> int:
    return operand if type(operand) is int else -1


def _name(a: Literal) -> Any:
    """A literal by type and bits: 0.0 and -0.0 differ, and 1 and 1.0."""
    kind = type(a.val)
    return (_EXACT[kind], a.val) if kind in _EXACT else (kind, repr(a.val))
