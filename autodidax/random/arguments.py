"""What the arguments of the samplers mean: shapes, dtypes, parameters."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import broadcast_shapes
from autodidax.core.interpreters import Tracer, ValueTracer, dtype_of, shape_of
from autodidax.numpy.dispatch import operand
from autodidax.primitives.convert import astype
from autodidax.primitives.random_bits import discrete_parameter
from autodidax.primitives.shape import broadcast_to
from autodidax.transforms.boundary import described

FLOAT = np.dtype(np.float64)
INT = np.dtype(np.int64)
Shape = tuple[int, ...]


def shape_argument(name: str, shape: Any, what: str = "shape") -> Shape:
    """A shape as a tuple of non-negative integers."""
    if type(shape) is tuple and all(type(n) is int and n >= 0 for n in shape):
        return shape
    if isinstance(shape, Tracer) or (isinstance(shape, tuple | list) and any(isinstance(n, Tracer) for n in shape)):
        raise errors.ConcretizationTypeError(
            f"{name}: {what} is traced, and must be known", mend=f"make {what} static, e.g. by static_argnums of jit"
        )
    if isinstance(shape, int | np.integer):
        raise errors.ShapeError(f"{name}: {what}={shape} is no tuple", mend=f"write {what}=({shape},)")
    try:
        sizes = tuple(operator.index(n) for n in shape)
    except TypeError:
        raise errors.ShapeError(
            f"{name}: {what} is a tuple of integers, got {shape!r}", mend=f"write {what}=(2, 3), or () for one number"
        ) from None
    if min(sizes, default=0) < 0:
        raise errors.ShapeError(f"{name}: {what}={sizes} has a negative size", mend="give sizes of 0 or more")
    return sizes


def size_argument(name: str, what: str, n: Any) -> int:
    """A size that has to be known while tracing."""
    if isinstance(n, Tracer):
        raise errors.ConcretizationTypeError(
            f"{name}: {what} decides shapes, and is traced", mend=f"make {what} static, e.g. by static_argnums of jit"
        )
    return operator.index(n)


def dtype_argument(name: str, dtype: Any, kinds: str = "f", default: np.dtype = FLOAT) -> np.dtype:
    """A dtype of one of some kinds: f floating, c complex, i and u integers."""
    if dtype is None:
        return default
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found is None or found.kind not in kinds or found.itemsize > (16 if found.kind == "c" else 8):
        wanted = {"f": "floating", "fc": "floating or complex", "iu": "integer", "u": "unsigned integer"}
        text = wanted.get(kinds, "number")
        raise errors.DtypeError(
            f"{name} takes a dtype of {text} numbers, got {dtype if found is None else found}",
            mend=f"give dtype=np.{default.name}",
        )
    return found


def parameter(name: str, what: str, x: Any, dtype: np.dtype) -> Any:
    """A parameter of a distribution in the dtype of the result."""
    given = x
    x = operand(x) if isinstance(x, Tracer | list | tuple) else np.asarray(x)
    if dtype_of(x).kind not in "fiub":
        raise errors.DtypeError(
            f"{name}: {what} takes real numbers, got {described(given)}", mend=f"give a real {what}"
        )
    return astype(x, dtype) if isinstance(x, Tracer) else np.asarray(x).astype(dtype, copy=False)[()]


def result_shape(name: str, shape: Any, *parameter_shapes: Shape) -> Shape:
    """The shape that was asked for, or that of the parameters together, which must broadcast to it."""
    together = broadcast_shapes(name, *parameter_shapes)
    if shape is None:
        return together
    wanted = shape_argument(name, shape)
    if wanted != together and broadcast_shapes(name, wanted, together) != wanted:
        raise errors.ShapeError(
            f"{name}: parameters of shape {together} do not broadcast to shape={wanted}",
            mend=f"give shape=(..., {', '.join(map(str, together))}), or leave it out",
        )
    return wanted


def parameters(name: str, shape: Any, dtype: np.dtype, **values: Any) -> tuple[Shape, list[Any]]:
    """The shape of the result and the parameters of a distribution in its dtype."""
    cast = [parameter(name, what, x, dtype) for what, x in values.items()]
    return result_shape(name, shape, *map(shape_of, cast)), cast


def broadcast(x: Any, shape: Shape) -> Any:
    """A value with exactly this shape."""
    return x if shape_of(x) == shape else broadcast_to(x, shape=shape)


def discrete(name: str, what: str, x: Any) -> Any:
    """A parameter of a discrete distribution, through which no derivative passes.

    Raises NondifferentiableError for one that is being differentiated; in a staged program the primitive does so.
    """
    if not isinstance(x, Tracer) or dtype_of(x).kind != "f":
        return x
    inner: Any = x
    while isinstance(inner, Tracer) and not inner._trace.staging:
        if isinstance(inner, ValueTracer):
            raise errors.NondifferentiableError(
                f"random.{name} has no derivative in {what}: its samples jump from one value to the next",
                mend=f"draw with stop_gradient({what}); for the derivative of an expectation use the score function, "
                "stop_gradient(value) * log_probability(sample), or a relaxation, softmax((logits + gumbel noise) / "
                "temperature)",
            )
        inner = inner.val
    return discrete_parameter(x)
