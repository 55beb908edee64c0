"""Solves, determinants and factorizations: their rules, and the points where a plain formula fails."""

import itertools

import numpy as np
import pytest
import scipy.linalg

import autodidax as ad
import autodidax.numpy as anp
from autodidax import errors
from autodidax.core.avals import ShapedArray
from autodidax.primitives import expm, factorizations, solves, triangular
from autodidax.primitives.contraction import diagonals, matmul, swap_last, traces
from autodidax.primitives.factorizations import cholesky, eigh, eigvalsh, qr, singular_values, svd
from autodidax.primitives.reductions import reduce_sum
from autodidax.primitives.solves import det, det_derivative, inv, slogdet, solve
from autodidax.primitives.triangular import pull_cholesky, pull_congruence, solve_triangular
from autodidax.testing.primitives import check_primitive
from autodidax.transforms.stage import stage

PRIMITIVES = [
    p for module in (triangular, solves, factorizations, expm) for p in ad.registry.in_module(module.__name__)
]


@pytest.mark.parametrize("p", PRIMITIVES, ids=str)
def test_all_rules_agree(p):
    order = 1 if p.module == expm.__name__ else 2  # exponentials of large blocks take long; see their own test
    check_primitive(p, require_complete=True, order=order).raise_if_failed()


def leibniz(a):
    """The determinant of a 3 by 3 matrix, written out."""
    total = 0.0
    for columns in itertools.permutations(range(3)):
        sign = np.linalg.det(np.eye(3)[list(columns)])
        total = total + sign * a[0, columns[0]] * a[1, columns[1]] * a[2, columns[2]]
    return total


RANKS = {
    "rank 3": np.array([[1.0, 2.0, 3.0], [0.0, 4.0, 6.0], [0.5, -1.0, 2.0]]),
    "rank 2": np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.5, -1.0, 2.0]]),
    "rank 1": np.outer([1.0, -2.0, 0.5], [0.3, 1.0, 2.0]),
    "rank 0": np.zeros((3, 3)),
    "nearly rank 2": np.diag([1.0, 2.0, 1e-14]),
}


@pytest.mark.parametrize("a", RANKS.values(), ids=RANKS)
def test_derivatives_of_det_of_all_orders_at_every_rank(a):
    f, g = det, leibniz
    for order in range(1, 5):
        if order < 4:
            f, g = ad.jacfwd(f), ad.jacfwd(g)
            np.testing.assert_allclose(f(a), g(a), atol=1e-12)
        else:
            np.testing.assert_allclose(ad.jvp(f, (a,), (np.eye(3),))[1], 0, atol=1e-11)


def test_derivative_of_det_in_reverse_over_reverse_at_a_singular_matrix():
    a = RANKS["rank 2"]
    np.testing.assert_allclose(ad.jacrev(ad.grad(det))(a), ad.jacrev(ad.grad(leibniz))(a), atol=1e-12)
    np.testing.assert_allclose(ad.vmap(ad.grad(det))(np.stack([a, 0 * a])), [ad.grad(det)(a), 0 * a], atol=1e-12)


def test_large_cofactors_of_a_singular_matrix():
    a = np.random.default_rng(0).normal(size=(12, 12))
    a[:, 0] = a[:, 1] + a[:, 2]
    minors = [(-1) ** i * np.linalg.det(np.delete(np.delete(a, i, 0), 0, 1)) for i in range(12)]
    np.testing.assert_allclose(det_derivative(a)[:, 0], minors, rtol=1e-9)


