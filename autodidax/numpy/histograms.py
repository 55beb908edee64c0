"""Counting: bincount and histograms. Counts are piecewise constant; weights and bin edges have derivatives."""

from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, get_aval, shape_of
from autodidax.numpy.concreteness import describe, known_value
from autodidax.numpy.creation import linspace
from autodidax.numpy.differences import diff
from autodidax.numpy.dispatch import function_for, holds_tracer, numpy_function, operand
from autodidax.numpy.indexing import at
from autodidax.numpy.reductions import max as max_of
from autodidax.numpy.reductions import min as min_of
from autodidax.numpy.reductions import sum as sum_of
from autodidax.numpy.shaping import atleast_2d, ravel
from autodidax.primitives.comparison import equal
from autodidax.primitives.convert import astype
from autodidax.primitives.scatter import check_cast
from autodidax.primitives.select import where
from autodidax.primitives.shape import reshape
from autodidax.primitives.sorting import searchsorted


def _counted(index: Any, weights: Any, size: int) -> Any:
    """How often each number below `size` stands in an index, or the sums of their weights; others do not count."""
    amount = np.ones(shape_of(index), np.intp) if weights is None else weights
    return at(np.zeros(size, dtype_of(amount)))[index].add(amount, mode="drop")


def _plain_bincount(x: Any, /, weights: Any = None, minlength: Any = 0, *, length: Any = None) -> Any:
    if length is None:
        return np.bincount(x, weights, minlength)
    return np.bincount(x, weights, length)[:length]


@function_for(_plain_bincount)
def bincount(x: Any, /, weights: Any = None, minlength: Any = 0, *, length: Any = None) -> Any:
    """How often each number from 0 to max(x) stands in a vector of integers, or the sums of their weights.

    As in JAX, `length` fixes the length of the result, which jit and vmap need to be told; larger numbers than that are
    left out. Differentiable in the weights.

    Source: numpy.bincount, jax.numpy.bincount.
    """
    x = operand(x)
    if len(shape_of(x)) != 1:
        raise ValueError("object of too small depth for desired array" if not shape_of(x) else "object too deep")
    if dtype_of(x).kind not in "iub":
        raise TypeError(f"Cannot cast array data from {dtype_of(x)!r} to dtype('int64') according to the rule 'safe'")
    if operator.index(minlength) < 0:
        raise ValueError("'minlength' must not be negative")
    values = known_value(x)
    if values is not None and np.any(values < 0):
        raise ValueError("'list' argument must have no negative elements")
    if length is None:
        if values is None:
            raise errors.ConcretizationTypeError(
                f"bincount: the size of the result depends on the values of {describe(x)}, which are not known",
                mend="give the size, as bincount(x, length=n) of autodidax.numpy",
            )
        length = max(int(np.max(values, initial=-1)) + 1, minlength)
    if weights is not None:
        weights = astype(operand(weights), np.float64)
        if shape_of(weights) != shape_of(x):
            raise ValueError("The weights and list don't have the same length.")
    # a negative number would count from the end
    return _counted(x if values is not None else where(x < 0, length, x), weights, length)


def _outer_edges(a: Any, limits: Any) -> tuple[Any, Any]:
    """The first and the last edge: the given ones, or the extrema of the data, moved apart where they are equal."""
    if limits is not None:
        first, last = (operand(v) for v in limits)
    elif get_aval(a).size == 0:
        first, last = 0, 1
    else:
        first, last = min_of(a), max_of(a)
    low, high = known_value(first), known_value(last)
    if low is None or high is None:
        same = equal(first, last)
        return where(same, first - 0.5, first), where(same, last + 0.5, last)
    if low > high:
        raise ValueError("max must be larger than min in range parameter.")
    if not (np.isfinite(low) and np.isfinite(high)):
        kind = "supplied" if limits is not None else "autodetected"
        raise ValueError(f"{kind} range of [{low}, {high}] is not finite")
    return (first - 0.5, last + 0.5) if low == high else (first, last)


def _edges(a: Any, bins: Any, limits: Any, weights: Any) -> Any:
    """The edges of the bins of `histogram`."""
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
        values, span = known_value(a), None if limits is None else tuple(map(known_value, limits))
        if values is None or (span is not None and None in span):
            raise errors.ConcretizationTypeError(
                f"histogram: the number of bins of the estimator {bins!r} depends on values that are not known",
                mend="give the number of bins",
            )
        bins = len(np.histogram_bin_edges(values, bins, span)) - 1
    elif holds_tracer(bins) or np.ndim(bins) > 0:
        bins = operand(bins)
        if len(shape_of(bins)) != 1:
            raise ValueError("`bins` must be 1d, when an array")
        values = known_value(bins)
        if values is not None and np.any(values[:-1] > values[1:]):
            raise ValueError("`bins` must increase monotonically, when an array")
        return bins
    try:
        count = operator.index(bins)
    except TypeError as error:
        raise TypeError("`bins` must be an integer, a string, or an array") from error
    if count < 1:
        raise ValueError("`bins` must be positive, when an integer")
    first, last = _outer_edges(a, limits)
    kinds = [v if type(v) in (int, float) else dtype_of(v) for v in (first, last)]
    dtype = np.result_type(*kinds, dtype_of(a))
    edges = linspace(first, last, count + 1, dtype=np.result_type(dtype, float) if dtype.kind in "iub" else dtype)
    values = known_value(edges)
    if values is not None and np.any(values[:-1] >= values[1:]):
        raise ValueError(f"Too many bins for data range. Cannot create {count} finite-sized bins.")
    return edges


