"""Order statistics that leave NaN out, and covariances."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, get_aval, shape_of
from autodidax.numpy.concreteness import known_value
from autodidax.numpy.contraction import dot
from autodidax.numpy.dispatch import NoValue, axes_of, given, numpy_function, operand, refuse_out
from autodidax.numpy.joining import concatenate
from autodidax.numpy.reductions import sum as sum_of
from autodidax.numpy.shaping import atleast_2d, squeeze
from autodidax.numpy.statistics import average, nanmean
from autodidax.primitives import sorting
from autodidax.primitives.comparison import equal, greater, isnan, less, logical_not
from autodidax.primitives.convert import astype, conj, imag, make_complex, real, stop_gradient_p
from autodidax.primitives.elementwise import divide, maximum, minimum, sqrt
from autodidax.primitives.extrema import clip
from autodidax.primitives.gather import take_along_axis
from autodidax.primitives.rearrange import diagonal
from autodidax.primitives.rounding import ceil, floor, rint
from autodidax.primitives.select import where
from autodidax.primitives.shape import concatenate as join
from autodidax.primitives.shape import expand_dims, reshape, transpose


def _lines(a: Any, axis: Any) -> tuple[Any, Any, tuple[int, ...]]:
    """The entries that a reduction over axes meets in one last axis, in order and NaN last; how many are no NaN, with
    an axis of size 1; and the axes."""
    shape = shape_of(a)
    axes = axes_of(axis, len(shape))
    kept = tuple(k for k in range(len(shape)) if k not in axes)
    a = transpose(a, permutation=(*kept, *axes))
    n = int(np.prod([shape[k] for k in axes]))
    a = sorting.sort(reshape(a, shape=(*(shape[k] for k in kept), n)), len(kept))
    if dtype_of(a).kind not in "fc":
        return a, np.full((*shape_of(a)[:-1], 1), n), axes
    return a, sum_of(logical_not(isnan(a)), axis=-1, keepdims=True), axes


def _entry(lines: Any, index: Any) -> Any:
    return take_along_axis(lines, index, len(shape_of(lines)) - 1, mode="clip")[..., 0]


@numpy_function
def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = NoValue) -> Any:
    """Middle entry over axes of those that are not NaN, or the mean of the two in the middle; NaN, without NumPy's
    warning, where there are none.

    Source: numpy.nanmedian.
    """
    refuse_out("nanmedian", out)
    a = operand(a)
    if get_aval(a).size == 0:
        return nanmean(a, axis, keepdims=keepdims)
    lines, count, axes = _lines(a, axis)
    dtype = dtype_of(lines)
    wide = np.dtype(np.float32 if dtype == np.float16 else np.float64 if dtype.kind in "iub" else dtype)
    low, high = (astype(_entry(lines, index), wide) for index in (maximum(count - 1, 0) // 2, count // 2))
    middle = where(equal(count[..., 0] % 2, 1), high, (low + high) / 2.0)
    middle = where(equal(count[..., 0], 0), wide.type(np.nan), middle)
    middle = astype(middle, np.float16) if dtype == np.float16 else middle
    return expand_dims(middle, axes) if given(keepdims) and keepdims else middle


@numpy_function
def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = NoValue, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Quantiles over axes of the entries that are not NaN, by any of NumPy's methods; q is plain, and its axes come
    first (NumPy leaves one of several behind where `axis` names several). NaN, without NumPy's warning, where there are
    no entries.

    Source: numpy.nanquantile.
    """
    refuse_out("nanquantile", out)
    if isinstance(q, Tracer):
        raise errors.UnsupportedError("nanquantile of a traced q", mend="give plain numbers between 0 and 1 for q")
    if weights is not None:
        raise errors.UnsupportedError(
            "nanquantile: the keyword weights is not supported on traced values", mend="leave weights= away"
        )
    a, levels = operand(a), np.asarray(q)
    if dtype_of(a).kind == "c":
        raise TypeError("a must be an array of real numbers")
    if not np.all((levels >= 0) & (levels <= 1)):
        raise ValueError("Quantiles must be in the range [0, 1]")
    if method not in _POSITIONS:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {_POSITIONS.keys()}")
    if get_aval(a).size == 0:
        return nanmean(a, axis, keepdims=keepdims)
    weak = type(q) in (int, float)
    whole = method in _OF_INTEGERS and dtype_of(a).kind in "iub" and not weak
    if levels.dtype.kind != "f" and (method == "linear" or whole):
        method = "lower"  # the first or the last entry, without arithmetic
    levels = levels if levels.dtype.kind == "f" else levels.astype(np.float64)
    lines, count, axes = _lines(a, axis)
    found = [_quantile(lines, count, level, method, weak) for level in levels.ravel()]
    if given(keepdims) and keepdims:
        found = [expand_dims(x, axes) for x in found]
    if levels.ndim == 0:
        return found[0]
    joined = join(*[expand_dims(x, (0,)) for x in found], axis=0)
    return reshape(joined, shape=(*levels.shape, *shape_of(found[0])))


