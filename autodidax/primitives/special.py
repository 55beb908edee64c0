"""Special functions of SciPy. This module loads scipy.special, so it is imported on first use only.

Each has derivatives of every order: families are closed under differentiation (digamma and polygamma; the ratios of
normal tails; the Bessel functions I_v), and the formulas keep their relative accuracy in the tails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax import errors
from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import dtype_of
from autodidax.core.primitive import Pointwise, Primitive, pointwise, registry, sample
from autodidax.primitives.comparison import equal, less, logical_and
from autodidax.primitives.convert import astype, real
from autodidax.primitives.elementwise import also, cos, divide, exp, log, sign, sin
from autodidax.primitives.select import where

_TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)
_ROOT_TWO_OVER_PI = math.sqrt(2.0 / math.pi)


def _not_in(name: str, operand: str) -> Callable[..., Any]:
    """The product of an operand in which a function is not differentiable here."""

    def product(_t, _z, _x, _y):
        raise errors.NondifferentiableError(
            f"{name} has no derivative in its {operand}: SciPy has no function for it",
            mend=f"keep the {operand} constant, e.g. by stop_gradient",
        )

    return product


# error functions and the normal distribution

erf = pointwise("erf", sc.erf, lambda _, x: _TWO_OVER_ROOT_PI * exp(-(x * x)))
erfc = pointwise("erfc", sc.erfc, lambda _, x: -_TWO_OVER_ROOT_PI * exp(-(x * x)))
erfinv = pointwise(
    "erfinv", sc.erfinv, lambda y, _: exp(y * y) / _TWO_OVER_ROOT_PI, domain=(-0.9, 0.9), complex_ok=False
)
erfcinv = pointwise(
    "erfcinv", sc.erfcinv, lambda y, _: exp(y * y) / -_TWO_OVER_ROOT_PI, domain=(0.1, 1.9), complex_ok=False
)
ndtr = pointwise("ndtr", sc.ndtr, lambda _, x: 0.5 * _ROOT_TWO_OVER_PI * exp(-0.5 * (x * x)))
ndtri = pointwise(
    "ndtri", sc.ndtri, lambda y, _: exp(0.5 * (y * y)) / (0.5 * _ROOT_TWO_OVER_PI), domain=(0.1, 0.9), complex_ok=False
)


def _hazard(x: Any) -> Any:
    """The normal density over the distribution function, without the cancellation of exp(-x**2/2 - log_ndtr(x))."""
    return _ROOT_TWO_OVER_PI / sc.erfcx(x * -math.sqrt(0.5))


def _tail_fraction(t: np.ndarray, k: int) -> np.ndarray:
    """k/(t + (k+1)/(t + ...)) for t > 3/2, cut off after 120 terms at its fixed point there for a real t."""
    last = k + 120
    fraction = 2.0 * last / (np.hypot(abs(t), 2.0 * math.sqrt(last)) + t)
    for n in range(last - 1, k - 1, -1):
        fraction = n / (t + fraction)
    return fraction


_TAIL = -1.5  # below it the continued fraction


class NormalTailRatio(Primitive):
    """r_k(x), by which the derivatives of log_ndtr and erfcx stay accurate in every order: (...) -> (...), k >= 1.

    With h the density over the distribution function, r_1 = h + x and r_k (r_{k+1} - x) = k, so that h' = -h r_1 and
    r_k' = r_k (r_{k+1} - r_k) = k - r_k (r_k - x). Where x is negative and the recurrence cancels, the same is read as
    the continued fraction r_k = k/(-x + (k+1)/(-x + ...)).

    Source: the repeated integrals of the complementary error function, https://dlmf.nist.gov/7.18.
    """

    def impl(self, x, *, k):
        x = np.asarray(x)
        tail = x.real < _TAIL
        near = np.where(tail, 0.0, x)
        out = near + _hazard(near)
        for n in range(1, k):
            out = n / out + near
        if tail.any():
            out = np.asarray(out)
            out[tail] = _tail_fraction(-x[tail], k)
        return out[()]

    def abstract_eval(self, x, *, k):
        return ShapedArray(x.shape, sc.erfcx(np.ones(1, x.dtype)).dtype)

    def jvp(self, out, primals, tangents, *, k):
        x = primals[0]
        tail = out * (self(x, k=k + 1) - out)
        near = k - out * (
            ndtr_hazard(x) if k == 1 else divide(k - 1.0, self(x, k=k - 1))
        )  # r_k - x, without cancelling
        return tangents[0] * where(less(real(x), _TAIL), tail, near)

    def batch(self, args, dims, *, k):
        return self(*args, k=k), 0

    def samples(self, rng):
        for k in (1, 2, 4):
            yield sample(np.array([-30.0, -8.0, -2.1, -1.9, -0.3, 0.0, 1.5, 6.0]), k=k)
        yield sample(rng.normal(), k=1)
        yield sample(rng.normal(size=(0, 2)), k=1)
        yield sample(np.array([-8.0, -1.0, 2.0], np.float32), k=2)


_TAILS = sample(np.array([-30.0, -8.0, 8.0]), name="tails")
normal_tail_ratio = NormalTailRatio("normal_tail_ratio")
erfcx = also(
    pointwise("erfcx", sc.erfcx, lambda y, x: y * (-math.sqrt(2.0) * normal_tail_ratio(-math.sqrt(2.0) * x, k=1))),
    sample(np.array([-2.5, 8.0, 30.0]), name="tails"),
)
log_ndtr = also(pointwise("log_ndtr", sc.log_ndtr, lambda _, x: ndtr_hazard(x)), _TAILS)
ndtr_hazard: Pointwise = also(pointwise("ndtr_hazard", _hazard, lambda y, x: -(y * normal_tail_ratio(x, k=1))), _TAILS)

# logistic functions

expit: Pointwise = pointwise("expit", sc.expit, lambda y, x: y * expit(-x), complex_ok=False)
logit = pointwise("logit", sc.logit, lambda _, x: divide(1.0, x * (1.0 - x)), domain=(0.1, 0.9), complex_ok=False)
log_expit = pointwise("log_expit", sc.log_expit, lambda _, x: expit(-x), complex_ok=False)

# products with logarithms, entropies


def _quotient(z, x, y):
    """x/y, and 0 where both are 0, in the dtype of z."""
    both = logical_and(equal(x, 0), equal(y, 0))
    return where(both, 0, divide(x, astype(where(both, 1, y), dtype_of(z))))


def _with_edges(p: Pointwise, zero: float) -> Pointwise:
    return also(
        p,
        sample(np.array([0.5, 1.5], np.float32), 2.0, name="Python scalar"),
        sample(2.0, np.array([0.5, 1.5], np.float32), name="Python scalar"),
        sample(np.array([0.0, 0.0]), np.array([0.5, zero]), nonsmooth=True, name="at 0"),
    )


xlogy = pointwise(
    "xlogy", sc.xlogy, lambda z, _, y: astype(log(y), dtype_of(z)), _quotient, domain=[(-2.0, 2.0), (0.3, 2.0)]
)
xlog1py: Pointwise = pointwise(
    "xlog1py", sc.xlog1py,
    lambda z, _, y: astype(xlog1py(1.0, y), dtype_of(z)),  # NumPy's log1p loses the digits of small complex numbers
    lambda z, x, y: _quotient(z, x, 1.0 + y),
    domain=[(-2.0, 2.0), (-0.7, 2.0)],
)  # fmt: skip
entr = pointwise("entr", sc.entr, lambda _, x: -log(x) - 1.0, domain=(0.1, 2.0), complex_ok=False)
rel_entr = pointwise(
    "rel_entr", sc.rel_entr,
    lambda _, x, y: log(divide(x, y)) + 1.0,
    lambda z, x, y: -_quotient(z, x, y),
    domain=(0.1, 2.0), complex_ok=False,
)  # fmt: skip
kl_div = pointwise(
    "kl_div", sc.kl_div,
    lambda _, x, y: log(divide(x, y)),
    lambda z, x, y: 1.0 - _quotient(z, x, y),
    domain=(0.1, 2.0), complex_ok=False,
)  # fmt: skip
for p, zero in [(xlogy, 0.0), (xlog1py, -1.0), (rel_entr, 0.0), (kl_div, 0.0)]:
    _with_edges(p, zero)

# gamma and its kin


def _polygamma(n: Any, x: Any) -> Any:
    """(-1)**(n+1) n! zeta(n+1, x), digamma for n = 0; a Python n keeps the dtype of x."""
    if type(n) is int:
        return sc.digamma(x) if n == 0 else (-1.0) ** (n + 1) * float(math.factorial(n)) * sc.zeta(n + 1.0, x)
    higher = (-1.0) ** (n + 1) * sc.gamma(n + 1.0) * sc.zeta(n + 1.0, x)
    return np.where(np.equal(n, 0), sc.digamma(x), higher)[()]


def _order_samples(low, high):
    def samples(rng):
        for order in (0, 1, 3):
            yield sample(order, rng.uniform(low, high, (2, 3)))
        yield sample(2, rng.uniform(low, high))
        yield sample(1, rng.uniform(low, high, 3).astype(np.float32))
        yield sample(rng.permutation(3)[:, None], rng.uniform(low, high, 4), name="array of orders")
        yield sample(np.array(1), rng.uniform(low, high, (0, 2)))

    return samples


def _zeta_samples(rng):
    for shapes in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0,), ())]:
        yield sample(rng.integers(2, 5, shapes[0]), rng.uniform(0.5, 3.0, shapes[1]))
    yield sample(2.5, rng.uniform(0.5, 3.0, 3).astype(np.float32))


def _riemann_samples(rng):
    for shape in [(), (2, 3), (0,)]:
        yield sample(rng.uniform(1.5, 4.0, shape))
    yield sample(rng.uniform(1.5, 4.0, 3).astype(np.float32))


zeta: Pointwise = pointwise(
    "zeta", sc.zeta, products=(_not_in("zeta", "first operand"), lambda t, _z, s, q: t * (-s * zeta(s + 1, q))),
    nin=2, samples=_zeta_samples, module=__name__,
)  # fmt: skip
riemann_zeta = pointwise(
    "riemann_zeta", lambda s: sc.zeta(s), samples=_riemann_samples, module=__name__,
    nondifferentiable="SciPy has no derivative of the Riemann zeta function",
)  # fmt: skip
gammaln = pointwise("gammaln", sc.gammaln, lambda _, x: digamma(x), domain=(0.3, 4.0), complex_ok=False)
loggamma = pointwise("loggamma", sc.loggamma, lambda _, x: digamma(x), domain=(0.3, 4.0), complex_ok=False)
gamma = pointwise("gamma", sc.gamma, lambda y, x: y * digamma(x), domain=(0.3, 4.0), complex_ok=False)
digamma: Pointwise = pointwise("digamma", sc.digamma, lambda _, x: polygamma(1, x), domain=(0.3, 4.0), complex_ok=False)
polygamma: Pointwise = pointwise(
    "polygamma", sc.polygamma, impl=_polygamma, nin=2, samples=_order_samples(0.5, 4.0), module=__name__,
    products=(_not_in("polygamma", "order"), lambda t, _z, n, x: t * polygamma(n + 1, x)),
)  # fmt: skip


def _beta_slope(z: Any, a: Any, b: Any) -> Any:
    """The derivative of beta(a, b) in a: beta(a, b) (digamma(a) - digamma(a + b)).

    At a + b = 0, -1, ... and close by the second product is 0 times infinity, or loses its digits. There digamma and
    1 / gamma are reflected: digamma(s) / gamma(s) = gamma(1 - s) (digamma(1 - s) sin(pi s) / pi - cos(pi s)).

    Source: https://dlmf.nist.gov/5.5.
    """
    s = a + b
    low = logical_and(less(s, 0.01), less(-100.0, s))
    u, v, w = where(low, a, 1.0), where(low, b, 1.0), where(low, 1.0 - s, 1.0)
    turned = cos(math.pi * w) + digamma(w) * sin(math.pi * w) / math.pi  # by half a turn beside s
    reflected = -(gamma(u) * gamma(v) * gamma(w) * turned)
    return z * (digamma(a) - where(low, 0.0, digamma(where(low, 1.0, s)))) + where(low, reflected, 0.0)


beta = also(
    pointwise(
        "beta", sc.beta, _beta_slope, lambda z, a, b: _beta_slope(z, b, a), domain=(0.3, 4.0), complex_ok=False
    ),
    sample(np.array([0.3, 1.7, 0.6]), np.array([-0.3, -2.7, 0.4]), name="sum of 0, -1, 1"),
)  # fmt: skip
betaln = pointwise(
    "betaln", sc.betaln,
    lambda _, a, b: digamma(a) - digamma(a + b),
    lambda _, a, b: digamma(b) - digamma(a + b),
    domain=(0.3, 4.0), complex_ok=False,
)  # fmt: skip

# modified Bessel functions of the first kind, and the same times exp(-|x|)

i0 = pointwise("i0", sc.i0, lambda _, x: i1(x), complex_ok=False)
i1: Pointwise = pointwise("i1", sc.i1, lambda _, x: 0.5 * (i0(x) + iv(2, x)), complex_ok=False)
iv: Pointwise = pointwise(
    "iv", sc.iv, nin=2, samples=_order_samples(0.5, 4.0), module=__name__,
    products=(_not_in("iv", "order"), lambda t, _z, v, x: t * (0.5 * (iv(v - 1, x) + iv(v + 1, x)))),
)  # fmt: skip
i0e = pointwise("i0e", sc.i0e, lambda y, x: i1e(x) - sign(x) * y, complex_ok=False)
i1e: Pointwise = pointwise("i1e", sc.i1e, lambda y, x: 0.5 * (i0e(x) + ive(2, x)) - sign(x) * y, complex_ok=False)
ive: Pointwise = pointwise(
    "ive", sc.ive, nin=2, samples=_order_samples(0.5, 4.0), module=__name__,
    products=(
        _not_in("ive", "order"),
        lambda t, z, v, x: t * (0.5 * (ive(v - 1, x) + ive(v + 1, x)) - sign(x) * z),
    ),
)  # fmt: skip

#: operands in which a primitive has no derivative, by name of the primitive
CONSTANT_OPERANDS = {"zeta": (0,), "polygamma": (0,), "iv": (0,), "ive": (0,)}

#: SciPy's function -> primitive
BY_FUNCTION: dict[Any, Primitive] = {
    p.numpy_function: p for p in registry.in_module(__name__) if p.numpy_function is not None
}
