"""custom_jvp and custom_vjp: functions with derivatives written by the user."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.compile.program import compiled
from autodidax.core.avals import float0, is_inexact
from autodidax.core.interpreters import (
    Tracer,
    dtype_of,
    frames,
    get_aval,
    shape_of,
)
from autodidax.core.jaxpr import ClosedJaxpr
from autodidax.primitives.shape import reduce_sum
from autodidax.transforms.backward import backward, cast, transpose_record
from autodidax.transforms.batching import BatchTrace, repeated
from autodidax.transforms.boundary import (
    as_output,
    as_value,
    check_callable,
    described,
    is_float0,
    name_of,
    zero_tangent,
)
from autodidax.transforms.calls import HigherOrder, record_call, spread
from autodidax.transforms.closures import reached_tracers, rebuilt
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

    def trace_linear(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        return params["fun"](*args)

    def trace_stage(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        if "call_jaxpr" not in params:
            program, captured = stage(
                params["fun"], [get_aval(x) for x in args], transform=self.name, name=params["name"]
            )
            if captured:
                raise hidden_tracer(params["name"], captured[0])
            params = params | {"fun": _program_function(program), "call_jaxpr": program}
        return trace.emit(self, [trace.atom(x) for x in args], params, params["call_jaxpr"].out_avals)


def hidden_tracer(name: str, tracer: Tracer) -> errors.AutodidaxError:
    return errors.UnexpectedTracerError(
        f"{name}, a function with a custom rule, uses a value of {tracer.trace.describe()} that could not be found "
        "from its closure",
        mend="pass the value as an argument, or close over it directly",
    )


def _without(trace: Any, name: str, values: Sequence[Any]) -> Sequence[Any]:
    """The values, checked to be free of this trace's tracers."""
    for x in values:
        if isinstance(x, Tracer) and x.trace is trace:
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

            both = _by_rows(flat, trace, [*dims, *dims])(*primals, *tangents)
            half = len(both) // 2
            return both[:half], [None if is_float0(t) else t for t in both[half:]]

        fun = _by_rows(params["fun"], trace, dims)
        outs = self(*vals, fun=fun, rule=rule_by_rows, name=params["name"])
        return [trace.box(o) for o in outs]


def _program_function(program: ClosedJaxpr) -> Callable[..., list[Any]]:
    return lambda *args: run(program, args)


def _by_rows(fun: Callable[..., Any], trace: BatchTrace, dims: Sequence[Any]) -> Callable[..., list[Any]]:
    """A function of rows as a function of batches, all outputs batched."""
    size, name = trace.size, trace.axis_name

    def batched(*vals: Any) -> list[Any]:
        with BatchTrace("a function with a custom rule", size, name) as inner:
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

            both = _by_rows(flat, trace, dims)(*values)
            return both[: counts[0]], both[counts[0] :]

        def bwd_by_rows(residuals: Any, cts: Any) -> list[Any]:
            n = len(residuals)
            mapped = [0] * n + [None if is_float0(c) else 0 for c in cts]
            gs = _by_rows(lambda *values: bwd(values[:n], values[n:]), trace, mapped)(*residuals, *cts)
            return [
                g if g is None or d is not None else reduce_sum(g, axes=(0,)) for g, d in zip(gs, dims, strict=True)
            ]

        fun = _by_rows(params["fun"], trace, dims)
        outs = self(*vals, fun=fun, fwd=fwd_by_rows, bwd=bwd_by_rows, name=params["name"])
        return [trace.box(o) for o in outs]


def _through_captured(fun: Callable[..., Any], primals: Any, tangents: Any) -> list[Any]:
    """Tangents of a function's outputs through its first inputs alone."""
    c = len(tangents)
    with JVPTrace("jvp", "captured values") as trace:
        boxed = [x if t is None else trace.box(x, t) for x, t in zip(primals[:c], tangents, strict=True)]
        return [trace.unbox(o)[1] for o in fun(*boxed, *primals[c:])]


