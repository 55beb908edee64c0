"""What jit, make_jaxpr, eval_shape and checkpoint are given."""

import numpy as np

from autodidax import checkpoint, eval_shape, grad, jit, make_jaxpr
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


def power(x, n):
    return x**n


@bad(
    TypeError,
    """
    ArgumentError: jit takes a function as its first argument, got a float
      in: jit_of_a_value (here)
      mend: write jit(f)(x) for a function f, not jit(f(x))
    """,
)
def jit_of_a_value():
    jit(3.0)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: jit takes a function as its first argument, got a float
      in: jit_of_a_call (here)
      mend: write jit(f)(x) for a function f, not jit(f(x))
    """,
)
def jit_of_a_call():
    jit(power(2.0, 3))  # <- here


@bad(
    TypeError,
    """
    DtypeError: jit: output 0 of rows is a generator, which cannot be traced
      in: jit_of_a_generator (here), under jit of rows
      mend: return a tuple in place of yielding values
    """,
)
def jit_of_a_generator():
    def rows(x):
        yield x
        yield 2.0 * x

    jit(rows)(1.0)  # <- here


@bad(
    TypeError,
    """
    DtypeError: jit: output 0 of later is a coroutine, which cannot be traced
      in: jit_of_a_coroutine (here), under jit of later
      mend: give a plain function, without async
    """,
)
def jit_of_a_coroutine():
    async def later(x):
        return x

    jit(later)(1.0)  # <- here


@bad(
    TypeError,
    """
    DtypeError: jit: output 0 of loss is a str, which cannot be traced
      in: jit_that_returns_nothing_useful (here), under jit of loss
      mend: return numbers or arrays of numbers, or trees of them
    """,
)
def jit_that_returns_nothing_useful():
    def loss(x):
        return "done"

    jit(loss)(1.0)  # <- here


@bad(
    TypeError,
    """
    DtypeError: jit: output 0 of make is a function, which cannot be traced
      in: jit_that_returns_a_function (here), under jit of make
      mend: return numbers or arrays of numbers, or trees of them
    """,
)
def jit_that_returns_a_function():
    def make(x):
        return lambda y: x * y

    jit(make)(1.0)  # <- here


@bad(
    TypeError,
    """
    DtypeError: jit: argument 'how' of reduce is a str, which cannot be traced
      in: string_argument (here)
      mend: pass numbers or arrays of numbers; make other arguments static (static_argnums), or close over them
    """,
)
def string_argument():
    def reduce(x, how):
        return x.sum() if how == "sum" else x.mean()

    jit(reduce)(X, "sum")  # <- here


@bad(
    TypeError,
    """
    DtypeError: jit: argument 'f' of apply is a ufunc, which cannot be traced
      in: function_argument (here)
      mend: pass numbers or arrays of numbers; make other arguments static (static_argnums), or close over them
    """,
)
def function_argument():
    def apply(f, x):
        return f(x)

    jit(apply)(np.sin, X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: jit of power: the static argument 'n' is a list, which cannot be hashed
      in: list_as_a_static_argument (here)
      mend: pass a hashable value (a tuple instead of a list), or make the argument dynamic
    """,
)
def list_as_a_static_argument():
    jit(power, static_argnums=1)(2.0, [3])  # <- here


@bad(
    TypeError,
    """
    ArgumentError: jit of power: the static argument 'n' is an array of shape (2,) and dtype int64, which cannot
            be hashed
      in: array_as_a_static_argument (here)
      mend: make the argument dynamic, or close over the array
    """,
)
def array_as_a_static_argument():
    jit(power, static_argnums=1)(2.0, np.array([1, 2]))  # <- here


@bad(
    TypeError,
    """
    ArgumentError: jit of net: the static argument 'options' is a dict, which cannot be hashed
      in: dict_as_a_static_argument (here)
      mend: pass a hashable value (a tuple instead of a list), or make the argument dynamic
    """,
)
def dict_as_a_static_argument():
    def net(x, options):
        return x * options["scale"]

    jit(net, static_argnames="options")(X, options={"scale": 2.0})  # <- here


@bad(
    TypeError,
    """
    ArgumentError: jit of power: the static argument 'n' is a traced value (i64[])
      in: f (here), under jit of f
      mend: make the argument dynamic, or pass a plain value: static ones must be known
    """,
)
def traced_static_argument():
    def f(n):
        return jit(power, static_argnums=1)(2.0, n)  # <- here

    jit(f)(3)


@bad(
    ValueError,
    """
    ArgumentError: jit: power has no argument 2 that could be static
      in: static_position_out_of_range (here)
      mend: choose among its parameters: x, n
    """,
)
def static_position_out_of_range():
    jit(power, static_argnums=2)  # <- here


@bad(
    ValueError,
    """
    ArgumentError: jit: power has no argument 'm' that could be static
      in: static_name_that_is_unknown (here)
      mend: choose among its parameters: x, n
    """,
)
def static_name_that_is_unknown():
    jit(power, static_argnames="m")  # <- here


@bad(
    TypeError,
    """
    ArgumentError: jit: static_argnums are integers and static_argnames strings, got 'n' and None
      in: static_position_as_a_name (here)
      mend: write static_argnums=(1,) or static_argnames=('n',)
    """,
)
def static_position_as_a_name():
    jit(power, static_argnums="n")  # <- here


@bad(
    TypeError,
    """
    ArgumentError: jit: power has no argument 2 that could be donated
      in: donated_position_that_does_not_exist (here)
      mend: choose among its parameters: x, n
    """,
)
def donated_position_that_does_not_exist():
    jit(power, donate_argnums=(2,))  # <- here


