"""Struve functions."""

from __future__ import annotations

from autodidax.primitives.special import struve as _primitives
from autodidax.scipy.special.publishing import public

struve = public(_primitives.struve, "Struve function, struve(v, x), of constant order.")
modstruve = public(_primitives.modstruve, "Modified Struve function, modstruve(v, x), of constant order.")
itstruve0 = public(_primitives.itstruve0, "Integral of struve(0, t) from 0 to x.")
it2struve0 = public(_primitives.it2struve0, "Integral of struve(0, t)/t from x to infinity.")
itmodstruve0 = public(_primitives.itmodstruve0, "Integral of modstruve(0, t) from 0 to x.")
