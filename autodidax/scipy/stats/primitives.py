"""Primitives under the densities, each with a rule that composition would lose the digits of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.elementwise import also
from autodidax.primitives.special.logarithms import expit

tanh_of_half: Pointwise = also(
    pointwise(
        "tanh_of_half", lambda x: np.tanh(0.5 * x), lambda _, x: 2.0 * expit(x) * expit(-x), complex_ok=False,
        module=__name__,
    ),
    sample(np.array([-60.0, -8.0, 8.0, 60.0]), name="tails"),
)  # fmt: skip
# the logistic density is symmetric; its logarithm's slope -tanh(x/2) is no difference of two logistic functions
log_logistic_density = also(
    pointwise(
        "log_logistic_density", lambda x: sc.log_expit(x) + sc.log_expit(-x), lambda _, x: -tanh_of_half(x),
        complex_ok=False, module=__name__,
    ),
    sample(np.array([-700.0, -1e-8, 1e-8, 700.0]), name="tails, middle"),
)  # fmt: skip


def smallest(tail: Callable[..., np.ndarray], rising: bool) -> Callable[..., np.ndarray]:
    """The smallest integer k >= 0 with tail(k, ...) >= q where the tail rises, else with tail(k, ...) <= q."""

    def reached(k: np.ndarray, q: np.ndarray, shapes: tuple[np.ndarray, ...]) -> np.ndarray:
        value = tail(k, *shapes)
        return value >= q if rising else value <= q

    def impl(q: Any, *shapes: Any) -> Any:
        dtype = np.result_type(q, *shapes, 0.0)
        wide = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (q, *shapes)))
        level, rest = wide[0], tuple(wide[1:])
        low = np.full(level.shape, -1.0)  # not reached; `high` is
        high = np.zeros(level.shape)
        with np.errstate(all="ignore"):
            while True:
                short = ~reached(high, level, rest) & (high < _LARGEST)
                if not short.any():
                    break
                low, high = np.where(short, high, low), np.where(short, 2.0 * high + 1.0, high)
            while True:
                apart = high - low > 1.0
                if not apart.any():
                    return np.where(high >= _LARGEST, np.inf, high).astype(dtype)[()]
                middle = np.floor(0.5 * (low + high))
                there = reached(middle, level, rest)
                high, low = np.where(apart & there, middle, high), np.where(apart & ~there, middle, low)

    return impl


_LARGEST = 2.0**52


def quantile(
    name: str, tail: Callable[..., np.ndarray], rising: bool, parameters: list[tuple[float, float]]
) -> Pointwise:
    """The quantile function of a distribution on 0, 1, ...: piecewise constant; `parameters` are for samples."""
    return pointwise(
        name, smallest(tail, rising), nin=1 + len(parameters), zero_derivative=True, complex_ok=False, module=__name__,
        domain=[(0.1, 0.9), *parameters],
    )  # fmt: skip


def _binomial_cdf(k: np.ndarray, n: np.ndarray, p: np.ndarray) -> np.ndarray:
    inside = k < n
    return np.where(inside, sc.betaincc(k + 1.0, np.where(inside, n - k, 1.0), p), 1.0)


def _binomial_sf(k: np.ndarray, n: np.ndarray, p: np.ndarray) -> np.ndarray:
    inside = k < n
    return np.where(inside, sc.betainc(k + 1.0, np.where(inside, n - k, 1.0), p), 0.0)


poisson_ppf = quantile("poisson_ppf", lambda k, mu: sc.gammaincc(k + 1.0, mu), True, [(0.5, 9.0)])
poisson_isf = quantile("poisson_isf", lambda k, mu: sc.gammainc(k + 1.0, mu), False, [(0.5, 9.0)])
binom_ppf = quantile("binom_ppf", _binomial_cdf, True, [(5.0, 9.0), (0.2, 0.8)])
binom_isf = quantile("binom_isf", _binomial_sf, False, [(5.0, 9.0), (0.2, 0.8)])
nbinom_ppf = quantile("nbinom_ppf", lambda k, n, p: sc.betainc(n, k + 1.0, p), True, [(2.0, 9.0), (0.2, 0.8)])
nbinom_isf = quantile("nbinom_isf", lambda k, n, p: sc.betaincc(n, k + 1.0, p), False, [(2.0, 9.0), (0.2, 0.8)])
geom_ppf = quantile("geom_ppf", lambda k, p: -np.expm1(sc.xlog1py(k, -p)), True, [(0.1, 0.9)])
geom_isf = quantile("geom_isf", lambda k, p: np.exp(sc.xlog1py(k, -p)), False, [(0.1, 0.9)])
