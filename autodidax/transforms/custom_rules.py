"""custom_jvp and custom_vjp: functions with derivatives written by the user."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import (
    Tracer,
    dtype_of,
    frames,
    get_aval,
    shape_of,
)
from autodidax.core.tracebacks import boundary
from autodidax.transforms.backward import cast
from autodidax.transforms.boundary import (
    as_output,
    as_value,
    check_arity,
    check_callable,
    described,
    is_float0,
    name_of,
    structure_text,
    zero_tangent,
)
from autodidax.transforms.closures import reached_tracers, rebuilt
from autodidax.transforms.custom_calls import custom_jvp_p, custom_vjp_p, plus, pull_captured, through_captured


class _CustomFunction:
    """A function with a rule of its own; calls are resolved to positions, and nondiff_argnums are set aside."""

    def __init__(
        self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()
    ):
        check_callable(type(self).__name__, fun)
        update_wrapper(self, fun)
        self.fun = fun
        nums = nondiff_argnums if isinstance(nondiff_argnums, tuple | list) else (nondiff_argnums,)
        argnames = (nondiff_argnames,) if isinstance(nondiff_argnames, str) else tuple(nondiff_argnames)
        names = list(inspect.signature(fun).parameters) if argnames else []
        if not all(isinstance(k, int) for k in nums) or not set(argnames) <= set(names):
            raise errors.ArgumentError(
                f"{type(self).__name__} of {name_of(fun)}: nondiff_argnums {nondiff_argnums!r} and nondiff_argnames "
                f"{nondiff_argnames!r} must be positions and names of its arguments",
                mend="write nondiff_argnums=(0,), or nondiff_argnames=('n',) for an argument n",
            )
        self.nondiff_argnums = (*nums, *(names.index(n) for n in argnames))

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return lambda *args, **kwargs: self(instance, *args, **kwargs)

    def _resolve(self, args: Any, kwargs: Any) -> list[Any]:
        try:
            bound = inspect.signature(self.fun).bind(*args, **kwargs)
        except TypeError as e:
            raise errors.ArgumentError(
                f"{name_of(self.fun)}: {e}", mend="give the arguments that it is defined with"
            ) from None
        except ValueError:  # no signature to be had
            return list(args)
        if any(bound.signature.parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in bound.arguments):
            raise errors.ArgumentError(
                f"{name_of(self.fun)}: custom rules need arguments that can be given by position, "
                f"not the keyword-only {', '.join(map(repr, bound.kwargs))}",
                mend="make them positional parameters",
            )
        bound.apply_defaults()
        return list(bound.args)

    def _split(self, args: list[Any]) -> tuple[list[Any], list[Any]]:
        """The arguments that are set aside, and the others."""
        n = len(args)
        if any(not -n <= k < n for k in self.nondiff_argnums):
            raise errors.ArgumentError(
                f"{name_of(self.fun)}: nondiff_argnums {self.nondiff_argnums} for a call with "
                + errors.counted(n, "argument"),
                mend="give positions within the function's arguments",
            )
        aside = {k % n for k in self.nondiff_argnums}
        return [args[k % n] for k in self.nondiff_argnums], [args[k] for k in range(n) if k not in aside]

    def _prepared(self, args: Any, kwargs: Any) -> tuple[list[Any], list[Any], tree.PyTreeDef, list[Any], Any]:
        """Of a call: the arguments set aside, the leaves of the others and their tree, the tracers that the user's
        functions close over, and a function from values for those to this function and its set-aside arguments,
        rebuilt over them."""
        aside, chosen = self._split(self._resolve(args, kwargs))
        leaves, in_tree = tree.flatten(tuple(chosen))
        leaves = [as_value(x, lambda: f"an argument of {name_of(self.fun)}") for x in leaves]
        user = [self, *aside]
        captured = list({id(t): t for t in reached_tracers(user)}.values()) if frames() else []
        c = len(captured)

        def parts(values: Sequence[Any]) -> list[Any]:
            return rebuilt(user, captured, values[:c]) if c else user

        return aside, leaves, in_tree, captured, parts

    def _joined(self, aside: Sequence[Any], chosen: Sequence[Any]) -> list[Any]:
        """All arguments in their positions."""
        n = len(aside) + len(chosen)
        places = {k % n: v for k, v in zip(self.nondiff_argnums, aside, strict=True)}
        rest = iter(chosen)
        return [places[k] if k in places else next(rest) for k in range(n)]

    def _run(self, aside: Any, chosen: Any, out_box: list[Any]) -> list[Any]:
        """The function itself; flat outputs, their tree in the box."""
        outs, out_box[:] = _flatten_output(self.fun, self.fun(*self._joined(aside, chosen)))
        return outs


def _flatten_output(fun: Any, out: Any) -> tuple[list[Any], list[Any]]:
    leaves, treedef = tree.flatten(out)
    return [as_output(x, lambda: f"an output of {name_of(fun)}") for x in leaves], [treedef]


class custom_jvp(_CustomFunction):
    """A function whose derivative is given by a forward rule, from which reverse mode follows.

    Parameters
    ----------
    fun : the function.
    nondiff_argnums : positions of arguments that are no arrays or are not differentiated; the rule gets them first.

    Give the rule with `defjvp`: `rule(*nondiff, primals, tangents) -> (out, tangent of out)`, or one function an
    argument with `defjvps`: `rule(tangent, out, *args)`.

    Source: jax.custom_jvp.

    >>> import numpy as np
    >>> import autodidax
    >>> @custom_jvp
    ... def f(x):
    ...     return np.sin(x)
    >>> @f.defjvp
    ... def f_jvp(primals, tangents):
    ...     return f(*primals), 2.0 * tangents[0]
    >>> float(autodidax.grad(f)(0.3))
    2.0
    """

    jvp: Callable[..., Any] | None = None

    @boundary
    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Set the forward rule; may be used as a decorator."""
        check_callable("defjvp", jvp)
        self.jvp = jvp
        return jvp

    @boundary
    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """One rule an argument, `rule(tangent, out, *args)`; None where the argument has no derivative."""
        if self.nondiff_argnums:
            raise errors.ArgumentError("defjvps does not go with nondiff_argnums", mend="use defjvp")
        if not all(f is None or callable(f) for f in jvps):
            raise errors.ArgumentError(
                "defjvps takes functions or None, one an argument", mend="write f.defjvps(rule, None)"
            )

        def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
            if len(jvps) != len(primals):
                raise errors.ArgumentError(
                    f"custom_jvp {name_of(self.fun)}: defjvps got {errors.counted(len(jvps), 'rule')} for "
                    + errors.counted(len(primals), "argument"),
                    mend="give one rule for each argument, None where the derivative is zero",
                )
            out = self(*primals)
            terms = [
                f(t, out, *primals)
                for f, t in zip(jvps, tangents, strict=True)
                if f is not None and not any(map(is_float0, tree.leaves(t)))
            ]
            if not terms:
                return out, tree.map(zero_tangent, out)
            total = terms[0]
            for term in terms[1:]:
                total = tree.map(lambda a, b: a + b, total, term)
            return out, total

        self.jvp = rule

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.jvp is None:
            raise errors.ArgumentError(
                f"custom_jvp {name_of(self.fun)} has no rule yet", mend="define one with defjvp before calling it"
            )
        _, leaves, in_tree, captured, parts = self._prepared(args, kwargs)
        out_box: list[Any] = []
        c = len(captured)

        def fun(*values: Any) -> list[Any]:
            own, *own_aside = parts(values)
            return own._run(own_aside, in_tree.unflatten(values[c:]), out_box)

        def rule(primals: Any, tangents: Any) -> tuple[list[Any], list[Any]]:
            own, *own_aside = parts(primals)
            outs, ts = own._rule(own_aside, in_tree, primals[c:], tangents[c:], out_box)
            if any(t is not None for t in tangents[:c]):
                ts = [plus(a, b) for a, b in zip(ts, through_captured(fun, primals, tangents[:c]), strict=True)]
            return outs, ts

        outs = custom_jvp_p(*captured, *leaves, fun=fun, rule=rule, name=name_of(self.fun))
        return out_box[0].unflatten(outs)

    def _rule(self, aside: list[Any], in_tree: Any, primals: Any, tangents: Any, out_box: list[Any]) -> Any:
        """The rule on flat leaves; a tangent that is None is zero."""
        name = name_of(self.fun)
        if all(t is None for t in tangents):
            out = self(*self._joined(aside, in_tree.unflatten(primals)))
            outs, out_box[:] = _flatten_output(self.fun, out)
            return outs, [None] * len(outs)
        ts = [zero_tangent(x) if t is None else t for x, t in zip(primals, tangents, strict=True)]
        assert self.jvp is not None
        args = (*aside, in_tree.unflatten(primals), in_tree.unflatten(ts))
        try:
            result = self.jvp(*args)
        except TypeError as error:
            check_arity(error, f"custom_jvp {name}", (self.jvp, _call("rule", aside, "primals, tangents"), len(args)))
            raise
        if not isinstance(result, tuple | list) or len(result) != 2:
            raise errors.TreeError(
                f"the rule of custom_jvp {name} must return a pair (out, tangent), it returned {described(result)}",
                mend="return (out, tangent of out)",
            )
        outs, out_box[:] = _flatten_output(self.jvp, result[0])
        return outs, _checked_tangents(name, out_box[0], outs, result[1])


