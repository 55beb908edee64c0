"""vmap: a function of rows becomes a function of batches."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.core.interpreters import shape_of
from autodidax.core.tracebacks import boundary
from autodidax.primitives.shape import broadcast_to, moveaxis
from autodidax.transforms.batching import BatchTrace
from autodidax.transforms.boundary import (
    as_output,
    as_value,
    check_callable,
    fresh_outputs,
    leaf_names,
    name_of,
    own_copy,
    wrapping,
)
from autodidax.transforms.signatures import P, T


@boundary
def vmap(
    fun: Callable[P, T],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable | None = None,
) -> Callable[P, T]:
    """A function that maps `fun` over an axis of its arguments, as one vectorized computation.

    Parameters
    ----------
    in_axes : axis to map of each argument: an integer, None (not mapped), or a tuple with a tree prefix an argument;
        keyword arguments are mapped over axis 0.
    out_axes : where the mapped axis goes in each output: an integer or a tree prefix of the output.
    axis_name : a name for collectives such as `lax.psum(x, axis_name)` inside.
    axis_size : the size of the mapped axis, needed where no argument is mapped.

    Raises
    ------
    ShapeError : where the mapped sizes disagree, naming each argument.

    Source: jax.vmap.

    >>> import numpy as np
    >>> vmap(lambda x, y: x @ y)(np.ones((5, 3)), np.ones((5, 3)))
    array([3., 3., 3., 3., 3.])
    """
    check_callable("vmap", fun)
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if not (in_axes is None or isinstance(in_axes, int | tuple)):
        raise errors.ArgumentError(
            f"vmap: in_axes must be an integer, None or a tuple with one entry an argument, got {in_axes!r}",
            mend="write in_axes=0 or in_axes=(0, None); for a dict argument in_axes=({'w': 0},)",
        )

    if axis_size is not None and not (isinstance(axis_size, int | np.integer) and axis_size >= 0):
        raise errors.ArgumentError(
            f"vmap: axis_size must be a non-negative integer, got {axis_size!r}", mend="give the number of rows"
        )

    def vmap_f(*args: Any, **kwargs: Any) -> Any:
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise errors.ArgumentError(
                f"vmap of {name_of(fun)}: in_axes has {len(in_axes)} {'entry' if len(in_axes) == 1 else 'entries'} for "
                + errors.counted(len(args), "positional argument"),
                mend=f"give {_listed_names(kwargs)} by position: keyword arguments are mapped over axis 0"
                if len(in_axes) == len(args) + len(kwargs)
                else "give in_axes one entry for each positional argument; keyword arguments are mapped over axis 0",
            )
        leaves, treedef = tree.flatten((args, kwargs))
        axes = _flat_axes(fun, in_axes, args, kwargs)
        names = lambda: leaf_names(fun, args, kwargs)
        xs = [as_value(x, lambda k=k: f"vmap: {names()[k]}") for k, x in enumerate(leaves)]
        by_position = len(leaves) - len(tree.leaves(kwargs))
        axes = [
            _check_axis(ax, x, lambda k=k: names()[k], keyword=k >= by_position)
            for k, (ax, x) in enumerate(zip(axes, xs, strict=True))
        ]
        size = _common_size(fun, xs, axes, axis_size, names)
        label = f"axis {axis_name!r}" if axis_name is not None else _axis_label(axes)
        with BatchTrace(name_of(fun), size, axis_name, label) as trace:
            boxed = [x if ax is None else trace.box(moveaxis(x, ax, 0)) for x, ax in zip(xs, axes, strict=True)]
            new_args, new_kwargs = treedef.unflatten(boxed)
            out = fun(*new_args, **new_kwargs)
            outs, out_tree = tree.flatten(out)
            pairs = [trace.unbox(own_copy(as_output(x, lambda: f"vmap: an output of {name_of(fun)}"))) for x in outs]
        marked = out_tree.unflatten([0] * len(outs))
        dest = _spread_axes(fun, "out_axes", out_axes, marked) if outs else []
        results = [_place(v, d, ax, size, fun) for (v, d), ax in zip(pairs, dest, strict=True)]
        return out_tree.unflatten(fresh_outputs(results, xs))

    return wrapping(vmap_f, fun, "vmap", "Vectorized")


def _spread_axes(fun: Any, option: str, prefix: Any, whole: Any) -> list[Any]:
    """The axis of each leaf of a tree, of which `prefix` is a prefix."""
    try:
        return tree.broadcast_prefix(prefix, whole, is_leaf=lambda x: x is None)
    except errors.TreeError as error:
        difference = error.message.partition("is for, ")[2] or error.message
        raise errors.TreeError(
            f"vmap of {name_of(fun)}: {option} {prefix!r} does not fit the tree that it is for: {difference}",
            mend=f"give {option} as one integer, or with the containers and keys of that tree",
        ) from None


def _flat_axes(fun: Any, in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[int | None]:
    axes: list[Any] = []
    if in_axes is None or isinstance(in_axes, int):
        axes += [in_axes] * len(tree.leaves(args))
    else:
        for prefix, arg in zip(in_axes, args, strict=True):
            axes += _spread_axes(fun, "in_axes", prefix, arg)
    return axes + [0] * len(tree.leaves(kwargs))


def _check_axis(axis: Any, x: Any, name: Callable[[], str], *, keyword: bool) -> int | None:
    if axis is None:
        return None
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise errors.ArgumentError(f"vmap: the axis of {name()} is {axis!r}", mend="give an integer or None")
    rank = len(shape_of(x))
    if not -rank <= axis < rank:
        raise errors.ShapeError(
            f"vmap over axis {axis} of {name()}, which has shape {shape_of(x)}",
            mend="keyword arguments are mapped over axis 0: fix it before, vmap(functools.partial(f, name=value))"
            if keyword
            else "map an axis that exists, or give None in in_axes for an argument that is not mapped",
        )
    return axis % rank


def _listed_names(names: Iterable[str]) -> str:
    return " and ".join(repr(name) for name in names)


def _common_size(fun: Any, xs: Any, axes: Any, axis_size: int | None, names: Any) -> int:
    sizes = [None if ax is None else shape_of(x)[ax] for x, ax in zip(xs, axes, strict=True)]
    known = [n for n in sizes if n is not None]
    size = axis_size if axis_size is not None else known[0] if known else None
    if size is None:
        raise errors.ArgumentError(
            f"vmap of {name_of(fun)}: no argument is mapped, so the size of the axis is not known",
            mend="map at least one argument with in_axes, or give axis_size",
        )
    if any(n != size for n in known):
        listed = "; ".join(
            f"{name} of shape {shape_of(x)} has size {n} along axis {ax}"
            for name, x, ax, n in zip(names(), xs, axes, sizes, strict=True)
            if n is not None
        )
        given = f"axis_size is {axis_size}; " if axis_size is not None else ""
        raise errors.ShapeError(
            f"vmap of {name_of(fun)}: the mapped axes differ in size: {given}{listed}",
            mend="give all mapped axes one size, or None in in_axes for arguments that are not mapped",
        )
    return size


def _axis_label(axes: list[int | None]) -> str:
    distinct = {ax for ax in axes if ax is not None}
    return f"axis {distinct.pop()}" if len(distinct) == 1 else "axes " + ", ".join(map(str, axes))


def _place(x: Any, dim: int | None, axis: Any, size: int, fun: Any) -> Any:
    """An output with the mapped axis where out_axes wants it."""
    if axis is None:
        if dim is not None:
            raise errors.ArgumentError(
                f"vmap of {name_of(fun)}: out_axes is None for an output that differs from row to row",
                mend="give an integer in out_axes",
            )
        return x
    rank = len(shape_of(x)) + (dim is None)
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise errors.ArgumentError(
            f"vmap of {name_of(fun)}: out_axes {axis!r} for an output of rank {rank}", mend="give an axis that exists"
        )
    if dim is None:
        x = broadcast_to(x, shape=(size, *shape_of(x)))
    return moveaxis(x, 0, axis % rank)
