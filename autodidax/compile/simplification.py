"""Simplification, in one sweep: exact algebra, and an equation that was there before takes the earlier results."""

from __future__ import annotations

from typing import Any

from autodidax.compile.algebra import RULES, Definitions
from autodidax.compile.common_subexpressions import key_of
from autodidax.compile.rewriting import Rewriting, with_operands
from autodidax.core.jaxpr import ClosedJaxpr, JaxprEqn

ROUNDS = 4  # rules that are applied to one equation, at most


def simplify(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with cheaper equations, and none twice."""
    writing = Rewriting(closed)
    made = Definitions(closed)
    found: dict[Any, JaxprEqn] = {}
    env, eqns = writing.env, writing.eqns
    changed = False
    for old in closed.jaxpr.eqns:
        eqn: Any = with_operands(old, writing.atoms(old.invars)) if env else old
        for _ in range(ROUNDS):
            rule = RULES.get(eqn.primitive.name)
            other = rule(eqn, made) if rule is not None else None
            if other is None:
                break
            changed = True
            eqn = other
            if type(eqn) is not JaxprEqn:
                break
        if type(eqn) is not JaxprEqn:
            env[old.outvars[0]] = eqn
            continue
        key = key_of(eqn)
        first = found.get(key) if key is not None else None
        if first is not None and (eqn.quiet or not first.quiet):  # a warning of this one is given by the first
            env.update(zip(eqn.outvars, first.outvars, strict=True))
            changed = True
            continue
        if key is not None:
            found[key] = eqn
        if len(eqn.outvars) == 1:
            made[eqn.outvars[0]] = eqn
        eqns.append(eqn)
    return writing.finished() if changed else closed
