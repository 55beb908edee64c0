"""custom_linear_solve, custom_root and fixed_point: implicit derivatives against those of unrolled computations, under
every transform, to order 2."""

import re

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors, grad, hessian, jacfwd, jacobian, jacrev, jit, jvp, lax, linearize, vjp, vmap
from autodidax.test_util import check_grads

rng = np.random.default_rng(0)
A = rng.normal(size=(3, 3)) + 4.0 * np.eye(3)
S = A @ A.T
B = rng.normal(size=3)
C = A + 1j * rng.normal(size=(3, 3))


def solved(a, b):
    """A x = b with the matrix as what matvec and both solvers close over."""
    return lax.custom_linear_solve(
        lambda x: a @ x, b, lambda _, b: np.linalg.solve(a, b), lambda _, b: np.linalg.solve(a.T, b)
    )


def dense(matvec, b):
    """Solves with what matvec gives alone."""
    return np.linalg.solve(jacobian(matvec)(b), b)


def richardson(matvec, b):
    """A loop that leaves as soon as the value says so: plain Python, or staged."""
    change = lambda x: (b - matvec(x)) * 0.2
    return lax.while_loop(lambda x: np.sum(np.abs(change(x))) > 1e-15, lambda x: x + change(x), b * 0.0)


def python_newton(f, x):
    for _ in range(50):
        residual = f(x)
        if np.max(np.abs(residual)) < 1e-14:
            return x
        x = x - np.linalg.solve(jacfwd(f)(x), residual)
    raise AssertionError("no root")


def newton(f, x):
    return lax.fori_loop(0, 12, lambda _, x: x - np.linalg.solve(jacfwd(f)(x), f(x)), x)


def dense_tangents(g, y):
    return np.linalg.solve(jacobian(g)(y), y)


def iterated_tangents(g, y):
    return lax.custom_linear_solve(g, y, dense, dense)


def root_by(solve, tangent_solve=dense_tangents):
    return lambda a, b: lax.custom_root(lambda x: a @ x + 0.1 * x**3 - b, np.zeros(3), solve, tangent_solve)


def unrolled_root(a, b):
    x = b * 0.0
    for _ in range(12):
        x = x - np.linalg.solve(a + 0.3 * np.eye(3) * x**2, a @ x + 0.1 * x**3 - b)
    return x


def contraction(x, a, b):
    return np.tanh(0.05 * a @ x) + b


def unrolled_fixed_point(a, b):
    x = b * 0.0
    for _ in range(60):
        x = contraction(x, a, b)
    return x


def as_tree(a, b):
    """A system of a tree: {"u": (2,), "v": ()}."""
    matrix = lambda x: a @ np.concatenate([x["u"], x["v"][None]])
    parts = lambda v: {"u": v[:2], "v": v[2]}
    whole = lambda t: np.concatenate([t["u"], t["v"][None]])
    x = lax.custom_linear_solve(
        lambda x: parts(matrix(x)), parts(b), lambda _, b: parts(np.linalg.solve(a, whole(b))),
        lambda _, b: parts(np.linalg.solve(a.T, whole(b))),
    )  # fmt: skip
    return whole(x)


