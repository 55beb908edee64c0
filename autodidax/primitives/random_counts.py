"""Poisson and binomial variates.

Source: Hoermann, The transformed rejection method for generating Poisson random variables (1993); Hoermann, The
generation of binomial random variates (1993); with the bits used as in jax.random.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.avals import ShapedArray
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives import random_philox, threefry
from autodidax.primitives.random_bits import (
    GENERATORS,
    DiscreteParameter,
    both_mapped,
    rows_of,
    sample_keys,
    unit_interval,
)

_LARGEST = 9.2e18  # NumPy's generator takes no larger means and counts


class _Rounds:
    """Rounds of uniform numbers for those entries of an array u[m, n] that still wait, a row a key.

    In each round every row's key is split; one of the new keys is that of the next round, and each of the others has
    one number for each entry. `waiting` are positions in the flat array.
    """

    def __init__(self, keys: np.ndarray, chosen: np.ndarray, dtype: Any, *, children: int, next_key: int):
        self.keys = keys
        self.columns = chosen.shape[1]
        self.waiting = np.flatnonzero(chosen)
        self.dtype = np.dtype(dtype)
        self.children, self.next_key = children, next_key

    def draw(self) -> list[np.ndarray]:
        """The numbers of the next round for the entries that wait, one array for each key that has some."""
        new = threefry.split(self.keys, self.children)
        self.keys = new[:, self.next_key]
        rows, columns = np.divmod(self.waiting, self.columns)
        width = 8 * self.dtype.itemsize
        others = [k for k in range(self.children) if k != self.next_key]
        return [unit_interval(threefry.bits_at(new[rows, k], columns, width), self.dtype) for k in others]

    def keep(self, again: np.ndarray) -> None:
        """Let only those wait on that are marked, of those that wait."""
        self.waiting = self.waiting[again]

    def keep_rows(self, done: np.ndarray) -> None:
        """Let all entries of a row wait on until all of them are done, as JAX does, whose later numbers replace earlier
        ones."""
        if self.waiting.size:
            finished: np.ndarray = np.all(done.reshape(-1, self.columns), axis=1)
            self.keep(~finished[self.waiting // self.columns])


def _poisson_by_products(rounds: _Rounds, mean: np.ndarray) -> np.ndarray:
    """How many uniform numbers it takes for their product to fall below exp(-mean), less one."""
    count, log_product = np.full(mean.shape, -1.0, np.float32), np.zeros_like(mean)
    while True:
        rounds.keep(log_product[rounds.waiting] > -mean[rounds.waiting])
        if not rounds.waiting.size:
            return count
        (u,) = rounds.draw()
        count[rounds.waiting] += 1
        log_product[rounds.waiting] += np.log(u)


def _poisson_by_rejection(rounds: _Rounds, mean: np.ndarray) -> np.ndarray:
    single = np.float32
    b = single(0.931) + single(2.53) * np.sqrt(mean)
    a = single(-0.059) + single(0.02483) * b
    inverse_alpha = single(1.1239) + single(1.1328) / (b - single(3.4))
    squeeze = single(0.9277) - single(3.6224) / (b - 2)
    log_mean = np.log(mean)
    count, done = np.full(mean.shape, -1.0, np.float32), ~(mean < np.inf)
    rounds.keep_rows(done)
    while rounds.waiting.size:
        u, v = rounds.draw()
        at = rounds.waiting
        u = u - single(0.5)
        us = single(0.5) - np.abs(u)
        k = np.floor((2 * a[at] / us + b[at]) * u + mean[at] + single(0.43))
        level = np.log(v * inverse_alpha[at] / (a[at] / (us * us) + b[at]))
        at_once = (us >= single(0.07)) & (v <= squeeze[at])
        outside = (k < 0) | ((us < single(0.013)) & (v > us))
        accepted = at_once | (~outside & (level <= k * log_mean[at] - mean[at] - sc.gammaln(k + 1)))
        count[at[accepted]] = k[accepted]
        done[at[accepted]] = True
        rounds.keep_rows(done)
    return np.where(mean < np.inf, count, -1)


def _in_rows(chosen: np.ndarray) -> np.ndarray:
    """All entries of the rows with a chosen one."""
    return np.broadcast_to(chosen.any(axis=1, keepdims=True), chosen.shape)


def _threefry_poisson(keys: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Samples, a row a key: u32[m, 2], f[m, n] -> f32[m, n]; -1 where there are none."""
    mean = mean.astype(np.float32)
    small = ~(mean >= 10)
    few = _poisson_by_products(_Rounds(keys, small, np.float32, children=2, next_key=0), mean.reshape(-1))
    # the small means have a stand-in, which takes part in the number of rounds
    large, rows = np.where(small, np.float32(1e5), mean), _in_rows(~small)
    many = _poisson_by_rejection(_Rounds(keys, rows, np.float32, children=3, next_key=0), large.reshape(-1))
    return np.where(mean == 0, 0, np.where(small, few.reshape(mean.shape), many.reshape(mean.shape)))


