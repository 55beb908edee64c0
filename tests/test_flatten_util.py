"""ravel_pytree: a tree as a vector and back, in every transform."""

import numpy as np
import pytest

import autodidax as ad
import autodidax.test_util
from autodidax import errors
from autodidax.flatten_util import ravel_pytree

TREES = {
    "dict": {"w": np.arange(6.0).reshape(2, 3), "b": np.ones(2)},
    "scalars": [1.5, np.float64(2.0), np.array(3.0)],
    "nested, with None": ({"a": np.ones(2)}, None, [np.zeros((1, 2)), ()]),
    "float32": {"a": np.ones(2, np.float32), "b": np.zeros((), np.float32)},
    "mixed real": (np.ones(2, np.float32), np.ones(1)),
    "integers beside floats": (np.arange(3), np.ones(2)),
    "complex beside real": (np.ones(2) + 1j, np.ones(2)),
    "an empty leaf": (np.ones((0, 3)), np.ones(2)),
    "no leaves": {"a": None},
    "transposed": np.arange(6.0).reshape(2, 3).T,
}


@pytest.mark.parametrize("name", TREES)
def test_there_and_back(name):
    tree = TREES[name]
    leaves = [np.asarray(x) for x in ad.tree.leaves(tree)]
    flat, unravel = ravel_pytree(tree)
    assert type(flat) is np.ndarray and flat.ndim == 1
    assert flat.dtype == (np.result_type(*[x.dtype for x in leaves]) if leaves else float)
    np.testing.assert_array_equal(flat, np.concatenate([x.ravel() for x in leaves]) if leaves else np.zeros(0))
    back = unravel(flat)
    assert ad.tree.structure(back) == ad.tree.structure(tree)
    for x, y in zip(leaves, ad.tree.leaves(back), strict=True):
        assert y.dtype == x.dtype and y.shape == x.shape
        np.testing.assert_array_equal(x, y)


def test_nothing_is_shared():
    w = np.ones(3)
    flat, unravel = ravel_pytree(w)
    assert not np.shares_memory(flat, w) and not np.shares_memory(unravel(flat), flat)


def energy(v, unravel):
    tree = unravel(v)
    return np.sum(np.sin(tree["w"])) * tree["b"] ** 2


def test_derivatives_through_unravel():
    tree = {"w": np.array([[0.1, 0.2], [0.3, 0.4]]), "b": np.array(2.0)}
    flat, unravel = ravel_pytree(tree)
    f = lambda v: energy(v, unravel)
    g = ad.grad(f)(flat)
    np.testing.assert_allclose(g, [2 * 2 * np.sin(tree["w"]).sum(), *(4 * np.cos(tree["w"])).ravel()])
    ad.test_util.check_grads(f, (flat,), order=2)
    np.testing.assert_allclose(ad.jit(ad.grad(f))(flat), g)
    rows = np.stack([flat, 2 * flat])
    np.testing.assert_allclose(ad.vmap(ad.grad(f))(rows), [ad.grad(f)(row) for row in rows])


def test_derivatives_through_ravel():
    f = lambda tree: np.sum(ravel_pytree(tree)[0] ** 3)
    g = ad.grad(f)({"a": np.array([1.0, 2.0]), "b": 3.0})
    np.testing.assert_allclose(g["a"], [3.0, 12.0])
    np.testing.assert_allclose(g["b"], 27.0)


@pytest.mark.parametrize(
    ("vector", "error"),
    [(np.ones(3), errors.ShapeError), (np.ones((2, 1)), errors.ShapeError), (np.ones(2) + 1j, errors.DtypeError)],
)
def test_vectors_that_do_not_fit(vector, error):
    _, unravel = ravel_pytree(np.ones(2))
    with pytest.raises(error, match="unravel"):
        unravel(vector)
