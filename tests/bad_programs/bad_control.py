"""Python's own control flow on values that are not known while a program is written."""

import numpy as np

from autodidax import checkpoint, grad, jit, lax, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            relu, is not known under jit of relu
      in: relu (here), under jit of relu
      mend: use np.where(x > 0, a, b), or lax.cond(x > 0, f, g, x) where only one branch may run
    """,
)
def if_under_jit():
    def relu(x):
        if x > 0:  # <- here
            return x
        return 0.0

    jit(relu)(1.0)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]) is not known under vmap of relu over
            axis 0 of size 3
      in: relu (here), under vmap of relu over axis 0 of size 3
      mend: write np.where(x > 0, x, 0.0), or lax.cond(test, f, g, x) where only one branch may run
    """,
)
def if_under_vmap():
    def relu(x):
        return x if x > 0 else 0.0  # <- here

    vmap(relu)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]) is not known under vmap of relu over
            axis 0 of size 3
      in: relu (here), under vmap of relu over axis 0 of size 3, under grad of <lambda>
      mend: write np.where(x > 0, x, 0.0), or lax.cond(test, f, g, x) where only one branch may run
    """,
)
def if_under_vmap_under_grad():
    def relu(x):
        return x if x > 0 else 0.0  # <- here

    grad(lambda x: np.sum(vmap(relu)(x)))(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'w' of
            grad_loss, is not known under jit of grad_loss
      in: loss (here), under grad of loss, under jit of grad_loss
      mend: use np.where(penalty > 10.0, a, b), or lax.cond(penalty > 10.0, f, g, x) where only one branch may
            run
    """,
)
def if_under_grad_under_jit():
    def loss(w):
        penalty = np.sum(w**2)
        if penalty > 10.0:  # <- here
            penalty = 10.0
        return penalty

    jit(grad(loss))(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'training'
            of damped, is not known under jit of damped
      in: damped (here), under jit of damped
      mend: use np.where(training, a, b), or lax.cond(training, f, g, x) where only one branch may run; or make
            'training' static: jit(damped, static_argnames='training')
    """,
)
def if_on_one_of_two_arguments():
    def damped(x, training):
        if training:  # <- here
            x = 0.5 * x
        return x

    jit(damped)(X, True)


@bad(
    ValueError,
    """
    ValueError: The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()
    """,
)
def if_on_an_array():
    def step(x):
        if x > 0:  # <- here
            return x
        return -x

    grad(lambda x: np.sum(step(x)))(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[3]), which depends on argument 'x' of
            step, is not known under jit of step
      in: step (here), under jit of step
      mend: use np.where(x > 0, a, b), which chooses entry by entry; to choose for all of them at once
            lax.cond(np.all(x > 0), f, g, x), or np.any in place of np.all
    """,
)
def if_on_an_array_under_jit():
    def step(x):
        if x > 0:  # <- here
            return x
        return -x

    jit(step)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            layer, is not known under checkpoint of layer
      in: layer (here), under checkpoint of layer, under grad of layer
      mend: write np.where(x > 0, x, 0.0), or lax.cond(test, f, g, x) where only one branch may run
    """,
)
def if_in_a_checkpoint():
    @checkpoint
    def layer(x):
        return x if x > 0 else 0.0  # <- here

    grad(layer)(1.0)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]) is not known under scan of step
      in: step (here), under scan of step, under jit of <lambda>
      mend: use np.where(x > 0, a, b), or lax.cond(x > 0, f, g, x) where only one branch may run
    """,
)
def if_in_the_body_of_a_scan():
    def step(total, x):
        if x > 0:  # <- here
            total = total + x
        return total, total

    jit(lambda xs: lax.scan(step, 0.0, xs))(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]) is not known under cond of positive
      in: positive (here), under cond of positive, under jit of <lambda>
      mend: write np.where(x < 1, x, 1.0), or lax.cond(test, f, g, x) where only one branch may run
    """,
)
def if_in_a_branch():
    def positive(x):
        return x if x < 1 else 1.0  # <- here

    jit(lambda x: lax.cond(x > 0, positive, lambda x: 0.0, x))(0.5)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]) is not known under while_loop of halve
      in: halve (here), under while_loop of halve, under jit of <lambda>
      mend: write np.where(x > 2, x / 2, x - 1), or lax.cond(test, f, g, x) where only one branch may run
    """,
)
def if_in_the_body_of_a_while_loop():
    def halve(x):
        return x / 2 if x > 2 else x - 1  # <- here

    jit(lambda x: lax.while_loop(lambda x: x > 0, halve, x))(8.0)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            halvings, is not known under jit of halvings
      in: halvings (here), under jit of halvings
      mend: use lax.while_loop(goes_on, body, (x, n)), where `def goes_on(state): x, n = state; return x > 1.0`,
            and body returns the next (x, n)
    """,
)
def while_under_jit():
    def halvings(x):
        n = 0
        while x > 1.0:  # <- here
            x, n = x / 2, n + 1
        return n

    jit(halvings)(100.0)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]) is not known under vmap of newton over
            axis 0 of size 2
      in: newton (here), under vmap of newton over axis 0 of size 2
      mend: use lax.while_loop(lambda x: abs(x * x - 2.0) > 1e-08, body, x)
    """,
)
def while_under_vmap():
    def newton(x):
        while abs(x * x - 2.0) > 1e-8:  # <- here
            x = x - (x * x - 2.0) / (2.0 * x)
        return x

    vmap(newton)(np.array([1.0, 2.0]))


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            root, is not known under jit of root
      in: root (here), under jit of root
      mend: check values before and after the transformed function; inside, assert shapes and dtypes alone
    """,
)
def assert_under_jit():
    def root(x):
        assert x >= 0  # <- here
        return np.sqrt(x)

    jit(root)(4.0)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            inside, is not known under jit of inside
      in: inside (here), under jit of inside
      mend: write (x > 0) & (x < 1)
    """,
)
def and_under_jit():
    def inside(x):
        return x > 0 and x < 1  # <- here

    jit(inside)(0.5)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            outside, is not known under jit of outside
      in: outside (here), under jit of outside
      mend: write np.logical_not(x); or make 'x' static: jit(outside, static_argnames='x')
    """,
)
def not_under_jit():
    def outside(x):
        return not x  # <- here

    jit(outside)(True)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            inside, is not known under jit of inside
      in: inside (here), under jit of inside
      mend: write (0 < x) & (x < 1)
    """,
)
def chained_comparison_under_jit():
    def inside(x):
        return np.where(0 < x < 1, x, 0.0)  # <- here

    jit(inside)(0.5)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' and
            argument 'y' of larger, is not known under jit of larger
      in: larger (here), under jit of larger
      mend: write np.maximum(x, y)
    """,
)
def max_of_Python_under_jit():
    def larger(x, y):
        return max(x, y)  # <- here

    jit(larger)(1.0, 2.0)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]) is not known under vmap of ordered
            over axis 0 of size 1
      in: ordered (here), under vmap of ordered over axis 0 of size 1
      mend: write np.sort(anp.array([x[0], x[1]]))
    """,
)
def sorted_under_vmap():
    def ordered(x):
        return np.stack(sorted([x[0], x[1]]))  # <- here

    vmap(ordered)(np.array([[2.0, 1.0]]))


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            first, is not known under jit of first
      in: first (here), under jit of first
      mend: write np.where(np.any(x > 2), x[0], x[1]), or lax.cond(test, f, g, x) where only one branch may run
    """,
)
def any_of_Python_under_jit():
    def first(x):
        return x[0] if any(x > 2) else x[1]  # <- here

    jit(first)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            known, is not known under jit of known
      in: known (here), under jit of known
      mend: write np.where(np.any(x == 3), 1.0, 0.0), or lax.cond(test, f, g, x) where only one branch may run
    """,
)
def membership_under_jit():
    def known(x):
        return 1.0 if 3 in x else 0.0  # <- here

    jit(known)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            known, is not known under jit of known
      in: known (here), under jit of known
      mend: write np.where(np.any(np.array([1.0, 2.0]) == x), 1.0, 0.0), or lax.cond(test, f, g, x) where only
            one branch may run
    """,
)
def membership_in_a_list_under_jit():
    def known(x):
        return 1.0 if x in [1.0, 2.0] else 0.0  # <- here

    jit(known)(2.0)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'k' of
            name, is not known under jit of name
      in: name (here), under jit of name
      mend: use lax.switch(k, [f, g], x), or nested calls of np.where; or make 'k' static: jit(name,
            static_argnames='k')
    """,
)
def match_on_a_traced_value():
    def name(k):
        match k:
            case 0:  # <- here
                return 0.0
            case _:
                return 1.0

    jit(name)(0)
