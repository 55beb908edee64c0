"""Elementwise arithmetic and elementary functions. What does sin do in each mode? Here is all of it.

The other elementwise families stand in `trigonometric.py`, `extrema.py`, `rounding.py`, `bits.py`, `comparison.py` and
`special.py`. Two rules hold in all of them:

- Python scalars under an operator stay Python scalars (weak), and where Python would raise ZeroDivisionError or
  OverflowError the result is NumPy's, with its warning. So a rule divides a Python scalar by `divide`, not by `/`.
- A partial derivative has no wider dtype than the output. A NumPy function of one operand, which may be a Python
  scalar, is therefore cast: `astype(log(x), dtype_of(z))`.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax.core.avals import PYTHON_SCALARS
from autodidax.core.interpreters import Tracer, dtype_of
from autodidax.core.primitive import Pointwise, Primitive, Sample, pointwise, sample
from autodidax.primitives.comparison import equal, greater, isinf, logical_and, not_equal
from autodidax.primitives.convert import astype, conj, real
from autodidax.primitives.extrema import clip, fmax, fmin, maximum, minimum
from autodidax.primitives.select import where


def keeping_python(op: Callable[..., Any], ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    """The operator `op`, which maps Python scalars to a Python scalar; NumPy's value where Python raises."""

    def impl(x: Any, y: Any) -> Any:
        try:
            return op(x, y)
        except (ZeroDivisionError, OverflowError):
            return ufunc(x, y).item()

    return impl


def _absolute(x: Any) -> Any:
    try:
        return abs(x)
    except OverflowError:  # the modulus of a Python complex
        return np.absolute(x).item()


def also(p: Pointwise, *extra: Sample) -> Pointwise:
    """The same primitive, with samples beside those that are drawn from its domain."""
    drawn = p.samples
    p.samples = lambda rng: itertools.chain(drawn(rng), extra)  # type: ignore[method-assign]  # of one instance
    return p


def complex_by(p: Pointwise, other: Primitive) -> None:
    """Hand complex tracers over from `p`, whose rule holds on the reals, to the primitive `other`."""
    on_reals = p.op

    def op(x: Any) -> Any:
        return other(x) if isinstance(x, Tracer) and x.dtype.kind == "c" else on_reals(x)

    op.__name__, op.__qualname__, op.__doc__ = on_reals.__name__, on_reals.__qualname__, on_reals.__doc__
    p.op = op


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
divide: Pointwise = pointwise(
    "div", np.true_divide, nin=2, linear_in=(0,), impl=keeping_python(operator.truediv, np.true_divide),
    module=__name__, domain=[(-2.0, 2.0), (0.5, 2.0)],
    products=(lambda t, _z, _x, y: divide(t, y), lambda t, z, _x, y: divide(-(t * z), y)),
)  # fmt: skip
negative = pointwise(
    "neg", np.negative, linear=True, impl=operator.neg, module=__name__, products=(lambda t, _y, _x: -t,)
)
positive = pointwise(
    "pos", np.positive, linear=True, impl=operator.pos, module=__name__, products=(lambda t, _y, _x: t,)
)
reciprocal = pointwise("reciprocal", np.reciprocal, lambda y, _: -(y * y), domain=(0.5, 2.0))
square = pointwise(
    "square", np.square, lambda _, x: 2 * x, impl=lambda x: x * x if type(x) in PYTHON_SCALARS else np.square(x)
)

