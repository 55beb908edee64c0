"""Pytrees: nested containers whose leaves the transforms see as one flat list.

Containers are tuple, list, dict (by sorted key), None (with no leaf), namedtuples, OrderedDict, defaultdict
and every registered class; anything else is a leaf, also an unregistered subclass of tuple, list or dict.

>>> leaves, treedef = flatten({"w": [1.0, 2.0], "b": (3.0, None)})
>>> leaves, treedef
([3.0, 1.0, 2.0], PyTreeDef({'b': (*, None), 'w': [*, *]}))
>>> treedef.unflatten([30.0, 10.0, 20.0])
{'b': (30.0, None), 'w': [10.0, 20.0]}

The names are those of ``jax.tree``; ``autodidax.tree_util`` has the same functions under their longer names.

Treedefs with plain metadata are interned, so that equal structures are mostly one object, and a structure
that is met again costs one dictionary look-up a container. No interned treedef keeps a function or a class
alive that would otherwise be freed.
"""

import dataclasses
import functools
import operator
import sys
from builtins import all as _all
from builtins import map as _map
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from types import NoneType
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

import numpy as np

from autodidax.errors import TreeError

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyPath",
    "Mismatch",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all",
    "all_leaves",
    "broadcast",
    "broadcast_prefix",
    "build_tree",
    "describe_mismatch",
    "equality_errors",
    "flatten",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "flatten_with_path",
    "is_tree_node",
    "keystr",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "static",
    "structure",
    "transpose",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
    "unflatten",
]

T = TypeVar("T")
Class = TypeVar("Class", bound=type)
IsLeaf = Callable[[Any], Any] | None


# Key paths


class _KeyEntry:
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


class SequenceKey(_KeyEntry):
    """The step to item ``idx`` of a sequence; ``str`` gives ``[idx]``."""

    __slots__ = __match_args__ = ("idx",)
    idx: int

    def __init__(self, idx: int) -> None:
        object.__setattr__(self, "idx", idx)

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


class DictKey(_KeyEntry):
    """The step to the value under ``key``; ``str`` gives ``['key']``."""

    __slots__ = __match_args__ = ("key",)
    key: Hashable

    def __init__(self, key: Hashable) -> None:
        object.__setattr__(self, "key", key)

    def __str__(self) -> str:
        return f"[{self.key!r}]"


class GetAttrKey(_KeyEntry):
    """The step to the attribute ``name``; ``str`` gives ``.name``."""

    __slots__ = __match_args__ = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "name", name)

    def __str__(self) -> str:
        return f".{self.name}"


class FlattenedIndexKey(_KeyEntry):
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
    return separator.join([str(k._value if simple and isinstance(k, _KeyEntry) else k) for k in keys])


# What a container type knows


class _Node:
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
    return _map(FlattenedIndexKey, range(count))


def _sequence_keys(aux: Any, count: int) -> Iterable[Any]:
    return _map(SequenceKey, range(count))


def _sorted_keys(tree: dict[Any, Any]) -> tuple[Any, ...]:
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
    keys = _sorted_keys(tree)
    return [tree[key] for key in keys], keys


def _flatten_defaultdict(tree: defaultdict[Any, Any]) -> tuple[Iterable[Any], Any]:
    keys = _sorted_keys(tree)
    return [tree[key] for key in keys], (tree.default_factory, keys)


def _namedtuple_node(cls: type) -> _Node:
    keys = tuple(_map(GetAttrKey, cls._fields))  # type: ignore[attr-defined]
    return _Node(
        lambda tree: (tree, None),
        lambda aux, children: tuple.__new__(cls, children),
        lambda aux, count: keys,
        implicit=True,
    )


_REGISTRY: dict[type, _Node] = {
    tuple: _Node(lambda tree: (tree, None), lambda aux, children: tuple(children), _sequence_keys),
    list: _Node(lambda tree: (tree, None), lambda aux, children: list(children), _sequence_keys),
    dict: _Node(
        _flatten_dict,
        lambda aux, children: dict(zip(aux, children, strict=True)),
        lambda aux, count: _map(DictKey, aux),
    ),
    NoneType: _Node(lambda tree: ((), None), lambda aux, children: None),
    OrderedDict: _Node(
        lambda tree: (tree.values(), tuple(tree)),
        lambda aux, children: OrderedDict(zip(aux, children, strict=True)),
        lambda aux, count: _map(DictKey, aux),
    ),
    defaultdict: _Node(
        _flatten_defaultdict,
        lambda aux, children: defaultdict(aux[0], zip(aux[1], children, strict=True)),
        lambda aux, count: _map(DictKey, aux[1]),
    ),
}

