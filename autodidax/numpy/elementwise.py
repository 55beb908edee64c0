"""The ufuncs under NumPy's names, and the elementwise functions that NumPy writes in Python."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import get_aval
from autodidax.numpy.dispatch import NoValue, check_casting, given, numpy_function, operand, refuse, refuse_out, strong
from autodidax.numpy.ufuncs import cast, lookup, public
from autodidax.primitives import convert, rounding, trigonometric
from autodidax.primitives import elementwise as ew

add = public(np.add)
subtract = public(np.subtract)
multiply = public(np.multiply)
divide = true_divide = public(np.divide)
floor_divide = public(np.floor_divide)
remainder = mod = public(np.remainder)
fmod = public(np.fmod)
divmod = public(np.divmod)
modf = public(np.modf)
frexp = public(np.frexp)
ldexp = public(np.ldexp)
power = pow = public(np.power)
float_power = public(np.float_power)
negative = public(np.negative)
positive = public(np.positive)
reciprocal = public(np.reciprocal)
square = public(np.square)
sqrt = public(np.sqrt)
cbrt = public(np.cbrt)
absolute = abs = public(np.absolute)
fabs = public(np.fabs)
sign = public(np.sign)
copysign = public(np.copysign)
signbit = public(np.signbit)
heaviside = public(np.heaviside)
nextafter = public(np.nextafter)
spacing = public(np.spacing)
conjugate = conj = public(np.conjugate)

exp = public(np.exp)
exp2 = public(np.exp2)
expm1 = public(np.expm1)
log = public(np.log)
log2 = public(np.log2)
log10 = public(np.log10)
log1p = public(np.log1p)
logaddexp = public(np.logaddexp)
logaddexp2 = public(np.logaddexp2)

sin = public(np.sin)
cos = public(np.cos)
tan = public(np.tan)
arcsin = asin = public(np.arcsin)
arccos = acos = public(np.arccos)
arctan = atan = public(np.arctan)
arctan2 = atan2 = public(np.arctan2)
sinh = public(np.sinh)
cosh = public(np.cosh)
tanh = public(np.tanh)
arcsinh = asinh = public(np.arcsinh)
arccosh = acosh = public(np.arccosh)
arctanh = atanh = public(np.arctanh)
hypot = public(np.hypot)
degrees = public(np.degrees)
radians = public(np.radians)
deg2rad = public(np.deg2rad)
rad2deg = public(np.rad2deg)

maximum = public(np.maximum)
minimum = public(np.minimum)
fmax = public(np.fmax)
fmin = public(np.fmin)
floor = public(np.floor)
ceil = public(np.ceil)
trunc = public(np.trunc)
rint = public(np.rint)

greater = public(np.greater)
greater_equal = public(np.greater_equal)
less = public(np.less)
less_equal = public(np.less_equal)
equal = public(np.equal)
not_equal = public(np.not_equal)
logical_and = public(np.logical_and)
logical_or = public(np.logical_or)
logical_xor = public(np.logical_xor)
logical_not = public(np.logical_not)
isnan = public(np.isnan)
isinf = public(np.isinf)
isfinite = public(np.isfinite)

bitwise_and = public(np.bitwise_and)
bitwise_or = public(np.bitwise_or)
bitwise_xor = public(np.bitwise_xor)
bitwise_not = bitwise_invert = invert = public(np.invert)
left_shift = bitwise_left_shift = public(np.left_shift)
right_shift = bitwise_right_shift = public(np.right_shift)
bitwise_count = public(np.bitwise_count)
gcd = public(np.gcd)
lcm = public(np.lcm)


@numpy_function
def real(val: Any) -> Any:
    """Real part.

    Source: numpy.real.
    """
    return convert.real(operand(val))


@numpy_function
def imag(val: Any) -> Any:
    """Imaginary part; zeros for a real array.

    Source: numpy.imag.
    """
    val = operand(val)
    aval = get_aval(val)
    if aval.weak_type and aval.dtype.kind != "c":
        return aval.dtype.type(0).item()  # (1.5).imag is a Python number too
    return convert.imag(val)


@numpy_function
def angle(z: Any, deg: bool = False) -> Any:
    """Argument of a complex number, in radians or degrees; 0 or pi for a real one.

    Source: numpy.angle.
    """
    z = operand(z)
    parts = (convert.imag(z), convert.real(z)) if get_aval(z).dtype.kind == "c" else (0, z)
    out = lookup(np.arctan2)(*parts)
    return out * (180 / np.pi) if deg else out


@numpy_function
def clip(
    a: Any, a_min: Any = NoValue, a_max: Any = NoValue, out: Any = None, *, min: Any = NoValue, max: Any = NoValue,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """Entries below a_min raised to it, those above a_max lowered to it; at a bound the derivative is shared.

    Source: numpy.clip.
    """
    refuse_out("clip", out)
    if (min is not NoValue or max is not NoValue) and (a_min is not NoValue or a_max is not NoValue):
        raise errors.ArgumentError("clip: bounds by both pairs of names", mend="give a_min and a_max, or min and max")
    if (a_min is NoValue) != (a_max is NoValue):
        missing = "a_min" if a_min is NoValue else "a_max"
        raise errors.ArgumentError(f"clip: {missing} is missing", mend=f"give {missing}=None, or min= or max= alone")
    low = a_min if a_min is not NoValue else min
    high = a_max if a_max is not NoValue else max
    dtype, casting = kwargs.pop("dtype", None), kwargs.pop("casting", "same_kind")
    check_casting(casting)
    refuse("clip", **{k: v for k, v in kwargs.items() if k not in ("order", "subok")})
    if dtype is not None:
        a, low, high = (cast("clip", operand(x), np.dtype(dtype), casting) if given(x) else x for x in (a, low, high))
    a = operand(a)
    if given(low) and given(high):
        return strong(ew.clip(a, operand(low), operand(high)))
    if given(low):
        return lookup(np.maximum)(a, operand(low))
    return lookup(np.minimum)(a, operand(high)) if given(high) else strong(a)


@numpy_function
def round(a: Any, decimals: Any = 0, out: Any = None) -> Any:
    """Rounded to a number of decimals, halves to even; piecewise constant, so its derivative is zero.

    Source: numpy.round.
    """
    refuse_out("round", out)
    return rounding.round_p(operand(a), decimals=operator.index(decimals))


around = round


@numpy_function
def fix(x: Any, out: Any = None) -> Any:
    """Rounded towards zero; piecewise constant, so its derivative is zero.

    Source: numpy.fix.
    """
    refuse_out("fix", out)
    return lookup(np.trunc)(operand(x))


@numpy_function
def sinc(x: Any) -> Any:
    """sin(pi x)/(pi x), 1 at 0; right at 0 in every order.

    Source: numpy.sinc.
    """
    return trigonometric.sinc(operand(x))


__all__ = [
    "abs", "absolute", "acos", "acosh", "add", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan",
    "arctan2", "arctanh", "around", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_count",
    "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "cbrt", "ceil", "clip", "conj", "conjugate", "copysign", "cos", "cosh", "deg2rad", "degrees", "divide",
    "divmod", "equal", "exp", "exp2", "expm1", "fabs", "fix", "float_power", "floor", "floor_divide", "fmax",
    "fmin", "fmod", "frexp", "gcd", "greater", "greater_equal", "heaviside", "hypot", "imag", "invert",
    "isfinite", "isinf", "isnan", "lcm", "ldexp", "left_shift", "less", "less_equal", "log", "log10", "log1p",
    "log2", "logaddexp", "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum",
    "minimum", "mod", "modf", "multiply", "negative", "nextafter", "not_equal", "positive", "pow", "power",
    "rad2deg", "radians", "real", "reciprocal", "remainder", "right_shift", "rint", "round", "sign", "signbit",
    "sin", "sinc", "sinh", "spacing", "sqrt", "square", "subtract", "tan", "tanh", "true_divide", "trunc",
]  # fmt: skip
