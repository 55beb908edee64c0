"""Structures: the PyTreeDef, its interning, and the walks that compare one with a tree."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from types import NoneType
from typing import Any, cast

from autodidax.errors import TreeError
from autodidax.tree.keys import KeyPath
from autodidax.tree.mismatches import DICT_TYPES, Mismatch, View, describe_level, key_changes
from autodidax.tree.nodes import (
    REGISTRY,
    Node,
    children_of,
    keyed_children_of,
    node_of,
    same_metadata,
    type_name,
)

IsLeaf = Callable[[Any], Any] | None


class PyTreeDef:
    """The structure of a pytree, without its leaves: immutable, hashable, comparable, picklable.

    >>> from autodidax.tree import structure
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

    def __init__(self, cls: type | None, node: Node | None, aux: Any, children: "tuple[PyTreeDef, ...]") -> None:
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

        >>> from autodidax.tree import structure
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

        >>> from autodidax.tree import structure
        >>> structure({"a": 0, "b": [0]}).flatten_up_to({"a": (1, 2), "b": [3]})
        [(1, 2), 3]
        """
        return flatten_up_to(self, tree, "the tree does not match its structure")

    def compose(self, inner: "PyTreeDef") -> "PyTreeDef":
        """This structure with ``inner`` in the place of each leaf.

        >>> from autodidax.tree import structure
        >>> structure([0, 0]).compose(structure((0,)))
        PyTreeDef([(*,), (*,)])
        """
        if self is LEAF or inner is LEAF:
            return inner if self is LEAF else self
        children = tuple([child.compose(inner) for child in self._children])
        return make_treedef(cast(type, self._type), cast(Node, self._node), self._aux, children)

    def from_iterable_tree(self, nested: Any) -> Any:
        """The tree of this structure whose leaves come from iterables nested in the same way.

        >>> from autodidax.tree import structure
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
            and same_metadata(self._type, self._aux, other._aux)
            and self._children == other._children
        )

    def __hash__(self) -> int:
        if self._hash is None:
            try:
                self._hash = hash((self._type, self._aux, self._children))
            except TypeError as error:
                raise TreeError(
                    f"the metadata of a {type_name(self._type)} node cannot be hashed: {error}",
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
INTERNED: dict[tuple[Any, ...], PyTreeDef] = {}
INTERNED_LIMIT = 4096
_PLAIN_METADATA = {str, int, bool, NoneType}


def make_treedef(cls: type, node: Node, aux: Any, children: tuple[PyTreeDef, ...]) -> PyTreeDef:
    """The structure of a container, interned where its metadata is plain."""
    key: tuple[Any, ...]
    if aux is None:
        key = (cls, *map(id, children))
    else:
        kinds: Any = tuple(map(type, aux)) if type(aux) is tuple else (type(aux),)
        if not _PLAIN_METADATA.issuperset(kinds):
            return PyTreeDef(cls, node, aux, children)
        key = (cls, aux, kinds, *map(id, children))
    treedef = INTERNED.get(key)
    if treedef is None:
        treedef = PyTreeDef(cls, node, aux, children)
        # What is in the registry lives on anyway; the class of a namedtuple made in a function does not.
        if REGISTRY.get(cls) is node and all(child._interned for child in children):
            if len(INTERNED) >= INTERNED_LIMIT:
                INTERNED.clear()
            treedef._interned = True
            INTERNED[key] = treedef
    return treedef


def _load_treedef(cls: type | None, aux: Any, children: tuple[PyTreeDef, ...]) -> PyTreeDef:
    if cls is None:
        return LEAF
    node = node_of(cls)
    if node is None:
        raise TreeError(
            f"a pickled structure contains {type_name(cls)}, which is not a registered pytree node here",
            mend="import the module that registers the class before loading",
        )
    return make_treedef(cls, node, aux, children)


NONE = make_treedef(NoneType, REGISTRY[NoneType], None, ())


def _put_together(treedef: PyTreeDef, children: Iterable[Any]) -> Any:
    cls = treedef._type
    if cls is tuple:
        return tuple(children)
    if cls is list:
        return list(children)
    if cls is dict:
        return dict(zip(treedef._aux, children, strict=True))
    return cast(Node, treedef._node).unflatten(treedef._aux, tuple(children))


def _rebuild(treedef: PyTreeDef, leaves: Iterator[Any]) -> Any:
    if treedef._is_flat:
        return _put_together(treedef, islice(leaves, treedef._num_leaves))
    return _put_together(
        treedef, [next(leaves) if child is LEAF else _rebuild(child, leaves) for child in treedef._children]
    )


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
    if cast(Node, treedef._node).implicit:
        return f"CustomNode(namedtuple[{cls.__name__}], [{', '.join(children)}])"
    return f"CustomNode({cls.__name__}[{aux}], [{', '.join(children)}])"


class Differs(Exception):
    """Two structures differ somewhere; the walk that says where runs only then."""


def flatten_up_to(treedef: PyTreeDef, tree: Any, what: str) -> list[Any]:
    """`PyTreeDef.flatten_up_to`, with the words ``what`` that begin its error."""
    if treedef is LEAF:
        return [tree]
    found: list[Any] = []
    try:
        _collect_up_to(treedef, tree, found)
    except Differs:
        raise mismatch_error(what, treedef, tree, prefix=True) from None
    return found


def _collect_up_to(treedef: PyTreeDef, tree: Any, found: list[Any]) -> None:
    cls = type(tree)
    if cls is not treedef._type:
        raise Differs
    children: Any
    if cls is tuple or cls is list:
        children = tree
    elif cls is dict:
        try:
            children = [tree[key] for key in treedef._aux]
        except KeyError:
            raise Differs from None
        if len(children) != len(tree):
            raise Differs
    else:
        children, aux = children_of(tree, cast(Node, treedef._node))
        if not same_metadata(cls, treedef._aux, aux):
            raise Differs
    if len(children) != len(treedef._children):
        raise Differs
    if treedef._is_flat:
        found.extend(children)
        return
    for sub, child in zip(treedef._children, children, strict=True):
        if sub is LEAF:
            found.append(child)
        else:
            _collect_up_to(sub, child, found)


def _view(tree: Any, is_leaf: IsLeaf = None) -> View:
    if type(tree) is PyTreeDef:
        cls, aux, children = tree._type, tree._aux, tree._children
        keys = () if tree._node is None else tuple(tree._node.keys(aux, len(children)))
    else:
        cls = type(tree)
        node = node_of(cls)
        if node is None or (is_leaf is not None and is_leaf(tree)):
            return View(None, None, (), (), f"a leaf ({cls.__name__})")
        keys, children, aux = keyed_children_of(tree, node)
    return View(cls, aux, keys, children, describe_level(cls, aux, keys, len(children)))


def mismatches(expected: Any, given: Any, is_leaf: IsLeaf, prefix: bool, path: KeyPath = ()) -> Iterator[Mismatch]:
    a, b = _view(expected, is_leaf), _view(given, None if prefix else is_leaf)
    if a.cls is None and (prefix or b.cls is None):
        return
    same_node = a.cls is b.cls and len(a.children) == len(b.children)
    if not same_node or not same_metadata(a.cls, a.aux, b.aux):
        changes = key_changes(a.keys, b.keys) if a.cls is b.cls and a.cls in DICT_TYPES else ""
        yield Mismatch(path, a.text, b.text, changes)
        return
    keys = a.keys if type(given) is PyTreeDef else b.keys
    for key, sub_expected, sub_given in zip(keys, a.children, b.children, strict=True):
        yield from mismatches(sub_expected, sub_given, is_leaf, prefix, (*path, key))


def mismatch_error(what: str, expected: Any, given: Any, is_leaf: IsLeaf = None, prefix: bool = False) -> TreeError:
    first = next(mismatches(expected, given, is_leaf, prefix), None)
    place = "" if first is None else f", {first}"
    return TreeError(what + place, mend="make the two trees of the same containers, with the same keys")


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether a structure has no children: that of a leaf, of None or of an empty container.

    >>> from autodidax.tree import structure
    >>> treedef_is_leaf(structure(1.0)), treedef_is_leaf(structure((1.0,)))
    (True, False)
    """
    return treedef.num_nodes == 1


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children of the outermost container.

    >>> from autodidax.tree import structure
    >>> treedef_children(structure((1, [2])))
    [PyTreeDef(*), PyTreeDef([*])]
    """
    return treedef.children()


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple of trees with the given structures.

    >>> from autodidax.tree import structure
    >>> treedef_tuple([structure(1), structure([2])])
    PyTreeDef((*, [*]))
    """
    return make_treedef(tuple, REGISTRY[tuple], None, tuple(treedefs))


def build_tree(treedef: PyTreeDef, xs: Any) -> Any:
    """The tree of the given structure whose leaves come from iterables nested in the same way.

    >>> from autodidax.tree import structure
    >>> build_tree(structure({"a": 0, "b": (0, 0)}), [1, [2, 3]])
    {'a': 1, 'b': (2, 3)}
    """
    return treedef.from_iterable_tree(xs)
