"""Activation functions of neural networks, with rules that keep their digits in both tails and in every order.

They take real operands: integers become floats, and half precision is computed in single precision and rounded. This
module loads scipy.special, so it is imported on first use only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax import errors
from autodidax.core.avals import ShapedArray, broadcast_shapes
from autodidax.core.interpreters import Tracer
from autodidax.core.primitive import Pointwise, Primitive, align_batch, pointwise, sample
from autodidax.primitives.comparison import equal, greater, isinf
from autodidax.primitives.elementwise import absolute, also, clip, divide, exp
from autodidax.primitives.reductions import logsumexp
from autodidax.primitives.select import where
from autodidax.primitives.special.logarithms import expit
from autodidax.primitives.special.normal import ndtr


def _on_reals(f: Callable[..., Any]) -> Callable[..., Any]:
    """f of floating arrays of one dtype, the one that its operands and a Python float promote to."""

    def impl(*operands: Any) -> Any:
        dtype = np.result_type(*operands, 1.0)
        if dtype.kind != "f":
            raise errors.DtypeError(
                f"activation functions take real numbers, not {dtype}",
                mend="apply them to the real and imaginary parts",
            )
        wide = np.float32 if dtype == np.float16 else dtype
        return np.asarray(f(*[np.asarray(x, wide) for x in operands])).astype(dtype, copy=False)[()]

    return impl


def _finite(x: Any) -> Any:
    """x with 0 in the place of infinities: what it is multiplied by is 0 there."""
    infinite = isinf(x)
    if not isinstance(infinite, Tracer) and not np.any(infinite):
        return x
    return where(infinite, 0.0, x)


def _gated(gate: Callable[[Any], Any]) -> Callable[..., Any]:
    """x gate(x), and 0 at -inf."""
    return _on_reals(lambda x: np.maximum(x, np.finfo(x.dtype).min) * gate(x))


_TAILS = sample(np.array([-600.0, -30.0, -3.0, 3.0, 30.0, 600.0]), name="tails")
_AT_INFINITY = sample(np.array([-np.inf, 0.5, np.inf]), nonsmooth=True, name="infinite")

softplus: Pointwise = also(
    pointwise(
        "softplus",
        _on_reals(lambda x: np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))),
        lambda _, x: expit(x),
        module=__name__,
    ),
    _TAILS, _AT_INFINITY,
)  # fmt: skip


def _silu_slope(_, x):
    """s (1 + x (1 - s)) with s = expit(x): nothing cancels but at its root."""
    return expit(x) * (1.0 + _finite(x) * expit(-x))


silu = also(pointwise("silu", _gated(sc.expit), _silu_slope, module=__name__), _TAILS, _AT_INFINITY)

normal_density: Pointwise = also(
    pointwise(
        "normal_density",
        _on_reals(lambda x: np.exp(-0.5 * np.minimum(np.abs(x), 200.0) ** 2) / math.sqrt(2.0 * math.pi)),
        lambda y, x: -(y * _finite(x)),
        module=__name__,
    ),
    _TAILS, _AT_INFINITY,
)  # fmt: skip
gelu_exact = also(
    pointwise(
        "gelu_exact", _gated(sc.ndtr), lambda _, x: ndtr(x) + _finite(x) * normal_density(x), module=__name__
    ),
    sample(np.array([-37.0, -8.0, -2.0, 2.0, 8.0]), name="tails"), _AT_INFINITY,
)  # fmt: skip

_LINEAR, _CUBIC = 2.0 * math.sqrt(2.0 / math.pi), 0.044715
_SATURATED = 40.0  # beyond it the gate of gelu_tanh is 0 or 1, and x**3 does not overflow


def _gelu_gate(x: np.ndarray) -> np.ndarray:
    u = np.clip(x, -_SATURATED, _SATURATED)
    return sc.expit(_LINEAR * (u + _CUBIC * u * u * u))


def _gelu_tanh_slope(_, x):
    """g + x g', where g = (1 + tanh(z))/2 = expit(2 z), which does not cancel on the left."""
    u = clip(x, -_SATURATED, _SATURATED)
    z = _LINEAR * (u + _CUBIC * (u * u * u))
    slope = _LINEAR * (1.0 + 3.0 * _CUBIC * (u * u))
    return expit(z) * (1.0 + u * (expit(-z) * slope))


gelu_tanh = also(
    pointwise("gelu_tanh", _gated(_gelu_gate), _gelu_tanh_slope, module=__name__),
    sample(np.array([-14.0, -6.0, -2.0, 2.0, 6.0, 1e3]), name="tails"), _AT_INFINITY,
)  # fmt: skip


def _mish_gate(x: np.ndarray) -> np.ndarray:
    """tanh(softplus(x)) = s (1 + q)/(1 + q**2) with s = expit(x) and q = 1 - s."""
    q = sc.expit(-x)
    return sc.expit(x) * (1.0 + q) / (1.0 + q * q)


def _mish_gate_slope(_, x):
    s, q = expit(x), expit(-x)
    return 4.0 * s * (q / (1.0 + q * q)) ** 2


