"""make_jaxpr and eval_shape: a function's program, and the shapes of its results, without running it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.config import config
from autodidax.core.avals import ShapedArray, ShapeDtypeStruct
from autodidax.core.interpreters import Tracer, get_aval
from autodidax.core.jaxpr import ClosedJaxpr
from autodidax.core.tracebacks import boundary
from autodidax.transforms.boundary import (
    STATIC_INPUTS,
    argument_name,
    as_output,
    as_value,
    check_callable,
    described,
    leaf_names,
    name_of,
    parameter_names,
)
from autodidax.transforms.side_effects import Watch
from autodidax.transforms.stage import stage


class StaticArguments:
    """Which arguments of a function are static: part of the program's identity instead of its inputs."""

    __slots__ = ("transform", "fun", "kind", "nums", "names")

    def __init__(
        self, transform: str, fun: Any, argnums: Any, argnames: Any, names: tuple[str, ...], kind: str = "static"
    ):
        nums = _listed(argnums, int)
        strs = _listed(argnames, str)
        short = kind.removesuffix("d")  # donated arguments are those of donate_argnums
        if nums is None or strs is None:
            raise errors.ArgumentError(
                f"{transform}: {short}_argnums are integers and {short}_argnames strings, got {argnums!r} and "
                f"{argnames!r}",
                mend=f"write {short}_argnums=(1,) or {short}_argnames=('n',)",
            )
        self.transform = transform
        self.kind = kind
        self.fun = fun
        self._check(nums, strs, names)
        self.nums = set(nums) | {names.index(s) for s in strs if s in names}
        self.names = set(strs) | {names[k] for k in self.nums if -len(names) <= k < len(names)}

    def _check(self, nums: Any, strs: Any, names: tuple[str, ...]) -> None:
        """Static arguments that the function cannot have, as far as its signature shows."""
        known = _signature_of(self.fun)
        if known is None:
            return
        by_position, keyword_only, more_positions, more_keywords = known
        outside = [k for k in nums if not (more_positions or -by_position <= k < by_position)]
        unknown = [s for s in strs if not (more_keywords or s in names or s in keyword_only)]
        if outside or unknown:
            raise errors.ArgumentError(
                f"{self.transform}: {name_of(self.fun)} has no argument {', '.join(map(repr, outside + unknown))} that "
                f"could be {self.kind}",
                mend=f"choose among its parameters: {', '.join([*names, *keyword_only]) or 'it has none'}",
            )

    def split(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, tuple[Any, ...]]:
        """Dynamic args, dynamic kwargs, and the static ones as (place, value) pairs."""
        if not self.nums and not self.names:
            return args, kwargs, ()
        nums = {k % len(args) if -len(args) <= k < len(args) else None for k in self.nums}
        static: list[tuple[int | str, Any]] = [(k, args[k]) for k in range(len(args)) if k in nums]
        static += [(k, kwargs[k]) for k in sorted(kwargs) if k in self.names]
        for place, value in static:
            if isinstance(value, Tracer):
                raise errors.ArgumentError(
                    f"{self.transform} of {name_of(self.fun)}: the static {argument_name(self.fun, place)} is "
                    f"{described(value)}",
                    mend="make the argument dynamic, or pass a plain value: static ones must be known",
                )
            try:
                hash(value)
            except TypeError:
                raise errors.ArgumentError(
                    f"{self.transform} of {name_of(self.fun)}: the static {argument_name(self.fun, place)} is "
                    f"{described(value)}, which cannot be hashed",
                    mend=(
                        "make the argument dynamic, or close over the array"
                        if isinstance(value, np.ndarray)
                        else "pass a hashable value (a tuple instead of a list), or make the argument dynamic"
                    ),
                ) from None
        dynamic = tuple(a for k, a in enumerate(args) if k not in nums)
        return dynamic, {k: v for k, v in kwargs.items() if k not in self.names}, tuple(static)

    @staticmethod
    def join(dynamic: Any, kwargs: dict[str, Any], static: tuple[Any, ...]) -> tuple[list[Any], dict[str, Any]]:
        """The whole call again."""
        args = list(dynamic)
        kwargs = dict(kwargs)
        for place, value in static:
            if isinstance(place, str):
                kwargs[place] = value
            else:
                args.insert(place, value)
        return args, kwargs


def _listed(x: Any, kind: type) -> tuple[Any, ...] | None:
    """An option that may be one item, several, or none, as a tuple; None where an item is of another kind."""
    items = () if x is None else tuple(x) if isinstance(x, tuple | list | set | frozenset | range) else (x,)
    return items if all(isinstance(k, kind) and not isinstance(k, bool) for k in items) else None


