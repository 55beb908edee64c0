"""Special functions of SciPy, by family. This package loads scipy.special, so it is imported on first use only.

Each has derivatives of every order: families are closed under differentiation (digamma and polygamma; the ratios of
normal tails; the Bessel functions I_v), and the formulas keep their relative accuracy in the tails.
"""

from __future__ import annotations

from typing import Any

from autodidax.core.primitive import Primitive, registry
from autodidax.primitives.special import bessel, gammas, logarithms, normal

#: operands in which a primitive has no derivative, by name of the primitive
CONSTANT_OPERANDS = {"zeta": (0,), "polygamma": (0,), "iv": (0,), "ive": (0,)}

FAMILIES = (bessel, gammas, logarithms, normal)

#: SciPy's function -> primitive
BY_FUNCTION: dict[Any, Primitive] = {
    p.numpy_function: p
    for family in FAMILIES
    for p in registry.in_module(family.__name__)
    if p.numpy_function is not None
}
