"""cg, gmres and bicgstab: iterative solutions of linear systems on trees, with implicit derivatives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autodidax import errors, tree
from autodidax.control_flow.loops import while_loop
from autodidax.control_flow.operands import flat_operands, leaf_names
from autodidax.control_flow.solves import linear_solution
from autodidax.core.interpreters import dtype_of, get_aval, shape_of
from autodidax.core.tracebacks import boundary
from autodidax.primitives.comparison import logical_and, logical_not
from autodidax.primitives.contraction import matmul
from autodidax.primitives.convert import astype, conj, real
from autodidax.primitives.elementwise import absolute, hypot, sqrt
from autodidax.primitives.extrema import maximum
from autodidax.primitives.select import where
from autodidax.primitives.shape import broadcast_to, concatenate, reshape
from autodidax.primitives.triangular import solve_triangular
from autodidax.transforms.boundary import as_value, called, described, own_copy, structure_text

Map = Callable[[Any], Any]


class Settings(NamedTuple):
    """When an iteration ends: at a residual of max(tol times that of x = 0, atol), or after maxiter iterations."""

    x0: Any
    tol: Any
    atol: Any
    maxiter: Any
    precondition: Map


@boundary
def cg(
    A: Any, b: Any, x0: Any = None, *, tol: Any = 1e-5, atol: Any = 0.0, maxiter: int | None = None, M: Any = None
) -> tuple[Any, Any]:
    """x with A x = b for Hermitian positive definite A, by conjugate gradients.

    Parameters
    ----------
    A : a matrix (n, n), or a linear function from trees like b to trees like b.
    b : a tree of arrays.
    x0 : where to start; zeros by default.
    tol, atol : the iteration ends at |b - A x| <= max(tol |b|, atol).
    maxiter : by default 10 times the number of unknowns.
    M : an approximation of A's inverse, Hermitian positive definite; a matrix or a function.

    Returns
    -------
    (x, info) : info is 0, or the number of iterations where these did not converge. (JAX returns None.)

    Derivatives with respect to b and to what A holds are those of the exact solution: they solve one system more, by
    the same method, to the same tolerance. x0 and M have no derivative.

    Source: jax.scipy.sparse.linalg.cg; Hestenes and Stiefel (1952).

    >>> import numpy as np
    >>> x, info = cg(np.diag([2.0, 4.0]), np.ones(2))
    >>> x, int(info)
    (array([0.5 , 0.25]), 0)
    """
    return _solve("cg", _conjugate_gradients, A, b, x0, tol, atol, maxiter, M, hermitian=True)


@boundary
def bicgstab(
    A: Any, b: Any, x0: Any = None, *, tol: Any = 1e-5, atol: Any = 0.0, maxiter: int | None = None, M: Any = None
) -> tuple[Any, Any]:
    """x with A x = b for any square A, by stabilized biconjugate gradients; parameters and results as those of `cg`.

    info is negative where the iteration broke down: another method or preconditioner is needed then.

    Source: jax.scipy.sparse.linalg.bicgstab; van der Vorst (1992).

    >>> import numpy as np
    >>> x, info = bicgstab(np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([3.0, 4.0]))
    >>> x.round(6), int(info)
    (array([1., 1.]), 0)
    """
    return _solve("bicgstab", _stabilized_gradients, A, b, x0, tol, atol, maxiter, M)


@boundary
def gmres(
    A: Any, b: Any, x0: Any = None, *, tol: Any = 1e-5, atol: Any = 0.0, restart: int = 20,
    maxiter: int | None = None, M: Any = None, solve_method: str = "batched",
) -> tuple[Any, Any]:  # fmt: skip
    """x with A x = b for any square A, by minimal residuals in Krylov spaces; parameters and results as those of `cg`.

    Parameters
    ----------
    restart : the dimension at which a new space is begun from the solution so far.
    maxiter : the number of spaces, by default 10 times the number of unknowns; info counts these.
    solve_method : "batched" always completes a space; "incremental" ends it as soon as the residual is small.

    Source: jax.scipy.sparse.linalg.gmres; Saad and Schultz (1986).

    >>> import numpy as np
    >>> x, info = gmres(np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([1.0, 4.0]))
    >>> x.round(6), int(info)
    (array([2., 1.]), 0)
    """
    if solve_method not in ("batched", "incremental"):
        raise errors.ArgumentError(f"gmres: solve_method is {solve_method!r}", mend="give 'batched' or 'incremental'")
    if not isinstance(restart, int | np.integer) or restart < 1:
        raise errors.ArgumentError(f"gmres: restart is {restart!r}", mend="give a positive integer")

    def method(A: Map, b: Any, settings: Settings) -> tuple[Any, Any]:
        return _minimal_residuals(A, b, settings, int(restart), solve_method == "incremental")

    return _solve("gmres", method, A, b, x0, tol, atol, maxiter, M)


def _solve(
    name: str, method: Callable[[Map, Any, Settings], tuple[Any, Any]], A: Any, b: Any, x0: Any, tol: Any, atol: Any,
    maxiter: int | None, M: Any, hermitian: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    leaves, b_tree = flat_operands(name, b)
    dtypes = [dtype_of(x) for x in leaves]
    if not callable(A) and hasattr(A, "toarray"):
        raise errors.DtypeError(
            f"{name}: A is {described(A)}, a sparse matrix, which cannot be traced", mend="give A.toarray()"
        )
    matrix = A if callable(A) else as_value(A, lambda: f"{name}: A")
    if not callable(matrix):
        if b_tree != tree.LEAF or len(shape_of(leaves[0])) != 1:
            raise errors.ShapeError(
                f"{name}: A is a matrix, b is {described(b)}",
                mend="give b of shape (n,), or A as a function from trees like b to trees like b",
            )
        dtypes = [np.result_type(dtypes[0], dtype_of(matrix))]
    # integers and Python numbers become floating arrays
    dtypes = [d if d.kind in "fc" else np.dtype(float) for d in dtypes]
    leaves = [astype(x, d) for x, d in zip(leaves, dtypes, strict=True)]
    size = sum(get_aval(x).size for x in leaves)
    apply = _as_map(name, "A", matrix, size)
    settings = Settings(
        _start(name, x0, b_tree, leaves), tol, atol, 10 * size if maxiter is None else maxiter,
        _as_map(name, "M", M if M is None or callable(M) else as_value(M, lambda: f"{name}: M"), size),
    )  # fmt: skip
    symmetric = hermitian and all(d.kind != "c" for d in dtypes)

    def solve(A: Map, b: Any) -> tuple[Any, Any]:
        return method(A, b, settings)

    if not leaves:
        return b, np.int64(0)
    b = b_tree.unflatten(leaves)
    return linear_solution(name, apply, b, solve, None if symmetric else solve, symmetric=symmetric, has_aux=True)


def _as_map(name: str, what: str, A: Any, size: int) -> Map:
    """The linear function that a matrix, a function or None (the identity) stands for."""
    if A is None:
        return lambda x: x
    if callable(A):

        @functools.wraps(A)
        def apply(x: Any) -> Any:
            # the function may write into its argument, which is the iteration's own
            return called(name, f"{what}(x)", A, tree.map(own_copy, x))

        return apply
    if shape_of(A) != (size, size):
        raise errors.ShapeError(
            f"{name}: {what} has shape {shape_of(A)}, b has {size} entries", mend=f"give a matrix ({size}, {size})"
        )
    return lambda x: astype(matmul(A, x), dtype_of(x)) if what == "M" else matmul(A, x)


def _start(name: str, x0: Any, b_tree: Any, leaves: list[Any]) -> Any:
    """x0 with the structure, shapes and dtypes of b; None stands for zeros."""
    if x0 is None:
        return None
    starts, own_tree = flat_operands(name, x0)
    if own_tree != b_tree:
        raise errors.TreeError(
            f"{name}: x0 has another tree than b: {tree.describe_mismatch(b_tree, own_tree)}",
            mend=f"give x0 the structure of b: {structure_text(b_tree)}",
        )
    for k, (x, b) in enumerate(zip(starts, leaves, strict=True)):
        if shape_of(x) != shape_of(b):
            path = leaf_names(name, b_tree, "x0")[k]
            raise errors.ShapeError(
                f"{name}: {path} has shape {shape_of(x)}, where b has shape {shape_of(b)}",
                mend="give x0 the shapes of b",
            )
    return b_tree.unflatten([astype(x, dtype_of(b)) for x, b in zip(starts, leaves, strict=True)])


# arithmetic on trees


def _flat(x: Any) -> Any:
    return reshape(x, shape=(get_aval(x).size,))


def _dot(x: Any, y: Any) -> Any:
    """The inner product of two trees, conjugate in x."""
    terms = [matmul(conj(_flat(a)), _flat(b)) for a, b in zip(tree.leaves(x), tree.leaves(y), strict=True)]
    return sum(terms[1:], terms[0])


def _norm(x: Any) -> Any:
    return sqrt(real(_dot(x, x)))


def _scaled_to(scale: Any, x: Any) -> Any:
    """`scale` in a dtype that keeps x's: real, or complex where x is."""
    own = dtype_of(x)
    return astype(scale if own.kind == "c" or dtype_of(scale).kind != "c" else real(scale), own)


