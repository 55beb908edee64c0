"""The matrix exponential."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from autodidax.core.avals import ShapedArray, broadcast_shapes
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.contraction import swap_last
from autodidax.primitives.convert import zeros_like
from autodidax.primitives.shape import broadcast_to, concatenate, expand_dims
from autodidax.primitives.solves import MatrixFunction, square_samples
from autodidax.primitives.triangular import linalg_dtype, square_size


def _block(a: Any, b: Any) -> Any:
    """The block matrices [[a, b], [0, a]]: (..., n, n), (..., n, n) -> (..., 2 n, 2 n)."""
    shape = broadcast_shapes("expm", shape_of(a), shape_of(b))
    a, b = (x if shape_of(x) == shape else broadcast_to(x, shape=shape) for x in (a, b))
    rank = len(shape)
    top = concatenate(a, b, axis=rank - 1)
    bottom = concatenate(np.zeros(shape_of(a), dtype_of(a)), a, axis=rank - 1)
    return concatenate(top, bottom, axis=rank - 2)


def _corner(x: Any) -> Any:
    """The upper right quarter of block matrices."""
    n = shape_of(x)[-1] // 2
    return x[..., :n, n:]


class Expm(MatrixFunction):
    """Exponentials of matrices: (..., n, n) -> (..., n, n).

    Source: scipy.linalg.expm.
    """

    def impl(self, a):
        return scipy.linalg.expm(a)

    def abstract_eval(self, a):
        square_size("expm", a.shape)
        return ShapedArray(a.shape, linalg_dtype("expm", a))

    def jvp(self, out, primals, tangents):
        return expm_frechet(primals[0], tangents[0])

    def samples(self, rng):
        for s in square_samples(rng):
            (a,) = s.args
            if 1 < a.size < 12 and s.name != "transposed":
                yield sample(a if a.dtype.kind == "i" else tamed(a), name=s.name)


class ExpmFrechet(Primitive):
    """The derivative of the matrix exponential at a in the direction e: (..., n, n), (..., n, n) -> (..., n, n). It is
    the upper right block of the exponential of [[a, e], [0, a]], so derivatives of all orders are exponentials.

    Source: Higham, "Functions of Matrices" (2008), equation 3.16; scipy.linalg.expm_frechet.
    """

    linear_in = (1,)

    def impl(self, a, e):
        dtype = linalg_dtype("expm", a, e)
        a, e = np.broadcast_arrays(np.asarray(a, dtype), np.asarray(e, dtype))
        # linear in e, so its size is taken out, which would cost squarings and digits
        _, exponent = np.frexp(np.abs(e).max((-2, -1), keepdims=True))
        one = e.real.dtype.type(1)
        limit = np.finfo(dtype).maxexp - 1  # powers of two beyond it are inf, and their inverses zero
        exponent = np.clip(exponent, -limit, limit)
        # SciPy's choice of scaling loses up to three digits of the corner; two more squarings keep them
        root = scipy.linalg.expm(_block(a, np.ldexp(one, -exponent) * e) / one.dtype.type(4))
        square = root @ root
        return np.ldexp(one, exponent) * _corner(square @ square)

    def abstract_eval(self, a, e):
        return ShapedArray(broadcast_shapes("expm", a.shape, e.shape), linalg_dtype("expm", a, e))

    def jvp(self, out, primals, tangents):
        (a, e), (ta, te) = primals, tangents
        if ta is None:
            return expm_frechet(a, te)
        return _corner(expm_frechet(_block(a, e), _block(ta, zeros_like(e) if te is None else te)))

    def transpose(self, ct, a, e):
        return [None, expm_frechet(swap_last(a), ct)]

    def batch(self, args, dims):
        return expm_frechet(*[x if d is not None else expand_dims(x, (0,)) for x, d in zip(args, dims, strict=True)]), 0

    def samples(self, rng):
        for s in square_samples(rng):
            (a,) = s.args
            if 1 < a.size < 12 and s.name != "transposed" and a.dtype.kind != "i":
                yield sample(tamed(a), rng.normal(size=a.shape).astype(a.dtype), name=s.name)


def tamed(a: Any) -> Any:
    """A matrix of small norm: rounding grows with exp(norm), and second derivatives see it first."""
    return a / a.dtype.type(max(1.0, abs(a).max()))


expm = Expm("expm")
expm_frechet = ExpmFrechet("expm_frechet")
