"""Linearity of a rule in its tangents or cotangents, and that it is a function of nothing else.

Scaling by a power of two is exact in floating point, so homogeneity needs no tolerance beyond rounding and the
resolution of the outputs; one part at a time, with zeros or nothing in the place of the rest, has to add up to the
whole; the same values in another memory layout give the same result; and calls between two equal calls change nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of
from autodidax.testing import directions as dirs
from autodidax.testing.comparison import ROUNDINGS, additive, close, same, snapshot
from autodidax.testing.report import brief, raised
from autodidax.testing.rules import RuleRaised

if TYPE_CHECKING:
    from autodidax.testing.point import Point

VARIES = "two runs of the rule on the same values give different results"
ERRORS = 8.0  # of the rule's own rounding noise that are allowed
CONSTANT = complex(45, 19) / 64  # no integer
OTHER_FACTORS = (1.1, 0.7, 1.3, 0.9, 1.7)  # scalings that round otherwise than the seed itself

Apply = Callable[[list[Any]], list[Any]]


def check_linearity(
    point: Point, mode: str, at: Callable[[list[Any]], Apply], apply: Apply, vs: list[Any], out: list[Any]
) -> None:
    """A rule's linear map `apply` at `vs`, whose result there is `out`: homogeneity, additivity, purity, determinism,
    and that memory layouts do not matter. `at(xs)` runs the rule again for the same map.

    Two calls of that, with all values in another layout, some entries scaled up and others down, show whether there is
    anything to look for more closely.
    """
    kept = snapshot(out)
    active = [k for k, v in enumerate(vs) if v is not None]
    parts = _mixed_parts(point.rng, vs)
    failures = len(point.report.failures)
    agrees = _splits(point, mode, at, parts, vs, out)
    if not same(kept, out):
        point.fail(mode, "purity", "a later call changed the result of an earlier one")
        return
    if not agrees:
        _layout(point, mode, at, vs, out)
        _homogeneity(point, mode, apply, vs, out)
        _additivity(point, mode, apply, vs, out, _masked_parts(point.rng, vs))
        _additivity(point, mode, apply, vs, out, *parts)
        if len(point.report.failures) == failures and _splits(point, mode, at, parts, vs, out):
            point.fail(mode, "determinism", VARIES)
    if len(active) > 1:
        for zeros in (True, False):
            _additivity(point, mode, apply, vs, out, [dirs.only(vs, k, zeros=zeros) for k in active])
    if not same(kept, out):
        point.fail(mode, "purity", "a later call changed the result of an earlier one")
    point.report.passed(mode)


def check_special(point: Point, mode: str, apply: Apply, vs: list[Any], out: list[Any]) -> None:
    """A linear map where shortcuts are taken: all entries are zero, some are, a part adds up to zero; all are one, or
    have another value in common; they are integers; one alone is not zero."""
    if sum(int(np.size(v)) for v in vs if v is not None) > 1:
        _additivity(point, mode, apply, vs, out, _masked_parts(point.rng, vs))
    sums = [_zero_sum(point.rng, v) for v in vs]
    if any(v is not None and np.any(v) for v in sums):
        rest = [None if v is None else np.asarray(v - p, v.dtype)[()] for v, p in zip(vs, sums, strict=True)]
        _additivity(point, mode, apply, vs, out, [sums, rest])
    nothing = [None if v is None else np.zeros_like(v) for v in vs]
    try:
        zeros = apply(nothing)
    except RuleRaised as e:
        message = f"for a {seed_name(mode)} of zeros the rule raised {raised(e.__cause__)}"
        point.fail(mode, "homogeneity", message)
        return
    for k, (z, w) in enumerate(zip(zeros, out, strict=True)):
        if z is not None and np.any(np.where(np.isfinite(w), z, 0)):
            if not _repeats(point, mode, apply, [(nothing, zeros)]):
                return
            message = f"scaling the {seed_name(mode)} by 0 does not scale the result {k}"
            point.fail(mode, "homogeneity", message, expected="zeros", got=brief(z))
            return
    parts = _plain_parts(point.rng, vs)
    whole = [None if v is None else np.asarray(sum(p), v.dtype)[()]
             for v, p in zip(vs, zip(*parts, strict=True), strict=True)]  # fmt: skip
    _additivity(point, mode, apply, whole, apply(whole), parts)


def _plain_parts(rng: np.random.Generator, vs: list[Any]) -> list[list[Any]]:
    """Ones, another constant, integers, and one entry alone, of few digits, so that their sums are exact; what they add
    up to is none of these."""
    integers = [None if v is None else _integers(rng, v) for v in vs]
    single = [None if v is None else np.zeros_like(v) for v in vs]
    filled = [k for k, v in enumerate(vs) if v is not None and np.size(v)]
    if filled:
        k = filled[rng.integers(len(filled))]
        part = np.array(single[k])
        part.flat[rng.integers(part.size)] = 1
        single[k] = part[()]
    constants = [
        [None if v is None else np.full_like(v, c if dtype_of(v).kind == "c" else c.real)[()] for v in vs]
        for c in (complex(1), CONSTANT)
    ]
    return [*constants, integers, single]


def _integers(rng: np.random.Generator, like: Any) -> Any:
    """Integers from -3 to 3 in the shape and dtype of `like`, none of them zero, not all of them equal."""
    new = np.zeros_like(like)
    for unit in (1, 1j) if new.dtype.kind == "c" else (1,):
        drawn = rng.integers(1, 4, new.shape) * np.where(rng.random(new.shape) < 0.5, -1, 1)
        if drawn.size > 1 and np.all(drawn == drawn.flat[0]):
            drawn.flat[0] *= -1
        new = new + np.asarray(unit * drawn, new.dtype)
    return np.asarray(new, dtype_of(like))[()]


def _zero_sum(rng: np.random.Generator, v: Any) -> Any:
    """One entry of `v`, and its negative in the place of another; zeros elsewhere."""
    if v is None or np.size(v) < 2:
        return None if v is None else np.zeros_like(v)
    part = np.zeros_like(v)
    i, j = rng.choice(np.size(v), 2, replace=False)
    part.flat[i], part.flat[j] = v.flat[i], -v.flat[i]
    return part


def _splits(
    point: Point, mode: str, at: Callable[[list[Any]], Apply], parts: tuple[Any, Any], vs: list[Any], out: list[Any]
) -> bool:  # fmt: skip
    """Whether two parts of `vs`, scaled very differently, add up to so many times `out` when they are scaled back.

    Of a single number, both parts are the whole.
    """
    far = _far(point.xs, vs, out)
    scales = (-(2.0**far), 2.0**-far)
    single = sum(int(np.size(v)) for v in vs if v is not None) < 2
    pair, times = ([vs, vs], 2.0) if single else parts
    apply = at([_other_layout(x) for x in point.xs])
    results = []
    for part, c in zip(pair, scales, strict=True):
        results.append(dirs.scaled(apply([_other_layout(v) for v in dirs.scaled(part, c)]), 1 / c))
    sums = [[r[k] for r in results] for k in range(len(out))]
    if single:
        return all(w is None or all(close(p, w, slack=_slack(point, mode, k, w)) for p in own)
                   for k, (own, w) in enumerate(zip(sums, out, strict=True)))  # fmt: skip
    return all(w is None or additive(own, w * times, _slack(point, mode, k, w))
               for k, (own, w) in enumerate(zip(sums, out, strict=True)))  # fmt: skip


def _slack(point: Point, mode: str, k: int, want: Any) -> float:
    """What a result may be off by: what the user allows, and what is below the resolution of the function's outputs,
    since a rule's terms may be as large as these and cancel, as those of a saturated softmax do."""
    eps = dirs.unit_roundoff(point.xs, point.ys)
    outputs = [np.abs(dirs.wide(y)) for y in point.ys]
    if mode == "fwd":
        largest = np.where(np.isfinite(outputs[k]), outputs[k], 0)
        return point.allowed(want) + ROUNDINGS * eps * dirs.reach(point.ts) * float(np.max(largest, initial=0))
    paired = dirs.pairing([None if c is None else np.abs(c) for c in point.cts], outputs)[0]
    moves = np.abs(dirs.wide(point.ts[k]))
    least = float(np.min(moves[moves > 0], initial=np.inf))
    return point.allowed(want) + (ROUNDINGS * eps * paired / least if np.isfinite(paired) else 0.0)


