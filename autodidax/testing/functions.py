"""check_grads, check_jvp, check_vjp and check_vmap: the check of any function's rules at a point."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of
from autodidax.core.primitive import Primitive
from autodidax.testing.again import Again, source_name
from autodidax.testing.forms import rules_of
from autodidax.testing.layers import check_orders, check_point, check_unchanged
from autodidax.testing.point import Point
from autodidax.testing.points import point_names, points_beside
from autodidax.testing.report import Report
from autodidax.testing.rounding import calls_custom_rules
from autodidax.testing.rules import Rules, flat_function, require_plain, traced_rules
from autodidax.testing.shrink import smallest
from autodidax.transforms.boundary import check_callable
from autodidax.transforms.boundary import name_of as name_of_function

MODES = ("fwd", "rev")
DEEP = ("zeros",)  # points beside the given one at which all orders are checked


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any] | None = None,
    order: int = 2,
    modes: Sequence[str] | str = MODES,
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    *,
    fast: bool = True,
    seed: int = 0,
    strict: bool = False,
    points: str | Sequence[str] = "all",
) -> Any:
    """Check the derivatives of a function of this package at a point and beside it, to `order`, in every mix of modes.

    Forward mode is compared with a numeric derivative along a random direction, entry by entry, within a tolerance
    that follows from the estimated error; reverse mode with forward mode by the adjoint identity, which holds to
    rounding. Order 2 checks the maps (x, t) -> jvp and (x, ct) -> vjp in the same way.

    Parameters
    ----------
    args : tuple with one tree an argument: float64, float32 or complex arrays; integers and booleans stay fixed.
        Left out, a function of the arguments is returned, which checks at them.
    modes : "fwd", "rev" or both.
    atol, rtol, eps : overrides of the derived tolerance and of the first step; they are listed in the report.
    fast : False compares whole Jacobians too, entry by entry; its cost grows with the number of entries.
    seed : of the random directions.
    strict : whether a rule that loses digits (`report.warnings`) is a failure.
    points : "all" for the given point and those beside it (zeros, ones, ties, ...: `autodidax.testing.POINTS`), or
        some of their names; "given" for that one alone, with random tangents and cotangents alone. Points outside the
        function's domain are passed over. Orders above the first are checked at the given point, at those that are
        named and, where the function calls one with a custom rule, at zeros.

    Returns
    -------
    The report: counts, margin, and the points that were inconclusive (a kink, noise), which never count as passes.

    Raises
    ------
    CheckError : where a derivative is wrong; its `report` holds all that was found.

    Source: jax.test_util.check_grads; here the tolerances need not be given.

    >>> import numpy as np
    >>> from autodidax.test_util import check_grads
    >>> check_grads(lambda x: x * x, (np.array([1.0, 2.0]),)).ok
    True
    """
    check_callable("check_grads", f)
    options: dict[str, Any] = {"fast": fast, "seed": seed, "strict": strict, "points": points}
    if args is None:
        return lambda *given: check_grads(f, given, order, modes, atol, rtol, eps, **options)
    modes = _modes(modes)
    flat, xs, labels = flat_function(f, _tuple("check_grads", args))
    rules = traced_rules(flat, name_of(f), labels)
    overrides = _overrides(atol, rtol, eps)
    again = Again(
        "check_grads",
        (source_name(f, "f"),),
        tuple(args),
        seed,
        {"fast": fast, "strict": strict or 1},
        overrides,
        points,
    )
    return check_rules(rules, xs, order, modes, overrides=overrides, again=again, **options)


def check_jvp(
    f: Callable[..., Any],
    f_jvp: Callable[..., Any],
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    *,
    form: str = "pullback",
    inner: str = "transpose",
    order: int = 1,
    fast: bool = True,
    seed: int = 0,
    strict: bool = False,
    points: str | Sequence[str] = "all",
) -> Report:
    """Check a hand-written forward rule of `f` at `args`; it may come from anywhere: only plain values are passed.

    Parameters
    ----------
    form : "pullback", JAX's, for `f_jvp(primals, tangents) -> (y, tangent of y)`; "flat" for
        `f_jvp(a, b, ..., ta, tb, ...) -> tangent of y`.
    inner : "transpose" or "adjoint", as of check_vjp; both are the same for a forward rule.
    order : 2 checks the rule's own derivatives too; it has to be written with functions of this package then.
    atol, rtol, eps, fast, seed, strict, points : as of check_grads.

    Raises
    ------
    CheckError : where the rule is wrong, with its `report`.

    Source: jax.test_util.check_jvp.

    >>> import math
    >>> check_jvp(math.sin, lambda xs, ts: (math.sin(xs[0]), math.cos(xs[0]) * ts[0]), (1.0,)).ok
    True
    >>> check_jvp(lambda a, b: a * b, lambda a, b, ta, tb: ta * b + a * tb, (2.0, 3.0), form="flat").ok
    True
    """
    return _check_rule(
        "check_jvp", f, f_jvp, _tuple("check_jvp", args), order, _overrides(atol, rtol, eps), form, inner,
        fast=fast, seed=seed, strict=strict, points=points,
    )  # fmt: skip


def check_vjp(
    f: Callable[..., Any],
    f_vjp: Callable[..., Any],
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    *,
    form: str = "pullback",
    inner: str = "transpose",
    order: int = 1,
    fast: bool = True,
    seed: int = 0,
    strict: bool = False,
    points: str | Sequence[str] = "all",
) -> Report:
    """Check a hand-written reverse rule of `f` at `args`; it may come from anywhere: only plain values are passed.

    Parameters
    ----------
    form : "pullback", JAX's, for `f_vjp(*args) -> (y, pullback)`, where `pullback(ct)` returns a tuple with one
        cotangent an argument, None for zero; "flat" for `f_vjp(a, b, ..., ct) -> (cotangent of a, of b, ...)`, which
        may be the cotangent alone where there is one argument.
    inner : which inner product complex cotangents follow: "transpose", as in this package and JAX, where
        Re sum(ct * J t) = Re sum(pullback(ct) * t); or "adjoint", as in autograd and PyTorch, where both are
        conjugated.
    order : 2 checks the rule's own derivatives too; it has to be written with functions of this package then.
    atol, rtol, eps, fast, seed, strict, points : as of check_grads.

    Raises
    ------
    CheckError : where the rule is wrong, with its `report`.

    Source: jax.test_util.check_vjp.

    >>> import math
    >>> check_vjp(math.sin, lambda x: (math.sin(x), lambda ct: (math.cos(x) * ct,)), (1.0,)).ok
    True
    >>> check_vjp(lambda a, b: a * b, lambda a, b, ct: (ct * b, ct * a), (2.0, 3.0), form="flat").ok
    True
    """
    return _check_rule(
        "check_vjp", f, f_vjp, _tuple("check_vjp", args), order, _overrides(atol, rtol, eps), form, inner,
        fast=fast, seed=seed, strict=strict, points=points,
    )  # fmt: skip


def _check_rule(
    check: str,
    f: Callable[..., Any],
    rule: Callable[..., Any],
    args: tuple[Any, ...],
    order: int,
    overrides: dict[str, float],
    form: str,
    inner: str,
    **options: Any,
) -> Report:
    check_callable(check, f)
    if not callable(rule):
        raise errors.ArgumentError(
            f"{check} takes a rule as its second argument, got {type(rule).__name__}",
            mend="give the function that computes it",
        )
    mode = "fwd" if check == "check_jvp" else "rev"
    rules, xs = rules_of(
        name_of(f), f, args, form=form, inner=inner, **{"f_jvp" if mode == "fwd" else "f_vjp": rule}
    )  # fmt: skip
    stated = {"form": form, "inner": inner, "order": order, "fast": options["fast"], "strict": options["strict"] or 1}
    again = Again(
        check,
        (source_name(f, "f"), source_name(rule, "rule")),
        args,
        options["seed"],
        stated,
        overrides,
        options["points"],
    )
    return check_rules(rules, xs, order, (mode,), inner_modes=MODES, overrides=overrides, again=again, **options)


def check_rules(
    rules: Rules,
    xs: list[Any],
    order: int,
    modes: Sequence[str],
    *,
    inner_modes: Sequence[str] | None = None,
    overrides: dict[str, float],
    again: Again,
    fast: bool,
    seed: int,
    strict: bool,
    points: str | Sequence[str],
) -> Report:
    """Check rules on flat values at a point and beside it; raises CheckError where they are wrong."""
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise errors.ArgumentError(f"{again.check}: order is {order!r}", mend="give an integer of at least 1")
    require_plain(xs)
    if not any(is_inexact(dtype_of(x)) for x in xs):
        raise errors.DtypeError(
            f"check of {rules.name}: no argument has a floating or complex dtype, so there is nothing to differentiate",
            mend="convert the argument to float",
        )
    require_seed(again.check, seed)
    names = point_names(points, xs)
    composed = again.check == "check_grads" and not calls_custom_rules(rules.f, xs)
    report = Report(rules.name, overrides=dict(overrides), samples=1, strict=strict)
    common: dict[str, Any] = {
        "modes": modes, "inner_modes": inner_modes, "overrides": overrides, "seed": seed, "again": again,
        "composed": composed,
    }  # fmt: skip
    point = Point(rules, xs, np.random.default_rng(seed), report, full=not fast, special=bool(names), **common)
    check_orders(point, order)
    if not report.failures and not any(is_inexact(dtype_of(y)) for y in point.ys):
        report.inconclusive.append("no output has a floating or complex dtype: nothing was compared")
    failing = point
    if not report.failures and point.defined:
        failing = _beside(point, (seed,), names, order, points != "all", common)
    if report.failures and not failing.after_others and point.cause is None:
        _shrink(failing, again, common | {"full": not fast})
    return report.raise_if_failed(point.cause)


def _shrink(point: Point, again: Again, options: dict[str, Any]) -> None:
    """Note a smaller case of the first failure of a check, where there is one."""
    failure = point.report.failures[0]
    if failure.order > 1:
        return

    def fails(xs: list[Any]) -> bool:
        report = Report(point.report.subject, strict=point.report.strict)
        check_point(Point(point.rules, xs, np.random.default_rng(again.seed), report, **options | {"again": None}))
        return [(f.mode, f.layer) for f in report.failures[:1]] == [(failure.mode, failure.layer)]

    xs = smallest(point.xs, fails)
    if xs is not None and any(x is not y and not np.array_equal(x, y) for x, y in zip(xs, point.xs, strict=True)):
        alone = failure.mode in MODES and failure.layer != "adjoint"  # that compares both modes
        failure.smaller = again.at(xs, (failure.mode,) if alone else point.modes)


def _beside(
    point: Point, seed: Sequence[int], names: Sequence[str], order: int, named: bool, common: dict[str, Any]
) -> Point:
    """Run the points beside a given one, until one of them fails; then the given one once more; the last one run.

    Orders above the first are run at the points in DEEP, for functions with custom rules, and at all points that are
    asked for by name.
    """
    ran = False
    for name, values, rng in points_beside(point.xs, seed, names):
        ran = True
        beside = Point(point.rules, values, rng, point.report, beside=name, thorough=False, **common)
        check_orders(beside, order if named or (name in DEEP and not point.composed) else 1)
        if point.report.failures:
            return beside
    if ran:
        check_unchanged(point)
    return point


def require_seed(check: str, seed: Any) -> None:
    """Raise for what is no seed of random numbers."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise errors.ArgumentError(f"{check}: seed is {seed!r}", mend="give an integer of at least 0")


