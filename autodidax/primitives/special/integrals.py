"""Exponential, sine and cosine integrals, Lambert's W, and the arithmetic-geometric mean."""

from __future__ import annotations

import numpy as np
import scipy.special as sc

from autodidax.core.avals import ShapedArray
from autodidax.core.primitive import Primitive, pointwise, sample
from autodidax.primitives.elementwise import also, cos, divide, exp
from autodidax.primitives.special import jets
from autodidax.primitives.special.partials import Partials, draws
from autodidax.primitives.special.zetas import ufunc_of
from autodidax.primitives.trigonometric import cosh

exp1 = also(
    pointwise("exp1", sc.exp1, lambda _, z: divide(-exp(-z), z), domain=(0.2, 3.0)),
    sample(np.array([-2.0 + 1j, 0.1 - 5j]), name="complex, left"),
)
expi = also(
    pointwise("expi", sc.expi, lambda _, z: divide(exp(z), z), domain=(0.2, 3.0)),
    sample(np.array([-2.0, -0.1]), name="negative"),
)


class GeneralizedExponential(Partials):
    """The exponential integral E of a whole order n, and its derivatives in x.

    That of order k is (-1)**k E(n - k, x).

    Source: scipy.special.expn; https://dlmf.nist.gov/8.19.13, and 8.19.1 for negative orders.
    """

    ufunc = numpy_function = sc.expn
    nin = 2
    constant = {0: "the order is a whole number"}

    def evaluate(self, n, x, *, orders):
        k = orders[1]
        low = np.trunc(n) - k
        up = np.maximum(-low, 0.0)  # E(-m, x) = gamma(m + 1, x) / x**(m + 1)
        beyond = sc.gammaincc(up + 1.0, x) * sc.gamma(up + 1.0) / x ** (up + 1.0)
        return (-1.0) ** k * np.where(low < 1.0, beyond, sc.expn(np.maximum(low, 1.0).astype(int), x))

    def slope(self, k, out, args, orders):
        return self(*args, orders=(0, orders[1] + 1))

    def samples(self, rng):
        for k in (0, 1, 2, 3):
            yield sample(np.array([0, 1, 2, 5]), rng.uniform(0.3, 3.0, 4), orders=(0, k))
        yield sample(3, rng.uniform(0.3, 3.0, 3).astype(np.float32), orders=(0, 1))
        yield sample(2, rng.uniform(0.3, 3.0), orders=(0, 1))
        yield sample(np.array([[1], [2]]), rng.uniform(0.3, 3.0, 3), orders=(0, 0))
        yield sample(np.array(1), rng.uniform(0.3, 3.0, (0, 2)), orders=(0, 1))


expn = GeneralizedExponential("expn")


