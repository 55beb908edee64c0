"""Moving, copying and selecting entries: every rule at every sample, then the functions over them."""

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors
from autodidax.core.interpreters import get_aval
from autodidax.primitives import rearrange, select, shape
from tests.primitives import rule_checks as rules

PRIMITIVES = [
    shape.reshape, shape.transpose, shape.broadcast_to, shape.flip, shape.concatenate, shape.stack, shape.pad,
    rearrange.diagonal_p, rearrange.diagonal_embed_p, select.where_p,
]  # fmt: skip
X = np.random.default_rng(3).normal(size=(3, 4))
C = np.random.default_rng(4).normal(size=(2, 3, 4))


@pytest.mark.parametrize("check", [rules.check_aval, rules.check_staged, rules.check_vmap, rules.check_derivatives])
@pytest.mark.parametrize("p, sample", **rules.samples_of(*PRIMITIVES))
def test_rules(p, sample, check):
    check(p, sample)


FUNCTIONS = {
    "expand_dims": (lambda x: shape.expand_dims(x, (0, -1)), lambda x: np.expand_dims(x, (0, -1)), C),
    "squeeze": (shape.squeeze, np.squeeze, X[None, :, None]),
    "squeeze one": (lambda x: shape.squeeze(x, 0), lambda x: np.squeeze(x, 0), X[None, :, None]),
    "moveaxis": (lambda x: shape.moveaxis(x, 0, 2), lambda x: np.moveaxis(x, 0, 2), C),
    "moveaxis back": (lambda x: shape.moveaxis(x, -1, 0), lambda x: np.moveaxis(x, -1, 0), C),
    "moveaxis two": (lambda x: shape.moveaxis(x, (0, 1), (2, 0)), lambda x: np.moveaxis(x, (0, 1), (2, 0)), C),
    "swapaxes": (lambda x: shape.swapaxes(x, 0, -1), lambda x: np.swapaxes(x, 0, -1), C),
    "roll": (lambda x: rearrange.roll(x, 2), lambda x: np.roll(x, 2), X),
    "roll axis": (lambda x: rearrange.roll(x, -1, 1), lambda x: np.roll(x, -1, 1), X),
    "roll axes": (lambda x: rearrange.roll(x, (1, 5), (0, 1)), lambda x: np.roll(x, (1, 5), (0, 1)), X),
    "roll one shift": (lambda x: rearrange.roll(x, 1, (0, 1)), lambda x: np.roll(x, 1, (0, 1)), X),
    "roll empty": (lambda x: rearrange.roll(x, 1, 0), lambda x: np.roll(x, 1, 0), X[:0]),
    "tile": (lambda x: rearrange.tile(x, (2, 3)), lambda x: np.tile(x, (2, 3)), X),
    "tile more axes": (lambda x: rearrange.tile(x, (2, 1, 2)), lambda x: np.tile(x, (2, 1, 2)), X),
    "tile fewer": (lambda x: rearrange.tile(x, 2), lambda x: np.tile(x, 2), C),
    "repeat": (lambda x: rearrange.repeat(x, 2), lambda x: np.repeat(x, 2), X),
    "repeat axis": (lambda x: rearrange.repeat(x, 3, 1), lambda x: np.repeat(x, 3, 1), X),
    "repeat counts": (lambda x: rearrange.repeat(x, [1, 0, 2], 0), lambda x: np.repeat(x, [1, 0, 2], 0), X),
    "split": (lambda x: rearrange.split(x, 2, 1)[1], lambda x: np.split(x, 2, 1)[1], X),
    "split at": (lambda x: rearrange.split(x, [1, 3], -1)[1], lambda x: np.split(x, [1, 3], -1)[1], X),
    "diagonal": (lambda x: rearrange.diagonal(x, 1, 2, 0), lambda x: np.diagonal(x, 1, 2, 0), C),
    "diag of a matrix": (lambda x: rearrange.diag(x, -1), lambda x: np.diag(x, -1), X),
    "diag of a vector": (lambda x: rearrange.diag(x, 2), lambda x: np.diag(x, 2), X[0]),
    "tril": (lambda x: rearrange.tril(x, 1), lambda x: np.tril(x, 1), C),
    "triu": (lambda x: rearrange.triu(x, -1), lambda x: np.triu(x, -1), C),
    "tril of a vector": (rearrange.tril, np.tril, X[0]),
    "pad constant": (
        lambda x: rearrange.pad_constant(x, ((1, 0), (2, 1)), 3.0),
        lambda x: np.pad(x, ((1, 0), (2, 1)), constant_values=3.0),
        X,
    ),
    "pad constants": (
        lambda x: rearrange.pad_constant(x, ((1, 1), (2, 1)), ((1.0, 2.0), (3.0, 4.0))),
        lambda x: np.pad(x, ((1, 1), (2, 1)), constant_values=((1.0, 2.0), (3.0, 4.0))),
        X,
    ),
}
for _mode in ("edge", "reflect", "symmetric", "wrap"):
    FUNCTIONS[f"pad {_mode}"] = (
        lambda x, mode=_mode: rearrange.pad_copied(x, ((2, 1), (0, 5)), mode),
        lambda x, mode=_mode: np.pad(x, ((2, 1), (0, 5)), mode),
        X,
    )


