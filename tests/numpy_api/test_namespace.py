"""What autodidax.numpy has beside NumPy's arithmetic: names that stand for themselves, results of a given size, copies
in the place of writes, positions, and functions of functions."""

import math
import subprocess
import sys
import warnings

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import errors, tree
from autodidax.numpy import plain
from autodidax.testing import check_grads
from tests.numpy_api.agreement import assert_same

rng = np.random.default_rng(11)
x6 = np.array([3.0, 1.0, 3.0, 2.0, 7.0, 1.0])
m43 = np.array([[3.0, 1.0], [3.0, 2.0], [3.0, 1.0], [0.0, 5.0]])
v3, m23, m33 = rng.normal(size=3), rng.normal(size=(2, 3)), rng.normal(size=(3, 3))
holes = np.array([3.0, np.nan, 3.0, np.nan])


# Names that stand for themselves


def test_every_public_name_of_numpy_is_there():
    assert [name for name in dir(np) if not name.startswith("_") and not hasattr(anp, name)] == []
    assert [name for name in dir(np) if not name.startswith("_") and name not in dir(anp)] == []


def test_modules_are_numpys_and_load_on_first_use():
    assert all(getattr(anp, name) is getattr(np, name) for name in plain.MODULES)
    assert anp.dtypes.Float64DType is np.dtypes.Float64DType
    program = "import sys, autodidax.numpy as anp; assert 'numpy.f2py' not in sys.modules; anp.f2py; anp.testing"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_star_import_takes_functions_and_no_modules():
    names = {}
    exec("from autodidax.numpy import *", names)
    assert names["genfromtxt"] is np.genfromtxt
    assert names["unique"] is anp.unique
    assert "f2py" not in names


def test_poly1d_takes_traced_coefficients():
    def f(c, x):
        p = np.poly1d(c)
        return (p * p).deriv()(x) + p(x)

    check_grads(f, (v3, 0.7), order=2, points="given")
    with pytest.raises(errors.UnsupportedError, match="polyval"):
        autodidax.grad(f)(np.array([0.0, 1.0, 2.0]), 0.7)


# Results of a given size

SIZED = {
    "unique": lambda a, **k: anp.unique(a, **k),
    "unique, everything": lambda a, **k: anp.unique(a, return_index=True, return_inverse=True, return_counts=True, **k),
    "unique_all": lambda a, **k: tuple(anp.unique_all(a, **k)),
    "union1d": lambda a, **k: anp.union1d(a, a[:2] + 1.0, **k),
    "intersect1d": lambda a, **k: anp.intersect1d(a, a[1:4], **k),
    "setdiff1d": lambda a, **k: anp.setdiff1d(a, a[:1], **k),
    "setxor1d": lambda a, **k: anp.setxor1d(a, a[:1], **k),
    "nonzero": lambda a, **k: anp.nonzero(a > 2, **k),
    "flatnonzero": lambda a, **k: anp.flatnonzero(a > 2, **k),
    "where": lambda a, **k: anp.where(a > 2, **k),
    "argwhere": lambda a, **k: anp.argwhere(a > 2, **k),
    "compress": lambda a, **k: anp.compress(a > 2, a, **k),
    "extract": lambda a, **k: anp.extract(a > 2, a, **k),
}


def resized(whole, size, fill):
    """The first entries of a result, with a filling behind them where there are too few."""
    missing = size - len(whole)
    if missing <= 0:
        return whole[:size]
    return np.concatenate([whole, np.full((missing, *whole.shape[1:]), fill, whole.dtype)])


