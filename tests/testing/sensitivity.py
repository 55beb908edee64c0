"""How small an error in a rule is seen: rates over functions and seeds.

    python -m tests.testing.sensitivity --seeds 20

prints, for each size of a uniform relative error in double and in single precision, and for one wrong entry among
10,000, in how many of the checks it was seen.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autodidax.errors import CheckError
from tests.testing.wrong.case import Case, Rule, normal, uniform
from tests.testing.wrong_rules import TABLE

N = 10_000
ERRORS = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11)
SINGLE_ERRORS = (1e-3, 1e-4, 1e-5)
ENTRIES: dict[str, Callable[[float], float]] = {
    "sign": lambda v: -v,
    "zero": lambda v: 0.0,
    "twice": lambda v: 2 * v,
    "off by a thousandth": lambda v: v * 1.001,
}

FUNCTIONS = [
    "value: arctan, sign in the denominator",
    "value: cosh, sign as of cos",
    "value: erf, factor of 2",
    "value: tan, not squared",
    "value: softplus, mirrored",
    "value: gammaln, shifted",
    "value: divide, operands swapped",
    "value: log_softmax, not weighted by the cotangent's sum",
    "value: product of three, one term missing",
    "value: standardized, both projections missing",
    "value: cosine similarity, second term missing",
    "value: cumulative product, not reversed",
    "value: convolution, kernel not flipped",
    "axis: matmul, first of the batch for its sum",
    "axis: softmax, projected along the other axis",
    "index: gather with duplicates, assigned",
    "index: sorted rows, permuted along columns",
    "matrix: inverse, not transposed",
    "matrix: determinant, inverse not transposed",
    "matrix: solve, right side transposed",
    "matrix: cholesky, the upper part",
    "matrix: eigenvalues, vectors transposed",
    "matrix: qr, symmetrized",
    "matrix: least squares, residual missing",
    "complex: modulus, not conjugated",
    "complex: matmul, conjugated",
    "complex: logarithm, not conjugated",
    "branch: sine ratio, nan at zero",
    "sparse: one output of five",
]

ELEMENTWISE: dict[str, tuple[Rule, Rule, Any]] = {
    "sin": (np.sin, np.cos, normal(N)),
    "exp": (np.exp, np.exp, normal(N)),
    "reciprocal": (np.reciprocal, lambda x: -1 / (x * x), uniform(0.5, 2, N)),
    "cube": (lambda x: x**3, lambda x: 3 * x * x, normal(N)),
    "log": (np.log, lambda x: 1 / x, uniform(0.5, 2, N)),
}


@dataclass
class Rate:
    seen: int = 0
    checks: int = 0

    def count(self, seen: bool) -> None:
        self.seen += seen
        self.checks += 1

    @property
    def share(self) -> float:
        return self.seen / self.checks


def off_by(rule: Rule, error: float) -> Rule:
    """The rule with a relative error in all that it returns."""

    def scaled(v: Any) -> Any:
        return tuple(map(scaled, v)) if isinstance(v, tuple) else (v * v.dtype.type(1 + error))

    return lambda *args: scaled(rule(*args))


def seen(case: Case, mode: str, rule: Rule, seed: int) -> bool:
    try:
        case.check(mode, case.f, rule, seed)
    except CheckError:
        return True
    return False


def in_single_precision(case: Case) -> Case:
    def args(rng: np.random.Generator) -> tuple[Any, ...]:
        return tuple(a.astype(np.complex64 if a.dtype.kind == "c" else np.float32) for a in case.args(rng))

    return replace(case, args=args)


def uniform_errors(error: float, seeds: range, names: list[str], *, single: bool = False) -> Iterator[tuple[str, bool]]:
    """Of each function and seed, whether a uniform relative error in its rules is seen."""
    for name in names:
        case = in_single_precision(TABLE[name]) if single else TABLE[name]
        for mode, _, rule in case.rules(wrong=False):
            for seed in seeds:
                yield f"{name}, {mode}, seed {seed}", seen(case, mode, off_by(rule, error), seed)


#: functions whose rules keep single precision
SINGLE = [
    "value: arctan, sign in the denominator",
    "value: cosh, sign as of cos",
    "value: tan, not squared",
    "value: divide, operands swapped",
    "value: product of three, one term missing",
    "value: log_softmax, not weighted by the cotangent's sum",
    "value: cross product, not antisymmetric",
    "axis: matmul, first of the batch for its sum",
    "axis: bias, summed over the features",
    "axis: window sums, windows not overlapping",
    "index: gather with duplicates, assigned",
    "index: sorted rows, permuted along columns",
    "matrix: inverse, not transposed",
    "matrix: Gram matrix, right for symmetric cotangents alone",
    "complex: logarithm, not conjugated",
    "complex: matmul, conjugated",
]


def wrong_entries(seeds: range, kinds: dict[str, Callable[[float], float]] = ENTRIES) -> Iterator[tuple[str, bool]]:
    """Of each function, kind of error and seed, whether one wrong entry among 10,000 is seen, in either mode."""
    for name, (f, slope, args) in ELEMENTWISE.items():
        for kind, change in kinds.items():
            for seed in seeds:
                k = int(np.random.default_rng((seed, len(kind))).integers(N))

                def spoiled(x: np.ndarray, slope: Rule = slope, change: Any = change, k: int = k) -> np.ndarray:
                    d = np.array(slope(x))
                    d[k] = change(d[k])
                    return d

                case = Case(name, f, args)
                rules = {"jvp": lambda x, t, d=spoiled: t * d(x), "vjp": lambda x, ct, d=spoiled: ct * d(x)}
                for mode, rule in rules.items():
                    yield f"{name}, {kind}, {mode}, seed {seed}", seen(case, mode, rule, seed)


def rate(outcomes: Iterator[tuple[str, bool]]) -> tuple[Rate, list[str]]:
    """The rate, and what was not seen."""
    total, missed = Rate(), []
    for name, found in outcomes:
        total.count(found)
        if not found:
            missed.append(name)
    return total, missed


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.testing.sensitivity", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    options = parser.parse_args(arguments)
    seeds = range(options.seed, options.seed + options.seeds)
    rows = [(f"float64, relative error {e:.0e}", uniform_errors(e, seeds, FUNCTIONS)) for e in ERRORS]
    rows += [(f"float32, relative error {e:.0e}", uniform_errors(e, seeds, SINGLE, single=True)) for e in SINGLE_ERRORS]
    rows += [(f"one of 10,000: {kind}", wrong_entries(seeds, {kind: change})) for kind, change in ENTRIES.items()]
    for title, outcomes in rows:
        total, missed = rate(outcomes)
        print(f"{title:34} seen {total.seen:5} of {total.checks:5}  {total.share:8.2%}")
        for name in missed[:3] if total.share > 0.5 else ():
            print(f"    missed: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
