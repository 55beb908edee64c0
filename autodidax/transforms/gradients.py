"""grad and its kin: gradients, Jacobians, Hessians as functions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.primitives.reductions import reduce_sum
from autodidax.primitives.shape import reshape
from autodidax.transforms.backward import backward
from autodidax.transforms.boundary import (
    argument_name,
    as_gradient,
    as_value,
    check_callable,
    enter,
    fresh_outputs,
    name_of,
    one_like,
    parameter_names,
)
from autodidax.transforms.derivatives import _aux_values, jvp, split_aux, vjp
from autodidax.transforms.reverse import Guard, ReverseTrace
from autodidax.transforms.vmap import vmap

Argnums = int | Sequence[int] | None


class Selection:
    """Which arguments a transform differentiates: positions and keywords, resolved against a call."""

    __slots__ = ("transform", "fun", "positions", "names", "single")

    def __init__(self, transform: str, fun: Any, argnums: Any, argnames: Any):
        self.transform = transform
        self.fun = fun
        if argnames is not None:
            argnames = (argnames,) if isinstance(argnames, str) else tuple(argnames)
        if argnums is None and argnames is None:
            argnums = 0
        self.single = argnames is None and not isinstance(argnums, tuple | list)
        nums = (
            () if argnums is None else (argnums,) if self.single or not isinstance(argnums, tuple | list) else argnums
        )
        try:
            self.positions = tuple(operator.index(k) for k in nums)
        except TypeError:
            raise errors.ArgumentError(
                f"{transform}: argnums must be an integer or a tuple of integers, got {argnums!r}",
                mend="write argnums=0 or argnums=(0, 1); keywords go in argnames",
            ) from None
        self.names = argnames or ()
        if argnames is not None and argnums is None and len(argnames) == 1 and False:
            self.single = True

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
        """Results in the form that argnums asked for; argnames add a dict where both are used, as in JAX's order."""
        return grads[0] if self.single else tuple(grads)


def check_differentiable(transform: str, x: Any, holomorphic: bool, allow_int: bool, what: Callable[[], str]) -> None:
    dtype = dtype_of(x)
    kind = dtype.kind
    if holomorphic:
        if kind != "c":
            raise errors.DtypeError(
                f"{transform} with holomorphic=True needs complex inputs, {what()} has dtype {dtype}",
                mend="convert the input to complex, or leave holomorphic out",
            )
    elif kind not in "fc" and not allow_int:
        raise errors.DtypeError(
            f"{transform} needs real or complex floating inputs (float or complex dtype), {what()} has dtype {dtype}",
            mend="pass a float (3.0 instead of 3, x.astype(float)), or choose other arguments with argnums",
        )


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
    argnames : name or names of arguments to differentiate, passed by keyword or position; their gradients follow
        those of argnums in the tuple.
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
                    aux = _aux_values(aux, trace)
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

    value_and_grad_f.__name__ = f"{transform}_{fun_name}"
    value_and_grad_f.__doc__ = f"Value and gradient of {fun_name}. " + (getattr(fun, "__doc__", None) or "")
    value_and_grad_f.__wrapped__ = fun  # type: ignore[attr-defined]  # as functools.wraps sets it
    return value_and_grad_f


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
            from_int = np.zeros(shape_of(x), [("float0", np.void, 0)])
            result.append(from_int)
    return fresh_outputs(result, inputs)


def _leaf_name(fun: Any, args: Any, kwargs: Any, key: int | str, k: int) -> str:
    whole = kwargs[key] if isinstance(key, str) else args[key]
    path = tree.leaves_with_path(whole)[k][0]
    return f"{argument_name(fun, key)}{tree.keystr(path)} of {name_of(fun)}"


def _scalar_output(transform: str, fun: Any, out: Any, trace: Any, holomorphic: bool) -> tuple[int | None, Any]:
    """Node and value of the scalar that is differentiated."""
    if isinstance(out, Tracer) and out.trace is trace:
        node, value = out.node, out.val
    else:
        if isinstance(out, tuple | list | dict) or out is None:
            raise errors.ShapeError(
                f"{transform} needs {name_of(fun)} to return a scalar, it returned a {type(out).__name__}",
                mend="return one scalar, use has_aux=True for (scalar, extras), or jacrev for several outputs",
            )
        node, value = None, as_value(out, lambda: f"the output of {name_of(fun)}")
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

    grad_f.__name__ = f"grad_{name_of(fun)}"
    grad_f.__doc__ = f"Gradient of {name_of(fun)}. " + (getattr(fun, "__doc__", None) or "")
    grad_f.__wrapped__ = fun  # type: ignore[attr-defined]  # as functools.wraps sets it
    return grad_f


