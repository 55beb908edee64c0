"""Operators, indexing and the attributes of tracers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax.core.interpreters import Tracer, bind, innermost_staging, shape_of
from autodidax.core import interpreters
from autodidax.primitives import comparison as cmp
from autodidax.primitives import elementwise as ew
from autodidax.primitives.indexing import Slot, getitem_p
from autodidax.primitives.shape import reshape, transpose
from autodidax.transforms.reverse import ReverseTracer


def _reflected(op: Any) -> Any:
    return lambda self, other: op(other, self)


for name, op in {
    "add": ew.add.op, "sub": ew.subtract.op, "mul": ew.multiply.op, "truediv": ew.divide.op, "pow": ew.pow_operator,
}.items():  # fmt: skip
    setattr(Tracer, f"__{name}__", op)
    setattr(Tracer, f"__r{name}__", _reflected(op))
for name, op in {
    "lt": cmp.less.op, "le": cmp.less_equal.op, "gt": cmp.greater.op, "ge": cmp.greater_equal.op,
    "eq": cmp.equal.op, "ne": cmp.not_equal.op,
}.items():  # fmt: skip
    setattr(Tracer, f"__{name}__", op)
Tracer.__neg__ = ew.negative.op
Tracer.__hash__ = object.__hash__
Tracer.__array_ufunc__ = None


def getitem(x: Any, index: Any) -> Any:
    """x[index], with basic indices on the short path of the record."""
    t = type(index)
    if t is int or t is slice:
        template: Any = (index,)
    elif t is tuple and all(type(i) in _BASIC for i in index):
        template = index
    else:
        return _advanced(x, index)
    trace = x.trace
    if type(x) is ReverseTracer and (not interpreters.stagings_open or innermost_staging(trace.level) is None):
        val = x.val
        out = val[index] if type(val) is np.ndarray else val[template]
        return trace.result(out, (getitem_p.code, x.node, template, shape_of(val), val.dtype))
    return bind(getitem_p, x, index=template)


_BASIC = (int, slice, type(None), type(Ellipsis))


def _advanced(x: Any, index: Any) -> Any:
    index = index if type(index) is tuple else (index,)
    arrays, template = [], []
    for i in index:
        if isinstance(i, (list, np.ndarray, Tracer)):
            template.append(Slot(len(arrays)))
            arrays.append(i if isinstance(i, Tracer) else np.asarray(i))
        else:
            template.append(i)
    return bind(getitem_p, x, *arrays, index=tuple(template))


Tracer.__getitem__ = getitem
Tracer.reshape = lambda self, *shape: reshape(self, shape=shape[0] if len(shape) == 1 and type(shape[0]) is tuple else shape)
Tracer.transpose = lambda self, *axes: transpose(self, permutation=axes[0] if len(axes) == 1 else axes)
