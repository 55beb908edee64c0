"""python -m autodidax check: options, table, reports, exit codes."""

import io
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from autodidax import __main__ as command_line
from autodidax.core.primitive import Primitive, pointwise, registry
from autodidax.testing.commandline import command, subjects
from autodidax.testing.commandline.table import ProgressBar
from autodidax.testing.mutation import run as mutation
from autodidax.testing.primitives import check_primitive

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}

WRONG_MODULE = """
wrong = pointwise("wrong_of_user", lambda x: x * x, lambda _y, x: 2.1 * x)

@custom_vjp
def twice(x):
    return 2 * x
twice.defvjp(lambda x: (twice(x), None), lambda _, ct: (-2 * ct,))

@custom_jvp
def bare(x):
    return x
bare.defjvp(lambda xs, ts: (xs[0], ts[0]))

check_samples = {"twice": [(np.array([1.0, 2.0]),), (3.0,)]}
"""


@pytest.fixture
def wrong():
    """A registered primitive with a wrong partial derivative."""
    p = pointwise("wrong_for_test", np.square, lambda _, x: 2.1 * x, module="tests.wrong")
    yield p
    registry.remove(p)


@pytest.fixture
def bare():
    """A registered primitive with nothing but its implementation."""

    class Bare(Primitive):
        def impl(self, x):
            return x + 1

    p = Bare("bare_for_test")
    yield p
    registry.remove(p)


def _run(capsys, *argv):
    code = command_line.main(["check", *argv])
    return code, capsys.readouterr()


def _rows(text):
    """First words of the table's lines."""
    return [line.split()[0] for line in text.split("\n\n")[0].splitlines()[1:]]


def _start(*argv, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "autodidax", *argv],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, **options,
    )  # fmt: skip


def test_right_primitives_give_0_and_a_table(capsys):
    code, (out, err) = _run(capsys, "sin", "reduce_s*")
    assert code == 0
    assert out.splitlines()[0].split()[:3] == ["primitive", "module", "samples"]
    assert _rows(out) == ["sin", "reduce_sum"]
    assert "rules exercised: impl 2/2, abstract_eval 2/2, products 1/1, transpose 1/1, batch 2/2" in out
    assert "0 inconclusive, 0 warnings" in out
    assert "all rules agree" in out
    assert err == ""  # no progress bar beside a terminal


def test_a_wrong_rule_gives_1_and_names_primitive_rule_sample_and_numbers(capsys, wrong):
    code, (out, _) = _run(capsys, "wrong_for_test", "sin", "--order", "1")
    assert code == 1
    for part in ("wrong_for_test: products is wrong (value, fwd, order 1)", "sample:", "float64[3]", "expected:",
                 "got:", "1.05 times what it should be", "more failures of wrong_for_test: products",
                 "again:    python -m autodidax check --repro", "1 FAILED: wrong_for_test"):  # fmt: skip
        assert part in out


def test_fail_fast_stops_at_the_first_failure(capsys, wrong):
    code, (out, _) = _run(capsys, "wrong_for_test", "sin", "--fail-fast")
    assert code == 1
    assert out.count("wrong_for_test: products is wrong") == 1
    assert _rows(out) == ["wrong_for_test"]
    assert "1 of 2 checked" in out


@pytest.mark.parametrize(
    "argv",
    [["no_such_primitive"], ["--modes", "sideways"], ["--seeds", "0"], ["--order", "x"], ["--unknown"],
     ["--points", "nowhere"], ["--dtype", "int8"], ["--repro", "sin@colour=red"], ["--repro", "no_such_primitive"],
     ["sin", "--repro", "sin"], ["sin", "--json", "/no/such/folder/file"], ["sin", "--junit", "/no/such/folder/file"],
     ["json"], ["user_rules:missing"], ["--mutate", "user_rules"], ["sin", "--json", "-", "--junit", "-"],
     ["sin", "--json", "same", "--junit", "same"]],
    ids=" ".join,
)  # fmt: skip
def test_bad_usage_gives_2(capsys, user_module, argv):
    user_module(WRONG_MODULE)
    try:
        code = command_line.main(["check", *argv])
    except SystemExit as e:
        code = e.code
    assert code == 2
    out, err = capsys.readouterr()
    assert err and not out


