"""Under the option `check_side_effects`: what a traced function did to things outside of it, and what happened to the
arrays that its program was written with.

A function under jit, and a body of a staged loop or branch, runs once, while its program is written. What it writes
into captured arrays, lists, dicts, objects and global names happens at that one time; a captured array is copied into
the program. Not seen are writes that leave a value as it was, what cannot be reached from the function by names,
closures, defaults, containers and attributes, printing and files, and that a function under vmap runs once for all
rows.
"""

from __future__ import annotations

import dis
import functools
import warnings
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.transforms.boundary import name_of

_LIBRARIES = ("autodidax", "numpy", "scipy", "builtins")
_EMPTY = object()


class SideEffectWarning(UserWarning):
    """A side effect of a traced function, or a change of what its program was written with."""


class Watch:
    """What a function can reach, as it is before the function is traced."""

    def __init__(self, transform: str, fun: Callable[..., Any]):
        self.transform = transform
        self.fun = fun
        self.arrays = captured_arrays(fun)
        self.holders = [(name, x, _contents(x)) for name, x in _reached(fun) if _contents(x) is not None]
        self.bindings = [(name, get, get()) for name, get in _assigned_names(fun)]

    def report(self) -> None:
        """Warn of what is another than before."""
        for name in _changed(self.arrays):
            self._warn(f"wrote into the captured array {name!r}")
        for name, x, before in self.holders:
            if _contents(x) != before:
                self._warn(f"changed the captured {type(x).__name__} {name!r}")
        for name, get, before in self.bindings:
            if get() is not before:
                self._warn(f"assigned to {name!r}, a name outside of it")

    def _warn(self, happened: str) -> None:
        _warn(
            f"{self.transform} of {name_of(self.fun)}: the function {happened} while its program was written; this "
            "does not happen when the program runs",
            "return the new value and keep it outside; debug.callback and io_callback call Python at every run",
            self.fun,
        )


class Constants:
    """The captured arrays that a program was written with."""

    def __init__(self, fun: Callable[..., Any]):
        self.fun = fun
        self.arrays = captured_arrays(fun)

    def report(self) -> None:
        """Warn of arrays that changed since, once each."""
        changed = _changed(self.arrays)
        self.arrays = [entry for entry in self.arrays if entry[0] not in changed]
        for name in changed:
            _warn(
                f"jit of {name_of(self.fun)}: the captured array {name!r} was changed after the program was written; "
                "it keeps the values that it was written with",
                f"make {name} an argument, or call clear_cache() of the jitted function after a change",
                self.fun,
            )


def captured_arrays(fun: Callable[..., Any]) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Name, array and copy of every array of numbers that a function can reach."""
    return [(n, x, x.copy()) for n, x in _reached(fun) if isinstance(x, np.ndarray) and x.dtype.kind in "biufc"]


def _changed(arrays: list[tuple[str, np.ndarray, np.ndarray]]) -> list[str]:
    return [n for n, x, before in arrays if x.shape != before.shape or x.tobytes() != before.tobytes()]


def _warn(happened: str, mend: str, fun: Any) -> None:
    code = getattr(_plain_function(fun), "__code__", None)
    where = None if code is None else (code.co_filename, code.co_firstlineno, errors.short_name(code))
    text = errors.AutodidaxError(happened, mend=mend, where=where or "")
    place = errors.user_frame() or ("<unknown>", 1, "")
    warnings.warn_explicit(str(text), SideEffectWarning, place[0], place[1])


def _plain_function(fun: Any) -> Any:
    """The function of the user's under wrappers, methods, partial applications and callable objects."""
    while not isinstance(fun, FunctionType) or hasattr(fun, "__wrapped__"):
        inner = getattr(fun, "__wrapped__", None) or getattr(fun, "__func__", None) or getattr(fun, "func", None)
        if inner is None:
            return _call_of(fun)
        fun = inner
    return fun


