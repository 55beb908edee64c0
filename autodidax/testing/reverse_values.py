"""Reverse mode against numeric derivatives, through the pairing with a cotangent."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of
from autodidax.testing import directions as dirs
from autodidax.testing import precision as digits
from autodidax.testing.comparison import ROUNDINGS, entry
from autodidax.testing.diagnosis import diagnose, guess
from autodidax.testing.forward_values import SINGLE, linear_there, seen_from_afar
from autodidax.testing.kinks import check_between
from autodidax.testing.linearity import ERRORS, OTHER_FACTORS
from autodidax.testing.numeric import Estimate, pack, widened
from autodidax.testing.point import Point
from autodidax.testing.rules import RuleRaised

FAINT = 1e-3  # share of a pairing


def check_cotangent(point: Point, gs: list[Any]) -> None:
    """Reverse mode against the numeric derivative, through the pairing with the cotangent, an input at a time."""
    for k, t in enumerate(point.ts):
        if t is not None and np.size(t) and not _pairing_agrees(point, gs, point.cts, k, dirs.only(point.ts, k)):
            relative = dirs.only(dirs.tangents(point.rng, point.xs, relative=True), k)
            if point.failed:
                return
            if not np.any(relative[k]) or not _pairing_agrees(point, gs, point.cts, k, relative, relative=True):
                point.unsure("rev", f"{point.rules.label(k)}: the numeric derivative is not known well enough")
                if not point.failed:
                    check_between(point, "rev")
    _in_double_precision(point)


def _in_double_precision(point: Point) -> None:
    """A rule at single precision arguments once more at the same ones in double precision, to the accuracy that single
    precision asks for."""
    if point.failed or not point.computes_in_double():
        return
    xs, cts = widened(point.xs), [None if c is None else dirs.wide(c)[()] for c in point.cts]
    try:
        gs = point.pulled(xs, cts)
    except RuleRaised:  # it need not take double precision
        return
    for k, t in enumerate(point.ts):
        if t is None or not np.size(t):
            continue
        ts = [None if v is None else dirs.wide(v)[()] for v in dirs.only(point.ts, k)]
        est = point.estimate(ts)
        if np.shape(gs[k]) != np.shape(t) or not np.all(est.conclusive(est.value, point.precision)):
            continue
        got, want, _ = _pairing(point, gs, cts, k, ts, est)
        terms = float(np.sum(np.abs(pack(cts) * est.value)))
        tolerance = ERRORS * float(np.sum(np.abs(pack(cts)) * est.error))
        tolerance += SINGLE * dirs.unit_roundoff(point.xs, point.ys) * terms + 1e-300
        if not abs(got - want) <= tolerance and np.all(linear_there(point, ts, est)):
            _wrong_pairing(point, k, ts, got, want, tolerance)
            return


def _wrong_pairing(point: Point, k: int, ts: list[Any], got: float, want: float, tolerance: float) -> None:
    details = {"guess": guess(np.array([got]), np.array([want]), np.array([True]))}
    point.fail(
        "rev", "value", "<J^T ct, t> differs from <ct, numeric derivative along t>",
        argument=point.rules.label(k),
        expected=f"{want:.12g}" + f" with an error of at most {tolerance / ERRORS:.1g}" * bool(np.isfinite(tolerance)),
        got=f"{got:.12g}",
        **(details | diagnose(point, "rev", ts, None)),
    )  # fmt: skip


def _faint_outputs(point: Point, cts: list[Any], est: Estimate) -> list[int]:
    """Outputs whose share of the pairing is too small to be seen beside the others."""
    terms = dirs.unpacked(np.abs(pack(cts) * est.value), point.ys)
    shares = [0.0 if t is None else float(np.sum(t)) for t in terms]
    return [i for i, share in enumerate(shares) if 0 < share < FAINT * max(shares)]


def _pairing_agrees(
    point: Point, gs: list[Any], cts: list[Any], k: int, ts: list[Any], *, relative: bool = False
) -> bool:
    """Compare <J^T ct, t> with <ct, numeric derivative along t>; whether all of it can be judged.

    Only the outputs that are known are paired. What looks wrong beside a quick estimate is held against a thorough
    one, and then against the rule's noise.
    """
    for quick in (True, False):
        est = point.estimate(ts, quick=quick)
        known = est.conclusive(est.value, point.precision)
        if relative:
            known = known & (np.abs(est.value) > 3 * est.error)
        if not np.all(known):
            if quick and not point.beside:
                continue
            if not np.any(known):
                return False
            cts = _masked_cotangents(point, cts, known)
            gs = point.pulled(point.xs, cts)
            if not np.all(np.isfinite(gs[k])):  # zero cotangents times infinite slopes
                ts = [None if t is None else np.where(np.isfinite(gs[k]), t, np.zeros_like(t))[()] for t in ts]
                est = point.estimate(ts)
            est = est.only(known & est.conclusive(est.value, point.precision))
        got, want, tolerance = _pairing(point, gs, cts, k, ts, est)
        if abs(got - want) <= tolerance:
            point.report.passed("rev", abs(got - want) / tolerance)
            point.judged = True
            for i in _faint_outputs(point, cts, est) if not point.failed else ():
                own = dirs.only(cts, i)
                _pairing_agrees(point, point.pulled(point.xs, own), own, k, ts)
            return bool(np.all(known))
    if np.isfinite(got):
        tolerance += ERRORS * _noise(point, cts, k, ts)
    if abs(got - want) <= tolerance:
        point.report.passed("rev", abs(got - want) / tolerance)
        return bool(np.all(known))
    if not np.all(linear_there(point, ts, est)) or _seen_from_afar(point, cts, ts, got, est):
        return False
    if np.isfinite(got) and (point.beside or abs(got - want) <= digits.ROUNDING * abs(want)):
        run = lambda xs: np.array([dirs.pairing([point.pulled(xs, cts)[k]], [ts[k]])[0]])
        if abs(got - want) <= tolerance + ERRORS * float(np.sum(digits.wiggle(point, run))):
            digits.warn(point, "rev", np.array([abs(got - want)]), np.array([abs(want)]), None)
            return bool(np.all(known))
    _wrong_pairing(point, k, ts, got, want, tolerance)
    return True


def _seen_from_afar(point: Point, cts: list[Any], ts: list[Any], got: float, est: Estimate) -> bool:
    """Whether the paired outputs are flat by rounding alone, so that the rule's slope shows over wider steps only."""
    paired = lambda xs: [np.float64(dirs.pairing(cts, point.rules.f(xs))[0])]
    value, error = np.sum((pack(cts) * est.value).real), np.sum(np.abs(pack(cts)) * est.error)
    return bool(seen_from_afar(paired, point.xs, ts, np.array([got]), np.array([value]), np.array([error]))[0])


