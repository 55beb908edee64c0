"""Central differences with an estimate of their error."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

STEP = 2e-3
LEVELS = 4


def directional_derivative(
    f: Callable[..., list[Any]], xs: Sequence[Any], ts: Sequence[Any]
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """For each inexact output of f: its derivative at xs along ts (None: zero), the error, and which entries are known.

    Steps are halved and extrapolated twice (Richardson); an entry is known where two extrapolants agree to a few parts
    in a million of the largest and where the slopes to the two sides agree, so that no kink lies at the point.
    """
    length = max([float(np.max(np.abs(t), initial=0)) for t in ts if t is not None], default=1.0)
    steps = [STEP / max(length, 1.0) / 2**k for k in range(LEVELS)]
    with np.errstate(all="ignore"):
        base = _inexact(f(*xs))
        ahead = [_inexact(f(*_moved(xs, ts, h))) for h in steps]
        behind = [_inexact(f(*_moved(xs, ts, -h))) for h in steps]
        return [_estimate(base[k], [a[k] for a in ahead], [b[k] for b in behind], steps) for k in range(len(base))]


def _moved(xs: Sequence[Any], ts: Sequence[Any], h: float) -> list[Any]:
    return [x if t is None else x + h * t for x, t in zip(xs, ts, strict=True)]


def _inexact(ys: Sequence[Any]) -> list[np.ndarray]:
    return [np.asarray(y) for y in ys if np.asarray(y).dtype.kind in "fc"]


def _estimate(
    base: np.ndarray, ahead: list[np.ndarray], behind: list[np.ndarray], steps: list[float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    slopes = [(a - b) / (2 * h) for a, b, h in zip(ahead, behind, steps, strict=True)]
    once = [(4 * fine - coarse) / 3 for coarse, fine in itertools.pairwise(slopes)]
    twice = [(16 * fine - coarse) / 15 for coarse, fine in itertools.pairwise(once)]
    value = twice[-1]
    noise = 20 * float(np.finfo(base.dtype).eps) * np.max(np.abs(base), initial=0) / steps[-1]
    error = np.abs(twice[-1] - twice[-2]) + np.abs(twice[-1] - once[-1]) * 1e-2 + noise
    bends = [np.abs(a + b - 2 * base) / h for a, b, h in zip(ahead, behind, steps, strict=True)]
    smooth = bends[-1] <= 0.75 * bends[-2] + 1e-6 * np.abs(value) + noise
    scale = np.maximum(np.max(np.abs(value[np.isfinite(value)]), initial=0.0), 1e-6)
    known = np.isfinite(error) & (error <= 1e-5 * scale) & smooth
    return value, error, known
