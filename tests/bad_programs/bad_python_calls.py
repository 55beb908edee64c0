"""Loops and functions of Python, whose arguments the mend has to keep."""

import math

import numpy as np
import scipy.interpolate

from autodidax import eval_shape, grad, jit, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            halvings, is not known under jit of halvings
      in: halvings (here), under jit of halvings
      mend: use lax.while_loop(goes_on, body, (x, i)), where `def goes_on(state): x, i = state; return (x > 1.0)
            & (i < 50)`, and body returns the next (x, i)
    """,
)
def while_on_two_names():
    def halvings(x):
        i = 0
        while x > 1.0 and i < 50:  # <- here
            x, i = x / 2, i + 1
        return i

    jit(halvings)(100.0)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            halvings, is not known under jit of halvings
      in: halvings (here), under jit of halvings
      mend: use lax.while_loop(lambda x: np.logical_not(x < 1.0), body, x)
    """,
)
def while_that_ends_with_a_break():
    def halvings(x):
        while True:
            if x < 1.0:  # <- here
                break
            x = x / 2
        return x

    jit(halvings)(100.0)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            halvings, is not known under jit of halvings
      in: halvings (here), under jit of halvings
      mend: use lax.while_loop(lambda x: (x > 1.0).any() | (x[0] > 3.0), body, x)
    """,
)
def while_on_an_array():
    def halvings(x):
        while (x > 1.0).any() or x[0] > 3.0:  # <- here
            x = x / 2
        return x

    jit(halvings)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            halvings, is not known under jit of halvings
      in: halvings (here), under jit of halvings
      mend: use lax.while_loop, with a counter in the state and np.logical_not(x < 1.0) in the condition
    """,
)
def for_with_a_break():
    def halvings(x):
        for _ in range(10):
            x = x / 2
            if x < 1.0:  # <- here
                break
        return x

    jit(halvings)(100.0)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: range: a traced value (i64[]), which depends on argument 'n' of total, cannot
            become a Python integer under jit of total
      in: total (here), under jit of total
      mend: use lax.fori_loop(2, n, body, init), whose bounds may be traced; or make 'n' static: jit(total,
            static_argnames='n')
    """,
)
def range_with_a_start():
    def total(n):
        s = 0
        for i in range(2, n):  # <- here
            s += i
        return s

    jit(total)(5)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: range: a traced value (i64[]), which depends on argument 'n' of total, cannot
            become a Python integer under jit of total
      in: total (here), under jit of total
      mend: use lax.fori_loop(0, (n - 2 + 2) // 3, body, init), with i = 2 + 3 * k in body(k, value); or make
            'n' static: jit(total, static_argnames='n')
    """,
)
def range_with_a_step():
    def total(n):
        s = 0
        for i in range(2, n, 3):  # <- here
            s += i
        return s

    jit(total)(12)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: range: a traced value (i64[]), which depends on argument 'n' of total, cannot
            become a Python integer under jit of total
      in: total (here), under jit of total
      mend: use lax.fori_loop(0, n, body, init), with i = n - k in body(k, value); or make 'n' static:
            jit(total, static_argnames='n')
    """,
)
def range_downward():
    def total(n):
        s = 0
        for i in range(n, 0, -1):  # <- here
            s += i
        return s

    jit(total)(5)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: range: a traced value (i64[]), which depends on argument 'n' of total, cannot
            become a Python integer under jit of total
      in: total (here), under jit of total
      mend: use lax.fori_loop(0, count, body, init), with i = 0 + n * k for the k-th value; or make 'n' static:
            jit(total, static_argnames='n')
    """,
)
def range_with_a_traced_step():
    def total(n):
        s = 0
        for i in range(0, 10, n):  # <- here
            s += i
        return s

    jit(total)(5)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: value (here), under jit of value
      mend: write np.sort(x)[::-1]
    """,
)
def sorted_in_reverse():
    def value(x):
        return np.stack(sorted(x, reverse=True))  # <- here

    jit(value)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: value (here), under jit of value
      mend: write values[np.argsort(keys, stable=True)], with arrays: values = x, keys = anp.array([abs(v) for v
            in values])
    """,
)
def sorted_with_a_key():
    def value(x):
        return np.stack(sorted(x, key=abs))  # <- here

    jit(value)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: value (here), under jit of value
      mend: write np.where(abs(x[1]) > abs(x[0]), x[1], x[0])
    """,
)
def max_with_a_key():
    def value(x):
        return max(x[0], x[1], key=abs)  # <- here

    jit(value)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: value (here), under jit of value
      mend: write np.maximum(np.maximum(x[0], x[1]), x[2])
    """,
)
def max_of_three():
    def value(x):
        return max(x[0], x[1], x[2])  # <- here

    jit(value)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: value (here), under jit of value
      mend: write values[np.argmax(keys)], with arrays: values = x, keys = anp.array([-v for v in values])
    """,
)
def max_of_a_list_with_a_key():
    def value(x):
        return max(list(x), key=lambda v: -v)  # <- here

    jit(value)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: value (here), under jit of value
      mend: write np.min(anp.array([2.0 * v for v in x]))
    """,
)
def min_of_a_generator():
    def value(x):
        return min(2.0 * v for v in x)  # <- here

    jit(value)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: <genexpr> (here), under jit of value
      mend: write np.where(np.any(anp.array([v > 0 for v in x])), np.min(anp.array([np.where(v > 0, v, np.inf)
            for v in x])), 1.0)
    """,
)
def min_with_a_default():
    def value(x):
        return min((v for v in x if v > 0), default=1.0)  # <- here

    jit(value)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: value (here), under jit of value
      mend: write np.any(anp.array([v > 2 for v in x]))
    """,
)
def any_of_a_generator():
    def value(x):
        return np.where(any(v > 2 for v in x), 1.0, 0.0)  # <- here

    jit(value)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (f64[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: value (here), under jit of value
      mend: write np.where(x[0] != 0, x[0], x[1])
    """,
)
def or_of_numbers():
    def value(x):
        return x[0] or x[1]  # <- here

    jit(value)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (f64[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: value (here), under jit of value
      mend: write np.where(x[0] != 0, np.where(x[1] != 0, x[2], x[1]), x[0])
    """,
)
def and_of_numbers():
    def value(x):
        return x[0] and x[1] and x[2]  # <- here

    jit(value)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: value (here), under jit of value
      mend: write (x[0] > 1) | (x[1] > 1)
    """,
)
def or_of_comparisons():
    def value(x):
        return x[0] > 1 or x[1] > 1  # <- here

    jit(value)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (f64[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: value (here), under jit of value
      mend: write np.where((x[0] != 0) | (x[1] > 0), 1.0, 2.0), or lax.cond(test, f, g, x) where only one branch
            may run
    """,
)
def or_of_numbers_in_a_test():
    def value(x):
        return 1.0 if x[0] or x[1] > 0 else 2.0  # <- here

    jit(value)(X)


