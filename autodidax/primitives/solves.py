"""Linear systems, inverses, determinants and pseudo-inverses of matrices; leading axes are batches."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.contraction import inner_products, matmul, swap_last
from autodidax.primitives.convert import imag, real
from autodidax.primitives.shape import all_mapped, expand_dims, reshape
from autodidax.primitives.triangular import MatrixSolve, adjoint, linalg_dtype, square_size


class MatrixFunction(Primitive):
    """What functions of one stack of matrices have in common: leading axes are batches already."""

    def batch(self, args, dims, **params):
        out = self(*args, **params)
        return out, [0] * len(out) if self.multiple_results else 0


def square_samples(rng: np.random.Generator, **params: Any) -> Any:
    """Well-conditioned square matrices of every kind."""

    def matrices(*shape: int) -> Any:
        return rng.normal(size=shape) + 2 * np.eye(shape[-1])

    for shape in [(3, 3), (1, 1), (2, 3, 3), (2, 1, 2, 2), (0, 0), (0, 2, 2)]:
        yield sample(matrices(*shape), **params)
    yield sample(matrices(3, 3) + 1j * rng.normal(size=(3, 3)), **params, name="complex")
    yield sample(matrices(3, 3).astype(np.float32), **params)
    yield sample((matrices(2, 2) + 1j).astype(np.complex64), **params)
    yield sample(np.array([[2, 1], [0, 3]]), **params, name="integers")
    yield sample(matrices(3, 3).T, **params, name="transposed")


class Solve(MatrixSolve):
    """x with a x = b: (..., n, n), (..., n, k) -> (..., n, k).

    Source: numpy.linalg.solve.
    """

    def impl(self, a, b):
        return np.linalg.solve(a, b)

    def jvp(self, out, primals, tangents):
        (a, _), (ta, tb) = primals, tangents
        if ta is not None:
            shift = matmul(ta, out)
            tb = -shift if tb is None else tb - shift
        return solve(a, tb)

    def transpose(self, ct, a, b):
        return [None, solve(swap_last(a), ct)]

    def vjp(self, ct, out, primals, active):
        gb = solve(swap_last(primals[0]), ct)
        return [-matmul(gb, swap_last(out)) if active[0] else None, gb]

    def samples(self, rng):
        for a in square_samples(rng):
            (a,) = a.args
            b = rng.normal(size=(a.shape[-1], 2))
            yield sample(a, b.astype(a.dtype) if a.dtype.kind != "i" else b)
        a = rng.normal(size=(3, 3)) + 2 * np.eye(3)
        yield sample(a, rng.normal(size=(2, 3, 1)))
        yield sample(np.stack([a, a.T])[:, None], rng.normal(size=(3, 3, 2)))
        yield sample(a, rng.normal(size=(3, 1)) + 1j, name="real and complex")
        yield sample(a.astype(np.float32), np.ones((3, 1), int), name="integer right-hand side")


class Inv(MatrixFunction):
    """Inverse matrices: (..., n, n) -> (..., n, n).

    Source: numpy.linalg.inv.
    """

    def impl(self, a):
        return np.linalg.inv(a)

    def abstract_eval(self, a):
        square_size("inv", a.shape)
        return ShapedArray(a.shape, linalg_dtype("inv", a))

    def jvp(self, out, primals, tangents):
        return -matmul(matmul(out, tangents[0]), out)

    def samples(self, rng):
        yield from square_samples(rng)


class InverseOrInfinite(MatrixFunction):
    """Inverse matrices, and for singular ones what their inverses tend to: cofactors over 0, inf where a cofactor is
    not 0 and else nan: (..., n, n) -> (..., n, n). Singular is what numpy.linalg.inv refuses.

    It stands in derivatives, where one singular matrix of a stack must not spoil the others.
    """

    def impl(self, a):
        try:
            return np.linalg.inv(a)
        except np.linalg.LinAlgError:
            a = np.asarray(a, linalg_dtype("inv", a))
        out = np.empty(a.shape, a.dtype)
        for index in np.ndindex(a.shape[:-2]):
            out[index] = _inverse_or_infinite(a[index])
        return out

    def abstract_eval(self, a):
        return inv.abstract_eval(a)

    def jvp(self, out, primals, tangents):
        with np.errstate(invalid="ignore"):
            return -matmul(matmul(out, tangents[0]), out)

    def samples(self, rng):
        yield from square_samples(rng)


def _inverse_or_infinite(a: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        cofactors = _cofactors(a)
        moduli = np.abs(cofactors)
        largest = moduli.max(initial=0)
        vanishes = moduli <= largest * (a.shape[-1] * 10 * float(np.finfo(a.dtype).eps))
        with np.errstate(all="ignore"):
            return (np.where(vanishes, 0, cofactors) / cofactors.real.dtype.type(0)).mT


class Det(MatrixFunction):
    """Determinants: (..., n, n) -> (...). The derivative is the matrix of cofactors, which singular matrices have too.

    Source: numpy.linalg.det.
    """

    def impl(self, a):
        return np.linalg.det(a)

    def abstract_eval(self, a):
        square_size("det", a.shape)
        return ShapedArray(a.shape[:-2], linalg_dtype("det", a))

    def jvp(self, out, primals, tangents):
        return inner_products(det_derivative(primals[0]), tangents[0])

    def samples(self, rng):
        yield from square_samples(rng)
        yield from _singular_samples(rng)


def _singular_samples(rng: np.random.Generator) -> Any:
    low_rank = rng.normal(size=(4, 2)) @ rng.normal(size=(2, 4))
    yield sample(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.5, -1.0, 2.0]]), name="singular")
    yield sample(np.stack([low_rank, low_rank + np.eye(4)]), name="rank n - 2, and regular")
    yield sample(np.zeros((3, 3)), name="zeros")
    yield sample(np.zeros((1, 1)), name="zeros")


class DetDerivative(Primitive):
    """The derivative of order m + 1 of the determinant at a, as the matrix of its entries' weights: (..., n, n) and m
    directions (..., n, n) -> (..., n, n). For m = 0 it is the matrix of cofactors. It is linear in each direction and
    symmetric in them, and right at singular matrices.

    Source: Jacobi's formula, and its polarised form for higher orders.
    """

    linear_in = (1,)  # by symmetry, the rules put the direction that is linear there

    def impl(self, a, *directions):
        dtype = linalg_dtype("det", a, *directions)
        arrays = np.broadcast_arrays(*[np.asarray(x, dtype) for x in (a, *directions)])
        a, directions = arrays[0], arrays[1:]
        if len(directions) >= a.shape[-1]:  # the determinant is a polynomial of degree n
            return np.zeros(a.shape, dtype)
        if _well_conditioned(a):
            return _regular_derivative(a, directions)
        if len(directions) < 2:
            return _cofactors(a) if not directions else _cofactor_derivative(a, directions[0])
        return _shifted_derivative(a, directions)

    def abstract_eval(self, a, *directions):
        shape = np.broadcast_shapes(a.shape, *[t.shape for t in directions])
        return ShapedArray(shape, linalg_dtype("det", a, *directions))

    def jvp(self, out, primals, tangents):
        a, *directions = primals
        total = None
        for k, t in enumerate(tangents):
            if t is not None:
                others = directions if k == 0 else directions[: k - 1] + directions[k:]
                term = det_derivative(a, t, *others)
                total = term if total is None else total + term
        return total

    def transpose(self, ct, a, t, *others):
        return [None, det_derivative(a, ct, *others), *[None] * len(others)]

    def batch(self, args, dims):
        return det_derivative(
            *[x if d is not None else expand_dims(x, (0,)) for x, d in zip(args, dims, strict=True)]
        ), 0

    def samples(self, rng):
        for a in [*square_samples(rng), *_singular_samples(rng)]:
            (a,) = a.args
            yield sample(a)
            if a.dtype.kind != "i":
                yield sample(a, rng.normal(size=a.shape).astype(a.dtype))
        t = rng.normal(size=(2, 4, 4))
        yield sample(rng.normal(size=(4, 4)), *t, name="third order")
        yield sample(np.diag([1.0, 2.0, 0.0, 0.0]), *t, name="third order, singular")
        yield sample(np.diag([1j, 1.0, 0.0]), *t[:, :3, :3], name="third order, singular, complex")


def _well_conditioned(a: np.ndarray) -> bool:
    """Whether inverses of all the matrices lose no more than a quarter of the digits."""
    if a.size == 0:
        return True
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return False
    condition = np.abs(a).sum(-1).max(-1) * np.abs(inverse).sum(-1).max(-1)
    return bool(np.all(condition < float(np.finfo(a.dtype).eps) ** -0.25))


def _regular_derivative(a: np.ndarray, directions: Any) -> np.ndarray:
    """det(a) times the sum over permutations of (entry, *directions): sign times traces of products of inv(a) t along
    its cycles; the cycle of the entry itself gives a matrix."""
    inverse = np.linalg.inv(a)
    factors = [inverse @ t for t in directions]
    total = np.zeros_like(inverse)
    for permutation in itertools.permutations(range(len(factors) + 1)):
        own, *others = _cycles(permutation)
        term = functools.reduce(np.matmul, [*[factors[k - 1] for k in own[1:]], inverse])
        for cycle in others:
            product = functools.reduce(np.matmul, [factors[k - 1] for k in cycle])
            term = term * np.trace(product, axis1=-2, axis2=-1)[..., None, None]
        odd = (len(permutation) - 1 - len(others)) % 2
        total += -term if odd else term
    return (np.linalg.det(a)[..., None, None] * total).mT


def _cycles(permutation: tuple[int, ...]) -> list[list[int]]:
    """The cycles of a permutation, that of 0 first."""
    cycles: list[list[int]] = []
    left = set(permutation)
    while left:
        cycle = [min(left)]
        while (k := permutation[cycle[-1]]) != cycle[0]:
            cycle.append(k)
        cycles.append(cycle)
        left.difference_update(cycle)
    return cycles


def _cofactors(a: np.ndarray) -> np.ndarray:
    """With a = u s vh: det(u) det(vh) conj(u) e conj(vh), where e_i is the product of all s but s_i."""
    u, s, vh = np.linalg.svd(a)
    before, after = _running_products(s)
    e = (before * after)[..., None, :]
    return (np.linalg.det(u) * np.linalg.det(vh))[..., None, None] * ((u.conj() * e) @ vh.conj())


def _cofactor_derivative(a: np.ndarray, t: np.ndarray) -> np.ndarray:
    """With a = u s vh and m = u^H t vh^H: det(u) det(vh) conj(u) g conj(vh), where g_ii is the sum over j of p_ij m_jj,
    g_ij is -p_ij m_ji, and p_ij is the product of all s but s_i and s_j."""
    u, s, vh = np.linalg.svd(a)
    m = u.mT.conj() @ t @ vh.mT.conj()
    pairs = _products_without_pairs(s)
    g = -pairs * m.mT
    on = np.arange(a.shape[-1])
    g[..., on, on] = (pairs @ m[..., on, on][..., None])[..., 0]
    return (np.linalg.det(u) * np.linalg.det(vh))[..., None, None] * (u.conj() @ g @ vh.conj())


def _shifted_derivative(a: np.ndarray, directions: Any) -> np.ndarray:
    """Any order at any matrix: det(a + z q) is a polynomial in z of degree k, the rank of q, so its value at 0 is the
    mean over k + 1 points on a circle. q shifts the small singular values, so that each point is regular."""
    out = np.empty(a.shape, a.dtype)
    for index in np.ndindex(*a.shape[:-2]):
        u, s, vh = np.linalg.svd(a[index])
        small = s <= s[0] * float(np.finfo(a.dtype).eps) ** 0.25
        radius = 1.0 if small.all() else s[~small].min()
        points = radius * np.exp(2j * np.pi * np.arange(small.sum() + 1) / (small.sum() + 1))
        shifted = a[index] + points[:, None, None] * ((u * small) @ vh)
        mean = _regular_derivative(shifted, [t[index] for t in directions]).mean(0)
        out[index] = mean if a.dtype.kind == "c" else mean.real
    return out


def _running_products(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Products of all entries before, and of all after, each one."""
    one = np.ones((*s.shape[:-1], 1), s.dtype)
    before = np.concatenate([one, np.cumprod(s[..., :-1], -1)], -1)
    after = np.concatenate([one, np.cumprod(s[..., :0:-1], -1)], -1)[..., ::-1]
    return before, after


