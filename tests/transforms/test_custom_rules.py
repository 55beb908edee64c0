"""custom_jvp, custom_vjp, checkpoint and stop_gradient under every transform."""

import numpy as np
import pytest

import autodidax as ad
from autodidax import (
    checkpoint,
    custom_jvp,
    custom_vjp,
    errors,
    grad,
    jacfwd,
    jacrev,
    jit,
    jvp,
    lax,
    linearize,
    stop_gradient,
    vjp,
    vmap,
)

X = np.array([0.5, -1.0, 2.0])


def by_jvp(f, scale):
    """f with its derivative times a factor, so that a test sees whose rule ran."""
    g = custom_jvp(f)

    @g.defjvp
    def rule(primals, tangents):
        y, t = jvp(f, primals, tangents)
        return y, ad.tree.map(lambda v: v * scale, t)

    return g


def by_vjp(f, scale):
    g = custom_vjp(f)
    scaled = lambda ct: ct if ct.dtype == ad.float0 else ct * scale
    g.defvjp(lambda *args: (f(*args), args), lambda args, ct: ad.tree.map(scaled, vjp(f, *args)[1](ct)))
    return g


square = lambda x: np.sin(x) * x
first = lambda x: np.sin(x) + x * np.cos(x)
second = lambda x: 2 * np.cos(x) - x * np.sin(x)
RULES = {"custom_jvp": by_jvp, "custom_vjp": by_vjp}
MODES = {
    "eager": lambda f: f,
    "jit": jit,
    "vmap": lambda f: lambda x: vmap(f)(np.array([x, 2 * x]))[0],
    "jit of vmap": lambda f: lambda x: jit(vmap(f))(np.array([x, 2 * x]))[0],
}
FIRST = {
    "grad": grad,
    "jvp": lambda f: lambda x: jvp(f, (x,), (1.0,))[1],
    "linearize": lambda f: lambda x: linearize(f, x)[1](1.0),
    "of jit": lambda f: grad(jit(f)),
    "of a scan": lambda f: grad(lambda x: lax.scan(lambda c, _: (f(x), None), x, None, length=1)[0]),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rule", RULES)
class TestRuleIsUsed:
    @pytest.mark.parametrize("derivative", FIRST)
    def test_first_order(self, rule, mode, derivative):
        f = RULES[rule](square, 10.0)
        assert MODES[mode](f)(0.7) == pytest.approx(square(0.7))
        assert MODES[mode](FIRST[derivative](f))(0.7) == pytest.approx(10 * first(0.7))

    def test_second_order_differentiates_the_rule(self, rule, mode):
        f = RULES[rule](square, 10.0)
        pairs = [(grad, grad), (jacfwd, grad), (jacrev, jacfwd), (jacfwd, jacfwd)]
        for d in (lambda f, pair=pair: pair[0](pair[1](f)) for pair in pairs):
            assert MODES[mode](d(f))(0.7) == pytest.approx(10 * second(0.7))

    def test_closure_over_every_outer_transform(self, rule, mode):
        def f(w):
            g = RULES[rule](lambda x: np.sin(x) * w, 1.0)
            return grad(g)(0.7) * w  # cos(0.7) w^2

        assert MODES[mode](grad(f))(3.0) == pytest.approx(6 * np.cos(0.7))
        assert MODES[mode](FIRST["jvp"](f))(3.0) == pytest.approx(6 * np.cos(0.7))
        assert MODES[mode](f)(3.0) == pytest.approx(9 * np.cos(0.7))

    def test_trees(self, rule, mode):
        f = RULES[rule](lambda d, y: {"o": d["a"] * y, "p": d["a"] ** 2}, 1.0)
        g = lambda x: (lambda out: out["o"] + out["p"])(f({"a": x}, 3.0 * x))  # 4 x^2
        assert MODES[mode](grad(g))(2.0) == pytest.approx(16.0)

    def test_integer_argument(self, rule, mode):
        f = RULES[rule](lambda n, x: n * x, 1.0)
        assert MODES[mode](grad(lambda x: f(3, x)))(2.0) == 3.0


class TestCustomJVP:
    def test_nondiff_argnums(self):
        def f(fun, x, n):
            return fun(x) * n

        g = custom_jvp(f, nondiff_argnums=(0, 2))
        g.defjvp(lambda fun, n, primals, tangents: (g(fun, primals[0], n), tangents[0] * 100.0 * n))
        assert grad(g, 1)(np.sin, 0.5, 2) == 200.0
        assert jit(grad(lambda x: g(np.sin, x, 2)))(0.5) == 200.0
        assert grad(lambda x: g(np.sin, x, n=2))(0.5) == 200.0

    def test_defjvps(self):
        f = custom_jvp(lambda x, y: x * y)
        f.defjvps(lambda t, out, x, y: 10.0 * t * y, None)
        assert grad(f, (0, 1))(2.0, 3.0) == (30.0, 0.0)
        f.defjvps(None, None)
        assert grad(f, (0, 1))(2.0, 3.0) == (0.0, 0.0)

    def test_log1pexp(self):
        f = custom_jvp(lambda x: np.log(1.0 + np.exp(x)))

        @f.defjvp
        def rule(primals, tangents):
            (x,), (t,) = primals, tangents
            return f(x), (1 - 1 / (1 + np.exp(x))) * t

        with np.errstate(over="ignore"):
            assert grad(f)(1000.0) == 1.0
            np.testing.assert_array_equal(vmap(grad(f))(np.array([0.0, 1000.0])), [0.5, 1.0])
        assert grad(grad(f))(0.0) == pytest.approx(0.25)

    def test_decorated_method(self):
        class Model:
            w = 3.0

            @custom_jvp
            def plain(self, x):
                return x

        assert Model.plain.__name__ == "plain"

    def test_zero_tangent_may_be_none(self):
        f = custom_jvp(lambda x: (x, x * 2))
        f.defjvp(lambda primals, tangents: (f(*primals), (None, tangents[0])))
        assert grad(lambda x: f(x)[0] + f(x)[1])(1.0) == 1.0
        assert jvp(f, (1.0,), (1.0,))[1] == (0.0, 1.0)

    def test_name_and_docstring(self):
        @custom_jvp
        def documented(x):
            """What it is."""

        assert documented.__name__ == "documented" and documented.__doc__ == "What it is."


class TestCustomVJP:
    def test_none_for_zero(self):
        f = custom_vjp(lambda x, y: x * y)
        f.defvjp(lambda x, y: (f(x, y), y), lambda y, ct: (ct * y, None))
        assert grad(f, (0, 1))(2.0, 3.0) == (3.0, 0.0)
        assert jvp(f, (2.0, 3.0), (1.0, 1.0))[1] == 3.0

    def test_nondiff_argnums(self):
        f = custom_vjp(lambda limit, x: x, nondiff_argnums=(0,))
        f.defvjp(lambda limit, x: (x, None), lambda limit, _, ct: (np.clip(ct, -limit, limit),))
        assert grad(lambda x: 5.0 * f(2.0, x))(1.0) == 2.0
        assert jit(grad(lambda x: 5.0 * f(2.0, x)))(1.0) == 2.0
        with pytest.raises(errors.NotLinearError, match="custom_jvp"):
            jvp(lambda x: f(2.0, x), (1.0,), (1.0,))

    def test_residuals_of_any_kind(self):
        f = custom_vjp(lambda x: x * 2.0)
        f.defvjp(lambda x: (f(x), {"x": x, "mode": "triple", "none": None}),
                 lambda r, ct: (ct * (3.0 if r["mode"] == "triple" else 0.0),))  # fmt: skip
        assert grad(f)(1.0) == 3.0 and jit(grad(f))(1.0) == 3.0
        np.testing.assert_array_equal(vmap(grad(f))(X), np.full(3, 3.0))

    def test_forward_over_reverse_differentiates_bwd(self):
        f = custom_vjp(lambda x: x**2)
        f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * x**3,))  # a derivative of x^3
        assert grad(f)(2.0) == 8.0
        assert jacfwd(grad(f))(2.0) == 12.0 and grad(grad(f))(2.0) == 12.0
        assert jvp(f, (2.0,), (1.0,))[1] == 8.0

    @pytest.mark.parametrize("bwd", [lambda x, ct: (ct**2,), lambda x, ct: (ct + 1.0,), lambda x, ct: (np.sin(ct),)])
    def test_bwd_that_is_not_linear(self, bwd):
        f = custom_vjp(lambda x: x)
        f.defvjp(lambda x: (x, x), bwd)
        assert np.isfinite(grad(f)(1.0))
        with pytest.raises(errors.NotLinearError, match="backward rule is not linear in the cotangent"):
            jvp(f, (1.0,), (1.0,))

    def test_cotangents_have_the_output_s_form(self):
        seen = []
        f = custom_vjp(lambda x: {"a": x, "n": np.argmax(x)})
        f.defvjp(lambda x: (f(x), None), lambda _, ct: [seen.append(ct), (ct["a"],)][1])
        grad(lambda x: np.sum(f(x)["a"] * X))(X)
        np.testing.assert_array_equal(seen[0]["a"], X)
        assert seen[0]["n"].dtype == ad.float0

    def test_nested(self):
        inner = by_vjp(np.sin, 2.0)
        outer = by_vjp(lambda x: inner(x) * x, 3.0)
        assert grad(outer)(0.7) == pytest.approx(3 * (2 * np.cos(0.7) * 0.7 + np.sin(0.7)))


