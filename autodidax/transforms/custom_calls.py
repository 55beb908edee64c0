"""The primitives that call functions with custom rules: how each transform meets them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.compile.program import compiled
from autodidax.core.avals import float0, is_inexact
from autodidax.core.interpreters import (
    Tracer,
    dtype_of,
    get_aval,
)
from autodidax.core.jaxpr import ClosedJaxpr, misfit
from autodidax.primitives.shape import reduce_sum
from autodidax.transforms.backward import backward, cast, transpose_record
from autodidax.transforms.batching import BatchTrace, repeated
from autodidax.transforms.boundary import (
    is_float0,
    zero_tangent,
)
from autodidax.transforms.calls import HigherOrder, record_call, spread
from autodidax.transforms.forward import JVPTrace, instantiate
from autodidax.transforms.program import run
from autodidax.transforms.reverse import Call, LinearTrace, ReverseTrace
from autodidax.transforms.stage import stage


class _CustomCall(HigherOrder):
    """What both kinds share. The functions in the parameters work on flat lists of leaves and reach no tracer: what the
    user's functions close over has become operands. `call_jaxpr` is the function staged, in a staged program."""

    stages_itself = True
    checked = "its rules are the user's"

    def impl(self, *args: Any, fun: Any, call_jaxpr: Any = None, **rules: Any) -> list[Any]:
        return fun(*args) if call_jaxpr is None else compiled(call_jaxpr)(*args)

    def abstract_eval(self, *avals: Any, call_jaxpr: Any, **rules: Any) -> list[Any]:
        return call_jaxpr.out_avals

    def operand_error(self, avals: Sequence[Any], params: dict[str, Any]) -> str | None:
        return misfit(self.name, params["call_jaxpr"], avals)

    def inlined(self, params: dict[str, Any]) -> ClosedJaxpr | None:
        return params.get("call_jaxpr")

    def trace_linear(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        return params["fun"](*args)

    def trace_stage(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        if "call_jaxpr" not in params:
            program, captured = stage(
                params["fun"], [get_aval(x) for x in args], transform=self.name, name=params["name"]
            )
            if captured:
                raise hidden_tracer(params["name"], captured[0])
            params = params | {"fun": program_function(program), "call_jaxpr": program}
        return trace.emit(self, [trace.atom(x) for x in args], params, params["call_jaxpr"].out_avals)


def hidden_tracer(name: str, tracer: Tracer) -> errors.AutodidaxError:
    return errors.UnexpectedTracerError(
        f"{name}, a function with a custom rule, uses a value of {tracer._trace.describe()} that could not be found "
        "from its closure",
        mend="pass the value as an argument, or close over it directly",
    )


def _without(trace: Any, name: str, values: Sequence[Any]) -> Sequence[Any]:
    """The values, checked to be free of this trace's tracers."""
    for x in values:
        if isinstance(x, Tracer) and x._trace is trace:
            raise hidden_tracer(name, x)
    return values


class CustomJVPCall(_CustomCall):
    """Calls a function whose forward rule is `rule(primals, tangents) -> (outs, out tangents)`; None is a zero."""

    def trace_jvp(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        pairs = [trace.unbox(a) for a in args]
        outs, ts = params["rule"]([x for x, _ in pairs], [t for _, t in pairs])
        _without(trace, params["name"], [*outs, *ts])
        return [
            o if t is None or not is_inexact(dtype_of(o)) else trace.box(o, instantiate(t, o))
            for o, t in zip(outs, ts, strict=True)
        ]

    def trace_reverse(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        ins, vals = trace.split(args)
        active = [n for n in ins if n >= 0]
        with LinearTrace("the forward rule", params["name"], affine=True, lasting=True) as linear:
            tangents = [linear.input(v) if n >= 0 else None for n, v in zip(ins, vals, strict=True)]
            outs, ts = params["rule"](vals, tangents)
            tape = linear.tape
        _without(trace, params["name"], outs)

        def pull(cts: list[Any]) -> list[Any]:
            return transpose_record(linear, tape, len(active), zip(ts, cts, strict=True))

        return record_call(trace, outs, (True,) * len(outs), Call(pull), tuple(active))

    def trace_batch(self, trace: Any, vals: Sequence[Any], dims: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        rule, n = params["rule"], len(vals)

        def rule_by_rows(primals: Any, tangents: Any) -> tuple[Any, Any]:
            def flat(*values: Any) -> list[Any]:
                outs, ts = rule(values[:n], values[n:])
                return [*outs, *[zero_tangent(o) if t is None else t for o, t in zip(outs, ts, strict=True)]]

            both = by_rows(flat, trace.size, trace.axis_name, [*dims, *dims])(*primals, *tangents)
            half = len(both) // 2
            return both[:half], [None if is_float0(t) else t for t in both[half:]]

        fun = by_rows(params["fun"], trace.size, trace.axis_name, dims)
        outs = self(*vals, fun=fun, rule=rule_by_rows, name=params["name"])
        return [trace.box(o) for o in outs]


def program_function(program: ClosedJaxpr) -> Callable[..., list[Any]]:
    """The function that a program stands for."""
    return lambda *args: run(program, args)


def by_rows(fun: Callable[..., Any], size: int, axis_name: Any, dims: Sequence[Any]) -> Callable[..., list[Any]]:
    """A function of rows as a function of batches, all outputs batched."""

    def batched(*vals: Any) -> list[Any]:
        with BatchTrace("a function with a custom rule", size, axis_name) as inner:
            boxed = [v if d is None or v is None else inner.box(v) for v, d in zip(vals, dims, strict=True)]
            return [_as_batch(x, inner) for x in fun(*boxed)]

    return batched


def _as_batch(x: Any, trace: Any) -> Any:
    value, dim = trace.unbox(x)
    if value is None:
        return None
    if is_float0(value):
        return np.zeros((trace.size, *value.shape), float0)
    return value if dim is not None else repeated(value, trace.size)


class CustomVJPCall(_CustomCall):
    """Calls a function with `fwd(*args) -> (outs, residuals)` and `bwd(residuals, cts) -> cts of the args`."""

    def trace_reverse(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        ins, vals = trace.split(args)
        outs, residuals = params["fwd"](*vals)
        _without(trace, params["name"], [*outs, *residuals])
        held = [trace.guard.hold_operand(r) for r in residuals]
        in_avals, out_avals = [get_aval(v) for v in vals], [get_aval(o) for o in outs]
        bwd = params["bwd"]

        def pull(cts: list[Any]) -> list[Any]:
            gs = bwd(held, [zero_tangent(a) if c is None else c for c, a in zip(cts, out_avals, strict=True)])
            return [None if g is None or n < 0 else cast(g, a.dtype) for g, n, a in zip(gs, ins, in_avals, strict=True)]

        active = tuple(is_inexact(a.dtype) for a in out_avals)
        return record_call(trace, outs, active, Call(pull), ins)

    def trace_jvp(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        pairs = [trace.unbox(a) for a in args]
        outs, residuals = params["fwd"](*[x for x, _ in pairs])
        _without(trace, params["name"], [*outs, *residuals])
        on = [is_inexact(dtype_of(v)) for v in outs]
        with LinearTrace("the backward rule", params["name"]) as linear:
            cts = [linear.input(v) if f else zero_tangent(v) for v, f in zip(outs, on, strict=True)]
            try:
                gs = params["bwd"](residuals, cts)
            except errors.NotLinearError as e:
                raise errors.NotLinearError(
                    f"custom_vjp {params['name']} in forward mode: its backward rule is not linear in the cotangent: "
                    f"{str(e).splitlines()[0]}",
                    mend="define the function with custom_jvp, or use reverse mode",
                ) from None
            tape = linear.tape
        both = [(g, t) for g, (_, t) in zip(gs, pairs, strict=True) if t is not None and g is not None]
        ts = spread(transpose_record(linear, tape, sum(on), both), on)
        return [o if t is None else trace.box(o, instantiate(t, o)) for o, t in zip(outs, ts, strict=True)]

    def trace_batch(self, trace: Any, vals: Sequence[Any], dims: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        fwd, bwd = params["fwd"], params["bwd"]
        counts: list[int] = []

        def fwd_by_rows(*values: Any) -> tuple[Any, Any]:
            def flat(*rows: Any) -> list[Any]:
                outs, residuals = fwd(*rows)
                counts[:] = [len(outs)]
                return [*outs, *residuals]

            both = by_rows(flat, trace.size, trace.axis_name, dims)(*values)
            return both[: counts[0]], both[counts[0] :]

        def bwd_by_rows(residuals: Any, cts: Any) -> list[Any]:
            n = len(residuals)
            mapped = [0] * n + [None if is_float0(c) else 0 for c in cts]
            gs = by_rows(lambda *values: bwd(values[:n], values[n:]), trace.size, trace.axis_name, mapped)(
                *residuals, *cts
            )
            return [
                g if g is None or d is not None else reduce_sum(g, axes=(0,)) for g, d in zip(gs, dims, strict=True)
            ]

        fun = by_rows(params["fun"], trace.size, trace.axis_name, dims)
        outs = self(*vals, fun=fun, fwd=fwd_by_rows, bwd=bwd_by_rows, name=params["name"])
        return [trace.box(o) for o in outs]


def through_captured(fun: Callable[..., Any], primals: Any, tangents: Any) -> list[Any]:
    """Tangents of a function's outputs through its first inputs alone."""
    c = len(tangents)
    with JVPTrace("jvp", "captured values") as trace:
        boxed = [x if t is None else trace.box(x, t) for x, t in zip(primals[:c], tangents, strict=True)]
        return [trace.unbox(o)[1] for o in fun(*boxed, *primals[c:])]


def pull_captured(fun: Callable[..., Any], values: Any, cts: Any, c: int) -> list[Any]:
    """Cotangents of a function's first c inputs, through the function itself."""
    with ReverseTrace("vjp", "captured values") as trace:
        on = [is_inexact(dtype_of(x)) for x in values[:c]]
        boxed = [trace.input(x) if f else x for x, f in zip(values[:c], on, strict=True)]
        outs = fun(*boxed, *values[c:])
        tape = trace.tape
    slots: list[Any] = [None] * len(tape)
    for o, ct in zip(outs, cts, strict=True):
        if isinstance(o, Tracer) and o._trace is trace and not is_float0(ct):
            slots[o.node] = ct if slots[o.node] is None else slots[o.node] + ct
    return spread(backward(tape, sum(on), slots), on)


def plus(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


custom_jvp_p = CustomJVPCall("custom_jvp_call")
custom_vjp_p = CustomVJPCall("custom_vjp_call")
