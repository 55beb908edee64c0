"""What a check has found: failures, warnings, counts, inconclusive points, the margin to the tolerance."""

from __future__ import annotations

import os
import sysconfig
import traceback
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autodidax import errors

LINES = 15  # of one failure, as shown
VERBS = {
    "complete": "is missing",
    "precision": "is imprecise, it loses digits",
    "infinite at a kink": "is not finite",
    "samples": "cannot be used",
    "runs": "raises",
}
ABOUT_USE = {
    "complete": "write what is missing; error.report.missing lists it",
    "samples": "correct the samples",
}
PACKAGE = os.path.dirname(errors.__file__) + os.sep
INSTALLED = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "purelib", "platlib")})
ABOUT_ALL = ("is missing", "cannot be used")  # what is said of a subject, and not of one mode


@dataclass
class Failure:
    """One thing that is wrong, with all that is needed to find it again."""

    subject: str  # the primitive or function
    rule: str  # the rule at fault: jvp, transpose, products, batch, abstract_eval, ...
    mode: str  # fwd, rev, vmap, jit or impl
    layer: str  # what was compared: value, adjoint, structure, homogeneity, precision, ...
    message: str
    path: str = ""  # "of jvp of vjp": what is checked is a derivative of that map
    order: int = 1
    sample: str = ""  # which arguments
    point: str = ""  # "" for the arguments as they were given, or how they were changed: zeros, times 16, ...
    seed: int | None = None
    argument: str = ""
    expected: str = ""
    got: str = ""
    where: str = ""  # "12 of 40 entries, most in [3, 1] of output 0"
    guess: str = ""  # the kind of error, where it can be told: "the sign is flipped"
    table: str = ""  # numeric derivatives over the step, to see how they converge
    again: str = ""  # how to run this case again
    smaller: str = ""  # how to run a smaller one that fails in the same way
    module: str = ""

    def __str__(self) -> str:
        verb = VERBS.get(self.layer, "is wrong")
        where = [self.layer] if verb in ABOUT_ALL else [self.layer, self.mode, f"order {self.order}"]
        where += [self.path] * bool(self.path)
        rule = "the function itself" if (self.rule, self.layer) == ("impl", "runs") else self.rule
        lines = [f"{self.subject}: {rule} {verb} ({', '.join(where)})", f"  {self.message}"]
        point = self.point + (f", seed {self.seed}" if self.seed is not None else "") if self.point else ""
        if not self.point and self.seed is not None and not self.sample:
            point = f"seed {self.seed}"
        rows = {"sample": self.sample, "point": point, "argument": self.argument, "expected": self.expected}
        rows |= {"got": self.got, "where": self.where, "guess": self.guess, "numeric": self.table, "again": self.again}
        rows["smaller"] = self.smaller
        for name, text in rows.items():
            if text:
                lines += [f"  {name + ':':9} {row}" for row in [text.split("\n")[0]]]
                lines += [f"{'':12} {row}" for row in text.split("\n")[1:]]
        return "\n".join("\n".join(lines).split("\n")[:LINES])


class StopCheck(Exception):
    """Raised at the first failure of a check that was asked to end there."""


@dataclass
class Report:
    """The outcome of a check: it passes where `failures` is empty and something was compared.

    `inconclusive` lists the points where the numeric estimate was not good enough to judge by (a kink, noise, the edge
    of the domain): they are never counted as passes. `warnings` lists rules that lose digits; with `strict` they are
    failures. `points` counts the points beside the given one that were judged, by name, and `outside` those at which
    the function raised an exception.
    """

    subject: str
    module: str = ""
    failures: list[Failure] = field(default_factory=list)
    warnings: list[Failure] = field(default_factory=list)
    checks: Counter[str] = field(default_factory=Counter)
    inconclusive: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what to know of the outcome
    not_finite: list[str] = field(default_factory=list)  # the samples at which nothing of the result is finite
    outside: Counter[str] = field(default_factory=Counter)  # points beside the given one at which the function raised
    missing: list[str] = field(default_factory=list)
    overrides: dict[str, Any] = field(default_factory=dict)
    points: Counter[str] = field(default_factory=Counter)
    samples: int = 0
    worst: float = 0.0  # largest difference over its tolerance among the comparisons that passed
    seconds: float = 0.0
    fail_fast: bool = False
    strict: bool = False

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

    def warn(self, warning: Failure) -> None:
        """Note a loss of precision, or a result that is not finite at a kink; a failure of a strict check."""
        if self.strict:
            self.fail(warning)
        else:
            self.warnings.append(warning)

    def raise_if_failed(self, cause: BaseException | None = None) -> Report:
        """The report itself, where nothing failed; otherwise CheckError is raised, from its cause if there is one."""
        if self.failures:
            more = len(self.failures) - 1
            text = str(self.failures[0]) + (f"\n  and {more} more, in the report" if more else "")
            text += "".join(f"\n  note: {note}" for note in self.notes)
            mend = "correct the rule; error.report.failures lists every disagreement"
            if self.failures[0].rule == "impl":
                mend = "see to the function itself before its rules"
            elif self.failures[0].layer in ABOUT_USE:
                mend = ABOUT_USE[self.failures[0].layer]
            raise errors.CheckError(text, report=self, mend=mend) from cause
        return self

    def __str__(self) -> str:
        counts = ", ".join(f"{mode} {n}" for mode, n in sorted(self.checks.items())) or "nothing compared"
        state = "ok" if self.ok else f"FAIL ({len(self.failures)})"
        if self.ok and self.samples and len(set(self.not_finite)) == self.samples:
            state = "not judged, since the function's result is not finite"
        lines = [f"{self.subject}: {state}; {counts}; {len(self.inconclusive)} inconclusive; margin {self.worst:.2g}"]
        if self.points:
            lines.append("  points: " + ", ".join(f"{name} {n}" for name, n in self.points.items()))
        if self.outside:
            lines.append("  the function raises at: " + ", ".join(f"{name} {n}" for name, n in self.outside.items()))
        lines += [f"  note: {note}" for note in self.notes]
        lines += [f"  override: {name}={value}" for name, value in self.overrides.items()]
        lines += [f"  skipped: {reason}" for reason in self.skipped]
        lines += [f"  missing: {what}" for what in self.missing]
        lines += [f"  inconclusive: {what}" for what in self.inconclusive]
        lines += [str(f) for f in (*self.failures, *self.warnings)]
        return "\n".join(lines)


def brief(x: Any) -> str:
    """A value on one line, shortened."""
    a = np.asarray(x)
    if a.ndim == 0:
        return repr(a[()])
    text = np.array2string(a, threshold=8, edgeitems=3, precision=10).replace("\n", " ")
    return f"{text} {a.dtype}{list(a.shape)}"


def raised(error: BaseException | None) -> str:
    """An exception in words: its type, the first line of its message and where it was raised; further lines below."""
    first, *more = str(error).split("\n")
    return "\n".join([f"{type(error).__name__}: {first}{raised_at(error)}", *more])


def raised_at(error: BaseException | None) -> str:
    """The innermost line of a user's own code that an exception came through: not of this package nor, where there is
    any other, of one that is installed."""
    frames = traceback.extract_tb(error.__traceback__) if error is not None else []
    places = [f for f in frames if not f.filename.startswith((PACKAGE, "<frozen ", "<__array_function__"))]
    own = [f for f in places if not f.filename.startswith(INSTALLED)] or places
    return f" ({os.path.basename(own[-1].filename)}:{own[-1].lineno})" if own else ""
