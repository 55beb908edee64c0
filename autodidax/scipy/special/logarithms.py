"""Logistic functions, products with logarithms, entropies."""

from __future__ import annotations

from autodidax.primitives.special import logarithms as _primitives
from autodidax.scipy.special.publishing import public

expit = public(_primitives.expit, "Logistic function, 1/(1 + exp(-x)).")
logit = public(_primitives.logit, "Inverse of expit: log(x/(1 - x)) on (0, 1).")
log_expit = public(_primitives.log_expit, "Logarithm of expit.")
xlogy = public(_primitives.xlogy, "x log(y), and 0 where x is 0.")
xlog1py = public(_primitives.xlog1py, "x log(1 + y), and 0 where x is 0.")
entr = public(_primitives.entr, "Entropy of one probability: -x log(x), and 0 at 0.")
rel_entr = public(_primitives.rel_entr, "Relative entropy of one probability: x log(x/y), and 0 at x = 0.")
kl_div = public(_primitives.kl_div, "x log(x/y) - x + y, which is rel_entr made convex in both.")
