"""Mutation testing of a registry: every rule of every primitive made wrong, one at a time, to see the check fail.

What becomes of a mutant:

- killed: the strict check fails and names the rule, or one that it is part of;
- equivalent: it gives bitwise the results of the right rule, at all samples of several draws, or there is a written
  reason in `EQUIVALENT`;
- below noise: a relative error smaller than what the numeric derivative of that primitive can show, as measured;
- not applicable: no sample has what the operator would change (two axes to exchange, complex numbers to conjugate), or
  the changed part, which other primitives share, is not run for this one;
- unseen: the changed part is run at no sample;
- survived: the check passes although results differ.

The last two are holes in the check or in the samples. A primitive whose own rules fail, or are missing, is not tried at
all: that has to be mended first.
"""

from __future__ import annotations

import concurrent.futures
import functools
import multiprocessing
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np

from autodidax import errors
from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of
from autodidax.core.primitive import Primitive, Sample, registry
from autodidax.testing import directions as dirs
from autodidax.testing.completeness import missing_rules
from autodidax.testing.mutation.equivalents import EQUIVALENT
from autodidax.testing.mutation.mutants import Mutant, mutants, unmutated
from autodidax.testing.numeric import directional_derivative
from autodidax.testing.primitives import MODES, check_primitive
from autodidax.testing.report import Failure
from autodidax.testing.rules import plain_list
from autodidax.transforms.derivatives import jvp, vjp

#: rules that a report may name in the place of the one that was changed: those that it is part of
ALSO_NAMED = {
    "impl": ("abstract_eval",),
    "nondifferentiable": ("jvp", "vjp"),
    "zero_derivative": ("jvp", "vjp"),
    "transpose": ("jvp", "vjp"),
    "jvp": ("vjp",),
    "trace_linear": ("trace_jvp", "trace_reverse"),
}
DERIVATIVES = ("products", "jvp", "transpose", "vjp", "trace_jvp", "trace_reverse", "trace_linear")
NOT_TRIED = "not tried"  # of a whole primitive
STATES = ("killed", "equivalent", "below noise", "not applicable", "unseen", "survived")
KnownFailures = Callable[[Sequence[int], str], set[tuple[str, str, str]]]
DRAWS = 3  # of every sample, for a mutant that made no difference in the first
ERRORS = 8.0  # what the check tolerates, in estimated errors


@dataclass
class Outcome:
    """What became of one mutant."""

    primitive: str
    rule: str
    operator: str
    target: str
    state: str
    reason: str = ""

    @property
    def name(self) -> str:
        return f"{self.primitive}: {self.rule}: {self.operator}" + f" {self.target}" * bool(self.target)

    @property
    def explained(self) -> bool:
        return self.state not in ("unseen", "survived", NOT_TRIED)


def run_mutation(primitives: Sequence[Primitive], *, jobs: int, seed: int, out: TextIO, verbose: bool) -> int:
    """Check every mutant of these primitives; print what became of them; 0 if nothing is left unexplained, else 1, and
    130 where it was interrupted."""
    start = time.perf_counter()
    outcomes: list[Outcome] = []
    done = 0
    interrupted = False
    try:
        for name, found in _all_outcomes(primitives, jobs, seed):
            done += 1
            outcomes += found
            if out.isatty():
                left = sum(not o.explained for o in outcomes)
                out.write(
                    f"\r\x1b[K{done}/{len(primitives)} primitives, {len(outcomes)} mutants, {left} unexplained: {name}"
                )
                out.flush()
    except KeyboardInterrupt:
        interrupted = True
    if out.isatty():
        out.write("\r\x1b[K")
    for line in report_lines(outcomes, verbose):
        print(line, file=out)
    for p in primitives:
        for rule, reason in unmutated(p).items():
            if verbose or rule == "all":
                print(f"not mutated: {p.name}: {rule}: {reason}", file=out)
    tried = [o for o in outcomes if o.state != NOT_TRIED]
    untried = len(outcomes) - len(tried)
    unexplained = sum(not o.explained for o in tried)
    verdict = f"{unexplained} UNEXPLAINED" if unexplained else "every mutant is killed or explained" * bool(tried)
    verdict += ", " * bool(untried and verdict) + f"{untried} primitive{'s' * (untried != 1)} NOT TRIED" * bool(untried)
    whole = f"{done} of {len(primitives)}" if interrupted else str(done)
    count = f"{whole} primitive{'s' * (len(primitives) != 1)}{', interrupted,' * interrupted}"
    total = f"{len(tried)} mutant{'s' * (len(tried) != 1)} of {count}"
    print(f"\n{total} in {time.perf_counter() - start:.0f} s: {verdict}", file=out)
    return 130 if interrupted else 1 if unexplained or untried else 0


