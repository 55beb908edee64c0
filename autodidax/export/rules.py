"""Rules of custom_jvp and custom_vjp as programs, by which stored functions that have some are differentiated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autodidax import errors
from autodidax.core.avals import ShapedArray, is_inexact
from autodidax.core.jaxpr import ClosedJaxpr
from autodidax.primitives.convert import zeros_of
from autodidax.transforms.boundary import zero_tangent
from autodidax.transforms.calls import spread
from autodidax.transforms.program import run, tangent_aval
from autodidax.transforms.stage import stage

Flags = tuple[bool, ...]


def inexact(avals: Sequence[ShapedArray]) -> Flags:
    return tuple(is_inexact(a.dtype) for a in avals)


class MissingRule:
    """Stands for a rule that was not stored."""

    def __init__(self, function: str, order: int, name: str):
        self.function = function
        self.order = order
        self.__name__ = name

    def __call__(self, *_: Any) -> Any:
        held = f"up to order {self.order}" if self.order else "of no order"
        raise errors.ExportError(
            f"{self.function} has a derivative rule of its own, and the loaded program holds such rules {held}",
            mend=f"store the function again, with serialize(vjp_order={self.order + 1}) or more",
        )


class ForwardRule:
    """The rule of a custom_jvp: a program of primals and the tangents of those that have one, which returns the outputs
    and the tangents of those in `present`; `function` is the program of the function itself."""

    def __init__(self, function: ClosedJaxpr, program: ClosedJaxpr, present: Flags, name: str):
        self.function = function
        self.program = program
        self.present = present
        self.__name__ = name
        ins, outs = function.in_avals, function.out_avals
        tangents = [tangent_aval(a) for a in ins if is_inexact(a.dtype)]
        _agree([*ins, *tangents], program.in_avals)
        _agree([*outs, *[a for a, on in zip(outs, present, strict=True) if on]], program.out_avals)

    def __call__(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        if all(t is None for t in tangents):
            return run(self.function, primals), [None] * len(self.present)
        avals = self.function.in_avals
        ts = [
            zeros_of(tangent_aval(a)) if t is None else t
            for t, a, on in zip(tangents, avals, inexact(avals), strict=True)
            if on
        ]
        outs = run(self.program, [*primals, *ts])
        n = len(self.present)
        return outs[:n], spread(outs[n:], self.present)


class ForwardPass:
    """The fwd of a custom_vjp: a program that returns the outputs and then the residuals."""

    def __init__(self, function: ClosedJaxpr, program: ClosedJaxpr, name: str):
        self.n_out = len(function.out_avals)
        self.program = program
        self.__name__ = name
        _agree(function.in_avals, program.in_avals)
        _agree(function.out_avals, program.out_avals[: self.n_out])

    def __call__(self, *args: Any) -> tuple[list[Any], list[Any]]:
        outs = run(self.program, args)
        return outs[: self.n_out], outs[self.n_out :]


class BackwardPass:
    """The bwd of a custom_vjp: a program of the residuals and the cotangents of inexact outputs, which returns the
    cotangents of the arguments in `present`."""

    def __init__(self, function: ClosedJaxpr, forward: ClosedJaxpr, program: ClosedJaxpr, present: Flags, name: str):
        self.program = program
        self.present = present
        self.on = inexact(function.out_avals)
        self.__name__ = name
        n = len(function.out_avals)
        cts = [tangent_aval(a) for a, on in zip(function.out_avals, self.on, strict=True) if on]
        _agree([*forward.out_avals[n:], *cts], program.in_avals)
        wanted = [a for a, on in zip(function.in_avals, present, strict=True) if on]
        if [a.shape for a in wanted] != [a.shape for a in program.out_avals]:
            raise ValueError("the cotangents of a rule have other shapes than the arguments")

    def __call__(self, residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        given = [c for c, on in zip(cts, self.on, strict=True) if on]
        return spread(run(self.program, [*residuals, *given]), self.present)


def _agree(wanted: Sequence[ShapedArray], found: Sequence[ShapedArray]) -> None:
    if [(a.shape, a.dtype) for a in wanted] != [(a.shape, a.dtype) for a in found]:
        raise ValueError(f"a rule is for {list(found)} where its function has {list(wanted)}")


def forward_rule(function: ClosedJaxpr, rule: Any) -> ForwardRule:
    """The rule of a custom_jvp as a program."""
    avals = function.in_avals
    on = inexact(avals)
    n = len(avals)
    present: list[bool] = []

    def flat(*values: Any) -> list[Any]:
        outs, ts = rule(list(values[:n]), spread(values[n:], on))
        present[:] = [t is not None for t in ts]
        return [*outs, *[t for t in ts if t is not None]]

    tangents = [tangent_aval(a) for a, f in zip(avals, on, strict=True) if f]
    return ForwardRule(function, _staged(flat, [*avals, *tangents]), tuple(present), rule.__name__)


def backward_rules(function: ClosedJaxpr, fwd: Any, bwd: Any) -> tuple[ForwardPass, BackwardPass]:
    """Both parts of the rule of a custom_vjp as programs."""
    outs, n = function.out_avals, len(function.out_avals)
    on = inexact(outs)

    def flat(*args: Any) -> list[Any]:
        values, residuals = fwd(*args)
        return [*values, *residuals]

    forward = _staged(flat, function.in_avals)
    residuals = forward.out_avals[n:]
    present: list[bool] = []

    def flat_bwd(*values: Any) -> list[Any]:
        given = iter(values[len(residuals) :])
        cts = [next(given) if f else zero_tangent(a) for a, f in zip(outs, on, strict=True)]
        gs = bwd(list(values[: len(residuals)]), cts)
        present[:] = [g is not None for g in gs]
        return [g for g in gs if g is not None]

    cts = [tangent_aval(a) for a, f in zip(outs, on, strict=True) if f]
    backward = _staged(flat_bwd, [*residuals, *cts])
    last = BackwardPass(function, forward, backward, tuple(present), bwd.__name__)
    return ForwardPass(function, forward, fwd.__name__), last


def _staged(flat: Any, avals: Sequence[ShapedArray]) -> ClosedJaxpr:
    program, captured = stage(flat, avals, transform="serialize")
    if captured:
        raise errors.UnexpectedTracerError(
            f"it uses a value of {captured[0]._trace.describe()}",
            mend="serialize the function outside of the transform",
        )
    return program
