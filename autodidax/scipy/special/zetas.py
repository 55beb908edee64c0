"""The zeta functions of Riemann and Hurwitz."""

from __future__ import annotations

from typing import Any

from autodidax.primitives.special import zetas as _primitives
from autodidax.scipy.special.publishing import public

zetac = public(_primitives.zetac, "Riemann zeta function less 1.")


def zeta(x: Any, q: Any = None) -> Any:
    """Hurwitz zeta function: the sum of (k + q)**-x over k = 0, 1, ...; without q the Riemann zeta function.

    Differentiable in both. x may be complex.

    Source: scipy.special.zeta.
    """
    return _primitives.riemann_zeta(x) if q is None else _primitives.zeta(x, q)
