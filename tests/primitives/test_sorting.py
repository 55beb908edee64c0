"""Sorting and searching: every rule at every sample, then the functions over them."""

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors
from autodidax.primitives import sorting
from tests.primitives import rule_checks as rules

PRIMITIVES = [
    sorting.sort_p, sorting.argsort_p, sorting.lexsort_p, sorting.argpartition_p, sorting.searchsorted_p,
]  # fmt: skip
TIES = np.array([[3.0, 1.0, 3.0, 2.0], [0.0, 0.0, 5.0, 1.0]])


@pytest.mark.parametrize("check", [rules.check_aval, rules.check_staged, rules.check_vmap, rules.check_derivatives])
@pytest.mark.parametrize("p, sample", **rules.samples_of(*PRIMITIVES))
def test_rules(p, sample, check):
    check(p, sample)


def test_equal_entries_keep_their_own_derivatives():
    ct = np.array([[1.0, 2.0, 4.0, 8.0], [1.0, 2.0, 4.0, 8.0]])
    _, pull = ad.vjp(sorting.sort, TIES)
    np.testing.assert_array_equal(pull(ct)[0], [[4.0, 1.0, 8.0, 2.0], [1.0, 2.0, 8.0, 4.0]])


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_orders(axis):
    np.testing.assert_array_equal(sorting.sort(TIES, axis), np.sort(TIES, axis))
    np.testing.assert_array_equal(sorting.argsort(TIES, axis, stable=True), np.argsort(TIES, axis, stable=True))
    flip_axis = 0 if axis is None else axis
    np.testing.assert_array_equal(sorting.sort(TIES, axis, descending=True), np.flip(np.sort(TIES, axis), flip_axis))
    down = sorting.argsort(TIES, axis, stable=True, descending=True)
    np.testing.assert_array_equal(down, np.argsort(-TIES, axis, stable=True))
    part = sorting.partition(TIES, 1, axis)
    np.testing.assert_array_equal(np.sort(part, flip_axis), np.sort(TIES, axis))
    np.testing.assert_array_equal(np.take(part, 1, flip_axis), np.take(np.sort(TIES, axis), 1, flip_axis))


def test_top_k():
    values, positions = sorting.top_k(TIES, 3)
    np.testing.assert_array_equal(values, [[3.0, 3.0, 2.0], [5.0, 1.0, 0.0]])
    np.testing.assert_array_equal(positions, [[0, 2, 3], [2, 3, 0]])
    gradient = ad.grad(lambda x: sorting.top_k(x, 2)[0][1])(TIES[1])
    np.testing.assert_array_equal(gradient, [0.0, 0.0, 0.0, 1.0])
    with pytest.raises(errors.ArgumentError, match="at most 4"):
        sorting.top_k(TIES, 5)


def test_sort_by_keys():
    keys, numbers = np.array([1, 0, 1, 0]), np.array([2.0, 3.0, 1.0, 4.0])
    by_one = sorting.sort_by_keys([keys, numbers])
    np.testing.assert_array_equal(by_one, [[0, 0, 1, 1], [3.0, 4.0, 2.0, 1.0]])
    by_two = sorting.sort_by_keys([keys, numbers], num_keys=2)
    np.testing.assert_array_equal(by_two, [[0, 0, 1, 1], [3.0, 4.0, 1.0, 2.0]])


def test_searchsorted():
    a, order = np.array([3.0, 1.0, 2.0]), np.array([1, 2, 0])
    np.testing.assert_array_equal(sorting.searchsorted(a, [1.5, 3.0], "right", order), [1, 3])
    gradient = ad.grad(lambda v: v * sorting.searchsorted(np.array([0.0, 1.0]), v))(2.0)
    assert gradient == 2.0
    with pytest.raises(errors.ArgumentError, match="side"):
        sorting.searchsorted(a, 1.0, "middle")
    with pytest.raises(errors.ShapeError, match="one axis"):
        sorting.searchsorted_p.abstract_eval(np.ones((2, 2)), np.ones(2), side="left", batch_rank=0)
