"""Tracebacks: the package's own frames are left out, user frames stay in order, and all frames can be had."""

import itertools
import os
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize

import autodidax as ad
import autodidax.numpy as anp
from autodidax import lax
from autodidax.core.tracebacks import UnfilteredTraceback, boundary
from autodidax.errors import is_own_file

X = np.ones((2, 2, 2, 2))


def with_rule(f):
    g = ad.custom_jvp(f)
    g.defjvp(lambda primals, tangents: ad.jvp(f, primals, tangents))
    return g


def called_in_a_rule(f):
    g = ad.custom_jvp(lambda x: anp.sum(x))
    g.defjvp(lambda primals, tangents: (anp.sum(f(*primals)), anp.sum(tangents[0])))
    return lambda x: ad.jvp(g, (x,), (x,))[0]


TRANSFORMS = {
    "jit": ad.jit,
    "grad": ad.grad,
    "value_and_grad": lambda f: lambda x: ad.value_and_grad(f)(x)[0],
    "elementwise_grad": ad.elementwise_grad,
    "vmap": ad.vmap,
    "jacfwd": ad.jacfwd,
    "jacrev": ad.jacrev,
    "hessian": ad.hessian,
    "checkpoint": ad.checkpoint,
    "jvp": lambda f: lambda x: ad.jvp(f, (x,), (x,))[0],
    "vjp": lambda f: lambda x: ad.vjp(f, x)[0],
    "linearize": lambda f: lambda x: ad.linearize(f, x)[0],
    "hvp": lambda f: lambda x: ad.hvp(f, (x,), (x,))[0],
    "make_jaxpr": lambda f: lambda x: ad.make_jaxpr(f)(x),
    "eval_shape": lambda f: lambda x: ad.eval_shape(f, x),
    "linear_transpose": lambda f: lambda x: ad.linear_transpose(f, x)(1.0),
    "scan": lambda f: lambda x: lax.scan(lambda c, row: (c, f(row)), 0.0, x)[1],
    "map": lambda f: lambda x: lax.map(f, x),
    "cond": lambda f: lambda x: lax.cond(anp.sum(x) > 0, f, anp.sum, x),
    "while_loop": lambda f: lambda x: lax.while_loop(lambda c: f(x) > 0, lambda c: c, x),
    "custom_root": lambda f: lambda x: lax.custom_root(f, x, lambda g, y: g(y), lambda g, y: y),
    "fixed_point": lambda f: lambda x: lax.fixed_point(f, x),
    "custom_jvp": with_rule,
    "a rule": called_in_a_rule,
    "named_call": ad.named_call,
}


class Unusual(Exception):
    """An exception of the user's."""


def fail_by_itself(x):
    raise Unusual("mine")


def fail_in_the_package(x):
    return anp.dot(x, np.ones((7, 7)))


def fail_in_an_operator(x):
    return x + np.ones(17)


def fail_in_numpy(x):
    return np.linalg.solve(np.zeros((2, 2)), np.ones(2)) * x


FAILURES = {
    fail_by_itself: Unusual,
    fail_in_the_package: ValueError,  # ShapeError on traced values, on plain ones what NumPy raises
    fail_in_an_operator: (ValueError, ad.errors.NotLinearError),
    fail_in_numpy: np.linalg.LinAlgError,
}


def nested(names, fail):
    """Three functions of the user's, each called through a transform, around one that fails."""
    first, second, third = (TRANSFORMS[name] for name in names)

    def inner(x):
        return anp.sum(fail(x))

    def middle(x):
        return anp.sum(third(inner)(x))

    def outer(x):
        return anp.sum(second(middle)(x))

    def run():
        return first(outer)(X)

    return run


def caught(run, kind=Exception):
    with pytest.raises(kind) as info:
        run()
    return info.value


def entries(error):
    return traceback.extract_tb(error.__traceback__)


def user_functions(error):
    """The user's functions in a traceback, in order."""
    return [e.name for e in entries(error) if e.filename == __file__ and e.name not in ("<lambda>", "caught")]


def own_files(error):
    return [e.filename for e in entries(error) if is_own_file(e.filename)]


def triples():
    rng = np.random.default_rng(3)
    names = list(TRANSFORMS)
    chosen = [(name,) * 3 for name in names if name not in ("jacfwd", "jacrev", "hessian")]
    chosen += [tuple(names[(i + k * j) % len(names)] for j in range(3)) for k in (1, 2, 5) for i in range(len(names))]
    chosen += [tuple(rng.choice(names, 3)) for _ in range(60)]
    return [pytest.param(t, id=" of ".join(t)) for t in dict.fromkeys(chosen)]


