"""A smaller case of a failure: arguments with fewer entries and rounder values at which the same thing is wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autodidax.core.avals import PYTHON_SCALARS, is_inexact
from autodidax.core.interpreters import dtype_of, shape_of

LENGTHS = (1, 2)  # that axes are cut to, the first that still fails
DIFFERENT = 6  # lengths of axes up to which each is cut alone

Values = list[Any]


def smallest(xs: Sequence[Any], fails: Callable[[Values], bool]) -> Values | None:
    """The smallest values found, from `xs` on, at which `fails` is true; None where it is not true at `xs`.

    Axes of all arrays are cut at once, then those of one length at a time, since they belong together; then values
    are rounded to one decimal. What `fails` raises means no.
    """
    best = list(xs)
    if not _fails(fails, best):
        return None
    for axes_of in (None, *_lengths(best)[:DIFFERENT]):
        for values in _shorter(best, axes_of):
            if _fails(fails, values):
                best = values
                break
    rounded = [_rounded(x) for x in best]
    return rounded if _fails(fails, rounded) else best


def _fails(fails: Callable[[Values], bool], values: Values) -> bool:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return fails(values)
    except Exception:  # smaller arguments need not be any that the function takes
        return False


def _lengths(xs: Values) -> list[int]:
    return sorted({n for x in xs for n in shape_of(x) if n > 1}, reverse=True)


def _shorter(xs: Values, axes_of: int | None) -> Iterator[Values]:
    """The values with the axes of one length cut, or all of them, to each of LENGTHS."""
    for n in LENGTHS:
        cut = lambda size, n=n: n if size > n and axes_of in (None, size) else size
        shapes = [tuple(cut(size) for size in shape_of(x)) for x in xs]
        if any(shape != shape_of(x) for shape, x in zip(shapes, xs, strict=True)):
            yield [np.array(x[tuple(slice(size) for size in shape)]) if shape != shape_of(x) else x
                   for shape, x in zip(shapes, xs, strict=True)]  # fmt: skip


def _rounded(x: Any) -> Any:
    if not is_inexact(dtype_of(x)):
        return x
    rounded = np.round(np.asarray(x), 1)
    return type(x)(rounded[()]) if type(x) in PYTHON_SCALARS else rounded[()] if rounded.ndim == 0 else rounded
