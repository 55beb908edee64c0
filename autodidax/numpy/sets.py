"""Sets of values: unique entries, unions, intersections, differences.

The entries of a result are entries of the arguments, and have their derivatives: of equal ones, that of the first.
Which they are depends on values, so under jit and vmap these functions raise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of
from autodidax.numpy.concreteness import describe, known_value
from autodidax.numpy.dispatch import axis_of, numpy_function, operand
from autodidax.numpy.joining import concatenate
from autodidax.numpy.shaping import ravel
from autodidax.primitives.convert import astype
from autodidax.primitives.gather import take


def _known(name: str, x: Any) -> Any:
    value = known_value(x)
    if value is None:
        raise errors.ConcretizationTypeError(
            f"{name}: the size of the result depends on the values of {describe(x)}, which are not known",
            mend="call it outside of jit and vmap; or keep the shape: sort(x), where(condition, x, 0)",
        )
    return np.asarray(value)


@numpy_function
def unique(
    ar: Any, return_index: Any = False, return_inverse: Any = False, return_counts: Any = False, axis: Any = None, *,
    equal_nan: Any = True, sorted: Any = True,
) -> Any:  # fmt: skip
    """The different entries in ascending order, or slices along an axis; on request where each is first, where the
    entries went, and how often each occurs. The values have to be known.

    Source: numpy.unique.
    """
    ar = operand(ar)
    values = _known("unique", ar)
    found = np.unique(values, True, return_inverse, return_counts, axis, equal_nan=equal_nan)
    index = found[1]
    result = take(ravel(ar), index, 0) if axis is None else take(ar, index, axis_of(axis, values.ndim))
    rest = found[1:] if return_index else found[2:]
    return (result, *rest) if rest else result


def _fields(function: Any, x: Any, **which: bool) -> Any:
    """What numpy.unique_all and its kin return, a named tuple of the arrays that they have."""
    parts = unique(x, **which, equal_nan=False)
    return type(function(np.zeros(1)))(*parts)


@numpy_function
def unique_all(x: Any) -> Any:
    """The different entries, their first positions, where the entries went, and counts; each NaN is one of its own.

    Source: numpy.unique_all.
    """
    return _fields(np.unique_all, operand(x), return_index=True, return_inverse=True, return_counts=True)


@numpy_function
def unique_counts(x: Any) -> Any:
    """The different entries and how often each occurs; each NaN is one of its own.

    Source: numpy.unique_counts.
    """
    return _fields(np.unique_counts, operand(x), return_counts=True)


@numpy_function
def unique_inverse(x: Any) -> Any:
    """The different entries and where each entry went among them; each NaN is one of its own.

    Source: numpy.unique_inverse.
    """
    return _fields(np.unique_inverse, operand(x), return_inverse=True)


@numpy_function
def unique_values(x: Any) -> Any:
    """The different entries, in ascending order; each NaN is one of its own.

    Source: numpy.unique_values, which leaves the order open.
    """
    return unique(operand(x), equal_nan=False)


@numpy_function
def union1d(ar1: Any, ar2: Any) -> Any:
    """The different entries of both, in ascending order.

    Source: numpy.union1d.
    """
    return unique(concatenate([operand(ar1), operand(ar2)], axis=None))


@numpy_function
def intersect1d(ar1: Any, ar2: Any, assume_unique: Any = False, return_indices: Any = False) -> Any:
    """The different entries of ar1 that ar2 has too, in ascending order; on request their positions in both.

    Source: numpy.intersect1d.
    """
    ar1, ar2 = operand(ar1), operand(ar2)
    values = _known("intersect1d", ar1), _known("intersect1d", ar2)
    _, first, second = np.intersect1d(*values, assume_unique=assume_unique, return_indices=True)
    result = astype(take(ravel(ar1), first, 0), np.result_type(dtype_of(ar1), dtype_of(ar2)))
    return (result, first, second) if return_indices else result


@numpy_function
def setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    """The different entries of ar1 that ar2 lacks, in ascending order.

    Source: numpy.setdiff1d.
    """
    ar1 = operand(ar1)
    values, others = _known("setdiff1d", ar1).ravel(), _known("setdiff1d", operand(ar2))
    index = np.arange(values.size) if assume_unique else np.unique(values, return_index=True)[1]
    return take(ravel(ar1), index[np.isin(values[index], others, invert=True)], 0)


@numpy_function
def setxor1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    """The different entries of either that the other one lacks, in ascending order.

    Source: numpy.setxor1d.
    """
    both = [ravel(operand(a)) for a in (ar1, ar2)]
    if not assume_unique:
        both = [take(a, np.unique(_known("setxor1d", a), return_index=True)[1], 0) for a in both]
    joined = concatenate(both)
    values = _known("setxor1d", joined)
    order = np.argsort(values, kind="stable")
    steps = values[order][1:] != values[order][:-1]
    alone = np.concatenate([[True], steps]) & np.concatenate([steps, [True]])
    return take(joined, order[alone] if values.size else order, 0)


__all__ = [
    "intersect1d", "setdiff1d", "setxor1d", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse",
    "unique_values",
]  # fmt: skip
