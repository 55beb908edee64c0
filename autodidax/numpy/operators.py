"""Operators, indexing and conversions of tracers: what Python itself asks of a value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from autodidax import errors
from autodidax.core import interpreters
from autodidax.core.interpreters import Tracer, innermost_staging
from autodidax.numpy import callers, concreteness, mends
from autodidax.numpy.concreteness import concrete, describe
from autodidax.numpy.dispatch import operand
from autodidax.primitives import bits, contraction, indexing, rounding
from autodidax.primitives import comparison as cmp
from autodidax.primitives import elementwise as ew
from autodidax.transforms.reverse import ReverseTrace, ReverseTracer


def _reflected(op: Any) -> Any:
    return lambda self, other: op(other, self)


def _matmul(x: Any, y: Any) -> Any:
    x, y = operand(x), operand(y)
    return NotImplemented if x is NotImplemented or y is NotImplemented else contraction.matmul(x, y)


def _equal(x: Any, y: Any) -> Any:
    return False if y is None or type(y) is str else cmp.equal.op(x, y)


def _not_equal(x: Any, y: Any) -> Any:
    return True if y is None or type(y) is str else cmp.not_equal.op(x, y)


def _divmod(x: Any, y: Any) -> tuple[Any, Any]:
    return x // y, x % y


_BINARY = {
    "add": ew.add.op, "sub": ew.subtract.op, "mul": ew.multiply.op, "truediv": ew.divide.op,
    "pow": ew.pow_operator, "matmul": _matmul, "floordiv": rounding.floor_divide.op,
    "mod": rounding.remainder.op, "divmod": _divmod, "and": bits.bitwise_and.op,
    "or": bits.bitwise_or.op, "xor": bits.bitwise_xor.op, "lshift": bits.left_shift.op,
    "rshift": bits.right_shift.op,
}  # fmt: skip
_COMPARISONS = {
    "lt": cmp.less.op, "le": cmp.less_equal.op, "gt": cmp.greater.op, "ge": cmp.greater_equal.op,
    "eq": _equal, "ne": _not_equal,
}  # fmt: skip
_UNARY = {
    "neg": ew.negative.op, "pos": lambda self: self, "abs": ew.absolute.op,
    "invert": bits.invert.op,
}  # fmt: skip


def getitem(x: Any, index: Any) -> Any:
    """x[index], with basic indices on the short path of the record."""
    t = type(index)
    if type(x) is ReverseTracer and (t is int or t is slice or (t is tuple and _is_basic(index))):
        trace = x._trace
        # a trace that has ended is of another type: bind refuses it
        if type(trace) is ReverseTrace and (not interpreters.stagings_open or innermost_staging(trace.level) is None):
            val: Any = x.val
            if type(val) is ndarray or isinstance(val, Tracer):
                try:
                    out = val[index]  # type: ignore[index]  # operators are installed below
                except IndexError:
                    return indexing.getitem(x, index)  # says which axis
                template = index if t is tuple else (index,)
                return trace.result(out, (getitem_code, x.node, template, val.shape, val.dtype))
    try:
        return indexing.getitem(x, index)
    except errors.NonConcreteBooleanIndexError as error:
        error.mend = mends.for_mask() or error.mend
        raise


ndarray = np.ndarray
getitem_code = indexing.getitem_p.code
_BASIC = {int, slice, type(None), type(Ellipsis)}


def _is_basic(index: tuple[Any, ...]) -> bool:
    for i in index:  # noqa: SIM110  # a generator would cost half of the whole
        if type(i) not in _BASIC:
            return False
    return True


def _setitem(x: Any, index: Any, value: Any) -> NoReturn:
    masked = isinstance(index, Tracer) and isinstance(concrete(index), Tracer) and index.dtype.kind == "b"
    shuffles = callers.caller()[0] == "numpy.random.shuffle"
    raise errors.MutationError(
        f"{describe(x)}: item assignment on a traced value",
        mend=callers.mend_for("numpy.random.shuffle", False, True) if shuffles else mends.for_write(masked=masked),
    )


def _delitem(x: Any, index: Any) -> NoReturn:
    raise errors.MutationError(
        f"{describe(x)}: entries of an array cannot be deleted in place",
        mend="take the entries to keep: x = x[keep]",
    )


def _bool(x: Any) -> bool:
    value = concrete(x)
    if isinstance(value, Tracer):
        concreteness.refuse_bool(x)
    return bool(value)


def _float(x: Any) -> NoReturn:
    concreteness.refuse_python(x, "float")


def _complex(x: Any) -> NoReturn:
    concreteness.refuse_python(x, "complex")


def _int(x: Any) -> NoReturn:
    concreteness.refuse_integer(x)


def _hash(x: Any) -> NoReturn:
    concreteness.refuse_hash(x)


def _array(x: Any, dtype: Any = None, copy: bool | None = None) -> NoReturn:
    concreteness.refuse_array(x)


def _round(x: Any, ndigits: int | None = None) -> NoReturn:
    concreteness.refuse_python(x, "int" if ndigits is None else "float")


def _len(x: Any) -> int:
    concreteness.refuse_ended(x)
    shape = x.shape
    if not shape:
        raise errors.ShapeError(
            f"{describe(x)}: len() of unsized object: a number has no length",
            mend=_KNOWN
            if mends.called()
            else "write x[None] for an array of one entry, np.size(x) for the number of entries",
        )
    return int(shape[0])


_KNOWN = "axes, sizes and counts must be known: close over plain ones"


def _iter(x: Any) -> Iterator[Any]:
    shape = x.shape
    if not shape:
        raise errors.ShapeError(
            f"{describe(x)}: iteration over a 0-d array, a number cannot be unpacked",
            mend=_KNOWN if mends.called() else "write x[None] for an array of one entry",
        )
    return (x[i] for i in range(shape[0]))


def _reversed(x: Any) -> Iterator[Any]:
    return (x[i] for i in reversed(range(len(x))))


def _contains(x: Any, value: Any) -> bool:
    return bool((x == value).any())


def _format(x: Any, spec: str) -> str:
    """The value where it is known and a format asks for it, else what repr shows."""
    value = concrete(x) if spec else x
    return describe(x) if isinstance(value, Tracer) else format(value, spec)


def _reduce(x: Any, protocol: Any = None) -> NoReturn:
    raise errors.UnsupportedError(
        f"{describe(x)} cannot be pickled: it lives as long as its transform",
        mend="return it from the transformed function, and pickle the result",
    )


def _same(x: Any, memo: Any = None) -> Any:
    return x  # immutable, so that a copy may be the value itself


def install() -> None:
    """Give tracers their operators."""
    for name, op in _BINARY.items():
        setattr(Tracer, f"__{name}__", op)
        setattr(Tracer, f"__r{name}__", _reflected(op))
    for name, op in (_COMPARISONS | _UNARY).items():
        setattr(Tracer, f"__{name}__", op)
    for name, op in _PYTHON.items():
        setattr(Tracer, f"__{name}__", op)


_PYTHON: dict[str, Any] = {
    "getitem": getitem, "setitem": _setitem, "delitem": _delitem, "bool": _bool, "float": _float, "int": _int,
    "index": _int, "complex": _complex, "array": _array, "round": _round, "len": _len, "iter": _iter,
    "reversed": _reversed, "contains": _contains, "format": _format, "repr": describe, "str": describe,
    "trunc": _round, "hash": _hash, "copy": _same, "deepcopy": _same, "reduce_ex": _reduce,
}  # fmt: skip
install()
