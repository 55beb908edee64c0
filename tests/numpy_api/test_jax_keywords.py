"""The keywords that jax.numpy adds to NumPy's functions: on plain arguments and on traced ones, what JAX gives.

JAX's results stand in `jax_keywords.json`; `python -m tests.numpy_api.test_jax_keywords`, where JAX is installed,
writes them anew, and the slow test computes them again.
"""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import errors, tree
from tests.numpy_api.agreement import Case, assert_same, check_derivatives, check_second_derivatives, check_vmap

RECORDED = Path(__file__).with_name("jax_keywords.json")
rng = np.random.default_rng(17)
v4, w4, v3 = rng.normal(size=4), rng.normal(size=4), rng.normal(size=3)
m34, n34, m45, m33 = (rng.normal(size=shape) for shape in [(3, 4), (3, 4), (4, 5), (3, 3)])
t234 = rng.normal(size=(2, 3, 4))
f4, f34 = v4.astype(np.float32), m34.astype(np.float32)
z4, z33 = v4 + 1j * w4, m33 + 1j * rng.normal(size=(3, 3))
i4 = np.array([3, 1, 2, 1], np.int8)
positive = m33 @ m33.T + 3 * np.eye(3)
skew = 0.1 * (m33 - m33.T)
gaps = np.array([[0.3, np.nan, -1.0, 2.0], [np.inf, 0.5, np.nan, -np.inf]])
ties = np.array([[2, 1, 2, 1], [0, 0, 3, 0]])
cut, tall, flat = np.array([0.0, 0.0, 1.0, -3.0, 2.0]), rng.normal(size=(5, 3)), rng.normal(size=(3, 5))
edges = np.array([-1.0, 0.0, 0.5, 2.0])

