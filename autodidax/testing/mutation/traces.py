"""Mutants of primitives that handle the traces themselves: what their rules leave in a trace, changed.

`trace_jvp` leaves tangents, `trace_reverse` and `trace_linear` a call node with its pullback (and pushforward),
`trace_batch` batches.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from autodidax.core.interpreters import Tracer
from autodidax.primitives.convert import zeros_like
from autodidax.testing.mutation import operators as ops
from autodidax.testing.mutation.operators import detached, each
from autodidax.transforms.reverse import Call

#: (note a result and its change; the right rule) -> the wrong rule
Wrapper = Callable[[Any, Callable[..., Any]], Callable[..., Any]]
#: the rule, the operator, the order of the derivatives that show it, and the wrapper
TraceChange = tuple[str, str, int, Wrapper]


def trace_changes(factor: float) -> Iterator[TraceChange]:
    """Every change of the rules of a higher-order primitive."""
    for name, change in ops.value_changes(factor).items():
        yield "trace_jvp", name, 1, _tangents(change)
        for rule in ("trace_reverse", "trace_linear"):
            yield rule, f"{name}, pulled back", 1, _pulled(each(change))
        yield "trace_linear", f"{name}, pushed forward", 1, _pushed(each(change))
    yield "trace_jvp", "swapped", 1, _swapped_tangents
    yield "trace_jvp", "tangent detached", 2, _tangents(detached)
    yield "trace_jvp", "residual detached", 2, _detached_tangents
    for rule in ("trace_reverse", "trace_linear"):
        yield rule, "swapped", 1, _pulled(_swapped_first)
    yield "trace_reverse", "cotangent detached", 2, _pulled(each(detached))
    yield "trace_reverse", "residual detached", 2, _detached_pullback
    for name, change in ops.ROWS.items():
        yield "trace_batch", name, 1, _rows(change)
    yield "trace_batch", "dimension forgotten", 1, _forgotten


def _mine(trace: Any, out: Any) -> list[Any]:
    return [y for y in out if isinstance(y, Tracer) and y._trace is trace]


def _tangents(change: ops.Change) -> Wrapper:
    """Every tangent that the rule computed, changed; one that is dropped becomes zeros."""

    def wrapper(mutant: Any, original: Callable[..., Any]) -> Callable[..., Any]:
        def wrong(trace: Any, args: Any, params: Any) -> Any:
            out = original(trace, args, params)
            mutant.ran = True
            for y in _mine(trace, out):
                t = change(y.node)
                y.node = _noted(mutant, y.node, zeros_like(y.val) if t is None else t)
            return out

        return wrong

    return wrapper


def _noted(mutant: Any, right: Any, wrong: Any) -> Any:
    """Note a change; where values are traced it counts as a difference, which only their derivatives can show."""
    if right is not wrong and mutant.order > 1:
        mutant.note_change()
    return mutant.note(right, wrong)


def _swapped_tangents(mutant: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    def wrong(trace: Any, args: Any, params: Any) -> Any:
        out = original(trace, args, params)
        mutant.ran = True
        mine = _mine(trace, out)
        for a, b in itertools.pairwise(mine):
            if ops.alike(a.node, b.node):
                mutant.note([a.node, b.node], [b.node, a.node])
                a.node, b.node = b.node, a.node
                break
        return out

    return wrong


def _swapped_first(gs: list[Any]) -> list[Any]:
    """The first two cotangents of the same kind exchanged."""
    for i, j in ops.pairs(len(gs)):
        if ops.alike(gs[i], gs[j]):
            return ops.swapped(i, j)(gs)
    return gs


def _with_detached(trace: Any, args: Any) -> tuple[list[Any], bool]:
    """The operands of a trace with values that derivatives of outer transforms do not go through."""
    new, changed = [], False
    for a in args:
        if isinstance(a, Tracer) and a._trace is trace and detached(a.val) is not a.val:
            boxed = object.__new__(type(a))
            boxed._trace, boxed.val, boxed.node = trace, detached(a.val), a.node
            a, changed = boxed, True
        new.append(a)
    return new, changed


def _detached_tangents(mutant: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    """The right results, with tangents computed at values without their derivatives."""

    def wrong(trace: Any, args: Any, params: Any) -> Any:
        out = original(trace, args, params)
        mutant.ran = True
        others, changed = _with_detached(trace, args)
        if changed:
            mutant.note_change()
            for y, z in zip(_mine(trace, out), _mine(trace, original(trace, others, params)), strict=True):
                y.node = z.node
        return out

    return wrong


def _main_nodes(trace: Any, out: Any) -> set[int]:
    """The call nodes that the results are projections of."""
    return {trace.tape[y.node][1] for y in _mine(trace, out) if len(trace.tape[y.node]) == 2}


def _detached_pullback(mutant: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    """The right results, with the pullback of values without their derivatives."""

    def wrong(trace: Any, args: Any, params: Any) -> Any:
        out = original(trace, args, params)
        mutant.ran = True
        others, changed = _with_detached(trace, args)
        if changed:
            mutant.note_change()
            second = original(trace, others, params)
            for a, b in zip(sorted(_main_nodes(trace, out)), sorted(_main_nodes(trace, second)), strict=True):
                trace.tape[a] = (trace.tape[b][0], *trace.tape[a][1:])
        return out

    return wrong


def _pulled(change: ops.Change) -> Wrapper:
    """The pullback's cotangents, changed; a detached one is also detached from the cotangent that came in."""

    def wrapper(mutant: Any, original: Callable[..., Any]) -> Callable[..., Any]:
        def wrong(trace: Any, args: Any, params: Any) -> Any:
            out = original(trace, args, params)
            mutant.ran = True
            for main in _main_nodes(trace, out):
                call, ins, count = trace.tape[main]

                def pull(cts: list[Any], call: Call = call) -> list[Any]:
                    gs = list(call.pull(cts))
                    return [_noted(mutant, g, w) for g, w in zip(gs, change(gs), strict=True)]

                trace.tape[main] = (Call(pull, call.push, takes_masks=call.takes_masks), ins, count)
            return out

        return wrong

    return wrapper


