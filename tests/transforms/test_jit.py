"""jit, make_jaxpr and eval_shape: one trace a signature, static arguments, methods, the program and its text."""

import functools

import numpy as np
import pytest

import autodidax as ad
from autodidax import config, errors, grad, jit, jvp, lax, make_jaxpr, vmap

X = np.array([1.0, 2.0, 3.0])


def counted(f):
    """f with the number of its calls in `calls`."""

    @functools.wraps(f)
    def g(*args, **kwargs):
        g.calls += 1
        return f(*args, **kwargs)

    g.calls = 0
    return g


SIGNATURES = {
    "values": ([(X,), (X + 1,), (-X,)], 1),
    "dtypes": ([(X,), (X.astype(np.float32),), (X.astype(int),)], 3),
    "shapes": ([(X,), (X[:2],), (X[0],)], 3),
    "weak types": ([(1.0,), (2.0,), (np.float64(1.0),), (1,), (True,)], 4),
    "trees": ([((X, X),), ([X, X],), ({"a": X, "b": X},)], 3),
    "views and orders": ([(np.ones((3, 3)),), (np.ones((3, 3)).T,), (np.ones((6, 6))[::2, ::2],)], 1),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_one_trace_a_signature(name):
    calls, traces = SIGNATURES[name]
    f = counted(lambda x: ad.tree.map(lambda v: v * 2, x))
    g = jit(f)
    for _ in range(2):
        for args in calls:
            g(*args)
    assert f.calls == traces


@pytest.mark.parametrize("name", ["grad", "vmap", "jvp", "grad of vmap", "jit of jit"])
def test_one_trace_under_transforms(name):
    f = counted(lambda x: np.sin(x) * x)
    g = jit(f)
    run = {
        "grad": lambda: grad(g)(1.5),
        "vmap": lambda: vmap(g)(X),
        "jvp": lambda: jvp(g, (1.5,), (1.0,)),
        "grad of vmap": lambda: grad(lambda x: np.sum(vmap(g)(x)))(X),
        "jit of jit": lambda: jit(g)(1.5),
    }[name]
    for _ in range(3):
        run()
    assert f.calls == 1


def test_wrapping_a_function_twice_shares_its_programs():
    f = counted(lambda x: x * 2)
    jit(f)(1.0)
    jit(f)(1.0)
    assert f.calls == 1
    jit(f).clear_cache()
    jit(f)(1.0)
    assert f.calls == 2


class TestStatics:
    def test_argnums_and_names(self):
        f = counted(lambda x, n, *, mode="add": x + n if mode == "add" else x * n)
        g = jit(f, static_argnums=1, static_argnames=("mode",))
        assert g(2.0, 3) == 5.0
        assert g(2.0, 3, mode="multiply") == 6.0
        assert g(5.0, 3, mode="multiply") == 15.0
        assert g(2.0, 4) == 6.0
        assert f.calls == 3

    def test_name_of_a_positional_argument(self):
        g = jit(lambda x, n: x * len(range(n)), static_argnames="n")
        assert g(2.0, 3) == 6.0 and g(2.0, n=3) == 6.0

    def test_position_given_by_keyword(self):
        g = jit(lambda x, n: x * len(range(n)), static_argnums=(1,))
        assert g(2.0, n=3) == 6.0

    def test_negative(self):
        assert jit(lambda x, n: x * len(range(n)), static_argnums=-1)(2.0, 3) == 6.0

    def test_equal_values_of_different_types_are_different(self):
        seen = []
        g = jit(lambda x, n: [seen.append(type(n)), x * n][1], static_argnums=1)
        g(1.0, 1), g(1.0, True), g(1.0, 1.0)
        assert seen == [int, bool, float]

    def test_function_as_static(self):
        g = jit(lambda f, x: f(x), static_argnums=0)
        assert g(np.sin, 0.0) == 0.0 and g(np.cos, 0.0) == 1.0

    def test_gradient_with_statics(self):
        g = jit(lambda x, n: x**n, static_argnums=1)
        assert grad(g)(2.0, 3) == 12.0
        assert vmap(lambda x: g(x, 2))(X).tolist() == [1.0, 4.0, 9.0]


class TestForms:
    def test_decorator_with_arguments(self):
        @jit(static_argnames="n")
        def f(x, n):
            """doc"""
            return x * n

        @functools.partial(jit, static_argnums=(1,))
        def g(x, n):
            return x * n

        assert f(2.0, n=3) == g(2.0, 3) == 6.0
        assert f.__name__ == "f" and f.__doc__ == "doc" and f.__wrapped__(2.0, 4) == 8.0

    def test_method(self):
        class Model:
            def __init__(self, w):
                self.w = w

            def predict(self, x):
                return x * self.w

            @functools.partial(jit, static_argnums=0)
            def decorated(self, x):
                return x * self.w

            __hash__ = object.__hash__

        a, b = Model(2.0), Model(3.0)
        assert jit(a.predict)(1.0) == 2.0 and jit(b.predict)(1.0) == 3.0
        assert a.decorated(1.0) == 2.0 and b.decorated(1.0) == 3.0

    def test_partial_and_callable_object(self):
        class Scale:
            def __call__(self, x):
                return x * 4.0

        assert jit(functools.partial(lambda a, x: a * x, 3.0))(2.0) == 6.0
        assert jit(functools.partial(lambda a, x: a * x, x=3.0))(2.0) == 6.0
        assert jit(Scale())(2.0) == 8.0
        assert jit(np.sin)(0.0) == 0.0

    def test_keywords_and_trees(self):
        f = jit(lambda d, *, scale, shift=0.0: {"y": d["x"] * scale + shift, "none": None})
        assert f({"x": 2.0}, scale=3.0) == {"y": 6.0, "none": None}
        assert f({"x": 2.0}, shift=1.0, scale=3.0) == {"y": 7.0, "none": None}

    def test_weak_types_are_kept(self):
        x = np.float32(2.0)
        assert jit(lambda a, b: a * b)(x, 3.0).dtype == np.float32
        assert jit(lambda a, b: a * b)(x, np.float64(3.0)).dtype == np.float64
        assert jit(lambda b: np.ones(2, np.float32) * b)(2.0).dtype == np.float32

    def test_disabled(self):
        f = counted(lambda x: x if x > 0 else -x)
        config.update("jax_disable_jit", True)
        try:
            assert jit(f)(-2.0) == 2.0
        finally:
            config.update("jax_disable_jit", False)


class TestLowered:
    def test_program_and_source(self):
        lowered = jit(lambda x: np.sin(x) * 2.0 + x).lower(X)
        assert str(lowered.jaxpr()) == (
            "{ lambda ; a:f64[3]. let\n"
            "    b:f64[3] = sin a\n"
            "    c:f64[3] = mul b 2.0:f64[]\n"
            "    d:f64[3] = add c a\n"
            "  in (d,) }"
        )
        assert lowered.as_text() == str(lowered.jaxpr())
        compiled = lowered.compile()
        assert compiled.source().startswith("def ") and "sin" in compiled.source()
        np.testing.assert_array_equal(compiled(X), np.sin(X) * 2.0 + X)

    def test_from_shapes_alone(self):
        compiled = jit(lambda d: {"out": d["a"] @ d["b"]}).lower(
            {"a": ad.ShapeDtypeStruct((2, 3), np.float64), "b": ad.ShapeDtypeStruct((3,), np.float64)}
        )
        out = compiled.compile()({"a": np.ones((2, 3)), "b": X})["out"]
        np.testing.assert_array_equal(out, [6.0, 6.0])

    def test_compiled_is_differentiable(self):
        compiled = jit(lambda x: np.sum(x**2)).lower(X).compile()
        np.testing.assert_array_equal(grad(compiled)(X), 2 * X)

    @pytest.mark.parametrize("args", [(X[:2],), (X.astype(int),), (X, X), ((X,),), ("a",)], ids=repr)
    def test_compiled_is_held_to_its_signature(self, args):
        with pytest.raises((errors.ShapeError, errors.TreeError, errors.DtypeError), match="compiled"):
            jit(lambda x: np.sum(x)).lower(X).compile()(*args)


class TestMakeJaxpr:
    def test_text(self):
        program = make_jaxpr(lambda x, y: (np.sum(x * y), y))(X, 2.0)
        assert str(program) == (
            "{ lambda ; a:f64[3] b:f64[]. let\n"
            "    c:f64[3] = mul a b\n"
            "    d:f64[] = reduce_sum[axes=(0,)] c\n"
            "  in (d, b) }"
        )

    def test_constants(self):
        program = make_jaxpr(lambda x: x * X)(X)
        assert str(program).startswith("{ lambda a:f64[3]; b:f64[3]. let")
        np.testing.assert_array_equal(program.consts[0], X)

    def test_static_and_shape(self):
        program, shape = make_jaxpr(lambda x, n: {"y": x[:n]}, static_argnums=1, return_shape=True)(X, 2)
        assert shape == {"y": ad.ShapeDtypeStruct((2,), np.float64)}
        assert program.out_avals[0].shape == (2,)

    def test_dead_code_is_left_out(self):
        program = make_jaxpr(lambda x: [np.cos(x), np.sin(x)][1])(X)
        assert [e.primitive.name for e in program.eqns] == ["sin"]

    def test_gradient_program(self):
        program = make_jaxpr(grad(lambda x: np.sin(x) * x))(2.0)
        ad_value = ad.eval_jaxpr(program.jaxpr, program.consts, 2.0)[0]
        assert ad_value == pytest.approx(np.cos(2.0) * 2.0 + np.sin(2.0))

    def test_nested_programs(self):
        text = str(make_jaxpr(lambda x: lax.scan(lambda c, r: (c + r, c), 0.0, x))(X))
        assert text.count("lambda") == 2 and "loop[" in text

    def test_every_program_is_valid(self):
        from autodidax.core.jaxpr import check_jaxpr

        f = lambda x: lax.scan(lambda c, r: (lax.cond(c > 1.0, np.sin, np.cos, c) * r, c), 1.0, x)[0]
        for g in (f, grad(f), ad.jacfwd(grad(f)), vmap(grad(f)), jit(ad.hessian(f))):
            x = np.stack([X, X]) if g.__name__.startswith("vmap") else X
            check_jaxpr(make_jaxpr(g)(x).jaxpr)


def test_eval_shape():
    f = lambda a, *, b: {"s": np.sum(a), "m": a @ b, "i": np.argmax(a)}
    shapes = ad.eval_shape(f, ad.ShapeDtypeStruct((3,), np.float32), b=np.ones((3, 4), np.float32))
    assert shapes == {
        "s": ad.ShapeDtypeStruct((), np.float32),
        "m": ad.ShapeDtypeStruct((4,), np.float32),
        "i": ad.ShapeDtypeStruct((), np.int64),
    }


def test_eval_shape_computes_nothing():
    ran = []
    f = lambda x: [ran.append(1), np.linalg.inv(x)][1]
    assert ad.eval_shape(f, ad.ShapeDtypeStruct((20_000, 20_000), np.float64)).shape == (20_000, 20_000)
    assert ran == [1]
