"""Normal numbers, and what is made of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.numpy import linalg
from autodidax.numpy.dispatch import operand
from autodidax.primitives.comparison import greater
from autodidax.primitives.contraction import matmul
from autodidax.primitives.convert import astype, stop_gradient_p
from autodidax.primitives.elementwise import divide, exp, power, sign, sqrt, square
from autodidax.primitives.extrema import clip
from autodidax.primitives.random_bits import random_normal
from autodidax.primitives.rounding import nextafter
from autodidax.primitives.select import where
from autodidax.primitives.shape import expand_dims, reduce_sum, swapaxes
from autodidax.primitives.special.normal import erf, erfcx, erfinv
from autodidax.random.arguments import (
    FLOAT,
    Shape,
    broadcast,
    dtype_argument,
    parameter,
    parameters,
    result_shape,
    shape_argument,
    size_argument,
)
from autodidax.random.key_array import KeyArray
from autodidax.random.keys import children, single_key
from autodidax.random.uniforms import between, signs, unit
from autodidax.transforms.custom_rules import custom_jvp

_ROOT_TWO = math.sqrt(2.0)


def real_normal(one: KeyArray, shape: Shape, dtype: np.dtype) -> Any:
    """Standard normal numbers of a floating dtype."""
    return random_normal(one._data, shape=shape, dtype=dtype, generator=one._generator)


def _normal(one: KeyArray, shape: Shape, dtype: np.dtype) -> Any:
    """Standard normal numbers; complex ones have a variance of 1 in all."""
    if dtype.kind == "f":
        return real_normal(one, shape, dtype)
    real = np.empty(0, dtype).real.dtype
    parts = [real_normal(child, shape, real) for child in children(one, 2)]
    return astype((parts[0] + 1j * parts[1]) / _ROOT_TWO, dtype)


def normal(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Standard normal numbers; complex ones have a variance of 1 in all.

    Source: jax.random.normal.

    >>> from autodidax import random
    >>> random.normal(random.key(42), (3,)).round(3)
    array([-0.185, -2.17 ,  0.187])
    """
    one = single_key("normal", key)
    return _normal(one, shape_argument("normal", shape), dtype_argument("normal", dtype, "fc"))


def _factor(cov: Any, method: str) -> Any:
    """A matrix whose product with its transpose is the covariance."""
    if method == "cholesky":
        return linalg.cholesky(cov)
    if method == "eigh":
        values, vectors = linalg.eigh(cov)
    else:
        vectors, values, _ = linalg.svd(cov)
    return vectors * expand_dims(sqrt(values), (len(shape_of(values)) - 1,))


def multivariate_normal(
    key: Any, mean: Any, cov: Any, shape: Any = None, dtype: Any = None, method: str = "cholesky"
) -> Any:
    """Normal vectors with a mean (..., n) and a covariance (..., n, n): (*shape, n).

    `method` "eigh" or "svd" takes singular covariances, too.

    Source: jax.random.multivariate_normal.
    """
    one = single_key("multivariate_normal", key)
    if method not in ("cholesky", "eigh", "svd"):
        raise errors.ArgumentError(
            f"multivariate_normal: there is no method {method!r}", mend="give method='cholesky', 'eigh' or 'svd'"
        )
    mean, cov = operand(mean), operand(cov)
    common = np.result_type(dtype_of(mean), dtype_of(cov))
    common = common if common.kind == "f" else FLOAT
    dtype = dtype_argument("multivariate_normal", dtype, "f", common)
    mean, cov = (
        parameter("multivariate_normal", "mean", mean, common),
        parameter("multivariate_normal", "cov", cov, common),
    )
    mean_shape, cov_shape = shape_of(mean), shape_of(cov)
    if not mean_shape or cov_shape[-2:] != (mean_shape[-1], mean_shape[-1]):
        raise errors.ShapeError(
            f"multivariate_normal takes a mean (..., n) and a covariance (..., n, n), got shapes {mean_shape} and "
            f"{cov_shape}",
            mend="for numbers use random.normal(key, shape) * deviation + mean",
        )
    shape = result_shape("multivariate_normal", shape, mean_shape[:-1], cov_shape[:-2])
    numbers = real_normal(one, (*shape, mean_shape[-1]), dtype)
    column = matmul(_factor(cov, method), expand_dims(numbers, (len(shape) + 1,)))
    return mean + column[..., 0]


