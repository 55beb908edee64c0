"""Functions of a user's module: derivatives at declared samples, custom rules under vmap and jit."""

import re
import textwrap

import pytest

from autodidax.testing.commandline.modules import resolve
from autodidax.testing.commandline.options import CheckOptions
from autodidax.testing.commandline.subjects import check_subject
from autodidax.testing.commandline.table import state
from autodidax.testing.commandline.user_functions import check_function

RIGHT = {
    "custom_vjp": """
        @custom_vjp
        def f(x, y):
            return anp.sin(x) * y
        f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda r, ct: (ct * anp.cos(r[0]) * r[1], ct * anp.sin(r[0])))
        def samples(rng):
            yield rng.normal(size=3), rng.normal(size=3)
            yield 1.0, 2.0
        """,
    "custom_jvp with a kink": """
        @custom_jvp
        def f(x):
            return anp.abs(x)
        f.defjvp(lambda xs, ts: (f(*xs), anp.sign(xs[0]) * ts[0]))
        samples = [(np.array([1.0, -2.0]),), sample(np.zeros(2), nonsmooth=True)]
        """,
    "held arguments": """
        f = custom_jvp(lambda x, n, name: x**n, nondiff_argnums=(-1,))
        f.defjvp(lambda name, xs, ts: (f(*xs, name), xs[1] * xs[0] ** (xs[1] - 1) * ts[0]))
        samples = [(np.array([1.0, 2.0]), 3, "cube")]
        """,
    "trees and parameters": """
        def f(w, x, *, scale):
            return {"y": scale * anp.sin(w["a"] @ x) + w["b"], "n": 3}
        samples = [sample({"a": np.ones((2, 3)), "b": np.array([1.0, 2.0])}, np.arange(3.0), scale=2)]
        """,
    "complex": """
        @custom_vjp
        def f(z):
            return z * z
        f.defvjp(lambda z: (f(z), z), lambda z, ct: (2 * z * ct,))
        samples = [(np.array([1.0 + 2.0j, 0.5j]),)]
        """,
    "integer results": """
        @custom_jvp
        def f(x):
            return anp.exp(x), anp.argmax(x)
        f.defjvp(lambda xs, ts: (f(*xs), (anp.exp(xs[0]) * ts[0], None)))
        samples = [(np.array([1.0, 2.5, 0.5]),)]
        """,
}


def _check(user_module, source, **options):
    name = user_module(source + "\n        check_samples = {'f': samples}\n")
    [subject] = resolve([f"{name}:f"])
    return check_function(subject, CheckOptions(**options))


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_right_rules_pass(user_module, source):
    report = _check(user_module, source)
    assert report.ok, str(report)
    assert not report.inconclusive
    assert not report.missing
    assert report.checks["fwd"] and report.checks["rev"]
    assert bool(report.checks["vmap"] and report.checks["jit"]) is ("custom" in source)


