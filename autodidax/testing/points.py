"""Points beside the given one: zeros, ones, ties and other places where rules are wrong and nobody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.testing import directions as dirs

TINY = 2.0**-20
PARTLY = 3  # arguments up to which each is set to zero alone


def points_beside(
    xs: Sequence[Any], seed: Sequence[int], names: Sequence[str]
) -> Iterator[tuple[str, list[Any], np.random.Generator]]:
    """(name, values, generator) of the points beside `xs` that differ from it and from each other.

    Integers and booleans stay, and so do shapes and dtypes, Python scalars included. Each point has a generator of
    random numbers of its own, so that it comes out the same when it is asked for alone.
    """
    seen = [list(xs)]
    for i, (name, change) in enumerate(POINTS.items()):
        if not any(asked == name or asked.startswith(name + " of ") for asked in names):
            continue
        for part, (suffix, values) in enumerate(_moved(xs, np.random.default_rng((*seed, 1 + i)), name, change)):
            rng = np.random.default_rng((*seed, 1 + i, part + 1))
            asked_for = name in names or name + suffix in names
            if asked_for and not any(_equal(values, old) for old in seen):
                seen.append(values)
                yield name + suffix, values, rng


def point_names(points: str | Sequence[str], xs: Sequence[Any] | None = None) -> tuple[str, ...]:
    """The names of points that a user asks for: "given", "all", or some names; a part is written "zeros of 1".

    With `xs`, the values that are to be changed, only parts that these have are taken.
    """
    if isinstance(points, str) and points in ("all", "given"):
        return tuple(POINTS) if points == "all" else ()
    if not isinstance(points, str | tuple | list | set | frozenset):
        raise errors.ArgumentError(f"points is {points!r}", mend="give 'given', 'all' or a tuple of names of points")
    given = (points,) if isinstance(points, str) else tuple(points)
    unknown = [p for p in given if p != "given" and not _is_point(p, xs)]
    if unknown:
        raise errors.ArgumentError(
            f"there is no point {unknown[0]!r}",
            mend=f"give 'given', 'all' or some of {', '.join(POINTS)}; parts are written 'zeros of 1', for the second "
            "of two or three floating values, and 'ties of arguments'",
        )
    return given


def _is_point(name: Any, xs: Sequence[Any] | None) -> bool:
    """Whether there is a point of that name, or could be one where the values are not known."""
    if not isinstance(name, str):
        return False
    if xs is None:
        point, _, part = name.partition(" of ")
        return name in POINTS or (point == "zeros" and part.isdecimal()) or name == "ties of arguments"
    active = _active(xs)
    parts = [f"zeros of {k}" for k in _zeroed_alone(active)] + ["ties of arguments"] * (len(active) > 1)
    return name in POINTS or name in parts


def _active(xs: Sequence[Any]) -> list[int]:
    return [k for k, x in enumerate(xs) if is_inexact(dtype_of(x))]


def _zeroed_alone(active: list[int]) -> list[int]:
    return active if 1 < len(active) <= PARTLY else []


def _moved(xs: Sequence[Any], rng: np.random.Generator, name: str, change: Change) -> Iterator[tuple[str, list[Any]]]:
    active = _active(xs)
    yield "", [change(x, rng) if k in active else x for k, x in enumerate(xs)]
    if name == "zeros":
        for k in _zeroed_alone(active):
            yield f" of {k}", [change(x, rng) if i == k else x for i, x in enumerate(xs)]
    if name == "ties" and len(active) > 1:
        yield " of arguments", _same_arguments(xs, active)


Change = Callable[[Any, np.random.Generator], Any]


def _in_kind(change: Callable[[np.ndarray, np.random.Generator], Any]) -> Change:
    """A change of an array as one of any value, in its own shape, dtype and Python type."""

    def changed(x: Any, rng: np.random.Generator) -> Any:
        with np.errstate(all="ignore"):
            new = np.asarray(change(np.asarray(x), rng)).astype(dtype_of(x)).reshape(shape_of(x))
        return type(x)(new[()]) if type(x) in (float, complex) else new[()] if new.ndim == 0 else new

    return changed


def _perturbed(x: np.ndarray, rng: np.random.Generator) -> Any:
    return x + 0.5 * dirs.input_scale(x) * dirs.normal(rng, x) if np.any(x) else dirs.normal(rng, x)


def _one_entry_zero(x: np.ndarray, rng: np.random.Generator) -> Any:
    new = x.copy()
    if new.size > 1:
        new.flat[rng.integers(new.size)] = 0
    return new


def _ties(x: np.ndarray, rng: np.random.Generator) -> Any:
    """The identity for square matrices; otherwise every second entry equal to the one before."""
    if x.ndim > 1 and x.shape[-1] == x.shape[-2]:
        return np.broadcast_to(np.eye(x.shape[-1]), x.shape)
    new = x.copy()
    new.flat[1::2] = new.flat[0 : new.size - 1 : 2]
    return new


def _same_arguments(xs: Sequence[Any], active: Sequence[int]) -> list[Any]:
    """Arguments of one shape and dtype equal to the first of them."""
    out = list(xs)
    for k in active:
        first = next(
            i for i in active if shape_of(xs[i]) == shape_of(xs[k]) and type(xs[i]) is type(xs[k])
            and dtype_of(xs[i]) == dtype_of(xs[k])
        )  # fmt: skip
        out[k] = xs[first].copy() if type(xs[first]) is np.ndarray else xs[first]
    return out


#: name -> change of one value; the numeric derivative tells where a point lies outside the domain
POINTS: dict[str, Change] = {
    "perturbed": _in_kind(_perturbed),
    "zeros": _in_kind(lambda x, rng: np.zeros_like(x)),
    "ones": _in_kind(lambda x, rng: np.ones_like(x)),
    "one entry zero": _in_kind(_one_entry_zero),
    "negated": _in_kind(lambda x, rng: -x),
    "times 16": _in_kind(lambda x, rng: 16 * x),
    "tiny": _in_kind(lambda x, rng: TINY * x),
    "integers": _in_kind(lambda x, rng: np.round(2 * x)),
    "ties": _in_kind(_ties),
}


def _equal(xs: Sequence[Any], ys: Sequence[Any]) -> bool:
    return all(
        x is y or (is_inexact(dtype_of(x)) and np.array_equal(x, y, equal_nan=True))
        for x, y in zip(xs, ys, strict=True)
    )
