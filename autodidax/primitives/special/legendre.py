"""Legendre functions and spherical harmonics, differentiable in the variable or the angles to every order."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.avals import ShapedArray, broadcast_shapes
from autodidax.core.interpreters import dtype_of
from autodidax.core.primitive import Pointwise, Primitive, align_batch, pointwise, sample
from autodidax.primitives.comparison import equal, less
from autodidax.primitives.convert import astype
from autodidax.primitives.elementwise import absolute, exp, maximum, power, sin, sqrt
from autodidax.primitives.select import where
from autodidax.primitives.special.polynomials import constant_in


def _symmetric_jacobi(n: np.ndarray, a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Jacobi's polynomials of degree n with both parameters a; n that are no integers for real x only."""
    n, a, x = np.broadcast_arrays(n, a, x)
    whole = n == np.floor(n)
    degree = np.where(whole, n, 0).astype(np.int64)
    if x.dtype.kind != "c":
        out = sc.eval_jacobi(np.maximum(degree, 0), a, a, x)
        out = np.where(whole, out, sc.eval_jacobi(np.where(whole, 0.5, n), a, a, x))
        return np.where(whole & (n < 0), 0.0, out)
    before, now = np.ones_like(x), (a + 1.0) * x
    out = np.where(degree == 0, before, now)
    for k in range(2, int(degree.max(initial=0)) + 1):
        first, second = (k + a) * (2.0 * k + 2.0 * a - 1.0), (k + a) * (k + a - 1.0)
        before, now = now, (first * x * now - second * before) / (k * (k + 2.0 * a))
        out = np.where(degree == k, now, out)
    return np.where(whole & (n >= 0), out, np.where(whole, 0.0, np.nan))


class LegendreRegular(Primitive):
    """Derivative number k in x of lpmv(m, v, x) / (1 - x**2)**(|m|/2): (...), (...), (...) -> (...).

    It is a polynomial where v is an integer, so that lpmv has derivatives at -1 and 1. Source:
    https://dlmf.nist.gov/14.3, 14.9.
    """

    def impl(self, m, v, x, *, k):
        dtype = np.result_type(np.asarray(x).dtype, np.float32) if np.asarray(x).dtype.kind in "fc" else np.float64
        m, v = np.asarray(m, np.float64), np.asarray(v, np.float64)
        x = np.asarray(x, np.complex128 if np.dtype(dtype).kind == "c" else np.float64)
        v = np.where(v < -0.5, -v - 1.0, v)
        order = abs(m)
        raised = order + k
        with np.errstate(all="ignore"):
            scale = sc.poch(v + 1.0, raised) * 0.5**raised * np.where(order % 2 == 0, 1.0, -1.0)
            mirrored = np.where(order % 2 == 0, 1.0, -1.0) * sc.poch(v - order + 1.0, -2.0 * m)
            scale = scale * np.where(m < 0, np.where(order > v, 0.0, 1.0 / mirrored), 1.0)
            out = scale * _symmetric_jacobi(v - raised, raised, x)
        return np.asarray(out).astype(dtype)[()]

    def abstract_eval(self, m, v, x, *, k):
        dtype = np.result_type(x.dtype, np.float32) if x.dtype.kind in "fc" else np.dtype(np.float64)
        return ShapedArray(broadcast_shapes(self.name, m.shape, v.shape, x.shape), dtype)

    def jvp(self, out, primals, tangents, *, k):
        if tangents[0] is not None or tangents[1] is not None:
            constant_in(self.name, "order and degree", 3)(None, out, *primals)
        return tangents[2] * self(*primals, k=k + 1)

    def batch(self, args, dims, **params):
        return self(*align_batch(args, dims), **params), 0

    def samples(self, rng):
        yield sample(0, 4, rng.uniform(-0.9, 0.9, 3), k=1)
        yield sample(np.array([1, -2]), 3, rng.uniform(-0.9, 0.9, (3, 1)), k=0, name="broadcast")
        yield sample(2, 5, rng.uniform(-0.9, 0.9), k=0)
        yield sample(1, 2.5, rng.uniform(-0.5, 0.9, 2), k=0, name="fractional degree")
        yield sample(1, 3, rng.uniform(-0.9, 0.9, (0, 2)), k=0)
        yield sample(1, 3, np.array([-1.0, 1.0]), k=1, name="ends")
        yield sample(1, 3, rng.uniform(-0.9, 0.9, 2).astype(np.float32), k=1)
        yield sample(0, np.array([0, 1, 5]), rng.uniform(-0.9, 0.9, 3) + 0.4j, k=1, name="complex")


