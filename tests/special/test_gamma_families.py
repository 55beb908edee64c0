"""Edge values, refusals, dtypes and keywords of the gamma, error, incomplete and hypergeometric families."""

import math

import numpy as np
import pytest
import scipy.special as sc

import autodidax as ad
from autodidax import errors
from autodidax.scipy import special

inf, nan = math.inf, math.nan
EULER = 0.5772156649015329


def derivatives(f, x, count):
    """f and its derivatives at x."""
    out = [f(x)]
    for _ in range(count):
        f = lambda y, g=f: ad.jvp(g, (y,), (1.0,))[1]
        out.append(f(x))
    return out


# function of one variable, point, value and derivatives there
EDGES = {
    "rgamma at a pole of gamma": (special.rgamma, -3.0, [0, -6]),
    "rgamma at 0": (special.rgamma, 0.0, [0, 1, 2 * EULER]),
    "poch of a pole, whole m": (lambda z: special.poch(z, 2.0), -3.0, [6, -5, 2, 0]),
    "poch across 0": (lambda z: special.poch(z, 3.0), -1.0, [0, -1, 0, 6]),
    "binom beyond n": (lambda n: special.binom(n, 2.0), 1.0, [0, 0.5, 1, 0]),
    "zeta at 0": (special.zeta, 0.0, [-0.5, -0.5 * math.log(2 * math.pi)]),
    "zeta at a zero": (special.zeta, -2.0, [0, -0.030448457058393271]),
    "zetac": (special.zetac, 2.0, [math.pi**2 / 6 - 1, -0.93754825431584376]),
    "dawsn at 0": (special.dawsn, 0.0, [0, 1, 0, -4, 0, 32]),
    "wofz at 0": (lambda x: np.imag(special.wofz(x)), 0.0, [0, 2 / math.sqrt(math.pi), 0]),
    "voigt_profile without a Gaussian": (
        lambda x: special.voigt_profile(x, 0.0, 2.0), 2.0, [1 / (4 * math.pi), -1 / (8 * math.pi)],
    ),
    "owens_t at h = 0": (lambda a: special.owens_t(0.0, a), 1.0, [0.125, 0.25 / math.pi, -0.25 / math.pi]),
    "exprel at 0": (special.exprel, 0.0, [1, 1 / 2, 1 / 3, 1 / 4]),
    "boxcox at the parameter 0": (lambda p: special.boxcox(math.e, p), 0.0, [1, 1 / 2, 1 / 3]),
    "boxcox of 0": (lambda p: special.boxcox(0.0, p), 2.0, [-0.5, 0.25, -0.25]),
    "inv_boxcox at the parameter 0": (lambda p: special.inv_boxcox(1.0, p), 0.0, [math.e, -math.e / 2]),
    "huber inside": (lambda d: special.huber(d, 0.5), 1.0, [0.125, 0, 0]),
    "huber outside": (lambda d: special.huber(d, -3.0), 1.0, [2.5, 2, -1]),
    "spence at 1": (special.spence, 1.0, [0, -1, 0.5, -2 / 3]),
    "lambertw at 0": (lambda x: np.real(special.lambertw(x)), 0.0, [0, 1, -2, 9]),
    "sici at 0": (lambda x: special.sici(x)[0], 0.0, [0, 1, 0, -1 / 3]),
    "shichi at 0": (lambda x: special.shichi(x)[0], 0.0, [0, 1, 0, 1 / 3]),
    "expn below its order": (lambda x: special.expn(1, x), 1.0, [sc.exp1(1.0), -1 / math.e, 2 / math.e, -5 / math.e]),
    "agm of equal numbers": (lambda a: special.agm(a, 1.0), 1.0, [1, 0.5, -0.125]),
    "gammainc at x = 0": (lambda a: special.gammainc(a, 0.0), 2.0, [0, 0, 0]),
    "gammainc at a = 0": (lambda a: special.gammainc(a, 1.0), 0.0, [1, -sc.exp1(1.0)]),
    "gammainc of shape 1 at 0, in x": (lambda x: special.gammainc(1.0, x), 0.0, [0, 1]),
    "gammainc at infinity": (lambda a: special.gammainc(a, inf), 2.0, [1, 0]),
    "betainc at 1": (lambda a: special.betainc(a, 2.0, 1.0), 2.0, [1, 0]),
    "betainc of shapes 1, in a": (
        lambda a: special.betainc(a, 1.0, 0.5), 1.0, [0.5 * math.log(0.5) ** k for k in range(3)],
    ),
    "stdtr at 0, in df": (lambda df: special.stdtr(df, 0.0), 3.0, [0.5, 0, 0]),
    "stdtr at 0, in t": (lambda t: special.stdtr(1.0, t), 0.0, [0.5, 1 / math.pi, 0, -2 / math.pi]),
    "hyp2f1 at 1, in c": (lambda c: special.hyp2f1(0.0, 1.0, c, 1.0), 3.0, [1, 0, 0]),
    "hyp1f1 of a polynomial, in b": (lambda b: special.hyp1f1(-1.0, b, 100.0), 2.0, [-49, 25, -25]),
    "hyp0f1 at z = 0, in b": (lambda b: special.hyp0f1(b, 0.0), 2.0, [1, 0]),
    "kolmogorov near 0": (special.kolmogorov, 0.01, [1, 0, 0]),
    "tklmbda, uniform": (lambda x: special.tklmbda(x, 1.0), 0.3, [0.65, 0.5, 0]),
    "tklmbda outside": (lambda x: special.tklmbda(x, 1.0), 2.0, [1, 0]),
    "gammasgn": (special.gammasgn, -0.5, [-1, 0]),
    "round": (special.round, 0.7, [1, 0]),
}  # fmt: skip


