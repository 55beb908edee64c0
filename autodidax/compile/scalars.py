"""Programs of numbers and small arrays as Python arithmetic: an array of up to 16 entries becomes that many variables.

Python's float arithmetic is NumPy's, bit for bit, at a fraction of the cost of a call. Where Python raises (division by
zero, domain and range errors), where a result is not finite, and where `np.errstate` asks for exceptions, the NumPy
form of the program runs instead, from its start: infinities, nans and warnings come out as NumPy's. In backward passes
the sign of a zero may differ from that of an eager run, since sums with structural zeros are left out.
"""

from __future__ import annotations

import contextvars
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax.compile.emission import Names
from autodidax.compile.expressions import basic_index
from autodidax.compile.kernels import size_of, ufunc_of
from autodidax.core.jaxpr import ClosedJaxpr, JaxprEqn, Literal
from autodidax.core.primitive import Pointwise

SMALL = 16  # entries of an array that is written as variables
FEWEST = 8  # equations of a program that is worth it
SHARE = 0.9  # of the entries that are computed, that have to be so in Python
TEXT = 120  # characters of an expression, beyond which it gets a name
TOGETHER = 4  # entries from which one call of a ufunc on an array is faster than a call for each

_FLOAT, _BOOL = np.dtype(np.float64), np.dtype(bool)
_DTYPES = {_FLOAT, _BOOL}
_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_COMPARISON = {"gt": ">", "lt": "<", "ge": ">=", "le": "<=", "eq": "==", "ne": "!="}
_LOGIC = {"and": "and", "or": "or"}
_MOVING = {
    "reshape", "transpose", "broadcast_to", "flip", "getitem", "scatter_into_zeros", "concatenate", "stack",
    "diagonal", "diagonal_embed",
}  # fmt: skip
_OWN = {*_ARITHMETIC, *_COMPARISON, *_LOGIC, *_MOVING} - {"getitem", "scatter_into_zeros"}
_OWN |= {"neg", "square", "where", "reduce_sum", "sqrt", "sin", "cos", "abs", "not"}
_ZERO = "0.0"  # a structural zero of a backward pass


def _agrees(own: Callable[[float], float], ufunc: np.ufunc) -> bool:
    """Whether a function of `math` gives the bits of NumPy's, at many points."""
    rng = np.random.default_rng(0)
    x = np.abs(rng.normal(size=4096) * 10.0 ** rng.uniform(-3, 2, 4096))
    return all(own(a) == b for a, b in zip(x.tolist(), ufunc(x).tolist(), strict=True))


_MATH: dict[str, Callable[[float], float] | None] = {"sqrt": math.sqrt, "sin": math.sin, "cos": math.cos}


def _of_math(name: str) -> Callable[[float], float] | None:
    """The function of `math` in the place of a ufunc, if this machine's NumPy agrees with it."""
    found = _MATH.get(name)
    if found is not None and name not in _tried:
        _tried.add(name)
        if not _agrees(found, getattr(np, name)):
            _MATH[name] = found = None
    return found


_tried: set[str] = set()


_settings: Any = getattr(vars(np)["_core"].umath, "_extobj_contextvar", None)  # where NumPy keeps those of np.errstate
_usual = None if _settings is None else contextvars.Context().run(_settings.get)


def exceptions_wanted() -> bool:
    """Whether np.errstate asks for more than warnings."""
    if _settings is not None and _settings.get() is _usual:
        return False
    return not {"warn", "ignore"}.issuperset(np.geterr().values())


def is_small(closed: ClosedJaxpr) -> bool:
    """Whether a program is one of numbers and small arrays of double precision, mostly of arithmetic."""
    jaxpr = closed.jaxpr
    if len(jaxpr.eqns) < FEWEST or not all(map(_fits, (*jaxpr.constvars, *jaxpr.invars))):
        return False
    total = own = 0
    for eqn in jaxpr.eqns:
        p = eqn.primitive
        if p.effect or (p.higher_order and eqn.has_effect):
            return False
        for v in eqn.outvars:
            size = size_of(v.aval)
            if not 0 < size <= SMALL or v.aval.dtype not in _DTYPES:
                return False
            total += size
            own += size * _is_own(eqn)
    return own >= SHARE * total


def _fits(v: Any) -> bool:
    return 0 < size_of(v.aval) <= SMALL and v.aval.dtype in _DTYPES


