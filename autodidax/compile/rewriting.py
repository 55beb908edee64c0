"""What passes share: a program that is written anew, equation by equation, with atoms in the place of variables."""

from __future__ import annotations

from typing import Any

from autodidax.core.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Var


class Rewriting:
    """A new program in the making: its equations so far, and the atom that stands for each variable of the old one."""

    __slots__ = ("closed", "eqns", "env", "constvars", "consts")

    def __init__(self, closed: ClosedJaxpr):
        self.closed = closed
        self.eqns: list[JaxprEqn] = []
        self.env: dict[Any, Atom] = {}
        self.constvars = list(closed.jaxpr.constvars)
        self.consts = list(closed.consts)

    def atoms(self, old: list[Atom]) -> list[Atom]:
        """What stands for atoms of the old program."""
        env = self.env
        for a in old:
            if a in env:
                return [env.get(a, a) for a in old]
        return old

    def constant(self, value: Any, like: Var) -> Var:
        """A new constant of the program, with the aval of a variable."""
        var = Var(like.aval)
        self.constvars.append(var)
        self.consts.append(value)
        return var

    def finished(self) -> ClosedJaxpr:
        old = self.closed.jaxpr
        jaxpr = Jaxpr(self.constvars, old.invars, self.atoms(old.outvars), self.eqns)
        return ClosedJaxpr(jaxpr, self.consts)


def with_operands(eqn: JaxprEqn, invars: list[Atom]) -> JaxprEqn:
    """The same equation of other operands; itself where they are the same."""
    if invars is eqn.invars:
        return eqn
    return JaxprEqn(eqn.primitive, invars, eqn.outvars, eqn.params, eqn.quiet, eqn.mark)
