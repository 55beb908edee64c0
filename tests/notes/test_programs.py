"""The notes' programs: the python blocks of a note run one after another as one program, and each prints exactly what
the text block after it shows."""

import contextlib
import io
import re
from pathlib import Path

import pytest

NOTES = Path(__file__).resolve().parents[2] / "notes"
BLOCK = re.compile(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", re.DOTALL)

# name of the note -> what it needs beyond the package's own dependencies
PROGRAMS = {"fitting_real_data.md": "sklearn"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_programs_of_a_note_print_what_it_shows(name):
    pytest.importorskip(PROGRAMS[name], reason=f"{name} needs the extra: pip install 'autodidax[notes]'")
    text = (NOTES / name).read_text("utf-8")
    blocks = BLOCK.findall(text)
    assert len(blocks) == text.count("```python")
    variables = {"__name__": name}
    for program, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, name, "exec"), variables)
        assert printed.getvalue() == shown, program
