"""Printing jaxprs in JAX's let-form."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np

from autodidax.core import jaxpr as ir


def _names() -> Any:
    letters = "abcdefghijklmnopqrstuvwxyz"
    for n in itertools.count(1):
        for combination in itertools.product(letters, repeat=n):
            yield "".join(combination)


class _Context:
    def __init__(self, source_info: bool = False, name_stack: bool = False) -> None:
        self.source_info = source_info
        self.name_stack = name_stack
        self.fresh = _names()
        self.names: dict[Any, str] = {}

    def name(self, v: Any) -> str:
        if v not in self.names:
            self.names[v] = next(self.fresh)
        return self.names[v]

    def binder(self, v: Any) -> str:
        return f"{self.name(v)}:{v.aval!r}"

    def atom(self, a: Any) -> str:
        if type(a) is ir.Literal:
            return f"{np.asarray(a.val).item()!r}:{a.aval!r}"
        return self.name(a)

    def inner(self) -> _Context:
        """That of a program within an equation."""
        return _Context(self.source_info, self.name_stack)

    def remark(self, eqn: ir.JaxprEqn) -> str:
        """Where an equation comes from, as far as it is to be shown."""
        source = eqn.source
        if source is None:
            return ""
        place = f"{os.path.basename(source.file)}:{source.line}" if self.source_info else ""
        names = "/".join(source.scopes) if self.name_stack else ""
        return f"  # {' '.join(filter(None, (place, names)))}" if place or names else ""


def format_jaxpr(jaxpr: ir.Jaxpr, context: _Context | None = None, indent: str = "") -> str:
    """The text of a jaxpr: `{ lambda consts ; inputs . let equations in (outputs) }`."""
    context = _Context() if context is None else context
    consts = " ".join(context.binder(v) for v in jaxpr.constvars)
    inputs = " ".join(context.binder(v) for v in jaxpr.invars)
    lines = [f"{{ lambda {consts + ' ' if consts else ''}; {inputs}. let"]
    for eqn in jaxpr.eqns:
        lines.append(f"{indent}    {_format_eqn(eqn, context, indent + '    ')}{context.remark(eqn)}")
    outputs = ", ".join(context.atom(a) for a in jaxpr.outvars)
    if len(jaxpr.outvars) == 1:
        outputs += ","
    lines.append(f"{indent}  in ({outputs}) }}")
    return "\n".join(lines)


def _format_eqn(eqn: ir.JaxprEqn, context: _Context, indent: str) -> str:
    args = " ".join(context.atom(a) for a in eqn.invars)
    params = _format_params(eqn.params, context, indent)
    outs = " ".join(context.binder(v) for v in eqn.outvars)
    return f"{outs} = {eqn.primitive.name}{params} {args}" if outs else f"{eqn.primitive.name}{params} {args}".rstrip()


def _format_params(params: dict[str, Any], context: _Context, indent: str) -> str:
    if not params:
        return ""
    shown = {k: _format_param(v, context, indent) for k, v in sorted(params.items()) if not k.startswith("_")}
    if any("\n" in v for v in shown.values()):
        inner = indent + "  "
        return "[\n" + "".join(f"{inner}{k}={v}\n" for k, v in shown.items()) + indent + "]"
    return "[" + " ".join(f"{k}={v}" for k, v in shown.items()) + "]"


def _format_param(v: Any, context: _Context, indent: str) -> str:
    if isinstance(v, ir.ClosedJaxpr):
        return format_jaxpr(v.jaxpr, context.inner(), indent + "  ")
    if isinstance(v, tuple | list) and any(isinstance(x, ir.ClosedJaxpr) for x in v):
        return "(" + ", ".join(_format_param(x, context, indent) for x in v) + ")"
    if isinstance(v, np.dtype):
        return v.name
    if callable(v) and hasattr(v, "__name__"):
        return v.__name__
    return str(v)


ir.printer = lambda jaxpr, source_info, name_stack: format_jaxpr(jaxpr, _Context(source_info, name_stack))