@bad(
    TypeError,
    """
    ArgumentError: jit: donate_argnums are integers and donate_argnames strings, got 'x' and None
      in: donated_position_as_a_name (here)
      mend: write donate_argnums=(1,) or donate_argnames=('n',)
    """,
)
def donated_position_as_a_name():
    jit(power, donate_argnums="x")  # <- here


@bad(
    TypeError,
    """
    ArgumentError: jit of power: the static argument 'n' is an Options, which cannot be hashed
      in: static_value_that_is_not_comparable (here)
      mend: pass a hashable value (a tuple instead of a list), or make the argument dynamic
    """,
)
def static_value_that_is_not_comparable():
    class Options:
        __hash__ = None

    jit(power, static_argnums=1)(2.0, Options())  # <- here


@bad(
    ValueError,
    """
    ArgumentError: no backend named 'gpu'
      in: unknown_backend (here)
      mend: choose one of ['numpy']
    """,
)
def unknown_backend():
    jit(power, backend="gpu")(2.0, 3.0)  # <- here


@bad(
    TypeError,
    """
    TypeError: power() missing 1 required positional argument: 'n'
    """,
)
def too_few_arguments():
    jit(power)(2.0)  # <- here


@bad(
    TypeError,
    """
    TypeError: power() takes 2 positional arguments but 3 were given
    """,
)
def too_many_arguments():
    grad(power)(2.0, 3.0, 4.0)  # <- here


@bad(
    TypeError,
    """
    TypeError: power() got an unexpected keyword argument 'exponent'
    """,
)
def unknown_keyword():
    jit(power)(2.0, exponent=3.0)  # <- here


@bad(
    ValueError,
    """
    ShapeError: compiled <lambda>: leaf 0 of the arguments is f64[4], it was compiled for f64[3]
      in: compiled_for_another_shape (here)
      mend: pass that shape and dtype, or call the jitted function, which compiles anew
    """,
)
def compiled_for_another_shape():
    compiled = jit(lambda x: 2.0 * x).lower(X).compile()
    compiled(np.ones(4))  # <- here


@bad(
    ValueError,
    """
    TreeError: compiled <lambda>: the arguments have another structure than those it was compiled for: at
            [0][0]: dict with keys 'w' expected, dict with keys 'v' given (missing 'w'; unexpected 'v')
      in: compiled_for_another_tree (here)
      mend: pass the same trees, without static arguments; or call the jitted function, which compiles anew
    """,
)
def compiled_for_another_tree():
    compiled = jit(lambda p: p["w"]).lower({"w": X}).compile()
    compiled({"v": X})  # <- here


@bad(
    TypeError,
    """
    DtypeError: make_jaxpr: argument 'x' is a str, which cannot be traced
      in: make_jaxpr_of_a_string (here)
      mend: pass numbers or arrays of numbers; make other arguments static (static_argnums), or close over them
    """,
)
def make_jaxpr_of_a_string():
    make_jaxpr(power)("x", 2)  # <- here


@bad(
    TypeError,
    """
    TracerIntegerConversionError: np.zeros: a traced value (i64[]) was used as a size or a shape, which must be
            known
      in: <lambda> (here), under eval_shape of <lambda>
      mend: make it static (static_argnums under jit, functools.partial before eval_shape), or take it from a
            shape, as x.shape[0]
    """,
)
def eval_shape_of_a_value_dependent_shape():
    eval_shape(lambda n: np.zeros(n), 3)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: checkpoint takes a function as its first argument, got a float
      in: checkpoint_of_a_value (here)
      mend: write checkpoint(f)(x) for a function f, not checkpoint(f(x))
    """,
)
def checkpoint_of_a_value():
    checkpoint(3.0)  # <- here


@bad(
    TypeError,
    """
    DtypeError: checkpoint: argument 'kind' is a str, which cannot be traced
      in: checkpoint_with_a_string (here), under grad of layer
      mend: pass numbers or arrays of numbers; make other arguments static (static_argnums), or close over them
    """,
)
def checkpoint_with_a_string():
    @checkpoint
    def layer(x, kind):
        return np.tanh(x) if kind == "tanh" else x

    grad(layer)(1.0, "tanh")  # <- here


@bad(
    TypeError,
    """
    ArgumentError: checkpoint of layer: the static argument 'sizes' is a list, which cannot be hashed
      in: checkpoint_with_an_unhashable_static_argument (here), under grad of layer
      mend: pass a hashable value (a tuple instead of a list), or make the argument dynamic
    """,
)
def checkpoint_with_an_unhashable_static_argument():
    def layer(x, sizes):
        return x * sum(sizes)

    grad(checkpoint(layer, static_argnums=1))(1.0, [1, 2])  # <- here


@bad(
    TypeError,
    """
    TreeError: the keys of a dict in a pytree are sorted, and these cannot be: they are of type int, str
      in: dict_keys_that_do_not_compare (here)
      mend: use keys of one sortable type, or an OrderedDict, which keeps its own order
    """,
)
def dict_keys_that_do_not_compare():
    jit(lambda d: d[1])({1: 1.0, "a": 2.0})  # <- here


@bad(
    TypeError,
    """
    DtypeError: jit: argument 'x' of <lambda> is an array of shape (2,) and dtype object, which cannot be traced
      in: object_array (here)
      mend: pass numbers or arrays of numbers; make other arguments static (static_argnums), or close over them
    """,
)
def object_array():
    jit(lambda x: x * 2)(np.array([1, None]))  # <- here
