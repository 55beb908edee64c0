"""Registration: how instances of a class become containers."""

import dataclasses
import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from autodidax.errors import TreeError
from autodidax.tree.keys import GetAttrKey
from autodidax.tree.nodes import LEAF_TYPES, REGISTRY, Node, type_name
from autodidax.tree.treedefs import INTERNED

T = TypeVar("T")
Class = TypeVar("Class", bound=type)


def _register(cls: type, node: Node) -> None:
    if not isinstance(cls, type):
        raise TreeError(f"a pytree node must be a class, got {cls!r}", mend="pass the class itself")
    known = REGISTRY.get(cls)
    if known is not None and not known.implicit:
        raise TreeError(f"{cls!r} is registered as a pytree node already", mend="register a class once")
    REGISTRY[cls] = node
    LEAF_TYPES.discard(cls)
    INTERNED.clear()  # a namedtuple class may have been interned as such


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

    >>> from autodidax.tree import map
    >>> class Pair:
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    >>> register_pytree_node(Pair, lambda p: ((p.x, p.y), None), lambda _, xy: Pair(*xy))
    >>> map(lambda v: v + 1, Pair(1, 2)).y
    3
    """
    _register(nodetype, Node(flatten_func, unflatten_func, with_keys=flatten_with_keys_func))


def register_pytree_with_keys(
    nodetype: type[T],
    flatten_with_keys: Callable[[T], tuple[Iterable[tuple[Any, Any]], Any]],
    unflatten_func: Callable[[Any, Any], T],
    flatten_func: Callable[[T], tuple[Iterable[Any], Any]] | None = None,
) -> None:
    """Makes instances of a class containers whose children have keys.

    >>> from autodidax.tree import keystr, leaves_with_path
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

    _register(nodetype, Node(flatten_func or without_keys, unflatten_func, with_keys=flatten_with_keys))


def register_pytree_node_class(cls: Class) -> Class:
    """A class decorator: `register_pytree_node` with the methods ``tree_flatten`` and ``tree_unflatten``.

    >>> from autodidax.tree import structure
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

    >>> from autodidax.tree import leaves_with_path
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

    >>> from autodidax.tree import leaves
    >>> @register_static
    ... class Mode(str):
    ...     pass
    >>> leaves([1.0, Mode("fast")])
    [1.0]
    """
    _register(cls, Node(lambda tree: ((), tree), lambda tree, children: tree))
    return cls


def static(**kwargs: Any) -> Any:
    """A dataclass field that `register_dataclass` takes as metadata; keywords as for ``dataclasses.field``.

    >>> import dataclasses
    >>> from autodidax.tree import flatten
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
    >>> from autodidax.tree import map
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
    keys = tuple(map(GetAttrKey, data))
    build = _dataclass_builder(nodetype, data + meta, drop_fields, fields)
    node = Node(lambda tree: (get_data(tree), get_meta(tree)), build, lambda aux, count: keys)
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
                f"register_dataclass: {', '.join(names)}: {problem}, for {type_name(cls)}",
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
