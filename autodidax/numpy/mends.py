"""What to write in place of Python code that met a traced value, told from the user's source at that place.

Where there is no source (an interactive line, generated code), the advice is a general one.
"""

from __future__ import annotations

import ast
import dis
import linecache
from types import FrameType
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.numpy import callers
from autodidax.numpy.python_calls import as_array, grouped, of_filter, of_largest, of_math, of_sorted

_SIGNS = {ast.And: " & ", ast.Or: " | "}
_TRUTHS = {"any": "np.any({0})", "all": "np.all({0})"}
_BRANCHES = "np.where({test}, a, b), or lax.cond({test}, f, g, x) where only one branch may run"
_ENTRYWISE = (
    "np.where({test}, a, b), which chooses entry by entry; to choose for all of them at once "
    "lax.cond(np.all({test}), f, g, x), or np.any in place of np.all"
)
_TESTS = ("isnan", "isinf", "isfinite", "isclose", "logical_and", "logical_or", "logical_not", "any", "all", "bool")
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


def _elementwise(node: ast.AST, frame: FrameType | None) -> str:
    """A test in the form that works on arrays: `x > 0 and x < 1` is (x > 0) & (x < 1)."""
    match node:
        case ast.BoolOp(op=op, values=values):
            return _SIGNS[type(op)].join(grouped(_test(v, frame)) for v in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"np.logical_not({_elementwise(operand, frame)})"
        case ast.Call(func=ast.Name(id="bool"), args=[a]):
            return _elementwise(a, frame)
        case ast.Call(func=ast.Name(id="any" | "all" as name), args=[a]):
            return _TRUTHS[name].format(as_array(a))
        case ast.Compare(left=left, ops=[ast.In()], comparators=[right]):
            return f"np.any({_as_plain(right)} == {ast.unparse(left)})"
        case ast.Compare(left=left, ops=[ast.NotIn()], comparators=[right]):
            return f"np.all({_as_plain(right)} != {ast.unparse(left)})"
        case ast.Compare(left=left, ops=ops, comparators=right) if len(ops) > 1:
            pairs = zip([left, *right[:-1]], ops, right, strict=True)
            return " & ".join(f"({ast.unparse(ast.Compare(a, [op], [b]))})" for a, op, b in pairs)
        case _:
            return ast.unparse(node)


def _test(node: ast.AST, frame: FrameType | None) -> str:
    """An operand of `and` or `or` in a test, as a boolean."""
    return _elementwise(node, frame) if _is_boolean(node, frame) else f"{grouped(node)} != 0"


def _is_boolean(node: ast.AST, frame: FrameType | None) -> bool:
    """Whether an expression is seen to give booleans; names are looked up."""
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
            return True
        case ast.BoolOp(values=values):
            return all(_is_boolean(v, frame) for v in values)
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), left=left, right=right):
            return _is_boolean(left, frame) and _is_boolean(right, frame)
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return _is_boolean(operand, frame)
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name in _TESTS
        case ast.Name():
            value = None if frame is None else callers.value_of(node, frame)
            return getattr(value, "dtype", np.dtype(type(value)) if isinstance(value, bool) else None) == np.dtype(bool)
    return False


def _chosen(node: ast.BoolOp, frame: FrameType | None) -> str:
    """`a or b` as a value: one of its operands, and | of booleans alone."""
    if _is_boolean(node, frame):
        return _elementwise(node, frame)
    if isinstance(node.values[-1], ast.Constant) and node.values[-1].value is None:
        return f"{ast.unparse(node.values[0])}, which is no None"
    *before, text = [_chosen(v, frame) if isinstance(v, ast.BoolOp) else _elementwise(v, frame) for v in node.values]
    for value, name in zip(reversed(node.values[:-1]), reversed(before), strict=True):
        a, b = (name, text) if isinstance(node.op, ast.Or) else (text, name)
        text = f"np.where({_test(value, frame)}, {a}, {b})"
    return text


def _as_plain(node: ast.AST) -> str:
    return as_array(node).replace("anp.", "np.", 1)


