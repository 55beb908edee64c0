"""numpy.linalg's norms, condition numbers and ranks."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy.dispatch import axes_of, axis_of, function_for, given, holds_tracer, operand
from autodidax.primitives.comparison import equal, greater, isfinite, logical_and, logical_not, not_equal
from autodidax.primitives.contraction import euclidean_norm
from autodidax.primitives.convert import astype, stop_gradient_p
from autodidax.primitives.elementwise import absolute, divide
from autodidax.primitives.factorizations import eigvalsh, singular_values
from autodidax.primitives.reductions import reduce_max, reduce_min, reduce_or
from autodidax.primitives.select import where
from autodidax.primitives.shape import expand_dims, reduce_sum, transpose
from autodidax.primitives.solves import inverse_or_infinite


class MatrixError(errors.ShapeError, np.linalg.LinAlgError):
    """A shape that is not that of matrices, or of square ones: a LinAlgError, as NumPy's own is."""


_DATA = {"b", "x2", "tol", "rtol", "rcond", "out"}  # beside the first one: arguments that may be traced, or say why not


def linalg_function(traced: Callable[..., Any]) -> Callable[..., Any]:
    """numpy.linalg's function of the same name where no argument is traced, else `traced`. Arguments that choose what
    is computed (an order, an axis, a mode) are refused where they are traced."""
    return linalg_extended()(traced)


