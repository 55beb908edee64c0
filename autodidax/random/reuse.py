"""Finding keys that are used twice, where the option `check_key_reuse` asks for it.

A key is used up by drawing from it or splitting it; numbers may be folded into one that is not used up, each once, and
it is not to be drawn from after that: in threefry they are the same hashes. Keys are told apart by their words in eager
runs, and by the value of the program that they are in staged ones. What `key`, `split`, `fold_in` and `clone` return
counts as new. The scope is the time that the option is on, and in a staged program the one trace.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.config import config
from autodidax.core.interpreters import Tracer, innermost_staging, is_ended

_SPLIT_IT = "split it first, k1, k2 = random.split(key), or say that it is meant: random.clone(key)"


class KeyReuseError(errors.AutodidaxError, RuntimeError):
    """Under the option `check_key_reuse`: a key is used a second time, so that random numbers come again.

    Source: jax.errors.KeyReuseError.

    >>> from autodidax import config, random
    >>> with config.override(check_key_reuse=True):
    ...     key = random.key(0)
    ...     x, y = random.normal(key), random.uniform(key)
    Traceback (most recent call last):
    autodidax.random.reuse.KeyReuseError: uniform uses a key that normal has used already, at ...
    """


class _Entry:
    """The uses of one key: by what and where it was used up, and where each number was folded in."""

    __slots__ = ("used", "folded")

    def __init__(self) -> None:
        self.used: tuple[str, str] | None = None
        self.folded: dict[Any, tuple[str, str]] = {}


class _Ledgers(threading.local):
    def __init__(self) -> None:
        self.epoch = -1
        self.eager: dict[Any, _Entry] = {}
        self.staged: dict[int, tuple[Any, dict[Any, _Entry]]] = {}


_ledgers = _Ledgers()
_epoch = 0


def _new_epoch() -> None:
    """The option went on or off: what was noted before does not count."""
    global _epoch
    _epoch += 1


config.watch("check_key_reuse", _new_epoch)


def _ledger() -> dict[Any, _Entry]:
    """Where the uses of the present scope are noted."""
    if _ledgers.epoch != _epoch:
        _ledgers.__init__()  # empty, in this thread
        _ledgers.epoch = _epoch
    trace = innermost_staging(0)
    if trace is None:
        return _ledgers.eager
    for number, (other, _) in list(_ledgers.staged.items()):
        if is_ended(other):
            del _ledgers.staged[number]
    return _ledgers.staged.setdefault(id(trace), (trace, {}))[1]


def _identities(data: Any, generator: str) -> list[Any]:
    """What tells the keys of an array from others: their words, or the value that they are in a staged program."""
    while isinstance(data, Tracer) and not data._trace.staging:
        data = data.val
    if isinstance(data, Tracer):
        return [("staged", *_origin(data._trace, data.node))]
    rows = np.ascontiguousarray(data).reshape(-1, np.shape(data)[-1])
    return [(generator, row.tobytes()) for row in rows]


def _origin(trace: Any, atom: Any) -> tuple[Any, ...]:
    """A value of a program by the value that it is a part of, and which part."""
    for eqn in trace.eqns:
        if atom in eqn.outvars and eqn.primitive.structural:
            return (eqn.primitive.name, repr(eqn.params), *(_origin(trace, v) for v in eqn.invars))
    return (getattr(atom, "val", atom),)


def _place() -> str:
    where = errors.user_frame()
    return "an unknown line" if where is None else f"{where[2]} ({os.path.basename(where[0])}:{where[1]})"


def note_use(name: str, data: Any, generator: str) -> None:
    """Note that `name` uses up a key; KeyReuseError if something did before."""
    ledger = _ledger()
    for identity in _identities(data, generator):
        entry = ledger.setdefault(identity, _Entry())
        earlier = entry.used or next(iter(entry.folded.values()), None)
        if earlier is not None:
            raise KeyReuseError(
                f"{name} uses a key that {earlier[0]} has used already, at {earlier[1]}", mend=_SPLIT_IT
            )
        entry.used = name, _place()


def note_folding(data: Any, number: Any, generator: str) -> None:
    """Note that a number is folded into a key; KeyReuseError if the key was used up, or had the same number."""
    ledger = _ledger()
    plain = not isinstance(number, Tracer)
    folded = int(number) if plain else id(number)
    for identity in _identities(data, generator):
        entry = ledger.setdefault(identity, _Entry())
        if entry.used is not None:
            name, place = entry.used
            raise KeyReuseError(f"fold_in uses a key that {name} has used already, at {place}", mend=_SPLIT_IT)
        if plain and folded in entry.folded:
            raise KeyReuseError(
                f"fold_in uses a key and the number {folded} again, as at {entry.folded[folded][1]}",
                mend="fold in another number, or use the key that the first call returned",
            )
        entry.folded[folded] = "fold_in", _place()


def note_new(data: Any, generator: str) -> None:
    """Note that keys are new: uses of keys with the same words, before, do not count."""
    ledger = _ledger()
    for identity in _identities(data, generator):
        ledger.pop(identity, None)
