"""Inlining: calls of programs (`jit` in a staged function, functions with custom rules) become their equations."""

from __future__ import annotations

from collections import Counter
from typing import Any

from autodidax.core.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

LONG = 100  # equations of a program that is called several times, beyond which it stays a function


def inline(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with the equations of the programs that it calls in the place of the calls."""
    calls = Counter(id(p) for p in map(_called, closed.jaxpr.eqns) if p is not None)
    if not calls:
        return closed
    writing = _Inlining(closed, calls)
    old = closed.jaxpr
    env: dict[Any, Atom] = {}
    writing.write(old.eqns, env, False)
    outvars = [a if type(a) is Literal else env.get(a, a) for a in old.outvars]
    return ClosedJaxpr(Jaxpr(writing.constvars, old.invars, outvars, writing.eqns), writing.consts)


def _called(eqn: JaxprEqn) -> ClosedJaxpr | None:
    inlined = eqn.primitive.inlined
    return None if inlined is None else inlined(eqn.params)


class _Inlining:
    def __init__(self, closed: ClosedJaxpr, calls: Counter[int]):
        self.calls = calls
        self.eqns: list[JaxprEqn] = []
        self.constvars = list(closed.jaxpr.constvars)
        self.consts = list(closed.consts)
        self.known: dict[int, list[Var]] = {}  # the constants of a program that was inlined before

    def write(self, eqns: list[JaxprEqn], env: dict[Any, Atom], quiet: bool) -> None:
        """The equations in terms of the outer program; each variable that they bind is a new one where `env` is that
        of an inner program."""
        for eqn in eqns:
            ins = [a if type(a) is Literal else env.get(a, a) for a in eqn.invars]
            program = _called(eqn)
            if program is not None and (self.calls[id(program)] < 2 or len(program.jaxpr.eqns) <= LONG):
                for v, atom in zip(eqn.outvars, self.call(program, ins, quiet or eqn.quiet), strict=True):
                    env[v] = atom
                continue
            outs = [Var(v.aval) for v in eqn.outvars]
            env.update(zip(eqn.outvars, outs, strict=True))
            self.eqns.append(JaxprEqn(eqn.primitive, ins, outs, eqn.params, quiet or eqn.quiet, eqn.mark))

    def call(self, program: ClosedJaxpr, ins: list[Atom], quiet: bool) -> list[Atom]:
        jaxpr = program.jaxpr
        consts = self.known.get(id(program))
        if consts is None:
            consts = self.known[id(program)] = [Var(v.aval) for v in jaxpr.constvars]
            self.constvars += consts
            self.consts += program.consts
        for inner in map(_called, jaxpr.eqns):
            if inner is not None:
                self.calls[id(inner)] += 1
        env: dict[Any, Atom] = {
            **dict(zip(jaxpr.constvars, consts, strict=True)),
            **dict(zip(jaxpr.invars, ins, strict=True)),
        }
        self.write(jaxpr.eqns, env, quiet)
        return [a if type(a) is Literal else env[a] for a in jaxpr.outvars]
