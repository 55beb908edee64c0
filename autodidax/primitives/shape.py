"""Moving and copying entries: reshape, transpose, broadcast_to, flip, concatenate, stack, pad, and their sums.

Primitives take canonical parameters (non-negative axes, full shapes); `rearrange.py` builds functions on them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.core.primitive import Primitive, sample

ndarray = np.ndarray
FILLED = 4096  # entries: up to this size broadcast_to fills a new array, which is quicker to make than a view


class Structural(Primitive):
    """A linear primitive that moves, copies or sums entries: structural zeros stay what they are."""

    linear = True
    structural = True


class Reshape(Structural):
    """The same entries in C order in another shape of the same size."""

    def impl(self, x, *, shape):
        out = x.reshape(shape) if type(x) is ndarray else np.reshape(x, shape)
        return out if shape else out[()]

    def abstract_eval(self, x, *, shape):
        if math.prod(shape) != x.size:
            raise errors.ShapeError(
                f"reshape: shape {x.shape} has {x.size} entries, {shape} has {math.prod(shape)}",
                mend="give a shape of the same size, or -1 for one axis",
            )
        return ShapedArray(shape, x.dtype)

    def transpose(self, ct, x, *, shape):
        return [reshape(ct, shape=x.shape)]

    def batch(self, args, dims, *, shape):
        (x,) = args
        return reshape(x, shape=(x.shape[0], *shape)), 0

    def samples(self, rng):
        yield sample(rng.normal(size=(2, 3)), shape=(3, 2))
        yield sample(rng.normal(size=(2, 3)), shape=(6,))
        yield sample(rng.normal(), shape=(1, 1))
        yield sample(rng.normal(size=(1,)), shape=())
        yield sample(rng.normal(size=(0, 3)), shape=(3, 0))
        yield sample(rng.normal(size=(3, 2)).T, shape=(3, 2), name="transposed")
        yield sample(rng.normal(size=(2, 2)) + 1j, shape=(4,))


class Transpose(Structural):
    """Permutation of the axes."""

    def impl(self, x, *, permutation):
        return x.transpose(permutation) if type(x) is ndarray else np.transpose(x, permutation)

    def abstract_eval(self, x, *, permutation):
        return ShapedArray(tuple(x.shape[k] for k in permutation), x.dtype)

    def transpose(self, ct, x, *, permutation):
        return [transpose(ct, permutation=tuple(int(k) for k in np.argsort(permutation)))]

    def batch(self, args, dims, *, permutation):
        return transpose(args[0], permutation=(0, *(k + 1 for k in permutation))), 0

    def samples(self, rng):
        yield sample(rng.normal(size=(2, 3)), permutation=(1, 0))
        yield sample(rng.normal(size=(2, 3, 4)), permutation=(2, 0, 1))
        yield sample(rng.normal(), permutation=())
        yield sample(rng.normal(size=(0, 3)).astype(np.float32), permutation=(1, 0))
        yield sample(rng.normal(size=(2, 3)) + 1j, permutation=(1, 0))


class BroadcastTo(Structural):
    """Copies along new leading axes and along axes of size 1; a large result is a read-only view, as in NumPy."""

    def impl(self, x, *, shape):
        if math.prod(shape) > FILLED or np.ndim(x) > len(shape):
            return np.broadcast_to(x, shape)
        out = np.empty(shape, dtype_of(x))
        out[...] = x
        return out if shape else out[()]

    def abstract_eval(self, x, *, shape):
        ok = len(shape) >= len(x.shape) and all(
            m in (1, n) for m, n in zip(x.shape, shape[len(shape) - len(x.shape) :], strict=True)
        )
        if not ok:
            raise errors.ShapeError(
                f"broadcast_to: shape {x.shape} does not broadcast to {shape}",
                mend="add axes of size 1 with expand_dims, or give a shape that ends with the operand's",
            )
        return ShapedArray(shape, x.dtype)

    def transpose(self, ct, x, *, shape):
        from_axes = len(shape) - len(x.shape)
        kept = tuple(k + from_axes for k, n in enumerate(x.shape) if n != shape[k + from_axes])
        g = sum_axes(ct, (*range(from_axes), *kept))
        return [reshape(g, shape=x.shape) if shape_of(g) != x.shape else g]

    def batch(self, args, dims, *, shape):
        (x,) = args
        ones = (1,) * (len(shape) - (len(x.shape) - 1))
        x = reshape(x, shape=(x.shape[0], *ones, *x.shape[1:])) if ones else x
        return broadcast_to(x, shape=(x.shape[0], *shape)), 0

    def samples(self, rng):
        yield sample(rng.normal(size=(3,)), shape=(2, 3))
        yield sample(rng.normal(size=(2, 1)), shape=(2, 3))
        yield sample(rng.normal(size=(1, 1)), shape=(4, 2, 3))
        yield sample(rng.normal(size=(2, 1)), shape=(3, 2, 3))
        yield sample(rng.normal(size=(1, 2)), shape=(3, 4, 2))
        yield sample(rng.normal(), shape=(2,))
        yield sample(rng.normal(), shape=())
        yield sample(rng.normal(size=(3,)), shape=(0, 3))
        yield sample(rng.normal(size=(1,)).astype(np.float32), shape=(3,))
        yield sample(rng.normal(size=(2, 1)) + 1j, shape=(2, 3))


class Flip(Structural):
    """Reversal along axes."""

    def impl(self, x, *, axes):
        return np.flip(x, axes)

    def abstract_eval(self, x, *, axes):
        return x

    def transpose(self, ct, x, *, axes):
        return [flip(ct, axes=axes)]

    def batch(self, args, dims, *, axes):
        return flip(args[0], axes=tuple(k + 1 for k in axes)), 0

    def samples(self, rng):
        yield sample(rng.normal(size=(3,)), axes=(0,))
        yield sample(rng.normal(size=(2, 3)), axes=(0, 1))
        yield sample(rng.normal(size=(2, 3)), axes=(0,))
        yield sample(rng.normal(size=(0, 3)), axes=(1,))
        yield sample(rng.normal(size=(2, 3)), axes=(), name="no axis")
        yield sample(rng.normal(size=2).astype(np.float32), axes=(0,))
        yield sample(rng.normal(size=3) + 1j, axes=(0,))


class Concatenate(Structural):
    """Joins any number of arrays along one axis."""

    def impl(self, *xs, axis):
        return np.concatenate(xs, axis)

    def abstract_eval(self, *xs, axis):
        first = xs[0]
        beside = without_axes(first.shape, (axis,))
        for x in xs[1:]:
            if x.ndim != first.ndim or without_axes(x.shape, (axis,)) != beside:
                raise errors.ShapeError(
                    f"concatenate: shapes {' and '.join(str(x.shape) for x in xs)} differ beside axis {axis}",
                    mend="bring the arrays to the same shape on all other axes",
                )
        shape = (*first.shape[:axis], sum(x.shape[axis] for x in xs), *first.shape[axis + 1 :])
        return ShapedArray(shape, np.result_type(*(x.dtype for x in xs)))

    def transpose(self, ct, *xs, axis):
        out, start = [], 0
        for x in xs:
            stop = start + x.shape[axis]
            out.append(ct[(slice(None),) * axis + (slice(start, stop),)])
            start = stop
        return out

    def batch(self, args, dims, *, axis):
        return concatenate(*all_mapped(args, dims), axis=axis + 1), 0

    def samples(self, rng):
        yield sample(rng.normal(size=(2,)), rng.normal(size=(3,)), axis=0)
        yield sample(rng.normal(size=(2, 1)), rng.normal(size=(2, 3)), rng.normal(size=(2, 0)), axis=1)
        yield sample(rng.normal(size=2), rng.normal(size=1), rng.normal(size=3), axis=0)
        yield sample(rng.normal(size=(2, 1)), axis=0, name="one array")
        yield sample(rng.normal(size=(0, 2)), rng.normal(size=(0, 2)), axis=0, name="empty")
        yield sample(rng.normal(size=2) + 1j, rng.normal(size=2), axis=0, name="complex and real")
        yield sample(rng.normal(size=2), rng.normal(size=2) - 1j, axis=0, name="real and complex")
        yield sample(rng.normal(size=2).astype(np.float32), rng.normal(size=2), axis=0, name="mixed dtypes")


class Stack(Structural):
    """Joins arrays of one shape along a new axis."""

    def impl(self, *xs, axis):
        return np.stack(xs, axis) if axis or shape_of(xs[0]) else np.array(xs)

    def abstract_eval(self, *xs, axis):
        first = xs[0]
        if any(x.shape != first.shape for x in xs):
            raise errors.ShapeError(
                f"stack: shapes {' and '.join(str(x.shape) for x in xs)} differ",
                mend="bring the arrays to one shape, or use concatenate",
            )
        shape = (*first.shape[:axis], len(xs), *first.shape[axis:])
        return ShapedArray(shape, np.result_type(*(x.dtype for x in xs)))

    def transpose(self, ct, *xs, axis):
        if axis == 0:
            return list(ct) if type(ct) is ndarray else [ct[k] for k in range(len(xs))]
        return [ct[(slice(None),) * axis + (k,)] for k in range(len(xs))]

    def batch(self, args, dims, *, axis):
        return stack(*all_mapped(args, dims), axis=axis + 1), 0

    def samples(self, rng):
        yield sample(rng.normal(), rng.normal(), axis=0)
        yield sample(np.float32(rng.normal()), np.float32(rng.normal()), axis=0, name="float32 scalars")
        yield sample(np.float32(rng.normal()), rng.normal(), axis=0, name="mixed scalars")
        yield sample(rng.normal(size=(0, 2)), rng.normal(size=(0, 2)), axis=2, name="empty")
        yield sample(rng.normal(size=3), rng.normal(size=3), rng.normal(size=3), axis=1)
        yield sample(rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), axis=2)
        yield sample(rng.normal(size=2) + 1j, rng.normal(size=2) - 1j, axis=1, name="complex")
        yield sample(rng.normal(size=2).astype(np.float32), rng.normal(size=2), axis=0, name="mixed dtypes")


class Pad(Structural):
    """Zeros before and after along each axis: `widths` is ((before, after), ...)."""

    def impl(self, x, *, widths):
        out = np.zeros(tuple(n + a + b for n, (a, b) in zip(np.shape(x), widths, strict=True)), dtype_of(x))
        out[tuple(slice(a, a + n) for n, (a, _) in zip(np.shape(x), widths, strict=True))] = x
        return out if widths else out[()]

    def abstract_eval(self, x, *, widths):
        return ShapedArray(tuple(n + a + b for n, (a, b) in zip(x.shape, widths, strict=True)), x.dtype)

    def transpose(self, ct, x, *, widths):
        return [ct[tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, widths, strict=True))]]

    def batch(self, args, dims, *, widths):
        return pad(args[0], widths=((0, 0), *widths)), 0

    def samples(self, rng):
        yield sample(rng.normal(size=(2, 3)), widths=((1, 2), (0, 1)))
        yield sample(rng.normal(size=(0,)), widths=((1, 1),))
        yield sample(rng.normal(), widths=(), name="0-d")
        yield sample(rng.normal(size=(2,)) + 1j, widths=((1, 0),), name="complex")
        yield sample(rng.normal(size=(2,)).astype(np.float32), widths=((0, 2),))


class ReduceSum(Structural):
    """Sum over axes, which go: (..., n, ...) -> (...); integers and booleans as NumPy widens them."""

    def impl(self, x, *, axes):
        return np.add.reduce(x, axis=axes)

    def abstract_eval(self, x, *, axes):
        return ShapedArray(without_axes(x.shape, axes), reduced_dtype(np.add, x.dtype))

    def transpose(self, ct, x, *, axes):
        if 0 < len(axes) < len(x.shape):
            ct = reshape(ct, shape=tuple(1 if k in axes else n for k, n in enumerate(x.shape)))
        return [broadcast_to(ct, shape=x.shape) if axes else ct]

    def batch(self, args, dims, *, axes):
        return reduce_sum(args[0], axes=tuple(k + 1 for k in axes)), 0

    def samples(self, rng):
        yield sample(rng.normal(size=(2, 3)), axes=(0,))
        yield sample(rng.normal(size=(2, 3)), axes=(0, 1))
        yield sample(rng.normal(size=(2, 3, 4)), axes=(1,))
        yield sample(rng.normal(size=(0, 3)), axes=(0,))
        yield sample(rng.normal(), axes=())
        yield sample(rng.normal(size=(3,)).astype(np.float32), axes=(0,))
        yield sample(rng.normal(size=(3,)) + 1j, axes=(0,))
        yield sample(np.arange(3, dtype=np.int8), axes=(0,), name="integers widen")
        yield sample(np.array([True, True]), axes=(0,), name="booleans widen")


reshape = Reshape("reshape", numpy_function=np.reshape)
transpose = Transpose("transpose", numpy_function=np.transpose)
broadcast_to = BroadcastTo("broadcast_to", numpy_function=np.broadcast_to)
flip = Flip("flip", numpy_function=np.flip)
concatenate = Concatenate("concatenate", numpy_function=np.concatenate)
stack = Stack("stack", numpy_function=np.stack)
pad = Pad("pad")
reduce_sum = ReduceSum("reduce_sum", numpy_function=np.sum)


def reduced_dtype(ufunc: np.ufunc, dtype: np.dtype) -> np.dtype:
    """The dtype that a reduction by a ufunc gives: small integers and booleans widen in sums and products."""
    return ufunc.reduce(np.empty(0, dtype)).dtype


def without_axes(shape: tuple[int, ...], axes: Sequence[int]) -> tuple[int, ...]:
    """A shape with some axes left out."""
    return tuple(n for k, n in enumerate(shape) if k not in axes)


def all_mapped(args: Any, dims: Any) -> list[Any]:
    """Operands of a batching rule, those without a batch axis copied along one."""
    size = next(shape_of(a)[0] for a, d in zip(args, dims, strict=True) if d is not None)
    return [
        a if d is not None else broadcast_to(a, shape=(size, *shape_of(a))) for a, d in zip(args, dims, strict=True)
    ]


class AxisError(errors.ShapeError, np.exceptions.AxisError):
    """An axis that an array does not have: an IndexError and a ValueError, as NumPy's own is."""


