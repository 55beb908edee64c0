"""Numeric derivatives of any function of trees of arrays, with an estimate of their error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.testing import directions as dirs
from autodidax.testing.numeric import Estimate, directional_derivative, widened
from autodidax.testing.rules import flat_function, require_plain
from autodidax.transforms.boundary import check_callable


def numerical_jvp(f: Callable[..., Any], args: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The derivative of `f` at `args` along `tangents`, and its estimated error: two trees like f's result.

    It comes from values of `f` on plain arrays in double precision alone: central differences over a ladder of steps,
    extrapolated. The error is a bound for rounding and truncation, inf where no estimate is possible (a jump, the edge
    of the domain); at a kink it is inf too. Integers and booleans stay fixed, whatever their tangent; integer and
    boolean outputs have derivative and error 0.

    Parameters
    ----------
    args : tuple with one tree an argument.
    tangents : tuple of trees like `args`; None for a zero.

    Source: C. J. F. Ridders, Advances in Engineering Software 4 (1982), 75-76.

    >>> import math
    >>> value, error = numerical_jvp(math.exp, (0.0,), (1.0,))
    >>> bool(abs(value - 1.0) <= 8 * error < 1e-10)
    True
    """
    flat, xs, out_tree, ys = _prepared("numerical_jvp", f, args)
    ts = _tangents(tuple(args), tangents, xs)
    size = max((float(np.max(np.abs(t), initial=0)) for t in ts if t is not None), default=0.0)
    if size == 0.0:
        zeros = out_tree.unflatten([np.zeros(shape_of(y))[()] for y in ys])
        return zeros, zeros
    scale = _relative_size(xs, ts)
    est = directional_derivative(flat, xs, [None if t is None else dirs.wide(t) / scale for t in ts])
    return _trees(est, scale, ys, out_tree)


def numerical_jacobian(f: Callable[..., Any], args: Sequence[Any]) -> tuple[Any, Any]:
    """The Jacobian of `f` at `args`, and its estimated error, both entry by entry.

    Each is a tree like f's result, whose leaves are tuples with one tree an argument, whose leaves have the shape
    (*shape of the output, *shape of the input), as jacfwd with argnums of all arguments gives them. For complex inputs
    it is the derivative along the real axis, which is the complex derivative where `f` is holomorphic. The rest is as
    in numerical_jvp. It takes one numeric derivative an entry of the arguments.

    >>> import numpy as np
    >>> value, error = numerical_jacobian(lambda x: x[0] * x, (np.array([2.0, 3.0]),))
    >>> np.round(value[0], 6)
    array([[4., 0.],
           [3., 2.]])
    """
    flat, xs, out_tree, ys = _prepared("numerical_jacobian", f, args)
    values = [[np.zeros((*shape_of(y), *shape_of(x)), _dtype(y, x)) for x in xs] for y in ys]
    bounds = [[np.zeros((*shape_of(y), *shape_of(x))) for x in xs] for y in ys]
    for k, x in enumerate(xs):
        if not is_inexact(dtype_of(x)):
            continue
        scale = dirs.input_scale(x)
        for j in np.ndindex(shape_of(x)):
            t = np.zeros(shape_of(x))
            t[j] = scale[j]
            est = directional_derivative(flat, xs, [t if i == k else None for i in range(len(xs))])
            for i, (v, e) in enumerate(_pieces(est, ys)):
                if v is not None:
                    values[i][k][(..., *j)] = v / scale[j]
                    bounds[i][k][(..., *j)] = e / scale[j]
    args_tree = tree.structure(tuple(args))
    both = [[args_tree.unflatten([m[()] for m in row]) for row in part] for part in (values, bounds)]
    return out_tree.unflatten(both[0]), out_tree.unflatten(both[1])


def _prepared(
    name: str, f: Callable[..., Any], args: Sequence[Any]
) -> tuple[Any, list[Any], tree.PyTreeDef, list[Any]]:
    if not isinstance(args, tuple | list):
        raise errors.ArgumentError(
            f"{name}: args must be a tuple with one entry an argument, got {type(args).__name__}",
            mend=f"write {name}(f, (x,), ...) for a function of one argument",
        )
    flat, xs, _ = flat_function(f, tuple(args))
    require_plain(xs)
    check_callable(name, f)
    ys, out_tree = tree.flatten(f(*tree.structure(tuple(args)).unflatten(widened(xs))))
    return (lambda zs: flat(*zs)), xs, out_tree, ys


def _tangents(args: tuple[Any, ...], tangents: Sequence[Any], xs: list[Any]) -> list[Any]:
    if not isinstance(tangents, tuple | list):
        raise errors.ArgumentError(
            f"numerical_jvp: tangents must be a tuple with one entry an argument, got {type(tangents).__name__}",
            mend="write numerical_jvp(f, (x,), (t,)) for a function of one argument",
        )
    if len(tangents) != len(args):
        raise errors.ArgumentError(f"numerical_jvp: {len(tangents)} tangents for {len(args)} arguments")
    found: list[Any] = []
    for k, (x, t) in enumerate(zip(args, tangents, strict=True)):
        own = tree.leaves(x)
        ts = [None] * len(own) if t is None else tree.leaves(t, is_leaf=lambda v: v is None)
        if len(ts) != len(own) or any(
            v is not None and shape_of(v) != shape_of(w) for v, w in zip(ts, own, strict=True)
        ):
            raise errors.ArgumentError(
                f"numerical_jvp: the tangent of argument {k} is not of the argument's structure and shapes",
                mend="give one tangent of the same shape for each array, or None for zero",
            )
        found += ts
    used = [t if is_inexact(dtype_of(x)) else None for t, x in zip(found, xs, strict=True)]
    for t, x in zip(used, xs, strict=True):
        if t is not None and dtype_of(t).kind == "c" and dtype_of(x).kind != "c":
            raise errors.DtypeError(
                f"numerical_jvp: a tangent of dtype {dtype_of(t)} for an argument of dtype {dtype_of(x)}, which has "
                "real tangents only",
                mend="give its real part, or make the argument complex",
            )
        if t is not None and not np.all(np.isfinite(t)):
            raise errors.ArgumentError(
                "numerical_jvp: a tangent is not finite", mend="give one that a small multiple of can be taken of"
            )
    return used


def _relative_size(xs: Sequence[Any], ts: Sequence[Any]) -> float:
    """How many times the inputs' own size a tangent is, at most: steps are taken in that unit."""
    ratios = [np.max(np.abs(t) / dirs.input_scale(x), initial=0) for x, t in zip(xs, ts, strict=True) if t is not None]
    return float(max(ratios))


def _dtype(y: Any, x: Any) -> Any:
    return np.complex128 if "c" in (dtype_of(y).kind, dtype_of(x).kind) else np.float64


def _pieces(est: Estimate, ys: Sequence[Any]) -> list[tuple[Any, Any]]:
    error = np.where(est.kink, np.inf, est.error)
    return list(zip(dirs.unpacked(est.value, ys), dirs.unpacked(error, ys), strict=True))


def _trees(est: Estimate, scale: float, ys: Sequence[Any], out_tree: tree.PyTreeDef) -> tuple[Any, Any]:
    found = [
        (np.zeros(shape_of(y)), np.zeros(shape_of(y))) if v is None else (v * scale, e * scale)
        for (v, e), y in zip(_pieces(est, ys), ys, strict=True)
    ]
    value, error = (out_tree.unflatten([pair[k][()] for pair in found]) for k in (0, 1))
    return value, error
