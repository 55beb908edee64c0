"""Wrong rules made of right ones: each rule of a primitive changed in one way, to see that the check fails.

A mutant patches the instance (or the tables that pointwise primitives keep by code) inside a context, and notes
whether the changed part ran, whether its change applied, and whether it made a difference.
"""

from __future__ import annotations

import contextlib
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autodidax.core.avals import Masked, is_inexact
from autodidax.core.interpreters import dtype_of, get_aval, shape_of
from autodidax.core.primitive import Primitive, Sample, partial1, products, registry
from autodidax.primitives.shape import reduce_sum
from autodidax.testing import mutation_operators as ops
from autodidax.testing.directions import cotangents, tangents
from autodidax.testing.mutation_operators import Change, detached, each
from autodidax.testing.mutation_sources import called_functions, source_changes
from autodidax.testing.mutation_traces import trace_changes
from autodidax.testing.primitives import has_rule
from autodidax.testing.rules import plain_list
from autodidax.transforms import backward
from autodidax.transforms.derivatives import jvp


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


@dataclass
class Mutant:
    """One rule of one primitive, changed by one operator.

    Of the last application: `ran`, whether a sample ran the rule; `applied`, whether there was something to change;
    `touched`, whether a result was then another one. `order` is that of the derivatives that can show the change.
    """

    primitive: Primitive
    rule: str
    operator: str
    patches: Callable[[Mutant], list[Patch]]
    target: str = ""
    order: int = 1
    factor: float | None = None
    ran: bool = False
    applied: bool = False
    touched: bool = False

    @property
    def id(self) -> str:
        return f"{self.primitive.name}-{self.rule}-{self.operator}" + f" {self.target}" * bool(self.target)

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """The primitive with this rule wrong."""
        self.ran = self.applied = self.touched = False
        patches = self.patches(self)
        done: list[Patch] = []
        try:
            for patch in patches:
                patch.apply()
                done.append(patch)
            yield
        finally:
            for patch in reversed(done):
                patch.undo()

    def note(self, right: Any, wrong: Any) -> Any:
        """Note what a change did to a result, and return the wrong one."""
        self.ran = True
        self.applied = self.applied or not ops.same_object(right, wrong)
        self.touched = self.touched or ops.differ(right, wrong)
        return wrong

    def note_change(self) -> None:
        """Note a change that the rule's own results do not show, or that made the rule raise."""
        self.ran = self.applied = self.touched = True


def mutants(p: Primitive) -> list[Mutant]:
    """Every mutant of a primitive that is checked."""
    if p.checked is not True or not has_rule(p, "samples"):
        return []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = _mutants(p, Facts(p))
    times: Counter[str] = Counter()
    for m in found:  # the same text in several places of a rule
        times[m.id] += 1
        if times[m.id] > 1:
            m.target = f"{m.target} ({times[m.id]})".strip()
    return found


def _mutants(p: Primitive, facts: Facts) -> list[Mutant]:
    found = [*_abstract(p, facts), *_implementation(p, facts)]
    if p.higher_order:
        return found + _traced(p, facts)
    found += _batching(p, facts)
    if p.nondifferentiable:
        return [*found, Mutant(p, "nondifferentiable", "refusal forgotten", _declared(nondifferentiable=None))]
    if p.zero_derivative:
        return found + ([Mutant(p, "zero_derivative", "slope invented", _slope_invented)] if facts.smooth else [])
    if not facts.smooth:
        return found
    found.append(Mutant(p, "zero_derivative", "zero declared", _declared(zero_derivative=True, slope=True)))
    if products[p.code]:
        return found + _products(p, facts)
    if has_rule(p, "jvp") and not (p.linear or p.multilinear):
        found += _jvp(p, facts)
    if has_rule(p, "transpose"):
        found += _cotangents(p, "transpose", facts, p.linear_in or tuple(facts.inexact))
    if p.vjp is not None:
        found += _cotangents(p, "vjp", facts, tuple(facts.inexact))
    if len(facts.inexact) > 1:
        rule = "vjp" if p.vjp is not None else "transpose" if has_rule(p, "transpose") else "jvp"
        found.append(Mutant(p, rule, "not un-broadcast", _not_unbroadcast))
    return found


def unmutated(p: Primitive) -> dict[str, str]:
    """The rules of a primitive that no operator changes, each with the reason."""
    if p.checked is not True:
        return {"all": p.checked if isinstance(p.checked, str) else "its class says checked = False"}
    if not has_rule(p, "samples"):
        return {"all": "it has no samples"}
    if p.zero_derivative and not Facts(p).smooth:
        return {"zero_derivative": "integers and booleans have no derivative"}
    return {}


