"""vmap's interpreter: a batch of values travels as one array with the batch axis first."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray, UnknownSize
from autodidax.core.interpreters import Trace, Tracer, frames, get_aval, shape_of
from autodidax.primitives.shape import broadcast_to, stack

new = object.__new__


class BatchTracer(Tracer):
    """One row of a batch, as the mapped function sees it; `val` holds all rows, batch axis first."""

    __slots__ = ()

    @property
    def aval(self) -> ShapedArray:
        a = get_aval(self.val)
        return ShapedArray(a.shape[1:], a.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of(self.val)[1:]

    @property
    def dtype(self) -> np.dtype:
        return self.val.dtype


class BatchTrace(Trace):
    """Turns an operation on rows into one operation on batches by the primitive's batching rule."""

    __slots__ = ("size", "axis_name", "axis_label")

    def __init__(self, fun_name: str, size: int, axis_name: Any = None, axis_label: str = "axis 0"):
        super().__init__("vmap", fun_name)
        self.size = size
        self.axis_name = axis_name
        self.axis_label = axis_label

    def describe(self) -> str:
        return f"vmap of {self.fun_name} over {self.axis_label} of size {self.size}"

    def box(self, val: Any) -> Any:
        tracer = new(BatchTracer)
        tracer._trace, tracer.val, tracer.node = self, val, None
        return tracer

    def unbox(self, x: Any) -> tuple[Any, int | None]:
        """The value below and its batch dimension."""
        if isinstance(x, Tracer) and x._trace is self:
            return x.val, 0
        return x, None

    def process1(self, p: Any, x: Any) -> Any:
        return self.box(p.op(x.val))

    def process2(self, p: Any, x: Any, y: Any) -> Any:
        if isinstance(x, BatchTracer) and x._trace is self:
            x = x.val
            if isinstance(y, BatchTracer) and y._trace is self:
                y = y.val
                rx, ry = len(x.shape), len(y.shape)
                if rx != ry:  # a mapped operand of lower rank gets axes of size 1 behind the batch axis
                    x, y = (_widen(x, ry - 1), y) if rx < ry else (x, _widen(y, rx - 1))
            elif type(y) is not float:
                rank = len(shape_of(y))
                if len(x.shape) - 1 < rank:
                    x = _widen(x, rank)
        else:
            y = y.val
            if type(x) is not float:
                rank = len(shape_of(x))
                if len(y.shape) - 1 < rank:
                    y = _widen(y, rank)
        return self.box(p.op(x, y))

    def process(self, p: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        vals: Any
        dims: Any
        if len(args) == 1:
            vals, dims = (args[0].val,), (0,)
        else:
            vals, dims = zip(*map(self.unbox, args), strict=True) if args else ((), ())
        if p.higher_order:
            return p.trace_batch(self, vals, dims, params)
        out, dim = p.batch(vals, dims, **params)
        if p.multiple_results:
            return [o if d is None else self.box(o) for o, d in zip(out, dim, strict=True)]
        return out if dim is None else self.box(out)


def _widen(x: Any, rank: int) -> Any:
    shape = x.shape
    return x.reshape((shape[0], *(1,) * (rank - len(shape) + 1), *shape[1:]))


def repeated(x: Any, size: int) -> Any:
    """A batch whose rows are all x, also where x has a size that is only known at run time."""
    shape = shape_of(x)
    if size and any(isinstance(n, UnknownSize) for n in shape):
        return stack(*[x] * size, axis=0)
    return broadcast_to(x, shape=(size, *shape))


def named_axis(name: Any) -> BatchTrace:
    """The innermost open vmap whose axis has this name."""
    for trace in reversed(frames()):
        if isinstance(trace, BatchTrace) and trace.axis_name is not None and trace.axis_name == name:
            return trace
    known = [t.axis_name for t in frames() if isinstance(t, BatchTrace) and t.axis_name is not None]
    raise errors.UnboundAxisError(
        f"no enclosing vmap has an axis named {name!r}; the names here are {known}",
        mend=f"name the axis where it is mapped: vmap(f, axis_name={name!r})"
        + (f", or use the name {known[-1]!r}" if known else ""),
    )
