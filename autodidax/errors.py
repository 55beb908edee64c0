"""Every exception that the package raises, each with a failing program and its repair.

An error says three things: what happened, where (the user's line and the active transforms), and one mend::

    ShapeError: multiply: shapes (3, 4) and (4, 3) do not broadcast: axis -1 has 4 and 3
      in: loss (fit.py:12), under vmap over axis 0 of size 8
      mend: transpose one operand, or add an axis of size 1

Classes are named as in ``jax.errors`` where JAX has the case, and each also inherits the builtin that a
NumPy user would catch. The programs in the docstrings are run as tests: the last statement under *Fails*
raises the class, those under *Repair* then run.
"""

import os
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

__all__ = [
    "ArgumentError",
    "AutodidaxError",
    "CheckError",
    "ConcretizationTypeError",
    "ConvergenceError",
    "DtypeError",
    "ExportError",
    "JaxprError",
    "MutationError",
    "NanError",
    "NonConcreteBooleanIndexError",
    "NondifferentiableError",
    "NotLinearError",
    "OutOfBoundsError",
    "RegistryError",
    "ShapeError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "TreeError",
    "UnboundAxisError",
    "UnexpectedTracerError",
    "UnsupportedError",
    "user_frame",
]

# Source files of generated functions are named "<autodidax ...>": they are the package's own code too.
_OWN_FILES = (os.path.dirname(os.path.abspath(__file__)) + os.sep, "<autodidax", "<frozen ")
_PASSED_OVER = frozenset(
    {"numpy", "scipy", "functools", "contextlib", "concurrent", "threading", "runpy", "statistics", "fractions", "json"}
)


def _no_transforms() -> list[str]:
    return []


def _no_scopes() -> tuple[str, ...]:
    return ()


active_transforms: Callable[[], list[str]] = _no_transforms
"""Describes the open transforms, innermost first, for the ``in:`` line; ``core`` puts its own here."""


def _no_place() -> tuple[str, int, str] | None:
    return None


evaluators: set[CodeType] = set()
"""The code of the functions that go through an operation of the user's after another, long after they were written."""
evaluated_place: Callable[[], tuple[str, int, str] | None] = _no_place
"""The user's line that the innermost of them is at; ``core`` puts its own here."""
active_scopes: Callable[[], tuple[str, ...]] = _no_scopes
"""The names of the open scopes, outermost first, for the ``in:`` line; ``core`` puts its own here."""


def _no_call(frame: FrameType | None, *, any_function: bool = False) -> str | None:
    return None


called_function: Callable[..., str | None] = _no_call
"""The function of NumPy (or its twin) that a frame of user code is calling, the present one for None; with
`any_function` others too; ``numpy`` puts its own here."""


def _no_operands() -> tuple[str, str] | None:
    return None


operands_in_use: Callable[[], tuple[str, str] | None] = _no_operands
"""The texts of the operands of the operation that user code is evaluating; ``numpy`` puts its own here."""


def counted(n: int, noun: str) -> str:
    """A number with its noun, in the plural where it is not one: "1 axis", "2 axes"."""
    return f"{n} {noun if n == 1 else 'axes' if noun == 'axis' else noun + 's'}"


def is_own_file(filename: str) -> bool:
    """Whether a source file is the package's own, or the text of a function that it generated."""
    return filename.startswith(_OWN_FILES)


def short_name(code: CodeType) -> str:
    """The name of a function as its reader calls it: "test_fit.<locals>.loss" is "loss", "Model.loss" stays."""
    return code.co_qualname.rpartition("<locals>.")[2]


def is_user_code(frame: FrameType) -> bool:
    """Whether a frame runs code outside of the package, NumPy, SciPy and the wrappers of the standard library."""
    if frame.f_code.co_filename.startswith(_OWN_FILES):
        return False
    module: str = frame.f_globals.get("__name__") or ""
    # The doctests of a module run under its __name__, yet they are user code.
    return module.partition(".")[0] not in _PASSED_OVER or frame.f_code.co_filename.startswith("<doctest")


