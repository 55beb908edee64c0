"""Fresnel integrals."""

from __future__ import annotations

from autodidax.primitives.special import fresnel as _primitives
from autodidax.scipy.special.several import public_several

fresnel = public_several(_primitives.fresnel, "Fresnel integrals S and C: of sin and cos of pi t**2/2 from 0 to z.")
modfresnelp = public_several(_primitives.modfresnelp, "Modified Fresnel integrals F+ and K+, for x >= 0.")
modfresnelm = public_several(_primitives.modfresnelm, "Modified Fresnel integrals F- and K-, for x >= 0.")
