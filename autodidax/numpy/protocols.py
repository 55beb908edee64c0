"""NumPy's own protocols: how `np.sin(x)`, `np.concatenate([x, y])` and `np.add.reduce(x)` find the primitives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer
from autodidax.numpy import mends, reductions
from autodidax.numpy.callers import ALTERNATIVES, WRITERS
from autodidax.numpy.dispatch import holds_tracer, operand, refuse_out
from autodidax.numpy.ufuncs import NOT_READY, apply, calls

functions: dict[Any, Callable[..., Any]] = {}  # a function of NumPy -> ours, on arguments of which some are traced


def array_ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """NumPy calls this for any ufunc with a traced operand."""
    if method == "__call__":
        if not kwargs:
            call = calls.get(ufunc)
            if call is not None:
                for x in inputs:
                    if type(x) in NOT_READY:
                        return apply(ufunc, inputs, kwargs)
                return call(*inputs)
        elif any(x is not None for x in kwargs.get("out", ())):
            refuse_write(ufunc.__name__)
        return apply(ufunc, inputs, kwargs)
    return _METHODS[method](ufunc, *inputs, **kwargs)


def refuse_write(name: str) -> None:
    raise errors.MutationError(
        f"{name}: a traced result cannot be written into a plain array (out=, or an operator such as acc += x)",
        mend=mends.for_result(name),
    )


def _reduce(ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, **kwargs: Any) -> Any:
    refuse_out(f"{ufunc.__name__}.reduce", out)
    function = _REDUCTIONS.get(ufunc)
    if function is None:
        raise _no_method(ufunc, "reduce", _REDUCTIONS)
    kwargs = {k: v for k, v in kwargs.items() if v is not np._NoValue}
    if dtype is not None:
        array = reductions.cast_operand(operand(array), dtype)
    return function(operand(array), axis=axis, **kwargs)


def _accumulate(ufunc: np.ufunc, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    refuse_out(f"{ufunc.__name__}.accumulate", out)
    function = _ACCUMULATIONS.get(ufunc)
    if function is None:
        raise _no_method(ufunc, "accumulate", _ACCUMULATIONS)
    array = operand(array)
    return function(array if dtype is None else reductions.cast_operand(array, dtype), axis=axis)


def _outer(ufunc: np.ufunc, x: Any, y: Any, **kwargs: Any) -> Any:
    x, y = operand(x), operand(y)
    rank = np.ndim(y)
    return apply(ufunc, (x.reshape((*np.shape(x), *(1,) * rank)) if rank else x, y), kwargs)


def _at(ufunc: np.ufunc, *args: Any) -> Any:
    method = {"add": "add", "multiply": "multiply", "maximum": "max", "minimum": "min", "power": "power"}
    raise errors.MutationError(
        f"{ufunc.__name__}.at writes into its first argument, which traced values do not allow",
        mend=f"write a = anp.at(a)[index].{method.get(ufunc.__name__, 'set')}(x)",
    )


def _reduceat(ufunc: np.ufunc, *args: Any, **kwargs: Any) -> Any:
    raise errors.UnsupportedError(
        f"{ufunc.__name__}.reduceat is not supported on traced values",
        mend="take differences of a cumulative sum at the indices, or reduce the slices one by one",
    )


def _no_method(ufunc: np.ufunc, method: str, table: dict[np.ufunc, Any]) -> errors.AutodidaxError:
    known = ", ".join(sorted(u.__name__ for u in table))
    return errors.UnsupportedError(
        f"{ufunc.__name__}.{method} is not supported on traced values; {method} works for {known}",
        mend="write a loop over the axis, or lax.scan",
    )


_METHODS: dict[str, Callable[..., Any]] = {
    "reduce": _reduce, "accumulate": _accumulate, "outer": _outer, "at": _at, "reduceat": _reduceat,
}  # fmt: skip
_REDUCTIONS: dict[Any, Callable[..., Any]] = {
    np.add: reductions.sum, np.multiply: reductions.prod, np.maximum: reductions.max, np.minimum: reductions.min,
    np.logical_and: reductions.all, np.logical_or: reductions.any, np.logaddexp: reductions.logaddexp_reduce,
}  # fmt: skip
_ACCUMULATIONS: dict[Any, Callable[..., Any]] = {
    np.add: reductions.cumsum, np.multiply: reductions.cumprod,
    np.maximum: reductions.maximum_accumulate, np.minimum: reductions.minimum_accumulate,
}  # fmt: skip


def array_function(self: Any, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """NumPy calls this for any function that dispatches, where an argument is traced."""
    ours = functions.get(function)
    if ours is not None:
        return ours(*args, **kwargs)
    if not holds_tracer([*args, *kwargs.values()]):  # a traced value in like= says which library, and nothing else
        return function(*args, **kwargs)
    module = (getattr(function, "__module__", None) or "numpy").replace("numpy.linalg._linalg", "numpy.linalg")
    name = f"{module}.{getattr(function, '__name__', function)}"
    if function in WRITERS:
        raise errors.MutationError(
            f"{name}: a traced value cannot be written into, nor be written into a plain array",
            mend=WRITERS[function],
        )
    raise errors.UnsupportedError(
        f"{name} is not supported on traced values: it has no traced version",
        mend=ALTERNATIVES.get(
            function, "write it with functions of autodidax.numpy, or apply it to stop_gradient(x) as a constant"
        ),
    )


def install(namespaces: Iterable[tuple[ModuleType | Any, dict[str, Any]]]) -> None:
    """Fill the table of functions: for each pair of a NumPy module and our names, np.f -> the traced form of ours."""
    for module, names in namespaces:
        for name, ours in names.items():
            plain = getattr(module, name, None)
            if callable(ours) and callable(plain) and not isinstance(plain, type | np.ufunc) and plain is not ours:
                functions.setdefault(plain, getattr(ours, "__wrapped__", ours))


Tracer.__array_ufunc__ = array_ufunc  # type: ignore[attr-defined]  # installed from above
Tracer.__array_function__ = array_function  # type: ignore[attr-defined]  # installed from above
