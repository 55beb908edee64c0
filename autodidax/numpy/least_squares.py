"""numpy.linalg's least squares and pseudo-inverses."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.numpy.concreteness import concrete
from autodidax.numpy.dispatch import NoValue, operand
from autodidax.numpy.norms import MatrixError, as_matrices, inexact, linalg_extended, linalg_function
from autodidax.primitives import eigen, solves
from autodidax.primitives.comparison import greater
from autodidax.primitives.contraction import matmul
from autodidax.primitives.convert import astype, conj, real, stop_gradient_p
from autodidax.primitives.factorizations import singular_values
from autodidax.primitives.least_squares import least_squares
from autodidax.primitives.shape import expand_dims, reduce_sum


def _static(name: str, keyword: str, value: Any) -> Any:
    """A tolerance as a number, or as a nested tuple of numbers. The result is piecewise constant in it, so that it may
    be traced where its value is known."""
    if isinstance(value, Tracer):
        value = concrete(value)
    if isinstance(value, Tracer):
        raise errors.UnsupportedError(
            f"{name}: {keyword} is a traced value whose number is not known here, and it decides the rank",
            mend=f"give {keyword} as a plain number (static_argnums under jit)",
        )
    return _nested_tuple(np.asarray(value, np.float64).tolist())


def _nested_tuple(x: Any) -> Any:
    return tuple(map(_nested_tuple, x)) if isinstance(x, list) else x


@linalg_function
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NoValue) -> Any:
    """Moore-Penrose inverses: (..., n, m) -> (..., m, n), differentiable where the rank is locally constant; with
    `hermitian`, the lower triangle of a is read, and derivatives are those of Hermitian changes of a.

    Source: numpy.linalg.pinv.
    """
    a = as_matrices("pinv", a)
    if rcond is not None and rtol is not NoValue:
        raise errors.ArgumentError("pinv: rtol and rcond are both given", mend="leave one of them away")
    keyword = "rcond" if rcond is not None else "rtol"
    if rcond is None and rtol is None:
        rcond = max(shape_of(a)[-2:]) * float(np.finfo(inexact(dtype_of(a))).eps)
    elif rcond is None:
        rcond = 1e-15 if rtol is NoValue else rtol
    rcond = _static("pinv", keyword, rcond)
    return (eigen.pinv_hermitian if hermitian else solves.pinv)(a, rcond=rcond)


@linalg_extended("numpy_resid")
def lstsq(a: Any, b: Any, rcond: Any = None, *, numpy_resid: Any = None) -> Any:
    """The x of least norm among those with the least norm of a x - b, for one right-hand side or one a column:
    (n, m), (n,) -> (m,), or (n, m), (n, k) -> (m, k); with it the sums of squared residuals, the rank of a and its
    singular values, of which those up to rcond times the largest count as 0.

    The sums are there where NumPy gives them, at full rank and n > m (else an array without entries); under vmap and
    jit, where the rank is not known, always; `numpy_resid=True` raises there, and with False they are there everywhere.
    x has derivatives where the rank is locally constant.

    Source: numpy.linalg.lstsq, jax.numpy.linalg.lstsq.
    """
    a, b = operand(a), operand(b)
    shape, single = shape_of(a), len(shape_of(b)) == 1
    if len(shape) != 2 or len(shape_of(b)) not in (1, 2) or shape_of(b)[0] != shape[0]:
        raise MatrixError(
            f"lstsq: shapes {shape} and {shape_of(b)}", mend="give a of shape (n, m) and b of shape (n,) or (n, k)"
        )
    dtype = np.result_type(inexact(dtype_of(a)), inexact(dtype_of(b)))
    working = np.result_type(dtype, np.float64)  # as NumPy's
    a, b = astype(a, working), astype(b, working)
    resolution = float(np.finfo(working).eps)
    rcond = resolution * max(shape) if rcond is None else _static("lstsq", "rcond", rcond)
    rcond = rcond if 0 < rcond < 1 else resolution  # as LAPACK reads it
    columns = expand_dims(b, (1,)) if single else b
    x = least_squares(a, columns, rcond=rcond)
    s = singular_values(a)
    rank = _rank(s, rcond)
    narrow = np.empty(0, dtype).real.dtype
    if numpy_resid and isinstance(rank, Tracer) and shape[0] > shape[1]:
        raise errors.ConcretizationTypeError(
            "lstsq: numpy_resid=True: the size of the residuals depends on the rank, which is not known",
            mend="leave numpy_resid= away",
        )
    as_in_numpy = shape[0] > shape[1] and (isinstance(rank, Tracer) or rank == shape[1])
    if as_in_numpy or numpy_resid is False:
        difference = columns - matmul(a, x)
        residuals = astype(reduce_sum(real(conj(difference) * difference), axes=(0,)), narrow)
    else:
        residuals = np.empty(0, narrow)
    return astype(x[:, 0] if single else x, dtype), residuals, rank, astype(s, narrow)


def _rank(s: Any, rcond: float) -> Any:
    """How many singular values count: an integer where their values are known, traced where they are not."""
    s = stop_gradient_p(concrete(s) if isinstance(s, Tracer) else s)
    if not shape_of(s)[-1]:
        return np.int32(0)
    return astype(reduce_sum(greater(s, s[..., :1] * rcond), axes=(len(shape_of(s)) - 1,)), np.int32)


__all__ = ["lstsq", "pinv"]
