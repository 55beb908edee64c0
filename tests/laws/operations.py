"""Tables of operations that random programs are made of: the public functions, operators and methods."""

from typing import Any

import numpy as np

import autodidax as ad
import autodidax.numpy as anp
from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.core.primitive import registry
from autodidax.errors import NondifferentiableError
from autodidax.lax import convert_element_type
from autodidax.scipy import linalg, special
from tests.laws.programs import Builder, fitted, is_array, is_low, is_real, weights


def _deviation(x: Any, axis: int) -> Any:
    """The standard deviation, or the variance along an axis of one entry, where the former is the root of zero."""
    x = x + weights(shape_of(x), dtype_of(x))
    return anp.std(x, axis=axis) if shape_of(x)[axis] > 1 else anp.var(x, axis=axis)


UNARY_REAL = {
    "anp.sin({0})": anp.sin,
    "np.cos({0})": np.cos,
    "np.tanh({0})": np.tanh,
    "anp.arctan({0})": anp.arctan,
    "anp.exp(0.3 * {0})": lambda x: anp.exp(0.3 * x),
    "np.log({0} * {0} + 0.5)": lambda x: np.log(x * x + 0.5),
    "anp.sqrt({0} ** 2 + 0.5)": lambda x: anp.sqrt(x**2 + 0.5),
    "1 / (2 + sin({0}))": lambda x: 1 / (2 + np.sin(x)),
    "{0} ** 3 * 0.1": lambda x: x**3 * 0.1,
    "({0} * {0} + 0.5) ** -1.5": lambda x: (x * x + 0.5) ** -1.5,
    "2.0 ** {0}": lambda x: 2.0**x,
    "abs({0})": abs,
    "-{0}": lambda x: -x,
    "1 - {0}": lambda x: 1 - x,
    "anp.sinh(0.3 * {0})": lambda x: anp.sinh(0.3 * x),
    "special.expit({0})": special.expit,
    "special.erf({0})": special.erf,
    "special.gammaln({0} ** 2 + 1.2)": lambda x: special.gammaln(x**2 + 1.2),
    "special.digamma({0} ** 2 + 1.2)": lambda x: special.digamma(x**2 + 1.2),
    "np.maximum({0}, 0.0)": lambda x: np.maximum(x, 0.0),
    "anp.clip({0}, -0.7, 0.9)": lambda x: anp.clip(x, -0.7, 0.9),
    "anp.where({0} > 0.1, {0}, 0.3 * {0})": lambda x: anp.where(x > 0.1, x, 0.3 * x),
    "anp.where({0} > 0.2, log of it, it)": lambda x: anp.where(x > 0.2, anp.log(anp.where(x > 0.2, x, 1.0)), x),
    "np.sign({0}) * {0}": lambda x: np.sign(x) * x,
    "np.floor({0}) + 0.5 * {0}": lambda x: np.floor(x) + 0.5 * x,
    "anp.logaddexp({0}, 0.3)": lambda x: anp.logaddexp(x, 0.3),
    "anp.expm1(0.5 * {0})": lambda x: anp.expm1(0.5 * x),
    "anp.log1p({0} ** 2)": lambda x: anp.log1p(x**2),
    "np.square({0})": np.square,
    "anp.sinc({0})": anp.sinc,
    "np.remainder({0}, 0.7)": lambda x: np.remainder(x, 0.7),
    "anp.cbrt({0} + 3.0)": lambda x: anp.cbrt(x + 3.0),
    "{0}.astype(float32)": lambda x: convert_element_type(x, np.float32),
    "{0}.astype(float64)": lambda x: convert_element_type(x, np.float64),
    "{0} + 0.3j * {0}": lambda x: x + 0.3j * x,
    "np.exp2({0})": np.exp2,
    "anp.arcsinh({0})": anp.arcsinh,
    "anp.arccosh({0} ** 2 + 1.1)": lambda x: anp.arccosh(x**2 + 1.1),
    "anp.tan(0.3 * {0})": lambda x: anp.tan(0.3 * x),
    "anp.nan_to_num({0})": anp.nan_to_num,
    "special.ndtr({0})": special.ndtr,
    "special.xlogy({0}, {0} ** 2 + 0.5)": lambda x: special.xlogy(x, x**2 + 0.5),
}
UNARY = {
    "anp.sin({0})": anp.sin,
    "np.exp(0.3 * {0})": lambda x: np.exp(0.3 * x),
    "{0} * {0}": lambda x: x * x,
    "np.conj({0})": np.conj,
    "anp.real({0})": anp.real,
    "{0}.imag": lambda x: anp.imag(x),
    "-{0}": lambda x: -x,
    "abs({0})": abs,
    "{0} / (3 + {0} * {0})": lambda x: x / (3 + x * x),
    "np.tanh(0.5 * {0})": lambda x: np.tanh(0.5 * x),
    "0.5 * {0} + 1": lambda x: 0.5 * x + 1,
    "2 * {0}": lambda x: 2 * x,
    "anp.sqrt({0} + 5)": lambda x: anp.sqrt(x + 5),
    "np.log({0} + 5)": lambda x: np.log(x + 5),
    "+{0}": lambda x: +x,
    "{0} ** 2": lambda x: x**2,
}
BINARY_REAL = {
    "np.maximum({0}, {1})": np.maximum,
    "anp.minimum({0}, {1})": anp.minimum,
    "anp.arctan2({0}, {1} ** 2 + 0.5)": lambda x, y: anp.arctan2(x, y**2 + 0.5),
    "np.hypot({0}, {1} ** 2 + 0.1)": lambda x, y: np.hypot(x, y**2 + 0.1),
    "({0} ** 2 + 0.5) ** {1}": lambda x, y: (x**2 + 0.5) ** y,
    "anp.logaddexp({0}, {1})": anp.logaddexp,
    "{0} / (1.5 + {1} ** 2)": lambda x, y: x / (1.5 + y**2),
    "np.where({0} > {1}, {0}, {1} * 0.5)": lambda x, y: np.where(x > y, x, y * 0.5),
    "anp.copysign({0}, {1})": anp.copysign,
    "anp.where({0} < {1}, 1.0, {0})": lambda x, y: anp.where(x < y, 1.0, x),
    "anp.fmax({0}, {1})": anp.fmax,
    "special.betaln({0} ** 2 + 1, {1} ** 2 + 1)": lambda x, y: special.betaln(x**2 + 1, y**2 + 1),
}
BINARY = {
    "{0} + {1}": lambda x, y: x + y,
    "{0} - {1}": lambda x, y: x - y,
    "{0} * {1}": lambda x, y: x * y,
    "np.multiply({0}, {1})": np.multiply,
    "anp.add({0}, {1})": anp.add,
    "{0} / (3 + {1} * {1})": lambda x, y: x / (3 + y * y),
    "{0} * np.conj({1})": lambda x, y: x * np.conj(y),
    "anp.outer({0}, {1})": anp.outer,
}
REDUCE = {
    "np.sum": np.sum,
    "anp.mean": anp.mean,
    "np.prod": lambda x, axis: np.prod(0.7 * x, axis=axis),
}
REDUCE_REAL = {
    "np.max": np.max,
    "anp.min": anp.min,
    "anp.var": anp.var,
    "anp.std(. + weights)": _deviation,
    "log sum exp": lambda x, axis: anp.log(anp.sum(anp.exp(x), axis=axis)),
    "argmax + mean": lambda x, axis: anp.argmax(x, axis=axis) + anp.mean(x, axis=axis),
    "anp.median": anp.median,
    "anp.ptp": anp.ptp,
}
ALONG = {
    "np.cumsum": np.cumsum,
    "anp.flip": anp.flip,
    "anp.roll": lambda x, axis: anp.roll(x, 1, axis=axis),
    "anp.cumprod": lambda x, axis: anp.cumprod(0.8 * x, axis=axis),
    "anp.repeat": lambda x, axis: anp.repeat(x, 2, axis),
    "np.diff": lambda x, axis: np.diff(x, axis=axis),
    "anp.stack twice": lambda x, axis: anp.stack([x, x * 0.5], axis=axis),
    "np.concatenate twice": lambda x, axis: np.concatenate([x, -x], axis=axis),
    "np.expand_dims": np.expand_dims,
    "anp.moveaxis to 0": lambda x, axis: anp.moveaxis(x, axis, 0),
    "anp.swapaxes with -1": lambda x, axis: anp.swapaxes(x, axis, -1),
    "anp.split, second half first": lambda x, axis: anp.concatenate(anp.array_split(x, 2, axis=axis)[::-1], axis=axis),
}
ALONG_REAL = {
    "np.sort": np.sort,
    "argsort and take_along_axis": lambda x, axis: anp.take_along_axis(x, anp.argsort(-x, axis=axis), axis=axis),
    "cumulative maximum": lambda x, axis: np.maximum.accumulate(x, axis=axis),
    "softmax": lambda x, axis: anp.exp(x) / anp.sum(anp.exp(x), axis=axis, keepdims=True),
}
WHOLE = {
    "{0}.T": lambda x: x.T,
    "np.ravel({0})": np.ravel,
    "{0}[None]": lambda x: x[None],
    "{0}[::-1]": lambda x: x[::-1],
    "{0}[..., None]": lambda x: x[..., None],
    "{0}[-1:]": lambda x: x[-1:],
    "np.pad({0}, 1)": lambda x: np.pad(x, 1),
    "anp.tile({0}, 2)": lambda x: anp.tile(x, 2),
    "anp.squeeze({0})": anp.squeeze,
    "anp.atleast_2d({0})": anp.atleast_2d,
    "np.reshape({0}, (-1, 1))": lambda x: np.reshape(x, (-1, 1)),
    "{0}.reshape(-1)": lambda x: x.reshape(-1),
    "anp.broadcast_to({0}, (2, *shape))": lambda x: anp.broadcast_to(x, (2, *shape_of(x))),
    "anp.sum({0} * {0})": lambda x: anp.sum(x * x),
    "anp.vdot({0}, {0})": lambda x: anp.vdot(x, x),
    "anp.array([sum, first axis mean])": lambda x: anp.array([anp.sum(x), 0.5 * anp.sum(x)]),
    "anp.linalg.norm({0} + weights)": lambda x: anp.linalg.norm(anp.ravel(x + 2 * weights(shape_of(x), np.float32))),
}
ROWS = {
    "{0}[0]": lambda x: x[0],
    "{0}[..., 0]": lambda x: x[..., 0],
    "{0}[[0, -1, 0]]": lambda x: x[[0, -1, 0]],
    "np.take({0}, [0, 0, -1], axis=-1)": lambda x: np.take(x, [0, 0, -1], axis=-1),
    "anp.at({0})[0].add({0}[-1])": lambda x: anp.at(x)[0].add(x[-1]),
    "anp.at({0})[0].set(0.5)": lambda x: anp.at(x)[0].set(0.5),
    "anp.at({0})[[0, 0]].add(0.2)": lambda x: anp.at(x)[[0, 0]].add(0.2),
    "anp.at({0})[-1].multiply({0}[0])": lambda x: anp.at(x)[-1].multiply(x[0]),
    "{0}[-1] * {0}": lambda x: x[-1] * x,
}
MATRICES = {
    "solve": lambda a, b: anp.linalg.solve(a, b),
    "inv": lambda a, b: np.linalg.inv(a) @ b,
    "cholesky": lambda a, b: anp.linalg.cholesky(a) @ b,
    "det": lambda a, b: np.linalg.det(a) * b,
    "slogdet": lambda a, b: anp.linalg.slogdet(a)[1] + b,
    "eigvalsh": lambda a, b: anp.linalg.eigvalsh(a) * b,
    "triangular solve": lambda a, b: linalg.solve_triangular(a, b, lower=True),
    "singular values": lambda a, b: anp.linalg.svd(a, compute_uv=False) + b,
    "einsum": lambda a, b: anp.einsum("ij,j->i", a, b),
    "quadratic form": lambda a, b: b @ a @ b,
    "tensordot": lambda a, b: np.tensordot(a, b, axes=1),
    "expm": lambda a, b: linalg.expm(0.3 * a) @ b,
    "qr": lambda a, b: anp.linalg.qr(a)[1] @ b,
    "trace": lambda a, b: np.trace(a) * b,
    "pinv": lambda a, b: anp.linalg.pinv(a) @ b,
    "tril": lambda a, b: anp.tril(a) @ b,
    "diagonal": lambda a, b: np.diagonal(a) * b,
}