def user_frame() -> tuple[str, int, str] | None:
    """The innermost line of user code on the stack: (file name, line number, function name), or None.

    User code is what lies outside the package's own folder, NumPy, SciPy and the standard library's wrappers
    (``functools``, ``contextlib``, thread pools). The file name is the full one; messages shorten it.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_user_code(frame):
            return frame.f_code.co_filename, frame.f_lineno, short_name(frame.f_code)
        frame = frame.f_back
    return None


def user_frame_of(error: BaseException) -> tuple[str, int, str] | None:
    """The innermost line of user code that an exception passed, as `user_frame` gives it, with the named scopes that
    the exception left."""
    found = None
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if is_user_code(frame):
            found = frame.f_code.co_filename, traceback.tb_lineno, short_name(frame.f_code)
        traceback = traceback.tb_next
    scopes = getattr(error, "scopes_left", ())
    return (*found[:2], "/".join((found[2], *scopes))) if found is not None and scopes else found


def called_by(error: BaseException, *, any_function: bool = False) -> str:
    """The beginning of a message: the function of NumPy that the innermost line of user code was calling, if any."""
    frame, traceback = None, error.__traceback__
    while traceback is not None:
        if is_user_code(traceback.tb_frame):
            frame = traceback.tb_frame
        traceback = traceback.tb_next
    called = None if frame is None else called_function(frame, any_function=any_function)
    return "" if called is None else f"{called}: "


def own_function_of(error: BaseException) -> str | None:
    """The name of the function of `autodidax.numpy` that raised an exception for user code, None if there is none."""
    found = None
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_user_code(traceback.tb_frame):
            found = None
        elif found is None and traceback.tb_frame.f_globals.get("__name__", "").startswith("autodidax.numpy."):
            name = code.co_name.lstrip("_")
            if name not in ("function", "array_function"):  # those choose only: the traced one comes behind them
                found = name
        traceback = traceback.tb_next
    return found


def _here() -> tuple[str, int, str] | None:
    """The present line of user code, with the named scopes around it: that of the equation where a staged program is
    being evaluated, or walked backward."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_user_code(frame):
        if frame.f_code in evaluators and (place := evaluated_place()) is not None:
            return place
        frame = frame.f_back
    where = user_frame()
    scopes = active_scopes()
    return (*where[:2], "/".join((where[2], *scopes))) if where is not None and scopes else where


def _location(where: tuple[str, int, str] | None) -> str:
    parts = []
    if where is not None:
        filename, line, function = where
        parts.append(f"{function} ({os.path.basename(filename)}:{line})")
    parts.extend(f"under {transform}" for transform in active_transforms())
    return ", ".join(parts)


class AutodidaxError(Exception):
    """Base class of every exception that the package raises.

    ``where`` is the text of the ``in:`` line; by default it is found when the error is made. A triple (file
    name, line number, function name), as `user_frame` returns it, names another line than the present one.
    An empty string leaves the line out. ``mend`` is one thing to do about it. Where user code is calling a function of
    NumPy that the message does not name, the name is put before it.
    """

    def __init__(
        self,
        message: str,
        *,
        mend: str | None = None,
        where: str | tuple[str, int, str] | None = None,
    ) -> None:
        called = called_function(None) if where is None else None
        if called is not None and called.rpartition(".")[2] not in message:
            message = f"{called}: {message.removeprefix('matmul: ')}"
        super().__init__(message)
        self.message = message
        self.called = called
        self.mend = mend
        self.where = where if isinstance(where, str) else _location(_here() if where is None else where)

    def __str__(self) -> str:
        lines = [str(self.message)]
        if self.where:
            lines.append(f"  in: {self.where}")
        if self.mend:
            lines.append(f"  mend: {self.mend}")
        return "\n".join(lines)


class ShapeError(AutodidaxError, ValueError, TypeError):
    """Shapes or sizes that do not fit together.

    Fails::

        x, y = np.ones((3, 4)), np.ones((4, 3))
        grad(lambda x: np.sum(x * y))(x)

    Repair::

        grad(lambda x: np.sum(x * y.T))(x)
    """


class DtypeError(AutodidaxError, TypeError):
    """A dtype that the operation or the transform does not take.

    Fails::

        x = np.arange(3)
        grad(lambda x: np.sum(x**2))(x)

    Repair::

        grad(lambda x: np.sum(x**2))(x.astype(float))
    """


