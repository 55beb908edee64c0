"""What to write in place of Python code that met a traced value, told from the user's source at that place.

Where there is no source (an interactive line, generated code), the advice is a general one.
"""

from __future__ import annotations

import ast
import dis
import linecache
import math
from types import FrameType
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.numpy import callers

_SIGNS = {ast.And: " & ", ast.Or: " | "}
_TRUTHS = {
    "any": "np.any({0})", "all": "np.all({0})", "sorted": "np.sort({0})", "max": "np.max({0})", "min": "np.min({0})",
}  # fmt: skip
_LARGEST = {"max": "np.maximum", "min": "np.minimum"}
_BRANCHES = "np.where({test}, a, b), or lax.cond({test}, f, g, x) where only one branch may run"
_MATH = {
    "fabs": "np.abs", "dist": "np.linalg.norm(x - y)", "comb": "scipy.special.binom", "gamma": "scipy.special.gamma",
    "erf": "scipy.special.erf", "erfc": "scipy.special.erfc", "lgamma": "scipy.special.gammaln", "fsum": "np.sum",
    "factorial": "scipy.special.gamma(n + 1.0)",
}  # fmt: skip
_STATISTICS = {
    "mean": "np.mean(x)", "fmean": "np.mean(x)", "median": "np.median(x)", "variance": "np.var(x, ddof=1)",
    "stdev": "np.std(x, ddof=1)", "pvariance": "np.var(x)", "pstdev": "np.std(x)",
}  # fmt: skip
_OUT = "to see the number use debug.print, to get it return it (has_aux=True under grad)"


def _node_in_use(frame: FrameType | None) -> list[ast.AST]:
    """The expression that a frame is evaluating and what it stands in, innermost first; empty where it is not known."""
    if frame is None:
        return []
    place = next(callers.positions(frame), None)
    if place is None or None in place:
        return []
    start, end, first, last = place
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    try:
        root: ast.AST = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return []
    path: list[ast.AST] = []
    node: ast.AST | None = root
    while node is not None:
        path.append(node)
        node = next((n for n in ast.iter_child_nodes(node) if _covers(n, start, first, end, last)), None)
    path.reverse()
    exact = (start, first, end, last)
    while path and _span(path[0]) != exact:
        path.pop(0)
    return path


def _span(node: ast.AST) -> tuple[Any, ...]:
    return tuple(getattr(node, k, None) for k in ("lineno", "col_offset", "end_lineno", "end_col_offset"))


def _covers(node: ast.AST, start: Any, first: Any, end: Any, last: Any) -> bool:
    if not hasattr(node, "lineno"):  # arguments of a function, a case of match: look inside
        return any(_covers(n, start, first, end, last) for n in ast.iter_child_nodes(node))
    span = _span(node)
    return span[:2] <= (start, first) and (end, last) <= span[2:]


