"""Polynomials: arithmetic, roots and fits: values, derivatives, mapping and staging."""

import warnings

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import errors
from autodidax.test_util import check_grads
from tests.numpy_api import laws
from tests.numpy_api.agreement import Case, assert_same

rng = np.random.default_rng(12)
p2, p3, p5, z3 = (rng.normal(size=n) for n in (2, 3, 5, 3))
z3 = p3 + 1j * z3
x9, y9, w9, y92 = np.sort(rng.normal(size=9)), rng.normal(size=9), rng.uniform(0.5, 1.5, 9), rng.normal(size=(9, 2))
real_roots = np.poly([1.0, -2.0, 0.5, 4.0])

CASES = [
    *(Case(name, *pair) for name in ("polyadd", "polysub", "polymul", "polydiv")
      for pair in [(p5, p3), (p3, p5), (p3, x9[:3]), (z3, p2), (p5, 2.0), (p5, np.array([2, 1]))]),
    Case("poly", p3), Case("poly", z3), Case("poly", [1.0, 2.0]), Case("polyder", p5), Case("polyder", p5, 2),
    Case("polyder", p3, 3), Case("polyder", p3, 0), Case("polyint", p3), Case("polyint", p3, 2, 1.5),
    Case("polyint", p3, 3, p3), Case("polyint", z3, 2), Case("polyint", p3, 0),
    Case("polyint", np.arange(3), 1, [0.5], wrt=()),
    Case("polyfit", x9, y9, 2), Case("polyfit", x9, y92, 1), Case("polyfit", x9, y9, 3, w=w9),
    Case("polyfit", x9, y9, 2, None, False, w9), Case("polyfit", x9, y9, 2, cov=True),
    Case("polyfit", x9, y92, 2, cov=True), Case("polyfit", x9, y9, 1, cov="unscaled", w=w9),
    Case("polyfit", x9, y92, 2, w=w9), Case("polyfit", np.arange(9), y9, 2), Case("polyfit", x9, y9 + 1j * w9, 2),
    Case("roots", np.array([1.0, 0.3, 2.0, -0.5])), Case("roots", np.array([z3[0], *z3])),
]  # fmt: skip
# their shape or dtype depends on values
EAGER = [
    Case("roots", real_roots), Case("roots", np.array([0.0, 1.0, -3.0, 2.0, 0.0]), wrt=()),
    Case("roots", np.zeros(3), wrt=()),
    Case("poly", np.array([1j, -1j, 2.0]), wrt=()), Case("polymul", np.array([0.0, 1.0, 2.0]), p3, wrt=(1,)),
    Case("polydiv", np.array([1.0, 3.0, 2.0]), np.array([1.0, 1.0]), wrt=()),
    Case("trim_zeros", np.array([0.0, 0.0, 1.5, 0.0, 2.0, 0.0]), wrt=()), Case("trim_zeros", np.zeros(3)),
    Case("trim_zeros", np.pad(rng.normal(size=(2, 2)), 1), "f", 0, wrt=()),
    Case("trim_zeros", np.pad(rng.normal(size=(2, 2)), 1), "b", wrt=()),
]  # fmt: skip
TABLE = [(c, law) for c in CASES if c.wrt for law in laws.ALL]
TABLE += [(c, law) for c in EAGER if c.wrt for law in laws.EAGER if c.name != "trim_zeros"]


@pytest.mark.parametrize("case", CASES + EAGER, ids=repr)
def test_plain_value(case):
    laws.plain_value(case)


@pytest.mark.parametrize("case, law", TABLE, ids=[f"{c!r}-{f.__name__}" for c, f in TABLE])
def test_laws(case, law):
    law(case)


@pytest.mark.parametrize("case", EAGER, ids=repr)
@pytest.mark.parametrize("namespace", [anp, np], ids=["anp", "np"])
def test_values_decide_about_shape_and_dtype(case, namespace):
    x, *rest = case.args
    got, _ = autodidax.jvp(lambda v: case.call(namespace, (v, *rest)), (x,), (np.zeros_like(x),))
    assert_same(got, case.call(np), exact=False)


