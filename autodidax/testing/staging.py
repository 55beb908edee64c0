"""The staged program of a primitive, and of its derivatives, against the eager run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of, get_aval, shape_of
from autodidax.core.jaxpr import check_jaxpr, eval_jaxpr
from autodidax.core.primitive import Primitive, Sample
from autodidax.testing import directions as dirs
from autodidax.testing.comparison import close, filled
from autodidax.testing.report import Failure, Report, StopCheck, brief
from autodidax.testing.rules import plain_list
from autodidax.transforms.derivatives import jvp, vjp
from autodidax.transforms.jit import jit
from autodidax.transforms.stage import stage

ROUNDINGS = 256.0  # a program may sum in another order than the eager run


def check_staging(
    p: Primitive,
    report: Report,
    s: Sample,
    name: str,
    outs: Sequence[Any],
    rng: np.random.Generator,
    active: Sequence[int],
) -> None:
    """Stage the primitive, its jvp and its vjp in the active operands at a sample; check each program and run it."""

    def plain(*xs: Any) -> list[Any]:
        return plain_list(p.bind(*xs, **s.params), p.multiple_results)

    _compare(p, report, name, "stage", plain, s.args, outs)
    if not active or p.nondifferentiable or p.zero_derivative:
        return
    count = len(s.args)
    ts = dirs.tangents(rng, [s.args[k] for k in active])
    cts = [c for c in dirs.cotangents(rng, outs) if c is not None]

    def pushed(*zs: Any) -> list[Any]:
        tangents: list[Any] = [None] * count
        for k, t in zip(active, zs[count:], strict=True):
            tangents[k] = t
        tys = jvp(plain, zs[:count], tuple(tangents))[1]
        return [t for t, y in zip(tys, outs, strict=True) if is_inexact(dtype_of(y))]

    def pulled(*zs: Any) -> list[Any]:
        given = iter(zs[count:])
        args = list(zs[:count])

        def of_active(*xs: Any) -> list[Any]:
            for k, x in zip(active, xs, strict=True):
                args[k] = x
            return plain(*args)

        pull = vjp(of_active, *[args[k] for k in active])[1]
        return list(pull([next(given) if is_inexact(dtype_of(y)) else None for y in outs]))

    for rule, fun, seeds in (("stage of jvp", pushed, ts), ("stage of vjp", pulled, cts)):
        args = [*s.args, *seeds]
        try:
            want = fun(*args)
        except Exception as e:
            _fail(p, report, name, rule, "runs", f"the eager run raised {type(e).__name__}: {e}")
            continue
        _compare(p, report, name, rule, fun, args, filled(want, want))


def _compare(
    p: Primitive,
    report: Report,
    name: str,
    rule: str,
    fun: Callable[..., list[Any]],
    args: Sequence[Any],
    want: Sequence[Any],
) -> None:
    try:
        closed, captured = stage(fun, [get_aval(a) for a in args], name=p.name)
        check_jaxpr(closed.jaxpr)
        evaluated = eval_jaxpr(closed.jaxpr, closed.consts, *captured, *args)
        compiled = jit(fun)(*args)
    except StopCheck:
        raise
    except Exception as e:  # a program that cannot be written or run is a failure, whatever it raises
        _fail(p, report, name, rule, "runs", f"raised {type(e).__name__}: {e}")
        return
    for k, (y, aval) in enumerate(zip(evaluated, closed.out_avals, strict=True)):
        if (aval.shape, aval.dtype) != (shape_of(y), dtype_of(y)):
            _fail(p, report, name, rule, "structure", f"the program says {aval!r} of result {k}",
                  expected=f"{dtype_of(y)}{list(shape_of(y))}", got=repr(aval))  # fmt: skip
    for how, got in (("evaluated", evaluated), ("compiled", compiled)):
        for k, (y, w) in enumerate(zip(got, want, strict=True)):
            if shape_of(y) != shape_of(w) or dtype_of(y) != dtype_of(w):
                message = f"result {k} of the {how} program is of another kind"
                wanted, found = (f"{dtype_of(v)}{list(shape_of(v))}" for v in (w, y))
                _fail(p, report, name, rule, "structure", message, expected=wanted, got=found)
            elif not close(y, w, ROUNDINGS):
                message = f"result {k} of the {how} program differs from the eager one"
                _fail(p, report, name, rule, "value", message, expected=brief(w), got=brief(y))
            else:
                report.passed("jit")


def _fail(p: Primitive, report: Report, name: str, rule: str, layer: str, message: str, **details: Any) -> None:
    report.fail(Failure(p.name, rule, "jit", layer, message, sample=name, module=p.module, **details))
