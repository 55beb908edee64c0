"""Questions about shape and dtype, and NumPy's dtypes and constants."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import (
    bool_,
    byte,
    cdouble,
    clongdouble,
    complex64,
    complex128,
    complexfloating,
    csingle,
    double,
    dtype,
    e,
    euler_gamma,
    finfo,
    float16,
    float32,
    float64,
    floating,
    generic,
    half,
    iinfo,
    inexact,
    inf,
    int8,
    int16,
    int32,
    int64,
    int_,
    intc,
    integer,
    intp,
    isdtype,
    issubdtype,
    longlong,
    nan,
    newaxis,
    number,
    pi,
    promote_types,
    short,
    signedinteger,
    single,
    ubyte,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    uintc,
    uintp,
    ulonglong,
    unsignedinteger,
    ushort,
)

from autodidax.core.interpreters import Tracer, dtype_of, get_aval, shape_of
from autodidax.numpy.dispatch import numpy_function, operand


def _typed(x: Any) -> Any:
    """What stands for a traced value where NumPy asks for dtypes: a Python scalar of its type, or its dtype."""
    if not isinstance(x, Tracer):
        return x
    aval = x.aval
    return aval.dtype.type(1).item() if aval.weak_type else aval.dtype


@numpy_function
def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that an operation on these gives; a traced Python scalar yields to arrays.

    Source: numpy.result_type.
    """
    return np.result_type(*map(_typed, arrays_and_dtypes))


@numpy_function
def can_cast(from_: Any, to: Any, casting: Any = "safe") -> Any:
    """Whether a dtype can be cast to another under a rule.

    Source: numpy.can_cast.
    """
    return np.can_cast(dtype_of(from_) if isinstance(from_, Tracer) else from_, to, casting)


@numpy_function
def common_type(*arrays: Any) -> Any:
    """The inexact scalar type that all arrays fit.

    Source: numpy.common_type.
    """
    return np.common_type(*[np.empty(0, dtype_of(operand(a))) for a in arrays])


@numpy_function
def min_scalar_type(a: Any, /) -> Any:
    """The dtype of a traced value: its value is not looked at.

    Source: numpy.min_scalar_type.
    """
    return dtype_of(a)


@numpy_function
def shape(a: Any) -> Any:
    """The sizes of the axes.

    Source: numpy.shape.
    """
    return shape_of(operand(a))


@numpy_function
def ndim(a: Any) -> Any:
    """The number of axes.

    Source: numpy.ndim.
    """
    return len(shape_of(operand(a)))


@numpy_function
def size(a: Any, axis: Any = None) -> Any:
    """The number of entries, in all or along axes.

    Source: numpy.size.
    """
    aval = get_aval(operand(a))
    return aval.size if axis is None else np.size(np.broadcast_to(0, aval.shape), axis)


@numpy_function
def iscomplexobj(x: Any) -> Any:
    """Whether the dtype is complex.

    Source: numpy.iscomplexobj.
    """
    return dtype_of(operand(x)).kind == "c"


@numpy_function
def isrealobj(x: Any) -> Any:
    """Whether the dtype is not complex.

    Source: numpy.isrealobj.
    """
    return dtype_of(operand(x)).kind != "c"


def isscalar(element: Any) -> bool:
    """Whether a value is a scalar: also a traced Python scalar is one.

    Source: numpy.isscalar.
    """
    return element.weak_type if isinstance(element, Tracer) else np.isscalar(element)


def __getattr__(name: str) -> Any:
    """The classes of numpy.dtypes, a module of the same name."""
    return getattr(np.dtypes, name)


__all__ = [
    "bool_", "byte", "can_cast", "cdouble", "clongdouble", "common_type", "complex64", "complex128", "complexfloating",
    "csingle", "double", "dtype", "e", "euler_gamma", "finfo", "float16", "float32", "float64", "floating", "generic",
    "half", "iinfo", "inexact", "inf", "int8", "int16", "int32", "int64", "int_", "intc", "integer", "intp",
    "iscomplexobj", "isdtype", "isrealobj", "isscalar", "issubdtype", "longlong", "min_scalar_type", "nan", "ndim",
    "newaxis", "number", "pi", "promote_types", "result_type", "shape", "short", "signedinteger", "single", "size",
    "ubyte", "uint", "uint8", "uint16", "uint32", "uint64", "uintc", "uintp", "ulonglong", "unsignedinteger", "ushort",
]  # fmt: skip