@pytest.mark.parametrize("size", [0, 1, 2, 9])
@pytest.mark.parametrize("name", [name for name in SIZED if not name.startswith("unique")] + ["unique"])
def test_a_size_cuts_off_or_fills(name, size):
    want = tree.map(lambda whole: resized(whole, size, 4), SIZED[name](x6))
    got = SIZED[name](x6, size=size, fill_value=4)
    assert_same(got, want)
    assert_same(autodidax.jit(lambda a: SIZED[name](a, size=size, fill_value=4))(x6), want)
    rows = np.stack([x6, x6[::-1] + 1.0])
    each = [SIZED[name](row, size=size, fill_value=4) for row in rows]
    mapped = autodidax.vmap(lambda a: SIZED[name](a, size=size, fill_value=4))(rows)
    assert_same(mapped, tree.map(lambda *ys: np.stack(ys), *each))


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("extra", [0, 2])
def test_parts_of_unique(axis, extra):
    keywords = dict(return_index=True, return_inverse=True, return_counts=True, axis=axis)
    want = np.unique(m43, **keywords)
    k = 0 if axis is None else axis
    size = want[0].shape[k] + extra
    got = autodidax.jit(lambda a: anp.unique(a, size=size, **keywords))(m43)
    first = np.take(want[0], [0] * extra, k)
    filled = (
        np.concatenate([want[0], first], k), np.concatenate([want[1], [want[1][0]] * extra]).astype(int), want[2],
        np.concatenate([want[3], [0] * extra]).astype(int),
    )  # fmt: skip
    assert_same(got, filled)


@pytest.mark.parametrize("equal_nan", [True, False])
def test_nan_is_one_entry_or_many(equal_nan):
    want = np.unique(holes, equal_nan=equal_nan)
    assert_same(autodidax.jit(lambda a: anp.unique(a, size=len(want), equal_nan=equal_nan))(holes), want)


def test_positions_of_an_intersection():
    keywords = dict(return_indices=True, assume_unique=True)
    one, two = np.array([5.0, 3.0, 7.0]), np.array([7.0, 1.0, 3.0, 2.0])
    want = np.intersect1d(one, two, **keywords)
    assert_same(autodidax.jit(lambda a, b: anp.intersect1d(a, b, size=2, **keywords))(one, two), want)
    values, one, two = anp.intersect1d(x6, x6[:2], return_indices=True, size=4)
    np.testing.assert_array_equal(values, [1.0, 3.0, 1.0, 1.0])
    np.testing.assert_array_equal(one, [1, 0, 6, 6])
    np.testing.assert_array_equal(two, [1, 0, 2, 2])


def test_one_filling_an_axis():
    got = anp.nonzero(np.array([[0, 1], [2, 0]]), size=3, fill_value=(7, 8))
    assert_same(got, (np.array([0, 1, 7]), np.array([1, 0, 8])))


@pytest.mark.parametrize("name", ["unique", "union1d", "intersect1d", "setdiff1d", "setxor1d", "compress", "extract"])
def test_entries_keep_their_derivatives(name):
    check_grads(lambda a: SIZED[name](a, size=4), (np.array([3.0, 1.0, 4.0, 2.5, 7.0]),), order=2, points="given")


def test_fillings_have_no_derivative_of_the_array():
    gradient = autodidax.grad(lambda a: anp.extract(a > 2, a, size=6, fill_value=5.0).sum())(x6)
    np.testing.assert_array_equal(gradient, x6 > 2)


BAD_SIZES = {
    "negative": (lambda: anp.nonzero(x6, size=-1), errors.ShapeError),
    "no integer": (lambda: anp.nonzero(x6, size=1.5), TypeError),
    "nothing to fill with": (lambda: anp.unique(np.zeros(0), size=2), errors.ShapeError),
    "a size beside two branches": (lambda: anp.where(x6 > 2, x6, 0.0, size=3), errors.ArgumentError),
    "fillings for another rank": (lambda: anp.nonzero(x6, size=3, fill_value=(1, 2)), errors.ShapeError),
    "a condition too long": (lambda: anp.compress([True] * 4, v3, size=2), errors.ShapeError),
}


@pytest.mark.parametrize(("call", "cls"), BAD_SIZES.values(), ids=BAD_SIZES)
def test_bad_sizes(call, cls):
    with pytest.raises(cls):
        call()


@pytest.mark.parametrize("length", [0, 2, 3, 7])
def test_repeats_that_are_not_known(length):
    counts = np.array([1, 0, 2])
    want = resized(np.repeat(v3, counts), length, v3[-1])
    assert_same(autodidax.jit(lambda a, n: anp.repeat(a, n, total_repeat_length=length))(v3, counts), want)
    check_grads(lambda a: anp.repeat(a, counts, total_repeat_length=length), (v3,), order=2)


