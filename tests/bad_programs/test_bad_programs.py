"""Every program of the tables gets exactly the error that stands over it."""

import importlib
import pathlib

import pytest

from autodidax.core.interpreters import frames
from autodidax.errors import AutodidaxError
from tests.bad_programs.table import PROGRAMS, shown

for path in sorted(pathlib.Path(__file__).parent.glob("bad_*.py")):
    importlib.import_module(f"tests.bad_programs.{path.stem}")

INTERNALS = (
    "Tracer ", "StageTracer", "ReverseTracer", "JVPTracer", "BatchTracer", "LinearTracer", "NoneType", "PyTreeDef",
)  # fmt: skip
# Python and NumPy see these before a traced value does
NOT_OURS = {
    "control: if on an array", "integers: unpacking too many rows", "staging: too few arguments",
    "staging: too many arguments", "staging: unknown keyword",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_error_of(name):
    program = PROGRAMS[name]
    with pytest.raises(program.builtin) as caught:
        program.run()
    assert shown(caught.value, program.run) == program.text
    assert frames() == ()
    assert isinstance(caught.value, AutodidaxError) == (name not in NOT_OURS)


@pytest.mark.parametrize("name", PROGRAMS.keys() - NOT_OURS)
def test_the_form_of(name):
    _, *rest = PROGRAMS[name].text.splitlines()
    assert len(rest) == 2
    assert rest[0].startswith("  in: ") and " (here)" in rest[0]
    assert rest[1].startswith("  mend: ")
    assert not any(word in PROGRAMS[name].text for word in INTERNALS)


def test_there_are_many():
    assert len(PROGRAMS) >= 300
