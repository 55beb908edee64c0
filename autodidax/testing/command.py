"""`python -m autodidax check`: the checker over the registry, with a table, failures and an exit code."""

from __future__ import annotations

import argparse
import concurrent.futures
import difflib
import fnmatch
import functools
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TextIO

from autodidax.core.primitive import Primitive, registry
from autodidax.testing.primitives import MODES, check_primitive, derivative_rules, missing_rules
from autodidax.testing.report import Failure, Report

SHOWN = 3  # failures printed of one rule of one primitive; --json has them all
COLUMNS = ("impl", "fwd", "rev", "vmap", "jit")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the check command."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="primitives, or glob patterns; all by default")
    parser.add_argument("--modes", type=_modes, default=MODES, help="comma-separated, of fwd, rev, vmap, jit")
    parser.add_argument("--order", type=int, choices=(1, 2, 3), default=2, help="highest order (default 2)")
    parser.add_argument("--seeds", type=_positive, default=1, metavar="N", help="draws of every sample (default 1)")
    parser.add_argument("--slow", action="store_true", help="order 2 at every sample, not at one of each kind")
    parser.add_argument("--fail-fast", action="store_true", help="stop at the first failure")
    parser.add_argument("--require-complete", action="store_true", help="a missing rule or no samples is a failure")
    parser.add_argument("--list", action="store_true", help="list the primitives with their rules and check nothing")
    parser.add_argument("--json", metavar="FILE", help="write the reports to a file ('-': to standard output)")
    parser.add_argument("--jobs", type=_positive, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("-v", "--verbose", action="store_true", help="show inconclusive and skipped points")


def run(options: argparse.Namespace, load: Callable[[], None]) -> int:
    """Check what `options` say, after `load` has registered all primitives; 0, 1 (a rule is wrong) or 2 (bad usage)."""
    load()
    chosen = select(options.names)
    unmatched = [name for name in options.names if not select([name])]
    if unmatched:
        close = difflib.get_close_matches(unmatched[0].lower(), [p.name for p in registry], 3)
        hint = f"did you mean {' or '.join(close)}? " if close else ""
        print(f"no primitive matches {' '.join(map(repr, unmatched))}; {hint}--list shows the names", file=sys.stderr)
        return 2
    if options.json not in (None, "-"):
        try:
            open(options.json, "a", encoding="utf-8").close()
        except OSError as error:
            print(f"cannot write {options.json!r}: {error.strerror}", file=sys.stderr)
            return 2
    if options.list:
        for p in chosen:
            print(describe(p))
        return 0
    start = time.perf_counter()
    out = sys.stderr if options.json == "-" else sys.stdout
    width = max(len(p.name) for p in chosen)
    print(_header(width), file=out)
    reports = []
    with ProgressBar(len(chosen), sys.stderr) as bar:
        for report in _reports(chosen, options, load):
            bar.clear()
            print(_row(report, width), file=out, flush=True)
            reports.append(report)
            bar.advance(report.subject)
            if options.fail_fast and not report.ok:
                break
    for report in reports:
        for line in _details(report, options.verbose):
            print(line, file=out)
    print(_summary(reports, time.perf_counter() - start), file=out)
    if options.json:
        _write_json(options.json, reports)
    return 0 if all(r.ok for r in reports) else 1


def select(names: Sequence[str]) -> list[Primitive]:
    """The primitives whose name (or module and name) matches one of the patterns; all of them where there is none."""
    if not names:
        return list(registry)
    return [p for p in registry if any(_matches(p, n) for n in names)]


def _matches(p: Primitive, pattern: str) -> bool:
    return fnmatch.fnmatchcase(p.name, pattern) or fnmatch.fnmatchcase(f"{p.module}.{p.name}", pattern)


def describe(p: Primitive) -> str:
    """One line on a primitive: its name, module, kind of derivative and what it lacks."""
    if p.nondifferentiable:
        kind = f"no derivative: {p.nondifferentiable}"
    elif p.zero_derivative:
        kind = "derivative zero"
    else:
        kind = ", ".join(dict.fromkeys(derivative_rules(p).values()))
    lacking = missing_rules(p)
    return f"{p.name:24} {p.module:40} {kind}" + (f"; missing: {', '.join(lacking)}" if lacking else "")


def _reports(chosen: list[Primitive], options: argparse.Namespace, load: Callable[[], None]) -> Iterator[Report]:
    check = functools.partial(
        check_named,
        modes=options.modes,
        seeds=range(options.seeds),
        order=options.order,
        slow=options.slow,
        fail_fast=options.fail_fast,
        require_complete=options.require_complete,
    )
    names = [p.name for p in chosen]
    if options.jobs == 1:
        yield from map(check, names)
        return
    with concurrent.futures.ProcessPoolExecutor(options.jobs, initializer=load) as pool:
        try:
            yield from pool.map(check, names)
        finally:
            pool.shutdown(cancel_futures=True)


def check_named(name: str, **options: Any) -> Report:
    """check_primitive by name, so that another process can be asked for it."""
    return check_primitive(registry[name], **options)


def _header(width: int) -> str:
    counts = " ".join(f"{c:>5}" for c in COLUMNS)
    return f"{'primitive':{width}} {'module':26} {'samples':>7} {counts} {'unsure':>6} {'margin':>7} {'time':>6}"


def _row(r: Report, width: int) -> str:
    counts = " ".join(f"{r.checks[c]:5}" for c in COLUMNS)
    module = r.module.removeprefix("autodidax.")
    state = "ok" if r.ok else "FAIL"
    if r.ok and not r.checks:
        state = f"skipped: {r.skipped[0]}" if r.skipped else "nothing to check"
    if r.missing:
        state += f", missing: {' '.join(r.missing)}"
    margin = f"{r.worst:7.2g}" if r.worst else f"{'-':>7}"
    return (
        f"{r.subject:{width}} {module[-26:]:26} {r.samples:7} {counts} {len(r.inconclusive):6} {margin} "
        f"{r.seconds:5.2f}s {state}"
    )


def _details(r: Report, verbose: bool) -> Iterator[str]:
    by_rule: dict[str, list[Failure]] = {}
    for f in r.failures:
        by_rule.setdefault(f.rule, []).append(f)
    for rule, found in by_rule.items():
        yield ""
        yield from map(str, found[:SHOWN])
        if len(found) > SHOWN:
            yield f"  and {len(found) - SHOWN} more failures of {r.subject}: {rule}"
    if verbose:
        yield from (f"{r.subject}: inconclusive: {what}" for what in r.inconclusive)
        yield from (f"{r.subject}: skipped: {what}" for what in r.skipped)


def _summary(reports: Sequence[Report], seconds: float) -> str:
    wrong = [r.subject for r in reports if not r.ok]
    checks = sum(r.checks.total() for r in reports)
    unsure = sum(len(r.inconclusive) for r in reports)
    incomplete = sum(1 for r in reports if r.missing)
    skipped = sum(1 for r in reports if not r.checks and r.skipped)
    count = "1 primitive" if len(reports) == 1 else f"{len(reports)} primitives"
    text = f"\n{count}, {checks} checks, {unsure} inconclusive, {skipped} skipped, {incomplete} incomplete, "
    text += f"in {seconds:.1f} s: "
    return text + (f"{len(wrong)} FAILED: {', '.join(wrong)}" if wrong else "all rules agree")


def _write_json(path: str, reports: Iterable[Report]) -> None:
    text = json.dumps({"ok": all(r.ok for r in reports), "primitives": [_as_dict(r) for r in reports]}, indent=1)
    if path == "-":
        print(text)
        return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def _as_dict(r: Report) -> dict[str, Any]:
    kept = {k: v for k, v in vars(r).items() if k not in ("failures", "fail_fast", "overrides")}
    return {"ok": r.ok, **kept, "checks": dict(r.checks), "failures": [vars(f) for f in r.failures]}


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


def _modes(text: str) -> tuple[str, ...]:
    given = tuple(text.split(","))
    if not set(given) <= set(MODES):
        raise argparse.ArgumentTypeError(f"{text!r}: give one or more of {','.join(MODES)}")
    return given


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive integer")
    return int(text)
