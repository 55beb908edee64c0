"""Random integers of a range.

Source: jax.random.randint, whose integers these are: twice as many bits as an integer has, modulo the range, so that
the bias towards its beginning is negligible.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodidax.core.avals import ShapedArray
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.random_bits import GENERATORS, both_mapped, sample_keys


def _clipped(x: Any, dtype: np.dtype, above: int = 0) -> np.ndarray:
    """Integers brought into the range of a dtype, which may reach a little higher, as integers of their own dtype."""
    own, info = np.iinfo(x.dtype), np.iinfo(dtype)
    return np.clip(x, max(own.min, info.min), min(own.max, info.max + above))


def _remainder(x: np.ndarray, span: np.ndarray) -> np.ndarray:
    """x modulo the span, and x itself where that is 0, which stands for all integers."""
    return np.where(span == 0, x, np.remainder(x, np.where(span == 0, span.dtype.type(1), span)))


def _in_range(high_bits: Any, low_bits: Any, low: np.ndarray, high: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Integers of a range of 32 or 64 bits."""
    unsigned = low_bits.dtype.type
    to_the_end = high > np.iinfo(dtype).max
    low, high = _clipped(low, dtype).astype(dtype), _clipped(high, dtype).astype(dtype)
    span = (high.astype(unsigned) - low.astype(unsigned)).astype(unsigned)
    span = np.where(high <= low, unsigned(1), span + (to_the_end & (high > low)).astype(unsigned))
    half = unsigned(1 << 4 * low_bits.dtype.itemsize)
    factor = _remainder(half, span)
    factor = _remainder(factor * factor, span)
    offset = _remainder(_remainder(high_bits, span) * factor + _remainder(low_bits, span), span)
    return (low.astype(unsigned) + offset).astype(dtype)


class RandomIntegers(Primitive):
    """Integers in [low, high): u32[*k, w], i[*k, ...], i[*k, ...] -> i[*k, *shape]; the bounds have as many axes as the
    result, and broadcast to it."""

    zero_derivative = True

    def impl(self, key, low, high, *, shape, dtype, generator):
        module = GENERATORS[generator]
        low, high = np.asarray(low), np.asarray(high)
        low, high = [x.astype(np.int8) if x.dtype.kind == "b" else x for x in (low, high)]
        wide = dtype
        if dtype.itemsize < 4:
            wide = np.dtype(np.int32)
            low, high = _clipped(low, dtype).astype(wide), _clipped(high, dtype, above=1).astype(wide)
        keys = key.reshape(-1, key.shape[-1])
        two = module.split(keys, 2)
        shape = key.shape[:-1] + shape
        n = math.prod(shape) // len(keys) if len(keys) else 0
        above, below = (module.random_bits(two[:, k], n, 8 * wide.itemsize).reshape(shape) for k in (0, 1))
        return _in_range(above, below, low, high, wide).astype(dtype)[()]

    def abstract_eval(self, key, low, high, *, shape, dtype, generator):
        return ShapedArray(key.shape[:-1] + shape, dtype)

    def batch(self, args, dims, **params):
        return self(*both_mapped(args, dims), **params), 0

    def samples(self, rng):
        dtype = np.dtype(np.int64)
        for name in GENERATORS:
            for lead, shape in [((), ()), ((), (2, 3)), ((2,), (3,)), ((2,), ()), ((), (0, 2)), ((0,), (2,))]:
                ones = np.zeros((*lead, *(1,) * len(shape)), np.int64)
                keys = sample_keys(rng, *lead, generator=name)
                yield sample(keys, ones - 3, ones + 10, shape=shape, dtype=dtype, generator=name)
            keys = sample_keys(rng, generator=name)
            for kind in (np.uint8, np.int16, np.uint32, np.int32):
                bounds = np.array([[0], [7]]), np.array([[300, 5, 8]])
                yield sample(keys, *bounds, shape=(2, 3), dtype=np.dtype(kind), generator=name)
            everything = np.array([-(1 << 63)]), np.array([(1 << 64) - 1], np.uint64)
            yield sample(keys, *everything, shape=(3,), dtype=dtype, generator=name, name="all integers")


random_integers = RandomIntegers("random_integers")
