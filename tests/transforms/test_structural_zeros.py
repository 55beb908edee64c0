"""The branch that was not taken poisons no derivative; a computed zero times infinity is nan in both modes."""

import numpy as np
import pytest

import autodidax as ad
import autodidax.numpy as anp
from autodidax import grad, jit, jvp, vmap

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the primal of the other branch warns, as in NumPy

NORM = lambda x: np.sqrt(np.sum(x**2))


def of_norm(x):
    s = np.sum(x**2)
    return np.where(s > 0, np.sqrt(s), 0.0)


# name -> (function, point, gradient, Hessian's diagonal or None where it does not exist)
CASES = {
    "x log x": (lambda x: np.sum(np.where(x > 0, x * np.log(x), 0.0)), [0.0, 1.0, -1.0], [0, 1, 0], [0, 1, 0]),
    "log": (lambda x: np.sum(np.where(x > 0, np.log(x), 3.0 * x)), [0.0, 2.0, -1.0], [3, 0.5, 3], [0, -0.25, 0]),
    "sqrt": (lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), [0.0, 4.0, -1.0], [0, 0.25, 0], [0, -1 / 32, 0]),
    "reciprocal": (lambda x: np.sum(np.where(x == 0, 1.0, 1.0 / x)), [0.0, 2.0], [0, -0.25], [0, 0.25]),
    "sinc": (lambda x: np.sum(np.where(x == 0, 1.0, np.sin(x) / x)), [0.0, np.pi / 2], [0, -4 / np.pi**2], None),
    "power": (lambda x: np.sum(np.where(x > 0, x**0.5, 0.0)), [0.0, 4.0], [0, 0.25], [0, -1 / 32]),
    "double where": (
        lambda x: np.sum(np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0)), [0.0, 4.0], [0, 0.25], [0, -1 / 32],
    ),
    "chain": (lambda x: np.sum(np.where(x > 0, np.exp(np.log(x) * 2.0), 0.0)), [0.0, 2.0], [0, 4], [0, 2]),
    "norm": (of_norm, [0.0, 0.0], [0, 0], None),
    "norm elsewhere": (of_norm, [3.0, 4.0], [0.6, 0.8], [16 / 125, 9 / 125]),
    "maximum": (lambda x: np.sum(np.maximum(np.sqrt(x), 1.0)), [0.0, 4.0], [0, 0.25], [0, -1 / 32]),
    "minimum": (lambda x: np.sum(np.minimum(1.0 / x, 1.0)), [0.0, 2.0], [0, -0.25], [0, 0.25]),
    "clip": (lambda x: np.sum(np.clip(np.sqrt(x), 1.0, 9.0)), [0.0, 4.0], [0, 0.25], [0, -1 / 32]),
    "set": (lambda x: np.sum(anp.at(np.sqrt(x))[0].set(1.0)), [0.0, 4.0], [0, 0.25], [0, -1 / 32]),
    "sum with where": (
        lambda x: np.sum(np.sqrt(x), where=np.array([False, True])), [0.0, 4.0], [0, 0.25], [0, -1 / 32],
    ),
    "through matmul": (
        lambda x: np.sum(np.where(np.array([False, True]), np.sqrt(np.eye(2) @ x), 0.0)), [0.0, 4.0], [0, 0.25],
        [0, -1 / 32],
    ),
    "through a broadcast": (
        lambda x: np.sum(np.where(x > 0, np.ones((3, 1)) * np.sqrt(x), 0.0)), [0.0, 4.0], [0, 0.75], [0, -3 / 32],
    ),
    "through reshape": (
        lambda x: np.sum(np.where(x.reshape(2, 1) > 0, np.sqrt(x).reshape(2, 1), 0.0)), [0.0, 4.0], [0, 0.25],
        [0, -1 / 32],
    ),
}  # fmt: skip

