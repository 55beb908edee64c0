"""Exported functions: what they say of themselves, what they take, and how they behave under transforms."""

from collections import OrderedDict, defaultdict
from typing import NamedTuple

import numpy as np
import pytest

import autodidax as ad
import autodidax.numpy as anp
from autodidax import errors
from autodidax.export import (
    Exported,
    deserialize,
    export,
    load,
    register_namedtuple_serialization,
    register_pytree_node_serialization,
)
from autodidax.export.trees import _by_class, _by_name
from tests.export.programs import X, same, scaled, tilted


def reloaded(exported, **options):
    return deserialize(exported.serialize(**options))


@pytest.fixture(params=[lambda e: e, reloaded], ids=["exported", "loaded"])
def through(request):
    return request.param


@pytest.fixture
def registrations():
    """Forgets the classes that a test registers for serialization."""
    before = dict(_by_class), dict(_by_name)
    yield
    for table, old in zip((_by_class, _by_name), before, strict=True):
        table.clear()
        table.update(old)


def weighted(p, x, *, scale=1.0):
    return {"y": p["w"] * x * scale, "n": 3}


def test_what_an_exported_function_says(through):
    e = through(export(ad.jit(weighted))({"w": X}, np.float32(2), scale=0.5))
    assert isinstance(e, Exported)
    assert e.fun_name == "weighted"
    assert e.in_tree == ad.tree.structure((({"w": 0}, 0), {"scale": 0}))
    assert e.out_tree == ad.tree.structure({"y": 0, "n": 0})
    assert list(map(repr, e.in_avals)) == ["f64[3]", "f32[]", "f64[]"]
    assert [a.weak_type for a in e.in_avals] == [False, False, True]
    assert list(map(repr, e.out_avals)) == ["i64[]", "f64[3]"]
    assert repr(e) == "Exported(weighted: (f64[3], f32[], f64[]) -> (i64[], f64[3]))"
    assert same(e.call({"w": X}, np.float32(2), scale=0.5), weighted({"w": X}, np.float32(2), scale=0.5))


def test_structs_and_static_arguments(through):
    f = ad.jit(lambda x, n: x**n, static_argnums=1)
    e = through(export(f)(ad.ShapeDtypeStruct((3,), np.float32), 3))
    assert same(e.call(X.astype(np.float32)), X.astype(np.float32) ** 3)


def test_under_transforms(through):
    f = lambda x, y: anp.sum(anp.sin(x) * y)
    e = through(export(ad.jit(f))(X, 2.0))
    assert same(ad.grad(e.call, argnums=(0, 1))(X, 2.0), ad.grad(f, argnums=(0, 1))(X, 2.0))
    np.testing.assert_array_equal(ad.hessian(e.call)(X, 2.0), ad.hessian(ad.jit(f))(X, 2.0))
    rows, ys = np.stack([X, 2 * X]), np.array([1.0, 3.0])
    assert same(ad.vmap(e.call)(rows, ys), ad.vmap(f)(rows, ys))
    assert same(
        ad.vmap(ad.grad(e.call), in_axes=(0, None))(rows, 2.0), ad.vmap(ad.grad(f), in_axes=(0, None))(rows, 2.0)
    )
    assert same(ad.jit(lambda x: e.call(x, 3.0) + e.call(x, 1.0))(X), np.float64(f(X, 3.0) + f(X, 1.0)))
    assert same(ad.jvp(e.call, (X, 2.0), (X, 1.0)), ad.jvp(ad.jit(f), (X, 2.0), (X, 1.0)))
    again = through(export(ad.jit(lambda x: 2.0 * e.call(x, 1.0)))(X))
    assert same(again.call(X), 2.0 * f(X, 1.0))


def test_python_scalars(through):
    f = lambda x, y: x * y
    x = X.astype(np.float32)
    weak = through(export(ad.jit(f))(x, 0.1))
    assert same(weak.call(x, 0.1), f(x, 0.1))
    # a value that is no Python scalar counts as one: the dtype of the result is that of the exported program
    for y in (np.float64(0.1), np.array(0.1)):
        got = weak.call(x, y)
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, x * np.float32(0.1), rtol=1e-6)
    assert ad.vmap(weak.call, in_axes=(None, 0))(x, X).dtype == np.float32
    assert ad.grad(lambda y: anp.sum(weak.call(x, y)))(np.float64(2.0)).dtype == np.float64
    assert ad.jit(lambda y: weak.call(x, y))(0.1).dtype == np.float32
    assert same(weak.call(x, 1), f(x, 1.0)) and type(through(export(ad.jit(lambda y: y))(1.0)).call(1)) is float
    # and a Python scalar takes the dtype of an array's place
    strong = through(export(ad.jit(f))(x, np.float32(0)))
    assert same(strong.call(x, 2), f(x, np.float32(2)))
    assert same(ad.jit(lambda y: strong.call(x, y))(0.1), f(x, np.float32(0.1)))


def test_results_are_the_callers_own(through):
    e = through(export(ad.jit(lambda x: (X, x, X)))(X))
    a, b, c = e.call(X)
    a[:] = b[:] = c[:] = -1.0
    assert same(e.call(X), (X, X, X)) and X[0] == 0.5


