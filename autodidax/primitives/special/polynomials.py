"""Orthogonal polynomials, differentiable in the variable to every order; degrees and parameters are constant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.special as sc

from autodidax import errors
from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.comparison import equal
from autodidax.primitives.select import where

_PARAMETERS = {2: ("degree",), 3: ("degree", "parameter"), 4: ("degree", "first parameter", "second parameter")}


def lowered(n: Any) -> Any:
    """The degree of a derivative: n - 1, and 0 for 0."""
    return max(n - 1, 0) if type(n) is int else where(equal(n, 0), 0, n - 1)


def _unless_constant(n: Any, slope: Any) -> Any:
    """The derivative, 0 for degree 0."""
    return (slope if n else 0.0 * slope) if type(n) is int else where(equal(n, 0), 0.0, slope)


def _samples(parameters: Sequence[int], low: float, high: float, ufunc: Any) -> Callable[..., Any]:
    complex_ok = any("D" in loop for loop in ufunc.types)

    def samples(rng):
        for n in (0, 1, 2, 5):
            yield sample(n, *parameters, rng.uniform(low, high, 3), name=f"degree {n}")
        yield sample(np.arange(4)[:, None], *parameters, rng.uniform(low, high, 3), name="broadcast")
        yield sample(3, *parameters, rng.uniform(low, high))
        yield sample(3, *parameters, rng.uniform(low, high, (0, 2)))
        yield sample(3, *parameters, rng.uniform(low, high, 3).astype(np.float32))
        if complex_ok:
            yield sample(2, *parameters, rng.uniform(low, high, 2) + 0.3j, name="complex")

    return samples


def _polynomial(ufunc: Any, slope: Callable[..., Any], parameters: Sequence[int] = ()) -> Pointwise:
    """A polynomial from its derivative in the variable: a function of its degree, that of the derivative, parameters
    and variable."""
    name = ufunc.__name__
    low, high = (0.1, 0.9) if "_sh_" in name else (-0.9, 0.9) if ufunc.types[-1].count("D") else (-2.0, 2.0)
    by_variable = {
        2: lambda t, _z, n, x: t * _unless_constant(n, slope(n, lowered(n), x)),
        3: lambda t, _z, n, a, x: t * _unless_constant(n, slope(n, lowered(n), a, x)),
        4: lambda t, _z, n, a, b, x: t * _unless_constant(n, slope(n, lowered(n), a, b, x)),
    }[ufunc.nin]
    refused = [constant_in(name, operand, ufunc.nin) for operand in _PARAMETERS[ufunc.nin]]
    samples = _samples(parameters, low, high, ufunc)
    return pointwise(name, ufunc, nin=ufunc.nin, products=(*refused, by_variable), samples=samples, module=__name__)


def constant_in(name: str, operand: str, nin: int) -> Callable[..., Any]:
    """The product of an operand in which a function of this many operands has no derivative here."""

    def refuse() -> Any:
        raise errors.NondifferentiableError(
            f"{name} has no derivative in its {operand}: there is no closed form for it",
            mend=f"keep the {operand} constant, e.g. by stop_gradient",
        )

    by_operands: dict[int, Callable[..., Any]] = {
        2: lambda _t, _z, _a, _b: refuse(),
        3: lambda _t, _z, _a, _b, _c: refuse(),
        4: lambda _t, _z, _a, _b, _c, _d: refuse(),
    }
    return by_operands[nin]


eval_jacobi: Pointwise = _polynomial(
    sc.eval_jacobi, lambda n, k, a, b, x: (0.5 * (n + a + b + 1)) * eval_jacobi(k, a + 1, b + 1, x), (1, 2)
)
eval_sh_jacobi: Pointwise = _polynomial(
    sc.eval_sh_jacobi, lambda n, k, p, q, x: n * eval_sh_jacobi(k, p + 2, q + 1, x), (4, 3)
)
eval_gegenbauer: Pointwise = _polynomial(
    sc.eval_gegenbauer, lambda n, k, a, x: 2.0 * a * eval_gegenbauer(k, a + 1, x), (2,)
)
eval_legendre = _polynomial(sc.eval_legendre, lambda n, k, x: (0.5 * (n + 1)) * eval_jacobi(k, 1.0, 1.0, x))
eval_sh_legendre = _polynomial(sc.eval_sh_legendre, lambda n, k, x: (n + 1) * eval_jacobi(k, 1.0, 1.0, 2.0 * x - 1.0))
eval_chebyu = _polynomial(sc.eval_chebyu, lambda n, k, x: 2.0 * eval_gegenbauer(k, 2.0, x))
eval_chebyt = _polynomial(sc.eval_chebyt, lambda n, k, x: n * eval_chebyu(k, x))
eval_chebys = _polynomial(sc.eval_chebys, lambda n, k, x: eval_gegenbauer(k, 2.0, 0.5 * x))
eval_chebyc = _polynomial(sc.eval_chebyc, lambda n, k, x: n * eval_chebys(k, x))
eval_sh_chebyu = _polynomial(sc.eval_sh_chebyu, lambda n, k, x: 4.0 * eval_gegenbauer(k, 2.0, 2.0 * x - 1.0))
eval_sh_chebyt = _polynomial(sc.eval_sh_chebyt, lambda n, k, x: (2.0 * n) * eval_sh_chebyu(k, x))
eval_genlaguerre: Pointwise = _polynomial(sc.eval_genlaguerre, lambda n, k, a, x: -eval_genlaguerre(k, a + 1, x), (1,))
eval_laguerre = _polynomial(sc.eval_laguerre, lambda n, k, x: -eval_genlaguerre(k, 1.0, x))
eval_hermite: Pointwise = _polynomial(sc.eval_hermite, lambda n, k, x: (2.0 * n) * eval_hermite(k, x))
eval_hermitenorm: Pointwise = _polynomial(sc.eval_hermitenorm, lambda n, k, x: n * eval_hermitenorm(k, x))

ALL = (
    eval_jacobi, eval_sh_jacobi, eval_gegenbauer, eval_legendre, eval_sh_legendre, eval_chebyu, eval_chebyt,
    eval_chebys, eval_chebyc, eval_sh_chebyu, eval_sh_chebyt, eval_genlaguerre, eval_laguerre, eval_hermite,
    eval_hermitenorm,
)  # fmt: skip