def test_a_missing_rule_gives_3_only_where_asked(capsys, bare):
    code, (out, _) = _run(capsys, bare.name)
    assert code == 0
    assert "nothing to check, missing: abstract_eval samples batch jvp" in out
    code, (out, _) = _run(capsys, bare.name, "--require-complete")
    assert code == 3
    assert "1 INCOMPLETE: bare_for_test" in out
    assert f"again:    python -m autodidax check {bare.module}:bare_for_test --require-complete" in out


def test_a_wrong_rule_counts_before_a_missing_one(capsys, wrong, bare):
    assert _run(capsys, wrong.name, bare.name, "--require-complete", "--order", "1")[0] == 1


def _failing_at(name, error):
    def check(p, **options):
        if p.name == name:
            raise error
        return check_primitive(p, **options)

    return check


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_failure_of_the_checker_gives_4_and_the_others_are_checked(capsys, monkeypatch, wrong, jobs):
    monkeypatch.setattr(subjects, "check_primitive", _failing_at("sin", ZeroDivisionError("of the checker")))
    code, (out, _) = _run(capsys, wrong.name, "sin", "cos", "--order", "1", "--jobs", jobs)
    assert code == 4
    assert _rows(out) == [wrong.name, "sin", "cos"]
    assert "sin: the checker itself failed: ZeroDivisionError: of the checker" in out
    assert "Traceback" in out and "in check" in out
    assert "1 with an error of the CHECKER: sin; 1 FAILED: wrong_for_test" in out


def test_a_process_that_dies_gives_4_and_the_others_are_checked(capsys, monkeypatch):
    def check(p, **options):
        return os._exit(7) if p.name == "sin" else check_primitive(p, **options)

    monkeypatch.setattr(subjects, "check_primitive", check)
    code, (out, _) = _run(capsys, "sin", "cos", "tanh", "--order", "1", "--jobs", "2")
    assert code == 4
    assert _rows(out) == ["sin", "cos", "tanh"]
    assert "sin: the checker itself failed: the process that checked it died with exit code 7" in out


@pytest.mark.parametrize(("call", "code"), [("os._exit(7)", 1), ("subprocess_of(9)", 0)], ids=["own", "of a child"])
def test_a_rule_that_ends_the_process_does_not_end_the_check(user_module, tmp_path, call, code):
    name = user_module(f"""
        import os
        def subprocess_of(code):
            child = os.fork()
            if not child:
                os._exit(code)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == code
        f = custom_jvp(lambda x: 2.0 * x)
        def rule(xs, ts):
            {call}
            return f(*xs), 2.0 * ts[0]
        f.defjvp(rule)
        check_samples = {{"f": [(1.0,)]}}
        """)
    with _start("check", f"{name}:f", "--order", "1", "--jobs", "1", cwd=tmp_path) as run:
        out, err = run.communicate()
    assert run.returncode == code, err
    assert ("the rule raised SystemExit: os._exit(7) (user_rules.py:14)" in out) is (code == 1)


FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")


@FULL
@pytest.mark.parametrize("option", ["--json", "--junit"])
def test_a_report_that_cannot_be_written_gives_2(capsys, option):
    code, (out, err) = _run(capsys, "sin", "--order", "1", option, "/dev/full")
    assert code == 2
    assert "1 checked" in out and err.startswith("cannot write '/dev/full': ") and len(err.splitlines()) == 1


@FULL
@pytest.mark.parametrize("argv", [["sin", "--order", "1"], ["--list", "sin"]], ids=" ".join)
def test_a_standard_output_that_cannot_be_written_gives_2(argv):
    with open("/dev/full", "w", encoding="utf-8") as full:
        run = subprocess.run(
            [sys.executable, "-m", "autodidax", "check", *argv],
            stdout=full, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, check=False,
        )  # fmt: skip
    assert run.returncode == 2
    assert run.stderr.startswith("cannot write the standard output: ") and len(run.stderr.splitlines()) == 1


