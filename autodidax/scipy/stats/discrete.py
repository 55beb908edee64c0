"""Distributions on integers: bernoulli, binom, geom, nbinom, poisson, betabinom."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.primitives.comparison import greater, greater_equal, less, less_equal, logical_and
from autodidax.primitives.convert import astype
from autodidax.primitives.cumulative import cumsum
from autodidax.primitives.elementwise import exp, expm1, log, log1p
from autodidax.primitives.reductions import logsumexp
from autodidax.primitives.select import where
from autodidax.primitives.shape import expand_dims, reduce_sum
from autodidax.primitives.special.gammas import betaln
from autodidax.primitives.special.incomplete import betainc, betaincc, gammainc, gammaincc
from autodidax.primitives.special.logarithms import xlog1py, xlogy
from autodidax.scipy.stats import primitives
from autodidax.scipy.stats.distributions import Discrete, finite_positive, probability, whole
from autodidax.scipy.stats.masses import log_binomial, log_poisson


def _not_negative(mu: Any) -> Any:
    return logical_and(greater_equal(mu, 0.0), less(mu, math.inf))


def _log_choices(n: Any, k: Any) -> Any:
    """log of n over k."""
    return -log1p(n) - betaln(n - k + 1.0, k + 1.0)


class Poisson(Discrete):
    """The Poisson distribution. Source: scipy.stats.poisson."""

    parameters = {"mu": (_not_negative, 1.0)}

    def _logpmf(self, k: Any, mu: Any) -> Any:
        return log_poisson(k, mu)

    def _cdf(self, k: Any, mu: Any) -> Any:
        return gammaincc(k + 1.0, mu)

    def _sf(self, k: Any, mu: Any) -> Any:
        return gammainc(k + 1.0, mu)

    def _ppf(self, q: Any, mu: Any) -> Any:
        return primitives.poisson_ppf(q, mu)

    def _isf(self, q: Any, mu: Any) -> Any:
        return primitives.poisson_isf(q, mu)


class Bernoulli(Discrete):
    """1 with probability p, else 0. Source: scipy.stats.bernoulli."""

    parameters = {"p": (probability, 0.5)}

    def support(self, p: Any) -> tuple[Any, Any]:
        return 0.0, 1.0

    def _logpmf(self, k: Any, p: Any) -> Any:
        return xlogy(k, p) + xlog1py(1.0 - k, -p)

    def _pmf(self, k: Any, p: Any) -> Any:
        return k * p + (1.0 - k) * (1.0 - p)

    def _cdf(self, k: Any, p: Any) -> Any:
        return 1.0 - p

    def _sf(self, k: Any, p: Any) -> Any:
        return p

    def _ppf(self, q: Any, p: Any) -> Any:
        return astype(greater(q, 1.0 - p), dtype_of(q))

    def _isf(self, q: Any, p: Any) -> Any:
        return astype(less(q, p), dtype_of(q))


class Binom(Discrete):
    """The number of successes of probability p in n trials; n is a constant. Source: scipy.stats.binom."""

    parameters = {"n": (whole, 1.0), "p": (probability, 0.5)}

    def support(self, n: Any, p: Any) -> tuple[Any, Any]:
        return 0.0, n

    def _logpmf(self, k: Any, n: Any, p: Any) -> Any:
        return log_binomial(k, n, p)

    def _cdf(self, k: Any, n: Any, p: Any) -> Any:
        return betaincc(k + 1.0, where(less(k, n), n - k, 1.0), p)

    def _sf(self, k: Any, n: Any, p: Any) -> Any:
        return betainc(k + 1.0, where(less(k, n), n - k, 1.0), p)

    def _ppf(self, q: Any, n: Any, p: Any) -> Any:
        return primitives.binom_ppf(q, n, p)

    def _isf(self, q: Any, n: Any, p: Any) -> Any:
        return primitives.binom_isf(q, n, p)


class NBinom(Discrete):
    """The number of failures before n successes of probability p; n need not be whole. Source: scipy.stats.nbinom."""

    parameters = {
        "n": (finite_positive, 1.0),
        "p": (lambda p: logical_and(greater(p, 0.0), less_equal(p, 1.0)), 0.5),
    }

    def _logpmf(self, k: Any, n: Any, p: Any) -> Any:
        return log(n / (n + k)) + log_binomial(n, n + k, p)

    def _cdf(self, k: Any, n: Any, p: Any) -> Any:
        return betainc(n, k + 1.0, p)

    def _sf(self, k: Any, n: Any, p: Any) -> Any:
        return betaincc(n, k + 1.0, p)

    def _ppf(self, q: Any, n: Any, p: Any) -> Any:
        return primitives.nbinom_ppf(q, n, p)

    def _isf(self, q: Any, n: Any, p: Any) -> Any:
        return primitives.nbinom_isf(q, n, p)


class Geom(Discrete):
    """The number of trials up to the first success of probability p. Source: scipy.stats.geom."""

    parameters = {"p": (lambda p: logical_and(greater(p, 0.0), less_equal(p, 1.0)), 0.5)}

    def support(self, p: Any) -> tuple[Any, Any]:
        return 1.0, math.inf

    def _logpmf(self, k: Any, p: Any) -> Any:
        return xlog1py(k - 1.0, -p) + log(p)

    def _cdf(self, k: Any, p: Any) -> Any:
        return -expm1(xlog1py(k, -p))

    def _sf(self, k: Any, p: Any) -> Any:
        return exp(xlog1py(k, -p))

    def _logsf(self, k: Any, p: Any) -> Any:
        return xlog1py(k, -p)

    def _ppf(self, q: Any, p: Any) -> Any:
        return primitives.geom_ppf(q, p)

    def _isf(self, q: Any, p: Any) -> Any:
        return primitives.geom_isf(q, p)


class BetaBinom(Discrete):
    """binom of a probability that is beta distributed; n is a constant. Source: scipy.stats.betabinom.

    Its distribution functions are sums over the integers up to the largest n, which has to be known: not traced.
    """

    parameters = {"n": (whole, 1.0), "a": (finite_positive, 1.0), "b": (finite_positive, 1.0)}

    def support(self, n: Any, a: Any, b: Any) -> tuple[Any, Any]:
        return 0.0, n

    def _logpmf(self, k: Any, n: Any, a: Any, b: Any) -> Any:
        return _log_choices(n, k) + betaln(k + a, n - k + b) - betaln(a, b)

    def _terms(self, n: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
        """All integers, which of them are in the support, and the logarithms of their masses, along a last axis."""
        if isinstance(n, Tracer):
            raise errors.ConcretizationTypeError(
                "betabinom: the distribution functions sum over 0, ..., n, and n is traced",
                mend="keep n out of the traced arguments (a closure, or static_argnums of jit)",
            )
        integers = np.arange(np.max(n, initial=0.0) + 1.0).astype(dtype_of(n))
        n, a, b = map(_column, (n, a, b))
        inside = less_equal(integers, n)
        logarithms = self._logpmf(where(inside, integers, 0.0), n, a, b)
        return integers, inside, logarithms

    def _log_sum(self, k: Any, n: Any, a: Any, b: Any, counted: Any) -> Any:
        integers, inside, logarithms = self._terms(n, a, b)
        chosen = logical_and(inside, counted(integers, _column(k)))
        terms = where(chosen, logarithms, -math.inf)
        return logsumexp(terms, axes=(len(shape_of(terms)) - 1,))

    def _cdf(self, k: Any, n: Any, a: Any, b: Any) -> Any:
        return exp(self._log_sum(k, n, a, b, less_equal))

    def _sf(self, k: Any, n: Any, a: Any, b: Any) -> Any:
        return exp(self._log_sum(k, n, a, b, greater))

    def _ppf(self, q: Any, n: Any, a: Any, b: Any) -> Any:
        inside, masses = self._masses(n, a, b)
        up_to = cumsum(masses, axis=len(shape_of(masses)) - 1, reverse=False)
        return _count(logical_and(inside, less(up_to, _column(q))), dtype_of(q))

    def _isf(self, q: Any, n: Any, a: Any, b: Any) -> Any:
        inside, masses = self._masses(n, a, b)
        from_here = cumsum(masses, axis=len(shape_of(masses)) - 1, reverse=True)
        return _count(logical_and(inside, greater(from_here - masses, _column(q))), dtype_of(q))

    def _masses(self, n: Any, a: Any, b: Any) -> tuple[Any, Any]:
        _, inside, logarithms = self._terms(n, a, b)
        return inside, where(inside, exp(logarithms), 0.0)


def _column(x: Any) -> Any:
    """x with a last axis of size 1."""
    return expand_dims(x, (len(shape_of(x)),))


def _count(too_small: Any, dtype: np.dtype) -> Any:
    """How many integers are too small for a quantile: constant between those where it jumps."""
    return reduce_sum(astype(too_small, dtype), axes=(len(shape_of(too_small)) - 1,))


poisson = Poisson("poisson")
bernoulli = Bernoulli("bernoulli")
binom = Binom("binom")
nbinom = NBinom("nbinom")
geom = Geom("geom")
betabinom = BetaBinom("betabinom")

__all__ = ["bernoulli", "betabinom", "binom", "geom", "nbinom", "poisson"]
