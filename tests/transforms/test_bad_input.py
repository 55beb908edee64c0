"""What bad input gets: an error of the package's own, in three lines, with the user's line and one mend."""

import os

import numpy as np
import pytest

import autodidax as ad
import autodidax.numpy as anp
from autodidax import (
    checkpoint,
    custom_jvp,
    custom_vjp,
    elementwise_grad,
    errors,
    eval_shape,
    float0,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jit,
    jvp,
    lax,
    linear_transpose,
    linearize,
    make_jaxpr,
    value_and_grad,
    vjp,
    vmap,
)
from autodidax.core.interpreters import frames

HERE = os.path.basename(__file__)
X = np.ones(3)
B = np.ones((2, 3))
E = errors


class Thing:
    pass


def loss(x):
    return np.sum(x**2)


def pair(x, y):
    return np.sum(x * y)


def with_rule(rule, f=lambda x: x * 2.0, **options):
    g = custom_jvp(f, **options)
    g.defjvp(rule)
    return g


def with_bwd(bwd, fwd=lambda x: (x * 2.0, None), f=lambda x: x * 2.0, **options):
    g = custom_vjp(f, **options)
    g.defvjp(fwd, bwd)
    return g


def check(run, cls, *words):
    with pytest.raises(E.AutodidaxError) as caught:
        run()
    error = caught.value
    text = str(error)
    assert isinstance(error, cls), f"{type(error).__name__}: {text}"
    lines = text.splitlines()
    assert len(lines) == 3 and lines[1].startswith("  in: ") and lines[2].startswith("  mend: "), text
    assert HERE in lines[1], text
    for word in words:
        assert word in text, text
    for internal in ("Tracer ", "StageTracer", "ReverseTracer", "JVPTracer", "BatchTracer", "LinearTracer", "NoneType"):
        assert internal not in text, text
    assert frames() == ()


GRADIENTS = {"grad": grad, "value_and_grad": value_and_grad, "jacfwd": jacfwd, "jacrev": jacrev, "hessian": hessian,
             "elementwise_grad": elementwise_grad}  # fmt: skip
