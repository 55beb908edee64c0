"""Random tangents and cotangents, and the inner products that they are compared by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of, shape_of

SMALL, LEAST = 1e-6, 1e-3  # ratios of entries to the largest one
LEVELS = 4  # of entries that are smaller and smaller
TINY = float(np.finfo(np.float64).tiny)  # below it, rounding is no part of the value


def normal(rng: np.random.Generator, like: Any) -> np.ndarray:
    """Standard normal numbers with the shape and dtype of `like`; complex where it is."""
    shape, dtype = shape_of(like), dtype_of(like)
    x = rng.standard_normal(shape)
    if dtype.kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return np.asarray(x, dtype)


def spread(rng: np.random.Generator, like: Any) -> np.ndarray:
    """Random numbers of size 0.4 to 1.2 with random signs, or phases, in the shape and dtype of `like`.

    None is so small that an error in its entry is not seen, and none so large that a step along it goes far.
    """
    shape, dtype = shape_of(like), dtype_of(like)
    size = rng.uniform(0.4, 1.2, shape)
    if dtype.kind == "c":
        return np.asarray(size * np.exp(2j * np.pi * rng.random(shape)), dtype)
    return np.asarray(np.where(rng.random(shape) < 0.5, -size, size), dtype)


def input_scale(x: Any) -> np.ndarray:
    """How far each entry of an input may be moved: the geometric mean of its own size and the array's.

    So a step that is small beside the entry is taken for large and tiny entries alike, and zeros move too.
    """
    size = np.abs(wide(x))
    known = np.isfinite(size)
    largest = float(np.max(size[known], initial=0)) or 1.0
    part = np.where(known, size, 0.0) / largest  # squares of the sizes themselves may be out of range
    typical = float(np.sqrt(np.mean(part[known] ** 2))) if np.any(part) else 1.0
    mean = np.sqrt(np.maximum(part, 1e-3 * typical) * typical)
    return largest * (mean + (size == 0) * (0.25 * typical))


def tangents(rng: np.random.Generator, xs: Sequence[Any], *, relative: bool = False) -> list[Any]:
    """A random direction at `xs`, scaled by the size of each input; None for integers and booleans.

    With `relative` every entry moves in proportion to itself, and zeros stay.
    """
    out: list[Any] = []
    for x in xs:
        if not is_inexact(dtype_of(x)):
            out.append(None)
            continue
        scale = np.abs(np.asarray(x)) if relative else input_scale(x)
        t = np.asarray(spread(rng, x) * scale, dtype_of(x))
        out.append(t if t.ndim else t[()])
    return out


def along_small_entries(rng: np.random.Generator, x: Any, slope: Any = None) -> Iterator[np.ndarray]:
    """Directions in which only entries move that cannot be seen beside the others: those that are very much smaller or,
    with the derivative given, change the function very much less; then those too small beside these; and so on. They
    move in proportion to themselves, and further: the function may be flat, to rounding, so close by."""
    size = np.abs(wide(x))
    shares = [(size, SMALL)] + ([] if slope is None else [(size * np.abs(wide(slope)), SMALL * LEAST)])
    left = (size > 0) & np.isfinite(size)
    for _ in range(LEVELS):
        small = np.zeros_like(left)
        for share, ratio in shares:
            small |= left & (share > 0) & (share < ratio * np.max(share[left], initial=0))
        largest = np.max(size[left], initial=0)
        left = small
        if not np.any(left):
            return
        for steps in (size, np.sqrt(size / largest) * largest):
            t = np.asarray(np.where(left, spread(rng, x) * steps, 0), dtype_of(x))
            yield t if t.ndim else t[()]


def cotangents(rng: np.random.Generator, ys: Sequence[Any]) -> list[Any]:
    """A random cotangent of each inexact output; None for the others."""
    return [spread(rng, y)[()] if is_inexact(dtype_of(y)) else None for y in ys]


def wide(x: Any) -> np.ndarray:
    """In double precision."""
    x = np.asarray(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64, copy=False)


def pairing(us: Sequence[Any], vs: Sequence[Any]) -> tuple[float, float]:
    """Re sum(u * v) over all pairs that are not None, and the sum of the sizes of its terms."""
    total, scale = 0.0, 0.0
    for u, v in zip(us, vs, strict=True):
        if u is None or v is None:
            continue
        terms = wide(u) * wide(v)
        total += float(np.sum(terms).real)
        scale += float(np.sum(np.abs(terms)))
    return total, scale


def moving_pairing(gs: Sequence[Any], ts: Sequence[Any]) -> float:
    """Re sum(g * t) over what moves: a slope that is infinite elsewhere does not matter."""
    moving = [
        None if g is None or t is None else np.where(np.asarray(t) == 0, 0, g) for g, t in zip(gs, ts, strict=True)
    ]
    return pairing(moving, ts)[0]


def scaled(ts: Sequence[Any], factor: float) -> list[Any]:
    return [None if t is None else (t * dtype_of(t).type(factor)) for t in ts]


def only(ts: Sequence[Any], k: int, *, zeros: bool = True) -> list[Any]:
    """`ts` with everything but entry k set to zero (or to None)."""
    return [t if i == k or t is None else (np.zeros_like(t) if zeros else None) for i, t in enumerate(ts)]


def nudged(rng: np.random.Generator, xs: Sequence[Any]) -> list[Any]:
    """Inexact inputs moved by a few units in the last place, each entry by its own number of them.

    Neighbours, and the same entries of up to three inputs, move by other numbers: where they tie they never do then.
    """
    out: list[Any] = []
    counts: dict[tuple[int, ...], np.ndarray] = {}
    for x in xs:
        if x is None or not is_inexact(dtype_of(x)):
            out.append(x)
            continue
        dtype, shape = dtype_of(x), shape_of(x)
        drawn = counts.get(shape)
        counts[shape] = (np.cumsum(rng.integers(1, 3, shape)).reshape(shape) if drawn is None else drawn + 1) % 3
        units = (1 + counts[shape]) * np.where(rng.random(shape_of(x)) < 0.5, -1.0, 1.0)
        out.append(np.asarray(np.asarray(x) * np.asarray(1 + units * np.finfo(dtype).eps, dtype), dtype)[()])
    return out


def moved(rng: np.random.Generator, xs: Sequence[Any], relative: float) -> list[Any]:
    """Inexact inputs moved up or down by a fixed part of themselves."""
    return stretched(xs, signs(rng, xs), relative)


def signs(rng: np.random.Generator, xs: Sequence[Any]) -> list[Any]:
    """A random sign for every entry of the inexact inputs; None for the others."""
    return [np.where(rng.random(shape_of(x)) < 0.5, -1.0, 1.0) if is_inexact(dtype_of(x)) else None for x in xs]


def stretched(xs: Sequence[Any], way: Sequence[Any], relative: float) -> list[Any]:
    """Every entry of the inputs made larger by a part of itself, or smaller, the way its sign says; zeros by that part
    of what they may be moved by."""
    out: list[Any] = []
    for x, sign in zip(xs, way, strict=True):
        if sign is None:
            out.append(x)
            continue
        a = np.asarray(x)
        step = sign * relative * (np.where(a == 0, input_scale(a), a) if np.any(a == 0) else a)
        out.append(np.asarray(a + step, dtype_of(x))[()])
    return out


def reach(ts: Sequence[Any]) -> float:
    """How many times the outputs' resolution a tangent along these directions may be off by: rounding grows with the
    size of the directions, up to a point; beyond it they are in other units than 1."""
    largest = max((float(np.max(np.abs(t), initial=0)) for t in ts if t is not None), default=1.0)
    return min(max(1.0, largest), 32.0)


def basis(xs: Sequence[Any]) -> Iterator[list[Any]]:
    """One direction an entry of the inexact values, of the size that the entry may be moved by; None elsewhere.

    Complex entries have two: real and imaginary.
    """
    for k, x in enumerate(xs):
        if x is None or not is_inexact(dtype_of(x)):
            continue
        scale, dtype = input_scale(x), dtype_of(x)
        for j in range(int(np.size(x))):
            for unit in (1, 1j) if dtype.kind == "c" else (1,):
                t = np.zeros(shape_of(x), dtype)
                t.flat[j] = scale.flat[j] * unit
                yield [t[()] if i == k else None for i in range(len(xs))]


def unpacked(v: np.ndarray, like: Sequence[Any]) -> list[Any]:
    """A vector cut into pieces of the shapes of the inexact values; None for the others."""
    out: list[Any] = []
    start = 0
    for y in like:
        if not is_inexact(dtype_of(y)):
            out.append(None)
            continue
        size = int(np.size(y))
        out.append(v[start : start + size].reshape(shape_of(y)))
        start += size
    return out


def unit_roundoff(*groups: Sequence[Any]) -> float:
    """The largest machine epsilon among the inexact values given; at least that of double precision, in which they are
    compared."""
    eps = [float(np.finfo(dtype_of(x)).eps) for xs in groups for x in xs if x is not None and is_inexact(dtype_of(x))]
    return max([*eps, float(np.finfo(np.float64).eps)])
