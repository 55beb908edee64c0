"""At a kink the derivative is a matter of choice, but not any choice: a mean of the derivatives close by.

So 1/2 or 0 or 1 are all right for relu at 0, and 2 is wrong; entries that tie may share the derivative of a maximum in
any way, but may not all have the whole of it. The derivatives close by are taken at random points; they tell the true
range where they are only a few different ones, and nothing is said of results in which many kinks meet.

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
from autodidax.testing.comparison import entry
from autodidax.testing.numeric import Function, pack, widened
from autodidax.testing.point import Point
from autodidax.testing.smoothness import jumps_there

DISTANCE = 1e-5  # of the points close by, in sizes of the inputs
STEP = 1e-8  # for their derivatives, much smaller than that
POINTS = (16, 96)  # close by: at first, and to confirm an accusation
FURTHER = 100.0  # times that distance, the derivatives of a kink are no smaller
BEND = 0.01  # how far the derivatives close by differ where there is a kink, in the size of the largest
FEW = 5  # different derivatives close by
DIRECTIONS = 3  # in which they are compared
ROWS = 3  # outputs at a kink that reverse mode is asked for
MARGIN = 0.05  # how far outside of their range a derivative may lie, in its width


def check_between(point: Point, mode: str) -> None:
    """Compare the derivatives of a point that was run, in some directions, with the derivatives close by, in the
    entries where those differ. Reverse mode is asked for some of these entries, one by one."""
    if not any(t is not None and np.any(t) for t in point.ts):
        return
    f = point.rules.f
    for draw in range(DIRECTIONS):
        ts = dirs.tangents(point.rng, point.xs) if draw else point.ts
        for count in POINTS:
            low, high = range_of_derivatives(f, point.xs, ts, point.rng, count)
            size = np.maximum(np.abs(low), np.abs(high))
            with np.errstate(invalid="ignore"):
                kinks = high - low > BEND * np.max(size[np.isfinite(size)], initial=0)
            got = _derivatives(point, mode, ts, kinks)
            with np.errstate(invalid="ignore"):
                kinks &= np.isfinite(got)
                outside = np.maximum(low - got, got - high)
                wrong = kinks & (outside > MARGIN * (high - low))
            if not np.any(wrong):
                break
        if np.any(wrong) and jumps_there(point):  # the derivatives close by are those of another branch
            return
        if np.any(wrong):
            k = int(np.argmax(np.where(wrong, outside / (high - low + dirs.TINY), 0)))
            point.fail(
                mode, "kink", "the derivative at a kink lies outside of the derivatives close by",
                expected=f"{low[k]:.8g} to {high[k]:.8g}", got=f"{got[k]:.8g}",
                where=f"{int(wrong.sum())} of {wrong.size} entries, most in {entry(k, point.ys)}",
            )  # fmt: skip
            return
        if np.any(kinks):
            point.report.passed(mode)
            point.judged = True


def _derivatives(point: Point, mode: str, ts: list[Any], kinks: np.ndarray) -> np.ndarray:
    """The rule's derivative of each entry along `ts`; in reverse mode of some that are at a kink, nan elsewhere."""
    if mode == "fwd":
        return _real_parts(pack(point.pushed(point.xs, ts)))
    got = np.full(kinks.shape, np.nan)
    for k in np.flatnonzero(kinks[: pack(point.ys).size])[:ROWS]:
        got[k] = dirs.pairing(point.pulled(point.xs, point.unit_cotangent(int(k))), ts)[0]
    return got


def range_of_derivatives(
    f: Function, xs: Sequence[Any], ts: Sequence[Any], rng: np.random.Generator, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest numeric derivative along `ts` among random points close to `xs`, real and imaginary
    parts apart; nan where they are lost in rounding, or are too many different ones."""
    points = widened(xs)
    moves = [None if t is None else dirs.wide(t)[()] for t in ts]
    with np.errstate(all="ignore"):
        size = np.abs(_real_parts(pack(f(list(points)))))
        found = _derivatives_close_by(f, points, moves, rng, count, DISTANCE)
        if not found:
            return np.full(size.shape, np.nan), np.full(size.shape, np.nan)
        ordered = np.sort(found, axis=0)
        low, high = ordered[0], ordered[-1]
        different = 1 + np.sum(np.diff(ordered, axis=0) > 1e-2 * (high - low), axis=0)
        lost = 1e3 * np.finfo(np.float64).eps * size / STEP > BEND * np.maximum(np.abs(low), np.abs(high))
        lost |= different > FEW
        if np.all(lost):
            return np.full(size.shape, np.nan), np.full(size.shape, np.nan)
        far = _derivatives_close_by(f, points, moves, rng, FEW, FURTHER * DISTANCE)
        if len(far):  # near a pole they fall with the distance
            lost |= np.max(np.abs(far), axis=0) < 0.1 * np.maximum(np.abs(low), np.abs(high))
    return np.where(lost, np.nan, low), np.where(lost, np.nan, high)


def _derivatives_close_by(
    f: Function, xs: list[Any], ts: list[Any], rng: np.random.Generator, count: int, distance: float
) -> list[np.ndarray]:
    size = np.shape(_at(f, xs, ts, 0.0))
    found = []
    for _ in range(count):
        close = [x + distance * u if _moves(x, u) else x for x, u in zip(xs, dirs.tangents(rng, xs), strict=True)]
        ends = [_at(f, close, ts, h) for h in (STEP, -STEP)]
        if ends[0].shape == ends[1].shape == size:
            found.append((ends[0] - ends[1]) / (2 * STEP))
    return found


def _moves(x: Any, u: Any) -> bool:
    return u is not None and is_inexact(dtype_of(x))


def _at(f: Function, xs: list[Any], ts: list[Any], h: float) -> np.ndarray:
    """f at xs + h ts; nothing where that lies outside its domain."""
    try:
        return _real_parts(pack(f([x if t is None else x + h * t for x, t in zip(xs, ts, strict=True)])))
    except Exception:
        return np.zeros(0)


def _real_parts(y: np.ndarray) -> np.ndarray:
    return np.concatenate([y.real, y.imag]) if np.iscomplexobj(y) else y
