"""Factorizations of matrices: cholesky, eigh, svd, qr; leading axes are batches.

Where a decomposition is not unique, its derivative is that of one smooth choice: eigenvectors and singular vectors of
complex matrices keep their phase.

Where eigenvalues or singular values are equal (closer than the rounding errors that they come with), the turn of their
vectors among themselves is a number over a gap of zero, and a smooth function of the matrix such as (v * sqrt(w)) v^H
turns it into 0 / 0, whose value the rule cannot know. Such a quotient is nan, and 0 only where the number vanishes as
far as its rounding errors tell (see SpectralQuotient). Values alone, as eigvalsh and svdvals give them, have right
first derivatives there: the diagonal of v^H da v.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.comparison import equal as equal_to
from autodidax.primitives.comparison import less_equal, logical_and, logical_or
from autodidax.primitives.contraction import diagonal_matrices, diagonals, matmul, swap_last
from autodidax.primitives.convert import conj, imag, real, stop_gradient_p
from autodidax.primitives.elementwise import absolute
from autodidax.primitives.reductions import reduce_max
from autodidax.primitives.select import where
from autodidax.primitives.shape import concatenate, expand_dims, reshape
from autodidax.primitives.solves import MatrixFunction
from autodidax.primitives.triangular import (
    adjoint,
    linalg_dtype,
    pull_cholesky,
    solve_triangular,
    square_size,
    triangular_part,
)


def real_dtype(dtype: np.dtype) -> np.dtype:
    return np.empty(0, dtype).real.dtype


ROUNDING = 10  # times the dtype's resolution and the square root of the size: rounding errors of a factorization


def equal_values(values: Any, *bases: Any) -> Any:
    """Which pairs of values count as equal, given the vectors that come with them: (..., k) -> bool[..., k, k].

    Each gap is held against the rounding errors of its own two values. Relative errors e of the entries of
    a = sum_k w_k v_k v_k^H change w_i by up to e times sum_k g_ik^2 |w_k|, where g = |v|^T |v|, of which the largest
    term stands here. For a dense matrix that is the backward error of the factorization, about e times the largest
    value; where vectors do not overlap, as those of a diagonal matrix, it is e times the value itself, so that 1 and 2
    beside 1e15 stay apart. For singular values the factors g are those of the left and of the right vectors.
    """
    values = stop_gradient_p(values)
    gaps, k = absolute(rows_of(values) - columns_of(values)), shape_of(values)[-1]
    if not k:
        return less_equal(gaps, 0)
    reach = rows_of(absolute(values))
    for basis in bases:
        moduli = absolute(stop_gradient_p(basis))
        overlaps = matmul(swap_last(moduli), moduli)
        reach = reach * overlaps
    size = reduce_max(reach, axes=(len(shape_of(reach)) - 1,)) * (_rounding(dtype_of(values)) * k**0.5)
    return logical_or(less_equal(gaps, rows_of(size)), less_equal(gaps, columns_of(size)))


def _rounding(dtype: np.dtype) -> float:
    return ROUNDING * float(np.finfo(dtype).eps)


def over_gaps(x: Any, values: Any, equal: Any) -> Any:
    """x_ij / (values_j - values_i), and 0 on the diagonal: (..., k, k), (..., k), bool[..., k, k] -> (..., k, k)."""
    own = np.eye(shape_of(values)[-1], dtype=bool)
    gaps = where(own, np.inf, rows_of(values) - columns_of(values))
    return spectral_quotient(x, gaps, logical_and(equal, ~own), transposed=False)


def over_sums(x: Any, values: Any) -> Any:
    """x_ij / (values_i + values_j) of a skew-Hermitian x, whose diagonal is 0 where it is real."""
    sums = rows_of(values) + columns_of(values)
    if dtype_of(x).kind != "c":
        sums = where(np.eye(shape_of(values)[-1], dtype=bool), np.inf, sums)
    return spectral_quotient(x, sums, equal_to(sums, 0), transposed=False)


class SpectralQuotient(Primitive):
    """x / gap, where a gap that counts as zero gives 0 or nan: three of (..., n, k) -> (..., n, k).

    It gives 0 where x vanishes, compared with the largest entry of its column, and else nan: the quotient is infinite
    or, in the function that is differentiated, 0 / 0. The derivatives are quotients of the same kind.

    The transposed map takes x from cotangents of vectors. There a column of zeros over a gap of exactly 0 is nan too:
    it is what (v * log(w)) v^H leaves where w is 1, and its true quotient is not 0. Over a gap that is a rounding error
    it says that these vectors are not used, and gives 0.
    """

    linear_in = (0,)

    def impl(self, x, gap, equal, *, transposed):
        moduli = np.abs(x)
        largest = moduli.max(-2, keepdims=True, initial=0)
        vanishes = moduli <= largest * (_rounding(moduli.dtype) * max(x.shape[-2:]))
        if transposed:
            vanishes = vanishes & ((largest > 0) | (gap != 0))
        with np.errstate(all="ignore"):
            quotient = x / np.where(equal, 1, gap)
        filled = np.where(vanishes, 0, np.nan).astype(moduli.dtype)
        return np.where(equal, filled, quotient)

    def abstract_eval(self, x, gap, equal, *, transposed):
        shape = np.broadcast_shapes(x.shape, gap.shape, equal.shape)
        return ShapedArray(shape, np.result_type(x.dtype, gap.dtype))

    def jvp(self, out, primals, tangents, *, transposed):
        (_, gap, equal), (tx, tgap, _) = primals, tangents
        if tgap is not None:
            shift = out * tgap
            tx = -shift if tx is None else tx - shift
        return spectral_quotient(tx, gap, equal, transposed=transposed)

    def transpose(self, ct, x, gap, equal, *, transposed):
        return [spectral_quotient(ct, gap, equal, transposed=not transposed), None, None]

    def batch(self, args, dims, *, transposed):
        rank = max(len(shape_of(a)) - (d is not None) for a, d in zip(args, dims, strict=True))
        size = next(shape_of(a)[0] for a, d in zip(args, dims, strict=True) if d is not None)
        aligned = []
        for a, d in zip(args, dims, strict=True):
            own = shape_of(a)[d is not None :]
            lead = (size if d is not None else 1, *(1,) * (rank - len(own)))
            aligned.append(reshape(a, shape=(*lead, *own)))
        return spectral_quotient(*aligned, transposed=transposed), 0

    def samples(self, rng):
        none = np.zeros((3, 3), bool)
        for transposed in (False, True):
            yield sample(rng.normal(size=(3, 3)), 1 + rng.uniform(size=(3, 3)), none, transposed=transposed)
        yield sample(rng.normal(size=(2, 4, 3)), 1 + rng.uniform(size=(2, 1, 3)), none[:1], transposed=False)
        yield sample(np.zeros((2, 0, 0)), np.zeros((2, 0, 0)), none[:0, :0], transposed=True)
        z = rng.normal(size=(3, 2)) + 1j * rng.normal(size=(3, 2))
        gap = 1 + rng.uniform(size=(3, 2))
        yield sample(z, gap, none[:, :2], transposed=False, name="complex")
        yield sample(z.astype(np.complex64), gap.astype(np.float32), none[:, :2], transposed=True)
        yield sample(gap.astype(np.float32), 2 * gap.astype(np.float32), none[:, :2], transposed=False)
        yield sample(gap, gap, rng.random((3, 2)) < 0.5, transposed=False, nonsmooth=True, name="equal values")
        for transposed in (False, True):  # what a column of zeros over no gap gives
            x, gaps = np.array([[0.0, 1.0], [0.0, 2.0]]), np.array([[0.0, 1.0], [1e-17, 1.0]])
            yield sample(x, gaps, gaps < 1e-16, transposed=transposed, nonsmooth=True, name="a column of zeros")
        yield sample(
            np.diag([1.0, 2.0]), np.array([[1, 0], [0, 1.0]]), ~np.eye(2, dtype=bool), transposed=False,
            nonsmooth=True, name="vanishing over equal values",
        )  # fmt: skip


def hermitian_part(x: Any) -> Any:
    return (x + adjoint(x)) * 0.5


def rows_of(x: Any) -> Any:
    """Vectors as rows: (..., n) -> (..., 1, n)."""
    return expand_dims(x, (len(shape_of(x)) - 1,))


def columns_of(x: Any) -> Any:
    """Vectors as columns: (..., n) -> (..., n, 1)."""
    return expand_dims(x, (len(shape_of(x)),))


def first_columns(x: Any, k: int) -> Any:
    return x if shape_of(x)[-1] == k else x[..., :, :k]


class Cholesky(MatrixFunction):
    """The lower-triangular l with l l^H = a, for Hermitian positive definite a: (..., n, n) -> (..., n, n).

    NumPy reads the lower triangle of a only. The derivative is that of Hermitian changes: of a tangent it takes the
    Hermitian part, and a cotangent is Hermitian.

    Source: numpy.linalg.cholesky; Murray, "Differentiation of the Cholesky decomposition" (2016), equations 8 to 10.
    """

    hermitian_operands = (0,)

    def impl(self, a):
        return np.linalg.cholesky(a)

    def abstract_eval(self, a):
        square_size("cholesky", a.shape)
        return ShapedArray(a.shape, linalg_dtype("cholesky", a))

    def jvp(self, out, primals, tangents):
        half = solve_triangular(out, hermitian_part(tangents[0]), lower=True, trans=0, unit_diagonal=False)
        inner = solve_triangular(out, adjoint(half), lower=True, trans=0, unit_diagonal=False)
        return matmul(out, triangular_part(inner, lower=True, diagonal=0.5))

    def vjp(self, ct, out, primals, active):
        if type(ct) is np.ndarray and type(out) is np.ndarray and out.ndim == 2 and out.size:
            return [conj(hermitian_part(pull_cholesky(out, conj(ct))))]
        inner = triangular_part(matmul(adjoint(out), conj(ct)), lower=True, diagonal=0.5)
        half = solve_triangular(out, inner, lower=True, trans=2, unit_diagonal=False)
        full = solve_triangular(out, adjoint(half), lower=True, trans=2, unit_diagonal=False)
        return [conj(hermitian_part(full))]

    def samples(self, rng):
        for a in _hermitian_samples(rng):
            (a,) = a.args
            yield sample((np.matmul(a, a.mT.conj()) + np.eye(a.shape[-1])).astype(a.dtype))


def _hermitian_samples(rng: np.random.Generator, **params: Any) -> Any:
    """Hermitian matrices with distinct eigenvalues."""
    for shape in [(3, 3), (1, 1), (2, 3, 3), (2, 1, 2, 2), (0, 0), (0, 2, 2)]:
        yield sample(_hermitian(rng.normal(size=shape)), **params)
    yield sample(_hermitian(rng.normal(size=(3, 3))).astype(np.float32), **params)
    z = _hermitian(rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3)))
    yield sample(z, **params, name="complex", nonsmooth=True)  # the phases of vectors jump
    yield sample(z.astype(np.complex64), **params, name="complex", nonsmooth=True)


def _projectors(vectors: Any, count: int) -> Any:
    """Sum of the projectors on so many columns, weighted by their number, and on the span of all others: it does not
    depend on the phases of the columns, nor on the basis of the others."""
    weights = np.minimum(np.arange(shape_of(vectors)[-1]), count) + 1.0
    return matmul(vectors * weights.astype(real_dtype(dtype_of(vectors))), adjoint(vectors))


def _hermitian(x: np.ndarray) -> np.ndarray:
    return x + x.mT.conj() + 2 * np.diag(np.arange(x.shape[-1]))


class Eigh(MatrixFunction):
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices: (..., n, n) -> (..., n), (..., n, n).

    NumPy reads one triangle of a; the derivative is that of Hermitian changes, as for cholesky. What it is at equal
    eigenvalues, the top of this file says.

    Source: numpy.linalg.eigh; Giles, "Collected matrix derivative results" (2008), section 3.1.
    """

    multiple_results = True
    hermitian_operands = (0,)

    def impl(self, a, *, lower):
        return list(np.linalg.eigh(a, "L" if lower else "U"))

    def abstract_eval(self, a, *, lower):
        n = square_size("eigh", a.shape)
        dtype = linalg_dtype("eigh", a)
        return [ShapedArray((*a.shape[:-2], n), real_dtype(dtype)), ShapedArray(a.shape, dtype)]

    def jvp(self, out, primals, tangents, *, lower):
        w, v = out
        rotated = matmul(matmul(adjoint(v), hermitian_part(tangents[0])), v)
        turn = over_gaps(rotated, w, equal_values(w, v, v))
        return [real(diagonals(rotated)), matmul(v, turn)]

    def invariants(self, outs, *, lower):
        w, v = outs
        return [w, _projectors(v, w.shape[-1])]

    def samples(self, rng):
        yield from _hermitian_samples(rng, lower=True)
        yield sample(_hermitian(rng.normal(size=(3, 3))), lower=False)
        yield sample(np.eye(3), lower=True, nonsmooth=True, name="equal eigenvalues")
        yield sample(np.array([[3, 1], [7, 2]]), lower=False, name="the upper triangle is read")


