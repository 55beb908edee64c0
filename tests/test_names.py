"""named_scope, named_call, checkpoint_name, the sources of equations, and disable_jit."""

import os
import threading

import numpy as np
import pytest

import autodidax as ad
import autodidax.numpy as anp
from autodidax import lax
from autodidax.core.jaxpr import subjaxprs
from autodidax.errors import ArgumentError, ShapeError

HERE = os.path.basename(__file__)
X = np.array([0.5, 1.0, 2.0])


def equations(jaxpr):
    """All equations of a program, those of the programs inside too."""
    for eqn in jaxpr.eqns:
        yield eqn
        for sub in subjaxprs(eqn.params):
            yield from equations(sub)


# where equations come from


def wave(x):
    with ad.named_scope("wave"):
        y = anp.sin(x)  # sin
    return anp.sum(y * x)


STAGED = {
    "jit": lambda f: ad.make_jaxpr(ad.jit(f))(X),
    "vmap": lambda f: ad.make_jaxpr(ad.vmap(f))(np.stack([X, X])),
    "grad": lambda f: ad.make_jaxpr(ad.value_and_grad(f))(X),
    "jvp": lambda f: ad.make_jaxpr(lambda x: ad.jvp(f, (x,), (x,)))(X),
    "grad of jit": lambda f: ad.make_jaxpr(ad.value_and_grad(ad.jit(f)))(X),
    "jvp of jit": lambda f: ad.make_jaxpr(lambda x: ad.jvp(ad.jit(f), (x,), (x,)))(X),
    "vmap of jit": lambda f: ad.make_jaxpr(ad.vmap(ad.jit(f)))(np.stack([X, X])),
    "hessian of jit": lambda f: ad.make_jaxpr(ad.hessian(ad.jit(f)))(X),
    "linearize of jit": lambda f: ad.make_jaxpr(lambda x: ad.linearize(ad.jit(f), x)[1](x))(X),
    "checkpoint": lambda f: ad.make_jaxpr(ad.value_and_grad(ad.checkpoint(f)))(X),
    "scan": lambda f: ad.make_jaxpr(lambda x: lax.scan(lambda c, r: (c + f(r), c), 0.0, x))(np.stack([X, X])),
    "grad of scan": lambda f: ad.make_jaxpr(ad.grad(ad.jit(lambda x: lax.scan(lambda c, r: (c + f(r), c), 0.0, x)[0])))(
        np.stack([X, X])
    ),
    "cond": lambda f: ad.make_jaxpr(lambda x: lax.cond(x[0] > 0, f, anp.sum, x))(X),
    "grad of cond": lambda f: ad.make_jaxpr(ad.grad(ad.jit(lambda x: lax.cond(x[0] > 0, f, anp.sum, x))))(X),
    "while": lambda f: ad.make_jaxpr(lambda x: lax.while_loop(lambda c: c < 1, lambda c: c + f(x), anp.sum(x)))(X),
}


def line_of(function, mark):
    code = function.__code__
    with open(code.co_filename) as file:
        lines = file.read().splitlines()
    return next(k for k in range(code.co_firstlineno, len(lines)) if lines[k - 1].endswith(f"# {mark}"))


@pytest.mark.parametrize("stage", STAGED.values(), ids=STAGED)
def test_sources(stage):
    found = {}
    for eqn in equations(stage(wave)):
        assert eqn.source is not None, eqn.primitive
        assert eqn.source.file == __file__, eqn.primitive
        found.setdefault(eqn.primitive.name, []).append(eqn.source)
    line = line_of(wave, "sin")
    waves = found.get("sin", []) + found.get("cos", [])
    assert waves
    for source in waves:
        assert (source.line, source.function, source.scopes) == (line, "wave/wave", ("wave",))
        assert source.where == (__file__, line, "wave/wave")
        assert str(source) == f"{HERE}:{line} (wave/wave)"
    assert all(s.rule in ("", "sin", "mul") for s in waves)


def test_the_rule_that_an_equation_belongs_to():
    closed = ad.make_jaxpr(ad.grad(lambda x: anp.sum(anp.sqrt(x))))(X)
    rules = [(eqn.primitive.name, eqn.quiet, eqn.source.rule) for eqn in closed.eqns]
    assert rules[0] == ("sqrt", False, "")
    assert set(rules[1:]) == {("div", True, "sqrt"), ("mul", True, "sqrt")}


def test_printed_sources():
    closed = ad.make_jaxpr(ad.jit(wave))(X)
    line = line_of(wave, "sin")
    assert f"sin a  # {HERE}:{line}\n" in closed.pretty_print(source_info=True)
    assert "sin a  # wave\n" in closed.pretty_print(name_stack=True)
    assert f"sin a  # {HERE}:{line} wave\n" in closed.jaxpr.pretty_print(source_info=True, name_stack=True)
    assert "#" not in str(closed)
    assert closed.pretty_print() == str(closed)


