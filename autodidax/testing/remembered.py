"""Rules that keep what they computed, and use it again at other arguments: close by, or the same ones in another order.

A cache whose key is a rounded argument, np.allclose, a sum or a set of the entries gives the very same result where it
should not. So does a rule whose derivative does not depend on the argument at all; numeric derivatives tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autodidax.core.avals import is_inexact
from autodidax.testing import directions as dirs
from autodidax.testing.comparison import ROUNDINGS, same
from autodidax.testing.linearity import VARIES
from autodidax.testing.numeric import ERRORS, pack
from autodidax.testing.point import Point
from autodidax.testing.rules import RuleRaised

CLOSE = (1e-6, 1e-3)  # relative distances
FAR = 0.4
REPEATS = 16
STRIDE = 8  # entries that a sum of many adds to each other first
MANY = 16

Run = Callable[[list[Any]], list[Any]]


def check_remembered(point: Point, mode: str) -> None:
    """A rule that has just run at the point, at others that are alike: does it give the same bits, and should it?"""
    run: Run = (
        (lambda xs: point.pushed(xs, point.ts)) if mode == "fwd" else (lambda xs: point.pulled(xs, point.cts))
    )  # fmt: skip
    try:
        _compare(point, mode, run)
    except RuleRaised:  # the function need not be defined there
        return


def _compare(point: Point, mode: str, run: Run) -> None:
    before = run(list(point.xs))
    for _ in range(REPEATS if point.report.warnings else 1):  # what looked like lost digits may be a rule that varies
        if not same(run(list(point.xs)), before):
            point.fail(mode, "determinism", VARIES)
            return
    for what, xs, again in _alike(point):
        if again:
            run(list(point.xs))
        got = run(list(xs))
        equal = [k for k, (g, b) in enumerate(zip(got, before, strict=True)) if _bits(g, b)]
        if not equal:
            continue
        far = run(dirs.moved(point.rng, point.xs, FAR))
        for k in equal:
            if _bits(far[k], before[k]) or (rates := _changed(point, mode, k, xs)) is None:
                continue
            message = f"the very same result at the point and {what}: the rule seems to keep what it computed"
            point.fail(
                mode, "determinism", message, argument=point.rules.label(k) if mode == "rev" else "",
                expected=f"{rates[1]:.12g} there, {rates[0]:.12g} at the point, numerically", got="no change at all",
            )  # fmt: skip
            return


def _alike(point: Point) -> Iterator[tuple[str, list[Any], bool]]:
    """(what they are, arguments, whether the rule has to run at the point once more before)."""
    for distance in CLOSE:
        yield f"at arguments {distance:g} of themselves away", dirs.moved(point.rng, point.xs, distance), False
    exchanged = [_exchanged(x) for x in point.xs]
    if any(x is not y for x, y in zip(exchanged, point.xs, strict=True)):
        yield "with two entries exchanged", exchanged, True


def _exchanged(x: Any) -> Any:
    """Two different entries in each other's place, so that the sum of all is the same bit for bit."""
    if type(x) is not np.ndarray or not is_inexact(x.dtype) or x.size < 2:
        return x
    stride = STRIDE if x.size >= MANY else 1
    flat = x.ravel()
    differ = np.flatnonzero(flat[:-stride] != flat[stride:])
    if not differ.size:
        return x
    i, new = int(differ[0]), flat.copy()
    new[[i, i + stride]] = flat[[i + stride, i]]
    return new.reshape(x.shape)


def _bits(g: Any, b: Any) -> bool:
    """Whether two results are the same, and something."""
    return g is not None and np.array_equal(g, b) and bool(np.any(g))


def _changed(point: Point, mode: str, k: int, xs: list[Any]) -> tuple[float, float] | None:
    """The numeric derivatives at the point and at other arguments, where they certainly differ."""
    ts = point.ts if mode == "fwd" else dirs.only(point.ts, k)
    weights = point.cts if mode == "rev" else dirs.only(point.cts, k)
    rates, bound = [], dirs.TINY
    for at in (list(point.xs), xs):
        there = Point(point.rules, at, point.rng, point.report, overrides=point.overrides, accuracy=point.accuracy)
        try:
            est = there.estimate(ts)
        except Exception:  # the function need not be defined there
            return None
        used = pack(weights) != 0
        if np.any(used & ~est.conclusive(est.value, point.precision)):
            return None
        terms = np.where(used, pack(weights) * est.value, 0)
        rates.append(float(np.sum(terms).real))
        bound += ERRORS * float(np.sum(np.where(used, np.abs(pack(weights)) * est.error, 0)))
        bound += ROUNDINGS * dirs.unit_roundoff(point.xs, point.ys) * float(np.sum(np.abs(terms)))
    return (rates[0], rates[1]) if abs(rates[1] - rates[0]) > bound else None
