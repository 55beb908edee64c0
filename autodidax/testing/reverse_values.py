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
from autodidax.testing.forward_values import FEW, ROUGH, SINGLE, unjudged, widely
from autodidax.testing.kinks import check_between
from autodidax.testing.linearity import ERRORS, OTHER_FACTORS
from autodidax.testing.numeric import Estimate, far_off, pack, widened
from autodidax.testing.point import Point
from autodidax.testing.rules import RuleRaised
from autodidax.testing.smoothness import hidden_by_rounding, linear_there, seen_from_afar

FAINT = 1e-3  # share of a pairing
LOST = 10.0  # tolerances of a pairing: what is less is not seen in it


def check_cotangent(point: Point, gs: list[Any]) -> None:
    """Reverse mode against the numeric derivative, through the pairing with the cotangent, an input at a time."""
    finite = np.isfinite(pack(point.ys))
    for k, t in enumerate(point.ts):
        if t is None or not np.size(t):
            continue
        ts = _within_range(point, gs, k, dirs.only(point.ts, k))
        judged, at_kink = _compare_along(point, gs, point.cts, k, ts)
        if not np.all(judged | ~finite) and not point.failed:
            relative = dirs.only(dirs.tangents(point.rng, point.xs, relative=True), k)
            if np.any(relative[k]):
                more, kink = _compare_along(point, gs, point.cts, k, relative, relative=True)
                judged, at_kink = judged | more, at_kink | kink
            wide = widely(point, ts)
            if not np.all(judged | ~finite) and not point.failed and wide is not ts:
                point.rough = ROUGH
                more, kink = _compare_along(point, gs, point.cts, k, wide)
                point.rough = 0.0
                judged, at_kink = judged | more, at_kink | kink
        if point.failed:
            return
        if not np.all(judged | ~finite):
            point.unsure("rev", f"{point.rules.label(k)}: {unjudged(point, judged | ~finite, at_kink)}")
            check_between(point, "rev")
        if not point.beside:
            for small in dirs.along_small_entries(point.rng, point.xs[k], gs[k]):
                ts = [small if i == k else None if v is None else np.zeros_like(v) for i, v in enumerate(point.ts)]
                if not point.failed:
                    _compare_along(point, gs, point.cts, k, ts, relative=True)
    _in_double_precision(point)


def _within_range(point: Point, gs: list[Any], k: int, ts: list[Any]) -> list[Any]:
    """A direction without the entries in which the derivative is beyond the largest number of the dtype, where the rule
    is right to be infinite."""
    g, t = np.asarray(gs[k]), np.array(ts[k])
    if t.dtype.kind == "c" or not np.any(np.isinf(g)) or dirs.unit_roundoff([t]) < 1e-10:
        return ts
    for j in np.flatnonzero(np.isinf(g) & (t != 0))[:FEW]:
        alone = np.zeros_like(t)
        alone.flat[j] = t.flat[j]
        est = point.estimate([alone[()] if i == k else v for i, v in enumerate(dirs.only(ts, k))])
        slope = float(np.sum(pack(point.cts) * est.value).real) / float(t.flat[j])
        if abs(slope) > np.finfo(t.dtype).max and np.sign(slope) == np.sign(g.flat[j]):
            t.flat[j] = 0
    return [t[()] if i == k else v for i, v in enumerate(ts)]


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
        tolerance += SINGLE * dirs.unit_roundoff(point.xs, point.ys) * terms + dirs.TINY
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


def _drowned(cts: list[Any], est: Estimate) -> np.ndarray | None:
    """The entries that move, where they are lost in the error bounds of those that do not."""
    size, moves = np.abs(pack(cts)), est.value != 0
    error, term = size * est.error, np.abs(pack(cts) * est.value)
    still = float(np.sum(error[~moves]))
    if np.any(term[moves]) and still > FAINT * float(np.sum(term[moves])):
        return moves
    return None