def _is_own(eqn: JaxprEqn) -> bool:
    """Whether an equation, of values that fit, is one that is written in Python."""
    name = eqn.primitive.name
    if name in _OWN:
        return True
    if name == "scatter_add":
        return len(eqn.invars) == 2 and basic_index(eqn.params["index"]) is not None
    return name in ("getitem", "scatter_into_zeros") and len(eqn.invars) == 1


class ScalarProgram:
    """The emission of a program in scalar form."""

    def __init__(self, closed: ClosedJaxpr):
        self.closed = closed
        self.names = Names()
        self.cells: dict[Any, list[str]] = {}  # value -> one expression an entry, in C order
        self.lines: list[str] = []
        self.count = 0
        self.uses: dict[Any, int] = {}
        self.constants = {_ZERO, "True", "False"}  # expressions that need no name

    def source(self) -> str:
        jaxpr, names = self.closed.jaxpr, self.names
        for eqn in jaxpr.eqns:
            for a in eqn.invars:
                if type(a) is not Literal:
                    self.uses[a] = self.uses.get(a, 0) + 1
        for v in jaxpr.outvars:
            if type(v) is not Literal:
                self.uses[v] = self.uses.get(v, 0) + 2
        inputs = []
        for v in jaxpr.invars:
            inputs.append(name := self.fresh("a"))
            self.open(v, name)
        for v, value in zip(jaxpr.constvars, self.closed.consts, strict=True):
            self.cells[v] = [self.text(x) for x in np.asarray(value).ravel().tolist()]
        for eqn in jaxpr.eqns:
            self.equation(eqn)
        returned, finite = [], []
        for a in jaxpr.outvars:
            cells = self.operand(a)
            if a.aval.dtype == _FLOAT:
                finite += [c for c in cells if c not in finite]
            returned.append(self.closed_value(a, cells))
        names.namespace["exceptions_wanted"] = exceptions_wanted
        arguments = ", ".join(inputs)
        head = [f"def scalar({arguments}):"]
        body = list(self.lines)
        for start in range(0, len(finite), 50):  # a sum is finite only where its terms are
            total = " + ".join(finite[start : start + 50])
            body += [f"s_ = {total}", "if s_ - s_ != 0.0:", "    return None"]
        body.append(f"return [{', '.join(returned)}]")
        head += ["    " + line for line in body]
        head += [
            f"def program({arguments}):",
            "    if not exceptions_wanted():",
            "        try:",
            f"            found = scalar({arguments})",
            "        except (ZeroDivisionError, OverflowError, ValueError):",
            "            found = None",
            "        if found is not None:",
            "            return found",
            f"    return in_numpy({arguments})",
        ]
        return "\n".join(head) + "\n"

    # values

    def fresh(self, stem: str = "v") -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def open(self, v: Any, name: str) -> None:
        """Take the entries out of an array or number that has this name."""
        size = size_of(v.aval)
        if not v.aval.shape:
            convert = "float" if v.aval.dtype == _FLOAT else "bool"
            cell = self.fresh()
            self.lines.append(f"{cell} = {convert}({name})")
            self.cells[v] = [cell]
            return
        cells = [self.fresh() for _ in range(size)]
        flat = name if len(v.aval.shape) == 1 else f"{name}.ravel()"
        self.lines.append(f"{', '.join(cells)}, = {flat}.tolist()")
        self.cells[v] = cells

    def closed_value(self, a: Any, cells: list[str]) -> str:
        """A value as NumPy has it: an array, a NumPy number, or a Python number where it is weak."""
        names, aval = self.names, a.aval
        if not aval.shape:
            if type(a) is Literal:
                return names.atom(a)
            if aval.weak_type:
                return cells[0]
            kind = np.float64 if aval.dtype == _FLOAT else np.bool_
            return f"{names.function(kind.__name__, kind)}({cells[0]})"
        text = f"{names.function('array', np.array)}([{', '.join(cells)}])"
        return text if len(aval.shape) == 1 else f"{text}.reshape({aval.shape!r})"

    def operand(self, a: Any, dtype: Any = None) -> list[str]:
        """The entries of an operand; a number as a float where the result has this dtype."""
        if type(a) is not Literal:
            return self.cells[a]
        value = a.val.item() if isinstance(a.val, np.generic) else a.val
        return [self.text(float(value) if dtype == _FLOAT and type(value) is int else value)]

    def text(self, value: Any) -> str:
        """A number as it is written."""
        if type(value) is float and value - value != 0:
            text = f"float('{value!r}')"
        else:
            text = repr(value)
            text = f"({text})" if text.startswith("-") else text
        self.constants.add(text)
        return text

    def is_simple(self, cell: str) -> bool:
        return cell.isidentifier() or cell in self.constants

    def named(self, a: Any) -> None:
        """Give names to the entries of an operand that is read more than once by one equation."""
        if type(a) is Literal:
            return
        cells = self.cells[a]
        for k, cell in enumerate(cells):
            if not self.is_simple(cell):
                cells[k] = self.fresh()
                self.lines.append(f"{cells[k]} = {cell}")

    def spread(self, a: Any, shape: tuple[int, ...], dtype: Any = None) -> list[str]:
        """The entries of an operand, broadcast to a shape."""
        cells = self.operand(a, dtype)
        own = a.aval.shape
        if own == shape:
            return cells
        if not own:
            return cells * math.prod(shape)
        at = np.broadcast_to(np.arange(len(cells)).reshape(own), shape).ravel().tolist()
        return [cells[k] for k in at]

    def bind(self, v: Any, cells: list[str]) -> None:
        """Give the entries names, but for those that are read once or are names already."""
        again = self.uses.get(v, 0) > 1
        kept = []
        for text in cells:
            if self.is_simple(text) or (not again and len(text) <= TEXT):
                kept.append(text)
            else:
                kept.append(name := self.fresh())
                self.lines.append(f"{name} = {text}")
        self.cells[v] = kept

    # equations

    def equation(self, eqn: JaxprEqn) -> None:
        name = eqn.primitive.name
        if not _is_own(eqn):
            return self.by_numpy(eqn)
        out = eqn.outvars[0]
        if name in _MOVING and any(a.aval.dtype != out.aval.dtype for a in eqn.invars):
            return self.by_numpy(eqn)
        if name in _MOVING:
            for operand in eqn.invars:
                self.named(operand)
            self.cells[out] = self.moved(eqn)
            return None
        if name == "scatter_add":
            self.bind(out, self.added(eqn))
            return None
        shape = out.aval.shape
        if name == "reduce_sum":
            cells = self.summed(eqn)
            if cells is None:
                return self.by_numpy(eqn)
        elif name in ("sqrt", "sin", "cos"):
            own = _of_math(name)
            if own is None:
                return self.by_numpy(eqn)
            function = self.names.function(name, own)
            cells = [f"{function}({x})" for x in self.operand(eqn.invars[0])]
        else:
            for operand in eqn.invars:
                if name == "square" or operand.aval.shape != shape:
                    self.named(operand)
            numbers = eqn.invars[1:] if name == "where" else eqn.invars
            arithmetic = name in _ARITHMETIC or name in ("neg", "abs", "square")
            if (out.aval.dtype == _FLOAT and not all(map(_is_double, numbers))) or (
                arithmetic and out.aval.dtype != _FLOAT
            ):  # conditions are no numbers, and Python would make integers of them
                return self.by_numpy(eqn)
            operands = [self.spread(a, shape, out.aval.dtype) for a in eqn.invars]
            cells = [_written(name, xs, eqn.quiet) for xs in zip(*operands, strict=True)]
        self.bind(out, cells)
        return None

    def moved(self, eqn: JaxprEqn) -> list[str]:
        """The entries of a primitive that moves and copies entries: where they come from is found by moving numbers."""
        all_cells: list[str] = []
        numbered = []
        for a in eqn.invars:
            cells = self.operand(a)
            numbered.append((np.arange(len(cells)) + len(all_cells) + 1).reshape(a.aval.shape))
            all_cells += cells
        found = np.ravel(eqn.primitive.impl(*numbered, **eqn.params)).tolist()
        return [all_cells[k - 1] if k else _ZERO for k in found]

    def added(self, eqn: JaxprEqn) -> list[str]:
        """The entries of an array, to some of which those of another are added."""
        x, update = eqn.invars
        cells = list(self.operand(x))
        at = np.arange(len(cells)).reshape(x.aval.shape)[eqn.params["index"]]
        for k, term in zip(np.ravel(at).tolist(), self.spread(update, np.shape(at)), strict=True):
            cells[k] = _written("add", [cells[k], term], eqn.quiet)
        return cells

    def summed(self, eqn: JaxprEqn) -> list[str] | None:
        """The sums over axes in the order in which NumPy adds."""
        shape, axes = eqn.invars[0].aval.shape, eqn.params["axes"]
        cells = self.operand(eqn.invars[0])
        rank = len(shape)
        zero = "" if eqn.quiet else _ZERO
        if not axes:
            return cells
        if axes == tuple(range(rank - len(axes), rank)):  # the last axes, which lie side by side
            width = math.prod(shape[-len(axes) :])
            return [_pairwise(cells[k : k + width], zero) for k in range(0, len(cells), width)]
        if axes == (0,):  # row by row
            width = len(cells) // shape[0]
            return [_in_order(cells[k::width], zero) for k in range(width)]
        return None

    def by_numpy(self, eqn: JaxprEqn) -> None:
        """A call of NumPy on arrays made for it."""
        names = self.names
        p = eqn.primitive
        ufunc = ufunc_of(p)
        out = eqn.outvars[0]
        scalar = isinstance(p, Pointwise) and len(eqn.outvars) == 1 and size_of(out.aval) < TOGETHER
        quiet = "with errstate(all='ignore'): " if eqn.quiet else ""
        if quiet:
            names.namespace["errstate"] = np.errstate
        if scalar:
            function = names.function(ufunc.__name__, ufunc) if ufunc is not None else names.implementation(p)
            kind = "float" if out.aval.dtype == _FLOAT else "bool"
            cells = []
            for xs in zip(*[self.spread(a, out.aval.shape) for a in eqn.invars], strict=True):
                cells.append(name := self.fresh())
                self.lines.append(f"{quiet}{name} = {kind}({function}({', '.join(xs)}))")
            self.cells[out] = cells
            return
        args = [self.closed_value(a, self.operand(a)) for a in eqn.invars]
        args += [f"{k}={names.parameter(k, v)}" for k, v in eqn.params.items()]
        results = [self.fresh("r") for _ in eqn.outvars]
        target = f"[{', '.join(results)}]" if p.multiple_results else results[0]
        self.lines.append(f"{quiet}{target} = {names.implementation(p)}({', '.join(args)})")
        for v, name in zip(eqn.outvars, results, strict=True):
            self.open(v, name)