# scopes


def test_scopes_nest_and_are_relative_to_the_program():
    inner = ad.jit(ad.named_call(lambda x: anp.sin(x), name="b"))

    def f(x):
        with ad.named_scope("a"):
            return inner(anp.cos(x))

    eqns = list(equations(ad.make_jaxpr(f)(1.0)))
    assert [(e.primitive.name, e.source.scopes) for e in eqns] == [("cos", ("a",)), ("jit", ("a",)), ("sin", ("b",))]


def test_scope_as_a_decorator():
    @ad.named_scope("outer")
    def f(n, x):
        return f(n - 1, x) if n else anp.sin(x)

    assert ad.make_jaxpr(lambda x: f(2, x))(1.0).eqns[0].source.scopes == ("outer",) * 3


def test_scopes_are_those_of_the_thread():
    found = []
    with ad.named_scope("here"):
        thread = threading.Thread(target=lambda: found.append(ad.make_jaxpr(anp.sin)(1.0)))
        thread.start()
        thread.join()
    assert all(e.source is None or e.source.scopes == () for e in found[0].eqns)


def mismatch(x):
    with ad.named_scope("layer"), ad.named_scope("attention"):
        return x * np.ones(7)


def numpy_mismatch(x):
    with ad.named_scope("layer"), ad.named_scope("attention"):
        return anp.sum(anp.reshape(x, (7, 7)))


MESSAGES = {
    "grad": lambda f: ad.grad(lambda x: anp.sum(f(x)))(X),
    "jit": lambda f: ad.jit(f)(X),
    "vmap": lambda f: ad.vmap(f)(np.stack([X, X])),
    "jvp": lambda f: ad.jvp(f, (X,), (X,)),
    "jit of grad": lambda f: ad.jit(ad.grad(lambda x: anp.sum(f(x))))(X),
    "checkpoint": lambda f: ad.grad(ad.checkpoint(lambda x: anp.sum(f(x))))(X),
    "scan": lambda f: ad.jit(lambda xs: lax.scan(lambda c, x: (c, f(x)), 0.0, xs))(np.stack([X, X])),
}


@pytest.mark.parametrize("run", MESSAGES.values(), ids=MESSAGES)
@pytest.mark.parametrize("f", [mismatch, numpy_mismatch], ids=lambda f: f.__name__)
def test_messages_name_the_scopes(f, run):
    with pytest.raises(ShapeError) as caught:
        run(f)
    assert f"in: {f.__name__}/layer/attention ({HERE}:{f.__code__.co_firstlineno + 2})" in str(caught.value)


def test_a_scope_ends_with_its_block():
    with pytest.raises(KeyError), ad.named_scope("left"):
        raise KeyError
    with pytest.raises(ShapeError) as caught:
        ad.grad(lambda x: anp.sum(x * np.ones(7)))(X)
    assert "left" not in str(caught.value)


@pytest.mark.parametrize("name", [3, "", None])
def test_names_are_text(name):
    with pytest.raises(ArgumentError, match="takes a name, got"):
        ad.named_scope(name)
    with pytest.raises(ArgumentError, match="checkpoint_name takes a name, got"):
        ad.checkpoint_name(X, name)


def test_named_call_is_the_function():
    def f(x, y=2.0):
        """The text."""
        return anp.sum(anp.sin(x) * y)

    g = ad.named_call(f)
    assert (g.__name__, g.__doc__, g.__wrapped__) == ("f", "The text.", f)
    for t in (ad.grad, ad.jit, ad.hessian, lambda f: ad.jit(ad.grad(f)), lambda f: ad.vmap(ad.grad(f))):
        x = np.stack([X, X]) if t(f).__name__.startswith("vmap") else X
        np.testing.assert_array_equal(t(g)(x), t(f)(x))
    assert ad.make_jaxpr(g)(X).eqns[0].source.scopes == ("f",)
    with pytest.raises(ArgumentError, match="named_call takes a function"):
        ad.named_call(3)


# named values


def with_names(x):
    y = ad.checkpoint_name(anp.sin(x), "a")
    z = ad.checkpoint_name({"p": y * x, "q": (anp.cos(y),)}, "b")
    return anp.sum(z["p"] * z["q"][0])


def without_names(x):
    y = anp.sin(x)
    return anp.sum(y * x * anp.cos(y))


