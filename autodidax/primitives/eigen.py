"""Eigenvalues and eigenvectors of general matrices, and what `hermitian=True` adds; leading axes are batches.

Eigenvectors are differentiated as NumPy returns them: each of Euclidean norm 1, with a largest entry that is real. So
their derivatives are those of a definite function, away from the points where two entries share the largest modulus
(there, the entry that NumPy made real is held real) and from those where eigenvalues meet.

With a = v diag(w) v^-1 and x = v^-1 da v, dw is the diagonal of x, and dv is v times x_ij / (w_j - w_i), plus what
keeps the norm and the real entry of each vector. Where eigenvalues are equal, as far as rounding errors tell, such a
quotient is 0 where x vanishes and else nan, as for eigh (see factorizations). For symmetric functions of the values,
first derivatives are right there too, as long as the vectors span the space; at a defective matrix they are infinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.comparison import equal as equal_to
from autodidax.primitives.comparison import less_equal, logical_or
from autodidax.primitives.contraction import diagonals, matmul, swap_last
from autodidax.primitives.convert import conj, imag, real, stop_gradient_p
from autodidax.primitives.elementwise import absolute
from autodidax.primitives.factorizations import columns_of, hermitian_part, over_gaps, rows_of
from autodidax.primitives.gather import take_along_axis
from autodidax.primitives.reductions import argmax
from autodidax.primitives.select import where
from autodidax.primitives.shape import all_mapped, reduce_sum
from autodidax.primitives.solves import MatrixFunction, inverse_or_infinite, pinv
from autodidax.primitives.triangular import linalg_dtype, square_size

ROUNDING = 10  # times the dtype's resolution and the square root of the size: rounding errors of eigenvalues


def complex_dtype(name: str, a: Any) -> np.dtype:
    """The dtype of the eigenvalues of a general matrix of this dtype."""
    return np.result_type(linalg_dtype(name, a), np.complex64)


def equal_eigenvalues(a: Any, w: Any, v: Any, inverse: Any) -> Any:
    """Which pairs of eigenvalues count as equal: (..., n, n), (..., n), two of (..., n, n) -> bool[..., n, n].

    Relative errors e of the entries of a change w_i by up to e times sum_kl |v^-1|_ik |a|_kl |v|_li.
    """
    w = stop_gradient_p(w)
    moduli = [absolute(stop_gradient_p(x)) for x in (inverse, a, v)]
    reach = reduce_sum(swap_last(matmul(moduli[0], moduli[1])) * moduli[2], axes=(len(shape_of(v)) - 2,))
    resolution = ROUNDING * float(np.finfo(dtype_of(w)).eps) * shape_of(w)[-1] ** 0.5
    size = reach * resolution
    gaps = absolute(rows_of(w) - columns_of(w))
    return logical_or(less_equal(gaps, rows_of(size)), less_equal(gaps, columns_of(size)))


def normalized_tangent(tangent: Any, v: Any) -> Any:
    """A tangent of eigenvectors, changed by multiples of each vector so that norms stay 1 and real entries real."""
    n, rows = shape_of(v)[-1], len(shape_of(v)) - 2
    fixed = stop_gradient_p(v)
    position = argmax(where(equal_to(imag(fixed), 0), absolute(fixed), -1.0), axis=rows)
    chosen = equal_to(rows_of(position), np.arange(n)[:, None])

    def entries(x: Any) -> Any:
        return reduce_sum(where(chosen, x, 0), axes=(rows,))

    growth = reduce_sum(real(conj(v) * tangent), axes=(rows,))
    turn = entries(imag(tangent)) / entries(v)
    return tangent - v * rows_of(growth + turn * 1j)


class Eig(MatrixFunction):
    """Eigenvalues and right eigenvectors of general matrices, complex: (..., n, n) -> (..., n), (..., n, n).

    Source: numpy.linalg.eig; Giles, "Collected matrix derivative results" (2008), section 3.1.
    """

    multiple_results = True

    def impl(self, a):
        return [x.astype(complex_dtype("eig", a), copy=False) for x in np.linalg.eig(a)]

    def abstract_eval(self, a):
        n = square_size("eig", a.shape)
        dtype = complex_dtype("eig", a)
        return [ShapedArray((*a.shape[:-2], n), dtype), ShapedArray(a.shape, dtype)]

    def jvp(self, out, primals, tangents):
        (a,), (t,), (w, v) = primals, tangents, out
        if not shape_of(w)[-1]:
            return [None, None]
        inverse = inverse_or_infinite(v)
        rotated = matmul(matmul(inverse, t), v)
        turn = over_gaps(rotated, w, equal_eigenvalues(a, w, v, inverse))
        return [diagonals(rotated), normalized_tangent(matmul(v, turn), v)]

    def samples(self, rng):
        for a in _general_samples(rng):
            yield sample(a)
        yield sample(np.diag([2.0, 1.0, 2.0]), nonsmooth=True, name="equal eigenvalues")
        yield sample(np.array([[0.0, 1.0], [-1.0, 0.0]]), nonsmooth=True, name="entries of one modulus")


def _general_samples(rng: np.random.Generator) -> Any:
    """Matrices whose eigenvalues are well apart, real or complex."""

    def spread(*shape: int) -> Any:
        return rng.normal(size=shape) + 3 * np.diag(np.arange(shape[-1]))

    for shape in [(3, 3), (1, 1), (2, 3, 3), (2, 1, 2, 2), (0, 0), (0, 2, 2)]:
        yield spread(*shape)
    yield np.array([[1.0, 2.0], [3.0, -1.0]])
    yield np.array([[1.0, 5.0, 0.3], [-4.0, 2.0, 0.1], [0.2, 0.4, -3.0]])
    yield spread(3, 3) + 1j * rng.normal(size=(3, 3))
    yield spread(3, 3).astype(np.float32)
    yield (spread(2, 2) + 1j * rng.normal(size=(2, 2))).astype(np.complex64)
    yield np.array([[2, 1], [3, 5]])


class EigVals(MatrixFunction):
    """Eigenvalues of general matrices, complex: (..., n, n) -> (..., n). The derivative is the diagonal of v^-1 da v,
    with the eigenvectors v brought into the order of the values, which LAPACK does not keep.

    Source: numpy.linalg.eigvals.
    """

    def impl(self, a):
        return np.linalg.eigvals(a).astype(complex_dtype("eigvals", a), copy=False)

    def abstract_eval(self, a):
        return ShapedArray((*a.shape[:-2], square_size("eigvals", a.shape)), complex_dtype("eigvals", a))

    def jvp(self, out, primals, tangents):
        w, v = eig(primals[0])
        own = diagonals(matmul(matmul(inverse_or_infinite(v), tangents[0]), v))
        return take_along_axis(own, nearest(stop_gradient_p(out), stop_gradient_p(w)))

    def samples(self, rng):
        for a in _general_samples(rng):
            yield sample(a)
        yield sample(np.diag([2.0, 1.0, 2.0]), nonsmooth=True, name="equal eigenvalues")


class Nearest(Primitive):
    """The permutations that bring second lists of numbers nearest to first ones: two of (..., n) -> integers (..., n).
    Equal numbers keep their order."""

    zero_derivative = True

    def impl(self, x, y):
        out = np.empty(np.broadcast_shapes(np.shape(x), np.shape(y)), np.intp)
        out[...] = np.arange(out.shape[-1])
        if np.array_equal(x, y):
            return out
        x, y = np.broadcast_to(x, out.shape), np.broadcast_to(y, out.shape)
        for index in np.ndindex(out.shape[:-1]):
            out[index] = _assignment(np.abs(x[index][:, None] - y[index]))
        return out

    def abstract_eval(self, x, y):
        return ShapedArray(np.broadcast_shapes(x.shape, y.shape), np.dtype(np.intp))

    def batch(self, args, dims):
        return nearest(*all_mapped(args, dims)), 0

    def samples(self, rng):
        x = rng.normal(size=5) + 1j * rng.normal(size=5)
        yield sample(x, x)
        yield sample(x, x[::-1].copy() + 1e-9, name="another order")
        yield sample(np.stack([x, x + 1]), np.stack([x[[1, 0, 2, 3, 4]], x + 1]))
        yield sample(np.ones(3), np.ones(3) + 1e-12, name="equal numbers")
        yield sample(np.zeros((2, 0)), np.zeros((2, 0)))


def _assignment(distances: np.ndarray) -> np.ndarray:
    """One column a row, all different: the nearest, or where rows share it, pairs in the order of their distances."""
    if not np.isfinite(distances).all():
        return np.arange(len(distances))
    order = distances.argmin(-1)
    if len(set(order.tolist())) == len(order):
        return order
    order[:] = -1
    for row, column in zip(
        *np.unravel_index(distances.argsort(axis=None, kind="stable"), distances.shape), strict=True
    ):
        if order[row] < 0 and column not in order:
            order[row] = column
    return order


class HermitianFromLower(MatrixFunction):
    """The Hermitian matrix of which the lower triangle is given, by the convention of eigh: the other triangle and
    imaginary parts of the diagonal are not read, and the derivative is that of Hermitian changes."""

    hermitian_operands = (0,)

    def impl(self, a):
        below = np.tril(a, -1)
        out = below + below.mT.conj()
        on = np.arange(a.shape[-1])
        out[..., on, on] = a[..., on, on].real
        return out

    def abstract_eval(self, a):
        square_size("hermitian_from_lower", a.shape)
        return ShapedArray(a.shape, a.dtype)

    def jvp(self, out, primals, tangents):
        return hermitian_part(tangents[0])

    def samples(self, rng):
        for shape in [(3, 3), (2, 2, 2), (0, 0)]:
            yield sample(_hermitian(rng.normal(size=shape)))
        z = _hermitian(rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3)))
        yield sample(z, name="complex")
        yield sample(z.astype(np.complex64), name="complex")
        yield sample(_hermitian(rng.normal(size=(2, 2))).astype(np.float32))


def _hermitian(x: np.ndarray) -> np.ndarray:
    return x + x.mT.conj()


class PinvHermitian(MatrixFunction):
    """Moore-Penrose inverses of Hermitian matrices, by their eigenvalues, of which those of a modulus up to rcond times
    the largest count as 0: (..., n, n) -> (..., n, n).

    Source: numpy.linalg.pinv with hermitian=True.
    """

    hermitian_operands = (0,)

    def impl(self, a, *, rcond):
        return np.linalg.pinv(a, rcond, hermitian=True)

    def abstract_eval(self, a, *, rcond):
        square_size("pinv", a.shape)
        return ShapedArray(a.shape, linalg_dtype("pinv", a))

    def jvp(self, out, primals, tangents, *, rcond):
        return pinv.jvp(out, [hermitian_from_lower(primals[0])], [hermitian_part(tangents[0])], rcond=rcond)

    def samples(self, rng):
        for shape in [(3, 3), (2, 2, 2)]:
            yield sample(_hermitian(rng.normal(size=shape)), rcond=1e-15)
        yield sample(_hermitian(rng.normal(size=(3, 3)) + 1j), rcond=1e-15, name="complex")
        yield sample(np.diag([1.0, -1.0, 2.0]), rcond=1e-15, name="eigenvalues of one modulus")
        yield sample(
            np.diag([4.0, -3.0, 1.0]) + _hermitian(rng.normal(size=(3, 3))) / 9, rcond=0.5, name="one left out"
        )
        yield sample(_hermitian(rng.normal(size=(3, 3))).astype(np.float32), rcond=1e-6)


eig = Eig("eig")
eigvals = EigVals("eigvals")
nearest = Nearest("nearest_permutation")
hermitian_from_lower = HermitianFromLower("hermitian_from_lower")
pinv_hermitian = PinvHermitian("pinv_hermitian")
