"""Digits that a rule loses: its rounding noise beside what the conditioning of the derivative explains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from autodidax.testing import directions as dirs
from autodidax.testing.comparison import entry, same
from autodidax.testing.numeric import pack
from autodidax.testing.rules import RuleRaised
from autodidax.testing.smoothness import linear_there

if TYPE_CHECKING:
    from autodidax.testing.point import Point

LOST = 3.0  # digits that may be lost without a word
DRAWS = 3
ROUNDING = 1e-8  # relative differences that rounding inside a rule may explain at the given point
MOVES = tuple(2.0**-k for k in range(12, 40, 4))  # relative, of which the noise is taken
FACTORS = (1.0, 0.83, 1.21, 0.71, 1.43)  # of these, so that each draw rounds otherwise
CLOSE = 2.0**-20  # relative size of moves that change how the steps of a rule are rounded, and little else
UNEVEN = (-1.0, 1.3, 2.1)  # of these moves: so that what is rounded to few digits shows in their differences too
STEP = 2.0**-20  # relative size of the moves that measure the conditioning
RANK = 1e-10  # relative size of the singular values of a numeric Jacobian that are known


def _third_difference() -> np.ndarray:
    """Weights of values at 0 and UNEVEN whose sum is zero for every parabola, that of the first being one."""
    at = np.array([0.0, *UNEVEN])
    weights = np.array([1 / np.prod([a - b for b in at if b != a]) for a in at])
    return weights / weights[0]


THIRD = _third_difference()


def check(point: Point, mode: str, here: np.ndarray, run: Callable[[list[Any]], np.ndarray]) -> None:
    """Warn where the result of `run`, which is `here` at the point, moves much more than it should when its inputs
    move in the last place.

    A smooth derivative that is hard to compute moves in proportion to the input's move: that is its conditioning, and
    no fault of the rule. Noise beyond it is what cancellation inside the rule has cost.
    """
    eps = dirs.unit_roundoff(point.xs, point.ys)
    if eps > 1e-10:
        return
    size = np.abs(here) + 0.01 * np.max(np.abs(here[np.isfinite(here)]), initial=0)
    signs = dirs.signs(point.rng, point.xs)
    try:
        values = [here, *_close_by(point, run, signs)]
        if not np.any(np.abs(np.tensordot(THIRD, values, 1)) > 10.0**LOST * eps * size):
            return
        if not same(values[1:], _close_by(point, run, signs)):
            point.fail(mode, "determinism", "two runs of the rule on the same values give different results")
            return
        moved = np.max([np.abs(run(dirs.moved(point.rng, point.xs, STEP)) - here) for _ in range(DRAWS)], axis=0)
    except RuleRaised:  # at the edge of the domain
        return
    noise = wiggle(point, run)
    explained = moved * (2 * eps / STEP) + eps * size
    lossy = noise > 10.0**LOST * explained
    if not np.any(lossy):
        return
    linear = linear_there(point, point.ts, point.estimate(point.ts))  # beside a kink it is another derivative
    lossy &= linear if mode == "fwd" else bool(np.all(linear))
    warn(point, mode, np.where(lossy, noise, 0), size, point.ys if mode == "fwd" else point.xs)


def _close_by(point: Point, run: Callable[[list[Any]], np.ndarray], signs: list[Any]) -> list[np.ndarray]:
    return [run(dirs.stretched(point.xs, signs, j * CLOSE)) for j in UNEVEN]


def amplified(point: Point, size: float) -> float:
    """The error of a derivative of that size that is explained by the conditioning of f: by how it amplifies the
    rounding of its inputs, or its inverse that of its results, as the solution of a linear system does."""
    here = pack(point.ys)
    finite = np.isfinite(here)
    try:
        moved = [pack(point.rules.f(dirs.nudged(point.rng, point.xs))) - here for _ in range(DRAWS)]
    except Exception:  # at the edge of the domain, whatever f raises there
        return 0.0
    largest = float(np.max(np.abs(here[finite]), initial=0))
    change = float(np.max(np.abs(np.nan_to_num(moved))[:, finite], initial=0))
    if not largest or not np.isfinite(change):
        return 0.0
    return size * min(max(change / largest, _inverted(point)), ROUNDING)


def _inverted(point: Point) -> float:
    """The rounding of results, amplified by the inverse of the Jacobian and the Jacobian itself, where that is
    affordable; whatever units the inputs have.

    Source: Skeel, Scaling for Numerical Stability in Gaussian Elimination, Journal of the ACM 26 (1979).
    """
    if not point.affordable():
        return 0.0
    columns = [point.estimate(ts, quick=True).value for ts in dirs.basis(point.xs)]
    jacobian = np.array(columns).T
    if not np.all(np.isfinite(jacobian)):
        return 0.0
    both = np.abs(np.linalg.pinv(jacobian, rcond=RANK)) @ np.abs(jacobian)
    return dirs.unit_roundoff(point.xs, point.ys) * float(np.max(both, initial=0))


def wiggle(point: Point, run: Callable[[list[Any]], np.ndarray]) -> np.ndarray:
    """Rounding noise of `run` at the point, an entry: fifth differences over moves that are small beside the inputs
    but large beside the rounding of what is computed from them.

    A curve's fifth difference falls with the fifth power of the move; where it does not fall from one move to the next,
    it is noise, or the move is wider than the curve: the least of these is the noise. Where moves are below the
    resolution of what is computed there is no difference, and nothing to learn. The point itself is left out: a rule
    that is wrong there alone is not noisy.
    """
    eps = dirs.unit_roundoff(point.xs, point.ys)
    moves = [step for step in MOVES if step > 8 * eps]
    if not moves:  # half precision
        return np.zeros(())
    draws = []
    try:
        for factor in FACTORS:
            signs = dirs.signs(point.rng, point.xs)
            found = [_fifth_difference(point, run, signs, factor * step) for step in moves]
            noise = np.full(found[0].shape, np.inf)
            for wide, close in pairwise(found):
                level = (close >= wide / 64) & (close > 0)
                noise = np.where(level, np.minimum(noise, np.maximum(wide, close)), noise)
            draws.append(np.where(np.isfinite(noise), noise, np.min(found, axis=0)))
    except RuleRaised:  # at the edge of the domain
        return np.zeros(())
    return np.nan_to_num(np.max(draws, axis=0), nan=0.0, posinf=0.0)


def _fifth_difference(
    point: Point, run: Callable[[list[Any]], np.ndarray], signs: list[Any], step: float
) -> np.ndarray:  # fmt: skip
    v = [run(dirs.stretched(point.xs, signs, j * step)) for j in (-5, -3, -1, 1, 3, 5)]
    return np.abs(v[5] - 5 * v[4] + 10 * v[3] - 10 * v[2] + 5 * v[1] - v[0]) / np.sqrt(252.0)


def warn(point: Point, mode: str, noise: np.ndarray, size: np.ndarray, values: Sequence[Any] | None) -> None:
    """Warn of the entry that loses most digits, where noise of this size loses more than a few."""
    eps = dirs.unit_roundoff(point.xs, point.ys)
    scale = size + 0.01 * np.max(size[np.isfinite(size)], initial=0)
    with np.errstate(all="ignore"):
        lost = np.nan_to_num(np.log10(noise / (eps * scale)), nan=0.0, posinf=0.0, neginf=0.0)
    if not np.max(lost, initial=0) > LOST:
        return
    k = int(np.argmax(lost))
    name: Any = "output {}".format if mode == "fwd" else point.rules.label
    message = f"the rule loses {lost[k]:.0f} digits to cancellation: a relative noise of {noise[k] / scale[k]:.1g}"
    where = "" if values is None else f"most in {entry(k, values, name)}"
    point.report.warn(point.failure(mode, "precision", message, where=where))
