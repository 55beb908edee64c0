"""All of numpy.linalg through plain NumPy: values and dtypes of every kind of operand, derivatives of two orders, vmap
and staging, NumPy's exceptions, and what is refused where it is traced."""

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import errors, tree
from tests.numpy_api.agreement import (
    assert_same,
    check_derivatives,
    check_second_derivatives,
    check_staged,
    check_vmap,
)

LinAlgError = np.linalg.LinAlgError


class Call:
    """A call of numpy.linalg with operands drawn for a dtype: "n,n" is a matrix, "+n,n" a regular one, "hn,n" a
    Hermitian, "pn,n" a positive definite one; other arguments stand for themselves. `pick` keeps what is smooth."""

    def __init__(self, text, *options, pick=None, **kwargs):
        self.name, *self.shapes = text.split()
        self.options, self.kwargs, self.pick = options, kwargs, pick
        self.wrt = tuple(range(len(self.shapes)))

    def __repr__(self):
        options = [str(x).replace(" ", "") for x in (*self.options, *(f"{k}={v}" for k, v in self.kwargs.items()))]
        return "-".join([self.name, *self.shapes, *options])

    def draw(self, dtype):
        rng = np.random.default_rng(len(repr(self)))
        return [operand(rng, shape, np.dtype(dtype)) for shape in self.shapes]

    def __call__(self, *args):
        if self.name == "multi_dot":
            return np.linalg.multi_dot(list(args))
        return getattr(np.linalg, self.name)(*args, *self.options, **self.kwargs)

    @property
    def hermitian(self):
        return self.shapes[0][0] in "hp"

    def invariant(self, *args):
        """What does not depend on the choice of vectors, of a matrix made Hermitian where it has to be."""
        if self.hermitian:
            args = ((args[0] + anp.conj(anp.matrix_transpose(args[0]))) / 2, *args[1:])
        out = self(*args)
        return self.pick(*out) if self.pick else out


def operand(rng, text, dtype):
    kind, sizes = (text[0], text[1:]) if text[0] in "+hp" else ("", text)
    shape = tuple(int(n) for n in sizes.split(",") if n)
    x = rng.normal(size=shape)
    x = x + 1j * rng.normal(size=shape) if dtype.kind == "c" else np.round(3 * x) if dtype.kind == "i" else x
    if kind == "+":
        x = x + 4 * np.eye(shape[-1])
    if kind == "h":
        x = x + x.mT.conj() + 5 * np.diag(np.arange(shape[-1]))
    if kind == "p":
        x = x @ x.mT.conj() + 3 * np.eye(shape[-1])
    return np.asarray(x, dtype)


def spans(*factors):
    """Weighted sums of projectors on vectors in columns: they do not depend on signs and phases."""
    out = []
    for vectors, k in factors:
        v = vectors[..., :k]
        out.append((v * np.arange(1.0, k + 1)) @ anp.conj(anp.matrix_transpose(v)))
    return out


def of_svd(u, s, vh):
    k = s.shape[-1]
    return [s, u[..., :k] @ vh[..., :k, :], *spans((u, k), (anp.conj(anp.matrix_transpose(vh)), k))]


def of_eigh(w, v):
    return [w, *spans((v, v.shape[-1]))]


def of_hermitian_svd(u, s, vh):
    return [s, (u * s[..., None, :]) @ vh]


def thin(q, r):
    return q[..., : r.shape[-1]], r


def without_rank(x, residuals, rank, s):
    return x, residuals, s


