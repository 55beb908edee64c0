"""At a kink the derivative is a matter of choice, but not any choice: a mean of the derivatives close by.

So 1/2 or 0 or 1 are all right for relu at 0, and 2 is wrong; entries that tie may share the derivative of a maximum in
any way, but may not all have the whole of it. The derivatives close by are taken at random points, so their range is
a guess at the true one, and what lies a little outside of it passes.

Source: Clarke, "Optimization and Nonsmooth Analysis" (1983), theorem 2.5.1: the generalized gradient of a locally
Lipschitz function is the convex hull of the limits of gradients close by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of
from autodidax.testing import directions as dirs
from autodidax.testing.layers import Point
from autodidax.testing.numeric import Function, pack, widened

DISTANCE = 1e-5  # of the points close by, in sizes of the inputs
STEP = 1e-8  # for their derivatives, much smaller than that
POINTS = 24
BEND = 0.01  # how far the derivatives close by differ where there is a kink, in the size of the largest
MARGIN = 0.25  # how far outside of their range a derivative may lie, in its width


def check_between(point: Point) -> None:
    """Compare the tangent of a point that was run with the derivatives close by, in the entries where those differ."""
    if point.tys is None or not any(t is not None and np.any(t) for t in point.ts):
        return
    low, high = range_of_derivatives(point.rules.f, point.xs, point.ts, point.rng)
    got = _real_parts(pack(point.tys))
    size = np.maximum(np.abs(low), np.abs(high))
    with np.errstate(invalid="ignore"):
        largest = np.max(size[np.isfinite(size)], initial=0)
        kink = np.isfinite(size) & np.isfinite(got) & (high - low > BEND * largest)
        outside = np.maximum(low - got, got - high)
        wrong = kink & (outside > MARGIN * (high - low))
    if np.any(wrong):
        k = int(np.argmax(np.where(wrong, outside / (high - low + 1e-300), 0)))
        point.fail(
            "fwd", "kink", "the tangent at a kink lies outside of the derivatives close by",
            expected=f"{low[k]:.8g} to {high[k]:.8g}", got=f"{got[k]:.8g}",
            where=f"{int(wrong.sum())} of {wrong.size} entries, most in entry {k}",
        )  # fmt: skip
    elif np.any(kink):
        point.report.passed("fwd")


def range_of_derivatives(
    f: Function, xs: Sequence[Any], ts: Sequence[Any], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest numeric derivative along `ts` among random points close to `xs`, real and imaginary
    parts apart; nan where they are lost in rounding."""
    points = widened(xs)
    moves = [None if t is None else dirs.wide(t)[()] for t in ts]
    found = []
    with np.errstate(all="ignore"):
        size = np.abs(_real_parts(pack(f(list(points)))))
        for _ in range(POINTS):
            close = [
                x + DISTANCE * u if _moves(x, u) else x for x, u in zip(points, dirs.tangents(rng, points), strict=True)
            ]
            ends = [_at(f, close, moves, h) for h in (STEP, -STEP)]
            if ends[0].shape == ends[1].shape == size.shape:
                found.append((ends[0] - ends[1]) / (2 * STEP))
        if not found:
            return np.full(size.shape, np.nan), np.full(size.shape, np.nan)
        low, high = np.min(found, axis=0), np.max(found, axis=0)
        lost = 1e3 * np.finfo(np.float64).eps * size / STEP > BEND * np.maximum(np.abs(low), np.abs(high))
    return np.where(lost, np.nan, low), np.where(lost, np.nan, high)


def _moves(x: Any, u: Any) -> bool:
    return u is not None and is_inexact(dtype_of(x))


def _at(f: Function, xs: list[Any], ts: list[Any], h: float) -> np.ndarray:
    """f at xs + h ts; nothing where that lies outside its domain."""
    try:
        return _real_parts(pack(f([x if t is None else x + h * t for x, t in zip(xs, ts, strict=True)])))
    except (ArithmeticError, ValueError):
        return np.zeros(0)


def _real_parts(y: np.ndarray) -> np.ndarray:
    return np.concatenate([y.real, y.imag]) if np.iscomplexobj(y) else y