def _philox_poisson(keys: np.ndarray, mean: np.ndarray) -> np.ndarray:
    valid = (mean >= 0) & (mean < _LARGEST)
    out = np.empty(mean.shape, np.int64)
    for i, row in enumerate(np.where(valid, mean, 0.0)):
        out[i] = random_philox.generator(keys[i]).poisson(row)
    return np.where(valid, out, -1)


def _binomial_by_gaps(rounds: _Rounds, n: np.ndarray, p: np.ndarray) -> np.ndarray:
    """How many geometric gaps fit into n trials."""
    log_miss = np.log1p(-p)
    count, trials = np.full(n.shape, -1.0, n.dtype), np.zeros_like(n)
    while True:
        rounds.keep(trials[rounds.waiting] <= n[rounds.waiting])
        if not rounds.waiting.size:
            return count
        (u,) = rounds.draw()
        count[rounds.waiting] += 1
        trials[rounds.waiting] += np.ceil(np.log(u) / log_miss[rounds.waiting])


_STIRLING_TAILS = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def _stirling_tail(k: np.ndarray) -> np.ndarray:
    """log(k!) less Stirling's approximation of it."""
    single = k.dtype.type
    square = (k + 1) * (k + 1)
    series = (single(1 / 12) - (single(1 / 360) - single(1 / 1260) / square) / square) / (k + 1)
    tails = np.array(_STIRLING_TAILS, k.dtype)
    return np.where(k <= 9, tails[np.clip(np.nan_to_num(k), 0, 9).astype(np.int64)], series)


def _binomial_by_rejection(rounds: _Rounds, n: np.ndarray, p: np.ndarray) -> np.ndarray:
    c = n.dtype.type
    deviation = np.sqrt(n * p * (1 - p))
    b = c(1.15) + c(2.53) * deviation
    a = c(-0.0873) + c(0.0248) * b + c(0.01) * p
    middle = n * p + c(0.5)
    squeeze = c(0.92) - c(4.2) / b
    odds = p / (1 - p)
    alpha = (c(2.83) + c(5.1) / b) * deviation
    mode = np.floor((n + 1) * p)
    count, done = np.full(n.shape, -1.0, n.dtype), ~(n < np.inf)
    rounds.keep_rows(done)
    while rounds.waiting.size:
        u, v = rounds.draw()
        at = rounds.waiting
        n_at, m, r = n[at], mode[at], odds[at]
        u = u - c(0.5)
        us = c(0.5) - np.abs(u)
        k = np.floor((2 * a[at] / us + b[at]) * u + middle[at])
        at_once = (us >= c(0.07)) & (v <= squeeze[at])
        outside = (k < 0) | (k > n_at)
        level = np.log(v * alpha[at] / (a[at] / (us * us) + b[at]))
        bound = (
            (m + c(0.5)) * np.log((m + 1) / (r * (n_at - m + 1)))
            + (n_at + 1) * np.log((n_at - m + 1) / (n_at - k + 1))
            + (k + c(0.5)) * np.log(r * (n_at - k + 1) / (k + 1))
            + _stirling_tail(m)
            + _stirling_tail(n_at - m)
            - _stirling_tail(k)
            - _stirling_tail(n_at - k)
        )
        accepted = at_once | (~outside & (level <= bound))
        count[at[accepted]] = k[accepted]
        done[at[accepted]] = True
        rounds.keep_rows(done)
    return count


