"""Arrays that meet demands: finite entries, a dtype, an order in memory; iterators over memory; old names."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of
from autodidax.numpy.callers import ALTERNATIVES
from autodidax.numpy.concreteness import known_value
from autodidax.numpy.creation import array
from autodidax.numpy.dispatch import function_for, numpy_function, operand
from autodidax.numpy.joining import vstack


@numpy_function
def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """As `asarray`, where no entry is NaN or infinite; values that are not known raise, as they cannot be looked at.

    Source: numpy.asarray_chkfinite.
    """
    a = array(a, dtype)
    known = known_value(a)
    if known is None:
        raise errors.ConcretizationTypeError(
            "asarray_chkfinite: whether all entries are finite is not known",
            mend="look at the arguments of the transformed function, and write asarray inside; or use debug_nans",
        )
    if dtype_of(a).kind in "fc" and not np.all(np.isfinite(known)):
        raise ValueError("array must not contain infs or NaNs")
    return a


@numpy_function
def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    """As `asarray`: what is required of the memory of an array has no meaning for a traced value.

    Source: numpy.require.
    """
    return array(operand(a), dtype)


@function_for(getattr(np, "row_stack", np.vstack))  # a later NumPy lacks it
def row_stack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """The old name of `vstack`, which NumPy gives up.

    Source: numpy.row_stack.
    """
    warnings.warn("`row_stack` alias is deprecated. Use `np.vstack` directly.", DeprecationWarning, stacklevel=3)
    return vstack(tup, dtype=dtype, casting=casting)


@numpy_function
def nditer(
    op: Any, flags: Any = None, op_flags: Any = None, op_dtypes: Any = None, order: Any = "K", casting: Any = "safe",
    op_axes: Any = None, itershape: Any = None, buffersize: Any = 0,
) -> Any:  # fmt: skip
    """NumPy's iterator over plain arrays; traced values, which NumPy would take for objects, are refused.

    Source: numpy.nditer.
    """
    raise errors.UnsupportedError("nditer: traced values have no memory to walk", mend=ALTERNATIVES[np.nditer])


@numpy_function
def nested_iters(
    op: Any, axes: Any, flags: Any = None, op_flags: Any = None, op_dtypes: Any = None, order: Any = "K",
    casting: Any = "safe", buffersize: Any = 0,
) -> Any:  # fmt: skip
    """NumPy's iterators over plain arrays; traced values are refused.

    Source: numpy.nested_iters.
    """
    raise errors.UnsupportedError(
        "nested_iters: traced values have no memory to walk", mend=ALTERNATIVES[np.nested_iters]
    )


__all__ = ["asarray_chkfinite", "nditer", "nested_iters", "require", "row_stack"]
