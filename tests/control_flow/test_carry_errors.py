"""Carries, rows and branches that do not fit: one message in plain Python and under jit; dtypes that are promoted."""

import numpy as np
import pytest

from autodidax import errors, grad, jit, lax, vmap

X = np.array([0.5, -1.5, 2.5])
PARAMS = {"w": np.ones((2, 3)), "b": [np.zeros(2), np.float32(1.0)], "n": np.int64(3)}


def plain(f, *args):
    return f(*args)


def under_jit(f, *args):
    return jit(f)(*args)


def under_vmap_and_jit(f, *args):
    return jit(vmap(f))(*[np.stack([x, x]) for x in args])


def under_grad_of_jit(f, *args):
    return jit(grad(lambda s, *args: (f(*[s * x for x in args]), s)[1]))(1.0, *args)


HOW = {"plain": plain, "jit": under_jit, "jit of vmap": under_vmap_and_jit, "jit of grad": under_grad_of_jit}


def step_of(change):
    """A body for a scan that changes its carry."""

    def step(carry, x):
        return change(carry), x

    return step


def with_entry(tree, **entries):
    return {**tree, **entries}


# what the body does to the carry -> class, words of the message
CARRIES = {
    "a key is missing": (
        lambda c: {k: v for k, v in c.items() if k != "n"}, errors.TreeError, "missing 'n'",
        "{'b': [*, *], 'n': *, 'w': *}",
    ),
    "a key is new": (lambda c: with_entry(c, step=0), errors.TreeError, "unexpected 'step'"),
    "a list becomes a tuple": (
        lambda c: with_entry(c, b=tuple(c["b"])), errors.TreeError, "at ['b']: list of 2 expected, tuple of 2 given",
    ),
    "an entry becomes None": (
        lambda c: with_entry(c, n=None), errors.TreeError, "at ['n']: a leaf expected, None given",
    ),
    "a list grows": (
        lambda c: with_entry(c, b=[*c["b"], 0.0]), errors.TreeError, "at ['b']: list of 2 expected, list of 3 given",
    ),
    "an integer becomes a float": (
        lambda c: with_entry(c, n=c["n"] / 2), errors.DtypeError, "carry['n'] is i64[] going in and f64[] coming out",
        "np.float64",
    ),
    "single becomes double": (
        lambda c: with_entry(c, b=[c["b"][0], c["b"][1] * np.float64(2.0)]), errors.DtypeError,
        "carry['b'][1] is f32[] going in and f64[] coming out",
    ),
    "a float becomes complex": (
        lambda c: with_entry(c, w=c["w"] * 1j), errors.DtypeError,
        "carry['w'] is f64[2,3] going in and c128[2,3] coming out",
    ),
    "an axis is lost": (
        lambda c: with_entry(c, w=c["w"].sum(axis=0)), errors.ShapeError,
        "carry['w'] is f64[2,3] going in and f64[3] coming out", "anp.at(x)[i].set(v)",
    ),
    "two entries are wrong": (
        lambda c: with_entry(c, n=c["n"] / 2, w=c["w"].T), errors.ShapeError, "carry['n'] is i64[]",
        "carry['w'] is f64[2,3]",
    ),
}  # fmt: skip
LOOPS = {
    "scan": lambda change, c: lax.scan(step_of(change), c, X),
    "while_loop": lambda change, c: lax.while_loop(lambda c: c["n"] > 0, change, c),
    "fori_loop": lambda change, c: lax.fori_loop(0, 3, lambda i, c: change(c), c),
}


@pytest.mark.parametrize("how", ["plain", "jit"])
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", CARRIES)
def test_a_carry_that_is_changed(name, loop, how):
    change, cls, *words = CARRIES[name]
    with pytest.raises(cls) as caught:
        HOW[how](lambda c: LOOPS[loop](change, c), PARAMS)
    text = str(caught.value)
    assert text.startswith(f"{loop}: ")
    assert len(text.splitlines()) == 3 and "  mend: " in text
    for word in words:
        assert word in text, text


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", CARRIES)
def test_plain_and_staged_say_the_same(name, loop):
    change, cls, *_ = CARRIES[name]
    messages = []
    for how in ("plain", "jit"):
        with pytest.raises(cls) as caught:
            HOW[how](lambda c: LOOPS[loop](change, c), PARAMS)
        messages.append((caught.value.message.replace("<lambda>", "f"), caught.value.mend))
    assert messages[0] == messages[1]


def test_at_most_three_entries_are_listed():
    with pytest.raises(errors.DtypeError, match=r"carry\[2\] is .*, \.\.\.\n") as caught:
        lax.scan(lambda c, x: ([v + 0.5 for v in c], x), [np.int64(k) for k in range(5)], X)
    assert "carry[3]" not in str(caught.value)


def test_traced_bounds_of_a_fori_loop_name_the_loop():
    with pytest.raises(errors.DtypeError, match=r"^fori_loop: halve changes the carry: carry is i64\[\] going in"):

        def halve(i, x):
            return x / 2

        jit(lambda n: lax.fori_loop(0, n, halve, np.int64(8)))(3)


# Python scalars in a carry take the dtype that the body gives them: init, body of a scan over X, dtype at the end
PROMOTED = {
    "integer to float": (0, lambda c, x: c + x, np.float64),
    "integer to single": (0, lambda c, x: c + np.float32(1.0), np.float32),
    "float to complex": (1.0, lambda c, x: c * 1j, np.complex128),
    "float to single": (0.0, lambda c, x: c + x.astype(np.float32), np.float32),
    "boolean stays": (True, lambda c, x: c & (x > -9), np.bool_),
    "in two steps": ((0, 0), lambda c, x: (c[1], c[0] + x), np.float64),
}


