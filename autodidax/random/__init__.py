"""jax.random on NumPy: random numbers from explicit keys.

A key is made of a seed, split into new ones, and used once; the same key gives the same numbers, eager, under jit and
under vmap. With the default generator they are JAX's numbers for the same dtype.

>>> from autodidax import random
>>> k1, k2 = random.split(random.key(42))
>>> random.normal(k1, (2,)).round(3)
array([-0.72 , -0.261])
"""

from autodidax.random.continuous import (
    cauchy,
    exponential,
    gumbel,
    laplace,
    logistic,
    pareto,
    rayleigh,
    triangular,
    weibull_min,
)
from autodidax.random.discrete import binomial, categorical, geometric, multinomial, poisson
from autodidax.random.gammas import ball, beta, chisquare, dirichlet, f, gamma, generalized_normal, loggamma, t
from autodidax.random.key_array import KeyArray
from autodidax.random.keys import (
    PRNGKey,
    clone,
    fold_in,
    key,
    key_data,
    key_dtype,
    key_impl,
    split,
    wrap_key_data,
)
from autodidax.random.normals import (
    double_sided_maxwell,
    lognormal,
    maxwell,
    multivariate_normal,
    normal,
    orthogonal,
    truncated_normal,
    wald,
)
from autodidax.random.permutations import choice, permutation
from autodidax.random.reuse import KeyReuseError
from autodidax.random.uniforms import bernoulli, bits, rademacher, randint, uniform

__all__ = [
    "KeyArray", "KeyReuseError", "PRNGKey", "ball", "bernoulli", "beta", "binomial", "bits", "categorical", "cauchy",
    "chisquare", "choice", "clone", "dirichlet", "double_sided_maxwell", "exponential", "f", "fold_in", "gamma",
    "generalized_normal", "geometric", "gumbel", "key", "key_data", "key_dtype", "key_impl", "laplace", "loggamma",
    "logistic", "lognormal", "maxwell", "multinomial", "multivariate_normal", "normal", "orthogonal", "pareto",
    "permutation", "poisson", "rademacher", "randint", "rayleigh", "split", "t", "triangular", "truncated_normal",
    "uniform", "wald", "weibull_min", "wrap_key_data",
]  # fmt: skip
