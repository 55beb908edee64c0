"""Elliptic integrals and functions."""

from __future__ import annotations

from autodidax.primitives.special import elliptic as _primitives
from autodidax.scipy.special.publishing import public
from autodidax.scipy.special.several import public_several

ellipk = public(_primitives.ellipk, "Complete elliptic integral of the first kind, of the parameter m.")
ellipkm1 = public(_primitives.ellipkm1, "ellipk(1 - p), accurate for small p.")
ellipe = public(_primitives.ellipe, "Complete elliptic integral of the second kind.")
ellipkinc = public(_primitives.ellipkinc, "Incomplete elliptic integral of the first kind, ellipkinc(phi, m).")
ellipeinc = public(_primitives.ellipeinc, "Incomplete elliptic integral of the second kind, ellipeinc(phi, m).")
ellipj = public_several(_primitives.ellipj, "Jacobi's elliptic functions of (u, m): sn, cn, dn and the amplitude.")
elliprc = public(_primitives.elliprc, "Carlson's degenerate integral R_C(x, y).")
elliprd = public(_primitives.elliprd, "Carlson's integral R_D(x, y, z).")
elliprf = public(_primitives.elliprf, "Carlson's integral R_F(x, y, z).")
elliprg = public(_primitives.elliprg, "Carlson's integral R_G(x, y, z).")
elliprj = public(_primitives.elliprj, "Carlson's integral R_J(x, y, z, p); for negative p without derivatives.")
