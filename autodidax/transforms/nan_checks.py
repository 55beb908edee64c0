"""debug_nans and debug_infs: the operation that first makes a nan (or an inf) of operands without one raises NanError.

While neither option is on, nothing of this module runs. When one is, for the process or in some thread, checks are put
around the ways into an operation: the traces' `process` functions, what pointwise functions and the public functions of
NumPy's names call on plain values, the backward walk and the replay of linear records; staged programs are evaluated
equation by equation. The checks ask for the option of their own thread.

A check looks at the results of a whole operation with its derivative rule, not inside: a rule may make a nan that it
leaves out by `where`. In staged programs the equations of a backward pass count where their nan reaches a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.compile import program as compiler
from autodidax.compile.program import Compiled
from autodidax.config import config
from autodidax.core import sources
from autodidax.core.avals import Masked, ShapedArray
from autodidax.core.interpreters import AbstractTracer, Tracer, bind, get_aval, quietly
from autodidax.core.jaxpr import ClosedJaxpr, JaxprEqn, Literal, last_uses
from autodidax.core.primitive import Pointwise, Primitive, by_code
from autodidax.core.sources import Mark, Source
from autodidax.transforms import backward
from autodidax.transforms.batching import BatchTrace
from autodidax.transforms.forward import JVPTrace, JVPTracer
from autodidax.transforms.reverse import LinearTracer, NotedTape, ReverseTrace

Test = tuple[str, Callable[[Any], Any]]
_UNSPECIFIED = {"empty", "empty_like"}  # functions whose results are whatever was in memory
_TESTS: dict[str, Test] = {"debug_nans": ("nan", np.isnan), "debug_infs": ("inf", np.isinf)}
_inside: ContextVar[bool] = ContextVar("inside_an_operation", default=False)
_entry_points: list[Any] = []  # functions that call `plain`, a variable of their closure, on plain arguments


def _tests() -> list[Test]:
    """What this thread looks for."""
    if _inside.get():
        return []
    return [test for option, test in _TESTS.items() if config.read(option)]


# looking at values


def _parts(x: Any, tangent: bool = False) -> Iterator[tuple[bool, Any]]:
    """The plain floating values in a value, traced or not, or in a tree of them; whether each belongs to a tangent."""
    if isinstance(x, np.ndarray | np.generic):
        if x.dtype.kind in "fc":
            yield tangent, x
    elif type(x) in (float, complex):
        yield tangent, x
    elif isinstance(x, Tracer):
        if not isinstance(x, AbstractTracer):
            yield from _parts(x.val, tangent)
            if isinstance(x, JVPTracer):
                yield from _parts(x.node, True)
    elif type(x) is Masked:
        yield from _parts(x.val, tangent)
    elif isinstance(x, list | tuple):
        for item in x:
            yield from _parts(item, tangent)
    elif isinstance(x, dict):
        for item in x.values():
            yield from _parts(item, tangent)


def _first(test: Test, x: Any, tangents: bool | None = None) -> Any:
    """The first part in which the test finds something (of values or of tangents alone, where that is said)."""
    for tangent, value in _parts(x):
        if (tangents is None or tangent is tangents) and np.any(test[1](value)):
            return value
    return None


def _avals(x: Any) -> list[ShapedArray]:
    """Shapes and dtypes of the arrays in operands or results."""
    if isinstance(x, list | tuple):
        return [aval for item in x for aval in _avals(item)]
    if type(x) is Masked:
        return _avals(x.val)
    return [get_aval(x)] if isinstance(x, Tracer | np.ndarray | np.generic | float | complex | int) else []


_FORWARD = "keep its operands in the domain: f(np.where(ok, x, 1.0)), and np.where(ok, ..., other) of the result"
_DERIVATIVE = (
    "the derivative is infinite or undefined at the operand: keep it away from there, f(np.where(ok, x, 1.0)), and "
    "choose the value there by np.where"
)


def _listed(avals: list[ShapedArray]) -> str:
    return ", ".join(map(repr, avals))


_WHO = {
    "forward": "{}",
    "tangent": "the derivative of {} (forward mode)",
    "backward": "the backward pass of {}",
}


def _found(
    test: Test, name: str, stage: str, value: Any, operands: Any, results: Any, mark: Mark | None, note: str = ""
) -> errors.NanError:
    """The error about an operation; `mark` says where it stands, None: at the present line."""
    kind, is_bad = test
    who = _WHO[stage].format(name)
    size, count = np.size(value), int(np.count_nonzero(is_bad(value)))
    given, made = _avals(operands), _avals(results)
    entries = f" in {count} of {size} entries" if size > 1 else ""
    if size not in [aval.size for aval in made]:
        entries += " of all rows together"
    return errors.NanError(
        f"{who} made {kind}{entries} from operands without {kind}: {_listed(given)} -> {_listed(made)}{note}",
        primitive=name,
        stage=stage,
        where=None if mark is None else Source._make(mark).where,
        mend=_FORWARD if stage == "forward" else _DERIVATIVE,
    )


# operations that run at once


class _as_one:
    """In this context what happens belongs to one operation: it is not looked at, and NumPy gives no warnings of what
    the look at its results will tell."""

    __slots__ = ("_errstate", "_token")

    def __enter__(self) -> None:
        self._errstate = np.errstate(invalid="ignore", divide="ignore")
        self._errstate.__enter__()
        self._token = _inside.set(True)

    def __exit__(self, *exc: object) -> None:
        _inside.reset(self._token)
        self._errstate.__exit__(None, None, None)


def _around(name: str, whole: bool, args: Any, params: Any, run: Callable[[], Any]) -> Any:
    """Run an operation and look at its results; `whole`: what it does inside is not looked at by itself."""
    tests = _tests()
    if not tests:
        return run()
    records = _linear_records(args)
    sizes = [len(tape) for tape in records]
    if whole:
        with _as_one():
            out = run()
    else:
        out = run()
    for test in tests:
        value, tangent = _first(test, out, False), _first(test, out, True)
        if tangent is None and whole:  # a tangent of linearize has no value yet, but its factors do
            new = [_kept(node) for tape, n in zip(records, sizes, strict=True) for node in tape[n:]]
            tangent = _first(test, new)
        if value is None and tangent is None:
            continue
        if _first(test, [*args, params], False) is not None:
            continue
        if value is not None:
            raise _found(test, name, "forward", value, args, out, None)
        if _first(test, args, True) is None:
            raise _found(test, name, "tangent", tangent, args, out, None)
    return out


def _linear_records(args: Any) -> list[list[Any]]:
    """The records that operands write their tangents into: those of linearize."""
    tangents = [a.node for a in args if isinstance(a, JVPTracer)]
    return list({id(t._trace): t._trace.tape for t in tangents if isinstance(t, LinearTracer)}.values())


def _process1(original: Any) -> Any:
    return lambda self, p, x: _around(p.name, True, (x,), None, lambda: original(self, p, x))


def _process2(original: Any) -> Any:
    return lambda self, p, x, y: _around(p.name, True, (x, y), None, lambda: original(self, p, x, y))


def _process(original: Any) -> Any:
    def process(self: Any, p: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        tape = getattr(self, "tape", None)
        start = 0 if tape is None else len(tape)
        out = _around(_called(p, params), not p.higher_order, args, params, lambda: original(self, p, args, params))
        if p.higher_order and type(tape) is NotedTape and any(_first(t, [*args, out]) is not None for t in _tests()):
            tape.tainted.update(range(start, len(tape)))
        return out

    return process


def _called(p: Any, params: dict[str, Any]) -> str:
    """What an operation is called: the one that calls a function, with its name."""
    name = params.get("name")
    return f"{p.name} of {name}" if p.higher_order and isinstance(name, str) else p.name


def _call(original: Any) -> Any:
    """Of the primitives' `__call__` and `bind`."""

    def call(self: Any, *args: Any, **params: Any) -> Any:
        if any(isinstance(a, Tracer) for a in args):
            return bind(self, *args, **params)
        return _around(self.name, True, args, params, lambda: self.impl(*args, **params))

    return call


