"""Each pass of the compiler leaves a well-formed program that computes the same; the emitted code does so too."""

import datetime
import os

import numpy as np
import pytest
import scipy.special

import autodidax as ad
from autodidax.compile import algebra, blocks, clusters, common_subexpressions, passes
from autodidax.compile.emission import Names
from autodidax.compile.numpy_backend import compile_numpy
from autodidax.compile.passes import PASSES, optimized, stages
from autodidax.compile.scalars import is_small
from autodidax.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, check_jaxpr, eval_jaxpr
from autodidax.testing.comparison import same
from tests.compile.programs import X, random_programs, staged, written

ROTATION = int(os.environ.get("AUTODIDAX_ROTATION", datetime.date.today().toordinal()))
EXAMPLES = written()
SHARDS, PER_SHARD, PER_PART = 20, 50, 15


def run(closed, args):
    with np.errstate(all="ignore"):
        return eval_jaxpr(closed.jaxpr, closed.consts, *args)


def check_passes(closed, args):
    """Every pass, one after the other: the program is well formed and gives the same results, bit for bit."""
    want = run(closed, args)
    for name, after in stages(closed):
        check_jaxpr(after.jaxpr)
        assert [v.aval for v in after.jaxpr.invars] == closed.in_avals, name
        assert same(run(after, args), want), name


def check_compiled(closed, args):
    """The emitted program gives the results of the program, to the rounding of sums in another order."""
    want = run(closed, args)
    with np.errstate(all="ignore"):
        got = compile_numpy(closed).call(*args)
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        assert type(a) is type(b) and np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.fixture
def tiny(monkeypatch):
    """Clusters and blocks of a few entries."""
    monkeypatch.setattr(clusters, "LARGE", 6)
    monkeypatch.setattr(blocks, "ENTRIES", (4, 7))


def close_to(got, want, program):
    for a, b in zip(got, want, strict=True):
        eps = np.finfo(np.asarray(b).dtype).eps if np.asarray(b).dtype.kind in "fc" else 0
        scale = np.max(np.abs(b), initial=0.0) if np.all(np.isfinite(b)) else 1.0
        np.testing.assert_allclose(a, b, rtol=64 * eps, atol=256 * eps * scale, err_msg=str(program))
        assert np.asarray(a).dtype == np.asarray(b).dtype and np.shape(a) == np.shape(b)


@pytest.mark.parametrize("name", EXAMPLES)
def test_passes_of(name):
    check_passes(*EXAMPLES[name])
    check_compiled(*EXAMPLES[name])


@pytest.mark.parametrize("name", EXAMPLES)
def test_clusters_of(name, tiny):
    closed, args = EXAMPLES[name]
    gathered = clusters.gather(optimized(closed))
    check_jaxpr(gathered.jaxpr)
    want = run(closed, args)
    assert same(run(gathered, args), want)
    results = []
    for threads in (1, 2, 4):
        with ad.config.override(num_threads=threads), np.errstate(all="ignore"):
            results.append(compile_numpy(gathered).call(*args))
    assert same(results[1], results[0]) and same(results[2], results[0])
    close_to(results[0], want, gathered)


def run_random(seeds, tiny_too):
    for seed, closed, args in random_programs(seeds):
        try:
            check_passes(closed, args)
            check_compiled(closed, args)
            if tiny_too:
                gathered = clusters.gather(optimized(closed))
                check_jaxpr(gathered.jaxpr)
                want = run(closed, args)
                assert same(run(gathered, args), want)
                with np.errstate(all="ignore"):
                    close_to(compile_numpy(closed).call(*args), want, gathered)
        except Exception as error:
            raise AssertionError(f"seed {seed}:\n{closed}") from error


@pytest.mark.parametrize("part", range(4))
def test_rotating_programs(part):
    first = (ROTATION * 4 + part) * PER_PART % (SHARDS * PER_SHARD)
    run_random(range(first, first + PER_PART), tiny_too=False)


@pytest.mark.parametrize("part", range(2))
def test_rotating_programs_in_clusters(part, monkeypatch):
    monkeypatch.setattr(clusters, "LARGE", 6)
    first = (ROTATION * 2 + part) * PER_PART % (SHARDS * PER_SHARD)
    for _, closed, args in random_programs(range(first, first + PER_PART)):
        gathered = clusters.gather(optimized(closed))
        check_jaxpr(gathered.jaxpr)
        assert same(run(gathered, args), run(closed, args))
        with np.errstate(all="ignore"):
            close_to(compile_numpy(gathered).call(*args), run(closed, args), gathered)


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_programs(shard):
    run_random(range(shard * PER_SHARD, (shard + 1) * PER_SHARD), tiny_too=False)


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_programs_in_clusters(shard, tiny):
    run_random(range(shard * PER_SHARD, (shard + 1) * PER_SHARD), tiny_too=True)


