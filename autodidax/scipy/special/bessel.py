"""Bessel functions."""

from __future__ import annotations

from autodidax.primitives.special import bessel as _primitives
from autodidax.scipy.special.publishing import public

i0 = public(_primitives.i0, "Modified Bessel function of the first kind, order 0.")
i0e = public(_primitives.i0e, "exp(-|x|) i0(x).")
i1 = public(_primitives.i1, "Modified Bessel function of the first kind, order 1.")
i1e = public(_primitives.i1e, "exp(-|x|) i1(x).")
iv = public(_primitives.iv, "Modified Bessel function of the first kind, iv(v, x), of constant order v.")
ive = public(_primitives.ive, "exp(-|x|) iv(v, x), of constant order v.")
