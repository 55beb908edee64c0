"""debug_nans: which operation is named, on which line, in every kind of run; what raises nothing; on and off."""

import inspect
import threading
import warnings

import numpy as np
import pytest

import autodidax as ad
import autodidax.numpy as anp
from autodidax import lax
from autodidax.compile import program as compiler
from autodidax.core.jaxpr import has_effects
from autodidax.core.primitive import Primitive, pointwise, registry
from autodidax.errors import NanError
from autodidax.transforms import backward
from autodidax.transforms.forward import JVPTrace
from autodidax.transforms.reverse import ReverseTrace

HERE = "test_debug_nans.py"


def raised(run):
    """The NanError of a run under debug_nans."""
    with ad.debug_nans(True), pytest.raises(NanError) as caught:
        run()
    return caught.value


def marked(*functions):
    """How messages call the line of a function that is marked with "# nan"."""
    for f in functions:
        lines, first = inspect.getsourcelines(f)
        for k, line in enumerate(lines):
            if line.rstrip().endswith("# nan"):
                return f"{f.__name__} ({HERE}:{first + k})"
    raise AssertionError("no line is marked")


# programs with a nan in the forward pass: function, argument, primitive


def root(x):
    y = x - 2.0
    z = anp.sqrt(y)  # nan
    return z + 1.0


def logarithm(x):
    return 2.0 * anp.log(x - 5.0)  # nan


def quotient(x):
    zero = x - x
    return zero / zero  # nan


def difference(x):
    y = x * (x * np.inf)
    return y - y  # nan


def arcus(x):
    return anp.arcsin(x + 3.0)  # nan


def power(x):
    return (-x) ** 0.5  # nan


def product(x):
    return anp.dot(x - x, x * np.inf)  # nan


FORWARD = {
    root: {"sqrt"}, logarithm: {"log"}, quotient: {"div"}, difference: {"sub"}, arcus: {"arcsin"},
    power: {"pow"}, product: {"dot", "matmul", "vecdot"},
}  # fmt: skip
X = np.array([1.0, 1.5, 3.0])


def total(f):
    return lambda x: anp.sum(f(x))


FORWARD_RUNS = {
    "grad": lambda f: ad.grad(total(f))(X),
    "jvp": lambda f: ad.jvp(f, (X,), (X,)),
    "vjp": lambda f: ad.vjp(f, X),
    "linearize": lambda f: ad.linearize(f, X),
    "hvp": lambda f: ad.hvp(total(f), (X,), (X,)),
    "vmap": lambda f: ad.vmap(f)(np.stack([X, X])),
    "vmap of grad": lambda f: ad.vmap(ad.grad(total(f)))(np.stack([X, X])),
    "jit": lambda f: ad.jit(f)(X),
    "jit of value and gradient": lambda f: ad.jit(ad.value_and_grad(total(f)))(X),  # of grad alone the value is pruned
    "grad of jit": lambda f: ad.grad(ad.jit(total(f)))(X),
    "jit of vmap": lambda f: ad.jit(ad.vmap(f))(np.stack([X, X])),
    "vmap of jit": lambda f: ad.vmap(ad.jit(f))(np.stack([X, X])),
    "jit of jit": lambda f: ad.jit(lambda x: ad.jit(f)(x))(X),
    "jit of jvp": lambda f: ad.jit(lambda x: ad.jvp(f, (x,), (x,)))(X),
    "checkpoint": lambda f: ad.grad(ad.checkpoint(total(f)))(X),
    "scan under jit": lambda f: ad.jit(lambda xs: lax.scan(lambda c, x: (c, f(x)), 0.0, xs))(np.stack([X, X])),
    "grad of scan under jit": lambda f: ad.grad(
        ad.jit(lambda xs: anp.sum(lax.scan(lambda c, x: (c, f(x)), 0.0, xs)[1]))
    )(np.stack([X, X])),
    "while under jit": lambda f: ad.jit(
        lambda x: lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, c[1] + anp.sum(f(x))), (0, 0.0))
    )(X),
    "cond under jit": lambda f: ad.jit(lambda x: lax.cond(x[0] > 0, lambda x: anp.sum(f(x)), anp.sum, x))(X),
    "vmap of cond": lambda f: ad.vmap(lambda x: lax.cond(x[0] > 0, lambda x: anp.sum(f(x)), anp.sum, x))(
        np.stack([X, -X])
    ),
}


