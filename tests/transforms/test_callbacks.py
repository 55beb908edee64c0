"""pure_callback and io_callback; effects in every pass: how often, when, and in which order they happen."""

import collections
import functools

import numpy as np
import pytest

import autodidax as ad
from autodidax import (
    ShapeDtypeStruct,
    checkpoint,
    custom_jvp,
    custom_vjp,
    debug,
    errors,
    grad,
    io_callback,
    jit,
    jvp,
    lax,
    linearize,
    make_jaxpr,
    pure_callback,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)
from autodidax.core.jaxpr import check_jaxpr, eval_jaxpr, has_effects
from autodidax.transforms.program import (
    batch_program,
    jvp_program,
    linearize_program,
    transpose_program,
    vjp_program,
    without_effects,
)

anp = ad.numpy
SCALAR = ShapeDtypeStruct((), np.float64)
X = np.array([0.7, -0.4, 1.6])


class Log:
    """What happened: `log.see(tag, value)` is an effect that adds to it."""

    KINDS = ("debug.callback", "io_callback", "io_callback with a result")

    def __init__(self, kind):
        self.kind = kind
        self.entries = []

    def note(self, tag, value):
        self.entries.append((tag, round(float(value), 9)))

    def see(self, tag, x):
        """A value: x itself, or what an effect returned for it."""
        if self.kind == "debug.callback":
            debug.callback(lambda v: self.note(tag, v), x)
        elif self.kind == "io_callback":
            io_callback(lambda v: self.note(tag, v), None, x)
        elif self.kind is not None:
            x = x + io_callback(lambda v: [self.note(tag, v), np.int64(0)][1], ShapeDtypeStruct((), np.int64), x)
        return x

    def of(self, f, *args):
        self.entries.clear()
        f(*args)
        return list(self.entries)


def with_rule(kind, f):
    """f with a custom rule that calls it."""
    if kind == "custom_jvp":
        g = custom_jvp(lambda x: f(x))
        g.defjvp(lambda primals, tangents: jvp(f, primals, tangents))
        return g
    g = custom_vjp(lambda x: f(x))
    g.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * (1.0 + x * x),))
    return g


def random_program(rng, see, depth, tags):
    """A random function of a scalar with effects in it, nested `depth` deep."""

    def tag():
        tags.append(len(tags))
        return tags[-1]

    def inner():
        return random_program(rng, see, depth - 1, tags)

    if depth == 0:
        own, factor = tag(), rng.uniform(0.8, 1.3)
        return lambda x: np.sin(see(own, x)) * factor
    kind = rng.choice(KINDS)
    g, h, own = inner(), inner(), tag()
    edge = 0.5 * rng.normal()

    def test(c):
        return see(own, c[0]) < 1.0

    def step(c):
        return c[0] + 0.4 + 0.2 * abs(stop_gradient(c[1])), g(c[1])

    return {
        "chain": lambda x: h(g(x)) + x,
        "cond": lambda x: lax.cond(x > edge, g, h, x),
        "switch": lambda x: lax.switch(anp.asarray(stop_gradient(2 * x)).astype(int), [g, h, np.cos], x),
        "scan": lambda x: lax.scan(lambda c, b: (g(c) + b * x, c), x, np.array([0.1, -0.2]))[0],
        "fori_loop": lambda x: lax.fori_loop(0, 2, lambda i, v: g(v) * 0.9 + x * 0.1, x),
        "while_loop": lambda x: lax.while_loop(test, step, (0.3 * stop_gradient(x), x))[1],
        "jit": jit(g),
        "checkpoint": checkpoint(g),
        "custom_jvp": with_rule("custom_jvp", g),
        "custom_vjp": with_rule("custom_vjp", g),
    }[str(kind)]


