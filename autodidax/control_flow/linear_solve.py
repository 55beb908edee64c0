"""The primitive of custom linear solves: a system is given by a program, its solution by the user's function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autodidax import errors
from autodidax.compile.program import compiled
from autodidax.core.interpreters import Tracer, get_aval
from autodidax.core.jaxpr import ClosedJaxpr, misfit
from autodidax.core.primitive import Sample
from autodidax.primitives.contraction import matmul, swap_last
from autodidax.primitives.convert import zeros_of
from autodidax.primitives.shape import reshape
from autodidax.primitives.solves import solve as solve_matrix
from autodidax.transforms.batching import BatchTrace, repeated
from autodidax.transforms.calls import HigherOrder, hold_constants, record_call, spread
from autodidax.transforms.custom_calls import hidden_tracer, pull_captured, through_captured
from autodidax.transforms.forward import instantiate
from autodidax.transforms.program import batch_program, rearranged, run, tangent_aval, transpose_program
from autodidax.transforms.reverse import Call, LinearTracer, is_zero, not_linear
from autodidax.transforms.stage import stage

NO_MATRIX = "give a linear function: in the place of A(x) = L(x) + c = b solve L(x) = b - c"


class Operands(NamedTuple):
    """The operands of a linear solve by their role: constants of the system, of the solver, of the transposed system's
    solver, and the right-hand side."""

    system: list[Any]
    solver: list[Any]
    other: list[Any]
    rhs: list[Any]


class LinearSolve(HigherOrder):
    """x with A x = b, linear in b: operands [constants of A, of `solve`, of `transpose_solve`, leaves of b].

    `matvec`: the program of (constants of A, x) -> A x; `vecmat` that of A^T, None where it was not needed yet.
    `solve`: (constants of A, its own constants, b) -> [x, auxiliary values], a function on flat lists, or a program;
    `transpose_solve`: the same for A^T, or None where there is none.
    `counts`: the numbers of constants of the three kinds. `has_aux`: whether `solve` returns auxiliary values.
    """

    stages_itself = True

    def operands(self, args: Sequence[Any], counts: tuple[int, int, int]) -> Operands:
        a, b, c = counts
        args = list(args)
        return Operands(args[:a], args[a : a + b], args[a + b : a + b + c], args[a + b + c :])

    def impl(self, *args: Any, **params: Any) -> list[Any]:
        system, solver, _, rhs = self.operands(args, params["counts"])
        solve = params["solve"]
        values = [*system, *solver, *rhs]
        return compiled(solve)(*values) if isinstance(solve, ClosedJaxpr) else solve(*values)

    def abstract_eval(self, *avals: Any, **params: Any) -> list[Any]:
        return params["solve"].out_avals

    def operand_error(self, avals: Sequence[Any], params: dict[str, Any]) -> str | None:
        system, solver, other, rhs = self.operands(avals, params["counts"])
        takes = {"matvec": system, "vecmat": system, "solve": [*system, *solver], "transpose_solve": [*system, *other]}
        for name, constants in takes.items():
            program = params[name]
            if program is not None:
                problem = misfit(name, program, [*constants, *rhs], [*rhs, *program.out_avals[len(rhs) :]])
                if problem is not None:
                    return problem
        return None

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        a, b = rng.normal(size=(3, 3)) + 3.0 * np.eye(3), rng.normal(size=3)
        for name, matrix, rhs in (
            ("float64", a, b),
            ("float32", a.astype(np.float32), b.astype(np.float32)),
            ("complex", a + 1j * a.T, b + 1j * b[::-1]),
        ):
            avals = [get_aval(matrix), get_aval(rhs)]
            product, _ = stage(lambda a, x: [matmul(a, x)], avals)
            there, _ = stage(lambda a, b: [_solution(a, b)], avals)
            back, _ = stage(lambda a, b: [_solution(swap_last(a), b)], avals)
            yield Sample((matrix, rhs), _sample_params(product, there, back, False), name=name)
        avals = [get_aval(b)] * 3
        product, _ = stage(lambda d, x, y: [d * x, y - x], avals)
        there, _ = stage(lambda d, x, y: [x / d, y + x / d, np.int64(3)], avals)
        back, _ = stage(lambda d, x, y: [(x + y) / d, y, np.int64(3)], avals)
        args = (1.5 + b * b, b, b[::-1].copy())
        yield Sample(args, _sample_params(product, there, back, True), name="two unknowns and an auxiliary value")

    def trace_jvp(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        pairs = [trace.unbox(a) for a in args]
        primals = self.operands([x for x, _ in pairs], params["counts"])
        tangents = self.operands([t for _, t in pairs], params["counts"])
        n = len(primals.rhs)
        outs = _free_of(trace, self(*[x for x, _ in pairs], **params))
        # A dx = db - dA x
        changes: list[Any] = [None] * n
        if any(t is not None for t in tangents.system):
            system = lambda *values: run(params["matvec"], values)
            changes = through_captured(system, [*primals.system, *outs[:n]], tangents.system)
        if all(t is None for t in [*tangents.rhs, *changes]):
            return outs
        rhs = [_difference(t, c, b) for t, c, b in zip(tangents.rhs, changes, primals.rhs, strict=True)]
        ts = self(*primals.system, *primals.solver, *primals.other, *rhs, **_without_aux(params, n))
        return [trace.box(x, instantiate(t, x)) for x, t in zip(outs[:n], ts, strict=True)] + outs[n:]

    def trace_reverse(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        ins, vals = trace.split(args)
        outs = _free_of(trace, self(*vals, **params))
        held = self.operands(hold_constants(trace, ins, vals), params["counts"])
        n = len(held.rhs)
        xs, out_active = outs[:n], (True,) * n + (False,) * len(outs[n:])
        active = [k for k in range(len(held.system)) if ins[k] >= 0]

        def system(*values: Any) -> list[Any]:
            constants = list(held.system)
            for k, value in zip(active, values, strict=True):
                constants[k] = value
            return run(params["matvec"], [*constants, *xs])

        def pull(cts: list[Any]) -> list[Any]:
            g_rhs = self._transposed(held, cts[:n], params)
            g_system: list[Any] = [None] * len(held.system)
            if active:  # of A x = b in the constants of A: -g x^T
                gs = pull_captured(system, [held.system[k] for k in active], [-g for g in g_rhs], len(active))
                for k, g in zip(active, gs, strict=True):
                    g_system[k] = g
            return [*g_system, *[None] * (len(held.solver) + len(held.other)), *g_rhs]

        return record_call(trace, outs, out_active, Call(pull), ins)

    def _transposed(self, held: Operands, cts: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        """The cotangents of b from those of x: the solution of the transposed system."""
        n = len(held.rhs)
        if params["transpose_solve"] is None:
            raise errors.ArgumentError(
                "custom_linear_solve: reverse mode solves the transposed system, for which no function was given",
                mend="give transpose_solve(vecmat, b), or symmetric=True where the matrix is symmetric",
            )
        a, b, c = params["counts"]
        transposed = {
            "matvec": params["vecmat"] or transposed_system(params["matvec"], a), "vecmat": params["matvec"],
            "solve": params["transpose_solve"], "transpose_solve": params["solve"], "counts": (a, c, b),
            "has_aux": params["has_aux"],
        }  # fmt: skip
        cts = [zeros_of(tangent_aval(get_aval(x))) if ct is None else ct for ct, x in zip(cts, held.rhs, strict=True)]
        return self(*held.system, *held.other, *held.solver, *cts, **_without_aux(transposed, n))

    def trace_linear(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        mine = [isinstance(a, LinearTracer) and a._trace is trace for a in args]
        n = len(self.operands(args, params["counts"]).rhs)
        rest = len(args) - n
        if any(mine[:rest]):
            raise not_linear(trace, self, "is not linear in what the matrix or its solver close over")
        for x, on in zip(args[rest:], mine[rest:], strict=True):
            if not (on or is_zero(x) or (trace.affine and isinstance(x, Tracer))):
                raise not_linear(trace, self, "has a constant beside the linear right-hand side")
        kept = [None if on else trace.kept(x) for x, on in zip(args, mine, strict=True)]
        held = self.operands([get_aval(x) if on else k for x, k, on in zip(args, kept, mine, strict=True)],
                             params["counts"])  # fmt: skip
        avals = params["matvec"].out_avals
        if params["has_aux"]:
            own = self.operands(args, params["counts"])
            program, captured = _as_program(params["solve"], own)
            if captured:
                raise hidden_tracer("the solve of custom_linear_solve", captured[0])
            params, avals = params | {"solve": program}, program.out_avals

        def pull(cts: list[Any]) -> list[Any]:
            if any(ct is not None for ct in cts[n:]):
                raise not_linear(trace, self, "has auxiliary values, which are not linear in the right-hand side")
            gs = self._transposed(held, cts[:n], params)
            return [g for g, on in zip(gs, mine[rest:], strict=True) if on]

        def push(*tangents: Any) -> list[Any]:
            it = iter(tangents)
            return self(*[next(it) if on else k for k, on in zip(kept, mine, strict=True)], **params)

        ins = tuple(a.node for a, on in zip(args, mine, strict=True) if on)
        return trace.results(avals, (Call(pull, push), ins, len(avals)))

    def trace_batch(self, trace: Any, vals: Sequence[Any], dims: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        on = self.operands([d is not None for d in dims], params["counts"])
        values = self.operands(vals, params["counts"])
        rhs = [x if b else repeated(x, trace.size) for x, b in zip(values.rhs, on.rhs, strict=True)]
        every = (True,) * len(rhs)
        by_rows = lambda flags: lambda p: None if p is None else batch_program(p, trace, flags, every)[0]
        system = by_rows((*on.system, *every))
        batched = {
            "matvec": system(params["matvec"]), "vecmat": system(params["vecmat"]), "counts": params["counts"],
            "has_aux": params["has_aux"],
            "solve": _solver_by_rows(params["solve"], trace, (*on.system, *on.solver, *every)),
            "transpose_solve": _solver_by_rows(params["transpose_solve"], trace, (*on.system, *on.other, *every)),
        }  # fmt: skip
        return [trace.box(x) for x in self(*values.system, *values.solver, *values.other, *rhs, **batched)]

    def trace_stage(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        """Both solvers are staged at once, so that the program keeps the values that they close over."""
        operands, counts = self.operands(args, params["counts"]), params["counts"]
        solve, captured = _as_program(params["solve"], operands)
        other, other_captured = _as_program(params["transpose_solve"], operands._replace(solver=operands.other))
        values = [*operands.system, *captured, *operands.solver, *other_captured, *operands.other, *operands.rhs]
        counts = (counts[0], counts[1] + len(captured), counts[2] + len(other_captured))
        params = params | {"solve": solve, "transpose_solve": other, "counts": counts}
        return trace.emit(self, [trace.atom(x) for x in values], params, solve.out_avals)


def _as_program(solve: Any, operands: Operands) -> tuple[Any, list[Any]]:
    """The program of a solver, and the tracers that it captures: it takes them behind the constants of the system."""
    if solve is None or isinstance(solve, ClosedJaxpr):
        return solve, []
    avals = [get_aval(x) for x in (*operands.system, *operands.solver, *operands.rhs)]
    program, captured = stage(solve, avals, transform="custom_linear_solve", name="solve")
    c, n = len(captured), len(operands.system)
    return rearranged(program, [*range(c, c + n), *range(c), *range(c + n, c + len(avals))]), captured


def transposed_system(matvec: ClosedJaxpr, n_constants: int, transform: str = "custom_linear_solve") -> ClosedJaxpr:
    """The program of (constants, y) -> A^T y, from that of (constants, x) -> A x; errors name the transform."""
    n = len(matvec.in_avals) - n_constants
    key = ("transposed system", n_constants)
    if key not in matvec.derived:
        try:
            program, present = transpose_program(matvec, (False,) * n_constants + (True,) * n)
        except errors.NotLinearError as e:
            raise errors.NotLinearError(
                f"{transform}: the function in the place of the matrix is not linear: {str(e).splitlines()[0]}",
                where=e.where,
                mend=NO_MATRIX,
            ) from None
        avals = matvec.in_avals[n_constants:]

        def whole(*values: Any) -> list[Any]:
            results = spread(run(program, values), present)
            return [zeros_of(a) if g is None else g for g, a in zip(results, avals, strict=True)]

        matvec.derived[key] = program if all(present) else stage(whole, program.in_avals)[0]
    return matvec.derived[key]


def _free_of(trace: Any, outs: list[Any]) -> list[Any]:
    """The results of a solve, checked to be free of this trace's tracers."""
    for x in outs:
        if isinstance(x, Tracer) and x._trace is trace:
            raise hidden_tracer("the solve of custom_linear_solve", x)
    return outs


