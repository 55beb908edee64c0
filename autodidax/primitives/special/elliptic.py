"""Elliptic integrals and functions: Legendre's, Jacobi's and Carlson's, in every argument and to every order.

All derivatives go through two integrals that are closed under differentiation: that of powers, from 0 to infinity, and
the incomplete one of Legendre's form. So nothing is divided by what vanishes where arguments are equal, or at m = 0, 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.avals import ShapedArray, broadcast_shapes, plain_aval
from autodidax.core.interpreters import dtype_of
from autodidax.core.primitive import Pointwise, Primitive, align_batch, pointwise, sample
from autodidax.primitives.comparison import equal, less
from autodidax.primitives.elementwise import also, cos, power, sin, sqrt
from autodidax.primitives.rounding import rint
from autodidax.primitives.select import where
from autodidax.primitives.special.several_results import SeveralResults

_TAIL = 40.0  # exp(-40) is below the last place
_NARROWEST = 0.02  # of half turns: half the sector in which the path of integration can lie


def integral_of_powers(arguments: Sequence[np.ndarray], q: int, powers: Sequence[float]) -> np.ndarray:
    """The integral of t**q prod (t + z_k)**-powers[k] over t from 0 to infinity, for flat arrays z_k.

    With t = exp(w) the trapezoidal rule converges geometrically: the integrand is analytic up to the turn of w by i pi
    at which t meets -z_k. For complex z_k it is less, and t goes along the middle of the sector that is free of them.
    It is inf where it diverges, nan for z_k on the negative axis, or close to both its sides so that no sector is left.

    Source: L. N. Trefethen and J. A. C. Weideman, "The exponentially convergent trapezoidal rule",
    SIAM Review 56 (2014).
    """
    z = np.array(np.broadcast_arrays(*arguments))
    outside = np.any((z.imag == 0) & (z.real < 0), 0) | np.any(np.isnan(z), 0)
    z = np.where(outside, 1.0, z)
    size = abs(z)
    largest = size.max(0)
    z, size = z / largest, size / largest
    zero = size == 0
    at_zero = q + 1.0 - np.sum(np.where(zero, np.asarray(powers)[:, None], 0.0), 0)
    low = np.log(np.where(zero, 1.0, size).min(0)) - _TAIL / np.maximum(at_zero, 0.5)
    high = _TAIL / (sum(powers) - q - 1.0)
    above, below = np.angle(z).max(0, initial=0.0), -np.angle(z).min(0, initial=0.0)
    width = 1.0 - 0.5 * (above + below) / math.pi
    outside |= width < _NARROWEST
    count = int(np.max((high - low) / (0.5 * np.maximum(width, _NARROWEST)), initial=0.0)) + 2
    step = (high - low) / (count - 1)
    t = np.exp(high - step * np.arange(count)[:, None])
    if z.dtype.kind == "c":
        t = t * np.exp(0.5j * (above - below))
    integrand = t ** (q + 1)
    for zk, b in zip(z, powers, strict=True):
        integrand = integrand * _to_power(t + zk, b)
    out = integrand.sum(0) * step * largest ** (q + 1 - sum(powers))
    return np.where(outside, np.nan, np.where(at_zero > 0, out, np.inf))


def _to_power(x: np.ndarray, b: float) -> np.ndarray:
    """x**-b for a multiple b of 1/2."""
    if b <= 0:
        return x**-b
    inverse = 1.0 / x
    whole = inverse ** int(b)
    return whole if b == int(b) else whole * np.sqrt(inverse)


_AT_ONCE = 1 << 12  # points whose nodes are held in memory together


def _in_blocks(arguments: Sequence[Any], q: int, powers: Sequence[float]) -> np.ndarray:
    """The same for arrays of any shape, which broadcast."""
    full = np.broadcast_arrays(*arguments)
    flat = [x.ravel() for x in full]
    parts = [
        integral_of_powers([x[k : k + _AT_ONCE] for x in flat], q, powers) for k in range(0, full[0].size, _AT_ONCE)
    ]
    return np.concatenate(parts).reshape(full[0].shape) if parts else np.zeros(full[0].shape)


def _wide(x: Any) -> np.ndarray:
    x = np.asarray(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _float_dtype(*avals: ShapedArray) -> np.dtype:
    """The dtype of Carlson's functions of these operands."""
    ones = [a.dtype.type(1).item() if a.weak_type else np.ones(1, a.dtype) for a in avals]
    return np.asarray(sc.elliprf(*ones, *[1.0] * (3 - len(ones))) if len(ones) < 4 else sc.elliprj(*ones)).dtype


