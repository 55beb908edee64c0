"""Differences, integrals over grids, the vector product, and polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy.dispatch import NoValue, axis_of, extended, numpy_function, operand
from autodidax.numpy.joining import concatenate, stack
from autodidax.numpy.reductions import sum as sum_of
from autodidax.numpy.shaping import broadcast_to, moveaxis, ravel
from autodidax.primitives import rearrange
from autodidax.primitives import shape as prim
from autodidax.primitives.comparison import not_equal
from autodidax.primitives.convert import astype
from autodidax.primitives.scatter import check_cast


def _along(k: int, start: int | None, stop: int | None) -> tuple[Any, ...]:
    return rearrange.along(k, slice(start, stop))


@numpy_function
def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = NoValue, append: Any = NoValue) -> Any:
    """Differences of neighbours along an axis, n times: (..., m, ...) -> (..., m - n, ...).

    Source: numpy.diff.
    """
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    a = operand(a)
    if n == 0:
        return a  # as NumPy: nothing is put before or after
    k = axis_of(axis, len(shape_of(a)))
    parts = []
    for end in (prepend, append):
        if end is not NoValue:
            end = operand(end)
            one = (*shape_of(a)[:k], 1, *shape_of(a)[k + 1 :])
            parts.append(broadcast_to(end, one) if not shape_of(end) else end)
        else:
            parts.append(None)
    if prepend is not NoValue or append is not NoValue:
        a = concatenate([p for p in (parts[0], a, parts[1]) if p is not None], axis=k)
    for _ in range(n):
        later, earlier = a[_along(k, 1, None)], a[_along(k, None, -1)]
        a = not_equal(later, earlier) if dtype_of(a).kind == "b" else later - earlier
    return a


@numpy_function
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours of the flattened array, with values put before and after.

    Source: numpy.ediff1d.
    """
    flat = ravel(operand(ary))
    parts = [flat[1:] - flat[:-1]]
    if to_begin is not None:
        parts.insert(0, _end(to_begin, flat))
    if to_end is not None:
        parts.append(_end(to_end, flat))
    return concatenate(parts) if len(parts) > 1 else parts[0]


def _end(x: Any, flat: Any) -> Any:
    x = ravel(operand(x))
    check_cast("ediff1d", x, dtype_of(flat))
    return astype(x, dtype_of(flat))


@numpy_function
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """Integral along an axis by the trapezoidal rule: (..., n, ...) -> (...).

    Source: numpy.trapezoid.
    """
    y = operand(y)
    k = axis_of(axis, len(shape_of(y)))
    if x is None:
        step: Any = operand(dx)
    else:
        x = operand(x)
        if len(shape_of(x)) == 1:
            step = _as_axis(diff(x), k, len(shape_of(y)))
        else:
            step = diff(x, axis=axis)
            np.broadcast_shapes(shape_of(x), shape_of(y))
    return sum_of(step * (y[_along(k, 1, None)] + y[_along(k, None, -1)]) / 2.0, axis=k)


def _as_axis(v: Any, k: int, rank: int) -> Any:
    """A vector lying along axis k of a space of this rank."""
    return prim.reshape(v, shape=tuple(shape_of(v)[0] if i == k else 1 for i in range(rank)))


