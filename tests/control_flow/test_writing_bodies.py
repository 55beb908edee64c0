"""User functions that write into their arguments: in JAX `v *= d` binds the name anew; here the arrays of loops and
solvers are their own, so that such a function gives the right result and leaves the caller's arrays alone."""

import numpy as np
import pytest

from autodidax import lax
from autodidax.scipy.integrate import odeint
from autodidax.scipy.sparse.linalg import bicgstab, cg, gmres

D = np.array([2.0, 3.0, 5.0])


def _times(v):
    v *= D
    return v


def _over(v):
    v /= D
    return v


@pytest.mark.parametrize("solve", [cg, gmres, bicgstab], ids=lambda f: f.__name__)
def test_solvers(solve):
    b = np.ones(3)
    np.testing.assert_allclose(solve(_times, b, tol=1e-12)[0], 1 / D, rtol=1e-10)
    np.testing.assert_allclose(solve(lambda v: D * v, b, tol=1e-12, M=_over)[0], 1 / D, rtol=1e-10)
    np.testing.assert_array_equal(b, np.ones(3))


def test_fixed_point():
    def f(x):
        x *= 0.5
        x += 1
        return x

    start = np.zeros(3)
    np.testing.assert_allclose(lax.fixed_point(f, start), 2.0)
    np.testing.assert_array_equal(start, 0)


def test_odeint():
    def rate(y, t):
        y *= -1.0
        return y

    np.testing.assert_allclose(odeint(rate, np.ones(2), np.array([0.0, 1.0]))[-1], np.exp(-1), rtol=1e-6)


def test_associative_scan():
    xs = np.arange(5.0)
    np.testing.assert_array_equal(lax.associative_scan(lambda a, b: a.__iadd__(b), xs), np.cumsum(np.arange(5.0)))
    np.testing.assert_array_equal(xs, np.arange(5.0))


def test_loops_leave_the_initial_carry_and_the_rows_alone():
    def body(k, c):
        c += 1.0
        return c

    def step(c, row):
        row *= 2.0
        c += row
        return c, row

    for _ in range(2):
        start, rows = np.zeros(2), np.ones((3, 2))
        np.testing.assert_array_equal(lax.fori_loop(0, 3, body, start), 3.0)
        np.testing.assert_array_equal(lax.while_loop(lambda c: c[0] < 3, lambda c: body(0, c), start), 3.0)
        carry, ys = lax.scan(step, start, rows)
        np.testing.assert_array_equal(carry, 6.0)
        np.testing.assert_array_equal(ys, 2.0 * np.ones((3, 2)))
        np.testing.assert_array_equal(start, 0)
        np.testing.assert_array_equal(rows, 1)


@pytest.mark.parametrize(
    "choose",
    [lambda f, x: lax.cond(True, f, lambda v: v, x), lambda f, x: lax.switch(1, [lambda v: v, f], x)],
    ids=["cond", "switch"],
)
@pytest.mark.parametrize("nested", [False, True], ids=["array", "tree"])
def test_branches_leave_their_operands_alone(choose, nested):
    x = np.zeros(2)
    result = choose(_add_one_inside, {"a": x})["a"] if nested else choose(lambda v: v.__iadd__(1.0), x)
    np.testing.assert_array_equal(result, 1.0)
    np.testing.assert_array_equal(x, 0.0)


def _add_one_inside(v):
    v["a"] += 1.0
    return v


def test_branches_return_arrays_of_their_own():
    x = np.zeros(2)
    first, second = lax.cond(True, lambda v: (v, v), lambda v: (v, v), x)
    third = lax.switch(0, [lambda v: x], x)
    assert not any(np.shares_memory(*pair) for pair in [(first, second), (first, x), (second, x), (third, x)])
