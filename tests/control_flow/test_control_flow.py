"""cond, switch, while_loop, fori_loop, scan and map against plain Python, under every transform, to order 2."""

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors, grad, hessian, jacfwd, jacrev, jit, jvp, lax, linearize, vjp, vmap

X = np.array([0.7, -1.3, 0.4])


def while_with(limit):
    """sin(c) * a[0] applied until |c| sums below a limit, at most six times."""

    def f(a):
        test = lambda s: (s[0] < 6) & (np.sum(np.abs(s[1])) > limit)
        return lax.while_loop(test, lambda s: (s[0] + 1, np.sin(s[1]) * a[0]), (0, a))[1]

    return f


def while_in_python(limit):
    def f(a):
        c, i = a, 0
        while i < 6 and np.sum(np.abs(c)) > limit:
            c, i = np.sin(c) * a[0], i + 1
        return c

    return f


def python_scan(f, init, xs, reverse=False):
    carry, ys = init, []
    for x in list(xs)[::-1] if reverse else list(xs):
        carry, y = f(carry, x)
        ys.append(y)
    return carry, np.stack(ys[::-1] if reverse else ys)


def body(a):
    return lambda c, r: (c * r + a[0], np.sin(c) * r)


# name -> (with control flow, in plain Python)
PROGRAMS = {
    "cond": (
        lambda a: lax.cond(a[0] > 0, lambda v: np.sin(v) * a[1], lambda v: v**2, a),
        lambda a: np.sin(a) * a[1] if a[0] > 0 else a**2,
    ),
    "cond without operands": (
        lambda a: lax.cond(a[0] > 0, lambda: np.sin(a) * a[1], lambda: a * 3.0),
        lambda a: np.sin(a) * a[1] if a[0] > 0 else a * 3.0,
    ),
    "switch": (
        lambda a: lax.switch((a[0] * 2).astype(int), [np.sin, lambda v: v**2, lambda v: v * a[1]], a),
        lambda a: a**2,  # a[0] lies between 0.5 and 1
    ),
    "while": (while_with(0.5), while_in_python(0.5)),
    "fori": (
        lambda a: lax.fori_loop(0, 3, lambda i, c: np.sin(c) * a[0] + i, a),
        lambda a: np.sin(np.sin(np.sin(a) * a[0]) * a[0] + 1) * a[0] + 2,
    ),
    "scan": (lambda a: lax.scan(body(a), 1.0, a)[1], lambda a: python_scan(body(a), 1.0, a)[1]),
    "scan carry": (lambda a: lax.scan(body(a), 1.0, a)[0] * a, lambda a: python_scan(body(a), 1.0, a)[0] * a),
    "reverse scan": (
        lambda a: lax.scan(body(a), 1.0, a, reverse=True)[1], lambda a: python_scan(body(a), 1.0, a, True)[1],
    ),
    "length only": (
        lambda a: lax.scan(lambda c, _: (np.sin(c) * a, None), a, None, length=3)[0],
        lambda a: np.sin(np.sin(np.sin(a) * a) * a) * a,
    ),
    "zero length": (lambda a: lax.scan(body(a), a, np.ones(0))[0] * a, lambda a: a * a),
    "carry tree": (
        lambda a: lax.scan(lambda c, r: ({"p": c["q"] * r, "q": (c["p"] + a[1]), "i": c["i"] + 1}, c["p"]),
                           {"p": a[0], "q": a[2], "i": 0}, a)[1],
        lambda a: python_scan(lambda c, r: ((c[1] * r, c[0] + a[1]), c[0]), (a[0], a[2]), a)[1],
    ),
    "map": (lambda a: lax.map(lambda r: np.sin(r) * a[0], a), lambda a: np.sin(a) * a[0]),
    "cond in scan": (
        lambda a: lax.scan(lambda c, r: (lax.cond(r > 0, lambda c: c * r, lambda c: c + a[1], c), c), a[0], a)[1],
        lambda a: python_scan(lambda c, r: (c * r if r > 0 else c + a[1], c), a[0], a)[1],
    ),
    "scan in cond": (
        lambda a: lax.cond(a[0] > 0, lambda v: lax.scan(lambda c, r: (c * r, c), a[1], v)[1], lambda v: v * 2.0, a),
        lambda a: python_scan(lambda c, r: (c * r, c), a[1], a)[1] if a[0] > 0 else a * 2.0,
    ),
    "while in scan": (
        lambda a: lax.scan(lambda c, r: (np.sum(while_with(0.5)(a * r)) * c, c), a[0], a)[1],
        lambda a: python_scan(lambda c, r: (np.sum(while_in_python(0.5)(a * r)) * c, c), a[0], a)[1],
    ),
}  # fmt: skip

