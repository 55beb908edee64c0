"""Points beside the given one: zeros, ones, ties and other places where rules are wrong and nobody looks."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.testing import directions as dirs

TINY, TINY_HALF = 2.0**-20, 2.0**-8  # half precision has no normal numbers that small
AFTER_OTHERS = "after the others"  # the given point once more, when the points beside it have been run
MINUS_ZERO = complex(-0.0, -0.0)
PARTLY = 3  # arguments up to which each is set to zero alone
IN_PAIRS = 4  # arguments up to which those of each pair are tied


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
            "of two or three floating values, 'ties of arguments', and 'ties of 0 and 2', for two of three or four",
        )
    return given


def _is_point(name: Any, xs: Sequence[Any] | None) -> bool:
    """Whether there is a point of that name, or could be one where the values are not known."""
    if not isinstance(name, str):
        return False
    if xs is None:
        point, _, part = name.partition(" of ")
        found = (point == "zeros" and part.isdecimal()) or (part == "arguments" and point in OF_ARGUMENTS)
        found = found or (point == "ties" and re.fullmatch(r"\d+ and \d+", part) is not None)
        return name in POINTS or found or name == NEGATIVE_ZERO
    active = _active(xs)
    parts = [f"zeros of {k}" for k in _zeroed_alone(active)]
    parts += [f"{point} of arguments" for point in OF_ARGUMENTS if len(active) > 1]
    parts += [f"ties of {i} and {k}" for i, k in _tied_alone(xs, active)]
    parts += [NEGATIVE_ZERO] * all(np.size(xs[k]) == 1 for k in active)
    return name in POINTS or name in parts


def _active(xs: Sequence[Any]) -> list[int]:
    return [k for k, x in enumerate(xs) if is_inexact(dtype_of(x))]


def _zeroed_alone(active: list[int]) -> list[int]:
    return active if 1 < len(active) <= PARTLY else []


def _tied_alone(xs: Sequence[Any], active: list[int]) -> list[tuple[int, int]]:
    """The pairs of arguments of one kind among three or four."""
    pairs = itertools.combinations(active, 2) if 2 < len(active) <= IN_PAIRS else ()
    return [(i, k) for i, k in pairs if _kind(xs[i]) == _kind(xs[k])]


def _moved(xs: Sequence[Any], rng: np.random.Generator, name: str, change: Change) -> Iterator[tuple[str, list[Any]]]:
    active = _active(xs)
    yield "", [change(x, rng) if k in active else x for k, x in enumerate(xs)]
    if name == "zeros":
        for k in _zeroed_alone(active):
            yield f" of {k}", [change(x, rng) if i == k else x for i, x in enumerate(xs)]
    if name in OF_ARGUMENTS and len(active) > 1:
        yield " of arguments", OF_ARGUMENTS[name](xs, active)
    if name == "ties":
        for i, k in _tied_alone(xs, active):
            yield f" of {i} and {k}", [xs[i] if j == k else x for j, x in enumerate(xs)]
    if name == "one entry zero" and active and all(np.size(xs[k]) == 1 for k in active):  # zeros are another point
        yield " of negative sign", [_negative_zero(x, rng) if k in active else x for k, x in enumerate(xs)]


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


def _zeros(x: np.ndarray, rng: np.random.Generator) -> Any:
    """Zeros, every second one of which is negative."""
    new = np.zeros_like(x)
    new.flat[1::2] = MINUS_ZERO if new.dtype.kind == "c" else -0.0
    return new


def _one_entry_zero(x: np.ndarray, rng: np.random.Generator) -> Any:
    new = x.copy()
    if new.size > 1:
        new.flat[rng.integers(new.size)] = 0
    return new


def _singular(x: np.ndarray, rng: np.random.Generator) -> Any:
    """Square matrices of one rank less, exactly: elimination finds the pivot of a row of zeros to be zero, and that of
    two equal rows only to rounding."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2] or x.shape[-1] < 2:
        return x
    new = x.copy()
    new[..., -1, :] = 0
    return new


