"""Key paths: the steps from the root of a tree to one of its subtrees."""

from collections.abc import Hashable
from typing import Any, NoReturn


class KeyEntry:
    """One step from a container to a child: immutable, hashable, equal only to a step of the same kind."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    @property
    def _value(self) -> Any:
        return getattr(self, self.__match_args__[0])

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and bool(other._value == self._value)

    def __hash__(self) -> int:
        return hash((type(self), self._value))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__match_args__[0]}={self._value!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._value,)


class SequenceKey(KeyEntry):
    """The step to item ``idx`` of a sequence; ``str`` gives ``[idx]``."""

    __slots__ = __match_args__ = ("idx",)
    idx: int

    def __init__(self, idx: int) -> None:
        object.__setattr__(self, "idx", idx)

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


class DictKey(KeyEntry):
    """The step to the value under ``key``; ``str`` gives ``['key']``."""

    __slots__ = __match_args__ = ("key",)
    key: Hashable

    def __init__(self, key: Hashable) -> None:
        object.__setattr__(self, "key", key)

    def __str__(self) -> str:
        return f"[{self.key!r}]"


class GetAttrKey(KeyEntry):
    """The step to the attribute ``name``; ``str`` gives ``.name``."""

    __slots__ = __match_args__ = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "name", name)

    def __str__(self) -> str:
        return f".{self.name}"


class FlattenedIndexKey(KeyEntry):
    """The step to a child of a class registered without keys; ``str`` gives ``[<flat index key>]``."""

    __slots__ = __match_args__ = ("key",)
    key: int

    def __init__(self, key: int) -> None:
        object.__setattr__(self, "key", key)

    def __str__(self) -> str:
        return f"[<flat index {self.key!r}>]"


KeyPath = tuple[Any, ...]


def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """The text of a key path.

    >>> path = (DictKey("w"), SequenceKey(0), GetAttrKey("scale"))
    >>> keystr(path), keystr(path, simple=True, separator="/")
    ("['w'][0].scale", 'w/0/scale')
    """
    return separator.join([str(k._value if simple and isinstance(k, KeyEntry) else k) for k in keys])