# name -> (what is run with the transform, class, words of the text)
OF_A_GRADIENT = {
    "no arguments": (lambda t: t(loss)(), E.ArgumentError, "argnums 0 of loss", "0 positional arguments"),
    "argnums too large": (lambda t: t(loss, 2)(X), ValueError, "argnums 2 of loss", "1 positional argument"),
    "argnums too negative": (lambda t: t(loss, -2)(X), TypeError, "argnums -2"),
    "argnums of a wrong type": (lambda t: t(loss, "x")(X), E.ArgumentError, "got 'x'", "argnames"),
    "argnums as float": (lambda t: t(loss, 0.0)(X), E.ArgumentError, "got 0.0"),
    "argnums as set": (lambda t: t(pair, {0, 1})(X, X), E.ArgumentError, "tuple of integers"),
    "argnums nested": (lambda t: t(pair, ((0,),))(X, X), E.ArgumentError, "((0,),)"),
    "argnums twice": (lambda t: t(pair, (0, -2))(X, X), E.ArgumentError, "twice"),
    "argnums and argnames twice": (lambda t: t(pair, 0, argnames="x")(X, X), E.ArgumentError, "twice"),
    "argnames unknown": (lambda t: t(pair, argnames="z")(X, X), E.ArgumentError, "'z'", "x, y"),
    "argnames as integer": (lambda t: t(pair, argnames=1)(X, X), E.ArgumentError, "string"),
    "argnames as integers": (lambda t: t(pair, argnames=(1,))(X, X), E.ArgumentError, "string"),
    "integer": (lambda t: t(lambda k: k * k)(3), TypeError, "'k'", "int64", "3.0 instead of 3"),
    "integer array": (lambda t: t(loss)(np.arange(3)), E.DtypeError, "int64", "astype(float)"),
    "bool": (lambda t: t(lambda x: x * 1.0)(True), E.DtypeError, "bool"),
    "leaf of a tree": (lambda t: t(lambda d: d["a"][0])({"a": [1]}), E.DtypeError, "['a'][0]", "int64"),
    "string": (lambda t: t(loss)("abc"), TypeError, "a str"),
    "object": (lambda t: t(loss)(Thing()), E.DtypeError, "a Thing"),
    "object array": (lambda t: t(loss)(np.array([1, None])), E.DtypeError, "dtype object"),
    "string array": (lambda t: t(loss)(np.array(["a"])), E.DtypeError, "<U1"),
    "dates": (lambda t: t(loss)(np.array(["2020-01-01"], "M8[D]")), E.DtypeError, "datetime64"),
    "structured": (lambda t: t(loss)(np.ones(2, [("a", float)])), E.DtypeError, "cannot be traced"),
    "masked": (lambda t: t(loss)(np.ma.array([1.0], mask=[1])), E.DtypeError, "masked array", "filled"),
    "float0": (lambda t: t(loss)(np.zeros(3, float0)), E.DtypeError, "float0"),
    "not callable": (lambda t: t(3)(X), E.ArgumentError, "takes a function"),
    "string returned": (lambda t: t(lambda x: "a")(X), E.DtypeError, "a str"),
    "object returned": (lambda t: t(lambda x: Thing())(X), E.DtypeError, "a Thing"),
    "shapes": (lambda t: t(lambda x: np.sum(x * np.ones(4)))(X), ValueError, "(3,) and (4,)", "axis -1 has 3 and 4"),
    "out of bounds": (lambda t: t(lambda x: x[3])(X), IndexError, "index 3", "size 3"),
    "out of bounds below": (lambda t: t(lambda x: x[-4])(X), IndexError, "index -4"),
    "array out of bounds": (lambda t: t(lambda x: np.sum(x[np.array([0, 3])]))(X), IndexError, "index 3"),
    "too many indices": (lambda t: t(lambda x: x[0, 0])(X), IndexError, "2 indices"),
    "float as index": (lambda t: t(lambda x: x[1.0])(X), E.AutodidaxError, "float"),
    "string as index": (lambda t: t(lambda x: x["a"])(X), E.AutodidaxError, "str"),
    "mask of another shape": (lambda t: t(lambda x: np.sum(x[np.array([True, False])]))(X), IndexError, "(2,)"),
    "item assignment": (lambda t: t(lambda x: x.__setitem__(0, 1.0))(X), E.MutationError, "anp.at(x)[i].set(v)"),
    "write into a plain array": (lambda t: t(write_item)(X), E.MutationError, "write_item", "anp.at(a)[0].set(x[0])"),
    "write into a slice": (lambda t: t(write_slice)(X), TypeError, "write_slice", ".set(x[:2])"),
    "add in place": (lambda t: t(add_in_place)(X), E.MutationError, "acc = acc + x"),
    "copyto": (lambda t: t(lambda x: np.copyto(np.zeros(3), x))(X), E.MutationError, "copyto"),
    "out=": (lambda t: t(lambda x: np.sin(x, out=np.zeros(3)))(X), E.MutationError, "sin"),
    "float()": (lambda t: t(lambda x: float(x[0]))(X), TypeError, "float"),
    "int()": (lambda t: t(lambda x: int(x[0]))(X), TypeError, "integer"),
    "math": (lambda t: t(lambda x: __import__("math").sin(x[0]))(X), TypeError, "math"),
    "asarray": (lambda t: t(lambda x: np.sum(np.asarray(x)))(X), TypeError, "anp"),
    "array of tracers": (lambda t: t(lambda x: np.sum(np.array([x[0], x[1]])))(X), TypeError, "anp.array"),
    "with a string": (lambda t: t(lambda x: x + "a")(X), TypeError),
    "with None": (lambda t: t(lambda x: x + None)(X), TypeError),
    "with objects": (lambda t: t(lambda x: x + np.array([None] * 3))(X), TypeError),
    "with strings": (lambda t: t(lambda x: x + np.array(["a"] * 3))(X), TypeError),
    "unbound axis": (lambda t: t(lambda x: lax.psum(x[0], "i"))(X), NameError, "'i'", "axis_name='i'"),
}  # fmt: skip


def write_item(x):
    a = np.zeros(3)
    a[0] = x[0]
    return np.sum(a)


def write_slice(x):
    a = np.zeros(3)
    a[:2] = x[:2]
    return np.sum(a)


def add_in_place(x):
    acc = np.zeros(3)
    acc += x
    return np.sum(acc)


@pytest.mark.parametrize("transform", GRADIENTS)
@pytest.mark.parametrize("name", OF_A_GRADIENT)
def test_gradients(name, transform):
    run, cls, *words = OF_A_GRADIENT[name]
    check(lambda: run(GRADIENTS[transform]), cls, *words)


