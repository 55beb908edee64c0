"""Cases that random programs found, each cut down to what broke."""

import itertools

import numpy as np
import pytest

import autodidax as ad
from autodidax import lax
from autodidax.primitives.expm import expm_frechet
from tests.laws.laws import check
from tests.laws.nestings import Point, by_jvp, by_linearize, by_vjp, by_vmap

X = np.array([0.5, 0.9])


def plain_sine(x):
    return np.sin(x)


def inner_jit(x):
    return ad.jit(lambda z: np.sin(z) * 2.0)(x)


def inner_cond(x):
    return lax.cond(np.sum(x) > 0, lambda z: np.sin(z) * z, lambda z: z, x)


def inner_scan(x):
    return lax.scan(lambda c, row: (np.sin(c) * row, c), x, np.array([0.5, 1.5]))[0]


def inner_while(x):
    return lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, np.sin(s[1]) * 1.3), (0, x))[1]


INNER = [inner_jit, inner_cond, inner_scan, inner_while]
OUTER = {
    "jit": lambda f: lambda x: f(x) * x,
    "cond": lambda f: lambda x: lax.cond(np.sum(x) < 9, lambda z: f(z) * z, lambda z: z, x),
    "scan": lambda f: lambda x: lax.scan(lambda c, row: (f(c) * row, c * c), x, np.array([0.7, 1.2]))[0],
    "while": lambda f: lambda x: lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, f(s[1]) * x), (0, x))[1],
    "checkpoint": lambda f: ad.checkpoint(lambda x: f(x) * x),
}


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("outer", OUTER)
def test_programs_inside_programs_are_linearized_with_values_apart(outer, inner):
    """The value of a call inside a staged program was computed together with its tangent, and then missed among the
    values."""
    f = OUTER[outer](inner)
    want, t_want = ad.jvp(f, (X,), (X * 0.3,))
    got, push = ad.linearize(ad.jit(f), X)
    np.testing.assert_allclose(got, want, rtol=1e-13)
    np.testing.assert_allclose(push(X * 0.3), t_want, rtol=1e-12)


def staged_rule(f):
    """f with a forward rule that computes value and tangent in one staged program."""
    g = ad.custom_jvp(f)
    g.defjvp(ad.jit(lambda primals, tangents: ad.jvp(f, primals, tangents)))
    return g


WRAPPED = {"plain": lambda f: f, "jit": ad.jit, "inside jit": lambda f: ad.jit(lambda x: ad.jit(f)(x) * x)}


@pytest.mark.parametrize("inner", [plain_sine, *INNER], ids=lambda f: f.__name__)
@pytest.mark.parametrize("wrapped", WRAPPED)
def test_rules_may_stage_value_and_tangent_together(wrapped, inner):
    """A staged program of which only some results depend on the linear operand: the others are values."""
    f = WRAPPED[wrapped](staged_rule(inner))
    plain = WRAPPED[wrapped](inner)
    want, pull = ad.vjp(plain, X)
    got, pull_staged = ad.vjp(f, X)
    assert isinstance(got, np.ndarray)
    np.testing.assert_allclose(got, want, rtol=1e-13)
    np.testing.assert_allclose(pull_staged(X)[0], pull(X)[0], rtol=1e-12)
    np.testing.assert_allclose(ad.jit(lambda x: ad.vjp(f, x)[1](x)[0])(X), pull(X)[0], rtol=1e-12)
    np.testing.assert_allclose(ad.linearize(f, X)[1](X), ad.jvp(plain, (X,), (X,))[1], rtol=1e-12)


@pytest.mark.parametrize("operation", [np.add, np.subtract, np.multiply, np.arctan2], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "transform", [ad.jit, lambda f: lambda *a: ad.vmap(f)(*[x[None] for x in a])[0]], ids=["jit", "vmap"]
)
def test_a_staged_tangent_has_its_output_s_shape(operation, transform):
    """Broadcasting against a constant: tangent and output were tracers of one kind, and taken to be alike."""
    constant = np.ones((2, 3))

    def tangent(x, t):
        return ad.jvp(lambda z: operation(z, constant), (x,), (t,))[1]

    x = np.array([0.5, 1.5, -0.3])
    got, want = transform(tangent)(x, x), tangent(x, x)
    assert got.shape == want.shape == (2, 3)
    np.testing.assert_allclose(got, want, rtol=1e-14)


def test_a_staged_tangent_has_its_output_s_dtype():
    wide = np.ones(2)

    def tangent(x, t):
        return ad.jvp(lambda z: z + wide, (x,), (t,))[1]

    x = X.astype(np.float32)
    assert ad.jit(tangent)(x, x).dtype == tangent(x, x).dtype == np.float64


