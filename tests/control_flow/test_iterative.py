"""cg, gmres and bicgstab against dense solutions: values, info, derivatives to order 2, batches, trees."""

import re
from functools import partial

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors, grad, hessian, jacfwd, jacrev, jit, jvp, lax, linearize, vjp, vmap
from autodidax.scipy.sparse import linalg
from autodidax.scipy.sparse.linalg import bicgstab, cg, gmres
from autodidax.test_util import check_grads

rng = np.random.default_rng(1)
N = 6
G = rng.normal(size=(N, N)) + 4.0 * np.eye(N)
S = G @ G.T
C = G + 1j * rng.normal(size=(N, N))
H = C @ C.conj().T
B = rng.normal(size=N)

# name -> (method, a matrix that it takes)
METHODS = {
    "cg": (partial(cg, tol=1e-13), S),
    "gmres": (partial(gmres, tol=1e-13), G),
    "gmres, incremental": (partial(gmres, tol=1e-13, solve_method="incremental"), G),
    "gmres, restarted": (partial(gmres, tol=1e-13, restart=3), G),
    "bicgstab": (partial(bicgstab, tol=1e-13), G),
}
each = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(name="solve")
def _solve(method):
    return lambda a, b: METHODS[method][0](a, b)[0]


@pytest.fixture(name="a")
def _a(method):
    return METHODS[method][1]


total = lambda f: lambda a, b: np.sum(np.sin(f(a, b)))
TRANSFORMS = {
    "jvp": lambda f: lambda a, b: jvp(f, (a, b), (0.3 * a, b * b))[1],
    "vjp": lambda f: lambda a, b: vjp(f, a, b)[1](b),
    "linearize": lambda f: lambda a, b: linearize(f, a, b)[1](0.3 * a, b * b),
    "hessian": lambda f: hessian(total(f), (0, 1)),
    "forward twice": lambda f: jacfwd(jacfwd(total(f), 1), 1),
    "reverse twice": lambda f: jacrev(jacrev(total(f), 1), 1),
}


def assert_close(got, want):
    for g, w in zip(ad.tree.leaves(got), ad.tree.leaves(want), strict=True):
        np.testing.assert_allclose(g, w, atol=1e-10)


