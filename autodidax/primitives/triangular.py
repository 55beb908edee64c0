"""Triangles of matrices, and the solution of triangular systems."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray, broadcast_shapes
from autodidax.core.interpreters import shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.contraction import matmul, swap_last
from autodidax.primitives.convert import conj
from autodidax.primitives.shape import reshape, transpose


def adjoint(x: Any) -> Any:
    """The conjugate transposed matrices: (..., n, m) -> (..., m, n)."""
    return conj(swap_last(x))


def linalg_dtype(name: str, *operands: Any) -> np.dtype:
    """The dtype that NumPy's linear algebra works in: integers become float64. DtypeError for float16 and the like."""
    kinds = [x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64) for x in operands]
    dtype = np.result_type(*kinds)
    if dtype.char not in "fdFD":
        raise errors.DtypeError(
            f"{name}: linear algebra has no {dtype}",
            mend="convert with astype to float32, float64 or their complex kin",
        )
    return dtype


def square_size(name: str, shape: tuple[int, ...]) -> int:
    """n of square matrices (..., n, n), or a ShapeError."""
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise errors.ShapeError(
            f"{name}: shape {shape} is not that of square matrices", mend="give an array of shape (..., n, n)"
        )
    return shape[-1]


class TriangularPart(Primitive):
    """One triangle of matrices, zeros elsewhere: (..., n, m) -> same shape and dtype; `diagonal` weighs the main
    diagonal (1, 0 or a half). Linear, and its own transpose."""

    linear = True

    def impl(self, x, *, lower, diagonal):
        out = np.tril(x) if lower else np.triu(x)
        if diagonal != 1:
            on = np.arange(min(out.shape[-2:]))
            out[..., on, on] *= out.dtype.type(diagonal)
        return out

    def abstract_eval(self, x, *, lower, diagonal):
        return ShapedArray(x.shape, x.dtype)

    def transpose(self, ct, x, *, lower, diagonal):
        return [triangular_part(ct, lower=lower, diagonal=diagonal)]

    def batch(self, args, dims, *, lower, diagonal):
        return triangular_part(*args, lower=lower, diagonal=diagonal), 0

    def samples(self, rng):
        for shape, lower, diagonal in [
            ((3, 3), True, 0.5),
            ((2, 3, 3), False, 0.0),
            ((3, 2), True, 1.0),
            ((0, 0), True, 0.5),
        ]:
            yield sample(rng.normal(size=shape), lower=lower, diagonal=diagonal)
        yield sample(rng.normal(size=(2, 2)).astype(np.float32), lower=False, diagonal=0.5)
        yield sample(rng.normal(size=(2, 2)) + 1j, lower=True, diagonal=0.5)


triangular_part = TriangularPart("triangular_part")


class MatrixSolve(Primitive):
    """What the solutions of systems have in common: (..., n, n), (..., n, k) -> (..., n, k), linear in the second."""

    linear_in = (1,)

    def check_shapes(self, a: tuple[int, ...], b: tuple[int, ...]) -> None:
        """Raise where they are not those of a system and its right-hand sides."""
        n = square_size(self.name, a)
        if len(b) < 2 or b[-2] != n:
            raise errors.ShapeError(
                f"{self.name}: shapes {a} and {b}: the right-hand side does not have {n} rows",
                mend=f"give the right-hand side as ({n},) or (..., {n}, k)",
            )

    def abstract_eval(self, a, b, **params):
        self.check_shapes(a.shape, b.shape)
        batch = broadcast_shapes(self.name, a.shape[:-2], b.shape[:-2])
        return ShapedArray((*batch, *b.shape[-2:]), linalg_dtype(self.name, a, b))

    def batch(self, args, dims, **params):
        a, b = args
        if dims[0] is None and len(shape_of(a)) == 2:  # one system with all right-hand sides in a row
            shape = shape_of(b)
            rank = len(shape)
            order = (rank - 2, *range(rank - 2), rank - 1)
            columns = reshape(transpose(b, permutation=order), shape=(shape[-2], math.prod(shape[:-2]) * shape[-1]))
            out = reshape(self(a, columns, **params), shape=tuple(shape[k] for k in order))
            return transpose(out, permutation=(*range(1, rank - 1), 0, rank - 1)), 0
        shapes = [shape_of(x)[d is not None :] for x, d in zip(args, dims, strict=True)]
        rank = max(map(len, shapes))
        for k, (x, d) in enumerate(zip(args, dims, strict=True)):
            if d is not None and len(shapes[k]) < rank:
                widened = (shape_of(x)[0], *(1,) * (rank - len(shapes[k])), *shapes[k])
                args = (*args[:k], reshape(x, shape=widened), *args[k + 1 :])
        return self(*args, **params), 0