legendre_regular = LegendreRegular("legendre_regular")


def _lpmv_slope(m: Any, v: Any, x: Any) -> Any:
    order = absolute(m)
    below = 1.0 - x * x
    half = 0.5 * order
    none = equal(order, 0)
    inner = where(none, 0.0, order * power(below, where(none, 1.0, half - 1.0)))
    regular = legendre_regular(m, v, x, k=0)
    return power(below, half) * legendre_regular(m, v, x, k=1) - x * inner * regular


def _lpmv_samples(rng):
    for m, v in [(0, 3), (1, 3), (2, 4), (-1, 2)]:
        yield sample(m, v, rng.uniform(-0.8, 0.9, 3))
    yield sample(np.array([[0], [2]]), np.array([3, 3, 5]), rng.uniform(-0.9, 0.9, 3), name="broadcast")
    yield sample(1, 3, rng.uniform(-0.9, 0.9))
    yield sample(1, 3, rng.uniform(-0.9, 0.9, (0, 2)))
    yield sample(1, 3, rng.uniform(-0.9, 0.9, 2).astype(np.float32))


lpmv: Pointwise = pointwise(
    "lpmv", sc.lpmv, nin=3, module=__name__, samples=_lpmv_samples,
    products=(
        constant_in("lpmv", "order", 3),
        constant_in("lpmv", "degree", 3),
        lambda t, z, m, v, x: t * astype(_lpmv_slope(m, v, x), dtype_of(z)),
    ),
)  # fmt: skip


def _only(function: Any, *args: Any) -> Any:
    """The value of a function that returns it as a row of one, before the derivatives asked for."""
    return np.asarray(function(*args))[0][()]


def _legendre_samples(rng):
    for n in (0, 1, 4):
        yield sample(n, rng.uniform(-1.5, 1.5, 3))
    yield sample(np.arange(3)[:, None], rng.uniform(-1.0, 1.0, 3), name="broadcast")
    yield sample(3, rng.uniform(-1.0, 1.0))
    yield sample(3, rng.uniform(-1.0, 1.0, (0, 2)))
    yield sample(3, rng.uniform(-1.0, 1.0, 3).astype(np.float32))


legendre_p: Pointwise = pointwise(
    "legendre_p", lambda n, z: _only(sc.legendre_p, n, z), nin=2, module=__name__, complex_ok=False,
    samples=_legendre_samples,
    products=(constant_in("legendre_p", "degree", 2), lambda t, _z, n, z: t * legendre_regular(0, n, z, k=1)),
)  # fmt: skip


_USUAL: dict[str, Any] = {"branch_cut": 2, "norm": False}


class AssociatedLegendre(Primitive):
    """assoc_legendre_p(n, m, z) of a branch cut and a norm, differentiated `derivative` times in z (up to twice)."""

    def impl(self, n, m, z, *, branch_cut, norm, derivative):
        out = sc.assoc_legendre_p(n, m, z, branch_cut=branch_cut, norm=norm, diff_n=derivative)
        return np.asarray(out)[derivative][()]

    def abstract_eval(self, n, m, z, *, branch_cut, norm, derivative):
        with np.errstate(all="ignore"):
            dtype = np.asarray(sc.assoc_legendre_p(1, 1, np.zeros(1, z.dtype))).dtype
        return ShapedArray(broadcast_shapes(self.name, n.shape, m.shape, z.shape), dtype)

    def jvp(self, out, primals, tangents, *, branch_cut, norm, derivative):
        n, m, z = primals
        given = {"branch_cut": branch_cut, "norm": norm}
        if derivative < 2:
            return tangents[2] * self(n, m, z, derivative=derivative + 1, **given)
        value, slope = (self(n, m, z, derivative=k, **given) for k in (0, 1))
        below = 1.0 - z * z
        quotient = m * m / below
        # Legendre's equation, differentiated
        third = 4.0 * z * out + (2.0 - n * (n + 1.0) + quotient) * slope + 2.0 * z * quotient / below * value
        return tangents[2] * (third / below)

    def batch(self, args, dims, **params):
        return self(*align_batch(args, dims), **params), 0

    def samples(self, rng):
        for derivative in (0, 1, 2):
            yield sample(4, 2, rng.uniform(-0.8, 0.8, 3), derivative=derivative, **_USUAL)
        yield sample(np.array([[1], [3]]), np.array([1, -1]), rng.uniform(-0.8, 0.8, 2), derivative=0, **_USUAL)
        yield sample(3, 1, rng.uniform(-0.8, 0.8), branch_cut=2, norm=True, derivative=0)
        yield sample(3, 1, rng.uniform(-0.8, 0.8, (0, 2)), derivative=0, **_USUAL)
        yield sample(3, 1, rng.uniform(-0.8, 0.8, 2).astype(np.float32), derivative=0, **_USUAL)
        yield sample(3, 1, rng.uniform(-0.8, 0.8, 2) + 0.6j, branch_cut=3, norm=False, derivative=0, name="complex")