@pytest.mark.parametrize("run", FORWARD_RUNS.values(), ids=FORWARD_RUNS)
@pytest.mark.parametrize(("f", "primitive"), FORWARD.items(), ids=[f.__name__ for f in FORWARD])
def test_forward(f, primitive, run):
    error = raised(lambda: run(f))
    assert error.stage == "forward"
    assert error.primitive in primitive
    assert f"in: {marked(f)}" in str(error)


def test_the_text():
    line = marked(root)
    assert str(raised(lambda: ad.grad(lambda x: anp.sum(root(x)))(X))) == (
        "sqrt made nan in 2 of 3 entries from operands without nan: f64[3] -> f64[3]\n"
        f"  in: {line}, under grad of <lambda>\n"
        "  mend: keep its operands in the domain: f(np.where(ok, x, 1.0)), and np.where(ok, ..., other) of the result"
    )


def test_rows_are_counted_together():
    error = raised(lambda: ad.vmap(root)(np.stack([X, -X])))
    assert "in 5 of 6 entries of all rows together from operands without nan: f64[3] -> f64[3]" in str(error)


PLAIN = {
    "ufunc of one": (lambda x: anp.sqrt(-x), "sqrt"),
    "ufunc of two": (lambda x: anp.divide(x - x, 0.0), "divide"),
    "ufunc of lists": (lambda x: anp.log([-1.0, 2.0]), "log"),
    "ufunc with a keyword": (lambda x: anp.sqrt(-x, dtype=np.float32), "sqrt"),
    "function": (lambda x: anp.dot(x - x, [np.inf, 1.0, 1.0]), "dot"),
    "lax": (lambda x: lax.sqrt(-x), "sqrt"),
    "a sum": (lambda x: registry["reduce_sum"](np.inf * np.array([1, -1]), axes=(0,)), "reduce_sum"),
    "loop": (lambda x: lax.fori_loop(0, 2, lambda i, c: anp.sqrt(c - 2.0), 3.0), "sqrt"),
}  # fmt: skip


@pytest.mark.parametrize(("f", "primitive"), PLAIN.values(), ids=PLAIN)
def test_plain_arrays(f, primitive):
    error = raised(lambda: f(X))
    assert (error.primitive, error.stage) == (primitive, "forward")
    assert f"({HERE}:" in str(error)


# nans in derivatives: at the argument Z the values are right


def root_times_zero(x):
    y = anp.sqrt(x)  # nan
    return y * 0.0


def log_times_zero(x):
    return anp.where(x > 0, anp.log(x + 1e-300), 0.0) * 0.0 + root_times_zero(x)


def angle(x):
    return anp.arctan2(x, x)  # nan


Z = np.array([0.0, 1.0, 4.0])
DERIVATIVES = {
    root_times_zero: ("sqrt", root_times_zero),
    log_times_zero: ("sqrt", root_times_zero),
    angle: ("arctan2", angle),
}
BACKWARD_RUNS = {
    "grad": lambda f: ad.grad(total(f))(Z),
    "vjp": lambda f: ad.vjp(f, Z)[1](np.ones(3)),
    "jacrev": lambda f: ad.jacrev(f)(Z),
    "vmap of grad": lambda f: ad.vmap(ad.grad(total(f)))(np.stack([Z, Z])),
    "grad of vmap": lambda f: ad.grad(lambda x: anp.sum(ad.vmap(f)(x)))(Z),
    "jit of grad": lambda f: ad.jit(ad.grad(total(f)))(Z),
    "grad of jit": lambda f: ad.grad(ad.jit(total(f)))(Z),
    "jit of vmap of grad": lambda f: ad.jit(ad.vmap(ad.grad(total(f))))(np.stack([Z, Z])),
    "checkpoint": lambda f: ad.grad(ad.checkpoint(total(f)))(Z),
    "scan under jit": lambda f: ad.grad(
        ad.jit(lambda xs: anp.sum(lax.scan(lambda c, x: (c, f(x)), 0.0, xs)[1]))
    )(np.stack([Z, Z])),
    "cond under jit": lambda f: ad.grad(ad.jit(lambda x: lax.cond(x[1] > 0, total(f), anp.sum, x)))(Z),
}  # fmt: skip


