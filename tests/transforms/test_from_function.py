"""primitive_from: rules given and derived, under every transform, with its checks and its errors."""

import functools
import sys
import types
import warnings

import numpy as np
import pytest

import autodidax as ad
from autodidax import (
    ShapeDtypeStruct,
    checkpoint,
    errors,
    grad,
    jacfwd,
    jacrev,
    jit,
    jvp,
    lax,
    linearize,
    make_jaxpr,
    primitive_from,
    registry,
    sample,
    vjp,
    vmap,
)
from autodidax.__main__ import main
from autodidax.testing.primitives import check_primitive

anp = ad.numpy
VMAPS = ("loop", "expand_dims", "broadcast_all")


def library(x):
    """What a C library takes: plain arrays."""
    if not isinstance(x, np.ndarray | np.generic | float | int):
        raise TypeError(f"the library takes arrays, not {type(x)}")
    return np.asarray(x)


def sums(x, y, *, power=1):
    """Running sums of x**power * y along the last axis."""
    return np.cumsum(library(x) ** power * library(y), axis=-1)


def sums_jvp(out, primals, tangents, power=1):
    (x, y), (tx, ty) = primals, tangents
    return anp.cumsum(power * x ** (power - 1) * y * tx + x**power * ty, axis=0)


def sums_vjp(ct, out, primals, power=1):
    x, y = primals
    later = anp.flip(anp.cumsum(anp.flip(ct, 0), axis=0), 0)
    return [later * power * x ** (power - 1) * y, later * x**power]


def traced_sums(x, y, power=1):
    return anp.cumsum(x**power * y, axis=-1)


def sums_samples(rng):
    yield rng.normal(size=3), rng.normal(size=3)
    yield sample(rng.normal(size=4), rng.normal(size=4), power=3)
    yield rng.normal(size=3).astype(np.float32), rng.normal(size=3).astype(np.float32)
    yield rng.normal(size=2) + 1j * rng.normal(size=2), rng.normal(size=2)


def both(x):
    """The sum of squares of a vector, and where its largest entry is."""
    x = library(x)
    return [np.sum(x * x, axis=-1), np.argmax(x, axis=-1)]


RULES = {"jvp": {"jvp": sums_jvp}, "vjp": {"vjp": sums_vjp}, "both": {"jvp": sums_jvp, "vjp": sums_vjp}}
BOTH_RULES = {
    "jvp": {"jvp": lambda out, primals, tangents: [2.0 * anp.sum(primals[0] * tangents[0]), None]},
    "vjp": {"vjp": lambda cts, outs, primals: [2.0 * primals[0] * cts[0]]},
}


@pytest.fixture(autouse=True)
def own_registry():
    before = set(registry)
    yield
    for p in set(registry) - before:
        registry.remove(p)


def made(rules, method="loop", **options):
    return primitive_from(sums, vmap=method, samples=sums_samples, **RULES[rules], **options)


MODES = {
    "value": lambda f: f,
    "jit": jit,
    "jacfwd": lambda f: jacfwd(f, (0, 1)),
    "jacrev": lambda f: jacrev(f, (0, 1)),
    "jit of jacrev": lambda f: jit(jacrev(f, (0, 1))),
    "jacrev of jit": lambda f: jacrev(jit(f), (0, 1)),
    "jacfwd of jacrev": lambda f: jacfwd(jacrev(f)),
    "jacrev of jacfwd": lambda f: jit(jacrev(jacfwd(f))),
    "jacrev of jacrev": lambda f: jacrev(jacrev(f)),
    "jacrev of jacrev of jit": lambda f: jacrev(jacrev(jit(f))),
    "linearize": lambda f: lambda x, y: linearize(f, x, y)[1](y, x),
    "linearize of jit": lambda f: lambda x, y: linearize(jit(f), x, y)[1](y, x),
    "third order": lambda f: lambda x, y: jvp(grad(lambda x: anp.sum(jvp(f, (x, y), (y, x))[1])), (x,), (y,)),
    "checkpoint": lambda f: jit(jacrev(checkpoint(f))),
    "scan": lambda f: jit(jacrev(lambda x, y: lax.scan(lambda c, _: (f(c, y), None), x, None, length=2)[0])),
}
X, Y = np.random.default_rng(0).normal(size=(2, 4, 3))


