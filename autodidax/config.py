"""Options, process-wide or for the length of a ``with`` block.

>>> config.debug_nans
False
>>> with config.override(debug_nans=True):
...     config.debug_nans
True

Every option has two names, with JAX's prefix and without: ``jax_debug_nans`` is ``debug_nans``.
"""

import difflib
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from autodidax.errors import ArgumentError

__all__ = ["Config", "config", "debug_infs", "debug_nans", "disable_jit"]


class _Option(NamedTuple):
    """What an option means, its default, and what is wrong with a value (None: nothing)."""

    default: Any
    objection: Callable[[Any], tuple[str, str] | None]
    doc: str


def _boolean(value: Any) -> tuple[str, str] | None:
    if isinstance(value, bool):
        return None
    return f"takes True or False, got {value!r}", "give a bool"


def _always_64_bit(value: Any) -> tuple[str, str] | None:
    if value is not False:
        return _boolean(value)
    return (
        "cannot be False: dtypes are NumPy's, so the package is always 64-bit",
        "for float32 give dtypes, as in x.astype(np.float32) or np.zeros(3, np.float32): they are kept",
    )


def _one_of(*choices: Any) -> Callable[[Any], tuple[str, str] | None]:
    def objection(value: Any) -> tuple[str, str] | None:
        # "in" would ask an array for its truth value.
        if any(type(value) is type(choice) and value == choice for choice in choices):
            return None
        listed = " or ".join(repr(choice) for choice in choices)
        return f"takes {listed}, got {value!r}", f"give {listed}"

    return objection


def _count_of_threads(value: Any) -> tuple[str, str] | None:
    if type(value) is int and value >= 0:
        return None
    return f"takes a number of threads, got {value!r}", "give 1, 2, ..., or 0 for as many as there are cores"


_OPTIONS = {
    "enable_x64": _Option(True, _always_64_bit, "64-bit dtypes: always on"),
    "debug_nans": _Option(False, _boolean, "raise at the operation that first makes a NaN"),
    "debug_infs": _Option(False, _boolean, "raise at the operation that first makes an inf"),
    "check_side_effects": _Option(False, _boolean, "warn of side effects of traced functions, of changed constants"),
    "check_key_reuse": _Option(False, _boolean, "raise where a random key is used a second time"),
    "disable_jit": _Option(False, _boolean, "run the functions given to jit as they are"),
    "explain_cache_misses": _Option(False, _boolean, "log why a jitted function is traced (again), and where"),
    "num_threads": _Option(0, _count_of_threads, "threads of compiled programs; 0 for one a core"),
    "numpy_dtype_promotion": _Option("standard", _one_of("standard"), "promotion of dtypes: NumPy's"),
    "traceback_filtering": _Option(
        "auto",
        _one_of("auto", "off", "tracebackhide", "remove_frames", "quiet_remove_frames"),
        "how the package's own frames show in a traceback",
    ),
    "platforms": _Option("cpu", _one_of("cpu", "", None), "where programs run: the CPU"),
    "platform_name": _Option("cpu", _one_of("cpu", "", None), "where programs run: the CPU"),
}

_overrides: ContextVar[dict[str, Any] | None] = ContextVar("autodidax_config_overrides", default=None)


def _option_name(name: Any) -> str:
    """The option's name without JAX's prefix; raises ArgumentError for one that does not exist."""
    if isinstance(name, str):
        short = name.removeprefix("jax_")
        if short in _OPTIONS:
            return short
        close = difflib.get_close_matches(short, _OPTIONS, n=2)
    else:
        close = []
    mend = f"did you mean {' or '.join(close)}?" if close else f"the options are {', '.join(_OPTIONS)}"
    raise ArgumentError(f"config has no option {name!r}", mend=mend)


def _checked(name: Any, value: Any) -> tuple[str, Any]:
    name = _option_name(name)
    objection = _OPTIONS[name].objection(value)
    if objection is not None:
        happened, mend = objection
        raise ArgumentError(f"config: {name} {happened}", mend=mend)
    return name, value