KINDS = (
    "chain", "cond", "switch", "scan", "fori_loop", "while_loop", "jit", "checkpoint", "custom_jvp", "custom_vjp",
)  # fmt: skip
MODES = {
    "jit": jit,
    "value_and_grad": value_and_grad,
    "grad of jit": lambda f: grad(jit(f)),
    "jit of grad": lambda f: jit(grad(f)),
    "jit of grad of jit": lambda f: jit(lambda x: grad(jit(f))(x)),
    "jvp": lambda f: lambda x: jvp(f, (x,), (1.0,))[1],
    "jvp of jit": lambda f: lambda x: jvp(jit(f), (x,), (1.0,))[1],
    "jit of jvp": lambda f: jit(lambda x: jvp(f, (x,), (1.0,))[1]),
    "linearize": lambda f: lambda x: [f_jvp := linearize(f, x)[1], f_jvp(1.0), f_jvp(2.0)][1:],
    "linearize of jit": lambda f: lambda x: linearize(jit(f), x)[1](1.0),
    "jit of linearize": lambda f: jit(lambda x: linearize(f, x)[1](1.0)),
    "vjp, pulled twice": lambda f: lambda x: [pull := vjp(f, x)[1], pull(1.0), pull(2.0)][1:],
    "grad of checkpoint": lambda f: grad(checkpoint(f)),
    "jit of grad of checkpoint": lambda f: jit(grad(checkpoint(f))),
    "grad of grad": lambda f: grad(grad(f)),
    "grad of grad of jit": lambda f: grad(grad(jit(f))),
    "grad of jvp of jit": lambda f: grad(lambda x: jvp(jit(f), (x,), (1.0,))[1]),
    "linearize of grad of jit": lambda f: lambda x: linearize(grad(jit(f)), x)[1](1.0),
}
BATCHED = {
    "vmap": vmap,
    "vmap of jit": lambda f: vmap(jit(f)),
    "jit of vmap": lambda f: jit(vmap(f)),
    "vmap of grad": lambda f: vmap(grad(f)),
    "vmap of grad of jit": lambda f: vmap(grad(jit(f))),
    "grad of vmap": lambda f: grad(lambda x: anp.sum(vmap(f)(x))),
    "jit of grad of vmap": lambda f: jit(grad(lambda x: anp.sum(vmap(f)(x)))),
}


def same(a, b):
    for p, q in zip(ad.tree.leaves(a), ad.tree.leaves(b), strict=True):
        np.testing.assert_allclose(p, q, rtol=1e-9, atol=1e-12)


def check_program(seed, kind, depth):
    """The same log as the plain run under every mode, that of the rows under vmap, and the values of the program that
    has no effects."""
    log = Log(kind)
    f = random_program(np.random.default_rng(seed), log.see, depth, [])
    pure = random_program(np.random.default_rng(seed), Log(None).see, depth, [])
    x = float(np.random.default_rng(seed).normal())
    want = log.of(f, x)
    for mode in MODES.values():
        assert log.of(mode(f), x) == want
        same(mode(f)(x), mode(pure)(x))
    rows = collections.Counter(entry for x in X for entry in log.of(f, float(x)))
    for mode in BATCHED.values():
        assert collections.Counter(log.of(mode(f), X)) == rows
        same(mode(f)(X), mode(pure)(X))


