"""Sets of values: unique entries, unions, intersections, differences.

The entries of a result are entries of the arguments, and have their derivatives: of equal ones, that of the first.
Which they are depends on values, so under jit and vmap these functions need `size`, as in jax.numpy: the number of
entries of the result, which is cut off there, or filled with `fill_value` (by default the first entry again).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy import sized
from autodidax.numpy.concreteness import describe, known_value
from autodidax.numpy.dispatch import axis_of, operand
from autodidax.numpy.joining import concatenate
from autodidax.numpy.logic import isin
from autodidax.numpy.shaping import ravel
from autodidax.numpy.sized import with_size
from autodidax.primitives.comparison import logical_and
from autodidax.primitives.convert import astype
from autodidax.primitives.gather import take
from autodidax.primitives.sorting import argsort, searchsorted


def _known(name: str, x: Any) -> Any:
    value = known_value(x)
    if value is None:
        raise errors.ConcretizationTypeError(
            f"{name}: the size of the result depends on the values of {describe(x)}, which are not known",
            mend=f"write anp.{name}(..., size=n); call it outside of jit and vmap; or keep the shape: sort(x), "
            "where(condition, x, 0)",
        )
    return np.asarray(value)


@with_size
def unique(
    ar: Any, return_index: Any = False, return_inverse: Any = False, return_counts: Any = False, axis: Any = None, *,
    equal_nan: Any = True, sorted: Any = True, size: Any = None, fill_value: Any = None,
) -> Any:  # fmt: skip
    """The different entries in ascending order, or slices along an axis; on request where each is first, where the
    entries went, and how often each occurs.

    Source: numpy.unique, jax.numpy.unique.
    """
    ar = operand(ar)
    if size is not None:
        k = None if axis is None else axis_of(axis, len(shape_of(ar)))
        return sized.unique(ar, size, fill_value, k, return_index, return_inverse, return_counts, equal_nan)
    values = _known("unique", ar)
    found = np.unique(values, True, return_inverse, return_counts, axis, equal_nan=equal_nan)
    index = found[1]
    result = take(ravel(ar), index, 0) if axis is None else take(ar, index, axis_of(axis, values.ndim))
    rest = found[1:] if return_index else found[2:]
    return (result, *rest) if rest else result


def _fields(function: Any, x: Any, size: Any, fill_value: Any, **which: bool) -> Any:
    """What numpy.unique_all and its kin return, a named tuple of the arrays that they have."""
    parts = unique(operand(x), **which, equal_nan=False, size=size, fill_value=fill_value)
    return type(function(np.zeros(1)))(*parts)


@with_size
def unique_all(x: Any, *, size: Any = None, fill_value: Any = None) -> Any:
    """The different entries, their first positions, where the entries went, and counts; each NaN is one of its own.

    Source: numpy.unique_all.
    """
    return _fields(np.unique_all, x, size, fill_value, return_index=True, return_inverse=True, return_counts=True)


@with_size
def unique_counts(x: Any, *, size: Any = None, fill_value: Any = None) -> Any:
    """The different entries and how often each occurs; each NaN is one of its own.

    Source: numpy.unique_counts.
    """
    return _fields(np.unique_counts, x, size, fill_value, return_counts=True)


@with_size
def unique_inverse(x: Any, *, size: Any = None, fill_value: Any = None) -> Any:
    """The different entries and where each entry went among them; each NaN is one of its own.

    Source: numpy.unique_inverse.
    """
    return _fields(np.unique_inverse, x, size, fill_value, return_inverse=True)


@with_size
def unique_values(x: Any, *, size: Any = None, fill_value: Any = None) -> Any:
    """The different entries, in ascending order; each NaN is one of its own.

    Source: numpy.unique_values, which leaves the order open.
    """
    return unique(operand(x), equal_nan=False, size=size, fill_value=fill_value)


@with_size
def union1d(ar1: Any, ar2: Any, *, size: Any = None, fill_value: Any = None) -> Any:
    """The different entries of both, in ascending order.

    Source: numpy.union1d.
    """
    return unique(concatenate([operand(ar1), operand(ar2)], axis=None), size=size, fill_value=fill_value)


@with_size
def intersect1d(
    ar1: Any, ar2: Any, assume_unique: Any = False, return_indices: Any = False, *, size: Any = None,
    fill_value: Any = None,
) -> Any:  # fmt: skip
    """The different entries of ar1 that ar2 has too, in ascending order; on request their positions in both (those of
    fillings are the numbers of entries).

    Source: numpy.intersect1d, jax.numpy.intersect1d.
    """
    ar1, ar2 = operand(ar1), operand(ar2)
    dtype = np.result_type(dtype_of(ar1), dtype_of(ar2))
    if size is not None:
        one, two = ravel(ar1), ravel(ar2)
        values, first, real = _chosen("intersect1d", one, isin(one, two), size, fill_value)
        result = astype(values, dtype)
        if not return_indices:
            return result
        order = argsort(two, 0, stable=True)
        found = searchsorted(take(two, order, 0), take(one, first, 0))
        second = take(order, found, 0, "clip")
        return result, sized.fill(first, real, shape_of(one)[0]), sized.fill(second, real, shape_of(two)[0])
    both = _known("intersect1d", ar1), _known("intersect1d", ar2)
    _, first, second = np.intersect1d(*both, assume_unique=assume_unique, return_indices=True)
    result = astype(take(ravel(ar1), first, 0), dtype)
    return (result, first, second) if return_indices else result


def _chosen(name: str, a: Any, held: Any, size: Any, fill_value: Any) -> tuple[Any, Any, Any]:
    """The different entries of a vector for which the mask holds, in ascending order, their positions, and which are
    real; all of them (size,)."""
    if not shape_of(a)[0]:
        raise errors.ShapeError(f"{name}: no entry to fill {size} places with", mend="leave size= away")
    found = sized.Sorted(a)
    places, real = sized.positions(logical_and(found.new, take(held, found.order, 0)), sized.size_of(name, size))
    index = take(found.order, places, 0)
    values = take(a, index, 0)
    return sized.fill(values, real, values[0] if fill_value is None and size else fill_value or 0), index, real


@with_size
def setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False, *, size: Any = None, fill_value: Any = None) -> Any:
    """The different entries of ar1 that ar2 lacks, in ascending order; fillings are 0 by default.

    Source: numpy.setdiff1d, jax.numpy.setdiff1d.
    """
    ar1 = ravel(operand(ar1))
    if size is not None:
        filling = 0 if fill_value is None else fill_value
        alone = isin(ar1, operand(ar2), invert=True)
        if assume_unique or not shape_of(ar1)[0]:
            return sized.taken("setdiff1d", ar1, alone, size, filling)
        return _chosen("setdiff1d", ar1, alone, size, filling)[0]
    values, others = _known("setdiff1d", ar1), _known("setdiff1d", operand(ar2))
    index = np.arange(values.size) if assume_unique else np.unique(values, return_index=True)[1]
    return take(ar1, index[np.isin(values[index], others, invert=True)], 0)


@with_size
def setxor1d(ar1: Any, ar2: Any, assume_unique: Any = False, *, size: Any = None, fill_value: Any = None) -> Any:
    """The different entries of either that the other one lacks, in ascending order.

    Source: numpy.setxor1d, jax.numpy.setxor1d.
    """
    both = [ravel(operand(a)) for a in (ar1, ar2)]
    if size is not None:
        alone = [isin(a, other, invert=True) for a, other in (both, both[::-1])]
        return _chosen("setxor1d", concatenate(both), concatenate(alone), size, fill_value)[0]
    if not assume_unique:
        both = [take(a, np.unique(_known("setxor1d", a), return_index=True)[1], 0) for a in both]
    joined = concatenate(both)
    values = _known("setxor1d", joined)
    order = np.argsort(values, kind="stable")
    steps = values[order][1:] != values[order][:-1]
    single = np.concatenate([[True], steps]) & np.concatenate([steps, [True]])
    return take(joined, order[single] if values.size else order, 0)


__all__ = [
    "intersect1d", "setdiff1d", "setxor1d", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse",
    "unique_values",
]  # fmt: skip
