"""Nothing is kept alive, changed behind a record's back, or shared with a result."""

import gc
import weakref

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors, grad, jit, jvp, lax, linearize, vjp, vmap

X = np.array([0.5, 1.5, 2.5])
LARGE = 100_000  # bytes enough to be write-protected instead of copied


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@ad.custom_jvp
def doubled(x):
    return 2.0 * x


doubled.defjvp(lambda primals, tangents: (doubled(*primals), 2.0 * tangents[0]))


@ad.custom_vjp
def tripled(x):
    return 3.0 * x


tripled.defvjp(lambda x: (tripled(x), x), lambda x, ct: (3.0 * ct,))


def scanned(x):
    return lax.scan(lambda c, r: (c * r, c), 1.0, x)[0]


FREED = {
    "grad": lambda x: grad(lambda v: np.sum(np.sin(v) * v))(x),
    "grad of grad": lambda x: grad(lambda v: np.sum(grad(lambda w: np.sum(w**3))(v)))(x),
    "jvp": lambda x: jvp(lambda v: np.sin(v) * v, (x,), (x,)),
    "vjp": lambda x: vjp(lambda v: np.sin(v) * v, x)[1](x),
    "linearize": lambda x: linearize(lambda v: np.sin(v) * v, x)[1](x),
    "vmap": lambda x: vmap(lambda v: np.sin(v) * v)(x),
    "jit": lambda x: jit(lambda v: np.sin(v) * v)(x),
    "jit of grad": lambda x: jit(grad(lambda v: np.sum(np.sin(v) * v)))(x),
    "grad of jit": lambda x: grad(lambda v: np.sum(jit(lambda w: np.sin(w) * v)(v)))(x),
    "scan": lambda x: grad(scanned)(x),
    "jit of scan": lambda x: jit(grad(scanned))(x),
    "custom_jvp": lambda x: grad(lambda v: np.sum(doubled(v)))(x),
    "custom_vjp": lambda x: grad(lambda v: np.sum(tripled(v)))(x),
    "custom_vjp forward": lambda x: jvp(tripled, (x,), (x,)),
    "checkpoint": lambda x: grad(lambda v: np.sum(ad.checkpoint(lambda w: np.sin(w) * v)(v)))(x),
    "hessian": lambda x: ad.hessian(lambda v: np.sum(v**3))(x),
    "jacfwd": lambda x: ad.jacfwd(lambda v: v**3)(x),
    "make_jaxpr": lambda x: ad.make_jaxpr(lambda v: v**3)(x),
    "cond": lambda x: jit(grad(lambda v: lax.cond(v[0] > 0, np.sum, np.prod, v)))(x),
}


@pytest.mark.parametrize("name", FREED)
def test_reference_counting_frees_everything(name, no_collector):
    run = FREED[name]
    run(np.array(X))  # whatever is made once
    gc.collect()
    run(np.array(X))
    garbage = gc.collect()
    assert garbage == 0, f"{garbage} objects in cycles"


def test_pullback_frees_the_record(no_collector):
    values = np.ones(50)
    _, pullback = vjp(lambda x: np.sin(x) * values, X[0] * np.ones(50))
    held = weakref.ref(pullback._tape[-1][3]) if isinstance(pullback._tape[-1][3], np.ndarray) else None
    del pullback
    assert held is None or held() is None
    assert gc.collect() == 0


def test_cached_jit_holds_no_dead_function(no_collector):
    def make():
        big = np.ones(10)
        f = lambda x: np.sum(x * big)
        jit(f)(np.ones(10))
        jit(grad(f))(np.ones(10))
        return weakref.ref(f)

    dead = make()
    assert dead() is None
    assert gc.collect() == 0


def test_cached_jit_of_a_custom_rule_holds_no_dead_function():
    def make():
        f = ad.custom_jvp(lambda x: x * 2.0)
        f.defjvp(lambda primals, tangents: (f(*primals), 2.0 * tangents[0]))
        g = lambda x: f(x) + 1.0
        jit(grad(g))(1.0)
        return weakref.ref(g)

    dead = make()
    gc.collect()
    assert dead() is None


