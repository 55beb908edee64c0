"""The NumPy backend: emits one Python function of NumPy calls, which writes into buffers that nothing reads any more
and runs clusters block by block."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax.compile.blocks import Block
from autodidax.compile.clusters import cluster_p, gather
from autodidax.compile.emission import Names
from autodidax.compile.expressions import basic_index, expression
from autodidax.compile.kernels import into, is_fresh, size_of, ufunc_of
from autodidax.compile.passes import optimized
from autodidax.compile.program import Compiled, backends
from autodidax.compile.scalars import ScalarProgram, is_small
from autodidax.core.collector import collector_paused
from autodidax.core.jaxpr import ClosedJaxpr, JaxprEqn, Literal, last_uses

BUFFER = 4096  # bytes from which writing into a buffer is faster than making a new array


class _Buffers:
    """Which arrays of a program are its own, and are read no more: a later result of the same kind may go there."""

    def __init__(self, closed: ClosedJaxpr):
        self.kept = {v for v in closed.jaxpr.outvars if type(v) is not Literal}
        self.root: dict[Any, Any] = {}  # value -> the value whose memory it shows; None where that is not ours
        self.alive: dict[Any, int] = {}  # root -> values that show its memory and are still read
        self.fixed: set[Any] = set()  # roots that have to stay

    def note(self, eqn: JaxprEqn) -> None:
        """The memory of the results of an equation."""
        fresh = is_fresh(eqn)
        for v in eqn.outvars:
            if not v.aval.shape:
                continue
            roots = {v} if fresh else {self.root.get(a) for a in eqn.invars if type(a) is not Literal and a.aval.shape}
            known = len(roots) == 1 and not eqn.primitive.higher_order
            root = self.root[v] = roots.pop() if known else None
            if root is None:
                self.fixed |= roots
            else:
                self.alive[root] = self.alive.get(root, 0) + 1
                if v in self.kept:
                    self.fixed.add(root)

    def released(self, dying: list[Any]) -> list[Any]:
        """The roots that nothing shows any more."""
        free = []
        for v in dying:
            root = self.root.get(v)
            if root is not None:
                self.alive[root] -= 1
                if not self.alive[root] and root not in self.fixed:
                    free.append(root)
        return free


class _Emission:
    """The lines of one program."""

    def __init__(self, closed: ClosedJaxpr):
        self.closed = closed
        self.names = Names()
        self.buffers = _Buffers(closed)
        self.functions: list[str] = []
        self.lines: list[str] = []
        self.clusters = 0
        self.taken: list[str] = []  # names that the last equation gave to its result

    def program(self) -> str:
        names, jaxpr = self.names, self.closed.jaxpr
        for k, (v, value) in enumerate(zip(jaxpr.constvars, self.closed.consts, strict=True)):
            names.values[v] = f"k{k}_"
            names.namespace[f"k{k}_"] = value
        inputs = [names.fresh(v) for v in jaxpr.invars]
        constants = set(jaxpr.constvars)
        was_quiet = False
        for eqn, dying in zip(jaxpr.eqns, last_uses(jaxpr), strict=True):
            dying = [v for v in dying if v not in constants]
            lines = self.cluster(eqn) if eqn.primitive is cluster_p else [self.equation(eqn, dying)]
            dead = [d for v in dying if (d := names.values[v]) not in self.taken]
            if dead:
                lines[-1] += f"; del {', '.join(dead)}"
            if eqn.quiet and not was_quiet:
                self.lines.append("with errstate(all='ignore'):")
                names.namespace["errstate"] = np.errstate
            was_quiet = eqn.quiet
            self.lines += ["    " + line if was_quiet else line for line in lines]
        returned = ", ".join(names.atom(a) for a in jaxpr.outvars)
        body = "\n    ".join([*self.lines, f"return [{returned}]"])
        return "\n".join([*self.functions, f"def program({', '.join(inputs)}):\n    {body}\n"])

    def equation(self, eqn: JaxprEqn, dying: list[Any]) -> str:
        names, buffers = self.names, self.buffers
        self.taken = []
        out = eqn.outvars[0] if len(eqn.outvars) == 1 else None
        large = out is not None and size_of(out.aval) * out.aval.dtype.itemsize >= BUFFER
        ufunc = ufunc_of(eqn.primitive) if large else None
        buffers.note(eqn)
        free = buffers.released(dying)
        if ufunc is not None and out is not None:
            name = names.function(ufunc.__name__, ufunc)
            args = [names.atom(a) for a in eqn.invars]
            for root in free:
                # the value itself, not a view of it, is what dies here
                if root in dying and root.aval.shape == out.aval.shape and root.aval.dtype == out.aval.dtype:
                    target = names.values[out] = names.values[root]
                    self.taken = [target]
                    return f"{name}({', '.join([*args, into(ufunc, target)])})"
            return f"{names.fresh(out)} = {name}({', '.join(args)})"
        if eqn.primitive.name == "scatter_add" and len(eqn.invars) == 2 and out is not None:
            index = basic_index(eqn.params["index"])
            if index is not None:
                return self.added(eqn, free, dying, index)
        value = expression(names, eqn)
        outs = [names.fresh(v) for v in eqn.outvars]
        target = f"[{', '.join(outs)}]" if eqn.primitive.multiple_results else outs[0]
        return f"{target} = {value}" if outs else value

    def added(self, eqn: JaxprEqn, free: list[Any], dying: list[Any], index: str) -> str:
        """What is added to a part of an array: in its place, where nothing else reads the array, else in a copy."""
        names = self.names
        x, update = eqn.invars
        out = eqn.outvars[0]
        text = ""
        if x in free and x in dying and type(x) is not Literal:
            target = names.values[out] = names.values[x]
            self.taken = [target]
        else:
            target = names.fresh(out)
            text = f"{target} = {names.function('array', np.array)}({names.atom(x)}, order='C'); "
        return f"{text}{target}[{index}] += {names.atom(update)}"

    def cluster(self, eqn: JaxprEqn) -> list[str]:
        self.taken = []
        self.clusters += 1
        block = Block(self.names, self.clusters, eqn.params["jaxpr"], eqn.params["shape"])
        self.functions += block.function()
        lines = block.call_lines(eqn)
        for v in eqn.outvars:
            self.buffers.root[v], self.buffers.alive[v] = v, 1
            if v in self.buffers.kept:
                self.buffers.fixed.add(v)
        return lines


def compile_numpy(closed: ClosedJaxpr) -> Compiled:
    """Emit and compile the program of a jaxpr."""
    with collector_paused():
        simplified = optimized(closed)
        if is_small(simplified):
            program = ScalarProgram(simplified)
            return _loaded(program.source(), program.names.namespace | {"in_numpy": _OnDemand(simplified)})
        return _with_arrays(simplified)


def _with_arrays(closed: ClosedJaxpr) -> Compiled:
    emission = _Emission(gather(closed))
    return _loaded(emission.program(), emission.names.namespace)


def _loaded(source: str, namespace: dict[str, Any]) -> Compiled:
    exec(compile(source, "<autodidax program>", "exec"), namespace)  # the program is our own text
    return Compiled(namespace.pop("program"), source)


class _OnDemand:
    """A program in NumPy form that is compiled when it is first called."""

    def __init__(self, closed: ClosedJaxpr):
        self.closed = closed
        self.call: Any = None

    def __call__(self, *args: Any) -> list[Any]:
        if self.call is None:
            self.call = _with_arrays(self.closed).call
        return self.call(*args)


backends["numpy"] = compile_numpy
