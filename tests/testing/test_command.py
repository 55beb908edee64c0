"""python -m autodidax check: options, table, exit codes."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from autodidax import __main__ as command_line
from autodidax.core.primitive import Primitive, pointwise, registry
from autodidax.testing.command import ProgressBar, select


@pytest.fixture
def wrong():
    """A registered primitive with a wrong partial derivative."""
    p = pointwise("wrong_for_test", np.square, lambda _, x: 2.1 * x, module="tests.wrong")
    yield p
    registry.remove(p)


def _run(capsys, *argv):
    code = command_line.main(["check", *argv])
    return code, capsys.readouterr()


def test_right_primitives_give_0_and_a_table(capsys):
    code, (out, err) = _run(capsys, "sin", "reduce_s*")
    assert code == 0
    assert out.splitlines()[0].split()[:3] == ["primitive", "module", "samples"]
    assert {"sin", "reduce_sum"} <= {line.split()[0] for line in out.splitlines()[1:] if line}
    assert "all rules agree" in out
    assert err == ""  # no progress bar beside a terminal


def test_a_wrong_rule_gives_1_and_names_primitive_rule_sample_and_numbers(capsys, wrong):
    code, (out, _) = _run(capsys, "wrong_for_test", "sin", "--order", "1")
    assert code == 1
    for part in ("wrong_for_test: products is wrong (value, fwd, order 1)", "sample:", "float64[3]", "expected:",
                 "got:", "1.05 times what it should be", "1 FAILED: wrong_for_test"):  # fmt: skip
        assert part in out


def test_fail_fast_stops_at_the_first_primitive(capsys, wrong):
    code, (out, _) = _run(capsys, "wrong_for_test", "--fail-fast")
    assert code == 1
    assert out.count("wrong_for_test: products is wrong") == 1


@pytest.mark.parametrize(
    "argv",
    [["no_such_primitive"], ["--modes", "sideways"], ["--seeds", "0"], ["--order", "x"], ["--unknown"]],
    ids=" ".join,
)
def test_bad_usage_gives_2(capsys, argv):
    try:
        code = command_line.main(["check", *argv])
    except SystemExit as e:
        code = e.code
    assert code == 2
    assert capsys.readouterr().err


def test_json(capsys, tmp_path, wrong):
    path = tmp_path / "report.json"
    assert _run(capsys, "wrong_for_test", "cos", "--json", str(path), "--modes", "fwd")[0] == 1
    found = json.loads(path.read_text())
    assert not found["ok"]
    by_name = {p["subject"]: p for p in found["primitives"]}
    assert by_name["cos"]["ok"] and by_name["cos"]["checks"]["fwd"]
    assert by_name["wrong_for_test"]["failures"][0]["rule"] == "products"
    code, (out, _) = _run(capsys, "cos", "--json", "-")
    assert code == 0
    assert json.loads(out)["ok"]


def test_list(capsys):
    code, (out, _) = _run(capsys, "--list", "sin", "sign", "cumsum")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == [p.name for p in select(["sin", "sign", "cumsum"])]
    assert "products" in out and "derivative zero" in out and "transpose" in out


def test_missing_rules_fail_only_where_asked(capsys):
    class Bare(Primitive):
        def impl(self, x):
            return x + 1

    bare = Bare("bare_for_test")
    try:
        code, (out, _) = _run(capsys, bare.name)
        assert code == 0
        assert "nothing to check, missing: abstract_eval samples batch jvp" in out
        assert _run(capsys, bare.name, "--require-complete")[0] == 1
    finally:
        registry.remove(bare)


def test_patterns_match_names_and_modules():
    assert [p.name for p in select(["sin"])] == ["sin"]
    assert {p.name for p in select(["autodidax.primitives.shape.*"])} >= {"reshape", "flip"}
    assert len(select([])) == len(registry)


def test_several_processes(capsys):
    code, (out, _) = _run(capsys, "sin", "cos", "tanh", "--jobs", "2", "--order", "1")
    assert code == 0
    assert "3 primitives" in out


def test_the_progress_bar_is_drawn_on_terminals_only():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        with ProgressBar(2, stream) as bar:
            bar.advance("sin")
            bar.advance("cos")
        assert ("2/2 cos" in stream.getvalue()) is shown


def test_as_a_script():
    run = subprocess.run(
        [sys.executable, "-m", "autodidax", "check", "sin", "--order", "1"],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "all rules agree" in run.stdout