mish_gate = also(pointwise("mish_gate", _on_reals(_mish_gate), _mish_gate_slope, module=__name__), _TAILS, _AT_INFINITY)
mish = also(
    pointwise(
        "mish",
        _gated(_mish_gate),
        lambda _, x: mish_gate(x) + _finite(x) * _mish_gate_slope(None, x),
        module=__name__,
    ),
    _TAILS, _AT_INFINITY,
)  # fmt: skip


def _soft_sign(x: np.ndarray) -> np.ndarray:
    bounded = np.clip(x, -np.finfo(x.dtype).max, np.finfo(x.dtype).max)
    return bounded / (1.0 + np.abs(bounded))


soft_sign = also(
    pointwise(
        "soft_sign", _on_reals(_soft_sign), lambda _, x: divide(1.0, 1.0 + absolute(x)) ** 2, module=__name__
    ),
    sample(np.array([-1e9, -40.0, 40.0, 1e9]), name="tails"),
    sample(np.array([0.0, np.inf]), nonsmooth=True, name="at 0, infinite"),
)  # fmt: skip


# celu: x where it is positive, else a expm1(x/a)


def _negative_part(x: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    return np.minimum(x, 0.0) / alpha


expm1_excess: Pointwise = also(
    pointwise("expm1_excess", _on_reals(lambda u: _expm1_excess(u)), lambda _, u: _finite(u) * exp(u), module=__name__),
    sample(np.array([-40.0, -3.0, -1.5, -0.5, -1e-3, 1e-3, 0.5, 1.5]), name="small and large"),
)


def _expm1_excess(u: np.ndarray) -> np.ndarray:
    """u exp(u) - expm1(u), by its series sum (k-1) u**k/k! near 0, where the terms cancel."""
    near = np.abs(u) < 1.0
    v, w = np.where(near, u, 0.0), np.where(near, 1.0, np.maximum(u, -1e3))
    series = np.zeros_like(v)
    for k in range(20, 1, -1):  # Horner's scheme in terms that are each u/k times the last
        series = (k - 1.0) + series * v / (k + 1.0)
    return np.where(near, series * v * v / 2.0, w * np.exp(w) - np.expm1(w))


def _celu_by_x(_, x, alpha):
    return where(greater(x, 0), 1.0, exp(where(greater(x, 0), 0.0, x) / alpha))


def _celu_by_alpha(_, x, alpha):
    return where(greater(x, 0), 0.0, -expm1_excess(where(greater(x, 0), 0.0, x) / alpha))


celu = also(
    pointwise(
        "celu",
        _on_reals(lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(_negative_part(x, alpha)))),
        _celu_by_x, _celu_by_alpha, domain=[(-2.0, 2.0), (0.5, 2.0)], module=__name__,
    ),
    sample(np.array([-50.0, -1e-4, 1e-4, 50.0]), 1.5, name="tails, small"),
    sample(np.array([0.0, 1.0], np.float32), 1.0, nonsmooth=True, name="at 0"),
)  # fmt: skip

# squareplus: (x + r)/2 with r the root of x**2 + b

root_of_square_plus: Pointwise = also(
    pointwise(
        "root_of_square_plus",
        _on_reals(lambda x, b: np.hypot(x, np.sqrt(b))),
        lambda y, x, _b: x / where(equal(y, 0), 1.0, y),
        lambda y, _x, _b: divide(0.5, y),
        domain=[(-2.0, 2.0), (0.5, 4.0)],
        module=__name__,
    ),
    sample(np.array([-1e6, 1e6, 1e-3]), np.array([4.0, 0.0, 4.0]), name="tails"),
)


def _squareplus(x: np.ndarray, b: np.ndarray) -> np.ndarray:
    root = np.hypot(x, np.sqrt(b))
    left = x < 0
    return np.where(left, 0.5 * b / (root + np.where(left, -x, 1.0)), 0.5 * (np.where(left, 0.0, x) + root))


