"""A wrong rule of any primitive makes its check fail: every rule of every primitive, made wrong one at a time.

The ordinary run takes one mutant a primitive, another one each day (AUTODIDAX_ROTATION fixes which); the slow run
takes them all.
"""

import datetime
import functools
import os

import pytest

from autodidax.__main__ import load_all
from autodidax.core.primitive import registry
from autodidax.testing.mutation import mutants, unmutated
from autodidax.testing.primitives import check_primitive, missing_rules

load_all()
ROTATION = int(os.environ.get("AUTODIDAX_ROTATION", datetime.date.today().toordinal()))
CHECKED = [p for p in registry if p.checked is True and not missing_rules(p)]


@functools.cache
def _right(p):
    return check_primitive(p, order=1)


@pytest.mark.parametrize("p", CHECKED, ids=str)
def test_one_wrong_rule_is_noticed(p):
    found = mutants(p)
    mutant = found[ROTATION % len(found)]
    print(f"AUTODIDAX_ROTATION={ROTATION}: {mutant.id}")
    failures = mutant.killed(_right(p))
    if not mutant.touched:
        pytest.skip(f"{mutant.id} changes no result at any sample (AUTODIDAX_ROTATION={ROTATION})")
    assert failures, f"{mutant.id} is not noticed"
    assert failures[0].subject == p.name
    assert failures[0].sample


@pytest.mark.slow
@pytest.mark.parametrize("p", CHECKED, ids=str)
def test_every_wrong_rule_is_noticed(p):
    survivors, changed, untouched = [], set(), []
    for mutant in mutants(p):
        killed = mutant.killed(_right(p))
        if mutant.touched:
            changed.add(mutant.rule)
            survivors += [] if killed else [mutant.id]
        else:
            untouched.append(mutant.id)
    print("no different from the right rule at any sample:", untouched)
    assert not survivors
    never = {m.rule for m in mutants(p)} - changed - {"zero_derivative"}
    assert not never, f"no sample of {p.name} shows a change of {never}"


def test_every_rule_has_a_mutant_or_a_reason():
    for p in registry:
        changed = {m.rule for m in mutants(p)}
        reasons = unmutated(p)
        assert changed or reasons, f"{p.name}: no rule is changed, and no reason is given"
        if "all" not in reasons:
            wanted = {"impl", "abstract_eval", "trace_batch" if p.higher_order else "batch"}
            assert wanted <= changed, f"{p.name}: {wanted - changed}"


def test_mutants_leave_no_trace():
    p = registry["sin"]
    before = dict(vars(p))
    for mutant in mutants(p):
        with mutant.applied():
            pass
    assert vars(p) == before
    assert check_primitive(p, order=1).ok
