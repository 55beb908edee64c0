"""Random keys and what is drawn from them: seeding, splitting, folding in, bits, uniform and normal numbers.

A key is one row of 32-bit words, u32[..., w]; an operation on an array of keys is that on each of them. `generator`
names the algorithm: "threefry2x32" (w = 2) or "philox" (w = 4).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.avals import PYTHON_SCALARS, ShapedArray, broadcast_shapes
from autodidax.core.interpreters import shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives import random_philox, threefry
from autodidax.primitives.shape import broadcast_to

GENERATORS: dict[str, Any] = {module.NAME: module for module in (threefry, random_philox)}

_ROOT_TWO = math.sqrt(2.0)
_ONE = {np.dtype(t): np.array(1, t).view(f"u{np.dtype(t).itemsize}") for t in (np.float16, np.float32, np.float64)}
_MANTISSA = {np.dtype(np.float16): 10, np.dtype(np.float32): 23, np.dtype(np.float64): 52}


def sample_keys(rng: np.random.Generator, *shape: int, generator: str = threefry.NAME) -> np.ndarray:
    """Keys for samples."""
    return rng.integers(0, 1 << 32, (*shape, GENERATORS[generator].WORDS), dtype=np.uint32)


def unit_interval(bits: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Random bits as numbers in [0, 1): their upper part becomes a mantissa; the bits are overwritten.

    Source: jax.random.uniform.
    """
    width = 8 * dtype.itemsize
    np.right_shift(bits, bits.dtype.type(width - _MANTISSA[dtype]), bits)
    np.bitwise_or(bits, _ONE[dtype], bits)
    out = bits.view(dtype)
    return np.subtract(out, dtype.type(1), out)


def normal_from_unit(u: np.ndarray) -> np.ndarray:
    """Standard normal numbers of uniform ones in [0, 1), which are overwritten, by the inverse distribution function.

    Source: jax.random.normal.
    """
    single = u.dtype.type
    lowest = np.nextafter(single(-1), single(0))
    np.multiply(u, single(1) - lowest, u)
    np.add(u, lowest, u)
    wide = u.astype(np.float32) if u.dtype == np.float16 else u
    sc.erfinv(wide, wide)
    np.multiply(wide, wide.dtype.type(_ROOT_TWO), wide)
    return wide.astype(u.dtype, copy=False)


