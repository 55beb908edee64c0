"""Bits, and what is uniform: numbers of an interval, integers of a range, signs, truth values."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.numpy.dispatch import operand
from autodidax.primitives.comparison import less
from autodidax.primitives.convert import astype
from autodidax.primitives.extrema import maximum
from autodidax.primitives.random_bits import random_bits, random_uniform
from autodidax.primitives.random_integers import random_integers
from autodidax.primitives.shape import reshape
from autodidax.random.arguments import (
    INT,
    Shape,
    discrete,
    dtype_argument,
    parameter,
    parameters,
    result_shape,
    shape_argument,
)
from autodidax.random.key_array import KeyArray
from autodidax.random.keys import single_key
from autodidax.transforms.boundary import described

_UINT64 = np.dtype(np.uint64)


def bits(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Random bits, as unsigned integers: uint64 by default.

    Source: jax.random.bits.

    >>> from autodidax import random
    >>> random.bits(random.key(0), (2,), np.uint8)
    array([167, 146], dtype=uint8)
    """
    one = single_key("bits", key)
    dtype = dtype_argument("bits", dtype, "u", _UINT64)
    return random_bits(one._data, shape=shape_argument("bits", shape), dtype=dtype, generator=one._generator)


def unit(one: KeyArray, shape: Shape, dtype: np.dtype) -> Any:
    """Uniform numbers in [0, 1)."""
    return random_uniform(one._data, shape=shape, dtype=dtype, generator=one._generator)


def between(one: KeyArray, shape: Shape, dtype: np.dtype, low: Any, high: Any) -> Any:
    """Uniform numbers in [low, high), for bounds of this dtype."""
    return maximum(low, unit(one, shape, dtype) * (high - low) + low)


def uniform(key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0) -> Any:
    """Uniform numbers in [minval, maxval), differentiable in both.

    Source: jax.random.uniform.

    >>> from autodidax import random
    >>> random.uniform(random.key(0), (2,)).round(3)
    array([0.418, 0.216])
    """
    one = single_key("uniform", key)
    shape, dtype = shape_argument("uniform", shape), dtype_argument("uniform", dtype)
    if type(minval) is float and type(maxval) is float and minval == 0.0 and maxval == 1.0:
        return unit(one, shape, dtype)
    shape, (low, high) = parameters("uniform", shape, dtype, minval=minval, maxval=maxval)
    return between(one, shape, dtype, low, high)


def _bound(what: str, x: Any, rank: int) -> Any:
    """A bound of a range of integers, with as many axes as the result."""
    x = operand(x)
    kind = dtype_of(x).kind
    if kind == "f":
        x = astype(discrete("randint", what, x), INT)
    elif kind not in "iub":
        raise errors.DtypeError(f"randint: {what} takes integers, got {described(x)}", mend=f"give an integer {what}")
    shape = shape_of(x)
    x = x if isinstance(x, Tracer) else np.asarray(x)
    return x if len(shape) == rank else reshape(x, shape=(*(1,) * (rank - len(shape)), *shape))


def integers(one: KeyArray, shape: Shape, low: Any, high: Any, dtype: np.dtype) -> Any:
    """Integers in [low, high); low where there are none."""
    bounds = [_bound(what, x, len(shape)) for what, x in (("minval", low), ("maxval", high))]
    return random_integers(one._data, *bounds, shape=shape, dtype=dtype, generator=one._generator)


def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None) -> Any:
    """Integers in [minval, maxval): int64 by default; minval where the range is empty.

    Source: jax.random.randint.

    >>> from autodidax import random
    >>> random.randint(random.key(0), (4,), 0, 10)
    array([5, 1, 5, 7])
    """
    one = single_key("randint", key)
    dtype = dtype_argument("randint", dtype, "iu", INT)
    wanted = result_shape("randint", shape_argument("randint", shape), shape_of(minval), shape_of(maxval))
    return integers(one, wanted, minval, maxval, dtype)


def truth(one: KeyArray, p: Any, shape: Shape) -> Any:
    """True with chance p."""
    return less(unit(one, shape, dtype_of(p)), p)


def bernoulli(key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low") -> Any:
    """True with chance p: bool; mode="high" is right for chances below 1e-7 in float32, too.

    Source: jax.random.bernoulli.

    >>> from autodidax import random
    >>> random.bernoulli(random.key(0), 0.3, (4,))
    array([False,  True, False, False])
    """
    if mode not in ("low", "high"):
        raise errors.ArgumentError(f"bernoulli: there is no mode {mode!r}", mend="give mode='low' or 'high'")
    one = single_key("bernoulli", key)
    p = operand(p)
    if dtype_of(p).kind != "f":
        raise errors.DtypeError(
            f"bernoulli takes a chance of floating dtype, got {described(p)}", mend="give a float p"
        )
    p = discrete("bernoulli", "p", parameter("bernoulli", "p", p, dtype_of(p)))
    shape = result_shape("bernoulli", shape, shape_of(p))
    if mode == "low":
        return truth(one, p, shape)
    both = unit(one, (2, *shape), dtype_of(p))
    return less(both[1] * 2.0 ** -np.finfo(dtype_of(p)).nmant, p - both[0])


def signs(one: KeyArray, shape: Shape, dtype: np.dtype) -> Any:
    """1 and -1 with equal chances."""
    return astype(2 * astype(truth(one, np.float64(0.5), shape), dtype) - 1, dtype)


def rademacher(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """1 and -1 with equal chances: int64 by default.

    Source: jax.random.rademacher.
    """
    one = single_key("rademacher", key)
    dtype = dtype_argument("rademacher", dtype, "ifc", INT)
    return signs(one, shape_argument("rademacher", shape), dtype)
