"""Distributions of vectors: multivariate_normal, dirichlet, multinomial."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import broadcast_shapes
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy.linalg import cholesky
from autodidax.primitives.comparison import equal, greater, greater_equal, less, less_equal, logical_and
from autodidax.primitives.elementwise import absolute, exp, log
from autodidax.primitives.reductions import reduce_and
from autodidax.primitives.rounding import floor
from autodidax.primitives.select import where
from autodidax.primitives.shape import broadcast_to, concatenate, expand_dims, moveaxis, reduce_sum
from autodidax.primitives.special.gammas import gammaln
from autodidax.primitives.special.logarithms import xlogy
from autodidax.primitives.triangular import solve_triangular
from autodidax.scipy.stats.distributions import both, choose, common


def _over_last(primitive: Any, x: Any) -> Any:
    return primitive(x, axes=(len(shape_of(x)) - 1,))


class MultivariateNormal:
    """The normal distribution of vectors: pdf, logpdf. Source: scipy.stats.multivariate_normal.

    x and mean are (..., n), and cov is (..., n, n), positive definite; a cov of one axis is a diagonal, and a number
    a multiple of the identity. The axes before the last broadcast, and are those of the result. n is that of cov, else
    of mean, else 1; then an x without that axis is taken as numbers. Of cov the lower triangle is read.
    """

    functions = ("pdf", "logpdf")

    def __repr__(self) -> str:
        return "<distribution multivariate_normal(mean, cov)>"

    def pdf(self, x: Any, mean: Any = None, cov: Any = 1.0, allow_singular: bool = False) -> Any:
        """Density."""
        return exp(self.logpdf(x, mean, cov, allow_singular))

    def logpdf(self, x: Any, mean: Any = None, cov: Any = 1.0, allow_singular: bool = False) -> Any:
        """Logarithm of the density."""
        if allow_singular:
            raise errors.UnsupportedError(
                "multivariate_normal: allow_singular=True is not supported, as a density on a subspace has no "
                "derivative in cov",
                mend="give a positive definite cov, and leave allow_singular away",
            )
        x, mean, cov = common([x, 0.0 if mean is None else mean, 1.0 if cov is None else cov])
        n = _dimension(mean, cov)
        if len(shape_of(cov)) < 2:
            cov = expand_dims(broadcast_to(cov, shape=(n,)), (0,)) * np.eye(n, dtype=dtype_of(cov))
        if shape_of(cov)[-2:] != (n, n) or shape_of(mean)[-1:] not in ((), (1,), (n,)):
            raise errors.ShapeError(
                f"multivariate_normal: mean of shape {shape_of(mean)} and cov of {shape_of(cov)}",
                mend=f"give a mean of shape (..., {n}) and a cov of shape (..., {n}, {n})",
            )
        if n == 1 and shape_of(x)[-1:] != (1,):
            x = expand_dims(x, (len(shape_of(x)),))
        off = x - mean
        if shape_of(off)[-1] != n:
            raise errors.ShapeError(
                f"multivariate_normal: x of shape {shape_of(x)}, for vectors of {n}",
                mend=f"give an x of shape (..., {n})",
            )
        factor = cholesky(cov)
        batch = broadcast_shapes("multivariate_normal", shape_of(off)[:-1], shape_of(factor)[:-2])
        column = expand_dims(broadcast_to(off, shape=(*batch, n)), (len(batch) + 1,))
        scores = solve_triangular(
            broadcast_to(factor, shape=(*batch, n, n)), column, lower=True, trans=0, unit_diagonal=False
        )
        diagonal = _over_last(reduce_sum, factor * np.eye(n, dtype=dtype_of(factor)))
        half_log_det = _over_last(reduce_sum, log(diagonal))
        square = reduce_sum(scores * scores, axes=(len(batch), len(batch) + 1))
        return -0.5 * square - half_log_det - 0.5 * n * math.log(2.0 * math.pi)


def _dimension(mean: Any, cov: Any) -> int:
    """The length of the vectors: that of cov or of mean, else 1."""
    if len(shape_of(cov)):
        return int(shape_of(cov)[-1])
    return int(shape_of(mean)[-1]) if len(shape_of(mean)) else 1


class Dirichlet:
    """The Dirichlet distribution of vectors of positive numbers with sum 1: pdf, logpdf. Source: scipy.stats.dirichlet.

    x has its components along the FIRST axis, as in SciPy: (n,) or (n, ...); the last component may be left away. alpha
    is (n,). Outside of the simplex the density is 0, where SciPy raises.
    """

    functions = ("pdf", "logpdf")

    def __repr__(self) -> str:
        return "<distribution dirichlet(alpha)>"

    def pdf(self, x: Any, alpha: Any) -> Any:
        """Density."""
        return exp(self.logpdf(x, alpha))

    def logpdf(self, x: Any, alpha: Any) -> Any:
        """Logarithm of the density."""
        x, alpha = common([x, alpha])
        shape, n = shape_of(x), shape_of(alpha)[-1] if len(shape_of(alpha)) == 1 else 0
        if not shape or n == 0 or shape[0] not in (n - 1, n):
            raise errors.ShapeError(
                f"dirichlet: x of shape {shape} and alpha of {shape_of(alpha)}",
                mend="give an alpha of shape (n,) and an x of shape (n,) or (n, ...)",
            )
        x = moveaxis(x, 0, -1)
        if shape[0] == n - 1:
            last = 1.0 - expand_dims(_over_last(reduce_sum, x), (len(shape) - 1,))
            x = concatenate(x, last, axis=len(shape) - 1)
        tolerance = 1e-9 if dtype_of(x).itemsize > 4 else 1e-5
        whole = less(absolute(_over_last(reduce_sum, x) - 1.0), tolerance)
        inside = both(logical_and(whole, _over_last(reduce_and, greater_equal(x, 0.0))))
        valid = both(_over_last(reduce_and, greater(alpha, 0.0)))
        alpha = choose(valid, alpha, 1.0)
        if inside is not None:
            x = where(expand_dims(inside, (len(shape) - 1,)), x, 1.0 / n)
        normalization = gammaln(_over_last(reduce_sum, alpha)) - _over_last(reduce_sum, gammaln(alpha))
        out = _over_last(reduce_sum, xlogy(alpha - 1.0, x)) + normalization
        return choose(valid, choose(inside, out, -math.inf), math.nan)


class Multinomial:
    """How often each of several outcomes comes in n trials: pmf, logpmf. Source: scipy.stats.multinomial.

    x and p are (..., k), and n is (...); they broadcast. p should have the sum 1, and is taken as it is: its entries
    have independent derivatives, as in JAX, while SciPy takes what the others leave for the last.
    """

    functions = ("pmf", "logpmf")

    def __repr__(self) -> str:
        return "<distribution multinomial(n, p)>"

    def pmf(self, x: Any, n: Any, p: Any) -> Any:
        """Probability of x."""
        return exp(self.logpmf(x, n, p))

    def logpmf(self, x: Any, n: Any, p: Any) -> Any:
        """Logarithm of the probability of x."""
        x, n, p = common([x, n, p])
        counts = logical_and(greater_equal(x, 0.0), equal(floor(x), x))
        inside = both(logical_and(_over_last(reduce_and, counts), equal(_over_last(reduce_sum, x), n)))
        proper = _over_last(reduce_and, logical_and(greater_equal(p, 0.0), less_equal(p, 1.0)))
        valid = both(logical_and(proper, logical_and(greater_equal(n, 0.0), equal(floor(n), n))))
        usable = both(counts)
        x = choose(usable, x, 0.0)
        p = choose(both(logical_and(greater_equal(p, 0.0), less_equal(p, 1.0))), p, 0.5)
        n = choose(both(greater_equal(n, 0.0)), n, 0.0)
        out = gammaln(n + 1.0) + _over_last(reduce_sum, xlogy(x, p) - gammaln(x + 1.0))
        return choose(valid, choose(inside, out, -math.inf), math.nan)


multivariate_normal = MultivariateNormal()
dirichlet = Dirichlet()
multinomial = Multinomial()

__all__ = ["dirichlet", "multinomial", "multivariate_normal"]
