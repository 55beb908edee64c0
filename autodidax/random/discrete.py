"""Discrete distributions: categories and counts. Their samples have no derivative in the parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.control_flow.loops import scan
from autodidax.core.interpreters import dtype_of, quietly, shape_of
from autodidax.numpy.dispatch import axis_of, operand
from autodidax.primitives.comparison import equal, less
from autodidax.primitives.convert import astype
from autodidax.primitives.cumulative import cumsum
from autodidax.primitives.elementwise import log, log1p
from autodidax.primitives.extrema import clip
from autodidax.primitives.random_bits import random_split
from autodidax.primitives.random_counts import random_binomial, random_poisson
from autodidax.primitives.reductions import argmax
from autodidax.primitives.rounding import floor
from autodidax.primitives.select import where
from autodidax.primitives.shape import moveaxis
from autodidax.primitives.sorting import top_k
from autodidax.random.arguments import (
    FLOAT,
    INT,
    broadcast,
    discrete,
    dtype_argument,
    parameter,
    parameters,
    result_shape,
)
from autodidax.random.continuous import check_mode, gumbel_numbers
from autodidax.random.keys import single_key
from autodidax.random.uniforms import unit


def categorical(
    key: Any, logits: Any, axis: int = -1, shape: Any = None, replace: bool = True, mode: str | None = None
) -> Any:
    """Positions along an axis, drawn with chances proportional to exp(logits): int64.

    `shape` ends with the shape of the logits without the axis. Without replacement its first axes are those of one
    draw.

    Source: jax.random.categorical.

    >>> import numpy as np
    >>> from autodidax import random
    >>> random.categorical(random.key(0), np.log([0.1, 0.9]), shape=(5,))
    array([1, 0, 1, 1, 1])
    """
    one = single_key("categorical", key)
    mode = check_mode("categorical", mode)
    logits = operand(logits)
    if not shape_of(logits):
        raise errors.ShapeError("categorical takes logits (..., n), got one number", mend="give one logit a category")
    dtype = dtype_of(logits) if dtype_of(logits).kind == "f" else FLOAT
    logits = discrete("categorical", "logits", parameter("categorical", "logits", logits, dtype))
    axis = axis_of(axis, len(shape_of(logits)))
    sizes = list(shape_of(logits))
    count = sizes.pop(axis)
    shape = tuple(sizes) if shape is None else result_shape("categorical", shape, tuple(sizes))
    first = shape[: len(shape) - len(sizes)]
    if replace:
        drawn = list(shape[len(first) :])
        drawn.insert(axis, count)
        noise = gumbel_numbers(one, (*first, *drawn), dtype, mode)
        return argmax(noise + logits, axis=axis + len(first))
    if math.prod(first) > count:
        raise errors.ArgumentError(
            f"categorical: {math.prod(first)} draws of {count} categories without replacement",
            mend="draw fewer, or with replace=True",
        )
    # the noise is drawn in the shape of the logits, and the axis brought to the end after that
    noisy = moveaxis(gumbel_numbers(one, shape_of(logits), dtype, mode) + logits, axis, -1)
    places = moveaxis(top_k(noisy, math.prod(first))[1], -1, 0)
    return places.reshape(shape)


def poisson(key: Any, lam: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Poisson numbers of mean lam: int64 by default; -1 for a mean that is negative or nan.

    Source: jax.random.poisson.

    >>> from autodidax import random
    >>> random.poisson(random.key(0), 3.0, (4,))
    array([0, 0, 4, 4])
    """
    one = single_key("poisson", key)
    shape, (lam,) = parameters("poisson", shape, FLOAT, lam=lam)
    lam = broadcast(discrete("poisson", "lam", lam), shape)
    return random_poisson(one._data, lam, dtype=dtype_argument("poisson", dtype, "iuf", INT), generator=one._generator)


def geometric(key: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """How many trials it takes to succeed with chance p, at least 1: int64 by default.

    Source: jax.random.geometric.
    """
    one = single_key("geometric", key)
    dtype = dtype_argument("geometric", dtype, "iu", INT)
    p = operand(p)
    own = dtype_of(p) if dtype_of(p).kind == "f" else FLOAT
    shape, (p,) = parameters("geometric", shape, own, p=p)
    u = unit(one, shape, own)
    with quietly():  # a chance of 0 or 1 gives infinities, one outside nan
        trials = floor(log(where(equal(u, 0), 1, u)) / broadcast(log1p(-discrete("geometric", "p", p)), shape)) + 1
        largest = np.iinfo(dtype).max
        fits = less(trials, float(largest))
        return where(fits, astype(where(fits, trials, 0), dtype), where(equal(trials, trials), largest, 0)).astype(
            dtype
        )


def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """How many of n trials succeed, each with chance p, as floating-point numbers; nan for impossible parameters.

    Source: jax.random.binomial.
    """
    one = single_key("binomial", key)
    dtype = dtype_argument("binomial", dtype)
    p = operand(p)
    own = dtype_of(p) if dtype_of(p).kind == "f" else FLOAT
    shape, (n, p) = parameters("binomial", shape, own, n=n, p=p)
    n, p = (broadcast(discrete("binomial", what, x), shape) for what, x in (("n", n), ("p", p)))
    return random_binomial(one._data, n, p, dtype=dtype, generator=one._generator)


def multinomial(key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = None, unroll: Any = 1) -> Any:
    """How many of n trials fall into each category, with chances p (..., k): floating-point numbers (..., k).

    Source: jax.random.multinomial.
    """
    one = single_key("multinomial", key)
    n, p = operand(n), operand(p)
    own = np.result_type(*(dtype_of(x) if dtype_of(x).kind == "f" else FLOAT for x in (n, p)))
    n, p = (discrete("multinomial", what, parameter("multinomial", what, x, own)) for what, x in (("n", n), ("p", p)))
    if not shape_of(p):
        raise errors.ShapeError("multinomial takes chances (..., k), got one number", mend="give one chance a category")
    shape = shape_of(p) if shape is None else result_shape("multinomial", shape, shape_of(p))
    p = moveaxis(broadcast(p, shape), -1, 0)
    remaining = cumsum(p, axis=0, reverse=True)
    ratios = clip(p / where(equal(remaining, 0), 1, remaining), 0.0, 1.0)
    keys = random_split(one._data, shape=(shape[-1],), generator=one._generator)

    def step(left: Any, category: Any) -> tuple[Any, Any]:
        ratio, data = category
        count = random_binomial(data, left, ratio, dtype=own, generator=one._generator)
        return left - count, count

    _, counts = scan(step, broadcast(n, shape[:-1]), (ratios, keys), unroll=unroll)
    return astype(moveaxis(counts, 0, -1), dtype_argument("multinomial", dtype, "fiu"))
