"""Legendre functions and spherical harmonics."""

from __future__ import annotations

import operator
from typing import Any

import scipy.special

from autodidax import errors
from autodidax.numpy.dispatch import function_for, operand
from autodidax.primitives.shape import stack
from autodidax.primitives.special import legendre as _primitives
from autodidax.scipy.special.publishing import public
from autodidax.scipy.special.several import without_derivative

lpmv = public(_primitives.lpmv, "Associated Legendre function of order m and degree v at x, lpmv(m, v, x).")


def _count(name: str, diff_n: Any, highest: int) -> int:
    k = operator.index(diff_n)
    if not 0 <= k <= highest:
        raise errors.UnsupportedError(
            f"{name}: diff_n={diff_n} is not supported on traced values",
            mend=f"take diff_n up to {highest}, and higher derivatives by transforms",
        )
    return k


@function_for(scipy.special.legendre_p)
def legendre_p(n: Any, z: Any, *, diff_n: int = 0) -> Any:
    """Legendre polynomials and their derivatives up to number diff_n: (...), (...) -> (diff_n + 1, ...).

    Source: scipy.special.legendre_p.
    """
    n, z = operand(n), operand(z)
    further = [_primitives.legendre_regular(0, n, z, k=k) for k in range(1, _count("legendre_p", diff_n, 99) + 1)]
    return stack(_primitives.legendre_p(n, z), *further, axis=0)


@function_for(scipy.special.assoc_legendre_p)
def assoc_legendre_p(n: Any, m: Any, z: Any, *, branch_cut: Any = 2, norm: bool = False, diff_n: int = 0) -> Any:
    """Associated Legendre functions and their derivatives up to number diff_n: (...) -> (diff_n + 1, ...).

    Source: scipy.special.assoc_legendre_p.
    """
    n, m, z = operand(n), operand(m), operand(z)
    count = _count("assoc_legendre_p", diff_n, 2)
    given = {"branch_cut": operator.index(branch_cut), "norm": bool(norm)}
    return stack(*[_primitives.assoc_legendre_p(n, m, z, derivative=k, **given) for k in range(count + 1)], axis=0)


@function_for(scipy.special.sph_legendre_p)
def sph_legendre_p(n: Any, m: Any, theta: Any, *, diff_n: int = 0) -> Any:
    """Associated Legendre functions of cos(theta), as spherical harmonics have them: (...) -> (diff_n + 1, ...).

    Source: scipy.special.sph_legendre_p.
    """
    n, m, theta = operand(n), operand(m), operand(theta)
    count = _count("sph_legendre_p", diff_n, 2)
    return stack(
        _primitives.sph_legendre_p(n, m, theta),
        *[_primitives.polar_derivative(n, m, theta, k) for k in range(1, count + 1)],
        axis=0,
    )


@function_for(scipy.special.sph_harm_y)
def sph_harm_y(n: Any, m: Any, theta: Any, phi: Any, *, diff_n: int = 0) -> Any:
    """Spherical harmonics of degree n and order m at the polar angle theta and the azimuth phi: (...) -> (...).

    With diff_n a tuple: also their gradients (..., 2), and for 2 their Hessians (..., 2, 2).

    Source: scipy.special.sph_harm_y.
    """
    n, m, theta, phi = operand(n), operand(m), operand(theta), operand(phi)
    count = _count("sph_harm_y", diff_n, 2)
    slopes = [_primitives.harmonic_derivative(n, m, theta, phi, k) for k in range(1, count + 1)]
    values = [_primitives.sph_harm_y(n, m, theta, phi), *slopes]
    turned = 1j * m
    if count == 0:
        return values[0]
    gradient = stack(values[1], turned * values[0], axis=-1)
    if count == 1:
        return values[0], gradient
    mixed = turned * values[1]
    rows = [stack(values[2], mixed, axis=-1), stack(mixed, turned * turned * values[0], axis=-1)]
    return values[0], gradient, stack(*rows, axis=-2)


_ONE_BY_ONE = "call the function of one degree and order, of the same name without _all, and stack its results"
legendre_p_all = without_derivative(scipy.special.legendre_p_all, _ONE_BY_ONE)
assoc_legendre_p_all = without_derivative(scipy.special.assoc_legendre_p_all, _ONE_BY_ONE)
sph_legendre_p_all = without_derivative(scipy.special.sph_legendre_p_all, _ONE_BY_ONE)
sph_harm_y_all = without_derivative(scipy.special.sph_harm_y_all, _ONE_BY_ONE)
