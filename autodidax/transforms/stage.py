"""Staging: running a function on abstract values to write down its program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax.core.avals import PYTHON_SCALARS, ShapedArray
from autodidax.core.collector import collector_paused
from autodidax.core.interpreters import AbstractTracer, Trace, Tracer, get_aval, is_ended, is_quiet, leaked
from autodidax.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from autodidax.core.sources import scopes, staged_mark

new = object.__new__


class StageTracer(AbstractTracer):
    """A value of a program that is being written: `val` is its aval, `node` its variable."""

    __slots__ = ()


class StageTrace(Trace):
    """Writes each operation down as an equation. Tracers from below become captured inputs of the program, plain
    arrays its constants (copied, so that later mutation cannot reach the program)."""

    __slots__ = ("eqns", "consts", "captured", "inputs", "_names", "_origins", "_outer_scopes")
    staging = True

    def __init__(self, transform: str, fun_name: str, arg_names: Callable[[], list[str]] = list):
        super().__init__(transform, fun_name)
        self.eqns: list[JaxprEqn] = []
        self.consts: dict[Var, Any] = {}
        self.captured: dict[int, tuple[Any, Var]] = {}
        self.inputs: list[Var] = []
        self._names = arg_names
        self._origins: dict[int, tuple[Any, Any, Var]] = {}

    def __enter__(self) -> Any:
        self._outer_scopes = len(scopes())
        return super().__enter__()

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        self._origins = {}

    @property
    def arg_names(self) -> list[str]:
        """Names of the inputs, for messages."""
        return self._names()

    def input(self, aval: ShapedArray) -> Any:
        tracer = new(StageTracer)
        tracer._trace, tracer.val, tracer.node = self, aval, Var(aval)
        return tracer

    def atom(self, x: Any) -> Any:
        """The variable or literal that stands for an operand."""
        if isinstance(x, Tracer):
            if x._trace is self:
                return x.node
            entry = self.captured.get(id(x))
            if entry is None:
                if is_ended(x._trace):
                    raise leaked(x._trace)
                entry = self.captured[id(x)] = (x, Var(get_aval(x)))
            return entry[1]
        if type(x) in PYTHON_SCALARS or isinstance(x, np.generic | bool):
            return Literal(x)
        x = np.asarray(x)
        if x.ndim == 0:
            return Literal(x[()])
        return self._const(x)

    def _const(self, x: np.ndarray) -> Var:
        known = self._origins.get(id(x))
        if known is not None and np.array_equal(known[1], x):
            return known[2]
        var = Var(get_aval(x))
        copy = x.copy()
        copy.flags.writeable = False
        self.consts[var] = copy
        self._origins[id(x)] = (x, copy, var)
        return var

    def process(self, p: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if p.stages_itself:
            return p.trace_stage(self, args, params)
        atoms = [self.atom(x) for x in args]
        out = p.abstract_eval(*[a.aval for a in atoms], **params)
        if p.multiple_results:
            return self.emit(p, atoms, params, list(out))
        if len(atoms) == 2 and out.dtype.kind in "iu":
            check_literals(atoms, out.dtype)
        # as `emit` does, without its lists
        quiet, result, var = is_quiet(), new(StageTracer), Var(out)
        result._trace, result.val, result.node = self, out, var
        self.eqns.append(JaxprEqn(p, atoms, [var], params, quiet, staged_mark(p.name, quiet, self._outer_scopes)))
        return result

    def emit(self, p: Any, atoms: list[Any], params: dict[str, Any], avals: list[ShapedArray]) -> list[Any]:
        """Write one equation and return the tracers of its outputs."""
        outs = [self.input(a) for a in avals]
        quiet = is_quiet()
        mark = staged_mark(p.name, quiet, self._outer_scopes)
        self.eqns.append(JaxprEqn(p, atoms, [t.node for t in outs], params, quiet, mark))
        return outs

    def finish(self, in_tracers: Sequence[Any], outs: Sequence[Any]) -> tuple[ClosedJaxpr, list[Any]]:
        """The program, its captured tracers as first inputs, and those tracers."""
        out_atoms = [self.atom(x) for x in outs]
        captured = list(self.captured.values())
        invars = [v for _, v in captured] + [t.node for t in in_tracers]
        jaxpr = Jaxpr(list(self.consts), invars, out_atoms, prune(self.eqns, out_atoms))
        used = {v for e in jaxpr.eqns for v in e.invars if type(v) is Var} | {v for v in out_atoms if type(v) is Var}
        jaxpr.constvars = [v for v in jaxpr.constvars if v in used]
        return ClosedJaxpr(jaxpr, [self.consts[v] for v in jaxpr.constvars]), [x for x, _ in captured]


def check_literals(atoms: Sequence[Any], dtype: np.dtype) -> None:
    """Raise, as NumPy does when it computes, for a Python integer that the integers beside it do not hold."""
    for a in atoms:
        if type(a) is Literal and type(a.val) is int:
            limits = np.iinfo(dtype)
            if not limits.min <= a.val <= limits.max:
                raise OverflowError(f"Python integer {a.val} out of bounds for {dtype}")


def prune(eqns: list[JaxprEqn], out_atoms: Sequence[Any]) -> list[JaxprEqn]:
    """The equations that the outputs depend on, and those with an effect."""
    needed = {v for v in out_atoms if type(v) is Var}
    kept = []
    for eqn in reversed(eqns):
        if any(v in needed for v in eqn.outvars) or eqn.has_effect:
            kept.append(eqn)
            needed.update(v for v in eqn.invars if type(v) is Var)
    kept.reverse()
    return kept


def stage(
    fun: Callable[..., Any],
    avals: Sequence[ShapedArray],
    *,
    transform: str = "staging",
    name: str = "<function>",
    arg_names: Callable[[], list[str]] = list,
) -> tuple[ClosedJaxpr, list[Any]]:
    """Write down the program of `fun(*values) -> list of values`.

    Returns the program and the tracers of enclosing transforms that it uses: they are its first inputs, in order.
    """
    with collector_paused(), StageTrace(transform, name, arg_names) as trace:
        tracers = [trace.input(a) for a in avals]
        trace.inputs = [t.node for t in tracers]
        outs = fun(*tracers)
        closed, captured = trace.finish(tracers, outs)
    return closed, captured
