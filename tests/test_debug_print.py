"""debug.print and debug.callback: what is seen, how often, when, and in which order."""

import functools

import numpy as np
import pytest

import autodidax as ad
from autodidax import (
    checkpoint,
    custom_jvp,
    custom_vjp,
    debug,
    errors,
    grad,
    jacfwd,
    jacrev,
    jit,
    jvp,
    lax,
    linear_transpose,
    linearize,
    make_jaxpr,
    vjp,
    vmap,
)

anp = ad.numpy


@pytest.fixture
def lines(capsys):
    """The lines that running a function prints."""

    def of(f, *args):
        capsys.readouterr()
        f(*args)
        return capsys.readouterr().out.splitlines()

    return of


def shown(x):
    y = np.sin(x)
    debug.print("x {x}, y {:.3f}", y, x=x)
    debug.print("done")
    return y * y


ONCE = {
    "plain": lambda f: f,
    "jit": jit,
    "grad": grad,
    "jit of grad": lambda f: jit(grad(f)),
    "grad of jit": lambda f: grad(jit(f)),
    "jvp": lambda f: lambda x: jvp(f, (x,), (1.0,)),
    "vjp": lambda f: lambda x: vjp(f, x)[1](1.0),
    "linearize": lambda f: lambda x: linearize(f, x)[1](1.0),
    "checkpoint": lambda f: grad(checkpoint(f)),
    "grad of grad": lambda f: grad(grad(f)),
    "hessian": ad.hessian,
    "jacfwd": jacfwd,
    "jacrev": jacrev,
    "cond": lambda f: grad(lambda x: lax.cond(x > 0, f, lambda x: [debug.print("no"), x][1], x)),
    "staged cond": lambda f: jit(grad(lambda x: lax.cond(x > 0, f, lambda x: [debug.print("no"), x][1], x))),
}


@pytest.mark.parametrize("mode", ONCE)
def test_primal_values_are_printed_once(mode, lines):
    f = ONCE[mode](shown)
    for _ in range(2):
        assert lines(f, 1.0) == ["x 1.0, y 0.841", "done"]


def test_rows_are_printed_in_order(lines):
    x = np.array([0.0, 1.0, 2.0])
    f = lambda x: [debug.print("a {}", x), debug.print("b {}", -x), x][2]
    want = ["a 0.0", "a 1.0", "a 2.0", "b -0.0", "b -1.0", "b -2.0"]
    for mode in (vmap, lambda f: jit(vmap(f)), lambda f: vmap(jit(f)), lambda f: vmap(grad(f))):
        assert lines(mode(f), x) == want
    assert lines(vmap(lambda x: [debug.print("same"), x][1]), x) == ["same"]
    branches = lambda x: lax.cond(x > 0.5, lambda x: [debug.print("big {}", x), x][1], lambda x: x, x)
    assert lines(jit(vmap(branches)), x) == ["big 1.0", "big 2.0"]


def test_once_an_iteration(lines):
    f = lambda x: lax.scan(lambda c, b: ([debug.print("c {}", c), c * b][1], None), x, np.array([2.0, 3.0]))[0]
    g = lambda x: lax.while_loop(lambda c: c < 7.0, lambda c: [debug.print("c {}", c), c * 2][1], x)
    for mode in (lambda f: f, jit, grad, lambda f: jit(grad(f)), lambda f: lambda x: linearize(jit(f), x)[1](1.0)):
        assert lines(mode(f), 1.0) == ["c 1.0", "c 2.0"]
        assert lines(mode(g), 2.0) == ["c 2.0", "c 4.0"]