MATRIX_ORDERS = ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
VECTOR_ORDERS = (0, 1, 2, 3, 2.5, 0.5, -1, -2, np.inf, -np.inf)
EXACT = [
    Call("cholesky p2,3,3"), Call("cholesky p3,3", upper=True),
    *[Call("cond +2,3,3", p=p) for p in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc")], Call("cond 2,3,4"),
    Call("cross 2,3 3"), Call("cross 3,2,4 3,2,4", axis=0),
    Call("det 2,3,3"), Call("diagonal 2,3,4"), Call("diagonal 2,3,4", offset=1), Call("diagonal 3,3", offset=-5),
    Call("eigh h2,3,3", pick=of_eigh), Call("eigh h3,3", "u", pick=of_eigh),
    Call("eigvalsh h2,3,3"), Call("eigvalsh h3,3", UPLO="U"),
    Call("inv +2,3,3"), Call("matmul 2,3,4 4"), Call("matmul 3,4 2,4,2"),
    *[Call("matrix_norm 2,3,4", ord=ord, keepdims=True) for ord in MATRIX_ORDERS],
    *[Call("norm 3,4", ord) for ord in MATRIX_ORDERS],
    *[Call("norm 3,4,2", ord, axis=(2, 0)) for ord in MATRIX_ORDERS],
    *[Call("norm 4", ord) for ord in (None, *VECTOR_ORDERS)],
    *[Call("norm 4,3", ord, 0, True) for ord in (None, *VECTOR_ORDERS)],
    *[Call("vector_norm 4,3", ord=ord) for ord in VECTOR_ORDERS], Call("norm 2,3,2"),
    *[Call("matrix_power +2,2,2", n) for n in (*range(-3, 0), *range(1, 8))],
    Call("matrix_transpose 2,3,4"), Call("multi_dot 3,4 4"), Call("multi_dot 4 4,3 3"),
    Call("multi_dot 2,4 4,3 3,5 5,2"), Call("outer 3 4"),
    Call("pinv 2,3,4"), Call("pinv 4,3", rtol=0.4), Call("pinv 2,3,4", (0.1, 0.5)),
    Call("pinv h3,3", hermitian=True), Call("pinv h2,3,3", 0.2, True),
    *[Call(f"qr {shape}", mode, pick=None if mode == "r" else thin)
      for shape in ("3,3", "2,4,2", "2,2,4") for mode in ("reduced", "complete", "r")],
    Call("slogdet 2,3,3"), Call("solve +2,3,3 3"), Call("solve +2,3,3 3,2"), Call("solve +3,3 2,3,1"),
    *[Call(f"svd {shape}", full, pick=of_svd) for shape in ("3,3", "2,4,2", "2,2,4") for full in (False, True)],
    Call("svd 2,2,4", compute_uv=False), Call("svd h3,3", hermitian=True, pick=of_hermitian_svd),
    Call("svd h2,3,3", hermitian=True, compute_uv=False), Call("svdvals 2,4,3"),
    Call("tensordot 2,3 3,2", axes=1), Call("tensordot 2,3 3,2", axes=([0, 1], [1, 0])),
    Call("tensorinv 6,2,3", 1), Call("tensorinv 2,3,6"),
    Call("tensorsolve 2,3,6 2,3"), Call("tensorsolve 2,3,2,3 2,3", (0, 1)), Call("tensorsolve 2,3,6 3,2", axes=(0, 2)),
    Call("trace 2,3,3"), Call("trace 2,3,4", offset=1),
]  # fmt: skip
ROUNDED = [
    Call("lstsq 4,2 4", pick=without_rank), Call("lstsq 4,2 4,3", rcond=-1, pick=without_rank),
    Call("lstsq 2,4 2,3", rcond=1e-3, pick=without_rank), Call("lstsq 3,3 3", rcond=0.5, pick=without_rank),
    Call("vecdot 2,3 3"), Call("vecdot 3,2 3,2", axis=0),
    *[Call("vector_norm 4,3,2", ord=ord, axis=(-1, 0), keepdims=True) for ord in VECTOR_ORDERS],
]  # fmt: skip
RANKS = [
    Call("matrix_rank 2,3,4"), Call("matrix_rank 3"), Call("matrix_rank h2,3,3", hermitian=True),
    Call("matrix_rank 2,3,4", tol=1.0), Call("matrix_rank 2,3,4", rtol=(0.5, 0.2)), Call("matrix_rank 2,0,4"),
]  # fmt: skip
EIGEN = [Call("eig 2,3,3"), Call("eigvals 2,3,3"), Call("eig p3,3"), Call("eigvals p3,3")]
CALLS = [*EXACT, *ROUNDED, *EIGEN]


def through_jvp(call, args):
    """The value that a call has under jvp, with its structure."""
    seen = []

    def record(x):
        out = call(x, *args[1:])
        seen.append(type(out))
        return tree.leaves(out) if isinstance(out, tuple) else [out]

    (x,) = args[:1]
    t = np.zeros(x.shape, autodidax.float0) if x.dtype.kind == "i" else x
    return autodidax.jvp(record, (x,), (t,))[0], seen[0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.complex64], ids=lambda d: d.__name__)
@pytest.mark.parametrize("call", [*CALLS, *RANKS], ids=repr)
def test_values_and_dtypes_are_numpys(call, dtype):
    args = call.draw(dtype)
    want = call(*args)
    got, kind = through_jvp(call, args)
    if call not in RANKS:
        assert kind is type(want) or not issubclass(kind, tuple)
    exact = call in EXACT and np.dtype(dtype).char not in "fF"  # single precision sums in another order at times
    assert_same(got, list(want) if isinstance(want, tuple) else [want], exact=exact)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128], ids=lambda d: d.__name__)
