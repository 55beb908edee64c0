"""Types that the public signatures share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Aux = TypeVar("Aux")
ReturnType = TypeVar("ReturnType", covariant=True)

Argnums = int | Sequence[int] | None
Argnames = str | Sequence[str] | None


class JitFunction(Protocol[P, ReturnType]):
    """What `jit` returns: the function, with its programs."""

    __name__: str
    __wrapped__: Callable[..., Any]
    clear_cache: Callable[[], None]
    lower: Callable[..., Any]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ReturnType: ...