@numpy_function
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Derivative along axes by central differences inside, and one-sided ones of a given order at the ends.

    Spacings are numbers or coordinate vectors, which may be traced.

    Source: numpy.gradient.
    """
    f = operand(f)
    rank = len(shape_of(f))
    many = axis is None or isinstance(axis, tuple | list)
    axes = tuple(range(rank)) if axis is None else tuple(axis_of(a, rank) for a in (axis if many else (axis,)))
    spacings = [operand(v) for v in varargs] or [1.0]
    if len(spacings) == 1 and not shape_of(spacings[0]):
        spacings = spacings * len(axes)
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    if len(set(axes)) != len(axes):
        raise errors.ShapeError(f"gradient: repeated axis in axis={axis}", mend="name each axis once")
    for k, h in zip(axes, spacings, strict=True):
        if shape_of(h) not in ((), (shape_of(f)[k],)):
            raise errors.ShapeError(
                f"gradient: distances of shape {shape_of(h)} along an axis of size {shape_of(f)[k]}",
                mend="give a number, or coordinates, one for each entry along the axis",
            )
        if dtype_of(h).kind == "c" and dtype_of(f).kind != "c":
            raise errors.DtypeError("gradient: complex distances of real values", mend="give real distances")
    f = astype(f, np.float64) if dtype_of(f).kind in "iub" else f
    out = [_gradient_along(f, k, h, edge_order) for k, h in zip(axes, spacings, strict=True)]
    out = [x if dtype_of(x).kind == "c" else astype(x, dtype_of(f)) for x in out]
    return out[0] if len(out) == 1 else tuple(out)


def _gradient_along(f: Any, k: int, h: Any, edge_order: int) -> Any:
    n = shape_of(f)[k]
    if n < edge_order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient")
    at = lambda i, j=None: f[_along(k, i, (None if i == -1 else i + 1) if j is None else j)]
    if not shape_of(h):
        inner = (f[_along(k, 2, None)] - f[_along(k, None, -2)]) / (2.0 * h)
        if edge_order == 1:
            first, last = (at(1) - at(0)) / h, (at(-1) - at(-2, -1)) / h
        else:
            a, b, c = 1.5 / h, 2.0 / h, 0.5 / h
            first = b * at(1) - a * at(0) - c * at(2)
            last = c * at(-3, -2) - b * at(-2, -1) + a * at(-1)
        return concatenate([first, inner, last], axis=k)
    h = astype(h, np.float64) if dtype_of(h).kind in "iub" else h
    steps = h[1:] - h[:-1]
    left, right = (_as_axis(d, k, len(shape_of(f))) for d in (steps[:-1], steps[1:]))
    inner = (
        -right / (left * (left + right)) * f[_along(k, None, -2)]
        + (right - left) / (left * right) * f[_along(k, 1, -1)]
        + left / (right * (left + right)) * f[_along(k, 2, None)]
    )
    if edge_order == 1:
        first, last = (at(1) - at(0)) / steps[0], (at(-1) - at(-2, -1)) / steps[-1]
    else:
        a, b = steps[0], steps[1]
        first = -(2.0 * a + b) / (a * (a + b)) * at(0) + (a + b) / (a * b) * at(1) - a / (b * (a + b)) * at(2)
        a, b = steps[-2], steps[-1]
        last = b / (a * (a + b)) * at(-3, -2) - (b + a) / (a * b) * at(-2, -1) + (2.0 * b + a) / (b * (a + b)) * at(-1)
    return concatenate([first, inner, last], axis=k)


@numpy_function
def cross(a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None) -> Any:
    """Vector product of vectors of 3 entries along an axis: (..., 3), (..., 3) -> (..., 3).

    Source: numpy.cross.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = moveaxis(operand(a), axisa, -1), moveaxis(operand(b), axisb, -1)
    if shape_of(a)[-1] != 3 or shape_of(b)[-1] != 3:
        raise errors.ShapeError(
            f"cross: vectors of {shape_of(a)[-1]} and {shape_of(b)[-1]} entries",
            mend="give both 3 entries; in the plane x[0] * y[1] - x[1] * y[0] is the third one",
        )
    (a0, a1, a2), (b0, b1, b2) = ([x[..., k] for k in range(3)] for x in (a, b))
    out = stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=-1)
    return moveaxis(out, -1, axisc)


@extended("unroll")
def polyval(p: Any, x: Any, *, unroll: int = 16) -> Any:
    """The polynomial with coefficients p, highest power first, at x, by Horner's scheme. `unroll` has no effect.

    Source: numpy.polyval, jax.numpy.polyval.
    """
    p, x = operand(p), operand(x)
    if not shape_of(p):
        raise errors.ShapeError("polyval: the coefficients p are no vector", mend="give a vector: anp.array([p])")
    value: Any = np.zeros(shape_of(x), dtype_of(x))[()]
    for k in range(shape_of(p)[0]):
        value = value * x + p[k]
    return value


__all__ = ["cross", "diff", "ediff1d", "gradient", "polyval", "trapezoid"]