class IntegralOfPowers(Primitive):
    """Integral of t**q prod (t + z_k)**-powers[k] from 0 to infinity: (...), (...), ... -> (...); z_k in the cut plane.

    Source: B. C. Carlson, https://dlmf.nist.gov/19.16.
    """

    def impl(self, *args, q, powers):
        with np.errstate(all="ignore"):
            out = _in_blocks([_wide(x) for x in args], q, powers)
        return out.astype(_float_dtype(*map(plain_aval, args)))[()]

    def abstract_eval(self, *avals, q, powers):
        return ShapedArray(broadcast_shapes(self.name, *[a.shape for a in avals]), _float_dtype(*avals))

    def jvp(self, out, primals, tangents, *, q, powers):
        total = None
        for k, t in enumerate(tangents):
            if t is not None:
                raised = tuple(b + (i == k) for i, b in enumerate(powers))
                term = t * (-powers[k] * self(*primals, q=q, powers=raised))
                total = term if total is None else total + term
        return total

    def batch(self, args, dims, **params):
        return self(*align_batch(args, dims), **params), 0

    def samples(self, rng):
        yield sample(*rng.uniform(0.5, 2.0, (3, 4)), q=0, powers=(1.5, 0.5, 0.5))
        yield sample(*rng.uniform(0.5, 2.0, (4, 2)), q=0, powers=(0.5, 0.5, 1.5, 1.0))
        yield sample(*rng.uniform(0.5, 2.0, (3, 2)), q=1, powers=(1.5, 0.5, 1.5))
        yield sample(rng.uniform(0.5, 2.0), rng.uniform(0.5, 2.0), q=0, powers=(0.5, 2.0))
        yield sample(rng.uniform(0.5, 2.0, (2, 1)), rng.uniform(0.5, 2.0, 3), q=0, powers=(0.5, 2.0))
        yield sample(np.ones(3), np.ones(3), np.array([1.0, 1e-4, 50.0]), q=0, powers=(0.5, 0.5, 2.5), name="equal")
        yield sample(rng.uniform(0.5, 2.0, (0, 2)), 1.0, q=0, powers=(0.5, 2.0))
        yield sample(rng.uniform(0.5, 2.0, 3).astype(np.float32), 1.0, q=0, powers=(0.5, 2.0))
        yield sample(
            rng.uniform(0.5, 2.0, 3) + 1j, rng.uniform(0.5, 2.0, 3) - 2j, q=0, powers=(0.5, 2.0), name="complex"
        )


integral_of_powers_p = IntegralOfPowers("integral_of_powers")

# Carlson's symmetric integrals


def _carlson_samples(n: int) -> Any:
    def samples(rng):
        for shape in [(), (3,), (0, 2)]:
            yield sample(*[rng.uniform(0.5, 3.0, shape) for _ in range(n)])
        yield sample(rng.uniform(0.5, 3.0, (2, 1)), *[rng.uniform(0.5, 3.0, 3) for _ in range(n - 1)], name="broadcast")
        yield sample(*[rng.uniform(0.5, 3.0, 2).astype(np.float32) for _ in range(n)])
        yield sample(*[np.full(2, 1.5)] * n, name="equal")
        yield sample(*[rng.uniform(0.5, 2.0, 2) + 1j * rng.uniform(-1.0, 1.0, 2) for _ in range(n)], name="complex")

    return samples


def _carlson(name: str, ufunc: Any, *slopes: Any) -> Pointwise:
    return pointwise(name, ufunc, *slopes, samples=_carlson_samples(ufunc.nin), module=__name__)


def _principal(z: Any, x: Any, y: Any, closed: Any, powers: tuple[float, float], factor: float) -> Any:
    """A derivative of elliprc: the closed form is that of the principal value for negative y."""
    if any(dtype_of(a).kind == "c" for a in (x, y)):
        return factor * integral_of_powers_p(x, y, q=0, powers=powers)
    negative = less(y, 0.0)
    direct = factor * integral_of_powers_p(x, where(negative, 1.0, y), q=0, powers=powers)
    below, root = where(negative, y, -1.0), sqrt(x)
    return where(negative, closed(z, x, below, root), direct)


