"""A primitive as a public function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def public(primitive: Any, doc: str) -> Callable[..., Any]:
    """The function of a primitive that stands for one of SciPy's, under its name."""
    op: Callable[..., Any] = primitive.op
    op.__name__ = op.__qualname__ = primitive.numpy_function.__name__
    op.__doc__ = f"{doc}\n\nSource: scipy.special.{op.__name__}.\n"
    return op