class Facts:
    """What the samples say of a primitive: operands, results, the sample that other primitives' rules are tried on."""

    def __init__(self, p: Primitive):
        self.samples: list[Sample] = list(p.samples(np.random.default_rng(0)))
        sized = [(k, a) for s in self.samples for k, a in enumerate(s.args) if np.size(a)]
        self.count = max(len(s.args) for s in self.samples)
        self.inexact = sorted({k for k, a in sized if is_inexact(dtype_of(a))})
        self.params = dict.fromkeys(name for s in self.samples for name in s.params)
        avals = [p.out_avals(*map(get_aval, s.args), **s.params) for s in self.samples]
        self.outputs = max(map(len, avals))
        self.inexact_outputs = sorted({k for row in avals for k, a in enumerate(row) if is_inexact(a.dtype)})
        self.smooth = bool(self.inexact and self.inexact_outputs)
        double = any(np.finfo(dtype_of(a)).eps < 1e-10 for _, a in sized if is_inexact(dtype_of(a)))
        self.factor = 1 + (ops.SMALL_ERROR if double else ops.SMALL_ERROR_SINGLE)


# abstract evaluation, implementation, batching


def _abstract(p: Primitive, facts: Facts) -> list[Mutant]:
    found = [_of_result(p, "abstract_eval", name, each(c)) for name, c in ops.ABSTRACT.items()]
    for k in range(facts.outputs) if facts.outputs > 1 else ():
        found += [_of_result(p, "abstract_eval", n, each(c, k), f"of output {k}") for n, c in ops.ABSTRACT.items()]
    return found


def _implementation(p: Primitive, facts: Facts) -> list[Mutant]:
    found = [_of_result(p, "impl", name, each(c)) for name, c in ops.IMPLEMENTATION.items()]
    for k in range(facts.count):
        found.append(Mutant(p, "impl", "operand changed in place", _writing(k), f"operand {k}"))
    return found


def _writing(k: int) -> Callable[[Mutant], list[Patch]]:
    def patches(mutant: Mutant) -> list[Patch]:
        original = mutant.primitive.impl

        def wrong(*args: Any, **params: Any) -> Any:
            out = original(*args, **params)
            mutant.ran = True
            if k < len(args) and type(args[k]) is np.ndarray and args[k].size and args[k].flags.writeable:
                mutant.note_change()
                x = args[k]
                x[...] = ~x if x.dtype.kind == "b" else x + x.dtype.type(1)
            return out

        return [Patch(mutant.primitive, "impl", wrong)]

    return patches


def _batching(p: Primitive, facts: Facts) -> list[Mutant]:
    found = [_of_result(p, "batch", name, ops.of_batch(c)) for name, c in ops.ROWS.items()]
    found.append(_of_result(p, "batch", "dimension forgotten", ops.forgotten_dimension))
    for k in range(facts.outputs) if facts.outputs > 1 else ():
        found.append(_of_result(p, "batch", "rows rolled", ops.of_batch(ops.ROWS["rows rolled"], k), f"of output {k}"))
    for k in range(facts.count):

        def unmapped(args: Any, dims: Any, k: int = k) -> Any:
            if k >= len(dims) or dims[k] is None or not len(args[k]) or not any(d is not None for d in _but(dims, k)):
                return args, dims
            return (*args[:k], args[k][0], *args[k + 1 :]), (*dims[:k], None, *dims[k + 1 :])

        found.append(_of_arguments(p, "batch", "taken for unmapped", unmapped, f"operand {k}"))
    return found + _parameters(p, "batch", facts) + _sources(p, "batch")


def _but(values: Sequence[Any], k: int) -> list[Any]:
    return [v for i, v in enumerate(values) if i != k]


def _parameters(p: Primitive, rule: str, facts: Facts) -> list[Mutant]:
    """The rule with another value of one parameter than the implementation has."""
    found = []
    for name in facts.params:
        if any(ops.other_parameter(name, s.params.get(name), 2) is not s.params.get(name) for s in facts.samples):
            found.append(Mutant(p, rule, "parameter changed", _parameter_patch(rule, name), name))
    return found


