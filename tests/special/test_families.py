"""Edge values, refusals and public functions of the Bessel, Airy, elliptic and related families."""

import math

import numpy as np
import pytest
import scipy.special as sc

import autodidax as ad
from autodidax import errors
from autodidax.scipy import special

X = np.array([0.3, 0.7, 1.2])


def derivatives(f, x, count):
    """f and its derivatives at x."""
    out = [f(x)]
    for _ in range(count):
        f = lambda y, g=f: ad.jvp(g, (y,), (1.0,))[1]
        out.append(f(x))
    return out


# function of one variable, point, value and derivatives there
EDGES = {
    "jv(0, .) at 0": (lambda x: special.jv(0, x), 0.0, [1, 0, -0.5, 0, 0.375]),
    "jv(1, .) at 0": (lambda x: special.jv(1, x), 0.0, [0, 0.5, 0, -0.375]),
    "jv(2, .) at 0": (lambda x: special.jv(2, x), 0.0, [0, 0, 0.25, 0]),
    "jv(-1, .) at 0": (lambda x: special.jv(-1, x), 0.0, [0, -0.5, 0, 0.375]),
    "jv(0.5, .) at 0": (lambda x: special.jv(0.5, x), 0.0, [0, np.inf]),
    "iv(0, .) at 0": (lambda x: special.iv(0, x), 0.0, [1, 0, 0.5, 0, 0.375]),
    "j1 at 0": (special.j1, 0.0, [0, 0.5, 0, -0.375]),
    "i0e at 0 keeps the even part": (special.i0e, 0.0, [1, 0, 0.5]),
    "k0e far out": (special.k0e, 1e6, [0.0012533139806423, -6.2665683164e-10, 9.399848949e-16]),
    "spherical_jn(0, .) at 0": (lambda x: special.spherical_jn(0, x), 0.0, [1, 0, -1 / 3, 0, 1 / 5]),
    "spherical_jn(1, .) at 0": (lambda x: special.spherical_jn(1, x), 0.0, [0, 1 / 3, 0, -1 / 5]),
    "spherical_in(1, .) at 0": (lambda x: special.spherical_in(1, x), 0.0, [0, 1 / 3, 0, 1 / 5]),
    "ellipk at 0": (special.ellipk, 0.0, [math.pi / 2, math.pi / 8, 9 * math.pi / 64]),
    "ellipe at 0": (special.ellipe, 0.0, [math.pi / 2, -math.pi / 8, -3 * math.pi / 64]),
    "ellipk at 1": (special.ellipk, 1.0, [np.inf, np.inf]),
    "ellipe at 1": (special.ellipe, 1.0, [1, -np.inf]),
    "ellipkinc in m at phi = 0": (lambda m: special.ellipkinc(0.0, m), 0.5, [0, 0, 0]),
    "elliprf of equal arguments": (lambda x: special.elliprf(x, x, x), 4.0, [0.5, -1 / 16, 3 / 128]),
    "elliprc of equal arguments": (lambda x: special.elliprc(x, x), 4.0, [0.5, -1 / 16, 3 / 128]),
    "elliprd of equal arguments": (lambda x: special.elliprd(x, x, x), 4.0, [1 / 8, -3 / 64, 15 / 512]),
    "elliprg of equal arguments": (lambda x: special.elliprg(x, x, x), 4.0, [2, 0.25, -1 / 32]),
    "elliprj of equal arguments": (lambda x: special.elliprj(x, x, x, x), 4.0, [1 / 8, -3 / 64, 15 / 512]),
    "elliprf in one of equal arguments": (lambda x: special.elliprf(x, 1.0, 1.0), 1.0, [1, -1 / 6, 3 / 20]),
    "ellipj am in u at m = 1": (
        lambda u: special.ellipj(u, 1.0)[3], 0.0, [0, 1, 0, -1],
    ),
    "ellipj sn in m at m = 0": (
        lambda m: special.ellipj(1.0, m)[0], 0.0,
        [math.sin(1.0), -0.25 * (1.0 - math.sin(1.0) * math.cos(1.0)) * math.cos(1.0)],
    ),
    "struve(0, .) at 0": (lambda x: special.struve(0, x), 0.0, [0, 2 / math.pi, 0, -4 / (3 * math.pi)]),
    "it2struve0 at 0": (special.it2struve0, 0.0, [math.pi / 2, -2 / math.pi, 0, 4 / (9 * math.pi)]),
    "it2j0y0 close to 0": (lambda x: special.it2j0y0(x)[0], 1e-9, [1.25e-19, 2.5e-10, 0.25]),
    "ber at 0": (special.ber, 0.0, [1, 0, 0, 0, -3 / 8]),
    "bei at 0": (special.bei, 0.0, [0, 0, 0.5, 0, 0]),
    "fresnel S at 0": (lambda x: special.fresnel(x)[0], 0.0, [0, 0, 0, math.pi]),
    "eval_legendre(3, .) at -1": (lambda x: special.eval_legendre(3, x), -1.0, [-1, 6, -15, 15, 0]),
    "eval_chebyt(0, .) at -1": (lambda x: special.eval_chebyt(0, x), -1.0, [1, 0, 0]),
    "lpmv(0, 2, .) at 1": (lambda x: special.lpmv(0, 2, x), 1.0, [1, 3, 3, 0]),
    "lpmv(2, 2, .) at 1": (lambda x: special.lpmv(2, 2, x), 1.0, [0, -6, -6]),
    "lpmv(1, 2, .) at 1": (lambda x: special.lpmv(1, 2, x), 1.0, [0, np.inf]),
    "sph_harm_y(1, 1, ., 0) at the pole": (
        lambda t: np.real(special.sph_harm_y(1, 1, t, 0.0)), 0.0, [0, -math.sqrt(3 / (8 * math.pi)), 0],
    ),
    "wright_bessel at 0": (lambda x: special.wright_bessel(1.0, 1.0, x), 0.0, [1, 1, 0.5]),
    "pbdv(0, .) at 0": (lambda x: special.pbdv(0.0, x)[0], 0.0, [1, 0, -0.5, 0, 0.75]),
}  # fmt: skip