def _difference(t: Any, change: Any, like: Any) -> Any:
    """t - change, either of which may be None, for zero."""
    if change is None:
        return zeros_of(tangent_aval(get_aval(like))) if t is None else t
    return -change if t is None else t - change


def _without_aux(params: dict[str, Any], n: int) -> dict[str, Any]:
    """The parameters of a solve that returns its first n results alone."""
    if not params["has_aux"]:
        return params

    def first(solve: Any) -> Any:
        if isinstance(solve, ClosedJaxpr):
            return rearranged(solve, range(len(solve.in_avals)), range(n))
        return None if solve is None else lambda *values: solve(*values)[:n]

    solvers = {key: first(params[key]) for key in ("solve", "transpose_solve")}
    return params | solvers | {"has_aux": False}


def _solver_by_rows(solve: Any, trace: BatchTrace, flags: tuple[bool, ...]) -> Any:
    """A solver on batches, with all results batched."""
    if solve is None:
        return None
    if isinstance(solve, ClosedJaxpr):
        return batch_program(solve, trace, flags, (True,) * len(solve.out_avals))[0]
    size, axis_name = trace.size, trace.axis_name

    def batched(*values: Any) -> list[Any]:
        with BatchTrace("custom_linear_solve", size, axis_name) as inner:
            outs = solve(*[inner.box(x) if b else x for x, b in zip(values, flags, strict=True)])
            pairs = [inner.unbox(x) for x in outs]
        return [x if d is not None else repeated(x, size) for x, d in pairs]

    return batched


def _solution(a: Any, b: Any) -> Any:
    return reshape(solve_matrix(a, reshape(b, shape=(*b.shape, 1))), shape=b.shape)


def _sample_params(matvec: Any, solve: Any, transpose_solve: Any, has_aux: bool) -> dict[str, Any]:
    return {
        "matvec": matvec, "vecmat": None, "solve": solve, "transpose_solve": transpose_solve, "counts": (1, 0, 0),
        "has_aux": has_aux,
    }  # fmt: skip


linear_solve_p = LinearSolve("linear_solve")
