"""Jacobians and Hessians as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.core.tracebacks import boundary
from autodidax.primitives.shape import reshape
from autodidax.transforms.boundary import (
    argument_name,
    as_value,
    check_callable,
    fresh_outputs,
    name_of,
    one_like,
    wrapping,
)
from autodidax.transforms.derivatives import jvp, vjp
from autodidax.transforms.gradients import Selection, check_differentiable
from autodidax.transforms.signatures import P
from autodidax.transforms.vmap import vmap


def _basis(x: Any) -> list[Any]:
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


def _close(fun: Any, selection: Selection, args: Any, kwargs: Any) -> tuple[Callable[..., Any], tuple[Any, ...], Any]:
    """`fun` as a function of the selected arguments alone, those arguments, and what names their leaves."""
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

    def names() -> list[str]:
        paths = [(k, path) for k, x in zip(keys, chosen, strict=True) for path, _ in tree.leaves_with_path(x)]
        return [f"{argument_name(fun, k)}{tree.keystr(path)} of {name_of(fun)}" for k, path in paths]

    return wrapping(partial, fun, outermost=False), chosen, names


def _check_inputs(
    transform: str, names: Callable[[], list[str]], chosen: Any, holomorphic: bool, allow_int: bool, real_only: bool
) -> None:
    for k, x in enumerate(tree.leaves(chosen)):
        what = lambda k=k: names()[k]
        check_differentiable(transform, as_value(x, what), holomorphic, allow_int, what)
        if real_only and not holomorphic and dtype_of(x).kind == "c":
            raise errors.DtypeError(
                f"{transform} needs real inputs, {what()} has dtype {dtype_of(x)}",
                mend="set holomorphic=True, differentiate with respect to real and imaginary parts, or use jvp",
            )


@boundary
def jacfwd(
    fun: Callable[P, Any],
    argnums: Any = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: Any = None,
) -> Callable[P, Any]:
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
        f, chosen, names = _close(fun, selection, args, kwargs)
        _check_inputs("jacfwd", names, chosen, holomorphic, False, True)
        treedef = tree.structure(chosen)

        def push(*ts: Any) -> Any:
            result = jvp(f, chosen, treedef.unflatten(ts), has_aux=has_aux)
            return result[1:] if has_aux else result[1]

        out = vmap(push, out_axes=(0, None) if has_aux else 0)(*_basis(chosen))
        tangents, aux = out if has_aux else (out, None)
        if holomorphic and any(dtype_of(t).kind != "c" for t in tree.leaves(tangents)):
            raise errors.DtypeError(
                f"jacfwd with holomorphic=True needs complex outputs, {name_of(fun)} returned a real one",
                mend="return complex values, or leave holomorphic out",
            )
        jac = tree.map(lambda rows: _assemble(chosen, _split_rows(rows, chosen, True), selection), tangents)
        return (jac, aux) if has_aux else jac

    return wrapping(jacfwd_f, fun, "jacfwd", "Jacobian of")


@boundary
def jacrev(
    fun: Callable[P, Any],
    argnums: Any = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    *,
    argnames: Any = None,
) -> Callable[P, Any]:
    """A function that returns the Jacobian of `fun` by reverse mode; the result is that of `jacfwd`.

    Source: jax.jacrev.

    >>> import numpy as np
    >>> jacrev(lambda x: np.sum(x * x))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    check_callable("jacrev", fun)
    selection = Selection("jacrev", fun, argnums, argnames)

    def jacrev_f(*args: Any, **kwargs: Any) -> Any:
        f, chosen, names = _close(fun, selection, args, kwargs)
        _check_inputs("jacrev", names, chosen, holomorphic, allow_int, False)
        result = vjp(f, *chosen, has_aux=has_aux)
        y, pullback = result[:2]
        for v in tree.leaves(y):
            kind = dtype_of(v).kind
            if kind not in "fc" or (kind == "c") != holomorphic:
                with_option = " with holomorphic=True" if holomorphic else ""
                raise errors.DtypeError(
                    f"jacrev{with_option} of {name_of(fun)}: an output has dtype {dtype_of(v)}",
                    mend="return real floats (complex ones with holomorphic=True), e.g. with astype(float)",
                )
        out_tree = tree.structure(y)
        if out_tree.num_leaves == 1 and not shape_of(tree.leaves(y)[0]):  # a scalar function: one row, its gradient
            (grads,) = [pullback(out_tree.unflatten([one_like(v)])) for v in tree.leaves(y)]
            jac = out_tree.unflatten([_assemble(chosen, tree.leaves(grads), selection)])
            return (jac, result[2]) if has_aux else jac
        rows = vmap(lambda *cts: pullback(out_tree.unflatten(cts)))(*_basis(y))
        per_input = [_split_rows(r, y, False) for r in tree.leaves(rows)]
        blocks = [_assemble(chosen, [p[k] for p in per_input], selection) for k in range(out_tree.num_leaves)]
        jac = out_tree.unflatten(blocks)
        return (jac, result[2]) if has_aux else jac

    return wrapping(jacrev_f, fun, "jacrev", "Jacobian of")


def _assemble(chosen: Any, leaves: list[Any], selection: Selection) -> Any:
    """Blocks of one output leaf in the tree of the selected inputs, alone or as a tuple."""
    return selection.pack(list(tree.structure(chosen).unflatten(fresh_outputs(leaves))))


jacobian = jacrev


@boundary
def hessian(
    fun: Callable[P, Any],
    argnums: Any = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: Any = None,
) -> Callable[P, Any]:
    """A function that returns the Hessian of `fun`: forward mode over reverse mode, with the tree of the inputs inside
    that of the inputs, and shapes (*out, *in, *in).

    Source: jax.hessian.

    >>> import numpy as np
    >>> hessian(lambda x: np.sum(x ** 3))(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    check_callable("hessian", fun)
    inner = jacrev(fun, argnums, has_aux, holomorphic, argnames=argnames)
    outer = jacfwd(inner, argnums, has_aux, holomorphic, argnames=argnames)
    selection = Selection("hessian", fun, argnums, argnames)

    def hessian_f(*args: Any, **kwargs: Any) -> Any:
        _, chosen, names = _close(fun, selection, args, kwargs)
        _check_inputs("hessian", names, chosen, holomorphic, False, True)
        return outer(*args, **kwargs)

    return wrapping(hessian_f, fun, "hessian", "Hessian of")
