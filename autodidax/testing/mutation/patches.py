"""How a rule is made wrong: what is put in its place on the primitive, and what the mutant notes while that is run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autodidax.core.avals import Masked, is_inexact
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.core.primitive import Primitive, partial1, products
from autodidax.primitives.shape import reduce_sum
from autodidax.testing.directions import tangents
from autodidax.testing.mutation import operators as ops
from autodidax.testing.mutation.operators import Change, detached
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
    shared: bool = False  # the changed part belongs to other primitives too
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


Patches = Callable[[Mutant], list[Patch]]


# how rules are changed


def of_result(p: Primitive, rule: str, name: str, change: Change, target: str = "") -> Mutant:
    def patches(mutant: Mutant) -> list[Patch]:
        original = getattr(p, rule)

        def wrong(*args: Any, **params: Any) -> Any:
            out = original(*args, **params)
            return mutant.note(out, change(out))

        return [Patch(p, rule, wrong)]

    return Mutant(p, rule, name, patches, target)


def of_arguments(p: Primitive, rule: str, name: str, change: Callable[..., Any], target: str = "") -> Mutant:
    """The rule given other arguments."""

    def patches(mutant: Mutant) -> list[Patch]:
        original = getattr(p, rule)

        def wrong(*args: Any, **params: Any) -> Any:
            other = tuple(change(*args))
            applies = not all(map(ops.same_object, args, other))
            return compared(mutant, original, (args, params), (other, params), applies)

        return [Patch(p, rule, wrong)]

    return Mutant(p, rule, name, patches, target)


def detaching(p: Primitive, rule: str, name: str, change: Callable[..., Any]) -> Mutant:
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


def compared(
    mutant: Mutant,
    original: Callable[..., Any],
    given: Any,
    changed: Any,
    applies: bool,
    other: Callable[..., Any] | None = None,
    hits: list[None] | None = None,
) -> Any:
    """The result of a rule (or of another) with changed arguments and parameters, compared with the right one.

    Where the other has a list of hits, it counts as run only when that grows."""
    mutant.ran = mutant.ran or hits is None
    right = original(*given[0], **given[1])
    if not applies:
        return right
    before = 0 if hits is None else len(hits)
    try:
        wrong = (other or original)(*changed[0], **changed[1])
    except Exception:
        mutant.note_change()
        raise
    if hits is not None and len(hits) == before:
        return right
    return mutant.note(right, wrong)


def calling(function: Any, name: str, changed: Any) -> Callable[..., Any]:
    """A function that finds a changed one under a name of its module."""

    def wrong(*args: Any, **params: Any) -> Any:
        names = function.__globals__
        right = names[name]
        names[name] = changed
        try:
            return function(*args, **params)
        finally:
            names[name] = right

    return wrong


def replaced(rule: str, other: Callable[..., Any], hits: list[None] | None = None) -> Patches:
    """Another function in the place of a rule."""

    def patches(mutant: Mutant) -> list[Patch]:
        original = getattr(mutant.primitive, rule)

        def wrong(*args: Any, **params: Any) -> Any:
            return compared(mutant, original, (args, params), (args, params), True, other, hits)

        return [Patch(mutant.primitive, rule, wrong)]

    return patches


def parameter_patch(rule: str, name: str) -> Patches:
    def patches(mutant: Mutant) -> list[Patch]:
        original = getattr(mutant.primitive, rule)

        def wrong(*args: Any, **params: Any) -> Any:
            value = params.get(name)
            other = ops.other_parameter(name, value, _rank(rule, args))
            return compared(mutant, original, (args, params), (args, params | {name: other}), value is not other)

        return [Patch(mutant.primitive, rule, wrong)]

    return patches


def _rank(rule: str, args: Sequence[Any]) -> int:
    """The highest rank among the first operand that a rule was given and its cotangent."""
    given = {"jvp": lambda: [args[1][0]], "vjp": lambda: [args[2][0]], "transpose": lambda: args[:2]}
    values = given.get(rule, lambda: [args[0][0]])()
    return max(len(shape_of(v.val if type(v) is Masked else v)) for v in values if not isinstance(v, list | tuple))


# implementations and products


def writing(k: int) -> Patches:
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


Product = Callable[..., Any]


def product_patch(k: int, wrong: Callable[[Product, Any, Any], Any], hits: list[None] | None = None) -> Patches:
    """One operand's product replaced by wrong(right product, t, values)."""

    def patches(mutant: Mutant) -> list[Patch]:
        right = products[mutant.primitive.code]

        def product(t: Any, *values: Any) -> Any:
            if mutant.order > 1:
                mutant.ran = True
                if any(v is not detached(v) for v in (t, *values)):
                    mutant.note_change()
                return wrong(right[k], t, values)
            changed = lambda t, *values: wrong(right[k], t, values)
            return compared(mutant, right[k], ((t, *values), {}), ((t, *values), {}), True, changed, hits)

        return _installed(mutant.primitive, (*right[:k], product, *right[k + 1 :]))

    return patches


def product_result(k: int, change: Change) -> Patches:
    """One operand's product, its result changed."""

    def patches(mutant: Mutant) -> list[Patch]:
        right = products[mutant.primitive.code]

        def product(t: Any, *values: Any) -> Any:
            mutant.ran = True
            g = right[k](t, *values)
            return mutant.note(g, change(g))

        return _installed(mutant.primitive, (*right[:k], product, *right[k + 1 :]))

    return patches


def table_patch(replacement: Callable[[int], Product]) -> Patches:
    """Every operand's product replaced by another function of the same arguments."""

    def patches(mutant: Mutant) -> list[Patch]:
        p = mutant.primitive
        right = products[p.code]

        def product(k: int) -> Product:
            return lambda t, *values: compared(
                mutant, right[k], ((t, *values), {}), ((t, *values), {}), True, replacement(k)
            )

        return _installed(p, tuple(map(product, range(len(right)))), keep_all=True)

    return patches


def swapped_products(i: int, j: int) -> Patches:
    def patches(mutant: Mutant) -> list[Patch]:
        right = products[mutant.primitive.code]
        order = {i: j, j: i}
        return table_patch(lambda k: right[order.get(k, k)])(mutant)

    return patches


def _installed(p: Any, table: tuple[Product, ...], *, keep_all: bool = False) -> list[Patch]:
    found = [Patch(products, p.code, table), Patch(p, "products", table), Patch(partial1, p.code, None)]
    if keep_all:
        found.append(Patch(p, "keep", ((1 << (p.nin + 1)) - 1,) * p.nin))
    return found


def ignoring(k: int) -> Patches:
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


def not_unbroadcast(mutant: Mutant) -> list[Patch]:
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


# declarations


def declared(*, slope: bool = False, **attributes: Any) -> Patches:
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


def slope_invented(mutant: Mutant) -> list[Patch]:
    """A piecewise constant function with the derivative of the identity."""

    def slope(out: Any, primals: Any, tangents: Any, **params: Any) -> Any:
        mutant.note_change()
        return next(t for t in tangents if t is not None)

    return [Patch(mutant.primitive, "zero_derivative", False), Patch(mutant.primitive, "jvp", slope)]
