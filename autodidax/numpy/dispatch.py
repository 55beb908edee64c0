"""How a function of the public namespace chooses: NumPy itself for plain arguments, our version for traced ones."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import PYTHON_SCALARS
from autodidax.core.interpreters import Tracer, ValueTracer, dtype_of, plain_operand, redefines_arithmetic, shape_of
from autodidax.numpy import mends
from autodidax.primitives.convert import astype, convert_element_type
from autodidax.primitives.shape import AxisError, stack
from autodidax.transforms.nan_checks import entry_point

NoValue: Any = np._NoValue  # NumPy's own mark of an argument that was not given
ndarray = np.ndarray
_SEQUENCES = (list, tuple)
_PLAIN = {ndarray, float, int, bool, complex, type(None), str, type, np.float64, np.float32, np.int64, np.bool_}


def holds_tracer(x: Any) -> bool:
    """Whether a value is traced, or a list or tuple (of lists ...) with a traced value in it."""
    if isinstance(x, _SEQUENCES):
        # by type first: long lists of numbers are looked through quickly
        return not _PLAIN.issuperset(map(type, x)) and any(map(holds_tracer, x))
    return isinstance(x, Tracer)


def numpy_function(traced: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function of the same name where no argument is traced, else `traced`, which is its `__wrapped__`.

    So values, dtypes, warnings and errors on plain arguments are NumPy's by construction.
    """
    return function_for(getattr(np, traced.__name__))(traced)


