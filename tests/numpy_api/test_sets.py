"""Unique entries and operations on sets: values, and derivatives through the entries that were chosen."""

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import errors
from tests.numpy_api import laws
from tests.numpy_api.agreement import Case, assert_same

x = np.array([2.5, -1.0, 2.5, 0.3, -1.0, 7.0])
y = np.array([0.3, 4.0, 7.0, 7.0, -2.0])
rows = np.array([[1.0, 2.0], [0.5, 3.0], [1.0, 2.0]])
distinct = np.array([3.0, 1.0, 2.0])
holes = np.array([np.nan, 1.0, np.nan, 1.0])

CASES = [
    *(Case("unique", v, **k) for v in (x, rows, holes, x + 1j * x, np.zeros(0), np.array([3, 1, 3]))
      for k in ({}, dict(return_index=True), dict(return_inverse=True, return_counts=True))),
    Case("unique", x, True, True, True), Case("unique", rows, axis=0), Case("unique", rows, axis=1, return_index=True),
    Case("unique", rows, return_inverse=True, axis=-1), Case("unique", holes, equal_nan=False),
    Case("unique", 2.0), *(Case(f"unique_{k}", v) for k in ("all", "counts", "inverse") for v in (x, rows)),
    *(Case(name, *pair) for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d")
      for pair in [(x, y), (rows, x), (x, y[:0]), (y[:0], y[:0]), (x, np.array([7, 1]))]),
    *(Case(name, distinct, np.array([2.0, 5.0]), assume_unique=True)
      for name in ("intersect1d", "setdiff1d", "setxor1d")),
    Case("intersect1d", x, y, return_indices=True),
    Case("intersect1d", distinct, np.array([2.0, 3.0]), True, True),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_plain_value(case):
    laws.plain_value(case)


@pytest.mark.parametrize("case", CASES, ids=repr)
@pytest.mark.parametrize("namespace", [anp, np], ids=["anp", "np"])
@pytest.mark.parametrize("k", [0, -1], ids=["first", "last"])
def test_traced_value(case, namespace, k):
    """Whichever argument is traced."""
    arrays = [j for j, a in enumerate(case.args) if not isinstance(a, bool)]

    def f(v):
        args = list(case.args)
        args[arrays[k]] = v
        return case.call(namespace, args)

    v = case.args[arrays[k]]
    got, _ = autodidax.vjp(f, v) if np.asarray(v).dtype.kind in "fc" else (case.call(np), None)
    assert type(got) is type(case.call(np))
    assert_same(got, case.call(np))


DERIVATIVES = {
    "unique": (lambda v: np.unique(v)[:3], [[0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0]]),
    "unique_values": (lambda v: np.unique_values(v)[0], [0, 1, 0, 0, 0, 0]),
    "union1d": (lambda v: np.union1d(v, y)[-1], [0, 0, 0, 0, 0, 1]),
    "intersect1d": (lambda v: np.intersect1d(v, y), [[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 1]]),
    "setdiff1d": (lambda v: np.setdiff1d(v, y)[1], [1, 0, 0, 0, 0, 0]),
    "setxor1d": (lambda v: np.setxor1d(y, v)[2], [1, 0, 0, 0, 0, 0]),
}  # fmt: skip


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivative_is_that_of_the_entry_chosen(name):
    f, want = DERIVATIVES[name]
    np.testing.assert_array_equal(autodidax.jacrev(f)(x), want)
    np.testing.assert_array_equal(autodidax.jacfwd(f)(x), want)
    hessian = autodidax.hessian(lambda v: (f(v) ** 2).sum())(x)
    np.testing.assert_allclose(hessian, 2 * np.atleast_2d(want).T @ np.atleast_2d(want))


def test_counts_of_unique_values():
    assert_same(autodidax.vjp(np.unique_values, x)[0], np.unique(x))


@pytest.mark.parametrize("transform", [autodidax.jit, autodidax.vmap], ids=["jit", "vmap"])
@pytest.mark.parametrize("name", ["unique", "unique_all", "unique_values", "union1d", "intersect1d", "setxor1d"])
def test_unknown_values_are_refused(name, transform):
    arrays = (x,) if name.startswith("unique") else (x, x)
    with pytest.raises(errors.ConcretizationTypeError, match=r"size of the result.*\n(.*\n)*.*mend: .*keep the shape"):
        transform(lambda v: getattr(np, name)(*[v] * len(arrays)))(x if transform is autodidax.jit else rows)


def test_axis_out_of_range():
    with pytest.raises(np.exceptions.AxisError):
        autodidax.vjp(lambda v: np.unique(v, axis=2), rows)