def _is_at_call(frame: FrameType) -> bool:
    code, k = frame.f_code.co_code, frame.f_lasti
    while k > 0 and dis.opname[code[k]] == "CACHE":  # of the instruction before, in calls of Python functions
        k -= 2
    return dis.opname[code[k]].startswith(("CALL", "PRECALL"))


def called(frame: FrameType | None = None, *, any_function: bool = False) -> str | None:
    """The function of NumPy, or our twin of it, that user code is calling, as it is written there; None for others,
    unless with `any_function`."""
    if frame is None:
        frame, _ = callers.frames()
    if frame is None or not _is_at_call(frame):
        return None
    node = callers._expression(frame)
    if not isinstance(node, ast.Call):
        return None
    if any_function:
        return ast.unparse(node.func)
    function = callers.value_of(node.func, frame)
    home = "numpy" if isinstance(function, np.ufunc) else getattr(function, "__module__", None) or ""
    known = home.partition(".")[0] == "numpy" or home.startswith("autodidax.numpy")
    return ast.unparse(node.func) if known and not isinstance(function, type) else None


def for_truth(static: str | None, shape: tuple[int, ...], *, boolean: bool) -> str:
    """What to write where Python asks for the truth value of a traced value of this shape; `static` says how to know it
    before, `boolean` whether its dtype is that."""
    frame, _ = callers.frames()
    if called(frame) is not None:
        return f"flags, axes and sizes must be known: {static or 'close over plain ones'}"
    path = _node_in_use(frame)
    if not path:
        mend = f"use {(_ENTRYWISE if shape else _BRANCHES).format(test='test')}"
    else:
        mend = _for_truth_of(path, frame, many=bool(shape), boolean=boolean)
    return mend if static is None else f"{mend}; or {static}"


def _for_truth_of(path: list[ast.AST], frame: FrameType | None, *, many: bool, boolean: bool) -> str:
    branches = _ENTRYWISE if many else _BRANCHES
    node, outer = path[0], path[1:]
    if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        node, outer = node.test, path
    while outer and isinstance(outer[0], ast.BoolOp | ast.UnaryOp):
        node, outer = outer[0], outer[1:]
    around = outer[0] if outer else None
    test = _elementwise(node, frame)
    match around, node:
        case ast.While(test=own), _ if own is node:
            if not boolean and not isinstance(node, ast.BoolOp):
                test = _test(node, frame)
            return _for_loop(around, f"np.any({test})" if many else test)
        case ast.Assert(test=own), _ if own is node:
            return "check values before and after the transformed function; inside, assert shapes and dtypes alone"
        case ast.If(test=own), _ if own is node:
            loop = next((n for n in outer[1:] if isinstance(n, ast.While | ast.For)), None)
            if loop is not None and any(isinstance(n, ast.Break) for n in around.body):
                stop = f"np.any({test})" if many else test
                return _for_break(loop, around, f"np.logical_not({stop})")
            return f"use {branches.format(test=test)}"
        case ast.IfExp(test=own, body=a, orelse=b), _ if own is node:
            call = f"np.where({test}, {ast.unparse(a)}, {ast.unparse(b)})"
            one = "lax.cond(np.all(test), f, g, x)" if many else "lax.cond(test, f, g, x)"
            return f"write {call}, or {one} where only one branch may run"
        case ast.pattern() | ast.match_case() | ast.Match(), _:
            return "use lax.switch(k, [f, g], x), or nested calls of np.where"
        case ast.comprehension(), _ if node in around.ifs:
            return of_filter(next((n for n in outer if isinstance(n, ast.Call)), None), test)
        case _, ast.Call(func=ast.Name(id="bool"), args=[a]):
            return f"use {ast.unparse(a)} as it is: np.where and lax.cond take it"
        case _, ast.Call(func=ast.Name(id="max" | "min" as name), args=[_, *_]):
            return of_largest(name, node)
        case _, ast.Call(func=ast.Name(id="sorted"), args=[_]):
            return of_sorted(node)
        case _, ast.Call(func=ast.Name(id=name), args=[a]) if name in _TRUTHS:
            return f"write {test}"
        case _, ast.BoolOp():
            return f"write {_chosen(node, frame)}"
    if test != ast.unparse(node):
        return f"write {test}"
    return f"use {branches.format(test='test')}"


