"""Traced values in calls of NumPy, SciPy and C that take plain arrays alone."""

import ctypes
import math

import numpy as np
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.optimize
import scipy.special
import scipy.stats

from autodidax import grad, jit, jvp
from tests.bad_programs.table import bad

X = np.array([0.5, 1.5, 2.5])


@bad(
    TypeError,
    """
    TracerArrayConversionError: numpy.asarray: a traced value (f64[3]) cannot become a plain NumPy array under
            grad of loss: its derivative would be lost
      in: loss (here), under grad of loss
      mend: write anp.asarray(...), with autodidax.numpy as anp
    """,
)
def numpy_asarray():
    def loss(x):
        return np.sum(np.asarray(x) ** 2)  # <- here

    grad(loss)(X)


@bad(
    TypeError,
    """
    TracerArrayConversionError: numpy.array: a traced value (f64[]), which depends on argument 't' of rotation,
            cannot become a plain NumPy array under jit of rotation: it has no value yet
      in: rotation (here), under jit of rotation
      mend: write anp.array(...), with autodidax.numpy as anp
    """,
)
def numpy_array_of_a_list():
    def rotation(t):
        return np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])  # <- here

    jit(rotation)(0.3)


@bad(
    TypeError,
    """
    MissingAttributeError: Traced<f64[3]> by grad of loss has no attribute 'numpy'
      in: loss (here), under grad of loss
      mend: leave .numpy() away: NumPy's functions take traced values; return x to get a plain array
    """,
)
def numpy_method_of_tensors():
    def loss(x):
        return np.sum(x.numpy() ** 2)  # <- here

    grad(loss)(X)


@bad(
    TypeError,
    """
    MissingAttributeError: Traced<f64[3]> by grad of loss has no attribute 'detach'
      in: loss (here), under grad of loss
      mend: write autodidax.stop_gradient(x)
    """,
)
def detach_of_tensors():
    def loss(x):
        return np.sum(x * x.detach())  # <- here

    grad(loss)(X)


@bad(
    TypeError,
    """
    MissingAttributeError: Traced<f64[]> by grad of loss has no attribute 'backward'
      in: loss (here), under grad of loss
      mend: write autodidax.grad(f)(x) for the gradient of a function f
    """,
)
def backward_of_tensors():
    def loss(x):
        y = np.sum(x**2)
        y.backward()  # <- here
        return y

    grad(loss)(X)


@bad(
    TypeError,
    """
    TracerArrayConversionError: numpy.full: a traced value (f64[]) cannot become a plain NumPy array under grad
            of constant: its derivative would be lost
      in: constant (here), under grad of constant
      mend: write anp.full(...), with autodidax.numpy as anp
    """,
)
def full_of_a_traced_value():
    def constant(x):
        return np.sum(np.full(3, x))  # <- here

    grad(constant)(2.0)


@bad(
    TypeError,
    """
    TracerArrayConversionError: numpy.dot: a traced value (f64[3]) cannot become a plain NumPy array under grad
            of product: its derivative would be lost
      in: product (here), under grad of product
      mend: write anp.dot(...), with autodidax.numpy as anp
    """,
)
def method_of_a_plain_array():
    a = np.eye(3)

    def product(x):
        return np.sum(a.dot(x))  # <- here

    grad(product)(X)


@bad(
    TypeError,
    """
    TracerArrayConversionError: numpy.float32: a traced value (f64[]) cannot become a plain NumPy array under
            grad of half: its derivative would be lost
      in: half (here), under grad of half
      mend: write x.astype(np.float32)
    """,
)
def scalar_type_of_numpy():
    def half(x):
        return np.float32(x) * 2  # <- here

    grad(half)(2.0)


@bad(
    TypeError,
    """
    TracerArrayConversionError: numpy.random.normal: a traced value (f64[]) cannot become a plain NumPy array
            under grad of noisy: its derivative would be lost
      in: noisy (here), under grad of noisy
      mend: write loc + scale * rng.normal(size=n), with rng = np.random.default_rng(seed)
    """,
)
def normal_numbers_around_a_traced_mean():
    rng = np.random.default_rng(0)

    def noisy(mean):
        return rng.normal(mean, 1.0)  # <- here

    grad(noisy)(0.0)


@bad(
    TypeError,
    """
    TracerArrayConversionError: numpy.random.permutation: a traced value (f64[3]) cannot become a plain NumPy
            array under grad of loss: its derivative would be lost
      in: loss (here), under grad of loss
      mend: write x[rng.permutation(len(x))], with rng = np.random.default_rng(seed)
    """,
)
def shuffled_traced_values():
    rng = np.random.default_rng(0)

    def loss(x):
        return rng.permutation(x)[0]  # <- here

    grad(loss)(X)


@bad(
    TypeError,
    """
    TracerArrayConversionError: numpy.random.choice: a traced value (f64[3]), which depends on argument 'p' of
            draw, cannot become a plain NumPy array under jit of draw: it has no value yet
      in: draw (here), under jit of draw
      mend: draw plain random numbers outside of the transformed function, and compute with them inside
    """,
)
def choice_with_traced_probabilities():
    rng = np.random.default_rng(0)

    def draw(p):
        return rng.choice(3, p=p)  # <- here

    jit(draw)(np.full(3, 1 / 3))


