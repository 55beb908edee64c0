"""Methods and attributes of tracers: those of numpy.ndarray, with its signatures."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from autodidax import errors
from autodidax.core.explanations import MissingAttributeError
from autodidax.core.interpreters import Tracer
from autodidax.numpy import (
    concreteness,
    contraction,
    creation,
    elementwise,
    indexing,
    reductions,
    selecting,
    shaping,
    sorting,
    statistics,
)
from autodidax.numpy.concreteness import describe
from autodidax.numpy.dispatch import strong
from autodidax.primitives import convert


def _reshape(self: Any, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    return shaping.reshape(self, shape[0] if len(shape) == 1 else shape, order)


def _transpose(self: Any, *axes: Any) -> Any:
    return shaping.transpose(self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None)


def _flatten(self: Any, order: str = "C") -> Any:
    return shaping.ravel(self, order)


def _astype(
    self: Any, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
) -> Any:
    if not np.can_cast(self.dtype, dtype, casting=casting):  # type: ignore[arg-type]  # any text
        raise errors.DtypeError(
            f"astype: {self.dtype} cannot be cast to {np.dtype(dtype)} with casting={casting!r}",
            mend="give casting='unsafe', the default",
        )
    return creation.astype(self, dtype)


def _clip(self: Any, min: Any = None, max: Any = None, out: Any = None) -> Any:
    return elementwise.clip(self, min, max, out)


def _compress(self: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return selecting.compress(condition, self, axis, out)


def _conj(self: Any) -> Any:
    return strong(convert.conj(self))  # booleans stay, which the function numpy.conj makes integers


def _choose(self: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    return selecting.choose(self, choices, out, mode)


def _namespace(self: Any, *, api_version: str | None = None) -> Any:
    return namespace[0]


namespace: list[Any] = []  # the package autodidax.numpy, which puts itself here


REFUSED: dict[str, str] = {}  # the methods that raise, and what to write in their place


def _mutator(name: str, mend: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise errors.MutationError(f"{describe(self)}: {name}() changes an array in place", mend=mend)

    REFUSED[name] = mend
    return method


def _conversion(name: str, kind: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> NoReturn:
        concreteness.refuse_python(self, kind)

    REFUSED[name] = "use x as it is; return it to get a plain value"
    return method


def _missing(name: str, mend: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise errors.UnsupportedError(f"{describe(self)}: {name}() is not supported on traced values", mend=mend)

    REFUSED[name] = mend
    return method


def _getattr(self: Any, name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    mend = MISSING_ATTRIBUTES.get(name)
    if mend is None:
        close = difflib.get_close_matches(name, [*METHODS, *ATTRIBUTES, "shape", "dtype", "ndim", "size"], n=1)
        mend = (
            f"did you mean {close[0]!r}?"
            if close
            else "use what numpy.ndarray has; isinstance(x, autodidax.Array) is true of plain and of traced arrays"
        )
    raise MissingAttributeError(f"{describe(self)} has no attribute {name!r}", mend=mend)


MISSING_ATTRIBUTES = {
    "flat": "write x.ravel(), and anp.at(x.ravel())[i].set(v) to replace entries",
    "data": "traced values have no memory: return x to get an array that has",
    "ctypes": "traced values have no memory: return x to get an array that has",
    "base": "traced values have no memory: leave the question away",
    "flags": "traced values have no memory: leave the question away",
    "strides": "traced values have no memory: leave the question away",
    "ptp": "write np.ptp(x)",
    "tostring": "return x, and convert the result",
    "numpy": "leave .numpy() away: NumPy's functions take traced values; return x to get a plain array",
    "cpu": "leave .cpu() away: everything is on the CPU",
    "detach": "write autodidax.stop_gradient(x)",
    "backward": "write autodidax.grad(f)(x) for the gradient of a function f",
    "grad": "write autodidax.grad(f)(x) for the gradient of a function f",
    "requires_grad": "choose the arguments to differentiate with argnums",
    "values": "leave .values away: a traced value is what an array is",
    "to_numpy": "leave .to_numpy() away: NumPy's functions take traced values; return x to get a plain array",
    "unsqueeze": "write np.expand_dims(x, axis)",
    "view_as": "write x.reshape(y.shape)",
    "permute": "write np.transpose(x, axes)",
    "norm": "write np.linalg.norm(x)",
    "exp": "write np.exp(x)",
    "log": "write np.log(x)",
    "sqrt": "write np.sqrt(x)",
    "abs": "write np.abs(x)",
    "append": "write np.append(x, v), or collect values in a list and np.stack it",
}
_AT = "write x = anp.at(x)[i].set(v)"
_MEMORY = "traced values have no memory: return x, and convert the result"

METHODS: dict[str, Callable[..., Any]] = {
    "all": reductions.all, "any": reductions.any, "argmax": reductions.argmax, "argmin": reductions.argmin,
    "argpartition": sorting.argpartition, "argsort": sorting.argsort, "astype": _astype, "choose": _choose,
    "clip": _clip, "compress": _compress,
    "conj": _conj, "conjugate": _conj, "copy": creation.copy, "cumprod": reductions.cumprod,
    "cumsum": reductions.cumsum, "diagonal": shaping.diagonal, "dot": contraction.dot, "flatten": _flatten,
    "max": reductions.max, "mean": reductions.mean, "min": reductions.min, "nonzero": selecting.nonzero,
    "prod": reductions.prod, "ravel": shaping.ravel, "repeat": shaping.repeat, "reshape": _reshape,
    "round": elementwise.round, "searchsorted": sorting.searchsorted, "squeeze": shaping.squeeze,
    "std": statistics.std, "sum": reductions.sum, "swapaxes": shaping.swapaxes, "take": selecting.take,
    "trace": shaping.trace, "transpose": _transpose, "var": statistics.var,
    "block_until_ready": lambda self: self, "to_device": lambda self, device, /, *, stream=None: self,
    "__array_namespace__": _namespace, "__getattr__": _getattr,
    "sort": _mutator("sort", "write x = anp.sort(x), or np.sort(x)"),
    "partition": _mutator("partition", "write x = anp.partition(x, kth), or np.partition(x, kth)"),
    "fill": _mutator("fill", "write x = anp.full_like(x, value)"), "put": _mutator("put", _AT),
    "resize": _mutator("resize", "write x = anp.resize(x, shape)"), "itemset": _mutator("itemset", _AT),
    "setfield": _mutator("setfield", _AT), "setflags": _mutator("setflags", "leave it away"),
    "as_integer_ratio": _conversion("as_integer_ratio", "Fraction"),
    "item": _conversion("item", "scalar"), "tolist": _conversion("tolist", "list"),
    "__dlpack__": _missing("__dlpack__", _MEMORY), "__dlpack_device__": _missing("__dlpack_device__", _MEMORY),
    "byteswap": _missing("byteswap", _MEMORY),
    "dump": _missing("dump", _MEMORY), "dumps": _missing("dumps", _MEMORY), "getfield": _missing("getfield", _MEMORY),
    "tobytes": _missing("tobytes", _MEMORY), "tofile": _missing("tofile", _MEMORY),
    "view": _missing("view", "use astype to convert, x.real and x.imag for the parts of a complex array"),
}  # fmt: skip
ATTRIBUTES: dict[str, Callable[[Any], Any]] = {
    "T": lambda self: shaping.transpose(self),
    "mT": lambda self: shaping.matrix_transpose(self),
    "real": lambda self: elementwise.real(self),
    "imag": lambda self: elementwise.imag(self),
    "at": lambda self: indexing.at(self),
    "itemsize": lambda self: self.dtype.itemsize,
    "nbytes": lambda self: self.dtype.itemsize * self.size,
    "device": lambda self: "cpu",
}


def _assigned(name: str, mend: str) -> Callable[[Any, Any], NoReturn]:
    def assign(self: Any, value: Any) -> NoReturn:
        raise errors.MutationError(f"{describe(self)}: {name} cannot be assigned", mend=mend)

    return assign


def _with_subclasses(cls: Any) -> list[Any]:
    return [cls, *(c for sub in cls.__subclasses__() for c in _with_subclasses(sub))]


def install() -> None:
    """Give tracers their methods and attributes."""
    setters = {
        "shape": _assigned("shape", "write x = x.reshape(shape)"),
        "dtype": _assigned("dtype", "write x = x.astype(dtype)"),
    }
    of_attributes = {
        "real": _assigned("real", "write x = value + 1j * x.imag"),
        "imag": _assigned("imag", "write x = x.real + 1j * value"),
        "T": _assigned("T", "write x = np.transpose(value)"),
        "mT": _assigned("mT", "write x = np.matrix_transpose(value)"),
    }
    for cls in _with_subclasses(Tracer):
        for name, setter in setters.items():
            if name in vars(cls):
                setattr(cls, name, vars(cls)[name].setter(setter))
    for name, method in METHODS.items():
        # the traced form: that self is traced need not be found out again
        setattr(Tracer, name, getattr(method, "__wrapped__", method))
    for name, get in ATTRIBUTES.items():
        setattr(Tracer, name, property(get, of_attributes.get(name)))


install()