def _checked_tangents(name: str, out_tree: Any, outs: list[Any], tangent: Any) -> list[Any]:
    ts, own_tree = tree.flatten(tangent, is_leaf=lambda x: x is None)
    if own_tree != out_tree:
        ts, own_tree = tree.flatten(tangent)
    if own_tree != out_tree:
        raise errors.TreeError(
            f"the rule of custom_jvp {name}: the tangent's tree {structure_text(own_tree)} is not the output's "
            f"{structure_text(out_tree)}",
            mend="return a tangent with the structure of the output",
        )
    checked: list[Any] = []
    for o, t in zip(outs, ts, strict=True):
        if t is None or is_float0(t) or not is_inexact(dtype_of(o)):
            checked.append(None)
            continue
        t = as_output(t, lambda: f"the rule of custom_jvp {name}: the tangent")
        if dtype_of(t).kind == "c" != dtype_of(o).kind:
            raise errors.DtypeError(
                f"the rule of custom_jvp {name}: the tangent has dtype {dtype_of(t)}, the output {dtype_of(o)}",
                mend="return a tangent of the output's dtype, e.g. its real part",
            )
        if shape_of(t) != shape_of(o):
            raise errors.ShapeError(
                f"the rule of custom_jvp {name}: the tangent has shape {shape_of(t)}, the output {shape_of(o)}",
                mend="return a tangent of the output's shape",
            )
        checked.append(cast(t, dtype_of(o)))
    return checked


