"""Insertions, functions by parts and along axes, packed bits, and functions that write in place."""

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import errors
from autodidax.test_util import check_grads
from tests.numpy_api import laws
from tests.numpy_api.agreement import Case, assert_same

rng = np.random.default_rng(15)
v3, v5, w2, m23, t234 = (rng.normal(size=s) for s in (3, 5, 2, (2, 3), (2, 3, 4)))
z3 = v3 + 1j * rng.normal(size=3)
p5 = np.array([-1.5, 0.2, 0.9, -0.3, 2.0])

CASES = [
    Case("insert", v5, 2, 1.5), Case("insert", v5, -1, v3), Case("insert", v5, [1, 3], w2, wrt=(0, 2)),
    Case("insert", v5, [0, 0, 5], v3, wrt=(0, 2)), Case("insert", v5, slice(1, 4), v3), Case("insert", m23, 1, 0.5),
    Case("insert", m23, 1, v3, axis=0), Case("insert", m23, 1, w2, axis=1),
    Case("insert", m23, [1], w2[:, None], axis=1, wrt=(0, 2)),
    Case("insert", m23, [0, 2], m23[:, :2], axis=1, wrt=(0, 2)), Case("insert", m23, [0, -1], w2, 1, wrt=(0, 2)),
    Case("insert", t234, 1, m23, axis=-1), Case("insert", t234, [1, 2], 0.5, axis=0, wrt=(0, 2)),
    Case("insert", v5, np.array([True, False, False, True, False]), w2), Case("insert", v5, [], 1.0, wrt=(0,)),
    Case("insert", np.arange(3), 1, 7), Case("insert", v5.astype(np.float32), 1, 0.5, wrt=()),
    Case("piecewise", p5, [p5 < 0, p5 > 1], [lambda x: x**2, lambda x: 3 * x, lambda x: np.sin(x)]),
    Case("piecewise", p5, [p5 < 0, p5 >= 0], [-1.0, 2.0]), Case("piecewise", p5, p5 < 0, [lambda x: x, 0.5]),
    Case("piecewise", p5, [p5 < 0, p5 < 1], [np.exp, np.cos]), Case("piecewise", 0.7, [False, True], [np.exp, np.sin]),
    Case("piecewise", m23, [m23 < 0], [lambda x, a, b=0: a * x + b, lambda x, a, b: np.tanh(x)], 2.0, b=1.0, wrt=(0,)),
    Case("piecewise", 0.7, True, [np.cos, 1.0]),
    Case("piecewise", np.arange(4), [np.arange(4) < 2], [1, lambda x: x**2]),
    Case("apply_along_axis", np.cumsum, 1, m23), Case("apply_along_axis", lambda x: x[0] * x, 0, m23),
    Case("apply_along_axis", lambda x: x @ x, -1, t234), Case("apply_along_axis", np.outer, 1, t234, v3, wrt=(2, 3)),
    Case("apply_along_axis", lambda x: 2.0 * x, 0, v3),
    Case("apply_over_axes", np.sum, t234, [0, 2]), Case("apply_over_axes", np.mean, m23, -1),
    Case("apply_over_axes", np.cumsum, m23, (0, 1)), Case("real_if_close", v3), Case("sort_complex", v5),
    Case("sort_complex", z3), Case("sort_complex", m23), Case("sort_complex", np.array([3, 1], np.int8)),
    Case("sort_complex", v5.astype(np.float32), wrt=()),
]  # fmt: skip
EAGER = [Case("real_if_close", z3), Case("real_if_close", v3 + 1e-15j, wrt=()), Case("real_if_close", z3, 1e9)]
SMOOTH = [c for c in CASES if c.wrt]


@pytest.mark.parametrize("case", CASES + EAGER, ids=repr)
def test_plain_value(case):
    laws.plain_value(case)


@pytest.mark.parametrize("law", laws.ALL, ids=lambda f: f.__name__)
@pytest.mark.parametrize("case", SMOOTH, ids=repr)
def test_laws(case, law):
    law(case)


@pytest.mark.parametrize("case", EAGER, ids=repr)
def test_real_if_close(case):
    x, *rest = case.args
    got, _ = autodidax.vjp(lambda x: np.real_if_close(x, *rest), x)
    assert_same(got, np.real_if_close(x, *rest))
    with pytest.raises(errors.ConcretizationTypeError, match=r"x\.real"):
        autodidax.jit(lambda x: np.real_if_close(x, *rest))(x)


@pytest.mark.parametrize("bitorder", ["big", "little"])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_bits(axis, bitorder):
    bits, packed = rng.integers(0, 2, (3, 11)), rng.integers(0, 256, (2, 3), np.uint8)
    for x in (bits, bits.astype(bool), 5 * bits.astype(np.int8), bits[:, :0]):
        f = lambda x: np.packbits(x, axis, bitorder)
        assert_same(autodidax.jit(f)(x), f(x))
    for count in (None, 5, 40, -3, 0):
        f = lambda x, count=count: np.unpackbits(x, axis, count, bitorder)
        assert_same(autodidax.jit(f)(packed), f(packed))
        assert_same(autodidax.vmap(f)(np.stack([packed, packed[::-1]])), np.stack([f(packed), f(packed[::-1])]))


