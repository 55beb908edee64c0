"""numpy.linalg, the products and scipy.linalg: values, derivatives, vmap and staging of calls, and what is refused."""

import numpy as np
import pytest
import scipy.linalg

import autodidax
import autodidax.numpy as anp
import autodidax.scipy.linalg as asl
from autodidax import errors
from autodidax.numpy import linalg
from tests.numpy_api.agreement import (
    Case,
    assert_same,
    check_derivatives,
    check_second_derivatives,
    check_staged,
    check_vmap,
)

RNG = np.random.default_rng(0)


def draw(*shape, kind="real"):
    x = RNG.normal(size=shape)
    return x + 1j * RNG.normal(size=shape) if kind == "complex" else x


def regular(*shape, kind="real"):
    return draw(*shape, kind=kind) + 3 * np.eye(shape[-1])


def positive(*shape, kind="real"):
    a = draw(*shape, kind=kind)
    return a @ a.mT.conj() + np.eye(shape[-1])


PRODUCTS = [
    Case("matmul", draw(2, 3), draw(3, 2)),
    Case("matmul", draw(4, 2, 3), draw(3), label="-batch"),
    Case("matmul", draw(2, 3), draw(3, 2, kind="complex"), dtype=np.complex128),
    Case("matvec", draw(4, 2, 3), draw(4, 3)),
    Case("vecmat", draw(4, 2), draw(4, 2, 3)),
    Case("vecmat", draw(2, kind="complex"), draw(2, 3, kind="complex")),
    Case("vecdot", draw(2, 3, kind="complex"), draw(3, kind="complex")),
    Case("vecdot", draw(3, 2), draw(3, 2), axis=0),
    Case("dot", draw(3), draw(3)),
    Case("dot", draw(2, 3), draw(3)),
    Case("dot", draw(2, 3), draw(4, 3, 2)),
    Case("dot", 2.0, draw(2, 3), wrt=(1,)),
    Case("vdot", draw(2, 3, kind="complex"), draw(3, 2, kind="complex")),
    Case("inner", draw(2, 3), draw(4, 3)),
    Case("inner", draw(3), draw(3)),
    Case("inner", draw(2, 3), draw(3)),
    Case("inner", np.float64(2.0), draw(3)),
    Case("outer", draw(2, 2), draw(3)),
    Case("kron", draw(2, 3), draw(3, 2)),
    Case("kron", draw(2), draw(2, 3, 2)),
    Case("tensordot", draw(2, 3, 4), draw(3, 4, 5)),
    Case("tensordot", draw(2, 3, 4), draw(4, 3, 2), axes=([1, 2], [1, 0])),
    Case("tensordot", draw(2, 3), draw(3, 2), axes=(-1, 0)),
    Case("tensordot", draw(2), draw(3), axes=0),
    Case("einsum", "ij,jk", draw(2, 3), draw(3, 4)),
    Case("einsum", "ij, jk -> ki", draw(2, 3), draw(3, 4)),
    Case("einsum", "...ij,...jk->...ik", draw(5, 2, 3), draw(3, 4)),
    Case("einsum", "i...->...", draw(2, 3)),
    Case("einsum", "ii", draw(3, 3)),
    Case("einsum", "ba", draw(2, 3)),
    Case("einsum", "...i,...i", draw(2, 1, 3), draw(4, 3)),
    Case("einsum", "ab,bc,cd,de->ea", draw(2, 3), draw(3, 2), draw(2, 3), draw(3, 4)),
    Case("einsum", "ab,bc,cd->ad", draw(2, 3), draw(3, 2), draw(2, 3), optimize="optimal"),
    Case("einsum", "ab,bc,cd->ad", draw(2, 3), draw(3, 2), draw(2, 3), optimize=["einsum_path", (0, 1, 2)]),
    Case("einsum", draw(2, 3), [0, 1], draw(3, 4), [1, 2], [2, 0], wrt=(0, 2)),
    Case("einsum", draw(2, 3), [Ellipsis, 1], [1, Ellipsis], wrt=(0,)),
]

