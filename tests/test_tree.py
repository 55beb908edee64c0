"""Pytrees: what is a container, what comes back, how structures compare, and what mismatches say."""

import copy
import dataclasses
import functools
import gc
import operator
import pickle
import threading
import weakref
from collections import OrderedDict, defaultdict, namedtuple
from enum import StrEnum

import numpy as np
import pytest

from autodidax import tree, tree_util
from autodidax.errors import TreeError

Point = namedtuple("Point", "x y")


class SubPoint(Point):
    def __new__(cls, x, y):
        raise AssertionError("unflatten must not construct")


class MyList(list):
    pass


class MyDict(dict):
    pass


class MyTuple(tuple):
    pass


class Color(StrEnum):
    RED = "red"


@tree.register_dataclass
@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    a: object
    b: object
    n: int = dataclasses.field(default=3, metadata={"static": True})

    def __post_init__(self):
        if not isinstance(self.a, (int, float, str)):
            raise AssertionError("unflatten must not construct")


@tree.register_pytree_node_class
class Scaled:
    def __init__(self, x, unit="m"):
        self.x, self.unit = x, unit

    def tree_flatten(self):
        return iter([self.x]), self.unit

    @classmethod
    def tree_unflatten(cls, unit, children):
        return cls(*children, unit)


@tree.register_pytree_with_keys_class
class Keyed:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def tree_flatten_with_keys(self):
        return ((tree.GetAttrKey("x"), self.x), (tree.GetAttrKey("y"), self.y)), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


@tree.register_static
class Mode:
    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return type(other) is Mode and other.name == self.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"Mode({self.name})"


def double(x):
    return 2 * x


# id: (tree, leaves, structure's repr, key paths)
TREES = {
    "leaf": (1, [1], "*", [""]),
    "none": (None, [], "None", []),
    "empty tuple": ((), [], "()", []),
    "empty dict": ({}, [], "{}", []),
    "tuple of one": ((1,), [1], "(*,)", ["[0]"]),
    "list": ([1, 2], [1, 2], "[*, *]", ["[0]", "[1]"]),
    "dict sorts": ({"b": 1, "a": 2}, [2, 1], "{'a': *, 'b': *}", ["['a']", "['b']"]),
    "dict of ints": ({3: 1, 1: 2}, [2, 1], "{1: *, 3: *}", ["[1]", "[3]"]),
    "nested": (
        {"b": 1, "a": (1, [2, None])},
        [1, 2, 1],
        "{'a': (*, [*, None]), 'b': *}",
        ["['a'][0]", "['a'][1][0]", "['b']"],
    ),
    "namedtuple": (Point(1, 2), [1, 2], "CustomNode(namedtuple[Point], [*, *])", [".x", ".y"]),
    "OrderedDict keeps order": (
        OrderedDict(b=1, a=2),
        [1, 2],
        "CustomNode(OrderedDict[('b', 'a')], [*, *])",
        ["['b']", "['a']"],
    ),
    "defaultdict": (
        defaultdict(int, b=1, a=2),
        [2, 1],
        "CustomNode(defaultdict[(<class 'int'>, ('a', 'b'))], [*, *])",
        ["['a']", "['b']"],
    ),
    "dict subclass": (MyDict(a=1), [MyDict(a=1)], "*", [""]),
    "list subclass": (MyList([1]), [MyList([1])], "*", [""]),
    "tuple subclass": (MyTuple([1]), [MyTuple([1])], "*", [""]),
    "dataclass": (Frozen(1, 2), [1, 2], "CustomNode(Frozen[(3,)], [*, *])", [".a", ".b"]),
    "node class": (Scaled(3), [3], "CustomNode(Scaled[m], [*])", ["[<flat index 0>]"]),
    "keyed class": (Keyed(3, 4), [3, 4], "CustomNode(Keyed[None], [*, *])", [".x", ".y"]),
    "static": ([Mode("fast"), 1], [1], "[CustomNode(Mode[Mode(fast)], []), *]", ["[1]"]),
    "Partial": (
        tree.Partial(operator.add, 1),
        [1],
        "CustomNode(Partial[<built-in function add>], [(*,), {}])",
        ["[<flat index 0>][0]"],
    ),
    "long list": ([0] * 2000, [0] * 2000, "[" + ", ".join("*" * 2000) + "]", None),
}
table = pytest.mark.parametrize(("value", "leaves", "text", "paths"), TREES.values(), ids=TREES)