@pytest.mark.parametrize("names", triples())
def test_three_levels(names):
    for fail, kind in FAILURES.items():
        error = caught(nested(names, fail), kind)
        assert own_files(error) == []
        assert user_functions(error) == ["run", "outer", "middle", "inner", fail.__name__]
        whole = traceback.extract_tb(error.unfiltered_traceback)
        assert any(is_own_file(e.filename) for e in whole)
        with ad.config.override(traceback_filtering="off"):
            plain = caught(nested(names, fail), kind)
        functions = [e.name for e in entries(plain) if e.filename == __file__ and e.name not in ("<lambda>", "caught")]
        assert list(dict.fromkeys(functions)) == ["run", "outer", "middle", "inner", fail.__name__]
        assert own_files(plain)
        assert not hasattr(plain, "unfiltered_traceback")


BAD_CALLS = {
    "jit": lambda: ad.jit(3),
    "grad": lambda: ad.grad(3),
    "vmap": lambda: ad.vmap(anp.sin, in_axes="x"),
    "argnums": lambda: ad.grad(anp.sin, argnums=4)(1.0),
    "in_axes": lambda: ad.vmap(anp.sin, in_axes=(0, 0))(X),
    "jvp": lambda: ad.jvp(anp.sin, (1.0,), (np.ones(3),)),
    "pullback": lambda: ad.vjp(anp.sin, 1.0)[1](np.ones(3)),
    "linearized": lambda: ad.linearize(anp.sin, 1.0)[1](np.ones(3)),
    "compiled": lambda: ad.jit(anp.sin).lower(1.0).compile()(np.ones(3)),
    "static argument": lambda: ad.jit(anp.sin, static_argnums=0)([1.0]),
    "scan": lambda: lax.scan(lambda c, x: c, 0.0, X),
    "cond": lambda: lax.cond(np.ones(3), anp.sin, anp.cos, 1.0),
    "fori_loop": lambda: lax.fori_loop(0, 1.5, lambda i, x: x, 1.0),
    "eval_shape": lambda: ad.eval_shape(3),
    "pure_callback": lambda: ad.pure_callback(3, None),
    "debug.print": lambda: ad.debug.print("{}"),
    "named_call": lambda: ad.grad(ad.named_call(anp.sin))("x"),
}


@pytest.mark.parametrize("call", BAD_CALLS.values(), ids=BAD_CALLS)
def test_a_bad_call_ends_at_the_users_line(call):
    error = caught(call)
    assert own_files(error) == []
    assert entries(error)[-1].name == "<lambda>"


def test_every_error_of_a_chain_and_of_a_group():
    def f(x):
        try:
            ad.jit(fail_in_the_package)(x)
        except ad.errors.ShapeError as error:
            first = error
        try:
            ad.vmap(fail_by_itself)(x)
        except Unusual as error:
            second = ValueError("second")
            second.__cause__ = error
        raise ExceptionGroup("both", [first, second])

    error = caught(lambda: ad.grad(f)(X), ExceptionGroup)
    first, second = error.exceptions
    assert [own_files(e) for e in (error, first, second.__cause__)] == [[], [], []]
    assert user_functions(first) == ["f", "fail_in_the_package"]
    assert user_functions(second.__cause__) == ["f", "fail_by_itself"]
    assert "autodidax" + os.sep not in "".join(traceback.format_exception(error)).replace(str(X), "")


def test_an_error_that_is_caught_inside_is_whole():
    seen = []

    def f(x):
        try:
            return ad.vmap(fail_by_itself)(x)
        except Unusual as error:
            seen.append(own_files(error))
            return anp.sum(x)

    ad.grad(f)(X)
    assert seen[0]


def test_frames_around_a_callback():
    def host(x):
        return ad.grad(fail_by_itself)(1.0)

    f = ad.jit(lambda x: ad.pure_callback(host, ad.ShapeDtypeStruct((), float), x))
    error = caught(lambda: f(1.0), Unusual)
    assert own_files(error) == []
    assert user_functions(error)[-2:] == ["host", "fail_by_itself"]
    whole = [e.name for e in traceback.extract_tb(error.unfiltered_traceback)]
    assert {"jit_f", "program", "grad_f", "host", "fail_by_itself"} <= set(whole)
    assert whole.index("jit_f") < whole.index("host") < whole.index("grad_f") < whole.index("fail_by_itself")