def _products_without_pairs(s: np.ndarray) -> np.ndarray:
    """Products of all entries but two: (..., n) -> (..., n, n), with zeros on the diagonal."""
    n = s.shape[-1]
    out = np.zeros((*s.shape, n), s.dtype)
    before, after = _running_products(s)
    for i in range(n - 1):
        between, _ = _running_products(s[..., i + 1 :])
        out[..., i, i + 1 :] = before[..., i, None] * between * after[..., i + 1 :]
        out[..., i + 1 :, i] = out[..., i, i + 1 :]
    return out


class SlogDet(MatrixFunction):
    """Sign (or phase) and logarithm of the modulus of determinants: (..., n, n) -> (...), (...).

    At a singular matrix the derivative is that of the logarithm at 0, times the cofactors: inf, or nan where a cofactor
    is 0.

    Source: numpy.linalg.slogdet.
    """

    multiple_results = True

    def impl(self, a):
        return list(np.linalg.slogdet(a))

    def abstract_eval(self, a):
        square_size("slogdet", a.shape)
        dtype = linalg_dtype("slogdet", a)
        return [ShapedArray(a.shape[:-2], dtype), ShapedArray(a.shape[:-2], np.empty(0, dtype).real.dtype)]

    def jvp(self, out, primals, tangents):
        (a,), (t,) = primals, tangents
        with np.errstate(invalid="ignore"):
            change = inner_products(swap_last(inverse_or_infinite(a)), t)
        if dtype_of(a).kind != "c":
            return [None, change]
        return [out[0] * (imag(change) * 1j), real(change)]

    def samples(self, rng):
        yield from square_samples(rng)


