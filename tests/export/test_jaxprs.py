"""Jaxprs as they are printed, evaluated and checked."""

import copy
import functools

import numpy as np
import pytest

import autodidax as ad
import autodidax.numpy as anp
from autodidax import errors, lax
from autodidax.core.avals import ShapedArray
from autodidax.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, check_jaxpr, eval_jaxpr, jaxpr_as_fun
from autodidax.core.printing import format_param
from tests.export.programs import PROGRAMS, X, same, tilted

# printing

PRINTED = {
    "constants and literals": (
        lambda x: 2 * x + X,
        """
        { lambda a:f64[3]; b:f64[3]. let
            c:f64[3] = mul 2:i64[] b
            d:f64[3] = add c a
          in (d,) }
        """,
    ),
    "no equations": (
        lambda x: (x, 1.0, None),
        """
        { lambda ; a:f64[3]. let
          in (a, 1.0:f64[]) }
        """,
    ),
    "a result that nothing reads": (
        lambda x: anp.linalg.slogdet(x * np.eye(3))[1],
        """
        { lambda a:f64[3,3]; b:f64[3]. let
            c:f64[3,3] = mul b a
            _:f64[] d:f64[] = slogdet c
          in (d,) }
        """,
    ),
    "a nested program": (
        lambda x: ad.jit(lambda y: anp.sin(y) * 2.0)(x),
        """
        { lambda ; a:f64[3]. let
            b:f64[3] = jit[
              jaxpr={ lambda ; a:f64[3]. let
                  b:f64[3] = sin a
                  c:f64[3] = mul b 2.0:f64[]
                in (c,) }
              name=<lambda>
            ] a
          in (b,) }
        """,
    ),
    "branches": (
        lambda x: lax.cond(x[0] > 0, anp.sin, lambda x: x, x),
        """
        { lambda ; a:f64[3]. let
            b:f64[] = getitem[index=(0,)] a
            c:bool[] = gt b 0:i64[]
            d:f64[3] = cond[
              branches=(
                { lambda ; a:f64[3]. let
                  in (a,) }
                { lambda ; a:f64[3]. let
                    b:f64[3] = sin a
                  in (b,) }
              )
            ] c a
          in (d,) }
        """,
    ),
    "a custom rule": (
        tilted,
        """
        { lambda ; a:f64[3]. let
            b:f64[3] = custom_jvp_call[
              call_jaxpr={ lambda ; a:f64[3]. let
                  b:f64[3] = sin a
                in (b,) }
              name=tilted
              rule=rule
            ] a
          in (b,) }
        """,
    ),
    "indices and dtypes": (
        lambda x: x[1:, None].astype(np.float32),
        """
        { lambda ; a:f64[3]. let
            b:f64[2,1] = getitem[index=(slice(1, None, None), None)] a
            c:f32[2,1] = convert_element_type[dtype=float32] b
          in (c,) }
        """,
    ),
}


def dedented(text):
    lines = text.strip("\n").splitlines()[:-1]
    width = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[width:] for line in lines)


@pytest.mark.parametrize(("f", "text"), PRINTED.values(), ids=PRINTED)
def test_printed_form(f, text):
    assert str(ad.make_jaxpr(f)(X)) == dedented(text)


@pytest.mark.parametrize("name", PROGRAMS)
def test_printed_programs_show_no_addresses(name):
    f, *args = PROGRAMS[name]
    assert " at 0x" not in str(ad.make_jaxpr(f)(*args))


class Callable:
    def __call__(self):
        pass


PARAMETERS = [
    (np.dtype(np.int8), "int8"), (len, "len"), (functools.partial(functools.partial(len)), "len"),
    (Callable(), "Callable"), (np.ones((2, 3)), "<f64[2,3]>"), ("text", "text"), (None, "None"),
    ("two\nlines", "two lines"), (2.5, "2.5"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), PARAMETERS, ids=[t for _, t in PARAMETERS])
