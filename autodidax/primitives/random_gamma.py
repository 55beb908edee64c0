"""Gamma variates, and how they vary with their parameter.

A sample x of gamma(a) is an implicit function of a: the distribution function F(a, x) stays at its level, so that
dx/da = -(dF/da) / (dF/dx).

Source: Marsaglia, Tsang, A simple method for generating gamma variables (2000), with the bits used as in
jax.random.gamma; Figurnov, Mohamed, Mnih, Implicit reparameterization gradients (2018).
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.avals import ShapedArray
from autodidax.core.primitive import Pointwise, Primitive, pointwise, sample
from autodidax.primitives import random_philox, threefry
from autodidax.primitives.random_bits import (
    GENERATORS,
    both_mapped,
    normal_from_unit,
    rows_of,
    sample_keys,
    unit_interval,
)

# the derivative of a sample in its parameter

_SERIES_BELOW = 30.0  # the largest parameter whose lower tail is summed as a series
_SERIES_TO = 3.0  # up to there the terms of the series cancel little, whatever the parameter
_CHUNK = 4096


def _quadrature() -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights for integrands that fall like exp(-z) or exp(-z*z) from z = 0 on: pieces of Gauss-Legendre."""
    edges = (0.0, 0.75, 2.0, 4.5, 9.0, 17.0, 29.0, 46.0)
    x, w = np.polynomial.legendre.leggauss(14)
    halves = [(0.5 * (high - low), 0.5 * (high + low)) for low, high in itertools.pairwise(edges)]
    return np.concatenate([c + h * x for h, c in halves]), np.concatenate([h * w for h, _ in halves])


_NODES, _WEIGHTS = _quadrature()


def _by_series(a: np.ndarray, log_x: np.ndarray) -> np.ndarray:
    """From the power series of F: all terms are positive for x below a + 1/2."""
    x = np.exp(log_x)
    term, total = np.ones_like(a), np.ones_like(a)
    harmonic, weighted = np.zeros_like(a), np.zeros_like(a)
    for n in range(1, 1000):
        harmonic += 1.0 / (a + n)
        term *= x / (a + n)
        total += term
        weighted += term * harmonic
        if not np.any(term * (n + 1.0) > 1e-17 * total):
            break
    return (total * (sc.digamma(a + 1.0) - log_x) + weighted) / a


def _offset(a: np.ndarray, x: np.ndarray, log_x: np.ndarray) -> np.ndarray:
    """log(x) - digamma(a), with its digits where both are large and close."""
    close = (a > 30.0) & (np.abs(x - a) < 0.5 * a)
    near = np.log1p(np.where(close, (x - a) / a, 0.0)) + (np.log(a) - sc.digamma(a))
    return np.where(close, near, log_x - sc.digamma(a))


def _by_upper_tail(a: np.ndarray, log_x: np.ndarray) -> np.ndarray:
    """From the integral of (1 + v)**(a - 1) exp(-x v) over v > 0, which is 1 - F over the density and x."""
    x = np.exp(log_x)
    scale = 1.0 / (x - (a - 1.0) + np.sqrt(np.abs(a - 1.0)))
    v = scale[:, None] * _NODES
    log1p = np.log1p(v)
    fall = np.exp((a[:, None] - 1.0) * log1p - x[:, None] * v)
    return scale * (fall * (_offset(a, x, log_x)[:, None] + log1p) @ _WEIGHTS)


def _by_lower_tail(a: np.ndarray, log_x: np.ndarray) -> np.ndarray:
    """From the integral of exp(-a w + x (1 - exp(-w))) over w > 0, which is F over the density and x."""
    x = np.exp(log_x)
    scale = 1.0 / (np.maximum(a - x, 0.0) + np.sqrt(x + 1.0))
    w = scale[:, None] * _NODES
    fall = np.exp(-x[:, None] * np.expm1(-w) - a[:, None] * w)
    return scale * (fall * (w - _offset(a, x, log_x)[:, None]) @ _WEIGHTS)


def log_gamma_implicit_slope(a: np.ndarray, log_x: np.ndarray) -> np.ndarray:
    """Derivative of log(x) in a, where x is a sample of gamma(a): f64[n], f64[n] -> f64[n].

    The relative error is below 1e-12 for a from 1e-10 to 1e4. It is nan for a outside (0, inf), and for a sample of nan
    or inf.
    """
    out = np.full(a.shape, np.nan)
    valid = (a > 0) & (a < np.inf) & (log_x < np.inf)
    with np.errstate(over="ignore", under="ignore"):
        x = np.exp(np.where(valid, log_x, 0.0))
        lower = x <= np.maximum(a + 0.5, _SERIES_TO)
        for region, rule in (
            (valid & lower & (a <= _SERIES_BELOW), _by_series),
            (valid & lower & (a > _SERIES_BELOW), _by_lower_tail),
            (valid & ~lower, _by_upper_tail),
        ):
            places = np.flatnonzero(region)
            for start in range(0, len(places), _CHUNK):
                part = places[start : start + _CHUNK]
                out[part] = rule(a[part], log_x[part])
    return out


