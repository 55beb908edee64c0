"""scipy.linalg, differentiable: the same names and results.

The options `overwrite_*` and `check_finite` do nothing on traced values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from autodidax import errors
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy.dispatch import function_for, operand
from autodidax.numpy.norms import as_matrices
from autodidax.primitives import expm as exponential
from autodidax.primitives import factorizations, solves, triangular
from autodidax.primitives.contraction import diagonals, swap_last
from autodidax.primitives.shape import expand_dims
from autodidax.primitives.triangular import adjoint, triangular_part


def _scipy_function(traced: Callable[..., Any]) -> Any:
    """scipy.linalg's function of the same name where no argument is traced, else `traced`."""
    return function_for(getattr(scipy.linalg, traced.__name__))(traced)


def _with_columns(b: Any, solution: Callable[[Any], Any]) -> Any:
    """The solution for a right-hand side of one axis, or of columns: (n,) or (..., n, k)."""
    b = operand(b)
    return solution(expand_dims(b, (1,)))[..., 0] if len(shape_of(b)) == 1 else solution(b)


@_scipy_function
def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """x with op(a) x = b for triangular a: (..., n, n), and (n,) or (..., n, k) -> (..., n) or (..., n, k); op is a
    (`trans` 0 or "N"), its transpose (1, "T") or its conjugate transpose (2, "C").

    Source: scipy.linalg.solve_triangular.
    """
    a = as_matrices("solve_triangular", a)
    trans = {"N": 0, "T": 1, "C": 2}.get(trans, trans)
    if trans not in (0, 1, 2):
        raise errors.ArgumentError(f"solve_triangular: trans is {trans!r}", mend="give 0, 1, 2, 'N', 'T' or 'C'")
    params = {"lower": bool(lower), "trans": int(trans), "unit_diagonal": bool(unit_diagonal)}
    return _with_columns(b, lambda columns: triangular.solve_triangular(a, columns, **params))


@_scipy_function
def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Upper u with u^H u = a, or lower l with l l^H = a, for positive definite a: (..., n, n) -> (..., n, n).

    The same triangle of a is read; derivatives are those of Hermitian changes of a.

    Source: scipy.linalg.cholesky.
    """
    a = as_matrices("cholesky", a)
    return factorizations.cholesky(a) if lower else adjoint(factorizations.cholesky(adjoint(a)))


@_scipy_function
def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Cholesky's factor for `cho_solve`, and whether it is the lower one; its other triangle is zero.

    Source: scipy.linalg.cho_factor.
    """
    return cholesky.__wrapped__(a, lower=lower), bool(lower)


@_scipy_function
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """x with a x = b, from `cho_factor(a)`: b of shape (n,) or (..., n, k).

    Source: scipy.linalg.cho_solve.
    """
    c, lower = c_and_lower
    c = as_matrices("cho_solve", c)

    def solution(columns: Any) -> Any:
        params = {"lower": bool(lower), "unit_diagonal": False}
        half = triangular.solve_triangular(c, columns, trans=0 if lower else 2, **params)
        return triangular.solve_triangular(c, half, trans=2 if lower else 0, **params)

    return _with_columns(b, solution)


_STRUCTURES = {
    None: "general", "gen": "general", "sym": "symmetric", "her": "hermitian", "pos": "positive definite",
    "tridiagonal": "general", "banded": "general",
}  # fmt: skip


@_scipy_function
def solve(
    a: Any, b: Any, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
    check_finite: bool = True, assume_a: Any = None, transposed: bool = False,
) -> Any:  # fmt: skip
    """x with a x = b: (..., n, n), and (n,) or (..., n, k) -> (..., n) or (..., n, k). With `assume_a` "sym", "her" or
    "pos", one triangle of a is read, the one that `lower` says.

    Source: scipy.linalg.solve.
    """
    a = as_matrices("solve", a)
    structure = _STRUCTURES.get(assume_a, assume_a)
    if transposed:
        if dtype_of(a).kind == "c":
            raise errors.UnsupportedError("solve: transposed=True with a complex matrix", mend="pass a.T")
        a, lower = swap_last(a), not lower
    if structure == "positive definite":
        return cho_solve.__wrapped__(cho_factor.__wrapped__(a, lower=lower), b)
    if structure in ("upper triangular", "lower triangular"):
        below = (structure == "lower triangular") != transposed
        return solve_triangular.__wrapped__(a, b, lower=below)
    if structure == "diagonal":
        return _with_columns(b, lambda columns: columns / expand_dims(diagonals(a), (len(shape_of(a)) - 1,)))
    a = _whole("solve", a, structure, lower)
    return _with_columns(b, lambda columns: solves.solve(a, columns))


def _whole(name: str, a: Any, structure: Any, lower: bool) -> Any:
    """A symmetric or Hermitian matrix from the triangle that is read."""
    if structure == "general":
        return a
    if structure not in ("symmetric", "hermitian"):
        raise errors.ArgumentError(
            f"{name}: assume_a is {structure!r}",
            mend="give 'general', 'symmetric', 'hermitian', 'positive definite', 'diagonal' or 'upper triangular'",
        )
    strict = triangular_part(a, lower=lower, diagonal=0.0)
    other = swap_last(strict) if structure == "symmetric" else adjoint(strict)
    return triangular_part(a, lower=lower, diagonal=1.0) + other


@_scipy_function
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Determinants: (..., n, n) -> (...).

    Source: scipy.linalg.det.
    """
    return solves.det(as_matrices("det", a))


@_scipy_function
def inv(
    a: Any, overwrite_a: bool = False, check_finite: bool = True, *, assume_a: Any = None, lower: bool = False
) -> Any:
    """Inverses: (..., n, n) -> (..., n, n), with `assume_a` as in `solve`.

    Source: scipy.linalg.inv.
    """
    a = as_matrices("inv", a)
    return solve.__wrapped__(a, np.eye(shape_of(a)[-1], dtype=dtype_of(a)), lower=lower, assume_a=assume_a)


@_scipy_function
def expm(A: Any) -> Any:
    """Exponentials of matrices: (..., n, n) -> (..., n, n), with exact derivatives of all orders.

    Source: scipy.linalg.expm.
    """
    return exponential.expm(as_matrices("expm", A))


__all__ = ["cho_factor", "cho_solve", "cholesky", "det", "expm", "inv", "solve", "solve_triangular"]
