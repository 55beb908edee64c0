"""Tracers, traces, the interpreter stack and `bind`: how an operation finds the transform that handles it.

Every open transform is a `Trace` with a level from one process-wide rising counter. A `Tracer` is a value that
belongs to a trace. An operation is handled by the highest trace among its operands, which computes on the values
below it, so that transforms nest. With no tracer among the operands the implementation runs at once.

While a staging trace (jit, make_jaxpr, a loop body) is open, an operation on any tracer is handled no lower than by
the innermost staging trace: tracers from below it become captured operands of the staged program.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import PYTHON_SCALARS, TIMES, ShapedArray, broadcast_shapes, plain_aval
from autodidax.core.explanations import dtype_mend, explanation
from autodidax.tree.nodes import LEAF_TYPES

ndarray = np.ndarray
_levels = itertools.count(1)
_frames: ContextVar[tuple[Trace, ...]] = ContextVar("frames", default=())
_innermost_staging: ContextVar[Any] = ContextVar("innermost_staging", default=None)
_count_lock = threading.Lock()
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)
stagings_open = 0  # in the whole process: lets the common case skip the context variable


class Trace:
    """One open transform. `process` is the general way in; `process1` and `process2` are those of the hot path:
    pointwise operations of one and two operands without parameters."""

    __slots__ = ("level", "transform", "fun_name", "_token", "_staging_token")
    staging = False
    holds_arrays = False  # whether arrays of the user's are write-protected on its account
    _dead: type[Trace]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "Ended" not in cls.__name__:
            cls._dead = type("Ended" + cls.__name__, (_Ended, cls), {"__slots__": ()})

    def __init__(self, transform: str, fun_name: str = "<function>"):
        self.level = next(_levels)
        self.transform = transform
        self.fun_name = fun_name

    def __enter__(self) -> Any:
        global stagings_open
        self._token = _frames.set((*_frames.get(), self))
        if self.staging:
            self._staging_token = _innermost_staging.set(self)
            with _count_lock:
                stagings_open += 1
        return self

    def __exit__(self, kind: Any = None, error: Any = None, traceback: Any = None) -> None:
        global stagings_open
        explained = None if error is None else explanation(error, any(t.holds_arrays for t in _frames.get()))
        if self.staging:
            with _count_lock:
                stagings_open -= 1
            _innermost_staging.reset(self._staging_token)
            del self._staging_token
        _frames.reset(self._token)
        del self._token
        self.end()
        if explained is not None:
            raise explained.with_traceback(error and error.__traceback__) from None

    def end(self) -> None:
        """From here on any use of a tracer of this trace raises; costs nothing per operation."""
        self.__class__ = self._dead

    def process1(self, p: Any, x: Any) -> Any:
        return self.process(p, (x,), {})

    def process2(self, p: Any, x: Any, y: Any) -> Any:
        return self.process(p, (x, y), {})

    def process(self, p: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        raise NotImplementedError

    def aval_of(self, tracer: Tracer) -> ShapedArray:
        return get_aval(tracer.val)

    def describe(self) -> str:
        return f"{self.transform.removesuffix('_call')} of {self.fun_name}"


def leaked(trace: Trace, doing: str = "") -> errors.UnexpectedTracerError:
    """The error of a value that is used after its transform has returned; `doing` names the operation."""
    name = trace.fun_name
    if trace.transform in ("cond", "switch"):
        mend = f"return the value from {name} and from the other branches"
    elif trace.transform in ("scan", "while_loop", "fori_loop", "map"):
        mend = f"return the value from {name} in the carry" + (" or as y" if trace.transform == "scan" else "")
    elif trace.staging or trace.transform == "vmap":
        mend = f"return the value from {name}"
    else:
        mend = f"return the value from {name} (use has_aux=True for extras)"
    return errors.UnexpectedTracerError(
        f"{doing}a value traced by {trace.transform} of {name} was used after that transform had ended",
        mend=f"{mend} instead of storing it",
    )


class _Ended(Trace):
    """What a trace becomes when its transform has returned."""

    __slots__ = ()

    def process(self, p: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        raise leaked(self, f"{p.name}: ")

    def process1(self, p: Any, x: Any) -> Any:
        return self.process(p, (x,), {})

    def process2(self, p: Any, x: Any, y: Any) -> Any:
        return self.process(p, (x, y), {})


def is_ended(trace: Trace) -> bool:
    return isinstance(trace, _Ended)


class Tracer:
    """A value that a transform follows. `val` is the value one interpreter below (for a staging trace: the aval);
    `node` is what the trace attaches (record index, tangent, variable). Operators and NumPy's protocols are installed
    by the `numpy` layer."""

    __slots__ = ("_trace", "val", "node")
    _trace: Any
    val: Any
    node: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__name__ = cls.__qualname__ = "Traced"  # what Python's own messages call the type of an object
        LEAF_TYPES.add(cls)

    @property
    def aval(self) -> ShapedArray:
        return self._trace.aval_of(self)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._trace.aval_of(self).shape

    @property
    def dtype(self) -> np.dtype:
        return self._trace.aval_of(self).dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return self.aval.size

    @property
    def weak_type(self) -> bool:
        return self.aval.weak_type


class ValueTracer(Tracer):
    """A tracer whose `val` has its own shape: those of jvp and of reverse mode."""

    __slots__ = ()

    @property
    def aval(self) -> ShapedArray:
        return get_aval(self.val)

    @property
    def shape(self) -> tuple[int, ...]:
        v = self.val
        return () if type(v) in PYTHON_SCALARS else v.shape

    @property
    def dtype(self) -> np.dtype:
        v = self.val
        t = type(v)
        return PYTHON_SCALARS[t] if t in PYTHON_SCALARS else v.dtype


class AbstractTracer(Tracer):
    """A tracer without a value: `val` is its aval. Those of staging and of linear records."""

    __slots__ = ()

    @property
    def aval(self) -> ShapedArray:
        return self.val

    @property
    def shape(self) -> tuple[int, ...]:
        return self.val.shape

    @property
    def dtype(self) -> np.dtype:
        return self.val.dtype


def get_aval(x: Any) -> ShapedArray:
    """Shape, dtype and weak type of any value, traced or not."""
    return x.aval if isinstance(x, Tracer) else plain_aval(x)


def shape_of(x: Any) -> tuple[int, ...]:
    """Shape of any value, traced or not."""
    try:
        return x.shape
    except AttributeError:  # a Python scalar, or a list
        return get_aval(x).shape


def dtype_of(x: Any) -> np.dtype:
    """Dtype of any value, traced or not."""
    try:
        return x.dtype
    except AttributeError:  # a Python scalar, or a list
        return get_aval(x).dtype


def innermost_staging(level: int) -> Any:
    """The innermost open staging trace if it is above `level`, else None."""
    staging = _innermost_staging.get()
    return staging if staging is not None and staging.level > level else None


class quietly:
    """Backward passes run in this context: floating-point warnings are off, and staged equations are marked so that
    they are off when the program runs, too."""

    __slots__ = ("_errstate", "_token")

    def __enter__(self) -> None:
        self._errstate = np.errstate(all="ignore")
        self._errstate.__enter__()
        self._token = _quiet.set(True) if stagings_open else None

    def __exit__(self, *exc: object) -> None:
        if self._token is not None:
            _quiet.reset(self._token)
        self._errstate.__exit__(None, None, None)


def is_quiet() -> bool:
    """Whether a backward pass is being staged."""
    return _quiet.get()


def frames() -> tuple[Trace, ...]:
    """The open transforms of this thread or task, outermost first."""
    return _frames.get()


OWN_PROGRAM = "a staged program"  # the name of what a transform of a transform's program runs


def active_transforms() -> list[str]:
    """The open transforms, innermost first; those of the package's own programs are left out."""
    return [trace.describe() for trace in reversed(_frames.get()) if trace.fun_name != OWN_PROGRAM]


