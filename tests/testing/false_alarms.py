"""Counts false alarms: checks of right functions and right rules, with fresh seeds.

    python -m tests.testing.false_alarms --checks 10000 --seed 0

prints the failures, the share of inconclusive checks, and both for each function that has any. A check is one call of
check_grads (orders 1 and 2), check_jvp or check_vjp, at all points. The exit code is 1 where a right one is accused or
more than 3% of the checks beside the deliberately noisy ones are inconclusive.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autodidax.errors import CheckError
from autodidax.testing import check_grads
from tests.testing.correct_functions import FUNCTIONS
from tests.testing.wrong_rules import TABLE

SHARE = 0.03  # of inconclusive checks, at most
FUNCTION_SEEDS = 3  # seeds of a function in the time of one of a hand-written rule


@dataclass(frozen=True)
class Subject:
    name: str
    check: Callable[[int], Any]  # seed -> report
    noisy: bool = False


@dataclass
class Tally:
    """What came out of a number of checks, by subject."""

    checks: dict[str, int] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)
    inconclusive: dict[str, list[str]] = field(default_factory=dict)
    compared: int = 0
    noisy: set[str] = field(default_factory=set)

    @property
    def total(self) -> int:
        return sum(self.checks.values())

    def share(self, *, noisy: bool) -> float:
        """The share of inconclusive checks, of all subjects or of those that are not noisy."""
        names = [n for n in self.checks if noisy or n not in self.noisy]
        return sum(len(self.inconclusive.get(n, ())) for n in names) / max(sum(self.checks[n] for n in names), 1)

    @property
    def ok(self) -> bool:
        return not self.failures and self.share(noisy=False) <= SHARE

    def __str__(self) -> str:
        failed = sum(map(len, self.failures.values()))
        lines = [
            f"{self.total} checks of {len(self.checks)} subjects, {self.compared} comparisons: {failed} false alarms; "
            f"inconclusive {self.share(noisy=True):.2%}, beside the noisy ones {self.share(noisy=False):.2%}"
        ]
        for name, n in self.checks.items():
            bad, unsure = self.failures.get(name, ()), self.inconclusive.get(name, ())
            if bad or unsure:
                mark = " (noisy)" if name in self.noisy else ""
                lines.append(f"  {name}{mark}: {n} checks, {len(bad)} failures, {len(unsure)} inconclusive")
                lines += [f"    {text}" for text in (*bad[:1], *unsure[:1])]
        return "\n".join(lines)


def functions() -> Iterator[Subject]:
    for name, correct in FUNCTIONS.items():
        for order in (1, 2):

            def check(seed: int, correct: Any = correct, order: int = order) -> Any:
                return check_grads(correct.f, correct.args(np.random.default_rng(seed)), order=order, seed=seed)

            yield Subject(f"{name}, order {order}", check, correct.noisy)


def hand_written() -> Iterator[Subject]:
    for name, case in TABLE.items():
        for mode, f, rule in case.rules(wrong=False):

            def check(seed: int, case: Any = case, mode: str = mode, f: Any = f, rule: Any = rule) -> Any:
                return case.check(mode, f, rule, seed)

            yield Subject(f"{name}, {mode}", check)


def schedule(first_seed: int) -> Iterator[tuple[Subject, int]]:
    """All subjects in turn, with seeds that are not used twice."""
    of_functions, of_rules = list(functions()), list(hand_written())
    for k in range(sys.maxsize):
        for seed in range(FUNCTION_SEEDS * k, FUNCTION_SEEDS * (k + 1)):
            yield from ((subject, first_seed + seed) for subject in of_functions)
        yield from ((subject, first_seed + k) for subject in of_rules)


def run(tally: Tally, subject: Subject, seed: int) -> None:
    name = subject.name
    tally.checks[name] = tally.checks.get(name, 0) + 1
    if subject.noisy:
        tally.noisy.add(name)
    try:
        report = subject.check(seed)
    except CheckError as e:
        tally.failures.setdefault(name, []).append(f"seed {seed}: {e}")
        return
    except Exception as e:  # the checker's own failure counts as an alarm
        tally.failures.setdefault(name, []).append(f"seed {seed}: the check raised {type(e).__name__}: {e}")
        return
    tally.compared += sum(report.checks.values())
    if report.inconclusive:
        tally.inconclusive.setdefault(name, []).append(f"seed {seed}: {report.inconclusive[0]}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.testing.false_alarms", description=__doc__.splitlines()[0])
    parser.add_argument("--checks", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    options = parser.parse_args(arguments)
    tally, began = Tally(), time.perf_counter()
    for (subject, seed), _ in zip(schedule(options.seed), range(options.checks), strict=False):
        run(tally, subject, seed)
    print(tally)
    print(f"{time.perf_counter() - began:.0f} s")
    return 0 if tally.ok else 1


if __name__ == "__main__":
    sys.exit(main())
