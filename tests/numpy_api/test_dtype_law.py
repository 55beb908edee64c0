"""Every call of the table of functions in every dtype: jit(f)(x) and the primal of jvp are f(x), dtype and all."""

import warnings

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import tree
from tests.numpy_api.agreement import Case
from tests.numpy_api.test_functions import CASES

DTYPES = ("float16", "float32", "complex64", "complex128", "int8", "int32", "uint8", "bool")
SCALARS = {"float": 0.3, "int": 2, "complex": 0.3 + 0.2j, "np.float32": np.float32(0.3), "np.int8": np.int8(2)}
half, single = np.array([0.5, -1.25, 2.0], np.float16), np.array([0.3, -0.7, 1.2], np.float32)
small, flags = np.array([100, 100, 3], np.int8), np.array([True, False, True])

KEYWORDS = [
    Case("mean", single, where=flags, dtype=np.float64), Case("mean", v := single.astype(float), dtype=np.float32),
    Case("mean", v, where=flags, dtype=np.float32), Case("mean", v, dtype=np.int64), Case("mean", half, dtype=bool),
    Case("var", v, dtype=np.float32, mean=np.float64(0.3)), Case("var", half, mean=np.float64(0.3)),
    Case("var", v, dtype=np.int64), Case("std", v, dtype=np.int64), Case("nanvar", single, mean=np.float64(0.3)),
    Case("sum", v, dtype=np.int8), Case("sum", v, dtype=bool), Case("prod", v, dtype=bool),
    Case("cumsum", v, dtype=bool),
    Case("sum", 1.5, axis=0), Case("max", 1.5, axis=-1), Case("argmax", 1.5, axis=0), Case("squeeze", 1.5, axis=0),
    Case("max", small, initial=0.5, wrt=(0,)), Case("linspace", 0, single[0], 3), Case("linspace", 0.5, half, 3),
    Case("linspace", 0.4, 7.3, 5, dtype=int), Case("linspace", -7.3, 7.3, 5, dtype=int),
    Case("polyval", single, flags), Case("polyval", half, flags), Case("polyval", small, flags),
    Case("polyval", single, 2), Case("vecdot", small, small), Case("vecdot", flags, flags), Case("conj", flags),
    Case("median", flags[:2]), Case("median", small), Case("quantile", single, 0.3), Case("quantile", single, [0.3]),
    Case("quantile", single, np.float64(0.3)), Case("diff", single, n=0, prepend=0.0), Case("dot", 2.0, single),
    Case("inner", single, 2), Case("average", flags, weights=single), Case("average", single, weights=flags),
    Case("full", (3,), single[None]), Case("resize", single[:0], (2, 2)), Case("gradient", single, np.float64(0.5)),
    Case("isnan", single, dtype=bool), Case("greater", single, small, dtype=bool), Case("absolute", True),
    Case("cumulative_sum", 1.5), Case("repeat", 1.5, 2, axis=0, wrt=(0,)), Case("trapezoid", v, flags),
]  # fmt: skip


def in_dtype(x, dtype):
    """The floating arrays of an argument in another dtype; numbers stay."""
    if isinstance(x, list | tuple):
        return type(x)(in_dtype(item, dtype) for item in x)
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fc":
        return x
    real = x.real
    if dtype == "bool":
        return real > 0.5
    if np.dtype(dtype).kind in "iu":
        return np.round(7 * np.abs(np.nan_to_num(real))).astype(dtype)
    return (x + 0.25j if dtype.startswith("c") else real).astype(dtype)


def check_law(case, args, positions):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            want = case.call(np, args)
        except (TypeError, ValueError, OverflowError):
            return  # NumPy has no such function of this dtype

        def f(*values):
            full = list(args)
            for k, value in zip(positions, values, strict=True):
                full[k] = value
            return case.call(anp, full)

        chosen = tuple(args[k] for k in positions)
        expect(autodidax.jit(f)(*chosen), want)
        if all(np.asarray(x).dtype.kind in "fc" for x in tree.leaves(chosen)):
            zeros = tree.map(lambda x: 0.0 * x if type(x) in (float, complex) else np.zeros_like(x)[()], chosen)
            expect(autodidax.jvp(f, chosen, zeros)[0], want)


def expect(got, want):
    got, want = tree.leaves(got), tree.leaves(want)
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert np.asarray(g).dtype == np.asarray(w).dtype
        assert np.shape(g) == np.shape(w)
        loose = {"float16": 3e-3, "float32": 1e-4, "complex64": 1e-4}.get(str(np.asarray(w).dtype), 1e-9)
        np.testing.assert_allclose(g, w, rtol=loose, atol=loose)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", [c for c in CASES if c.wrt and "partition" not in c.name], ids=repr)
def test_arrays_of_every_dtype(case, dtype):
    args = tuple(in_dtype(x, dtype) if k in case.wrt else x for k, x in enumerate(case.args))
    check_law(case, args, case.wrt)


@pytest.mark.parametrize("kind", SCALARS)
@pytest.mark.parametrize("name", ["add", "dot", "inner", "linspace", "geomspace", "polyval", "where", "clip", "hypot"])
def test_numbers_beside_single_precision(name, kind):
    number = SCALARS[kind]
    args = {
        "linspace": (number, single, 3), "geomspace": (number, np.abs(single), 3), "where": (flags, number, single),
        "clip": (single, number, 3.0), "polyval": (single, number),
    }.get(name, (number, single))  # fmt: skip
    positions = tuple(k for k, x in enumerate(args) if x is number or x is single)
    check_law(Case(name, *args), args, positions)


@pytest.mark.parametrize("case", KEYWORDS, ids=repr)
def test_keywords_about_dtype(case):
    positions = tuple(k for k, x in enumerate(case.args[:2]) if isinstance(x, float | np.ndarray | np.generic))
    if case.name == "quantile":
        positions = (0,)
    check_law(case, case.args, positions)
