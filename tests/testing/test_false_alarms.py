"""No right function and no right rule is accused, and few checks of them end without a verdict.

The ordinary run takes other seeds each day (AUTODIDAX_ROTATION fixes which); the slow one is the whole count.
"""

import datetime
import itertools
import os

import numpy as np
import pytest

from autodidax.testing import check_grads, check_jvp, check_vjp
from tests.testing.correct_functions import FUNCTIONS
from tests.testing.false_alarms import Subject, Tally, functions, hand_written, run, schedule

ROTATION = int(os.environ.get("AUTODIDAX_ROTATION", datetime.date.today().toordinal()))
PARTS = 6  # the hand-written rules are spread over so many days


def test_the_table_is_large_enough():
    assert len(FUNCTIONS) >= 40


def test_no_false_alarm():
    rules = list(hand_written())[ROTATION % PARTS :: PARTS]
    tally = Tally()
    for subject in itertools.chain(functions(), rules):
        run(tally, subject, ROTATION)
    print(f"AUTODIDAX_ROTATION={ROTATION}")
    assert tally.total >= 290
    assert tally.ok, str(tally)


@pytest.mark.slow
def test_no_false_alarm_in_10000_checks():
    tally = Tally()
    for subject, seed in itertools.islice(schedule(10_000 * ROTATION), 10_000):
        run(tally, subject, seed)
    print(tally)
    assert tally.ok, str(tally)


def test_a_tally_tells_failures_from_inconclusive_ones():
    tally = Tally()
    x = np.array([0.5, 2.0])
    wrong = lambda seed: check_vjp(np.sin, lambda x, ct: ct * np.sin(x), (x,), form="flat", seed=seed)
    right = lambda seed: check_jvp(np.sin, lambda x, t: t * np.cos(x), (x,), form="flat", seed=seed)
    for subject in (Subject("wrong", wrong), Subject("right", right), Subject("raises", lambda seed: 1 / 0)):
        run(tally, subject, 0)
    assert tally.total == 3
    assert not tally.ok
    assert list(tally.failures) == ["wrong", "raises"]
    assert not tally.inconclusive
    for noisy in (True, False):
        name = f"noise {noisy}"
        tally.checks[name], tally.inconclusive[name] = 1, ["seed 0: not known well enough"]
        if noisy:
            tally.noisy.add(name)
    assert tally.share(noisy=True) == 2 / 5
    assert tally.share(noisy=False) == 1 / 4


def test_right_results_may_share_memory():
    """What a rule returns may be its argument, or a view that cannot be written."""
    x, y = np.arange(1.0, 4.0), np.arange(2.0, 5.0)
    assert check_vjp(np.add, lambda x, y, ct: (ct, ct), (x, y), form="flat").ok
    assert check_jvp(lambda x: x + 0, lambda x, t: t, (x,), form="flat").ok
    assert check_vjp(np.sum, lambda x, ct: np.broadcast_to(ct, x.shape), (x,), form="flat").ok
    assert check_vjp(lambda x: x[::-1], lambda x, ct: ct[::-1], (x,), form="flat").ok
    assert check_grads(lambda x: x, (x,)).ok