@pytest.mark.parametrize("kind", Log.KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_effects_happen_once_where_the_plain_run_has_them(seed, kind):
    check_program(seed, kind, depth=2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", Log.KINDS)
@pytest.mark.parametrize("seed", range(6, 60))
def test_effects_of_deeper_programs(seed, kind):
    check_program(seed, kind, depth=3)


# passes over programs


def program_of(f, *args):
    return make_jaxpr(f)(*args)


@pytest.fixture
def log():
    return Log("io_callback")


def test_a_program_shows_effects_as_equations_and_keeps_those_without_a_use(log):
    def f(x):
        log.see("a", x)
        io_callback(lambda v: v, SCALAR, 2.0 * x)
        debug.print("x {}", x)
        return jit(lambda y: [log.see("b", y), 1.0][1])(x)

    closed = program_of(f, 1.0)
    names = [eqn.primitive.name for eqn in closed.eqns]
    assert names == ["io_callback", "mul", "io_callback", "debug_callback", "jit"]
    assert "debug_callback[callback=print('x {}') ordered=False] a" in str(closed)
    assert has_effects(closed) and log.entries == []
    check_jaxpr(closed.jaxpr)


PASSES = {
    "eval_jaxpr": lambda p, x: eval_jaxpr(p.jaxpr, p.consts, x),
    "jvp_program": lambda p, x: ad.core.jaxpr.jaxpr_as_fun(jvp_program(p, (True,))[0])(x, 1.0),
    "vjp_program": lambda p, x: ad.core.jaxpr.jaxpr_as_fun(vjp_program(p, (True,)).first)(x),
    "linearize_program": lambda p, x: ad.core.jaxpr.jaxpr_as_fun(linearize_program(p, (True,)).first)(x),
    "batch_program": lambda p, x: ad.core.jaxpr.jaxpr_as_fun(
        batch_program(p, ad.transforms.batching.BatchTrace("f", 1), (True,))[0]
    )(np.array([x])),
}
NESTED = {
    "flat": lambda f: f,
    "jit": jit,
    "cond": lambda f: lambda x: lax.cond(x > 0, f, lambda x: x, x),
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=1)[0],
    "while": lambda f: lambda x: lax.while_loop(lambda c: c[0] < 1, lambda c: (c[0] + 1, f(c[1])), (0, x))[1],
    "checkpoint": checkpoint,
    "custom_jvp": lambda f: with_rule("custom_jvp", f),
    "custom_vjp": lambda f: with_rule("custom_vjp", f),
}


@pytest.mark.parametrize("place", NESTED)
@pytest.mark.parametrize("how", PASSES)
def test_every_pass_keeps_an_effect_that_no_result_needs(how, place, log):
    f = NESTED[place](lambda x: [log.see("here", 2.0 * x), np.sin(x)][1])
    program = program_of(f, 1.5)
    assert log.entries == []
    PASSES[how](program, 1.5)
    assert log.entries == [("here", 3.0)]


@pytest.mark.parametrize("place", NESTED)
def test_the_backward_program_has_no_effect_of_the_forward_pass(place, log):
    program = program_of(NESTED[place](lambda x: [log.see("here", x), np.sin(x)][1]), 1.5)
    assert not has_effects(vjp_program(program, (True,)).second)
    assert not has_effects(linearize_program(program, (True,)).second)


def test_a_transposed_program_leaves_out_the_effects_on_its_linear_inputs(log):
    program = program_of(lambda x: [debug.callback(log.note, "x", x), 3.0 * x][1], 1.0)
    transposed, _ = transpose_program(program, (True,))
    assert not has_effects(transposed) and has_effects(program)


@pytest.mark.parametrize("place", NESTED)
def test_a_program_without_its_effects(place, log):
    program = program_of(NESTED[place](lambda x: [log.see("here", x), np.sin(x)][1]), 1.5)
    stripped = without_effects(program)
    assert not has_effects(stripped)
    same(eval_jaxpr(stripped.jaxpr, stripped.consts, 1.5), eval_jaxpr(program.jaxpr, program.consts, 1.5))
    kept = program_of(NESTED[place](lambda x: io_callback(np.sin, SCALAR, stop_gradient(x))), 1.5)
    assert without_effects(kept) is None


# io_callback


def test_it_runs_at_each_call_of_a_compiled_program_and_not_while_it_is_written(log):
    f = jit(lambda x: log.see("x", x))
    f.lower(1.0)
    assert log.entries == []
    f(1.0), f(2.0), f(1.0)
    assert log.entries == [("x", 1.0), ("x", 2.0), ("x", 1.0)]


def test_a_compiled_call_on_plain_values_inside_of_another_program_waits_for_it(log):
    inner = jit(lambda x: log.see("x", x))
    inner(5.0)
    log.entries.clear()
    outer = jit(lambda y: inner(5.0) + lax.scan(lambda c, b: (log.see("c", c) + b, None), 0.0, np.ones(2))[0] + y)
    compiled = outer.lower(1.0).compile()
    assert log.entries == []
    compiled(1.0), outer(2.0)
    assert log.entries == [("x", 5.0), ("c", 0.0), ("c", 1.0)] * 2


def test_a_callback_without_operands_runs_with_the_program():
    count = iter(range(10))
    f = jit(lambda x: x + io_callback(lambda: float(next(count)), SCALAR))
    assert [f(10.0), f(10.0)] == [10.0, 11.0]


@pytest.mark.parametrize("ordered", [False, True])
def test_rows_come_in_order_and_a_callback_that_is_the_same_in_all_rows_runs_once(ordered):
    seen = []

    def f(x, y):
        io_callback(lambda v: seen.append(("x", float(v))), None, x, ordered=ordered)
        io_callback(lambda v: seen.append(("y", float(v))), None, y, ordered=ordered)
        return x

    for g in (vmap(f, (0, None)), jit(vmap(f, (0, None)))):
        seen.clear()
        g(np.arange(3.0), 7.0)
        assert seen == [("x", 0.0), ("x", 1.0), ("x", 2.0), ("y", 7.0)]


def test_rows_of_nested_vmaps_come_outermost_first():
    seen = []

    def f(x, y):
        return io_callback(lambda x, y: [seen.append((float(x), float(y))), x * y][1], SCALAR, x, y)

    outer = vmap(vmap(f, (None, 0)), (0, None))
    want = [(x, y) for x in (1.0, 2.0) for y in (3.0, 4.0, 5.0)]
    for g in (outer, jit(outer)):
        seen.clear()
        np.testing.assert_array_equal(
            g(np.array([1.0, 2.0]), np.arange(3.0, 6.0)), np.multiply.outer([1, 2], [3, 4, 5])
        )
        assert seen == want


def test_no_rows():
    f = vmap(lambda x: io_callback(lambda v: 1 / 0, ShapeDtypeStruct((2,), np.float32), x))
    out = jit(f)(np.zeros((0, 3)))
    assert out.shape == (0, 2) and out.dtype == np.float32


def test_rows_that_differ_in_what_they_run(log):
    f = lambda x: lax.cond(x > 0, lambda x: log.see("up", x) * 2, lambda x: log.see("down", x), x)
    want = [("up", 0.7), ("down", -0.4), ("up", 1.6)]
    assert log.of(vmap(f), X) == want
    assert log.of(jit(vmap(f)), X) == want
    np.testing.assert_allclose(vmap(grad(f))(X), [2, 1, 2])


def test_effects_of_a_condition_and_a_body_in_turn(log):
    def f(n):
        return lax.while_loop(lambda c: log.see("test", c) < n, lambda c: log.see("step", c) + 1.0, 0.0)

    want = [("test", 0), ("step", 0), ("test", 1), ("step", 1), ("test", 2)]
    for g in (f, jit(f), lambda n: grad(f)(n) * 0):
        assert log.of(g, 2.0) == want
    assert len(log.of(vmap(f), np.array([2.0, 1.0]))) == 1 + 4 + 2  # the first test is the same in all rows


def test_a_first_step_that_is_repeated_with_another_dtype_repeats_no_effect(log):
    assert log.of(lambda: lax.scan(lambda c, x: (log.see("c", c) + x, None), 0, np.array([0.5, 1.0]))) == [
        ("c", 0), ("c", 0.5),
    ]  # fmt: skip
    count = iter(range(5))
    step = lambda c, x: (c + x + io_callback(lambda: float(next(count)), SCALAR), None)
    assert lax.scan(lambda c, x: lax.scan(step, 0, x), 0, np.full((2, 2), 0.5))[0] == 1 + 2 + 3
    assert next(count) == 4


def test_effects_and_collectives_in_rows_that_differ_are_refused(log):
    f = lambda x: lax.cond(x > 0, lambda x: lax.psum(log.see("x", x), "rows"), lambda x: x, x)
    with pytest.raises(errors.UnsupportedError, match="both effects and collectives"):
        vmap(f, axis_name="rows")(X)


def test_checkpoint_keeps_what_depends_on_the_result_of_an_effect():
    count = iter(range(1, 9))
    f = checkpoint(lambda x: np.sin(x * io_callback(lambda: float(next(count)), SCALAR)))
    assert grad(f)(0.5) == np.cos(0.5)
    assert jit(grad(f))(0.5) == 2.0 * np.cos(1.0)
    assert next(count) == 3


def test_structural_zeros_past_a_program_with_effects(log):
    """The forward part of a program runs again for a cotangent with a mask: its effects do not."""
    f = lambda x: np.where(x > 1.0, jit(lambda x: np.log(log.see("x", x)))(x), 0.0)
    assert log.of(grad(f), 2.0) == [("x", 2.0)]
    assert log.of(jit(grad(f)), 2.0) == [("x", 2.0)]
    assert grad(f)(2.0) == 0.5


def test_effects_in_the_order_of_forward_and_backward_rules(log):
    f = custom_vjp(lambda x: np.sin(x))
    f.defvjp(
        lambda x: (np.sin(log.see("fwd", x)), x),
        lambda x, ct: [log.see("ct", ct), log.see("residual", x), (ct * np.cos(x),)][2],
    )
    want = [("fwd", 1.0), ("ct", 1.0), ("residual", 1.0)]
    for mode in (grad, lambda f: jit(grad(f)), lambda f: grad(jit(f)), lambda f: grad(checkpoint(f))):
        assert log.of(mode(f), 1.0) == want
    pull = vjp(jit(f), 1.0)[1]
    log.entries.clear()
    pull(2.0), pull(3.0)
    assert log.entries == [("ct", 2.0), ("residual", 1.0), ("ct", 3.0), ("residual", 1.0)]


def test_a_callback_may_keep_or_overwrite_what_it_gets_and_reuse_what_it_returns():
    kept = []
    x = np.arange(3.0)
    io_callback(kept.append, None, x)
    x[:] = 7.0
    np.testing.assert_array_equal(kept[0], np.arange(3.0))
    buffer = np.zeros(2)

    def fill(v):
        v *= 2
        buffer[:] = v
        return buffer

    y = np.ones(2)
    f = lambda y: [pure_callback(fill, y, y), pure_callback(fill, y, 3 * y)]
    for g in (f, jit(f)):
        np.testing.assert_array_equal(g(y), [[2, 2], [6, 6]])
    np.testing.assert_array_equal(y, 1)


def test_trees_and_keywords():
    def callback(a, *, scale):
        assert type(a["x"]) is np.ndarray and type(scale) is np.float64
        return {"sum": a["x"].sum() * scale, "pair": (a["x"] > 0, None)}

    declared = {"sum": SCALAR, "pair": (ShapeDtypeStruct((2,), bool), None)}
    x = np.array([1.0, -3.0])
    for call in (io_callback, pure_callback):
        f = functools.partial(lambda call, x: call(callback, declared, {"x": x}, scale=2.0), call)
        for g in (f, jit(f)):
            out = g(x)
            assert out["sum"] == -4.0 and out["pair"][0].tolist() == [True, False] and out["pair"][1] is None


# pure_callback


@pytest.mark.parametrize(
    "method, shapes, nested",
    [
        ("sequential", {((), ())}, {((), ())}),
        ("expand_dims", {((3,), (1,))}, {((1, 3), (2, 1))}),
        ("broadcast_all", {((3,), (3,))}, {((2, 3), (2, 3))}),
        ("legacy_vectorized", {((3,), ())}, None),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_vmap_methods(method, shapes, nested):
    seen = set()

    def product(x, y):
        seen.add((np.shape(x), np.shape(y)))
        return np.asarray(x * y)

    f = lambda x, y: pure_callback(product, SCALAR, x, y, vmap_method=method)
    for g in (vmap(f, (0, None)), jit(vmap(f, (0, None)))):
        seen.clear()
        np.testing.assert_array_equal(g(X, 2.0), 2 * X)
        assert seen == shapes
    if nested is not None:
        y = np.array([1.0, 10.0])
        for g in (vmap(vmap(f, (0, None)), (None, 0)), jit(vmap(vmap(f, (0, None)), (None, 0)))):
            seen.clear()
            np.testing.assert_array_equal(g(X, y), np.multiply.outer(y, X))
            assert seen == nested


LOOPS = {
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0],
    "while": lambda f: lambda x: lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, f(c[1])), (0, x))[1],
    "cond": lambda f: lambda x: lax.cond(x > 0, lambda x: f(f(x)), lambda x: f(x), x),
}


