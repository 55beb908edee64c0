"""What there is to check: primitives of the registry, and the primitives and functions of a user's modules."""

from __future__ import annotations

import difflib
import fnmatch
import importlib
import importlib.util
import inspect
import pathlib
import pkgutil
import shlex
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.primitive import Primitive, Sample, registry
from autodidax.transforms.custom_rules import custom_jvp, custom_vjp

DECLARATION = "check_samples"
LISTED = 12  # names shown of a module, where the one asked for is not among them


@dataclass(frozen=True)
class Subject:
    """One thing to check: a primitive, a custom_jvp or custom_vjp function, or a function with declared samples."""

    name: str
    module: str
    reference: str  # what finds it again from the command line
    value: Any
    declared: Any = None  # its entry in check_samples

    @property
    def is_primitive(self) -> bool:
        return isinstance(self.value, Primitive)

    @property
    def is_custom(self) -> bool:
        return isinstance(self.value, custom_jvp | custom_vjp)


def load_all() -> None:
    """Import the modules that register primitives, those included that load on first use."""
    for part in ("primitives", "control_flow", "scipy"):
        name = f"autodidax.{part}"
        if importlib.util.find_spec(name) is not None:
            package = importlib.import_module(name)
            for module in pkgutil.walk_packages(package.__path__, name + "."):
                importlib.import_module(module.name)


def resolve(names: Sequence[str]) -> list[Subject]:
    """What the names stand for, each once: primitives, glob patterns over their names (or module and name), modules as
    `package.module`, and single things in them as `package.module:name`. No names: all primitives.

    Raises
    ------
    ArgumentError : where a name stands for nothing, or its module cannot be imported.
    """
    if not names:
        return [of_primitive(p) for p in registry]
    modules = {n: load_module(n) for n in names if ":" in n or not (is_pattern(n) or select([n]))}
    found: dict[int, Subject] = {}
    for n in names:
        subjects = chosen_of(modules[n], n.partition(":")[2]) if n in modules else _of_patterns(n)
        for s in subjects:
            found.setdefault(id(s.value), s)
    return list(found.values())


def select(patterns: Sequence[str]) -> list[Primitive]:
    """The primitives whose name (or module and name) matches one of the patterns; all of them where there is none."""
    if not patterns:
        return list(registry)
    return [p for p in registry if any(_matches(p, n) for n in patterns)]


def _matches(p: Primitive, pattern: str) -> bool:
    return fnmatch.fnmatchcase(p.name, pattern) or fnmatch.fnmatchcase(f"{p.module}.{p.name}", pattern)


def is_pattern(name: str) -> bool:
    return any(c in name for c in "*?[")


def _of_patterns(pattern: str) -> list[Subject]:
    found = [of_primitive(p) for p in select([pattern])]
    if not found:
        raise _unknown(f"no primitive matches {pattern!r}", pattern)
    return found


def of_primitive(p: Primitive) -> Subject:
    """A primitive as a subject; one that is registered by the package itself needs no module to be found again."""
    own = registry.get(p.name) is p and p.module.partition(".")[0] == "autodidax"
    return Subject(p.name, p.module, p.name if own else f"{p.module}:{p.name}", p)


def _unknown(message: str, name: str) -> errors.ArgumentError:
    close = difflib.get_close_matches(name.lower(), [p.name for p in registry], 3)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return errors.ArgumentError(message, mend=f"{hint}`python -m autodidax check --list` shows the names", where="")


# modules


def load_module(text: str) -> ModuleType:
    """Import the module of `package.module` or `package.module:name`."""
    name = text.partition(":")[0]
    if name.endswith(".py"):
        raise _is_file(text)
    if not all(part.isidentifier() for part in name.split(".")):
        raise _unknown(f"{text!r} is neither a primitive, a pattern nor a module", name)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as e:
        if e.name is not None and (name == e.name or name.startswith(e.name + ".")):
            raise _unknown(f"no primitive matches {text!r}, and there is no module {e.name}", name) from None
        raise _not_imported(name, e) from e
    except (Exception, SystemExit) as e:  # whatever the user's module raises
        raise _not_imported(name, e) from e


def _is_file(text: str) -> errors.ArgumentError:
    """What to write in the place of a file's name: its module, from the folder that its package is in."""
    name, colon, rest = text.partition(":")
    path = pathlib.Path(name).absolute()
    if not path.is_file():
        return errors.ArgumentError(f"there is no file {name!r}", mend="name a module, as in package.module", where="")
    folder, here = path.parent, pathlib.Path.cwd()
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        folder = folder.parent
    known = {here, *(pathlib.Path(p).absolute() for p in sys.path if p)}
    if folder == path.parent and folder not in known:  # a folder without __init__.py is a package in a known one
        folder = next((p for p in (folder, *folder.parents) if p in known), folder)
    module = ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
    start = "" if folder in known else f"cd {shlex.quote(str(folder))} && "
    return errors.ArgumentError(
        f"{text!r} is the name of a file",
        mend=f"name its module: {start}python -m autodidax check {module}{colon}{rest}",
        where="",
    )


def _not_imported(name: str, error: BaseException) -> errors.ArgumentError:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "importlib" not in f.filename]
    place = f" ({frames[-1].filename}:{frames[-1].lineno})" if len(frames) > 1 else ""
    return errors.ArgumentError(
        f"importing {name} raised {type(error).__name__}: {error}{place}", mend="see that it can be imported", where=""
    )


