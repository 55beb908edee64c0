"""Clusters as emitted code: a function of one block, and the call that runs it over all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autodidax.compile.emission import Names
from autodidax.compile.expressions import choice
from autodidax.compile.kernels import REDUCTIONS, into, ufunc_of
from autodidax.compile.pool import run_blocks
from autodidax.core.jaxpr import ClosedJaxpr, JaxprEqn, Literal, last_uses

BYTES = 1 << 20  # of all values that live at once in a block: they are to stay in the second-level cache
ENTRIES = (4096, 32768)  # of a block, at least and at most


class Block:
    """The emitted code of one cluster."""

    def __init__(self, names: Names, number: int, program: ClosedJaxpr, shape: tuple[int, ...]):
        self.names, self.shape, self.jaxpr = names, shape, program.jaxpr
        self.name = f"block{number}"
        self.axis, self.rows = _partition(program, shape)
        self.length = shape[self.axis]
        self.count = -(-self.length // self.rows)
        self.lines: list[str] = []
        self.local: dict[Any, str] = {}
        self.spare: dict[Any, list[str]] = {}  # buffers that nothing reads any more, by dtype
        self.own: set[str] = set()  # names of buffers of this block
        self.targets: dict[Any, str] = {}  # results -> where they are written
        self.total = 0

    # the function of one block

    def function(self) -> list[str]:
        """Its lines: `def block(start, stop, number, inputs..., outputs...)`."""
        names, jaxpr = self.names, self.jaxpr
        ins = [f"x{k}_" for k in range(len(jaxpr.invars))]
        outs = [f"o{k}_" for k in range(len(jaxpr.outvars))]
        head = f"def {self.name}(start, stop, number, {', '.join([*ins, *outs])}):"
        for v, name in zip(jaxpr.invars, ins, strict=True):
            self.local[v] = name
            if self.is_cut(v.aval.shape):
                self.local[v] = f"{name}b"
                self.lines.append(f"{name}b = {name}[{self.cut(v.aval.shape)}]")
        for result, name in zip(jaxpr.outvars, outs, strict=True):
            self.targets[result] = name
            if result.aval.shape == self.shape:
                self.lines.append(f"{name}b = {name}[{self.cut(self.shape)}]")
                self.targets[result] = f"{name}b"
        quiet = False
        body = self.lines
        for eqn, dying in zip(jaxpr.eqns, last_uses(jaxpr), strict=True):
            if eqn.quiet != quiet:
                quiet = eqn.quiet
                if quiet:
                    names.namespace["errstate"] = np.errstate
                    body.append("with errstate(all='ignore'):")
            self.lines = []
            self.equation(eqn, dying)
            body += ["    " * quiet + line for line in self.lines]
        return [head, *("    " + line for line in body), ""]

    def is_cut(self, shape: tuple[int, ...]) -> bool:
        """Whether a value of this shape has the axis that is divided into blocks."""
        k = self.axis - (len(self.shape) - len(shape))
        return k >= 0 and shape[k] == self.length and self.length > 1

    def cut(self, shape: tuple[int, ...]) -> str:
        return ":, " * (self.axis - (len(self.shape) - len(shape))) + "start:stop"

    def equation(self, eqn: JaxprEqn, dying: list[Any]) -> None:
        p, out = eqn.primitive, eqn.outvars[0]
        args = [self.atom(a) for a in eqn.invars]
        free = [self.local[v] for v in dying if v in self.local and self.local[v] in self.own]
        if p.name in REDUCTIONS:
            self.reduction(eqn, args[0])
            self.free(free, eqn.invars[0].aval.dtype)
            return
        ufunc = ufunc_of(p)
        target = self.targets.get(out)
        if ufunc is None:
            value = self.call(eqn, args)
            if target is None:
                self.local[out] = self.new_name()
                self.lines.append(f"{self.local[out]} = {value}")
                if p.name == "broadcast_to":  # a view, so that what it shows has to stay
                    self.own.discard(args[0])
                elif p.name in ("where", "convert_element_type") or not p.structural:
                    self.own.add(self.local[out])
            else:
                self.local[out] = target
                self.lines.append(f"{target}[...] = {value}")
            self.free(free, None, dying)
            return
        name = self.names.function(ufunc.__name__, ufunc)
        dtype = out.aval.dtype
        if target is None:
            reusable = [self.local[v] for v in dying if self.local.get(v) in self.own and v.aval.dtype == dtype]
            if reusable:
                target = reusable[0]
                free.remove(target)
            elif self.spare.get(dtype):
                target = self.spare[dtype].pop()
        if target is None:
            self.local[out] = self.new_name()
            self.own.add(self.local[out])
            self.lines.append(f"{self.local[out]} = {name}({', '.join(args)})")
        else:
            self.local[out] = target
            self.lines.append(f"{name}({', '.join([*args, into(ufunc, target)])})")
        self.free(free, None, dying)

    def free(self, names: list[str], dtype: Any, dying: Sequence[Any] = ()) -> None:
        """Keep buffers for later results."""
        by_name = {self.local[v]: v.aval.dtype for v in dying if v in self.local}
        for name in dict.fromkeys(names):
            kind = by_name.get(name, dtype)
            if kind is not None:
                self.spare.setdefault(kind, []).append(name)

    def new_name(self) -> str:
        self.total += 1
        return f"t{self.total}_"

    def atom(self, a: Any) -> str:
        return self.names.atom(a) if type(a) is Literal else self.local[a]

    def call(self, eqn: JaxprEqn, args: list[str]) -> str:
        p, names = eqn.primitive, self.names
        if p.name == "broadcast_to":
            names.namespace["broadcast_to"] = np.broadcast_to
            sizes = [str(n) for n in self.shape]
            sizes[self.axis] = "stop - start"
            return f"broadcast_to({args[0]}, ({', '.join(sizes)},))"
        if p.name == "where" and eqn.invars[0].aval.shape:
            return choice(names, eqn, args)
        params = [f"{k}={names.parameter(k, v)}" for k, v in eqn.params.items()]
        return f"{names.implementation(p)}({', '.join([*args, *params])})"

    def reduction(self, eqn: JaxprEqn, arg: str) -> None:
        ufunc, axes, out = REDUCTIONS[eqn.primitive.name], eqn.params["axes"], eqn.outvars[0]
        name = self.names.function(f"{ufunc.__name__}_reduce", ufunc.reduce)
        target = self.targets[out]
        axis = axes[0] if len(axes) == 1 else axes
        if self.axis in axes:
            self.lines.append(f"{target}[number] = {name}({arg}, {axis!r})")
            return
        k = self.axis - sum(a < self.axis for a in axes)
        self.lines.append(f"{name}({arg}, {axis!r}, None, {target}[{':, ' * k}start:stop])")

    # the call

    def call_lines(self, eqn: JaxprEqn) -> list[str]:
        """Lines that allocate the results, run the blocks and add up what they give."""
        names = self.names
        names.namespace["empty"] = np.empty
        names.namespace["run_blocks"] = run_blocks
        before, after, results = [], [], []
        for v, inner in zip(eqn.outvars, self.jaxpr.outvars, strict=True):
            name = names.fresh(v)
            dtype = names.function(v.aval.dtype.name, v.aval.dtype)
            maker = self.maker(inner)
            if maker is None or self.axis not in maker.params["axes"]:
                before.append(f"{name} = empty({v.aval.shape!r}, {dtype})")
                results.append(name)
                continue
            ufunc = REDUCTIONS[maker.primitive.name]
            reduce = names.function(f"{ufunc.__name__}_reduce", ufunc.reduce)
            before.append(f"{name}p = empty({(self.count, *v.aval.shape)!r}, {dtype})")
            results.append(f"{name}p")
            after.append(f"{name} = {reduce}({name}p, 0); del {name}p")
        operands = ", ".join(["", *(names.atom(a) for a in eqn.invars), *results])
        return [*before, f"run_blocks({self.name}, {self.length}, {self.rows}{operands})", *after]

    def maker(self, v: Any) -> JaxprEqn | None:
        """The reduction that makes an output, if it is one."""
        for eqn in self.jaxpr.eqns:
            if eqn.outvars[0] is v:
                return eqn if eqn.primitive.name in REDUCTIONS else None
        return None


def _partition(program: ClosedJaxpr, shape: tuple[int, ...]) -> tuple[int, int]:
    """The axis that is divided, and its length in a block."""
    live = _most_live(program, shape)
    entries = max(ENTRIES[0], min(ENTRIES[1], BYTES // (8 * max(live, 1))))
    total = math.prod(shape)
    axis = next((k for k, n in enumerate(shape) if n >= total / entries or n * 8 >= max(shape)), 0)
    return axis, max(1, min(shape[axis], entries * shape[axis] // total))


def _most_live(program: ClosedJaxpr, shape: tuple[int, ...]) -> int:
    """How many values of the full shape are there at once, at most."""
    live = sum(v.aval.shape == shape for v in program.jaxpr.invars)
    most = live
    for eqn, dying in zip(program.jaxpr.eqns, last_uses(program.jaxpr), strict=True):
        live += eqn.outvars[0].aval.shape == shape
        most = max(most, live)
        live -= sum(v.aval.shape == shape for v in dying)
    return most
