"""Arrays written with brackets, and index arrays for the points of a grid: r_, c_, ix_."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, get_aval, shape_of
from autodidax.numpy.creation import linspace
from autodidax.numpy.dispatch import holds_tracer, numpy_function, operand
from autodidax.numpy.selecting import known
from autodidax.numpy.shaping import ravel
from autodidax.primitives.convert import astype
from autodidax.primitives.shape import concatenate, reshape


class Joiner:
    """`r_[...]` or `c_[...]`: NumPy's own on plain entries; traced ones are joined as NumPy joins plain ones.

    Slices stand for ranges, and a string at the front names axes, as in NumPy. Source: numpy.r_, numpy.c_.
    """

    __slots__ = ("name", "plain")

    def __init__(self, name: str, plain: Any):
        self.name, self.plain = name, plain

    def __repr__(self) -> str:
        return f"autodidax.numpy.{self.name}"

    def __len__(self) -> int:
        return 0

    def __getitem__(self, key: Any) -> Any:
        entries = key if isinstance(key, tuple) else (key,)
        if not any(holds_tracer([e.start, e.stop, e.step] if isinstance(e, slice) else e) for e in entries):
            return self.plain[key]
        directive = entries[:1] if isinstance(entries[0], str) else ()
        if directive and directive[0] in ("r", "c"):
            raise errors.UnsupportedError(
                f"{self.name}[{directive[0]!r}, ...] makes matrices, which traced values cannot be",
                mend="leave the letter away, and reshape the result",
            )
        values = [self._range(e) if isinstance(e, slice) else operand(e) for e in entries[len(directive) :]]
        # NumPy joins numbers that stand for the entries; where they land, the entries go
        numbers: list[Any] = []
        total = 0
        for value in values:
            shape, size = shape_of(value), get_aval(value).size
            numbers.append(np.arange(total, total + size).reshape(shape) if shape else total)
            total += size
        places = self.plain[(*directive, *numbers)]
        dtype = self.plain[(*directive, *map(_stand_in, values))].dtype
        return concatenate(*[astype(ravel(value), dtype) for value in values], axis=0)[places]

    def _range(self, s: slice) -> Any:
        if not holds_tracer([s.start, s.stop, s.step]):
            return self.plain[s].ravel()
        if isinstance(s.step, complex):
            return linspace(0 if s.start is None else s.start, s.stop, int(abs(s.step)))
        raise errors.ConcretizationTypeError(
            f"{self.name}: the size of a range would depend on the values of traced bounds",
            mend="write start + step * np.arange(n) with a known n, or start:stop:nj for n points",
        )


def _stand_in(value: Any) -> Any:
    aval = get_aval(value)
    return aval.dtype.type(1).item() if aval.weak_type else np.ones(aval.shape, aval.dtype)[()]


@numpy_function
def ix_(*args: Any) -> tuple[Any, ...]:
    """Index arrays for the points of a grid: vectors of integers, each along an axis of its own.

    Source: numpy.ix_.
    """
    out = []
    for k, arg in enumerate(args):
        index = operand(arg)
        if len(shape_of(index)) != 1:
            raise errors.ShapeError(f"ix_: an index of shape {shape_of(index)}", mend="give vectors of integers")
        if dtype_of(index).kind == "b":
            index = np.flatnonzero(known("ix_", index))
        size = shape_of(index)[0]
        if not isinstance(index, Tracer) and size == 0:
            index = index.astype(np.intp)
        out.append(reshape(index, shape=(*(1,) * k, size, *(1,) * (len(args) - k - 1))))
    return tuple(out)


r_ = Joiner("r_", np.r_)
c_ = Joiner("c_", np.c_)

__all__ = ["c_", "ix_", "r_"]
