"""Constant folding: what depends on constants alone is computed once, while the program is compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax.compile.rewriting import Rewriting, with_operands
from autodidax.core.jaxpr import Atom, ClosedJaxpr, JaxprEqn, Literal, Var
from autodidax.core.primitive import Pointwise

LARGE = 4096  # entries of a folded result, unless its operands are as large


def fold(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with the results of equations that have constant operands in their place, and with a number in the
    place of a constant of equal entries, where the other operand has the shape of the result.

    An equation that raises or warns is left as it is, to do so at run time.
    """
    known = dict(zip(closed.jaxpr.constvars, closed.consts, strict=True))
    if not known and not any(_is_constant(eqn, known) for eqn in closed.jaxpr.eqns):
        return closed
    writing = Rewriting(closed)
    uniform: dict[Var, Literal | None] = {}
    changed = False
    for old in closed.jaxpr.eqns:
        eqn = with_operands(old, writing.atoms(old.invars))
        if known and isinstance(eqn.primitive, Pointwise) and eqn.primitive.nin == 2:
            scalar = with_operands(eqn, _with_numbers(eqn, known, uniform))
            changed |= scalar is not eqn
            eqn = scalar
        if not _is_constant(eqn, known):
            writing.eqns.append(eqn)
            continue
        results = _computed(eqn, [a.val if isinstance(a, Literal) else known[a] for a in eqn.invars])
        if results is None:
            writing.eqns.append(eqn)
            continue
        for v, value in zip(eqn.outvars, results, strict=True):
            atom: Atom = Literal(value) if np.ndim(value) == 0 else writing.constant(value, v)
            writing.env[v] = atom
            if type(atom) is Var:
                known[atom] = value
    return writing.finished() if changed or len(writing.eqns) < len(closed.jaxpr.eqns) else closed


def _with_numbers(eqn: JaxprEqn, known: dict[Var, Any], uniform: dict[Var, Literal | None]) -> list[Atom]:
    """The operands, with a number in the place of a constant of equal entries, if that leaves shape and dtype alone."""
    x, y = eqn.invars
    shape = eqn.outvars[0].aval.shape
    if type(y) is Var and y in known and x.aval.shape == shape:
        return [x, _number(y, known, uniform) or y]
    if type(x) is Var and x in known and y.aval.shape == shape:
        return [_number(x, known, uniform) or x, y]
    return eqn.invars


def _number(v: Var, known: dict[Var, Any], uniform: dict[Var, Literal | None]) -> Literal | None:
    """The one number that a constant array holds everywhere, sign of zero included."""
    if v not in uniform:
        value = np.asarray(known[v])
        first = value.reshape(-1)[:1]
        same = value.size and value.dtype.kind in "fib" and bool(np.all(value == first))
        if same and first[0] == 0 and value.dtype.kind == "f":
            same = bool(np.all(np.signbit(value) == np.signbit(first)))
        uniform[v] = Literal(first[0]) if same else None
    return uniform[v]


def _is_constant(eqn: JaxprEqn, known: dict[Var, Any]) -> bool:
    p = eqn.primitive
    if p.higher_order or p.effect:
        return False
    for a in eqn.invars:
        if type(a) is not Literal and a not in known:
            return False
    return bool(eqn.invars)


def _computed(eqn: JaxprEqn, values: list[Any]) -> list[Any] | None:
    largest = max((np.size(v) for v in values), default=0)
    if any(v.aval.size > max(LARGE, largest) for v in eqn.outvars):
        return None
    try:
        with np.errstate(all="ignore" if eqn.quiet else "raise"):
            out = eqn.primitive.impl(*values, **eqn.params)
    except Exception:  # whatever it raises is raised again when the program runs
        return None
    results = list(out) if eqn.primitive.multiple_results else [out]
    for k, (v, value) in enumerate(zip(eqn.outvars, results, strict=True)):
        if type(value) is np.ndarray:
            results[k] = value = value.copy()
            value.flags.writeable = False
        if np.shape(value) != v.aval.shape or np.asarray(value).dtype != v.aval.dtype:
            return None
    return results