@pytest.mark.parametrize("how", ["plain", "jit"])
@pytest.mark.parametrize("name", PROMOTED)
def test_scalars_are_promoted_to_a_fixed_point(name, how):
    init, body, dtype = PROMOTED[name]
    carry, _ = HOW[how](lambda xs: lax.scan(lambda c, x: (body(c, x), None), init, xs), X)
    for leaf in carry if isinstance(carry, tuple) else (carry,):
        assert leaf.dtype == dtype


# a call that is wrong -> class, the beginning of the message
CALLS = {
    "rows of two lengths": (
        lambda x: lax.scan(lambda c, r: (c, None), 0.0, {"a": x, "b": x[:2]}), errors.ShapeError,
        "scan: the numbers of rows are [2, 3]: xs['a'] has 3, xs['b'] has 2",
    ),
    "length beside rows": (
        lambda x: lax.scan(lambda c, r: (c, None), 0.0, x, length=5), errors.ShapeError,
        "scan: the numbers of rows are [3, 5]: xs has 3, length is 5",
    ),
    "rows of a map": (
        lambda x: lax.map(lambda r: r[0], (x, x[:1])), errors.ShapeError,
        "map: the numbers of rows are [1, 3]: xs[0] has 3, xs[1] has 1",
    ),
    "a number among the rows": (
        lambda x: lax.scan(lambda c, r: (c, None), 0.0, (x, 2.0)), errors.ShapeError, "scan: xs[1] is a scalar",
    ),
    "a string in the carry": (
        lambda x: lax.scan(lambda c, r: (c, None), {"name": "a"}, x), errors.DtypeError, "scan: init['name'] is a str",
    ),
    "a string in the carry of a fori_loop": (
        lambda x: lax.fori_loop(0, 3, lambda i, c: c, {"name": "a"}), errors.DtypeError,
        "fori_loop: init['name'] is a str",
    ),
    "a body of scan": (
        lambda x: lax.scan(lambda c: (c, None), 0.0, x), errors.ArgumentError,
        "scan: <lambda> is called as f(carry, x): takes 1 positional argument but 2 were given",
    ),
    "a body of fori_loop": (
        lambda x: lax.fori_loop(0, 3, lambda c: c, x), errors.ArgumentError,
        "fori_loop: <lambda> is called as body_fun(i, val): takes 1 positional argument but 2 were given",
    ),
    "a condition of while_loop": (
        lambda x: lax.while_loop(lambda: True, lambda c: c, x), errors.ArgumentError,
        "while_loop: <lambda> is called as cond_fun(val): takes 0 positional arguments but 1 was given",
    ),
    "a function of map": (
        lambda x: lax.map(lambda a, b: a, x), errors.ArgumentError,
        "map: <lambda> is called as f(x): missing 1 required positional argument: 'b'",
    ),
    "a branch": (
        lambda x: lax.cond(x[0] > 0, lambda: 1.0, lambda y: 2.0, x), errors.ArgumentError,
        "cond: <lambda> is called as true_fun(x): takes 0 positional arguments but 1 was given",
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", ["plain", "jit"])
@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call(name, how):
    run, cls, text = CALLS[name]
    with pytest.raises(cls) as caught:
        HOW[how](run, X)
    assert caught.value.message.startswith(text)
    assert "test_carry_errors.py" in caught.value.where


def missing_argument_inside(x):
    def inner(a, b):
        return a

    return inner(x)


@pytest.mark.parametrize("how", ["plain", "jit"])
def test_a_wrong_call_of_the_users_own_is_left_as_it_is(how):
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'b'") as caught:
        HOW[how](lambda x: lax.cond(x[0] > 0, missing_argument_inside, missing_argument_inside, x), X)
    assert type(caught.value) is TypeError


# branches that differ -> class, the message
BRANCHES = {
    "shapes": (
        lambda x: x, lambda x: x[:2], errors.ShapeError, "output of false_fun (<lambda>) is f64[2], that of true_fun",
    ),
    "dtypes": (
        lambda x: x, lambda x: x > 0, errors.DtypeError, "output of false_fun (<lambda>) is bool[3], that of true_fun",
    ),
    "a dtype in a tree": (
        lambda x: {"a": [x, x]}, lambda x: {"a": [x, x > 0]}, errors.DtypeError, "the output['a'][1] of false_fun",
    ),
    "structures": (
        lambda x: {"a": x}, lambda x: {"b": x}, errors.TreeError,
        "at the root: dict with keys 'b' expected, dict with keys 'a' given (missing 'b'; unexpected 'a')",
    ),
    "nothing returned": (lambda x: x, lambda x: None, errors.TreeError, "None expected, a leaf given"),
}  # fmt: skip


@pytest.mark.parametrize("how", ["jit", "jit of vmap", "jit of grad"])
@pytest.mark.parametrize("name", BRANCHES)
def test_branches_that_differ(name, how):
    true_fun, false_fun, cls, text = BRANCHES[name]
    with pytest.raises(cls) as caught:
        HOW[how](lambda x: lax.cond(x[0] > 0, true_fun, false_fun, x), X)
    assert caught.value.message.startswith("cond: ")
    assert text in caught.value.message
