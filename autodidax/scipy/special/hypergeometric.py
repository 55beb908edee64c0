"""Hypergeometric functions, differentiable in the parameters and in the variable."""

from __future__ import annotations

from autodidax.primitives.special import hypergeometric as _primitives
from autodidax.scipy.special.publishing import public

hyp0f1 = public(_primitives.hyp0f1, "Confluent hypergeometric limit function 0F1(b; z).")
hyp1f1 = public(_primitives.hyp1f1, "Kummer's confluent hypergeometric function 1F1(a; b; z).")
hyp2f1 = public(_primitives.hyp2f1, "Gauss's hypergeometric function 2F1(a, b; c; z).")
hyperu = public(_primitives.hyperu, "Tricomi's confluent hypergeometric function U(a, b, x).")
