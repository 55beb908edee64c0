"""odeint against closed forms, SciPy and unrolled Runge-Kutta steps: values, derivatives in both modes to order 2."""

import functools
import re
import tracemalloc

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import autodidax as ad
import autodidax.numpy as anp
from autodidax import errors, grad, hessian, jacfwd, jacrev, jit, jvp, lax, linearize, vjp, vmap
from autodidax.scipy.integrate import odeint
from autodidax.test_util import check_grads

precisely = functools.partial(odeint, rtol=1e-12, atol=1e-12)
Y = np.array([1.0, 0.5])
T = np.array([0.0, 0.2, 0.6])
W = np.array([1.3, 0.7])
ATOL = 2e-9


def runge_kutta(func, y0, t, *args, steps=100):
    """The classical method of order 4, with fixed steps, as a loop that is differentiated through."""

    def interval(y, ends):
        h = (ends[1] - ends[0]) / steps

        def step(i, y):
            s = ends[0] + i * h
            a = func(y, s, *args)
            b = func(ad.tree.map(lambda u, v: u + 0.5 * h * v, y, a), s + 0.5 * h, *args)
            c = func(ad.tree.map(lambda u, v: u + 0.5 * h * v, y, b), s + 0.5 * h, *args)
            d = func(ad.tree.map(lambda u, v: u + h * v, y, c), s + h, *args)
            return ad.tree.map(lambda u, a, b, c, d: u + h / 6 * (a + 2 * b + 2 * c + d), y, a, b, c, d)

        y = lax.fori_loop(0, steps, step, y)
        return y, y

    ends = anp.stack([t[:-1], t[1:]], axis=1)
    _, ys = lax.scan(interval, y0, ends)
    return ad.tree.map(lambda u, v: anp.concatenate([anp.asarray(u)[None], v]), y0, ys)


def pendulum(y, t, w):
    return anp.stack([y[1] * w[0], -np.sin(y[0]) * w[1] + 0.3 * t * y[1]])


def of_tree(y, t, w):
    return {"p": y["q"].sum() * w[0] - t * y["p"], "q": np.cos(y["q"]) * y["p"] * w}


def whole(y):
    return anp.concatenate([y["p"][:, None], y["q"]], axis=1)


# name -> function of (solver, y0, t, w)
PROBLEMS = {
    "pendulum": lambda solve, y, t, w: solve(pendulum, y, t, w),
    "closure": lambda solve, y, t, w: solve(lambda y, t: pendulum(y, t, w) + y[::-1] * w, y, t),
    "backward in time": lambda solve, y, t, w: solve(pendulum, y, t[::-1], w),
    "tree": lambda solve, y, t, w: whole(solve(of_tree, {"p": w[0] * 0.3, "q": y}, t, w)),
    "linear": lambda solve, y, t, w: solve(lambda y, t, w: y[::-1] * w, y, t, w),
    "forced": lambda solve, y, t, w: solve(lambda y, t, w: w * np.sin(3.0 * t), y, t, w),
    "rest": lambda solve, y, t, w: solve(lambda y, t, w: np.sin(w * y) * (y - 2.0), y * 0.0, t, w),
}
each = pytest.mark.parametrize("problem", PROBLEMS)
total = lambda f: lambda *x: np.sum(np.sin(f(*x)))
tangents = (0.5 * Y[::-1], np.array([0.1, -0.2, 0.3]), W * W)
TRANSFORMS = {
    "value": lambda f: f,
    "jvp": lambda f: lambda *x: jvp(f, x, tangents)[1],
    "jacfwd": lambda f: jacfwd(f, (0, 1, 2)),
    "jacrev": lambda f: jacrev(f, (0, 1, 2)),
    "linearize": lambda f: lambda *x: linearize(f, *x)[1](*tangents),
    "hessian": lambda f: hessian(total(f), (0, 1, 2)),
    "forward twice": lambda f: jacfwd(jacfwd(total(f), 2), (0, 1, 2)),
    "reverse twice": lambda f: jacrev(jacrev(total(f), 2), (0, 1, 2)),
    "reverse over forward": lambda f: jacrev(jacfwd(total(f), 2), (0, 1, 2)),
}


