"""vmap: axes in and out, sizes, keywords, nesting, and collectives over named axes."""

import numpy as np
import pytest

import autodidax as ad
import autodidax.numpy as anp
from autodidax import grad, jit, jvp, lax, vmap
from autodidax.lax import axis_index, pmax, pmean, pmin, psum

B = np.arange(12.0).reshape(4, 3) / 6 - 1
C = np.cos(B.T)  # (3, 4)
X = np.array([1.0, 2.0, 3.0])

# name -> (result, expected)
AXES = {
    "default": (lambda: vmap(lambda a: a * a[0])(B), B * B[:, :1]),
    "second axis of one": (lambda: vmap(lambda a, b: a @ b, (0, 1))(B, C), np.einsum("ij,ji->i", B, C)),
    "negative": (lambda: vmap(lambda a: a * 2, -1)(B), 2 * B.T),
    "negative out": (lambda: vmap(lambda a: a * 2, -1, -1)(B), 2 * B),
    "out 1": (lambda: vmap(lambda a: a * 2, out_axes=1)(B), 2 * B.T),
    "not mapped": (lambda: vmap(lambda a, b: a * b, (0, None))(B, X), B * X),
    "in_axes as list": (lambda: vmap(lambda a, b: a * b, [0, None])(B, X), B * X),
    "one integer for all": (lambda: vmap(lambda a, b: a * b, 1)(B, B), (B * B).T),
    "prefix of a tree": (
        lambda: vmap(lambda d, y: d["a"] + d["b"][0] + y, ({"a": 0, "b": None}, 1))({"a": B, "b": (X,)}, C),
        B + X + C.T,
    ),
    "None leaf": (lambda: vmap(lambda d: d["a"], ({"a": 0, "b": None},))({"a": B, "b": None}), B),
    "keywords": (lambda: vmap(lambda a, *, k: a * k)(B, k=2 * B), 2 * B * B),
    "axis_size": (lambda: vmap(lambda a: a * 2, None, axis_size=5)(X), np.tile(2 * X, (5, 1))),
    "no arguments": (lambda: vmap(lambda: X, axis_size=2)(), np.stack([X, X])),
    "constant output": (lambda: vmap(lambda a: (a, 3.0))(X)[1], np.full(3, 3.0)),
    "out None": (lambda: vmap(lambda a: (a, 3.0), out_axes=(0, None))(X), (X, 3.0)),
    "out tree": (
        lambda: vmap(lambda a: {"p": a, "q": (a * 2, a.sum())}, out_axes={"p": 1, "q": (0, 0)})(B),
        {"p": B.T, "q": (2 * B, B.sum(1))},
    ),
    "nested": (lambda: vmap(vmap(lambda a, b: a * b, (0, None)), (None, 0))(X, X), np.outer(X, X)),
    "nested inner out": (
        lambda: vmap(lambda a: vmap(lambda b: a * b, out_axes=-1)(B))(X),
        np.einsum("i,kj->ijk", X, B),
    ),
    "empty": (lambda: vmap(lambda a: a * 2)(np.ones((0, 3))), np.ones((0, 3))),
    "one row": (lambda: vmap(lambda a: a * 2)(np.ones((1, 3))), np.full((1, 3), 2.0)),
    "mixed dtypes": (lambda: vmap(lambda n, a: a * n)(np.arange(3), X.astype("f4")), (np.arange(3) * X)),
    "integer rows": (lambda: vmap(lambda n: n + 1)(np.arange(3)), np.arange(3) + 1),
    "rows as indices": (lambda: vmap(lambda i: anp.take(X, i))(np.array([2, 0])), X[[2, 0]]),
}


@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", AXES)
def test_axes(name, wrap):
    run, want = AXES[name]
    got = wrap(run)()
    assert ad.tree.structure(got) == ad.tree.structure(want)
    for a, b in zip(ad.tree.leaves(got), ad.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a, b)
        assert np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype


SUM, MEAN = B.sum(0), B.mean(0)
COLLECTIVES = {
    "psum": (lambda a: psum(a, "i"), np.tile(SUM, (4, 1))),
    "normalized": (lambda a: np.exp(a) / psum(np.exp(a), "i"), np.exp(B) / np.exp(B).sum(0)),
    "pmean": (lambda a: a - pmean(a, "i"), B - MEAN),
    "pmax": (lambda a: pmax(a, "i"), np.tile(B.max(0), (4, 1))),
    "pmin": (lambda a: pmin(a, "i"), np.tile(B.min(0), (4, 1))),
    "axis_index": (lambda a: a * axis_index("i"), B * np.arange(4)[:, None]),
    "size": (lambda a: a * psum(1, "i"), 4 * B),
    "of a constant": (lambda a: a + psum(X, "i"), B + 4 * X),
    "tree": (lambda a: psum({"p": a, "q": (a * 2,)}, "i")["q"][0], np.tile(2 * SUM, (4, 1))),
    "in a scan": (lambda a: lax.scan(lambda c, r: (c + psum(r, "i"), c), 0.0, a)[0], np.full(4, SUM.sum())),
    "in a jit": (lambda a: jit(lambda b: b + psum(b, "i"))(a), B + SUM),
    "in a cond": (lambda a: lax.cond(psum(a[0], "i") < 0, lambda: a, lambda: 2 * a), B),
}


@pytest.mark.parametrize("name", COLLECTIVES)
class TestCollectives:
    @pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
    def test_value(self, name, wrap):
        f, want = COLLECTIVES[name]
        np.testing.assert_allclose(wrap(vmap(f, axis_name="i"))(B), want, atol=1e-12)

    def test_derivatives(self, name):
        f = lambda b: np.sum(np.sin(vmap(COLLECTIVES[name][0], axis_name="i")(b)))
        step = 1e-6
        want = np.array([
            (f(B + step * e.reshape(B.shape)) - f(B - step * e.reshape(B.shape))) / (2 * step) for e in np.eye(12)
        ]).reshape(B.shape)  # fmt: skip
        if name in ("pmax", "pmin"):
            want = grad(lambda b: 4 * np.sum(np.sin(b.max(0) if name == "pmax" else b.min(0))))(B)
        for g in (grad(f), jit(grad(f)), lambda b: ad.jacfwd(f)(b), lambda b: grad(jit(f))(b)):
            np.testing.assert_allclose(g(B), want, atol=1e-7)

    def test_second_order(self, name):
        f = lambda b: np.sum(np.sin(vmap(COLLECTIVES[name][0], axis_name="i")(b)))
        np.testing.assert_allclose(jvp(grad(f), (B,), (B,))[1], grad(lambda b: np.sum(grad(f)(b) * B))(B), atol=1e-10)


def test_nested_names():
    f = lambda a: psum(a, "j") + 10 * psum(a, "i") + 100 * psum(a, ("i", "j")) + axis_index("i") - axis_index("j")
    got = vmap(vmap(f, axis_name="i"), axis_name="j")(B)  # j: rows, i: columns
    i, j = np.arange(3)[None], np.arange(4)[:, None]
    np.testing.assert_allclose(got, B.sum(0) + 10 * B.sum(1, keepdims=True) + 100 * B.sum() + i - j)


def test_gradient_inside_of_the_named_axis():
    # each row's own psum: the transpose of psum is psum, as in JAX
    got = vmap(grad(lambda a: np.sum(psum(a**2, "i"))), axis_name="i")(B)
    np.testing.assert_allclose(got, 4 * 2 * B)
    np.testing.assert_allclose(jit(vmap(grad(lambda a: np.sum(psum(a**2, "i"))), axis_name="i"))(B), 8 * B)


def test_an_inner_axis_hides_an_outer_one_of_its_name():
    got = vmap(lambda a: vmap(lambda b: psum(b, "i"), axis_name="i")(a), axis_name="i")(B)
    np.testing.assert_allclose(got, np.repeat(B.sum(1, keepdims=True), 3, axis=1))


def test_one_jit_under_axes_of_different_sizes():
    f = jit(lambda a: a / psum(1.0, "i"))
    assert vmap(f, axis_name="i")(np.ones(2)).tolist() == [0.5, 0.5]
    assert vmap(f, axis_name="i")(np.ones(4)).tolist() == [0.25] * 4


def test_vmap_of_derivatives():
    f = lambda a: np.sum(a**3) * a[0]
    np.testing.assert_allclose(vmap(ad.hessian(f))(B), np.stack([ad.hessian(f)(row) for row in B]))
    np.testing.assert_allclose(grad(lambda b: np.sum(vmap(f)(b)))(B), np.stack([grad(f)(row) for row in B]))
    np.testing.assert_allclose(vmap(lambda a, t: jvp(f, (a,), (t,))[1])(B, B), [jvp(f, (r,), (r,))[1] for r in B])