def chosen_of(module: ModuleType, pattern: str = "") -> list[Subject]:
    """What a module has to check, or that of it which matches a pattern: its own primitives, registered or not, its
    custom functions, and whatever its `check_samples` names."""
    declared = declared_samples(module)
    found: dict[int, Subject] = {}
    for name, value, is_own in _candidates(module, declared):
        if is_own if not pattern else _named(name, value, pattern):
            own_name = value.name if isinstance(value, Primitive) else name
            reference = f"{module.__name__}:{name}"
            found.setdefault(id(value), Subject(own_name, module.__name__, reference, value, declared.get(name)))
    if found:
        return list(found.values())
    if not pattern:
        raise errors.ArgumentError(
            f"{module.__name__} defines no primitive and no custom_jvp or custom_vjp function, and declares no samples",
            mend=f'write {DECLARATION} = {{"f": [(1.0,)]}} in it, with argument tuples of its function f',
            where="",
        )
    raise _nothing_named(module, pattern, declared)


def _named(name: str, value: Any, pattern: str) -> bool:
    own = value.name if isinstance(value, Primitive) else name
    return fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(own, pattern)


def _nothing_named(module: ModuleType, pattern: str, declared: dict[str, Any]) -> errors.ArgumentError:
    if callable(getattr(module, pattern, None)):
        return errors.ArgumentError(
            f"{module.__name__}:{pattern} is a function without a rule of its own and without samples",
            mend=f'write {DECLARATION} = {{"{pattern}": [(1.0,)]}} beside it, with its argument tuples',
            where="",
        )
    own: dict[int, str] = {}
    for name, value, is_own in _candidates(module, declared):
        if is_own:
            own.setdefault(id(value), name)
    names = list(own.values())
    there = ", ".join(names[:LISTED]) + (", ..." if len(names) > LISTED else "")
    return errors.ArgumentError(
        f"{module.__name__} has nothing to check that is named {pattern!r}",
        mend=f"it has {there}" if names else f"name functions in its {DECLARATION}",
        where="",
    )


def _candidates(module: ModuleType, declared: dict[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    """(name, value, whether it belongs to the module) of what can be checked: those imported from elsewhere are there
    for those who ask for them."""
    namespace = vars(module)
    for name, value in namespace.items():
        if _checkable(value) or name in declared:
            yield name, value, name in declared or _defined_in(module, value)
    for p in registry.in_module(module.__name__):
        yield p.name, p, True


def _checkable(value: Any) -> bool:
    return isinstance(value, Primitive | custom_jvp | custom_vjp)


def _defined_in(module: ModuleType, value: Any) -> bool:
    """Whether a module (or one below it) is where this value comes from.

    The module that a value names may be another one though it was made here: `pointwise` takes that of its first
    function, and wrapped functions that of what they wrap. So a value is foreign only where its module holds it.
    """
    home = value.module if isinstance(value, Primitive) else getattr(value, "__module__", None)
    if home is None or home == module.__name__ or home.startswith(module.__name__ + "."):
        return True
    other = sys.modules.get(home)
    return other is None or all(v is not value for v in vars(other).values())


def declared_samples(module: ModuleType) -> dict[str, Any]:
    """A module's `check_samples`, checked to name what is there."""
    declared = vars(module).get(DECLARATION, {})
    if not isinstance(declared, dict):
        raise errors.ArgumentError(
            f"{module.__name__}.{DECLARATION} must be a dict from names to samples, got {type(declared).__name__}",
            mend=f'write {DECLARATION} = {{"f": [(1.0,)]}}',
            where="",
        )
    for name in declared:
        if not callable(vars(module).get(name)):
            raise errors.ArgumentError(
                f"{module.__name__}.{DECLARATION} names {name!r}, which is no function or primitive of that module",
                mend="name module-level functions and primitives",
                where="",
            )
    return declared


def draw(declared: Any, rng: np.random.Generator) -> list[Sample]:
    """The samples of one entry of `check_samples`: argument tuples or Samples, in a list or from a function of `rng`.

    >>> draw([(1.0, 2.0)], np.random.default_rng(0))
    [(float64[], float64[])]
    """
    given: Any = declared(rng) if callable(declared) else declared
    if not isinstance(given, Iterable) or isinstance(given, str | dict):
        whose = "the function of samples returned" if callable(declared) else "the samples are"
        raise errors.ArgumentError(
            f"{whose} {given!r:.40}, no list of argument tuples",
            mend="write a list such as [(1.0, 2.0)], or a function of a random generator that returns or yields tuples",
            where="",
        )
    found = []
    for k, entry in enumerate(given):
        if not isinstance(entry, Sample | tuple):
            raise errors.ArgumentError(
                f"entry {k} of the samples is a {type(entry).__name__}, not a tuple of arguments",
                mend="write [(x,)] for a function of one argument",
                where="",
            )
        found.append(entry if isinstance(entry, Sample) else Sample(entry, {}))
    return found


def drawing(p: Primitive, declared: Any) -> Callable[[np.random.Generator], Iterator[Sample]]:
    """A primitive's own samples and the declared ones behind them."""
    own = p.samples

    def samples(rng: np.random.Generator) -> Iterator[Sample]:
        yield from own(rng)
        yield from draw(declared, rng)

    return samples


def signature_of(function: Any) -> str:
    """A function's parameters as text, where they can be told."""
    try:
        return str(inspect.signature(getattr(function, "fun", function)))
    except (TypeError, ValueError):
        return "(...)"
