"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.interpreters import dtype_of
from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.comparison import equal, greater, less, logical_or
from autodidax.primitives.elementwise import absolute, also, divide, exp, hypot, log, log1p, sign
from autodidax.primitives.select import where
from autodidax.primitives.special.gammas import digamma_difference, gammaln
from autodidax.primitives.special.incomplete import betainc
from autodidax.scipy.stats.distributions import Symmetric, choose, positive

_LOG_ROOT_2_PI = 0.5 * math.log(2.0 * math.pi)
_RATIO = (-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224, -5461 / 425984, 929569 / 15728640)
_NORMAL = 1e17  # from so many degrees of freedom on it is the normal distribution, to all digits


def _log_density(y: Any, df: Any) -> Any:
    return _normalization(df) - _LOG_ROOT_2_PI - 0.5 * (df + 1.0) * _log_growth(y, df)


def _normalization(df: Any) -> Any:
    """log gamma(z + 1/2) - log gamma(z) - log(z)/2 for z = df/2, by its asymptotic series where z is large."""
    large = greater(df, 30.0)
    z = where(large, 1.0, 0.5 * df)
    near = gammaln(z + 0.5) - gammaln(z) - 0.5 * log(z)
    u = 2.0 / where(large, df, 30.0)
    square = u * u
    total = _RATIO[-1]
    for c in reversed(_RATIO[:-1]):
        total = total * square + c
    return where(large, total * u, near)


def _log_growth(y: Any, df: Any) -> Any:
    """log(1 + y**2/df), without overflow."""
    z = y * df**-0.5
    far = greater(absolute(z), 1.0)
    near = log1p(where(far, 0.0, z) ** 2)
    return where(far, 2.0 * log(hypot(1.0, where(far, z, 1.0))), near)


def _slope_in_df(_: Any, y: Any, df: Any) -> Any:
    """The derivative of the distribution function in df.

    It is that of the incomplete beta function in its parameter df/2 and in its variable, df/(df + y**2) in the tails
    and y**2/(df + y**2) in the middle. At y = 0 it is linear in y: the derivative of the density in df times y.
    """
    half, square = dtype_of(df).type(0.5), y * y
    at_0, far = equal(y, 0.0), greater(square, df)
    tail = where(far, square, 3.0)
    bulk = where(logical_or(far, at_0), 0.1, square)
    in_tail = betainc(half * df, half, divide(df, df + tail), orders=(1, 0, 0))
    in_bulk = -betainc(half, half * df, divide(bulk, df + bulk), orders=(0, 1, 0))
    slope = -0.25 * sign(y) * where(far, in_tail, in_bulk) - y * exp(_log_density(y, df)) / (2.0 * df)
    by_df = 0.5 * digamma_difference(half * df, half) - 0.5 / df
    return where(at_0, where(at_0, y, 0.0) * exp(_log_density(0.0 * df, df)) * by_df, slope)


student_cdf: Pointwise = also(
    pointwise(
        "student_cdf", lambda y, df: sc.stdtr(df, y), lambda _, y, df: exp(_log_density(y, df)), _slope_in_df,
        domain=[(-3.0, 3.0), (0.5, 6.0)], complex_ok=False, module=__name__,
    ),
    sample(np.array([-30.0, -3.0, 0.0, 2.0, 9.0]), np.array([2.5, 40.0, 3.0, 0.7, 5.0]), name="tails, middle"),
)  # fmt: skip


def _quantile(q: Any, df: Any) -> Any:
    """The root of df (1 - w)/w, where w and 1 - w are quantiles of beta distributions: from the smaller of the two."""
    tail = 2.0 * np.minimum(q, 1.0 - q)
    half = np.asarray(0.5, np.result_type(q, df, 0.0))
    w, rest = sc.betaincinv(half * df, half, tail), sc.betainccinv(half, half * df, tail)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        w = np.where(w > np.finfo(w.dtype).tiny, w, 0.0)  # where it has underflown
        size = np.sqrt(df * np.where(rest < 0.5, rest / (1.0 - rest), (1.0 - w) / w))
    return np.copysign(size, q - 0.5)


student_ppf = pointwise(
    "student_ppf", lambda q, df: _quantile(q, df)[()], lambda y, _q, df: exp(-_log_density(y, df)),
    lambda y, _q, df: -_slope_in_df(None, y, df) * exp(-_log_density(y, df)),
    domain=[(0.1, 0.9), (0.5, 6.0)], complex_ok=False, module=__name__,
)  # fmt: skip
student_cdf.costly = student_ppf.costly = True  # their derivatives in df are those of betainc


class StudentT(Symmetric):
    """Student's t distribution of df degrees of freedom; the normal one for df = inf. Source: scipy.stats.t."""

    parameters = {"df": (positive, 1.0)}

    def checked(self, df: Any) -> tuple[Any, list[Any]]:
        valid, (df,) = super().checked(df)
        return valid, [choose(less(df, _NORMAL), df, _NORMAL)]

    def _logpdf(self, y: Any, df: Any) -> Any:
        return _log_density(y, df)

    def _cdf(self, y: Any, df: Any) -> Any:
        return student_cdf(y, df)

    def _logcdf(self, y: Any, df: Any) -> Any:
        right = greater(y, 0.0)
        tail = student_cdf(where(right, -y, y), df)
        return where(right, log1p(-tail), log(tail))

    def _ppf(self, q: Any, df: Any) -> Any:
        return student_ppf(q, df)


t = StudentT("t")

__all__ = ["t"]
