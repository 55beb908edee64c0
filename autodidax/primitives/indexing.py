"""Indexing: reading and writing parts of arrays, with NumPy's basic and advanced indices.

An index is kept as a static template (a tuple of integers, slices, None, Ellipsis and `Slot`s) beside the index
arrays, which are operands: slot k stands for the k-th array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax.core.avals import Masked, ShapedArray
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.convert import zeros_of


class Slot:
    """The place of an index array in a template."""

    __slots__ = ("k",)

    def __init__(self, k: int):
        self.k = k

    def __repr__(self) -> str:
        return f"[{self.k}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slot) and other.k == self.k

    def __hash__(self) -> int:
        return hash(("Slot", self.k))


def fill(template: Any, arrays: Any) -> Any:
    """The actual index: slots replaced by their arrays."""
    if not arrays:
        return template
    return tuple(arrays[i.k] if isinstance(i, Slot) else i for i in template)


class GetItem(Primitive):
    """x[index]: linear in x; its transpose adds into zeros."""

    linear_in = (0,)
    structural = True

    def impl(self, x, *arrays, index):
        return x[fill(index, arrays)]

    def abstract_eval(self, x, *arrays, index):
        probe = np.broadcast_to(np.empty((), x.dtype), x.shape)
        filled = fill(index, [np.zeros(a.shape, np.intp) for a in arrays])
        return ShapedArray(probe[filled].shape, x.dtype)

    def transpose(self, ct, x, *arrays, index):
        zeros = np.zeros(x.shape, dtype_of(ct))
        return [scatter_add(zeros, ct, *arrays, index=index), *[None] * len(arrays)]

    def pull(self, ct, index, shape, dtype):
        """The cotangent of x for a basic index (the record's short form)."""
        if type(ct) is Masked:
            mask = scatter_add(np.zeros(shape, bool), ct.mask, index=index)
            return Masked(self.pull(ct.val, index, shape, dtype), mask)
        return scatter_add(np.zeros(shape, dtype_of(ct)), ct, index=index)

    def batch(self, args, dims, *, index):
        (x, *arrays), (dx, *_) = args, dims
        if dx is not None and all(d is None for d in dims[1:]) and not arrays:
            return self(x, index=(slice(None), *index)), 0
        raise NotImplementedError

    def samples(self, rng):
        yield sample(rng.normal(size=(3, 4)), index=(1,))
        yield sample(rng.normal(size=(3, 4)), index=(slice(0, 2), 1))
        yield sample(rng.normal(size=(3, 4)), index=(Ellipsis, None, -1))
        yield sample(rng.normal(size=(3, 4)), index=(slice(None, None, -1), slice(1, 4, 2)))
        yield sample(rng.normal(size=(3,)), np.array([0, 0, 2]), index=(Slot(0),), name="repeated")


class ScatterAdd(Primitive):
    """x with updates added at an index; entries named several times get every update."""

    linear_in = (0, 1)

    def impl(self, x, updates, *arrays, index):
        out = np.array(x)
        if arrays:
            np.add.at(out, fill(index, arrays), updates)
        else:
            out[index] += updates
        return out

    def abstract_eval(self, x, updates, *arrays, index):
        return ShapedArray(x.shape, x.dtype)

    def transpose(self, ct, x, updates, *arrays, index):
        g = getitem_p(ct, *arrays, index=index)
        return [ct, g, *[None] * len(arrays)]


getitem_p = GetItem("getitem")
scatter_add = ScatterAdd("scatter_add")

__all__ = ["shape_of", "zeros_of"]
