"""Struve functions, plain and modified, of constant order, and the integrals of those of order 0."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.comparison import equal, less
from autodidax.primitives.contraction import matmul
from autodidax.primitives.convert import astype
from autodidax.primitives.elementwise import absolute, also, power
from autodidax.primitives.select import where
from autodidax.primitives.shape import expand_dims
from autodidax.primitives.special.orders import order_samples
from autodidax.primitives.special.polynomials import constant_in

_NODES, _WEIGHTS = (0.5 * a + b for a, b in zip(np.polynomial.legendre.leggauss(14), (0.5, 0.0), strict=True))


def mean_between(f: Any, x: Any) -> Any:
    """The integral of f(s x) over s from 0 to 1, for smooth f and small x: it is F(x)/x without the division."""
    at = expand_dims(x, len(shape_of(x))) * astype(_NODES, dtype_of(x))
    return matmul(f(at), astype(_WEIGHTS, dtype_of(x)))


def _factor(v: Any) -> Any:
    return sc.rgamma(v + 1.5) / math.sqrt(math.pi)


# the coefficient of the inhomogeneous term (x/2)**v of Struve's equation
struve_factor = pointwise(
    "struve_factor", _factor, domain=(-0.5, 4.0), module=__name__, complex_ok=False,
    nondifferentiable="the order of Struve functions is constant",
)  # fmt: skip


def _inhomogeneous(v: Any, x: Any) -> Any:
    return struve_factor(v) * power(0.5 * x, v)


def _struve_slope(z: Any, v: Any, x: Any) -> Any:
    """By the recurrence that does not cancel: for small x without a division, for large x without growing terms.

    Of order 0 without a negative order, whose terms are infinite at 0.
    """
    near, none = less(absolute(x), 2.0), equal(v, 0)
    small, large, order = where(near, x, 1.0), where(near, 2.0, x), where(none, 1, v)
    by_sum = 0.5 * (struve(order - 1, small) - struve(v + 1, small) + _inhomogeneous(v, small))
    other = where(near, by_sum, struve(order - 1, large) - v * z / large)
    return where(none, (2.0 / math.pi) - struve(1, x), other)


def _modstruve_slope(v: Any, x: Any) -> Any:
    none = equal(v, 0)
    other = 0.5 * (modstruve(where(none, 1, v) - 1, x) + modstruve(v + 1, x) + _inhomogeneous(v, x))
    return where(none, (2.0 / math.pi) + modstruve(1, x), other)


def _samples(rng):
    yield from order_samples(0.5, 4.0)(rng)
    yield sample(np.array([0, 1, 2]), np.array([-1.5, -3.0, -0.4]), name="negative arguments")
    yield sample(np.array([0, 3]), np.array([[12.0], [40.0]]), name="large arguments")


struve: Pointwise = pointwise(
    "struve", sc.struve, nin=2, samples=_samples, module=__name__,
    products=(constant_in("struve", "order", 2), lambda t, z, v, x: t * _struve_slope(z, v, x)),
)  # fmt: skip
modstruve: Pointwise = pointwise(
    "modstruve", sc.modstruve, nin=2, samples=_samples, module=__name__,
    products=(
        constant_in("modstruve", "order", 2),
        lambda t, _z, v, x: t * _modstruve_slope(v, x),
    ),
)  # fmt: skip


def _of_order_0(p: Pointwise, x: Any) -> Any:
    return astype(p(0, x), dtype_of(x))


itstruve0 = also(
    pointwise("itstruve0", sc.itstruve0, lambda _, x: _of_order_0(struve, x), module=__name__, complex_ok=False),
    sample(np.array([0.0, 12.0]), name="at 0, large"),
)
itmodstruve0 = also(
    pointwise(
        "itmodstruve0",
        sc.itmodstruve0,
        lambda _, x: astype(modstruve(0, x), dtype_of(x)),
        module=__name__,
        complex_ok=False,
    ),
    sample(np.array([0.0, 12.0]), name="at 0, large"),
)


def _quotient(x: Any) -> Any:
    """struve(0, x)/x, also close to 0."""
    near = less(absolute(x), 1.0)
    mean = mean_between(lambda y: (2.0 / math.pi) - astype(struve(1, y), dtype_of(y)), where(near, x, 0.5))
    large = where(near, 1.0, x)
    return where(near, mean, _of_order_0(struve, large) / large)


it2struve0 = also(
    pointwise("it2struve0", sc.it2struve0, lambda _, x: -_quotient(x), module=__name__, complex_ok=False),
    sample(np.array([0.0, 1e-5, 12.0]), name="at 0, large"),
)
for p in (itstruve0, itmodstruve0, it2struve0):
    p.checked = "beyond 20 SciPy computes it to some eight digits only, its derivatives to all"