@table
def test_flatten(value, leaves, text, paths):
    found, treedef = tree.flatten(value)
    assert found == leaves
    assert repr(treedef) == f"PyTreeDef({text})"
    assert treedef.num_leaves == len(leaves)
    assert tree.leaves(value) == leaves
    assert tree.structure(value) == treedef
    assert hash(tree.structure(value)) == hash(treedef)
    assert tree.flatten(value, is_leaf=lambda x: False)[1] == treedef


@table
def test_unflatten_gives_the_tree_again(value, leaves, text, paths):
    treedef = tree.structure(value)
    again = treedef.unflatten(iter(leaves))
    assert type(again) is type(value)
    assert tree.flatten(again) == (leaves, treedef)
    marks = [object() for _ in leaves]
    assert tree.leaves(tree.unflatten(treedef, marks)) == marks


@table
def test_paths(value, leaves, text, paths):
    pairs, treedef = tree.flatten_with_path(value)
    assert treedef == tree.structure(value)
    assert [leaf for _, leaf in pairs] == leaves
    if paths is not None:
        assert [tree.keystr(path) for path, _ in pairs] == paths


@table
@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_treedef_copies(value, leaves, text, paths, copier):
    treedef = tree.structure(value)
    assert copier(treedef) == treedef
    assert tree.leaves(copier(treedef).unflatten(leaves)) == leaves


@table
def test_one_level(value, leaves, text, paths):
    if text == "*":
        with pytest.raises(TreeError, match="is a leaf"):
            tree.flatten_one_level(value)
        return
    children, aux = tree.flatten_one_level(value)
    pairs, same_aux = tree.flatten_one_level_with_keys(value)
    assert tuple(child for _, child in pairs) == children
    assert aux == same_aux
    assert tree.treedef_children(tree.structure(value)) == [tree.structure(child) for child in children]
    assert tree.is_tree_node(type(value))


@table
def test_map_and_flatten_up_to(value, leaves, text, paths):
    assert tree.leaves(tree.map(repr, value)) == [repr(x) for x in leaves]
    assert tree.leaves(tree.map(lambda x, y: repr(y), value, value)) == [repr(x) for x in leaves]
    wide = tree.map(lambda x: (x, None), value)
    assert tree.structure(value).flatten_up_to(wide) == [(x, None) for x in leaves]
    assert tree.broadcast_prefix(value, wide) == leaves
    assert tree.describe_mismatch(value, value) is None
    assert list(tree.equality_errors(tree.structure(value), tree.structure(value))) == []


def test_namedtuple_and_dataclass_are_not_constructed():
    sub = tuple.__new__(SubPoint, (1, 2))
    assert type(tree.map(double, sub)) is SubPoint
    mapped = tree.map(lambda x: [x], Frozen(1, 2, n=5))
    assert (mapped.a, mapped.b, mapped.n) == ([1], [2], 5)


def test_is_leaf_sees_every_subtree_but_those_in_a_leaf():
    seen = []
    tree.flatten((1, [None, 2]), is_leaf=lambda x: seen.append(x))
    assert seen == [(1, [None, 2]), 1, [None, 2], None, 2]
    assert tree.leaves((1, [None, 2]), is_leaf=lambda x: isinstance(x, list)) == [1, [None, 2]]
    assert tree.leaves(None, is_leaf=lambda x: x is None) == [None]
    by_path = tree.map_with_path(
        lambda p, x: (tree.keystr(p), x),
        {"a": [1]},
        is_leaf=lambda p, x: len(p) == 1,
        is_leaf_takes_path=True,
    )
    assert by_path == {"a": ("['a']", [1])}