elliprf = _carlson(
    "elliprf", sc.elliprf,
    lambda _, x, y, z: (-1.0 / 6.0) * elliprd(y, z, x),
    lambda _, x, y, z: (-1.0 / 6.0) * elliprd(x, z, y),
    lambda _, x, y, z: (-1.0 / 6.0) * elliprd(x, y, z),
)  # fmt: skip
elliprd: Pointwise = _carlson(
    "elliprd", sc.elliprd,
    lambda _, x, y, z: -0.75 * integral_of_powers_p(x, y, z, q=0, powers=(1.5, 0.5, 1.5)),
    lambda _, x, y, z: -0.75 * integral_of_powers_p(x, y, z, q=0, powers=(0.5, 1.5, 1.5)),
    lambda _, x, y, z: -2.25 * integral_of_powers_p(x, y, z, q=0, powers=(0.5, 0.5, 2.5)),
)  # fmt: skip
elliprg = _carlson(
    "elliprg", sc.elliprg,
    lambda _, x, y, z: 0.125 * integral_of_powers_p(x, y, z, q=1, powers=(1.5, 0.5, 0.5)),
    lambda _, x, y, z: 0.125 * integral_of_powers_p(x, y, z, q=1, powers=(0.5, 1.5, 0.5)),
    lambda _, x, y, z: 0.125 * integral_of_powers_p(x, y, z, q=1, powers=(0.5, 0.5, 1.5)),
)  # fmt: skip
elliprj = _carlson(
    "elliprj", sc.elliprj,
    lambda _, x, y, z, p: -0.75 * integral_of_powers_p(x, y, z, p, q=0, powers=(1.5, 0.5, 0.5, 1.0)),
    lambda _, x, y, z, p: -0.75 * integral_of_powers_p(x, y, z, p, q=0, powers=(0.5, 1.5, 0.5, 1.0)),
    lambda _, x, y, z, p: -0.75 * integral_of_powers_p(x, y, z, p, q=0, powers=(0.5, 0.5, 1.5, 1.0)),
    lambda _, x, y, z, p: -1.5 * integral_of_powers_p(x, y, z, p, q=0, powers=(0.5, 0.5, 0.5, 2.0)),
)  # fmt: skip
elliprc: Pointwise = also(
    _carlson(
        "elliprc", sc.elliprc,
        lambda z, x, y: _principal(z, x, y, lambda z, x, y, r: (1.0 / r - z) / (2.0 * (x - y)), (1.5, 1.0), -0.25),
        lambda z, x, y: _principal(z, x, y, lambda z, x, y, r: (z - r / y) / (2.0 * (x - y)), (0.5, 2.0), -0.5),
    ),
    sample(np.array([0.5, 2.0]), np.array([-1.5, -0.3]), name="principal value"),
)  # fmt: skip

# Legendre's integrals


class EllipticMoment(Primitive):
    """Integral of sin(t)**(2 sines) (1 - m sin(t)**2)**exponent over t from 0 to phi: (...), (...) -> (...).

    With an exponent of -1/2 and 1/2 and no sines it is ellipkinc and ellipeinc. Source: https://dlmf.nist.gov/19.2.
    """

    def impl(self, phi, m, *, sines, exponent):
        dtype = _float_dtype(plain_aval(phi), plain_aval(m))
        phi, m = np.broadcast_arrays(_wide(phi), _wide(m))
        powers = (0.5, 1.0 + sines + exponent, -exponent)
        with np.errstate(all="ignore"):
            turns = np.rint(phi / math.pi)
            rest = phi - turns * math.pi
            s, c = np.sin(rest), np.cos(rest)
            part = s ** (2 * sines + 1) * _in_blocks((c * c, np.ones(s.shape), c * c + (1.0 - m) * s * s), 0, powers)
            part = 0.5 * np.where(s == 0, 0.0, part)
            whole = _in_blocks((np.zeros(m.shape), np.ones(m.shape), 1.0 - m), 0, powers) if np.any(turns) else m
            out = part + np.where(turns == 0, 0.0, turns * whole)
        return out.astype(dtype)[()]

    def abstract_eval(self, phi, m, *, sines, exponent):
        return ShapedArray(broadcast_shapes(self.name, phi.shape, m.shape), _float_dtype(phi, m))

    def jvp(self, out, primals, tangents, *, sines, exponent):
        (phi, m), (t_phi, t_m) = primals, tangents
        total = None
        if t_phi is not None:
            s = sin(phi)
            total = t_phi * ((s * s) ** sines * power(_delta_squared(phi, m), exponent))
        if t_m is not None:
            term = t_m * (-exponent * self(phi, m, sines=sines + 1, exponent=exponent - 1.0))
            total = term if total is None else total + term
        return total

    def batch(self, args, dims, **params):
        return self(*align_batch(args, dims), **params), 0

    def samples(self, rng):
        for sines, exponent in [(1, -1.5), (1, -0.5), (2, -2.5)]:
            yield sample(rng.uniform(0.2, 1.4, 3), rng.uniform(-1.0, 0.9, 3), sines=sines, exponent=exponent)
        yield sample(
            np.array([0.0, -1.0, 2.5, 7.0]), np.array([[0.5], [-2.0]]), sines=1, exponent=-1.5, name="several turns"
        )
        yield sample(rng.uniform(0.2, 1.4), rng.uniform(0.1, 0.9), sines=1, exponent=-1.5)
        yield sample(rng.uniform(0.2, 1.4, (0, 2)), 0.5, sines=1, exponent=-0.5)
        yield sample(rng.uniform(0.2, 1.4, 2).astype(np.float32), np.float32(0.5), sines=1, exponent=-0.5)


