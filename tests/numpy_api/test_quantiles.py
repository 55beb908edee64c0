"""Quantiles by every method, with and without weights and NaN: NumPy's values and dtypes, derivatives in the entries
and in q, vmap and jit."""

import itertools
import warnings

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from tests.numpy_api.agreement import (
    Case,
    assert_same,
    check_derivatives,
    check_second_derivatives,
    check_staged,
    check_vmap,
)

METHODS = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
)  # fmt: skip
CONTINUOUS = ("interpolated_inverted_cdf", "hazen", "weibull", "linear", "median_unbiased", "normal_unbiased")
rng = np.random.default_rng(0)
A, B = rng.normal(size=(5, 4, 2)), rng.normal(size=6)
GAPS = A.copy()
GAPS[[0, 2, 4], [1, 1, 3], [0, 0, 1]] = np.nan
GAPS[:, 2, 1] = np.nan
LEVELS = {
    "scalar": 0.3, "ends": np.array([0.0, 1.0]), "vector": np.array([0.1, 0.5, 0.77]), "list": [0.25, 0.5],
    "one": 1, "integers": np.array([0, 1]), "float32": np.array([0.2, 0.9], np.float32), "strong": np.float64(0.4),
    "matrix": np.array([[0.2, 0.3], [0.75, 0.6]]), "none": np.zeros(0),
}  # fmt: skip
ENTRIES = {
    "f64": A, "f32": A.astype(np.float32), "f16": A.astype(np.float16), "int": np.round(4 * A).astype(int),
    "nan": GAPS, "nan32": GAPS.astype(np.float32), "ties": np.round(A),
}  # fmt: skip
AXES = {"all": {}, "0": dict(axis=0), "-1": dict(axis=-1, keepdims=True), "(2,0)": dict(axis=(2, 0))}