def test_the_logarithm_of_a_singular_determinant_has_an_infinite_derivative():
    a = np.array(
        [[[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], [[2.0, 0.0], [0.0, 4.0]]]
    )
    want = [
        [[np.inf, -np.inf], [-np.inf, np.inf]], [[np.nan, np.nan], [np.nan, np.inf]],
        [[np.nan, np.nan], [np.nan, np.nan]], [[0.5, 0.0], [0.0, 0.25]],
    ]  # fmt: skip
    np.testing.assert_array_equal(ad.vmap(ad.grad(lambda a: slogdet(a)[1]))(a), want)
    np.testing.assert_array_equal(ad.grad(lambda a: slogdet(a)[1].sum())(a), want)
    guarded = ad.vmap(ad.grad(lambda a: anp.where(det(a) > 1, slogdet(a)[1], 0.0)))(a)
    np.testing.assert_array_equal(guarded[3], want[3])


GARBAGE = [
    (lower, trans, unit, batch) for lower in (0, 1) for trans in (0, 1, 2) for unit in (0, 1) for batch in ((), (3,))
]


@pytest.mark.parametrize(("lower", "trans", "unit", "batch"), GARBAGE, ids=str)
@pytest.mark.parametrize("n", [3, 20])
def test_solve_triangular_reads_its_triangle_only(lower, trans, unit, batch, n):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(*batch, n, n)) / n + 2 * np.eye(n) + 0.1j * rng.normal(size=(n, n))
    b = rng.normal(size=(*batch, n, 2)) + 0j
    other = np.triu(np.ones((n, n), bool), 1) if lower else np.tril(np.ones((n, n), bool), -1)
    if unit:
        other |= np.eye(n, dtype=bool)
    spoilt = np.where(other, np.nan, a)
    params = dict(lower=bool(lower), trans=trans, unit_diagonal=bool(unit))
    for layout in (spoilt, np.asfortranarray(spoilt)):
        got, pull = ad.vjp(lambda a, b: solve_triangular(a, b, **params), layout, b)
        for index in np.ndindex(*batch):
            want = scipy.linalg.solve_triangular(a[index], b[index], trans, bool(lower), bool(unit))
            np.testing.assert_allclose(got[index], want, rtol=1e-12)
        ga, gb = pull(np.ones_like(b))
        assert np.isfinite(ga).all() and np.isfinite(gb).all()
        assert not ga[..., other].any()


RECTANGLES = {
    "solve_triangular": lambda a, b: ad.scipy.linalg.solve_triangular(a, b),
    "cho_solve": lambda a, b: ad.scipy.linalg.cho_solve((a, True), b),
}


@pytest.mark.parametrize("name", RECTANGLES)
@pytest.mark.parametrize("transform", [ad.grad, ad.jit, lambda f: ad.jit(ad.grad(f))], ids=["grad", "jit", "both"])
@pytest.mark.parametrize(("a", "b", "message"), [
    (np.ones((3, 2)), np.ones(3), r"shape \(3, 2\) is not that of square matrices"),
    (np.ones((3, 2)), np.ones(2), r"shape \(3, 2\) is not that of square matrices"),
    (np.zeros((2, 3)), np.ones(2), r"shape \(2, 3\) is not that of square matrices"),
    (np.eye(2), np.ones(3), "does not have 2 rows"),
])  # fmt: skip
def test_triangular_systems_of_shapes_that_do_not_fit(name, transform, a, b, message):
    with pytest.raises(errors.ShapeError, match=message):
        transform(lambda a: anp.sum(RECTANGLES[name](a, b)))(a)


def test_a_zero_on_the_diagonal_of_a_triangular_system_raises():
    with pytest.raises(np.linalg.LinAlgError):
        solve_triangular(np.diag([1.0, 0.0]), np.ones((2, 1)), lower=True, trans=0, unit_diagonal=False)


@pytest.mark.parametrize(
    ("p", "params"), [(solve, {}), (solve_triangular, dict(lower=True, trans=0, unit_diagonal=False))], ids=str
)
def test_vmap_of_one_system_solves_all_right_hand_sides_at_once(p, params):
    mapped = ad.vmap(lambda a, b: p(a, b, **params), in_axes=(None, 0))
    avals = [ShapedArray((3, 3), np.float64), ShapedArray((5, 3, 2), np.float64)]
    closed, _ = stage(lambda a, b: [mapped(a, b)], avals)
    (eqn,) = (eqn for eqn in closed.jaxpr.eqns if eqn.primitive is p)
    assert eqn.outvars[0].aval.shape == (3, 10)


def test_cholesky_reads_the_lower_triangle_and_has_a_hermitian_gradient():
    a = np.array([[4.0, 1.0], [1.0, 3.0]])
    lower_only = np.tril(a)
    out, pull = ad.vjp(lambda a: cholesky(a), lower_only)
    np.testing.assert_array_equal(out, np.linalg.cholesky(a))
    g = pull(np.array([[1.0, 0.0], [2.0, 3.0]]))[0]
    np.testing.assert_allclose(g, g.T)