class Config:
    """The options as attributes; `update` sets one for the process, `override` for a ``with`` block.

    An override belongs to the thread or the asynchronous task that opened it.
    """

    __slots__ = ("_values", "_uses", "_watchers", "_lock")

    _values: dict[str, Any]
    _uses: dict[str, int]
    _watchers: dict[str, Callable[[], None]]
    _lock: threading.RLock

    def __init__(self) -> None:
        fields = {
            "_values": {name: option.default for name, option in _OPTIONS.items()},
            "_uses": dict.fromkeys(_OPTIONS, 0),
            "_watchers": {},
            "_lock": threading.RLock(),
        }
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    def update(self, name: str, value: Any) -> None:
        """Set one option for the whole process; an open `override` of it still goes first.

        Raises:
            ArgumentError: an unknown option, or a value that it does not take.
        """
        name, value = _checked(name, value)
        with self._lock:
            self._count(name, bool(value) - bool(self._values[name]))
            self._values[name] = value

    def read(self, name: str) -> Any:
        """The present value of an option."""
        return getattr(self, _option_name(name))

    @contextmanager
    def override(self, **options: Any) -> Iterator[None]:
        """Set options until the ``with`` block ends, for the present thread or task.

        >>> with config.override(jax_disable_jit=True):
        ...     config.disable_jit
        True
        >>> config.disable_jit
        False
        """
        checked = dict(_checked(name, value) for name, value in options.items())
        token = _overrides.set({**(_overrides.get() or {}), **checked})
        for name, value in checked.items():
            self._count(name, int(bool(value)))
        try:
            yield
        finally:
            for name, value in checked.items():
                self._count(name, -int(bool(value)))
            _overrides.reset(token)

    def watch(self, name: str, callback: Callable[[], None]) -> None:
        """Have `callback` called whenever an option may have become true somewhere in the process, or false everywhere;
        `used` says which."""
        self._watchers[_option_name(name)] = callback

    def used(self, name: str) -> bool:
        """Whether an option is true for the process, or in any open `override` of any thread."""
        return self._uses[_option_name(name)] > 0

    def _count(self, name: str, change: int) -> None:
        """Note that an option is true in so many more places."""
        if change:
            with self._lock:
                before = self._uses[name]
                self._uses[name] = before + change
                if (before > 0) != (before + change > 0) and name in self._watchers:
                    self._watchers[name]()

    def __getattr__(self, name: str) -> Any:
        # Only names that are no option come here: the options are properties, below.
        close = difflib.get_close_matches(name.removeprefix("jax_"), _OPTIONS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise AttributeError(f"config has no option {name!r}{hint}")

    def __setattr__(self, name: str, value: Any) -> None:
        name = _option_name(name)
        raise ArgumentError(
            f"config.{name} cannot be assigned",
            mend=f"config.update({name!r}, {value!r}), or config.override({name}={value!r}) in a with block",
        )

    def __repr__(self) -> str:
        return "Config(" + ", ".join(f"{name}={self.read(name)!r}" for name in _OPTIONS) + ")"


def _reader(name: str) -> property:
    def value(self: Config) -> Any:
        overrides = _overrides.get()
        return self._values[name] if overrides is None else overrides.get(name, self._values[name])

    return property(value, doc=_OPTIONS[name].doc)


for _name in _OPTIONS:
    setattr(Config, _name, _reader(_name))
    setattr(Config, f"jax_{_name}", _reader(_name))

config = Config()


def debug_nans(value: bool = True) -> AbstractContextManager[None]:
    """In this context the operation that first makes a nan raises NanError, which names it and the user's line.

    Operations are looked at in eager runs (forward, tangents, and the backward pass, which names the forward line), and
    one by one in staged programs: everything is slower. What NumPy computes on plain arrays outside of the package is
    not seen. The operations that are looked at give no warnings of invalid values and of divisions by zero.
    ``config.update("debug_nans", True)`` is the same for the whole process.

    Source: jax.debug_nans.

    >>> import numpy as np
    >>> import autodidax
    >>> with debug_nans(True):
    ...     autodidax.grad(lambda x: np.sqrt(x) * 0.0)(0.0)
    Traceback (most recent call last):
    autodidax.errors.NanError: the backward pass of sqrt made nan from operands without nan: f64[] -> f64[]
      in: <lambda> (<doctest autodidax.config.debug_nans[2]>:2)
      mend: ...
    """
    return config.override(debug_nans=value)


def debug_infs(value: bool = True) -> AbstractContextManager[None]:
    """As `debug_nans`, for inf.

    Source: jax.debug_infs.
    """
    return config.override(debug_infs=value)


def disable_jit(disable: bool = True) -> AbstractContextManager[None]:
    """In this context functions under `jit` run as they are, operation by operation.

    Loops and branches run as plain Python where their conditions have values; under `vmap` they are staged as ever.

    Source: jax.disable_jit.

    >>> import autodidax
    >>> @autodidax.jit
    ... def f(x):
    ...     print(x + 1.0)
    ...     return x
    >>> with disable_jit():
    ...     f(2.0)
    3.0
    2.0
    """
    return config.override(disable_jit=disable)
