"""Solvers, roots, fixed points and differential equations: functions of another form than they are called with."""

import numpy as np

from autodidax import grad, jit, lax
from autodidax.scipy.integrate import odeint
from autodidax.scipy.sparse.linalg import cg, gmres
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])
T = np.array([0.0, 1.0])


def first_guess(f, x):
    return x


def identity(g, y):
    return y


@bad(
    TypeError,
    """
    NotLinearError: cg: <lambda> must be linear, and its value at zero is not zero
      in: cg_of_an_affine_function (here)
      mend: give a linear function: in the place of A(x) = L(x) + c = b solve L(x) = b - c
    """,
)
def cg_of_an_affine_function():
    cg(lambda x: 2.0 * x + 1.0, X)  # <- here


@bad(
    TypeError,
    """
    NotLinearError: gmres: <lambda> must be linear, and its value at zero is not zero
      in: <lambda> (here), under jit of <lambda>
      mend: give a linear function: in the place of A(x) = L(x) + c = b solve L(x) = b - c
    """,
)
def gmres_of_an_affine_function_under_jit():
    jit(lambda b: gmres(lambda x: 2.0 * x + 1.0, b))(X)  # <- here


@bad(
    TypeError,
    """
    NotLinearError: cg: the function in the place of the matrix is not linear: add adds a constant, so the
            function is affine
      in: <lambda> (here), under transpose of <function>, under while_loop of step, under custom_linear_solve of
            solve, under jit of <lambda>
      mend: give a linear function: in the place of A(x) = L(x) + c = b solve L(x) = b - c
    """,
)
def cg_of_a_traced_affine_function():
    jit(lambda b, c: cg(lambda x: 2.0 * x + c, b))(X, X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: cg: <lambda>(x) has shape (2,), b has shape (3,)
      in: cg_of_a_function_that_drops_entries (here)
      mend: return the shape of b
    """,
)
def cg_of_a_function_that_drops_entries():
    cg(lambda x: x[:2], X)  # <- here


@bad(
    ValueError,
    """
    TreeError: cg: <lambda>(x) has another tree than b: at the root: a leaf expected, tuple of 2 given
      in: <lambda> (here), under jit of <lambda>
      mend: return the structure of b: * (one array or number)
    """,
)
def cg_of_a_function_that_returns_a_pair():
    jit(lambda b: cg(lambda x: (x, x), b))(X)  # <- here


@bad(
    ValueError,
    """
    TreeError: cg: x0 has another tree than b: at the root: dict with keys 'u' expected, a leaf given
      in: cg_from_a_start_of_another_tree (here)
      mend: give x0 the structure of b: {'u': *}
    """,
)
def cg_from_a_start_of_another_tree():
    cg(lambda x: {"u": 2.0 * x["u"]}, {"u": X}, X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: cg: <lambda> is called as A(x): missing 1 required positional argument: 'y'
      in: cg_of_a_function_of_two_arguments (here)
      mend: define it with the arguments of A(x)
    """,
)
def cg_of_a_function_of_two_arguments():
    cg(lambda x, y: x + y, X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: cg: <lambda> is called as M(x): missing 1 required positional argument: 'k'
      in: cg_with_a_preconditioner_of_two_arguments (here)
      mend: define it with the arguments of M(x)
    """,
)
def cg_with_a_preconditioner_of_two_arguments():
    cg(lambda x: 2.0 * x, X, M=lambda r, k: r)  # <- here


@bad(
    ValueError,
    """
    ShapeError: custom_linear_solve: the result of <lambda> has shape (2,), b has shape (3,)
      in: linear_solve_with_a_solution_of_another_shape (here)
      mend: return the shape of b
    """,
)
def linear_solve_with_a_solution_of_another_shape():
    lax.custom_linear_solve(lambda x: 2.0 * x, X, lambda matvec, b: b[:2], symmetric=True)  # <- here


@bad(
    ValueError,
    """
    TreeError: custom_linear_solve: the result of <lambda> has another tree than b: at the root: a leaf
            expected, tuple of 2 given
      in: linear_solve_with_a_solution_of_another_tree (here)
      mend: give it the structure of b: * (one array or number)
    """,
)
def linear_solve_with_a_solution_of_another_tree():
    lax.custom_linear_solve(lambda x: 2.0 * x, X, lambda matvec, b: (b, 0), symmetric=True)  # <- here


@bad(
    ValueError,
    """
    ShapeError: custom_linear_solve: <lambda>(x) has shape (2,), b has shape (3,)
      in: linear_solve_whose_solver_does_not_call_the_wrong_matvec (here)
      mend: return the shape of b
    """,
)
def linear_solve_whose_solver_does_not_call_the_wrong_matvec():
    lax.custom_linear_solve(lambda x: 2.0 * x[:2], X, lambda matvec, b: b / 2.0, symmetric=True)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: custom_linear_solve: <lambda> is called as solve(matvec, b): takes 1 positional argument but
            2 were given
      in: linear_solve_with_a_solver_of_one_argument (here)
      mend: define it with the arguments of solve(matvec, b)
    """,
)
def linear_solve_with_a_solver_of_one_argument():
    lax.custom_linear_solve(lambda x: 2.0 * x, X, lambda b: b / 2.0)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: custom_linear_solve: <lambda> is called as transpose_solve(vecmat, b): takes 1 positional
            argument but 2 were given
      in: linear_solve_with_a_transposed_solver_of_one_argument (here)
      mend: define it with the arguments of transpose_solve(vecmat, b)
    """,
)
def linear_solve_with_a_transposed_solver_of_one_argument():
    halve = lambda b: np.sum(lax.custom_linear_solve(lambda x: 2.0 * x, b, lambda _, b: b / 2.0, lambda b: b / 2.0))
    grad(halve)(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: custom_root: sum(x) has shape (), the guess has shape (3,)
      in: root_of_a_function_that_sums (here)
      mend: return the shape of the guess
    """,
)
def root_of_a_function_that_sums():
    lax.custom_root(np.sum, X, first_guess, identity)  # <- here


