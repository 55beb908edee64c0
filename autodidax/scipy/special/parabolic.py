"""Parabolic cylinder functions."""

from __future__ import annotations

from autodidax.primitives.special import parabolic as _primitives
from autodidax.scipy.special.several import public_several

pbdv = public_several(_primitives.pbdv, "Parabolic cylinder function D_v(x) and its derivative, for constant v.")
pbvv = public_several(_primitives.pbvv, "Parabolic cylinder function V_v(x) and its derivative, for constant v.")
pbwa = public_several(_primitives.pbwa, "Parabolic cylinder function W(a, x) and its derivative, for constant a.")