def assert_close(got, want, atol=ATOL):
    assert ad.tree.structure(got) == ad.tree.structure(want)
    for g, w in zip(ad.tree.leaves(got), ad.tree.leaves(want), strict=True):
        np.testing.assert_allclose(g, w, atol=atol)


def problem_by(problem, solve):
    return lambda y, t, w: PROBLEMS[problem](solve, y, t, w)


SAME = {
    "jacfwd": "jacrev", "linearize": "jvp", "forward twice": "reverse twice", "reverse over forward": "reverse twice",
}  # fmt: skip


@functools.cache
def unrolled(problem, transform):
    """What a transform gives of fixed steps, compiled."""
    return jit(TRANSFORMS[transform](problem_by(problem, runge_kutta)))(Y, T, W)


@each
class TestAgainstUnrolled:
    @pytest.mark.parametrize("transform", TRANSFORMS)
    def test_derivatives(self, problem, transform):
        f = TRANSFORMS[transform](problem_by(problem, precisely))
        want = unrolled(problem, SAME.get(transform, transform))
        assert_close(f(Y, T, W), want)
        assert_close(jit(f)(Y, T, W), want)

    @pytest.mark.parametrize("axes", [(0, None, None), (None, 0, None), (None, None, 0), (0, 0, 0)], ids=str)
    def test_vmap(self, problem, axes):
        f = problem_by(problem, precisely)
        rows = (np.stack([Y, -2.0 * Y]), np.stack([T, 0.5 * T + 0.2]), np.stack([W, W[::-1]]))
        args = [x if axis == 0 else x[0] for x, axis in zip(rows, axes, strict=True)]
        single = [[x[i] if axis == 0 else x for x, axis in zip(args, axes, strict=True)] for i in range(2)]
        for name in ("value", "jvp", "jacrev"):
            want = ad.tree.map(lambda *x: np.stack(x), *[TRANSFORMS[name](f)(*x) for x in single])
            assert_close(vmap(TRANSFORMS[name](f), axes)(*args), want, atol=1e-11)
        assert_close(jit(vmap(f, axes))(*args), np.stack([f(*x) for x in single]), atol=1e-11)
        batched = grad(lambda *x: np.sum(np.sin(vmap(f, axes)(*x))), (0, 1, 2))
        looped = grad(lambda *x: sum(
            total(f)(*[v[i] if axis == 0 else v for v, axis in zip(x, axes, strict=True)]) for i in range(2)
        ), (0, 1, 2))  # fmt: skip
        assert_close(batched(*args), looped(*args), atol=1e-10)
        assert_close(jit(batched)(*args), looped(*args), atol=1e-10)


