"""Functions with several results, and functions that only count or list: how they become public."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodidax import errors
from autodidax.numpy.dispatch import function_for, operand
from autodidax.primitives.special.several_results import SeveralResults


def public_several(primitive: SeveralResults, doc: str) -> Callable[..., Any]:
    """A primitive with several results as a public function that returns a tuple."""

    def function(*args: Any) -> tuple[Any, ...]:
        return tuple(primitive(*map(operand, args)))

    function.__name__ = function.__qualname__ = primitive.name
    function.__doc__ = f"{doc}\n\nSource: scipy.special.{primitive.name}.\n"
    return function_for(primitive.ufunc)(function)


def without_derivative(plain: Callable[..., Any], mend: str) -> Callable[..., Any]:
    """A function of SciPy as it is, which refuses traced values."""

    @function_for(plain)
    def function(*args: Any, **kwargs: Any) -> Any:
        raise errors.NondifferentiableError(f"{plain.__name__} is not for traced values", mend=mend)

    function.__name__ = function.__qualname__ = plain.__name__
    function.__doc__ = f"scipy.special.{plain.__name__}, for plain values."
    return function
