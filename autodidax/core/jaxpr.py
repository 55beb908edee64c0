"""The jaxpr: a typed program of primitive applications, its evaluator and its checker."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core import interpreters, sources
from autodidax.core.avals import ShapedArray, shapes_agree
from autodidax.core.interpreters import get_aval, quietly
from autodidax.core.sources import Mark, Source


class Var:
    """A variable of a jaxpr; its name is given by the printer."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray):
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var:{self.aval!r}"


class Literal:
    """A scalar constant written into the program."""

    __slots__ = ("val", "aval")

    def __init__(self, val: Any, aval: ShapedArray | None = None):
        self.val = val
        self.aval = aval if aval is not None else get_aval(val)

    def __repr__(self) -> str:
        return f"{self.val}:{self.aval!r}"


Atom = Var | Literal


class JaxprEqn:
    """`outvars = primitive[params] invars`; `quiet`: it belongs to a backward pass, which gives no warnings; `mark`:
    where it comes from, `source` in short."""

    __slots__ = ("primitive", "invars", "outvars", "params", "quiet", "mark")

    def __init__(
        self,
        primitive: Any,
        invars: list[Atom],
        outvars: list[Var],
        params: dict[str, Any],
        quiet: bool = False,
        mark: Mark | None = None,
    ):
        self.quiet = quiet
        self.mark = mark
        self.primitive = primitive
        self.invars = invars
        self.outvars = outvars
        self.params = params

    @property
    def source(self) -> Source | None:
        """Where it comes from, as far as that is known."""
        return None if self.mark is None else Source._make(self.mark)

    @property
    def has_effect(self) -> bool:
        """Whether it does something beside computing its results, itself or in a program that it carries: then every
        pass keeps it, once and in its place."""
        return self.primitive.effect or any(map(has_effects, subjaxprs(self.params)))


class Jaxpr:
    """`{ lambda constvars ; invars . let eqns in outvars }`."""

    __slots__ = ("constvars", "invars", "outvars", "eqns")

    def __init__(self, constvars: list[Var], invars: list[Var], outvars: list[Atom], eqns: list[JaxprEqn]):
        self.constvars = constvars
        self.invars = invars
        self.outvars = outvars
        self.eqns = eqns

    def pretty_print(self, *, source_info: bool = False, name_stack: bool = False) -> str:
        """The printed form; behind each equation its file and line, and the named scopes it stands in."""
        return printer(self, source_info, name_stack)

    def __repr__(self) -> str:
        return printer(self, False, False)

    __str__ = __repr__

    def __reduce__(self) -> Any:
        return reducer(self)

    def __copy__(self) -> Jaxpr:
        return self  # programs are not changed once they are made

    def __deepcopy__(self, memo: dict[int, Any]) -> Jaxpr:
        return self


class ClosedJaxpr:
    """A jaxpr with the values of its constants. Transforms of it and its compiled form are remembered on it, so that
    they live exactly as long as it does."""

    __slots__ = ("jaxpr", "consts", "derived", "__weakref__")

    def __init__(self, jaxpr: Jaxpr, consts: list[Any]):
        self.jaxpr = jaxpr
        self.consts = consts
        self.derived: dict[Any, Any] = {}

    @property
    def in_avals(self) -> list[ShapedArray]:
        return [v.aval for v in self.jaxpr.invars]

    @property
    def out_avals(self) -> list[ShapedArray]:
        return [v.aval for v in self.jaxpr.outvars]

    @property
    def eqns(self) -> list[JaxprEqn]:
        return self.jaxpr.eqns

    @property
    def literals(self) -> list[Any]:
        return self.consts

    def pretty_print(self, *, source_info: bool = False, name_stack: bool = False) -> str:
        """The printed form; behind each equation its file and line, and the named scopes it stands in."""
        return printer(self.jaxpr, source_info, name_stack)

    def __repr__(self) -> str:
        return printer(self.jaxpr, False, False)

    __str__ = __repr__

    def __reduce__(self) -> Any:
        return reducer(self)

    def __copy__(self) -> ClosedJaxpr:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> ClosedJaxpr:
        return self