def extended(*keywords: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """As `numpy_function`, for a function with keywords of jax.numpy's that NumPy's lacks: where one of them is given,
    `traced` computes on plain arguments too."""
    return lambda traced: function_for(getattr(np, traced.__name__), keywords)(traced)


def function_for(
    plain: Callable[..., Any], keywords: tuple[str, ...] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """As `numpy_function`, for a NumPy function found elsewhere than in numpy; `keywords` as in `extended`."""
    added = frozenset(keywords)

    def decorate(traced: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(traced)
        def function(*args: Any, **kwargs: Any) -> Any:
            for x in args:
                if type(x) not in _PLAIN:
                    if type(x) in _SEQUENCES and len(x) < 9:  # a shape or a few arrays, looked through without a call
                        for y in x:
                            if type(y) not in _PLAIN:
                                break
                        else:
                            continue
                    if holds_tracer(x):
                        return traced(*args, **kwargs)
            if kwargs:
                for x in kwargs.values():
                    if type(x) not in _PLAIN and holds_tracer(x):
                        refuse_texts(plain.__name__, kwargs)
                        return traced(*args, **kwargs)
                if added and not added.isdisjoint(kwargs):
                    return traced(*args, **kwargs)
            return plain(*args, **kwargs)

        function.numpy_function = plain  # type: ignore[attr-defined]  # what it stands for, see protocols
        entry_point(function)
        return function

    return decorate


#: the keywords that take a text in every function of NumPy
TEXTS = frozenset(
    ("bitorder", "casting", "device", "indexing", "kind", "method", "mode", "norm", "order", "requirements", "side",
     "signature", "trim", "UPLO")
)  # fmt: skip


def refuse_texts(name: str, kwargs: dict[str, Any]) -> None:
    """Raise ConcretizationTypeError where a keyword that takes a text has a traced value."""
    for keyword, value in kwargs.items():
        if keyword in TEXTS and holds_tracer(value):
            raise errors.ConcretizationTypeError(
                f"{name}: the keyword {keyword} takes a text, not a traced value",
                mend=f"write the text: {name}(..., {keyword}='...')",
            )


def operand(x: Any) -> Any:
    """An argument as an operand of a primitive: nested lists become arrays, with traced values in them stacked."""
    if isinstance(x, Tracer):
        return x
    t = type(x)
    if t in PYTHON_SCALARS or t is bool or (isinstance(x, ndarray | np.generic) and x.dtype.kind in "biufc"):
        return plain_operand(x) if redefines_arithmetic(x) else x
    if isinstance(x, list | tuple) and holds_tracer(x):
        return stack_nested(x)
    return plain_operand(x)


def stack_nested(x: Any) -> Any:
    """A nested list with traced values in it as one array, of the dtype that they promote to."""
    items = [operand(item) for item in x]
    shapes = {shape_of(item) for item in items}
    if len(shapes) > 1:
        raise errors.ShapeError(
            f"array: the entries of a list have the shapes {' and '.join(map(str, sorted(shapes)))}",
            mend="bring the entries to one shape, or use concatenate",
        )
    return stack(*promote(items), axis=0)


def promote(items: list[Any]) -> list[Any]:
    """Operands in the dtype of an array made of them: a Python scalar counts as float64, int64 or complex128."""
    dtypes = set(map(dtype_of, items))
    if len(dtypes) == 1:
        return items
    dtype = np.result_type(*dtypes)
    return [astype(x, dtype) if isinstance(x, Tracer) else np.asarray(x, dtype) for x in items]


def strong(x: Any) -> Any:
    """A value without a weak type, as NumPy's functions return it: a Python scalar becomes a NumPy scalar."""
    if isinstance(x, ValueTracer):
        val = strong(x.val)
        if val is x.val:
            return x
        same = object.__new__(type(x))  # the same place in the record, or the same tangent
        same._trace, same.val, same.node = x._trace, val, x.node if type(x.node) is int else strong(x.node)
        return same
    t = type(x)
    if t in PYTHON_SCALARS:
        return PYTHON_SCALARS[t].type(x)
    return convert_element_type(x, dtype=x.dtype) if isinstance(x, Tracer) and x.weak_type else x


def axis_of(axis: Any, ndim: int) -> int:
    """One axis as a non-negative integer; AxisError for one that does not exist."""
    k = operator.index(axis)
    if not -ndim <= k < ndim:
        raise AxisError(
            f"axis {k} is out of bounds for an array with {errors.counted(ndim, 'axis')}",
            mend=f"give an axis from {-ndim} to {ndim - 1}" if ndim else "give an array with at least one axis",
        )
    return k % ndim


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes to reduce as a sorted tuple: all of them for None."""
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, tuple | list):
        axes = tuple(sorted(axis_of(k, ndim) for k in axis))
        if len(set(axes)) != len(axes):
            raise errors.ShapeError(f"duplicate value in axis={axis}", mend="name each axis once")
        return axes
    return (axis_of(axis, ndim),)


def reduction_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """As `axes_of`, for the reductions: NumPy lets them name the first or last axis of a single number too."""
    if ndim == 0 and axis in (0, -1, (0,), (-1,)):
        return ()
    return axes_of(axis, ndim)


def given(value: Any) -> bool:
    """Whether an optional argument was given."""
    return value is not None and value is not NoValue


def kept(keepdims: Any) -> bool:
    """Whether reduced axes stay as axes of size 1; for what is neither a boolean nor an integer NumPy's TypeError."""
    if keepdims is False or keepdims is NoValue:
        return False
    return keepdims is True or operator.index(keepdims) != 0


CASTING = ("no", "equiv", "safe", "same_kind", "unsafe")


def check_casting(casting: Any) -> None:
    """Raise NumPy's own error for what is no rule of casting."""
    if not isinstance(casting, str):
        raise TypeError(f"casting must be str, not {type(casting).__name__}")
    if casting not in CASTING:
        raise ValueError(f"casting must be one of {', '.join(map(repr, CASTING))} (got {casting!r})")


def one_of(name: str, keyword: str, value: Any, *choices: str) -> None:
    """Raise ArgumentError for a text that is none of the choices; None stands for the default."""
    if value is not None and value not in choices:
        raise errors.ArgumentError(
            f"{name}: there is no {keyword}={value!r}", mend=f"give one of {', '.join(map(repr, choices))}"
        )


def refuse_out(name: str, out: Any) -> None:
    """Raise MutationError where `out=` names an array to write a traced result into."""
    if isinstance(out, tuple):
        out = next((x for x in out if x is not None), None)
    if out is not None and out is not NoValue:
        raise errors.MutationError(
            f"{name}: a traced result cannot be written into the array given as out",
            mend=mends.for_result(name),
        )


def refuse(name: str, **keywords: Any) -> None:
    """Raise UnsupportedError for the keywords that have a value; give None for the accepted default."""
    for keyword, value in keywords.items():
        if value is not None and value is not NoValue:
            raise errors.UnsupportedError(
                f"{name}: the keyword {keyword}={value!r} is not supported on traced values",
                mend=f"leave {keyword}= away",
            )