@pytest.mark.parametrize(("f", "x", "want"), EDGES.values(), ids=EDGES)
def test_edges(f, x, want):
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(derivatives(f, x, len(want) - 1), want, rtol=1e-10, atol=1e-13)


REFUSALS = {
    "expn in its order": (lambda n: special.expn(n, 1.0), 2.0),
    "nbdtr in n": (lambda n: special.nbdtr(2, n, 0.3), 5.0),
    "smirnov in n": (lambda n: special.smirnov(n, 0.3), 5.0),
    "chndtr": (lambda x: special.chndtr(x, 2.0, 1.0), 2.0),
    "nctdtr": (lambda x: special.nctdtr(2.0, 1.0, x), 2.0),
    "hyp2f1 where digits are lost": (lambda a: special.hyp2f1(a, 0.7, -1.3, -1e4), 8.0),
}


@pytest.mark.filterwarnings("ignore:floating point number truncated:RuntimeWarning")
@pytest.mark.parametrize(("f", "x"), REFUSALS.values(), ids=REFUSALS)
def test_refusals(f, x):
    f(x)
    with pytest.raises(errors.NondifferentiableError):
        ad.grad(f)(x)


def test_values_of_what_has_no_derivative_work_on_traced_operands():
    np.testing.assert_array_equal(ad.jit(sc.chndtr)(2.0, 3.0, 1.0), sc.chndtr(2.0, 3.0, 1.0))
    x = np.array([0.5, 2.0])
    np.testing.assert_array_equal(ad.vmap(lambda v: sc.ncfdtr(2.0, 3.0, 1.0, v))(x), sc.ncfdtr(2.0, 3.0, 1.0, x))


@pytest.mark.parametrize("name", ["sici", "shichi", "zeta", "lambertw", "gammainc", "betainc", "wofz", "expn"])
def test_scipys_own_functions_dispatch(name):
    args = {"gammainc": (2.5, 0.7), "betainc": (2.5, 1.5, 0.7), "expn": (2, 0.7)}.get(name, (1.7,))
    f = getattr(sc, name)
    g = getattr(special, name)

    def total(h):
        return lambda x: np.real(sum(h(x)) if name in ("sici", "shichi") else h(*args[:-1], x))

    assert ad.grad(total(f))(args[-1]) == ad.grad(total(g))(args[-1])
    for a, b in zip(ad.tree.leaves(ad.jit(f)(*args)), ad.tree.leaves(f(*args)), strict=True):
        assert a == b and a.dtype == b.dtype


