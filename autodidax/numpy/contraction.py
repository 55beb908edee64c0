"""Products and contractions under NumPy's names: dot, matmul, tensordot, einsum and their kin."""

from __future__ import annotations

import functools
import math
import operator
import string
from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.numpy.dispatch import (
    CASTING,
    axis_of,
    check_casting,
    extended,
    given,
    numpy_function,
    operand,
    refuse,
    refuse_out,
    strong,
)
from autodidax.primitives import contraction
from autodidax.primitives.convert import astype, conj
from autodidax.primitives.elementwise import multiply
from autodidax.primitives.shape import expand_dims, reduce_sum, reshape, transpose


def _flat(x: Any) -> Any:
    return reshape(x, shape=(math.prod(shape_of(x)),))


PRECISION = ("precision", "preferred_element_type")


def in_preferred_dtype(product: Callable[..., Any], arrays: Any, dtype: Any = None) -> Any:
    """A product in its own dtype, or with jax.numpy's `preferred_element_type` accumulated and returned in that one.

    The keyword `precision`, which stands beside it, has no effect: NumPy's products always have full precision.
    """
    arrays = [operand(x) for x in arrays]
    if dtype is None:
        return product(*arrays)
    dtype = np.dtype(dtype)
    working = np.result_type(dtype, *map(dtype_of, arrays))
    if working.kind == "c" and dtype.kind != "c":
        raise errors.DtypeError(
            f"{dtype} is no dtype for the product of complex numbers",
            mend="give a complex dtype, or take the real part",
        )
    return astype(product(*[astype(x, working) for x in arrays]), dtype)