class SolveTriangular(MatrixSolve):
    """x with op(a) x = b for triangular matrices: (..., n, n), (..., n, k) -> (..., n, k). op is a, its transpose
    (`trans` 1) or its conjugate transpose (2); the other triangle is not read, nor the diagonal if `unit_diagonal`.

    Source: scipy.linalg.solve_triangular.
    """

    def impl(self, a, b, *, lower, trans, unit_diagonal):
        self.check_shapes(np.shape(a), np.shape(b))
        dtype = linalg_dtype(self.name, a, b)
        a, b = np.asarray(a, dtype), np.asarray(b, dtype)
        if not unit_diagonal and not np.all(np.diagonal(a, axis1=-2, axis2=-1)):
            raise np.linalg.LinAlgError("Singular matrix: a zero stands on the diagonal")
        if a.ndim == 2 and b.ndim == 2:
            return _solve_one(a, b, lower, trans, unit_diagonal)
        if a.shape[-1] <= SMALL_SYSTEM:
            return np.linalg.solve(_operator(a, lower, trans, unit_diagonal), b)
        batch = broadcast_shapes(self.name, a.shape[:-2], b.shape[:-2])
        a, b = np.broadcast_to(a, (*batch, *a.shape[-2:])), np.broadcast_to(b, (*batch, *b.shape[-2:]))
        out = np.empty(b.shape, dtype)
        for index in np.ndindex(*batch):
            out[index] = _solve_one(a[index], b[index], lower, trans, unit_diagonal)
        return out

    def jvp(self, out, primals, tangents, *, lower, trans, unit_diagonal):
        (a, _), (ta, tb) = primals, tangents
        if ta is not None:
            ta = triangular_part(ta, lower=lower, diagonal=0.0 if unit_diagonal else 1.0)
            ta = ta if trans == 0 else swap_last(ta) if trans == 1 else adjoint(ta)
            shift = matmul(ta, out)
            tb = -shift if tb is None else tb - shift
        return solve_triangular(a, tb, lower=lower, trans=trans, unit_diagonal=unit_diagonal)

    def transpose(self, ct, a, b, *, lower, trans, unit_diagonal):
        return [None, _solve_transposed(ct, a, lower, trans, unit_diagonal)]

    def vjp(self, ct, out, primals, active, *, lower, trans, unit_diagonal):
        gb = _solve_transposed(ct, primals[0], lower, trans, unit_diagonal)
        if not active[0]:
            return [None, gb]
        ga = matmul(gb, swap_last(out)) if trans == 0 else matmul(out, swap_last(gb))
        ga = conj(ga) if trans == 2 else ga
        return [-triangular_part(ga, lower=lower, diagonal=0.0 if unit_diagonal else 1.0), gb]

    def samples(self, rng):
        def matrices(*shape):
            return rng.normal(size=shape) + 3 * np.eye(shape[-1])

        for lower, trans, unit_diagonal in [(True, 0, False), (True, 1, False), (False, 0, True), (False, 2, False)]:
            params: dict[str, Any] = dict(lower=lower, trans=trans, unit_diagonal=unit_diagonal)
            yield sample(matrices(3, 3), rng.normal(size=(3, 2)), **params)
            yield sample(matrices(3, 3) + 1j, rng.normal(size=(3, 1)) + 1j, **params, name="complex")
            yield sample(matrices(3, 3).astype(np.float32), rng.normal(size=(3, 2)).astype(np.float32), **params)
        params = dict(lower=True, trans=0, unit_diagonal=False)
        yield sample(matrices(2, 3, 3), rng.normal(size=(3, 2)), **params)
        yield sample(matrices(3, 3), rng.normal(size=(2, 3, 1)), **params)
        yield sample(matrices(3, 3), rng.normal(size=(2, 2, 3, 1)), **params)
        yield sample(matrices(2, 1, 3, 3), rng.normal(size=(4, 3, 1)), **params)
        yield sample(matrices(3, 3), rng.normal(size=(3, 2)) + 1j, **params, name="real and complex")
        yield sample(matrices(3, 3).T, np.arange(6).reshape(3, 2), **params, name="integer right-hand side")
        yield sample(matrices(2, 20, 20) / 3, rng.normal(size=(20, 1)), **params)
        yield sample(np.zeros((0, 0)), np.zeros((0, 2)), **params)
        yield sample(matrices(3, 3), np.zeros((3, 0)), **params)


SMALL_SYSTEM = 16  # batches of systems up to this size go to NumPy's batched general solver

solve_triangular = SolveTriangular("solve_triangular")