def _for_loop(loop: ast.While, test: str) -> str:
    """How to write a loop with lax.while_loop; `test` is its condition."""
    names = _bound_in(loop)
    used = {n.id for n in ast.walk(ast.parse(test)) if isinstance(n, ast.Name)}
    if not names or not used & set(names):
        return f"use lax.while_loop(lambda state: ..., body, state), with {test} of the entries of the state"
    if len(names) == 1:
        return f"use lax.while_loop(lambda {names[0]}: {test}, body, {names[0]})"
    state = ", ".join(names)
    return (
        f"use lax.while_loop(goes_on, body, ({state})), where `def goes_on(state): {state} = state; return {test}`, "
        f"and body returns the next ({state})"
    )


def _for_break(loop: ast.While | ast.For, branch: ast.If, test: str) -> str:
    """How to write a loop that ends with a break in this branch; `test` is true where it goes on."""
    if isinstance(loop, ast.For):
        return f"use lax.while_loop, with a counter in the state and {test} in the condition"
    first = "" if loop.body[0] is branch else "; run the statements before the break once before the loop"
    if isinstance(loop.test, ast.Constant):
        return f"{_for_loop(loop, test)}{first}"
    return f"{_for_loop(loop, f'({ast.unparse(loop.test)}) & {test}')}{first}"


def _bound_in(loop: ast.While) -> list[str]:
    """The names that the body of a loop binds, in their order."""
    names: list[str] = []
    for statement in loop.body:
        for n in ast.walk(statement):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id not in names:
                names.append(n.id)
    return names


def for_integer(static: str | None, known: bool) -> tuple[str, str]:
    """What asked for an integer, as the beginning of a message, and what to write. `known`: the value exists, as under
    grad, and would lose its derivative."""
    frame, inside = callers.frames()
    path = _node_in_use(frame)
    node = path[0] if path else None
    fixed = static or (
        "give an integer, and leave it out of the arguments to differentiate (argnums)"
        if known
        else "close over an integer"
    )
    match node:
        case ast.Call(func=ast.Name(id="range"), args=bounds):
            return "range: ", fixed if known else f"use {_counted(bounds)}; or {fixed}"
        case ast.Call(func=ast.Name(id="bytes" | "bytearray" as made)):
            return f"{made}: ", "return the value from the transformed function, and convert the result: x.tobytes()"
        case ast.Call(func=ast.Name(id="int" | "round"), args=[a, *_]):
            return "int: ", f"write {grouped(a)}.astype(int), which stays traced; or {fixed}"
        case ast.Call() if (name := _of_math(node, frame)) is not None:
            return f"math.{name}: ", f"write {of_math(name, node)}; or {fixed}"
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


def _counted(bounds: list[ast.expr]) -> str:
    """The loop of lax.fori_loop that runs as often as range(*bounds)."""
    texts = [ast.unparse(b) for b in bounds]
    if not bounds or any(isinstance(b, ast.Starred) for b in bounds):
        return "lax.fori_loop(start, stop, body, init), whose bounds may be traced"
    if len(texts) == 1:
        return f"lax.fori_loop(0, {texts[0]}, body, init), whose bounds may be traced"
    start, stop = (grouped(b) for b in bounds[:2])
    if len(texts) == 2:
        return f"lax.fori_loop({texts[0]}, {texts[1]}, body, init), whose bounds may be traced"
    try:
        step = ast.literal_eval(texts[2])
    except ValueError:
        step = 0
    if type(step) is not int or step == 0:
        return f"lax.fori_loop(0, count, body, init), with i = {start} + {grouped(bounds[2])} * k for the k-th value"
    first, last = (start, stop) if step > 0 else (stop, start)
    width = last if first == "0" else f"{last} - {first}"
    count = width if abs(step) == 1 else f"({width} + {abs(step) - 1}) // {abs(step)}"
    by = f"{'+' if step > 0 else '-'} {f'{abs(step)} * ' if abs(step) > 1 else ''}k"
    return f"lax.fori_loop(0, {count}, body, init), with i = {start} {by} in body(k, value)"


