"""Closures as inputs: the tracers that a function reaches, and the function rebuilt over other values."""

from __future__ import annotations

import copy
import functools
from collections import deque
from collections.abc import Iterator, Sequence
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from autodidax.core.interpreters import Tracer

_PLAIN = {
    int, float, complex, str, bytes, bool, type(None), np.ndarray, type, ModuleType, BuiltinFunctionType, np.ufunc,
    range, slice, CodeType, *np.sctypeDict.values(),
}  # fmt: skip
_LIBRARIES = ("autodidax", "numpy", "scipy")  # the globals of their functions hold no tracer


def reached_tracers(x: Any) -> Iterator[Tracer]:
    """The tracers that can be reached from a function (or any value) through closures, defaults, global names,
    containers and attributes."""
    seen: set[int] = set()
    waiting = [x]
    while waiting:
        x = waiting.pop()
        if isinstance(x, Tracer):
            yield x
        elif type(x) not in _PLAIN and id(x) not in seen:
            seen.add(id(x))
            waiting += reversed(_parts(x))


def reaches_tracer(x: Any) -> bool:
    """Whether any tracer can be reached from a function (or any value)."""
    return next(reached_tracers(x), None) is not None


def _parts(x: Any) -> list[Any]:
    """What a value holds, as far as a tracer may be there."""
    if isinstance(x, FunctionType):
        own = [*_cells(x), *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values(), *x.__dict__.values()]
        return own + list(_named(x).values())
    if isinstance(x, MethodType):
        return [x.__self__, x.__func__]
    if isinstance(x, functools.partial):
        return [x.func, *x.args, *x.keywords.values()]
    if isinstance(x, list | tuple | set | frozenset | deque):
        return _of_interest(x)
    if isinstance(x, dict):
        return _of_interest(x.values())
    if isinstance(x, type | ModuleType | np.ndarray | np.generic):
        return []
    attributes = getattr(x, "__dict__", None)
    own = _of_interest(attributes.values()) if isinstance(attributes, dict) else []
    return own + [getattr(x, name) for name in _slots(x)]


def _of_interest(values: Any) -> list[Any]:
    """The values that are not plain; long lists of numbers are passed over at the speed of C."""
    return [] if set(map(type, values)) <= _PLAIN else [v for v in values if type(v) not in _PLAIN]


def _slots(x: Any) -> list[str]:
    """The filled slots of an object."""
    names: list[str] = []
    for cls in type(x).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        names += (slots,) if isinstance(slots, str) else slots
    return [n for n in names if n not in ("__dict__", "__weakref__") and hasattr(x, n)]


def _cells(f: FunctionType) -> list[Any]:
    return [c.cell_contents for c in f.__closure__ or () if not _is_empty(c)]


def _is_empty(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018  # reading it is the test
    except ValueError:
        return True
    return False


def _named(f: FunctionType) -> dict[str, Any]:
    """The globals that a function and the functions inside it name, and that may hold a tracer."""
    namespace = f.__globals__
    if str(namespace.get("__name__")).partition(".")[0] in _LIBRARIES:
        return {}
    names = {n for code in _codes(f.__code__) for n in code.co_names if n in namespace}
    return {n: namespace[n] for n in names if type(namespace[n]) not in _PLAIN}


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def rebuilt(x: Any, tracers: Sequence[Tracer], values: Sequence[Any]) -> Any:
    """A copy of a function (or value) that reaches `values` where it reached `tracers`; parts that reach none are
    shared."""
    return _Rebuild({id(t): v for t, v in zip(tracers, values, strict=True)}).copy_of(x)


class _Rebuild:
    def __init__(self, places: dict[int, Any]):
        self.places = places
        self.done: dict[int, Any] = {}

    def copy_of(self, x: Any) -> Any:
        if id(x) in self.places:
            return self.places[id(x)]
        if id(x) in self.done:
            return self.done[id(x)]
        if not any(id(t) in self.places for t in reached_tracers(x)):
            return x
        if isinstance(x, FunctionType):
            return self._function(x)
        if isinstance(x, MethodType):
            return MethodType(self.copy_of(x.__func__), self.copy_of(x.__self__))
        if isinstance(x, functools.partial):
            keywords = {k: self.copy_of(v) for k, v in x.keywords.items()}
            return functools.partial(self.copy_of(x.func), *map(self.copy_of, x.args), **keywords)
        if isinstance(x, dict):
            mapping = copy.copy(x)
            self.done[id(x)] = mapping
            mapping.update((k, self.copy_of(v)) for k, v in x.items())
            return mapping
        if isinstance(x, list):
            items = copy.copy(x)
            self.done[id(x)] = items
            items[:] = [self.copy_of(v) for v in x]
            return items
        if isinstance(x, tuple):
            entries = [self.copy_of(v) for v in x]
            return type(x)(*entries) if hasattr(x, "_fields") else tuple(entries)
        twin = copy.copy(x)
        self.done[id(x)] = twin
        for name in [*getattr(x, "__dict__", ()), *_slots(x)]:
            object.__setattr__(twin, name, self.copy_of(getattr(x, name)))
        return twin

    def _function(self, f: FunctionType) -> FunctionType:
        cells = tuple(CellType() for _ in f.__closure__ or ())
        changed = {n: v for n, v in _named(f).items() if next(reached_tracers(v), None) is not None}
        namespace = f.__globals__ | {n: self.copy_of(v) for n, v in changed.items()} if changed else f.__globals__
        twin = FunctionType(f.__code__, namespace, f.__name__, None, cells or None)
        self.done[id(f)] = twin
        for new, old in zip(cells, f.__closure__ or (), strict=True):
            if not _is_empty(old):
                new.cell_contents = self.copy_of(old.cell_contents)
        twin.__defaults__ = tuple(map(self.copy_of, f.__defaults__)) if f.__defaults__ else f.__defaults__
        twin.__kwdefaults__ = {k: self.copy_of(v) for k, v in (f.__kwdefaults__ or {}).items()} or None
        twin.__dict__.update((k, self.copy_of(v)) for k, v in f.__dict__.items())
        twin.__qualname__ = f.__qualname__
        return twin
