"""Every function of autodidax.numpy: NumPy's values on plain arguments, right derivatives, vmap and staging."""

import inspect

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import tree
from tests.numpy_api.agreement import (
    Case,
    assert_same,
    check_derivatives,
    check_second_derivatives,
    check_staged,
    check_vmap,
)

rng = np.random.default_rng(7)
v3, w3, v4 = rng.normal(size=3), rng.normal(size=3), rng.normal(size=4)
p3 = rng.uniform(0.5, 1.5, 3)
m23, n23, m33, m34 = rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), rng.normal(size=(3, 3)), rng.normal(size=(3, 4))
t234 = rng.normal(size=(2, 3, 4))
z3 = rng.normal(size=3) + 1j * rng.normal(size=3)
u3 = rng.uniform(-0.9, 0.9, 3)
mask23 = m23 > 0
holes = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, np.nan]])

UNARY = {
    "negative": v3, "positive": v3, "reciprocal": p3, "square": v3, "sqrt": p3, "cbrt": p3, "absolute": v3, "abs": v3,
    "fabs": v3, "sign": v3, "exp": v3, "exp2": v3, "expm1": v3, "log": p3, "log2": p3, "log10": p3, "log1p": p3,
    "sin": v3, "cos": v3, "tan": v3, "arcsin": u3, "arccos": u3, "arctan": v3, "asin": u3, "acos": u3, "atan": v3,
    "sinh": v3, "cosh": v3, "tanh": v3, "arcsinh": v3, "arccosh": p3 + 1, "arctanh": u3, "asinh": v3, "acosh": p3 + 1,
    "atanh": u3, "degrees": v3, "radians": v3, "deg2rad": v3, "rad2deg": v3, "floor": v3, "ceil": v3, "trunc": v3,
    "rint": v3, "fix": v3, "round": v3, "around": v3, "isnan": v3, "isinf": v3, "isfinite": v3, "signbit": v3,
    "logical_not": v3, "sinc": v3, "real": v3, "imag": v3, "conj": v3, "conjugate": v3, "angle": v3, "isposinf": v3,
    "isneginf": v3, "iscomplex": v3, "isreal": v3, "nan_to_num": v3, "modf": v3,
}  # fmt: skip
COMPLEX = ["negative", "square", "sqrt", "absolute", "exp", "log", "sin", "tanh", "real", "imag", "conj", "angle",
           "sum", "prod", "mean", "var", "cumsum", "isreal", "isfinite", "sinc", "arctan", "nan_to_num"]  # fmt: skip
BINARY = {
    "add": (v3, m23), "subtract": (m23, v3), "multiply": (m23, v3), "divide": (v3, p3), "true_divide": (m23, p3),
    "power": (p3, m23), "pow": (p3, v3), "float_power": (p3, v3), "floor_divide": (m23, p3), "remainder": (m23, p3),
    "mod": (v3, p3), "fmod": (v3, p3), "divmod": (v3, p3), "arctan2": (v3, m23), "atan2": (v3, w3), "hypot": (v3, w3),
    "logaddexp": (v3, m23), "logaddexp2": (v3, w3), "maximum": (v3, m23), "minimum": (v3, m23), "fmax": (v3, w3),
    "fmin": (v3, w3), "copysign": (v3, w3), "heaviside": (v3, p3), "greater": (v3, m23), "greater_equal": (v3, w3),
    "less": (v3, w3), "less_equal": (v3, w3), "equal": (v3, w3), "not_equal": (v3, w3), "logical_and": (v3, w3),
    "logical_or": (v3, w3), "logical_xor": (v3, w3), "isclose": (v3, w3), "array_equal": (v3, w3),
    "allclose": (v3, w3), "array_equiv": (v3, w3), "outer": (v3, v4), "inner": (v3, m23), "dot": (m23, v3),
    "matmul": (m23, m34), "vdot": (v3, w3), "kron": (m23, v3), "cross": (m23, v3), "tensordot": (m23, m34, 1),
    "vecdot": (m23, v3), "polyval": (v3, v4),
}  # fmt: skip
REDUCTIONS = ["sum", "prod", "mean", "max", "min", "amax", "amin", "var", "std", "ptp", "any", "all", "count_nonzero",
              "median", "nansum", "nanprod", "nanmean", "nanmax", "nanmin", "nanvar", "nanstd"]  # fmt: skip

