"""What the control-flow operators share: operands, staged bodies, and outputs brought to common types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.config import config
from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import Tracer, innermost_staging, peel
from autodidax.core.jaxpr import ClosedJaxpr
from autodidax.primitives.convert import convert_element_type
from autodidax.transforms.boundary import as_output, as_value, called, name_of, own_copy
from autodidax.transforms.program import run
from autodidax.transforms.side_effects import Watch
from autodidax.transforms.stage import stage
from autodidax.tree.nodes import LEAF_TYPES

Staged = tuple[ClosedJaxpr, list[Any], tree.PyTreeDef]


def concrete(x: Any) -> Any:
    """The plain value under tracers of jvp and reverse mode, None where there is none."""
    value = peel(x)
    return None if isinstance(value, Tracer) else value


def is_staging() -> bool:
    """Whether a program is being written: loops are then staged, not unrolled."""
    return innermost_staging(0) is not None


def flat_operands(transform: str, operands: Any, name: str = "") -> tuple[list[Any], tree.PyTreeDef]:
    """Leaves of a tree as values that can be traced, and its structure; errors call the tree by `name`, or its leaves
    by their number where it has none."""
    leaves, treedef = tree.flatten(operands)
    what = lambda k: f"{transform}: {leaf_names(transform, treedef, name)[k] if name else f'operand {k}'}"
    return [as_value(x, lambda k=k: what(k)) for k, x in enumerate(leaves)], treedef


def own_operands(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands for a function that is run as plain Python, and may write into them: their arrays are copied."""
    if LEAF_TYPES.issuperset(map(type, operands)):
        return tuple([own_copy(x) for x in operands])
    return tree.map(own_copy, operands)


def leaf_names(transform: str, treedef: tree.PyTreeDef, name: str) -> list[str]:
    """How messages call the leaves of a tree. The carry of a `fori_loop` is the pair of its counter and the user's."""
    paths = [path for path, _ in tree.leaves_with_path(treedef.unflatten([0] * treedef.num_leaves))]
    if transform == "fori_loop":
        paths = [path[1:] if str(path[0]) == "[1]" else path for path in paths]
    return [name + tree.keystr(path) for path in paths]


def stage_flat(
    transform: str, fun: Callable[..., Any], in_tree: tree.PyTreeDef, avals: Sequence[ShapedArray], how: str = ""
) -> Staged:
    """The program of fun(*operands) on flat leaves, its captured tracers, and its output tree; `how` it is called is
    for messages, where the operator itself does not say it."""
    box: list[Any] = []

    def flat(*leaves: Any) -> list[Any]:
        args = in_tree.unflatten(leaves)
        outs, out_tree = tree.flatten(called(transform, how, fun, *args) if how else fun(*args))
        box.append(out_tree)
        return [as_output(x, lambda: f"{transform}: an output of {name_of(fun)}") for x in outs]

    watch = Watch(transform, fun) if config.check_side_effects else None
    program, captured = stage(flat, avals, transform=transform, name=name_of(fun))
    if watch is not None:
        watch.report()
    return program, captured, box[0]


def cast_outputs(program: ClosedJaxpr, avals: Sequence[ShapedArray]) -> ClosedJaxpr:
    """The program with its outputs converted to these dtypes."""
    if all(a.dtype == b.dtype for a, b in zip(program.out_avals, avals, strict=True)):
        return program

    def converted(*args: Any) -> list[Any]:
        outs = run(program, args)
        return [convert_element_type(x, dtype=a.dtype) for x, a in zip(outs, avals, strict=True)]

    return stage(converted, program.in_avals)[0]


def join_avals(a: ShapedArray, b: ShapedArray) -> ShapedArray | None:
    """The common type of two results: a Python scalar yields to the other; None where they differ otherwise."""
    if a.shape != b.shape:
        return None
    if a.dtype == b.dtype:
        return ShapedArray(a.shape, a.dtype, a.weak_type and b.weak_type)
    kinds = "biufc"
    if a.weak_type and kinds.index(a.dtype.kind) <= kinds.index(b.dtype.kind):
        return ShapedArray(b.shape, b.dtype)
    if b.weak_type and kinds.index(b.dtype.kind) <= kinds.index(a.dtype.kind):
        return ShapedArray(a.shape, a.dtype)
    if a.weak_type or b.weak_type:
        return ShapedArray(a.shape, np.result_type(a.dtype, b.dtype))
    return None


def join_outputs(
    transform: str, names: Sequence[str], staged: Sequence[Staged]
) -> tuple[list[ClosedJaxpr], tree.PyTreeDef]:
    """The programs with common output types, and their common output tree."""
    first, _, out_tree = staged[0]
    avals = list(first.out_avals)
    for k, (program, _, own_tree) in enumerate(staged[1:], 1):
        if own_tree != out_tree:
            nothing = tree.structure(None) in (own_tree, out_tree)
            raise errors.TreeError(
                f"{transform}: {names[k]} returns another tree than {names[0]}: "
                f"{tree.describe_mismatch(out_tree, own_tree)}",
                mend="return the same structure from all branches" + (" (is a return missing?)" if nothing else ""),
            )
        for i, (a, b) in enumerate(zip(avals, program.out_avals, strict=True)):
            joined = join_avals(a, b)
            if joined is None:
                name = leaf_names(transform, out_tree, "the output")[i]
                shapes = a.shape != b.shape
                raise (errors.ShapeError if shapes else errors.DtypeError)(
                    f"{transform}: {name} of {names[0]} is {a!r}, that of {names[k]} is {b!r}",
                    mend="return the same shape from all branches, e.g. with np.broadcast_to or np.zeros_like"
                    if shapes
                    else "return the same dtype from all branches, e.g. with astype",
                )
            avals[i] = joined
    return [cast_outputs(program, avals) for program, _, _ in staged], out_tree