def _rows_exchanged(x: np.ndarray, rng: np.random.Generator) -> Any:
    """Square matrices with their first two rows exchanged, and so with a determinant of the other sign."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2] or x.shape[-1] < 2:
        return x
    new = x.copy()
    new[..., [0, 1], :] = x[..., [1, 0], :]
    return new


def _ties(x: np.ndarray, rng: np.random.Generator) -> Any:
    """The identity for square matrices; otherwise every second entry equal to the one before."""
    if x.ndim > 1 and x.shape[-1] == x.shape[-2]:
        return np.broadcast_to(np.eye(x.shape[-1]), x.shape)
    new = x.copy()
    new.flat[1::2] = new.flat[0 : new.size - 1 : 2]
    return new


def _same_arguments(xs: Sequence[Any], active: Sequence[int]) -> list[Any]:
    """The first of the arguments of one kind in the place of the others too, the same object."""
    out = list(xs)
    for k in active:
        out[k] = xs[_first_of_kind(xs, active, k)]
    return out


def _opposite_arguments(xs: Sequence[Any], active: Sequence[int]) -> list[Any]:
    """Arguments of one kind equal to the first of them and its negative, in turn."""
    out = list(xs)
    found: dict[int, int] = {}
    for k in active:
        first = _first_of_kind(xs, active, k)
        found[first] = found.get(first, 0) + 1
        out[k] = xs[first] if found[first] % 2 else -xs[first]
    return out


def _first_of_kind(xs: Sequence[Any], active: Sequence[int], k: int) -> int:
    """The first argument of the same shape, dtype and Python type as another."""
    return next(i for i in active if _kind(xs[i]) == _kind(xs[k]))


def _kind(x: Any) -> tuple[Any, ...]:
    return type(x), shape_of(x), dtype_of(x)


#: name -> change of one value; the numeric derivative tells where a point lies outside the domain
POINTS: dict[str, Change] = {
    "perturbed": _in_kind(_perturbed),
    "zeros": _in_kind(_zeros),
    "ones": _in_kind(lambda x, rng: np.ones_like(x)),
    "one entry zero": _in_kind(_one_entry_zero),
    "negated": _in_kind(lambda x, rng: -x),
    "times 16": _in_kind(lambda x, rng: 16 * x),
    "tiny": _in_kind(lambda x, rng: x * (TINY_HALF if x.dtype == np.float16 else TINY)),
    "integers": _in_kind(lambda x, rng: np.round(2 * x)),
    "ties": _in_kind(_ties),
    "minus ones": _in_kind(lambda x, rng: np.full_like(x, -1)),
    "imaginary": _in_kind(lambda x, rng: x - x.real if x.dtype.kind == "c" else x),
    "real": _in_kind(lambda x, rng: x.real),
    "singular": _in_kind(_singular),
    "rows exchanged": _in_kind(_rows_exchanged),
}
#: the points that have a part in which arguments of one kind are tied to each other
OF_ARGUMENTS: dict[str, Callable[[Sequence[Any], Sequence[int]], list[Any]]] = {
    "negated": _opposite_arguments, "ties": _same_arguments,
}  # fmt: skip
NEGATIVE_ZERO = "one entry zero of negative sign"
_negative_zero = _in_kind(lambda x, rng: np.full_like(x, MINUS_ZERO if x.dtype.kind == "c" else -0.0))


def _equal(xs: Sequence[Any], ys: Sequence[Any]) -> bool:
    """Equal values, objects that are the same in both where they are in one, and signs of zeros."""
    return _repeated(xs) == _repeated(ys) and all(
        x is y or (is_inexact(dtype_of(x)) and np.array_equal(x, y, equal_nan=True) and _signs(x) == _signs(y))
        for x, y in zip(xs, ys, strict=True)
    )


def _repeated(xs: Sequence[Any]) -> list[int]:
    return [next(i for i, y in enumerate(xs) if y is x) for x in xs]


def _signs(x: Any) -> list[bytes]:
    return [np.signbit(part).tobytes() for part in (np.real(x), np.imag(x))]