# Copies in the place of writes

WRITES = {
    "fill_diagonal": [
        ((m33, 2.5), {}), ((m33, v3[:2]), {}), ((np.ones((7, 3)), v3), dict(wrap=True)), ((np.ones((7, 3)), v3), {}),
        ((m23, v3), {}), ((np.ones((2, 2, 2)), v3), {}), ((np.arange(9).reshape(3, 3), 5), {}),
    ],
    "place": [
        ((v3, np.array([True, False, True]), np.array([5.0])), {}), ((m23, m23 > 0, np.arange(4.0)), {}),
        ((np.zeros((2, 0)), np.zeros((2, 0), bool), np.zeros(0)), {}), ((np.arange(3), [0, 2, 1], [7, 8]), {}),
    ],
    "put": [
        ((v3, [0, -1], [5.0, 6.0]), {}), ((m23, np.array([[1, 4], [0, 1]]), [5.0, 6.0, 7.0]), {}),
        ((v3, [7, -9], 1.5), dict(mode="clip")), ((v3, [4, -4], 1.5), dict(mode="wrap")), ((v3, 1, 2.0), {}),
        ((v3, np.zeros(0, int), 2.0), {}),
    ],
    "put_along_axis": [
        ((m23, np.array([[1], [2]]), 9.0, 1), {}), ((m23, np.array([[1, 0, 1]]), np.array([[1.0, 2.0, 3.0]]), 0), {}),
        ((m23, np.array([4, 0]), np.array([1.0, 2.0]), None), {}),
    ],
}  # fmt: skip
WRITE_CASES = [(name, args, kwargs) for name, calls in WRITES.items() for args, kwargs in calls]


@pytest.mark.parametrize(("name", "args", "kwargs"), WRITE_CASES)
def test_a_copy_is_what_a_write_leaves(name, args, kwargs):
    want = args[0].copy()
    getattr(np, name)(want, *args[1:], **kwargs)
    kept = args[0].copy()
    function = getattr(anp, name)
    assert_same(function(*args, inplace=False, **kwargs), want)
    arrays = [k for k, a in enumerate(args) if isinstance(a, np.ndarray | list)]

    def call(*values):
        full = list(args)
        for k, v in zip(arrays, values, strict=True):
            full[k] = v
        return function(*full, inplace=False, **kwargs)

    assert_same(autodidax.jit(call)(*[np.asarray(args[k]) for k in arrays]), want)
    np.testing.assert_array_equal(args[0], kept)


def test_derivatives_of_copies():
    check_grads(lambda a, v: anp.fill_diagonal(a, v, inplace=False), (m33, v3), order=2)
    check_grads(lambda a, v: anp.place(a, m23 > 0, v, inplace=False), (m23, v3[:2]), order=2)
    check_grads(lambda a, v: anp.put(a, [0, 2, 0], v, inplace=False), (v3, v3 + 1), order=2)


BAD_WRITES = {
    "a vector": (lambda: anp.fill_diagonal(v3, 1.0, inplace=False), ValueError),
    "unequal axes": (lambda: anp.fill_diagonal(np.ones((2, 2, 3)), 1.0, inplace=False), ValueError),
    "a mask of another size": (lambda: anp.place(v3, [True], [1.0], inplace=False), ValueError),
    "no values": (lambda: anp.place(v3, v3 > 0, [], inplace=False), ValueError),
    "out of bounds": (lambda: anp.put(v3, [3], 1.0, inplace=False), IndexError),
    "floats into integers": (
        lambda: autodidax.grad(lambda v: anp.put(np.arange(3), [1], v, inplace=False)[1] * 1.0)(1.5),
        TypeError,
    ),
}


@pytest.mark.parametrize(("call", "cls"), BAD_WRITES.values(), ids=BAD_WRITES)
def test_bad_writes(call, cls):
    with pytest.raises(cls):
        call()


# Positions


