"""check_grads, check_jvp and check_vjp: the check of any function's derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of
from autodidax.core.primitive import Primitive
from autodidax.testing.layers import Point, check_orders
from autodidax.testing.report import Report
from autodidax.testing.rules import Rules, flat_function, none_for_float0, require_plain, traced_rules
from autodidax.transforms.boundary import check_callable
from autodidax.transforms.boundary import name_of as name_of_function

MODES = ("fwd", "rev")


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any] | None = None,
    order: int = 2,
    modes: Sequence[str] | str = MODES,
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    seed: int = 0,
) -> Any:
    """Check the derivatives of a function of this package at a point, to `order`, in every mix of modes.

    Forward mode is compared with a numeric derivative along a random direction, entry by entry, within a tolerance
    that follows from the estimated error; reverse mode with forward mode by the adjoint identity, which holds to
    rounding. Order 2 checks the maps (x, t) -> jvp and (x, ct) -> vjp in the same way.

    Parameters
    ----------
    args : tuple with one tree an argument: float64, float32 or complex arrays; integers and booleans stay fixed.
        Left out, a function of the arguments is returned, which checks at them.
    modes : "fwd", "rev" or both.
    atol, rtol, eps : overrides of the derived tolerance and of the first step; they are listed in the report.

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
    if args is None:
        return lambda *given: check_grads(f, given, order, modes, atol, rtol, eps, seed)
    modes = _modes(modes)
    if not isinstance(order, int) or order < 1:
        raise errors.ArgumentError(f"check_grads: order is {order!r}", mend="give an integer of at least 1")
    flat, xs, labels = flat_function(f, _tuple("check_grads", args))
    rules = traced_rules(flat, name_of(f), labels)
    return _check(rules, xs, order, modes, seed, _overrides(atol, rtol, eps))


def check_jvp(
    f: Callable[..., Any],
    f_jvp: Callable[..., Any],
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    seed: int = 0,
) -> Report:
    """Check a hand-written forward rule `f_jvp(primals, tangents) -> (out, tangent of out)` of `f` at `args`.

    The rule may come from anywhere: only plain values are passed to it.

    Raises
    ------
    CheckError : where the rule is wrong, with its `report`.

    Source: jax.test_util.check_jvp.

    >>> import math
    >>> check_jvp(math.sin, lambda xs, ts: (math.sin(xs[0]), math.cos(xs[0]) * ts[0]), (1.0,)).ok
    True
    """
    flat, xs, labels = flat_function(f, _tuple("check_jvp", args))
    treedef = tree.structure(tuple(args))

    def push(points: list[Any], ts: list[Any]) -> tuple[list[Any], list[Any]]:
        y, ty = f_jvp(tuple(treedef.unflatten(points)), tuple(treedef.unflatten(_integer_zeros(points, ts))))
        return tree.leaves(y), none_for_float0(_leaves_with_none(ty))

    rules = Rules(name_of(f), lambda zs: flat(*zs), push, None, labels)
    return _check(rules, xs, 1, ("fwd",), seed, _overrides(atol, rtol, eps))


def check_vjp(
    f: Callable[..., Any],
    f_vjp: Callable[..., Any],
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    seed: int = 0,
) -> Report:
    """Check a hand-written reverse rule `f_vjp(*args) -> (out, pullback)` of `f` at `args`.

    `pullback(ct)` returns a tuple with one cotangent an argument, None for zero. It is the plain transpose of the
    derivative, without a conjugate, as in this package: Re sum(ct * J t) = Re sum(pullback(ct) * t).

    Raises
    ------
    CheckError : where the rule is wrong, with its `report`.

    Source: jax.test_util.check_vjp.

    >>> import math
    >>> check_vjp(math.sin, lambda x: (math.sin(x), lambda ct: (math.cos(x) * ct,)), (1.0,)).ok
    True
    """
    flat, xs, labels = flat_function(f, _tuple("check_vjp", args))
    treedef = tree.structure(tuple(args))
    out_tree = tree.structure(f(*args))

    def rule(points: list[Any]) -> tuple[list[Any], Callable[[list[Any]], list[Any]]]:
        y, pullback = f_vjp(*treedef.unflatten(points))
        ys = tree.leaves(y)

        def pull(cts: list[Any]) -> list[Any]:
            zeros = [np.zeros_like(v) if c is None else c for c, v in zip(cts, ys, strict=True)]
            return none_for_float0(_spread(pullback(out_tree.unflatten(zeros)), treedef))

        return ys, pull

    rules = Rules(name_of(f), lambda zs: flat(*zs), None, rule, labels)
    return _check(rules, xs, 1, ("rev",), seed, _overrides(atol, rtol, eps))


def name_of(f: Any) -> str:
    return f.name if isinstance(f, Primitive) else name_of_function(f)


def _check(
    rules: Rules, xs: list[Any], order: int, modes: Sequence[str], seed: int, overrides: dict[str, float]
) -> Report:
    require_plain(xs)
    if not any(is_inexact(dtype_of(x)) for x in xs):
        raise errors.DtypeError(
            f"check of {rules.name}: no argument has a floating or complex dtype, so there is nothing to differentiate",
            mend="convert the argument to float",
        )
    report = Report(rules.name, overrides=dict(overrides), samples=1)
    point = Point(
        rules, xs, np.random.default_rng(seed), report, modes=modes, sample="the arguments given", overrides=overrides
    )
    check_orders(point, order)
    return report.raise_if_failed()


def _modes(modes: Sequence[str] | str) -> tuple[str, ...]:
    given = (modes,) if isinstance(modes, str) else tuple(modes)
    if not given or not set(given) <= set(MODES):
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
    return {name: v for name, v in (("atol", atol), ("rtol", rtol), ("eps", eps)) if v is not None}


def _leaves_with_none(t: Any) -> list[Any]:
    return tree.leaves(t, is_leaf=lambda x: x is None)


def _integer_zeros(points: list[Any], ts: list[Any]) -> list[Any]:
    return [np.zeros_like(x) if t is None else t for x, t in zip(points, ts, strict=True)]


def _spread(gs: Any, treedef: tree.PyTreeDef) -> list[Any]:
    """Leaves of a pullback's result, where None stands for a whole argument's zero."""
    out: list[Any] = []
    for g, sub in zip(tuple(gs), treedef.children(), strict=True):
        out += [None] * sub.num_leaves if g is None and sub.num_leaves != 1 else _leaves_with_none(g)
    return out
