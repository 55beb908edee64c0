"""From a tree to its leaves and its structure, and back."""

from collections.abc import Callable, Iterable
from typing import Any

from autodidax.tree.keys import KeyPath
from autodidax.tree.nodes import LEAF_TYPES, REGISTRY, children_of, keyed_children_of, node_of, sorted_keys
from autodidax.tree.treedefs import INTERNED_LIMIT, LEAF, NONE, IsLeaf, PyTreeDef, make_treedef

# Bound once: on an imported name, CPython compiles a method call to the slower LOAD_ATTR.
_are_leaf_types = LEAF_TYPES.issuperset
_registered_node = REGISTRY.get

# The structures of tuples and lists of nothing but leaves, by their length.
_LEAVES_ONLY: dict[type, dict[int, PyTreeDef]] = {tuple: {}, list: {}}


def _sequence_of_leaves(cls: type, count: int) -> PyTreeDef:
    treedef = make_treedef(cls, REGISTRY[cls], None, (LEAF,) * count)
    if count <= 1024:
        _LEAVES_ONLY[cls][count] = treedef
    return treedef


# For dicts with str keys, by the keys in the dict's order: whether that is sorted, the sorted keys, and the
# structure with nothing but leaves.
_DICTS: dict[tuple[str, ...], tuple[bool, tuple[str, ...], PyTreeDef]] = {}
_JUST_STR = {str}


def _dict_of_leaves(tree: dict[Any, Any], order: tuple[Any, ...]) -> tuple[bool, tuple[Any, ...], PyTreeDef]:
    keys = sorted_keys(tree)
    shape = keys == order, keys, make_treedef(dict, REGISTRY[dict], keys, (LEAF,) * len(keys))
    if _JUST_STR.issuperset(map(type, order)):
        if len(_DICTS) >= INTERNED_LIMIT:
            _DICTS.clear()
        _DICTS[order] = shape
    return shape


def flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves of a tree, and its structure; ``is_leaf(subtree)`` true makes a leaf of a subtree or a None.

    Raises: TreeError for a dict whose keys cannot be sorted.

    >>> flatten((1, [2, None]))
    ([1, 2], PyTreeDef((*, [*, None])))
    >>> flatten((1, [2, None]), is_leaf=lambda x: x is None)
    ([1, 2, None], PyTreeDef((*, [*, *])))
    """
    if is_leaf is None and type(tree) in LEAF_TYPES:
        return [tree], LEAF
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree: Any, leaves: list[Any], is_leaf: IsLeaf) -> PyTreeDef:
    cls = type(tree)
    if cls in LEAF_TYPES if is_leaf is None else is_leaf(tree):
        leaves.append(tree)
        return LEAF
    if tree is None:
        return NONE
    children: Any
    if cls is tuple or cls is list:
        if is_leaf is None and _are_leaf_types(map(type, tree)):
            leaves.extend(tree)
            return _LEAVES_ONLY[cls].get(len(tree)) or _sequence_of_leaves(cls, len(tree))
        node, aux, children = REGISTRY[cls], None, tree
    elif cls is dict:
        order = tuple(tree)
        shape = _DICTS.get(order)
        if shape is None or not _JUST_STR.issuperset(map(type, order)):
            shape = _dict_of_leaves(tree, order)
        is_sorted, aux, leaves_only = shape
        children = tree.values() if is_sorted else [tree[key] for key in aux]
        if is_leaf is None and _are_leaf_types(map(type, children)):
            leaves.extend(children)
            return leaves_only
        node = REGISTRY[cls]
    else:
        found = _registered_node(cls) or node_of(cls)
        if found is None:
            leaves.append(tree)
            return LEAF
        node = found
        children, aux = children_of(tree, node)
        if is_leaf is None and _are_leaf_types(map(type, children)):
            leaves.extend(children)
            return make_treedef(cls, node, aux, (LEAF,) * len(children))
    return make_treedef(cls, node, aux, tuple([_flatten(child, leaves, is_leaf) for child in children]))


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


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Whether every item is a leaf.

    >>> all_leaves([1.0, "a"]), all_leaves([1.0, None])
    (True, False)
    """
    return all(flatten(item, is_leaf)[1] is LEAF for item in iterable)


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
        node = node_of(cls)
        if node is None or (is_leaf and (is_leaf(path, subtree) if is_leaf_takes_path else is_leaf(subtree))):
            found.append((path, subtree))
            return LEAF
        keys, children, aux = keyed_children_of(subtree, node)
        return make_treedef(
            cls, node, aux, tuple([walk((*path, k), child) for k, child in zip(keys, children, strict=True)])
        )

    treedef = walk((), tree)
    return found, treedef


def leaves_with_path(
    tree: Any, is_leaf: Callable[..., Any] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """The leaves of a tree, each with its key path.

    >>> from autodidax.tree import keystr
    >>> [(keystr(path), leaf) for path, leaf in leaves_with_path({"w": [1, 2]})]
    [("['w'][0]", 1), ("['w'][1]", 2)]
    """
    return flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]
