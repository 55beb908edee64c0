"""The zeta functions of Riemann and Hurwitz, with the derivatives in both operands."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.primitive import sample
from autodidax.primitives.special import jets
from autodidax.primitives.special.partials import Partials, draws

#: the Bernoulli numbers B_2, B_4, ..., B_24
BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330,
    854513 / 138, -236364091 / 2730,
)  # fmt: skip


class _Probe:
    """An operand that answers which ufunc it was given to."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> np.ufunc:
        return ufunc


def ufunc_of(function: Any, *operands: Any) -> np.ufunc:
    """The ufunc that a Python function of SciPy calls on its operands, of which the first is left out."""
    return function(_Probe(), *operands)


def euler_maclaurin(s: np.ndarray, q: np.ndarray, order: int) -> np.ndarray:
    """The jet in s of the Hurwitz zeta function, for real s > -2 or complex s not far to the left, and q > 0.

    Source: https://dlmf.nist.gov/25.11.5, with its sum over the Bernoulli numbers cut off after the twelfth.
    """
    terms = 7 + int(min(np.max(np.nan_to_num(abs(s)), initial=0.0), 1000.0))
    start, scale = q + terms, np.array([1.0 / math.factorial(k) for k in range(order + 1)])[:, None]
    powers = np.arange(order + 1)[:, None]

    def decay(base: np.ndarray) -> np.ndarray:
        """The jet of base**-s."""
        return base**-s * (-np.log(base)) ** powers * scale

    total = decay(q.astype(np.result_type(q, s)))
    for k in range(1, terms):
        total = total + decay(q + k)
    rest = start * jets.reciprocal(jets.linear(s - 1.0, (order,), 0), 1)
    rest[0] += 0.5
    rising = jets.linear(s, (order,), 0)
    for m, b in enumerate(BERNOULLI, 1):
        rest = rest + rising * (b / math.factorial(2 * m) * start ** (1.0 - 2 * m))
        rising = jets.times_linear(jets.times_linear(rising, s + 2 * m - 1, 0), s + 2 * m, 0)
    return total + jets.product(decay(start), rest, 1)


def sine_of_pi(z: Any) -> Any:
    """sin(pi z), exactly 0 at the integers."""
    whole = np.round(np.real(z))
    return np.sin(math.pi * (z - whole)) * (1.0 - 2.0 * (whole % 2))


def sine_jet(z: np.ndarray, order: int, slope: float) -> np.ndarray:
    """The Taylor coefficients of sin(pi (z + slope e)) in e."""
    cycle = sine_of_pi(z), sine_of_pi(z + 0.5)
    step = math.pi * slope
    return np.stack([cycle[k % 2] * (-1.0) ** (k // 2) * step**k / math.factorial(k) for k in range(order + 1)])


def _reflected(s: np.ndarray, order: int) -> np.ndarray:
    """The jet of Riemann's function left of the critical strip, from the right: https://dlmf.nist.gov/25.4.1."""
    log_tau = math.log(2.0 * math.pi)
    loggamma = sc.loggamma if s.dtype.kind == "c" else sc.gammaln
    logs = [(s - 1.0) * log_tau + loggamma(1.0 - s)]
    for k in range(1, order + 1):
        logs.append((-1.0) ** k * _psi(k - 1, 1.0 - s) / math.factorial(k))
    if order:
        logs[1] = logs[1] + log_tau
    scale = jets.exponential(np.stack(logs), 1)
    other = euler_maclaurin(1.0 - s, np.ones(s.shape), order) * (-1.0) ** np.arange(order + 1)[:, None]
    return 2.0 * jets.product(jets.product(sine_jet(s / 2.0, order, 0.5), scale, 1), other, 1)


def _psi(k: int, z: np.ndarray) -> np.ndarray:
    """The k-th derivative of digamma, right of 1."""
    return sc.digamma(z) if k == 0 else (-1.0) ** (k + 1) * math.factorial(k) * _right_zeta(k + 1, z)


def _right_zeta(n: int, z: np.ndarray) -> np.ndarray:
    return euler_maclaurin(np.full(z.shape, float(n)), z, 0)[0]


class HurwitzZeta(Partials):
    """zeta(s, q), the sum of (k + q)**-s over k = 0, 1, ..., and its derivatives in s.

    That in q is -s zeta(s + 1, q), so that orders in q are 0.

    Source: scipy.special.zeta.
    """

    ufunc = numpy_function = ufunc_of(sc.zeta, 1.0)
    nin = 2

    def evaluate(self, s, q, *, orders):
        inside = (s.real > 1.0) & (q > 0.0)
        jet = euler_maclaurin(np.where(inside, s, 2.0), np.where(inside, q, 1.0), orders[0])
        return np.where(inside, jets.derivative(jet, orders[:1]), np.nan)

    def slope(self, k, out, args, orders):
        s, q = args
        n = orders[0]
        if k == 0:
            return self(s, q, orders=(n + 1, 0))
        shifted = -s * self(s + 1, q, orders=(n, 0))
        return shifted - n * self(s + 1, q, orders=(n - 1, 0)) if n else shifted

    def samples(self, rng):
        yield from draws(rng, [(1.5, 4.0), (0.5, 3.0)], *[{"orders": (n, 0)} for n in (0, 1, 2)])
        for shapes in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0,), ())]:
            yield sample(rng.integers(2, 5, shapes[0]), rng.uniform(0.5, 3.0, shapes[1]))
        yield sample(2.5, rng.uniform(0.5, 3.0, 3).astype(np.float32))
        yield sample(3, np.array([-1.5, -0.3]), name="negative")
        yield sample(2.5 + 1j * rng.normal(size=3), rng.uniform(0.5, 3.0, 3), name="complex")
        yield sample(np.array([1.2, 12.0]), np.array([30.0, 0.8]), orders=(1, 0), name="near 1, large")


class RiemannZeta(Partials):
    """Riemann's zeta function and its derivatives. Source: scipy.special.zeta."""

    ufunc = numpy_function = ufunc_of(sc.zeta)

    def evaluate(self, s, *, orders):
        (n,) = orders
        left = s.real < -0.5  # nearer to 0 the reflection is 0 times infinity
        out = euler_maclaurin(np.where(left, 2.0, s), np.ones(s.shape), n)
        if left.any():
            out = np.where(left, _reflected(np.where(left, s, -1.0), n), out)
        return jets.derivative(out, orders)

    def samples(self, rng):
        yield from draws(rng, [(1.5, 4.0)], *[{"orders": (n,)} for n in (0, 1, 2)])
        for n in (0, 1):
            yield sample(np.array([-7.5, -4.0, -0.3, 0.0, 0.5, 0.9, 30.0]), orders=(n,), name="all over")
            yield sample(np.array([-3.5 + 1j, 0.5 + 14.0j, 2.0 - 1j]), orders=(n,), name="complex")
        yield sample(rng.uniform(1.5, 4.0, 3), name="order 0")


zeta = HurwitzZeta("zeta")
riemann_zeta = RiemannZeta("riemann_zeta")


class ZetaLessOne(Partials):
    """zeta(s) - 1 of real s; the derivatives are those of zeta. Source: scipy.special.zetac."""

    ufunc = numpy_function = sc.zetac

    def evaluate(self, s, *, orders):
        return riemann_zeta.evaluate(s, orders=orders)

    def samples(self, rng):
        yield from draws(rng, [(1.5, 4.0)], *[{"orders": (n,)} for n in (0, 1)])


zetac = ZetaLessOne("zetac")