@pytest.mark.parametrize("loop", LOOPS)
def test_pure_callback_in_control_flow(loop):
    f = LOOPS[loop](lambda x: pure_callback(np.sin, SCALAR, x, vmap_method="expand_dims"))
    g = LOOPS[loop](np.sin)
    for mode in (lambda f: f, jit):
        same(mode(f)(0.5), g(0.5))
        same(mode(vmap(f))(X), vmap(g)(X))


def test_a_rule_around_it_gives_it_every_derivative():
    host_sin = lambda x: pure_callback(np.sin, x, x, vmap_method="sequential")
    f = custom_jvp(host_sin)
    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0] * host_cos(primals[0])))
    host_cos = custom_vjp(lambda x: pure_callback(np.cos, x, x, vmap_method="expand_dims"))
    host_cos.defvjp(lambda x: (host_cos(x), x), lambda x, ct: (-ct * f(x),))
    modes = [
        grad, lambda f: grad(grad(f)), lambda f: jit(grad(grad(jit(f)))), lambda f: grad(checkpoint(f)),
        lambda f: lambda x: jvp(f, (x,), (2.0,)), lambda f: lambda x: linearize(jit(f), x)[1](1.0),
        lambda f: lambda x: vmap(grad(f))(x + X), lambda f: lambda x: jit(vmap(grad(grad(f))))(x + X),
        lambda f: lambda x: grad(lambda x: anp.sum(vmap(f)(x + X)))(x),
        lambda f: grad(lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=3)[0]),
    ]  # fmt: skip
    for mode in modes:
        same(mode(f)(0.4), mode(np.sin)(0.4))