WRONG = {
    "sign": ("""
        @custom_vjp
        def f(x, y):
            return x * y
        f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda r, ct: (ct * r[1], -ct * r[0]))
        samples = [(np.array([1.0, 2.0]), np.array([3.0, 4.0]))]
        """, "bwd", "fwd", "value"),
    "jvp": ("""
        @custom_jvp
        def f(x):
            return anp.exp(x)
        f.defjvp(lambda xs, ts: (f(*xs), 1.001 * f(*xs) * ts[0]))
        samples = [(1.0,)]
        """, "jvp", "fwd", "value"),
    "plain": ("""
        wrong = custom_jvp(lambda x: x * x)
        wrong.defjvp(lambda xs, ts: (wrong(*xs), 3 * xs[0] * ts[0]))
        def f(x):
            return anp.sum(wrong(x))
        samples = [(np.ones(2),)]
        """, "jvp", "fwd", "value"),
    "second order": ("""
        @custom_jvp
        def f(x):
            return anp.sin(x)
        @custom_jvp
        def cosine(x):
            return anp.cos(x)
        cosine.defjvp(lambda xs, ts: (cosine(*xs), anp.sin(xs[0]) * ts[0]))
        f.defjvp(lambda xs, ts: (f(*xs), cosine(xs[0]) * ts[0]))
        samples = [(np.array([1.0, 2.0]),)]
        """, "jvp", "fwd", "value"),
    "not traceable": ("""
        @custom_jvp
        def f(x):
            return anp.sum(x)
        f.defjvp(lambda xs, ts: (f(*xs), float(anp.sum(ts[0]))))
        samples = [(np.array([1.0, 2.0]),)]
        """, "jvp", "rev", "runs"),
    "depends on the batch": ("""
        from autodidax.core.interpreters import Tracer
        def under_vmap(x):
            return isinstance(x, Tracer) and "vmap" in x._trace.describe()
        @custom_jvp
        def f(x):
            return anp.sin(x) + under_vmap(x)
        f.defjvp(lambda xs, ts: (f(*xs), anp.cos(xs[0]) * ts[0]))
        samples = [(np.array([1.0, 2.0]),)]
        """, "call", "vmap", "loop"),
    "exits": ("""
        def f(x):
            raise SystemExit(0)
        samples = [(1.0,)]
        """, "impl", "impl", "runs"),
    "exits in its rule": ("""
        f = custom_jvp(lambda x: x)
        f.defjvp(lambda xs, ts: exit(0))
        samples = [(1.0,)]
        """, "jvp", "fwd", "runs"),
    "yields": ("""
        def f(x):
            yield x
        samples = [(1.0,)]
        """, "impl", "impl", "structure"),
    "no samples": ("""
        f = custom_jvp(lambda x: x)
        f.defjvp(lambda xs, ts: (xs[0], ts[0]))
        def samples(rng):
            raise OSError("no file")
        """, "samples", "impl", "samples"),
    "raises": ("""
        def f(x):
            raise OSError("no file")
        samples = [(1.0,)]
        """, "impl", "impl", "runs"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "rule", "mode", "layer"), WRONG.values(), ids=WRONG)
def test_wrong_rules_are_found(user_module, source, rule, mode, layer):
    report = _check(user_module, source)
    found = report.failures[0]
    assert (found.rule, found.mode, found.layer) == (rule, mode, layer), str(report)
    assert found.subject == "f"
    if rule != "samples":
        assert found.sample.startswith("0 of seed 0: (float64[")


RAISING = {
    "in its rule": ("def rule(xs, ts):\n    return f(*xs), 1 / 0\n", "user_rules.py:7"),
    "in what its rule calls": (
        "def slope(x):\n    return np.linalg.inv(x)\ndef rule(xs, ts):\n    return f(*xs), slope(xs[0])\n",
        "user_rules.py:7"),
    "in this package": ("def rule(xs, ts):\n    return f(*xs), anp.reshape(ts[0], (3, 5))\n", "user_rules.py:7"),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "place"), RAISING.values(), ids=RAISING)
def test_a_rule_that_raises_is_told_with_its_line(user_module, rule, place):
    user_module(f"f = custom_jvp(lambda x: 2.0 * x)\n{rule}f.defjvp(rule)\ncheck_samples = {{'f': [(np.ones(2),)]}}\n")
    outcome = check_subject(resolve(["user_rules:f"])[0], CheckOptions())
    failure = outcome.report.failures[0]
    assert (failure.layer, failure.rule) == ("runs", "jvp")
    assert f"({place})" in failure.message.split("\n")[0]


def test_missing_rules_and_samples_are_listed(user_module):
    name = user_module("f = custom_vjp(lambda x: x)\ng = custom_jvp(lambda x: x)\ncheck_samples = {'g': []}\n")
    f, g = resolve([name])
    assert check_function(f, CheckOptions()).missing == ["fwd", "bwd", "samples"]
    assert check_function(g, CheckOptions()).missing == ["jvp"]
    g.value.defjvp(lambda xs, ts: (xs[0], ts[0]))
    assert check_function(g, CheckOptions()).missing == ["samples"]


def test_modes_choose_what_is_compared(user_module):
    report = _check(user_module, RIGHT["custom_vjp"], modes=("rev", "jit"))
    assert set(report.checks) == {"impl", "rev", "jit"}


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_samples_are_cast_where_the_function_takes_them(user_module, dtype):
    report = _check(user_module, RIGHT["custom_vjp"], dtype=dtype)
    assert report.ok, str(report)
    assert report.samples == 2


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_samples_that_a_function_does_not_take_are_skipped(user_module, dtype):
    source = """
        def f(x):
            return anp.maximum(x, 0.0) if x.dtype.kind == "f" else 1 / 0
        samples = [(np.array([1.0, 2.0]),)]
        """
    report = _check(user_module, source, dtype=dtype)
    assert report.ok, str(report)
    assert report.samples == (dtype == "float32")
    assert bool(report.skipped) is (dtype == "complex128")


