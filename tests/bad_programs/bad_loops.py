"""Loops: carries, conditions, bounds and lengths that do not fit."""

import numpy as np

from autodidax import jit, lax
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


@bad(
    ValueError,
    """
    TreeError: scan: step returns a carry of another tree than it takes: at the root: dict with keys 'count',
            'mean' expected, dict with keys 'mean' given (missing 'count')
      in: <lambda> (here), under jit of <lambda>
      mend: return the structure that the loop starts with: {'count': *, 'mean': *}
    """,
)
def scan_with_another_structure():
    def step(carry, x):
        return {"mean": carry["mean"] + x}, x

    jit(lambda xs: lax.scan(step, {"mean": 0.0, "count": 0}, xs))(X)  # <- here


@bad(
    ValueError,
    """
    TreeError: scan: step returns a carry of another tree than it takes: at the root: tuple of 2 expected, list
            of 2 given
      in: scan_with_another_structure_outside_of_jit (here)
      mend: return the structure that the loop starts with: (*, *)
    """,
)
def scan_with_another_structure_outside_of_jit():
    def step(carry, x):
        return [carry[0] + x, carry[1]], x

    lax.scan(step, (0.0, 0.0), X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: scan: <lambda> changes the carry: carry['history'] is f64[0] going in and f64[1] coming out
      in: scan_with_another_shape (here)
      mend: keep the shape: start from the final size, e.g. np.zeros, and fill it with anp.at(x)[i].set(v)
    """,
)
def scan_with_another_shape():
    def step(carry, x):
        return np.append(carry["history"], x), x

    lax.scan(lambda c, x: ({"history": step(c, x)[0]}, x), {"history": np.zeros(0)}, X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: scan: step changes the carry: carry[1] is f32[] going in and f64[] coming out
      in: <lambda> (here), under jit of <lambda>
      mend: start from the dtype that comes out, as x.astype(np.float64), or convert the result with astype
    """,
)
def scan_with_another_dtype():
    def step(carry, x):
        return (carry[0] + 1, carry[1] + x), x

    jit(lambda xs: lax.scan(step, (np.int64(0), np.float32(0)), xs))(X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: scan: step changes the carry: carry is i64[] going in and f64[] coming out
      in: scan_with_a_counter_that_becomes_a_float (here)
      mend: start from the dtype that comes out, as x.astype(np.float64), or convert the result with astype
    """,
)
def scan_with_a_counter_that_becomes_a_float():
    def step(count, x):
        return count + x, x

    lax.scan(step, np.int64(0), X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: scan: step changes the carry: carry is f64[] going in and c128[] coming out
      in: <lambda> (here), under jit of <lambda>
      mend: start from the dtype that comes out, as x.astype(np.complex128), or convert the result with astype
    """,
)
def scan_from_float_to_complex():
    def step(z, x):
        return z * np.exp(1j * x), z

    jit(lambda xs: lax.scan(step, np.float64(1.0), xs))(X)  # <- here