def unary(builder: Builder) -> bool:
    k = builder.pick(lambda x: is_inexact(dtype_of(x)))
    if k is None:
        return False
    table = UNARY_REAL if is_real(builder.values[k]) and builder.chance(0.8) else UNARY
    label = builder.choose(list(table))
    return builder.add(label, table[label], k) is not None


def binary(builder: Builder) -> bool:
    k = builder.pick(lambda x: is_inexact(dtype_of(x)))
    if k is None:
        return False
    shape = shape_of(builder.values[k])
    j = builder.pick(lambda y: _broadcasts(shape, shape_of(y)))
    if j is None:
        return False
    real = is_real(builder.values[k]) and is_real(builder.values[j])
    table = BINARY_REAL if real and builder.chance(0.5) else BINARY
    label = builder.choose(list(table))
    if builder.chance(0.15):  # with a constant in place of one operand
        kept = builder.constant(builder.choose([(), (3,), (2, 1), (1,)]), dtype_of(builder.values[k]))
        if _broadcasts(shape, kept.shape) and kept.size:
            return builder.add(label.replace("{1}", "constant"), lambda x: table[label](x, kept), k) is not None
    return builder.add(label, table[label], k, j) is not None


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(m == n or m == 1 or n == 1 for m, n in zip(a[::-1], b[::-1], strict=False)) and len(a) + len(b) < 7


