"""Functions whose derivatives are right, and hard to check: kinks, bad condition, noise, scales, cancellation, loops.

None of them may be accused at any point; only those marked noisy may be inconclusive often.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import autodidax.numpy as anp
from autodidax import lax, stop_gradient
from autodidax.scipy import linalg, special


@dataclass(frozen=True)
class Correct:
    """A function of this package and the maker of its arguments; `noisy` where its values are rough on purpose."""

    f: Callable[..., Any]
    args: Callable[[np.random.Generator], tuple[Any, ...]]
    noisy: bool = False


def normal(*shapes):
    return lambda rng: tuple(rng.standard_normal(s) for s in shapes)


def uniform(low, high, *shapes):
    return lambda rng: tuple(rng.uniform(low, high, s) for s in shapes)


def scaled(scale, *shapes):
    return lambda rng: tuple(scale * rng.standard_normal(s) for s in shapes)


def single(make):
    """The same arguments in single precision."""

    def args(rng):
        return tuple(a.astype(np.complex64 if a.dtype.kind == "c" else np.float32) for a in make(rng))

    return args


def complex_normal(*shapes):
    return lambda rng: tuple(rng.standard_normal(s) + 1j * rng.standard_normal(s) for s in shapes)


def powers_of_ten(low, high, n, signs=(1,)):
    return lambda rng: (rng.choice(signs, n) * 10.0 ** rng.uniform(low, high, n),)


def orthogonal(rng, n):
    return np.linalg.qr(rng.standard_normal((n, n)))[0]


def conditioned(condition, n, *shapes):
    """A matrix of that condition number, and normal arrays."""

    def args(rng):
        u, v = orthogonal(rng, n), orthogonal(rng, n)
        a = (u * np.geomspace(1, 1 / condition, n)) @ v
        return (a, *(rng.standard_normal(s) for s in shapes))

    return args


def spectrum(*eigenvalues):
    """A symmetric matrix with these eigenvalues."""

    def args(rng):
        q = orthogonal(rng, len(eigenvalues))
        return ((q * np.array(eigenvalues)) @ q.T,)

    return args


def symmetric(a):
    return (a + anp.swapaxes(a, -1, -2)) / 2


APART = np.diag([0.0, 0.013, 0.031, 0.057])  # so that matrices of integers have no equal eigenvalues


def spectral_projector(a):
    """The projector on the eigenvectors of the two smallest eigenvalues, which may lie close together."""
    v = anp.linalg.eigh(symmetric(a) + APART)[1][:, :2]
    return v @ v.T


def smooth_of_eigenvalues(a):
    return anp.sum(anp.tanh(anp.linalg.eigvalsh(symmetric(a))))


def hilbert(x):
    i = np.arange(6)
    return anp.linalg.solve(1 / (i[:, None] + i + 1.0) + anp.diag(x), np.ones(6))


def divergence_of_close(x):
    p, q = special.log_softmax(x), special.log_softmax(x + 1e-4 * np.arange(6))
    return anp.sum(anp.exp(p) * (p - q))


def hashed(x):
    """Rough values in [0, 1) that follow no slope."""
    v = np.sin(np.asarray(x) * 12345.678) * 43758.5453
    return v - np.floor(v)


def noise(x, size):
    """Added to a value, it leaves the derivative as it is."""
    rough = anp.sin(stop_gradient(x) * 1.2345678e9) * 43758.5453
    return size * stop_gradient(rough - anp.floor(rough) - 0.5)


def layer(w, b, x):
    return anp.tanh(x @ w + b)


def classifier(w1, b1, w2, x):
    logits = anp.maximum(x @ w1 + b1, 0) @ w2
    return -anp.mean(special.log_softmax(logits, axis=1)[:, 0])


def attention(q, k, v):
    return special.softmax(anp.einsum("id,jd->ij", q, k) / 2.0, axis=1) @ v


def standardized(x):
    m = anp.mean(x, axis=-1, keepdims=True)
    return (x - m) / anp.sqrt(anp.mean((x - m) ** 2, axis=-1, keepdims=True) + 1e-5)


def recurrent(w, x):
    def step(h, u):
        h = anp.tanh(w @ h + u)
        return h, anp.sum(h)

    return lax.scan(step, np.zeros(3), x)


def newton_root(x):
    return lax.fori_loop(0, 8, lambda i, y: (y + x / y) / 2, x * 0 + 1.0)


def halved_while_large(x):
    return lax.while_loop(lambda y: anp.sum(y * y) > 1.0, lambda y: anp.sin(y) * 0.7, x)


def halved_or_squared(x):
    return lax.cond(anp.sum(x) > 0, lambda y: y / 2, lambda y: y * y, x)


def logistic_map(x):
    for _ in range(12):
        x = 3.7 * x * (1 - x)
    return x


def lorenz(x):
    def rate(s):
        return anp.stack([10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]])

    for _ in range(10):
        k = rate(x)
        x = x + 0.02 * rate(x + 0.01 * k)
    return x


def deep(x):
    for k in range(40):
        x = anp.sin(x) + anp.cos(0.1 * k * x) * 0.5
    return x


def rosenbrock(x):
    return anp.sum(1e4 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def huber(x):
    a = anp.abs(x)
    return anp.where(a <= 1, x * x / 2, a - 0.5)


def replaced(x, v):
    return anp.at(x)[np.array([0, 2])].set(v)


def summed_by_label(x, v):
    return anp.at(x)[np.array([0, 2, 2, 0])].add(v * v)


HILBERT = 1 / (np.arange(8)[:, None] + np.arange(8) + 1.0)

FUNCTIONS: dict[str, Correct] = {
    # kinks
    "absolute value": Correct(lambda x: anp.abs(x - 0.3), normal(6)),
    "absolute value near the kink": Correct(anp.abs, powers_of_ten(-12, 0, 6, (-1, 1))),
    "relu": Correct(lambda x: anp.maximum(x, 0) * x, normal(8)),
    "leaky relu near the kink": Correct(lambda x: anp.where(x > 0, x, 0.1 * x), powers_of_ten(-9, 0, 6, (-1, 1))),
    "maximum along rows": Correct(lambda x: anp.max(x, axis=1), normal((3, 4))),
    "minimum of two": Correct(lambda x, y: anp.minimum(x * x, y), normal(5, 5)),
    "sort": Correct(lambda x: anp.sort(x) * np.arange(6), normal(6)),
    "median": Correct(anp.median, normal(7)),
    "quantile": Correct(lambda x: anp.quantile(x, 0.3), normal(7)),
    "clip": Correct(lambda x: anp.clip(x, -0.5, 0.5), normal(7)),
    "where": Correct(lambda x: anp.where(x > 0.2, anp.sin(x), x * x), normal(6)),
    "where, the other branch undefined": Correct(lambda x: anp.where(x > 0, anp.sqrt(anp.where(x > 0, x, 1)), 0),
        normal(6)),
    "huber": Correct(huber, scaled(2, 6)),
    "sum of absolute values": Correct(lambda x: anp.sum(anp.abs(x)), normal(6)),
    "largest norm": Correct(lambda x: anp.linalg.norm(x, np.inf), normal(5)),
    "sawtooth": Correct(lambda x: anp.remainder(x, 1.0) * x, normal(6)),
    "staircase": Correct(lambda x: x * anp.floor(3 * x), normal(6)),
    "sign times square": Correct(lambda x: anp.sign(x) * x * x, normal(6)),
    "three halves of a distance": Correct(lambda x: anp.abs(x) ** 1.5, powers_of_ten(-6, 0, 5, (-1, 1))),
    "root of positive entries": Correct(anp.sqrt, powers_of_ten(-10, 2, 6)),
    # linear algebra
    "solve, condition 1e8": Correct(anp.linalg.solve, conditioned(1e8, 4, 4)),
    "solve, condition 1e4": Correct(anp.linalg.solve, conditioned(1e4, 4, (4, 2))),
    "inverse, condition 1e6": Correct(anp.linalg.inv, conditioned(1e6, 4)),
    "solve with a Hilbert matrix": Correct(hilbert, powers_of_ten(-8, -6, 6)),
    "cholesky, nearly singular": Correct(lambda a: anp.linalg.cholesky(symmetric(a)), spectrum(1e-8, 0.1, 1.0, 2.0)),
    "eigenvalues, close": Correct(smooth_of_eigenvalues, spectrum(1.0, 1.0 + 1e-7, 2.0, 3.0)),
    "projector on close eigenvectors": Correct(
        spectral_projector, lambda rng: (spectrum(1.0, 1.0 + 1e-4, 2.0, 3.0)(rng)[0] - APART,)),
    "eigenvectors": Correct(lambda a: anp.abs(anp.linalg.eigh(symmetric(a))[1]), spectrum(1.0, 2.0, 3.5, 7.0)),
    "singular values": Correct(lambda a: anp.linalg.svd(a, compute_uv=False), normal((4, 3))),
    "nuclear norm": Correct(lambda a: anp.sum(anp.linalg.svd(a, compute_uv=False)), conditioned(1e5, 3)),
    "determinant, nearly singular": Correct(anp.linalg.det, conditioned(1e6, 4)),
    "log of the determinant": Correct(lambda a: anp.linalg.slogdet(a)[1], conditioned(1e3, 4)),
    "matrix exponential": Correct(linalg.expm, scaled(0.5, (3, 3))),
    "least squares": Correct(lambda a, b: anp.linalg.lstsq(a, b)[0], normal((6, 3), 6)),
    "qr": Correct(lambda a: anp.abs(anp.linalg.qr(a)[1]), normal((3, 3))),
    "pseudoinverse": Correct(anp.linalg.pinv, normal((4, 3))),
    "triangular solve": Correct(lambda a, b: linalg.solve_triangular(a, b, lower=True), conditioned(10, 4, 4)),
    "third power of a matrix": Correct(lambda a: anp.linalg.matrix_power(a, 3), normal((3, 3))),
    "inverse of a Hilbert matrix": Correct(anp.linalg.inv, lambda rng: (HILBERT,), noisy=True),
    "determinant of a Hilbert matrix": Correct(anp.linalg.det, lambda rng: (HILBERT,), noisy=True),
    "solve with an 8 by 8 Hilbert matrix": Correct(
        anp.linalg.solve, lambda rng: (HILBERT, rng.standard_normal(8)), noisy=True),
    "solve with a graded matrix": Correct(
        anp.linalg.solve,
        lambda rng: (np.diag(10.0 ** np.arange(-6, 6, 3)) + 1e-7 * rng.standard_normal((4, 4)),
                     rng.standard_normal(4)), noisy=True),
    "ridge regression": Correct(
        lambda a, b: anp.linalg.solve(a.T @ a + 1e-6 * np.eye(3), a.T @ b), normal((6, 3), 6)),
    # noise
    "noise of 1e-6": Correct(lambda x: anp.sin(x) + noise(x, 1e-6), normal(5), noisy=True),
    "noise of 1e-3": Correct(lambda x: x * x + noise(x, 1e-3), normal(5), noisy=True),
    "noise of 1e-9 in a sum": Correct(lambda x: anp.sum(anp.exp(x)) + noise(anp.sum(x), 1e-9), normal(5), noisy=True),
    "single precision inside": Correct(
        lambda x: anp.exp(x.astype(np.float32)).astype(np.float64), uniform(-1, 1, 5), noisy=True),
    "value a million times its changes": Correct(lambda x: 1e6 + 1e-3 * anp.sin(x), normal(5), noisy=True),
    # scales
    "sine of tiny input": Correct(lambda x: anp.sin(x * 1e8), scaled(1e-8, 5)),
    "logarithm over 16 decades": Correct(anp.log, powers_of_ten(-8, 8, 7)),
    "reciprocal over 16 decades": Correct(lambda x: 1 / x, powers_of_ten(-8, 8, 7, (-1, 1))),
    "square with a tiny factor": Correct(lambda x: 1e-8 * x * x, normal(5)),
    "cosine with a large factor": Correct(lambda x: 1e8 * anp.cos(x), normal(5)),
    "outputs of far scales": Correct(lambda x: (1e8 * anp.sin(x), 1e-8 * anp.cos(x)), normal(4)),
    "arguments of far scales": Correct(
        lambda x, y: anp.sin(x * 1e-8) * anp.cos(y * 1e8),
        lambda rng: (1e8 * rng.standard_normal(4), 1e-8 * rng.standard_normal(4))),
    "rosenbrock": Correct(rosenbrock, normal(5)),
    "narrow bump": Correct(lambda x: anp.exp(-1e4 * x * x), scaled(0.01, 5)),
    "fast oscillation": Correct(lambda x: anp.sin(1000 * x), normal(5)),
    "power": Correct(anp.power, uniform(0.1, 3, 5, 5)),
    "cube of signed entries": Correct(lambda x: x**3, powers_of_ten(-3, 3, 6, (-1, 1))),
    # float32 and complex
    "float32 product of sines": Correct(lambda x: anp.sin(x) * x, single(normal(6))),
    "float32 matmul": Correct(anp.matmul, single(normal((3, 4), (4, 2)))),
    "float32 softmax": Correct(lambda x: special.softmax(x, axis=1), single(normal((3, 4)))),
    "float32 solve": Correct(anp.linalg.solve, single(conditioned(10, 3, 3))),
    "float32 sum of many": Correct(lambda x: anp.sum(anp.tanh(x)), single(normal(5000))),
    "float32 softmax of 100": Correct(special.softmax, single(scaled(5, 100))),
    "float32 softmax of 1000 large": Correct(special.softmax, single(scaled(20, 1000)), noisy=True),
    "float32 softmax, 16 times": Correct(lambda x: special.softmax(16 * x, axis=-1), single(normal((4, 30)))),
    "float32 entropy": Correct(
        lambda x: -anp.sum(special.softmax(x) * special.log_softmax(x)), single(scaled(10, 30))),
    "float32 beside float64": Correct(lambda x, y: x * y,
        lambda rng: (rng.standard_normal(4).astype(np.float32), rng.standard_normal(4))),
    "complex exponential": Correct(lambda z: anp.exp(z * z), complex_normal(4)),
    "modulus": Correct(anp.abs, complex_normal(5)),
    "angle": Correct(anp.angle, complex_normal(5)),
    "complex solve": Correct(anp.linalg.solve, complex_normal((3, 3), 3)),
    "complex root": Correct(anp.sqrt, complex_normal(5)),
    "rotation by a real angle": Correct(lambda x: anp.exp(1j * x), normal(4)),
    "complex64 square": Correct(lambda z: z * anp.conj(z) * z, single(complex_normal(4))),
    # special functions
    "log of gamma": Correct(special.gammaln, uniform(0.1, 10, 6)),
    "digamma": Correct(special.digamma, uniform(0.2, 8, 6)),
    "error function, tails": Correct(lambda x: (special.erf(x), special.erfc(x)), scaled(3, 6)),
    "log of the normal distribution": Correct(special.log_ndtr, uniform(-20, 5, 6)),
    "Bessel functions": Correct(lambda x: special.i0e(x) + special.i1(x), uniform(-3, 3, 5)),
    "log of beta": Correct(special.betaln, uniform(0.5, 5, 5, 5)),
    "sigmoid, saturated": Correct(special.expit, scaled(20, 6)),
    "logsumexp of large entries": Correct(special.logsumexp, scaled(300, 6)),
    "x log y": Correct(special.xlogy, uniform(0.1, 3, 5, 5)),
    # loops
    "scan": Correct(recurrent, normal((3, 3), (5, 3))),
    "loop of Newton steps": Correct(newton_root, uniform(0.5, 4, 4)),
    "cond": Correct(halved_or_squared, normal(4)),
    "cumulative logsumexp": Correct(lambda x: lax.cumlogsumexp(x), normal(5)),
    "logistic map": Correct(logistic_map, uniform(0.1, 0.9, 4)),
    "Lorenz system": Correct(lorenz, normal(3)),
    "forty layers": Correct(deep, normal(4)),
    # cancellation
    "1 - cos over the square": Correct(lambda x: (1 - anp.cos(x)) / x**2, normal(4)),
    "1 - cos over the square of tiny input": Correct(lambda x: (1 - anp.cos(x)) / x**2, scaled(1e-8, 4), noisy=True),
    "exp - 1 by hand": Correct(lambda x: (anp.exp(x) - 1) / x, scaled(1e-5, 5), noisy=True),
    "divergence of softmaxes": Correct(
        lambda x, y: anp.sum(special.softmax(x) * (special.log_softmax(x) - special.log_softmax(y))), scaled(3, 8, 8)),
    "divergence of close softmaxes": Correct(divergence_of_close, normal(6), noisy=True),
    "root of a square plus 1e-20": Correct(
        lambda x: anp.sqrt(x * x + 1e-20), lambda rng: (np.append(0.0, rng.standard_normal(4)),), noisy=True),
    "difference of near numbers": Correct(lambda x: anp.sin((x + 1e6) - 1e6), normal(4), noisy=True),
    "norm of 1e-150": Correct(anp.linalg.norm, scaled(1e-150, 5)),
    # reductions and cancellation
    "mean of 10,000": Correct(lambda x: anp.mean(anp.sin(x) * x), normal(10_000)),
    "product of 30": Correct(anp.prod, uniform(0.5, 1.5, 30)),
    "product with a zero": Correct(anp.prod, lambda rng: (np.append(0.0, rng.uniform(0.5, 1.5, 4)),)),
    "product with two zeros": Correct(anp.prod, lambda rng: (np.append([0.0, 0.0], rng.uniform(0.5, 1.5, 3)),)),
    "cumulative product": Correct(anp.cumprod, normal(6)),
    "variance about a large mean": Correct(anp.var, lambda rng: (1e4 + rng.standard_normal(6),)),
    "standard deviation": Correct(anp.std, normal(6)),
    "1 - cos": Correct(lambda x: (1 - anp.cos(1e-3 * x)) * 1e6, normal(5)),
    "difference of exponentials": Correct(lambda x: (anp.exp(1e-5 * x) - anp.exp(-1e-5 * x)) * 1e5, normal(5)),
    "log of 1 - exp": Correct(lambda x: anp.log1p(-anp.exp(-x)), powers_of_ten(-5, 1, 5)),
    "norm": Correct(anp.linalg.norm, normal(5)),
    "unit vector": Correct(lambda x: x / anp.linalg.norm(x), normal(5)),
    "at a minimum": Correct(lambda x: anp.sum((x - 1) ** 2), lambda rng: (np.ones(4),)),
    "near a minimum": Correct(lambda x: anp.sum(anp.cosh(x)), scaled(1e-7, 4), noisy=True),
    "at zeros": Correct(lambda x: anp.sin(x) * anp.exp(x), lambda rng: (np.zeros(4),)),
    # compositions
    "classifier": Correct(classifier, normal((4, 5), 5, (5, 3), (6, 4))),
    "two layers": Correct(lambda w, b, x: layer(w, b, layer(w, b, x)), normal((3, 3), 3, (2, 3))),
    "attention": Correct(attention, normal((3, 4), (3, 4), (3, 2))),
    "standardized rows": Correct(standardized, normal((3, 5))),
    "cross product": Correct(anp.cross, normal(3, 3)),
    "arctan2 and hypot": Correct(lambda y, x: anp.arctan2(y, x) * anp.hypot(x, y), normal(5, 5)),
    "gather with duplicates": Correct(lambda x: x[np.array([0, 2, 2, 1])] ** 2, normal(4)),
    "replaced entries": Correct(replaced, normal(4, 2)),
    "sums by label": Correct(summed_by_label, normal(3, 4)),
    "tree of arguments": Correct(
        lambda p: {"out": [p["w"] * anp.sin(p["b"][0])], "sum": anp.sum(p["w"])},
        lambda rng: ({"w": rng.standard_normal(3), "b": (rng.standard_normal(3),)},)),
    "integer argument and boolean output": Correct(
        lambda x, n: (x**n, x > 0), lambda rng: (rng.standard_normal(4), int(rng.integers(1, 5)))),
    "identity": Correct(lambda x: x, normal(4)),
    "constant": Correct(lambda x: np.ones(3), normal(4)),
    "broadcast": Correct(lambda x, y: anp.tanh(x * y), normal((3, 1), (1, 4))),
    "0-d": Correct(lambda x: anp.exp(x) / (1 + x * x), lambda rng: (float(rng.standard_normal()),)),
    "empty": Correct(lambda x: anp.sin(x), lambda rng: (np.zeros((0, 3)),)),
}  # fmt: skip
