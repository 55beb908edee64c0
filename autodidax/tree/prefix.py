"""Trees that are prefixes of others, and where two structures differ."""

from collections.abc import Iterator
from typing import Any

from autodidax.tree.flattening import flatten, structure
from autodidax.tree.mismatches import Mismatch
from autodidax.tree.nodes import children_of, node_of, same_metadata
from autodidax.tree.treedefs import Differs, IsLeaf, PyTreeDef, mismatch_error, mismatches


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
    except Differs:
        what = f"{name} is not a prefix of the tree that it is for"
        raise mismatch_error(what, prefix_tree, full_tree, is_leaf, prefix=True) from None
    return found


def _collect_broadcast(prefix: Any, treedef: PyTreeDef, is_leaf: IsLeaf, found: list[Any]) -> None:
    cls = type(prefix)
    node = node_of(cls)
    if node is None or (is_leaf is not None and is_leaf(prefix)):
        found.extend([prefix] * treedef._num_leaves)
        return
    if cls is not treedef._type:
        raise Differs
    children, aux = children_of(prefix, node)
    if len(children) != len(treedef._children) or not same_metadata(cls, aux, treedef._aux):
        raise Differs
    for child, sub in zip(children, treedef._children, strict=True):
        _collect_broadcast(child, sub, is_leaf, found)


def broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """A tree of the structure of ``full_tree`` with the leaves of `broadcast_prefix`.

    >>> broadcast((0, {"a": 1}), ([5, 6], {"a": (8, 9)}))
    ([0, 0], {'a': (1, 1)})
    """
    treedef = structure(full_tree)
    return treedef.unflatten(broadcast_prefix(prefix_tree, full_tree, is_leaf))


def equality_errors(expected: Any, given: Any, is_leaf: IsLeaf = None) -> Iterator[Mismatch]:
    """Every place where the structures of two trees, or two PyTreeDefs, differ.

    >>> [str(e) for e in equality_errors({"w": [(1, 2)], "b": 0}, {"w": [[1, 2, 3]], "b": None})]
    ["at ['b']: a leaf (int) expected, None given", "at ['w'][0]: tuple of 2 expected, list of 3 given"]
    """
    return mismatches(expected, given, is_leaf, prefix=False)


def describe_mismatch(expected: Any, given: Any, is_leaf: IsLeaf = None) -> str | None:
    """The first place where the structures of two trees, or PyTreeDefs, differ; None if they are equal.

    >>> describe_mismatch({"w": [(1, 2)]}, {"w": [[1, 2, 3]]})
    "at ['w'][0]: tuple of 2 expected, list of 3 given"
    """
    first = next(equality_errors(expected, given, is_leaf), None)
    return None if first is None else str(first)