PREFERRED = [
    Case(name, *args, preferred_element_type=dtype, precision=precision, **options)
    for name, args, options in [
        ("dot", (f34, f4), {}), ("dot", (t234, m45), {}), ("dot", (2.0, f4), {}), ("inner", (f34, n34), {}),
        ("inner", (f4, f4), {}), ("vdot", (f34, m34), {}), ("tensordot", (f34, n34), dict(axes=2)),
        ("tensordot", (t234, m45), dict(axes=1)), ("matmul", (f34, m45), {}), ("matmul", (i4, i4), {}),
        ("vecdot", (f34, n34), dict(axis=0)), ("convolve", (f4, f4[:3]), dict(mode="same")),
        ("correlate", (f4[:3], f4), dict(mode="full")), ("linalg.matmul", (f34, m45), {}),
        ("linalg.tensordot", (f34, n34), dict(axes=2)), ("linalg.vecdot", (f34, n34), {}),
    ]
    for dtype, precision in [(np.float64, None), (np.float32, "highest")]
]  # fmt: skip
CASES = [
    *PREFERRED,
    Case("vdot", z4.astype(np.complex64), z4.astype(np.complex64), preferred_element_type=np.complex128),
    Case("dot", i4, i4, preferred_element_type=np.int64),
    *(Case("einsum", "ij,ij->i", f34, n34, preferred_element_type=dtype) for dtype in (np.float32, np.float64)),
    Case("einsum", "i,i,i->i", f4, f4, f4, precision="high", preferred_element_type=np.float64),
    Case("linalg.multi_dot", [m34, m45, v4[:1] * np.ones((5, 2))], precision="highest"),
    *(Case("sort", x, axis=axis, descending=d, stable=s)
      for x, axis in [(m34, 0), (m34, None), (t234, 1), (gaps, -1), (z4, 0)] for d in (True, False) for s in (True,)),
    *(Case("argsort", x, axis=axis, descending=True) for x, axis in [(m34, 0), (m34, None), (ties, 1), (gaps, -1)]),
    Case("argsort", m34, descending=True, dtype=np.int32), Case("argsort", v4, dtype=np.int16),
    *(Case(name, a, b, trim_leading_zeros=trim)
      for name, a, b in [("polymul", cut, np.array([0.0, 2.0, 1.0])), ("polymul", v3, v4), ("polydiv", v4, v3[:2]),
                         ("polydiv", np.array([2.0, 5.0, 1.0, 1.0]), np.array([1.0, 2.0]))]
      for trim in (True, False)),
    *(Case("roots", p, strip_zeros=strip) for p in (cut, np.array([1.0, -3.0, 2.0])) for strip in (True, False)),
    Case("polyval", v4, v3, unroll=4),
    *(Case(name, x, promote_integers=p, **options)
      for name in ("sum", "prod") for x, options in [(i4, {}), (i4[None], dict(axis=0)), (f4, {}), (v4, dict(axis=0))]
      for p in (True, False)),
    Case("take", m34, np.array([2, 0]), axis=0, unique_indices=True, indices_are_sorted=False),
    Case("take", v4, np.array([0, 2, 9]), mode="fill", fill_value=0.5, indices_are_sorted=True),
    *(Case("take_along_axis", m34, np.array([[-1, 0], [1, 2], [3, -2]]), axis=1, mode=mode, wrap_negative_indices=wrap)
      for mode in ("fill", "clip") for wrap in (True, False)),
    *(Case("delete", x, index, axis=axis, assume_unique_indices=True)
      for x, index, axis in [(v4, np.array([2, 0]), None), (m34, np.array([-1, 1]), 1), (m34, np.array([0]), 0)]),
    *(Case("linalg.lstsq", a, b, numpy_resid=numpy) for a, b in [(tall, rng.normal(size=5)), (flat, m34), (tall, tall)]
      for numpy in (True, False)),
    *(Case("linalg.cholesky", positive + skew, symmetrize_input=s, upper=upper)
      for s, upper in [(True, True), (True, False), (False, False)]),  # NumPy reads the upper triangle, JAX never does
    *(Case("linalg.eigvalsh", positive + skew, UPLO=uplo, symmetrize_input=s) for uplo in "LU" for s in (True, False)),
    *(Case("linalg.eigvalsh", z33, symmetrize_input=s) for s in (True, False)),
    Case("fft.fftfreq", 5, 0.3, dtype=np.float32), Case("fft.rfftfreq", 5, 0.3, dtype=np.complex64),
    Case("fft.fftfreq", 4, dtype=np.float64),
    Case("dstack", [m34, n34], dtype=np.float32), Case("dstack", [v4, w4], dtype=np.int32),
    Case("ravel_multi_index", (np.array([1, 0]), np.array([2, 3])), (2, 4), dtype=np.int16),
    *(Case("searchsorted", edges, m34, side="right", method=m) for m in ("scan", "sort", "compare_all")),
    *(Case("digitize", np.array([0.0, 0.3, 2.0, 9.0]), bins, right=right, method="sort")
      for bins in (edges, edges[::-1]) for right in (False, True)),
    *(Case("isin", ties, np.array([1, 3]), invert=i, method="binary_search") for i in (False, True)),
    *(Case("linalg.slogdet", m33, method=m) for m in ("lu", "qr")),
]  # fmt: skip
#: JAX's own dtypes where the keyword says nothing about them: narrower or inexact ones
OTHER_DTYPES = {"digitize", "searchsorted", "roots", "linalg.lstsq", "polymul", "argsort"}
CASES = {repr(case) + (f"#{k}" if k else ""): case for k, case in enumerate(CASES)}
RESULTS = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}


def text(x):
    """An array as JSON holds it."""
    x = np.asarray(x)
    parts = [x.real, x.imag] if x.dtype.kind == "c" else [x]
    return {"dtype": str(x.dtype), "shape": list(x.shape), "parts": [part.ravel().tolist() for part in parts]}


def array(recorded):
    parts = [np.array(part, np.float64) for part in recorded["parts"]]
    x = parts[0] + 1j * parts[1] if len(parts) == 2 else parts[0]
    return x.reshape(recorded["shape"]).astype(recorded["dtype"])


def results_of_jax(case):
    """The arrays that jax.numpy gives."""
    import jax

    jax.config.update("jax_enable_x64", True)
    with np.errstate(all="ignore"):
        return [np.asarray(x) for x in jax.tree.leaves(case.call(jax.numpy))]


