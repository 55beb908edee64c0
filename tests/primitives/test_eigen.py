"""Eigenvalues and eigenvectors of general matrices, least squares: their rules, the normalization of vectors, the order
of values, and the points where eigenvalues meet."""

import numpy as np
import pytest

import autodidax as ad
from autodidax.primitives import eigen, least_squares
from autodidax.primitives.eigen import eig, eigvals, nearest
from autodidax.testing.primitives import check_primitive

PRIMITIVES = [p for module in (eigen, least_squares) for p in ad.registry.in_module(module.__name__)]


@pytest.mark.parametrize("p", PRIMITIVES, ids=str)
def test_all_rules_agree(p):
    check_primitive(p, require_complete=True, order=2).raise_if_failed()


def draw(seed, n, kind="real"):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, n))
    return x + 1j * rng.normal(size=(n, n)) if kind == "complex" else x


MATRICES = {
    "real eigenvalues": np.array([[2.0, 1.0, 0.3], [0.5, 4.0, -1.0], [0.1, 0.2, -1.0]]),
    "real and complex eigenvalues": np.array([[1.0, 5.0, 0.3], [-4.0, 2.0, 0.1], [0.2, 0.4, -3.0]]),
    "complex": draw(0, 4, "complex"),
    "large": draw(1, 12),
}


@pytest.mark.parametrize("a", MATRICES.values(), ids=MATRICES)
def test_vectors_are_differentiated_as_numpy_returns_them(a):
    t = draw(2, len(a), "complex" if a.dtype.kind == "c" else "real")
    step = 1e-6
    (w, v), (tw, tv) = ad.jvp(lambda a: eig(a), (a,), (t,))
    ahead, behind = np.linalg.eig(a + step * t), np.linalg.eig(a - step * t)
    np.testing.assert_allclose(tw, (ahead[0] - behind[0]) / (2 * step), atol=1e-6)
    np.testing.assert_allclose(tv, (ahead[1] - behind[1]) / (2 * step), atol=1e-6)
    np.testing.assert_allclose((v.conj() * tv).sum(0).real, 0, atol=1e-12)
    rows = np.where(v.imag == 0, abs(v), -1).argmax(0)
    np.testing.assert_allclose(tv[rows, np.arange(len(a))].imag, 0, atol=1e-12)
    np.testing.assert_allclose(a @ tv + t @ v, tv * w + v * tw, atol=1e-10)


@pytest.mark.parametrize("a", MATRICES.values(), ids=MATRICES)
def test_power_sums_of_eigenvalues_have_all_derivatives(a):
    def by_values(a):
        return (eigvals(a) ** 3).sum().real

    def by_products(a):
        return np.trace(a @ a @ a).real

    t = draw(3, len(a))
    f, g = by_values, by_products
    for _ in range(4):
        np.testing.assert_allclose(f(a), g(a), rtol=1e-8, atol=1e-8)
        f, g = (lambda a, f=f: ad.jvp(f, (a,), (t,))[1]), (lambda a, g=g: ad.jvp(g, (a,), (t,))[1])
    np.testing.assert_allclose(ad.grad(by_values)(a), ad.grad(by_products)(a), rtol=1e-8, atol=1e-9)
    hessians = [ad.jvp(ad.grad(f), (a,), (t,))[1] for f in (by_values, by_products)]
    np.testing.assert_allclose(*hessians, rtol=1e-7, atol=1e-8)


def test_a_function_of_a_matrix_by_its_eigenvectors():
    def square(a):
        w, v = eig(a)
        return (v * w**2) @ np.linalg.inv(v)

    a = MATRICES["real and complex eigenvalues"]
    np.testing.assert_allclose(ad.jacfwd(lambda a: square(a).real)(a), ad.jacfwd(lambda a: a @ a)(a), atol=1e-10)
    second = ad.jacfwd(ad.jacrev(lambda a: square(a).real[0, 1]))(a)
    np.testing.assert_allclose(second, ad.jacfwd(ad.jacrev(lambda a: (a @ a)[0, 1]))(a), atol=1e-9)


