"""Special functions: SciPy's values, and derivatives in the tails and at special points against known values.

Every rule of every primitive is checked by `tests/testing/test_registry.py`.
"""

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.special as sc

import autodidax
import autodidax.scipy
from autodidax import errors
from autodidax.core.primitive import registry
from autodidax.primitives import special
from autodidax.scipy import special as public
from autodidax.scipy.special.zeros import __all__ as ZEROS
from tests.primitives.test_elementwise import derivatives, forward_derivatives
from tests.special.test_families import ARGUMENTS, GATHERED, PLAIN


@pytest.mark.parametrize("name", sorted({*public.__all__} - {*ARGUMENTS, *GATHERED, *PLAIN, *ZEROS}))
def test_public_functions_are_those_of_scipy(name):
    ours, theirs = getattr(public, name), getattr(sc, name)
    x = np.array([0.2, 0.5, 0.9])
    counts = dict.fromkeys(("bdtr", "bdtrc", "bdtri", "nbdtr", "nbdtrc", "nbdtri"), (2, 5, x))
    orders = dict.fromkeys(("expn", "smirnov", "smirnovi", "pdtri", "polygamma"), (2, x))
    own = {"zeta": (3.0, x), "multigammaln": (x + 2.0, 3), "factorialk": (5, 2), "factorial2": (5,)}
    args = {**counts, **orders, **own, "comb": (x + 4.0, 2), "perm": (x + 4.0, 2)}.get(name)
    if args is None:
        args = (x,) * getattr(theirs, "nin", 1)
    np.testing.assert_array_equal(ours(*args), theirs(*args))
    assert ours.__doc__
    if isinstance(theirs, np.ufunc):  # the others are functions on top of primitives, see test_logsumexp
        assert registry.get(theirs) is special.BY_FUNCTION[theirs]


def test_zeta_without_q_is_riemanns():
    assert public.zeta(2.0) == sc.zeta(2.0)
    assert float(autodidax.grad(public.zeta)(2.0)) == pytest.approx(-0.93754825431584376, rel=1e-14)


@pytest.mark.parametrize("f", [public.polygamma], ids=lambda f: f.__name__)
def test_no_derivative_in_the_order(f):
    with pytest.raises(errors.NondifferentiableError, match="no derivative in its"):
        autodidax.grad(f)(2.0, 1.5)


TRIGAMMA_1, TETRAGAMMA_1 = math.pi**2 / 6, -2 * 1.2020569031595942
TAIL_OF_LOG_NDTR = [-454.321243956343197, 30.033259667433677, -0.998896228488109909, 7.30999301578443847e-5]
TAIL_OF_ERFCX = [5.6418958072680841e-5, -5.6418957508491275e-9, 1.1283791332441388e-12, -3.3851373320296715e-16]

# function, point, value and derivatives there (mpmath, 30 digits)
POINTS = {
    "gammaln": (public.gammaln, 1.0, [0, -0.5772156649015329, TRIGAMMA_1, TETRAGAMMA_1, math.pi**4 / 15]),
    "erf": (public.erf, 0.0, [0, 2 / math.sqrt(math.pi), 0, -4 / math.sqrt(math.pi), 0]),
    "erfc in the tail": (public.erfc, 10.0, [sc.erfc(10.0), -4.19765623135441689e-44, 8.39531246270883378e-43]),
    "expit in the tail": (public.expit, 50.0, [1, 1.9287498479639178e-22, -1.9287498479639178e-22]),
    "expit in the other tail": (public.expit, -800.0, [0, 0, 0]),
    "log_expit": (public.log_expit, -50.0, [-50, 1, -1.9287498479639178e-22]),
    "log_ndtr in the tail": (public.log_ndtr, -30.0, TAIL_OF_LOG_NDTR),
    "log_ndtr far out": (public.log_ndtr, -1e4, [-50000010.12927891518, 10000.000099999998, -0.9999999900000006]),
    "erfcx in the tail": (public.erfcx, 1e4, TAIL_OF_ERFCX),
    "log_ndtr in the right tail": (public.log_ndtr, 40.0, [0, 0, 0]),
    "log_ndtr at 0": (public.log_ndtr, 0.0, [-math.log(2), math.sqrt(2 / math.pi), -2 / math.pi]),
    "logit": (public.logit, 0.5, [0, 4, 0, 32]),
    "ndtri": (public.ndtri, 0.5, [0, math.sqrt(2 * math.pi), 0, (2 * math.pi) ** 1.5]),
    "xlogy at x = 0": (lambda x: public.xlogy(x, 2.0), 0.0, [0, math.log(2), 0]),
    "xlogy at x = 0, in y": (lambda y: public.xlogy(0.0, y), 0.0, [0, 0, 0]),
    "xlogy(x, x + 2)": (lambda x: public.xlogy(x, x + 2.0), 0.0, [0, math.log(2), 1, -0.75]),
    "xlog1py at (0, -1), in y": (lambda y: public.xlog1py(0.0, y), -1.0, [0, 0, 0]),
    "entr at 0": (public.entr, 0.0, [0, np.inf]),
    "kl_div at x = 0, in y": (lambda y: public.kl_div(0.0, y), 0.0, [0, 1, 0]),
    "rel_entr at 0, in y": (lambda y: public.rel_entr(0.0, y), 0.0, [0, 0, 0]),
    "i0 at 0": (public.i0, 0.0, [1, 0, 0.5, 0, 0.375]),
    "i1 at 0": (public.i1, 0.0, [0, 0.5, 0, 0.375, 0]),
    "zeta": (lambda q: public.zeta(2.0, q), 1.0, [TRIGAMMA_1, TETRAGAMMA_1, math.pi**4 / 15]),
}  # fmt: skip


@pytest.mark.parametrize(("f", "x", "want"), POINTS.values(), ids=POINTS)
@pytest.mark.parametrize("mode", [derivatives, forward_derivatives], ids=["reverse", "forward"])
def test_special_points(f, x, want, mode):
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(mode(f, x, len(want) - 1), want, rtol=2e-12, atol=1e-300)


def test_the_parts_load_on_first_use():
    code = "import sys, autodidax.scipy as s; assert 'scipy' not in sys.modules; s.special.erf; print(dir(s)[-2])"
    out = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "special"
    with pytest.raises(AttributeError, match="its parts are"):
        autodidax.scipy.nothing
