"""Activation functions, elementwise: (...) -> (...), float32 stays float32 and integers become float64.

At a kink each has one derivative, JAX's but where said otherwise:

| function | kink | first derivative there | second |
|---|---|---|---|
| relu | 0 | 0 | 0 |
| relu6 | 0 and 6 | 0 | 0 |
| leaky_relu | 0 | 1 | 0 |
| elu, celu, selu | 0 | that of the left side: alpha, 1, scale alpha | that of the left side |
| hard_tanh | -1 and 1 | 1 | 0 |
| hard_sigmoid | -3 and 3 | 0 | 0 |
| hard_silu | -3 and 3 | 0 and 1 | 0 |
| sparse_sigmoid | -1 and 1 | 0.25 | 0 |
| sparse_plus | -1 and 1 (of its slope) | 0 and 1 | 0 |
| soft_sign | 0 (of its curvature) | 1 | 0 (JAX: -2) |
"""

from __future__ import annotations

from typing import Any

from autodidax import errors
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.nn.operands import floating, number
from autodidax.numpy import elementwise as anp
from autodidax.numpy.dispatch import axis_of, operand, strong
from autodidax.primitives import activations as _primitives
from autodidax.primitives.comparison import greater, greater_equal, less, less_equal, logical_or
from autodidax.primitives.convert import astype
from autodidax.primitives.elementwise import clip, expm1
from autodidax.primitives.indexing import getitem
from autodidax.primitives.select import where
from autodidax.primitives.special.logarithms import expit, log_expit

# the constants of self-normalizing networks, Klambauer et al. 2017
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def _half_kept(f: Any, x: Any) -> Any:
    """A function of SciPy in the dtype of its operand, half precision included."""
    return astype(f(x), dtype_of(x))


def identity(x: Any) -> Any:
    """x itself. Source: jax.nn.identity."""
    return strong(operand(x))


def relu(x: Any) -> Any:
    """max(x, 0), with derivative 0 at 0; integers stay integers. Source: jax.nn.relu.

    >>> import autodidax
    >>> float(autodidax.grad(relu)(0.0)), float(autodidax.grad(relu)(2.0))
    (0.0, 1.0)
    """
    x = number("relu", x)
    return where(less_equal(x, 0), 0, x)


def relu6(x: Any) -> Any:
    """min(max(x, 0), 6). Source: jax.nn.relu6."""
    x = floating("relu6", x)
    return where(less_equal(x, 0), 0.0, where(greater_equal(x, 6), 6.0, x))


def leaky_relu(x: Any, negative_slope: Any = 0.01) -> Any:
    """x where it is not negative, else negative_slope x. Source: jax.nn.leaky_relu."""
    x = floating("leaky_relu", x)
    return where(less(x, 0), negative_slope * x, x)


def hard_tanh(x: Any) -> Any:
    """x clipped to [-1, 1]; integers stay integers. Source: jax.nn.hard_tanh."""
    x = number("hard_tanh", x)
    return where(greater(x, 1), 1, where(less(x, -1), -1, x))


def hard_sigmoid(x: Any) -> Any:
    """relu6(x + 3)/6. Source: jax.nn.hard_sigmoid."""
    return relu6(floating("hard_sigmoid", x) + 3.0) / 6.0


def hard_silu(x: Any) -> Any:
    """x relu6(x + 3)/6. Source: jax.nn.hard_silu."""
    x = floating("hard_silu", x)
    off, on = less_equal(x, -3.0), greater_equal(x, 3.0)
    between = where(logical_or(off, on), 0.0, x)
    return where(off, 0.0, where(on, x, between * (between + 3.0) / 6.0))


hard_swish = hard_silu


def sparse_plus(x: Any) -> Any:
    """0 up to -1, (x + 1)**2/4 between, x from 1 on. Source: jax.nn.sparse_plus."""
    x = floating("sparse_plus", x)
    outside = logical_or(less_equal(x, -1.0), greater_equal(x, 1.0))
    between = where(outside, 0.0, x) + 1.0
    return where(less_equal(x, -1.0), 0.0, where(greater_equal(x, 1.0), x, between * between * 0.25))