class TestValues:
    def test_against_scipy(self):
        func = lambda y, t: np.array([y[1], (1.0 - y[0] ** 2) * y[1] - y[0]])
        t = np.linspace(0.0, 6.0, 7)
        want = solve_ivp(lambda t, y: func(y, t), (0.0, 6.0), Y, "DOP853", t, rtol=1e-13, atol=1e-13).y.T
        np.testing.assert_allclose(odeint(func, Y, t), want, atol=2e-7)
        np.testing.assert_allclose(precisely(func, Y, t), want, atol=1e-10)

    @pytest.mark.parametrize("tol", [1e-4, 1e-7, 1e-10])
    def test_error_follows_the_tolerance(self, tol):
        y = odeint(lambda y, t: np.cos(t) * y, 1.0, np.linspace(0.0, 5.0, 6), rtol=tol, atol=tol)
        error = np.max(np.abs(y - np.exp(np.sin(np.linspace(0.0, 5.0, 6)))))
        assert 1e-3 * tol < error < 20.0 * tol

    def test_times(self):
        decay = lambda y, t: -y
        np.testing.assert_allclose(odeint(decay, 1.0, [0, 1, 2]), np.exp([0.0, -1, -2]), atol=1e-7)
        np.testing.assert_allclose(odeint(decay, 1.0, [2.0, 1.0, 1.0, 0.0]), np.exp([0.0, 1, 1, 2]), atol=1e-6)
        np.testing.assert_array_equal(odeint(decay, 1.0, [3.0]), [1.0])
        np.testing.assert_array_equal(odeint(decay, Y, [3.0, 3.0]), [Y, Y])
        assert grad(lambda t: odeint(decay, 1.0, t)[0])(np.array([1.0]))[0] == 0.0
        slope = grad(lambda t: np.sum(odeint(decay, 1.0, t)))(np.array([0.0, 0.0, 1.0]))
        np.testing.assert_allclose(slope, [1.0 + np.exp(-1), -1.0, -np.exp(-1)], atol=1e-7)

    def test_empty_and_scalar_states(self):
        assert odeint(lambda y, t: -y, np.zeros((0, 2)), T).shape == (3, 0, 2)
        assert odeint(lambda y, t: y, (), T) == ()
        out = odeint(lambda y, t: {"a": y["b"], "b": -y["a"]}, {"a": 1, "b": 0.0}, T)
        np.testing.assert_allclose(out["a"], np.cos(T), atol=1e-7)
        assert vmap(lambda y: odeint(lambda y, t: -y, y, T))(np.zeros((0, 2))).shape == (0, 3, 2)

    def test_eager_function_is_plain_python(self):
        kinds = set()

        def func(y, t):
            kinds.add((type(y), type(t)))
            return -y if t < 0.5 else -2.0 * y

        odeint(func, Y, T, rtol=1e-4, atol=1e-4)
        assert kinds == {(np.ndarray, np.float64)}

    def test_function_that_reuses_its_buffer(self):
        buffer = np.empty(2)
        func = lambda y, t: np.multiply(y, -1.0, out=buffer)
        np.testing.assert_array_equal(odeint(func, Y, T), odeint(lambda y, t: -1.0 * y, Y, T))

    @pytest.mark.parametrize("wrap", [lambda f: f, jit, lambda f: jit(vmap(f))], ids=["eager", "jit", "rows"])
    def test_float32(self, wrap):
        y, w = np.ones(2, np.float32), np.array([0.5, 1.0], np.float32)
        f = wrap(lambda y, w: odeint(lambda y, t, w: -w * y * (1.0 + t), y, T, w))
        args = (y[None], w[None]) if wrap(f).__name__.startswith("vmap") else (y, w)
        out = f(*args)
        assert out.dtype == np.float32
        np.testing.assert_allclose(out.reshape(3, 2)[-1], np.exp(-w * 0.78), rtol=1e-5)
        for g in grad(lambda *x: np.sum(f(*x)), (0, 1))(*args):
            assert g.dtype == np.float32
        assert jvp(f, args, args)[1].dtype == np.float32
        times = grad(lambda t: odeint(lambda y, t: -y, np.float64(1.0), t)[-1])(T.astype(np.float32))
        assert times.dtype == np.float32

    def test_complex(self):
        func = lambda y, t, w: 1j * w * y + 0.2 * np.conj(y) * y
        y = Y + 0.3j
        f = lambda y, t, w: precisely(func, y, t, w)
        steps = lambda y, t, w: runge_kutta(func, y, t, w)
        ct, ts = np.arange(6.0).reshape(3, 2) * (1.0 + 0.5j), (y[::-1], *tangents[1:])
        for wrap in (lambda f: f, jit):
            assert_close(wrap(lambda *x: vjp(f, *x)[1](ct))(y, T, W), vjp(steps, y, T, W)[1](ct))
            assert_close(wrap(lambda *x: jvp(f, x, ts)[1])(y, T, W), jvp(steps, (y, T, W), ts)[1])
        f32 = odeint(func, y.astype(np.complex64), T, W.astype(np.float32))
        assert f32.dtype == np.complex64


