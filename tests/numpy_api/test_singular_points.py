"""The tables in notes/singular_points.md hold: in both modes and their combinations, under jit and vmap, in both
precisions."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
import autodidax.scipy.special as special
from autodidax import jacfwd, jacrev, jit, vmap

NOTE = Path(__file__).parents[2] / "notes" / "singular_points.md"
NUMBERS = {"inf": np.inf, "nan": np.nan, "pi": np.pi}
COLUMNS = ("point", "value", "first", "second")
ROW = re.compile(r"\| `(?P<function>[^`]+)` \|" + "".join(rf" (?P<{name}>[^|]+) \|" for name in COLUMNS))
ROWS = [m.groupdict() for m in map(ROW.fullmatch, NOTE.read_text("utf-8").splitlines()) if m]


def number(text, dtype):
    return np.asarray(eval(text, NUMBERS), dtype)[()]


def function_of(row):
    return eval(f"lambda x: {row['function']}", {"np": anp, "special": special})


def in_all_ways(derivatives, f, x):
    """A derivative computed eagerly, staged, and mapped over a batch of two equal points."""
    for name, derivative in derivatives.items():
        yield name, derivative(f)(x)
        yield f"jit({name})", jit(derivative(f))(x)
        for mapped in vmap(derivative(f))(np.stack([x, x])):
            yield f"vmap({name})", mapped


FIRST = {
    "jacfwd": jacfwd, "jacrev": jacrev,
    "jacfwd of jit": lambda f: jacfwd(jit(f)), "jacrev of jit": lambda f: jacrev(jit(f)),
}  # fmt: skip
SECOND = {
    f"{outer.__name__}({inner.__name__})": lambda f, outer=outer, inner=inner: outer(inner(f))
    for outer in (jacfwd, jacrev)
    for inner in (jacfwd, jacrev)
} | {
    f"{outer.__name__}({inner.__name__}) of jit": lambda f, outer=outer, inner=inner: outer(inner(jit(f)))
    for outer in (jacfwd, jacrev)
    for inner in (jacfwd, jacrev)
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=lambda d: d.__name__)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['function']} at {row['point']}")
def test_row(row, dtype):
    f, x = function_of(row), number(row["point"], dtype)
    rtol = 1e-5 if dtype == np.float32 else 1e-9
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        value = autodidax.jvp(f, (x,), (np.ones_like(x),))[0]
        np.testing.assert_allclose(value, number(row["value"], float), rtol, rtol, err_msg="value")
        for order, derivatives in (("first", FIRST), ("second", SECOND)):
            want = number(row[order], float)
            for name, got in in_all_ways(derivatives, f, x):
                np.testing.assert_allclose(got, want, rtol, rtol, err_msg=name)
                if np.result_type(value) == dtype:
                    assert np.result_type(got) == dtype


def test_every_row_is_read():
    text = NOTE.read_text("utf-8")
    assert len(ROWS) == sum(line.startswith("| `") for line in text.splitlines()) > 90


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128], ids=lambda d: d.__name__)
@pytest.mark.parametrize("n", range(5))
def test_powers_of_zero_to_whole_exponents(n, dtype):
    """Base and exponent both traced: the formulas with log(0) = 0, and nothing where an exponent is 0."""
    x, y = dtype(0), dtype(n)
    first = [float(n == 1), 0.0]
    second = [[2.0 * (n == 2), float(n == 1)], [float(n == 1), 0.0]]
    holomorphic = dict(holomorphic=dtype is np.complex128)
    for f in (np.power, jit(np.power), lambda x, y: vmap(np.power)(x[None], y[None])[0]):
        for inner in (jacfwd, jacrev):
            gradient = inner(f, argnums=(0, 1), **holomorphic)
            np.testing.assert_array_equal(gradient(x, y), first)
            for outer in (jacfwd, jacrev):
                np.testing.assert_array_equal(outer(gradient, argnums=(0, 1), **holomorphic)(x, y), second)
