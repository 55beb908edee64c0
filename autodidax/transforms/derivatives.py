"""jvp, vjp, linearize and linear_transpose: the derivative of a function in each of its forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autodidax import errors, tree
from autodidax.core.avals import ShapedArray, is_inexact
from autodidax.core.interpreters import Tracer, dtype_of, get_aval
from autodidax.core.tracebacks import boundary
from autodidax.transforms.backward import backward, replay, transpose_record
from autodidax.transforms.boundary import (
    argument_name,
    as_gradient,
    as_output,
    as_value,
    check_callable,
    check_tangent,
    described,
    enter,
    fresh_outputs,
    name_of,
    own_copy,
    structure_text,
    zero_tangent,
)
from autodidax.transforms.forward import JVPTrace, instantiate
from autodidax.transforms.reverse import Guard, LinearTrace, ReverseTrace, is_zero


def _flat_values(transform: str, fun: Any, args: Any, kind: str = "primal") -> tuple[list[Any], tree.PyTreeDef]:
    leaves, treedef = tree.flatten(args)
    return [
        as_value(x, lambda k=k: f"{transform}: {kind} {k} of {name_of(fun)}") for k, x in enumerate(leaves)
    ], treedef


def split_aux(transform: str, fun: Any, out: Any) -> tuple[Any, Any]:
    """(output, aux) of a function that was said to have aux."""
    if not isinstance(out, tuple) or len(out) != 2:
        raise errors.ArgumentError(
            f"{transform} with has_aux=True needs {name_of(fun)} to return a pair (output, aux), got {described(out)}",
            mend="return (output, aux), or leave has_aux out",
        )
    return out


def aux_values(aux: Any, trace: Any) -> Any:
    """Auxiliary output without this transform's tracers; plain arrays are copied."""
    leaves, treedef = tree.flatten(aux)
    lowered = [x.val if isinstance(x, Tracer) and x._trace is trace else x for x in leaves]
    return treedef.unflatten(fresh_outputs(lowered, always=True))


def _sequence(transform: str, what: str, x: Any) -> tuple[Any, ...]:
    if not isinstance(x, tuple | list):
        raise errors.ArgumentError(
            f"{transform}: {what} must be a tuple or list with one entry an argument, got {type(x).__name__}",
            mend=f"write {transform}(f, (x,), (tx,)) for a function of one argument",
        )
    return tuple(x)


def _match_trees(transform: str, primals: Any, tangents: Any, kinds: tuple[str, str]) -> list[Any]:
    """Leaves of `tangents` in the structure of `primals`; None stands for a zero."""
    leaves, treedef = tree.flatten(tangents)
    if treedef == primals:
        return leaves
    with_none, treedef = tree.flatten(tangents, is_leaf=lambda x: x is None)
    if treedef == primals:
        return with_none
    difference = tree.describe_mismatch(primals.unflatten([0] * primals.num_leaves), tangents)
    raise errors.TreeError(
        f"{transform}: the tree of the {kinds[1]} does not match that of the {kinds[0]}: {difference}",
        mend=f"give the {kinds[1]} the structure {structure_text(primals)}",
    )