class TestCheckpoint:
    def test_computes_again(self):
        calls = []

        def count(x):
            calls.append(1)
            return np.sin(x)

        tick = ad.pointwise("tick_of_checkpoint", count, lambda _, x: np.cos(x))
        try:
            f = lambda x: tick(tick(x)) * 2.0
            plain = grad(f)(0.5)
            once = len(calls)
            calls.clear()
            assert grad(checkpoint(f))(0.5) == pytest.approx(plain)
            assert len(calls) > once  # the forward pass ran again
        finally:
            ad.registry.remove(tick)

    def test_keeps_only_inputs(self):
        f = checkpoint(lambda x: np.sin(np.sin(np.sin(x))))
        _, pullback = vjp(f, X)
        kept = [node for node in pullback._tape if node is not None]
        arrays = [v for node in kept for v in node if isinstance(v, np.ndarray)]
        assert len(kept) <= 2 and not arrays

    @pytest.mark.parametrize("mode", MODES)
    def test_derivatives(self, mode):
        f = checkpoint(lambda x: np.sin(x) * x)
        assert MODES[mode](grad(f))(0.7) == pytest.approx(first(0.7))
        assert MODES[mode](grad(grad(f)))(0.7) == pytest.approx(second(0.7))
        assert MODES[mode](jacfwd(grad(f)))(0.7) == pytest.approx(second(0.7))
        assert MODES[mode](lambda x: jvp(f, (x,), (1.0,))[1])(0.7) == pytest.approx(first(0.7))

    def test_closure(self):
        f = lambda w: grad(lambda x: checkpoint(lambda x: np.sin(x) * w)(x))(0.7) * w
        assert grad(f)(3.0) == pytest.approx(6 * np.cos(0.7))

    def test_options(self):
        f = checkpoint(lambda x, n: x**n, static_argnums=(1,))
        assert grad(f)(2.0, 3) == 12.0
        assert ad.remat is checkpoint

    def test_nested(self):
        f = checkpoint(lambda x: checkpoint(np.sin)(checkpoint(np.sin)(x)))
        assert grad(f)(0.7) == pytest.approx(np.cos(np.sin(0.7)) * np.cos(0.7))
        assert jit(grad(f))(0.7) == pytest.approx(np.cos(np.sin(0.7)) * np.cos(0.7))


class TestStopGradient:
    @pytest.mark.parametrize("mode", MODES)
    def test_is_a_constant(self, mode):
        f = lambda x: x * stop_gradient(np.sin(x))
        assert MODES[mode](grad(f))(0.7) == pytest.approx(np.sin(0.7))
        assert MODES[mode](lambda x: jvp(f, (x,), (1.0,))[1])(0.7) == pytest.approx(np.sin(0.7))
        assert MODES[mode](grad(grad(f)))(0.7) == 0.0

    def test_trees_and_plain_values(self):
        assert stop_gradient({"a": 1.0, "b": None}) == {"a": 1.0, "b": None}
        assert grad(lambda x: sum(stop_gradient([x, x])) * x)(3.0) == 6.0

    def test_straight_through(self):
        f = lambda x: x + stop_gradient(np.round(x) - x)
        assert f(1.3) == 1.0 and grad(f)(1.3) == 1.0
