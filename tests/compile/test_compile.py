"""The emitted NumPy program: its text, its constants, and the values it frees."""

import numpy as np
import pytest

from autodidax import errors, jit, make_jaxpr
from autodidax.compile.program import backends, compiled

X = np.array([1.0, 2.0, 3.0])


def source_of(f, *args):
    return jit(f).lower(*args).compile().source()


def test_text():
    text = source_of(lambda x: np.sin(x) * 2.0 + x, X)
    assert compile(text, "emitted", "exec")
    assert "sin(" in text and "* 2.0" in text


def test_values_are_freed_after_their_last_use():
    text = source_of(lambda x: np.cos(np.sin(np.exp(x))), X)
    assert "del" in text or text.count("out=") >= 1


VALUES = [-1.0, 2, -3, True, 1e300, np.inf, -np.inf, np.nan, np.float32(0.1), 2j, np.int8(3)]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_literals(value):
    f = lambda x: x * value
    want = f(X)
    got = jit(f)(X)
    np.testing.assert_array_equal(got, want)
    assert got.dtype == want.dtype


def test_constants_arguments_and_repeated_outputs():
    f = lambda x, y: (X, x, x, 3.0, y * X)
    for got, want in zip(jit(f)(X, 2.0), f(X, 2.0), strict=True):
        np.testing.assert_array_equal(got, want)
        assert np.asarray(got).dtype == np.asarray(want).dtype


def test_keywords_as_names():
    # primitives and parameters whose names are Python keywords, or clash with the program's own names
    np.testing.assert_array_equal(jit(lambda v1_, k0_: v1_ @ k0_)(np.eye(3), X), X)


def test_no_equations_and_no_outputs():
    assert jit(lambda: None)() is None
    assert jit(lambda x: ())(1.0) == ()
    assert jit(lambda: 2.0)() == 2.0


def test_compiled_once():
    program = make_jaxpr(lambda x: x * 2.0)(1.0)
    assert compiled(program) is compiled(program)


def test_unknown_backend():
    assert "numpy" in backends
    with pytest.raises(errors.ArgumentError, match="no backend named 'xla'"):
        jit(lambda x: x, backend="xla")(1.0)
