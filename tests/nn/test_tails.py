"""Activations with first and second derivatives, in both tails, against mpmath.

`python -m tests.nn.oracle` records the table anew.
"""

import json

import numpy as np
import pytest

import autodidax as ad
from autodidax import nn
from tests.nn import oracle

ROWS = json.loads(oracle.RECORD.read_text("utf-8"))
CLOSE = dict(rtol=2e-12, atol=1e-305)


def function_of(name):
    return (lambda x: nn.gelu(x, approximate=False)) if name == "gelu_exact" else getattr(nn, name)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}{row[1]}".replace(" ", ""))
def test_recorded(row):
    name, args, value, first, second = row
    f = function_of(name)
    np.testing.assert_allclose(f(*args), value, **CLOSE)
    for k, (want, want2) in enumerate(zip(first, second, strict=True)):
        along = lambda u, k=k: f(*args[:k], u, *args[k + 1 :])
        np.testing.assert_allclose(ad.grad(along)(args[k]), want, **CLOSE)
        np.testing.assert_allclose(ad.jvp(along, (args[k],), (1.0,))[1], want, **CLOSE)
        np.testing.assert_allclose(ad.grad(ad.grad(along))(args[k]), want2, **CLOSE)
        np.testing.assert_allclose(ad.jit(ad.grad(ad.grad(along)))(args[k]), want2, **CLOSE)


@pytest.mark.slow
def test_recorded_values_are_those_of_mpmath():
    mpmath = pytest.importorskip("mpmath", reason="the oracle of the activations")
    for old, new in zip(ROWS, oracle.rows(mpmath), strict=True):
        assert old[:2] == list(new[:2])
        for a, b in zip(old[2:], new[2:], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-320)
