"""Bessel functions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import scipy.special

from autodidax.numpy.dispatch import function_for, operand
from autodidax.primitives.special import bessel as _primitives
from autodidax.primitives.special import bessel_integrals as _integrals
from autodidax.scipy.special.publishing import public
from autodidax.scipy.special.several import public_several

j0 = public(_primitives.j0, "Bessel function of the first kind, order 0.")
j1 = public(_primitives.j1, "Bessel function of the first kind, order 1.")
jv = jn = public(_primitives.jv, "Bessel function of the first kind, jv(v, z); twice differentiable in the order.")
jve = public(_primitives.jve, "exp(-|Im z|) jv(v, z).")
y0 = public(_primitives.y0, "Bessel function of the second kind, order 0.")
y1 = public(_primitives.y1, "Bessel function of the second kind, order 1.")
yn = public(_primitives.yn, "Bessel function of the second kind, yn(n, x), of integer order.")
yv = public(_primitives.yv, "Bessel function of the second kind, yv(v, z); twice differentiable in the order.")
yve = public(_primitives.yve, "exp(-|Im z|) yv(v, z).")
i0 = public(_primitives.i0, "Modified Bessel function of the first kind, order 0.")
i0e = public(_primitives.i0e, "exp(-|x|) i0(x).")
i1 = public(_primitives.i1, "Modified Bessel function of the first kind, order 1.")
i1e = public(_primitives.i1e, "exp(-|x|) i1(x).")
iv = public(_primitives.iv, "Modified Bessel function of the first kind, iv(v, z); twice differentiable in the order.")
ive = public(_primitives.ive, "exp(-|Re z|) iv(v, z).")
k0 = public(_primitives.k0, "Modified Bessel function of the second kind, order 0.")
k0e = public(_primitives.k0e, "exp(x) k0(x).")
k1 = public(_primitives.k1, "Modified Bessel function of the second kind, order 1.")
k1e = public(_primitives.k1e, "exp(x) k1(x).")
kn = public(_primitives.kn, "Modified Bessel function of the second kind, kn(n, x), of integer order.")
kv = public(_primitives.kv, "Modified Bessel function of the second kind, kv(v, z); twice differentiable in the order.")
kve = public(_primitives.kve, "exp(z) kv(v, z).")
hankel1 = public(_primitives.hankel1, "Hankel function of the first kind, jv(v, z) + i yv(v, z).")
hankel1e = public(_primitives.hankel1e, "exp(-i z) hankel1(v, z).")
hankel2 = public(_primitives.hankel2, "Hankel function of the second kind, jv(v, z) - i yv(v, z).")
hankel2e = public(_primitives.hankel2e, "exp(i z) hankel2(v, z).")


def _nth_derivative(plain: Callable[..., Any], f: Callable[..., Any], low: float, high: float) -> Callable[..., Any]:
    """Derivative number n in the argument, from 2 f_v' = low f_(v-1) + high f_(v+1)."""

    def function(v: Any, z: Any, n: Any = 1) -> Any:
        n = operator.index(n)
        if n < 0:
            return plain(v, 1.0, n)  # SciPy's own error
        v, z = operand(v), operand(z)
        if n == 0:
            return f(v, z)
        terms = [
            math.comb(n, k) * (0.5 * low) ** (n - k) * (0.5 * high) ** k * f(v - n + 2 * k, z) for k in range(n + 1)
        ]
        return sum(terms[1:], terms[0])

    function.__name__ = function.__qualname__ = plain.__name__
    function.__doc__ = f"Derivative number n of {f.__name__}(v, z) in z.\n\nSource: scipy.special.{plain.__name__}."
    return function_for(plain)(function)


jvp = _nth_derivative(scipy.special.jvp, jv, 1.0, -1.0)
yvp = _nth_derivative(scipy.special.yvp, yv, 1.0, -1.0)
ivp = _nth_derivative(scipy.special.ivp, iv, 1.0, 1.0)
kvp = _nth_derivative(scipy.special.kvp, kv, -1.0, -1.0)
h1vp = _nth_derivative(scipy.special.h1vp, hankel1, 1.0, -1.0)
h2vp = _nth_derivative(scipy.special.h2vp, hankel2, 1.0, -1.0)

itj0y0 = public_several(_integrals.itj0y0, "Integrals of j0 and y0 from 0 to x.")
iti0k0 = public_several(_integrals.iti0k0, "Integrals of i0 and k0 from 0 to x.")
it2j0y0 = public_several(_integrals.it2j0y0, "Integrals of (1 - j0(t))/t from 0 to x, of y0(t)/t from x on.")
it2i0k0 = public_several(_integrals.it2i0k0, "Integrals of (i0(t) - 1)/t from 0 to x, of k0(t)/t from x on.")
besselpoly = public(_primitives.besselpoly, "Integral of x**lmb jv(nu, 2 a x) over x from 0 to 1, differentiable in a.")
wright_bessel = public(_integrals.wright_bessel, "Sum of x**k/(k! gamma(a k + b)), wright_bessel(a, b, x).")
log_wright_bessel = public(_integrals.log_wright_bessel, "Logarithm of wright_bessel(a, b, x).")
