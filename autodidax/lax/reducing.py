"""Reductions, running reductions and sorting, under lax's names."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from autodidax import errors, tree
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.core.tracebacks import boundary
from autodidax.lax import structure
from autodidax.numpy import elementwise as anp
from autodidax.numpy.dispatch import operand as as_operand
from autodidax.numpy.joining import concatenate
from autodidax.primitives import cumulative, sorting
from autodidax.primitives import reductions as prim
from autodidax.primitives.convert import astype
from autodidax.primitives.shape import canonical_axes, canonical_axis, flip, moveaxis
from autodidax.primitives.shape import reduce_sum as sum_primitive
from autodidax.transforms.boundary import called, check_callable, own_copy


def _reduction(name: str, primitive: Any, doc: str) -> Callable[[Any, Sequence[int]], Any]:
    def reduction(operand: Any, axes: Sequence[int]) -> Any:
        x = as_operand(operand)
        axes = canonical_axes(tuple(axes), len(shape_of(x)), name)
        return primitive(x, axes=axes) if axes else x

    reduction.__name__ = reduction.__qualname__ = name
    reduction.__doc__ = f"{doc} over axes. Source: jax.lax.{name}."
    return reduction


def _bitwise(primitive: Any, combine: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def reduced(x: Any, *, axes: tuple[int, ...]) -> Any:
        if primitive is not None and dtype_of(x).kind == "b":
            return primitive(x, axes=axes)
        return _folded(combine, x, axes)

    return reduced


def _folded(combine: Callable[[Any, Any], Any], x: Any, axes: tuple[int, ...]) -> Any:
    """Entries along axes combined in pairs, halves of the array at once; there is at least one."""
    (x,) = _rows([x], axes)
    n = shape_of(x)[0]
    if not n:
        raise errors.ShapeError("a reduction of no entries that has no initial value", mend="reduce at least one entry")
    return _fold_rows(lambda a, b: [combine(a[0], b[0])], [x])[0]


def _rows(xs: list[Any], axes: tuple[int, ...]) -> list[Any]:
    """Arrays with the axes to reduce joined into a first one."""
    moved = [moveaxis(x, axes, tuple(range(len(axes)))) for x in xs]
    return [structure.reshape(x, (prod(shape_of(x)[: len(axes)]), *shape_of(x)[len(axes) :])) for x in moved]


def _fold_rows(combine: Callable[[list[Any], list[Any]], list[Any]], xs: list[Any]) -> list[Any]:
    n = shape_of(xs[0])[0]
    while n > 1:
        half = n // 2
        ys = combine([x[:half] for x in xs], [x[half : 2 * half] for x in xs])
        xs = [concatenate([y, x[2 * half :]]) for x, y in zip(xs, ys, strict=True)] if n % 2 else ys
        n -= half
    return [x[0] for x in xs]


reduce_sum = _reduction("reduce_sum", sum_primitive, "Sum")
reduce_prod = _reduction("reduce_prod", prim.reduce_prod, "Product")
reduce_max = _reduction("reduce_max", prim.reduce_max, "Largest entry")
reduce_min = _reduction("reduce_min", prim.reduce_min, "Smallest entry")
reduce_and = _reduction("reduce_and", _bitwise(prim.reduce_and, anp.bitwise_and), "Bitwise and (of booleans: all)")
reduce_or = _reduction("reduce_or", _bitwise(prim.reduce_or, anp.bitwise_or), "Bitwise or (of booleans: any)")
reduce_xor = _reduction("reduce_xor", _bitwise(None, anp.bitwise_xor), "Bitwise exclusive or")


def reduce(operands: Any, init_values: Any, computation: Callable[[Any, Any], Any], dimensions: Sequence[int]) -> Any:
    """A tree of arrays of one shape reduced over axes by an associative `computation(a, b)` of two such trees, from
    initial values. The computation acts entry by entry, and gets whole arrays. Source: jax.lax.reduce."""
    leaves, treedef = tree.flatten(operands)
    leaves = [as_operand(x) for x in leaves]
    axes = canonical_axes(tuple(dimensions), len(shape_of(leaves[0])), "reduce")
    combine = lambda a, b: tree.leaves(computation(treedef.unflatten(a), treedef.unflatten(b)))
    rest = [n for k, n in enumerate(shape_of(leaves[0])) if k not in axes]
    starts = [astype(as_operand(v), dtype_of(x)) for v, x in zip(tree.leaves(init_values), leaves, strict=True)]
    starts = [structure.full(tuple(rest), v) for v in starts]
    rows = _rows(leaves, axes)
    out = combine(starts, _fold_rows(combine, rows)) if shape_of(rows[0])[0] else starts
    return treedef.unflatten(out)


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """Each window of an array (or of a tree of arrays of one shape) reduced by an associative `computation(a, b)`, from
    an initial value, which also stands around the array and between its entries. The computation acts entry by entry,
    and gets whole arrays. Source: jax.lax.reduce_window."""
    leaves, treedef = tree.flatten(operand)
    leaves = [as_operand(x) for x in leaves]
    shape = shape_of(leaves[0])
    ones = (1,) * len(shape)
    strides, base, spacing = (tuple(given or ones) for given in (window_strides, base_dilation, window_dilation))
    reach = tuple((w - 1) * d + 1 for w, d in zip(window_dimensions, spacing, strict=True))
    pads = padtype_to_pads(shape, reach, strides, padding) if isinstance(padding, str) else padding
    config = [(lo, hi, d - 1) for (lo, hi), d in zip(pads, base, strict=True)]
    values = [astype(as_operand(v), dtype_of(x)) for v, x in zip(tree.leaves(init_value), leaves, strict=True)]
    padded = [structure.pad(x, v, config) for x, v in zip(leaves, values, strict=True)]
    sizes = tuple(max((n - r) // s + 1, 0) for n, r, s in zip(shape_of(padded[0]), reach, strides, strict=True))
    out = treedef.unflatten([structure.full(sizes, v) for v in values])
    for offset in itertools.product(*map(range, window_dimensions)) if 0 not in sizes else ():
        starts = [k * d for k, d in zip(offset, spacing, strict=True)]
        limits = [a + (n - 1) * s + 1 for a, n, s in zip(starts, sizes, strides, strict=True)]
        out = computation(out, treedef.unflatten([structure.slice(x, starts, limits, strides) for x in padded]))
    return out


def padtype_to_pads(
    in_shape: Sequence[int], window_shape: Sequence[int], window_strides: Sequence[int], padding: str
) -> list[tuple[int, int]]:
    """What "SAME", "SAME_LOWER" or "VALID" mean, as (before, after) for each axis: with "SAME" there is a window for
    every stride, and an odd place of padding goes behind (in front with "SAME_LOWER").

    Source: jax.lax.padtype_to_pads.
    """
    kind = padding.upper()
    if kind == "VALID":
        return [(0, 0)] * len(in_shape)
    if kind not in ("SAME", "SAME_LOWER"):
        raise errors.ArgumentError(
            f"padding {padding!r}", mend='use "SAME", "SAME_LOWER", "VALID", or pairs of numbers'
        )
    pads = []
    for n, w, s in zip(in_shape, window_shape, window_strides, strict=True):
        total = max((-(-n // s) - 1) * s + w - n, 0)
        less, more = total // 2, total - total // 2
        pads.append((less, more) if kind == "SAME" else (more, less))
    return pads


def argmax(operand: Any, axis: int, index_dtype: Any) -> Any:
    """Position of the largest entry along an axis, the first one of equals. Source: jax.lax.argmax."""
    x = as_operand(operand)
    return astype(prim.argmax(x, axis=canonical_axis(axis, len(shape_of(x)), "argmax")), index_dtype)


def argmin(operand: Any, axis: int, index_dtype: Any) -> Any:
    """Position of the smallest entry along an axis, the first one of equals. Source: jax.lax.argmin."""
    x = as_operand(operand)
    return astype(prim.argmin(x, axis=canonical_axis(axis, len(shape_of(x)), "argmin")), index_dtype)


def _running(name: str, primitive: Any, doc: str) -> Callable[..., Any]:
    def running(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        x = as_operand(operand)
        return primitive(x, axis=canonical_axis(axis, len(shape_of(x)), name), reverse=bool(reverse))

    running.__name__ = running.__qualname__ = name
    running.__doc__ = f"{doc} along an axis, from its end with reverse. Source: jax.lax.{name}."
    return running


cumsum = _running("cumsum", cumulative.cumsum, "Running sum")
cumprod = _running("cumprod", cumulative.cumprod, "Running product")
cummax = _running("cummax", cumulative.cummax, "Running maximum")
cummin = _running("cummin", cumulative.cummin, "Running minimum")
cumlogsumexp = _running("cumlogsumexp", cumulative.cumlogsumexp, "Running log(sum(exp))")


@boundary
def associative_scan(fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """Running combination, along an axis of a tree of arrays, of the entries by an associative `fn(earlier, later)`,
    which acts on stretches along that axis: in log2(n) steps. Source: jax.lax.associative_scan."""
    check_callable("associative_scan", fn)
    leaves, treedef = tree.flatten(elems)
    if not leaves:
        return elems
    leaves = [as_operand(x) for x in leaves]
    axes = [canonical_axis(axis, len(shape_of(x)), "associative_scan") for x in leaves]
    n = shape_of(leaves[0])[axes[0]]
    if any(shape_of(x)[k] != n for x, k in zip(leaves, axes, strict=True)):
        raise errors.ShapeError(
            f"associative_scan: shapes {[shape_of(x) for x in leaves]} differ along axis {axis}", mend="give one length"
        )
    turn = lambda xs: [flip(x, axes=(k,)) for x, k in zip(xs, axes, strict=True)] if reverse else xs
    cut = lambda xs, a, b: [structure.slice_in_dim(x, a, b, axis=k) for x, k in zip(xs, axes, strict=True)]
    leaves = turn(leaves)
    shift = 1
    while shift < n:
        parts = [[own_copy(x) for x in cut(leaves, a, b)] for a, b in ((0, n - shift), (shift, n))]  # fn may write
        pairs = called("associative_scan", "fn(earlier, later)", fn, *map(treedef.unflatten, parts))
        _check_combined(treedef, pairs, cut(leaves, shift, n))
        joined = zip(cut(leaves, 0, shift), tree.leaves(pairs), axes, strict=True)
        leaves = [concatenate([head, tail], axis=k) for head, tail, k in joined]
        shift *= 2
    return treedef.unflatten(turn(leaves))


def _check_combined(treedef: Any, combined: Any, entries: list[Any]) -> None:
    """Raise where the function of an associative scan does not return what it takes."""
    own = tree.structure(combined)
    if own != treedef:
        raise errors.TreeError(
            f"associative_scan: fn returns another tree than it takes: {tree.describe_mismatch(treedef, own)}",
            mend="return the structure of one operand",
        )
    for x, y in zip(tree.leaves(combined), entries, strict=True):
        if shape_of(x) != shape_of(y):
            raise errors.ShapeError(
                f"associative_scan: fn takes stretches of shape {shape_of(y)} and returns {shape_of(x)}",
                mend="act on each entry along the axis: fn(earlier, later) keeps the shape of its operands",
            )


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Entries in ascending order along an axis; several arrays are permuted together, in the lexicographic order of the
    first `num_keys`. Source: jax.lax.sort."""
    if isinstance(operand, tuple | list):
        return tuple(sorting.sort_by_keys([as_operand(x) for x in operand], dimension, num_keys))
    return sorting.sort(as_operand(operand), dimension)


def sort_key_val(keys: Any, values: Any, dimension: int = -1, is_stable: bool = True) -> tuple[Any, Any]:
    """Keys in ascending order along an axis, and values permuted with them. Source: jax.lax.sort_key_val."""
    return sort((keys, values), dimension)


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Any, Any]:
    """The k largest entries along an axis in descending order, and their positions. Source: jax.lax.top_k."""
    return sorting.top_k(as_operand(operand), k, axis)