errors.active_transforms = active_transforms


def top_trace(args: Any) -> Any:
    """The trace that has to handle an operation on these operands, or None when all of them are plain."""
    top = None
    level = 0
    for a in args:
        if isinstance(a, Tracer):
            trace = a._trace
            if trace.level > level:
                top, level = trace, trace.level
    if top is not None and stagings_open:
        return innermost_staging(level) or top
    return top


def op1(p: Any, impl: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function of a unary pointwise primitive."""

    def op(x: Any) -> Any:
        if isinstance(x, Tracer):
            trace = x._trace
            if stagings_open:
                trace = innermost_staging(trace.level) or trace
            return trace.process1(p, x)
        return impl(x)

    return op


_NUMBERS = {float, int, complex, bool, *(t for t in np.sctypeDict.values() if np.dtype(t).kind in "biufc")}
#: of dtypes that are not those of numbers, though NumPy multiplies some of them by numbers: objects, durations, texts
_NO_NUMBERS = frozenset(np.dtype(char).num for char in "OSUMm")


_ARITHMETIC = ("__add__", "__mul__", "__matmul__", "__pow__", "__array_ufunc__")


def redefines_arithmetic(x: Any) -> bool:
    """Whether x is of a subclass of arrays with operators of its own: a masked array, a matrix, one with units."""
    t = type(x)
    return (
        t is not ndarray
        and isinstance(x, ndarray)
        and any(getattr(t, k) is not getattr(ndarray, k) for k in _ARITHMETIC)
    )


_OPERAND_MENDS = {
    type(None): "give a number, or leave the operation out where it is None",
    dict: "apply the operation to every leaf: autodidax.tree.map(f, tree)",
    str: "convert it with float() first",
}


def plain_operand(x: Any) -> Any:
    """What a binary operation takes beside a tracer: a number or an array of numbers, lists converted.

    NotImplemented for objects that refuse ufuncs, as arrays return it; DtypeError for what NumPy would make an array
    of objects of, and for arrays with operators of their own.
    """
    if getattr(type(x), "__array_ufunc__", True) is None:
        return NotImplemented
    what = "None" if x is None else type(x).__name__
    mend = _OPERAND_MENDS.get(type(x)) or "convert it with float() or np.asarray(x, float) first"
    if redefines_arithmetic(x):
        what = f"{what} (a subclass of arrays with operators of its own)"
        mend = "give x.filled(value), and the mask apart" if hasattr(x, "filled") else "give np.asarray(x)"
    elif hasattr(x, "toarray"):
        mend = "give the dense array: A.toarray()"
    else:
        plain, x = x, np.asarray(x)
        if x.dtype.kind in "biufc":
            return x
        if callable(plain):
            mend = "call the function first, as f(x)"
        elif x.dtype.kind in TIMES:
            mend = TIMES[x.dtype.kind]
        if isinstance(plain, ndarray):
            what = f"{what} (dtype {x.dtype})"
    raise errors.DtypeError(f"a traced value meets an operand of type {what}, which is no array of numbers", mend=mend)


def _refuse_repetition(p: Any, x: Any, other: type, *, counts_first: bool) -> None:
    """Raise for a list times a traced integer: a plain integer repeats the list, an array multiplies its entries."""
    if p.name == "mul" and other in (list, tuple, str) and not shape_of(x) and dtype_of(x).kind in "iub":
        kind = other.__name__
        texts = errors.operands_in_use()
        repeated, count = ("a", "n") if texts is None else texts[::-1] if counts_first else texts
        entries = "" if other is str else f"to multiply its entries write np.array({repeated}) * {count}; "
        raise errors.TracerIntegerConversionError(
            f"a {kind} times a traced integer: a plain integer would repeat the {kind}, which needs its value",
            mend=f"{entries}to repeat it make {count} static",
        )


def op2(p: Any, impl: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The function of a binary pointwise primitive; also what the operators of tracers are."""

    def op(x: Any, y: Any) -> Any:
        if isinstance(x, Tracer):
            trace = x._trace
            if isinstance(y, Tracer):
                other = y._trace
                if other is not trace and other.level > trace.level:
                    trace = other
            else:
                t = type(y)
                if t is not float and (t is not ndarray or y.dtype.num in _NO_NUMBERS) and t not in _NUMBERS:
                    _refuse_repetition(p, x, t, counts_first=True)
                    y = plain_operand(y)
                    if y is NotImplemented:
                        return y
        elif isinstance(y, Tracer):
            trace = y._trace
            t = type(x)
            if t is not float and (t is not ndarray or x.dtype.num in _NO_NUMBERS) and t not in _NUMBERS:
                _refuse_repetition(p, y, t, counts_first=False)
                x = plain_operand(x)
                if x is NotImplemented:
                    return x
        else:
            return impl(x, y)
        if stagings_open:
            trace = innermost_staging(trace.level) or trace
        try:
            return trace.process2(p, x, y)
        except ValueError as error:
            if type(error) is not ValueError:
                raise
            broadcast_shapes(p.name, shape_of(x), shape_of(y))  # says more than NumPy where the shapes are at fault
            raise
        except TypeError as error:
            if isinstance(error, errors.AutodidaxError):
                raise
            dtypes = dtype_of(x), dtype_of(y)
            raise errors.DtypeError(
                f"{p.name} does not take dtypes {dtypes[0]} and {dtypes[1]}", mend=dtype_mend(p.name, *dtypes)
            ) from None

    return op


def bind(p: Any, *args: Any, **params: Any) -> Any:
    """Apply a primitive: array data by position, metadata by keyword."""
    trace = top_trace(args)
    if trace is None:
        return p.impl(*args, **params)
    return trace.process(p, args, params)


def peel(x: Any) -> Any:
    """The value under the tracers of jvp and reverse mode: plain, or a tracer of vmap or of a staged program."""
    while isinstance(x, ValueTracer):
        x = x.val
    return x
