"""Wrong rules made of right ones: each rule of a primitive changed in one way, to see that the check fails.

A mutant patches the instance (or the tables that pointwise primitives keep by code) inside a context, and notes
whether its change took effect: a rule that no sample runs can be changed without anybody seeing it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autodidax.core.avals import Masked, ShapedArray, is_inexact
from autodidax.core.interpreters import Tracer, dtype_of
from autodidax.core.primitive import Primitive, partial1, products
from autodidax.primitives.elementwise import multiply
from autodidax.testing.directions import tangents
from autodidax.testing.numeric import directional_derivative
from autodidax.testing.primitives import BY_DEFINITION, check_primitive, has_rule
from autodidax.testing.report import Failure, Report
from autodidax.testing.rules import plain_list
from autodidax.transforms.reverse import Call

FACTOR = 1.01

#: rules that a report may name in the place of the one that was changed
ALSO_NAMED = {"impl": ("abstract_eval",), "nondifferentiable": ("jvp", "vjp")}


@dataclass
class Mutant:
    """One rule of one primitive, changed by one operator.

    `touched` says whether the last application changed a result at all: where it did not, the mutant is no different
    from the right rule at any sample (the partial derivative is zero, or no sample runs the rule).
    """

    primitive: Primitive
    rule: str
    operator: str
    patches: Callable[[Mutant], list[Patch]]
    touched: bool = False

    @property
    def id(self) -> str:
        return f"{self.primitive.name}-{self.rule}-{self.operator}"

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        self.touched = False
        patches = self.patches(self)
        try:
            for patch in patches:
                patch.apply()
            yield
        finally:
            for patch in reversed(patches):
                patch.undo()

    def killed(self, baseline: Report) -> list[Failure]:
        """The failures that name this rule and a sample, beyond those that the right primitive has."""
        known = {(f.rule, f.layer, f.sample) for f in baseline.failures}
        named = {self.rule, *ALSO_NAMED.get(self.rule, ())}
        for fail_fast in (True, False):
            with self.applied():
                report = check_primitive(self.primitive, order=1, fail_fast=fail_fast)
            new = [f for f in report.failures if f.rule in named and f.sample]
            new = [f for f in new if (f.rule, f.layer, f.sample) not in known]
            if new:
                return new
        return []


@dataclass
class Patch:
    """A value put into an instance's attributes or a list, and the old one put back."""

    target: Any
    key: Any
    value: Any
    old: Any = field(default=None)
    had: bool = True

    def apply(self) -> None:
        if isinstance(self.target, list):
            self.old, self.target[self.key] = self.target[self.key], self.value
            return
        self.had = self.key in vars(self.target)
        self.old = vars(self.target).get(self.key)
        setattr(self.target, self.key, self.value)

    def undo(self) -> None:
        if isinstance(self.target, list):
            self.target[self.key] = self.old
        elif self.had:
            setattr(self.target, self.key, self.old)
        else:
            delattr(self.target, self.key)


def mutants(p: Primitive) -> list[Mutant]:
    """Every mutant of a primitive that is checked."""
    if p.checked is not True or not has_rule(p, "samples"):
        return []
    found = [*_of_results(p, "abstract_eval", ABSTRACT), *_of_results(p, "impl", IMPLEMENTATION)]
    if p.higher_order:
        traced = TRACED.items()
        return found + [Mutant(p, rule, name, _traced_patch(p, rule, change)) for rule, (name, change) in traced]
    found += _of_results(p, "batch", BATCH)
    if p.nondifferentiable:
        found.append(Mutant(p, "nondifferentiable", "dropped", _declared(p, nondifferentiable=None)))
    elif p.zero_derivative:
        pass
    elif products[p.code]:
        for k in _inexact_operands(p):
            for name, factor in FACTORS.items():
                found.append(Mutant(p, "products", f"{name} of operand {k}", _product_patches(p, k, factor)))
    else:
        if has_rule(p, "jvp") and not (p.linear or p.multilinear):
            found += _of_results(p, "jvp", SCALINGS)
            found += [Mutant(p, "jvp", f"operand {k} ignored", _ignoring(k)) for k in _inexact_operands(p) if k]
        if has_rule(p, "transpose"):
            found += _of_results(p, "transpose", _cotangent_changes(p, p.linear_in or None))
        if p.vjp is not None:
            found += _of_results(p, "vjp", _cotangent_changes(p))
    if not (p.nondifferentiable or p.zero_derivative) and p not in BY_DEFINITION:
        found.append(Mutant(p, "zero_derivative", "declared", _declared(p, zero_derivative=True, slope=True)))
    return found


