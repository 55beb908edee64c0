"""What the distributions have in common: arguments, support, location and scale.

A distribution states its functions on the standard support. Around them, an argument outside of the support, or a
parameter that is none, is first replaced by a harmless one, and the result afterwards by the one that is right there:
so neither the value nor a derivative sees a nan of the branch that is not taken. Where all arguments are known to be
inside, none of that runs.

Arguments take the one dtype that they promote to, float32 included; integers become float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, get_aval
from autodidax.numpy.dispatch import operand
from autodidax.primitives.activations import log1mexp
from autodidax.primitives.comparison import equal, greater, greater_equal, less, less_equal, logical_and
from autodidax.primitives.convert import astype
from autodidax.primitives.elementwise import exp, expm1, log, log1p, power
from autodidax.primitives.rounding import floor
from autodidax.primitives.select import where
from autodidax.primitives.special.logarithms import xlogy

Condition = Any  # booleans, traced or not; None where it holds everywhere


def common(values: list[Any]) -> list[Any]:
    """Arguments in the floating dtype that they promote to, a Python number yielding to an array."""
    operands = [operand(v) for v in values]
    avals = [get_aval(v) for v in operands]
    dtype = np.result_type(0.0, *(a.dtype.type(0).item() if a.weak_type else a.dtype for a in avals))
    if dtype.kind != "f":
        raise errors.DtypeError(
            f"a distribution takes real numbers, not {dtype}", mend="pass the real part of the arguments"
        )
    return [astype(v, dtype) for v in operands]


def both(*conditions: Condition) -> Condition:
    """Where all of the conditions hold; None where that is known to be everywhere."""
    out = None
    for c in conditions:
        if c is None or (not isinstance(c, Tracer) and np.all(c)):
            continue
        out = c if out is None else logical_and(out, c)
    return out


def choose(condition: Condition, x: Any, other: Any) -> Any:
    """x where the condition holds, else another number; its dtype is that of x."""
    return x if condition is None else where(condition, x, other)


def positive(a: Any) -> Condition:
    return greater(a, 0.0)


def finite_positive(a: Any) -> Condition:
    return logical_and(greater(a, 0.0), less(a, math.inf))


def probability(p: Any) -> Condition:
    return logical_and(greater_equal(p, 0.0), less_equal(p, 1.0))


def whole(n: Any) -> Condition:
    return logical_and(greater_equal(n, 0.0), equal(floor(n), n))


def at_edge(y: Any, exponent: Any, logarithm: Any, inside: Callable[[Any], Any]) -> Any:
    """inside(y) for y > 0, and where y is 0 y**exponent exp(logarithm), which has its derivatives there."""
    zero = equal(y, 0.0)
    if not isinstance(zero, Tracer) and not np.any(zero):
        return inside(y)
    power_at_0 = power(where(zero, y, 1.0), where(zero, exponent, 1.0)) * exp(where(zero, logarithm, 0.0))
    return where(zero, power_at_0, inside(where(zero, 1.0, y)))


def times_power(y: Any, exponent: Any, logarithm: Any) -> Any:
    """y**exponent exp(logarithm) for y >= 0, without overflow."""
    return at_edge(y, exponent, logarithm, lambda x: exp(xlogy(exponent, x) + logarithm))


def log_of(small: Any, rest: Any) -> Any:
    """log(small) for probabilities with small + rest = 1, from the smaller of the two."""
    high = greater(small, 0.5)
    return where(high, log1p(-where(high, rest, 0.0)), log(where(high, 1.0, small)))


class Distribution:
    """Names, arguments and their replacement; `Continuous` and `Discrete` have the functions."""

    #: shape parameters by name: the test that a parameter is one, and a value that is
    parameters: ClassVar[dict[str, tuple[Callable[[Any], Condition], float]]] = {}
    has_scale = True
    functions: ClassVar[tuple[str, ...]] = ()

    def __init__(self, name: str):
        self.name = name
        self.arguments = (*self.parameters, "loc", "scale") if self.has_scale else (*self.parameters, "loc")

    def __repr__(self) -> str:
        return f"<distribution {self.name}({', '.join(self.arguments)})>"

    def checked(self, *shapes: Any) -> tuple[Condition, list[Any]]:
        """Where the shape parameters are some, and these with defaults where they are none."""
        conditions = [both(test(s)) for s, (test, _) in zip(shapes, self.parameters.values(), strict=True)]
        defaults = [default for _, default in self.parameters.values()]
        return both(*conditions), [choose(c, s, d) for c, s, d in zip(conditions, shapes, defaults, strict=True)]

    def _arguments(self, function: str, x: Any, args: tuple[Any, ...], given: dict[str, Any]) -> list[Any]:
        """The argument, the shape parameters, loc and scale, in one dtype."""
        if len(args) > len(self.arguments):
            raise self._wrong(function, f"{len(args) + 1} arguments")
        values = dict(zip(self.arguments, args, strict=False))
        for name, value in given.items():
            if name not in self.arguments or name in values:
                raise self._wrong(function, f"the argument {name}" + " twice" * (name in values))
            values[name] = value
        values = {"loc": 0.0, "scale": 1.0} | values
        missing = [name for name in self.arguments if name not in values]
        if missing:
            raise self._wrong(function, f"no {missing[0]}")
        return common([x, *(values[name] for name in self.arguments)])

    def _wrong(self, function: str, what: str) -> errors.ArgumentError:
        return errors.ArgumentError(
            f"{self.name}.{function} was given {what}",
            mend=f"write {self.name}.{function}(x, {', '.join(self.arguments)})",
        )


class Continuous(Distribution):
    """A continuous distribution with location and scale: pdf, logpdf, cdf, logcdf, sf, logsf, ppf, isf.

    Each takes (x, *shape parameters, loc=0, scale=1), which broadcast, under scipy.stats' names and in its order.
    Outside of the support the density is 0; a parameter that is none gives nan.

    A distribution defines the functions with a leading underscore on its standard support, of (y, *shapes).
    """

    #: functions that are not evaluated at the ends of the support either
    open_functions: ClassVar[tuple[str, ...]] = ()
    interior = 0.5  # some point inside of the support, whatever the parameters
    functions = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")

    def support(self, *shapes: Any) -> tuple[Any, Any]:
        """The ends of the standard support."""
        return -math.inf, math.inf

    def inner(self, *shapes: Any) -> Any:
        """A point inside of the standard support."""
        return self.interior

    def pdf(self, x: Any, *args: Any, **given: Any) -> Any:
        """Density."""
        return self._at("pdf", x, args, given, lambda f, scale: f / scale, 0.0, 0.0)

    def logpdf(self, x: Any, *args: Any, **given: Any) -> Any:
        """Logarithm of the density."""
        return self._at("logpdf", x, args, given, lambda f, scale: f - log(scale), -math.inf, -math.inf)

    def cdf(self, x: Any, *args: Any, **given: Any) -> Any:
        """Distribution function: the probability of values up to x."""
        return self._at("cdf", x, args, given, None, 0.0, 1.0)

    def logcdf(self, x: Any, *args: Any, **given: Any) -> Any:
        """Logarithm of the distribution function, with its digits in both tails."""
        return self._at("logcdf", x, args, given, None, -math.inf, 0.0, open_below=True)

    def sf(self, x: Any, *args: Any, **given: Any) -> Any:
        """Survival function: the probability of values beyond x, 1 - cdf with its digits in the upper tail."""
        return self._at("sf", x, args, given, None, 1.0, 0.0)

    def logsf(self, x: Any, *args: Any, **given: Any) -> Any:
        """Logarithm of the survival function, with its digits in both tails."""
        return self._at("logsf", x, args, given, None, 0.0, -math.inf, open_above=True)

    def ppf(self, q: Any, *args: Any, **given: Any) -> Any:
        """Quantile function, the inverse of cdf."""
        return self._quantile("ppf", q, args, given, rising=True)

    def isf(self, q: Any, *args: Any, **given: Any) -> Any:
        """Inverse of the survival function."""
        return self._quantile("isf", q, args, given, rising=False)

    def _at(
        self, function: str, x: Any, args: Any, given: Any, rescaled: Any, below: float, above: float,
        open_below: bool = False, open_above: bool = False,
    ) -> Any:  # fmt: skip
        x, *shapes, loc, scale = self._arguments(function, x, args, given)
        has_scale = both(greater(scale, 0.0))
        scale = choose(has_scale, scale, 1.0)
        valid, shapes = self.checked(*shapes)
        valid = both(valid, has_scale)
        y = (x - loc) / scale
        low, high = self.support(*shapes)
        opened = function in self.open_functions
        from_low = both((greater if opened or open_below else greater_equal)(y, low), greater(y, -math.inf))
        to_high = both((less if opened or open_above else less_equal)(y, high), less(y, math.inf))
        inside = both(from_low, to_high)
        out = getattr(self, f"_{function}")(choose(inside, y, self.inner(*shapes)), *shapes)
        if rescaled is not None:
            out = rescaled(out, scale)
        out = choose(to_high, choose(from_low, out, below), above)
        return choose(both(valid, equal(y, y)), out, math.nan)

    def _quantile(self, function: str, q: Any, args: Any, given: Any, *, rising: bool) -> Any:
        q, *shapes, loc, scale = self._arguments(function, q, args, given)
        has_scale = both(greater(scale, 0.0))
        scale = choose(has_scale, scale, 1.0)
        valid, shapes = self.checked(*shapes)
        valid = both(valid, has_scale, probability(q))
        above_0, below_1 = both(greater(q, 0.0)), both(less(q, 1.0))
        out = getattr(self, f"_{function}")(choose(both(above_0, below_1), q, 0.5), *shapes)
        first, last = self.support(*shapes) if rising else self.support(*shapes)[::-1]
        out = choose(below_1, choose(above_0, out, first), last)
        return choose(valid, out * scale + loc, math.nan)

    # what follows from the others; a distribution gives the forms that keep its digits

    def _pdf(self, y: Any, *shapes: Any) -> Any:
        return exp(self._logpdf(y, *shapes))

    def _logpdf(self, y: Any, *shapes: Any) -> Any:
        return log(self._pdf(y, *shapes))

    def _cdf(self, y: Any, *shapes: Any) -> Any:
        return exp(self._logcdf(y, *shapes))

    def _sf(self, y: Any, *shapes: Any) -> Any:
        return exp(self._logsf(y, *shapes))

    def _logcdf(self, y: Any, *shapes: Any) -> Any:
        return log_of(self._cdf(y, *shapes), self._sf(y, *shapes))

    def _logsf(self, y: Any, *shapes: Any) -> Any:
        return log_of(self._sf(y, *shapes), self._cdf(y, *shapes))

    def _ppf(self, q: Any, *shapes: Any) -> Any:
        raise NotImplementedError

    def _isf(self, q: Any, *shapes: Any) -> Any:
        raise NotImplementedError


class Symmetric(Continuous):
    """A distribution that is symmetric around 0: it gives _cdf, _logcdf and _ppf."""

    interior = 0.0

    def _sf(self, y: Any, *shapes: Any) -> Any:
        return self._cdf(-y, *shapes)

    def _logsf(self, y: Any, *shapes: Any) -> Any:
        return self._logcdf(-y, *shapes)

    def _isf(self, q: Any, *shapes: Any) -> Any:
        return -self._ppf(q, *shapes)


class Lifetime(Continuous):
    """A distribution on (0, inf) or (1, inf) given by its cumulated hazard, -logsf: `_hazard` and its inverse."""

    interior = 1.5

    def support(self, *shapes: Any) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _hazard(self, y: Any, *shapes: Any) -> Any:
        raise NotImplementedError

    def _of_hazard(self, h: Any, *shapes: Any) -> Any:
        raise NotImplementedError

    def _cdf(self, y: Any, *shapes: Any) -> Any:
        return -expm1(-self._hazard(y, *shapes))

    def _sf(self, y: Any, *shapes: Any) -> Any:
        return exp(-self._hazard(y, *shapes))

    def _logcdf(self, y: Any, *shapes: Any) -> Any:
        return log1mexp(self._hazard(y, *shapes))

    def _logsf(self, y: Any, *shapes: Any) -> Any:
        return -self._hazard(y, *shapes)

    def _ppf(self, q: Any, *shapes: Any) -> Any:
        return self._of_hazard(-log1p(-q), *shapes)

    def _isf(self, q: Any, *shapes: Any) -> Any:
        return self._of_hazard(-log(q), *shapes)


class Discrete(Distribution):
    """A distribution on integers with a location: pmf, logpmf, cdf, logcdf, sf, logsf, ppf, isf.

    Each takes (k, *shape parameters, loc=0), which broadcast, under scipy.stats' names and in its order. Where k is no
    integer the mass is 0; cdf and sf are constant between integers, and ppf and isf in q and in the parameters.
    The derivative of a mass in k is that of the formula with gamma functions, as in JAX.
    """

    has_scale = False
    functions = ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")

    def support(self, *shapes: Any) -> tuple[Any, Any]:
        """The smallest and the largest integer."""
        return 0.0, math.inf

    def pmf(self, k: Any, *args: Any, **given: Any) -> Any:
        """Probability of k."""
        return self._mass("pmf", k, args, given, 0.0)

    def logpmf(self, k: Any, *args: Any, **given: Any) -> Any:
        """Logarithm of the probability of k."""
        return self._mass("logpmf", k, args, given, -math.inf)

    def cdf(self, k: Any, *args: Any, **given: Any) -> Any:
        """Distribution function: the probability of values up to k."""
        return self._tail("cdf", k, args, given, 0.0, 1.0)

    def logcdf(self, k: Any, *args: Any, **given: Any) -> Any:
        """Logarithm of the distribution function, with its digits in both tails."""
        return self._tail("logcdf", k, args, given, -math.inf, 0.0)

    def sf(self, k: Any, *args: Any, **given: Any) -> Any:
        """Survival function: the probability of values beyond k."""
        return self._tail("sf", k, args, given, 1.0, 0.0)

    def logsf(self, k: Any, *args: Any, **given: Any) -> Any:
        """Logarithm of the survival function, with its digits in both tails."""
        return self._tail("logsf", k, args, given, 0.0, -math.inf)

    def ppf(self, q: Any, *args: Any, **given: Any) -> Any:
        """The smallest k with cdf(k) >= q; one below the support for q = 0."""
        return self._quantile("ppf", q, args, given)

    def isf(self, q: Any, *args: Any, **given: Any) -> Any:
        """The smallest k with sf(k) <= q; one below the support for q = 1."""
        return self._quantile("isf", q, args, given)

    def _mass(self, function: str, k: Any, args: Any, given: Any, outside: float) -> Any:
        k, *shapes, loc = self._arguments(function, k, args, given)
        valid, shapes = self.checked(*shapes)
        j = k - loc
        low, high = self.support(*shapes)
        inside = both(greater_equal(j, low), less_equal(j, high), less(j, math.inf), equal(floor(j), j))
        out = getattr(self, f"_{function}")(choose(inside, j, low), *shapes)
        return choose(both(valid, equal(j, j)), choose(inside, out, outside), math.nan)

    def _tail(self, function: str, k: Any, args: Any, given: Any, below: float, above: float) -> Any:
        k, *shapes, loc = self._arguments(function, k, args, given)
        valid, shapes = self.checked(*shapes)
        j = floor(k - loc)
        low, high = self.support(*shapes)
        from_low, below_high = both(greater_equal(j, low)), both(less(j, high))
        out = getattr(self, f"_{function}")(choose(both(from_low, below_high), j, low), *shapes)
        out = choose(below_high, choose(from_low, out, below), above)
        return choose(both(valid, equal(j, j)), out, math.nan)

    def _quantile(self, function: str, q: Any, args: Any, given: Any) -> Any:
        q, *shapes, loc = self._arguments(function, q, args, given)
        valid, shapes = self.checked(*shapes)
        valid = both(valid, probability(q))
        low, high = self.support(*shapes)
        above_0, below_1 = both(greater(q, 0.0)), both(less(q, 1.0))
        out = getattr(self, f"_{function}")(choose(both(above_0, below_1), q, 0.5), *shapes)
        first, last = (low - 1.0, high) if function == "ppf" else (high, low - 1.0)
        out = choose(below_1, choose(above_0, out, first), last)
        return choose(valid, out + loc, math.nan)

    def _pmf(self, k: Any, *shapes: Any) -> Any:
        return exp(self._logpmf(k, *shapes))

    def _logpmf(self, k: Any, *shapes: Any) -> Any:
        raise NotImplementedError

    def _cdf(self, k: Any, *shapes: Any) -> Any:
        raise NotImplementedError

    def _sf(self, k: Any, *shapes: Any) -> Any:
        raise NotImplementedError

    def _logcdf(self, k: Any, *shapes: Any) -> Any:
        return log_of(self._cdf(k, *shapes), self._sf(k, *shapes))

    def _logsf(self, k: Any, *shapes: Any) -> Any:
        return log_of(self._sf(k, *shapes), self._cdf(k, *shapes))

    def _ppf(self, q: Any, *shapes: Any) -> Any:
        raise NotImplementedError

    def _isf(self, q: Any, *shapes: Any) -> Any:
        raise NotImplementedError
