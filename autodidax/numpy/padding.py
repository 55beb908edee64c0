"""Entries put around an array, in every mode of numpy.pad: constants, copies, reflections, ramps, statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.numpy.contraction import tensordot
from autodidax.numpy.creation import linspace
from autodidax.numpy.dispatch import numpy_function, operand
from autodidax.numpy.quantiles import median
from autodidax.numpy.reductions import max as largest
from autodidax.numpy.reductions import mean
from autodidax.numpy.reductions import min as smallest
from autodidax.primitives import rearrange
from autodidax.primitives.convert import astype
from autodidax.primitives.rounding import rint
from autodidax.primitives.scatter import check_cast
from autodidax.primitives.shape import broadcast_to, concatenate, flip, moveaxis

_COPYING = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS: dict[str, Callable[..., Any]] = {"maximum": largest, "minimum": smallest, "mean": mean, "median": median}
# the keyword of each mode and its default
_KEYWORDS: dict[str, tuple[str, Any]] = {
    "constant": ("constant_values", 0), "linear_ramp": ("end_values", 0), "reflect": ("reflect_type", "even"),
    "symmetric": ("reflect_type", "even"), **dict.fromkeys(_STATISTICS, ("stat_length", None)),
}  # fmt: skip
_MODES = ("constant", "empty", "linear_ramp", *_STATISTICS, *_COPYING)


@numpy_function
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """Entries added before and after along each axis, in the modes of NumPy; "empty" adds zeros.

    Source: numpy.pad.
    """
    array = operand(array)
    if mode not in _MODES:
        raise errors.UnsupportedError(
            f"pad: mode={mode!r} is not supported on traced values",
            mend=f"use one of {', '.join(map(repr, _MODES))}, or concatenate the parts",
        )
    keyword, option = _KEYWORDS.get(mode, ("", None))
    option = kwargs.pop(keyword, option)
    if kwargs:
        raise errors.ArgumentError(
            f"pad: mode={mode!r} takes no {next(iter(kwargs))}",
            mend=f"give {keyword}= alone" if keyword else "leave it away",
        )
    widths = rearrange.pad_widths(pad_width, len(shape_of(array)))
    if any(n < 0 for pair in widths for n in pair):
        raise ValueError("index can't contain negative values")
    if mode in ("constant", "linear_ramp"):
        option = operand(option)
        check_cast("pad", option, dtype_of(array))
    if mode in ("constant", "empty"):
        return rearrange.pad_constant(array, widths, 0 if mode == "empty" else option)
    if mode in _COPYING and (option == "even" or option is None):
        return rearrange.pad_copied(array, widths, mode)
    if mode in _COPYING and option != "odd":
        raise errors.ArgumentError(f"pad: reflect_type={option!r}", mend="give 'even' or 'odd'")
    options = [None] * len(widths) if mode in _COPYING else _pairs(option, len(widths))
    for k, (width, values) in enumerate(zip(widths, options, strict=True)):
        if width != (0, 0):
            array = _PADDERS[mode](array, k, width, values)
    return array


def _pairs(option: Any, ndim: int) -> list[Any]:
    """Options before and after along each axis, from one for all or from a table of them."""
    if option is None:
        return [(None, None)] * ndim
    table = broadcast_to(option, shape=(ndim, 2)) if isinstance(option, Tracer) else np.broadcast_to(option, (ndim, 2))
    return [(table[k, 0], table[k, 1]) for k in range(ndim)]


def _along(x: Any, axis: int, start: int, stop: int) -> Any:
    return x[(*(slice(None),) * axis, slice(start, stop))]


def _rounded(x: Any, dtype: np.dtype) -> Any:
    return astype(rint(x) if dtype.kind in "iu" and dtype_of(x).kind == "f" else x, dtype)


def _ramps(x: Any, axis: int, width: tuple[int, int], ends: Any) -> Any:
    """Lines from the end values to the first and last entries."""
    size, dtype = shape_of(x)[axis], dtype_of(x)
    parts = [x]
    for before, n, end in zip((True, False), width, ends, strict=True):
        edge = _along(x, axis, 0, 1) if before else _along(x, axis, size - 1, size)
        edge = edge.reshape((*shape_of(x)[:axis], *shape_of(x)[axis + 1 :]))
        ramp = astype(linspace(end, edge, n, endpoint=False, dtype=dtype if dtype.kind in "iu" else None), dtype)
        ramp = moveaxis(ramp, source=(0,), destination=(axis,))
        parts = [ramp, *parts] if before else [*parts, flip(ramp, axes=(axis,))]
    return concatenate(*parts, axis=axis)


def _statistic(mode: str) -> Callable[..., Any]:
    def padded(x: Any, axis: int, width: tuple[int, int], lengths: Any) -> Any:
        size, parts = shape_of(x)[axis], [x]
        for before, n, length in zip((True, False), width, lengths, strict=True):
            length = size if length is None else min(int(length), size)
            if length < 1 and mode in ("maximum", "minimum"):
                raise errors.ArgumentError(f"pad: stat_length={length} for mode={mode!r}", mend="give 1 or more")
            chunk = _along(x, axis, 0, length) if before else _along(x, axis, size - length, size)
            value = _rounded(_STATISTICS[mode](chunk, axis, keepdims=True), dtype_of(x))
            block = broadcast_to(value, shape=(*shape_of(x)[:axis], n, *shape_of(x)[axis + 1 :]))
            parts = [block, *parts] if before else [*parts, block]
        return concatenate(*parts, axis=axis)

    return padded


def _odd(mode: str) -> Callable[..., Any]:
    """Reflections in the first and last entries as points: 2 * edge - x."""

    def padded(x: Any, axis: int, width: tuple[int, int], _: Any) -> Any:
        size, (before, after) = shape_of(x)[axis], width
        skipped = 1 if mode == "reflect" else 0  # whether the edge itself is left out
        if size == 1:
            return rearrange.pad_copied(x, (*[(0, 0)] * axis, width, *[(0, 0)] * (len(shape_of(x)) - axis - 1)), "edge")
        if max(width) > size - skipped:  # reflections of reflections: a matrix of whole numbers
            weights = np.pad(np.eye(size, dtype=int), [width, (0, 0)], mode, reflect_type="odd")  # type: ignore[call-overload]
            out = tensordot(weights.astype(dtype_of(x)), x, ((1,), (axis,)))
            return moveaxis(out, source=(0,), destination=(axis,))
        first, last = _along(x, axis, 0, 1), _along(x, axis, size - 1, size)
        head = flip(_along(x, axis, skipped, skipped + before), axes=(axis,))
        tail = flip(_along(x, axis, size - skipped - after, size - skipped), axes=(axis,))
        return concatenate(2 * first - head, x, 2 * last - tail, axis=axis)

    return padded


_PADDERS: dict[str, Callable[..., Any]] = {
    "linear_ramp": _ramps, **{mode: _statistic(mode) for mode in _STATISTICS},
    "reflect": _odd("reflect"), "symmetric": _odd("symmetric"),
}  # fmt: skip

__all__ = ["pad"]
