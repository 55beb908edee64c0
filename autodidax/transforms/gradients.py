"""grad and its kin: gradients as functions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Literal, overload

from autodidax import errors, tree
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.core.tracebacks import boundary
from autodidax.primitives.reductions import reduce_sum
from autodidax.transforms.backward import backward
from autodidax.transforms.boundary import (
    argument_name,
    as_gradient,
    as_output,
    as_value,
    check_callable,
    described,
    dtype_name,
    enter,
    fresh_outputs,
    name_of,
    one_like,
    parameter_names,
    wrapping,
    zero_tangent,
)
from autodidax.transforms.derivatives import aux_values, jvp, split_aux
from autodidax.transforms.reverse import Guard, ReverseTrace
from autodidax.transforms.signatures import Argnames, Argnums, Aux, P, T


class Selection:
    """Which arguments a transform differentiates: positions and keywords, resolved against a call."""

    __slots__ = ("transform", "fun", "positions", "names", "single")

    def __init__(self, transform: str, fun: Any, argnums: Any, argnames: Any):
        self.transform = transform
        self.fun = fun
        if argnums is None and argnames is None:
            argnums = 0
        nums = () if argnums is None else argnums if isinstance(argnums, tuple | list) else (argnums,)
        try:
            self.positions = tuple(operator.index(k) for k in nums)
        except TypeError:
            raise errors.ArgumentError(
                f"{transform}: argnums must be an integer or a tuple of integers, got {argnums!r}",
                mend="write argnums=0 or argnums=(0, 1); keywords go in argnames",
            ) from None
        names = () if argnames is None else argnames if isinstance(argnames, tuple | list) else (argnames,)
        if not all(isinstance(name, str) for name in names):
            raise errors.ArgumentError(
                f"{transform}: argnames must be a string or a tuple of strings, got {argnames!r}",
                mend="write argnames='w' or argnames=('w', 'b'); positions go in argnums",
            )
        self.names = tuple(names)
        alone = argnames if argnums is None else argnums if argnames is None else ()
        self.single = not isinstance(alone, tuple | list)

    def resolve(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[int | str]:
        """Keys into args (int) or kwargs (str)."""
        n = len(args)
        keys: list[int | str] = []
        for k in self.positions:
            if not -n <= k < n:
                raise errors.ArgumentError(
                    f"{self.transform}: argnums {k} of {name_of(self.fun)}, which was called with {n} positional "
                    f"argument{'' if n == 1 else 's'}",
                    mend="give argnums within the positional arguments, or use argnames for keywords",
                )
            keys.append(k % n)
        for name in self.names:
            if name in kwargs:
                keys.append(name)
                continue
            names = parameter_names(self.fun)
            if name in names and names.index(name) < n:
                keys.append(names.index(name))
                continue
            raise errors.ArgumentError(
                f"{self.transform}: argnames {name!r} is no argument of this call of {name_of(self.fun)}",
                mend=f"its parameters are {', '.join(names) or 'not known'}; pass {name!r} by position or keyword",
            )
        if len(set(keys)) != len(keys):
            raise errors.ArgumentError(
                f"{self.transform}: argnums {self.positions} and argnames {self.names} name an argument twice",
                mend="name each argument once",
            )
        return keys

    def pack(self, grads: list[Any]) -> Any:
        """The result alone where one argument was named by itself, else a tuple: those of argnums, then of argnames."""
        return grads[0] if self.single else tuple(grads)


def check_differentiable(transform: str, x: Any, holomorphic: bool, allow_int: bool, what: Callable[[], str]) -> None:
    dtype = dtype_of(x)
    kind = dtype.kind
    if holomorphic:
        if kind != "c":
            raise errors.DtypeError(
                f"{transform} with holomorphic=True needs complex inputs, {what()} has dtype {dtype_name(dtype)}",
                mend="convert the input to complex, or leave holomorphic out",
            )
    elif kind not in "fc" and not allow_int:
        raise errors.DtypeError(
            f"{transform} needs inputs of float or complex dtype, {what()} has dtype {dtype_name(dtype)}",
            mend="pass a float (3.0 instead of 3, x.astype(float)), or choose other arguments with argnums",
        )


@overload
def value_and_grad(
    fun: Callable[P, tuple[T, Aux]],
    argnums: Argnums = None,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    argnames: Argnames = None,
) -> Callable[P, tuple[tuple[T, Aux], Any]]: ...
@overload
def value_and_grad(
    fun: Callable[P, tuple[T, Aux]],
    argnums: Argnums,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    argnames: Argnames = None,
) -> Callable[P, tuple[tuple[T, Aux], Any]]: ...
@overload
def value_and_grad(
    fun: Callable[P, T],
    argnums: Argnums = None,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    argnames: Argnames = None,
) -> Callable[P, tuple[T, Any]]: ...
@boundary
def value_and_grad(
    fun: Callable[..., Any],
    argnums: Any = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    argnames: Any = None,
) -> Callable[..., Any]:
    """A function that returns the value of `fun` and its gradient.

    Parameters
    ----------
    fun : returns a real scalar (complex with holomorphic), or (scalar, aux) with has_aux.
    argnums : position or positions of the arguments to differentiate (default 0; negative ones count from the end).
    argnames : name or names of arguments to differentiate, passed by keyword or position; one string by itself gives
        one gradient by itself, as one integer does; beside argnums their gradients follow in the tuple.
    holomorphic : differentiate a holomorphic function of complex arguments.

    Returns
    -------
    A function of the same arguments: (value, gradient), or ((value, aux), gradient). A gradient has the tree, shapes
    and dtypes of its argument.

    Source: jax.value_and_grad.

    >>> v, g = value_and_grad(lambda x: x * x)(3.0)
    >>> float(v), float(g)
    (9.0, 6.0)
    """
    check_callable("value_and_grad", fun)
    return _value_and_grad("value_and_grad", fun, argnums, argnames, has_aux, holomorphic, allow_int)


def _value_and_grad(
    transform: str, fun: Any, argnums: Any, argnames: Any, has_aux: bool, holomorphic: bool, allow_int: bool
) -> Callable[..., Any]:
    selection = Selection(transform, fun, argnums, argnames)
    fun_name = name_of(fun)

    def value_and_grad_f(*args: Any, **kwargs: Any) -> Any:
        keys = selection.resolve(args, kwargs)
        guard = Guard(protect=True)
        new_args: list[Any] = list(args)
        new_kwargs = dict(kwargs)
        try:
            with ReverseTrace(transform, fun_name, guard) as trace:
                inputs, trees = [], []
                for key in keys:
                    leaves, treedef = tree.flatten(kwargs[key] if isinstance(key, str) else args[key])
                    boxed = []
                    for k, x in enumerate(leaves):
                        what = lambda key=key, k=k: _leaf_name(fun, args, kwargs, key, k)
                        x = as_value(x, what)
                        check_differentiable(transform, x, holomorphic, allow_int, what)
                        inputs.append(x)
                        boxed.append(enter(trace, guard, x) if dtype_of(x).kind in "fc" else x)
                    trees.append(treedef)
                    whole = treedef.unflatten(boxed)
                    if isinstance(key, str):
                        new_kwargs[key] = whole
                    else:
                        new_args[key] = whole
                out = fun(*new_args, **new_kwargs)
                if has_aux:
                    out, aux = split_aux(transform, fun, out)
                    aux = aux_values(aux, trace)
                node, value = _scalar_output(transform, fun, out, trace, holomorphic)
                tape = trace.tape
            gs = _gradients(tape, node, value, inputs)
        finally:
            guard.release()
        grads, i = [], 0
        for treedef in trees:
            grads.append(treedef.unflatten(gs[i : i + treedef.num_leaves]))
            i += treedef.num_leaves
        value = fresh_outputs([value], always=True)[0]
        return ((value, aux) if has_aux else value), selection.pack(grads)

    return wrapping(
        value_and_grad_f, fun, transform, "Value and gradient of", outermost=transform not in ("grad", "hvp")
    )


def _gradients(tape: list[Any], node: int | None, value: Any, inputs: list[Any]) -> list[Any]:
    count = sum(1 for x in inputs if dtype_of(x).kind in "fc")
    if node is None:
        gs: list[Any] = [None] * count
    else:
        cts: list[Any] = [None] * len(tape)
        cts[node] = one_like(value)
        gs = backward(tape, count, cts)
    it = iter(gs)
    result = []
    for x in inputs:
        if dtype_of(x).kind in "fc":
            result.append(as_gradient(next(it), x))
        else:
            result.append(zero_tangent(x))
    return fresh_outputs(result, inputs)


def _leaf_name(fun: Any, args: Any, kwargs: Any, key: int | str, k: int) -> str:
    whole = kwargs[key] if isinstance(key, str) else args[key]
    path = tree.leaves_with_path(whole)[k][0]
    return f"{argument_name(fun, key)}{tree.keystr(path)} of {name_of(fun)}"


def _scalar_output(transform: str, fun: Any, out: Any, trace: Any, holomorphic: bool) -> tuple[int | None, Any]:
    """Node and value of the scalar that is differentiated."""
    if isinstance(out, Tracer) and out._trace is trace:
        node, value = out.node, out.val
    else:
        if not tree.all_leaves([out]):
            raise errors.ShapeError(
                f"{transform} needs {name_of(fun)} to return a scalar, it returned {described(out)}",
                mend="return one scalar, use has_aux=True for (scalar, extras), or jacrev for several outputs",
            )
        node, value = None, as_output(out, lambda: f"{transform}: the output of {name_of(fun)}")
    shape = shape_of(value)
    if shape:
        raise errors.ShapeError(
            f"{transform} needs {name_of(fun)} to return a scalar, it returned shape {shape}",
            mend="sum or index the output, or use jacrev, jacfwd or elementwise_grad for non-scalar outputs",
        )
    dtype = dtype_of(value)
    if holomorphic and dtype.kind != "c":
        raise errors.DtypeError(
            f"{transform} with holomorphic=True needs a complex output, {name_of(fun)} returned {dtype}",
            mend="return a complex value, or leave holomorphic out",
        )
    if not holomorphic and dtype.kind == "c":
        raise errors.DtypeError(
            f"{transform} needs a real output, {name_of(fun)} returned {dtype}",
            mend="return a real number (e.g. np.real(z), abs(z)), or set holomorphic=True for a holomorphic function",
        )
    if dtype.kind not in "fc":
        raise errors.DtypeError(
            f"{transform} needs a floating output, {name_of(fun)} returned dtype {dtype}, which has no derivative",
            mend="return a float; integer and boolean results are constant almost everywhere",
        )
    return node, value


@overload
def grad(
    fun: Callable[P, tuple[Any, Aux]],
    argnums: Argnums = None,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    argnames: Argnames = None,
) -> Callable[P, tuple[Any, Aux]]: ...
@overload
def grad(
    fun: Callable[P, tuple[Any, Aux]],
    argnums: Argnums,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    argnames: Argnames = None,
) -> Callable[P, tuple[Any, Aux]]: ...
@overload
def grad(
    fun: Callable[P, Any],
    argnums: Argnums = None,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    argnames: Argnames = None,
) -> Callable[P, Any]: ...
@boundary
def grad(
    fun: Callable[..., Any],
    argnums: Any = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Any = (),
    *,
    argnames: Any = None,
) -> Callable[..., Any]:
    """A function that returns the gradient of the scalar function `fun`; parameters as in `value_and_grad`.

    For complex arguments of a real function the gradient is df/da - i df/db at a + ib, as in JAX.

    Source: jax.grad.

    >>> import numpy as np
    >>> grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    check_callable("grad", fun)
    both = _value_and_grad("grad", fun, argnums, argnames, has_aux, holomorphic, allow_int)

    def grad_f(*args: Any, **kwargs: Any) -> Any:
        value, g = both(*args, **kwargs)
        return (g, value[1]) if has_aux else g

    return wrapping(grad_f, fun, "grad", "Gradient of")