MATRICES = [
    Case("linalg.solve", regular(3, 3), draw(3)),
    Case("linalg.solve", regular(2, 3, 3), draw(3)),
    Case("linalg.solve", regular(3, 3), draw(2, 3, 2)),
    Case("linalg.inv", regular(2, 3, 3)),
    Case("linalg.pinv", draw(4, 2)),
    Case("linalg.pinv", draw(2, 3), rtol=None),
    Case("linalg.pinv", draw(2, 3), rcond=1e-10),
    Case("linalg.det", draw(2, 3, 3)),
    Case("linalg.slogdet", draw(3, 3)),
    Case("linalg.slogdet", draw(2, 2, kind="complex")),
    Case("linalg.svd", draw(4, 3), full_matrices=False),
    Case("linalg.svd", draw(3, 3)),
    Case("linalg.svd", draw(2, 3), compute_uv=False),
    Case("linalg.svdvals", draw(2, 3)),
    Case("linalg.qr", draw(4, 3)),
    Case("linalg.qr", draw(2, 4)),
    Case("linalg.qr", draw(4, 3), mode="r"),
    Case("linalg.qr", draw(2, 3), mode="complete"),
    *[Case("linalg.matrix_power", regular(3, 3), n) for n in (-3, -1, 1, 2, 3, 7)],
    Case("linalg.multi_dot", [draw(2, 5), draw(5, 3), draw(3, 4), draw(4, 2)]),
    Case("linalg.multi_dot", [draw(5), draw(5, 3), draw(3)]),
    Case("linalg.cond", regular(3, 3)),
    *[Case("linalg.cond", regular(3, 3), p=p) for p in (2, -2, 1, np.inf, "fro")],
    Case("linalg.matrix_rank", draw(3, 3)),
    Case("linalg.tensorsolve", draw(2, 3, 6), draw(2, 3)),
    Case("linalg.tensorsolve", draw(6, 2, 3), draw(2, 3), axes=(0,)),
    Case("linalg.tensorinv", draw(6, 2, 3), ind=1),
    Case("linalg.matrix_transpose", draw(2, 3, 4)),
    Case("linalg.diagonal", draw(2, 3, 3)),
    Case("linalg.diagonal", draw(3, 4), offset=1),
    Case("linalg.diagonal", draw(3, 4), offset=-1),
    Case("linalg.trace", draw(2, 3, 3)),
    Case("linalg.trace", draw(3, 4), offset=-1),
    Case("linalg.matmul", draw(2, 3), draw(3)),
    Case("linalg.outer", draw(2), draw(3)),
    Case("linalg.tensordot", draw(2, 3), draw(3, 2), axes=1),
    Case("linalg.vecdot", draw(2, 3), draw(3)),
    Case("linalg.cross", draw(2, 3), draw(3)),
    Case("linalg.cross", draw(3, 2), draw(3, 2), axis=0),
    Case("linalg.matrix_norm", draw(2, 3, 4), keepdims=True),
    Case("linalg.matrix_norm", draw(3, 4), ord="nuc"),
    Case("linalg.vector_norm", draw(2, 3, 4), axis=(0, 2)),
    Case("linalg.vector_norm", draw(2, 3), ord=1, keepdims=True),
]

ORDERS = (None, 0, 1, 2, 3, 2.5, -1, -2, np.inf, -np.inf)
NORMS = [
    Case("linalg.norm", draw(2, 3)),
    Case("linalg.norm", draw(2, 3, 2), keepdims=True),
    Case("linalg.norm", draw(3, kind="complex")),
    *[Case("linalg.norm", draw(3), ord=ord) for ord in ORDERS],
    *[Case("linalg.norm", draw(2, 3), ord=ord, axis=-1, keepdims=True) for ord in ORDERS],
    *[Case("linalg.norm", draw(2, 3), ord=ord) for ord in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)],
    *[Case("linalg.norm", draw(2, 3, 2), ord=ord, axis=(2, 0)) for ord in (None, "fro", "nuc", 1, -1, 2, np.inf)],
]

REAL_AND_COMPLEX = [
    case
    for kind in ("real", "complex")
    for case in [
        Case("linalg.solve", regular(3, 3, kind=kind), draw(3, 2, kind=kind), label=kind),
        Case("linalg.det", draw(3, 3, kind=kind), label=kind),
        Case("linalg.norm", draw(2, 3, kind=kind), axis=0, label=kind),
        Case("linalg.pinv", draw(3, 2, kind=kind), label=kind),
    ]
]