def test_effects_run_on_calls():
    seen = []

    def f(x):
        ad.io_callback(lambda v: seen.append(float(v)), None, x)
        return 2.0 * x

    e = export(ad.jit(f))(1.0)
    assert (e.call(1.0), e.call(2.0), seen) == (2.0, 4.0, [1.0, 2.0])


WRONG = {
    "structure": (lambda e: e.call([X], 1.0), errors.TreeError, "another structure"),
    "keyword": (lambda e: e.call(X, y=1.0), errors.TreeError, "another structure"),
    "shape": (lambda e: e.call(X[:2], 1.0), errors.ShapeError, r"argument \[0\] has shape \(2,\), .* for f64\[3\]"),
    "dtype": (lambda e: e.call(X + 0j, 1.0), errors.DtypeError, "has dtype complex128"),
    "narrower": (lambda e: e.call(X.astype(np.float32), 1.0), errors.DtypeError, "has dtype float32"),
    "no array": (lambda e: e.call("abc", 1.0), errors.DtypeError, r"argument \[0\] is a str"),
    "a complex scalar": (lambda e: e.call(X, 1j), errors.DtypeError, "has dtype complex128"),
}


@pytest.mark.parametrize(("call", "error", "text"), WRONG.values(), ids=WRONG)
def test_wrong_arguments(call, error, text, through):
    e = through(export(ad.jit(lambda x, y: x * y))(X, 2.0))
    with pytest.raises(error, match=text) as caught:
        call(e)
    assert caught.value.mend


@pytest.mark.parametrize("f", [np.sin, 3, None, "f"], ids=repr)
def test_export_takes_jitted_functions(f):
    with pytest.raises(errors.ArgumentError, match=r"export takes what jit returns") as caught:
        export(f)
    assert "export(jit(f))(x)" in str(caught.value)


def test_closures_over_open_transforms():
    with pytest.raises(errors.ArgumentError, match="closes over a traced value"):
        ad.grad(lambda y: export(ad.jit(lambda x: x * y))(X))(1.0)


def test_files(tmp_path):
    e = export(ad.jit(np.sin))(X)
    e.save(tmp_path / "sine")
    assert (tmp_path / "sine").read_bytes() == e.serialize()
    assert same(load(tmp_path / "sine").call(X), np.sin(X))
    assert same(load(str(tmp_path / "sine")).call(X), np.sin(X))
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


# rules of custom_jvp and custom_vjp

RULES = {
    "custom_jvp": lambda x: anp.sum(tilted(x) * x),
    "custom_vjp": lambda x: anp.sum(scaled(x, 3)[0] * x),
    "by rows": lambda x: anp.sum(ad.vmap(lambda r: tilted(r) + scaled(r, 2)[0])(x)),
    "one in another": lambda x: anp.sum(tilted(tilted(x))),
    "scan": lambda x: ad.lax.scan(lambda c, r: (tilted(c * r), None), 1.0, x)[0],
}


@pytest.mark.parametrize("name", RULES)
def test_rules_are_stored_up_to_an_order(name):
    f = RULES[name]
    derivatives = [lambda f: f, ad.grad, ad.hessian, lambda f: ad.jacfwd(ad.hessian(f))]
    whole = export(ad.jit(f))(X)
    for order in range(3):
        loaded = reloaded(whole, vjp_order=order)
        for k, d in enumerate(derivatives):
            if k <= order:
                assert same(d(loaded.call)(X), d(ad.jit(f))(X))
                assert same(d(reloaded(loaded, vjp_order=order).call)(X), d(ad.jit(f))(X))
                continue
            held = f"up to order {order}" if order else "of no order"
            with pytest.raises(errors.ExportError, match=rf"(tilted|scaled) has .* holds such rules {held}") as caught:
                d(loaded.call)(X)
            assert f"serialize(vjp_order={order + 1})" in str(caught.value)
        fewer = reloaded(reloaded(whole), vjp_order=0)
        with pytest.raises(errors.ExportError, match="of no order"):
            ad.grad(fewer.call)(X)
        more = reloaded(reloaded(whole, vjp_order=1), vjp_order=5)
        assert same(ad.grad(more.call)(X), ad.grad(ad.jit(f))(X))
        with pytest.raises(errors.ExportError, match="up to order 1"):
            ad.hessian(more.call)(X)
    third = derivatives[3]
    assert same(third(whole.call)(X), third(ad.jit(f))(X))  # the exported function has the rules themselves


def test_forward_mode_of_stored_rules():
    for f in RULES.values():
        loaded = reloaded(export(ad.jit(f))(X))
        assert same(ad.jvp(loaded.call, (X,), (X,)), ad.jvp(ad.jit(f), (X,), (X,)))


def test_integers_beside_a_custom_rule():
    f = lambda x, n: scaled(x, n)[0]
    loaded = reloaded(export(ad.jit(f))(X, 3))
    assert same(ad.vjp(lambda x: loaded.call(x, 3), X)[1](X), ad.vjp(lambda x: ad.jit(f)(x, 3), X)[1](X))


