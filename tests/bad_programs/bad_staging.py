"""What jit, make_jaxpr, eval_shape and checkpoint are given."""

import numpy as np

from autodidax import checkpoint, eval_shape, grad, jit, make_jaxpr
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


def power(x, n):
    return x**n


@bad(TypeError)
def jit_of_a_value():
    jit(3.0)  # <- here


@bad(TypeError)
def jit_of_a_call():
    jit(power(2.0, 3))  # <- here


@bad(TypeError)
def jit_of_a_generator():
    def rows(x):
        yield x
        yield 2.0 * x

    jit(rows)(1.0)  # <- here


@bad(TypeError)
def jit_of_a_coroutine():
    async def later(x):
        return x

    jit(later)(1.0)  # <- here


@bad(TypeError)
def jit_that_returns_nothing_useful():
    def loss(x):
        return "done"

    jit(loss)(1.0)  # <- here


@bad(TypeError)
def jit_that_returns_a_function():
    def make(x):
        return lambda y: x * y

    jit(make)(1.0)  # <- here


@bad(TypeError)
def string_argument():
    def reduce(x, how):
        return x.sum() if how == "sum" else x.mean()

    jit(reduce)(X, "sum")  # <- here


@bad(TypeError)
def function_argument():
    def apply(f, x):
        return f(x)

    jit(apply)(np.sin, X)  # <- here


@bad(TypeError)
def list_as_a_static_argument():
    jit(power, static_argnums=1)(2.0, [3])  # <- here


@bad(TypeError)
def array_as_a_static_argument():
    jit(power, static_argnums=1)(2.0, np.array([1, 2]))  # <- here


@bad(TypeError)
def dict_as_a_static_argument():
    def net(x, options):
        return x * options["scale"]

    jit(net, static_argnames="options")(X, options={"scale": 2.0})  # <- here


@bad(TypeError)
def traced_static_argument():
    def f(n):
        return jit(power, static_argnums=1)(2.0, n)  # <- here

    jit(f)(3)


@bad(ValueError)
def static_position_out_of_range():
    jit(power, static_argnums=2)  # <- here


@bad(ValueError)
def static_name_that_is_unknown():
    jit(power, static_argnames="m")  # <- here


@bad(TypeError)
def static_position_as_a_name():
    jit(power, static_argnums="n")  # <- here


@bad(TypeError)
def static_value_that_is_not_comparable():
    class Options:
        __hash__ = None

    jit(power, static_argnums=1)(2.0, Options())  # <- here


@bad(ValueError)
def donated_position_out_of_range():
    jit(power, donate_argnums=5)  # <- here


@bad(ValueError)
def donated_and_static():
    jit(power, static_argnums=1, donate_argnums=1)  # <- here


@bad(ValueError)
def unknown_backend():
    jit(power, backend="gpu")(2.0, 3.0)  # <- here


@bad(TypeError)
def jit_with_positional_static_argnums():
    jit(power, 1)  # <- here


@bad(TypeError)
def too_few_arguments():
    jit(power)(2.0)  # <- here


@bad(TypeError)
def too_many_arguments():
    grad(power)(2.0, 3.0, 4.0)  # <- here


@bad(TypeError)
def unknown_keyword():
    jit(power)(2.0, exponent=3.0)  # <- here


@bad(ValueError)
def compiled_for_another_shape():
    compiled = jit(lambda x: 2.0 * x).lower(X).compile()
    compiled(np.ones(4))  # <- here


@bad(ValueError)
def compiled_for_another_tree():
    compiled = jit(lambda p: p["w"]).lower({"w": X}).compile()
    compiled({"v": X})  # <- here


@bad(TypeError)
def make_jaxpr_of_a_string():
    make_jaxpr(power)("x", 2)  # <- here


@bad(TypeError)
def eval_shape_of_a_value_dependent_shape():
    eval_shape(lambda n: np.zeros(n), 3)  # <- here


@bad(TypeError)
def checkpoint_of_a_value():
    checkpoint(3.0)  # <- here


@bad(TypeError)
def checkpoint_with_a_string():
    @checkpoint
    def layer(x, kind):
        return np.tanh(x) if kind == "tanh" else x

    grad(layer)(1.0, "tanh")  # <- here


@bad(TypeError)
def checkpoint_with_an_unhashable_static_argument():
    def layer(x, sizes):
        return x * sum(sizes)

    grad(checkpoint(layer, static_argnums=1))(1.0, [1, 2])  # <- here


@bad(TypeError)
def dict_keys_that_do_not_compare():
    jit(lambda d: d[1])({1: 1.0, "a": 2.0})  # <- here


@bad(TypeError)
def object_array():
    jit(lambda x: x * 2)(np.array([1, None]))  # <- here
