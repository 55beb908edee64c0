"""numpy.linalg, differentiable: the same names, signatures and results, over leading batch axes."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError as LinAlgError

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.numpy import contraction as products
from autodidax.numpy import differences
from autodidax.numpy.concreteness import concrete
from autodidax.numpy.dispatch import one_of, operand, refuse_out
from autodidax.numpy.least_squares import lstsq, pinv
from autodidax.numpy.norms import (
    MatrixError,
    as_matrices,
    as_square,
    cond,
    linalg_extended,
    linalg_function,
    matrix_norm,
    matrix_rank,
    norm,
    vector_norm,
)
from autodidax.primitives import eigen, factorizations, solves
from autodidax.primitives.contraction import diagonals, swap_last, traces
from autodidax.primitives.contraction import matmul as matrix_product
from autodidax.primitives.convert import astype, real, stop_gradient_p
from autodidax.primitives.elementwise import absolute
from autodidax.primitives.factorizations import singular_values
from autodidax.primitives.gather import take_along_axis
from autodidax.primitives.rounding import copysign
from autodidax.primitives.shape import expand_dims, flip, reduce_sum, reshape, transpose
from autodidax.primitives.sorting import argsort, sort
from autodidax.primitives.triangular import adjoint

_example = np.eye(1)
SlogdetResult: Any = type(np.linalg.slogdet(_example))
EigResult: Any = type(np.linalg.eig(_example))
EighResult: Any = type(np.linalg.eigh(_example))
SVDResult: Any = type(np.linalg.svd(_example))
QRResult: Any = type(np.linalg.qr(_example))


@linalg_function
def solve(a: Any, b: Any) -> Any:
    """x with a x = b: (..., n, n), and (n,) -> (..., n), or (..., n, k) -> (..., n, k).

    Source: numpy.linalg.solve.
    """
    a, b = as_square("solve", a), operand(b)
    if len(shape_of(b)) == 1:
        return solves.solve(a, expand_dims(b, (1,)))[..., 0]
    return solves.solve(a, b)


@linalg_function
def inv(a: Any) -> Any:
    """Inverses: (..., n, n) -> (..., n, n).

    Source: numpy.linalg.inv.
    """
    return solves.inv(as_square("inv", a))


@linalg_function
def det(a: Any) -> Any:
    """Determinants: (..., n, n) -> (...); the derivatives of all orders are right at singular matrices too.

    Source: numpy.linalg.det.
    """
    return solves.det(as_square("det", a))


@linalg_extended("method")
def slogdet(a: Any, *, method: Any = None) -> Any:
    """Sign (or phase) and logarithm of the modulus of determinants: (..., n, n) -> (...), (...).

    `method` has no effect.

    Source: numpy.linalg.slogdet, jax.numpy.linalg.slogdet.
    """
    one_of("slogdet", "method", method, "lu", "qr")
    return SlogdetResult(*solves.slogdet(as_square("slogdet", a)))


@linalg_extended("symmetrize_input")
def cholesky(a: Any, /, *, upper: bool = False, symmetrize_input: Any = None) -> Any:
    """Triangular l with l l^H = a (or u with u^H u = a) for Hermitian positive definite a: (..., n, n) -> (..., n, n).

    One triangle of a is read, as in NumPy, or with `symmetrize_input=True` the Hermitian part of a; derivatives are
    those of Hermitian changes of a, as in JAX.

    Source: numpy.linalg.cholesky, jax.numpy.linalg.cholesky.
    """
    a = _hermitian_part(as_square("cholesky", a), symmetrize_input)
    return adjoint(factorizations.cholesky(adjoint(a))) if upper else factorizations.cholesky(a)


def _hermitian_part(a: Any, wanted: Any) -> Any:
    """The mean of matrices and their adjoints, where it is wanted; else the matrices."""
    return (a + adjoint(a)) / 2 if wanted else a


@linalg_extended("symmetrize_input")
def eigh(a: Any, UPLO: str = "L", *, symmetrize_input: Any = None) -> Any:  # NumPy's name
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices: (..., n, n) -> (..., n), (..., n, n).

    The triangle UPLO of a is read, as in NumPy, or with `symmetrize_input=True` the Hermitian part of a.

    Where eigenvalues are equal, as far as rounding errors tell, derivatives of their vectors that would be infinite or
    0 / 0 are nan; those of the eigenvalues are right.

    Source: numpy.linalg.eigh, jax.numpy.linalg.eigh.
    """
    a = _hermitian_part(as_square("eigh", a), symmetrize_input)
    return EighResult(*factorizations.eigh(a, lower=_is_lower(UPLO)))


