"""Student's t distribution in its degrees of freedom, and the statistics of Kolmogorov and Smirnov."""

from __future__ import annotations

import math

import numpy as np
import scipy.special as sc

from autodidax import errors
from autodidax.core.primitive import pointwise, sample
from autodidax.primitives.elementwise import divide
from autodidax.primitives.special import jets
from autodidax.primitives.special.gammas import polygamma_difference_values
from autodidax.primitives.special.incomplete import panels
from autodidax.primitives.special.partials import Partials, draws


def _log_density_jet(df: np.ndarray, fall: np.ndarray, order: int) -> np.ndarray:
    """The jet in the degrees of freedom of the logarithm of the density, less its value.

    `fall` is log(1 + t**2 / df), of shape (..., n); df is of shape (...,).
    """
    out = np.zeros((order + 1, *fall.shape))
    d = df[..., None]
    for k in range(1, order + 1):
        scale = 0.5**k
        if k == 1:
            norm = 0.5 * (polygamma_difference_values(0, df / 2.0, np.full(df.shape, 0.5)) - 1.0 / df)
        else:
            norm = scale * polygamma_difference_values(k - 1, df / 2.0, np.full(df.shape, 0.5))
            norm = norm + 0.5 * (-1.0) ** k * math.factorial(k - 1) / df**k

        # -(d + 1) / 2 times log(1 + t**2 / d), whose derivatives are those of log(d + t**2) - log(d)
        def slope(n: int) -> np.ndarray:
            return fall if n == 0 else (-1.0) ** (n - 1) * math.factorial(n - 1) / d**n * np.expm1(-n * fall)

        out[k] = (norm[..., None] - 0.5 * (d + 1.0) * slope(k) - 0.5 * k * slope(k - 1)) / math.factorial(k)
    return out


def _density(df: np.ndarray, t: np.ndarray) -> np.ndarray:
    scale = sc.poch(df / 2.0, 0.5) / np.sqrt(df * math.pi)
    return scale * np.exp(-0.5 * (df + 1.0) * np.log1p(t * t / df))


_ALL_OVER = np.array([0.4, 1.0, 5.0, 200.0]), np.array([3.0, 0.0, -1.5, 2.0])


class StudentDensity(Partials):
    """The density of Student's t at t, and its derivatives in the degrees of freedom."""

    like = sc.stdtr
    nin = 2

    def evaluate(self, df, t, *, orders):
        n = orders[0]
        jet = jets.exponential(_log_density_jet(df, np.log1p(t * t / df)[:, None], n), 1)[:, :, 0] * _density(df, t)
        return np.where(df > 0.0, jets.derivative(jet, (n,)), np.nan)

    def slope(self, k, out, args, orders):
        df, t = args
        n = orders[0]
        if k == 0:
            return self(df, t, orders=(n + 1, 0))
        total = df + t * t
        slope = out * divide(df + 1.0, total)
        for i in range(1, n + 1):  # the derivatives of (df + 1) / (df + t**2) = 1 + (1 - t**2) / (df + t**2)
            rate = divide((-1.0) ** i * math.factorial(i) * (1.0 - t * t), total ** (i + 1))
            slope = slope + math.comb(n, i) * rate * self(df, t, orders=(n - i, 0))
        return -(t * slope)

    def samples(self, rng):
        for n in (0, 1, 2):
            yield sample(
                np.array([0.4, 1.0, 5.0, 200.0]), np.array([3.0, 0.0, -1.5, 2.0]), orders=(n, 0), name="all over"
            )
        yield from draws(rng, [(0.5, 6.0), (-2.0, 2.0)], {"orders": (1, 0)})


class StudentSlope(Partials):
    """The derivative of Student's distribution function in the degrees of freedom; order n is n + 1 of them.

    The tail is integrated, with t = sqrt(df) sinh(r), in which the density is a power of cosh(r).
    """

    like = sc.stdtr
    nin = 2

    def evaluate(self, df, t, *, orders):
        n = orders[0] + 1
        inside = (df > 0.0) & np.isfinite(df) & np.isfinite(t)
        d, x = np.where(inside, df, 1.0), np.where(inside, abs(t), 1.0)
        root = np.sqrt(d)
        start = np.arcsinh(x / root)
        # cosh(r) is exp(45 / df) times as large as at the start
        rise = 45.0 / d
        log_cosh = np.logaddexp(start, -start) - math.log(2.0) + rise
        length = (
            np.where(log_cosh < 30.0, np.arccosh(np.exp(np.minimum(log_cosh, 30.0))), log_cosh + math.log(2.0)) - start
        )
        breaks = [length / 8, length / 3, length * 0.67] + [np.full(d.shape, s) for s in (1.0, 3.0, 8.0, 20.0)]
        s, weights = panels(breaks, length, 14)
        r = start[:, None] + s
        log_cosh = np.logaddexp(r, -r) - math.log(2.0)
        ratio = np.exp(-d[:, None] * log_cosh) * weights
        norm = root * sc.poch(d / 2.0, 0.5) / np.sqrt(d * math.pi)
        jet = jets.exponential(_log_density_jet(d, 2.0 * log_cosh, n), 1)[n]
        tail = norm * np.sum(jet * ratio, axis=-1) * math.factorial(n)
        out = np.where(inside, -np.sign(t) * tail, np.where(np.isnan(df + t), np.nan, 0.0))
        return np.where(df > 0.0, out, np.nan)

    def slope(self, k, out, args, orders):
        n = orders[0]
        return self(*args, orders=(n + 1, 0)) if k == 0 else student_density(*args, orders=(n + 1, 0))

    def samples(self, rng):
        for n in (0, 1):
            yield sample(
                np.array([0.4, 1.0, 5.0, 200.0]), np.array([3.0, 0.0, -1.5, 2.0]), orders=(n, 0), name="all over"
            )
        yield from draws(rng, [(0.5, 6.0), (-2.0, 2.0)], {"orders": (0, 0)})


