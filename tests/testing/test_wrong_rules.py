"""No wrong rule survives its check, and its right twin passes, for 20 seeds.

The ordinary run takes a third of the table and two of the seeds, others each day (AUTODIDAX_ROTATION fixes which). The
larger corpus beside the repository is read where it is at hand.
"""

import datetime
import functools
import importlib.util
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import autodidax.numpy as anp
from autodidax import stop_gradient
from autodidax.errors import CheckError
from autodidax.testing import check_jvp, check_vjp, check_vmap
from tests.testing.wrong_rules import FAMILIES, TABLE

ROTATION = int(os.environ.get("AUTODIDAX_ROTATION", datetime.date.today().toordinal()))
SEEDS = range(20)
TODAY = [ROTATION % 20, (ROTATION + 7) % 20]
PART = list(TABLE)[ROTATION % 3 :: 3]


def _caught(check):
    try:
        check()
    except CheckError as e:
        assert e.report.failures
        return True
    return False


def _survivors(case, seeds):
    """(mode, seed) of the wrong rules of a case that pass."""
    return [
        (mode, seed)
        for seed in seeds
        for mode, f, rule in case.rules(wrong=True)
        if not _caught(lambda mode=mode, f=f, rule=rule, seed=seed: case.check(mode, f, rule, seed))
    ]


def _pass_right_rules(case, seeds):
    for seed in seeds:
        for mode, f, rule in case.rules(wrong=False):
            report = case.check(mode, f, rule, seed)
            assert report.ok
            assert sum(report.checks.values())


def test_the_table():
    assert len(TABLE) == sum(len(module.CASES) for module in FAMILIES.values()), "two cases have the same name"
    assert len(TABLE) >= 120
    for name, case in TABLE.items():
        assert list(case.rules(wrong=True)), f"{name}: nothing is wrong"
        assert list(case.rules(wrong=False)), f"{name}: nothing is right"


@pytest.mark.parametrize("name", PART)
def test_wrong_rules_are_caught_and_right_ones_pass(name):
    _pass_right_rules(TABLE[name], TODAY)
    assert _survivors(TABLE[name], TODAY) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE)
def test_all_seeds(name):
    _pass_right_rules(TABLE[name], SEEDS)
    assert _survivors(TABLE[name], SEEDS) == []


# the corpus beside the repository

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "cases" / "wrong_rules.py"
TRACED = SimpleNamespace(
    sin=anp.sin, cos=anp.cos, exp=anp.exp, tanh=anp.tanh, sqrt=anp.sqrt, stop_gradient=stop_gradient
)  # fmt: skip


def _corpus():
    if not CORPUS.exists():
        return []
    spec = importlib.util.spec_from_file_location("corpus_of_wrong_rules", CORPUS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MUTANTS


CASES = _corpus()
MODES = ("fwd", "rev", "batch")


def _checks(case, *, wrong, seed):
    """The checks of a case's right rules, or of those that are wrong in it."""
    xs = case["args"](np.random.default_rng(seed))
    n = len(xs)

    def rule(key):
        """The rule, called with its arguments alone; traced ones get the namespace that they compute with."""
        bad = wrong and "bad_" + key in case
        made = case["bad_" + key]() if bad and case["state"] else case["bad_" + key] if bad else case[key]
        return (lambda *args: made(TRACED, *args)) if case["traced"] else made

    f = rule("f")
    options = dict(form="flat", inner="adjoint", order=case["order"], seed=seed)

    def check(mode):
        if mode == "batch":
            batch = rule("batch")
            return check_vmap(f, lambda args, axes: batch(*_all_mapped(args, axes)), xs, seed=seed)
        r = rule("jvp" if mode == "fwd" else "vjp")
        if mode == "fwd":
            return check_jvp(f, lambda *a: r(a[:n], a[n:]), xs, **options)
        return check_vjp(f, lambda *a: r(a[:n], a[n]), xs, **options)

    for mode in case["mode"] if wrong else MODES:
        if mode != "batch" or "batch" in case:
            yield functools.partial(check, mode)


def _all_mapped(args, axes):
    """The corpus's batching rules know mapped arguments only: the others are repeated along a new axis 0."""
    size = next(x.shape[axis] for x, axis in zip(args, axes, strict=True) if axis is not None)
    repeated = [np.broadcast_to(x, (size, *np.shape(x))) if a is None else x for x, a in zip(args, axes, strict=True)]
    return repeated, [a or 0 for a in axes]


def _check_corpus(case, seeds):
    for seed in seeds:
        for check in _checks(case, wrong=False, seed=seed):
            assert check().ok
        for check in _checks(case, wrong=True, seed=seed):
            assert _caught(check), f"not caught with seed {seed}"


@pytest.mark.skipif(not CASES, reason="the corpus of wrong rules, ../shared/cases/wrong_rules.py, is not here")
def test_every_case_of_the_corpus_is_checked():
    for case in CASES:
        assert list(_checks(case, wrong=True, seed=0)), case["name"]
        assert list(_checks(case, wrong=False, seed=0)), case["name"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_corpus(case):
    _check_corpus(case, TODAY)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_corpus_with_all_seeds(case):
    _check_corpus(case, SEEDS)