@extended(*PRECISION)
def matmul(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> Any:
    """Matrix product: (..., n, k), (..., k, m) -> (..., n, m).

    Source: numpy.matmul, jax.numpy.matmul.
    """
    if out is None and not options:
        return contraction.matmul.op(operand(x1), operand(x2))
    refuse_out("matmul", out)
    return in_preferred_dtype(contraction.matmul, *_typed("matmul", (x1, x2), options))


def _typed(name: str, arrays: Any, options: dict[str, Any]) -> tuple[list[Any], Any]:
    """The operands, in the dtype that the keyword `dtype` asks for, and the dtype that jax.numpy's keyword prefers."""
    dtype, preferred = options.pop("dtype", None), options.pop("preferred_element_type", None)
    options.pop("precision", None)
    if "casting" in options:
        check_casting(options["casting"])
    refuse(name, **{k: v for k, v in options.items() if (k, v) not in _DEFAULTS})
    arrays = [operand(x) for x in arrays]
    return [astype(x, dtype) for x in arrays] if given(dtype) else arrays, preferred


_DEFAULTS = (
    *(("casting", casting) for casting in CASTING), ("subok", True), ("keepdims", False),
    *(("order", order) for order in "KCAF"),  # traced values have no layout in memory to choose
)  # fmt: skip


@numpy_function
def matvec(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> Any:
    """Matrices times vectors: (..., n, k), (..., k) -> (..., n).

    Source: numpy.matvec.
    """
    refuse_out("matvec", out)
    (x, y), _ = _typed("matvec", (x1, x2), options)
    _require_axes("matvec", shape_of(x), shape_of(y))
    return _drop(contraction.matmul(x, expand_dims(y, (len(shape_of(y)),))), -1)


@numpy_function
def vecmat(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> Any:
    """Conjugated vectors times matrices: (..., k), (..., k, m) -> (..., m).

    Source: numpy.vecmat.
    """
    refuse_out("vecmat", out)
    (x, y), _ = _typed("vecmat", (x1, x2), options)
    _require_axes("vecmat", shape_of(y), shape_of(x))
    return _drop(contraction.matmul(expand_dims(conj(x), (len(shape_of(x)) - 1,)), y), -2)


def _require_axes(name: str, matrix: tuple[int, ...], vector: tuple[int, ...]) -> None:
    if len(matrix) < 2 or not vector:
        raise errors.ShapeError(
            f"{name}: shapes {matrix} of the matrix and {vector} of the vector",
            mend="give a matrix of two axes or more and a vector of one or more",
        )


def _drop(x: Any, axis: int) -> Any:
    shape = list(shape_of(x))
    del shape[axis]
    return reshape(x, shape=tuple(shape))


@extended(*PRECISION)
def vecdot(x1: Any, x2: Any, /, out: Any = None, *, axis: int = -1, keepdims: bool = False, **options: Any) -> Any:
    """Sums over one axis of conj(x1) x2: (..., k), (..., k) -> (...).

    Source: numpy.vecdot, jax.numpy.vecdot.
    """
    refuse_out("vecdot", out)
    if not isinstance(keepdims, bool | Tracer):
        raise TypeError("'keepdims' must be a boolean")
    arrays, preferred = _typed("vecdot", (x1, x2), options)
    return in_preferred_dtype(lambda x, y: _vecdot(x, y, axis, keepdims), arrays, preferred)


def _vecdot(x: Any, y: Any, axis: int, keepdims: bool) -> Any:
    nx, ny = (shape_of(a)[axis_of(axis, len(shape_of(a)))] for a in (x, y))
    if nx != ny:
        raise errors.ShapeError(
            f"vecdot: shapes {shape_of(x)} and {shape_of(y)} differ along axis {axis}", mend="bring both to one length"
        )
    product = conj(x) * y
    k = axis_of(axis, len(shape_of(product)))
    total = astype(reduce_sum(product, axes=(k,)), dtype_of(product))
    return expand_dims(total, (k,)) if keepdims else total


@extended(*PRECISION)
def dot(a: Any, b: Any, out: Any = None, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Sum of products over the last axis of a and the second to last (or only) one of b; a scalar multiplies.

    Source: numpy.dot, jax.numpy.dot.
    """
    refuse_out("dot", out)
    if preferred_element_type is not None:
        return in_preferred_dtype(dot, (a, b), preferred_element_type)
    a, b = operand(a), operand(b)
    rank_a, rank_b = len(shape_of(a)), len(shape_of(b))
    if rank_a == 0 or rank_b == 0:
        return multiply(strong(a), strong(b))
    if rank_b <= 2:
        return contraction.matmul(a, b)
    return tensordot(a, b, ((rank_a - 1,), (rank_b - 2,)))


@extended(*PRECISION)
def vdot(a: Any, b: Any, /, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Sum of conj(a) b over all entries, in C order.

    Source: numpy.vdot, jax.numpy.vdot.
    """
    return in_preferred_dtype(lambda a, b: contraction.matmul(_flat(conj(a)), _flat(b)), (a, b), preferred_element_type)


@extended(*PRECISION)
def inner(a: Any, b: Any, /, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Sums of products over the last axes: (..., k), (..., k) -> (..., ...); a scalar multiplies.

    Source: numpy.inner, jax.numpy.inner.
    """
    if preferred_element_type is not None:
        return in_preferred_dtype(inner, (a, b), preferred_element_type)
    a, b = operand(a), operand(b)
    rank_a, rank_b = len(shape_of(a)), len(shape_of(b))
    if rank_a == 0 or rank_b == 0:
        return multiply(strong(a), strong(b))
    if rank_b == 1:
        return contraction.matmul(a, b)
    return tensordot(a, b, ((rank_a - 1,), (rank_b - 1,)))


@numpy_function
def outer(a: Any, b: Any, out: Any = None) -> Any:
    """All products of an entry of a with one of b: (n,), (m,) -> (n, m); other shapes are flattened.

    Source: numpy.outer.
    """
    refuse_out("outer", out)
    a, b = _flat(operand(a)), _flat(operand(b))
    return expand_dims(a, (1,)) * expand_dims(b, (0,))


@numpy_function
def kron(a: Any, b: Any) -> Any:
    """Blocks a[i, j] b: (n, m), (p, q) -> (n p, m q); missing leading axes have size 1.

    Source: numpy.kron.
    """
    a, b = operand(a), operand(b)
    rank = max(len(shape_of(a)), len(shape_of(b)))
    if rank == 0:
        return multiply(strong(a), strong(b))
    sizes_a, sizes_b = ((1,) * (rank - len(shape_of(x))) + shape_of(x) for x in (a, b))
    spread_a = reshape(a, shape=tuple(n for size in sizes_a for n in (size, 1)))
    spread_b = reshape(b, shape=tuple(n for size in sizes_b for n in (1, size)))
    return reshape(spread_a * spread_b, shape=tuple(n * m for n, m in zip(sizes_a, sizes_b, strict=True)))


@extended(*PRECISION)
def tensordot(a: Any, b: Any, axes: Any = 2, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Sum of products over pairs of axes: the last `axes` of a with the first of b, or two lists of axes.

    Source: numpy.tensordot, jax.numpy.tensordot.
    """
    if preferred_element_type is not None:
        return in_preferred_dtype(lambda a, b: tensordot(a, b, axes), (a, b), preferred_element_type)
    a, b = operand(a), operand(b)
    shape_a, shape_b = shape_of(a), shape_of(b)
    axes_a, axes_b = _axis_pairs(axes, len(shape_a), len(shape_b))
    sizes_a, sizes_b = [shape_a[k] for k in axes_a], [shape_b[k] for k in axes_b]
    if sizes_a != sizes_b:
        raise errors.ShapeError(
            f"tensordot: shapes {shape_a} and {shape_b}: axes {axes_a} have sizes {sizes_a}, and {axes_b} {sizes_b}",
            mend="name axes of equal sizes in equal order",
        )
    free_a = [k for k in range(len(shape_a)) if k not in axes_a]
    free_b = [k for k in range(len(shape_b)) if k not in axes_b]
    rows, columns = tuple(shape_a[k] for k in free_a), tuple(shape_b[k] for k in free_b)
    inner_size = math.prod(sizes_a)
    left = reshape(_ordered(a, free_a + axes_a), shape=(math.prod(rows), inner_size))
    right = reshape(_ordered(b, axes_b + free_b), shape=(inner_size, math.prod(columns)))
    return reshape(contraction.matmul(left, right), shape=rows + columns)


def _axis_pairs(axes: Any, rank_a: int, rank_b: int) -> tuple[list[int], list[int]]:
    if not isinstance(axes, list | tuple | np.ndarray):
        count = operator.index(axes)
        axes = (range(rank_a - count, rank_a), range(count))
    pairs = [
        [axis_of(k, rank) for k in ([given_axes] if np.ndim(given_axes) == 0 else given_axes)]
        for given_axes, rank in zip(axes, (rank_a, rank_b), strict=True)
    ]
    if len(pairs[0]) != len(pairs[1]) or any(len(set(p)) != len(p) for p in pairs):
        raise errors.ShapeError(
            f"tensordot: axes {axes!r} do not pair axes of the one operand with axes of the other",
            mend="give two lists of equal length, without repetitions",
        )
    return pairs[0], pairs[1]


def _ordered(x: Any, order: list[int]) -> Any:
    return x if order == list(range(len(order))) else transpose(x, permutation=tuple(order))


@extended(*PRECISION)
def einsum(*operands: Any, out: Any = None, optimize: Any = False, **options: Any) -> Any:
    """Sum of products over labelled axes, as in einsum("ij,jk->ik", a, b); also with ellipses, without an output, and
    with labels as lists of integers after each operand.

    More than two operands are contracted pair by pair, in the order that `optimize` gives, else the one that
    numpy.einsum_path finds; so are their derivatives.

    Source: numpy.einsum, jax.numpy.einsum.
    """
    refuse_out("einsum", out)
    subscripts, arrays = _subscripts_first(operands)
    values, preferred = _typed("einsum", arrays, options)
    canonical = _canonical(subscripts, tuple(len(shape_of(x)) for x in values))
    if len(values) <= 2:
        return in_preferred_dtype(lambda *values: contraction.einsum(*values, subscripts=canonical), values, preferred)
    return in_preferred_dtype(lambda *values: _pair_by_pair(canonical, list(values), optimize), values, preferred)


def _subscripts_first(operands: Any) -> tuple[str, Any]:
    """Subscripts and operands, from either calling form."""
    if not operands:
        raise errors.ArgumentError("einsum: no subscripts and no operands", mend='call einsum("ij,jk->ik", a, b)')
    if isinstance(operands[0], str):
        return operands[0].replace(" ", ""), operands[1:]
    labels = [_letters(entry) for entry in operands[1::2]]
    arrays = operands[0 : 2 * len(labels) : 2]
    text = ",".join(labels)
    return (f"{text}->{_letters(operands[-1])}" if len(operands) % 2 else text), arrays


def _letters(labels: Any) -> str:
    return "".join("..." if k is Ellipsis else string.ascii_letters[operator.index(k)] for k in labels)


@functools.lru_cache(maxsize=1024)
def _canonical(subscripts: str, ranks: tuple[int, ...]) -> str:
    """Subscripts with letters for ellipses and with the output written out."""
    left, arrow, output = subscripts.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ranks):
        raise errors.ArgumentError(
            f"einsum {subscripts!r}: {len(inputs)} operands are named and {len(ranks)} given",
            mend="separate the labels of each operand by a comma",
        )
    free = [label for label in string.ascii_letters if label not in subscripts]
    counts = [rank - len(labels) + 3 if "..." in labels else 0 for labels, rank in zip(inputs, ranks, strict=True)]
    if max(counts) > len(free) or min(counts) < 0:
        raise errors.ShapeError(
            f"einsum {subscripts!r}: operands of {', '.join(map(str, ranks))} axes do not fit",
            mend="give one label an axis, or an ellipsis for the rest",
        )
    ellipsis = "".join(free[: max(counts)])
    inputs = [
        labels.replace("...", ellipsis[len(ellipsis) - count :]) for labels, count in zip(inputs, counts, strict=True)
    ]
    named = left.replace("...", "").replace(",", "")
    if not arrow:
        output = "..." + "".join(sorted(label for label in set(named) if named.count(label) == 1))
    if ellipsis and "..." not in output:
        raise errors.ArgumentError(
            f"einsum {subscripts!r}: the operands have axes under the ellipsis, and the output has no ellipsis",
            mend="write the ellipsis in the output too, or name the axes to sum",
        )
    output = output.replace("...", ellipsis)
    labels = set("".join(inputs))
    known = labels <= set(string.ascii_letters) and set(output) <= labels
    if not known or len(set(output)) < len(output):
        raise errors.ArgumentError(
            f"einsum {subscripts!r}: labels are letters; one of the output stands there once, and in an operand",
            mend='write subscripts such as "ij,jk->ik" or "...ij,...j->...i"',
        )
    return f"{','.join(inputs)}->{output}"


def _pair_by_pair(subscripts: str, values: list[Any], optimize: Any) -> Any:
    """The contraction in steps, along the path that NumPy finds for these shapes."""
    inputs, output = contraction.parse(subscripts)
    contraction.label_sizes(subscripts, [shape_of(x) for x in values])
    stand_ins = [np.broadcast_to(np.float64(0), shape_of(x)) for x in values]
    path = np.einsum_path(subscripts, *stand_ins, optimize="greedy" if optimize is False else optimize)[0][1:]
    pending = list(zip(inputs, values, strict=True))
    for step in path:
        taken = [pending.pop(k) for k in sorted(step, reverse=True)]
        labels = [labels for labels, _ in taken]
        needed = set(output).union(*[labels for labels, _ in pending])
        kept = "".join(sorted(set("".join(labels)) & needed)) if pending else output
        result = contraction.einsum(*[x for _, x in taken], subscripts=f"{','.join(labels)}->{kept}")
        pending.append((kept, result))
    return pending[0][1]


__all__ = [
    "dot", "einsum", "inner", "kron", "matmul", "matvec", "outer", "tensordot", "vdot", "vecdot", "vecmat",
]  # fmt: skip
