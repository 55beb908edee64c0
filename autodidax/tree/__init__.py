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

# Of the private names below, two are for pickles that name this module, three for the tests of the caches.
from autodidax.tree.flattening import (
    _DICTS,
    all_leaves,
    flatten,
    flatten_with_path,
    leaves,
    leaves_with_path,
    structure,
    unflatten,
)
from autodidax.tree.keys import DictKey, FlattenedIndexKey, GetAttrKey, KeyPath, SequenceKey, keystr
from autodidax.tree.mapping import all, map, map_with_path, reduce, reduce_associative, transpose
from autodidax.tree.mismatches import Mismatch
from autodidax.tree.nodes import flatten_one_level, flatten_one_level_with_keys, is_tree_node
from autodidax.tree.partial import Partial, _StaticPartial
from autodidax.tree.prefix import broadcast, broadcast_prefix, describe_mismatch, equality_errors
from autodidax.tree.registration import (
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
    static,
)
from autodidax.tree.treedefs import INTERNED as _INTERNED
from autodidax.tree.treedefs import INTERNED_LIMIT as _INTERNED_LIMIT
from autodidax.tree.treedefs import (
    LEAF,
    PyTreeDef,
    _load_treedef,
    build_tree,
    treedef_children,
    treedef_is_leaf,
    treedef_tuple,
)

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
