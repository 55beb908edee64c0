"""Special functions of SciPy, by family. This package loads scipy.special, so it is imported on first use only.

Each has derivatives of every order: families are closed under differentiation (digamma and polygamma; the ratios of
normal tails; the Bessel functions I_v), and the formulas keep their relative accuracy in the tails.
"""

from __future__ import annotations

from typing import Any

from autodidax.core.primitive import Primitive, registry
from autodidax.primitives.special import (
    airy,
    bessel,
    bessel_integrals,
    distributions,
    elliptic,
    fresnel,
    gammas,
    hypergeometric,
    incomplete,
    integrals,
    kelvin,
    legendre,
    logarithms,
    mathieu,
    normal,
    order_derivatives,
    parabolic,
    partials,
    polynomials,
    several_results,
    spherical,
    spheroidal,
    struve,
    students,
    zetas,
)

#: operands in which a primitive has no derivative, by name of the primitive
CONSTANT_OPERANDS: dict[str, tuple[int, ...]] = {
    "polygamma": (0,),
    **{p.name: p.constant_operands for p in registry if isinstance(p, several_results.SeveralResults)},
    **{p.name: (*p.constant, *p.steps) for p in registry if isinstance(p, partials.Partials)},
    **dict.fromkeys(("yn", "kn", "struve", "modstruve", "jve_complex", "yve_complex", "ive_complex"), (0,)),
    **dict.fromkeys(("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn", "legendre_p"), (0,)),
    **dict.fromkeys(("mathieu_a", "mathieu_b"), (0,)),
    **dict.fromkeys(("lpmv", "sph_legendre_p", "sph_harm_y", "legendre_regular", "assoc_legendre_p"), (0, 1)),
    **dict.fromkeys(("wright_bessel", "log_wright_bessel"), (0, 1)),
    "besselpoly": (1, 2),
    **{p.name: tuple(range(p.nin - 1)) for p in polynomials.ALL},
}

FAMILIES = (
    airy, bessel, bessel_integrals, distributions, elliptic, fresnel, gammas, hypergeometric, incomplete, integrals,
    kelvin, legendre, logarithms, mathieu, normal, order_derivatives, parabolic, polynomials, spherical, spheroidal,
    struve, students, zetas,
)  # fmt: skip

#: SciPy's function -> primitive
BY_FUNCTION: dict[Any, Primitive] = {
    p.numpy_function: p
    for family in FAMILIES
    for p in registry.in_module(family.__name__)
    if p.numpy_function is not None
}
