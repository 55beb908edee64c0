"""Traced values where Python and its standard library want plain ones."""

import json
import math
import pickle
import statistics
from decimal import Decimal

import numpy as np

from autodidax import grad, jit, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, 1.5, 2.5])


@bad(
    TypeError,
    """
    ConcretizationTypeError: float: a traced value (f64[]) cannot become a Python float under grad of loss: its
            derivative would be lost
      in: loss (here), under grad of loss
      mend: use x as it is, or .astype(float); to see the number use debug.print, to get it return it
            (has_aux=True under grad)
    """,
)
def float_under_grad():
    def loss(x):
        return float(x) ** 2  # <- here

    grad(loss)(3.0)


@bad(
    TypeError,
    """
    ConcretizationTypeError: float: a traced value (f64[]), which depends on argument 'x' of scale, cannot
            become a Python float under jit of scale: it has no value yet
      in: scale (here), under jit of scale
      mend: use x as it is, or .astype(float); to see the number use debug.print, to get it return it
            (has_aux=True under grad)
    """,
)
def float_under_jit():
    def scale(x):
        return 2.0 * float(x)  # <- here

    jit(scale)(3.0)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: int: a traced value (f64[]), which depends on argument 'x' of rounded, cannot
            become a Python integer under jit of rounded
      in: rounded (here), under jit of rounded
      mend: write x.astype(int), which stays traced; or close over an integer
    """,
)
def int_under_jit():
    def rounded(x):
        return int(x)  # <- here

    jit(rounded)(2.5)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: int: a traced value (f64[]) cannot become a Python integer under grad of
            rounded
      in: rounded (here), under grad of rounded
      mend: write x.astype(int), which stays traced; or give an integer, and leave it out of the arguments to
            differentiate (argnums)
    """,
)
def int_under_grad():
    def rounded(x):
        return x * int(x)  # <- here

    grad(rounded)(2.5)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (f64[]) is not known under vmap of <lambda>
            over axis 0 of size 3
      in: <lambda> (here), under vmap of <lambda> over axis 0 of size 3
      mend: write np.where(x, 1.0, 0.0), or lax.cond(test, f, g, x) where only one branch may run
    """,
)
def bool_under_vmap():
    vmap(lambda x: 1.0 if bool(x) else 0.0)(X)  # <- here


@bad(
    TypeError,
    """
    ConcretizationTypeError: complex: a traced value (f64[]), which depends on argument 'x' of rotate, cannot
            become a Python complex under jit of rotate: it has no value yet
      in: rotate (here), under jit of rotate
      mend: use x as it is, or .astype(complex); to see the number use debug.print, to get it return it
            (has_aux=True under grad)
    """,
)
def complex_under_jit():
    def rotate(x):
        return complex(x) * 1j  # <- here

    jit(rotate)(2.0)


@bad(
    TypeError,
    """
    ConcretizationTypeError: round: a traced value (f64[]) cannot become a Python int under grad of nearest: its
            derivative would be lost
      in: nearest (here), under grad of nearest
      mend: write np.round(x)
    """,
)
def round_under_grad():
    def nearest(x):
        return round(x) * x  # <- here

    grad(nearest)(2.4)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.sin: a traced value (f64[]) cannot become a Python float under grad of wave:
            its derivative would be lost
      in: wave (here), under grad of wave
      mend: write np.sin(x)
    """,
)
def math_sin():
    def wave(x):
        return math.sin(x)  # <- here

    grad(wave)(0.3)


@bad(
    TypeError,
    """
    ConcretizationTypeError: math.floor: a traced value (f64[]), which depends on argument 'x' of whole, cannot
            become a Python float under jit of whole: it has no value yet
      in: whole (here), under jit of whole
      mend: write np.floor(x)
    """,
)
def math_floor():
    def whole(x):
        return math.floor(x)  # <- here

    jit(whole)(2.5)


@bad(
    TypeError,
    """
    TracerIntegerConversionError: math.factorial: a traced value (i64[]), which depends on argument 'n' of ways,
            cannot become a Python integer under jit of ways
      in: ways (here), under jit of ways
      mend: write scipy.special.gamma(n + 1.0); or make 'n' static: jit(ways, static_argnames='n')
    """,
)
def math_factorial():
    def ways(n):
        return math.factorial(n)  # <- here

    jit(ways)(3)


@bad(
    TypeError,
    """
    ConcretizationTypeError: statistics.fmean: a traced value (f64[]) cannot become a Python float under grad of
            average: its derivative would be lost
      in: average (here), under grad of average
      mend: write np.mean(x)
    """,
)
def statistics_mean():
    def average(x):
        return statistics.fmean(x)  # <- here

    grad(average)(X)


