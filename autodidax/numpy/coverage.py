"""What becomes of each name of NumPy on traced values: the table behind notes/coverage.md.

`python -m autodidax.numpy.coverage > notes/coverage.md` writes the page. The class of a name is derived where it can
be: from the primitives of ufuncs, from the table of functions that are refused, and from whether there is a function
of ours. The names of functions that are piecewise constant, and of the operators of arrays, stand below.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

import autodidax.numpy as anp
from autodidax.core.primitive import registry
from autodidax.numpy import callers, methods


class Kind(enum.Enum):
    """The classes; each name has one."""

    DIFFERENTIABLE = "differentiable"
    CONSTANT = "piecewise constant"
    REFUSED = "not for traced values"
    PLAIN = "as in NumPy"


@dataclass(frozen=True)
class Entry:
    """A name, its class, and what else there is to say: for a function that is refused, what to write in its place."""

    name: str
    kind: Kind
    remark: str = ""


#: functions whose results are integers, booleans, shapes or dtypes, or do not depend on the values of their arguments
CONSTANT = frozenset(
    (
        "all", "allclose", "any", "argmax", "argmin", "argpartition", "argsort", "argwhere", "around", "array_equal",
        "array_equiv", "can_cast", "common_type", "count_nonzero", "diag_indices_from", "digitize", "einsum_path",
        "empty_like", "fix", "flatnonzero", "isclose", "iscomplex", "iscomplexobj", "isin", "isneginf", "isposinf",
        "isreal", "isrealobj", "isscalar", "iterable", "lexsort", "linalg.matrix_rank", "mask_indices",
        "min_scalar_type", "nanargmax", "nanargmin", "ndim", "nonzero", "ones_like", "packbits", "ravel_multi_index",
        "result_type", "round", "searchsorted", "shape", "size", "tril_indices_from", "triu_indices_from",
        "unpackbits", "zeros_like",
    )
)  # fmt: skip
#: names of NumPy's own that give derivatives all the same
DIFFERENTIABLE = {
    "c_": "", "r_": "",
    "fromfunction": "through values that the function closes over",
    "mgrid": "with a number of points, as 0:x:5j", "ogrid": "with a number of points, as 0:x:5j",
}  # fmt: skip
_KNOWN = "where values are known: raises under jit and vmap"
REMARKS = {
    "asarray_chkfinite": _KNOWN,
    "real_if_close": _KNOWN,
    "trim_zeros": _KNOWN,
    "poly1d": f"takes traced coefficients {_KNOWN}",
    "frompyfunc": "on plain arrays dtype object, as in NumPy",
    "nextafter": "has no derivative: raises under grad",
    "unravel_index": "of floats, as in jax.numpy",
    "heaviside": "in the value at 0",
    "linalg.eig": "complex under jit and vmap",
    "linalg.eigvals": "complex under jit and vmap",
    "roots": "complex under jit and vmap",
}
#: what jax.numpy has beyond NumPy
JAX_DTYPES = (
    "bfloat16", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "int1", "int2", "int4",
    "uint1", "uint2", "uint4",
)  # fmt: skip

_OPERATORS = {
    Kind.DIFFERENTIABLE: (
        "abs", "add", "divmod", "getitem", "iadd", "imatmul", "imod", "imul", "ipow", "isub", "iter", "itruediv",
        "matmul", "mod", "mul", "neg", "pos", "pow", "radd", "rdivmod", "rmatmul", "rmod", "rmul", "rpow", "rsub",
        "rtruediv", "sub", "truediv", "copy", "deepcopy",
    ),
    Kind.CONSTANT: (
        "and", "bool", "contains", "eq", "floordiv", "ge", "gt", "iand", "ifloordiv", "ilshift", "invert", "ior",
        "irshift", "ixor", "le", "len", "lshift", "lt", "ne", "or", "rand", "rfloordiv", "rlshift", "ror", "rrshift",
        "rshift", "rxor", "xor",
    ),
}  # fmt: skip
_NUMBERS = "use x as it is, or x.astype; return it to get a plain number"
_MEMORY = "return x to get an array that has memory"
_REFUSED_OPERATORS = {
    "__array__": "write anp.asarray(x)", "__complex__": _NUMBERS, "__float__": _NUMBERS, "__index__": _NUMBERS,
    "__int__": _NUMBERS,
    "__delitem__": "take the entries to keep: x[keep]", "__setitem__": "write x = anp.at(x)[i].set(v)",
    "__hash__": "use a static value as the key", "__reduce_ex__": "return x, and pickle the result",
    "__dlpack__": _MEMORY, "__dlpack_device__": _MEMORY,
}  # fmt: skip
_OPERATOR_REMARKS = {"__bool__": "where values are known", "__contains__": "where values are known"}
#: attributes and methods of arrays that are no functions of NumPy
_MEMBERS = {
    Kind.DIFFERENTIABLE: ("T", "mT", "flatten", "to_device"),
    Kind.CONSTANT: ("device", "dtype", "itemsize", "nbytes"),
}


def kind_of(name: str) -> Kind:
    """The class of a public name of NumPy, as "solve" or "linalg.solve".

    Raises: KeyError where autodidax.numpy does not have it.
    """
    theirs, ours = _lookup(np, name), _lookup(anp, name)
    if ours is _ABSENT:
        raise KeyError(f"numpy.{name}: autodidax.numpy has no such name")
    if name in DIFFERENTIABLE:
        return Kind.DIFFERENTIABLE
    if _alternative(theirs) is not None and "inplace" not in _parameters(ours):
        return Kind.REFUSED
    if name in CONSTANT or _is_constant_ufunc(theirs):
        return Kind.CONSTANT
    if ours is theirs or isinstance(ours, ModuleType) or not callable(ours) or name == "ndarray":
        return Kind.PLAIN
    return Kind.DIFFERENTIABLE


def _lookup(namespace: Any, name: str) -> Any:
    for part in name.split("."):
        namespace = getattr(namespace, part, _ABSENT)
    return namespace


_ABSENT = object()


def _alternative(function: Any) -> str | None:
    if not callable(function):
        return None
    return callers.WRITERS.get(function, callers.ALTERNATIVES.get(function))


def _is_constant_ufunc(function: Any) -> bool:
    p = registry.get(function) if isinstance(function, np.ufunc) else None
    return p is not None and bool(p.zero_derivative or p.nondifferentiable)


def _parameters(function: Any) -> Iterable[str]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()


def entry(name: str) -> Entry:
    """The row of a public name of NumPy."""
    kind, theirs, ours = kind_of(name), _lookup(np, name), _lookup(anp, name)
    if kind is Kind.REFUSED:
        return Entry(name, kind, _alternative(theirs) or "")
    remarks = [REMARKS.get(name, ""), DIFFERENTIABLE.get(name, "")]
    parameters = _parameters(ours)
    if "inplace" in parameters:
        remarks.append("with `inplace=False`; else it writes, and is refused")
    if kind is not Kind.PLAIN and "size" in parameters:
        remarks.append("under jit and vmap with `size=`")
    if kind is Kind.PLAIN:
        remarks.append(_sort_of_plain(theirs))
    return Entry(name, kind, "; ".join(filter(None, remarks)))


def _sort_of_plain(value: Any) -> str:
    if isinstance(value, ModuleType):
        return "a module"
    if isinstance(value, type):
        return "a dtype" if issubclass(value, np.generic) else "a class"
    return "takes no array of numbers" if callable(value) else "a constant"


def public_names(module: str = "") -> list[str]:
    """NumPy's public names at the top, or in "linalg" or "fft", the latter with the name of the module before them."""
    before = f"{module}." if module else ""
    own = [n for n in dir(_lookup(np, module) if module else np) if not n.startswith("_")]
    if module:  # their helper modules are no part of what they offer
        own = [n for n in own if not isinstance(getattr(_lookup(np, module), n), ModuleType)]
    return [before + n for n in own]


