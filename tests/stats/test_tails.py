"""Logarithms of densities and tails, with first and second derivatives in all arguments, against mpmath.

`python -m tests.stats.oracle` records the table anew.
"""

import json

import numpy as np
import pytest

import autodidax as ad
import autodidax.scipy.stats as stats
from tests.stats import oracle

ROWS = json.loads(oracle.RECORD.read_text("utf-8"))


def ids(row):
    return f"{row[0]}-{row[1]}-{row[2]}".replace(" ", "")


def check(row):
    name, function, args, value, first, second = row
    if name in oracle.CONSTANT:
        function = function.replace("pdf", "pmf")
    f = getattr(getattr(stats, name), function)
    args = [float(a) for a in args]
    np.testing.assert_allclose(f(*args), value, rtol=1e-12)
    for k, (want, want2) in enumerate(zip(first, second, strict=True), oracle.CONSTANT.get(name, 0)):
        along = lambda u, k=k: f(*args[:k], u, *args[k + 1 :])
        close = dict(rtol=1e-8, atol=1e-12, err_msg=f"argument {k}")
        np.testing.assert_allclose(ad.grad(along)(args[k]), want, **close)
        np.testing.assert_allclose(ad.jvp(along, (args[k],), (1.0,))[1], want, **close)
        close = dict(rtol=3e-7, atol=1e-12 * (1 + abs(want) + want * want), err_msg=f"argument {k} twice")
        np.testing.assert_allclose(ad.grad(ad.grad(along))(args[k]), want2, **close)
        np.testing.assert_allclose(ad.jvp(ad.grad(along), (args[k],), (1.0,))[1], want2, **close)


@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_recorded(row):
    check(row)


@pytest.mark.slow
@pytest.mark.parametrize("name", oracle.POINTS)
def test_recorded_values_are_those_of_mpmath(name):
    mpmath = pytest.importorskip("mpmath", reason="the oracle of the distributions")
    recorded = [row for row in ROWS if row[0] == name]
    for old, new in zip(recorded, oracle.rows(mpmath, [name]), strict=True):
        assert old[:3] == list(new[:3])
        for a, b in zip(old[3:], new[3:], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-40)