@pytest.mark.parametrize("call", [c for c in CALLS if 0 not in (*c.options, c.kwargs.get("ord", 1))], ids=repr)
def test_derivatives_of_two_orders(call, dtype):
    args = call.draw(dtype)
    check_derivatives(call.invariant, args, call.wrt)
    check_second_derivatives(call.invariant, args, call.wrt)
    if call not in EIGEN:  # real eigenvalues of real matrices are complex there, see below
        check_staged(call.invariant, args, call.wrt)
        check_vmap(call.invariant, args, call.wrt)


def test_every_name_of_numpys_is_here():
    names = {name for name in np.linalg.__all__ if name != "linalg"}
    assert names <= set(anp.linalg.__all__) | {"LinAlgError"}
    assert anp.linalg.LinAlgError is LinAlgError and anp.linalg.test is np.linalg.test


def under_jvp(f):
    return lambda x: autodidax.jvp(f, (x,), (x,))[0]


def test_eigenvalues_are_real_where_they_are_known_to_be():
    a = np.array([[2.0, 1.0], [3.0, 4.0]])
    w, v = np.linalg.eig(a)
    for transform, kind in [(under_jvp, "f"), (autodidax.jit, "c")]:
        got = transform(lambda x: list(np.linalg.eig(x)))(a)
        assert [x.dtype.kind for x in got] == [kind, kind]
        np.testing.assert_array_equal(got[0], w)
        np.testing.assert_array_equal(got[1], v)
        assert transform(np.linalg.eigvals)(a).dtype.kind == kind
    np.testing.assert_allclose(autodidax.grad(lambda x: np.linalg.eigvals(x)[1])(a), [[0.25, 0.75], [0.25, 0.75]])
    mapped = autodidax.vmap(autodidax.grad(lambda x: np.linalg.eigvals(x).real[1]))(np.stack([a, a.T]))
    np.testing.assert_allclose(mapped, [[[0.25, 0.75], [0.25, 0.75]], [[0.25, 0.25], [0.75, 0.75]]])


SINGULAR = np.array([[[1.0, 2.0], [2.0, 4.0]], [[2.0, 1.0], [0.5, 1.5]]])


@pytest.mark.parametrize("p", [1, -1, np.inf, -np.inf, "fro"], ids=str)
def test_condition_numbers_of_singular_matrices_are_infinite(p):
    want = np.linalg.cond(SINGULAR, p)
    assert np.isinf(want[0])
    for transform in (autodidax.jit, autodidax.vmap, under_jvp):
        np.testing.assert_array_equal(transform(lambda x: np.linalg.cond(x, p))(SINGULAR), want)
    gradient = autodidax.vmap(autodidax.grad(lambda x: np.linalg.cond(x, p)))(SINGULAR)
    assert np.isnan(gradient[0]).all()
    np.testing.assert_array_equal(gradient[1], autodidax.grad(lambda x: np.linalg.cond(x, p))(SINGULAR[1]))


LOW_RANK = np.array([[1.0, 2.0, 0.5], [2.0, 4.0, 1.0], [0.5, -1.0, 2.0], [0.0, 1.0, 1.0]])[:, [0, 1, 1]]


def along_the_rank(t):
    """A curve of matrices of rank 2 through LOW_RANK."""
    row, column = np.array([0.3, -1.0, 0.2, 0.7]), np.array([1.0, 0.5, -0.4])
    return (np.eye(4) + t * np.outer(row, row)) @ LOW_RANK @ (np.eye(3) + t * np.outer(column, column))


DEFICIENT = {
    "pinv": lambda a: np.linalg.pinv(a, 1e-10),
    "pinv hermitian": lambda a: np.linalg.pinv(a @ np.swapaxes(a, 0, 1), 1e-10, hermitian=True),
    "lstsq": lambda a: np.linalg.lstsq(a, np.arange(4.0), 1e-10)[0],
}


@pytest.mark.parametrize("name", DEFICIENT)
def test_derivatives_of_two_orders_at_deficient_rank(name):
    def curve(t):
        return np.sum(np.cos(np.arange(12.0))[:3] * DEFICIENT[name](along_the_rank(t)).reshape(-1)[:3])

    plain = [curve(t) for t in (-1e-3, 0.0, 1e-3)]
    np.testing.assert_allclose(autodidax.grad(curve)(0.0), (plain[2] - plain[0]) / 2e-3, rtol=1e-4)
    second = autodidax.grad(autodidax.grad(curve))(0.0)
    np.testing.assert_allclose(second, (plain[2] - 2 * plain[1] + plain[0]) / 1e-6, rtol=1e-3)


