"""Exponential, sine and cosine integrals, Lambert's W, and the arithmetic-geometric mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from autodidax.core.interpreters import Tracer
from autodidax.numpy.dispatch import function_for, operand
from autodidax.primitives.special import integrals as _primitives
from autodidax.scipy.special.publishing import public

exp1 = public(_primitives.exp1, "Exponential integral E1, that of exp(-t)/t up from z.")
expi = public(_primitives.expi, "Exponential integral Ei, that of exp(t)/t up to x.")
expn = public(_primitives.expn, "Exponential integral E of a whole order n, differentiable in x.")
agm = public(_primitives.agm, "Arithmetic-geometric mean.")
wrightomega = public(_primitives.wrightomega, "Wright's omega function, the solution of w + log(w) = z.")


def sici(x: Any) -> tuple[Any, Any]:
    """Sine integral, of sin(t)/t from 0 to x, and cosine integral, of cos(t)/t up from infinity: (...) -> (...), (...).

    Source: scipy.special.sici.
    """
    return tuple(_primitives.sici(operand(x))) if isinstance(x, Tracer) else scipy.special.sici(x)


def shichi(x: Any) -> tuple[Any, Any]:
    """Hyperbolic sine and cosine integrals: (...) -> (...), (...). Source: scipy.special.shichi."""
    return tuple(_primitives.shichi(operand(x))) if isinstance(x, Tracer) else scipy.special.shichi(x)


@function_for(scipy.special.lambertw)
def lambertw(z: Any, k: Any = 0, tol: Any = 1e-8) -> Any:
    """Branch k of Lambert's W function, the solution of w exp(w) = z: (...) -> complex (...).

    The derivative is infinite at the branch point -1/e, for k = 0 and -1.

    Source: scipy.special.lambertw.
    """
    k = operand(k)
    return _primitives.lambertw(operand(z), k if isinstance(k, Tracer) else np.asarray(k, np.int_), tol)
