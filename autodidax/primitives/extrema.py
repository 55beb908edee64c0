"""The larger or smaller of two values, and clip. Operands that tie share the derivative equally."""

from __future__ import annotations

import numpy as np

from autodidax.core.avals import Masked
from autodidax.core.interpreters import Tracer, dtype_of
from autodidax.core.primitive import pointwise, sample
from autodidax.primitives.comparison import equal, logical_and, logical_or
from autodidax.primitives.convert import astype
from autodidax.primitives.select import where


def _share(t, z, own, other):
    """What an operand takes of t: all of it where it is the result, half at a tie, else a structural zero.

    A nan that won is the result too: `z` need not equal itself.
    """
    return _part(t, logical_or(own == z, own != own), own, other)


def _share_of_numbers(t, z, own, other):
    """The same where a nan loses."""
    return _part(t, equal(own, z), own, other)


def _part(t, chosen, own, other):
    tie = equal(own, other)
    if isinstance(tie, Tracer) or tie.any():
        t = t * (1.0 - 0.5 * astype(tie, dtype_of(t)))
    return Masked(where(chosen, t, 0), chosen)


def _samples(rng):
    for shapes in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0,), ()), ((2, 3), ()), ((0, 1), (1, 2))]:
        yield sample(rng.normal(size=shapes[0]), rng.normal(size=shapes[1]))
    yield sample(rng.normal(size=3).astype(np.float32), rng.normal(size=3).astype(np.float32))
    yield sample(rng.normal(size=3).astype(np.float32), 0.0, name="Python scalar")
    yield sample(rng.normal(size=3), np.arange(3) - 1, name="integers")
    yield sample(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 3.0]), nonsmooth=True, name="ties")
    yield sample(np.array([np.nan, 1.0, np.nan]), np.array([1.0, np.nan, np.nan]), nonsmooth=True, name="nan")


def _extremum(name, ufunc, share):
    return pointwise(
        name, ufunc, nin=2, samples=_samples, module=__name__, complex_ok=False,
        products=(lambda t, z, x, y: share(t, z, x, y), lambda t, z, x, y: share(t, z, y, x)),
    )  # fmt: skip


maximum = _extremum("max", np.maximum, _share)
minimum = _extremum("min", np.minimum, _share)
fmax = _extremum("fmax", np.fmax, _share_of_numbers)
fmin = _extremum("fmin", np.fmin, _share_of_numbers)


def _through_both(t, z, own, other, high, inner):
    outer = _share(t, z, inner, high)
    share = _share(outer.val, inner, own, other)
    return Masked(share.val, logical_and(share.mask, outer.mask))


def _clip_by_x(t, z, x, low, high):
    return _through_both(t, z, x, low, high, maximum(x, low))


def _clip_by_low(t, z, x, low, high):
    return _through_both(t, z, low, x, high, maximum(x, low))


def _clip_by_high(t, z, x, low, high):
    return _share(t, z, high, maximum(x, low))


def _clip_samples(rng):
    for shapes in [((), (), ()), ((5,), (), ()), ((2, 3), (3,), (2, 1)), ((0,), (), (1,))]:
        x, low, high = (rng.normal(size=shape) for shape in shapes)
        yield sample(2 * x, -abs(low) - 0.1, abs(high) + 0.1)
    yield sample(rng.normal(size=5).astype(np.float32), -0.5, 0.5, name="Python bounds")
    yield sample(rng.normal(size=3), 1.0, -1.0, name="bounds that cross")
    yield sample(np.array([-1.0, 0.0, 1.0]), np.array(-1.0), np.array(1.0), nonsmooth=True, name="ties")


# minimum(maximum(x, low), high), also where the bounds cross
clip = pointwise(
    "clip", np.clip, nin=3, samples=_clip_samples, module=__name__, complex_ok=False,
    products=(_clip_by_x, _clip_by_low, _clip_by_high),
)  # fmt: skip
