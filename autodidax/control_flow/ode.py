"""odeint: solutions of ordinary differential equations, with derivatives that solve differential equations, too."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autodidax import errors, tree
from autodidax.compile.program import compiled
from autodidax.control_flow.loops import scan
from autodidax.control_flow.operands import cast_outputs, concrete, flat_operands, stage_flat
from autodidax.control_flow.runge_kutta import Accuracy, check_monotonic, integrate, integrate_rows
from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import Tracer, dtype_of, frames, get_aval, shape_of
from autodidax.core.jaxpr import ClosedJaxpr, misfit
from autodidax.core.primitive import Sample
from autodidax.core.tracebacks import boundary
from autodidax.primitives.convert import astype, real, zeros_of
from autodidax.primitives.shape import concatenate, expand_dims, moveaxis, reduce_sum, reshape, stack
from autodidax.transforms.batching import BatchTrace, repeated
from autodidax.transforms.boundary import (
    as_output,
    as_value,
    called,
    check_callable,
    described,
    dtype_name,
    name_of,
    own_copy,
    structure_text,
)
from autodidax.transforms.calls import HigherOrder, hold_constants, record_call, spread, take_residuals
from autodidax.transforms.forward import instantiate
from autodidax.transforms.program import (
    batch_program,
    jvp_program,
    linear_split,
    rearranged,
    run,
    tangent_aval,
    vjp_program,
)
from autodidax.transforms.reverse import Call, LinearTracer, is_zero, not_linear
from autodidax.transforms.stage import stage

Flags = tuple[bool, ...]


class Parts(NamedTuple):
    """The operands of an initial value problem by their role."""

    consts: list[Any]
    state: list[Any]
    times: Any


class OdeInt(HigherOrder):
    """The states at times t of a system that starts at t[0]: operands [constants, leaves of the first state, t].

    `func`: the program of (constants, state, time) -> the state's rate of change.
    `rows`: None, or the number of systems that are solved side by side, each in steps of its own: then all leaves of
    the state have that leading axis, and those of the constants and times that `mapped` says (times last).
    `accuracy`: tolerances and limits of the steps. Outputs: leaves of shape (T, ...) or (rows, T, ...).
    """

    def parts(self, args: Sequence[Any], params: dict[str, Any]) -> Parts:
        n = len(params["mapped"]) - 1
        return Parts(list(args[:n]), list(args[n:-1]), args[-1])

    def call(self, parts: Parts, params: dict[str, Any], **changes: Any) -> list[Any]:
        return self(*parts.consts, *parts.state, parts.times, **(params | changes))

    def impl(self, *args: Any, **params: Any) -> list[Any]:
        consts, state, times = self.parts(args, params)
        func, rows, mapped, accuracy = params["func"], params["rows"], params["mapped"], params["accuracy"]
        state = [np.asarray(x)[()] for x in state]
        if rows is None:
            rate = compiled(func).call
            return integrate(lambda y, time: rate(*consts, *y, time), state, np.asarray(times), accuracy)
        flags = (*mapped[:-1], *(True,) * (len(state) + 1))
        rate = compiled(_by_rows(func, rows, flags)).call
        times = times if mapped[-1] else np.broadcast_to(times, (rows, len(times)))
        return integrate_rows(lambda y, time: rate(*consts, *y, time), state, times, accuracy)

    def abstract_eval(self, *avals: Any, **params: Any) -> list[Any]:
        _, state, times = self.parts(avals, params)
        n, lead = times.shape[-1], 0 if params["rows"] is None else 1
        return [ShapedArray((*a.shape[:lead], n, *a.shape[lead:]), a.dtype) for a in state]

    def operand_error(self, avals: Sequence[Any], params: dict[str, Any]) -> str | None:
        consts, state, times = self.parts(avals, params)
        mapped = params["mapped"] if params["rows"] is not None else (False,) * len(params["mapped"])
        row = lambda a, on: a.update(shape=a.shape[1:]) if on else a
        fixed = [row(a, on) for a, on in zip(consts, mapped, strict=False)]
        moving = [row(a, params["rows"] is not None) for a in state]
        time = row(times, mapped[-1])
        if len(time.shape) != 1:
            return f"has times {times!r}"
        return misfit("the system", params["func"], [*fixed, *moving, row(time, True)], moving)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        w, y, t = rng.normal(size=2), rng.normal(size=3), np.array([0.2, 0.7, 1.1])
        accuracy = Accuracy(1e-6, 1e-6, math.inf, math.inf, (0,))

        # solutions, adjoints and their derivatives are polynomials, which the method follows up to rounding
        def rate(w: Any, y: Any, s: Any) -> list[Any]:
            return [stack(w[0], w[1] * y[0] + s, y[0] * y[1], axis=0)]

        def problem(w: Any, y: Any, t: Any) -> Sample:
            func, _ = stage(rate, [get_aval(w), get_aval(y), get_aval(t[0])])
            return Sample((w, y, t), {"func": func, "rows": None, "mapped": (False, False), "accuracy": accuracy})

        for name, args in {
            "one system": (w, y, t),
            "backward in time": (w, y, t[::-1].copy()),
            "one time": (w, y, t[:1]),
            "complex": (w + 0.2j, y + 0.1j, t),
            "float32": (w.astype(np.float32), y.astype(np.float32), t.astype(np.float32)),
        }.items():
            yield Sample(args, problem(*args).params, name=name)
        func, _ = stage(
            lambda w, p, q, s: [w, q[::-1] * np.array([0.0, 1.0]) + p * s],
            [get_aval(x) for x in (w[0], w[0], y[:2], t[0])],
        )
        two = {"func": func, "accuracy": accuracy._replace(degrees=(0, 0))}
        params = problem(w, y, t).params
        yield Sample((w[0], w[1], y[:2], t), params | two, name="two leaves")
        rows = rng.normal(size=(2, 3))
        for mapped in [(False, False), (True, True)]:
            args = (rows[:, :2] if mapped[0] else w, rows, np.stack([t, t - 0.1]) if mapped[1] else t)
            yield Sample(args, params | {"rows": 2, "mapped": mapped}, name=f"rows, mapped={mapped}")

    # forward mode: the tangents solve the linearized system beside the states

    def trace_jvp(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        pairs = [trace.unbox(a) for a in args]
        primals, tangents = self.parts([x for x, _ in pairs], params), self.parts([t for _, t in pairs], params)
        outs = self.call(primals, params)
        consts_on = tuple(t is not None for t in tangents.consts)
        t_on = tangents.times is not None
        state_on = tuple(t is not None or t_on for t in tangents.state)
        state_on = _grown(state_on, lambda on: jvp_program(params["func"], (*consts_on, *on, False))[1])
        state = [
            zeros_of(tangent_aval(get_aval(y))) if t is None else t
            for t, y, on in zip(tangents.state, primals.state, state_on, strict=True)
            if on
        ]
        shifts: list[Any] = []
        if t_on:  # each state moves with its own time; the first has to be given for all times of the start
            rates = [r for r, on in zip(self._rates(primals, outs, params), state_on, strict=True) if on]
            lead = 0 if params["rows"] is None else 1
            shifts = [_along_times(tangents.times, r, lead) * r for r in rates]
            state = [t - s[(slice(None),) * lead + (0,)] for t, s in zip(state, shifts, strict=True)]
        ts = self._tangents(primals, tangents.consts, state, consts_on, state_on, params)
        ts = [t + s for t, s in zip(ts, shifts, strict=True)] if t_on else ts
        return [
            o if t is None else trace.box(o, instantiate(t, o)) for o, t in zip(outs, spread(ts, state_on), strict=True)
        ]

    def _tangents(
        self, primals: Parts, t_consts: list[Any], t_state: list[Any], consts_on: Flags, state_on: Flags,
        params: dict[str, Any],
    ) -> list[Any]:  # fmt: skip
        n, m = len(primals.consts), len(primals.state)
        active = (*consts_on, *state_on, False)
        program, _ = jvp_program(params["func"], active, tuple(state_on))
        a, b = sum(consts_on), sum(state_on)
        consts, state, time = range(n), range(n, n + m), n + m
        after = n + m + 1
        order = [*consts, *range(after, after + a), *state, *range(after + a, after + a + b), time]
        both = Parts(
            [*primals.consts, *[t for t in t_consts if t is not None]], [*primals.state, *t_state], primals.times
        )
        mapped = params["mapped"]
        flags = (*mapped[:-1], *[f for f, on in zip(mapped, consts_on, strict=False) if on], mapped[-1])
        return self.call(
            both, params, func=rearranged(program, order), mapped=flags, accuracy=params["accuracy"].extended(b)
        )[m:]

    def _rates(self, parts: Parts, ys: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        """The rates of change at all times: of the shapes of ys."""
        rows, mapped = params["rows"], params["mapped"]
        n, m = len(parts.consts), len(parts.state)
        every = (True,) * (m + 1)
        program = _by_rows(params["func"], shape_of(parts.times)[-1], ((False,) * n + every))
        if rows is not None:
            program = _by_rows(program, rows, (*mapped[:-1], *every[:-1], mapped[-1]))
        return run(program, [*parts.consts, *ys, parts.times])

    # reverse mode: the cotangents solve the adjoint system, backward in time from each output to the one before

    def trace_reverse(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        ins, vals = trace.split(args)
        nodes = self.parts([n >= 0 for n in ins], params)
        outs = self(*vals, **params)
        held = self.parts(hold_constants(trace, ins, vals), params)
        consts_on, t_on = tuple(nodes.consts), nodes.times
        state_on = tuple(on or t_on for on in nodes.state)
        state_on = _grown(state_on, lambda on: vjp_program(params["func"], (*consts_on, *on, False)).out_active)

        def pull(cts: list[Any]) -> list[Any]:
            return self._pull(held, outs, cts, consts_on, state_on, t_on, params)

        return record_call(trace, outs, state_on, Call(pull), ins)

    def _pull(
        self, primals: Parts, ys: list[Any], cts: list[Any], consts_on: Flags, state_on: Flags, t_on: bool,
        params: dict[str, Any],
    ) -> list[Any]:  # fmt: skip
        rows, mapped = params["rows"], params["mapped"]
        axis = 0 if rows is None else 1
        by_time = lambda x: x if rows is None else moveaxis(x, 1, 0)
        cts = [
            zeros_of(tangent_aval(get_aval(y))) if c is None else c
            for c, y, on in zip(cts, ys, state_on, strict=True)
            if on
        ]
        program = _adjoint(params["func"], consts_on, state_on)
        lead = () if rows is None else (rows,)
        own = [x for x, on in zip(primals.consts, consts_on, strict=True) if on]
        own_mapped = [f for f, on in zip(mapped, consts_on, strict=False) if on]
        sums = [
            zeros_of(ShapedArray(shape_of(x) if f else (*lead, *shape_of(x)), dtype_of(x)))
            for x, f in zip(own, own_mapped, strict=True)
        ]
        first = [c[(slice(None),) * axis + (0,)] for c in cts]
        t = primals.times
        spans = stack(t[..., 1:], t[..., :-1], axis=len(shape_of(t)))
        if len(shape_of(t)) == 2:
            spans = moveaxis(spans, 1, 0)
        later = lambda x: by_time(x)[1:]

        def back(carry: Any, interval: Any) -> Any:
            """From one output to the one before."""
            adjoint, sums = carry
            ends, y, ct = interval
            adjoint = [a + c for a, c in zip(adjoint, ct, strict=True)]
            start = Parts(primals.consts, [*y, *adjoint, *sums], ends)
            outs = [by_time(x)[1] for x in self.call(start, params, func=program, accuracy=accuracy)][len(y) :]
            return (outs[: len(adjoint)], outs[len(adjoint) :]), None

        accuracy = params["accuracy"].extended(len(cts) + len(sums))
        start = [zeros_of(tangent_aval(get_aval(c))) for c in first]
        intervals = (spans, [later(y) for y in ys], [later(c) for c in cts])
        (adjoint, sums), _ = scan(back, (start, sums), intervals, reverse=True)
        g_state = [a + c for a, c in zip(adjoint, first, strict=True)]
        g_consts = [g if rows is None or f else reduce_sum(g, axes=(0,)) for g, f in zip(sums, own_mapped, strict=True)]
        g_times = None
        if t_on:  # a later output moves with its time along the solution; a later start moves all of them back
            weights = [concatenate(-expand_dims(a, axis), _after_first(c, axis), axis=axis)
                       for a, c in zip(adjoint, cts, strict=True)]  # fmt: skip
            rates = self._rates(primals, ys, params)
            terms = [_over_leaf(w * r, axis + 1) for w, r in zip(weights, rates, strict=True)]
            g_times = sum(terms[1:], terms[0])
            g_times = reduce_sum(g_times, axes=(0,)) if rows is not None and not mapped[-1] else g_times
            g_times = astype(g_times, dtype_of(t))
        return [*spread(g_consts, consts_on), *spread(g_state, state_on), g_times]

    # linear records

    def trace_linear(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        mine = [isinstance(a, LinearTracer) and a._trace is trace for a in args]
        on, parts, func = self.parts(mine, params), self.parts(args, params), params["func"]
        if on.times:
            raise not_linear(trace, self, "is not linear in the times")
        consts_on = tuple(on.consts)
        state_on = _grown(tuple(on.state), lambda s: linear_split(func, (*consts_on, *s, False), s, affine=True)[1])
        linear_split(func, (*consts_on, *state_on, False), state_on, affine=trace.affine)  # raises where it is not
        for x, late, own in zip(parts.state, state_on, on.state, strict=True):
            if late and not (own or is_zero(x) or (trace.affine and isinstance(x, Tracer))):
                raise not_linear(trace, self, "has a constant beside the linear state")
        is_late = (*consts_on, *state_on, False)
        base = self.parts([zeros_of(get_aval(x)) if f else x for x, f in zip(args, is_late, strict=True)], params)
        avals = self.abstract_eval(*map(get_aval, args), **params)
        outs = [zeros_of(a) for a in avals] if all(state_on) else self.call(base, params)
        kept = [None if f else trace.kept(x) for x, f in zip(args, mine, strict=True)]

        def push(*tangents: Any) -> list[Any]:
            it = iter(tangents)
            results = self(*[next(it) if f else k for f, k in zip(mine, kept, strict=True)], **params)
            return [r for r, f in zip(results, state_on, strict=True) if f]

        def pull(cts: list[Any]) -> list[Any]:
            gs = self._pull(base, outs, spread(cts, state_on), consts_on, state_on, False, params)
            return [g for g, f in zip(gs, mine, strict=True) if f]

        ins = tuple(a.node for a, f in zip(args, mine, strict=True) if f)
        late_avals = [a for a, f in zip(avals, state_on, strict=True) if f]
        results = iter(trace.results(late_avals, (Call(pull, push), ins, len(late_avals))))
        return [next(results) if f else o for o, f in zip(outs, state_on, strict=True)]

    # vmap: the systems of a batch are rows; a batch of rows has more rows

    def trace_batch(self, trace: Any, vals: Sequence[Any], dims: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        size, rows, mapped = trace.size, params["rows"], params["mapped"]
        on = self.parts([d is not None for d in dims], params)
        parts = self.parts(vals, params)
        state = [x if b else repeated(x, size) for x, b in zip(parts.state, on.state, strict=True)]
        new = (*on.consts, on.times)
        shared = [*parts.consts, parts.times]
        if rows is not None:
            merge = lambda x: reshape(x, shape=(size * rows, *shape_of(x)[2:]))
            state = [merge(x) for x in state]
            shared = [
                x if not (was or now) else merge(_both_axes(x, size, rows, was, now))
                for x, was, now in zip(shared, mapped, new, strict=True)
            ]
            new = tuple(a or b for a, b in zip(mapped, new, strict=True))
        total = size if rows is None else size * rows
        outs = self.call(Parts(shared[:-1], state, shared[-1]), params, rows=total, mapped=new)
        if rows is not None:
            outs = [reshape(x, shape=(size, rows, *shape_of(x)[1:])) for x in outs]
        return [trace.box(x) for x in outs]


def _both_axes(x: Any, size: int, rows: int, was: bool, now: bool) -> Any:
    """An operand with the axis of a new batch and that of the rows before."""
    if not now:
        return repeated(x, size)
    return x if was else moveaxis(repeated(x, rows), 0, 1)


def _grown(flags: Flags, outputs_of: Callable[[Flags], Any]) -> Flags:
    """The leaves of a state that depend on its flagged ones, in any number of steps."""
    while True:
        grown = tuple(a or bool(b) for a, b in zip(flags, outputs_of(flags), strict=True))
        if grown == flags:
            return flags
        flags = grown


def _by_rows(program: ClosedJaxpr, rows: int, flags: Flags) -> ClosedJaxpr:
    return batch_program(program, BatchTrace("odeint", rows), flags, (True,) * len(program.out_avals))[0]


def _adjoint(func: ClosedJaxpr, consts_on: Flags, state_on: Flags) -> ClosedJaxpr:
    """The adjoint system's rate of change: of (constants, [state, adjoint, sums], time), where the sums become the
    cotangents of the constants."""
    key = ("adjoint system", consts_on, state_on)
    if key not in func.derived:
        n, m = len(consts_on), len(state_on)
        active = (*consts_on, *state_on, False)
        avals = func.in_avals
        late_avals = [tangent_aval(a) for a, on in zip(avals, active, strict=True) if on]
        a = sum(consts_on)

        def rate(*args: Any) -> list[Any]:
            values = [*args[: n + m], args[-1]]
            adjoint = spread(args[n + m : n + m + sum(state_on)], state_on)
            split = vjp_program(func, active)
            outs = run(split.first, values)
            cts = [c for c, on in zip(adjoint, split.out_active, strict=True) if on]
            gs = spread(run(split.second, [*take_residuals(split, values, outs[m:]), *cts]), split.late)
            gs = [zeros_of(aval) if g is None else -g for g, aval in zip(gs, late_avals, strict=True)]
            return [*outs[:m], *gs[a:], *gs[:a]]

        func.derived[key] = stage(rate, [*avals[: n + m], *late_avals[a:], *late_avals[:a], avals[-1]])[0]
    return func.derived[key]


def _along_times(t: Any, like: Any, lead: int) -> Any:
    """Values a time, (T,) or (rows, T), as they multiply a leaf of states (T, ...) or (rows, T, ...), in its dtype."""
    t = reshape(t, shape=(*shape_of(t), *(1,) * (len(shape_of(like)) - lead - 1)))
    return astype(t, dtype_of(like))


def _after_first(x: Any, axis: int) -> Any:
    return x[(slice(None),) * axis + (slice(1, None),)]


def _over_leaf(x: Any, lead: int) -> Any:
    """The real part, summed over the axes of the leaf."""
    axes = tuple(range(lead, len(shape_of(x))))
    x = real(x)
    return reduce_sum(x, axes=axes) if axes else x


ode_p = OdeInt("odeint")


@boundary
def odeint(
    func: Callable[..., Any], y0: Any, t: Any, *args: Any, rtol: float = 1.4e-8, atol: float = 1.4e-8,
    mxstep: float = math.inf, hmax: float = math.inf,
) -> Any:  # fmt: skip
    """The solution of `dy/dt = func(y, t, *args)` with y(t[0]) = y0, at the times t.

    Dormand and Prince's method of order 5 with step control, which ends a step at each time of t. Derivatives with
    respect to y0, t, args and the traced values that func closes over solve the linearized system in forward mode, and
    the adjoint system, backward in time from output to output, in reverse mode, to the same accuracy: their memory does
    not grow with the number of steps. They may be nested to any order. Under vmap each row takes steps of its own.

    Parameters
    ----------
    func : from (a tree like y0, a scalar time, *args) to the rate of change, a tree of the shapes of y0.
    y0 : a tree of floating or complex arrays.
    t : (T,) times that rise or fall.
    rtol, atol : an error of atol + rtol |y| is allowed in a step.
    mxstep : the largest number of steps between two times.
    hmax : the largest step.

    Returns
    -------
    A tree like y0 whose leaves have a leading axis of size T: the first entry is y0.

    Raises
    ------
    ConvergenceError : where mxstep is exceeded, or where no step is small enough. A rate of change that is nan makes
        the rest of the solution nan.
    ArgumentError : for times that are not monotonic.

    Source: jax.experimental.ode.odeint (which has reverse mode alone); Chen et al. (2018) for the adjoint.

    >>> import numpy as np
    >>> import autodidax
    >>> decay = lambda k: odeint(lambda y, t, k: -k * y, 1.0, np.array([0.0, 1.0]), k)[1]
    >>> round(float(decay(1.0)), 6), round(float(autodidax.grad(decay)(1.0)), 6)
    (0.367879, -0.367879)
    """
    check_callable("odeint", func)
    leaves, y_tree = flat_operands("odeint", y0)
    leaves = [_strong(x) for x in leaves]
    t = _times(t)
    accuracy = _accuracy(rtol, atol, mxstep, hmax, len(leaves))
    avals = [get_aval(x) for x in leaves]
    known = concrete(t)
    if known is not None:
        check_monotonic(known)

    how = "func(y, t, *args)" if args else "func(y, t)"

    def flat(*values: Any) -> list[Any]:
        y = y_tree.unflatten([own_copy(v) for v in values[:-1]])  # the function may write into it
        return _rate(func, y_tree, avals, called("odeint", how, func, y, values[-1], *args))

    if not frames():
        return y_tree.unflatten(integrate(lambda y, time: flat(*y, time), leaves, t, accuracy))
    times_tree = tree.treedef_tuple([tree.LEAF] * (len(leaves) + 1))
    flat.__name__ = name_of(func)
    program, captured, _ = stage_flat("odeint", flat, times_tree, [*avals, ShapedArray((), dtype_of(t))])
    program = cast_outputs(program, avals)
    mapped = (False,) * (len(captured) + 1)
    return y_tree.unflatten(ode_p(*captured, *leaves, t, func=program, rows=None, mapped=mapped, accuracy=accuracy))


def _strong(x: Any) -> Any:
    """A leaf of the state as floating or complex, not weak."""
    dtype = dtype_of(x)
    return astype(x, dtype if dtype.kind in "fc" else np.dtype(float))


def _times(t: Any) -> Any:
    t = as_value(np.asarray(t) if isinstance(t, list | tuple) else t, lambda: "odeint: t")
    if len(shape_of(t)) != 1 or shape_of(t)[0] == 0 or dtype_of(t).kind not in "fiu":
        raise errors.ArgumentError(
            f"odeint: t must be a vector of at least one real time, it is {described(t)}",
            mend="give the times as an array (T,), e.g. np.linspace(0.0, 1.0, 11), with that of y0 first",
        )
    return _strong(t)


def _accuracy(rtol: Any, atol: Any, mxstep: Any, hmax: Any, n_leaves: int) -> Accuracy:
    for name, value in (("rtol", rtol), ("atol", atol), ("mxstep", mxstep), ("hmax", hmax)):
        if not isinstance(value, int | float | np.floating | np.integer) or not value >= 0:
            raise errors.ArgumentError(
                f"odeint: {name} is {described(value) if isinstance(value, Tracer) else repr(value)}",
                mend="give a plain number that is not negative",
            )
    if mxstep < 1 or hmax == 0 or (rtol == 0 and atol == 0):
        raise errors.ArgumentError(
            f"odeint: rtol={rtol}, atol={atol}, mxstep={mxstep}, hmax={hmax} allow no step", mend="give larger values"
        )
    return Accuracy(float(rtol), float(atol), float(mxstep), float(hmax), (0,) * n_leaves)


def _rate(func: Any, y_tree: tree.PyTreeDef, avals: Sequence[ShapedArray], out: Any) -> list[Any]:
    """The leaves of what func returned, checked to be like the state."""
    leaves, own_tree = tree.flatten(out)
    name = name_of(func)
    if own_tree != y_tree:
        raise errors.TreeError(
            f"odeint: {name} returns another tree than y0: {tree.describe_mismatch(y_tree, own_tree)}",
            mend=f"return a rate for each leaf of y0: {structure_text(y_tree)}",
        )
    leaves = [as_output(x, lambda: f"odeint: an output of {name}") for x in leaves]
    for k, (x, a) in enumerate(zip(leaves, avals, strict=True)):
        what = f"leaf {k} of the result of {name}" if len(avals) > 1 else f"the result of {name}"
        if shape_of(x) != a.shape:
            raise errors.ShapeError(
                f"odeint: {what} has shape {shape_of(x)}, that of y0 has {a.shape}", mend="return the shape of y0"
            )
        if dtype_of(x).kind == "c" and a.dtype.kind != "c":
            raise errors.DtypeError(
                f"odeint: {what} has dtype {dtype_name(dtype_of(x))}, that of y0 has {dtype_name(a.dtype)}",
                mend="give a complex y0, or return the real part",
            )
    return leaves