total = lambda f: lambda a: np.sum(np.sin(f(a)))
TRANSFORMS = {
    "value": lambda f: f,
    "jvp": lambda f: lambda a: jvp(f, (a,), (X * 2.0,))[1],
    "vjp": lambda f: lambda a: vjp(f, a)[1](X)[0],
    "linearize": lambda f: lambda a: linearize(f, a)[1](X),
    "grad": lambda f: grad(total(f)),
    "hessian": lambda f: hessian(total(f)),
    "forward twice": lambda f: jacfwd(jacfwd(total(f))),
    "reverse twice": lambda f: jacrev(jacrev(total(f))),
    "reverse over forward": lambda f: jacrev(jacfwd(total(f))),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("program", PROGRAMS)
class TestAgainstPython:
    @pytest.fixture
    def want(self, program, transform):
        return TRANSFORMS[transform](PROGRAMS[program][1])(X)

    def test_eager(self, program, transform, want):
        np.testing.assert_allclose(TRANSFORMS[transform](PROGRAMS[program][0])(X), want, atol=1e-12)

    def test_jit(self, program, transform, want):
        np.testing.assert_allclose(jit(TRANSFORMS[transform](PROGRAMS[program][0]))(X), want, atol=1e-12)

    def test_of_jit(self, program, transform, want):
        np.testing.assert_allclose(TRANSFORMS[transform](jit(PROGRAMS[program][0]))(X), want, atol=1e-12)

    def test_vmap(self, program, transform):
        f, plain = PROGRAMS[program]
        rows = np.stack([X, 0.1 * X, -X]) if program != "switch" else np.stack([X, X * 1.1, X * 0.9])
        want = np.stack([TRANSFORMS[transform](plain)(row) for row in rows])
        np.testing.assert_allclose(vmap(TRANSFORMS[transform](f))(rows), want, atol=1e-12)
        if transform in ("value", "grad", "hessian"):
            np.testing.assert_allclose(jit(vmap(TRANSFORMS[transform](f)))(rows), want, atol=1e-12)


class TestBranches:
    def test_only_one_branch_runs(self):
        ran = []

        def branch(name):
            def f(x):
                ran.append(name)
                return x * 2.0

            return f

        lax.cond(True, branch("a"), branch("b"), 1.0)
        grad(lambda x: lax.cond(x > 0, branch("a"), branch("b"), x))(1.0)
        lax.switch(1, [branch("a"), branch("b")], 1.0)
        assert ran == ["a", "a", "b"]

    @pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
    def test_branch_not_taken_raises_no_exception(self, wrap):
        """Solving a singular system raises; no row takes it."""
        singular = np.zeros((2, 2))
        f = lambda p, x: lax.cond(p > 0, lambda x: x, lambda x: np.linalg.solve(singular * x[0], x), x)
        np.testing.assert_array_equal(wrap(f)(1.0, np.ones(2)), np.ones(2))
        rows = wrap(vmap(f))(np.array([1.0, 2.0]), np.ones((2, 2)))
        np.testing.assert_array_equal(rows, np.ones((2, 2)))

    @pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
    def test_rows_that_do_not_take_a_branch_poison_nothing(self, wrap):
        f = lambda x: lax.cond(x != 0, lambda x: np.sin(x) / x, lambda x: 1.0 + 0.0 * x, x)
        xs = np.array([0.0, 1.0, 2.0])
        np.testing.assert_allclose(wrap(vmap(f))(xs), [1, np.sin(1), np.sin(2) / 2])
        want = [0.0, np.cos(1) - np.sin(1), np.cos(2) / 2 - np.sin(2) / 4]
        np.testing.assert_allclose(wrap(vmap(grad(f)))(xs), want)
        np.testing.assert_allclose(wrap(grad(lambda xs: np.sum(vmap(f)(xs))))(xs), want)

    def test_batched_index_is_clamped(self):
        f = lambda i, x: lax.switch(i, [lambda x: x, lambda x: 2.0 * x, lambda x: 3.0 * x], x)
        out = vmap(f)(np.array([-5, 0, 1, 2, 9]), np.ones(5))
        np.testing.assert_array_equal(out, [1, 1, 2, 3, 3])
        assert [f(i, 1.0) for i in (-5, 0, 1, 2, 9)] == [1, 1, 2, 3, 3]

    def test_results_join(self):
        f = jit(lambda p, x: lax.cond(p, lambda: x, lambda: 0.0))
        assert f(True, np.float32(2)).dtype == np.float32 and f(False, np.float32(2)).dtype == np.float32

    def test_older_form(self):
        assert lax.cond(True, 2.0, lambda v: v * 2, 3.0, lambda v: v * 3) == 4.0

    def test_gradient_with_respect_to_a_captured_value_of_one_branch(self):
        f = lambda w, p: lax.cond(p > 0, lambda: w * 2.0, lambda: 1.0)
        assert jit(grad(f))(3.0, 1.0) == 2.0 and jit(grad(f))(3.0, -1.0) == 0.0


class TestWhile:
    def test_data_dependent_trip_count_to_second_order(self):
        def halvings(x):  # x^(2^k) until it exceeds 100: differs in k with x
            return lax.while_loop(lambda c: c < 100.0, lambda c: c * c, x)

        # 3 -> 9 -> 81 -> 6561 = x^8; 20 -> 400 = x^2
        second = jit(grad(grad(halvings)))
        assert second(3.0) == pytest.approx(56 * 3.0**6)
        assert second(20.0) == pytest.approx(2.0)
        np.testing.assert_allclose(vmap(grad(grad(halvings)))(np.array([3.0, 20.0, 200.0])), [56 * 3.0**6, 2.0, 0.0])
        assert jit(grad(grad(grad(halvings))))(3.0) == pytest.approx(336 * 3.0**5)

    def test_batched_trip_counts(self):
        f = lambda n, x: lax.fori_loop(0, n, lambda i, c: c * x, 1.0)
        n, x = np.array([0, 1, 2, 5]), np.array([2.0, 3.0, 4.0, 2.0])
        np.testing.assert_array_equal(vmap(f)(n, x), x**n)
        np.testing.assert_array_equal(jit(vmap(f))(n, x), x**n)
        np.testing.assert_allclose(vmap(grad(f, 1))(n, x), n * x ** np.maximum(n - 1, 0))
        np.testing.assert_allclose(jit(vmap(grad(grad(f, 1), 1)))(n, x), n * (n - 1) * x ** np.maximum(n - 2, 0))

    def test_finished_rows_are_not_fed_on(self):
        """A row that has finished would overflow if it were stepped further."""
        f = lambda x: lax.while_loop(lambda c: c < 1e3, lambda c: c * c, x)
        np.testing.assert_allclose(vmap(f)(np.array([1.01, 1e200])), [f(1.01), 1e200])

    def test_no_iterations(self):
        f = lambda x: lax.while_loop(lambda c: c < 0.0, lambda c: c * c, x)
        assert jit(f)(3.0) == 3.0 and jit(grad(f))(3.0) == 1.0

    def test_bounds(self):
        f = lambda a, b: lax.fori_loop(a, b, lambda i, c: c + i, 0)
        assert [f(a, b) for a, b in [(0, 4), (2, 4), (4, 2), (-2, 1)]] == [6, 5, 0, -3]
        assert [jit(f)(a, b) for a, b in [(0, 4), (2, 4), (4, 2), (-2, 1)]] == [6, 5, 0, -3]


class TestScan:
    @pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
    def test_weak_carry_takes_the_body_s_dtype(self, wrap):
        xs = X.astype(np.float32)
        for start in (0.0, 0):
            carry, ys = wrap(lambda xs: lax.scan(lambda c, r: (c + r, c), start, xs))(xs)  # noqa: B023  # called at once
            assert carry.dtype == ys.dtype == np.float32
        assert wrap(lambda a: lax.fori_loop(0, 3, lambda i, c: c * i, a))(xs).dtype == np.float32
        assert wrap(vmap(lambda n, a: lax.fori_loop(0, n, lambda i, c: c + i, a)))(np.arange(3), xs).dtype == np.float32

    def test_trees(self):
        xs = {"a": X, "b": (X * 2.0, None)}
        step = lambda c, r: ((c[0] + r["a"],), {"y": r["b"][0], "c": c})
        eager, staged = lax.scan(step, (0.0,), xs), jit(lambda xs: lax.scan(step, (0.0,), xs))(xs)
        assert ad.tree.structure(eager) == ad.tree.structure(staged)
        for a, b in zip(ad.tree.leaves(eager), ad.tree.leaves(staged), strict=True):
            np.testing.assert_allclose(a, b)

    def test_integer_carry_and_outputs(self):
        f = lambda xs: lax.scan(lambda c, r: ((c[0] + 1, c[1] * r), (c[0], c[0] > 1)), (0, 1.0), xs)
        (count, product), (index, late) = jit(f)(X)
        assert count == 3 and product == pytest.approx(np.prod(X))
        np.testing.assert_array_equal(index, [0, 1, 2])
        np.testing.assert_array_equal(late, [False, False, True])
        np.testing.assert_allclose(jit(grad(lambda xs: f(xs)[0][1]))(X), np.prod(X) / X)

    def test_row_order_of_a_reverse_scan(self):
        f = lambda xs: lax.scan(lambda c, r: (c + r, c), 0.0, xs, reverse=True)[1]
        np.testing.assert_array_equal(f(np.array([1.0, 2.0, 3.0])), [5, 3, 0])
        np.testing.assert_array_equal(jit(f)(np.array([1.0, 2.0, 3.0])), [5, 3, 0])

    def test_closure_over_every_outer_transform(self):
        def f(w, v):
            step = lambda c, r: (c * w + v * r, None)
            return lax.scan(step, 0.0, X)[0]

        want = X[2] + X[0] * 4 + X[1] * 2  # at w = 2: v (x0 w^2 + x1 w + x2)
        assert f(2.0, 1.0) == pytest.approx(want)
        mixed = lambda w, v: grad(lambda v: grad(lambda w: f(w, v))(w))(v)
        for run in (mixed, jit(mixed), lambda w, v: vmap(mixed, (0, None))(np.array([w]), v)[0]):
            assert run(2.0, 1.0) == pytest.approx(2 * 2.0 * X[0] + X[1])

    def test_body_is_traced_once(self):
        calls = []
        f = jit(lambda xs: lax.scan(lambda c, r: [calls.append(1), (c + r, c)][1], np.float64(0), xs))
        f(np.ones(100))
        assert len(calls) == 1


class TestUnrolledEquality:
    @pytest.mark.parametrize("n", [1, 2, 5])
    def test_power(self, n):
        f = lambda x: lax.fori_loop(0, n, lambda i, c: np.sin(c) * x, x)

        def plain(x):
            c = x
            for _ in range(n):
                c = np.sin(c) * x
            return c

        for d in (lambda f: f, grad, lambda f: grad(grad(f)), lambda f: grad(grad(grad(f)))):
            assert jit(d(f))(0.8) == pytest.approx(float(d(plain)(0.8)), rel=1e-12)


def test_checkpointed_body():
    plain = lambda a: lax.scan(lambda c, r: (np.sin(c * r) * a[0], c), a[1], a)[1]
    kept = lambda a: lax.scan(ad.checkpoint(lambda c, r: (np.sin(c * r) * a[0], c)), a[1], a)[1]
    for t in ("grad", "hessian", "jvp"):
        np.testing.assert_allclose(jit(TRANSFORMS[t](kept))(X), TRANSFORMS[t](plain)(X), atol=1e-12)


def test_error_in_a_branch_names_the_users_line():
    f = jit(lambda p: lax.cond(p, lambda: np.ones(3), lambda: np.ones(4)))
    with pytest.raises(errors.ShapeError, match="cond"):
        f(True)


def test_cond_takes_its_operand_by_keyword_as_jax_did():
    assert lax.cond(True, lambda x: x, lambda x: -x, operand=3.0) == 3.0
    assert lax.cond(False, lambda _: 1, lambda _: 2, operand=None) == 2
    with pytest.raises(errors.ArgumentError, match="no keyword"):
        lax.cond(True, lambda: 1, lambda: 0, foo=3)
