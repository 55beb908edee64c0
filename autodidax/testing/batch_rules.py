"""check_vmap: a hand-written batching rule against the loop over the rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.core.avals import PYTHON_SCALARS
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.testing import directions as dirs
from autodidax.testing.again import source_name, written
from autodidax.testing.comparison import close, kind, same, snapshot
from autodidax.testing.functions import name_of, require_seed
from autodidax.testing.report import Failure, Report, brief, raised
from autodidax.testing.rows import OtherRows
from autodidax.testing.rules import flat_function, require_plain
from autodidax.transforms.boundary import argument_name, check_callable

MAPPED = ("each", "all")
FEW = 4  # arguments up to which every set of them is mapped; of more, each alone and all but each
ROUNDINGS = 256.0  # a batch may sum in another order than a row
ERRORS = 8.0  # of what a row's result moves by with its arguments, by some units in the last place


def check_vmap(
    f: Callable[..., Any], f_vmap: Callable[..., Any], args: Sequence[Any], *, mapped: str = "each", seed: int = 0
) -> Report:
    """Check a hand-written batching rule of `f` against the loop over rows; it may come from anywhere.

    Parameters
    ----------
    f_vmap : `f_vmap(batched_args, axes) -> f's results with the batch on axis 0`, where `axes` has the batch axis of
        each argument, or None for one that is not mapped. An argument that is a tree has one axis for all its leaves.
        Where f's result is a single array, `(result, axis of its batch)` may be returned too.
    args : tuple with the arguments of one row, a tree an argument. The other rows are these negated, in another order
        and 1000 times as large, where f runs and is finite there; arguments close by where it does not. Integers are
        put in another order, and changed by one where they are all the same. Python scalars are never mapped; where
        there is nothing else, the report says that nothing was compared.
    mapped : "each" tries every choice of mapped arguments (of more than 4, all, each alone, and all but each), "all"
        only that of all arguments.
    seed : of the rows.

    Batches have sizes 1, 3 and that of some axis of the arguments, and their axis comes first, last, or differs from
    argument to argument.

    Raises
    ------
    CheckError : where the rule is wrong, with its `report`.

    >>> import numpy as np
    >>> check_vmap(np.sin, lambda xs, axes: np.sin(np.moveaxis(xs[0], axes[0], 0)), (np.ones(2),)).ok
    True
    """
    check_callable("check_vmap", f)
    check_callable("check_vmap", f_vmap)
    if not isinstance(args, tuple | list):
        raise errors.ArgumentError(
            f"check_vmap: args must be a tuple with one entry an argument, got {type(args).__name__}",
            mend="write check_vmap(f, f_vmap, (x,)) for a function of one argument",
        )
    if mapped not in MAPPED:
        raise errors.ArgumentError(f"check_vmap: mapped is {mapped!r}", mend="give 'each' or 'all'")
    require_seed("check_vmap", seed)
    args = tuple(args)
    _, leaves, _ = flat_function(f, args)
    require_plain(leaves)
    report = Report(name_of(f), samples=1)
    rng = np.random.default_rng(seed)
    if _is_noisy(f, args):
        report.inconclusive.append("vmap: two runs of the function at the same arguments give different values")
        return report
    batches, others = _Batches(f, f_vmap, report, seed), OtherRows(f, args)
    sizes = sorted({n for x in leaves for n in shape_of(x) if n > 1} - {3})
    for choice in _choices(args, mapped):
        for size in (3, 1, *sizes[:1]):
            rows = [args, *(others.row(choice, i, rng) for i in range(1, size))]
            for i, axes in enumerate(_axes(args, choice)):
                turn = i % max(size - 1, 1)  # other rows each time, so that a result that is written over shows
                failure = batches.compare([args, *rows[1 + turn :], *rows[1 : 1 + turn]], choice, axes)
                if failure is not None:
                    report.fail(failure)
                    return report.raise_if_failed()
    alike = [argument_name(f, k) for k in others.alike() if any(c[k] for c in _choices(args, mapped))]
    report.inconclusive += [
        f"vmap: {name} was the same in all rows: no other value was found at which the function runs" for name in alike
    ]
    if not report.checks["vmap"]:
        report.inconclusive.append("vmap: no argument can be mapped, so nothing was compared")
    return report


def _is_noisy(f: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    with np.errstate(all="ignore"):
        first, second = (snapshot(tree.leaves(f(*args))) for _ in range(2))
    return len(first) != len(second) or not same(first, second)


def _choices(args: tuple[Any, ...], mapped: str) -> list[tuple[bool, ...]]:
    """The sets of mapped arguments; Python scalars would lose their weak type in an array, and stay."""
    able = [bool(tree.leaves(a)) and not any(type(x) in PYTHON_SCALARS for x in tree.leaves(a)) for a in args]
    every = tuple(able)
    if not any(able):
        return []
    if mapped == "all":
        return [every]
    if sum(able) <= FEW:
        found = list(itertools.product(*((True, False) if a else (False,) for a in able)))
    else:
        alone = [tuple(i == k for i in range(len(able))) for k, a in enumerate(able) if a]
        others = [tuple(a and i != k for i, a in enumerate(able)) for k, b in enumerate(able) if b]
        found = [every, *alone, *others]
    return [c for c in dict.fromkeys(found) if any(c)]


def _axes(args: tuple[Any, ...], choice: tuple[bool, ...]) -> Iterator[tuple[int | None, ...]]:
    """Batch axes: first, last, and different ones."""
    ranks = [min((len(shape_of(x)) for x in tree.leaves(a)), default=0) for a in args]
    seen = set()
    for pick in (lambda k, n: 0, lambda k, n: n, lambda k, n: (k + 1) % (n + 1)):
        axes = tuple(pick(k, n) if m else None for k, (n, m) in enumerate(zip(ranks, choice, strict=True)))
        if axes not in seen:
            seen.add(axes)
            yield axes


@dataclass
class _Batches:
    """The rule and the function that it is compared with, batch after batch."""

    f: Callable[..., Any]
    f_vmap: Callable[..., Any]
    report: Report
    seed: int
    before: tuple[list[Any], list[Any]] | None = None  # the last results, and a copy of them

    def compare(
        self, rows: list[tuple[Any, ...]], choice: tuple[bool, ...], axes: tuple[int | None, ...]
    ) -> Failure | None:
        given = [tuple(r if m else first for r, first, m in zip(row, rows[0], choice, strict=True)) for row in rows]
        batched = tuple(
            a if axis is None else tree.map(lambda *xs, axis=axis: np.stack([np.asarray(x) for x in xs], axis), *column)
            for a, axis, column in zip(rows[0], axes, zip(*given, strict=True), strict=True)
        )
        failure = partial(self._failure, rows, axes)
        with np.errstate(all="ignore"):
            outs, structure = [], tree.structure(None)
            for row in given:
                leaves, structure = tree.flatten(self.f(*row))
                outs.append(leaves)
            kept = snapshot(tree.leaves(batched))
            try:
                result = self.f_vmap(batched, axes)
            except Exception as e:  # a rule that raises is wrong, whatever it raises
                return failure("runs", f"the rule raised {raised(e)}")
        if not same(kept, tree.leaves(batched)):
            return failure("purity", "the rule changed its arguments in place")
        got, own = tree.flatten(_batch_first(result, outs[0], structure))
        if len(got) != structure.num_leaves:
            return failure("structure", f"the rule returned {len(got)} values, the function {structure.num_leaves}")
        if own != structure and not (isinstance(result, list) and tree.structure(tuple(result)) == structure):
            return failure("structure", "the result is not of the structure of the function's",
                           expected=str(structure), got=str(own))  # fmt: skip
        if self.before is not None and not same(*self.before):
            return failure("purity", "a later call changed the result of an earlier one")
        self.before = got, snapshot(got)
        with np.errstate(all="ignore"):
            return self._values(got, outs, given, failure)

    def _values(
        self, got: list[Any], outs: list[list[Any]], given: list[tuple[Any, ...]], failure: Callable[..., Failure]
    ) -> Failure | None:  # fmt: skip
        size = len(outs)
        for k, y in enumerate(got):
            want = np.stack([np.asarray(row[k]) for row in outs])
            if shape_of(y) != want.shape or dtype_of(y) != want.dtype:
                message = f"result {k} has the wrong shape or dtype"
                return failure("structure", message, expected=kind(want), got=kind(y))
            wrong = [i for i in range(size) if not close(np.asarray(y)[i], want[i], ROUNDINGS)]
            wrong = [
                i for i in wrong if not close(np.asarray(y)[i], want[i], ROUNDINGS, slack=self._noise(given[i], k))
            ]
            if wrong:
                i = wrong[0]
                return failure("loop", f"result {k} differs from the loop in {len(wrong)} of {size} rows",
                               expected=f"row {i}: {brief(want[i])}", got=brief(np.asarray(y)[i]))  # fmt: skip
        self.report.passed("vmap")
        return None

    def _noise(self, row: tuple[Any, ...], k: int) -> float:
        """What rounding may make result k of a row differ by: a batch may round otherwise before a sine of large
        arguments is taken."""
        rng = np.random.default_rng(self.seed)
        leaves, structure = tree.flatten(row)
        moved = []
        for _ in range(3):
            nudged = [x if type(x) in PYTHON_SCALARS else n
                      for x, n in zip(leaves, dirs.nudged(rng, leaves), strict=True)]  # fmt: skip
            try:
                ys = [tree.leaves(self.f(*at))[k] for at in (row, structure.unflatten(nudged))]
                moved.append(float(np.max(np.abs(dirs.wide(ys[1]) - dirs.wide(ys[0])), initial=0)))
            except Exception:  # it need not be defined there
                continue
        terms = max((np.size(x) for x in leaves), default=1)  # partial sums of so many round as they grow
        return ERRORS * max(1.0, terms**0.5 / 4) * float(np.nan_to_num(max(moved, default=0.0), posinf=0.0))

    def _failure(
        self, rows: list[tuple[Any, ...]], axes: tuple[int | None, ...], layer: str, message: str, **details: Any
    ) -> Failure:  # fmt: skip
        names = f"{source_name(self.f, 'f')}, {source_name(self.f_vmap, 'f_vmap')}"
        again = f"check_vmap({names}, {written(rows[0])}, seed={self.seed})"
        return Failure(self.report.subject, "batch", "vmap", layer, message, seed=self.seed, again=again,
                       argument=f"batch of {len(rows)} rows along axes {axes}", **details)  # fmt: skip


def _batch_first(result: Any, row: list[Any], structure: tree.PyTreeDef) -> Any:
    """A rule's result with the batch on axis 0; `(result, axis)` where the function returns a single array."""
    single = structure == tree.structure(0.0)
    if not single or not isinstance(result, tuple) or len(result) != 2 or type(result[1]) is not int:
        return result
    y, axis = result
    if len(shape_of(y)) == len(shape_of(row[0])) + 1 and -len(shape_of(y)) <= axis < len(shape_of(y)):
        return np.moveaxis(np.asarray(y), axis, 0)
    return result