def test_the_nuclear_norm_and_the_spectral_norm_at_zero_have_gradient_zero():
    for ord in ("nuc", 2, -2, "fro", 1, np.inf):
        np.testing.assert_array_equal(autodidax.grad(lambda x, p=ord: np.linalg.norm(x, p))(np.zeros((3, 2))), 0)


def test_cross_products_with_infinite_entries_are_numpys():
    x, y = np.array([np.inf, 1.0, 2.0]), np.array([1.0, 0.5, 3.0])
    with np.errstate(invalid="ignore"):
        got = autodidax.jvp(lambda x: np.linalg.cross(x, y), (x,), (y,))[0]
    np.testing.assert_array_equal(got, np.linalg.cross(x, y))


E, X, V = np.eye(2), np.ones((2, 3)), np.ones(3)
SQUARE = ("cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "slogdet")
MATRIX = (*SQUARE, "cond", "pinv", "qr", "svd", "svdvals", "matrix_transpose", "diagonal", "trace", "matrix_norm")
BAD = [
    *[(name, V) for name in MATRIX], ("matrix_power", V, 2), ("solve", V, V), ("lstsq", V, V),
    *[(name, X) for name in SQUARE], ("matrix_power", X, 2), ("solve", X, V), ("cond", X, 1), ("tensorinv", X, 1),
    ("tensorsolve", X, np.ones(2)), ("tensorsolve", np.ones((2, 3, 6)), np.ones(5)),
    ("tensorsolve", np.ones((6, 2, 3)), X, (5,)), ("tensorsolve", np.ones((6, 2, 3)), X, (-1,)), ("tensorinv", E, 0),
    ("solve", E, V), ("solve", E, np.ones(())), ("lstsq", X, V), ("lstsq", X[None], V), ("multi_dot", [E, V]),
    ("multi_dot", [E]), ("multi_dot", [E, np.ones((2, 2, 2)), E]), ("matmul", E, V), ("tensordot", E, X),
    ("vecdot", E, V), ("cross", E, E), ("outer", E, E),
    *[(name, E.astype(np.float16)) for name in (*SQUARE, "pinv", "qr", "svd")],
    ("inv", np.ones((2, 2))), ("solve", np.ones((2, 2)), np.ones(2)), ("cholesky", -E), ("matrix_power", 0 * E, -1),
    ("eig", np.full((2, 2), np.nan)), ("eigvals", np.full((2, 2), np.inf)), ("cond", np.ones((0, 2))),
    ("eigh", E, "X"), ("qr", E, "bad"), ("norm", E, "max"), ("norm", E[None], 2), ("norm", E, 2, (0, 0)),
    ("norm", E, 2, 5), ("norm", E, "nuc", 0), ("norm", E, 3), ("norm", E, None, (0, 1, 1)), ("matrix_power", E, 1.5),
    ("cond", E, "bad"), ("cond", E, 7), ("vector_norm", E, {"axis": 3}), ("vector_norm", E, {"axis": (0, 0)}),
    ("vector_norm", E, {"ord": "fro"}), ("matrix_norm", E, {"ord": 3}), ("svd", X, {"hermitian": True}),
    ("pinv", X, {"hermitian": True}), ("matrix_rank", E, {"tol": 1.0, "rtol": 1.0}), ("norm", E, {"other": 1}),
    ("pinv", E, {"rcond": 1.0, "rtol": 1.0}),
]  # fmt: skip


def show(value):
    return str(getattr(value, "shape", value)).replace(" ", "")[:40]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: "-".join(map(show, bad)))
def test_bad_input_gets_numpys_exception(bad):
    name, x, *rest = bad
    kwargs = rest.pop() if rest and isinstance(rest[-1], dict) else {}
    function = getattr(np.linalg, name)
    with pytest.raises((ValueError, TypeError, IndexError)) as want:
        function(x, *rest, **kwargs)
    with pytest.raises(want.type):
        autodidax.jvp(lambda x: tree.leaves(function(x, *rest, **kwargs)), (x,), (x,))


CHOICES = [
    ("norm", "ord", 3.0), ("norm", "axis", 0), ("norm", "keepdims", True), ("vector_norm", "ord", 3.0),
    ("matrix_norm", "ord", 2.0), ("cond", "p", 2.0), ("matrix_power", "n", 2), ("diagonal", "offset", 0),
    ("trace", "offset", 0), ("svd", "full_matrices", False), ("svd", "compute_uv", True), ("pinv", "hermitian", True),
    ("matrix_rank", "hermitian", True), ("tensorinv", "ind", 1), ("cholesky", "upper", True),
]  # fmt: skip


