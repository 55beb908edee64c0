"""Comparisons and logic: piecewise constant, so their derivative is zero."""

from __future__ import annotations

import numpy as np

from autodidax.core.primitive import pointwise, sample


def _samples(rng):
    for shapes in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0,), ()), ((2, 3), ())]:
        yield sample(rng.normal(size=shapes[0]), rng.normal(size=shapes[1]))
    yield sample(np.arange(3), np.array([0, 2, 2]))


def _bool_samples(rng):
    for shapes in [((), ()), ((3,), (3,)), ((2, 1), (3,))]:
        yield sample(rng.random(shapes[0]) < 0.5, rng.random(shapes[1]) < 0.5)


def _not_samples(rng):
    yield sample(rng.random((2, 3)) < 0.5)


def _compare(name, ufunc):
    return pointwise(name, ufunc, nin=2, zero_derivative=True, samples=_samples, module=__name__)


def _logic(name, ufunc):
    return pointwise(name, ufunc, nin=2, zero_derivative=True, samples=_bool_samples, module=__name__)


greater = _compare("gt", np.greater)
greater_equal = _compare("ge", np.greater_equal)
less = _compare("lt", np.less)
less_equal = _compare("le", np.less_equal)
equal = _compare("eq", np.equal)
not_equal = _compare("ne", np.not_equal)
logical_and = _logic("and", np.logical_and)
logical_or = _logic("or", np.logical_or)
logical_xor = _logic("xor", np.logical_xor)
logical_not = pointwise("not", np.logical_not, zero_derivative=True, samples=_not_samples, module=__name__)