def spin(c, n):
    """A while loop of n iterations."""
    return lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, np.sin(s[1]) * 1.3), (0, c))[1]


def while_in_scan(x):
    rows = lax.scan(lambda c, n: (spin(c, n) * 1.1, spin(c * c, n)), x, np.array([1, 3, 0, 2]))[1]
    return np.sum(rows * np.arange(4.0)[:, None])


def while_in_while(x):
    return np.sum(lax.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, spin(s[1], s[0]) * 1.1), (0, x))[1])


def while_in_while_in_scan(x):
    def row(c, n):
        return lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, spin(s[1], s[0]) * 1.01), (0, c))[1], c * c

    return np.sum(lax.scan(row, x, np.array([1, 3, 0, 2]))[0])


DERIVATIVES = {
    "grad": lambda f: ad.grad(f),
    "grad of grad": lambda f: ad.grad(lambda x: np.sum(np.sin(ad.grad(f)(x)))),
    "jacfwd of grad": lambda f: ad.jacfwd(ad.grad(f)),
    "linearize of grad": lambda f: lambda x: ad.linearize(ad.grad(f), x)[1](x),
}


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("f", [while_in_scan, while_in_while, while_in_while_in_scan], ids=lambda f: f.__name__)
def test_loops_of_unknown_length_inside_loops(f, derivative):
    """What the inner loop keeps has a length that differs from one iteration of the outer loop to the next."""
    transform = DERIVATIVES[derivative]
    want = transform(f)(X)
    np.testing.assert_allclose(ad.jit(transform(f))(X), want, rtol=1e-11)
    np.testing.assert_allclose(transform(ad.jit(f))(X), want, rtol=1e-11)
    np.testing.assert_allclose(ad.vmap(ad.jit(transform(f)))(np.stack([X, X * 0.9]))[0], want, rtol=1e-11)
    np.testing.assert_allclose(transform(lambda x: ad.vmap(ad.jit(f))(x[None])[0])(X), want, rtol=1e-11)


FORWARD = {
    "jvp": lambda f: lambda x: ad.jvp(f, (x,), (x,))[1],
    "linearize": lambda f: lambda x: ad.linearize(f, x)[1](x),
}


@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize(("outer", "inner"), list(itertools.product(FORWARD, FORWARD)), ids=lambda n: n)
def test_linear_records_of_unknown_length(outer, inner, count):
    """A record holds a tangent of run-time length beside a value whose length is known by then."""
    pulled = ad.grad(lambda x: np.sum(np.sin(ad.jit(spin)(x, count)) * np.arange(2.0)))

    def mapped(x):
        return ad.vmap(pulled)(x[None])[0]

    want = ad.jvp(lambda x: ad.jvp(mapped, (x,), (x,))[1], (X,), (X,))[1]
    np.testing.assert_allclose(FORWARD[outer](FORWARD[inner](mapped))(X), want, rtol=1e-11, atol=1e-15)


def with_backward_rule(f):
    """f with its own pullback for a rule."""
    g = ad.custom_vjp(f)
    g.defvjp(lambda x: (f(x), x), lambda x, ct: ad.vjp(f, x)[1](ct))
    return g


@pytest.mark.parametrize("f", [inner_jit, inner_scan, inner_while, lambda x: spin(x, 3)], ids=lambda f: f.__name__)
def test_a_backward_rule_that_loops_in_forward_mode(f):
    """The cotangents that a loop sums up begin as constants, to which linear values are added."""
    rule = with_backward_rule(lambda x: np.sum(f(x)) * x)

    def twice(g):
        return lambda x: ad.jvp(lambda z: ad.jvp(g, (z,), (z,))[1], (x,), (x,))[1]

    want = twice(lambda x: np.sum(f(x)) * x)(X)
    np.testing.assert_allclose(twice(rule)(X), want, rtol=1e-12)
    np.testing.assert_allclose(ad.jit(twice(rule))(X), want, rtol=1e-12)
    np.testing.assert_allclose(twice(ad.jit(rule))(X), want, rtol=1e-12)
    np.testing.assert_allclose(ad.vmap(twice(rule))(X[None])[0], want, rtol=1e-12)


WEAK = {
    "counter": lambda x: lax.fori_loop(0, 3, lambda i, c: np.sin(c) * (1 + 0.1 * i), x),
    "while": lambda x: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1.0, np.sin(s[1]) * s[0]), (0.5, x))[1],
    "scan": lambda x: lax.scan(lambda s, _: ((s[0] * 1.5, np.sin(s[1]) * s[0]), None), (0.5, x), None, length=3)[0][1],
}


