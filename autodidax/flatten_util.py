"""A pytree as one vector, and back: the name of jax.flatten_util."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise
from math import prod
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy.creation import array
from autodidax.numpy.dispatch import operand
from autodidax.numpy.joining import concatenate
from autodidax.primitives.convert import astype, real
from autodidax.primitives.shape import reshape


def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The leaves of a pytree as one vector, and the function that turns such a vector into a tree like it.

    The vector has the dtype that the leaves promote to; the function gives each leaf its own shape and dtype back (a
    Python scalar comes back as a NumPy scalar), in memory of its own.

    Raises
    ------
    ShapeError : from the function, for a vector of another size.
    DtypeError : from the function, for a complex vector where all leaves are real.

    Source: jax.flatten_util.ravel_pytree.

    >>> import numpy as np
    >>> flat, unravel = ravel_pytree({"b": 1.0, "w": np.array([[2.0, 3.0]])})
    >>> flat
    array([1., 2., 3.])
    >>> unravel(10 * flat)["w"]
    array([[20., 30.]])
    """
    leaves, treedef = tree.flatten(pytree)
    leaves = [operand(x) for x in leaves]
    shapes = [shape_of(x) for x in leaves]
    dtypes = [dtype_of(x) for x in leaves]
    ends = [0, *accumulate(map(prod, shapes))]
    dtype = np.result_type(*dtypes) if dtypes else np.dtype(float)

    def unravel(flat: Any) -> Any:
        flat = operand(flat)
        if shape_of(flat) != (ends[-1],):
            raise errors.ShapeError(
                f"unravel: a vector of shape {shape_of(flat)} for a tree of {ends[-1]} entries",
                mend=f"pass a vector of shape ({ends[-1]},)",
            )
        if dtype_of(flat).kind == "c" and dtype.kind != "c":
            raise errors.DtypeError(
                f"unravel: a vector of dtype {dtype_of(flat)} for a tree of dtype {dtype} would lose imaginary parts",
                mend="pass a real vector, or start from a complex tree",
            )
        parts = zip(pairwise(ends), shapes, dtypes, strict=True)
        return treedef.unflatten([_leaf(flat, start, stop, shape, d) for (start, stop), shape, d in parts])

    if not leaves:
        return np.zeros(0), unravel
    parts = [reshape(astype(x, dtype), shape=(n,)) for x, n in zip(leaves, map(prod, shapes), strict=True)]
    return concatenate(parts), unravel


def _leaf(flat: Any, start: int, stop: int, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    part = flat[start:stop] if shape else flat[start]
    if dtype.kind != "c":
        part = real(part)
    return array(reshape(part, shape=shape), dtype=dtype) if shape else astype(part, dtype)