def _plain(name: str, function: Any) -> Any:
    """A function of plain values, looked at."""
    return lambda *args, **kwargs: _around(name, True, args, kwargs, lambda: function(*args, **kwargs))


def _new_pointwise(original: Any) -> Any:
    """Of the constructor of pointwise primitives."""

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        _put_into_closure(self.op, "impl", self.name)

    return init


# records


def _inputs_of(node: Any) -> tuple[int, ...]:
    kind = len(node)
    return (node[1], node[2]) if kind == 7 else (node[1],) if kind in (4, 5) else node[1]


def _kept(node: Any) -> Any:
    """The values that a node of a record holds."""
    return {4: node[2:], 6: node[2:5], 7: node[3:6]}.get(len(node), ())


def _watch_node(tape: list[Any], i: int, cts: list[Any], pull: Callable[[], None]) -> None:
    """Pull a cotangent through node i, and look at the cotangents that it gives to its operands."""
    tests = _tests()
    node = tape[i]
    if not tests or len(node) == 2:
        pull()
        return
    is_call = len(node) == 3
    mark, name = backward.origin(tape, i)
    ct = cts[i]
    operands = sorted({n for n in _inputs_of(node) if n >= 0})
    before = {n: cts[n] for n in operands}
    for n in operands:
        cts[n] = None
    if is_call:
        pull()
    else:
        with _as_one():
            pull()
    known = not is_call or (type(tape) is NotedTape and i < len(tape.notes) and i not in tape.tainted)
    note = "" if mark is not None else "; its line is known where debug_nans was on during the forward pass"
    for n in operands:
        g, had = cts[n], before[n]
        if g is None or had is None:
            total = had if g is None else g
        else:
            with _as_one():
                total = backward.add_cts(had, g)
        cts[n] = total
        for test in tests:
            value = None if g is None else _first(test, g)
            if value is not None:
                if known and _first(test, [ct, _kept(node)]) is None:
                    raise _found(test, name, "backward", value, ct, g, mark, note)
            elif had is not None and _first(test, had) is None and (value := _first(test, total)) is not None:
                note = f"; it is in the sum with the other cotangents of that operand{note}"
                raise _found(test, name, "backward", value, ct, total, mark, note)