def test_map_with_path_takes_more_trees():
    result = tree.map_with_path(lambda p, x, y: (tree.keystr(p), x, y), {"a": 1}, {"a": (2, 3)})
    assert result == {"a": ("['a']", 1, (2, 3))}


def test_equal_structures_are_one_object():
    for value in ((1, 2), {"w": 1, "b": 2}, [{"w": 1, "b": (2, None)}], Point(1, 2), Frozen(1, 2)):
        assert tree.structure(value) is tree.structure(tree.map(float, value))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((1, 2), [1, 2]),
        ((1, 2), (1, 2, 3)),
        ((1, 2), Point(1, 2)),
        ({"a": 1}, OrderedDict(a=1)),
        (OrderedDict(a=1, b=2), OrderedDict(b=1, a=2)),
        (defaultdict(int, a=1), defaultdict(list, a=1)),
        (Frozen(1, 2), Frozen(1, 2, n=4)),
        (Scaled(1), Scaled(1, "km")),
        (Mode("a"), Mode("b")),
        (None, 1),
        ((), None),
    ],
)
def test_different_structures(a, b):
    assert tree.structure(a) != tree.structure(b)
    assert tree.describe_mismatch(a, b)
    assert tree.describe_mismatch(tree.structure(a), tree.structure(b))


def test_metadata_of_other_types_comes_back_as_it_was():
    # Equal keys of other types share neither a structure object nor the flattened dict's keys.
    for first, second in (({1: 0}, {True: 0}), ({"red": 0}, {Color.RED: 0}), ({"red": 0}, {Color.RED: (0,)})):
        for value in (first, second, first):
            key = next(iter(tree.map(double, value)))
            assert type(key) is type(next(iter(value)))
    assert type(tree.map(double, Frozen(1, 2, n=True)).n) is bool
    assert type(tree.map(double, Frozen(1, 2, n=1)).n) is int


def test_treedef_is_immutable():
    treedef = tree.structure((1, 2))
    for name in ("num_leaves", "num_nodes", "anything"):
        with pytest.raises(AttributeError):
            setattr(treedef, name, 1)
    with pytest.raises(AttributeError):
        tree.SequenceKey(0).idx = 1


def test_treedef_data():
    assert tree.structure(1).node_data() is None
    assert tree.structure({"b": 1, "a": 2}).node_data() == (dict, ["a", "b"])
    assert tree.structure(Frozen(1, 2)).node_data() == (Frozen, (3,))
    assert tree.structure({"a": 1, "b": (2, None)}).num_nodes == 5
    assert tree.treedef_is_leaf(tree.structure(None))
    assert tree.treedef_tuple(iter([tree.structure(1)])) == tree.structure((1,))
    assert tree.build_tree(tree.structure({"a": 0, "b": (0, None)}), [1, (2, None)]) == {"a": 1, "b": (2, None)}


@pytest.mark.parametrize(("count", "word"), [(1, "few"), (3, "many")])
def test_wrong_number_of_leaves(count, word):
    with pytest.raises(TreeError, match=f"too {word} leaves .*: 2 expected, {count} given"):
        tree.structure((1, 2)).unflatten(range(count))


def test_keys_that_do_not_sort():
    for value in ({1: 0, "a": 0}, defaultdict(int, {1: 0, "a": 0})):
        with pytest.raises(TreeError, match="int, str"):
            tree.flatten(value)
    assert tree.leaves(OrderedDict({"a": 1, 1: 2})) == [1, 2]


def test_metadata_must_hash_and_compare():
    a, b = (tree.structure(Scaled(1, np.ones(2))) for _ in range(2))
    with pytest.raises(TreeError, match="Scaled node cannot be hashed"):
        hash(a)
    with pytest.raises(TreeError, match="two Scaled nodes cannot be compared"):
        assert a == b


