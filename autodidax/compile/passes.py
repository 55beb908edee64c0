"""The passes of the compiler, in order: each takes a program and returns one that computes the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from autodidax.compile import constants, dead_code, inlining, simplification
from autodidax.compile.clusters import gather
from autodidax.core.jaxpr import ClosedJaxpr

Pass = Callable[[ClosedJaxpr], ClosedJaxpr]

PASSES: dict[str, Pass] = {
    "inlining": inlining.inline,
    "dead code": dead_code.eliminate,
    "constants": constants.fold,
    "simplification": simplification.simplify,
    "dead code again": dead_code.eliminate,
}


def stages(closed: ClosedJaxpr) -> Iterator[tuple[str, ClosedJaxpr]]:
    """The program after each pass, by its name; at last with its clusters."""
    for name, run in {**PASSES, "clusters": gather}.items():
        closed = run(closed)
        yield name, closed


def optimized(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program after all passes."""
    for run in PASSES.values():
        closed = run(closed)
    return closed