# name -> (with an implicit derivative, the same computation unrolled), functions of a matrix and a vector
PROGRAMS = {
    "solve with closures": (solved, np.linalg.solve),
    "solve of matvec": (lambda a, b: lax.custom_linear_solve(lambda x: a @ x, b, dense, dense), np.linalg.solve),
    "iterated solve": (
        lambda a, b: lax.custom_linear_solve(lambda x: a @ x, b, richardson, richardson), np.linalg.solve,
    ),
    "solve on a tree": (as_tree, np.linalg.solve),
    "symmetric": (
        lambda a, b: lax.custom_linear_solve(lambda x: (a + a.T) @ x, b, dense, symmetric=True),
        lambda a, b: np.linalg.solve(a + a.T, b),
    ),
    "with aux": (
        lambda a, b: lax.custom_linear_solve(
            lambda x: a @ x, b, lambda m, b: (dense(m, b), 1), lambda m, b: (dense(m, b), 1), has_aux=True
        )[0],
        np.linalg.solve,
    ),
    "root": (root_by(newton), unrolled_root),
    "root, tangents by a solve": (root_by(newton, iterated_tangents), unrolled_root),
    "fixed point": (
        lambda a, b: lax.fixed_point(contraction, np.zeros(3), a, b, tol=1e-15), unrolled_fixed_point,
    ),
    "solve in scan": (
        lambda a, b: lax.scan(lambda c, r: (solved(a, c) + r, c), b, b)[0],
        lambda a, b: lax.scan(lambda c, r: (np.linalg.solve(a, c) + r, c), b, b)[0],
    ),
    "solve in while": (
        lambda a, b: lax.while_loop(lambda c: np.sum(np.abs(c)) > 0.1, lambda c: solved(a, c), b),
        lambda a, b: lax.while_loop(lambda c: np.sum(np.abs(c)) > 0.1, lambda c: np.linalg.solve(a, c), b),
    ),
    "solve in cond": (
        lambda a, b: lax.cond(b[0] > 0, lambda b: solved(a, b), lambda b: solved(a.T, b), b),
        lambda a, b: np.linalg.solve(np.where(b[0] > 0, a, a.T), b),
    ),
    "root of a scan": (
        lambda a, b: lax.custom_root(
            lambda x: lax.scan(lambda c, r: (a @ c * 0.2 + r, None), x, b)[0] + 3.0 * x, b, newton, dense_tangents
        ),
        lambda a, b: np.linalg.solve(
            np.linalg.matrix_power(a * 0.2, 3) + 3.0 * np.eye(3),
            -(b[0] * (0.04 * a @ a) @ np.ones(3) + b[1] * 0.2 * a @ np.ones(3) + b[2]),
        ),
    ),
    "solve in a root": (
        lambda a, b: lax.custom_root(lambda x: solved(a, x) + x - b, b, newton, dense_tangents),
        lambda a, b: np.linalg.solve(np.linalg.inv(a) + np.eye(3), b),
    ),
}  # fmt: skip

total = lambda f: lambda a, b: np.sum(np.sin(f(a, b)))
TRANSFORMS = {
    "value": lambda f: f,
    "jvp": lambda f: lambda a, b: jvp(f, (a, b), (0.3 * A.T, B * B))[1],
    "vjp": lambda f: lambda a, b: vjp(f, a, b)[1](B),
    "linearize": lambda f: lambda a, b: linearize(f, a, b)[1](0.3 * A.T, B * B),
    "hessian": lambda f: hessian(total(f), (0, 1)),
    "forward twice": lambda f: jacfwd(jacfwd(total(f), 1), (0, 1)),
    "reverse twice": lambda f: jacrev(jacrev(total(f), 1), (0, 1)),
    "reverse over forward": lambda f: jacrev(jacfwd(total(f), 1), (0, 1)),
}


def assert_close(got, want, atol=1e-11):
    assert ad.tree.structure(got) == ad.tree.structure(want)
    for g, w in zip(ad.tree.leaves(got), ad.tree.leaves(want), strict=True):
        np.testing.assert_allclose(g, w, atol=atol)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("program", PROGRAMS)