elliptic_moment = EllipticMoment("elliptic_moment")


def _delta_squared(phi: Any, m: Any) -> Any:
    """1 - m sin(phi)**2, without cancelling where m is close to 1."""
    s, c = sin(phi), cos(phi)
    return c * c + (1.0 - m) * (s * s)


def _incomplete_samples(rng):
    for shapes in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0, 2), ())]:
        yield sample(rng.uniform(0.2, 1.4, shapes[0]), rng.uniform(-0.5, 0.9, shapes[1]))
    yield sample(rng.uniform(0.2, 1.4, 3).astype(np.float32), rng.uniform(0.1, 0.9, 3).astype(np.float32))
    yield sample(np.array([0.0, -1.0, 2.5, 7.0]), np.array([0.5, 0.0, -2.0, 0.3]), name="at 0, several turns")
    yield sample(np.array([0.5, 1.3]), np.array([1.0, 1.05]), name="m of 1 and beyond")


ellipkinc = pointwise(
    "ellipkinc", sc.ellipkinc,
    lambda _, phi, m: power(_delta_squared(phi, m), -0.5),
    lambda _, phi, m: 0.5 * elliptic_moment(phi, m, sines=1, exponent=-1.5),
    samples=_incomplete_samples, module=__name__,
)  # fmt: skip
ellipeinc = pointwise(
    "ellipeinc", sc.ellipeinc,
    lambda _, phi, m: power(_delta_squared(phi, m), 0.5),
    lambda _, phi, m: -0.5 * elliptic_moment(phi, m, sines=1, exponent=-0.5),
    samples=_incomplete_samples, module=__name__,
)  # fmt: skip
_EDGES = sample(np.array([0.0, 1e-9, 1.0 - 1e-6, -50.0]), name="edges")
ellipk = also(
    pointwise(
        "ellipk", sc.ellipk, lambda _, m: (1.0 / 6.0) * elliprd(0.0, 1.0, 1.0 - m),
        domain=(-2.0, 0.9), complex_ok=False,
    ),
    _EDGES,
)  # fmt: skip
ellipkm1 = also(
    pointwise(
        "ellipkm1", sc.ellipkm1, lambda _, p: (-1.0 / 6.0) * elliprd(0.0, 1.0, p), domain=(0.1, 3.0), complex_ok=False
    ),
    sample(np.array([1e-8, 1.0, 50.0]), name="edges"),
)
ellipe = also(
    pointwise(
        "ellipe", sc.ellipe, lambda _, m: (-1.0 / 6.0) * elliprd(0.0, 1.0 - m, 1.0),
        domain=(-2.0, 0.9), complex_ok=False,
    ),
    _EDGES,
)  # fmt: skip


# Jacobi's functions


def _by_argument(outs: Any, _u: Any, m: Any) -> list[Any]:
    sn, cn, dn, _ = outs
    return [cn * dn, -(sn * dn), -(m * (sn * cn)), dn]


def _by_parameter(outs: Any, _u: Any, m: Any) -> list[Any]:
    """The amplitude solves ellipkinc(am, m) = u, so that its derivative is -dn times that of ellipkinc in m."""
    sn, cn, dn, am = outs
    half_turns = rint(am * (1.0 / math.pi))
    none = equal(half_turns, 0.0)
    odd = cos(math.pi * half_turns) * sn
    part = odd * odd * odd * elliprd(cn * cn, 1.0, dn * dn)
    whole = where(none, 0.0, 2.0 * half_turns * elliprd(0.0, 1.0, where(none, 1.0, 1.0 - m)))
    slope = -(dn * ((1.0 / 6.0) * (part + whole)))
    return [cn * slope, -(sn * slope), -(sn * (0.5 * sn + m * (cn * slope))) / dn, slope]


def _jacobi_samples(rng):
    for shapes in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0, 2), ())]:
        yield sample(rng.uniform(-1.4, 1.4, shapes[0]), rng.uniform(0.1, 0.9, shapes[1]))
    yield sample(rng.uniform(0.2, 1.4, 3).astype(np.float32), rng.uniform(0.1, 0.9, 3).astype(np.float32))
    yield sample(np.array([-5.0, 3.0, 20.0]), np.array([0.3, 0.7, 0.95]), name="several turns")


ellipj = SeveralResults("ellipj", sc.ellipj, _by_argument, _by_parameter, samples=_jacobi_samples, module=__name__)

for _p in (elliprf, elliprd, elliprg, elliprj, elliprc, integral_of_powers_p):
    _p.costly = True  # quadratures