class TestMutation:
    @pytest.mark.parametrize("size", [3, LARGE], ids=["small", "large"])
    def test_buffer_reused_inside(self, size):
        buffer = np.zeros(size)

        def f(x):
            total = 0.0
            for k in range(3):
                buffer[...] = k
                total = total + np.sum(x * buffer)
            return total

        x = np.ones(size)
        if size == 3:
            np.testing.assert_array_equal(grad(f)(x), np.full(size, 3.0))
        else:
            with pytest.raises(ValueError, match="read-only"):
                grad(f)(x)
        buffer[...] = 1.0  # writeable again
        assert buffer.flags.writeable

    @pytest.mark.parametrize("size", [3, LARGE], ids=["small", "large"])
    def test_input_changed_inside(self, size):
        x = np.ones(size)

        def f(v):
            y = v * v
            if x.flags.writeable:
                x[...] = 100.0
            return np.sum(y)

        np.testing.assert_array_equal(grad(f)(x), np.full(size, 2.0))
        x[...] = 1.0
        assert x.flags.writeable

    @pytest.mark.parametrize("size", [3, LARGE], ids=["small", "large"])
    def test_input_changed_before_the_pullback(self, size):
        x, w = np.ones(size), np.full(size, 3.0)
        y, pullback = vjp(lambda v: v * v * w, x)
        x[...], w[...] = 7.0, 7.0
        y[...] = 7.0
        np.testing.assert_array_equal(pullback(np.ones(size))[0], np.full(size, 6.0))

    def test_input_changed_before_the_linear_function(self):
        x, w = np.ones(3), np.full(3, 3.0)
        _, push = linearize(lambda v: v * v * w, x)
        x[...], w[...] = 7.0, 7.0
        np.testing.assert_array_equal(push(np.ones(3)), np.full(3, 6.0))

    def test_constant_changed_after_tracing(self):
        w = np.ones(3)
        f = jit(lambda x: x * w)
        np.testing.assert_array_equal(f(np.ones(3)), np.ones(3))
        w[...] = 5.0
        np.testing.assert_array_equal(f(np.ones(3)), np.ones(3))  # as in JAX: a constant of the program

    def test_protection_is_lifted_after_an_exception(self):
        x, w = np.ones(LARGE), np.ones(LARGE)

        def f(v):
            v * w
            raise KeyError

        with pytest.raises(KeyError):
            grad(f)(x)
        assert x.flags.writeable and w.flags.writeable

    def test_protection_is_counted(self):
        w = np.ones(LARGE)

        def f(x):
            y = np.sum(x * w)
            inner = grad(lambda v: np.sum(v * w))(np.ones(LARGE))
            assert not w.flags.writeable
            return y + inner[0] * x[0]

        grad(f)(np.ones(LARGE))
        assert w.flags.writeable

    def test_read_only_stays_read_only(self):
        x = np.ones(LARGE)
        x.flags.writeable = False
        grad(lambda v: np.sum(v * v))(x)
        assert not x.flags.writeable


