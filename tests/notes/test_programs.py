"""The notes' programs: a note's blocks run from top to bottom, and each prints exactly what the note shows.

A python block is part of one program, and the text block after it is what it prints; below a line
`<!-- file: NAME -->` it is written to a file instead. A console block holds commands, after a dollar sign, and what
they print. All of it happens in an empty folder.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import autodidax

NOTES = Path(__file__).resolve().parents[2] / "notes"
BLOCK = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n)?```python\n(?P<program>.*?)```(?:\s*```text\n(?P<shown>.*?)```)?"
    r"|```console\n(?P<console>.*?)```",
    re.DOTALL,
)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)

#: what differs between machines, or whenever the checker grows: times, error bounds, counts of comparisons and mutants
VARIES = re.compile(r"( +\d+){7} +\d+\.\d+s|\d+ checks|\d+ mutants|in \d+(\.\d+)? ?s|error of at most \S+")

# name of the note -> what it needs beyond the package's own dependencies
PROGRAMS = {
    "fitting_real_data.md": "sklearn", "checking_rules.md": "pytest", "contributing.md": "pytest", "jaxprs.md": "numpy",
    "random_numbers.md": "numpy",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_programs_of_a_note_print_what_it_shows(name, tmp_path, monkeypatch):
    pytest.importorskip(PROGRAMS[name], reason=f"{name} needs the extra: pip install 'autodidax[notes]'")
    monkeypatch.chdir(tmp_path)
    text = (NOTES / name).read_text("utf-8")
    blocks = list(BLOCK.finditer(text))
    assert len(blocks) == text.count("```python") + text.count("```console")
    variables = {"__name__": name}
    for block in blocks:
        if block["file"]:
            Path(block["file"]).write_text(block["program"], "utf-8")
        elif block["console"]:
            commands = COMMAND.findall(block["console"])
            assert "".join(f"$ {command}\n{shown}" for command, shown in commands) == block["console"]
            for command, shown in commands:
                assert _without_what_varies(_output(command)) == _without_what_varies(shown), command
        else:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(block["program"], name, "exec"), variables)
            assert _without_what_varies(printed.getvalue()) == _without_what_varies(block["shown"] or ""), block[0]


def _output(command):
    """What a shell prints on a command, with this Python as `python` and this package on its path."""
    path = [str(Path(autodidax.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(filter(None, path))}
    shell = ["sh", "-c", f'python() {{ "$PYTHON" "$@"; }}\n{command}']
    pipe, together = subprocess.PIPE, subprocess.STDOUT
    return subprocess.run(shell, env=environment, stdout=pipe, stderr=together, text=True, check=False).stdout


def _without_what_varies(text):
    return VARIES.sub("(varies)", text)
