"""Collectives over a named axis of vmap: psum, pmean, pmax, pmin, axis_index, axis_size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autodidax import tree
from autodidax.core.avals import ShapedArray, is_inexact
from autodidax.core.interpreters import dtype_of, innermost_staging, top_trace
from autodidax.core.primitive import Primitive
from autodidax.primitives.comparison import equal
from autodidax.primitives.convert import convert_element_type
from autodidax.primitives.reductions import reduce_max, reduce_min
from autodidax.primitives.select import where
from autodidax.primitives.shape import reduce_sum
from autodidax.transforms.batching import named_axis
from autodidax.transforms.boundary import as_value
from autodidax.transforms.calls import HigherOrder, record_call
from autodidax.transforms.reverse import Call


class _Collective(HigherOrder):
    """Dispatched by the axis's name as well as by its operand."""

    checked = "it has no meaning outside of a named axis"

    def bind(self, *args: Any, axis_name: Any) -> list[Any]:
        named = named_axis(axis_name)
        trace = top_trace(args)
        if trace is None or trace.level < named.level:
            trace = innermost_staging(named.level) or named
        params = {"axis_name": axis_name}
        if trace is named:  # whose operands may all be the same in every row
            pairs = [named.unbox(x) for x in args]
            return self.trace_batch(named, [x for x, _ in pairs], [d for _, d in pairs], params)
        return trace.process(self, args, params)

    __call__ = bind

    def abstract_eval(self, x: Any, *, axis_name: Any) -> list[Any]:
        return [ShapedArray(x.shape, x.dtype)]

    def trace_batch(self, trace: Any, vals: Sequence[Any], dims: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        if trace is not named_axis(params["axis_name"]):
            return [trace.box(o) if d is not None else o for o, d in zip(self(*vals, **params), dims, strict=True)]
        (x,), (d,) = vals, dims
        return [self.over_rows(x, d is not None, trace.size)]

    def over_rows(self, x: Any, batched: bool, size: int) -> Any:
        raise NotImplementedError


class PSum(_Collective):
    """Sum over all rows of the named axis, the same in every row; linear, and its own transpose."""

    def over_rows(self, x: Any, batched: bool, size: int) -> Any:
        return reduce_sum(x, axes=(0,)) if batched else x * size

    def trace_jvp(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        x, t = trace.unbox(args[0])
        (out,) = self(x, **params)
        return [trace.box(out, self(t, **params)[0])] if is_inexact(dtype_of(out)) else [out]

    def trace_reverse(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        ins, vals = trace.split(args)
        return record_call(trace, self(*vals, **params), (True,), Call(lambda cts: self(cts[0], **params)), ins)

    def trace_linear(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        (x,) = args
        call = Call(lambda cts: self(cts[0], **params), lambda t: self(t, **params))
        return trace.results([x.val], (call, (x.node,), 1))


class _PExtremum(_Collective):
    """Largest or smallest over all rows; rows that tie share the derivative equally."""

    reduce: Any

    def over_rows(self, x: Any, batched: bool, size: int) -> Any:
        return self.reduce(x, axes=(0,)) if batched else x

    def trace_jvp(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        x, t = trace.unbox(args[0])
        (out,) = self(x, **params)
        chosen, count = self.ties(x, out, params)
        return [trace.box(out, psum_p(where(chosen, t, 0.0), **params)[0] / count)]

    def trace_reverse(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        ins, (x,) = trace.split(args)
        (out,) = self(x, **params)
        chosen, count = self.ties(x, out, params)
        call = Call(lambda cts: [where(chosen, psum_p(cts[0], **params)[0] / count, 0.0)])
        return record_call(trace, [out], (True,), call, ins)

    def ties(self, x: Any, out: Any, params: dict[str, Any]) -> tuple[Any, Any]:
        chosen = equal(x, out)
        return chosen, psum_p(convert_element_type(chosen, dtype=dtype_of(x)), **params)[0]


class PMax(_PExtremum):
    reduce = staticmethod(reduce_max)


class PMin(_PExtremum):
    reduce = staticmethod(reduce_min)


class AxisIndex(_Collective):
    """The number of the row along the named axis."""

    def abstract_eval(self, *, axis_name: Any) -> list[Any]:
        return [ShapedArray((), np.dtype(np.int64))]

    def trace_batch(self, trace: Any, vals: Sequence[Any], dims: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        return [trace.box(np.arange(trace.size))]


psum_p = PSum("psum")
pmax_p = PMax("pmax")
pmin_p = PMin("pmin")
axis_index_p = AxisIndex("axis_index")


def _over_names(p: Primitive, x: Any, axis_name: Any) -> Any:
    names = axis_name if isinstance(axis_name, tuple | list) else (axis_name,)

    def one(leaf: Any) -> Any:
        leaf = as_value(leaf, lambda: f"{p.name}: an operand")
        for name in names:
            (leaf,) = p(leaf, axis_name=name)
        return leaf

    return tree.map(one, x)


def psum(x: Any, axis_name: Any) -> Any:
    """Sum of a tree of arrays over all rows of the named axis (or axes) of an enclosing vmap.

    Source: jax.lax.psum.

    >>> import numpy as np
    >>> import autodidax
    >>> autodidax.vmap(lambda x: x / psum(x, "rows"), axis_name="rows")(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """
    return _over_names(psum_p, x, axis_name)


def pmean(x: Any, axis_name: Any) -> Any:
    """Mean over all rows of the named axis; source: jax.lax.pmean."""
    n = axis_size(axis_name)
    return tree.map(lambda v: v / n, psum(x, axis_name))


def pmax(x: Any, axis_name: Any) -> Any:
    """Largest over all rows of the named axis; ties share the derivative; source: jax.lax.pmax."""
    return _over_names(pmax_p, x, axis_name)


def pmin(x: Any, axis_name: Any) -> Any:
    """Smallest over all rows of the named axis; ties share the derivative; source: jax.lax.pmin."""
    return _over_names(pmin_p, x, axis_name)


def axis_index(axis_name: Any) -> Any:
    """The number of the row along the named axis; source: jax.lax.axis_index."""
    return axis_index_p(axis_name=axis_name)[0]


def axis_size(axis_name: Any) -> int:
    """The size of the named axis (the product for several); source: jax.lax.axis_size."""
    names = axis_name if isinstance(axis_name, tuple | list) else (axis_name,)
    total = 1
    for name in names:
        total *= named_axis(name).size
    return total
