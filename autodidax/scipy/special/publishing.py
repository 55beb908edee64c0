"""A primitive as a public function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodidax.core.primitive import Pointwise


def public(primitive: Pointwise, doc: str) -> Callable[..., Any]:
    op: Callable[..., Any] = primitive.op
    op.__doc__ = f"{doc}\n\nSource: scipy.special.{op.__name__}.\n"
    return op