@boundary
def jvp(fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """Value of `fun` at the primals and its derivative along the tangents (forward mode).

    Parameters
    ----------
    primals, tangents : tuples or lists, one entry an argument; trees of arrays; a tangent has its primal's shape and
        dtype (for an integer primal: None or float0 zeros).

    Returns
    -------
    (out, tangent of out), and the auxiliary output where has_aux.

    Raises
    ------
    TreeError, ShapeError, DtypeError : where a tangent does not fit its primal.

    Source: jax.jvp.

    >>> import numpy as np
    >>> y, t = jvp(np.sin, (0.0,), (2.0,))
    >>> float(y), float(t)
    (0.0, 2.0)
    """
    check_callable("jvp", fun)
    primals, tangents = _sequence("jvp", "primals", primals), _sequence("jvp", "tangents", tangents)
    xs, treedef = _flat_values("jvp", fun, primals)
    ts = _match_trees("jvp", treedef, tangents, ("primals", "tangents"))
    ts = [check_tangent(t, x, lambda k=k: f"jvp: tangent {k}") for k, (t, x) in enumerate(zip(ts, xs, strict=True))]
    with JVPTrace("jvp", name_of(fun)) as trace:
        boxed = [x if t is None else trace.box(x, t) for x, t in zip(xs, ts, strict=True)]
        out = fun(*treedef.unflatten(boxed))
        if has_aux:
            out, aux = split_aux("jvp", fun, out)
            aux = aux_values(aux, trace)
        outs, out_tree = tree.flatten(out)
        pairs = [trace.unbox(own_copy(as_output(x, lambda: f"jvp: an output of {name_of(fun)}"))) for x in outs]
    values = fresh_outputs([v for v, _ in pairs], [*xs, *ts])
    out_ts = [zero_tangent(v) if t is None or not is_inexact(dtype_of(v)) else instantiate(t, v) for v, t in pairs]
    out_ts = fresh_outputs(out_ts, [*xs, *ts, *values])
    result = out_tree.unflatten(values), out_tree.unflatten(out_ts)
    return (*result, aux) if has_aux else result


def _one_cotangent(what: str, cts: tuple[Any, ...]) -> Any:
    if len(cts) != 1:
        raise errors.ArgumentError(
            f"{what} takes one cotangent, a tree like the output, it was given {len(cts)}",
            mend="pack the cotangents of several outputs as the function packs its outputs: pullback((ct1, ct2))",
        )
    return cts[0]


class Pullback:
    """The function that `vjp` returns: cotangents of the output to cotangents of the arguments."""

    __slots__ = ("_tape", "_inputs", "_in_tree", "_out_nodes", "_out_avals", "_out_tree", "_name")

    def __init__(self, tape: Any, inputs: Any, in_tree: Any, out_nodes: Any, out_avals: Any, out_tree: Any, name: str):
        self._tape = tape
        self._inputs = inputs
        self._in_tree = in_tree
        self._out_nodes = out_nodes
        self._out_avals = out_avals
        self._out_tree = out_tree
        self._name = name

    @boundary
    def __call__(self, *output_cts: Any) -> Any:
        ct = _one_cotangent(f"the pullback of {self._name}", output_cts)
        cts = _match_trees(f"pullback of {self._name}", self._out_tree, ct, ("output", "cotangent"))
        slots: list[Any] = [None] * len(self._tape)
        for k, (c, n, aval) in enumerate(zip(cts, self._out_nodes, self._out_avals, strict=True)):
            c = check_tangent(c, aval, lambda k=k: f"pullback of {self._name}: cotangent {k}", "the output")
            if c is not None and n is not None:
                have = slots[n]
                slots[n] = c if have is None else have + c
        count = sum(1 for x in self._inputs if is_inexact(x.dtype))
        gs = iter(backward(self._tape, count, slots))
        grads = [as_gradient(next(gs), x) if is_inexact(x.dtype) else zero_tangent(x) for x in self._inputs]
        return self._in_tree.unflatten(fresh_outputs(grads, cts))

    def __repr__(self) -> str:
        return f"<pullback of {self._name}>"


@boundary
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False, reduce_axes: Any = ()) -> Any:
    """Value of `fun` at the primals, and the function that pulls cotangents back to the arguments (reverse mode).

    The pullback is the plain transpose of the derivative, without a conjugate; it may be called any number of times,
    and keeps its own copy of what it needs.

    Returns
    -------
    (out, pullback), and the auxiliary output where has_aux; `pullback(ct)` is a tuple with one entry an argument
    (float0 zeros for integer arguments).

    Source: jax.vjp.

    >>> y, pullback = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> [float(g) for g in pullback(1.0)]
    [3.0, 2.0]
    """
    check_callable("vjp", fun)
    xs, treedef = _flat_values("vjp", fun, primals)
    guard = Guard(protect=False)
    with ReverseTrace("vjp", name_of(fun), guard) as trace:
        boxed = [enter(trace, guard, x) if is_inexact(dtype_of(x)) else x for x in xs]
        out = fun(*treedef.unflatten(boxed))
        if has_aux:
            out, aux = split_aux("vjp", fun, out)
            aux = aux_values(aux, trace)
        outs, out_tree = tree.flatten(out)
        outs = [as_output(x, lambda: f"vjp: an output of {name_of(fun)}") for x in outs]
        (nodes, values), tape = _outputs(trace, outs), trace.tape
    avals = [get_aval(v) for v in values]
    inputs = [get_aval(x) for x in xs]
    pullback = Pullback(tape, inputs, treedef, nodes, avals, out_tree, name_of(fun))
    result = out_tree.unflatten(fresh_outputs(values, always=True)), pullback
    return (*result, aux) if has_aux else result


def _outputs(trace: Any, outs: list[Any]) -> tuple[list[Any], list[Any]]:
    """Nodes (None where constant) and values of a function's outputs."""
    nodes, values = [], []
    for x in outs:
        if isinstance(x, Tracer) and x._trace is trace:
            nodes.append(x.node)
            values.append(x.val)
        else:
            nodes.append(None)
            values.append(x)
    return nodes, values


