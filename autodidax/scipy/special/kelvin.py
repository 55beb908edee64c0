"""Kelvin functions."""

from __future__ import annotations

from autodidax.primitives.special import kelvin as _primitives
from autodidax.scipy.special.publishing import public
from autodidax.scipy.special.several import public_several

ber = public(_primitives.ber, "Kelvin function ber.")
bei = public(_primitives.bei, "Kelvin function bei.")
ker = public(_primitives.ker, "Kelvin function ker.")
kei = public(_primitives.kei, "Kelvin function kei.")
berp = public(_primitives.berp, "Derivative of ber.")
beip = public(_primitives.beip, "Derivative of bei.")
kerp = public(_primitives.kerp, "Derivative of ker.")
keip = public(_primitives.keip, "Derivative of kei.")
kelvin = public_several(_primitives.kelvin, "ber + i bei, ker + i kei, and their derivatives.")
