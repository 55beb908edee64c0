"""Comparisons, logic and tests of floating-point kind: piecewise constant, so their derivative is zero."""

from __future__ import annotations

import numpy as np

from autodidax.core.primitive import pointwise, sample

_SHAPES = [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0,), ()), ((2, 3), ())]


def _samples(rng):
    for one, other in _SHAPES:
        yield sample(rng.normal(size=one), rng.normal(size=other))
    yield sample(np.arange(3), np.array([0, 2, 2]))
    yield sample(rng.normal(size=3).astype(np.float32), 0.5, name="Python scalar")
    yield sample(np.array([np.nan, 0.0, np.inf]), np.array([np.nan, -0.0, np.inf]), nonsmooth=True, name="nan, inf")


def _equality_samples(rng):
    yield from _samples(rng)
    yield sample(np.array([1 + 1j, 2.0]), np.array([1 + 1j, 2 - 1j]), nonsmooth=True, name="complex")


def _logic_samples(rng):
    for one, other in _SHAPES:
        yield sample(rng.random(one) < 0.5, rng.random(other) < 0.5)
    yield sample(np.array([0.0, 1.5, -2.0]), np.array([1, 0, 3]), nonsmooth=True, name="numbers")


def _not_samples(rng):
    for shape in [(), (2, 3), (0,)]:
        yield sample(rng.random(shape) < 0.5)
    yield sample(np.array([0.0, 1.5]), nonsmooth=True, name="numbers")


def _kind_samples(rng):
    for shape in [(), (2, 3), (0,)]:
        yield sample(rng.normal(size=shape))
    yield sample(np.array([np.nan, np.inf, -np.inf, -0.0, 1.0], np.float32), nonsmooth=True, name="nan, inf")


def _compare(name, ufunc, samples=_samples):
    return pointwise(name, ufunc, nin=2, zero_derivative=True, samples=samples, module=__name__)


def _test(name, ufunc, samples=_kind_samples):
    return pointwise(name, ufunc, zero_derivative=True, samples=samples, module=__name__)


greater = _compare("gt", np.greater)
greater_equal = _compare("ge", np.greater_equal)
less = _compare("lt", np.less)
less_equal = _compare("le", np.less_equal)
equal = _compare("eq", np.equal, _equality_samples)
not_equal = _compare("ne", np.not_equal, _equality_samples)
logical_and = _compare("and", np.logical_and, _logic_samples)
logical_or = _compare("or", np.logical_or, _logic_samples)
logical_xor = _compare("xor", np.logical_xor, _logic_samples)
logical_not = _test("not", np.logical_not, _not_samples)
isnan = _test("isnan", np.isnan)
isinf = _test("isinf", np.isinf)
isfinite = _test("isfinite", np.isfinite)
signbit = _test("signbit", np.signbit)
