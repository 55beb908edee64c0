"""Contractions and convolutions, under lax's names."""

from __future__ import annotations

import enum
import itertools
import string
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.lax import structure
from autodidax.lax.reducing import padtype_to_pads
from autodidax.numpy import contraction as anp
from autodidax.numpy.dispatch import operand as as_operand
from autodidax.primitives.contraction import einsum
from autodidax.primitives.convert import astype

Dimensions = tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]


class Precision(enum.Enum):
    """Accepted for JAX's sake, without effect: contractions have the precision of their dtype."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2


def _widened(x: Any, dtype: Any) -> Any:
    """x in a wider dtype; other conversions wait for the result."""
    return astype(x, dtype) if dtype is not None and np.can_cast(dtype_of(x), dtype) else x


def dot_general(
    lhs: Any, rhs: Any, dimension_numbers: Dimensions, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """Sum of products over pairs of axes, entry by entry along other pairs: dimension_numbers are ((contracted axes of
    lhs, of rhs), (batch axes of lhs, of rhs)); the result has the batch axes, the rest of lhs, the rest of rhs.

    Source: jax.lax.dot_general.
    """
    x, y = (_widened(as_operand(v), preferred_element_type) for v in (lhs, rhs))
    (x_sum, y_sum), (x_batch, y_batch) = dimension_numbers
    ranks = len(shape_of(x)), len(shape_of(y))
    pairs = [*zip(x_batch, y_batch, strict=True), *zip(x_sum, y_sum, strict=True)]
    letters = iter(string.ascii_letters)
    x_labels: list[str] = [""] * ranks[0]
    y_labels: list[str] = [""] * ranks[1]
    for i, j in pairs:
        if shape_of(x)[i] != shape_of(y)[j]:
            raise errors.ShapeError(
                f"dot_general: axis {i} of {shape_of(x)} and axis {j} of {shape_of(y)} differ in size",
                mend="pair axes of one size",
            )
        x_labels[i] = y_labels[j] = next(letters)
    batch = "".join(x_labels[i] for i in x_batch)
    x_labels, y_labels = ([label or next(letters) for label in labels] for labels in (x_labels, y_labels))
    paired = {x_labels[i] for i, _ in pairs}
    out = batch + "".join(label for label in [*x_labels, *y_labels] if label not in paired)
    result = einsum(x, y, subscripts=f"{''.join(x_labels)},{''.join(y_labels)}->{out}")
    return result if preferred_element_type is None else astype(result, preferred_element_type)


def dot(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Dimensions | None = None,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Product of vectors and matrices, (n,) or (m, n) with (n,) or (n, k); `dot_general` where dimension_numbers are
    given. Source: jax.lax.dot."""
    if dimension_numbers is not None:
        return dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type)
    x, y = (_widened(as_operand(v), preferred_element_type) for v in (lhs, rhs))
    if len(shape_of(x)) not in (1, 2) or len(shape_of(y)) not in (1, 2):
        raise errors.ShapeError(
            f"dot: shapes {shape_of(x)} and {shape_of(y)}", mend="give vectors and matrices, or dimension_numbers"
        )
    result = anp.matmul(x, y)
    return result if preferred_element_type is None else astype(result, preferred_element_type)


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """Matrix products along leading axes: (..., n, m), (..., m, k) -> (..., n, k). Source: jax.lax.batch_matmul."""
    x, y = as_operand(lhs), as_operand(rhs)
    if len(shape_of(x)) != len(shape_of(y)) or len(shape_of(x)) < 2 or shape_of(x)[:-2] != shape_of(y)[:-2]:
        raise errors.ShapeError(
            f"batch_matmul: shapes {shape_of(x)} and {shape_of(y)}", mend="give matrices with the same leading axes"
        )
    return anp.matmul(x, y)