@pytest.mark.parametrize(("f", "x", "want"), EDGES.values(), ids=EDGES)
def test_edges(f, x, want):
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(derivatives(f, x, len(want) - 1), want, rtol=1e-10, atol=1e-13)


# names that need arguments of their own; the others get X for every operand
ARGUMENTS = {
    **dict.fromkeys(("jv", "jn", "jve", "yv", "yn", "yve", "iv", "ive", "kn", "kv", "kve"), (2, X)),
    **dict.fromkeys(("hankel1", "hankel1e", "hankel2", "hankel2e", "struve", "modstruve"), (1, X)),
    **dict.fromkeys(("jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp"), (1.5, X, 3)),
    **{f"spherical_{k}n": (2, X) for k in "jyik"},
    "riccati_jn": (3, 0.7), "riccati_yn": (3, 0.7),
    **{f"eval_{k}": (3, X) for k in (
        "legendre", "chebyt", "chebyu", "chebyc", "chebys", "sh_legendre", "sh_chebyt", "sh_chebyu", "laguerre",
        "hermite", "hermitenorm",
    )},
    **{f"eval_{k}": (3, 0.5, X) for k in ("gegenbauer", "genlaguerre")},
    "eval_jacobi": (3, 0.5, 1.5, X), "eval_sh_jacobi": (3, 3.5, 2.5, X),
    "lpmv": (1, 2, X / 2), "legendre_p": (3, X), "assoc_legendre_p": (3, 1, X / 2), "sph_legendre_p": (3, 1, X),
    "sph_harm_y": (3, 1, X, X), "besselpoly": (X, 1.5, 1),
    "mathieu_a": (2, X), "mathieu_b": (2, X), "pro_cv": (1, 2, X), "obl_cv": (1, 2, X),
    **{f"mathieu_{k}em": (2, 1.5, 50 * X) for k in "cs"},
    **{f"mathieu_mod{k}em{i}": (2, 1.5, X) for k in "cs" for i in (1, 2)},
    **{f"{k}_ang1": (1, 2, 1.5, X / 2) for k in ("pro", "obl")},
    **{f"{k}_ang1_cv": (1, 2, 1.5, 5.0, X / 2) for k in ("pro", "obl")},
    **{f"{k}_rad{i}": (1, 2, 1.5, X + 1.0) for k in ("pro", "obl") for i in (1, 2)},
    **{f"{k}_rad{i}_cv": (1, 2, 1.5, 5.0, X + 1.0) for k in ("pro", "obl") for i in (1, 2)},
}  # fmt: skip
GATHERED = ("legendre_p_all", "assoc_legendre_p_all", "sph_legendre_p_all", "sph_harm_y_all")  # for plain values
PLAIN = ("airy", "airye", "itairy", "ellipk", "ellipkm1", "ellipe", "ellipkinc", "ellipeinc", "ellipj", "elliprc",
         "elliprd", "elliprf", "elliprg", "elliprj", "fresnel", "modfresnelp", "modfresnelm", "ber", "bei", "ker",
         "kei", "berp", "beip", "kerp", "keip", "kelvin", "itstruve0", "it2struve0", "itmodstruve0", "itj0y0",
         "iti0k0", "it2j0y0", "it2i0k0", "wright_bessel", "log_wright_bessel", "pbdv", "pbvv", "pbwa",
         "j0", "j1", "y0", "y1", "i0", "i1", "i0e", "i1e", "k0", "k1", "k0e", "k1e")  # fmt: skip