class TestAgainstUnrolled:
    @pytest.fixture
    def want(self, program, transform):
        return TRANSFORMS[transform](PROGRAMS[program][1])(A, B)

    def test_eager(self, program, transform, want):
        assert_close(TRANSFORMS[transform](PROGRAMS[program][0])(A, B), want)

    def test_jit(self, program, transform, want):
        assert_close(jit(TRANSFORMS[transform](PROGRAMS[program][0]))(A, B), want)

    @pytest.mark.parametrize("axes", [(0, 0), (None, 0), (0, None)], ids=["both", "b", "matrix"])
    def test_vmap(self, program, transform, axes):
        f, plain = PROGRAMS[program]
        matrices, vectors = np.stack([A, A.T + 1.0]), np.stack([B, -2.0 * B])
        args = [rows if axis == 0 else rows[0] for rows, axis in zip((matrices, vectors), axes, strict=True)]
        rows = [[x[i] if axis == 0 else x for x, axis in zip(args, axes, strict=True)] for i in range(2)]
        want = [TRANSFORMS[transform](plain)(*row) for row in rows]
        want = ad.tree.map(lambda *x: np.stack(x), *want)
        assert_close(vmap(TRANSFORMS[transform](f), axes)(*args), want)
        if transform in ("value", "vjp"):
            assert_close(jit(vmap(TRANSFORMS[transform](f), axes))(*args), want)