class Stein(Primitive):
    """x with x - k x h = c, for Hermitian k and h, of whose pairs of eigenvalues no product is 1:
    (..., n, n), (..., m, m), (..., n, m) -> (..., n, m). Derivatives are those of Hermitian changes of k and h."""

    linear_in = (2,)
    hermitian_operands = (0, 1)

    def impl(self, k, h, c):
        (p, u), (q, v) = np.linalg.eigh(k), np.linalg.eigh(h)
        rotated = u.mT.conj() @ c @ v
        return u @ (rotated / (1 - p[..., :, None] * q[..., None, :])) @ v.mT.conj()

    def abstract_eval(self, k, h, c):
        n, m = square_size("stein", k.shape), square_size("stein", h.shape)
        batch = np.broadcast_shapes(k.shape[:-2], h.shape[:-2], c.shape[:-2])
        return ShapedArray((*batch, n, m), linalg_dtype("stein", k, h, c))

    def jvp(self, out, primals, tangents):
        (k, h, _), (tk, th, change) = primals, tangents
        if tk is not None:
            shift = matmul(matmul((tk + adjoint(tk)) * 0.5, out), h)
            change = shift if change is None else change + shift
        if th is not None:
            shift = matmul(matmul(k, out), (th + adjoint(th)) * 0.5)
            change = shift if change is None else change + shift
        return stein(k, h, change)

    def transpose(self, ct, k, h, c):
        return [None, None, stein(swap_last(k), swap_last(h), ct)]

    def batch(self, args, dims):
        mapped = all_mapped(args, dims)
        rank = max(len(shape_of(x)) for x in mapped)
        shapes = [(shape_of(x)[0], *(1,) * (rank - len(shape_of(x))), *shape_of(x)[1:]) for x in mapped]
        return stein(*[reshape(x, shape=shape) for x, shape in zip(mapped, shapes, strict=True)]), 0

    def samples(self, rng):
        def hermitian(*shape: int) -> Any:
            x = rng.uniform(-1, 1, size=shape) / (2 * shape[-1])
            return x + x.mT

        for n, m in [(3, 2), (1, 1), (2, 2), (0, 2), (2, 0)]:
            yield sample(hermitian(n, n), hermitian(m, m), rng.normal(size=(n, m)))
        k, h, c = hermitian(2, 3, 3), hermitian(2, 2), rng.normal(size=(3, 2))
        yield sample(k, h, c)
        yield sample(k[0], h[None], np.stack([c, -c])[:, None])
        turn = 0.1j * np.array([[0, 1], [-1, 0]])
        yield sample(k[0], h + turn, c - 1j * c**2, name="complex")
        yield sample(k[0].astype(np.float32), h.astype(np.float32), c.astype(np.float32))


