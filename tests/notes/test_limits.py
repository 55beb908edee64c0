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
    for name in sorted(dir(np)):
        function = getattr(np, name)
        plain = isinstance(function, type | types.ModuleType) or not callable(function)
        if not (name.startswith("_") or plain or name in NOT_NUMERIC or name in dir(anp)):
            yield f"np.{name}"


def test_the_functions_without_a_traced_version_are_listed():
    text = LIMITS.read_text("utf-8").split("<!-- list: not offered -->")[1].split("\n\n")[0]
    assert re.findall(r"`(np\.\w+)`", text) == list(_not_offered())
