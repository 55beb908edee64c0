"""Checks of one primitive at one sample, for the tables of this folder: each returns nothing and asserts."""

import itertools

import numpy as np

import autodidax as ad
from autodidax.core.interpreters import get_aval
from autodidax.core.jaxpr import eval_jaxpr
from autodidax.transforms.stage import stage

STEP = 1e-5


def samples_of(*primitives):
    """(primitive, sample) for all samples, with ids for pytest."""
    pairs = [(p, s) for p in primitives for s in p.samples(np.random.default_rng(0))]
    return dict(argvalues=pairs, ids=[f"{p.name}-{k}-{s.name or 'shape'}" for k, (p, s) in enumerate(pairs)])


def _dtype(x):
    return np.asarray(x).dtype


def _inexact(x):
    return _dtype(x).kind in "fc"


def _direction(rng, x):
    d = rng.normal(size=np.shape(x))
    if _dtype(x).kind == "c":
        d = d + 1j * rng.normal(size=np.shape(x))
    return np.asarray(d).astype(_dtype(x))[()]


def as_function(p, sample):
    """The primitive as a function of its inexact operands, and those."""
    active = [k for k, a in enumerate(sample.args) if _inexact(a)]

    def f(*xs):
        args = list(sample.args)
        for k, x in zip(active, xs, strict=True):
            args[k] = x
        return p(*args, **sample.params)

    return f, tuple(np.asarray(sample.args[k])[()] for k in active)


def check_aval(p, sample):
    """abstract_eval says what impl gives, and impl changes no operand."""
    before = [np.array(a) for a in sample.args]
    out = p.impl(*sample.args, **sample.params)
    aval = p.abstract_eval(*map(get_aval, sample.args), **sample.params)
    assert (aval.shape, aval.dtype) == (np.shape(out), _dtype(out))
    for a, b in zip(sample.args, before, strict=True):
        np.testing.assert_array_equal(a, b)


def check_staged(p, sample):
    """The staged program gives the eager result."""
    closed, _ = stage(lambda *xs: [p(*xs, **sample.params)], [get_aval(a) for a in sample.args])
    (got,) = eval_jaxpr(closed.jaxpr, closed.consts, *sample.args)
    want = p.impl(*sample.args, **sample.params)
    np.testing.assert_array_equal(got, want)
    assert _dtype(got) == _dtype(want)


def check_vmap(p, sample):
    """vmap is the loop over rows, whichever operands are mapped."""
    rng = np.random.default_rng(1)
    size = 3
    for mapped in itertools.product([False, True], repeat=len(sample.args)):
        if not any(mapped):
            continue
        batches = [
            np.stack([_another(rng, a) for _ in range(size)]) if m else a
            for a, m in zip(sample.args, mapped, strict=True)
        ]
        axes = tuple(0 if m else None for m in mapped)
        got = ad.vmap(lambda *xs: p(*xs, **sample.params), in_axes=axes)(*batches)
        rows = [[b[k] if m else b for b, m in zip(batches, mapped, strict=True)] for k in range(size)]
        want = np.stack([p.impl(*row, **sample.params) for row in rows])
        np.testing.assert_allclose(got, want, rtol=1e-6 if _dtype(want).itemsize < 8 else 1e-13, err_msg=str(mapped))
        assert got.dtype == want.dtype


def _another(rng, a):
    """A value of the same kind: other numbers, or the same integers in another order (so they stay in bounds)."""
    if _inexact(a):
        return (np.asarray(a) * rng.uniform(0.5, 1.5, np.shape(a))).astype(_dtype(a))
    return rng.permutation(np.ravel(a)).reshape(np.shape(a)).astype(_dtype(a))


def check_derivatives(p, sample, order=2):
    """jvp against central differences, vjp against jvp, and both again for the derivative; dtypes are kept."""
    f, xs = as_function(p, sample)
    if not _inexact(f(*xs)):
        return
    check_function(f, xs, order, smooth=not sample.nonsmooth)


def check_function(f, xs, order=2, smooth=True):
    """The derivatives of any function of inexact arrays, to an order."""
    rng = np.random.default_rng(2)
    ts = tuple(_direction(rng, x) for x in xs)
    out, t_out = ad.jvp(f, xs, ts)
    np.testing.assert_array_equal(out, f(*xs))
    assert (np.shape(t_out), _dtype(t_out)) == (np.shape(out), _dtype(out))
    low = any(_dtype(x).itemsize // (1 + (_dtype(x).kind == "c")) < 8 for x in (*xs, out))
    if smooth and not low:
        ahead = f(*[x + STEP * t for x, t in zip(xs, ts, strict=True)])
        behind = f(*[x - STEP * t for x, t in zip(xs, ts, strict=True)])
        there = np.isfinite(out)
        difference = np.subtract(ahead, behind, where=there, out=np.zeros_like(out))
        np.testing.assert_allclose(np.where(there, t_out, 0), difference / (2 * STEP), rtol=1e-6, atol=1e-7)
    out_again, pull = ad.vjp(f, *xs)
    np.testing.assert_array_equal(out_again, out)
    ct = _direction(rng, out)
    gs = pull(ct)
    for g, x in zip(gs, xs, strict=True):
        assert (np.shape(g), _dtype(g)) == (np.shape(x), _dtype(x))
    forward = np.sum(ct * t_out)
    reverse = sum(np.sum(g * t) for g, t in zip(gs, ts, strict=True))
    if all(_dtype(x).kind != "c" for x in xs):
        forward, reverse = np.real(forward), np.real(reverse)
    mixed = any(_dtype(x).kind != "c" for x in xs) and any(_dtype(x).kind == "c" for x in xs)
    if not mixed:
        np.testing.assert_allclose(reverse, forward, rtol=2e-4 if low else 1e-9, atol=1e-4 if low else 1e-10)
    if order > 1:
        real = all(_dtype(x).kind == "f" for x in (*xs, out))
        check_function(lambda *ys: ad.jvp(f, ys, ts)[1], xs, order - 1, smooth)
        if real:
            check_function(lambda *ys: _joined(ad.vjp(f, *ys)[1](ct)), xs, order - 1, smooth)


def _joined(gs):
    total = 0.0
    for k, g in enumerate(gs):
        total = total + (k + 1.0) * ad_sum(g)
    return total


def ad_sum(g):
    """A weighted sum of all entries, written for tracers."""
    shape = g.shape
    weights = np.cos(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(g.dtype)
    return ad.registry["reduce_sum"](g * weights, axes=tuple(range(len(shape))))
