"""What each container type knows: how its instances are taken apart into children, and put together."""

import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from types import NoneType
from typing import Any

import numpy as np

from autodidax.errors import TreeError
from autodidax.tree.keys import DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey


class Node:
    """How instances of one container type are taken apart and put together."""

    __slots__ = ("flatten", "implicit", "keys", "unflatten", "with_keys")

    def __init__(
        self,
        flatten: Callable[[Any], tuple[Iterable[Any], Any]],
        unflatten: Callable[[Any, Any], Any],
        keys: Callable[[Any, int], Iterable[Any]] | None = None,
        with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]] | None = None,
        implicit: bool = False,
    ) -> None:
        self.flatten = flatten  # tree -> (children, metadata)
        self.unflatten = unflatten  # (metadata, children) -> tree
        self.keys = keys or _flat_index_keys  # (metadata, number of children) -> keys
        self.with_keys = with_keys  # tree -> ((key, child) pairs, metadata): where keys depend on the tree
        self.implicit = implicit  # a namedtuple's, which a registration may replace


def _flat_index_keys(aux: Any, count: int) -> Iterable[Any]:
    return map(FlattenedIndexKey, range(count))


def _sequence_keys(aux: Any, count: int) -> Iterable[Any]:
    return map(SequenceKey, range(count))


def sorted_keys(tree: dict[Any, Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(tree))
    except TypeError:
        kinds = ", ".join(sorted({type(key).__name__ for key in tree}))
        raise TreeError(
            f"the keys of a {type(tree).__name__} in a pytree are sorted, and these cannot be: "
            f"they are of type {kinds}",
            mend="use keys of one sortable type, or an OrderedDict, which keeps its own order",
        ) from None


def _flatten_dict(tree: dict[Any, Any]) -> tuple[Iterable[Any], Any]:
    keys = sorted_keys(tree)
    return [tree[key] for key in keys], keys


def _flatten_defaultdict(tree: defaultdict[Any, Any]) -> tuple[Iterable[Any], Any]:
    keys = sorted_keys(tree)
    return [tree[key] for key in keys], (tree.default_factory, keys)


def _namedtuple_node(cls: type) -> Node:
    keys = tuple(map(GetAttrKey, cls._fields))  # type: ignore[attr-defined]  # a namedtuple class
    return Node(
        lambda tree: (tree, None),
        lambda aux, children: tuple.__new__(cls, children),
        lambda aux, count: keys,
        implicit=True,
    )


REGISTRY: dict[type, Node] = {
    tuple: Node(lambda tree: (tree, None), lambda aux, children: tuple(children), _sequence_keys),
    list: Node(lambda tree: (tree, None), lambda aux, children: list(children), _sequence_keys),
    dict: Node(
        _flatten_dict,
        lambda aux, children: dict(zip(aux, children, strict=True)),
        lambda aux, count: map(DictKey, aux),
    ),
    NoneType: Node(lambda tree: ((), None), lambda aux, children: None),
    OrderedDict: Node(
        lambda tree: (tree.values(), tuple(tree)),
        lambda aux, children: OrderedDict(zip(aux, children, strict=True)),
        lambda aux, count: map(DictKey, aux),
    ),
    defaultdict: Node(
        _flatten_defaultdict,
        lambda aux, children: defaultdict(aux[0], zip(aux[1], children, strict=True)),
        lambda aux, count: map(DictKey, aux[1]),
    ),
}

# Types known to be leaves. Others join when first met, if they live as long as the program does anyway.
LEAF_TYPES: set[type] = {
    float,
    int,
    complex,
    bool,
    str,
    np.ndarray,
    np.float64,
    np.float32,
    np.int64,
    np.bool_,
}


def _is_lasting(cls: type) -> bool:
    """Whether its module holds the class under its own name, so that a cache may hold it too."""
    module = sys.modules.get(str(cls.__module__))
    return getattr(module, "__dict__", {}).get(cls.__qualname__) is cls


def node_of(cls: type) -> Node | None:
    """What is known about a container type; None for the type of a leaf."""
    node = REGISTRY.get(cls)
    if node is None and cls not in LEAF_TYPES:
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            node = _namedtuple_node(cls)
            if _is_lasting(cls):
                REGISTRY[cls] = node
        elif _is_lasting(cls):
            LEAF_TYPES.add(cls)
    return node


def children_of(tree: Any, node: Node) -> tuple[tuple[Any, ...], Any]:
    children, aux = node.flatten(tree)
    return tuple(children), aux


def keyed_children_of(tree: Any, node: Node) -> tuple[tuple[Any, ...], tuple[Any, ...], Any]:
    """The keys, the children and the metadata of a container."""
    if node.with_keys is None:
        children, aux = children_of(tree, node)
        return tuple(node.keys(aux, len(children))), children, aux
    pairs, aux = node.with_keys(tree)
    keys, children = tuple(zip(*pairs, strict=True)) or ((), ())
    return keys, children, aux


def same_metadata(cls: type | None, a: Any, b: Any) -> bool:
    if a is b:
        return True
    try:
        return bool(a == b)
    except Exception as error:
        raise TreeError(
            f"the metadata of two {type_name(cls)} nodes cannot be compared with ==: {error}",
            mend="keep arrays among the children of the node; metadata needs == and hash()",
        ) from None


def type_name(cls: type | None) -> str:
    return "leaf" if cls is None else "None" if cls is NoneType else cls.__name__


def flatten_one_level(tree: Any) -> tuple[tuple[Any, ...], Any]:
    """The children of a container, and its metadata.

    >>> flatten_one_level({"b": [1, 2], "a": 3})
    ((3, [1, 2]), ('a', 'b'))
    """
    return children_of(tree, _container_node(tree))


def flatten_one_level_with_keys(tree: Any) -> tuple[tuple[tuple[Any, Any], ...], Any]:
    """The children of a container, each with its key, and the metadata of the container.

    >>> flatten_one_level_with_keys({"a": 3})
    (((DictKey(key='a'), 3),), ('a',))
    """
    keys, children, aux = keyed_children_of(tree, _container_node(tree))
    return tuple(zip(keys, children, strict=True)), aux


def _container_node(tree: Any) -> Node:
    node = node_of(type(tree))
    if node is None:
        raise TreeError(f"a {type(tree).__name__} is a leaf, with no level to flatten", mend="register its class")
    return node


def is_tree_node(typ: type) -> bool:
    """Whether instances of a type are containers.

    >>> is_tree_node(dict), is_tree_node(float)
    (True, False)
    """
    return node_of(typ) is not None