class SineQuotient(Partials):
    """sin(x) / x, 1 at 0, and its derivatives; sinh(x) / x where the subclass says so. Real and complex."""

    like = sc.sici
    square = -1.0  # of the number by which a derivative of the sine turns it

    def evaluate(self, x, *, orders):
        (n,) = orders
        near = abs(x) <= n + 1.0
        u = np.where(near, x, 0.0)
        # the integral of cos(x t), or cosh(x t), over t in [0, 1]; each derivative multiplies by t
        series = np.zeros_like(u)
        for m in range(2 * n + 40, -1, -1):
            series = series * u / (m + 1)
            if (m + n) % 2 == 0:
                series = series + self.square ** ((m + n) // 2) / (m + n + 1)
        w = np.where(near, n + 1.0, x)
        cycle = (np.sin(w), np.cos(w)) if self.square < 0 else (np.sinh(w), np.cosh(w))
        far = cycle[0] / w
        for k in range(1, n + 1):  # x f^(k) + k f^(k-1) is the k-th derivative of the sine
            far = (self.square ** (k // 2) * cycle[k % 2] - k * far) / w
        return np.where(near, series, far)

    def samples(self, rng):
        for n in (0, 1, 2, 5):
            yield sample(np.array([-7.0, -0.3, 0.0, 1e-9, 1.0, 4.0]), orders=(n,), name="near and far")
        yield sample(rng.normal(size=3) + 0.5j, orders=(1,), name="complex")
        yield from draws(rng, [(-2.0, 2.0)], {"orders": (1,)})


class HyperbolicSineQuotient(SineQuotient):
    """sinh(x) / x, 1 at 0, and its derivatives."""

    square = 1.0


sine_quotient = SineQuotient("sine_quotient")
sinh_quotient = HyperbolicSineQuotient("sinh_quotient")


class _IntegralPair(Primitive):
    """A function with two results of the operand's shape, real or complex."""

    multiple_results = True

    def impl(self, x):
        return list(type(self).numpy_function(x))

    def abstract_eval(self, x):
        ufunc = type(self).numpy_function
        own = type(x.dtype.type(1).item()) if x.weak_type else x.dtype
        return [ShapedArray(x.shape, d) for d in ufunc.resolve_dtypes((own, None, None))[1:]]

    def batch(self, args, dims):
        return self(*args), [0, 0]

    def samples(self, rng):
        for shape in [(), (3,), (2, 3), (0,)]:
            yield sample(rng.uniform(0.3, 9.0, shape))
        yield sample(rng.uniform(0.3, 9.0, 3).astype(np.float32))
        yield sample(rng.uniform(0.3, 9.0, 3) - 1j, name="complex")


class SineIntegrals(_IntegralPair):
    """Si, the integral of sin(t) / t from 0 to x, and Ci, that of cos(t) / t up from infinity."""

    numpy_function = sc.sici

    def jvp(self, out, primals, tangents):
        (x,), (t,) = primals, tangents
        return [t * sine_quotient(x), t * divide(cos(x), x)]


class HyperbolicIntegrals(_IntegralPair):
    """Shi, the integral of sinh(t) / t from 0 to x, and Chi, whose derivative is cosh(x) / x."""

    numpy_function = sc.shichi

    def jvp(self, out, primals, tangents):
        (x,), (t,) = primals, tangents
        return [t * sinh_quotient(x), t * divide(cosh(x), x)]


sici = SineIntegrals("sici")
shichi = HyperbolicIntegrals("shichi")

_lambertw = ufunc_of(sc.lambertw)


class LambertW(Partials):
    """Branch k of Lambert's W, the solution of w exp(w) = z: complex always; inf is its slope at the branch point.

    Source: scipy.special.lambertw.
    """

    ufunc = numpy_function = _lambertw
    nin = 3
    steps = (1, 2)  # the branch, and a tolerance

    def slope(self, k, out, args, orders):
        return divide(exp(-out), 1.0 + out)  # w / (z (1 + w)) is 0 / 0 at 0

    def samples(self, rng):
        z = np.array([0.3 + 0.2j, -2.0 + 1j, 5.0 - 3j, 0.2j])
        for k in (-1, 0, 1):
            yield sample(z, k, 1e-8, name=f"branch {k}")
        yield sample(np.array([-0.3, -0.1]), -1, 1e-8, name="real, lower branch")
        yield sample(np.array([-0.3, 0.0, 1e-9, 50.0]), 0, 1e-8, name="real")
        yield sample(rng.uniform(0.5, 2.0, (2, 1)), np.array([0, 1, -2]), 1e-8, name="array of branches")
        yield sample(0.7, 0, 1e-8)
        yield sample(rng.normal(size=(0, 2)), 0, 1e-8)
        yield sample(rng.uniform(0.5, 2.0, 3).astype(np.float32), 0, 1e-8)


lambertw = LambertW("lambertw")
wrightomega = also(
    pointwise("wrightomega", sc.wrightomega, lambda w, _: divide(w, 1.0 + w)),
    sample(np.array([-30.0, 40.0]), name="far out"),
)


class ArithmeticGeometricMean(Partials):
    """The common limit of the arithmetic and geometric means of a and b: homogeneous of degree 1.

    The derivatives are those of the iteration, which converges quadratically with them. Source: scipy.special.agm.
    """

    ufunc = numpy_function = sc.agm
    nin = 2

    def evaluate(self, a, b, *, orders):
        signs = np.where((a < 0.0) & (b < 0.0), -1.0, 1.0)
        fine = signs * a * signs * b > 0.0
        fine &= a * signs > 0.0
        scale = np.where(fine, np.maximum(abs(a), abs(b)), 1.0)  # so that no square overflows
        x = jets.linear(np.where(fine, signs * a / scale, 1.0), orders, 0)
        y = jets.linear(np.where(fine, signs * b / scale, 1.0), orders, 1)
        for _ in range(12):
            x, y = 0.5 * (x + y), jets.square_root(jets.product(x, y, 2), 2)
        out = jets.derivative(x, orders) * scale ** (1 - sum(orders)) * signs ** (1 + sum(orders))
        return np.where(fine, out, np.nan)

    def samples(self, rng):
        for orders in [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)]:
            yield sample(np.array([1.0, 2.0, 0.3, 3.0]), np.array([1.0, 2.0 + 1e-9, 40.0, 0.5]), orders=orders)
            yield sample(np.array([-1.0, -2.0]), np.array([-3.0, -0.5]), orders=orders, name="negative")
        yield from draws(rng, [(0.5, 2.0), (0.5, 2.0)], {"orders": (1, 0)})


agm = ArithmeticGeometricMean("agm")