assoc_legendre_p = AssociatedLegendre("assoc_legendre_p")

# on the sphere


def _couplings(n: Any, m: Any, dtype: np.dtype) -> tuple[Any, Any]:
    """Weights of the neighbours in order, 0 where there is none. Source: https://dlmf.nist.gov/14.10.

    With them a derivative in theta has no pole where the sine of theta vanishes.
    """
    dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
    products = (n - m) * (n + m + 1), (n + m) * (n - m + 1)
    up, down = (astype(sqrt(1.0 * maximum(p, 0)), dtype) for p in products)
    return up, down


def _side(theta: Any) -> Any:
    """1/2, and -1/2 beyond a pole, where SciPy takes the sine of theta without its sign."""
    return astype(where(less(sin(theta), 0.0), -0.5, 0.5), dtype_of(theta))


def _sphere_samples(*angles: float) -> Any:
    def samples(rng):
        def draw(shape: Any, dtype: Any = np.float64) -> Any:
            return [np.asarray(rng.uniform(0.2, high, shape)).astype(dtype)[()] for high in angles]

        for n, m in [(0, 0), (1, 1), (3, -2), (4, 2)]:
            yield sample(n, m, *draw(3))
        yield sample(np.array([[2], [3]]), np.array([0, 1, -1]), *draw(3), name="broadcast")
        yield sample(3, 1, *draw(()))
        yield sample(3, 1, *draw((0, 2)))
        yield sample(3, 1, *draw(2, np.float32))
        yield sample(np.array([0, 1, 2]), np.array([0, 1, -2]), *[np.zeros(3) for _ in angles], name="pole")

    return samples


sph_legendre_p: Pointwise = pointwise(
    "sph_legendre_p", lambda n, m, theta: _only(sc.sph_legendre_p, n, m, theta), nin=3, module=__name__,
    samples=_sphere_samples(3.0), complex_ok=False,
    products=(
        constant_in("sph_legendre_p", "degree", 3),
        constant_in("sph_legendre_p", "order", 3),
        lambda t, _z, n, m, theta: t * polar_derivative(n, m, theta, 1),
    ),
)  # fmt: skip
sph_harm_y: Pointwise = pointwise(
    "sph_harm_y", lambda n, m, theta, phi: sc.sph_harm_y(n, m, theta, phi), nin=4, module=__name__, complex_ok=False,
    samples=_sphere_samples(3.0, 6.0),
    products=(
        constant_in("sph_harm_y", "degree", 4),
        constant_in("sph_harm_y", "order", 4),
        lambda t, _z, n, m, theta, phi: t * harmonic_derivative(n, m, theta, phi, 1),
        lambda t, z, _n, m, _theta, _phi: t * (1j * m * z),
    ),
)  # fmt: skip


def _neighbours(n: Any, m: Any, theta: Any, k: int) -> dict[int, Any]:
    """Derivative number k in theta: the weights of the orders m + j, j from -k to k."""
    weights: dict[int, Any] = {0: 1.0}
    for _ in range(k):
        raised: dict[int, Any] = {}
        for j, weight in weights.items():
            up, down = _couplings(n, m + j, dtype_of(theta))
            raised[j + 1] = raised.get(j + 1, 0.0) + weight * up * _side(theta)
            raised[j - 1] = raised.get(j - 1, 0.0) - weight * down * _side(theta)
        weights = raised
    return weights


def polar_derivative(n: Any, m: Any, theta: Any, k: int) -> Any:
    """Derivative number k of sph_legendre_p in theta."""
    return sum(w * sph_legendre_p(n, m + j, theta) for j, w in _neighbours(n, m, theta, k).items())


def harmonic_derivative(n: Any, m: Any, theta: Any, phi: Any, k: int) -> Any:
    """Derivative number k of sph_harm_y in theta; the neighbours in order are turned back to order m."""
    terms = _neighbours(n, m, theta, k).items()
    return sum(w * sph_harm_y(n, m + j, theta, phi) * exp(-1j * j * phi) for j, w in terms)
