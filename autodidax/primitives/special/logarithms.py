"""Logistic functions, products with logarithms, entropies, power transforms, losses, SciPy's elementary functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.interpreters import dtype_of
from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.comparison import equal, less_equal, logical_and
from autodidax.primitives.convert import astype
from autodidax.primitives.elementwise import absolute, also, divide, exp, log, power, sign, sin, sqrt
from autodidax.primitives.select import where
from autodidax.primitives.special.partials import Partials, draws

expit: Pointwise = pointwise("expit", sc.expit, lambda y, x: y * expit(-x), complex_ok=False)
logit = pointwise("logit", sc.logit, lambda _, x: divide(1.0, x * (1.0 - x)), domain=(0.1, 0.9), complex_ok=False)
log_expit = pointwise("log_expit", sc.log_expit, lambda _, x: expit(-x), complex_ok=False)

# products with logarithms, entropies


def _quotient(z, x, y):
    """x/y, and 0 where both are 0, in the dtype of z."""
    both = logical_and(equal(x, 0), equal(y, 0))
    return where(both, 0, divide(x, astype(where(both, 1, y), dtype_of(z))))


def _with_edges(p: Pointwise, zero: float) -> Pointwise:
    return also(
        p,
        sample(np.array([0.5, 1.5], np.float32), 2.0, name="Python scalar"),
        sample(2.0, np.array([0.5, 1.5], np.float32), name="Python scalar"),
        sample(np.array([0.0, 0.0]), np.array([0.5, zero]), nonsmooth=True, name="at 0"),
    )


xlogy = pointwise(
    "xlogy", sc.xlogy, lambda z, _, y: astype(log(y), dtype_of(z)), _quotient, domain=[(-2.0, 2.0), (0.3, 2.0)]
)
xlog1py: Pointwise = pointwise(
    "xlog1py", sc.xlog1py,
    lambda z, _, y: astype(xlog1py(1.0, y), dtype_of(z)),  # NumPy's log1p loses the digits of small complex numbers
    lambda z, x, y: _quotient(z, x, 1.0 + y),
    domain=[(-2.0, 2.0), (-0.7, 2.0)],
)  # fmt: skip
entr = pointwise("entr", sc.entr, lambda _, x: -log(x) - 1.0, domain=(0.1, 2.0), complex_ok=False)
rel_entr = pointwise(
    "rel_entr", sc.rel_entr,
    lambda _, x, y: log(divide(x, y)) + 1.0,
    lambda z, x, y: -_quotient(z, x, y),
    domain=(0.1, 2.0), complex_ok=False,
)  # fmt: skip
kl_div = pointwise(
    "kl_div", sc.kl_div,
    lambda _, x, y: log(divide(x, y)),
    lambda z, x, y: 1.0 - _quotient(z, x, y),
    domain=(0.1, 2.0), complex_ok=False,
)  # fmt: skip
for p, zero in [(xlogy, 0.0), (xlog1py, -1.0), (rel_entr, 0.0), (kl_div, 0.0)]:
    _with_edges(p, zero)

# quotients that are regular at 0


_NODES = np.polynomial.legendre.leggauss(48)


def _moment_of_exp(n: int, x: np.ndarray) -> np.ndarray:
    """The integral of t**n exp(x t) over t from 0 to 1, by quadrature of the part that counts."""
    nodes, weights = _NODES
    length = np.minimum(1.0, 45.0 / np.maximum(abs(x), 1e-300))
    up = x > 0.0
    s = length[:, None] * (0.5 + 0.5 * nodes)
    t = np.where(up[:, None], 1.0 - s, s)  # away from the end at which the exponential is largest
    decay = np.exp(-abs(x)[:, None] * s) * t**n
    near = 0.5 * length * (decay @ weights)
    # on the left what lies behind is cut off, which counts for high powers of t
    far = math.factorial(n) / np.where(x < -45.0 - 5 * n, -x, 1.0) ** (n + 1)
    return np.where(x < -45.0 - 5 * n, far, near * np.where(up, np.exp(x), 1.0))


class RelativeExponential(Partials):
    """(exp(x) - 1) / x, 1 at 0, and its derivatives: the integrals of t**n exp(x t) over [0, 1].

    Source: scipy.special.exprel.
    """

    ufunc = numpy_function = sc.exprel

    def evaluate(self, x, *, orders):
        return _moment_of_exp(orders[0], x)

    def samples(self, rng):
        for n in (0, 1, 2):
            yield sample(np.array([-60.0, -3.0, -1e-9, 0.0, 1e-5, 4.0, 60.0]), orders=(n,), name="all over")
        yield from draws(rng, [(-2.0, 2.0)], {"orders": (1,)})


def log_quotient(n: int, v: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The n-th derivative of log(1 + v) / v in v, with z = 1 + v given beside.

    Far from 0 by v f' + f = 1 / z and its derivatives, near 0 by the power series.
    """
    near = abs(v) < 0.4
    u, w = np.where(near, v, 0.0), np.where(near, 1.0, v)
    series = np.zeros_like(u)
    for k in range(n + 70, n - 1, -1):
        series = series * u + (-1.0) ** k / (k + 1) * math.perm(k, n)
    base = np.where(near, 2.0, z)
    far = np.log(base) / w
    for k in range(1, n + 1):
        far = ((-1.0) ** (k - 1) * math.factorial(k - 1) / base**k - k * far) / w
    return np.where(near, series, far)