class ConvDimensionNumbers(NamedTuple):
    """Places of axes: (batch, feature, *space) of the operand and of the result, (out, in, *space) of the kernel."""

    lhs_spec: tuple[int, ...]
    rhs_spec: tuple[int, ...]
    out_spec: tuple[int, ...]


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """Letters such as ("NHWC", "HWIO", "NHWC") as places of axes; None is batch, feature, space and out, in, space.

    Source: jax.lax.conv_dimension_numbers.
    """
    rank = len(lhs_shape)
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if dimension_numbers is None:
        straight = tuple(range(rank))
        return ConvDimensionNumbers(straight, straight, straight)
    lhs, rhs, out = dimension_numbers
    fits = all(len(set(spec)) == len(spec) == rank for spec in (lhs, rhs, out)) and (
        set(lhs) == set(out) and {"N", "C"} <= set(lhs) and set(rhs) == (set(lhs) - {"N", "C"}) | {"O", "I"}
    )
    if not fits or len(rhs_shape) != rank:
        raise errors.ShapeError(
            f"convolution: dimension numbers {dimension_numbers!r} for ranks {rank} and {len(rhs_shape)}",
            mend='name each axis once: N, C and space, or O, I and space, as in ("NHWC", "HWIO", "NHWC")',
        )
    space = [c for c in rhs if c not in "OI"]
    return ConvDimensionNumbers(
        tuple(lhs.index(c) for c in ["N", "C", *space]),
        tuple(rhs.index(c) for c in ["O", "I", *space]),
        tuple(out.index(c) for c in ["N", "C", *space]),
    )


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Convolution (without turning the kernel round): the sum over kernel places and input features of kernel entries
    times shifted copies of the operand.

    Parameters
    ----------
    lhs, rhs : operand and kernel, their axes placed by `dimension_numbers` (see `conv_dimension_numbers`).
    window_strides : steps between places of the window, one a space axis.
    padding : "SAME", "SAME_LOWER", "VALID" (see `padtype_to_pads`), or (before, after) a space axis;
        pairs where lhs_dilation is given, unless "VALID".
    lhs_dilation, rhs_dilation : 1 + the zeros between entries of the operand, of the kernel.
    feature_group_count, batch_group_count : independent convolutions side by side, that divide the features, or the
        batch, of the operand, and the features of the result.

    Source: jax.lax.conv_general_dilated.
    """
    x, kernel = (_widened(as_operand(v), preferred_element_type) for v in (lhs, rhs))
    spec = conv_dimension_numbers(shape_of(x), shape_of(kernel), dimension_numbers)
    x, kernel = structure.transpose(x, spec.lhs_spec), structure.transpose(kernel, spec.rhs_spec)
    (batch, features, *space), (outputs, inputs, *window) = shape_of(x), shape_of(kernel)
    groups = feature_group_count * batch_group_count
    _check_groups(features, inputs, outputs, batch, feature_group_count, batch_group_count)
    ones = (1,) * len(space)
    base, spacing = tuple(lhs_dilation or ones), tuple(rhs_dilation or ones)
    reach = [max((w - 1) * d + 1, 0) for w, d in zip(window, spacing, strict=True)]
    if isinstance(padding, str):
        if padding.upper() != "VALID" and any(d != 1 for d in base):
            raise errors.ArgumentError(
                f"convolution: padding {padding!r} with lhs_dilation {base}",
                mend="give (before, after) for each space axis",
            )
        padding = padtype_to_pads(space, reach, window_strides, padding)
    config = [(lo, hi, d - 1) for (lo, hi), d in zip(padding, base, strict=True)]
    x = structure.pad(x, 0, [(0, 0, 0), (0, 0, 0), *config])
    sizes = [max((n - r) // s + 1, 0) for n, r, s in zip(shape_of(x)[2:], reach, window_strides, strict=True)]
    patches = _patches(x, window, spacing, window_strides, sizes)  # (places, batch, features, *sizes)
    split = (batch, groups, inputs) if batch_group_count == 1 else (groups, batch // groups, inputs)
    patches = structure.reshape(patches, (shape_of(patches)[0], *split, *sizes))
    kernel = structure.reshape(kernel, (groups, outputs // groups, inputs, shape_of(patches)[0]))
    labels = string.ascii_uppercase[: len(sizes)]
    order = "kngc" if batch_group_count == 1 else "kgnc"
    out = einsum(patches, kernel, subscripts=f"{order}{labels},gock->ngo{labels}")
    out = structure.reshape(out, (shape_of(out)[0], outputs, *sizes))
    out = structure.transpose(out, np.argsort(spec.out_spec).tolist())
    return out if preferred_element_type is None else astype(out, preferred_element_type)


def _check_groups(features: int, inputs: int, outputs: int, batch: int, by_feature: int, by_batch: int) -> None:
    if by_feature != 1 and by_batch != 1:
        raise errors.ArgumentError(
            "convolution: feature_group_count and batch_group_count", mend="divide by one of them"
        )
    if features != inputs * by_feature or outputs % (by_feature * by_batch) or batch % by_batch:
        raise errors.ShapeError(
            f"convolution: {features} features and a batch of {batch}, a kernel of {inputs} input and {outputs} output "
            f"features, in {by_feature * by_batch} groups",
            mend="give a kernel whose input features are those of a group, and numbers that the groups divide",
        )


def _patches(x: Any, window: Sequence[int], spacing: Any, strides: Any, sizes: Sequence[int]) -> Any:
    """One shifted copy of x for each place in the window, stacked in front: (places, batch, features, *sizes)."""
    shifted = []
    for offset in itertools.product(*map(range, window)):
        starts = [k * d for k, d in zip(offset, spacing, strict=True)]
        limits = [a + (n - 1) * s + 1 if n else a for a, n, s in zip(starts, sizes, strides, strict=True)]
        bounds = zip([0, 0, *starts], [*shape_of(x)[:2], *limits], [1, 1, *strides], strict=True)
        shifted.append(x[tuple(slice(a, b, s) for a, b, s in bounds)])
    if not shifted:
        return np.zeros((0, *shape_of(x)[:2], *sizes), dtype_of(x))
    return structure.stack(shifted)


def conv(
    lhs: Any, rhs: Any, window_strides: Sequence[int], padding: str, precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:  # fmt: skip
    """Convolution of (batch, features, *space) by (out, in, *space). Source: jax.lax.conv."""
    return conv_general_dilated(lhs, rhs, window_strides, padding, preferred_element_type=preferred_element_type)


def conv_with_general_padding(
    lhs: Any, rhs: Any, window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None, rhs_dilation: Sequence[int] | None, precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:  # fmt: skip
    """Convolution of (batch, features, *space) by (out, in, *space). Source: jax.lax.conv_with_general_padding."""
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, preferred_element_type=preferred_element_type
    )
