"""Distributions by the incomplete beta function, and one by the arc tangent: beta, f, cauchy."""

from __future__ import annotations

import math
from typing import Any

from autodidax.primitives.comparison import greater, greater_equal, less
from autodidax.primitives.elementwise import arctan2, divide, exp, hypot, log, log1p
from autodidax.primitives.select import where
from autodidax.primitives.special.gammas import betaln
from autodidax.primitives.special.incomplete import betainc, betaincc, betainccinv, betaincinv
from autodidax.primitives.special.logarithms import xlog1py, xlogy
from autodidax.primitives.trigonometric import tan
from autodidax.scipy.stats.distributions import (
    Continuous,
    Symmetric,
    at_edge,
    both,
    finite_positive,
    log_of,
    times_power,
)
from autodidax.scipy.stats.masses import log_binomial


def _log_density(y: Any, a: Any, b: Any) -> Any:
    """The logarithm of the beta density for a + b > 1, which is a binomial probability."""
    return log_binomial(a - 1.0, a + b - 2.0, y) + log(a + b - 1.0)


class Beta(Continuous):
    """The beta distribution. Source: scipy.stats.beta."""

    parameters = {"a": (finite_positive, 1.0), "b": (finite_positive, 1.0)}

    def support(self, a: Any, b: Any) -> tuple[Any, Any]:
        return 0.0, 1.0

    def _pdf(self, y: Any, a: Any, b: Any) -> Any:
        low = less(y, 0.5)
        edge, far = where(low, y, 1.0 - y), where(low, 1.0 - y, y)
        here, there = where(low, a, b), where(low, b, a)
        rest = (there - 1.0) * log(far) - betaln(a, b)
        return at_edge(edge, here - 1.0, rest, lambda x: exp(self._logpdf(x, here, there)))

    def _logpdf(self, y: Any, a: Any, b: Any) -> Any:
        steep = both(greater_equal(a + b, 1.5))
        if steep is None:
            return _log_density(y, a, b)
        plain = xlogy(a - 1.0, y) + xlog1py(b - 1.0, -y) - betaln(a, b)
        return where(steep, _log_density(y, where(steep, a, 1.0), where(steep, b, 1.0)), plain)

    def _cdf(self, y: Any, a: Any, b: Any) -> Any:
        return betainc(a, b, y)

    def _sf(self, y: Any, a: Any, b: Any) -> Any:
        return betaincc(a, b, y)

    def _ppf(self, q: Any, a: Any, b: Any) -> Any:
        return betaincinv(a, b, q)

    def _isf(self, q: Any, a: Any, b: Any) -> Any:
        return betainccinv(a, b, q)


class F(Continuous):
    """The distribution of the ratio of two mean squares of dfn and dfd normal numbers. Source: scipy.stats.f."""

    parameters = {"dfn": (finite_positive, 1.0), "dfd": (finite_positive, 1.0)}
    interior = 1.0

    def support(self, dfn: Any, dfd: Any) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _logarithm(self, y: Any, m: Any, n: Any) -> Any:
        """The logarithm of the density without its power of y."""
        return 0.5 * m * log(m / n) - 0.5 * (m + n) * log1p(m * y / n) - betaln(0.5 * m, 0.5 * n)

    def _pdf(self, y: Any, dfn: Any, dfd: Any) -> Any:
        return times_power(y, 0.5 * dfn - 1.0, self._logarithm(y, dfn, dfd))

    def _logpdf(self, y: Any, dfn: Any, dfd: Any) -> Any:
        return xlogy(0.5 * dfn - 1.0, y) + self._logarithm(y, dfn, dfd)

    def _cdf(self, y: Any, dfn: Any, dfd: Any) -> Any:
        return betainc(0.5 * dfn, 0.5 * dfd, dfn * y / (dfn * y + dfd))

    def _sf(self, y: Any, dfn: Any, dfd: Any) -> Any:
        return betainc(0.5 * dfd, 0.5 * dfn, dfd / (dfn * y + dfd))

    def _ppf(self, q: Any, dfn: Any, dfd: Any) -> Any:
        high = greater(q, 0.5)
        low_part = betaincinv(0.5 * dfn, 0.5 * dfd, where(high, 0.5, q))
        high_part = betainccinv(0.5 * dfd, 0.5 * dfn, where(high, q, 0.5))
        return dfd / dfn * where(high, (1.0 - high_part) / high_part, low_part / (1.0 - low_part))

    def _isf(self, q: Any, dfn: Any, dfd: Any) -> Any:
        high = greater(q, 0.5)
        low_part = betainccinv(0.5 * dfn, 0.5 * dfd, where(high, q, 0.5))
        high_part = betaincinv(0.5 * dfd, 0.5 * dfn, where(high, 0.5, q))
        return dfd / dfn * where(high, low_part / (1.0 - low_part), (1.0 - high_part) / high_part)


class Cauchy(Symmetric):
    """The Cauchy distribution. Source: scipy.stats.cauchy."""

    def _logpdf(self, y: Any) -> Any:
        return -2.0 * log(hypot(1.0, y)) - math.log(math.pi)

    def _pdf(self, y: Any) -> Any:
        return divide(1.0 / math.pi, hypot(1.0, y) ** 2)

    def _cdf(self, y: Any) -> Any:
        return arctan2(1.0, -y) / math.pi

    def _logcdf(self, y: Any) -> Any:
        return log_of(self._cdf(y), self._cdf(-y))

    def _ppf(self, q: Any) -> Any:
        low, high = less(q, 0.25), greater(q, 0.75)
        tail = where(low, q, where(high, 1.0 - q, 0.25))
        far = divide(1.0, tan(math.pi * tail))
        near = tan(math.pi * (where(low, 0.5, where(high, 0.5, q)) - 0.5))
        return where(low, -far, where(high, far, near))


beta = Beta("beta")
f = F("f")
cauchy = Cauchy("cauchy")

__all__ = ["beta", "cauchy", "f"]