@pytest.mark.parametrize("run", BACKWARD_RUNS.values(), ids=BACKWARD_RUNS)
@pytest.mark.parametrize("f", DERIVATIVES, ids=lambda f: f.__name__)
def test_backward(f, run):
    primitive, place = DERIVATIVES[f]
    error = raised(lambda: run(f))
    assert (error.primitive, error.stage) == (primitive, "backward")
    assert f"in: {marked(place)}" in str(error)
    assert f"the backward pass of {primitive} made nan" in str(error)


TANGENT_RUNS = {
    "jvp": lambda f, t: ad.jvp(f, (Z,), (t,)),
    "linearize": lambda f, t: ad.linearize(f, Z)[1](t),
    "jit of jvp": lambda f, t: ad.jit(lambda x, t: ad.jvp(f, (x,), (t,)))(Z, t),
    "jvp of jit": lambda f, t: ad.jvp(ad.jit(f), (Z,), (t,)),
    "vmap of jvp": lambda f, t: ad.vmap(lambda x, t: ad.jvp(f, (x,), (t,)))(Z, t),
    "jvp of scan under jit": lambda f, t: ad.jvp(
        ad.jit(lambda xs: lax.scan(lambda c, x: (c, f(x)), 0.0, xs)[1]), (Z,), (t,)
    ),
}  # fmt: skip


@pytest.mark.parametrize("run", TANGENT_RUNS.values(), ids=TANGENT_RUNS)
@pytest.mark.parametrize("f", [root_times_zero, angle], ids=lambda f: f.__name__)
def test_tangents(f, run):
    with np.errstate(all="ignore"):
        error = raised(lambda: run(f, np.zeros(3)))
    assert error.stage in ("tangent", "forward")  # of a program that stages a derivative the equations are its own
    assert f"in: {marked(f)}" in str(error)


def test_a_pullback_from_before_names_the_primitive():
    _, pullback = ad.vjp(root_times_zero, Z)
    error = raised(lambda: pullback(np.zeros(3) + 1.0))
    assert (error.primitive, error.stage) == ("sqrt", "backward")
    assert "its line is known where debug_nans was on during the forward pass" in str(error)


def test_cotangents_that_cancel():
    with np.errstate(all="ignore"):
        error = raised(lambda: ad.vjp(lambda x: (x * 1e308, x * -1e308), 2.0)[1]((1e308, 1e308)))
    assert error.stage == "backward"
    assert "in the sum with the other cotangents" in str(error)


@ad.custom_vjp
def with_bad_rule(x):
    return x * 2.0


def bad_forward(x):
    return x * 2.0, x


def bad_backward(x, ct):
    zero = ct - ct
    return (anp.divide(zero, x - x),)  # nan


with_bad_rule.defvjp(bad_forward, bad_backward)


@pytest.mark.parametrize("run", [ad.grad, lambda f: ad.jit(ad.grad(f))], ids=["eager", "jit"])
def test_a_rule_of_the_users(run):
    error = raised(lambda: run(lambda x: with_bad_rule(x) * 1.0)(np.float64(1.0)))
    assert "made nan" in str(error)


def test_the_line_in_a_rule_of_the_users_is_named_in_an_eager_run():
    assert f"in: {marked(bad_backward)}" in str(raised(lambda: ad.grad(lambda x: anp.sum(with_bad_rule(x)))(X)))


def test_scopes_are_named():
    def attention(x):
        with ad.named_scope("attention"):
            return anp.log(x)

    def layers(x):
        with ad.named_scope("layer"):
            return ad.jit(attention)(x)

    for f in (attention, ad.jit(attention)):
        assert "in: test_scopes_are_named" not in str(raised(lambda f=f: f(-1.0)))
        assert "attention/attention (" in str(raised(lambda f=f: f(-1.0)))
    assert "attention/layer/attention (" in str(raised(lambda: ad.jit(layers)(-1.0)))


# what raises nothing


def masked_root(x):
    return anp.where(x > 0, anp.sqrt(anp.where(x > 0, x, 1.0)), 0.0)


def structural_root(x):
    y = anp.sqrt(x)
    return anp.where(x > 0, y, 0.0)