def array_entries() -> Iterator[Entry]:
    """The methods, attributes and operators of arrays."""
    for name in dir(np.ndarray):
        yield _operator(name) if name.startswith("__") else _member(name)


def _member(name: str) -> Entry:
    mend = methods.REFUSED.get(name) or methods.MISSING_ATTRIBUTES.get(name)
    if mend is not None:
        return Entry(name, Kind.REFUSED, mend)
    for kind, names in _MEMBERS.items():
        if name in names:
            return Entry(name, kind)
    return Entry(name, kind_of(name), _KNOWN if name in ("nonzero", "compress") else "")


def _operator(name: str) -> Entry:
    if name in _REFUSED_OPERATORS:
        return Entry(name, Kind.REFUSED, _REFUSED_OPERATORS[name])
    for kind, names in _OPERATORS.items():
        if name.strip("_") in names:
            own = hasattr(np.ndarray, name) and not hasattr(methods.Tracer, name)  # x += y gives the name x a new value
            return Entry(name, kind, _OPERATOR_REMARKS.get(name, "gives the name a new value" if own else ""))
    return Entry(name, Kind.PLAIN, "Python's and NumPy's own protocols")


def jax_entries() -> Iterator[Entry]:
    """What jax.numpy has beyond NumPy."""
    yield Entry("ComplexWarning", Kind.PLAIN, "a class")
    yield Entry("complex_", Kind.PLAIN, "complex128")
    yield Entry("float_", Kind.PLAIN, "float64")
    for name in JAX_DTYPES:
        yield Entry(name, Kind.REFUSED, "NumPy has no such dtype")