W = np.arange(3.0)
IDENTITY = lambda x: x
RESULTS = {
    "jvp": lambda x: jvp(IDENTITY, (x,), (W,)),
    "jvp of a constant": lambda x: jvp(lambda v: W, (x,), (W,)),
    "jvp twice": lambda x: jvp(lambda v: (v, v), (x,), (W,)),
    "vjp value": lambda x: vjp(IDENTITY, x)[0],
    "vjp pullback": lambda x: vjp(IDENTITY, x)[1](W),
    "vjp twice": lambda x: vjp(lambda v, w: v + w, x, x)[1](W),
    "vjp view": lambda x: vjp(lambda v: v[None], x)[1](W[None]),
    "vjp reshape": lambda x: vjp(lambda v: v.reshape(3, 1).T, x)[0],
    "vjp aux": lambda x: vjp(lambda v: (np.sum(v), W), x, has_aux=True)[2],
    "linearize": lambda x: (lambda y, f: (y, f(W)))(*linearize(IDENTITY, x)),
    "linear_transpose": lambda x: ad.linear_transpose(IDENTITY, x)(W),
    "grad aux": lambda x: grad(lambda v: (np.sum(v), (W, x, v)), has_aux=True)(x),
    "grad sum": lambda x: grad(lambda v, w: np.sum(v + w), (0, 1))(x, x),
    "grad of a product": lambda x: grad(lambda v: np.sum(v * W))(x),
    "vmap": lambda x: vmap(IDENTITY)(x),
    "vmap constant": lambda x: vmap(lambda v: W)(x),
    "vmap unmapped": lambda x: vmap(lambda v, w: w, (0, None), None)(W, x),
    "jit": lambda x: JIT_IDENTITY(x),
    "jit constant": lambda x: JIT_CONSTANT(x),
    "jit twice": lambda x: jit(lambda v: (v, v, v[::-1]))(x),
    "jacfwd": lambda x: ad.jacfwd(IDENTITY)(x),
    "jacrev": lambda x: ad.jacrev(IDENTITY)(x),
    "hessian": lambda x: ad.hessian(np.sum)(x),
    "hvp": lambda x: ad.hvp(lambda v: np.sum(v * v) / 2, (x,), (W,)),
    "elementwise_grad": lambda x: ad.elementwise_grad(lambda v: v * W)(x),
    "jit of scan": lambda x: jit(lambda v: lax.scan(lambda c, r: (c, c), v, None, length=2))(x),
    "compiled": lambda x: COMPILED(x),
    "custom_vjp": lambda x: grad(lambda v: np.sum(tripled(v)))(x),
    "eval_jaxpr of jit": lambda x: jit(jit(IDENTITY))(x),
}
JIT_IDENTITY, JIT_CONSTANT = jit(IDENTITY), jit(lambda x: (W, W * 2.0))
COMPILED = jit(lambda x: (x, W)).lower(X).compile()


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_the_users_own(name):
    x = np.array(X)
    results = [np.array(v) for v in ad.tree.leaves(RESULTS[name](x))]
    found = [v for v in ad.tree.leaves(RESULTS[name](x)) if isinstance(v, np.ndarray)]
    for k, v in enumerate(found):
        assert v.flags.writeable
        for other in (x, W, *found[:k]):
            assert not np.may_share_memory(v, other)
        v[...] = 99.0
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(W, np.arange(3.0))
    for v, want in zip(ad.tree.leaves(RESULTS[name](x)), results, strict=True):
        np.testing.assert_array_equal(v, want)


def test_pullback_again_after_its_results_are_changed():
    _, pullback = vjp(lambda x: (x, x * W), X)
    first = pullback((W, W))[0]
    want = first.copy()
    first[...] = 99.0
    np.testing.assert_array_equal(pullback((W, W))[0], want)


def test_a_large_operand_that_is_a_view_is_copied():
    buffer = np.ones(100_000)
    a, other = buffer[:], buffer[:]

    def loss(x):
        y = (x * a).sum()
        other[:] = 7.0
        return y

    assert ad.grad(loss)(np.ones(100_000))[0] == 1.0


def test_a_write_into_a_protected_operand_says_so():
    def loss(x):
        y = np.ones(x.size)
        z = x * y
        y += 1
        return (z * y).sum()

    with pytest.raises(errors.MutationError, match="keeps for its backward pass"):
        ad.grad(loss)(np.ones(100_000))
    np.testing.assert_array_equal(ad.grad(loss)(np.ones(3)), 2.0)


PLAIN_RUNS = {
    "scan": lambda x: ad.lax.scan(lambda c, _: (c, c), x, None, length=2)[0],
    "cond": lambda x: ad.lax.cond(True, lambda a: a, lambda a: a, x),
    "switch": lambda x: ad.lax.switch(0, [lambda a: a, lambda a: a], x),
    "while_loop": lambda x: ad.lax.while_loop(lambda a: False, lambda a: a, x),
    "fori_loop": lambda x: ad.lax.fori_loop(0, 1, lambda i, a: a, x),
    "checkpoint": lambda x: ad.checkpoint(lambda a: a)(x),
}


@pytest.mark.parametrize("name", PLAIN_RUNS)
def test_what_runs_as_plain_python_returns_arrays_of_its_own(name):
    x = np.ones(3)
    PLAIN_RUNS[name](x)[:] = 5.0
    np.testing.assert_array_equal(x, 1.0)


def test_a_buffer_that_the_body_of_a_scan_reuses():
    buffer = np.zeros(1)

    def step(carry, row):
        buffer[:] = row
        return carry, buffer

    np.testing.assert_array_equal(ad.lax.scan(step, 0.0, np.arange(3.0))[1].ravel(), [0.0, 1.0, 2.0])
