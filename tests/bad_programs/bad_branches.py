"""Branches, and maps and scans of other kinds: predicates and outputs that do not fit."""

import numpy as np

from autodidax import grad, jit, lax, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


@bad(
    ValueError,
    """
    ShapeError: cond: the predicate must be a scalar, it has shape (3,)
      in: cond_with_an_array (here)
      mend: use where(pred, x, y) for a choice by element, or reduce it with all() or any()
    """,
)
def cond_with_an_array():
    lax.cond(X > 0, np.sin, np.cos, X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: cond: the predicate is a str
      in: cond_with_a_string (here)
      mend: give a boolean or a number, e.g. by a comparison
    """,
)
def cond_with_a_string():
    lax.cond("yes", np.sin, np.cos, X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: cond takes a predicate, two functions and operands, got a float and a float
      in: cond_with_values_for_functions (here)
      mend: write cond(pred, f, g, x); for values np.where(pred, x, y)
    """,
)
def cond_with_values_for_functions():
    lax.cond(True, 1.0, 2.0)  # <- here


@bad(
    ValueError,
    """
    TreeError: cond: true_fun (converged) returns another tree than false_fun (diverged): at the root: dict with
            keys 'x' expected, dict with keys 'error', 'x' given (unexpected 'error')
      in: <lambda> (here), under jit of <lambda>
      mend: return the same structure from all branches
    """,
)
def cond_with_different_structures():
    def converged(x):
        return {"x": x, "error": 0.0}

    def diverged(x):
        return {"x": x}

    jit(lambda x: lax.cond(x > 0, converged, diverged, x))(1.0)  # <- here


@bad(
    ValueError,
    """
    ShapeError: cond: the output of false_fun (all_rows) is f64[3], that of true_fun (row) is f64[]
      in: <lambda> (here), under jit of <lambda>
      mend: return the same shape from all branches, e.g. with np.broadcast_to or np.zeros_like
    """,
)
def cond_with_different_shapes():
    def row(x):
        return np.sum(x)

    def all_rows(x):
        return x

    jit(lambda x: lax.cond(x[0] > 0, row, all_rows, x))(X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: cond: the output of false_fun (total) is f64[], that of true_fun (count) is i64[]
      in: <lambda> (here), under vmap of <lambda> over axis 0 of size 2
      mend: return the same dtype from all branches, e.g. with astype
    """,
)
def cond_with_different_dtypes():
    def count(x):
        return np.sum(x > 0)

    def total(x):
        return np.sum(x)

    vmap(lambda x: lax.cond(x[0] > 0, count, total, x))(np.stack([X, X]))  # <- here


@bad(
    ValueError,
    """
    TreeError: cond: true_fun (<lambda>) returns another tree than false_fun (nothing): at the root: None
            expected, a leaf given
      in: <lambda> (here), under jit of <lambda>
      mend: return the same structure from all branches (is a return missing?)
    """,
)
def cond_where_one_branch_returns_nothing():
    def nothing(x):
        pass

    jit(lambda x: lax.cond(x > 0, lambda x: x, nothing, x))(1.0)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: cond: <lambda> is called as true_fun(x): missing 1 required positional argument: 'y'
      in: <lambda> (here), under jit of <lambda>
      mend: define it with the arguments of true_fun(x)
    """,
)
def cond_with_branches_of_another_arity():
    jit(lambda x: lax.cond(x > 0, lambda x, y: x, lambda x: x, x))(1.0)  # <- here


