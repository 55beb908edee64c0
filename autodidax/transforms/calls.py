"""Primitives that carry whole programs: their common treatment by every transform, and the plain call, `jit`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autodidax.compile.program import compiled
from autodidax.core.avals import Masked, is_inexact
from autodidax.core.interpreters import Tracer, bind, dtype_of, get_aval, innermost_staging, shape_of
from autodidax.core.jaxpr import ClosedJaxpr, has_effects, misfit, subjaxprs
from autodidax.core.primitive import Primitive, Sample
from autodidax.primitives.convert import zeros_of
from autodidax.primitives.elementwise import sin
from autodidax.primitives.shape import broadcast_to, reduce_sum
from autodidax.transforms.forward import instantiate
from autodidax.transforms.program import (
    Flags,
    Split,
    batch_program,
    jvp_program,
    linear_split,
    linearize_program,
    pullback_of_some,
    residuals_again,
    transpose_program,
    vjp_program,
)
from autodidax.transforms.reverse import Call, LinearTracer
from autodidax.transforms.stage import stage


class HigherOrder(Primitive):
    """A primitive whose parameters hold programs or functions, which handles each transform itself: `trace_jvp`,
    `trace_reverse`, `trace_linear` and `trace_batch` take the trace in place of rules on values."""

    multiple_results = True
    higher_order = True

    def __call__(self, *args: Any, **params: Any) -> list[Any]:
        for a in args:
            if isinstance(a, Tracer):
                return bind(self, *args, **params)
        staging = innermost_staging(0)
        if staging is not None and any(map(has_effects, subjaxprs(params))):
            return staging.process(self, args, params)  # effects wait for the run of the program being written
        return self.impl(*args, **params)

    bind = __call__

    def trace_jvp(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        raise self._missing("forward-mode treatment (trace_jvp)")

    def trace_reverse(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        raise self._missing("reverse-mode treatment (trace_reverse)")

    def trace_linear(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        raise self._missing("linear treatment (trace_linear)")

    def trace_batch(self, trace: Any, vals: Sequence[Any], dims: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        raise self._missing("batching treatment (trace_batch)")


def waits_for_program(closed: ClosedJaxpr) -> bool:
    """Whether a call with plain operands has to be staged: it has effects, and a program is being written."""
    return innermost_staging(0) is not None and has_effects(closed)


def is_linear(t: Any) -> bool:
    """Whether a tangent stands for an unknown, under any tracers: then primals are computed apart from tangents."""
    while isinstance(t, Tracer):
        if isinstance(t, LinearTracer):
            return True
        if t._trace.staging:
            return False
        if isinstance(t.node, Tracer) and is_linear(t.node):
            return True
        t = t.val
    return False


def split_tangents(trace: Any, args: Sequence[Any]) -> tuple[list[Any], list[Any], tuple[bool, ...]]:
    """Primals, tangents of the active arguments, and which are active."""
    pairs = [trace.unbox(a) for a in args]
    active = tuple(t is not None for _, t in pairs)
    return [x for x, _ in pairs], [t for _, t in pairs if t is not None], active


def box_outputs(trace: Any, outs: Sequence[Any], tangents: Any, out_active: Sequence[bool]) -> list[Any]:
    ts = iter(tangents)
    return [trace.box(o, instantiate(next(ts), o)) if a else o for o, a in zip(outs, out_active, strict=True)]


def take_residuals(split: Split, args: Sequence[Any], extra: Sequence[Any]) -> list[Any]:
    return [args[r.place] if r.is_input else extra[r.place] for r in split.residuals]


def fill_cts(cts: Sequence[Any], avals: Sequence[Any], out_active: Sequence[bool]) -> list[Any]:
    """The cotangents that a backward program takes: zeros where there is none."""
    cts = [c.val if type(c) is Masked else c for c in cts]
    return [zeros_of(a) if c is None else c for c, a, on in zip(cts, avals, out_active, strict=True) if on]


def masked_flags(cts: Sequence[Any]) -> tuple[bool, ...]:
    """Which cotangents have structural zeros."""
    return tuple(type(c) is Masked for c in cts)


def masks_of(cts: Sequence[Any]) -> list[Any]:
    """The masks of the cotangents that have one, each of its cotangent's shape."""
    return [
        c.mask if shape_of(c.mask) == shape_of(c.val) else broadcast_to(c.mask, shape=shape_of(c.val))
        for c in cts
        if type(c) is Masked
    ]


