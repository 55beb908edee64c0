"""Every program of the tables gets exactly the error that stands over it."""

import importlib
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from autodidax import jit
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


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - NOT_OURS))
def test_the_form_of(name):
    _, *rest = PROGRAMS[name].text.splitlines()
    assert len(rest) == 2
    assert rest[0].startswith("  in: ") and " (here)" in rest[0]
    assert rest[1].startswith("  mend: ")
    assert not any(word in PROGRAMS[name].text for word in INTERNALS)


def test_there_are_many():
    assert len(PROGRAMS) >= 300


# programs without source -> part of the mend, which is then a general one
WITHOUT_SOURCE = {
    "jit(lambda x: x if x > 0 else 0.0)(1.0)": "use np.where(test, a, b), or lax.cond(test, f, g, x)",
    "jit(lambda n: sum(range(n)))(3)": "make 'n' static: jit(f, static_argnames='n')",
    "jit(lambda x: float(x))(1.0)": "leave float() away",
    "jit(lambda x: x.__setitem__(0, 1.0))(np.ones(3))": "write x = anp.at(x)[i].set(v)",
    "jit(lambda x: np.asarray(x))(1.0)": "call the function of autodidax.numpy (as anp) with the same name",
    "jit(lambda k: [1.0, 2.0][k])(1)": "index arrays with anp.take(table, i)",
}


@pytest.mark.parametrize("program", WITHOUT_SOURCE)
def test_without_source_the_advice_is_general(program):
    with pytest.raises(AutodidaxError) as caught:
        exec(compile(program, "<console>", "exec"), {"jit": jit, "np": np})
    assert WITHOUT_SOURCE[program] in caught.value.mend


def test_without_columns_the_advice_is_general():
    program = "import autodidax\nautodidax.jit(lambda x: x if x > 0 else 0.0)(1.0)"
    run = subprocess.run([sys.executable, "-X", "no_debug_ranges", "-c", program], capture_output=True, text=True)
    assert "mend: use np.where(test, a, b), or lax.cond(test, f, g, x)" in run.stderr
