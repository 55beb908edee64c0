"""Mutants that are no wrong rules, each with the reason why."""

from __future__ import annotations

#: (primitive, rule, operator, target) -> why the changed rule is right as well
EQUIVALENT: dict[tuple[str, str, str, str], str] = {}
