"""Gamma, beta, error, zeta, incomplete and hypergeometric functions: values and all first and second derivatives."""

import json

import numpy as np
import pytest

import autodidax
from autodidax.scipy import special
from tests.special import parameters_oracle as oracle

CASES = oracle.cases(None)
RECORDED = {
    name: [np.array([complex(*z) if isinstance(z, list) else z for z in row]) for row in rows]
    for name, rows in json.loads(oracle.RECORDED.read_text()).items()
}


def assert_right(f, points, wanted, tolerance):
    points = list(map(oracle.as_point, points))
    for point, got, want in zip(points, oracle.ours(f, points), wanted, strict=True):
        error = oracle.errors_of(got, want, point)
        assert np.all(error <= tolerance), (point, dict(zip(oracle.orders(len(point)), error.tolist(), strict=True)))


@pytest.mark.parametrize("name", CASES)
def test_recorded_values(name):
    f, _, points, tolerance = CASES[name]
    assert_right(f, points, RECORDED[name], tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_mpmath(name):
    mpmath = pytest.importorskip("mpmath", reason="the oracle of special functions")
    f, theirs, points, tolerance = oracle.cases(mpmath)[name]
    assert_right(f, points, [oracle.compute(mpmath, theirs, oracle.as_point(x)) for x in points], tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, 2])
def test_shape_of_gammainc_over_the_plane(order):
    """1e-9 of the function's own size, from a = 1e-3 to 1e4, in both tails and about the transition."""
    mpmath = pytest.importorskip("mpmath", reason="the oracle of special functions")
    for a, ratio in oracle._pairs((1e-3, 0.3, 1.5, 50.0, 1e4), (1e-6, 0.3, 0.9, 0.99, 1.01, 1.2, 3.0)):
        x = ratio * max(a, 1.0)
        bounds = (0, mpmath.mpf(x)) if x <= a else (mpmath.mpf(x), mpmath.inf)
        with mpmath.workdps(80):
            tail = lambda b, bounds=bounds: mpmath.gammainc(b, *bounds, regularized=True)
            step = mpmath.mpf(10) ** -20 * a
            want = mpmath.diff(tail, mpmath.mpf(a), order, h=step) * (1 if x <= a else -1)
        f = lambda b, x=x: special.gammainc(b, x)
        for _ in range(order):
            f = lambda b, g=f: autodidax.jvp(g, (b,), (1.0,))[1]
        assert abs(f(a) - want) <= 1e-9 * abs(want) + 1e-290, (a, x)


JAX = {
    "gammainc": (2.5, 1.7), "gammaincc": (2.5, 1.7), "betainc": (2.5, 1.7, 0.3), "poch": (2.5, 1.7),
    "zeta": (2.5, 1.7), "exp1": (1.7,), "expi": (1.7,), "rel_entr": (0.3, 0.6),
    "kl_div": (0.3, 0.6), "boxcox": (1.7, 0.3), "boxcox1p": (1.7, 0.3), "erfcx": (1.7,), "dawsn": (1.7,),
    "log_ndtr": (-3.0,), "ndtri": (0.3,), "hyp1f1": (0.5, 1.7, 0.8), "hyp2f1": (0.5, 1.7, 2.2, 0.3),
    "owens_t": (0.4, 1.7), "betaln": (0.4, 1.7), "digamma": (1.7,), "gamma": (1.7,), "entr": (0.3,),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", JAX)
def test_gradients_of_jax(name):
    jax = pytest.importorskip("jax", reason="an oracle where it has the function")
    if not hasattr(jax.scipy.special, name):
        pytest.skip("this JAX does not have it")
    args = JAX[name]
    first = 2 if name == "betainc" else 0  # JAX has no derivative in the parameters of betainc
    which = tuple(range(first, len(args)))
    with jax.enable_x64(True):
        want = jax.grad(getattr(jax.scipy.special, name), argnums=which)(*args)
    got = autodidax.grad(getattr(special, name), argnums=which)(*args)
    np.testing.assert_allclose(got, want, rtol=1e-7)
