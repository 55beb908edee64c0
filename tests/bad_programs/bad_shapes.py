"""Shapes that depend on values."""

import numpy as np

import autodidax.numpy as anp
from autodidax import jit, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])
M = np.arange(6.0).reshape(2, 3)


@bad(
    IndexError,
    """
    NonConcreteBooleanIndexError: a boolean mask whose values are not known while tracing: the size of the
            result would depend on them
      in: positive_sum (here), under jit of positive_sum
      mend: select with np.where(x > 0, x, 0.0), or compute the mask from values that are not traced
    """,
)
def boolean_mask_under_jit():
    def positive_sum(x):
        return np.sum(x[x > 0])  # <- here

    jit(positive_sum)(X)


@bad(
    IndexError,
    """
    NonConcreteBooleanIndexError: a boolean mask whose values are not known while tracing: the size of the
            result would depend on them
      in: <lambda> (here), under vmap of <lambda> over axis 0 of size 2
      mend: select with np.where(row > 0, row, 0.0), or compute the mask from values that are not traced
    """,
)
def boolean_mask_under_vmap():
    vmap(lambda row: np.sum(row[row > 0]))(M)  # <- here


@bad(
    IndexError,
    """
    NonConcreteBooleanIndexError: the mask of a plain array: a traced value (bool[3]), which depends on argument
            'threshold' of chosen, is not known under jit of chosen, and the size of the result depends on it
      in: chosen (here), under jit of chosen
      mend: select with np.where(threshold < X, X, 0.0), which keeps the shape
    """,
)
def boolean_mask_of_a_plain_array():
    def chosen(threshold):
        return np.sum(X[threshold < X])  # <- here

    jit(chosen)(0.0)


@bad(
    TypeError,
    """
    ConcretizationTypeError: nonzero: the size of the result depends on the values of Traced<f64[3]> by jit of
            places, which are not known
      in: places (here), under jit of places
      mend: use where(condition, x, y), which keeps the shape; or anp.nonzero(..., size=n); or compute the
        condition from plain arrays
    """,
)
def nonzero_under_jit():
    def places(x):
        return np.nonzero(x)  # <- here

    jit(places)(X)


@bad(
    TypeError,
    """
    ConcretizationTypeError: where: the size of the result depends on the values of Traced<bool[3]> by jit of
            places, which are not known
      in: places (here), under jit of places
      mend: use where(condition, x, y), which keeps the shape; or anp.where(..., size=n); or compute the
        condition from plain arrays
    """,
)
def where_with_one_argument_under_jit():
    def places(x):
        return np.where(x > 0)  # <- here

    jit(places)(X)


@bad(
    TypeError,
    """
    ConcretizationTypeError: flatnonzero: the size of the result depends on the values of Traced<f64[3]> by vmap
            of <lambda> over axis 0 of size 2, which are not known
      in: <lambda> (here), under vmap of <lambda> over axis 0 of size 2
      mend: use where(condition, x, y), which keeps the shape; or anp.flatnonzero(..., size=n); or compute the
        condition from plain arrays
    """,
)
def flatnonzero_under_vmap():
    vmap(lambda row: np.flatnonzero(row))(M)  # <- here


@bad(
    TypeError,
    """
    ConcretizationTypeError: argwhere: the size of the result depends on the values of Traced<bool[3]> by jit of
            <lambda>, which are not known
      in: <lambda> (here), under jit of <lambda>
      mend: use where(condition, x, y), which keeps the shape; or anp.argwhere(..., size=n); or compute the
        condition from plain arrays
    """,
)
def argwhere_under_jit():
    jit(lambda x: np.argwhere(x > 0))(X)  # <- here


@bad(
    TypeError,
    """
    ConcretizationTypeError: compress: the size of the result depends on the values of Traced<bool[3]> by jit of
            chosen, which are not known
      in: chosen (here), under jit of chosen
      mend: use where(condition, x, y), which keeps the shape; or anp.compress(..., size=n); or compute the
        condition from plain arrays
    """,
)
def compress_under_jit():
    def chosen(x):
        return np.compress(x > 0, x)  # <- here

    jit(chosen)(X)


@bad(
    TypeError,
    """
    ConcretizationTypeError: extract: the size of the result depends on the values of Traced<bool[3]> by jit of
            <lambda>, which are not known
      in: <lambda> (here), under jit of <lambda>
      mend: use where(condition, x, y), which keeps the shape; or anp.extract(..., size=n); or compute the
        condition from plain arrays
    """,
)
def extract_under_jit():
    jit(lambda x: np.extract(x > 0, x))(X)  # <- here


@bad(
    TypeError,
    """
    TracerIntegerConversionError: delete: the positions of the entries are traced, and the result depends on
            them
      in: <lambda> (here), under jit of <lambda>
      mend: give known positions; with anp.delete(..., assume_unique_indices=True) they may be traced; or keep the
            shape, with np.where(np.arange(n) == k, 0.0, x)
    """,
)
def delete_under_jit():
    jit(lambda x, k: np.delete(x, k))(X, 1)  # <- here


@bad(
    TypeError,
    """
    TracerArrayConversionError: numpy.arange: a traced value (i64[]), which depends on argument 'n' of numbers,
            cannot become a plain NumPy array under jit of numbers: it has no value yet
      in: numbers (here), under jit of numbers
      mend: write start + step * np.arange(n) with a known n; or make 'n' static: jit(numbers,
            static_argnames='n')
    """,
)
def arange_under_jit():
    def numbers(n):
        return np.arange(n)  # <- here

    jit(numbers)(3)


