"""From a jaxpr to a Python function of plain arrays: one readable NumPy program.

Backends are chosen by name behind one small interface: a function from a closed jaxpr to a `Compiled`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodidax import errors
from autodidax.core.jaxpr import ClosedJaxpr

Backend = Callable[[ClosedJaxpr], "Compiled"]
backends: dict[str, Backend] = {}


class Compiled:
    """A compiled program: call it with the flat inputs; it returns the list of outputs."""

    __slots__ = ("call", "_source")

    def __init__(self, call: Callable[..., list[Any]], source: str):
        self.call = call
        self._source = source

    def __call__(self, *args: Any) -> list[Any]:
        return self.call(*args)

    def source(self) -> str:
        """The text of the program."""
        return self._source


interpreter: Callable[[ClosedJaxpr, Compiled], Compiled] | None = None  # what runs in place of a compiled program


def compiled(closed: ClosedJaxpr, backend: str = "numpy") -> Compiled:
    """The compiled form of a program, made once and kept on it."""
    key = ("compiled", backend)
    found = closed.derived.get(key)
    if found is None:
        if backend not in backends:
            raise errors.ArgumentError(f"no backend named {backend!r}", mend=f"choose one of {sorted(backends)}")
        found = closed.derived[key] = backends[backend](closed)
    return found if interpreter is None else interpreter(closed, found)
