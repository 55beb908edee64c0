"""Nested transforms do not confuse their perturbations, tracers do not leak, and nothing is kept alive or shared."""

import asyncio
import gc
import os
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors, grad, jit, jvp, lax, linearize, value_and_grad, vjp, vmap
from autodidax.core.interpreters import frames

HERE = os.path.basename(__file__)
X = np.array([0.5, 1.5, 2.5])
LARGE = 100_000  # bytes enough to be write-protected instead of copied


def derivative_by_jvp(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


DERIVATIVES = {"grad": grad, "jvp": derivative_by_jvp, "jit grad": lambda f: jit(grad(f))}


@pytest.mark.parametrize("inner", DERIVATIVES)
@pytest.mark.parametrize("outer", DERIVATIVES)
class TestPerturbationConfusion:
    def test_closed_over(self, outer, inner):
        # d/dx (x * d/dy (x + y)) = 1
        f = lambda x: x * DERIVATIVES[inner](lambda y: x + y)(1.0)
        assert DERIVATIVES[outer](f)(2.0) == 1.0

    def test_product(self, outer, inner):
        # d/dx (x * d/dy (x y^2)) = d/dx (2 x^2 y) at y = 3
        f = lambda x: x * DERIVATIVES[inner](lambda y: x * y**2)(3.0)
        assert DERIVATIVES[outer](f)(2.0) == 24.0

    def test_returned_through(self, outer, inner):
        f = lambda x: DERIVATIVES[inner](lambda y: x)(1.0) + x * x
        assert DERIVATIVES[outer](f)(3.0) == 6.0

    def test_curried(self, outer, inner):
        # the derivative of a function-valued function: D (x -> (z -> f(z + x))) at 0, applied twice
        d = DERIVATIVES
        f = lambda x: d[inner](lambda z: np.sin(z * x))(1.0)
        assert d[outer](f)(0.7) == pytest.approx(np.cos(0.7) - 0.7 * np.sin(0.7))


def test_two_outer_grads_over_one_inner_jit():
    held = {}

    @jit
    def inner(z):
        return z * held["x"] * held["y"]

    def of_y(y, x):
        held["x"], held["y"] = x, y
        return inner(y)

    def f(x):
        return grad(of_y)(3.0, x) * x  # 2 x y * x

    assert grad(f)(2.0) == pytest.approx(4 * 2.0 * 3.0)
    held["x"], held["y"] = 5.0, 7.0


def use_cell(tracer_holder):
    w = 2.0

    def f(x):
        return x * w

    def set_w(v):
        nonlocal w
        w = v

    return f, set_w


class Model:
    def __init__(self):
        self.w = 2.0

    def __call__(self, x):
        return x * self.w

    def method(self, x):
        return x * self.w


class Slotted:
    __slots__ = ("w",)


GLOBAL_W = 2.0
GLOBAL_HOLDER = Model()


def global_function(x):
    return x * GLOBAL_W


def global_attribute(x):
    return x * GLOBAL_HOLDER.w


def through_another_global(x):
    return global_function(x)


def stale_cases():
    """name -> (jitted function, setter of what it reads)."""

    def set_global(v):
        global GLOBAL_W
        GLOBAL_W = v

    cell, set_cell = use_cell(None)
    box, nested = [2.0], {"a": [{"b": 2.0}]}
    many = [2.0] * 1000
    model, bound = Model(), Model()
    slotted = Slotted()
    slotted.w = 2.0
    deep = [[[[[[[[[[[[2.0]]]]]]]]]]]]
    innermost = deep
    while isinstance(innermost[0], list):
        innermost = innermost[0]
    return {
        "cell": (jit(cell), set_cell),
        "global": (jit(global_function), set_global),
        "attribute of a global": (jit(global_attribute), lambda v: setattr(GLOBAL_HOLDER, "w", v)),
        "global of a global function": (jit(through_another_global), set_global),
        "nested function's global": (jit(lambda x: (lambda y: y * GLOBAL_W)(x)), set_global),
        "list": (jit(lambda x: x * box[0]), lambda v: box.__setitem__(0, v)),
        "nested containers": (jit(lambda x: x * nested["a"][0]["b"]), lambda v: nested["a"][0].__setitem__("b", v)),
        "long list": (jit(lambda x: x * many[999]), lambda v: many.__setitem__(999, v)),
        "deep list": (jit(lambda x: x * innermost[0]), lambda v: innermost.__setitem__(0, v)),
        "deep list from the top": (
            jit(lambda x: x * deep[0][0][0][0][0][0][0][0][0][0][0][0]),
            lambda v: innermost.__setitem__(0, v),
        ),
        "callable object": (jit(model), lambda v: setattr(model, "w", v)),
        "bound method": (jit(bound.method), lambda v: setattr(bound, "w", v)),
        "slots": (jit(lambda x: x * slotted.w), lambda v: setattr(slotted, "w", v)),
    }


@pytest.mark.parametrize("name", list(stale_cases()))
@pytest.mark.parametrize("derivative", ["grad", "jvp", "vmap"])
def test_cached_program_drops_no_derivative(name, derivative):
    f, set_w = stale_cases()[name]
    assert f(3.0) == 6.0  # staged and cached with a plain value

    def outer(w):
        set_w(w)
        return f(3.0)

    try:
        if derivative == "vmap":
            np.testing.assert_array_equal(vmap(outer)(np.array([1.0, 2.0])), [3.0, 6.0])
        else:
            assert DERIVATIVES[derivative](outer)(5.0) == 3.0
    finally:
        set_w(2.0)
    assert f(3.0) == 6.0


KEPT = []


def leak_by_list(x):
    KEPT.append(x * 2.0)
    return x * 1.0


def leak_by_exception(x):
    error = ValueError("kept")
    error.value = x
    KEPT.append(error)
    return x * 1.0


LEAKS = {
    "grad": (lambda f: grad(f)(1.0), "grad"),
    "value_and_grad": (lambda f: value_and_grad(f)(1.0), "value_and_grad"),
    "jvp": (lambda f: jvp(f, (1.0,), (1.0,)), "jvp"),
    "vjp": (lambda f: vjp(f, 1.0), "vjp"),
    "linearize": (lambda f: linearize(f, 1.0), "linearize"),
    "vmap": (lambda f: vmap(f)(np.ones(2)), "vmap"),
    "jit": (lambda f: jit(f).lower(1.0), "jit"),
    "make_jaxpr": (lambda f: ad.make_jaxpr(f)(1.0), "make_jaxpr"),
    "linear_transpose": (lambda f: ad.linear_transpose(f, 1.0), "linear_transpose"),
    "map": (lambda f: jit(lambda x: lax.map(f, x))(np.ones(2)), "scan"),
}


@pytest.mark.parametrize("use", [lambda t: t + 1.0, lambda t: np.sin(t), lambda t: t[None], lambda t: np.sum(t)],
                         ids=["add", "sin", "index", "sum"])  # fmt: skip
@pytest.mark.parametrize("transform", LEAKS)
def test_leaked_tracer(transform, use):
    KEPT.clear()
    run, name = LEAKS[transform]
    run(leak_by_list)
    with pytest.raises(errors.UnexpectedTracerError) as caught:
        use(KEPT[0])
    text = str(caught.value)
    assert name in text and "leak_by_list" in text and HERE in text
    KEPT.clear()


def test_leak_by_exception_and_generator():
    KEPT.clear()
    grad(leak_by_exception)(1.0)
    with pytest.raises(errors.UnexpectedTracerError):
        KEPT[0].value + 1.0
    KEPT.clear()

    def generate(x):
        while True:
            yield x
            x = x * 2.0

    def f(x):
        KEPT.append(generate(x))
        return next(KEPT[0]) + next(KEPT[0])

    assert grad(f)(1.0) == 3.0
    with pytest.raises(errors.UnexpectedTracerError):
        next(KEPT[0])
    KEPT.clear()


def test_generator_across_transforms():
    """A generator that is started under one transform and resumed under another is right or refused."""

    def steps(x):
        y = yield x * x
        yield x * y

    def outer(x):
        running = steps(x)
        first = next(running)
        return first + grad(lambda y: running.send(y))(3.0)  # x^2 + x

    assert grad(outer)(2.0) == 5.0


class TestExceptions:
    @pytest.mark.parametrize("transform", LEAKS)
    def test_stack_unwinds(self, transform):
        def f(x):
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            LEAKS[transform][0](f)
        assert frames() == ()
        assert grad(lambda x: x * x)(3.0) == 6.0

    def test_caught_inside(self):
        def inner(x):
            raise ValueError

        def f(x):
            try:
                grad(inner)(x)
            except ValueError:
                return x * x

        assert grad(f)(3.0) == 6.0
        assert jit(f)(3.0) == 9.0

    def test_staging_is_closed(self):
        def f(x):
            raise ValueError

        with pytest.raises(ValueError):
            jit(f)(1.0)
        assert lax.cond(True, lambda: 1.0, lambda: 1 / 0) == 1.0


class TestThreadsAndTasks:
    def test_transforms_in_parallel(self):
        def work(k):
            return [float(grad(lambda x: x**3 * k)(2.0)), float(jit(lambda x: x * k)(2.0)), float(vmap(np.sin)(X)[0])]

        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(work, range(40)))
        assert results == [[12.0 * k, 2.0 * k, float(np.sin(0.5))] for k in range(40)]

    @pytest.mark.parametrize("derivative", ["grad", "jvp"])
    def test_tracer_used_in_a_thread(self, derivative):
        def f(x):
            with ThreadPoolExecutor(2) as pool:
                a, b = pool.map(lambda k: np.sin(x) * k, [1.0, 2.0])
            return a + b

        assert DERIVATIVES[derivative](f)(0.3) == pytest.approx(3 * np.cos(0.3))

    def test_transform_of_a_tracer_in_a_thread(self):
        def f(x):
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(lambda: grad(lambda y: x * y * y)(2.0)).result()  # 4 x

        assert grad(f)(3.0) == 4.0

    def test_asyncio_tasks(self):
        async def work(k):
            async def inner(x):
                await asyncio.sleep(0)
                return x * x * k

            def f(x):
                return x * x * k

            value = 0.0
            for _ in range(3):
                await asyncio.sleep(0)
                value += float(grad(f)(2.0))
            return value

        async def main():
            return await asyncio.gather(*[work(k) for k in range(10)])

        assert asyncio.run(main()) == [12.0 * k for k in range(10)]

    def test_tracer_across_tasks(self):
        def f(x):
            async def double():
                await asyncio.sleep(0)
                return x * 2.0

            async def main():
                a, b = await asyncio.gather(double(), double())
                return a * b

            return asyncio.run(main())

        assert grad(f)(3.0) == 24.0


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


class Witness(np.ndarray):
    """An array that can be watched by a weak reference."""


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