@pytest.mark.parametrize("f, args", [
    (lambda p: anp.roots(p), (real_roots,)), (lambda p: anp.roots(p), (np.array([1.0, 0.3, 2.0, -0.5]),)),
    (lambda x, y, w: anp.polyfit(x, y, 2, w=w), (x9, y9, w9)), (lambda u, v: anp.polydiv(u, v)[0], (p5, p3)),
    (lambda k: anp.polyint(np.arange(3), 2, k), (p2,)), (lambda r: anp.poly(r), (p3,)),
    (lambda a: anp.poly(a), (rng.normal(size=(3, 3)),)),
], ids=["real roots", "complex roots", "polyfit", "polydiv", "polyint", "poly", "poly of a matrix"])  # fmt: skip
def test_check_grads(f, args):
    check_grads(f, args, order=2, points="given")


def test_roots_of_traced_coefficients_stay_complex():
    p = np.array([1.0, -3.0, 2.0])
    assert_same(autodidax.jit(np.roots)(p), np.roots(p).astype(complex), exact=False)
    assert_same(autodidax.vmap(np.roots)(np.stack([p, p])), np.stack([np.roots(p)] * 2).astype(complex), exact=False)
    got = autodidax.jit(np.roots)(np.array([0.0, 1.0, -2.0]))
    np.testing.assert_array_equal(got, [2.0, np.nan])
    assert autodidax.jit(np.roots)(p.astype(np.float32)).dtype == np.complex64


def test_roots_and_coefficients_are_inverse():
    jacobian = autodidax.jacobian(lambda r: anp.roots(anp.poly(r)))(np.array([3.0, 1.5, -0.5]))
    np.testing.assert_allclose(jacobian, np.eye(3), atol=1e-12)


def test_fits_of_polynomials_have_their_derivatives():
    """A fit of points of a polynomial gives it back, whatever the weights."""
    coefficients = np.array([0.5, -1.0, 2.0])
    f = lambda c, w: anp.polyfit(x9, anp.polyval(c, x9), 2, w=w)
    by_c, by_w = autodidax.jacobian(f, argnums=(0, 1))(coefficients, w9)
    np.testing.assert_allclose(by_c, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(by_w, np.zeros((3, 9)), atol=1e-12)


@pytest.mark.parametrize("polyfit", [np.polyfit, anp.polyfit], ids=["np", "anp"])
def test_full_fit(polyfit):
    got, _ = autodidax.jvp(lambda y: polyfit(x9, y, 2, full=True)[:4], (y9,), (y9,))
    assert_same(got, np.polyfit(x9, y9, 2, full=True)[:4], exact=False)


def test_fit_of_too_few_points_warns():
    fit = lambda y: anp.polyfit(np.ones(3), y, 2)
    with pytest.warns(np.exceptions.RankWarning, match="poorly"):
        got, _ = autodidax.jvp(fit, (p3,), (p3,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(got, np.polyfit(np.ones(3), p3, 2))


REFUSED = {
    "polyfit, degree": (lambda x: np.polyfit(x, x, -1), ValueError, "deg"),
    "polyfit, matrix": (lambda x: np.polyfit(x[None], x, 1), TypeError, "1D"),
    "polyfit, lengths": (lambda x: np.polyfit(x, x[:2], 1), TypeError, "same length"),
    "polyfit, weights": (lambda x: np.polyfit(x, x, 1, w=x[:2]), TypeError, "same length"),
    "polyfit, covariance": (lambda x: np.polyfit(x, x**2, 2, cov=True), ValueError, "must exceed"),
    "polyfit, no points": (lambda x: np.polyfit(x[:0], x[:0], 1), TypeError, "non-empty"),
    "polyder, order": (lambda x: np.polyder(x, -1), ValueError, "positive"),
    "polyint, order": (lambda x: np.polyint(x, -1), ValueError, "positive"),
    "polyint, constants": (lambda x: np.polyint(x, 3, [1.0, 2.0]), ValueError, "length 1"),
    "roots, matrix": (lambda x: np.roots(x[None]), ValueError, "rank-1"),
    "poly, matrix": (lambda x: np.poly(x[None]), ValueError, "square"),
    "polyadd, matrix": (lambda x: np.polyadd(x[None], x), errors.ShapeError, "vector"),
    "trim_zeros, trim": (lambda x: np.trim_zeros(x, "x"), ValueError, "trim"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    function, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        autodidax.vjp(function, p3)


def test_trimming_unknown_values_is_refused():
    with pytest.raises(errors.ConcretizationTypeError, match="trim_zeros"):
        autodidax.jit(np.trim_zeros)(p3)