def _plus(x: Any, scale: Any, y: Any) -> Any:
    """x + scale y."""
    return tree.map(lambda a, b: a + _scaled_to(scale, b) * b, x, y)


def _minus(x: Any, y: Any) -> Any:
    return tree.map(lambda a, b: a - b, x, y)


def _begin(A: Map, b: Any, settings: Settings) -> tuple[Any, Any, Any]:
    """The first solution, its residual, and the size at which a residual is small enough."""
    enough = maximum(settings.tol * _norm(b), settings.atol)
    if settings.x0 is None:
        return tree.map(lambda v: v * 0, b), b, enough
    return settings.x0, _minus(b, A(settings.x0)), enough


def _quotient(x: Any, y: Any) -> Any:
    """x / y, and 0 where y is 0."""
    return where(y == 0, 0, x) / where(y == 0, 1, y)


def _info(residual: Any, enough: Any, count: Any) -> Any:
    """0 where the residual is small enough, else the count, at least 1."""
    return where(residual <= enough, 0, maximum(count, 1))


def _conjugate_gradients(A: Map, b: Any, settings: Settings) -> tuple[Any, Any]:
    M = settings.precondition
    x, r, enough = _begin(A, b, settings)
    z = M(r)

    def go_on(state: Any) -> Any:
        _, r, _, _, k = state
        return logical_and(_norm(r) > enough, k < settings.maxiter)

    def step(state: Any) -> Any:
        x, r, p, rz, k = state
        q = A(p)
        alpha = _quotient(rz, real(_dot(p, q)))
        x, r = _plus(x, alpha, p), _plus(r, -alpha, q)
        z = M(r)
        new = real(_dot(r, z))
        return x, r, _plus(z, _quotient(new, rz), p), new, k + 1

    x, r, _, _, k = while_loop(go_on, step, (x, r, z, real(_dot(r, z)), 0))
    return x, _info(_norm(r), enough, k)


