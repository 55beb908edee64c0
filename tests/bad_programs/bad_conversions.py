"""Traced values where Python, NumPy, SciPy or a library in C want plain ones."""

import ctypes
import json
import math
import pickle
import statistics
from decimal import Decimal
from fractions import Fraction

import numpy as np
import scipy.interpolate
import scipy.linalg
import scipy.optimize
import scipy.special
import scipy.stats

from autodidax import grad, jit, jvp, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, 1.5, 2.5])


@bad(TypeError)
def float_under_grad():
    def loss(x):
        return float(x) ** 2  # <- here

    grad(loss)(3.0)


@bad(TypeError)
def float_under_jit():
    def scale(x):
        return 2.0 * float(x)  # <- here

    jit(scale)(3.0)


@bad(TypeError)
def int_under_jit():
    def rounded(x):
        return int(x)  # <- here

    jit(rounded)(2.5)


@bad(TypeError)
def int_under_grad():
    def rounded(x):
        return x * int(x)  # <- here

    grad(rounded)(2.5)


@bad(TypeError)
def bool_under_vmap():
    vmap(lambda x: 1.0 if bool(x) else 0.0)(X)  # <- here


@bad(TypeError)
def complex_under_jit():
    def rotate(x):
        return complex(x) * 1j  # <- here

    jit(rotate)(2.0)


@bad(TypeError)
def round_under_grad():
    def nearest(x):
        return round(x) * x  # <- here

    grad(nearest)(2.4)


@bad(TypeError)
def math_sin():
    def wave(x):
        return math.sin(x)  # <- here

    grad(wave)(0.3)


@bad(TypeError)
def math_floor():
    def whole(x):
        return math.floor(x)  # <- here

    jit(whole)(2.5)


@bad(TypeError)
def math_factorial():
    def ways(n):
        return math.factorial(n)  # <- here

    jit(ways)(3)


@bad(TypeError)
def statistics_mean():
    def average(x):
        return statistics.fmean(x)  # <- here

    grad(average)(X)


@bad(TypeError)
def fraction_of_a_traced_value():
    def exact(x):
        return Fraction(x)  # <- here

    grad(exact)(0.5)


@bad(TypeError)
def decimal_of_a_traced_value():
    def exact(x):
        return Decimal(x)  # <- here

    grad(exact)(0.5)


@bad(TypeError)
def item_of_a_traced_value():
    def loss(x):
        return (x**2).item()  # <- here

    grad(loss)(3.0)


@bad(TypeError)
def tolist_of_a_traced_value():
    def loss(x):
        return sum(x.tolist())  # <- here

    grad(loss)(X)


@bad(TypeError)
def format_of_a_traced_value():
    def loss(x):
        print(f"loss {x:.2f}")  # <- here
        return x

    jit(loss)(3.0)


@bad(TypeError)
def percent_format_of_a_traced_value():
    def loss(x):
        print("loss %.2f" % x)  # noqa: UP031  # <- here
        return x

    grad(loss)(3.0)


@bad(TypeError)
def key_of_a_dict():
    cache = {}

    def square(x):
        if x not in cache:  # <- here
            cache[x] = x * x
        return cache[x]

    grad(square)(3.0)


@bad(TypeError)
def entry_of_a_set():
    def distinct(x):
        return len({x, 2.0})  # <- here

    jit(distinct)(3.0)


@bad(TypeError)
def json_of_a_traced_value():
    def logged(x):
        json.dumps({"loss": x})  # <- here
        return x

    grad(logged)(3.0)


@bad(TypeError)
def pickle_of_a_traced_value():
    def saved(x):
        pickle.dumps(x)  # <- here
        return x

    grad(saved)(3.0)


@bad(TypeError)
def type_that_is_not_known():
    def total(x):
        if isinstance(x, np.ndarray):
            return x.sum()
        return x.total()  # <- here

    grad(total)(X)


@bad(TypeError)
def numpy_asarray():
    def loss(x):
        return np.sum(np.asarray(x) ** 2)  # <- here

    grad(loss)(X)


@bad(TypeError)
def numpy_array_of_a_list():
    def rotation(t):
        return np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])  # <- here

    jit(rotation)(0.3)