def _in_double(a: Any, x: Any) -> tuple[np.ndarray, np.ndarray, tuple[int, ...], np.dtype]:
    """Operands as rows of float64, the shape that they broadcast to, and the dtype of the result."""
    a, x = np.asarray(a), np.asarray(x)
    wide = [np.broadcast_to(v, np.broadcast_shapes(a.shape, x.shape)).astype(np.float64) for v in (a, x)]
    dtype = np.result_type(a, x)
    return wide[0].reshape(-1), wide[1].reshape(-1), wide[0].shape, dtype if dtype.kind == "f" else np.dtype(float)


def _loggamma_grad(a: Any, log_x: Any) -> Any:
    a, log_x, shape, dtype = _in_double(a, log_x)
    finite = np.maximum(log_x, -np.finfo(float).max)  # a sample that fell off the scale: the slope does so too
    return log_gamma_implicit_slope(a, finite).reshape(shape).astype(dtype)[()]


def gamma_implicit_slope(a: Any, x: Any) -> Any:
    """Derivative of x in a, where x is a sample of gamma(a): (...), (...) -> (...), broadcasting; 0 at x = 0.

    The relative error is below 1e-12 in float64; float32 is computed in float64.

    >>> float(gamma_implicit_slope(1.0, 2.0))  # for a = 1 the distribution function is 1 - exp(-x)
    1.63169146...
    """
    a, x, shape, dtype = _in_double(a, x)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = x * log_gamma_implicit_slope(a, np.log(np.where(x == 0, 1.0, x)))
    slope[(x == 0) & (a > 0)] = 0.0
    return slope.reshape(shape).astype(dtype)[()]


_ONCE = "the second derivative of a gamma sample in its parameter is not known to this package"


def _slope_samples(rng: np.random.Generator, log_space: bool) -> Any:
    for shapes in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0,), ()), ((2, 3), ())]:
        a = rng.uniform(0.1, 40.0, shapes[0])
        x = rng.uniform(0.1, 60.0, shapes[1])
        yield sample(a, np.log(x) if log_space else x)
    yield sample(np.array([0.5, 2.0, 50.0], np.float32), np.array([0.25, 4.0, 40.0], np.float32))


random_gamma_grad: Pointwise = pointwise(
    "random_gamma_grad", gamma_implicit_slope, nin=2, nondifferentiable=_ONCE, module=__name__, complex_ok=False,
    samples=lambda rng: _slope_samples(rng, False),
)  # fmt: skip
random_loggamma_grad: Pointwise = pointwise(
    "random_loggamma_grad", _loggamma_grad, nin=2, nondifferentiable=_ONCE, module=__name__, complex_ok=False,
    samples=lambda rng: _slope_samples(rng, True),
)  # fmt: skip


# the samples


def _threefry_numbers(keys: np.ndarray, place: int, dtype: np.dtype) -> np.ndarray:
    """The uniform number of each key."""
    return unit_interval(threefry.bits_at(keys, place, 8 * dtype.itemsize), dtype)


def _child(keys: np.ndarray, place: int) -> np.ndarray:
    """The key that splitting has at one place, of each key."""
    return threefry.fold_in(keys, np.full(len(keys), place, np.uint32))