def test_printed_parameters(value, text):
    assert format_param(value) == text


# evaluation


def closed():
    return ad.make_jaxpr(lambda x, y: [x * y + X, x])(X, 2.0)


def test_evaluation():
    c = closed()
    want = [X * 2.0 + X, X]
    assert same(eval_jaxpr(c.jaxpr, c.consts, X, 2.0), want)
    assert same(jaxpr_as_fun(c)(X, 2.0), want)
    assert same(ad.jit(jaxpr_as_fun(c))(X, 2.0), want)
    assert same(ad.grad(lambda y: anp.sum(jaxpr_as_fun(c)(X, y)[0]))(2.0), np.float64(X.sum()))
    assert same(eval_jaxpr(c.jaxpr, (2 * X,), X, 2.0), [X * 2.0 + 2 * X, X])


EVALUATIONS = {
    "too few inputs": (lambda c: eval_jaxpr(c.jaxpr, c.consts, X), "has 2 inputs, 1 were given"),
    "no constants": (lambda c: eval_jaxpr(c.jaxpr, [], X, 2.0), "has 1 constant, 0 were given"),
    "a closed jaxpr": (lambda c: eval_jaxpr(c, c.consts, X, 2.0), "takes a jaxpr and its constants, got ClosedJaxpr"),
    "a function": (lambda c: eval_jaxpr(np.sin, [], X), "takes a jaxpr and its constants, got"),
}


@pytest.mark.parametrize(("run", "text"), EVALUATIONS.values(), ids=EVALUATIONS)
def test_wrong_evaluations(run, text):
    with pytest.raises(errors.ArgumentError, match=text) as caught:
        run(closed())
    assert caught.value.mend


# checking: programs made wrong in one way


def changed(f, args, change):
    """A function's program after a change of a copy of its equations."""
    program = ad.make_jaxpr(f)(*args)
    old = program.jaxpr
    eqns = [copy.copy(e) for e in old.eqns]
    for e in eqns:
        e.invars, e.outvars, e.params = list(e.invars), list(e.outvars), dict(e.params)
    jaxpr = Jaxpr(list(old.constvars), list(old.invars), list(old.outvars), eqns)
    program = ClosedJaxpr(jaxpr, list(program.consts))
    change(program, jaxpr.eqns)
    return program


def other(a):
    return Var(ShapedArray((7,), a.aval.dtype))


def replaced(inner, f, *avals):
    """Puts the program of another function into a parameter."""

    def change(program, eqns):
        eqn = next(e for e in eqns if inner in e.params)
        new = ad.make_jaxpr(f)(*avals)
        old = eqn.params[inner]
        eqn.params[inner] = (new, *old[1:]) if isinstance(old, tuple) else new

    return change


def with_operands(primitive, change):
    def apply(program, eqns):
        eqn = next(e for e in eqns if e.primitive.name == primitive)
        eqn.invars = change(eqn.invars)

    return apply


def set_first(attribute, value):
    def change(program, eqns):
        getattr(eqns[0], attribute)[0] = value(getattr(eqns[0], attribute)[0])

    return change


def append_output(program, eqns):
    program.jaxpr.outvars.append(Var(ShapedArray((), float)))


def drop_constant(program, eqns):
    program.consts.pop()


def widen_constant(program, eqns):
    program.consts[0] = np.ones(4)


def bind_twice(program, eqns):
    eqns.append(eqns[-1])


def reverse(program, eqns):
    eqns.reverse()


def lie(program, eqns):
    eqns[0].invars[1] = Literal(2.0, ShapedArray((), np.float32))


def lie_at_the_end(program, eqns):
    program.jaxpr.outvars[0] = Literal(2.0, ShapedArray((), np.float32))


