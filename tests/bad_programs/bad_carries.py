"""Loops and branches: carries, predicates, lengths and outputs that do not fit."""

import numpy as np

from autodidax import grad, jit, lax, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


@bad(ValueError)
def scan_with_another_structure():
    def step(carry, x):
        return {"mean": carry["mean"] + x}, x

    jit(lambda xs: lax.scan(step, {"mean": 0.0, "count": 0}, xs))(X)  # <- here


@bad(ValueError)
def scan_with_another_structure_outside_of_jit():
    def step(carry, x):
        return [carry[0] + x, carry[1]], x

    lax.scan(step, (0.0, 0.0), X)  # <- here


@bad(ValueError)
def scan_with_another_shape():
    def step(carry, x):
        return np.append(carry["history"], x), x

    lax.scan(lambda c, x: ({"history": step(c, x)[0]}, x), {"history": np.zeros(0)}, X)  # <- here


@bad(TypeError)
def scan_with_another_dtype():
    def step(carry, x):
        return (carry[0] + 1, carry[1] + x), x

    jit(lambda xs: lax.scan(step, (np.int64(0), np.float32(0)), xs))(X)  # <- here


@bad(TypeError)
def scan_with_a_counter_that_becomes_a_float():
    def step(count, x):
        return count + x, x

    lax.scan(step, np.int64(0), X)  # <- here


@bad(TypeError)
def scan_from_float_to_complex():
    def step(z, x):
        return z * np.exp(1j * x), z

    jit(lambda xs: lax.scan(step, np.float64(1.0), xs))(X)  # <- here


@bad(ValueError)
def scan_without_a_pair():
    def step(carry, x):
        return carry + x

    lax.scan(step, 0.0, X)  # <- here


@bad(ValueError)
def scan_over_different_lengths():
    def step(carry, row):
        return carry + row["x"] * row["y"], None

    lax.scan(step, 0.0, {"x": X, "y": np.ones(4)})  # <- here


@bad(ValueError)
def scan_with_another_length():
    lax.scan(lambda c, x: (c + x, None), 0.0, X, length=4)  # <- here


@bad(ValueError)
def scan_without_length():
    lax.scan(lambda c, _: (c + 1, None), 0)  # <- here


@bad(ValueError)
def scan_over_a_number():
    lax.scan(lambda c, x: (c + x, None), 0.0, 3)  # <- here


@bad(TypeError)
def scan_with_a_traced_length():
    def repeated(n):
        return lax.scan(lambda c, _: (2.0 * c, None), 1.0, None, length=n)  # <- here

    jit(repeated)(3)


@bad(TypeError)
def scan_with_a_body_of_one_argument():
    lax.scan(lambda carry: (carry, None), 0.0, X)  # <- here


@bad(TypeError)
def scan_with_a_body_of_three_arguments():
    jit(lambda xs: lax.scan(lambda i, carry, x: (carry, None), 0.0, xs))(X)  # <- here


@bad(TypeError)
def scan_with_arguments_in_another_order():
    lax.scan(0.0, lambda c, x: (c, x), X)  # <- here


@bad(ValueError)
def scan_with_rows_of_different_shapes():
    lax.scan(lambda n, x: (n + 1, np.ones(n)), 0, X)  # <- here


@bad(TypeError)
def scan_of_strings():
    lax.scan(lambda c, x: (c, x), 0.0, "abc")  # <- here


@bad(TypeError)
def scan_that_stacks_strings():
    lax.scan(lambda c, x: (c, "row"), 0.0, X)  # <- here


@bad(ValueError)
def while_with_an_array_for_a_condition():
    lax.while_loop(lambda x: x > 0, lambda x: x - 1, X)  # <- here


@bad(ValueError)
def while_with_an_array_for_a_condition_under_jit():
    jit(lambda x: lax.while_loop(lambda x: x > 0, lambda x: x - 1, x))(X)  # <- here


@bad(ValueError)
def while_with_a_number_for_a_condition():
    jit(lambda x: lax.while_loop(lambda x: x, lambda x: x - 1, x))(3)  # <- here


@bad(ValueError)
def while_with_a_tuple_for_a_condition():
    jit(lambda x: lax.while_loop(lambda x: (x > 0, x < 9), lambda x: x - 1, x))(3)  # <- here


@bad(ValueError)
def while_without_a_condition():
    def positive(x):
        x > 0

    lax.while_loop(positive, lambda x: x - 1, 3.0)  # <- here


@bad(ValueError)
def while_with_another_structure():
    def halve(state):
        x, n = state
        return x / 2

    jit(lambda x: lax.while_loop(lambda s: s[0] > 1, halve, (x, 0)))(8.0)  # <- here


@bad(TypeError)
def while_with_another_dtype():
    jit(lambda n: lax.while_loop(lambda n: n > 0, lambda n: n / 2, n))(np.int64(8))  # <- here