def _watch_replay(tape: list[Any], i: int, values: list[Any], run: Callable[[], None]) -> None:
    """Replay node i of a linear record, and look at the tangents that it gives."""
    tests = _tests()
    node = tape[i]
    with nullcontext() if not tests or len(node) == 3 else _as_one():
        run()
    for test in tests:
        value = _first(test, values[i])
        if value is not None and len(node) > 2:
            operands = [values[n] for n in _inputs_of(node) if n >= 0]
            if _first(test, [operands, _kept(node)]) is None:
                mark, name = backward.origin(tape, i)
                raise _found(test, name, "tangent", value, operands, values[i], mark)


# staged programs


def _interpreter(closed: ClosedJaxpr, found: Compiled) -> Compiled:
    return Compiled(partial(_run, closed), found.source()) if _tests() else found


def _run(closed: ClosedJaxpr, *args: Any) -> list[Any]:
    """A program equation by equation, on plain values."""
    jaxpr, tests = closed.jaxpr, _tests()
    env: dict[Any, Any] = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))
    #: for each test the variables that it finds something in: who is to be told of, or None for what came in
    bad: list[dict[Any, errors.NanError | None]] = [
        {v: None for v, x in env.items() if _first(test, x) is not None} for test in tests
    ]
    for eqn, dying in zip(jaxpr.eqns, last_uses(jaxpr), strict=True):
        values = [v.val if type(v) is Literal else env[v] for v in eqn.invars]
        outs = _run_equation(eqn, values)
        for test, where in zip(tests, bad, strict=True):
            _look(test, eqn, values, outs, where)
        env.update(zip(eqn.outvars, outs, strict=True))
        for v in dying:
            del env[v]
    for where in bad:
        for out in jaxpr.outvars:
            error = where.get(out)
            if error is not None:
                raise error
    return [v.val if type(v) is Literal else env[v] for v in jaxpr.outvars]


