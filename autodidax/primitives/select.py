"""Selection: where, whose transpose makes structural zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax.core.avals import PYTHON_SCALARS, Masked, ShapedArray, broadcast_shapes
from autodidax.core.interpreters import bind, get_aval
from autodidax.core.primitive import Primitive, align_batch, sample
from autodidax.primitives import comparison


class Where(Primitive):
    """x where the condition holds, else y; all three broadcast: bool[...], (...), (...) -> (...)."""

    linear_in = (1, 2)
    structural = True
    numpy_function = np.where

    def impl(self, c, x, y):
        out = np.where(c, x, y)
        return out if out.ndim else out[()]

    def abstract_eval(self, c, x, y):
        shape = broadcast_shapes("where", c.shape, x.shape, y.shape)
        return ShapedArray(shape, select_dtype(x, y))

    def jvp(self, out, primals, tangents):
        c, tx, ty = primals[0], *(0.0 if t is None else t for t in tangents[1:])
        return where(c, tx, ty)

    def transpose(self, ct, c, x, y):
        not_c = comparison.logical_not(c)
        return [None, Masked(where(c, ct, 0), c), Masked(where(not_c, ct, 0), not_c)]

    def batch(self, args, dims):
        return self(*align_batch(args, dims)), 0

    def samples(self, rng):
        for shapes in [((), (), ()), ((3,), (3,), (3,)), ((2, 1), (3,), ()), ((), (2, 3), (3,)), ((0,), (), (1,))]:
            c, x, y = (rng.normal(size=s) for s in shapes)
            yield sample(c > 0, x, y)
        yield sample(np.array([True, False]), np.float32([1, 2]), np.float32([3, 4]))
        yield sample(np.array([True, False]), rng.normal(size=2) + 1j, rng.normal(size=2))


def select_dtype(x: ShapedArray, y: ShapedArray) -> np.dtype:
    """The dtype that np.where gives two branches: Python scalars yield to arrays."""
    args = [a.dtype.type(1).item() if a.weak_type else a.dtype for a in (x, y)]
    if x.weak_type and y.weak_type:
        return np.result_type(x.dtype, y.dtype)
    return np.result_type(*args)


where_p = Where("where")


def where(c: Any, x: Any, y: Any) -> Any:
    """x where c is true, else y."""
    return bind(where_p, c, x, y)


def is_python_scalar(x: Any) -> bool:
    return type(x) in PYTHON_SCALARS


def weak(x: Any) -> bool:
    return get_aval(x).weak_type
