"""Distributions by exponentials: expon, weibull_min, rayleigh, pareto, gumbel_l, gumbel_r, laplace, logistic."""

from __future__ import annotations

import math
from typing import Any

from autodidax.primitives.activations import log1mexp
from autodidax.primitives.comparison import greater
from autodidax.primitives.elementwise import absolute, exp, expm1, log, log1p, power, sqrt
from autodidax.primitives.select import where
from autodidax.primitives.special.logarithms import expit, log_expit, logit, xlogy
from autodidax.scipy.stats.distributions import Continuous, Lifetime, Symmetric, finite_positive, times_power
from autodidax.scipy.stats.primitives import log_logistic_density


class Expon(Lifetime):
    """The exponential distribution. Source: scipy.stats.expon."""

    def _logpdf(self, y: Any) -> Any:
        return -y

    def _hazard(self, y: Any) -> Any:
        return y

    def _of_hazard(self, h: Any) -> Any:
        return h


class WeibullMin(Lifetime):
    """The Weibull distribution of minima. Source: scipy.stats.weibull_min."""

    parameters = {"c": (finite_positive, 1.0)}

    def _pdf(self, y: Any, c: Any) -> Any:
        return c * times_power(y, c - 1.0, -power(y, c))

    def _logpdf(self, y: Any, c: Any) -> Any:
        return log(c) + xlogy(c - 1.0, y) - power(y, c)

    def _hazard(self, y: Any, c: Any) -> Any:
        return power(y, c)

    def _of_hazard(self, h: Any, c: Any) -> Any:
        return power(h, 1.0 / c)


class Rayleigh(Lifetime):
    """The distribution of the length of two normal components. Source: scipy.stats.rayleigh."""

    def _pdf(self, y: Any) -> Any:
        return y * exp(-0.5 * (y * y))

    def _logpdf(self, y: Any) -> Any:
        return log(y) - 0.5 * (y * y)

    def _hazard(self, y: Any) -> Any:
        return 0.5 * (y * y)

    def _of_hazard(self, h: Any) -> Any:
        return sqrt(2.0 * h)


class Pareto(Lifetime):
    """The Pareto distribution, of a power on (1, inf). Source: scipy.stats.pareto."""

    parameters = {"b": (finite_positive, 1.0)}

    def support(self, b: Any) -> tuple[Any, Any]:
        return 1.0, math.inf

    def _logpdf(self, y: Any, b: Any) -> Any:
        return log(b) - (b + 1.0) * log(y)

    def _hazard(self, y: Any, b: Any) -> Any:
        return b * log(y)

    def _of_hazard(self, h: Any, b: Any) -> Any:
        return exp(h / b)


class GumbelRight(Continuous):
    """The Gumbel distribution of maxima. Source: scipy.stats.gumbel_r."""

    def _logpdf(self, y: Any) -> Any:
        return -y - exp(-y)

    def _logcdf(self, y: Any) -> Any:
        return -exp(-y)

    def _sf(self, y: Any) -> Any:
        return -expm1(-exp(-y))

    def _logsf(self, y: Any) -> Any:
        return log1mexp(exp(-y))

    def _ppf(self, q: Any) -> Any:
        return -log(-log(q))

    def _isf(self, q: Any) -> Any:
        return -log(-log1p(-q))


class GumbelLeft(GumbelRight):
    """The Gumbel distribution of minima. Source: scipy.stats.gumbel_l."""

    def _logpdf(self, y: Any) -> Any:
        return super()._logpdf(-y)

    def _cdf(self, y: Any) -> Any:
        return super()._sf(-y)

    def _sf(self, y: Any) -> Any:
        return exp(super()._logcdf(-y))

    def _logcdf(self, y: Any) -> Any:
        return super()._logsf(-y)

    def _logsf(self, y: Any) -> Any:
        return super()._logcdf(-y)

    def _ppf(self, q: Any) -> Any:
        return -super()._isf(q)

    def _isf(self, q: Any) -> Any:
        return -super()._ppf(q)


class Laplace(Symmetric):
    """The double exponential distribution; its density has derivative 0 at its kink. Source: scipy.stats.laplace."""

    def _pdf(self, y: Any) -> Any:
        return 0.5 * exp(-absolute(y))

    def _logpdf(self, y: Any) -> Any:
        return -absolute(y) - math.log(2.0)

    def _cdf(self, y: Any) -> Any:
        right = greater(y, 0.0)
        tail = 0.5 * exp(where(right, -y, y))
        return where(right, 1.0 - tail, tail)

    def _logcdf(self, y: Any) -> Any:
        right = greater(y, 0.0)
        return where(right, log1p(-0.5 * exp(-where(right, y, 0.0))), where(right, 0.0, y) - math.log(2.0))

    def _ppf(self, q: Any) -> Any:
        right = greater(q, 0.5)
        return where(right, -log(2.0 * where(right, 1.0 - q, 0.5)), log(2.0 * where(right, 0.5, q)))


class Logistic(Symmetric):
    """The logistic distribution. Source: scipy.stats.logistic."""

    def _pdf(self, y: Any) -> Any:
        return expit(y) * expit(-y)

    def _logpdf(self, y: Any) -> Any:
        return log_logistic_density(y)

    def _cdf(self, y: Any) -> Any:
        return expit(y)

    def _logcdf(self, y: Any) -> Any:
        return log_expit(y)

    def _ppf(self, q: Any) -> Any:
        return logit(q)


expon = Expon("expon")
weibull_min = WeibullMin("weibull_min")
rayleigh = Rayleigh("rayleigh")
pareto = Pareto("pareto")
gumbel_r = GumbelRight("gumbel_r")
gumbel_l = GumbelLeft("gumbel_l")
laplace = Laplace("laplace")
logistic = Logistic("logistic")

__all__ = ["expon", "gumbel_l", "gumbel_r", "laplace", "logistic", "pareto", "rayleigh", "weibull_min"]