def truncated_normal(key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Standard normal numbers between two bounds, differentiable in both.

    Source: jax.random.truncated_normal.
    """
    one = single_key("truncated_normal", key)
    dtype = dtype_argument("truncated_normal", dtype)
    shape, (lower, upper) = parameters("truncated_normal", shape, dtype, lower=lower, upper=upper)
    root_two = dtype.type(_ROOT_TWO)
    u = between(one, shape, dtype, erf(lower / root_two), erf(upper / root_two))
    inside = [nextafter(stop_gradient_p(x), dtype.type(to)) for x, to in ((lower, math.inf), (upper, -math.inf))]
    return clip(astype(root_two * erfinv(u), dtype), *inside)


def lognormal(key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None) -> Any:
    """Numbers whose logarithm is normal with deviation sigma.

    Source: jax.random.lognormal.
    """
    one = single_key("lognormal", key)
    dtype = dtype_argument("lognormal", dtype, "fc")
    shape, (sigma,) = parameters("lognormal", shape, np.empty(0, dtype).real.dtype, sigma=sigma)
    return exp(_normal(one, shape, dtype) * sigma)


def _maxwell(one: KeyArray, shape: Shape, dtype: np.dtype) -> Any:
    return sqrt(reduce_sum(square(real_normal(one, (*shape, 3), dtype)), axes=(len(shape),)))


def maxwell(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Lengths of vectors of three standard normal numbers.

    Source: jax.random.maxwell.
    """
    one = single_key("maxwell", key)
    return _maxwell(one, shape_argument("maxwell", shape), dtype_argument("maxwell", dtype))


def double_sided_maxwell(key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None) -> Any:
    """loc + scale times numbers of `maxwell` with random signs.

    As in JAX the shape of the result is `shape` (that of the parameters where it is empty) and behind it that of the
    parameters.

    Source: jax.random.double_sided_maxwell.
    """
    one = single_key("double_sided_maxwell", key)
    dtype = dtype_argument("double_sided_maxwell", dtype)
    own, (loc, scale) = parameters("double_sided_maxwell", None, dtype, loc=loc, scale=scale)
    whole = (shape_argument("double_sided_maxwell", shape) or own) + own
    lengths, sides = children(one, 2)
    return signs(sides, whole, dtype) * _maxwell(lengths, whole, dtype) * scale + loc


@custom_jvp
def _at_its_level(x: Any, mean: Any) -> Any:
    """A drawn inverse Gaussian number as a function of its mean."""
    return x + 0 * mean


@_at_its_level.defjvp
def _at_its_level_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    """The distribution function at x varies with the mean m by -2/m**2 exp(2/m) P(b), with P the normal one and
    b = -(x/m + 1)/sqrt(x). Over the density that is, with Mills' ratio, dx/dm = 2 x**1.5 / m**2 P(b) / P'(b)."""
    mean = primals[1]
    x = _at_its_level(*primals)
    positive = where(greater(x, 0), x, 1)
    ratio = math.sqrt(0.5 * math.pi) * erfcx(divide(positive / mean + 1, math.sqrt(2.0) * sqrt(positive)))
    slope = where(greater(x, 0), 2 * power(positive, 1.5) / (mean * mean) * ratio, 0)
    return x, astype(slope, dtype_of(x)) * tangents[1]


def wald(key: Any, mean: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Inverse Gaussian numbers of a mean, with shape parameter 1; the derivative in the mean is that of a sample which
    stays at its level of the distribution function.

    Source: jax.random.wald, whose numbers these are (its derivative is another one).
    """
    one = single_key("wald", key)
    dtype = dtype_argument("wald", dtype)
    shape, (mean,) = parameters("wald", shape, dtype, mean=mean)
    mean = broadcast(mean, shape)
    fixed = stop_gradient_p(mean)
    normals, levels = children(one, 2)
    v, z = real_normal(normals, shape, dtype), unit(levels, shape, dtype)
    y = v * v
    squared = fixed * fixed
    x = fixed + squared * y / 2 - fixed / 2 * sqrt(4 * fixed * y + squared * (y * y))
    drawn = where(z <= fixed / (fixed + x), x, squared / x)
    return _at_its_level(drawn, mean) if isinstance(mean, Tracer) else drawn


def orthogonal(key: Any, n: Any, shape: Any = (), dtype: Any = None, m: Any = None) -> Any:
    """Orthogonal matrices (unitary for a complex dtype), uniform in their group: (*shape, n, m).

    With m other than n the rows or the columns are orthonormal, whichever are fewer.

    Source: jax.random.orthogonal.
    """
    one = single_key("orthogonal", key)
    dtype = dtype_argument("orthogonal", dtype, "fc")
    shape = shape_argument("orthogonal", shape)
    rows = size_argument("orthogonal", "n", n)
    columns = rows if m is None else size_argument("orthogonal", "m", m)
    z = _normal(one, (*shape, max(rows, columns), min(rows, columns)), dtype)
    q, r = linalg.qr(z)
    diagonal = linalg.diagonal(r)
    out = q * expand_dims(sign(diagonal), (len(shape),))
    return swapaxes(out, -1, -2) if rows < columns else out
