"""Logistic functions, products with logarithms, entropies."""

from __future__ import annotations

import numpy as np
import scipy.special as sc

from autodidax.core.interpreters import dtype_of
from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.comparison import equal, logical_and
from autodidax.primitives.convert import astype
from autodidax.primitives.elementwise import also, divide, log
from autodidax.primitives.select import where

expit: Pointwise = pointwise("expit", sc.expit, lambda y, x: y * expit(-x), complex_ok=False)
logit = pointwise("logit", sc.logit, lambda _, x: divide(1.0, x * (1.0 - x)), domain=(0.1, 0.9), complex_ok=False)
log_expit = pointwise("log_expit", sc.log_expit, lambda _, x: expit(-x), complex_ok=False)

# products with logarithms, entropies


def _quotient(z, x, y):
    """x/y, and 0 where both are 0, in the dtype of z."""
    both = logical_and(equal(x, 0), equal(y, 0))
    return where(both, 0, divide(x, astype(where(both, 1, y), dtype_of(z))))


def _with_edges(p: Pointwise, zero: float) -> Pointwise:
    return also(
        p,
        sample(np.array([0.5, 1.5], np.float32), 2.0, name="Python scalar"),
        sample(2.0, np.array([0.5, 1.5], np.float32), name="Python scalar"),
        sample(np.array([0.0, 0.0]), np.array([0.5, zero]), nonsmooth=True, name="at 0"),
    )


xlogy = pointwise(
    "xlogy", sc.xlogy, lambda z, _, y: astype(log(y), dtype_of(z)), _quotient, domain=[(-2.0, 2.0), (0.3, 2.0)]
)
xlog1py: Pointwise = pointwise(
    "xlog1py", sc.xlog1py,
    lambda z, _, y: astype(xlog1py(1.0, y), dtype_of(z)),  # NumPy's log1p loses the digits of small complex numbers
    lambda z, x, y: _quotient(z, x, 1.0 + y),
    domain=[(-2.0, 2.0), (-0.7, 2.0)],
)  # fmt: skip
entr = pointwise("entr", sc.entr, lambda _, x: -log(x) - 1.0, domain=(0.1, 2.0), complex_ok=False)
rel_entr = pointwise(
    "rel_entr", sc.rel_entr,
    lambda _, x, y: log(divide(x, y)) + 1.0,
    lambda z, x, y: -_quotient(z, x, y),
    domain=(0.1, 2.0), complex_ok=False,
)  # fmt: skip
kl_div = pointwise(
    "kl_div", sc.kl_div,
    lambda _, x, y: log(divide(x, y)),
    lambda z, x, y: 1.0 - _quotient(z, x, y),
    domain=(0.1, 2.0), complex_ok=False,
)  # fmt: skip
for p, zero in [(xlogy, 0.0), (xlog1py, -1.0), (rel_entr, 0.0), (kl_div, 0.0)]:
    _with_edges(p, zero)
