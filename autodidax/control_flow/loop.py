"""The loop primitive: one for scan, while and counted loops, with its rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autodidax import errors
from autodidax.compile.program import compiled
from autodidax.control_flow.rows import Rows, rows_like, select_rows, stack_rows
from autodidax.core.avals import ShapedArray, UnknownSize, shapes_agree
from autodidax.core.interpreters import get_aval
from autodidax.core.jaxpr import ClosedJaxpr, Jaxpr, has_effects, misfit, subjaxprs
from autodidax.core.primitive import Primitive, Sample
from autodidax.primitives.comparison import logical_and
from autodidax.primitives.convert import convert_element_type, zeros_like, zeros_of
from autodidax.primitives.elementwise import sin
from autodidax.primitives.indexing import Slot, getitem_p
from autodidax.primitives.reductions import reduce_max, reduce_or
from autodidax.primitives.shape import moveaxis
from autodidax.transforms.batching import repeated
from autodidax.transforms.calls import HigherOrder, is_linear, record_call, spread
from autodidax.transforms.program import (
    Split,
    batch_program,
    jvp_program,
    linear_split,
    linearize_program,
    rearranged,
    run,
    tangent_aval,
    transpose_program,
    vjp_program,
)
from autodidax.transforms.reverse import Call, LinearTracer
from autodidax.transforms.stage import stage

INT = np.dtype(np.int64)


class Parts(NamedTuple):
    """The operands of a loop by their role."""

    trip: list[Any]
    cond_consts: list[Any]
    consts: list[Any]
    carry: list[Any]
    xs: list[Any]


class Loop(HigherOrder):
    """Runs a body over a carry, until a condition fails, for the rows of xs, or a given number of times.

    Operands: [trip] if counted, the condition's constants, the body's constants, the carry, xs (rows along axis 0).
    `body`: (constants, carry, row of xs) -> (carry, row of ys); `cond`: (constants, carry) -> [bool], or None.
    Outputs: [number of iterations] where there is a condition, the carry, ys.
    `length`: the number of rows, an UnknownSize where it is only known at run time.
    """

    def parts(self, args: Sequence[Any], params: dict[str, Any]) -> Parts:
        sizes = [int(params["counted"]), params["n_cond"], params["n_const"], params["n_carry"]]
        groups: list[list[Any]] = []
        start = 0
        for n in sizes:
            groups.append(list(args[start : start + n]))
            start += n
        return Parts._make([*groups, list(args[start:])])

    def impl(self, *args: Any, **params: Any) -> list[Any]:
        parts = self.parts(args, params)
        body, n_carry = compiled(params["body"]).call, params["n_carry"]
        avals = params["body"].out_avals[n_carry:]
        consts, carry = parts.consts, parts.carry
        if params["cond"] is not None:
            return _run_while(compiled(params["cond"]).call, body, parts, avals)
        n = int(parts.trip[0]) if params["counted"] else params["length"]
        rows: Any = range(n - 1, -1, -1) if params["reverse"] else range(n)
        # an array of unknown length and one row stands for that row repeated (zeros); one that is longer than the trip
        # was filled up with zeros beside a longer trip, and so are the results
        single = [x.shape[0] == 1 and n != 1 for x in parts.xs]
        longest = max([n, *(x.shape[0] for x in parts.xs)])
        ys = [Rows(longest, a) for a in avals]
        for i in rows:
            out = body(*consts, *carry, *[x[0 if one else i] for x, one in zip(parts.xs, single, strict=True)])
            carry = out[:n_carry]
            for y, v in zip(ys, out[n_carry:], strict=True):
                y.put(i, v)
        return [*carry, *[y.stacked(n) for y in ys]]

    def abstract_eval(self, *avals: Any, **params: Any) -> list[Any]:
        n_carry = params["n_carry"]
        outs = params["body"].out_avals
        ys = [ShapedArray((params["length"], *a.shape), a.dtype) for a in outs[n_carry:]]
        count = [ShapedArray((), INT)] if params["cond"] is not None else []
        return [*count, *outs[:n_carry], *ys]

    def operand_error(self, avals: Sequence[Any], params: dict[str, Any]) -> str | None:
        trip, cond_consts, consts, carry, xs = self.parts(avals, params)
        body, cond, length = params["body"], params["cond"], params["length"]
        for x in xs:
            if not shapes_agree(x.shape[:1], (length,)):
                return f"has rows {x!r} for {length} iterations"
        problem = misfit(
            "the body", body, [*consts, *carry, *map(_row_aval, xs)], [*carry, *body.out_avals[len(carry) :]]
        )
        if problem is None and cond is not None:
            problem = misfit("the condition", cond, [*cond_consts, *carry], [ShapedArray((), bool)])
        if problem is None and [a.dtype.kind for a in trip] != ["i"] * params["counted"]:
            problem = f"is counted by {trip}"
        return problem

    def call(self, parts: Parts, cond: Any, body: ClosedJaxpr, length: int, reverse: bool) -> list[Any]:
        return self(
            *parts.trip, *parts.cond_consts, *parts.consts, *parts.carry, *parts.xs,
            cond=cond, body=body, n_cond=len(parts.cond_consts), n_const=len(parts.consts), n_carry=len(parts.carry),
            length=length, reverse=reverse, counted=bool(parts.trip),
        )  # fmt: skip

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        w, c, xs = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(4, 3))
        counts = {"n_cond": 0, "n_const": 1, "n_carry": 1, "counted": False, "cond": None}
        row = get_aval(w)
        scan, _ = stage(lambda w, c, x: [sin(c * w) + x, c * x], [row, row, row])
        for reverse in (False, True):
            yield Sample(
                (w, c, xs), counts | {"body": scan, "length": 4, "reverse": reverse}, name=f"scan, reverse={reverse}"
            )
        yield Sample((w, c, xs[:0]), counts | {"body": scan, "length": 0, "reverse": False}, name="scan of no rows")
        step, _ = stage(lambda w, c, i: [c * w, i + 1], [row, row, get_aval(np.int64(0))])
        held = counts | {"body": step, "n_carry": 2, "length": UnknownSize(), "reverse": False}
        yield Sample((np.int64(3), w, c, np.int64(0)), held | {"counted": True}, name="counted")
        test, _ = stage(lambda n, c, i: [i < n], [get_aval(np.int64(3)), row, get_aval(np.int64(0))])
        yield Sample((np.int64(3), w, c, np.int64(0)), held | {"cond": test, "n_cond": 1}, name="while")

    # forward mode

    def trace_jvp(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        pairs = self.parts([trace.unbox(a) for a in args], params)
        primals = Parts(*[[x for x, _ in group] for group in pairs])
        tangents = Parts(*[[t for _, t in group] for group in pairs])
        body, cond, length, reverse = params["body"], params["cond"], params["length"], params["reverse"]
        consts_on, xs_on = _on(tangents.consts), _on(tangents.xs)
        carry_on = _on(tangents.carry)
        n = len(carry_on)
        while True:
            _, out_active = jvp_program(body, consts_on + carry_on + xs_on)
            grown = tuple(a or b for a, b in zip(carry_on, out_active[:n], strict=True))
            if grown == carry_on:
                break
            carry_on = grown
        active, out_active = consts_on + carry_on + xs_on, carry_on + out_active[n:]
        t_carry = [
            zeros_of(tangent_aval(a)) if t is None else t
            for t, a, on in zip(tangents.carry, body.in_avals[len(consts_on) :], carry_on, strict=False)
            if on
        ]
        ts = Parts([], [], _present(tangents.consts), t_carry, _present(tangents.xs))
        if any(map(is_linear, [*ts.consts, *ts.carry, *ts.xs])):
            split = linearize_program(body, active, out_active)
            outs, moved = self._run_first(primals, split, params)
            second = _second_body(split, moved, len(ts.consts), len(ts.carry), len(ts.xs))
            late = Parts(moved.trip, [], [*moved.consts, *ts.consts], ts.carry, [*moved.xs, *ts.xs])
            t_outs = self.call(late, None, second, length, reverse)
        else:
            program, _ = jvp_program(body, active, out_active)
            outs, t_outs = self._run_both(primals, ts, program, cond, body, length, reverse)
        count = len(outs) - len(out_active)
        boxes = spread(t_outs, out_active)
        return outs[:count] + [o if t is None else trace.box(o, t) for o, t in zip(outs[count:], boxes, strict=True)]

    def _run_both(
        self, primals: Parts, ts: Parts, program: Any, cond: Any, body: Any, length: int, reverse: bool
    ) -> tuple[list[Any], list[Any]]:
        """One loop over primals and tangents together."""
        groups = [len(primals.consts), len(primals.carry), len(primals.xs), len(ts.consts), len(ts.carry), len(ts.xs)]
        consts, carry, xs, t_consts, t_carry, t_xs = _positions(groups)
        n_ys = len(body.out_avals) - len(carry)
        n_t_ys = len(program.out_avals) - len(carry) - n_ys - len(t_carry)
        o_carry, o_ys, ot_carry, ot_ys = _positions([len(carry), n_ys, len(t_carry), n_t_ys])
        both = rearranged(
            program, [*consts, *t_consts, *carry, *t_carry, *xs, *t_xs], [*o_carry, *ot_carry, *o_ys, *ot_ys]
        )
        if cond is not None:
            extra = [get_aval(t) for t in ts.carry]
            cond = rearranged(cond, [*range(len(cond.in_avals)), *extra])
        parts = Parts(
            primals.trip, primals.cond_consts, primals.consts + ts.consts, primals.carry + ts.carry, primals.xs + ts.xs
        )
        result = self.call(parts, cond, both, length, reverse)
        count = 0 if cond is None else 1
        n, m = len(carry), len(t_carry)
        r = result[count:]
        outs = result[:count] + r[:n] + r[n + m : n + m + n_ys]
        return outs, r[n : n + m] + r[n + m + n_ys :]

    # the loop in two: values first, then what depends on tangents or cotangents

    def _run_first(self, primals: Parts, split: Split, params: dict[str, Any]) -> tuple[list[Any], Moved]:
        """Run the first program of a split body, stacking residuals; returns the outputs and where each residual is."""
        n_const, n_carry = params["n_const"], params["n_carry"]
        jaxpr = split.first.jaxpr
        n_out = len(params["body"].out_avals)
        stacked_inputs = [r.place for r in split.residuals if r.is_input and n_const <= r.place < n_const + n_carry]
        outvars = [*jaxpr.outvars, *[jaxpr.invars[k] for k in stacked_inputs]]
        first = ClosedJaxpr(Jaxpr(jaxpr.constvars, jaxpr.invars, outvars, jaxpr.eqns), split.first.consts)
        result = self.call(primals, params["cond"], first, params["length"], params["reverse"])
        count = 0 if params["cond"] is None else 1
        outs, extra = result[: count + n_out], result[count + n_out :]
        n_extra = len(jaxpr.outvars) - n_out
        consts: list[Any] = []
        xs: list[Any] = []
        places: list[tuple[bool, int]] = []
        for r in split.residuals:
            if r.is_input and r.place < n_const:
                places.append((True, len(consts)))
                consts.append(primals.consts[r.place])
                continue
            places.append((False, len(xs)))
            if not r.is_input:
                xs.append(extra[r.place])
            elif r.place < n_const + n_carry:
                xs.append(extra[n_extra + stacked_inputs.index(r.place)])
            else:
                xs.append(primals.xs[r.place - n_const - n_carry])
        return outs, Moved(outs[:count] or primals.trip, consts, xs, places)

    # reverse mode

    def trace_reverse(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        ins, vals = trace.split(args)
        nodes, primals = self.parts(ins, params), self.parts(vals, params)
        body, n = params["body"], params["n_carry"]
        consts_on, xs_on = _active(nodes.consts), _active(nodes.xs)
        carry_on = _active(nodes.carry)
        while True:
            split = vjp_program(body, consts_on + carry_on + xs_on)
            grown = tuple(a or b for a, b in zip(carry_on, split.out_active[:n], strict=True))
            if grown == carry_on:
                break
            carry_on = grown
        outs, moved = self._run_first(primals, split, params)
        held = Moved(
            moved.trip,
            [trace.guard.hold_operand(x) for x in moved.consts],
            [trace.guard.hold_operand(x) for x in moved.xs],
            moved.places,
        )
        count = len(outs) - len(body.out_avals)
        flags = (consts_on, carry_on, xs_on)

        def pull(cts: list[Any]) -> list[Any]:
            g_consts, g_carry, g_xs = self._run_backward(split, held, flags, cts[count:], params)
            return [*[None] * (len(nodes.trip) + len(nodes.cond_consts)), *g_consts, *g_carry, *g_xs]

        out_active = (False,) * count + carry_on + split.out_active[n:]
        return record_call(trace, outs, out_active, Call(pull), ins)

    def _run_backward(
        self, split: Split, moved: Moved, flags: Any, cts: list[Any], params: dict[str, Any]
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """The loop that carries cotangents backward: cotangents of the constants, of the first carry, and of xs."""
        consts_on, carry_on, xs_on = flags
        body, n_const, n = params["body"], params["n_const"], params["n_carry"]
        late = spread(split.late, consts_on + carry_on + xs_on)
        const_gets = tuple(bool(f) for f in late[:n_const])
        xs_gets = tuple(bool(f) for f in late[n_const + n :])
        carry_avals = [tangent_aval(a) for a in body.in_avals[n_const : n_const + n]]
        const_avals = [tangent_aval(a) for a in body.in_avals[:n_const]]
        y_avals = body.out_avals[n:]
        y_cts = [c if on else None for c, on in zip(cts[n:], split.out_active[n:], strict=True)]
        y_has = tuple(c is not None for c in y_cts)
        key = ("loop backward", flags, y_has, tuple(moved.places))
        n_held, n_rows = len(moved.consts), len(moved.xs)

        def backward_body(*args: Any) -> list[Any]:
            it = iter(args)
            held = [next(it) for _ in range(n_held)]
            ct_carry = [next(it) if on else None for on in carry_on]
            sums = [next(it) if on else None for on in const_gets]
            rows = [next(it) for _ in range(n_rows)]
            ct_ys = [next(it) if has else None for has in y_has]
            residuals = [held[k] if is_const else rows[k] for is_const, k in moved.places]
            own = [
                zeros_of(tangent_aval(a)) if c is None else c
                for c, a, on in zip([*ct_carry, *ct_ys], body.out_avals, split.out_active, strict=True)
                if on
            ]
            gs = spread(run(split.second, [*residuals, *own]), split.late)
            gs = spread(gs, consts_on + carry_on + xs_on)
            new_carry = [
                zeros_of(a) if g is None else g
                for g, a, on in zip(gs[n_const : n_const + n], carry_avals, carry_on, strict=True)
                if on
            ]
            new_sums = [s + g for s, g, on in zip(sums, gs[:n_const], const_gets, strict=True) if on]
            return [*new_carry, *new_sums, *[g for g, on in zip(gs[n_const + n :], xs_gets, strict=True) if on]]

        on_carry_avals = [a for a, on in zip(carry_avals, carry_on, strict=True) if on]
        sum_avals = [a for a, on in zip(const_avals, const_gets, strict=True) if on]
        if key not in split.second.derived:
            avals = [
                *[get_aval(x) for x in moved.consts], *on_carry_avals, *sum_avals, *[_row_aval(x) for x in moved.xs],
                *[tangent_aval(a) for a, has in zip(y_avals, y_has, strict=True) if has],
            ]  # fmt: skip
            split.second.derived[key] = stage(backward_body, avals, transform="vjp")[0]
        program = split.second.derived[key]
        init = [zeros_of(a) if c is None else c for c, a, on in zip(cts[:n], carry_avals, carry_on, strict=True) if on]
        parts = Parts(
            moved.trip, [], moved.consts, [*init, *[zeros_of(a) for a in sum_avals]], [*moved.xs, *_present(y_cts)]
        )
        result = self.call(parts, None, program, params["length"], not params["reverse"])
        m, k = len(on_carry_avals), len(sum_avals)
        g_carry = spread(result[:m], carry_on)
        g_consts = spread(result[m : m + k], const_gets)
        return g_consts, g_carry, spread(result[m + k :], xs_gets)

    # linear records

    def trace_linear(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        mine = [isinstance(a, LinearTracer) and a._trace is trace for a in args]
        on = self.parts(mine, params)
        parts = self.parts(args, params)
        body, n = params["body"], params["n_carry"]
        consts_on, xs_on, carry_on = tuple(on.consts), tuple(on.xs), tuple(on.carry)
        no_ys = (False,) * (len(body.out_avals) - n)
        while True:  # a carry that turns linear in the first iteration is met as a constant before it is known as such
            _, out_late = linear_split(body, consts_on + carry_on + xs_on, carry_on + no_ys, affine=True)
            grown = tuple(a or b for a, b in zip(carry_on, out_late[:n], strict=True))
            if grown == carry_on:
                break
            carry_on = grown
        split, out_late = linear_split(body, consts_on + carry_on + xs_on, carry_on + no_ys, affine=trace.affine)
        early = Parts(
            parts.trip, parts.cond_consts,
            [_placeholder(x) if f else x for x, f in zip(parts.consts, consts_on, strict=True)],
            [_placeholder(x) if f else x for x, f in zip(parts.carry, carry_on, strict=True)],
            [_placeholder(x) if f else x for x, f in zip(parts.xs, xs_on, strict=True)],
        )  # fmt: skip
        outs, moved = self._run_first(early, split, params)
        count = len(outs) - len(body.out_avals)
        return self._record_linear(
            trace, parts, (consts_on, carry_on, xs_on), split, out_late, outs, moved, count, params
        )

    def _record_linear(
        self, trace: Any, parts: Parts, flags: Any, split: Split, out_late: Any, outs: Any, moved: Moved, count: int,
        params: dict[str, Any],
    ) -> list[Any]:  # fmt: skip
        consts_on, carry_on, xs_on = flags
        inputs = [
            *[x for x, f in zip(parts.consts, consts_on, strict=True) if f],
            *[x for x, f in zip(parts.carry, carry_on, strict=True) if f],
            *[x for x, f in zip(parts.xs, xs_on, strict=True) if f],
        ]
        is_mine = [isinstance(x, LinearTracer) and x._trace is trace for x in inputs]
        n_c, n_k, n_x = sum(consts_on), sum(carry_on), sum(xs_on)
        second = _second_body(split, moved, n_c, n_k, n_x)
        avals = [a for a, f in zip(self.abstract_eval(**params)[count:], out_late, strict=True) if f]

        def push(*tangents: Any) -> list[Any]:
            it = iter(tangents)
            values = [next(it) if f else x for x, f in zip(inputs, is_mine, strict=True)]
            late = Parts(
                moved.trip, [], [*moved.consts, *values[:n_c]], values[n_c : n_c + n_k],
                [*moved.xs, *values[n_c + n_k :]],
            )  # fmt: skip
            return self.call(late, None, second, params["length"], params["reverse"])

        def pull(cts: list[Any]) -> list[Any]:
            n_res = len(split.residuals)
            linear = (False,) * n_res + (True,) * (n_c + n_k + n_x)
            transposed, late = transpose_program(split.second, linear)
            back = Split(split.first, transposed, split.residuals, tuple(out_late), late)
            full = spread(cts, out_late)
            g_consts, g_carry, g_xs = self._run_backward(back, moved, flags, full, params)
            gs = [
                *[g for g, f in zip(g_consts, consts_on, strict=True) if f],
                *[g for g, f in zip(g_carry, carry_on, strict=True) if f],
                *[g for g, f in zip(g_xs, xs_on, strict=True) if f],
            ]
            return [g for g, f in zip(gs, is_mine, strict=True) if f]

        ins = tuple(x.node for x, f in zip(inputs, is_mine, strict=True) if f)
        results = iter(trace.results(avals, (Call(pull, push), ins, len(avals))))
        return outs[:count] + [next(results) if f else o for o, f in zip(outs[count:], out_late, strict=True)]

    # vmap

    def trace_batch(self, trace: Any, vals: Sequence[Any], dims: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        parts = self.parts(vals, params)
        on = self.parts([d is not None for d in dims], params)
        xs = [moveaxis(x, 0, 1) if b else x for x, b in zip(parts.xs, on.xs, strict=True)]
        parts = parts._replace(xs=xs)
        body, cond, n = params["body"], params["cond"], params["n_carry"]
        by_rows = bool(on.trip and on.trip[0])
        carry_on = tuple(on.carry)
        while True:
            inputs = tuple(on.consts) + carry_on + tuple(on.xs)
            _, out_batched = batch_program(body, trace, inputs)
            grown = tuple(a or b for a, b in zip(carry_on, out_batched[:n], strict=True))
            if cond is not None and not by_rows:
                _, (by_rows,) = batch_program(cond, trace, tuple(on.cond_consts) + grown)
            if by_rows:
                grown = (True,) * n
            if grown == carry_on:
                break
            carry_on = grown
        if by_rows and any(map(has_effects, subjaxprs(params))):
            return self.row_by_row(self, trace, vals, dims, params)
        carry = [
            repeated(x, trace.size) if new and not old else x
            for x, new, old in zip(parts.carry, carry_on, on.carry, strict=True)
        ]
        parts = parts._replace(carry=carry)
        force = carry_on + ((True,) * len(out_batched[n:]) if by_rows else out_batched[n:])
        program, _ = batch_program(body, trace, inputs, force)
        flags = (tuple(on.cond_consts), tuple(on.consts), tuple(on.xs))
        if by_rows and cond is not None:
            outs = self._while_by_rows(trace, parts, flags, program, params)
        elif by_rows:
            outs = self._counted_by_rows(trace, parts, flags, program, params)
        else:
            if cond is not None:
                cond, _ = batch_program(cond, trace, tuple(on.cond_consts) + carry_on)
            outs = self.call(parts, cond, program, params["length"], params["reverse"])
        count = 0 if cond is None else 1
        result = [trace.box(o) if by_rows else o for o in outs[:count]]
        for k, (o, b) in enumerate(zip(outs[count:], force, strict=True)):
            result.append(trace.box(o if k < n else moveaxis(o, 1, 0)) if b else o)
        return result

    def row_by_row(
        self, p: Primitive, trace: Any, vals: Sequence[Any], dims: Sequence[Any], params: dict[str, Any]
    ) -> list[Any]:
        """A batched call whose rows differ in what they run, in a loop over the rows: effects happen in the rows that
        run them, once, one row after the other."""
        name = trace.axis_name
        if name is not None and any(_uses_axis(program, name) for program in subjaxprs(params)):
            raise errors.UnsupportedError(
                f"{p.name}: rows of the axis {name!r} that differ in what they run have both effects and collectives",
                mend="move the collective, or the callback, out of the branch or loop",
            )
        mapped = [d is not None for d in dims]
        consts = [v for v, on in zip(vals, mapped, strict=True) if not on]
        xs = [v for v, on in zip(vals, mapped, strict=True) if on]

        def one(*args: Any) -> list[Any]:
            same, rows = iter(args[: len(consts)]), iter(args[len(consts) :])
            return p.bind(*[next(rows) if on else next(same) for on in mapped], **params)

        body, _ = stage(one, [*map(get_aval, consts), *map(_row_aval, xs)], transform="vmap")
        outs = self.call(Parts([], [], consts, [], xs), None, body, trace.size, False)
        return [trace.box(o) for o in outs]

    def _while_by_rows(self, trace: Any, parts: Parts, flags: Any, program: Any, params: dict[str, Any]) -> list[Any]:
        """A while loop whose rows stop at different times: it runs until all have, with the rows that have stopped fed
        the operands of one that has not, and their results left as they were."""
        size, n = trace.size, len(parts.carry)
        cond_on, consts_on, _ = flags
        n_cond, n_const = len(parts.cond_consts), len(parts.consts)
        test, _ = batch_program(params["cond"], trace, cond_on + (True,) * n, (True,))

        def body(*args: Any) -> list[Any]:
            cond_consts, consts = args[:n_cond], args[n_cond : n_cond + n_const]
            running, steps, *carry = args[n_cond + n_const :]
            rows = rows_like(running, size)
            fed = [
                _rows(x, rows) if b else x for x, b in zip([*consts, *carry], [*consts_on, *(True,) * n], strict=True)
            ]
            outs = run(program, fed)
            new = [select_rows(running, a, b) for a, b in zip(outs[:n], carry, strict=True)]
            still = logical_and(running, run(test, [*cond_consts, *new])[0])
            steps = steps + convert_element_type(running, dtype=INT)
            ys = [select_rows(running, y, zeros_like(y)) for y in outs[n:]]
            return [still, steps, *new, *ys]

        running = run(test, [*parts.cond_consts, *parts.carry])[0]
        carry = [running, np.zeros(size, INT), *parts.carry]
        consts = [*parts.cond_consts, *parts.consts]
        staged, _ = stage(body, [get_aval(x) for x in [*consts, *carry]], transform="vmap")
        any_running, _ = stage(
            lambda running, *_: [reduce_or(running, axes=(0,))], [get_aval(x) for x in carry], transform="vmap"
        )
        outs = self.call(Parts([], [], consts, carry, []), any_running, staged, params["length"], params["reverse"])
        return outs[2:]

    def _counted_by_rows(self, trace: Any, parts: Parts, flags: Any, program: Any, params: dict[str, Any]) -> list[Any]:
        """A counted loop whose rows differ in the number of iterations: row r takes part in iterations i < trip[r]."""
        size, n = trace.size, len(parts.carry)
        _, consts_on, xs_on = flags
        n_const = len(parts.consts)
        trip = parts.trip[0]
        step = -1 if params["reverse"] else 1

        def body(*args: Any) -> list[Any]:
            trips, consts = args[0], args[1 : 1 + n_const]
            i, *carry = args[1 + n_const : 2 + n_const + n]
            xs = args[2 + n_const + n :]
            running = i < trips
            rows = rows_like(running, size)
            marks = [*consts_on, *(True,) * n, *xs_on]
            fed = [_rows(x, rows) if b else x for x, b in zip([*consts, *carry, *xs], marks, strict=True)]
            outs = run(program, fed)
            new = [select_rows(running, a, b) for a, b in zip(outs[:n], carry, strict=True)]
            return [i + step, *new, *[select_rows(running, y, zeros_like(y)) for y in outs[n:]]]

        longest = reduce_max(trip, axes=(0,)) if size else np.int64(0)
        first = longest - 1 if params["reverse"] else convert_element_type(longest * 0, dtype=INT)
        consts, carry = [trip, *parts.consts], [first, *parts.carry]
        avals = [get_aval(x) for x in [*consts, *carry]] + [_row_aval(x) for x in parts.xs]
        staged, _ = stage(body, avals, transform="vmap")
        new_parts = Parts([longest], [], consts, carry, parts.xs)
        return self.call(new_parts, None, staged, params["length"], params["reverse"])[1:]


class Moved(NamedTuple):
    """Residuals of a split loop body: constants, rows, and for each residual (is a constant, its place)."""

    trip: list[Any]
    consts: list[Any]
    xs: list[Any]
    places: list[tuple[bool, int]]


def _uses_axis(closed: ClosedJaxpr, name: Any) -> bool:
    """Whether a program has a collective over a named axis."""
    return any(
        eqn.params.get("axis_name") == name or any(_uses_axis(program, name) for program in subjaxprs(eqn.params))
        for eqn in closed.eqns
    )


def _positions(sizes: Sequence[int]) -> list[range]:
    out, start = [], 0
    for n in sizes:
        out.append(range(start, start + n))
        start += n
    return out


def _run_while(test: Any, body: Any, parts: Parts, avals: Any) -> list[Any]:
    cond_consts, consts, carry = parts.cond_consts, parts.consts, parts.carry
    n_carry = len(carry)
    stacks: list[list[Any]] = [[] for _ in avals]
    count = 0
    while test(*cond_consts, *carry)[0]:
        out = body(*consts, *carry)
        carry = out[:n_carry]
        for s, v in zip(stacks, out[n_carry:], strict=True):
            s.append(v)
        count += 1
    ys = [stack_rows(s, a) for s, a in zip(stacks, avals, strict=True)]
    return [np.int64(count), *carry, *ys]


def _on(tangents: Sequence[Any]) -> tuple[bool, ...]:
    return tuple(t is not None for t in tangents)


def _active(nodes: Sequence[int]) -> tuple[bool, ...]:
    return tuple(n >= 0 for n in nodes)


def _present(values: Sequence[Any]) -> list[Any]:
    return [v for v in values if v is not None]


def _row_aval(x: Any) -> ShapedArray:
    aval = get_aval(x)
    return ShapedArray(aval.shape[1:], aval.dtype)


def _rows(x: Any, rows: Any) -> Any:
    return getitem_p(x, rows, index=(Slot(0),))


def _placeholder(x: Any) -> Any:
    """A value for an operand that the first part of a split does not read."""
    return zeros_of(get_aval(x))


def _second_body(split: Split, moved: Moved, n_consts: int, n_carry: int, n_xs: int) -> ClosedJaxpr:
    """The second program of a split body in a loop's order: held constants, late constants, carry, rows, late rows."""
    n_res = len(split.residuals)
    of_const = [k for k, (is_const, _) in enumerate(moved.places) if is_const]
    of_rows = [k for k, (is_const, _) in enumerate(moved.places) if not is_const]
    late = _positions([n_consts, n_carry, n_xs])
    c, k, x = ([n_res + i for i in r] for r in late)
    return rearranged(split.second, [*of_const, *c, *k, *of_rows, *x])


loop_p = Loop("loop")

__all__ = ["Loop", "UnknownSize", "loop_p"]