class TestLinearSolve:
    def test_finite_differences(self):
        check_grads(solved, (A, B), order=2)
        check_grads(solved, (C, B + 1j), order=2)
        check_grads(as_tree, (A, B), order=2)

    def test_third_order(self):
        third = lambda f: grad(lambda s: grad(lambda s: grad(lambda s: np.sum(f(A + s * S, s * B)))(s))(s))(0.7)
        assert third(solved) == pytest.approx(third(np.linalg.solve))

    def test_linear_transpose(self):
        for has_aux in (False, True):
            wrapped = (lambda x: (x, 3)) if has_aux else (lambda x: x)
            f = lambda b: lax.custom_linear_solve(
                lambda x: A @ x, b, lambda _, b: wrapped(np.linalg.solve(A, b)),  # noqa: B023  # called at once
                lambda _, b: wrapped(np.linalg.solve(A.T, b)), has_aux=has_aux,  # noqa: B023  # called at once
            )  # fmt: skip
            first = (lambda b: f(b)[0]) if has_aux else f  # noqa: B023  # called at once
            (got,) = ad.linear_transpose(first, B)(B)
            np.testing.assert_allclose(got, np.linalg.solve(A.T, B), rtol=1e-12)
            again = ad.linear_transpose(lambda ct: ad.linear_transpose(first, B)(ct)[0], B)  # noqa: B023  # called at once
            np.testing.assert_allclose(again(B)[0], np.linalg.solve(A, B), rtol=1e-12)

    def test_auxiliary_value_is_not_linear(self):
        f = lambda b: lax.custom_linear_solve(lambda x: A @ x, b, lambda m, b: (dense(m, b), np.sum(b)), has_aux=True)
        with pytest.raises(errors.NotLinearError):
            ad.linear_transpose(lambda b: f(b)[1], B)(1.0)

    def test_derivatives_leave_the_symmetric_matrices(self):
        """The Hessian in the entries of a symmetric matrix, one by one."""
        f = lambda s: lax.custom_linear_solve(lambda x: s @ x, B, dense, symmetric=True)
        for d in (jacrev(jacrev(lambda s: np.sum(np.sin(f(s))))), jacfwd(jacfwd(lambda s: np.sum(np.sin(f(s)))))):
            np.testing.assert_allclose(d(S), hessian(lambda s: np.sum(np.sin(np.linalg.solve(s, B))))(S), atol=1e-14)

    def test_eager_solvers_are_plain_python(self):
        kinds = []

        def solve(matvec, b):
            kinds.append(type(b))
            x = b / 5.0
            while np.linalg.norm(b - matvec(x)) > 1e-13:
                x = x + (b - matvec(x)) / 5.0
            return x

        f = lambda a, b: lax.custom_linear_solve(lambda x: a @ x, b, solve, solve)
        np.testing.assert_allclose(f(A, B), np.linalg.solve(A, B))
        assert_close(vjp(f, A, B)[1](B), vjp(np.linalg.solve, A, B)[1](B))
        assert_close(linearize(f, A, B)[1](S, B), jvp(np.linalg.solve, (A, B), (S, B))[1])
        assert_close(grad(lambda b: grad(lambda b: np.sum(np.sin(f(A, b))))(b)[0])(B),
                     grad(lambda b: grad(lambda b: np.sum(np.sin(np.linalg.solve(A, b))))(b)[0])(B))  # fmt: skip
        assert set(kinds) == {np.ndarray}

    def test_auxiliary_trees_of_both_solvers(self):
        f = lambda b: lax.custom_linear_solve(
            lambda x: A @ x, b, lambda m, b: (dense(m, b), {"n": 3, "sum": np.sum(b)}), lambda m, b: (dense(m, b), ()),
            has_aux=True,
        )  # fmt: skip
        for wrap in (lambda f: f, jit):
            slope, aux = wrap(grad(lambda b: (np.sum(f(b)[0]), f(b)[1]), has_aux=True))(B)
            np.testing.assert_allclose(slope, np.linalg.solve(A.T, np.ones(3)))
            assert set(aux) == {"n", "sum"} and aux["n"] == 3 and aux["sum"] == pytest.approx(np.sum(B))

    def test_program_keeps_the_values_that_solvers_close_over(self):
        a = A.copy()
        program = ad.make_jaxpr(lambda b: np.sum(solved(a, b)))(B)
        a *= 10.0
        f = lambda b: ad.eval_jaxpr(program.jaxpr, program.consts, b)[0]
        np.testing.assert_allclose(grad(f)(B), np.linalg.solve(A.T, np.ones(3)))

    def test_captured_by_the_solver_alone(self):
        """What only the solver reads has no derivative, also as a row of a batch inside a gradient."""
        guesses = np.stack([B, np.ones(3)])

        def f(a):
            transposed = lambda _, b: np.linalg.solve(a.T, b)
            solve = lambda x0: lambda _, b: np.linalg.solve(a, b - a @ x0) + x0
            return np.sum(vmap(lambda x0: lax.custom_linear_solve(lambda x: a @ x, B, solve(x0), transposed))(guesses))

        assert_close(grad(f)(A), 2.0 * grad(lambda a: np.sum(np.linalg.solve(a, B)))(A))
        inner = lambda g: lax.custom_linear_solve(
            lambda x: A @ x, B, lambda _, b: np.linalg.solve(A, b) + 0.0 * g, dense
        )
        np.testing.assert_array_equal(grad(lambda g: np.sum(inner(g)))(B), np.zeros(3))

    @pytest.mark.parametrize("wrap", [lambda f: f, jit, grad, lambda f: jit(grad(f))], ids=["f", "jit", "grad", "both"])
    def test_float32(self, wrap):
        a, b = A.astype(np.float32), B.astype(np.float32)
        assert wrap(lambda b: np.sum(solved(a, b)))(b).dtype == np.float32
        assert wrap(lambda b: np.sum(lax.fixed_point(contraction, b * 0, a, b)))(b).dtype == np.float32
        assert wrap(lambda b: np.sum(root_by(newton)(a, b).astype(np.float32)))(b).dtype == np.float32

    def test_result_shares_no_memory_with_b(self):
        b = B.copy()
        x = lax.custom_linear_solve(lambda x: x, b, lambda _, b: b)
        assert not np.shares_memory(x, b)

    def test_scalar(self):
        f = lambda a: lax.custom_linear_solve(lambda x: a * x, 1.0, lambda _, b: b / a, symmetric=True)
        assert f(4.0) == 0.25 and grad(f)(4.0) == -0.0625 and grad(grad(f))(4.0) == pytest.approx(2 / 64)