def _all_outcomes(primitives: Sequence[Primitive], jobs: int, seed: int) -> Iterator[tuple[str, list[Outcome]]]:
    """The outcomes of each primitive, as they are done. Processes are forked, so that they know the same registry."""
    if jobs == 1 or "fork" not in multiprocessing.get_all_start_methods():
        for p in primitives:
            yield p.name, outcomes_of(p, seed)
        return
    known = [p for p in primitives if registry.get(p.name) is p]  # the others cannot be named to another process
    for p in primitives:
        if p not in known:
            yield p.name, outcomes_of(p, seed)
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(jobs, mp_context=context) as pool:
        tasks = {pool.submit(outcomes_of, p, seed): p.name for p in known}
        try:
            for task in concurrent.futures.as_completed(tasks):
                yield tasks[task], task.result()
        finally:
            pool.shutdown(cancel_futures=True)


def outcomes_of(p: Primitive, seed: int = 0) -> list[Outcome]:
    """What becomes of every mutant of one primitive."""
    lacking = missing_rules(p) if p.checked is True else []
    wrong = set() if lacking else known_failures(p, (seed,), "given")
    if lacking or wrong:
        names = ", ".join(sorted(lacking or {rule for rule, _, _ in wrong}))
        reason = f"{'missing' if lacking else 'its own rules fail'}: {names}"
        return [Outcome(p.name, "all", NOT_TRIED, "", NOT_TRIED, f"{reason}; check it without --mutate")]
    known = functools.cache(functools.partial(known_failures, p))
    return [outcome(m, known, seed) for m in mutants(p)]


def known_failures(p: Primitive, seeds: Sequence[int], points: str) -> set[tuple[str, str, str]]:
    """Rule, layer and sample of the failures that the right rules have, if any."""
    return {(f.rule, f.layer, f.sample) for f in check_primitive(p, seeds=seeds, points=points, strict=True).failures}


def outcome(mutant: Mutant, known: KnownFailures, seed: int = 0) -> Outcome:
    """What becomes of one mutant; `known(seeds, points)` are the failures that the right rules have."""
    result = functools.partial(Outcome, mutant.primitive.name, mutant.rule, mutant.operator, mutant.target)
    ran = applied = touched = False
    for options in _attempts(mutant, seed):
        try:
            failures = killing(mutant, known, **options)
        except Exception as e:  # a wrong rule may not break the checker
            return result("survived", f"the check itself raised {type(e).__name__}: {e}")
        if failures:
            return result("killed", f"{failures[0].layer} ({failures[0].mode}): {failures[0].message}")
        ran, applied, touched = ran or mutant.ran, applied or mutant.applied, touched or mutant.touched
    reason = EQUIVALENT.get((mutant.primitive.name, mutant.rule, mutant.operator, mutant.target))
    if reason is not None:
        return result("equivalent", reason)
    if not ran and mutant.shared:
        return result("not applicable", "no sample of this primitive runs that part")
    if not ran:
        return result("unseen", "no sample runs it")
    if not applied:
        return result("not applicable")
    if not touched:
        return result("equivalent", f"bitwise the same results at all samples of {DRAWS} draws")
    if mutant.rule in DERIVATIVES and _same_derivatives(mutant):
        return result("equivalent", f"bitwise the same first and second derivatives at all samples of {DRAWS} draws")
    if mutant.factor is not None:
        noise = numeric_noise(mutant.primitive, seed)
        if noise > mutant.factor - 1:
            return result("below noise", f"the numeric derivative shows relative errors of {noise:.1g} at best")
    return result("survived")


def _attempts(mutant: Mutant, seed: int) -> Iterator[dict[str, Any]]:
    """How a mutant is checked: first what its rule needs, to the first failure; then everything."""
    narrow = {"batch": ("vmap",), "trace_batch": ("vmap",), "abstract_eval": (), "impl": ()}
    modes = narrow.get(mutant.rule, ("fwd", "rev"))
    one = (seed,)
    yield {"modes": modes, "seeds": one, "order": mutant.order, "points": "given", "fail_fast": True}
    if mutant.applied or not mutant.ran:
        yield {"modes": MODES, "seeds": one, "order": 2, "points": "all"}
    if mutant.applied:
        yield {"modes": modes, "seeds": (*range(seed + 1, seed + DRAWS),), "order": 2, "points": "given"}


def killing(mutant: Mutant, known: KnownFailures, **options: Any) -> list[Failure]:
    """The failures of a check of the mutant that name its rule and a sample, beyond those that the right one has."""
    named = {mutant.rule, *ALSO_NAMED.get(mutant.rule, ())}
    if mutant.primitive.higher_order:  # its rules call the primitive itself
        named |= {"trace_jvp", "trace_reverse", "trace_linear", "stage of jvp", "stage of vjp"}
    with mutant.active():
        report = check_primitive(mutant.primitive, strict=True, require_complete=True, **options)
    if report.missing:  # a refusal that is gone leaves the rule that it stood for
        return [f for f in report.failures if f.rule in report.missing]
    # at order 2 a failure names the mode in which the derivative of a rule is wrong, and its path names that rule
    new = [f for f in report.failures if f.sample and (f.rule in named or f.order > 1)]
    return new and [f for f in new if (f.rule, f.layer, f.sample) not in known(options["seeds"], options["points"])]


