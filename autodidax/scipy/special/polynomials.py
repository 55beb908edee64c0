"""Orthogonal polynomials, differentiable in the variable, which comes last; degrees and parameters are constant."""

from __future__ import annotations

from autodidax.primitives.special import polynomials as _primitives
from autodidax.scipy.special.publishing import public

eval_legendre = public(_primitives.eval_legendre, "Legendre polynomial of degree n at x.")
eval_chebyt = public(_primitives.eval_chebyt, "Chebyshev (first kind) polynomial of degree n at x.")
eval_chebyu = public(_primitives.eval_chebyu, "Chebyshev (second kind) polynomial of degree n at x.")
eval_chebyc = public(_primitives.eval_chebyc, "Chebyshev (first kind, on [-2, 2]) polynomial of degree n at x.")
eval_chebys = public(_primitives.eval_chebys, "Chebyshev (second kind, on [-2, 2]) polynomial of degree n at x.")
eval_sh_legendre = public(_primitives.eval_sh_legendre, "Shifted Legendre polynomial of degree n at x.")
eval_sh_chebyt = public(_primitives.eval_sh_chebyt, "Shifted Chebyshev (first kind) polynomial of degree n at x.")
eval_sh_chebyu = public(_primitives.eval_sh_chebyu, "Shifted Chebyshev (second kind) polynomial of degree n at x.")
eval_laguerre = public(_primitives.eval_laguerre, "Laguerre polynomial of degree n at x.")
eval_hermite = public(_primitives.eval_hermite, "Hermite (physicists') polynomial of degree n at x.")
eval_hermitenorm = public(_primitives.eval_hermitenorm, "Hermite (probabilists') polynomial of degree n at x.")
eval_gegenbauer = public(_primitives.eval_gegenbauer, "Gegenbauer polynomial of degree n at x.")
eval_genlaguerre = public(_primitives.eval_genlaguerre, "Generalized Laguerre polynomial of degree n at x.")
eval_jacobi = public(_primitives.eval_jacobi, "Jacobi polynomial of degree n at x.")
eval_sh_jacobi = public(_primitives.eval_sh_jacobi, "Shifted Jacobi polynomial of degree n at x.")
