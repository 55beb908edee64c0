"""Elementwise arithmetic and elementary functions. What does sin do in each mode? Here is all of it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autodidax.core.avals import Masked
from autodidax.core.interpreters import dtype_of, get_aval
from autodidax.core.primitive import Primitive, pointwise, sample
from autodidax.primitives.comparison import equal, greater, not_equal
from autodidax.primitives.convert import conj, convert_element_type, real
from autodidax.primitives.select import where

_PYTHON = (float, int, complex)


def _both_python(x: Any, y: Any) -> bool:
    return type(x) in _PYTHON and type(y) in _PYTHON


def _weak(value: Any) -> Any:
    """A NumPy scalar as the Python scalar of its kind: so that results of Python scalars stay weak."""
    return value.item()


def _divide(x: Any, y: Any) -> Any:
    return _weak(np.true_divide(x, y)) if _both_python(x, y) else np.true_divide(x, y)


def _power(x: Any, y: Any) -> Any:
    if not _both_python(x, y):
        return np.power(x, y)
    if type(x) is int and type(y) is int:
        return x**y
    return _weak(np.power(x, y))


add = pointwise(
    "add", np.add, nin=2, linear=True, impl=operator.add, module=__name__,
    products=(lambda t, _z, _x, _y: t, lambda t, _z, _x, _y: t),
)  # fmt: skip
subtract = pointwise(
    "sub", np.subtract, nin=2, linear=True, impl=operator.sub, module=__name__,
    products=(lambda t, _z, _x, _y: t, lambda t, _z, _x, _y: -t),
)  # fmt: skip
multiply = pointwise(
    "mul", np.multiply, nin=2, multilinear=True, impl=operator.mul, module=__name__,
    products=(lambda t, _z, _x, y: t * y, lambda t, _z, x, _y: t * x),
)  # fmt: skip
divide = pointwise(
    "div", np.true_divide, nin=2, linear_in=(0,), impl=_divide, module=__name__, domain=[(-2.0, 2.0), (0.5, 2.0)],
    products=(lambda t, _z, _x, y: t / y, lambda t, z, _x, y: -(t * z) / y),
)  # fmt: skip
negative = pointwise(
    "neg", np.negative, linear=True, impl=operator.neg, module=__name__, products=(lambda t, _y, _x: -t,)
)

square = pointwise("square", np.square, lambda _, x: 2 * x, impl=lambda x: x * x if type(x) in _PYTHON else np.square(x))
exp = pointwise("exp", np.exp, lambda y, _: y)
log = pointwise("log", np.log, lambda _, x: 1.0 / x, domain=(0.1, 3.0))
sqrt = pointwise("sqrt", np.sqrt, lambda y, _: 0.5 / y, domain=(0.1, 3.0))
sin = pointwise("sin", np.sin, lambda _, x: cos(x))
cos = pointwise("cos", np.cos, lambda _, x: -sin(x))
tanh = pointwise("tanh", np.tanh, lambda y, _: 1.0 - y * y)


def _arctan2_denominator(x: Any, y: Any) -> Any:
    return x * x + y * y


arctan2 = pointwise(
    "arctan2", np.arctan2,
    lambda _, x, y: y / _arctan2_denominator(x, y),
    lambda _, x, y: -x / _arctan2_denominator(x, y),
    complex_ok=False,
)  # fmt: skip


def _power_by_base(_, x, y):
    """y x**(y-1), and exactly 0 where y is 0, so that x**0 and x**1 are right at x = 0 in every order."""
    zero = equal(y, 0)
    return where(zero, 0, y * power(x, where(zero, 1, y - 1)))


def _power_by_exponent(z, x, y):
    """log(x) x**y, with 0 at x = 0."""
    return z * log(where(equal(x, 0), 1, x))


def _power_samples(rng):
    for shapes in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0,), ()), ((2, 3), ())]:
        yield sample(rng.uniform(0.3, 2.0, shapes[0]), rng.uniform(-2.0, 2.0, shapes[1]))
    yield sample(rng.normal(size=(4, 1)), np.arange(4), name="integer exponents")
    yield sample(np.zeros(4), np.arange(4), name="integer exponents at 0")
    yield sample(rng.uniform(0.3, 2.0, 3).astype(np.float32), rng.uniform(0.3, 2.0, 3).astype(np.float32))
    yield sample(rng.normal(size=3) + 1j, rng.normal(size=3) + 0.5j, name="complex")


power = pointwise(
    "pow", np.power, _power_by_base, _power_by_exponent, impl=_power, samples=_power_samples, module=__name__
)


class IntegerPow(Primitive):
    """x**n for a fixed integer n: (...) -> (...); right at x = 0 to all orders."""

    def impl(self, x, *, n):
        if type(x) in _PYTHON and n < 0:
            return _weak(np.power(np.asarray(x), float(n) if type(x) is not complex else n))
        return x**n

    def abstract_eval(self, x, *, n):
        if x.dtype.kind in "iub" and n < 0:
            return get_aval(self.impl(np.ones(x.shape, x.dtype), n=n))
        return power.abstract_eval(x, get_aval(n))

    def jvp(self, out, primals, tangents, *, n):
        (x,), (t,) = primals, tangents
        if n == 0:
            return None
        return t * (n * integer_pow(x, n=n - 1)) if n != 1 else t

    def batch(self, args, dims, *, n):
        return self(*args, n=n), 0

    def samples(self, rng):
        for n in (-2, -1, 0, 1, 2, 3, 5):
            yield sample(rng.uniform(0.5, 1.5, (3,)), n=n)
        yield sample(np.zeros(3), n=3, name="at 0")
        yield sample(rng.uniform(0.5, 1.5, ()), n=3)
        yield sample(rng.uniform(0.5, 1.5, (2, 0)), n=2)
        yield sample(rng.uniform(0.5, 1.5, 3).astype(np.float32), n=3)
        yield sample(rng.normal(size=3) + 1j, n=3)


integer_pow = IntegerPow("integer_pow")


def pow_operator(x: Any, y: Any) -> Any:
    """x**y as Python and NumPy mean it, with the exact rules for integer exponents."""
    if type(y) is int:
        return square(x) if y == 2 else integer_pow(x, n=y)
    return power(x, y)


class _Selecting:
    """Products of maximum and minimum: weight 1 for the operand that is the result, a half each for a tie, and a
    structural zero for the other."""

    def __init__(self, k: int):
        self.k = k

    def product(self, t: Any, z: Any, x: Any, y: Any) -> Any:
        own = x if self.k == 0 else y
        chosen = equal(own, z)
        weight = where(equal(x, y), 0.5, 1.0)
        return Masked(where(chosen, t * convert_like(weight, t), 0.0), chosen)


def convert_like(x: Any, t: Any) -> Any:
    return convert_element_type(x, dtype=dtype_of(t)) if dtype_of(x) != dtype_of(t) else x


def _first(t, z, x, y):
    return _Selecting(0).product(t, z, x, y)


def _second(t, z, x, y):
    return _Selecting(1).product(t, z, x, y)


def _pair_samples(rng):
    for shapes in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0,), ()), ((2, 3), ())]:
        yield sample(rng.normal(size=shapes[0]), rng.normal(size=shapes[1]))
    yield sample(rng.normal(size=3).astype(np.float32), rng.normal(size=3).astype(np.float32))
    yield sample(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 3.0]), nonsmooth=True, name="ties")


maximum = pointwise(
    "max", np.maximum, nin=2, products=(_first, _second), samples=_pair_samples, module=__name__, complex_ok=False
)
minimum = pointwise(
    "min", np.minimum, nin=2, products=(_first, _second), samples=_pair_samples, module=__name__, complex_ok=False
)

sign = pointwise("sign", np.sign, zero_derivative=True, module=__name__)


def _abs_samples(rng):
    for shape in [(), (3,), (2, 3), (0,)]:
        yield sample(rng.normal(size=shape))
        yield sample(rng.normal(size=shape) + 1j * rng.normal(size=shape))
    yield sample(rng.normal(size=3).astype(np.float32))
    yield sample(np.array([0.0, 1.0, -2.0]), nonsmooth=True, name="at 0")
    yield sample(np.array([0.0, 1.0 + 1j]), nonsmooth=True, name="complex, at 0")


class Abs(Primitive):
    """Absolute value or modulus: (...) -> (...), real; the derivative at 0 is 0."""

    numpy_function = np.absolute

    def impl(self, x):
        return abs(x)

    def abstract_eval(self, x):
        return get_aval(abs(x.dtype.type(1).item())) if x.weak_type else _abs_aval(x)

    def jvp(self, out, primals, tangents):
        (x,), (t,) = primals, tangents
        if dtype_of(x).kind != "c":
            return t * sign(x)
        zero = equal(out, 0)
        return real(t * conj(x)) / where(zero, 1, out)

    def batch(self, args, dims):
        return self(*args), 0

    def samples(self, rng):
        yield from _abs_samples(rng)


def _abs_aval(x):
    return x.update(dtype=np.abs(np.ones(0, x.dtype)).dtype)


absolute = Abs("abs", numpy_function=np.absolute)

__all__ = [
    "absolute", "add", "arctan2", "cos", "divide", "exp", "greater", "integer_pow", "log", "maximum", "minimum",
    "multiply", "negative", "not_equal", "pow_operator", "power", "sign", "sin", "sqrt", "square", "subtract", "tanh",
]  # fmt: skip
