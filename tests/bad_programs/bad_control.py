"""Python's own control flow on values that are not known while a program is written."""

import numpy as np

import autodidax.numpy as anp
from autodidax import checkpoint, grad, jacrev, jit, lax, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


@bad(TypeError)
def if_under_jit():
    def relu(x):
        if x > 0:  # <- here
            return x
        return 0.0

    jit(relu)(1.0)


@bad(TypeError)
def if_under_vmap():
    def relu(x):
        return x if x > 0 else 0.0  # <- here

    vmap(relu)(X)


@bad(TypeError)
def if_under_vmap_under_grad():
    def relu(x):
        return x if x > 0 else 0.0  # <- here

    grad(lambda x: np.sum(vmap(relu)(x)))(X)


@bad(TypeError)
def if_under_grad_under_jit():
    def loss(w):
        penalty = np.sum(w**2)
        if penalty > 10.0:  # <- here
            penalty = 10.0
        return penalty

    jit(grad(loss))(X)


@bad(TypeError)
def if_on_one_of_two_arguments():
    def damped(x, training):
        if training:  # <- here
            x = 0.5 * x
        return x

    jit(damped)(X, True)


@bad(ValueError)
def if_on_an_array():
    def step(x):
        if x > 0:  # <- here
            return x
        return -x

    grad(lambda x: np.sum(step(x)))(X)


@bad(TypeError)
def if_on_an_array_under_jit():
    def step(x):
        if x > 0:  # <- here
            return x
        return -x

    jit(step)(X)


@bad(TypeError)
def if_in_a_checkpoint():
    @checkpoint
    def layer(x):
        return x if x > 0 else 0.0  # <- here

    grad(layer)(1.0)


@bad(TypeError)
def if_in_the_body_of_a_scan():
    def step(total, x):
        if x > 0:  # <- here
            total = total + x
        return total, total

    jit(lambda xs: lax.scan(step, 0.0, xs))(X)


@bad(TypeError)
def if_in_a_branch():
    def positive(x):
        return x if x < 1 else 1.0  # <- here

    jit(lambda x: lax.cond(x > 0, positive, lambda x: 0.0, x))(0.5)


@bad(TypeError)
def if_in_the_body_of_a_while_loop():
    def halve(x):
        return x / 2 if x > 2 else x - 1  # <- here

    jit(lambda x: lax.while_loop(lambda x: x > 0, halve, x))(8.0)


@bad(TypeError)
def while_under_jit():
    def halvings(x):
        n = 0
        while x > 1.0:  # <- here
            x, n = x / 2, n + 1
        return n

    jit(halvings)(100.0)


@bad(TypeError)
def while_under_vmap():
    def newton(x):
        while abs(x * x - 2.0) > 1e-8:  # <- here
            x = x - (x * x - 2.0) / (2.0 * x)
        return x

    vmap(newton)(np.array([1.0, 2.0]))


@bad(TypeError)
def assert_under_jit():
    def root(x):
        assert x >= 0  # <- here
        return np.sqrt(x)

    jit(root)(4.0)


@bad(TypeError)
def and_under_jit():
    def inside(x):
        return x > 0 and x < 1  # <- here

    jit(inside)(0.5)


@bad(TypeError)
def not_under_jit():
    def outside(x):
        return not x  # <- here

    jit(outside)(True)


@bad(TypeError)
def chained_comparison_under_jit():
    def inside(x):
        return np.where(0 < x < 1, x, 0.0)  # <- here

    jit(inside)(0.5)


@bad(TypeError)
def max_of_Python_under_jit():
    def larger(x, y):
        return max(x, y)  # <- here

    jit(larger)(1.0, 2.0)


@bad(TypeError)
def sorted_under_vmap():
    def ordered(x):
        return np.stack(sorted([x[0], x[1]]))  # <- here

    vmap(ordered)(np.array([[2.0, 1.0]]))


@bad(TypeError)
def any_of_Python_under_jit():
    def first(x):
        return x[0] if any(x > 2) else x[1]  # <- here

    jit(first)(X)


@bad(TypeError)
def membership_under_jit():
    def known(x):
        return 1.0 if 3 in x else 0.0  # <- here

    jit(known)(X)


@bad(TypeError)
def membership_in_a_list_under_jit():
    def known(x):
        return 1.0 if x in [1.0, 2.0] else 0.0  # <- here

    jit(known)(2.0)


@bad(TypeError)
def match_on_a_traced_value():
    def name(k):
        match k:
            case 0:  # <- here
                return 0.0
            case _:
                return 1.0

    jit(name)(0)


@bad(TypeError)
def range_under_jit():
    def power(x, n):
        y = 1.0
        for _ in range(n):  # <- here
            y = y * x
        return y

    jit(power)(2.0, 3)


@bad(TypeError)
def range_under_grad():
    def power(x, n):
        y = 1.0
        for _ in range(n):  # <- here
            y = y * x
        return y

    grad(power, argnums=(0, 1))(2.0, 3.0)


@bad(TypeError)
def len_of_a_number():
    def mean(x):
        return np.sum(x) / len(x)  # <- here

    jit(mean)(2.0)


@bad(TypeError)
def loop_over_a_number():
    def total(x):
        return sum(v for v in x)  # <- here

    grad(total)(2.0)


@bad(TypeError)
def unpacking_a_number():
    def difference(x):
        a, b = x  # <- here
        return a - b

    jit(difference)(2.0)


@bad(ValueError)
def unpacking_too_many_rows():
    def difference(x):
        a, b = x  # <- here
        return a - b

    jit(difference)(X)


@bad(TypeError)
def list_index_under_jit():
    weights = [0.1, 0.2, 0.7]

    def weight(k):
        return weights[k]  # <- here

    jit(weight)(1)


@bad(TypeError)
def list_index_under_vmap():
    names = ["a", "b"]
    vmap(lambda k: len(names[k]))(np.array([0, 1]))  # <- here


@bad(TypeError)
def slice_bound_under_jit():
    def head(x, n):
        return np.sum(x[:n])  # <- here

    jit(head)(X, 2)


@bad(TypeError)
def slice_bound_of_a_plain_array():
    def head(n):
        return np.sum(X[:n])  # <- here

    jit(head)(2)


@bad(TypeError)
def slice_bound_of_a_list():
    def head(n):
        return [1.0, 2.0, 3.0][:n]  # <- here

    jit(head)(2)


@bad(TypeError)
def index_into_a_plain_array():
    table = np.arange(5.0)

    def look_up(k):
        return table[k]  # <- here

    jit(look_up)(2)


@bad(IndexError)
def float_as_an_index():
    def entry(x):
        return x[x[0]]  # <- here

    grad(entry)(X)


@bad(TypeError)
def repeated_list():
    def padded(n):
        return np.array([0.0] * n)  # <- here

    jit(padded)(3)


@bad(TypeError)
def if_on_a_jacobian():
    def f(x):
        return np.where(x > 0, x, 0.0) if np.all(x > -9) else x  # <- here

    jacrev(jit(f))(X)


@bad(TypeError)
def loop_bound_from_an_array_method():
    def total(x):
        return sum(x[i] for i in range(x.argmax()))  # <- here

    grad(total)(X)


@bad(TypeError)
def enumerate_of_a_count():
    def f(x, counts):
        return anp.array([x * i for i, c in enumerate(counts) for _ in range(c)])  # <- here

    jit(f)(1.0, np.array([1, 2]))
