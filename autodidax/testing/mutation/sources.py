"""Mutants of a rule's source: one term or factor left out, one sign flipped, one conjugate or transposition forgotten.

The rule's function is found in its file, one node of its syntax tree is replaced, and the result is compiled with the
globals and the captured variables of the original.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Node = ast.expr | ast.stmt

#: functions whose call may be forgotten, leaving the first argument
FORGETTABLE = {"conj", "real", "swapaxes", "transpose", "flip", "moveaxis", "hermitian", "mT", "adjoint"}


@dataclass
class Changed:
    """A function with one node of its source changed; `hits` grows when that node is run."""

    operator: str
    text: str  # what became of what
    function: Callable[..., Any]
    hits: list[None]


def source_changes(function: Callable[..., Any]) -> Iterator[Changed]:
    """Every change of one node of a plain function's source; none where the source cannot be found."""
    found = _syntax(function)
    if found is None:
        return
    original, filename = found
    for place, node in enumerate(ast.walk(original)):
        for operator, replacement in _replacements(node):
            new = _Replacing(place, replacement).applied(copy.deepcopy(original))
            hits: list[None] = []
            changed = _compiled(new, function, filename, hits)
            if changed is not None:
                yield Changed(operator, f"{_text(node)} as {_text(replacement(node))}", changed, hits)


def called_functions(function: Any, depth: int = 2) -> dict[str, Any]:
    """The plain functions of its own module that a function calls, directly or through another one of them."""
    found: dict[str, Any] = {}
    for name in _names(function.__code__):
        value = function.__globals__.get(name)
        if isinstance(value, types.FunctionType) and value.__module__ == function.__module__:
            found[name] = value
            if depth > 1:
                found = called_functions(value, depth - 1) | found
    return found


def _names(code: types.CodeType) -> list[str]:
    inner = [name for c in code.co_consts if inspect.iscode(c) for name in _names(c)]
    return list(dict.fromkeys([*code.co_names, *inner]))


def _text(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else text[:57] + "..."


def _replacements(node: Any) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Operators that apply to a node, each with the function that makes the new node of the old one."""
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Add | ast.Sub):
            yield "term dropped", lambda n: n.left
            yield "term dropped", lambda n: n.right
            other = ast.Sub if isinstance(node.op, ast.Add) else ast.Add
            yield "sign flipped", lambda n: ast.BinOp(n.left, other(), n.right)
        elif isinstance(node.op, ast.Mult | ast.Div | ast.MatMult):
            yield "factor dropped", lambda n: n.left
            if not isinstance(node.op, ast.Div):
                yield "factor dropped", lambda n: n.right
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield "sign flipped", lambda n: n.operand
    elif isinstance(node, ast.Call) and node.args and _called(node) in FORGETTABLE:
        yield "call forgotten", lambda n: n.args[0]


def _called(node: ast.Call) -> str:
    f = node.func
    return f.id if isinstance(f, ast.Name) else f.attr if isinstance(f, ast.Attribute) else ""


HIT = "_mutated_node_is_run"


class _Replacing(ast.NodeTransformer):
    """Replaces the node that `ast.walk` meets at one place by (HIT(), new node)[1]."""

    def __init__(self, place: int, replacement: Callable[[Any], Any]):
        self.place, self.replacement = place, replacement

    def applied(self, tree: Any) -> Any:
        self.target = next(n for k, n in enumerate(ast.walk(tree)) if k == self.place)
        return ast.fix_missing_locations(self.visit(tree))

    def visit(self, node: ast.AST) -> Any:
        if node is self.target:
            both = ast.Tuple([ast.Call(ast.Name(HIT, ast.Load()), [], []), self.replacement(node)], ast.Load())
            return ast.copy_location(ast.Subscript(both, ast.Constant(1), ast.Load()), node)
        return self.generic_visit(node)


@functools.cache
def _file(filename: str) -> ast.Module | None:
    try:
        with open(filename, encoding="utf-8") as file:
            return ast.parse(file.read())
    except (OSError, SyntaxError):
        return None


def _syntax(function: Any) -> tuple[Any, str] | None:
    """The node that defines a plain function, and its file."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    tree = _file(code.co_filename)
    if tree is None:
        return None
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            continue
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        if first != code.co_firstlineno or (isinstance(node, ast.FunctionDef) != (code.co_name != "<lambda>")):
            continue
        same = _code_of(node, code.co_filename, code.co_freevars)
        if same is not None and (same.co_code, same.co_consts, same.co_names) == (
            code.co_code, code.co_consts, code.co_names,
        ):  # fmt: skip
            return node, code.co_filename
        if isinstance(node, ast.FunctionDef):
            return node, code.co_filename
    return None


def _code_of(node: Any, filename: str, freevars: tuple[str, ...]) -> types.CodeType | None:
    """The code of a function's node, compiled where the captured variables are local ones of an outer function."""
    if isinstance(node, ast.FunctionDef):
        inner = copy.copy(node)
        inner.decorator_list, inner.returns = [], None
        body: list[ast.stmt] = [inner]
    else:
        body = [ast.Expr(node)]
    binding = [ast.Assign([ast.Name(v, ast.Store())], ast.Constant(None)) for v in freevars]
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    outer = ast.FunctionDef("outer", nothing, [*binding, *body], [])
    module = ast.fix_missing_locations(ast.Module([outer], []))
    try:
        compiled = compile(module, filename, "exec")
    except SyntaxError:
        return None
    (outside,) = [c for c in compiled.co_consts if inspect.iscode(c)]
    codes = [c for c in outside.co_consts if inspect.iscode(c)]
    return codes[-1] if codes else None


def _compiled(node: Any, function: Any, filename: str, hits: list[None]) -> Callable[..., Any] | None:
    code = _code_of(node, filename, function.__code__.co_freevars)
    if code is None:
        return None
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(cells[v] for v in code.co_freevars)
    names = function.__globals__ | {HIT: lambda: hits.append(None)}
    new = types.FunctionType(code, names, function.__name__, function.__defaults__, closure)
    new.__kwdefaults__ = function.__kwdefaults__
    return new