class LogQuotient(Partials):
    """log(1 + v) / v, 1 at 0, and its derivatives."""

    like = sc.spence

    def evaluate(self, v, *, orders):
        return log_quotient(orders[0], v, 1.0 + v)

    def samples(self, rng):
        for n in (0, 1, 2):
            yield sample(np.array([-0.9, -0.3, 0.0, 1e-9, 0.45, 3.0, 1e3]), orders=(n,), name="all over")
        yield from draws(rng, [(-0.5, 2.0)], {"orders": (1,)})


class LogOverDistance(LogQuotient):
    """log(z) / (z - 1), 1 at 1, and its derivatives; real and complex."""

    def evaluate(self, z, *, orders):
        return log_quotient(orders[0], z - 1.0, z)

    def samples(self, rng):
        for n in (0, 1, 2):
            yield sample(np.array([0.05, 0.5, 1.0, 1.0001, 4.0]), orders=(n,), name="all over")
            yield sample(np.array([1.0 + 0.1j, -2.0 + 1j, 0.5j]), orders=(n,), name="complex")
        yield from draws(rng, [(0.5, 3.0)], {"orders": (1,)})


exprel = RelativeExponential("exprel")
log1p_quotient = LogQuotient("log1p_quotient")
log_over_distance = LogOverDistance("log_over_distance")
spence = pointwise("spence", sc.spence, lambda _, z: -log_over_distance(z), domain=(0.3, 3.0), module=__name__)

# power transforms


class BoxPowers(Partials):
    """(exp(p u) - 1) / p, u for p = 0, and its derivatives in p: the logarithm u may be -inf.

    That in u is u**n exp(p u) for order n in p, so that orders in u are 0.
    """

    like = sc.boxcox
    nin = 2

    def evaluate(self, u, p, *, orders):
        n = orders[1]
        endless = u == -math.inf
        finite = np.where(endless, 0.0, u)
        at_0 = np.where(p > 0.0, -((-1.0) ** n) * math.factorial(n) / p ** (n + 1), (-1.0) ** (n + 1) * math.inf)
        return np.where(endless, at_0, finite ** (n + 1) * _moment_of_exp(n, p * finite))

    def slope(self, k, out, args, orders):
        u, p = args
        n = orders[1]
        return self(u, p, orders=(0, n + 1)) if k else (u**n if n else 1.0) * exp(p * u)

    def samples(self, rng):
        for n in (0, 1, 2):
            u = np.array([-2.0, 1.0, 0.5, 12.0])
            yield sample(u, np.array([0.3, 1e-6, -2.0, -2.0]), orders=(0, n), name="all over")
        yield sample(
            np.array([-math.inf, -math.inf]), np.array([0.5, -1.0]), orders=(0, 1), nonsmooth=True, name="-inf"
        )
        yield from draws(rng, [(-2.0, 2.0), (-2.0, 2.0)], {"orders": (0, 1)})


box_powers = BoxPowers("box_powers")
_BOXES = [(0.3, 2.0), (-2.0, 2.0)]
_ABOUT_0 = np.array([0.0, 1e-9, -1e-3])
boxcox = also(
    pointwise(
        "boxcox", sc.boxcox,
        lambda z, x, p: power(x, astype(p - 1.0, dtype_of(z))),
        lambda z, x, p: box_powers(astype(log(x), dtype_of(z)), p, orders=(0, 1)),
        domain=_BOXES, complex_ok=False,
    ),
    sample(np.array([0.5, 2.0, 1e3]), _ABOUT_0, name="parameter about 0"),
)  # fmt: skip
boxcox1p = also(
    pointwise(
        "boxcox1p", sc.boxcox1p,
        lambda z, x, p: exp((p - 1.0) * log1p(x)),
        lambda _, x, p: box_powers(log1p(x), p, orders=(0, 1)),
        domain=[(-0.7, 2.0), (-2.0, 2.0)], complex_ok=False,
    ),
    sample(np.array([1e-9, 2.0, -0.5]), _ABOUT_0, name="parameter about 0"),
)  # fmt: skip
inv_boxcox: Pointwise = also(
    pointwise(
        "inv_boxcox", sc.inv_boxcox,
        lambda z, y, p: divide(z, 1.0 + p * y),
        lambda z, y, p: z * (y * y) * log1p_quotient(p * y, orders=(1,)),
        domain=[(0.1, 2.0), (-0.4, 1.5)], complex_ok=False,
    ),
    sample(np.array([0.5, -2.0, 3.0]), _ABOUT_0, name="parameter about 0"),
)  # fmt: skip
inv_boxcox1p = also(
    pointwise(
        "inv_boxcox1p", sc.inv_boxcox1p,
        lambda _, y, p: divide(inv_boxcox(y, p), 1.0 + p * y),
        lambda _, y, p: inv_boxcox(y, p) * (y * y) * log1p_quotient(p * y, orders=(1,)),
        domain=[(0.1, 2.0), (-0.4, 1.5)], complex_ok=False,
    ),
    sample(np.array([0.5, -2.0, 3.0]), _ABOUT_0, name="parameter about 0"),
)  # fmt: skip
powm1 = pointwise(
    "powm1", sc.powm1,
    lambda z, x, y: y * power(x, astype(y - 1.0, dtype_of(z))),
    lambda z, x, y: power(x, astype(y, dtype_of(z))) * astype(log(where(equal(x, 0), 1, x)), dtype_of(z)),
    domain=[(0.3, 2.0), (-2.0, 2.0)], complex_ok=False,
)  # fmt: skip