def _parameter_patch(rule: str, name: str) -> Callable[[Mutant], list[Patch]]:
    def patches(mutant: Mutant) -> list[Patch]:
        original = getattr(mutant.primitive, rule)

        def wrong(*args: Any, **params: Any) -> Any:
            value = params.get(name)
            other = ops.other_parameter(name, value, _rank(rule, args))
            return _compared(mutant, original, (args, params), (args, params | {name: other}), value is not other)

        return [Patch(mutant.primitive, rule, wrong)]

    return patches


def _rank(rule: str, args: Sequence[Any]) -> int:
    """The highest rank among the first operand that a rule was given and its cotangent."""
    given = {"jvp": lambda: [args[1][0]], "vjp": lambda: [args[2][0]], "transpose": lambda: args[:2]}
    values = given.get(rule, lambda: [args[0][0]])()
    return max(len(shape_of(v.val if type(v) is Masked else v)) for v in values if not isinstance(v, list | tuple))


# derivatives


def _products(p: Primitive, facts: Facts) -> list[Mutant]:
    found = []
    count = len(products[p.code])
    for k in facts.inexact:
        target = f"of operand {k}" if count > 1 else ""
        for name, change in ops.value_changes(facts.factor).items():
            patches = _product_result(k, change)
            found.append(
                Mutant(p, "products", name, patches, target, factor=facts.factor if name == "scaled" else None)
            )
        residual = _product_patch(k, lambda right, t, values: right(t, *map(detached, values)))
        if p.keep[k]:
            found.append(Mutant(p, "products", "residual detached", residual, target, order=2))
        seed = _product_patch(k, lambda right, t, values: right(detached(t), *values))
        found.append(Mutant(p, "products", "cotangent detached", seed, target, order=2))
        for j in facts.inexact:
            if j > k:
                found.append(Mutant(p, "products", "swapped", _swapped_products(k, j), f"of operands {k} and {j}"))
    q = _neighbour(p, lambda q: len(products[q.code]) == count)
    if q is not None:
        found.append(
            Mutant(p, "products", "neighbour's rule", _table_patch(lambda k, q=q: products[q.code][k]), q.name)
        )
    if count > 1:
        found.append(Mutant(p, "products", "not un-broadcast", _not_unbroadcast))
    return found + _sources(p, "products")


Product = Callable[..., Any]


def _product_patch(k: int, wrong: Callable[[Product, Any, Any], Any]) -> Callable[[Mutant], list[Patch]]:
    """One operand's product replaced by wrong(right product, t, values)."""

    def patches(mutant: Mutant) -> list[Patch]:
        right = products[mutant.primitive.code]

        def product(t: Any, *values: Any) -> Any:
            mutant.ran = True
            if mutant.order > 1:
                if any(v is not detached(v) for v in (t, *values)):
                    mutant.note_change()
                return wrong(right[k], t, values)
            changed = lambda t, *values: wrong(right[k], t, values)
            return _compared(mutant, right[k], ((t, *values), {}), ((t, *values), {}), True, changed)

        return _installed(mutant.primitive, (*right[:k], product, *right[k + 1 :]))

    return patches


def _product_result(k: int, change: Change) -> Callable[[Mutant], list[Patch]]:
    """One operand's product, its result changed."""

    def patches(mutant: Mutant) -> list[Patch]:
        right = products[mutant.primitive.code]

        def product(t: Any, *values: Any) -> Any:
            mutant.ran = True
            g = right[k](t, *values)
            return mutant.note(g, change(g))

        return _installed(mutant.primitive, (*right[:k], product, *right[k + 1 :]))

    return patches


def _table_patch(replacement: Callable[[int], Product]) -> Callable[[Mutant], list[Patch]]:
    """Every operand's product replaced by another function of the same arguments."""

    def patches(mutant: Mutant) -> list[Patch]:
        p = mutant.primitive
        right = products[p.code]

        def product(k: int) -> Product:
            return lambda t, *values: _compared(
                mutant, right[k], ((t, *values), {}), ((t, *values), {}), True, replacement(k)
            )

        return _installed(p, tuple(map(product, range(len(right)))), keep_all=True)

    return patches


def _swapped_products(i: int, j: int) -> Callable[[Mutant], list[Patch]]:
    def patches(mutant: Mutant) -> list[Patch]:
        right = products[mutant.primitive.code]
        order = {i: j, j: i}
        return _table_patch(lambda k: right[order.get(k, k)])(mutant)

    return patches


