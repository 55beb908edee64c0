"""At a kink the derivative is a matter of choice, but not any choice: a mean of the derivatives close by.

So 1/2 or 0 or 1 are all right for relu at 0, and 2 is wrong; entries that tie may share the derivative of a maximum in
any way, but may not all have the whole of it. The derivatives close by are taken at random points; they tell the true
range where they are only a few different ones. Where many kinks meet, a few of the inputs are moved at a time.
What is not finite is wrong where the derivatives close by are bounded.

Source: Clarke, "Optimization and Nonsmooth Analysis" (1983), theorem 2.5.1: the generalized gradient of a locally
Lipschitz function is the convex hull of the limits of gradients close by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of
from autodidax.testing import directions as dirs
from autodidax.testing.comparison import entry
from autodidax.testing.numeric import EPS, Function, pack, widened
from autodidax.testing.point import Point
from autodidax.testing.smoothness import jumps_there

DISTANCE = 1e-5  # of the points close by, in sizes of the inputs
STEP = 1e-8  # for their derivatives, much smaller than that
POINTS = (16, 96)  # close by: at first, and to confirm an accusation
FURTHER = 100.0  # times that distance, the derivatives of a kink are no smaller
BEND = 0.01  # how far the derivatives close by differ where there is a kink, in the size of the largest
STEEPER = 1.2  # times the derivatives there, those closer by are no larger where they are bounded
FEW = 5  # different derivatives close by
DIRECTIONS = 3  # in which they are compared
TIED_DIRECTIONS = 4  # of a few inputs that are equal, where they are more
MOVED = 6  # of these inputs, at the points close by
OFTEN = 5  # times that each of the different derivatives has to be met then, to know that there are no others
ROWS = 3  # outputs at a kink that reverse mode is asked for
MARGIN = 0.05  # how far outside of their range a derivative may lie, in its width


def check_between(point: Point, mode: str) -> None:
    """Compare the derivatives of a point that was run, in some directions, with the derivatives close by, in the
    entries where those differ. Reverse mode is asked for some of these entries, one by one.

    Where too many kinks meet to know the range along a random direction, the directions are those of some inputs alone.
    """
    if not any(t is not None and np.any(t) for t in point.ts):
        return
    crowded = False
    for draw in range(DIRECTIONS):
        ts = dirs.tangents(point.rng, point.xs) if draw else point.ts
        found = _compare_with_slopes(point, mode, ts)
        if found is None:
            return
        crowded |= found.crowded
    tied = _tied_entries(point.xs) if crowded else []
    for draw in range(TIED_DIRECTIONS if tied else 0):
        k, entries = tied[draw % len(tied)]
        some = point.rng.permutation(entries)[:MOVED]
        ts, near = (_along_entries(point, k, some[:count]) for count in (2 + draw % 2, MOVED))
        if _compare_with_slopes(point, mode, ts, near) is None:
            return


def _compare_with_slopes(point: Point, mode: str, ts: list[Any], near: list[Any] | None = None) -> Slopes | None:
    """Compare the derivatives along `ts` with those close by; None where they are wrong."""
    for count in POINTS:
        slopes = slopes_close_by(point.rules.f, point.xs, ts, point.rng, count, near)
        low, high = slopes.low, slopes.high
        size = np.maximum(np.abs(low), np.abs(high))
        with np.errstate(invalid="ignore"):
            kinks = high - low > BEND * np.max(size[np.isfinite(size)], initial=0)
        got, asked = _derivatives(point, mode, ts, kinks | slopes.bounded)
        with np.errstate(invalid="ignore"):
            outside = np.maximum(low - got, got - high)
            wrong = asked & kinks & np.isfinite(got) & (outside > MARGIN * (high - low))
        if near is not None and count == POINTS[-1]:
            wrong &= slopes.often
        infinite = asked & slopes.bounded & ~np.isfinite(got) & (point.order == 1 and not point.composed)
        if not np.any(wrong | infinite):
            break
    if np.any(wrong | infinite):
        if jumps_there(point):  # the derivatives close by are those of another branch
            return None
        if np.any(infinite):
            k, count = int(np.argmax(infinite)), int(infinite.sum())
            message = "the derivative at a kink is not finite, and those close by are bounded"
            expected = f"at most {slopes.largest[k]:.8g}"
        else:
            k = int(np.argmax(np.where(wrong, outside / (high - low + dirs.TINY), 0)))
            count, message = int(wrong.sum()), "the derivative at a kink lies outside of the derivatives close by"
            expected = f"{low[k]:.8g} to {high[k]:.8g}"
        details = {"where": f"{count} of {wrong.size} entries, most in {entry(k, point.ys)}"}
        if np.any(infinite) and point.beside:  # the user did not ask about this point
            point.report.warn(
                point.failure(mode, "infinite at a kink", message, expected=expected, got=f"{got[k]:.8g}", **details)
            )
        else:
            point.fail(mode, "kink", message, expected=expected, got=f"{got[k]:.8g}", **details)
        return None
    if np.any(asked & kinks):
        point.report.passed(mode)
        point.judged = True
    return slopes


def _derivatives(point: Point, mode: str, ts: list[Any], kinks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rule's derivative of each entry along `ts`, and which of them were asked for: in reverse mode some that are
    at a kink."""
    if mode == "fwd":
        return _real_parts(pack(point.pushed(point.xs, ts))), np.ones(kinks.shape, bool)
    got, asked = np.zeros(kinks.shape), np.zeros(kinks.shape, bool)
    for k in np.flatnonzero(kinks[: pack(point.ys).size])[:ROWS]:
        got[k] = dirs.moving_pairing(point.pulled(point.xs, point.unit_cotangent(int(k))), ts)
        asked[k] = True
    return got, asked


