"""Functions of all leaves: map, reduce, all, transpose."""

import functools
from builtins import all as _all
from builtins import map as _map
from collections.abc import Callable
from typing import Any

from autodidax.errors import TreeError
from autodidax.tree.flattening import flatten, flatten_with_path, leaves, structure
from autodidax.tree.treedefs import IsLeaf, PyTreeDef, flatten_up_to, mismatch_error


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


def map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., Any] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """The tree of f(key path, leaf, ...); ``rest`` as in `map`.

    >>> from autodidax.tree import keystr
    >>> map_with_path(lambda path, x: f"{keystr(path)}={x}", {"w": [1, 2]})
    {'w': ["['w'][0]=1", "['w'][1]=2"]}
    """
    pairs, treedef = flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    columns = _rest_columns(treedef, rest)
    return treedef.unflatten([f(path, leaf, *others) for (path, leaf), *others in zip(pairs, *columns, strict=True)])


def _rest_columns(treedef: PyTreeDef, rest: tuple[Any, ...]) -> list[list[Any]]:
    return [
        flatten_up_to(treedef, tree, f"map: tree {number} does not match the first")
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
        rows = flatten_up_to(outer_treedef, pytree_to_transpose, what)
        if not rows:
            raise TreeError("transpose: outer_treedef has no leaf to tell inner_treedef by", mend="give inner_treedef")
        inner_treedef = structure(rows[0])
    values, treedef = flatten(pytree_to_transpose)
    expected = outer_treedef.compose(inner_treedef)
    if treedef != expected:
        raise mismatch_error(what, expected, pytree_to_transpose)
    step = inner_treedef.num_leaves
    columns = [outer_treedef.unflatten(values[k::step]) for k in range(step)]
    return inner_treedef.unflatten(columns)