def _signature_of(fun: Any) -> tuple[int, list[str], bool, bool] | None:
    """Number of positional parameters, names of keyword-only ones, and whether there are *args and **kwargs."""
    try:
        parameters = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):
        return None
    kinds = [p.kind for p in parameters]
    by_position = sum(k in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for k in kinds)
    keyword_only = [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    return by_position, keyword_only, inspect.Parameter.VAR_POSITIONAL in kinds, inspect.Parameter.VAR_KEYWORD in kinds


def struct_aval(x: Any, what: Callable[[], str]) -> ShapedArray:
    """Aval of a value, or of anything with shape and dtype."""
    if isinstance(x, ShapedArray) or (
        not isinstance(x, Tracer | np.ndarray | np.generic) and hasattr(x, "shape") and hasattr(x, "dtype")
    ):
        return ShapedArray(tuple(x.shape), x.dtype, getattr(x, "weak_type", False))
    return get_aval(as_value(x, what, STATIC_INPUTS))


def stage_call(
    transform: str, fun: Callable[..., Any], args: Any, kwargs: Any, static: tuple[Any, ...], avals: list[ShapedArray]
) -> tuple[ClosedJaxpr, list[Any], tree.PyTreeDef]:
    """The program of a call, its captured tracers, and the tree of its output; `avals` are those of the dynamic
    leaves."""
    _, in_tree = tree.flatten((args, kwargs))
    box: list[Any] = []

    def flat(*leaves: Any) -> list[Any]:
        new_args, new_kwargs = in_tree.unflatten(leaves)
        new_args, new_kwargs = StaticArguments.join(new_args, new_kwargs, static)
        outs, out_tree = tree.flatten(fun(*new_args, **new_kwargs))
        box.append(out_tree)
        return [as_output(x, lambda k=k: f"{transform}: output {k} of {name_of(fun)}") for k, x in enumerate(outs)]

    names = lambda: _dynamic_names(fun, args, kwargs, static)
    watch = Watch(transform, fun) if config.check_side_effects else None
    program, captured = stage(flat, avals, transform=transform, name=name_of(fun), arg_names=names)
    if watch is not None:
        watch.report()
    return program, captured, box[0]


def _dynamic_names(fun: Any, args: Any, kwargs: Any, static: tuple[Any, ...]) -> list[str]:
    full_args, full_kwargs = StaticArguments.join(args, kwargs, static)
    for place, _ in static:
        if isinstance(place, str):
            full_kwargs.pop(place)
        else:
            full_args[place] = None  # an empty tree: keeps the positions, adds no leaf
    return leaf_names(fun, full_args, full_kwargs)


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: Any = None,
    axis_env: Any = None,
    return_shape: bool = False,
    *,
    static_argnames: Any = None,
) -> Callable[..., Any]:
    """A function that returns the program (closed jaxpr) of `fun` for its arguments, without running it.

    Source: jax.make_jaxpr.

    >>> import numpy as np
    >>> make_jaxpr(lambda x: 2.0 * x)(np.zeros(3))
    { lambda ; a:f64[3]. let
        b:f64[3] = mul 2.0:f64[] a
      in (b,) }
    """
    check_callable("make_jaxpr", fun)

    @boundary
    def make_jaxpr_f(*args: Any, **kwargs: Any) -> Any:
        from_names = StaticArguments("make_jaxpr", fun, static_argnums, static_argnames, parameter_names(fun))
        program, shapes = _program_and_shapes("make_jaxpr", fun, *from_names.split(args, kwargs))
        return (program, shapes) if return_shape else program

    make_jaxpr_f.__name__ = f"make_jaxpr_{name_of(fun)}"
    return make_jaxpr_f


def _program_and_shapes(
    transform: str, fun: Callable[..., Any], dynamic: Any, kwargs: Any, static: tuple[Any, ...]
) -> tuple[ClosedJaxpr, Any]:
    """The program of a call, and the shapes and dtypes of its output."""
    leaves, _ = tree.flatten((dynamic, kwargs))
    names = lambda: leaf_names(fun, dynamic, kwargs)
    avals = [struct_aval(x, lambda k=k: f"{transform}: {names()[k]}") for k, x in enumerate(leaves)]
    program, _, out_tree = stage_call(transform, fun, dynamic, kwargs, static, avals)
    return program, out_tree.unflatten([_struct(a) for a in program.out_avals])


def _struct(a: ShapedArray) -> ShapeDtypeStruct:
    return ShapeDtypeStruct(a.shape, a.dtype, a.weak_type)


@boundary
def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Shapes and dtypes of `fun`'s outputs, as ShapeDtypeStructs, without running it; arguments may be structs too.

    Source: jax.eval_shape.

    >>> import numpy as np
    >>> eval_shape(lambda x: x.sum(axis=0), ShapeDtypeStruct((3, 4), np.float32))
    ShapeDtypeStruct(shape=(4,), dtype=float32)
    """
    check_callable("eval_shape", fun)
    return _program_and_shapes("eval_shape", fun, args, kwargs, ())[1]