@pytest.mark.parametrize("order", ["C", "F"])
def test_flat_positions_and_those_along_axes(order):
    flat = np.array([0, 5, 23, 17])
    want = np.unravel_index(flat, (3, 4, 2), order)
    assert_same(autodidax.jit(lambda k: anp.unravel_index(k, (3, 4, 2), order))(flat), want)
    back = autodidax.jit(lambda *ks: anp.ravel_multi_index(ks, (3, 4, 2), "clip", order))(*want)
    assert_same(back, flat)


@pytest.mark.parametrize("mode", ["wrap", "clip", ("wrap", "clip")])
def test_positions_out_of_bounds(mode):
    index = (np.array([4, -1, 1]), np.array([5, -2, 0]))
    want = np.ravel_multi_index(index, (3, 4), mode)
    assert_same(autodidax.vmap(lambda *ks: anp.ravel_multi_index(ks, (3, 4), mode))(*index), want)


def test_positions_are_integers_of_numpys_size():
    narrow = np.array([3, 7], np.int8)
    assert_same(autodidax.jit(lambda k: np.unravel_index(k, (3, 4)))(narrow), np.unravel_index(narrow, (3, 4)))
    want = np.ravel_multi_index((narrow, narrow), (300, 400))
    assert_same(autodidax.jit(lambda k: np.ravel_multi_index((k, k), (300, 400), "clip"))(narrow), want)
    assert_same(autodidax.jit(lambda k: np.unravel_index(k, (3, 4)))(7), np.unravel_index(7, (3, 4)))


def test_bad_positions():
    with pytest.raises(ValueError, match="out of bounds"):
        autodidax.grad(lambda x: anp.sum(anp.unravel_index(x, (2, 3))[1]))(6.5)
    with pytest.raises(errors.ConcretizationTypeError, match="mode='clip'"):
        autodidax.jit(lambda k: np.ravel_multi_index((k, k), (2, 3)))(1)
    with pytest.raises(TypeError, match="int"):
        autodidax.jit(lambda k: np.ravel_multi_index((k, k), (2, 3), mode="clip"))(1.0)


def test_positions_by_shape_alone():
    names = ("diag_indices_from", "tril_indices_from", "triu_indices_from")
    seen = []
    autodidax.jit(lambda a: seen.extend(getattr(np, name)(a) for name in names))(m33)
    assert_same(seen, [getattr(np, name)(m33) for name in names])
    with pytest.raises(ValueError, match="2-d"):
        autodidax.jit(lambda a: np.tril_indices_from(a)[0])(v3)


def test_a_path_for_einsum():
    seen = []
    autodidax.grad(lambda a: (seen.append(np.einsum_path("ij,jk,k->i", a, m33, v3)), a.sum())[1])(m23)
    assert seen == [np.einsum_path("ij,jk,k->i", m23, m33, v3)]
    check_grads(lambda a: np.einsum("ij,jk,k->i", a, m33, v3, optimize=seen[0][0]), (m23,), order=2)


# Functions of functions


def test_vectorize_on_plain_arguments_is_numpys():
    f = lambda a, b: a - b if a > b else a + b
    for keywords in ({}, dict(otypes=[np.float32]), dict(cache=True)):
        want = np.vectorize(f, **keywords)(m23, v3)
        assert_same(anp.vectorize(f, **keywords)(m23, v3), want)
    assert isinstance(anp.vectorize(f), np.vectorize)


@anp.vectorize
def soft(a, b):
    return a * math.pi + b if a > 0 else b * b


@anp.vectorize(otypes=[float, float])
def pair(a, b):
    return a * b, a + b


def test_vectorize_of_functions_that_need_values():
    check_grads(soft, (m23, v3), order=2)
    assert_same(autodidax.vjp(soft, m23, v3)[0], soft(m23, v3))
    with pytest.raises(errors.TracerBoolConversionError, match="mend:"):
        autodidax.jit(soft)(m23, v3)