def _elementwise(node: ast.AST) -> str:
    """A test in the form that works on arrays: `x > 0 and x < 1` is (x > 0) & (x < 1)."""
    match node:
        case ast.BoolOp(op=op, values=values):
            return _SIGNS[type(op)].join(f"({_elementwise(v)})" for v in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"np.logical_not({_elementwise(operand)})"
        case ast.Call(func=ast.Name(id="bool"), args=[a]):
            return _elementwise(a)
        case ast.Call(func=ast.Name(id="any" | "all" as name), args=[a]):
            return _TRUTHS[name].format(ast.unparse(a))
        case ast.Compare(left=left, ops=[ast.In()], comparators=[right]):
            return f"np.any({_as_array(right)} == {ast.unparse(left)})"
        case ast.Compare(left=left, ops=[ast.NotIn()], comparators=[right]):
            return f"np.all({_as_array(right)} != {ast.unparse(left)})"
        case ast.Compare(left=left, ops=ops, comparators=right) if len(ops) > 1:
            pairs = zip([left, *right[:-1]], ops, right, strict=True)
            return " & ".join(f"({ast.unparse(ast.Compare(a, [op], [b]))})" for a, op, b in pairs)
        case _:
            return ast.unparse(node)


def _as_array(node: ast.AST) -> str:
    text = ast.unparse(node)
    return f"np.array({text})" if isinstance(node, ast.List | ast.Tuple | ast.ListComp) else text


def _is_at_call(frame: FrameType) -> bool:
    code, k = frame.f_code.co_code, frame.f_lasti
    while k > 0 and dis.opname[code[k]] == "CACHE":  # of the instruction before, in calls of Python functions
        k -= 2
    return dis.opname[code[k]].startswith(("CALL", "PRECALL"))


def called(frame: FrameType | None = None) -> str | None:
    """The function of NumPy, or our twin of it, that user code is calling, as it is written there; None for others."""
    if frame is None:
        frame, _ = callers.frames()
    if frame is None or not _is_at_call(frame):
        return None
    node = callers._expression(frame)
    if not isinstance(node, ast.Call):
        return None
    function = callers.value_of(node.func, frame)
    home = "numpy" if isinstance(function, np.ufunc) else getattr(function, "__module__", None) or ""
    known = home.partition(".")[0] == "numpy" or home.startswith("autodidax.numpy")
    return ast.unparse(node.func) if known and not isinstance(function, type) else None


def for_truth(static: str | None) -> str:
    """What to write where Python asks for the truth value of a traced value; `static` says how to know it before."""
    frame, _ = callers.frames()
    if called(frame) is not None:
        return f"flags, axes and sizes must be known: {static or 'close over plain ones'}"
    path = _node_in_use(frame)
    if not path:
        mend = f"use {_BRANCHES.format(test='test')}"
    else:
        mend = _for_truth_of(path)
    return mend if static is None else f"{mend}; or {static}"


def _for_truth_of(path: list[ast.AST]) -> str:
    node, outer = path[0], path[1:]
    if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        node, outer = node.test, path
    while outer and isinstance(outer[0], ast.BoolOp | ast.UnaryOp):
        node, outer = outer[0], outer[1:]
    around = outer[0] if outer else None
    test = _elementwise(node)
    match around, node:
        case ast.While(test=own), _ if own is node:
            return f"use lax.while_loop(lambda state: {test}, body, state)"
        case ast.Assert(test=own), _ if own is node:
            return "check values before and after the transformed function; inside, assert shapes and dtypes alone"
        case ast.If(test=own), _ if own is node:
            return f"use {_BRANCHES.format(test=test)}"
        case ast.IfExp(test=own, body=a, orelse=b), _ if own is node:
            call = f"np.where({test}, {ast.unparse(a)}, {ast.unparse(b)})"
            return f"write {call}, or lax.cond(test, f, g, x) where only one branch may run"
        case ast.pattern() | ast.match_case() | ast.Match(), _:
            return "use lax.switch(k, [f, g], x), or nested calls of np.where"
        case _, ast.Call(func=ast.Name(id="bool"), args=[a]):
            return f"use {ast.unparse(a)} as it is: np.where and lax.cond take it"
        case _, ast.Call(func=ast.Name(id=name), args=[a, b]) if name in _LARGEST:
            return f"write {_LARGEST[name]}({ast.unparse(a)}, {ast.unparse(b)})"
        case _, ast.Call(func=ast.Name(id=name), args=[a, *_]) if name in _TRUTHS:
            return f"write {_TRUTHS[name].format(_as_array(a).replace('np.array', 'anp.array', 1))}"
    if test != ast.unparse(node):
        return f"write {test}"
    return f"use {_BRANCHES.format(test='test')}"


def for_integer(static: str | None, known: bool) -> tuple[str, str]:
    """What asked for an integer, as the beginning of a message, and what to write. `known`: the value exists, as under
    grad, and would lose its derivative."""
    frame, inside = callers.frames()
    path = _node_in_use(frame)
    node = path[0] if path else None
    fixed = static or ("leave it out of the arguments to differentiate (argnums)" if known else "close over an integer")
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[*_, bound]):
            loop = f"use lax.fori_loop(0, {ast.unparse(bound)}, body, init), whose bounds may be traced; or "
            return "range: ", fixed if known else loop + fixed
        case ast.Call(func=ast.Name(id="int" | "round"), args=[a, *_]):
            return "int: ", f"write {_grouped(a)}.astype(int), which stays traced; or {fixed}"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr=name)) if name in vars(math):
            return f"math.{name}: ", f"write {_twin_in_math(name)}; or {fixed}"
        case ast.Subscript(slice=ast.Slice()) | ast.Subscript(slice=ast.Tuple()) if not inside and _has_slice(node):
            sizes = "the size of a slice must be known: use lax.dynamic_slice(x, starts, sizes)"
            return "a slice: ", f"{sizes}, or a mask, as np.where(np.arange(len(x)) < n, x, 0.0); or {fixed}"
        case ast.Subscript() if not inside:
            array, index = ast.unparse(node.value), ast.unparse(node.slice)
            plain = node.value if frame is None else callers.value_of(node.value, frame)
            if isinstance(plain, np.ndarray):
                return "an index: ", f"write anp.take({array}, {index}) or anp.at({array})[{index}].get(); or {fixed}"
            return (
                "an index: ",
                f"write anp.at(np.array({array}))[{index}].get(), with an array for the list; or {fixed}",
            )
        case ast.Call(func=function):
            mend = f"sizes, counts and axes must be known: {fixed}, or take it from a shape"
            return f"{ast.unparse(function)}: ", mend
    return "", f"sizes, counts and positions in lists must be known: {fixed}; index arrays with anp.take(table, i)"


