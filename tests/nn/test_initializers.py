"""Initial weights: shapes, dtypes, moments, and JAX's numbers."""

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors, random
from autodidax.nn import initializers

KEY = 3
SCALED = {
    "glorot_uniform": (1.0, "avg"), "glorot_normal": (1.0, "avg"), "xavier_uniform": (1.0, "avg"),
    "xavier_normal": (1.0, "avg"), "lecun_uniform": (1.0, "in"), "lecun_normal": (1.0, "in"), "he_uniform": (2.0, "in"),
    "he_normal": (2.0, "in"), "kaiming_uniform": (2.0, "in"), "kaiming_normal": (2.0, "in"),
}  # fmt: skip
OTHERS = ("uniform", "normal", "truncated_normal", "orthogonal")


def made(name):
    return initializers.constant(2.5) if name == "constant" else getattr(initializers, name)()


@pytest.mark.parametrize("name", [*SCALED, *OTHERS, "constant"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shape_and_dtype(name, dtype):
    init = made(name)
    drawn = init(random.key(KEY), (5, 4), dtype)
    assert drawn.shape == (5, 4) and drawn.dtype == dtype
    np.testing.assert_array_equal(ad.jit(lambda key: init(key, (5, 4), dtype))(random.key(KEY)), drawn)
    assert init(random.key(KEY), (5, 4)).dtype == np.float64


@pytest.mark.parametrize("name", SCALED)
def test_variance(name):
    scale, mode = SCALED[name]
    drawn = made(name)(random.key(KEY), (200, 300))
    fan = 200 if mode == "in" else 250
    np.testing.assert_allclose([drawn.mean() * np.sqrt(fan), drawn.var() * fan], [0.0, scale], atol=0.02)
    kernel = getattr(initializers, name)(in_axis=(1, 2), batch_axis=3)(random.key(KEY), (5, 40, 50, 2, 3))
    fan = 40 * 50 * 5 if mode == "in" else (40 * 50 + 3) * 5 / 2
    np.testing.assert_allclose(kernel.var() * fan, scale, rtol=0.03)


@pytest.mark.parametrize("distribution", ["normal", "uniform", "truncated_normal"])
def test_complex(distribution):
    init = initializers.variance_scaling(2.0, "fan_geo_avg", distribution)
    drawn = init(random.key(KEY), (200, 300), np.complex128)
    assert drawn.dtype == np.complex128
    np.testing.assert_allclose(np.mean(abs(drawn) ** 2) * np.sqrt(200 * 300), 2.0, rtol=0.03)


def test_constants():
    np.testing.assert_array_equal(initializers.zeros(None, (2, 3), np.float32), np.zeros((2, 3), np.float32))
    np.testing.assert_array_equal(initializers.ones(None, 3), np.ones(3))
    np.testing.assert_array_equal(initializers.constant([1.0, 2.0])(None, (2, 2)), [[1, 2], [1, 2]])


@pytest.mark.parametrize("column_axis", [-1, 0, 1])
def test_orthogonal(column_axis):
    drawn = np.moveaxis(initializers.orthogonal(2.0, column_axis)(random.key(KEY), (4, 3, 2)), column_axis, -1)
    matrix = drawn.reshape(-1, drawn.shape[-1])
    np.testing.assert_allclose(matrix.T @ matrix, 4 * np.eye(matrix.shape[1]), atol=1e-12)
    assert initializers.orthogonal()(random.key(KEY), (0, 3)).shape == (0, 3)


@pytest.mark.parametrize("field", [(3,), (3, 4), (1, 2, 3)])
def test_delta_orthogonal(field):
    kernel = initializers.delta_orthogonal()(random.key(KEY), (*field, 2, 3))
    center = kernel[tuple((n - 1) // 2 for n in field)]
    np.testing.assert_allclose(center @ center.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(np.sum(kernel**2), 2.0)


BAD = {
    "one axis": (lambda: initializers.glorot_normal()(random.key(KEY), (3,)), errors.ShapeError),
    "mode": (lambda: initializers.variance_scaling(1.0, "fan", "normal"), errors.ArgumentError),
    "distribution": (lambda: initializers.variance_scaling(1.0, "fan_in", "cauchy"), errors.ArgumentError),
    "vector": (lambda: initializers.orthogonal()(random.key(KEY), (3,)), errors.ShapeError),
    "more inputs": (lambda: initializers.delta_orthogonal()(random.key(KEY), (3, 4, 2)), errors.ShapeError),
}


@pytest.mark.parametrize(("call", "error"), BAD.values(), ids=BAD)
def test_bad_input(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SCALED, *OTHERS, "delta_orthogonal"])
def test_jax(name):
    jax = pytest.importorskip("jax", reason="the numbers are those of JAX")
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_threefry_partitionable", True)
    shape = (3, 2, 4) if name == "delta_orthogonal" else (6, 4)
    for dtype, rtol in [(np.float64, 1e-12), (np.float32, 1e-5)]:
        got = getattr(initializers, name)()(random.key(KEY), shape, dtype)
        want = getattr(jax.nn.initializers, name)()(jax.random.key(KEY), shape, dtype)
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol)