class EigvalsH(MatrixFunction):
    """Eigenvalues of Hermitian matrices, ascending: (..., n, n) -> (..., n).

    The first derivative, the diagonal of v^H da v, holds at equal eigenvalues too (for functions symmetric in them).

    Source: numpy.linalg.eigvalsh.
    """

    hermitian_operands = (0,)

    def impl(self, a, *, lower):
        return np.linalg.eigvalsh(a, "L" if lower else "U")

    def abstract_eval(self, a, *, lower):
        n = square_size("eigvalsh", a.shape)
        return ShapedArray((*a.shape[:-2], n), real_dtype(linalg_dtype("eigvalsh", a)))

    def jvp(self, out, primals, tangents, *, lower):
        _, v = eigh(primals[0], lower=lower)
        return real(diagonals(matmul(matmul(adjoint(v), hermitian_part(tangents[0])), v)))

    def samples(self, rng):
        for a in _hermitian_samples(rng):
            yield sample(*a.args, lower=True)
        yield sample(_hermitian(rng.normal(size=(3, 3))), lower=False)
        yield sample(np.array([[3, 1], [7, 2]]), lower=False, name="the upper triangle is read")


class SVD(MatrixFunction):
    """Singular value decomposition a = u s vh: (..., n, m) -> (..., n, k), (..., k), (..., k, m), k = min(n, m); with
    `full_matrices`, u is (..., n, n) and vh (..., m, m).

    With p = u^H da v, the relative turn of u and v follows from the skew part of p over s_i + s_j, their common turn
    from its Hermitian part over s_j - s_i; at equal or zero values, see the top of this file.

    Source: numpy.linalg.svd; Townsend, "Differentiating the singular value decomposition" (2016).
    """

    multiple_results = True

    def impl(self, a, *, full_matrices):
        return list(np.linalg.svd(a, full_matrices))

    def abstract_eval(self, a, *, full_matrices):
        *batch, n, m = _matrix_shape("svd", a.shape)
        k = min(n, m)
        dtype = linalg_dtype("svd", a)
        return [
            ShapedArray((*batch, n, n if full_matrices else k), dtype),
            ShapedArray((*batch, k), real_dtype(dtype)),
            ShapedArray((*batch, m if full_matrices else k, m), dtype),
        ]

    def jvp(self, out, primals, tangents, *, full_matrices):
        u, s, vh = out
        (t,) = tangents
        k = shape_of(s)[-1]
        v = adjoint(vh)
        u_thin, v_thin = first_columns(u, k), first_columns(v, k)
        tv, tu = matmul(t, v_thin), matmul(adjoint(t), u_thin)
        p = matmul(adjoint(u_thin), tv)
        common = over_gaps(hermitian_part(p), s, equal_values(s, u_thin, v_thin))
        relative = over_sums((p - adjoint(p)) * 0.5, s)
        du = _turned(u, u_thin, tv, p, common + relative, s)
        dv = _turned(v, v_thin, tu, adjoint(p), common - relative, s)
        return [du, real(diagonals(p)), adjoint(dv)]

    def invariants(self, outs, *, full_matrices):
        u, s, vh = outs
        k = s.shape[-1]
        return [s, _projectors(u, k), _projectors(adjoint(vh), k), matmul(u[..., :, :k], vh[..., :k, :])]

    def samples(self, rng):
        for shape in [(3, 3), (4, 2), (2, 4), (2, 3, 2), (1, 1), (3, 1), (0, 2), (2, 0)]:
            yield sample(rng.normal(size=shape), full_matrices=False)
        yield sample(rng.normal(size=(3, 2)).astype(np.float32), full_matrices=False)
        yield sample(rng.normal(size=(3, 3)), full_matrices=True)
        for shape in [(5, 2), (2, 4), (2, 4, 1)]:
            yield sample(rng.normal(size=shape), full_matrices=True, nonsmooth=True, name="any basis of the rest")
        z = rng.normal(size=(3, 2)) + 1j * rng.normal(size=(3, 2))
        yield sample(z, full_matrices=False, nonsmooth=True, name="complex")
        yield sample(z.T.astype(np.complex64), full_matrices=False, nonsmooth=True, name="complex")
        yield sample(np.diag([1.0, 1.0, 2.0]), full_matrices=False, nonsmooth=True, name="equal singular values")
        yield sample(np.zeros((3, 2)), full_matrices=False, nonsmooth=True, name="zeros")