def _solve_transposed(ct: Any, a: Any, lower: bool, trans: int, unit_diagonal: bool) -> Any:
    """The cotangent of b: the system of the transposed operator."""
    a = conj(a) if trans == 2 else a
    return solve_triangular(a, ct, lower=lower, trans=1 if trans == 0 else 0, unit_diagonal=unit_diagonal)


def _operator(a: np.ndarray, lower: bool, trans: int, unit_diagonal: bool) -> np.ndarray:
    """The matrices of the system, written out."""
    a = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        on = np.arange(a.shape[-1])
        a[..., on, on] = 1
    return a if trans == 0 else a.mT if trans == 1 else a.mT.conj()


def _solve_one(a: np.ndarray, b: np.ndarray, lower: bool, trans: int, unit_diagonal: bool) -> np.ndarray:
    """One system by BLAS, which wants Fortran order: a matrix in C order is passed as its transpose, and a right-hand
    side in C order is solved from the right, so that neither is copied to another order."""
    if b.size == 0:
        return np.zeros(b.shape, b.dtype)
    trsm = kernels(b.dtype.char).trsm
    if trans == 2:
        a, trans = a.conj(), 1
    if not a.flags.f_contiguous:
        a, lower, trans = np.ascontiguousarray(a).T, not lower, 1 - trans
    if b.flags.f_contiguous:
        return trsm(1, a, b, side=0, lower=lower, trans_a=trans, diag=unit_diagonal)
    return trsm(1, a, np.ascontiguousarray(b).T, side=1, lower=lower, trans_a=1 - trans, diag=unit_diagonal).T


class Kernels(NamedTuple):
    """BLAS and LAPACK routines for triangular matrices of one dtype: solution, product and inverse."""

    trsm: Any
    trmm: Any
    trtri: Any


@functools.cache
def kernels(char: str) -> Kernels:
    """The routines for a dtype character. SciPy loads on first use."""
    from scipy.linalg import blas, lapack

    letter = {"f": "s", "d": "d", "F": "c", "D": "z"}[char]
    return Kernels(getattr(blas, letter + "trsm"), getattr(blas, letter + "trmm"), getattr(lapack, letter + "trtri"))


def pull_congruence(factor: np.ndarray, ct: np.ndarray) -> np.ndarray:
    """l^-H p l^-1 for a lower-triangular l, with p the lower triangle of l^H ct with half its diagonal: the core of
    Cholesky's pullback, by triangular products, which BLAS does in half the time of triangular solutions."""
    routines = kernels(factor.dtype.char)
    upper = np.ascontiguousarray(factor).T  # l^T in Fortran order
    columns = np.ascontiguousarray(ct).T
    p = routines.trmm(1, upper, columns, side=1, trans_a=2).T
    p = triangular_part(p, lower=True, diagonal=0.5)
    inverse, _ = routines.trtri(upper)
    half = routines.trmm(1, inverse, p.T, side=0, trans_a=0, overwrite_b=1)
    return routines.trmm(1, inverse, half, side=1, trans_a=2, overwrite_b=1).T


BLOCK = 64  # columns of a panel: little work on the diagonal blocks, yet large enough for matrix products


def pull_cholesky(factor: np.ndarray, ct: np.ndarray) -> np.ndarray:
    """A matrix whose Hermitian part is the cotangent of a, for l l^H = a: (n, n), (n, n) -> (n, n).

    Panels of columns from the last to the first, each by matrix products and one triangular solution; the diagonal
    blocks by `pull_congruence`.

    Source: Murray, "Differentiation of the Cholesky decomposition" (2016), section 4.2.
    """
    n = factor.shape[0]
    if n <= 2 * BLOCK:
        return pull_congruence(factor, ct)
    g = np.tril(ct)
    trsm = kernels(factor.dtype.char).trsm
    for stop in range(n, 0, -BLOCK):
        start = max(0, stop - BLOCK)
        diagonal = np.ascontiguousarray(factor[start:stop, start:stop])
        left, own = factor[start:stop, :start], g[start:stop, start:stop]
        below = g[stop:, start:stop]
        if below.size:
            below[...] = trsm(1.0, diagonal.T, np.ascontiguousarray(below).T, side=0, lower=0, trans_a=0).T
            g[stop:, :start] -= below @ left
            adjoint_below = below.conj().T
            own -= np.tril(adjoint_below @ factor[stop:, start:stop])
            g[start:stop, :start] -= adjoint_below @ factor[stop:, :start]
        half = pull_congruence(diagonal, np.ascontiguousarray(own))
        both = half + half.conj().T
        own[...] = triangular_part(both, lower=True, diagonal=0.5)
        g[start:stop, :start] -= both @ left
    return g
