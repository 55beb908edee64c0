"""Gamma variates and their kin. The derivatives in the parameters are those of samples that stay at their levels of the
distribution function."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of, quietly, shape_of
from autodidax.primitives.elementwise import absolute, exp, power, sqrt
from autodidax.primitives.normalization import softmax
from autodidax.primitives.random_gamma import random_gamma
from autodidax.primitives.shape import expand_dims, reduce_sum
from autodidax.primitives.special.logarithms import expit
from autodidax.random.arguments import (
    Shape,
    broadcast,
    dtype_argument,
    parameter,
    parameters,
    result_shape,
    shape_argument,
    size_argument,
)
from autodidax.random.continuous import exponential_numbers
from autodidax.random.key_array import KeyArray
from autodidax.random.keys import children, single_key
from autodidax.random.normals import real_normal
from autodidax.random.uniforms import signs


def _gamma(one: KeyArray, a: Any, shape: Shape, log_space: bool) -> Any:
    """Samples of gamma(a), or their logarithms."""
    return random_gamma(one._data, broadcast(a, shape), log_space=log_space, generator=one._generator)


def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Gamma numbers of shape parameter a and scale 1, differentiable in a.

    Source: jax.random.gamma.

    >>> import autodidax
    >>> from autodidax import random
    >>> autodidax.grad(lambda a: random.gamma(random.key(1), a))(2.0)
    np.float64(...)
    """
    one = single_key("gamma", key)
    shape, (a,) = parameters("gamma", shape, dtype_argument("gamma", dtype), a=a)
    return _gamma(one, a, shape, False)


def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Logarithms of the numbers of `gamma`, which keep their digits for a small a.

    Source: jax.random.loggamma.
    """
    one = single_key("loggamma", key)
    shape, (a,) = parameters("loggamma", shape, dtype_argument("loggamma", dtype), a=a)
    return _gamma(one, a, shape, True)


def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Beta numbers, differentiable in a and b.

    Source: jax.random.beta.
    """
    one = single_key("beta", key)
    shape, (a, b) = parameters("beta", shape, dtype_argument("beta", dtype), a=a, b=b)
    first, second = children(one, 2)
    return expit(_gamma(first, a, shape, True) - _gamma(second, b, shape, True))


def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Dirichlet vectors of concentrations (..., n): (*shape, n), differentiable in alpha.

    Source: jax.random.dirichlet.
    """
    one = single_key("dirichlet", key)
    alpha = parameter("dirichlet", "alpha", alpha, dtype_argument("dirichlet", dtype))
    own = shape_of(alpha)
    if not own:
        raise errors.ShapeError(
            "dirichlet takes concentrations (..., n), got one number", mend="for two use random.beta"
        )
    whole = (*result_shape("dirichlet", shape, own[:-1]), own[-1])
    return softmax(_gamma(one, alpha, whole, True), axes=(len(whole) - 1,))


def _chisquare(one: KeyArray, df: Any, shape: Shape) -> Any:
    return exp(_gamma(one, df / 2, shape, True)) * 2


def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Chi-square numbers of df degrees of freedom, differentiable in df.

    Source: jax.random.chisquare.
    """
    one = single_key("chisquare", key)
    shape, (df,) = parameters("chisquare", shape, dtype_argument("chisquare", dtype), df=df)
    return _chisquare(one, df, shape)


def f(key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers of the F distribution, differentiable in both degrees of freedom.

    Source: jax.random.f.
    """
    one = single_key("f", key)
    shape, (dfnum, dfden) = parameters("f", shape, dtype_argument("f", dtype), dfnum=dfnum, dfden=dfden)
    below, above = children(one, 2)
    with quietly():  # for few degrees of freedom both may fall off the scale
        return (_chisquare(above, dfnum, shape) / dfnum) / (_chisquare(below, dfden, shape) / dfden)


def t(key: Any, df: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers of Student's t distribution, differentiable in df.

    Source: jax.random.t.
    """
    one = single_key("t", key)
    shape, (df,) = parameters("t", shape, dtype_argument("t", dtype), df=df)
    normals, gammas = children(one, 2)
    half = df / 2
    with quietly():  # for a small df the gamma number may fall off the scale
        return real_normal(normals, shape, dtype_of(df)) * sqrt(half / _gamma(gammas, half, shape, False))


def _generalized_normal(one: KeyArray, p: Any, shape: Shape, dtype: np.dtype) -> Any:
    gammas, sides = children(one, 2)
    return signs(sides, shape, dtype) * power(_gamma(gammas, 1 / p, shape, False), 1 / p)


def generalized_normal(key: Any, p: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Numbers with a density that falls like exp(-|x|**p), differentiable in p.

    Source: jax.random.generalized_normal.
    """
    one = single_key("generalized_normal", key)
    dtype = dtype_argument("generalized_normal", dtype)
    shape, (p,) = parameters("generalized_normal", shape_argument("generalized_normal", shape), dtype, p=p)
    return _generalized_normal(one, p, shape, dtype)


def ball(key: Any, d: Any, p: Any = 2, shape: Any = (), dtype: Any = None) -> Any:
    """Vectors of d numbers, uniform in the unit ball of the p-norm: (*shape, d).

    Source: jax.random.ball.
    """
    one = single_key("ball", key)
    shape, dtype = shape_argument("ball", shape), dtype_argument("ball", dtype)
    p = parameter("ball", "p", p, dtype)
    d = size_argument("ball", "d", d)
    directions, radii = children(one, 2)
    g = _generalized_normal(directions, p, (*shape, d), dtype)
    total = reduce_sum(power(absolute(g), p), axes=(len(shape),)) + exponential_numbers(radii, shape, dtype)
    return g / expand_dims(power(total, 1 / p), (len(shape),))