@linalg_extended("symmetrize_input")
def eigvalsh(a: Any, UPLO: str = "L", *, symmetrize_input: Any = None) -> Any:  # NumPy's name
    """Eigenvalues of Hermitian matrices, ascending: (..., n, n) -> (..., n); UPLO and `symmetrize_input` as of `eigh`.

    Source: numpy.linalg.eigvalsh, jax.numpy.linalg.eigvalsh.
    """
    a = _hermitian_part(as_square("eigvalsh", a), symmetrize_input)
    return factorizations.eigvalsh(a, lower=_is_lower(UPLO))


def _is_lower(uplo: str) -> bool:
    if uplo.upper() not in ("L", "U"):
        raise errors.ArgumentError(f"UPLO is {uplo!r}", mend="give 'L' for the lower triangle or 'U' for the upper")
    return uplo.upper() == "L"


@linalg_extended("subset_by_index")
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False, *,
    subset_by_index: Any = None,
) -> Any:  # fmt: skip
    """Singular value decomposition a = (u * s) @ vh: (..., n, m) -> (..., n, k), (..., k), (..., k, m).

    subset_by_index : (first, end), the numbers of the singular values that are wanted, with their vectors.

    With `hermitian`, the lower triangle of a is read, and derivatives are those of eigh.
    With `full_matrices`, the vectors beyond the first k have no derivative of their own: that of the subspace is given.
    Where singular values are equal or zero, derivatives of vectors that would be infinite or 0 / 0 are nan.

    Source: numpy.linalg.svd, jax.numpy.linalg.svd.
    """
    a = as_matrices("svd", a)
    if subset_by_index is not None:
        return _part_of_svd(a, full_matrices, compute_uv, hermitian, subset_by_index)
    if hermitian:
        return _hermitian_svd(as_square("svd", a), compute_uv)
    if not compute_uv:
        return singular_values(a)
    n, m = shape_of(a)[-2:]
    return SVDResult(*factorizations.svd(a, full_matrices=bool(full_matrices) and n != m))


def _part_of_svd(a: Any, full_matrices: bool, compute_uv: bool, hermitian: bool, subset: Any) -> Any:
    first, end = map(operator.index, subset)
    count = min(shape_of(a)[-2:])
    if not 0 <= first < end <= count:
        raise errors.ArgumentError(
            f"svd: subset_by_index={subset!r} of {count} singular values", mend=f"give (first, end), from 0 to {count}"
        )
    if full_matrices and compute_uv and (first, end) != (0, count):
        raise errors.ArgumentError(
            "svd: full_matrices and subset_by_index at once", mend="give full_matrices=False beside subset_by_index"
        )
    found = svd(a, full_matrices, compute_uv, hermitian)
    if not compute_uv:
        return found[..., first:end]
    if (first, end) == (0, count):
        return found
    u, s, vh = found
    return SVDResult(u[..., first:end], s[..., first:end], vh[..., first:end, :])


def _hermitian_svd(a: Any, compute_uv: bool) -> Any:
    """The decomposition by eigenvalues, in the order of their moduli; the signs go to the right vectors."""
    if not compute_uv:
        s = absolute(factorizations.eigvalsh(a, lower=True))
        return flip(sort(s), axes=(len(shape_of(s)) - 1,))
    w, v = factorizations.eigh(a, lower=True)
    s = absolute(w)
    order = flip(argsort(stop_gradient_p(s)), axes=(len(shape_of(s)) - 1,))
    signs = take_along_axis(copysign(1.0, stop_gradient_p(w)), order)
    u = take_along_axis(v, expand_dims(order, (len(shape_of(s)) - 1,)))
    return SVDResult(u, take_along_axis(s, order), adjoint(u * expand_dims(signs, (len(shape_of(s)) - 1,))))


@linalg_function
def svdvals(x: Any, /) -> Any:
    """Singular values, descending: (..., n, m) -> (..., min(n, m)).

    Source: numpy.linalg.svdvals.
    """
    return singular_values(as_matrices("svdvals", x))


@linalg_function
def qr(a: Any, mode: str = "reduced") -> Any:
    """a = q r with orthonormal q and upper-triangular r: (..., n, m) -> (..., n, k), (..., k, m), k = min(n, m).

    The mode "complete" gives q as (..., n, n), whose columns beyond the first k have no derivative of their own: that
    of the subspace is given. "r" gives r alone; "raw", LAPACK's reflectors, is for plain arrays.

    Source: numpy.linalg.qr.
    """
    if mode not in ("reduced", "complete", "r"):
        if mode in ("raw", "f", "full", "e", "economic"):
            raise errors.UnsupportedError(
                f"qr: mode={mode!r} is not supported on traced values: reflectors and deprecated modes have no rule",
                mend="use mode='reduced', 'complete' or 'r'",
            )
        raise errors.ArgumentError(f"qr: mode is {mode!r}", mend="give 'reduced', 'complete' or 'r'")
    a = as_matrices("qr", a)
    n, m = shape_of(a)[-2:]
    q, r = factorizations.qr(a, complete=mode == "complete" and n > m)
    return r if mode == "r" else QRResult(q, r)


