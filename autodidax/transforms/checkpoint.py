"""checkpoint: reverse mode that keeps a function's inputs and computes the rest again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autodidax import tree
from autodidax.core.avals import Masked, ShapedArray
from autodidax.core.interpreters import frames, get_aval
from autodidax.core.jaxpr import ClosedJaxpr, has_effects
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
from autodidax.transforms.program import forward_alone, residuals_again, run, stage, tangent_aval, vjp_program
from autodidax.transforms.reverse import Call
from autodidax.transforms.staging import StaticArguments, stage_call


class Remat(ProgramCall):
    """Runs a program; its backward pass runs it again instead of keeping what it computed.

    Effects happen in the forward pass alone; where residuals depend on what an effect returned, they are kept."""

    def trace_reverse(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        jaxpr, name = params["jaxpr"], params["name"]
        ins, vals = trace.split(args)
        active = tuple(n >= 0 for n in ins)
        split = vjp_program(jaxpr, active)
        if residuals_again(split, len(jaxpr.out_avals)) is None:
            return super().trace_reverse(trace, args, params)
        forward = forward_alone(split, len(jaxpr.out_avals)) if has_effects(split.first) else jaxpr
        outs = self(*vals, jaxpr=forward, name=name)
        held = hold_constants(trace, ins, vals)
        avals = jaxpr.out_avals

        def pull(cts: list[Any]) -> list[Any]:
            if residuals_again(vjp_program(jaxpr, active, masked_flags(cts)), len(avals)) is None:
                cts = [c.val if type(c) is Masked else c for c in cts]
            program, late, late_masks = _again(jaxpr, active, masked_flags(cts))
            gs = self(*held, *fill_cts(cts, avals, split.out_active), *masks_of(cts), jaxpr=program, name=name)
            return spread(with_masks(gs, late, late_masks), active)

        return record_call(trace, outs, split.out_active, Call(pull, takes_masks=True), ins)


def _again(jaxpr: ClosedJaxpr, active: tuple[bool, ...], masked: tuple[bool, ...]) -> Any:
    """One program from inputs, cotangents and masks to cotangents (and masks) of the inputs."""
    key = ("remat", active, masked)
    if key not in jaxpr.derived:
        split = vjp_program(jaxpr, active, masked)
        again = residuals_again(split, len(jaxpr.out_avals))
        assert again is not None
        n_in = len(jaxpr.in_avals)

        def forward_and_backward(*args: Any) -> list[Any]:
            values, cts = args[:n_in], args[n_in:]
            extra = run(again, values)
            return run(split.second, [*take_residuals(split, values, extra), *cts])

        cts = [tangent_aval(a) for a, on in zip(jaxpr.out_avals, split.out_active, strict=True) if on]
        cts += [ShapedArray(a.shape, bool) for a, on in zip(jaxpr.out_avals, masked, strict=True) if on]
        program, _ = stage(forward_and_backward, [*jaxpr.in_avals, *cts], transform="checkpoint")
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
    """`fun`, whose reverse mode keeps its inputs alone and computes the rest again in the backward pass.

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
        return out_tree.unflatten(remat_p(*captured, *leaves, jaxpr=program, name=name_of(fun)))

    return wrapping(checkpoint_f, fun)
