"""Numeric directional derivatives with an estimate of their error.

Central differences over a ladder of steps whose ratio is no power of two, extrapolated to step zero (Neville's
scheme in the square of the step). Each entry of the result takes the extrapolant whose neighbours agree best with
it; the error estimate is that disagreement plus the rounding noise, which is measured on the finest steps. A kink at
the point itself, where the central difference converges to the mean of two slopes, is told by the second difference.

Source: Ridders, Accurate computation of F'(x) and F'(x) F''(x), Advances in Engineering Software 4 (1982).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of
from autodidax.testing.directions import wide

RATIO = 1.7
STEPS = 16
QUICK_STEP = 0.03  # the first of a quick estimate
RESOLVED = 1e-9  # relative error of an estimate that is believed against a coarser one
FEW_STEPS = 5  # of a quick estimate
SETTLED = 3e-12  # relative error at which a quick estimate ends
FIRST_STEP = 0.05
EXTRAPOLATIONS = 5
ERRORS = 8.0  # how many estimated errors two estimates may differ by
FINEST = 6  # steps on which noise and kinks are measured
ROUGHLY = 1e-4  # error of a slope of zero beside the size of f, where a rule is not finite
FAR = 1e4  # errors by which a rule is far from an estimate of zero
OFF, GROSSLY = 100.0, 0.03  # errors, and share of an estimate, by which a rule is far from it
COARSELY = 1e-2  # relative error of that estimate
EPS = float(np.finfo(np.float64).eps)

FAIRLY = 5e-11  # where it is all that rounding allows, or of most of many entries
MANY, MOST = 256, 0.9
# inputs that move, from which on fairly, or what rounding allows, is enough: the evaluations are what a check costs
COSTLY = 200
CLOSER = tuple(10.0**-k for k in range(6, 17))  # steps at which a kink has to be one still
TYPICAL = 1e3  # times its own size an output comes to, at most, along the steps
FADED = 0.3  # of the jump of the slope: there is no kink where it comes to less than this


def _extrapolants() -> np.ndarray:
    """Weights of f(x + h) - f(x - h) at the steps 1, 1/RATIO, ...: three extrapolants to step zero, the best first."""
    slopes = np.diag(0.5 * RATIO ** np.arange(FEW_STEPS))
    rows = []
    for start, stop in ((0, FEW_STEPS), (1, FEW_STEPS), (0, FEW_STEPS - 1)):
        table = slopes[start:stop]
        for order in range(1, stop - start):
            table = _improve(table, order)
        rows.append(table[0])
    return np.array(rows)


def _jump() -> np.ndarray:
    """Weights of f(x + h) + f(x - h) - 2 f(x): their term linear in h, the jump of the slope."""
    steps = RATIO ** -np.arange(FEW_STEPS)
    return np.linalg.inv(steps[:, None] ** [1, *range(2, 2 * FEW_STEPS, 2)])[0]


def _improve(table: np.ndarray, order: int) -> np.ndarray:
    """Extrapolants of one order more, of values at steps that fall by RATIO."""
    return table[1:] + (table[1:] - table[:-1]) / (RATIO ** (2 * order) - 1)


EXTRAPOLANTS, JUMP = _extrapolants(), _jump()
AMPLIFIED = float(np.abs(EXTRAPOLANTS[0]).sum())  # rounding of f in the best of them

Function = Callable[[list[Any]], list[Any]]


@dataclass
class Estimate:
    """The inexact outputs' derivative in one vector, with an error bound for each entry (inf: no estimate)."""

    value: np.ndarray
    error: np.ndarray
    kink: np.ndarray  # entries with different slopes to the two sides
    size: np.ndarray  # size of the outputs themselves
    evaluations: int

    def conclusive(self, got: np.ndarray, precision: float) -> np.ndarray:
        """The entries that the estimate can judge: known to `precision` of the derivative's size; or known coarsely,
        while the rule says something far off; or zero for all that can be seen beside the function's own size, while
        the rule says (nearly) zero as well or something far off."""
        slopes = np.abs(self.value)
        scale = np.maximum(slopes, _largest(np.where(self.error < slopes, slopes, 0)))
        known = self.error <= precision * scale
        # what is not finite is wrong beside any slope, be it known roughly: as that of x |x| at 0
        enough = np.where(np.isfinite(got), 1e-3 * precision, ROUGHLY) * self.size
        zero = (np.abs(self.value) <= 3 * self.error) & (self.error <= enough)
        nearly, far = 4 * EPS * self.size, FAR * (self.error + EPS * self.size)
        zero &= (np.abs(got) <= nearly) | (np.abs(got) > far) | ~np.isfinite(got)
        with np.errstate(invalid="ignore"):
            return (known | zero | self.far_off(got)) & self.usable()

    def usable(self) -> np.ndarray:
        """The entries of which there is an estimate at all."""
        return np.isfinite(self.error) & np.isfinite(self.value) & ~self.kink

    def far_off(self, got: np.ndarray) -> np.ndarray:
        """The entries that are wrong by so much that an estimate of a few digits tells."""
        return far_off(got, self.value, self.error) & self.usable()

    def _without_bends(self, f: Function, xs: list[Any], ts: list[Any], base: np.ndarray) -> Estimate:
        """The same estimate, where the kinks that are none from close by are not known instead."""
        if np.any(self.kink):
            bends = self.kink & _bends_only(f, xs, ts, base, np.abs(self.value))
            self.kink, self.error = self.kink & ~bends, np.where(bends, np.inf, self.error)
        return self

    def only(self, known: np.ndarray) -> Estimate:
        """The estimate of some entries; zero for the others."""
        keep = lambda v: np.where(known, v, np.zeros_like(v))
        return Estimate(keep(self.value), keep(self.error), self.kink & known, self.size, self.evaluations)