class TestDerivatives:
    def test_finite_differences(self):
        """A system whose solutions, adjoints and derivatives are polynomials: all of it is exact up to rounding."""

        def f(y, t, w):
            return odeint(lambda y, t: anp.stack([w[0], w[1] * y[0] + t, y[0] * y[1]]), y, t, rtol=1e-6)

        args = np.array([0.3, -0.8, 0.5]), np.array([0.1, 0.5, 0.8]), W
        check_grads(f, args, order=2, points="given")
        check_grads(vmap(f, (0, None, 0)), (np.stack([args[0], args[0] ** 2]), args[1], np.stack([W, -W])), order=1,
                    points="given")  # fmt: skip

    def test_third_order(self):
        third = lambda solve: grad(grad(grad(lambda s: np.sum(solve(pendulum, s * Y, T, s * W)[-1]))))(0.8)
        assert third(precisely) == pytest.approx(third(runge_kutta), rel=1e-7)

    def test_matrix_exponential(self):
        a = np.array([[0.0, 1.0], [-2.0, -0.3]])
        flow = lambda a: precisely(lambda y, t: a @ y, np.eye(2), np.array([0.0, 1.5]))[-1]
        exact = lambda a: ad.scipy.linalg.expm(1.5 * a)
        assert_close(flow(a), exact(a), atol=1e-11)
        assert_close(jacrev(flow)(a), jacrev(exact)(a), atol=1e-10)
        assert_close(jit(jacfwd(flow))(a), jacrev(exact)(a), atol=1e-10)

    def test_scale_of_a_loss_does_not_matter(self):
        """Step control has no absolute size for cotangents and tangents: scaling by a power of two is exact."""
        f = lambda w: odeint(pendulum, Y, T, w)
        ct, small = np.arange(6.0).reshape(3, 2), 2.0**-60
        np.testing.assert_array_equal(vjp(f, W)[1](small * ct)[0], small * vjp(f, W)[1](ct)[0])
        np.testing.assert_array_equal(jvp(f, (W,), (small * W,))[1], small * jvp(f, (W,), (W,))[1])

    def test_derivatives_at_rest(self):
        """The state does not move, its derivatives do: they have to keep the steps short."""
        decay = lambda y0, k: odeint(lambda y, t: -k * y, y0, np.array([0.0, 50.0]))[-1]
        assert grad(decay)(0.0, 0.1) == pytest.approx(np.exp(-5.0), rel=1e-6)
        assert jvp(lambda y: decay(y, 0.1), (0.0,), (1.0,))[1] == pytest.approx(np.exp(-5.0), rel=1e-6)

    def test_times_of_output(self):
        slope = jacrev(lambda t: precisely(pendulum, Y, t, W))(T)
        ys = precisely(pendulum, Y, T, W)
        for i in (1, 2):
            np.testing.assert_allclose(slope[i, :, i], pendulum(ys[i], T[i], W), atol=1e-12)
        np.testing.assert_array_equal(slope[0], np.zeros((2, 3)))

    def test_linear_transpose(self):
        a = np.array([[0.0, 1.0], [-2.0, -0.3]])
        f = lambda y: precisely(lambda y, t: a @ y * t, y, T)
        ct = np.arange(6.0).reshape(3, 2)
        want = vjp(f, Y)[1](ct)
        assert_close(ad.linear_transpose(f, Y)(ct), want, atol=1e-11)
        assert_close(jit(lambda ct: ad.linear_transpose(f, Y)(ct))(ct), want, atol=1e-11)
        with pytest.raises(errors.NotLinearError):
            ad.linear_transpose(lambda y: odeint(lambda y, t: a @ y + 1.0, y, T), Y)
        with pytest.raises(errors.NotLinearError):
            ad.linear_transpose(lambda t: odeint(lambda y, t: y, Y, t), T)

    def test_memory_does_not_grow_with_the_steps(self):
        """A gradient through 1,000 steps takes the memory of one through 20."""

        def peak(steps):
            counts = []

            def rate(y, t, w):
                counts.append(None)
                return -w * y

            f = lambda w: np.sum(odeint(rate, np.ones(500), np.array([0.0, 1.0]), w, hmax=1.0 / steps, rtol=1e-2))
            grad(f)(np.ones(500))
            tracemalloc.start()
            grad(f)(np.ones(500))
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            plain = len(counts)
            f(np.ones(500))
            assert len(counts) - plain > 6 * steps
            return most

        assert peak(1000) < 1.1 * peak(20)

    @pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
    def test_nestings(self, wrap):
        def program(solve, test):
            def f(w):
                step = lambda c, r: ([y := solve(lambda y, t: -w * y + r, c, np.array([0.0, 0.5]))[-1], y])
                c, ys = lax.scan(step, w, np.array([0.3, 0.2]))
                branch = lambda c: solve(lambda y, t: np.sin(y) * w, c, np.array([0.0, 0.5]))[1]
                c = lax.cond(np.sum(c) > 0, branch, lambda c: c, c)
                c = lax.while_loop(
                    lambda c: np.sum(c) > test, lambda c: solve(lambda y, t: -y * w, c, np.array([0.0, 1.0]))[-1], c
                )
                inner = lambda y, t: -y * solve(lambda z, s: -z * t, w, np.array([0.0, 0.5]))[-1]
                return np.sum(ys) + np.sum(c) + np.sum(solve(inner, c, np.array([0.0, 0.3]))[-1])

            return f

        solve = functools.partial(odeint, rtol=1e-9, atol=1e-9)
        f, plain = program(solve, 0.9), program(functools.partial(runge_kutta, steps=40), 0.9)
        assert_close(wrap(f)(W), f(W), atol=1e-8)
        assert_close(wrap(grad(f))(W), jit(grad(plain))(W), atol=1e-7)
        rows = np.stack([W, 0.5 * W])
        assert_close(wrap(vmap(grad(f)))(rows), np.stack([grad(f)(w) for w in rows]), atol=1e-7)
        twice = lambda g: lambda w: jvp(grad(g), (w,), (W[::-1],))[1]
        assert_close(wrap(twice(f))(W), jit(twice(plain))(W), atol=1e-6)

    def test_checkpoint(self):
        f = lambda w: np.sum(precisely(pendulum, Y, T, w))
        assert_close(jit(grad(ad.checkpoint(f)))(W), grad(f)(W), atol=1e-11)


