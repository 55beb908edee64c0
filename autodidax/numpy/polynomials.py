"""Polynomials given by their coefficients, highest power first: arithmetic, roots and least-squares fits.

Where NumPy drops leading coefficients because they are 0, so does the traced version while values are known (grad,
jvp); under jit and vmap it drops those that are 0 for every choice of values.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.numpy import linalg
from autodidax.numpy.callers import frames
from autodidax.numpy.concreteness import known_value
from autodidax.numpy.creation import vander
from autodidax.numpy.dispatch import extended, holds_tracer, numpy_function, operand
from autodidax.numpy.indexing import at
from autodidax.numpy.joining import concatenate, stack
from autodidax.numpy.reductions import sum as sum_of
from autodidax.numpy.shaping import atleast_1d
from autodidax.primitives import polynomial as prim
from autodidax.primitives.contraction import matmul, swap_last
from autodidax.primitives.convert import astype, real
from autodidax.primitives.convolution import convolve
from autodidax.primitives.elementwise import divide, sqrt


def _coefficients(name: str, p: Any) -> Any:
    """A vector of coefficients, of a list, a number or a polynomial object too."""
    p = atleast_1d(operand(p))
    if len(shape_of(p)) != 1:
        raise errors.ShapeError(f"{name}: coefficients of shape {shape_of(p)}", mend="give a vector of coefficients")
    return p


def _inexact(x: Any) -> Any:
    return x if dtype_of(x).kind in "fc" else astype(x, np.float64)


@numpy_function
def poly(seq_of_zeros: Any) -> Any:
    """Coefficients of the polynomial 1 x^n + ... with these roots, or of the characteristic one of a matrix.

    Complex roots in conjugate pairs give real coefficients where their values are known; under jit and vmap the
    coefficients stay complex.

    Source: numpy.poly.
    """
    zeros = atleast_1d(operand(seq_of_zeros))
    shape = shape_of(zeros)
    if len(shape) == 2 and shape[0] == shape[1] and shape[0] != 0:
        zeros = linalg.eigvals(zeros)
    elif len(shape) != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    dtype = np.dtype(np.mintypecode(dtype_of(zeros).char))
    zeros = astype(zeros, dtype)
    if not shape_of(zeros)[0]:
        return 1.0
    out: Any = np.ones(1, dtype)
    for k in range(shape_of(zeros)[0]):
        out = convolve(out, concatenate([np.ones(1, dtype), -zeros[k : k + 1]]))
    values = known_value(zeros)
    if dtype.kind == "c" and values is not None and np.array_equal(np.sort(values), np.sort(values.conj())):
        return real(out)
    return out


@numpy_function
def polyadd(a1: Any, a2: Any) -> Any:
    """Coefficients of the sum: (n,), (m,) -> (max(n, m),).

    Source: numpy.polyadd.
    """
    a1, a2 = _one_length("polyadd", a1, a2)
    return a1 + a2


@numpy_function
def polysub(a1: Any, a2: Any) -> Any:
    """Coefficients of the difference: (n,), (m,) -> (max(n, m),).

    Source: numpy.polysub.
    """
    a1, a2 = _one_length("polysub", a1, a2)
    return a1 - a2


def _one_length(name: str, a1: Any, a2: Any) -> list[Any]:
    both = [_coefficients(name, a) for a in (a1, a2)]
    size = max(shape_of(a)[0] for a in both)
    short = [size - shape_of(a)[0] for a in both]
    return [concatenate([np.zeros(n, dtype_of(a)), a]) if n else a for a, n in zip(both, short, strict=True)]


@extended("trim_leading_zeros")
def polymul(a1: Any, a2: Any, *, trim_leading_zeros: Any = None) -> Any:
    """Coefficients of the product: (n,), (m,) -> (n + m - 1,), without the leading zeros of either where their values
    are known. With `trim_leading_zeros=False` zeros always stay; True raises where values are not known.

    Source: numpy.polymul, jax.numpy.polymul.
    """
    both = [_coefficients("polymul", a) for a in (a1, a2)]
    if _trims("polymul", "trim_leading_zeros", trim_leading_zeros, *both):
        both = list(map(_without_leading_zeros, both))
    a1, a2 = (p if shape_of(p)[0] else np.zeros(1, dtype_of(p)) for p in both)
    return convolve(a1, a2)


def _trims(name: str, keyword: str, wanted: Any, *polynomials: Any) -> bool:
    """Whether leading zeros are to go, which needs values; None asks for that where there are values."""
    if wanted is None or not wanted:
        return wanted is None
    if any(known_value(p) is None for p in polynomials):
        raise errors.ConcretizationTypeError(
            f"{name}: {keyword}=True: the size of the result depends on values that are not known",
            mend=f"give {keyword}=False",
        )
    return True


def _without_leading_zeros(p: Any) -> Any:
    values = known_value(p)
    if values is None:
        return p
    kept = np.flatnonzero(values)
    if not len(kept):
        return np.zeros(1, dtype_of(p)) if not len(values) else p[-1:]
    return p[kept[0] :] if kept[0] else p


@extended("trim_leading_zeros")
def polydiv(u: Any, v: Any, *, trim_leading_zeros: Any = None) -> tuple[Any, Any]:
    """Coefficients of quotient and remainder: (n,), (m,) -> (max(n - m + 1, 1),), (at most n,).

    Leading coefficients of the remainder that are 0 up to rounding are dropped, as NumPy does; where values are not
    known (jit, vmap), those that division makes 0. With `trim_leading_zeros=False` the remainder always has n
    coefficients; True raises where values are not known.

    Source: numpy.polydiv, jax.numpy.polydiv.
    """
    u, v = (_inexact(_coefficients("polydiv", a)) for a in (u, v))
    dtype = np.result_type(dtype_of(u), dtype_of(v))
    n, m = shape_of(u)[0], shape_of(v)[0]
    scale, rest = divide(1.0, v[0]), astype(u, dtype)
    quotient = []
    for k in range(n - m + 1):
        digit = scale * rest[k]
        quotient.append(digit)
        rest = at(rest)[k : k + m].add(-(digit * v))
    found = stack(quotient) if quotient else np.zeros(1, dtype)
    values = known_value(rest)
    first = min(len(quotient), n - 1)
    trims = _trims("polydiv", "trim_leading_zeros", trim_leading_zeros, u, v)
    if not trims:
        first = 0
    elif values is not None:
        first = 0
        while first < n - 1 and np.allclose(values[first], 0, rtol=1e-14):
            first += 1
    return astype(found, dtype), rest[first:]


@numpy_function
def polyder(p: Any, m: Any = 1) -> Any:
    """Coefficients of the m-th derivative: (n,) -> (n - m,).

    Source: numpy.polyder.
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    p = operand(p)
    for _ in range(m):
        p = p[:-1] * np.arange(shape_of(p)[0] - 1, 0, -1)
    return p


