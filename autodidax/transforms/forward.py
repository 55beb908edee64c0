"""Forward mode: a value and its tangent travel together."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax.core.avals import PYTHON_SCALARS, Masked, is_inexact
from autodidax.core.interpreters import Trace, Tracer, ValueTracer, dtype_of, shape_of
from autodidax.core.primitive import partial1, products
from autodidax.primitives.convert import zeros_like
from autodidax.primitives.elementwise import add
from autodidax.transforms.backward import cast, fit_tangent
from autodidax.transforms.reverse import LinearTracer, refuse_nondifferentiable

new = object.__new__
ndarray = np.ndarray


class JVPTracer(ValueTracer):
    """A value with its tangent, which is `node`."""

    __slots__ = ()


class JVPTrace(Trace):
    """Computes primals and tangents side by side; a result without a tangent is a plain value.

    An operand that is itself a linear tracer is a tangent, met in a user's rule that closes over a traced value: the
    result is a tangent too, and has none of its own."""

    __slots__ = ()

    def box(self, primal: Any, tangent: Any) -> Any:
        tracer = new(JVPTracer)
        tracer._trace, tracer.val, tracer.node = self, primal, tangent
        return tracer

    def unbox(self, x: Any) -> tuple[Any, Any]:
        """Primal and tangent (None: zero) of any value."""
        if isinstance(x, Tracer) and x._trace is self:
            return x.val, x.node
        return x, None

    def process1(self, p: Any, x: Any) -> Any:
        x_val = x.val
        out = p.op(x_val)
        d = partial1[p.code]
        tracer = new(JVPTracer)
        tracer._trace, tracer.val = self, out
        tracer.node = x.node * d(out, x_val) if d is not None else p.products[0](x.node, out, x_val)
        return tracer

    def process2(self, p: Any, x: Any, y: Any) -> Any:
        x, tx = self.unbox(x)
        y, ty = self.unbox(y)
        out = p.op(x, y)
        px, py = p.products
        if tx is None:
            if type(x) is LinearTracer:
                return out
            t = py(ty, out, x, y)
        elif ty is None:
            if type(y) is LinearTracer:
                return out
            t = px(tx, out, x, y)
        else:
            t = add(_plain(px(tx, out, x, y)), _plain(py(ty, out, x, y)))
        t = _plain(t)
        kind = type(t)
        if kind is ndarray and type(out) is ndarray:
            if t.shape != out.shape or t.dtype is not out.dtype:
                t = match_tangent(t, out)
        elif kind is not type(out) or isinstance(t, Tracer):
            t = match_tangent(t, out)
        return self.box(out, t)

    def process(self, p: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if p.higher_order:
            return p.trace_jvp(self, args, params)
        if len(args) == 1 and (p.linear or 0 in p.linear_in) and not p.multiple_results:
            (x,) = args  # of a linear primitive: the common case, in short
            out = p.bind(x.val, **params)
            if not is_inexact(dtype_of(out)):
                return out
            return self.box(out, match_tangent(p.bind(x.node, **params), out))
        primals, tangents = zip(*map(self.unbox, args), strict=True)
        out = p.bind(*primals, **params)
        if p.zero_derivative or any(type(x) is LinearTracer for x in primals):
            return out
        if p.nondifferentiable:
            refuse_nondifferentiable(p, out)
            return out
        if p.multiple_results:
            ts = jvp_rule(p, out, primals, tangents, params)
            return [
                o if t is None or not is_inexact(dtype_of(o)) else self.box(o, match_tangent(t, o))
                for o, t in zip(out, ts, strict=True)
            ]
        if not is_inexact(dtype_of(out)):
            return out
        t = jvp_rule(p, out, primals, tangents, params)
        return out if t is None else self.box(out, match_tangent(t, out))


def _plain(t: Any) -> Any:
    return t.val if type(t) is Masked else t


def match_tangent(t: Any, out: Any) -> Any:
    """A tangent with exactly the shape and dtype of the output it belongs to."""
    t = _plain(t)
    if isinstance(out, float) and type(t) is float:
        return t
    return fit_tangent(t, shape_of(out), dtype_of(out))


def jvp_rule(p: Any, out: Any, primals: Any, tangents: Any, params: dict[str, Any]) -> Any:
    """Tangent(s) of a primitive's output, by its kind."""
    prods = products[p.code]
    if prods:
        total = None
        for t, product in zip(tangents, prods, strict=True):
            term = None if t is None else _plain(product(t, out, *primals))
            if term is not None:
                total = term if total is None else add(total, term)
        return total
    active = [k for k, t in enumerate(tangents) if t is not None]
    if p.multilinear:
        total = None
        for k in active:
            term = p.bind(*primals[:k], tangents[k], *primals[k + 1 :], **params)
            total = term if total is None else add(total, term)
        return total
    if p.linear:
        return p.bind(*[zeros_like(x) if t is None else t for x, t in zip(primals, tangents, strict=True)], **params)
    if p.linear_in and set(active) <= set(p.linear_in):
        args = [
            x if k not in p.linear_in else _zero_operand(x) if t is None else t
            for k, (x, t) in enumerate(zip(primals, tangents, strict=True))
        ]
        return p.bind(*args, **params)
    return p.jvp(out, primals, tangents, **params)


def _zero_operand(x: Any) -> Any:
    """Zeros in the place of a constant operand; for a Python number one of its kind, which yields to other dtypes."""
    return type(x)(0) if type(x) in PYTHON_SCALARS else zeros_like(x)


def instantiate(t: Any, primal: Any) -> Any:
    """An actual tangent: zeros where it is None."""
    return zeros_like(primal) if t is None else cast(t, dtype_of(primal))