def _mixed_parts(rng: np.random.Generator, vs: list[Any]) -> tuple[list[list[Any]], float]:
    """Two vectors, in each of which some entries are tiny beside the others, and what times `vs` they add up to."""
    tiny = 2.0**-20 if dirs.unit_roundoff(vs) < 1e-12 else 2.0**-10
    ones, others = _masked_parts(rng, vs)
    mixed = [
        [None if a is None else np.asarray(a + b * dtype_of(b).type(tiny), dtype_of(a))[()]
         for a, b in zip(*pair, strict=True)]
        for pair in ((ones, others), (others, ones))
    ]  # fmt: skip
    return mixed, 1 + tiny


def _factors(xs: Sequence[Any], vs: Sequence[Any], out: Sequence[Any]) -> tuple[float, ...]:
    """Powers of two, with which scaling is exact: large and negative, small, and zero."""
    far = _far(xs, vs, out)
    return (-1.0, 2.0 ** min(20, far), 2.0**far, 2.0**-far, 0.0)


def _far(xs: Sequence[Any], vs: Sequence[Any], out: Sequence[Any]) -> int:
    """The power of two that values may be scaled by, up and down, so that none, nor its product with an input, leaves
    the range of normal numbers."""
    eps = dirs.unit_roundoff(vs)
    most, reach, digits = (60, 1022, 53) if eps < 1e-12 else (20, 126, 24) if eps < 1e-4 else (8, 14, 11)
    reach -= max((abs(math.frexp(float(np.max(np.abs(x))))[1]) for x in xs if is_inexact(dtype_of(x)) and np.size(x)
                  and np.all(np.isfinite(x))), default=0)  # fmt: skip
    for v in (*vs, *out):
        if v is not None and np.size(v):
            sizes = np.abs(v)
            for size in (float(np.max(sizes)), float(np.min(sizes))):
                if size and np.isfinite(size):
                    most = min(most, reach - abs(math.frexp(size)[1]) - digits)
    return max(most, 1)


