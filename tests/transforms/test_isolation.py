"""Nested transforms do not confuse their perturbations; tracers leak into no cache, thread, task or later use."""

import asyncio
import os
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
    "map": (lambda f: jit(lambda x: lax.map(f, x))(np.ones(2)), "map"),
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