# Types known to be leaves. Others join when first met, if they live as long as the program does anyway.
_LEAF_TYPES: set[type] = {
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


def _node_of(cls: type) -> _Node | None:
    """What is known about a container type; None for the type of a leaf."""
    node = _REGISTRY.get(cls)
    if node is None and cls not in _LEAF_TYPES:
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            node = _namedtuple_node(cls)
            if _is_lasting(cls):
                _REGISTRY[cls] = node
        elif _is_lasting(cls):
            _LEAF_TYPES.add(cls)
    return node


def _children_of(tree: Any, node: _Node) -> tuple[tuple[Any, ...], Any]:
    children, aux = node.flatten(tree)
    return tuple(children), aux


def _keyed_children_of(tree: Any, node: _Node) -> tuple[tuple[Any, ...], tuple[Any, ...], Any]:
    """The keys, the children and the metadata of a container."""
    if node.with_keys is None:
        children, aux = _children_of(tree, node)
        return tuple(node.keys(aux, len(children))), children, aux
    pairs, aux = node.with_keys(tree)
    keys, children = tuple(zip(*pairs, strict=True)) or ((), ())
    return keys, children, aux


# Structures


class PyTreeDef:
    """The structure of a pytree, without its leaves: immutable, hashable, comparable, picklable.

    >>> treedef = structure({"a": 1, "b": (2, 3)})
    >>> treedef
    PyTreeDef({'a': *, 'b': (*, *)})
    >>> treedef.num_leaves, treedef.num_nodes, treedef.node_data(), treedef.children()
    (3, 5, (<class 'dict'>, ['a', 'b']), [PyTreeDef(*), PyTreeDef((*, *))])
    """

    __slots__ = (
        "__weakref__",
        "_aux",
        "_children",
        "_hash",
        "_interned",
        "_is_flat",
        "_node",
        "_num_leaves",
        "_num_nodes",
        "_type",
    )

    def __init__(self, cls: type | None, node: _Node | None, aux: Any, children: "tuple[PyTreeDef, ...]") -> None:
        self._type = cls
        self._node = node
        self._aux = aux
        self._children = children
        self._hash: int | None = None
        self._interned = False
        if cls is None:
            self._num_leaves, self._num_nodes, self._is_flat = 1, 1, False
            return
        self._num_leaves = sum([child._num_leaves for child in children])
        self._num_nodes = 1 + sum([child._num_nodes for child in children])
        self._is_flat = self._num_leaves == len(children) == self._num_nodes - 1

    @property
    def num_leaves(self) -> int:
        """How many leaves a tree of this structure has."""
        return self._num_leaves

    @property
    def num_nodes(self) -> int:
        """How many leaves and containers a tree of this structure has, None counted as a container."""
        return self._num_nodes

    def children(self) -> "list[PyTreeDef]":
        """The structures of the children of the outermost container."""
        return list(self._children)

    def node_data(self) -> tuple[type, Any] | None:
        """The type and the metadata of the outermost container; None for a leaf."""
        if self._type is None:
            return None
        return self._type, list(self._aux) if self._type is dict else self._aux

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree of this structure with the given leaves.

        Namedtuples and dataclasses are put together without their ``__init__``, so any object may be a leaf.

        Raises: TreeError where the number of leaves is wrong.

        >>> structure([0, (0, None)]).unflatten("ab")
        ['a', ('b', None)]
        """
        if type(leaves) is not list:
            leaves = list(leaves)
        if len(leaves) != self._num_leaves:
            raise TreeError(
                f"too {'few' if len(leaves) < self._num_leaves else 'many'} leaves for {self!r}: "
                f"{self._num_leaves} expected, {len(leaves)} given",
                mend="give unflatten as many leaves as the structure has stars",
            )
        if self is LEAF:
            return leaves[0]
        return _put_together(self, leaves) if self._is_flat else _rebuild(self, iter(leaves))

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The subtrees of ``tree`` that stand where this structure has its leaves.

        Raises: TreeError, naming the first key path at which ``tree`` has another container.

        >>> structure({"a": 0, "b": [0]}).flatten_up_to({"a": (1, 2), "b": [3]})
        [(1, 2), 3]
        """
        return _flatten_up_to(self, tree, "the tree does not match its structure")

    def compose(self, inner: "PyTreeDef") -> "PyTreeDef":
        """This structure with ``inner`` in the place of each leaf.

        >>> structure([0, 0]).compose(structure((0,)))
        PyTreeDef([(*,), (*,)])
        """
        if self is LEAF or inner is LEAF:
            return inner if self is LEAF else self
        children = tuple([child.compose(inner) for child in self._children])
        return _treedef(cast(type, self._type), cast(_Node, self._node), self._aux, children)

    def from_iterable_tree(self, nested: Any) -> Any:
        """The tree of this structure whose leaves come from iterables nested in the same way.

        >>> structure({"a": 0, "b": (0, 0)}).from_iterable_tree([1, [2, 3]])
        {'a': 1, 'b': (2, 3)}
        """
        if self is LEAF:
            return nested
        parts = () if nested is None else tuple(nested)
        if len(parts) != len(self._children):
            raise TreeError(
                f"{self!r} has {len(self._children)} children, {len(parts)} given",
                mend="nest the iterables as the structure is nested",
            )
        return _put_together(self, [c.from_iterable_tree(p) for c, p in zip(self._children, parts, strict=True)])

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not PyTreeDef:
            return NotImplemented
        return (
            self._type is other._type
            and self._num_nodes == other._num_nodes
            and _same_metadata(self._type, self._aux, other._aux)
            and self._children == other._children
        )

    def __hash__(self) -> int:
        if self._hash is None:
            try:
                self._hash = hash((self._type, self._aux, self._children))
            except TypeError as error:
                raise TreeError(
                    f"the metadata of a {_name(self._type)} node cannot be hashed: {error}",
                    mend="keep arrays and lists among the children of the node; metadata needs == and hash()",
                ) from None
        return self._hash

    def __repr__(self) -> str:
        return f"PyTreeDef({_format(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _load_treedef, (self._type, self._aux, self._children)


LEAF = PyTreeDef(None, None, None, ())
"""The structure of every leaf: one object, to be compared with ``is``."""
LEAF._interned = True

# Interning. Children stand in a key by identity; the entry keeps them alive, so no id in a key is reused. The
# types of the metadata stand in it because 1 == True, and unflatten must give back what was flattened.
_INTERNED: dict[tuple[Any, ...], PyTreeDef] = {}
_INTERNED_LIMIT = 4096
_PLAIN_METADATA = {str, int, bool, NoneType}


def _treedef(cls: type, node: _Node, aux: Any, children: tuple[PyTreeDef, ...]) -> PyTreeDef:
    key: tuple[Any, ...]
    if aux is None:
        key = (cls, *_map(id, children))
    else:
        kinds: Any = tuple(_map(type, aux)) if type(aux) is tuple else (type(aux),)
        if not _PLAIN_METADATA.issuperset(kinds):
            return PyTreeDef(cls, node, aux, children)
        key = (cls, aux, kinds, *_map(id, children))
    treedef = _INTERNED.get(key)
    if treedef is None:
        treedef = PyTreeDef(cls, node, aux, children)
        # What is in the registry lives on anyway; the class of a namedtuple made in a function does not.
        if _REGISTRY.get(cls) is node and _all(child._interned for child in children):
            if len(_INTERNED) >= _INTERNED_LIMIT:
                _INTERNED.clear()
            treedef._interned = True
            _INTERNED[key] = treedef
    return treedef


# The structures of tuples and lists of nothing but leaves, by their length.
_LEAVES_ONLY: dict[type, dict[int, PyTreeDef]] = {tuple: {}, list: {}}


def _sequence_of_leaves(cls: type, count: int) -> PyTreeDef:
    treedef = _treedef(cls, _REGISTRY[cls], None, (LEAF,) * count)
    if count <= 1024:
        _LEAVES_ONLY[cls][count] = treedef
    return treedef


# For dicts with str keys, by the keys in the dict's order: whether that is sorted, the sorted keys, and the
# structure with nothing but leaves.
_DICTS: dict[tuple[str, ...], tuple[bool, tuple[str, ...], PyTreeDef]] = {}
_JUST_STR = {str}


def _dict_of_leaves(tree: dict[Any, Any], order: tuple[Any, ...]) -> tuple[bool, tuple[Any, ...], PyTreeDef]:
    keys = _sorted_keys(tree)
    shape = keys == order, keys, _treedef(dict, _REGISTRY[dict], keys, (LEAF,) * len(keys))
    if _JUST_STR.issuperset(_map(type, order)):
        if len(_DICTS) >= _INTERNED_LIMIT:
            _DICTS.clear()
        _DICTS[order] = shape
    return shape


def _load_treedef(cls: type | None, aux: Any, children: tuple[PyTreeDef, ...]) -> PyTreeDef:
    if cls is None:
        return LEAF
    node = _node_of(cls)
    if node is None:
        raise TreeError(
            f"a pickled structure contains {_name(cls)}, which is not a registered pytree node here",
            mend="import the module that registers the class before loading",
        )
    return _treedef(cls, node, aux, children)


_NONE = _treedef(NoneType, _REGISTRY[NoneType], None, ())


def _put_together(treedef: PyTreeDef, children: Iterable[Any]) -> Any:
    cls = treedef._type
    if cls is tuple:
        return tuple(children)
    if cls is list:
        return list(children)
    if cls is dict:
        return dict(zip(treedef._aux, children, strict=True))
    return cast(_Node, treedef._node).unflatten(treedef._aux, tuple(children))


def _rebuild(treedef: PyTreeDef, leaves: Iterator[Any]) -> Any:
    if treedef._is_flat:
        return _put_together(treedef, islice(leaves, treedef._num_leaves))
    return _put_together(
        treedef, [next(leaves) if child is LEAF else _rebuild(child, leaves) for child in treedef._children]
    )


def _same_metadata(cls: type | None, a: Any, b: Any) -> bool:
    if a is b:
        return True
    try:
        return bool(a == b)
    except Exception as error:
        raise TreeError(
            f"the metadata of two {_name(cls)} nodes cannot be compared with ==: {error}",
            mend="keep arrays among the children of the node; metadata needs == and hash()",
        ) from None


def _name(cls: type | None) -> str:
    return "leaf" if cls is None else "None" if cls is NoneType else cls.__name__


def _format(treedef: PyTreeDef) -> str:
    cls, aux = treedef._type, treedef._aux
    if cls is None:
        return "*"
    if cls is NoneType:
        return "None"
    children = [_format(child) for child in treedef._children]
    if cls is tuple:
        return f"({children[0]},)" if len(children) == 1 else f"({', '.join(children)})"
    if cls is list:
        return f"[{', '.join(children)}]"
    if cls is dict:
        return "{" + ", ".join([f"{key!r}: {child}" for key, child in zip(aux, children, strict=True)]) + "}"
    if cast(_Node, treedef._node).implicit:
        return f"CustomNode(namedtuple[{cls.__name__}], [{', '.join(children)}])"
    return f"CustomNode({cls.__name__}[{aux}], [{', '.join(children)}])"


# Flattening and mapping


def flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves of a tree, and its structure; ``is_leaf(subtree)`` true makes a leaf of a subtree or a None.

    Raises: TreeError for a dict whose keys cannot be sorted.

    >>> flatten((1, [2, None]))
    ([1, 2], PyTreeDef((*, [*, None])))
    >>> flatten((1, [2, None]), is_leaf=lambda x: x is None)
    ([1, 2, None], PyTreeDef((*, [*, *])))
    """
    if is_leaf is None and type(tree) in _LEAF_TYPES:
        return [tree], LEAF
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree: Any, leaves: list[Any], is_leaf: IsLeaf) -> PyTreeDef:
    cls = type(tree)
    if cls in _LEAF_TYPES if is_leaf is None else is_leaf(tree):
        leaves.append(tree)
        return LEAF
    if tree is None:
        return _NONE
    children: Any
    if cls is tuple or cls is list:
        if is_leaf is None and _LEAF_TYPES.issuperset(_map(type, tree)):
            leaves.extend(tree)
            return _LEAVES_ONLY[cls].get(len(tree)) or _sequence_of_leaves(cls, len(tree))
        node, aux, children = _REGISTRY[cls], None, tree
    elif cls is dict:
        order = tuple(tree)
        shape = _DICTS.get(order)
        if shape is None or not _JUST_STR.issuperset(_map(type, order)):
            shape = _dict_of_leaves(tree, order)
        is_sorted, aux, leaves_only = shape
        children = tree.values() if is_sorted else [tree[key] for key in aux]
        if is_leaf is None and _LEAF_TYPES.issuperset(_map(type, children)):
            leaves.extend(children)
            return leaves_only
        node = _REGISTRY[cls]
    else:
        found = _REGISTRY.get(cls) or _node_of(cls)
        if found is None:
            leaves.append(tree)
            return LEAF
        node = found
        children, aux = _children_of(tree, node)
        if is_leaf is None and _LEAF_TYPES.issuperset(_map(type, children)):
            leaves.extend(children)
            return _treedef(cls, node, aux, (LEAF,) * len(children))
    return _treedef(cls, node, aux, tuple([_flatten(child, leaves, is_leaf) for child in children]))


def unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of the given structure and leaves: the inverse of `flatten`.

    >>> unflatten(structure({"a": 0, "b": 0}), [1, 2])
    {'a': 1, 'b': 2}
    """
    return treedef.unflatten(leaves)


def leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree.

    >>> leaves({"b": 1, "a": (2, None)})
    [2, 1]
    """
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: IsLeaf = None) -> PyTreeDef:
    """The structure of a tree.

    >>> structure((1, [2]))
    PyTreeDef((*, [*]))
    """
    return flatten(tree, is_leaf)[1]


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """The tree of f(leaf, ...), one argument a tree.

    The trees in ``rest`` have the structure of ``tree``, with any subtree in the place of a leaf.

    Raises: TreeError, naming the key path, where a tree of ``rest`` has another structure.

    >>> map(lambda x, y: x + y, {"a": 1, "b": (2,)}, {"a": 10, "b": (20,)})
    {'a': 11, 'b': (22,)}
    """
    firsts, treedef = flatten(tree, is_leaf)
    if not rest:
        return treedef.unflatten(list(_map(f, firsts)))
    return treedef.unflatten(list(_map(f, firsts, *_rest_columns(treedef, rest))))


def _rest_columns(treedef: PyTreeDef, rest: tuple[Any, ...]) -> list[list[Any]]:
    return [
        _flatten_up_to(treedef, tree, f"map: tree {number} does not match the first")
        for number, tree in enumerate(rest, 2)
    ]


def all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Whether every leaf is true.

    >>> all({"a": True, "b": (1, None)})
    True
    """
    return _all(leaves(tree, is_leaf))


class _Missing:
    def __repr__(self) -> str:
        return "<no value>"


_MISSING: Any = _Missing()


def reduce(function: Callable[[Any, Any], Any], tree: Any, initializer: Any = _MISSING, is_leaf: IsLeaf = None) -> Any:
    """function(function(function(initializer, leaf 0), leaf 1), ...), from the left.

    >>> reduce(lambda total, x: total + x, {"a": 1, "b": (2, 3)}, 10)
    16
    """
    start = () if initializer is _MISSING else (initializer,)
    return functools.reduce(function, leaves(tree, is_leaf), *start)


def reduce_associative(
    operation: Callable[[Any, Any], Any], tree: Any, *, identity: Any = _MISSING, is_leaf: IsLeaf = None
) -> Any:
    """The leaves combined pairwise, as a balanced tree; ``identity`` is the result where there is no leaf.

    >>> reduce_associative(lambda x, y: f"({x}{y})", list("abcde"))
    '((ab)(c(de)))'
    """
    values = leaves(tree, is_leaf)
    if not values and identity is _MISSING:
        raise TreeError("reduce_associative: the tree has no leaf", mend="give identity=")

    def combine(start: int, stop: int) -> Any:
        if stop - start == 1:
            return values[start]
        middle = (start + stop) // 2
        return operation(combine(start, middle), combine(middle, stop))

    return combine(0, len(values)) if values else identity


def transpose(outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any) -> Any:
    """Swaps the levels of a tree whose structure is ``outer_treedef`` with ``inner_treedef`` at each leaf.

    Where ``inner_treedef`` is None it is the structure at the first leaf.

    Raises: TreeError where the tree has another structure.

    >>> transpose(structure([0, 0]), structure({"a": 0, "b": 0}), [{"a": 1, "b": 2}, {"a": 3, "b": 4}])
    {'a': [1, 3], 'b': [2, 4]}
    """
    what = "transpose: the tree does not match outer_treedef with inner_treedef at each leaf"
    if inner_treedef is None:
        rows = _flatten_up_to(outer_treedef, pytree_to_transpose, what)
        if not rows:
            raise TreeError("transpose: outer_treedef has no leaf to tell inner_treedef by", mend="give inner_treedef")
        inner_treedef = structure(rows[0])
    values, treedef = flatten(pytree_to_transpose)
    expected = outer_treedef.compose(inner_treedef)
    if treedef != expected:
        raise _mismatch_error(what, expected, pytree_to_transpose)
    step = inner_treedef.num_leaves
    columns = [outer_treedef.unflatten(values[k::step]) for k in range(step)]
    return inner_treedef.unflatten(columns)


# With key paths


def flatten_with_path(
    tree: Any, is_leaf: Callable[..., Any] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """The leaves of a tree, each with its key path, and its structure.

    ``is_leaf`` gets a subtree, or with ``is_leaf_takes_path`` a key path and a subtree.

    >>> flatten_with_path({"w": [1, 2]})[0]
    [((DictKey(key='w'), SequenceKey(idx=0)), 1), ((DictKey(key='w'), SequenceKey(idx=1)), 2)]
    """
    found: list[tuple[KeyPath, Any]] = []

    def walk(path: KeyPath, subtree: Any) -> PyTreeDef:
        cls = type(subtree)
        node = _node_of(cls)
        if node is None or (is_leaf and (is_leaf(path, subtree) if is_leaf_takes_path else is_leaf(subtree))):
            found.append((path, subtree))
            return LEAF
        keys, children, aux = _keyed_children_of(subtree, node)
        return _treedef(
            cls, node, aux, tuple([walk((*path, k), child) for k, child in zip(keys, children, strict=True)])
        )

    treedef = walk((), tree)
    return found, treedef


def leaves_with_path(
    tree: Any, is_leaf: Callable[..., Any] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """The leaves of a tree, each with its key path.

    >>> [(keystr(path), leaf) for path, leaf in leaves_with_path({"w": [1, 2]})]
    [("['w'][0]", 1), ("['w'][1]", 2)]
    """
    return flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., Any] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """The tree of f(key path, leaf, ...); ``rest`` as in `map`.

    >>> map_with_path(lambda path, x: f"{keystr(path)}={x}", {"w": [1, 2]})
    {'w': ["['w'][0]=1", "['w'][1]=2"]}
    """
    pairs, treedef = flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    columns = _rest_columns(treedef, rest)
    return treedef.unflatten([f(path, leaf, *others) for (path, leaf), *others in zip(pairs, *columns, strict=True)])


# Prefixes and mismatches


class _Differs(Exception):
    """Two structures differ somewhere; the walk that says where runs only then."""


def _flatten_up_to(treedef: PyTreeDef, tree: Any, what: str) -> list[Any]:
    if treedef is LEAF:
        return [tree]
    found: list[Any] = []
    try:
        _collect_up_to(treedef, tree, found)
    except _Differs:
        raise _mismatch_error(what, treedef, tree, prefix=True) from None
    return found


def _collect_up_to(treedef: PyTreeDef, tree: Any, found: list[Any]) -> None:
    cls = type(tree)
    if cls is not treedef._type:
        raise _Differs
    children: Any
    if cls is tuple or cls is list:
        children = tree
    elif cls is dict:
        try:
            children = [tree[key] for key in treedef._aux]
        except KeyError:
            raise _Differs from None
        if len(children) != len(tree):
            raise _Differs
    else:
        children, aux = _children_of(tree, cast(_Node, treedef._node))
        if not _same_metadata(cls, treedef._aux, aux):
            raise _Differs
    if len(children) != len(treedef._children):
        raise _Differs
    if treedef._is_flat:
        found.extend(children)
        return
    for sub, child in zip(treedef._children, children, strict=True):
        if sub is LEAF:
            found.append(child)
        else:
            _collect_up_to(sub, child, found)


def broadcast_prefix(
    prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None, *, name: str = "prefix_tree"
) -> list[Any]:
    """A list with, for each leaf of ``full_tree``, the leaf of ``prefix_tree`` that stands at it or above it.

    ``full_tree`` may be a tree or a `PyTreeDef`. ``is_leaf`` is about ``prefix_tree``: None in it stands for
    None in ``full_tree``, unless ``is_leaf`` makes a leaf of it. ``name`` is what an error calls it.

    Raises: TreeError, naming the key path, where ``prefix_tree`` is no prefix of ``full_tree``.

    >>> broadcast_prefix((0, {"a": 1}), ([5, 6, 7], {"a": (8, 9)}))
    [0, 0, 0, 1, 1]
    >>> broadcast_prefix((0, None), ([5, 6], {"a": 8}), is_leaf=lambda x: x is None)
    [0, 0, None]
    """
    treedef = full_tree if type(full_tree) is PyTreeDef else flatten(full_tree)[1]
    found: list[Any] = []
    try:
        _collect_broadcast(prefix_tree, treedef, is_leaf, found)
    except _Differs:
        what = f"{name} is not a prefix of the tree that it is for"
        raise _mismatch_error(what, prefix_tree, full_tree, is_leaf, prefix=True) from None
    return found


def _collect_broadcast(prefix: Any, treedef: PyTreeDef, is_leaf: IsLeaf, found: list[Any]) -> None:
    cls = type(prefix)
    node = _node_of(cls)
    if node is None or (is_leaf is not None and is_leaf(prefix)):
        found.extend([prefix] * treedef._num_leaves)
        return
    if cls is not treedef._type:
        raise _Differs
    children, aux = _children_of(prefix, node)
    if len(children) != len(treedef._children) or not _same_metadata(cls, aux, treedef._aux):
        raise _Differs
    for child, sub in zip(children, treedef._children, strict=True):
        _collect_broadcast(child, sub, is_leaf, found)


def broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """A tree of the structure of ``full_tree`` with the leaves of `broadcast_prefix`.

    >>> broadcast((0, {"a": 1}), ([5, 6], {"a": (8, 9)}))
    ([0, 0], {'a': (1, 1)})
    """
    treedef = structure(full_tree)
    return treedef.unflatten(broadcast_prefix(prefix_tree, full_tree, is_leaf))


class Mismatch(NamedTuple):
    """One place where two structures differ; ``str`` makes a line of it."""

    path: KeyPath
    expected: str
    given: str
    detail: str = ""

    def __str__(self) -> str:
        place = keystr(self.path) or "the root"
        return f"at {place}: {self.expected} expected, {self.given} given{self.detail}"


class _View(NamedTuple):
    """The outermost level of a tree or of a PyTreeDef."""

    cls: type | None
    aux: Any
    keys: tuple[Any, ...]
    children: tuple[Any, ...]
    text: str


def _view(tree: Any, is_leaf: IsLeaf = None) -> _View:
    if type(tree) is PyTreeDef:
        cls, aux, children = tree._type, tree._aux, tree._children
        keys = () if tree._node is None else tuple(tree._node.keys(aux, len(children)))
    else:
        cls = type(tree)
        node = _node_of(cls)
        if node is None or (is_leaf is not None and is_leaf(tree)):
            return _View(None, None, (), (), f"a leaf ({cls.__name__})")
        keys, children, aux = _keyed_children_of(tree, node)
    return _View(cls, aux, keys, children, _describe(cls, aux, keys, len(children)))


_SHOWN_KEYS = 8
_DICT_TYPES = (dict, OrderedDict, defaultdict)


def _describe(cls: type | None, aux: Any, keys: tuple[Any, ...], count: int) -> str:
    if cls is None:
        return "a leaf"
    if cls is NoneType:
        return "None"
    if cls in _DICT_TYPES:
        shown = ", ".join([repr(k.key) for k in keys[:_SHOWN_KEYS]]) + (", ..." if count > _SHOWN_KEYS else "")
        factory = f" of {getattr(aux[0], '__name__', aux[0])}" if cls is defaultdict else ""
        return f"{cls.__name__}{factory} with keys {shown}" if count else f"empty {cls.__name__}{factory}"
    metadata = "" if aux is None or (type(aux) is tuple and not aux) else f" with metadata {aux!r}"
    return f"{cls.__name__} of {count}{metadata}"


def _key_changes(expected: tuple[Any, ...], given: tuple[Any, ...]) -> str:
    """How two dicts' keys differ, for those too long to compare by eye."""
    parts = [("missing", set(expected) - set(given)), ("unexpected", set(given) - set(expected))]
    said = [f"{word} {', '.join(sorted(repr(k.key) for k in keys))}" for word, keys in parts if keys]
    return f" ({'; '.join(said)})" if said else ""


def _mismatches(expected: Any, given: Any, is_leaf: IsLeaf, prefix: bool, path: KeyPath = ()) -> Iterator[Mismatch]:
    a, b = _view(expected, is_leaf), _view(given, None if prefix else is_leaf)
    if a.cls is None and (prefix or b.cls is None):
        return
    same_node = a.cls is b.cls and len(a.children) == len(b.children)
    if not same_node or not _same_metadata(a.cls, a.aux, b.aux):
        changes = _key_changes(a.keys, b.keys) if a.cls is b.cls and a.cls in _DICT_TYPES else ""
        yield Mismatch(path, a.text, b.text, changes)
        return
    keys = a.keys if type(given) is PyTreeDef else b.keys
    for key, sub_expected, sub_given in zip(keys, a.children, b.children, strict=True):
        yield from _mismatches(sub_expected, sub_given, is_leaf, prefix, (*path, key))


def equality_errors(expected: Any, given: Any, is_leaf: IsLeaf = None) -> Iterator[Mismatch]:
    """Every place where the structures of two trees, or two PyTreeDefs, differ.

    >>> [str(e) for e in equality_errors({"w": [(1, 2)], "b": 0}, {"w": [[1, 2, 3]], "b": None})]
    ["at ['b']: a leaf (int) expected, None given", "at ['w'][0]: tuple of 2 expected, list of 3 given"]
    """
    return _mismatches(expected, given, is_leaf, prefix=False)


def describe_mismatch(expected: Any, given: Any, is_leaf: IsLeaf = None) -> str | None:
    """The first place where the structures of two trees, or PyTreeDefs, differ; None if they are equal.

    >>> describe_mismatch({"w": [(1, 2)]}, {"w": [[1, 2, 3]]})
    "at ['w'][0]: tuple of 2 expected, list of 3 given"
    """
    first = next(equality_errors(expected, given, is_leaf), None)
    return None if first is None else str(first)


def _mismatch_error(what: str, expected: Any, given: Any, is_leaf: IsLeaf = None, prefix: bool = False) -> TreeError:
    first = next(_mismatches(expected, given, is_leaf, prefix), None)
    place = "" if first is None else f", {first}"
    return TreeError(what + place, mend="make the two trees of the same containers, with the same keys")


# One level at a time


def flatten_one_level(tree: Any) -> tuple[tuple[Any, ...], Any]:
    """The children of a container, and its metadata.

    >>> flatten_one_level({"b": [1, 2], "a": 3})
    ((3, [1, 2]), ('a', 'b'))
    """
    return _children_of(tree, _container_node(tree))


def flatten_one_level_with_keys(tree: Any) -> tuple[tuple[tuple[Any, Any], ...], Any]:
    """The children of a container, each with its key, and the metadata of the container.

    >>> flatten_one_level_with_keys({"a": 3})
    (((DictKey(key='a'), 3),), ('a',))
    """
    keys, children, aux = _keyed_children_of(tree, _container_node(tree))
    return tuple(zip(keys, children, strict=True)), aux


def _container_node(tree: Any) -> _Node:
    node = _node_of(type(tree))
    if node is None:
        raise TreeError(f"a {type(tree).__name__} is a leaf, with no level to flatten", mend="register its class")
    return node


def is_tree_node(typ: type) -> bool:
    """Whether instances of a type are containers.

    >>> is_tree_node(dict), is_tree_node(float)
    (True, False)
    """
    return _node_of(typ) is not None


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Whether every item is a leaf.

    >>> all_leaves([1.0, "a"]), all_leaves([1.0, None])
    (True, False)
    """
    return _all(flatten(item, is_leaf)[1] is LEAF for item in iterable)


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether a structure has no children: that of a leaf, of None or of an empty container.

    >>> treedef_is_leaf(structure(1.0)), treedef_is_leaf(structure((1.0,)))
    (True, False)
    """
    return treedef.num_nodes == 1


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children of the outermost container.

    >>> treedef_children(structure((1, [2])))
    [PyTreeDef(*), PyTreeDef([*])]
    """
    return treedef.children()


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple of trees with the given structures.

    >>> treedef_tuple([structure(1), structure([2])])
    PyTreeDef((*, [*]))
    """
    return _treedef(tuple, _REGISTRY[tuple], None, tuple(treedefs))


def build_tree(treedef: PyTreeDef, xs: Any) -> Any:
    """The tree of the given structure whose leaves come from iterables nested in the same way.

    >>> build_tree(structure({"a": 0, "b": (0, 0)}), [1, [2, 3]])
    {'a': 1, 'b': (2, 3)}
    """
    return treedef.from_iterable_tree(xs)


# Registration


def _register(cls: type, node: _Node) -> None:
    if not isinstance(cls, type):
        raise TreeError(f"a pytree node must be a class, got {cls!r}", mend="pass the class itself")
    known = _REGISTRY.get(cls)
    if known is not None and not known.implicit:
        raise TreeError(f"{cls!r} is registered as a pytree node already", mend="register a class once")
    _REGISTRY[cls] = node
    _LEAF_TYPES.discard(cls)
    _INTERNED.clear()  # a namedtuple class may have been interned as such


def register_pytree_node(
    nodetype: type[T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_with_keys_func: Callable[[T], tuple[Iterable[tuple[Any, Any]], Any]] | None = None,
) -> None:
    """Makes instances of a class containers.

    ``flatten_func(tree)`` gives the children and hashable metadata, ``unflatten_func(metadata, children)``
    the tree again; it must accept any objects as children. ``flatten_with_keys_func`` gives (key, child)
    pairs in place of children. Subclasses are not registered with the class.

    Raises: TreeError for a class that is registered already.

    >>> class Pair:
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    >>> register_pytree_node(Pair, lambda p: ((p.x, p.y), None), lambda _, xy: Pair(*xy))
    >>> map(lambda v: v + 1, Pair(1, 2)).y
    3
    """
    _register(nodetype, _Node(flatten_func, unflatten_func, with_keys=flatten_with_keys_func))


def register_pytree_with_keys(
    nodetype: type[T],
    flatten_with_keys: Callable[[T], tuple[Iterable[tuple[Any, Any]], Any]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Any]] | None = None,
) -> None:
    """Makes instances of a class containers whose children have keys.

    >>> class Box:
    ...     def __init__(self, x):
    ...         self.x = x
    >>> register_pytree_with_keys(Box, lambda b: (((GetAttrKey("x"), b.x),), None), lambda _, xs: Box(*xs))
    >>> keystr(leaves_with_path([Box(1)])[0][0])
    '[0].x'
    """

    def without_keys(tree: T) -> tuple[Iterable[Any], Any]:
        pairs, aux = flatten_with_keys(tree)
        return [child for _, child in pairs], aux

    _register(nodetype, _Node(flatten_func or without_keys, unflatten_func, with_keys=flatten_with_keys))


def register_pytree_node_class(cls: Class) -> Class:
    """A class decorator: `register_pytree_node` with the methods ``tree_flatten`` and ``tree_unflatten``.

    >>> @register_pytree_node_class
    ... class Scaled:
    ...     def __init__(self, x, unit):
    ...         self.x, self.unit = x, unit
    ...     def tree_flatten(self):
    ...         return (self.x,), self.unit
    ...     @classmethod
    ...     def tree_unflatten(cls, unit, children):
    ...         return cls(*children, unit)
    >>> structure(Scaled(1.0, "m"))
    PyTreeDef(CustomNode(Scaled[m], [*]))
    """
    methods: Any = cls
    with_keys = getattr(cls, "tree_flatten_with_keys", None)
    register_pytree_node(cls, methods.tree_flatten, methods.tree_unflatten, with_keys)
    return cls


def register_pytree_with_keys_class(cls: Class) -> Class:
    """A class decorator: `register_pytree_with_keys` with ``tree_flatten_with_keys`` and ``tree_unflatten``.

    >>> @register_pytree_with_keys_class
    ... class Named:
    ...     def __init__(self, x):
    ...         self.x = x
    ...     def tree_flatten_with_keys(self):
    ...         return (("x", self.x),), None
    ...     @classmethod
    ...     def tree_unflatten(cls, metadata, children):
    ...         return cls(*children)
    >>> leaves_with_path(Named(1))
    [(('x',), 1)]
    """
    methods: Any = cls
    flatten_func = getattr(cls, "tree_flatten", None)
    register_pytree_with_keys(cls, methods.tree_flatten_with_keys, methods.tree_unflatten, flatten_func)
    return cls


def register_static(cls: Class) -> Class:
    """A class decorator: instances are metadata, containers without leaves, compared by their == and hash.

    >>> @register_static
    ... class Mode(str):
    ...     pass
    >>> leaves([1.0, Mode("fast")])
    [1.0]
    """
    _register(cls, _Node(lambda tree: ((), tree), lambda tree, children: tree))
    return cls


def static(**kwargs: Any) -> Any:
    """A dataclass field that `register_dataclass` takes as metadata; keywords as for ``dataclasses.field``.

    >>> import dataclasses
    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     activation: str = static(default="tanh")
    >>> flatten(Layer(1.0))
    ([1.0], PyTreeDef(CustomNode(Layer[('tanh',)], [*])))
    """

    return dataclasses.field(**{**kwargs, "metadata": {"static": True, **(kwargs.get("metadata") or {})}})


def register_dataclass(
    nodetype: Class,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Class:
    """Makes instances of a dataclass containers: data fields are children, meta fields are metadata.

    With neither list given, a field is metadata where it is a `static` one (``metadata={"static": True}``),
    and data otherwise. Dropped fields are reset to their defaults. Also a class decorator, above
    ``@dataclass``.

    Other than in JAX, a dataclass is put together without ``__init__`` and ``__post_init__``, which therefore
    need not accept tracers or placeholders. The exceptions are a class that is no dataclass, and one with
    fields that only ``__post_init__`` can set (``init=False``, in neither list, no default).

    Raises: TreeError where the lists do not name each field once.

    >>> import dataclasses
    >>> @register_dataclass
    ... @dataclasses.dataclass(frozen=True)
    ... class Point:
    ...     x: float
    ...     y: float
    >>> map(lambda v: 2 * v, Point(1.0, 2.0))
    Point(x=2.0, y=4.0)
    """
    fields = _dataclass_fields(nodetype)
    if (data_fields is None) is not (meta_fields is None):
        raise TreeError(
            f"register_dataclass: only one of data_fields={data_fields} and meta_fields={meta_fields} given",
            mend="give both, or neither",
        )
    if data_fields is None or meta_fields is None:
        if fields is None:
            raise TreeError(
                f"register_dataclass: {nodetype!r} is not a dataclass",
                mend="put @register_dataclass above @dataclass, or give data_fields and meta_fields",
            )
        kept = [name for name in fields if name not in drop_fields]
        meta = tuple([name for name in kept if fields[name].metadata.get("static", False)])
        data = tuple([name for name in kept if name not in meta])
    else:
        data, meta = tuple(data_fields), tuple(meta_fields)
    _check_fields(nodetype, data, meta, drop_fields, fields)
    get_data, get_meta = _getter(data), _getter(meta)
    keys = tuple(_map(GetAttrKey, data))
    build = _dataclass_builder(nodetype, data + meta, drop_fields, fields)
    node = _Node(lambda tree: (get_data(tree), get_meta(tree)), build, lambda aux, count: keys)
    _register(nodetype, node)
    return nodetype


def _dataclass_fields(cls: type) -> dict[str, dataclasses.Field[Any]] | None:
    """The fields of a dataclass by name, ClassVar and InitVar left out; None for another class."""
    return {field.name: field for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else None


def _check_fields(
    cls: type,
    data: tuple[str, ...],
    meta: tuple[str, ...],
    drop: Sequence[str],
    fields: dict[str, dataclasses.Field[Any]] | None,
) -> None:
    listed = data + meta
    twice = sorted({name for name in listed if listed.count(name) > 1})
    missing = unknown = []
    if fields is not None:
        missing = [n for n, field in fields.items() if field.init and n not in listed and n not in drop]
        unknown = sorted({*listed} - {*fields})
    for names, problem in (
        (twice, "named twice"),
        (missing, "not named"),
        (unknown, "no fields of the class"),
    ):
        if names:
            raise TreeError(
                f"register_dataclass: {', '.join(names)}: {problem}, for {_name(cls)}",
                mend="name each field once, in data_fields, meta_fields or drop_fields",
            )


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return operator.attrgetter(*names)
    if names:
        name = names[0]
        return lambda tree: (getattr(tree, name),)
    return lambda tree: ()


def _dataclass_builder(
    cls: type,
    names: tuple[str, ...],
    drop: Sequence[str],
    fields: dict[str, dataclasses.Field[Any]] | None,
) -> Callable[[Any, Any], Any]:
    """(meta values, data values) -> an instance of the class."""
    defaults: list[tuple[str, Callable[[], Any]]] = []
    needs_constructor = fields is None
    for name, field in (fields or {}).items():
        if name in names:
            continue
        if field.default_factory is not dataclasses.MISSING:
            defaults.append((name, field.default_factory))
        elif field.default is not dataclasses.MISSING:
            defaults.append((name, functools.partial(getattr, field, "default")))
        elif name not in drop and hasattr(cls, "__post_init__"):
            needs_constructor = True
    if needs_constructor:
        return lambda meta, data: cls(**dict(zip(names, (*data, *meta), strict=True)))

    # The __new__ of the nearest class written in C: object's, or an exception's. Bit 9 marks a heap type.
    native: Any = next(base for base in cls.__mro__ if not base.__flags__ & 1 << 9)
    new, assign = native.__new__, object.__setattr__  # the latter passes by frozen=True

    def build(meta: Any, data: Any) -> Any:
        tree = new(cls)
        for name, value in zip(names, (*data, *meta), strict=True):
            assign(tree, name, value)
        for name, make in defaults:
            assign(tree, name, make())
        return tree

    return build


# Functions with arguments


class _StaticPartial:
    """Stands for a functools.partial inside a Partial, which would otherwise absorb it and its arguments."""

    __slots__ = ("args", "func", "keywords", "wrapped")

    def __init__(self, wrapped: Any) -> None:
        self.wrapped = wrapped
        self.func, self.args, self.keywords = wrapped.func, wrapped.args, wrapped.keywords

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.wrapped(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _StaticPartial):
            return NotImplemented
        mine = (self.func, self.args, self.keywords)
        return self.wrapped is other.wrapped or mine == (other.func, other.args, other.keywords)

    def __hash__(self) -> int:
        return hash((self.func, self.args, tuple(sorted(self.keywords.items()))))

    def __repr__(self) -> str:
        return repr(self.wrapped)

    def __reduce__(self) -> tuple[Any, ...]:
        return _StaticPartial, (self.wrapped,)


class Partial(functools.partial[Any]):
    """``functools.partial`` as a pytree: its arguments are children, the function is metadata.

    A Partial of a Partial joins the arguments of both; those of a plain ``functools.partial`` stay metadata.

    >>> import operator
    >>> double = Partial(operator.mul, 2.0)
    >>> leaves(double), double(4.0), map(lambda x: 10.0 * x, double)(4.0)
    ([2.0], 8.0, 80.0)
    """

    def __new__(cls, func: Callable[..., Any], /, *args: Any, **keywords: Any) -> "Partial":
        if isinstance(func, functools.partial):
            if isinstance(func, Partial):
                args, keywords = (*func.args, *args), {**func.keywords, **keywords}
            func = func.func if isinstance(func, Partial) else _StaticPartial(func)
        return super().__new__(cls, func, *args, **keywords)


register_pytree_node(
    Partial,
    lambda partial: ((partial.args, partial.keywords), partial.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
)
