"""The gamma function and its kin: polygamma, zeta, beta."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.comparison import less, logical_and
from autodidax.primitives.elementwise import also, cos, sin
from autodidax.primitives.select import where
from autodidax.primitives.special.orders import not_in, order_samples


def _polygamma(n: Any, x: Any) -> Any:
    """(-1)**(n+1) n! zeta(n+1, x), digamma for n = 0; a Python n keeps the dtype of x."""
    if type(n) is int:
        return sc.digamma(x) if n == 0 else (-1.0) ** (n + 1) * float(math.factorial(n)) * sc.zeta(n + 1.0, x)
    higher = (-1.0) ** (n + 1) * sc.gamma(n + 1.0) * sc.zeta(n + 1.0, x)
    return np.where(np.equal(n, 0), sc.digamma(x), higher)[()]


def _zeta_samples(rng):
    for shapes in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0,), ())]:
        yield sample(rng.integers(2, 5, shapes[0]), rng.uniform(0.5, 3.0, shapes[1]))
    yield sample(2.5, rng.uniform(0.5, 3.0, 3).astype(np.float32))


def _riemann_samples(rng):
    for shape in [(), (2, 3), (0,)]:
        yield sample(rng.uniform(1.5, 4.0, shape))
    yield sample(rng.uniform(1.5, 4.0, 3).astype(np.float32))


zeta: Pointwise = pointwise(
    "zeta", sc.zeta, products=(not_in("zeta", "first operand"), lambda t, _z, s, q: t * (-s * zeta(s + 1, q))),
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
    "polygamma", sc.polygamma, impl=_polygamma, nin=2, samples=order_samples(0.5, 4.0), module=__name__,
    products=(not_in("polygamma", "order"), lambda t, _z, n, x: t * polygamma(n + 1, x)),
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
