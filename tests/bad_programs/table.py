"""The form of the tables: a program stands under the exact error that it gets.

A text is written as Python shows it, the name of the class first. A line that is indented by four spaces or more goes
on with the line before it. Where the error names the line that is marked with `# <- here`, the text says `(here)`.
"""

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

MARK = "# <- here"


class Program(NamedTuple):
    """A program that is wrong, the builtin exception that a NumPy user would catch, and the text of the error."""

    run: Callable[[], Any]
    builtin: type[Exception]
    text: str


PROGRAMS: dict[str, Program] = {}


def bad(builtin: type[Exception], text: str = "") -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Put a program into the table, under its own name."""

    def register(run: Callable[[], Any]) -> Callable[[], Any]:
        name = f"{run.__module__.rpartition('.')[2].removeprefix('bad_')}: {run.__name__.replace('_', ' ')}"
        if name in PROGRAMS:
            raise ValueError(f"two programs are called {name!r}")
        PROGRAMS[name] = Program(run, builtin, one_line_each(text))
        return run

    return register


def one_line_each(text: str) -> str:
    """A text with its wrapped lines joined, and without the margin of the source."""
    lines: list[str] = []
    for line in inspect.cleandoc(text).splitlines():
        if line.startswith("    ") and lines:
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return "\n".join(lines)


def shown(error: BaseException, run: Callable[[], Any]) -> str:
    """The text of an error as the tables have it: marked lines are `(here)`."""
    source = inspect.getsourcefile(run) or ""
    with open(source) as file:
        lines = file.read().splitlines()

    def place(match: re.Match[str]) -> str:
        return "(here)" if MARK in lines[int(match[1]) - 1] else match[0]

    own = re.escape(source.replace("\\", "/").rpartition("/")[2])
    return re.sub(rf"\({own}:(\d+)\)", place, f"{type(error).__name__}: {error}")