def along_axis(builder: Builder) -> bool:
    k = builder.pick(lambda x: is_array(x) and np.size(x) > 0)
    if k is None:
        return False
    rank = len(shape_of(builder.values[k]))
    axis = int(builder.rng.integers(-rank, rank))
    real = is_real(builder.values[k]) and builder.chance(0.5)
    if builder.chance(0.5) or rank > 3:
        table = REDUCE_REAL if real else REDUCE
    else:
        table = ALONG_REAL if real else ALONG
    label = builder.choose(list(table))
    return builder.add(f"{label}({{0}}, axis={axis})", lambda x: table[label](x, axis=axis), k) is not None


def whole(builder: Builder) -> bool:
    k = builder.pick(lambda x: is_array(x) and len(shape_of(x)) < 4 and np.size(x) < 30)
    if k is None:
        return False
    table = ROWS if builder.chance(0.4) and 0 not in shape_of(builder.values[k]) else WHOLE
    label = builder.choose(list(table))
    return builder.add(label, table[label], k) is not None


def _rows(x: Any, i: Any) -> Any:
    return x[i] if isinstance(x, Tracer) else anp.take(x, i, axis=0)  # a plain array knows nothing of a traced index


def by_integer(builder: Builder) -> bool:
    """Indexing and selection by an integer input, whose values are 0 and 1."""
    k = builder.pick(lambda x: is_array(x) and shape_of(x)[0] > 1)
    j = builder.pick(lambda x: dtype_of(x).kind == "i" and np.all(np.asarray(x) >= 0) and np.all(np.asarray(x) < 2))
    if k is None or j is None:
        return False
    table = {
        "{0}[{1}]": _rows,
        "anp.take({0}, {1}, axis=0)": lambda x, i: anp.take(x, i, axis=0),
        "anp.at({0})[{1}].add(0.5)": lambda x, i: anp.at(x)[i].add(0.5),
        "{0} * sum({1})": lambda x, i: x * anp.sum(i),
        "anp.at({0})[{1}].set({0}[{1}] * 0.3)": lambda x, i: (
            anp.at(x)[i].set(_rows(x, i) * 0.3) if not shape_of(i) else x
        ),
        "anp.where({1} == 1, ...)": lambda x, i: anp.where(anp.sum(i) == 1, x, anp.sin(x)),
        "{0} ** {1}": lambda x, i: x ** anp.max(i),
    }
    label = builder.choose(list(table))
    return builder.add(label, table[label], k, j) is not None


