"""From the table and the arrays of a file to a program, which is checked before it is used."""

from __future__ import annotations

import importlib
import keyword
import re
from contextlib import suppress
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray, UnknownSize
from autodidax.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, check_jaxpr
from autodidax.core.primitive import Primitive, registry
from autodidax.core.sources import Mark
from autodidax.export.container import damaged, dtype_of_text, natural, unpack
from autodidax.export.rules import BackwardPass, ForwardPass, ForwardRule, MissingRule
from autodidax.export.values import value_of_plain
from autodidax.transforms.custom_calls import custom_jvp_p, custom_vjp_p, program_function

_OWN_MODULE = re.compile(r"autodidax\.(primitives|transforms|control_flow|scipy|nn|random)(\.[a-z]\w*)*")
_EMPTY = compile("", "<stored>", "exec")


def decoded(data: Any, kind: str, read: Any) -> Any:
    """What `read` makes of a decoder for the file and of its table; ExportError for all that goes wrong."""
    try:
        table, arrays = unpack(data)
        if table["kind"] != kind:
            raise errors.ExportError(
                f"the file holds {table['kind']!r}, not {kind!r}",
                mend="use deserialize or load for exported functions, pickle for jaxprs",
            )
        with np.errstate(all="ignore"):
            return read(Decoder(table, arrays), table)
    except errors.ExportError:
        raise
    except Exception as error:  # of whatever kind: the file may hold anything
        reason = str(error).splitlines()[0] if str(error) else ""
        raise damaged(f"{type(error).__name__}: {reason}") from error


class Decoder:
    """The programs of one file."""

    def __init__(self, table: dict[str, Any], arrays: list[np.ndarray]):
        self._main = table["main"]
        self.arrays = arrays
        self.writer = f"autodidax {table['autodidax']}"
        self._sizes: dict[int, UnknownSize] = {}
        self.avals = [self._aval(*coded) for coded in table["avals"]]
        self.primitives = [self._primitive(*coded) for coded in table["primitives"]]
        self.marks = [_mark(*coded) for coded in table["sources"]]
        self.programs: list[Any] = []
        self._checked: set[int] = set()
        for coded in table["programs"]:
            program = self._program(coded)
            self._check(program)
            self.programs.append(program)

    def main(self, kind: Any) -> Any:
        """The program that the file is about."""
        program = self.programs[natural(self._main)]
        if not isinstance(program, kind):
            raise ValueError("its program lacks its constants")
        return program

    def _aval(self, dtype: Any, shape: Any, weak: Any) -> ShapedArray:
        sizes = tuple([self._size(int(n[1:])) if type(n) is str else natural(n) for n in shape])
        return ShapedArray(sizes, dtype_of_text(dtype), _flag(weak))

    def _size(self, k: int) -> UnknownSize:
        return self._sizes.setdefault(natural(k), UnknownSize())

    def _primitive(self, name: Any, module: Any) -> Primitive:
        found = registry.get(str(name))
        if found is None and _OWN_MODULE.fullmatch(str(module)):
            with suppress(ImportError):  # our own modules, which load on first use
                importlib.import_module(str(module))
            found = registry.get(str(name))
        if found is None:
            raise errors.ExportError(
                f"the program calls the primitive {name!r} of {module!r}, which is not registered here "
                f"(it was stored by {self.writer})",
                mend="import the module that defines it before loading the program",
            )
        if found.effect:
            raise damaged(f"it calls {name}, an effect, which no file can hold")
        return found

    def _program(self, coded: dict[str, Any]) -> Any:
        variables: list[Var] = []

        def bind(numbers: Any) -> list[Var]:
            new = [Var(self.avals[natural(n)]) for n in numbers]
            variables.extend(new)
            return new

        def atom(a: Any) -> Any:
            return variables[natural(a)] if type(a) is int else self._literal(*a)

        constvars, invars = bind(coded["constvars"]), bind(coded["invars"])
        eqns = []
        for number, operands, outs, params, quiet, mark in coded["eqns"]:
            p = self.primitives[natural(number)]
            ins = [atom(a) for a in operands]
            own = self._params(p, params)
            eqns.append(JaxprEqn(p, ins, bind(outs), own, _flag(quiet), None if mark is None else self.marks[mark]))
        jaxpr = Jaxpr(constvars, invars, [atom(a) for a in coded["outvars"]], eqns)
        if "consts" not in coded:
            return jaxpr
        return ClosedJaxpr(jaxpr, [self.value(c) for c in coded["consts"]])

    def _literal(self, value: Any, aval: int) -> Literal:
        return Literal(self.value(value), self.avals[natural(aval)])

    def _check(self, program: Any) -> None:
        try:
            check_jaxpr(program, self._checked)
        except errors.JaxprError as error:
            raise errors.ExportError(
                f"the loaded program does not fit the primitives that are registered here: {error.message} (it was "
                f"stored by {self.writer})",
                mend="load it with the version of the package that stored it, or export the function again",
            ) from error

    # parameters

    def _params(self, p: Primitive, coded: dict[str, Any]) -> dict[str, Any]:
        for name in coded:  # they become keywords in the text of compiled programs
            if not name.isidentifier() or keyword.iskeyword(name):
                raise ValueError(f"{name!r} is no parameter")
        if p is custom_jvp_p or p is custom_vjp_p:
            return self._custom_call(p, **coded)
        return {name: self.value(v) for name, v in coded.items()}

    def value(self, coded: Any) -> Any:
        """The value of its JSON."""
        if type(coded) is list and coded and coded[0] in ("program", "size", "aval", "array"):
            kind, number = coded
            if kind == "size":
                return self._size(number)
            return getattr(self, f"{kind}s")[natural(number)]
        return value_of_plain(coded, self.value)

    def _custom_call(self, p: Primitive, *, name: str, call_jaxpr: Any, **rules: Any) -> dict[str, Any]:
        function = self.value(call_jaxpr)
        if type(name) is not str or type(function) is not ClosedJaxpr:
            raise ValueError("a function with a custom rule has no name or no program")
        params = {"fun": program_function(function), "name": name, "call_jaxpr": function}
        if p is custom_jvp_p:
            return params | {"rule": self._rule(name, rules["rule"], ForwardRule, function)}
        forward = self._rule(name, rules["fwd"], ForwardPass, function)
        if isinstance(forward, MissingRule):
            return params | {"fwd": forward, "bwd": self._rule(name, rules["bwd"], None)}
        return params | {"fwd": forward, "bwd": self._rule(name, rules["bwd"], BackwardPass, function, forward.program)}

    def _rule(self, function: str, coded: Any, cls: Any, *programs: ClosedJaxpr) -> Any:
        kind, number, *rest = coded
        if kind == "missing":
            return MissingRule(function, natural(number), str(*rest))
        present, name = rest
        flags = () if present is None else (tuple(map(_flag, present)),)
        program = self.programs[natural(number)]
        if type(program) is not ClosedJaxpr:
            raise ValueError("a rule is no program")
        return cls(*programs, program, *flags, str(name))


def _flag(x: Any) -> bool:
    if type(x) is not bool:
        raise ValueError(f"{x!r} is neither true nor false")
    return x


def _mark(file: Any, line: Any, function: Any, scopes: Any, rule: Any) -> Mark:
    """Where an equation comes from: a line of an empty function that has the name and the file of the real one."""
    names = tuple(map(str, scopes))
    code = _EMPTY.replace(
        co_filename=str(file), co_firstlineno=natural(line), co_name=str(function), co_qualname=str(function)
    )
    return code, -1, names, str(rule)
