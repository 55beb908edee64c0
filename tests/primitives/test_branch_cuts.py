"""Complex functions on their branch cuts: along a cut, on either side of it, there is a derivative."""

import numpy as np
import pytest

import autodidax

#: numbers on the cuts, on either side, and some between them
SIDES = [complex(a, b) for a in (2.5, -2.5, 0.3, -0.3) for b in (0.0, -0.0)]
CUTS = ["arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "log", "log10", "log1p", "log2", "sqrt"]


@pytest.mark.parametrize("turned", [False, True], ids=["real", "imaginary"])
@pytest.mark.parametrize("name", CUTS)
def test_derivatives_on_branch_cuts(name, turned):
    f, step = getattr(np, name), 1e-6
    gradients = [g := autodidax.grad(f, holomorphic=True), autodidax.jit(g)]
    for side in SIDES:
        along, across = side.real, side.imag  # the sign of a 0 is lost where anything is added to it
        at = (lambda t, b=across: complex(b, t)) if turned else (lambda t, b=across: complex(t, b))
        with np.errstate(all="ignore"):
            want = (f(at(along + step)) - f(at(along - step))) / (at(along + step) - at(along - step))
            if np.isfinite(want):
                for gradient in gradients:
                    np.testing.assert_allclose(gradient(at(along)), want, rtol=1e-7, err_msg=str(at(along)))
