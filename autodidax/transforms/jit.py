"""jit: a function is staged once for each signature, and runs as one compiled program."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable
from typing import Any, overload

import numpy as np

from autodidax import errors, tree
from autodidax.compile.cost import cost_of
from autodidax.compile.passes import stages
from autodidax.compile.program import compiled
from autodidax.config import config
from autodidax.core.avals import PYTHON_SCALARS, ShapedArray
from autodidax.core.interpreters import Tracer, frames, get_aval
from autodidax.core.jaxpr import ClosedJaxpr
from autodidax.core.tracebacks import boundary, tidy
from autodidax.transforms.batching import BatchTrace
from autodidax.transforms.boundary import (
    STATIC_INPUTS,
    as_value,
    check_callable,
    fresh_outputs,
    leaf_names,
    name_of,
    parameter_names,
    unshared,
    wrapping,
)
from autodidax.transforms.cache_misses import explain_miss
from autodidax.transforms.calls import jit_p, waits_for_program
from autodidax.transforms.closures import reaches_tracer
from autodidax.transforms.side_effects import Constants
from autodidax.transforms.signatures import JitFunction, P, T
from autodidax.transforms.staging import StaticArguments, stage_call, struct_aval

_programs: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()


class Lowered:
    """A function's program for one signature, before compilation."""

    def __init__(
        self, program: ClosedJaxpr, in_tree: tree.PyTreeDef, out_tree: tree.PyTreeDef, captured: list[Any], name: str
    ):
        self._name = name
        self._program = program
        self._in_tree = in_tree
        self._out_tree = out_tree
        self._captured = captured

    def jaxpr(self) -> ClosedJaxpr:
        """The staged program."""
        return self._program

    def as_text(self) -> str:
        """The staged program, printed."""
        return str(self._program)

    def cost_analysis(self) -> dict[str, int]:
        """What the program costs as it was traced: flops, transcendentals, bytes accessed, peak memory (in bytes)."""
        return cost_of(self._program).as_dict()

    def passes(self) -> list[tuple[str, ClosedJaxpr, dict[str, int]]]:
        """The compiler's passes in order: name, the program after it, and what that costs."""
        return [(name, program, cost_of(program).as_dict()) for name, program in stages(self._program)]

    def compile(self) -> CompiledFunction:
        """The compiled program, callable with arguments of the same signature."""
        return CompiledFunction(self._program, self._in_tree, self._out_tree, self._captured, self._name)


class CompiledFunction:
    """A compiled program with its argument and result trees; static arguments are left out of the call."""

    def __init__(
        self, program: ClosedJaxpr, in_tree: tree.PyTreeDef, out_tree: tree.PyTreeDef, captured: list[Any], name: str
    ):
        self._name = name
        self._program = program
        self._in_tree = in_tree
        self._out_tree = out_tree
        self._captured = captured

    def source(self) -> str:
        """The text of the emitted Python function."""
        return compiled(self._program).source()

    as_text = source

    def cost_analysis(self) -> dict[str, int]:
        """What the program costs after the passes: flops, transcendentals, bytes accessed, peak memory (in bytes)."""
        *_, (_, program) = stages(self._program)
        return cost_of(program).as_dict()

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = tree.flatten((args, kwargs))
        if in_tree != self._in_tree:
            raise errors.TreeError(
                f"compiled {self._name}: the arguments have another structure than those it was compiled for: "
                f"{tree.describe_mismatch(self._in_tree, in_tree)}",
                mend="pass the same trees, without static arguments; or call the jitted function, which compiles anew",
            )
        leaves = [as_value(x, lambda k=k: f"compiled {self._name}: leaf {k}") for k, x in enumerate(leaves)]
        expected = self._program.in_avals[len(self._captured) :]
        for k, (x, want) in enumerate(zip(leaves, expected, strict=True)):
            got = get_aval(x)
            if got.shape != want.shape or got.dtype != want.dtype:
                raise errors.ShapeError(
                    f"compiled {self._name}: leaf {k} of the arguments is {got!r}, it was compiled for {want!r}",
                    mend="pass that shape and dtype, or call the jitted function, which compiles anew",
                )
        if self._captured or any(isinstance(x, Tracer) for x in leaves) or waits_for_program(self._program):
            outs = jit_p(*self._captured, *leaves, jaxpr=self._program, name=self._name)
        else:
            outs = fresh_outputs(compiled(self._program)(*leaves), leaves)
        return self._out_tree.unflatten(outs)