def _positive_cubes(keys: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squares of normal numbers z with 1 + c z > 0, and (1 + c z)**3: the first such z of each key's stream."""
    z, v = np.empty_like(c), np.full_like(c, -1)
    waiting = np.arange(len(c))
    while waiting.size:
        z[waiting] = normal_from_unit(_threefry_numbers(_child(keys, 1), 0, c.dtype))
        v[waiting] = 1 + z[waiting] * c[waiting]
        again = v[waiting] <= 0
        waiting, keys = waiting[again], _child(keys[again], 0)
    return z * z, v * v * v


def _threefry_log_cubes(keys: np.ndarray, d: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The factor V of an accepted sample d V, for each key and shape."""
    cubes = np.ones_like(d)
    waiting = np.arange(len(d))
    while waiting.size:
        square, cube = _positive_cubes(_child(keys, 1), c[waiting])
        level = _threefry_numbers(_child(keys, 2), 0, d.dtype)
        cubes[waiting] = cube
        single = d.dtype.type
        again = (level >= 1 - single(0.0331) * (square * square)) & (
            np.log(level) >= square * single(0.5) + d[waiting] * (1 - cube + np.log(cube))
        )
        waiting, keys = waiting[again], _child(keys[again], 0)
    return cubes


def _threefry_gamma(keys: np.ndarray, a: np.ndarray, log_space: bool) -> np.ndarray:
    """Samples of gamma(a), or their logarithms, of a key and a parameter each: u32[m, 2], f[m] -> f[m]."""
    single = a.dtype.type
    large = a >= 1
    d = np.where(large, a, a + 1) - single(1.0 / 3.0)
    c = single(1.0 / 3.0) / np.sqrt(d)
    cubes = _threefry_log_cubes(_child(keys, 0), d, c)
    u = _threefry_numbers(_child(keys, 1), 0, a.dtype)
    return _boosted(d * cubes, np.log(d) + np.log(cubes), u, a, large, log_space)


def _boosted(
    x: np.ndarray, log_x: np.ndarray, u: np.ndarray, a: np.ndarray, large: np.ndarray, log_space: bool
) -> np.ndarray:
    """A sample of gamma(a) from x of gamma(a + 1) where a < 1: x (1 - u)**(1 / a)."""
    inverse = a.dtype.type(1) / a
    if log_space:
        log_u = np.log1p(-u)
        return log_x + np.where(large | (log_u == 0), 0, log_u * inverse)
    return x * np.where(large, 1, (1 - u) ** inverse)


def _philox_gamma(key: np.ndarray, a: np.ndarray, log_space: bool) -> np.ndarray:
    """Samples of gamma(a), or their logarithms, of one key: u32[4], f[n] -> f[n]."""
    generator = random_philox.generator(key)
    large = a >= 1
    x = generator.standard_gamma(np.where(np.isnan(a), 1.0, np.where(large, a, a + 1)))
    return _boosted(x, np.log(x), generator.random(a.shape), a, large, log_space)


def _gamma(key: Any, a: Any, *, log_space: bool, generator: str) -> Any:
    a = np.asarray(a)
    w = key.shape[-1]
    keys = key.reshape(-1, w)
    work = a.astype(np.float32) if a.dtype == np.float16 else a
    rows = rows_of(key, np.where(work >= 0, work, work.dtype.type(np.nan)))
    with np.errstate(all="ignore"):
        if generator == threefry.NAME:
            each = GENERATORS[generator].split(keys, rows.shape[1]).reshape(-1, w)
            out = _threefry_gamma(each, rows.reshape(-1), log_space)
        else:
            out = np.empty(rows.shape)
            for i, row in enumerate(rows.astype(np.float64)):
                out[i] = _philox_gamma(keys[i], row, log_space)
    return out.reshape(a.shape).astype(a.dtype, copy=False)[()]


class RandomGamma(Primitive):
    """Samples of gamma(a), or their logarithms: u32[*k, w], f[*k, ...] -> f[*k, ...]; nan for a negative a.

    The derivative is that of a sample which stays at its level of the distribution function. The samples of
    neighbouring parameters under one key need not be at the same level: differences of them show another slope.
    """

    def impl(self, key, a, *, log_space, generator):
        return _gamma(key, a, log_space=log_space, generator=generator)

    def abstract_eval(self, key, a, *, log_space, generator):
        return ShapedArray(a.shape, a.dtype)

    def jvp(self, out, primals, tangents, *, log_space, generator):
        slope = random_loggamma_grad if log_space else random_gamma_grad
        return tangents[1] * slope(primals[1], out)

    def batch(self, args, dims, **params):
        return self(*both_mapped(args, dims), **params), 0

    def samples(self, rng):
        for name in GENERATORS:
            for log_space in (False, True):
                for lead, shape in [((), ()), ((), (2, 3)), ((2,), (2, 3)), ((2,), (2,)), ((), (0, 2)), ((0,), (0, 2))]:
                    yield sample(
                        sample_keys(rng, *lead, generator=name), rng.uniform(0.3, 40.0, shape), log_space=log_space,
                        generator=name, nonsmooth=True,
                    )  # fmt: skip
                yield sample(
                    sample_keys(rng, generator=name), np.array([0.5, 3.0], np.float32), log_space=log_space,
                    generator=name, nonsmooth=True,
                )  # fmt: skip


random_gamma = RandomGamma("random_gamma")