printer: Callable[[Jaxpr, bool, bool], str] = lambda jaxpr, *_: f"<jaxpr of {len(jaxpr.eqns)} equations>"
reducer: Callable[[Any], Any] = object.__reduce__
"""What pickle keeps of a program; ``autodidax`` puts that of its ``export`` here."""


def jaxpr_as_fun(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    """The program as a function of its inputs that returns the list of its outputs."""
    return lambda *args: eval_jaxpr(closed.jaxpr, closed.consts, *args)


def eval_jaxpr(jaxpr: Jaxpr, consts: Any, *args: Any) -> list[Any]:
    """Run a jaxpr equation by equation through `bind`: the operands may be tracers.

    >>> import autodidax
    >>> closed = autodidax.make_jaxpr(lambda x: 2.0 * x)(1.0)
    >>> eval_jaxpr(closed.jaxpr, closed.consts, 3.0)
    [6.0]
    """
    if not isinstance(jaxpr, Jaxpr):
        raise errors.ArgumentError(
            f"eval_jaxpr takes a jaxpr and its constants, got {type(jaxpr).__name__}",
            mend="write eval_jaxpr(closed.jaxpr, closed.consts, *leaves)",
        )
    if len(consts) != len(jaxpr.constvars):
        raise errors.ArgumentError(
            f"eval_jaxpr: the jaxpr has {errors.counted(len(jaxpr.constvars), 'constant')}, {len(consts)} were given",
            mend="give those of the closed jaxpr: eval_jaxpr(closed.jaxpr, closed.consts, *leaves)",
        )
    if len(args) != len(jaxpr.invars):
        raise errors.ArgumentError(
            f"eval_jaxpr: the jaxpr has {len(jaxpr.invars)} inputs, {len(args)} were given",
            mend="flatten the arguments: eval_jaxpr(jaxpr, consts, *leaves)",
        )
    env: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))
    steps = zip(jaxpr.eqns, last_uses(jaxpr), strict=True)
    token = sources.given.set(sources.given.get())
    try:
        for quiet, group in itertools.groupby(steps, key=lambda step: step[0].quiet):
            with quietly() if quiet else contextlib.nullcontext():
                _eval_equations(group, env)
    finally:
        sources.given.reset(token)
    return [v.val if type(v) is Literal else env[v] for v in jaxpr.outvars]


def _eval_equations(steps: Any, env: dict[Any, Any]) -> None:
    attribute = sources.given.set if interpreters.stagings_open or sources.noting else None
    for eqn, dying in steps:
        if attribute is not None:
            attribute((eqn.mark, eqn.primitive.name))
        values = [v.val if type(v) is Literal else env[v] for v in eqn.invars]
        out = eqn.primitive.bind(*values, **eqn.params)
        if eqn.primitive.multiple_results:
            env.update(zip(eqn.outvars, out, strict=True))
        else:
            env[eqn.outvars[0]] = out
        for v in dying:
            del env[v]


errors.evaluators.add(_eval_equations.__code__)


def last_uses(jaxpr: Jaxpr) -> list[list[Var]]:
    """For each equation the variables that nothing reads after it."""
    seen: set[Any] = {v for v in jaxpr.outvars if type(v) is Var}
    out: list[list[Var]] = []
    for eqn in reversed(jaxpr.eqns):
        dying: list[Var] = []
        for v in (*eqn.invars, *eqn.outvars):
            if type(v) is Var and v not in seen:
                seen.add(v)
                dying.append(v)
        out.append(dying)
    out.reverse()
    return out


def subjaxprs(params: dict[str, Any]) -> Iterator[ClosedJaxpr]:
    """The jaxprs that an equation carries in its parameters."""
    for v in params.values():
        for item in v if isinstance(v, tuple | list) else (v,):
            if isinstance(item, ClosedJaxpr):
                yield item


