"""Convolution of sequences, which is linear in each operand and whose transposes are convolutions again."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray, broadcast_shapes
from autodidax.core.interpreters import shape_of
from autodidax.core.primitive import Primitive, align_batch, sample
from autodidax.primitives.shape import flip


def _length(mode: str, n: int, m: int) -> int:
    return n + m - 1 if mode == "full" else n - m + 1


def _reversed(x: Any) -> Any:
    return flip(x, axes=(len(shape_of(x)) - 1,))


def _shifted_sums(x: np.ndarray, y: np.ndarray, out: np.ndarray, mode: str) -> np.ndarray:
    """All rows at once, one entry of the shorter operand after the other."""
    if mode == "full" and x.shape[-1] < y.shape[-1]:
        x, y = y, x
    n, m = x.shape[-1], y.shape[-1]
    for k in range(m):
        if mode == "full":
            out[..., k : k + n] += x * y[..., k : k + 1]
        else:
            out += x[..., k : k + out.shape[-1]] * y[..., m - 1 - k : m - k]
    return out


class Convolve(Primitive):
    """Sums over k of x[k] y[i - k]: (..., n), (..., m) -> (..., n + m - 1) for mode "full"; "valid" keeps those without
    an edge, (..., n - m + 1), and needs n >= m. Leading axes broadcast.

    Source: numpy.convolve.
    """

    multilinear = True

    def impl(self, x, y, *, mode):
        if np.ndim(x) == np.ndim(y) == 1:
            return np.convolve(x, y, mode)
        x, y = np.asarray(x), np.asarray(y)
        lead = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
        n, m = x.shape[-1], y.shape[-1]
        out = np.zeros((*lead, _length(mode, n, m)), np.result_type(x, y))
        if out.size // out.shape[-1] > min(n, m):
            return _shifted_sums(x, y, out, mode)
        x, y = np.broadcast_to(x, (*lead, n)), np.broadcast_to(y, (*lead, m))
        for k in np.ndindex(lead):
            out[k] = np.convolve(x[k], y[k], mode)
        return out

    def abstract_eval(self, x, y, *, mode):
        n, m = x.shape[-1:] or (0,), y.shape[-1:] or (0,)
        if 0 in n + m or (mode == "valid" and n < m):
            raise errors.ShapeError(
                f"convolve: shapes {x.shape} and {y.shape} with mode={mode!r}",
                mend="give sequences of one entry at least, the longer one first",
            )
        lead = broadcast_shapes("convolve", x.shape[:-1], y.shape[:-1])
        return ShapedArray((*lead, _length(mode, n[0], m[0])), np.result_type(x.dtype, y.dtype))

    def transpose(self, ct, x, y, *, mode):
        if isinstance(x, ShapedArray):
            if mode == "valid":
                return [convolve_p(ct, _reversed(y), mode="full"), None]
            return [convolve_p(ct, _reversed(y), mode="valid"), None]
        return [None, convolve_p(*((ct, _reversed(x)) if mode == "full" else (_reversed(x), ct)), mode="valid")]

    def batch(self, args, dims, *, mode):
        return self(*align_batch(args, dims), mode=mode), 0

    def samples(self, rng):
        for shapes in [((5,), (3,)), ((1,), (1,)), ((4,), (4,)), ((2, 4), (3,)), ((4,), (7, 2)), ((2, 1, 5), (3, 2))]:
            for mode in ("full", "valid"):
                yield sample(*(rng.normal(size=s) for s in shapes), mode=mode)
        x, y = rng.normal(size=4), rng.normal(size=3)
        yield sample(y, x, mode="full", name="the shorter one first")
        yield sample(rng.normal(size=(0, 4)), y, mode="full", name="no rows")
        yield sample(x.astype(np.float32), y.astype(np.float32), mode="full")
        yield sample(np.stack([x, x]).astype(np.float32), y.astype(np.float32), mode="valid")
        yield sample(x + 1j, y - 2j, mode="full", name="complex")
        yield sample(x, y - 2j, mode="valid", name="real and complex")
        yield sample(np.arange(4), y, mode="full", name="integers and reals")
        yield sample(np.arange(4), np.arange(3), mode="full", name="integers")


convolve_p = Convolve("convolve", numpy_function=np.convolve)


def convolve(x: Any, y: Any, mode: str = "full") -> Any:
    """Convolution of two sequences: (n,), (m,) -> (n + m - 1,), or its middle of the length of the longer one for
    mode "same", or what has no edges for "valid". Source: numpy.convolve."""
    (n,), (m,) = shape_of(x), shape_of(y)
    if n < m:
        x, y, n, m = y, x, m, n
    if mode != "same":
        return convolve_p(x, y, mode=mode)
    start = (m - 1) // 2
    return convolve_p(x, y, mode="full")[start : start + n]