@numpy_function
def polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    """Coefficients of the m-th antiderivative: (n,) -> (n + m,); k holds the constants of integration.

    Source: numpy.polyint.
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = np.zeros(m) if k is None else atleast_1d(operand(k))
    count = shape_of(constants)[0]
    if count < m and count != 1:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    p = operand(p)
    for i in range(m):
        constant = constants[:1] if count == 1 else constants[i : i + 1]
        p = concatenate([divide(p, np.arange(shape_of(p)[0], 0, -1)), constant])
    return p


@extended("strip_zeros")
def roots(p: Any, *, strip_zeros: Any = None) -> Any:
    """The roots of a polynomial: (n + 1,) -> (n,); their derivatives are right where they are distinct.

    Real roots are real where their values are known; under jit and vmap the roots are complex, and where leading
    coefficients are 0, nan stands for the missing ones. So it does everywhere with `strip_zeros=False`; True raises
    where values are not known.

    Source: numpy.roots, jax.numpy.roots.
    """
    p = atleast_1d(operand(p))
    if len(shape_of(p)) != 1:
        raise ValueError("Input must be a rank-1 array.")
    values = known_value(p)
    if not _trims("roots", "strip_zeros", strip_zeros, p) or values is None:
        return prim.roots(p)
    kept = np.flatnonzero(values)
    if not len(kept):
        return np.array([])
    found = prim.roots(p[kept[0] :])
    return found if np.iscomplexobj(np.roots(values)) else real(found)


@numpy_function
def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    """Coefficients of the polynomial of a degree that fits points best, with weights w: (n,), (n,) -> (deg + 1,), or
    (n,), (n, k) -> (deg + 1, k); with cov their covariance, with full what the least-squares solver says.

    Differentiable in x, y and w.

    Source: numpy.polyfit.
    """
    x, y = _inexact(operand(x)), _inexact(operand(y))
    order = int(deg) + 1
    _check_points(x, y, deg)
    n = shape_of(x)[0]
    if rcond is None:
        rcond = n * float(np.finfo(dtype_of(x)).eps)
    left, right = vander(x, order), y
    if w is not None:
        w = _inexact(operand(w))
        if len(shape_of(w)) != 1:
            raise TypeError("expected a 1-d array for weights")
        if shape_of(w)[0] != n:
            raise TypeError("expected w and y to have the same length")
        left = left * w[:, None]
        right = right * (w[:, None] if len(shape_of(y)) == 2 else w)
    scale = sqrt(sum_of(left * left, axis=0))
    left = left / scale
    found, residuals, rank, s = linalg.lstsq(left, right, rcond)
    c = found / (scale[:, None] if len(shape_of(y)) == 2 else scale)
    if not full and not isinstance(rank, Tracer) and rank != order:
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=3)
    if full:
        return c, residuals, rank, s, rcond
    if not cov:
        return c
    base = linalg.inv(matmul(swap_last(left), left)) / (scale[:, None] * scale)
    if cov == "unscaled":
        factor: Any = 1
    else:
        if n <= order:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        factor = residuals / (n - order)
    return c, (base if len(shape_of(y)) == 1 else base[:, :, None]) * factor


def _check_points(x: Any, y: Any, deg: Any) -> None:
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if len(shape_of(x)) != 1:
        raise TypeError("expected 1D vector for x")
    if shape_of(x)[0] == 0:
        raise TypeError("expected non-empty vector for x")
    if len(shape_of(y)) not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if shape_of(x)[0] != shape_of(y)[0]:
        raise TypeError("expected x and y to have same length")


@numpy_function
def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> Any:
    """The array without zeros at the front ("f") and the back ("b") of its axes; its values have to be known.

    A list of numbers gives a list.

    Source: numpy.trim_zeros.
    """
    given = operand(filt) if holds_tracer(filt) else filt
    values = known_value(given)
    if values is None:
        raise errors.ConcretizationTypeError(
            "trim_zeros: the size of the result depends on values that are not known",
            mend="slice with indices that are known, or leave the zeros in place",
        )
    np.trim_zeros(values, trim, axis)  # for its own errors
    kept = given[_box(values != 0, trim.lower(), axis)]
    if shape_of(kept) != shape_of(given) and any(f.f_code.co_qualname == "poly1d.__init__" for f in frames()[1]):
        raise errors.UnsupportedError(
            "poly1d: leading coefficients that are 0 are left out, and with them their derivatives",
            mend="keep the coefficients in an array, with np.polyval, np.polymul, np.polyder, ...",
        )
    return list(kept) if isinstance(filt, list) else kept


def _box(mask: np.ndarray, trim: str, axis: Any) -> tuple[slice, ...]:
    """The slices of the smallest box with all that is marked in it, open where nothing is to be trimmed."""
    axes = range(mask.ndim) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, mask.ndim)
    box, places = [slice(None)] * mask.ndim, np.argwhere(mask)
    for k in axes:
        if not len(places):
            box[k] = slice(0, 0)
        else:
            low, high = int(places[:, k].min()), int(places[:, k].max()) + 1
            box[k] = slice(low if "f" in trim else None, high if "b" in trim else None)
    return tuple(box)


__all__ = [
    "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "roots", "trim_zeros",
]  # fmt: skip