CASES = [
    *(Case(name, x) for name, x in UNARY.items()),
    *(Case(name, v3[0] if name != "arccosh" else 1.5) for name in ("sin", "negative", "square", "absolute", "tanh")),
    *(Case(name, z3) for name in COMPLEX),
    *(Case(name, *xs) for name, xs in BINARY.items()),
    *(Case(name, t234) for name in REDUCTIONS),
    *(Case(name, t234, axis=1) for name in REDUCTIONS),
    *(Case(name, t234, axis=(0, -1), keepdims=True) for name in REDUCTIONS),
    *(Case(name, holes, axis=1) for name in ("nansum", "nanprod", "nanmean", "nanmax", "nanmin", "nanvar", "nanstd")),
    *(Case(name, m23, axis=0, initial=0.5) for name in ("sum", "prod", "max", "min")),
    *(Case(name, m23, axis=0, where=mask23) for name in ("sum", "prod", "any", "all")),
    *(Case(name, m23, axis=1, where=np.array([[True, False, True]])) for name in ("mean", "var", "std")),
    *(Case(name, m23, axis=1, initial=-9.0, where=mask23) for name in ("max",)),
    *(Case(name, m23, axis=1, ddof=1) for name in ("var", "std", "nanvar", "nanstd")),
    *(Case(name, m23, dtype=np.float32) for name in ("sum", "prod", "mean", "var", "cumsum", "cumprod")),
    Case("sum", m23, axis=()), Case("sum", np.zeros((0, 3)), axis=0), Case("prod", np.array([0.0, 2.0, 3.0])),
    Case("sum", 1.5), Case("mean", 1.5), Case("max", np.zeros((0, 3)), axis=0, initial=2.0),
    *(Case(name, t234, **k) for name in ("argmax", "argmin") for k in ({}, dict(axis=1), dict(axis=-1, keepdims=True))),
    *(Case(name, holes, axis=0) for name in ("nanargmax", "nanargmin")),
    *(Case(name, m23, **k) for name in ("cumsum", "cumprod") for k in ({}, dict(axis=0), dict(axis=-1))),
    *(Case(name, v4, include_initial=True) for name in ("cumulative_sum", "cumulative_prod")),
    *(Case(name, m23, axis=1) for name in ("cumulative_sum", "cumulative_prod")),
    *(Case(name, holes, axis=1) for name in ("nancumsum", "nancumprod")),
    Case("average", m23), Case("average", m23, axis=1), Case("average", m23, 1, p3), Case("average", v3, 0, p3, True),
    Case("clip", v3, -0.5, 0.5), Case("clip", v3, None, 0.5), Case("clip", v3, -0.5, None),
    Case("clip", v3, p3 - 2, p3), Case("clip", v3, min=-0.2, max=0.3), Case("round", v3, 2),
    Case("nan_to_num", holes, nan=2.5),
    Case("angle", z3, deg=True),
    # shape
    Case("reshape", m23, (3, 2)), Case("reshape", m23, -1), Case("reshape", m23, (3, -1), order="F"),
    Case("ravel", m23), Case("ravel", m23, order="F"), Case("transpose", t234), Case("transpose", t234, (1, 0, 2)),
    Case("permute_dims", t234, (2, 0, 1)), Case("matrix_transpose", t234), Case("swapaxes", t234, 0, -1),
    Case("moveaxis", t234, 0, -1), Case("moveaxis", t234, (0, 1), (-1, 0)), Case("rollaxis", t234, 2),
    Case("rollaxis", t234, 0, 2), Case("squeeze", v3[None, :, None]), Case("squeeze", v3[None], 0),
    Case("expand_dims", m23, 1), Case("expand_dims", m23, (0, -1)), Case("broadcast_to", v3, (2, 3)),
    Case("broadcast_arrays", v3, m23), Case("atleast_1d", v3[0]), Case("atleast_2d", v3), Case("atleast_3d", v3),
    Case("atleast_3d", m23), Case("atleast_1d", v3, m23), Case("flip", m23), Case("flip", m23, 1), Case("flipud", m23),
    Case("fliplr", m23), *(Case("rot90", m23, k) for k in (0, 1, 2, 3, -1)), Case("rot90", t234, 1, (1, 2)),
    Case("roll", m23, 1), Case("roll", m23, (1, -2), (0, 1)), Case("roll", m23, 4, axis=1), Case("repeat", m23, 2),
    Case("repeat", m23, 2, axis=0), Case("repeat", m23, [1, 0, 2], axis=1, wrt=(0,)), Case("tile", v3, 2),
    Case("tile", m23, (2, 1, 2)), Case("resize", m23, (3, 4)), Case("pad", m23, 1), Case("pad", m23, ((1, 0), (0, 2))),
    *(Case("pad", m23, (1, 2), mode) for mode in ("reflect", "wrap", "edge", "symmetric")),
    Case("pad", m23, 1, constant_values=2.5),
    Case("pad", m23, ((1, 2), (0, 1)), constant_values=((1.0, 2.0), (3.0, 4.0))),
    Case("diag", v3), Case("diag", v3, 1), Case("diag", v3, -2), Case("diag", m34, 1), Case("diagflat", m23, 1),
    Case("diagonal", t234), Case("diagonal", t234, 1, 1, 2), Case("trace", m34), Case("trace", t234, -1, 2, 1),
    Case("tril", m34), Case("tril", m34, -1), Case("triu", t234, 1), Case("triu", m33, -1), Case("tril", v3),
    # joining
    Case("concatenate", [v3, v4]), Case("concatenate", [m23, n23], axis=1), Case("concatenate", (m23, n23), axis=None),
    Case("concat", [v3, v4]), Case("append", m23, v3), Case("append", m23, n23, axis=0), Case("stack", [v3, w3]),
    Case("stack", [m23, n23], axis=-1), Case("vstack", [v3, m23]), Case("hstack", [v3, v4]), Case("hstack", [m23, n23]),
    Case("dstack", [m23, n23]), Case("column_stack", [v3, m33]), Case("block", [[m33, m34], [v3[None], v4[None]]]),
    Case("block", [v3, v4]), Case("split", v4, 2), Case("split", t234, [1, 2], axis=1), Case("array_split", v4, 3),
    Case("array_split", m23, [1], 1), Case("vsplit", m23, 2), Case("hsplit", m34, 2), Case("hsplit", v4, 2),
    Case("dsplit", t234, 2), Case("unstack", m23), Case("unstack", m23, axis=1), Case("meshgrid", v3, v4),
    Case("meshgrid", v3, v4, indexing="ij"), Case("meshgrid", v3, v4, w3, sparse=True), Case("delete", v4, 1),
    Case("delete", m34, [0, 2], axis=1, wrt=(0,)),
    # creation
    Case("array", [[1.0, 2.0], [3.0, 4.0]]), Case("array", [v3, w3]), Case("array", v3, ndmin=2),
    Case("asarray", [v3[0], v3[1]]), Case("asarray", v3, np.float32), Case("asanyarray", v3), Case("copy", m23),
    Case("ascontiguousarray", v3[0]), Case("asfortranarray", m23), Case("astype", v3, np.float32),
    Case("full", (2, 3), v3), Case("full", 3, v3[0]), Case("full_like", m23, v3), Case("zeros_like", m23),
    Case("ones_like", m23), Case("linspace", 0.3, 1.7, 5), Case("linspace", v3, w3, 4, axis=1),
    Case("linspace", 0.3, 1.7, 5, endpoint=False), Case("linspace", 0.3, 1.7, 5, retstep=True),
    Case("geomspace", 0.3, 1.7, 5), Case("geomspace", p3, 2 * p3, 4, axis=1), Case("geomspace", z3, 2j * z3, 3),
    Case("geomspace", 0.3, 1.7, 4, endpoint=False), Case("geomspace", -p3, -3.0, 4),
    Case("logspace", 0.3, 1.7, 5), Case("logspace", 0.3, 1.7, 4, base=p3),
    Case("vander", v3), Case("vander", v3, 4, increasing=True),
    # selecting
    Case("where", mask23, m23, n23), Case("where", mask23, m23, 0.5), Case("where", mask23, 2, v3),
    Case("select", [mask23, n23 > 0], [m23, n23], 0.25), Case("choose", [0, 1, 1], [v3, w3], wrt=(1,)),
    Case("take", m23, np.array([[2, 0], [1, 1]]), 1), Case("take", m23, [5, 0]), Case("take", m23, -1, axis=1),
    Case("take", v3, np.array([7, -1]), mode="wrap"), Case("take", v3, np.array([7, -5]), mode="clip"),
    Case("take_along_axis", m23, np.argsort(m23, axis=1), 1), Case("compress", [True, False, True], m23, 1, wrt=(1,)),
    Case("extract", mask23, m23), Case("isin", v3, v3[:2]),
    # sorting
    Case("sort", m23), Case("sort", m23, axis=0), Case("sort", m23, axis=None), Case("argsort", m23, axis=0),
    Case("partition", v4, 1), Case("argpartition", v4, 1), Case("lexsort", (v3, w3)), Case("digitize", v3, np.sort(v4)),
    Case("searchsorted", np.sort(v4), v3), Case("searchsorted", np.sort(v4), v3, "right"), Case("median", v4),
    Case("quantile", m34, 0.3, wrt=(0,)), Case("quantile", m34, [0.1, 0.5, 0.9], axis=1, wrt=(0,)),
    Case("percentile", t234, 70, axis=(0, 2), keepdims=True),
    # differences
    Case("diff", v4), Case("diff", m34, 2, 0), Case("diff", v4, prepend=0.0, append=v3), Case("ediff1d", m23),
    Case("ediff1d", v4, 1.0, v3), Case("trapezoid", v4), Case("trapezoid", m34, np.sort(v4), axis=-1),
    Case("trapezoid", m34, dx=0.5, axis=0), Case("gradient", v4), Case("gradient", m34, 0.5, 2.0),
    Case("gradient", v4, np.sort(v4)), Case("gradient", v4, 0.3, edge_order=2),
    Case("gradient", v4, np.sort(v4), edge_order=2), Case("cross", m33, v3, axisc=0),
    # products
    Case("einsum", "ij,jk->ik", m23, m34), Case("tensordot", t234, m34, axes=([1, 2], [0, 1])), Case("dot", v3, w3),
    Case("dot", t234, v4), Case("matmul", t234, v4),
]  # fmt: skip
IDS = [repr(c) for c in CASES]
TRACED = [c for c in CASES if c.wrt]
TRACED_IDS = [repr(c) for c in TRACED]
#: NumPy converts the arguments of these at once, so that a traced one raises
NOT_DISPATCHED = {"array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "full"}


def narrow(case):
    """Whether the result is float32, where central differences say nothing."""
    return any(np.asarray(x).dtype == np.float32 for x in tree.leaves(case.call(np)))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_plain_arguments_give_numpys_result(case):
    got = case.call(anp)
    assert type(got) is type(case.call(np))
    assert_same(got, case.call(np))


@pytest.mark.parametrize("case", [c for c in TRACED if not narrow(c)], ids=repr)
def test_derivatives_agree_with_central_differences(case):
    check_derivatives(lambda *args: case.call(anp, args), case.args, case.wrt)


@pytest.mark.parametrize("case", [c for c in TRACED if not narrow(c) and c.name not in NOT_DISPATCHED], ids=repr)
def test_derivatives_through_plain_numpy(case):
    check_derivatives(lambda *args: case.call(np, args), case.args, case.wrt)


@pytest.mark.parametrize("case", TRACED, ids=TRACED_IDS)
def test_traced_value_and_dtype_are_numpys(case):
    chosen = tuple(case.args[k] for k in case.wrt)

    def f(*values):
        args = list(case.args)
        for k, v in zip(case.wrt, values, strict=True):
            args[k] = v
        return case.call(anp, args)

    zeros = tree.map(lambda x: np.zeros(np.shape(x), np.asarray(x).dtype)[()], chosen)
    primal, _ = autodidax.jvp(f, chosen, zeros)
    assert_same(primal, case.call(np), exact=False)


@pytest.mark.parametrize("case", TRACED, ids=TRACED_IDS)
def test_vmap_is_the_loop(case):
    check_vmap(lambda *args: case.call(anp, args), case.args, case.wrt)


@pytest.mark.parametrize("case", TRACED, ids=TRACED_IDS)
def test_staged_is_eager(case):
    check_staged(lambda *args: case.call(anp, args), case.args, case.wrt)


@pytest.mark.parametrize("case", [c for c in TRACED if not narrow(c)][::3], ids=repr)
def test_second_derivatives(case):
    """Forward over reverse against central differences of the gradient."""
    check_second_derivatives(lambda *args: case.call(anp, args), case.args, case.wrt)


SIGNATURES = [name for name in anp.__all__ if hasattr(getattr(anp, name), "__wrapped__") and name != "arange"]


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_numpys(name):
    """Every parameter of NumPy's function is one of ours; those that go by position stand in the same order."""
    try:
        wanted = inspect.signature(getattr(np, name)).parameters
    except ValueError:
        return  # a function in C that tells nothing
    own = inspect.signature(getattr(anp, name)).parameters
    by_position = lambda ps: [k for k, p in ps.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    assert by_position(own)[: len(by_position(wanted))] == by_position(wanted)
    if not any(p.kind == p.VAR_KEYWORD for p in own.values()):
        assert {k for k, p in wanted.items() if p.kind == p.KEYWORD_ONLY} <= set(own)