def _pushed(change: ops.Change) -> Wrapper:
    """The results of the pushforward of a linear record, changed."""

    def wrapper(mutant: Any, original: Callable[..., Any]) -> Callable[..., Any]:
        def wrong(trace: Any, args: Any, params: Any) -> Any:
            out = original(trace, args, params)
            mutant.ran = True
            for main in _main_nodes(trace, out):
                call, ins, count = trace.tape[main]

                def push(*ts: Any, call: Call = call) -> list[Any]:
                    assert call.push is not None
                    right = call.push(*ts)
                    wrong = [zeros_like(t) if w is None else w for t, w in zip(right, change(right), strict=True)]
                    return [_noted(mutant, t, w) for t, w in zip(right, wrong, strict=True)]

                trace.tape[main] = (Call(call.pull, push, takes_masks=call.takes_masks), ins, count)
            return out

        return wrong

    return wrapper


def _rows(change: ops.Change) -> Wrapper:
    change = ops.of_rows(change)

    def wrapper(mutant: Any, original: Callable[..., Any]) -> Callable[..., Any]:
        def wrong(trace: Any, vals: Any, dims: Any, params: Any) -> Any:
            out = original(trace, vals, dims, params)
            mutant.ran = True
            for y in _mine(trace, out):
                y.val = mutant.note(y.val, change(y.val))
            return out

        return wrong

    return wrapper


def _forgotten(mutant: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    def wrong(trace: Any, vals: Any, dims: Any, params: Any) -> Any:
        out = original(trace, vals, dims, params)
        mutant.note_change()
        return [y.val if isinstance(y, Tracer) and y._trace is trace else y for y in out]

    return wrong
