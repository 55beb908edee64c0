"""Branches: cond and switch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.compile.program import compiled
from autodidax.control_flow.loop import loop_p
from autodidax.control_flow.operands import concrete, flat_operands, join_outputs, own_operands, stage_flat
from autodidax.control_flow.rows import rows_like, select_rows
from autodidax.core.avals import ShapedArray, UnknownSize
from autodidax.core.interpreters import dtype_of, get_aval, shape_of
from autodidax.core.jaxpr import ClosedJaxpr, has_effects, misfit
from autodidax.core.primitive import Sample
from autodidax.core.tracebacks import boundary
from autodidax.primitives.comparison import equal
from autodidax.primitives.convert import convert_element_type, zeros_of
from autodidax.primitives.elementwise import log, sin
from autodidax.primitives.indexing import Slot, getitem_p
from autodidax.primitives.reductions import reduce_or
from autodidax.transforms.boundary import check_arity, described, name_of, unshared
from autodidax.transforms.calls import (
    HigherOrder,
    box_outputs,
    fill_cts,
    is_linear,
    record_call,
    split_tangents,
    spread,
)
from autodidax.transforms.program import (
    Split,
    batch_program,
    jvp_program,
    linear_split,
    linearize_program,
    rearranged,
    run,
    transpose_program,
    unify_captures,
    vjp_program,
    zeros_program,
)
from autodidax.transforms.reverse import Call, LinearTracer
from autodidax.transforms.stage import stage


class Cond(HigherOrder):
    """Runs the branch number `index`: operands (index, *operands) -> the branch's outputs."""

    def impl(self, index: Any, *operands: Any, branches: tuple[ClosedJaxpr, ...]) -> list[Any]:
        k = min(max(int(index), 0), len(branches) - 1)
        return compiled(branches[k])(*operands)

    def abstract_eval(self, index: Any, *operands: Any, branches: tuple[ClosedJaxpr, ...]) -> list[Any]:
        return [_known_least(avals) for avals in zip(*[b.out_avals for b in branches], strict=True)]

    def operand_error(self, avals: Sequence[Any], params: dict[str, Any]) -> str | None:
        index, *operands = avals
        branches = params["branches"]
        if not branches or index.shape or index.dtype.kind not in "biu":
            return f"chooses among {len(branches)} branches by {index!r}, which is no integer"
        problems = [misfit(f"branch {k}", b, operands, branches[0].out_avals) for k, b in enumerate(branches)]
        return next(filter(None, problems), None)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        x, y, k = rng.uniform(0.5, 1.5, 3), rng.normal(), np.arange(3)
        two = [lambda x, y: [log(x) * y, x], lambda x, y: [x * x, 3.0 * x * y]]
        three = [lambda x, k: [x * k, k], lambda x, k: [sin(x), k + k], lambda x, k: [np.ones(3), k]]
        for funs, index, args in [(two, True, (x, y)), (two, False, (x, y)), *((three, i, (x, k)) for i in range(3))]:
            avals = [get_aval(a) for a in args]
            branches = tuple(stage(f, avals)[0] for f in funs)
            name = f"branch {int(index)} of {len(funs)}"
            yield Sample((np.array(index)[()], *args), {"branches": branches}, name=name)

    def trace_jvp(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        branches = params["branches"]
        primals, tangents, active = split_tangents(trace, args)
        index, primals, active = primals[0], primals[1:], active[1:]
        n = len(branches[0].out_avals)
        if any(map(is_linear, tangents)):
            splits = [linearize_program(b, active) for b in branches]
            out_active = _union(s.out_active for s in splits)
            first, second, residuals = _join_splits(splits, n)
            outs = self(index, *primals, branches=first)
            kept = [*primals, *outs[n:]]
            lin = [
                _widen_results(p, s.out_active, out_active, branches[0].out_avals)
                for p, s in zip(second, splits, strict=True)
            ]
            ts = self(index, *[kept[k] for k in residuals], *tangents, branches=tuple(lin))
            return box_outputs(trace, outs[:n], ts, out_active)
        out_active = _union(jvp_program(b, active)[1] for b in branches)
        programs = tuple(jvp_program(b, active, out_active)[0] for b in branches)
        outs = self(index, *primals, *tangents, branches=programs)
        return box_outputs(trace, outs[:n], outs[n:], out_active)

    def trace_reverse(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        branches = params["branches"]
        ins, vals = trace.split(args)
        ins, index, vals = ins[1:], vals[0], vals[1:]
        active = tuple(n >= 0 for n in ins)
        splits = [vjp_program(b, active) for b in branches]
        out_active = _union(s.out_active for s in splits)
        n = len(branches[0].out_avals)
        first, second, residuals = _join_splits(splits, n)
        outs = self(index, *vals, branches=first)
        kept = [*vals, *outs[n:]]
        held = [trace.guard.hold_operand(kept[k]) for k in residuals]
        on_avals = [a for a, on in zip(branches[0].in_avals, active, strict=True) if on]
        late = _union(s.late for s in splits)
        widened = [
            _widen_inputs(p, len(residuals), s.out_active, out_active, branches[0].out_avals)
            for p, s in zip(second, splits, strict=True)
        ]
        backwards = tuple(_widen_results(p, s.late, late, on_avals) for p, s in zip(widened, splits, strict=True))

        def pull(cts: list[Any]) -> list[Any]:
            gs = self(index, *held, *fill_cts(cts, branches[0].out_avals, out_active), branches=backwards)
            return spread(spread(gs, late), active)

        return record_call(trace, outs[:n], out_active, Call(pull), ins)

    def trace_linear(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        branches = params["branches"]
        index, operands = args[0], args[1:]
        linear = tuple(isinstance(a, LinearTracer) and a._trace is trace for a in operands)
        ins = tuple(a.node for a, on in zip(operands, linear, strict=True) if on)
        late = _union(linear_split(b, linear, affine=trace.affine)[1] for b in branches)
        if all(late) and not any(map(has_effects, branches)):
            others = [a for a, on in zip(operands, linear, strict=True) if not on]
            return self.record_linear(trace, index, branches, linear, others, ins)
        # results that do not depend on the linear operands in any branch are values
        splits = [linear_split(b, linear, late, affine=trace.affine)[0] for b in branches]
        first, second, residuals = _join_splits(splits, len(late))
        known = [zeros_of(get_aval(a)) if on else a for a, on in zip(operands, linear, strict=True)]
        outs = self(index, *known, branches=first)
        kept = [*known, *outs[len(late) :]]
        others = [kept[k] for k in residuals]
        flags = (False,) * len(others) + (True,) * len(ins)
        late_outs = iter(self.record_linear(trace, index, tuple(second), flags, others, ins))
        return [next(late_outs) if f else o for o, f in zip(outs, late, strict=False)]

    def record_linear(
        self, trace: Any, index: Any, branches: Any, linear: tuple[bool, ...], others: list[Any], ins: tuple[int, ...]
    ) -> list[Any]:
        """Tracers for the results of branches that all depend on their linear inputs, which are the nodes `ins`."""
        on_avals = [a for a, on in zip(branches[0].in_avals, linear, strict=True) if on]

        def pull(cts: list[Any]) -> list[Any]:
            with_ct = tuple(c is not None for c in cts)
            pairs = [transpose_program(b, linear, with_ct) for b in branches]
            flags = _union(f for _, f in pairs)
            programs = tuple(_widen_results(p, f, flags, on_avals) for p, f in pairs)
            gs = self(index, *others, *[c for c in cts if c is not None], branches=programs)
            return spread(gs, flags)

        def push(*tangents: Any) -> list[Any]:
            ts, rest = iter(tangents), iter(others)
            return self(index, *[next(ts) if on else next(rest) for on in linear], branches=branches)

        avals = branches[0].out_avals
        return trace.results(avals, (Call(pull, push), ins, len(avals)))

    def trace_batch(self, trace: Any, vals: Sequence[Any], dims: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        branches = params["branches"]
        index, operands = vals[0], list(vals[1:])
        batched = tuple(d is not None for d in dims[1:])
        if dims[0] is None:
            force = _union(batch_program(b, trace, batched)[1] for b in branches)
            programs = tuple(batch_program(b, trace, batched, force)[0] for b in branches)
            outs = self(index, *operands, branches=programs)
            return [trace.box(o) if f else o for o, f in zip(outs, force, strict=True)]
        if any(map(has_effects, branches)):
            return loop_p.row_by_row(self, trace, vals, dims, params)
        return [trace.box(o) for o in self._by_rows(trace, index, operands, batched, branches)]

    def _by_rows(self, trace: Any, index: Any, operands: list[Any], batched: Any, branches: Any) -> list[Any]:
        """Each branch on the batch, the rows that do not take it replaced by one that does; then a selection. A branch
        that no row takes is not run."""
        outs: list[Any] | None = None
        force = (True,) * len(branches[0].out_avals)
        if dtype_of(index).kind == "b":
            index = convert_element_type(index, dtype=np.dtype(np.int64))
        for k, branch in enumerate(branches):
            taken = equal(index, k) if 0 < k < len(branches) - 1 else (index <= 0 if k == 0 else index >= k)
            rows = rows_like(taken, trace.size)
            moved = [getitem_p(x, rows, index=(Slot(0),)) if b else x for x, b in zip(operands, batched, strict=True)]
            program = batch_program(branch, trace, batched, force)[0]
            avals = [get_aval(x) for x in moved]
            some = convert_element_type(reduce_or(taken, axes=(0,)), dtype=np.dtype(np.int64))
            result = self(some, *moved, branches=(zeros_program(avals, program.out_avals), program))
            outs = result if outs is None else [select_rows(taken, r, o) for r, o in zip(result, outs, strict=True)]
        assert outs is not None
        return outs


def _known_least(avals: Sequence[ShapedArray]) -> ShapedArray:
    """Of what several branches return, the aval with a size that is only known at run time: the zeros beside it are
    not."""
    return next((a for a in avals if any(isinstance(n, UnknownSize) for n in a.shape)), avals[0])


def _union(flags: Any) -> tuple[bool, ...]:
    return tuple(map(any, zip(*flags, strict=True)))


def _join_splits(splits: list[Split], n: int) -> tuple[tuple[Any, ...], list[ClosedJaxpr], list[int]]:
    """First programs with one common list of outputs (each fills the residuals of the others with zeros), second
    programs with one common list of residuals, and the places of those in (inputs, extra outputs)."""
    n_in = len(splits[0].first.in_avals)
    extra_avals = [a for s in splits for a in s.first.out_avals[n:]]
    firsts, seconds = [], []
    residuals: list[int] = []
    spans, offset = [], 0
    for s in splits:
        own = len(s.first.out_avals) - n
        places = [r.place if r.is_input else n_in + offset + r.place for r in s.residuals]
        spans.append((len(residuals), places))
        residuals += places
        firsts.append(_with_zeros(s.first, n, offset, own, extra_avals))
        offset += own
    for s, (start, places) in zip(splits, spans, strict=True):
        avals = [*splits[0].first.in_avals, *extra_avals]
        inputs: list[Any] = [avals[k] for k in residuals]
        inputs[start : start + len(places)] = range(len(places))
        seconds.append(rearranged(s.second, [*inputs, *range(len(places), len(s.second.in_avals))]))
    return tuple(firsts), seconds, residuals


def _with_zeros(first: ClosedJaxpr, n: int, offset: int, own: int, extra_avals: list[Any]) -> ClosedJaxpr:
    def run_first(*args: Any) -> list[Any]:
        outs = run(first, args)
        extra = [zeros_of(a) for a in extra_avals]
        extra[offset : offset + own] = outs[n:]
        return [*outs[:n], *extra]

    return stage(run_first, first.in_avals)[0]


def _widen_inputs(p: ClosedJaxpr, n_residuals: int, own: Any, wanted: Any, out_avals: Any) -> ClosedJaxpr:
    """A backward program that takes the cotangents of all `wanted` outputs, ignoring those it has no use for."""
    inputs: list[Any] = list(range(n_residuals))
    k = n_residuals
    for mine, want, aval in zip(own, wanted, out_avals, strict=True):
        if mine:
            inputs.append(k)
            k += 1
        elif want:
            inputs.append(aval)
    return rearranged(p, inputs)


def _widen_results(p: ClosedJaxpr, own: Any, wanted: Any, avals: Any) -> ClosedJaxpr:
    """A program that returns all `wanted` results, zeros for those it does not have."""
    if tuple(own) == tuple(wanted):
        return p

    def widened(*args: Any) -> list[Any]:
        outs = spread(run(p, args), own)
        return [zeros_of(a) if o is None else o for o, want, a in zip(outs, wanted, avals, strict=True) if want]

    return stage(widened, p.in_avals)[0]


cond_p = Cond("cond")


@boundary
def cond(
    pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any, **keywords: Any
) -> Any:
    """`true_fun(*operands)` where the scalar predicate holds, else `false_fun(*operands)`; only that branch runs.

    A predicate whose value is known runs its branch as plain Python. Under jit and vmap both branches are staged: they
    must return the same tree of shapes and dtypes. JAX's older forms are accepted: `cond(pred, x, f, y, g)`, and
    `operand=x` for one operand; its keyword `linear` has no effect.

    Source: jax.lax.cond.

    >>> float(cond(True, lambda x: x + 1, lambda x: x - 1, 1.0))
    2.0
    """
    if "operand" in keywords and not operands:
        operands = (keywords.pop("operand"),)
    if unknown := keywords.keys() - {"linear"}:
        raise errors.ArgumentError(
            f"cond takes no keyword {', '.join(sorted(unknown))}", mend="give operands by position: cond(pred, f, g, x)"
        )
    if not callable(true_fun) and len(operands) == 2 and callable(false_fun) and callable(operands[1]):
        x, f, y, g = true_fun, false_fun, operands[0], operands[1]
        return cond(pred, lambda pair: f(pair[0]), lambda pair: g(pair[1]), (x, y))
    if not (callable(true_fun) and callable(false_fun)):
        raise errors.ArgumentError(
            f"cond takes a predicate, two functions and operands, got {described(true_fun)} and {described(false_fun)}",
            mend="write cond(pred, f, g, x); for values np.where(pred, x, y)",
        )
    try:
        shape = shape_of(pred)
    except errors.DtypeError:
        raise errors.DtypeError(
            f"cond: the predicate is {described(pred)}", mend="give a boolean or a number, e.g. by a comparison"
        ) from None
    if shape:
        raise errors.ShapeError(
            f"cond: the predicate must be a scalar, it has shape {shape}",
            mend="use where(pred, x, y) for a choice by element, or reduce it with all() or any()",
        )
    known = concrete(pred)
    try:
        if known is not None:
            return unshared((true_fun if known else false_fun)(*own_operands(operands)), operands)
        index = pred if dtype_of(pred).kind == "b" else pred != 0
        return _staged_branches("cond", index, [false_fun, true_fun], operands)
    except TypeError as error:
        check_arity(error, "cond", *_calls([("true_fun", true_fun), ("false_fun", false_fun)], operands))
        raise


def _calls(branches: Any, operands: Any) -> list[tuple[Any, str, int]]:
    """How branches are called, for messages."""
    n = len(operands)
    return [(f, f"{name}({', '.join('xyz'[:n]) if n <= 3 else '*operands'})", n) for name, f in branches]


def _scalar_index(index: Any) -> str:
    """What makes an integer scalar of an index that is none."""
    if math.prod(shape_of(index)) == 1 and dtype_of(index).kind in "iu":
        return f"take its entry: index[{', '.join('0' * len(shape_of(index)))}]"
    if shape_of(index):
        return "map over it: vmap(lambda i: switch(i, branches, x))(index)"
    return "convert it with astype(int); a boolean goes to cond"


@boundary
def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """`branches[index](*operands)`, the index clamped into range; only that branch runs.

    Source: jax.lax.switch.

    >>> float(switch(1, [lambda x: x, lambda x: 2 * x], 3.0))
    6.0
    """
    if not isinstance(branches, tuple | list) or not branches:
        got = "an empty list" if isinstance(branches, tuple | list) else described(branches)
        raise errors.ArgumentError(
            f"switch takes an index, a list of functions, and operands; for the list it got {got}",
            mend="write switch(i, [f, g], x)"
            + ("; make a list of it: list(branches)" * isinstance(branches, Iterator)),
        )
    for k, f in enumerate(branches):
        if not callable(f):
            raise errors.ArgumentError(
                f"switch: branch {k} is {described(f)}, not a function",
                mend="write switch(i, [f, g], x); an entry of a table of values is anp.take(values, i)",
            )
    if shape_of(index) or dtype_of(index).kind not in "iu":
        raise errors.ArgumentError(
            f"switch: the index must be an integer scalar, it is {get_aval(index)!r}",
            mend=_scalar_index(index),
        )
    known = concrete(index)
    try:
        if known is not None:
            return unshared(branches[min(max(int(known), 0), len(branches) - 1)](*own_operands(operands)), operands)
        if len(branches) == 1:
            return branches[0](*operands)
        return _staged_branches("switch", index, branches, operands)
    except TypeError as error:
        check_arity(error, "switch", *_calls([(f"branch_{k}", f) for k, f in enumerate(branches)], operands))
        raise


def _staged_branches(transform: str, index: Any, funs: Sequence[Callable[..., Any]], operands: Any) -> Any:
    leaves, in_tree = flat_operands(transform, operands, "operands")
    avals = [get_aval(x) for x in leaves]
    staged = [stage_flat(transform, f, in_tree, avals) for f in funs]
    kinds = ["false_fun", "true_fun"] if transform == "cond" else [f"branch {k}" for k in range(len(funs))]
    names = [f"{kind} ({name_of(f)})" for kind, f in zip(kinds, funs, strict=True)]
    programs, out_tree = join_outputs(transform, names, staged)
    branches, captured = unify_captures([(p, c) for p, (_, c, _) in zip(programs, staged, strict=True)])
    outs = cond_p(index, *captured, *leaves, branches=tuple(branches))
    return out_tree.unflatten(outs)
