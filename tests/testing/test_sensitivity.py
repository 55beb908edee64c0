"""The smallest errors that are always seen, and those that nearly always are.

The ordinary run takes one seed of a few functions, others each day (AUTODIDAX_ROTATION fixes which).
"""

import datetime
import os

import pytest

from tests.testing.sensitivity import (
    ENTRIES,
    FUNCTIONS,
    SINGLE,
    in_single_precision,
    rate,
    uniform_errors,
    wrong_entries,
)
from tests.testing.wrong_rules import TABLE

ROTATION = int(os.environ.get("AUTODIDAX_ROTATION", datetime.date.today().toordinal()))
SEEDS = range(20)
TODAY = range(ROTATION % 20, ROTATION % 20 + 1)


def test_the_tables_are_large_enough():
    assert min(len(FUNCTIONS), len(SINGLE)) >= 15


def test_right_rules_pass_in_single_precision():
    for name in SINGLE:
        case = in_single_precision(TABLE[name])
        for mode, f, rule in case.rules(wrong=False):
            assert case.check(mode, f, rule, seed=0).ok


@pytest.mark.parametrize("error", [1e-8, -1e-8, 1e-6])
def test_an_error_is_seen(error):
    names = FUNCTIONS[ROTATION % 3 :: 3]
    assert rate(uniform_errors(error, TODAY, names))[1] == []


def test_a_smaller_error_is_seen_nearly_always():
    total, missed = rate(uniform_errors(1e-9, TODAY, FUNCTIONS[ROTATION % 3 :: 3]))
    assert len(missed) <= max(1, 0.01 * total.checks), missed


def test_an_error_is_seen_in_single_precision():
    assert rate(uniform_errors(1e-5, TODAY, SINGLE[ROTATION % 2 :: 2], single=True))[1] == []


def test_one_wrong_entry_is_seen():
    kind = list(ENTRIES)[ROTATION % len(ENTRIES)]
    assert rate(wrong_entries(TODAY, {kind: ENTRIES[kind]}))[1] == []


@pytest.mark.slow
@pytest.mark.parametrize("error", [1e-6, 1e-7, 1e-8, -1e-8])
def test_an_error_is_always_seen(error):
    assert rate(uniform_errors(error, SEEDS, FUNCTIONS))[1] == []


@pytest.mark.slow
def test_a_smaller_error_is_seen_in_99_of_100_cases():
    total, missed = rate(uniform_errors(1e-9, SEEDS, FUNCTIONS))
    assert total.share >= 0.99, missed


@pytest.mark.slow
def test_an_error_is_always_seen_in_single_precision():
    assert rate(uniform_errors(1e-5, SEEDS, SINGLE, single=True))[1] == []


@pytest.mark.slow
def test_one_wrong_entry_is_always_seen():
    assert rate(wrong_entries(SEEDS))[1] == []