def test_derivatives_go_to_their_own_values_where_lapack_orders_them_in_another_way():
    a = draw(0, 160)
    w, pull = ad.vjp(eigvals, a)
    with_vectors, v = np.linalg.eig(a)
    assert not np.allclose(w, with_vectors)
    np.testing.assert_array_equal(w, np.linalg.eigvals(a))
    k = 7
    ct = np.zeros(160, complex)
    ct[k] = 1
    own = abs(with_vectors - w[k]).argmin()
    want = np.outer(np.linalg.inv(v)[own], v[:, own]).real
    np.testing.assert_allclose(pull(ct)[0], want, atol=1e-10)


def test_the_nearest_permutation():
    x = np.array([1.0, 2.0, 3.0]) + 0j
    np.testing.assert_array_equal(nearest(x, x[[2, 0, 1]] + 1e-9), [1, 2, 0])
    np.testing.assert_array_equal(nearest(np.ones(3), np.ones(3) + 1e-12), [0, 1, 2])
    np.testing.assert_array_equal(nearest(np.ones(3), np.array([1.0, np.nan, 1.0])), [0, 1, 2])


EQUAL = {
    "identity": np.eye(3),
    "zeros": np.zeros((3, 3)),
    "a plane": np.diag([2.0, 2.0, -1.0]),
    "a plane, turned": draw(5, 3) @ np.diag([2.0, 2.0, -1.0]) @ np.linalg.inv(draw(5, 3)),
}


@pytest.mark.parametrize("a", EQUAL.values(), ids=EQUAL)
def test_symmetric_functions_of_equal_eigenvalues(a):
    for values in (eigvals, lambda a: eig(a)[0]):
        gradient = ad.grad(lambda a, f=values: (f(a) ** 3).sum().real)(a)
        np.testing.assert_allclose(gradient, 3 * (a @ a).T, atol=1e-9)


def test_derivatives_of_vectors_of_equal_eigenvalues_are_nan_and_of_others_are_right():
    a, t = np.diag([2.0, 2.0, -1.0]), draw(6, 3)
    _, (_, tv) = ad.jvp(lambda a: eig(a), (a,), (t,))
    assert np.isnan(tv[:, :2]).any()
    np.testing.assert_allclose(tv[:, 2], [t[0, 2] / -3, t[1, 2] / -3, 0])


def test_eigenvalues_that_are_apart_by_much_less_than_the_largest_one():
    t = draw(7, 3)
    _, (tw, tv) = ad.jvp(lambda a: eig(a), (np.diag([1.0, 2.0, 1e15]),), (t,))
    np.testing.assert_allclose(tw, np.diag(t))
    np.testing.assert_allclose(tv[:2, :2], [[0, t[0, 1]], [-t[1, 0], 0]])


def test_derivatives_at_a_defective_matrix_are_not_finite():
    block = np.eye(3, k=1)
    gradient = ad.grad(lambda a: eigvals(a)[0].real)(block)
    assert not np.isfinite(gradient).all()
    stack = np.stack([block, np.diag([3.0, 1.0, 2.0])])
    mapped = ad.vmap(ad.grad(lambda a: eigvals(a)[0].real))(stack)
    np.testing.assert_array_equal(mapped[1], np.diag([1.0, 0, 0]))


def test_entries_of_one_modulus_keep_the_real_one_real():
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    (_, v), (_, tv) = ad.jvp(lambda a: eig(a), (turn,), (np.array([[0.3, 0.1], [0.7, -0.2]]),))
    assert not v[0].imag.any() and not tv[0].imag.any()
    assert np.isfinite(tv).all()


def test_single_precision_stays_single():
    a = MATRICES["real and complex eigenvalues"].astype(np.float32)
    loss = ad.value_and_grad(lambda a: abs(eig(a)[1]).sum() + abs(eigvals(a)).sum())
    value, gradient = loss(a)
    assert value.dtype == gradient.dtype == np.float32
    assert ad.jvp(lambda a: eig(a), (a,), (a,))[1][1].dtype == np.complex64
