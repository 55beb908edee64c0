"""Drawings of jaxprs: Graphviz's dot language, and SVG through its program."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

from autodidax import errors
from autodidax.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from autodidax.core.printing import format_literal, format_param, named_programs, shown_params

_STYLE = {
    "constant": 'shape=box, style="filled,rounded", fillcolor="#f6efe2"',
    "input": 'shape=box, style="filled,rounded", fillcolor="#e3edf7"',
    "literal": "shape=plaintext",
    "output": 'shape=box, style="filled,rounded", fillcolor="#e4f2e4"',
    "equation": "shape=box",
}


def to_dot(program: ClosedJaxpr | Jaxpr, *, name: str = "program") -> str:
    """A program as a graph in the dot language: equations with their parameters, edges with shapes and dtypes, programs
    in parameters as clusters within.

    >>> import numpy as np
    >>> import autodidax
    >>> print(to_dot(autodidax.make_jaxpr(np.sin)(np.zeros(3))))
    digraph "program" {
      node [fontname="monospace", fontsize=10]
      edge [fontname="monospace", fontsize=9]
      n0 [label="input 0", shape=box, style="filled,rounded", fillcolor="#e3edf7"]
      n1 [label="sin", shape=box]
      n0 -> n1 [label="f64[3]"]
      n2 [label="output 0", shape=box, style="filled,rounded", fillcolor="#e4f2e4"]
      n1 -> n2 [label="f64[3]"]
    }
    """
    jaxpr = _open("to_dot", program)
    drawing = _Drawing()
    lines = [
        f"digraph {_quoted(name)} {{",
        '  node [fontname="monospace", fontsize=10]',
        '  edge [fontname="monospace", fontsize=9]',
    ]
    return "\n".join([*lines, *("  " + line for line in drawing.program(jaxpr)), "}"])


def to_svg(program: ClosedJaxpr | Jaxpr, *, name: str = "program") -> str:
    """The drawing of `to_dot` as the text of an SVG image, made by Graphviz's program `dot`.

    Raises UnsupportedError where that is not installed.
    """
    text = to_dot(program, name=name)
    dot = shutil.which("dot")
    if dot is None:
        raise errors.UnsupportedError(
            "to_svg draws by Graphviz's program dot, which is not found here",
            mend="install Graphviz (https://graphviz.org/download), or give the text of to_dot(program) to a viewer",
        )
    done = subprocess.run([dot, "-Tsvg"], input=text, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        raise errors.UnsupportedError(
            f"Graphviz's dot failed: {done.stderr.strip()}", mend="try to_dot(program), the text that it was given"
        )
    return done.stdout


def _open(what: str, program: Any) -> Jaxpr:
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    if not isinstance(jaxpr, Jaxpr):
        raise errors.ArgumentError(
            f"{what} takes a jaxpr, got {type(program).__name__}", mend=f"write {what}(make_jaxpr(f)(x))"
        )
    return jaxpr


class _Drawing:
    """The lines of one graph; nodes and clusters are numbered through it."""

    def __init__(self) -> None:
        self.nodes = map("n{}".format, itertools.count())
        self.clusters = map("cluster{}".format, itertools.count())

    def program(self, jaxpr: Jaxpr) -> Iterator[str]:
        """The nodes and edges of a program; a line that belongs to a nested one is indented."""
        sources: dict[Any, str] = {}
        for kind, variables in (("constant", jaxpr.constvars), ("input", jaxpr.invars)):
            for k, v in enumerate(variables):
                sources[v] = next(self.nodes)
                yield self.node(sources[v], f"{kind} {k}", kind)
        for eqn in jaxpr.eqns:
            yield from self.equation(eqn, sources)
        for k, a in enumerate(jaxpr.outvars):
            node = next(self.nodes)
            yield self.node(node, f"output {k}", "output")
            yield from self.edge(a, node, sources)

    def equation(self, eqn: JaxprEqn, sources: dict[Any, str]) -> Iterator[str]:
        node = next(self.nodes)
        programs = dict(named_programs(eqn.params))
        inside = {name for name, _ in programs}
        plain = [f"{k}={format_param(v)}" for k, v in shown_params(eqn.params) if k not in inside]
        label = "\n".join([eqn.primitive.name, *plain])
        if not programs:
            yield self.node(node, label, "equation")
        else:
            yield f"subgraph {next(self.clusters)} {{"
            yield f'  label={_quoted(eqn.primitive.name)}; fontname="monospace"; fontsize=10'
            yield "  " + self.node(node, label, "equation")
            for (name, k), program in programs.items():
                yield f"  subgraph {next(self.clusters)} {{"
                yield f"    label={_quoted(name if k is None else f'{name} {k}')}"
                for line in self.program(program.jaxpr):
                    yield "    " + line
                yield "  }"
            yield "}"
        for a in eqn.invars:
            yield from self.edge(a, node, sources)
        sources.update(dict.fromkeys(eqn.outvars, node))

    def node(self, node: str, label: str, kind: str) -> str:
        return f"{node} [label={_quoted(label)}, {_STYLE[kind]}]"

    def edge(self, a: Any, node: str, sources: dict[Any, str]) -> Iterator[str]:
        if type(a) is Literal:
            source = next(self.nodes)
            yield self.node(source, format_literal(a), "literal")
            yield f"{source} -> {node}"
        else:
            yield f"{sources[a]} -> {node} [label={_quoted(repr(a.aval))}]"


def _quoted(text: str) -> str:
    r"""A text as dot takes it: lines end with \n."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