def _same_derivatives(mutant: Mutant) -> bool:
    """Whether first and second derivatives, in every mix of modes, are bitwise those of the right rule."""
    right = _right_derivatives(mutant.primitive)
    try:
        with mutant.active():
            wrong = _derivatives(mutant.primitive)
    except Exception:  # of whatever kind: the rule is wrong
        return False
    return len(right) == len(wrong) and all(
        a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True) for a, b in zip(right, wrong, strict=True)
    )


@functools.lru_cache(maxsize=2)
def _right_derivatives(p: Primitive) -> list[np.ndarray]:
    return _derivatives(p)


def _derivatives(p: Primitive) -> list[np.ndarray]:
    """First and second derivatives at all samples of some draws, in all operands together and in each alone."""
    found: list[np.ndarray] = []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        for s in p.samples(np.random.default_rng(seed)):
            active = [k for k, a in enumerate(s.args) if is_inexact(dtype_of(a))]
            for chosen in [active, *([k] for k in active if len(active) > 1)]:
                run = functools.partial(_run, p, s, chosen)
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        found += _derivatives_at(run, tuple(s.args[k] for k in chosen), rng)
                    except errors.NondifferentiableError:  # of an operand; the same must hold of the mutant
                        found.append(np.zeros(0, bool))
    return found


def _run(p: Primitive, s: Sample, active: Sequence[int], *values: Any) -> list[Any]:
    """The inexact results of a primitive, as a function of some operands."""
    args = list(s.args)
    for k, x in zip(active, values, strict=True):
        args[k] = x
    return [y for y in plain_list(p.bind(*args, **s.params), p.multiple_results) if is_inexact(dtype_of(y))]


def _derivatives_at(run: Callable[..., Any], xs: Any, rng: np.random.Generator) -> list[np.ndarray]:
    pushed = lambda *zs: list(jvp(run, zs[: len(xs)], zs[len(xs) :])[1])
    pulled = lambda *zs: list(vjp(run, *zs[: len(xs)])[1](list(zs[len(xs) :])))
    cts = tuple(dirs.cotangents(rng, run(*xs)))
    ts, us = tuple(dirs.tangents(rng, xs)), tuple(dirs.tangents(rng, xs))
    seeds, back = tuple(dirs.tangents(rng, ts)), tuple(dirs.tangents(rng, cts))
    outs = [*pushed(*xs, *ts), *pulled(*xs, *cts)]
    outs += [*jvp(pushed, (*xs, *ts), (*us, *seeds))[1], *jvp(pulled, (*xs, *cts), (*us, *back))[1]]
    outs += vjp(pushed, *xs, *ts)[1](list(cts))
    outs += vjp(pulled, *xs, *cts)[1](list(us))
    return [np.asarray(y) for y in outs]


def numeric_noise(p: Primitive, seed: int = 0) -> float:
    """The smallest relative error that the numeric derivative can show, over entries and samples."""
    best = np.inf
    rng = np.random.default_rng(seed)
    for s in p.samples(np.random.default_rng(seed)):
        if s.nonsmooth or not any(is_inexact(dtype_of(a)) and np.size(a) for a in s.args):
            continue
        run = lambda xs, s=s: plain_list(p.impl(*xs, **s.params), p.multiple_results)
        estimate = directional_derivative(run, list(s.args), dirs.tangents(rng, s.args))
        with np.errstate(all="ignore"):
            relative = ERRORS * estimate.error / np.abs(estimate.value)
        best = min(best, float(np.min(relative[np.isfinite(relative)], initial=np.inf)))
    return best


# what is printed


def report_lines(outcomes: Sequence[Outcome], verbose: bool) -> Iterator[str]:
    """Tables by operator and by rule, then what was not killed, with reasons."""
    tried = [o for o in outcomes if o.state != NOT_TRIED]
    if tried:
        yield from _table("operator", [(o.operator, o) for o in tried])
        yield ""
        yield from _table("rule", [(o.rule, o) for o in tried])
    shown = STATES[1:] if verbose else ("below noise", "unseen", "survived")
    for state in (*shown, NOT_TRIED):
        found = [o for o in outcomes if o.state == state]
        if found:
            yield ""
            yield f"{state}:"
            yield from (f"  {_shown(o)}" + f": {o.reason}" * bool(o.reason) for o in found)


def _shown(o: Outcome) -> str:
    return o.primitive if o.state == NOT_TRIED else o.name


def _table(title: str, rows: Sequence[tuple[str, Outcome]]) -> Iterator[str]:
    counts: dict[str, Counter[str]] = {}
    for key, o in rows:
        counts.setdefault(key, Counter())[o.state] += 1
    width = max([len(title), len("all"), *map(len, counts)])
    yield f"{title:{width}} {'made':>6} " + " ".join(f"{s:>{max(len(s), 6)}}" for s in STATES)
    total: Counter[str] = sum(counts.values(), Counter())
    for key, count in [*counts.items(), ("all", total)]:
        cells = " ".join(f"{count[s]:{max(len(s), 6)}}" for s in STATES)
        yield f"{key:{width}} {count.total():6} {cells}"
