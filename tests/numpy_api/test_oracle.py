"""Values and derivatives, forward and reverse, are those of JAX where JAX has the function: over the tables of calls of
the other tests, in four dtypes. JAX is an optional dependency, and the sweep is slow."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import tree
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

RNG = np.random.default_rng(3)
DTYPES = {"f64": np.float64, "f32": np.float32, "c128": np.complex128, "i64": np.int64}


def draw(*shape, kind="real"):
    x = RNG.normal(size=shape)
    return x + 1j * RNG.normal(size=shape) if kind == "complex" else x


def regular(*shape, kind="real"):
    return draw(*shape, kind=kind) + 4 * np.eye(shape[-1])


def hermitian(*shape, kind="real"):
    a = draw(*shape, kind=kind)
    return a + a.mT.conj() + 5 * np.diag(np.arange(shape[-1]))


def positive(*shape, kind="real"):
    a = draw(*shape, kind=kind)
    return a @ a.mT.conj() + 3 * np.eye(shape[-1])


def spectral(xp, w, v):
    """What does not depend on phases: the values and a weighted sum of projectors."""
    weights = np.arange(1.0, w.shape[-1] + 1)
    return w, (v * weights) @ xp.conj(xp.matrix_transpose(v))


def singular(xp, u, s, vh):
    return s, u[..., : s.shape[-1]] @ vh[..., : s.shape[-1], :], spectral(xp, s, u[..., : s.shape[-1]])[1]


#: functions whose results are unique up to phases or signs: what of them is compared
INVARIANTS = {
    "linalg.eigh": lambda xp, out: spectral(xp, *out),
    "linalg.svd": lambda xp, out: singular(xp, *out) if isinstance(out, tuple) else out,
    "linalg.eigvals": lambda xp, out: (xp.sum(out, -1), xp.sum(out**2, -1), xp.sum(out**3, -1)),
    "linalg.lstsq": lambda xp, out: (out[0], out[3]),
    "roots": lambda xp, out: (xp.sum(out), xp.sum(out**2), xp.sum(out**3)),
}

x9, y9 = draw(9), draw(9)
KINDS = ("real", "complex")
MORE = [
    *(Case("linalg.cholesky", positive(*s, kind=k)) for s in [(3, 3), (2, 3, 3), (1, 1)] for k in KINDS),
    *(Case("linalg.cholesky", positive(3, 3, kind=k), upper=True) for k in KINDS),
    *(Case("linalg.eigh", hermitian(*s, kind=k)) for s in [(3, 3), (2, 3, 3)] for k in KINDS),
    *(Case("linalg.eigh", hermitian(3, 3, kind=k), "U") for k in KINDS),
    *(Case("linalg.eigvalsh", hermitian(*s, kind=k), UPLO=u) for s in [(3, 3), (2, 3, 3)] for k in KINDS for u in "LU"),
    *(Case("linalg.eigvals", draw(*s, kind=k)) for s in [(3, 3), (2, 3, 3)] for k in KINDS),
    *(Case("linalg.svd", draw(*s, kind=k), full_matrices=False) for s in [(4, 3), (2, 2, 3), (3, 3)] for k in KINDS),
    *(Case("linalg.svdvals", draw(*s, kind=k)) for s in [(4, 3), (2, 2, 3), (1, 1)] for k in KINDS),
    *(Case("linalg.qr", draw(*s, kind=k)) for s in [(4, 3), (2, 3, 3), (1, 1)] for k in KINDS),
    *(Case("linalg.inv", regular(*s, kind=k)) for s in [(3, 3), (0, 0), (0, 2, 2), (1, 1)] for k in KINDS),
    *(Case("linalg.solve", regular(*s, kind=k), draw(*s[:-1], 2, kind=k)) for s in [(3, 3), (2, 3, 3)] for k in KINDS),
    *(Case("linalg.det", draw(*s, kind=k)) for s in [(1, 1), (2, 2), (4, 4), (2, 3, 3), (0, 3, 3)] for k in KINDS),
    *(Case("linalg.slogdet", draw(*s, kind=k)) for s in [(1, 1), (2, 3, 3)] for k in KINDS),
    *(Case("linalg.lstsq", draw(5, 3, kind=k), draw(5, *c, kind=k)) for c in [(), (2,)] for k in KINDS),
    *(Case("linalg.pinv", draw(*s, kind=k)) for s in [(4, 3), (2, 3, 4)] for k in KINDS),
    *(Case("linalg.matrix_power", regular(2, 3, 3, kind=k), n) for n in (-2, 0, 5) for k in KINDS),
    *(Case("linalg.norm", draw(3, 4, kind="complex"), ord=o) for o in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)),
    *(Case("linalg.norm", draw(4, kind="complex"), ord=o) for o in (None, 1, 2, 3, 0.5, -1, np.inf, -np.inf)),
    *(Case("linalg.cond", regular(2, 3, 3, kind=k), p, wrt=(0,)) for p in (None, 2, -2, 1, -1, np.inf, "fro")
      for k in KINDS),
    *(Case("linalg.multi_dot", [draw(2, 3, kind=k), draw(3, 4), draw(4, 2, kind=k)]) for k in KINDS),
    *(Case("linalg.tensorinv", regular(6, 6, kind=k).reshape(2, 3, 6)) for k in KINDS),
    *(Case("linalg.tensorsolve", regular(6, 6, kind=k).reshape(2, 3, 6), draw(2, 3, kind=k)) for k in KINDS),
    *(Case(name, draw(3, kind="complex"), draw(2, 3, kind="complex")) for name in (
        "add", "multiply", "divide", "power", "vecdot", "inner", "outer", "kron", "cross", "float_power")),
    *(Case(name, draw(3, kind="complex")) for name in (
        "cos", "tan", "sinh", "cosh", "arcsin", "arccos", "arctanh", "arcsinh", "arccosh", "expm1", "exp2", "log1p",
        "log2", "log10", "reciprocal", "std", "nansum", "nanmean", "nanvar", "cumprod", "sign", "ptp", "median")),
    *(Case(name, draw(3, 4), axis=a, weights=w, returned=r) for name in ("average",) for a, w in [
        (0, draw(3)), (1, draw(4) + 3), (None, draw(3, 4) + 3)] for r in (False, True)),
    *(Case(name, draw(3, 4), 0.3, axis=a, method=m) for name in ("quantile", "nanquantile") for a in (None, 1)
      for m in ("linear", "lower", "higher", "midpoint", "nearest")),
    *(Case("interp", draw(4), np.sort(draw(6)), draw(6), period=p) for p in (None, 3.0)),
    *(Case("pad", draw(2, 3), ((1, 2), (0, 1)), m) for m in ("linear_ramp", "mean", "maximum", "minimum", "median",
      "edge", "reflect", "symmetric", "wrap", "constant")),
    *(Case("pad", draw(5), 2, "reflect", reflect_type="odd") for _ in (0,)),
    *(Case("cov", draw(3, 5), rowvar=r, bias=b) for r in (True, False) for b in (True, False)),
    *(Case(name, draw(6), draw(3), mode=m) for name in ("convolve", "correlate") for m in ("full", "same", "valid")),
    Case("polyfit", x9, y9, 2), Case("unwrap", np.cumsum(draw(7))), Case("sinc", draw(4)), Case("i0", draw(4)),
    Case("nan_to_num", draw(4), posinf=1.0), Case("ldexp", draw(3), np.array([1, 2, -1]), wrt=(0,)),
    Case("frexp", draw(3)), Case("modf", draw(3)), Case("nanprod", draw(3, 2), axis=0),
    Case("trapezoid", draw(5), x9[:5]),
    Case("put_along_axis", draw(3, 2), np.array([[0, 1]]), 2.0, 0, inplace=False, wrt=(0,)),
    *(Case("take", draw(3, 4), np.array([1, -1, 0]), axis=a, mode=m) for a in (0, 1) for m in ("wrap", "clip")),
    *(Case("vander", draw(3), n, increasing=i) for n in (2, 4) for i in (True, False)),
    *(Case("gradient", draw(4, 5), 0.5, axis=a) for a in (0, 1, (0, 1))), Case("logspace", 0.1, 1.1, 4, base=2.5),
    *(Case(name, draw(2, 3), axis=1, where=np.array([[True, False, True], [True, True, True]])) for name in (
        "sum", "prod", "mean", "var", "std", "nansum", "nanmean", "nanvar", "nanprod")),
    *(Case(name, draw(2, 3), axis=0, initial=0.2, where=np.array([[True, False, True]] * 2)) for name in (
        "max", "min", "nanmax", "nanmin", "sum", "prod")),
]  # fmt: skip

TABLES = (
    test_functions.CASES, test_fft.CASES[::5], test_linalg.CASES, test_nan_statistics.CASES, test_signals.CASES,
    test_polynomials.CASES, test_histograms.CASES, test_applying.CASES, MORE,
)  # fmt: skip
CASES = [case for table in TABLES for case in table if case.wrt]
#: every call in double precision, and in one of the other dtypes in turn
PAIRS = [(case, kind) for k, case in enumerate(CASES) for kind in ("f64", ("f32", "c128", "i64", "f32", "c128")[k % 5])]

#: functions and calls where JAX differs, in all dtypes or in one, and why
DIFFERENCES = {
    "sign c128": "JAX gives the phase z / |z| of complex numbers no derivative",
    "sign(c[3])": "JAX gives the phase z / |z| of complex numbers no derivative",
    "arccosh(c[3])": "JAX takes one root of (z - 1)(z + 1), whose branch is another one for negative real parts",
    "max(f[0,3],axis=0,initial=2.0)": "JAX has nan for the derivative of no entries",
    "partition": "the order within the parts is not specified",
    "polydiv": "JAX keeps leading zeros of the remainder",
    "fft.rfftfreq c128": "JAX takes the real part of a complex distance",
    "reciprocal i64": "JAX gives floats for integers",
}


@pytest.fixture(scope="module")
def jax():
    module = pytest.importorskip("jax")
    module.config.update("jax_enable_x64", True)
    return module


def lookup(namespace, name):
    for part in name.split("."):
        namespace = getattr(namespace, part, None)
        if namespace is None:
            return None
    return namespace


def cast(x, dtype):
    """Entries in another dtype: a complex array stays complex, and a symmetric matrix becomes a Hermitian one."""
    x = np.asarray(x)
    if x.dtype.kind == "c" and dtype.kind != "c":
        dtype = np.dtype(np.complex64 if dtype == np.float32 else np.complex128)
    if dtype.kind == "c" and x.dtype.kind == "f":
        phases = 0.3 * np.cos(np.arange(x.size)).reshape(x.shape)
        if x.ndim > 1 and x.shape[-1] == x.shape[-2] and np.array_equal(x, x.mT):
            phases = phases - phases.mT
        return x + 1j * phases
    return np.round(3 * np.nan_to_num(x)).astype(dtype) if dtype.kind == "i" else x.astype(dtype)


def numbers_as_array(x):
    """A list of numbers as an array, which JAX asks for."""
    return np.asarray(x) if type(x) is list and all(isinstance(v, int | float | bool) for v in x) else x


def calls(case, dtype, jax):
    """The operands, and the call in each namespace as a function of them that gives a list of arrays."""
    operands = tuple(tree.map(lambda x: cast(x, np.dtype(dtype)), case.args[k]) for k in case.wrt)
    invariant = INVARIANTS.get(case.name, lambda xp, out: out)

    def through(xp, flatten):
        def f(*values):
            args = [*map(numbers_as_array, case.args)] if xp is jax.numpy and case.name != "einsum" else list(case.args)
            for k, v in zip(case.wrt, values, strict=True):
                args[k] = v
            return flatten(invariant(xp, lookup(xp, case.name)(*args, **case.kwargs)))

        return f

    return operands, through(anp, tree.leaves), through(np, tree.leaves), through(jax.numpy, jax.tree.leaves)


def picking(f, chosen):
    """f with the outputs at some places alone: those that have derivatives."""
    return lambda *operands: [y for y, wanted in zip(f(*operands), chosen, strict=True) if wanted]


def assert_near(got, want, single):
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        g, w = np.asarray(g), np.asarray(w)
        assert g.shape == w.shape
        if w.dtype == autodidax.float0:  # JAX counts in integers, which have no tangents
            assert not np.any(g)
            continue
        size = max(1.0, float(np.abs(w[np.isfinite(w)]).max(initial=0.0)))
        np.testing.assert_allclose(g, w, rtol=5e-4 if single else 1e-8, atol=size * (1e-4 if single else 1e-9))


def like(x, rng):
    x = np.asarray(x)
    t = rng.normal(size=x.shape)
    return (t + 1j * rng.normal(size=x.shape) if x.dtype.kind == "c" else t).astype(x.dtype)[()]


def derivatives_of(vjp, jvp, f, operands, tangents):
    """The values of f, its derivative along tangents, and what cotangents that follow from the values pull back."""
    values, pull = vjp(f, *operands)
    cotangents = [weights_like(v) for v in values]
    return values, jvp(f, operands, tangents)[1], pull(cotangents)


def weights_like(x):
    """Fixed numbers of a value's shape and dtype, the same for both libraries."""
    weights = np.cos(1.0 + np.arange(np.size(x))).reshape(np.shape(x))
    dtype = np.result_type(x)
    return (weights + 0.5j * weights[::-1] if dtype.kind == "c" and np.ndim(x) else weights).astype(dtype)[()]


