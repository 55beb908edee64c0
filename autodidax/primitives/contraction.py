"""Contractions: matmul and einsum, which are linear in each operand and whose transposes are contractions again, and
the Euclidean norm."""

from __future__ import annotations

import functools
import math
import string
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core import interpreters
from autodidax.core.avals import ShapedArray, broadcast_shapes
from autodidax.core.interpreters import Tracer, innermost_staging, shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.comparison import equal
from autodidax.primitives.convert import conj, real
from autodidax.primitives.select import where
from autodidax.primitives.shape import broadcast_to, expand_dims, reduce_sum, reshape, transpose, without_axes


def swap_last(x: Any) -> Any:
    """The transposed matrices: (..., n, m) -> (..., m, n)."""
    if type(x) is np.ndarray:
        return x.swapaxes(-1, -2)
    rank = len(shape_of(x))
    return transpose(x, permutation=(*range(rank - 2), rank - 1, rank - 2))


def matmul_shape(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of the product of arrays of these shapes, or a ShapeError that names both."""
    if not x or not y:
        raise errors.ShapeError(
            f"matmul: shapes {x} and {y}: a scalar is no matrix", mend="multiply with * where an operand is a scalar"
        )
    inner = y[0] if len(y) == 1 else y[-2]
    if x[-1] != inner:
        raise errors.ShapeError(
            f"matmul: shapes {x} and {y}: the last axis of the first has {x[-1]} entries, and the "
            f"{'only' if len(y) == 1 else 'second to last'} axis of the second has {inner}",
            mend="give vectors of one length"
            if len(x) == len(y) == 1
            else "transpose one operand, so that these two sizes agree",
        )
    batch = broadcast_shapes("matmul", x[:-2], y[:-2])
    return (*batch, *x[-2:-1], *(y[-1:] if len(y) > 1 else ()))


class MatMul(Primitive):
    """Matrix product with NumPy's rules: (..., n, k), (..., k, m) -> (..., n, m); an operand of one axis is a row on
    the left and a column on the right, and that axis goes.

    Source: numpy.matmul.
    """

    multilinear = True

    def __init__(self, name: str):
        super().__init__(name, numpy_function=np.matmul)

        def op(x: Any, y: Any) -> Any:
            """The matrix product of two arrays or traced values."""
            trace: Any = None
            if isinstance(x, Tracer):
                trace = x._trace
            if isinstance(y, Tracer) and (trace is None or y._trace.level > trace.level):
                trace = y._trace
            if trace is None:
                return self.impl(x, y)
            if interpreters.stagings_open:
                trace = innermost_staging(trace.level) or trace
            return trace.process(self, (x, y), {})

        self.op = op

    def __call__(self, x: Any, y: Any) -> Any:
        return self.op(x, y)

    bind = __call__

    def impl(self, x, y):
        try:
            return np.matmul(x, y)
        except ValueError:
            matmul_shape(np.shape(x), np.shape(y))
            raise

    def abstract_eval(self, x, y):
        return ShapedArray(matmul_shape(x.shape, y.shape), np.result_type(x.dtype, y.dtype))

    def transpose(self, ct, x, y):
        if isinstance(x, ShapedArray):
            return [_pull_left(ct, x.shape, y), None]
        return [None, _pull_right(ct, x, y.shape)]

    def batch(self, args, dims):
        x, y = args
        row, column = (shape_of(a)[d is not None :] for a, d in zip(args, dims, strict=True))
        if dims[1] is None and len(row) == 1 and len(column) <= 2:  # the batch axis serves as the rows
            return matmul(x, y), 0
        if dims[1] is None and len(column) == 1:
            return matmul(x, y), 0
        if dims[1] is None and len(column) == 2:  # one large product
            out = matmul(reshape(x, shape=(math.prod(shape_of(x)[:-1]), row[-1])), y)
            return reshape(out, shape=(*shape_of(x)[:-1], column[-1])), 0
        if dims[0] is None and len(row) <= 2 and len(column) == 1:
            return matmul(y, x if len(row) == 1 else swap_last(x)), 0
        shape = matmul_shape(row, column)
        size = shape_of(x if dims[0] is not None else y)[0]
        rank = max(len(row), len(column), 2)
        x = _promote(x, dims[0], row if len(row) > 1 else (1, *row), rank)
        y = _promote(y, dims[1], column if len(column) > 1 else (*column, 1), rank)
        out = matmul(x, y)
        return reshape(out, shape=(size, *shape)) if shape_of(out)[1:] != shape else out, 0

    def samples(self, rng):
        def draw(*shapes, dtype=np.float64):
            return [rng.normal(size=s).astype(dtype) for s in shapes]

        for pair in [
            ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 4)),
            ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((5, 1, 2, 3), (6, 3, 4)),
            ((1, 2, 3), (5, 3, 4)), ((2, 3, 2, 3), (3, 4)), ((0,), (0,)), ((2, 0), (0, 3)), ((0, 2, 3), (3, 1)),
            ((2, 3), (0, 3, 4)), ((3, 0, 2), (2,)), ((1, 1), (1, 1)),
        ]:  # fmt: skip
            yield sample(*draw(*pair))
        yield sample(*draw((2, 3), (3, 4), dtype=np.float32))
        yield sample(*draw((3,), (3,), dtype=np.float32))
        yield sample(draw((2, 3), dtype=np.float32)[0], draw((3,))[0], name="mixed dtypes")
        yield sample(draw((2, 3))[0] + 1j, draw((3, 2))[0] - 2j, name="complex")
        yield sample(draw((2, 3))[0] + 1j, draw((3,))[0], name="complex and real")
        yield sample(draw((3,))[0], draw((5, 3, 2))[0] + 1j, name="real and complex")
        yield sample(np.arange(6).reshape(2, 3), draw((3, 2))[0], name="integer and real")
        yield sample(np.arange(6, dtype=np.int8).reshape(2, 3), np.arange(3, dtype=np.int16), name="integers")
        yield sample(np.array([[True, False]]), np.array([True, True]), name="booleans")
        yield sample(draw((3, 2))[0].T, draw((4, 3))[0].T, name="transposed")


def _promote(x: Any, dim: int | None, shape: tuple[int, ...], rank: int) -> Any:
    """Matrices of this shape, with their batch axis first where they are mapped, as ones of this rank behind it."""
    if dim is not None:
        shape = (shape_of(x)[0], *(1,) * (rank - len(shape)), *shape)
    return reshape(x, shape=shape) if shape_of(x) != shape else x


def _shaped(x: Any, shape: tuple[int, ...]) -> Any:
    return x.reshape(shape) if type(x) is np.ndarray else reshape(x, shape=shape)


def _pull_left(ct: Any, x: tuple[int, ...], y: Any) -> Any:
    """Cotangent of the left operand, of shape x; a broadcast batch is left to be summed."""
    column, out = shape_of(y), shape_of(ct)
    if len(column) == 1:
        return _shaped(ct, (*out, 1)) * y if len(x) > 1 else ct * y
    if len(x) == 1:
        if len(column) == 2:
            return matmul(y, ct)
        return reshape(matmul(y, reshape(ct, shape=(*out, 1))), shape=(*out[:-1], *x))
    if len(x) == 2 and len(column) > 2:  # sum over the batch inside one product
        rank = len(out)
        flat_ct = transpose(ct, permutation=(rank - 2, *range(rank - 2), rank - 1))
        flat_y = transpose(swap_last(y), permutation=(*range(rank - 2), rank - 2, rank - 1))
        inner = math.prod(out[:-2]) * out[-1]
        return matmul(reshape(flat_ct, shape=(x[0], inner)), reshape(flat_y, shape=(inner, x[1])))
    return matmul(ct, swap_last(y))


def _pull_right(ct: Any, x: Any, y: tuple[int, ...]) -> Any:
    """Cotangent of the right operand, of shape y; a broadcast batch is left to be summed."""
    row, out = shape_of(x), shape_of(ct)
    if len(row) == 1:
        if len(y) == 1:
            return ct * x
        return _shaped(x, (*row, 1)) * _shaped(ct, (*out[:-1], 1, out[-1]))
    if len(y) > 2 or (len(y) == 2 and len(row) == 2):
        return matmul(swap_last(x), ct)
    if len(row) == 2:
        return matmul(ct, x)
    count = math.prod(row[:-1])  # sum over the batch inside one product
    flat_x = reshape(x, shape=(count, row[-1]))
    if len(y) == 1:
        return matmul(reshape(ct, shape=(count,)), flat_x)
    return matmul(swap_last(flat_x), reshape(ct, shape=(count, out[-1])))


matmul = MatMul("matmul")

OPTIMIZE_ABOVE = 4000  # multiplications: from here on a contraction is brought to matrix products


@functools.lru_cache(maxsize=1024)
def parse(subscripts: str) -> tuple[tuple[str, ...], str]:
    """Labels of the operands and of the result, from canonical subscripts such as "ij,jk->ik"."""
    left, _, right = subscripts.partition("->")
    return tuple(left.split(",")), right


def label_sizes(subscripts: str, shapes: Any) -> dict[str, int]:
    """Size of every label; axes of size 1 broadcast. ShapeError where the shapes do not fit."""
    sizes: dict[str, int] = {}
    inputs, _ = parse(subscripts)
    for labels, shape in zip(inputs, shapes, strict=True):
        if len(labels) != len(shape):
            raise errors.ShapeError(
                f"einsum {subscripts!r}: {labels!r} has {len(labels)} labels for an operand of shape {shape}",
                mend="give one label an axis, or an ellipsis for the rest",
            )
        own: dict[str, int] = {}
        for label, n in zip(labels, shape, strict=True):
            known = sizes.get(label, 1)
            if own.setdefault(label, n) != n or (n != known and n != 1 and known != 1):
                raise errors.ShapeError(
                    f"einsum {subscripts!r}: shapes {' and '.join(map(str, shapes))}: label {label!r} has sizes "
                    f"{own[label] if own[label] != n else known} and {n}",
                    mend="let axes of one label have one size (size 1 broadcasts, except along a diagonal)",
                )
            sizes[label] = n if known == 1 else known
    return sizes


class Einsum(Primitive):
    """Sum of products over labelled axes, linear in each operand. `subscripts` is canonical: letters only, the output
    given, as in "ij,jk->ik"; a label may stand twice in an operand (its diagonal) or in no other place (a sum).

    Source: numpy.einsum.
    """

    multilinear = True

    def impl(self, *operands, subscripts):
        sizes = label_sizes(subscripts, [np.shape(x) for x in operands])
        if len(operands) == 1:
            out = np.einsum(subscripts, *operands)
            return out.copy() if out.base is not None else out  # of a diagonal NumPy gives a view
        if math.prod(sizes.values()) < OPTIMIZE_ABOVE:
            return np.einsum(subscripts, *operands)
        if len(operands) == 2:
            return _einsum_pair(subscripts, *map(np.asarray, operands))
        return np.einsum(subscripts, *operands, optimize=True)[()]

    def abstract_eval(self, *operands, subscripts):
        sizes = label_sizes(subscripts, [x.shape for x in operands])
        return ShapedArray(
            tuple(sizes[label] for label in parse(subscripts)[1]), np.result_type(*[x.dtype for x in operands])
        )

    def transpose(self, ct, *operands, subscripts):
        inputs, output = parse(subscripts)
        (k,) = (k for k, x in enumerate(operands) if isinstance(x, ShapedArray))
        others = [x for i, x in enumerate(operands) if i != k]
        other_labels = [labels for i, labels in enumerate(inputs) if i != k]
        own = dict(zip(inputs[k], operands[k].shape, strict=True))
        given = set(output).union(*other_labels)
        # a label of size 1 was broadcast, so it is summed; one that stands nowhere else was summed, so it is broadcast
        kept = "".join(label for label, n in own.items() if n != 1 and label in given)
        g = einsum(ct, *others, subscripts=f"{','.join([output, *other_labels])}->{kept}")
        g = reshape(g, shape=_sizes_by_label(g, kept, own))
        if shape_of(g) != tuple(own.values()):
            g = broadcast_to(g, shape=tuple(own.values()))
        result: list[Any] = [None] * len(operands)
        result[k] = _embed_diagonals(g, "".join(own), inputs[k], operands[k].shape)
        return result

    def batch(self, args, dims, *, subscripts):
        inputs, output = parse(subscripts)
        new = next((label for label in string.ascii_letters if label not in subscripts), None)
        if new is None:
            raise errors.UnsupportedError(
                "einsum: all 52 letters are in use, so vmap has none for its axis", mend="split the einsum in two"
            )
        mapped = [labels if d is None else new + labels for labels, d in zip(inputs, dims, strict=True)]
        return einsum(*args, subscripts=f"{','.join(mapped)}->{new}{output}"), 0

    def samples(self, rng):
        for subscripts, *shapes in [
            ("ij,jk->ik", (2, 3), (3, 4)), ("i,i->", (3,), (3,)), ("i,j->ij", (2,), (3,)), ("ij->ji", (2, 3)),
            ("ij->i", (2, 3)), ("ij->", (2, 3)), ("ii->i", (3, 3)), ("ii->", (3, 3)), ("iij->j", (2, 2, 3)),
            ("iji->ij", (2, 3, 2)), ("bij,bjk->bik", (4, 2, 3), (4, 3, 2)), ("bij,jk->bik", (4, 2, 3), (3, 2)),
            ("ij,j->", (2, 3), (3,)), ("ij,kl->il", (2, 3), (2, 3)), ("i,ij,j->", (2,), (2, 3), (3,)),
            ("ab,bc,cd->ad", (2, 3), (3, 2), (2, 3)), ("ii,i->i", (3, 3), (3,)), ("->", ()), (",i->i", (), (3,)),
            ("ij,ij->ij", (1, 3), (2, 3)), ("ij,j->i", (2, 3), (1,)), ("ij,jk->ik", (2, 1), (3, 4)),
            ("ij,jk->ik", (2, 0), (0, 3)), ("i->", (0,)), ("ij,jk->ki", (16, 17), (17, 16)),
            ("bij,bkj->bki", (3, 9, 16), (3, 10, 16)), ("ij,jk,kl->il", (9, 9), (9, 9), (9, 9)),
            ("ij,jk->ik", (16, 1), (16, 16)), ("iij,jk->ki", (5, 5, 16), (16, 64)),
        ]:  # fmt: skip
            yield sample(*[rng.normal(size=s) for s in shapes], subscripts=subscripts)
        x, y = rng.normal(size=(2, 3)), rng.normal(size=(3, 2))
        yield sample(x.astype(np.float32), y.astype(np.float32), subscripts="ij,jk->ik")
        yield sample(x.astype(np.float32), y, subscripts="ij,jk->ik", name="mixed dtypes")
        yield sample(x + 1j, y, subscripts="ij,jk->ik", name="complex and real")
        yield sample(x + 1j, y - 2j, subscripts="ij,jk->ik", name="complex")
        yield sample(np.arange(3), np.arange(3, dtype=np.int32), subscripts="i,i->", name="integers")


def _sizes_by_label(g: Any, kept: str, own: dict[str, int]) -> tuple[int, ...]:
    """Shape of g, whose axes are `kept`, with axes of size 1 for the other labels."""
    sizes = dict(zip(kept, shape_of(g), strict=True))
    return tuple(sizes.get(label, 1) for label in own)


def _embed_diagonals(g: Any, unique: str, labels: str, shape: tuple[int, ...]) -> Any:
    """Zeros of this shape with g, whose axes are `unique`, on the diagonals that repeated labels name."""
    if len(unique) == len(labels):
        return g
    first = [labels.index(label) == k for k, label in enumerate(labels)]
    g = reshape(g, shape=tuple(n if own else 1 for n, own in zip(shape, first, strict=True)))
    indices = np.ogrid[tuple(slice(n) for n in shape)]
    on = functools.reduce(
        np.logical_and, [indices[labels.index(label)] == indices[k] for k, label in enumerate(labels) if not first[k]]
    )
    return where(on, g, 0)


def _einsum_pair(subscripts: str, x: np.ndarray, y: np.ndarray) -> Any:
    """A contraction of two operands as a (batched) matrix product, after what concerns one operand alone."""
    (lx, ly), output = parse(subscripts)
    x, lx = _reduce_alone(x, lx, ly + output)
    y, ly = _reduce_alone(y, ly, lx + output)
    batch = [label for label in lx if label in ly and label in output]
    inner = [label for label in lx if label in ly and label not in output]
    rows = [label for label in lx if label not in ly]
    columns = [label for label in ly if label not in lx]
    sx, sy = dict(zip(lx, x.shape, strict=True)), dict(zip(ly, y.shape, strict=True))
    if any(sx[label] != sy[label] for label in batch + inner) or not inner:
        return np.einsum(f"{lx},{ly}->{output}", x, y)

    def size(labels: list[str]) -> int:
        return math.prod(sx[label] if label in sx else sy[label] for label in labels)

    dims = [sx[label] for label in batch]
    x = x.transpose([lx.index(label) for label in batch + rows + inner]).reshape(*dims, size(rows), size(inner))
    y = y.transpose([ly.index(label) for label in batch + inner + columns]).reshape(*dims, size(inner), size(columns))
    out = np.matmul(x, y).reshape([*dims, *[sx[label] for label in rows], *[sy[label] for label in columns]])
    order = batch + rows + columns
    return out.transpose([order.index(label) for label in output])[()]


def _reduce_alone(x: np.ndarray, labels: str, elsewhere: str) -> tuple[np.ndarray, str]:
    """Diagonals taken, and labels that stand nowhere else summed away."""
    sizes = dict(zip(labels, x.shape, strict=True))
    kept = "".join(label for label in sizes if label in elsewhere)
    return (x, labels) if kept == labels else (np.einsum(f"{labels}->{kept}", x), kept)


def reciprocal_or_zero(x: Any) -> Any:
    """1 / x, and 0 where x is 0."""
    zero = equal(x, 0)
    return where(zero, 0, 1 / where(zero, 1, x))


class EuclideanNorm(Primitive):
    """Square root of the sum of squared moduli over axes, which go: (..., n, ...) -> (...), real. Integers become
    float64. The derivative at 0 is 0, in all orders.

    Source: numpy.linalg.norm.
    """

    def impl(self, x, *, axes):
        if len(axes) == np.ndim(x):
            return np.linalg.norm(x)
        if 1 <= len(axes) <= 2:
            return np.linalg.norm(x, axis=axes)
        x = x if x.dtype.kind in "fc" else x.astype(np.float64)
        return np.sqrt(np.add.reduce((x.conj() * x).real, axis=axes))

    def abstract_eval(self, x, *, axes):
        dtype = np.empty(0, x.dtype).real.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)
        return ShapedArray(without_axes(x.shape, axes), dtype)

    def jvp(self, out, primals, tangents, *, axes):
        (x,), (t,) = primals, tangents
        return reduce_sum(real(conj(x) * t), axes=axes) * reciprocal_or_zero(out)

    def batch(self, args, dims, *, axes):
        return euclidean_norm(*args, axes=tuple(k + 1 for k in axes)), 0

    def vjp(self, ct, out, primals, active, *, axes):
        (x,) = primals
        return [expand_dims(ct * reciprocal_or_zero(out), axes) * conj(x)]

    def samples(self, rng):
        for shape, axes in [
            ((3,), (0,)), ((2, 3), (0, 1)), ((2, 3), (1,)), ((2, 3, 4), (0, 2)), ((2, 3, 2), (0, 1, 2)), ((), ()),
            ((2, 2, 3, 2), (1, 2, 3)), ((0,), (0,)), ((0, 3), (0,)), ((0, 3), (1,)),
        ]:  # fmt: skip
            yield sample(rng.normal(size=shape), axes=axes)
        yield sample(rng.normal(size=(2, 3)).astype(np.float32), axes=(0,))
        yield sample(rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3)), axes=(0,), name="complex")
        yield sample((rng.normal(size=3) + 1j).astype(np.complex64), axes=(0,), name="complex")
        yield sample(np.arange(6).reshape(2, 3), axes=(1,), name="integers")
        yield sample(np.zeros((2, 3)), axes=(1,), nonsmooth=True, name="at 0")


einsum = Einsum("einsum")
euclidean_norm = EuclideanNorm("euclidean_norm")


def inner_products(x: Any, y: Any) -> Any:
    """Sum of x * y over the last two axes, of matrices of one rank: (..., n, m), (..., n, m) -> (...)."""
    letters = string.ascii_letters[: len(shape_of(x))]
    return einsum(x, y, subscripts=f"{letters},{letters}->{letters[:-2]}")


def diagonals(x: Any) -> Any:
    """The diagonals of square matrices: (..., n, n) -> (..., n)."""
    batch = string.ascii_letters[3 : len(shape_of(x)) + 1]
    return einsum(x, subscripts=f"{batch}aa->{batch}a")


def traces(x: Any) -> Any:
    """The sums of the diagonals of square matrices: (..., n, n) -> (...)."""
    batch = string.ascii_letters[3 : len(shape_of(x)) + 1]
    return einsum(x, subscripts=f"{batch}aa->{batch}")


def diagonal_matrices(d: Any) -> Any:
    """Square matrices with these diagonals and zeros elsewhere: (..., n) -> (..., n, n)."""
    shape = shape_of(d)
    return where(np.eye(shape[-1], dtype=bool), reshape(d, shape=(*shape, 1)), 0)
