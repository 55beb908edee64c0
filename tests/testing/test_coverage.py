"""Which rules a check has run."""

from collections import Counter

import numpy as np
import pytest

from autodidax import grad, jvp, vjp, vmap
from autodidax.core.primitive import partial1, products, registry
from autodidax.testing.commandline.coverage import by_kind, counted
from autodidax.testing.commandline.modules import load_all

load_all()

RUNS = {
    "sin": (lambda sin: grad(sin)(1.0), {"products, operand 0"}),
    "arctan2": (lambda arctan2: jvp(lambda x: arctan2(x, 3.0), (1.0,), (1.0,)), {"products, operand 0"}),
    "reshape": (lambda reshape: vmap(lambda x: reshape(x, shape=(2, 1)))(np.ones((3, 2))), {"batch"}),
    "cumsum": (
        lambda cumsum: vjp(lambda x: cumsum(x, axis=0, reverse=False), np.ones(3))[1](np.ones(3)),
        {"impl", "transpose"},
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_the_rules_that_ran_are_counted(name):
    run, expected = RUNS[name]
    p = registry[name]
    with counted(p) as calls:
        run(p)
    assert {rule for rule, n in calls.items() if n} >= expected
    assert calls["abstract_eval"] == 0


@pytest.mark.parametrize("name", ["sin", "cumsum", "loop", "svd", "floor"])
def test_counting_leaves_no_trace(name):
    p = registry[name]
    before = dict(vars(p)), products[p.code], partial1[p.code]
    with counted(p) as calls:
        assert calls["impl"] == 0
    assert (dict(vars(p)), products[p.code], partial1[p.code]) == before


def test_kinds_are_counted_by_rule():
    calls = [Counter({"impl": 3, "products, operand 0": 1, "products, operand 1": 0}), Counter({"impl": 1, "batch": 0})]
    assert by_kind(calls) == {"impl": (2, 2), "products": (1, 2), "batch": (0, 1)}