def rows_of(key: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A parameter as one row for each key: u32[*k, w], f[*k, ...] -> f[m, n]."""
    lead = key.ndim - 1
    return x.reshape(math.prod(x.shape[:lead]), math.prod(x.shape[lead:]))


def both_mapped(args: Any, dims: Any) -> list[Any]:
    """Operands of a batching rule with the batch axis in all of them: a batch of equal rows where there was none."""
    size = next(a.shape[0] for a, d in zip(args, dims, strict=True) if d is not None)
    return [
        a if d is not None else broadcast_to(a, shape=(size, *shape_of(a))) for a, d in zip(args, dims, strict=True)
    ]


class RandomSeed(Primitive):
    """Keys of integer seeds: i[...] -> u32[..., w]; 32-bit seeds have an upper half of zeros."""

    zero_derivative = True

    def impl(self, seeds, *, generator):
        seeds = np.asarray(seeds)
        flat = seeds.reshape(-1).astype(np.int64 if seeds.dtype.kind == "i" else np.uint64).view(np.uint64)
        low = (flat & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        high = (flat >> np.uint64(32)).astype(np.uint32) if seeds.dtype.itemsize == 8 else np.zeros_like(low)
        return GENERATORS[generator].seed(high, low).reshape(*seeds.shape, GENERATORS[generator].WORDS)

    def abstract_eval(self, seeds, *, generator):
        return ShapedArray((*seeds.shape, GENERATORS[generator].WORDS), np.uint32)

    def batch(self, args, dims, *, generator):
        return self(*args, generator=generator), 0

    def samples(self, rng):
        for name in GENERATORS:
            yield sample(7, generator=name, name="Python scalar")
            yield sample(np.array([3, -1, 1 << 40]), generator=name)
            yield sample(np.array([3, -1], np.int32), generator=name)
            yield sample(np.array([[3], [1]], np.uint64), generator=name)


class _OfKeys(Primitive):
    """An operation on each of an array of keys, whose axes come first in the result."""

    zero_derivative = True

    def batch(self, args, dims, **params):
        return self(*args, **params), 0


class RandomSplit(_OfKeys):
    """New keys of each key: u32[..., w] -> u32[..., *shape, w]."""

    def impl(self, key, *, shape, generator):
        lead, w = key.shape[:-1], key.shape[-1]
        return GENERATORS[generator].split(key.reshape(-1, w), math.prod(shape)).reshape(*lead, *shape, w)

    def abstract_eval(self, key, *, shape, generator):
        return ShapedArray((*key.shape[:-1], *shape, key.shape[-1]), np.uint32)

    def samples(self, rng):
        for name in GENERATORS:
            for lead, shape in [((), (2,)), ((), ()), ((3,), (2, 2)), ((2, 1), (7,)), ((0,), (2,)), ((2,), (0,))]:
                yield sample(sample_keys(rng, *lead, generator=name), shape=shape, generator=name)


class RandomFoldIn(Primitive):
    """A new key of a key and an integer, which broadcast: u32[..., w], u32[...] -> u32[..., w]."""

    zero_derivative = True

    def impl(self, key, data, *, generator):
        w = key.shape[-1]
        shape = np.broadcast_shapes(key.shape[:-1], np.shape(data))
        keys = np.broadcast_to(key, (*shape, w)).reshape(-1, w)
        data = np.broadcast_to(np.asarray(data, np.uint32), shape).reshape(-1)
        return GENERATORS[generator].fold_in(keys, data).reshape(*shape, w)

    def abstract_eval(self, key, data, *, generator):
        shape = broadcast_shapes("fold_in", key.shape[:-1], data.shape)
        return ShapedArray((*shape, key.shape[-1]), np.uint32)

    def batch(self, args, dims, *, generator):
        key, data = args
        ranks = [len(key.shape) - 1 - (dims[0] is not None), len(np.shape(data)) - (dims[1] is not None)]
        if dims[0] is not None and ranks[0] < ranks[1]:
            key = key.reshape((key.shape[0], *(1,) * (ranks[1] - ranks[0]), *key.shape[1:]))
        if dims[1] is not None and ranks[1] < ranks[0]:
            data = data.reshape((data.shape[0], *(1,) * (ranks[0] - ranks[1]), *data.shape[1:]))
        return self(key, data, generator=generator), 0

    def samples(self, rng):
        for name in GENERATORS:
            for lead, shape in [((), ()), ((3,), ()), ((), (3,)), ((2, 1), (3,)), ((2,), (3, 1)), ((0,), ())]:
                data = rng.integers(0, 1 << 32, shape, dtype=np.uint32)
                yield sample(sample_keys(rng, *lead, generator=name), data, generator=name)


class RandomBits(_OfKeys):
    """Unsigned integers of random bits: u32[..., w] -> u[..., *shape]."""

    def impl(self, key, *, shape, dtype, generator):
        n = math.prod(shape)
        out = GENERATORS[generator].random_bits(key.reshape(-1, key.shape[-1]), n, 8 * dtype.itemsize)
        return out.reshape(key.shape[:-1] + shape)[()]

    def abstract_eval(self, key, *, shape, dtype, generator):
        return ShapedArray(key.shape[:-1] + shape, dtype)

    def samples(self, rng):
        for name in GENERATORS:
            for lead, shape in [((), ()), ((), (2, 3)), ((2,), ()), ((2, 2), (3,)), ((), (0, 2)), ((0,), (2,))]:
                dtype = np.dtype(np.uint64)
                yield sample(sample_keys(rng, *lead, generator=name), shape=shape, dtype=dtype, generator=name)
            for kind in (np.uint8, np.uint16, np.uint32):
                yield sample(sample_keys(rng, generator=name), shape=(5,), dtype=np.dtype(kind), generator=name)
            keys = sample_keys(rng, 2, generator=name)
            yield sample(keys, shape=(20000,), dtype=np.dtype(np.uint64), generator=name, name="long")


class _Numbers(_OfKeys):
    """Floating-point numbers drawn from each key: u32[..., w] -> f[..., *shape]."""

    def impl(self, key, *, shape, dtype, generator):
        out = self.drawn(GENERATORS[generator], key.reshape(-1, key.shape[-1]), math.prod(shape), dtype)
        return out.reshape(key.shape[:-1] + shape)[()]

    def drawn(self, module: Any, keys: np.ndarray, n: int, dtype: np.dtype) -> np.ndarray:
        """n numbers for each of a row of keys: u32[m, w] -> f[m, n]."""
        raise NotImplementedError

    def abstract_eval(self, key, *, shape, dtype, generator):
        return ShapedArray(key.shape[:-1] + shape, dtype)

    def samples(self, rng):
        for name in GENERATORS:
            for lead, shape in [((), ()), ((), (2, 3)), ((2,), ()), ((2, 2), (3,)), ((), (0, 2)), ((0,), (2,))]:
                dtype = np.dtype(np.float64)
                yield sample(sample_keys(rng, *lead, generator=name), shape=shape, dtype=dtype, generator=name)
            for kind in (np.float16, np.float32):
                yield sample(sample_keys(rng, generator=name), shape=(5,), dtype=np.dtype(kind), generator=name)


class RandomUniform(_Numbers):
    """Uniform numbers in [0, 1): u32[..., w] -> f[..., *shape]."""

    def drawn(self, module: Any, keys: np.ndarray, n: int, dtype: np.dtype) -> np.ndarray:
        if module is random_philox and dtype.itemsize > 2:
            return random_philox.uniform(keys, n, dtype)
        return unit_interval(module.random_bits(keys, n, 8 * dtype.itemsize), dtype)


class FineUniform(_OfKeys):
    """Uniform numbers of 64 bits by their distances from the nearer end of [0, 1], as float32 with all digits, and
    whether that end is 0: u32[..., w] -> bool[..., *shape], f32[..., *shape].

    Source: jax.random.gumbel with mode="highest".
    """

    multiple_results = True

    def impl(self, key, *, shape, generator):
        n = math.prod(shape)
        bits = GENERATORS[generator].random_bits(key.reshape(-1, key.shape[-1]), 2 * n, 32)
        high, low = bits[:, :n].astype(np.uint64), bits[:, n:].astype(np.uint64)
        x = high << np.uint64(32) | low
        below = high < 1 << 31
        x = np.where(below, x, np.uint64(0) - x)
        shape = key.shape[:-1] + shape
        return [below.reshape(shape)[()], _leading_digits(x).reshape(shape)[()]]

    def abstract_eval(self, key, *, shape, generator):
        shape = key.shape[:-1] + shape
        return [ShapedArray(shape, np.bool_), ShapedArray(shape, np.float32)]

    def batch(self, args, dims, **params):
        return self(*args, **params), [0, 0]

    def samples(self, rng):
        for name in GENERATORS:
            for lead, shape in [((), ()), ((), (2, 3)), ((2,), (3,)), ((), (0, 2)), ((0,), (2,))]:
                yield sample(sample_keys(rng, *lead, generator=name), shape=shape, generator=name)


def _leading_digits(x: np.ndarray) -> np.ndarray:
    """64-bit fractions as float32, cut off behind 24 digits."""
    _, length = np.frexp((x >> np.uint64(11)).astype(np.float64))  # exact: of 53 bits
    shift = np.maximum(length + 11 - 24, 0)
    return np.ldexp((x >> shift.astype(np.uint64)).astype(np.float32), shift - 64)


class RandomNormal(_Numbers):
    """Standard normal numbers: u32[..., w] -> f[..., *shape]."""

    def drawn(self, module: Any, keys: np.ndarray, n: int, dtype: np.dtype) -> np.ndarray:
        if module is random_philox:
            return random_philox.normal(keys, n, np.float32 if dtype.itemsize == 2 else dtype).astype(dtype, copy=False)
        return normal_from_unit(unit_interval(module.random_bits(keys, n, 8 * dtype.itemsize), dtype))


class DiscreteParameter(Primitive):
    """The identity on a parameter of a discrete distribution: (...) -> (...)."""

    nondifferentiable = (
        "it is a parameter of a discrete distribution, whose samples jump from one value to the next. For the "
        "derivative of an expectation draw with stop_gradient(parameter) and use the score function (log-probability "
        "times value), or a relaxation such as softmax((logits + gumbel noise) / temperature)"
    )

    def impl(self, x):
        return x if type(x) in PYTHON_SCALARS else np.array(x)[()]

    def abstract_eval(self, x):
        return x

    def batch(self, args, dims):
        return self(*args), 0

    def samples(self, rng):
        for shape in [(), (2, 3), (0,)]:
            yield sample(rng.random(shape))
        yield sample(rng.random(3).astype(np.float32))
        yield sample(0.5, name="Python scalar")


random_seed = RandomSeed("random_seed")
random_split = RandomSplit("random_split")
random_fold_in = RandomFoldIn("random_fold_in")
random_bits = RandomBits("random_bits")
random_uniform = RandomUniform("random_uniform")
fine_uniform = FineUniform("random_fine_uniform")
random_normal = RandomNormal("random_normal")
discrete_parameter = DiscreteParameter("discrete_parameter")
