"""The rows that a loop stacks, also where their length is only known at run time; and the choice of rows by vmap."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax.core.avals import ShapedArray, UnknownSize
from autodidax.core.interpreters import shape_of
from autodidax.primitives.reductions import argmax
from autodidax.primitives.select import where
from autodidax.primitives.shape import reshape


def stack_rows(rows: list[Any], aval: ShapedArray) -> np.ndarray:
    """Rows in one array. Rows whose own length is only known at run time (the residuals of a loop inside a loop) are
    filled up with zeros, which the inner loop does not read: it knows the trip of each row."""
    shapes = {np.shape(r) for r in rows}
    if len(shapes) == 1:
        return np.array(rows, aval.dtype)
    if not rows:
        return np.zeros((0, *aval.shape), aval.dtype)
    out = np.zeros((len(rows), *map(max, zip(*shapes, strict=True))), aval.dtype)
    for place, r in zip(out, rows, strict=True):
        place[tuple(slice(m) for m in r.shape)] = r
    return out


class Rows:
    """The stacked rows of one output of a loop, put in any order."""

    __slots__ = ("aval", "array", "rows")

    def __init__(self, length: int, aval: ShapedArray):
        self.aval = aval
        ragged = any(isinstance(m, UnknownSize) for m in aval.shape)
        self.rows: list[Any] = [None] * length if ragged else []
        self.array = None if ragged else np.empty((length, *aval.shape), aval.dtype)

    def put(self, i: int, row: Any) -> None:
        if self.array is not None:
            self.array[i] = row
        else:
            self.rows[i] = row

    def stacked(self, n: int) -> np.ndarray:
        """All rows, zeros behind the first n."""
        if self.array is not None:
            self.array[n:] = 0
            return self.array
        filled = stack_rows(self.rows[:n], self.aval)
        if n == len(self.rows):
            return filled
        out = np.zeros((len(self.rows), *filled.shape[1:]), self.aval.dtype)
        out[:n] = filled
        return out


def rows_like(taken: Any, size: int) -> Any:
    """For each row its own number if it is taken, else that of the first row that is."""
    if size == 0:
        return np.arange(0)
    return where(taken, np.arange(size), argmax(taken, axis=0))


def select_rows(taken: Any, x: Any, y: Any) -> Any:
    """Rows of x where taken, else of y."""
    rank = len(shape_of(x))
    return where(reshape(taken, shape=(*shape_of(taken), *(1,) * (rank - 1))), x, y)
