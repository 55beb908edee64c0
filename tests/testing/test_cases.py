"""Cases for a pytest parametrisation."""

import importlib
import subprocess
import sys

import numpy as np
import pytest

from autodidax import errors
from autodidax.core.primitive import registry
from autodidax.testing import rule_cases
from autodidax.testing.commandline import subjects

MODULE = """
right = pointwise("right_of_user", lambda x: x * x, lambda _y, x: 2 * x)

@custom_vjp
def wrong(x):
    return 2 * x
wrong.defvjp(lambda x: (wrong(x), None), lambda _, ct: (3 * ct,))

bare = custom_jvp(lambda x: x)
bare.defjvp(lambda xs, ts: (xs[0], ts[0]))

check_samples = {"wrong": [(1.0,)]}
"""


@pytest.mark.parametrize("case", rule_cases(["sin", "reduce_s*", registry["cos"]], order=1), ids=str)
def test_cases_of_the_registry(case):
    assert case.check().checks["fwd"]


def test_all_primitives_by_default():
    cases = rule_cases()
    assert [str(c) for c in cases] == [p.name for p in registry]


def test_a_module_by_name_or_itself(user_module):
    name = user_module(MODULE)
    cases = rule_cases(name)
    assert [str(c) for c in cases] == [f"{name}:{n}" for n in ("right", "wrong", "bare")]
    assert rule_cases(importlib.import_module(name)) == cases
    right, wrong, bare = cases
    assert right.check().ok
    with pytest.raises(errors.CheckError, match="wrong: bwd is wrong") as raised:
        wrong.check()
    assert raised.value.report.failures
    assert bare.check().missing == ["samples"]


def test_options(user_module):
    [bare] = rule_cases(user_module(MODULE) + ":bare", require_complete=True)
    with pytest.raises(errors.CheckError, match="bare: samples"):
        bare.check()
    [case] = rule_cases("sin", modes=["fwd"], seeds=range(2), order=1)
    report = case.check()
    assert report.samples == 2 * len(list(registry["sin"].samples(np.random.default_rng(0))))
    assert not report.checks["vmap"]


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [(3, {}, "got int"), ("sin", {"colour": 1}, "no option 'colour'"), ("no_such_thing", {}, "no primitive matches")],
    ids=["a number", "an unknown option", "an unknown name"],
)
def test_what_is_no_target_raises(target, options, message):
    with pytest.raises(errors.ArgumentError, match=message):
        rule_cases(target, **options)


def test_an_error_of_the_checker_is_no_wrong_rule(monkeypatch):
    monkeypatch.setattr(subjects, "check_primitive", lambda *_, **__: 1 / 0)
    [case] = rule_cases("sin")
    with pytest.raises(RuntimeError, match="the checker itself failed on sin: ZeroDivisionError"):
        case.check()


def test_under_pytest_itself(user_module, tmp_path):
    name = user_module(MODULE)
    (tmp_path / "test_rules.py").write_text(
        "import pytest\n"
        "from autodidax.testing import rule_cases\n"
        f"@pytest.mark.parametrize('case', rule_cases('{name}'), ids=str)\n"
        "def test_rules(case):\n"
        "    case.check()\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", f"import sys, pytest; sys.path[:0] = {sys.path!r}; sys.exit(pytest.main(sys.argv[1:]))",
         "-q", "-p", "no:cacheprovider", "test_rules.py"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert run.returncode == 1
    assert "1 failed, 2 passed" in run.stdout
    assert f"FAILED test_rules.py::test_rules[{name}:wrong]" in run.stdout
