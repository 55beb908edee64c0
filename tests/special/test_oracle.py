"""Bessel, Airy, elliptic and their kin: values, first and second derivatives against mpmath, at 40 digits."""

import json

import numpy as np
import pytest

import autodidax
from autodidax.scipy import special
from tests.special import oracle

CASES = oracle.cases(None)
RECORDED = {
    name: [[complex(*z) if isinstance(z, list) else z for z in row] for row in rows]
    for name, rows in json.loads(oracle.RECORDED.read_text()).items()
}


def computed(f, x):
    """Value and first two derivatives, forward and reverse over forward."""
    first = lambda y: autodidax.jvp(f, (y,), (1.0,))[1]
    with np.errstate(all="ignore"):
        return [f(x), first(x), autodidax.jvp(first, (x,), (1.0,))[1]]


@pytest.mark.parametrize("name", CASES)
def test_recorded_values(name):
    ours, _, points, tolerance = CASES[name]
    for x, want in zip(points, RECORDED[name], strict=True):
        error = np.abs(np.array(computed(ours, x)) - want) / oracle.scale(want)
        assert np.all(error <= tolerance), (x, error)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_mpmath(name):
    mpmath = pytest.importorskip("mpmath", reason="the oracle of special functions")
    ours, theirs, points, tolerance = oracle.cases(mpmath)[name]
    for x in points:
        want = oracle.compute(mpmath, theirs, x)
        error = np.abs(np.array(computed(ours, x)) - want) / oracle.scale(want)
        assert np.all(error <= tolerance), (x, error)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["jv", "yv", "iv", "kv", "hankel1", "ive", "kve"])
def test_derivative_in_the_order_over_the_plane(name):
    """Within 1e-10 of the function's own size there, over orders in [-20, 50] and arguments in [1e-3, 1e3]."""
    mpmath = pytest.importorskip("mpmath", reason="the oracle of special functions")
    theirs = {
        "jv": mpmath.besselj, "yv": mpmath.bessely, "iv": mpmath.besseli, "kv": mpmath.besselk,
        "hankel1": mpmath.hankel1, "ive": lambda v, x: mpmath.besseli(v, x) * mpmath.exp(-x),
        "kve": lambda v, x: mpmath.besselk(v, x) * mpmath.exp(x),
    }[name]  # fmt: skip
    rng = np.random.default_rng(5)
    orders, arguments = rng.uniform(-20, 50, 60), 10.0 ** rng.uniform(-3, 3, 60)
    orders[:20] = np.round(orders[:20])
    orders[20:30] = np.round(orders[20:30]) + 0.5
    if name in ("iv", "kv"):
        arguments = np.minimum(arguments, 650.0)
    f = getattr(special, name)
    got = autodidax.jvp(lambda v: f(v, arguments), (orders,), (np.ones(60),))[1]
    for v, x, slope in zip(orders, arguments, got, strict=True):
        with mpmath.workdps(60):
            want = complex(mpmath.diff(lambda n, x=x: theirs(n, mpmath.mpf(x)), mpmath.mpf(v), h=mpmath.mpf(10) ** -15))
            size = abs(complex(theirs(mpmath.mpf(v), mpmath.mpf(x))))
        assert abs(slope - want) <= 1e-10 * max(abs(want), size), (v, x, slope, want)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["i0", "i0e", "i1", "i1e"])
def test_bessel_functions_of_jax(name):
    jax = pytest.importorskip("jax", reason="an oracle for i0e and the like")
    x = np.array([-3.0, -0.2, 0.4, 2.5, 30.0])
    theirs, ours = getattr(jax.scipy.special, name), getattr(special, name)
    with jax.enable_x64(True):
        want, again = jax.vmap(jax.grad(theirs))(x), jax.vmap(jax.grad(jax.grad(theirs)))(x)
    slope = autodidax.vmap(autodidax.grad(ours))
    np.testing.assert_allclose(slope(x), want, rtol=1e-12)
    np.testing.assert_allclose(autodidax.grad(lambda y: np.sum(slope(y)))(x), again, rtol=1e-9)