def _raveled(a: Any, weights: Any) -> tuple[Any, Any]:
    a = operand(a)
    if dtype_of(a).kind == "b":
        warnings.warn("Converting input from bool to uint8 for compatibility.", RuntimeWarning, stacklevel=4)
        a = astype(a, np.uint8)
    if weights is not None:
        weights = operand(weights)
        if shape_of(weights) != shape_of(a):
            raise ValueError("weights should have the same shape as a.")
        weights = ravel(weights)
    return ravel(a), weights


def _bin_numbers(edges: Any, a: Any) -> Any:
    """The number of the bin of each entry; -1 and len(edges) - 1 below and above, the last edge in the last bin."""
    inside = searchsorted(edges, a, "right") - 1
    return where(equal(a, edges[-1]), inside - 1, inside)


@numpy_function
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of the bins that `histogram` counts in: (bins + 1,).

    They have derivatives in the extrema of the data, or the range, where `bins` is a number. An estimator by name needs
    known values.

    Source: numpy.histogram_bin_edges.
    """
    a, weights = _raveled(a, weights)
    return _edges(a, bins, range, weights)


@numpy_function
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple[Any, Any]:
    """How many entries lie in each bin, or the sums of their weights, and the edges of the bins: (bins,), (bins + 1,).

    Counts are piecewise constant in the data; the weights have derivatives, and so have the edges (hence densities).

    Source: numpy.histogram.
    """
    a, weights = _raveled(a, weights)
    edges = _edges(a, bins, range, weights)
    index = _bin_numbers(edges, a)
    size = shape_of(edges)[0] - 1
    count = _counted(where(index < 0, size, index), weights, size)
    if not density:
        return count, edges
    return count / astype(diff(edges), np.float64) / sum_of(count), edges


@numpy_function
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, list[Any]]:
    """As `histogram` for points (n, d), or d vectors of coordinates: counts (bins, ..., bins), and a list of edges.

    Source: numpy.histogramdd.
    """
    if isinstance(sample, list | tuple) or len(shape_of(operand(sample))) != 2:
        sample = atleast_2d(operand(sample)).T
    sample = operand(sample)
    n, d = shape_of(sample)
    if not hasattr(bins, "__len__"):
        bins = d * [bins]
    elif len(bins) != d:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    if range is None:
        range = (None,) * d
    elif len(range) != d:
        raise ValueError("range argument must have one entry per dimension")
    columns = [sample[:, k] for k in np.arange(d)]
    edges = [_edges_of_axis(k, c, b, r) for k, (c, b, r) in enumerate(zip(columns, bins, range, strict=True))]
    shape = tuple(shape_of(e)[0] - 1 for e in edges)
    flat: Any = np.zeros(n, np.intp)
    outside: Any = np.zeros(n, bool)
    for column, edge, size in zip(columns, edges, shape, strict=True):
        index = _bin_numbers(edge, column)
        outside = outside | (index < 0) | (index >= size)
        flat = flat * size + index
    total = math.prod(shape)
    if weights is not None:
        check_cast("histogramdd", operand(weights), np.dtype(np.float64))
        weights = astype(operand(weights), np.float64)
        if shape_of(weights) != (n,):
            raise errors.ShapeError(
                f"histogramdd: weights of shape {shape_of(weights)} of {n} points", mend="give one weight a point"
            )
    counts = astype(_counted(where(outside, total, flat), weights, total), np.float64)
    hist = reshape(counts, shape=shape)
    if density:
        sum_of_all = sum_of(hist)
        for k, edge in enumerate(edges):
            width = diff(edge)
            hist = hist / reshape(width, shape=tuple(size if i == k else 1 for i, size in enumerate(shape)))
        hist = hist / sum_of_all
    return hist, edges


def _edges_of_axis(k: int, column: Any, bins: Any, limits: Any) -> Any:
    if holds_tracer(bins) or np.ndim(bins) > 0:
        bins = operand(bins)
        if len(shape_of(bins)) != 1:
            raise ValueError(f"`bins[{k}]` must be a scalar or 1d array")
        values = known_value(bins)
        if values is not None and np.any(values[:-1] > values[1:]):
            raise ValueError(f"`bins[{k}]` must be monotonically increasing, when an array")
        return bins
    if bins < 1:
        raise ValueError(f"`bins[{k}]` must be positive, when an integer")
    try:
        count = operator.index(bins)
    except TypeError as error:
        raise TypeError(f"`bins[{k}]` must be an integer, when a scalar") from error
    return linspace(*_outer_edges(column, limits), count + 1)


@numpy_function
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Any, Any, Any]:
    """As `histogram` for points of the plane, given by their coordinates: counts (bins, bins), edges of x, edges of y.

    Source: numpy.histogram2d.
    """
    x, y = operand(x), operand(y)
    if not shape_of(x) or not shape_of(y):
        raise errors.ShapeError("histogram2d: a number in the place of coordinates", mend="give arrays of one axis")
    if shape_of(x)[0] != shape_of(y)[0]:
        raise ValueError("x and y must have the same length.")
    if isinstance(bins, Tracer) or (hasattr(bins, "__len__") and len(bins) not in (1, 2)):
        bins = [operand(bins), operand(bins)]
    hist, edges = histogramdd([x, y], bins, range, density, weights)
    return hist, edges[0], edges[1]


__all__ = ["bincount", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]
