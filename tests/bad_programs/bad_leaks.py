"""Traced values that outlive their transform, or reach another thread."""

import threading

import numpy as np

from autodidax import grad, jit, jvp, lax, linearize, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])
kept = None


@bad(TypeError)
def global_name():
    def loss(x):
        global kept
        kept = x * 2.0
        return np.sum(x)

    grad(loss)(X)
    kept + 1.0  # <- here


@bad(TypeError)
def list_of_values_from_jit():
    history = []

    def step(x):
        history.append(x)
        return 2.0 * x

    jit(step)(1.0)
    np.sum(history[0])  # <- here


@bad(TypeError)
def list_of_values_turned_into_an_array():
    history = []

    def step(x):
        history.append(2.0 * x)
        return x

    jit(step)(1.0)
    np.array(history)  # <- here


@bad(TypeError)
def printed_after_vmap():
    history = []
    vmap(lambda x: history.append(x) or x)(X)
    float(history[0])  # <- here


@bad(TypeError)
def formatted_after_grad():
    history = []
    grad(lambda x: history.append(x) or x)(1.0)
    print(f"{history[0]:.3f}")  # <- here


@bad(TypeError)
def attribute_of_a_model():
    class Model:
        def __call__(self, x):
            self.hidden = np.tanh(x)
            return np.sum(self.hidden)

    model = Model()
    jit(model)(X)
    model.hidden.mean()  # <- here


@bad(TypeError)
def branch_on_a_leaked_value():
    cache = {}

    def loss(x):
        cache["loss"] = x * x
        return x * x

    grad(loss)(3.0)
    if cache["loss"] > 1.0:  # <- here
        pass


@bad(TypeError)
def closure_that_is_called_later():
    def setup(x):
        scale = x * 2.0
        return scale, lambda y: scale * y  # <- here

    later = []

    def f(x):
        scale, function = setup(x)
        later.append(function)
        return scale

    jit(f)(1.0)
    later[0](3.0)


@bad(TypeError)
def carry_of_a_scan_in_jit():
    seen = []

    def step(carry, x):
        seen.append(carry)
        return carry + x, x

    @jit
    def total(xs):
        last, _ = lax.scan(step, 0.0, xs)
        return last + seen[0]  # <- here

    total(X)


@bad(TypeError)
def value_of_a_branch_in_jit():
    seen = []

    def positive(x):
        seen.append(2.0 * x)
        return x

    @jit
    def f(x):
        y = lax.cond(x > 0, positive, lambda x: -x, x)
        return y * seen[0]  # <- here

    f(1.0)


@bad(TypeError)
def second_call_with_a_value_of_the_first():
    state = {"sum": 0.0}

    @jit
    def add(x):
        state["sum"] = state["sum"] + x  # <- here
        return x

    add(1.0)
    add(np.ones(2))


@bad(TypeError)
def returned_generator():
    def rows(x):
        return (2.0 * row for row in x)  # <- here

    held = []

    def loss(x):
        held.append(rows(x))
        return np.sum(x)

    grad(loss)(X)
    next(held[0])


@bad(TypeError)
def argument_of_another_transform():
    values = []
    jvp(lambda x: values.append(x) or x, (1.0,), (1.0,))
    grad(lambda x: x * values[0])(2.0)  # <- here


@bad(TypeError)
def leak_into_a_jitted_function():
    values = []
    grad(lambda x: values.append(x) or x)(1.0)
    jit(lambda x: x * 2.0)(values[0])  # <- here


@bad(TypeError)
def leak_out_of_linearize():
    values = []
    linearize(lambda x: values.append(x) or x, 1.0)
    np.exp(values[0])  # <- here


@bad(TypeError)
def indexed_after_its_end():
    values = []
    vmap(lambda x: values.append(x) or x.sum())(np.ones((2, 3)))
    values[0][1]  # <- here


@bad(TypeError)
def thread_that_goes_on_after_the_transform():
    ended = threading.Event()
    caught = []

    def work(x):
        ended.wait()
        try:
            x * 2.0  # <- here
        except TypeError as error:
            caught.append(error)

    threads = []

    def loss(x):
        threads.append(threading.Thread(target=work, args=(x,)))
        threads[0].start()
        return x

    grad(loss)(1.0)
    ended.set()
    threads[0].join()
    raise caught[0]


@bad(TypeError)
def another_thread_while_the_program_is_written():
    caught = []

    def work(x):
        try:
            caught.append(x * 2.0)  # <- here
        except TypeError as error:
            caught.append(error)

    def loss(x):
        thread = threading.Thread(target=work, args=(x,))
        thread.start()
        thread.join()
        return caught[0]

    jit(loss)(1.0)
    raise caught[0]