def _weibull_like(alpha: float, beta: float) -> Any:
    """Positions from the plotting positions of Hyndman and Fan (1996) with these parameters."""
    return lambda n, q: n * q + (alpha + q * (1.0 - alpha - beta)) - 1.0


#: where the quantile q of n sorted entries lies, counted from 0
_POSITIONS: dict[str, Any] = {
    "linear": lambda n, q: (n - 1.0) * q,
    "lower": lambda n, q: floor((n - 1.0) * q),
    "higher": lambda n, q: ceil((n - 1.0) * q),
    "nearest": lambda n, q: rint((n - 1.0) * q),
    "midpoint": lambda n, q: 0.5 * (floor((n - 1.0) * q) + ceil((n - 1.0) * q)),
    "inverted_cdf": lambda n, q: ceil(n * q - 1.0),
    "averaged_inverted_cdf": lambda n, q: n * q - 1.0,
    "closest_observation": lambda n, q: _nearest_even(n * q - 1.0 - 0.5),
    "interpolated_inverted_cdf": _weibull_like(0.0, 1.0),
    "hazen": _weibull_like(0.5, 0.5),
    "weibull": _weibull_like(0.0, 0.0),
    "median_unbiased": _weibull_like(1.0 / 3.0, 1.0 / 3.0),
    "normal_unbiased": _weibull_like(3.0 / 8.0, 3.0 / 8.0),
}
_OF_INTEGERS = {"averaged_inverted_cdf", "interpolated_inverted_cdf", "weibull"}  # whole positions for whole levels
_OF_ONE_ENTRY = {"lower", "higher", "nearest", "inverted_cdf", "closest_observation"}


def _nearest_even(position: Any) -> Any:
    """The next whole position, or the position itself where it is whole and odd: counted from 1 that is even."""
    below = floor(position)
    return where(equal(position, below) & equal(below % 2.0, 1.0), below, below + 1.0)


def _quantile(lines: Any, count: Any, level: Any, method: str, weak: bool) -> Any:
    """One quantile of each line; the level is of the dtype to interpolate in, unless it is a Python number (weak)."""
    n, dtype = astype(count, level.dtype), dtype_of(lines)
    position, last = _POSITIONS[method](n, level), maximum(n - 1.0, 0.0)
    at = lambda p: _entry(lines, astype(minimum(maximum(p, 0.0), last), np.intp))
    if method in _OF_ONE_ENTRY:
        value = at(position)
    else:
        below = floor(position)
        share = position - below
        if method == "averaged_inverted_cdf":
            share = where(equal(share, 0.0), 0.5, 1.0)
        elif method == "midpoint":
            share = where(equal(share, 0.0), 0.0, 0.5)
        # beyond an end the entry at the end is meant
        share = astype(where(less(position, 0.0) | greater(position, last), 0.0, share)[..., 0], level.dtype)
        kind = np.dtype(np.float64) if dtype.kind in "iub" else dtype
        in_dtype = kind if weak else level.dtype
        low, high = (astype(at(p), kind) for p in (below, below + 1.0))
        near_high = high - (high - low) * astype(1.0 - share, in_dtype)
        value = where(less(share, 0.5), low + (high - low) * astype(share, in_dtype), near_high)
    if dtype_of(value).kind != "f":
        return value
    return where(equal(count[..., 0], 0), dtype_of(value).type(np.nan), value)


