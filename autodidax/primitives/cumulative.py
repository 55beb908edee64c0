"""Running sums, products, extrema and logsumexps along one axis, and the linear recurrence behind their derivatives.

Products and extrema have derivatives without a division: all of them are solutions of h[i] = a[i] h[i-1] + b[i].
So zeros in a product need no special case, in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.comparison import equal, not_equal
from autodidax.primitives.convert import astype
from autodidax.primitives.elementwise import exp
from autodidax.primitives.select import where
from autodidax.primitives.shape import all_mapped, concatenate


def flipped(x: Any, axis: int) -> Any:
    """A view with one axis reversed."""
    return x[(slice(None),) * axis + (slice(None, None, -1),)]


def shifted(x: Any, axis: int, reverse: bool, first: Any) -> Any:
    """x moved on by one along an axis, `first` coming in; with `reverse` towards the front."""
    shape = shape_of(x)
    n = shape[axis]
    if n == 0:
        return x
    block = np.full((*shape[:axis], 1, *shape[axis + 1 :]), first, dtype_of(x))
    if reverse:
        return concatenate(x[(slice(None),) * axis + (slice(1, n),)], block, axis=axis)
    return concatenate(block, x[(slice(None),) * axis + (slice(0, n - 1),)], axis=axis)


def _samples(rng, low=-1.5, high=1.5, complex_ok=True):
    for shape, axis, reverse in [((3, 4), 1, True), ((3, 4), 0, False), ((5,), 0, False), ((5,), 0, True)]:
        yield sample(rng.uniform(low, high, shape), axis=axis, reverse=reverse)
    yield sample(rng.uniform(low, high, (2, 3, 2)), axis=1, reverse=False)
    yield sample(rng.uniform(low, high, (1,)), axis=0, reverse=False, name="one entry")
    yield sample(rng.normal(size=(0, 4)), axis=0, reverse=False, name="empty")
    yield sample(rng.normal(size=(2, 0)), axis=0, reverse=True, name="empty beside")
    yield sample(rng.uniform(low, high, 3).astype(np.float32), axis=0, reverse=False, name="float32")
    if complex_ok:
        yield sample(rng.uniform(low, high, 3) + 0.5j, axis=0, reverse=False, name="complex")


class _Cumulative(Primitive):
    """ufunc.accumulate along one axis, from the front or (reverse) from the back: same shape."""

    ufunc: np.ufunc

    def impl(self, x, *, axis, reverse):
        if reverse:
            return flipped(self._accumulate(flipped(x, axis), axis), axis)
        return self._accumulate(x, axis)

    def _accumulate(self, x, axis):
        return self.ufunc.accumulate(x, axis)

    def abstract_eval(self, x, *, axis, reverse):
        return ShapedArray(x.shape, self._accumulate(np.empty(0, x.dtype), 0).dtype)

    def batch(self, args, dims, *, axis, reverse):
        return self(args[0], axis=axis + 1, reverse=reverse), 0


class CumSum(_Cumulative):
    """Running sum along one axis; integers and booleans as NumPy widens them."""

    linear = True

    def _accumulate(self, x, axis):
        return np.cumsum(x, axis)

    def transpose(self, ct, x, *, axis, reverse):  # the lower-triangular matrix of ones becomes the upper one
        return [cumsum(ct, axis=axis, reverse=not reverse)]

    def samples(self, rng):
        yield from _samples(rng)
        yield sample(np.array([3, 4], np.int8), axis=0, reverse=False, name="integers widen")


class CumProd(_Cumulative):
    """Running product along one axis; its derivative holds at zeros too, in every order."""

    def _accumulate(self, x, axis):
        return np.cumprod(x, axis)

    def jvp(self, out, primals, tangents, *, axis, reverse):
        (x,), (t,) = primals, tangents
        before = shifted(out, axis, reverse, 1)
        return linear_recurrence(x, before * t, axis=axis, reverse=reverse)

    def samples(self, rng):
        yield from _samples(rng)
        yield sample(np.array([[2.0, 0.0, 3.0, 4.0], [0.0, 1.5, 0.0, 2.0]]), axis=1, reverse=False, name="zeros")
        yield sample(np.array([2.0, 0.0, 3.0, 0.0, 4.0]), axis=0, reverse=True, name="zeros, reverse")
        yield sample(np.array([3, 4], np.int8), axis=0, reverse=False, name="integers widen")


class _CumExtremum(_Cumulative):
    """Running extremum along one axis; entries so far that tie share the derivative equally."""

    def jvp(self, out, primals, tangents, *, axis, reverse):
        (x,), (t,) = primals, tangents
        # between its changes the running extremum is constant: sums over the entries that attain it start anew there
        goes_on = equal(out, shifted(out, axis, reverse, np.nan))
        chosen = equal(x, out)
        keep = astype(goes_on, dtype_of(out))
        share = linear_recurrence(keep, where(chosen, t, 0), axis=axis, reverse=reverse)
        count = linear_recurrence(keep, astype(chosen, dtype_of(out)), axis=axis, reverse=reverse)
        return share / where(equal(count, 0), np.nan, count)

    def samples(self, rng):
        yield from _samples(rng, complex_ok=False)
        ties = np.array([[1.0, 3.0, 3.0, 2.0, 3.0], [2.0, 2.0, 1.0, 2.0, 4.0]])
        yield sample(ties, axis=1, reverse=False, nonsmooth=True, name="ties")
        yield sample(ties, axis=1, reverse=True, nonsmooth=True, name="ties, reverse")


class CumMax(_CumExtremum):
    """Running maximum along one axis; ties share the derivative equally."""

    ufunc = np.maximum


class CumMin(_CumExtremum):
    """Running minimum along one axis; ties share the derivative equally."""

    ufunc = np.minimum


class CumLogSumExp(_Cumulative):
    """Running log of the sum of exponentials along one axis; -inf where all entries so far are -inf, with derivative
    0 there."""

    ufunc = np.logaddexp

    def jvp(self, out, primals, tangents, *, axis, reverse):
        (x,), (t,) = primals, tangents
        base = where(equal(out, -np.inf), 0, out)
        before = shifted(out, axis, reverse, -np.inf)
        return linear_recurrence(exp(before - base), exp(x - base) * t, axis=axis, reverse=reverse)

    def samples(self, rng):
        yield from _samples(rng, complex_ok=False)
        yield sample(np.array([1000.0, 1001.0, -1000.0]), axis=0, reverse=False, name="large")
        yield sample(np.array([-np.inf, -np.inf, 1.0, 2.0]), axis=0, reverse=False, name="-inf")


class LinearRecurrence(Primitive):
    """The solution of h[i] = a[i] h[i-1] + b[i] along one axis, with h[-1] = 0; with `reverse` from the back.

    a and b have one shape, which is that of h. Linear in b; its derivative in a is a recurrence of the same kind.
    """

    linear_in = (1,)

    def impl(self, a, b, *, axis, reverse):
        dtype = np.result_type(a, b)
        h = np.array(b, dtype)
        rows, factors = np.moveaxis(h, axis, 0), np.moveaxis(a, axis, 0)
        if reverse:
            rows, factors = rows[::-1], factors[::-1]
        if h.ndim == 1 and h.size and dtype == np.float64:
            total, out = 0.0, []
            for factor, term in zip(factors.tolist(), rows.tolist(), strict=True):
                total = factor * total + term
                out.append(total)
            rows[:] = out
        else:
            for i in range(1, len(rows)):
                rows[i] += factors[i] * rows[i - 1]
        return h

    def abstract_eval(self, a, b, *, axis, reverse):
        return ShapedArray(b.shape, np.result_type(a.dtype, b.dtype))

    def jvp(self, out, primals, tangents, *, axis, reverse):
        a, (ta, tb) = primals[0], tangents
        terms = tb
        if ta is not None:
            from_a = ta * shifted(out, axis, reverse, 0)
            terms = from_a if tb is None else from_a + tb
        return linear_recurrence(a, terms, axis=axis, reverse=reverse)

    def transpose(self, ct, a, b, *, axis, reverse):
        # row i of the transposed system reads the factor of row i + 1
        return [None, linear_recurrence(shifted(a, axis, not reverse, 0), ct, axis=axis, reverse=not reverse)]

    def batch(self, args, dims, *, axis, reverse):
        return linear_recurrence(*all_mapped(args, dims), axis=axis + 1, reverse=reverse), 0

    def samples(self, rng):
        for s in _samples(rng):
            (a,) = s.args
            yield sample(a, rng.normal(size=a.shape).astype(a.dtype), name=s.name, **s.params)
        yield sample(np.array([1.0, 0.0, 2.0, 0.0]), rng.normal(size=4), axis=0, reverse=False, name="zeros")


cumsum = CumSum("cumsum", numpy_function=np.cumsum)
cumprod = CumProd("cumprod", numpy_function=np.cumprod)
cummax = CumMax("cummax")
cummin = CumMin("cummin")
cumlogsumexp = CumLogSumExp("cumlogsumexp")
linear_recurrence = LinearRecurrence("linear_recurrence")


def exclusive_products(x: Any, axis: int) -> Any:
    """For each entry the product of all others along the axis, without a division: right at any number of zeros."""
    left = shifted(cumprod(x, axis=axis, reverse=False), axis, False, 1)
    right = shifted(cumprod(x, axis=axis, reverse=True), axis, True, 1)
    return left * right


def run_starts(ids: Any) -> Any:
    """Where a new value begins in a one-dimensional array: bool of the same shape, true at the first entry."""
    n = shape_of(ids)[0]
    return concatenate(np.ones(min(n, 1), bool), not_equal(ids[1:], ids[: max(n - 1, 0)]), axis=0)


def exclusive_run_products(x: Any, starts: Any) -> Any:
    """As `exclusive_products`, within the runs of a one-dimensional array that begin where `starts` is true."""

    def products_before(begins: Any, reverse: bool) -> Any:
        factors = where(begins, 0, shifted(x, 0, reverse, 0))
        return linear_recurrence(factors, astype(begins, dtype_of(x)), axis=0, reverse=reverse)

    ends = shifted(starts, 0, True, True)
    return products_before(starts, False) * products_before(ends, True)