@pytest.mark.parametrize(("name", "keyword", "value"), CHOICES, ids=str)
def test_a_traced_choice_is_refused_by_name(name, keyword, value):
    for transform in (autodidax.jit, autodidax.vmap):
        value_of = np.array(value) if transform is autodidax.jit else np.array([value])
        with pytest.raises(errors.UnsupportedError, match=f"{name}: the argument {keyword} is a traced value"):
            transform(lambda v: getattr(anp.linalg, name)(E, **{keyword: v}))(value_of)


def test_the_order_of_a_norm_is_never_a_silent_constant():
    with pytest.raises(errors.UnsupportedError, match="sum"):
        autodidax.grad(lambda p: anp.linalg.norm(V, p))(2.0)
    with pytest.raises(errors.UnsupportedError, match="sum"):
        autodidax.grad(lambda p: anp.linalg.norm(V, ord=p))(2.0)


def test_tolerances_may_be_traced_where_their_values_are_known():
    a = np.diag([3.0, 2.0, 1.0])
    want = np.linalg.pinv(a, 0.5)
    got, tangent = autodidax.jvp(lambda r: anp.linalg.pinv(a, r), (0.5,), (1.0,))
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(tangent, 0)
    for call in (lambda r: anp.linalg.pinv(a, r), lambda r: anp.linalg.lstsq(a, V, r)[0]):
        with pytest.raises(errors.UnsupportedError, match="rcond is a traced value"):
            autodidax.jit(call)(0.5)
    ranks = autodidax.jit(lambda tol: anp.linalg.matrix_rank(a, tol))
    assert [int(ranks(tol)) for tol in (0.5, 1.5, 2.5)] == [3, 2, 1]


EMPTY = [(0, 3), (3, 0), (0, 0), (2, 0, 3), (2, 3, 0), (0, 2, 2), (0, 0, 0)]
ON_EMPTY = {
    **{f"norm {o}": lambda x, o=o: np.linalg.norm(x, o, (-2, -1)) for o in MATRIX_ORDERS},
    **{f"norm of vectors {o}": lambda x, o=o: np.linalg.norm(x, o, -1) for o in VECTOR_ORDERS},
    **{name: lambda x, name=name: getattr(np.linalg, name)(x) for name in MATRIX if name[:3] != "eig"},
    "matrix_power": lambda x: np.linalg.matrix_power(x, -2), "eigvalsh": np.linalg.eigvalsh,
    "matrix_rank": np.linalg.matrix_rank,
    "solve": lambda x: np.linalg.solve(x, np.ones((*x.shape[:-2], x.shape[-1], 2))),
}  # fmt: skip


@pytest.mark.parametrize("shape", EMPTY, ids=str)
@pytest.mark.parametrize("name", ON_EMPTY)
def test_empty_matrices(name, shape):
    """NumPy's value, or its exception, in both modes and staged."""
    function, x = ON_EMPTY[name], np.zeros(shape)
    with np.errstate(all="ignore"):
        try:
            want = tree.leaves(function(x))
        except (ValueError, TypeError) as error:
            for transform in (under_jvp, autodidax.jit):
                with pytest.raises(type(error)):
                    transform(lambda x: tree.leaves(function(x)))(x)
            return
        assert_same(autodidax.jit(lambda x: tree.leaves(function(x)))(x), want, exact=False)
        values, pull = autodidax.vjp(lambda x: [y for y in tree.leaves(function(x)) if y.dtype.kind == "f"], x)
        (gradient,) = pull(values)
        assert gradient.shape == shape


def test_tolerances_outside_0_to_1_mean_rounding_errors():
    """As LAPACK reads them."""
    a = np.arange(9.0).reshape(3, 3)
    for rcond in (-1.0, 0.0, 1.0, 5.0):
        want = np.linalg.lstsq(a, np.ones(3), rcond)
        got = under_jvp(lambda a, r=rcond: list(np.linalg.lstsq(a, np.ones(3), r)))(a)
        assert got[2] == want[2] == 2
        np.testing.assert_allclose(got[0], want[0], atol=1e-12)


def test_tolerances_of_ranks_broadcast():
    tolerances = [[0.5], [1.5], [9.0]]
    for a in (np.diag([3.0, 2.0, 1.0]), np.stack([np.eye(3), np.diag([3.0, 2.0, 1.0])])):
        for keyword in ("tol", "rtol"):
            want = np.linalg.matrix_rank(a, **{keyword: tolerances})
            got = autodidax.jit(lambda a, k=keyword: np.linalg.matrix_rank(a, **{k: tolerances}))(a)
            assert_same(got, want)
