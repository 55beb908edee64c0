"""The check of one subject, a primitive or a function of a user's module, and what came of it."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from autodidax.core.primitive import Primitive
from autodidax.testing.commandline.coverage import counted
from autodidax.testing.commandline.modules import Subject, drawing
from autodidax.testing.commandline.options import CheckOptions
from autodidax.testing.commandline.repro import COMMAND, repro_of
from autodidax.testing.commandline.user_functions import SAMPLES, check_function, rules_of
from autodidax.testing.primitives import MODES, check_primitive
from autodidax.testing.report import Failure, Report

NO_MODE = "its derivatives are compared in the modes fwd and rev, and it has no rule of its own for the others"
COMPLETE = "complete"  # the layer of a failure that says what is missing


@dataclass
class Outcome:
    """A report, how often each rule ran, why no derivative was judged where that is so, and the checker's own error
    where it failed."""

    report: Report
    exercised: Counter[str] = field(default_factory=Counter)
    unjudged: str = ""
    error: str = ""

    @property
    def wrong(self) -> int:
        """How many of the failures say that a rule is wrong: not missing, nor without usable samples."""
        return sum(f.layer not in (COMPLETE, SAMPLES) for f in self.report.failures)

    @property
    def unusable(self) -> bool:
        """Whether the samples of a user are no samples."""
        return any(f.layer == SAMPLES for f in self.report.failures)

    @property
    def ok(self) -> bool:
        return self.report.ok and not self.error


def check_subject(subject: Subject, options: CheckOptions) -> Outcome:
    """Check a subject; an exception of the checker itself is part of the outcome.

    What the code that is checked prints goes to standard error, so that the output of the check stays readable.
    """
    calls: Counter[str] = Counter()
    with contextlib.redirect_stdout(sys.stderr):
        return _check(subject, options, calls)


def _check(subject: Subject, options: CheckOptions, calls: Counter[str]) -> Outcome:
    try:
        if isinstance(subject.value, Primitive):
            with _declared_samples(subject), counted(subject.value) as calls:
                report = check_primitive(subject.value, **options.of_primitive())
        else:
            report = check_function(subject, options)
            derived = report.checks["fwd"] + report.checks["rev"]  # each of them takes every rule there is
            calls = Counter(dict.fromkeys(rules_of(subject.value), derived))
    except (Exception, SystemExit) as e:
        return crashed(subject, f"{type(e).__name__}: {e}", traceback.format_exc())
    unjudged = _unjudged(report, subject, options)
    if options.require_complete:
        _fail_missing(report)
    if unjudged and not report.failures and (options.strict or options.require_complete):
        rule = "a mode to judge by" if unjudged == NO_MODE else "a sample to judge by"
        report.failures.append(Failure(report.subject, rule, "impl", COMPLETE, unjudged, module=report.module))
    for f in (*report.failures, *report.warnings):
        f.again = _again(f, subject, options)
        if options.dtype and f.sample:
            f.sample += f", cast to {options.dtype}"
    return Outcome(report, calls if report.checks else Counter(), unjudged)


def _unjudged(report: Report, subject: Subject, options: CheckOptions) -> str:
    """Why no derivative was judged at any sample, where that is so."""
    derived = report.checks["fwd"] + report.checks["rev"]
    if not report.samples or options.only is not None:
        return ""
    if not set(options.modes) & {"fwd", "rev"}:
        alone = not report.failures and not set(report.checks) - {"impl"}
        return NO_MODE if alone and not subject.is_primitive else ""
    if len(set(report.not_finite)) == report.samples:
        return "the function's result is finite at no sample"
    if not derived and report.inconclusive and not report.failures:
        return report.inconclusive[0]
    if not derived and not subject.is_primitive and not report.failures:
        return "no floating or complex argument and result: nothing to differentiate"
    return ""


def crashed(subject: Subject, what: str, details: str = "") -> Outcome:
    """The outcome of a check that did not end."""
    return Outcome(Report(subject.name, module=subject.module), error=f"{what}\n{details}".rstrip())


@contextlib.contextmanager
def _declared_samples(subject: Subject) -> Iterator[None]:
    """Add the samples that a module declares for a primitive to its own, inside the block."""
    p = subject.value
    if subject.declared is None:
        yield
        return
    own = vars(p).get("samples")
    p.samples = drawing(p, subject.declared)
    try:
        yield
    finally:
        if own is None:
            del p.samples
        else:
            p.samples = own


def _fail_missing(report: Report) -> None:
    noted = {f.rule for f in report.failures if f.layer == COMPLETE}
    for what in report.missing:
        if what not in noted:
            message = "there are no samples" if what == "samples" else "the rule is missing"
            report.failures.append(Failure(report.subject, what, "impl", COMPLETE, message, module=report.module))


def _again(failure: Failure, subject: Subject, options: CheckOptions) -> str:
    """The command line that finds a failure again."""
    case = repro_of(failure, subject.reference, options.dtype, options.modes)
    if case is not None and str(case) != subject.reference:
        return case.command(strict=options.strict)
    flag = " --require-complete" if failure.layer == COMPLETE and options.require_complete else ""
    flag = " --strict" if failure.layer == COMPLETE and not flag else flag
    flag += f" --modes {','.join(options.modes)}" if failure.layer == COMPLETE and options.modes != MODES else ""
    return f"{COMMAND} {subject.reference}{flag}"