class TestRows:
    def test_each_row_takes_its_own_steps(self):
        """A row that decays a thousand times faster costs the other nothing in accuracy, and equals itself alone."""
        f = lambda k: odeint(lambda y, t: -k * y + np.cos(t), 1.0, T)
        rates = np.array([0.1, 100.0])
        np.testing.assert_allclose(vmap(f)(rates), np.stack([f(k) for k in rates]), rtol=1e-12)
        np.testing.assert_allclose(vmap(grad(lambda k: f(k)[-1]))(rates), [grad(lambda k: f(k)[-1])(k) for k in rates])

    def test_nan_stays_in_its_row(self):
        f = lambda y: odeint(lambda y, t: -y, y, np.array([0.0, 1.0]))
        np.testing.assert_allclose(vmap(f)(np.array([1.0, np.nan])), [[1.0, np.exp(-1.0)], [np.nan, np.nan]], atol=1e-7)
        np.testing.assert_array_equal(f(np.nan), [np.nan, np.nan])

    def test_batches_of_batches(self):
        f = lambda y, w: precisely(pendulum, y, T, w)[-1]
        ys, ws = np.stack([Y, 2 * Y, -Y]), np.stack([W, 0.5 * W])
        want = np.stack([[f(y, w) for y in ys] for w in ws])
        assert_close(vmap(vmap(f, (0, None)), (None, 0))(ys, ws), want, atol=1e-11)
        both = grad(lambda ys, ws: np.sum(np.sin(vmap(vmap(f, (0, None)), (None, 0))(ys, ws))), (0, 1))
        looped = grad(lambda ys, ws: sum(np.sum(np.sin(f(y, w))) for y in ys for w in ws), (0, 1))
        assert_close(both(ys, ws), looped(ys, ws), atol=1e-10)


