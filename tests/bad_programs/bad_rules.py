"""Derivative rules of one's own, and what they return."""

import numpy as np

from autodidax import custom_jvp, custom_vjp, grad, jit, jvp, pointwise, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


def total(f):
    return lambda x: np.sum(f(x))  # <- here


def with_jvp(rule, **options):
    def double(x):
        return 2.0 * x

    f = custom_jvp(double, **options)
    f.defjvp(rule)
    return f


def with_vjp(fwd, bwd, **options):
    def double(x):
        return 2.0 * x

    f = custom_vjp(double, **options)
    f.defvjp(fwd, bwd)
    return f


@bad(
    TypeError,
    """
    ArgumentError: custom_jvp double has no rule yet
      in: custom_jvp_without_a_rule (here)
      mend: define one with defjvp before calling it
    """,
)
def custom_jvp_without_a_rule():
    @custom_jvp
    def double(x):
        return 2.0 * x

    double(X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: custom_vjp double has no rule yet
      in: <lambda> (here), under grad of <lambda>
      mend: define one with defvjp before calling it
    """,
)
def custom_vjp_without_a_rule():
    @custom_vjp
    def double(x):
        return 2.0 * x

    grad(total(double))(X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: custom_jvp takes a function as its first argument, got a float
      in: custom_jvp_of_a_value (here)
      mend: write custom_jvp(f)(x) for a function f, not custom_jvp(f(x))
    """,
)
def custom_jvp_of_a_value():
    custom_jvp(2.0)  # <- here


@bad(
    ValueError,
    """
    TreeError: the rule of custom_jvp double must return a pair (out, tangent), it returned an array of shape
            (3,) and dtype float64
      in: custom_jvp_rule_without_a_pair (here), under jvp of double
      mend: return (out, tangent of out)
    """,
)
def custom_jvp_rule_without_a_pair():
    jvp(with_jvp(lambda primals, tangents: 2.0 * tangents[0]), (X,), (X,))  # <- here


@bad(
    ValueError,
    """
    ShapeError: the rule of custom_jvp double: the tangent has shape (), the output (3,)
      in: <lambda> (here), under the forward rule of double, under grad of <lambda>
      mend: return a tangent of the output's shape
    """,
)
def custom_jvp_tangent_of_another_shape():
    f = with_jvp(lambda primals, tangents: (2.0 * primals[0], np.sum(tangents[0])))
    grad(total(f))(X)  # <- here


@bad(
    ValueError,
    """
    TreeError: the rule of custom_jvp double: the tangent's tree (*,) is not the output's * (one array or
            number)
      in: <lambda> (here), under the forward rule of double, under grad of <lambda>
      mend: return a tangent with the structure of the output
    """,
)
def custom_jvp_tangent_of_another_structure():
    f = with_jvp(lambda primals, tangents: (2.0 * primals[0], (2.0 * tangents[0],)))
    grad(total(f))(X)  # <- here


@bad(
    TypeError,
    """
    DtypeError: the rule of custom_jvp double: the tangent has dtype complex128, the output float64
      in: custom_jvp_tangent_that_is_complex (here), under jvp of double
      mend: return a tangent of the output's dtype, e.g. its real part
    """,
)
def custom_jvp_tangent_that_is_complex():
    f = with_jvp(lambda primals, tangents: (2.0 * primals[0], 2j * tangents[0]))
    jvp(f, (X,), (X,))  # <- here


@bad(
    TypeError,
    """
    ArgumentError: custom_jvp double: <lambda> is called as rule(primals, tangents): takes 1 positional argument
            but 2 were given
      in: custom_jvp_rule_of_another_arity (here), under jvp of double
      mend: define it with the arguments of rule(primals, tangents)
    """,
)
def custom_jvp_rule_of_another_arity():
    f = with_jvp(lambda x, tx: (2.0 * x, 2.0 * tx), nondiff_argnums=())
    f.defjvp(lambda primals: (2.0 * primals[0], 2.0 * primals[0]))
    jvp(f, (X,), (X,))  # <- here


@bad(
    TypeError,
    """
    NotLinearError: square is not linear, in the forward rule of double
      in: <lambda> (here), under the forward rule of double, under grad of <lambda>
      mend: use only linear operations on the linear input, or differentiate with vjp instead
    """,
)
def custom_jvp_that_is_not_linear():
    f = with_jvp(lambda primals, tangents: (2.0 * primals[0], tangents[0] ** 2))  # <- here
    grad(total(f))(X)


@bad(
    TypeError,
    """
    ArgumentError: custom_jvp double: defjvps got 2 rules for 1 argument
      in: custom_jvp_with_too_many_rules (here), under the forward rule of double, under grad of double
      mend: give one rule for each argument, None where the derivative is zero
    """,
)
def custom_jvp_with_too_many_rules():
    @custom_jvp
    def double(x):
        return 2.0 * x

    double.defjvps(lambda t, out, x: 2.0 * t, None)
    grad(double)(1.0)  # <- here


@bad(
    ValueError,
    """
    TreeError: the fwd of custom_vjp double must return a pair (out, residuals), it returned an array of shape
            (3,) and dtype float64
      in: <lambda> (here), under grad of <lambda>
      mend: return (out, residuals)
    """,
)
def custom_vjp_fwd_without_a_pair():
    grad(total(with_vjp(lambda x: 2.0 * x, lambda res, ct: (2.0 * ct,))))(X)  # <- here


