"""Rules that are right at order 1 and wrong at order 2: something is held fixed that depends on the point."""

import autodidax.numpy as anp
from autodidax import stop_gradient as fixed
from tests.testing.wrong.case import Case, complex_normal, forward, normal, reverse, uniform, well_conditioned

POSITIVE = uniform(0.5, 2.0, 4)


def twice(name, f, d, wrong, args, modes=("fwd", "rev"), **options):
    """An elementwise function whose derivative is right in value and has a wrong derivative itself."""
    return Case(
        name, f, args, lambda x, t: t * d(x), lambda x, ct: ct * d(x), order=2,
        wrong_jvp=(lambda x, t: t * wrong(x)) if "fwd" in modes else None,
        wrong_vjp=(lambda x, ct: ct * wrong(x)) if "rev" in modes else None, **options,
    )  # fmt: skip


def softmax(x):
    e = anp.exp(x - fixed(anp.max(x)))
    return e / anp.sum(e)


def softmax_jvp(x, t, hold=lambda s: s):
    s = softmax(x)
    return s * (t - anp.sum(hold(s) * t))


def norm(x):
    return anp.sqrt(anp.sum(x * x))


def solve_vjp(a, b, ct, hold=lambda x: x):
    g = anp.linalg.solve(a.T, ct)
    return -anp.outer(g, hold(anp.linalg.solve(a, b))), g


def inverse_vjp(a, ct, hold=lambda x: x):
    x = anp.linalg.inv(a)
    return -x.T @ ct @ hold(x).T


CASES = [
    twice("log, point held", anp.log, lambda x: 1 / x, lambda x: 1 / fixed(x), POSITIVE),
    twice(
        "tanh, output held", anp.tanh, lambda x: 1 - anp.tanh(x) ** 2, lambda x: 1 - fixed(anp.tanh(x)) ** 2,
        normal(4)),
    twice("cube, half of it held", lambda x: x * x * x, lambda x: 3 * x * x, lambda x: 3 * x * fixed(x), normal(4)),
    twice(
        "sin, value passed straight through", anp.sin, anp.cos, lambda x: anp.cos(x) + (x - fixed(x)), normal(4),
        modes=("rev",)),
    twice(
        "exp, straight through in forward mode", anp.exp, anp.exp,
        lambda x: anp.exp(fixed(x)) * (1 + x - fixed(x)) ** 2, normal(4), modes=("fwd",)),
    twice(
        "sin, held where negative", anp.sin, anp.cos, lambda x: anp.where(x > 0, anp.cos(x), fixed(anp.cos(x))),
        normal(4)),
    twice(
        "reciprocal, one factor held", lambda x: 1 / x, lambda x: -1 / (x * x), lambda x: -1 / (x * fixed(x)), POSITIVE,
        modes=("rev",)),
    twice("complex square, held", lambda z: z * z, lambda z: 2 * z, lambda z: 2 * fixed(z), complex_normal(3)),
    twice(
        "square root, its output held", anp.sqrt, lambda x: 0.5 / anp.sqrt(x), lambda x: 0.5 / fixed(anp.sqrt(x)),
        POSITIVE, modes=("fwd",)),
    twice(
        "expm1, a small part held", anp.expm1, anp.exp, lambda x: 0.999 * anp.exp(x) + 0.001 * fixed(anp.exp(x)),
        normal(4)),
    forward(
        "sin, tangent held", anp.sin, lambda x, t: anp.cos(x) * t, lambda x, t: anp.cos(x) * fixed(t), normal(4),
        order=2),
    reverse(
        "product, cotangent held for one argument", lambda x, y: x * y, lambda x, y, ct: (ct * y, ct * x),
        lambda x, y, ct: (ct * y, fixed(ct) * x), normal(3, 3), order=2),
    reverse(
        "product, the other operand held", lambda x, y: x * y, lambda x, y, ct: (ct * y, ct * x),
        lambda x, y, ct: (ct * fixed(y), ct * x), normal(3, 3), order=2),
    reverse(
        "matmul, the right matrix held", anp.matmul, lambda a, b, ct: (ct @ b.T, a.T @ ct),
        lambda a, b, ct: (ct @ fixed(b).T, a.T @ ct), normal((2, 3), (3, 2)), order=2),
    forward(
        "softmax, weights of the sum held", softmax, softmax_jvp, lambda x, t: softmax_jvp(x, t, fixed), normal(4),
        order=2),
    reverse(
        "softmax, output held", softmax, softmax_jvp, lambda x, ct: fixed(softmax(x)) * (ct - anp.sum(softmax(x) * ct)),
        normal(4), order=2),
    reverse(
        "norm, held", norm, lambda x, ct: ct * x / norm(x), lambda x, ct: ct * x / fixed(norm(x)), normal(4), order=2),
    reverse(
        "logsumexp, weights held", lambda x: anp.log(anp.sum(anp.exp(x))), lambda x, ct: ct * softmax(x),
        lambda x, ct: ct * fixed(softmax(x)), normal(4), order=2),
    reverse(
        "solve, solution held", anp.linalg.solve, solve_vjp, lambda a, b, ct: solve_vjp(a, b, ct, fixed),
        well_conditioned(3, 3), order=2),
    reverse(
        "inverse, one factor held", anp.linalg.inv, inverse_vjp, lambda a, ct: inverse_vjp(a, ct, fixed),
        well_conditioned(3), order=2),
    reverse(
        "sum of squares, gradient held", lambda x: anp.sum(x * x), lambda x, ct: ct * 2 * x,
        lambda x, ct: ct * 2 * fixed(x), normal(4), order=2),
    reverse(
        "cumulative sum, cotangent held", anp.cumsum, lambda x, ct: anp.cumsum(ct[::-1])[::-1],
        lambda x, ct: anp.cumsum(fixed(ct)[::-1])[::-1], normal(4), order=2),
    twice(
        "softplus, slope constant at zero", lambda x: anp.logaddexp(x, 0.0), lambda x: 1 / (1 + anp.exp(-x)),
        lambda x: anp.where(x == 0, 0.5, 1 / (1 + anp.exp(-x))), normal(4)),
    twice(
        "square, slope constant at zero", lambda x: x * x, lambda x: 2 * x, lambda x: anp.where(x == 0, 0.0, 2 * x),
        normal(4)),
]  # fmt: skip
