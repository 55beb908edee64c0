"""Spheroidal wave functions, each with its derivative."""

from __future__ import annotations

from autodidax.primitives.special import spheroidal as _primitives
from autodidax.scipy.special.publishing import public
from autodidax.scipy.special.several import public_several

pro_cv = public(_primitives.pro_cv, "Characteristic value of prolate spheroidal functions, pro_cv(m, n, c).")
obl_cv = public(_primitives.obl_cv, "Characteristic value of oblate spheroidal functions, obl_cv(m, n, c).")
pro_ang1 = public_several(
    _primitives.pro_ang1, "Prolate spheroidal angular function of the first kind of (m, n, c, x)."
)
pro_ang1_cv = public_several(_primitives.pro_ang1_cv, "The same for a given characteristic value cv.")
pro_rad1 = public_several(_primitives.pro_rad1, "Prolate spheroidal radial function of the first kind of (m, n, c, x).")
pro_rad1_cv = public_several(_primitives.pro_rad1_cv, "The same for a given characteristic value cv.")
pro_rad2 = public_several(
    _primitives.pro_rad2, "Prolate spheroidal radial function of the second kind of (m, n, c, x)."
)
pro_rad2_cv = public_several(_primitives.pro_rad2_cv, "The same for a given characteristic value cv.")
obl_ang1 = public_several(_primitives.obl_ang1, "Oblate spheroidal angular function of the first kind of (m, n, c, x).")
obl_ang1_cv = public_several(_primitives.obl_ang1_cv, "The same for a given characteristic value cv.")
obl_rad1 = public_several(_primitives.obl_rad1, "Oblate spheroidal radial function of the first kind of (m, n, c, x).")
obl_rad1_cv = public_several(_primitives.obl_rad1_cv, "The same for a given characteristic value cv.")
obl_rad2 = public_several(_primitives.obl_rad2, "Oblate spheroidal radial function of the second kind of (m, n, c, x).")
obl_rad2_cv = public_several(_primitives.obl_rad2_cv, "The same for a given characteristic value cv.")
