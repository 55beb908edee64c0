"""The gamma function and its kin."""

from __future__ import annotations

from typing import Any

from autodidax.primitives.special import gammas as _primitives
from autodidax.scipy.special.publishing import public

gamma = public(_primitives.gamma, "Gamma function.")
gammaln = public(_primitives.gammaln, "Logarithm of the absolute value of the gamma function.")
loggamma = public(_primitives.loggamma, "Principal branch of the logarithm of the gamma function, of a real argument.")
digamma = psi = public(_primitives.digamma, "Derivative of gammaln.")
beta = public(_primitives.beta, "Beta function, gamma(a) gamma(b)/gamma(a + b).")
betaln = public(_primitives.betaln, "Logarithm of the absolute value of the beta function.")
polygamma = public(_primitives.polygamma, "polygamma(n, x), the n-th derivative of digamma, of constant order n >= 0.")


def zeta(x: Any, q: Any = None) -> Any:
    """Hurwitz zeta function: the sum of (k + q)**-x over k = 0, 1, ...; without q the Riemann zeta function.

    Differentiable in q.

    Source: scipy.special.zeta.
    """
    return _primitives.riemann_zeta(x) if q is None else _primitives.zeta(x, q)