class TestRoot:
    def test_finite_differences(self):
        check_grads(root_by(newton), (A, B), order=2, points="given")
        fixed = lambda a, b: lax.fixed_point(contraction, np.zeros(3), a, b, tol=1e-16)
        check_grads(fixed, (A, B), order=2, points="given")

    def test_eager_solver_is_plain_python(self):
        f = root_by(python_newton)
        for transform in ("value", "jvp", "vjp", "linearize", "hessian"):
            assert_close(TRANSFORMS[transform](f)(A, B), TRANSFORMS[transform](unrolled_root)(A, B))

    def test_scalar_with_aux(self):
        def bisection(f, _):
            low, high, steps = 0.0, 4.0, 0
            while high - low > 1e-14:
                middle, steps = 0.5 * (low + high), steps + 1
                low, high = (low, middle) if f(middle) > 0 else (middle, high)
            return 0.5 * (low + high), steps

        def f(y):
            return lax.custom_root(lambda x: x * x - y, 1.0, bisection, lambda g, y: y / g(1.0), has_aux=True)

        (x, steps), aux_grad = f(2.0), grad(lambda y: f(y)[0])(2.0)
        assert x == pytest.approx(np.sqrt(2.0)) and steps == 49 and aux_grad == pytest.approx(0.5 / np.sqrt(2.0))
        slope, steps = grad(f, has_aux=True)(2.0)
        assert slope == pytest.approx(0.5 / np.sqrt(2.0)) and steps == 49
        assert grad(grad(lambda y: f(y)[0]))(2.0) == pytest.approx(-0.25 * 2.0**-1.5)

    def test_no_dependence_and_guess(self):
        f = lambda y, guess: lax.custom_root(
            lambda x: x**3 - 8.0, guess, lambda f, x: x - x + 2.0, lambda g, y: y / g(1.0)
        )
        assert grad(f)(1.0, 1.5) == 0.0 and grad(f, 1)(1.0, 1.5) == 0.0 and grad(f, 1)(1.0, 2.0) == 0.0

    def test_integer_guess(self):
        f = lambda y: lax.custom_root(
            lambda x: x - y, np.zeros(2, int), lambda f, x: x - f(x), lambda g, y: y
        )  # fmt: skip
        for run in (f, jit(f)):
            np.testing.assert_array_equal(run(B[:2]), B[:2])
        np.testing.assert_array_equal(jacrev(f)(B[:2]), np.eye(2))

    def test_complex(self):
        f = lambda c: lax.custom_root(
            lambda z: z * z - c, 1.0 + 0j, lambda f, z: lax.fori_loop(0, 40, lambda _, z: z - f(z) / (2 * z), z),
            lambda g, y: y / g(1.0 + 0j),
        )  # fmt: skip
        assert grad(f, holomorphic=True)(-2.0 + 1j) == pytest.approx(0.5 / np.sqrt(-2.0 + 1j))
        assert jit(grad(f, holomorphic=True))(-2.0 + 1j) == pytest.approx(0.5 / np.sqrt(-2.0 + 1j))


class TestFixedPoint:
    def test_tree(self):
        f = lambda x, a: {"u": 0.5 * np.cos(x["v"]) * a, "v": 0.3 * x["u"] + np.sin(a)}
        solve = lambda a: lax.fixed_point(f, {"u": 0.0, "v": 0.0}, a, tol=1e-15)["u"]
        plain = lambda a: [x := {"u": 0.0, "v": 0.0}, *[x := f(x, a) for _ in range(60)]][-1]["u"]
        for d in (lambda f: f, grad, lambda f: grad(grad(f)), lambda f: jacfwd(jacrev(f))):
            assert d(solve)(0.8) == pytest.approx(d(plain)(0.8), abs=1e-12)
            assert jit(d(solve))(0.8) == pytest.approx(d(plain)(0.8), abs=1e-12)

    def test_rows_converge_on_their_own(self):
        f = lambda a: lax.fixed_point(lambda x: a * x + 1.0, 0.0, maxiter=60)
        rows = np.array([0.5, 1.0, 0.1])
        np.testing.assert_allclose(vmap(f)(rows), [2.0, np.nan, 1.0 / 0.9])
        np.testing.assert_allclose(vmap(grad(f))(rows[[0, 2]]), [4.0, 1.0 / 0.81], rtol=1e-8)
        assert np.isnan(jit(f)(1.0))

    def test_no_convergence(self):
        with pytest.raises(
            errors.ConvergenceError, match=r"after 20 iterations, <lambda> still changes x by up to 1\n"
        ):
            lax.fixed_point(lambda x: x + 1.0, 0.0, maxiter=20)