def _basis(transform: str, x: Any, holomorphic: bool) -> list[Any]:
    """For each leaf of a tree the standard basis, zeros beside it: trees with a leading axis of the total size."""
    leaves = tree.leaves(x)
    sizes = [int(np.prod(shape_of(v))) for v in leaves]
    total = sum(sizes)
    out, start = [], 0
    for v, n in zip(leaves, sizes, strict=True):
        block = np.zeros((total, n), dtype_of(v))
        block[start + np.arange(n), np.arange(n)] = 1
        out.append(block.reshape((total, *shape_of(v))))
        start += n
    return out


def _split_rows(rows: Any, of: Any, move_last: bool) -> list[Any]:
    """Cut the leading axis of a stack of rows into the leaves of `of`, each with that leaf's shape in its place."""
    out, start = [], 0
    for v in tree.leaves(of):
        shape = shape_of(v)
        n = int(np.prod(shape))
        part = rows[start : start + n]
        start += n
        rest = shape_of(part)[1:]
        part = reshape(part, shape=(*shape, *rest))
        if move_last:
            k = len(shape)
            rank = len(shape) + len(rest)
            part = part.transpose((*range(k, rank), *range(k)))
        out.append(part)
    return out


def _close(fun: Any, selection: Selection, args: Any, kwargs: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """`fun` as a function of the selected arguments alone, and those arguments."""
    keys = selection.resolve(args, kwargs)
    chosen = tuple(kwargs[k] if isinstance(k, str) else args[k] for k in keys)

    def partial(*dyn: Any) -> Any:
        new_args, new_kwargs = list(args), dict(kwargs)
        for k, v in zip(keys, dyn, strict=True):
            if isinstance(k, str):
                new_kwargs[k] = v
            else:
                new_args[k] = v
        return fun(*new_args, **new_kwargs)

    partial.__name__ = name_of(fun)
    partial.__wrapped__ = fun  # type: ignore[attr-defined]  # as functools.wraps sets it
    return partial, chosen


def _check_inputs(transform: str, fun: Any, chosen: Any, holomorphic: bool, allow_int: bool, real_only: bool) -> None:
    for k, x in enumerate(tree.leaves(chosen)):
        what = lambda k=k: f"input {tree.keystr(tree.leaves_with_path(chosen)[k][0])} of {name_of(fun)}"
        check_differentiable(transform, as_value(x, what), holomorphic, allow_int, what)
        if real_only and not holomorphic and dtype_of(x).kind == "c":
            raise errors.DtypeError(
                f"{transform} needs real inputs, {what()} has dtype {dtype_of(x)}",
                mend="set holomorphic=True, differentiate with respect to real and imaginary parts, or use jvp",
            )


def jacfwd(
    fun: Callable[..., Any],
    argnums: Any = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: Any = None,
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `fun` by forward mode: for an output leaf of shape (*out) and an input
    leaf of shape (*in), an array of shape (*out, *in), in the tree of the output with the input's tree at each leaf.

    Source: jax.jacfwd.

    >>> import numpy as np
    >>> jacfwd(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    check_callable("jacfwd", fun)
    selection = Selection("jacfwd", fun, argnums, argnames)

    def jacfwd_f(*args: Any, **kwargs: Any) -> Any:
        f, chosen = _close(fun, selection, args, kwargs)
        _check_inputs("jacfwd", fun, chosen, holomorphic, False, True)
        treedef = tree.structure(chosen)

        def push(*ts: Any) -> Any:
            result = jvp(f, chosen, treedef.unflatten(ts), has_aux=has_aux)
            return result[1:] if has_aux else result[1]

        out = vmap(push, out_axes=(0, None) if has_aux else 0)(*_basis("jacfwd", chosen, holomorphic))
        tangents, aux = out if has_aux else (out, None)
        jac = tree.map(lambda rows: _assemble(chosen, _split_rows(rows, chosen, True), selection), tangents)
        return (jac, aux) if has_aux else jac

    return _named(jacfwd_f, "jacfwd", fun)


def jacrev(
    fun: Callable[..., Any],
    argnums: Any = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    *,
    argnames: Any = None,
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `fun` by reverse mode; the result is that of `jacfwd`.

    Source: jax.jacrev.

    >>> import numpy as np
    >>> jacrev(lambda x: np.sum(x * x))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    check_callable("jacrev", fun)
    selection = Selection("jacrev", fun, argnums, argnames)

    def jacrev_f(*args: Any, **kwargs: Any) -> Any:
        f, chosen = _close(fun, selection, args, kwargs)
        _check_inputs("jacrev", fun, chosen, holomorphic, allow_int, False)
        result = vjp(f, *chosen, has_aux=has_aux)
        y, pullback = result[:2]
        for v in tree.leaves(y):
            kind = dtype_of(v).kind
            if kind not in "fc" or (kind == "c") != holomorphic:
                raise errors.DtypeError(
                    f"jacrev{' with holomorphic=True' if holomorphic else ''} of {name_of(fun)}: an output has dtype {dtype_of(v)}",
                    mend="return real floats (complex ones with holomorphic=True), or convert the output with astype(float)",
                )
        out_tree = tree.structure(y)
        if out_tree.num_leaves == 1 and not shape_of(tree.leaves(y)[0]):  # a scalar function: one row, its gradient
            (grads,) = [pullback(out_tree.unflatten([one_like(v)])) for v in tree.leaves(y)]
            jac = out_tree.unflatten([_assemble(chosen, tree.leaves(grads), selection)])
            return (jac, result[2]) if has_aux else jac
        rows = vmap(lambda *cts: pullback(out_tree.unflatten(cts)))(*_basis("jacrev", y, holomorphic))
        per_input = [_split_rows(r, y, False) for r in tree.leaves(rows)]
        blocks = [_assemble(chosen, [p[k] for p in per_input], selection) for k in range(out_tree.num_leaves)]
        jac = out_tree.unflatten(blocks)
        return (jac, result[2]) if has_aux else jac

    return _named(jacrev_f, "jacrev", fun)


def _assemble(chosen: Any, leaves: list[Any], selection: Selection) -> Any:
    """Blocks of one output leaf in the tree of the selected inputs, alone or as a tuple."""
    return selection.pack(list(tree.structure(chosen).unflatten(fresh_outputs(leaves))))


def _named(f: Any, transform: str, fun: Any) -> Any:
    f.__name__ = f"{transform}_{name_of(fun)}"
    f.__doc__ = f"{transform} of {name_of(fun)}. " + (getattr(fun, "__doc__", None) or "")
    f.__wrapped__ = fun
    return f


jacobian = jacrev


def hessian(
    fun: Callable[..., Any],
    argnums: Any = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: Any = None,
) -> Callable[..., Any]:
    """A function that returns the Hessian of `fun`: forward mode over reverse mode, with the tree of the inputs inside
    that of the inputs, and shapes (*out, *in, *in).

    Source: jax.hessian.

    >>> import numpy as np
    >>> hessian(lambda x: np.sum(x ** 3))(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    inner = jacrev(fun, argnums, has_aux, holomorphic, argnames=argnames)
    return _named(jacfwd(inner, argnums, has_aux, holomorphic, argnames=argnames), "hessian", fun)


def hvp(fun: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Gradient of a scalar function, and its Hessian times a tangent, at the cost of a few evaluations.

    With one primal the results are trees like it, with several they are tuples.

    >>> import numpy as np
    >>> g, h = hvp(lambda x: np.sum(x ** 3), (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
    >>> g, h
    (array([ 3., 12.]), array([6., 0.]))
    """
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise errors.ArgumentError("hvp takes tuples of primals and of tangents", mend="write hvp(f, (x,), (v,))")
    argnums: Any = 0 if len(primals) == 1 else tuple(range(len(primals)))
    return jvp(grad(fun, argnums), primals, tangents)


def elementwise_grad(fun: Callable[..., Any], argnums: Any = None, *, argnames: Any = None) -> Callable[..., Any]:
    """A function that returns the derivative of an elementwise function at each entry: the gradient of the sum of its
    output.

    >>> import numpy as np
    >>> elementwise_grad(np.sin)(np.zeros(3))
    array([1., 1., 1.])
    """
    check_callable("elementwise_grad", fun)

    def total(*args: Any, **kwargs: Any) -> Any:
        y = fun(*args, **kwargs)
        return reduce_sum(y, axes=tuple(range(len(shape_of(y)))))

    total.__name__ = name_of(fun)
    total.__wrapped__ = fun  # type: ignore[attr-defined]  # as functools.wraps sets it
    return grad(total, argnums, argnames=argnames)
