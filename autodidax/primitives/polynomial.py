"""Roots of polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.elementwise import divide
from autodidax.primitives.shape import broadcast_to


def horner(p: Any, x: Any) -> Any:
    """Polynomials of coefficients (..., n + 1), the highest power first, each at the points of its row: (..., k)."""
    value = broadcast_to(p[..., :1], shape=shape_of(x))
    for k in range(1, shape_of(p)[-1]):
        value = value * x + p[..., k : k + 1]
    return value


class Roots(Primitive):
    """All roots of polynomials, complex and in NumPy's order: (..., n + 1) -> (..., n). Where the highest coefficients
    are 0 there are fewer, and nan stands for the others.

    The derivative is that of the equation p(x) = 0: dx = -dp(x) / p'(x), infinite or nan at multiple roots.

    Source: numpy.roots.
    """

    def impl(self, p):
        p = np.asarray(p)
        out = np.full((*p.shape[:-1], p.shape[-1] - 1), np.nan, _complex(p.dtype))
        for k in np.ndindex(p.shape[:-1]):
            found = np.roots(p[k])
            out[k][: len(found)] = found
        return out

    def abstract_eval(self, p):
        if not p.shape or not p.shape[-1]:
            raise errors.ShapeError(f"roots: coefficients of shape {p.shape}", mend="give a vector of one at least")
        return ShapedArray((*p.shape[:-1], p.shape[-1] - 1), _complex(p.dtype))

    def jvp(self, out, primals, tangents):
        (p,), (t,) = primals, tangents
        n = shape_of(p)[-1] - 1
        if n == 0:
            return None
        powers = np.arange(n, 0, -1).astype(np.empty(0, dtype_of(out)).real.dtype)
        return -divide(horner(t, out), horner(p[..., :-1] * powers, out))

    def batch(self, args, dims):
        return self(*args), 0

    def samples(self, rng):
        yield sample(np.array([1.0, -3.5, 2.0, 1.0]))
        yield sample(np.array([2.0, 1.0]))
        yield sample(np.array([3.0]), name="a constant")
        yield sample(rng.normal(size=(2, 3, 4)))
        yield sample(np.array([1.0, 0.0, 1.0]), name="a complex pair")
        yield sample(np.array([1.0, -2.0, 0.0]), name="a root at 0")
        yield sample(rng.normal(size=4) + 1j * rng.normal(size=4), name="complex")
        yield sample(rng.normal(size=4).astype(np.float32))
        yield sample(np.array([1, -3, 2]), name="integers")
        yield sample(np.zeros((0, 3)), name="no rows")


def _complex(dtype: np.dtype) -> np.dtype:
    return np.result_type(dtype if dtype.kind in "fc" else np.float64, np.complex64)


roots = Roots("roots", numpy_function=np.roots)