@boundary
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Value of `fun` at the primals, and its derivative there as a linear function of tangents, which runs without
    evaluating `fun` again.

    Source: jax.linearize.

    >>> y, f_jvp = linearize(lambda x: x * x, 3.0)
    >>> float(f_jvp(1.0)), float(f_jvp(10.0))
    (6.0, 60.0)
    """
    check_callable("linearize", fun)
    name = name_of(fun)
    xs, treedef = _flat_values("linearize", fun, primals)
    xs = [x.copy() if hasattr(x, "copy") and not isinstance(x, Tracer) else x for x in xs]
    with LinearTrace("linearize", name, affine=True, lasting=True) as linear:
        with JVPTrace("linearize", name) as trace:
            boxed = [trace.box(x, linear.input(x)) if is_inexact(dtype_of(x)) else x for x in xs]
            out = fun(*treedef.unflatten(boxed))
            if has_aux:
                out, aux = split_aux("linearize", fun, out)
                aux = aux_values(aux, trace)
            outs, out_tree = tree.flatten(out)
            pairs = [trace.unbox(as_output(x, lambda: f"linearize: an output of {name}")) for x in outs]
        tape = linear.tape
        nodes = [t.node if isinstance(t, Tracer) and t._trace is linear else None for _, t in pairs]
    values = [v for v, _ in pairs]
    out_avals = [get_aval(v) for v in values]
    in_avals = [get_aval(x) for x in xs]

    @boundary
    def f_jvp(*tangents: Any) -> Any:
        ts = _match_trees(f"linearized {name}", treedef, tuple(tangents), ("primals", "tangents"))
        ts = [
            check_tangent(t, a, lambda k=k: f"linearized {name}: tangent {k}")
            for k, (t, a) in enumerate(zip(ts, in_avals, strict=True))
        ]
        inputs = [instantiate(t, a) for t, a in zip(ts, in_avals, strict=True) if is_inexact(a.dtype)]
        results = replay(tape, inputs)
        out_ts = [
            zero_tangent(a) if n is None else as_gradient(results[n], a) for n, a in zip(nodes, out_avals, strict=True)
        ]
        return out_tree.unflatten(fresh_outputs(out_ts, ts))

    result = out_tree.unflatten(fresh_outputs(values, always=True)), f_jvp
    return (*result, aux) if has_aux else result


@boundary
def linear_transpose(fun: Callable[..., Any], *primals: Any, reduce_axes: Any = ()) -> Callable[[Any], tuple[Any, ...]]:
    """The transpose of a linear function, from the shapes and dtypes of its arguments alone.

    Parameters
    ----------
    primals : arrays, or anything with `shape` and `dtype` such as ShapeDtypeStruct; values are not used.

    Returns
    -------
    A function from the output's cotangent to a tuple with one cotangent an argument.

    Raises
    ------
    NotLinearError : naming the first operation that is not linear in its traced operands.

    Source: jax.linear_transpose.

    >>> import numpy as np
    >>> f = linear_transpose(lambda x: 3.0 * x, np.zeros(2))
    >>> f(np.ones(2))[0]
    array([3., 3.])
    """
    check_callable("linear_transpose", fun)
    name = name_of(fun)
    leaves, treedef = tree.flatten(primals)
    avals = [_struct_aval(x, fun, k) for k, x in enumerate(leaves)]
    with LinearTrace("linear_transpose", name, lasting=True) as trace:
        boxed = [trace.input(a) for a in avals]
        outs, out_tree = tree.flatten(fun(*treedef.unflatten(boxed)))
        outs = [as_output(x, lambda: f"linear_transpose: an output of {name}") for x in outs]
        tape = trace.tape
    out_avals = []
    for x in outs:
        if not ((isinstance(x, Tracer) and x._trace is trace) or is_zero(x)):
            raise errors.NotLinearError(
                f"linear_transpose: an output of {name} does not depend on its arguments",
                mend="return linear functions of the arguments only",
            )
        out_avals.append(get_aval(x))

    @boundary
    def transposed(*output_cts: Any) -> tuple[Any, ...]:
        ct = _one_cotangent(f"the transpose of {name}", output_cts)
        cts = _match_trees(f"transpose of {name}", out_tree, ct, ("output", "cotangent"))
        cts = [
            check_tangent(c, a, lambda k=k: f"transpose of {name}: cotangent {k}", "the output")
            for k, (c, a) in enumerate(zip(cts, out_avals, strict=True))
        ]
        gs = transpose_record(trace, tape, len(avals), zip(outs, cts, strict=True))
        return treedef.unflatten(fresh_outputs([as_gradient(g, a) for g, a in zip(gs, avals, strict=True)], cts))

    return transposed


def _struct_aval(x: Any, fun: Any, k: int) -> ShapedArray:
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        aval = ShapedArray(tuple(x.shape), x.dtype)
    else:
        aval = get_aval(as_value(x, lambda: f"linear_transpose: {argument_name(fun, k)}"))
    if not is_inexact(aval.dtype):
        raise errors.DtypeError(
            f"linear_transpose: {argument_name(fun, k)} has dtype {aval.dtype}",
            mend="give a floating or complex dtype, and close over integer arguments",
        )
    return aval