def test_positions_of_insertions_may_be_known_values():
    f = lambda i: np.insert(v5, i, 0.0)
    assert_same(autodidax.vjp(lambda x: anp.insert(v5, np.argmax(x), 0.0), v5)[0], f(np.argmax(v5)))
    with pytest.raises(errors.ConcretizationTypeError, match="plain positions"):
        autodidax.jit(lambda i: anp.insert(v5, i, 0.0))(2)


def test_conditions_that_are_traced():
    """Through the known conditions of grad, and the unknown ones of jit."""
    f = lambda x: anp.piecewise(x, [x < 0, x > 1], [lambda x: -x, lambda x: x**3, lambda x: np.sqrt(x)])
    want = np.where(p5 < 0, -1.0, np.where(p5 > 1, 3 * p5**2, 0.5 / np.sqrt(np.abs(p5))))
    np.testing.assert_allclose(autodidax.grad(lambda x: f(x).sum())(p5), want)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(autodidax.jit(autodidax.grad(lambda x: f(x).sum()))(p5), want)
    np.testing.assert_allclose(autodidax.grad(lambda x: anp.piecewise(x, x < 0, [0.0, np.exp]))(0.5), np.exp(0.5))


def test_functions_along_an_axis_may_ask_for_values():
    f = lambda row: row**2 if row[0] > 0 else row
    x = np.array([[1.0, 2.0], [-1.0, 3.0]])
    gradient = autodidax.grad(lambda x: np.apply_along_axis(f, 1, x).sum())(x)
    np.testing.assert_array_equal(gradient, [[2.0, 4.0], [1.0, 1.0]])


CLOSING = {
    "piecewise": lambda y: anp.piecewise(p5, [p5 < 0], [lambda x: x * y, lambda x: y**2]),
    "apply_along_axis": lambda y: anp.apply_along_axis(lambda x: x[0] * y, 1, m23),
    "apply_over_axes": lambda y: anp.apply_over_axes(lambda a, k: y * anp.sum(a, k), m23, (0, 1)),
}


@pytest.mark.parametrize("name", CLOSING)
def test_functions_that_close_over_traced_values(name):
    check_grads(lambda y: CLOSING[name](y), (1.3,), order=2)
    assert_same(autodidax.jit(CLOSING[name])(1.3), CLOSING[name](1.3), exact=False)


WRITERS = {
    "copyto": lambda a, x: anp.copyto(a, x), "fill_diagonal": lambda a, x: anp.fill_diagonal(a, x[0, 0]),
    "place": lambda a, x: anp.place(a, a > 1, x), "put": lambda a, x: anp.put(a, [0], x[0, 0]),
    "put_along_axis": lambda a, x: anp.put_along_axis(a, np.zeros((2, 1), int), x[:, :1], 1),
    "putmask": lambda a, x: anp.putmask(a, a > 1, x),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITERS)
def test_functions_that_write(name):
    ours, numpys = np.ones((2, 3)), np.ones((2, 3))
    WRITERS[name](ours, m23)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(anp, name, getattr(np, name))
        WRITERS[name](numpys, m23)
    np.testing.assert_array_equal(ours, numpys)
    for target in (lambda x: WRITERS[name](np.ones((2, 3)), x), lambda x: WRITERS[name](x, m23)):
        with pytest.raises(errors.MutationError, match=r"mend: .*(anp\.at|where)"):
            autodidax.vjp(target, m23)


REFUSED = {
    "insert, index": (lambda x: np.insert(x, 9, 0.0), IndexError, "out of bounds"),
    "insert, indices": (lambda x: np.insert(x, [0, 9], 0.0), IndexError, "out of bounds"),
    "insert, rank": (lambda x: np.insert(x, [[0, 1]], 0.0), ValueError, "one dimensional"),
    "insert, shape": (lambda x: np.insert(x, [0, 1], x), ValueError, "broadcast"),
    "insert into integers": (lambda x: np.insert(np.arange(3), 1, x[0]), errors.DtypeError, "float"),
    "piecewise, number": (lambda x: np.piecewise(x, [x < 0], [1.0, 2.0, 3.0]), ValueError, "functions are expected"),
    "piecewise of integers": (lambda x: anp.piecewise(np.arange(3), [x < 0], [x[0], 1]), errors.DtypeError, "float"),
    "apply_along_axis, empty": (lambda x: np.apply_along_axis(np.sum, 0, x[:, None][:, :0]), ValueError, "are 0"),
    "apply_over_axes, shape": (lambda x: np.apply_over_axes(lambda a, k: a[0, 0], x[None], 0), ValueError, "shape"),
    "packbits of floats": (lambda x: np.packbits(x), TypeError, "integer or boolean"),
    "unpackbits of floats": (lambda x: np.unpackbits(x), TypeError, "unsigned byte"),
    "isfortran": (lambda x: anp.isfortran(x), errors.UnsupportedError, "memory"),
    "shares_memory": (lambda x: anp.shares_memory(x, x), errors.UnsupportedError, "memory"),
    "may_share_memory": (lambda x: anp.may_share_memory(x, x), errors.UnsupportedError, "memory"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    function, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        autodidax.vjp(function, v3)