@bad(
    TypeError,
    """
    ConcretizationTypeError: round: a traced value (f64[]), which depends on argument 'x' of value, cannot
            become a Python float under jit of value: it has no value yet
      in: value (here), under jit of value
      mend: write np.round(x[0], 2)
    """,
)
def round_to_digits():
    def value(x):
        return round(x[0], 2)  # <- here

    jit(value)(X)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.log: a traced value (f64[]), which depends on argument 'x' of value, cannot
            become a Python float under jit of value: it has no value yet
      in: value (here), under jit of value
      mend: write np.log(x) / np.log(2)
    """,
)
def math_log():
    def value(x):
        return math.log(x, 2)  # <- here

    jit(value)(0.7)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.remainder: a traced value (f64[]), which depends on argument 'x' of value,
            cannot become a Python float under jit of value: it has no value yet
      in: value (here), under jit of value
      mend: write x - 0.4 * np.round(x / 0.4)
    """,
)
def math_remainder():
    def value(x):
        return math.remainder(x, 0.4)  # <- here

    jit(value)(0.7)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.atan2: a traced value (f64[]), which depends on argument 'x' of value, cannot
            become a Python float under jit of value: it has no value yet
      in: value (here), under jit of value
      mend: write np.arctan2(x, 1.0)
    """,
)
def math_atan2():
    def value(x):
        return math.atan2(x, 1.0)  # <- here

    jit(value)(0.7)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.fmod: a traced value (f64[]), which depends on argument 'x' of value, cannot
            become a Python float under jit of value: it has no value yet
      in: value (here), under jit of value
      mend: write np.fmod(x, 0.3)
    """,
)
def math_fmod():
    def value(x):
        return math.fmod(x, 0.3)  # <- here

    jit(value)(0.7)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.copysign: a traced value (f64[]), which depends on argument 'x' of value,
            cannot become a Python float under jit of value: it has no value yet
      in: value (here), under jit of value
      mend: write np.copysign(x, -1.0)
    """,
)
def math_copysign():
    def value(x):
        return math.copysign(x, -1.0)  # <- here

    jit(value)(0.7)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.pow: a traced value (f64[]), which depends on argument 'x' of value, cannot
            become a Python float under jit of value: it has no value yet
      in: value (here), under jit of value
      mend: write (x + 1) ** 2.0
    """,
)
def math_pow():
    def value(x):
        return math.pow(x + 1, 2.0)  # <- here

    jit(value)(0.7)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.isclose: a traced value (f64[]), which depends on argument 'x' of value,
            cannot become a Python float under jit of value: it has no value yet
      in: value (here), under jit of value
      mend: write np.isclose(x, 0.7, rtol=0.1, atol=0.0)
    """,
)
def math_isclose():
    def value(x):
        return math.isclose(x, 0.7, rel_tol=0.1)  # <- here

    jit(value)(0.7)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.nextafter: a traced value (f64[]), which depends on argument 'x' of value,
            cannot become a Python float under jit of value: it has no value yet
      in: value (here), under jit of value
      mend: write np.nextafter(x, 2.0)
    """,
)
def math_nextafter():
    def value(x):
        return math.nextafter(x, 2.0)  # <- here

    jit(value)(0.7)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.hypot: a traced value (f64[]), which depends on argument 'x' of value, cannot
            become a Python float under jit of value: it has no value yet
      in: value (here), under jit of value
      mend: write np.linalg.norm(anp.array([x, 1.0, 2.0]))
    """,
)
def math_hypot():
    def value(x):
        return math.hypot(x, 1.0, 2.0)  # <- here

    jit(value)(0.7)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.trunc: a traced value (f64[]), which depends on argument 'x' of value, cannot
            become a Python int under jit of value: it has no value yet
      in: value (here), under jit of value
      mend: write np.trunc(x)
    """,
)
def math_trunc():
    def value(x):
        return math.trunc(x)  # <- here

    jit(value)(0.7)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.fsum: a traced value (f64[]), which depends on argument 'x' of value, cannot
            become a Python float under jit of value: it has no value yet
      in: value (here), under jit of value
      mend: write np.sum(anp.array([x, x, 1.0]))
    """,
)
def math_fsum():
    def value(x):
        return math.fsum([x, x, 1.0])  # <- here

    jit(value)(0.7)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.dist: a traced value (f64[]), which depends on argument 'x' of value, cannot
            become a Python float under jit of value: it has no value yet
      in: value (here), under jit of value
      mend: write np.linalg.norm(anp.array([x]) - anp.array([1.0]))
    """,
)
def math_dist():
    def value(x):
        return math.dist([x], [1.0])  # <- here

    jit(value)(0.7)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.degrees: a traced value (f64[]), which depends on argument 'x' of value,
            cannot become a Python float under jit of value: it has no value yet
      in: value (here), under jit of value
      mend: write np.degrees(x)
    """,
)
def math_degrees():
    def value(x):
        return math.degrees(x)  # <- here

    jit(value)(0.7)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.ldexp: a traced value (f64[]), which depends on argument 'x' of value, cannot
            become a Python float under jit of value: it has no value yet
      in: value (here), under jit of value
      mend: write np.ldexp(x, 3)
    """,
)
def math_ldexp():
    def value(x):
        return math.ldexp(x, 3)  # <- here

    jit(value)(0.7)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.asin: a traced value (f64[]), which depends on argument 'x' of value, cannot
            become a Python float under jit of value: it has no value yet
      in: value (here), under jit of value
      mend: write np.arcsin(x / 2)
    """,
)
def math_asin():
    def value(x):
        return math.asin(x / 2)  # <- here

    jit(value)(0.7)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: math.gcd: a traced value (i64[]), which depends on argument 'n' of value,
            cannot become a Python integer under jit of value
      in: value (here), under jit of value
      mend: write np.gcd(n, 12); or make 'n' static: jit(value, static_argnames='n')
    """,
)
def math_gcd():
    def value(n):
        return math.gcd(n, 12)  # <- here

    jit(value)(8)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: math.comb: a traced value (i64[]), which depends on argument 'n' of value,
            cannot become a Python integer under jit of value
      in: value (here), under jit of value
      mend: write np.round(np.exp(scipy.special.gammaln(n + 1) - scipy.special.gammaln(n - 2 + 1) -
            scipy.special.gammaln(2 + 1))); or make 'n' static: jit(value, static_argnames='n')
    """,
)
def math_comb():
    def value(n):
        return math.comb(n, 2)  # <- here

    jit(value)(8)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: math.perm: a traced value (i64[]), which depends on argument 'n' of value,
            cannot become a Python integer under jit of value
      in: value (here), under jit of value
      mend: write np.round(np.exp(scipy.special.gammaln(n + 1) - scipy.special.gammaln(n - 2 + 1))); or make 'n'
            static: jit(value, static_argnames='n')
    """,
)
def math_perm():
    def value(n):
        return math.perm(n, 2)  # <- here

    jit(value)(8)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: math.lcm: a traced value (i64[]), which depends on argument 'n' of value,
            cannot become a Python integer under jit of value
      in: value (here), under jit of value
      mend: write np.lcm(np.lcm(n, 4), 5); or make 'n' static: jit(value, static_argnames='n')
    """,
)
def math_lcm():
    def value(n):
        return math.lcm(n, 4, 5)  # <- here

    jit(value)(8)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: math.isqrt: a traced value (i64[]), which depends on argument 'n' of value,
            cannot become a Python integer under jit of value
      in: value (here), under jit of value
      mend: write np.floor(np.sqrt(n)); or make 'n' static: jit(value, static_argnames='n')
    """,
)
def math_isqrt():
    def value(n):
        return math.isqrt(n)  # <- here

    jit(value)(8)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: <genexpr> (here), under jit of value
      mend: write sum(np.where(v > 0, v * v, 0.0) for v in x)
    """,
)
def sum_of_a_filtered_generator():
    def value(x):
        return sum(v * v for v in x if v > 0)  # <- here

    jit(value)(X)


@bad(
    TypeError,
    """
    ConcretizationTypeError: Traced<i64[]> by jit of value has no hash: as a key of a dict or an entry of a set
            it would be told apart from its value
      in: value (here), under jit of value
      mend: with the keys 0 to n - 1 write anp.take(np.array([table[k] for k in range(len(table))]), k), else
            lax.switch; or make 'k' static: jit(value, static_argnames='k')
    """,
)
def dict_at_a_traced_key():
    table = {0: 1.0, 1: 2.0}

    def value(k):
        return table[k]  # <- here

    jit(value)(1)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: a list times a traced integer: a plain integer would repeat the list, which
            needs its value
      in: repeated (here), under jit of repeated
      mend: to multiply its entries write np.array(row) * count; to repeat it make count static
    """,
)
def list_times_a_traced_count():
    def repeated(count):
        row = [1.0, 2.0]
        return row * count  # <- here

    jit(repeated)(2)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: a str times a traced integer: a plain integer would repeat the str, which
            needs its value
      in: repeated (here), under jit of repeated
      mend: to repeat it make count static
    """,
)
def text_times_a_traced_count():
    def repeated(count):
        return count * "ab"  # <- here

    jit(repeated)(2)


@bad(
    TypeError,
    """
    TracerArrayConversionError: spline: a traced value (f64[]), which depends on argument 'x' of <lambda>,
            cannot become a plain NumPy array under jit of <lambda>: it has no value yet
      in: <lambda> (here), under jit of <lambda>
      mend: write it with functions of autodidax.numpy, or make it a primitive: f = primitive_from(spline,
            jvp=lambda out, primals, tangents: ...); where its result is a constant call it with pure_callback
    """,
)
def spline_under_jit():
    spline = scipy.interpolate.CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])
    jit(lambda x: spline(x))(1.0)  # <- here


@bad(
    TypeError,
    """
    ConcretizationTypeError: bytes: a traced value was given to what takes plain values alone: cannot convert
            'Traced' object to bytes
      in: <lambda> (here), under grad of <lambda>
      mend: give it a plain value: stop_gradient(x) under grad, pure_callback or debug.callback under jit and
            vmap
    """,
)
def bytes_of_a_traced_value():
    grad(lambda x: bytes(x))(1.0)  # <- here


@bad(
    TypeError,
    """
    TracerArrayConversionError: numpy.random.normal: a traced value (f64[]) cannot become a plain NumPy array
            under grad of drawn: its derivative would be lost
      in: drawn (here), under grad of drawn
      mend: write loc + scale * rng.normal(size=n), with rng = np.random.default_rng(seed)
    """,
)
def normal_numbers_of_a_new_generator():
    def drawn(scale):
        return np.random.default_rng(0).normal(0.0, scale)  # <- here

    grad(drawn)(1.0)


@bad(
    TypeError,
    """
    ConcretizationTypeError: np.random.default_rng: a traced value was given to what takes plain values alone:
            SeedSequence expects int or sequence of ints for entropy not Traced<i64[]> by jit of <lambda>
      in: <lambda> (here), under jit of <lambda>
      mend: draw random numbers outside of the transformed function, from a plain seed, and give it the numbers
    """,
)
def seed_that_is_traced():
    jit(lambda seed: np.random.default_rng(seed).normal())(1)  # <- here


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'n' of
            scaled, is not known under eval_shape of scaled
      in: scaled (here), under eval_shape of scaled
      mend: write np.where(n > 0, 2.0 * x, x), or lax.cond(test, f, g, x) where only one branch may run; or fix
            'n': eval_shape(functools.partial(scaled, n=...), ...)
    """,
)
def flag_of_a_function_under_eval_shape():
    def scaled(n, x):
        return 2.0 * x if n > 0 else x  # <- here

    eval_shape(scaled, 3, X)


