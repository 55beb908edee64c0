"""What a check over many subjects is asked to do."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from autodidax.testing.commandline.repro import Repro
from autodidax.testing.points import AFTER_OTHERS
from autodidax.testing.primitives import MODES

DTYPES = ("float32", "float64", "complex64", "complex128")


@dataclass(frozen=True)
class CheckOptions:
    """Options of a check, the same for each of its subjects; only those that were set are passed on."""

    modes: tuple[str, ...] = MODES
    order: int = 2
    seeds: tuple[int, ...] = (0,)
    slow: bool = False
    strict: bool = False
    fail_fast: bool = False
    require_complete: bool = False
    points: str | tuple[str, ...] | None = None
    dtype: str | None = None
    only: tuple[int, str | None] | None = None  # a sample and a point of it

    def of_primitive(self) -> dict[str, Any]:
        """Keyword arguments of check_primitive. A missing rule is noted by the caller, alike for every subject."""
        given = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        defaults = {f.name: f.default for f in dataclasses.fields(self)}
        return {k: v for k, v in given.items() if v != defaults[k] and k != "require_complete"}

    def of_grads(self) -> dict[str, Any]:
        """Keyword arguments of check_grads beside those that change from sample to sample."""
        options: dict[str, Any] = {"strict": True} if self.strict else {}
        if self.points is not None:
            options["points"] = self.points
        return options

    def of_case(self, case: Repro) -> CheckOptions:
        """The options that run one case alone, as it was run: in all modes, since reverse mode is judged by forward
        mode, and at order 2 both are derived from each. Order 2 is to be reached at any sample."""
        alone = case.point and case.point != AFTER_OTHERS
        points: Any = (case.point,) if alone else self.points if case.point or case.sample is None else "given"
        return dataclasses.replace(
            self,
            modes=tuple(case.modes.split("+")) if case.modes else MODES,
            order=case.order,
            seeds=(case.seed,),
            slow=True,
            dtype=case.dtype or None,
            points=points,
            only=None if case.sample is None else (case.sample, case.point if alone else None),
        )