CHAIN = (lambda x: anp.sin(x * 2.0) + X, (X,))
SCAN = (lambda x: lax.scan(lambda c, r: (c * r, c + r), 1.0, x), (X,))
WHILE = (lambda x: lax.while_loop(lambda c: c < 3.0, lambda c: 2.0 * c, x), (1.0,))
COND = (lambda x: lax.cond(x[0] > 0, anp.sin, anp.cos, x), (X,))
JIT = (lambda x: ad.jit(anp.sin)(x), (X,))
SOLVE = PROGRAMS["a linear solve"][0], PROGRAMS["a linear solve"][1:]
ODE = PROGRAMS["an ODE"][0], PROGRAMS["an ODE"][1:]

CHANGES = {
    "another shape": (*CHAIN, set_first("outvars", other), "its rule says"),
    "an unbound operand": (*CHAIN, set_first("invars", other), "before it is bound"),
    "an unbound output": (*CHAIN, append_output, "is not bound"),
    "bound twice": (*CHAIN, bind_twice, "bound twice"),
    "out of order": (*CHAIN, reverse, "before it is bound"),
    "an array as a literal": (*CHAIN, set_first("invars", lambda a: Literal(X)), "is no scalar"),
    "a literal of another dtype": (*CHAIN, lie, r"the literal 2.0 is said to be f32\[\]"),
    "an output of another dtype": (*CHAIN, lie_at_the_end, "outputs: the literal"),
    "a constant less": (*CHAIN, drop_constant, r"the constants are \[\]"),
    "a constant of another shape": (*CHAIN, widen_constant, r"the constants are \[f64\[4\]\]"),
    "jit of fewer operands": (*JIT, with_operands("jit", lambda v: []), "sin takes .* is given"),
    "jit of another program": (*JIT, replaced("jaxpr", anp.sin, X[:2]), "its rule says|takes"),
    "a branch of other operands": (*COND, replaced("branches", lambda x: anp.zeros(3), X[:2]), "branch 0 takes"),
    "a branch of another result": (*COND, replaced("branches", lambda x: x[:2], X), "its rule says|branch 1 returns"),
    "an index of no integer": (*COND, with_operands("cond", lambda v: [Literal(1.5), *v[1:]]), "which is no integer"),
    "a body of another carry": (*SCAN, replaced("body", lambda c, r: (c + 0j, c), 1.0, 1.0), "its rule says|the body"),
    "a body of other rows": (*SCAN, replaced("body", lambda c, r: (c, c), 1.0, X), "the body takes"),
    "fewer rows": (*SCAN, with_operands("loop", lambda v: [v[0], Literal(1.0)]), r"has rows f64\[\] for 3 iterations"),
    "a condition of numbers": (*WHILE, replaced("cond", lambda c: c, 1.0), "the condition returns"),
    "a solver of another system": (*SOLVE, replaced("solve", lambda a, b: b, X, X), "solve takes"),
    "a solve of another result": (*SOLVE, replaced("matvec", lambda a, v: v + 0j, np.eye(3), X), "matvec returns"),
    "a rate of another state": (*ODE, replaced("func", lambda k, y, t: y[:2], 1.0, X, 1.0), "the system returns"),
}


@pytest.mark.parametrize(("f", "args", "change", "text"), CHANGES.values(), ids=CHANGES)
def test_wrong_programs(f, args, change, text):
    check_jaxpr(changed(f, args, lambda *_: None))
    wrong = changed(f, args, change)
    with pytest.raises(errors.JaxprError, match=text) as caught:
        check_jaxpr(wrong)
    assert caught.value.mend
    outer = JaxprEqn(
        ad.registry["jit"], list(wrong.jaxpr.invars), [Var(a) for a in wrong.out_avals], {"jaxpr": wrong, "name": "f"}
    )
    with pytest.raises(errors.JaxprError):
        check_jaxpr(Jaxpr([], list(wrong.jaxpr.invars), list(outer.outvars), [outer]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_right(name):
    f, *args = PROGRAMS[name]
    check_jaxpr(ad.make_jaxpr(f)(*args))
    check_jaxpr(ad.make_jaxpr(ad.jit(f))(*args).jaxpr)