def _installed(p: Any, table: tuple[Product, ...], *, keep_all: bool = False) -> list[Patch]:
    found = [Patch(products, p.code, table), Patch(p, "products", table), Patch(partial1, p.code, None)]
    if keep_all:
        found.append(Patch(p, "keep", ((1 << (p.nin + 1)) - 1,) * p.nin))
    return found


def _jvp(p: Primitive, facts: Facts) -> list[Mutant]:
    found = []
    outputs = facts.inexact_outputs
    several = facts.outputs > 1
    for k in outputs:
        for name, change in ops.value_changes(facts.factor).items():
            mutant = _of_result(p, "jvp", name, each(change, k), f"of output {k}" if several else "")
            mutant.factor = facts.factor if name == "scaled" else None
            found.append(mutant)
    for i, j in ops.pairs(len(outputs)):
        change = ops.swapped(outputs[i], outputs[j])
        found.append(_of_result(p, "jvp", "swapped", change, f"of outputs {outputs[i]} and {outputs[j]}"))
    for k in facts.inexact if len(facts.inexact) > 1 else ():
        if k not in p.linear_in or len(p.linear_in) < len(facts.inexact):
            found.append(Mutant(p, "jvp", "operand ignored", _ignoring(k), f"{k}"))
    for i, j in ops.pairs(len(facts.inexact)):
        a, b = facts.inexact[i], facts.inexact[j]
        swap = ops.swapped(a, b)
        found.append(_of_arguments(p, "jvp", "tangents swapped", lambda out, xs, ts, swap=swap: (out, xs, swap(ts)),
                                   f"of operands {a} and {b}"))  # fmt: skip
    found.append(
        _detaching(p, "jvp", "residual detached", lambda out, xs, ts: (each(detached)(out), each(detached)(xs), ts))
    )
    found.append(_detaching(p, "jvp", "tangent detached", lambda out, xs, ts: (out, xs, each(detached)(ts))))
    return found + _parameters(p, "jvp", facts) + _borrowed(p, "jvp") + _sources(p, "jvp")


def _cotangents(p: Primitive, rule: str, facts: Facts, among: Sequence[int]) -> list[Mutant]:
    """Mutants of a transpose or vjp rule: changes of each operand's cotangent, and of what the rule is given."""
    found = []
    operands = [k for k in facts.inexact if k in among]
    for k in operands:
        for name, change in ops.value_changes(facts.factor).items():
            mutant = _of_result(p, rule, name, each(change, k), f"of operand {k}" if len(operands) > 1 else "")
            mutant.factor = facts.factor if name == "scaled" else None
            found.append(mutant)
    for i, j in ops.pairs(len(operands)):
        change = ops.swapped(operands[i], operands[j])
        found.append(_of_result(p, rule, "swapped", change, f"of operands {operands[i]} and {operands[j]}"))
    if rule == "vjp":
        residual = lambda ct, out, xs, on: (ct, each(detached)(out), each(detached)(xs), on)
        seed = lambda ct, out, xs, on: (each(detached)(ct), out, xs, on)
        found.append(_detaching(p, rule, "residual detached", residual))
    else:
        seed = lambda ct, *args: (each(detached)(ct), *args)
        if not p.linear:
            found.append(_detaching(p, rule, "residual detached", lambda ct, *args: (ct, *map(detached, args))))
    found.append(_detaching(p, rule, "cotangent detached", seed))
    return found + _parameters(p, rule, facts) + _borrowed(p, rule) + _sources(p, rule)


def _ignoring(k: int) -> Callable[[Mutant], list[Patch]]:
    """A jvp rule that takes the tangent of one operand for zero."""

    def patches(mutant: Mutant) -> list[Patch]:
        p = mutant.primitive
        original = p.jvp

        def wrong(out: Any, primals: Any, tangents: Any, **params: Any) -> Any:
            mutant.ran = True
            right = original(out, primals, tangents, **params)
            if k >= len(tangents) or tangents[k] is None:
                return right
            rest = [t if i != k else None for i, t in enumerate(tangents)]
            if any(t is not None for t in rest):
                return mutant.note(right, original(out, primals, rest, **params))
            return mutant.note(right, [None] * len(out) if p.multiple_results else None)

        return [Patch(p, "jvp", wrong)]

    return patches