def name_of(f: Any) -> str:
    """The name of a function, for messages; of a lambda also where it is written."""
    if isinstance(f, Primitive):
        return f.name
    name, code = name_of_function(f), getattr(f, "__code__", None)
    if name != "<lambda>" or code is None:
        return name
    return f"{name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"


def _modes(modes: Sequence[str] | str) -> tuple[str, ...]:
    given = (modes,) if isinstance(modes, str) else tuple(modes) if isinstance(modes, tuple | list | set) else ()
    if not given or any(mode not in MODES for mode in given):
        raise errors.ArgumentError(f"check_grads: modes is {modes!r}", mend='give "fwd", "rev" or both')
    return given


def _tuple(name: str, args: Any) -> tuple[Any, ...]:
    if not isinstance(args, tuple | list):
        raise errors.ArgumentError(
            f"{name}: args must be a tuple with one entry an argument, got {type(args).__name__}",
            mend=f"write {name}(f, (x,)) for a function of one argument",
        )
    return tuple(args)


def _overrides(atol: float | None, rtol: float | None, eps: float | None) -> dict[str, float]:
    given = {name: v for name, v in (("atol", atol), ("rtol", rtol), ("eps", eps)) if v is not None}
    for name, v in given.items():
        if not (np.isfinite(v) and v >= 0 and (name != "eps" or v > 0)):
            raise errors.ArgumentError(f"{name} is {v!r}", mend="give a number that is not negative, or leave it out")
    return given