@bad(
    ValueError,
    """
    ShapeError: vmap over axis 0 of argument 'axis', which has shape ()
      in: keyword_that_vmap_cannot_map (here)
      mend: keyword arguments are mapped over axis 0: fix it before, vmap(functools.partial(f, name=value))
    """,
)
def keyword_that_vmap_cannot_map():
    vmap(np.sum, in_axes=None)(axis=0)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: vmap of <lambda>: in_axes has 2 entries for 1 positional argument
      in: in_axes_for_a_keyword (here)
      mend: give 'y' by position: keyword arguments are mapped over axis 0
    """,
)
def in_axes_for_a_keyword():
    vmap(lambda x, y: x * y, in_axes=(0, 0))(X, y=X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: x.size of an array is no method
      in: <lambda> (here), under grad of <lambda>
      mend: write x.size, without a call
    """,
)
def size_that_is_called():
    grad(lambda x: x.size())(X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: x.shape of an array is no method
      in: <lambda> (here), under jit of <lambda>
      mend: write x.shape[i], without a call
    """,
)
def shape_that_is_called():
    jit(lambda x: x.shape(0))(X)  # <- here


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: value (here), under jit of value
      mend: write order = np.argsort(x, stable=True), and take x[order], y[order]
    """,
)
def sorted_pairs():
    def value(x, y):
        return sorted(zip(x, y, strict=False))  # <- here

    jit(value)(X, X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: value (here), under jit of value
      mend: write np.max(anp.array([*x]))
    """,
)
def max_of_unpacked_values():
    def value(x):
        return max(*x)  # <- here

    jit(value)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (f64[]), which depends on argument 'x' of
            steps, is not known under jit of steps
      in: steps (here), under jit of steps
      mend: use lax.while_loop(lambda x: x != 0, body, x)
    """,
)
def while_on_a_number():
    def steps(x):
        while x:  # <- here
            x = x - 1
        return x

    jit(steps)(3.0)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (f64[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: value (here), under jit of value
      mend: write np.where(x != 0, np.logical_not(y), x)
    """,
)
def and_with_not():
    def value(x, y):
        return x and not y  # <- here

    jit(value)(1.0, 2.0)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            value, is not known under jit of value
      in: value (here), under jit of value
      mend: write np.where(x > 1, x > 1, x)
    """,
)
def or_of_a_comparison_and_a_number():
    def value(x):
        return x > 1 or x  # <- here

    jit(value)(0.5)
