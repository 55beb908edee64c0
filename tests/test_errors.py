"""Every exception: its text, its builtin bases, and the programs in its docstring."""

import ast
import contextlib
import copy
import functools
import importlib
import os
import pickle
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import autodidax
from autodidax import errors

CLASSES = [getattr(errors, name) for name in errors.__all__ if name != "user_frame"]
HERE = os.path.basename(__file__)

# What a NumPy user would catch.
BUILTINS = {
    "ArgumentError": (TypeError, ValueError),
    "CheckError": (AssertionError,),
    "ConcretizationTypeError": (TypeError,),
    "ConvergenceError": (RuntimeError,),
    "DtypeError": (TypeError,),
    "ExportError": (ValueError, TypeError),
    "JaxprError": (TypeError,),
    "MutationError": (TypeError, ValueError),
    "NanError": (FloatingPointError,),
    "NonConcreteBooleanIndexError": (IndexError,),
    "NondifferentiableError": (TypeError,),
    "NotLinearError": (TypeError,),
    "OutOfBoundsError": (IndexError,),
    "RegistryError": (ValueError,),
    "ShapeError": (ValueError, TypeError),
    "TracerArrayConversionError": (TypeError,),
    "TracerBoolConversionError": (errors.ConcretizationTypeError,),
    "TracerIntegerConversionError": (TypeError,),
    "TreeError": (ValueError, TypeError),
    "UnboundAxisError": (NameError,),
    "UnexpectedTracerError": (TypeError,),
    "UnsupportedError": (NotImplementedError, TypeError),
}


@pytest.fixture
def transforms(monkeypatch):
    """Sets what `errors.active_transforms` says."""
    return lambda *names: monkeypatch.setattr(errors, "active_transforms", lambda: list(names))


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_builtin_bases(cls):
    assert issubclass(cls, errors.AutodidaxError)
    if cls is not errors.AutodidaxError:
        assert issubclass(cls, BUILTINS[cls.__name__])


def test_every_class_is_listed():
    defined = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert {cls.__name__ for cls in CLASSES} == {
        name for name in defined if issubclass(getattr(errors, name), errors.AutodidaxError)
    }


def loss():
    return errors.ShapeError("multiply: shapes (3, 4) and (4, 3) do not broadcast", mend="add an axis")


def test_text_has_three_lines(transforms):
    transforms("vmap over axis 0 of size 8", "grad of loss")
    line = loss.__code__.co_firstlineno + 1
    assert str(loss()).splitlines() == [
        "multiply: shapes (3, 4) and (4, 3) do not broadcast",
        f"  in: loss ({HERE}:{line}), under vmap over axis 0 of size 8, under grad of loss",
        "  mend: add an axis",
    ]


def test_text_without_mend_and_without_place(transforms):
    transforms()
    assert str(errors.DtypeError("what", where="")) == "what"
    assert str(errors.DtypeError("what", where="f (a.py:1)")) == "what\n  in: f (a.py:1)"


def test_place_may_be_another_line(transforms):
    transforms("jit of f")
    error = errors.UnexpectedTracerError("leaked", where=("/some/where/fit.py", 12, "loss"))
    assert error.where == "loss (fit.py:12), under jit of f"


def function_in(filename):
    """A function that makes an error, as if its source were in that file."""
    namespace = {"__name__": "made_up"}
    exec(compile("def make(*_):\n    return DtypeError('what')", filename, "exec"), namespace)
    namespace["DtypeError"] = errors.DtypeError
    return namespace["make"]


in_package = function_in(os.path.join(os.path.dirname(errors.__file__), "made_up.py"))
in_generated_code = function_in("<autodidax jit f>")


def called_directly():
    return in_package()


def called_from_generated_code():
    return in_generated_code()


def called_by_numpy():
    return np.vectorize(in_package, otypes=[object])(np.ones(1))[0]


def called_by_contextlib():
    @contextlib.contextmanager
    def opened():
        yield in_package()

    with opened() as error:
        return error


