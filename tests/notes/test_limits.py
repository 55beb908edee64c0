"""The lists in notes/limits.md are those that NumPy and the package show."""

import re
import types
from pathlib import Path

import numpy as np

import autodidax.numpy as anp

LIMITS = Path(__file__).parents[2] / "notes" / "limits.md"


def _not_dispatched():
    for name in sorted(dir(np)):
        function, twin = getattr(np, name), getattr(anp, name, None) if name in dir(anp) else None
        plain = isinstance(function, np.ufunc | type | types.ModuleType) or not callable(function)
        if not (name.startswith("_") or plain or hasattr(function, "_implementation") or twin in (None, function)):
            yield f"np.{name}"


def test_the_functions_that_do_not_dispatch_are_listed():
    text = LIMITS.read_text("utf-8").split("<!-- list: not dispatched -->")[1].split("\n\n")[0]
    assert re.findall(r"`(np\.\w+)`", text) == list(_not_dispatched())