def far_off(got: Any, value: Any, error: Any) -> Any:
    """Where a finite result differs from an estimate, known coarsely at least, by very much more than its error."""
    with np.errstate(invalid="ignore"):
        apart, size = np.abs(got - value), np.abs(value)
        return np.isfinite(got) & (apart > OFF * error) & (apart > GROSSLY * size) & (error <= COARSELY * size)


def _largest(v: np.ndarray) -> float:
    finite = np.abs(v[np.isfinite(v)])
    return float(finite.max()) if finite.size else 0.0


def pack(ys: Sequence[Any]) -> np.ndarray:
    """The inexact values of a list in one vector of double precision."""
    parts = [np.array(wide(y)).ravel() for y in ys if y is not None and is_inexact(dtype_of(y))]
    return np.concatenate(parts) if len(parts) > 1 else parts[0] if parts else np.zeros(0)


def widened(xs: Sequence[Any]) -> list[Any]:
    """Inexact values in double precision, the others as they are."""
    return [wide(x)[()] if is_inexact(dtype_of(x)) else x for x in xs]


def directional_derivative(
    f: Function,
    xs: Sequence[Any],
    ts: Sequence[Any],
    *,
    precision: float = 1e-6,
    eps: float = EPS,
    step: float | None = None,
    quick: bool = False,
    rounding: np.ndarray | None = None,
) -> Estimate:
    """Derivative of `f` (flat list of plain arrays -> flat list) at `xs` along `ts`, None meaning zero.

    The steps are taken from coarse to fine, some at a time. A quick estimate ends where they settle; otherwise the
    whole ladder is climbed, and a second, finer one where the first does not settle. `step` fixes the first step
    instead; `eps` is the relative accuracy that f is known to compute with, at best, and `rounding` what is known of
    the errors of its entries beside that.
    """
    points = widened(xs)
    moves = [None if t is None else wide(t)[()] for t in ts]
    with np.errstate(all="ignore"):
        base = pack(f(list(points)))
        if quick and step is None:
            few = _Ladder(f, points, moves, base, QUICK_STEP, eps, rounding).quick_estimate()
            if few is not None:
                return few
        first = _Ladder(f, points, moves, base, FIRST_STEP if step is None else step, eps, rounding).estimate()
        if step is not None or bool(np.all(first.conclusive(first.value, precision) | first.kink)):
            return first._without_bends(f, points, moves, base)
        second = _Ladder(f, points, moves, base, FIRST_STEP * RATIO ** -(STEPS - 2), eps, rounding).estimate()
    with np.errstate(invalid="ignore"):
        apart = np.abs(second.value - first.value)
        contradiction = np.isfinite(first.error) & (apart > ERRORS * (first.error + second.error))
        # then f is a staircase or jumps, and neither of them is believed: but for a finer one that has settled, where f
        # varies faster than the coarse one can see
        resolved = contradiction & (second.error < RESOLVED * np.abs(second.value))
        better = (second.error < first.error) | resolved
        # a slope that is seen from afar only may be below the resolution of f close by
        faint = (np.abs(second.value) <= 3 * second.error) & (np.abs(first.value) > 3 * first.error)
        smooth = ~second.kink & (second.error < 1e-6 * np.abs(second.value))  # what looked like a kink from afar
    both = Estimate(
        np.where(better, second.value, first.value),
        np.where(
            contradiction & ~resolved | better & faint,
            apart + second.error,
            np.where(better, second.error, first.error),
        ),
        np.where(better, second.kink, first.kink & ~smooth),
        first.size,
        first.evaluations + second.evaluations,
    )
    return both._without_bends(f, points, moves, base)