# what the passes do


def names(closed):
    return [eqn.primitive.name for eqn in closed.eqns]


SHORTER = {
    "a product with one": (lambda x: x * 1.0, []),
    "a product with ones": (lambda x: np.ones(5) * x, []),
    "minus zero": (lambda x: x - 0.0, []),
    "twice negative": (lambda x: np.negative(np.negative(x)), []),
    "twice transposed": (lambda x: x.T.T, []),
    "reshaped and back": (lambda x: x.reshape(30).reshape(5, 6).reshape(6, 5), []),
    "minus one": (lambda x: x * -1.0, ["neg"]),
    "a power of two": (lambda x: x / 8.0, ["mul"]),
    "a negative term": (lambda x: x + -(x * x), ["mul", "sub"]),
    "the same twice": (lambda x: np.sin(x * 2.0) + np.sin(2.0 * x), ["mul", "sin", "add"]),
    "a choice in a choice": (lambda x: np.where(x > 0, np.where(x > 0, x, 1.0), 2.0), ["gt", "where"]),
    "constants alone": (lambda x: x + np.sin(np.arange(5.0)) * 2.0, ["add"]),
    "what is not used": (lambda x: (np.sin(x), x + 1.0)[1], ["add"]),
    "a call": (lambda x: ad.jit(lambda y: np.sin(y) * 2.0)(x), ["sin", "mul"]),
}


@pytest.mark.parametrize("name", SHORTER)
def test_the_program_becomes(name):
    f, want = SHORTER[name]
    closed = staged(f, X)
    assert names(optimized(closed)) == want
    check_passes(closed, [X])


KEPT = {
    "plus zero, which takes the sign of a zero": lambda x: x + 0.0,
    "a third, which is not exact": lambda x: x / 3.0,
    "zero times": lambda x: 0.0 * x,
    "a product with one of another dtype": lambda x: x.astype(np.float32) * np.float64(1.0),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_not_exact_stays(name):
    closed = staged(KEPT[name], X)
    assert len(optimized(closed).eqns) == len(closed.eqns)


def test_signs_of_zeros_stay():
    zeros = np.array([0.0, -0.0])
    f = lambda x: (x * 1.0, x - 0.0, x + 0.0, np.negative(np.negative(x)), x / 2.0, x * -1.0)
    for got, want in zip(ad.jit(f)(zeros), f(zeros), strict=True):
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


def test_warnings_come_where_they_did():
    f = lambda x: np.log(x) * 1.0 + np.log(x)
    for g in (f, ad.jit(f)):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            g(np.array([0.0, 1.0]))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        ad.jit(f)(np.array([0.0, 1.0]))


# a pass that is wrong is noticed


def _wrong_sum(eqn, made):
    return eqn.invars[0]


def _cut(closed):
    jaxpr = closed.jaxpr
    return ClosedJaxpr(Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars, jaxpr.eqns[1:]), closed.consts)


def _exchanged(closed):
    jaxpr = closed.jaxpr
    eqns = [JaxprEqn(e.primitive, e.invars[::-1], e.outvars, e.params, e.quiet, e.mark) for e in jaxpr.eqns]
    return ClosedJaxpr(Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars, eqns), closed.consts)


