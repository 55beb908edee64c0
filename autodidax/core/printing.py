"""Printing jaxprs in JAX's let-form."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from autodidax.core import jaxpr as ir
from autodidax.core.avals import ShapedArray


def _names() -> Any:
    letters = "abcdefghijklmnopqrstuvwxyz"
    for n in itertools.count(1):
        for combination in itertools.product(letters, repeat=n):
            yield "".join(combination)


class _Context:
    """The names of one program's variables; those of a program within it begin anew."""

    def __init__(self, source_info: bool = False, name_stack: bool = False) -> None:
        self.source_info = source_info
        self.name_stack = name_stack
        self.fresh = _names()
        self.names: dict[Any, str] = {}
        self.read: set[Any] = set()

    def name(self, v: Any) -> str:
        if v not in self.names:
            self.names[v] = next(self.fresh)
        return self.names[v]

    def binder(self, v: Any) -> str:
        return f"{self.name(v)}:{v.aval!r}"

    def result(self, v: Any) -> str:
        """The binder of an equation's result; one that nothing reads has no name."""
        return self.binder(v) if v in self.read else f"_:{v.aval!r}"

    def atom(self, a: Any) -> str:
        return format_literal(a) if type(a) is ir.Literal else self.name(a)

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


def format_literal(a: ir.Literal) -> str:
    """A literal with its aval: 2.0:f64[]."""
    return f"{np.asarray(a.val).item()!r}:{a.aval!r}"


def format_jaxpr(jaxpr: ir.Jaxpr, context: _Context | None = None, indent: str = "") -> str:
    """The text of a jaxpr: `{ lambda consts; inputs. let equations in (outputs) }`."""
    context = _Context() if context is None else context
    context.read = {a for eqn in jaxpr.eqns for a in eqn.invars if type(a) is ir.Var} | {
        a for a in jaxpr.outvars if type(a) is ir.Var
    }
    consts = " ".join(context.binder(v) for v in jaxpr.constvars)
    inputs = " ".join(context.binder(v) for v in jaxpr.invars)
    lines = [f"{{ lambda {consts}; {inputs}. let"]
    for eqn in jaxpr.eqns:
        lines.append(f"{indent}    {_format_eqn(eqn, context, indent + '    ')}{context.remark(eqn)}")
    outputs = ", ".join(context.atom(a) for a in jaxpr.outvars)
    if len(jaxpr.outvars) == 1:
        outputs += ","
    lines.append(f"{indent}  in ({outputs}) }}")
    return "\n".join(lines)


def _format_eqn(eqn: ir.JaxprEqn, context: _Context, indent: str) -> str:
    args = "".join(f" {context.atom(a)}" for a in eqn.invars)
    params = _format_params(eqn.params, context, indent)
    outs = " ".join(context.result(v) for v in eqn.outvars)
    return f"{outs} = {eqn.primitive.name}{params}{args}" if outs else f"{eqn.primitive.name}{params}{args}"


def _format_params(params: dict[str, Any], context: _Context, indent: str) -> str:
    shown = {k: _format_param(v, context, indent) for k, v in shown_params(params)}
    if not shown:
        return ""
    if any("\n" in v for v in shown.values()):
        inner = indent + "  "
        return "[\n" + "".join(f"{inner}{k}={v}\n" for k, v in shown.items()) + indent + "]"
    return "[" + " ".join(f"{k}={v}" for k, v in shown.items()) + "]"


def shown_params(params: dict[str, Any]) -> list[tuple[str, Any]]:
    """The parameters that are shown, in the order of their names: not those that say the same as another, or are
    private."""
    hidden = {"fun"} if "call_jaxpr" in params else set()
    return [(k, v) for k, v in sorted(params.items()) if not k.startswith("_") and k not in hidden]


def _format_param(v: Any, context: _Context, indent: str) -> str:
    if isinstance(v, ir.ClosedJaxpr):
        return format_jaxpr(v.jaxpr, context.inner(), indent + "  ")
    if isinstance(v, tuple | list) and any(isinstance(x, ir.ClosedJaxpr) for x in v):
        inner = indent + "    "
        each = [_format_param(x, context, indent + "  ") for x in v]
        return "(\n" + "".join(f"{inner}{text}\n" for text in each) + indent + "  )"
    return format_param(v)


def format_param(v: Any) -> str:
    """A parameter that is no program, in one line."""
    if isinstance(v, np.dtype):
        return v.name
    if isinstance(v, np.ndarray):
        return f"<{ShapedArray(v.shape, v.dtype)!r}>"
    if isinstance(v, type | np.generic | float | int | str) or not callable(v):
        return str(v).replace("\n", " ")
    return getattr(v, "__name__", None) or format_param(getattr(v, "func", type(v).__name__))


def named_programs(params: dict[str, Any]) -> Iterator[tuple[tuple[str, int | None], ir.ClosedJaxpr]]:
    """The programs among an equation's parameters: of each the parameter's name, its place in a tuple, and itself."""
    for name, v in sorted(params.items()):
        if isinstance(v, ir.ClosedJaxpr):
            yield (name, None), v
        elif isinstance(v, tuple | list):
            for k, item in enumerate(v):
                if isinstance(item, ir.ClosedJaxpr):
                    yield (name, k), item


ir.printer = lambda jaxpr, source_info, name_stack: format_jaxpr(jaxpr, _Context(source_info, name_stack))