def matrix(builder: Builder) -> bool:
    """Linear algebra on a symmetric positive definite matrix and a vector, both made from values."""
    k = builder.pick(lambda x: is_inexact(dtype_of(x)))
    j = builder.pick(lambda x: is_inexact(dtype_of(x)))
    if k is None or j is None:
        return False
    n = int(builder.rng.integers(1, 4))
    dtype = np.result_type(dtype_of(builder.values[k]), dtype_of(builder.values[j]))
    label = builder.choose(list(MATRICES))
    f = MATRICES[label]
    diagonal = np.diag(np.arange(1.0, n + 1)).astype(dtype)

    def run(x: Any, y: Any) -> Any:
        m = fitted(x, (n, n), dtype)
        return f(m @ anp.conj(m).T + diagonal, fitted(y, (n,), dtype))

    return builder.add(f"{label}(matrix({{0}}), vector({{1}}))", run, k, j) is not None


_SAMPLES: dict[str, list[Any]] = {}
_VARYING: dict[int, list[int]] = {}
#: its derivative is not that of its values, by definition
LEFT_OUT = {"stop_gradient"}


def _samples(name: str) -> list[Any]:
    if name not in _SAMPLES:
        drawn = list(registry[name].samples(np.random.default_rng(5)))
        _SAMPLES[name] = [s for s in drawn if not s.nonsmooth and all(np.all(np.isfinite(a)) for a in s.args)]
    return _SAMPLES[name]


