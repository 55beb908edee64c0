"""Arguments that NumPy refuses raise NumPy's own class of exception on traced values: every parameter of every function
in turn, over a palette of axes, shapes, numbers, strings and arrays that do not fit."""

import inspect
import warnings

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import errors, tree
from tests.numpy_api import (
    test_applying,
    test_fft,
    test_functions,
    test_histograms,
    test_linalg,
    test_nan_statistics,
    test_polynomials,
    test_signals,
)
from tests.numpy_api.agreement import Case

PALETTE = {
    "99": 99, "-99": -99, "0": 0, "1": 1, "1.5": 1.5, "text": "bad", "(0,0)": (0, 0), "(99,)": (99,), "[1.5]": [1.5],
    "()": (), "(-3,)": (-3,), "object": object, "f[5,7]": np.ones((5, 7)), "f[2]": np.ones(2), "f[0]": np.zeros(0),
    "f[2,2,2]": np.ones((2, 2, 2)), "1j": 1j, "nan": np.nan, "strings": np.array(["a", "b"]),
    "objects": np.array([None, 1]),
}  # fmt: skip

rng = np.random.default_rng(1)
m33 = rng.normal(size=(3, 3))
MORE = [
    Case("linalg.eigh", m33 + m33.T), Case("linalg.eigvalsh", m33 + m33.T),
    Case("linalg.cholesky", m33 @ m33.T + np.eye(3)),
    Case("linalg.eig", m33), Case("linalg.eigvals", m33), Case("linalg.lstsq", m33, m33[0]),
    Case("quantile", m33, 0.3, wrt=(0,), axis=0), Case("put_along_axis", m33, np.array([[0, 1, 1]]), 1.0, 0, wrt=()),
]  # fmt: skip
TABLES = (
    test_functions.CASES, test_fft.CASES, test_linalg.CASES, test_nan_statistics.CASES, test_signals.CASES,
    test_polynomials.CASES, test_histograms.CASES, test_applying.CASES, MORE,
)  # fmt: skip
#: parameters that say how, not what: no shape, axis, index or dtype depends on them
SKIPPED = {
    "order", "out", "subok", "like", "copy", "device", "optimize", "overwrite_input", "casting", "signature",
    "keepdims", "kind", "stable", "sorted", "ndmax", "ndmin", "returned",
}  # fmt: skip
#: what numpy.ma, ufuncs and LAPACK wrappers raise on their way says nothing; these are what users catch
BUILTIN = (IndexError, ValueError, TypeError, ZeroDivisionError, RuntimeError, AttributeError)
NONSENSE = set(PALETTE) - {"99", "-99", "0", "1"}


def first_of_each():
    """A call of every function with every number of operands that the tables hold."""
    seen = set()
    for table in TABLES:
        for case in table:
            key = (case.name, len(case.args), tuple(sorted(case.kwargs)))
            if case.wrt and key not in seen and not callable(case.args[0]):
                seen.add(key)
                yield case


def parameters(case):
    """The keywords that a call leaves at their defaults."""
    function = np
    for part in case.name.split("."):
        function = getattr(function, part)
    try:
        found = list(inspect.signature(function).parameters.values())
    except ValueError:
        return []
    given = len(case.args)
    return [
        p.name for k, p in enumerate(found)
        if (p.kind is p.KEYWORD_ONLY or (p.kind is p.POSITIONAL_OR_KEYWORD and k >= given)) and p.name not in SKIPPED
    ]  # fmt: skip


def spoilt(case):
    """The calls with one argument replaced: (what, label of the value, args, kwargs)."""
    for name in parameters(case):
        for label, bad in PALETTE.items():
            yield name, label, case.args, {**case.kwargs, name: bad}
    for k in range(len(case.args)):
        if k != case.wrt[0]:
            for label, bad in PALETTE.items():
                yield f"argument {k}", label, (*case.args[:k], bad, *case.args[k + 1 :]), case.kwargs


def outcome(call):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return call(), None
        except Exception as error:
            return None, error


def acceptable(refused, raised, label):
    """Whether our exception is of NumPy's class: of its builtin one; any of those for values that fit no parameter."""
    if isinstance(raised, errors.UnsupportedError):
        return True
    wanted = [kind for kind in BUILTIN if isinstance(refused, kind)]
    if label in NONSENSE or not wanted:
        return isinstance(raised, BUILTIN)
    return isinstance(raised, wanted[0]) and (
        isinstance(raised, np.linalg.LinAlgError) or not isinstance(refused, np.linalg.LinAlgError)
    )


def judge(case, label, args, kwargs):
    """What is wrong with our answer to a call, or None."""
    call = Case(case.name, *args, **kwargs).call
    want, refused = outcome(lambda: call(np))
    k = case.wrt[0]
    zeros = tree.map(lambda x: np.zeros(np.shape(x), np.asarray(x).dtype)[()], args[k])
    traced = lambda x: call(anp, [*args[:k], x, *args[k + 1 :]])
    got, raised = outcome(lambda: autodidax.jvp(traced, (args[k],), (zeros,))[0])
    if refused is not None:
        if raised is None:
            return f"NumPy raises {type(refused).__name__} ({refused}), we give {got!r}"
        if not acceptable(refused, raised, label):
            return f"NumPy raises {type(refused).__name__} ({refused}), we {type(raised).__name__} ({raised})"
        return None
    if raised is not None:
        known = isinstance(raised, errors.AutodidaxError) or (label in NONSENSE and isinstance(raised, BUILTIN))
        return None if known else f"NumPy gives {want!r}, we raise {raised!r}"
    got, want = tree.leaves(got), tree.leaves(want)
    if [np.shape(g) for g in got] != [np.shape(w) for w in want]:
        return f"NumPy gives {want!r}, we {got!r}"
    for g, w in zip(got, want, strict=True):
        if np.result_type(w).kind in "biufc" and not np.allclose(g, w, 1e-5, 1e-6, equal_nan=True):
            return f"NumPy gives {w!r}, we {g!r}"
    return None