class custom_vjp(_CustomFunction):
    """A function whose derivative is given by a backward rule.

    Give it with `defvjp(fwd, bwd)`: `fwd(*args) -> (out, residuals)` and `bwd(*nondiff, residuals, ct) -> tuple` with
    one cotangent an argument (None for zero). In forward mode the derivative is the transpose of `bwd`, which must be
    linear in the cotangent; forward over reverse differentiates `bwd` itself.

    Source: jax.custom_vjp.

    >>> import autodidax
    >>> @custom_vjp
    ... def f(x):
    ...     return x * x
    >>> f.defvjp(lambda x: (f(x), x), lambda x, ct: (7.0 * ct,))
    >>> float(autodidax.grad(f)(1.0))
    7.0
    """

    fwd: Callable[..., Any] | None = None
    bwd: Callable[..., Any] | None = None

    @boundary
    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Set the forward and the backward function."""
        check_callable("defvjp", fwd)
        check_callable("defvjp", bwd)
        self.fwd, self.bwd = fwd, bwd

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.fwd is None or self.bwd is None:
            raise errors.ArgumentError(
                f"custom_vjp {name_of(self.fun)} has no rule yet", mend="define one with defvjp before calling it"
            )
        aside, leaves, in_tree, captured, parts = self._prepared(args, kwargs)
        avals = [get_aval(x) for x in leaves]
        out_box: list[Any] = []
        residual_box: list[Any] = []
        c = len(captured)

        def fun(*values: Any) -> list[Any]:
            own, *own_aside = parts(values)
            return own._run(own_aside, in_tree.unflatten(values[c:]), out_box)

        def fwd(*values: Any) -> tuple[list[Any], list[Any]]:
            own, *own_aside = parts(values)
            outs, residuals = own._fwd(own_aside, in_tree.unflatten(values[c:]), out_box, residual_box)
            return outs, [*residuals, *values] if c else residuals

        def bwd(residuals: Any, cts: Any) -> list[Any]:
            if not c:
                return self._bwd(aside, residuals, cts, in_tree, avals, out_box, residual_box)
            n = len(residuals) - c - len(avals)
            values = residuals[n:]
            own, *own_aside = parts(values)
            gs = own._bwd(own_aside, residuals[:n], cts, in_tree, avals, out_box, residual_box)
            return [*pull_captured(fun, values, cts, c), *gs]

        outs = custom_vjp_p(*captured, *leaves, fun=fun, fwd=fwd, bwd=bwd, name=name_of(self.fun))
        return out_box[0].unflatten(outs)

    def _fwd(self, aside: list[Any], chosen: Any, out_box: list[Any], residual_box: list[Any]) -> Any:
        """Flat outputs and flat residuals; residuals that are no values (strings, say) stay behind in the box."""
        assert self.fwd is not None
        args = self._joined(aside, chosen)
        try:
            result = self.fwd(*args)
        except TypeError as error:
            check_arity(error, f"custom_vjp {name_of(self.fun)}", (self.fwd, "fwd(*args)", len(args)))
            raise
        if not isinstance(result, tuple | list) or len(result) != 2:
            raise errors.TreeError(
                f"the fwd of custom_vjp {name_of(self.fun)} must return a pair (out, residuals), it returned "
                f"{described(result)}",
                mend="return (out, residuals)",
            )
        outs, out_box[:] = _flatten_output(self.fwd, result[0])
        residuals, treedef = tree.flatten(result[1])
        static = [not _is_value(r) for r in residuals]
        residual_box[:] = [treedef, static, [r for r, s in zip(residuals, static, strict=True) if s]]
        return outs, [r for r, s in zip(residuals, static, strict=True) if not s]

    def _bwd(
        self, aside: list[Any], residuals: Any, cts: Any, in_tree: Any, avals: Any, out_box: Any, residual_box: Any
    ) -> list[Any]:
        treedef, static, kept = residual_box
        dynamic, fixed = iter(residuals), iter(kept)
        whole = treedef.unflatten([next(fixed) if s else next(dynamic) for s in static])
        assert self.bwd is not None
        args = (*aside, whole, out_box[0].unflatten(cts))
        try:
            gs = self.bwd(*args)
        except TypeError as error:
            call = _call("bwd", aside, "residuals, ct")
            check_arity(error, f"custom_vjp {name_of(self.fun)}", (self.bwd, call, len(args)))
            raise
        return _checked_cotangents(name_of(self.fun), gs, in_tree, avals)


def _call(name: str, aside: Sequence[Any], rest: str) -> str:
    """How a rule is called, for messages."""
    return f"{name}({'*nondiff, ' if aside else ''}{rest})"


def _is_value(x: Any) -> bool:
    return isinstance(x, Tracer | np.ndarray | np.generic | int | float | complex)


def _checked_cotangents(name: str, gs: Any, in_tree: Any, avals: list[Any]) -> list[Any]:
    """The backward rule's results, one a leaf; None where zero."""
    n = len(tree.treedef_children(in_tree))
    if not isinstance(gs, tuple | list) or len(gs) != n:
        shown = errors.counted(len(gs), "value") if isinstance(gs, tuple | list) else described(gs)
        raise errors.TreeError(
            f"the bwd of custom_vjp {name} must return a tuple of {errors.counted(n, 'cotangent')}, one for each "
            f"argument, it returned {shown}",
            mend="return one cotangent for each argument, None for those that are zero",
        )
    flat: list[Any] = []
    for k, (g, sub) in enumerate(zip(gs, tree.treedef_children(in_tree), strict=True)):
        if g is None:
            flat += [None] * sub.num_leaves
            continue
        leaves, own = tree.flatten(g, is_leaf=lambda x: x is None)
        if own != sub:
            leaves, own = tree.flatten(g)
        if own != sub:
            raise errors.TreeError(
                f"the bwd of custom_vjp {name}: the cotangent of argument {k} has the tree "
                f"{structure_text(own)}, the argument {structure_text(sub)}",
                mend="return a cotangent with the structure of the argument",
            )
        flat += leaves
    result: list[Any] = []
    for g, a in zip(flat, avals, strict=True):
        if g is None or is_float0(g) or not is_inexact(a.dtype):
            result.append(None)
            continue
        g = as_output(g, lambda: f"the bwd of custom_vjp {name}: a cotangent")
        if shape_of(g) != a.shape:
            raise errors.ShapeError(
                f"the bwd of custom_vjp {name} returned a cotangent of shape {shape_of(g)} for an argument of shape "
                f"{a.shape}",
                mend="return a cotangent of the argument's shape",
            )
        if dtype_of(g).kind == "c" != a.dtype.kind:
            raise errors.DtypeError(
                f"the bwd of custom_vjp {name} returned a cotangent of dtype {dtype_of(g)} for an argument of dtype "
                f"{a.dtype}",
                mend="return a cotangent of the argument's dtype, e.g. its real part",
            )
        result.append(g)
    return result
