"""Derivatives of Bessel functions in their order, and of the scaled ones in their argument, as one primitive.

In the order: Bessel functions are entire in it, and smooth on a scale that is known: one where the argument is the
larger, 1 / log(2 v / x) where the order is. So the derivative is that of the polynomial through the function's values
at 25 orders around v, in steps of a third of that scale. Its error is 1e-15 of the function's size there, and rounding
adds ten times that of the values; it holds in the whole plane of orders and arguments, complex ones too.

In the argument: the scaled functions, exp(x) K_v(x) and their kin, are slow where the recurrences have terms that
cancel. There the asymptotic expansion is differentiated term by term.

Source: https://dlmf.nist.gov/10.40, 10.17, 10.29.5; the weights are those of B. Fornberg, "Generation of finite
difference formulas on arbitrarily spaced grids", Mathematics of Computation 51 (1988), 699-706.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax import errors
from autodidax.core.avals import ShapedArray, broadcast_shapes, plain_aval
from autodidax.core.primitive import Primitive, align_batch, sample

HALF_WIDTH = 12  # orders on each side
STEP = 0.3  # in units of the scale
HIGHEST = 2  # derivatives in the order beyond lose too many digits to rounding


@lru_cache
def weights(a: int) -> tuple[float, ...]:
    """Of the values at -12, ..., 12: they give derivative number a at 0 of the polynomial through them."""
    points = [Fraction(k) for k in range(-HALF_WIDTH, HALF_WIDTH + 1)]
    out = []
    for k in points:  # derivative a at 0 of Lagrange's polynomial that is 1 at k
        polynomial = [Fraction(1)]
        for p in points:
            if p != k:
                shifted = [Fraction(0), *polynomial]
                scaled = [*(c * p for c in polynomial), Fraction(0)]
                polynomial = [(s - c) / (k - p) for s, c in zip(shifted, scaled, strict=True)]
        out.append(float(polynomial[a] * math.factorial(a)))
    return tuple(out)


def derivative_in_order(f: Callable[[Any, Any], Any], v: Any, x: Any, a: int) -> Any:
    """Derivative number a in v of f(v, x), an entire function of v that varies as a Bessel function does."""
    size, reach = abs(x), 2.0 * (3.0 + abs(v))
    small = size < reach
    scale = 1.0 - np.log(np.where(small & (size > 0), size / reach, 1.0)) + 0.5 * abs(np.angle(x))
    step = STEP / scale
    step = (v + step) - v  # so that v + step is exact
    total = 0.0
    for k, weight in enumerate(weights(a), -HALF_WIDTH):
        if weight:
            total = total + weight * f(v + k * step, x)
    return total / step**a


# the scaled functions, differentiated n times in the argument


def _expanded(v: Any, z: Any, n: int, turn: Any) -> Any:
    """Derivative number n of z**-1/2 times the sum of a_k(v) (turn / z)**k, for large z."""
    term = z ** (-0.5 - n) * (-1.0) ** n * math.prod(0.5 + j for j in range(n))
    total, squared = 1.0 * term, 4.0 * v * v
    for k in range(1, 41):  # where |z| is 25 or more the terms fall this far and beyond
        term = term * ((squared - (2 * k - 1) ** 2) / (8.0 * k)) * (turn / z) * ((k - 0.5 + n) / (k - 0.5))
        total = total + term
    return total


def _recurred(f: Any, v: Any, z: Any, n: int, signs: tuple[float, float], rate: Any) -> Any:
    """Derivative number n in z of f = exp(rate z) g, where 2 g_v' = signs[0] g_(v-1) + signs[1] g_(v+1)."""
    total = 0.0
    for k in range(n + 1):
        for j in range(k + 1):
            weight = math.comb(n, k) * math.comb(k, j) * 0.5**k * signs[0] ** (k - j) * signs[1] ** j
            total = total + weight * rate ** (n - k) * f(v - k + 2 * j, z)
    return total


def _scaled(f: Any, signs: Any, rate: Any, turn: Any, factor: Any) -> Callable[[Any, Any, int], Any]:
    def derivative(v: Any, z: Any, n: int) -> Any:
        if n == 0:
            return f(v, z)
        large = (np.real(z) >= 0) & (abs(z) > np.maximum(25.0, 0.5 * v * v))
        near = 0.0 if large.all() else _recurred(f, v, np.where(large, 1.0, z), n, signs, rate)
        far = factor(v) * _expanded(v, np.where(large, z, 1.0), n, turn) if large.any() else 0.0
        return np.where(large, far, near)

    return derivative


def _ive(v: Any, x: Any, n: int) -> Any:
    """Of exp(-|x|) I_v(x), for real x; at 0 the sign is taken as 0."""
    if n == 0:
        return sc.ive(v, x)
    side = np.sign(x)
    large = abs(x) > np.maximum(25.0, 0.5 * v * v)
    near = _recurred(sc.ive, v, np.where(large, side, x), n, (1.0, 1.0), -side)
    if not large.any():
        return near
    parity = np.where(v == np.floor(v), np.where(v % 2 == 0, 1.0, -1.0), np.nan) * (-1.0) ** n
    far = math.sqrt(0.5 / math.pi) * _expanded(v, np.where(large, abs(x), 1.0), n, -1.0)
    return np.where(large, np.where(side < 0, parity * far, far), near)