@bad(
    TypeError,
    """
    ConcretizationTypeError: arange: the size of the result would depend on the values of traced bounds
      in: numbers (here), under jit of numbers
      mend: write start + step * np.arange(n) with a known n, or linspace(start, stop, n)
    """,
)
def arange_of_our_own_under_jit():
    def numbers(n):
        return anp.arange(n)  # <- here

    jit(numbers)(3)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: np.zeros: a traced value (i64[]) was used as a size or a shape, which must be
            known
      in: padded (here), under jit of padded
      mend: make it static (static_argnums under jit, functools.partial before eval_shape), or take it from a
            shape, as x.shape[0]
    """,
)
def zeros_under_jit():
    def padded(n):
        return np.zeros(n)  # <- here

    jit(padded)(3)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: anp.zeros: a traced value (i64[]), which depends on argument 'n' of padded,
            cannot become a Python integer under jit of padded
      in: padded (here), under jit of padded
      mend: sizes, counts and axes must be known: make 'n' static: jit(padded, static_argnames='n'), or take it
            from a shape
    """,
)
def zeros_of_our_own_under_jit():
    def padded(n):
        return anp.zeros((n, 2))  # <- here

    jit(padded)(3)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: np.eye: a traced value (i64[]), which depends on argument 'n' of identity,
            cannot become a Python integer under jit of identity
      in: identity (here), under jit of identity
      mend: sizes, counts and axes must be known: make 'n' static: jit(identity, static_argnames='n'), or take
            it from a shape
    """,
)
def eye_under_jit():
    def identity(n):
        return np.eye(n)  # <- here

    jit(identity)(3)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: np.linspace: a traced value (i64[]), which depends on argument 'n' of grid,
            cannot become a Python integer under jit of grid
      in: grid (here), under jit of grid
      mend: sizes, counts and axes must be known: make 'n' static: jit(grid, static_argnames='n'), or take it
            from a shape
    """,
)
def linspace_under_jit():
    def grid(n):
        return np.linspace(0.0, 1.0, n)  # <- here

    jit(grid)(5)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: anp.full: a traced value (i64[]), which depends on argument 'n' of filled,
            cannot become a Python integer under jit of filled
      in: filled (here), under jit of filled
      mend: sizes, counts and axes must be known: make 'n' static: jit(filled, static_argnames='n'), or take it
            from a shape
    """,
)
def full_under_jit():
    def filled(n):
        return anp.full((n,), 2.0)  # <- here

    jit(filled)(5)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: x.reshape: a traced value (i64[]), which depends on argument 'n' of rows,
            cannot become a Python integer under jit of rows
      in: rows (here), under jit of rows
      mend: sizes, counts and axes must be known: make 'n' static: jit(rows, static_argnames='n'), or take it
            from a shape
    """,
)
def reshape_under_jit():
    def rows(x, n):
        return x.reshape(n, -1)  # <- here

    jit(rows)(M, 3)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: M.reshape: a traced value (i64[]), which depends on argument 'n' of rows,
            cannot become a Python integer under jit of rows
      in: rows (here), under jit of rows
      mend: sizes, counts and axes must be known: make 'n' static: jit(rows, static_argnames='n'), or take it
            from a shape
    """,
)
def reshape_of_a_plain_array_under_jit():
    def rows(n):
        return M.reshape(n, -1)  # <- here

    jit(rows)(3)


@bad(
    TypeError,
    """
    TracerArrayConversionError: numpy.repeat: a traced value (i64[3]), which depends on argument 'counts' of
            spread, cannot become a plain NumPy array under jit of spread: it has no value yet
      in: spread (here), under jit of spread
      mend: the counts of np.repeat must be known: compute them outside of the transformed function
    """,
)
def repeat_under_jit():
    def spread(x, counts):
        return np.repeat(x, counts)  # <- here

    jit(spread)(X, np.array([1, 2, 0]))


@bad(
    TypeError,
    """
    TracerIntegerConversionError: np.tile: a traced value (i64[]), which depends on argument 'n' of <lambda>,
            cannot become a Python integer under jit of <lambda>
      in: <lambda> (here), under jit of <lambda>
      mend: sizes, counts and axes must be known: make 'n' static: jit(f, static_argnames='n'), or take it from
            a shape
    """,
)
def tile_under_jit():
    jit(lambda x, n: np.tile(x, n))(X, 2)  # <- here


@bad(
    TypeError,
    """
    TracerIntegerConversionError: np.broadcast_to: a traced value (i64[]), which depends on argument 'n' of
            <lambda>, cannot become a Python integer under jit of <lambda>
      in: <lambda> (here), under jit of <lambda>
      mend: sizes, counts and axes must be known: make 'n' static: jit(f, static_argnames='n'), or take it from
            a shape
    """,
)
def broadcast_to_a_traced_size():
    jit(lambda x, n: np.broadcast_to(x, (n, 3)))(X, 2)  # <- here


@bad(
    TypeError,
    """
    TracerIntegerConversionError: np.sum: a traced value (i64[]), which depends on argument 'k' of <lambda>,
            cannot become a Python integer under jit of <lambda>
      in: <lambda> (here), under jit of <lambda>
      mend: sizes, counts and axes must be known: make 'k' static: jit(f, static_argnames='k'), or take it from
            a shape
    """,
)
def axis_that_is_traced():
    jit(lambda x, k: np.sum(x, axis=k))(M, 0)  # <- here


@bad(
    TypeError,
    """
    TracerIntegerConversionError: np.split: a traced value (i64[]), which depends on argument 'k' of <lambda>,
            cannot become a Python integer under jit of <lambda>
      in: <lambda> (here), under jit of <lambda>
      mend: sizes, counts and axes must be known: make 'k' static: jit(f, static_argnames='k'), or take it from
            a shape
    """,
)
def split_at_traced_places():
    jit(lambda x, k: np.split(x, [k]))(X, 1)  # <- here
