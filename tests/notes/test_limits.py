"""The lists in notes/limits.md are those that NumPy and the package show."""

import inspect
import re
import types
from pathlib import Path

import numpy as np
import pytest

import autodidax as ad
import autodidax.numpy as anp
from autodidax import errors

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


#: files, printing, settings, questions about memory and dtypes: nothing that one would differentiate
NOT_NUMERIC = {
    "asarray_chkfinite", "asmatrix", "bmat", "busday_count", "busday_offset", "datetime_as_string", "datetime_data",
    "einsum_path", "format_float_positional", "format_float_scientific", "from_dlpack", "fromfile", "frompyfunc",
    "fromregex", "genfromtxt", "get_include", "getbufsize", "geterr", "geterrcall", "info", "is_busday",
    "isfortran", "isnat", "loadtxt", "may_share_memory", "mintypecode", "nested_iters", "require", "row_stack",
    "savetxt", "savez_compressed", "setbufsize", "seterr", "seterrcall", "shares_memory", "show_config",
    "show_runtime", "test", "typename",
}  # fmt: skip


def _not_offered():
    """Numeric functions of NumPy that autodidax.numpy does not have."""
    for name in sorted(dir(np)):
        function = getattr(np, name)
        plain = isinstance(function, type | types.ModuleType) or not callable(function)
        if not (name.startswith("_") or plain or name in NOT_NUMERIC or name in dir(anp)):
            yield f"np.{name}"


def test_every_numeric_function_is_offered():
    assert list(_not_offered()) == []


def test_the_functions_that_write_are_refused():
    text = LIMITS.read_text("utf-8").split("<!-- list: refused -->")[1].split("\n\n")[0]
    names = re.findall(r"`np\.(\w+)`", text)
    assert names == sorted(names)
    for name in names:
        arguments = inspect.signature(getattr(np, name)).parameters.values()
        count = sum(p.default is inspect.Parameter.empty for p in arguments if p.kind is not p.VAR_KEYWORD)
        with pytest.raises(errors.AutodidaxError, match="mend:"):
            ad.grad(lambda x, name=name, n=count: getattr(anp, name)(*[x] * n))(np.ones((2, 2)))