def test_tangents_in_a_rule_are_printed_where_they_have_values(lines):
    f = custom_jvp(lambda x: np.sin(x))

    @f.defjvp
    def rule(primals, tangents):
        debug.print("primal {} tangent {}", *primals, *tangents)
        return f(*primals), tangents[0] * np.cos(primals[0])

    for g in (f, jit(f)):
        along = functools.partial(lambda g, x, t: jvp(g, (x,), (t,)), g)
        assert lines(along, 1.0, 2.0) == ["primal 1.0 tangent 2.0"]
        assert lines(jit(along), 1.0, 2.0) == ["primal 1.0 tangent 2.0"]
        assert lines(vmap(along, (None, 0)), 1.0, np.arange(2.0)) == [
            "primal 1.0 tangent 0.0", "primal 1.0 tangent 1.0",
        ]  # fmt: skip
        assert lines(grad(g), 1.0) == []  # reverse mode transposes the tangent: it has no value
        f_jvp = linearize(g, 1.0)[1]
        assert lines(f_jvp, 3.0) == ["primal 1.0 tangent 3.0"]
        assert lines(f_jvp, 4.0) == ["primal 1.0 tangent 4.0"]


@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["plain rule", "jitted rule"])
def test_primals_beside_a_tangent_in_a_rule(wrap, lines):
    f = custom_jvp(lambda x: np.sin(x))
    product = wrap(lambda x, t: [debug.print("x {}", x), debug.print("t {}", t), t * np.cos(x)][2])
    f.defjvp(lambda p, t: (f(*p), product(p[0], t[0])))
    assert lines(grad(f), 1.0) == lines(jit(grad(f)), 1.0) == ["x 1.0"]
    pull = vjp(f, 1.0)[1]
    assert lines(pull, 1.0) == []
    assert lines(lambda: jvp(f, (1.0,), (2.0,))) == ["x 1.0", "t 2.0"]
    assert lines(lambda: linearize(jit(f), 1.0)[1](2.0)) == ["x 1.0", "t 2.0"]


@pytest.mark.parametrize("place", ["cond", "scan", "while"])
def test_linear_programs_with_effects(place, lines):
    """A program of a rule that is linear in the tangent: what it prints of the primal belongs to the forward pass."""

    def step(x, t):
        debug.print("x {}", x)
        debug.print("t {}", t)
        return t * x

    product = {
        "cond": lambda x, t: lax.cond(x > 0, step, lambda x, t: t, x, t),
        "scan": lambda x, t: lax.scan(lambda c, _: (step(x, c), None), t, None, length=1)[0],
        "while": lambda x, t: lax.while_loop(lambda c: c[0] < 1, lambda c: (c[0] + 1, step(x, c[1])), (0, t))[1],
    }[place]
    f = custom_jvp(lambda x: 0.5 * x * x)
    f.defjvp(lambda p, t: (f(*p), product(p[0], t[0])))
    assert lines(jit(lambda x: vjp(f, x)[0]), 3.0) == ["x 3.0"]
    pull = vjp(jit(f), 3.0)[1]
    assert lines(pull, 1.0) == [] and pull(2.0) == (6.0,)
    assert lines(jit(lambda x: jvp(f, (x,), (2.0,))), 3.0) == ["x 3.0", "t 2.0"]
    assert lines(lambda: linearize(jit(f), 3.0)[1](2.0)) == ["x 3.0", "t 2.0"]


def test_cotangents_in_a_rule(lines):
    f = custom_vjp(lambda x: np.sin(x))
    f.defvjp(
        lambda x: [debug.print("fwd {}", x), (np.sin(x), x)][1],
        lambda x, ct: [debug.print("ct {} at {}", ct, x), debug.print("bwd"), (ct * np.cos(x),)][2],
    )
    want = ["fwd 1.0", "ct 1.0 at 1.0", "bwd"]
    for mode in (grad, lambda f: jit(grad(f)), lambda f: grad(jit(f)), lambda f: grad(checkpoint(f))):
        assert lines(mode(f), 1.0) == want
    pull = vjp(jit(f), 1.0)[1]
    assert lines(pull, 2.0) == ["ct 2.0 at 1.0", "bwd"]
    assert lines(vmap(pull), np.array([2.0, 3.0])) == ["ct 2.0 at 1.0", "ct 3.0 at 1.0", "bwd"]
    twice = jit(grad(lambda x: lax.fori_loop(0, 2, lambda i, x: f(x), x)))
    assert [line.split()[0] for line in lines(twice, 1.0)] == ["fwd", "fwd", "ct", "bwd", "ct", "bwd"]


