"""matmul, einsum and the Euclidean norm: their rules, NumPy's values, and the programs that they become."""

import itertools

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors
from autodidax.core.avals import ShapedArray
from autodidax.primitives.contraction import einsum, euclidean_norm, matmul
from autodidax.testing.primitives import check_primitive
from autodidax.transforms.stage import stage


def draw(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=s) for s in shapes]


def program(f, *avals):
    closed, _ = stage(lambda *xs: [f(*xs)], [ShapedArray(shape, np.float64) for shape in avals])
    return closed.jaxpr


@pytest.mark.parametrize("p", [matmul, einsum, euclidean_norm], ids=str)
def test_all_rules_agree(p):
    check_primitive(p, require_complete=True).raise_if_failed()


MISMATCHES = [((2, 3), (2, 3)), ((3,), (2,)), ((3,), (2, 3)), ((2, 3), (2,)), ((5, 2, 3), (4, 3, 2)), ((), (3,))]


@pytest.mark.parametrize("shapes", MISMATCHES, ids=str)
@pytest.mark.parametrize("mode", ["eager", "staged", "grad"])
def test_matmul_of_shapes_that_do_not_fit_names_both(shapes, mode):
    x, y = draw(*shapes)
    run = {
        "eager": lambda: matmul(x, y),
        "staged": lambda: program(matmul, *shapes),
        "grad": lambda: ad.vjp(matmul, x, y),
    }[mode]
    with pytest.raises(errors.ShapeError) as caught:
        run()
    for shape in shapes if shapes[0] != (5, 2, 3) else [(5,), (4,)]:
        assert str(shape) in str(caught.value)


ROWS = [(3,), (2, 3), (4, 2, 3)]
COLUMNS = [(3,), (3, 5), (4, 3, 5)]


@pytest.mark.parametrize(("row", "column"), list(itertools.product(ROWS, COLUMNS)), ids=str)
def test_gradients_of_matmul_are_plain_products(row, column):
    def pulled(x, y, ct):
        return ad.vjp(matmul, x, y)[1](ct)

    x, y = draw(row, column)
    closed, _ = stage(
        lambda *xs: list(pulled(*xs)), [ShapedArray(s, np.float64) for s in (row, column, np.matmul(x, y).shape)]
    )
    used = {eqn.primitive.name for eqn in closed.jaxpr.eqns}
    assert used <= {"matmul", "transpose", "reshape", "mul", "reduce_sum"}


def test_vmap_with_one_weight_matrix_is_one_large_product():
    jaxpr = program(ad.vmap(matmul, in_axes=(0, None)), (64, 7, 3), (3, 5))
    shapes = [[v.aval.shape for v in eqn.invars] for eqn in jaxpr.eqns if eqn.primitive is matmul]
    assert shapes == [[(448, 3), (3, 5)]]


def test_gradient_of_one_weight_matrix_is_one_large_product():
    jaxpr = program(lambda x, y, ct: ad.vjp(lambda y: matmul(x, y), y)[1](ct)[0], (64, 7, 3), (3, 5), (64, 7, 5))
    shapes = [[v.aval.shape for v in eqn.invars] for eqn in jaxpr.eqns if eqn.primitive is matmul]
    assert [(3, 448), (448, 5)] in shapes


LARGE = [
    ("i,i->", (5000,), (5000,)), ("ij,ij->i", (70, 80), (70, 80)), ("ij,ij->", (70, 80), (70, 80)),
    ("bij,bjk->kbi", (5, 10, 20), (5, 20, 10)), ("abc,dcb->ad", (9, 8, 7), (10, 7, 8)),
    ("iij,jk->k", (9, 9, 20), (20, 30)), ("ij,jk->ik", (70, 1), (70, 80)), ("ij,kl->jl", (9, 10), (9, 10)),
    ("ab,bc,cd->ad", (20, 30), (30, 20), (20, 10)),
]  # fmt: skip


@pytest.mark.parametrize("case", LARGE, ids=lambda c: c[0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64])
def test_large_einsum_has_numpys_values(case, dtype):
    subscripts, *shapes = case
    arrays = [(10 * x).astype(dtype) for x in draw(*shapes)]
    got, want = einsum(*arrays, subscripts=subscripts), np.einsum(subscripts, *arrays)
    assert (np.shape(got), got.dtype, type(got)) == (np.shape(want), want.dtype, type(want))
    np.testing.assert_allclose(
        got, want, rtol=2e-4 if dtype is np.float32 else 1e-10, atol=0.2 if dtype is np.float32 else 1e-9
    )


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [("ij,jk->ik", [(2, 3), (2, 3)]), ("ii->i", [(2, 3)]), ("ii->i", [(1, 3)]), ("ij->i", [(2, 3, 4)])],
    ids=str,
)
@pytest.mark.parametrize("mode", ["eager", "staged"])
def test_einsum_of_shapes_that_do_not_fit_names_them(subscripts, shapes, mode):
    with pytest.raises(errors.ShapeError, match=r"einsum '.*'"):
        if mode == "eager":
            einsum(*draw(*shapes), subscripts=subscripts)
        else:
            program(lambda *xs: einsum(*xs, subscripts=subscripts), *shapes)


def test_a_diagonal_cotangent_poisons_nothing():
    g = ad.vjp(lambda x: einsum(x, subscripts="ii->i"), np.ones((2, 2)))[1](np.array([np.inf, 1.0]))[0]
    np.testing.assert_array_equal(g, [[np.inf, 0.0], [0.0, 1.0]])


def test_vmap_says_when_the_letters_are_used_up():
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    subscripts = f"{letters[:26]},{letters[26:]}->"
    x = np.ones((2, *(1,) * 26))
    with pytest.raises(errors.UnsupportedError, match="52 letters"):
        ad.vmap(lambda a, b: einsum(a, b, subscripts=subscripts))(x, x)


@pytest.mark.parametrize("zero", [np.zeros(3), np.zeros((2, 2)), np.zeros(3) + 0j], ids=["vector", "matrix", "complex"])
def test_derivatives_of_the_norm_at_zero_are_zero(zero):
    axes = tuple(range(zero.ndim))

    def norm(x):
        return euclidean_norm(x, axes=axes)

    assert ad.jvp(norm, (zero,), (zero + 1,))[1] == 0
    np.testing.assert_array_equal(ad.grad(norm)(zero), zero)
    np.testing.assert_array_equal(ad.jvp(ad.grad(norm), (zero,), (zero + 1,))[1], zero)
    np.testing.assert_array_equal(ad.vmap(ad.grad(norm))(np.stack([zero, zero])), np.stack([zero, zero]))