OF_GRAD = {
    "vector": (lambda t: t(lambda x: x * 2)(X), ValueError, "shape (3,)", "jacrev"),
    "tuple": (lambda t: t(lambda x: (x[0], x[1]))(X), E.ShapeError, "a tuple", "has_aux"),
    "list": (lambda t: t(lambda x: [x[0]])(X), E.ShapeError, "a list"),
    "dict": (lambda t: t(lambda x: {"a": x[0]})(X), E.ShapeError, "a dict"),
    "nothing": (lambda t: t(lambda x: None)(X), E.ShapeError, "returned None"),
    "integer returned": (lambda t: t(lambda x: 3)(X), E.DtypeError, "int64"),
    "bool returned": (lambda t: t(lambda x: x[0] > 0)(X), E.DtypeError, "bool"),
    "complex": (lambda t: t(lambda z: np.sum(z * z))(X + 0j), TypeError, "complex128", "holomorphic=True"),
    "holomorphic of real": (lambda t: t(lambda x: x * x, holomorphic=True)(1.0), E.DtypeError, "float64"),
    "holomorphic to real": (lambda t: t(np.real, holomorphic=True)(1.0 + 0j), E.DtypeError, "float64"),
    "no pair": (lambda t: t(loss, has_aux=True)(X), E.ArgumentError, "pair", "a traced value"),
    "a triple": (lambda t: t(lambda x: (x, 1, 2), has_aux=True)(1.0), E.ArgumentError, "a tuple"),
}  # fmt: skip


@pytest.mark.parametrize("transform", [grad, value_and_grad], ids=["grad", "value_and_grad"])
@pytest.mark.parametrize("name", OF_GRAD)
def test_outputs_of_grad(name, transform):
    run, cls, *words = OF_GRAD[name]
    check(lambda: run(transform), cls, *words)


PULLS = {"vjp": lambda f, *args: vjp(f, *args)[1], "linear_transpose": linear_transpose,
         "linearize": lambda f, *args: linearize(f, *args)[1]}  # fmt: skip


@pytest.mark.parametrize("transform", PULLS)
@pytest.mark.parametrize(
    "ct, cls, words",
    [
        ((np.ones(4),), ValueError, ["(4,)", "(3,)"]),
        ((1.0,), E.ShapeError, ["()", "(3,)"]),
        ((X + 0j,), TypeError, ["complex128", "float64"]),
        (("a",), E.DtypeError, ["a str"]),
        (((X,),), E.TreeError, ["structure"]),
        (({"a": X},), E.TreeError, ["structure"]),
        ((), E.AutodidaxError, []),
        ((X, X), E.AutodidaxError, []),
        ((np.zeros(3, float0),), E.DtypeError, ["float0"]),
        ((np.ma.array(X),), E.DtypeError, ["masked"]),
    ],
    ids=["shape", "scalar", "complex", "string", "tuple", "dict", "none", "two", "float0", "masked"],
)
def test_cotangents_and_tangents(transform, ct, cls, words):
    run = PULLS[transform](lambda x: 2.0 * x, X)
    check(lambda: run(*ct), cls, *words)


