"""Logistic functions, products with logarithms, entropies, power transforms, losses, elementary functions."""

from __future__ import annotations

from typing import Any

from autodidax.numpy import elementwise as _elementwise
from autodidax.primitives.special import logarithms as _primitives
from autodidax.scipy.special.publishing import public

expit = public(_primitives.expit, "Logistic function, 1/(1 + exp(-x)).")
logit = public(_primitives.logit, "Inverse of expit: log(x/(1 - x)) on (0, 1).")
log_expit = public(_primitives.log_expit, "Logarithm of expit.")
exprel = public(_primitives.exprel, "(exp(x) - 1)/x, 1 at 0.")
xlogy = public(_primitives.xlogy, "x log(y), and 0 where x is 0.")
xlog1py = public(_primitives.xlog1py, "x log(1 + y), and 0 where x is 0.")
entr = public(_primitives.entr, "Entropy of one probability: -x log(x), and 0 at 0.")
rel_entr = public(_primitives.rel_entr, "Relative entropy of one probability: x log(x/y), and 0 at x = 0.")
kl_div = public(_primitives.kl_div, "x log(x/y) - x + y, which is rel_entr made convex in both.")
huber = public(_primitives.huber, "Huber's loss of r: r**2/2 up to delta, and linear from there on.")
pseudo_huber = public(_primitives.pseudo_huber, "Smooth form of Huber's loss: delta**2 (sqrt(1 + (r/delta)**2) - 1).")
boxcox = public(_primitives.boxcox, "Power transform (x**p - 1)/p, and log(x) for p = 0.")
boxcox1p = public(_primitives.boxcox1p, "Power transform of 1 + x.")
inv_boxcox = public(_primitives.inv_boxcox, "Inverse of boxcox in x.")
inv_boxcox1p = public(_primitives.inv_boxcox1p, "Inverse of boxcox1p in x.")
powm1 = public(_primitives.powm1, "x**y - 1.")
spence = public(_primitives.spence, "Spence's function: the integral of log(t)/(1 - t) from 1 to z.")
log1p = public(_primitives.log1p, "log(1 + x).")
expm1 = public(_primitives.expm1, "exp(x) - 1.")
exp2 = public(_primitives.exp2, "2**x.")
exp10 = public(_primitives.exp10, "10**x.")
cbrt = public(_primitives.cbrt, "Cube root.")
cosm1 = public(_primitives.cosm1, "cos(x) - 1.")
sindg = public(_primitives.sindg, "Sine of an angle in degrees.")
cosdg = public(_primitives.cosdg, "Cosine of an angle in degrees.")
tandg = public(_primitives.tandg, "Tangent of an angle in degrees.")
cotdg = public(_primitives.cotdg, "Cotangent of an angle in degrees.")
radian = public(_primitives.radian, "An angle of degrees, minutes and seconds in radians.")
round = public(_primitives.round, "The nearest integer, halves to even; its derivative is 0.")


def sinc(x: Any) -> Any:
    """sin(pi x)/(pi x), 1 at 0; right at 0 in every order.

    Source: scipy.special.sinc.
    """
    return _elementwise.sinc(x)
