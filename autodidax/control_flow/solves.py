"""custom_linear_solve, custom_root and fixed_point: solutions with implicit derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.compile.program import compiled
from autodidax.control_flow.linear_solve import NO_MATRIX, linear_solve_p, transposed_system
from autodidax.control_flow.loops import while_loop
from autodidax.control_flow.operands import concrete, flat_operands, stage_flat
from autodidax.core.avals import ShapedArray, is_inexact
from autodidax.core.interpreters import Tracer, dtype_of, frames, get_aval, peel, shape_of
from autodidax.core.jaxpr import ClosedJaxpr, has_effects
from autodidax.core.tracebacks import boundary
from autodidax.primitives.comparison import equal, logical_and, logical_not
from autodidax.primitives.convert import astype, convert_element_type, zeros_of
from autodidax.primitives.elementwise import absolute
from autodidax.primitives.extrema import maximum
from autodidax.primitives.reductions import reduce_max
from autodidax.primitives.select import where
from autodidax.transforms.boundary import (
    as_output,
    called,
    check_callable,
    described,
    dtype_name,
    name_of,
    own_copy,
    structure_text,
    unshared,
)
from autodidax.transforms.calls import is_linear
from autodidax.transforms.closures import reached_tracers, rebuilt
from autodidax.transforms.custom_calls import custom_jvp_p, through_captured
from autodidax.transforms.derivatives import linearize
from autodidax.transforms.program import run
from autodidax.transforms.stage import stage


@boundary
def custom_linear_solve(
    matvec: Callable[[Any], Any],
    b: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    transpose_solve: Callable[[Callable[[Any], Any], Any], Any] | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """The solution x of `matvec(x) = b`, found by `solve(matvec, b)`, with the derivatives of the exact solution.

    Derivatives solve the same system (in reverse mode the transposed one) for another right-hand side, so what `solve`
    does inside is never differentiated. It may be any Python on plain arrays when the call is not inside jit or vmap.

    Parameters
    ----------
    matvec : linear, from trees like b to trees like b; derivatives flow to the traced values that it closes over.
    b : a tree of floating or complex arrays; x has its structure, shapes and dtypes.
    transpose_solve : `transpose_solve(vecmat, b)` solves the transposed system; reverse mode needs it.
    symmetric : says that the matrix equals its transpose (without a conjugate), so that `solve` serves for both.
    has_aux : `solve` and `transpose_solve` return `(x, aux)`, and so does this; aux has no derivative.

    Raises
    ------
    ShapeError, DtypeError, TreeError : where `matvec(x)` or the solution is not like b.
    NotLinearError : where `matvec` of zeros is not zero.

    Source: jax.lax.custom_linear_solve.

    >>> import numpy as np
    >>> import autodidax
    >>> def f(d):
    ...     return custom_linear_solve(lambda x: d * x, np.ones(2), lambda _, b: b / d, symmetric=True)
    >>> autodidax.grad(lambda d: np.sum(f(d)))(np.array([1.0, 2.0]))
    array([-1.  , -0.25])
    """
    return linear_solution("custom_linear_solve", matvec, b, solve, transpose_solve, symmetric, has_aux)


def linear_solution(
    transform: str,
    matvec: Callable[[Any], Any],
    b: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    transpose_solve: Callable[[Callable[[Any], Any], Any], Any] | None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """`custom_linear_solve` on behalf of `transform`, which messages name."""
    for fun in (matvec, solve, *([] if transpose_solve is None else [transpose_solve])):
        check_callable(transform, fun)
    leaves, b_tree = _right_hand_side(transform, b)
    avals = [get_aval(x) for x in leaves]
    name = name_of(solve)
    if not frames():
        operator = _CheckedMap(transform, matvec, "matvec(x)", "b", b_tree, avals)
        with np.errstate(all="ignore"):
            at_zero = operator(b_tree.unflatten(list(map(zeros_of, avals))))
        _check_homogeneous(transform, name_of(matvec), at_zero)
        out = called(transform, "solve(matvec, b)", solve, operator, b_tree.unflatten(list(map(own_copy, leaves))))
        xs, aux, aux_tree = _solution(transform, name, out, "b", b_tree, avals, has_aux)
        return unshared(_with_aux(b_tree.unflatten(xs), aux, aux_tree, has_aux), leaves)
    in_tree = tree.treedef_tuple([b_tree])
    system, constants, out_tree = stage_flat(transform, matvec, in_tree, avals, "matvec(x)")
    _check_like(transform, f"{name_of(matvec)}(x)", out_tree, system.out_avals, "b", b_tree, avals)
    known = [peel(x) for x in constants]
    if not has_effects(system) and not any(isinstance(x, Tracer) for x in known):
        with np.errstate(all="ignore"):
            at_zero = compiled(system)(*known, *map(zeros_of, avals))
        _check_homogeneous(transform, name_of(matvec), at_zero)
    aux_box: list[Any] = []
    n = len(constants)

    def flat(
        user: Callable[..., Any], how: str, system_of: Callable[[], ClosedJaxpr], captured: list[Tracer], box: list[Any]
    ) -> Any:
        """`user` as a function of flat values: the constants of the system, its own captured values, b. The tree of its
        auxiliary output goes into the box."""
        c = len(captured)

        def solver(*values: Any) -> list[Any]:
            fun = rebuilt(user, captured, values[n : n + c]) if c else user

            def operator(x: Any) -> Any:
                xs = _leaves_like(transform, "the argument of matvec", x, "b", b_tree)
                return b_tree.unflatten(run(system_of(), [*values[:n], *xs]))

            out = called(transform, how, fun, operator, b_tree.unflatten(list(map(own_copy, values[n + c :]))))
            xs, aux, box[:] = _solution(transform, name_of(user), out, "b", b_tree, avals, has_aux)
            return [*xs, *aux]

        return solver

    own = _captured_by(solve)
    params: dict[str, Any] = {
        "matvec": system, "vecmat": None, "transpose_solve": None,
        "solve": flat(solve, "solve(matvec, b)", lambda: system, own, aux_box),
    }  # fmt: skip
    other: list[Tracer] = []
    if symmetric:  # for the transposed program all the same: derivatives may leave the symmetric matrices
        transpose_solve = solve
    if transpose_solve is not None:
        other = _captured_by(transpose_solve)
        how = "solve(matvec, b)" if symmetric else "transpose_solve(vecmat, b)"
        transposed = lambda: transposed_system(system, n, transform)
        params["transpose_solve"] = flat(transpose_solve, how, transposed, other, [])
    counts = (n, len(own), len(other))
    outs = linear_solve_p(*constants, *own, *other, *leaves, **params, counts=counts, has_aux=has_aux)
    k = len(leaves)
    return _with_aux(b_tree.unflatten(outs[:k]), outs[k:], aux_box, has_aux)


def _check_homogeneous(transform: str, name: str, values: Any) -> None:
    """Raise where the values of an operator at zero are not zero: then it is no matrix. (Those of one that holds nan
    or infinity are nan.)"""
    if any(np.any((np.asarray(v) != 0) & np.isfinite(v)) for v in tree.leaves(values)):
        raise errors.NotLinearError(
            f"{transform}: {name} must be linear, and its value at zero is not zero", mend=NO_MATRIX
        )


def _right_hand_side(transform: str, b: Any) -> tuple[list[Any], tree.PyTreeDef]:
    leaves, b_tree = flat_operands(transform, b)
    for x in leaves:
        if not is_inexact(dtype_of(x)):
            raise errors.DtypeError(
                f"{transform}: the right-hand side has dtype {dtype_name(dtype_of(x))}",
                mend="convert it to a floating dtype, e.g. b.astype(float)",
            )
    return [astype(x, dtype_of(x)) for x in leaves], b_tree


def _captured_by(fun: Any) -> list[Tracer]:
    """The tracers that a function closes over, each once."""
    return list({id(t): t for t in reached_tracers(fun)}.values())


def _with_aux(x: Any, aux: list[Any], aux_tree: list[Any], has_aux: bool) -> Any:
    return (x, aux_tree[0].unflatten(aux)) if has_aux else x


def _leaves_like(transform: str, what: str, x: Any, like: str, like_tree: tree.PyTreeDef) -> list[Any]:
    """The leaves of x, which must have the structure of `like`."""
    leaves, own_tree = tree.flatten(x)
    if own_tree != like_tree:
        raise errors.TreeError(
            f"{transform}: {what} has another tree than {like}: {tree.describe_mismatch(like_tree, own_tree)}",
            mend=f"give it the structure of {like}: {structure_text(like_tree)}",
        )
    return [as_output(v, lambda: f"{transform}: {what}") for v in leaves]


def _check_like(
    transform: str, what: str, own_tree: Any, own_avals: Sequence[ShapedArray], like: str, like_tree: Any,
    avals: Sequence[ShapedArray], *, any_dtype: bool = False,
) -> None:  # fmt: skip
    """Raise where something differs from `like` in structure, shape or dtype."""
    if own_tree != like_tree:
        raise errors.TreeError(
            f"{transform}: {what} has another tree than {like}: {tree.describe_mismatch(like_tree, own_tree)}",
            mend=f"return the structure of {like}: {structure_text(like_tree)}",
        )
    for k, (own, want) in enumerate(zip(own_avals, avals, strict=True)):
        leaf = f"leaf {k} of {what}" if len(avals) > 1 else what
        other = f"that of {like}" if len(avals) > 1 else like
        if own.shape != want.shape:
            raise errors.ShapeError(
                f"{transform}: {leaf} has shape {own.shape}, {other} has shape {want.shape}",
                mend=f"return the shape of {like}",
            )
        if not any_dtype and own.dtype != want.dtype and not own.weak_type:
            raise errors.DtypeError(
                f"{transform}: {leaf} has dtype {dtype_name(own.dtype)}, {other} has dtype {dtype_name(want.dtype)}",
                mend=f"convert {like} first, or return its dtype with astype",
            )


class _CheckedMap:
    """`fun`, whose results are checked to be like its argument; `calls` counts."""

    def __init__(
        self, transform: str, fun: Callable[[Any], Any], how: str, like: str, like_tree: Any,
        avals: Sequence[ShapedArray], **options: Any,
    ):  # fmt: skip
        self.__name__ = name_of(fun)
        self.calls = 0
        self._fun, self._how = fun, how
        self._transform, self._like, self._options = transform, (like, like_tree, avals), options

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        transform, name = self._transform, self.__name__
        out = called(transform, self._how, self._fun, x)
        leaves, own_tree = tree.flatten(out)
        leaves = [as_output(v, lambda: f"{transform}: an output of {name}") for v in leaves]
        _check_like(transform, f"{name}(x)", own_tree, list(map(get_aval, leaves)), *self._like, **self._options)
        return out


def _solution(
    transform: str, name: str, out: Any, like: str, like_tree: Any, avals: Sequence[ShapedArray], has_aux: bool,
    **options: Any,
) -> tuple[list[Any], list[Any], list[Any]]:  # fmt: skip
    """The leaves of what a solver returned, checked, those of its auxiliary output, and the tree of that in a list."""
    aux: Any = None
    if has_aux:
        if not isinstance(out, tuple) or len(out) != 2:
            raise errors.ArgumentError(
                f"{transform} with has_aux=True: {name} must return a pair (x, aux), it returned {described(out)}",
                mend="return (x, aux), or leave has_aux out",
            )
        out, aux = out
    what = f"the result of {name}"
    xs = _leaves_like(transform, what, out, like, like_tree)
    _check_like(transform, what, like_tree, [get_aval(x) for x in xs], like, like_tree, avals, **options)
    keeps_own = lambda x: options.get("any_dtype") and is_inexact(dtype_of(x))  # an integer would have no derivative
    xs = [
        x if keeps_own(x) or get_aval(x).dtype == a.dtype else convert_element_type(x, dtype=a.dtype)
        for x, a in zip(xs, avals, strict=True)
    ]
    xs = [astype(x, dtype_of(x)) for x in xs]
    aux_leaves, aux_tree = tree.flatten(aux)
    return xs, [as_output(v, lambda: f"{transform}: auxiliary output of {name}") for v in aux_leaves], [aux_tree]


@boundary
def custom_root(
    f: Callable[[Any], Any],
    initial_guess: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    tangent_solve: Callable[[Callable[[Any], Any], Any], Any],
    has_aux: bool = False,
) -> Any:
    """A root x of `f`, found by `solve(f, initial_guess)`, with derivatives by the implicit function theorem.

    Derivatives flow to the traced values that `f` closes over; the guess and what `solve` does inside have none.

    Parameters
    ----------
    f : from trees like the guess to residuals of the same structure and shapes.
    solve : returns the root, whose integers become floats as those of the guess do; any Python on plain arrays when
        the call is not inside jit or vmap.
    tangent_solve : `tangent_solve(g, y)` returns x with g(x) = y, where g is the derivative of f at the root; linear in
        y, with traceable operations, e.g. `lambda g, y: y / g(1.0)` for scalars, or
        `lambda g, y: np.linalg.solve(autodidax.jacobian(g)(y), y)`.
    has_aux : `solve` returns `(x, aux)`, and so does this; aux has no derivative.

    Source: jax.lax.custom_root.

    >>> import numpy as np
    >>> import autodidax
    >>> def square_root(y):
    ...     newton = lambda f, x: x if abs(f(x)) < 1e-12 else newton(f, x - f(x) / (2 * x))
    ...     return custom_root(lambda x: x * x - y, 1.0, newton, lambda g, y: y / g(1.0))
    >>> round(float(autodidax.grad(square_root)(4.0)), 6)
    0.25
    """
    for fun in (f, solve, tangent_solve):
        check_callable("custom_root", fun)
    leaves, x_tree = flat_operands("custom_root", initial_guess)
    leaves = [x if is_inexact(dtype_of(x)) else _floating(x) for x in leaves]
    avals = [get_aval(x) for x in leaves]
    check = ("the guess", x_tree, avals)
    if not frames():
        start = x_tree.unflatten(list(map(own_copy, leaves)))
        residual_of = _CheckedMap("custom_root", f, "f(x)", *check, any_dtype=True)
        out = called("custom_root", "solve(f, initial_guess)", solve, residual_of, start)
        xs, aux, aux_tree = _solution("custom_root", name_of(solve), out, *check, has_aux, any_dtype=True)
        if not residual_of.calls:  # by the solver: what f returns has not been checked
            with np.errstate(all="ignore"):
                residual_of(x_tree.unflatten(list(map(own_copy, xs))))
        return unshared(_with_aux(x_tree.unflatten(xs), aux, aux_tree, has_aux), leaves)
    residual, constants, out_tree = stage_flat("custom_root", f, tree.treedef_tuple([x_tree]), avals, "f(x)")
    _check_like("custom_root", f"{name_of(f)}(x)", out_tree, residual.out_avals, *check, any_dtype=True)
    own, other = _captured_by(solve), _captured_by(tangent_solve)
    n, m, k = len(constants), len(constants) + len(own), len(leaves)
    first = m + len(other)
    aux_box: list[Any] = []

    def at(values: Sequence[Any]) -> Callable[[Any], Any]:
        def residual_of(x: Any) -> Any:
            xs = _leaves_like("custom_root", "the argument of f", x, "the guess", x_tree)
            return x_tree.unflatten(run(residual, [*values[:n], *xs]))

        return residual_of

    def root(*values: Any) -> list[Any]:
        fun = rebuilt(solve, own, values[n:m]) if own else solve
        start = x_tree.unflatten(list(map(own_copy, values[first:])))
        out = called("custom_root", "solve(f, initial_guess)", fun, at(values), start)
        xs, aux, aux_box[:] = _solution("custom_root", name_of(solve), out, *check, has_aux, any_dtype=True)
        return [*xs, *aux]

    def rule(primals: Any, tangents: Any) -> tuple[list[Any], list[Any]]:
        # f(x, c) = 0, so df/dx dx = -df/dc dc
        outs = call(*primals)
        xs = outs[:k]
        changes = through_captured(lambda *values: run(residual, values), [*primals[:n], *xs], tangents[:n])
        if all(t is None for t in changes):
            return outs, [None] * len(outs)
        values = run(residual, [*primals[:n], *xs])
        rhs = [zeros_of(get_aval(v)) if t is None else t for t, v in zip(changes, values, strict=True)]
        fun = rebuilt(tangent_solve, other, primals[m:first]) if other else tangent_solve
        ts = _tangents(fun, at(primals), xs, rhs, x_tree)
        return outs, [-t for t in ts] + [None] * len(outs[k:])

    def call(*values: Any) -> list[Any]:
        return custom_jvp_p(*values, fun=root, rule=rule, name=name_of(solve))

    outs = call(*constants, *own, *other, *leaves)
    return _with_aux(x_tree.unflatten(outs[:k]), outs[k:], aux_box, has_aux)


def _floating(x: Any) -> Any:
    """An integer guess as a float; a Python number stays one."""
    return float(x) if type(x) in (int, bool) else convert_element_type(x, dtype=np.dtype(float))


def _tangents(tangent_solve: Any, residual: Any, xs: list[Any], rhs: list[Any], x_tree: Any) -> list[Any]:
    """Solutions of the linearized equations, of the shapes and dtypes of xs."""
    _, derivative = linearize(residual, x_tree.unflatten(xs))
    avals = [get_aval(x) for x in xs]
    what = f"the result of {name_of(tangent_solve)}"

    def solution(*ys: Any) -> list[Any]:
        out = called("custom_root", "tangent_solve(g, y)", tangent_solve, derivative, x_tree.unflatten(ys))
        ts = _leaves_like("custom_root", what, out, "the root", x_tree)
        own = [get_aval(t) for t in ts]
        _check_like("custom_root", what, x_tree, own, "the root", x_tree, avals, any_dtype=True)
        return ts

    if not any(map(is_linear, rhs)):
        return solution(*rhs)
    # an unknown right-hand side: tangent_solve may use it as a point to differentiate at, which its program shows to
    # be without effect
    program, captured = stage(
        solution, [ShapedArray(shape_of(y), dtype_of(y)) for y in rhs], transform="custom_root",
        name=name_of(tangent_solve),
    )  # fmt: skip
    try:
        return run(program, [*captured, *rhs])
    except errors.NotLinearError as e:
        raise errors.NotLinearError(
            f"custom_root: {name_of(tangent_solve)} is not linear in the right-hand side: {str(e).splitlines()[0]}",
            mend="make tangent_solve(g, y) linear in y, e.g. with custom_linear_solve(g, y, ...) for an iteration",
        ) from None


@boundary
def fixed_point(
    f: Callable[..., Any], x0: Any, *args: Any, tol: float | None = None, maxiter: int = 1000
) -> Any:  # fmt: skip
    """x with `f(x, *args) = x`, by iteration from x0, with derivatives by the implicit function theorem.

    Derivatives, in both modes and of all orders, flow to `args` and to the traced values that f closes over; they are
    found by the iteration of the linearized map, which converges where that of f does, and are nan where it does not:
    where an eigenvalue of df/dx has modulus 1 or more, the solution need not have a derivative. x0 has no derivative.

    Parameters
    ----------
    f : a contraction near the solution, from trees like x0 to trees like x0.
    tol : the iteration ends when no entry changes by more than tol times max(1, the largest entry of x). By default it
        goes on until rounding stops it, and 1e-10 (in single precision 1e-5) is asked for.
    maxiter : the largest number of iterations.

    Raises
    ------
    ConvergenceError : without convergence; under jit and vmap, where the number of iterations is not known, the result
        is nan instead.

    >>> import numpy as np
    >>> import autodidax
    >>> golden = lambda a: fixed_point(lambda x, a: 1.0 + a / x, 1.0, a)
    >>> round(float(golden(1.0)), 6), round(float(autodidax.grad(golden)(1.0)), 6)
    (1.618034, 0.447214)
    """
    check_callable("fixed_point", f)
    if not isinstance(maxiter, int | np.integer) or maxiter < 1:
        raise errors.ArgumentError(f"fixed_point: maxiter is {maxiter!r}", mend="give a positive integer")
    name = name_of(f)

    def change(x: Any) -> Any:
        new = _leaves_like(
            "fixed_point", f"the result of {name}",
            called("fixed_point", "f(x, *args)", f, tree.map(own_copy, x), *args), "x0", tree.structure(x),
        )  # fmt: skip
        old = [as_output(v, lambda: "fixed_point: x0") for v in tree.leaves(x)]
        avals = [get_aval(v) for v in old]
        same = tree.structure(x)
        _check_like("fixed_point", f"the result of {name}", same, [get_aval(v) for v in new], "x0", same, avals,
                    any_dtype=True)  # fmt: skip
        return same.unflatten([a - b for a, b in zip(new, old, strict=True)])

    def solve(change: Any, x: Any) -> Any:
        x, step, k, done = _iterate(change, x, lambda x: maximum(_largest(x), 1.0), tol, maxiter)
        known = concrete(done)
        if known is None:
            return _nan_unless(done, x)
        if not known:
            change_left = float(concrete(_largest(step)))
            raise errors.ConvergenceError(
                f"fixed_point: after {int(concrete(k))} iterations, {name} "
                + (f"still changes x by up to {change_left:.3g}" if np.isfinite(change_left) else "gives no finite x"),
                mend="start nearer to the solution, raise maxiter or tol, or damp f: 0.5 * (x + f(x))",
            )
        return x

    def neumann(derivative: Any, y: Any) -> Any:  # derivative(v) = J v - v, so v = J v - y
        # zeros would be found to be the solution whatever J is: other values say whether there is one
        silent = equal(_largest(y), 0.0)
        rhs = tree.map(lambda b: where(silent, _generic(b), b), y)
        step = lambda v: tree.map(lambda a, b: a - b, derivative(v), rhs)
        v, _, _, done = _iterate(step, tree.map(lambda b: -b, rhs), _largest, tol, maxiter)
        return _nan_unless(done, tree.map(lambda a: where(silent, 0.0, a), v))

    def tangent_solve(derivative: Any, y: Any) -> Any:
        return linear_solution("fixed_point", derivative, y, neumann, neumann)

    return custom_root(change, x0, solve, tangent_solve)


def _largest(x: Any) -> Any:
    """The largest modulus of all entries of a tree."""
    largest: Any = 0.0
    for v in tree.leaves(x):
        if np.prod(shape_of(v), dtype=int):
            largest = maximum(largest, reduce_max(absolute(v), axes=tuple(range(len(shape_of(v))))))
    return largest


def _generic(like: Any) -> Any:
    """Values of the size of 1 that are orthogonal to no vector that occurs."""
    values = np.cos(np.arange(get_aval(like).size) ** 2 + 1.0).reshape(shape_of(like))
    return values.astype(dtype_of(like))[()]


def _nan_unless(done: Any, x: Any) -> Any:
    return tree.map(lambda v: where(done, v, np.nan), x)


def _iterate(change: Any, x: Any, scale_of: Any, tol: float | None, maxiter: int) -> tuple[Any, Any, Any, Any]:
    """x + change(x), over and over, until the change is small against `scale_of(x)`: the last x and its change, the
    number of iterations, and whether they converged."""
    step = change(x)
    precision = max((float(np.finfo(dtype_of(v)).eps) for v in tree.leaves(step)), default=0.0)
    enough = max(4.0 * precision, (1e-10 if precision < 1e-10 else 1e-5) if tol is None else tol)
    least = enough if tol is not None else 4.0 * precision

    def go_on(state: Any) -> Any:
        x, step, before, k = state
        size, scale = _largest(step), scale_of(x)
        stalls = logical_and(size <= enough * scale, size >= before)
        return logical_and(logical_and(size > least * scale, logical_not(stalls)), k < maxiter)

    def advance(state: Any) -> Any:
        x, step, _, k = state
        x = tree.map(lambda a, b: a + b, x, step)
        return x, change(x), _largest(step), k + 1

    x, step, _, k = while_loop(go_on, advance, (x, step, _largest(step) + 1.0, 0))
    return x, step, k, _largest(step) <= enough * scale_of(x)
