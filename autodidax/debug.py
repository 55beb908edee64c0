"""Looking into transformed functions while they run: debug.print and debug.callback."""

from __future__ import annotations

import builtins
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.core.interpreters import Tracer
from autodidax.core.tracebacks import boundary
from autodidax.transforms.boundary import check_callable
from autodidax.transforms.callbacks import debug_callback_p
from autodidax.transforms.host_functions import host_function

__all__ = ["callback", "print"]


@boundary
def callback(callback: Callable[..., Any], *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Run `callback(*args, **kwargs)` on the host, on plain NumPy values, and ignore what it returns.

    It runs when the program does, in its order: under jit at each call, in the branch that is taken alone, once an
    iteration, and under vmap once a row where an argument differs from row to row (else once, as in JAX). Under jvp and
    grad it sees the primal values, once. In a rule (custom_jvp, custom_vjp) it sees tangents and cotangents; a tangent
    that reverse mode only transposes has no value, and is passed over.

    Parameters
    ----------
    callback : any function; it gets copies of its arguments.
    args, kwargs : trees of arrays, and of other objects (strings, say), which it gets as they are.
    ordered : accepted for JAX's sake: callbacks always run in the order of the program.

    Source: jax.debug.callback.

    >>> import numpy as np
    >>> import autodidax
    >>> seen = []
    >>> autodidax.vmap(lambda x: callback(lambda v: seen.append(float(v)), x))(np.arange(3.0))
    >>> seen
    [0.0, 1.0, 2.0]
    """
    check_callable("debug.callback", callback)
    host, values = host_function("debug.callback", callback, args, kwargs, None, ignore_result=True)
    debug_callback_p(*values, callback=host, ordered=bool(ordered))


@boundary
def print(fmt: str, *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Print `fmt.format(*args, **kwargs)` when the program runs; when that is, is as for `callback`.

    Raises
    ------
    ArgumentError : at the call, where the format does not go with the arguments, or leaves one of them out.

    Source: jax.debug.print.

    >>> import numpy as np
    >>> import autodidax
    >>> @autodidax.grad
    ... def f(x):
    ...     y = np.sin(x)
    ...     print("sin {x} = {:.3f}", y, x=x)
    ...     return y * y
    >>> _ = f(1.0)
    sin 1.0 = 0.841
    """
    if not isinstance(fmt, str):
        raise errors.ArgumentError(
            f"debug.print takes a format string first, it was given a {type(fmt).__name__}",
            mend='write debug.print("x = {}", x)',
        )

    def printed(*values: Any, **named: Any) -> None:
        builtins.print(_format(fmt, values, named))

    printed.__name__ = printed.__qualname__ = f"print({fmt!r})"
    host, values = host_function("debug.print", printed, args, kwargs, None, ignore_result=True)
    given, named = host.join([_stand_in(x) for x in values])
    _format(fmt, given, named)
    debug_callback_p(*values, callback=host, ordered=bool(ordered))


class _Formatter(string.Formatter):
    """Formats as str.format does, and takes no argument that the format does not name."""

    def check_unused_args(self, used_args: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        unused = [f"argument {k}" for k in range(len(args)) if k not in used_args]
        unused += [f"argument {k!r}" for k in kwargs if k not in used_args]
        if unused:
            raise ValueError(f"{unused[0]} is not used")


def _format(fmt: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    try:
        return _Formatter().vformat(fmt, args, kwargs)
    except Exception as e:  # __format__ may raise anything
        what = f"no argument {e}" if isinstance(e, KeyError) else str(e)
        shapes = ", ".join(str(np.shape(x)) for x in tree.leaves((args, kwargs)))
        raise errors.ArgumentError(
            f"debug.print: the format {fmt!r} does not go with its arguments (of shapes {shapes or 'none'}): {what}",
            mend='give one argument for each place, and {:.3f} and the like to scalars only: debug.print("x = {}", x)',
        ) from None


def _stand_in(x: Any) -> Any:
    """A value of the kind that will be printed, to try the format on."""
    if not isinstance(x, Tracer):
        return np.asarray(x)[()]
    one = np.zeros((), x.dtype)[()]
    return np.broadcast_to(one, x.shape) if x.shape else one
