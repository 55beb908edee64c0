"""Forward mode against numeric derivatives, entry by entry."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of
from autodidax.testing import directions as dirs
from autodidax.testing import precision as digits
from autodidax.testing.comparison import ROUNDINGS, entry
from autodidax.testing.diagnosis import diagnose, guess
from autodidax.testing.kinks import check_between
from autodidax.testing.linearity import ERRORS, OTHER_FACTORS
from autodidax.testing.numeric import Estimate, pack, widened
from autodidax.testing.point import Point
from autodidax.testing.rules import RuleRaised
from autodidax.testing.smoothness import hidden_by_rounding, linear_there, seen_from_afar

SINGLE = 4.0  # machine epsilons of single precision that a rule may be off by when it is run in double precision
FEW = 16  # entries of an input that are looked at one by one
WIDE, TINY_STEPS = 0.1, (1e-10, 1e-3)  # size of a direction, and those that are tried again with it
ROUGH = 0.1  # relative difference that counts at tiny inputs, where rules lose digits
LOPSIDED = 1e-3  # an argument whose share of the derivative is less is looked at alone


def check_tangent(point: Point, tys: list[Any]) -> None:
    """Forward mode against the numeric derivative, entry by entry: along a random direction; where that leaves
    entries open, along one in which every input moves in proportion to itself, and one that goes far beyond small
    inputs; and along the inputs alone whose share of the derivative is too small to be seen beside the others."""
    judged = ~np.isfinite(pack(point.ys))  # there is nothing to compare where f itself is not finite
    at_kink = np.zeros_like(judged)
    for kind in ("random", "relative", "wide"):
        ts = point.ts
        if kind != "random":
            ts = dirs.tangents(point.rng, point.xs, relative=True) if kind == "relative" else widely(point, ts)
            if ts is point.ts:
                continue
            tys = point.pushed(point.xs, ts)
        point.rough = ROUGH if kind == "wide" else 0.0
        known, kink = _compare_along(point, ts, tys, relative=kind == "relative")
        point.rough = 0.0
        judged, at_kink = judged | known, at_kink | kink
        if point.failed or np.all(judged):
            break
    if point.failed:
        return
    if not np.all(judged):
        point.unsure("fwd", unjudged(point, judged, at_kink))
        if np.any(at_kink & ~judged):
            check_between(point, "fwd")
    if np.any(judged) or not judged.size:
        point.judged = True
        point.report.passed("fwd")
    if not point.failed:
        _in_double_precision(point)
    size = np.max(np.abs(pack(tys)), initial=0)
    for k, part in point.parts.items():
        if not point.failed and np.max(np.abs(pack(part)), initial=0) <= LOPSIDED * size:
            _compare_along(point, dirs.only(point.ts, k), part, relative=False)
    if not (point.beside or point.failed):
        _small_entries(point)
    if point.full and not point.failed:
        for ts in dirs.basis(point.xs):
            _compare_along(point, ts, point.pushed(point.xs, ts), relative=True, layer="jacobian")
            if point.failed:
                return
    if point.thorough and not point.failed and not point.kinks_declared:
        run = lambda xs: np.where(judged, pack(point.pushed(xs, point.ts)), 0)
        digits.check(point, "fwd", np.where(judged, pack(point.tys or []), 0), run)


def widely(point: Point, ts: list[Any]) -> list[Any]:
    """At the point "tiny", the direction with steps of the size that is usual for inputs of about one, where it has
    much smaller ones: f may be flat to rounding over these. Otherwise the direction itself."""
    if point.beside != "tiny":
        return ts
    size = max((float(np.max(np.abs(t), initial=0)) for t in ts if t is not None), default=0)
    return dirs.scaled(ts, 2.0 ** round(np.log2(WIDE / size))) if TINY_STEPS[0] < size < TINY_STEPS[1] else ts


def _small_entries(point: Point) -> None:
    """Along entries alone that are very much smaller than others of their argument."""
    for k, t in enumerate(point.ts):
        for small in dirs.along_small_entries(point.rng, point.xs[k]) if t is not None else ():
            ts = [small if i == k else None if v is None else np.zeros_like(v) for i, v in enumerate(point.ts)]
            if not point.failed:
                _compare_along(point, ts, point.pushed(point.xs, ts), relative=True)


def _in_double_precision(point: Point) -> None:
    """A rule at single precision arguments once more at the same ones in double precision, where its own rounding does
    not hide errors that are small; to the accuracy that single precision asks for."""
    if not point.computes_in_double():
        return
    eps = dirs.unit_roundoff(point.xs, point.ys)
    xs, ts = widened(point.xs), [None if t is None else dirs.wide(t)[()] for t in point.ts]
    try:
        got = pack(point.pushed(xs, ts))
    except RuleRaised:  # it need not take double precision
        return
    est = point.estimate(ts)
    if got.shape != est.value.shape:
        return
    known = est.conclusive(got, point.precision)
    size = np.abs(est.value) + 0.01 * np.max(np.abs(est.value[known]), initial=0)
    wrong = known & ~(np.abs(got - est.value) <= ERRORS * est.error + SINGLE * eps * size + dirs.TINY)
    if np.any(wrong) and not np.any(wrong & ~linear_there(point, ts, est)):
        _wrong_value(point, "value", ts, got, est, wrong)


def unjudged(point: Point, judged: np.ndarray, at_kink: np.ndarray) -> str:
    why = f"{int(np.sum(~judged))} of {judged.size} entries cannot be judged numerically"
    kinks = np.flatnonzero(at_kink & ~judged)
    if not kinks.size:
        return why
    return f"{why}, {kinks.size} at a kink ({entry(int(kinks[0]), point.ys)}): the slopes to the two sides differ"


def _compare_along(
    point: Point, ts: list[Any], tys: list[Any], *, relative: bool, layer: str = "value"
) -> tuple[np.ndarray, np.ndarray]:
    """Which entries of the tangent along `ts` are judged, and which are at a kink; the wrong ones are reported.

    What looks wrong beside a quick estimate is held against a thorough one, and then against the rule's noise.
    """
    got = pack(tys)
    for quick in (True, False):
        est = point.estimate(ts, quick=quick)
        wrong, ratio, known = _judge(point, got, est, None)
        if not np.any(wrong) and (np.all(known) or point.beside):
            break
    if np.any(wrong):
        wrong, ratio, known = _judge(point, got, est, _noise(point, ts))
    if np.any(wrong):
        est = point.estimate(ts, rounded=True)
        wrong, ratio, known = _judge(point, got, est, _noise(point, ts))
    if np.any(wrong & np.isinf(got)):
        wrong = wrong & ~(np.isinf(got) & _beyond_range(point, ts, est.value.size))
    if np.any(wrong):
        afar = seen_from_afar(point.rules.f, point.xs, ts, got, est.value, est.error)
        doubtful = afar | ~linear_there(point, ts, est)
        wrong, known = wrong & ~doubtful, known & ~doubtful
    known &= ~hidden_by_rounding(point.rules.f, point.xs, ts, est) | wrong
    largest = float(np.max(np.abs(est.value[np.isfinite(est.value)]), initial=0))
    near = np.abs(got - est.value) <= digits.ROUNDING * largest
    if np.any(wrong):
        lost = wrong
        noise = point.rounding_forward(ts)
        if point.beside or np.all(near | ~wrong):
            noise = noise + digits.wiggle(point, lambda xs: pack(point.pushed(xs, ts)))
            noise = noise + digits.amplified(point, largest)
        wrong = wrong & _judge(point, got, est, noise)[0]
        digits.warn(point, "fwd", np.where(lost & ~wrong, np.abs(got - est.value), 0), np.abs(est.value), point.ys)
    if relative:  # a zero that does not move, times an infinite slope, is nan and no error
        wrong, known = wrong & np.isfinite(got), known & np.isfinite(got)
        known &= np.abs(est.value) > 3 * est.error  # nor does an entry that stays put prove anything
    if np.any(wrong):
        _wrong_value(point, layer, ts, got, est, wrong)
    else:
        point.report.worst = max(point.report.worst, ratio)
    return known, est.kink


def _beyond_range(point: Point, ts: list[Any], size: int) -> np.ndarray:
    """The entries with a slope in some input beyond the largest number of a dtype of less than double precision, where
    a rule may be infinite whatever it is multiplied by."""
    beyond = np.zeros(size, bool)
    if dirs.unit_roundoff(point.xs, point.ys) < 1e-10:
        return beyond
    outs = [y for y in point.ys if is_inexact(dtype_of(y))]
    largest = np.concatenate([np.full(np.size(y), np.finfo(dtype_of(y)).max) for y in outs])
    for k, t in enumerate(ts):
        for j in () if t is None else np.flatnonzero(t)[:FEW]:
            alone = np.zeros_like(t)
            alone.flat[j] = np.ravel(t)[j]
            est = point.estimate(dirs.only([alone if i == k else v for i, v in enumerate(ts)], k), quick=True)
            beyond |= np.abs(est.value) / np.abs(alone.flat[j]).astype(float) > largest
    return beyond


def _wrong_value(point: Point, layer: str, ts: list[Any], got: np.ndarray, est: Estimate, wrong: np.ndarray) -> None:
    k = int(np.argmax(np.where(wrong, np.nan_to_num(np.abs(got - est.value), nan=np.inf) / (est.error + dirs.TINY), 0)))
    details = {
        "argument": _blame(point, ts),
        "expected": f"{est.value[k]:.12g} with an error of at most {est.error[k]:.1g}",
        "got": f"{got[k]:.12g}",
        "where": f"{int(wrong.sum())} of {wrong.size} entries, most in {entry(k, point.ys)}",
        "guess": guess(got, est.value, wrong),
    }
    details |= diagnose(point, "fwd", ts, k)
    point.fail("fwd", layer, "the tangent differs from the numeric derivative", **details)


def _judge(
    point: Point, got: np.ndarray, est: Estimate, noise: np.ndarray | None
) -> tuple[np.ndarray, float, np.ndarray]:
    """Which entries are wrong; the worst ratio of difference to tolerance among the others; which are judged."""
    want = est.value
    judged = est.conclusive(got, point.precision)
    eps = dirs.unit_roundoff(point.xs, point.ys)
    scale = np.abs(want) + 0.01 * np.max(np.abs(want[judged]), initial=0)
    tolerance = ERRORS * est.error + ROUNDINGS * eps * scale + point.rough * np.abs(want) + dirs.TINY
    tolerance = tolerance + max(np.finfo(dtype_of(y)).tiny for y in point.ys if is_inexact(dtype_of(y)))
    if eps > 1e-10:  # the rule works in single precision: its intermediate results are rounded to that,
        tolerance = tolerance + ROUNDINGS * eps * 0.03 * np.max(np.abs(want[judged]), initial=0)
        tolerance = tolerance + ROUNDINGS * eps * dirs.reach(point.ts) * np.abs(pack(point.ys))  # as f itself is
    if noise is not None:
        tolerance = tolerance + ERRORS * noise
    if "atol" in point.overrides or "rtol" in point.overrides:
        tolerance = point.overrides.get("atol", 0.0) + point.overrides.get("rtol", 0.0) * np.abs(want)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.abs(got - want) / tolerance
    bad = judged & ~(ratio <= 1)
    return bad, float(np.max(ratio[judged & ~bad], initial=0)), judged


def _noise(point: Point, ts: list[Any]) -> np.ndarray:
    """How far tangents differ from each other when point and direction move by some units in the last place."""
    runs = [pack(point.pushed(dirs.nudged(point.rng, point.xs), dirs.nudged(point.rng, ts))) for _ in OTHER_FACTORS]
    noise = (
        np.abs(np.ptp(runs, axis=0))
        if not np.iscomplexobj(runs)
        else np.ptp(np.real(runs), axis=0) + np.ptp(np.imag(runs), axis=0)
    )
    finite = noise[np.isfinite(noise)]
    largest = float(np.max(finite, initial=0)) or 1.0
    return np.nan_to_num(noise) + (
        0.1 * largest * float(np.sqrt(np.mean((finite / largest) ** 2))) if finite.size else 0.0
    )


def _blame(point: Point, directions: list[Any]) -> str:
    """The inputs whose part of the derivative is wrong."""
    blamed = []
    for k, t in enumerate(directions):
        if t is not None and np.any(t):
            ts = dirs.only(directions, k)
            if np.any(_judge(point, pack(point.pushed(point.xs, ts)), point.estimate(ts), None)[0]):
                blamed.append(point.rules.label(k))
    return ", ".join(blamed)