exp = pointwise("exp", np.exp, lambda y, _: y)
exp2 = pointwise("exp2", np.exp2, lambda y, _: y * math.log(2.0))
expm1 = pointwise("expm1", np.expm1, lambda _, x: exp(x))  # y + 1 would lose the tail of negative x
log = pointwise("log", np.log, lambda _, x: divide(1.0, x), domain=(0.1, 3.0))
log2 = pointwise("log2", np.log2, lambda _, x: divide(1.0 / math.log(2.0), x), domain=(0.1, 3.0))
log10 = pointwise("log10", np.log10, lambda _, x: divide(1.0 / math.log(10.0), x), domain=(0.1, 3.0))
log1p = pointwise("log1p", np.log1p, lambda _, x: divide(1.0, 1.0 + x), domain=(-0.9, 2.0))
sqrt = pointwise("sqrt", np.sqrt, lambda y, _: 0.5 / y, domain=(0.1, 3.0))
cbrt = pointwise(
    "cbrt", np.cbrt, lambda y, _: (1.0 / 3.0) / (y * y), domain=(0.1, 3.0), complex_ok=False
)  # inf at 0, as sqrt has it
sin = pointwise("sin", np.sin, lambda _, x: cos(x))
cos: Pointwise = pointwise("cos", np.cos, lambda _, x: -sin(x))
tanh = pointwise("tanh", np.tanh, lambda y, _: 1.0 - y * y)


def _difference(z, x, y):
    """x - y; 0 where both are inf, which share the derivative, and inf where both are -inf, which have none."""
    same = logical_and(equal(x, y), isinf(z))
    at_infinity = astype(where(greater(z, 0), 0.0, math.inf), dtype_of(z))
    return where(same, at_infinity, x - astype(where(same, 0, y), dtype_of(z)))


def _logistic(x: Any) -> Any:
    """1 / (1 + exp(-x)), exact to rounding in both tails, without overflow."""
    small = np.exp(-np.abs(x))
    return np.maximum(small, np.greater_equal(x, 0)) / (1.0 + small)  # 1 or exp(x) over the sum


logistic: Pointwise = also(
    pointwise("logistic", _logistic, lambda y, x: y * logistic(-x), complex_ok=False),
    sample(np.array([-800.0, -40.0, -1e-9, 40.0, 800.0]), name="tails"),
)

# the weight of an operand, exp(x - z), in a form that neither cancels nor overflows
logaddexp: Pointwise = also(
    pointwise(
        "logaddexp",
        np.logaddexp,
        lambda z, x, y: logistic(-_difference(z, y, x)),
        lambda z, x, y: logistic(-_difference(z, x, y)),
        complex_ok=False,
    ),
    sample(
        np.array([-np.inf, -np.inf, 1.0, np.inf]),
        np.array([1.0, -np.inf, -800.0, np.inf]),
        nonsmooth=True,
        name="infinite",
    ),
    sample(np.array([0.5, -1.5], np.float32), 1.0, name="Python scalar"),
)
logaddexp2: Pointwise = pointwise(
    "logaddexp2", np.logaddexp2,
    lambda z, x, y: exp2(-logaddexp2(0.0, _difference(z, y, x))),
    lambda z, x, y: exp2(-logaddexp2(0.0, _difference(z, x, y))),
    complex_ok=False,
)  # fmt: skip


def _modulus_slope(x, modulus):
    """conj(x)/|x|, and 0 at 0."""
    zero = equal(modulus, 0)
    return where(zero, 0, conj(x) / where(zero, 1, modulus))


def _real_samples(rng):
    for shape in [(), (3,), (2, 3), (0,)]:
        yield sample(rng.normal(size=shape))
    yield sample(rng.normal(size=3).astype(np.float32))
    yield sample(np.array([0.0, -0.0, 1.0, -2.0]), nonsmooth=True, name="at 0")


def _complex_samples(rng):
    for shape in [(), (3,), (2, 3), (0,)]:
        yield sample(rng.normal(size=shape) + 1j * rng.normal(size=shape))
    yield sample((rng.normal(size=3) + 1j).astype(np.complex64))
    yield sample(np.array([0.0, 1.0 + 1j]), nonsmooth=True, name="at 0")


