"""What a check has found: failures, counts, inconclusive points, the margin to the tolerance."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autodidax import errors


@dataclass
class Failure:
    """One thing that is wrong, with all that is needed to find it again."""

    subject: str  # the primitive or function
    rule: str  # the rule at fault: jvp, transpose, products, batch, abstract_eval, ...
    mode: str  # fwd, rev, vmap, jit or impl
    layer: str  # what was compared: value, adjoint, structure, homogeneity, ...
    message: str
    path: str = ""  # "jvp of vjp"
    order: int = 1
    sample: str = ""
    argument: str = ""
    expected: str = ""
    got: str = ""
    module: str = ""

    def __str__(self) -> str:
        head = f"{self.subject}: {self.rule} is wrong ({self.layer}, {self.mode}, order {self.order}"
        head += f", {self.path})" if self.path else ")"
        lines = [head, f"  {self.message}"]
        for name in ("sample", "argument", "expected", "got"):
            text = getattr(self, name)
            if text:
                lines.append(f"  {name + ':':9} {text}")
        return "\n".join(lines)


class StopCheck(Exception):
    """Raised at the first failure of a check that was asked to end there."""


@dataclass
class Report:
    """The outcome of a check: it passes where `failures` is empty and something was compared.

    `inconclusive` lists the points where the numeric estimate was not good enough to judge by (a kink, noise, the edge
    of the domain): they are never counted as passes.
    """

    subject: str
    module: str = ""
    failures: list[Failure] = field(default_factory=list)
    checks: Counter[str] = field(default_factory=Counter)
    inconclusive: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    overrides: dict[str, Any] = field(default_factory=dict)
    samples: int = 0
    worst: float = 0.0  # largest difference over its tolerance among the comparisons that passed
    seconds: float = 0.0
    fail_fast: bool = False

    @property
    def ok(self) -> bool:
        return not self.failures

    def passed(self, mode: str, ratio: float = 0.0) -> None:
        self.checks[mode] += 1
        self.worst = max(self.worst, ratio)

    def fail(self, failure: Failure) -> None:
        self.checks[failure.mode] += 1
        self.failures.append(failure)
        if self.fail_fast:
            raise StopCheck

    def raise_if_failed(self) -> Report:
        if self.failures:
            more = len(self.failures) - 1
            text = str(self.failures[0]) + (f"\n  and {more} more, in the report" if more else "")
            raise errors.CheckError(
                text, report=self, mend="correct the rule; error.report.failures lists every disagreement"
            )
        return self

    def __str__(self) -> str:
        counts = ", ".join(f"{mode} {n}" for mode, n in sorted(self.checks.items())) or "nothing compared"
        state = "ok" if self.ok else f"FAIL ({len(self.failures)})"
        lines = [f"{self.subject}: {state}; {counts}; {len(self.inconclusive)} inconclusive; margin {self.worst:.2g}"]
        lines += [f"  override: {name}={value}" for name, value in self.overrides.items()]
        lines += [f"  skipped: {reason}" for reason in self.skipped]
        lines += [f"  missing: {what}" for what in self.missing]
        lines += [f"  inconclusive: {what}" for what in self.inconclusive]
        lines += [str(f) for f in self.failures]
        return "\n".join(lines)


def brief(x: Any) -> str:
    """A value on one line, shortened."""
    a = np.asarray(x)
    if a.ndim == 0:
        return repr(a[()])
    text = np.array2string(a, threshold=8, edgeitems=3, precision=10).replace("\n", " ")
    return f"{text} {a.dtype}{list(a.shape)}"