def _not_unbroadcast(mutant: Mutant) -> list[Patch]:
    """Cotangents of broadcast operands cut to their shape in the place of being summed."""
    original = backward._unbroadcast
    mutant.ran = True

    def wrong(g: Any, shape: tuple[int, ...], reduce: Any) -> Any:
        right, own = original(g, shape, reduce), shape_of(g)
        if reduce is not reduce_sum or 0 in own or own == shape:
            return right
        extra = len(own) - len(shape)
        return mutant.note(right, g[(*(0,) * extra, *(slice(0, n) for n in shape))])

    return [Patch(backward, "_unbroadcast", wrong)]


# the neighbour's rule


def _neighbour(p: Primitive, fits: Callable[[Primitive], bool]) -> Primitive | None:
    """The next primitive of the same module, in the order of registration, that fits."""
    same = [q for q in registry if q.module == p.module]
    if p not in same:
        return None
    place = same.index(p)
    return next((q for q in (*same[place + 1 :], *same[:place]) if fits(q)), None)


def _borrowed(p: Primitive, rule: str) -> list[Mutant]:
    """The rule of the next primitive for which it runs, in the place of one's own."""

    def runs(q: Primitive) -> bool:
        return has_rule(q, rule) and getattr(q, rule) is not None and not products[q.code] and _runs(p, q, rule)

    q = _neighbour(p, runs)
    if q is None:
        return []

    return [Mutant(p, rule, "neighbour's rule", _replaced(rule, getattr(q, rule)), q.name)]


def _runs(p: Primitive, q: Primitive, rule: str) -> bool:
    """Whether q's rule gives results for the operands of some sample of p."""
    rng = np.random.default_rng(0)
    for s in p.samples(rng):
        if s.nonsmooth or not any(np.size(a) > 1 for a in s.args):
            continue
        out = p.impl(*s.args, **s.params)
        cts = cotangents(rng, plain_list(out, p.multiple_results))
        ct = cts if p.multiple_results else cts[0]
        linear = p.linear_in or range(len(s.args))
        given: tuple[Any, ...] = (out, s.args, tangents(rng, s.args))
        if rule == "transpose":
            given = (ct, *(get_aval(a) if k in linear else a for k, a in enumerate(s.args)))
        elif rule == "vjp":
            given = (ct, out, s.args, tuple(is_inexact(dtype_of(a)) for a in s.args))
        try:
            got = getattr(q, rule)(*given, **s.params)
        except Exception:  # of whatever kind: the operands are another primitive's
            continue
        likes = plain_list(out, p.multiple_results) if rule == "jvp" else s.args
        got = got if isinstance(got, list | tuple) else [got]
        values = [g.val if type(g) is Masked else g for g in got]
        if len(values) == len(likes) and all(map(_fits, values, likes)):
            return True
    return False


def _fits(g: Any, like: Any) -> bool:
    return g is None or shape_of(g) == shape_of(like)


# declarations


def _declared(*, slope: bool = False, **attributes: Any) -> Callable[[Mutant], list[Patch]]:
    def patches(mutant: Mutant) -> list[Patch]:
        mutant.ran = True
        if not slope or _has_slope(mutant.primitive):
            mutant.note_change()
        return [Patch(mutant.primitive, name, value) for name, value in attributes.items()]

    return patches


def _has_slope(p: Primitive) -> bool:
    """Whether the rules give a derivative other than zero at some smooth sample."""
    rng = np.random.default_rng(0)
    for s in p.samples(rng):
        if not s.nonsmooth:
            run = lambda *xs, s=s: plain_list(p.bind(*xs, **s.params), p.multiple_results)
            ts = jvp(run, s.args, tuple(tangents(rng, s.args)))[1]
            if any(is_inexact(dtype_of(t)) and np.any(t) for t in ts):
                return True
    return False


def _slope_invented(mutant: Mutant) -> list[Patch]:
    """A piecewise constant function with the derivative of the identity."""

    def slope(out: Any, primals: Any, tangents: Any, **params: Any) -> Any:
        mutant.note_change()
        return next(t for t in tangents if t is not None)

    return [Patch(mutant.primitive, "zero_derivative", False), Patch(mutant.primitive, "jvp", slope)]


# how rules are changed


def _of_result(p: Primitive, rule: str, name: str, change: Change, target: str = "") -> Mutant:
    def patches(mutant: Mutant) -> list[Patch]:
        original = getattr(p, rule)

        def wrong(*args: Any, **params: Any) -> Any:
            out = original(*args, **params)
            return mutant.note(out, change(out))

        return [Patch(p, rule, wrong)]

    return Mutant(p, rule, name, patches, target)


