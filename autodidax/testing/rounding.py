"""How far rounding moves a result: the computation is run some times more, each with other rounding errors.

An interpreter carries every operation out and then changes its result by up to one unit in the last place, by a hash
of the value, so that what is equal stays equal: ties stay ties, and symmetric matrices symmetric. Results that are
exact, because the operation only picks or moves its operands' entries, stay. Operations on whole arrays round inside,
in ways that are as good as rounded operands; so their operands are changed too. What a function cannot resolve, for
cancellation or bad condition, is seen even where the function is a staircase and neighbouring values are the same.
What is computed to fewer digits than the arguments have stays as it is: that is no rounding that has to be.

Source: Vignes, A stochastic arithmetic for reliable scientific computation, Mathematics and Computers in Simulation 35
(1993), 233-261.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import Trace, Tracer, ValueTracer, dtype_of
from autodidax.core.primitive import products
from autodidax.testing.directions import unit_roundoff
from autodidax.testing.numeric import pack
from autodidax.transforms.custom_calls import CustomJVPCall, CustomVJPCall

RUNS = 8
FACTORS = tuple(0x9E3779B97F4A7C15 + 0x632BE59BD9B4E018 * k for k in range(RUNS))  # of the hashes, odd numbers
SUMS = ("add", "sub")
SEARCHED = 100_000  # entries up to which exact results are looked for


def rounding_errors(
    run: Callable[[list[Any]], Sequence[Any]],
    xs: Sequence[Any],
    combined: Callable[[np.ndarray], Any] = lambda results: results,
) -> np.ndarray:
    """How far the inexact results of `run` at `xs`, laid end to end, move with other rounding errors, or what they are
    `combined` to; zeros where it cannot be traced, or is not finite."""
    found: np.ndarray = np.zeros(())
    with np.errstate(all="ignore"):
        try:
            here = pack(list(run(list(xs))))
            if not np.array_equal(here, pack(list(run(list(xs)))), equal_nan=True):
                return found  # what it gives does not depend on rounding alone
            for factor in FACTORS:
                with RoundingTrace(factor, unit_roundoff(xs)) as trace:
                    boxed = {id(x): trace.box(x) for x in xs if is_inexact(dtype_of(x))}  # one object stays one
                    ys = run([boxed.get(id(x), x) for x in xs])
                    there = pack([y if y is None else trace.unbox(y) for y in ys])
                moved = np.abs(combined(there) - combined(here))
                found = np.maximum(found, np.nan_to_num(moved, nan=0.0, posinf=0.0))
        except Exception:  # whatever a function raises that takes plain arrays only
            return np.zeros(())
    return found


def calls_custom_rules(run: Callable[[list[Any]], Sequence[Any]], xs: Sequence[Any]) -> bool:
    """Whether a function, run at `xs`, calls one that has a rule of its own (custom_jvp, custom_vjp)."""
    with np.errstate(all="ignore"), _CallsTrace() as trace:
        try:
            run([trace.box(x) if is_inexact(dtype_of(x)) else x for x in xs])
        except Exception:  # whatever a function raises that takes plain arrays only
            return True
        return trace.custom


class RoundingTracer(ValueTracer):
    """A value that has been rounded in another way."""

    __slots__ = ()


class _PlainTrace(Trace):
    """Carries operations out on the values in its tracers."""

    __slots__ = ()

    def box(self, x: Any) -> Any:
        tracer = object.__new__(RoundingTracer)
        tracer._trace, tracer.val, tracer.node = self, x, None
        return tracer

    def unbox(self, x: Any) -> Any:
        return x.val if isinstance(x, Tracer) and x._trace is self else x


class _CallsTrace(_PlainTrace):
    """Notes whether a function with a custom rule is called."""

    __slots__ = ("custom",)

    def __init__(self) -> None:
        super().__init__("check", "its calls")
        self.custom = False

    def process(self, p: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        self.custom |= isinstance(p, CustomJVPCall | CustomVJPCall)
        out = p(*map(self.unbox, args), **params)
        boxed = lambda y: y if y is None or not is_inexact(dtype_of(y)) else self.box(y)
        return [boxed(y) for y in out] if p.multiple_results else boxed(out)


class RoundingTrace(_PlainTrace):
    """Carries operations out with other rounding errors."""

    __slots__ = ("factor", "coarsest")

    def __init__(self, factor: int, coarsest: float):
        super().__init__("check", "another rounding")
        self.factor = np.uint64(factor % 2**64)
        self.coarsest = coarsest

    def process(self, p: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        operands = [self.unbox(x) for x in args]
        out = p(*operands, **params)
        moves = p.structural or p.zero_derivative or self._picks(out, operands)
        if not (moves or products[p.code]):
            operands = [self.rounded(x, ()) if is_inexact(dtype_of(x)) else x for x in operands]
            out = p(*operands, **params)
        if p.multiple_results:
            return [self._result(y, operands, moves) for y in out]
        if p.name in SUMS:  # a sum that is one of its terms has lost the other, unless that is zero
            operands = [np.where((operands[0] == 0) | (operands[1] == 0), out, np.nan)]
        return self._result(out, operands, moves)

    def _result(self, y: Any, operands: list[Any], moves: bool) -> Any:
        if y is None or not is_inexact(dtype_of(y)):
            return y
        return self.box(y if moves else self.rounded(y, operands))

    def _picks(self, out: Any, operands: Sequence[Any]) -> bool:
        """Whether all that is computed stands among the operands, as the extrema or the order of numbers do."""
        outs = [
            y for y in (out if isinstance(out, list | tuple) else [out]) if y is not None and is_inexact(dtype_of(y))
        ]
        if not outs or sum(int(np.size(v)) for v in (*outs, *operands)) > SEARCHED:
            return False
        known = np.concatenate([np.ravel(v) for v in operands])
        return all(bool(np.all(np.isin(y, known))) for y in outs)

    def rounded(self, x: Any, operands: Sequence[Any]) -> Any:
        """x in the same type and dtype, but for the entries that are among the operands."""
        a = np.asarray(x)
        if np.finfo(a.dtype).eps > self.coarsest:
            return x
        if a.dtype.kind == "c":
            new = a.copy()
            new.real, new.imag = self.rounded(a.real, ()), self.rounded(a.imag, ())
        else:
            bits = np.abs(a).view(f"u{a.dtype.itemsize}").astype(np.uint64)
            hashed = (bits * self.factor) ^ ((bits * self.factor) >> np.uint64(29))
            part = (hashed * self.factor >> np.uint64(48)).astype(a.dtype) * a.dtype.type(2.0**-15) - 1
            new = a + a * (np.finfo(a.dtype).eps * part)
        if operands and a.size + sum(int(np.size(v)) for v in operands) <= SEARCHED:
            known = np.concatenate([np.abs(np.asarray(v)).ravel() for v in operands])
            new = np.where(np.isin(np.abs(a), known), a, new)
        new = np.asarray(new, a.dtype)
        return type(x)(new[()]) if type(x) in (float, complex) else new[()] if new.ndim == 0 else new
