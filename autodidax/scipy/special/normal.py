"""Error functions, the normal distribution and what is folded with it."""

from __future__ import annotations

from autodidax.primitives.special import normal as _primitives
from autodidax.scipy.special.publishing import public

erf = public(_primitives.erf, "Error function: 2/sqrt(pi) times the integral of exp(-t**2) from 0 to x.")
erfc = public(_primitives.erfc, "Complementary error function, 1 - erf(x).")
erfcx = public(_primitives.erfcx, "Scaled complementary error function, exp(x**2) erfc(x).")
erfi = public(_primitives.erfi, "Imaginary error function, -i erf(i x).")
erfinv = public(_primitives.erfinv, "Inverse of erf, on (-1, 1).")
erfcinv = public(_primitives.erfcinv, "Inverse of erfc, on (0, 2).")
dawsn = public(_primitives.dawsn, "Dawson's function: exp(-x**2) times the integral of exp(t**2) from 0 to x.")
wofz = public(_primitives.wofz, "Faddeeva function, exp(-z**2) erfc(-i z); complex always.")
voigt_profile = public(_primitives.voigt_profile, "Normal density of deviation sigma, folded with a Cauchy density.")
ndtr = public(_primitives.ndtr, "Distribution function of the standard normal distribution.")
log_ndtr = public(_primitives.log_ndtr, "Logarithm of ndtr, accurate in both tails, its derivatives too.")
ndtri = public(_primitives.ndtri, "Inverse of ndtr, on (0, 1).")
ndtri_exp = public(_primitives.ndtri_exp, "Inverse of log_ndtr.")
owens_t = public(_primitives.owens_t, "Owen's T function: the probability of X > h and 0 < Y < a X, X and Y normal.")
