"""The words for a place where two structures differ."""

from collections import OrderedDict, defaultdict
from types import NoneType
from typing import Any, NamedTuple

from autodidax.tree.keys import KeyPath, keystr


class Mismatch(NamedTuple):
    """One place where two structures differ; ``str`` makes a line of it."""

    path: KeyPath
    expected: str
    given: str
    detail: str = ""

    def __str__(self) -> str:
        place = keystr(self.path) or "the root"
        return f"at {place}: {self.expected} expected, {self.given} given{self.detail}"


class View(NamedTuple):
    """The outermost level of a tree or of a PyTreeDef."""

    cls: type | None
    aux: Any
    keys: tuple[Any, ...]
    children: tuple[Any, ...]
    text: str


_SHOWN_KEYS = 8
DICT_TYPES = (dict, OrderedDict, defaultdict)


def describe_level(cls: type | None, aux: Any, keys: tuple[Any, ...], count: int) -> str:
    if cls is None:
        return "a leaf"
    if cls is NoneType:
        return "None"
    if cls in DICT_TYPES:
        shown = ", ".join([repr(k.key) for k in keys[:_SHOWN_KEYS]]) + (", ..." if count > _SHOWN_KEYS else "")
        factory = f" of {getattr(aux[0], '__name__', aux[0])}" if cls is defaultdict else ""
        return f"{cls.__name__}{factory} with keys {shown}" if count else f"empty {cls.__name__}{factory}"
    metadata = "" if aux is None or (type(aux) is tuple and not aux) else f" with metadata {aux!r}"
    return f"{cls.__name__} of {count}{metadata}"


def key_changes(expected: tuple[Any, ...], given: tuple[Any, ...]) -> str:
    """How two dicts' keys differ, for those too long to compare by eye."""
    parts = [("missing", set(expected) - set(given)), ("unexpected", set(given) - set(expected))]
    said = [f"{word} {', '.join(sorted(repr(k.key) for k in keys))}" for word, keys in parts if keys]
    return f" ({'; '.join(said)})" if said else ""
