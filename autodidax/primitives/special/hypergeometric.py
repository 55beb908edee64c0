"""The hypergeometric functions 0F1, 1F1, 2F1 and U, with the derivatives in the parameters and in the variable.

Derivatives in the variable alone are SciPy's functions of raised parameters. Those in the parameters come from the
power series at the origin, whose terms are jets in the parameters, continued along the ray to the point by Taylor
series of the differential equation. That is done twice, with steps of different length: where the two disagree,
rounding errors have grown, and an error is raised instead of a number. All derivatives of U, of which SciPy's values
have ten digits in places, are integrals of positive terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax import errors
from autodidax.core.primitive import sample
from autodidax.primitives.special import jets
from autodidax.primitives.special.gammas import rgamma
from autodidax.primitives.special.partials import Partials, draws

_TERMS = 400  # of a series at most
_STEPS = 600
_TOLERANCE = 1e-9


def _rising(a: np.ndarray, k: int) -> np.ndarray:
    """a (a + 1) ... (a + k - 1)"""
    out = np.ones_like(a)
    for i in range(k):
        out = out * (a + i)
    return out


class _Equation:
    """A function w(z) of the jets of its parameters: its series at the origin and its differential equation."""

    parameters: tuple[np.ndarray, ...]
    reach: Any  # how far from the origin the series there is summed
    cap: float = math.inf  # of the length of a step

    def __init__(self, *parameters: np.ndarray):
        self.parameters = parameters

    def grow(self, term: np.ndarray, k: int) -> np.ndarray:
        """The k+1-st coefficient of the series at the origin from the k-th."""
        raise NotImplementedError

    def recur(self, here: np.ndarray, ahead: np.ndarray, k: int, z: np.ndarray) -> np.ndarray:
        """The k+2-nd coefficient of the series at z from the k-th and the k+1-st."""
        raise NotImplementedError

    def radius(self, z: np.ndarray) -> np.ndarray:
        """The distance from z to the nearest singularity."""
        return abs(z)

    def at(self, z: np.ndarray, orders: tuple[int, ...], pace: float) -> np.ndarray:
        """The jet in the parameters of the derivative in z of the last order."""
        *parameter_orders, order = orders
        far = abs(z) > self.reach * pace
        reach = np.where(far, self.reach, 1.0)
        near = np.where(far, z * (reach * pace / np.where(far, abs(z), 1.0)), z)
        start = jets.constant(np.ones_like(z), parameter_orders).astype(z.dtype)
        w, dw, high = self._series(start, near, order)
        if not far.any():
            return high
        moved = near
        for _ in range(_STEPS):
            rest = z - moved
            if not np.any(rest):
                break
            length = np.minimum(np.minimum(0.5 * self.radius(moved), self.cap) * pace, abs(rest))
            length = np.where(length < abs(rest), length, abs(rest))
            h = np.where(abs(rest) > length, rest / np.where(rest == 0, 1.0, abs(rest)) * length, rest)
            w, dw = self._step(w, dw, np.where(far, moved, 0.5), np.where(far, h, 0.0))
            moved = np.where(abs(rest) > length, moved + h, z)
        else:
            w = np.full_like(w, np.nan)
        coefficients = [w, dw]
        for k in range(order - 1):
            coefficients.append(self.recur(coefficients[k], coefficients[k + 1], k, np.where(far, z, 0.5)))
        return np.where(far, coefficients[order] * math.factorial(order), high)

    def _series(self, term: np.ndarray, z: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value, derivative and derivative of some order of the series at the origin."""
        coefficients = [term]
        while len(coefficients) < _TERMS and not _converged(coefficients, z, order):
            for _ in range(_STRIDE):
                coefficients.append(self.grow(coefficients[-1], len(coefficients) - 1))
        value, size = _summed(coefficients, z, 0)
        slope, more = _summed(coefficients, z, 1)
        high, most = _summed(coefficients, z, order)
        # where the terms cancel to nothing there is no number
        largest = np.maximum(np.maximum(abs(value), abs(slope)), abs(high))
        lost = np.finfo(term.dtype).eps * (size + more + most) > 0.1 * _TOLERANCE * largest
        lost = np.max(lost, axis=tuple(range(term.ndim - 1)))
        return value, slope, np.where(lost, np.nan, high)

    def _step(self, w: np.ndarray, dw: np.ndarray, z: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Value and derivative at z + h from those at z."""
        coefficients = [w, dw]
        while len(coefficients) < _TERMS and not _converged(coefficients, h, 1):
            for _ in range(_STRIDE):
                coefficients.append(self.recur(coefficients[-2], coefficients[-1], len(coefficients) - 2, z))
        return _summed(coefficients, h, 0)[0], _summed(coefficients, h, 1)[0]


_STRIDE = 8  # terms of a series between tests of convergence


def _converged(coefficients: list[np.ndarray], z: np.ndarray, order: int) -> bool:
    """Whether the last two terms of the series, and of its derivative, are below the last digit of the largest."""
    if len(coefficients) <= _STRIDE:
        return False
    count = len(coefficients)
    powers = abs(z) ** np.arange(count)[:, None]
    size = abs(np.stack(coefficients)).reshape(count, -1, z.size).max(axis=1)
    size = size * powers * np.maximum(np.arange(count), 1.0)[:, None] ** order
    small = size[-2:].max(axis=0) <= 1e-20 * size.max(axis=0)
    return bool(np.all(small | ~np.isfinite(size).all(axis=0)))


def _summed(coefficients: list[np.ndarray], z: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """The derivative of this order of a power series, and the sum of the sizes of its terms."""
    ways = np.array([math.perm(k, order) for k in range(order, len(coefficients))], float)
    powers = z ** np.arange(len(ways))[:, None] * ways[:, None]
    stacked = np.stack(coefficients[order:])
    terms = stacked * powers.reshape(len(ways), *(1,) * (stacked.ndim - 2), -1)
    return np.sum(terms, axis=0), np.sum(abs(terms), axis=0)


def _pace(exponent: np.ndarray) -> np.ndarray:
    """The part of the way to a singularity that a step may take half of, where one solution goes like a power there."""
    return np.minimum(1.0, 16.0 / np.maximum(abs(exponent), 1.0))


class _Confluent(_Equation):
    """w = M(a, b, z), or exp(z) M(a, b, z) less the exponential: z w'' + (b - z) w' - a w = 0."""

    cap = 4.0

    def __init__(self, a: np.ndarray, b: np.ndarray, turned: bool, fixed: bool):
        super().__init__(a, b)
        ends = (a <= 0.0) & (a == np.round(a)) & fixed  # a polynomial, and all its derivatives
        self.reach = np.where(ends, np.inf, np.maximum(2.0, 0.5 * abs(b)))
        self.weights = ((-1.0, 1.0), (0.0, 1.0)) if turned else ((1.0, 0.0), (0.0, 1.0))

    def radius(self, z):
        return abs(z) * _pace(self.parameters[1])

    def grow(self, term, k):
        a, b = self.parameters
        return jets.over_affine(jets.times_affine(term, a + k, self.weights[0]), (b + k), self.weights[1]) / (k + 1)

    def recur(self, here, ahead, k, z):
        a, b = self.parameters
        out = jets.times_affine(here, a + k, self.weights[0])
        out -= (k + 1) * jets.times_affine(ahead, b + (k - z), self.weights[1])
        return out / (z * ((k + 1) * (k + 2)))


class _Limit(_Equation):
    """w = 0F1(b; z): z w'' + b w' - w = 0."""

    cap = 30.0

    def __init__(self, b: np.ndarray):
        super().__init__(b)
        self.reach = np.maximum(4.0, 2.0 * abs(b))

    def grow(self, term, k):
        return jets.over_affine(term, self.parameters[0] + k, (1.0,)) / (k + 1)

    def recur(self, here, ahead, k, z):
        out = here - (k + 1) * jets.times_affine(ahead, self.parameters[0] + k, (1.0,))
        return out / (z * ((k + 1) * (k + 2)))

    def radius(self, z):
        return np.minimum(abs(z) * _pace(self.parameters[0]), 4.0 * np.sqrt(abs(z)))


class _Gauss(_Equation):
    """w = F(a, b; c; z): z (1 - z) w'' + (c - (a + b + 1) z) w' - a b w = 0."""

    reach = 0.5

    def grow(self, term, k):
        a, b, c = self.parameters
        out = jets.times_affine(jets.times_affine(term, a + k, (1.0, 0.0, 0.0)), b + k, (0.0, 1.0, 0.0))
        return jets.over_affine(out, c + k, (0.0, 0.0, 1.0)) / (k + 1)

    def recur(self, here, ahead, k, z):
        a, b, c = self.parameters
        out = jets.times_affine(jets.times_affine(here, a + k, (1.0, 0.0, 0.0)), b + k, (0.0, 1.0, 0.0))
        first = jets.times_affine(ahead, c + k, (0.0, 0.0, 1.0))
        second = jets.times_affine(ahead, a + b + (2 * k + 1), (1.0, 1.0, 0.0))
        out -= (k + 1) * (first - z * second)
        return out / (z * (1.0 - z) * ((k + 1) * (k + 2)))

    def radius(self, z):
        a, b, c = self.parameters
        return np.minimum(abs(z) * _pace(c), abs(1.0 - z) * _pace(c - a - b))


def _agreed(name: str, where: str, compute: Callable[[float], np.ndarray], valid: np.ndarray) -> np.ndarray:
    """What two computations of different pace agree on; an error where they do not."""
    first, second = compute(1.0), compute(0.7)
    scale = np.max(abs(first), axis=tuple(range(first.ndim - 1)))
    off = ~(np.max(abs(first - second), axis=tuple(range(first.ndim - 1))) <= _TOLERANCE * scale) & valid
    if off.any():
        raise errors.NondifferentiableError(
            f"{name}: the derivative in its parameters cannot be computed to {_TOLERANCE:g} at {where}",
            mend="keep the parameters constant, e.g. by stop_gradient, or nearer to the origin",
        )
    return first


def _point(names: str, *values: np.ndarray) -> str:
    return f"{names} within " + ", ".join(f"{np.min(abs(v)):.3g} to {np.max(abs(v)):.3g}" for v in values)


def _long(z: np.ndarray) -> np.ndarray:
    """In the widest precision that there is."""
    return z.astype(np.clongdouble if z.dtype.kind == "c" else np.longdouble)


def _not_a_pole(b: np.ndarray) -> np.ndarray:
    """Whether a lower parameter is none of 0, -1, -2, ..."""
    return ~((b <= 0.0) & (b == np.round(b)))


class ConfluentLimit(Partials):
    """0F1(b; z), and its derivatives; z may be complex. Source: scipy.special.hyp0f1."""

    ufunc = numpy_function = sc.hyp0f1
    nin = 2

    def evaluate(self, b, z, *, orders):
        m, k = orders
        if m == 0:
            return sc.hyp0f1(b + k, z) / _rising(b, k)
        valid = _not_a_pole(b) & np.isfinite(b) & np.isfinite(z)
        equation = _Limit(_long(np.where(valid, b, 1.0)))
        u = _long(np.where(valid, z, 0.0))
        jet = _agreed("hyp0f1", _point("b and z", b, z), lambda pace: equation.at(u, orders, pace), valid)
        return np.where(valid, jets.derivative(jet, (m,)), np.nan)

    def samples(self, rng):
        b, z = np.array([0.5, 1.0, -1.3, 3.0]), np.array([1.5, -8.0, 0.3, 0.0])
        for orders in [(0, 0), (0, 1), (1, 1)]:
            yield sample(b, z, orders=orders, name="all over")
        yield sample(np.array([0.5, 1.7]), np.array([1.5 + 1j, -6.0 + 2j]), orders=(0, 0), name="complex")
        yield from draws(rng, [(0.5, 3.0), (-2.0, 2.0)], {"orders": (1, 0)})


class Confluent(Partials):
    """Kummer's function 1F1(a; b; z), and its derivatives; z may be complex. Source: scipy.special.hyp1f1."""

    ufunc = numpy_function = sc.hyp1f1
    nin = 3

    def evaluate(self, a, b, z, *, orders):
        *parameter_orders, k = orders
        if not any(parameter_orders):
            return sc.hyp1f1(a + k, b + k, z) * (_rising(a, k) / _rising(b, k))
        valid = _not_a_pole(b) & np.isfinite(a) & np.isfinite(b) & np.isfinite(z)
        a, b, z = _long(np.where(valid, a, 1.0)), _long(np.where(valid, b, 1.0)), _long(np.where(valid, z, 0.0))
        left = z.real < 0.0
        out = np.zeros(z.shape, z.dtype)
        for part, turned in ((~left, False), (left, True)):
            if part.any():
                p, q, u = a[part], b[part], z[part]
                out[part] = self._derivative(
                    q - p if turned else p, q, -u if turned else u, orders, turned, valid[part]
                )
        return np.where(valid, out, np.nan)

    def _derivative(
        self, a: np.ndarray, b: np.ndarray, z: np.ndarray, orders: tuple[int, ...], turned: bool, valid: np.ndarray
    ) -> np.ndarray:
        """The derivative; turned: by Kummer's M(a, b, z) = exp(z) M(b - a, b, -z), with a and z of the right side."""
        m, n, k = orders
        equation = _Confluent(a, b, turned, m == 0 and not turned)

        def at(order: int, pace: float) -> np.ndarray:
            return equation.at(z, (m, n, order), pace)

        def compute(pace: float) -> np.ndarray:
            if not turned:
                return at(k, pace)
            return np.exp(-z) * sum(math.comb(k, i) * (-1.0) ** i * at(i, pace) for i in range(k + 1))

        return jets.derivative(_agreed("hyp1f1", _point("a, b and z", a, b, z), compute, valid), (m, n))

    def samples(self, rng):
        a, b = np.array([0.5, 1.0, -1.3, -2.0]), np.array([1.5, 0.7, 3.0, 2.5])
        for orders in [(0, 0, 0), (0, 0, 1), (1, 0, 1), (0, 1, 0)]:
            yield sample(a, b, np.array([1.5, -8.0, 0.3, 6.0]), orders=orders, name="all over")
        yield sample(a, b, np.array([1.5 + 1j, -6.0 + 2j, 3j, 0.5 - 1j]), orders=(0, 0, 0), name="complex")
        yield from draws(rng, [(0.5, 3.0), (0.5, 3.0), (-2.0, 2.0)], {"orders": (1, 0, 0)})


class GaussHypergeometric(Partials):
    """2F1(a, b; c; z), and its derivatives; z may be complex, and is not on the cut from 1 to infinity.

    Source: scipy.special.hyp2f1; at z = 1 Gauss's sum, https://dlmf.nist.gov/15.4.20.
    """

    ufunc = numpy_function = sc.hyp2f1
    nin = 4

    def evaluate(self, a, b, c, z, *, orders):
        *parameter_orders, k = orders
        if not any(parameter_orders):
            return sc.hyp2f1(a + k, b + k, c + k, z) * (_rising(a, k) * _rising(b, k) / _rising(c, k))
        valid = _not_a_pole(c) & np.isfinite(a) & np.isfinite(b) & np.isfinite(c) & np.isfinite(z)
        valid &= (z.real < 1.0) | (z.imag != 0.0)
        p, q, r, u = (np.where(valid, x, y) for x, y in ((a, 1.0), (b, 1.0), (c, 1.0), (z, 0.0)))
        equation = _Gauss(_long(p), _long(q), _long(r))
        point, u = _point("a, b, c and z", a, b, c, z), _long(u)
        jet = _agreed("hyp2f1", point, lambda pace: equation.at(u, orders, pace), valid)
        out = np.where(valid, jets.derivative(jet, parameter_orders), np.nan)
        at_1 = (z == 1.0) & (c - a - b > k)
        if at_1.any():
            out[at_1] = _gauss_sum(a[at_1], b[at_1], c[at_1], orders)
        return out

    def samples(self, rng):
        a, b, c = np.array([0.5, 1.0, -1.3, -2.0]), np.array([1.5, 0.7, 0.4, 2.5]), np.array([2.5, 1.3, 1.6, 0.9])
        for orders in [(0, 0, 0, 0), (0, 0, 0, 1), (1, 0, 0, 1), (0, 1, 0, 0), (0, 0, 1, 0)]:
            yield sample(a, b, c, np.array([0.3, -8.0, 0.85, -0.6]), orders=orders, name="all over")
        z = np.array([0.3 + 0.5j, -2.0 + 2j, 1.5 + 1j, -0.5j])
        yield sample(a, b, c, z, orders=(0, 0, 0, 0), name="complex")
        yield from draws(rng, [(0.5, 2.0), (0.5, 2.0), (1.0, 3.0), (-0.9, 0.7)], {"orders": (1, 0, 0, 0)})


def _gauss_sum(a: np.ndarray, b: np.ndarray, c: np.ndarray, orders: tuple[int, ...]) -> np.ndarray:
    """The derivative at z = 1, for c - a - b > the order in z."""
    *parameter_orders, k = orders
    total = sum(parameter_orders)

    def inverse(value: np.ndarray, weights: tuple[float, ...]) -> np.ndarray:
        series = [rgamma.impl(value, orders=(n,)) / math.factorial(n) for n in range(total + 1)]
        return jets.along(series, weights)

    top = jets.product(inverse(c + k, (0.0, 0.0, 1.0)), inverse(c - a - b - k, (-1.0, -1.0, 1.0)), 3)
    under = jets.product(inverse(c - a, (-1.0, 0.0, 1.0)), inverse(c - b, (0.0, -1.0, 1.0)), 3)
    jet = jets.product(under, jets.reciprocal(top, 3), 3)
    for i in range(k):
        jet = jets.times_affine(jets.times_affine(jet, a + i, (1.0, 0.0, 0.0)), b + i, (0.0, 1.0, 0.0))
        jet = jets.over_affine(jet, c + i, (0.0, 0.0, 1.0))
    return jets.derivative(jet, parameter_orders)


_NODES = 400


class Tricomi(Partials):
    """U(a, b, x), which falls like x**-a, and its derivatives, for x > 0. Source: scipy.special.hyperu.

    For a >= 1 they are an integral (https://dlmf.nist.gov/13.4.4), from which the recurrence in a, which is stable in
    that direction (13.3.7), leads down to smaller ones.
    """

    ufunc = numpy_function = sc.hyperu
    nin = 3

    def evaluate(self, a, b, x, *, orders):
        valid = (x > 0.0) & (x < np.inf) & np.isfinite(a) & np.isfinite(b)
        beyond = valid & (a < -200.0)
        if beyond.any():
            raise errors.NondifferentiableError(
                f"hyperu: its derivatives are not computed at a = {np.min(a[beyond]):.3g}",
                mend="keep a above -200, or keep the operands constant, e.g. by stop_gradient",
            )
        a, b, x = (np.where(valid, v, 1.0) for v in (a, b, x))
        steps = np.maximum(np.ceil(1.0 - a), 0.0)
        top = a + steps
        here = self._integral(top, b, x, orders)
        above = self._integral(top + 1.0, b, x, orders) if steps.any() else here
        for i in range(int(np.max(steps, initial=0.0))):
            go = i < steps
            c = top - i
            down = -jets.times_affine(here, b - 2.0 * c - x, (-2.0, 1.0, -1.0))
            raised = jets.times_affine(jets.times_affine(above, c, (1.0, 0.0, 0.0)), c - b + 1.0, (1.0, -1.0, 0.0))
            here, above = np.where(go, down - raised, here), np.where(go, here, above)
        return np.where(valid, jets.derivative(here, orders), np.nan)

    def _integral(self, a: np.ndarray, b: np.ndarray, x: np.ndarray, orders: tuple[int, ...]) -> np.ndarray:
        """The jet for a >= 1, by the trapezoidal rule in the logarithm of t."""
        low, high = -60.0 - abs(np.log(x)), np.log((800.0 + 10.0 * (a + abs(b))) / x)
        grid = np.linspace(0.0, 1.0, _NODES)
        a_, b_, x_ = a[:, None], b[:, None], x[:, None]
        for _ in range(4):  # the part that counts, found on ever finer grids
            u = low[:, None] + (high - low)[:, None] * grid
            fall = a_ * u + (b_ - a_ - 1.0) * np.logaddexp(0.0, u) - x_ * np.exp(u)
            peak = np.max(fall, axis=-1, keepdims=True)
            counts = fall > peak - 50.0
            first, last = np.argmax(counts, axis=-1), _NODES - 1 - np.argmax(counts[:, ::-1], axis=-1)
            step = (high - low) / (_NODES - 1)
            low, high = low + (first - 1) * step, low + (last + 1) * step
        u = low[:, None] + (high - low)[:, None] * grid
        beyond = np.logaddexp(0.0, u)
        fall = a_ * u + (b_ - a_ - 1.0) * beyond - x_ * np.exp(u)
        peak = np.max(fall, axis=-1, keepdims=True)
        weight = np.exp(fall - peak) * ((high - low) / (_NODES - 1))[:, None]
        size = [n + 1 for n in orders]
        moments = np.zeros((*size, a.size))
        for i, j, k in np.ndindex(*size):
            part = (u - beyond) ** i * beyond**j * (-np.exp(u)) ** k
            ways = math.factorial(i) * math.factorial(j) * math.factorial(k)
            moments[i, j, k] = np.sum(part * weight, axis=-1) / ways
        scale = np.exp(peak[:, 0] - sc.gammaln(a))
        logs = [np.zeros(a.shape)] + [-sc.polygamma(i - 1, a) / math.factorial(i) for i in range(1, size[0])]
        inverse = jets.exponential(np.stack(logs), 1)[:, None, None]
        return jets.product(np.broadcast_to(inverse * _first(size), moments.shape) * scale, moments, 3)

    def samples(self, rng):
        yield sample(np.array([0.5, -1.3]), np.array([1.5, -0.6]), np.array([1.5, 0.3]), orders=(0, 0, 0))
        a, b = np.array([0.5, 2.0, -1.3, -2.0]), np.array([1.5, 0.7, -0.6, 2.0])
        for orders in [(0, 0, 1), (1, 0, 1), (0, 1, 0)]:  # SciPy's value at these has eleven digits
            yield sample(a, b, np.array([1.5, 8.0, 0.3, 3.0]), orders=orders, name="all over")
        yield from draws(rng, [(0.5, 3.0), (0.5, 3.0), (0.5, 3.0)], {"orders": (1, 0, 0)})


def _first(size: list[int]) -> np.ndarray:
    """1 at order 0 of all parameters but the first, 0 elsewhere."""
    out = np.zeros((1, *size[1:], 1))
    out[:, 0, 0] = 1.0
    return out


hyp0f1 = ConfluentLimit("hyp0f1")
hyp1f1 = Confluent("hyp1f1")
hyp2f1 = GaussHypergeometric("hyp2f1")
hyperu = Tricomi("hyperu")