def test_a_linear_function_with_a_print_can_be_transposed(lines):
    f = lambda x: [debug.print("x {}", x), 3.0 * x][1]
    for g in (f, jit(f)):
        assert lines(lambda g=g: linear_transpose(g, 1.0)(1.0)) == []
        assert linear_transpose(g, 1.0)(2.0) == (6.0,)


def test_a_program_shows_the_print(lines):
    text = str(make_jaxpr(lambda x: [debug.print("x = {}", x, ordered=True), x][1])(1.0))
    assert "    debug_callback[callback=print('x = {}') ordered=True] a\n" in text
    assert lines(jit(lambda x: x).lower, 1.0) == []


def test_what_is_printed(lines):
    array = np.arange(3.0)
    x = np.float32(0.5)
    for mode in (lambda f: f, jit):
        f = mode(lambda a, x: debug.print("{} {b[k]} {c!r:>6} {{}} {:05.2f}", a, x, b={"k": x}, c="text"))
        assert lines(f, array, x) == ["[0. 1. 2.] 0.5 'text' {} 00.50"]
        assert lines(mode(lambda: debug.print("{0}-{1}-{0}", 1, True))) == ["1-True-1"]
        assert lines(mode(lambda x: debug.print("{} {}", x, None)), np.zeros((0, 2))) == ["[] None"]


BAD_FORMATS = {
    "too many arguments": ("a {}", (1.0, 2.0), {}, "argument 1 is not used"),
    "an unused keyword": ("a {}", (1.0,), {"b": 2.0}, "argument 'b' is not used"),
    "no place": ("a", (1.0,), {}, "argument 0 is not used"),
    "too few arguments": ("a {} {}", (1.0,), {}, "out of range"),
    "an unknown name": ("a {x} {}", (1.0,), {}, "no argument 'x'"),
    "an open brace": ("a {", (), {}, "Single '{'"),
    "a float's format for an array": ("{:.3f}", (np.ones(2),), {}, "unsupported format string"),
    "an integer's format for a float": ("{:d}", (1.5,), {}, "Unknown format code 'd'"),
    "an attribute that is not there": ("{.nothing}", (1.5,), {}, "nothing"),
}


@pytest.mark.parametrize("name", BAD_FORMATS)
def test_a_format_that_does_not_fit_is_reported_at_the_call(name, capsys):
    fmt, args, kwargs, message = BAD_FORMATS[name]

    def f(args, kwargs):
        debug.print(fmt, *args, **kwargs)

    modes = [lambda f: f, make_jaxpr]
    if args:
        modes.append(
            lambda f: lambda a, k: vmap(f)([np.stack([x, x]) for x in a], {n: np.stack([x, x]) for n, x in k.items()})
        )
    for mode in modes:
        with pytest.raises(errors.ArgumentError, match="does not go with its arguments") as caught:
            mode(f)(args, kwargs)
        assert message in str(caught.value) and "in: f (test_debug_print.py:" in str(caught.value)
    assert capsys.readouterr().out == ""


def test_a_format_must_be_a_string():
    with pytest.raises(errors.ArgumentError, match="takes a format string first, it was given a float"):
        debug.print(1.0)
    with pytest.raises(errors.ArgumentError, match=r"debug\.callback takes a function"):
        debug.callback("x = {}", 1.0)


def test_callback_gets_trees_keywords_and_other_objects():
    seen = []
    note = lambda *args, **kwargs: seen.append((args, kwargs))
    tag = object()
    for mode in (lambda f: f, jit):
        assert mode(lambda x: debug.callback(note, {"a": [x, "text"]}, tag, None, k=2 * x))(1.0) is None
    assert seen == [(({"a": [1.0, "text"]}, tag, None), {"k": 2.0})] * 2


def test_integer_and_boolean_operands_under_grad(lines):
    f = lambda x, n: [debug.print("{} {} {}", x, n, x > 0), x * n][1]
    for g in (grad(f), jit(grad(f)), lambda x, n: jvp(f, (x, n), (1.0, None))):
        assert lines(g, 2.0, 3) == ["2.0 3 True"]