@bad(TypeError)
def numpy_method_of_tensors():
    def loss(x):
        return np.sum(x.numpy() ** 2)  # <- here

    grad(loss)(X)


@bad(TypeError)
def detach_of_tensors():
    def loss(x):
        return np.sum(x * x.detach())  # <- here

    grad(loss)(X)


@bad(TypeError)
def backward_of_tensors():
    def loss(x):
        y = np.sum(x**2)
        y.backward()  # <- here
        return y

    grad(loss)(X)


@bad(TypeError)
def full_of_a_traced_value():
    def constant(x):
        return np.sum(np.full(3, x))  # <- here

    grad(constant)(2.0)


@bad(TypeError)
def method_of_a_plain_array():
    a = np.eye(3)

    def product(x):
        return np.sum(a.dot(x))  # <- here

    grad(product)(X)


@bad(TypeError)
def scalar_type_of_numpy():
    def half(x):
        return np.float32(x) * 2  # <- here

    grad(half)(2.0)


@bad(TypeError)
def normal_numbers_around_a_traced_mean():
    rng = np.random.default_rng(0)

    def noisy(mean):
        return rng.normal(mean, 1.0)  # <- here

    grad(noisy)(0.0)


@bad(TypeError)
def shuffled_traced_values():
    rng = np.random.default_rng(0)

    def loss(x):
        return rng.permutation(x)[0]  # <- here

    grad(loss)(X)


@bad(TypeError)
def choice_with_traced_probabilities():
    rng = np.random.default_rng(0)

    def draw(p):
        return rng.choice(3, p=p)  # <- here

    jit(draw)(np.full(3, 1 / 3))


@bad(TypeError)
def seed_of_a_generator():
    def draw(seed):
        return np.random.default_rng(seed).normal()  # <- here

    jit(draw)(0)


@bad(TypeError)
def histogram_under_jit():
    def counts(x):
        return np.histogram(x, bins=3)  # <- here

    jit(counts)(X)


@bad(TypeError)
def interp_under_grad():
    def level(x):
        return np.sum(np.interp(x, X, X**2))  # <- here

    grad(level)(np.array([1.0]))


@bad(TypeError)
def fft_under_grad():
    def spectrum(x):
        return np.sum(np.abs(np.fft.fft(x)))  # <- here

    grad(spectrum)(X)


@bad(TypeError)
def solver_of_scipy():
    def solved(b):
        return np.sum(scipy.linalg.solve_triangular(np.eye(3), b))  # <- here

    grad(solved)(X)


@bad(TypeError)
def distribution_of_scipy():
    def loss(x):
        return -np.sum(scipy.stats.norm.logpdf(x))  # <- here

    grad(loss)(X)


@bad(TypeError)
def minimizer_of_scipy():
    def best(a):
        return scipy.optimize.minimize(lambda x: (x[0] - a) ** 2, np.zeros(1)).x[0]  # <- here

    grad(best)(1.0)


@bad(TypeError)
def spline_of_scipy():
    spline = scipy.interpolate.CubicSpline(X, X**2)

    def level(x):
        return spline(x)  # <- here

    grad(level)(1.0)


@bad(TypeError)
def special_function_without_a_derivative():
    def loss(x):
        return scipy.special.airy(x)[0]  # <- here

    grad(loss)(1.0)


@bad(TypeError)
def call_into_c():
    def loss(x):
        return ctypes.c_double(x).value  # <- here

    grad(loss)(1.0)


@bad(TypeError)
def buffer_of_a_traced_value():
    def loss(x):
        return memoryview(x)[0]  # <- here

    grad(loss)(X)


@bad(TypeError)
def vectorize_of_numpy():
    def loss(x):
        return np.sum(np.vectorize(math.exp)(x))  # <- here

    grad(loss)(X)


@bad(TypeError)
def bytes_of_a_traced_value():
    def digest(x):
        return hash(x.tobytes())  # <- here

    jit(digest)(X)


@bad(TypeError)
def tangent_as_float():
    def f(x):
        return float(x) * x  # <- here

    jvp(f, (2.0,), (1.0,))