def unmutated(p: Primitive) -> dict[str, str]:
    """The rules of a primitive that no operator changes, each with the reason."""
    if p.checked is not True:
        return {"all": p.checked if isinstance(p.checked, str) else "its class says checked = False"}
    if not has_rule(p, "samples"):
        return {"all": "it has no samples"}
    if p.zero_derivative:
        return {"zero_derivative": "it is a declaration, which the check compares with the numeric derivative"}
    return {}


# operators: name -> function of a rule's result

Change = Callable[[Any], Any]


def _scale(factor: float) -> Change:
    def change(t: Any) -> Any:
        if t is None:
            return None
        if type(t) is Masked:
            return Masked(t.val * factor, t.mask)
        return t * factor

    return change


def _each(change: Change, only: int | None = None) -> Change:
    """A change of every entry of a list (or of one), or of a single result."""

    def changed(out: Any) -> Any:
        if isinstance(out, list | tuple):
            return [change(t) if only in (None, k) else t for k, t in enumerate(out)]
        return change(out)

    return changed


def _one_more_axis(a: ShapedArray) -> ShapedArray:
    return ShapedArray((*a.shape, 1), a.dtype, False)


OTHER_DTYPE = {"f": np.float16, "c": np.complex64, "i": np.int8, "u": np.uint8, "b": np.int16}


def _other_dtype(a: ShapedArray) -> ShapedArray:
    other = OTHER_DTYPE.get(a.dtype.kind, np.float64)
    return ShapedArray(a.shape, np.float32 if a.dtype == other else other, False)


def _value_of_other_dtype(y: Any) -> Any:
    return np.asarray(y).astype(_other_dtype(ShapedArray((), dtype_of(y))).dtype)


def _rolled(y: Any) -> Any:
    return np.roll(y, 1, axis=0) if type(y) is np.ndarray and y.ndim else y


def _batch_change(change: Change) -> Change:
    """A change of the values of a batch rule's (results, dimensions)."""
    return lambda pair: (_each(change)(pair[0]), pair[1])


def _forgotten_dimension(pair: Any) -> Any:
    out, dim = pair
    return (out, [None] * len(dim)) if isinstance(dim, list | tuple) else (out, None)


FACTORS = {"scaled": FACTOR, "negated": -1.0}
ABSTRACT = {"shape": _each(_one_more_axis), "dtype": _each(_other_dtype)}
IMPLEMENTATION = {"shape": _each(lambda y: np.asarray(y)[..., None]), "dtype": _each(_value_of_other_dtype)}
BATCH = {"rows rolled": _batch_change(_rolled), "dimension forgotten": _forgotten_dimension}
SCALINGS = {name: _each(_scale(factor)) for name, factor in FACTORS.items()}


def _cotangent_changes(p: Primitive, among: tuple[int, ...] | None = None) -> dict[str, Change]:
    """Changes of all cotangents together, and of each operand's alone."""
    changes: dict[str, Change] = {}
    operands = [k for k in _inexact_operands(p) if among is None or k in among]
    for k in operands:
        changes |= {f"{name} of operand {k}": _each(_scale(factor), k) for name, factor in FACTORS.items()}
        changes[f"dropped of operand {k}"] = _each(lambda _: None, k)
    return changes if len(operands) == 1 else SCALINGS | changes


def _inexact_operands(p: Primitive) -> list[int]:
    """The positions that hold a floating or complex operand with entries in some sample."""
    samples = p.samples(np.random.default_rng(0))
    return sorted({k for s in samples for k, a in enumerate(s.args) if is_inexact(dtype_of(a)) and np.size(a)})


# changes of what a primitive that handles the traces itself leaves there: (mutant, trace, results)


def _scaled_tangents(mutant: Mutant, trace: Any, out: Any) -> None:
    for y in out:
        if isinstance(y, Tracer) and y._trace is trace:
            mutant.touched = mutant.touched or isinstance(y.node, Tracer) or bool(np.any(y.node))
            y.node = multiply(y.node, FACTOR)


def _scaled_pullback(mutant: Mutant, trace: Any, out: Any) -> None:
    mains = {trace.tape[y.node][1] for y in out if isinstance(y, Tracer) and y._trace is trace}
    for main in mains:
        call, ins, count = trace.tape[main]
        trace.tape[main] = (Call(_scaled_call(mutant, call.pull), call.push), ins, count)