@pytest.mark.parametrize("name", [*ARGUMENTS, *PLAIN])
def test_values_are_those_of_scipy_also_under_jit_and_vmap(name):
    ours, theirs = getattr(special, name), getattr(sc, name)
    args = ARGUMENTS.get(name) or (X,) * theirs.nin
    want = theirs(*args)
    got = ours(*args)
    assert type(got) is type(want)
    np.testing.assert_array_equal(got, want)
    assert ours.__doc__ and ours.__name__ == getattr(theirs, "__name__", name)
    variable = max(k for k, a in enumerate(args) if (isinstance(a, np.ndarray | float) and a is not args[0]) or k == 0)
    variable = variable if isinstance(args[variable], np.ndarray | float) else len(args) - 1
    f = lambda x: ours(*args[:variable], x, *args[variable + 1 :])
    for a, b in zip(ad.tree.leaves(ad.jit(f)(args[variable])), ad.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
        assert a.dtype == b.dtype
    if isinstance(theirs, np.ufunc):
        for a, b in zip(ad.tree.leaves(ad.jit(lambda x: theirs(*args[:variable], x, *args[variable + 1 :]))(
            args[variable])), ad.tree.leaves(want), strict=True):  # fmt: skip
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"])
def test_derivatives_of_spherical_functions(name):
    f, want = getattr(special, name), getattr(sc, name)(2, X, derivative=True)
    np.testing.assert_allclose(ad.jit(lambda x: f(2, x, derivative=True))(X), want, rtol=1e-12)
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(f(2, x)))(X), want, rtol=1e-12)


def test_spherical_harmonics_with_their_gradients():
    traced = ad.jit(lambda t: special.sph_harm_y(3, -1, t, X, diff_n=2))(X)
    for got, want in zip(traced, sc.sph_harm_y(3, -1, X, X, diff_n=2), strict=True):
        np.testing.assert_allclose(got, want, atol=1e-14)


@pytest.mark.parametrize("name", ["legendre_p", "assoc_legendre_p", "sph_legendre_p"])
def test_legendre_functions_with_their_derivatives(name):
    f, args = getattr(special, name), (3,) if name == "legendre_p" else (3, 1)
    want = getattr(sc, name)(*args, X / 2, diff_n=2)
    np.testing.assert_allclose(ad.jit(lambda x: f(*args, x, diff_n=2))(X / 2), want, atol=1e-13)


REFUSED = {
    "the third derivative in the order": lambda x: derivatives(lambda v: special.jv(v, 2.0), x, 3),
    "the order of yn": lambda x: ad.grad(special.yn)(x + 0.5, 2.0),
    "the order of a complex jve": lambda x: ad.jvp(lambda v: special.jve(v, 1.0 + 1j), (x,), (1.0,)),
    "the degree of a polynomial": lambda x: ad.grad(special.eval_legendre)(x, 0.3),
    "a parameter of a polynomial": lambda x: ad.grad(lambda a: special.eval_genlaguerre(2, a, 0.3))(x),
    "the order of struve": lambda x: ad.grad(special.struve)(x, 2.0),
    "parameters of wright_bessel": lambda x: ad.grad(special.wright_bessel)(x, 1.0, 2.0),
    "the parameter of pbdv": lambda x: ad.grad(lambda v: special.pbdv(v, 0.3)[0])(x),
    "the parameter of a Mathieu function": lambda x: ad.grad(lambda q: special.mathieu_cem(2, q, 30.0)[0])(x),
    "twice in the parameter of mathieu_a": lambda x: derivatives(lambda q: special.mathieu_a(2, q), x, 2),
    "a characteristic value": lambda x: ad.grad(lambda c: special.pro_cv(1, 2, c))(x),
    "all harmonics at once": lambda x: ad.grad(lambda t: special.legendre_p_all(2, t)[0, 1])(x),
}


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
def test_refusals(program):
    with pytest.raises(errors.NondifferentiableError, match=r"derivative|traced values"):
        program(1.5)