# (expected, given, what is said)
MISMATCHES = {
    "container": ({"w": [(1, 2)]}, {"w": [[1, 2, 3]]}, "at ['w'][0]: tuple of 2 expected, list of 3 given"),
    "length": ((1, 2), (1, 2, 3), "at the root: tuple of 2 expected, tuple of 3 given"),
    "keys": (
        [{"a": 1, "b": 1}],
        [{"a": 1, "c": 1}],
        "at [0]: dict with keys 'a', 'b' expected, dict with keys 'a', 'c' given (missing 'b'; unexpected 'c')",
    ),
    "no keys": ({"a": 1}, {}, "at the root: dict with keys 'a' expected, empty dict given (missing 'a')"),
    "none": (Point(None, 1), Point(1, 1), "at .x: None expected, a leaf (int) given"),
    "metadata": (
        Frozen(1, 2),
        Frozen(1, 2, n=4),
        "at the root: Frozen of 2 with metadata (3,) expected, Frozen of 2 with metadata (4,) given",
    ),
    "keyed": (Keyed(1, (2,)), Keyed(1, [2]), "at .y: tuple of 1 expected, list of 1 given"),
}
mismatches = pytest.mark.parametrize(("expected", "given", "text"), MISMATCHES.values(), ids=MISMATCHES)


@mismatches
def test_mismatch_messages(expected, given, text):
    assert tree.describe_mismatch(expected, given) == text
    assert [str(e) for e in tree.equality_errors(expected, given)] == [text]
    for attempt in (
        lambda: tree.map(lambda x, y: x, expected, given),
        lambda: tree.structure(expected).flatten_up_to(given),
        lambda: tree.broadcast_prefix(expected, given),
    ):
        with pytest.raises(TreeError) as caught:
            attempt()
        assert text in str(caught.value)


def test_mismatches_are_all_listed():
    errors = list(tree.equality_errors([1, (1,), {"a": 1}], [None, (1, 2), {"a": 1}]))
    assert [tree.keystr(e.path) for e in errors] == ["[0]", "[1]"]


def is_none(x):
    return x is None


@pytest.mark.parametrize(
    ("prefix", "full", "is_leaf", "expected"),
    [
        (0, (1, [2, None, 3]), None, [0, 0, 0]),
        ((0, {"a": 1}), ([5, 6, 7], {"a": (8, 9)}), None, [0, 0, 0, 1, 1]),
        ((0, None), (5, None), None, [0]),
        ((0, None), (5, (6, 7)), is_none, [0, None, None]),
        (None, (5, (6, 7)), is_none, [None, None, None]),
        ((), (), None, []),
        (Point(0, None), Point((1, 2), [3]), is_none, [0, 0, None]),
    ],
)
def test_broadcast_prefix(prefix, full, is_leaf, expected):
    assert tree.broadcast_prefix(prefix, full, is_leaf) == expected
    assert tree.broadcast_prefix(prefix, tree.structure(full), is_leaf) == expected
    result = tree.broadcast(prefix, full, is_leaf)
    assert tree.structure(full).flatten_up_to(result) == expected


def test_broadcast_prefix_names_what_is_wrong():
    with pytest.raises(TreeError, match=r"in_axes is not a prefix .*, at \[1\]: list of 1 expected, tuple of 2"):
        tree.broadcast_prefix((0, [0]), (1, (2, 3)), name="in_axes")
    with pytest.raises(TreeError, match="None expected"):
        tree.broadcast_prefix((0, None), (1, 2))


@pytest.mark.parametrize("inner", [tree.structure({"a": 0, "b": 0}), None])
def test_transpose(inner):
    outer = tree.structure((0, [0]))
    value = ({"a": 1, "b": 2}, [{"a": 3, "b": 4}])
    assert tree.transpose(outer, inner, value) == {"a": (1, [3]), "b": (2, [4])}
    with pytest.raises(TreeError, match=r"transpose.* at \[1\]"):
        tree.transpose(outer, inner, (value[0], value[0]))


def test_transpose_without_leaves():
    empty = tree.structure(())
    assert tree.transpose(empty, tree.structure([0]), ()) == [()]
    assert tree.transpose(tree.structure([0]), empty, [()]) == ()
    with pytest.raises(TreeError, match="no leaf"):
        tree.transpose(empty, None, ())