def test_results_without_a_derivative_may_be_differentiated_around():
    count = lambda x: pure_callback(lambda v: np.int64(v > 0), ShapeDtypeStruct((), np.int64), x)
    for f in (lambda x: x * count(x), jit(lambda x: x * count(x))):
        assert grad(f)(3.0) == 1.0 and jvp(f, (3.0,), (1.0,))[1] == 1.0
    assert grad(lambda x: x * pure_callback(np.exp, SCALAR, stop_gradient(x)))(1.0) == np.exp(1.0)


def test_nothing_runs_while_shapes_are_found():
    out = ad.eval_shape(lambda x: pure_callback(lambda: 1 / 0, ShapeDtypeStruct((2,), np.float32)), 1.0)
    assert out == ShapeDtypeStruct((2,), np.float32)
    program = make_jaxpr(lambda x: [pure_callback(np.sin, SCALAR, x), x][1])(1.0)
    assert program.eqns == []  # what nobody needs is dropped


def test_python_numbers_take_the_declared_dtype():
    for result, dtype in [(1, np.float32), (2.5, np.complex64), (3, np.int8), (True, bool)]:
        out = pure_callback(lambda r=result: r, ShapeDtypeStruct((), dtype))
        assert out == result and out.dtype == dtype


F32 = ShapeDtypeStruct((3,), np.float32)
ERRORS = {
    "shape": (
        lambda x: pure_callback(lambda v: v[:2], x, x), errors.ShapeError, r"has shape \(2,\), expected was \(3,\)"
    ),
    "dtype": (lambda x: pure_callback(np.sin, F32, x), errors.DtypeError, "has dtype float64, expected was float32"),
    "a float for an integer": (
        lambda x: pure_callback(lambda v: 1.5, ShapeDtypeStruct((), int), x), errors.DtypeError, "expected was int64"
    ),
    "tree": (lambda x: pure_callback(lambda v: (v, v), x, x), errors.TreeError, "another tree than the declared one"),
    "a result where none is declared": (lambda x: io_callback(np.sin, None, x), errors.TreeError, "None where nothing"),
    "no array": (lambda x: pure_callback(lambda v: "a", x, x), errors.DtypeError, "result 0 is a str"),
    "a dtype as declaration": (lambda x: pure_callback(np.sin, float, x), errors.ArgumentError, "ShapeDtypeStruct"),
    "a number as operand's place": (lambda x: pure_callback(np.sin, x, "x"), errors.DtypeError, "of sin is a str"),
    "method": (lambda x: pure_callback(np.sin, x, x, vmap_method="rows"), errors.ArgumentError, "sequential"),
    "no function": (lambda x: pure_callback(x, x, x), errors.ArgumentError, "pure_callback takes a function"),
    "vmap without a method": (
        vmap(lambda x: pure_callback(np.sin, SCALAR, x)), errors.UnsupportedError, 'vmap_method="sequential"'
    ),
    "grad": (
        grad(lambda x: anp.sum(pure_callback(np.sin, x, x))), errors.NondifferentiableError, "custom_jvp or custom_vjp"
    ),
    "grad of io_callback": (
        grad(lambda x: anp.sum(io_callback(np.sin, x, x))), errors.NondifferentiableError, "io_callback of sin has no"
    ),
    "jvp under jit": (
        jit(lambda x: jvp(lambda x: pure_callback(np.sin, x, x), (x,), (x,))),
        errors.NondifferentiableError, "stop_gradient",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    f, error, message = ERRORS[name]
    for g in (f, jit(f)):
        with pytest.raises(error, match=message) as caught:
            g(X)
        assert "test_callbacks.py" in caught.value.where


def test_a_callback_on_a_tangent_of_reverse_mode_is_refused():
    f = custom_jvp(lambda x: np.sin(x))
    f.defjvp(lambda p, t: (f(*p), pure_callback(lambda v: 2.0 * v, SCALAR, t[0])))
    assert jvp(f, (1.0,), (3.0,))[1] == 6.0
    with pytest.raises(errors.NotLinearError, match="use custom_vjp"):
        grad(f)(1.0)


def test_an_exception_of_the_callback_is_passed_on():
    def fails(v):
        raise KeyError("mine")

    for f in (lambda x: io_callback(fails, None, x), jit(lambda x: io_callback(fails, None, x))):
        with pytest.raises(KeyError, match="mine"):
            f(1.0)


@pytest.mark.parametrize("call", [pure_callback, io_callback, lambda f, _, x: debug.callback(f, x)])
@pytest.mark.parametrize("wrap", [lambda f: f, jit, vmap], ids=["plain", "jit", "vmap"])
def test_an_exception_of_a_callback_is_told_which_callback_it_was(call, wrap):
    def refuse(x):
        raise KeyError("no entry")

    f = wrap(lambda x: call(refuse, ShapeDtypeStruct((), float), x))
    if wrap is vmap and call is pure_callback:
        f = vmap(lambda x: pure_callback(refuse, ShapeDtypeStruct((), float), x, vmap_method="sequential"))
    with pytest.raises(KeyError, match="no entry") as caught:
        f(np.ones(2) if wrap is vmap else 1.0)
    (note,) = caught.value.__notes__
    assert note.startswith("raised by the callback of a program: ")
    assert "callback of refuse (test_callbacks.py:" in note
