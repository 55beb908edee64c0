"""Where an operation comes from: the user's line, the named scopes around it, the operation whose rule it belongs to.

A line is kept as a code object and a position in it, and looked up when somebody asks.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from contextvars import ContextVar
from types import CodeType, FrameType
from typing import Any, NamedTuple

from autodidax import errors

Mark = tuple[CodeType, int, tuple[str, ...], str]  # the fields of a Source, as they are taken down
noting = False  # whether records note lines in eager runs too; in staged ones they always do
given: ContextVar[tuple[Mark | None, str] | None] = ContextVar("given_source", default=None)
"""Mark and name of the equation or record node that is being processed: what is staged now belongs to it."""
_scopes: ContextVar[tuple[str, ...]] = ContextVar("scopes", default=())
_user_files: dict[str, bool] = {}


class Source(NamedTuple):
    """Where an equation comes from."""

    code: CodeType
    position: int  # in the bytecode
    scopes: tuple[str, ...] = ()
    rule: str = ""  # the primitive whose derivative the equation is a part of

    @property
    def file(self) -> str:
        return self.code.co_filename

    @property
    def line(self) -> int:
        for start, stop, line in self.code.co_lines():
            if start <= self.position < stop and line is not None:
                return line
        return self.code.co_firstlineno

    @property
    def function(self) -> str:
        """The user's function, with the named scopes behind it: loss/attention."""
        return "/".join((errors.short_name(self.code), *self.scopes))

    @property
    def where(self) -> tuple[str, int, str]:
        """As `errors.user_frame` gives it."""
        return self.file, self.line, self.function

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line} ({self.function})"


def capture(depth: int = 1, outer_scopes: int = 0) -> Mark | None:
    """The innermost line of user code on the stack, from `depth` frames above on; `outer_scopes`: how many of the open
    scopes are not its own."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        code = frame.f_code
        is_user = _user_files.get(code.co_filename)
        if is_user is None:
            is_user = _judge(frame)
        if is_user:
            scopes = _scopes.get()
            return code, frame.f_lasti, scopes[outer_scopes:] if scopes else (), ""
        frame = frame.f_back
    return None


def _judge(frame: FrameType) -> bool:
    is_user = errors.is_user_code(frame)
    name = frame.f_code.co_filename
    if not name.startswith("<"):  # such a name may be that of several modules
        _user_files[name] = is_user
    return is_user


def staged_mark(primitive: str, quiet: bool, outer_scopes: int) -> Mark | None:
    """The mark of an operation that a staging trace writes down: that of the given equation, else the user's line."""
    attribution = given.get()
    if attribution is None:
        return capture(5, outer_scopes)  # below are a primitive, its trace and this function
    mark, name = attribution
    if mark is not None and not mark[3] and (quiet or name != primitive):
        return (*mark[:3], name)
    return mark


def present_mark() -> Mark | None:
    """The mark of an operation that runs at once."""
    attribution = given.get()
    return capture(3) if attribution is None else attribution[0]


def scopes() -> tuple[str, ...]:
    """The names of the open scopes, outermost first."""
    return _scopes.get()


def enter_scopes(names: tuple[str, ...]) -> Any:
    """Open scopes within the present ones; `leave_scopes` takes what it returns."""
    return _scopes.set((*_scopes.get(), *names))


def leave_scopes(token: Any) -> None:
    _scopes.reset(token)


def leave_with(error: BaseException) -> None:
    """Have an error that leaves its scopes remember them, for a message that is made of it later."""
    with suppress(AttributeError):  # of a class with slots alone
        error.scopes_left = _scopes.get()  # type: ignore[attr-defined]  # see errors.user_frame_of


def evaluated_place() -> tuple[str, int, str] | None:
    """The user's line of the equation or record node that is being processed."""
    attribution = given.get()
    return None if attribution is None or attribution[0] is None else Source._make(attribution[0]).where


errors.active_scopes = scopes
errors.evaluated_place = evaluated_place