def _varying(p: Any, s: Any) -> list[int]:
    """The operands of a sample in which the primitive has derivatives, of first and second order."""
    if id(s) not in _VARYING:
        inexact = [i for i, a in enumerate(s.args) if is_inexact(dtype_of(a))]
        _VARYING[id(s)] = [i for i in inexact if not _refuses(p, s, i)]
    return _VARYING[id(s)]


def _refuses(p: Any, s: Any, i: int) -> bool:
    def f(x: Any) -> Any:
        out = p(*s.args[:i], x, *s.args[i + 1 :], **s.params)
        return [y for y in (out if p.multiple_results else [out]) if is_inexact(dtype_of(y))]

    x = s.args[i]
    try:
        ad.jvp(lambda x: ad.jvp(f, (x,), (x,))[1], (x,), (x,))
    except NondifferentiableError:
        return True
    return False


def _drawn() -> list[str]:
    """Names of the primitives that are drawn from the registry."""
    ours = [p for p in registry if p.module.startswith("autodidax.") and p.name not in LEFT_OUT and p.checked is True]
    return [p.name for p in ours if not p.higher_order and not p.nondifferentiable]


def from_registry(builder: Builder) -> bool:
    """A primitive on one of its own samples, the operands scaled by a factor that depends on a value."""
    p = registry[builder.choose(_drawn())]
    samples = _samples(p.name)
    k = builder.pick(lambda x: is_inexact(dtype_of(x)))
    if not samples or k is None:
        return False
    s = builder.choose(samples)
    varying = _varying(p, s)
    chosen = [i for i in varying if builder.chance(0.7)] or ([builder.choose(varying)] if varying else [])
    builder.narrows |= any(is_low(a) for a in s.args)

    def run(x: Any) -> Any:
        args = list(s.args)
        for i in chosen:
            a = args[i]
            factor = 1.0 + 0.01 * fitted(x, (), np.finfo(dtype_of(a)).dtype if dtype_of(a).kind == "f" else "f8")
            args[i] = factor * a if dtype_of(a).kind != "c" else anp.astype(factor * a, dtype_of(a))
        out = p(*args, **s.params)
        outs = list(out) if p.multiple_results else [out]
        found = [y for y in outs if is_inexact(dtype_of(y))]
        return found[-1] if found else anp.sum(outs[0]) * anp.sin(x)

    return (
        builder.add(f"{p.name} of sample {s!r}".replace("{", "{{").replace("}", "}}") + " by {0}", run, k) is not None
    )


TABLES = [
    (4.0, unary),
    (3.0, binary),
    (2.0, along_axis),
    (2.0, whole),
    (1.0, by_integer),
    (0.7, matrix),
    (2.5, from_registry),
]


def stopped(builder: Builder) -> bool:
    k = builder.pick(lambda x: is_inexact(dtype_of(x)))
    if k is None:
        return False
    builder.exact = False
    return builder.add("{0} * stop_gradient(sin({0}))", lambda x: x * ad.stop_gradient(anp.sin(x)), k) is not None
