"""The public signatures, as a type checker sees them."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from typing import Any, assert_type

import numpy as np

import autodidax as ad


def loss(w: np.ndarray, scale: float = 1.0) -> np.float64:
    return np.float64(np.sum(w) * scale)


def with_extra(w: np.ndarray) -> tuple[np.float64, dict[str, int]]:
    return loss(w), {"steps": 1}


w = np.ones(3)
value, gradient = ad.value_and_grad(loss)(w, scale=2.0)
assert_type(value, np.float64)
(value, extra), gradient = ad.value_and_grad(with_extra, has_aux=True)(w)
assert_type(extra, dict[str, int])
gradient, extra = ad.grad(with_extra, 0, True)(w)
assert_type(extra, dict[str, int])
assert_type(ad.vmap(loss)(w), np.float64)
assert_type(ad.jit(loss)(w, 2.0), np.float64)
assert_type(ad.jit(loss).lower(w).compile().source(), Any)


@ad.jit
def twice(x: float) -> float:
    return 2 * x


@ad.jit(static_argnums=1)
def power(x: float, n: int) -> float:
    return x**n


assert_type(twice(1.0), float)
assert_type(power(1.0, 2), float)
"""
WRONG = {
    'ad.grad(loss)(w, "two")': "arg-type",
    "ad.grad(loss)()": "call-arg",
    "ad.jit(loss)(w, factor=2.0)": "call-arg",
    "ad.vmap(loss)(w, 1.0, 2.0)": "call-arg",
    'ad.grad(loss, argnums="w")': "arg-type",
}


def checked(tmp_path, program):
    pytest.importorskip("mypy", reason="mypy comes with the test extra")
    path = tmp_path / "program.py"
    path.write_text(program, "utf-8")
    root = Path(__file__).resolve().parents[1]
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file=",
        "--follow-imports=silent",
        f"--cache-dir={tmp_path}",
        str(path),
    ]
    return subprocess.run(command, cwd=root, capture_output=True, text=True).stdout


def test_types_of_results_and_refused_calls(tmp_path):
    program = PROGRAM + "".join(f"{call}  # line {k}\n" for k, call in enumerate(WRONG))
    out = checked(tmp_path, program)
    first = len(PROGRAM.splitlines()) + 1
    found = [line for line in out.splitlines() if ": error:" in line and "program.py" in line]
    assert [line.partition(":")[2].partition(":")[0] for line in found] == [
        str(first + k) for k in range(len(WRONG))
    ], out
    for line, code in zip(found, WRONG.values(), strict=True):
        assert f"[{code}]" in line