MODES = {
    "eager": lambda f: f,
    "jit": jit,
    "vmap": lambda f: lambda x: vmap(f)(np.stack([x, x]))[1],
    "jit vmap": lambda f: lambda x: jit(vmap(f))(np.stack([x, x]))[1],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
class TestNoPoison:
    def test_gradient(self, name, mode):
        f, x, want, _ = CASES[name]
        np.testing.assert_allclose(MODES[mode](grad(f))(np.array(x)), want, atol=1e-12)

    def test_forward(self, name, mode):
        f, x, want, _ = CASES[name]
        x = np.array(x)
        push = lambda v: vmap(lambda t: jvp(f, (v,), (t,))[1])(np.eye(len(x)))
        if name in ("norm", "through matmul"):
            pytest.skip("a contraction of the tangent makes a computed zero before the choice")
        np.testing.assert_allclose(MODES[mode](push)(x), want, atol=1e-12)

    def test_second_order(self, name, mode):
        f, x, _, want = CASES[name]
        if want is None:
            pytest.skip("no second derivative to state")
        second = MODES[mode](grad(lambda x: np.sum(grad(f)(x))))(np.array(x))  # row sums of the Hessian
        if name == "norm elsewhere":
            want = np.array([[16, -12], [-12, 9]]).sum(axis=1) / 125
        np.testing.assert_allclose(second, want, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_derivatives_of_jit(name):
    f, x, want, second = CASES[name]
    compiled, x = jit(f), np.array(x)
    np.testing.assert_allclose(grad(compiled)(x), want, atol=1e-12)
    if second is not None and name != "norm elsewhere":  # which has row sums of its own
        for g in (grad(compiled), jit(grad(compiled))):
            np.testing.assert_allclose(grad(lambda x, g=g: np.sum(g(x)))(x), second, atol=1e-12)


def test_structural_zeros_leave_a_staged_call():
    f = lambda x: jit(lambda y: np.where(x > 0, y, 0.0))(np.sqrt(x))
    assert grad(f)(0.0) == 0.0
    assert ad.jacrev(ad.jacrev(jit(np.log)))(0.0) == -np.inf

    @jit
    def two(x):  # what no cotangent comes for is a structural zero
        return np.log(x), 3.0 * x, np.where(x > 0, 1.0 / x, x)

    assert grad(lambda x: two(x)[1])(0.0) == 3.0
    assert grad(lambda x: two(x)[1] + two(x)[2])(0.0) == 4.0
    assert grad(grad(lambda x: two(x)[0]))(2.0) == -0.25


@pytest.mark.parametrize("mode", ["eager", "jit"])
def test_computed_zero_times_infinity_is_nan(mode):
    f = lambda x: np.sqrt(x) ** 2
    assert np.isnan(MODES[mode](grad(f))(0.0))
    assert np.isnan(MODES[mode](lambda x: jvp(f, (x,), (1.0,))[1])(0.0))
    g = lambda x: np.sqrt(x) * 0.0
    assert np.isnan(MODES[mode](grad(g))(0.0))
    assert np.isnan(MODES[mode](lambda x: jvp(g, (x,), (1.0,))[1])(0.0))


def test_infinity_of_the_branch_taken_stays():
    assert grad(lambda x: np.where(x >= 0, np.sqrt(x), 0.0))(0.0) == np.inf
    assert np.isnan(grad(lambda x: np.where(x >= 0, np.sqrt(x) ** 2, 0.0))(0.0))


STAGED = {
    "jit": lambda f: ad.jit(f),
    "checkpoint": lambda f: ad.checkpoint(f),
    "jit of jit": lambda f: ad.jit(ad.jit(f)),
    "upstream of a call": lambda f: lambda x: ad.jit(np.sqrt)(f(x)),
}
WAYS = {
    "eager": lambda f: ad.grad(f),
    "jit": lambda f: ad.jit(ad.grad(f)),
    "of jit": lambda f: ad.grad(ad.jit(f)),
    "vmap": lambda f: lambda x: ad.vmap(ad.grad(f))(x[None])[0],
}


@pytest.mark.parametrize("staged", STAGED)
@pytest.mark.parametrize("way", WAYS)
def test_the_branch_not_taken_poisons_nothing_through_a_staged_call(staged, way):
    x = np.array([0.0, 4.0])
    inner = STAGED[staged](np.sqrt)
    with np.errstate(all="ignore"):
        got = WAYS[way](lambda x: np.sum(np.where(x > 0, inner(x), 0.0)))(x)
        want = ad.grad(lambda x: inner(x[1]))(x)
    np.testing.assert_allclose(got, [0.0, want[1]])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.max(np.sqrt(x)),
        lambda x: np.sum(np.sqrt(x)[np.array([1, 1])]),
        lambda x: np.sum(anp.take(np.sqrt(x), np.array([1]))),
    ],
    ids=["max", "index array", "take"],
)
def test_what_a_selection_leaves_out_poisons_nothing(way, f):
    with np.errstate(all="ignore"):
        got = WAYS[way](f)(np.array([0.0, 4.0]))
    assert got[0] == 0.0 and got[1] in (0.25, 0.5)
