"""Which rules of a primitive a check has run: each rule is counted while the check lasts."""

from __future__ import annotations

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from autodidax.core.primitive import Primitive, no_share, partial1, products
from autodidax.testing.completeness import has_rule

TRACED = ("trace_jvp", "trace_reverse", "trace_linear", "trace_batch")
RULES = ("impl", "abstract_eval", "jvp", "vjp", "transpose", "batch", *TRACED)
KINDS = ("impl", "abstract_eval", "products", *RULES[2:], "fwd", "bwd")  # in the order of the summary


@contextlib.contextmanager
def counted(p: Primitive) -> Iterator[Counter[str]]:
    """Calls of each rule that a primitive has, from here to the end of the block; 0 for one that never ran.

    A pointwise primitive has one product an operand; a rule is counted wherever it runs, under any transform.
    """
    calls: Counter[str] = Counter()
    own = dict(vars(p))
    tables = products[p.code], partial1[p.code]
    try:
        for rule in RULES:
            if has_rule(p, rule):
                setattr(p, rule, _counting(calls, rule, getattr(p, rule)))
        if products[p.code]:
            table = tuple(
                f if f is no_share else _counting(calls, f"products, operand {k}", f) for k, f in enumerate(tables[0])
            )
            products[p.code] = p.products = table  # type: ignore[attr-defined]  # of a pointwise primitive
            if tables[1] is not None:
                partial1[p.code] = _counting(calls, "products, operand 0", tables[1])
        yield calls
    finally:
        for name in vars(p).keys() - own.keys():
            delattr(p, name)
        for name, value in own.items():
            if vars(p).get(name) is not value:
                setattr(p, name, value)
        products[p.code], partial1[p.code] = tables


def _counting(calls: Counter[str], rule: str, function: Callable[..., Any]) -> Callable[..., Any]:
    calls[rule] += 0

    @functools.wraps(function)
    def counting(*args: Any, **params: Any) -> Any:
        calls[rule] += 1
        return function(*args, **params)

    return counting


def by_kind(calls: Iterable[Counter[str]]) -> dict[str, tuple[int, int]]:
    """Of each kind of rule that there is: how many have run, and how many there are."""
    ran: Counter[str] = Counter()
    there: Counter[str] = Counter()
    for one in calls:
        for rule, count in one.items():
            kind = rule.partition(",")[0]
            there[kind] += 1
            ran[kind] += count > 0
    return {kind: (ran[kind], there[kind]) for kind in KINDS if there[kind]}
