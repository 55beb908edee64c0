"""The incomplete gamma and beta functions and their inverses, differentiable in all operands."""

from __future__ import annotations

from autodidax.primitives.special import incomplete as _primitives
from autodidax.scipy.special.publishing import public

gammainc = public(_primitives.gammainc, "Regularized lower incomplete gamma function.")
gammaincc = public(_primitives.gammaincc, "Regularized upper incomplete gamma function, 1 - gammainc(a, x).")
gammaincinv = public(_primitives.gammaincinv, "The x at which gammainc(a, x) is y.")
gammainccinv = public(_primitives.gammainccinv, "The x at which gammaincc(a, x) is y.")
betainc = public(_primitives.betainc, "Regularized incomplete beta function.")
betaincc = public(_primitives.betaincc, "1 - betainc(a, b, x).")
betaincinv = public(_primitives.betaincinv, "The x at which betainc(a, b, x) is y.")
betainccinv = public(_primitives.betainccinv, "The x at which betaincc(a, b, x) is y.")
