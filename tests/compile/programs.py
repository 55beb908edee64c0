"""Programs to try the compiler on: those of the law tests, with their gradients, and some for its special cases."""

import warnings
from collections.abc import Iterator

import numpy as np

import autodidax as ad
import autodidax.numpy as anp
from tests.laws.programs import random_program
from tests.laws.regions import TABLES


def staged(f, *args):
    """A function's program, of flat arguments and results."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return ad.make_jaxpr(f)(*args)


def total(program, places):
    """The sum of the real results of a program, as a function of its floating arguments."""

    def f(xs, *rest):
        args = list(rest)
        for k, x in zip(places, xs, strict=True):
            args.insert(k, x)
        return sum((anp.sum(anp.real(y)) for y in program(*args)), 0.0)

    return f


def random_programs(seeds) -> Iterator[tuple[int, object, list]]:
    """(seed, program, arguments): each random program, and where it has real arguments its value and gradient."""
    for seed in seeds:
        rng = np.random.default_rng((seed, 77))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            builder, inputs = random_program(rng, TABLES)
        program = builder.program
        yield seed, staged(program, *inputs), list(inputs)
        places = [k for k, x in enumerate(inputs) if np.asarray(x).dtype.kind == "f"]
        if places:
            rest = [x for k, x in enumerate(inputs) if k not in places]
            xs = [inputs[k] for k in places]
            gradient = ad.value_and_grad(total(program, places))
            yield seed, staged(gradient, xs, *rest), [*xs, *rest]


def lorenz(p, s):
    for _ in range(4):
        x, y, z = s[0], s[1], s[2]
        s = s + 0.01 * np.stack([p[0] * (y - x), x * (p[1] - z) - y, x * y - p[2] * z])
    return np.sum(s * s)


def small_mixture(x):
    y = np.where(x > 0.5, np.exp(x), np.sqrt(np.abs(x) + 1.0))
    z = np.concatenate([y, x[::-1]]) * 2.0
    return np.sum(np.sin(z) * np.cos(z)) / 3.0 + np.tanh(y[0]) - np.log(y[1]) + y.reshape(3, 1).sum(0)[0]


def layered(x, w):
    for _ in range(3):
        x = np.tanh(x * w + 0.5) - np.where(x > w, x, 0.0) * np.exp(-x * x)
    rows = np.sum(x, axis=1)
    return np.sum(rows * rows) + np.max(x) + np.sum(np.mean(x, axis=0) ** 3)


def reads(x):
    y = x * 2.0
    return y[:3] * y[1:4] + y[2:5], np.sum(y[0]) * y


rng = np.random.default_rng(5)
P, S, X3 = np.array([10.0, 28.0, 8 / 3]), np.ones(3), np.array([0.3, -1.2, 0.9])
X, W = rng.normal(size=(6, 5)), rng.normal(size=(6, 1))
V = rng.normal(size=6)

WRITTEN = {
    "scalars": (ad.value_and_grad(lorenz, argnums=(0, 1)), (P, S)),
    "small arrays": (ad.value_and_grad(small_mixture), (X3,)),
    "hessian of small arrays": (ad.hessian(small_mixture), (X3,)),
    "clusters": (ad.value_and_grad(layered, argnums=(0, 1)), (X, W)),
    "hessian of clusters": (ad.hessian(layered), (X[:3, :2], W[:3])),
    "parts": (ad.jacrev(lambda x: reads(x)[0]), (V,)),
    "broadcast parts": (
        lambda x, y: ad.vjp(lambda x, y: x[:2] * 2.0 + np.sum(y * x), x, y)[1](np.ones(2)),
        (V[:3], W[:, :1]),
    ),
    "a part beside more axes": (ad.vmap(ad.grad(lambda x: np.sum(np.stack([x, np.sin(x), x * x])[:2] ** 3) * x)), (V,)),
    "views and results": (lambda x: (x.T, x.T.T, x * 1.0, x, (x + 1.0).T, (x + 1.0)[0]), (X,)),
    "calls": (lambda x: ad.jit(np.sin)(ad.jit(np.sin)(x)) + ad.jit(np.sin)(x), (X,)),
    "constants": (lambda x: x * np.ones(5) + np.arange(5.0) * 2.0 - np.zeros((6, 5)), (X,)),
    "powers of two": (lambda x: x / 4.0 + x / 3.0 - np.negative(np.negative(x)) * -1.0, (X,)),
    "single precision": (ad.value_and_grad(layered, argnums=(0, 1)), (X.astype(np.float32), W.astype(np.float32))),
    "maxima": (ad.grad(lambda x: np.sum(np.maximum(x, 0.0) ** 2 + np.minimum(x, W) * np.clip(x, -1, 1))), (X,)),
}


def written():
    return {name: (staged(f, *args), ad.tree.leaves(args)) for name, (f, args) in WRITTEN.items()}