def test_an_interrupted_run_gives_130_and_shows_what_was_done(capsys, monkeypatch, tmp_path, wrong):
    monkeypatch.setattr(subjects, "check_primitive", _failing_at("cos", KeyboardInterrupt()))
    path = tmp_path / "report.json"
    code, (out, _) = _run(capsys, wrong.name, "cos", "tanh", "--order", "1", "--json", str(path))
    assert code == 130
    assert _rows(out) == [wrong.name]
    assert "products is wrong" in out
    assert "1 of 3 checked" in out and "INTERRUPTED; 1 FAILED: wrong_for_test" in out
    found = json.loads(path.read_text())
    assert found["exit_code"] == 130
    assert [p["subject"] for p in found["primitives"]] == [wrong.name]


def test_several_processes_interrupted_leave_none_behind(capsys, monkeypatch):
    monkeypatch.setattr(ProgressBar, "advance", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    code, (out, _) = _run(capsys, "sin", "cos", "tanh", "--order", "1", "--jobs", "2")
    assert code == 130
    assert "INTERRUPTED" in out


# reports


def test_json(capsys, tmp_path, wrong):
    path = tmp_path / "report.json"
    assert _run(capsys, "wrong_for_test", "cos", "--json", str(path), "--modes", "fwd")[0] == 1
    found = json.loads(path.read_text())
    assert not found["ok"] and found["exit_code"] == 1
    by_name = {p["subject"]: p for p in found["primitives"]}
    assert by_name["cos"]["ok"] and by_name["cos"]["checks"]["fwd"]
    assert by_name["cos"]["rules"] == {"impl": True, "abstract_eval": True, "products, operand 0": True, "batch": False}
    assert by_name["wrong_for_test"]["failures"][0]["rule"] == "products"
    code, (out, _) = _run(capsys, "cos", "--json", "-")
    assert code == 0
    assert json.loads(out)["ok"]


def test_junit(capsys, tmp_path, wrong, bare):
    path = tmp_path / "report.xml"
    assert _run(capsys, wrong.name, "cos", bare.name, "--junit", str(path), "--order", "1")[0] == 1
    [suite] = ET.parse(path).getroot()
    assert [c.get("name") for c in suite] == ["wrong_for_test", "cos", "bare_for_test"]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")) == (
        "3",
        "1",
        "0",
        "1",
    )
    failure = suite[0].find("failure")
    assert failure.get("type") == "value"
    assert "wrong_for_test: products is wrong" in failure.text
    assert list(suite[1]) == []
    assert "missing: abstract_eval" in suite[2].find("skipped").get("message")


def test_what_the_code_that_is_checked_prints_goes_to_standard_error(capsys, user_module):
    name = user_module("""
        print("imported")
        def f(x):
            print("running")
            return x * x
        check_samples = {"f": lambda rng: print("drawing") or [(1.0,)]}
        """)
    code, (out, err) = _run(capsys, name, "--json", "-")
    assert code == 0 and json.loads(out)["ok"]
    assert all(word in err for word in ("imported", "drawing", "running", "all rules agree"))
    code, (out, err) = _run(capsys, name, "--junit", "-")
    assert code == 0 and ET.fromstring(out.encode()).find("testsuite/testcase").get("name") == "f"
    code, (out, err) = _run(capsys, name)
    assert code == 0 and "running" in err and "running" not in out and "all rules agree" in out


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_samples_that_are_none_give_2_unless_a_rule_is_wrong(capsys, user_module, jobs):
    name = user_module(WRONG_MODULE + "def f(x): return x\ncheck_samples['f'] = [(1.0, 2.0)]\n")
    code, (out, _) = _run(capsys, f"{name}:f", "sin", "--jobs", jobs)
    assert code == 2
    assert "BAD SAMPLES" in out and "1 with BAD SAMPLES: f" in out
    assert _run(capsys, f"{name}:f", f"{name}:twice", "--jobs", jobs)[0] == 1