#: (function, what): why the answers differ
KNOWN = {
    **dict.fromkeys(
        [("mean", "where"), ("var", "where"), ("std", "where")],
        "NumPy counts a number as often as it says, here as true",
    ),
    ("fft.*", "axes"): "a number in the place of several axes has no right meaning, nor has an empty array of floats",
    ("take", "argument 1"): "an empty list of indices is one of floats to NumPy, which takes the list alone",
    ("take", "mode"): "NumPy reads numbers as modes",
    ("take_along_axis", "argument 1"): "NumPy asks a number for its dtype",
    ("unwrap", "period"): "a list of periods is an array of them here",
    ("piecewise", "argument 1"): "a list of numbers in the place of conditions stands for their truth here",
}


def known(case, what):
    names = {case.name, f"{case.name.split('.')[0]}.*"}
    return any((name, what) in KNOWN for name in names)


CASES = list(first_of_each())


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_arguments_that_numpy_refuses(case):
    wrong = [
        f"{what} = {label}: {problem}"
        for what, label, args, kwargs in spoilt(case)
        if not known(case, what) and (problem := judge(case, label, args, kwargs))
    ]
    assert not wrong, "\n".join(wrong)


SHAPES = [(), (3,), (2, 3), (3, 2), (2, 2, 3), (0,), (4, 4)]
BINARY = [
    "add", "maximum", "arctan2", "matmul", "dot", "inner", "vdot", "outer", "kron", "cross", "vecdot", "matvec",
    "vecmat", "convolve", "correlate", "linalg.solve", "linalg.lstsq", "polyval", "append", "array_equal", "isclose",
    "where", "trapezoid", "interp", "cov", "corrcoef", "histogram2d", "tensordot", "linalg.multi_dot", "digitize",
    "searchsorted", "take_along_axis", "concatenate", "stack", "vstack", "hstack", "dstack", "column_stack", "block",
]  # fmt: skip
LISTS = {"linalg.multi_dot", "concatenate", "stack", "vstack", "hstack", "dstack", "column_stack", "block"}


def operands(name, x, y):
    """The call's arguments, of which the first is traced."""
    if name in LISTS:
        return ([x, y],)
    if name == "where":
        return x, np.ones(2) > 0, y
    if name == "interp":
        return x, y, y
    return (x, np.zeros(y.shape, int)) if name == "take_along_axis" else (x, y)


@pytest.mark.parametrize("first", SHAPES, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_shapes_that_do_not_fit(name, first):
    wrong = []
    for second in SHAPES:
        args = operands(name, 0.5 + np.ones(first), np.ones(second))
        # where NumPy runs off the end of a shape, we say that the shapes do not fit
        problem = judge(Case(name, *args, wrt=(0,)), "shapes", args, {})
        if problem and not (name == "tensordot" and "tuple index out of range" in problem):
            wrong.append(f"{second}: {problem}")
    assert not wrong, "\n".join(wrong)


MEANINGLESS = {
    "keepdims": ["no", "", b"x", 1.5, [], (), [1], np.array([1, 2]), None, np.float64(1), np.True_, 2, -1],
    "casting": ["foo", "SAFE", "", 3, None, [], "equiv"],
}
m23 = np.array([[0.3, 1.2, -0.7], [0.9, -1.6, 2.1]])
KEPT = [
    "sum", "prod", "mean", "var", "std", "max", "min", "ptp", "any", "all", "nansum", "nanprod", "nanmean", "nanvar",
    "nanstd", "nanmax", "nanmin", "count_nonzero", "average", "median", "nanmedian", "linalg.norm",
    "linalg.vector_norm", "linalg.matrix_norm", "argmax", "argmin", "nanargmax",
]  # fmt: skip
KEYWORDS = [
    *(Case(name, m23, keepdims=value) for name in KEPT for value in MEANINGLESS["keepdims"]),
    *(Case("vecdot", m23, m23, keepdims=value) for value in MEANINGLESS["keepdims"]),
    *(Case(name, m23, casting=value) for name in ("sin", "isnan", "modf") for value in MEANINGLESS["casting"]),
    *(Case(name, m23, m23.T, casting=value) for name in ("matmul", "matvec", "vecmat")
      for value in MEANINGLESS["casting"]),
    *(Case(name, m23, m23, casting=value) for name in ("add", "vecdot", "greater") for value in MEANINGLESS["casting"]),
    *(Case(name, [m23, m23], casting=value) for name in ("concatenate", "stack", "vstack", "hstack")
      for value in MEANINGLESS["casting"]),
    *(Case("clip", m23, -0.5, 0.5, casting=value) for value in MEANINGLESS["casting"]),
]  # fmt: skip


@pytest.mark.parametrize(
    "case", KEYWORDS, ids=lambda case: f"{case.name} {case.kwargs!r}".replace("array(", "").replace("np.", "")
)
def test_keepdims_and_casting_that_mean_nothing(case):
    listed = isinstance(case.args[0], list)
    traced = lambda x: case.call(anp, [[x, x]] if listed else [x, *case.args[1:]])
    try:
        with np.errstate(all="ignore"):
            want = np.shape(tree.leaves(case.call(np))[0])
    except Exception as error:
        with pytest.raises(type(error)):
            autodidax.vjp(traced, m23)
    else:
        assert np.shape(tree.leaves(autodidax.vjp(traced, m23)[0])[0]) == want
