"""The NumPy backend: emits one Python function that calls each primitive's implementation, and frees each value after
its last use."""

from __future__ import annotations

import keyword
import operator
from typing import Any

import numpy as np

from autodidax.compile.program import Compiled, backends
from autodidax.core.jaxpr import ClosedJaxpr, Literal, last_uses

INFIX = {operator.add: "+", operator.sub: "-", operator.mul: "*"}


class _Emitter:
    """Names, constants and lines of one emitted function."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {}
        self.names: dict[Any, str] = {}
        self.count = 0

    def fresh(self, v: Any) -> str:
        self.count += 1
        name = self.names[v] = f"v{self.count}_"
        return name

    def implementation(self, p: Any) -> str:
        """A name for a primitive's implementation."""
        name = p.name if p.name.isidentifier() and not keyword.iskeyword(p.name) else f"op{p.code}_"
        self.namespace[name] = p.impl
        return name

    def atom(self, a: Any) -> str:
        if type(a) is not Literal:
            return self.names[a]
        if type(a.val) in (int, bool):
            return f"({a.val!r})" if a.val < 0 else repr(a.val)
        if type(a.val) is float and a.val - a.val == 0:
            return f"({a.val!r})" if a.val < 0 else repr(a.val)
        self.namespace[name := f"c{len(self.namespace)}_"] = a.val
        return name

    def equation(self, eqn: Any) -> str:
        p = eqn.primitive
        args = [self.atom(a) for a in eqn.invars]
        sign = INFIX.get(p.impl) if not p.higher_order else None
        if sign is not None:
            return f"{args[0]} {sign} {args[1]}"
        for k, v in eqn.params.items():
            args.append(f"{k}={self.parameter(v, k)}")
        return f"{self.implementation(p)}({', '.join(args)})"

    def parameter(self, v: Any, stem: str) -> str:
        if v is None or type(v) in (int, bool, str) or (type(v) is tuple and all(type(i) is int for i in v)):
            return repr(v)
        name = f"{stem}{len(self.namespace)}_"
        self.namespace[name] = v
        return name


def compile_numpy(closed: ClosedJaxpr) -> Compiled:
    """Emit and compile the program of a jaxpr."""
    jaxpr = closed.jaxpr
    emitter = _Emitter()
    for k, (v, value) in enumerate(zip(jaxpr.constvars, closed.consts, strict=True)):
        emitter.names[v] = f"k{k}_"
        emitter.namespace[f"k{k}_"] = value
    inputs = [emitter.fresh(v) for v in jaxpr.invars]
    outputs = {v for v in jaxpr.outvars if type(v) is not Literal}
    lines: list[str] = []
    was_quiet = False
    for eqn, dying in zip(jaxpr.eqns, last_uses(jaxpr), strict=True):
        value = emitter.equation(eqn)
        outs = [emitter.fresh(v) for v in eqn.outvars]
        target = f"[{', '.join(outs)}]" if eqn.primitive.multiple_results else outs[0]
        line = f"{target} = {value}" if outs else value
        dead = [emitter.names[v] for v in dying if v not in outputs and not emitter.names[v].startswith("k")]
        if dead:
            line += f"; del {', '.join(dead)}"
        if eqn.quiet and not was_quiet:
            lines.append("with errstate_(all='ignore'):")
            emitter.namespace["errstate_"] = np.errstate
        was_quiet = eqn.quiet
        lines.append(f"    {line}" if was_quiet else line)
    returned = ", ".join(emitter.atom(a) for a in jaxpr.outvars)
    body = "\n    ".join([*lines, f"return [{returned}]"])
    source = f"def program({', '.join(inputs)}):\n    {body}\n"
    namespace = emitter.namespace
    exec(compile(source, "<autodidax program>", "exec"), namespace)  # the program is our own text
    call = namespace.pop("program")
    return Compiled(call, source)


backends["numpy"] = compile_numpy