def linalg_extended(*keywords: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """As `linalg_function`, for one with keywords of jax.numpy's that NumPy's lacks."""
    return lambda traced: _dispatched(traced, keywords)


def _dispatched(traced: Callable[..., Any], keywords: tuple[str, ...]) -> Callable[..., Any]:
    name = traced.__name__
    code = traced.__code__
    names = code.co_varnames[: code.co_argcount]
    leading = next((k for k, x in enumerate(names) if k and x not in _DATA), len(names))

    @functools.wraps(traced)
    def function(*args: Any, **kwargs: Any) -> Any:
        if len(args) > leading:
            for keyword, value in zip(names[leading:], args[leading:], strict=False):
                if holds_tracer(value):
                    raise _traced_choice(name, keyword)
        for keyword, value in kwargs.items():
            if keyword not in _DATA and keyword != names[0] and holds_tracer(value):
                raise _traced_choice(name, keyword)
        return traced(*args, **kwargs)

    return function_for(getattr(np.linalg, name), keywords)(function)


def _traced_choice(name: str, keyword: str) -> errors.AutodidaxError:
    order = "; as a function of its order, write a norm as sum(abs(x) ** p) ** (1 / p)" if keyword == "ord" else ""
    return errors.UnsupportedError(
        f"{name}: the argument {keyword} is a traced value, and it chooses what is computed",
        mend=f"give {keyword} as a plain value (static_argnums under jit){order}",
    )


def as_matrices(name: str, a: Any) -> Any:
    """An operand of two axes or more."""
    a = operand(a)
    if len(shape_of(a)) < 2:
        raise MatrixError(
            f"{name}: shape {shape_of(a)} is not that of a matrix", mend="give an array of shape (..., n, m)"
        )
    return a


def as_square(name: str, a: Any) -> Any:
    """An operand of two axes or more, the last two of one size."""
    a = as_matrices(name, a)
    if shape_of(a)[-1] != shape_of(a)[-2]:
        raise MatrixError(
            f"{name}: shape {shape_of(a)} is not that of square matrices", mend="give an array of shape (..., n, n)"
        )
    return a


def inexact(dtype: np.dtype) -> np.dtype:
    """The dtype itself if it is floating or complex, else float64."""
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


@linalg_function
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Norms of vectors along one axis or of matrices along two, or of all entries: every `ord` of NumPy's.

    The derivative at 0 is 0; that of the nuclear norm is 0 along singular vectors of the value 0.

    Source: numpy.linalg.norm.
    """
    x = operand(x)
    x = astype(x, inexact(dtype_of(x)))
    rank = len(shape_of(x))
    everything = axis is None
    if everything:
        axes = tuple(range(rank))
        if ord is None or (rank == 1 and ord == 2) or (rank == 2 and ord in ("fro", "f")):
            return _kept(euclidean_norm(x, axes=axes), axes, keepdims)
    else:
        axes = tuple(axis_of(k, rank) for k in (axis if isinstance(axis, tuple) else (axis,)))
    if len(axes) == 1:
        return _kept(_vector_norm(x, ord, axes), axes, keepdims)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    if axes[0] == axes[1]:
        raise ValueError("Duplicate axes given.")
    return _kept(_matrix_norm(x, ord, *axes), axes, keepdims)


def _kept(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    return expand_dims(x, axes) if keepdims else x


def _vector_norm(x: Any, ord: Any, axes: tuple[int, ...]) -> Any:
    if ord is None or ord == 2:
        return euclidean_norm(x, axes=axes)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    size = absolute(x)
    if ord == math.inf:
        return _largest(size, axes)
    if ord == -math.inf:
        return reduce_min(size, axes=axes)
    if ord == 0:
        return reduce_sum(astype(not_equal(x, 0), dtype_of(size)), axes=axes)
    if ord == 1:
        return reduce_sum(size, axes=axes)
    if ord < 0:
        total = reduce_sum(size**ord, axes=axes)
        infinite = equal(total, math.inf)  # where an entry is 0, the derivative is 0
        return where(infinite, 0, where(infinite, 1, total) ** (1 / float(ord)))
    if ord % 2 == 0 and dtype_of(x).kind != "c":
        total = reduce_sum(x**ord, axes=axes)
    else:
        nothing = equal(size, 0)  # as for abs, the derivative at 0 is 0
        total = reduce_sum(where(nothing, 0, where(nothing, 1, size) ** ord), axes=axes)
    zero = equal(total, 0)
    return where(zero, 0, where(zero, 1, total) ** (1 / float(ord)))


def _largest(sizes: Any, axes: tuple[int, ...]) -> Any:
    """The largest of numbers that are not negative, 0 of none."""
    shape = shape_of(sizes)
    if any(shape[k] == 0 for k in axes):
        return np.zeros([n for k, n in enumerate(shape) if k not in axes], dtype_of(sizes))[()]
    return reduce_max(sizes, axes=axes)


def _matrix_norm(x: Any, ord: Any, row: int, column: int) -> Any:
    if ord in (None, "fro", "f"):
        return euclidean_norm(x, axes=tuple(sorted((row, column))))
    if ord in (2, -2, "nuc"):
        rank = len(shape_of(x))
        zero = logical_not(reduce_or(not_equal(x, 0), axes=tuple(sorted((row, column)))))
        x = where(expand_dims(zero, tuple(sorted((row, column)))), 1, x)  # at 0 all derivatives are 0
        others = [k for k in range(rank) if k not in (row, column)]
        s = singular_values(transpose(x, permutation=(*others, row, column)))
        s = where(equal(s, 0), 0, s)  # the derivative along vectors of the value 0 is 0
        last = (rank - 2,)
        if ord == "nuc":
            return where(zero, 0, reduce_sum(s, axes=last))
        return where(zero, 0, _largest(s, last) if ord == 2 else reduce_min(s, axes=last))
    if ord in (1, -1, math.inf, -math.inf):
        summed, compared = (row, column) if abs(ord) == 1 else (column, row)
        sums = reduce_sum(absolute(x), axes=(summed,))
        left = (compared - (compared > summed),)
        return _largest(sums, left) if ord > 0 else reduce_min(sums, axes=left)
    raise ValueError("Invalid norm order for matrices.")


@linalg_function
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Norms of vectors along one axis, several or all of them.

    Source: numpy.linalg.vector_norm.
    """
    x = operand(x)
    x = astype(x, inexact(dtype_of(x)))
    rank = len(shape_of(x))
    axes = axes_of(axis, rank)
    return _kept(_vector_norm(x, ord, axes), axes, keepdims)


@linalg_function
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Norms of matrices: (..., n, m) -> (...).

    Source: numpy.linalg.matrix_norm.
    """
    return norm(x, ord, (-2, -1), keepdims)


@linalg_function
def cond(x: Any, p: Any = None) -> Any:
    """Condition numbers: (..., n, m) -> (...), by singular values, or as norm(x, p) norm(inv(x), p); inf for singular
    matrices, where no derivative is finite.

    Source: numpy.linalg.cond.
    """
    x = as_matrices("cond", x)
    if 0 in shape_of(x)[-2:]:
        raise MatrixError(f"cond: shape {shape_of(x)}: empty arrays have no condition number", mend="give entries")
    if p not in (None, 2, -2):
        dtype = inexact(dtype_of(as_square("cond", x)))
        inverse = inverse_or_infinite(astype(x, np.result_type(dtype, np.float64)))  # the precision NumPy inverts in
        inverse = where(isfinite(inverse), inverse, math.nan)
        with np.errstate(all="ignore"):
            ratio = norm(x, p, (-2, -1)) * norm(inverse, p, (-2, -1))
        ratio = astype(ratio, np.empty(0, dtype).real.dtype)
    else:
        s = singular_values(x)
        with np.errstate(all="ignore"):
            ratio = divide(s[..., -1], s[..., 0]) if p == -2 else divide(s[..., 0], s[..., -1])
    rank = len(shape_of(x))
    given_nan = reduce_or(not_equal(x, x), axes=(rank - 2, rank - 1))
    undefined = logical_and(not_equal(ratio, ratio), logical_not(given_nan))
    with np.errstate(all="ignore"):
        infinite = math.inf * (1 + 0.0 * reduce_sum(absolute(x), axes=(rank - 2, rank - 1)))  # its derivative is nan
    return where(undefined, infinite, ratio)


@linalg_function
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """Number of singular values above tol, by default the largest times max(n, m) times the resolution of the dtype:
    (..., n, m) -> (...), integers; its derivative is zero.

    Source: numpy.linalg.matrix_rank.
    """
    if given(tol) and given(rtol):
        raise errors.ArgumentError("matrix_rank: tol and rtol are both given", mend="leave one of them away")
    a = stop_gradient_p(operand(A))
    if len(shape_of(a)) < 2:
        return astype(reduce_or(not_equal(a, 0), axes=tuple(range(len(shape_of(a))))), np.intp)
    s = absolute(eigvalsh(as_square("matrix_rank", a), lower=True)) if hermitian else singular_values(a)
    if not shape_of(s)[-1]:
        return np.zeros(shape_of(s)[:-1], np.intp)[()]
    if tol is None:
        factor = (
            max(shape_of(a)[-2:]) * float(np.finfo(dtype_of(s)).eps) if rtol is None else stop_gradient_p(operand(rtol))
        )
        tol = reduce_max(s, axes=(len(shape_of(s)) - 1,)) * factor
    tol = stop_gradient_p(operand(tol))
    counted = greater(s, expand_dims(tol, (len(shape_of(tol)),)))
    return reduce_sum(counted, axes=(len(shape_of(counted)) - 1,))
