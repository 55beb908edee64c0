"""Tracebacks as the user wants them: without the package's own frames, which the option `traceback_filtering` shows."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FunctionType, TracebackType
from typing import Any, TypeVar

from autodidax.config import config
from autodidax.core.interpreters import frames
from autodidax.errors import AutodidaxError, is_own_file

F = TypeVar("F", bound=Callable[..., Any])


class UnfilteredTraceback(Exception):
    """The cause of an error in the mode "remove_frames": its traceback holds all frames."""


def entrance(fun: Callable[..., Any]) -> Callable[..., Any]:
    """What calls `fun`, as an entrance from user code: what it raises has a tidy traceback."""
    clean = tidy

    def entry(*args: Any, **kwargs: Any) -> Any:
        try:
            return fun(*args, **kwargs)
        except Exception as error:
            clean(error)
            raise  # a bare raise does not put this frame into the traceback again

    return entry


def boundary(fun: F) -> F:
    """The same function, with its name and documentation, as an `entrance` from user code."""
    entry: Any = entrance(fun)
    # with the globals of the function, so that doctest takes it for one of its module
    found: Any = FunctionType(entry.__code__, fun.__globals__, fun.__name__, None, entry.__closure__)
    found.__dict__.update(fun.__dict__)
    for name in ("__qualname__", "__doc__", "__module__", "__annotations__"):
        setattr(found, name, getattr(fun, name))
    found.__wrapped__ = getattr(fun, "__wrapped__", fun)
    return found


def tidy(error: BaseException) -> None:
    """Take the package's own frames out of the tracebacks of an error, its causes and its members, once it has left the
    outermost transform. All frames are kept in its attribute `unfiltered_traceback`."""
    if frames():
        return
    _tell_origin(error)
    mode = config.traceback_filtering
    if mode == "off":
        return
    if mode == "auto":  # IPython hides frames itself, and shows them when asked to
        mode = "tracebackhide" if hasattr(builtins, "__IPYTHON__") else "quiet_remove_frames"
    for one in _chain(error):
        if mode == "tracebackhide":
            _hide(one.__traceback__)
        else:
            _remove(one)
    if mode == "remove_frames":
        _give_cause(error)


def _tell_origin(error: BaseException) -> None:
    """Note the error of this package that somebody else's code has made another one of, in its last lines."""
    if isinstance(error, AutodidaxError) or getattr(error, "__notes__", None):
        return
    own = [one for one in _chain(error) if isinstance(one, AutodidaxError)]
    if own:
        error.add_note(f"it comes from {type(own[-1]).__name__}: {own[-1]}")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error, what it was raised from, and the members of groups, each once."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen or isinstance(one, UnfilteredTraceback):
            continue
        seen.add(id(one))
        yield one
        waiting += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_own(traceback: TracebackType) -> bool:
    return is_own_file(traceback.tb_frame.f_code.co_filename)


def _linked(entries: list[TracebackType], rest: TracebackType | None) -> TracebackType | None:
    """The entries as one traceback, in front of another."""
    for tb in reversed(entries):
        rest = TracebackType(rest, tb.tb_frame, tb.tb_lasti, tb.tb_lineno)
    return rest


def _remove(error: BaseException) -> None:
    entries = list(_entries(error.__traceback__))
    if not any(map(_is_own, entries)):
        return
    known: Any = getattr(error, "unfiltered_traceback", None)
    head = getattr(error, "_filtered_traceback", None)
    new = entries
    if known is not None and head in entries:  # it was tidied before: what was left then ends the present traceback
        new = entries[: entries.index(head)]
    whole = _linked(new, known if known is not None and (head is None or head in entries) else None)
    error.__traceback__ = _linked([tb for tb in entries if not _is_own(tb)], None)
    with suppress(AttributeError):  # of a class with slots alone
        error.unfiltered_traceback = whole  # type: ignore[attr-defined]  # for the reader
        error._filtered_traceback = error.__traceback__  # type: ignore[attr-defined]  # likewise


def _hide(traceback: TracebackType | None) -> None:
    for tb in _entries(traceback):
        if _is_own(tb):
            tb.tb_frame.f_locals["__tracebackhide__"] = True


def _give_cause(error: BaseException) -> None:
    whole = getattr(error, "unfiltered_traceback", None)
    if whole is None:
        return
    cause = error.__cause__
    if not isinstance(cause, UnfilteredTraceback):
        cause = UnfilteredTraceback("with the frames of autodidax; config.traceback_filtering leaves them out below")
        cause.__cause__, cause.__context__ = error.__cause__, error.__context__
        cause.__suppress_context__ = error.__suppress_context__
        error.__cause__ = cause
    cause.__traceback__ = whole
