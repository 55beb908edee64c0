"""What programs written for accelerators call: here there is one device, and every result is ready."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import tree


def block_until_ready(x: Any) -> Any:
    """`x` itself: NumPy computes at once.

    >>> block_until_ready(3.0)
    3.0
    """
    return x


def device_put(x: Any, device: Any = None, **options: Any) -> Any:
    """`x` itself, with lists and scalars of its leaves left as they are: there is one device."""
    return x


def device_get(x: Any) -> Any:
    """The tree of `x` with each leaf as a NumPy array or scalar.

    >>> device_get({"a": 1.0})
    {'a': np.float64(1.0)}
    """
    return tree.map(lambda v: np.asarray(v)[()], x)