class Pinv(MatrixFunction):
    """Moore-Penrose inverses: (..., n, m) -> (..., m, n); singular values up to rcond times the largest count as 0.

    The derivative holds where the rank is locally constant: Golub and Pereyra (1973), equation 4.12. Where values are
    left out that are more than rounding errors, the turn between kept (s) and left out (z) singular vectors has the
    factor 1 / (s^2 - z^2) in the place of 1 / s^2: with p the result, r = a - a p a what is left out, and
    c = p p^H (da^H (1 - a p) + p da r^H), it is the y with y - p p^H y r r^H = c, and da^H -> y for the other side.

    Source: numpy.linalg.pinv.
    """

    def impl(self, a, *, rcond):
        return np.linalg.pinv(a, rcond)

    def abstract_eval(self, a, *, rcond):
        return ShapedArray((*a.shape[:-2], a.shape[-1], a.shape[-2]), linalg_dtype("pinv", a))

    def jvp(self, out, primals, tangents, *, rcond):
        (a,), (t,) = primals, tangents
        outer = matmul(out, adjoint(out))
        left = matmul(outer, adjoint(t))
        left = left - matmul(matmul(left, a), out)
        right = matmul(adjoint(t), matmul(adjoint(out), out))
        right = right - matmul(out, matmul(a, right))
        if leaves_out(a, rcond):
            rest = a - matmul(a, matmul(out, a))
            left = left + matmul(outer, matmul(matmul(out, t), adjoint(rest)))
            left = stein(outer, matmul(rest, adjoint(rest)), left)
            right = right + matmul(matmul(adjoint(rest), adjoint(left)), out)
        return left + right - matmul(matmul(out, t), out)

    def samples(self, rng):
        yield from square_samples(rng, rcond=1e-15)
        for shape in [(3, 2), (2, 3), (2, 4, 2), (0, 3)]:
            yield sample(rng.normal(size=shape), rcond=1e-15)
        yield sample(rng.normal(size=(4, 2)) + 1j, rcond=1e-15, name="complex")
        a = np.diag([4.0, 3.0, 1.0, 0.5])[:, :3] + 0.1 * rng.normal(size=(2, 4, 3))
        yield sample(a[0], rcond=0.4, name="one value left out")
        yield sample(a[0].T + 0.1j, rcond=0.4, name="one value left out, complex")
        yield sample(a, rcond=(0.4, 0.1), name="an rcond for each")


def leaves_out(a: Any, rcond: Any) -> bool:
    """Whether singular values may count as 0 that are more than rounding errors, some hundred times the resolution."""
    return bool(np.max(rcond, initial=0) > float(np.finfo(linalg_dtype("pinv", a)).eps) ** 0.85)


solve = Solve("solve")
inv = Inv("inv")
inverse_or_infinite = InverseOrInfinite("inverse_or_infinite")
det = Det("det")
det_derivative = DetDerivative("det_derivative")
slogdet = SlogDet("slogdet")
stein = Stein("stein")
pinv = Pinv("pinv")
