"""What a mutant does to a value, to a rule's result, or to what a rule is given: one function an operator.

A change returns the very object it was given where it does not apply (an axis to flip in a 0-d array, a pair of
different shapes to swap), so that this can be told from a change that makes no difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax.core.avals import Masked, ShapedArray, UnknownSize, is_inexact
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.primitives.convert import conj, stop_gradient_p
from autodidax.primitives.shape import flip, swapaxes
from autodidax.transforms.reverse import LinearTracer

Change = Callable[[Any], Any]

SMALL_ERROR = 1e-8  # relative, of a rule that has samples in double precision
SMALL_ERROR_SINGLE = 1e-4  # and of one that has none


def on_value(change: Change) -> Change:
    """A change of a tangent or cotangent: None (zero) stays, and so does the mask of structural zeros."""

    def changed(t: Any) -> Any:
        if t is None:
            return None
        if type(t) is Masked:
            value = change(t.val)
            return t if value is t.val else Masked(value, t.mask)
        return change(t)

    return changed


# changes of one tangent or cotangent, plain or traced


def scaled(factor: float) -> Change:
    return on_value(lambda t: t * factor)


def dropped(t: Any) -> Any:
    """The structural zero."""
    return None


def flipped(t: Any) -> Any:
    """Reversed along the last axis."""
    shape = shape_of(t)
    return flip(t, axes=(len(shape) - 1,)) if shape and shape[-1] > 1 else t


def transposed(t: Any) -> Any:
    """The last two axes exchanged, where that keeps the shape."""
    shape = shape_of(t)
    return swapaxes(t, -1, -2) if len(shape) > 1 and shape[-1] == shape[-2] > 1 else t


def one_entry_negated(t: Any) -> Any:
    """The last of several entries with the wrong sign."""
    shape = shape_of(t)
    if any(isinstance(n, UnknownSize) for n in shape) or math.prod(shape) < 2:
        return t
    dtype = dtype_of(t)
    signs = np.ones(shape, dtype if dtype.kind == "f" else np.float32)
    signs.flat[-1] = -1
    return t * signs


def conjugated(t: Any) -> Any:
    return conj(t) if dtype_of(t).kind == "c" else t


def detached(x: Any) -> Any:
    """A value that derivatives do not go through; not of a linear tracer, which has no value."""
    return stop_gradient_p(x) if isinstance(x, Tracer) and not isinstance(x, LinearTracer) else x


def value_changes(factor: float) -> dict[str, Change]:
    """The changes that any tangent or cotangent may suffer, by name of the operator."""
    return {
        "negated": scaled(-1.0),
        "scaled": scaled(factor),
        "dropped": dropped,
        "flipped": on_value(flipped),
        "transposed": on_value(transposed),
        "one entry negated": on_value(one_entry_negated),
        "conjugated": on_value(conjugated),
    }


# changes of a rule's whole result


def each(change: Change, only: int | None = None) -> Change:
    """A change of every entry of a list (or of one), or of a single result."""

    def changed(out: Any) -> Any:
        if isinstance(out, list | tuple):
            return [change(t) if only in (None, k) else t for k, t in enumerate(out)]
        return change(out)

    return changed


def swapped(i: int, j: int) -> Change:
    """Two entries of a list exchanged, where they have the same shape and dtype."""

    def changed(out: Any) -> Any:
        if len(out) <= j or not alike(out[i], out[j]):
            return out
        new = list(out)
        new[i], new[j] = out[j], out[i]
        return new

    return changed


def alike(a: Any, b: Any) -> bool:
    """Whether two values, neither of them a structural zero, have the same shape and dtype."""
    if a is None or b is None or type(a) is Masked or type(b) is Masked:
        return False
    return shape_of(a) == shape_of(b) and dtype_of(a) == dtype_of(b)


# changes of avals and of implementations


OTHER_DTYPE = {"f": np.float16, "c": np.complex64, "i": np.int8, "u": np.uint8, "b": np.int16}


def other_dtype(dtype: np.dtype) -> np.dtype:
    other = np.dtype(OTHER_DTYPE.get(dtype.kind, np.float64))
    return np.dtype(np.float32) if dtype == other else other


def _reversed_shape(a: ShapedArray) -> ShapedArray:
    shape = tuple(reversed(a.shape))
    return a if shape == tuple(a.shape) else ShapedArray(shape, a.dtype, a.weak_type)


ABSTRACT: dict[str, Change] = {
    "one axis more": lambda a: ShapedArray((*a.shape, 1), a.dtype, False),
    "shape reversed": _reversed_shape,
    "dtype": lambda a: ShapedArray(a.shape, other_dtype(a.dtype), False),
    "weak type": lambda a: ShapedArray(a.shape, a.dtype, not a.weak_type),
}


def _value_of_other_dtype(y: Any) -> Any:
    return np.asarray(y).astype(other_dtype(dtype_of(y)))


IMPLEMENTATION: dict[str, Change] = {
    "one axis more": lambda y: np.asarray(y)[..., None],
    "dtype": _value_of_other_dtype,
}


# changes of a batch: arrays whose first axis counts the rows


def _rolled(y: np.ndarray) -> Any:
    return np.roll(y, 1, axis=0) if len(y) > 1 else y


def _first_row(y: np.ndarray) -> Any:
    return np.broadcast_to(y[:1], y.shape).copy() if len(y) > 1 else y


def _last_entry_changed(y: np.ndarray) -> Any:
    if y.size < 2:
        return y
    y = y.copy()
    y.flat[-1] = not y.flat[-1] if y.dtype.kind == "b" else y.flat[-1] + 1
    return y


def _axes_exchanged(y: np.ndarray) -> Any:
    return np.swapaxes(y, 0, 1) if y.ndim > 1 and y.shape[0] == y.shape[1] > 1 else y


def _last_axis(y: np.ndarray) -> Any:
    return np.moveaxis(y, 0, -1) if y.ndim > 1 and max(y.shape) > 1 else y


ROWS: dict[str, Change] = {
    "rows rolled": _rolled,
    "first row repeated": _first_row,
    "one entry changed": _last_entry_changed,
    "axes exchanged": _axes_exchanged,
    "batch axis last": _last_axis,
}


def of_rows(change: Change) -> Change:
    """A change of a plain array of rows; other values stay."""
    return lambda y: change(y) if type(y) is np.ndarray and y.ndim else y


def of_batch(change: Change, only: int | None = None) -> Change:
    """A change of the mapped values of a batch rule's (results, dimensions)."""
    change = of_rows(change)

    def changed(pair: Any) -> Any:
        out, dim = pair
        if not isinstance(dim, list | tuple):
            return (out if dim is None else change(out)), dim
        chosen = [d is not None and only in (None, k) for k, d in enumerate(dim)]
        return [change(y) if on else y for on, y in zip(chosen, out, strict=True)], dim

    return changed


