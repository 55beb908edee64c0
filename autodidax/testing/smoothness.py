"""Whether a numeric derivative is one: f may have slopes along lines alone, or be flat by rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodidax.testing import directions as dirs
from autodidax.testing.numeric import FIRST_STEP, Estimate, Function, pack, widened

if TYPE_CHECKING:
    from autodidax.testing.point import Point

FURTHER = (1.0, 16.0, 2.0**8, 2.0**12, 2.0**16, 2.0**20, 2.0**24)  # wider steps
ROUGHLY = 0.25  # relative difference of a slope over them
UNIT = 16.0  # a step of that size, whatever the size of the inputs
RESOLUTION = 1e-7  # relative size of changes that may be lost in rounding, be it that of single precision
NOISY, SMALL = 0.1, 1e-2  # shares of the error of an estimate that a change is more than noise beyond, and of a slope
DIRECTIONS = 12  # in which a numeric derivative has to be linear
ERRORS = 8.0  # estimated errors that it may be off by then
CLOSE, JUMP = 1e-9, 1e-2  # the step at which a jump is looked for, and its relative size
WIDER = 2.0**10  # times that step, a change that is no jump is larger,
LEAST = 0.01  # by this factor at least: that of a square root is 1/32


def smooth_there(point: Point) -> bool:
    """Whether f has a derivative at the point, as far as numeric ones can tell."""
    est = point.estimate(point.ts)
    if not np.all(est.conclusive(est.value, point.precision)):
        return False
    return bool(np.all(linear_there(point, point.ts, est)))


def seen_from_afar(
    f: Function, xs: list[Any], ts: list[Any], got: np.ndarray, value: np.ndarray, error: np.ndarray
) -> np.ndarray:
    """Entries where f seems flat, and over wider steps has about the slope that the rule says.

    Then f is flat by rounding: its changes over the steps of the estimate are below the resolution of its values, or of
    what these are computed from, which is taken to be of the size of f further away. What is flat over
    steps on which the rule says that it changes by more than this, is flat.
    """
    flat = (np.abs(value) <= 3 * error) & np.isfinite(got) & (got != 0)
    if not np.any(flat):
        return flat
    agrees = np.zeros(value.shape, bool)
    moving = max((float(np.max(np.abs(t), initial=0)) for t in ts if t is not None), default=0)
    far = _ends(f, xs, ts, UNIT / moving) if moving else None
    largest = np.zeros(value.shape)
    for around in (far, _ends(f, xs, ts, 0.0)):
        if around is not None and around[0].shape == value.shape:
            largest = np.maximum(largest, _finite_size(around))
    for step in FURTHER:
        ends = _ends(f, xs, ts, step)
        if ends is not None and ends[0].shape == agrees.shape:
            with np.errstate(invalid="ignore"):
                agrees |= np.abs((ends[0] - ends[1]) / (2 * step) - got) <= ROUGHLY * np.abs(got)
    return flat & agrees & (np.abs(got) * FIRST_STEP <= RESOLUTION * largest)


def hidden_by_rounding(f: Function, xs: list[Any], ts: list[Any], est: Estimate) -> np.ndarray:
    """Entries where f seems flat, to an error that is not small beside the slope that it has over wider steps."""
    flat = (np.abs(est.value) <= 3 * est.error) & (est.error > 0)
    hidden = np.zeros(flat.shape, bool)
    for step in FURTHER[:2] if np.any(flat) else ():
        ends = _ends(f, xs, ts, step)
        if ends is not None and ends[0].shape == flat.shape:
            slope = np.abs(ends[0] - ends[1]) / (2 * step)
            with np.errstate(invalid="ignore"):
                hidden |= flat & (slope > NOISY * est.error) & (est.error > SMALL * slope)
    return hidden


def _ends(f: Function, xs: list[Any], ts: list[Any], step: float) -> tuple[np.ndarray, np.ndarray] | None:
    """f a step away to both sides; None where that lies outside its domain."""
    try:
        up, down = (
            pack(f([x if t is None else dirs.wide(x + side * step * t)[()] for x, t in zip(xs, ts, strict=True)]))
            for side in (1, -1)
        )
    except Exception:  # whatever a function raises there
        return None
    return (up, down) if up.shape == down.shape else None


def _finite_size(ends: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    return np.max(np.nan_to_num(np.abs(ends), nan=0.0, posinf=0.0), axis=0)


def linear_there(point: Point, ts: list[Any], est: Estimate) -> np.ndarray:
    """Entries whose numeric derivative is additive in the direction: where it is not, as for a sort at ties, f has
    no derivative, though it has slopes along lines. None is where any output jumps, as the signs of eigenvectors do.
    """
    linear = np.ones(est.value.shape, bool)
    if _jumps(point, ts):
        return ~linear
    for _ in range(DIRECTIONS):
        drawn = dirs.tangents(point.rng, point.xs)
        us = [None if t is None else dirs.wide(u)[()] for t, u in zip(ts, drawn, strict=True)]
        both = [None if t is None else dirs.wide(t)[()] + u for t, u in zip(ts, us, strict=True)]
        one, two = point.estimate(us, quick=True), point.estimate(both, quick=True)
        size = np.abs(est.value) + np.abs(one.value) + np.abs(two.value)
        error = est.error + one.error + two.error
        with np.errstate(invalid="ignore"):
            linear &= (
                ~(np.abs(two.value - one.value - est.value) > ERRORS * error + 1e-9 * size) & ~one.kink & ~two.kink
            )
    return linear


def jumps_there(point: Point) -> bool:
    """Whether an output of f jumps at the point, in one of some directions."""
    return any(_jumps(point, dirs.tangents(point.rng, point.xs)) for _ in range(DIRECTIONS))


def _jumps(point: Point, ts: list[Any]) -> bool:
    """Whether an output of f is far from its value at the point right beside it, along `ts`."""
    here = pack(point.ys)
    size = np.max(np.abs(here[np.isfinite(here)]), initial=0)
    for side in (1, -1):
        near = _change(point, ts, side * CLOSE, here)
        if near is None:
            return True
        if not np.any(near > JUMP * size):
            continue
        far = _change(point, ts, side * CLOSE * WIDER, here)  # where f is zero, any change is large beside it
        if far is None or np.any((near > JUMP * size) & ~(near <= LEAST * far)):
            return True
    return False


def _change(point: Point, ts: list[Any], step: float, here: np.ndarray) -> np.ndarray | None:
    """How far f moves with a step; None where it is outside its domain then."""
    try:
        there = pack(point.rules.f([x if t is None else dirs.wide(x + step * t)[()]
                                    for x, t in zip(widened(point.xs), ts, strict=True)]))  # fmt: skip
    except Exception:  # whatever a function raises outside its domain
        return None
    return np.abs(there - here) if there.shape == here.shape else None