def _is_double(a: Any) -> bool:
    """Whether an operand is a float for Python: integers up to 2**53 become the same number."""
    if type(a) is not Literal:
        return bool(a.aval.dtype == _FLOAT)
    return type(a.val) in (float, np.float64) or (type(a.val) is int and abs(a.val) <= 2**53)


def _written(name: str, xs: Sequence[str], quiet: bool) -> str:
    """One entry of an elementwise operation."""
    if name in _ARITHMETIC:
        x, y = xs
        if quiet and name in ("add", "sub"):  # a structural zero adds nothing
            if y == _ZERO:
                return x
            if x == _ZERO:
                return y if name == "add" else f"-{y}"
        return f"({x} {_ARITHMETIC[name]} {y})"
    if name in _COMPARISON:
        return f"({xs[0]} {_COMPARISON[name]} {xs[1]})"
    if name in _LOGIC:
        return f"({xs[0]} {_LOGIC[name]} {xs[1]})"
    if name == "neg":
        return _ZERO if quiet and xs[0] == _ZERO else f"(-{xs[0]})"
    if name == "not":
        return f"(not {xs[0]})"
    if name == "abs":
        return f"abs({xs[0]})"
    if name == "square":
        return f"({xs[0]} * {xs[0]})"
    assert name == "where"
    return f"({xs[1]} if {xs[0]} else {xs[2]})"


def _in_order(terms: list[str], zero: str) -> str:
    kept = [t for t in terms if zero or t != _ZERO] or [_ZERO]
    return "(" + " + ".join([zero] * bool(zero) + kept) + ")"


def _pairwise(terms: list[str], zero: str) -> str:
    """A sum of adjacent entries, as NumPy's pairwise summation adds up to 128 of them."""
    n = len(terms)
    if n < 8:
        return _in_order(terms, zero)
    parts = list(terms[:8])
    for k in range(8, n - n % 8):
        parts[k % 8] = f"({parts[k % 8]} + {terms[k]})"
    a, b, c, d, e, f, g, h = parts
    total = f"((({a} + {b}) + ({c} + {d})) + (({e} + {f}) + ({g} + {h})))"
    return _in_order([total, *terms[n - n % 8 :]], zero)
