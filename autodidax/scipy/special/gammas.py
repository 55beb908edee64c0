"""The gamma function and its kin; factorials and binomial coefficients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

from autodidax import errors
from autodidax.core.interpreters import dtype_of
from autodidax.numpy.dispatch import function_for, operand
from autodidax.primitives.comparison import equal, greater_equal, less, less_equal, logical_and
from autodidax.primitives.convert import astype
from autodidax.primitives.elementwise import power
from autodidax.primitives.rounding import remainder
from autodidax.primitives.select import where
from autodidax.primitives.special import gammas as _primitives
from autodidax.scipy.special.publishing import public

gamma = public(_primitives.gamma, "Gamma function.")
gammaln = public(_primitives.gammaln, "Logarithm of the absolute value of the gamma function.")
loggamma = public(_primitives.loggamma, "Principal branch of the logarithm of the gamma function.")
rgamma = public(_primitives.rgamma, "1 / gamma(z), 0 at the poles of gamma, where its derivatives are right too.")
gammasgn = public(_primitives.gammasgn, "Sign of the gamma function; its derivative is 0.")
digamma = psi = public(_primitives.digamma, "Derivative of gammaln.")
beta = public(_primitives.beta, "Beta function, gamma(a) gamma(b)/gamma(a + b).")
betaln = public(_primitives.betaln, "Logarithm of the absolute value of the beta function.")
polygamma = public(_primitives.polygamma, "polygamma(n, x), the n-th derivative of digamma, of constant order n >= 0.")
poch = public(_primitives.poch, "Rising factorial, gamma(z + m)/gamma(z).")
binom = public(_primitives.binom, "Binomial coefficient of real numbers.")


@function_for(scipy.special.multigammaln)
def multigammaln(a: Any, d: Any) -> Any:
    """Logarithm of the multivariate gamma function of a fixed dimension d, for a > (d - 1)/2: (...) -> (...).

    Source: scipy.special.multigammaln.
    """
    a = operand(a)
    dimension = _static("multigammaln", "d", d)
    out = dimension * (dimension - 1) / 4.0 * math.log(math.pi)
    for k in range(dimension):
        out = gammaln(a - 0.5 * k) + out
    return out


def _static(name: str, argument: str, value: Any) -> int:
    try:
        return value.__index__()
    except (AttributeError, TypeError):
        raise errors.ConcretizationTypeError(
            f"{name}: {argument} is an integer that is known when the function is traced, got {value!r}",
            mend=f"give {argument} as a Python integer, under jit as a static argument",
        ) from None


def _refuse_exact(name: str, exact: bool) -> None:
    if exact:
        raise errors.ConcretizationTypeError(
            f"{name}: exact=True computes with Python's integers, which traced values are not",
            mend=f"write {name}(..., exact=False), or compute it outside of the transformed function",
        )


@function_for(scipy.special.factorial)
def factorial(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    """n! = gamma(n + 1), of real n too, and 0 where n is negative unless extend="complex": (...) -> (...).

    Source: scipy.special.factorial.
    """
    _refuse_exact("factorial", exact)
    n = operand(n)
    _check_extension("factorial", n, extend, "c")
    if extend == "complex":
        return gamma(n + 1)
    negative = less(n, 0)
    return where(negative, 0, gamma(where(negative, 0, n) + 1))


@function_for(scipy.special.factorial2)
def factorial2(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    """n!! = n (n - 2) (n - 4) ...: of integers, with extend="complex" of real and complex numbers; (...) -> (...).

    Source: scipy.special.factorial2.
    """
    _refuse_exact("factorial2", exact)
    return _multifactorial("factorial2", operand(n), 2, extend)


@function_for(scipy.special.factorialk)
def factorialk(n: Any, k: Any, exact: bool = False, extend: str = "zero") -> Any:
    """n (n - k) (n - 2k) ...: of integers, with extend="complex" of real and complex numbers; (...) -> (...).

    Source: scipy.special.factorialk.
    """
    _refuse_exact("factorialk", exact)
    return _multifactorial("factorialk", operand(n), _static("factorialk", "k", k), extend)


def _multifactorial(name: str, n: Any, k: int, extend: str) -> Any:
    _check_extension(name, n, extend, "fc")
    if extend == "complex":
        scale = 1.0 / scipy.special.gamma(1.0 / k + 1.0)
        return power(float(k), (n - 1.0) / k) * gamma(n / k + 1.0) * float(scale)
    negative = less(n, 0)
    whole = where(negative, 0, n)
    rest = remainder(whole, k)
    # the product of rest + k, rest + 2k, ..., n, and of rest where that is not 0
    steps = gamma(whole / k + 1.0) / gamma(rest / k + 1.0) * power(float(k), (whole - rest) / k)
    return where(negative, 0, steps * where(equal(rest, 0), 1, rest))


def _check_extension(name: str, n: Any, extend: str, refused: str) -> None:
    if extend not in ("zero", "complex"):
        raise errors.ArgumentError(
            f"{name}: extend is 'zero' or 'complex', got {extend!r}", mend="write extend='zero' or extend='complex'"
        )
    if extend == "zero" and dtype_of(n).kind in refused:
        raise errors.DtypeError(
            f"{name}: operands of dtype {dtype_of(n)} have values with extend='complex' only",
            mend=f"write {name}(..., extend='complex'), or give integers",
        )


@function_for(scipy.special.comb)
def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    """Combinations of k of N things: binom(N, k), and 0 outside of 0 <= k <= N; (...), (...) -> (...).

    Source: scipy.special.comb.
    """
    _refuse_exact("comb", exact)
    N, k = operand(N), operand(k)
    if repetition:
        return where(logical_and(equal(k, 0), greater_equal(N, 0)), 1.0, binom(N + k - 1, k))
    return _between(N, k, binom)


@function_for(scipy.special.perm)
def perm(N: Any, k: Any, exact: bool = False) -> Any:
    """Permutations of k of N things: N (N - 1) ... (N - k + 1), and 0 outside of 0 <= k <= N; (...), (...) -> (...).

    Source: scipy.special.perm.
    """
    _refuse_exact("perm", exact)
    return _between(operand(N), operand(k), lambda n, j: poch(n - j + 1, j))


def _between(N: Any, k: Any, count: Any) -> Any:
    inside = logical_and(logical_and(less_equal(k, N), greater_equal(N, 0)), greater_equal(k, 0))
    out = count(N, k)
    return where(inside, out, astype(np.array(0.0), dtype_of(out)))
