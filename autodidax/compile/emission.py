"""Text of emitted programs: names of values, constants, parameters and implementations."""

from __future__ import annotations

import keyword
import operator
from typing import Any

import numpy as np

from autodidax.core.jaxpr import Literal

INFIX = {operator.add: "+", operator.sub: "-", operator.mul: "*"}
PREFIX = {operator.neg: "-"}


class Names:
    """Names of one emitted module: of its values, and of what it uses from outside."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {}
        self.values: dict[Any, str] = {}
        self.count = 0
        self._functions: dict[Any, str] = {}

    def fresh(self, v: Any) -> str:
        self.count += 1
        name = self.values[v] = f"v{self.count}_"
        return name

    def function(self, stem: str, value: Any, key: Any = None) -> str:
        """A name for a function or type that the program uses: one name for one value, or for all of one key."""
        key = (type(value), value) if key is None else key
        name = self._functions.get(key)
        if name is None:
            name = stem if stem.isidentifier() and not keyword.iskeyword(stem) else "f"
            while name in self.namespace:
                name += "_"
            self.namespace[name] = value
            self._functions[key] = name
        return name

    def implementation(self, p: Any) -> str:
        return self.function(p.name, p.impl, p)

    def atom(self, a: Any) -> str:
        if type(a) is not Literal:
            return self.values[a]
        value = a.val
        if type(value) in (int, bool) or (type(value) is float and value - value == 0):
            return f"({value!r})" if value < 0 or repr(value)[0] == "-" else repr(value)
        return self.held("c", value)

    def held(self, stem: str, value: Any) -> str:
        """A name for a value that the program holds."""
        name = f"{stem}{len(self.namespace)}_"
        self.namespace[name] = value
        return name

    def parameter(self, stem: str, value: Any) -> str:
        if value is None or type(value) in (int, bool, str) or _is_plain(value):
            return repr(value)
        if type(value) is np.dtype:
            return self.function(value.name, value)
        return self.held(stem, value)

    def call(self, eqn: Any) -> str:
        """An equation as an expression."""
        p = eqn.primitive
        args = [self.atom(a) for a in eqn.invars]
        if not p.higher_order:
            sign = INFIX.get(p.impl)
            if sign is not None:
                return f"{args[0]} {sign} {args[1]}"
            if p.impl in PREFIX:
                return f"{PREFIX[p.impl]}{args[0]}"
        args += [f"{k}={self.parameter(k, v)}" for k, v in eqn.params.items()]
        return f"{self.implementation(p)}({', '.join(args)})"


def _is_plain(value: Any) -> bool:
    return type(value) is tuple and all(type(i) is int for i in value)