def _masked_cotangents(point: Point, cts: list[Any], known: np.ndarray) -> list[Any]:
    masks = dirs.unpacked(known, point.ys)
    return [None if c is None else np.where(m, c, np.zeros_like(c))[()]
            for c, m in zip(cts, masks, strict=True)]  # fmt: skip


def _pairing(
    point: Point, gs: list[Any], cts: list[Any], k: int, ts: list[Any], est: Estimate
) -> tuple[float, float, float]:
    """<J^T ct, t> of the rule, <ct, J t> of the estimate, and the tolerance between them."""
    terms = pack(cts) * est.value
    want, scale = float(np.sum(terms).real), float(np.sum(np.abs(terms)))
    got, own = dirs.pairing([np.where(ts[k] == 0, 0, gs[k])], [ts[k]])  # what does not move proves nothing
    error = float(np.sum(np.abs(pack(cts)) * est.error))
    tolerance = ERRORS * error + ROUNDINGS * dirs.unit_roundoff(point.xs, point.ys) * (scale + own) + 1e-300
    if "atol" in point.overrides or "rtol" in point.overrides:
        tolerance = point.overrides.get("atol", 0.0) + point.overrides.get("rtol", 0.0) * abs(want)
    return got, want, tolerance


def _noise(point: Point, cts: list[Any], k: int, ts: list[Any]) -> float:
    """How far pairings differ from each other when the inputs move by some units in the last place."""
    runs = [
        dirs.pairing([point.pulled(dirs.nudged(point.rng, point.xs), dirs.nudged(point.rng, cts))[k]], [ts[k]])[0]
        for _ in OTHER_FACTORS
    ]
    return float(np.nan_to_num(np.ptp(runs)))


def check_rows(point: Point) -> None:
    """Every row of the Jacobian in reverse mode against the numeric columns."""
    basis = list(dirs.basis(point.xs))
    estimates = [point.estimate(ts, quick=True) for ts in basis]
    for unit in dirs.basis(point.ys):
        cts = [
            c if c is not None or not is_inexact(dtype_of(y)) else np.zeros_like(y)
            for c, y in zip(unit, point.ys, strict=True)
        ]
        gs = point.pulled(point.xs, cts)
        row = pack(cts)
        own = row != 0
        got = np.array([dirs.pairing(gs, ts)[0] for ts in basis])
        want = np.array([np.sum((row * e.value)[own]).real for e in estimates])
        error = np.array([np.sum((np.abs(row) * e.error)[own]) for e in estimates])
        known = np.array([bool(np.all(e.conclusive(e.value, point.precision)[own])) for e in estimates])
        eps = dirs.unit_roundoff(point.xs, point.ys)
        size = np.abs(want) + 0.01 * np.max(np.abs(want[known]), initial=0)
        wrong = known & ~(np.abs(got - want) <= 2 * ERRORS * error + 4 * ROUNDINGS * eps * size + 1e-300)
        for j in np.flatnonzero(wrong):
            wrong[j] = bool(
                np.all(linear_there(point, [None if t is None else t for t in basis[j]], estimates[j])[own])
            )
            if wrong[j]:
                nudge = lambda: dirs.pairing(
                    point.pulled(dirs.nudged(point.rng, point.xs), dirs.nudged(point.rng, cts)), basis[j]
                )[0]
                wrong[j] = not abs(got[j] - want[j]) <= 8 * ERRORS * np.ptp([nudge() for _ in OTHER_FACTORS])
        if np.any(wrong):
            j = int(np.argmax(wrong))
            point.fail("rev", "jacobian", "the cotangent differs from the row of the numeric Jacobian",
                      expected=f"{want[j]:.12g} with an error of at most {error[j]:.1g}", got=f"{got[j]:.12g}",
                      where=f"{int(wrong.sum())} of {wrong.size} entries of the row of {_row_name(point, cts)}",
                      guess=guess(got, want, wrong))  # fmt: skip
            return
        point.report.passed("rev")


def _row_name(point: Point, cts: list[Any]) -> str:
    return entry(int(np.argmax(pack(cts) != 0)), point.ys)
