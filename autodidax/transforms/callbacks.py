"""pure_callback and io_callback: calls of the host from inside of transformed functions, and their primitives.

They go to the innermost program that is being written, also without a traced operand: nothing runs before the program
does. `io_callback` and the functions of `autodidax.debug` are effects, which every pass keeps: they happen once, in the
order of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray, is_inexact
from autodidax.core.interpreters import innermost_staging, top_trace
from autodidax.core.tracebacks import boundary
from autodidax.transforms.boundary import check_callable
from autodidax.transforms.calls import HigherOrder, split_tangents
from autodidax.transforms.host_functions import (
    VECTORIZED,
    HostFunction,
    Rows,
    host_function,
    over_rows,
    sizes_of,
    vectorized,
    with_rows,
)
from autodidax.transforms.reverse import Call, LinearTracer

METHODS = ("sequential", *VECTORIZED)


class _Callback(HigherOrder):
    """Calls `callback`, a HostFunction. `rows`: the batch axes of vmap."""

    checked = "it runs the user's own function"

    def __call__(self, *args: Any, **params: Any) -> list[Any]:
        trace = top_trace(args)
        if trace is None:
            trace = innermost_staging(0)
        return self.impl(*args, **params) if trace is None else trace.process(self, args, params)

    bind = __call__

    def abstract_eval(self, *avals: Any, callback: HostFunction, rows: Rows = (), **options: Any) -> list[Any]:
        return [ShapedArray((*sizes_of(rows), *a.shape), a.dtype) for a in callback.out_avals]

    def trace_jvp(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        primals, tangents, _ = split_tangents(trace, args)
        if tangents:
            self.refuse_derivative(params["callback"])
        return self(*primals, **params)

    def trace_reverse(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        self.refuse_derivative(params["callback"])
        return self(*trace.split(args)[1], **params)

    def refuse_derivative(self, callback: HostFunction) -> None:
        """Raise where there is a derivative and nobody knows it: results that are no floats have none."""
        if any(is_inexact(a.dtype) for a in callback.out_avals):
            raise errors.NondifferentiableError(
                f"{callback.what} has no derivative: it runs on the host",
                mend="call it in a function with a rule of its own (custom_jvp or custom_vjp), or on stop_gradient(x)",
            )

    def trace_linear(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        raise errors.NotLinearError(
            f"{params['callback'].what} was called on a tangent, which has no value in {trace.describe()}",
            mend="use custom_vjp, whose backward rule has cotangents with values, or a traceable rule",
        )

    def trace_batch(self, trace: Any, vals: Sequence[Any], dims: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        rows = with_rows(params.get("rows", ()), trace.size, dims)
        return [trace.box(o) for o in self(*vals, **(params | {"rows": rows}))]


class PureCallback(_Callback):
    """A function of its operands' values, which may be dropped or repeated."""

    def impl(self, *args: Any, callback: HostFunction, method: str | None, rows: Rows = ()) -> list[Any]:
        if rows and method in VECTORIZED:
            return callback(*vectorized([np.asarray(a) for a in args], rows, method), lead=sizes_of(rows))
        return over_rows(callback.what, callback, args, rows, lambda: callback.out_avals)

    def trace_batch(self, trace: Any, vals: Sequence[Any], dims: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        if params["method"] is None:
            raise errors.UnsupportedError(
                f"{params['callback'].what} under vmap, and no vmap_method was given",
                mend='give vmap_method="sequential" (row by row), or "expand_dims" or "broadcast_all" for a function '
                "that takes arrays with a batch axis in front",
            )
        return super().trace_batch(trace, vals, dims, params)


class IOCallback(_Callback):
    """A function with an effect: it runs once wherever the program comes by, row after row under vmap."""

    effect = True

    def impl(self, *args: Any, callback: HostFunction, ordered: bool, rows: Rows = ()) -> list[Any]:
        def run() -> list[Any]:
            return over_rows(callback.what, callback, args, rows, lambda: callback.out_avals)

        record = _performed.get()
        return run() if record is None else record.step(run)


class DebugCallback(IOCallback):
    """An effect without a result: an observer, of tangents too."""

    def trace_linear(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        """The tangents are seen where they get values (the function that `linearize` returns), not by a transpose."""
        mine = [isinstance(a, LinearTracer) and a._trace is trace for a in args]
        kept = [a if on else trace.kept(a) for a, on in zip(args, mine, strict=True)]

        def push(*tangents: Any) -> list[Any]:
            given = iter(tangents)
            return self(*[next(given) if on else a for a, on in zip(kept, mine, strict=True)], **params)

        def pull(cts: list[Any]) -> list[Any]:
            return [None] * len(ins)

        ins = tuple(a.node for a, on in zip(args, mine, strict=True) if on)
        return trace.results([], (Call(pull, push), ins, 0))


class performed_once:
    """A stretch of code that may have to run again from its start (the first step of a loop, whose carry turns out to
    need another dtype): after `rewind`, effects are not repeated, and return what they returned before."""

    __slots__ = ("_results", "_position", "_outer", "_token")

    def __enter__(self) -> performed_once:
        self._results: list[Any] = []
        self._position = 0
        self._outer = _performed.get()
        self._token = _performed.set(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _performed.reset(self._token)

    def rewind(self) -> None:
        self._position = 0

    def step(self, run: Callable[[], list[Any]]) -> list[Any]:
        """One effect: performed, or already done."""
        if self._position == len(self._results):
            self._results.append(run() if self._outer is None else self._outer.step(run))
        self._position += 1
        return self._results[self._position - 1]


_performed: ContextVar[performed_once | None] = ContextVar("performed", default=None)

pure_callback_p = PureCallback("pure_callback")
io_callback_p = IOCallback("io_callback")
debug_callback_p = DebugCallback("debug_callback")


@boundary
def pure_callback(
    callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any, vmap_method: str | None = None, **kwargs: Any
) -> Any:
    """`callback(*args, **kwargs)`, run on the host on plain NumPy values, under every transform.

    Parameters
    ----------
    callback : a function of arrays whose result depends on nothing but their values. It is called whenever the result
        is needed: not at all, or several times. It gets copies of its arguments.
    result_shape_dtypes : a tree of ShapeDtypeStructs (or arrays) like the result, which is checked against it.
    args, kwargs : trees of arrays.
    vmap_method : what vmap does: "sequential" calls row by row; the others call once, with a batch axis in front of
        what is mapped, and of size 1 ("expand_dims"), of full size ("broadcast_all") or not at all
        ("legacy_vectorized") in front of what is not; the results must have it. None raises under vmap.

    Raises
    ------
    NondifferentiableError : where it is differentiated; give the function around it a rule (custom_jvp, custom_vjp).
    ShapeError, DtypeError, TreeError : where the result is not as declared.

    Source: jax.pure_callback.

    >>> import numpy as np
    >>> import autodidax
    >>> def count(x):
    ...     return np.array(len(set(x.tolist())))
    >>> f = autodidax.jit(lambda x: x / pure_callback(count, autodidax.ShapeDtypeStruct((), np.int64), x))
    >>> f(np.array([2.0, 4.0, 2.0]))
    array([1., 2., 1.])
    """
    check_callable("pure_callback", callback)
    if vmap_method is not None and vmap_method not in METHODS:
        raise errors.ArgumentError(
            f"pure_callback: there is no vmap_method {vmap_method!r}", mend=f"give one of {', '.join(METHODS)}"
        )
    host, values = host_function("pure_callback", callback, args, kwargs, result_shape_dtypes)
    outs = pure_callback_p(*values, callback=host, method=vmap_method)
    assert host.out_tree is not None
    return host.out_tree.unflatten(outs)


@boundary
def io_callback(
    callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any, ordered: bool = False, **kwargs: Any
) -> Any:
    """`callback(*args, **kwargs)`, run on the host for its effect, once each time that the program comes by.

    Under jit it runs with the program, each time; in the branch that is taken alone; once an iteration; under grad in
    the forward pass alone, with `checkpoint` too. Under vmap it runs once a row, in the order of the rows, if an
    argument differs from row to row, and else once for all rows, as in JAX.

    Parameters
    ----------
    callback : a function of arrays; it gets copies of its arguments.
    result_shape_dtypes : a tree of ShapeDtypeStructs (or arrays) like the result, which is checked against it; None
        where there is none.
    args, kwargs : trees of arrays.
    ordered : accepted for JAX's sake: callbacks always run in the order of the program.

    Raises
    ------
    NondifferentiableError : where a result of floats is differentiated.
    ShapeError, DtypeError, TreeError : where the result is not as declared.

    Source: jax.experimental.io_callback, whose ordered form refuses vmap.

    >>> import autodidax
    >>> log = []
    >>> @autodidax.jit
    ... def f(x):
    ...     io_callback(lambda v: log.append(float(v)), None, 2.0 * x)
    ...     return x
    >>> _ = f(1.0), f(3.0)
    >>> log
    [2.0, 6.0]
    """
    check_callable("io_callback", callback)
    host, values = host_function("io_callback", callback, args, kwargs, result_shape_dtypes)
    outs = io_callback_p(*values, callback=host, ordered=bool(ordered))
    assert host.out_tree is not None
    return host.out_tree.unflatten(outs)
