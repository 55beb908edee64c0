"""Structures of arguments and results in a file: containers by name, those of users by registration."""

from __future__ import annotations

import base64
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from types import NoneType
from typing import Any, NamedTuple, TypeVar

from autodidax import errors
from autodidax.tree import LEAF, PyTreeDef
from autodidax.tree.nodes import node_of
from autodidax.tree.treedefs import make_treedef

Class = TypeVar("Class", bound=type)
_BUILTIN: dict[str, type] = {
    "None": NoneType, "tuple": tuple, "list": list, "dict": dict, "OrderedDict": OrderedDict,
    "defaultdict": defaultdict,
}  # fmt: skip
_NAMES = {cls: name for name, cls in _BUILTIN.items()}
_FACTORIES: dict[str, Any] = {
    "None": None, "list": list, "dict": dict, "tuple": tuple, "int": int, "float": float
}  # fmt: skip


class _Stored(NamedTuple):
    """How a registered class is stored: under which name, and its metadata as bytes."""

    cls: type
    name: str
    to_bytes: Callable[[Any], bytes]
    from_bytes: Callable[[bytes], Any]


_by_class: dict[type, _Stored] = {}
_by_name: dict[str, _Stored] = {}


def _register(stored: _Stored) -> None:
    for known, key in ((_by_class.get(stored.cls), stored.cls.__name__), (_by_name.get(stored.name), stored.name)):
        if known is not None:
            raise errors.ArgumentError(
                f"{key} is registered for serialization already, as {known.name!r} of {known.cls.__module__}",
                mend="register a class once, under a name of its own",
            )
    if not isinstance(stored.name, str) or stored.name in _BUILTIN:
        raise errors.ArgumentError(f"{stored.name!r} is no name for a class", mend='give one like "my_package.Point"')
    if node_of(stored.cls) is None:
        raise errors.TreeError(
            f"{stored.cls.__name__} is no pytree node",
            mend="register it first, with autodidax.tree.register_pytree_node",
        )
    _by_class[stored.cls] = _by_name[stored.name] = stored


def register_namedtuple_serialization(nodetype: Class, *, serialized_name: str) -> Class:
    """Let a namedtuple stand among the arguments and results of exported functions; returns the class.

    The name stands in files in the place of the class, which has to be registered under it where they are loaded.

    Source: jax.export.register_namedtuple_serialization.

    >>> from typing import NamedTuple
    >>> class Line(NamedTuple):
    ...     slope: float
    ...     offset: float
    >>> Line = register_namedtuple_serialization(Line, serialized_name="doc.Line")
    """
    if not (isinstance(nodetype, type) and issubclass(nodetype, tuple) and hasattr(nodetype, "_fields")):
        raise errors.ArgumentError(
            f"register_namedtuple_serialization takes a namedtuple class, got {nodetype!r}",
            mend="use register_pytree_node_serialization for other classes",
        )
    _register(_Stored(nodetype, serialized_name, lambda aux: b"", lambda data: None))
    return nodetype


def register_pytree_node_serialization(
    nodetype: Class,
    *,
    serialized_name: str,
    serialize_auxdata: Callable[[Any], bytes],
    deserialize_auxdata: Callable[[bytes], Any],
) -> Class:
    """Let a registered pytree class stand among the arguments and results of exported functions; returns the class.

    `serialize_auxdata` makes bytes of the metadata that its flattening gives, `deserialize_auxdata` the metadata of
    those bytes, which may come from anybody: it must not run what is in them.

    Source: jax.export.register_pytree_node_serialization.
    """
    if not isinstance(nodetype, type) or not callable(serialize_auxdata) or not callable(deserialize_auxdata):
        raise errors.ArgumentError(
            f"register_pytree_node_serialization takes a class and two functions, got {nodetype!r}",
            mend="give serialize_auxdata=lambda aux: ..., deserialize_auxdata=lambda data: ...",
        )
    _register(_Stored(nodetype, serialized_name, serialize_auxdata, deserialize_auxdata))
    return nodetype


def encode_tree(treedef: PyTreeDef, value: Callable[[Any], Any]) -> Any:
    """A structure in JSON; `value` writes the keys of dictionaries."""
    if treedef is LEAF:
        return "*"
    data = treedef.node_data()
    assert data is not None
    cls, aux = data
    children = [encode_tree(child, value) for child in treedef.children()]
    if cls is defaultdict:
        factory = next((name for name, f in _FACTORIES.items() if f is aux[0]), None)
        if factory is None:
            raise errors.ExportError(
                f"a defaultdict with the factory {aux[0]!r} cannot be stored",
                mend=f"use a plain dict, or one of the factories {', '.join(_FACTORIES)}",
            )
        return ["defaultdict", [factory, *map(value, aux[1])], children]
    if cls in (dict, OrderedDict):
        return [_NAMES[cls], [value(key) for key in aux], children]
    if cls in _NAMES:
        return [_NAMES[cls], None, children]
    stored = _by_class.get(cls)
    if stored is None:
        how = "namedtuple" if hasattr(cls, "_fields") else "pytree_node"
        raise errors.ExportError(
            f"the arguments or results hold a {cls.__module__}.{cls.__qualname__}, which files have no name for",
            mend=f"register it: autodidax.export.register_{how}_serialization({cls.__name__}, serialized_name=...)",
        )
    return [stored.name, base64.b64encode(stored.to_bytes(aux)).decode(), children]


def decode_tree(coded: Any, value: Callable[[Any], Any]) -> PyTreeDef:
    """The structure of its JSON."""
    if coded == "*":
        return LEAF
    name, data, parts = coded
    children = tuple([decode_tree(part, value) for part in parts])
    if name in _BUILTIN:
        cls = _BUILTIN[name]
        node = node_of(cls)
        assert node is not None
        if cls in (tuple, list, NoneType):
            if data is not None or (children and cls is NoneType):
                raise ValueError(f"a {name} with {data!r}")
            return make_treedef(cls, node, None, children)
        keys = tuple(map(value, data[1:] if cls is defaultdict else data))
        if len(keys) != len(children):
            raise ValueError("a dictionary has other keys than entries")
        return make_treedef(cls, node, (_FACTORIES[data[0]], keys) if cls is defaultdict else keys, children)
    stored = _by_name.get(name)
    node = None if stored is None else node_of(stored.cls)
    if stored is None or node is None:
        raise errors.ExportError(
            f"the program's arguments or results hold a class stored as {name!r}, which is not registered here",
            mend="import the module that registers it for serialization before loading",
        )
    if hasattr(stored.cls, "_fields") and len(stored.cls._fields) != len(children):
        raise errors.ExportError(
            f"the class stored as {name!r} had {errors.counted(len(children), 'field')}, here it has others",
            mend="load it with the version of the class that it was stored with",
        )
    return make_treedef(stored.cls, node, stored.from_bytes(base64.b64decode(data, validate=True)), children)