class AbsoluteComplex(Primitive):
    """Modulus of a complex array: c128[...] -> f64[...]; the derivative at 0 is 0."""

    def impl(self, x):
        return _absolute(x)

    def abstract_eval(self, x):
        return x.update(dtype=np.empty(0, x.dtype).real.dtype)

    def jvp(self, out, primals, tangents):
        return real(tangents[0] * _modulus_slope(primals[0], out))

    def batch(self, args, dims):
        return self(*args), 0

    def samples(self, rng):
        yield from _complex_samples(rng)


class SignComplex(Primitive):
    """x/|x| of a complex array, 0 at 0: (...) -> (...); not holomorphic; the derivative at 0 is 0."""

    def impl(self, x):
        return np.sign(x)

    def abstract_eval(self, x):
        return x.update(weak_type=False)

    def jvp(self, out, primals, tangents):
        (x,), (t,) = primals, tangents
        modulus = absolute_complex(x)
        zero = equal(modulus, 0)
        return (t - out * real(conj(out) * t)) * where(zero, 0, 1 / where(zero, 1, modulus))

    def batch(self, args, dims):
        return self(*args), 0

    def samples(self, rng):
        yield from _complex_samples(rng)


absolute_complex = AbsoluteComplex("abs_complex")
sign_complex = SignComplex("sign_complex")
absolute = pointwise("abs", np.absolute, lambda _, x: sign(x), impl=_absolute, samples=_real_samples)
sign: Pointwise = pointwise("sign", np.sign, zero_derivative=True, module=__name__, samples=_real_samples)
complex_by(absolute, absolute_complex)
complex_by(sign, sign_complex)
fabs = pointwise("fabs", np.fabs, lambda _, x: sign(x), samples=_real_samples)


def _hypot_slope(z, x):
    """x/z, and 0 at the origin."""
    zero = equal(z, 0)
    return where(zero, 0, x / where(zero, 1, z))


# the root of a mean of squares: as for a norm, the derivative at 0 is 0
deviation_from_variance = pointwise(
    "sqrt_of_variance", lambda x: np.sqrt(x), lambda y, _: _hypot_slope(y, 0.5), module=__name__, complex_ok=False,
    samples=lambda rng: _variances(rng),
)  # fmt: skip


def _variances(rng):
    for shape in [(), (3,), (2, 3), (0,)]:
        yield sample(rng.uniform(0.1, 3.0, shape))
    yield sample(rng.uniform(0.1, 3.0, 3).astype(np.float32))
    yield sample(np.array([0.0, 1.0]), nonsmooth=True, name="at 0")


hypot = also(
    pointwise(
        "hypot", np.hypot, lambda z, x, _: _hypot_slope(z, x), lambda z, _, y: _hypot_slope(z, y), complex_ok=False
    ),
    sample(np.array([0.0, 3e200]), np.array([0.0, 4e200]), nonsmooth=True, name="origin, huge"),
)


def _arctan2_by_y(_, y, x):
    """x/(x*x + y*y), without overflow. At the origin, where the angle has no limit, the derivative is nan."""
    radius = hypot(y, x)
    return (x / radius) / radius


def _arctan2_by_x(_, y, x):
    radius = hypot(y, x)
    return -(y / radius) / radius


arctan2 = pointwise("arctan2", np.arctan2, _arctan2_by_y, _arctan2_by_x, complex_ok=False)


def _power(x: Any, y: Any) -> Any:
    """x**y as NumPy means it; Python scalars give a Python scalar."""
    if type(x) not in PYTHON_SCALARS or type(y) not in PYTHON_SCALARS:
        return x**y
    if type(x) is float and x < 0 and type(y) is float and not y.is_integer():
        return np.power(x, y).item()  # nan, where Python turns complex
    try:
        return x**y
    except (ZeroDivisionError, OverflowError):
        kind = complex if complex in (type(x), type(y)) else float
        return np.power(kind(x), kind(y)).item()


def _power_by_base(z, x, y):
    """y x**(y - 1), and exactly 0 where x and y are 0, so that integer powers are right at x = 0 in every order."""
    if type(y) in PYTHON_SCALARS:
        return 0.0 if y == 0 else y * (x if y == 2 else power(x, y - 1))
    both = logical_and(equal(x, 0), equal(y, 0))
    base = astype(where(both, 1, x), dtype_of(z))
    return where(both, 0, y * power(base, astype(y - 1, dtype_of(z))))


