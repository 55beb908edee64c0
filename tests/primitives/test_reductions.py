"""Reductions and running ones: every rule at every sample, then the points that need care."""

import itertools

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors
from autodidax.primitives import cumulative, reductions
from tests.primitives import rule_checks as rules

PRIMITIVES = [
    reductions.reduce_sum, reductions.reduce_prod, reductions.reduce_max, reductions.reduce_min,
    reductions.reduce_or, reductions.reduce_and, reductions.argmax, reductions.argmin, reductions.logsumexp,
    cumulative.cumsum, cumulative.cumprod, cumulative.cummax, cumulative.cummin, cumulative.cumlogsumexp,
    cumulative.linear_recurrence,
]  # fmt: skip


@pytest.mark.parametrize("check", [rules.check_aval, rules.check_staged, rules.check_vmap, rules.check_derivatives])
@pytest.mark.parametrize("p, sample", **rules.samples_of(*PRIMITIVES))
def test_rules(p, sample, check):
    check(p, sample)


NUMPY = {
    "reduce_sum": (reductions.reduce_sum, np.sum),
    "reduce_prod": (reductions.reduce_prod, np.prod),
    "reduce_max": (reductions.reduce_max, np.max),
    "reduce_min": (reductions.reduce_min, np.min),
    "reduce_or": (reductions.reduce_or, np.any),
    "reduce_and": (reductions.reduce_and, np.all),
}


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint32, np.int64, np.float32, np.float64], ids=lambda d: d.__name__
)
@pytest.mark.parametrize("name", NUMPY)
def test_values_and_dtypes_are_numpys(name, dtype):
    p, fun = NUMPY[name]
    x = np.array([[1, 0, 2], [3, 1, 1]]).astype(dtype)
    for axes in [(0,), (1,), (0, 1), ()]:
        got, want = p(x, axes=axes), fun(x, axis=axes)
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_product_with_zeros_to_third_order(zeros):
    x = np.array([2.0, 3.0, 5.0, 7.0])
    x[:zeros] = 0.0
    f = lambda x: reductions.reduce_prod(x, axes=(0,))
    others = lambda *out: 0.0 if len(set(out)) < len(out) else np.prod(np.delete(x, out))
    derivative = f
    for order in (1, 2, 3):
        derivative = ad.jacfwd(derivative) if order > 1 else ad.grad(derivative)
        want = np.zeros((4,) * order)
        for entry in itertools.product(range(4), repeat=order):
            want[entry] = others(*entry)
        np.testing.assert_allclose(derivative(x), want, err_msg=str(order))


def test_running_product_with_zeros_to_second_order():
    x = np.array([2.0, 0.0, 3.0, 0.0, 5.0])
    f = lambda x: cumulative.cumprod(x, axis=0, reverse=False)
    jacobian = np.array([[np.prod(np.delete(x[: i + 1], k)) if k <= i else 0.0 for k in range(5)] for i in range(5)])
    np.testing.assert_allclose(ad.jacrev(f)(x), jacobian)
    second = ad.jacfwd(ad.jacrev(f))(x)
    assert second[3, 1, 3] == 6.0 and second[4, 1, 3] == 30.0 and second[4, 0, 1] == 0.0


@pytest.mark.parametrize("reverse", [False, True])
def test_running_extrema_share_among_ties(reverse):
    x = np.array([1.0, 3.0, 3.0, 2.0, 3.0])
    x = x[::-1] if reverse else x
    jacobian = ad.jacrev(lambda x: cumulative.cummax(x, axis=0, reverse=reverse))(x)
    jacobian = jacobian[::-1, ::-1] if reverse else jacobian
    third = 1.0 / 3.0
    want = [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0, 0], [0, third, third, 0, third]]
    np.testing.assert_allclose(jacobian, want)


INFINITE = {
    "all -inf": ([-np.inf, -np.inf], -np.inf, [0.0, 0.0]),
    "some -inf": ([-np.inf, 0.0], 0.0, [0.0, 1.0]),
    "one inf": ([np.inf, 0.0], np.inf, [1.0, 0.0]),
    "two inf": ([np.inf, np.inf, 1.0], np.inf, [0.5, 0.5, 0.0]),
    "large": ([1000.0, 1000.0], 1000.0 + np.log(2.0), [0.5, 0.5]),
}


@pytest.mark.parametrize("x, value, gradient", INFINITE.values(), ids=INFINITE.keys())
def test_logsumexp_at_infinity(x, value, gradient):
    x = np.array(x)
    f = lambda x: reductions.logsumexp(x, axes=(0,))
    assert f(x) == pytest.approx(value)
    np.testing.assert_allclose(ad.grad(f)(x), gradient)
    np.testing.assert_allclose(ad.vmap(ad.grad(f))(x[None])[0], gradient)
    np.testing.assert_allclose(ad.jvp(f, (x,), (np.arange(1.0, len(x) + 1),))[1], gradient @ np.arange(1.0, len(x) + 1))


def test_extremum_of_nan_has_nan_derivative():
    x = np.array([1.0, np.nan])
    assert np.isnan(reductions.reduce_max(x, axes=(0,)))
    assert np.all(np.isnan(ad.jvp(lambda x: reductions.reduce_max(x, axes=(0,)), (x,), (np.ones(2),))[1]))
    np.testing.assert_array_equal(ad.grad(lambda x: reductions.reduce_max(x, axes=(0,)))(x), [0.0, np.nan])


@pytest.mark.parametrize("p", [reductions.reduce_max, reductions.argmax], ids=str)
def test_no_entries(p):
    params = dict(axis=0) if p is reductions.argmax else dict(axes=(0,))
    with pytest.raises(errors.ShapeError, match="no entries"):
        p.abstract_eval(ad.ShapeDtypeStruct((0, 3), np.float64), **params)
    with pytest.raises(ValueError):
        p(np.ones((0, 3)), **params)


def test_recurrence_is_the_loop():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 6, 2))
    h = np.zeros((6, 2))
    for i in range(6):
        h[i] = (a[i] * h[i - 1] if i else 0.0) + b[i]
    np.testing.assert_allclose(cumulative.linear_recurrence(a, b, axis=0, reverse=False), h)
    back = cumulative.linear_recurrence(a[::-1], b[::-1], axis=0, reverse=True)
    np.testing.assert_allclose(back[::-1], h)
    one = cumulative.linear_recurrence(a[:, 0], b[:, 0], axis=0, reverse=False)
    np.testing.assert_allclose(one, h[:, 0])
