"""The rows of a batch: the arguments given, and others that differ from them in sign, order and size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autodidax import tree
from autodidax.core.avals import PYTHON_SCALARS, is_inexact
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.testing import directions as dirs

MOVE = 0.1  # of each row from the given one, in sizes of the arguments
LITTLE = 0.01  # of one that differs from it by more than that
LARGE = 1e3


class OtherRows:
    """Rows beside given arguments, at which a function runs and is as finite as there."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...]):
        self.f = f
        self.leaves, self.structure = tree.flatten(args)
        self.owners = [k for k, a in enumerate(args) for _ in tree.leaves(a)]
        self.like = self._outcome(self.leaves)
        self.varied: set[int] = set()
        self.values = {k: self._other_values(k) for k, x in enumerate(self.leaves) if _all_same(x)}

    def row(self, mapped: tuple[bool, ...], i: int, rng: np.random.Generator) -> tuple[Any, ...]:
        """The i-th row, of which the mapped arguments will be used; the first of the candidates that is valid."""
        chosen = [k for k, x in enumerate(self.leaves) if type(x) not in PYTHON_SCALARS and mapped[self.owners[k]]]
        for leaves in self._candidates(chosen, i, rng):
            taken = [x if k in chosen else self.leaves[k] for k, x in enumerate(leaves)]
            if self._valid(leaves) and (len(chosen) == len(leaves) or self._valid(taken)):
                self.varied |= {k for k in chosen if not np.array_equal(leaves[k], self.leaves[k])}
                return self.structure.unflatten(leaves)
        return self.structure.unflatten(self.leaves)

    def alike(self) -> list[int]:
        """The arguments with integers or booleans none of which were other ones in any row."""
        able = [k for k, x in enumerate(self.leaves) if type(x) not in PYTHON_SCALARS and np.size(x)]
        fixed = [k for k in able if not is_inexact(dtype_of(self.leaves[k])) and k not in self.varied]
        return sorted({self.owners[k] for k in fixed})

    def _candidates(self, chosen: Sequence[int], i: int, rng: np.random.Generator) -> Iterator[list[Any]]:
        """Rows that differ much from the given one, and then less; those of odd number are negated, others large."""
        places = {k: n for n, k in enumerate(chosen)}
        odd = [-1.0 if places.get(k, 0) % 2 else 1.0 for k in range(len(self.leaves))]
        if i % 2:
            signs = [[-1.0] * len(odd), [-s for s in odd], odd]
            factors = [(signs[(i // 2 + j) % 3], False) for j in range(3)]
        else:
            factors = [([LARGE * s for s in odd], True), ([LARGE * abs(s) for s in odd], True),
                       ([LARGE * s for s in odd], False), ([LARGE * abs(s) for s in odd], False)]  # fmt: skip
        once = [1.0] * len(odd)
        for integers in (True, False):
            steps = [(*of, LITTLE) for of in factors]
            for scales, rolled, by in (*steps, (once, True, MOVE), (once, False, MOVE), (once, False, 0.01 * MOVE)):
                yield [self._moved(k, c, by, i * rolled, i * integers, rng) for k, c in enumerate(scales)]

    def _moved(self, k: int, scale: float, by: float, turns: int, other: int, rng: np.random.Generator) -> Any:
        """A value scaled, with its entries turned round so many times, and moved by a part of its size; an integer is
        the other value of that number."""
        x = self.leaves[k]
        if type(x) in PYTHON_SCALARS or not np.size(x):
            return x
        if is_inexact(dtype_of(x)):
            new = np.asarray(scale * _rolled(x, turns), dtype_of(x))
            return np.asarray(new + by * dirs.input_scale(new) * dirs.normal(rng, new), dtype_of(x))[()]
        if not other:
            return x
        if k in self.values:
            values = self.values[k]
            return values[(other - 1) % len(values)] if values else x
        along = np.roll(x, 1 + (other - 1) % max(np.shape(x)[-1] - 1, 1), axis=-1)
        return along if not np.array_equal(along, x) else _rolled(x, other)

    def _other_values(self, k: int) -> list[Any]:
        """What an integer, or an array of equal ones, may be instead, one value a row: one more, one less, or zero,
        and no negative ones in the place of others; a boolean, the other."""
        x = self.leaves[k]
        if dtype_of(x).kind == "b":
            found = [np.logical_not(x)]
        else:
            n = int(np.ravel(x)[0])
            info = np.iinfo(dtype_of(x))
            numbers = [m for m in dict.fromkeys((n + 1, n - 1, 0)) if m != n and info.min <= m <= info.max]
            found = [np.full_like(x, m)[()] for m in numbers if m >= 0 or n < 0]
        return [v for v in found if self._valid([v if j == k else y for j, y in enumerate(self.leaves)])]

    def _valid(self, leaves: list[Any]) -> bool:
        """Whether the function gives results there of the same kind as at the given arguments, and as finite."""
        if any(np.sum(np.isfinite(x)) < np.sum(np.isfinite(y)) for x, y in zip(leaves, self.leaves, strict=True)):
            return False
        try:
            got = self._outcome(leaves)
        except Exception:  # outside the domain
            return False
        return got[:2] == self.like[:2] and got[2] >= self.like[2]

    def _outcome(self, leaves: list[Any]) -> tuple[Any, list[Any], int]:
        """Structure, shapes and dtypes of the results, and how many of their entries are finite."""
        with np.errstate(all="ignore"):
            ys, structure = tree.flatten(self.f(*self.structure.unflatten(leaves)))
            kinds = [(shape_of(y), dtype_of(y)) for y in ys]
            return structure, kinds, sum(int(np.sum(np.isfinite(y))) for y in ys)


def _all_same(x: Any) -> bool:
    """Whether a value is made of integers or booleans that are all the same."""
    if type(x) in PYTHON_SCALARS or is_inexact(dtype_of(x)) or not np.size(x):
        return False
    return bool(np.all(x == np.ravel(x)[0]))


def _rolled(x: Any, turns: int) -> Any:
    """Another order of all entries."""
    x = np.asarray(x)
    return np.roll(x.ravel(), 1 + (turns - 1) % (x.size - 1)).reshape(x.shape) if turns and x.size > 1 else x