def test_both_pullbacks_of_cholesky_agree():
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64, np.complex64, np.complex128):
        a = (rng.normal(size=(30, 30)) + (1j * rng.normal(size=(30, 30)) if np.dtype(dtype).kind == "c" else 0)).astype(
            dtype
        )
        a = a @ a.conj().T + 30 * np.eye(30, dtype=dtype)
        ct = rng.normal(size=(30, 30)).astype(dtype)
        (plain,) = ad.vjp(cholesky, a)[1](ct)
        (batched,) = ad.vjp(cholesky, a[None])[1](ct[None])
        np.testing.assert_allclose(plain, batched[0], rtol=1e-3 if np.finfo(dtype).eps > 1e-10 else 1e-9, atol=1e-5)
        assert plain.dtype == dtype


def hermitian(x):
    return (x + x.T) / 2


def of_eigenvalues(function):
    """The matrix (v * function(w)) v^T of the symmetric part of a."""

    def matrix(a):
        w, v = eigh((a + swap_last(a)) * 0.5, lower=True)
        return matmul(v * function(w), swap_last(v))

    return matrix


def of_singular_values(function):
    def matrix(a):
        u, s, vh = svd(a, full_matrices=False)
        return matmul(u * function(s), vh)

    return matrix


def orthogonal(n, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]


EQUAL = {
    "eye": np.eye(3),
    "pair": np.diag([2.0, 2.0, 5.0]),
    "zeros": np.zeros((3, 3)),
    "a pair of zeros": np.diag([0.0, 0.0, 1.0]),
    "rotated pair": orthogonal(3) @ np.diag([2.0, 2.0, 5.0]) @ orthogonal(3).T,
}
MODES = {"fwd": ad.jacfwd, "rev": ad.jacrev}
cube = of_eigenvalues(lambda w: w * w * w)
FUNCTIONS = {
    "eigh, cube": (cube, lambda a: hermitian(a) @ hermitian(a) @ hermitian(a)),
    "eigh, the matrix itself": (of_eigenvalues(lambda w: w * 1.0), hermitian),
    "eigh, exp - 1": (of_eigenvalues(np.expm1), lambda a: expm.expm(hermitian(a)) - np.eye(3)),
    "svd, cube": (of_singular_values(lambda s: s**3), lambda a: a @ a.T @ a),
}


def agree_where_finite(got, want, atol=1e-11):
    """Share of the entries that are finite, all of which have to be right."""
    finite = np.isfinite(got)
    np.testing.assert_allclose(got[finite], want[finite], atol=atol)
    return finite.mean()


@pytest.mark.parametrize("a", EQUAL.values(), ids=EQUAL)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_wrong_number_at_equal_values(a, name):
    f, smooth = FUNCTIONS[name]
    first, second = ad.jacfwd(smooth)(a), ad.jacfwd(ad.jacfwd(smooth))(a)
    for inner, derivative in MODES.items():
        known = agree_where_finite(derivative(f)(a), first)
        for outer, again in MODES.items():
            known_twice = agree_where_finite(again(derivative(f))(a), second, atol=1e-10)
            if inner == outer == "fwd" and a.any() and not (a - np.diag(np.diagonal(a))).any():
                assert known > 0.3 and known_twice > 0.1


@pytest.mark.parametrize(("f", "a"), [
    (of_eigenvalues(np.sqrt), np.eye(2)), (of_eigenvalues(np.log), np.eye(2)),
    (of_singular_values(lambda s: s**3), np.eye(2)), (of_singular_values(np.log), np.eye(2)),
    (of_eigenvalues(lambda w: w * 1.0), np.zeros((2, 2))), (of_singular_values(lambda s: s * 1.0), np.zeros((2, 2))),
    (of_eigenvalues(np.exp), np.outer([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])),
], ids=["sqrt", "log", "svd cube", "svd log", "zeros", "svd zeros", "zeros but for rounding errors"])  # fmt: skip
def test_an_undetermined_gradient_is_nan(f, a):
    """Each has a derivative of 1/2 or more in that entry, which the cotangents of the vectors do not show."""
    for transform in (lambda f: f, ad.jit):
        assert np.isnan(transform(ad.grad(lambda a: f(a)[0, 1]))(a)[0, 1])
    assert np.isnan(ad.vmap(ad.grad(lambda a: f(a)[0, 1]))(a[None])[0, 0, 1])
    t = hermitian(np.random.default_rng(0).normal(size=a.shape))
    assert np.isnan(ad.jvp(f, (a,), (t,))[1]).any()


