"""Digits that a rule loses: its rounding noise beside what the conditioning of the derivative explains."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from autodidax.testing import directions as dirs
from autodidax.testing.comparison import entry

if TYPE_CHECKING:
    from autodidax.testing.layers import Point

LOST = 3.0  # digits that may be lost without a word
DRAWS = 3
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
    noise = np.median([np.abs(run(dirs.nudged(point.rng, point.xs)) - here) for _ in range(DRAWS)], axis=0)
    size = np.abs(here) + 0.01 * np.max(np.abs(here[np.isfinite(here)]), initial=0)
    suspicious = noise > 10.0**LOST * eps * size
    if not np.any(suspicious):
        return
    moves = [np.abs(run(dirs.moved(point.rng, point.xs, STEP)) - here) * (2 * eps / STEP) for _ in range(DRAWS)]
    with np.errstate(all="ignore"):
        lost = np.log10(noise / np.maximum(np.maximum(*moves[:2], moves[2]), eps * size))
    lost = np.where(suspicious & np.isfinite(lost), lost, 0)
    if not np.max(lost, initial=0) > LOST:
        return
    k = int(np.argmax(lost))
    values = point.ys if mode == "fwd" else point.xs
    name: Any = "output {}".format if mode == "fwd" else point.rules.label
    point.report.warn(
        point.failure(
            mode, "precision", f"the rule loses {lost[k]:.0f} digits to cancellation: a relative noise of "
            f"{noise[k] / (size[k] + 1e-300):.1g}", where=f"most in {entry(k, values, name)}",
        )
    )  # fmt: skip