def called_by_functools():
    return functools.singledispatch(in_package)(0)


@pytest.mark.parametrize(
    ("make", "function"),
    [
        (called_directly, "called_directly"),
        (called_from_generated_code, "called_from_generated_code"),
        (called_by_numpy, "called_by_numpy"),
        (called_by_functools, "called_by_functools"),
        (called_by_contextlib, "opened"),
        (lambda: in_package(), "<lambda>"),
    ],
    ids=["package", "generated code", "NumPy", "functools", "contextlib", "a lambda"],
)
def test_place_is_the_innermost_user_line(make, function):
    assert make().where.startswith(f"{function} ({HERE}:")


def test_local_function_is_named_without_its_surroundings():
    class Model:
        def loss(self):
            return errors.user_frame()

    filename, _, function = Model().loss()
    assert (os.path.basename(filename), function) == (HERE, "Model.loss")


def test_place_in_a_worker_thread():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(called_directly).result().where.startswith("called_directly")
        assert pool.submit(errors.user_frame).result() is None


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("duplicate", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy], ids=["pickle", "copy"])
def test_round_trip_keeps_the_text(cls, duplicate, transforms):
    transforms("grad of f")
    error = cls("what", mend="that")
    transforms()
    again = duplicate(error)
    assert type(again) is cls
    assert str(again) == str(error)
    assert "under grad of f" in str(again)


def test_check_error_carries_its_report():
    error = errors.CheckError("sin: wrong", report={"rule": "jvp"})
    assert pickle.loads(pickle.dumps(error)).report == {"rule": "jvp"}
    assert errors.CheckError("sin: wrong").report is None


def test_importing_errors_loads_sys_and_os_only():
    code = """
        import collections.abc, os, sys, types, typing
        sys.modules["autodidax"] = types.ModuleType("autodidax")
        before = set(sys.modules)
        sys.path_hooks, path = sys.path_hooks, sys.argv[1]
        exec(compile(open(path).read(), path, "exec"), {"__name__": "autodidax.errors", "__file__": path})
        print(sorted(set(sys.modules) - before))
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), errors.__file__],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "[]"


# The programs in the docstrings.


def programs(cls):
    """The statements under *Fails* and *Repair*, or None for a class that shows no program."""
    doc = textwrap.dedent(" " * 4 + (cls.__doc__ or ""))
    if "Fails::" not in doc:
        return None
    failing, _, repair = doc.partition("Fails::")[2].partition("Repair::")
    return [ast.parse(textwrap.dedent(part)).body for part in (failing, repair)]


WITHOUT_PROGRAM = {errors.AutodidaxError, errors.JaxprError}
SHOWN = [cls for cls in CLASSES if cls not in WITHOUT_PROGRAM]


def test_every_class_shows_a_program():
    assert {cls for cls in CLASSES if programs(cls) is None} == WITHOUT_PROGRAM


def run_statements(statements, namespace):
    exec(compile(ast.Module(statements, []), "<docstring>", "exec"), namespace)


@pytest.fixture
def clean_registry():
    """Takes out of the registry again what a program puts in."""
    before = set(autodidax.registry)
    yield
    for primitive in set(autodidax.registry) - before:
        autodidax.registry.remove(primitive)


@pytest.mark.skipif(not hasattr(autodidax, "jit"), reason="the transforms are not there")
@pytest.mark.parametrize("cls", SHOWN, ids=lambda cls: cls.__name__)
def test_program_in_the_docstring(cls, clean_registry):
    failing, repair = programs(cls)
    public = {name: getattr(autodidax, name) for name in autodidax.__all__}
    namespace = {**public, "np": np, "anp": importlib.import_module("autodidax.numpy"), "__name__": "user"}
    run_statements(failing[:-1], namespace)
    with pytest.raises(cls) as caught:
        run_statements(failing[-1:], namespace)
    assert type(caught.value) is cls
    assert caught.value.mend, "the error has no mend"
    assert "(<docstring>:" in str(caught.value)
    run_statements(repair, namespace)
