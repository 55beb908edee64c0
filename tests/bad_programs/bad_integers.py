"""Traced values where Python wants an integer: ranges, indices, slices, counts."""

import numpy as np

import autodidax.numpy as anp
from autodidax import grad, jacrev, jit, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


@bad(
    TypeError,
    """
    TracerIntegerConversionError: range: a traced value (i64[]), which depends on argument 'n' of power, cannot
            become a Python integer under jit of power
      in: power (here), under jit of power
      mend: use lax.fori_loop(0, n, body, init), whose bounds may be traced; or make 'n' static: jit(power,
            static_argnames='n')
    """,
)
def range_under_jit():
    def power(x, n):
        y = 1.0
        for _ in range(n):  # <- here
            y = y * x
        return y

    jit(power)(2.0, 3)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: range: a traced value (f64[]) cannot become a Python integer under grad of
            power
      in: power (here), under grad of power
      mend: give an integer, and leave it out of the arguments to differentiate (argnums)
    """,
)
def range_under_grad():
    def power(x, n):
        y = 1.0
        for _ in range(n):  # <- here
            y = y * x
        return y

    grad(power, argnums=(0, 1))(2.0, 3.0)


@bad(
    TypeError,
    """
    ShapeError: Traced<f64[]> by jit of mean: len() of unsized object: a number has no length
      in: mean (here), under jit of mean
      mend: write x[None] for an array of one entry, np.size(x) for the number of entries
    """,
)
def len_of_a_number():
    def mean(x):
        return np.sum(x) / len(x)  # <- here

    jit(mean)(2.0)


@bad(
    TypeError,
    """
    ShapeError: Traced<f64[]> by grad of total: iteration over a 0-d array, a number cannot be unpacked
      in: total (here), under grad of total
      mend: write x[None] for an array of one entry
    """,
)
def loop_over_a_number():
    def total(x):
        return sum(v for v in x)  # <- here

    grad(total)(2.0)


@bad(
    TypeError,
    """
    ShapeError: Traced<f64[]> by jit of difference: iteration over a 0-d array, a number cannot be unpacked
      in: difference (here), under jit of difference
      mend: write x[None] for an array of one entry
    """,
)
def unpacking_a_number():
    def difference(x):
        a, b = x  # <- here
        return a - b

    jit(difference)(2.0)


@bad(
    ValueError,
    """
    ValueError: too many values to unpack (expected 2)
    """,
)
def unpacking_too_many_rows():
    def difference(x):
        a, b = x  # <- here
        return a - b

    jit(difference)(X)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: an index: a traced value (i64[]), which depends on argument 'k' of weight,
            cannot become a Python integer under jit of weight
      in: weight (here), under jit of weight
      mend: write anp.at(np.array(weights))[k].get(), with an array for the list; or make 'k' static:
            jit(weight, static_argnames='k')
    """,
)
def list_index_under_jit():
    weights = [0.1, 0.2, 0.7]

    def weight(k):
        return weights[k]  # <- here

    jit(weight)(1)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: an index: a traced value (i64[]) cannot become a Python integer under vmap of
            <lambda> over axis 0 of size 2
      in: <lambda> (here), under vmap of <lambda> over axis 0 of size 2
      mend: write anp.at(np.array(names))[k].get(), with an array for the list; or close over an integer
    """,
)
def list_index_under_vmap():
    names = ["a", "b"]
    vmap(lambda k: len(names[k]))(np.array([0, 1]))  # <- here


@bad(
    TypeError,
    """
    TracerIntegerConversionError: a slice with a traced bound: the size of the result would depend on its value
      in: head (here), under jit of head
      mend: use lax.dynamic_slice(x, starts, sizes), whose sizes are static, or a mask with where
    """,
)
def slice_bound_under_jit():
    def head(x, n):
        return np.sum(x[:n])  # <- here

    jit(head)(X, 2)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: a slice: a traced value (i64[]), which depends on argument 'n' of head, cannot
            become a Python integer under jit of head
      in: head (here), under jit of head
      mend: the size of a slice must be known: use lax.dynamic_slice(x, starts, sizes), or a mask, as
            np.where(np.arange(len(x)) < n, x, 0.0); or make 'n' static: jit(head, static_argnames='n')
    """,
)
def slice_bound_of_a_plain_array():
    def head(n):
        return np.sum(X[:n])  # <- here

    jit(head)(2)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: a slice: a traced value (i64[]), which depends on argument 'n' of head, cannot
            become a Python integer under jit of head
      in: head (here), under jit of head
      mend: the size of a slice must be known: use lax.dynamic_slice(x, starts, sizes), or a mask, as
            np.where(np.arange(len(x)) < n, x, 0.0); or make 'n' static: jit(head, static_argnames='n')
    """,
)
def slice_bound_of_a_list():
    def head(n):
        return [1.0, 2.0, 3.0][:n]  # <- here

    jit(head)(2)


@bad(
    TypeError,
    """
    TracerArrayConversionError: the index of a plain array: a traced value (i64[]), which depends on argument
            'k' of look_up, cannot become a plain NumPy array under jit of look_up
      in: look_up (here), under jit of look_up
      mend: write anp.take(table, k) or anp.at(table)[k].get(), with autodidax.numpy as anp
    """,
)
def index_into_a_plain_array():
    table = np.arange(5.0)

    def look_up(k):
        return table[k]  # <- here

    jit(look_up)(2)


@bad(
    IndexError,
    """
    IndexDtypeError: an array is indexed with float64; indices are integers, booleans, slices, None and Ellipsis
      in: entry (here), under grad of entry
      mend: convert the index with astype(int)
    """,
)
def float_as_an_index():
    def entry(x):
        return x[x[0]]  # <- here

    grad(entry)(X)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: a list times a traced integer: a plain integer would repeat the list, which
            needs its value
      in: padded (here), under jit of padded
      mend: to multiply its entries write np.array([0.0]) * n; to repeat it make n static
    """,
)
def repeated_list():
    def padded(n):
        return np.array([0.0] * n)  # <- here

    jit(padded)(3)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of f,
            is not known under jit of f
      in: f (here), under jit of f, under vjp of f
      mend: write np.where(np.all(x > -9), np.where(x > 0, x, 0.0), x), or lax.cond(test, f, g, x) where only
            one branch may run
    """,
)
def if_on_a_jacobian():
    def f(x):
        return np.where(x > 0, x, 0.0) if np.all(x > -9) else x  # <- here

    jacrev(jit(f))(X)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: range: a traced value (i64[]), which depends on argument 'counts' of f, cannot
            become a Python integer under jit of f
      in: <listcomp> (here), under jit of f
      mend: use lax.fori_loop(0, c, body, init), whose bounds may be traced; or close over an integer
    """,
)
def enumerate_of_a_count():
    def f(x, counts):
        return anp.array([x * i for i, c in enumerate(counts) for _ in range(c)])  # <- here

    jit(f)(1.0, np.array([1, 2]))


@bad(
    TypeError,
    """
    TracerIntegerConversionError: a list times a traced integer: a plain integer would repeat the list, which
            needs its value
      in: <lambda> (here), under jit of <lambda>
      mend: to multiply its entries write np.array([1.0, 2.0]) * n; to repeat it make n static
    """,
)
def list_times_a_count():
    jit(lambda n: np.sum([1.0, 2.0] * n))(3)  # <- here


@bad(
    TypeError,
    """
    TracerIntegerConversionError: a tuple times a traced integer: a plain integer would repeat the tuple, which
            needs its value
      in: <lambda> (here), under vmap of <lambda> over axis 0 of size 2
      mend: to multiply its entries write np.array((1.0, 2.0)) * n; to repeat it make n static
    """,
)
def count_times_a_tuple_under_vmap():
    vmap(lambda n: n * (1.0, 2.0))(np.array([1, 2]))  # <- here