def lift(f):
    """Inside of a transform, where the functions are staged."""
    return lambda: grad(lambda s: f() + s)(0.0)


one = np.ones(2)
BAD = {
    "matvec of another shape": (
        lambda: lax.custom_linear_solve(lambda x: x[:1], one, lambda m, b: m(b) * b),
        errors.ShapeError, "(x) has shape (1,), b has shape (2,)",
    ),
    "matvec of another tree": (
        lambda: lax.custom_linear_solve(lambda x: (x, x), one, lambda m, b: m(b)[0]),
        errors.TreeError, "(x) has another tree than",
    ),
    "matvec of another dtype": (
        lambda: lax.custom_linear_solve(lambda x: 1j * x, one, lambda m, b: np.abs(m(b))),
        errors.DtypeError, "(x) has dtype complex128, b has dtype float64",
    ),
    "solution of another shape": (
        lambda: lax.custom_linear_solve(lambda x: x, one, lambda m, b: np.ones(3)),
        errors.ShapeError, "the result of <lambda> has shape (3,), b has shape (2,)",
    ),
    "solution of another dtype": (
        lambda: lax.custom_linear_solve(lambda x: x, one.astype(np.float32), lambda m, b: np.ones(2)),
        errors.DtypeError, "the result of <lambda> has dtype float64, b has dtype float32",
    ),
    "no pair with aux": (
        lambda: lax.custom_linear_solve(lambda x: x, one, lambda m, b: b, has_aux=True),
        errors.ArgumentError, "must return a pair (x, aux)",
    ),
    "integer right-hand side": (
        lambda: lax.custom_linear_solve(lambda x: x, np.arange(2), lambda m, b: b),
        errors.DtypeError, "has dtype int64",
    ),
    "residual of another shape": (
        lambda: lax.custom_root(lambda x: x[:1], one, lambda f, x: x + np.sum(f(x)), lambda g, y: y),
        errors.ShapeError, "(x) has shape (1,), the guess has shape (2,)",
    ),
    "residual of another tree": (
        lambda: lax.custom_root(lambda x: (x,), one, lambda f, x: f(x)[0], lambda g, y: y),
        errors.TreeError, "(x) has another tree than",
    ),
    "root of another shape": (
        lambda: lax.custom_root(lambda x: x, one, lambda f, x: 1.0, lambda g, y: y),
        errors.ShapeError, "the result of <lambda> has shape (), the guess has shape (2,)",
    ),
    "map of another shape": (
        lambda: lax.fixed_point(lambda x: x[:1] * 0.5, one), errors.ShapeError, "has shape (1,), x0 has shape (2,)",
    ),
    "maxiter": (lambda: lax.fixed_point(lambda x: x, 1.0, maxiter=0), errors.ArgumentError, "maxiter is 0"),
    "no function": (
        lambda: lax.custom_linear_solve(np.eye(2), one, lambda m, b: b), errors.ArgumentError, "takes a function",
    ),
}  # fmt: skip


@pytest.mark.parametrize("where", [lambda f: f, lift], ids=["eager", "in a transform"])
@pytest.mark.parametrize(("program", "error", "message"), BAD.values(), ids=BAD)
def test_errors(program, error, message, where):
    with pytest.raises(error, match=re.escape(message)) as e:
        where(program)()
    assert e.value.mend


def test_reverse_mode_without_a_transposed_solver():
    f = lambda b: np.sum(lax.custom_linear_solve(lambda x: A @ x, b, dense))
    assert jvp(f, (B,), (B,))[1] == pytest.approx(np.sum(np.linalg.solve(A, B)))
    with pytest.raises(errors.ArgumentError, match="transposed system, for which no function was given") as e:
        grad(f)(B)
    assert "transpose_solve" in e.value.mend


