"""The functions of `autodidax.tree` under their names in ``jax.tree_util``.

>>> tree_map(lambda x: 2 * x, {"a": 1, "b": (2, None)})
{'a': 2, 'b': (4, None)}
"""

from autodidax.tree import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyPath,
    Partial,
    PyTreeDef,
    SequenceKey,
    all_leaves,
    broadcast_prefix,
    build_tree,
    equality_errors,
    flatten_one_level,
    flatten_one_level_with_keys,
    is_tree_node,
    keystr,
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
    treedef_children,
    treedef_is_leaf,
    treedef_tuple,
)
from autodidax.tree import all as tree_all
from autodidax.tree import broadcast as tree_broadcast
from autodidax.tree import flatten as tree_flatten
from autodidax.tree import flatten_with_path as tree_flatten_with_path
from autodidax.tree import leaves as tree_leaves
from autodidax.tree import leaves_with_path as tree_leaves_with_path
from autodidax.tree import map as tree_map
from autodidax.tree import map_with_path as tree_map_with_path
from autodidax.tree import reduce as tree_reduce
from autodidax.tree import reduce_associative as tree_reduce_associative
from autodidax.tree import structure as tree_structure
from autodidax.tree import transpose as tree_transpose
from autodidax.tree import unflatten as tree_unflatten

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "broadcast_prefix",
    "build_tree",
    "equality_errors",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]