@bad(
    ValueError,
    """
    TreeError: scan: step must return a pair (carry, y), it returned a float64
      in: scan_without_a_pair (here)
      mend: return (carry, y), with None for y if there is nothing to stack
    """,
)
def scan_without_a_pair():
    def step(carry, x):
        return carry + x

    lax.scan(step, 0.0, X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: scan: the numbers of rows are [3, 4]: xs['x'] has 3, xs['y'] has 4
      in: scan_over_different_lengths (here)
      mend: give all leaves of xs one leading size, equal to length where both are given
    """,
)
def scan_over_different_lengths():
    def step(carry, row):
        return carry + row["x"] * row["y"], None

    lax.scan(step, 0.0, {"x": X, "y": np.ones(4)})  # <- here


@bad(
    ValueError,
    """
    ShapeError: scan: the numbers of rows are [3, 4]: xs has 3, length is 4
      in: scan_with_another_length (here)
      mend: give all leaves of xs one leading size, equal to length where both are given
    """,
)
def scan_with_another_length():
    lax.scan(lambda c, x: (c + x, None), 0.0, X, length=4)  # <- here


@bad(
    ValueError,
    """
    ShapeError: scan: neither xs nor length is given
      in: scan_without_length (here)
      mend: give arrays for xs, or length=n for a number of steps
    """,
)
def scan_without_length():
    lax.scan(lambda c, _: (c + 1, None), 0)  # <- here


@bad(
    ValueError,
    """
    ShapeError: scan: xs is a scalar, which has no rows
      in: scan_over_a_number (here)
      mend: give arrays with a leading axis; close over a value that all rows share, or carry it along
    """,
)
def scan_over_a_number():
    lax.scan(lambda c, x: (c + x, None), 0.0, 3)  # <- here


@bad(
    TypeError,
    """
    TracerIntegerConversionError: lax.scan: a traced value (i64[]), which depends on argument 'n' of repeated,
            cannot become a Python integer under jit of repeated
      in: repeated (here), under jit of repeated
      mend: sizes, counts and axes must be known: make 'n' static: jit(repeated, static_argnames='n'), or take
            it from a shape
    """,
)
def scan_with_a_traced_length():
    def repeated(n):
        return lax.scan(lambda c, _: (2.0 * c, None), 1.0, None, length=n)  # <- here

    jit(repeated)(3)


@bad(
    TypeError,
    """
    ArgumentError: scan: <lambda> is called as f(carry, x): takes 1 positional argument but 2 were given
      in: scan_with_a_body_of_one_argument (here)
      mend: define it with the arguments of f(carry, x)
    """,
)
def scan_with_a_body_of_one_argument():
    lax.scan(lambda carry: (carry, None), 0.0, X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: scan: <lambda> is called as f(carry, x): missing 1 required positional argument: 'x'
      in: <lambda> (here), under jit of <lambda>
      mend: define it with the arguments of f(carry, x)
    """,
)
def scan_with_a_body_of_three_arguments():
    jit(lambda xs: lax.scan(lambda i, carry, x: (carry, None), 0.0, xs))(X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: scan takes a function here, got a float
      in: scan_with_arguments_in_another_order (here)
      mend: the call is scan(f, init, xs)
    """,
)
def scan_with_arguments_in_another_order():
    lax.scan(0.0, lambda c, x: (c, x), X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: scan: <lambda> returns rows of the shapes (0,) and (1,) and (2,)
      in: scan_with_rows_of_different_shapes (here)
      mend: return the same shape for every row, e.g. padded with zeros
    """,
)
def scan_with_rows_of_different_shapes():
    lax.scan(lambda n, x: (n + 1, np.ones(n)), 0, X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: scan: xs is a str, which cannot be traced
      in: scan_of_strings (here)
      mend: pass numbers or arrays of numbers, or trees of them; close over other values
    """,
)
def scan_of_strings():
    lax.scan(lambda c, x: (c, x), 0.0, "abc")  # <- here


@bad(
    TypeError,
    """
    DtypeError: scan: an output of <lambda> is a str, which cannot be traced
      in: scan_that_stacks_strings (here)
      mend: return numbers or arrays of numbers, or trees of them
    """,
)
def scan_that_stacks_strings():
    lax.scan(lambda c, x: (c, "row"), 0.0, X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: while_loop: the condition must return one boolean scalar, it returned an array of shape (3,) and
            dtype bool
      in: while_with_an_array_for_a_condition (here)
      mend: compare (x > 0 for x), reduce arrays with all() or any(), and join several tests with &
    """,
)
def while_with_an_array_for_a_condition():
    lax.while_loop(lambda x: x > 0, lambda x: x - 1, X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: while_loop: the condition must return one boolean scalar, it returned bool[3]
      in: <lambda> (here), under jit of <lambda>
      mend: compare (x > 0 for x), reduce arrays with all() or any(), and join several tests with &
    """,
)
def while_with_an_array_for_a_condition_under_jit():
    jit(lambda x: lax.while_loop(lambda x: x > 0, lambda x: x - 1, x))(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: while_loop: the condition must return one boolean scalar, it returned i64[]
      in: <lambda> (here), under jit of <lambda>
      mend: compare (x > 0 for x), reduce arrays with all() or any(), and join several tests with &
    """,
)
def while_with_a_number_for_a_condition():
    jit(lambda x: lax.while_loop(lambda x: x, lambda x: x - 1, x))(3)  # <- here


@bad(
    ValueError,
    """
    ShapeError: while_loop: the condition must return one boolean scalar, it returned the tree (*, *)
      in: <lambda> (here), under jit of <lambda>
      mend: compare (x > 0 for x), reduce arrays with all() or any(), and join several tests with &
    """,
)
def while_with_a_tuple_for_a_condition():
    jit(lambda x: lax.while_loop(lambda x: (x > 0, x < 9), lambda x: x - 1, x))(3)  # <- here


@bad(
    ValueError,
    """
    ShapeError: while_loop: the condition must return one boolean scalar, it returned None
      in: while_without_a_condition (here)
      mend: return the test: is a return missing?
    """,
)
def while_without_a_condition():
    def positive(x):
        x > 0  # noqa: B015  # no return

    lax.while_loop(positive, lambda x: x - 1, 3.0)  # <- here


@bad(
    ValueError,
    """
    TreeError: while_loop: halve returns a carry of another tree than it takes: at the root: tuple of 2
            expected, a leaf given
      in: <lambda> (here), under jit of <lambda>
      mend: return the structure that the loop starts with: (*, *)
    """,
)
def while_with_another_structure():
    def halve(state):
        return state[0] / 2

    jit(lambda x: lax.while_loop(lambda s: s[0] > 1, halve, (x, 0)))(8.0)  # <- here


@bad(
    TypeError,
    """
    DtypeError: while_loop: <lambda> changes the carry: carry is i64[] going in and f64[] coming out
      in: <lambda> (here), under jit of <lambda>
      mend: start from the dtype that comes out, as x.astype(np.float64), or convert the result with astype
    """,
)
def while_with_another_dtype():
    jit(lambda n: lax.while_loop(lambda n: n > 0, lambda n: n / 2, n))(np.int64(8))  # <- here


