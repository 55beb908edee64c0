"""The logarithms of Poisson and binomial probabilities, which gamma and beta densities are too, to all digits.

Gamma functions of large numbers are far larger than the logarithm of a probability, so that in their sum its digits are
lost. Here each is split into x log x - x, of which the sum is a deviance that is computed in one piece, and a small
rest.

Source: C. Loader, "Fast and accurate computation of binomial probabilities" (2000).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.comparison import equal, logical_and
from autodidax.primitives.elementwise import also, divide, log, log1p
from autodidax.primitives.select import where
from autodidax.primitives.special.gammas import digamma, digamma_difference

_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def _rest(x: np.ndarray) -> np.ndarray:
    """log gamma(x + 1) - (x log x - x) for x >= 0."""
    large = x >= 15.0
    y, z = np.where(large, x, 15.0), np.where(large, 1.0, x)
    series = sum(c / y ** (2 * k + 1) for k, c in enumerate(_STIRLING))
    return np.where(large, series + 0.5 * np.log(2.0 * math.pi * y), sc.gammaln(z + 1.0) - sc.xlogy(z, z) + z)


def _deviance(x: np.ndarray, m: np.ndarray) -> np.ndarray:
    """x log(x/m) + m - x for x, m >= 0; where they are close by its series in v = (x - m)/(x + m)."""
    near = np.abs(x - m) < 0.1 * (x + m)
    u, w = np.where(near, x, 1.0), np.where(near, m, 1.0)
    v = (u - w) / (u + w)
    series = sum(v ** (2 * k + 1) / (2 * k + 1) for k in range(1, 10))
    far = sc.rel_entr(np.where(near, 1.0, x), np.where(near, 1.0, m)) + (m - x)
    return np.where(near, (u - w) * v + 2.0 * u * series, far)


def _log_poisson(k: Any, mu: Any) -> Any:
    dtype = np.result_type(k, mu, 0.0)
    k, mu = np.asarray(k, np.float64), np.asarray(mu, np.float64)
    with np.errstate(all="ignore"):
        split = (k >= 0.0) & (mu >= 0.0) & np.isfinite(mu)
        count, mean = np.where(split, k, 1.0), np.where(split, mu, 1.0)
        plain = sc.xlogy(k, mu) - mu - sc.gammaln(k + 1.0)
        return np.where(split, -_rest(count) - _deviance(count, mean), plain).astype(dtype)[()]


def _log_binomial(k: Any, n: Any, p: Any) -> Any:
    dtype = np.result_type(k, n, p, 0.0)
    k, n, p = (np.asarray(x, np.float64) for x in (k, n, p))
    with np.errstate(all="ignore"):
        split = (k >= 0.0) & (n - k >= 0.0) & (p >= 0.0) & (p <= 1.0)
        i, j, q = np.where(split, k, 1.0), np.where(split, n - k, 1.0), np.where(split, p, 0.5)
        m = i + j
        here = _rest(m) - _rest(i) - _rest(j) - _deviance(i, m * q) - _deviance(j, m * (1.0 - q))
        plain = sc.xlogy(k, p) + sc.xlog1py(n - k, -p) - np.log1p(n) - sc.betaln(k + 1.0, n - k + 1.0)
        return np.where(split, here, plain).astype(dtype)[()]


def quotient(x: Any, y: Any) -> Any:
    """x/y, and 0 where both are 0."""
    both = logical_and(equal(x, 0.0), equal(y, 0.0))
    return where(both, 0.0, divide(x, where(both, 1.0, y)))


# k log(mu) - mu - log gamma(k + 1) for k > -1
log_poisson: Pointwise = also(
    pointwise(
        "log_poisson", _log_poisson, lambda _, k, mu: log(mu) - digamma(k + 1.0),
        lambda _, k, mu: quotient(k, mu) - 1.0,
        domain=[(0.2, 4.0), (0.5, 4.0)], complex_ok=False, module=__name__,
    ),
    sample(np.array([-0.5, 40.0, 3.0, 1e4]), np.array([2.0, 38.0, 90.0, 1.01e4]), name="all over"),
)  # fmt: skip
# log of (n over k) p**k (1 - p)**(n - k) for k and n - k > -1
log_binomial: Pointwise = also(
    pointwise(
        "log_binomial", _log_binomial,
        lambda _, k, n, p: digamma(n - k + 1.0) - digamma(k + 1.0) + log(p) - log1p(-p),
        lambda _, k, n, p: digamma_difference(n - k + 1.0, k) + log1p(-p),
        lambda _, k, n, p: quotient(k, p) - quotient(n - k, 1.0 - p),
        domain=[(0.2, 2.0), (2.5, 4.0), (0.1, 0.9)], complex_ok=False, module=__name__,
    ),
    sample(
        np.array([-0.5, 40.0, 3.0, 1e4]), np.array([2.0, 90.0, 3e3, 1.8e4]), np.array([0.7, 0.45, 0.2, 0.55]),
        name="all over",
    ),
)  # fmt: skip

__all__ = ["log_binomial", "log_poisson", "quotient"]
