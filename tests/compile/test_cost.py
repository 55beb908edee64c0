"""The cost of programs: operations, bytes and memory, counted from shapes."""

import numpy as np
import pytest

import autodidax as ad
from autodidax.compile.cost import cost_of

A, B, V = np.ones((5, 7)), np.ones((7, 3)), np.ones(100_000)

FLOPS = {
    "a product of matrices": (lambda: (np.matmul, A, B), 3 * 5 * (2 * 7 - 1)),
    "a sum": (lambda: (np.sum, A), 34),
    "a sum over rows": (lambda: (lambda x: np.sum(x, axis=0), A), 28),
    "arithmetic": (lambda: (lambda x: x * 2.0 + x, A), 70),
    "a transpose": (lambda: (lambda x: x.T, A), 0),
    "a choice": (lambda: (lambda x: np.where(x > 0, x, 0.0), A), 35),
    "a loop": (lambda: (lambda x: ad.lax.scan(lambda c, _: (c * 2.0, None), x, None, length=10)[0], A), 350),
    "the longer branch": (
        lambda: (lambda x: ad.lax.cond(x[0, 0] > 0, lambda x: x * 2.0 + 1.0, lambda x: x * 3.0, x), A), 71),
    "a call": (lambda: (lambda x: ad.jit(lambda y: y * 2.0)(x), A), 35),
    "a factorization": (lambda: (np.linalg.cholesky, np.eye(6)), 72),
    "parts": (lambda: (lambda x: x[:2] * 1.5, A), 14),
}  # fmt: skip


@pytest.mark.parametrize("name", FLOPS)
def test_operations(name):
    make, want = FLOPS[name]
    f, *args = make()
    assert cost_of(ad.make_jaxpr(f)(*args)).flops == want


def test_elementary_functions_are_counted_apart():
    cost = cost_of(ad.make_jaxpr(lambda x: np.exp(x) + np.sin(x))(A))
    assert (cost.flops, cost.transcendentals) == (35, 70)


def test_memory_and_bytes():
    f = lambda x: np.sum(np.exp(np.sin(x) * 2.0))
    lowered = ad.jit(f).lower(V)
    traced, compiled = lowered.cost_analysis(), lowered.compile().cost_analysis()
    assert traced["bytes accessed"] >= 7 * V.nbytes and compiled["bytes accessed"] <= V.nbytes + 100
    assert traced["peak memory"] == 2 * V.nbytes and compiled["peak memory"] < 100
    assert traced["flops"] == compiled["flops"] == 2 * V.size - 1


def test_the_cost_of_each_pass():
    f = ad.value_and_grad(lambda x: np.sum(ad.jit(np.sin)(x) * 1.0) + np.sum(ad.jit(np.sin)(x)))
    found = ad.jit(f).lower(V).passes()
    names = [name for name, _, _ in found]
    assert names[0] == "inlining" and names[-1] == "clusters"
    transcendentals = [cost["transcendentals"] for _, _, cost in found]
    assert transcendentals[0] == 4 * V.size and transcendentals[-1] == 2 * V.size
    assert found[-1][2]["bytes accessed"] < found[0][2]["bytes accessed"] / 3
