"""Which rules a primitive has, and which it should have."""

from __future__ import annotations

from collections.abc import Sequence

from autodidax.core.primitive import Primitive, products


def derivative_rules(p: Primitive, active: Sequence[int] | None = None) -> dict[str, str]:
    """Names of the rules that make up each mode of a primitive, where these operands vary (all of them by default)."""
    if products[p.code]:
        return {"fwd": "products", "rev": "products"}
    if p.zero_derivative:
        return {"fwd": "zero_derivative", "rev": "zero_derivative"}
    if p.higher_order:
        return {"fwd": "trace_jvp", "rev": "trace_reverse"}
    if p.linear or p.multilinear or (active and set(active) <= set(p.linear_in)):
        return {"fwd": "impl", "rev": "transpose"}
    return {"fwd": "jvp", "rev": "vjp" if p.vjp is not None else "jvp"}


def has_rule(p: Primitive, rule: str) -> bool:
    """Whether a primitive defines this rule, on itself or its class."""
    return rule in vars(p) or getattr(type(p), rule, None) is not getattr(Primitive, rule, None)


def missing_rules(p: Primitive) -> list[str]:
    """The rules that a primitive of this kind should have and has not."""
    wanted = ["impl", "abstract_eval", "samples"]
    if not p.higher_order:
        wanted.append("batch")
        if not (products[p.code] or p.zero_derivative or p.nondifferentiable):
            wanted += ["transpose"] if p.linear or p.multilinear else ["transpose"] * bool(p.linear_in)
            wanted += [] if p.linear or p.multilinear or p.linear_in else ["jvp"]
    return [rule for rule in wanted if not has_rule(p, rule)]