def sparse_sigmoid(x: Any) -> Any:
    """0 up to -1, (x + 1)/2 between, 1 from 1 on: the derivative of sparse_plus. Source: jax.nn.sparse_sigmoid."""
    return 0.5 * clip(floating("sparse_sigmoid", x) + 1.0, 0.0, 2.0)


def sigmoid(x: Any) -> Any:
    """1/(1 + exp(-x)). Source: jax.nn.sigmoid."""
    return _half_kept(expit, floating("sigmoid", x))


def log_sigmoid(x: Any) -> Any:
    """log(sigmoid(x)) = -softplus(-x). Source: jax.nn.log_sigmoid."""
    return _half_kept(log_expit, floating("log_sigmoid", x))


def softplus(x: Any) -> Any:
    """log(1 + exp(x)). Source: jax.nn.softplus."""
    return _primitives.softplus(floating("softplus", x))


def silu(x: Any) -> Any:
    """x sigmoid(x), also called swish. Source: jax.nn.silu."""
    return _primitives.silu(floating("silu", x))


swish = silu


def mish(x: Any) -> Any:
    """x tanh(softplus(x)). Source: jax.nn.mish."""
    return _primitives.mish(floating("mish", x))


def gelu(x: Any, approximate: bool = True) -> Any:
    """x times the normal distribution function, by default in its approximation with tanh. Source: jax.nn.gelu.

    The left tail keeps its digits in either form, which 1 + tanh does not.
    """
    x = floating("gelu", x)
    return _primitives.gelu_tanh(x) if approximate else _primitives.gelu_exact(x)


def elu(x: Any, alpha: Any = 1.0) -> Any:
    """x where it is positive, else alpha (exp(x) - 1). Source: jax.nn.elu."""
    x = floating("elu", x)
    positive = greater(x, 0)
    return where(positive, x, alpha * expm1(where(positive, 0.0, x)))


def celu(x: Any, alpha: Any = 1.0) -> Any:
    """x where it is positive, else alpha (exp(x/alpha) - 1). Source: jax.nn.celu."""
    return _primitives.celu(floating("celu", x), alpha)


def selu(x: Any) -> Any:
    """elu with the alpha and the scale of self-normalizing networks. Source: jax.nn.selu."""
    return _SELU_SCALE * elu(x, _SELU_ALPHA)


def soft_sign(x: Any) -> Any:
    """x/(1 + |x|). Source: jax.nn.soft_sign."""
    return _primitives.soft_sign(floating("soft_sign", x))


def squareplus(x: Any, b: Any = 4) -> Any:
    """(x + sqrt(x**2 + b))/2, for b not negative; relu, smoothed. Source: jax.nn.squareplus."""
    return _primitives.squareplus(floating("squareplus", x), b)


def log1mexp(x: Any) -> Any:
    """log(1 - exp(-x)) for x >= 0, nan for negative x. Source: jax.nn.log1mexp."""
    return _primitives.log1mexp(floating("log1mexp", x))


def tanh(x: Any) -> Any:
    """Hyperbolic tangent. Source: jax.nn.tanh."""
    return anp.tanh(x)


def glu(x: Any, axis: int = -1) -> Any:
    """The first half of x along an axis times the sigmoid of the second: (..., 2 n, ...) -> (..., n, ...).

    Source: jax.nn.glu.

    Raises
    ------
    ShapeError : where the axis has an odd size.
    """
    x = floating("glu", x)
    shape = shape_of(x)
    k = axis_of(axis, len(shape))
    if shape[k] % 2:
        raise errors.ShapeError(
            f"glu splits axis {axis} of shape {shape} into halves, and its size is odd",
            mend="give an axis of even size, axis=...",
        )
    half = shape[k] // 2
    before = (slice(None),) * k
    return getitem(x, (*before, slice(half))) * sigmoid(getitem(x, (*before, slice(half, None))))


__all__ = [
    "celu", "elu", "gelu", "glu", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh", "identity", "leaky_relu",
    "log1mexp", "log_sigmoid", "mish", "relu", "relu6", "selu", "sigmoid", "silu", "soft_sign", "softplus",
    "sparse_plus", "sparse_sigmoid", "squareplus", "swish", "tanh",
]  # fmt: skip