@bad(
    ValueError,
    """
    TreeError: custom_root: the result of <lambda> has another tree than the guess: at the root: dict with keys
            'u' expected, a leaf given
      in: root_of_another_tree (here)
      mend: give it the structure of the guess: {'u': *}
    """,
)
def root_of_another_tree():
    lax.custom_root(lambda x: x, {"u": X}, lambda f, x: x["u"], identity)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: custom_root: <lambda> is called as f(x): missing 1 required positional argument: 'y'
      in: <lambda> (here)
      mend: define it with the arguments of f(x)
    """,
)
def root_of_a_function_of_two_arguments():
    lax.custom_root(lambda x, y: x - y, X, lambda f, x: x - f(x), identity)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: custom_root: <lambda> is called as solve(f, initial_guess): takes 1 positional argument but 2
            were given
      in: <lambda> (here), under custom_jvp of <lambda>, under jit of <lambda>
      mend: define it with the arguments of solve(f, initial_guess)
    """,
)
def root_with_a_solver_of_one_argument():
    jit(lambda y: lax.custom_root(lambda x: x - y, y, lambda f: f(0.0), identity))(X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: custom_root: <lambda> is called as tangent_solve(g, y): takes 1 positional argument but 2
            were given
      in: <lambda> (here), under custom_root of <lambda>, under the forward rule of first_guess, under grad of
            <lambda>
      mend: define it with the arguments of tangent_solve(g, y)
    """,
)
def root_with_a_tangent_solver_of_one_argument():
    grad(lambda y: lax.custom_root(lambda x: x - y, 1.0, first_guess, lambda g: g))(2.0)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: fixed_point: <lambda> is called as f(x, *args): takes 1 positional argument but 2 were given
      in: fixed_point_without_its_argument (here)
      mend: define it with the arguments of f(x, *args)
    """,
)
def fixed_point_without_its_argument():
    lax.fixed_point(lambda x: 0.5 * x, 1.0, 2.0)  # <- here


@bad(
    RuntimeError,
    """
    ConvergenceError: fixed_point: after 20 iterations, <lambda> still changes x by up to 1
      in: fixed_point_that_grows (here)
      mend: start nearer to the solution, raise maxiter or tol, or damp f: 0.5 * (x + f(x))
    """,
)
def fixed_point_that_grows():
    lax.fixed_point(lambda x: x + 1.0, 0.0, maxiter=20)  # <- here


@bad(
    RuntimeError,
    """
    ConvergenceError: fixed_point: after 9 iterations, <lambda> gives no finite x
      in: <lambda> (here), under the forward rule of solve, under grad of <lambda>
      mend: start nearer to the solution, raise maxiter or tol, or damp f: 0.5 * (x + f(x))
    """,
)
def fixed_point_that_ends_in_nan():
    with np.errstate(all="ignore"):
        grad(lambda a: lax.fixed_point(lambda x: a * x * x, 3.0))(2.0)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: associative_scan: <lambda> is called as fn(earlier, later): takes 1 positional argument but 2
            were given
      in: associative_scan_of_a_function_of_one_argument (here)
      mend: define it with the arguments of fn(earlier, later)
    """,
)
def associative_scan_of_a_function_of_one_argument():
    lax.associative_scan(lambda x: x, X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: associative_scan takes a function as its first argument, got an array of shape (3,) and dtype
            float64
      in: associative_scan_without_a_function (here)
      mend: write associative_scan(f)(x) for a function f, not associative_scan(f(x))
    """,
)
def associative_scan_without_a_function():
    lax.associative_scan(X, np.add)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: odeint: <lambda> is called as func(y, t): takes 1 positional argument but 2 were given
      in: odeint_without_time (here)
      mend: define it with the arguments of func(y, t)
    """,
)
def odeint_without_time():
    odeint(lambda y: -y, X, T)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: odeint: <lambda> is called as func(y, t, *args): takes 2 positional arguments but 3 were
            given
      in: <lambda> (here), under odeint of <lambda>, under jit of <lambda>
      mend: define it with the arguments of func(y, t, *args)
    """,
)
def odeint_without_its_argument_under_jit():
    jit(lambda y, k: odeint(lambda y, t: -y, y, T, k))(X, 1.0)  # <- here


@bad(
    ValueError,
    """
    TreeError: odeint: <lambda> returns another tree than y0: at the root: tuple of 2 expected, a leaf given
      in: odeint_with_a_rate_of_another_tree (here)
      mend: return a rate for each leaf of y0: (*, *)
    """,
)
def odeint_with_a_rate_of_another_tree():
    odeint(lambda y, t: -y[0], (X, X), T)  # <- here