BAD = {
    "blow-up": (
        lambda: odeint(lambda y, t: y * y, 1.0, [0.0, 2.0]), errors.ConvergenceError, "at t = 1 no step is small",
    ),
    "blow-up of a row": (
        lambda: vmap(lambda y: odeint(lambda y, t: y * y, y, np.array([0.0, 0.9])))(np.array([1.0, 2.0])),
        errors.ConvergenceError, "at t = 0.5 no step is small",
    ),
    "mxstep": (
        lambda: odeint(lambda y, t: -y, 1.0, [0.0, 10.0], mxstep=5),
        errors.ConvergenceError, "mxstep=5 steps from t = 0",
    ),
    "mxstep of a row": (
        lambda: vmap(lambda k: odeint(lambda y, t: -k * y, 1.0, T, mxstep=40))(np.array([1.0, 500.0])),
        errors.ConvergenceError, "mxstep=40 steps from t = 0",
    ),
    "times in disorder": (
        lambda: odeint(lambda y, t: y, 1.0, [0.0, 1.0, 0.5]), errors.ArgumentError, "the times are not monotonic",
    ),
    "times in disorder, under jit": (
        lambda: jit(lambda t: odeint(lambda y, t: y, 1.0, t))(np.array([0.0, 1.0, 0.5])),
        errors.ArgumentError, "the times are not monotonic",
    ),
    "times that are nan": (lambda: odeint(lambda y, t: y, 1.0, [0.0, np.nan]), errors.ArgumentError, "not monotonic"),
    "one number for t": (lambda: odeint(lambda y, t: y, 1.0, 2.0), errors.ArgumentError, "t must be a vector"),
    "no times": (lambda: odeint(lambda y, t: y, 1.0, []), errors.ArgumentError, "t must be a vector"),
    "complex times": (lambda: odeint(lambda y, t: y, 1.0, [1j]), errors.ArgumentError, "t must be a vector"),
    "shape": (
        lambda: odeint(lambda y, t: np.ones(2), 1.0, T),
        errors.ShapeError, "result of <lambda> has shape (2,), that of y0 has ()",
    ),
    "shape of a leaf": (
        lambda: odeint(lambda y, t: (y[0], 0.0), (1.0, Y), T), errors.ShapeError, "leaf 1 of the result of <lambda>",
    ),
    "tree": (lambda: odeint(lambda y, t: (y, y), 1.0, T), errors.TreeError, "returns another tree than y0"),
    "complex rate of a real state": (
        lambda: odeint(lambda y, t: 1j * y, 1.0, T), errors.DtypeError, "has dtype complex128, that of y0 has float64",
    ),
    "no numbers": (lambda: odeint(lambda y, t: y, "a", T), errors.DtypeError, "operand 0 is a str"),
    "negative tolerance": (lambda: odeint(lambda y, t: y, 1.0, T, rtol=-1.0), errors.ArgumentError, "rtol is -1.0"),
    "no tolerance": (lambda: odeint(lambda y, t: y, 1.0, T, rtol=0, atol=0), errors.ArgumentError, "allow no step"),
    "traced tolerance": (
        lambda: jit(lambda r: odeint(lambda y, t: y, 1.0, T, rtol=r))(1e-3),
        errors.ArgumentError, "rtol is a traced value",
    ),
    "no function": (lambda: odeint(Y, Y, T), errors.ArgumentError, "takes a function"),
}  # fmt: skip


@pytest.mark.parametrize("where", [lambda f: f, lambda f: lambda: grad(lambda s: s + np.sum(f()))(0.0)],
                         ids=["eager", "in a transform"])  # fmt: skip
@pytest.mark.parametrize(("program", "error", "message"), BAD.values(), ids=BAD)
def test_errors(program, error, message, where):
    with pytest.raises(error, match=re.escape(message)) as e:
        where(program)()
    assert e.value.mend