def _of_arguments(p: Primitive, rule: str, name: str, change: Callable[..., Any], target: str = "") -> Mutant:
    """The rule given other arguments."""

    def patches(mutant: Mutant) -> list[Patch]:
        original = getattr(p, rule)

        def wrong(*args: Any, **params: Any) -> Any:
            other = tuple(change(*args))
            applies = not all(map(ops.same_object, args, other))
            return _compared(mutant, original, (args, params), (other, params), applies)

        return [Patch(p, rule, wrong)]

    return Mutant(p, rule, name, patches, target)


def _detaching(p: Primitive, rule: str, name: str, change: Callable[..., Any]) -> Mutant:
    """The rule given values without their derivatives, which shows from order 2 on."""

    def patches(mutant: Mutant) -> list[Patch]:
        original = getattr(p, rule)

        def wrong(*args: Any, **params: Any) -> Any:
            mutant.ran = True
            other = tuple(change(*args))
            if not all(map(ops.same_object, args, other)):
                mutant.note_change()
            return original(*other, **params)

        return [Patch(p, rule, wrong)]

    return Mutant(p, rule, name, patches, order=2)


def _compared(
    mutant: Mutant, original: Any, given: Any, changed: Any, applies: bool, other: Callable[..., Any] | None = None
) -> Any:
    """The result of a rule (or of another) with changed arguments and parameters, compared with the right one."""
    mutant.ran = True
    right = original(*given[0], **given[1])
    if not applies:
        return right
    try:
        wrong = (other or original)(*changed[0], **changed[1])
    except Exception:
        mutant.note_change()
        raise
    return mutant.note(right, wrong)


def _sources(p: Any, rule: str) -> list[Mutant]:
    """The rule with one term, factor, sign or call of its source changed, or of a function of its module it calls."""
    found = []
    if rule == "products":
        for k, function in enumerate(p.partials or p.products):
            for name, where, changed in _changed_sources(function):
                product = (lambda t, *values, d=changed: t * d(*values)) if p.partials else changed
                wrong = lambda right, t, values, product=product: product(t, *values)
                found.append(Mutant(p, rule, name, _product_patch(k, wrong), where))
        return found
    method = getattr(p, rule)
    function = getattr(method, "__func__", method)
    if getattr(function, "__module__", "") == Primitive.__module__ and p is not _first_of_two_operands():
        return []  # of all pointwise primitives: changed once
    for name, where, changed in _changed_sources(function):
        other = types.MethodType(changed, p) if function is not method else changed
        found.append(Mutant(p, rule, name, _replaced(rule, other), where))
    return found


def _first_of_two_operands() -> Primitive | None:
    return next((p for p in registry if products[p.code] and getattr(p, "nin", 0) == 2), None)


def _changed_sources(function: Any) -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Changes of a function's own source, and of the functions of its module that it calls."""
    if not isinstance(function, types.FunctionType):
        return
    yield from source_changes(function)
    for name, helper in called_functions(function).items():
        for operator, where, changed in source_changes(helper):
            yield operator, f"{where}, in {name}", _calling(function, name, changed)


def _calling(function: Callable[..., Any], name: str, changed: Any) -> Callable[..., Any]:
    """A function that finds a changed one under a name of its module."""

    def wrong(*args: Any, **params: Any) -> Any:
        names = changed.__globals__
        right = names[name]
        names[name] = changed
        try:
            return function(*args, **params)
        finally:
            names[name] = right

    return wrong


def _replaced(rule: str, other: Callable[..., Any]) -> Callable[[Mutant], list[Patch]]:
    """Another function in the place of a rule."""

    def patches(mutant: Mutant) -> list[Patch]:
        original = getattr(mutant.primitive, rule)

        def wrong(*args: Any, **params: Any) -> Any:
            return _compared(mutant, original, (args, params), (args, params), True, other)

        return [Patch(mutant.primitive, rule, wrong)]

    return patches


def _traced(p: Primitive, facts: Facts) -> list[Mutant]:
    """Mutants of the rules of a primitive that handles the traces itself."""
    found = []
    for rule, name, order, wrapper in trace_changes(facts.factor):

        def patches(mutant: Mutant, rule: str = rule, wrapper: Any = wrapper) -> list[Patch]:
            return [Patch(p, rule, wrapper(mutant, getattr(p, rule)))]

        operator, _, target = name.partition(", ")
        factor = facts.factor if operator == "scaled" else None
        found.append(Mutant(p, rule, operator, patches, target, order=order, factor=factor))
    return found
