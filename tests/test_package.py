"""The package as a whole: what importing it loads, its public names, its doctests, its README."""

import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import autodidax

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "autodidax"


def module_names():
    for path in sorted(FOLDER.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[-1] != "__main__":
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def run_python(code):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def test_the_files_under_test_are_those_of_this_tree():
    assert Path(autodidax.__path__[0]).resolve() == FOLDER


def test_import_loads_no_scipy():
    code = "import sys, autodidax; print(sorted(m for m in sys.modules if m.partition('.')[0] == 'scipy'))"
    assert run_python(code).strip() == "[]"


def test_import_loads_no_other_package():
    code = """
import sys, numpy
before = set(sys.modules)
import autodidax
top = {name.partition('.')[0] for name in set(sys.modules) - before}
print(sorted(top - sys.stdlib_module_names - {'autodidax', 'numpy'}))
"""
    assert run_python(code).strip() == "[]"


def test_public_names_exist():
    names = getattr(autodidax, "__all__", [])
    assert [name for name in names if not hasattr(autodidax, name)] == []
    assert len(set(names)) == len(names)


def test_typed_marker_ships():
    assert (FOLDER / "py.typed").exists()


@pytest.fixture
def registry():
    """The registry, which loses again what a test adds to it."""
    registry = importlib.import_module("autodidax.core.primitive").registry
    before = set(registry)
    yield registry
    for primitive in set(registry) - before:
        registry.remove(primitive)


@pytest.mark.parametrize("name", list(module_names()))
def test_doctests(name, registry):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def readme():
    return (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["check", "test"])
def test_readme_has_the_commands_that_ci_runs(name):
    assert len(re.findall(rf"<!-- command: {name} -->\s*```[a-z]*\n.+?\n```", readme(), re.DOTALL)) == 1


def test_readme_programs_print_what_it_shows(capsys):
    programs = re.findall(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", readme(), re.DOTALL)
    assert programs
    for program, shown in programs:
        exec(compile(program, "README.md", "exec"), {"__name__": "readme"})
        assert capsys.readouterr().out == shown


def relative_links():
    for path in [ROOT / "README.md", *sorted((ROOT / "notes").rglob("*.md"))]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text("utf-8")):
            if "://" not in target:
                yield pytest.param(path, target, id=f"{path.relative_to(ROOT)}: {target}")


@pytest.mark.parametrize(("path", "target"), list(relative_links()))
def test_links_lead_somewhere(path, target):
    assert (path.parent / target).exists()


def test_every_note_is_linked_from_the_readme():
    notes = {path.relative_to(ROOT).as_posix() for path in (ROOT / "notes").glob("*.md")}
    assert sorted(note for note in notes if f"({note})" not in readme()) == []
