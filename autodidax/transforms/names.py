"""named_scope, named_call and checkpoint_name: names for stretches of a program, and for values in it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ContextDecorator
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.core import sources
from autodidax.core.avals import ShapedArray
from autodidax.core.primitive import Primitive, Sample
from autodidax.core.tracebacks import boundary
from autodidax.transforms.boundary import as_value, check_callable, name_of


def _checked_name(what: str, name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise errors.ArgumentError(f"{what} takes a name, got {name!r}", mend=f'write {what}(..., "attention")')
    return name


class named_scope(ContextDecorator):
    """A context, or decorator, that names what is computed in it: in the messages of errors (``loss/attention``), in
    the reports of `debug_nans`, and in the sources of a program's equations.

    Source: jax.named_scope.

    >>> import numpy as np
    >>> import autodidax
    >>> def f(x):
    ...     with named_scope("attention"):
    ...         return np.sin(x)
    >>> print(autodidax.make_jaxpr(f)(1.0).pretty_print(name_stack=True))
    { lambda ; a:f64[]. let
        b:f64[] = sin a  # attention
      in (b,) }
    """

    def __init__(self, name: str):
        self.name = _checked_name("named_scope", name)
        self._tokens: list[Any] = []

    def _recreate_cm(self) -> named_scope:
        return named_scope(self.name)  # a decorated function may run in several threads, and in itself

    def __enter__(self) -> named_scope:
        self._tokens.append(sources.enter_scopes((self.name,)))
        return self

    def __exit__(self, kind: Any = None, error: BaseException | None = None, traceback: Any = None) -> None:
        if error is not None and not hasattr(error, "scopes_left") and not isinstance(error, errors.AutodidaxError):
            sources.leave_with(error)
        sources.leave_scopes(self._tokens.pop())


def named_call(fun: Callable[..., Any], *, name: str | None = None) -> Callable[..., Any]:
    """`fun`, with what it computes under a name: by default its own.

    Source: jax.named_call.

    >>> import numpy as np
    >>> import autodidax
    >>> autodidax.make_jaxpr(named_call(np.sin, name="wave"))(1.0).eqns[0].source.scopes
    ('wave',)
    """
    check_callable("named_call", fun)
    chosen = _checked_name("named_call", name_of(fun) if name is None else name)

    @boundary
    @functools.wraps(fun)
    def named(*args: Any, **kwargs: Any) -> Any:
        with named_scope(chosen):
            return fun(*args, **kwargs)

    return named


class _Name(Primitive):
    """The identity, on a value that has a name."""

    linear = True
    structural = True

    def impl(self, x: Any, *, name: str) -> Any:
        return x.copy() if type(x) is np.ndarray else x

    def abstract_eval(self, x: ShapedArray, *, name: str) -> ShapedArray:
        return x

    def transpose(self, ct: Any, x: Any, *, name: str) -> list[Any]:
        return [ct]

    def batch(self, args: Sequence[Any], dims: Sequence[Any], *, name: str) -> tuple[Any, int | None]:
        return self.bind(args[0], name=name), dims[0]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        values: list[Any] = [rng.normal(size=shape) for shape in [(), (3,), (2, 3), (0, 2)]]
        values += [values[1].astype(np.float32), values[1] + 1j, np.arange(3)]
        for x in values:
            yield Sample((x,), {"name": "residual"}, name=str(np.asarray(x).dtype))


name_p = _Name("name")


def checkpoint_name(x: Any, name: str) -> Any:
    """The same tree of values, with a name that policies of `checkpoint` can refer to: in a program, an equation
    `name`.

    Source: jax.ad_checkpoint.checkpoint_name.

    >>> import numpy as np
    >>> import autodidax
    >>> autodidax.make_jaxpr(lambda x: checkpoint_name(np.sin(x), "wave"))(1.0)
    { lambda ; a:f64[]. let
        b:f64[] = sin a
        c:f64[] = name[name=wave] b
      in (c,) }
    """
    name = _checked_name("checkpoint_name", name)
    return tree.map(lambda v: name_p(as_value(v, lambda: "checkpoint_name: a value"), name=name), x)
