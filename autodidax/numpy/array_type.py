"""`autodidax.Array`: the type that arrays, NumPy's scalars and traced values share for isinstance."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from autodidax.core.interpreters import Tracer

_MEMBERS = (np.ndarray, np.generic, Tracer)


class _ArrayMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _MEMBERS)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, _MEMBERS)


class Array(metaclass=_ArrayMeta):
    """Any array: a NumPy array or scalar, or a traced value. For isinstance and annotations only.

    Source: jax.Array.

    >>> import numpy as np
    >>> isinstance(np.ones(3), Array), isinstance(1.0, Array)
    (True, False)
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("Array is for isinstance only; make arrays with numpy.array or autodidax.numpy.array")
