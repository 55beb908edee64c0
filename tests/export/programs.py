"""Functions of every kind that a program may hold, each with its arguments."""

from collections import OrderedDict

import numpy as np

import autodidax as ad
import autodidax.numpy as anp
from autodidax import lax
from autodidax.control_flow.ode import odeint
from autodidax.scipy import linalg, special
from autodidax.transforms.checkpoint_policies import dots_saveable

X = np.array([0.5, 1.0, 2.0])
A = np.array([[3.0, 0.5, 0.2], [0.5, 2.0, 0.1], [0.2, 0.1, 4.0]])
K = np.array([2, 0, 0])


@ad.custom_jvp
def tilted(x):
    return anp.sin(x)


tilted.defjvp(lambda primals, tangents: (tilted(*primals), 3.0 * tangents[0] * anp.cos(tilted(primals[0]))))


@ad.custom_vjp
def scaled(x, n):
    return anp.sin(x) * n, n


scaled.defvjp(lambda x, n: (scaled(x, n), (x, n)), lambda kept, cts: (7.0 * cts[0] * anp.cos(kept[0]), None))


def root(x):
    solve = lambda f, guess: lax.fori_loop(0, 30, lambda i, y: y - f(y) / (1.0 + 3.0 * y * y), guess)
    return lax.custom_root(lambda y: y + y**3 - x, 0.1 * x, solve, lambda g, b: b / g(anp.ones_like(b)))


def solved(a, b):
    matvec = lambda v: a @ v
    return lax.custom_linear_solve(
        matvec, b, lambda mv, rhs: anp.linalg.solve(a, rhs), lambda mv, rhs: anp.linalg.solve(a.T, rhs)
    )


def flow(y, k):
    return odeint(lambda y, t, k: -k * y + np.sin(t), y, np.array([0.0, 0.4, 1.0]), k, rtol=1e-6, atol=1e-6)


def shared(x):
    f = ad.jit(lambda v: anp.sin(v) * 2.0)
    return f(x) + f(2.0 * x) + f(f(x))


def stepped(x, n):
    return lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * anp.cos(s[1])), (0, x))[1]


