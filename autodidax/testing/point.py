"""A point at which rules are checked: what the layers of the check have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of
from autodidax.testing import directions as dirs
from autodidax.testing.comparison import filled
from autodidax.testing.numeric import FIRST_STEP, Estimate, directional_derivative, pack, widened
from autodidax.testing.points import AFTER_OTHERS
from autodidax.testing.report import Failure, Report
from autodidax.testing.rounding import rounding_errors
from autodidax.testing.rules import Rules

EXPLAINED = 0.4  # power of the machine epsilon: the relative differences that rounding inside a rule may explain
AFFORDABLE = 64  # entries of the arguments and of the result up to which the whole Jacobian is taken


class Point:
    """A check of one function's rules at one point, which reports under one sample's name.

    A point beside the given one (`beside` is its name) is outside the domain where the function raises or is nowhere
    finite, and what cannot be judged there is counted apart.
    """

    def __init__(
        self,
        rules: Rules,
        xs: Sequence[Any],
        rng: np.random.Generator,
        report: Report,
        *,
        modes: Sequence[str] = ("fwd", "rev"),
        inner_modes: Sequence[str] | None = None,
        sample: str = "",
        beside: str = "",
        seed: int | None = None,
        again: Callable[[Point, str], str] | None = None,
        order: int = 1,
        path: str = "",
        value: bool = True,
        thorough: bool = True,
        special: bool = False,
        full: bool = False,
        overrides: dict[str, float] | None = None,
        accuracy: float = 0.0,
        kinks_declared: bool = False,
        composed: bool = False,
    ):
        self.rules = rules.guarded()
        self.xs = list(xs)
        self.rng = rng
        self.report = report
        self.modes = modes
        self.inner_modes = modes if inner_modes is None else inner_modes  # of the checks of higher order
        self.sample = sample
        self.beside = beside
        self.seed = seed
        self.again = again
        self.order = order
        self.path = path
        self.value = value
        self.thorough = thorough
        self.special = special  # try tangents and cotangents for which rules take shortcuts
        self.trying_special = False
        self.rough = 0.0  # relative differences that are not looked at: a rule may have lost its digits there
        self.full = full  # compare whole Jacobians as well
        self.overrides = overrides or {}
        self.kinks_declared = kinks_declared  # inconclusive entries are expected, and not listed
        self.composed = composed  # of functions whose rules are known: a kink inside may be none of the whole
        self.accuracy = accuracy  # of the function that this one was derived from
        self.after_others = False  # run once more after the points beside it
        self.failed = False
        self.cause: BaseException | None = None  # what the function raised
        self.defined = False
        self.finite = True  # some of the result, at least
        self.judged = False
        self.ys: list[Any] = []
        self.outs: list[Any] = []  # a copy of them
        self.ts: list[Any] = []
        self.cts: list[Any] = []
        self.tys: list[Any] | None = None
        self.gs: list[Any] | None = None
        self.parts: dict[int, list[Any]] = {}

    def fail(self, mode: str, layer: str, message: str, **details: Any) -> None:
        self.failed = True
        self.report.fail(self.failure(mode, layer, message, **details))

    def failure(self, mode: str, layer: str, message: str, **details: Any) -> Failure:
        return Failure(
            self.rules.name, self.rules.rule(mode), mode, layer, message, path=self.path, order=self.order,
            sample=self.sample, point=AFTER_OTHERS if self.after_others else self.beside, seed=self.seed,
            module=self.report.module,
            again=self.again(self, mode) if self.again is not None else "", **details,
        )  # fmt: skip

    def unsure(self, mode: str, why: str) -> None:
        if self.kinks_declared or self.beside:
            return
        where = f" ({self.path})" if self.path else ""
        self.report.inconclusive.append(f"{mode}{where}: {self.sample or 'the point'}: {why}")

    def estimate(self, ts: list[Any], *, quick: bool = False, rounded: bool = False) -> Estimate:
        """The numeric derivative along `ts`; with `rounded` the function's own rounding errors count in its error, as
        they do where it seems to have a kink."""
        est = directional_derivative(
            self.rules.f, self.xs, ts, precision=self.precision, eps=self.accuracy, step=self.overrides.get("eps"),
            quick=quick, rounding=self._rounding(ts) if rounded else None,
        )  # fmt: skip
        return self.estimate(ts, rounded=True) if np.any(est.kink) and not rounded else est

    def _rounding(self, ts: list[Any]) -> np.ndarray:
        """The function's own rounding errors in its differences along `ts`, in double precision: what is common to both
        ends is none of theirs. Where an end is outside the domain, those at the point itself."""
        points, moves = widened(self.xs), [None if t is None else dirs.wide(t)[()] for t in ts]
        step = self.overrides.get("eps", FIRST_STEP)
        up, down = (
            [x if t is None else x + side * step * t for x, t in zip(points, moves, strict=True)] for side in (1, -1)
        )
        f, count = self.rules.f, len(points)

        def difference(results: np.ndarray) -> np.ndarray:
            return (results[: results.size // 2] - results[results.size // 2 :]) / 2

        errors = rounding_errors(lambda xs: [*f(xs[:count]), *f(xs[count:])], [*up, *down], difference)
        if errors.ndim and np.all(np.isfinite(pack([*f(up), *f(down)]))):
            return errors
        return np.maximum(errors, rounding_errors(f, points))

    def rounding_forward(self, ts: list[Any], weights: np.ndarray | None = None) -> np.ndarray:
        """The forward rule's rounding errors along `ts`, an entry of the inexact outputs, or of their weighted sum; 0
        where it cannot be traced."""
        rule = self.rules.jvp
        assert rule is not None
        return self._explained(lambda xs: _zeros_for_none(rule(list(xs), list(ts))[1], self.ys), weights)

    def rounding_reverse(self, cts: list[Any], weights: np.ndarray | None = None) -> np.ndarray:
        """The reverse rule's rounding errors with `cts`, likewise of the inexact inputs."""
        rule = self.rules.vjp
        assert rule is not None
        return self._explained(lambda xs: _zeros_for_none(rule(list(xs))[1](list(cts)), self.xs), weights)

    def _explained(self, run: Callable[[list[Any]], list[Any]], weights: np.ndarray | None) -> np.ndarray:
        """Rounding errors of a rule, as far as they may be the reason for a difference: a rule that loses nearly all
        digits where the function does not is wrong."""
        with np.errstate(all="ignore"):
            if weights is None:
                errors = rounding_errors(run, self.xs)
                scale = np.max(np.abs(np.nan_to_num(pack(run(list(self.xs))), posinf=0.0, neginf=0.0)), initial=0)
            else:
                weighted = lambda results: (results * weights)[weights != 0]
                errors = rounding_errors(run, self.xs, lambda results: np.sum(weighted(results).real))
                scale = np.sum(np.abs(np.nan_to_num(weighted(pack(run(list(self.xs)))), posinf=0.0, neginf=0.0)))
        return np.minimum(errors, dirs.unit_roundoff(self.xs, self.ys) ** EXPLAINED * scale)

    def own_accuracy(self) -> float:
        """The machine epsilon that the function computes with on double precision inputs."""
        if all(dtype_of(x) in (np.float64, np.complex128) for x in self.xs if is_inexact(dtype_of(x))):
            return dirs.unit_roundoff(self.ys)
        try:
            return dirs.unit_roundoff(self.rules.f(widened(self.xs)))
        except Exception as e:
            if self.beside:
                return dirs.unit_roundoff(self.ys)
            raise errors.CheckError(
                f"{self.rules.name} raised {type(e).__name__} on its arguments in double precision: {e}",
                mend="let it take float64 as well: the numeric side runs in double precision",
            ) from e

    def affordable(self) -> bool:
        """Whether the whole Jacobian may be taken."""
        return 0 < pack(self.xs).size <= AFFORDABLE and 0 < pack(self.ys).size <= AFFORDABLE

    def allowed(self, want: Any) -> float:
        """What a user's own tolerances allow a result to differ by; nothing where none are given."""
        if not self.overrides.keys() & {"atol", "rtol"}:
            return 0.0
        size = np.abs(np.asarray(want))
        largest = float(np.max(np.where(np.isfinite(size), size, 0), initial=0))
        return self.overrides.get("atol", 0.0) + self.overrides.get("rtol", 0.0) * largest

    def computes_in_double(self) -> bool:
        """Whether the arguments are in single precision, and the function would compute in double precision."""
        return dirs.unit_roundoff(self.xs, self.ys) > 1e-10 and self.accuracy < 1e-12

    @property
    def precision(self) -> float:
        """Relative accuracy to ask of a numeric estimate: less where the function computes in single precision."""
        return 1e-6 if self.accuracy < 1e-12 else 3e4 * self.accuracy

    def pushed(self, xs: Sequence[Any], ts: Sequence[Any]) -> list[Any]:
        assert self.rules.jvp is not None
        return filled(self.rules.jvp(list(xs), list(ts))[1], self.ys)

    def pullback(self, xs: Sequence[Any]) -> Callable[[list[Any]], list[Any]]:
        """The reverse rule's map from cotangents at some arguments."""
        assert self.rules.vjp is not None
        pull = self.rules.vjp(list(xs))[1]
        return lambda cts: filled(pull(list(cts)), self.xs)

    def pulled(self, xs: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        return self.pullback(xs)(list(cts))

    def unit_cotangent(self, k: int, unit: complex = 1) -> list[Any]:
        """The cotangent that reads off entry k of the inexact outputs, laid end to end."""
        row = np.zeros(pack(self.ys).size, complex)
        row[k] = unit
        return [None if part is None else (part if dtype_of(y).kind == "c" else part.real).astype(dtype_of(y))[()]
                for part, y in zip(dirs.unpacked(row, self.ys), self.ys, strict=True)]  # fmt: skip


def _zeros_for_none(ts: Sequence[Any], like: Sequence[Any]) -> list[Any]:
    """Values that may be traced, or None; zeros in its place."""
    return [np.zeros_like(x) if t is None and is_inexact(dtype_of(x)) else t for t, x in zip(ts, like, strict=False)]