@pytest.mark.parametrize("name", ["mathieu_a", "mathieu_b"])
def test_characteristic_values_of_mathieu(name):
    f, q, h = getattr(special, name), np.array([0.5, 2.0, 9.0]), 1e-4
    difference = (f(3, q + h) - f(3, q - h)) / (2 * h)
    np.testing.assert_allclose(ad.grad(lambda q: np.sum(f(3, q)))(q), difference, rtol=1e-7)


# SciPy's radial functions of the second kind are wrong below c x of 3: their Wronskian is off there
SPHEROIDAL = {
    "pro_ang1": X / 2, "obl_ang1": X / 2, "pro_rad1": X + 1.0, "obl_rad1": X, "pro_rad2": X + 2.0, "obl_rad2": X + 2.0,
}  # fmt: skip


@pytest.mark.parametrize("name", SPHEROIDAL)
@pytest.mark.parametrize("given", [False, True], ids=["", "cv"])
def test_spheroidal_functions(name, given):
    """The first result's derivative is the second result, whose own is that of differences."""
    x, h, cv = SPHEROIDAL[name], 1e-5, getattr(sc, f"{name[:3]}_cv")(1, 2, 1.5)
    f = lambda x: getattr(special, f"{name}_cv")(1, 2, 1.5, cv, x) if given else getattr(special, name)(1, 2, 1.5, x)
    slopes = ad.jvp(f, (x,), (np.ones(3),))[1]
    np.testing.assert_array_equal(slopes[0], f(x)[1])
    np.testing.assert_allclose(slopes[1], (f(x + h)[1] - f(x - h)[1]) / (2 * h), rtol=1e-6)


ROUGH = {
    "itairy": lambda x: special.airy(x)[0], "itstruve0": lambda x: special.struve(0, x),
    "itmodstruve0": lambda x: special.modstruve(0, x), "it2struve0": lambda x: -special.struve(0, x) / x,
    "it2i0k0": lambda x: (special.i0(x) - 1.0) / x, "modfresnelp": lambda x: -np.exp(1j * x * x),
    "modfresnelm": lambda x: -np.exp(-1j * x * x),
}  # fmt: skip


@pytest.mark.parametrize("name", ROUGH)
def test_derivatives_of_what_scipy_computes_roughly(name):
    """They are those of the function, whatever digits its values have."""
    f, slope = getattr(special, name), ROUGH[name]
    first = lambda x: x if isinstance(x, np.ndarray) or not isinstance(x, tuple) else x[0]
    got = [ad.jvp(lambda y: first(f(y)), (x,), (1.0,))[1] for x in (0.7, 25.0)]
    np.testing.assert_allclose(got, [slope(x) for x in (0.7, 25.0)], rtol=1e-12)


def test_single_precision_stays():
    x = X.astype(np.float32)
    for f in (special.jv, special.kve, special.yv, special.ive):
        slope = ad.grad(lambda x, f=f: np.sum(f(1.5, x)))(x)
        assert slope.dtype == np.float32
        np.testing.assert_allclose(slope, ad.grad(lambda x, f=f: np.sum(f(1.5, x)))(X), rtol=2e-6)


@pytest.mark.parametrize("name", GATHERED)
def test_functions_of_all_degrees_are_those_of_scipy(name):
    args = {"legendre_p_all": (2, X), "sph_legendre_p_all": (2, 1, X)}.get(name) or (2, 1, X / 2, X)[
        : 3 + ("y" in name)
    ]
    np.testing.assert_array_equal(getattr(special, name)(*args), getattr(sc, name)(*args))


def test_zeros_are_those_of_scipy():
    np.testing.assert_array_equal(special.jn_zeros(0, 3), sc.jn_zeros(0, 3))
    np.testing.assert_array_equal(special.roots_legendre(4)[0], sc.roots_legendre(4)[0])
