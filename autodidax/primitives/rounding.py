"""Rounding, remainders, and the parts of a floating-point number."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import dtype_of
from autodidax.core.primitive import Pointwise, Primitive, no_share, pointwise, sample
from autodidax.primitives.comparison import equal, isnan
from autodidax.primitives.convert import imag, make_complex, real
from autodidax.primitives.elementwise import also, divide, keeping_python, sign
from autodidax.primitives.select import where


def _step(name: str, ufunc: np.ufunc, *, complex_ok: bool = False) -> Pointwise:
    return pointwise(name, ufunc, zero_derivative=True, complex_ok=complex_ok, module=__name__)


floor = _step("floor", np.floor)
ceil = _step("ceil", np.ceil)
trunc = _step("trunc", np.trunc)
rint = _step("rint", np.rint, complex_ok=True)
spacing = _step("spacing", np.spacing)


class Round(Primitive):
    """Rounded to a number of decimals, halves to even: (...) -> (...). Source: numpy.round."""

    zero_derivative = True
    numpy_function = np.round

    def impl(self, x, *, decimals=0):
        return np.round(x, decimals)

    def abstract_eval(self, x, *, decimals=0):
        return ShapedArray(x.shape, np.round(np.ones(1, x.dtype), decimals).dtype)

    def batch(self, args, dims, *, decimals=0):
        return self(*args, decimals=decimals), 0

    def samples(self, rng):
        for decimals in (-1, 0, 2):
            yield sample(10 * rng.normal(size=(2, 3)), decimals=decimals)
        yield sample(rng.normal(), decimals=1)
        yield sample(rng.normal(size=3).astype(np.float32), decimals=1)
        yield sample(np.arange(3), decimals=1)


round_p = Round("round")


class Quotient(Pointwise):
    """A function of a dividend and a divisor, which the samples keep away from 0 and from whole quotients."""

    def __init__(self, name: str, ufunc: np.ufunc, **kwargs: Any):
        super().__init__(name, ufunc, nin=2, complex_ok=False, domain=[(-5.0, 5.0), (0.5, 2.0)], **kwargs)

    def samples(self, rng):
        yield from super().samples(rng)
        yield sample(rng.uniform(-5.0, 5.0, 4), np.array([1.0, -1.5, 2.0, -0.3]), name="both signs")
        yield sample(rng.uniform(0.5, 5.0, 3).astype(np.float32), 0.75, name="Python divisor")
        yield sample(rng.uniform(0.5, 5.0, 3), np.arange(1, 4), name="integers")
        yield sample(np.arange(5), np.array(3), name="all integers")


floor_divide = Quotient(
    "floor_divide", np.floor_divide, zero_derivative=True, impl=keeping_python(operator.floordiv, np.floor_divide)
)
remainder = Quotient(
    "remainder", np.remainder, impl=keeping_python(operator.mod, np.remainder),
    products=(lambda t, _z, _x, _y: t, lambda t, _z, x, y: -(t * floor_divide(x, y))),
)  # fmt: skip
# (x - z)/y is an integer up to rounding, where trunc(x/y) could be off by one
fmod = Quotient("fmod", np.fmod, products=(lambda t, _z, _x, _y: t, lambda t, z, x, y: -(t * rint(divide(x - z, y)))))


copysign: Pointwise = also(
    pointwise(
        "copysign", np.copysign, nin=2, module=__name__, complex_ok=False,
        products=(lambda t, _z, x, y: t * (sign(x) * copysign(sign(x), y)), no_share),
    ),
    sample(np.array([0.5, -1.5], np.float32), -2.0, name="Python sign"),
    sample(np.array([0.0, -1.0]), np.array([-1.0, -0.0]), nonsmooth=True, name="at 0"),
)  # fmt: skip
heaviside = also(
    pointwise(
        "heaviside", np.heaviside, nin=2, module=__name__, complex_ok=False,
        products=(no_share, lambda t, _z, x, _y: where(equal(x, 0), t, 0)),
    ),
    sample(np.array([0.0, -1.0, 2.0]), np.array([0.3, 0.5, 0.7]), nonsmooth=True, name="at 0"),
    sample(np.array([[0, 1], [-1, 0]]), np.array([0.3, 0.5]), name="integers"),
)  # fmt: skip


def _ldexp_samples(rng):
    for shapes in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0,), ()), ((2, 3), ())]:
        yield sample(rng.normal(size=shapes[0]), rng.integers(-3, 4, shapes[1]))
    yield sample(rng.normal(size=3).astype(np.float32), 2, name="Python exponent")


ldexp: Pointwise = pointwise(
    "ldexp", np.ldexp, nin=2, linear_in=(0,), module=__name__, complex_ok=False, samples=_ldexp_samples,
    products=(lambda t, _z, _x, n: ldexp(t, n), no_share),
)  # fmt: skip


class _TwoParts(Primitive):
    """A function with two results of the operand's shape."""

    multiple_results = True
    ufunc: np.ufunc

    def impl(self, x):
        return list(self.ufunc(x))

    def abstract_eval(self, x):
        return [ShapedArray(x.shape, part.dtype) for part in self.ufunc(np.ones(1, x.dtype))]

    def batch(self, args, dims):
        return self(*args), [0, 0]

    def samples(self, rng):
        for shape in [(), (3,), (2, 3), (0,)]:
            yield sample(5 * rng.normal(size=shape))
        yield sample(5 * rng.normal(size=3).astype(np.float32))


class Modf(_TwoParts):
    """Fractional and integral part, both with the operand's sign: (...) -> (...), (...)."""

    ufunc = numpy_function = np.modf

    def jvp(self, out, primals, tangents):
        return [tangents[0], None]


class Frexp(_TwoParts):
    """Mantissa m and exponent n, with x = m 2**n and 1/2 <= |m| < 1: f64[...] -> f64[...], i32[...]."""

    ufunc = numpy_function = np.frexp

    def jvp(self, out, primals, tangents):
        return [ldexp(tangents[0], -out[1]), None]


modf = Modf("modf")
frexp = Frexp("frexp")
nextafter = also(
    pointwise(
        "nextafter", np.nextafter, nin=2, complex_ok=False, module=__name__,
        nondifferentiable="it steps along the grid of floating-point numbers, not along the real line",
    ),
    sample(np.array([np.inf, np.inf, 1.0]), np.array([0.0, np.inf, 2.0]), name="from infinity"),
)  # fmt: skip


def nan_to_num(x: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """x with nan and infinities replaced, by default by 0 and the largest finite numbers; the derivative is 0 there.

    Source: numpy.nan_to_num.
    """
    dtype = dtype_of(x)
    if dtype.kind == "c":
        return make_complex(nan_to_num(real(x), nan, posinf, neginf), nan_to_num(imag(x), nan, posinf, neginf))
    if dtype.kind != "f":
        return +x
    limits = np.finfo(dtype)
    x = where(isnan(x), nan, x)
    x = where(equal(x, np.inf), limits.max if posinf is None else posinf, x)
    return where(equal(x, -np.inf), limits.min if neginf is None else neginf, x)