def _threefry_binomial(keys: np.ndarray, n: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Samples for 0 <= p <= 1/2, a row a key: u32[m, 2], f[m, n], f[m, n] -> f[m, n]."""
    few = ~(n * p > 10)
    gaps = _Rounds(keys, few, n.dtype, children=2, next_key=1)
    by_gaps = _binomial_by_gaps(gaps, n.reshape(-1), p.reshape(-1))
    rounds = _Rounds(keys, _in_rows(~few), n.dtype, children=3, next_key=0)
    many, half = np.where(few, n.dtype.type(1e4), n), np.where(few, n.dtype.type(0.5), p)
    rejected = _binomial_by_rejection(rounds, many.reshape(-1), half.reshape(-1))
    return np.where(few, by_gaps.reshape(n.shape), rejected.reshape(n.shape))


def _philox_binomial(keys: np.ndarray, n: np.ndarray, p: np.ndarray) -> np.ndarray:
    known = n < _LARGEST
    out = np.empty(n.shape, n.dtype)
    for i, trials in enumerate(np.where(known, n, 0)):
        out[i] = random_philox.generator(keys[i]).binomial(trials.astype(np.int64), p[i].astype(np.float64))
    return np.where(known, out, np.nan)


class RandomPoisson(Primitive):
    """Poisson variates of given means: u32[*k, w], f[*k, ...] -> i[*k, ...]; -1 for a mean that is negative or nan."""

    zero_derivative = True

    def impl(self, key, mean, *, dtype, generator):
        mean = np.asarray(mean)
        keys, rows = key.reshape(-1, key.shape[-1]), rows_of(key, mean)
        with np.errstate(all="ignore"):
            drawn = _threefry_poisson if generator == threefry.NAME else _philox_poisson
            count = drawn(keys, rows).reshape(mean.shape)
            if dtype.kind == "f":
                return count.astype(dtype)[()]
            largest = np.iinfo(dtype).max
            fits = count < largest
            return np.where(fits, np.where(fits, count, 0).astype(dtype), dtype.type(largest))[()]

    def abstract_eval(self, key, mean, *, dtype, generator):
        return ShapedArray(mean.shape, dtype)

    def batch(self, args, dims, **params):
        return self(*both_mapped(args, dims), **params), 0

    def samples(self, rng):
        dtype = np.dtype(np.int64)
        for name in GENERATORS:
            for lead, shape in [((), ()), ((), (2, 3)), ((2,), (2, 3)), ((2,), (2,)), ((), (0, 2)), ((0,), (0, 2))]:
                keys = sample_keys(rng, *lead, generator=name)
                yield sample(keys, rng.uniform(0.3, 30.0, shape), dtype=dtype, generator=name)
            keys = sample_keys(rng, generator=name)
            yield sample(keys, np.array([0.5, 90.0], np.float32), dtype=np.dtype(np.int32), generator=name)
            yield sample(keys, np.array([0.0, -1.0, np.nan]), dtype=dtype, generator=name, name="invalid")


class RandomBinomial(Primitive):
    """Binomial variates of n trials with chance p: u32[*k, w], f[*k, ...], f[*k, ...] -> f[*k, ...]; nan for n < 0,
    for p < 0 or p > 1, and for nan."""

    nondifferentiable = DiscreteParameter.nondifferentiable

    def impl(self, key, n, p, *, dtype, generator):
        p = np.asarray(p)
        n = np.asarray(n).astype(p.dtype)
        keys = key.reshape(-1, key.shape[-1])
        few_successes = p < 0.5
        q = np.where(few_successes, p, 1 - p)
        valid = (n >= 0) & (q >= 0)
        n = np.floor(n)
        with np.errstate(all="ignore"):
            drawn = _threefry_binomial if generator == threefry.NAME else _philox_binomial
            work = [x.astype(np.float32) if x.dtype == np.float16 else x for x in (n, q)]
            rows = [rows_of(key, np.where(valid, x, 0)) for x in work]
            count = drawn(keys, *rows).reshape(p.shape).astype(dtype)
            count = np.where(few_successes, count, n.astype(dtype) - count)
        count = np.where(valid, np.where(n == np.inf, np.inf, count), np.nan)
        return count.astype(dtype)[()]

    def abstract_eval(self, key, n, p, *, dtype, generator):
        return ShapedArray(p.shape, dtype)

    def batch(self, args, dims, **params):
        return self(*both_mapped(args, dims), **params), 0

    def samples(self, rng):
        dtype = np.dtype(np.float64)
        for name in GENERATORS:
            for lead, shape in [((), ()), ((), (2, 3)), ((2,), (2, 3)), ((2,), (2,)), ((), (0, 2)), ((0,), (0, 2))]:
                n, p = np.floor(rng.uniform(1.0, 90.0, shape)), rng.random(shape)
                yield sample(sample_keys(rng, *lead, generator=name), n, p, dtype=dtype, generator=name)
            keys, single = sample_keys(rng, generator=name), np.dtype(np.float32)
            p = np.array([0.3, 0.9], np.float32)
            yield sample(keys, np.array([20.0, 900.0], np.float32), p, dtype=single, generator=name)
            n, p = np.array([-1.0, 3.0, 3.0, np.nan, np.inf]), np.array([0.5, -0.5, 1.5, 0.5, 0.5])
            yield sample(keys, n, p, dtype=dtype, generator=name, name="invalid")


random_poisson = RandomPoisson("random_poisson")
random_binomial = RandomBinomial("random_binomial")