@bad(
    TypeError,
    """
    ConcretizationTypeError: Decimal: a traced value was given to what takes plain values alone: conversion from
            Traced to Decimal is not supported
      in: exact (here), under grad of exact
      mend: give it a plain value: stop_gradient(x) under grad, pure_callback or debug.callback under jit and
            vmap
    """,
)
def decimal_of_a_traced_value():
    def exact(x):
        return Decimal(x)  # <- here

    grad(exact)(0.5)


@bad(
    TypeError,
    """
    ConcretizationTypeError: item: a traced value (f64[]) cannot become a Python scalar under grad of loss: its
            derivative would be lost
      in: loss (here), under grad of loss
      mend: use x ** 2 as it is; to see the number use debug.print, to get it return it (has_aux=True under
            grad)
    """,
)
def item_of_a_traced_value():
    def loss(x):
        return (x**2).item()  # <- here

    grad(loss)(3.0)


@bad(
    TypeError,
    """
    ConcretizationTypeError: tolist: a traced value (f64[3]) cannot become a Python list under grad of loss: its
            derivative would be lost
      in: loss (here), under grad of loss
      mend: use x as it is; to see the number use debug.print, to get it return it (has_aux=True under grad)
    """,
)
def tolist_of_a_traced_value():
    def loss(x):
        return sum(x.tolist())  # <- here

    grad(loss)(X)


@bad(
    TypeError,
    """
    ConcretizationTypeError: a format: a traced value (f64[]) cannot become a Python float under grad of loss:
            its derivative would be lost
      in: loss (here), under grad of loss
      mend: print stop_gradient(x), or use debug.print
    """,
)
def percent_format_of_a_traced_value():
    def loss(x):
        print("loss %.2f" % x)  # noqa: UP031  # <- here
        return x

    grad(loss)(3.0)


@bad(
    TypeError,
    """
    ConcretizationTypeError: Traced<f64[]> by grad of square has no hash: as a key of a dict or an entry of a
            set it would be told apart from its value
      in: square (here), under grad of square
      mend: use a static value as the key, or id(x); keep traced values in a list
    """,
)
def key_of_a_dict():
    cache = {}

    def square(x):
        if x not in cache:  # <- here
            cache[x] = x * x
        return cache[x]

    grad(square)(3.0)


@bad(
    TypeError,
    """
    ConcretizationTypeError: Traced<f64[]> by jit of distinct has no hash: as a key of a dict or an entry of a
            set it would be told apart from its value
      in: distinct (here), under jit of distinct
      mend: use a static value as the key, or id(x); keep traced values in a list
    """,
)
def entry_of_a_set():
    def distinct(x):
        return len({x, 2.0})  # <- here

    jit(distinct)(3.0)


@bad(
    TypeError,
    """
    ConcretizationTypeError: json.dumps: a traced value was given to what takes plain values alone: Object of
            type Traced is not JSON serializable
      in: logged (here), under grad of logged
      mend: give it a plain value: stop_gradient(x) under grad, pure_callback or debug.callback under jit and
            vmap
    """,
)
def json_of_a_traced_value():
    def logged(x):
        json.dumps({"loss": x})  # <- here
        return x

    grad(logged)(3.0)


@bad(
    TypeError,
    """
    UnsupportedError: Traced<f64[]> by grad of saved cannot be pickled: it lives as long as its transform
      in: saved (here), under grad of saved
      mend: return it from the transformed function, and pickle the result
    """,
)
def pickle_of_a_traced_value():
    def saved(x):
        pickle.dumps(x)  # <- here
        return x

    grad(saved)(3.0)


@bad(
    TypeError,
    """
    MissingAttributeError: Traced<f64[3]> by grad of total has no attribute 'total'
      in: total (here), under grad of total
      mend: use what numpy.ndarray has; isinstance(x, autodidax.Array) is true of plain and of traced arrays
    """,
)
def type_that_is_not_known():
    def total(x):
        if isinstance(x, np.ndarray):
            return x.sum()
        return x.total()  # <- here

    grad(total)(X)


@bad(
    AttributeError,
    """
    MissingAttributeError: Traced<f64[3]> by grad of total has no attribute 'unsqueeze'
      in: total (here), under grad of total
      mend: write np.expand_dims(x, axis)
    """,
)
def method_of_a_torch_tensor():
    def total(x):
        return np.sum(x.unsqueeze(0))  # <- here

    grad(total)(X)


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (f64[]), which depends on argument 'x' of start,
            is not known under jit of start
      in: start (here), under jit of start
      mend: write x, which is no None
    """,
)
def value_or_none():
    def start(x):
        return x or None  # <- here

    jit(start)(1.0)