def _run_equation(eqn: JaxprEqn, values: list[Any]) -> list[Any]:
    p = eqn.primitive
    with quietly() if eqn.quiet else nullcontext():
        if not p.higher_order:
            with _as_one():
                out = p.impl(*values, **eqn.params)
            return list(out) if p.multiple_results else [out]
        token = sources.enter_scopes(eqn.source.scopes if eqn.source is not None else ())
        try:
            return list(p.impl(*values, **eqn.params))
        finally:
            sources.leave_scopes(token)


def _look(test: Test, eqn: JaxprEqn, values: list[Any], outs: list[Any], bad: dict[Any, Any]) -> None:
    for var, out in zip(eqn.outvars, outs, strict=True):
        value = _first(test, out)
        if value is None:
            continue
        culprits = [bad[v] for v in eqn.invars if v in bad]
        if culprits or _first(test, [values, eqn.params]) is not None:
            bad[var] = next((error for error in culprits if error is not None), None)
            continue
        error = _equation_error(test, eqn, value, values, outs)
        if not eqn.quiet:
            raise error
        bad[var] = error


def _equation_error(test: Test, eqn: JaxprEqn, value: Any, values: list[Any], outs: list[Any]) -> errors.NanError:
    name = _called(eqn.primitive, eqn.params)
    rule = eqn.mark[3] if eqn.mark is not None else ""
    stage = "backward" if eqn.quiet else "tangent" if rule else "forward"
    note = f", in {name}" if rule and rule != name else ""
    mark = eqn.mark
    if mark is not None and sources.scopes():
        mark = (mark[0], mark[1], (*sources.scopes(), *mark[2]), mark[3])
    return _found(test, rule or name, stage, value, values, outs, mark, note)


# on and off

_METHODS: list[tuple[type, str, Callable[[Any], Any]]] = [
    *[
        (trace, name, wrap)
        for trace in (ReverseTrace, JVPTrace, BatchTrace)
        for name, wrap in (("process1", _process1), ("process2", _process2), ("process", _process))
    ],
    (Primitive, "__call__", _call),
    (Primitive, "bind", _call),
    (Pointwise, "__init__", _new_pointwise),
]
_replaced: list[Callable[[], None]] = []  # each puts back one thing


def _put_into_closure(function: Any, variable: str, name: str) -> None:
    """Have a function look at what it calls by a variable of its closure."""
    names = function.__code__.co_freevars
    if variable in names and name not in _UNSPECIFIED:
        cell = function.__closure__[names.index(variable)]
        original = cell.cell_contents
        cell.cell_contents = _plain(name, original)
        _replaced.append(lambda: setattr(cell, "cell_contents", original))


def entry_point(function: Any) -> None:
    """A function that calls `plain` of its closure on plain arguments is to be looked at."""
    _entry_points.append(function)
    if _replaced:
        _put_into_closure(function, "plain", function.__name__)


def _switch() -> None:
    on = config.used("debug_nans") or config.used("debug_infs")
    if on and not _replaced:
        for cls, method, wrap in _METHODS:
            original = cls.__dict__[method]
            setattr(cls, method, wrap(original))
            _replaced.append(partial(setattr, cls, method, original))
        for p in by_code:
            if hasattr(p, "op"):  # those that their constructor refused have none
                _put_into_closure(p.op, "impl", p.name)
        for function in _entry_points:
            _put_into_closure(function, "plain", function.__name__)
        backward.node_watch, backward.replay_watch = _watch_node, _watch_replay
        compiler.interpreter = _interpreter
        sources.noting = True
    elif not on and _replaced:
        while _replaced:
            _replaced.pop()()
        backward.node_watch = backward.replay_watch = compiler.interpreter = None
        sources.noting = False


for _option in _TESTS:
    config.watch(_option, _switch)