def _hankel_factor(sign: float) -> Callable[[Any], Any]:
    return lambda v: math.sqrt(2.0 / math.pi) * np.exp(-0.5j * sign * math.pi * (v + 0.5))


#: name -> f(v, z, n): derivative number n in the argument; only n = 0 is used of those with a recurrence of their own
PLAIN: dict[str, Callable[[Any, Any, int], Any]] = {
    **{f.__name__: (lambda v, z, _n, f=f: f(v, z)) for f in (sc.jv, sc.yv, sc.iv, sc.kv, sc.hankel1, sc.hankel2)},
    "kve": _scaled(sc.kve, (-1.0, -1.0), 1.0, 1.0, lambda _v: math.sqrt(0.5 * math.pi)),
    "hankel1e": _scaled(sc.hankel1e, (1.0, -1.0), -1j, 1j, _hankel_factor(1.0)),
    "hankel2e": _scaled(sc.hankel2e, (1.0, -1.0), 1j, -1j, _hankel_factor(-1.0)),
    "ive": _ive,
}
#: 2 g_v' in the argument as multiples of g_(v-1) and g_(v+1)
RECURRENCES = {
    "jv": (0.5, -0.5), "yv": (0.5, -0.5), "iv": (0.5, 0.5), "kv": (-0.5, -0.5),
    "hankel1": (0.5, -0.5), "hankel2": (0.5, -0.5),
}  # fmt: skip


class BesselDerivative(Primitive):
    """Derivative number a in the order and n in the argument of a Bessel function: (...), (...) -> (...).

    Orders and arguments broadcast; the dtype is that of the function. Source: scipy.special's function of that name.
    """

    costly = True  # quadratures

    def impl(self, v, x, *, function, a, n):
        dtype = self._dtype(function, plain_aval(v), plain_aval(x))
        v = np.asarray(v, np.float64)
        x = np.asarray(x)
        x = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
        f = PLAIN[function]
        with np.errstate(all="ignore"):
            out = f(v, x, n) if a == 0 else derivative_in_order(lambda w, z: f(w, z, n), v, x, a)
        return np.asarray(out).astype(dtype)[()]

    def _dtype(self, function, *avals):
        ones = [a.dtype.type(1).item() if a.weak_type else np.ones(1, a.dtype) for a in avals]
        return np.asarray(getattr(sc, function)(*ones)).dtype

    def abstract_eval(self, v, x, *, function, a, n):
        return ShapedArray(broadcast_shapes(function, v.shape, x.shape), self._dtype(function, v, x))

    def jvp(self, out, primals, tangents, *, function, a, n):
        (v, x), (tv, tx) = primals, tangents
        total = None
        if tv is not None:
            if a == HIGHEST:
                raise errors.NondifferentiableError(
                    f"{function} has no more than {HIGHEST} derivatives in its order here: digits are lost in each",
                    mend="keep the order constant, e.g. by stop_gradient",
                )
            total = tv * self(v, x, function=function, a=a + 1, n=n)
        if tx is not None:
            if function in RECURRENCES:
                low, high = RECURRENCES[function]
                below = self(v - 1, x, function=function, a=a, n=n)
                slope = low * below + high * self(v + 1, x, function=function, a=a, n=n)
            else:
                slope = self(v, x, function=function, a=a, n=n + 1)
            total = tx * slope if total is None else total + tx * slope
        return total

    def batch(self, args, dims, **params):
        return self(*align_batch(args, dims), **params), 0

    def samples(self, rng):
        for function in PLAIN:
            yield sample(rng.integers(0, 4, 3), rng.uniform(0.5, 1.5, 3), function=function, a=1, n=0)
        for function in ("kve", "ive", "hankel1e", "hankel2e"):
            yield sample(rng.uniform(0.5, 2.0, 2), rng.uniform(0.5, 4.0, 2), function=function, a=0, n=1)
            yield sample(1.5, np.array([30.0, 500.0]), function=function, a=0, n=2, name="large")
        yield sample(2, np.array([-3.0, -40.0]), function="ive", a=0, n=1, name="negative")
        yield sample(np.array([[0], [7]]), np.array([0.2, 5.0, 20.0]), function="jv", a=1, n=0, name="broadcast")
        yield sample(2, rng.uniform(1.0, 2.0), function="kv", a=1, n=0)
        yield sample(np.array(1), rng.uniform(1.0, 2.0, (0, 2)), function="jv", a=1, n=0)
        yield sample(2, rng.uniform(1.0, 2.0, 3).astype(np.float32), function="jv", a=1, n=0)
        yield sample(2, rng.uniform(2.0, 3.0, 2) + 1j, function="kve", a=1, n=1, name="complex")


bessel_derivative = BesselDerivative("bessel_derivative")


def in_order(function: str) -> Callable[..., Any]:
    """The product of the order of a Bessel function of (order, argument)."""
    return lambda t, _z, v, x: t * bessel_derivative(v, x, function=function, a=1, n=0)


def in_argument(function: str) -> Callable[..., Any]:
    """The product of the argument of a scaled Bessel function."""
    return lambda t, _z, v, x: t * bessel_derivative(v, x, function=function, a=0, n=1)
