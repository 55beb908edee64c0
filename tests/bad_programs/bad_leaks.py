"""Traced values that outlive their transform, or reach another thread."""

import threading

import numpy as np

from autodidax import grad, jit, jvp, lax, linearize, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])
kept = None


@bad(
    TypeError,
    """
    UnexpectedTracerError: add: a value traced by grad of loss was used after that transform had ended
      in: global_name (here)
      mend: return the value from loss (use has_aux=True for extras) instead of storing it
    """,
)
def global_name():
    def loss(x):
        global kept
        kept = x * 2.0
        return np.sum(x)

    grad(loss)(X)
    kept + 1.0  # <- here


@bad(
    TypeError,
    """
    UnexpectedTracerError: reduce_sum: a value traced by jit of step was used after that transform had ended
      in: list_of_values_from_jit (here)
      mend: return the value from step instead of storing it
    """,
)
def list_of_values_from_jit():
    history = []

    def step(x):
        history.append(x)
        return 2.0 * x

    jit(step)(1.0)
    np.sum(history[0])  # <- here


@bad(
    TypeError,
    """
    UnexpectedTracerError: np.array: a value traced by jit of step was used after that transform had ended
      in: list_of_values_turned_into_an_array (here)
      mend: return the value from step instead of storing it
    """,
)
def list_of_values_turned_into_an_array():
    history = []

    def step(x):
        history.append(2.0 * x)
        return x

    jit(step)(1.0)
    np.array(history)  # <- here


@bad(
    TypeError,
    """
    UnexpectedTracerError: a value traced by vmap of <lambda> was used after that transform had ended
      in: printed_after_vmap (here)
      mend: return the value from <lambda> instead of storing it
    """,
)
def printed_after_vmap():
    history = []
    vmap(lambda x: history.append(x) or x)(X)
    float(history[0])  # <- here


@bad(
    TypeError,
    """
    UnexpectedTracerError: a value traced by grad of <lambda> was used after that transform had ended
      in: formatted_after_grad (here)
      mend: return the value from <lambda> (use has_aux=True for extras) instead of storing it
    """,
)
def formatted_after_grad():
    history = []
    grad(lambda x: history.append(x) or x)(1.0)
    print(f"{history[0]:.3f}")  # <- here


@bad(
    TypeError,
    """
    UnexpectedTracerError: reduce_sum: a value traced by jit of Model was used after that transform had ended
      in: attribute_of_a_model (here)
      mend: return the value from Model instead of storing it
    """,
)
def attribute_of_a_model():
    class Model:
        def __call__(self, x):
            self.hidden = np.tanh(x)
            return np.sum(self.hidden)

    model = Model()
    jit(model)(X)
    model.hidden.mean()  # <- here


@bad(
    TypeError,
    """
    UnexpectedTracerError: gt: a value traced by grad of loss was used after that transform had ended
      in: branch_on_a_leaked_value (here)
      mend: return the value from loss (use has_aux=True for extras) instead of storing it
    """,
)
def branch_on_a_leaked_value():
    cache = {}

    def loss(x):
        cache["loss"] = x * x
        return x * x

    grad(loss)(3.0)
    if cache["loss"] > 1.0:  # <- here
        pass


@bad(
    TypeError,
    """
    UnexpectedTracerError: mul: a value traced by jit of f was used after that transform had ended
      in: <lambda> (here)
      mend: return the value from f instead of storing it
    """,
)
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


@bad(
    TypeError,
    """
    UnexpectedTracerError: add: a value traced by scan of step was used after that transform had ended
      in: total (here), under jit of total
      mend: return the value from step in the carry or as y instead of storing it
    """,
)
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


@bad(
    TypeError,
    """
    UnexpectedTracerError: mul: a value traced by cond of positive was used after that transform had ended
      in: f (here), under jit of f
      mend: return the value from positive and from the other branches instead of storing it
    """,
)
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


@bad(
    TypeError,
    """
    UnexpectedTracerError: a value traced by jit of add was used after that transform had ended
      in: add (here), under jit of add
      mend: return the value from add instead of storing it
    """,
)
def second_call_with_a_value_of_the_first():
    state = {"sum": 0.0}

    @jit
    def add(x):
        state["sum"] = state["sum"] + x  # <- here
        return x

    add(1.0)
    add(np.ones(2))


@bad(
    TypeError,
    """
    UnexpectedTracerError: getitem: a value traced by grad of loss was used after that transform had ended
      in: <genexpr> (here)
      mend: return the value from loss (use has_aux=True for extras) instead of storing it
    """,
)
def returned_generator():
    def rows(x):
        return (2.0 * row for row in x)  # <- here

    held = []

    def loss(x):
        held.append(rows(x))
        return np.sum(x)

    grad(loss)(X)
    next(held[0])


@bad(
    TypeError,
    """
    UnexpectedTracerError: mul: a value traced by jvp of <lambda> was used after that transform had ended
      in: <lambda> (here), under grad of <lambda>
      mend: return the value from <lambda> (use has_aux=True for extras) instead of storing it
    """,
)
def argument_of_another_transform():
    values = []
    jvp(lambda x: values.append(x) or x, (1.0,), (1.0,))
    grad(lambda x: x * values[0])(2.0)  # <- here


@bad(
    TypeError,
    """
    UnexpectedTracerError: jit: a value traced by grad of <lambda> was used after that transform had ended
      in: leak_into_a_jitted_function (here)
      mend: return the value from <lambda> (use has_aux=True for extras) instead of storing it
    """,
)
def leak_into_a_jitted_function():
    values = []
    grad(lambda x: values.append(x) or x)(1.0)
    jit(lambda x: x * 2.0)(values[0])  # <- here


@bad(
    TypeError,
    """
    UnexpectedTracerError: exp: a value traced by linearize of <lambda> was used after that transform had ended
      in: leak_out_of_linearize (here)
      mend: return the value from <lambda> (use has_aux=True for extras) instead of storing it
    """,
)
def leak_out_of_linearize():
    values = []
    linearize(lambda x: values.append(x) or x, 1.0)
    np.exp(values[0])  # <- here


@bad(
    TypeError,
    """
    UnexpectedTracerError: getitem: a value traced by vmap of <lambda> was used after that transform had ended
      in: indexed_after_its_end (here)
      mend: return the value from <lambda> instead of storing it
    """,
)
def indexed_after_its_end():
    values = []
    vmap(lambda x: values.append(x) or x.sum())(np.ones((2, 3)))
    values[0][1]  # <- here


@bad(
    TypeError,
    """
    UnexpectedTracerError: mul: a value traced by grad of loss was used after that transform had ended
      in: work (here)
      mend: return the value from loss (use has_aux=True for extras) instead of storing it
    """,
)
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
