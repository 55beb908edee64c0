"""Why a jitted function is traced again: what differs from the calls before."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

from autodidax import errors, tree

_log = logging.getLogger("autodidax.jit")


def explain_miss(name: str, key: Any, known: Sequence[Any], names: Sequence[str]) -> None:
    """Log where a function is traced, and what of its arguments is new: beside the signature that is most like it.

    `key`, and those in `known`: (tree, signature of the leaves, static arguments, named axes).
    """
    where = errors.user_frame()
    place = "" if where is None else f" at {os.path.basename(where[0])}:{where[1]}"
    if not known:
        _log.warning("jit of %s is traced%s: it has not been called before", name, place)
        return
    nearest = min(known, key=lambda other: _distance(key, other))
    _log.warning("jit of %s is traced again%s: %s", name, place, "; ".join(_differences(key, nearest, names)))


def _distance(key: Any, other: Any) -> tuple[bool, bool, bool, int]:
    leaves = sum(a != b for a, b in zip(key[1], other[1], strict=False)) + abs(len(key[1]) - len(other[1]))
    return key[0] != other[0], key[3] != other[3], key[2] != other[2], leaves


def _differences(key: Any, other: Any, names: Sequence[str]) -> list[str]:
    found = []
    if key[0] != other[0]:
        return [f"the arguments have another structure: {tree.describe_mismatch(other[0], key[0])}"]
    for leaf, new, old in zip(names, key[1], other[1], strict=False):
        if new != old:
            found.append(f"{leaf} is {_shown(new)}, it was {_shown(old)}")
    if key[2] != other[2]:
        old_statics = {place: value for place, _, value in other[2]}
        found += [
            f"the static argument {place!r} is {value!r:.40}, it was {old_statics.get(place)!r:.40}"
            for place, _, value in key[2]
            if old_statics.get(place) != value
        ]
    if key[3] != other[3]:
        found.append("the named axes in scope are others")
    return found or ["what it closes over depends on an open transform, so that its program is not kept"]


def _shown(signature: Any) -> str:
    """A leaf of a signature: a Python type, or shape, dtype and weakness."""
    if isinstance(signature, type):
        return f"a Python {signature.__name__}"
    shape, dtype, *weak = signature
    return f"{dtype}{list(shape)}" + " (weak)" * any(weak)
