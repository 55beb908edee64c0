"""closure_convert: the traced values that a function closes over, as arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodidax import errors, tree
from autodidax.control_flow.operands import flat_operands, stage_flat
from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of, get_aval
from autodidax.core.tracebacks import boundary
from autodidax.transforms.boundary import check_callable, name_of, structure_text
from autodidax.transforms.program import run


@boundary
def closure_convert(fun: Callable[..., Any], *example_args: Any) -> tuple[Callable[..., Any], list[Any]]:
    """`fun` as a function of what it closes over, too: returns `(converted, consts)` with `converted(*args, *consts)`
    equal to `fun(*args)`.

    `consts` are the traced floating and complex values that `fun` reaches; everything else stays closed over. A custom
    rule that takes them as arguments can give their derivatives. `fun` is staged for the types of `example_args`, which
    the converted function requires.

    Raises
    ------
    TreeError : from the converted function, for arguments of another structure than the examples.

    Source: jax.closure_convert.

    >>> import numpy as np
    >>> import autodidax
    >>> def f(a):
    ...     g, consts = closure_convert(lambda x: a * x, 2.0)
    ...     return g(3.0, *[10.0 * c for c in consts])
    >>> float(autodidax.jit(f)(1.0))
    30.0
    """
    check_callable("closure_convert", fun)
    leaves, in_tree = flat_operands("closure_convert", example_args)
    avals = [get_aval(x) for x in leaves]
    program, captured, out_tree = stage_flat("closure_convert", fun, in_tree, avals, "fun(*example_args)")
    hoisted = [is_inexact(dtype_of(x)) for x in captured]
    consts = [x for x, on in zip(captured, hoisted, strict=True) if on]
    name, n = name_of(fun), len(consts)

    def converted(*args_and_consts: Any) -> Any:
        split = len(args_and_consts) - n
        args, own = args_and_consts[: max(split, 0)], iter(args_and_consts[max(split, 0) :])
        values, args_tree = flat_operands(f"converted {name}", args)
        if split < 0 or args_tree != in_tree:
            raise errors.TreeError(
                f"converted {name} takes {len(tree.treedef_children(in_tree))} arguments of the structure "
                f"{structure_text(in_tree)} and {n} constants, it was given {len(args_and_consts)} values, of which "
                f"{structure_text(args_tree)} come first",
                mend="call it with arguments like the examples, then *consts",
            )
        front = [next(own) if on else x for x, on in zip(captured, hoisted, strict=True)]
        return out_tree.unflatten(run(program, [*front, *values]))

    converted.__name__ = f"converted_{name}"
    return converted, consts