@pytest.mark.parametrize("ours, numpys, x", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_functions_are_numpys(ours, numpys, x):
    for dtype in (np.float64, np.float32, np.int8):
        got, want = ours(x.astype(dtype)), numpys(x.astype(dtype))
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype
    rules.check_function(ours, (x,), order=1)
    rows = np.stack([x, 2.0 * x])
    np.testing.assert_array_equal(ad.vmap(ours)(rows), np.stack([numpys(r) for r in rows]))


def test_traced_shift_and_traced_constants():
    got = ad.vmap(lambda k: rearrange.roll(X, k, 1))(np.array([0, 1, -3]))
    np.testing.assert_array_equal(got, np.stack([np.roll(X, k, 1) for k in (0, 1, -3)]))
    total = lambda x: ad.registry["reduce_sum"](x, axes=tuple(range(x.ndim)))
    assert ad.grad(lambda v: total(rearrange.pad_constant(X, ((1, 1), (0, 2)), v)))(2.0) == 5 * 6 - 12
    table = ad.grad(lambda v: total(rearrange.pad_constant(X, ((1, 1), (0, 2)), v)))(np.ones((2, 2)))
    np.testing.assert_array_equal(table, [[4.0, 4.0], [0.0, 10.0]])


SCALARS = {
    "floats": [1.0, 2.0],
    "float32 and float": [np.float32(1), 2.0],
    "float32 and int": [np.float32(1), 1],
    "int8 and int": [np.int8(1), 2],
    "bool and float": [True, 2.0],
    "bool and float32": [np.True_, np.float32(2)],
    "complex64": [np.float32(1), np.complex64(2)],
    "complex": [np.float32(1), 1j],
    "0-d arrays": [np.array(1, np.float32), np.array(2, np.float32)],
}


@pytest.mark.parametrize("xs", SCALARS.values(), ids=SCALARS.keys())
def test_stack_of_scalars(xs):
    got, want = shape.stack.impl(*xs, axis=0), np.stack(xs)
    np.testing.assert_array_equal(got, want)
    assert got.dtype == want.dtype == shape.stack.abstract_eval(*map(get_aval, xs), axis=0).dtype


BRANCHES = {
    "float32, Python float": (np.ones(2, np.float32), 1.0),
    "Python int, float32": (1, np.ones(2, np.float32)),
    "int8, Python int": (np.ones(2, np.int8), 3),
    "bool, Python int": (np.ones(2, bool), 0),
    "bool, bool": (True, np.zeros(2, bool)),
    "int64, Python float": (np.ones(2, int), 0.5),
    "float32, Python complex": (np.ones(2, np.float32), 1j),
    "float32, float64 scalar": (np.ones(2, np.float32), np.float64(1.0)),
    "Python int, Python float": (1, 0.5),
    "Python float, Python float": (1.5, 0.5),
    "float64 scalar, Python float": (np.float64(1.5), 0.5),
}


@pytest.mark.parametrize("x, y", BRANCHES.values(), ids=BRANCHES.keys())
@pytest.mark.parametrize("c", [np.array([True, False]), True, np.False_], ids=["array", "bool", "bool_"])
def test_where_follows_numpy(c, x, y):
    got, want = select.where(c, x, y), np.where(c, x, y)
    np.testing.assert_array_equal(got, want)
    aval = select.where_p.abstract_eval(get_aval(c), get_aval(x), get_aval(y))
    assert got.dtype == want.dtype == aval.dtype
    assert got.shape == aval.shape


def test_the_branch_not_taken_poisons_nothing():
    f = lambda x: select.where(x > 0, ad.registry["sqrt"](x), 0.0)
    np.testing.assert_array_equal(ad.grad(f)(0.0), 0.0)
    np.testing.assert_array_equal(ad.vmap(ad.grad(f))(np.array([0.0, 4.0])), [0.0, 0.25])


def test_large_broadcasts_are_views_inside_and_copies_outside():
    assert shape.broadcast_to.impl(1.0, shape=(100, 100)).strides == (0, 0)
    total = lambda x: ad.registry["reduce_sum"](x, axes=(0, 1))
    g = ad.grad(total)(np.ones((100, 100)))
    assert g.flags.writeable and g.base is None


WRONG = {
    "reshape": lambda: shape.reshape.abstract_eval(get_aval(X), shape=(5,)),
    "broadcast_to": lambda: shape.broadcast_to.abstract_eval(get_aval(X), shape=(3, 5)),
    "concatenate": lambda: shape.concatenate.abstract_eval(get_aval(X), get_aval(X.T), axis=0),
    "stack": lambda: shape.stack.abstract_eval(get_aval(X), get_aval(X.T), axis=0),
    "axis": lambda: shape.moveaxis(X, 2, 0),
    "axis twice": lambda: shape.canonical_axes((0, -2), 2, "sum"),
    "squeeze": lambda: shape.squeeze(X, 0),
    "split": lambda: rearrange.split(X, 2, 0),
    "diag": lambda: rearrange.diag(C),
    "tril": lambda: rearrange.tril(1.0),
    "diagonal_embed": lambda: rearrange.diagonal_embed_p.abstract_eval(get_aval(X[0]), offset=0, shape=(3, 3)),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG.keys())
def test_errors(call):
    with pytest.raises(errors.ShapeError):
        call()