def assert_as_jax(got, want, name):
    got = [np.asarray(x) for x in tree.leaves(got)]
    assert [x.shape for x in got] == [x.shape for x in want]
    for g, w in zip(got, want, strict=True):
        assert g.dtype == w.dtype or name in OTHER_DTYPES
        g, w = (np.sort(g), np.sort(w)) if name == "roots" else (g, w)
        loose = w.dtype in (np.float32, np.complex64)
        np.testing.assert_allclose(g, w, rtol=2e-5 if loose else 1e-9, atol=2e-5 if loose else 1e-9)


def traced(case):
    """The call with each array of its arguments traced, values known."""
    places = [k for k, x in enumerate(case.args) if isinstance(x, np.ndarray | list) or type(x) is float]

    def f(*values):
        args = list(case.args)
        for k, x in zip(places, values, strict=True):
            args[k] = x
        return case.call(anp, args)

    return autodidax.vjp(f, *[case.args[k] for k in places])[0]


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_jax(name):
    case, want = CASES[name], list(map(array, RESULTS[name]))
    plain = case.call(anp)
    assert_as_jax(plain, want, case.name)
    assert_same(traced(case), plain, exact=False)


def has_finite_differences(case):
    """Whether results are precise numbers, of one size, and all arguments are read."""
    leaves = tree.leaves((case.args[case.wrt[0]], case.call(anp))) if case.wrt else []
    return (
        bool(leaves)
        and not any(np.asarray(x).dtype in (np.float32, np.complex64) or np.any(np.isnan(x)) for x in leaves)
        and not any(case.kwargs.get(keyword) for keyword in WITH_VALUES)
        and case.kwargs.get("symmetrize_input", True)
        and case.name != "linalg.lstsq"
    )


WITH_VALUES = {"trim_leading_zeros", "strip_zeros", "numpy_resid"}


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if has_finite_differences(case)])
def test_derivatives(name):
    case = CASES[name]
    check_derivatives(lambda *args: case.call(anp, args), case.args, case.wrt)
    check_second_derivatives(lambda *args: case.call(anp, args), case.args, case.wrt)


STATIC = [
    name
    for name, case in CASES.items()
    if case.wrt and not any(case.kwargs.get(keyword) for keyword in WITH_VALUES) and case.name != "linalg.lstsq"
]


@pytest.mark.parametrize("name", STATIC)
def test_under_vmap_and_jit(name):
    case = CASES[name]
    check_vmap(lambda *args: case.call(anp, args), case.args, case.wrt)
    f = lambda *values: case.call(anp, [*values, *case.args[len(values) :]])
    if case.wrt == tuple(range(len(case.wrt))):
        assert_same(autodidax.jit(f)(*case.args[: len(case.wrt)]), case.call(anp), exact=False)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: anp.polymul(x, x, trim_leading_zeros=True),
        lambda x: anp.polydiv(x, x, trim_leading_zeros=True),
        lambda x: anp.roots(x, strip_zeros=True),
        lambda x: anp.linalg.lstsq(anp.ones((3, 1)) * x[:1], x, numpy_resid=True),
    ],
    ids=["polymul", "polydiv", "roots", "lstsq"],
)
def test_sizes_that_depend_on_values_are_refused_where_values_are_not_known(f):
    with pytest.raises(errors.ConcretizationTypeError, match="depends on"):
        autodidax.jit(f)(v3)


def test_the_part_of_a_singular_value_decomposition():
    """JAX has it on accelerators alone."""
    u, s, vh = np.linalg.svd(m34, full_matrices=False)
    for f in (anp.linalg.svd, lambda a, **options: autodidax.vjp(lambda a: anp.linalg.svd(a, **options), a)[0]):
        part = f(m34, full_matrices=False, subset_by_index=(1, 3))
        assert_same(tuple(part), (u[:, 1:3], s[1:3], vh[1:3]), exact=False)
        assert_same(f(m34, compute_uv=False, subset_by_index=(0, 1)), s[:1], exact=False)
    with pytest.raises(errors.ArgumentError, match="subset_by_index"):
        anp.linalg.svd(m34, compute_uv=False, subset_by_index=(0, 4))
    with pytest.raises(errors.ArgumentError, match="full_matrices"):
        anp.linalg.svd(m34, subset_by_index=(0, 1))


