"""Activations: dtypes, kinks, infinities, every transform, and JAX as an oracle."""

import subprocess
import sys

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors, nn
from autodidax.test_util import check_grads

SMOOTH = (
    "sigmoid", "log_sigmoid", "softplus", "silu", "mish", "gelu", "soft_sign", "elu", "celu", "selu", "squareplus",
    "tanh",
)  # fmt: skip
PIECEWISE = ("relu", "relu6", "hard_tanh", "hard_sigmoid", "hard_silu", "leaky_relu", "sparse_plus", "sparse_sigmoid")
KEEP_INTEGERS = ("relu", "hard_tanh", "identity")
X = np.array([-7.3, -3.4, -1.2, -0.4, 0.3, 0.8, 2.1, 3.7, 7.9])

# name, kink, first and second derivative there
KINKS = [
    ("relu", 0.0, 0.0, 0.0),
    ("relu", -0.0, 0.0, 0.0),
    ("relu6", 0.0, 0.0, 0.0),
    ("relu6", 6.0, 0.0, 0.0),
    ("leaky_relu", 0.0, 1.0, 0.0),
    ("elu", 0.0, 1.0, 1.0),
    ("celu", 0.0, 1.0, 1.0),
    ("selu", 0.0, 1.7580993408473766, 1.7580993408473766),
    ("hard_tanh", -1.0, 1.0, 0.0),
    ("hard_tanh", 1.0, 1.0, 0.0),
    ("hard_sigmoid", -3.0, 0.0, 0.0),
    ("hard_sigmoid", 3.0, 0.0, 0.0),
    ("hard_silu", -3.0, 0.0, 0.0),
    ("hard_silu", 3.0, 1.0, 0.0),
    ("sparse_sigmoid", -1.0, 0.25, 0.0),
    ("sparse_sigmoid", 1.0, 0.25, 0.0),
    ("sparse_plus", -1.0, 0.0, 0.0),
    ("sparse_plus", 1.0, 1.0, 0.0),
    ("soft_sign", 0.0, 1.0, 0.0),
    ("squareplus", 0.0, 0.5, 0.25),
]
# name: limits at -inf and inf, and the slopes there
LIMITS = {
    "relu": (0, np.inf, 0, 1),
    "relu6": (0, 6, 0, 0),
    "leaky_relu": (-np.inf, np.inf, 0.01, 1),
    "elu": (-1, np.inf, 0, 1),
    "celu": (-1, np.inf, 0, 1),
    "hard_tanh": (-1, 1, 0, 0),
    "hard_sigmoid": (0, 1, 0, 0),
    "hard_silu": (0, np.inf, 0, 1),
    "sparse_plus": (0, np.inf, 0, 1),
    "sparse_sigmoid": (0, 1, 0, 0),
    "soft_sign": (-1, 1, 0, 0),
    "squareplus": (0, np.inf, 0, 1),
    "silu": (0, np.inf, 0, 1),
    "gelu": (0, np.inf, 0, 1),
    "mish": (0, np.inf, 0, 1),
    "softplus": (0, np.inf, 0, 1),
    "sigmoid": (0, 1, 0, 0),
    "log_sigmoid": (-np.inf, 0, 1, 0),
    "tanh": (-1, 1, 0, 0),
}


@pytest.mark.parametrize(("name", "x", "first", "second"), KINKS)
def test_kinks(name, x, first, second):
    f = getattr(nn, name)
    slope = ad.grad(f)
    forward = lambda x: ad.jvp(f, (x,), (1.0,))[1]
    for wrap in (lambda g: g, ad.jit):
        np.testing.assert_allclose([wrap(slope)(x), wrap(forward)(x)], first, rtol=1e-14)
        for outer in (slope, forward):
            np.testing.assert_allclose([wrap(ad.grad(outer))(x), ad.jvp(outer, (x,), (1.0,))[1]], second, rtol=1e-14)