@pytest.mark.parametrize("transform", [lambda f: f, ad.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("values", [[1.0, 1.0, 2.0, 3.0], [2.0, 2.0, 2.0, 2.0], [1.0, 3.0, 3.0, 3.0]], ids=str)
def test_gradients_of_a_reconstruction_at_equal_values(transform, values):
    """The cotangents of the vectors are diagonal among themselves, so nothing is undetermined."""
    left, right = orthogonal(4), orthogonal(4, seed=1)
    for f, points in [
        (of_eigenvalues(lambda w: w * 1.0), [np.diag(values), left @ np.diag(values) @ left.T]),
        (of_singular_values(lambda s: s * 1.0), [np.diag(values), left @ np.diag(values) @ right]),
    ]:
        gradient = transform(ad.grad(lambda a, f=f: reduce_sum(f(a) ** 2, axes=(0, 1))))
        for a in points:
            np.testing.assert_allclose(gradient(a), 2 * a, atol=1e-12)


@pytest.mark.parametrize("a", EQUAL.values(), ids=EQUAL)
def test_first_derivatives_of_values_alone_at_equal_values(a):
    t = hermitian(np.random.default_rng(0).normal(size=(3, 3)))
    w_only = [lambda a: eigvalsh(a, lower=True), lambda a: eigh(a, lower=True)[0]]
    for f in [*w_only, lambda a: singular_values(a)]:

        def cubes(a, f=f):
            return reduce_sum(f(a) ** 3, axes=(0,))

        np.testing.assert_allclose(ad.grad(cubes)(a), 3 * a @ a, atol=1e-13)
        np.testing.assert_allclose(ad.jvp(cubes, (a,), (t,))[1], 3 * np.sum(a @ a * t), atol=1e-13)


@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
def test_second_derivatives_of_values_alone_at_equal_values_are_right_or_nan(inner, outer):
    def log_sum(a):
        return reduce_sum(np.log(eigvalsh((a + swap_last(a)) * 0.5, lower=True)), axes=(0,))

    for a in (np.eye(3), np.diag([1.0, 1.0, 2.0])):
        got = MODES[outer](MODES[inner](log_sum))(a)
        agree_where_finite(got, ad.jacfwd(ad.jacfwd(lambda a: slogdet((a + a.T) / 2)[1]))(a))
        assert np.isnan(got[0, 1, 0, 1])
        squares = MODES[outer](MODES[inner](lambda a: reduce_sum(singular_values(a) ** 2, axes=(0,))))(a)
        agree_where_finite(squares, 2 * np.eye(9).reshape(3, 3, 3, 3))


def test_well_separated_values_beside_a_large_one_keep_their_derivatives():
    a = np.diag([1.0, 2.0, 1e15])
    gradient = ad.grad(lambda a: of_eigenvalues(np.log)(a)[0, 1])(a)
    np.testing.assert_allclose(gradient[0, 1], np.log(2) / 2)
    gradient = ad.grad(lambda a: of_singular_values(np.log)(a)[0, 1])(a)
    # half the quotient of the difference, and plus or minus half that of the sum, by the gap and by the sum
    np.testing.assert_allclose(gradient[:2, :2], [[0, 2 / 3 * np.log(2)], [1 / 3 * np.log(2), 0]])


@pytest.mark.parametrize("gap", [1e-13, 1e-11, 1e-9], ids=str)
def test_close_values_that_are_not_equal(gap):
    q, c = orthogonal(3), np.random.default_rng(1).normal(size=(3, 3))
    a = q @ np.diag([1.0, 1.0 + gap, 3.0]) @ q.T
    quotients = np.array([[1, 1, np.log(3) / 2], [1, 1, np.log(3) / 2], [np.log(3) / 2, np.log(3) / 2, 1 / 3]])
    want = q @ (quotients * (q.T @ hermitian(c) @ q)) @ q.T
    got = ad.grad(lambda a: reduce_sum(of_eigenvalues(np.log)(a) * c, axes=(0, 1)))(a)
    np.testing.assert_allclose(got, want, atol=1e-8)


def test_the_vectors_of_a_single_value_among_equal_ones():
    """The vector of the largest eigenvalue is smooth, whatever the others are: of a matrix of rank 3, six by six."""
    rng = np.random.default_rng(0)
    half = rng.normal(size=(6, 3))
    a, t = half @ half.T, hermitian(rng.normal(size=(6, 6)))

    def f(a):
        v = eigh(a, lower=True)[1][:, -1]
        return v[0] * v[1]

    numeric = (f(a + 1e-5 * t) - f(a - 1e-5 * t)) / 2e-5
    np.testing.assert_allclose(ad.jvp(f, (a,), (t,))[1], numeric, rtol=1e-6)
    np.testing.assert_allclose(np.sum(ad.grad(f)(a) * t), numeric, rtol=1e-6)
    exact, t = np.diag([1.0, 1.0, 3.0]), t[:3, :3]
    np.testing.assert_allclose(ad.jvp(f, (exact,), (t,))[1], 0, atol=1e-15)  # forward mode knows the unused columns
    np.testing.assert_allclose(ad.jvp(lambda a: eigh(a, lower=True)[1][0, -1], (exact,), (t,))[1], t[0, 2] / 2)


def test_a_zero_singular_value():
    product = of_singular_values(lambda s: s * 1.0)
    for a in (np.diag([1.0, 2.0, 0.0]), np.eye(3)[:, :2] * [1.0, 0.0], np.zeros((3, 2))):
        for mode in MODES.values():
            agree_where_finite(mode(product)(a), np.eye(a.size).reshape(*a.shape, *a.shape))
    gradient = ad.grad(lambda a: reduce_sum(product(a) ** 2, axes=(0, 1)))(np.diag([1.0, 2.0, 0.0]))
    np.testing.assert_allclose(gradient, np.diag([2.0, 4.0, 0.0]), atol=1e-14)
    assert np.isnan(ad.grad(lambda a: product(a)[2, 1])(np.eye(3)[:, :2] * [1.0, 0.0])[2, 1])


def test_the_unitary_polar_factor():
    """u vh is smooth at every regular matrix; at equal singular values its derivative is 0 / 0 in this form."""
    rng = np.random.default_rng(0)
    t = rng.normal(size=(3, 3))
    polar = of_singular_values(lambda s: 1.0)
    a = orthogonal(3) @ np.diag([2.0, 3.0, 5.0])
    numeric = (scipy.linalg.polar(a + 1e-5 * t)[0] - scipy.linalg.polar(a - 1e-5 * t)[0]) / 2e-5
    np.testing.assert_allclose(ad.jvp(polar, (a,), (t,))[1], numeric, atol=1e-8)
    assert np.isnan(ad.jvp(polar, (2 * orthogonal(3),), (t,))[1]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.complex128], ids=str)
def test_equal_values_of_other_dtypes(dtype):
    q = orthogonal(3).astype(dtype)
    if np.dtype(dtype).kind == "c":
        q = q * np.exp(1j * np.arange(3)).astype(dtype)[:, None]
    a = (q * np.array([2, 2, 5], dtype)) @ q.conj().T

    def squares(a, power):
        w, v = eigh(a, lower=True)
        product = matmul(v * w**power, swap_last(conjugate(v)))
        return reduce_sum(ad.registry["real"](product * conjugate(product)), axes=(0, 1))

    gradient = ad.grad(lambda a: squares(a, 1))(a)
    assert gradient.dtype == dtype
    np.testing.assert_allclose(gradient, 2 * a.conj(), atol=100 * np.finfo(dtype).eps)
    factor = np.array([[1, 2, 0], [3, 4, 0], [0, 0, 5]], dtype)

    def entry(a):
        w, v = eigh(a, lower=True)
        return reduce_sum(ad.registry["real"](matmul(v * w, swap_last(conjugate(v))) * factor), axes=(0, 1))

    assert np.isnan(ad.grad(entry)(a)).any()


def invariants(name, a):
    """Functions of a factorization that depend neither on phases nor on the basis of the rest."""
    if name == "eigh":
        w, v = eigh(a, lower=True)
        return [w, matmul(v * (w * w), conjugate(swap_last(v)))]
    if name.startswith("svd"):
        u, s, vh = svd(a, full_matrices=name == "svd full")
        k = s.shape[0]
        rest = u[:, k:]
        return [s, matmul(u[:, :k] * (s * s), vh[:k]), matmul(rest, conjugate(swap_last(rest)))]
    q, r = qr(a, complete=name == "qr complete")
    k = min(a.shape)
    return [q[:, :k], r, matmul(q[:, k:], conjugate(swap_last(q[:, k:])))]


def conjugate(x):
    return ad.registry["conj"](x) if np.dtype(x.dtype).kind == "c" else x


FACTORED = [("eigh", (3, 3))]
FACTORED += [(name, shape) for name in ("svd", "svd full", "qr", "qr complete") for shape in ((3, 3), (4, 2), (2, 4))]


@pytest.mark.parametrize(("name", "shape"), FACTORED, ids=str)
@pytest.mark.parametrize("kind", ["real", "complex"])
def test_derivatives_that_depend_on_no_choice(name, shape, kind):
    rng = np.random.default_rng(2)
    a, t = ([1, 1j] @ rng.normal(size=(2, *shape)).reshape(2, -1) for _ in range(2))
    a, t = (x.reshape(shape) for x in (a, t))
    a, t = (a, t) if kind == "complex" else (a.real, t.real)
    if name == "eigh":
        a, t = ((x + x.conj().T) / 2 for x in (a, t))
    got = ad.jvp(lambda a: invariants(name, a), (a,), (t,))[1]
    second = ad.jvp(lambda a: ad.jvp(lambda b: invariants(name, b), (a,), (t,))[1], (a,), (t,))[1]
    ahead, at, behind = (invariants(name, a + h * t) for h in (1e-4, 0.0, -1e-4))
    for g, h, x, y, z in zip(got, second, ahead, at, behind, strict=True):
        np.testing.assert_allclose(g, (x - z) / 2e-4, atol=1e-5)
        np.testing.assert_allclose(h, (x - 2 * y + z) / 1e-8, atol=2e-5 * max(1, np.abs(h).max(initial=0)))


def test_expm_to_third_order():
    a = np.random.default_rng(0).normal(size=(3, 3)) / 2

    def f(x):  # along a itself the exponential has all derivatives at hand
        return expm.expm(x * a)

    for power in range(4):
        np.testing.assert_allclose(f(1.0), np.linalg.matrix_power(a, power) @ scipy.linalg.expm(a), atol=1e-12)
        f = ad.jacfwd(f)


REFUSED = [
    (inv, (2, 3), {}), (det, (3,), {}), (cholesky, (2, 3), {}), (slogdet, (2, 3), {}), (eigh, (2, 3), {"lower": True}),
    (svd, (3,), {"full_matrices": False}), (qr, (3,), {"complete": False}),
]  # fmt: skip


@pytest.mark.parametrize(("p", "shape", "params"), REFUSED, ids=lambda x: str(x))
def test_staging_refuses_shapes_and_dtypes(p, shape, params):
    with pytest.raises(errors.ShapeError, match=r"\("):
        p.abstract_eval(ShapedArray(shape, np.float64), **params)
    with pytest.raises(errors.DtypeError, match="float16"):
        p.abstract_eval(ShapedArray((2, 2), np.float16), **params)


def test_staging_refuses_a_right_hand_side_of_another_size():
    with pytest.raises(errors.ShapeError, match="3 rows"):
        solve.abstract_eval(ShapedArray((3, 3), np.float64), ShapedArray((2, 1), np.float64))


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)], ids=str)
def test_diagonals_and_traces(batch):
    a = np.random.default_rng(0).normal(size=(*batch, 3, 3))
    np.testing.assert_array_equal(diagonals(a), np.diagonal(a, axis1=-2, axis2=-1))
    np.testing.assert_allclose(traces(a), np.trace(a, axis1=-2, axis2=-1))


@pytest.mark.parametrize("n", [129, 200])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.float32], ids=str)
def test_the_pullback_of_a_large_cholesky_goes_by_panels(n, dtype):
    rng = np.random.default_rng(n)
    a, ct = (draw + 1j * draw.T if dtype is np.complex128 else draw for draw in rng.normal(size=(2, n, n)))
    factor = np.linalg.cholesky(a @ a.conj().T + n * np.eye(n)).astype(dtype)
    by_panels, whole = (f(factor, ct.astype(dtype)) for f in (pull_cholesky, pull_congruence))
    want = whole + whole.conj().T
    assert by_panels.dtype == dtype
    np.testing.assert_allclose(by_panels + by_panels.conj().T, want, atol=20 * np.finfo(dtype).eps * abs(want).max())