def test_matvec_that_is_not_linear():
    f = lambda b: np.sum(lax.custom_linear_solve(lambda x: np.sin(x), b, lambda m, b: b, lambda m, b: m(b)))
    with pytest.raises(errors.NotLinearError, match="sin"):
        grad(f)(B)


def test_tangent_solve_that_is_not_linear():
    f = lambda y: lax.custom_root(lambda x: x - y, 1.0, lambda f, x: x - f(x), lambda g, y: y * y)
    with pytest.raises(errors.NotLinearError, match="custom_root: <lambda> is not linear in the right-hand side"):
        grad(f)(2.0)


def test_an_eager_solve_checks_a_function_that_its_solver_does_not_call():
    with pytest.raises(errors.ShapeError, match=r"has shape \(2,\), the guess has shape \(3,\)"):
        lax.custom_root(lambda x: x[:2], B, lambda f, x: x, lambda g, y: y)
    with pytest.raises(errors.NotLinearError, match="must be linear, and its value at zero is not zero"):
        lax.custom_linear_solve(lambda x: x + 1.0, B, lambda _, b: b - 1.0)


def test_an_operator_that_holds_nan_is_no_affine_one():
    x = lax.custom_linear_solve(lambda x: np.array([np.nan, np.inf]) * x, np.ones(2), lambda _, b: b)
    np.testing.assert_array_equal(x, 1.0)


def test_a_root_in_integers_has_its_derivative():
    f = lambda y: lax.custom_root(lambda x: x - y, 1.0, lambda f, x: 2, lambda g, y: y) * 3.0
    assert type(lax.custom_root(lambda x: x - 2, 1.0, lambda f, x: 2, lambda g, y: y)) is np.float64
    for d in (grad(f), jit(grad(f)), jacfwd(f)):
        assert d(2.0) == 3.0


# f(x, a), its fixed point at a = 2, and whether df/dx has an eigenvalue of modulus 1 or more there
DERIVATIVES = {
    "contraction": (lambda x, a: 0.5 * x + 0.5 * a, 2.0, False),
    "contraction that a does not move": (lambda x, a: 0.5 * x + 0.0 * a + 1.0, 2.0, False),
    "identity": (lambda x, a: x + 0.0 * a, 2.0, True),
    "tangent to the identity": (lambda x, a: x - (x - a) ** 2, 2.0, True),
    "reflection": (lambda x, a: 2.0 * a - x, 2.0, True),
    "repelling": (lambda x, a: 2.0 * x - a, 2.0, True),
}


@pytest.mark.parametrize("case", DERIVATIVES)
def test_derivatives_of_fixed_points_are_those_of_a_contraction_or_nan_in_every_mode(case):
    f, x0, singular = DERIVATIVES[case]
    solve = lambda a: lax.fixed_point(f, x0, a, maxiter=60)
    want = np.nan if singular else 0.0 if "not move" in case else 1.0
    for d in (grad(solve), jacfwd(solve), lambda a: jvp(solve, (a,), (1.0,))[1], lambda a: vjp(solve, a)[1](1.0)[0],
              lambda a: linearize(solve, a)[1](1.0), lambda a: vmap(grad(solve))(np.reshape(a, (1,)))[0]):  # fmt: skip
        np.testing.assert_allclose([d(2.0), jit(d)(2.0)], want, rtol=1e-9)


def test_a_singular_fixed_point_has_no_derivative_though_single_entries_converge():
    f = lambda x, a: x * np.array([1.0, 0.5]) + 0.0 * a
    solve = lambda a: lax.fixed_point(f, np.zeros(2), a, maxiter=60)
    assert np.all(np.isnan(jacfwd(solve)(1.0))) and np.all(np.isnan(jacrev(solve)(1.0)[0]))
