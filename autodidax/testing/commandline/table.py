"""What the check command prints: a line a subject, the failures, a summary; and the same as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from autodidax.core.primitive import Primitive
from autodidax.testing.commandline.coverage import by_kind
from autodidax.testing.commandline.junit import why_nothing
from autodidax.testing.commandline.modules import Subject, signature_of
from autodidax.testing.commandline.subjects import Outcome
from autodidax.testing.commandline.user_functions import missing_of
from autodidax.testing.completeness import derivative_rules, missing_rules
from autodidax.testing.report import Failure

SHOWN = 3  # failures printed of one rule of one subject; --json has them all
ERROR_LINES = 15  # of the checker's own traceback, from its end
COLUMNS = ("impl", "fwd", "rev", "vmap", "jit")
MODULE = 26  # width of that column


class Table:
    """Lines of text on the outcomes, in columns as wide as these subjects need."""

    def __init__(self, subjects: Sequence[Subject], *, verbose: bool = False, dtype: str | None = None):
        self.width = max([len("primitive"), *(len(s.name) for s in subjects)])
        self.count, self.verbose, self.dtype = len(subjects), verbose, dtype

    def header(self) -> str:
        counts = " ".join(f"{c:>6}" for c in COLUMNS)
        margin = f" {'margin':>7}" if self.verbose else ""
        return (
            f"{'primitive':{self.width}} {'module':{MODULE}} {'samples':>7} {counts} {'unsure':>6}{margin} {'time':>7}"
        )

    def row(self, outcome: Outcome) -> str:
        r = outcome.report
        counts = " ".join(f"{r.checks[c]:6}" for c in COLUMNS)
        module = r.module.removeprefix("autodidax.")[-MODULE:]
        margin = ""
        if self.verbose:
            margin = f" {r.worst:7.2g}" if r.worst else f" {'-':>7}"
        return (
            f"{r.subject:{self.width}} {module:{MODULE}} {r.samples:7} {counts} {len(r.inconclusive):6}{margin} "
            f"{r.seconds:6.2f}s {state(outcome)}"
        )

    def details(self, outcome: Outcome) -> Iterator[str]:
        """The failures, some of each rule; and what is not shown but where asked for."""
        r = outcome.report
        if outcome.error:
            head, *rest = outcome.error.split("\n")
            yield f"\n{r.subject}: the checker itself failed: {head}"
            yield from (f"  {line}" for line in rest[-ERROR_LINES:])
        yield from _by_rule(r.failures, r.subject, "failures")
        if self.verbose:
            yield from _by_rule(r.warnings, r.subject, "warnings")
            yield from (f"{r.subject}: inconclusive: {what}" for what in r.inconclusive)
            yield from (f"{r.subject}: skipped: {what}" for what in r.skipped)
            yield from (f"{r.subject}: raises at the point {point}: {n}" for point, n in r.outside.items())
            yield from (f"{r.subject}: note: {note}" for note in r.notes)
            yield from (f"{r.subject}: {name} overridden: {value}" for name, value in r.overrides.items())
            yield from (f"{r.subject}: {rule} did not run" for rule, n in outcome.exercised.items() if not n)

    def summary(self, outcomes: Sequence[Outcome], seconds: float, *, interrupted: bool = False) -> str:
        reports = [o.report for o in outcomes]
        rules = ", ".join(f"{kind} {ran}/{n}" for kind, (ran, n) in by_kind(o.exercised for o in outcomes).items())
        found = {
            "check": sum(r.checks.total() for r in reports),
            "inconclusive": sum(len(r.inconclusive) for r in reports),
            "warning": sum(len(r.warnings) for r in reports),
            "unjudged": sum(1 for o in outcomes if o.unjudged),
            "skipped": sum(1 for r in reports if not r.checks and r.skipped),
            "incomplete": sum(1 for r in reports if r.missing),
        }
        counted = ", ".join(_plural(n, what) for what, n in found.items())
        lines = ["", f"rules exercised: {rules}"] if rules else [""]
        whole = f"{len(outcomes)} of {self.count}" if len(outcomes) < self.count else str(self.count)
        cast = f" in {self.dtype}" * bool(self.dtype)
        lines.append(f"{whole} checked{cast}: {counted}, in {seconds:.1f} s: {_verdict(outcomes, interrupted)}")
        return "\n".join(lines)


def state(outcome: Outcome) -> str:
    """What came of one subject, in a word or some."""
    r = outcome.report
    if outcome.error:
        return "ERROR"
    if outcome.wrong:
        text = f"FAIL ({outcome.wrong})"
    elif outcome.unusable:
        text = "BAD SAMPLES"
    elif not r.checks:
        text = "nothing to check" if not r.skipped else f"skipped: {why_nothing(outcome)}"
    elif outcome.unjudged:
        text = f"unjudged: {outcome.unjudged}"
    else:
        text = "incomplete" if r.missing else "ok"
    if r.warnings:
        text += f", {_plural(len(r.warnings), 'warning')}"
    return text + (f", missing: {' '.join(r.missing)}" if r.missing else "")


def _plural(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1 and what not in ('inconclusive', 'unjudged', 'skipped', 'incomplete'))}"


def _verdict(outcomes: Sequence[Outcome], interrupted: bool) -> str:
    parts = ["INTERRUPTED"] if interrupted else []
    for word, names in (
        ("with an error of the CHECKER", [o.report.subject for o in outcomes if o.error]),
        ("FAILED", [o.report.subject for o in outcomes if o.wrong]),
        ("with BAD SAMPLES", [o.report.subject for o in outcomes if o.unusable]),
        ("INCOMPLETE", [o.report.subject for o in outcomes if not (o.ok or o.wrong or o.error or o.unusable)]),
    ):
        parts += [f"{len(names)} {word}: {', '.join(names)}"] if names else []
    judged = [o for o in outcomes if o.report.checks and not o.unjudged]
    if not (parts or judged):
        return "nothing was compared"
    lacking = [o.report.subject for o in outcomes if o.ok and o.report.missing]
    all_rules = "all rules there are agree, but some are missing" if lacking else "all rules agree"
    return "; ".join(parts) or all_rules


def _by_rule(failures: Sequence[Failure], subject: str, what: str) -> Iterator[str]:
    by_rule: dict[str, list[Failure]] = {}
    for f in failures:
        by_rule.setdefault(f.rule, []).append(f)
    for rule, found in by_rule.items():
        yield ""
        yield from map(str, found[:SHOWN])
        if len(found) > SHOWN:
            yield f"  and {len(found) - SHOWN} more {what} of {subject}: {rule}"


def describe(subject: Subject) -> str:
    """One line on a subject: its name, module, kind of derivative and what it lacks."""
    value = subject.value
    if not isinstance(value, Primitive):
        kind = f"{type(value).__name__} {subject.name}{signature_of(value)}"
        lacking = missing_of(subject)
    else:
        lacking = missing_rules(value)
        if value.nondifferentiable:
            kind = f"no derivative: {value.nondifferentiable}"
        elif value.zero_derivative:
            kind = "derivative zero"
        else:
            rules = dict.fromkeys(derivative_rules(value).values())
            kind = ", ".join(r for r in rules if r not in lacking) or "no rule"
    module = value.module if isinstance(value, Primitive) else subject.module
    return f"{subject.name:24} {module:40} {kind}" + (f"; missing: {', '.join(lacking)}" if lacking else "")


def as_json(outcomes: Sequence[Outcome], code: int) -> str:
    """All reports as JSON; numbers that are not finite as text."""
    found = {"ok": code == 0, "exit_code": code, "primitives": [_as_dict(o) for o in outcomes]}
    return json.dumps(_plain(found), indent=1, allow_nan=False)


def _as_dict(outcome: Outcome) -> dict[str, Any]:
    r = outcome.report
    parts = {k: v for k, v in vars(r).items() if k != "fail_fast"}
    findings = {k: [vars(f) for f in parts.pop(k)] for k in ("failures", "warnings")}
    return {
        "ok": outcome.ok,
        "error": outcome.error,
        "unjudged": outcome.unjudged,
        **parts,
        **findings,
        "rules": {rule: n > 0 for rule, n in outcome.exercised.items()},
    }


def _plain(x: Any) -> Any:
    if isinstance(x, dict):
        return {str(k): _plain(v) for k, v in x.items()}
    if isinstance(x, list | tuple):
        return [_plain(v) for v in x]
    if isinstance(x, float) and not math.isfinite(x):
        return repr(x)
    return x if x is None or isinstance(x, str | int | float) else repr(x)


class ProgressBar:
    """A bar on a terminal; nothing at all elsewhere."""

    def __init__(self, total: int, stream: TextIO, width: int = 30):
        self.total, self.stream, self.width = total, stream, width
        self.done = 0
        self.shown = stream.isatty()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *exc: object) -> None:
        self.clear()

    def clear(self) -> None:
        if self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()

    def advance(self, name: str) -> None:
        self.done += 1
        if self.shown:
            filled = self.width * self.done // self.total
            bar = "#" * filled + "." * (self.width - filled)
            self.stream.write(f"\r\x1b[K[{bar}] {self.done}/{self.total} {name}")
            self.stream.flush()
