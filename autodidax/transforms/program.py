"""Transforms of staged programs: jaxpr in, jaxpr out.

Each result is remembered on the program it was made from, so that it is made once and dies with it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, NamedTuple

from autodidax.core.avals import Masked, ShapedArray, is_inexact
from autodidax.core.interpreters import Tracer, dtype_of
from autodidax.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var, eval_jaxpr, has_effects
from autodidax.primitives.convert import zeros_of
from autodidax.transforms.backward import add_cts, backward, cast, replay, transpose_record
from autodidax.transforms.batching import BatchTrace, repeated
from autodidax.transforms.forward import JVPTrace, instantiate
from autodidax.transforms.reverse import LinearTrace, ReverseTrace
from autodidax.transforms.stage import StageTrace, prune, stage

Flags = tuple[bool, ...]


def tangent_aval(aval: ShapedArray) -> ShapedArray:
    """The aval of a tangent or cotangent: the primal's, not weak."""
    return ShapedArray(aval.shape, aval.dtype)


def run(closed: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
    """Evaluate a program through bind."""
    return eval_jaxpr(closed.jaxpr, closed.consts, *args)


def differentiable(avals: Sequence[ShapedArray]) -> Flags:
    return tuple(is_inexact(a.dtype) for a in avals)


def jvp_program(closed: ClosedJaxpr, active: Flags, force: Flags | None = None) -> tuple[ClosedJaxpr, Flags]:
    """Inputs: all primals, then the tangents of the active ones. Outputs: all primals, then the tangents of the outputs
    that have one (all those in `force` get one), and which these are."""
    key = ("jvp", active, force)
    if key not in closed.derived:
        flags: list[Flags] = []

        def both(*args: Any) -> list[Any]:
            outs, out_active = _run_jvp(closed, active, force, args)
            flags.append(out_active)
            return outs

        avals = closed.in_avals
        t_avals = [tangent_aval(a) for a, on in zip(avals, active, strict=True) if on]
        program, _ = stage(both, [*avals, *t_avals], transform="jvp")
        closed.derived[key] = program, flags[0]
    return closed.derived[key]


def _run_jvp(closed: ClosedJaxpr, active: Flags, force: Flags | None, args: Sequence[Any]) -> tuple[list[Any], Flags]:
    """Outputs, then the tangents of those that have one, and which these are, from primals and active tangents."""
    primals, tangents = args[: len(active)], iter(args[len(active) :])
    with JVPTrace("jvp", "a staged program") as trace:
        boxed = [trace.box(x, next(tangents)) if a else x for x, a in zip(primals, active, strict=True)]
        pairs = [trace.unbox(x) for x in run(closed, boxed)]
    flags = tuple(t is not None and is_inexact(dtype_of(v)) for v, t in pairs)
    if force is not None:
        flags = tuple(a or f for a, f in zip(flags, force, strict=True))
    return [v for v, _ in pairs] + [instantiate(t, v) for (v, t), a in zip(pairs, flags, strict=True) if a], flags


class Residual(NamedTuple):
    """Where a residual of a split program comes from: input number `place`, or extra output number `place`."""

    is_input: bool
    place: int


class Split(NamedTuple):
    """A program in two: `first` has the original inputs and returns the original outputs, then residuals; `second`
    takes the residuals and the late inputs. `out_active`: the outputs that have a late counterpart; `late`: which of
    the late results are present (the others are zero); `late_masks`: those whose mask of structural zeros follows."""

    first: ClosedJaxpr
    second: ClosedJaxpr
    residuals: tuple[Residual, ...]
    out_active: Flags
    late: Flags
    late_masks: Flags = ()


def split_program(
    whole: ClosedJaxpr,
    n_early: int,
    n_out: int,
    out_active: Flags,
    late: Flags,
    late_effects: Collection[JaxprEqn] = (),
) -> Split:
    """Cut a program with early and late inputs into what does not depend on the late ones and what does; the equations
    in `late_effects` belong to the second part also where they do not."""
    jaxpr = whole.jaxpr
    early_in, late_in = jaxpr.invars[:n_early], jaxpr.invars[n_early:]
    dependent: set[Any] = set(late_in)
    after = set(map(id, late_effects))
    first_eqns: list[JaxprEqn] = []
    second_eqns: list[JaxprEqn] = []
    for eqn in jaxpr.eqns:
        if any(v in dependent for v in eqn.invars if type(v) is Var) or id(eqn) in after:
            second_eqns.append(eqn)
            dependent.update(eqn.outvars)
        else:
            first_eqns.append(eqn)
    second_outs = jaxpr.outvars[n_out:]
    crossing: dict[Var, None] = {}
    consts = dict(zip(jaxpr.constvars, whole.consts, strict=True))
    for v in (*(v for e in second_eqns for v in e.invars), *second_outs):
        if type(v) is Var and v not in dependent and v not in consts:
            crossing[v] = None
    position = {v: k for k, v in enumerate(early_in)}
    residuals: list[Residual] = []
    extra: list[Any] = []
    for v in crossing:
        if v in position:
            residuals.append(Residual(True, position[v]))
        else:
            residuals.append(Residual(False, len(extra)))
            extra.append(v)
    first = close(early_in, [*jaxpr.outvars[:n_out], *extra], first_eqns, consts)
    second = close([*crossing, *late_in], second_outs, second_eqns, consts)
    return Split(first, without_weak_inputs(second), tuple(residuals), out_active, late)


def without_weak_inputs(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program for inputs that are not weak, with results of the same dtypes: a Python scalar that a loop keeps
    among its rows comes back as an entry of an array."""
    if not any(a.weak_type for a in program.in_avals):
        return program

    def converted(*args: Any) -> list[Any]:
        return [cast(x, a.dtype) for x, a in zip(run(program, args), program.out_avals, strict=True)]

    return stage(converted, [tangent_aval(a) for a in program.in_avals])[0]


def close(invars: Sequence[Var], outvars: Sequence[Any], eqns: list[JaxprEqn], consts: dict[Var, Any]) -> ClosedJaxpr:
    """A closed program from its parts, without what it does not use."""
    eqns = prune(eqns, outvars)
    used = {v for e in eqns for v in e.invars if type(v) is Var} | {v for v in outvars if type(v) is Var}
    constvars = [v for v in consts if v in used]
    return ClosedJaxpr(Jaxpr(constvars, list(invars), list(outvars), eqns), [consts[v] for v in constvars])


def vjp_program(closed: ClosedJaxpr, active: Flags, masked: Flags | None = None) -> Split:
    """Forward and backward program. The backward one takes residuals and the cotangents of the outputs in `out_active`
    (those that depend on an active input), and returns cotangents of the active inputs: those marked in `late` (the
    others are zero). It takes a mask of structural zeros, after the cotangents, for each output in `masked` (and in
    `out_active`), and returns masks of the results in `late_masks`, after the results."""
    key = ("vjp", active, masked)
    if key not in closed.derived:
        avals = closed.in_avals
        with StageTrace("vjp", "a staged program") as staging:
            xs = [staging.input(a) for a in avals]
            with ReverseTrace("vjp", "a staged program") as trace:
                boxed = [trace.input(x) if a else x for x, a in zip(xs, active, strict=True)]
                outs = run(closed, boxed)
                tape = trace.tape
                pairs = [(o.val, o.node) if isinstance(o, Tracer) and o._trace is trace else (o, None) for o in outs]
            out_active = tuple(n is not None for _, n in pairs)
            slots: list[Any] = [None] * len(tape)
            cts, masks = [], []
            for k, ((_, n), aval) in enumerate(zip(pairs, closed.out_avals, strict=True)):
                if n is not None:
                    ct: Any = staging.input(tangent_aval(aval))
                    cts.append(ct)
                    if masked is not None and masked[k]:
                        masks.append(staging.input(ShapedArray(aval.shape, bool)))
                        ct = Masked(ct, masks[-1])
                    slots[n] = ct if slots[n] is None else add_cts(slots[n], ct)
            n_forward = len(staging.eqns)
            gs = backward(tape, sum(active), slots, keep_masks=masked is not None)
            late_effects = [eqn for eqn in staging.eqns[n_forward:] if eqn.has_effect]
            on_avals = [a for a, on in zip(avals, active, strict=True) if on]
            late = tuple(g is not None for g in gs)
            late_masks = tuple(type(g) is Masked for g in gs)
            values = [g.val if type(g) is Masked else g for g in gs]
            results = [cast(g, a.dtype) for g, a in zip(values, on_avals, strict=True) if g is not None]
            results += [g.mask for g in gs if type(g) is Masked]
            whole, _ = staging.finish([*xs, *cts, *masks], [*(v for v, _ in pairs), *results])
        split = split_program(whole, len(xs), len(outs), out_active, late, late_effects)
        closed.derived[key] = split._replace(late_masks=late_masks)
    return closed.derived[key]


def pullback_of_some(split: Split, present: Flags) -> Split:
    """The same backward program for the cotangents in `present` alone, of the outputs in `out_active`: the others are
    structural zeros, which stay zero also where a residual is infinite. Of a program that takes no masks."""
    second, n = split.second, len(split.residuals)
    key = ("pullback of some", present)
    if key not in second.derived:
        kept: list[Flags] = []

        def some(*args: Any) -> list[Any]:
            # it is linear in the cotangents, so its derivative along some of them is what they alone give
            point = [*args[:n], *(zeros_of(a) for a in second.in_avals[n:])]
            outs, flags = _run_jvp(second, (False,) * n + present, None, [*point, *args[n:]])
            count = sum(split.late)
            kept.append(flags[:count])
            masks = outs[count : len(flags)]
            masked = [f for f, m in zip(flags[:count], _of_late(split, split.late_masks), strict=True) if m]
            return [*outs[len(flags) :], *(m for m, f in zip(masks, masked, strict=True) if f)]

        avals = [*second.in_avals[:n], *(a for a, on in zip(second.in_avals[n:], present, strict=True) if on)]
        program, _ = stage(some, avals)
        flags = iter(kept[0])
        late = tuple(on and next(flags) for on in split.late)
        late_masks = tuple(m and on for m, on in zip(split.late_masks, late, strict=True))
        second.derived[key] = split._replace(second=program, late=late, late_masks=late_masks)
    return second.derived[key]


def _of_late(split: Split, flags: Flags) -> list[bool]:
    """Of one flag a result, those of the results that are present."""
    return [f for f, on in zip(flags, split.late, strict=True) if on]


def linearize_program(closed: ClosedJaxpr, active: Flags, force: Flags | None = None) -> Split:
    """The program and its derivative, which takes residuals and the tangents of the active inputs and returns the
    tangents of the outputs in `out_active` (at least those in `force`).

    The tangents are recorded and then replayed, so that in nested programs, too, no primal depends on a tangent."""
    key = ("linearize", active, force)
    if key not in closed.derived:
        avals = closed.in_avals
        with StageTrace("linearize", "a staged program") as staging:
            xs = [staging.input(a) for a in avals]
            with LinearTrace("linearize", "a staged program", affine=True) as linear:
                ts = [linear.input(a) for a, on in zip(avals, active, strict=True) if on]
                outs, out_active = _run_jvp(closed, active, force, [*xs, *ts])
                tape = linear.tape
            n = len(closed.out_avals)
            first, second, residuals = _cut(staging, linear, tape, [t.val for t in ts], xs, outs[:n], outs[n:])
        closed.derived[key] = Split(first, second, residuals, out_active, (True,) * sum(out_active))
    return closed.derived[key]


def linear_split(
    closed: ClosedJaxpr, late: Flags, force: Flags | None = None, *, affine: bool = False
) -> tuple[Split, Flags]:
    """A program in two, by its late inputs, in which it is linear: what does not depend on them, and what does. The
    second takes residuals and the late inputs, and returns the late outputs: those that depend on them, and those in
    `force`; which these are is the other result. The first has zeros in their places, and reads no late input."""
    key = ("linear split", late, force, affine)
    if key not in closed.derived:
        avals = closed.in_avals
        with StageTrace("linearize", "a staged program") as staging:
            xs = [staging.input(a) for a in avals]
            with LinearTrace("linearize", "a staged program", affine) as linear:
                ts = [linear.input(a) for a, on in zip(avals, late, strict=True) if on]
                late_args = iter(ts)
                outs = run(closed, [next(late_args) if on else x for x, on in zip(xs, late, strict=True)])
                tape = linear.tape
            flags = tuple(
                (isinstance(o, Tracer) and o._trace is linear) or (force is not None and force[k])
                for k, o in enumerate(outs)
            )
            values = [zeros_of(a) if f else o for o, a, f in zip(outs, closed.out_avals, flags, strict=True)]
            late_outs = [o for o, f in zip(outs, flags, strict=True) if f]
            first, second, residuals = _cut(staging, linear, tape, [t.val for t in ts], xs, values, late_outs)
        closed.derived[key] = Split(first, second, residuals, flags, (True,) * sum(flags)), flags
    return closed.derived[key]


def _cut(
    staging: StageTrace, linear: LinearTrace, tape: list[Any], avals: Sequence[ShapedArray], xs: list[Any],
    values: list[Any], late_outs: list[Any],
) -> tuple[ClosedJaxpr, ClosedJaxpr, tuple[Residual, ...]]:  # fmt: skip
    """Two programs: that of `values`, and that of the linear record which gives `late_outs` from inputs of these avals.
    What the second captures when it is staged are the residuals."""

    def replayed(*ts: Any) -> list[Any]:
        results = replay(tape, list(ts))
        return [results[o.node] if isinstance(o, Tracer) and o._trace is linear else o for o in late_outs]

    second, captured = stage(replayed, avals)
    position = {x.node: k for k, x in enumerate(xs)}
    residuals: list[Residual] = []
    extra: list[Any] = []
    for r in captured:
        if r.node in position:
            residuals.append(Residual(True, position[r.node]))
        else:
            residuals.append(Residual(False, len(extra)))
            extra.append(r)
    first, _ = staging.finish(xs, [*values, *extra])
    return first, without_weak_inputs(second), tuple(residuals)


def transpose_program(closed: ClosedJaxpr, linear: Flags, with_ct: Flags | None = None) -> tuple[ClosedJaxpr, Flags]:
    """The transpose in the linear inputs: takes the other inputs and the cotangents of the outputs in `with_ct`;
    returns the cotangents of the linear inputs that have one, and which these are."""
    with_ct = (True,) * len(closed.out_avals) if with_ct is None else with_ct
    key = ("transpose", linear, with_ct)
    if key not in closed.derived:
        avals = closed.in_avals
        flags: list[bool] = []

        def transposed(*args: Any) -> list[Any]:
            n_others = len(linear) - sum(linear)
            others, cts = iter(args[:n_others]), iter(args[n_others:])
            with LinearTrace("transpose", "a staged program") as trace:
                boxed = [trace.input(a) if on else next(others) for a, on in zip(avals, linear, strict=True)]
                outs = run(closed, boxed)
                tape = trace.tape
            pairs = [(o, next(cts)) for o, on in zip(outs, with_ct, strict=True) if on]
            gs = transpose_record(trace, tape, sum(linear), pairs)
            flags[:] = [g is not None for g in gs]
            on_avals = [a for a, on in zip(avals, linear, strict=True) if on]
            return [cast(g, a.dtype) for g, a in zip(gs, on_avals, strict=True) if g is not None]

        others = [a for a, on in zip(avals, linear, strict=True) if not on]
        ct_avals = [tangent_aval(a) for a, on in zip(closed.out_avals, with_ct, strict=True) if on]
        program, _ = stage(transposed, [*others, *ct_avals], transform="transpose")
        closed.derived[key] = program, tuple(flags)
    return closed.derived[key]


def batch_program(
    closed: ClosedJaxpr, trace: BatchTrace, batched: Flags, force: Flags | None = None
) -> tuple[ClosedJaxpr, Flags]:
    """The program on batches, batch axis first, and which outputs are batched (at least those in `force`)."""
    key = ("batch", trace.size, trace.axis_name, batched, force)
    if key not in closed.derived:
        flags: list[bool] = []
        size, name = trace.size, trace.axis_name

        def mapped(*args: Any) -> list[Any]:
            with BatchTrace("a staged program", size, name) as inner:
                outs = run(closed, [inner.box(x) if b else x for x, b in zip(args, batched, strict=True)])
                pairs = [inner.unbox(x) for x in outs]
            flags[:] = [d is not None for _, d in pairs]
            if force is not None:
                flags[:] = [b or f for b, f in zip(flags, force, strict=True)]
            avals = closed.out_avals
            return [  # a batch of weak values is not weak: what it makes wider is brought back
                cast(repeated(v, size) if b and d is None else v, a.dtype)
                for (v, d), b, a in zip(pairs, flags, avals, strict=True)
            ]

        avals = [
            ShapedArray((size, *a.shape), a.dtype) if b else a for a, b in zip(closed.in_avals, batched, strict=True)
        ]
        program, _ = stage(mapped, avals, transform="vmap")
        closed.derived[key] = program, tuple(flags)
    return closed.derived[key]


def rearranged(closed: ClosedJaxpr, inputs: Sequence[Any], outputs: Sequence[int] | None = None) -> ClosedJaxpr:
    """The program with other inputs: positions of its own, or avals for inputs that it ignores; and outputs chosen by
    position."""
    jaxpr = closed.jaxpr
    invars = [jaxpr.invars[i] if isinstance(i, int) else Var(i) for i in inputs]
    outvars = jaxpr.outvars if outputs is None else [jaxpr.outvars[k] for k in outputs]
    return ClosedJaxpr(Jaxpr(jaxpr.constvars, invars, list(outvars), jaxpr.eqns), closed.consts)


def residuals_again(split: Split, n_out: int) -> ClosedJaxpr | None:
    """The program of a split's residuals alone, from the original inputs and without effects; None where a residual
    depends on what an effect returned."""
    first = split.first
    if "residuals" not in first.derived:
        outputs = range(n_out, len(first.out_avals))
        first.derived["residuals"] = _stripped(rearranged(first, range(len(first.in_avals)), outputs))
    return first.derived["residuals"]


def without_effects(closed: ClosedJaxpr) -> ClosedJaxpr | None:
    """The program without its effects, to be run again; None where a result depends on what an effect returns."""
    if not has_effects(closed):
        return closed
    if "without effects" not in closed.derived:
        closed.derived["without effects"] = _stripped(closed)
    return closed.derived["without effects"]


def _stripped(closed: ClosedJaxpr) -> ClosedJaxpr | None:
    jaxpr = closed.jaxpr
    needed = {v for v in jaxpr.outvars if type(v) is Var}
    kept: list[JaxprEqn] = []
    for eqn in reversed(jaxpr.eqns):
        if not any(v in needed for v in eqn.outvars):
            continue
        if eqn.has_effect:
            params = None if eqn.primitive.effect else _stripped_params(eqn.params)
            if params is None:
                return None
            eqn = JaxprEqn(eqn.primitive, eqn.invars, eqn.outvars, params, eqn.quiet, eqn.mark)
        kept.append(eqn)
        needed.update(v for v in eqn.invars if type(v) is Var)
    kept.reverse()
    return close(jaxpr.invars, jaxpr.outvars, kept, dict(zip(jaxpr.constvars, closed.consts, strict=True)))


def _stripped_params(params: dict[str, Any]) -> dict[str, Any] | None:
    """Parameters whose programs are without their effects."""
    new = dict(params)
    for name, value in params.items():
        several = isinstance(value, tuple | list)
        items = [without_effects(v) if isinstance(v, ClosedJaxpr) else v for v in (value if several else (value,))]
        if any(v is None and old is not None for v, old in zip(items, value if several else (value,), strict=True)):
            return None
        new[name] = tuple(items) if several else items[0]
    if "call_jaxpr" in params:  # a function with a custom rule, whose staged form is given twice
        new["fun"] = partial(_run_flat, new["call_jaxpr"])
    return new


def _run_flat(closed: ClosedJaxpr, *args: Any) -> list[Any]:
    return run(closed, args)


def zeros_program(in_avals: Sequence[ShapedArray], out_avals: Sequence[ShapedArray]) -> ClosedJaxpr:
    """A program that ignores its inputs and returns zeros."""
    program, _ = stage(lambda *_: [zeros_of(a) for a in out_avals], in_avals)
    return program


def unify_captures(programs: Sequence[tuple[ClosedJaxpr, list[Any]]]) -> tuple[list[ClosedJaxpr], list[Any]]:
    """Programs that each have captured tracers as first inputs, given all the captured tracers of all of them."""
    captured: list[Any] = []
    for _, own in programs:
        captured += [c for c in own if not any(c is d for d in captured)]
    if all(len(own) == len(captured) for _, own in programs) and all(
        all(c is d for c, d in zip(own, captured, strict=True)) for _, own in programs
    ):
        return [p for p, _ in programs], captured
    result = []
    for program, own in programs:
        place = {id(c): k for k, c in enumerate(own)}
        front = [place.get(id(c), c.aval) for c in captured]
        rest = range(len(own), len(program.jaxpr.invars))
        result.append(rearranged(program, [*front, *rest]))
    return result, captured
