"""Functions with arguments, as pytrees."""

import functools
from collections.abc import Callable
from typing import Any

from autodidax.tree.registration import register_pytree_node


class _StaticPartial:
    """Stands for a functools.partial inside a Partial, which would otherwise absorb it and its arguments."""

    __slots__ = ("args", "func", "keywords", "wrapped")

    def __init__(self, wrapped: Any) -> None:
        self.wrapped = wrapped
        self.func, self.args, self.keywords = wrapped.func, wrapped.args, wrapped.keywords

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.wrapped(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _StaticPartial):
            return NotImplemented
        mine = (self.func, self.args, self.keywords)
        return self.wrapped is other.wrapped or mine == (other.func, other.args, other.keywords)

    def __hash__(self) -> int:
        return hash((self.func, self.args, tuple(sorted(self.keywords.items()))))

    def __repr__(self) -> str:
        return repr(self.wrapped)

    def __reduce__(self) -> tuple[Any, ...]:
        return _StaticPartial, (self.wrapped,)


class Partial(functools.partial[Any]):
    """``functools.partial`` as a pytree: its arguments are children, the function is metadata.

    A Partial of a Partial joins the arguments of both; those of a plain ``functools.partial`` stay metadata.

    >>> import operator
    >>> from autodidax.tree import leaves, map
    >>> double = Partial(operator.mul, 2.0)
    >>> leaves(double), double(4.0), map(lambda x: 10.0 * x, double)(4.0)
    ([2.0], 8.0, 80.0)
    """

    def __new__(cls, func: Callable[..., Any], /, *args: Any, **keywords: Any) -> "Partial":
        if isinstance(func, functools.partial):
            if isinstance(func, Partial):
                args, keywords = (*func.args, *args), {**func.keywords, **keywords}
            func = func.func if isinstance(func, Partial) else _StaticPartial(func)
        return super().__new__(cls, func, *args, **keywords)


register_pytree_node(
    Partial,
    lambda partial: ((partial.args, partial.keywords), partial.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
)