@overload
def jit(
    fun: Callable[P, T],
    *,
    static_argnums: Any = None,
    static_argnames: Any = None,
    donate_argnums: Any = None,
    donate_argnames: Any = None,
    keep_unused: bool = False,
    inline: bool = False,
    backend: str = "numpy",
) -> JitFunction[P, T]: ...
@overload
def jit(
    fun: None = None,
    *,
    static_argnums: Any = None,
    static_argnames: Any = None,
    donate_argnums: Any = None,
    donate_argnames: Any = None,
    keep_unused: bool = False,
    inline: bool = False,
    backend: str = "numpy",
) -> Callable[[Callable[P, T]], JitFunction[P, T]]: ...
@boundary
def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: Any = None,
    static_argnames: Any = None,
    donate_argnums: Any = None,
    donate_argnames: Any = None,
    keep_unused: bool = False,
    inline: bool = False,
    backend: str = "numpy",
) -> Any:
    """`fun` as a staged program: traced once for each combination of shapes, dtypes, trees and static arguments, then
    run as one Python function of NumPy calls.

    Parameters
    ----------
    static_argnums, static_argnames : arguments that are hashed and compared instead of traced.
    donate_argnums, donate_argnames, keep_unused, inline : accepted for JAX's sake, without effect; arguments to donate
        must exist.
    backend : the compiler to use; "numpy".

    Raises
    ------
    TracerBoolConversionError : where Python control flow needs a traced value; use cond, where or a static argument.
    ArgumentError : for an unhashable static argument.

    Source: jax.jit.

    >>> import numpy as np
    >>> float(jit(lambda x: np.sin(x) * 2)(0.0))
    0.0
    """
    if fun is None:
        return lambda f: jit(
            f, static_argnums=static_argnums, static_argnames=static_argnames, donate_argnums=donate_argnums,
            donate_argnames=donate_argnames, backend=backend,
        )  # fmt: skip
    check_callable("jit", fun)
    statics = StaticArguments("jit", fun, static_argnums, static_argnames, parameter_names(fun))
    if donate_argnums is not None or donate_argnames is not None:
        StaticArguments("jit", fun, donate_argnums, donate_argnames, parameter_names(fun), "donated")
    no_statics = not statics.nums and not statics.names
    own: dict[Any, Any] = {}
    with contextlib.suppress(TypeError):  # neither hashable nor weakly referable: the programs live with this wrapper
        own = _programs.setdefault(fun, {}).setdefault((frozenset(statics.nums), frozenset(statics.names)), own)

    def jit_f(*args: Any, **kwargs: Any) -> Any:
        try:
            if config.disable_jit:
                return unshared(fun(*args, **kwargs), (args, kwargs))
            static: Any = ()
            dynamic, new_kwargs = args, kwargs
            if not no_statics:
                dynamic, new_kwargs, static = statics.split(args, kwargs)
            leaves, in_tree = tree.flatten((dynamic, new_kwargs))
            signature, traced = _signature(leaves)
            open_transforms = frames()
            if signature is None:
                names = lambda: leaf_names(fun, dynamic, new_kwargs)
                leaves = [
                    as_value(x, lambda k=k: f"jit: {names()[k]} of {name_of(fun)}", STATIC_INPUTS)
                    for k, x in enumerate(leaves)
                ]
                signature, traced = _signature(leaves)
            key = (in_tree, signature, _static_key(static), _axes(open_transforms) if open_transforms else ())
            entry = own.get(key)
            if entry is None or (open_transforms and reaches_tracer(fun)):
                avals = [get_aval(x) for x in leaves]
                if config.explain_cache_misses:
                    explain_miss(name_of(fun), key, list(own), leaf_names(fun, dynamic, new_kwargs))
                program, captured, out_tree = stage_call("jit", fun, dynamic, new_kwargs, static, avals)
                entry = program, out_tree, captured, Constants(fun) if config.check_side_effects else None
                if not captured:
                    own[key] = entry
            program, out_tree, captured, constants = entry
            if constants is not None:
                constants.report()
            if traced or captured or (open_transforms and waits_for_program(program)):
                outs = jit_p(*captured, *leaves, jaxpr=program, name=name_of(fun))
                return out_tree.unflatten(outs)
            outs = compiled(program, backend)(*leaves)
            return out_tree.unflatten(fresh_outputs(outs, leaves))
        except Exception as error:
            tidy(error)  # as `boundary` does, without another call
            raise

    @boundary
    def lower(*args: Any, **kwargs: Any) -> Lowered:
        dynamic, new_kwargs, static = statics.split(args, kwargs)
        leaves, in_tree = tree.flatten((dynamic, new_kwargs))
        names = lambda: leaf_names(fun, dynamic, new_kwargs)
        avals = [struct_aval(x, lambda k=k: f"jit: {names()[k]} of {name_of(fun)}") for k, x in enumerate(leaves)]
        program, captured, out_tree = stage_call("jit", fun, dynamic, new_kwargs, static, avals)
        return Lowered(program, in_tree, out_tree, captured, name_of(fun))

    jit_f.lower = lower  # type: ignore[attr-defined]  # part of the interface
    jit_f.clear_cache = own.clear  # type: ignore[attr-defined]  # part of the interface
    return wrapping(jit_f, fun, outermost=False)


_type_keys: dict[Any, Any] = {t: t for t in PYTHON_SCALARS} | {bool: bool}


def _signature(leaves: list[Any]) -> tuple[Any, bool]:
    """Shape, dtype and weakness of each leaf as a hashable key (None where a leaf is no value), and whether one is
    traced."""
    out = []
    traced = False
    for x in leaves:
        t = type(x)
        known = _type_keys.get(t)
        if known is not None:
            out.append(known)
        elif isinstance(x, Tracer):
            traced = True
            aval: ShapedArray = x.aval
            out.append((aval.shape, aval.dtype, aval.weak_type))
        elif (t is np.ndarray or isinstance(x, np.generic)) and x.dtype.kind in "fciub":
            out.append((x.shape, x.dtype))
        else:
            return None, False
    return tuple(out), traced


def _static_key(static: tuple[Any, ...]) -> Any:
    return tuple((place, type(value), value) for place, value in static) if static else ()


def _axes(open_transforms: Any) -> Any:
    """The named axes in scope: a program may use them."""
    return tuple(
        (t.axis_name, t.size) for t in open_transforms if isinstance(t, BatchTrace) and t.axis_name is not None
    )