def _stabilized_gradients(A: Map, b: Any, settings: Settings) -> tuple[Any, Any]:
    M = settings.precondition
    x, r, enough = _begin(A, b, settings)
    shadow = r
    one = _dot(r, r) * 0 + 1

    def go_on(state: Any) -> Any:
        r, k, sound = state["r"], state["k"], state["sound"]
        return logical_and(logical_and(_norm(r) > enough, k < settings.maxiter), sound)

    def step(state: Any) -> Any:
        x, r, p, v = state["x"], state["r"], state["p"], state["v"]
        rho = _dot(shadow, r)
        beta = _quotient(rho * state["alpha"], state["rho"] * state["omega"])
        p = _plus(r, beta, _plus(p, -state["omega"], v))
        p_hat = M(p)
        v = A(p_hat)
        alpha = _quotient(rho, _dot(shadow, v))
        s = _plus(r, -alpha, v)
        s_hat = M(s)
        t = A(s_hat)
        omega = _quotient(_dot(t, s), _dot(t, t))
        x = _plus(_plus(x, alpha, p_hat), omega, s_hat)
        r = _plus(s, -omega, t)
        sound = logical_and(absolute(alpha * rho) > 0, absolute(omega) > 0)
        return {
            "x": x, "r": r, "p": p, "v": v, "rho": rho, "alpha": alpha, "omega": omega, "k": state["k"] + 1,
            "sound": sound,
        }  # fmt: skip

    zero = tree.map(lambda u: u * 0, r)
    state = {
        "x": x, "r": r, "p": zero, "v": zero, "rho": one, "alpha": one, "omega": one, "k": 0,
        "sound": real(one) > 0,
    }  # fmt: skip
    state = while_loop(go_on, step, state)
    info = _info(_norm(state["r"]), enough, state["k"])
    return state["x"], where(state["sound"], info, -info)


def _minimal_residuals(A: Map, b: Any, settings: Settings, restart: int, incremental: bool) -> tuple[Any, Any]:
    M = settings.precondition
    x, r, enough = _begin(A, b, settings)
    basis = _Vectors(b)
    m = min(restart, basis.size)

    def go_on(state: Any) -> Any:
        _, r, k = state
        return logical_and(_norm(r) > enough, k < settings.maxiter)

    def step(state: Any) -> Any:
        x, r, k = state
        operator = lambda v: basis.vector(A(M(basis.tree(v))))
        correction = _krylov(operator, basis.vector(r), m, enough if incremental else 0.0)
        x = tree.map(lambda a, c: a + c, x, M(basis.tree(correction)))
        return x, _minus(b, A(x)), k + 1

    x, r, k = while_loop(go_on, step, (x, r, 0))
    return x, _info(_norm(r), enough, k)


