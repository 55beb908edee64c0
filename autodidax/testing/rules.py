"""A function on flat lists of arrays with its derivative rules: what all layers of the checker work on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.core.avals import float0, is_inexact
from autodidax.core.interpreters import Tracer, dtype_of, get_aval
from autodidax.transforms.boundary import argument_name, name_of
from autodidax.transforms.derivatives import jvp, vjp


class StructureMismatch(Exception):
    """A hand-written rule returned something of another structure than its function's arguments or result."""


class RuleRaised(Exception):
    """A rule raised the exception that this one was raised from; what else is raised is the checker's own fault."""


@dataclass
class Rules:
    """`f(xs) -> ys`, `jvp(xs, ts) -> (ys, tangents)`, `vjp(xs) -> (ys, pull)`, `pull(cts) -> gs`; flat lists all.

    An entry of a list of tangents or cotangents is None where the value is an integer or boolean, and where it is zero.
    A rule that is None is not checked. `labels` name the inputs; `rule_names` the rules at fault, by mode.
    """

    name: str
    f: Callable[[list[Any]], list[Any]]
    jvp: Callable[[list[Any], list[Any]], tuple[list[Any], list[Any]]] | None
    vjp: Callable[[list[Any]], tuple[list[Any], Callable[[list[Any]], list[Any]]]] | None
    labels: Sequence[str] = ()
    rule_names: dict[str, str] | None = None

    def label(self, k: int) -> str:
        return self.labels[k] if k < len(self.labels) else f"argument {k}"

    def rule(self, mode: str) -> str:
        default = {"fwd": "jvp", "rev": "vjp"}.get(mode, mode)
        return (self.rule_names or {}).get(mode, default)

    def guarded(self) -> Rules:
        """The same rules, whose exceptions come as RuleRaised."""
        return replace(self, jvp=_guarded(self.jvp), vjp=_guarded(self.vjp))


def _guarded(rule: Any) -> Any:
    """A rule, and a pullback that it returns, whose exceptions come as RuleRaised; None stays None."""
    if rule is None:
        return None

    def run(*args: Any) -> Any:
        try:
            result = rule(*args)
        except (RuleRaised, StructureMismatch):
            raise
        except (Exception, SystemExit) as e:  # a rule that raises is wrong, whatever it raises
            raise RuleRaised(str(e)) from e
        is_pair = isinstance(result, tuple) and len(result) == 2 and callable(result[1])
        return (result[0], _guarded(result[1])) if is_pair else result

    return run


def none_for_float0(ts: Sequence[Any]) -> list[Any]:
    return [None if t is None or dtype_of(t) == float0 else t for t in ts]


def traced_rules(
    fun: Callable[..., Sequence[Any]],
    name: str,
    labels: Sequence[str] = (),
    rule_names: dict[str, str] | None = None,
    plain: Callable[..., Sequence[Any]] | None = None,
) -> Rules:
    """The rules that this package's transforms give a function of flat arguments that returns a list.

    `plain` is what the numeric side calls: the implementation alone, where there is one.
    """
    run = plain if plain is not None else fun

    def forward(xs: list[Any], ts: list[Any]) -> tuple[list[Any], list[Any]]:
        ys, tys = jvp(fun, tuple(xs), tuple(ts))
        return list(ys), none_for_float0(tys)

    def reverse(xs: list[Any]) -> tuple[list[Any], Callable[[list[Any]], list[Any]]]:
        ys, pull = vjp(fun, *xs)
        return list(ys), lambda cts: none_for_float0(pull(list(cts)))

    return Rules(name, lambda xs: list(run(*xs)), forward, reverse, labels, rule_names)


def flat_function(
    fun: Callable[..., Any], args: Sequence[Any]
) -> tuple[Callable[..., list[Any]], list[Any], list[str]]:
    """A function of trees as one of flat values; its values at `args`; and their names."""
    leaves, treedef = tree.flatten(tuple(args))
    for leaf in leaves:
        get_aval(leaf)  # raises for what is no array
        if isinstance(leaf, np.ma.MaskedArray):
            raise errors.DtypeError(
                "a masked array cannot be checked: what is masked has no derivative",
                mend="pass its data with the mask as an argument of its own, or its compressed() values",
            )
    paths = [argument_name(fun, path[0].idx) + tree.keystr(path[1:]) for path, _ in tree.leaves_with_path(tuple(args))]

    def flat(*xs: Any) -> list[Any]:
        return tree.leaves(fun(*treedef.unflatten(xs)))

    flat.__name__ = name_of(fun)
    return flat, leaves, paths


def forward_map(rules: Rules, xs: Sequence[Any], ys: Sequence[Any]) -> tuple[Rules, int]:
    """(inexact inputs, their tangents) -> tangents of the inexact outputs, as a function with rules of its own."""
    active, outs = _inexact(xs), _inexact(ys)
    given = list(xs)
    rule = rules.jvp
    assert rule is not None

    def pushed(*zs: Any) -> list[Any]:
        points, ts = _spread(given, active, zs)
        _, tys = rule(points, ts)
        return [np.zeros_like(ys[k]) if tys[k] is None else tys[k] for k in outs]

    pushed.__name__ = f"jvp of {rules.name}"
    labels = [rules.label(k) for k in active] + [f"tangent of {rules.label(k)}" for k in active]
    return traced_rules(pushed, rules.name, labels, rules.rule_names), len(active)


def reverse_map(rules: Rules, xs: Sequence[Any], ys: Sequence[Any]) -> tuple[Rules, int]:
    """(inexact inputs, cotangents of the inexact outputs) -> cotangents of those inputs, likewise."""
    active, outs = _inexact(xs), _inexact(ys)
    given = list(xs)
    rule = rules.vjp
    assert rule is not None

    def pulled(*zs: Any) -> list[Any]:
        points, _ = _spread(given, active, zs[: len(active)])
        _, pull = rule(points)
        cts: list[Any] = [None] * len(ys)
        for k, ct in zip(outs, zs[len(active) :], strict=True):
            cts[k] = ct
        gs = pull(cts)
        return [np.zeros_like(xs[k]) if gs[k] is None else gs[k] for k in active]

    pulled.__name__ = f"vjp of {rules.name}"
    labels = [rules.label(k) for k in active] + [f"cotangent of output {k}" for k in outs]
    return traced_rules(pulled, rules.name, labels, rules.rule_names), len(active)


def _inexact(xs: Sequence[Any]) -> list[int]:
    return [k for k, x in enumerate(xs) if is_inexact(dtype_of(x))]


def _spread(given: list[Any], active: list[int], zs: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """All inputs and all tangents from the active ones (points first, tangents behind them)."""
    points, ts = list(given), [None] * len(given)
    for i, k in enumerate(active):
        points[k] = zs[i]
        if len(zs) > len(active):
            ts[k] = zs[len(active) + i]
    return points, ts


def plain_list(out: Any, multiple: bool) -> list[Any]:
    """A primitive's result as a list."""
    return list(out) if multiple else [out]


def require_plain(args: Sequence[Any]) -> None:
    """Raise for arguments that are traced: the numeric side runs on plain values only."""
    if any(isinstance(x, Tracer) for x in args):
        raise errors.ArgumentError(
            "a check runs the function on plain values, and was given a traced one",
            mend="call the check outside of transforms",
        )
