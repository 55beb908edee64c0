"""Which call of NumPy or SciPy met a traced value that it cannot take, and what to write in its place."""

from __future__ import annotations

import ast
import dis
import importlib
import linecache
import sys
from collections.abc import Iterator
from itertools import islice
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from autodidax import errors

_INSIDE = ("numpy", "scipy")
#: what has our functions under other names than NumPy's and SciPy's modules have them
_TWINS = {
    "numpy": "autodidax.numpy",
    "numpy.linalg": "autodidax.numpy.linalg",
    "scipy.integrate": "autodidax.scipy.integrate",
    "scipy.linalg": "autodidax.scipy.linalg",
    "scipy.sparse.linalg": "autodidax.scipy.sparse.linalg",
    "scipy.special": "autodidax.scipy.special",
}
_SHORT = {"autodidax.numpy": "anp", "autodidax.numpy.linalg": "anp.linalg"}
_OTHER = {
    "scipy.sparse": "write A.toarray() @ x for the product with a sparse array A",
    "numpy.r_": "write anp.r_[...], with autodidax.numpy as anp",
    "numpy.c_": "write anp.c_[...], with autodidax.numpy as anp",
    "numpy.vectorize": "write anp.vectorize(f), with autodidax.numpy as anp, or apply autodidax.vmap to the function",
    "numpy.ma": "keep the mask apart: write np.where(mask, 0.0, x), with mask True where an entry does not count, and "
    "reductions as np.sum(x, where=~mask)",
    "numpy.testing": "compare plain values: what the transformed function returns, or stop_gradient(x) under grad",
    "numpy.random": "draw plain random numbers outside of the transformed function, and compute with them inside",
}
# functions that write into an argument
WRITERS: dict[Any, str] = {
    np.copyto: "write a = anp.broadcast_to(x, a.shape), with where=m a = np.where(m, x, a); np.full as anp.full",
    np.put: "write a = anp.put(a, indices, x, inplace=False), or anp.at(a)[i].set(x)",
    np.place: "write a = anp.place(a, mask, x, inplace=False), or where(mask, x, a) for x of the shape of a",
    np.putmask: "write a = where(mask, x, a)",
    np.put_along_axis: "write a = anp.put_along_axis(a, indices, x, axis, inplace=False), or anp.at(a)[i, j].set(x)",
    np.fill_diagonal: "write a = anp.fill_diagonal(a, x, inplace=False), or anp.at(a)[i, i].set(x)",
}
_MEMORY = "traced values have no memory of their own: leave the question away"
_SHOW = "use repr(x), or show stop_gradient(x); under jit and vmap use debug.print('{x}', x=x)"
_SAVE = "return the value (has_aux=True), and save it outside"
_LOOP = "loop over np.ndindex(x.shape) and take x[index]; or use vmap"
# what to do in place of a function that has no traced version
ALTERNATIVES: dict[Any, str] = {
    np.shares_memory: _MEMORY,
    np.may_share_memory: _MEMORY,
    np.isfortran: _MEMORY,
    np.save: _SAVE,
    np.savetxt: _SAVE,
    np.savez: _SAVE,
    np.savez_compressed: _SAVE,
    np.array_repr: _SHOW,
    np.array_str: _SHOW,
    np.array2string: _SHOW,
    np.format_float_positional: _SHOW,
    np.format_float_scientific: _SHOW,
    np.arange: "write start + step * np.arange(n) with a known n, or linspace(start, stop, n)",
    np.asmatrix: "write x, or anp.atleast_2d(x); products of matrices are a @ b",
    np.matrix: "write x, or anp.atleast_2d(x); products of matrices are a @ b",
    np.bmat: "write np.block",
    np.broadcast: "write np.broadcast_arrays(x, y), or np.broadcast_shapes(x.shape, y.shape)",
    np.from_dlpack: "a traced value is an array: use it as it is",
    np.fromiter: "write anp.array([...]) with the values in a list",
    np.isnat: "traced values are numbers, no dates: use isnan",
    np.nditer: _LOOP,
    np.nested_iters: _LOOP,
    np.ndenumerate: _LOOP,
    np.lib.stride_tricks.as_strided: "write np.lib.stride_tricks.sliding_window_view, np.broadcast_to, or x[index]",
}
# functions of which the traced argument is a size, for programs that are written before it is known
SIZES = {
    "numpy.arange": "write start + step * np.arange(n) with a known n",
    "numpy.repeat": "the counts of np.repeat must be known: compute them outside of the transformed function",
}
_DRAWN = {
    "normal": "loc + scale * rng.normal(size=n)", "uniform": "low + (high - low) * rng.uniform(size=n)",
    "exponential": "scale * rng.exponential(size=n)", "permutation": "x[rng.permutation(len(x))]",
    "shuffle": "x[rng.permutation(len(x))]",
}  # fmt: skip
_NO_TWIN = (
    "write it with functions of autodidax.numpy, or make it a primitive: f = primitive_from({name}, "
    "jvp=lambda out, primals, tangents: ...); where its result is a constant {constant}"
)
# root finders, with their arguments after the function
_ROOTS = {
    "brentq": "a, b", "brenth": "a, b", "ridder": "a, b", "bisect": "a, b", "toms748": "a, b", "fsolve": "x",
    "newton": "x", "fixed_point": "x",
}  # fmt: skip
_ROOT = (
    "differentiate the equation in place of the iterations: lax.custom_root(f, x, {solve}, "
    "lambda g, y: y / g(1.0)) for a number x (its docstring has the form for arrays)"
)
# numpy.polynomial's functions and the parts of its classes, whose coefficients c begin with the lowest power
_SERIES = {
    "mapdomain": "write np.polyval(p.convert(kind=np.polynomial.Polynomial).coef[::-1], x) for p(x)",
    "getdomain": "write np.polyfit(x, y, deg)[::-1]",
    "as_series": "keep the coefficients in an array c, lowest power first, and write np.polyval(c[::-1], x) for p(x)",
    "polyval": "write np.polyval(c[::-1], x)", "polyroots": "write np.roots(c[::-1])",
    "polyfit": "write np.polyfit(x, y, deg)[::-1]", "polyfromroots": "write np.poly(roots)[::-1]",
    "polyder": "write np.polyder(c[::-1], m)[::-1]", "polyint": "write np.polyint(c[::-1], m)[::-1]",
    **{f"poly{name}": f"write np.poly{name}(c1[::-1], c2[::-1])[::-1]" for name in ("add", "sub", "mul")},
    "polyvander": "write np.vander(x, deg + 1, increasing=True)",
    **{f"{basis}val": f"write {basis}vander(x, len(c) - 1) @ c, for an x that is not traced"
       for basis in ("cheb", "leg", "herm", "herme", "lag")},
    **{f"{basis}fit": f"write np.linalg.lstsq({basis}vander(x, deg), y)[0], for an x that is not traced"
       for basis in ("cheb", "leg", "herm", "herme", "lag")},
}  # fmt: skip
_CONSTANT = {True: "give it stop_gradient(x)", False: "call it with pure_callback"}


