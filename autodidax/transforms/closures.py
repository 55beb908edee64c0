"""Closures as inputs: the tracers that a function reaches, and the function rebuilt over other values in their place."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator, Sequence
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from autodidax.core.interpreters import Tracer

_PLAIN = (int, float, complex, str, bytes, bool, type(None), np.ndarray, np.generic, type, ModuleType)
_DEPTH = 8
_WIDEST = 256  # longer containers are not searched


def reached_tracers(x: Any) -> Iterator[Tracer]:
    """The tracers that can be reached from a function (or any value) through closures, defaults, global names,
    containers and attributes, searched to a bounded depth and width."""
    return _search(x, set(), _DEPTH)


def reaches_tracer(x: Any) -> bool:
    """Whether any tracer can be reached from a function (or any value)."""
    return next(reached_tracers(x), None) is not None


def _search(x: Any, seen: set[int], depth: int) -> Iterator[Tracer]:
    if isinstance(x, Tracer):
        yield x
    elif not isinstance(x, _PLAIN) and depth > 0 and id(x) not in seen:
        seen.add(id(x))
        for part in _parts(x):
            yield from _search(part, seen, depth - 1)


def _parts(x: Any) -> list[Any]:
    if isinstance(x, FunctionType):
        cells = [c.cell_contents for c in x.__closure__ or () if not _is_empty(c)]
        return [*cells, *_named(x).values(), *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
    if isinstance(x, MethodType):
        return [x.__self__, x.__func__]
    if isinstance(x, functools.partial):
        return [x.func, *x.args, *x.keywords.values()]
    if isinstance(x, list | tuple | set | frozenset):
        return list(x) if len(x) <= _WIDEST else []
    attributes = x if isinstance(x, dict) else getattr(x, "__dict__", None)
    return list(attributes.values()) if isinstance(attributes, dict) and len(attributes) <= _WIDEST else []


def _is_empty(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018  # reading it is the test
    except ValueError:
        return True
    return False


def _named(f: FunctionType) -> dict[str, Any]:
    """The globals that a function names and that may hold a tracer."""
    namespace = f.__globals__
    return {n: namespace[n] for n in f.__code__.co_names if isinstance(namespace.get(n), Tracer | list | dict | tuple)}


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
            twin = copy.copy(x)
            self.done[id(x)] = twin
            twin.update((k, self.copy_of(v)) for k, v in x.items())
            return twin
        if isinstance(x, list):
            twin = copy.copy(x)
            self.done[id(x)] = twin
            twin[:] = [self.copy_of(v) for v in x]
            return twin
        if isinstance(x, tuple):
            items = [self.copy_of(v) for v in x]
            return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
        twin = copy.copy(x)
        self.done[id(x)] = twin
        for k, v in list(vars(twin).items()):
            object.__setattr__(twin, k, self.copy_of(v))
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
