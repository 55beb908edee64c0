"""Writes into arrays in place: values of a transform are immutable."""

import numpy as np

import autodidax.numpy as anp
from autodidax import grad, jit, lax, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


@bad(TypeError)
def item_assignment():
    def clamped(x):
        x[0] = 0.0  # <- here
        return np.sum(x)

    grad(clamped)(X)


@bad(TypeError)
def item_assignment_under_jit():
    def clamped(x):
        x[x < 0] = 0.0  # <- here
        return x

    jit(clamped)(X)


@bad(TypeError)
def augmented_item_assignment():
    def shifted(x):
        x[1:] += 1.0  # <- here
        return np.sum(x**2)

    grad(shifted)(X)


@bad(TypeError)
def item_assignment_to_a_plain_array():
    def squares(x):
        y = np.zeros(3)
        for i in range(3):
            y[i] = x[i] ** 2  # <- here
        return np.sum(y)

    grad(squares)(X)


@bad(TypeError)
def item_assignment_to_a_plain_array_under_jit():
    def squares(x):
        y = np.zeros(3)
        y[:] = x**2  # <- here
        return y

    jit(squares)(X)


@bad(TypeError)
def item_assignment_to_a_plain_array_under_vmap():
    def padded(x):
        y = np.zeros(5)
        y[:3] = x  # <- here
        return y

    vmap(padded)(np.stack([X, X]))


@bad(TypeError)
def item_assignment_at_a_traced_place():
    def one_hot(k):
        y = np.zeros(3)
        y[k] = 1.0  # <- here
        return y

    jit(one_hot)(1)


@bad(TypeError)
def item_assignment_in_a_loop_body():
    def body(i, buffer):
        buffer[i] = 2.0 * i  # <- here
        return buffer

    jit(lambda n: lax.fori_loop(0, n, body, np.zeros(3)))(3)


@bad(TypeError)
def in_place_addition_to_a_captured_array():
    total = np.zeros(3)

    def accumulate(x):
        total[...] += x  # <- here
        return x

    jit(accumulate)(X)


@bad(TypeError)
def in_place_operator_on_a_captured_array():
    def accumulate(x):
        total = np.zeros(3)
        np.add(total, x, out=total)  # <- here
        return np.sum(total)

    grad(accumulate)(X)


@bad(TypeError)
def out_argument():
    def loss(x):
        y = np.empty(3)
        np.multiply(x, 2.0, out=y)  # <- here
        return np.sum(y)

    grad(loss)(X)


@bad(TypeError)
def out_argument_of_a_reduction():
    def loss(x):
        y = np.empty(())
        np.sum(x, out=y)  # <- here
        return y

    jit(loss)(X)


@bad(TypeError)
def out_argument_that_is_traced():
    def loss(x):
        return np.sum(np.exp(X, out=x))  # <- here

    grad(loss)(X)


@bad(TypeError)
def copyto():
    def loss(x):
        y = np.zeros(3)
        np.copyto(y, x)  # <- here
        return np.sum(y)

    grad(loss)(X)


@bad(TypeError)
def fill_diagonal():
    def loss(x):
        a = np.zeros((3, 3))
        np.fill_diagonal(a, x)  # <- here
        return np.sum(a)

    grad(loss)(X)


@bad(TypeError)
def add_at():
    def counts(x):
        y = np.zeros(3)
        np.add.at(y, np.array([0, 0, 1]), x)  # <- here
        return np.sum(y**2)

    grad(counts)(X)


@bad(TypeError)
def sort_in_place():
    def median(x):
        x.sort()  # <- here
        return x[1]

    grad(median)(X)


@bad(TypeError)
def fill():
    def cleared(x):
        x.fill(0.0)  # <- here
        return x

    jit(cleared)(X)


@bad(TypeError)
def deleted_entry():
    def tail(x):
        del x[0]  # <- here
        return np.sum(x)

    grad(tail)(X)


@bad(TypeError)
def flat_of_a_traced_value():
    def clamped(x):
        x.flat[0] = 0.0  # <- here
        return np.sum(x)

    grad(clamped)(X)


@bad(TypeError)
def shape_assignment():
    def column(x):
        x.shape = (3, 1)  # <- here
        return np.sum(x)

    grad(column)(X)


@bad(TypeError)
def attribute_assignment():
    def named(x):
        x.name = "input"  # <- here
        return np.sum(x)

    grad(named)(X)


@bad(ValueError)
def write_into_an_array_that_the_gradient_needs():
    weights = np.ones(20_000)

    def loss(x):
        y = np.sum(x * weights)
        weights[0] = 5.0  # <- here
        return y

    grad(loss)(np.ones(20_000))


@bad(ValueError)
def at_of_another_shape():
    grad(lambda x: np.sum(anp.at(x)[:2].set(np.ones(3))))(X)  # <- here


@bad(IndexError)
def at_out_of_range():
    grad(lambda x: np.sum(anp.at(x)[5].set(1.0)))(X)  # <- here


@bad(TypeError)
def float_into_an_array_of_integers():
    counts = np.zeros(3, int)
    grad(lambda x: np.sum(anp.at(counts)[0].set(x)))(0.5)  # <- here


@bad(AttributeError)
def at_of_a_plain_array():
    jit(lambda x: X.at[0].set(x))(1.0)  # <- here