def _homogeneity(point: Point, mode: str, apply: Apply, vs: list[Any], out: list[Any]) -> None:
    for factor in _factors(point.xs, vs, out):
        scaled = dirs.scaled(vs, factor)
        got = apply(scaled)
        for k, (g, w) in enumerate(zip(got, dirs.scaled(out, factor), strict=True)):
            if factor == 0.0 and w is not None:  # a zero times an infinite slope need not be nan
                w = np.where(np.isfinite(out[k]), w, g)[()]
            if w is None or close(g, w, 4.0, elementwise=True) or close(g, w, 8 * ROUNDINGS):
                continue
            noise = abs(factor) * ERRORS * _noise(point, apply, vs, out, k, scaling=False)
            noise += abs(factor) * _slack(point, mode, k, out[k])
            if not close(g, w, 8 * ROUNDINGS, slack=noise):
                noise += abs(factor) * ERRORS * _rounding(point, mode, vs, k)
            if not close(g, w, 8 * ROUNDINGS, slack=noise):
                if not _repeats(point, mode, apply, [(scaled, got), (vs, out)]):
                    return
                message = f"scaling the {seed_name(mode)} by {_power(factor)} does not scale the result {k}"
                point.fail(mode, "homogeneity", message, expected=brief(w), got=brief(g))
                return


def _additivity(
    point: Point, mode: str, apply: Apply, vs: list[Any], out: list[Any], parts: list[list[Any]], times: float = 1.0
) -> None:  # fmt: skip
    """The results of the parts add up to so many times the whole."""
    results = [apply(p) for p in parts]
    for k, w in enumerate(out):
        own = [r[k] for r in results]
        if w is None or additive(own, w * times, _slack(point, mode, k, w)):
            continue
        noise = ERRORS * _noise(point, apply, vs, out, k, scaling=True)
        if not additive(own, w * times, slack=noise):
            noise += ERRORS * _rounding(point, mode, vs, k)
        if not additive(own, w * times, slack=noise):
            if not _repeats(point, mode, apply, [*zip(parts, results, strict=True), (vs, out)]):
                return
            message = f"the result {k} of one part of the {seed_name(mode)} at a time does not add up to the whole"
            point.fail(mode, "additivity", message, expected=brief(w * times), got=brief(sum(own)))
            return


def _repeats(point: Point, mode: str, apply: Apply, calls: list[tuple[list[Any], list[Any]]]) -> bool:
    """Whether calls that look wrong together give the same results twice more; it is reported where they do not."""
    again = all(same(apply(list(vs)), result) for vs, result in [*calls, *calls])
    if not again:
        point.fail(mode, "determinism", VARIES)
    return again


