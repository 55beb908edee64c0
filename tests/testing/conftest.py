"""Modules of a user, written to the folder that a test runs in."""

import sys
import textwrap

import pytest

from autodidax.core.primitive import registry

HEADER = """
import numpy as np
import autodidax.numpy as anp
from autodidax import Primitive, custom_jvp, custom_vjp, pointwise, sample
"""


@pytest.fixture
def user_module(tmp_path, monkeypatch):
    """A function that writes a module (the usual imports are added) into the current folder and returns its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    names, registered = [], set(registry)

    def write(source, name="user_rules"):
        path = tmp_path.joinpath(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEADER + textwrap.dedent(source))
        names.append(name)
        return name

    yield write
    for name in list(sys.modules):
        if any(name == n.split(".")[0] or name.startswith(n.split(".")[0] + ".") for n in names):
            del sys.modules[name]
    for p in set(registry) - registered:
        registry.remove(p)
