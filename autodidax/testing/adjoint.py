"""The adjoint identity <ct, J t> = <J^T ct, t> between the two modes."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax.testing import directions as dirs
from autodidax.testing import precision as digits
from autodidax.testing.diagnosis import diagnose
from autodidax.testing.linearity import ERRORS, OTHER_FACTORS
from autodidax.testing.numeric import pack
from autodidax.testing.point import Point
from autodidax.testing.smoothness import smooth_there


def check_adjoint(point: Point, gs: list[Any], tys: list[Any]) -> None:
    """<ct, J t> = <J^T ct, t>, to rounding, for all inputs together and for each alone: no finite differences."""
    for k, part in (point.parts or {-1: tys}).items():
        ts = point.ts if k < 0 else dirs.only(point.ts, k)
        if point.failed:
            return
        _adjoint_along(point, gs, part, ts, "" if k < 0 else point.rules.label(k))


def _adjoint_along(point: Point, gs: list[Any], tys: list[Any], ts: list[Any], label: str) -> None:
    forward, scale_f = dirs.pairing(point.cts, tys)
    backward, scale_b = dirs.pairing(gs, ts)
    if not (np.isfinite(forward) and np.isfinite(backward)):
        one = np.isfinite(forward) != np.isfinite(backward)
        if one and point.value and smooth_there(point):
            point.fail("rev", "adjoint", "one mode is finite, the other is not", argument=label,
                      expected=f"{forward!r} (forward)", got=f"{backward!r} (reverse)")  # fmt: skip
        else:
            point.unsure("rev", "the derivative is not finite")
        return
    size = sum(np.size(t) for t in (*ts, *point.cts) if t is not None)
    eps = dirs.unit_roundoff(point.xs, point.ys)
    tolerance = (16 + size**0.5) * eps * (scale_f + scale_b) + dirs.TINY
    tolerance += point.allowed(forward)
    difference = abs(forward - backward)
    if difference > tolerance:
        tolerance += _rounding(point, ts)
    if difference > tolerance:
        tolerance += ERRORS * _other_roundings(point, ts)
        if difference <= tolerance:
            digits.warn(point, "rev", np.array([difference]), np.array([scale_f + scale_b]), None)
    if difference > tolerance and (point.beside or difference <= digits.ROUNDING * (scale_f + scale_b)):
        noise = digits.wiggle(point, lambda xs: np.array([
            dirs.pairing(point.cts, point.pushed(xs, ts))[0], dirs.pairing(point.pulled(xs, point.cts), ts)[0]
        ]))  # fmt: skip
        tolerance += ERRORS * (float(np.sum(noise)) + digits.amplified(point, scale_f + scale_b))
        if difference <= tolerance:
            digits.warn(point, "rev", np.array([difference]), np.array([scale_f + scale_b]), None)
    if difference <= tolerance:
        point.report.passed("rev", difference / tolerance)
        point.judged = True
        return
    point.fail(
        "rev", "adjoint", "reverse mode is not the transpose of forward mode: <ct, J t> and <J^T ct, t> differ",
        argument=label or _only_argument(point),
        expected=f"{forward:.15g} (forward), to {tolerance:.1g}",
        got=f"{backward:.15g} (reverse)",
        **diagnose(point, "rev", ts, None),
    )  # fmt: skip


def _only_argument(point: Point) -> str:
    active = [k for k, t in enumerate(point.ts) if t is not None]
    return point.rules.label(active[0]) if len(active) == 1 else ""


def _other_roundings(point: Point, ts: list[Any]) -> float:
    """How far the two pairings move with other rounding errors in the rules."""
    ct, t = pack(point.cts), pack(ts)
    return float(point.rounding_forward(ts, ct) + point.rounding_reverse(point.cts, t))


def _rounding(point: Point, ts: list[Any]) -> float:
    """What rounding may make the two pairings differ by: below the resolution of the outputs; as far as they move with
    inputs moved by some units in the last place; and, where the function itself is as noisy, with seeds scaled by
    factors that are no powers of two."""
    eps = dirs.unit_roundoff(point.xs, point.ys)
    outputs = dirs.pairing([None if c is None else np.abs(c) for c in point.cts], [np.abs(y) for y in point.ys])[0]
    runs = []
    for c in (1.0,) * len(OTHER_FACTORS) + OTHER_FACTORS:
        xs = dirs.nudged(point.rng, point.xs)
        forward = dirs.pairing(point.cts, point.pushed(xs, dirs.scaled(ts, c)))[0] / c
        backward = dirs.pairing(point.pulled(xs, dirs.scaled(point.cts, c)), ts)[0] / c
        runs.append((forward, backward))
    count = len(OTHER_FACTORS)
    nudged, scaled = (float(np.sum(np.ptp(part, axis=0))) for part in (runs[:count], runs[count:]))
    est = point.estimate(ts)
    own = float(np.nan_to_num(np.sum(np.abs(pack(point.cts)) * est.error), posinf=0.0))
    return (eps * dirs.reach(ts) * outputs if np.isfinite(outputs) else 0.0) + ERRORS * (nudged + min(scaled, own))
