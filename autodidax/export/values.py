"""Static values in JSON: numbers, texts, tuples, dtypes, slices and the other kinds of parameters, each with its type.

None, booleans, texts, integers and finite floats are what JSON has for them; all else is a list whose first entry
names the kind. A kind is a row of a table here: nothing else can be stored, and nothing else comes out of a file.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax.control_flow.runge_kutta import Accuracy
from autodidax.core.avals import float0
from autodidax.export.container import dtype_of_text, dtype_text
from autodidax.primitives.indexing import Slot
from autodidax.transforms.checkpoint_policies import (
    dots_saveable,
    dots_with_no_batch_dims_saveable,
    everything_saveable,
    nothing_saveable,
)

_LARGE = 2**53
_POLICIES: dict[str, Any] = {
    f.__name__: f for f in (dots_saveable, dots_with_no_batch_dims_saveable, everything_saveable, nothing_saveable)
}


class NotStorable(Exception):
    """A value that no kind fits; its text says what it is."""


def plain_value(x: Any, inner: Callable[[Any], Any]) -> Any:
    """A value in JSON; `inner` writes the values within it. Raises NotStorable."""
    t = type(x)
    if x is None or t in (bool, str):
        return x
    if t is int:
        return x if abs(x) < _LARGE else ["int", hex(x)]
    if t is float:
        return x if math.isfinite(x) else ["float", _bits(x)]
    if t is complex:
        return ["complex", _bits(x.real), _bits(x.imag)]
    if t in (tuple, list):
        return [t.__name__, *map(inner, x)]
    if t is slice:
        return ["slice", inner(x.start), inner(x.stop), inner(x.step)]
    if x is Ellipsis:
        return ["ellipsis"]
    if t is Slot:
        return ["slot", inner(x.k)]
    if t is Accuracy:
        return ["accuracy", *map(inner, x)]
    if isinstance(x, np.dtype):
        return ["dtype", _storable_dtype(x)]
    if isinstance(x, type) and issubclass(x, np.generic):
        return ["scalar type", _storable_dtype(np.dtype(x))]
    if isinstance(x, np.generic):
        text = _storable_dtype(x.dtype)
        return ["scalar", text, "" if text == "float0" else x.tobytes().hex()]
    name = getattr(x, "__name__", "")
    if name in _POLICIES and _POLICIES[name] is x:
        return ["policy", name]
    raise NotStorable


def value_of_plain(coded: Any, inner: Callable[[Any], Any]) -> Any:
    """The value of its JSON; `inner` reads the values within it."""
    if type(coded) is not list:
        if type(coded) is dict:
            raise ValueError("a value is no table")
        return coded
    kind, *rest = coded
    return _READERS[kind](rest, inner)


def _scalar(text: str, data: str) -> Any:
    dtype = dtype_of_text(text)
    if dtype == float0:
        return np.zeros((), float0)[()]
    (value,) = np.frombuffer(bytes.fromhex(data), dtype)
    return value


def _storable_dtype(dtype: np.dtype) -> str:
    try:
        return dtype_text(dtype)
    except TypeError:
        raise NotStorable from None


def _bits(x: float) -> str:
    return struct.pack("<d", x).hex()


def _float(bits: str) -> float:
    return struct.unpack("<d", bytes.fromhex(bits))[0]


_READERS: dict[str, Callable[[list[Any], Callable[[Any], Any]], Any]] = {
    "int": lambda rest, inner: int(rest[0], 16),
    "float": lambda rest, inner: _float(*rest),
    "complex": lambda rest, inner: complex(*map(_float, rest)),
    "tuple": lambda rest, inner: tuple(map(inner, rest)),
    "list": lambda rest, inner: list(map(inner, rest)),
    "slice": lambda rest, inner: slice(*map(inner, rest)),
    "ellipsis": lambda rest, inner: Ellipsis,
    "slot": lambda rest, inner: Slot(*map(inner, rest)),
    "accuracy": lambda rest, inner: Accuracy(*map(inner, rest)),
    "dtype": lambda rest, inner: dtype_of_text(*rest),
    "scalar type": lambda rest, inner: dtype_of_text(*rest).type,
    "policy": lambda rest, inner: _POLICIES[rest[0]],
    "scalar": lambda rest, inner: _scalar(*rest),
}