def has_effects(closed: ClosedJaxpr) -> bool:
    """Whether a program does something beside computing its results."""
    found = closed.derived.get("effects")
    if found is None:
        found = closed.derived["effects"] = any(eqn.has_effect for eqn in closed.jaxpr.eqns)
    return found


def misfit(
    what: str, program: ClosedJaxpr, avals: Sequence[ShapedArray], results: Sequence[ShapedArray] | None = None
) -> str | None:
    """What is wrong with calling a program on operands of these avals, for results of those; None where it fits."""
    if not _all_agree(program.in_avals, avals):
        return f"{what} takes {program.in_avals}, is given {list(avals)}"
    if results is not None and not _all_agree(program.out_avals, results):
        return f"{what} returns {program.out_avals}, where {list(results)} belongs"
    return None


def _all_agree(a: Sequence[ShapedArray], b: Sequence[ShapedArray]) -> bool:
    return len(a) == len(b) and all(
        m.dtype == n.dtype and shapes_agree(m.shape, n.shape) for m, n in zip(a, b, strict=True)
    )


def check_jaxpr(jaxpr: Jaxpr | ClosedJaxpr, checked: set[int] | None = None) -> None:
    """Raise JaxprError unless every variable is bound once, before its use; every equation's output avals are those of
    its primitive's abstract evaluation; literals and constants have the avals that are written beside them; and
    programs in parameters are right likewise, and take what their equation gives them.

    `checked`: the ids of programs that are known to be right already; those that are found to be so join them."""
    checked = set() if checked is None else checked
    if id(jaxpr) in checked:
        return
    checked.add(id(jaxpr))
    if isinstance(jaxpr, ClosedJaxpr):
        constants = [get_aval(c) for c in jaxpr.consts]
        if not _all_agree([v.aval for v in jaxpr.jaxpr.constvars], constants):
            variables = [v.aval for v in jaxpr.jaxpr.constvars]
            raise errors.JaxprError(
                f"the constants are {constants}, their variables {variables}", mend="give each variable its constant"
            )
        jaxpr = jaxpr.jaxpr
    bound: set[Var] = set()

    def define(v: Var, where: str) -> None:
        if type(v) is not Var or v in bound:
            raise errors.JaxprError(f"{where}: {v!r} is bound twice or is no variable", mend="bind each variable once")
        bound.add(v)

    def read(a: Atom, where: str) -> None:
        if type(a) is Var and a not in bound:
            raise errors.JaxprError(f"{where}: reads {a!r} before it is bound", mend="order the equations")
        if type(a) is Literal and np.shape(a.val) != ():
            raise errors.JaxprError(f"{where}: the literal {a!r} is no scalar", mend="make it a constant")
        if type(a) is Literal and not _all_agree([a.aval], [get_aval(a.val)]):
            raise errors.JaxprError(
                f"{where}: the literal {a.val!r} is said to be {a.aval!r}", mend="make it a number of that dtype"
            )

    for v in (*jaxpr.constvars, *jaxpr.invars):
        define(v, "inputs")
    for i, eqn in enumerate(jaxpr.eqns):
        where = f"equation {i} ({eqn.primitive.name})"
        for a in eqn.invars:
            read(a, where)
        operands = [a.aval for a in eqn.invars]
        want = eqn.primitive.out_avals(*operands, **eqn.params)
        got = [v.aval for v in eqn.outvars]
        if len(want) != len(got) or any(
            w.shape != g.shape or w.dtype != g.dtype for w, g in zip(want, got, strict=True)
        ):
            raise errors.JaxprError(f"{where}: outputs are {got}, its rule says {want}", mend="correct the avals")
        for sub in subjaxprs(eqn.params):
            check_jaxpr(sub, checked)
        problem = eqn.primitive.operand_error(operands, eqn.params)
        if problem is not None:
            raise errors.JaxprError(f"{where}: {problem}", mend="call a program on what it takes")
        for v in eqn.outvars:
            define(v, where)
    for a in jaxpr.outvars:
        if type(a) is Var and a not in bound:
            raise errors.JaxprError(f"output {a!r} is not bound", mend="return a variable of the program")
        read(a, "outputs")
