"""Captured arrays keep the values that a program was written with; side effects are reported under an option."""

import warnings

import numpy as np
import pytest

import autodidax.numpy as anp
from autodidax import config, custom_jvp, grad, jit, lax, vmap
from autodidax.transforms.side_effects import SideEffectWarning

X = np.array([0.5, -1.5, 2.5])
counter = 0


class Model:
    def __init__(self):
        self.weights = np.ones(3)
        self.calls = 0

    def __call__(self, x):
        return self.weights * x


def warned(run):
    """The first lines of the warnings that a program gives under the option."""
    with config.override(check_side_effects=True), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    assert all(w.category is SideEffectWarning for w in caught)
    texts = [str(w.message) for w in caught]
    assert all(len(t.splitlines()) == 3 and "  mend: " in t and "test_side_effects.py" in t for t in texts), texts
    # a body is written again where Python scalars in its carry take another dtype
    return list(dict.fromkeys(t.splitlines()[0].partition(" while its program")[0] for t in texts))


def write_into_a_buffer():
    buffer = np.zeros(3)

    def f(x):
        buffer[0] = 1.0
        return x * 2.0

    jit(f)(X)


def write_into_an_array_of_an_object():
    model = Model()

    def f(x):
        model.weights[...] = 2.0
        return model(x)

    jit(f)(X)


def write_in_a_function_that_is_called():
    state = {"buffers": [np.zeros(3)]}

    def note(x):
        state["buffers"][0][1] = 5.0
        return x

    jit(lambda x: note(x) + 1.0)(X)


def append_to_a_list():
    history = []

    def f(x):
        history.append(x.shape)
        return x

    jit(f)(X)


def add_to_a_dict():
    cache = {}

    def f(x):
        cache["shape"] = x.shape
        return x

    jit(f)(X)


def set_an_attribute():
    model = Model()

    def f(x):
        model.calls = model.calls + 1
        return model(x)

    jit(f)(X)


def count_in_a_global_name():
    def f(x):
        global counter
        counter += 1
        return x

    jit(f)(X)


def count_in_a_name_of_the_outer_function():
    calls = 0

    def f(x):
        nonlocal calls
        calls += 1
        return x

    jit(f)(X)


def write_in_the_body_of_a_scan():
    def f(xs):
        sums = np.zeros(3)

        def step(carry, x):
            sums[0] += 1.0
            return carry + x, x

        return lax.scan(step, 0.0, xs)[0] + sums[0]

    jit(f)(X)


def write_in_a_branch():
    buffer = np.zeros(3)

    def positive(x):
        buffer[0] = 1.0
        return x

    jit(lambda x: lax.cond(x > 0, positive, lambda x: -x, x))(1.0)


REPORTED = {
    write_into_a_buffer: ["jit of f: the function wrote into the captured array 'buffer'"],
    write_into_an_array_of_an_object: ["jit of f: the function wrote into the captured array 'model.weights'"],
    write_in_a_function_that_is_called: [
        "jit of <lambda>: the function wrote into the captured array \"state['buffers'][0]\""
    ],
    append_to_a_list: ["jit of f: the function changed the captured list 'history'"],
    add_to_a_dict: ["jit of f: the function changed the captured dict 'cache'"],
    set_an_attribute: ["jit of f: the function changed the captured Model 'model'"],
    count_in_a_global_name: ["jit of f: the function assigned to 'counter', a name outside of it"],
    count_in_a_name_of_the_outer_function: ["jit of f: the function assigned to 'calls', a name outside of it"],
    write_in_the_body_of_a_scan: ["scan of step: the function wrote into the captured array 'sums'"],
    write_in_a_branch: [
        "cond of positive: the function wrote into the captured array 'buffer'",
        "jit of <lambda>: the function wrote into the captured array 'buffer'",
    ],
}


@pytest.mark.parametrize("run", REPORTED, ids=lambda f: f.__name__.replace("_", " "))
def test_side_effects_are_reported(run):
    assert warned(run) == REPORTED[run]


@pytest.mark.parametrize("run", REPORTED, ids=lambda f: f.__name__.replace("_", " "))
def test_nothing_is_said_without_the_option(run):
    run()  # warnings are errors


@custom_jvp
def double(x):
    return 2.0 * x


double.defjvp(lambda primals, tangents: (double(*primals), 2.0 * tangents[0]))


def no_effect_in_functions_of_functions():
    model, inner, table = Model(), jit(lambda x: x + 1.0), {"a": [np.ones(3)], "n": 3}

    @jit
    def f(x):
        own = [np.zeros(3)]
        own[0][0] = 3.0
        own.append(x)
        y = lax.fori_loop(0, table["n"], lambda i, v: double(v) + table["a"][0], model(x))
        return inner(grad(lambda y: anp.sum(y**2))(y) + own[0])

    f(X)
    f(X)
    vmap(f)(np.stack([X, X]))


def effects_without_jit():
    history = []

    def f(x):
        history.append(1.0)
        return anp.sum(x * x)

    grad(f)(X)
    lax.scan(lambda c, x: (history.append(2.0) or c + x, x), 0.0, X)
    assert history == [1.0, 2.0, 2.0, 2.0]


@pytest.mark.parametrize("run", [no_effect_in_functions_of_functions, effects_without_jit])
def test_no_false_report(run):
    assert warned(run) == []


WRITES = {
    "an entry": lambda a: a.__setitem__(0, 7.0),
    "in place": lambda a: np.add(a, 1.0, out=a),
    "a view": lambda a: a[1:].__setitem__(0, 7.0),
    "sorted": lambda a: a[::-1].sort(),
}
PROGRAMS = {
    "jit": lambda f: jit(f),
    "jit of grad": lambda f: jit(grad(lambda x: anp.sum(f(x) * x))),
    "vmap of jit": lambda f: lambda x: vmap(jit(f), in_axes=(None,), axis_size=1)(x),
    "jit of scan": lambda f: jit(lambda x: lax.scan(lambda c, _: (f(c), None), x, length=2)[0]),
    "jit of cond": lambda f: jit(lambda x: lax.cond(x[0] > 0, f, lambda x: x, x)),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_keeps_the_values_that_it_was_written_with(program, write):
    weights = np.array([1.0, 2.0, 3.0])
    g = PROGRAMS[program](lambda x: weights * x)
    before = g(X)
    WRITES[write](weights)
    np.testing.assert_array_equal(g(X), before)


def test_an_array_that_is_changed_while_the_program_is_written():
    buffer = np.ones(3)

    @jit
    def f(x):
        first = buffer * x
        buffer[:] = 2.0
        return first, buffer * x

    for _ in range(2):
        first, second = f(X)
        np.testing.assert_array_equal(first, X)
        np.testing.assert_array_equal(second, 2.0 * X)


def test_a_changed_array_is_reported_once():
    weights, model = np.ones(3), Model()

    def scaled(x):
        return weights * model(x)

    def run():
        f = jit(scaled)
        f(X)
        weights[0] = 2.0
        f(X)
        f(X)
        model.weights[1] = 3.0
        f(X)

    text = "jit of scaled: the captured array {!r} was changed after the program was written; it keeps the values that "
    text += "it was written with"
    assert warned(run) == [text.format("weights"), text.format("model.weights")]