NAN = np.array([1.0, np.nan, 2.0])
SOUND = {
    "nan comes in": lambda: ad.grad(lambda x: anp.sum(anp.sin(x) * x))(NAN),
    "nan comes in, jit": lambda: ad.jit(ad.grad(lambda x: anp.sum(anp.sin(x) * x)))(NAN),
    "nan comes in, grad of jit": lambda: ad.grad(ad.jit(lambda x: anp.sum(anp.sin(x) * x)))(NAN),
    "nan comes in, checkpoint": lambda: ad.grad(ad.checkpoint(lambda x: anp.sum(anp.sin(x) * x)))(NAN),
    "nan as a constant": lambda: ad.jit(lambda x: anp.where(x > 1, x, np.nan))(X),
    "nan as an argument": lambda: anp.full(3, np.nan),
    "memory": lambda: anp.empty_like(NAN),
    "filled": lambda: anp.at(X)[np.array([7])].get(mode="fill"),
    "masked": lambda: ad.grad(total(masked_root))(Z),
    "masked, jit": lambda: ad.jit(ad.grad(total(masked_root)))(Z),
    "structural zeros": lambda: ad.grad(total(structural_root))(Z),
    "structural zeros, jit": lambda: ad.jit(ad.grad(total(structural_root)))(Z),
    "structural zeros, grad of jit": lambda: ad.grad(ad.jit(total(structural_root)))(Z),
    "structural zeros, checkpoint": lambda: ad.grad(ad.checkpoint(total(structural_root)))(Z),
    "norm at zero": lambda: ad.hessian(lambda x: anp.linalg.norm(x))(np.zeros(3)),
    "prod of zeros": lambda: ad.hessian(anp.prod)(np.zeros(3)),
    "power at zero": lambda: ad.hessian(lambda x: anp.sum(x**3))(Z),
    "logsumexp": lambda: ad.grad(ad.scipy.special.logsumexp)(np.array([-np.inf, 1.0])),
    "branches by row": lambda: ad.vmap(
        lambda x: lax.cond(x > 0, lambda x: anp.log(x), lambda x: anp.log(1.0 - x), x)
    )(np.array([1.0, -1.0])),
    "loops by row": lambda: ad.vmap(
        lambda x: lax.while_loop(lambda c: c > 0.5, lambda c: anp.log(1.0 + c), x)
    )(np.array([1.0, 3.0, 0.1])),
    "conjugate gradients": lambda: ad.grad(
        lambda b: anp.sum(ad.scipy.sparse.linalg.cg(lambda v: 2.0 * v, b)[0])
    )(np.array([1.0, 0.0])),
    "eigenvalues": lambda: ad.grad(lambda a: anp.sum(anp.linalg.eigh(a)[0] ** 2))(np.diag([1.0, 2.0])),
    "svd": lambda: ad.grad(lambda a: anp.sum(anp.linalg.svd(a, compute_uv=False)))(np.diag([1.0, 2.0])),
}  # fmt: skip


@pytest.mark.parametrize("run", SOUND.values(), ids=SOUND)
def test_raises_nothing(run):
    with np.errstate(all="ignore"):
        plain = run()
        with ad.debug_nans(True):
            checked = run()
    if run is not SOUND["memory"]:
        np.testing.assert_array_equal(checked, plain)


def one_like(x):
    """A cotangent of ones, where there is one."""
    return np.ones(x.shape, x.dtype if x.dtype.kind in "fc" else ad.float0)


def cases():
    rng = np.random.default_rng(7)
    for p in registry:
        if p.higher_order or p.effect or p.nondifferentiable or p.zero_derivative or p.checked is not True:
            continue
        for k, s in zip(range(4), p.samples(rng), strict=False):
            if any(np.asarray(a).dtype.kind in "fc" for a in s.args):
                yield pytest.param(p, s, id=f"{p.name}-{k}")