def _turned(u: Any, thin: Any, image: Any, p: Any, turn: Any, s: Any) -> Any:
    """Tangent of one factor: its turn within its own span, and what leaves the span; `image` is da v, p is u^H da v."""
    n, k = shape_of(thin)[-2:]
    tangent = matmul(thin, turn)
    if n > k:
        divisors = rows_of(s)
        leaving = image - matmul(thin, p)
        tangent = tangent + spectral_quotient(leaving, divisors, equal_to(divisors, 0), transposed=False)
    if shape_of(u)[-1] == k:
        return tangent
    rest = u[..., :, k:]  # stays orthogonal to the thin factor
    return concatenate(tangent, -matmul(thin, adjoint(matmul(adjoint(rest), tangent))), axis=len(shape_of(u)) - 1)


class SingularValues(MatrixFunction):
    """Singular values, descending: (..., n, m) -> (..., min(n, m)).

    Source: numpy.linalg.svdvals.
    """

    def impl(self, a):
        return np.linalg.svd(a, compute_uv=False)

    def abstract_eval(self, a):
        *batch, n, m = _matrix_shape("svdvals", a.shape)
        return ShapedArray((*batch, min(n, m)), real_dtype(linalg_dtype("svdvals", a)))

    def jvp(self, out, primals, tangents):
        u, _, vh = svd(primals[0], full_matrices=False)
        return real(diagonals(matmul(matmul(adjoint(u), tangents[0]), adjoint(vh))))

    def samples(self, rng):
        for shape in [(3, 3), (4, 2), (2, 4), (2, 3, 2), (1, 1), (0, 2)]:
            yield sample(rng.normal(size=shape))
        yield sample(rng.normal(size=(3, 2)).astype(np.float32))
        yield sample(rng.normal(size=(3, 2)) + 1j * rng.normal(size=(3, 2)), name="complex")