def test_remove_frames_gives_the_whole_as_cause():
    with ad.config.override(traceback_filtering="remove_frames"):
        error = caught(lambda: ad.jit(fail_by_itself)(1.0), Unusual)
    assert own_files(error) == []
    assert isinstance(error.__cause__, UnfilteredTraceback)
    assert own_files(error.__cause__)
    assert error.__cause__.__cause__ is None


def test_remove_frames_keeps_the_cause():
    def f(x):
        try:
            fail_by_itself(x)
        except Unusual as error:
            raise ValueError("other") from error

    with ad.config.override(traceback_filtering="remove_frames"):
        error = caught(lambda: ad.jit(f)(1.0), ValueError)
    assert isinstance(error.__cause__.__cause__, Unusual)


def test_tracebackhide_marks_frames():
    with ad.config.override(traceback_filtering="tracebackhide"):
        error = caught(lambda: ad.grad(fail_by_itself)(1.0), Unusual)
    frames = [tb.tb_frame for tb in _walk(error.__traceback__)]
    own = [is_own_file(f.f_code.co_filename) for f in frames]
    assert any(own)
    assert ["__tracebackhide__" in f.f_locals for f in frames] == own


def _walk(tb):
    while tb is not None:
        yield tb
        tb = tb.tb_next


def test_auto_under_ipython(monkeypatch):
    monkeypatch.setattr("builtins.__IPYTHON__", True, raising=False)
    error = caught(lambda: ad.grad(fail_by_itself)(1.0), Unusual)
    assert own_files(error)
    assert any("__tracebackhide__" in tb.tb_frame.f_locals for tb in _walk(error.__traceback__))


def test_what_python_prints():
    program = """
        import numpy as np
        import autodidax as ad

        def loss(x):
            return np.dot(x, np.ones(4))

        ad.jit(ad.grad(loss))(np.ones(3))
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    lines = run.stderr.splitlines()
    assert lines[:3] == [
        "Traceback (most recent call last):",
        '  File "<string>", line 8, in <module>',
        '  File "<string>", line 6, in loss',
    ]
    assert lines[3].startswith("autodidax.errors.ShapeError: ")


class _Slotted(Exception):
    __slots__ = ()


def test_boundary_keeps_what_a_function_is():
    @boundary
    def f(x: int, *, y: int = 2) -> int:
        """The text."""
        if x < 0:
            raise _Slotted
        return x + y

    assert (f.__name__, f.__doc__, f.__annotations__["x"], f(1), f(1, y=5)) == ("f", "The text.", int, 3, 6)
    assert f.__globals__ is globals()
    caught(lambda: f(-1), _Slotted)


def test_filtering_one_error_again_and_again():
    kept = Unusual("one object")

    def f(x):
        raise kept

    for _, g in itertools.product(range(3), (ad.jit(f), ad.grad(f))):
        error = caught(lambda g=g: g(1.0), Unusual)
        assert own_files(error) == []
        assert own_files(type("whole", (), {"__traceback__": error.unfiltered_traceback}))


def loses_the_error(function):
    try:
        return function()
    except Exception:
        raise SystemError("a result with an exception set") from None


def test_an_error_that_others_hide_is_told_in_a_note():
    def root(a):
        return scipy.optimize.brentq(lambda x: x * x - a, 0.0, 2.0)

    with pytest.raises(SystemError) as caught:
        ad.grad(root)(2.0)
    [note] = caught.value.__notes__
    assert note.startswith("it comes from ConcretizationTypeError: scipy.optimize.brentq: a traced value (f64[])")
    assert "lambda f, x: scipy.optimize.brentq(f, a, b)" in note

    with pytest.raises(SystemError) as caught:
        ad.grad(lambda x: ad.grad(lambda y: loses_the_error(lambda: float(y)))(x))(2.0)
    assert len(caught.value.__notes__) == 1

    with pytest.raises(ZeroDivisionError) as raised:
        ad.grad(lambda x: x * (1 // 0))(2.0)
    assert not hasattr(raised.value, "__notes__")


def test_the_root_that_the_note_names_has_derivatives():
    def root(a):
        return lax.custom_root(
            lambda x: x * x - a, 1.0, lambda f, x: scipy.optimize.brentq(f, 0.0, 5.0), lambda g, y: y / g(1.0)
        )

    np.testing.assert_allclose([ad.grad(root)(2.0), ad.grad(ad.grad(root))(2.0)], [2**-1.5, -(2**-3.5)], rtol=1e-12)
