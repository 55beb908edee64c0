"""Random orders, and choices from the entries of an array."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy.dispatch import axis_of, operand
from autodidax.primitives.convert import zeros_of
from autodidax.primitives.cumulative import cumsum
from autodidax.primitives.elementwise import log
from autodidax.primitives.gather import take, take_along_axis
from autodidax.primitives.random_bits import random_bits
from autodidax.primitives.sorting import argsort, searchsorted, top_k
from autodidax.random.arguments import (
    FLOAT,
    INT,
    Shape,
    discrete,
    parameter,
    shape_argument,
    size_argument,
)
from autodidax.random.continuous import check_mode, gumbel_numbers
from autodidax.random.key_array import KeyArray
from autodidax.random.keys import children, single_key
from autodidax.random.uniforms import integers, unit

_UINT32 = np.dtype(np.uint32)


def _shuffled(one: KeyArray, x: Any, axis: int) -> Any:
    """x with its entries along an axis in random orders, each line in its own: sorted by random bits, several times so
    that no two entries are likely to have equal bits in all."""
    shape = shape_of(x)
    rounds = math.ceil(3 * math.log(max(1, math.prod(shape))) / math.log(0xFFFFFFFF))
    for _ in range(rounds):
        one, bits = children(one, 2)
        order = argsort(
            random_bits(bits._data, shape=shape, dtype=_UINT32, generator=one._generator), axis, stable=True
        )
        x = take_along_axis(x, order, axis)
    return x


def _permuted(one: KeyArray, x: Any, axis: int, independent: bool) -> Any:
    if independent or len(shape_of(x)) == 1:
        return _shuffled(one, x, axis)
    return take(x, _shuffled(one, np.arange(shape_of(x)[axis]), 0), axis)


def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Any:
    """The entries of x along an axis in a random order, or those of arange(x) for an integer.

    With independent=True each line along the axis has an order of its own.

    Source: jax.random.permutation.

    >>> from autodidax import random
    >>> random.permutation(random.key(0), 5)
    array([0, 1, 4, 3, 2])
    """
    one = single_key("permutation", key)
    x = operand(x)
    if not shape_of(x):
        if dtype_of(x).kind not in "iu":
            raise errors.DtypeError(
                f"permutation takes an integer or an array, got a number of dtype {dtype_of(x)}",
                mend="give an integer",
            )
        axis_of(axis, 1)
        return _shuffled(one, np.arange(size_argument("permutation", "x", x)), 0)
    return _permuted(one, x, axis_of(axis, len(shape_of(x))), independent)


def choice(
    key: Any, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0, mode: str | None = None
) -> Any:
    """Entries of `a` along an axis, or of arange(a), with chances p or equal ones: the axis becomes `shape`.

    Source: jax.random.choice.

    >>> import numpy as np
    >>> from autodidax import random
    >>> random.choice(random.key(0), np.array([1.5, 2.5, 3.5]), (6,), p=np.array([0.6, 0.2, 0.2]))
    array([1.5, 2.5, 1.5, 1.5, 1.5, 2.5])
    """
    one = single_key("choice", key)
    shape = shape_argument("choice", shape)
    a = operand(a)
    own = shape_of(a)
    if own:
        axis = axis_of(axis, len(own))
        size = own[axis]
    else:
        if dtype_of(a).kind not in "iu":
            raise errors.DtypeError(
                f"choice takes an integer or an array, got a number of dtype {dtype_of(a)}", mend="give an integer"
            )
        axis, size = 0, size_argument("choice", "a", a)
    draws = math.prod(shape)
    whole = (*own[:axis], *shape, *own[axis + 1 :])
    if draws == 0:
        return zeros_of(np.empty(whole, dtype_of(a) if own else INT))
    if size < 1:
        raise errors.ArgumentError("choice: there is nothing to choose from", mend="give a positive size or an array")
    if not replace and draws > size:
        raise errors.ArgumentError(
            f"choice: {draws} draws of {size} entries without replacement", mend="draw fewer, or with replace=True"
        )
    if p is None and not replace:
        lines = _permuted(one, a if own else np.arange(size), axis, False)
        return lines[(slice(None),) * axis + (slice(draws),)].reshape(whole)
    places = integers(one, shape, 0, size, INT) if p is None else _weighted(one, p, shape, size, replace, mode)
    return take(a, places, axis).reshape(whole) if own else places


def _weighted(one: KeyArray, p: Any, shape: Shape, size: int, replace: bool, mode: str | None) -> Any:
    """Positions drawn with the chances p."""
    p = operand(p)
    if shape_of(p) != (size,):
        raise errors.ShapeError(
            f"choice: p has shape {shape_of(p)}, for {errors.counted(size, 'entry').replace('entrys', 'entries')}",
            mend=f"give p of shape ({size},)",
        )
    p = discrete("choice", "p", parameter("choice", "p", p, dtype_of(p) if dtype_of(p).kind == "f" else FLOAT))
    if replace:
        sums = cumsum(p, axis=0, reverse=False)
        return searchsorted(sums, sums[-1] * (1 - unit(one, shape, dtype_of(p))))
    noise = gumbel_numbers(one, (size,), dtype_of(p), check_mode("choice", mode))
    return top_k(noise + log(p), math.prod(shape))[1].reshape(shape)
