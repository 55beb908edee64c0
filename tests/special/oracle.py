"""Functions of one variable beside mpmath's: what the tests of Bessel, elliptic and the like compare, and where.

`python -m tests.special.oracle` computes the recorded values anew (it needs mpmath and takes a minute).
"""

import json
from pathlib import Path

import numpy as np

from autodidax.scipy import special as ad

RECORDED = Path(__file__).with_name("recorded.json")
SMALL_TO_LARGE = (1e-3, 0.4, 1.0, 2.5, 7.0, 30.0, 200.0)
BOTH_SIDES = (-7.0, -1.0, -1e-3, 0.0, *SMALL_TO_LARGE)
MODERATE = (1e-3, 0.4, 1.0, 2.5, 7.0)
ORDERS = (0, 1, 2, 5, -1, -3, 0.5, 2.3, -1.7)


def _fixed(f, *args):
    return lambda x: f(*args, x)


def _result(f, k, *args):
    return lambda x: f(*args, x)[k]


def cases(mp):
    """name -> (our function, mpmath's, points, relative tolerance); mp may be None where only ours is asked for."""
    m = mp if mp is not None else _Nothing()
    out = {
        "j0": (ad.j0, lambda x: m.besselj(0, x), BOTH_SIDES),
        "j1": (ad.j1, lambda x: m.besselj(1, x), BOTH_SIDES),
        "y0": (ad.y0, lambda x: m.bessely(0, x), SMALL_TO_LARGE),
        "y1": (ad.y1, lambda x: m.bessely(1, x), SMALL_TO_LARGE),
        "i0": (ad.i0, lambda x: m.besseli(0, x), BOTH_SIDES),
        "i1": (ad.i1, lambda x: m.besseli(1, x), BOTH_SIDES),
        "k0": (ad.k0, lambda x: m.besselk(0, x), SMALL_TO_LARGE),
        "k1": (ad.k1, lambda x: m.besselk(1, x), SMALL_TO_LARGE),
        "i0e": (ad.i0e, lambda x: m.exp(-abs(x)) * m.besseli(0, x), (-30.0, -1.0, *SMALL_TO_LARGE, 1e4)),
        "i1e": (ad.i1e, lambda x: m.exp(-abs(x)) * m.besseli(1, x), (-30.0, -1.0, *SMALL_TO_LARGE, 1e4)),
        "k0e": (ad.k0e, lambda x: m.exp(x) * m.besselk(0, x), (*SMALL_TO_LARGE, 1e4)),
        "k1e": (ad.k1e, lambda x: m.exp(x) * m.besselk(1, x), (*SMALL_TO_LARGE, 1e4)),
        "ellipk": (ad.ellipk, lambda x: m.ellipk(x), (-50.0, -1.0, -1e-9, 0.0, 1e-9, 0.5, 0.99, 1 - 1e-6)),
        "ellipe": (ad.ellipe, lambda x: m.ellipe(x), (-50.0, -1.0, -1e-9, 0.0, 1e-9, 0.5, 0.99, 1 - 1e-6)),
        "ellipkm1": (ad.ellipkm1, lambda x: m.ellipk(1 - x), (1e-9, 0.1, 1.0, 7.0)),
        "fresnel S": (_result(ad.fresnel, 0), lambda x: m.fresnels(x), (*BOTH_SIDES, 1e3 + 0.3)),
        "fresnel C": (_result(ad.fresnel, 1), lambda x: m.fresnelc(x), (*BOTH_SIDES, 1e3 + 0.3)),
        "kelvin ber": (ad.ber, lambda x: m.ber(0, x), (-2.0, 0.0, *MODERATE)),
        "kelvin bei": (ad.bei, lambda x: m.bei(0, x), (-2.0, 0.0, *MODERATE)),
        "kelvin ker": (ad.ker, lambda x: m.ker(0, x), MODERATE),
        "kelvin kei": (ad.kei, lambda x: m.kei(0, x), MODERATE),
        "itairy 0": (_result(ad.itairy, 0), lambda x: m.airyai(x, derivative=-1), (0.4, 2.5), 1e-6),
        "modfresnelp 0": (
            _result(ad.modfresnelp, 0),
            lambda x: m.sqrt(m.pi) / 2 * m.expjpi(0.25) * m.erfc(m.expjpi(-0.25) * x),
            (0.0, *MODERATE),
        ),
        "modfresnelp 1": (
            _result(ad.modfresnelp, 1),
            lambda x: m.exp(-1j * x * x) * m.erfc(m.expjpi(-0.25) * x) / 2,
            (0.0, *MODERATE, 200.0),
        ),
    }
    for v in ORDERS:
        positive = SMALL_TO_LARGE if v != int(v) else (-2.5, *SMALL_TO_LARGE)
        out[f"jv of order {v}"] = (_fixed(ad.jv, v), _fixed(m.besselj, v), positive)
        out[f"yv of order {v}"] = (_fixed(ad.yv, v), _fixed(m.bessely, v), SMALL_TO_LARGE)
        out[f"iv of order {v}"] = (_fixed(ad.iv, v), _fixed(m.besseli, v), positive)
        out[f"kv of order {v}"] = (_fixed(ad.kv, v), _fixed(m.besselk, v), SMALL_TO_LARGE)
        out[f"hankel1 of order {v}"] = (_fixed(ad.hankel1, v), _fixed(m.hankel1, v), SMALL_TO_LARGE)
        out[f"hankel2e of order {v}"] = (
            _fixed(ad.hankel2e, v), lambda x, v=v: m.hankel2(v, x) * m.expj(x), (*SMALL_TO_LARGE, 1e4),
        )  # fmt: skip
        out[f"kve of order {v}"] = (
            _fixed(ad.kve, v), lambda x, v=v: m.besselk(v, x) * m.exp(x), (*SMALL_TO_LARGE, 1e4),
        )  # fmt: skip
    for x in (1e-3, 0.4, 2.5, 30.0, 900.0):
        orders = (-19.3, -5.0, -0.5, 0.0, 1.0, 7.5, 29.0, 50.0)
        out[f"jv in the order, at {x}"] = (lambda v, x=x: ad.jv(v, x), lambda v, x=x: m.besselj(v, x), orders)
        out[f"yv in the order, at {x}"] = (lambda v, x=x: ad.yv(v, x), lambda v, x=x: m.bessely(v, x), orders)
        out[f"ive in the order, at {x}"] = (
            lambda v, x=x: ad.ive(v, x), lambda v, x=x: m.besseli(v, x) * m.exp(-x), orders,
        )  # fmt: skip
        out[f"kve in the order, at {x}"] = (
            lambda v, x=x: ad.kve(v, x), lambda v, x=x: m.besselk(v, x) * m.exp(x), orders,
        )  # fmt: skip
    for k, name in enumerate(("Ai", "Ai'", "Bi", "Bi'")):
        function = m.airyai if k < 2 else m.airybi
        out[f"airy {name}"] = (
            _result(ad.airy, k), lambda x, f=function, k=k: f(x, derivative=k % 2), (-20.0, -1.0, 0.0, 0.4, 2.5, 20.0),
        )  # fmt: skip
        sign = 1 if k < 2 else -1
        out[f"airye {name}"] = (
            _result(ad.airye, k),
            lambda x, f=function, k=k, s=sign: f(x, derivative=k % 2) * m.exp(s * 2 * x**1.5 / 3),
            (1e-3, 0.4, 1.001, 2.5, 20.0, 500.0),
        )
    for n in (0, 1, 2, 7):
        half = n + 0.5
        out[f"spherical_jn of order {n}"] = (
            _fixed(ad.spherical_jn, n), lambda x, h=half: m.besselj(h, x) * m.sqrt(m.pi / 2 / x), SMALL_TO_LARGE,
        )  # fmt: skip
        out[f"spherical_yn of order {n}"] = (
            _fixed(ad.spherical_yn, n), lambda x, h=half: m.bessely(h, x) * m.sqrt(m.pi / 2 / x), SMALL_TO_LARGE,
        )  # fmt: skip
        out[f"spherical_in of order {n}"] = (
            _fixed(ad.spherical_in, n), lambda x, h=half: m.besseli(h, x) * m.sqrt(m.pi / 2 / x), SMALL_TO_LARGE,
        )  # fmt: skip
        out[f"spherical_kn of order {n}"] = (
            _fixed(ad.spherical_kn, n), lambda x, h=half: m.besselk(h, x) * m.sqrt(m.pi / 2 / x), SMALL_TO_LARGE,
        )  # fmt: skip
        inside = (-1.0, -0.999, -0.3, 0.0, 0.6, 1.0)
        out[f"eval_legendre of degree {n}"] = (_fixed(ad.eval_legendre, n), _fixed(m.legendre, n), inside)
        out[f"eval_chebyt of degree {n}"] = (_fixed(ad.eval_chebyt, n), _fixed(m.chebyt, n), inside)
        out[f"eval_chebyu of degree {n}"] = (_fixed(ad.eval_chebyu, n), _fixed(m.chebyu, n), inside)
        out[f"eval_hermite of degree {n}"] = (_fixed(ad.eval_hermite, n), _fixed(m.hermite, n), (-3.0, 0.0, 1.5))
        out[f"eval_laguerre of degree {n}"] = (
            _fixed(ad.eval_laguerre, n), lambda x, n=n: m.laguerre(n, 0, x), (0.0, 0.4, 9.0),
        )  # fmt: skip
        out[f"eval_genlaguerre of degree {n}"] = (
            _fixed(ad.eval_genlaguerre, n, 0.7), lambda x, n=n: m.laguerre(n, m.mpf(0.7), x), (0.0, 0.4, 9.0),
        )  # fmt: skip
        out[f"eval_jacobi of degree {n}"] = (
            _fixed(ad.eval_jacobi, n, 0.5, 1.5), lambda x, n=n: m.jacobi(n, 0.5, 1.5, x), inside,
        )  # fmt: skip
        out[f"eval_gegenbauer of degree {n}"] = (
            _fixed(ad.eval_gegenbauer, n, 1.5), lambda x, n=n: m.gegenbauer(n, 1.5, x), (-1.0, -0.999, -0.3, 0.6, 1.0),
        )  # fmt: skip
    for n in (0.5, 2.3):
        inside = (-0.8, -0.3, 0.1, 0.6)
        out[f"eval_legendre of degree {n}"] = (_fixed(ad.eval_legendre, n), _fixed(m.legendre, n), inside)
        out[f"eval_jacobi of degree {n}"] = (
            _fixed(ad.eval_jacobi, n, 0.5, 1.5), lambda x, n=n: m.jacobi(n, 0.5, 1.5, x), inside,
        )  # fmt: skip
        out[f"lpmv of degree {n}"] = (
            _fixed(ad.lpmv, 0, n), lambda x, n=n: m.legendre(n, x), inside,
        )  # fmt: skip
    for v in (0, 1, 0.7, 2.5):
        out[f"struve of order {v}"] = (_fixed(ad.struve, v), _fixed(m.struveh, v), SMALL_TO_LARGE)
        out[f"modstruve of order {v}"] = (_fixed(ad.modstruve, v), _fixed(m.struvel, v), SMALL_TO_LARGE)
        # SciPy computes parabolic cylinder functions to some ten digits
        out[f"pbdv of order {v}"] = (_result(ad.pbdv, 0, v), _fixed(m.pcfd, v), (-2.0, 0.0, 0.4, 1.5, 4.0))
    for phi in (-1.0, 0.3, 1.5, 2.5, 7.0):
        parameters = (-3.0, 0.0, 1e-9, 0.6, 0.999)
        out[f"ellipkinc in m, at {phi}"] = (
            _fixed(ad.ellipkinc, phi), lambda x, p=phi: m.ellipf(p, x), parameters,
        )  # fmt: skip
        out[f"ellipeinc in m, at {phi}"] = (
            _fixed(ad.ellipeinc, phi), lambda x, p=phi: m.ellipe(p, x), parameters,
        )  # fmt: skip
    for u in (-3.0, 0.2, 1.5, 9.0):
        for k, name in enumerate(("sn", "cn", "dn")):
            out[f"ellipj {name} in m, at {u}"] = (
                _result(ad.ellipj, k, u), lambda x, u=u, n=name: m.ellipfun(n, u, m=x), (1e-3, 0.3, 0.8, 0.999),
            )  # fmt: skip
    for name, count in (("elliprc", 2), ("elliprd", 3), ("elliprf", 3), ("elliprg", 3), ("elliprj", 4)):
        for k in range(count):
            others = [1.0, 2.5, 0.4, 1.7][: count - 1]
            ours, theirs = getattr(ad, name), getattr(m, name)
            out[f"{name} in operand {k}"] = (
                lambda x, f=ours, k=k, a=others: f(*a[:k], x, *a[k:]),
                lambda x, f=theirs, k=k, a=others: f(*a[:k], x, *a[k:]),
                (1e-6, 0.4, 1.0, 2.5, 300.0),
            )
    return {name: (*case, 1e-8)[:4] for name, case in out.items()}


class _Nothing:
    """In the place of mpmath."""

    def __getattr__(self, name):
        return None


def compute(mp, theirs, x):
    """Value and first two derivatives."""
    with mp.workdps(40):
        return [complex(theirs(mp.mpf(x))), *(complex(mp.diff(theirs, mp.mpf(x), k)) for k in (1, 2))]


def scale(wanted):
    """What an error is measured by: the entry itself, or a thousandth of the largest where an entry vanishes there."""
    size = np.abs(wanted)
    return np.maximum(size, 1e-3 * np.max(size)) + 1e-80


def _record():
    import mpmath

    table = {}
    for name, (_, theirs, points, _) in cases(mpmath).items():
        rows = [compute(mpmath, theirs, x) for x in points]
        table[name] = [[[z.real, z.imag] if z.imag else z.real for z in row] for row in rows]
    RECORDED.write_text(json.dumps(table, indent=0).replace(",\n", ", ") + "\n")


if __name__ == "__main__":
    _record()
