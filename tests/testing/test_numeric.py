"""The numeric derivative: its error estimate holds, and kinks, jumps and noise are told from smooth points."""

import numpy as np
import pytest

from autodidax.testing.numeric import directional_derivative, pack

X = np.array([0.3, 1.1, 2.5])
T = np.array([0.7, -1.3, 0.4])


def _derivative(f, x, t, **options):
    return directional_derivative(lambda xs: [f(xs[0])], [x], [t], **options)


SMOOTH = {
    "sin": (np.sin, np.cos),
    "exp": (np.exp, np.exp),
    "log": (np.log, lambda x: 1 / x),
    "sqrt": (np.sqrt, lambda x: 0.5 / np.sqrt(x)),
    "cube": (lambda x: x**3, lambda x: 3 * x**2),
    "constant": (np.ones_like, np.zeros_like),
    "oscillating": (lambda x: np.sin(30 * x), lambda x: 30 * np.cos(30 * x)),
    "fast": (lambda x: np.sin(1e4 * x), lambda x: 1e4 * np.cos(1e4 * x)),
    "large offset": (lambda x: 1e6 + np.sin(x), np.cos),
    "tiny": (lambda x: 1e-200 * np.sin(x), lambda x: 1e-200 * np.cos(x)),
    "pole nearby": (lambda x: 1 / (x - 0.25), lambda x: -1 / (x - 0.25) ** 2),
    "cancellation": (lambda x: (1 - np.cos(x * 1e-3)) * 1e6, lambda x: 1e3 * np.sin(x * 1e-3)),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_the_error_estimate_bounds_the_error(name):
    f, d = SMOOTH[name]
    rng = np.random.default_rng(0)
    for _ in range(50):
        x = rng.uniform(0.3, 3.0, 7)
        t = rng.normal(size=7) * x
        est = _derivative(f, x, t)
        want = d(x) * t
        assert np.all(np.abs(est.value - want) <= 8 * est.error + 8 * np.finfo(float).eps * np.abs(want))
        assert not est.kink.any()


@pytest.mark.parametrize("name", ["sin", "exp", "log", "cube"])
def test_smooth_functions_are_known_to_ten_digits(name):
    f, d = SMOOTH[name]
    est = _derivative(f, X, T)
    assert np.all(est.error <= 1e-10 * np.abs(d(X) * T))
    assert est.conclusive(est.value, 1e-6).all()


@pytest.mark.parametrize(
    "f",
    [np.abs, lambda x: np.maximum(x, 0), lambda x: np.where(x > 0, 3 * x, 2 * x + x**2), lambda x: np.sin(np.abs(x))],
    ids=["abs", "relu", "two slopes", "inside"],
)
def test_a_kink_at_the_point_is_inconclusive(f):
    est = _derivative(f, np.array([0.0, 1.0]), np.array([1.0, 1.0]))
    assert est.conclusive(est.value, 1e-6).tolist() == [False, True]
    assert est.kink.tolist() == [True, False]


def test_a_kink_beside_the_point_leaves_the_estimate_right():
    x = np.array([1e-3, -1e-3, 1.0])
    est = _derivative(np.abs, x, np.ones(3))
    assert est.conclusive(est.value, 1e-6).all()
    np.testing.assert_allclose(est.value, [1, -1, 1], rtol=1e-9)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.floor(x * 1e7) / 1e7,
        lambda x: x + 1e-4 * np.sin(1e9 * x),
        np.sign,
        lambda x: x**0.5,
    ],
    ids=["staircase", "noise", "jump", "infinite slope"],
)
def test_what_cannot_be_judged_is_inconclusive(f):
    with np.errstate(all="ignore"):
        est = _derivative(f, np.array([0.0]), np.array([0.7]))
        assert not est.conclusive(est.value, 1e-6).any()


def test_single_precision_inside_is_seen():
    est = _derivative(lambda x: np.sin(x.astype(np.float32)).astype(np.float64), X, T)
    assert np.all(est.error >= 1e-8 * np.abs(est.value))
    assert np.all(np.abs(est.value - np.cos(X) * T) <= 8 * est.error)


def test_steps_outside_the_domain_are_left_out():
    def f(x):
        if np.any(x <= 0):
            raise ValueError("outside")
        return np.log(x)

    est = _derivative(f, np.array([0.01]), np.array([1.0]))
    assert est.conclusive(est.value, 1e-6).all()
    np.testing.assert_allclose(est.value, 100.0, rtol=1e-7)


def test_float32_points_are_evaluated_in_double_precision():
    x = X.astype(np.float32)
    est = _derivative(np.exp, x, T.astype(np.float32))
    np.testing.assert_allclose(est.value, np.exp(x.astype(float)) * T.astype(np.float32), rtol=1e-10)


def test_complex_directions():
    x, t = X + 1j, T - 0.5j
    est = _derivative(lambda z: z * z, x, t)
    np.testing.assert_allclose(est.value, 2 * x * t, rtol=1e-10)
    est = _derivative(np.conj, x, t)
    np.testing.assert_allclose(est.value, np.conj(t), rtol=1e-10)


def test_pack_leaves_integers_out():
    assert pack([np.ones(2, np.float32), np.arange(3), 2.0, None]).tolist() == [1, 1, 2]