@linalg_function
def matrix_power(a: Any, n: int) -> Any:
    """Integer powers of matrices: (..., n, n) -> (..., n, n); negative ones of the inverse.

    Source: numpy.linalg.matrix_power.
    """
    a, n = as_square("matrix_power", a), operator.index(n)
    size = shape_of(a)[-1]
    if n == 0:
        return np.broadcast_to(np.eye(size, dtype=dtype_of(a)), shape_of(a)).copy()
    if n < 0:
        a, n = solves.inv(a), -n
    if n == 3:
        return matrix_product(matrix_product(a, a), a)
    result = None
    while n:
        if n & 1:
            result = a if result is None else matrix_product(result, a)
        n >>= 1
        if n:
            a = matrix_product(a, a)
    return result


@linalg_extended("precision")
def multi_dot(arrays: Any, *, out: Any = None, precision: Any = None) -> Any:
    """Product of a chain of matrices, in the order that takes the fewest multiplications; the first may be a row and
    the last a column of one axis.

    Source: numpy.linalg.multi_dot, jax.numpy.linalg.multi_dot.
    """
    refuse_out("multi_dot", out)
    chain = [operand(x) for x in arrays]
    if len(chain) < 2:
        raise errors.ArgumentError(f"multi_dot: {len(chain)} arrays", mend="give two arrays or more")
    if len(chain) == 2:
        return products.dot(*chain)
    row, column = len(shape_of(chain[0])) == 1, len(shape_of(chain[-1])) == 1
    if row:
        chain[0] = expand_dims(chain[0], (0,))
    if column:
        chain[-1] = expand_dims(chain[-1], (1,))
    if any(len(shape_of(x)) != 2 for x in chain):
        raise MatrixError(
            f"multi_dot: shapes {' and '.join(str(shape_of(x)) for x in chain)}",
            mend="give matrices of two axes; the first and the last may have one",
        )
    sizes = (*(shape_of(x)[0] for x in chain), shape_of(chain[-1])[1])

    @functools.cache
    def best(i: int, j: int) -> tuple[int, int]:
        """Fewest multiplications for the product of matrices i to j, and where to split it."""
        if i == j:
            return 0, i
        return min((best(i, k)[0] + best(k + 1, j)[0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j))

    def product(i: int, j: int) -> Any:
        if i == j:
            return chain[i]
        k = best(i, j)[1]
        return matrix_product(product(i, k), product(k + 1, j))

    result = product(0, len(chain) - 1)
    kept = tuple(n for n, dropped in zip(shape_of(result), (row, column), strict=True) if not dropped)
    return reshape(result, shape=kept) if row or column else result


@linalg_function
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """x with tensordot(a, x, x.ndim) = b, where a has the axes of b, then those of x.

    Source: numpy.linalg.tensorsolve.
    """
    a, b = operand(a), operand(b)
    order = list(range(len(shape_of(a))))
    for k in () if axes is None else axes:  # one after the other to the end
        if k not in order:
            raise errors.ArgumentError(f"tensorsolve: axes names {k}", mend=f"give axes from 0 to {len(order) - 1}")
        order.remove(k)
        order.append(k)
    a = transpose(a, permutation=tuple(order))
    shape = shape_of(a)[len(shape_of(b)) :]
    size = math.prod(shape)
    if math.prod(shape_of(b)) != size or math.prod(shape_of(a)) != size * size:
        raise MatrixError(
            f"tensorsolve: shapes {shape_of(a)} and {shape_of(b)} do not give a square system",
            mend="the axes of a are those of b, then those of x, with prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])",
        )
    x = solves.solve(reshape(a, shape=(size, size)), reshape(b, shape=(size, 1)))
    return reshape(x, shape=shape)


@linalg_function
def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse of a as the map from its last axes to its first `ind`.

    Source: numpy.linalg.tensorinv.
    """
    a = operand(a)
    shape = shape_of(a)
    if ind <= 0 or math.prod(shape[:ind]) != math.prod(shape[ind:]):
        raise MatrixError(
            f"tensorinv: shape {shape} split after {ind} axes is not square", mend="give ind with equal products"
        )
    size = math.prod(shape[:ind])
    return reshape(solves.inv(reshape(a, shape=(size, size))), shape=shape[ind:] + shape[:ind])


@linalg_function
def matrix_transpose(x: Any, /) -> Any:
    """The transposed matrices: (..., n, m) -> (..., m, n).

    Source: numpy.linalg.matrix_transpose.
    """
    return swap_last(as_matrices("matrix_transpose", x))


@linalg_function
def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Diagonals of matrices: (..., n, m) -> (..., k).

    Source: numpy.linalg.diagonal.
    """
    x = as_matrices("diagonal", x)
    n, m = shape_of(x)[-2:]
    if n == m and offset == 0:
        return diagonals(x)
    rows = np.arange(max(-offset, 0), max(min(n, m - offset), max(-offset, 0)))
    return x[..., rows, rows + offset]


@linalg_function
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Sums of diagonals: (..., n, m) -> (...).

    Source: numpy.linalg.trace.
    """
    x = as_matrices("trace", x)
    dtype = np.trace(np.empty((0, 0), dtype_of(x)), dtype=dtype).dtype
    x = astype(x, dtype)
    n, m = shape_of(x)[-2:]
    return traces(x) if n == m and offset == 0 else reduce_sum(diagonal(x, offset=offset), axes=(len(shape_of(x)) - 2,))


@linalg_extended(*products.PRECISION)
def matmul(x1: Any, x2: Any, /, *, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Matrix product: (..., n, k), (..., k, m) -> (..., n, m).

    Source: numpy.linalg.matmul, jax.numpy.linalg.matmul.
    """
    return products.in_preferred_dtype(matrix_product, (x1, x2), preferred_element_type)


@linalg_function
def outer(x1: Any, x2: Any, /) -> Any:
    """All products of an entry of x1 with one of x2: (n,), (m,) -> (n, m).

    Source: numpy.linalg.outer.
    """
    x1, x2 = operand(x1), operand(x2)
    if len(shape_of(x1)) != 1 or len(shape_of(x2)) != 1:
        raise errors.ShapeError(
            f"outer: shapes {shape_of(x1)} and {shape_of(x2)}", mend="give arrays of one axis, or use numpy.outer"
        )
    return products.outer(x1, x2)


@linalg_extended(*products.PRECISION)
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Sum of products over pairs of axes.

    Source: numpy.linalg.tensordot, jax.numpy.linalg.tensordot.
    """
    return products.tensordot(x1, x2, axes, preferred_element_type=preferred_element_type)


@linalg_extended(*products.PRECISION)
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1, precision: Any = None, preferred_element_type: Any = None) -> Any:
    """Sums over one axis of conj(x1) x2: (..., k), (..., k) -> (...).

    Source: numpy.linalg.vecdot, jax.numpy.linalg.vecdot.
    """
    return products.vecdot(x1, x2, axis=axis, preferred_element_type=preferred_element_type)


@linalg_function
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Cross products of vectors of three entries along an axis.

    Source: numpy.linalg.cross.
    """
    return differences.cross(operand(x1), operand(x2), axis=axis)


@linalg_function
def eig(a: Any) -> Any:
    """Eigenvalues and right eigenvectors of general matrices: (..., n, n) -> (..., n), (..., n, n).

    Vectors are differentiated as NumPy returns them: of norm 1, a largest entry real. The results are real where all
    eigenvalues are, as in NumPy, if their values are known; under vmap and jit they are always complex.

    Source: numpy.linalg.eig.
    """
    a = as_square("eig", a)
    return EigResult(*_real_if_all_are(a, *eigen.eig(a)))


@linalg_function
def eigvals(a: Any) -> Any:
    """Eigenvalues of general matrices: (..., n, n) -> (..., n), real or complex as those of `eig`.

    Source: numpy.linalg.eigvals.
    """
    a = as_square("eigvals", a)
    return _real_if_all_are(a, eigen.eigvals(a))[0]


def _real_if_all_are(a: Any, w: Any, *others: Any) -> tuple[Any, ...]:
    """Eigenvalues of a, and what comes with them, as real arrays where a is real and they are known to be."""
    if dtype_of(a).kind != "c":
        known = concrete(w) if isinstance(w, Tracer) else w
        if not isinstance(known, Tracer) and not np.any(known.imag):
            return tuple(map(real, (w, *others)))
    return (w, *others)


test = np.linalg.test  # type: ignore[attr-defined]  # the stubs of NumPy lack it

__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq",
    "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv",
    "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot",
    "test", "vector_norm",
]  # fmt: skip
