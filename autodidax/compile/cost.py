"""What a program costs: floating-point operations, bytes that are read and written, memory at its peak."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autodidax.compile.kernels import is_fresh, size_of
from autodidax.core.jaxpr import ClosedJaxpr, JaxprEqn, last_uses, subjaxprs
from autodidax.core.primitive import Pointwise

#: elementwise functions that cost many operations: they are counted apart
FUNCTIONS = {
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh", "sinh", "cosh", "pow",
    "logaddexp", "logaddexp2", "logistic", "arctan", "arcsin", "arccos", "arctan2", "arcsinh", "arccosh", "arctanh",
    "sqrt", "cbrt", "hypot",
}  # fmt: skip
#: primitives that copy and choose entries, and compute nothing
MOVING = {"where", "convert_element_type", "real", "imag", "conj", "stop_gradient", "name", "sort", "sign"}


@dataclass(frozen=True)
class Cost:
    """Of one run: arithmetic operations, elementary functions, bytes that operations read and write, and bytes of the
    values that are there at once, beside the inputs."""

    flops: int = 0
    transcendentals: int = 0
    bytes_accessed: int = 0
    peak_memory: int = 0

    def as_dict(self) -> dict[str, int]:
        return {
            "flops": self.flops,
            "transcendentals": self.transcendentals,
            "bytes accessed": self.bytes_accessed,
            "peak memory": self.peak_memory,
        }


def cost_of(closed: ClosedJaxpr) -> Cost:
    """The cost of a program, from its shapes.

    A loop of unknown length counts once, a choice as its most expensive branch, an operation that is not known here as
    one operation an entry of its results.

    >>> import numpy as np
    >>> import autodidax
    >>> product = autodidax.make_jaxpr(np.matmul)(np.ones((5, 7)), np.ones((7, 3)))
    >>> cost_of(product).flops  # 7 products and 6 sums for each of the 15 entries
    195
    """
    jaxpr = closed.jaxpr
    flops = functions = moved = live = peak = 0
    own: dict[Any, int] = {}
    for eqn, dying in zip(jaxpr.eqns, last_uses(jaxpr), strict=True):
        cost = _of_equation(eqn)
        flops, functions, moved = flops + cost.flops, functions + cost.transcendentals, moved + cost.bytes_accessed
        if is_fresh(eqn) or eqn.primitive.higher_order:
            own.update((v, _bytes(v)) for v in eqn.outvars)
            live += sum(own[v] for v in eqn.outvars)
        peak = max(peak, live + cost.peak_memory)
        live -= sum(own.get(v, 0) for v in dying)
    return Cost(flops, functions, moved, peak)


def _bytes(v: Any) -> int:
    return size_of(v.aval) * int(v.aval.dtype.itemsize)


def _of_equation(eqn: JaxprEqn) -> Cost:
    p, name = eqn.primitive, eqn.primitive.name
    programs = list(subjaxprs(eqn.params))
    if programs:
        return _of_programs(eqn, [cost_of(program) for program in programs])
    if not (is_fresh(eqn) or p.effect):  # a view
        return Cost()
    moved = sum(_bytes(v) for v in (*eqn.invars, *eqn.outvars))
    size = sum(size_of(v.aval) for v in eqn.outvars)
    known = FLOPS.get(name)
    if known is not None:
        return Cost(known(eqn), 0, moved)
    if p.structural or name in MOVING:
        return Cost(0, 0, moved)
    if isinstance(p, Pointwise) and name in FUNCTIONS:
        return Cost(0, size, moved)
    return Cost(size, 0, moved)


def _of_programs(eqn: JaxprEqn, costs: list[Cost]) -> Cost:
    """The cost of an equation with programs inside."""
    name, params = eqn.primitive.name, eqn.params
    if name == "cond":
        costs = [max(costs, key=lambda c: (c.flops + c.transcendentals, c.bytes_accessed))]
    length = params.get("length")
    count = length if name == "loop" and type(length) is int else 1
    moved = sum(c.bytes_accessed for c in costs) * count
    if name == "cluster":  # what lies between its operations stays in the cache
        moved = sum(_bytes(v) for v in (*eqn.invars, *eqn.outvars))
    peak = max(c.peak_memory for c in costs) if name != "cluster" else 0
    return Cost(sum(c.flops for c in costs) * count, sum(c.transcendentals for c in costs) * count, moved, peak)


def _matmul(eqn: JaxprEqn) -> int:
    inner = eqn.invars[0].aval.shape[-1]
    return size_of(eqn.outvars[0].aval) * (2 * inner - 1)


def _reduction(eqn: JaxprEqn) -> int:
    return size_of(eqn.invars[0].aval) - size_of(eqn.outvars[0].aval)


def _cholesky(eqn: JaxprEqn) -> int:
    return size_of(eqn.invars[0].aval) * eqn.invars[0].aval.shape[-1] // 3


def _triangular(eqn: JaxprEqn) -> int:
    return size_of(eqn.outvars[0].aval) * eqn.invars[0].aval.shape[-1]


def _solve(eqn: JaxprEqn) -> int:
    n = eqn.invars[0].aval.shape[-1]
    return size_of(eqn.invars[0].aval) * n * 2 // 3 + size_of(eqn.outvars[0].aval) * 2 * n


def _inverse(eqn: JaxprEqn) -> int:
    return size_of(eqn.invars[0].aval) * eqn.invars[0].aval.shape[-1] * 2


def _factorization(eqn: JaxprEqn) -> int:
    """Of the order of 10 n^3, as for eigenvalues and singular values by QR iterations."""
    shape = eqn.invars[0].aval.shape
    return 10 * size_of(eqn.invars[0].aval) * min(shape[-2:])


def _fourier(eqn: JaxprEqn) -> int:
    """5 n log2 n real operations for n complex entries, as for a radix-2 transform."""
    n = size_of(eqn.outvars[0].aval)
    length = max(eqn.outvars[0].aval.shape[-1] if eqn.outvars[0].aval.shape else 1, 2)
    return int(5 * n * math.log2(length))


FLOPS: dict[str, Callable[[JaxprEqn], int]] = {
    "matmul": _matmul, "reduce_sum": _reduction, "reduce_max": _reduction, "reduce_min": _reduction,
    "reduce_prod": _reduction, "cholesky": _cholesky, "solve_triangular": _triangular, "solve": _solve,
    "inv": _inverse, "det": _solve, "slogdet": _cholesky, "eigh": _factorization, "eigvalsh": _factorization,
    "svd": _factorization, "singular_values": _factorization, "qr": _factorization, "eig": _factorization,
    "eigvals": _factorization, "fft": _fourier, "rfft": _fourier, "irfft": _fourier,
    "scatter_add": lambda eqn: size_of(eqn.invars[1].aval),
}  # fmt: skip
