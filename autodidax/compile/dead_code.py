"""Dead code: equations that no output depends on go, and constants that no equation reads; effects stay."""

from __future__ import annotations

from autodidax.core.jaxpr import ClosedJaxpr, Jaxpr, Var


def eliminate(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program without what nothing depends on."""
    jaxpr = closed.jaxpr
    needed = {v for v in jaxpr.outvars if type(v) is Var}
    kept = []
    for eqn in reversed(jaxpr.eqns):
        outs = eqn.outvars
        if (outs[0] in needed if len(outs) == 1 else any(v in needed for v in outs)) or eqn.has_effect:
            kept.append(eqn)
            for v in eqn.invars:
                if type(v) is Var:
                    needed.add(v)
    pairs = [(v, c) for v, c in zip(jaxpr.constvars, closed.consts, strict=True) if v in needed]
    if len(kept) == len(jaxpr.eqns) and len(pairs) == len(closed.consts):
        return closed
    kept.reverse()
    return ClosedJaxpr(Jaxpr([v for v, _ in pairs], jaxpr.invars, jaxpr.outvars, kept), [c for _, c in pairs])