@pytest.mark.parametrize(
    "transform", [autodidax.jit, lambda f: lambda *a: autodidax.jvp(f, a, a)[0]], ids=["jit", "jvp"]
)
def test_vectorize_with_several_results(transform):
    assert_same(transform(pair)(m23, v3), pair(m23, v3))
    narrow = anp.vectorize(lambda a: a * 2.0, otypes=[np.float32])
    assert_same(transform(narrow)(v3), np.vectorize(lambda a: a * 2.0, otypes=[np.float32])(v3), exact=False)


def test_vectorize_with_a_signature():
    f = lambda a, b: anp.sum(a * b) * a
    g = anp.vectorize(f, signature="(n),(n)->(n)")
    want = np.vectorize(f, signature="(n),(n)->(n)")(m23, v3)
    assert_same(autodidax.jit(g)(m23, v3), want, exact=False)
    check_grads(g, (m23, v3), order=2)
    with pytest.raises(ValueError, match="core dimension 'n'"):
        autodidax.jit(g)(m23, v3[:2])
    with pytest.raises(TypeError, match="expected 2"):
        autodidax.jit(g)(m23)


def test_vectorize_leaves_excluded_arguments_alone():
    f = lambda x, coefficients, scale=1.0: scale * anp.polyval(coefficients, x)
    plain_one, ours = (v(f, excluded={1, "scale"}) for v in (np.vectorize, anp.vectorize))
    want = plain_one(v3, [1.0, 2.0], scale=2.0)
    assert_same(autodidax.jit(lambda x, c: ours(x, c, scale=2.0))(v3, np.array([1.0, 2.0])), want, exact=False)
    check_grads(lambda x, c: ours(x, c, scale=2.0), (v3, m23[0]), order=2)
    assert_same(autodidax.jit(lambda x: ours(x, [1.0, 2.0]))(v3), plain_one(v3, [1.0, 2.0]), exact=False)


def test_vectorize_of_functions_that_close_over_traced_values():
    check_grads(lambda s: anp.vectorize(lambda a: a * s if a > 0 else s)(v3), (1.3,), order=2)
    want = np.vectorize(lambda a: a * 1.3)(v3)
    assert_same(autodidax.jit(lambda s: anp.vectorize(lambda a: a * s)(v3))(1.3), want, exact=False)


def test_the_first_result_decides_about_the_dtype():
    steps = lambda a: 0 if a < 0 else a * 1.5
    x = np.array([-1.0, 2.0])
    np.testing.assert_array_equal(np.vectorize(steps)(x), [0, 3])
    with pytest.raises(errors.DtypeError, match="otypes"):
        autodidax.grad(lambda v: anp.vectorize(steps)(v).sum())(x)
    np.testing.assert_array_equal(
        autodidax.grad(lambda v: anp.vectorize(steps, otypes=[float])(v).sum())(x), [0.0, 1.5]
    )
    assert_same(autodidax.jvp(anp.vectorize(lambda a: 1 if a < 0 else 2), (x,), (x,))[0], np.array([1, 2]))


def test_vectorize_of_nothing():
    with pytest.raises(ValueError, match="size 0"):
        autodidax.jit(anp.vectorize(lambda a: a))(np.zeros(0))
    assert_same(autodidax.jit(anp.vectorize(lambda a: a, otypes=[float]))(np.zeros((2, 0))), np.zeros((2, 0)))


def test_frompyfunc():
    f = anp.frompyfunc(lambda a, b: a * b + b, 2, 1)
    want = np.frompyfunc(lambda a, b: a * b + b, 2, 1)
    assert (f.nin, f.nout, f.ntypes) == (2, 1, 1)
    for method in ("reduce", "accumulate"):
        plain_result = getattr(want, method)(m23, 1)
        np.testing.assert_array_equal(getattr(f, method)(m23, 1), plain_result)
        got = autodidax.jit(lambda a, method=method: getattr(f, method)(a, axis=1))(m23)
        np.testing.assert_allclose(got, plain_result.astype(float), rtol=1e-14)
        check_grads(lambda a, method=method: getattr(f, method)(a, axis=1), (m23,), order=2)
    np.testing.assert_allclose(autodidax.jit(f.outer)(v3, m23), want.outer(v3, m23).astype(float), rtol=1e-14)
    two = anp.frompyfunc(lambda a: (a, a * a), 1, 2)
    assert_same(autodidax.jit(two)(v3), (v3, v3 * v3))
    with pytest.raises(errors.UnsupportedError, match="keyword"):
        autodidax.jit(lambda a: f.reduce(a, keepdims=True))(m23)
    with pytest.raises(errors.UnsupportedError, match=r"anp\.frompyfunc"):
        autodidax.jit(np.frompyfunc(lambda a: a, 1, 1))(v3)