def _pull_captured(fun: Callable[..., Any], values: Any, cts: Any, c: int) -> list[Any]:
    """Cotangents of a function's first c inputs, through the function itself."""
    with ReverseTrace("vjp", "captured values") as trace:
        on = [is_inexact(dtype_of(x)) for x in values[:c]]
        boxed = [trace.input(x) if f else x for x, f in zip(values[:c], on, strict=True)]
        outs = fun(*boxed, *values[c:])
        tape = trace.tape
    slots: list[Any] = [None] * len(tape)
    for o, ct in zip(outs, cts, strict=True):
        if isinstance(o, Tracer) and o.trace is trace and not is_float0(ct):
            slots[o.node] = ct if slots[o.node] is None else slots[o.node] + ct
    return spread(backward(tape, sum(on), slots), on)


def _plus(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


custom_jvp_p = CustomJVPCall("custom_jvp_call")
custom_vjp_p = CustomVJPCall("custom_vjp_call")


class _CustomFunction:
    """A function with a rule of its own; calls are resolved to positions, and nondiff_argnums are set aside."""

    def __init__(
        self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()
    ):
        check_callable(type(self).__name__, fun)
        update_wrapper(self, fun)
        self.fun = fun
        nums = nondiff_argnums if isinstance(nondiff_argnums, tuple | list) else (nondiff_argnums,)
        argnames = (nondiff_argnames,) if isinstance(nondiff_argnames, str) else tuple(nondiff_argnames)
        names = list(inspect.signature(fun).parameters) if argnames else []
        if not all(isinstance(k, int) for k in nums) or not set(argnames) <= set(names):
            raise errors.ArgumentError(
                f"{type(self).__name__} of {name_of(fun)}: nondiff_argnums {nondiff_argnums!r} and nondiff_argnames "
                f"{nondiff_argnames!r} must be positions and names of its arguments",
                mend="write nondiff_argnums=(0,)",
            )
        self.nondiff_argnums = (*nums, *(names.index(n) for n in argnames))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return lambda *args, **kwargs: self(instance, *args, **kwargs)

    def _resolve(self, args: Any, kwargs: Any) -> list[Any]:
        try:
            bound = inspect.signature(self.fun).bind(*args, **kwargs)
        except TypeError as e:
            raise errors.ArgumentError(f"{name_of(self.fun)}: {e}", mend="match the function's signature") from None
        except ValueError:  # no signature to be had
            return list(args)
        bound.apply_defaults()
        if bound.kwargs:
            raise errors.ArgumentError(
                f"{name_of(self.fun)}: custom rules need arguments that can be given by position, "
                f"not the keyword-only {', '.join(map(repr, bound.kwargs))}",
                mend="make them positional parameters",
            )
        return list(bound.args)

    def _split(self, args: list[Any]) -> tuple[list[Any], list[Any]]:
        """The arguments that are set aside, and the others."""
        n = len(args)
        if any(not -n <= k < n for k in self.nondiff_argnums):
            raise errors.ArgumentError(
                f"{name_of(self.fun)}: nondiff_argnums {self.nondiff_argnums} for a call with {n} arguments",
                mend="give positions within the function's arguments",
            )
        aside = {k % n for k in self.nondiff_argnums}
        return [args[k % n] for k in self.nondiff_argnums], [args[k] for k in range(n) if k not in aside]

    def _joined(self, aside: Sequence[Any], chosen: Sequence[Any]) -> list[Any]:
        """All arguments in their positions."""
        n = len(aside) + len(chosen)
        places = {k % n: v for k, v in zip(self.nondiff_argnums, aside, strict=True)}
        rest = iter(chosen)
        return [places[k] if k in places else next(rest) for k in range(n)]

    def _run(self, aside: Any, chosen: Any, out_box: list[Any]) -> list[Any]:
        """The function itself; flat outputs, their tree in the box."""
        outs, out_box[:] = _flatten_output(self.fun, self.fun(*self._joined(aside, chosen)))
        return outs


def _flatten_output(fun: Any, out: Any) -> tuple[list[Any], list[Any]]:
    leaves, treedef = tree.flatten(out)
    return [as_output(x, lambda: f"an output of {name_of(fun)}") for x in leaves], [treedef]


class custom_jvp(_CustomFunction):
    """A function whose derivative is given by a forward rule, from which reverse mode follows.

    Parameters
    ----------
    fun : the function.
    nondiff_argnums : positions of arguments that are no arrays or are not differentiated; the rule gets them first.

    Give the rule with `defjvp`: `rule(*nondiff, primals, tangents) -> (out, tangent of out)`, or one function an
    argument with `defjvps`: `rule(tangent, out, *args)`.

    Source: jax.custom_jvp.

    >>> import numpy as np
    >>> import autodidax
    >>> @custom_jvp
    ... def f(x):
    ...     return np.sin(x)
    >>> @f.defjvp
    ... def f_jvp(primals, tangents):
    ...     return f(*primals), 2.0 * tangents[0]
    >>> float(autodidax.grad(f)(0.3))
    2.0
    """

    jvp: Callable[..., Any] | None = None

    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Set the forward rule; may be used as a decorator."""
        check_callable("defjvp", jvp)
        self.jvp = jvp
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """One rule an argument, `rule(tangent, out, *args)`; None where the argument has no derivative."""
        if self.nondiff_argnums:
            raise errors.ArgumentError("defjvps does not go with nondiff_argnums", mend="use defjvp")
        if not all(f is None or callable(f) for f in jvps):
            raise errors.ArgumentError(
                "defjvps takes functions or None, one an argument", mend="write f.defjvps(rule, None)"
            )

        def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
            if len(jvps) != len(primals):
                raise errors.ArgumentError(
                    f"custom_jvp {name_of(self.fun)}: defjvps got {len(jvps)} rules for {len(primals)} arguments",
                    mend="give one rule an argument, None where the derivative is zero",
                )
            out = self(*primals)
            terms = [
                f(t, out, *primals)
                for f, t in zip(jvps, tangents, strict=True)
                if f is not None and not any(map(is_float0, tree.leaves(t)))
            ]
            if not terms:
                return out, tree.map(zero_tangent, out)
            total = terms[0]
            for term in terms[1:]:
                total = tree.map(lambda a, b: a + b, total, term)
            return out, total

        self.jvp = rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.jvp is None:
            raise errors.ArgumentError(
                f"custom_jvp {name_of(self.fun)} has no rule yet", mend="define one with defjvp before calling it"
            )
        full = self._resolve(args, kwargs)
        aside, chosen = self._split(full)
        leaves, in_tree = tree.flatten(tuple(chosen))
        leaves = [as_value(x, lambda: f"an argument of {name_of(self.fun)}") for x in leaves]
        out_box: list[Any] = []
        user = [self, *aside]
        captured = list({id(t): t for t in reached_tracers(user)}.values()) if frames() else []
        c = len(captured)

        def parts(values: Sequence[Any]) -> list[Any]:
            return rebuilt(user, captured, values[:c]) if c else user

        def fun(*values: Any) -> list[Any]:
            own, *own_aside = parts(values)
            return own._run(own_aside, in_tree.unflatten(values[c:]), out_box)

        def rule(primals: Any, tangents: Any) -> tuple[list[Any], list[Any]]:
            own, *own_aside = parts(primals)
            outs, ts = own._rule(own_aside, in_tree, primals[c:], tangents[c:], out_box)
            if any(t is not None for t in tangents[:c]):
                ts = [_plus(a, b) for a, b in zip(ts, _through_captured(fun, primals, tangents[:c]), strict=True)]
            return outs, ts

        outs = custom_jvp_p(*captured, *leaves, fun=fun, rule=rule, name=name_of(self.fun))
        return out_box[0].unflatten(outs)

    def _rule(self, aside: list[Any], in_tree: Any, primals: Any, tangents: Any, out_box: list[Any]) -> Any:
        """The rule on flat leaves; a tangent that is None is zero."""
        name = name_of(self.fun)
        if all(t is None for t in tangents):
            out = self(*self._joined(aside, in_tree.unflatten(primals)))
            outs, out_box[:] = _flatten_output(self.fun, out)
            return outs, [None] * len(outs)
        ts = [zero_tangent(x) if t is None else t for x, t in zip(primals, tangents, strict=True)]
        assert self.jvp is not None
        result = self.jvp(*aside, in_tree.unflatten(primals), in_tree.unflatten(ts))
        if not isinstance(result, tuple | list) or len(result) != 2:
            raise errors.TreeError(
                f"the rule of custom_jvp {name} must return a pair (out, tangent), it returned {described(result)}",
                mend="return (out, tangent of out)",
            )
        outs, out_box[:] = _flatten_output(self.jvp, result[0])
        return outs, _checked_tangents(name, out_box[0], outs, result[1])


def _checked_tangents(name: str, out_tree: Any, outs: list[Any], tangent: Any) -> list[Any]:
    ts, own_tree = tree.flatten(tangent, is_leaf=lambda x: x is None)
    if own_tree != out_tree:
        ts, own_tree = tree.flatten(tangent)
    if own_tree != out_tree:
        raise errors.TreeError(
            f"the rule of custom_jvp {name}: the tangent's tree {own_tree} is not the output's {out_tree}",
            mend="return a tangent with the structure of the output",
        )
    checked: list[Any] = []
    for o, t in zip(outs, ts, strict=True):
        if t is None or is_float0(t) or not is_inexact(dtype_of(o)):
            checked.append(None)
            continue
        t = as_output(t, lambda: f"the rule of custom_jvp {name}: the tangent")
        if dtype_of(t).kind == "c" != dtype_of(o).kind:
            raise errors.DtypeError(
                f"the rule of custom_jvp {name}: the tangent has dtype {dtype_of(t)}, the output {dtype_of(o)}",
                mend="return a tangent of the output's dtype, e.g. its real part",
            )
        if shape_of(t) != shape_of(o):
            raise errors.ShapeError(
                f"the rule of custom_jvp {name}: the tangent has shape {shape_of(t)}, the output {shape_of(o)}",
                mend="return a tangent of the output's shape",
            )
        checked.append(cast(t, dtype_of(o)))
    return checked


class custom_vjp(_CustomFunction):
    """A function whose derivative is given by a backward rule.

    Give it with `defvjp(fwd, bwd)`: `fwd(*args) -> (out, residuals)` and `bwd(*nondiff, residuals, ct) -> tuple` with
    one cotangent an argument (None for zero). In forward mode the derivative is the transpose of `bwd`, which must be
    linear in the cotangent; forward over reverse differentiates `bwd` itself.

    Source: jax.custom_vjp.

    >>> import autodidax
    >>> @custom_vjp
    ... def f(x):
    ...     return x * x
    >>> f.defvjp(lambda x: (f(x), x), lambda x, ct: (7.0 * ct,))
    >>> float(autodidax.grad(f)(1.0))
    7.0
    """

    fwd: Callable[..., Any] | None = None
    bwd: Callable[..., Any] | None = None

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Set the forward and the backward function."""
        check_callable("defvjp", fwd)
        check_callable("defvjp", bwd)
        self.fwd, self.bwd = fwd, bwd

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.fwd is None or self.bwd is None:
            raise errors.ArgumentError(
                f"custom_vjp {name_of(self.fun)} has no rule yet", mend="define one with defvjp before calling it"
            )
        full = self._resolve(args, kwargs)
        aside, chosen = self._split(full)
        leaves, in_tree = tree.flatten(tuple(chosen))
        leaves = [as_value(x, lambda: f"an argument of {name_of(self.fun)}") for x in leaves]
        avals = [get_aval(x) for x in leaves]
        out_box: list[Any] = []
        residual_box: list[Any] = []
        user = [self, *aside]
        captured = list({id(t): t for t in reached_tracers(user)}.values()) if frames() else []
        c = len(captured)

        def parts(values: Sequence[Any]) -> list[Any]:
            return rebuilt(user, captured, values[:c]) if c else user

        def fun(*values: Any) -> list[Any]:
            own, *own_aside = parts(values)
            return own._run(own_aside, in_tree.unflatten(values[c:]), out_box)

        def fwd(*values: Any) -> tuple[list[Any], list[Any]]:
            own, *own_aside = parts(values)
            outs, residuals = own._fwd(own_aside, in_tree.unflatten(values[c:]), out_box, residual_box)
            return outs, [*residuals, *values] if c else residuals

        def bwd(residuals: Any, cts: Any) -> list[Any]:
            if not c:
                return self._bwd(aside, residuals, cts, in_tree, avals, out_box, residual_box)
            n = len(residuals) - c - len(avals)
            values = residuals[n:]
            own, *own_aside = parts(values)
            gs = own._bwd(own_aside, residuals[:n], cts, in_tree, avals, out_box, residual_box)
            return [*_pull_captured(fun, values, cts, c), *gs]

        outs = custom_vjp_p(*captured, *leaves, fun=fun, fwd=fwd, bwd=bwd, name=name_of(self.fun))
        return out_box[0].unflatten(outs)

    def _fwd(self, aside: list[Any], chosen: Any, out_box: list[Any], residual_box: list[Any]) -> Any:
        """Flat outputs and flat residuals; residuals that are no values (strings, say) stay behind in the box."""
        assert self.fwd is not None
        result = self.fwd(*self._joined(aside, chosen))
        if not isinstance(result, tuple | list) or len(result) != 2:
            raise errors.TreeError(
                f"the fwd of custom_vjp {name_of(self.fun)} must return a pair (out, residuals), it returned "
                f"{described(result)}",
                mend="return (out, residuals)",
            )
        outs, out_box[:] = _flatten_output(self.fwd, result[0])
        residuals, treedef = tree.flatten(result[1])
        static = [not _is_value(r) for r in residuals]
        residual_box[:] = [treedef, static, [r for r, s in zip(residuals, static, strict=True) if s]]
        return outs, [r for r, s in zip(residuals, static, strict=True) if not s]

    def _bwd(
        self, aside: list[Any], residuals: Any, cts: Any, in_tree: Any, avals: Any, out_box: Any, residual_box: Any
    ) -> list[Any]:
        treedef, static, kept = residual_box
        dynamic, fixed = iter(residuals), iter(kept)
        whole = treedef.unflatten([next(fixed) if s else next(dynamic) for s in static])
        assert self.bwd is not None
        gs = self.bwd(*aside, whole, out_box[0].unflatten(cts))
        return _checked_cotangents(name_of(self.fun), gs, in_tree, avals)


def _is_value(x: Any) -> bool:
    return isinstance(x, Tracer | np.ndarray | np.generic | int | float | complex)


def _checked_cotangents(name: str, gs: Any, in_tree: Any, avals: list[Any]) -> list[Any]:
    """The backward rule's results, one a leaf; None where zero."""
    n = len(tree.treedef_children(in_tree))
    if not isinstance(gs, tuple | list) or len(gs) != n:
        shown = f"{len(gs)} values" if isinstance(gs, tuple | list) else described(gs)
        raise errors.TreeError(
            f"the bwd of custom_vjp {name} must return a tuple of {n} cotangents, one an argument, it returned {shown}",
            mend="return one cotangent an argument, None for those that are zero",
        )
    flat: list[Any] = []
    for k, (g, sub) in enumerate(zip(gs, tree.treedef_children(in_tree), strict=True)):
        if g is None:
            flat += [None] * sub.num_leaves
            continue
        leaves, own = tree.flatten(g, is_leaf=lambda x: x is None)
        if own != sub:
            leaves, own = tree.flatten(g)
        if own != sub:
            raise errors.TreeError(
                f"the bwd of custom_vjp {name}: the cotangent of argument {k} has the tree {own}, the argument {sub}",
                mend="return a cotangent with the structure of the argument",
            )
        flat += leaves
    result: list[Any] = []
    for g, a in zip(flat, avals, strict=True):
        if g is None or is_float0(g) or not is_inexact(a.dtype):
            result.append(None)
            continue
        g = as_output(g, lambda: f"the bwd of custom_vjp {name}: a cotangent")
        if shape_of(g) != a.shape:
            raise errors.ShapeError(
                f"the bwd of custom_vjp {name} returned a cotangent of shape {shape_of(g)} for an argument of shape "
                f"{a.shape}",
                mend="return a cotangent of the argument's shape",
            )
        if dtype_of(g).kind == "c" != a.dtype.kind:
            raise errors.DtypeError(
                f"the bwd of custom_vjp {name} returned a cotangent of dtype {dtype_of(g)} for an argument of dtype "
                f"{a.dtype}",
                mend="return a cotangent of the argument's dtype, e.g. its real part",
            )
        result.append(g)
    return result