@each
class TestDerivatives:
    @pytest.mark.parametrize("transform", TRANSFORMS)
    def test_against_dense(self, solve, a, transform):
        want = TRANSFORMS[transform](np.linalg.solve)(a, B)
        assert_close(TRANSFORMS[transform](solve)(a, B), want)
        assert_close(jit(TRANSFORMS[transform](solve))(a, B), want)

    @pytest.mark.parametrize("axes", [(0, 0), (None, 0), (0, None)], ids=["both", "b", "matrix"])
    def test_vmap(self, solve, a, axes):
        rows = [np.stack([a, 3.0 * a, a + np.eye(N)]), np.stack([B, np.zeros(N), 1e3 * B])]
        args = [x if axis == 0 else x[0] for x, axis in zip(rows, axes, strict=True)]
        for transform in (lambda f: f, TRANSFORMS["vjp"], TRANSFORMS["jvp"]):
            want = vmap(transform(np.linalg.solve), axes)(*args)
            assert_close(vmap(transform(solve), axes)(*args), want)
            assert_close(jit(vmap(transform(solve), axes))(*args), want)
        assert_close(grad(lambda *x: np.sum(np.sin(vmap(solve, axes)(*x))), (0, 1))(*args),
                     grad(lambda *x: np.sum(np.sin(vmap(np.linalg.solve, axes)(*x))), (0, 1))(*args))  # fmt: skip

    def test_function_with_closure(self, solve, a):
        f = lambda s: np.sum(solve(lambda x: s * (a @ x) + x, B))
        plain = lambda s: np.sum(np.linalg.solve(s * a + np.eye(N), B))
        for d in (grad, lambda f: grad(grad(f)), lambda f: jit(grad(grad(f)))):
            assert d(f)(1.3) == pytest.approx(d(plain)(1.3))

    def test_linear_transpose(self, solve, a):
        got = ad.linear_transpose(lambda b: solve(a, b), B)(B)[0]
        np.testing.assert_allclose(got, np.linalg.solve(a.T, B), rtol=1e-10)

    def test_in_scan(self, solve, a):
        f = lambda solve: lambda a, b: lax.scan(lambda c, r: (solve(a, c) + r, c), b, b)[0]
        for wrap in (lambda f: f, jit):
            assert_close(wrap(TRANSFORMS["vjp"](f(solve)))(a, B), TRANSFORMS["vjp"](f(np.linalg.solve))(a, B))

    def test_rows_stop_on_their_own(self, method, solve, a):
        """A batch gives what a loop gives, entry by entry and with the same counts."""
        run = partial(METHODS[method][0], a, maxiter=2)
        rows = np.stack([B, 0.0 * B, a @ np.ones(N)])
        x, info = vmap(run)(rows)
        want = [run(row) for row in rows]
        np.testing.assert_allclose(x, np.stack([w for w, _ in want]), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(info, [i for _, i in want])


@each
class TestValues:
    def test_info(self, method, a):
        run, zero = METHODS[method][0], np.zeros(N)
        assert [int(run(a, b)[1]) for b in (B, zero)] == [0, 0]
        x, info = run(a, B, maxiter=1, restart=2) if "gmres" in method else run(a, B, maxiter=1)
        assert info == 1 and np.linalg.norm(a @ x - B) > 1e-3
        x, info = run(a, B, x0=np.linalg.solve(a, B), maxiter=0, tol=1e-8)
        assert info == 0
        assert run(a, B * np.nan, maxiter=3)[1] != 0

    def test_tolerances(self, method, a):
        run = METHODS[method][0].func
        for tol, atol in [(1e-3, 0.0), (0.0, 1e-6), (1e-9, 1e-2)]:
            x, info = run(a, B, tol=tol, atol=atol)
            assert info == 0 and np.linalg.norm(a @ x - B) <= 1.001 * max(tol * np.linalg.norm(B), atol)

    @pytest.mark.parametrize("kind", ["matrix", "function"])
    def test_preconditioner(self, method, solve, a, kind):
        m = np.linalg.inv(a + 0.1 * np.eye(N))
        m = m if kind == "matrix" else partial(np.matmul, m)
        run = METHODS[method][0]
        x, info = run(a, B, M=m)
        assert info == 0
        np.testing.assert_allclose(x, np.linalg.solve(a, B))
        assert_close(jit(grad(lambda a, b: np.sum(run(a, b, M=m)[0]), (0, 1)))(a, B),
                     grad(lambda a, b: np.sum(np.linalg.solve(a, b)), (0, 1))(a, B))  # fmt: skip

    def test_float32(self, method, a):
        run = METHODS[method][0].func
        a, b = a.astype(np.float32), B.astype(np.float32)
        for wrap in (lambda f: f, jit):
            x = wrap(lambda a, b: run(a, b)[0])(a, b)
            assert x.dtype == np.float32 and np.allclose(a @ x, b, atol=1e-3)
            assert wrap(grad(lambda b: np.sum(run(a, b)[0])))(b).dtype == np.float32

    def test_complex(self, method):
        a, b = (H if method == "cg" else C), B + 1j
        solve = lambda a, b: METHODS[method][0](a, b)[0]
        np.testing.assert_allclose(solve(a, b), np.linalg.solve(a, b))
        np.testing.assert_allclose(jit(solve)(a, b), np.linalg.solve(a, b))
        if method != "cg":
            assert_close(vjp(solve, a, b)[1](b), vjp(np.linalg.solve, a, b)[1](b))
        assert_close(jvp(solve, (a, b), (a, b))[1], jvp(np.linalg.solve, (a, b), (a, b))[1])

    def test_tree(self, method, solve, a):
        parts = lambda v: {"u": v[:4].reshape(2, 2), "v": (v[4], v[5])}
        whole = lambda t: np.concatenate([t["u"].ravel(), np.stack(t["v"])])
        f = lambda b: whole(solve(lambda x: parts(a @ whole(x)), parts(b)))
        np.testing.assert_allclose(f(B), np.linalg.solve(a, B))
        np.testing.assert_allclose(jit(jacrev(f))(B), np.linalg.inv(a), rtol=1e-9)

    def test_integers_and_numbers(self, method, solve, a):
        run = METHODS[method][0]
        np.testing.assert_allclose(solve(np.diag(np.arange(1, 4)), np.arange(3)), [0.0, 0.5, 2 / 3])
        x, _ = run(lambda x: 4 * x, 2)
        assert x == 0.5 and x.dtype == np.float64
        assert solve(S.astype(np.float32) if method == "cg" else G.astype(np.float32), B).dtype == np.float64


@pytest.mark.parametrize("method", [m for m in METHODS if m != "gmres, restarted"])  # which is linear to its tolerance
def test_finite_differences(method, solve, a):
    f = (lambda a, b: solve(a + a.T, b)) if method == "cg" else solve
    check_grads(f, (a, B), order=2, points="given")


def test_names():
    assert sorted(linalg.__all__) == ["bicgstab", "cg", "gmres"]
    assert ad.scipy.sparse.linalg.cg is cg


def test_singular_system_has_a_finite_answer():
    for run in (cg, gmres, bicgstab):
        x, info = run(np.zeros((3, 3)), np.ones(3))
        assert np.all(np.isfinite(x)) and info != 0
    x, info = gmres(np.diag([1.0, 2.0, 0.0]), np.array([1.0, 2.0, 0.0]))
    np.testing.assert_allclose(x, [1.0, 1.0, 0.0])
    assert info == 0


def test_breakdown_of_bicgstab():
    _, info = bicgstab(np.array([[0.0, 1.0], [-1.0, 0.0]]), np.array([1.0, 0.0]))
    assert info < 0


def test_large_system_by_a_function():
    """The Laplacian of 2,000 points, of which no matrix is made."""
    n = 2000
    laplace = lambda x: 2.1 * x - np.concatenate([x[1:], x[:1]]) - np.concatenate([x[-1:], x[:-1]])
    b = np.sin(np.arange(n))
    f = lambda b: np.sum(cg(laplace, b, tol=1e-12)[0] ** 2)
    x, info = cg(laplace, b, tol=1e-12)
    assert info == 0
    np.testing.assert_allclose(laplace(x), b, atol=1e-10)
    np.testing.assert_allclose(jit(grad(f))(b), 2.0 * cg(laplace, x, tol=1e-12)[0], atol=1e-9)


BAD = {
    "matrix of another size": (lambda: cg(np.eye(3), np.ones(2)), errors.ShapeError, "A has shape (3, 3), b has 2"),
    "rectangular": (lambda: gmres(np.ones((2, 3)), np.ones(2)), errors.ShapeError, "A has shape (2, 3), b has 2"),
    "matrix and a tree": (lambda: cg(np.eye(2), (1.0, 2.0)), errors.ShapeError, "A is a matrix, b is a tuple"),
    "x0 of another shape": (
        lambda: cg(np.eye(2), np.ones(2), np.ones(3)),
        errors.ShapeError,
        "x0 has shape (3,), where b has",
    ),
    "x0 of another tree": (lambda: cg(np.eye(2), np.ones(2), (1.0,)), errors.TreeError, "x0 has another tree than b"),
    "M of another size": (lambda: cg(np.eye(2), np.ones(2), M=np.eye(3)), errors.ShapeError, "M has shape (3, 3)"),
    "map of another shape": (lambda: bicgstab(lambda x: x[:1], np.ones(2)), errors.ShapeError, "(x) has shape (1,)"),
    "map of another dtype": (lambda: gmres(lambda x: 1j * x, np.ones(2)), errors.DtypeError, "has dtype complex128"),
    "restart": (lambda: gmres(np.eye(2), np.ones(2), restart=0), errors.ArgumentError, "restart is 0"),
    "method": (lambda: gmres(np.eye(2), np.ones(2), solve_method="x"), errors.ArgumentError, "solve_method is 'x'"),
}


@pytest.mark.parametrize(("program", "error", "message"), BAD.values(), ids=BAD)
def test_errors(program, error, message):
    with pytest.raises(error, match=re.escape(message)) as e:
        program()
    assert e.value.mend


def test_sparse_matrix():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(errors.DtypeError, match="sparse matrix") as e:
        cg(sparse.eye(3).tocsr(), np.ones(3))
    assert "toarray" in e.value.mend