POSITIVE = lambda a, b: a if b > 0 else -a
CASES = {
    # jvp
    "jvp without tuples": (lambda: jvp(loss, X, X), E.ArgumentError, "jvp(f, (x,), (tx,))"),
    "jvp dict": (lambda: jvp(loss, {"x": X}, {"x": X}), E.ArgumentError, "a tuple or list"),
    "jvp short": (lambda: jvp(pair, (X, X), (X,)), E.TreeError, "tangents"),
    "jvp shape": (lambda: jvp(loss, (X,), (np.ones(4),)), ValueError, "tangent 0", "(4,)", "(3,)"),
    "jvp complex": (lambda: jvp(loss, (X,), (X + 0j,)), TypeError, "complex128"),
    "jvp of an integer": (lambda: jvp(lambda n: n * 1.0, (3,), (1.0,)), TypeError, "int64", "float0"),
    "jvp float0": (lambda: jvp(loss, (X,), (np.zeros(3, float0),)), E.DtypeError, "float0"),
    "jvp float0 shape": (lambda: jvp(np.sum, (np.arange(3),), (np.zeros(4, float0),)), E.ShapeError, "(4,)"),
    "jvp tree": (lambda: jvp(lambda d: d["a"], ({"a": 1.0},), ({"b": 1.0},)), E.TreeError, "'a'"),
    "jvp string": (lambda: jvp(loss, (X,), ("a",)), E.DtypeError, "a str"),
    "hvp without tuples": (lambda: hvp(loss, X, X), E.ArgumentError, "hvp(f, (x,), (v,))"),
    "hvp of nothing": (lambda: hvp(loss, (), ()), E.ArgumentError, "tuples"),
    "hvp shape": (lambda: hvp(loss, (X,), (np.ones(2),)), E.ShapeError, "(2,)"),
    # linear_transpose
    "transpose of a product": (lambda: linear_transpose(lambda x: x * x, X), TypeError, "linear"),
    "transpose of a sine": (lambda: linear_transpose(np.sin, X), E.NotLinearError, "sin", "vjp"),
    "transpose of an affine": (lambda: linear_transpose(lambda x: x + 1.0, X), E.NotLinearError, "affine"),
    "transpose of a constant": (lambda: linear_transpose(lambda x: X, X), E.NotLinearError, "depend"),
    "transpose if": (lambda: linear_transpose(lambda x: x if x > 0 else -x, 1.0), E.AutodidaxError),
    "transpose of an integer": (lambda: linear_transpose(lambda x: x, 3), E.DtypeError, "int64"),
    # vmap
    "vmap sizes": (lambda: vmap(pair)(X, np.ones(4)), ValueError, "'x' of shape (3,) has size 3", "'y' of shape (4,)"),
    "vmap sizes by keyword": (lambda: vmap(pair)(X, y=np.ones(4)), E.ShapeError, "argument 'x'", "argument 'y'"),
    "vmap sizes in a tree": (
        lambda: vmap(lambda p: p["a"] + p["b"][0])({"a": X, "b": [np.ones(4)]}), ValueError, "'p'['a']", "'p'['b'][0]",
    ),
    "vmap axis_size": (lambda: vmap(loss, axis_size=4)(X), E.ShapeError, "axis_size is 4"),
    "vmap axis_size negative": (lambda: vmap(loss, None, axis_size=-1)(X), E.ArgumentError, "-1"),
    "vmap axis_size float": (lambda: vmap(loss, None, axis_size=3.0)(X), E.ArgumentError, "3.0"),
    "vmap axis_size text": (lambda: vmap(loss, None, axis_size="a")(X), E.ArgumentError, "'a'"),
    "vmap scalar": (lambda: vmap(loss)(1.0), E.ShapeError, "argument 'x'", "shape ()"),
    "vmap scalar keyword": (lambda: vmap(pair)(X, y=1.0), E.ShapeError, "argument 'y'"),
    "vmap nothing": (lambda: vmap(lambda: 1.0)(), E.ArgumentError, "axis_size"),
    "vmap nothing mapped": (lambda: vmap(loss, None)(X), E.ArgumentError, "axis_size"),
    "vmap in_axes length": (lambda: vmap(loss, (0, 0))(X), E.ArgumentError, "2 entries for 1"),
    "vmap in_axes text": (lambda: vmap(loss, "0")(X), E.ArgumentError, "in_axes"),
    "vmap in_axes float": (lambda: vmap(loss, 0.0)(X), E.ArgumentError, "in_axes"),
    "vmap in_axes dict": (lambda: vmap(lambda d: d["a"], {"a": 0})({"a": X}), E.ArgumentError, "in_axes=({'w': 0},)"),
    "vmap in_axes in a tuple": (lambda: vmap(loss, ("a",))(X), E.AutodidaxError, "'a'"),
    "vmap in_axes tree": (lambda: vmap(lambda d: d["a"], ({"b": 0},))({"a": X}), E.TreeError),
    "vmap in_axes too large": (lambda: vmap(loss, 1)(X), E.ShapeError, "axis 1", "(3,)"),
    "vmap in_axes too negative": (lambda: vmap(loss, -2)(X), E.ShapeError, "axis -2"),
    "vmap out_axes": (lambda: vmap(lambda x: x, out_axes=1)(X), E.ArgumentError, "out_axes 1"),
    "vmap out_axes None": (lambda: vmap(lambda x: x, out_axes=None)(X), E.ArgumentError, "out_axes"),
    "vmap out_axes text": (lambda: vmap(lambda x: x, out_axes="a")(X), E.ArgumentError, "'a'"),
    "vmap out_axes tree": (lambda: vmap(lambda x: x, out_axes=(0, 0))(X), E.TreeError),
    "vmap out_axes keys": (lambda: vmap(lambda x: {"a": x}, out_axes={"b": 0})(X), E.TreeError),
    "vmap returns text": (lambda: vmap(lambda x: "a")(X), E.DtypeError, "a str"),
    "vmap of text": (lambda: vmap(loss)("abc"), E.DtypeError, "argument 'x'", "a str"),
    "vmap if": (lambda: vmap(POSITIVE)(X, X), TypeError, "under vmap of", "where", "cond"),
    "vmap and": (lambda: vmap(lambda x: x > 0 and x < 1)(X), E.TracerBoolConversionError),
    "vmap float": (lambda: vmap(lambda x: float(x))(X), E.ConcretizationTypeError),
    "vmap range": (lambda: vmap(lambda n: sum(range(n)))(np.arange(3)), E.TracerIntegerConversionError),
    "vmap mask": (lambda: vmap(lambda x: x[x > 0])(B), IndexError, "where"),
    "vmap out of bounds": (lambda: vmap(lambda x: x[3])(B), IndexError, "index 3"),
    "vmap traced index": (lambda: vmap(lambda x, i: x[i])(B, np.array([1, 5])), IndexError, "5"),
    "vmap item assignment": (lambda: vmap(lambda x: x.__setitem__(0, 1.0))(B), E.MutationError),
    "vmap write": (lambda: vmap(write_item)(B), E.MutationError, "write_item"),
    "vmap psum name": (lambda: vmap(lambda x: lax.psum(x, "i"), axis_name="j")(X), NameError, "'i'", "['j']"),
    "psum outside": (lambda: lax.psum(1.0, "i"), NameError, "'i'"),
    # jit
    "jit if": (lambda: jit(POSITIVE)(1.0, 2.0), TypeError, "argument 'b'", "where", "cond"),
    "jit if derived": (lambda: jit(lambda a, b: a if a * b > 0 else b)(1.0, 2.0), E.TracerBoolConversionError),
    "jit if keyword": (lambda: jit(POSITIVE)(1.0, b=2.0), E.TracerBoolConversionError, "'b'"),
    "jit if in a tree": (
        lambda: jit(lambda p: p["k"][1] if p["k"][1] > 0 else 0.0)({"k": [1.0, 2.0]}), E.TracerBoolConversionError,
        "'p'['k'][1]",
    ),
    "jit not": (lambda: jit(lambda x: not x)(1.0), E.TracerBoolConversionError, "'x'"),
    "jit unhashable": (lambda: jit(lambda x, n: x, static_argnums=1)(1.0, [1]), TypeError, "static", "list", "tuple"),
    "jit unhashable name": (lambda: jit(lambda x, n: x, static_argnames="n")(1.0, n=[1]), ValueError, "'n'"),
    "jit static tracer": (
        lambda: grad(lambda y: jit(lambda x, n: x * n, static_argnums=1)(1.0, y))(2.0), E.ArgumentError, "traced value",
    ),
    "jit static too large": (lambda: jit(lambda x, n: x, static_argnums=5), E.ArgumentError, "5", "x, n"),
    "jit static unknown": (lambda: jit(lambda x, n: x, static_argnames="k"), E.ArgumentError, "'k'", "x, n"),
    "jit static kinds": (lambda: jit(lambda x, n: x, static_argnums="n"), E.ArgumentError, "static_argnames"),
    "jit static kinds 2": (lambda: jit(lambda x, n: x, static_argnames=1), E.ArgumentError, "static_argnums"),
    "jit text": (lambda: jit(lambda x: x)("a"), E.DtypeError, "argument 'x'", "static_argnums"),
    "jit function": (lambda: jit(lambda f: 1.0)(loss), E.DtypeError, "argument 'f'"),
    "jit objects": (lambda: jit(lambda x: x)(np.array([None])), E.DtypeError, "dtype object"),
    "jit masked": (lambda: jit(lambda x: x)(np.ma.array(X)), E.DtypeError, "masked"),
    "jit returns text": (lambda: jit(lambda x: "a")(X), E.DtypeError, "a str", "return"),
    "jit returns object": (lambda: jit(lambda x: Thing())(X), E.DtypeError, "a Thing"),
    "jit no function": (lambda: jit(3), E.ArgumentError, "takes a function"),
    "jit mask": (lambda: jit(lambda x: x[x > 0])(X), IndexError, "where"),
    "jit int": (lambda: jit(lambda n: int(n))(1), E.TracerIntegerConversionError, "'n'"),
    "jit range": (lambda: jit(lambda n: sum(range(n)))(3), E.TracerIntegerConversionError, "'n'"),
    "jit shape": (lambda: jit(lambda n: np.zeros(n))(3), TypeError, "size", "static"),
    "jit reshape": (lambda: jit(lambda n: X.reshape(n))(3), TypeError, "static"),
    "jit out of bounds": (lambda: jit(lambda x: x[3])(X), IndexError, "index 3"),
    "jit traced index": (lambda: jit(lambda x, i: x[i])(X, 5), IndexError, "5"),
    "jit item assignment": (lambda: jit(lambda x: x.__setitem__(0, 1.0))(X), E.MutationError),
    "jit write": (lambda: jit(write_item)(X), E.MutationError, "write_item"),
    "jit nonzero": (lambda: jit(np.nonzero)(X), E.AutodidaxError),
    "jit pickle": (lambda: jit(lambda x: __import__("pickle").dumps(x))(X), E.UnsupportedError, "pickled"),
    "lower text": (lambda: jit(loss).lower("a"), E.DtypeError, "a str"),
    "make_jaxpr text": (lambda: make_jaxpr(loss)("a"), E.DtypeError, "argument 'x'"),
    "make_jaxpr no function": (lambda: make_jaxpr(3), E.ArgumentError, "takes a function"),
    "eval_shape text": (lambda: eval_shape(loss, "a"), E.DtypeError, "a str"),
    "checkpoint text": (lambda: grad(lambda x: checkpoint(lambda a, b: a)(x, "s"))(1.0), E.DtypeError, "'b'"),
    "checkpoint if": (lambda: grad(checkpoint(lambda a: a if a > 0 else -a))(1.0), E.TracerBoolConversionError, "'a'"),
    # control flow
    "cond array": (lambda: lax.cond(X > 0, np.sin, np.cos, 1.0), ValueError, "scalar", "where"),
    "cond text": (lambda: lax.cond("a", np.sin, np.cos, 1.0), TypeError),
    "cond None": (lambda: lax.cond(None, np.sin, np.cos, 1.0), TypeError),
    "cond no functions": (lambda: lax.cond(True, 1, 2, 3), E.ArgumentError, "functions"),
    "cond trees": (lambda: jit(lambda p: lax.cond(p, lambda: (1.0, 2.0), lambda: 1.0))(True), E.TreeError),
    "cond shapes": (lambda: jit(lambda p: lax.cond(p, lambda: X, lambda: 1.0))(True), E.ShapeError, "f64[3]"),
    "cond dtypes": (lambda: jit(lambda p: lax.cond(p, lambda: X, lambda: np.arange(3)))(True), TypeError, "i64[3]"),
    "cond text operand": (lambda: jit(lambda p: lax.cond(p, len, len, "s"))(True), E.DtypeError, "a str"),
    "switch float": (lambda: lax.switch(1.0, [np.sin]), E.ArgumentError, "integer"),
    "switch empty": (lambda: lax.switch(1, []), E.ArgumentError, "functions"),
    "switch no list": (lambda: lax.switch(0, 3), E.ArgumentError, "functions"),
    "switch array": (lambda: lax.switch(np.array([1]), [np.sin], 1.0), E.ArgumentError, "i64[1]"),
    "while array": (lambda: lax.while_loop(lambda x: x > 0, lambda x: x - 1, X), ValueError, "scalar"),
    "while tuple": (lambda: lax.while_loop(lambda x: (x > 0,), lambda x: x - 1, 1.0), E.ShapeError, "a tuple"),
    "while None": (lambda: lax.while_loop(lambda x: None, lambda x: x - 1, 1.0), E.AutodidaxError),
    "while no function": (lambda: lax.while_loop(1, lambda x: x, 1.0), E.ArgumentError, "function"),
    "while tree": (lambda: jit(lambda x: lax.while_loop(lambda s: s[0] > 0, lambda s: s[0], (x,)))(1.0), E.TreeError),
    "while tree eager": (lambda: lax.while_loop(lambda s: s[0] > 0, lambda s: s[0], (1.0,)), E.TreeError),
    "while shape": (lambda: jit(lambda x: lax.while_loop(lambda x: x.sum() > 0, np.sum, x))(X), E.ShapeError, "f64[3]"),
    "while dtype": (
        lambda: jit(lambda n: lax.while_loop(lambda n: n > 0, lambda n: n - 0.5, n))(np.int64(3)), TypeError, "i64[]",
    ),
    "fori text": (lambda: lax.fori_loop("a", 3, lambda i, x: x, 0.0), E.DtypeError, "lower bound"),
    "fori float": (lambda: lax.fori_loop(0, 3.5, lambda i, x: x, 0.0), E.ArgumentError, "upper bound"),
    "fori array": (lambda: lax.fori_loop(0, np.array([3]), lambda i, x: x, 0.0), E.ArgumentError, "i64[1]"),
    "fori no function": (lambda: lax.fori_loop(0, 3, 1, 0.0), E.ArgumentError, "function"),
    "scan nothing": (lambda: lax.scan(lambda c, x: (c, c), 0.0), ValueError, "length"),
    "scan lengths": (lambda: lax.scan(lambda c, x: (c, c), 0.0, (X, np.ones(4))), E.ShapeError, "[3, 4]"),
    "scan length": (lambda: lax.scan(lambda c, x: (c, c), 0.0, X, length=4), E.ShapeError, "[3, 4]"),
    "scan length negative": (lambda: lax.scan(lambda c, x: (c, c), 0.0, length=-1), E.ArgumentError, "-1"),
    "scan length text": (lambda: lax.scan(lambda c, x: (c, c), 0.0, length="a"), E.ArgumentError, "integer"),
    "scan length traced": (
        lambda: jit(lambda n: lax.scan(lambda c, x: (c, c), 0.0, length=n))(3), E.TracerIntegerConversionError, "'n'",
    ),
    "scan scalar": (lambda: lax.scan(lambda c, x: (c, c), 0.0, 1.0), E.ShapeError, "leading axis"),
    "scan text": (lambda: lax.scan(lambda c, x: (c, c), 0.0, "abc"), E.DtypeError, "a str"),
    "scan no pair": (lambda: lax.scan(lambda c, x: c, 0.0, X), E.TreeError, "(carry, y)"),
    "scan no pair staged": (lambda: jit(lambda a: lax.scan(lambda c, x: c, 0.0, a))(X), E.TreeError, "(carry, y)"),
    "scan returns text": (lambda: lax.scan(lambda c, x: (c, "a"), 0.0, X), E.DtypeError, "a str"),
    "scan tree": (lambda: lax.scan(lambda c, x: ((c, c), x), 0.0, X), E.TreeError, "carry"),
    "scan tree staged": (lambda: jit(lambda a: lax.scan(lambda c, x: ((c, c), x), 0.0, a))(X), E.TreeError, "carry"),
    "scan shape": (lambda: lax.scan(lambda c, x: (X, x), 0.0, X), E.ShapeError, "f64[3]"),
    "scan dtype": (lambda: lax.scan(lambda c, x: (c + x, x), np.int64(0), X), TypeError, "i64[]", "f64[]"),
    "scan ragged": (lambda: lax.scan(lambda c, x: (c + 1, np.ones(c)), 0, X), E.ShapeError, "(0,)"),
    "scan trees of y": (lambda: lax.scan(lambda c, x: (c + 1, (x,) if c > 1 else x), 0, X), E.TreeError, "row 2"),
    "scan no function": (lambda: lax.scan(3, 0.0, X), E.ArgumentError, "function"),
    "map no function": (lambda: lax.map(3, X), E.ArgumentError, "function"),
    # custom rules
    "custom_jvp without rule": (lambda: custom_jvp(loss)(X), E.ArgumentError, "no rule", "defjvp"),
    "custom_vjp without rule": (lambda: custom_vjp(loss)(X), E.ArgumentError, "no rule", "defvjp"),
    "custom_jvp no function": (lambda: custom_jvp(3), E.ArgumentError, "takes a function"),
    "defjvp no function": (lambda: custom_jvp(loss).defjvp(3), E.ArgumentError, "takes a function"),
    "defjvps no function": (lambda: custom_jvp(loss).defjvps(3), E.ArgumentError, "functions"),
    "nondiff text": (lambda: custom_jvp(loss, nondiff_argnums="x"), E.ArgumentError, "nondiff_argnums"),
    "nondiff unknown": (lambda: custom_jvp(loss, nondiff_argnames=("z",)), E.ArgumentError, "'z'"),
    "nondiff too large": (lambda: with_rule(lambda p, t: p, nondiff_argnums=(3,))(X), E.ArgumentError, "3"),
    "custom call": (lambda: with_rule(lambda p, t: p)(X, X), E.ArgumentError, "too many"),
    "custom keyword-only": (
        lambda: with_rule(lambda p, t: p, f=lambda x, *, n=1: x)(X, n=2), E.ArgumentError, "keyword-only 'n'",
    ),
    "custom text": (lambda: with_rule(lambda p, t: p)("a"), E.DtypeError, "a str"),
    # names
    "registry": (lambda: ad.registry["nope"], ValueError, "'nope'"),
    "pointwise again": (lambda: ad.pointwise("sin", np.sin, lambda y, x: x), ValueError, "'sin'"),
    "pointwise no function": (lambda: ad.pointwise("own", 3), E.RegistryError, "function"),
    "take traced": (lambda: grad(lambda x: np.take(x, 5))(X), IndexError, "index 5"),
    "anp.at": (lambda: grad(lambda x: anp.at(x)[5].get())(X), IndexError, "index 5"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_other_calls(name):
    run, cls, *words = CASES[name]
    check(run, cls, *words)


RULES = {
    "not a pair": (with_rule(lambda p, t: p[0]), E.TreeError, "pair"),
    "None": (with_rule(lambda p, t: None), E.TreeError, "pair"),
    "tangent's shape": (with_rule(lambda p, t: (p[0] * 2, t[0][0])), E.ShapeError, "shape ()", "(3,)"),
    "tangent's tree": (with_rule(lambda p, t: (p[0] * 2, (t[0],))), E.TreeError, "tree"),
    "tangent as text": (with_rule(lambda p, t: (p[0] * 2, "a")), E.DtypeError, "a str"),
    "complex tangent": (with_rule(lambda p, t: (p[0] * 2, t[0] * 1j)), E.DtypeError, "complex128"),
    "output as text": (with_rule(lambda p, t: ("a", t[0])), E.DtypeError, "a str"),
    "fwd not a pair": (with_bwd(lambda r, ct: (ct,), fwd=lambda x: x), E.TreeError, "pair"),
    "bwd not a tuple": (with_bwd(lambda r, ct: ct), E.TreeError, "tuple of 1"),
    "bwd too short": (with_bwd(lambda r, ct: ()), E.TreeError, "0 values"),
    "bwd's shape": (with_bwd(lambda r, ct: (ct[0],)), E.ShapeError, "shape ()"),
    "bwd's tree": (with_bwd(lambda r, ct: ((ct,),)), E.TreeError, "tree"),
    "bwd as text": (with_bwd(lambda r, ct: ("a",)), E.DtypeError, "a str"),
    "complex bwd": (with_bwd(lambda r, ct: (ct * 1j,)), E.DtypeError, "complex128"),
}
USES = {
    "grad": lambda f: grad(lambda x: np.sum(f(x)))(X),
    "jvp": lambda f: jvp(f, (X,), (X,)),
    "jit of grad": lambda f: jit(grad(lambda x: np.sum(f(x))))(X),
    "vmap of grad": lambda f: vmap(grad(lambda x: np.sum(f(x))))(B),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", RULES)
def test_rules_of_the_user(name, use):
    f, cls, *words = RULES[name]
    check(lambda: USES[use](f), cls, *words)


def test_wrong_number_of_rules():
    f = custom_jvp(lambda x: x)
    f.defjvps(None, None)
    check(lambda: grad(f)(1.0), E.ArgumentError, "2 rules for 1")


def test_nonlinear_rule():
    f = with_rule(lambda p, t: (p[0] * 2, t[0] ** 2))
    check(lambda: grad(f)(1.0), E.NotLinearError, "linear")


def test_the_users_own_errors_pass_unchanged():
    def f(x):
        raise ZeroDivisionError("mine")

    for run in (lambda: grad(f)(1.0), lambda: jit(f)(1.0), lambda: vmap(f)(X), lambda: lax.map(f, X)):
        with pytest.raises(ZeroDivisionError, match="mine"):
            run()


def test_a_write_that_fails_for_another_reason_is_not_renamed():
    def f(x):
        a = np.zeros(2)
        a[0] = [1.0, 2.0]
        return x

    with pytest.raises(ValueError, match="setting an array element with a sequence") as caught:
        grad(f)(1.0)
    assert not isinstance(caught.value, E.AutodidaxError)