def quietly(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def traced(namespace, name, x, *args, **kwargs):
    """The value under jvp, with a tangent of zeros."""
    return quietly(
        lambda: autodidax.jvp(lambda y: getattr(namespace, name)(y, *args, **kwargs), (x,), (np.zeros_like(x),))[0]
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("entries", [k for k in ENTRIES if k != "int"])
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_values(name, entries, method):
    x = ENTRIES[entries]
    for (level, q), axes in itertools.product(LEVELS.items(), AXES.values()):
        if name == "nanquantile" and (level == "none" or (np.ndim(q) and isinstance(axes.get("axis"), tuple))):
            continue  # NumPy's own order of axes, or its failure, there
        if name == "quantile" and entries == "nan32" and not axes and level in ("strong", "none"):
            continue  # NumPy's dtype depends on whether there is a NaN, there
        want = quietly(lambda q=q, axes=axes: getattr(np, name)(x, q, method=method, **axes))
        assert_same(traced(anp, name, x, q, method=method, **axes), want, exact=False)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_values_of_integers(name, method):
    x = ENTRIES["int"]
    for q, axes in itertools.product(LEVELS.values(), (dict(axis=0), dict(axis=1, keepdims=True))):
        if name == "nanquantile" and np.size(q) == 0:
            continue
        want = getattr(np, name)(x, q, method=method, **axes)
        got = autodidax.jit(lambda y, q=q, axes=axes: getattr(anp, name)(y, q, method=method, **axes))(x)
        assert_same(got, want, exact=False)


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
@pytest.mark.parametrize("entries", ENTRIES)
def test_weighted_values(entries, name):
    x = ENTRIES[entries]
    weights = {
        "all": (rng.uniform(0.1, 1.0, A.shape), {}), "row": (np.array([0.0, 1.0, 0.5, 0.25, 0.0]), dict(axis=0)),
        "plane": (rng.uniform(0, 1, (2, 5)), dict(axis=(2, 0))),
        "integers": (np.arange(4), dict(axis=1, keepdims=True)),
        "whole": (rng.integers(0, 3, A.shape) + 1e-3, dict(axis=-1)),
    }  # fmt: skip
    for (w, axes), q in itertools.product(weights.values(), (0.0, 0.3, 1.0, 1, np.array([0.2, 0.5, 1.0], np.float32))):
        options = dict(weights=w, method="inverted_cdf", **axes)
        axis = axes.get("axis")
        if name == "nanquantile" and np.ndim(q) and isinstance(axis, tuple):
            continue
        full = w  # NumPy's nanquantile fails for weights of fewer axes than a
        if w.shape != A.shape:
            full = np.expand_dims(w.T if w.ndim == 2 else w, [k for k in range(3) if k not in np.atleast_1d(axis) % 3])
        whole = options | dict(weights=np.broadcast_to(full, A.shape))
        want = quietly(lambda q=q, whole=whole: getattr(np, name)(x, q, **whole))
        if x.dtype.kind == "f":
            assert_same(traced(anp, name, x, q, **options), want)
        got = quietly(lambda q=q, options=options: autodidax.jit(lambda y: getattr(anp, name)(y, q, **options))(x))
        assert_same(got, want)


@pytest.mark.parametrize("name", ["percentile", "nanpercentile"])
@pytest.mark.parametrize("q", [30, 50.0, [25, 75], np.array([0, 100]), np.array([10, 90], np.float32)], ids=str)
def test_percentiles(name, q):
    for x in (A, A.astype(np.float32)):
        for method in METHODS:
            want = getattr(np, name)(x, q, axis=1, method=method)
            assert_same(traced(anp, name, x, q, axis=1, method=method), want, exact=False)
    weights = np.broadcast_to(np.arange(5.0)[:, None, None], A.shape)
    want = getattr(np, name)(A, q, axis=0, weights=weights, method="inverted_cdf")
    assert_same(traced(np, name, A, q, axis=0, weights=weights, method="inverted_cdf"), want)


@pytest.mark.parametrize("entries", [k for k in ENTRIES if k != "int"])
@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_medians(name, entries):
    for axes in AXES.values():
        want = quietly(lambda axes=axes: getattr(np, name)(ENTRIES[entries], **axes))
        assert_same(traced(anp, name, ENTRIES[entries], **axes), want, exact=False)


def cases():
    for name in ("quantile", "nanquantile"):
        for method in METHODS:
            yield Case(name, B, 0.37, wrt=(0,), method=method)
            yield Case(name, A, np.array([[0.1, 0.66]]), 1, wrt=(0,), method=method, keepdims=True)
        yield Case(name, A, 0.4, (0, 2), wrt=(0,), weights=rng.uniform(size=A.shape), method="inverted_cdf")
        for method in CONTINUOUS:
            yield Case(name, B, 0.37, method=method)
            yield Case(name, A, np.array([0.13, 0.66]), 0, method=method)
    yield Case("percentile", A, np.array([13.0, 66.0]), 0)
    yield Case("nanpercentile", A, 40.0, (0, 1))
    yield Case("median", A, 1)
    yield Case("nanmedian", A, (0, 1))


@pytest.mark.parametrize("case", list(cases()), ids=repr)
@pytest.mark.parametrize(
    "check", [check_derivatives, check_second_derivatives, check_vmap, check_staged], ids=lambda f: f.__name__
)
def test_derivatives_and_transforms(check, case):
    check(lambda *args: case.call(anp, args), case.args, case.wrt)


@pytest.mark.parametrize("method", [m for m in METHODS if m not in CONTINUOUS])
def test_methods_that_give_an_entry_have_no_slope_in_q(method):
    slope = autodidax.grad(lambda q: anp.quantile(B, q, method=method))(0.37)
    assert slope == 0.0
    assert autodidax.jvp(lambda q: anp.quantile(B, q, method=method), (0.37,), (1.0,))[1] == 0.0


def test_weights_choose_and_have_no_slope():
    weights = np.arange(1.0, 7.0)
    got, tangent = autodidax.jvp(
        lambda w: anp.quantile(B, 0.4, weights=w, method="inverted_cdf"), (weights,), (np.ones(6),)
    )
    assert got == np.quantile(B, 0.4, weights=weights, method="inverted_cdf")
    assert tangent == 0.0
    rows = np.stack([weights, weights[::-1]])
    mapped = autodidax.vmap(lambda w: anp.quantile(B, 0.4, weights=w, method="inverted_cdf"))(rows)
    np.testing.assert_array_equal(mapped, [np.quantile(B, 0.4, weights=w, method="inverted_cdf") for w in rows])


def test_a_traced_q_keeps_the_dtype_that_q_has():
    single = B.astype(np.float32)
    for q in (0.3, np.float32(0.3), np.float64(0.3), np.array([0.3, 0.4], np.float32)):
        want = np.quantile(single, q)
        got = autodidax.jit(lambda q: anp.quantile(single, q))(q)
        assert_same(got, want, exact=False)


def test_the_slope_in_q_at_an_entry_is_that_on_its_right():
    x = np.array([0.0, 1.0, 3.0])
    slopes = [autodidax.grad(lambda q: anp.quantile(x, q))(q) for q in (0.0, 0.5, 1.0)]
    assert slopes == [2.0, 4.0, 0.0]


REFUSED = {
    "q too large": (lambda x: anp.quantile(x, 1.5), ValueError, "range"),
    "traced q too large": (lambda x: anp.quantile(B, x[0] + 9.0), ValueError, "range"),
    "nan q": (lambda x: anp.quantile(x, np.nan), ValueError, "range"),
    "percents": (lambda x: anp.percentile(x, 101), ValueError, "100"),
    "q of three axes": (lambda x: anp.quantile(x, np.zeros((1, 1, 1))), ValueError, "q has the shape"),
    "method": (lambda x: anp.quantile(x, 0.5, method="middle"), ValueError, "middle"),
    "weights without inverted_cdf": (lambda x: anp.quantile(x, 0.5, weights=x), ValueError, "inverted_cdf"),
    "negative weights": (
        lambda x: anp.quantile(x, 0.5, weights=-np.ones(6), method="inverted_cdf"), ValueError, "non-negative"
    ),
    "no weight": (
        lambda x: anp.quantile(x, 0.5, weights=np.zeros(6), method="inverted_cdf"), ValueError, "all zero"
    ),
    "shape of weights": (
        lambda x: anp.quantile(x, 0.5, weights=np.ones(5), axis=0, method="inverted_cdf"), ValueError, "shape"
    ),
    "axis": (lambda x: anp.quantile(x, 0.5, axis=1), IndexError, "axis 1"),
    "complex": (lambda x: anp.quantile(x + 1j, 0.5), TypeError, "real"),
    "no entries": (lambda x: anp.quantile(x[:0], 0.5), IndexError, "no entries"),
    "booleans": (lambda x: anp.quantile(x > 0, 0.5), TypeError, "boolean"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    function, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        autodidax.jvp(function, (B,), (np.ones(6),))