def _power_by_exponent(z, x, y):
    """log(x) x**y, with log(0) taken as 0; so the mixed derivative, x**(y - 1) (1 + y log(x)), is 1 at (0, 1)."""
    at_zero = equal(x, 0)
    slope = z * log(astype(where(at_zero, 1, x), dtype_of(z)))
    if not isinstance(x, Tracer):
        return slope
    # 0 at x = 0, with the derivative 1 where y is 1
    return slope + astype(where(logical_and(at_zero, equal(y, 1)), x, 0), dtype_of(z))


def _power_samples(rng):
    for shapes in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0,), ()), ((2, 3), ())]:
        yield sample(rng.uniform(0.3, 2.0, shapes[0]), rng.uniform(-2.0, 2.0, shapes[1]))
    yield sample(rng.normal(size=(4, 1)), np.arange(4), name="integer exponents")
    yield sample(np.zeros(4), np.arange(4), name="integer exponents at 0")
    yield sample(np.array([0j, 1.0 - 1j]), np.arange(4)[:, None], name="integer exponents, complex")
    yield sample(rng.uniform(0.3, 2.0, 3).astype(np.float32), rng.uniform(0.3, 2.0, 3).astype(np.float32))
    yield sample(rng.uniform(0.3, 2.0, 3).astype(np.float32), 2.5, name="Python exponent")
    yield sample(2.0, rng.normal(size=3).astype(np.float32), name="Python base")
    yield sample(np.arange(1, 4), rng.normal(size=3), name="integer base")
    yield sample(rng.uniform(0.3, 2.0, 3), 2.0, name="squares")
    yield from (sample(rng.uniform(0.5, 1.5, (2, 3)), n, name=f"power {n}") for n in (-2, -1, 0, 1, 2, 3, 5))
    yield sample(np.array([0.0, -1.5]), 3, name="cubes at 0")
    yield sample(rng.normal(size=3) + 1j, 3, name="complex cubes")
    yield sample(rng.normal(size=3).astype(np.float32), 3, name="cubes")
    yield sample(0.7, -1, name="Python scalars")
    yield sample(np.arange(3), 2, name="squares of integers")
    yield sample(rng.normal(size=3) + 1j, rng.normal(size=3) + 0.5j, name="complex")
    yield sample(-rng.uniform(0.5, 2.0, 3), rng.normal(size=3) + 0.5j, name="complex exponent")


power = pointwise(
    "pow", np.power, _power_by_base, _power_by_exponent, impl=_power, samples=_power_samples, module=__name__
)


def pow_operator(x: Any, y: Any) -> Any:
    """x**y as Python and NumPy mean it."""
    if type(y) is not int:
        return power(x, y)
    if y == 2:
        return square(x)
    if y < 0 and isinstance(x, Tracer) and x.weak_type and x.dtype.kind == "i":
        return divide(1, power(x, -y))  # a Python integer to a negative power is a float, one of an array an error
    return power(x, y)


def integer_pow(x: Any, y: int) -> Any:
    """x**y for a fixed integer y. Source: jax.lax.integer_pow."""
    return pow_operator(x, operator.index(y))


__all__ = [
    "absolute", "add", "also", "arctan2", "cbrt", "clip", "complex_by", "cos", "deviation_from_variance", "divide",
    "exp", "exp2", "expm1", "fabs",
    "fmax", "fmin", "greater", "hypot", "integer_pow", "keeping_python", "log", "log10", "log1p", "log2",
    "logaddexp", "logaddexp2", "maximum", "minimum", "multiply", "negative", "not_equal", "positive", "pow_operator",
    "power", "reciprocal", "sign", "sin", "sqrt", "square", "subtract", "tanh",
]  # fmt: skip
