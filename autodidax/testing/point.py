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
from autodidax.testing.numeric import Estimate, directional_derivative, pack, widened
from autodidax.testing.report import Failure, Report
from autodidax.testing.rules import Rules

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
        full: bool = False,
        overrides: dict[str, float] | None = None,
        accuracy: float = 0.0,
        kinks_declared: bool = False,
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
        self.full = full  # compare whole Jacobians as well
        self.overrides = overrides or {}
        self.kinks_declared = kinks_declared  # inconclusive entries are expected, and not listed
        self.accuracy = accuracy  # of the function that this one was derived from
        self.after_others = False  # run once more after the points beside it
        self.failed = False
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
            sample=self.sample, point=self.beside, seed=self.seed, module=self.report.module,
            again=self.again(self, mode) if self.again is not None else "", **details,
        )  # fmt: skip

    def unsure(self, mode: str, why: str) -> None:
        if self.kinks_declared or self.beside:
            return
        where = f" ({self.path})" if self.path else ""
        self.report.inconclusive.append(f"{mode}{where}: {self.sample or 'the point'}: {why}")

    def estimate(self, ts: list[Any], *, quick: bool = False) -> Estimate:
        return directional_derivative(
            self.rules.f, self.xs, ts, precision=self.precision, eps=self.accuracy, step=self.overrides.get("eps"),
            quick=quick,
        )  # fmt: skip

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
