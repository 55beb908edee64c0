"""Distributions by the incomplete gamma function: gamma, chi2, gennorm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.comparison import equal, greater
from autodidax.primitives.elementwise import absolute, also, exp, log, power
from autodidax.primitives.select import where
from autodidax.primitives.special.gammas import digamma, gammaln
from autodidax.primitives.special.incomplete import gammainc, gammaincc, gammainccinv, gammaincinv
from autodidax.scipy.stats.distributions import Continuous, Symmetric, at_edge, finite_positive
from autodidax.scipy.stats.masses import log_poisson


class Gamma(Continuous):
    """The gamma distribution. Source: scipy.stats.gamma."""

    parameters = {"a": (finite_positive, 1.0)}
    interior = 1.0

    def support(self, a: Any) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _pdf(self, y: Any, a: Any) -> Any:
        return at_edge(y, a - 1.0, -y - gammaln(a), lambda x: exp(log_poisson(a - 1.0, x)))

    def _logpdf(self, y: Any, a: Any) -> Any:
        return log_poisson(a - 1.0, y)

    def _cdf(self, y: Any, a: Any) -> Any:
        return gammainc(a, y)

    def _sf(self, y: Any, a: Any) -> Any:
        return gammaincc(a, y)

    def _ppf(self, q: Any, a: Any) -> Any:
        return gammaincinv(a, q)

    def _isf(self, q: Any, a: Any) -> Any:
        return gammainccinv(a, q)


class Chi2(Gamma):
    """The distribution of the sum of df squared normal numbers. Source: scipy.stats.chi2."""

    parameters = {"df": (finite_positive, 1.0)}

    def _pdf(self, y: Any, df: Any) -> Any:
        return 0.5 * super()._pdf(0.5 * y, 0.5 * df)

    def _logpdf(self, y: Any, df: Any) -> Any:
        return super()._logpdf(0.5 * y, 0.5 * df) - math.log(2.0)

    def _cdf(self, y: Any, df: Any) -> Any:
        return super()._cdf(0.5 * y, 0.5 * df)

    def _sf(self, y: Any, df: Any) -> Any:
        return super()._sf(0.5 * y, 0.5 * df)

    def _ppf(self, q: Any, df: Any) -> Any:
        return 2.0 * super()._ppf(q, 0.5 * df)

    def _isf(self, q: Any, df: Any) -> Any:
        return 2.0 * super()._isf(q, 0.5 * df)


def _gennorm_density(s: Any, beta: Any) -> Any:
    return 0.5 * beta * exp(-power(s, beta) - gammaln(1.0 / beta))


def _gennorm_by_beta(_: Any, s: Any, beta: Any) -> Any:
    """The derivative of gennorm_tail in beta; it is linear in s at s = 0."""
    middle, a = equal(s, 0.0), 1.0 / beta
    r = where(middle, 1.0, s)
    u = power(r, beta)
    outside = -0.5 * (a * a * gammaincc(a, u, orders=(1, 0)) + r * log(r) * exp(-u - gammaln(a)))
    at_0 = -where(middle, s, 0.0) * (0.5 * exp(-gammaln(a)) * (1.0 + a * digamma(a)))
    return where(middle, at_0, outside)


# the probability of values beyond s >= 0
gennorm_tail: Pointwise = also(
    pointwise(
        "gennorm_tail", lambda s, beta: 0.5 * sc.gammaincc(1.0 / beta, np.power(s, beta)),
        lambda _, s, beta: -_gennorm_density(s, beta), _gennorm_by_beta,
        domain=[(0.1, 2.0), (0.7, 3.0)], complex_ok=False, module=__name__,
    ),
    sample(np.array([0.2, 4.0, 20.0]), np.array([1.3, 2.0, 1.0]), name="tail"),
)  # fmt: skip
gennorm_tail.costly = True  # its derivative in beta is that of gammaincc


class GenNorm(Symmetric):
    """The distribution of density proportional to exp(-|x|**beta). Source: scipy.stats.gennorm."""

    parameters = {"beta": (finite_positive, 2.0)}

    def _logpdf(self, y: Any, beta: Any) -> Any:
        return log(0.5 * beta) - gammaln(1.0 / beta) - power(absolute(y), beta)

    def _cdf(self, y: Any, beta: Any) -> Any:
        right = greater(y, 0.0)
        tail = gennorm_tail(where(right, y, -y), beta)
        return where(right, 1.0 - tail, tail)

    def _ppf(self, q: Any, beta: Any) -> Any:
        right = greater(q, 0.5)
        tail = where(right, 1.0 - q, q)
        size = power(gammainccinv(1.0 / beta, 2.0 * tail), 1.0 / beta)
        return where(right, size, -size)


gamma = Gamma("gamma")
chi2 = Chi2("chi2")
gennorm = GenNorm("gennorm")

__all__ = ["chi2", "gamma", "gennorm"]