class ConcretizationTypeError(AutodidaxError, TypeError):
    """A plain value is needed where only a traced one exists.

    Fails::

        import math
        jit(lambda x: math.floor(x) * x)(2.5)

    Repair::

        jit(lambda x: np.floor(x) * x)(2.5)
    """


class TracerArrayConversionError(AutodidaxError, TypeError):
    """A traced value was to become a plain NumPy array, which would lose its derivative.

    Fails::

        x = np.ones(3)
        grad(lambda x: np.sum(np.asarray(x) ** 2))(x)

    Repair::

        grad(lambda x: np.sum(anp.asarray(x) ** 2))(x)
    """


class TracerBoolConversionError(ConcretizationTypeError):
    """``if``, ``while``, ``and``, ``or`` or ``not`` on a value that is not known while tracing.

    Fails::

        relu = lambda x: x if x > 0 else 0.0
        jit(relu)(2.0)

    Repair::

        relu = lambda x: np.where(x > 0, x, 0.0)
        jit(relu)(2.0)
    """


class TracerIntegerConversionError(AutodidaxError, TypeError):
    """A traced value was used as a Python integer: an index of a list, a ``range``, a size.

    Fails::

        power = lambda x, n: sum(x for _ in range(n))
        jit(power)(2.0, 3)

    Repair::

        jit(power, static_argnums=1)(2.0, 3)
    """


class NonConcreteBooleanIndexError(AutodidaxError, IndexError):
    """A traced boolean mask as an index: the shape of the result would depend on values.

    Fails::

        x = np.array([1.0, -2.0, 3.0])
        jit(lambda x: np.sum(x[x > 0]))(x)

    Repair::

        jit(lambda x: np.sum(np.where(x > 0, x, 0.0)))(x)
    """


class UnexpectedTracerError(AutodidaxError, TypeError):
    """A traced value was used after its transform had ended: it leaked out of the function.

    Fails::

        kept = []
        grad(lambda x: [kept.append(x), x * x][1])(3.0)
        kept[0] + 1.0

    Repair::

        gradient, kept = grad(lambda x: (x * x, x), has_aux=True)(3.0)
        kept + 1.0
    """


class TreeError(AutodidaxError, ValueError, TypeError):
    """Pytrees whose structures do not match.

    Fails::

        f = lambda p: p["a"] * p["b"]
        jvp(f, ({"a": 2.0, "b": 3.0},), ({"a": 1.0},))

    Repair::

        jvp(f, ({"a": 2.0, "b": 3.0},), ({"a": 1.0, "b": 0.0},))
    """


class OutOfBoundsError(AutodidaxError, IndexError):
    """An index outside the array.

    Fails::

        x = np.ones(3)
        grad(lambda x: x[3])(x)

    Repair::

        grad(lambda x: anp.at(x)[3].get(mode="fill", fill_value=0.0))(x)
    """


class NondifferentiableError(AutodidaxError, TypeError):
    """A derivative through a primitive that has none, by decision; the message gives the reason.

    Fails::

        from autodidax import pointwise
        ulp = pointwise("ulp", np.spacing, nondifferentiable="it measures the number format")
        grad(lambda x: x * ulp(x))(1.0)

    Repair::

        grad(lambda x: x * ulp(stop_gradient(x)))(1.0)
    """


class NotLinearError(AutodidaxError, TypeError):
    """A function that must be linear is not.

    Fails::

        x = np.ones(3)
        linear_transpose(lambda x: np.sin(x), x)(x)

    Repair::

        linear_transpose(lambda x: 2.0 * x, x)(x)
    """


class ArgumentError(AutodidaxError, TypeError, ValueError):
    """An argument of a transform that makes no sense: argnums, axes, static arguments, options.

    Fails::

        f = lambda x, y: x * y
        grad(f, argnums=2)(1.0, 2.0)

    Repair::

        grad(f, argnums=1)(1.0, 2.0)
    """


class JaxprError(AutodidaxError, TypeError):
    """A jaxpr that breaks the rules of the intermediate representation.

    It means that a rule (an abstract evaluation, say) is wrong, and not the program that was traced: the
    message names the equation and the primitive. ``python -m autodidax check`` shows the sample at fault.
    """