@bad(ValueError)
def while_with_another_shape():
    def grown(x):
        return np.concatenate([x, x])

    jit(lambda x: lax.while_loop(lambda x: x.sum() < 9, grown, x))(np.ones(2))  # <- here


@bad(TypeError)
def while_with_a_body_of_two_arguments():
    lax.while_loop(lambda x: x > 0, lambda i, x: x - 1, 3.0)  # <- here


@bad(TypeError)
def fori_with_float_bounds():
    lax.fori_loop(0, 10 / 2, lambda i, x: x + i, 0.0)  # <- here


@bad(TypeError)
def fori_with_a_traced_float_bound():
    jit(lambda n: lax.fori_loop(0, n, lambda i, x: x + i, 0.0))(3.0)  # <- here


@bad(TypeError)
def fori_with_a_body_of_one_argument():
    lax.fori_loop(0, 3, lambda x: x + 1, 0.0)  # <- here


@bad(TypeError)
def fori_that_changes_the_dtype():
    jit(lambda n: lax.fori_loop(0, n, lambda i, x: x * 0.5, np.int64(1)))(3)  # <- here


@bad(ValueError)
def fori_that_returns_the_index_too():
    jit(lambda n: lax.fori_loop(0, n, lambda i, x: (i, x), 0.0))(3)  # <- here


@bad(ValueError)
def cond_with_an_array():
    lax.cond(X > 0, np.sin, np.cos, X)  # <- here


@bad(TypeError)
def cond_with_a_string():
    lax.cond("yes", np.sin, np.cos, X)  # <- here


@bad(TypeError)
def cond_with_values_for_functions():
    lax.cond(True, 1.0, 2.0)  # <- here


@bad(ValueError)
def cond_with_different_structures():
    def converged(x):
        return {"x": x, "error": 0.0}

    def diverged(x):
        return {"x": x}

    jit(lambda x: lax.cond(x > 0, converged, diverged, x))(1.0)  # <- here


@bad(ValueError)
def cond_with_different_shapes():
    def row(x):
        return np.sum(x)

    def all_rows(x):
        return x

    jit(lambda x: lax.cond(x[0] > 0, row, all_rows, x))(X)  # <- here


@bad(TypeError)
def cond_with_different_dtypes():
    def count(x):
        return np.sum(x > 0)

    def total(x):
        return np.sum(x)

    vmap(lambda x: lax.cond(x[0] > 0, count, total, x))(np.stack([X, X]))  # <- here


@bad(ValueError)
def cond_where_one_branch_returns_nothing():
    def nothing(x):
        pass

    jit(lambda x: lax.cond(x > 0, lambda x: x, nothing, x))(1.0)  # <- here


@bad(TypeError)
def cond_with_branches_of_another_arity():
    jit(lambda x: lax.cond(x > 0, lambda x, y: x, lambda x: x, x))(1.0)  # <- here


@bad(TypeError)
def cond_with_a_string_operand():
    jit(lambda x: lax.cond(x > 0, lambda x, s: x, lambda x, s: -x, x, "left"))(1.0)  # <- here


@bad(TypeError)
def switch_with_a_float():
    lax.switch(1.0, [np.sin, np.cos], X)  # <- here


@bad(TypeError)
def switch_with_a_boolean():
    jit(lambda x: lax.switch(x > 0, [np.sin, np.cos], x))(1.0)  # <- here


@bad(TypeError)
def switch_without_branches():
    lax.switch(0, [], X)  # <- here


@bad(TypeError)
def switch_with_branches_apart():
    lax.switch(0, np.sin, np.cos, X)  # <- here


@bad(ValueError)
def switch_with_different_shapes():
    branches = [lambda x: x, lambda x: np.sum(x), lambda x: x]
    jit(lambda k, x: lax.switch(k, branches, x))(0, X)  # <- here


@bad(ValueError)
def map_over_different_lengths():
    lax.map(lambda row: row[0] + row[1], (X, np.ones(2)))  # <- here


@bad(TypeError)
def map_with_arguments_in_another_order():
    lax.map(X, np.sin)  # <- here


@bad(TypeError)
def map_with_two_arrays():
    lax.map(lambda x, y: x + y, X, X)  # <- here


@bad(ValueError)
def associative_scan_with_another_shape():
    lax.associative_scan(lambda a, b: np.sum(a + b), X)  # <- here


@bad(TypeError)
def associative_scan_of_a_function_of_one():
    lax.associative_scan(np.sin, X)  # <- here


@bad(ValueError)
def select_with_different_shapes():
    jit(lambda p, x: lax.select(p, x, x[:2]))(X > 0, X)  # <- here


@bad(ValueError)
def gradient_through_a_loop_that_returns_the_carry_twice():
    grad(lambda x: lax.fori_loop(0, 3, lambda i, x: 2.0 * x, np.ones(2) * x))(1.0)  # <- here