CASES = [*PRODUCTS, *MATRICES, *NORMS, *REAL_AND_COMPLEX]
CONSTANT = {"linalg.matrix_rank"}


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_a_call_on_traced_values(case):
    def call(*args):
        return case.call(anp, args)

    plain = case.call(np)
    assert_same(call(*case.args), plain, exact=True)
    check_staged(call, case.args, case.wrt)
    check_vmap(call, case.args, case.wrt)
    if case.name not in CONSTANT:
        check_derivatives(call, case.args, case.wrt)


SECOND = [case for case in CASES if case.name not in CONSTANT and case.kwargs.get("ord") != 0][::3]


@pytest.mark.parametrize("case", SECOND, ids=repr)
def test_second_derivatives(case):
    check_second_derivatives(lambda *args: case.call(anp, args), case.args, case.wrt)


NAMED = [
    ("slogdet", regular(3, 3)), ("eigh", positive(3, 3)), ("svd", draw(4, 3)), ("svd", draw(3, 4)), ("qr", draw(4, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "a"), NAMED, ids=lambda x: x if isinstance(x, str) else str(x.shape))
def test_named_results(name, a):
    results = []

    def record(x):
        results.append(getattr(anp.linalg, name)(x))
        return results[-1][0]

    autodidax.jvp(record, (a,), (a,))
    want = getattr(np.linalg, name)(a)
    assert type(results[0]) is type(want)
    assert [x.shape for x in results[0]] == [x.shape for x in want]


def symmetric_call(function, a, *rest):
    """A function of a general matrix that reaches `function` as a Hermitian one."""
    return lambda x, *others: function((x + anp.conj(anp.matrix_transpose(x))) / 2, *others), (a, *rest)


HERMITIAN = {
    "cholesky": lambda a: anp.linalg.cholesky(a),
    "cholesky upper": lambda a: anp.linalg.cholesky(a, upper=True),
    "eigvalsh": lambda a: anp.linalg.eigvalsh(a),
    "eigvalsh U": lambda a: anp.linalg.eigvalsh(a, "U"),
    "eigh": lambda a: anp.linalg.eigh(a)[0],
    "scipy cholesky": lambda a: asl.cholesky(a),
    "scipy cholesky lower": lambda a: asl.cholesky(a, lower=True),
    "scipy cho_solve": lambda a: asl.cho_solve(asl.cho_factor(a), np.ones(3)),
    "scipy cho_solve lower": lambda a: asl.cho_solve(asl.cho_factor(a, lower=True), np.ones((3, 1))),
    "scipy solve pos": lambda a: asl.solve(a, np.ones(3), assume_a="pos"),
    "scipy solve her": lambda a: asl.solve(a, np.ones(3), assume_a="her", lower=True),
    "scipy inv pos": lambda a: asl.inv(a, assume_a="pos"),
}


@pytest.mark.parametrize("name", HERMITIAN)
@pytest.mark.parametrize("kind", ["real", "complex"])
def test_functions_of_hermitian_matrices(name, kind):
    function = HERMITIAN[name]
    call, args = symmetric_call(function, positive(3, 3, kind=kind))
    traced = []
    autodidax.jvp(lambda a: traced.append(autodidax.stop_gradient(function(a))) or 0.0 * a, args, args)
    assert_same(traced[0], function(*args), exact=False)
    check_derivatives(call, args, (0,))
    check_second_derivatives(call, args, (0,))
    check_staged(call, args, (0,))
    check_vmap(call, args, (0,))


SCIPY = [
    Case("solve_triangular", regular(3, 3), draw(3)),
    Case("solve_triangular", regular(3, 3), draw(3, 2), lower=True, trans="T"),
    Case("solve_triangular", regular(3, 3, kind="complex"), draw(3, 2, kind="complex"), trans="C"),
    Case("solve_triangular", draw(3, 3), draw(3, 2), unit_diagonal=True, trans=1),
    Case("solve", regular(3, 3), draw(3)),
    Case("solve", regular(3, 3), draw(3, 2), transposed=True),
    Case("solve", np.tril(regular(3, 3)), draw(3), assume_a="lower triangular"),
    Case("solve", np.triu(regular(3, 3)), draw(3), assume_a="upper triangular"),
    Case("solve", np.diag([1.0, 2.0, 3.0]), draw(3), assume_a="diagonal"),
    Case("solve", np.diag([1.0, 2.0, 3.0]), draw(3), assume_a="tridiagonal", wrt=(1,)),
    Case("det", draw(3, 3)),
    Case("inv", regular(3, 3)),
    Case("expm", draw(3, 3)),
    Case("expm", draw(3, 3, kind="complex")),
]


@pytest.mark.parametrize("case", SCIPY, ids=repr)
def test_a_call_of_scipys(case):
    def call(*args):
        return case.call(asl, args)

    assert_same(call(*case.args), case.call(scipy.linalg), exact=True)
    check_derivatives(call, case.args, case.wrt)
    check_second_derivatives(call, case.args, case.wrt)
    check_staged(call, case.args, case.wrt)
    check_vmap(call, case.args, case.wrt)


REFUSED = {
    "out": (errors.MutationError, lambda x: anp.dot(x, x, np.empty((2, 2)))),
    "einsum out": (errors.MutationError, lambda x: anp.einsum("ij->ji", x, out=np.empty((2, 2)))),
    "einsum signature": (errors.UnsupportedError, lambda x: anp.einsum("ij->ji", x, signature="d->d")),
    "einsum operands": (errors.ArgumentError, lambda x: anp.einsum("ij,jk", x)),
    "einsum output label": (errors.ArgumentError, lambda x: anp.einsum("ij->ik", x)),
    "einsum no ellipsis in output": (errors.ArgumentError, lambda x: anp.einsum("...i->i", x)),
    "einsum axes": (errors.ShapeError, lambda x: anp.einsum("ijk->i", x)),
    "tensordot": (errors.ShapeError, lambda x: anp.tensordot(x, np.ones((3, 2)))),
    "vecdot": (errors.ShapeError, lambda x: anp.vecdot(x, np.ones(3))),
    "qr raw": (errors.UnsupportedError, lambda x: linalg.qr(x, mode="raw")),
    "lstsq": (errors.ShapeError, lambda x: linalg.lstsq(x, np.ones(3))),
    "lstsq of a stack": (errors.ShapeError, lambda x: linalg.lstsq(x[None], np.ones(1))),
    "UPLO": (errors.ArgumentError, lambda x: linalg.eigvalsh(x, "A")),
    "not a matrix": (errors.ShapeError, lambda x: linalg.inv(x[0])),
    "norm of three axes": (ValueError, lambda x: linalg.norm(x[None], 2)),
    "norm order": (ValueError, lambda x: linalg.norm(x, "max")),
    "norm axis": (ValueError, lambda x: linalg.norm(x, axis=(0, 0))),
    "matrix_power": (errors.ShapeError, lambda x: linalg.matrix_power(x[:1], 2)),
    "multi_dot": (errors.ArgumentError, lambda x: linalg.multi_dot([x])),
    "scipy trans": (errors.ArgumentError, lambda x: asl.solve_triangular(x, np.ones(2), trans="X")),
    "scipy assume_a": (errors.ArgumentError, lambda x: asl.solve(x, np.ones(2), assume_a="round")),
}


@pytest.mark.parametrize(("error", "call"), REFUSED.values(), ids=REFUSED)
def test_refused(error, call):
    with pytest.raises(error):
        autodidax.jvp(lambda x: call(x), (np.eye(2),), (np.eye(2),))


SYSTEMS = [
    (draw(5, 3), draw(5)), (draw(5, 3), draw(5, 2)), (draw(3, 5), draw(3)), (draw(3, 3), draw(3, 2)),
    (np.outer([1.0, 2.0, 3.0], [1.0, 1.0]), draw(3)), (draw(4, 2, kind="complex"), draw(4, kind="complex")),
    (draw(4, 2), draw(4, kind="complex")), (draw(4, 2).astype(np.float32), draw(4).astype(np.float32)),
    (draw(0, 3), draw(0)), (draw(4, 0), draw(4, 2)), (draw(4, 2), draw(4, 0)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), SYSTEMS, ids=lambda x: f"{x.dtype}{list(x.shape)}")
@pytest.mark.parametrize("rcond", [None, -1, 1e-3], ids=str)
def test_least_squares_gives_what_numpy_gives(a, b, rcond):
    want = np.linalg.lstsq(a, b, rcond=rcond)
    seen = []

    def record(a, b):
        x, residuals, rank, s = np.linalg.lstsq(a, b, rcond=rcond)
        seen.append(rank)
        return x, residuals, s

    got = autodidax.jvp(record, (a, b), (a, b))[0]
    atol = 100 * np.finfo(want[0].dtype).eps
    for g, w in zip(got, (want[0], want[1], want[3]), strict=True):
        assert np.shape(g) == w.shape and g.dtype == w.dtype
        np.testing.assert_allclose(g, w, atol=atol)
    assert seen[0] == want[2] and type(seen[0]) is type(want[2])
    staged = autodidax.jit(lambda a, b: np.linalg.lstsq(a, b, rcond=rcond))(a, b)
    np.testing.assert_allclose(staged[0], want[0], atol=atol)
    np.testing.assert_array_equal(staged[2], want[2])
    if want[1].size:
        np.testing.assert_allclose(staged[1], want[1], atol=atol)


FULL_RANK = [SYSTEMS[k] for k in (0, 1, 2, 3, 5)]


@pytest.mark.parametrize(("a", "b"), FULL_RANK, ids=lambda x: f"{x.dtype}{list(x.shape)}")
@pytest.mark.parametrize("wrt", [(0, 1), (0,), (1,)], ids=str)
def test_least_squares_is_differentiable(a, b, wrt):
    def solution(a, b):
        return np.linalg.lstsq(a, b, rcond=None)[0]

    check_derivatives(solution, (a, b), wrt)
    check_second_derivatives(solution, (a, b), wrt)
    check_staged(solution, (a, b), wrt)
    check_vmap(solution, (a, b), wrt)


def test_the_gradient_of_a_least_squares_residual():
    a, b = SYSTEMS[0]
    x = np.linalg.lstsq(a, b, rcond=None)[0]
    for transform in (lambda f: f, autodidax.jit):
        gradient = transform(autodidax.grad(lambda a: np.linalg.lstsq(a, b, rcond=None)[1].sum()))(a)
        np.testing.assert_allclose(gradient, -2 * np.outer(b - a @ x, x), atol=1e-12)
    mapped = autodidax.vmap(lambda a: np.linalg.lstsq(a, b, rcond=None))(np.stack([a, a]))
    assert [np.shape(y) for y in mapped] == [(2, 3), (2, 1), (2,), (2, 3)]


def test_plain_arguments_run_numpys_own_function():
    assert linalg.solve.numpy_function is np.linalg.solve
    assert anp.einsum.numpy_function is np.einsum
    w, _ = linalg.eig(np.diag([2.0, 1.0]))
    np.testing.assert_array_equal(w, [2.0, 1.0])


def test_float32_stays_float32():
    a = positive(3, 3).astype(np.float32)

    def loss(x):
        w, v = anp.linalg.eigh(x)
        u, s, vh = anp.linalg.svd(x)
        parts = [
            anp.linalg.cholesky(x),
            anp.linalg.solve(x, x[0]),
            w,
            v,
            u * s,
            vh,
            anp.linalg.qr(x)[1],
            anp.linalg.inv(x),
        ]
        return sum(anp.sum(p) for p in parts) + anp.linalg.det(x) + anp.linalg.norm(x, 3, axis=0).sum()

    value, gradient = autodidax.value_and_grad(loss)(a)
    assert value.dtype == gradient.dtype == np.float32
    assert autodidax.jvp(autodidax.grad(loss), (a,), (a,))[1].dtype == np.float32


def test_squared_norm_at_zero_has_gradient_zero():
    np.testing.assert_array_equal(autodidax.grad(lambda v: anp.linalg.norm(v) ** 2)(np.zeros(3)), np.zeros(3))
    for ord in (2, 3, 4, 2.5):
        np.testing.assert_array_equal(autodidax.grad(lambda v, p=ord: anp.linalg.norm(v, p))(np.zeros(3)), np.zeros(3))
