"""NumPy's names that stand for themselves: what takes no array of numbers to compute with (files, printing, settings,
dates, dtypes, iterators), constants, and modules.

A name of NumPy is here, or imported from NumPy by name, or has a function of ours; `autodidax.numpy` offers no other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

FUNCTIONS = (
    "array2string", "array_repr", "array_str", "asmatrix", "base_repr", "binary_repr", "bmat", "busday_count",
    "busday_offset", "datetime_as_string", "datetime_data", "format_float_positional", "format_float_scientific",
    "from_dlpack", "frombuffer", "fromfile", "fromregex", "fromstring", "genfromtxt", "get_include",
    "get_printoptions", "getbufsize", "geterr", "geterrcall", "info", "is_busday", "isnat", "iterable", "load",
    "loadtxt", "may_share_memory", "mintypecode", "printoptions", "save", "savetxt", "savez", "savez_compressed",
    "set_printoptions", "setbufsize", "seterr", "seterrcall", "shares_memory", "show_config", "show_runtime", "test",
    "typename",
)  # fmt: skip
CLASSES = (
    "broadcast", "busdaycalendar", "errstate", "flatiter", "matrix", "memmap", "ndenumerate", "ndindex", "poly1d",
    "recarray", "record", "ufunc",
)  # fmt: skip
CONSTANTS = ("False_", "True_", "ScalarType", "little_endian", "sctypeDict", "typecodes")
#: some of them exist on some platforms only
DTYPES = (
    "bytes_", "character", "complex256", "datetime64", "flexible", "float96", "float128", "long", "longdouble",
    "object_", "str_", "timedelta64", "ulong", "void",
)  # fmt: skip
#: names that jax.numpy has and NumPy has no longer, or has elsewhere
OF_JAX = {"ComplexWarning": np.exceptions.ComplexWarning, "complex_": np.complex128, "float_": np.float64}
#: loaded when they are first named, as NumPy itself does
MODULES = (
    "char", "core", "ctypeslib", "exceptions", "f2py", "lib", "ma", "polynomial", "random", "rec", "strings",
    "testing", "typing",
)  # fmt: skip


def names() -> dict[str, Any]:
    """Everything above but the modules."""
    of_numpy = (*FUNCTIONS, *CLASSES, *CONSTANTS, *DTYPES)
    return {name: getattr(np, name) for name in of_numpy if hasattr(np, name)} | OF_JAX
