"""Comparisons of values: equal bit for bit, to rounding, or as a sum of parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.testing import directions as dirs

ROUNDINGS = 32.0  # tolerance of a comparison to rounding, in machine epsilons


def kind(x: Any) -> str:
    return f"{dtype_of(x)}{list(shape_of(x))}"


def snapshot(xs: Sequence[Any]) -> list[Any]:
    return [x.copy() if type(x) is np.ndarray else x for x in xs]


def same(xs: Sequence[Any], ys: Sequence[Any]) -> bool:
    """Equal bit for bit, but for the payload of nan and the sign of zero."""
    return all(
        (x is None) == (y is None) and (x is None or np.array_equal(x, y, equal_nan=is_inexact(dtype_of(x))))
        for x, y in zip(xs, ys, strict=True)
    )


def filled(ts: Sequence[Any], like: Sequence[Any]) -> list[Any]:
    """Zeros in the place of None for inexact values; None for the others."""
    out: list[Any] = [
        None
        if not is_inexact(dtype_of(x))
        else np.zeros(shape_of(x), dtype_of(x))[()]
        if t is None
        else np.asarray(t)[()]
        for t, x in zip(ts, like, strict=False)
    ]
    return out + [t for t in ts[len(like) :] if t is not None]


def close(got: Any, want: Any, roundings: float = ROUNDINGS, *, elementwise: bool = False, slack: float = 0.0) -> bool:
    """Equal to so many roundings of the largest entry (or of each entry), beside some slack; infinities and nans in
    the same places."""
    got, want = np.asarray(got), np.asarray(want)
    eps = dirs.unit_roundoff([got, want])
    if got.shape != want.shape:
        return False
    if not is_inexact(want.dtype):
        return bool(np.array_equal(got, want))
    finite = np.isfinite(want)
    if not finite.all():
        if not np.array_equal(np.where(finite, 0, got), np.where(finite, 0, want), equal_nan=True):
            return False
        got, want = got[finite], want[finite]
    got, want = dirs.wide(got), dirs.wide(want)
    size = np.abs(want) if elementwise else np.max(np.abs(want), initial=0)
    return bool(np.all(np.abs(got - want) <= roundings * eps * size + slack + dirs.TINY))


def additive(parts: list[Any], whole: Any, slack: float = 0.0) -> bool:
    """Whether the parts add up to the whole, to rounding of the largest of them."""
    total = sum(dirs.wide(p) for p in parts)
    finite = np.isfinite(total) & np.isfinite(whole)
    size = sum(np.abs(dirs.wide(p)) for p in parts)
    bound = ROUNDINGS * dirs.unit_roundoff([whole]) * (size + 0.1 * np.max(np.where(finite, size, 0), initial=0))
    bound = bound + slack + dirs.TINY
    return bool(np.all((np.abs(total - dirs.wide(whole)) <= bound)[finite]))


def entry(k: int, values: Sequence[Any], name: Any = "output {}".format) -> str:
    """Where entry k of the inexact values, laid end to end, stands: "output 0 [3, 1]"."""
    for i, y in enumerate(values):
        if y is not None and is_inexact(dtype_of(y)):
            size = int(np.size(y))
            if k < size:
                index = [int(j) for j in np.unravel_index(k, shape_of(y))]
                return f"{name(i)} {index}" if index else str(name(i))
            k -= size
    return f"entry {k}"