def _call_of(x: Any) -> FunctionType | None:
    """The method that runs when an object of a class of the user's is called."""
    method = next((vars(cls)["__call__"] for cls in type(x).__mro__ if "__call__" in vars(cls)), None)
    return method if isinstance(method, FunctionType) else None


def _is_library(x: Any) -> bool:
    module = x.__globals__.get("__name__") if isinstance(x, FunctionType) else type(x).__module__
    return str(module).partition(".")[0] in _LIBRARIES


def _reached(fun: Any) -> Iterator[tuple[str, Any]]:
    """Everything with contents that a function can reach, with the name that leads to it."""
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", fun)]
    while waiting:
        name, x = waiting.pop()
        if id(x) in seen or isinstance(x, type | ModuleType | str | bytes | int | float | complex):
            continue
        seen.add(id(x))
        if name:
            yield name, x
        waiting += reversed(list(_parts(name, x)))


def _parts(name: str, x: Any) -> Iterator[tuple[str, Any]]:
    dot = f"{name}." if name else ""
    if isinstance(x, FunctionType):
        if _is_library(x):
            yield from [(name, x.__wrapped__)] if hasattr(x, "__wrapped__") else []
            return
        yield from zip(x.__code__.co_freevars, [_cell(c) for c in x.__closure__ or ()], strict=True)
        yield from ((n, x.__globals__[n]) for n in _named(x.__code__) if n in x.__globals__)
        arguments = x.__code__.co_varnames[: x.__code__.co_argcount]
        yield from zip(arguments[::-1], (x.__defaults__ or ())[::-1], strict=False)
        yield from (x.__kwdefaults__ or {}).items()
    elif isinstance(x, MethodType):
        yield from [(f"{dot}self", x.__self__), (name, x.__func__)]
    elif isinstance(x, functools.partial):
        yield from [(name, x.func), *((f"{dot}args[{k}]", v) for k, v in enumerate(x.args)), *x.keywords.items()]
    elif isinstance(x, list | tuple):
        yield from ((f"{name}[{k}]", v) for k, v in enumerate(x))
    elif isinstance(x, dict):
        yield from ((f"{name}[{k!r}]", v) for k, v in x.items())
    elif not isinstance(x, np.ndarray):
        if hasattr(x, "__wrapped__"):
            yield name, x.__wrapped__
        if not _is_library(x):
            yield from ((f"{dot}{k}", v) for k, v in getattr(x, "__dict__", {}).items())
            call = _call_of(x)
            yield from [] if call is None else [(name, call)]


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY


def _named(code: Any) -> list[str]:
    """The global names that a function and the functions inside it use."""
    inner = [c for c in code.co_consts if hasattr(c, "co_names")]
    return list(dict.fromkeys([*code.co_names, *(n for c in inner for n in _named(c))]))


def _contents(x: Any) -> Any:
    """What a container or an object holds, by identity; None for what has no contents to change."""
    if isinstance(x, list):
        return [id(v) for v in x]
    if isinstance(x, dict):
        return {k: id(v) for k, v in x.items()}
    if isinstance(x, set):
        return set(map(id, x))
    if isinstance(x, FunctionType | MethodType | functools.partial | tuple | np.ndarray) or _is_library(x):
        return None
    attributes = getattr(x, "__dict__", None)
    return {k: id(v) for k, v in attributes.items()} if isinstance(attributes, dict) else None


def _assigned_names(fun: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The names outside of the function that it, or a function that it reaches, assigns to; and how to read them."""
    for f in [_plain_function(fun), *(x for _, x in _reached(fun))]:
        if not isinstance(f, FunctionType) or _is_library(f):
            continue
        cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
        for op in dis.get_instructions(f.__code__):
            if op.opname == "STORE_GLOBAL":
                yield op.argval, functools.partial(f.__globals__.get, op.argval, _EMPTY)
            elif op.opname == "STORE_DEREF" and op.argval in cells:
                yield op.argval, functools.partial(_cell, cells[op.argval])
