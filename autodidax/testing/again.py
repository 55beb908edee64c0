"""How to run a failing check again: a call that can be pasted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from autodidax import tree

if TYPE_CHECKING:
    from autodidax.testing.point import Point

SHOWN = 12  # entries of the arguments up to which they are written out


@dataclass
class Again:
    """A call of one of the checks, told with the point and mode at which it failed."""

    check: str
    names: tuple[str, ...]
    args: tuple[Any, ...]
    seed: int
    options: dict[str, Any] = field(default_factory=dict)
    overrides: dict[str, float] = field(default_factory=dict)
    points: Any = "given"  # that were asked for

    def __call__(self, point: Point, mode: str) -> str:
        all_asked = point.after_others or point.trying_special
        points = self.points if all_asked else (point.beside,) if point.beside else "given"
        return self._call(self.args, point.order, point.modes, points)

    def at(self, xs: list[Any], modes: Sequence[str]) -> str:
        """The call at other arguments, given as flat values, and there alone."""
        return self._call(tree.structure(self.args).unflatten(xs), 1, modes, "given")

    def _call(self, args: tuple[Any, ...], order: int, modes: Sequence[str], points: Any) -> str:
        options = {
            k: v
            for k, v in self.options.items()
            if (v is True and k == "strict") or v not in (1, True, "pullback", "transpose")
        }
        if self.check == "check_grads":
            options = {"order": order, "modes": tuple(modes), **options}
        options |= {"seed": self.seed, "points": points, **self.overrides}
        given = ", ".join(f"{k}={v!r}" for k, v in options.items())
        return f"{self.check}({', '.join(self.names)}, {written(args)}, {given})"


def source_name(function: Any, default: str) -> str:
    """A function's name where source may say it; a default for lambdas and for functions within functions."""
    name = getattr(function, "__name__", default)
    return name if name.isidentifier() else default


def written(args: tuple[Any, ...]) -> str:
    """The arguments as Python source, or the word args where they are too many."""
    if sum(int(np.size(x)) for x in tree.leaves(args)) > SHOWN:
        return "args"
    return repr(tree.map(_Source, args))


class _Source:
    """A value whose repr is source that makes it again."""

    def __init__(self, x: Any):
        self.x = x

    def __repr__(self) -> str:
        x = self.x
        if type(x) in (bool, int) or (type(x) in (float, complex) and np.isfinite(x)):
            return repr(x)
        if type(x) in (float, complex):
            return f'{type(x).__name__}("{str(x).strip("()")}")'
        a = np.asarray(x)
        if not a.size:
            return f"np.zeros({a.shape!r}, np.{a.dtype.name})"
        if not np.all(np.isfinite(a)):
            text = repr(a.tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
            if a.dtype.kind == "c":
                flat = ", ".join(f'complex("{str(complex(v)).strip("()")}")' for v in a.ravel())
                return f"np.array([{flat}], np.{a.dtype.name}).reshape({a.shape!r})"
            return f"np.array({text}, np.{a.dtype.name})"
        dtype = "" if a.dtype in (np.float64, np.complex128, np.int64, np.bool_) else f", np.{a.dtype.name}"
        return f"np.array({a.tolist()!r}{dtype})"