def same(a, b):
    for p, q in zip(ad.tree.leaves(a), ad.tree.leaves(b), strict=True):
        assert np.asarray(p).dtype == np.asarray(q).dtype
        np.testing.assert_allclose(p, q, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("method", VMAPS)
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("mode", MODES)
def test_every_transform_of_rows_and_batches(mode, rules, method):
    p = made(rules, method)
    f, want = MODES[mode](p), MODES[mode](traced_sums)
    same(f(X[0], Y[0]), want(X[0], Y[0]))
    for axes in ((0, 0), (0, None), (None, 0)):
        args = [a if axis == 0 else a[0] for a, axis in zip((X, Y), axes, strict=True)]
        same(vmap(f, axes)(*args), vmap(want, axes)(*args))
    total = lambda g: lambda x, y: anp.sum(vmap(vmap(g, (None, 0)), (0, None))(x, y) ** 2)
    if mode in ("value", "jit"):
        for outer in (grad, lambda f: jit(grad(f, (0, 1))), lambda f: jacfwd(grad(f))):
            same(outer(total(f))(X, Y), outer(total(want))(X, Y))


@pytest.mark.parametrize("method", VMAPS)
@pytest.mark.parametrize("rules", BOTH_RULES)
def test_several_results(rules, method):
    p = primitive_from(
        both, name="both_of_test", vmap=method, multiple_results=True, samples=[(X[0],)], **BOTH_RULES[rules]
    )
    traced = lambda x: [anp.sum(x * x), anp.argmax(x)]
    first = lambda f: lambda x: f(x)[0] ** 2
    same(p(X[0]), traced(X[0]))
    same(jit(p)(X[0]), traced(X[0]))
    same(jit(vmap(p))(X), vmap(traced)(X))
    for mode in (grad, lambda f: jit(jacfwd(grad(f))), lambda f: grad(lambda x: anp.sum(grad(f)(x) ** 2))):
        same(mode(first(p))(X[0]), mode(first(traced))(X[0]))
        same(vmap(mode(first(p)))(X), vmap(mode(first(traced)))(X))
    values, pull = vjp(jit(p), X[0])
    assert values[1].dtype == np.int64
    same(pull([1.0, np.zeros((), ad.float0)])[0], 2 * X[0])
    assert check_primitive(p, require_complete=True, strict=True).ok


@pytest.mark.parametrize("method", VMAPS)
@pytest.mark.parametrize("rules", RULES)
def test_the_checker_goes_over_it(rules, method):
    report = check_primitive(made(rules, method), require_complete=True, strict=True)
    assert report.ok and not report.missing and report.samples == 4


def test_the_checker_finds_a_wrong_rule():
    wrong = primitive_from(
        sums, name="wrong_sums", samples=sums_samples, jvp=lambda out, p, t, power=1: 1.01 * sums_jvp(out, p, t, power)
    )
    assert {f.rule for f in check_primitive(wrong).failures} >= {"jvp"}


def test_the_command_line_checks_it(monkeypatch, capsys):
    module = types.ModuleType("library_of_user")
    monkeypatch.setitem(sys.modules, "library_of_user", module)
    module.sums = primitive_from(sums, jvp=sums_jvp, samples=sums_samples, module="library_of_user")
    assert main(["check", "library_of_user:sums"]) == 0
    assert "library_of_user" in capsys.readouterr().out


def test_it_is_one_equation_with_its_parameters():
    program = make_jaxpr(lambda x, y: made("both")(x, y, power=2))(X[0], Y[0])
    assert str(program.eqns[0].primitive) == "sums" and "c:f64[3] = sums[power=2] a b" in str(program)


def test_a_batching_rule_of_ones_own():
    seen = []

    def rule(args, dims):
        seen.append(dims)
        x, y = (a if d is not None else a[None] for a, d in zip(args, dims, strict=True))
        return p(x, y), 0

    tangent = lambda out, p, t: anp.cumsum(t[0] * p[1] + p[0] * t[1], axis=-1)
    p = primitive_from(sums, jvp=tangent, name="sums_by_rule", vmap=rule)
    total, traced = (lambda x, y, f=f: anp.sum(f(x, y) ** 2) for f in (p, traced_sums))
    same(jit(vmap(p, (0, None)))(X, Y[0]), traced_sums(X, Y[0]))
    same(vmap(grad(total), (0, None))(X, Y[0]), vmap(grad(traced), (0, None))(X, Y[0]))
    assert seen[0] == (0, None)


def test_shapes_are_found_by_one_run_on_zeros():
    calls = []

    def norm(x, *, axis):
        calls.append(np.array(x))
        return np.linalg.norm(x, axis=axis)

    p = primitive_from(norm, name="norm_of_test", jvp=lambda out, primals, tangents, axis: None)
    f = jit(lambda x: p(x, axis=0) + p(2 * x, axis=0))
    f.lower(X), f.lower(X)
    assert len(calls) == 1 and not calls[0].any() and calls[0].shape == X.shape
    f.lower(X.astype(np.float32)), jit(lambda x: p(x, axis=1)).lower(X)
    assert len(calls) == 3
    assert f(X).shape == (3,)


def test_declared_shapes_need_no_run():
    def solve(a, b):
        assert a.any()
        return np.linalg.solve(a, b)

    rules = {"jvp": lambda out, p, t: t[1]}
    by_operand = primitive_from(
        solve, name="solve_a", abstract_eval=lambda a, b: ShapeDtypeStruct(b.shape, b.dtype), **rules
    )
    always = primitive_from(solve, name="solve_b", result_shape_dtypes=np.zeros(3), **rules)
    unknown = primitive_from(solve, name="solve_c", **rules)
    a = np.eye(3) * 2.0
    for p in (by_operand, always):
        assert make_jaxpr(p)(a, np.ones(3)).out_avals[0].shape == (3,)
        same(jit(p)(a, np.ones(3)), np.full(3, 0.5))
        same(vmap(p, (None, 0))(a, np.zeros((0, 3))), np.zeros((0, 3)))
    with pytest.raises(
        errors.ArgumentError, match=r"run on zeros of \[f64\[3,3\], f64\[3\]\], which raised AssertionError"
    ):
        jit(unknown)(a, np.ones(3))
    same(unknown(a, np.ones(3)), np.full(3, 0.5))


def test_results_are_its_own_arrays():
    buffer = np.zeros(3)

    def fill(x):
        buffer[:] = x
        return buffer

    p = primitive_from(fill, jvp=lambda out, p, t: t[0] * out)
    first, second = p(np.ones(3)), p(np.full(3, 2.0))
    same([first, second], [np.ones(3), np.full(3, 2.0)])
    same(grad(lambda x: anp.sum(p(x) + p(2 * x)))(np.ones(3)), np.ones(3) + 2 * np.full(3, 2.0))
    identity = primitive_from(lambda x: x, name="identity_of_test", jvp=lambda out, p, t: t[0])
    x = np.ones(3)
    assert not np.shares_memory(identity(x), x)
    assert type(identity(2.0)) is np.float64


def test_python_scalars_stay_weak():
    p = primitive_from(
        lambda x, y: x * y, name="product_of_test", jvp=lambda out, p, t: t[0] * p[1] + p[0] * t[1], vmap="expand_dims"
    )
    x = np.ones((2, 3), np.float32)
    for f in (p, jit(p), vmap(p, (0, None)), jit(vmap(p, (0, None))), lambda x, y: vjp(p, x, y)[0]):
        assert f(x, 2.0).dtype == np.float32


def test_operands_without_a_derivative():
    p = primitive_from(
        lambda x, n: np.asarray(x) * n,
        name="times_of_test",
        vjp=lambda ct, out, p: [ct * p[1], None],
        samples=[(X[0], 3)],
    )
    q = primitive_from(
        lambda x, n: np.asarray(x) * n,
        name="times_again_of_test",
        jvp=lambda out, p, t: t[0] * p[1],
        samples=[(X[0], 3)],
    )
    for f in (p, q, jit(p), jit(q)):
        total = functools.partial(lambda f, x, n: anp.sum(f(x, n)), f)
        same(grad(total)(X[0], 3), np.full(3, 3.0))
        same(jvp(f, (X[0], 3), (X[0], None))[1], 3 * X[0])
        assert grad(total, (0, 1), allow_int=True)(X[0], 3)[1].dtype == ad.float0


def test_a_rule_that_calls_another_one():
    host_exp = primitive_from(lambda x: np.exp(library(x)), name="exp_of_test", jvp=lambda out, p, t: out * t[0])
    host_sin = primitive_from(
        lambda x: np.sin(library(x)), name="sin_of_test", vjp=lambda ct, out, p: [ct * host_cos(*p)]
    )
    host_cos = primitive_from(
        lambda x: np.cos(library(x)), name="cos_of_test", vjp=lambda ct, out, p: [-ct * host_sin(*p)]
    )
    f, g = lambda x: host_sin(host_exp(x)), lambda x: np.sin(np.exp(x))
    for mode in (
        grad,
        lambda f: grad(grad(grad(f))),
        lambda f: jit(jacfwd(jacfwd(jacrev(f)))),
        lambda f: jit(lambda x: vmap(grad(grad(f)))(x + X[0])),
    ):
        same(mode(f)(0.3), mode(g)(0.3))


def no_rules():
    return primitive_from(lambda x: library(x) * 2, name="no_rules")


def with_jvp(rule, fun=np.asarray, **options):
    return primitive_from(fun, name="with_jvp", jvp=rule, **options)


def with_vjp(rule):
    return primitive_from(np.asarray, name="with_vjp", vjp=rule)


@pytest.mark.parametrize("transform", [lambda f: f, jit], ids=["plain", "jit"])
@pytest.mark.parametrize("several", [False, True], ids=["one result", "several"])
def test_integer_results_without_rules_have_the_derivative_zero(several, transform):
    count = lambda x: np.sum(library(x) > 0)
    p = primitive_from(lambda x: [count(x), x > 0] if several else count(x), name="count", multiple_results=several)
    f = lambda x: (p(x)[0] if several else p(x)) * anp.sum(x)
    x = np.array([0.5, -1.5, 2.5])
    same(transform(grad(f))(x), np.full(3, 2.0))
    same(transform(lambda x: jvp(f, (x,), (x,))[1])(x), np.float64(3.0))


def test_a_float_beside_integer_results_has_no_derivative():
    p = primitive_from(lambda x: [np.sum(library(x) > 0), library(x) * 2], name="both_kinds", multiple_results=True)
    for transform in (grad, lambda f: lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(errors.NondifferentiableError, match="neither jvp= nor vjp="):
            transform(lambda x: p(x)[0] * x)(1.0)


total = lambda p: lambda x: anp.sum(p(x))
ERRORS = {
    "no derivative": (lambda: grad(total(no_rules()))(X), errors.NondifferentiableError, "neither jvp= nor vjp="),
    "a jvp that is not linear": (
        lambda: grad(total(with_jvp(lambda out, p, t: t[0] * t[0])))(X), errors.NotLinearError,
        "with_jvp in reverse mode: its jvp cannot be transposed: mul multiplies two values",
    ),
    "a jvp that is not traceable": (
        lambda: grad(total(with_jvp(lambda out, p, t: np.asarray(t[0]))))(X), errors.NotLinearError, "or give vjp= too"
    ),
    "a vjp that is not linear": (
        lambda: jvp(with_vjp(lambda ct, out, p: [ct + 1.0]), (X,), (X,)), errors.NotLinearError,
        "with_vjp in forward mode: its vjp cannot be transposed",
    ),
    "a vjp that is not traceable": (
        lambda: jvp(with_vjp(lambda ct, out, p: [np.asarray(ct)]), (X,), (X,)), errors.NotLinearError,
        "or give jvp= too",
    ),
    "a tangent of another shape": (
        lambda: jvp(with_jvp(lambda out, p, t: t[0][0]), (X,), (X,)), errors.ShapeError, "tangent of shape"
    ),
    "a cotangent of another shape": (
        lambda: grad(total(with_vjp(lambda ct, out, p: [ct[0]])))(X), errors.ShapeError, "cotangent of shape"
    ),
    "a cotangent without a list": (
        lambda: grad(total(with_vjp(lambda ct, out, p: ct)))(X), errors.TreeError, "each operand, here 1"
    ),
    "several results": (lambda: with_jvp(None, both)(X[0]), errors.TreeError, "multiple_results=True"),
    "one result": (
        lambda: with_jvp(None, np.asarray, multiple_results=True)(X), errors.TreeError, "multiple_results=True"
    ),
    "a shape that depends on values": (
        lambda: jit(with_jvp(None, lambda x: x[x > 0]))(X[0]), errors.ShapeError, r"expected was \(0,\)"
    ),
    "rows of several shapes": (
        lambda: vmap(with_jvp(None, lambda x: x[x > 0]))(np.array([[1.0, -1.0], [1.0, 1.0]])), errors.ShapeError,
        r"with_jvp returns rows of the shapes \(1,\) and \(2,\)",
    ),
    "not as declared": (
        lambda: with_jvp(None, result_shape_dtypes=ShapeDtypeStruct((2,), float))(X), errors.ShapeError,
        r"expected was \(2,\)",
    ),
    "two declarations": (
        lambda: with_jvp(None, result_shape_dtypes=X, abstract_eval=lambda x: x), errors.ArgumentError,
        "give one of them",
    ),
    "two results declared": (
        lambda: jit(with_jvp(None, result_shape_dtypes=[X, X]))(X), errors.ArgumentError, "2 results are declared"
    ),
    "a traced parameter": (
        lambda: grad(lambda x: made("jvp")(X[0], Y[0], power=x)[0])(1.0), errors.ArgumentError,
        "pass arrays by position",
    ),
    "a lambda without a name": (lambda: primitive_from(lambda x: x), errors.ArgumentError, "name="),
    "a name that is taken": (lambda: primitive_from(np.sin), errors.RegistryError, "exists already"),
    "an unknown vmap": (lambda: made("jvp", "rows"), errors.ArgumentError, "loop, expand_dims, broadcast_all"),
    "no function": (lambda: primitive_from(3.0), errors.ArgumentError, "takes a function"),
    "a rule that is no function": (lambda: with_jvp(3.0), errors.ArgumentError, "primitive_from: jvp takes a function"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    run, error, message = ERRORS[name]
    with pytest.raises(error, match=message) as caught:
        run()
    assert "test_from_function.py" in caught.value.where


def test_warnings_of_the_run_on_zeros_are_not_the_users():
    def inverse(x):
        if not np.all(x):
            warnings.warn("a zero", RuntimeWarning, stacklevel=2)
        return 1.0 / library(x)

    p = primitive_from(inverse, name="inverse_of_test", jvp=lambda out, p, t: -out * out * t[0])
    same(jit(grad(p))(2.0), np.float64(-0.25))
