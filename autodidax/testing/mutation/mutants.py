"""Wrong rules made of right ones: each rule of a primitive changed in one way, to see that the check fails.

A mutant patches the instance (or the tables that pointwise primitives keep by code) inside a context, and notes
whether the changed part ran, whether its change applied, and whether it made a difference.
"""

from __future__ import annotations

import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autodidax.core.avals import Masked, is_inexact
from autodidax.core.interpreters import dtype_of, get_aval, shape_of
from autodidax.core.primitive import Primitive, Sample, products, registry
from autodidax.testing.completeness import has_rule
from autodidax.testing.directions import cotangents, tangents
from autodidax.testing.mutation import operators as ops
from autodidax.testing.mutation.operators import detached, each
from autodidax.testing.mutation.patches import (
    Mutant,
    Patch,
    calling,
    declared,
    detaching,
    ignoring,
    not_unbroadcast,
    of_arguments,
    of_result,
    parameter_patch,
    product_patch,
    product_result,
    replaced,
    slope_invented,
    swapped_products,
    table_patch,
    writing,
)
from autodidax.testing.mutation.sources import Changed, called_functions, source_changes
from autodidax.testing.mutation.traces import trace_changes
from autodidax.testing.rules import plain_list


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
        return [*found, Mutant(p, "nondifferentiable", "refusal forgotten", declared(nondifferentiable=None))]
    if p.zero_derivative:
        return found + ([Mutant(p, "zero_derivative", "slope invented", slope_invented)] if facts.smooth else [])
    if not facts.smooth:
        return found
    found.append(Mutant(p, "zero_derivative", "zero declared", declared(zero_derivative=True, slope=True)))
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
        found.append(Mutant(p, rule, "not un-broadcast", not_unbroadcast))
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
    found = [of_result(p, "abstract_eval", name, each(c)) for name, c in ops.ABSTRACT.items()]
    for k in range(facts.outputs) if facts.outputs > 1 else ():
        found += [of_result(p, "abstract_eval", n, each(c, k), f"of output {k}") for n, c in ops.ABSTRACT.items()]
    return found


def _implementation(p: Primitive, facts: Facts) -> list[Mutant]:
    found = [of_result(p, "impl", name, each(c)) for name, c in ops.IMPLEMENTATION.items()]
    for k in range(facts.count):
        found.append(Mutant(p, "impl", "operand changed in place", writing(k), f"operand {k}"))
    return found


def _batching(p: Primitive, facts: Facts) -> list[Mutant]:
    found = [of_result(p, "batch", name, ops.of_batch(c)) for name, c in ops.ROWS.items()]
    found.append(of_result(p, "batch", "dimension forgotten", ops.forgotten_dimension))
    for k in range(facts.outputs) if facts.outputs > 1 else ():
        found.append(of_result(p, "batch", "rows rolled", ops.of_batch(ops.ROWS["rows rolled"], k), f"of output {k}"))
    for k in range(facts.count):

        def unmapped(args: Any, dims: Any, k: int = k) -> Any:
            if k >= len(dims) or dims[k] is None or not len(args[k]) or not any(d is not None for d in _but(dims, k)):
                return args, dims
            return (*args[:k], args[k][0], *args[k + 1 :]), (*dims[:k], None, *dims[k + 1 :])

        found.append(of_arguments(p, "batch", "taken for unmapped", unmapped, f"operand {k}"))
    return found + _parameters(p, "batch", facts) + _sources(p, "batch")


def _but(values: Sequence[Any], k: int) -> list[Any]:
    return [v for i, v in enumerate(values) if i != k]


def _parameters(p: Primitive, rule: str, facts: Facts) -> list[Mutant]:
    """The rule with another value of one parameter than the implementation has."""
    found = []
    for name in facts.params:
        if any(ops.other_parameter(name, s.params.get(name), 2) is not s.params.get(name) for s in facts.samples):
            found.append(Mutant(p, rule, "parameter changed", parameter_patch(rule, name), name))
    return found


# derivatives


def _products(p: Any, facts: Facts) -> list[Mutant]:
    found = []
    count = len(products[p.code])
    for k in facts.inexact:
        target = f"of operand {k}" if count > 1 else ""
        for name, change in ops.value_changes(facts.factor).items():
            factor = facts.factor if name == "scaled" else None
            found.append(Mutant(p, "products", name, product_result(k, change), target, factor=factor))
        residual = product_patch(k, lambda right, t, values: right(t, *map(detached, values)))
        if p.keep[k]:
            found.append(Mutant(p, "products", "residual detached", residual, target, order=2))
        seed = product_patch(k, lambda right, t, values: right(detached(t), *values))
        found.append(Mutant(p, "products", "cotangent detached", seed, target, order=2))
        for j in facts.inexact:
            if j > k:
                found.append(Mutant(p, "products", "swapped", swapped_products(k, j), f"of operands {k} and {j}"))
    q = _neighbour(p, lambda q: len(products[q.code]) == count)
    if q is not None:
        found.append(Mutant(p, "products", "neighbour's rule", table_patch(lambda k, q=q: products[q.code][k]), q.name))
    if count > 1:
        found.append(Mutant(p, "products", "not un-broadcast", not_unbroadcast))
    return found + _sources(p, "products")


