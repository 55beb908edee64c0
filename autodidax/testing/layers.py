"""The layers of a check at one point: structure, purity, determinism, linearity, layout, adjoint, value, precision.

Each compares rules with each other, exactly or to rounding, but for the value layer, which compares them with a
numeric derivative and its error estimate. Tolerances are derived: from the machine epsilon of the dtypes at hand, the
natural scale of what is summed, the estimated error of the numeric side, and, where that is not enough, the rule's own
rounding noise, measured by moving its inputs by one unit in the last place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.random import mtrand

from autodidax import errors
from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.testing import directions as dirs
from autodidax.testing import precision as digits
from autodidax.testing.adjoint import check_adjoint
from autodidax.testing.comparison import close, filled, kind, same, snapshot
from autodidax.testing.forward_values import check_tangent
from autodidax.testing.linearity import ERRORS, check_linearity, check_special
from autodidax.testing.numeric import pack
from autodidax.testing.point import Point
from autodidax.testing.remembered import check_remembered
from autodidax.testing.report import StopCheck, brief, raised
from autodidax.testing.reverse_values import check_cotangent, check_rows
from autodidax.testing.rounding import rounding_errors
from autodidax.testing.rules import RuleRaised, StructureMismatch, forward_map, reverse_map
from autodidax.testing.smoothness import smooth_there

PRIMAL = 1e4  # roundings that a transform's primal output may differ by: it may sum in another order
SINGLE = 1e-10  # a machine epsilon above it is that of single precision
ELSEWHERE = 1e-3  # relative distance of other arguments


def check_point(point: Point) -> None:
    with np.errstate(all="ignore"):
        point.defined = _evaluate(point)
        if not point.defined:
            return
        point.ts = dirs.tangents(point.rng, point.xs)
        point.cts = dirs.cotangents(point.rng, point.ys)
        for mode, rule, check in (
            ("fwd", point.rules.jvp, partial(_forward, point)), ("rev", point.rules.vjp, partial(_reverse, point)),
        ):  # fmt: skip
            if mode in point.modes and rule is not None:
                _guarded(point, mode, check)
        if not same(point.outs, point.ys):
            point.fail("impl", "purity", "a later call of the function changed the result of an earlier one")
        if point.judged and point.beside and point.order == 1:
            point.report.points[point.beside.split(" of ")[0]] += 1


def _guarded(point: Point, mode: str, check: Callable[[], None]) -> None:
    """A rule that raises is wrong, whatever it raises; beside the given point that may be said on purpose."""
    try:
        check()
    except StopCheck:
        raise
    except StructureMismatch as e:
        point.fail(mode, "structure", str(e))
    except RuleRaised as of_rule:
        e = of_rule.__cause__
        message = f"the rule raised {raised(e)}"
        if not point.beside:
            point.fail(mode, "runs", message)
        elif isinstance(e, errors.NondifferentiableError) or not smooth_there(point):
            return
        else:
            point.report.warn(point.failure(mode, "runs", message + ", at a point where the function is smooth"))


def _evaluate(point: Point) -> bool:
    """Run the function; whether there is something to differentiate."""
    xs = point.xs
    kept = snapshot(xs)
    try:
        results = point.rules.f(list(xs))
        point.ys = [np.asarray(y)[()] for y in results]
        point.outs = snapshot(point.ys)
        again = [np.asarray(y)[()] for y in point.rules.f(list(xs))]
    except (Exception, SystemExit) as e:
        if point.beside:
            point.report.outside[point.beside.split(" of ")[0]] += 1
            return False
        if point.order > 1 or isinstance(e, RuleRaised):
            raise
        point.cause = e
        point.fail("impl", "runs", f"at the given point, before any rule was run, it raised {raised(e)}")
        return False
    if not same(kept, xs):
        point.fail("impl", "purity", "the function changed its arguments in place")
        return False
    if not any(is_inexact(dtype_of(x)) for x in xs) or not any(is_inexact(dtype_of(y)) for y in point.ys):
        return False
    entries = pack(point.ys)
    if not point.beside and not np.all(np.isfinite(entries)):
        count = int(np.sum(~np.isfinite(entries)))
        point.unsure("impl", f"{count} of {entries.size} entries of the function's result are not finite")
        point.finite = count < entries.size
        if not point.finite and point.order == 1 and point.sample not in point.report.not_finite:
            point.report.not_finite.append(point.sample)
    if point.beside and not any(np.all(np.isfinite(y)) for y in point.ys if is_inexact(dtype_of(y))):
        return False
    if not same(point.outs, again):
        point.unsure("impl", "two runs of the function at the same arguments give different values: it is noisy")
        return False
    point.accuracy = max(point.accuracy, point.own_accuracy())
    if point.order == 1 and not point.beside:
        _note_single_precision(point, results)
    return True


def _note_single_precision(point: Point, results: Sequence[Any]) -> None:
    """Say so where the function makes single precision out of double precision arguments."""
    if dirs.unit_roundoff(point.xs) > SINGLE or dirs.unit_roundoff(point.ys) < SINGLE:
        return
    note = "the function gives float32 results for float64 arguments: compared within the tolerances of float32"
    if any(type(y).__module__.partition(".")[0] in ("jax", "jaxlib") for y in results):
        note += '; JAX does so unless jax.config.update("jax_enable_x64", True) is called first'
    if note not in point.report.notes:
        point.report.notes.append(note)


def check_unchanged(point: Point) -> None:
    """The rules give what they gave before they were used at other points."""
    point.after_others = True
    with np.errstate(all="ignore"):
        runs: list[tuple[str, list[Any] | None, Callable[[], list[Any]]]] = [
            ("fwd", point.tys, lambda: point.pushed(point.xs, point.ts)),
            ("rev", point.gs, lambda: point.pulled(point.xs, point.cts)),
        ]
        for mode, before, run in runs:
            if before is not None and not same(run(), before):
                message = "the rule gives another result after it has been used at other arguments"
                point.fail(mode, "determinism", message)
            elif before is not None and not point.failed and point.value:
                check_remembered(point, mode)


def _forward(point: Point) -> None:
    push = point.rules.jvp
    assert push is not None
    xs, ts = point.xs, point.ts
    kept = snapshot(xs), snapshot(ts)
    ys, raw = _watched(point, "fwd", lambda: push(list(xs), list(ts)))
    tys = filled(raw, point.ys)
    if not (same(kept[0], xs) and same(kept[1], ts)):
        point.fail("fwd", "purity", "the rule changed its arguments in place")
        return
    _primal(point, "fwd", ys)
    _inert(point, "fwd", raw, point.ys)
    if not _structure(point, "fwd", tys, point.ys, "tangent of output"):
        return
    point.tys = tys
    if point.thorough:
        at = lambda points: partial(point.pushed, points)
        check_linearity(point, "fwd", at, at(xs), ts, tys)
    _special(point, "fwd", partial(point.pushed, xs), ts, tys)
    active = [k for k, t in enumerate(ts) if t is not None and np.size(t)]
    if len(active) > 1:
        point.parts = {k: point.pushed(xs, dirs.only(ts, k)) for k in active}
    if point.value:
        check_tangent(point, tys)


def _special(point: Point, mode: str, apply: Any, vs: list[Any], out: list[Any]) -> None:
    point.trying_special = point.special and not point.failed
    if point.trying_special:
        rng = point.rng
        point.rng = np.random.default_rng([point.seed or 0, 1])  # what comes after draws the same without this
        check_special(point, mode, apply, vs, out)
        point.rng = rng
    point.trying_special = False


def _reverse(point: Point) -> None:
    rule = point.rules.vjp
    assert rule is not None
    xs, cts = point.xs, point.cts
    kept = snapshot(xs), snapshot(cts)

    def run() -> tuple[Any, ...]:
        ys, pull = rule(list(xs))
        return ys, pull, pull(list(cts))

    ys, pull, raw = _watched(point, "rev", run)
    gs = filled(raw, xs)
    if not (same(kept[0], xs) and same(kept[1], cts)):
        point.fail("rev", "purity", "the rule changed its arguments or the cotangent in place")
        return
    _primal(point, "rev", ys)
    _inert(point, "rev", raw, xs)
    if not _structure(point, "rev", gs, xs, "cotangent of"):
        return
    point.gs = gs
    if point.thorough:
        check_linearity(point, "rev", point.pullback, lambda vs: filled(pull(vs), xs), cts, gs)
        _pulled_later(point, pull, gs)
    _special(point, "rev", lambda vs: filled(pull(vs), xs), cts, gs)
    if point.tys is not None:
        check_adjoint(point, gs, point.tys)
    elif point.value:
        check_cotangent(point, gs)
        if point.thorough and not point.failed and not point.kinks_declared:
            digits.check(point, "rev", pack(gs), lambda points: pack(point.pulled(points, point.cts)))
    if point.full and not point.failed and point.value:
        check_rows(point)


def _pulled_later(point: Point, pull: Callable[[list[Any]], list[Any]], gs: list[Any]) -> None:
    """A pullback stays right after the rule has run elsewhere."""
    assert point.rules.vjp is not None
    try:
        point.rules.vjp(dirs.moved(point.rng, point.xs, ELSEWHERE))
    except RuleRaised:  # the function need not be defined there
        return
    if not same(filled(pull(list(point.cts)), point.xs), gs):
        message = "a pullback gives another result after the rule has run at other arguments"
        point.fail("rev", "determinism", message)


def _watched(point: Point, mode: str, run: Callable[[], Any]) -> Any:
    """The result of a first run of a rule, which may not change the state of NumPy's global random numbers: what else
    draws from them would get other ones."""
    if not point.thorough:
        return run()
    result, kept = _with_random_numbers(run)
    if not kept and _with_random_numbers(lambda: point.rules.f(list(point.xs)))[1]:  # f itself may use them
        message = "the rule changes the state of NumPy's global random numbers (np.random)"
        point.fail(mode, "determinism", message)
    return result


_OWN, _SHADOW = np.random.MT19937(1), np.random.MT19937(1)  # in step with each other, as long as nobody draws


def _with_random_numbers(run: Callable[[], Any]) -> tuple[Any, bool]:
    """The result of a run, and whether it leaves NumPy's global random numbers as they are. They are put back after it,
    and are other ones in it: so it is seen if they are set to where an earlier run left them, and runs that draw from
    them differ."""
    kept, generator = np.random.get_state(legacy=False), mtrand.get_bit_generator()
    mtrand.set_bit_generator(_OWN)
    untouched = False
    try:
        result = run()
        untouched = mtrand.get_bit_generator() is _OWN and np.array_equal(_OWN.random_raw(2), _SHADOW.random_raw(2))
        return result, untouched
    finally:
        if not untouched:
            _OWN.state = _SHADOW.state
        mtrand.set_bit_generator(generator)
        if kept["has_gauss"]:
            np.random.set_state(kept)


def _inert(point: Point, mode: str, got: Sequence[Any], like: Sequence[Any]) -> None:
    """The derivative of an integer or boolean is nothing: None, float0 or zeros."""
    for k, (g, x) in enumerate(zip(got, like, strict=False)):
        if g is not None and not is_inexact(dtype_of(x)) and np.any(np.asarray(g) != 0):
            what = f"tangent of output {k}" if mode == "fwd" else f"cotangent of {point.rules.label(k)}"
            message = f"{what}, which is {dtype_of(x)}, is not zero"
            point.fail(mode, "structure", message, expected="zeros, float0 or None", got=brief(g))


def _primal(point: Point, mode: str, ys: list[Any]) -> None:
    """A transform's primal output is f's own: same shape, dtype and, to rounding, values."""
    if len(ys) != len(point.ys):
        point.fail(mode, "structure", f"{len(ys)} outputs, the function has {len(point.ys)}")
        return
    for k, (y, want) in enumerate(zip(ys, point.ys, strict=True)):
        if shape_of(y) != shape_of(want) or dtype_of(y) != dtype_of(want):
            point.fail(mode, "structure", f"the primal output {k} is not of the function's own kind",
                      expected=kind(want), got=kind(y))  # fmt: skip
        elif not close(y, want, PRIMAL) and not close(y, want, PRIMAL, slack=_movement(point, k)):
            point.fail(
                mode, "primal", f"output {k} is not the function's own value", expected=brief(want), got=brief(y)
            )


def _movement(point: Point, k: int) -> float:
    """How far an output moves with inputs moved by some units in the last place, and with other rounding errors."""
    runs = [dirs.wide(np.asarray(point.rules.f(dirs.nudged(point.rng, point.xs))[k])) for _ in range(3)]
    moved = float(np.max([np.abs(r - dirs.wide(point.ys[k])) for r in runs], initial=0))
    errors = rounding_errors(point.rules.f, point.xs)
    if errors.ndim and is_inexact(dtype_of(point.ys[k])):
        moved += float(np.max(dirs.unpacked(errors, point.ys)[k], initial=0))
    return ERRORS * moved


def _structure(point: Point, mode: str, got: list[Any], like: Sequence[Any], what: str) -> bool:
    ok = True
    if len(got) != len(like):
        point.fail(mode, "structure", f"the rule returned {len(got)} values for {len(like)}")
        return False
    for k, (g, x) in enumerate(zip(got, like, strict=True)):
        if g is not None and (shape_of(g) != shape_of(x) or dtype_of(g) != dtype_of(x)):
            label = f"{what} {k}" if mode == "fwd" else f"{what} {point.rules.label(k)}"
            point.fail(mode, "structure", f"{label} has the wrong shape or dtype", expected=kind(x), got=kind(g))
            ok = False
    return ok


def check_orders(point: Point, order: int, *, ran: bool = False) -> None:
    """Run a point and, with the maps (x, t) -> jvp and (x, ct) -> vjp, every mix of modes up to `order`."""
    if not ran:
        check_point(point)
    if order <= 1 or point.report.failures or not (point.defined and point.finite):
        return
    xs, ys = point.xs, point.ys
    if not any(is_inexact(dtype_of(x)) for x in xs) or not any(is_inexact(dtype_of(y)) for y in ys):
        return
    active = [x for x in xs if is_inexact(dtype_of(x))]
    for mode, word, build in (("fwd", "jvp", forward_map), ("rev", "vjp", reverse_map)):
        if mode not in point.modes or (point.rules.jvp if mode == "fwd" else point.rules.vjp) is None:
            continue
        rules, _ = build(point.rules, xs, ys)
        seeds = point.ts if mode == "fwd" else point.cts
        inner = Point(
            rules, [*active, *(s for s in seeds if s is not None)], point.rng, point.report, modes=point.inner_modes,
            sample=point.sample, beside=point.beside, seed=point.seed, again=point.again, order=point.order + 1,
            path=f"of {word} {point.path}".strip(), value=point.value, thorough=False, full=point.full,
            overrides=point.overrides, accuracy=point.accuracy,
        )  # fmt: skip
        check_orders(inner, order - 1)