class _Vectors:
    """Trees like an example as vectors of one dtype, and back."""

    def __init__(self, example: Any):
        leaves, self.treedef = tree.flatten(example)
        self.avals = [get_aval(x) for x in leaves]
        self.size = sum(a.size for a in self.avals)
        self.dtype = np.result_type(*[a.dtype for a in self.avals])

    def vector(self, x: Any) -> Any:
        return concatenate(*[astype(_flat(v), self.dtype) for v in tree.leaves(x)], axis=0)

    def tree(self, vector: Any) -> Any:
        leaves, start = [], 0
        for a in self.avals:
            part = reshape(vector[start : start + a.size], shape=a.shape)
            leaves.append(astype(part if a.dtype.kind == "c" else real(part), a.dtype))
            start += a.size
        return self.treedef.unflatten(leaves)


def _krylov(A: Map, r: Any, m: int, enough: Any) -> Any:
    """The vector c in the Krylov space of r of dimension m that makes |r - A c| least; a space of less dimension where
    the residual is small enough before, or where it is invariant.

    Arnoldi's method with two passes of Gram-Schmidt; `rotations` brings the Hessenberg matrix to triangular form."""
    dtype = dtype_of(r)
    size = _norm(r)
    first = _quotient(r, _scaled_to(size, r))
    rows, columns = np.arange(m + 1), np.arange(m)
    eps = float(np.finfo(dtype).eps)
    zero = r[:1] * 0

    def fill(shape: tuple[int, ...]) -> Any:
        return broadcast_to(reshape(zero, shape=(1,) * len(shape)), shape=shape)

    def go_on(state: Any) -> Any:
        return logical_and(logical_and(state["k"] < m, state["residual"] > enough), state["residual"] > eps * size)

    def step(state: Any) -> Any:
        k, V = state["k"], state["V"]
        w = A(matmul(astype(rows == k, dtype), V))
        length = _norm(w)
        h = matmul(conj(V), w)
        w = w - matmul(h, V)
        again = matmul(conj(V), w)
        h, w = h + again, w - matmul(again, V)
        rest = _norm(w)
        rest = where(rest > 10 * eps * length, rest, 0)  # else what is left of w is rounding
        V = V + astype(rows == k + 1, dtype)[:, None] * _quotient(w, _scaled_to(rest, w))
        # the rotation that takes (a, rest) to (t, 0), in rows k and k + 1
        column = matmul(state["rotations"], h)
        at, below = astype(rows == k, dtype), astype(rows == k + 1, dtype)
        a = matmul(at, column)
        t = hypot(absolute(a), rest)
        c, s = _quotient(a, _scaled_to(t, r)), _scaled_to(_quotient(rest, t), r)
        whole = t > 0

        def rotate(x: Any) -> Any:
            upper, lower = matmul(at, x), matmul(below, x)
            turn = lambda e, y: e[:, None] * y if len(shape_of(x)) == 2 else e * y
            return x + turn(at, conj(c) * upper + s * lower - upper) + turn(below, c * lower - s * upper - lower)

        column = rotate(column + below * _scaled_to(rest, r))
        kept = astype(columns == k, dtype)
        return {
            "k": k + 1, "V": V, "rotations": rotate(state["rotations"]), "g": rotate(state["g"]),
            "R": state["R"] + column[:m, None] * kept * astype(whole, dtype),
            "residual": where(logical_and(whole, rest > 0), absolute(matmul(below, rotate(state["g"]))), 0),
        }  # fmt: skip

    top = np.zeros(m + 1, dtype)
    top[0] = 1
    state = while_loop(go_on, step, {
        "k": 0, "V": top[:, None] * first, "rotations": fill((m + 1, m + 1)) + np.eye(m + 1, dtype=dtype),
        "g": top * _scaled_to(size, r), "R": fill((m, m)), "residual": size,
    })  # fmt: skip
    R, g = state["R"], state["g"][:m]
    # columns that were not reached, or that are dependent, take no part
    diagonal = matmul(R * np.eye(m, dtype=dtype), np.ones(m, dtype))
    used = absolute(diagonal) > eps * matmul(absolute(R), np.ones(m, np.finfo(dtype).dtype))
    R = where(used, R, 0) + np.eye(m, dtype=dtype) * astype(logical_not(used), dtype)
    y = solve_triangular(R, where(used, g, 0)[:, None], lower=False, trans=0, unit_diagonal=False)[:, 0]
    return matmul(y, state["V"][:m])