class _Ladder:
    """f at the steps first, first / RATIO, ... to both sides, for an estimate of the derivative."""

    def __init__(
        self,
        f: Function,
        xs: list[Any],
        ts: list[Any],
        base: np.ndarray,
        first: float,
        eps: float,
        rounding: np.ndarray | None,
    ):
        self.f, self.xs, self.ts, self.base, self.eps = f, xs, ts, base, eps
        self.rounding = np.zeros(()) if rounding is None else rounding
        self.steps = first * RATIO ** -np.arange(STEPS)

    def climb(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """f on both sides at the first steps, so many of them."""
        ends = [[_at(self.f, self.xs, self.ts, side * h, self.base) for h in self.steps[:count]] for side in (1, -1)]
        return np.array(ends[0]), np.array(ends[1])

    def quick_estimate(self) -> Estimate | None:
        """By few steps and few extrapolants, with no search for the best of them; None where they do not settle.

        It is believed where the rule agrees with it, so their scatter will do for the noise. They have
        settled where more steps would not be much better: of many entries, most have to be known well, all fairly.
        """
        up, down = self.climb(FEW_STEPS)
        base, first = self.base, self.steps[0]
        found = (EXTRAPOLANTS / first) @ (up - down)
        value = found[0]
        size = np.maximum(np.abs(base), np.abs(up[0]))
        noise = (AMPLIFIED / first) * np.maximum(self.eps * size, self.rounding)
        error = np.max(np.abs(found[1:] - value), axis=0) + noise
        jump = np.abs((JUMP / first) @ (up + down - 2 * base)) - 8 * (np.abs(JUMP).sum() / first) * self.eps * size
        slope = np.abs(value)
        scale = slope + 0.01 * _largest(slope)
        if np.any(jump > 1e-6 * scale):
            return None
        fairly = error <= FAIRLY * scale
        well = (error <= (SETTLED + 4 * self.eps) * scale) | fairly & (error <= 3 * noise)
        if base.size > MANY:
            well |= fairly
            if not (np.mean(well) > MOST and np.all(error <= 100 * FAIRLY * scale)):
                return None
        elif sum(np.count_nonzero(t) for t in self.ts if t is not None) >= COSTLY:
            if not np.all(fairly | (error <= 3 * noise) & (error <= 20 * FAIRLY * scale)):
                return None
        elif not np.all(well):
            return None
        return Estimate(value, error, np.zeros(base.shape, bool), size, 2 * FEW_STEPS + 1)

    def estimate(self) -> Estimate:
        up, down = self.climb(STEPS)
        base, steps = self.base, self.steps
        h = steps[:, None]
        slopes = (up - down) / (2 * h)
        size = np.maximum(np.abs(base), np.max(np.where(np.isfinite(up), np.abs(up), 0), axis=0, initial=0))
        noise = _noise(slopes, steps, np.maximum(self.eps * size, self.rounding))
        value, error = _extrapolate(slopes, steps, noise)
        kink, steep = _kinks((up + down - 2 * base) / h, slopes, steps, noise)
        own = np.where(base == 0, size, np.minimum(size, TYPICAL * np.abs(base)))  # and not that beside a pole
        return Estimate(value, np.where(steep, np.inf, error), kink, own, 2 * STEPS + 1)


def _at(f: Function, xs: list[Any], ts: list[Any], h: float, base: np.ndarray) -> np.ndarray:
    """f at xs + h ts; nan where that lies outside f's domain."""
    try:
        out = pack(f([x if t is None else x + h * t for x, t in zip(xs, ts, strict=True)]))
    except Exception:  # whatever a function raises outside its domain
        return np.full_like(base, np.nan)
    return out if out.shape == base.shape else np.full_like(base, np.nan)


def _noise(slopes: np.ndarray, steps: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """Rounding noise of f, an entry: a floor, and how the extrapolated slopes of the finest steps scatter.

    Curvature makes them differ too, less so the further they are extrapolated: hence the median of three.
    """
    table = slopes[-FINEST - 1 :]
    scatters = []
    for order in (1, 2, 3):
        table = _improve(table, order)
        apart = np.abs(np.diff(table, axis=0)) * steps[-len(table) + 1 :, None]
        scatters.append(np.max(np.where(np.isfinite(apart), apart, 0), axis=0, initial=0))
    return np.maximum(floor, np.median(scatters, axis=0))


def _extrapolate(slopes: np.ndarray, steps: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best extrapolant of each entry and its error."""
    values, bounds = [], []
    table = slopes
    for order in range(1, EXTRAPOLATIONS + 1):
        better = _improve(table, order)
        disagreement = np.maximum(np.abs(better - table[1:]), np.abs(better - table[:-1]))
        # the next finer extrapolant has to agree as well, so that no chance coincidence of two passes for accuracy
        disagreement = np.maximum(disagreement[:-1], np.abs(better[1:] - better[:-1]))
        values.append(better[:-1])
        bounds.append(_no_better_than_finer(disagreement + 2 * noise / steps[order:-1, None]))
        table = better
    value, bound = np.concatenate(values), np.concatenate(bounds)
    bound = np.where(np.isfinite(bound), bound, np.inf)
    best = np.argmin(bound, axis=0)[None]
    chosen = np.take_along_axis(value, best, 0)[0]
    return chosen, np.maximum(np.take_along_axis(bound, best, 0)[0], _contradicted(chosen, slopes, steps, noise))


def _contradicted(value: np.ndarray, slopes: np.ndarray, steps: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """How far an estimate is from all slopes over the finest steps, where that is far: coarse ones go past a pole."""
    fine = slopes[-FINEST // 2 :]
    apart = np.abs(fine - value) - ERRORS * noise / steps[-FINEST // 2 :, None]
    excess = np.min(np.where(np.isfinite(apart), apart, 0), axis=0)
    return np.where(excess > 0.1 * np.max(np.abs(fine), axis=0), excess, 0)


def _no_better_than_finer(bounds: np.ndarray) -> np.ndarray:
    """Errors that grow, from fine steps to coarse, no slower than rounding noise falls.

    The smallest of many bounds is taken in the end, and the smallest is the one that chance made too small.
    """
    smooth = bounds.copy()
    for k in (1, 2):
        smooth[:-k] = np.maximum(smooth[:-k], bounds[k:] / RATIO**k)
    return smooth


def _kinks(
    bends: np.ndarray, slopes: np.ndarray, steps: np.ndarray, noise: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Entries whose one-sided slopes differ, since (f(x+h) + f(x-h) - 2 f(x)) / h does not go to zero with h; and those
    where it grows instead, as it does at a jump or beside a pole, so that there are no slopes at all."""
    fine = bends[-FINEST:]
    jump = np.abs((RATIO * fine[1:] - fine[:-1]) / (RATIO - 1))  # extrapolated to step zero
    steady = jump[-1] >= 0.7 * jump[0]  # where it fades with the step, it is a power above the first
    grows = jump[-1] > 1.5 * jump[0]
    jump = jump - 40 * noise / steps[-FINEST + 1 :, None]
    slope = np.max(np.abs(slopes[-FINEST:]), axis=0)
    bent = (np.min(jump, axis=0) > 1e-6 * slope) & steady
    return bent & ~grows, bent & grows


def _bends_only(f: Function, xs: list[Any], ts: list[Any], base: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Entries whose slopes to the two sides differ less and less at steps that are smaller still, down to the
    resolution of f: it bends sharply there, as the root of x**2 + 1e-20 does at 0, and has no kink."""
    scale = max((float(np.max(np.abs(x), initial=0)) for x, t in zip(xs, ts, strict=True) if t is not None), default=0)
    moving = max((float(np.max(np.abs(t), initial=0)) for t in ts if t is not None), default=0)
    widest, faded = np.zeros(base.shape), np.zeros(base.shape, bool)
    for h in CLOSER:
        up, down = (_at(f, xs, ts, side * h, base) for side in (1, -1))
        jump = np.abs(up + down - 2 * base) / h
        resolved = EPS * (8 * np.abs(base) + 8 * slope * scale / moving) / h if moving else np.inf
        widest = np.maximum(widest, np.nan_to_num(jump))
        faded |= (jump + resolved < FADED * widest) & (resolved < 0.1 * widest)
    return faded
