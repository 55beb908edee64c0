"""The Philox generator of NumPy under keys of four 32-bit words: faster than threefry, with numbers of its own.

Each draw sets the counter of one bit generator to a place that the key and the kind of draw determine, so that results
depend on key, shape and dtype alone. The third and fourth of the counter's words tell the kinds apart.

Source: numpy.random.Philox; Salmon, Moraes, Dror, Shaw, Parallel random numbers: as easy as 1, 2, 3 (2011).
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

NAME, TAG, WORDS = "philox", "phx", 4

_DRAW, _SPLIT, _FOLD = 0, 1, 2
_local = threading.local()


def generator(key: np.ndarray, kind: int = _DRAW, place: int = 0) -> np.random.Generator:
    """NumPy's generator, set to the beginning of a stream; one a thread, so it is to be used at once."""
    found: np.random.Generator | None = getattr(_local, "generator", None)
    if found is None:
        found = _local.generator = np.random.Generator(np.random.Philox(0))
    low = key.astype(np.uint64)
    found.bit_generator.state = {
        "bit_generator": "Philox",
        "state": {
            "counter": np.array([0, place, 0, kind], np.uint64),
            "key": np.array([low[0] | low[1] << np.uint64(32), low[2] | low[3] << np.uint64(32)], np.uint64),
        },
        "buffer": np.zeros(4, np.uint64),
        "buffer_pos": 4,
        "has_uint32": 0,
        "uinteger": 0,
    }
    return found


def _new_keys(key: np.ndarray, n: int, kind: int, place: int = 0) -> np.ndarray:
    """n keys from a stream of one key: u32[4] -> u32[n, 4]."""
    raw: Any = generator(key, kind, place).bit_generator.random_raw(2 * n)
    low, high = (raw & np.uint64(0xFFFFFFFF)).astype(np.uint32), (raw >> np.uint64(32)).astype(np.uint32)
    return np.stack([low, high], axis=-1).reshape(n, 4)


def split(keys: np.ndarray, n: int) -> np.ndarray:
    """n keys of each key: u32[m, 4] -> u32[m, n, 4]."""
    out = np.empty((len(keys), n, 4), np.uint32)
    for i, key in enumerate(keys):
        out[i] = _new_keys(key, n, _SPLIT)
    return out


def fold_in(keys: np.ndarray, data: np.ndarray) -> np.ndarray:
    """A key of each key and number: u32[m, 4], u32[m] -> u32[m, 4]."""
    out = np.empty_like(keys)
    for i, key in enumerate(keys):
        out[i] = _new_keys(key, 1, _FOLD, int(data[i]))[0]
    return out


def seed(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Keys of seeds, given by their halves: two u32[m] -> u32[m, 4]."""
    zero = np.zeros_like(low)
    return np.stack([low, high, zero, zero], axis=-1)


def random_bits(keys: np.ndarray, n: int, width: int) -> np.ndarray:
    """n numbers of 8, 16, 32 or 64 random bits for each key: u32[m, 4] -> u[m, n]."""
    out = np.empty((len(keys), n), f"u{width // 8}")
    for i, key in enumerate(keys):
        out[i] = generator(key).integers(0, (1 << width) - 1, n, dtype=out.dtype, endpoint=True)
    return out


def uniform(keys: np.ndarray, n: int, dtype: Any) -> np.ndarray:
    """n numbers in [0, 1) for each key, in float32 or float64: u32[m, 4] -> f[m, n]."""
    out = np.empty((len(keys), n), dtype)
    for i, key in enumerate(keys):
        generator(key).random(dtype=dtype, out=out[i])
    return out


def normal(keys: np.ndarray, n: int, dtype: Any) -> np.ndarray:
    """n standard normal numbers for each key, in float32 or float64: u32[m, 4] -> f[m, n]."""
    out = np.empty((len(keys), n), dtype)
    for i, key in enumerate(keys):
        generator(key).standard_normal(dtype=dtype, out=out[i])
    return out
