"""The batching rule against the loop."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from autodidax.core.avals import PYTHON_SCALARS, is_inexact
from autodidax.core.interpreters import dtype_of, get_aval, shape_of
from autodidax.core.primitive import Pointwise, Primitive, Sample
from autodidax.testing.comparison import close
from autodidax.testing.report import Failure, Report, StopCheck, brief
from autodidax.testing.rows import LARGE
from autodidax.testing.rules import plain_list
from autodidax.transforms.vmap import vmap

DRAWS = 3
ROUNDINGS = 256.0  # a batched contraction or factorization may round otherwise than the row alone


def check_batching(
    p: Primitive, report: Report, samples: Sequence[Sample], seed: int, chosen: Collection[int]
) -> None:  # fmt: skip
    """The chosen samples under the batching rule: each choice of mapped operands, batch sizes 0, 1, 3 and that
    of another axis, against the rows run one by one. Rows differ: they come from several draws of the same sample."""
    draws = [list(p.samples(np.random.default_rng((seed, 71, i)))) for i in range(DRAWS)]
    for k, s in enumerate(samples):
        if not s.args or k not in chosen:
            continue
        _SampleBatch(p, report, s, [d[k] for d in draws if k < len(d)], f"{k} of seed {seed}: {s!r}").run()


class _SampleBatch:
    def __init__(self, p: Primitive, report: Report, s: Sample, others: list[Sample], name: str):
        self.p, self.report, self.sample, self.name = p, report, s, name
        alike = [o for o in others if _alike(o, s)]
        self.rows = [[s, *alike][i % (1 + len(alike))].args for i in range(1 + DRAWS)]
        if len(alike) < DRAWS or all(_equal(self.rows[0], r) for r in self.rows[1:]):
            self.rows = [self.unlike(i) for i in range(1 + DRAWS)]
        self.alone: dict[Any, list[Any]] = {}

    def unlike(self, i: int) -> tuple[Any, ...]:
        """The i-th row of a sample that is drawn always the same: negated, or in another order and 1000 times as large,
        where the implementation takes that and is as finite; otherwise a little scaled."""
        own = self.sample.args
        rolled = isinstance(self.p, Pointwise)
        close_by = _moved(own, i, 1 + 0.03 * i, rolled=rolled)
        if not i or self.p.higher_order:
            return close_by
        for turned in (True, rolled):
            far = _moved(own, i * turned, -1.0 if i % 2 else LARGE, rolled=turned, whole=not rolled)
            if self.takes(far):
                return far
        return close_by

    def takes(self, args: Sequence[Any]) -> bool:
        """Whether the implementation gives results of the same kind there, no less finite than those of the sample."""
        p, params = self.p, self.sample.params
        try:
            with np.errstate(all="ignore"):
                got, like = (plain_list(p.impl(*xs, **params), p.multiple_results) for xs in (args, self.sample.args))
        except Exception:  # outside of the domain
            return False
        kinds = [[(shape_of(y), dtype_of(y)) for y in ys] for ys in (got, like)]
        finite = [[int(np.sum(np.isfinite(x))) for x in xs] for xs in ((*args, *got), (*self.sample.args, *like))]
        return kinds[0] == kinds[1] and all(a >= b for a, b in zip(*finite, strict=True))

    def run(self) -> None:
        count = len(self.sample.args)
        # a Python scalar would lose its weak type in an array, so it stays as it is
        fixed = [type(a) in PYTHON_SCALARS for a in self.sample.args]
        choices = [c for c in itertools.product((False, True), repeat=count) if any(c)]
        choices = [c for c in choices if not any(m and f for m, f in zip(c, fixed, strict=True))]
        if count > 3:
            choices = [c for c in choices if sum(c) in (1, count - sum(fixed))]
        if not choices:
            return
        sizes = {n for a in self.sample.args for n in shape_of(a) if n > 1}
        clash = next((n for n in sorted(sizes) if n != 3), None)
        for mapped in choices:
            for size in (3, 1, 0) if clash is None or mapped is not choices[-1] else (3, 1, 0, clash):
                self.one(mapped, size)
        self.through_vmap(choices[-1])

    def row(self, mapped: tuple[bool, ...], i: int) -> list[Any]:
        """The i-th row's operands: row 0 of those that are not mapped."""
        own = self.rows[i % len(self.rows)]
        return [a if m else b for m, a, b in zip(mapped, own, self.rows[0], strict=True)]

    def loop(self, mapped: tuple[bool, ...], size: int) -> list[np.ndarray] | None:
        """The stacked results of the rows one by one; None where a mixture of draws is no valid input."""
        p, params = self.p, self.sample.params
        if size == 0:
            avals = p.out_avals(*[get_aval(a) for a in self.sample.args], **params)
            return [np.zeros((0, *a.shape), a.dtype) for a in avals]
        rows = []
        for i in range(size):
            key = mapped, i % len(self.rows)
            if key not in self.alone:
                try:
                    run = p.bind if p.higher_order else p.impl
                    self.alone[key] = plain_list(run(*self.row(mapped, i), **params), p.multiple_results)
                except (ArithmeticError, ValueError) as e:
                    self.report.skipped.append(f"vmap of sample {self.name}, mapped {mapped}: row {i} is invalid: {e}")
                    return None
            rows.append(self.alone[key])
        if any(shape_of(a) != shape_of(b) for r in rows for a, b in zip(r, rows[0], strict=True)):
            self.report.skipped.append(f"vmap of sample {self.name}: the rows' results differ in shape")
            return None
        return [np.stack([np.asarray(r[k]) for r in rows]) for k in range(len(rows[0]))]

    def batch_of(self, mapped: tuple[bool, ...], size: int) -> list[Any]:
        out = []
        for k, m in enumerate(mapped):
            own = [np.asarray(self.rows[i % len(self.rows)][k]) for i in range(size)]
            first = np.asarray(self.rows[0][k])
            stacked = np.stack(own) if own else np.zeros((0, *first.shape), first.dtype)
            out.append(stacked if m else self.rows[0][k])
        return out

    def one(self, mapped: tuple[bool, ...], size: int) -> None:
        p = self.p
        if p.higher_order:
            return
        want = self.loop(mapped, size)
        if want is None:
            return
        args = self.batch_of(mapped, size)
        dims = tuple(0 if m else None for m in mapped)
        try:
            out, dim = p.batch(tuple(args), dims, **self.sample.params)
            outs, dims_out = (list(out), list(dim)) if p.multiple_results else ([out], [dim])
        except Exception as e:  # a rule that raises is wrong, whatever it raises
            self.fail(mapped, size, "runs", f"raised {type(e).__name__}: {e}")
            return
        if not len(outs) == len(dims_out) == len(want):
            message = f"{len(outs)} results and {len(dims_out)} dimensions for {len(want)}"
            self.fail(mapped, size, "structure", message)
            return
        for k, (y, d, w) in enumerate(zip(outs, dims_out, want, strict=True)):
            if d not in (0, None):
                self.fail(mapped, size, "structure", f"the batch dimension of result {k} is {d}, neither 0 nor None")
                return
            if not self.compare(mapped, size, k, np.broadcast_to(y, (size, *shape_of(y))) if d is None else y, w):
                return
        self.report.passed("vmap")

    def compare(self, mapped: tuple[bool, ...], size: int, k: int, y: Any, want: np.ndarray) -> bool:
        if shape_of(y) != want.shape or dtype_of(y) != want.dtype:
            self.fail(mapped, size, "structure", f"result {k} has the wrong shape or dtype",
                      expected=f"{want.dtype}{list(want.shape)}", got=f"{dtype_of(y)}{list(shape_of(y))}")  # fmt: skip
            return False
        wrong = [i for i in range(size) if not close(np.asarray(y)[i], want[i], ROUNDINGS)]
        if wrong:
            i = wrong[0]
            self.fail(mapped, size, "loop", f"result {k} differs from the loop in {len(wrong)} of {size} rows",
                      expected=f"row {i}: {brief(want[i])}", got=brief(np.asarray(y)[i]))  # fmt: skip
        return not wrong

    def through_vmap(self, mapped: tuple[bool, ...]) -> None:
        """The chosen operands mapped over their last axis, through the transform."""
        p, params = self.p, self.sample.params
        want = self.loop(mapped, 3)
        if want is None:
            return
        given = zip(mapped, self.batch_of(mapped, 3), strict=True)
        args = [np.moveaxis(np.asarray(a), 0, -1) if m else a for m, a in given]
        axes = tuple(-1 if m else None for m in mapped)
        try:
            outs = vmap(lambda *xs: plain_list(p.bind(*xs, **params), p.multiple_results), in_axes=axes)(*args)
        except StopCheck:
            raise
        except Exception as e:
            self.fail(mapped, 3, "runs", f"under vmap over the last axes: raised {type(e).__name__}: {e}")
            return
        if all(self.compare(mapped, 3, k, y, w) for k, (y, w) in enumerate(zip(outs, want, strict=True))):
            self.report.passed("vmap")

    def fail(self, mapped: tuple[bool, ...], size: int, layer: str, message: str, **details: Any) -> None:
        chosen = [k for k, m in enumerate(mapped) if m]
        self.report.fail(
            Failure(
                self.p.name,
                "trace_batch" if self.p.higher_order else "batch",
                "vmap",
                layer,
                message,
                sample=f"{self.name}, batch size {size}",
                argument=f"mapped operands {chosen} of {len(mapped)}",
                module=self.p.module,
                **details,
            )
        )


def _alike(a: Sample, b: Sample) -> bool:
    """Whether two draws are of one sample: same parameters, shapes and dtypes."""
    kinds = [[(shape_of(x), dtype_of(x)) for x in s.args] for s in (a, b)]
    return kinds[0] == kinds[1] and repr(a.params) == repr(b.params)


def _equal(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return all(np.array_equal(x, y, equal_nan=is_inexact(dtype_of(x))) for x, y in zip(a, b, strict=True))


def _moved(
    args: Sequence[Any], i: int, factor: float, *, rolled: bool, whole: bool = False
) -> tuple[Any, ...]:  # fmt: skip
    """Rows of a sample that is drawn always the same: inexact entries scaled; and those of a pointwise function, where
    any entry may stand anywhere, rolled along the last axis. With `whole` only inexact ones are rolled, in one."""

    def moved(a: Any) -> Any:
        if type(a) in PYTHON_SCALARS:
            return a
        inexact = is_inexact(dtype_of(a))
        if rolled and np.ndim(a) and (inexact or not whole):
            a = np.roll(a, i, axis=None if whole else -1)
        return np.asarray(np.asarray(a) * factor, dtype_of(a)) if inexact else a

    return tuple(map(moved, args))
