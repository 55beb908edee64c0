"""Making keys, splitting them, and looking into them."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.config import config
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.primitives.convert import astype
from autodidax.primitives.random_bits import GENERATORS, random_fold_in, random_seed, random_split
from autodidax.random import reuse
from autodidax.random.arguments import shape_argument
from autodidax.random.key_array import KeyArray, KeyDtype
from autodidax.transforms.boundary import described

DEFAULT = "threefry2x32"
_BY_WORDS = {module.WORDS: name for name, module in GENERATORS.items()}
_UINT32 = np.dtype(np.uint32)


def _generator(impl: Any, dtype: Any, name: str) -> str:
    """The name of the generator that impl= or dtype= asks for."""
    if impl is not None and dtype is not None:
        raise errors.ArgumentError(f"{name}: impl and dtype both name the generator", mend="give one of them")
    chosen = impl if impl is not None else dtype
    if chosen is None:
        return DEFAULT
    if isinstance(chosen, KeyDtype):
        return chosen.generator
    if not isinstance(chosen, str) or chosen not in GENERATORS:
        known = " or ".join(map(repr, GENERATORS))
        raise errors.ArgumentError(f"{name}: there is no generator {chosen!r}", mend=f"give impl={known}")
    return chosen


def _seeded(name: str, seed: Any, generator: str) -> Any:
    """The words of the key of a seed."""
    if type(seed) is int:
        if not -(1 << 63) <= seed < 1 << 64:
            raise errors.ArgumentError(f"{name}: the seed {seed} has more than 64 bits", mend="give a smaller seed")
        words = np.array([[seed >> 32 & 0xFFFFFFFF], [seed & 0xFFFFFFFF]], np.uint32)
        return GENERATORS[generator].seed(*words)[0]
    if isinstance(seed, KeyArray):
        raise errors.DtypeError(f"{name} takes an integer seed, not a key", mend="use the key, or random.clone(key)")
    if not isinstance(seed, Tracer | np.ndarray | np.generic) or dtype_of(seed).kind not in "iu":
        raise errors.DtypeError(f"{name} takes an integer seed, got {described(seed)}", mend=f"write {name}(0)")
    if shape_of(seed):
        raise errors.ShapeError(
            f"{name} takes one seed, got an array of shape {shape_of(seed)}", mend=f"write vmap(random.{name})(seeds)"
        )
    return random_seed(seed, generator=generator)


def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> KeyArray:
    """A random key of an integer seed.

    `impl` names the generator: "threefry2x32", whose numbers are those of JAX, or "philox", NumPy's, which is faster.

    Source: jax.random.key.

    >>> key(0)
    KeyArray((), dtype=key<fry>): [0, 0]
    """
    generator = _generator(impl, dtype, "key")
    made = KeyArray(_seeded("key", seed, generator), generator)
    if config.check_key_reuse:
        reuse.note_new(made._data, generator)
    return made


def PRNGKey(seed: Any, *, impl: Any = None) -> Any:
    """A random key of an integer seed as a plain array of 32-bit words; `key` makes a typed one.

    Source: jax.random.PRNGKey.

    >>> PRNGKey(7)
    array([0, 7], dtype=uint32)
    """
    generator = _generator(impl, None, "PRNGKey")
    data = _seeded("PRNGKey", seed, generator)
    if config.check_key_reuse:
        reuse.note_new(data, generator)
    return data


def keys_of(name: str, keys: Any) -> KeyArray:
    """Typed or raw keys as a key array."""
    if type(keys) is KeyArray:
        return keys
    if not isinstance(keys, np.ndarray | Tracer):
        mend = "make one of a seed: random.key(0)" if not isinstance(keys, int) else f"write random.key({keys})"
        raise errors.DtypeError(f"{name} takes a random key first, got {described(keys)}", mend=mend)
    shape = keys.shape
    if keys.dtype != _UINT32 or not shape or shape[-1] not in _BY_WORDS:
        raise errors.DtypeError(
            f"{name} takes a random key first, got {described(keys)}; a raw key has dtype uint32 and shape (2,)",
            mend="make one of a seed: random.key(0)",
        )
    return KeyArray(keys, _BY_WORDS[shape[-1]])


def single_key(name: str, key: Any) -> KeyArray:
    """One key to draw from, typed or raw."""
    one = keys_of(name, key)
    if len(one._data.shape) != 1:
        raise errors.ShapeError(
            f"{name} takes a single random key, got keys of shape {one.shape}",
            mend=f"map over them: vmap(lambda key: random.{name}(key, ...))(keys)",
        )
    if config.check_key_reuse:
        reuse.note_use(name, one._data, one._generator)
    return one


def children(key: KeyArray, n: int) -> list[KeyArray]:
    """n new keys of one key."""
    data = random_split(key._data, shape=(n,), generator=key._generator)
    return [KeyArray(data[k], key._generator) for k in range(n)]


def _as_given(data: Any, generator: str, given: Any) -> Any:
    """New keys in the form of the key that was given: typed or raw."""
    if config.check_key_reuse:
        reuse.note_new(data, generator)
    return KeyArray(data, generator) if type(given) is KeyArray else data


def split(key: Any, num: Any = 2) -> Any:
    """New keys of one key, which is not to be used any more: an array of `num` keys, or of the shape `num`.

    Source: jax.random.split.

    >>> k1, k2 = split(PRNGKey(0))
    >>> k1
    array([1797259609, 2579123966], dtype=uint32)
    """
    one = single_key("split", key)
    shape = shape_argument("split", num if isinstance(num, tuple | list) else (num,), what="num")
    return _as_given(random_split(one._data, shape=shape, generator=one._generator), one._generator, key)


def fold_in(key: Any, data: Any) -> Any:
    """A new key of a key and an integer, such as the number of a step, which is taken modulo 2**32.

    Source: jax.random.fold_in.

    >>> fold_in(PRNGKey(0), 3).shape
    (2,)
    """
    one = keys_of("fold_in", key)
    if one.shape or shape_of(data):
        raise errors.ShapeError(
            f"fold_in takes one key and one integer, got shapes {one.shape} and {shape_of(data)}",
            mend="map over them: vmap(random.fold_in)(keys, numbers)",
        )
    if isinstance(data, float | complex | str | None) or dtype_of(data).kind not in "iub":
        raise errors.DtypeError(
            f"fold_in takes an integer, got {described(data)}", mend="write fold_in(key, int(data))"
        )
    if type(data) is int:
        data &= 0xFFFFFFFF
    if config.check_key_reuse:
        reuse.note_folding(one._data, data, one._generator)
    number = np.uint32(data) if type(data) is int else astype(data, _UINT32)
    return _as_given(random_fold_in(one._data, number, generator=one._generator), one._generator, key)


def clone(key: Any) -> Any:
    """The same key, for which the option `check_key_reuse` does not object to another use.

    Source: jax.random.clone.
    """
    keys = keys_of("clone", key)
    data = keys.copy()._data
    return _as_given(data, keys._generator, key)


def key_data(keys: Any) -> Any:
    """The words of keys: key<fry>[...] -> u32[..., 2].

    Source: jax.random.key_data.

    >>> key_data(key(42))
    array([ 0, 42], dtype=uint32)
    """
    return keys_of("key_data", keys).copy()._data


def wrap_key_data(key_bits_array: Any, *, impl: Any = None, dtype: Any = None) -> KeyArray:
    """Typed keys of their words: u32[..., 2] -> key<fry>[...].

    Source: jax.random.wrap_key_data.

    >>> wrap_key_data(key_data(key(42)))
    KeyArray((), dtype=key<fry>): [ 0, 42]
    """
    generator = _generator(impl, dtype, "wrap_key_data")
    words = GENERATORS[generator].WORDS
    shape = shape_of(key_bits_array)
    if isinstance(key_bits_array, KeyArray) or dtype_of(key_bits_array) != _UINT32 or shape[-1:] != (words,):
        raise errors.DtypeError(
            f"wrap_key_data takes an array of dtype uint32 and shape (..., {words}) for {generator!r}, got "
            f"{described(key_bits_array)}",
            mend="give what random.key_data returned, and impl= of the same generator",
        )
    return KeyArray(key_bits_array, generator).copy()


def key_impl(keys: Any) -> str:
    """The name of the generator of keys.

    Source: jax.random.key_impl.

    >>> key_impl(key(0))
    'threefry2x32'
    """
    return keys_of("key_impl", keys)._generator


def key_dtype(impl: Any = None) -> KeyDtype:
    """The dtype of the keys of a generator.

    Source: jax.random.key_dtype.

    >>> key_dtype("philox")
    key<phx>
    """
    return KeyDtype(_generator(impl, None, "key_dtype"))
