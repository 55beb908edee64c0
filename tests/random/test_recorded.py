"""JAX's numbers, recorded by `record.py`: bits and integers are the same, floating-point numbers to a few units.

What is not equal to the last digit: JAX's log1p (by up to 100 units in float64), its inverse error function, products
that it fuses with sums, and the LAPACK that it calls. Where a sum comes close to 0 the difference is one of the terms.
"""

from pathlib import Path

import numpy as np
import pytest

from autodidax import random
from tests.random.draws import SEED, all_draws

RECORDED = np.load(Path(__file__).with_name("recorded.npz"))
DRAWS = all_draws()

#: units in the last place by which the numbers of a draw may differ; 0 where it is not named
ROUNDED = {
    "normal": 20, "exponential": 130, "gumbel": 10, "gumbel high": 200, "gumbel highest": 200, "laplace": 130,
    "logistic": 200, "cauchy": 4, "pareto": 130, "rayleigh": 4, "weibull_min": 200, "wald": 260, "maxwell": 10,
    "double_sided_maxwell": 40, "double_sided_maxwell of arrays": 10, "lognormal": 10, "truncated_normal": 12,
    "multivariate_normal": 20, "multivariate_normal eigh": 30, "orthogonal": 40, "orthogonal wide": 10, "ball": 10,
    "generalized_normal": 10, "gamma": 40, "loggamma": 300, "beta": 10, "dirichlet": 15, "chisquare": 15, "t": 30,
    "f": 10, "uniform between": 30, "normal complex128": 10, "normal complex64": 10, "orthogonal complex128": 10,
}  # fmt: skip


def test_the_recording_names_its_maker():
    assert str(RECORDED["made by"]) == f"jax 0.10.2, seed {SEED}"
    assert set(RECORDED) == {*DRAWS, "made by"}


@pytest.mark.parametrize("name", DRAWS)
def test_recorded_numbers(name):
    got, want = np.asarray(DRAWS[name](random, random.key(SEED))), RECORDED[name]
    assert got.shape == want.shape
    # JAX gives positions of the largest in int32, this package in NumPy's default
    assert got.dtype == (np.int64 if "without replacement" in name and want.dtype == np.int32 else want.dtype)
    units = ROUNDED.get(name.removesuffix(", float64").removesuffix(", float32"), 0)
    if units:
        np.testing.assert_allclose(got, want, rtol=units * np.finfo(want.dtype).eps, atol=0)
    else:
        np.testing.assert_array_equal(got, want)


def test_raw_keys_give_the_same_numbers():
    np.testing.assert_array_equal(random.bits(random.PRNGKey(SEED), (3, 4)), RECORDED["bits"])


def test_float64_and_int64_are_the_defaults():
    key = random.key(SEED)
    for draw in (random.uniform, random.normal, random.exponential, random.gumbel):
        np.testing.assert_array_equal(draw(key, (3,)), draw(key, (3,), np.float64))
    assert random.randint(key, (3,), 0, 9).dtype == np.int64
    assert random.bits(key, (3,)).dtype == np.uint64


@pytest.mark.slow
def test_the_recording_is_what_jax_gives_now():
    jax = pytest.importorskip("jax", reason="the recorded numbers are those of JAX")
    jax.config.update("jax_enable_x64", True)
    try:
        key = jax.random.key(SEED)
        for name in ("bits", "randint", "uniform, float64", "uniform, float32", "permutation of a range"):
            np.testing.assert_array_equal(np.asarray(DRAWS[name](jax.random, key)), RECORDED[name], name)
    finally:
        jax.config.update("jax_enable_x64", False)