# name -> function, arguments
PROGRAMS = {
    "a chain": (lambda x: anp.tanh(2.0 * x) / (1 + x**2), X),
    "float32": (lambda x: x * 2.5 + anp.exp(x), X.astype(np.float32)),
    "float16": (lambda x: x * 2.5, X.astype(np.float16)),
    "complex": (lambda z: anp.conj(z) * (1 + 2j), X + 1j * X),
    "big-endian": (lambda x: x * 2.0 + 1.0, X.astype(">f8")),
    "integers and booleans": (lambda k, m: anp.where(m, k * 3, ~k), K, K > 0),
    "literals": (lambda x: (x + np.nan, x * np.inf, x * -0.0, x - 1e-320, x + np.float32(0.1), x * True, x + 2**40), X),
    "Python scalars": (lambda x, n, z: x * n + z, 1.5, 2, 1j),
    "no operands": (lambda: (X, 2.0, np.float32(3)),),
    "an unused argument": (lambda x, y: x, X, X),
    "constants": (lambda x: x @ A + X[K], X),
    "empty": (lambda x: anp.sum(x * np.zeros((0, 3)), axis=0), np.zeros((0, 3))),
    "a Fortran array": (lambda x: x * np.asfortranarray(A[:2]), A[:2]),
    "trees": (
        lambda p, *rest: {"out": (p["w"] * rest[0][0], None), "more": {3: OrderedDict(b=p["b"], a=rest[0][1])}},
        {"w": X, "b": 2.0},
        [X, X],
    ),
    "indexing": (lambda x, k: (x[1:, None], x[k], x[::-2], x[..., 0], anp.at(x)[k].add(2.0), x[None, -1]), X, K),
    "matrices": (lambda a, b: (anp.linalg.solve(a, b), anp.linalg.cholesky(a), anp.linalg.eigh(a)[0]), A, X),
    "SciPy": (lambda a, x: (linalg.expm(a), special.gammaln(x), special.erf(x)), 0.1 * A, X),
    "fft": (lambda x: (anp.fft.rfft(x), anp.fft.ifft(x, norm="ortho")), X),
    "einsum and sort": (lambda a, x: (anp.einsum("ij,j->i", a, x), anp.sort(x), anp.argmax(x)), A, X),
    "casts": (lambda x: x.astype(np.float32).astype(complex), X),
    "nested jit": (lambda x: ad.jit(lambda y: ad.jit(anp.sin)(y) * 2.0)(x) + 1.0, X),
    "a shared program": (shared, X),
    "scan": (lambda x: lax.scan(lambda c, r: (c * anp.cos(r), c + r), 1.0, x), X),
    "reverse scan": (lambda x: lax.scan(lambda c, r: (c * r, anp.sin(c)), 1.0, x, reverse=True)[1], X),
    "while": (stepped, X, 4),
    "fori": (lambda x: lax.fori_loop(0, 5, lambda i, c: c * anp.cos(c + i), x), X),
    "cond": (lambda x: lax.cond(x[0] > 0.7, lambda v: anp.sum(v), lambda v: anp.sum(anp.sin(v)), x), X),
    "switch": (lambda k, x: lax.switch(k, [anp.sin, anp.cos, lambda v: v * v], x), 1, X),
    "vmap inside": (lambda a: ad.vmap(lambda r: r / lax.psum(r, "i"), axis_name="i")(a), A),
    "checkpoint": (ad.checkpoint(lambda x: anp.sin(anp.sin(x))), X),
    "checkpoint with a policy": (
        ad.checkpoint(lambda x: anp.sin(anp.sin(x @ A)), policy=dots_saveable),
        X,
    ),
    "names": (lambda x: ad.checkpoint_name(anp.sin(x), "wave") * x, X),
    "a root": (root, X),
    "a linear solve": (solved, A, X),
    "an ODE": (flow, X, 0.7),
    "custom_jvp": (lambda x: tilted(x) * x, X),
    "custom_vjp": (lambda x: scaled(x, 3)[0] * x, X),
    "custom rules by rows": (lambda x: ad.vmap(lambda r: tilted(r) + scaled(r, 2)[0])(x), X),
    "custom rules in a loop": (lambda x: lax.scan(lambda c, r: (tilted(c * r), scaled(c, 2)[0]), 1.0, x), X),
    "a gradient": (ad.grad(lambda x: anp.sum(anp.maximum(anp.sin(x), 0.3) ** 2)), X),
    "a gradient of a while": (ad.grad(lambda x: anp.sum(ad.jit(stepped)(x, 3))), X),
    "a Hessian": (ad.hessian(lambda x: anp.prod(anp.sin(x))), X),
    "a gradient of a scan": (ad.grad(lambda x: lax.scan(lambda c, r: (c * anp.cos(r), c), 1.0, x)[0]), X),
}


def same(got, want):
    """Whether two trees of values are equal bit for bit, dtypes and types included."""
    leaves, treedef = ad.tree.flatten(got)
    others, other_treedef = ad.tree.flatten(want)
    return treedef == other_treedef and all(
        type(a) is type(b)
        and np.asarray(a).dtype == np.asarray(b).dtype
        and np.shape(a) == np.shape(b)
        and np.asarray(a).tobytes() == np.asarray(b).tobytes()
        for a, b in zip(leaves, others, strict=True)
    )


def pulled(f, args):
    """Cotangents of the inexact arguments, for cotangents of ones."""
    leaves, treedef = ad.tree.flatten(args)
    on = [k for k, x in enumerate(leaves) if np.asarray(x).dtype.kind in "fc"]

    def of_inexact(*values):
        full = list(leaves)
        for k, v in zip(on, values, strict=True):
            full[k] = v
        return f(*treedef.unflatten(full))

    out, pull = ad.vjp(of_inexact, *[leaves[k] for k in on])
    return pull(ad.tree.map(lambda y: np.ones_like(y) if np.asarray(y).dtype.kind in "fc" else None, out))