def _of_math(call: ast.Call, frame: FrameType | None) -> str | None:
    """The name of the function of math that a call is of."""
    function = None if frame is None else callers.value_of(call.func, frame)
    return getattr(function, "__name__", None) if getattr(function, "__module__", None) == "math" else None


def for_python(kind: str, known: bool) -> tuple[str, str]:
    """What asked for a Python number, as the beginning of a message, and what to write."""
    frame, _ = callers.frames()
    path = _node_in_use(frame)
    match path[0] if path else None:
        case ast.Call() as call if (name := _of_math(call, frame)) is not None:
            return f"math.{name}: ", f"write {of_math(name, call)}"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="statistics"), attr=name)):
            return f"statistics.{name}: ", f"write {_STATISTICS.get(name, 'it with functions of numpy')}"
        case ast.Call(func=ast.Name(id="round"), args=args, keywords=keywords):
            digits = [ast.unparse(k.value) for k in keywords]
            return "round: ", f"write np.round({', '.join([*map(ast.unparse, args), *digits])})"
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
            case ast.AugAssign(op=op, value=v) if not masked and type(op) in _METHODS:
                method, value = _METHODS[type(op)], ast.unparse(v)
                break
            case ast.AugAssign(target=a, op=op, value=v):
                before = array if masked else ast.unparse(a)
                value = ast.unparse(ast.BinOp(ast.parse(before, mode="eval").body, op, v))
                break
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if not masked:
                swapped = _swapped(targets, values)
                if swapped is not None:
                    return f"write {swapped}, with autodidax.numpy as anp"
                value = next(
                    (ast.unparse(v) for t, v in zip(targets, values, strict=False) if _is_at(t, array, index)), value
                )
                break
            case ast.Assign(value=v, targets=targets) if not any(isinstance(t, ast.Tuple | ast.List) for t in targets):
                value = ast.unparse(v)
                break
            case ast.stmt():
                break
    if masked:
        return f"write {array} = np.where({index}, {value}, {array})"
    return f"write {array} = anp.at({array})[{index}].{method}({value}), with autodidax.numpy as anp"


def _is_at(target: ast.expr, array: str, index: str) -> bool:
    return isinstance(target, ast.Subscript) and (ast.unparse(target.value), ast.unparse(target.slice)) == (
        array,
        index,
    )


def _swapped(targets: list[ast.expr], values: list[ast.expr]) -> str | None:
    """The assignment of entries of one array all at once: `x[0], x[1] = x[1], x[0]`."""
    places = [t for t in targets if isinstance(t, ast.Subscript) and isinstance(t.slice, ast.Constant)]
    arrays = {ast.unparse(t.value) for t in places}
    if len(places) != len(targets) or len(values) != len(targets) or len(arrays) != 1:
        return None
    (array,) = arrays
    indices = f"[{', '.join(ast.unparse(t.slice) for t in places)}]"
    return f"{array} = anp.at({array})[{indices}].set(anp.array([{', '.join(map(ast.unparse, values))}]))"


def for_mask() -> str | None:
    """How to replace the selection x[mask] that user code is doing, None where it is no such expression."""
    frame, inside = callers.frames()
    path = _node_in_use(frame)
    if inside or not path or not isinstance(path[0], ast.Subscript):
        return None
    if isinstance(path[0].ctx, ast.Store):
        return for_write(masked=True)
    array, index = ast.unparse(path[0].value), ast.unparse(path[0].slice)
    if isinstance(path[0].slice, ast.Tuple):
        return None
    return f"select with np.where({index}, {array}, 0.0), or compute the mask from values that are not traced"


def for_key(integer: bool, static: str | None) -> str:
    """What to write where a traced value is the key of a dict, or an entry of a set."""
    frame, _ = callers.frames()
    path = _node_in_use(frame)
    match path[0] if path else None:
        case (
            ast.Subscript(value=table, slice=k) | ast.Call(func=ast.Attribute(value=table, attr="get"), args=[k, *_])
        ) if integer and frame is not None and isinstance(callers.value_of(table, frame), dict):
            values = f"np.array([{grouped(table)}[k] for k in range(len({ast.unparse(table)}))])"
            mend = f"with the keys 0 to n - 1 write anp.take({values}, {ast.unparse(k)}), else lax.switch"
            return mend if static is None else f"{mend}; or {static}"
    return "use a static value as the key, or id(x); keep traced values in a list"


