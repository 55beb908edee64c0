"""Airy functions."""

from __future__ import annotations

from autodidax.primitives.special import airy as _primitives
from autodidax.scipy.special.several import public_several

airy = public_several(_primitives.airy, "Airy functions: Ai, its derivative, Bi, its derivative.")
airye = public_several(_primitives.airye, "airy(z) without its exponential growth and decay.")
itairy = public_several(_primitives.itairy, "Integrals from 0 to x of Ai(t), Bi(t), Ai(-t) and Bi(-t).")
