"""What reverse mode keeps of a function: the values that its backward pass reads."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from autodidax import tree
from autodidax.core.avals import ShapedArray, is_inexact
from autodidax.core.interpreters import get_aval
from autodidax.core.jaxpr import ClosedJaxpr, Literal
from autodidax.core.tracebacks import boundary
from autodidax.transforms.boundary import as_value, check_callable, leaf_names, name_of
from autodidax.transforms.program import vjp_program
from autodidax.transforms.staging import stage_call


@boundary
def saved_residuals(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> list[tuple[ShapedArray, str]]:
    """Shape and origin of each value that reverse mode of a staged `fun` keeps for its backward pass.

    Source: jax.ad_checkpoint.print_saved_residuals.

    >>> import numpy as np
    >>> [(aval, _)] = saved_residuals(lambda x: np.sin(2.0 * x), np.ones(3))
    >>> aval
    f64[3]
    """
    check_callable("saved_residuals", fun)
    leaves, _ = tree.flatten((args, kwargs))
    names = leaf_names(fun, args, kwargs)
    leaves = [as_value(x, lambda k=k: f"saved_residuals: {names[k]} of {name_of(fun)}") for k, x in enumerate(leaves)]
    avals = [get_aval(x) for x in leaves]
    program, captured, _ = stage_call("saved_residuals", fun, args, kwargs, (), avals)
    active = tuple(is_inexact(a.dtype) for a in program.in_avals)
    split = vjp_program(program, active)
    labels = [f"the captured value {k}" for k in range(len(captured))] + [f"the {name}" for name in names]
    extra = split.first.jaxpr.outvars[len(program.out_avals) :]
    found = []
    for residual in split.residuals:
        if residual.is_input:
            found.append((split.first.in_avals[residual.place], f"from {labels[residual.place]}"))
        else:
            atom = extra[residual.place]
            found.append((atom.aval, "a constant" if type(atom) is Literal else _origin(split.first, atom)))
    return found


def _origin(first: ClosedJaxpr, v: Any) -> str:
    """The operation that made a value, and its line."""
    jaxpr = first.jaxpr
    for eqn in jaxpr.eqns:
        if any(out is v for out in eqn.outvars):
            source = eqn.source
            place = "" if source is None else f" from {os.path.basename(source.file)}:{source.line} ({source.function})"
            return f"output of {eqn.primitive.name}{place}"
    return "from a constant"


@boundary
def print_saved_residuals(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print what reverse mode of a staged `fun` keeps, a line a value.

    Source: jax.ad_checkpoint.print_saved_residuals.
    """
    for aval, origin in saved_residuals(fun, *args, **kwargs):
        print(aval, origin)
