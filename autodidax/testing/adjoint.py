"""The adjoint identity <ct, J t> = <J^T ct, t> between the two modes."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax.testing import directions as dirs
from autodidax.testing import precision as digits
from autodidax.testing.diagnosis import diagnose
from autodidax.testing.linearity import ERRORS, OTHER_FACTORS
from autodidax.testing.point import Point


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
        if np.isfinite(forward) != np.isfinite(backward) and point.value:
            point.fail("rev", "adjoint", "one mode is finite, the other is not", argument=label,
                      expected=f"{forward!r} (forward)", got=f"{backward!r} (reverse)")  # fmt: skip
        else:
            point.unsure("rev", "the derivative is not finite")
        return
    size = sum(np.size(t) for t in (*ts, *point.cts) if t is not None)
    tolerance = (16 + size**0.5) * dirs.unit_roundoff(point.xs, point.ys) * (scale_f + scale_b) + 1e-300
    difference = abs(forward - backward)
    if difference > tolerance:
        tolerance += ERRORS * _noise(point, ts, forward, backward)
    if difference > tolerance and point.beside:
        noise = digits.wiggle(point, lambda xs: np.array([
            dirs.pairing(point.cts, point.pushed(xs, ts))[0], dirs.pairing(point.pulled(xs, point.cts), ts)[0]
        ]))  # fmt: skip
        tolerance += ERRORS * float(np.sum(noise))
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


def _noise(point: Point, ts: list[Any], forward: float, backward: float) -> float:
    """How much the two pairings move by rounding: with inputs moved by some units in the last place."""
    moved = []
    for _ in OTHER_FACTORS:
        xs = dirs.nudged(point.rng, point.xs)
        one = abs(dirs.pairing(point.cts, point.pushed(xs, ts))[0] - forward)
        moved.append(one + abs(dirs.pairing(point.pulled(xs, point.cts), ts)[0] - backward))
    return float(np.median(moved))