def for_result(name: str) -> str:
    """How to replace out=, or an operator that writes into a plain array, where a ufunc of this name does so."""
    frame, _ = callers.frames()
    path = _node_in_use(frame)
    for k, node in enumerate(path):
        match node:
            case ast.Call(func=function, args=args, keywords=keywords):
                kept = [k for k in keywords if k.arg != "out"]
                if len(kept) == len(keywords):
                    break
                (out,) = (k.value for k in keywords if k.arg == "out")
                masks = [k for k in kept if k.arg == "where" and isinstance(getattr(np, name, None), np.ufunc)]
                call = ast.unparse(ast.Call(function, args, [k for k in kept if k not in masks]))
                if masks:  # the other entries are those of out
                    call = f"np.where({ast.unparse(masks[0].value)}, {call}, {ast.unparse(out)})"
                if not isinstance(path[k + 1], ast.Expr):
                    return f"leave out= away, and use the result: {call}"
                if isinstance(out, ast.Name):
                    return f"leave out= away and bind the result: {out.id} = {call}"
                if isinstance(out, ast.Subscript):
                    array, index = ast.unparse(out.value), ast.unparse(out.slice)
                    return f"write {array} = anp.at({array})[{index}].set({call}), with autodidax.numpy as anp"
                return f"leave out= away and bind the result: y = {call}"
            case ast.AugAssign(target=ast.Name() | ast.Attribute() as target, op=op, value=v):
                name = ast.unparse(target)
                captured = _for_captured(name, frame) if isinstance(target, ast.Name) else ""
                return f"write {name} = {ast.unparse(ast.BinOp(target, op, v))}{captured}"
            case ast.AugAssign(target=ast.Subscript(value=holder) as target, op=op, value=v) if (
                frame is not None and isinstance(callers.value_of(holder, frame), list | dict)
            ):
                return f"write {ast.unparse(target)} = {ast.unparse(ast.BinOp(target, op, v))}"
            case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=array), slice=place), op=op, value=v):
                captured = _for_captured(array, frame)
                index = ast.unparse(place)
                if index in ("...", ":"):
                    new = ast.unparse(ast.BinOp(ast.Name(array), op, v))
                    return f"return {new}, and bind it outside" if captured else f"write {array} = {new}"
                if type(op) in _METHODS:
                    change = f"anp.at({array})[{index}].{_METHODS[type(op)]}({ast.unparse(v)})"
                    return f"write {array} = {change}, with autodidax.numpy as anp{captured}"
                break
            case ast.stmt():
                break
    sign = _SIGN_OF.get(name)
    if sign is None:
        return f"leave out= away and bind the result: y = {name}(...)"
    part = f"acc = anp.at(acc)[i].{name.removeprefix('true_')}(x)"
    return f"write acc = acc {sign} x in place of acc {sign}= x; for a part of an array: {part}"


def _for_captured(name: str, frame: FrameType | None) -> str:
    """What to add where a name that code writes into belongs to code outside of the function."""
    code = None if frame is None else frame.f_code
    own = code is None or name in code.co_varnames or name in code.co_cellvars or code.co_name == "<module>"
    return "" if own else f", return {name}, and bind it outside"


_METHODS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power",
}  # fmt: skip
_SIGN_OF = {"add": "+", "subtract": "-", "multiply": "*", "true_divide": "/", "divide": "/", "power": "**"}


def operands_in_use() -> tuple[str, str] | None:
    """The texts of the two operands of the operation that user code is evaluating."""
    frame, inside = callers.frames()
    path = [] if inside else _node_in_use(frame)
    match path[0] if path else None:
        case ast.BinOp(left=left, right=right):
            return grouped(left), grouped(right)
    return None


errors.operands_in_use = operands_in_use
errors.called_function = called
