"""Reverse mode: the record of a computation, and linear-recording tracers for rules that are run backward.

A record is a list with one flat tuple a node. Its kinds differ in length:

- input: `None`
- projection `(k, i)`: output k of the node i with several outputs
- call `(call, ins, count)`: `call.pull(cts)` gives one cotangent an input (higher-order primitives, custom rules)
- unary pointwise `(code, n, x, out)`
- index `(code, n, index, shape, dtype)`: basic indexing
- general `(code, ins, operands, out, params, count)`
- binary pointwise `(code, nx, ny, x, y, out, fit)`

where `n` is the node of an operand (-1: a constant), and only the values that the rule needs are kept (else None).
Tuples of integers and arrays are not followed by the cyclic collector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core import interpreters, sources
from autodidax.core.avals import PYTHON_SCALARS, ShapedArray, is_inexact
from autodidax.core.interpreters import (
    OWN_PROGRAM,
    AbstractTracer,
    Trace,
    Tracer,
    ValueTracer,
    dtype_of,
    get_aval,
    shape_of,
)

SMALL = 65536  # bytes: arrays up to this size are copied into the record, larger ones are write-protected
ndarray = np.ndarray
_exact = {float, int, np.float64, np.bool_, bool}  # scalars that mix without changing a float64 operand's dtype
_plain_types = {ndarray, np.float64, float}


class ReverseTracer(ValueTracer):
    """A value whose history is recorded; `node` is its place in the record."""

    __slots__ = ()


class LinearTracer(AbstractTracer):
    """A tangent of known shape and dtype and no value, on which only linear operations are allowed."""

    __slots__ = ()


new = object.__new__


class ReverseTrace(Trace):
    """Computes each operation at once and records what its backward rule will need."""

    __slots__ = ("tape", "guard")
    _noting: type[ReverseTrace]

    def __init__(self, transform: str, fun_name: str, guard: Guard | None = None):
        super().__init__(transform, fun_name)
        self.tape: list[Any] = []
        self.guard = guard if guard is not None else Guard(protect=False)
        if interpreters.stagings_open or sources.noting:
            self.tape = NotedTape()
            self.__class__ = self._noting

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        self.tape = []

    @property
    def holds_arrays(self) -> bool:
        return bool(self.guard.protected)

    def input(self, val: Any) -> Any:
        tracer = new(ReverseTracer)
        tracer._trace, tracer.val, tracer.node = self, val, len(self.tape)
        self.tape.append(None)
        return tracer

    def result(self, val: Any, node: tuple[Any, ...]) -> Any:
        """A tracer for the value that `node` computes."""
        tape = self.tape
        tracer = new(ReverseTracer)
        tracer._trace, tracer.val, tracer.node = self, val, len(tape)
        tape.append(node)
        return tracer

    def results(self, vals: Any, node: tuple[Any, ...]) -> list[Any]:
        """Tracers for the inexact ones among several values that `node` computes."""
        tape = self.tape
        i = len(tape)
        tape.append(node)
        return [self.result(v, (k, i)) if is_inexact(dtype_of(v)) else v for k, v in enumerate(vals)]

    def split(self, args: Any) -> tuple[tuple[int, ...], list[Any]]:
        """Nodes (-1 where constant) and the values below."""
        ins, vals = [], []
        for a in args:
            if isinstance(a, Tracer) and a._trace is self:
                ins.append(a.node)
                vals.append(a.val)
            else:
                ins.append(-1)
                vals.append(a)
        return tuple(ins), vals

    def process1(self, p: Any, x: Any) -> Any:
        x_val = x.val
        out = p.evaluate(x_val) if type(x_val) in _plain_types else p.op(x_val)
        keep = p.keep[0]
        tracer = new(ReverseTracer)
        tracer._trace = self
        tracer.val = out
        tape = self.tape
        tracer.node = len(tape)
        tape.append((p.code, x.node, x_val if keep & 1 else None, out if keep & 2 else None))
        return tracer

    def process2(self, p: Any, x: Any, y: Any) -> Any:
        keep = 0
        kx, ky = p.keep
        if isinstance(x, ReverseTracer) and x._trace is self:
            nx = x.node
            x = x.val
            keep = kx
        else:
            nx = -1
        if isinstance(y, ReverseTracer) and y._trace is self:
            ny = y.node
            y = y.val
            keep |= ky
        else:
            ny = -1
        tx = type(x)
        ty = type(y)
        fit: Any = None
        if tx is ndarray and ty is ndarray:
            out = p.evaluate(x, y)
            if x.shape != y.shape or x.dtype is not y.dtype:
                fit = needed_fit(nx, ny, x, y, out)
            if nx < 0:
                if keep & 1:
                    x = self.guard.hold(x)
            elif ny < 0 and keep & 2:
                y = self.guard.hold(y)
        elif (tx is ndarray and ty is float and ny < 0) or (tx in _exact and ty in _exact):
            out = p.evaluate(x, y)
        else:
            if nx < 0:
                if tx not in _exact:
                    x = self.guard.hold_operand(x)
            elif ny < 0 and ty not in _exact:
                y = self.guard.hold_operand(y)
            out = p.op(x, y)
            if not ((ty is float and ny < 0 and tx is not complex) or (tx is float and nx < 0 and ty is not complex)):
                fit = needed_fit(nx, ny, x, y, out)
        tracer = new(ReverseTracer)
        tracer._trace = self
        tracer.val = out
        tape = self.tape
        tracer.node = len(tape)
        tape.append((p.code, nx, ny, x if keep & 1 else None, y if keep & 2 else None, out if keep & 4 else None, fit))
        return tracer

    def process(self, p: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if p.higher_order:
            return p.trace_reverse(self, args, params)
        if len(args) == 1 and p.linear and not p.multiple_results:
            (x,) = args  # the common case, in short
            val = x.val
            out = p.bind(val, **params)
            if is_inexact(dtype_of(out)):
                return self.result(out, (p.code, (x.node,), (get_aval(val),), None, params, 0))
            return out
        ins, vals = self.split(args)
        out = p.bind(*vals, **params)
        if p.zero_derivative:
            return out
        if p.nondifferentiable:
            refuse_nondifferentiable(p, out)
            return out
        if not p.multiple_results and not is_inexact(dtype_of(out)):
            return out
        if p.linear:
            kept: Any = tuple(map(get_aval, vals))
        else:
            kept = tuple(self.guard.hold_operand(v) if n < 0 else v for n, v in zip(ins, vals, strict=True))
        if p.multiple_results:
            return self.results(out, (p.code, ins, kept, out, params, len(out)))
        return self.result(out, (p.code, ins, kept, None if p.linear else out, params, 0))


def refuse_nondifferentiable(p: Any, out: Any) -> None:
    """Raise for the derivative of a primitive that has none; that of integers and booleans is zero anyway."""
    if any(is_inexact(dtype_of(x)) for x in (out if p.multiple_results else [out])):
        raise errors.NondifferentiableError(
            f"{p.name} has no derivative: {p.nondifferentiable}",
            mend="apply it to stop_gradient(x), or to a value that does not depend on the differentiated argument",
        )


def needed_fit(nx: int, ny: int, x: Any, y: Any, out: Any) -> Any:
    """What brings cotangents of `out` back to the operands: (shape x, dtype x, shape y, dtype y), None where the
    operand is a constant or already has out's shape and dtype."""
    shape = shape_of(out)
    dtype = dtype_of(out)
    fx = _fit(nx, x, shape, dtype)
    fy = _fit(ny, y, shape, dtype)
    return None if fx is None and fy is None else (fx, fy)