@pytest.mark.parametrize(("p", "s"), list(cases()))
def test_values_and_derivatives_of_every_primitive(p, s):
    """Under the option a run gives the same, or raises where the plain one made a nan."""

    def run():
        outs, pullback = ad.vjp(lambda *args: p(*args, **s.params), *map(np.asarray, s.args))
        return ad.tree.leaves((outs, pullback(ad.tree.map(one_like, outs))))

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plain = [x for x in run() if x.dtype != ad.float0]
        except ad.errors.NondifferentiableError:  # in one of its operands, which it says
            return
        try:
            with ad.debug_nans(True):
                checked = [x for x in run() if x.dtype != ad.float0]
        except NanError:
            assert any(np.any(np.isnan(x)) for x in plain)
        else:
            assert not any(np.any(np.isnan(x)) for x in plain) or any(np.any(np.isnan(a)) for a in s.args)
            for a, b in zip(checked, plain, strict=True):
                np.testing.assert_array_equal(a, b)


# inf


def test_infs():
    with ad.debug_infs(True), np.errstate(all="ignore"):
        with pytest.raises(NanError, match="log made inf in 1 of 3 entries from operands without inf"):
            ad.grad(lambda x: anp.sum(anp.log(x)))(Z)
        with pytest.raises(NanError, match="the backward pass of sqrt made inf"):
            ad.grad(lambda x: anp.sum(anp.sqrt(x)))(Z)
        with pytest.raises(NanError, match="log made inf"):
            ad.jit(anp.log)(Z)
        assert np.isnan(anp.sqrt(-1.0))


# on and off


def hooks():
    """What the option replaces."""
    plain = anp.sin.__code__.co_freevars.index("plain")
    methods = [(ReverseTrace, "process2"), (JVPTrace, "process"), (Primitive, "__call__"), (Primitive, "bind")]
    return (
        *(vars(cls)[name] for cls, name in methods),
        anp.sin.__closure__[plain].cell_contents,
        backward.node_watch,
        backward.replay_watch,
        compiler.interpreter,
    )


def test_everything_is_put_back():
    before = hooks()
    with ad.debug_nans(True):
        with ad.debug_nans(False):
            assert np.isnan(ad.jit(lambda x: x - x)(np.inf))
        with ad.debug_infs(True):
            assert all(a is not b for a, b in zip(hooks(), before, strict=True))
    with pytest.raises(NanError), ad.debug_nans(True), np.errstate(all="ignore"):
        anp.sqrt(-1.0)
    assert hooks() == before
    assert np.isnan(ad.jit(lambda x: x - x)(np.inf))


def test_for_the_whole_process():
    ad.config.update("jax_debug_nans", True)
    try:
        found = []
        thread = threading.Thread(target=lambda: found.append(raised(lambda: ad.grad(total(root))(X))))
        thread.start()
        thread.join()
        assert found[0].primitive == "sqrt"
    finally:
        ad.config.update("jax_debug_nans", False)


def test_other_threads_are_left_alone():
    found = []

    def quiet():
        with np.errstate(all="ignore"):
            found.append(ad.grad(total(root))(X))

    with ad.debug_nans(True):
        thread = threading.Thread(target=quiet)
        thread.start()
        thread.join()
    assert np.isnan(found[0]).tolist() == [True, True, False]


def test_on_inside_of_a_function():
    def f(x):
        with ad.debug_nans(True):
            return anp.sum(root(x))

    with pytest.raises(NanError, match="sqrt made nan"):
        ad.grad(f)(X)


def test_programs_of_before_are_looked_at_too():
    f = ad.jit(root)
    f(X + 2.0)
    assert f"in: {marked(root)}" in str(raised(lambda: f(X)))


def test_primitives_that_are_made_meanwhile():
    with ad.debug_nans(True):
        p = pointwise("made_meanwhile", lambda x: x / (x - 1.0), lambda y, x: 1.0, domain=(2.0, 3.0))
        try:
            with np.errstate(all="ignore"):
                assert raised(lambda: p(np.array([np.inf]))).primitive == "made_meanwhile"
        finally:
            registry.remove(p)
    with np.errstate(all="ignore"):
        assert np.isnan(p(np.array([np.inf])))


def test_effects_happen_once():
    seen = []

    @ad.jit
    def f(x):
        ad.debug.callback(lambda v: seen.append(float(v)), x)
        return anp.sin(x)

    assert has_effects(ad.make_jaxpr(f)(1.0))
    with ad.debug_nans(True):
        f(2.0)
        ad.grad(f)(3.0)
    assert seen == [2.0, 3.0]