@bad(
    TypeError,
    """
    DtypeError: cond: operands[1] is a str, which cannot be traced
      in: <lambda> (here), under jit of <lambda>
      mend: pass numbers or arrays of numbers, or trees of them; close over other values
    """,
)
def cond_with_a_string_operand():
    jit(lambda x: lax.cond(x > 0, lambda x, s: x, lambda x, s: -x, x, "left"))(1.0)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: switch: the index must be an integer scalar, it is f64[]
      in: switch_with_a_float (here)
      mend: convert it with astype(int); a boolean goes to cond
    """,
)
def switch_with_a_float():
    lax.switch(1.0, [np.sin, np.cos], X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: switch: the index must be an integer scalar, it is bool[]
      in: <lambda> (here), under jit of <lambda>
      mend: convert it with astype(int); a boolean goes to cond
    """,
)
def switch_with_a_boolean():
    jit(lambda x: lax.switch(x > 0, [np.sin, np.cos], x))(1.0)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: switch: the index must be an integer scalar, it is i64[1]
      in: switch_with_an_array_of_one (here)
      mend: take its entry: index[0]
    """,
)
def switch_with_an_array_of_one():
    lax.switch(np.array([1]), [np.sin, np.cos], X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: switch: the index must be an integer scalar, it is i64[2]
      in: switch_with_an_array (here)
      mend: map over it: vmap(lambda i: switch(i, branches, x))(index)
    """,
)
def switch_with_an_array():
    lax.switch(np.array([1, 0]), [np.sin, np.cos], X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: switch takes an index, a list of functions, and operands; for the list it got an empty list
      in: switch_without_branches (here)
      mend: write switch(i, [f, g], x)
    """,
)
def switch_without_branches():
    lax.switch(0, [], X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: switch takes an index, a list of functions, and operands; for the list it got a ufunc
      in: switch_with_branches_apart (here)
      mend: write switch(i, [f, g], x)
    """,
)
def switch_with_branches_apart():
    lax.switch(0, np.sin, np.cos, X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: switch: the output of branch 0 (<lambda>) is f64[3], that of branch 1 (<lambda>) is f64[]
      in: <lambda> (here), under jit of <lambda>
      mend: return the same shape from all branches, e.g. with np.broadcast_to or np.zeros_like
    """,
)
def switch_with_different_shapes():
    branches = [lambda x: x, lambda x: np.sum(x), lambda x: x]
    jit(lambda k, x: lax.switch(k, branches, x))(0, X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: map: the numbers of rows are [2, 3]: xs[0] has 3, xs[1] has 2
      in: map_over_different_lengths (here)
      mend: give all leaves of xs one leading size, equal to length where both are given
    """,
)
def map_over_different_lengths():
    lax.map(lambda row: row[0] + row[1], (X, np.ones(2)))  # <- here


@bad(
    TypeError,
    """
    ArgumentError: map takes a function here, got an array of shape (3,) and dtype float64
      in: map_with_arguments_in_another_order (here)
      mend: the call is map(f, xs)
    """,
)
def map_with_arguments_in_another_order():
    lax.map(X, np.sin)  # <- here


@bad(
    ValueError,
    """
    ShapeError: associative_scan: fn takes stretches of shape (2,) and returns ()
      in: associative_scan_with_another_shape (here)
      mend: act on each entry along the axis: fn(earlier, later) keeps the shape of its operands
    """,
)
def associative_scan_with_another_shape():
    lax.associative_scan(lambda a, b: np.sum(a + b), X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: select_n: case 1 has shape (3,), case 0 (2,)
      in: <lambda> (here), under jit of <lambda>
      mend: broadcast the cases to one shape
    """,
)
def select_with_different_shapes():
    jit(lambda p, x: lax.select(p, x, x[:2]))(X > 0, X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: grad needs <lambda> to return a scalar, it returned shape (2,)
      in: gradient_through_a_loop_that_returns_the_carry_twice (here), under grad of <lambda>
      mend: sum or index the output, or use jacrev, jacfwd or elementwise_grad for non-scalar outputs
    """,
)
def gradient_through_a_loop_that_returns_the_carry_twice():
    grad(lambda x: lax.fori_loop(0, 3, lambda i, x: 2.0 * x, np.ones(2) * x))(1.0)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: switch takes an index, a list of functions, and operands; for the list it got a generator
      in: switch_with_a_generator (here)
      mend: write switch(i, [f, g], x); make a list of it: list(branches)
    """,
)
def switch_with_a_generator():
    lax.switch(0, (f for f in (np.sin, np.cos)), X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: switch: branch 0 is a float, not a function
      in: <lambda> (here), under jit of <lambda>
      mend: write switch(i, [f, g], x); an entry of a table of values is anp.take(values, i)
    """,
)
def switch_with_numbers():
    jit(lambda k: lax.switch(k, [1.0, 2.0]))(1)  # <- here
