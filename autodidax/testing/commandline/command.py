"""`python -m autodidax check`: the checker over the registry or a user's modules, with a table and an exit code."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from autodidax import errors
from autodidax.testing.commandline.junit import as_junit
from autodidax.testing.commandline.modules import Subject, load_all, resolve
from autodidax.testing.commandline.options import DTYPES, CheckOptions
from autodidax.testing.commandline.repro import Repro, of_case
from autodidax.testing.commandline.subjects import Outcome
from autodidax.testing.commandline.table import ProgressBar, Table, as_json, describe
from autodidax.testing.commandline.workers import Outcomes, default_jobs
from autodidax.testing.mutation import run as mutation
from autodidax.testing.points import point_names
from autodidax.testing.primitives import MODES

# exit codes
PASSED, WRONG, BAD_USAGE, INCOMPLETE, CHECKER_FAILED, INTERRUPTED = 0, 1, 2, 3, 4, 130

EPILOG = """\
exit codes: 0 all rules agree; 1 a rule is wrong; 2 bad usage, declared samples that are none, or output that cannot be
written; 3 something is missing, under --require-complete, or could not be judged, also under --strict; 4 the checker
itself failed on something; 130 interrupted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the check command."""
    parser.epilog = EPILOG
    parser.add_argument(
        "names", nargs="*", metavar="NAME",
        help="a primitive, a glob pattern, package.module, or package.module:name; all primitives by default",
    )  # fmt: skip
    what = parser.add_argument_group("what is checked")
    what.add_argument("--modes", type=_modes, default=MODES, help="comma-separated, of fwd, rev, vmap, jit")
    what.add_argument("--order", type=int, choices=(1, 2, 3), default=2, help="highest order (default 2)")
    what.add_argument("--seeds", type=_positive, default=1, metavar="N", help="draws of every sample (default 1)")
    what.add_argument("--dtype", choices=DTYPES, help="cast the samples to it, where they can be")
    what.add_argument("--points", type=_points, metavar="P", help="given, all, or comma-separated names of points")
    what.add_argument("--slow", action="store_true", help="everything at every sample, not at one of each kind")
    what.add_argument("--repro", type=_repro, metavar="CASE", help="run one case again, as printed with its failure")
    what.add_argument("--mutate", action="store_true", help="make every rule wrong in turn: each has to be noticed")
    verdict = parser.add_argument_group("what fails")
    verdict.add_argument("--strict", action="store_true", help="a loss of precision fails, and so does judging nothing")
    verdict.add_argument("--require-complete", action="store_true", help="a missing rule or no samples is a failure")
    verdict.add_argument("--fail-fast", action="store_true", help="stop at the first failure")
    output = parser.add_argument_group("output")
    output.add_argument("--list", action="store_true", help="list what there is, with its rules, and check nothing")
    output.add_argument("--json", metavar="FILE", help="write the reports to a file ('-': to standard output)")
    output.add_argument("--junit", metavar="FILE", help="write the reports as JUnit XML ('-': to standard output)")
    output.add_argument("--jobs", type=_positive, metavar="N", help="processes (default: the cores, where worth it)")
    output.add_argument(
        "-v", "--verbose", action="store_true",
        help="show margins, inconclusive and skipped points, warnings, and rules that did not run",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Check what `options` say and return the exit code."""
    stdout = sys.stdout
    try:
        with contextlib.redirect_stdout(_Output(stdout)):
            code = _run(options)
            sys.stdout.flush()
            return code
    except CannotWrite as error:
        print(f"cannot write the standard output: {error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())  # for what waits to be written at the exit
        return BAD_USAGE


def _run(options: argparse.Namespace) -> int:
    load_all()
    names = [options.repro.subject] if options.repro else options.names
    try:
        if options.repro and options.names:
            raise errors.ArgumentError("--repro names what it checks", mend="give no other names", where="")
        if options.json and options.json == options.junit:
            raise errors.ArgumentError("--json and --junit go to the same place", mend="give them two files", where="")
        with contextlib.redirect_stdout(sys.stderr):  # what modules print when they are imported
            subjects = resolve(names)
        if options.mutate and not all(s.is_primitive for s in subjects):
            raise errors.ArgumentError("--mutate changes the rules of primitives", mend="name primitives", where="")
    except errors.ArgumentError as e:
        print(e, file=sys.stderr)
        return BAD_USAGE
    unwritable = _unwritable([p for p in (options.json, options.junit) if p not in (None, "-")])
    if unwritable:
        print(unwritable, file=sys.stderr)
        return BAD_USAGE
    if options.list:
        for s in subjects:
            print(describe(s))
        return PASSED
    if options.mutate:
        primitives = [s.value for s in subjects]
        jobs = options.jobs or default_jobs(len(subjects), worth=1)
        out = sys.stdout
        with contextlib.redirect_stdout(sys.stderr):
            return mutation.run_mutation(primitives, jobs=jobs, seed=0, out=out, verbose=options.verbose)
    return _check(subjects, names, options, options.jobs or default_jobs(len(subjects)))


def _check(subjects: Sequence[Subject], names: Sequence[str], options: argparse.Namespace, jobs: int) -> int:
    start = time.perf_counter()
    out = sys.stderr if "-" in (options.json, options.junit) else sys.stdout
    table = Table(subjects, verbose=options.verbose, dtype=options.dtype)
    outcomes: list[Outcome] = []
    running = Outcomes(subjects, names, check_options(options), jobs)
    print(table.header(), file=out)
    with ProgressBar(len(subjects), sys.stderr) as bar:
        try:
            interrupted = False
            for outcome in _until_failure(running, options):
                outcomes.append(outcome)
                bar.clear()
                print(table.row(outcome), file=out, flush=True)
                bar.advance(outcome.report.subject)
        except KeyboardInterrupt:
            interrupted = True
    for outcome in running.ahead() if interrupted else ():
        outcomes.append(outcome)
        print(table.row(outcome), file=out)
    seconds = time.perf_counter() - start
    for outcome in outcomes:
        for line in table.details(outcome):
            print(line, file=out)
    print(table.summary(outcomes, seconds, interrupted=interrupted), file=out, flush=True)
    code = INTERRUPTED if interrupted else exit_code(outcomes, options)
    if options.repro and code == PASSED:
        print(
            "the case passes. Where it failed among others, something is kept from call to call: check "
            f"{options.repro.subject} without --repro",
            file=out,
        )
    written = not options.json or _write(options.json, as_json(outcomes, code) + "\n")
    written &= not options.junit or _write(options.junit, as_junit(outcomes, seconds))
    return code if written else BAD_USAGE


def _until_failure(running: Outcomes, options: argparse.Namespace) -> Iterator[Outcome]:
    """The outcomes as they come; up to the first failure where that is asked for. Of one case, what belongs to it."""
    with contextlib.closing(iter(running)) as outcomes:
        for outcome in outcomes:
            if options.repro:
                _keep_case(outcome, options.repro)
            yield outcome
            if options.fail_fast and not outcome.ok:
                return


def _keep_case(outcome: Outcome, case: Repro) -> None:
    """Leave the failures of one case in a report, or its warnings where no failure is the case."""
    report = outcome.report
    kept = of_case([*report.failures, *report.warnings], case)
    for found in (report.failures, report.warnings):
        found[:] = [f for f in found if any(f is k for k in kept)]


def check_options(options: argparse.Namespace) -> CheckOptions:
    """The options of the command line as those of a check."""
    checks = CheckOptions(
        options.modes,
        options.order,
        tuple(range(options.seeds)),
        options.slow,
        options.strict,
        options.fail_fast,
        options.require_complete,
        options.points,
        options.dtype,
    )
    return checks.of_case(options.repro) if options.repro else checks


def exit_code(outcomes: Sequence[Outcome], options: argparse.Namespace) -> int:
    """What the outcomes come to: an error of the checker counts before a wrong rule, that before samples that are none,
    and these before what is missing."""
    if any(o.error for o in outcomes):
        return CHECKER_FAILED
    if any(o.wrong for o in outcomes):
        return WRONG
    if any(o.unusable for o in outcomes):
        return BAD_USAGE
    if not all(o.ok for o in outcomes):
        return INCOMPLETE
    if options.repro and not any(o.report.checks for o in outcomes):
        print(f"there is no case {str(options.repro)!r}: nothing was compared", file=sys.stderr)
        return BAD_USAGE
    return PASSED


def _unwritable(paths: Sequence[str]) -> str:
    for path in paths:
        try:
            open(path, "a", encoding="utf-8").close()
        except OSError as error:
            return f"cannot write {path!r}: {error.strerror}"
    return ""


class CannotWrite(Exception):
    """The standard output takes no more; but for a reader that has gone, which is no error."""


class _Output:
    """A stream that raises CannotWrite where it cannot be written to."""

    def __init__(self, stream: TextIO):
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        with _told_apart():
            return self.stream.write(text)

    def flush(self) -> None:
        with _told_apart():
            self.stream.flush()


@contextlib.contextmanager
def _told_apart() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotWrite(error.strerror) from error


def _write(path: str, text: str) -> bool:
    """Write a report; False where that cannot be done, which is told."""
    if path == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return True
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        print(f"cannot write {path!r}: {error.strerror}", file=sys.stderr)
        return False
    return True


# types of the options


def _modes(text: str) -> tuple[str, ...]:
    given = tuple(text.split(","))
    if not set(given) <= set(MODES):
        raise argparse.ArgumentTypeError(f"{text!r}: give one or more of {','.join(MODES)}")
    return given


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive integer")
    return int(text)


def _points(text: str) -> str | tuple[str, ...]:
    points = text if text in ("given", "all") else tuple(text.split(","))
    try:
        point_names(points)
    except errors.ArgumentError as e:
        raise argparse.ArgumentTypeError(f"{e.message}: {e.mend}") from None
    return points


def _repro(text: str) -> Repro:
    try:
        return Repro.parse(text)
    except errors.ArgumentError as e:
        raise argparse.ArgumentTypeError(f"{e.message}; {e.mend}") from None