@pytest.mark.parametrize(("option", "expected"), [("--order=2", 0), ("--strict", 3), ("--require-complete", 3)])
def test_a_function_that_is_finite_nowhere_is_not_ok(capsys, user_module, option, expected):
    name = user_module("""
        def f(x):
            return anp.log(-anp.abs(x) - 1)
        check_samples = {"f": [(1.0,)]}
        """)
    code, (out, _) = _run(capsys, name, option)
    assert code == expected
    assert " ok" not in out and "all rules agree" not in out and "finite at no sample" in out


@pytest.mark.parametrize(("options", "expected"), [([], 0), (["--strict"], 3), (["--require-complete"], 3)], ids=str)
def test_modes_in_which_nothing_of_a_plain_function_is_compared_are_not_ok(capsys, user_module, options, expected):
    name = user_module("def f(x):\n    return x * x\ncheck_samples = {'f': [(1.0,)]}\n")
    code, (out, _) = _run(capsys, name, "--modes", "vmap,jit", *options)
    assert code == expected
    assert "unjudged: its derivatives are compared in the modes fwd and rev" in out
    assert "s ok" not in out and "all rules agree" not in out
    if options:
        assert f"again:    python -m autodidax check {name}:f {options[0]} --modes vmap,jit" in out


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_user_function_that_ends_the_program_ends_its_own_check(capsys, user_module, jobs):
    name = user_module("""
        def f(x):
            raise SystemExit(0)
        def g(x):
            return x * x
        check_samples = {"f": [(1.0,)], "g": [(1.0,)]}
        """)
    code, (out, _) = _run(capsys, name, "--jobs", jobs)
    assert code == 1
    assert "f: the function itself raises" in out and "SystemExit: 0" in out and "1 FAILED: f" in out


def test_a_user_function_that_interrupts_ends_a_worker_with_a_word(capsys, user_module):
    name = user_module("""
        def f(x):
            raise KeyboardInterrupt
        def g(x):
            return x * x
        check_samples = {"f": [(1.0,)], "g": [(1.0,)]}
        """)
    code, (out, _) = _run(capsys, name, "--jobs", "2")
    assert code == 4 and "f: the checker itself failed: what is checked raised KeyboardInterrupt" in out
    code, (out, _) = _run(capsys, name, "--jobs", "1")
    assert code == 130 and "INTERRUPTED" in out


def test_a_cast_is_shown(capsys):
    code, (out, _) = _run(capsys, "sin", "--dtype", "float32", "--order", "1")
    assert code == 0 and "1 checked in float32: " in out


def test_list(capsys):
    code, (out, _) = _run(capsys, "--list", "sin", "sign", "cumsum")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["sin", "sign", "cumsum"]
    assert "products" in out and "derivative zero" in out and "transpose" in out


def test_verbose_shows_margins_and_rules_that_did_not_run(capsys):
    code, (out, _) = _run(capsys, "sin", "cumsum", "-v", "--modes", "fwd,rev", "--order", "1")
    assert code == 0
    assert "margin" in out.splitlines()[0]
    assert "cumsum: batch did not run" in out
    assert "products 1/1, transpose 1/1, batch 0/2" in out


def test_the_version(capsys):
    with pytest.raises(SystemExit) as stop:
        command_line.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith("autodidax ")


def test_mutate_runs_the_mutants_of_the_named_primitives(capsys, monkeypatch):
    given = {}

    def run_mutation(primitives, **options):
        given.update(options, names=[p.name for p in primitives])
        print("as told", file=options["out"])
        return 1

    monkeypatch.setattr(mutation, "run_mutation", run_mutation)
    code, (out, _) = _run(capsys, "--mutate", "sin", "cos", "--jobs", "2", "-v")
    assert (code, out) == (1, "as told\n")
    assert given.pop("out") is not None
    assert given == {"names": ["sin", "cos"], "jobs": 2, "seed": 0, "verbose": True}


# a user's module


def test_a_module_of_a_user(capsys, user_module):
    name = user_module(WRONG_MODULE)
    code, (out, _) = _run(capsys, name, "--order", "1")
    assert code == 1
    assert _rows(out) == ["wrong_of_user", "twice", "bare"]
    assert "twice: bwd is wrong (value, fwd, order 1)" in out
    assert "the sign is flipped" in out
    assert "nothing to check, missing: samples" in out
    assert "2 FAILED: wrong_of_user, twice" in out
    code, (out, _) = _run(capsys, f"{name}:bare")
    assert code == 0
    assert "1 incomplete" in out and "nothing was compared" in out
    assert _run(capsys, f"{name}:bare", "--require-complete")[0] == 3


