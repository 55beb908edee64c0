"""The threefry2x32 generator on plain arrays: pairs of 32-bit words hashed under pairs of 32-bit words.

Word i of a draw is the hash of the 64-bit counter i under the key, so that a draw of n numbers may be computed in any
order, in blocks, and for many keys at once, with the same results.

Source: Salmon, Moraes, Dror, Shaw, Parallel random numbers: as easy as 1, 2, 3 (2011); the use of the counters is that
of JAX with jax_threefry_partitionable=True.
"""

from __future__ import annotations

from typing import Any

import numpy as np

NAME, TAG, WORDS = "threefry2x32", "fry", 2

_LOW = 0xFFFFFFFF
_PARITY = 0x1BD11BDA
_ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
_LEFT = [np.array(r, np.uint32) for r in _ROTATIONS]
_RIGHT = [np.array(32 - r, np.uint32) for r in _ROTATIONS]
_BLOCK = 1 << 14  # words of a block stay in cache
_FEW = 4  # so many hashes cost less on Python integers than on arrays
_LONG = 512  # from so many words on each key is taken for itself


def _hash_integers(k0: int, k1: int, x0: int, x1: int) -> tuple[int, int]:
    """The hash of one pair of words."""
    keys = (k0, k1, k0 ^ k1 ^ _PARITY)
    x0, x1 = x0 + k0 & _LOW, x1 + k1 & _LOW
    for i in range(5):
        for r in _ROTATIONS[4 * (i % 2) : 4 * (i % 2) + 4]:
            x0 = x0 + x1 & _LOW
            x1 = (x1 << r & _LOW | x1 >> 32 - r) ^ x0
        x0, x1 = x0 + keys[(i + 1) % 3] & _LOW, x1 + keys[(i + 2) % 3] + i + 1 & _LOW
    return x0, x1


def _hash_in_place(x0: np.ndarray, x1: np.ndarray, spare: np.ndarray, k0: np.ndarray, k1: np.ndarray) -> None:
    """Hash arrays of words of one shape; the keys have that shape or none."""
    add, xor, either, left, right = np.add, np.bitwise_xor, np.bitwise_or, np.left_shift, np.right_shift
    keys = [k0, k1, xor(xor(k0, k1), np.uint32(_PARITY))]
    add(x0, k0, x0)
    add(x1, k1, x1)
    for i in range(5):
        for r in range(4 * (i % 2), 4 * (i % 2) + 4):
            add(x0, x1, x0)
            right(x1, _RIGHT[r], spare)
            left(x1, _LEFT[r], x1)
            either(x1, spare, x1)
            xor(x1, x0, x1)
        add(x0, keys[(i + 1) % 3], x0)
        second = keys[(i + 2) % 3]
        if second.ndim:
            add(x1, second, x1)
            add(x1, np.uint32(i + 1), x1)
        else:
            add(x1, np.array(int(second) + i + 1 & _LOW, np.uint32), x1)


def hashed(k0: np.ndarray, k1: np.ndarray, x1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The hashes of counters below 2**32, each under a key of its own: three u32[n] -> two u32[n]."""
    y0, y1 = np.zeros(x1.shape, np.uint32), x1.copy()
    if y1.size <= _FEW:
        for i in range(y1.size):
            y0[i], y1[i] = _hash_integers(int(k0[i]), int(k1[i]), 0, int(x1[i]))
        return y0, y1
    spare = np.empty(min(y1.size, _BLOCK), np.uint32)
    for start in range(0, y1.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        _hash_in_place(y0[part], y1[part], spare[: y1[part].size], k0[part], k1[part])
    return y0, y1


def _hash_counters(key: np.ndarray, y0: np.ndarray, y1: np.ndarray) -> None:
    """Write the hashes of the counters 0, 1, ... under one key into two u32[n]."""
    n = y1.size
    k0, k1 = key[0:1].reshape(()), key[1:2].reshape(())
    spare = np.empty(min(n, _BLOCK), np.uint32)
    for start in range(0, n, _BLOCK):  # blocks do not straddle multiples of 2**32
        stop = min(start + _BLOCK, n)
        low = start & _LOW
        y0[start:stop] = start >> 32
        y1[start:stop] = np.arange(low, low + stop - start, dtype=np.uint64)
        _hash_in_place(y0[start:stop], y1[start:stop], spare[: stop - start], k0, k1)


def words(keys: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The hashes of the counters 0 to n - 1 under each key: u32[m, 2] -> two u32[m, n]."""
    m = len(keys)
    if m * n <= _FEW:
        pairs = [_hash_integers(k0, k1, 0, i) for k0, k1 in keys.tolist() for i in range(n)]
        both = np.array(pairs, np.uint32).reshape(m, n, 2)
        return both[..., 0], both[..., 1]
    if n < _LONG and m > 1:
        k0, k1 = np.repeat(keys[:, 0], n), np.repeat(keys[:, 1], n)
        y0, y1 = hashed(k0, k1, np.tile(np.arange(n, dtype=np.uint32), m))
        return y0.reshape(m, n), y1.reshape(m, n)
    y0, y1 = np.empty((m, n), np.uint32), np.empty((m, n), np.uint32)
    for i in range(m):
        _hash_counters(keys[i], y0[i], y1[i])
    return y0, y1


def joined(y0: np.ndarray, y1: np.ndarray, width: int) -> np.ndarray:
    """Random bits of 8, 16, 32 or 64 from pairs of words, which it may overwrite."""
    if width == 64:
        bits = y0.astype(np.uint64)
        np.left_shift(bits, np.uint64(32), bits)
        return np.bitwise_or(bits, y1, bits)
    bits = np.bitwise_xor(y0, y1, y0)
    return bits if width == 32 else bits.astype(f"u{width // 8}")


def split(keys: np.ndarray, n: int) -> np.ndarray:
    """n keys of each key: u32[m, 2] -> u32[m, n, 2]."""
    return np.stack(words(keys, n), axis=-1)


def fold_in(keys: np.ndarray, data: np.ndarray) -> np.ndarray:
    """A key of each key and number: u32[m, 2], u32[m] -> u32[m, 2]."""
    return np.stack(hashed(keys[:, 0], keys[:, 1], data), axis=-1)


def seed(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Keys of seeds, given by their halves: two u32[m] -> u32[m, 2]."""
    return np.stack([high, low], axis=-1)


def random_bits(keys: np.ndarray, n: int, width: int) -> np.ndarray:
    """n numbers of 8, 16, 32 or 64 random bits for each key: u32[m, 2] -> u[m, n]."""
    return joined(*words(keys, n), width)


def bits_at(keys: np.ndarray, index: Any, width: int) -> np.ndarray:
    """The bits that each key has at one place of its own: u32[m, 2], u32[m] -> u[m]."""
    counters = np.broadcast_to(np.asarray(index, np.uint32), (len(keys),))
    return joined(*hashed(keys[:, 0], keys[:, 1], counters), width)
