"""Counts and histograms: values, the derivatives of weights and edges, mapping and staging."""

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import errors
from autodidax.test_util import check_grads
from tests.numpy_api import laws
from tests.numpy_api.agreement import Case, assert_same

rng = np.random.default_rng(14)
x9, y9, w9, m33 = rng.normal(size=9), rng.normal(size=9), rng.uniform(0.5, 1.5, 9), rng.normal(size=(3, 3))
counts = np.array([3, 0, 3, 1, 6, 0, 3, 1, 1])
edges = np.array([-1.5, -0.5, 0.1, 0.7, 1.6])
points = np.stack([x9, y9], axis=1)

CASES = [
    Case("bincount", counts, w9, wrt=(1,)), Case("bincount", counts, w9, 9, wrt=(1,)), Case("bincount", counts),
    *(Case(name, x9, bins, **k) for name in ("histogram", "histogram_bin_edges") for bins in (4, edges)
      for k in ({}, dict(range=(-1.0, 0.8)))),
    Case("histogram", x9), Case("histogram", m33, 3), Case("histogram", x9, 4, None, True),
    Case("histogram", x9, edges, None, True, wrt=(0, 1)), Case("histogram", x9, 4, None, None, w9, wrt=(0, 4)),
    Case("histogram", x9, edges, None, True, w9, wrt=(0, 1, 4)), Case("histogram", x9, 4, (-1.0, 1.0), True, w9),
    Case("histogram", x9, 3, None, None, w9 + 1j * x9, wrt=(4,)), Case("histogram", np.arange(7), 3),
    Case("histogram", x9.astype(np.float32), 4, wrt=()), Case("histogram_bin_edges", x9, 3, (-1.0, 1.0)),
    Case("histogramdd", points, 3), Case("histogramdd", [x9, y9], (2, edges)),
    Case("histogramdd", points, 3, None, True, w9, wrt=(0, 4)), Case("histogram2d", x9, y9),
    Case("histogram2d", x9, y9, 3),
    Case("histogram2d", x9, y9, [3, edges], None, True, w9, wrt=(0, 1, 5)),
    Case("histogram2d", x9, y9, edges, wrt=(0, 1)),
    Case("histogram2d", x9, y9, (3, 2), [[-1.0, 1.0], [-2.0, 2.0]], wrt=(0, 1)),
]  # fmt: skip
BY_NAME = [
    Case("histogram", x9, "auto"), Case("histogram_bin_edges", x9, "fd"), Case("histogram", x9, "sqrt", (-1.0, 1.0)),
]  # fmt: skip
SMOOTH = [c for c in CASES if c.wrt]


@pytest.mark.parametrize("case", CASES + BY_NAME, ids=repr)
def test_plain_value(case):
    laws.plain_value(case)


@pytest.mark.parametrize("law", laws.ALL, ids=lambda f: f.__name__)
@pytest.mark.parametrize("case", SMOOTH, ids=repr)
def test_laws(case, law):
    law(case)


@pytest.mark.parametrize("law", laws.EAGER, ids=lambda f: f.__name__)
@pytest.mark.parametrize("case", BY_NAME, ids=repr)
def test_estimators_of_the_number_of_bins(case, law):
    law(case)


@pytest.mark.filterwarnings("ignore:Converting input from bool")
@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
def test_dtypes(dtype):
    x = (3 * x9).astype(dtype)
    assert_same(autodidax.jit(lambda x: np.histogram(x, 3))(x), np.histogram(x, 3), exact=False)


def test_values_on_edges_and_outside():
    x = np.array([-1.5, -0.5, 0.1, 1.6, 1.7, -9.0, np.nan, 1.6])
    for f in (lambda x: np.histogram(x, edges), lambda x: np.histogram(x, 5, (-1.5, 1.6)),
              lambda x: np.histogramdd([x, x[::-1]], edges[None].repeat(2, 0))[0]):  # fmt: skip
        assert_same(autodidax.jit(f)(x), f(x), exact=False)


@pytest.mark.parametrize("x", [np.zeros(0), np.full(3, 2.0)], ids=["empty", "equal"])
def test_ranges_that_are_none(x):
    for transform in (autodidax.jit, lambda f: lambda x: autodidax.jvp(f, (x,), (x,))[0]):
        assert_same(transform(lambda x: np.histogram(x, 2))(x), np.histogram(x, 2), exact=False)


def test_bincount_of_a_given_length():
    f = lambda x, w: anp.bincount(x, w, length=4)
    want = np.bincount(counts, w9)[:4]
    np.testing.assert_array_equal(f(counts, w9), want)
    np.testing.assert_allclose(autodidax.jit(f)(counts, w9), want)
    np.testing.assert_array_equal(anp.bincount(counts, length=9), np.bincount(counts, minlength=9))
    gradient = autodidax.jit(autodidax.grad(lambda w: f(counts, w)[3]))(w9)
    np.testing.assert_array_equal(gradient, counts == 3)


def test_derivatives_in_the_range():
    f = lambda low, high: anp.histogram(x9, 3, (low, high), density=True)
    check_grads(f, (-1.0, 0.8), order=2, points="given")
    g = lambda low, high: anp.histogramdd([x9, y9], 3, [(low, high), (-2.0, 2.0)], True, w9)
    check_grads(g, (-1.0, 0.8), order=2, points="given")


def test_estimators_need_known_values():
    with pytest.raises(errors.ConcretizationTypeError, match="give the number of bins"):
        autodidax.jit(lambda x: np.histogram(x, "auto"))(x9)


def test_bincount_of_unknown_numbers_is_refused():
    with pytest.raises(errors.ConcretizationTypeError, match="length"):
        autodidax.jit(np.bincount)(counts)


REFUSED = {
    "bincount, negative": (lambda x: np.bincount([-1, 2, 3], x[:3]), ValueError, "negative"),
    "bincount, floats": (lambda x: np.bincount(x), TypeError, "cast"),
    "bincount, lengths": (lambda x: np.bincount([1, 2], x), ValueError, "length"),
    "histogram, no bins": (lambda x: np.histogram(x, 0), ValueError, "positive"),
    "histogram, bins": (lambda x: np.histogram(x, 2.5), TypeError, "integer"),
    "histogram, order": (lambda x: np.histogram(x, [1.0, 0.0]), ValueError, "monotonically"),
    "histogram, estimator": (lambda x: np.histogram(x, "best"), ValueError, "estimator"),
    "histogram, weighted": (lambda x: np.histogram(x, "auto", weights=x), TypeError, "weighted"),
    "histogram, weights": (lambda x: np.histogram(x, 3, weights=x[:2]), ValueError, "shape"),
    "histogram, range": (lambda x: np.histogram(x, 3, (1.0, 0.0)), ValueError, "larger"),
    "histogram, nan": (lambda x: np.histogram(x * np.nan, 3), ValueError, "finite"),
    "histogramdd, bins": (lambda x: np.histogramdd([x, x], (1, 2, 3)), ValueError, "dimension"),
    "histogram2d, lengths": (lambda x: np.histogram2d(x, x[:2]), ValueError, "length"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    function, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        autodidax.vjp(function, x9)