TRANSFORMS = {
    "none": lambda f: f,
    "grad": ad.grad,
    "hessian": ad.hessian,
    "jit": ad.jit,
    "jvp": lambda f: lambda x: ad.jvp(f, (x,), (x,)),
    "linearize": lambda f: lambda x: ad.linearize(f, x)[1](x),
    "grad of jit": lambda f: ad.grad(ad.jit(f)),
    "jit of grad": lambda f: ad.jit(ad.grad(f)),
    "jit of hessian": lambda f: ad.jit(ad.hessian(f)),
    "checkpoint": lambda f: ad.grad(ad.checkpoint(f)),
    "scan": lambda f: ad.grad(ad.jit(lambda x: lax.scan(lambda c, r: (c + f(r), c), 0.0, x)[0])),
    "vmap": ad.vmap,
    "vmap of grad of jit": lambda f: ad.vmap(ad.grad(ad.jit(f))),
}
ROWS = {"scan", "vmap", "vmap of grad of jit"}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_named_values_are_the_values(name):
    x = np.stack([X, 2 * X]) if name in ROWS else X
    got, want = (TRANSFORMS[name](f)(x) for f in (with_names, without_names))
    for a, b in zip(ad.tree.leaves(got), ad.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


@pytest.mark.parametrize("name", ["jit", "grad of jit", "checkpoint", "scan", "vmap"])
def test_programs_keep_the_names(name):
    x = np.stack([X, 2 * X]) if name in ROWS else X
    eqns = [e for e in equations(ad.make_jaxpr(TRANSFORMS[name](with_names))(x)) if e.primitive.name == "name"]
    assert {e.params["name"] for e in eqns} == {"a", "b"}


def test_named_values_keep_dtype_and_memory_apart():
    x = np.ones(3, np.float32)
    y = ad.checkpoint_name(x, "x")
    assert y.dtype == np.float32 and not np.shares_memory(x, y)
    assert ad.checkpoint_name((1, 2.5), "x") == (1, 2.5)
    assert ad.ad_checkpoint.checkpoint_name is ad.checkpoint_name
    assert ad.ad_checkpoint.checkpoint is ad.checkpoint
    assert ad.linear_transpose(lambda v: ad.checkpoint_name(2.0 * v, "v"), X)(X)[0].tolist() == (2 * X).tolist()


# disable_jit


def test_disable_jit_runs_the_function():
    seen = []

    @ad.jit
    def f(x):
        seen.append(x)
        return x if x[0] > 0 else -x

    with ad.disable_jit():
        y = f(X)
        assert ad.grad(lambda x: anp.sum(f(x)))(-X).tolist() == [-1.0] * 3
        with ad.disable_jit(False), pytest.raises(ad.errors.TracerBoolConversionError):
            f(X)
    assert seen[0] is X
    assert y.tolist() == X.tolist() and not np.shares_memory(y, X)
    assert not ad.config.disable_jit


CONTROL = {
    "scan": lambda x: lax.scan(lambda c, r: (c * anp.cos(r), c + r), 1.0, x),
    "while_loop": lambda x: lax.while_loop(lambda c: c < 5.0, lambda c: 2.0 * c, x[0]),
    "fori_loop": lambda x: lax.fori_loop(0, 3, lambda i, c: c * anp.sin(c + i), x[1]),
    "fori_loop to a traced bound": lambda x: lax.fori_loop(0, x[2].astype(int), lambda i, c: c * anp.sin(c + i), x[1]),
    "cond": lambda x: lax.cond(x[0] > 0.7, anp.sum, anp.prod, x),
    "switch": lambda x: lax.switch(x[2].astype(int), [anp.sum, anp.prod, anp.max], x),
    "map": lambda x: lax.map(anp.sin, x),
    "associative_scan": lambda x: lax.associative_scan(anp.add, x),
}
AROUND = {
    "jit": ad.jit,
    "vmap of jit": lambda f: lambda x: ad.vmap(ad.jit(f))(np.stack([x, 2 * x])),
    "jit of vmap": lambda f: lambda x: ad.jit(ad.vmap(f))(np.stack([x, 2 * x])),
    "jit of jvp": lambda f: lambda x: ad.jit(lambda x: ad.jvp(f, (x,), (x,)))(x),
    "jacrev of jit": lambda f: ad.jacrev(ad.jit(f)),
}


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
@pytest.mark.parametrize("f", CONTROL.values(), ids=CONTROL)
def test_control_flow_without_jit(f, around):
    want = ad.tree.leaves(around(f)(X))
    with ad.disable_jit():
        got = ad.tree.leaves(around(f)(X))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_debug_nans_without_jit_names_the_line():
    with ad.disable_jit(), ad.debug_nans(True), pytest.raises(ad.errors.NanError, match="sqrt made nan"):
        ad.jit(lambda x: anp.sqrt(x))(-1.0)