def test_reductions():
    assert tree.reduce(operator.sub, [10, (1, 2)]) == 7
    assert tree.reduce(lambda acc, x: [*(acc or []), x], [1, 2], None) == [1, 2]
    assert tree.reduce_associative(lambda a, b: f"({a}{b})", list("abcdefg")) == "((a(bc))((de)(fg)))"
    assert tree.reduce_associative(operator.add, [], identity=0) == 0
    assert tree.all([]) and not tree.all({"a": 0})
    assert tree.all_leaves([1, None], is_leaf=is_none) and not tree.all_leaves([1, (2,)])
    with pytest.raises(TypeError):
        tree.reduce(operator.add, [])
    with pytest.raises(TreeError):
        tree.reduce_associative(operator.add, [])


@pytest.mark.parametrize(
    ("key", "text", "simple"),
    [
        (tree.SequenceKey(0), "[0]", "0"),
        (tree.DictKey("a"), "['a']", "a"),
        (tree.GetAttrKey("x"), ".x", "x"),
        (tree.FlattenedIndexKey(3), "[<flat index 3>]", "3"),
        ("custom", "custom", "custom"),
    ],
)
def test_keys(key, text, simple):
    assert str(key) == tree.keystr((key,)) == text
    assert tree.keystr((key, key), simple=True, separator="/") == f"{simple}/{simple}"
    assert pickle.loads(pickle.dumps(key)) == key
    assert hash(copy.copy(key)) == hash(key)


def test_keys_differ_by_kind():
    assert tree.SequenceKey(0) != tree.DictKey(0)
    assert tree.SequenceKey(idx=0) == tree.SequenceKey(0)
    assert repr(tree.SequenceKey(0)) == "SequenceKey(idx=0)"


def test_registering_twice_or_no_class():
    for cls in (list, Scaled, type(None)):
        with pytest.raises(TreeError, match="already"):
            tree.register_pytree_node(cls, None, None)
    with pytest.raises(TreeError, match="must be a class"):
        tree.register_pytree_node(3, None, None)


def test_registration_replaces_leaf_and_namedtuple():
    Pair = namedtuple("Pair", "x y")
    globals()["Pair"] = Pair  # found by its name, like a class of a module
    Pair.__module__, Pair.__qualname__ = __name__, "Pair"
    assert tree.leaves(Pair(1, 2)) == [1, 2]
    before = tree.structure(Pair(1, 2))
    tree.register_pytree_node(Pair, lambda p: ((p.x,), p.y), lambda y, xs: Pair(*xs, y))
    assert tree.leaves(Pair(1, 2)) == [1]
    assert before != tree.structure(Pair(1, 2))

    class Late:
        pass

    assert len(tree.leaves(Late())) == 1
    tree.register_pytree_node(Late, lambda _: ((), None), lambda *_: Late())
    assert tree.leaves(Late()) == []


def test_subclass_of_a_registered_class_is_a_leaf():
    class Sub(Scaled):
        pass

    assert tree.structure(Sub(1)) is tree.structure(1)


def dataclass_of(**options):
    @dataclasses.dataclass(**options)
    class Layer:
        w: object
        scale: object = 2.0
        names: list = dataclasses.field(default_factory=list)

    return Layer


@pytest.mark.parametrize("options", [{}, {"frozen": True}, {"slots": True}, {"kw_only": True}], ids=str)
def test_register_dataclass_with_lists(options):
    Layer = tree.register_dataclass(dataclass_of(**options), ["w"], ["scale"], drop_fields=["names"])
    layer = Layer(w=1.0, scale=5.0, names=["a"])
    assert tree.map(double, layer) == Layer(w=2.0, scale=5.0)
    assert tree.structure(layer).node_data() == (Layer, (5.0,))


@pytest.mark.parametrize(
    ("data", "meta", "drop", "message"),
    [
        (["w"], None, [], "only one of"),
        (["w"], ["scale"], [], "names: not named"),
        (["w", "names"], ["scale", "w"], [], "w: named twice"),
        (["w", "names", "bias"], ["scale"], [], "bias: no fields"),
    ],
)
def test_register_dataclass_refuses(data, meta, drop, message):
    with pytest.raises(TreeError, match=message):
        tree.register_dataclass(dataclass_of(), data, meta, drop)