@bad(
    TypeError,
    """
    ConcretizationTypeError: np.random.default_rng: a traced value was given to what takes plain values alone:
            SeedSequence expects int or sequence of ints for entropy not Traced<i64[]> by jit of draw
      in: draw (here), under jit of draw
      mend: draw random numbers outside of the transformed function, from a plain seed, and give it the numbers
    """,
)
def seed_of_a_generator():
    def draw(seed):
        return np.random.default_rng(seed).normal()  # <- here

    jit(draw)(0)


@bad(
    TypeError,
    """
    TracerArrayConversionError: scipy.linalg.solve_triangular: a traced value (f64[3]) cannot become a plain
            NumPy array under grad of solved: its derivative would be lost
      in: solved (here), under grad of solved
      mend: write autodidax.scipy.linalg.solve_triangular(...)
    """,
)
def solver_of_scipy():
    def solved(b):
        return np.sum(scipy.linalg.solve_triangular(np.eye(3), b))  # <- here

    grad(solved)(X)


@bad(
    TypeError,
    """
    TracerArrayConversionError: scipy.stats.norm.logpdf: a traced value (f64[3]) cannot become a plain NumPy
            array under grad of loss: its derivative would be lost
      in: loss (here), under grad of loss
      mend: write it with functions of autodidax.numpy, or make it a primitive: f =
            primitive_from(scipy.stats.norm.logpdf, jvp=lambda out, primals, tangents: ...); where its result is
            a constant give it stop_gradient(x)
    """,
)
def distribution_of_scipy():
    def loss(x):
        return -np.sum(scipy.stats.norm.logpdf(x))  # <- here

    grad(loss)(X)


@bad(
    TypeError,
    """
    TracerArrayConversionError: spline: a traced value (f64[]) cannot become a plain NumPy array under grad of
            level: its derivative would be lost
      in: level (here), under grad of level
      mend: write it with functions of autodidax.numpy, or make it a primitive: f = primitive_from(spline,
            jvp=lambda out, primals, tangents: ...); where its result is a constant give it stop_gradient(x)
    """,
)
def spline_of_scipy():
    spline = scipy.interpolate.CubicSpline(X, X**2)

    def level(x):
        return spline(x)  # <- here

    grad(level)(1.0)


@bad(
    TypeError,
    """
    UnsupportedError: the ufunc _cosine_cdf has no rule for traced values
      in: loss (here), under grad of loss
      mend: apply it to stop_gradient(x), compute it outside, or define a rule: autodidax.pointwise('_cosine_cdf',
            _cosine_cdf, derivative)
    """,
)
def special_function_without_a_derivative():
    def loss(x):
        return scipy.special._ufuncs._cosine_cdf(x)  # <- here

    grad(loss)(1.0)


@bad(
    TypeError,
    """
    ConcretizationTypeError: a traced value (f64[]) cannot become a Python float under grad of loss: its
            derivative would be lost
      in: loss (here), under grad of loss
      mend: leave float() away, use functions of numpy in place of math and statistics; to see the number use
            debug.print, to get it return it (has_aux=True under grad)
    """,
)
def call_into_c():
    def loss(x):
        return ctypes.c_double(x).value  # <- here

    grad(loss)(1.0)


@bad(
    TypeError,
    """
    ConcretizationTypeError: memoryview: a traced value was given to what takes plain values alone: memoryview:
            a bytes-like object is required, not 'Traced'
      in: loss (here), under grad of loss
      mend: give it a plain value: stop_gradient(x) under grad, pure_callback or debug.callback under jit and
            vmap
    """,
)
def buffer_of_a_traced_value():
    def loss(x):
        return memoryview(x)[0]  # <- here

    grad(loss)(X)


@bad(
    TypeError,
    """
    TracerArrayConversionError: numpy.vectorize: a traced value (f64[3]) cannot become a plain NumPy array under
            grad of loss: its derivative would be lost
      in: loss (here), under grad of loss
      mend: write anp.vectorize(f), with autodidax.numpy as anp, or apply autodidax.vmap to the function
    """,
)
def vectorize_of_numpy():
    def loss(x):
        return np.sum(np.vectorize(math.exp)(x))  # <- here

    grad(loss)(X)


@bad(
    TypeError,
    """
    UnsupportedError: Traced<f64[3]> by jit of digest: tobytes() is not supported on traced values
      in: digest (here), under jit of digest
      mend: traced values have no memory: return x, and convert the result
    """,
)
def bytes_of_a_traced_value():
    def digest(x):
        return hash(x.tobytes())  # <- here

    jit(digest)(X)


@bad(
    TypeError,
    """
    ConcretizationTypeError: float: a traced value (f64[]) cannot become a Python float under jvp of f: its
            derivative would be lost
      in: f (here), under jvp of f
      mend: use x as it is, or .astype(float); to see the number use debug.print, to get it return it
            (has_aux=True under grad)
    """,
)
def tangent_as_float():
    def f(x):
        return float(x) * x  # <- here

    jvp(f, (2.0,), (1.0,))


@bad(
    TypeError,
    """
    TracerArrayConversionError: scipy.integrate.odeint: a traced value (f64[1]) cannot become a plain NumPy array
            under grad of loss: its derivative would be lost
      in: loss (here), under grad of loss
      mend: write autodidax.scipy.integrate.odeint(...)
    """,
)
def ode_of_scipy():
    def loss(rate):
        return scipy.integrate.odeint(lambda y, t: -rate * y, 1.0, X)[-1, 0]  # <- here

    grad(loss)(2.0)