@boundary
def hvp(fun: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Gradient of a scalar function, and its Hessian times a tangent, at the cost of a few evaluations.

    With one primal the results are trees like it, with several they are tuples.

    >>> import numpy as np
    >>> g, h = hvp(lambda x: np.sum(x ** 3), (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
    >>> g, h
    (array([ 3., 12.]), array([6., 0.]))
    """
    check_callable("hvp", fun)
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list) or not primals:
        raise errors.ArgumentError("hvp takes tuples of primals and of tangents", mend="write hvp(f, (x,), (v,))")
    argnums: Any = 0 if len(primals) == 1 else tuple(range(len(primals)))
    both = _value_and_grad("hvp", fun, argnums, None, False, False, False)

    def gradient(*args: Any) -> Any:
        return both(*args)[1]

    return jvp(wrapping(gradient, fun, "grad", "Gradient of", outermost=False), primals, tangents)


@boundary
def elementwise_grad(fun: Callable[P, Any], argnums: Argnums = None, *, argnames: Argnames = None) -> Callable[P, Any]:
    """A function that returns the derivative of an elementwise function at each entry: the gradient of the sum of its
    output.

    >>> import numpy as np
    >>> elementwise_grad(np.sin)(np.zeros(3))
    array([1., 1., 1.])
    """
    check_callable("elementwise_grad", fun)

    def total(*args: Any, **kwargs: Any) -> Any:
        y = as_output(fun(*args, **kwargs), lambda: f"elementwise_grad: the output of {name_of(fun)}")
        return reduce_sum(y, axes=tuple(range(len(shape_of(y)))))

    return grad(wrapping(total, fun, outermost=False), argnums, argnames=argnames)
