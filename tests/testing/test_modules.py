"""What the names on the command line stand for."""

import sys

import numpy as np
import pytest

from autodidax import errors
from autodidax.core.primitive import registry, sample
from autodidax.testing.commandline.modules import draw, load_all, resolve, select

load_all()

MODULE = """
from autodidax.primitives.elementwise import cos
cube = pointwise("cube_of_user", lambda x: x**3, lambda _y, x: 3 * x * x)
apart = pointwise("apart_of_user", lambda x: x**3, lambda _y, x: 3 * x * x, register=False)
made = [pointwise(f"made_{k}_of_user", lambda x: k * x, lambda _y, _x: k) for k in range(2)]
cube_again = cube

@custom_jvp
def soft(x):
    return anp.log1p(anp.exp(x))

def plain(x):
    return x

def other(x):
    return x

check_samples = {"plain": [(1.0,)]}
"""


def _names(*names):
    return [s.name for s in resolve(names)]


def test_patterns_match_names_and_modules():
    assert _names("sin") == ["sin"]
    assert {p.name for p in select(["autodidax.primitives.shape.*"])} >= {"reshape", "flip"}
    assert len(resolve([])) == len(registry)


def test_each_subject_comes_once():
    assert _names("sin", "si[n]", "cos", "sin") == ["sin", "cos"]


def test_a_module_gives_its_own_primitives_custom_functions_and_what_has_samples(user_module):
    name = user_module(MODULE)
    assert _names(name) == ["cube_of_user", "apart_of_user", "soft", "plain", "made_0_of_user", "made_1_of_user"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("cube", ["cube_of_user"]), ("cube_of_user", ["cube_of_user"]), ("cos", ["cos"]), ("plain", ["plain"]),
     ("made_*", ["made_0_of_user", "made_1_of_user"]), ("*", None), ("", None)],
)  # fmt: skip
def test_names_within_a_module(user_module, pattern, expected):
    name = user_module(MODULE)
    found = _names(f"{name}:{pattern}")
    assert found == expected if expected else set(found) >= {"cube_of_user", "apart_of_user", "soft", "plain"}


def test_references_find_the_same_subjects_again(user_module):
    name = user_module(MODULE)
    subjects = resolve([name, "sin"])
    assert [s for t in subjects for s in resolve([t.reference])] == subjects


def test_a_package_and_a_module_within_it(user_module):
    user_module("", "user_package.__init__")
    name = user_module("f = custom_vjp(lambda x: x)\n", "user_package.rules")
    assert _names(name) == ["f"]
    assert _names(f"{name}:f") == ["f"]


def test_a_primitive_is_meant_before_a_module_of_its_name(user_module):
    user_module("raise ValueError('not to be imported')\n", "sin")
    assert _names("sin") == ["sin"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sni", "no primitive matches 'sni'.*\n.*did you mean sin?"),
        ("no_*", r"no primitive matches 'no_\*'"),
        ("no_module.rules:f", "there is no module no_module"),
        ("user_rules.py", "name of a file\n.*check user_rules$"),
        ("rules/of.py", "there is no file 'rules/of.py'"),
        ("a-b", "neither a primitive, a pattern nor a module"),
        ("user_rules:nothing", "nothing to check that is named 'nothing'\n.*it has cube, apart, soft, plain"),
        ("user_rules:other", "without a rule of its own and without samples\n.*check_samples"),
        ("user_broken", "importing user_broken raised ZeroDivisionError: division by zero .*user_broken.py:6"),
        ("user_exits", "importing user_exits raised SystemExit"),
        ("user_imports", "importing user_imports raised ModuleNotFoundError.*no_such_dependency"),
        ("user_empty", "defines no primitive"),
        ("user_declares", "names 'g', which is no function"),
        ("user_list", "check_samples must be a dict"),
    ],
    ids=lambda text: text.split("\n")[0] if len(text) < 20 else "",
)
def test_a_name_that_stands_for_nothing_raises(user_module, name, message):
    user_module(MODULE)
    user_module("\n1 / 0\n", "user_broken")
    user_module("raise SystemExit(3)\n", "user_exits")
    user_module("import no_such_dependency\n", "user_imports")
    user_module("from autodidax.primitives.elementwise import sin\n", "user_empty")
    user_module("check_samples = {'g': []}\n", "user_declares")
    user_module("check_samples = [1]\n", "user_list")
    with pytest.raises(errors.ArgumentError, match=f"(?s){message}"):
        resolve([name])


def test_a_file_is_named_by_its_module_and_the_folder_that_it_is_found_from(user_module, tmp_path, monkeypatch):
    user_module("", "user_package.__init__")
    user_module("from .other import f\n", "user_package.rules")
    user_module("", "user_space.rules")
    (tmp_path / "elsewhere").mkdir()
    package, space = tmp_path / "user_package" / "rules.py", tmp_path / "user_space" / "rules.py"
    expected = {
        str(package): "check user_package.rules",
        f"{package}:f": "check user_package.rules:f",
        "user_package/rules.py": "check user_package.rules",
        str(space): "check user_space.rules",
        str(tmp_path / "user_package" / "__init__.py"): "check user_package",
    }
    for name, command in expected.items():
        with pytest.raises(errors.ArgumentError, match=f"(?s)name of a file.*module: python -m autodidax {command}$"):
            resolve([name])
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p != str(tmp_path)])
    command = f"cd {tmp_path} && python -m autodidax check user_package.rules"
    with pytest.raises(errors.ArgumentError, match=f"module: {command}$"):
        resolve([str(package)])


def test_samples_are_tuples_or_samples_in_a_list_or_from_a_function():
    rng = np.random.default_rng(0)
    [one, two] = draw([(1.0, 2), sample(3.0, k=1, nonsmooth=True)], rng)
    assert (one.args, one.params, one.nonsmooth) == ((1.0, 2), {}, False)
    assert (two.args, two.params, two.nonsmooth) == ((3.0,), {"k": 1}, True)
    assert [s.args for s in draw(lambda r: ((float(k),) for k in r.integers(0, 9, 2)), np.random.default_rng(1))] == [
        (float(k),) for k in np.random.default_rng(1).integers(0, 9, 2)
    ]
    with pytest.raises(errors.ArgumentError, match="entry 0 of the samples is a ndarray"):
        draw([np.ones(3)], rng)