def canonical_axis(axis: Any, ndim: int, name: str) -> int:
    """An axis as a non-negative integer; an AxisError that names the operation where there is none such."""
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise AxisError(
            f"{name}: axis {axis} of an array with {errors.counted(ndim, 'axis')}",
            mend=f"give an axis from {-ndim} to {ndim - 1}" if ndim else "give an array with at least one axis",
        )
    return axis % ndim


def canonical_axes(axes: Any, ndim: int, name: str) -> tuple[int, ...]:
    """One axis, several, or None for all, as a tuple of distinct non-negative integers."""
    if axes is None:
        return tuple(range(ndim))
    given = tuple(canonical_axis(k, ndim, name) for k in (axes if isinstance(axes, tuple | list) else (axes,)))
    if len(set(given)) != len(given):
        raise errors.ShapeError(f"{name}: axes {axes} name one axis twice", mend="name each axis once")
    return given


def sum_axes(x: Any, axes: tuple[int, ...]) -> Any:
    """Sum over axes; x itself where there are none."""
    return reduce_sum(x, axes=axes) if axes else x


def expand_dims(x: Any, axes: Any) -> Any:
    """Axes of size 1 at these positions of the result."""
    given = axes if isinstance(axes, tuple | list) else (axes,)
    shape = list(shape_of(x))
    for k in sorted(canonical_axes(given, len(shape) + len(given), "expand_dims")):
        shape.insert(k, 1)
    return reshape(x, shape=tuple(shape))