def _slope_of_squareplus(x: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The derivative (1 + x/r)/2 of squareplus, without cancelling on the left; 1/2 where r is 0."""
    largest = 0.25 * np.finfo(x.dtype).max
    x = np.clip(x, -largest, largest)
    root = np.hypot(x, np.sqrt(b))
    return np.where(root == 0, 0.5, _squareplus(x, b) / np.where(root == 0, 1.0, root))


def _squareplus_curvature(_, x, b):
    root = root_of_square_plus(x, b)
    return divide(0.5 * b, root * root * root)


def _squareplus_mixed(_, x, b):
    root = root_of_square_plus(x, b)
    return divide(-0.25 * x, root * root * root)


_SQUAREPLUS_TAILS = sample(np.array([-1e5, -30.0, 30.0, 1e5]), np.array([4.0, 1.0, 4.0, 1.0]), name="tails")
squareplus_slope: Pointwise = also(
    pointwise(
        "squareplus_slope", _on_reals(_slope_of_squareplus), _squareplus_curvature, _squareplus_mixed,
        domain=[(-2.0, 2.0), (0.5, 4.0)], module=__name__,
    ),
    _SQUAREPLUS_TAILS,
)  # fmt: skip
squareplus = also(
    pointwise(
        "squareplus",
        _on_reals(_squareplus),
        lambda _, x, b: squareplus_slope(x, b),
        lambda _, x, b: divide(0.25, root_of_square_plus(x, b)),
        domain=[(-2.0, 2.0), (0.5, 4.0)],
        module=__name__,
    ),
    _SQUAREPLUS_TAILS,
    sample(np.array([0.0, 1.0], np.float32), 4, name="Python scalar"),
)


# log(1 - exp(-x)), and logarithms of means of exponentials


def _reciprocal_expm1(x: np.ndarray) -> np.ndarray:
    decay = np.exp(-np.abs(x))
    positive = decay / -np.expm1(-np.abs(x))
    return np.where(x < 0, -1.0 - positive, positive)


reciprocal_expm1: Pointwise = also(
    pointwise(
        "reciprocal_expm1", _on_reals(_reciprocal_expm1), lambda y, _x: -(y * (1.0 + y)), domain=(0.3, 3.0),
        module=__name__,
    ),
    sample(np.array([1e-6, 1e-2, 40.0, 600.0]), name="small and large"),
)  # fmt: skip


def _log1mexp(x: np.ndarray) -> np.ndarray:
    near = x < math.log(2.0)
    small, large = np.where(near, x, 1.0), np.where(near, 1.0, x)
    return np.where(near, np.log(-np.expm1(-small)), np.log1p(-np.exp(-large)))


log1mexp = also(
    pointwise("log1mexp", _on_reals(_log1mexp), lambda _, x: reciprocal_expm1(x), domain=(0.3, 3.0), module=__name__),
    sample(np.array([1e-6, 1e-2, 40.0, 600.0]), name="small and large"),
)


class LogMeanExp(Primitive):
    """log(mean(exp(x))) over axes, which go, of the entries that are counted: (...), bool[...] -> (...).

    It has the digits of a small result, as logsumexp(x) - log(n) has not. Of no entries it is nan.
    """

    def impl(self, x, counted, *, axes):
        x, counted = np.broadcast_arrays(x, counted)
        if x.dtype.kind != "f":
            x = x.astype(np.float64)
        largest = np.maximum.reduce(x, axis=axes, keepdims=True, where=counted, initial=-np.inf)
        shift = np.where(np.isfinite(largest), largest, x.dtype.type(0))
        below = np.where(counted, x, -np.inf) - shift
        count = np.add.reduce(counted, axis=axes, dtype=x.dtype)
        with np.errstate(all="ignore"):
            excess = np.add.reduce(np.expm1(below), axis=axes, where=counted) / count
            mean = np.add.reduce(np.exp(below), axis=axes) / count
            near = excess > -0.5
            logarithm = np.where(near, np.log1p(np.where(near, excess, 0.0)), np.log(mean))
            return (logarithm.astype(x.dtype) + np.reshape(shift, np.shape(count)))[()]

    def abstract_eval(self, x, counted, *, axes):
        shape = broadcast_shapes(self.name, x.shape, counted.shape)
        dtype = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
        return ShapedArray(tuple(n for k, n in enumerate(shape) if k not in axes), dtype)

    def jvp(self, out, primals, tangents, *, axes):
        x, counted = primals
        terms = where(counted, x, -math.inf)
        return logsumexp.jvp(logsumexp(terms, axes=axes), (terms,), (where(counted, tangents[0], 0),), axes=axes)

    def batch(self, args, dims, *, axes):
        return self(*align_batch(args, dims), axes=tuple(k + 1 for k in axes)), 0

    def samples(self, rng):
        for shape, axes in [((2, 3), (1,)), ((2, 3), (0, 1)), ((2, 3, 4), (0, 2)), ((2, 3), ()), ((0, 3), (1,))]:
            yield sample(rng.normal(size=shape), np.ones(shape, bool), axes=axes)
        counted = np.array([[True, False, True], [False, True, True]])
        yield sample(rng.normal(size=(2, 3)), counted, axes=(1,), name="some")
        yield sample(rng.normal(size=(3,)).astype(np.float32), np.True_, axes=(0,), name="float32")
        yield sample(np.array([1000.0, 1001.0, -1000.0]), np.True_, axes=(0,), name="large")
        yield sample(np.array([1e-9, -2e-9, 3e-9]), np.True_, axes=(0,), name="small")
        yield sample(np.array([[-np.inf, 1.0], [-np.inf, -np.inf]]), np.True_, axes=(1,), nonsmooth=True, name="-inf")


logmeanexp = LogMeanExp("logmeanexp")

__all__ = [
    "celu", "expm1_excess", "gelu_exact", "gelu_tanh", "log1mexp", "logmeanexp", "mish", "mish_gate", "normal_density",
    "reciprocal_expm1", "root_of_square_plus", "silu", "soft_sign", "softplus", "squareplus", "squareplus_slope",
]  # fmt: skip