def _tied_entries(xs: Sequence[Any]) -> list[tuple[int, np.ndarray]]:
    """(argument, entries of it) that are equal to each other, the most of each argument."""
    found = []
    for k, x in enumerate(xs):
        if is_inexact(dtype_of(x)) and np.size(x) > 1:
            _, groups, counts = np.unique(np.ravel(x), return_inverse=True, return_counts=True)
            if np.max(counts) > 1:
                found.append((k, np.flatnonzero(groups.ravel() == np.argmax(counts))))
    return found


def _along_entries(point: Point, k: int, entries: np.ndarray) -> list[Any]:
    """A random direction that increases some entries of an argument, and moves nothing else."""
    ts = [None if t is None else np.zeros_like(t) for t in dirs.tangents(point.rng, point.xs)]
    drawn = np.abs(dirs.tangents(point.rng, point.xs)[k])
    t = np.zeros(np.shape(drawn), dtype_of(drawn))
    t.flat[entries] = np.ravel(drawn)[entries]
    ts[k] = t[()]
    return ts


@dataclass
class Slopes:
    """What the numeric derivatives along a direction are at random points close by, real and imaginary parts apart."""

    low: np.ndarray  # the least, and the greatest; nan where they are lost in rounding, or are too many different ones
    high: np.ndarray
    often: np.ndarray  # entries each of whose different derivatives was met so often that there are no others
    largest: np.ndarray  # in size
    bounded: np.ndarray  # entries with kinks whose derivatives are no larger the closer the points are
    crowded: bool  # whether there are too many different ones, of some entry


def slopes_close_by(
    f: Function,
    xs: Sequence[Any],
    ts: Sequence[Any],
    rng: np.random.Generator,
    count: int,
    near: Sequence[Any] | None = None,
) -> Slopes:
    """The numeric derivatives along `ts` at random points close to `xs`; with `near`, every second one of them differs
    from it in the inputs alone that this moves."""
    points = widened(xs)
    moves = [None if t is None else dirs.wide(t)[()] for t in ts]
    with np.errstate(all="ignore"):
        size = np.abs(_real_parts(pack(f(list(points)))))
        away = [dirs.tangents(rng, points) for _ in range(count)]
        if near is not None:
            away[::2] = [_of_the_same(u, near) for u in away[::2]]
        close = _derivatives_close_by(f, points, moves, away, DISTANCE)
        far = _derivatives_close_by(f, points, moves, away[: POINTS[0]], FURTHER * DISTANCE)
    nothing = np.zeros(size.shape, bool)
    unknown = np.full(size.shape, np.nan)
    both = [(a, b) for a, b in zip(close, far, strict=False) if a is not None and b is not None]
    found = [a for a in close if a is not None]
    if not found:
        return Slopes(unknown, unknown, nothing, unknown, nothing, False)
    with np.errstate(all="ignore"):
        ordered = np.sort(found, axis=0)
        low, high = ordered[0], ordered[-1]
        largest = np.maximum(np.abs(low), np.abs(high))
        lost = ~(1e3 * EPS * size / STEP <= BEND * largest)
        bounded = ~lost & (high - low > BEND * largest)
        if both:  # near a pole they fall with the distance
            there, further = np.abs(both).swapaxes(0, 1)
            lost |= np.max(further, axis=0) < 0.1 * largest
            bounded &= np.all(there <= STEEPER * further + 0.1 * np.max(further, axis=0), axis=0)
        else:
            bounded &= False
        apart = np.diff(ordered, axis=0) > 1e-2 * (high - low)
        crowded = 1 + np.sum(apart, axis=0) > FEW
    low, high = (np.where(lost | crowded, np.nan, v) for v in (low, high))
    return Slopes(low, high, _each_often(apart), largest, bounded, bool(np.any(crowded & ~lost)))


def _each_often(apart: np.ndarray) -> np.ndarray:
    """Entries whose sorted values, that change where they are `apart`, take each value OFTEN times at least."""
    ends = np.ones((1, *apart.shape[1:]), bool)
    starts, count = np.concatenate([ends, apart]), np.zeros(apart.shape[1:], int)
    often = np.ones(apart.shape[1:], bool)
    for row in range(len(starts)):
        often &= ~starts[row] | (count >= OFTEN) | (row == 0)
        count = np.where(starts[row], 1, count + 1)
    return often & (count >= OFTEN)


def _of_the_same(us: Sequence[Any], near: Sequence[Any]) -> list[Any]:
    """The moves of the entries that `near` moves alone."""
    return [None if u is None else np.where(t == 0, 0, u)[()] for u, t in zip(us, near, strict=True)]


def _derivatives_close_by(
    f: Function, xs: list[Any], ts: list[Any], away: list[list[Any]], distance: float
) -> list[np.ndarray | None]:
    """The derivative at each of the points that lie `away`, None outside the domain."""
    size = np.shape(_at(f, xs, ts, 0.0))
    found: list[np.ndarray | None] = []
    for us in away:
        close = [x + distance * u if _moves(x, u) else x for x, u in zip(xs, us, strict=True)]
        ends = [_at(f, close, ts, h) for h in (STEP, -STEP)]
        inside = ends[0].shape == ends[1].shape == size
        found.append((ends[0] - ends[1]) / (2 * STEP) if inside else None)
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
