"""Distributions under scipy.stats' names: densities, distribution functions, quantiles, differentiable in the argument
and in all continuous parameters.

>>> import autodidax
>>> round(float(autodidax.grad(norm.logpdf, argnums=2)(1.0, 0.0, 2.0)), 6)
-0.375
"""

from autodidax.scipy.stats.betas import beta, cauchy, f
from autodidax.scipy.stats.circular import vonmises
from autodidax.scipy.stats.discrete import bernoulli, betabinom, binom, geom, nbinom, poisson
from autodidax.scipy.stats.exponentials import (
    expon,
    gumbel_l,
    gumbel_r,
    laplace,
    logistic,
    pareto,
    rayleigh,
    weibull_min,
)
from autodidax.scipy.stats.gammas import chi2, gamma, gennorm
from autodidax.scipy.stats.multivariate import dirichlet, multinomial, multivariate_normal
from autodidax.scipy.stats.normals import halfnorm, lognorm, norm, truncnorm
from autodidax.scipy.stats.student import t
from autodidax.scipy.stats.uniforms import uniform

__all__ = [
    "bernoulli", "beta", "betabinom", "binom", "cauchy", "chi2", "dirichlet", "expon", "f", "gamma", "gennorm",
    "geom", "gumbel_l", "gumbel_r", "halfnorm", "laplace", "logistic", "lognorm", "multinomial",
    "multivariate_normal", "nbinom", "norm", "pareto", "poisson", "rayleigh", "t", "truncnorm", "uniform", "vonmises",
    "weibull_min",
]  # fmt: skip
