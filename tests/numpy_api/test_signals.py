"""Convolution, correlation, interpolation, phases and i0: values, derivatives, mapping and staging."""

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import errors
from autodidax.test_util import check_grads
from tests.numpy_api import laws
from tests.numpy_api.agreement import Case, assert_same

rng = np.random.default_rng(11)
v1, v3, v5, w3 = (rng.normal(size=n) for n in (1, 3, 5, 3))
z3, z5 = rng.normal(size=3) + 1j * rng.normal(size=3), rng.normal(size=5) + 1j * rng.normal(size=5)
knots, heights = np.sort(rng.normal(size=6)), rng.normal(size=6)
inside = rng.uniform(knots[0] + 0.01, knots[-1] - 0.01, (2, 3))
outside = np.array([knots[0] - 1.0, 0.1, knots[-1] + 2.0])
phases = np.cumsum(rng.uniform(-3.0, 3.0, (3, 7)), axis=1)
# an angle between each two neighbours so that no step lies near half a period
wound = np.array([0.3, 2.9, -2.6, 0.4, 3.0, -0.5])

CASES = [
    *(Case(name, *pair, mode) for name in ("convolve", "correlate") for mode in ("full", "same", "valid")
      for pair in [(v5, v3), (v3, v5), (v3, w3), (v1, v3), (v5, rng.normal(size=4)), (v3, rng.normal(size=4))]),
    *(Case("convolve", *pair) for pair in [(z5, v3), (v5, z3), (v5, np.arange(3)), (1.5, v3)]),
    *(Case("correlate", *pair, "full") for pair in [(z5, v3), (v5, z3), (z3, z5), (v5, np.arange(3))]),
    Case("interp", inside, knots, heights), Case("interp", outside, knots, heights),
    Case("interp", outside, knots, heights, -3.0, 4.0), Case("interp", 0.1, knots, heights),
    Case("interp", inside, knots, heights + 2j), Case("interp", outside, knots, heights + 1j, 1j, 2.0),
    Case("interp", outside, v1, w3[:1]), Case("interp", outside, np.array([0.4, 1.0, 0.2]), w3, period=2.5),
    Case("interp", outside, np.array([0.4, 1.0, 0.2]), w3, None, None, 2.5, label="traced period"),
    Case("interp", outside, np.arange(4), np.arange(4)), Case("unwrap", phases), Case("unwrap", phases, axis=0),
    Case("unwrap", wound), Case("unwrap", wound, period=2.3), Case("unwrap", 3 * wound, 4.0),
    Case("i0", v3), Case("i0", 9.0 * v5), Case("i0", rng.normal(size=(2, 2))),
]  # fmt: skip
SMOOTH = [c for c in CASES if c.wrt]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_plain_value(case):
    laws.plain_value(case)


@pytest.mark.parametrize("law", laws.ALL, ids=lambda f: f.__name__)
@pytest.mark.parametrize("case", SMOOTH, ids=repr)
def test_laws(case, law):
    law(case)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_check_grads_of_convolutions(mode):
    check_grads(lambda a, v: anp.convolve(a, v, mode), (v5, v3), order=2)
    check_grads(lambda a, v: anp.correlate(a, v, mode), (v3, v5), order=2)


def test_one_kernel_for_many_rows():
    rows = rng.normal(size=(50, 9))
    got = autodidax.vmap(lambda x: np.convolve(x, v3, "same"))(rows)
    np.testing.assert_allclose(got, [np.convolve(x, v3, "same") for x in rows], rtol=1e-13, atol=1e-13)
    grad = autodidax.grad(lambda v: autodidax.vmap(lambda x: np.convolve(x, v, "valid"))(rows).sum())(v3)
    want = autodidax.grad(lambda v: sum(np.convolve(x, v, "valid").sum() for x in rows))(v3)
    np.testing.assert_allclose(grad, want, rtol=1e-12)


def test_slopes_at_the_knots_are_those_of_the_right():
    xp, fp = np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, -2.0])
    slope = autodidax.grad(lambda x: np.interp(x, xp, fp).sum())(np.array([0.0, 1.0, 3.0, -0.1, 3.1]))
    np.testing.assert_array_equal(slope, [1.0, -2.0, -2.0, 0.0, 0.0])
    by_height = autodidax.jacobian(lambda f: np.interp(xp, xp, f))(fp)
    np.testing.assert_array_equal(by_height, np.eye(3))


@pytest.mark.parametrize("fp", [[0.0, np.inf, 1.0], [np.inf, np.inf, 1.0], [-np.inf, 0.0, np.nan]], ids=str)
@pytest.mark.parametrize("xp", [[0.0, 1.0, 2.0], [0.0, 2.0, 2.0]], ids=str)
def test_interpolation_between_infinities(xp, fp):
    x = np.array([-1.0, 0.0, 0.3, 1.0, 1.7, 2.0, 2.5, np.nan])
    with np.errstate(all="ignore"):
        got, _ = autodidax.jvp(lambda x: np.interp(x, xp, fp), (x,), (np.ones_like(x),))
    np.testing.assert_array_equal(got, np.interp(x, xp, fp))


@pytest.mark.parametrize("period", [2 * np.pi, 5.0])
def test_steps_of_half_a_period(period):
    x = np.array([0.0, period / 2, 0.0, -period / 2, 0.0, period, period / 2])
    got, pull = autodidax.vjp(lambda x: np.unwrap(x, period=period), x)
    np.testing.assert_array_equal(got, np.unwrap(x, period=period))
    np.testing.assert_array_equal(pull(np.arange(7.0))[0], np.arange(7.0))


def test_unwrapped_integers_and_single_precision():
    for x, period in [(np.array([1, 2, 3, 4, 5, 6, 1, 2, 3]), 6), (np.array([2, 3, 4, 5, 2, 3, 4, 5]), 4)]:
        f = lambda x, period=period: np.unwrap(x, period=period)
        assert_same(autodidax.jit(f)(x), f(x))
    single = wound.astype(np.float32)
    assert autodidax.jit(np.unwrap)(single).dtype == np.float32


def test_derivative_of_unwrapped_phases_in_the_period():
    f = lambda period: anp.unwrap(wound, period=period)
    got, tangent = autodidax.jvp(f, (2.5,), (1.0,))
    np.testing.assert_array_equal(got, np.unwrap(wound, period=2.5))
    np.testing.assert_allclose(tangent, (f(2.5 + 1e-6) - f(2.5 - 1e-6)) / 2e-6, atol=1e-8)


REFUSED = {
    "convolve, empty": (lambda x: np.convolve(x, []), ValueError, "empty"),
    "convolve, matrix": (lambda x: np.convolve(x[None], x), ValueError, "too deep"),
    "convolve, mode": (lambda x: np.convolve(x, x, "wrap"), ValueError, "mode"),
    "correlate, mode": (lambda x: np.correlate(x, x, "wrap"), ValueError, "mode"),
    "interp, lengths": (lambda x: np.interp(x, [0.0, 1.0], x), ValueError, "same length"),
    "interp, no points": (lambda x: np.interp(x, [], []), ValueError, "empty"),
    "interp, period": (lambda x: np.interp(x, x, x, period=0), ValueError, "non-zero"),
    "interp, complex x": (lambda x: np.interp(x * 1j, x, x), errors.DtypeError, "complex"),
    "i0, complex": (lambda x: np.i0(x * 1j), TypeError, "complex"),
    "unwrap, axis": (lambda x: np.unwrap(x, axis=1), np.exceptions.AxisError, "axis 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    function, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        autodidax.vjp(function, v3)