WRONG = {
    "a rule of algebra": lambda patch: patch.setitem(algebra.RULES, "add", _wrong_sum),
    "subtraction taken for commutative": lambda patch: patch.setattr(common_subexpressions, "COMMUTATIVE", {"sub"}),
    "operands exchanged": lambda patch: patch.setitem(PASSES, "exchange", _exchanged),
    "dead code that lives": lambda patch: patch.setitem(PASSES, "cut", _cut),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_pass_is_noticed(name, monkeypatch):
    f = lambda x, y: (x - y) * np.exp(y - x) + x
    closed = staged(f, X, X + 1.5)
    check_passes(closed, [X, X + 1.5])
    WRONG[name](monkeypatch)
    assert passes.PASSES is PASSES
    with pytest.raises((AssertionError, KeyError, ad.errors.JaxprError)):
        check_passes(closed, [X, X + 1.5])


# scalars


def test_small_programs_are_python_arithmetic():
    closed, _ = EXAMPLES["scalars"]
    assert is_small(optimized(closed))
    source = compile_numpy(closed).source()
    assert "def scalar(" in source and "multiply" not in source


SPECIAL = [0.0, -0.0, 1e308, -1e308, 1e-320, np.inf, -np.inf, np.nan, -1.0, 710.0]


def rational(x):
    y = x[0] / x[1] + x[2] * x[2] - np.sqrt(x[0]) * np.sin(x[1]) + np.exp(x[2])
    return y * (x[0] - x[2]) / (1.0 + x[1] * x[1]) - np.log(x[0]) + np.where(y > 1.0, y, x[1])


@pytest.mark.parametrize("value", SPECIAL, ids=repr)
@pytest.mark.parametrize("place", range(3))
def test_special_numbers_come_out_as_numpy_s(value, place):
    x = np.array([0.7, 1.3, -0.4])
    x[place] = value
    g = ad.value_and_grad(rational)
    with np.errstate(all="ignore"):
        for got, want in zip(ad.jit(g)(x), g(x), strict=True):
            np.testing.assert_array_equal(got, want)
            assert type(got) is type(want)


MIXED = {
    "an integer in a choice": lambda x: np.where(x > 1.0, x, 0) * 1.0 + np.where(x > 0.5, 2, x),
    "a condition as a number": lambda x: (x > 1.0) * x + (x > 0.5) - np.where(x > 1.0, x > 0.5, x),
    "conditions joined": lambda x: np.stack([x > 1.0, x < 0.5]) | (x != x),
    "conditions beside numbers": lambda x: np.concatenate([x > 1.0, x, np.abs(x > 0.5)]),
    "the norm's second derivative at zero": lambda x: ad.hessian(lambda y: np.hypot(y[0], y[1]))(x - x),
    "products of conditions": lambda x: ((x > 1.0) * (x > 0.5) + (x < 0.0)) * (x > 1.0) + (x > 2.0) * (x > 1.0),
    "Python numbers": lambda x: (x[0] * 2 + 1, 3, x[1] / 4, -x[2] + True),
    "large integers": lambda x: x * 2**60 + 10**17,
}


@pytest.mark.parametrize("name", MIXED)
def test_dtypes_of_small_programs(name):
    f = lambda x: (MIXED[name](x), x * x - x + 1.0, x / 3.0 + 2.0, x - 4.0 * x)
    x = np.array([0.7, 1.3, -0.4])
    check_compiled(staged(f, x), [x])


def test_errstate_reaches_small_programs():
    f = ad.jit(lambda x: rational(x) * 1.5 + rational(x + 1.0))
    x = np.array([0.7, 0.0, -0.4])
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        f(x)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        f(x)


def test_sums_are_added_in_the_order_of_numpy():
    rng = np.random.default_rng(0)
    for n in range(1, 17):
        x = rng.normal(size=n) * 10.0 ** rng.integers(-5, 5, size=n)
        f = lambda x: np.sum(x * x - x) + np.sum(x + 1.0) * np.sum(x / 3.0) - np.sum(-x) * np.sum(2.0 - x)
        assert ad.jit(f)(x) == f(x)
    for shape in [(2, 3), (4, 4), (2, 2, 3), (8, 2)]:
        x = rng.normal(size=shape)
        f = lambda x: [np.sum(x * x, axis=k) - np.sum(x, axis=k) for k in (0, -1, None)]
        for got, want in zip(ad.jit(f)(x), f(x), strict=True):
            np.testing.assert_array_equal(got, want)


# functions of one name, and implementations of others


def test_functions_of_one_name_are_told_apart():
    names = Names()
    values = [np.log1p, scipy.special.log1p, np.dtype("f8"), np.float64, np.dtype(">f8"), np.add.reduce]
    given = [names.function("one_name", value) for value in values]
    assert len(set(given)) == len(values)
    assert [names.namespace[name] for name in given] == values
    assert names.function("one_name", np.add.reduce) == given[-1]


def test_a_dtype_and_its_type_are_told_apart():
    f = lambda x: (np.tanh((x > 0.5).astype(np.float64)) * x[0], x[1] * 2.0 - x[0], x * x, x - 1.0, x / 2.0, x + x)
    check_compiled(staged(f, np.array([0.3, 1.2, 0.7])), [np.array([0.3, 1.2, 0.7])])


def test_an_implementation_may_return_its_operand():
    same = ad.pointwise("the_same", lambda x: x, lambda _y, _x: 1.0, register=False)
    for size in (1000, 100_000):
        x = np.linspace(0.0, 1.0, size)
        kept = x.copy()
        f = lambda x: (same(x) * 2.0 + same(x + 1.0) * same(x + 1.0), x)
        got, want = ad.jit(f)(x), f(x)
        np.testing.assert_array_equal(x, kept)
        np.testing.assert_array_equal(got[0], want[0])
