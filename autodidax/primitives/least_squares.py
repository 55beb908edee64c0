"""Solutions of least norm of least-squares problems; leading axes are batches."""

from __future__ import annotations

import math

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray, broadcast_shapes
from autodidax.core.interpreters import shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.contraction import matmul, swap_last
from autodidax.primitives.shape import all_mapped, moveaxis, reshape
from autodidax.primitives.solves import leaves_out, pinv
from autodidax.primitives.triangular import adjoint, linalg_dtype


class LeastSquares(Primitive):
    """The x of least norm among those with the least norm of a x - b: (..., n, m), (..., n, k) -> (..., m, k). Singular
    values of a up to rcond times the largest count as 0. The derivative holds where the rank is locally constant.

    Source: numpy.linalg.lstsq; Golub and Pereyra (1973), equation 4.12.
    """

    linear_in = (1,)

    def impl(self, a, b, *, rcond):
        dtype = linalg_dtype("lstsq", a, b)
        a, b = np.asarray(a, dtype), np.asarray(b, dtype)
        if a.ndim == b.ndim == 2:
            return np.linalg.lstsq(a, b, rcond)[0]
        return np.matmul(np.linalg.pinv(a, rcond), b)

    def abstract_eval(self, a, b, *, rcond):
        if len(a.shape) < 2 or len(b.shape) < 2 or a.shape[-2] != b.shape[-2]:
            raise errors.ShapeError(
                f"lstsq: shapes {a.shape} and {b.shape}", mend="give a of shape (..., n, m) and b of shape (..., n, k)"
            )
        batch = broadcast_shapes("lstsq", a.shape[:-2], b.shape[:-2])
        return ShapedArray((*batch, a.shape[-1], b.shape[-1]), linalg_dtype("lstsq", a, b))

    def jvp(self, out, primals, tangents, *, rcond):
        (a, b), (ta, tb) = primals, tangents
        if ta is None:
            return least_squares(a, tb, rcond=rcond)
        inverse = pinv(a, rcond=rcond)
        if leaves_out(a, rcond):
            moved = matmul(pinv.jvp(inverse, [a], [ta], rcond=rcond), b)
            return moved if tb is None else moved + least_squares(a, tb, rcond=rcond)
        adjoint_pinv = adjoint(inverse)
        change = matmul(adjoint_pinv, matmul(adjoint(ta), b - matmul(a, out))) - matmul(ta, out)
        leaving = matmul(adjoint(ta), matmul(adjoint_pinv, out))
        if tb is not None:
            change = change + tb
        return least_squares(a, change - matmul(a, leaving), rcond=rcond) + leaving

    def transpose(self, ct, a, b, *, rcond):
        return [None, least_squares(swap_last(a), ct, rcond=rcond)]

    def batch(self, args, dims, *, rcond):
        a, b = args
        if dims[0] is None and len(shape_of(a)) == 2:  # one matrix, all columns in a row
            n, *rest = shape_of(b := moveaxis(b, -2, 0))
            out = least_squares(a, reshape(b, shape=(n, math.prod(rest))), rcond=rcond)
            return moveaxis(reshape(out, shape=(shape_of(a)[-1], *rest)), 0, -2), 0
        a, b = all_mapped(args, dims)
        rank = max(len(shape_of(a)), len(shape_of(b)))
        a, b = (reshape(x, shape=(shape_of(x)[0], *(1,) * (rank - len(shape_of(x))), *shape_of(x)[1:])) for x in (a, b))
        return least_squares(a, b, rcond=rcond), 0

    def samples(self, rng):
        for n, m, k in [(4, 2, 1), (2, 4, 2), (3, 3, 2), (1, 1, 1)]:
            yield sample(rng.normal(size=(n, m)), rng.normal(size=(n, k)), rcond=1e-12)
        a, b = rng.normal(size=(4, 2)), rng.normal(size=(4, 1))
        yield sample(np.stack([a, a + 1]), b, rcond=1e-12)
        yield sample(a, np.stack([b, b + 1]), rcond=1e-12)
        yield sample(np.stack([a, a + 1])[:, None], np.stack([b, b + 1]), rcond=1e-12)
        yield sample(np.diag([4.0, 1.0]) + a[:2] / 9, b[:2], rcond=0.5, name="one value left out")
        yield sample(a + 1j, b - 1j * b**2, rcond=1e-12, name="complex")
        yield sample(a, b + 1j, rcond=1e-12, name="real and complex")
        yield sample(a.astype(np.float32), b.astype(np.float32), rcond=1e-6)
        yield sample(np.array([[1, 2], [3, 4], [5, 7]]), np.array([[1], [0], [2]]), rcond=1e-12, name="integers")
        for shapes in [((0, 2), (0, 1)), ((2, 0), (2, 1)), ((2, 2), (2, 0))]:
            yield sample(*map(np.zeros, shapes), rcond=1e-12, name="empty")


least_squares = LeastSquares("least_squares")
