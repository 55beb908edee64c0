"""From a program to the table and the arrays of its file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray, UnknownSize
from autodidax.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from autodidax.core.primitive import Primitive, registry
from autodidax.export.container import dtype_text
from autodidax.export.rules import BackwardPass, ForwardPass, ForwardRule, MissingRule, backward_rules, forward_rule
from autodidax.export.values import NotStorable, plain_value
from autodidax.transforms.boundary import described
from autodidax.transforms.custom_calls import custom_jvp_p, custom_vjp_p
from autodidax.transforms.host_functions import HostFunction


class Encoder:
    """The tables of one file. Programs, arrays, avals, primitives and sources stand in tables, each once, and are
    referred to by their numbers; a program comes behind those that it holds."""

    def __init__(self, vjp_order: int):
        self.vjp_order = vjp_order
        self.programs: list[Any] = []
        self.arrays: list[np.ndarray] = []
        self._numbers: dict[Any, int] = {}  # of programs (with the order of their rules), arrays and unknown sizes
        self._kept: list[Any] = []  # what is known by its id
        self._avals: dict[Any, int] = {}
        self._primitives: dict[tuple[str, str], int] = {}
        self._sources: dict[Any, int] = {}
        self._sizes = 0

    def table(self) -> dict[str, Any]:
        return {
            "programs": self.programs, "avals": list(self._avals), "primitives": list(self._primitives),
            "sources": list(self._sources),
        }  # fmt: skip

    # programs

    def closed(self, program: ClosedJaxpr, order: int | None = None) -> int:
        """The number of a program; rules of functions in it are stored up to `order`."""
        order = self.vjp_order if order is None else order
        key = ("program", id(program), order)
        if key not in self._numbers:
            coded = self._program(program.jaxpr, order)
            coded["consts"] = list(map(self._constant, program.consts))
            self._numbers[key] = self._add(coded, program)
        return self._numbers[key]

    def open(self, jaxpr: Jaxpr) -> int:
        """The number of a jaxpr without the values of its constants."""
        return self._add(self._program(jaxpr, self.vjp_order), jaxpr)

    def _add(self, coded: Any, kept: Any) -> int:
        self._kept.append(kept)
        self.programs.append(coded)
        return len(self.programs) - 1

    def _constant(self, x: Any) -> Any:
        try:
            return self.value(x)
        except NotStorable:
            raise errors.ExportError(
                f"a constant of the program is {described(x)}, which no file can hold",
                mend="make it an array of numbers of NumPy's own dtypes, or an argument",
            ) from None

    def _program(self, jaxpr: Jaxpr, order: int) -> dict[str, Any]:
        places: dict[Any, int] = {}

        def bind(variables: Any) -> list[int]:
            for v in variables:
                places[v] = len(places)
            return [self.aval(v.aval) for v in variables]

        def atom(a: Any) -> Any:
            return [self.value(a.val), self.aval(a.aval)] if type(a) is Literal else places[a]

        consts, inputs = bind(jaxpr.constvars), bind(jaxpr.invars)
        eqns = []
        for eqn in jaxpr.eqns:
            number, operands = self._primitive(eqn), [atom(a) for a in eqn.invars]
            params = self._params(eqn, order)
            eqns.append([number, operands, bind(eqn.outvars), params, eqn.quiet, self._source(eqn)])
        outputs = [atom(a) for a in jaxpr.outvars]
        return {"constvars": consts, "invars": inputs, "eqns": eqns, "outvars": outputs}

    def aval(self, a: ShapedArray) -> int:
        shape = tuple(f"?{self._unknown(n)}" if isinstance(n, UnknownSize) else int(n) for n in a.shape)
        return _number(self._avals, (dtype_text(a.dtype), shape, bool(a.weak_type)))

    def _unknown(self, n: UnknownSize) -> int:
        key = ("size", id(n))
        if key not in self._numbers:
            self._kept.append(n)
            self._numbers[key] = self._sizes
            self._sizes += 1
        return self._numbers[key]

    def _primitive(self, eqn: JaxprEqn) -> int:
        p: Primitive = eqn.primitive
        if registry.get(p.name) is not p:
            raise errors.ExportError(
                f"the program calls the primitive {p.name}, which is not in the registry",
                where=_place(eqn),
                mend="make it with register=True, in a module that can be imported where the program is loaded",
            )
        if p.effect:
            callback = eqn.params.get("callback")
            what = callback.what if isinstance(callback, HostFunction) else p.name
            raise errors.ExportError(
                f"the program has an effect, {what}, which no file can hold",
                where=_place(eqn),
                mend="leave the effect out of the exported function, or return the values and act on them outside",
            )
        return _number(self._primitives, (p.name, p.module))

    def _source(self, eqn: JaxprEqn) -> int | None:
        source = eqn.source
        if source is None:
            return None
        name = errors.short_name(source.code)
        return _number(self._sources, (os.path.basename(source.file), source.line, name, source.scopes, source.rule))

    # parameters

    def _params(self, eqn: JaxprEqn, order: int) -> dict[str, Any]:
        params = dict(eqn.params)
        if eqn.primitive is custom_jvp_p or eqn.primitive is custom_vjp_p:
            return self._custom_call(eqn, order)
        return {name: self._parameter(eqn, name, value, order) for name, value in params.items()}

    def _parameter(self, eqn: JaxprEqn, name: str, value: Any, order: int) -> Any:
        try:
            return self.value(value, order)
        except NotStorable:
            raise _not_storable(eqn, name, value) from None

    def value(self, x: Any, order: int | None = None) -> Any:
        """A value in JSON: those that refer to a table here, the others as `plain_value` has them."""
        if isinstance(x, ClosedJaxpr):
            return ["program", self.closed(x, order)]
        if isinstance(x, UnknownSize):
            return ["size", self._unknown(x)]
        if isinstance(x, ShapedArray):
            return ["aval", self.aval(x)]
        if type(x) is np.ndarray:
            return ["array", self._array(x)]
        return plain_value(x, lambda y: self.value(y, order))

    def _array(self, x: np.ndarray) -> int:
        key = ("array", id(x))
        if key not in self._numbers:
            try:
                dtype_text(x.dtype)
            except TypeError:
                raise NotStorable from None
            self._kept.append(x)
            self.arrays.append(x)
            self._numbers[key] = len(self.arrays) - 1
        return self._numbers[key]

    # functions with custom rules

    def _custom_call(self, eqn: JaxprEqn, order: int) -> dict[str, Any]:
        """The function's program, and its rules as programs."""
        params = eqn.params
        function = params["call_jaxpr"]
        coded = {"name": params["name"], "call_jaxpr": self.value(function, order)}
        for name, rule in self._rules(eqn, order).items():
            coded[name] = self._rule(rule, order)
        return coded

    def _rules(self, eqn: JaxprEqn, order: int) -> dict[str, Any]:
        params = eqn.params
        names = ("rule",) if eqn.primitive is custom_jvp_p else ("fwd", "bwd")
        given = {name: params[name] for name in names}
        first = given[names[0]]
        if isinstance(first, MissingRule) or not order:
            known = min(self.vjp_order, first.order) if isinstance(first, MissingRule) else self.vjp_order
            return {name: MissingRule(params["name"], known, f.__name__) for name, f in given.items()}
        return given if isinstance(first, ForwardRule | ForwardPass) else self._written(eqn, given)

    def _written(self, eqn: JaxprEqn, given: dict[str, Any]) -> dict[str, Any]:
        function = eqn.params["call_jaxpr"]
        try:
            if "rule" in given:
                return {"rule": forward_rule(function, given["rule"])}
            return dict(zip(("fwd", "bwd"), backward_rules(function, given["fwd"], given["bwd"]), strict=True))
        except Exception as error:  # of whatever kind: the rule is the user's
            raise errors.ExportError(
                f"the derivative rule of {eqn.params['name']} cannot be written down as a program: "
                f"{str(error).splitlines()[0] if str(error) else type(error).__name__}",
                where=_place(eqn),
                mend="write the rule with traceable operations; or serialize(vjp_order=0) stores the function without "
                "it, for values alone",
            ) from error

    def _rule(self, rule: Any, order: int) -> Any:
        if isinstance(rule, MissingRule):
            return ["missing", rule.order, rule.__name__]
        program = self.closed(rule.program, order - 1)
        present = list(rule.present) if isinstance(rule, ForwardRule | BackwardPass) else None
        return ["stored", program, present, rule.__name__]


def _number(table: dict[Any, int], key: Any) -> int:
    return table.setdefault(key, len(table))


def _place(eqn: JaxprEqn) -> Any:
    source = eqn.source
    return None if source is None else source.where


def _not_storable(eqn: JaxprEqn, name: str, value: Any) -> errors.ExportError:
    if isinstance(value, HostFunction):
        return errors.ExportError(
            f"the program calls Python on the host, {value.what}, which no file can hold",
            where=_place(eqn),
            mend="write the function with traceable operations, or make a primitive of it with primitive_from, in a "
            "module that is imported where the program is loaded",
        )
    what = f"the function {getattr(value, '__name__', value)}" if callable(value) else described(value)
    return errors.ExportError(
        f"the parameter {name!r} of {eqn.primitive.name} is or holds what no file can hold: {what}",
        where=_place(eqn),
        mend="make the parameter of numbers, texts, None, dtypes, slices, arrays, programs, tuples or lists of them",
    )
