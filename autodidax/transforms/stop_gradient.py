"""stop_gradient: the identity, whose derivative is zero."""

from __future__ import annotations

from typing import Any

from autodidax import tree
from autodidax.core.interpreters import Tracer
from autodidax.primitives.convert import stop_gradient_p


def stop_gradient(x: Any) -> Any:
    """The same tree of values, taken as constants by every derivative.

    Source: jax.lax.stop_gradient.

    >>> import autodidax
    >>> float(autodidax.grad(lambda x: x * stop_gradient(x))(3.0))
    3.0
    """
    return tree.map(lambda v: stop_gradient_p(v) if isinstance(v, Tracer) else v, x)
