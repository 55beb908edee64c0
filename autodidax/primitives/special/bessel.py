"""Bessel functions: differentiable in the argument to every order, and in the order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.avals import ShapedArray, broadcast_shapes
from autodidax.core.interpreters import dtype_of
from autodidax.core.primitive import Pointwise, Primitive, align_batch, pointwise, sample
from autodidax.primitives.convert import imag, real
from autodidax.primitives.elementwise import also, sign
from autodidax.primitives.special.order_derivatives import bessel_derivative, in_argument, in_order
from autodidax.primitives.special.orders import not_in, order_samples
from autodidax.primitives.special.polynomials import constant_in

_ZERO = sample(np.array([0.0, 1e-8, -2.5, 30.0]), name="at 0, negative, large")
_POSITIVE = sample(np.array([1e-3, 0.7, 30.0]), name="small, large")


def _order_samples(*extra: Any, imaginary: bool = False) -> Callable[..., Any]:
    def samples(rng):
        yield from order_samples(0.5, 4.0)(rng)
        yield sample(rng.uniform(-1.5, 3.5, 3), rng.uniform(0.5, 4.0, 3), name="fractional orders")
        yield sample(np.array([-2, -1]), rng.uniform(0.5, 4.0, (3, 1)), name="negative orders")
        if imaginary:
            z = rng.uniform(0.5, 3.0, 3) + 1j * rng.uniform(-2.0, 2.0, 3)
            yield sample(2, z, name="complex")
            yield sample(0.5, z[:2].astype(np.complex64), name="complex64")
        yield from extra

    return samples


def _of_order(ufunc: Any, by_argument: Any, *extra: Any) -> Pointwise:
    name = ufunc.__name__
    return pointwise(
        name, ufunc, nin=2, module=__name__, samples=_order_samples(*extra, imaginary=True),
        products=(in_order(name), by_argument),
    )  # fmt: skip


_AT_ZERO = sample(np.array([0, 1, 2, 3]), np.zeros(4), name="integer orders at 0")
_MIRRORED = sample(np.array([0, 1, 2, -3]), np.array([-0.5, -3.0, -4.0, -1.0]), name="negative arguments")
_LARGE = sample(np.array([0.0, 2.5]), np.array([[40.0], [300.0]]), name="large arguments")

# of the first and second kind

jv: Pointwise = _of_order(
    sc.jv, lambda t, _z, v, x: t * (0.5 * (jv(v - 1, x) - jv(v + 1, x))), _AT_ZERO, _MIRRORED, _LARGE
)
yv: Pointwise = _of_order(sc.yv, lambda t, _z, v, x: t * (0.5 * (yv(v - 1, x) - yv(v + 1, x))), _LARGE)
j0 = also(pointwise("j0", sc.j0, lambda _, x: -j1(x), complex_ok=False), _ZERO)
j1: Pointwise = also(pointwise("j1", sc.j1, lambda _, x: 0.5 * (j0(x) - jv(2, x)), complex_ok=False), _ZERO)
y0 = also(pointwise("y0", sc.y0, lambda _, x: -y1(x), domain=(0.5, 4.0), complex_ok=False), _POSITIVE)
y1: Pointwise = also(
    pointwise("y1", sc.y1, lambda _, x: 0.5 * (y0(x) - yv(2, x)), domain=(0.5, 4.0), complex_ok=False), _POSITIVE
)


def _integer_order(name: str, ufunc: Any, by_argument: Any) -> Pointwise:
    """A function of an integer order, which SciPy cuts a fractional one to."""

    def samples(rng):
        yield from order_samples(0.5, 4.0)(rng)

    products = (not_in(name, "order"), by_argument)
    return pointwise(name, ufunc, nin=2, module=__name__, samples=samples, products=products, complex_ok=False)


yn: Pointwise = _integer_order("yn", sc.yn, lambda t, _z, n, x: t * (0.5 * (yn(n - 1, x) - yn(n + 1, x))))
kn: Pointwise = _integer_order("kn", sc.kn, lambda t, _z, n, x: t * (-0.5 * (kn(n - 1, x) + kn(n + 1, x))))

# of the third kind

hankel1: Pointwise = _of_order(
    sc.hankel1, lambda t, _z, v, x: t * (0.5 * (hankel1(v - 1, x) - hankel1(v + 1, x))), _LARGE
)
hankel2: Pointwise = _of_order(
    sc.hankel2, lambda t, _z, v, x: t * (0.5 * (hankel2(v - 1, x) - hankel2(v + 1, x))), _LARGE
)
hankel1e: Pointwise = _of_order(sc.hankel1e, in_argument("hankel1e"), _LARGE)
hankel2e: Pointwise = _of_order(sc.hankel2e, in_argument("hankel2e"), _LARGE)

# modified ones

iv: Pointwise = _of_order(sc.iv, lambda t, _z, v, x: t * (0.5 * (iv(v - 1, x) + iv(v + 1, x))), _AT_ZERO, _MIRRORED)
kv: Pointwise = _of_order(sc.kv, lambda t, _z, v, x: t * (-0.5 * (kv(v - 1, x) + kv(v + 1, x))))
kve: Pointwise = _of_order(sc.kve, in_argument("kve"), _LARGE)
i0 = also(pointwise("i0", sc.i0, lambda _, x: i1(x), complex_ok=False), _ZERO)
i1: Pointwise = also(pointwise("i1", sc.i1, lambda _, x: 0.5 * (i0(x) + iv(2, x)), complex_ok=False), _ZERO)
k0 = also(pointwise("k0", sc.k0, lambda _, x: -k1(x), domain=(0.5, 4.0), complex_ok=False), _POSITIVE)
k1: Pointwise = also(
    pointwise("k1", sc.k1, lambda _, x: -0.5 * (k0(x) + kv(2, x)), domain=(0.5, 4.0), complex_ok=False), _POSITIVE
)


def _scaled(name: str, ufunc: Any, function: str, order: int, domain: Any, extra: Any) -> Pointwise:
    slope = lambda _, x: bessel_derivative(order, x, function=function, a=0, n=1)
    return also(pointwise(name, ufunc, slope, domain=domain, complex_ok=False, module=__name__), *extra)


_NO_KINK = sample(np.array([-700.0, -2.5, 1e-8, 30.0, 1e4]), name="negative, large")
_KINK = sample(np.array([0.0]), nonsmooth=True, name="at 0")
i0e = _scaled("i0e", sc.i0e, "ive", 0, (-2.0, 2.0), [_NO_KINK, _KINK])
i1e = _scaled("i1e", sc.i1e, "ive", 1, (-2.0, 2.0), [_NO_KINK, _KINK])
k0e = _scaled("k0e", sc.k0e, "kve", 0, (0.5, 4.0), [_POSITIVE])
k1e = _scaled("k1e", sc.k1e, "kve", 1, (0.5, 4.0), [_POSITIVE])

# scaled by the exponential of a modulus: for complex arguments no holomorphic function


class ScaledComplex(Primitive):
    """exp(-|part of z|) times a Bessel function of complex z: (...), c128[...] -> c128[...]; not holomorphic.

    Source: scipy.special's function of that name.
    """

    def __init__(self, name: str, ufunc: Any, high: float, imaginary: bool):
        self.ufunc, self.high, self.imaginary = ufunc, high, imaginary
        super().__init__(f"{name}_complex", module=__name__)

    def impl(self, v, z):
        return self.ufunc(v, z)

    def abstract_eval(self, v, z):
        ones = [a.dtype.type(1).item() if a.weak_type else np.ones(1, a.dtype) for a in (v, z)]
        return ShapedArray(broadcast_shapes(self.name, v.shape, z.shape), self.ufunc(*ones).dtype)

    def jvp(self, out, primals, tangents):
        (v, z), (tv, tz) = primals, tangents
        if tv is not None:
            not_in(self.ufunc.__name__, "order for a complex argument")(tv, out, v, z)
        part = imag if self.imaginary else real
        slope = 0.5 * self(v - 1, z) + self.high * self(v + 1, z)
        return tz * slope - out * (sign(part(z)) * part(tz))

    def batch(self, args, dims):
        return self(*align_batch(args, dims)), 0

    def samples(self, rng):
        z = rng.uniform(0.5, 3.0, (2, 3)) + 1j * rng.uniform(0.2, 2.0, (2, 3))
        yield sample(1, z)
        yield sample(np.array([0.5, 1.0, 2.0]), -z)
        yield sample(2, z[0, 0])
        yield sample(np.array(1), z[:0])
        yield sample(1, z[0].astype(np.complex64))


def _modulus_scaled(ufunc: Any, plain: str, high: float, imaginary: bool, real_rules: Any, *extra: Any) -> Pointwise:
    name = ufunc.__name__
    p = pointwise(name, ufunc, nin=2, module=__name__, products=real_rules, samples=_order_samples(*extra))
    of_complex = ScaledComplex(name, ufunc, high, imaginary)
    on_reals = p.op

    def op(v: Any, x: Any) -> Any:
        return of_complex(v, x) if dtype_of(x).kind == "c" else on_reals(v, x)

    op.__name__, op.__qualname__, op.__doc__ = on_reals.__name__, on_reals.__qualname__, on_reals.__doc__
    p.op = op
    return p


jve: Pointwise = _modulus_scaled(
    sc.jve, "jv", -0.5, True,
    (in_order("jv"), lambda t, _z, v, x: t * (0.5 * (jv(v - 1, x) - jv(v + 1, x)))), _AT_ZERO, _LARGE,
)  # fmt: skip
yve: Pointwise = _modulus_scaled(
    sc.yve, "yv", -0.5, True,
    (in_order("yv"), lambda t, _z, v, x: t * (0.5 * (yv(v - 1, x) - yv(v + 1, x)))), _LARGE,
)  # fmt: skip
ive: Pointwise = _modulus_scaled(
    sc.ive, "iv", 0.5, False, (in_order("ive"), in_argument("ive")), _LARGE,
    sample(np.array([0, 1, 2]), np.array([-0.5, -3.0, -40.0]), name="negative arguments"),
)  # fmt: skip

# an integral of them


def _besselpoly_samples(rng):
    for shapes in [((), (), ()), ((3,), (3,), (3,)), ((2, 1), (1,), (3,)), ((0, 2), (), ())]:
        yield sample(rng.uniform(0.5, 3.0, shapes[0]), rng.integers(1, 3, shapes[1]), rng.integers(0, 3, shapes[2]))
    yield sample(rng.uniform(0.5, 3.0, 2).astype(np.float32), 2, 1)
    yield sample(0.0, 2, 1, name="at 0")


besselpoly: Pointwise = pointwise(
    "besselpoly", sc.besselpoly, nin=3, module=__name__, samples=_besselpoly_samples,
    products=(
        lambda t, _z, a, r, v: t * (besselpoly(a, r + 1, v - 1) - besselpoly(a, r + 1, v + 1)),
        constant_in("besselpoly", "power", 3),
        constant_in("besselpoly", "order", 3),
    ),
)  # fmt: skip