def _has_slice(node: Any) -> bool:
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return any(isinstance(p, ast.Slice) for p in parts)


def _grouped(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else f"({text})"


def _twin_in_math(name: str) -> str:
    twin = _MATH.get(name)
    if twin is not None:
        return twin if "(" in twin else f"{twin}(x)"
    return f"np.{name}(x)" if callable(getattr(np, name, None)) else "it with functions of numpy"


def for_python(kind: str, known: bool) -> tuple[str, str]:
    """What asked for a Python number, as the beginning of a message, and what to write."""
    frame, _ = callers.frames()
    path = _node_in_use(frame)
    match path[0] if path else None:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr=name)):
            return f"math.{name}: ", f"write {_twin_in_math(name)}"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="statistics"), attr=name)):
            return f"statistics.{name}: ", f"write {_STATISTICS.get(name, 'it with functions of numpy')}"
        case ast.Call(func=ast.Name(id="round"), args=[a, *_]):
            return "round: ", f"write np.round({ast.unparse(a)})"
        case ast.Call(func=ast.Name(id="float" | "complex" | "int" as name), args=[a]):
            return f"{name}: ", f"use {ast.unparse(a)} as it is, or .astype({name}); {_OUT}"
        case ast.Call(func=ast.Attribute(value=a, attr="item" | "tolist" as name)):
            return f"{name}: ", f"use {ast.unparse(a)} as it is; {_OUT}"
        case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str())):
            shown = "print stop_gradient(x), or use debug.print" if known else "use debug.print('{x}', x=x)"
            return "a format: ", shown
    return "", f"leave {kind}() away, use functions of numpy in place of math and statistics; {_OUT}"


def for_write(array: str = "x", *, masked: bool = False) -> str:
    """How to replace the assignment to an item that user code is doing; `masked`: at a traced boolean mask."""
    index = "mask" if masked else "i"
    frame, _ = callers.frames()
    method, value = "set", "v"
    for node in _node_in_use(frame):
        match node:
            case ast.Subscript(value=a, slice=k):
                array, index = ast.unparse(a), ast.unparse(k)
            case ast.AugAssign(op=ast.Add() | ast.Mult() as op, value=v) if not masked:
                method, value = "add" if isinstance(op, ast.Add) else "mul", ast.unparse(v)
                break
            case ast.AugAssign(target=a, op=op, value=v):
                before = array if masked else ast.unparse(a)
                value = ast.unparse(ast.BinOp(ast.parse(before, mode="eval").body, op, v))
                break
            case ast.Assign(value=v):
                value = ast.unparse(v)
                break
            case ast.stmt():
                break
    if masked:
        return f"write {array} = np.where({index}, {value}, {array})"
    return f"write {array} = anp.at({array})[{index}].{method}({value}), with autodidax.numpy as anp"


errors.called_function = called