class ExportError(AutodidaxError, ValueError, TypeError):
    """A program that cannot be stored, or bytes from which none can be loaded.

    Fails::

        from autodidax.export import export
        square = lambda x: pure_callback(np.square, ShapeDtypeStruct(x.shape, x.dtype), x)
        export(jit(square))(np.ones(3)).serialize()

    Repair::

        square = lambda x: x * x
        export(jit(square))(np.ones(3)).serialize()
    """


class RegistryError(AutodidaxError, ValueError):
    """A primitive that is registered twice, is unknown, or lacks a rule.

    Fails::

        from autodidax import pointwise
        pointwise("sin", np.sin, lambda y, x: np.cos(x))

    Repair::

        pointwise("my_sin", np.sin, lambda y, x: np.cos(x))
    """


class MutationError(AutodidaxError, TypeError, ValueError):
    """A write into a traced value, or of a traced value into a plain array.

    Fails::

        def f(x):
            x[0] = 0.0
            return np.sum(x**2)
        grad(f)(np.ones(3))

    Repair::

        def f(x):
            x = anp.at(x)[0].set(0.0)
            return np.sum(x**2)
        grad(f)(np.ones(3))
    """


class UnboundAxisError(AutodidaxError, NameError):
    """A collective names an axis that no surrounding ``vmap`` has.

    Fails::

        from autodidax import lax
        vmap(lambda x: x - lax.pmean(x, "rows"))(np.arange(3.0))

    Repair::

        vmap(lambda x: x - lax.pmean(x, "rows"), axis_name="rows")(np.arange(3.0))
    """


class UnsupportedError(AutodidaxError, NotImplementedError, TypeError):
    """A function or keyword of NumPy or SciPy that traced values do not support.

    Fails::

        x = np.ones(3)
        grad(lambda x: np.sum(x) if np.shares_memory(x, x) else 0.0)(x)

    Repair::

        grad(lambda x: np.sum(x))(x)
    """


class ConvergenceError(AutodidaxError, RuntimeError):
    """An iteration that came to no end: a fixed point, or the steps of a differential equation.

    Fails::

        from autodidax import lax
        lax.fixed_point(lambda x: 3.0 - 2.0 * x, 0.0)

    Repair::

        lax.fixed_point(lambda x: 0.5 * (x + (3.0 - 2.0 * x)), 0.0)
    """


class NanError(AutodidaxError, FloatingPointError):
    """Under `debug_nans`: an operation made a nan of operands without one (or an inf, under `debug_infs`).

    ``primitive`` is its name, ``stage`` is "forward", "tangent" or "backward".

    Fails::

        from autodidax import debug_nans
        with debug_nans(True):
            grad(lambda x: np.sqrt(x) * 0.0)(0.0)

    Repair::

        with debug_nans(True):
            grad(lambda x: np.sqrt(np.where(x > 0, x, 1.0)) * 0.0)(0.0)
    """

    def __init__(
        self,
        message: str,
        *,
        primitive: str = "",
        stage: str = "forward",
        mend: str | None = None,
        where: str | tuple[str, int, str] | None = None,
    ) -> None:
        super().__init__(message, mend=mend, where=where)
        self.primitive = primitive
        self.stage = stage


class CheckError(AutodidaxError, AssertionError):
    """A derivative, batching or staging rule that disagrees with what it is checked against.

    ``report`` holds the checker's findings: which rule, at which arguments, expected and found.

    Fails::

        from autodidax.test_util import check_grads
        f = custom_jvp(lambda x: x**2)
        f.defjvp(lambda primals, tangents: (f(*primals), 3.0 * primals[0] * tangents[0]))
        check_grads(f, (2.0,), order=1)

    Repair::

        f.defjvp(lambda primals, tangents: (f(*primals), 2.0 * primals[0] * tangents[0]))
        check_grads(f, (2.0,), order=1)
    """

    def __init__(
        self,
        message: str,
        *,
        report: Any = None,
        mend: str | None = None,
        where: str | tuple[str, int, str] | None = None,
    ) -> None:
        super().__init__(message, mend=mend, where=where)
        self.report = report