# emath

WIDE, NARROW = np.array([0.3, -0.7, 2.5]), np.array([0.3, 0.7, 0.9])
EMATH = {name: (lambda n, x, name=name: getattr(n.emath, name)(x)) for name in np.emath.__all__[:]} | {
    "logn": lambda n, x: n.emath.logn(3.0, x), "logn, base": lambda n, x: n.emath.logn(x * x, 3.0),
    "power": lambda n, x: n.emath.power(x, 1.5), "power, integers": lambda n, x: n.emath.power(x, -2),
    "power, exponent": lambda n, x: n.emath.power(2, x),
}  # fmt: skip


@pytest.mark.parametrize("x", [WIDE, NARROW, WIDE.astype(np.float32), WIDE + 0.5j], ids=["wide", "narrow", "f32", "c"])
@pytest.mark.parametrize("name", EMATH)
def test_functions_that_become_complex(name, x):
    f, want = EMATH[name], EMATH[name](np, x)
    for namespace in (anp, np):
        assert_same(autodidax.jvp(lambda v, n=namespace: f(n, v), (x,), (x,))[0], want, exact=False)
    assert_same(f(anp, x), want)
    if x.dtype != np.float32:
        check_grads(lambda v: f(anp, v), (x,), order=2, points="given")


def test_whether_they_become_complex_has_to_be_known():
    with pytest.raises(errors.ConcretizationTypeError, match=r"astype\(complex\)"):
        autodidax.jit(np.emath.sqrt)(WIDE)
    assert_same(autodidax.jit(np.emath.sqrt)(WIDE + 0j), np.emath.sqrt(WIDE), exact=False)


# Demands, windows, old names


def test_demands_on_arrays():
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="infs or NaNs"):
            autodidax.grad(lambda x, bad=bad: anp.asarray_chkfinite([x, bad]).sum())(1.0)
    want = np.require([1.0, 2.0], np.float32, ["C", "W"])
    assert_same(autodidax.jit(lambda x: anp.require([x, 2.0 * x], np.float32, ["C", "W"]))(1.0), want)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_the_kaiser_window(count):
    assert_same(autodidax.jit(lambda beta: anp.kaiser(count, beta))(3.0), np.kaiser(count, 3.0), exact=False)
    assert_same(anp.kaiser(count, 3), np.kaiser(count, 3))


WINDOWS = {
    "vector": (v3, 2), "matrix": (m23, (2, 2)), "one axis": (m23, 2, 1), "the same axis twice": (m23, (2, 2), (1, 1)),
    "last axis": (m23, 3, -1),
}  # fmt: skip


@pytest.mark.parametrize(("x", "arguments"), [(x, rest) for x, *rest in WINDOWS.values()], ids=WINDOWS)
def test_sliding_windows(x, arguments):
    windows = lambda a: np.lib.stride_tricks.sliding_window_view(a, *arguments)
    assert_same(autodidax.jit(windows)(x), windows(x))
    check_grads(windows, (x,), order=2)


def test_windows_that_do_not_fit():
    for arguments in ((4,), (-1,), ((2, 2),)):
        with pytest.raises(ValueError, match="window_shape"):
            autodidax.jit(lambda a, rest=arguments: np.lib.stride_tricks.sliding_window_view(a, *rest))(v3)


def test_row_stack_warns_as_numpys_does():
    for namespace in (anp, np):
        with pytest.warns(DeprecationWarning, match="row_stack") as caught:
            autodidax.jit(lambda x, namespace=namespace: namespace.row_stack([x, x]))(v3)
        assert any(w.filename == __file__ for w in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(anp.row_stack([v3, v3]), np.vstack([v3, v3]))