@numpy_function
def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = NoValue, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Quantiles at q percent of the entries that are not NaN: see `nanquantile`.

    Source: numpy.nanpercentile.
    """
    refuse_out("nanpercentile", out)
    if isinstance(q, Tracer):
        raise errors.UnsupportedError("nanpercentile of a traced q", mend="give plain numbers from 0 to 100 for q")
    levels = q / 100 if type(q) in (int, float) else np.true_divide(q, 100)
    if not np.all((np.asarray(levels) >= 0) & (np.asarray(levels) <= 1)):
        raise ValueError("Percentiles must be in the range [0, 100]")
    return nanquantile(a, levels, axis, None, overwrite_input, method, keepdims, weights=weights)


@numpy_function
def cov(
    m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    """Covariances of variables, each a row (or a column, with rowvar=False): (k, n) -> (k, k), without axes of size 1.

    Differentiable in m, y and aweights.

    Source: numpy.cov.
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    x = _observations(operand(m), None if y is None else operand(y), rowvar, dtype)
    if shape_of(x)[0] == 0:
        return np.array([]).reshape(0, 0)
    n = shape_of(x)[1]
    ddof = ddof if ddof is not None else 1 if bias == 0 else 0
    w = None if fweights is None else _weights("fweights", fweights, n)
    values = known_value(w)
    if values is not None and np.any(values != np.around(values)):
        raise TypeError("fweights must be integer")
    if aweights is not None:
        aweights = _weights("aweights", aweights, n)
        w = aweights if w is None else w * aweights
    mean, total = average(x, axis=1, weights=w, returned=True)
    factor: Any = n - ddof
    if w is not None:
        total = astype(real(total[0]), np.float64)
        if ddof == 0:
            factor = total
        elif aweights is None:
            factor = total - ddof
        else:
            factor = total - ddof * sum_of(w * aweights) / total
    x = x - mean[:, None]
    product = dot(x, conj((x if w is None else x * w).T))
    return squeeze(product * divide(1.0, _positive(factor)))


def _observations(m: Any, y: Any, rowvar: Any, dtype: Any) -> Any:
    """All variables as rows of one matrix."""
    for name, a in (("m", m), ("y", y)):
        if a is not None and len(shape_of(a)) > 2:
            raise ValueError(f"{name} has more than 2 dimensions")
    if dtype is None:
        dtype = np.result_type(dtype_of(m), np.float64, *([] if y is None else [dtype_of(y)]))
    x = atleast_2d(astype(m, dtype))
    x = x.T if not rowvar and len(shape_of(m)) != 1 else x
    if y is None or shape_of(x)[0] == 0:
        return x
    y = atleast_2d(astype(y, dtype))
    y = y.T if not rowvar and shape_of(y)[0] != 1 else y
    return concatenate([x, y], axis=0)


def _weights(name: str, w: Any, n: int) -> Any:
    w = astype(operand(w), np.float64)
    if len(shape_of(w)) > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if shape_of(w)[0] != n:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    values = known_value(w)
    if values is not None and np.any(values < 0):
        raise ValueError(f"{name} cannot be negative")
    return w


def _positive(factor: Any) -> Any:
    """The degrees of freedom, 0 with a warning where there are none."""
    value = known_value(factor)
    if value is None:
        return where(greater(factor, 0.0), factor, 0.0)
    if value <= 0:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=4)
        return 0.0
    return factor


@numpy_function
def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Any:
    """Correlation coefficients of variables, each a row (or a column, with rowvar=False): (k, n) -> (k, k).

    Source: numpy.corrcoef.
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if not shape_of(c):
        return divide(c, c)
    deviation = sqrt(real(diagonal(c)))
    c = c / deviation[:, None] / deviation
    # rounding alone makes them larger than 1: the derivative is that without the clip
    bounded = clip(real(c), -1.0, 1.0)
    if dtype_of(c).kind == "c":
        bounded = make_complex(bounded, clip(imag(c), -1.0, 1.0))
    return c + _constant(bounded - c)


def _constant(x: Any) -> Any:
    return stop_gradient_p(x) if isinstance(x, Tracer) else x


__all__ = ["corrcoef", "cov", "nanmedian", "nanpercentile", "nanquantile"]