def test_samples_declared_for_a_primitive_are_added_to_its_own(capsys, user_module):
    name = user_module("""
        class Half(Primitive):
            linear = True
            def impl(self, x): return x * 0.5
            def abstract_eval(self, x): return x
            def transpose(self, ct, x): return [ct * 0.5]
            def batch(self, args, dims): return self(*args), 0
        half = Half("half_of_user")
        cube = pointwise("cube_of_user", lambda x: x**3, lambda _y, x: 3 * x * x)
        check_samples = {"half": [(np.ones(3),)], "cube": [(np.ones(3),)]}
        """)
    path = "report.json"
    code, (out, _) = _run(capsys, name, "--require-complete", "--json", path, "--order", "1")
    assert code == 0, out
    with open(path, encoding="utf-8") as file:
        half, cube = json.load(file)["primitives"]
    assert half["samples"] == 1
    assert cube["samples"] == 1 + sum(1 for _ in registry["sin"].samples(np.random.default_rng(0)))
    assert "samples" not in vars(registry["cube_of_user"])


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_results_do_not_depend_on_the_processes(capsys, user_module, jobs):
    name = user_module(WRONG_MODULE)
    argv = [name, "sin", "cumsum", "--order", "1", "--json", "-", "--jobs"]
    one, several = (json.loads(_run(capsys, *argv, n)[1].out) for n in ("1", jobs))
    for found in (one, several):
        for p in found["primitives"]:
            p.pop("seconds")
    assert one == several


# one case again


def _commands(out):
    return [line.split("again:")[1].split() for line in out.splitlines() if "again:" in line]


@pytest.mark.parametrize("what", ["wrong", "twice"])
def test_a_reproducer_runs_exactly_one_case(capsys, user_module, what):
    name = user_module(WRONG_MODULE)
    code, (out, _) = _run(capsys, f"{name}:{what}", "--order", "1", "--json", "report.json")
    assert code == 1
    with open("report.json", encoding="utf-8") as file:
        [found] = json.load(file)["primitives"]
    for argv, failure in zip(_commands(out), found["failures"], strict=False):
        assert argv[:5] == ["python", "-m", "autodidax", "check", "--repro"]
        code, _ = _run(capsys, *argv[4:], "--json", "again.json")
        assert code == 1
        with open("again.json", encoding="utf-8") as file:
            [again] = json.load(file)["primitives"]
        assert again["samples"] == 1
        assert {f["sample"] for f in again["failures"]} == {failure["sample"]}
        assert failure in again["failures"]


def test_a_case_that_does_not_exist_gives_2(capsys):
    code, (_, err) = _run(capsys, "--repro", "sin@sample=1000")
    assert code == 2
    assert "there is no case 'sin@sample=1000'" in err


# as a program


def test_the_progress_bar_is_drawn_on_terminals_only():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        with ProgressBar(2, stream) as bar:
            bar.advance("sin")
            bar.advance("cos")
        assert ("2/2 cos" in stream.getvalue()) is shown


def test_a_module_in_the_current_folder_is_found(user_module, tmp_path):
    name = user_module(WRONG_MODULE)
    with _start("check", f"{name}:twice", "--order", "1", cwd=tmp_path) as run:
        out, err = run.communicate()
    assert run.returncode == 1, err
    assert "1 FAILED: twice" in out


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_reader_that_has_seen_enough_is_no_error(jobs):
    with _start("check", "sin", "cos", "tanh", "exp", "--order", "1", "--jobs", jobs) as run:
        run.stdout.close()  # as head does
        err = run.stderr.read()
    assert err == ""
    assert run.returncode == command_line.CLOSED


def test_default_jobs_are_the_cores_where_there_is_work_for_them(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert [command.default_jobs(n) for n in (0, 1, 39, 40, 100, 1000)] == [1, 1, 1, 2, 5, 8]
    assert command.default_jobs(3, worth=1) == 3