@bad(
    ValueError,
    """
    ShapeError: while_loop: grown changes the carry: carry is f64[2] going in and f64[4] coming out
      in: <lambda> (here), under jit of <lambda>
      mend: keep the shape: start from the final size, e.g. np.zeros, and fill it with anp.at(x)[i].set(v)
    """,
)
def while_with_another_shape():
    def grown(x):
        return np.concatenate([x, x])

    jit(lambda x: lax.while_loop(lambda x: x.sum() < 9, grown, x))(np.ones(2))  # <- here


@bad(
    TypeError,
    """
    ArgumentError: while_loop: <lambda> is called as body_fun(val): missing 1 required positional argument: 'x'
      in: while_with_a_body_of_two_arguments (here)
      mend: define it with the arguments of body_fun(val)
    """,
)
def while_with_a_body_of_two_arguments():
    lax.while_loop(lambda x: x > 0, lambda i, x: x - 1, 3.0)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: fori_loop: the upper bound must be an integer, it is f64[]
      in: fori_with_float_bounds (here)
      mend: use // in place of /, or convert it with int() or astype(int)
    """,
)
def fori_with_float_bounds():
    lax.fori_loop(0, 10 / 2, lambda i, x: x + i, 0.0)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: fori_loop: the upper bound must be an integer, it is f64[]
      in: <lambda> (here), under jit of <lambda>
      mend: use // in place of /, or convert it with int() or astype(int)
    """,
)
def fori_with_a_traced_float_bound():
    jit(lambda n: lax.fori_loop(0, n, lambda i, x: x + i, 0.0))(3.0)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: fori_loop: <lambda> is called as body_fun(i, val): takes 1 positional argument but 2 were
            given
      in: fori_with_a_body_of_one_argument (here)
      mend: define it with the arguments of body_fun(i, val)
    """,
)
def fori_with_a_body_of_one_argument():
    lax.fori_loop(0, 3, lambda x: x + 1, 0.0)  # <- here


@bad(
    TypeError,
    """
    DtypeError: fori_loop: <lambda> changes the carry: carry is i64[] going in and f64[] coming out
      in: <lambda> (here), under jit of <lambda>
      mend: start from the dtype that comes out, as x.astype(np.float64), or convert the result with astype
    """,
)
def fori_that_changes_the_dtype():
    jit(lambda n: lax.fori_loop(0, n, lambda i, x: x * 0.5, np.int64(1)))(3)  # <- here


@bad(
    ValueError,
    """
    TreeError: fori_loop: <lambda> returns a carry of another tree than it takes: at the root: a leaf expected,
            tuple of 2 given
      in: <lambda> (here), under jit of <lambda>
      mend: return the structure that the loop starts with: * (one array or number)
    """,
)
def fori_that_returns_the_index_too():
    jit(lambda n: lax.fori_loop(0, n, lambda i, x: (i, x), 0.0))(3)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: scan: length is -1
      in: scan_of_a_negative_length (here)
      mend: give the number of rows, which is 0 or more
    """,
)
def scan_of_a_negative_length():
    lax.scan(lambda c, _: (c + 1, None), 0, length=-1)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: scan: unroll is 0
      in: scan_unrolled_zero_times (here)
      mend: give True, False or a positive integer, or leave it out: it has no effect
    """,
)
def scan_unrolled_zero_times():
    lax.scan(lambda c, x: (c + x, None), 0.0, X, unroll=0)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: fori_loop: unroll is 0.5
      in: fori_unrolled_by_a_fraction (here)
      mend: give True, False or a positive integer, or leave it out: it has no effect
    """,
)
def fori_unrolled_by_a_fraction():
    lax.fori_loop(0, 3, lambda i, x: x + i, 0.0, unroll=0.5)  # <- here


@bad(
    OverflowError,
    """
    IntegerRangeError: scan: the carry starts with 300, and comes out as uint8, which does not hold it
      in: scan_whose_dtype_does_not_hold_the_start (here)
      mend: start from a value of a wider dtype, e.g. np.int64(0), and compute with that dtype in the body
    """,
)
def scan_whose_dtype_does_not_hold_the_start():
    lax.scan(lambda c, x: (c + np.uint8(1), None), 300, X)  # <- here


@bad(
    OverflowError,
    """
    IntegerRangeError: scan: the carry starts with -1, and comes out as uint8, which does not hold it
      in: <lambda> (here), under jit of <lambda>
      mend: start from a value of a wider dtype, e.g. np.int64(0), and compute with that dtype in the body
    """,
)
def scan_whose_dtype_does_not_hold_the_start_under_jit():
    jit(lambda xs: lax.scan(lambda c, x: (c + np.uint8(1), None), -1, xs))(X)  # <- here


@bad(
    OverflowError,
    """
    IntegerRangeError: the Python integer 300 stands beside a value of dtype uint8, which does not hold it
      in: <lambda> (here), under scan of <lambda>, under jit of <lambda>
      mend: convert the value first, e.g. with astype(np.int64)
    """,
)
def scan_that_adds_more_than_its_dtype_holds():
    jit(lambda xs: lax.scan(lambda c, x: (c + 300, None), np.uint8(0), xs))(X)  # <- here
