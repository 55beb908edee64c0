"""Mathieu functions of (m, q, x), each with its derivative."""

from __future__ import annotations

from autodidax.primitives.special import mathieu as _primitives
from autodidax.scipy.special.publishing import public
from autodidax.scipy.special.several import public_several

mathieu_a = public(_primitives.mathieu_a, "Characteristic value of even functions, once differentiable in q.")
mathieu_b = public(_primitives.mathieu_b, "Characteristic value of odd functions, once differentiable in q.")
mathieu_cem = public_several(_primitives.mathieu_cem, "Even Mathieu function, x in degrees.")
mathieu_sem = public_several(_primitives.mathieu_sem, "Odd Mathieu function, x in degrees.")
mathieu_modcem1 = public_several(_primitives.mathieu_modcem1, "Even modified Mathieu function of the first kind.")
mathieu_modcem2 = public_several(_primitives.mathieu_modcem2, "Even modified Mathieu function of the second kind.")
mathieu_modsem1 = public_several(_primitives.mathieu_modsem1, "Odd modified Mathieu function of the first kind.")
mathieu_modsem2 = public_several(_primitives.mathieu_modsem2, "Odd modified Mathieu function of the second kind.")