def _scaled_call(mutant: Mutant, pull: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def scaled(cts: Any) -> Any:
        gs = pull(cts)
        mutant.touched = mutant.touched or any(isinstance(g, Tracer) or np.any(g) for g in gs if g is not None)
        return [None if g is None else multiply(g, FACTOR) for g in gs]

    return scaled


def _rolled_rows(mutant: Mutant, trace: Any, out: Any) -> None:
    for y in out:
        if isinstance(y, Tracer) and y._trace is trace and type(y.val) is np.ndarray:
            right, y.val = y.val, np.roll(y.val, 1, axis=0)
            mutant.touched = mutant.touched or not np.array_equal(right, y.val)


TRACED = {
    "trace_jvp": ("tangents scaled", _scaled_tangents),
    "trace_reverse": ("pullback scaled", _scaled_pullback),
    "trace_linear": ("pullback scaled", _scaled_pullback),
    "trace_batch": ("rows rolled", _rolled_rows),
}


def _traced_patch(
    p: Primitive, rule: str, change: Callable[[Mutant, Any, Any], None]
) -> Callable[[Mutant], list[Patch]]:
    def patches(mutant: Mutant) -> list[Patch]:
        original = getattr(p, rule)

        def wrong(trace: Any, *args: Any) -> Any:
            out = original(trace, *args)
            change(mutant, trace, out)
            return out

        return [Patch(p, rule, wrong)]

    return patches


# patches


def _of_results(p: Primitive, rule: str, operators: dict[str, Change]) -> list[Mutant]:
    """One mutant an operator: the rule's result, changed."""
    return [Mutant(p, rule, name, _result_patch(p, rule, change)) for name, change in operators.items()]


def _result_patch(p: Primitive, rule: str, change: Change) -> Callable[[Mutant], list[Patch]]:
    def patches(mutant: Mutant) -> list[Patch]:
        original = getattr(p, rule)

        def wrong(*args: Any, **params: Any) -> Any:
            out = original(*args, **params)
            return _noted(mutant, out, change(out))

        return [Patch(p, rule, wrong)]

    return patches


def _noted(mutant: Mutant, right: Any, wrong: Any) -> Any:
    mutant.touched = mutant.touched or _differ(right, wrong)
    return wrong


def _differ(a: Any, b: Any) -> bool:
    """Whether two results of a rule differ, as far as they are plain; traced ones do not count."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return any(_differ(x, y) for x, y in zip(a, b, strict=True))
    if a is b or isinstance(a, Tracer) or isinstance(b, Tracer):
        return False
    if type(a) is Masked:
        return _differ(a.val, getattr(b, "val", b))
    if isinstance(a, ShapedArray):
        return a != b
    if a is None or b is None:  # None is a zero
        return bool(np.any(b if a is None else a))
    x, y = np.asarray(a), np.asarray(b)
    return x.shape != y.shape or x.dtype != y.dtype or not np.array_equal(x, y, equal_nan=is_inexact(x.dtype))


def _ignoring(k: int) -> Callable[[Mutant], list[Patch]]:
    """A jvp rule that takes the tangent of one operand for zero."""

    def patches(mutant: Mutant) -> list[Patch]:
        p = mutant.primitive
        original = p.jvp

        def wrong(out: Any, primals: Any, tangents: Any, **params: Any) -> Any:
            if k >= len(tangents) or tangents[k] is None:
                return original(out, primals, tangents, **params)
            mutant.touched = True
            rest = [t if i != k else None for i, t in enumerate(tangents)]
            if all(t is None for t in rest):
                return [None] * len(out) if p.multiple_results else None
            return original(out, primals, rest, **params)

        return [Patch(p, "jvp", wrong)]

    return patches


def _product_patches(p: Primitive, k: int, factor: float) -> Callable[[Mutant], list[Patch]]:
    def patches(mutant: Mutant) -> list[Patch]:
        right = products[p.code]
        change = _scale(factor)

        def wrong(*values: Any) -> Any:
            t = right[k](*values)
            return _noted(mutant, t, change(t))

        table = (*right[:k], wrong, *right[k + 1 :])
        found = [Patch(products, p.code, table), Patch(p, "products", table)]
        partial = partial1[p.code]
        if partial is not None:

            def wrong_partial(*values: Any) -> Any:
                d = partial(*values)
                return _noted(mutant, d, change(d))

            found.append(Patch(partial1, p.code, wrong_partial))
        return found

    return patches


def _has_slope(p: Primitive) -> bool:
    """Whether the derivative differs from zero at some smooth sample."""
    for s in p.samples(np.random.default_rng(0)):
        if not s.nonsmooth:
            ts = tangents(np.random.default_rng(0), s.args)
            run = lambda xs, s=s: plain_list(p.impl(*xs, **s.params), p.multiple_results)
            est = directional_derivative(run, list(s.args), ts)
            if np.any(np.abs(est.value) > 8 * est.error):
                return True
    return False


def _declared(p: Primitive, *, slope: bool = False, **attributes: Any) -> Callable[[Mutant], list[Patch]]:
    def patches(mutant: Mutant) -> list[Patch]:
        mutant.touched = not slope or _has_slope(p)
        return [Patch(p, name, value) for name, value in attributes.items()]

    return patches