SQUARE = "def f(x, *, k=1):\n    return k * x * x\n"
BAD_SAMPLES = {
    "a number": ("samples = 3", "the samples are 3, no list of argument tuples"),
    "a text": ("samples = 'ab'", "the samples are 'ab', no list of argument tuples"),
    "no tuple": ("samples = [1.0]", "entry 0 of the samples is a float"),
    "one tuple": ("samples = (1.0,)", r"write \[\(x,\)\]"),
    "too many arguments": ("samples = [(1.0,), (1.0, 2.0)]", r"entry 1 .* and the function takes \(x, \*, k=1\)"),
    "too few arguments": ("samples = [()]", "missing a required argument: 'x'"),
    "an unknown keyword": ("samples = [sample(1.0, j=2)]", "unexpected keyword argument 'j'"),
    "raises": ("def samples(rng):\n    1 / 0", r"the function samples \(user_rules.py:7\): .* ZeroDivisionError"),
    "exits": ("def samples(rng):\n    exit(0)", "drawing them raised SystemExit: 0"),
    "returns nothing": ("def samples(rng):\n    pass", "the function of samples returned None"),
    "takes no generator": ("def samples():\n    return []", "takes 0 positional arguments but 1 was given"),
}


@pytest.mark.parametrize(("source", "message"), BAD_SAMPLES.values(), ids=BAD_SAMPLES)
def test_bad_samples_are_no_wrong_rule(user_module, source, message):
    user_module(f"{SQUARE}{source}\ncheck_samples = {{'f': samples}}\n")
    outcome = check_subject(resolve(["user_rules:f"])[0], CheckOptions())
    assert outcome.unusable and not outcome.wrong and not outcome.error
    text = str(outcome.report.failures[0])
    assert text.startswith("f: samples cannot be used (samples)\n  check_samples['f']")
    assert re.search(message, text), text


UNJUDGED = {
    "nan": "def f(x):\n    return anp.log(-anp.abs(x) - 1)\n",
    "infinite": "def f(x):\n    return anp.abs(x) / 0.0\n",
    "noisy": "rng = np.random.default_rng()\ndef f(x):\n    return x * rng.normal()\n",
    "integers": "def f(x):\n    return anp.argmax(x)\n",
}


@pytest.mark.parametrize("source", UNJUDGED.values(), ids=UNJUDGED)
def test_where_no_derivative_is_judged_that_is_said_and_not_ok(user_module, source):
    user_module(source + "check_samples = {'f': [(np.array([1.0, 2.0]),)]}\n")
    [subject] = resolve(["user_rules:f"])
    outcome = check_subject(subject, CheckOptions())
    assert outcome.ok and outcome.unjudged
    assert state(outcome).startswith("unjudged: ")
    for options in (CheckOptions(strict=True), CheckOptions(require_complete=True)):
        outcome = check_subject(subject, options)
        assert not outcome.ok and not outcome.wrong
        assert "a sample to judge by is missing" in str(outcome.report.failures[0])


def test_a_function_that_is_finite_at_one_sample_is_judged(user_module):
    user_module("def f(x):\n    return anp.log(x)\ncheck_samples = {'f': [(-1.0,), (2.0,)]}\n")
    outcome = check_subject(resolve(["user_rules:f"])[0], CheckOptions(strict=True))
    assert outcome.ok and not outcome.unjudged


def test_a_cast_is_shown_with_a_failure(user_module):
    user_module(textwrap.dedent(WRONG["jvp"][0]) + "check_samples = {'f': samples}\n")
    outcome = check_subject(resolve(["user_rules:f"])[0], CheckOptions(dtype="float32"))
    assert outcome.report.failures[0].sample == "0 of seed 0: (float32[]), cast to float32"
    assert outcome.report.failures[0].again.endswith("f@sample=0,mode=fwd,dtype=float32")