student_density = StudentDensity("student_density")
student_slope = StudentSlope("student_slope")


class Kolmogorov(Partials):
    """The tail of the two-sided statistic in the limit, and its derivatives: 2 sum (-1)**(k-1) exp(-2 k**2 y**2).

    Below 1 it is computed from the other form of that theta function. Source: scipy.special.kolmogorov.
    """

    ufunc = numpy_function = sc.kolmogorov

    def evaluate(self, y, *, orders):
        low = y < 1.0
        far = jets.linear(np.where(low, 1.0, y), orders, 0)
        squares = jets.product(far, far, 1)
        tail = sum(2.0 * (-1.0) ** (k - 1) * jets.exponential(-2.0 * k * k * squares, 1) for k in range(1, 8))
        inverse = jets.reciprocal(jets.linear(np.where(low & (y > 0.0), y, 1.0), orders, 0), 1)
        squares = jets.product(inverse, inverse, 1)
        body = np.zeros_like(squares)
        for k in range(1, 16, 2):
            body = body + jets.exponential(-((k * math.pi) ** 2) / 8.0 * squares, 1)
        near = -math.sqrt(2.0 * math.pi) * jets.product(inverse, body, 1)
        # below 0.04 all of it is 0
        out = np.where(low, np.where(y > 0.03, near, 0.0), tail)
        return np.where(np.isnan(y), np.nan, jets.derivative(out, orders))

    def samples(self, rng):
        for n in (0, 1, 2):
            yield sample(np.array([0.3, 0.8, 0.99, 1.01, 2.5]), orders=(n,), name="all over")
        yield from draws(rng, [(0.4, 2.0)], {"orders": (1,)})


kolmogorov = Kolmogorov("kolmogorov")
kolmogi = pointwise(
    "kolmogi", sc.kolmogi, lambda y, _: divide(1.0, kolmogorov(y, orders=(1,))), domain=(0.1, 0.9), complex_ok=False
)
_MOST = 20000


class Smirnov(Partials):
    """The tail of the one-sided statistic of n observations, a polynomial in d between the fractions k / n.

    Source: scipy.special.smirnov; Birnbaum and Tingey's sum.
    """

    ufunc = numpy_function = sc.smirnov
    nin = 2
    constant = {0: "the number of observations is a whole number"}

    def evaluate(self, n, d, *, orders):
        (order,) = orders[1:]
        inside = (n >= 1.0) & (d > 0.0) & (d < 1.0)
        count, x = np.where(inside, np.trunc(n), 1.0)[:, None], np.where(inside, d, 0.5)[:, None]
        most = np.max(count, initial=1.0)
        if most > _MOST:
            raise errors.NondifferentiableError(
                f"smirnov: the derivative is a sum of up to n terms, and is not computed for n = {most:g}",
                mend=f"use kolmogorov(sqrt(n) * d) for n above {_MOST}",
            )
        total = np.zeros((order + 1, n.size))
        for start in range(0, int(most) + 1, 512):
            j = start + np.arange(512.0)
            up, down = x + j / count, 1.0 - x - j / count
            counts = (j <= count) & (down > 0.0)
            up, down = np.where(counts, up, 1.0), np.where(counts, down, 1.0)
            pairs = sc.gammaln(count + 1.0) - sc.gammaln(j + 1.0) - sc.gammaln(np.where(counts, count - j, 0.0) + 1.0)
            logs = [pairs + (j - 1.0) * np.log(up) + (count - j) * np.log(down)]
            for k in range(1, order + 1):
                logs.append(((-1.0) ** (k - 1) * (j - 1.0) / up**k - (count - j) / down**k) / k)
            jet = np.where(counts, jets.exponential(np.stack(logs), 1), 0.0)
            total += np.sum(jets.product(jets.linear(x, (order,), 0), jet, 1), axis=-1)
        return np.where(inside, jets.derivative(total, (order,)), np.where(np.isnan(d), np.nan, 0.0))

    def samples(self, rng):
        for k in (0, 1, 2):
            yield sample(np.array([1, 5, 30]), np.array([0.3, 0.55, 0.17]), orders=(0, k), name="all over")
        yield sample(3, rng.uniform(0.4, 0.6, 3).astype(np.float32), orders=(0, 1))
        yield sample(3, rng.uniform(0.4, 0.6), orders=(0, 0))
        yield sample(np.array([[1], [2]]), rng.uniform(0.52, 0.6, 3), orders=(0, 1))
        yield sample(np.array(4), rng.uniform(0.3, 0.6, (0, 2)), orders=(0, 1))


smirnov = Smirnov("smirnov")


class SmirnovQuantile(Partials):
    """The d at which smirnov(n, d) is p. Source: scipy.special.smirnovi."""

    ufunc = numpy_function = sc.smirnovi
    nin = 2
    constant = Smirnov.constant

    def slope(self, k, out, args, orders):
        return divide(1.0, smirnov(args[0], out, orders=(0, 1)))

    def samples(self, rng):
        yield sample(np.array([1, 5, 30]), np.array([0.3, 0.55, 0.17]), name="all over")
        yield sample(3, np.array([0.2, 0.4], np.float32))
        yield sample(np.array([[1], [2]]), rng.uniform(0.1, 0.2, 3))
        yield sample(np.array(4), rng.uniform(0.3, 0.6, (0, 2)))


smirnovi = SmirnovQuantile("smirnovi")
