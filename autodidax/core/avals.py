"""Abstract values: what is known of an array before it is computed (shape, dtype, weak type)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodidax import errors

DTYPE_CODES = {
    "float64": "f64", "float32": "f32", "float16": "f16", "int64": "i64", "int32": "i32", "int16": "i16",
    "int8": "i8", "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "complex128": "c128",
    "complex64": "c64", "bool": "bool",
}  # fmt: skip

#: dtype of the tangent of an integer or boolean value: it holds nothing but zeros
float0 = np.dtype([("float0", np.void, 0)])


class UnknownSize(int):
    """A leading size that is only known at run time (the stacked residuals of a while loop).

    Each is equal to itself alone, so that two unknown sizes never pass for the same.
    """

    def __new__(cls) -> UnknownSize:
        return super().__new__(cls, 1)

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __repr__(self) -> str:
        return "?"

    __str__ = __repr__


def shapes_agree(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether two shapes may be the same: a size that is only known at run time agrees with any."""
    return a == b or (
        len(a) == len(b)
        and all(m == n or isinstance(m, UnknownSize) or isinstance(n, UnknownSize) for m, n in zip(a, b, strict=True))
    )


class ShapedArray:
    """Shape, dtype and weak type of an array; also stands for an operand whose value is not known.

    A weak type is that of a Python scalar: it yields to the dtype it meets (NEP 50).

    >>> ShapedArray((3, 4), np.float32)
    f32[3,4]
    """

    __slots__ = ("shape", "dtype", "weak_type")

    def __init__(self, shape: tuple[int, ...], dtype: Any, weak_type: bool = False):
        self.shape = shape
        self.dtype = dtype if type(dtype) is np.dtype else np.dtype(dtype)
        self.weak_type = weak_type

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def update(self, **changes: Any) -> ShapedArray:
        kept: dict[str, Any] = {"shape": self.shape, "dtype": self.dtype, "weak_type": self.weak_type}
        return ShapedArray(**(kept | changes))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ShapedArray)
            and self.shape == other.shape
            and self.dtype == other.dtype
            and self.weak_type == other.weak_type
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.weak_type))

    def __repr__(self) -> str:
        name = DTYPE_CODES.get(self.dtype.name, self.dtype.name)
        return f"{name}[{','.join(map(str, self.shape))}]"

    def str_short(self) -> str:
        return repr(self)


class ShapeDtypeStruct(ShapedArray):
    """Shape and dtype of an array that need not exist: what `eval_shape` returns and `jit(f).lower` takes."""

    __slots__ = ()

    def __init__(self, shape: tuple[int, ...], dtype: Any, weak_type: bool = False):
        super().__init__(tuple(int(n) for n in shape), dtype, weak_type)

    def __repr__(self) -> str:
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name})"


class Masked:
    """A cotangent with structural zeros: `val` is exactly 0 wherever `mask` is False.

    The transposes of where, maximum, max, clip and the like make them. A product with a masked cotangent stays
    zero where the mask is False, even against inf or nan: so the branch that was not taken poisons nothing.
    """

    __slots__ = ("val", "mask")

    def __init__(self, val: Any, mask: Any):
        self.val = val
        self.mask = mask


#: how to make numbers of dates and durations
TIMES = {
    "M": "subtract a date and divide by a unit: (t - t[0]) / np.timedelta64(1, 's') holds seconds, as numbers",
    "m": "divide durations by a unit: t / np.timedelta64(1, 's') holds seconds, as numbers",
}
PYTHON_SCALARS = {float: np.dtype(np.float64), int: np.dtype(np.int64), complex: np.dtype(np.complex128)}
_BOOL = np.dtype(bool)
_scalar_avals: dict[type, ShapedArray] = {
    **{t: ShapedArray((), d, True) for t, d in PYTHON_SCALARS.items()},
    **{t: ShapedArray((), t) for t in (np.float64, np.float32, np.complex128, np.int64, np.bool_)},
    bool: ShapedArray((), _BOOL),
}


def plain_aval(x: Any) -> ShapedArray:
    """Aval of a plain value: an ndarray, a NumPy scalar, a Python scalar, or what np.asarray takes."""
    t = type(x)
    if t is np.ndarray and x.dtype.kind in "fciubV":
        return ShapedArray(x.shape, x.dtype)
    aval = _scalar_avals.get(t)
    if aval is not None:
        return aval
    if isinstance(x, ShapedArray):
        return x
    if not isinstance(x, np.generic | np.ndarray):
        x = np.asarray(x)
    if x.dtype.kind not in "biufcV":
        raise errors.DtypeError(
            f"a value of dtype {x.dtype} cannot be traced",
            mend=TIMES.get(
                x.dtype.kind, "pass numbers or booleans; keep strings and objects out of the traced arguments"
            ),
        )
    return ShapedArray(x.shape, x.dtype)


def is_inexact(dtype: np.dtype) -> bool:
    """Whether a dtype has derivatives: floating or complex."""
    return dtype.kind in "fc"


def broadcast_shapes(name: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common shape under NumPy's rules; a ShapeError that names the operation and the axis otherwise."""
    first = shapes[0]
    if all(s == first for s in shapes):
        return first
    out: list[int] = []
    for axis in range(1, max(map(len, shapes)) + 1):
        sizes = [s[-axis] for s in shapes if len(s) >= axis]
        wide = [n for n in sizes if isinstance(n, UnknownSize) or n != 1]
        if any(n != wide[0] for n in wide):
            listed = " and ".join(map(str, shapes))
            raise errors.ShapeError(
                f"{name}: shapes {listed} do not broadcast: axis {-axis} has {' and '.join(map(str, sizes))}",
                mend="transpose one operand, or add an axis of size 1",
            )
        out.append(wide[0] if wide else 1)
    return tuple(reversed(out))