# losses


def _huber_samples(rng):
    for shapes in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0,), ())]:
        yield sample(rng.uniform(0.5, 1.0, shapes[0]), rng.uniform(-0.4, 0.4, shapes[1]))
        yield sample(rng.uniform(0.5, 1.0, shapes[0]), rng.uniform(1.2, 3.0, shapes[1]))
    yield sample(np.array([1.0, 2.0]), np.array([-2.0, -5.0]), name="left")
    yield sample(np.array([0.5, 2.0], np.float32), np.array([1.0, 1.0], np.float32))
    yield sample(np.array([1.0, -1.0, 0.0]), np.array([1.0, 2.0, 0.0]), nonsmooth=True, name="edges")


def _steepness(u: Any) -> tuple[Any, Any]:
    """sqrt(1 + u**2), and that less 1 without cancellation."""
    s = sqrt(1.0 + u * u)
    return s, u * u / (1.0 + s)


def _pseudo_huber_by_delta(_: Any, delta: Any, r: Any) -> Any:
    s, rise = _steepness(divide(r, delta))
    return delta * (rise * rise) / s


huber = pointwise(
    "huber", sc.huber,
    lambda _, delta, r: where(less_equal(absolute(r), delta), 0.0, absolute(r) - delta),
    lambda _, delta, r: where(less_equal(absolute(r), delta), r, delta * sign(r)),
    samples=_huber_samples, complex_ok=False,
)  # fmt: skip
pseudo_huber = pointwise(
    "pseudo_huber", sc.pseudo_huber, _pseudo_huber_by_delta,
    lambda _, delta, r: divide(r, _steepness(divide(r, delta))[0]),
    domain=[(0.5, 2.0), (-2.0, 2.0)], complex_ok=False,
)  # fmt: skip

# SciPy's own elementary functions


def _elementary(name: str, slope: Callable[..., Any], **kwargs: Any) -> Pointwise:
    return pointwise(f"special_{name}", getattr(sc, name), slope, module=__name__, **kwargs)


log1p: Pointwise = _elementary("log1p", lambda _, x: divide(1.0, 1.0 + x), domain=(-0.9, 2.0))
expm1 = _elementary("expm1", lambda _, x: exp(x))
exp2 = _elementary("exp2", lambda y, _: y * math.log(2.0))
exp10 = _elementary("exp10", lambda y, _: y * math.log(10.0))
cbrt = _elementary("cbrt", lambda y, _: divide(1.0 / 3.0, y * y), domain=(0.1, 3.0))
round = pointwise("special_round", sc.round, zero_derivative=True, module=__name__, complex_ok=False)
cosm1 = pointwise("cosm1", sc.cosm1, lambda _, x: -sin(x))
_DEGREE = math.pi / 180.0
sindg: Pointwise = pointwise("sindg", sc.sindg, lambda _, x: _DEGREE * cosdg(x), domain=(-180.0, 180.0))
cosdg: Pointwise = pointwise("cosdg", sc.cosdg, lambda _, x: -_DEGREE * sindg(x), domain=(-180.0, 180.0))
tandg = pointwise("tandg", sc.tandg, lambda y, _: _DEGREE * (1.0 + y * y), domain=(-60.0, 60.0))
cotdg = pointwise("cotdg", sc.cotdg, lambda y, _: -_DEGREE * (1.0 + y * y), domain=(30.0, 150.0))
radian = pointwise(
    "radian", sc.radian, nin=3, linear=True, module=__name__, complex_ok=False,
    products=(
        lambda t, _z, _d, _m, _s: t * _DEGREE,
        lambda t, _z, _d, _m, _s: t * (_DEGREE / 60.0),
        lambda t, _z, _d, _m, _s: t * (_DEGREE / 3600.0),
    ),
)  # fmt: skip
