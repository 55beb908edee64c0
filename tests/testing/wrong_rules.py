"""The table of wrong derivative and batching rules that the checker has to catch, each with its right twin."""

from tests.testing.wrong import (
    axes,
    batching,
    branches,
    complexes,
    indexing,
    kinds,
    linearity,
    matrices,
    orders,
    precision,
    shortcuts,
    sparse,
    state,
    values,
)

FAMILIES = {
    "value": values,
    "axis": axes,
    "index": indexing,
    "matrix": matrices,
    "complex": complexes,
    "branch": branches,
    "linearity": linearity,
    "state": state,
    "shortcut": shortcuts,
    "kind": kinds,
    "precision": precision,
    "sparse": sparse,
    "order 2": orders,
    "batch": batching,
}
TABLE = {f"{family}: {case.name}": case for family, module in FAMILIES.items() for case in module.CASES}