@pytest.mark.parametrize("loop", WEAK)
@pytest.mark.parametrize("derivative", [*list(DERIVATIVES), "linearize"])
def test_python_scalars_that_a_loop_keeps_do_not_widen_derivatives(loop, derivative):
    """A Python scalar in a loop's carry came back from the stacked residuals as a float64 that is not weak."""
    transform = {"linearize": lambda f: lambda x: ad.linearize(f, x)[1](x), **DERIVATIVES}[derivative]
    x = X.astype(np.float32)

    def f(x):
        return np.sum(WEAK[loop](x))

    want = transform(f)(x)
    for got in (ad.jit(transform(f))(x), transform(ad.jit(f))(x), ad.vmap(transform(ad.jit(f)))(x[None])[0]):
        assert got.dtype == want.dtype == np.float32
        np.testing.assert_allclose(got, want, rtol=2e-5)


def test_a_branch_by_rows_on_what_has_run_time_length():
    """A batch of equal rows was made by broadcasting to a shape with an unknown size."""

    def f(x):
        return lax.cond(np.sum(x) > 1.0, lambda z: spin(z, 2), lambda z: z * 0.5, x)

    def twice(x):
        return ad.grad(lambda z: np.sum(ad.grad(lambda y: np.sum(ad.vmap(ad.jit(f))(y) ** 2))(z) ** 2))(x)

    rows = np.array([[0.5, 0.9], [0.1, -0.4]])
    want = np.stack([ad.grad(lambda z: np.sum(ad.grad(lambda y: np.sum(f(y) ** 2))(z) ** 2))(row) for row in rows])
    np.testing.assert_allclose(twice(rows), want, rtol=1e-11)


def test_the_exponential_s_derivative_where_only_one_operand_is_mapped():
    p = expm_frechet
    a, e = np.array([[0.1, 0.4], [-0.3, 0.2]]), np.array([[1.0, 0.5], [0.0, -1.0]])
    rng = np.random.default_rng(0)
    point = Point(lambda x, y: [p(x, y)], (a, e))
    for transform in (by_jvp, by_vjp, by_linearize):
        check(transform(rng, by_vmap(rng, point, 2)), rng)
    one_mapped = ad.vmap(lambda y: p(a, y))
    want = ad.jvp(lambda x: p(x, e), (a,), (e,))[1]
    got = ad.jvp(lambda x: ad.vmap(lambda y: p(x, y))(np.stack([e, 2 * e])), (a,), (e,))[1]
    np.testing.assert_allclose(one_mapped(np.stack([e, 2 * e]))[1], 2 * p(a, e), rtol=1e-13)
    np.testing.assert_allclose(got, np.stack([want, 2 * want]), rtol=1e-12)


@pytest.mark.parametrize("size", [1e-45, 1e-38, 1e38])
def test_the_exponential_s_derivative_in_a_tiny_or_huge_direction(size):
    a = np.array([[0.1, 0.4], [-0.3, 0.2]], np.float32)
    e = np.array([[1.0, 0.0], [0.5, 1.0]], np.float32) * np.float32(size)
    out = expm_frechet(a, e)
    assert np.all(np.isfinite(out))


@pytest.mark.parametrize(
    "f", [inner_cond, while_in_scan, while_in_while, lambda x: spin(x, np.sum(x))], ids=lambda f: f.__name__
)
def test_control_flow_over_an_empty_batch(f):
    rows = np.zeros((0, 2))
    assert ad.vmap(f)(rows).shape == (0, *np.shape(f(X)))
    assert ad.vmap(ad.jit(ad.grad(lambda x: np.sum(f(x)))))(rows).shape == (0, 2)


@pytest.mark.parametrize("operation", [np.copysign, lambda x, y: np.heaviside(y, x) * x], ids=["copysign", "heaviside"])
def test_an_operand_that_has_no_share_stays_a_structural_zero(operation):
    """A computed zero was added to a cotangent, which a linear record took for a constant."""
    f = with_backward_rule(lambda x: operation(1.5 * x, np.cos(x) * x) * x)

    def derivative(g):
        return lambda x: ad.jvp(lambda z: ad.jvp(g, (z,), (z,))[1], (x,), (x,))[1]

    want = derivative(lambda x: operation(1.5 * x, np.cos(x) * x) * x)(X)
    np.testing.assert_allclose(derivative(f)(X), want, rtol=1e-13)
    np.testing.assert_allclose(ad.jit(derivative(f))(X), want, rtol=1e-13)