def _fit(n: int, x: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    if n < 0:
        return None
    own, kind = shape_of(x), dtype_of(x)
    return None if own == shape and kind == dtype else (own, kind)


class Guard:
    """Keeps what a record holds on to safe from later mutation by the user: small plain arrays are copied, large ones
    are made read-only while the record lives (or copied too, where the record outlives the transform)."""

    __slots__ = ("protect", "protected", "_memo")

    def __init__(self, protect: bool):
        self.protect = protect
        self.protected: list[Any] = []

    def hold_operand(self, x: Any) -> Any:
        """A constant operand, as the record may keep it."""
        t = type(x)
        if t is ndarray:
            return self.hold(x)
        if t in PYTHON_SCALARS or isinstance(x, Tracer | np.generic):
            return x
        return np.array(x)

    def hold(self, x: np.ndarray) -> np.ndarray:
        base = x.base
        if base is None and not x.flags.writeable and id(x) not in _protected:
            return x
        if x.nbytes <= SMALL or not self.protect or base is not None:
            return x.copy()  # a view, too: its memory can be written through other views
        self._protect(x)
        return x

    def _protect(self, x: np.ndarray) -> None:
        entry = _protected.get(id(x))
        if entry is None:
            if not x.flags.writeable:
                return
            _protected[id(x)] = [x, 1]
            x.flags.writeable = False
        else:
            entry[1] += 1
        self.protected.append(x)

    def release(self) -> None:
        """Make the protected arrays writeable again."""
        while self.protected:
            x = self.protected.pop()
            entry = _protected[id(x)]
            entry[1] -= 1
            if entry[1] == 0:
                del _protected[id(x)]
                x.flags.writeable = True


_protected: dict[int, list[Any]] = {}  # id -> [array, number of records that hold it]


class LinearTrace(ReverseTrace):
    """Records linear operations on tangents that have no value; the record is transposed by the backward walk.

    `affine`: whether a traced constant may be added to a tangent. It may in the user's derivative rules, where a
    tangent that is zero takes the form of one. `lasting`: whether the record outlives the transform, so that it has to
    keep its own copy of constants."""

    __slots__ = ("affine", "lasting")

    def __init__(self, transform: str, fun_name: str, affine: bool = False, lasting: bool = False):
        super().__init__(transform, fun_name)
        self.affine = affine
        self.lasting = lasting

    def input(self, val: Any) -> Any:
        aval = val if type(val) is ShapedArray else get_aval(val)
        tracer = new(LinearTracer)
        tracer._trace, tracer.val, tracer.node = self, ShapedArray(aval.shape, aval.dtype), len(self.tape)
        self.tape.append(None)
        return tracer

    def result(self, val: Any, node: tuple[Any, ...]) -> Any:
        tracer = new(LinearTracer)
        tracer._trace, tracer.val, tracer.node = self, val, len(self.tape)
        self.tape.append(node)
        return tracer

    def results(self, vals: Any, node: tuple[Any, ...]) -> list[Any]:
        i = len(self.tape)
        self.tape.append(node)
        return [self.result(v, (k, i)) for k, v in enumerate(vals)]

    def process1(self, p: Any, x: Any) -> Any:
        if not p.linear:
            raise not_linear(self, p, "is not linear")
        return self.result(x.val, (p.code, x.node, None, None))

    def process2(self, p: Any, x: Any, y: Any) -> Any:
        nx = x.node if isinstance(x, LinearTracer) and x._trace is self else -1
        ny = y.node if isinstance(y, LinearTracer) and y._trace is self else -1
        self.require_linear(p, (nx, ny), (x, y))
        ax, ay = get_aval(x), get_aval(y)
        out = p.abstract_eval(ax, ay)
        fx, fy = _fit(nx, ax, out.shape, out.dtype), _fit(ny, ay, out.shape, out.dtype)
        fit = None if fx is None and fy is None else (fx, fy)
        node = (p.code, nx, ny, self.kept(x) if nx < 0 else None, self.kept(y) if ny < 0 else None, None, fit)
        return self.result(out, node)

    def process(self, p: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if p.higher_order:
            return p.trace_linear(self, args, params)
        ins = tuple(a.node if isinstance(a, LinearTracer) and a._trace is self else -1 for a in args)
        self.require_linear(p, ins, args)
        kept = tuple(self.kept(a) if n < 0 else a.val for n, a in zip(ins, args, strict=True))
        out = p.out_avals(*map(get_aval, args), **params)
        if p.multiple_results:
            return self.results(out, (p.code, ins, kept, None, params, len(out)))
        return self.result(out[0], (p.code, ins, kept, None, params, 0))

    def kept(self, constant: Any) -> Any:
        """A constant operand, as the record may keep it."""
        return self.guard.hold_operand(constant) if self.lasting else constant

    def require_linear(self, p: Any, ins: tuple[int, ...], args: tuple[Any, ...]) -> None:
        active = [k for k, n in enumerate(ins) if n >= 0]
        if p.linear:
            group: Any = range(len(args))
        elif p.multilinear:
            if len(active) > 1:
                raise not_linear(self, p, "multiplies two values that both depend on the linear input")
            return
        else:
            group = p.linear_in
            if not set(active) <= set(group):
                k = next(k for k in active if k not in group)
                which = f"{_ORDINALS[k]} operand" if len(args) > 1 and k < len(_ORDINALS) else "operand"
                raise not_linear(self, p, f"is not linear in its {which}")
            if products_only(p):
                return
        for k in group:
            if ins[k] < 0 and not (is_zero(args[k]) or (self.affine and isinstance(args[k], Tracer))):
                raise not_linear(self, p, "adds a constant, so the function is affine")


def products_only(p: Any) -> bool:
    """Pointwise primitives such as division: linear in one operand, whatever the others are."""
    return len(p.linear_in) == 1


def is_zero(x: Any) -> bool:
    """Whether a constant beside a tangent is known to be zero: by its value, in every row of vmap, or, in a program
    that is being written, because a zero that stands there is multiplied, moved or added to others."""
    while isinstance(x, Tracer):
        if isinstance(x, AbstractTracer):
            return bool(x._trace.staging) and _Zeros(x._trace)(x.node)
        x = x.val
    return not np.any(x)


class _Zeros:
    """Which variables of a program that is being written are zero whatever its inputs are (finite ones)."""

    def __init__(self, trace: Any):
        self.consts = trace.consts
        self.writers = {v: eqn for eqn in trace.eqns for v in eqn.outvars}
        self.known: dict[Any, bool] = {}

    def __call__(self, atom: Any) -> bool:
        value = getattr(atom, "val", self.consts.get(atom))  # of a literal or a constant
        if value is not None:
            return not np.any(value)
        if atom not in self.known:
            self.known[atom] = atom in self.writers and self._written(self.writers[atom])
        return self.known[atom]

    def _written(self, eqn: Any) -> bool:
        p, ins = eqn.primitive, eqn.invars
        if p.higher_order or p.effect:
            return False
        if p.multilinear:
            return any(map(self, ins))
        linear = ins if p.linear else [ins[k] for k in p.linear_in]
        return bool(linear) and all(map(self, linear))


class NotedTape(list):
    """A record that knows where each of its nodes comes from: `notes` holds a mark and a primitive's name for each, and
    `tainted` the nodes whose operands were not what `debug_nans` wants them to be."""

    __slots__ = ("notes", "tainted")

    def __init__(self) -> None:
        self.notes: list[tuple[sources.Mark | None, str]] = []
        self.tainted: set[int] = set()

    def note(self, primitive: str, out: Any = None) -> None:
        """Note where the nodes come from that were appended since the last note; `out` is what they computed."""
        notes = self.notes
        if len(notes) < len(self):
            note = _staged_mark(out) or sources.present_mark(), primitive
            while len(notes) < len(self):
                notes.append(note)


def _staged_mark(out: Any) -> sources.Mark | None:
    """The mark of the equation that a value was written down as, where that was just now."""
    val = out.val if type(out) is ReverseTracer else None
    if isinstance(val, AbstractTracer) and val._trace.staging:
        eqns = val._trace.eqns
        if eqns and eqns[-1].outvars and eqns[-1].outvars[0] is val.node:
            return eqns[-1].mark
    return None


class _Noting(ReverseTrace):
    """A record that is kept while a program is written, or for `debug_nans`: the backward pass tells from it which of
    the user's operations it is at."""

    __slots__ = ()
    tape: NotedTape

    def process1(self, p: Any, x: Any) -> Any:
        out = super().process1(p, x)
        self.tape.note(p.name, out)
        return out

    def process2(self, p: Any, x: Any, y: Any) -> Any:
        out = super().process2(p, x, y)
        self.tape.note(p.name, out)
        return out

    def process(self, p: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        out = super().process(p, args, params)
        self.tape.note(p.name, out)
        return out


class NotingReverseTrace(_Noting, ReverseTrace):
    __slots__ = ()


class NotingLinearTrace(_Noting, LinearTrace):
    __slots__ = ()


ReverseTrace._noting = NotingReverseTrace
LinearTrace._noting = NotingLinearTrace


_ORDINALS = ("first", "second", "third", "fourth")


def not_linear(trace: Trace, p: Any, why: str) -> errors.AutodidaxError:
    return errors.NotLinearError(
        f"{p.name} {why}" + ("" if trace.fun_name == OWN_PROGRAM else f", in {trace.describe()}"),
        mend="use only linear operations on the linear input, or differentiate with vjp instead",
    )


class Call:
    """What a call node holds: `pull` takes the list of output cotangents (None: zero; with `takes_masks` also Masked)
    and returns one cotangent an input; `push`, on linear records, takes the inputs and returns the outputs."""

    __slots__ = ("pull", "push", "takes_masks")

    def __init__(
        self, pull: Callable[[list[Any]], Any], push: Callable[..., Any] | None = None, *, takes_masks: bool = False
    ):
        self.pull = pull
        self.push = push
        self.takes_masks = takes_masks