def _masked_parts(rng: np.random.Generator, vs: Sequence[Any]) -> list[list[Any]]:
    """Two parts that add up to `vs`, each entry in one of them; neither is nothing where there are two entries."""
    ones: list[Any] = []
    others: list[Any] = []
    for v, mask in zip(vs, _masks(rng, vs), strict=True):
        ones.append(None if v is None else np.where(mask, v, np.zeros_like(v))[()])
        others.append(None if v is None else np.where(mask, np.zeros_like(v), v)[()])
    return [ones, others]


def _masks(rng: np.random.Generator, vs: Sequence[Any]) -> list[np.ndarray]:
    masks = [np.atleast_1d(rng.random(np.shape(v)) < 0.5) for v in vs]
    filled = [mask for mask, v in zip(masks, vs, strict=True) if v is not None and mask.size]
    for all_or_none in (True, False):
        if sum(mask.size for mask in filled) > 1 and all(np.all(mask == all_or_none) for mask in filled):
            mask = filled[rng.integers(len(filled))]
            mask.flat[rng.integers(mask.size)] ^= True
    return [mask.reshape(np.shape(v)) for mask, v in zip(masks, vs, strict=True)]


def _noise(point: Point, apply: Apply, vs: list[Any], out: list[Any], k: int, *, scaling: bool) -> float:
    """How much a result moves by rounding: when the vector moves by some units in the last place and, where that
    is not what is being tested, when it is scaled by factors that are no powers of two."""
    moved = []
    for factor in OTHER_FACTORS:
        c = factor if scaling else 1.0
        result = dirs.wide(apply(dirs.nudged(point.rng, dirs.scaled(vs, c)))[k]) / c
        moved.append(np.max(np.abs(result - dirs.wide(out[k])), initial=0))
    return float(np.median(moved))


def _rounding(point: Point, mode: str, vs: list[Any], k: int) -> float:
    """How far result k moves with other rounding errors in the rule."""
    errors, like = (point.rounding_forward(vs), point.ys) if mode == "fwd" else (point.rounding_reverse(vs), point.xs)
    return float(np.max(dirs.unpacked(errors, like)[k], initial=0)) if errors.ndim else 0.0


def _layout(point: Point, mode: str, at: Callable[[list[Any]], Apply], vs: list[Any], out: list[Any]) -> None:
    """The rule once more on the same values, and in another memory layout.

    Nothing is asked of a rule whose function itself depends on the layout.
    """
    if not same(at(list(point.xs))(list(vs)), out):
        point.fail(mode, "determinism", VARIES)
        return
    xs = [_other_layout(x) for x in point.xs]
    others = [_other_layout(v) for v in vs]
    got = at(xs)(others)
    for k, (g, w) in enumerate(zip(got, out, strict=True)):
        if w is None or close(g, w, 8 * ROUNDINGS):
            continue
        if close(g, w, 8 * ROUNDINGS, slack=ERRORS * _layout_noise(point, at, vs, out, k)):
            continue
        ys = [np.asarray(y)[()] for y in point.rules.f(list(xs))]
        if all(close(y, want, 8 * ROUNDINGS) for y, want in zip(ys, point.ys, strict=True)):
            if not _repeats(point, mode, at(xs), [(others, got)]):
                return
            message = f"result {k} depends on the memory layout of the values (strides, order), not on them alone"
            point.fail(mode, "layout", message, expected=brief(w), got=brief(g))
        return


def _layout_noise(
    point: Point, at: Callable[[list[Any]], Apply], vs: list[Any], out: list[Any], k: int
) -> float:  # fmt: skip
    moved = [dirs.wide(at(dirs.nudged(point.rng, point.xs))(list(vs))[k]) - dirs.wide(out[k]) for _ in range(3)]
    return float(np.max(np.abs(moved), initial=0))


def _other_layout(x: Any) -> Any:
    """A view with the same values: axes in another order of memory, every second entry."""
    if type(x) is not np.ndarray or x.size < 2 or not is_inexact(dtype_of(x)):
        return x
    if x.flags.c_contiguous:
        view = np.zeros((*x.shape[::-1][:-1], 2 * x.shape[0]), x.dtype)[..., ::2].T
    else:
        view = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)[..., ::2]
    view[...] = x
    return view


def _power(factor: float) -> str:
    """A power of two as one reads it."""
    exponent = int(np.log2(abs(factor))) if factor else 0
    return f"{factor:g}" if abs(exponent) < 20 else f"2**{exponent}"


def seed_name(mode: str) -> str:
    return "tangent" if mode == "fwd" else "cotangent"