@pytest.mark.parametrize("name", LIMITS)
def test_infinities(name):
    f = getattr(nn, name)
    low, high, slope_low, slope_high = LIMITS[name]
    for x, value, slope in [(-np.inf, low, slope_low), (np.inf, high, slope_high)]:
        assert f(x) == value and ad.grad(f)(x) == slope and ad.grad(ad.grad(f))(x) == 0
    assert np.isnan(f(np.nan))


@pytest.mark.parametrize("name", [*SMOOTH, *PIECEWISE, "log1mexp", "identity"])
def test_dtypes(name):
    f = getattr(nn, name)
    for dtype in (np.float16, np.float32, np.float64):
        x = np.array([1.0, 2.5, 0.5], dtype)
        total = lambda x: ad.numpy.sum(f(x))
        assert f(x).dtype == f(x[0]).dtype == ad.jit(f)(x).dtype == dtype
        assert ad.grad(total)(x).dtype == ad.grad(ad.grad(lambda x: ad.numpy.sum(f(x) * f(x))))(x[0]).dtype == dtype
    whole = np.array([1, 2])
    assert f(whole).dtype == ad.jit(f)(whole).dtype == (np.int64 if name in KEEP_INTEGERS else np.float64)
    assert isinstance(f(0.5), np.float64) and f([0.5, 1.5]).shape == (2,)


@pytest.mark.parametrize("name", [*SMOOTH, *PIECEWISE])
def test_derivatives(name):
    f = getattr(nn, name)
    check_grads(f, (X,), order=2, points="given")
    np.testing.assert_allclose(
        ad.vmap(ad.grad(f))(X), ad.grad(lambda x: ad.numpy.sum(f(x)))(X), rtol=1e-13, atol=1e-300
    )


def test_derivatives_in_the_parameters():
    check_grads(nn.elu, (X, np.array(1.3)), order=2, points="given")
    check_grads(nn.celu, (X, np.array(1.3)), order=2, points="given")
    check_grads(nn.squareplus, (X, np.array(3.0)), order=2, points="given")
    check_grads(nn.leaky_relu, (X, np.array(0.2)), order=2, points="given")
    check_grads(nn.log1mexp, (abs(X),), order=2, points="given")
    check_grads(lambda x: nn.gelu(x, approximate=False), (X,), order=2, points="given")
    check_grads(lambda x: nn.glu(x, axis=1), (np.stack([X, X[::-1]])[:, :8],), order=2, points="given")


def test_relu_of_a_branch_that_is_not_taken():
    assert ad.grad(lambda x: nn.relu(x) * 0.0 + nn.relu(-x))(1.0) == 0.0
    assert ad.grad(lambda x: ad.numpy.sqrt(nn.relu(x)))(-1.0) == 0.0  # a slope of inf, cut off


def test_refusals():
    with pytest.raises(errors.DtypeError, match="silu takes real numbers"):
        nn.silu(1j)
    with pytest.raises(errors.ShapeError, match="its size is odd"):
        nn.glu(np.ones(3))


def test_names():
    assert set(nn.__all__) <= set(dir(nn))
    with pytest.raises(AttributeError, match="no attribute 'scaled_matmul'"):
        _ = nn.scaled_matmul
    code = "import sys, autodidax; {0}('scipy'); autodidax.nn.relu; {0}('autodidax.random')"
    code = code.format("assert not sys.modules.get")
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SMOOTH, *PIECEWISE, "log1mexp"])
def test_jax(name):
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    jax.config.update("jax_enable_x64", True)
    f, g = getattr(nn, name), getattr(jax.nn, name)
    x = abs(X) if name == "log1mexp" else X
    close = dict(rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(f(x), g(x), **close)
    np.testing.assert_allclose(ad.vmap(ad.grad(f))(x), jax.vmap(jax.grad(g))(x), **close)
    np.testing.assert_allclose(ad.vmap(ad.grad(ad.grad(f)))(x), jax.vmap(jax.grad(jax.grad(g)))(x), **close)
    for kink, at, first, _ in KINKS:
        if kink == name:
            np.testing.assert_allclose(first, jax.grad(g)(at), rtol=1e-12)