@bad(
    ValueError,
    """
    TreeError: the bwd of custom_vjp double must return a tuple of 1 cotangent, one for each argument, it
            returned an array of shape (3,) and dtype float64
      in: custom_vjp_bwd_without_a_tuple (here)
      mend: return one cotangent for each argument, None for those that are zero
    """,
)
def custom_vjp_bwd_without_a_tuple():
    grad(total(with_vjp(lambda x: (2.0 * x, None), lambda res, ct: 2.0 * ct)))(X)  # <- here


@bad(
    ValueError,
    """
    TreeError: the bwd of custom_vjp double must return a tuple of 1 cotangent, one for each argument, it
            returned 2 values
      in: custom_vjp_bwd_with_too_many_results (here)
      mend: return one cotangent for each argument, None for those that are zero
    """,
)
def custom_vjp_bwd_with_too_many_results():
    grad(total(with_vjp(lambda x: (2.0 * x, None), lambda res, ct: (2.0 * ct, None))))(X)  # <- here


@bad(
    ValueError,
    """
    ShapeError: the bwd of custom_vjp double returned a cotangent of shape () for an argument of shape (3,)
      in: custom_vjp_bwd_of_another_shape (here)
      mend: return a cotangent of the argument's shape
    """,
)
def custom_vjp_bwd_of_another_shape():
    grad(total(with_vjp(lambda x: (2.0 * x, None), lambda res, ct: (np.sum(ct),))))(X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: custom_vjp double: <lambda> is called as bwd(residuals, ct): takes 1 positional argument but
            2 were given
      in: custom_vjp_bwd_of_another_arity (here)
      mend: define it with the arguments of bwd(residuals, ct)
    """,
)
def custom_vjp_bwd_of_another_arity():
    grad(total(with_vjp(lambda x: (2.0 * x, None), lambda ct: (2.0 * ct,))))(X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: custom_vjp double: <lambda> is called as fwd(*args): missing 1 required positional argument:
            'y'
      in: <lambda> (here), under grad of <lambda>
      mend: define it with the arguments of fwd(*args)
    """,
)
def custom_vjp_fwd_of_another_arity():
    grad(total(with_vjp(lambda x, y: (2.0 * x, None), lambda res, ct: (2.0 * ct,))))(X)  # <- here


@bad(
    TypeError,
    """
    NotLinearError: custom_vjp double in forward mode: its backward rule is not linear in the cotangent: mul
            multiplies two values that both depend on the linear input, in the backward rule of double
      in: custom_vjp_in_forward_mode_without_linear_bwd (here), under the backward rule of double, under jvp of
            double
      mend: define the function with custom_jvp, or use reverse mode
    """,
)
def custom_vjp_in_forward_mode_without_linear_bwd():
    f = with_vjp(lambda x: (2.0 * x, None), lambda res, ct: (ct * ct,))
    jvp(f, (X,), (X,))  # <- here


@bad(
    ValueError,
    """
    ArgumentError: double: nondiff_argnums (3,) for a call with 1 argument
      in: nondifferentiable_argument_out_of_range (here)
      mend: give positions within the function's arguments
    """,
)
def nondifferentiable_argument_out_of_range():
    with_jvp(lambda p, t: (p, t), nondiff_argnums=(3,))(X)  # <- here


@bad(
    TypeError,
    """
    ArgumentError: double: too many positional arguments
      in: wrong_call_of_a_custom_function (here)
      mend: give the arguments that it is defined with
    """,
)
def wrong_call_of_a_custom_function():
    with_jvp(lambda p, t: (p[0], t[0]))(X, X)  # <- here


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]), which depends on argument 'x' of
            grad_double, is not known under jit of grad_double
      in: rule (here), under the forward rule of double, under grad of double, under jit of grad_double
      mend: write np.where(x > 0, t, 2.0 * t), or lax.cond(test, f, g, x) where only one branch may run
    """,
)
def branch_in_a_rule_under_jit():
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        return 2.0 * x, t if x > 0 else 2.0 * t  # <- here

    jit(grad(with_jvp(rule)))(1.0)


@bad(
    TypeError,
    """
    DtypeError: an argument of double is a str, which cannot be traced
      in: string_for_a_custom_function (here)
      mend: pass numbers or arrays of numbers, or trees of them; close over other values
    """,
)
def string_for_a_custom_function():
    with_jvp(lambda p, t: (p[0], t[0]))("x")  # <- here


@bad(
    ValueError,
    """
    RegistryError: a primitive named 'sin' exists already, in autodidax.primitives.elementwise
      in: pointwise_of_a_name_that_exists (here)
      mend: give the new primitive another name, e.g. with your package's name in front
    """,
)
def pointwise_of_a_name_that_exists():
    pointwise("sin", np.sin, lambda y, x: np.cos(x))  # <- here


@bad(
    TypeError,
    """
    TracerBoolConversionError: the truth value of a traced value (bool[]) is not known under vmap of grad_double
            over axis 0 of size 3
      in: fwd (here), under grad of double, under vmap of grad_double over axis 0 of size 3
      mend: write np.where(x > 0, x, 0.0), or lax.cond(test, f, g, x) where only one branch may run
    """,
)
def vmap_of_a_rule_that_branches():
    def fwd(x):
        return (x if x > 0 else 0.0), x  # <- here

    vmap(grad(with_vjp(fwd, lambda x, ct: (ct,))))(X)