def frames() -> tuple[FrameType | None, list[FrameType]]:
    """The innermost frame of user code, and the frames of NumPy and SciPy that it called, outermost first."""
    frame: FrameType | None = sys._getframe(1)
    inside = []
    while frame is not None and not errors.is_user_code(frame):
        if (frame.f_globals.get("__name__") or "").partition(".")[0] in _INSIDE:
            inside.append(frame)
        frame = frame.f_back
    return frame, inside[::-1]


def _public(module: str, name: str) -> str | None:
    """The public name of what a private module of NumPy or SciPy defines, e.g. "scipy.linalg.solve_triangular"."""
    parts = module.split(".")
    for k in range(len(parts), 0, -1):
        if any(part.startswith("_") for part in parts[:k]) or parts[:k] == ["numpy", "lib"]:
            continue
        if k > 1 and parts[:2] == ["numpy", "matrixlib"]:
            continue
        path = ".".join(parts[:k])
        if callable(getattr(sys.modules.get(path), name, None)):
            return f"{path}.{name}"
    return None


def positions(frame: FrameType) -> Iterator[tuple[int | None, ...]]:
    """Of the instruction that a frame is at: first and last line, first and last column (in bytes)."""
    return islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)


def _expression(frame: FrameType) -> ast.expr | None:
    """The expression of the source that a frame is evaluating, None where there is no source."""
    start, end, first, last = next(positions(frame), (None,) * 4)
    if start is None or start != end or first is None or last is None:
        return None
    line = linecache.getline(frame.f_code.co_filename, start, frame.f_globals)
    try:
        return ast.parse(line.encode()[first:last].decode().strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None


def writes(frame: FrameType | None) -> bool:
    """Whether a frame is assigning to an item, as in a[i] = x."""
    return frame is not None and dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("STORE_S")


def value_of(node: ast.expr, frame: FrameType) -> Any:
    """What a dotted name stands for, looked up without running anything of the user's."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if isinstance(node, ast.Attribute):
        owner = value_of(node.value, frame)
        known = isinstance(owner, ModuleType | np.ndarray) or type(owner).__module__.startswith("numpy.random")
        return getattr(owner, node.attr, None) if known else None
    return None


def indexed_array() -> tuple[str, str, int] | None:
    """The texts of `table` and `i` where user code is evaluating table[i], and the number of indices; else None."""
    frame, inside = frames()
    node = None if frame is None or inside else _expression(frame)
    if isinstance(node, ast.Subscript) and not writes(frame):
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return ast.unparse(node.value), ", ".join(map(ast.unparse, indices)), len(indices)
    return None


def caller() -> tuple[str | None, bool]:
    """The public name of the function of NumPy or SciPy that user code is calling (None: it cannot be told), and
    whether the call stands with a list or tuple for its first argument."""
    frame, inside = frames()
    node = None if frame is None else _expression(frame)
    call = node if isinstance(node, ast.Call) else None
    listed = call is not None and bool(call.args) and isinstance(call.args[0], ast.List | ast.Tuple | ast.ListComp)
    for f in inside:
        own, *members = f.f_code.co_qualname.split(".")
        name = _public(f.f_globals["__name__"], own if members in (["__init__"], ["__new__"]) else f.f_code.co_name)
        if name is not None:
            return name, listed
        if f.f_code.co_qualname.startswith("vectorize."):
            return "numpy.vectorize", listed
    if inside and inside[0].f_globals["__name__"].startswith("scipy.sparse"):
        return "scipy.sparse", listed
    if isinstance(node, ast.Subscript) and frame is not None:
        brackets = value_of(node.value, frame)
        return next((f"numpy.{k}" for k in ("r_", "c_") if getattr(np, k) is brackets), None), listed
    if call is None:
        return None, listed
    function = value_of(call.func, frame) if frame is not None else None
    if isinstance(function, np.ufunc):
        special = sys.modules.get("scipy.special")
        home = "numpy" if hasattr(np, function.__name__) else "scipy.special" if special else ""
        return f"{home}.{function.__name__}", listed
    if function is not None and isinstance(getattr(function, "__self__", None), np.ndarray):
        return f"numpy.{function.__name__}", listed  # a method of arrays: the function of this name
    if function is not None and type(getattr(function, "__self__", None)).__module__.startswith("numpy.random"):
        return f"numpy.random.{function.__name__}", listed
    module, name = getattr(function, "__module__", None), getattr(function, "__name__", None)
    if module and name and module.partition(".")[0] in _INSIDE:
        return _public(module, name) or f"{module}.{name}", listed
    if function is None and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
        maker = getattr(value_of(call.func.value.func, frame), "__name__", None) if frame is not None else None
        if maker in ("default_rng", "Generator", "RandomState"):
            return f"numpy.random.{call.func.attr}", listed
    if (
        function is None
        and not inside
        and isinstance(call.func, ast.Attribute)
        and callable(getattr(np.ndarray, call.func.attr, None))
    ):
        method = f"numpy.{call.func.attr}"  # of an array that a larger expression gives
        return method if twin(method) is not None else None, listed
    return ast.unparse(call.func) if inside else None, listed


def twin(name: str) -> str | None:
    """What a message calls our function for NumPy's or SciPy's, None where there is none."""
    module, _, short = name.rpartition(".")
    path = _TWINS.get(module)
    if path is None:
        return None
    ours = vars(importlib.import_module(path)).get(short)
    theirs = getattr(sys.modules.get(module), short, None)
    if not callable(ours) or ours is theirs:
        return None
    return f"{_SHORT.get(path, path)}.{short}"


def mend_for(name: str, listed: bool, known: bool) -> str:
    """What to write in the place of a call of this function; `known`: the traced value exists, as under grad."""
    module, _, short = name.rpartition(".")
    for whole in (name, "numpy.ma" if name.startswith("numpy.ma.") else module):
        if whole in _OTHER and whole != "numpy.random":
            return _OTHER[whole]
    function = getattr(sys.modules.get(module), short, None)
    if function is not None and function in WRITERS:
        return WRITERS[function]
    ours = twin(name)
    if ours is not None:
        if listed and ours not in ("anp.array", "anp.asarray"):
            return f"write {ours}(...), which takes lists of traced values, or make an array of them: anp.array([...])"
        return f"write {ours}(...)" + (", with autodidax.numpy as anp" if ours.startswith("anp") else "")
    if module == "numpy.random":
        return f"write {_DRAWN[short]}, with rng = np.random.default_rng(seed)" if short in _DRAWN else _OTHER[module]
    if isinstance(function, type) and issubclass(function, np.generic):
        return f"write x.astype(np.{short})"
    if function is not None and function in ALTERNATIVES:
        return ALTERNATIVES[function]
    if module == "scipy.optimize" and short in _ROOTS:
        return _ROOT.format(name=name, solve=f"lambda f, x: {name}(f, {_ROOTS[short]})")
    if module.startswith("numpy.polynomial.") and short in _SERIES:
        return _SERIES[short]
    if name == "scipy.integrate.solve_ivp":
        return (
            "write autodidax.scipy.integrate.odeint(lambda y, t: ..., y0, t), which has derivatives in y0, t and more"
        )
    return _NO_TWIN.format(name=name, constant=_CONSTANT[known])