def forgotten_dimension(pair: Any) -> Any:
    out, dim = pair
    return (out, [None] * len(dim)) if isinstance(dim, list | tuple) else (out, None)


# changes of parameters


def other_parameter(name: str, value: Any, rank: int) -> Any:
    """Another valid value of a parameter, or the same object where none is known."""
    if isinstance(value, bool):
        return not value
    if name == "axis" and isinstance(value, int):
        return (value + 1) % rank if rank > 1 else value
    if name in ("axes", "permutation") and isinstance(value, tuple) and rank > 1 and value:
        other = tuple((k + 1) % rank for k in value)
        return value if name == "axes" and set(other) == set(value) else other
    if isinstance(value, int) and name in ("offset", "diagonal", "order", "k", "decimals"):
        return value + 1
    return value


def differ(a: Any, b: Any) -> bool:
    """Whether two results of a rule differ, as far as they are plain; traced ones do not count."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) != len(b) or any(differ(x, y) for x, y in zip(a, b, strict=True))
    if a is b or isinstance(a, Tracer) or isinstance(b, Tracer):
        return False
    if type(a) is Masked or type(b) is Masked:
        return differ(getattr(a, "val", a), getattr(b, "val", b))
    if isinstance(a, ShapedArray) or isinstance(b, ShapedArray):
        return bool(a != b)
    if a is None or b is None:  # None is a zero
        return bool(np.any(b if a is None else a))
    x, y = np.asarray(a), np.asarray(b)
    return x.shape != y.shape or x.dtype != y.dtype or not np.array_equal(x, y, equal_nan=is_inexact(x.dtype))


def same_object(a: Any, b: Any) -> bool:
    """Whether a change left a result as it was, entry by entry."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same_object, a, b))
    return a is b


def pairs(count: int) -> Sequence[tuple[int, int]]:
    return [(i, j) for i in range(count) for j in range(i + 1, count)]