COMPLEX = {
    "gamma": (-1.3 + 2j,), "loggamma": (-1.3 + 2j,), "rgamma": (-2 + 0.1j,), "digamma": (-1.3 - 0.4j,),
    "erfi": (0.3 + 1j,), "exp1": (-1.3 + 0.4j,), "expi": (0.7 - 2j,), "spence": (1.3 + 0.2j,), "wofz": (0.7 - 0.4j,),
    "dawsn": (3.0 + 2j,), "log_ndtr": (-2.0 + 0.5j,), "wrightomega": (0.3 + 1j,), "zeta": (-2.5 + 3j,),
    "lambertw": (-2.0 + 1j,), "hyp0f1": (1.5, -8.0 + 3j), "hyp1f1": (0.5, 1.5, -8.0 + 3j),
    "hyp2f1": (0.5, 1.5, 2.2, -8.0 + 3j),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX)
def test_holomorphic_derivatives_are_the_limit_in_every_direction(name):
    *rest, z = COMPLEX[name]
    f = lambda z: getattr(special, name)(*rest, z)
    slope = ad.grad(f, holomorphic=True)(z)
    for step in (1e-3, 1e-3j):
        difference = lambda h: (f(z + h) - f(z - h)) / (2 * h)
        np.testing.assert_allclose(slope, (4 * difference(step / 2) - difference(step)) / 3, rtol=1e-7)


def test_single_precision_is_kept():
    x = np.array([0.3, 0.7], np.float32)
    for name in ("gammainc", "poch", "zeta", "hyp0f1", "stdtr", "agm", "boxcox", "exprel", "voigt_profile"):
        f = getattr(special, name)
        args = (x + np.float32(1.5),) * (getattr(sc, name).nin if name != "zeta" else 2)
        for g in ad.grad(lambda *a, f=f: np.sum(f(*a)), argnums=tuple(range(len(args))))(*args):
            assert g.dtype == np.float32


COUNTS = {
    "factorial": (lambda n: special.factorial(n), 3.5),
    "factorial of a negative number": (lambda n: special.factorial(n), -1.5),
    "factorial, extended": (lambda n: special.factorial(n, extend="complex"), -1.5),
    "factorial2, extended": (lambda n: special.factorial2(n, extend="complex"), 3.5),
    "factorialk, extended": (lambda n: special.factorialk(n, 3, extend="complex"), 3.5),
    "comb": (lambda n: special.comb(n, 2.0), 4.5),
    "comb outside": (lambda n: special.comb(n, 2.0), 1.5),
    "comb with repetition": (lambda n: special.comb(n, 2.0, repetition=True), 4.5),
    "perm": (lambda n: special.perm(n, 2.0), 4.5),
    "multigammaln": (lambda a: special.multigammaln(a, 4), 4.5),
}


@pytest.mark.parametrize(("f", "x"), COUNTS.values(), ids=COUNTS)
def test_counts_of_real_numbers(f, x):
    np.testing.assert_allclose(ad.jit(f)(x), f(x), rtol=1e-13)
    h = 1e-4
    np.testing.assert_allclose(ad.grad(f)(x), (f(x + h) - f(x - h)) / (2 * h), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("f", [special.factorial2, lambda n: special.factorialk(n, 3), special.factorial])
def test_multifactorials_of_traced_integers(f):
    n = np.arange(-2, 12)
    np.testing.assert_allclose(ad.jit(f)(n), f(n), rtol=1e-13)


def test_what_traced_values_cannot_be():
    with pytest.raises(errors.ConcretizationTypeError, match="exact"):
        ad.jit(lambda n: special.comb(n, 2, exact=True))(4)
    with pytest.raises(errors.ConcretizationTypeError, match="known when"):
        ad.jit(lambda d: special.multigammaln(4.0, d))(2)
    with pytest.raises(errors.DtypeError, match="complex"):
        ad.grad(special.factorial2)(3.0)
