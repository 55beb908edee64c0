"""checkpoint: reverse mode that keeps a function's inputs and computes the rest again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autodidax import tree
from autodidax.core.avals import Masked, ShapedArray
from autodidax.core.interpreters import frames, get_aval
from autodidax.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, has_effects
from autodidax.core.tracebacks import boundary
from autodidax.transforms.boundary import (
    STATIC_INPUTS,
    as_value,
    check_callable,
    leaf_names,
    name_of,
    parameter_names,
    unshared,
    wrapping,
)
from autodidax.transforms.calls import (
    ProgramCall,
    fill_cts,
    hold_constants,
    masked_flags,
    masks_of,
    record_call,
    spread,
    take_residuals,
    with_masks,
)
from autodidax.transforms.checkpoint_policies import Policy
from autodidax.transforms.names import name_p
from autodidax.transforms.program import (
    close,
    residuals_again,
    run,
    stage,
    tangent_aval,
    vjp_program,
    without_effects,
)
from autodidax.transforms.reverse import Call
from autodidax.transforms.staging import StaticArguments, stage_call


class Remat(ProgramCall):
    """Runs a program; its backward pass runs it again instead of keeping what it computed, but for what the policy
    says.

    Effects happen in the forward pass alone; where residuals depend on what an effect returned, they are kept."""

    def impl(self, *args: Any, jaxpr: ClosedJaxpr, name: str, policy: Policy | None = None) -> list[Any]:
        return super().impl(*args, jaxpr=jaxpr, name=name)

    def abstract_eval(
        self, *avals: Any, jaxpr: ClosedJaxpr, name: str, policy: Policy | None = None
    ) -> list[Any]:  # fmt: skip
        return jaxpr.out_avals

    def trace_reverse(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        jaxpr, name, policy = params["jaxpr"], params["name"], params.get("policy")
        if policy is not None:
            jaxpr = _marked(jaxpr, policy)
        n = len(jaxpr.out_avals)
        ins, vals = trace.split(args)
        active = tuple(k >= 0 for k in ins)
        split = vjp_program(jaxpr, active)
        again = residuals_again(split, n)
        if again is None:
            return super().trace_reverse(trace, args, params)
        marks = _from_kept(split.first, n)[1] if policy is not None else ()
        forward = _keeping(split.first, n, marks) if marks or has_effects(split.first) else jaxpr
        outs = self(*vals, jaxpr=forward, name=name)
        kept = [trace.guard.hold_operand(v) for v in outs[n:]]
        held = hold_constants(trace, ins, vals)
        avals = jaxpr.out_avals

        def pull(cts: list[Any]) -> list[Any]:
            if residuals_again(vjp_program(jaxpr, active, masked_flags(cts)), len(avals)) is None:
                cts = [c.val if type(c) is Masked else c for c in cts]
            program, late, late_masks = _again(jaxpr, active, masked_flags(cts), marks)
            given = [*fill_cts(cts, avals, split.out_active), *masks_of(cts)]
            gs = self(*held, *kept, *given, jaxpr=program, name=name)
            return spread(with_masks(gs, late, late_masks), active)

        return record_call(trace, outs[:n], split.out_active, Call(pull, takes_masks=True), ins)


# values that a policy keeps are marked in the program by equations `name`, which its derivatives have as well

_MARK = "kept by the policy of checkpoint: "


def _marked(jaxpr: ClosedJaxpr, policy: Policy) -> ClosedJaxpr:
    """The program in which each value that the policy keeps goes through an equation with a mark."""
    key = ("marked", policy)
    if key not in jaxpr.derived:
        inner = jaxpr.jaxpr
        env: dict[Any, Any] = {}
        eqns: list[JaxprEqn] = []
        for eqn in inner.eqns:
            ins = [a if type(a) is Literal else env.get(a, a) for a in eqn.invars]
            eqns.append(JaxprEqn(eqn.primitive, ins, eqn.outvars, eqn.params, eqn.quiet, eqn.mark))
            if eqn.has_effect or not policy(eqn.primitive, *[a.aval for a in eqn.invars], **eqn.params):
                continue
            for v in eqn.outvars:
                env[v] = Var(v.aval)
                params = {"name": f"{_MARK}{len(env)}"}
                eqns.append(JaxprEqn(name_p, [v], [env[v]], params, eqn.quiet, eqn.mark))
        outvars = [a if type(a) is Literal else env.get(a, a) for a in inner.outvars]
        jaxpr.derived[key] = ClosedJaxpr(Jaxpr(inner.constvars, inner.invars, outvars, eqns), jaxpr.consts)
    return jaxpr.derived[key]


def _mark_of(eqn: JaxprEqn) -> str:
    name: str = eqn.params["name"] if eqn.primitive is name_p else ""
    return name if name.startswith(_MARK) else ""


def _keeping(first: ClosedJaxpr, n_out: int, marks: tuple[str, ...]) -> ClosedJaxpr:
    """The forward program of the original outputs and the values with these marks."""
    key = ("keeping", marks)
    if key not in first.derived:
        jaxpr = first.jaxpr
        kept = {_mark_of(eqn): eqn.outvars[0] for eqn in jaxpr.eqns if _mark_of(eqn)}
        outvars = [*jaxpr.outvars[:n_out], *[kept[mark] for mark in marks]]
        first.derived[key] = close(
            jaxpr.invars, outvars, jaxpr.eqns, dict(zip(jaxpr.constvars, first.consts, strict=True))
        )
    return first.derived[key]


def _from_kept(first: ClosedJaxpr, n_out: int, marks: tuple[str, ...] | None = None) -> tuple[Any, tuple[str, ...]]:
    """The program of the residuals of a forward program, with the values with these marks (all, if None) as further
    inputs; and the marks of those that it reads. None in its place where it depends on what an effect returned."""
    jaxpr = first.jaxpr
    given: dict[str, Var] = {}
    env: dict[Any, Any] = {}
    eqns = []
    for eqn in jaxpr.eqns:
        mark = _mark_of(eqn)
        if mark and (marks is None or mark in marks):
            given[mark] = env[eqn.invars[0]] = env[eqn.outvars[0]] = Var(eqn.outvars[0].aval)
            continue
        ins = [a if type(a) is Literal else env.get(a, a) for a in eqn.invars]
        eqns.append(JaxprEqn(eqn.primitive, ins, eqn.outvars, eqn.params, eqn.quiet, eqn.mark))
    chosen = tuple(given) if marks is None else marks
    extra = [given[mark] if mark in given else Var(ShapedArray((), bool)) for mark in chosen]
    outvars = [a if type(a) is Literal else env.get(a, a) for a in jaxpr.outvars[n_out:]]
    consts = dict(zip(jaxpr.constvars, first.consts, strict=True))
    program = without_effects(close([*jaxpr.invars, *extra], outvars, eqns, consts))
    if program is None:
        return None, ()
    read = {a for eqn in program.eqns for a in eqn.invars} | set(program.jaxpr.outvars)
    return program, tuple(mark for mark, v in zip(chosen, extra, strict=True) if v in read)


def _again(jaxpr: ClosedJaxpr, active: tuple[bool, ...], masked: tuple[bool, ...], marks: tuple[str, ...] = ()) -> Any:
    """One program from inputs, kept values, cotangents and masks to cotangents (and masks) of the inputs."""
    key = ("remat", active, masked, marks)
    if key not in jaxpr.derived:
        split = vjp_program(jaxpr, active, masked)
        again = residuals_again(split, len(jaxpr.out_avals))
        assert again is not None
        n_in, n_kept = len(jaxpr.in_avals), len(marks)
        residuals = _from_kept(split.first, len(jaxpr.out_avals), marks)[0] if marks else again
        kept = {_mark_of(eqn): eqn.outvars[0].aval for eqn in jaxpr.jaxpr.eqns if _mark_of(eqn)}

        def forward_and_backward(*args: Any) -> list[Any]:
            values, cts = args[:n_in], args[n_in + n_kept :]
            extra = run(residuals, args[: n_in + n_kept])
            return run(split.second, [*take_residuals(split, values, extra), *cts])

        cts = [tangent_aval(a) for a, on in zip(jaxpr.out_avals, split.out_active, strict=True) if on]
        cts += [ShapedArray(a.shape, bool) for a, on in zip(jaxpr.out_avals, masked, strict=True) if on]
        avals = [*jaxpr.in_avals, *[kept[mark] for mark in marks], *cts]
        program, _ = stage(forward_and_backward, avals, transform="checkpoint")
        jaxpr.derived[key] = program, split.late, split.late_masks
    return jaxpr.derived[key]


remat_p = Remat("checkpoint")


@boundary
def checkpoint(
    fun: Callable[..., Any],
    *,
    prevent_cse: bool = True,
    policy: Callable[..., Any] | None = None,
    static_argnums: Any = (),
) -> Callable[..., Any]:
    """`fun`, whose reverse mode keeps its inputs, and what `policy` says, and computes the rest again in the backward
    pass.

    Parameters
    ----------
    policy : one of `autodidax.checkpoint_policies`, or a function (primitive, *avals, **params) -> whether to keep the
        results of an operation.
    prevent_cse : accepted for JAX's sake, without effect: the two computations stay apart.
    static_argnums : arguments that are not traced.

    The function is staged when it is differentiated, so its Python control flow must not depend on traced values.
    Its effects (`debug.print`, `io_callback`) happen once, in the forward pass; what was computed from the result of an
    `io_callback` is kept.

    Source: jax.checkpoint.

    >>> import numpy as np
    >>> import autodidax
    >>> float(autodidax.grad(checkpoint(lambda x: np.sin(np.sin(x))))(0.0))
    1.0
    """
    check_callable("checkpoint", fun)
    statics = StaticArguments("checkpoint", fun, static_argnums, None, parameter_names(fun))

    def checkpoint_f(*args: Any, **kwargs: Any) -> Any:
        if not frames():
            return unshared(fun(*args, **kwargs), (args, kwargs))
        dynamic, new_kwargs, static = statics.split(args, kwargs)
        leaves, _ = tree.flatten((dynamic, new_kwargs))
        names = lambda: leaf_names(fun, dynamic, new_kwargs)
        leaves = [as_value(x, lambda k=k: f"checkpoint: {names()[k]}", STATIC_INPUTS) for k, x in enumerate(leaves)]
        avals = [get_aval(x) for x in leaves]
        program, captured, out_tree = stage_call("checkpoint", fun, dynamic, new_kwargs, static, avals)
        chosen = {} if policy is None else {"policy": policy}
        return out_tree.unflatten(remat_p(*captured, *leaves, jaxpr=program, name=name_of(fun), **chosen))

    return wrapping(checkpoint_f, fun)
