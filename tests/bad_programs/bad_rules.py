"""Derivative rules of one's own, and what they return."""

import numpy as np

from autodidax import custom_jvp, custom_vjp, grad, jit, jvp, pointwise, vmap
from tests.bad_programs.table import bad

X = np.array([0.5, -1.5, 2.5])


def total(f):
    return lambda x: np.sum(f(x))


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


@bad(TypeError)
def custom_jvp_without_a_rule():
    @custom_jvp
    def double(x):
        return 2.0 * x

    double(X)  # <- here


@bad(TypeError)
def custom_vjp_without_a_rule():
    @custom_vjp
    def double(x):
        return 2.0 * x

    grad(total(double))(X)  # <- here


@bad(TypeError)
def custom_jvp_of_a_value():
    custom_jvp(2.0)  # <- here


@bad(ValueError)
def custom_jvp_rule_without_a_pair():
    jvp(with_jvp(lambda primals, tangents: 2.0 * tangents[0]), (X,), (X,))  # <- here


@bad(ValueError)
def custom_jvp_tangent_of_another_shape():
    f = with_jvp(lambda primals, tangents: (2.0 * primals[0], np.sum(tangents[0])))
    grad(total(f))(X)  # <- here


@bad(ValueError)
def custom_jvp_tangent_of_another_structure():
    f = with_jvp(lambda primals, tangents: (2.0 * primals[0], (2.0 * tangents[0],)))
    grad(total(f))(X)  # <- here


@bad(TypeError)
def custom_jvp_tangent_that_is_complex():
    f = with_jvp(lambda primals, tangents: (2.0 * primals[0], 2j * tangents[0]))
    jvp(f, (X,), (X,))  # <- here


@bad(TypeError)
def custom_jvp_rule_of_another_arity():
    f = with_jvp(lambda x, tx: (2.0 * x, 2.0 * tx), nondiff_argnums=())
    f.defjvp(lambda primals: (2.0 * primals[0], 2.0 * primals[0]))
    jvp(f, (X,), (X,))  # <- here


@bad(TypeError)
def custom_jvp_that_is_not_linear():
    f = with_jvp(lambda primals, tangents: (2.0 * primals[0], tangents[0] ** 2))
    grad(total(f))(X)  # <- here


@bad(TypeError)
def custom_jvp_with_too_many_rules():
    @custom_jvp
    def double(x):
        return 2.0 * x

    double.defjvps(lambda t, out, x: 2.0 * t, None)
    grad(double)(1.0)  # <- here


@bad(ValueError)
def custom_vjp_fwd_without_a_pair():
    grad(total(with_vjp(lambda x: 2.0 * x, lambda res, ct: (2.0 * ct,))))(X)  # <- here


@bad(ValueError)
def custom_vjp_bwd_without_a_tuple():
    grad(total(with_vjp(lambda x: (2.0 * x, None), lambda res, ct: 2.0 * ct)))(X)  # <- here


@bad(ValueError)
def custom_vjp_bwd_with_too_many_results():
    grad(total(with_vjp(lambda x: (2.0 * x, None), lambda res, ct: (2.0 * ct, None))))(X)  # <- here


@bad(ValueError)
def custom_vjp_bwd_of_another_shape():
    grad(total(with_vjp(lambda x: (2.0 * x, None), lambda res, ct: (np.sum(ct),))))(X)  # <- here


@bad(TypeError)
def custom_vjp_bwd_of_another_arity():
    grad(total(with_vjp(lambda x: (2.0 * x, None), lambda ct: (2.0 * ct,))))(X)  # <- here


@bad(TypeError)
def custom_vjp_fwd_of_another_arity():
    grad(total(with_vjp(lambda x, y: (2.0 * x, None), lambda res, ct: (2.0 * ct,))))(X)  # <- here


@bad(TypeError)
def custom_vjp_in_forward_mode_without_linear_bwd():
    f = with_vjp(lambda x: (2.0 * x, None), lambda res, ct: (ct * ct,))
    jvp(f, (X,), (X,))  # <- here


@bad(TypeError)
def nondifferentiable_argument_that_is_traced():
    def scale(x, n):
        return x * n

    f = custom_jvp(scale, nondiff_argnums=(1,))
    f.defjvp(lambda n, primals, tangents: (primals[0] * n, tangents[0] * n))
    grad(f, argnums=1)(2.0, 3.0)  # <- here


@bad(TypeError)
def nondifferentiable_argument_that_is_traced_by_vjp():
    def scale(x, n):
        return x * n

    f = custom_vjp(scale, nondiff_argnums=(1,))
    f.defvjp(lambda x, n: (x * n, None), lambda n, res, ct: (ct * n,))
    grad(f, argnums=1)(2.0, 3.0)  # <- here


@bad(ValueError)
def nondifferentiable_argument_out_of_range():
    with_jvp(lambda p, t: (p, t), nondiff_argnums=(3,))(X)  # <- here


@bad(TypeError)
def wrong_call_of_a_custom_function():
    with_jvp(lambda p, t: (p[0], t[0]))(X, X)  # <- here


@bad(TypeError)
def branch_in_a_rule_under_jit():
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        return 2.0 * x, t if x > 0 else 2.0 * t  # <- here

    jit(grad(with_jvp(rule)))(1.0)


@bad(TypeError)
def string_for_a_custom_function():
    with_jvp(lambda p, t: (p[0], t[0]))("x")  # <- here


@bad(ValueError)
def pointwise_of_a_name_that_exists():
    pointwise("sin", np.sin, lambda y, x: np.cos(x))  # <- here


@bad(TypeError)
def vmap_of_a_rule_that_branches():
    def fwd(x):
        return (x if x > 0 else 0.0), x  # <- here

    vmap(grad(with_vjp(fwd, lambda x, ct: (ct,))))(X)