def squeeze(x: Any, axes: Any = None) -> Any:
    """x without axes of size 1: all of those, or the given ones."""
    shape = shape_of(x)
    if axes is None:
        axes = tuple(k for k, n in enumerate(shape) if n == 1)
    axes = canonical_axes(axes, len(shape), "squeeze")
    if any(shape[k] != 1 for k in axes):
        raise errors.ShapeError(
            f"squeeze: axes {axes} of shape {shape} are not all of size 1", mend="squeeze axes of size 1 only"
        )
    return reshape(x, shape=without_axes(shape, axes)) if axes else x


def moveaxis(x: Any, source: Any, destination: Any) -> Any:
    """One axis, or several, moved to other places."""
    ndim = len(shape_of(x))
    source, destination = canonical_axes(source, ndim, "moveaxis"), canonical_axes(destination, ndim, "moveaxis")
    if source == destination:
        return x
    if len(source) != len(destination):
        raise errors.ShapeError(
            f"moveaxis: {len(source)} source axes and {len(destination)} destinations", mend="give one for each"
        )
    order = [k for k in range(ndim) if k not in source]
    for to, k in sorted(zip(destination, source, strict=True)):
        order.insert(to, k)
    return transpose(x, permutation=tuple(order))


def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged."""
    order = list(range(len(shape_of(x))))
    a, b = canonical_axis(axis1, len(order), "swapaxes"), canonical_axis(axis2, len(order), "swapaxes")
    if a == b:
        return x
    order[a], order[b] = b, a
    return transpose(x, permutation=tuple(order))