def test_a_rule_that_cannot_be_traced():
    @ad.custom_jvp
    def f(x):
        return anp.sin(x)

    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0] * (1.0 if primals[0] > 0 else 2.0)))
    e = export(ad.jit(lambda x: f(x)))(1.0)
    with pytest.raises(errors.ExportError, match="the derivative rule of f cannot be written down") as caught:
        e.serialize()
    assert "serialize(vjp_order=0)" in str(caught.value)
    assert isinstance(caught.value.__cause__, errors.TracerBoolConversionError)
    assert same(reloaded(e, vjp_order=0).call(1.0), e.call(1.0))


@pytest.mark.parametrize("order", [-1, 1.0, None, True])
def test_orders_are_numbers(order):
    with pytest.raises(errors.ArgumentError, match="vjp_order is a number of derivatives"):
        export(ad.jit(np.sin))(X).serialize(vjp_order=order)


# trees

TREES = {
    "nested": ({"b": (X, [X, None]), "a": {}}, []),
    "ordered": OrderedDict(z=X, a=X),
    "default": defaultdict(list, {"a": X}),
    "keys": {1: X, -2: X},
    "tuples as keys": {("a", 1): X, ("b", None): X},
    "None": (None, X),
}


@pytest.mark.parametrize("name", TREES)
def test_trees(name):
    value = TREES[name]
    f = lambda t: (t, ad.tree.map(lambda x: 2.0 * x, t))
    loaded = reloaded(export(ad.jit(f))(value))
    got, want = loaded.call(value), ad.jit(f)(value)
    assert same(got, want)
    assert loaded.in_tree == ad.tree.structure(((value,), {}))
    if name == "default":
        assert got[0].default_factory is list


class Line(NamedTuple):
    slope: float
    offset: float


class Scaled:
    def __init__(self, x, unit):
        self.x, self.unit = x, unit


ad.tree.register_pytree_node(Scaled, lambda s: ((s.x,), s.unit), lambda unit, xs: Scaled(*xs, unit))


def test_namedtuples(registrations):
    e = export(ad.jit(lambda line: Line(line.offset, line.slope * 2.0)))(Line(X, 1.0))
    with pytest.raises(errors.ExportError, match=r"hold a .*Line, which files have no name for") as caught:
        e.serialize()
    assert "register_namedtuple_serialization(Line, serialized_name=...)" in str(caught.value)
    assert register_namedtuple_serialization(Line, serialized_name="tests.Line") is Line
    data = e.serialize()
    got = deserialize(data).call(Line(X, 1.0))
    assert type(got) is Line and same(got, Line(1.0, X * 2.0))
    _by_class.clear(), _by_name.clear()
    with pytest.raises(errors.ExportError, match=r"'tests\.Line', which is not registered here"):
        deserialize(data)
    register_namedtuple_serialization(NamedTuple("Other", [("a", float)]), serialized_name="tests.Line")
    with pytest.raises(errors.ExportError, match="had 2 fields"):
        deserialize(data)


def test_registered_classes(registrations):
    e = export(ad.jit(lambda s: Scaled(s.x * 2.0, s.unit)))(Scaled(X, "mm"))
    with pytest.raises(errors.ExportError, match="register_pytree_node_serialization"):
        e.serialize()
    register_pytree_node_serialization(
        Scaled, serialized_name="tests.Scaled", serialize_auxdata=str.encode, deserialize_auxdata=bytes.decode
    )
    got = reloaded(e).call(Scaled(X, "mm"))
    assert got.unit == "mm" and same(got.x, X * 2.0)
    with pytest.raises(errors.TreeError, match="another structure"):
        reloaded(e).call(Scaled(X, "km"))


REGISTRATIONS = {
    "twice": (lambda: [register_namedtuple_serialization(Line, serialized_name=n) for n in "ab"], "already"),
    "one name": (
        lambda: [register_namedtuple_serialization(NamedTuple(n, []), serialized_name="a") for n in "PQ"],
        "already",
    ),
    "no namedtuple": (lambda: register_namedtuple_serialization(dict, serialized_name="a"), "takes a namedtuple"),
    "a builtin's name": (lambda: register_namedtuple_serialization(Line, serialized_name="tuple"), "is no name"),
    "no functions": (
        lambda: register_pytree_node_serialization(
            Scaled, serialized_name="a", serialize_auxdata=None, deserialize_auxdata=None
        ),
        "two functions",
    ),
}


@pytest.mark.parametrize(("register", "text"), REGISTRATIONS.values(), ids=REGISTRATIONS)
def test_wrong_registrations(register, text, registrations):
    with pytest.raises(errors.ArgumentError, match=text):
        register()


def test_a_class_that_is_no_node(registrations):
    with pytest.raises(errors.TreeError, match="is no pytree node"):
        register_pytree_node_serialization(
            Exported, serialized_name="a", serialize_auxdata=str.encode, deserialize_auxdata=bytes.decode
        )


def test_a_default_of_the_users():
    with pytest.raises(errors.ExportError, match="defaultdict with the factory"):
        export(ad.jit(lambda d: d["a"]))(defaultdict(lambda: 1, a=X)).serialize()