class QR(MatrixFunction):
    """a = q r with orthonormal columns and an upper triangle: (..., n, m) -> (..., n, k), (..., k, m), k = min(n, m);
    with `complete`, q is (..., n, n) and r (..., n, m). The first k columns of a must be independent.

    Source: numpy.linalg.qr; Walter and Lehmann, "Algorithmic differentiation of linear algebra functions" (2010).
    """

    multiple_results = True

    def impl(self, a, *, complete):
        return list(np.linalg.qr(a, "complete" if complete else "reduced"))

    def abstract_eval(self, a, *, complete):
        *batch, n, m = _matrix_shape("qr", a.shape)
        k = n if complete else min(n, m)
        dtype = linalg_dtype("qr", a)
        return [ShapedArray((*batch, n, k), dtype), ShapedArray((*batch, k, m), dtype)]

    def jvp(self, out, primals, tangents, *, complete):
        q, r = out
        (t,) = tangents
        n, m = shape_of(t)[-2:]
        k = min(n, m)
        thin, triangle = first_columns(q, k), r if n == m else r[..., :k, :k]
        # with x = da r^-1 and c = q^H x: the strict lower triangle of c gives the turn of q, the rest that of r
        x = swap_last(
            solve_triangular(triangle, swap_last(first_columns(t, k)), lower=False, trans=1, unit_diagonal=False)
        )
        c = matmul(adjoint(thin), x)
        below = triangular_part(c, lower=True, diagonal=0.0)
        turn = below - adjoint(below)
        if dtype_of(c).kind == "c":  # the diagonal of r stays real
            turn = turn + diagonal_matrices(imag(diagonals(c)) * 1j)
        tq = matmul(thin, turn - c) + x
        tr = matmul(c - turn, triangle)
        if m > k:
            wide = primals[0][..., :, k:]
            tr = concatenate(
                tr, matmul(adjoint(tq), wide) + matmul(adjoint(thin), t[..., :, k:]), axis=len(shape_of(t)) - 1
            )
        if shape_of(q)[-1] > k:
            rest = q[..., :, k:]
            tq = concatenate(tq, -matmul(thin, adjoint(matmul(adjoint(rest), tq))), axis=len(shape_of(t)) - 1)
            tr = concatenate(tr, np.zeros((*shape_of(r)[:-2], n - k, m), dtype_of(r)), axis=len(shape_of(t)) - 2)
        return [tq, tr]

    def invariants(self, outs, *, complete):
        q, r = outs
        k = min(q.shape[-2], r.shape[-1])
        return [q[..., :, :k], r, _projectors(q, k)]

    def samples(self, rng):
        for shape in [(3, 3), (4, 2), (2, 4), (2, 3, 2), (2, 2, 3), (1, 1), (3, 1), (0, 2), (2, 0)]:
            yield sample(rng.normal(size=shape), complete=False)
        yield sample(rng.normal(size=(3, 2)).astype(np.float32), complete=False)
        yield sample(rng.normal(size=(3, 2)) + 1j * rng.normal(size=(3, 2)), complete=False, name="complex")
        yield sample(rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3)), complete=False, name="complex")
        yield sample(rng.normal(size=(2, 3)), complete=True)
        for shape in [(5, 2), (2, 4, 1)]:
            yield sample(rng.normal(size=shape), complete=True, nonsmooth=True, name="any basis of the rest")


def _matrix_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    if len(shape) < 2:
        raise errors.ShapeError(
            f"{name}: shape {shape} is not that of a matrix", mend="give an array of two axes or more"
        )
    return shape


spectral_quotient = SpectralQuotient("spectral_quotient")
cholesky = Cholesky("cholesky")
eigh = Eigh("eigh")
eigvalsh = EigvalsH("eigvalsh")
svd = SVD("svd")
singular_values = SingularValues("singular_values")
qr = QR("qr")