def _jvp(p: Primitive, facts: Facts) -> list[Mutant]:
    found = []
    outputs = facts.inexact_outputs
    several = facts.outputs > 1
    for k in outputs:
        for name, change in ops.value_changes(facts.factor).items():
            mutant = of_result(p, "jvp", name, each(change, k), f"of output {k}" if several else "")
            mutant.factor = facts.factor if name == "scaled" else None
            found.append(mutant)
    for i, j in ops.pairs(len(outputs)):
        change = ops.swapped(outputs[i], outputs[j])
        found.append(of_result(p, "jvp", "swapped", change, f"of outputs {outputs[i]} and {outputs[j]}"))
    for k in facts.inexact if len(facts.inexact) > 1 else ():
        if k not in p.linear_in or len(p.linear_in) < len(facts.inexact):
            found.append(Mutant(p, "jvp", "operand ignored", ignoring(k), f"{k}"))
    for i, j in ops.pairs(len(facts.inexact)):
        a, b = facts.inexact[i], facts.inexact[j]
        swap = ops.swapped(a, b)
        found.append(of_arguments(p, "jvp", "tangents swapped", lambda out, xs, ts, swap=swap: (out, xs, swap(ts)),
                                   f"of operands {a} and {b}"))  # fmt: skip
    found.append(
        detaching(p, "jvp", "residual detached", lambda out, xs, ts: (each(detached)(out), each(detached)(xs), ts))
    )
    found.append(detaching(p, "jvp", "tangent detached", lambda out, xs, ts: (out, xs, each(detached)(ts))))
    return found + _parameters(p, "jvp", facts) + _borrowed(p, "jvp") + _sources(p, "jvp")


def _cotangents(p: Primitive, rule: str, facts: Facts, among: Sequence[int]) -> list[Mutant]:
    """Mutants of a transpose or vjp rule: changes of each operand's cotangent, and of what the rule is given."""
    found = []
    operands = [k for k in facts.inexact if k in among]
    for k in operands:
        for name, change in ops.value_changes(facts.factor).items():
            mutant = of_result(p, rule, name, each(change, k), f"of operand {k}" if len(operands) > 1 else "")
            mutant.factor = facts.factor if name == "scaled" else None
            found.append(mutant)
    for i, j in ops.pairs(len(operands)):
        change = ops.swapped(operands[i], operands[j])
        found.append(of_result(p, rule, "swapped", change, f"of operands {operands[i]} and {operands[j]}"))
    if rule == "vjp":
        residual = lambda ct, out, xs, on: (ct, each(detached)(out), each(detached)(xs), on)
        seed = lambda ct, out, xs, on: (each(detached)(ct), out, xs, on)
        found.append(detaching(p, rule, "residual detached", residual))
    else:
        seed = lambda ct, *args: (each(detached)(ct), *args)
        if not p.linear:
            found.append(detaching(p, rule, "residual detached", lambda ct, *args: (ct, *map(detached, args))))
    found.append(detaching(p, rule, "cotangent detached", seed))
    return found + _parameters(p, rule, facts) + _borrowed(p, rule) + _sources(p, rule)


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
    return [Mutant(p, rule, "neighbour's rule", replaced(rule, getattr(q, rule)), q.name)]


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


def _sources(p: Any, rule: str) -> list[Mutant]:
    """The rule with one term, factor, sign or call of its source changed, or of a function of its module it calls."""
    found = []
    if rule == "products":
        for k, function in enumerate(p.partials or p.products):
            for own, c in _changed_sources(function):
                product = (lambda t, *values, d=c.function: t * d(*values)) if p.partials else c.function
                wrong = lambda right, t, values, product=product: product(t, *values)
                patches = product_patch(k, wrong, c.hits)
                found.append(Mutant(p, rule, c.operator, patches, c.text, shared=not own))
        return found
    method = getattr(p, rule)
    function = getattr(method, "__func__", method)
    if getattr(function, "__module__", "") == Primitive.__module__ and p is not _first_of_two_operands():
        return []  # of all pointwise primitives: changed once
    inherited = rule not in vars(type(p)) or sum(type(q) is type(p) for q in registry) > 1
    for own, c in _changed_sources(function):
        other = types.MethodType(c.function, p) if function is not method else c.function
        patches = replaced(rule, other, c.hits)
        found.append(Mutant(p, rule, c.operator, patches, c.text, shared=inherited or not own))
    return found


def _first_of_two_operands() -> Primitive | None:
    return next((p for p in registry if products[p.code] and getattr(p, "nin", 0) == 2), None)


def _changed_sources(function: Any) -> Iterator[tuple[bool, Changed]]:
    """Changes of a function's own source (True), and of the functions of its module that it calls (False)."""
    if not isinstance(function, types.FunctionType):
        return
    for c in source_changes(function):
        yield True, c
    for name, helper in called_functions(function).items():
        for c in source_changes(helper):
            yield False, Changed(c.operator, f"{c.text}, in {name}", calling(function, name, c.function), c.hits)


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