def test_register_dataclass_on_another_class():
    class Plain:
        def __init__(self, x, n):
            self.x, self.n, self.computed = x, n, (x, n)

    with pytest.raises(TreeError, match="not a dataclass"):
        tree.register_dataclass(Plain)
    tree.register_dataclass(Plain, ["x"], ["n"])
    assert tree.map(double, Plain(1, 2)).computed == (2, 2)


def test_fields_that_only_post_init_sets():
    @dataclasses.dataclass
    class Squared:
        x: object
        y: object = dataclasses.field(init=False)

        def __post_init__(self):
            self.y = self.x * self.x

    carried = tree.register_dataclass(dataclasses.dataclass(type("Carried", (Squared,), {})))
    assert tree.leaves(carried(3)) == [3, 9]
    assert tree.map(double, carried(3)).y == 18
    tree.register_dataclass(Squared, ["x"], [])
    assert tree.map(double, Squared(3)).y == 36


def test_dataclass_that_is_an_exception():
    @tree.register_dataclass
    @dataclasses.dataclass
    class Failure(Exception):
        code: object

    assert tree.map(double, Failure(2)).code == 4


def test_static_field():
    @tree.register_dataclass
    @dataclasses.dataclass
    class Op:
        x: object
        name: str = tree.static(default="add", metadata={"doc": "kept"})

    assert tree.leaves(Op(1)) == [1]
    assert dataclasses.fields(Op)[1].metadata == {"static": True, "doc": "kept"}


def test_partial():
    inner = tree.Partial(operator.add, 1)
    assert tree.leaves(tree.Partial(inner, 2)) == [1, 2]
    assert tree.Partial(inner, 2)() == 3
    plain = tree.Partial(functools.partial(pow, 2), 3)
    assert tree.leaves(plain) == [3]
    assert tree.map(double, plain)() == 2**6
    assert tree.structure(plain) == tree.structure(tree.Partial(functools.partial(pow, 2), 3))
    assert hash(tree.structure(plain)) == hash(tree.structure(tree.Partial(functools.partial(pow, 2), 5)))
    keyword = tree.Partial(pow, 2, exp=3)
    assert tree.map(double, keyword)() == 4**6
    assert type(pickle.loads(pickle.dumps(plain))) is tree.Partial
    assert pickle.loads(pickle.dumps(plain))() == 8


def test_no_cache_keeps_functions_or_local_classes_alive():
    def use():
        Local = namedtuple("Local", "x")

        def f():
            pass

        class Leaf:
            pass

        for value in (Local(1), [Local(1)], tree.Partial(f, 1), Leaf()):
            treedef = tree.structure(value)
            hash(treedef)
            tree.map(lambda x: x, value)
        return weakref.ref(Local), weakref.ref(f), weakref.ref(Leaf)

    refs = use()
    gc.collect()
    assert [ref() for ref in refs] == [None, None, None]


def test_interning_is_bounded():
    for i in range(3 * tree._INTERNED_LIMIT):
        tree.structure([{f"key{i}": 1}])
    assert max(len(tree._INTERNED), len(tree._DICTS)) <= tree._INTERNED_LIMIT
    assert tree.structure([{"key0": 1}]) == tree.structure([{"key0": 1}])


def test_threads_agree():
    value = [{"w": (1, Point(2, None)), f"b{i}": [3]} for i in range(50)]
    results = []
    threads = [threading.Thread(target=lambda: results.append(tree.structure(value))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all(treedef == results[0] for treedef in results)


SHORT_NAMES = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "structure",
    "transpose",
    "unflatten",
]
LONG_NAMES = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
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
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]


def test_names():
    assert all(getattr(tree_util, f"tree_{name}") is getattr(tree, name) for name in SHORT_NAMES)
    assert all(getattr(tree_util, name) is getattr(tree, name) for name in LONG_NAMES)
    assert {f"tree_{name}" for name in SHORT_NAMES} | {*LONG_NAMES} <= {*tree_util.__all__}
    assert len({*tree.__all__}) == len(tree.__all__)
