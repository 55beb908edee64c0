"""Calls of Python's own functions written with NumPy's: `math.log(x, 2)` is np.log(x) / np.log(2)."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

_CHOICES = "scipy.special.gammaln({0} + 1) - scipy.special.gammaln({0} - {1} + 1)"
# functions of math, by the texts of their arguments, where NumPy's have other names or arguments
_MATH = {
    "fabs": "np.abs({0})", "gamma": "scipy.special.gamma({0})", "lgamma": "scipy.special.gammaln({0})",
    "erf": "scipy.special.erf({0})", "erfc": "scipy.special.erfc({0})", "factorial": "scipy.special.gamma({0} + 1.0)",
    "perm": f"np.round(np.exp({_CHOICES}))", "comb": f"np.round(np.exp({_CHOICES} - scipy.special.gammaln({{1}} + 1)))",
    "remainder": "{0} - {1} * np.round({0} / {1})", "pow": "{0} ** {1}", "trunc": "np.trunc({0})",
    "ulp": "np.spacing({0})", "isqrt": "np.floor(np.sqrt({0}))", "atan2": "np.arctan2({0}, {1})",
    "asin": "np.arcsin({0})", "acos": "np.arccos({0})", "atan": "np.arctan({0})", "asinh": "np.arcsinh({0})",
    "acosh": "np.arccosh({0})", "atanh": "np.arctanh({0})",
}  # fmt: skip
_OF_LISTS = {"fsum": "np.sum({0})", "prod": "np.prod({0})", "dist": "np.linalg.norm({0} - {1})"}
_TOLERANCES = {"rel_tol": "rtol", "abs_tol": "atol"}
_LARGEST = {"max": "np.maximum", "min": "np.minimum"}
_GREATER = {"max": ">", "min": "<"}


def grouped(node: ast.AST | str) -> str:
    """The text of an expression, in parentheses where something binds it to what stands beside it."""
    if isinstance(node, str):
        node = ast.parse(node, mode="eval").body
    text = ast.unparse(node)
    simple = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant | ast.List | ast.Tuple)
    return text if simple else f"({text})"


def as_array(node: ast.AST) -> str:
    """The text of an expression that gives values, as an array of them."""
    if isinstance(node, ast.GeneratorExp):
        node = ast.ListComp(node.elt, node.generators)
    text = ast.unparse(node)
    match node:
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[a]):
            return as_array(a)
        case ast.Call(func=ast.Name(id="map" | "filter" | "zip")):
            return f"anp.array(list({text}))"
    return f"anp.array({text})" if isinstance(node, ast.List | ast.Tuple | ast.ListComp) else text


def of_math(name: str, call: ast.Call) -> str:
    """What stands for a call of a function of math."""
    args = [grouped(a) for a in call.args]
    keywords = {k.arg: ast.unparse(k.value) for k in call.keywords if k.arg is not None}
    unpacked = any(isinstance(a, ast.Starred) for a in call.args) or len(keywords) < len(call.keywords)
    if unpacked or not args or (keywords and (name != "isclose" or not keywords.keys() <= _TOLERANCES.keys())):
        return "it with functions of numpy"
    if name == "log" and len(args) == 2:
        return f"np.log({ast.unparse(call.args[0])}) / np.log({ast.unparse(call.args[1])})"
    if name == "isclose":
        given = {"rel_tol": "1e-9", "abs_tol": "0.0"} | keywords
        return f"np.isclose({_texts(call.args)}, " + ", ".join(f"{_TOLERANCES[k]}={v}" for k, v in given.items()) + ")"
    if name == "hypot" and len(args) != 2:
        return f"np.linalg.norm(anp.array([{_texts(call.args)}]))"
    if name in ("gcd", "lcm") and len(args) > 2:
        return nested(f"np.{name}", call.args)
    if name in _OF_LISTS and len(args) == _OF_LISTS[name].count("{"):
        return _OF_LISTS[name].format(*map(as_array, call.args))
    template = _MATH.get(name)
    if template is not None and f"{{{len(args)}}}" not in template:
        whole = [ast.unparse(a) for a in call.args]
        alone = template.count("(") > 0 and not any(sign in template for sign in ("*", "+", "-"))
        texts = whole if alone else args
        try:
            return template.format(*texts)
        except IndexError:  # fewer arguments than the function takes
            return "it with functions of numpy"
    if callable(getattr(np, name, None)):
        return f"np.{name}({_texts(call.args)})"
    return "it with functions of numpy"


def _texts(nodes: Sequence[ast.AST]) -> str:
    return ", ".join(map(ast.unparse, nodes))


def nested(function: str, nodes: Sequence[ast.AST]) -> str:
    """A function of two arguments of more than two: f(f(a, b), c)."""
    text = ast.unparse(nodes[0])
    for node in nodes[1:]:
        text = f"{function}({text}, {ast.unparse(node)})"
    return text


def of_sorted(call: ast.Call) -> str:
    """What to write in place of sorted(...)."""
    match call.args[0]:
        case ast.Call(func=ast.Name(id="zip"), args=[_, *_] as arrays) if not (
            call.keywords or any(isinstance(a, ast.Starred) for a in arrays)
        ):
            texts = [grouped(a) for a in arrays]
            return (
                f"write order = np.argsort({texts[0]}, stable=True), and take {', '.join(f'{t}[order]' for t in texts)}"
            )
    values = as_array(call.args[0])
    options = {k.arg: k.value for k in call.keywords}
    reverse = options.pop("reverse", None)
    turned = "[::-1]" if isinstance(reverse, ast.Constant) and reverse.value else ""
    if reverse is not None and not isinstance(reverse, ast.Constant):
        return f"write np.sort({values}), and turn it around with [::-1] where {ast.unparse(reverse)} is true"
    key = options.pop("key", None)
    if key is None or (isinstance(key, ast.Constant) and key.value is None):
        return f"write np.sort({values}){turned}"
    order = "np.argsort(keys, stable=True)" if not turned else "np.argsort(-keys, stable=True)"
    return f"write values[{order}], with arrays: values = {values}, keys = {_keys(key)}"


def _keys(key: ast.AST) -> str:
    return f"anp.array([{_applied(key, 'v')} for v in values])"


def _applied(key: ast.AST, argument: str) -> str:
    if isinstance(key, ast.Lambda) and len(key.args.args) == 1:
        name = key.args.args[0].arg

        class Replaced(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.AST:  # the name that ast looks for
                return ast.parse(argument, mode="eval").body if node.id == name else node

        return ast.unparse(Replaced().visit(ast.parse(ast.unparse(key.body), mode="eval").body))
    return f"{grouped(key)}({argument})"


def of_largest(name: str, call: ast.Call) -> str:
    """What to write in place of max(...) or min(...)."""
    options = {k.arg: k.value for k in call.keywords}
    key, default = options.get("key"), options.get("default")
    if len(call.args) == 1 and not isinstance(call.args[0], ast.Starred):
        values = as_array(call.args[0])
        filtered = _filtered(call.args[0])
        if filtered is not None and key is None:
            test, kept, loop = filtered
            worst = "-np.inf" if name == "max" else "np.inf"
            some = f"np.{name}(anp.array([np.where({test}, {kept}, {worst}){loop}]))"
            if default is None:
                return f"write {some}"
            return f"write np.where(np.any(anp.array([{test}{loop}])), {some}, {ast.unparse(default)})"
        if default is not None:
            return f"write np.{name}({values}) where there are values, {ast.unparse(default)} where the length is 0"
        if key is not None:
            return f"write values[np.arg{name}(keys)], with arrays: values = {values}, keys = {_keys(key)}"
        return f"write np.{name}({values})"
    if any(isinstance(a, ast.Starred) for a in call.args):
        values = f"anp.array([{_texts(call.args)}])"
        return (
            f"write np.{name}({values})" if key is None else f"write the entry at np.arg{name} of the keys of {values}"
        )
    if key is None:
        return f"write {nested(_LARGEST[name], call.args)}"
    if len(call.args) == 2:
        a, b = map(ast.unparse, call.args)
        return f"write np.where({_applied(key, b)} {_GREATER[name]} {_applied(key, a)}, {b}, {a})"
    return (
        f"write values[np.arg{name}(keys)], with arrays: values = anp.array([{_texts(call.args)}]), keys = {_keys(key)}"
    )


def _filtered(node: ast.AST) -> tuple[str, str, str] | None:
    """Of a comprehension with one loop and a filter: the test, the entry, and the loop without the filter."""
    if not isinstance(node, ast.GeneratorExp | ast.ListComp) or len(node.generators) != 1:
        return None
    loop = node.generators[0]
    if not loop.ifs:
        return None
    test = " & ".join(f"({ast.unparse(t)})" for t in loop.ifs) if len(loop.ifs) > 1 else ast.unparse(loop.ifs[0])
    return test, ast.unparse(node.elt), f" for {ast.unparse(loop.target)} in {ast.unparse(loop.iter)}"


def of_filter(call: ast.AST | None, test: str) -> str:
    """What to write in place of a comprehension that keeps entries by a traced test, in this call."""
    match call:
        case ast.Call(func=ast.Name(id="max" | "min" as name)):
            return of_largest(name, call)
        case ast.Call(func=ast.Name(id="sum"), args=[a]) if (found := _filtered(a)) is not None:
            return f"write sum(np.where({found[0]}, {found[1]}, 0.0){found[2]})"
    return f"keep all entries, and choose with np.where({test}, value, other), as the length must be known"
