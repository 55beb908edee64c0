"""Positions in arrays: of triangles, diagonals and masks, and between flat positions and those along axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy.concreteness import known_value
from autodidax.numpy.dispatch import extended, function_for, numpy_function, operand, strong
from autodidax.numpy.elementwise import clip
from autodidax.numpy.selecting import nonzero
from autodidax.primitives.convert import astype

ORDERS = ("C", "F")


def _weights(sizes: tuple[int, ...], order: str) -> list[int]:
    """How far a flat position moves with each axis."""
    if order not in ORDERS:
        raise ValueError("only 'C' or 'F' order is permitted")
    n = len(sizes)
    return [math.prod(sizes[k + 1 :] if order == "C" else sizes[:k]) for k in range(n)]


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(map(int, shape)) if np.iterable(shape) else (int(shape),)


def _plain_unravel(indices: Any, shape: Any, order: Any = "C") -> Any:
    return (_unraveled if np.asarray(indices).dtype.kind == "f" else np.unravel_index)(indices, shape, order)


@function_for(_plain_unravel)
def unravel_index(indices: Any, shape: Any, order: str = "C") -> Any:
    """Positions along the axes of a shape, one array an axis, for flat positions: () or (n,) each.

    Out of bounds, a position that is known raises; one that is not is clipped. As in jax.numpy, positions may be
    floats: their fractions go with the axis that runs fastest.

    Source: numpy.unravel_index, jax.numpy.unravel_index.
    """
    return _unraveled(indices, shape, order)


def _unraveled(indices: Any, shape: Any, order: str) -> tuple[Any, ...]:
    indices, sizes = strong(operand(indices)), _sizes(shape)
    if dtype_of(indices).kind not in "iuf":
        raise TypeError("only int indices permitted")
    indices = indices if dtype_of(indices).kind == "f" else astype(indices, np.intp)
    total = math.prod(sizes)
    known = known_value(indices)
    if known is not None and np.any((known < 0) | (known >= total)):
        raise ValueError(f"index {known} is out of bounds for array with size {total}")
    if known is None and dtype_of(indices).kind != "f":
        indices = clip(indices, 0, total - 1)
    found = []
    for weight, size in zip(_weights(sizes, order), sizes, strict=True):
        found.append((indices if weight == 1 else indices // weight) % size)
    return tuple(found)


@extended("dtype")
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C", *, dtype: Any = None) -> Any:
    """Flat positions for positions along the axes of a shape.

    mode : "raise", "wrap" or "clip" for positions out of bounds, or one of them an axis; where positions are not known
        (jit, vmap) they cannot be refused, and one of the others has to be given.

    dtype : of the result, of integers that the last position fits into; by default that of indices.

    Source: numpy.ravel_multi_index, jax.numpy.ravel_multi_index.
    """
    sizes = _sizes(dims)
    if dtype is not None:
        dtype = np.dtype(dtype)
        if dtype.kind not in "iu" or math.prod(sizes) - 1 > np.iinfo(dtype).max:
            raise errors.DtypeError(
                f"ravel_multi_index: dtype={dtype} has no room for the {math.prod(sizes)} positions of {sizes}",
                mend="give a larger dtype of integers",
            )
    modes = (mode,) * len(sizes) if isinstance(mode, str) else tuple(mode)
    parts = [operand(index) for index in multi_index]
    if len(parts) != len(sizes) or len(modes) != len(sizes):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(sizes)}")
    if any(dtype_of(part).kind not in "iu" for part in parts):
        raise TypeError("only int indices permitted")
    flat: Any = np.intp(0)
    for part, size, how, weight in zip(parts, sizes, modes, _weights(sizes, order), strict=True):
        flat = flat + _inside(astype(part, np.intp), size, how) * weight
    return flat if dtype is None else astype(flat, dtype)


def _inside(index: Any, size: int, mode: str) -> Any:
    """Positions along an axis, brought within its bounds."""
    if mode == "wrap":
        return index % size
    if mode == "clip":
        return clip(index, 0, size - 1)
    if mode != "raise":
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    known = known_value(index)
    if known is None:
        raise errors.ConcretizationTypeError(
            "ravel_multi_index: whether the positions are within bounds is not known",
            mend="give mode='clip' or mode='wrap'",
        )
    if np.any((known < 0) | (known >= size)):
        raise ValueError("invalid entry in coordinates array")
    return index


@numpy_function
def diag_indices_from(arr: Any) -> Any:
    """Positions of the main diagonal of an array whose axes are equally long; they depend on its shape alone.

    Source: numpy.diag_indices_from.
    """
    return np.diag_indices_from(_shaped(arr))


@numpy_function
def tril_indices_from(arr: Any, k: Any = 0) -> Any:
    """Positions of the lower triangle of a matrix; they depend on its shape alone.

    Source: numpy.tril_indices_from.
    """
    return np.tril_indices_from(_shaped(arr), k)


@numpy_function
def triu_indices_from(arr: Any, k: Any = 0) -> Any:
    """Positions of the upper triangle of a matrix; they depend on its shape alone.

    Source: numpy.triu_indices_from.
    """
    return np.triu_indices_from(_shaped(arr), k)


def _shaped(x: Any) -> np.ndarray:
    """A plain array of the shape and dtype of an operand, without memory for its entries."""
    x = operand(x)
    return np.broadcast_to(np.zeros((), dtype_of(x)), shape_of(x))


def mask_indices(n: int, mask_func: Callable[..., Any], k: Any = 0, *, size: int | None = None) -> Any:
    """Positions in an (n, n) array where what a function makes of ones is not zero; for `size`, see `nonzero`.

    Source: numpy.mask_indices, jax.numpy.mask_indices.
    """
    return nonzero(mask_func(np.ones((n, n), int), k), size=size)


@numpy_function
def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: Any = False) -> Any:
    """The order in which `einsum` multiplies its operands, and a report; they depend on shapes alone.

    Source: numpy.einsum_path.
    """
    plain: list[Any] = [x if isinstance(x, str | list | tuple) else _shaped(x) for x in operands]
    return np.einsum_path(*plain, optimize=optimize, einsum_call=einsum_call)


__all__ = [
    "diag_indices_from", "einsum_path", "mask_indices", "ravel_multi_index", "tril_indices_from", "triu_indices_from",
    "unravel_index",
]  # fmt: skip