def _compare_along(
    point: Point, gs: list[Any], cts: list[Any], k: int, ts: list[Any], *, relative: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Compare <J^T ct, t> with <ct, numeric derivative along t>; the outputs that are judged, and those at a kink.

    Only the outputs that are known are paired. What looks wrong beside a quick estimate is held against a thorough
    one, and then against the rule's noise.
    """
    for quick in (True, False):
        est = point.estimate(ts, quick=quick)
        kink = est.kink
        expected = est.value if np.all(np.isfinite(gs[k])) else np.full_like(est.value, np.nan)
        known = est.conclusive(expected, point.precision)
        if relative:
            known = known & (np.abs(est.value) > 3 * est.error)
        else:
            known = known & ~hidden_by_rounding(point.rules.f, point.xs, ts, est)
        if not np.all(known):
            if quick and not point.beside:
                continue
            if _far_off(point, cts, k, ts, est):
                return known, kink
            if not np.any(known):
                return known, kink
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
            _faint_alone(point, cts, k, ts, est, tolerance)
            return known, kink
    return (known if _confirmed(point, gs, cts, k, ts, est, known) else np.zeros_like(known)), kink


def _far_off(point: Point, cts: list[Any], k: int, ts: list[Any], est: Estimate) -> bool:
    """Report a pairing that is wrong by so much that an estimate of a few digits tells."""
    est = point.estimate(ts) if not np.any(est.kink) else est
    for rounded in (False, True):
        est = point.estimate(ts, rounded=True) if rounded else est
        usable = est.usable()
        if not np.any(usable):
            return False
        cts = _masked_cotangents(point, cts, usable)
        gs = point.pulled(point.xs, cts)
        got, want, tolerance = _pairing(point, gs, cts, k, ts, est.only(usable))
        if not far_off(got, want, tolerance / ERRORS):
            return False
    noise = _noise(point, cts, k, ts) + _rounding(point, cts, k, ts) + _wiggle(point, cts, k, ts)
    noise += digits.amplified(point, float(np.sum(np.abs(pack(cts) * est.only(usable).value))))
    if abs(got - want) <= tolerance + ERRORS * noise or not np.all(linear_there(point, ts, est) | ~usable):
        return False
    if _seen_from_afar(point, cts, ts, got, est.only(usable)):
        return False
    _wrong_pairing(point, k, ts, got, want, tolerance)
    return True


def _faint_alone(point: Point, cts: list[Any], k: int, ts: list[Any], est: Estimate, tolerance: float) -> None:
    """Compare what cannot be seen beside the rest once more without it."""
    moving = _drowned(cts, est)
    terms = np.abs(pack(cts) * est.value)
    lost = (terms > 0) & (terms <= LOST * tolerance)
    if moving is not None:
        own = [_masked_cotangents(point, cts, moving)]
    elif np.any(lost) and np.any(terms[~lost]):
        own = [_masked_cotangents(point, cts, lost)]
    else:
        own = [dirs.only(cts, i) for i in _faint_outputs(point, cts, est)]
    for part in own:
        if not point.failed:
            _compare_along(point, point.pulled(point.xs, part), part, k, ts)


def _confirmed(
    point: Point, gs: list[Any], cts: list[Any], k: int, ts: list[Any], est: Estimate, known: np.ndarray
) -> bool:
    """Report a pairing that looks wrong, unless the rule's rounding explains it; False where f has no derivative."""
    got, want, tolerance = _pairing(point, gs, cts, k, ts, est)
    difference = abs(got - want)
    given = "atol" in point.overrides or "rtol" in point.overrides
    if np.isfinite(got) and not given:
        tolerance += ERRORS * _noise(point, cts, k, ts)
    if difference <= tolerance:
        point.report.passed("rev", difference / tolerance)
        return True
    rounded = point.estimate(ts, rounded=True)
    expected = rounded.value if np.isfinite(got) else np.full_like(rounded.value, np.nan)
    if np.any(known & ~rounded.conclusive(expected, point.precision)):
        return False
    if not given:
        got, want, more = _pairing(point, gs, cts, k, ts, rounded.only(known))
        tolerance, difference = max(tolerance, more), abs(got - want)
    if not np.all(linear_there(point, ts, est) | ~known) or _seen_from_afar(point, cts, ts, got, est):
        return False
    terms = float(np.sum(np.abs(pack(cts) * est.value)))
    if np.isfinite(got) and not given:
        noise = _rounding(point, cts, k, ts)
        if point.beside or difference <= digits.ROUNDING * terms:
            noise += _wiggle(point, cts, k, ts) + digits.amplified(point, terms)
        if difference <= tolerance + ERRORS * noise:
            digits.warn(point, "rev", np.array([difference]), np.array([abs(want)]), None)
            return True
    _wrong_pairing(point, k, ts, got, want, tolerance)
    return True


def _rounding(point: Point, cts: list[Any], k: int, ts: list[Any]) -> float:
    """How far the pairing moves with other rounding errors in the rule."""
    return float(point.rounding_reverse(cts, pack(dirs.only(ts, k))))


def _wiggle(point: Point, cts: list[Any], k: int, ts: list[Any]) -> float:
    """Rounding noise of the pairing: its own or, where entries that move leave the domain, that of the others."""

    def run(xs: list[Any]) -> np.ndarray:
        terms = (dirs.wide(point.pulled(xs, cts)[k]) * dirs.wide(ts[k])).real.ravel()
        return np.append(terms, np.sum(terms))

    noise = digits.wiggle(point, run)
    return max(float(noise[-1]), float(np.sqrt(np.sum(noise[:-1] ** 2)))) if noise.ndim else 0.0


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
    eps = dirs.unit_roundoff(point.xs, point.ys)
    tolerance = ERRORS * error + ROUNDINGS * eps * (scale + own) + point.rough * scale + dirs.TINY
    # below the resolution of the outputs: the terms of a rule may be as large as these, and cancel
    outputs = pack([np.abs(y) for y in point.ys])
    smallest = max(float(np.finfo(dtype_of(y)).tiny) for y in point.ys if is_inexact(dtype_of(y)))
    resolution = ROUNDINGS * eps * np.where(np.isfinite(outputs), outputs, 0) + smallest
    tolerance += dirs.reach([ts[k]]) * float(np.sum(np.abs(pack(cts)) * resolution))
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
        _check_row(point, cts, basis, estimates)
        if point.failed:
            return


def _check_row(point: Point, cts: list[Any], basis: list[list[Any]], estimates: list[Estimate]) -> None:
    gs = point.pulled(point.xs, cts)
    row = pack(cts)
    own = row != 0
    got = np.array([dirs.moving_pairing(gs, ts) for ts in basis])
    want = np.array([np.sum((row * e.value)[own]).real for e in estimates])
    error = np.array([np.sum((np.abs(row) * e.error)[own]) for e in estimates])
    known = np.array([bool(np.all(e.conclusive(e.value, point.precision)[own])) for e in estimates])
    eps = dirs.unit_roundoff(point.xs, point.ys)
    largest = float(np.max(np.abs(want[known]), initial=0))
    tolerance = 2 * ERRORS * error + 4 * ROUNDINGS * eps * (np.abs(want) + 0.01 * largest) + dirs.TINY
    difference = np.abs(got - want)
    wrong = known & ~(difference <= tolerance)
    for j in np.flatnonzero(wrong):
        if np.isfinite(got[j]) or np.all(estimates[j].conclusive(estimates[j].value, point.precision)):
            linear = np.all(linear_there(point, basis[j], estimates[j])[own])
            wrong[j] = linear and not difference[j] <= 8 * ERRORS * _row_noise(point, cts, basis[j])
        else:  # a zero cotangent times an infinite slope
            wrong[j] = False
    if np.any(wrong) and np.all((difference <= digits.ROUNDING * largest)[wrong]):
        explained = difference <= tolerance + ERRORS * digits.amplified(point, largest)
        lost = wrong & explained
        digits.warn(point, "rev", np.where(lost, difference, 0), np.full(want.shape, largest), None)
        wrong &= ~lost
    if not np.any(wrong):
        point.report.passed("rev")
        return
    worst = int(np.argmax(wrong))
    point.fail(
        "rev", "jacobian", "the cotangent differs from the row of the numeric Jacobian",
        expected=f"{want[worst]:.12g} with an error of at most {error[worst]:.1g}", got=f"{got[worst]:.12g}",
        where=f"{int(wrong.sum())} of {wrong.size} entries of the row of {entry(int(np.argmax(own)), point.ys)}",
        guess=guess(got, want, wrong),
    )  # fmt: skip


def _row_noise(point: Point, cts: list[Any], ts: list[Any]) -> float:
    """How far an entry of a row moves with point and cotangent moved by some units in the last place."""
    runs = [dirs.moving_pairing(point.pulled(dirs.nudged(point.rng, point.xs), dirs.nudged(point.rng, cts)), ts)
            for _ in OTHER_FACTORS]  # fmt: skip
    return float(np.ptp(runs))