def test_eigenvectors_of_the_hermitian_part():
    a = z33 + z33.conj().T
    w, v = anp.linalg.eigh(z33, symmetrize_input=True)
    assert_same(w, np.linalg.eigvalsh(a / 2), exact=False)
    np.testing.assert_allclose((v * w) @ v.conj().T, a / 2, atol=1e-12)
    read = anp.linalg.eigh(z33, symmetrize_input=False)
    assert_same(tuple(read), tuple(np.linalg.eigh(z33)), exact=False)


def test_positions_to_delete_may_be_traced():
    f = lambda k: anp.delete(v4, k, assume_unique_indices=True)
    index = np.array([3, 0])
    np.testing.assert_array_equal(autodidax.jit(f)(index), v4[1:3])
    np.testing.assert_array_equal(autodidax.vmap(f)(np.array([[3, 0], [1, -2]])), [v4[1:3], v4[[0, 3]]])
    with pytest.raises(IndexError, match="out of bounds"):
        autodidax.jvp(f, (np.array([4, 0]),), (np.zeros(2, autodidax.float0),))
    with pytest.raises(errors.TracerIntegerConversionError, match="assume_unique_indices"):
        autodidax.jit(lambda k: anp.delete(v4, k))(index)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda: anp.searchsorted(edges, v4, method="fast"), "no method='fast'"),
        (lambda: anp.isin(v4, v4, method=3), "no method=3"),
        (lambda: anp.linalg.slogdet(m33, method="svd"), "no method='svd'"),
        (lambda: anp.dot(z4, z4, preferred_element_type=float), "no dtype for the product of complex numbers"),
        (lambda: anp.ravel_multi_index((i4, i4), (20, 20), dtype=np.int8), "no room for the 400 positions"),
    ],
    ids=["searchsorted", "isin", "slogdet", "dot", "ravel_multi_index"],
)
def test_values_that_mean_nothing(f, message):
    with pytest.raises(errors.AutodidaxError, match=message):
        f()


def test_decreasing_bins():
    x = np.array([0.0, 0.3, 2.0, 9.0, -5.0])
    for right in (False, True):
        for bins in (edges, edges[::-1], edges[:1], np.array([1.0, 1.0, 0.0])):
            want = np.digitize(x, bins, right)
            f = lambda x, bins, right=right: anp.digitize(x, bins, right)
            np.testing.assert_array_equal(autodidax.jit(f)(x, bins), want)
            np.testing.assert_array_equal(autodidax.vjp(f, x, bins)[0], want)
    with pytest.raises(ValueError, match="monotonically"):
        autodidax.vjp(lambda x: anp.digitize(x, np.array([1.0, 3.0, 2.0])), x)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_recorded_results_are_those_of_jax(name):
    pytest.importorskip("jax", reason="the results were computed by JAX")
    assert_same(list(map(array, RESULTS[name])), results_of_jax(CASES[name]), exact=False)


#: keywords of jax.numpy's functions without a meaning here: there is one device
WITHOUT_A_MEANING = {"out_sharding", "device", "_dot_general"}


@pytest.mark.slow
def test_no_keyword_of_jax_is_missing():
    jax = pytest.importorskip("jax", reason="JAX's signatures are compared with")
    missing = []
    for before, theirs, ours in (
        ("", jax.numpy, anp), ("linalg.", jax.numpy.linalg, anp.linalg), ("fft.", jax.numpy.fft, anp.fft)
    ):  # fmt: skip
        for name in dir(theirs):
            f, g = getattr(theirs, name), getattr(ours, name, None)
            if name[0] == "_" or not callable(f) or not callable(g) or isinstance(f, type) or name == "fromstring":
                continue
            parameters = inspect.signature(g).parameters.values()
            if not any(p.kind is p.VAR_KEYWORD for p in parameters):
                known = {p.name for p in parameters} | WITHOUT_A_MEANING
                missing += [
                    f"{before}{name} {p.name}"
                    for p in inspect.signature(f).parameters.values()
                    if p.name not in known and p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)
                ]
    # NumPy has these arguments without a name, or under another one
    assert missing == ["promote_types a", "promote_types b", "linalg.matrix_rank M"]


if __name__ == "__main__":
    found = {name: list(map(text, results_of_jax(case))) for name, case in CASES.items()}
    RECORDED.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "\n}\n")
