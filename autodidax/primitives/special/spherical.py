"""Spherical Bessel functions of integer order; their recurrences divide by no argument, so they are right at 0 too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.special.polynomials import constant_in, lowered


def _samples(low: float, high: float, *extra: Any) -> Callable[..., Any]:
    def samples(rng):
        for n in (0, 1, 4):
            yield sample(n, rng.uniform(low, high, 3))
        yield sample(np.arange(3)[:, None], rng.uniform(low, high, 3), name="broadcast")
        yield sample(2, rng.uniform(low, high))
        yield sample(2, rng.uniform(low, high, (0, 2)))
        yield sample(1, rng.uniform(low, high, 3).astype(np.float32))
        yield sample(1, rng.uniform(low, high, 2) + 0.7j, name="complex")
        yield from extra

    return samples


def _spherical(function: Any, slope: Any, low: float, *extra: Any) -> Pointwise:
    name = function.__name__
    return pointwise(
        name, lambda n, x: function(n, x), nin=2, module=__name__, samples=_samples(low, 4.0, *extra), complex_ok=False,
        products=(constant_in(name, "order", 2), lambda t, _z, n, x: t * slope(n, x)),
    )  # fmt: skip


def jn_slope(n: Any, x: Any) -> Any:
    """The derivative of spherical_jn. Source: https://dlmf.nist.gov/10.51."""
    return (n * spherical_jn(lowered(n), x) - (n + 1) * spherical_jn(n + 1, x)) / (2 * n + 1)


def yn_slope(n: Any, x: Any) -> Any:
    """The derivative of spherical_yn."""
    return (n * spherical_yn(lowered(n), x) - (n + 1) * spherical_yn(n + 1, x)) / (2 * n + 1)


def in_slope(n: Any, x: Any) -> Any:
    """The derivative of spherical_in."""
    return (n * spherical_in(lowered(n), x) + (n + 1) * spherical_in(n + 1, x)) / (2 * n + 1)


def kn_slope(n: Any, x: Any) -> Any:
    """The derivative of spherical_kn."""
    return (n * spherical_kn(lowered(n), x) + (n + 1) * spherical_kn(n + 1, x)) / (-2 * n - 1)


_AT_ZERO = sample(np.array([0, 1, 2, 5]), np.array([0.0, 0.0, -1e-4, 1e-3]), name="at 0, tiny")
_FAR = sample(np.array([0, 3]), np.array([40.0, 25.0]), name="large")
spherical_jn: Pointwise = _spherical(sc.spherical_jn, jn_slope, 0.5, _AT_ZERO, _FAR)
spherical_yn: Pointwise = _spherical(sc.spherical_yn, yn_slope, 0.5, _FAR)
spherical_in: Pointwise = _spherical(sc.spherical_in, in_slope, 0.5, _AT_ZERO)
spherical_kn: Pointwise = _spherical(sc.spherical_kn, kn_slope, 0.5)
