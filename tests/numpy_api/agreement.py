"""Checks that tables of calls share: values, derivatives against central differences, vmap, staging."""

import numpy as np

import autodidax
from autodidax import tree


class Case:
    """A call `name(*args, **kwargs)`; `args` at the positions `wrt` are differentiated."""

    def __init__(self, name, *args, wrt=None, label="", **kwargs):
        self.name, self.args, self.kwargs, self.label = name, args, kwargs, label
        self.wrt = tuple(range(len(args))) if wrt is None else wrt
        self.wrt = tuple(k for k in self.wrt if inexact(args[k]))

    def __repr__(self):
        def show(x):
            if isinstance(x, np.ndarray):
                return f"{x.dtype.kind}{list(x.shape)}".replace(" ", "")
            if isinstance(x, list | tuple):
                return f"{type(x).__name__}[{','.join(map(show, x))}]"
            if callable(x):
                return getattr(x, "__name__", type(x).__name__)  # no address: ids are the same in every process
            return str(x).replace(" ", "")[:20]

        parts = [*map(show, self.args), *(f"{k}={show(v)}" for k, v in self.kwargs.items())]
        return f"{self.name}({','.join(parts)}){self.label}"

    def call(self, namespace, args=None):
        function = namespace
        for part in self.name.split("."):
            function = getattr(function, part)
        return function(*(self.args if args is None else args), **self.kwargs)


def inexact(x):
    """Whether an argument holds floating or complex numbers, in nested lists too."""
    leaves = tree.leaves(x)
    return (
        bool(leaves)
        and all(isinstance(v, float | complex | np.ndarray | np.generic) for v in leaves)
        and any(np.asarray(v).dtype.kind in "fc" for v in leaves)
    )


def assert_same(got, want, exact=True):
    """Equal trees of arrays: shapes, dtypes and values (up to rounding unless exact)."""
    got, want = tree.leaves(got), tree.leaves(want)
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert np.shape(g) == np.shape(w)
        assert np.asarray(g).dtype == np.asarray(w).dtype
        if exact:
            np.testing.assert_array_equal(g, w)
        else:
            loose = np.asarray(w).dtype in (np.float32, np.complex64)
            np.testing.assert_allclose(g, w, rtol=1e-4 if loose else 1e-12, atol=1e-5 if loose else 1e-12)


def scalar(out, seed=0):
    """A real number made of all outputs with fixed random weights."""
    rng = np.random.default_rng(seed)
    total = 0.0
    for leaf in tree.leaves(out):
        weights = rng.normal(size=np.shape(leaf))
        kind = np.result_type(leaf).kind
        if kind == "c":
            total = total + (weights * leaf.real).sum() + (rng.normal(size=np.shape(leaf)) * leaf.imag).sum()
        elif kind == "f":
            total = total + (weights * leaf).sum()
    return total


def direction_like(args, seed=1):
    rng = np.random.default_rng(seed)

    def draw(x):
        t = rng.normal(size=np.shape(x))
        if np.asarray(x).dtype.kind == "c":
            t = t + 1j * rng.normal(size=np.shape(x))
        return t if np.shape(x) else (complex(t) if np.asarray(x).dtype.kind == "c" else float(t))

    return tree.map(draw, args)


def central_difference(function, args, direction, step=1e-6):
    """Derivative of a scalar function along a direction."""
    ahead = tree.map(lambda x, t: x + step * t, args, direction)
    behind = tree.map(lambda x, t: x - step * t, args, direction)
    return (function(*ahead) - function(*behind)) / (2 * step)


def inner(gradient, direction):
    """What a gradient says about a direction: Re(sum(g t)), in JAX's convention for complex values."""
    pairs = zip(tree.leaves(gradient), tree.leaves(direction), strict=True)
    return sum(np.sum(np.asarray(g) * np.asarray(t)).real for g, t in pairs)


def check_derivatives(function, args, wrt, rtol=1e-5, atol=1e-7):
    """Forward and reverse mode of scalar(function(*args)) against central differences."""
    args = list(args)
    chosen = tuple(args[k] for k in wrt)

    def loss(*values):
        full = list(args)
        for k, v in zip(wrt, values, strict=True):
            full[k] = v
        return scalar(function(*full))

    direction = direction_like(chosen)
    want = central_difference(loss, chosen, direction)
    _, forward = autodidax.jvp(loss, chosen, direction)
    gradient = autodidax.grad(loss, argnums=tuple(range(len(chosen))))(*chosen)
    np.testing.assert_allclose(forward, want, rtol=rtol, atol=atol)
    np.testing.assert_allclose(inner(gradient, direction), want, rtol=rtol, atol=atol)
    for g, x in zip(tree.leaves(gradient), tree.leaves(chosen), strict=True):
        assert np.shape(g) == np.shape(x)


def check_second_derivatives(function, args, wrt, rtol=1e-4, atol=1e-5):
    """A derivative of the gradient of scalar(function(*args)) along a direction, against central differences."""
    chosen = tuple(args[k] for k in wrt)

    def loss(*values):
        full = list(args)
        for k, v in zip(wrt, values, strict=True):
            full[k] = v
        return scalar(tree.map(lambda y: y * y, function(*full)))

    gradient = autodidax.grad(loss, argnums=tuple(range(len(chosen))))
    direction, probe = direction_like(chosen), direction_like(chosen, seed=2)
    want = central_difference(lambda *xs: inner(gradient(*xs), probe), chosen, direction, step=1e-5)
    _, tangent = autodidax.jvp(gradient, chosen, direction)
    np.testing.assert_allclose(inner(tangent, probe), want, rtol=rtol, atol=atol)


def check_vmap(function, args, wrt, size=3):
    """vmap over copies of the arguments that differ, against the loop."""
    rows = [list(args) for _ in range(size)]
    for n, row in enumerate(rows):
        for k in wrt:
            row[k] = tree.map(lambda x, n=n: np.asarray(x) * (1 + 0.1 * n), row[k])
    batch = [tree.map(lambda *xs: np.stack(xs), *[row[k] for row in rows]) for k in wrt]

    def mapped(*values):
        full = list(args)
        for k, v in zip(wrt, values, strict=True):
            full[k] = v
        return function(*full)

    got = autodidax.vmap(mapped)(*batch)
    want = [function(*row) for row in rows]
    assert_same(got, tree.map(lambda *xs: np.stack(xs), *want), exact=False)


def check_staged(function, args, wrt):
    """make_jaxpr's avals, and the evaluated program, against the eager run."""

    def staged(*values):
        full = list(args)
        for k, v in zip(wrt, values, strict=True):
            full[k] = v
        return function(*full)

    chosen = tuple(args[k] for k in wrt)
    want = staged(*chosen)
    assert_same(autodidax.jit(staged)(*chosen), want, exact=False)
