"""Digits that a rule loses: its rounding noise beside what the conditioning of the derivative explains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from autodidax.testing import directions as dirs
from autodidax.testing.comparison import entry
from autodidax.testing.rules import RuleRaised

if TYPE_CHECKING:
    from autodidax.testing.point import Point

LOST = 3.0  # digits that may be lost without a word
DRAWS = 3
ROUNDING = 3e-11  # relative differences that rounding inside a rule may explain at the given point
MOVES = tuple(2.0**-k for k in range(12, 40, 4))  # relative, of which the noise is taken
CLOSE = 2.0**-24  # relative size of moves that change how the steps of a rule are rounded, and little else
STEP = 2.0**-20  # relative size of the moves that measure the conditioning


def check(point: Point, mode: str, run: Callable[[list[Any]], np.ndarray]) -> None:
    """Warn where the result of `run` moves much more than it should when its inputs move in the last place.

    A smooth derivative that is hard to compute moves in proportion to the input's move: that is its conditioning, and
    no fault of the rule. Noise beyond it is what cancellation inside the rule has cost.
    """
    eps = dirs.unit_roundoff(point.xs, point.ys)
    if eps > 1e-10:
        return
    here = run(point.xs)
    size = np.abs(here) + 0.01 * np.max(np.abs(here[np.isfinite(here)]), initial=0)
    signs = dirs.signs(point.rng, point.xs)
    try:
        # a curve's second difference goes with the square of the move
        sides = run(dirs.stretched(point.xs, signs, CLOSE)) + run(dirs.stretched(point.xs, signs, -CLOSE))
        if not np.any(np.abs(sides - 2 * here) > 10.0**LOST * eps * size):
            return
        moved = np.max([np.abs(run(dirs.moved(point.rng, point.xs, STEP)) - here) for _ in range(DRAWS)], axis=0)
    except RuleRaised:  # at the edge of the domain
        return
    noise = wiggle(point, run)
    explained = moved * (2 * eps / STEP) + eps * size
    warn(point, mode, np.where(noise > 10.0**LOST * explained, noise, 0), size, point.ys if mode == "fwd" else point.xs)


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
    draws = []
    try:
        for _ in range(DRAWS):
            signs = dirs.signs(point.rng, point.xs)
            found = [_fifth_difference(point, run, signs, step) for step in moves]
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
