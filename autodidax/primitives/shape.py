"""Moving and copying entries: reshape, transpose, broadcast_to, squeeze, expand_dims, concatenate, pad, flip."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import dtype_of, get_aval, shape_of
from autodidax.core.primitive import Primitive, sample


class _Structural(Primitive):
    linear = True
    structural = True


class Reshape(_Structural):
    """The same entries in C order in another shape of the same size."""

    def impl(self, x, *, shape):
        return np.reshape(x, shape)

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


class Transpose(_Structural):
    """Permutation of the axes."""

    def impl(self, x, *, permutation):
        return np.transpose(x, permutation)

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


class BroadcastTo(_Structural):
    """Copies along new leading axes and along axes of size 1."""

    def impl(self, x, *, shape):
        return np.broadcast_to(x, shape).copy()[()]

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
        yield sample(rng.normal(), shape=(2,))
        yield sample(rng.normal(), shape=())
        yield sample(rng.normal(size=(3,)), shape=(0, 3))
        yield sample(rng.normal(size=(1,)).astype(np.float32), shape=(3,))


class Flip(_Structural):
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
        yield sample(rng.normal(size=(0, 3)), axes=(1,))


class Concatenate(_Structural):
    """Joins any number of arrays along one axis."""

    def impl(self, *xs, axis):
        return np.concatenate(xs, axis)

    def abstract_eval(self, *xs, axis):
        first = xs[0]
        for x in xs[1:]:
            if x.ndim != first.ndim or any(k != axis and m != n for k, (m, n) in enumerate(zip(x.shape, first.shape, strict=True))):
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
        size = next(a.shape[0] for a, d in zip(args, dims, strict=True) if d is not None)
        xs = [a if d is not None else broadcast_to(a, shape=(size, *shape_of(a))) for a, d in zip(args, dims, strict=True)]
        return concatenate(*xs, axis=axis + 1), 0

    def samples(self, rng):
        yield sample(rng.normal(size=(2,)), rng.normal(size=(3,)), axis=0)
        yield sample(rng.normal(size=(2, 1)), rng.normal(size=(2, 3)), rng.normal(size=(2, 0)), axis=1)
        yield sample(rng.normal(size=2).astype(np.float32), rng.normal(size=2), axis=0, name="mixed dtypes")


class Stack(_Structural):
    """Joins arrays of one shape along a new axis."""

    def impl(self, *xs, axis):
        if axis == 0 and not shape_of(xs[0]):
            return np.array(xs)
        return np.stack(xs, axis)

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
            return [ct[k] for k in range(len(xs))]
        return [ct[(slice(None),) * axis + (k,)] for k in range(len(xs))]

    def batch(self, args, dims, *, axis):
        size = next(a.shape[0] for a, d in zip(args, dims, strict=True) if d is not None)
        xs = [a if d is not None else broadcast_to(a, shape=(size, *shape_of(a))) for a, d in zip(args, dims, strict=True)]
        return stack(*xs, axis=axis + 1), 0

    def samples(self, rng):
        yield sample(rng.normal(), rng.normal(), axis=0)
        yield sample(rng.normal(size=3), rng.normal(size=3), rng.normal(size=3), axis=1)
        yield sample(rng.normal(size=2).astype(np.float32), rng.normal(size=2), axis=0, name="mixed dtypes")


class Pad(_Structural):
    """Zeros before and after along each axis: `widths` is ((before, after), ...)."""

    def impl(self, x, *, widths):
        return np.pad(x, widths)

    def abstract_eval(self, x, *, widths):
        return ShapedArray(tuple(n + a + b for n, (a, b) in zip(x.shape, widths, strict=True)), x.dtype)

    def transpose(self, ct, x, *, widths):
        return [ct[tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, widths, strict=True))]]

    def batch(self, args, dims, *, widths):
        return pad(args[0], widths=((0, 0), *widths)), 0

    def samples(self, rng):
        yield sample(rng.normal(size=(2, 3)), widths=((1, 2), (0, 1)))
        yield sample(rng.normal(size=(0,)), widths=((1, 1),))
        yield sample(rng.normal(size=(2,)).astype(np.float32), widths=((0, 2),))


reshape = Reshape("reshape")
transpose = Transpose("transpose")
broadcast_to = BroadcastTo("broadcast_to")
flip = Flip("flip")
concatenate = Concatenate("concatenate")
stack = Stack("stack")
pad = Pad("pad")


def sum_axes(x: Any, axes: tuple[int, ...]) -> Any:
    """Sum over axes (see reductions; here because broadcast_to is its transpose)."""
    return reduce_sum(x, axes=axes) if axes else x


class ReduceSum(Primitive):
    """Sum over axes, which go: (..., n, ...) -> (...); integers and booleans as NumPy widens them."""

    linear = True
    structural = True

    def impl(self, x, *, axes):
        return np.add.reduce(x, axis=axes)

    def abstract_eval(self, x, *, axes):
        return ShapedArray(without_axes(x.shape, axes), _sum_dtype(x.dtype))

    def transpose(self, ct, x, *, axes):
        kept = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
        return [broadcast_to(reshape(ct, shape=kept) if shape_of(ct) != kept else ct, shape=x.shape)]

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


reduce_sum = ReduceSum("reduce_sum")


def _sum_dtype(dtype: np.dtype) -> np.dtype:
    return np.add.reduce(np.empty(0, dtype)).dtype


def without_axes(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for k, n in enumerate(shape) if k not in axes)


def expand_dims(x: Any, axes: tuple[int, ...]) -> Any:
    """Axes of size 1 at these positions of the result."""
    shape = list(shape_of(x))
    for k in sorted(axes):
        shape.insert(k, 1)
    return reshape(x, shape=tuple(shape))


def aval_size(x: Any) -> int:
    return get_aval(x).size


def moveaxis(x: Any, source: int, destination: int) -> Any:
    """One axis moved to another place."""
    if source == destination:
        return x
    order = [k for k in range(len(shape_of(x))) if k != source]
    order.insert(destination, source)
    return transpose(x, permutation=tuple(order))


__all__ = ["dtype_of"]