def quietly(call, *args):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return call(*args)


def staged_or_eager(jax, f, *args):
    """One compilation where JAX can stage f, else operation by operation."""
    try:
        return jax.jit(f)(*args)
    except Exception:
        return f(*args)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "kind"), PAIRS, ids=lambda x: x if isinstance(x, str) else repr(x))
def test_jax_agrees(case, kind, jax):
    if lookup(jax.numpy, case.name) is None:
        pytest.skip("JAX has no such function")
    reasons = [DIFFERENCES[x] for x in (case.name, repr(case), f"{case.name} {kind}") if x in DIFFERENCES]
    if reasons:
        pytest.skip(reasons[0])
    operands, ours, plain, theirs = calls(case, DTYPES[kind], jax)
    single = kind == "f32"
    try:
        inexact = [np.result_type(y).kind in "fc" for y in quietly(plain, *operands)]
    except Exception:
        pytest.skip("NumPy does not take this dtype")
    if kind == "i64":
        try:
            want = quietly(lambda: staged_or_eager(jax, theirs, *operands))
        except Exception as error:
            pytest.skip(f"JAX refuses: {str(error)[:60]}")
        assert_near(quietly(autodidax.jit(ours), *operands), want, single)
        return
    ours, theirs = picking(ours, inexact), picking(theirs, inexact)
    tangents = tree.map(lambda x: like(x, np.random.default_rng(np.size(x))), operands)

    def all_of_jax(operands, tangents):
        return derivatives_of(jax.vjp, jax.jvp, theirs, operands, tangents)

    try:
        want = quietly(lambda: staged_or_eager(jax, all_of_jax, operands, tangents))
    except Exception as error:
        pytest.skip(f"JAX refuses: {str(error)[:60]}")
    single = single or any(np.dtype(y.dtype) in (np.float32, np.complex64) for y in want[0])
    got = quietly(lambda: derivatives_of(autodidax.vjp, autodidax.jvp, ours, operands, tangents))
    for g, w in zip(got, want, strict=True):
        assert_near(tree.leaves(g), jax.tree.leaves(w), single)
    assert_near(quietly(autodidax.jit(ours), *operands), want[0], single)


MATRIX = Path(__file__).resolve().parents[3] / "shared" / "coverage" / "numpy_diff_matrix.tsv"
#: functions that write into an array in NumPy, or whose result has another size for other values, or no derivative
LEFT_OUT = {"fill_diagonal", "fromfunction", "place", "put", "trim_zeros", "unravel_index"}


@pytest.mark.skipif(not MATRIX.exists(), reason="the matrix stands beside the project")
def test_every_function_that_jax_differentiates_has_a_call():
    rows = [line.split("\t") for line in MATRIX.read_text("utf-8").splitlines()]
    differentiated = {name for name, *columns in rows if columns[:2] == ["yes", "yes"]}
    assert differentiated - {case.name for case in CASES} == LEFT_OUT