def with_masks(results: Sequence[Any], late: Sequence[bool], late_masks: Sequence[bool]) -> list[Any]:
    """Cotangents from a backward program's results: values, then masks."""
    values = spread(results, late)
    masks = spread(results[sum(late) :], late_masks)
    return [g if m is None else Masked(g, m) for g, m in zip(values, masks, strict=True)]


def hold_constants(trace: Any, ins: Sequence[int], vals: Sequence[Any]) -> list[Any]:
    """The operands, as a record may keep them."""
    return [v if n >= 0 else trace.guard.hold_operand(v) for n, v in zip(ins, vals, strict=True)]


def spread(values: Any, flags: Sequence[bool]) -> list[Any]:
    """Values at the flagged places, None elsewhere."""
    it = iter(values)
    return [next(it) if f else None for f in flags]


class ProgramCall(HigherOrder):
    """Runs one program: parameters `jaxpr` and `name`."""

    def impl(self, *args: Any, jaxpr: ClosedJaxpr, name: str) -> list[Any]:
        return compiled(jaxpr)(*args)

    def abstract_eval(self, *avals: Any, jaxpr: ClosedJaxpr, name: str) -> list[Any]:
        return jaxpr.out_avals

    def operand_error(self, avals: Sequence[Any], params: dict[str, Any]) -> str | None:
        return misfit(params["name"], params["jaxpr"], avals)

    def trace_jvp(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        jaxpr, name = params["jaxpr"], params["name"]
        primals, tangents, active = split_tangents(trace, args)
        if any(map(is_linear, tangents)):
            split = linearize_program(jaxpr, active)
            outs = self(*primals, jaxpr=split.first, name=name)
            n = len(jaxpr.out_avals)
            residuals = take_residuals(split, primals, outs[n:])
            ts = self(*residuals, *tangents, jaxpr=split.second, name=name)
            return box_outputs(trace, outs[:n], ts, split.out_active)
        program, out_active = jvp_program(jaxpr, active)
        outs = self(*primals, *tangents, jaxpr=program, name=name)
        n = len(jaxpr.out_avals)
        return box_outputs(trace, outs[:n], outs[n:], out_active)

    def trace_reverse(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        jaxpr, name = params["jaxpr"], params["name"]
        ins, vals = trace.split(args)
        active = tuple(n >= 0 for n in ins)
        n = len(jaxpr.out_avals)
        split = vjp_program(jaxpr, active, (False,) * n)
        outs = self(*vals, jaxpr=split.first, name=name)
        residuals = [trace.guard.hold_operand(r) for r in take_residuals(split, vals, outs[n:])]
        held = hold_constants(trace, ins, vals)
        avals = jaxpr.out_avals

        def pull(cts: list[Any]) -> list[Any]:
            masked = vjp_program(jaxpr, active, masked_flags(cts)) if any(type(c) is Masked for c in cts) else None
            again = residuals_again(masked, n) if masked is not None else None
            if masked is not None and again is not None:
                kept = take_residuals(masked, held, self(*held, jaxpr=again, name=name))
                gs = self(
                    *kept, *fill_cts(cts, avals, split.out_active), *masks_of(cts), jaxpr=masked.second, name=name
                )
                return spread(with_masks(gs, masked.late, masked.late_masks), active)
            present = tuple(c is not None for c, on in zip(cts, split.out_active, strict=True) if on)
            if all(present) or has_effects(split.second):
                some, given = split, fill_cts(cts, avals, split.out_active)
            else:
                some = pullback_of_some(split, present)
                given = [c for c, on in zip(cts, split.out_active, strict=True) if on and c is not None]
            gs = self(*residuals, *given, jaxpr=some.second, name=name)
            return spread(with_masks(gs, some.late, some.late_masks), active)

        return record_call(trace, outs[:n], split.out_active, Call(pull, takes_masks=True), ins)

    def trace_linear(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        jaxpr, name = params["jaxpr"], params["name"]
        linear = tuple(isinstance(a, LinearTracer) and a._trace is trace for a in args)
        ins = tuple(a.node for a, on in zip(args, linear, strict=True) if on)
        split, out_late = linear_split(jaxpr, linear, affine=trace.affine)
        if all(out_late) and not has_effects(split.first):
            others = [a for a, on in zip(args, linear, strict=True) if not on]
            return self.record_linear(trace, jaxpr, name, linear, others, ins)
        # results that do not depend on the linear operands, such as the value beside a tangent, are values
        known = [zeros_of(get_aval(a)) if on else a for a, on in zip(args, linear, strict=True)]
        outs = self(*known, jaxpr=split.first, name=name)
        others = take_residuals(split, known, outs[len(out_late) :])
        flags = (False,) * len(others) + (True,) * len(ins)
        late = iter(self.record_linear(trace, split.second, name, flags, others, ins))
        return [next(late) if f else o for o, f in zip(outs, out_late, strict=False)]

    def record_linear(
        self, trace: Any, jaxpr: ClosedJaxpr, name: str, linear: Flags, others: list[Any], ins: tuple[int, ...]
    ) -> list[Any]:
        """Tracers for the results of a program that all depend on its linear inputs, which are the nodes `ins`."""

        def pull(cts: list[Any]) -> list[Any]:
            with_ct = tuple(c is not None for c in cts)
            program, flags = transpose_program(jaxpr, linear, with_ct)
            gs = self(*others, *[c for c in cts if c is not None], jaxpr=program, name=name)
            return spread(gs, flags)

        def push(*tangents: Any) -> list[Any]:
            ts, rest = iter(tangents), iter(others)
            return self(*[next(ts) if on else next(rest) for on in linear], jaxpr=jaxpr, name=name)

        return trace.results(jaxpr.out_avals, (Call(pull, push), ins, len(jaxpr.out_avals)))

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        x, y, k = rng.normal(size=3), rng.normal(), np.arange(3)
        programs = {
            "two outputs": (lambda x, y: [sin(x) * y, reduce_sum(x * x, axes=(0,))], (x, y)),
            "integers beside": (lambda x, k: [x * x * k, k + k], (x, k)),
            "constant output": (lambda x: [x * x, np.ones(2)], (x,)),
            "float32": (lambda x: [sin(x) * 2.0], (x.astype(np.float32),)),
            "complex": (lambda x: [x * x], (x + 1j,)),
        }
        fun: Any
        for name, (fun, args) in programs.items():
            program, _ = stage(fun, [get_aval(a) for a in args])
            yield Sample(args, {"jaxpr": program, "name": "f"}, name=name)

    def trace_batch(self, trace: Any, vals: Sequence[Any], dims: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        program, batched = batch_program(params["jaxpr"], trace, tuple(d is not None for d in dims))
        outs = self(*vals, **(params | {"jaxpr": program}))
        return [trace.box(o) if b else o for o, b in zip(outs, batched, strict=True)]


def record_call(
    trace: Any, outs: Sequence[Any], out_active: Sequence[bool], call: Call, ins: tuple[int, ...]
) -> list[Any]:
    """Tracers for the active outputs of a call node."""
    tape = trace.tape
    main = len(tape)
    tape.append((call, ins, len(outs)))
    return [
        trace.result(o, (k, main)) if on and is_inexact(dtype_of(o)) else o
        for k, (o, on) in enumerate(zip(outs, out_active, strict=True))
    ]


class JitCall(ProgramCall):
    """A jitted function's program, called in another."""

    def inlined(self, params: dict[str, Any]) -> ClosedJaxpr:
        return params["jaxpr"]


jit_p = JitCall("jit")
