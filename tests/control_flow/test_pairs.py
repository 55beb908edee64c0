"""Every control-flow operator inside every other one, with predicates that depend on the values: the laws of the
transforms hold, and rows of a batch that take different ways get their own results."""

import numpy as np
import pytest

import autodidax as ad
import autodidax.numpy as anp
from autodidax import lax
from autodidax.test_util import check_grads

X = np.array([0.3, -0.7, 1.4, 0.9])  # rows take different branches and numbers of steps


def _cond(f):
    return lambda x: lax.cond(x > 0.5, lambda t: f(t) * 2.0, lambda t: f(anp.sin(t)) - t, x)


def _switch(f):
    index = lambda x: anp.asarray(anp.where(x > 1.0, 2, anp.where(x > 0.0, 1, 0)))
    return lambda x: lax.switch(index(x), [lambda t: f(t), lambda t: 0.5 * f(t) + t, lambda t: f(-t) * t], x)


def _while(f):
    def loop(x):
        steps = lax.while_loop(
            lambda s: anp.abs(s[0]) < 2.0, lambda s: (1.5 * s[0] + 0.1 * anp.tanh(f(x)), s[1] + s[0]), (x, x)
        )
        return steps[0] + steps[1]

    return loop


def _fori(f):
    return lambda x: lax.fori_loop(0, 3, lambda i, s: anp.sin(s) + 0.3 * f(s) * (i + 1.0), x)


def _scan(f):
    weights = np.array([0.2, 0.5, -0.4])

    def loop(x):
        carry, ys = lax.scan(lambda c, w: (0.5 * c + w * anp.tanh(f(c)), c * w), x, weights)
        return carry + anp.sum(ys * ys)

    return loop


def _map(f):
    return lambda x: anp.sum(lax.map(lambda w: anp.tanh(f(x * w)), np.array([0.5, 1.0, -1.5]), batch_size=2))


def _associative_scan(f):
    def scanned(x):
        rows = anp.stack([x, 0.5 * f(x), anp.cos(x)])
        return anp.sum(lax.associative_scan(lambda a, b: a * b + 0.0, rows) * np.array([1.0, 2.0, -1.0]))

    return scanned


def _checkpoint(f):
    return ad.checkpoint(lambda x: f(x) * anp.exp(-x * x))


def _root(f):
    """y with y + y**3 / 5 = tanh(f(x)), by Newton's method."""

    def solve(residual, guess):
        step = lambda y: y - residual(y) / (1.0 + 0.6 * y * y)
        return lax.fori_loop(0, 30, lambda i, y: step(y), guess)

    tangent_solve = lambda g, b: b / g(anp.ones_like(b))
    return lambda x: lax.custom_root(
        lambda y: y + y * y * y / 5.0 - anp.tanh(f(x)), anp.zeros_like(x), solve, tangent_solve
    )


def _linear_solve(f):
    def solved(x):
        scale = 1.5 + anp.cos(f(x))
        return lax.custom_linear_solve(
            lambda y: scale * y, x * x, lambda matvec, b: b / matvec(anp.ones_like(b)), symmetric=True
        )

    return solved


OPERATORS = {
    "cond": _cond, "switch": _switch, "while": _while, "fori": _fori, "scan": _scan, "map": _map,
    "associative_scan": _associative_scan, "checkpoint": _checkpoint, "root": _root, "linear_solve": _linear_solve,
}  # fmt: skip
PAIRS = [(a, b) for a in OPERATORS for b in OPERATORS]


def nested(outer, inner):
    return OPERATORS[outer](OPERATORS[inner](lambda t: anp.sin(t) + 0.5 * t * t))


@pytest.mark.parametrize(("outer", "inner"), PAIRS, ids=lambda s: s)
def test_pairs(outer, inner):
    f = nested(outer, inner)
    rows = [f(x) for x in X]
    derivatives = [ad.grad(f)(x) for x in X]
    second = [ad.grad(ad.grad(f))(x) for x in X]
    close = lambda got, want: np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11)
    close([ad.jit(f)(x) for x in X], rows)
    close(ad.vmap(f)(X), rows)
    close(ad.jit(ad.vmap(f))(X), rows)
    close(ad.vmap(ad.jit(f))(X), rows)
    close([ad.jvp(f, (x,), (1.0,))[1] for x in X], derivatives)
    close(ad.vmap(ad.grad(f))(X), derivatives)
    close(ad.jit(ad.vmap(ad.grad(f)))(X), derivatives)
    close(ad.grad(lambda xs: anp.sum(ad.vmap(f)(xs)))(X), derivatives)
    close(ad.grad(lambda xs: anp.sum(ad.jit(ad.vmap(f))(xs)))(X), derivatives)
    close([ad.linearize(f, x)[1](1.0) for x in X], derivatives)
    close(ad.vmap(lambda x: ad.jvp(ad.grad(f), (x,), (1.0,))[1])(X), second)
    close(ad.jit(ad.vmap(ad.grad(ad.jit(ad.grad(f)))))(X), second)


@pytest.mark.parametrize(("outer", "inner"), PAIRS, ids=lambda s: s)
def test_derivatives_of_pairs(outer, inner):
    f = nested(outer, inner)
    for x in X[:2]:
        assert not check_grads(f, (x,), order=2, points="given").inconclusive


def test_map_in_batches():
    xs = np.arange(14.0).reshape(7, 2)
    f = lambda x: {"a": anp.sin(x) * 2.0, "b": anp.sum(x)}
    want = lax.map(f, xs)
    for size in (1, 2, 3, 7, 10):
        got = ad.jit(lambda xs, size=size: lax.map(f, xs, batch_size=size))(xs)
        for name in ("a", "b"):
            np.testing.assert_allclose(got[name], want[name], rtol=1e-14)
            np.testing.assert_allclose(lax.map(f, xs, batch_size=size)[name], want[name], rtol=1e-14)
    assert lax.map(f, xs[:0], batch_size=2)["a"].shape == (0, 2)
    with pytest.raises(ad.errors.ArgumentError, match="batch_size"):
        lax.map(f, xs, batch_size=0)