SECTIONS = {
    "numpy": lambda: map(entry, public_names()),
    "numpy.linalg": lambda: map(entry, public_names("linalg")),
    "numpy.fft": lambda: map(entry, public_names("fft")),
    "Methods and operators of arrays": array_entries,
    "Names of jax.numpy that NumPy lacks": jax_entries,
}
_MEANINGS = {
    Kind.DIFFERENTIABLE: "forward and reverse mode in every order, `vmap` and `jit`, through `numpy` where it "
    "dispatches, through `autodidax.numpy` and as a method",
    Kind.CONSTANT: "works on traced values under every transform; its derivative is zero, or it has none, for its "
    "results are integers, booleans, shapes or dtypes",
    Kind.REFUSED: "raises an error that names the alternative, which stands beside it",
    Kind.PLAIN: "NumPy's own: constants, dtypes, classes, modules, and functions that take no array of numbers (files, "
    "settings, sizes); sizes and the like have to be known",
}
_INTRODUCTION = """\
# Coverage of NumPy

Every public name of NumPy (of {version}), its class, and what else there is to say. The page is written by
`python -m autodidax.numpy.coverage`; do not edit it. The tests in `tests/numpy_api/test_coverage.py` fail where it is
stale, where NumPy has a name that is missing here, and where a class is not true.

| class | what it means | names |
|---|---|---:|
{classes}

Keywords that `jax.numpy` adds: `size=` and `fill_value=` of functions whose results have sizes that depend on values,
`inplace=False` of those that write, `length=` of `bincount`, `total_repeat_length=` of `repeat`, `mode=` and
`fill_value=` of `take` and `take_along_axis`, `wrap_negative_indices=` of the latter, `preferred_element_type=` of
products and convolutions, `descending=` of `sort` and `argsort`, `promote_integers=` of `sum` and `prod`,
`trim_leading_zeros=` of `polymul` and `polydiv`, `strip_zeros=` of `roots`, `symmetrize_input=` of `cholesky`, `eigh`
and `eigvalsh` (by default one triangle is read, as in NumPy), `numpy_resid=` of `lstsq`, `subset_by_index=` of `svd`,
`assume_unique_indices=` of `delete`, `dtype=` of `argsort`, `dstack`, `fftfreq`, `rfftfreq` and `ravel_multi_index`.
Accepted, without an effect: `precision=`, `method=` (`searchsorted`, `digitize`, `isin`, `slogdet`), `unroll=`
(`polyval`), `unique_indices=` and `indices_are_sorted=` (`take`). `out_sharding=` is not accepted, nor is `device=`
where NumPy lacks it: there is one device.
"""


def page() -> str:
    """The text of notes/coverage.md."""
    tables = {title: list(rows()) for title, rows in SECTIONS.items()}
    every = [row for rows in tables.values() for row in rows]
    classes = [f"| {k.value} | {text} | {sum(row.kind is k for row in every)} |" for k, text in _MEANINGS.items()]
    version = ".".join(np.__version__.split(".")[:2])
    parts = [_INTRODUCTION.format(version=version, classes="\n".join(classes))]
    for title, rows in tables.items():
        lines = [f"| `{row.name}` | {row.kind.value} | {row.remark.replace('|', chr(92) + '|')} |" for row in rows]
        parts.append("\n".join([f"## {title}", "", "| name | class | remarks |", "|---|---|---|", *lines, ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")
