"""Arguments of the samplers: shapes, dtypes, parameters; what is wrong with them, with the whole text."""

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors, random
from autodidax.errors import ArgumentError, ConcretizationTypeError, DtypeError, ShapeError

KEY = random.key(0)

WRONG = {
    "a shape that is a number": (
        lambda: random.normal(KEY, 3), ShapeError, "normal: shape=3 is no tuple", "write shape=(3,)"
    ),
    "a negative size": (
        lambda: random.normal(KEY, (2, -1)), ShapeError, "normal: shape=(2, -1) has a negative size",
        "give sizes of 0 or more",
    ),
    "a size that is a float": (
        lambda: random.normal(KEY, (2.0,)), ShapeError, "normal: shape is a tuple of integers, got (2.0,)",
        "write shape=(2, 3), or () for one number",
    ),
    "a traced size": (
        lambda: ad.jit(lambda n: random.normal(KEY, (n,)))(3), ConcretizationTypeError,
        "normal: shape is traced, and must be known", "make shape static, e.g. by static_argnums of jit",
    ),
    "a traced number of entries": (
        lambda: ad.jit(lambda n: random.permutation(KEY, n))(3), ConcretizationTypeError,
        "permutation: x decides shapes, and is traced", "make x static, e.g. by static_argnums of jit",
    ),
    "an integer dtype": (
        lambda: random.normal(KEY, (), int), DtypeError,
        "normal takes a dtype of floating or complex numbers, got int64", "give dtype=np.float64",
    ),
    "a floating dtype of bits": (
        lambda: random.bits(KEY, (), float), DtypeError, "bits takes a dtype of unsigned integer numbers, got float64",
        "give dtype=np.uint64",
    ),
    "no dtype": (
        lambda: random.uniform(KEY, (), "floot"), DtypeError,
        "uniform takes a dtype of floating numbers, got floot", "give dtype=np.float64",
    ),
    "a wide dtype": (
        lambda: random.uniform(KEY, (), np.longdouble), DtypeError,
        f"uniform takes a dtype of floating numbers, got {np.dtype(np.longdouble)}", "give dtype=np.float64",
    ),
    "parameters beyond the shape": (
        lambda: random.gamma(KEY, np.ones((2, 3)), (3,)), ShapeError,
        "gamma: parameters of shape (2, 3) do not broadcast to shape=(3,)",
        "give shape=(..., 2, 3), or leave it out",
    ),
    "parameters that do not broadcast": (
        lambda: random.beta(KEY, np.ones(2), np.ones(3)), ShapeError,
        "beta: shapes (2,) and (3,) do not broadcast: axis -1 has 2 and 3",
        "transpose one operand, or add an axis of size 1",
    ),
    "a complex parameter": (
        lambda: random.gamma(KEY, 1j), DtypeError, "gamma: a takes real numbers, got a complex", "give a real a"
    ),
    "a text": (
        lambda: random.poisson(KEY, "3"), DtypeError, "poisson: lam takes real numbers, got a str", "give a real lam"
    ),
    "a chance that is an integer": (
        lambda: random.bernoulli(KEY, 1), DtypeError, "bernoulli takes a chance of floating dtype, got an int",
        "give a float p",
    ),
    "a mode": (
        lambda: random.gumbel(KEY, mode="deep"), ArgumentError, "gumbel: there is no mode 'deep'",
        "give mode= one of 'low', 'high', 'highest'",
    ),
    "a mode of bernoulli": (
        lambda: random.bernoulli(KEY, 0.5, mode="deep"), ArgumentError, "bernoulli: there is no mode 'deep'",
        "give mode='low' or 'high'",
    ),
    "a method": (
        lambda: random.multivariate_normal(KEY, np.zeros(2), np.eye(2), method="lu"), ArgumentError,
        "multivariate_normal: there is no method 'lu'", "give method='cholesky', 'eigh' or 'svd'",
    ),
    "a mean that is a number": (
        lambda: random.multivariate_normal(KEY, 0.0, np.eye(2)), ShapeError,
        "multivariate_normal takes a mean (..., n) and a covariance (..., n, n), got shapes () and (2, 2)",
        "for numbers use random.normal(key, shape) * deviation + mean",
    ),
    "one concentration": (
        lambda: random.dirichlet(KEY, 1.0), ShapeError, "dirichlet takes concentrations (..., n), got one number",
        "for two use random.beta",
    ),
    "one logit": (
        lambda: random.categorical(KEY, 1.0), ShapeError, "categorical takes logits (..., n), got one number",
        "give one logit a category",
    ),
    "one chance of many": (
        lambda: random.multinomial(KEY, 3, 0.5), ShapeError, "multinomial takes chances (..., k), got one number",
        "give one chance a category",
    ),
    "too many categories": (
        lambda: random.categorical(KEY, np.zeros(3), shape=(4,), replace=False), ArgumentError,
        "categorical: 4 draws of 3 categories without replacement", "draw fewer, or with replace=True",
    ),
    "too many entries": (
        lambda: random.choice(KEY, 3, (4,), False), ArgumentError,
        "choice: 4 draws of 3 entries without replacement", "draw fewer, or with replace=True",
    ),
    "no entries": (
        lambda: random.choice(KEY, 0), ArgumentError, "choice: there is nothing to choose from",
        "give a positive size or an array",
    ),
    "chances of another shape": (
        lambda: random.choice(KEY, 3, p=np.ones(2)), ShapeError, "choice: p has shape (2,), for 3 entries",
        "give p of shape (3,)",
    ),
    "a float to choose from": (
        lambda: random.choice(KEY, 2.5), DtypeError,
        "choice takes an integer or an array, got a number of dtype float64", "give an integer",
    ),
    "a float to permute": (
        lambda: random.permutation(KEY, 2.5), DtypeError,
        "permutation takes an integer or an array, got a number of dtype float64", "give an integer",
    ),
    "a complex bound": (
        lambda: random.randint(KEY, (), 0, 1j), DtypeError, "randint: maxval takes integers, got a complex",
        "give an integer maxval",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "message", "mend"), WRONG.values(), ids=WRONG)
def test_wrong_arguments(call, kind, message, mend):
    with pytest.raises(kind) as caught:
        call()
    lines = str(caught.value).split("\n")
    assert [lines[0], lines[-1]] == [message, f"  mend: {mend}"]
    assert len(lines) == 3 and "(test_arguments.py:" in lines[1]


def test_axes_that_do_not_exist():
    for call in (
        lambda: random.permutation(KEY, np.ones(3), axis=1),
        lambda: random.choice(KEY, np.ones(3), axis=1),
        lambda: random.categorical(KEY, np.ones(3), axis=1),
    ):
        with pytest.raises(errors.ShapeError, match="axis 1 is out of bounds"):
            call()


ACCEPTED = {
    "a list for a shape": (lambda: random.normal(KEY, [2, 3]), (2, 3)),
    "NumPy integers": (lambda: random.normal(KEY, (np.int64(2), np.int32(3))), (2, 3)),
    "parameters' own shape": (lambda: random.gamma(KEY, np.ones((2, 3))), (2, 3)),
    "parameters together": (lambda: random.beta(KEY, np.ones((2, 1)), np.ones(3)), (2, 3)),
    "lists of parameters": (lambda: random.gamma(KEY, [1.0, 2.0]), (2,)),
    "integers as parameters": (lambda: random.gamma(KEY, 2), ()),
    "a shape around the parameters": (lambda: random.poisson(KEY, np.ones(3), (4, 3)), (4, 3)),
    "vectors": (lambda: random.dirichlet(KEY, np.ones((5, 3)), (2, 5)), (2, 5, 3)),
    "a matrix for each": (
        lambda: random.multivariate_normal(KEY, np.zeros((4, 2)), np.broadcast_to(np.eye(2), (4, 2, 2))),
        (4, 2),
    ),
    "rows of a choice": (lambda: random.choice(KEY, np.ones((5, 3, 2)), (4, 6), axis=1), (5, 4, 6, 2)),
    "categories along an axis": (lambda: random.categorical(KEY, np.ones((5, 3)), axis=0, shape=(7, 3)), (7, 3)),
    "the shape of a double-sided Maxwell": (lambda: random.double_sided_maxwell(KEY, np.ones(3), 1.0, (2,)), (2, 3)),
}


@pytest.mark.parametrize(("draw", "shape"), ACCEPTED.values(), ids=ACCEPTED)
def test_shapes(draw, shape):
    assert np.shape(draw()) == shape


def test_traced_lists_of_parameters():
    f = lambda a: random.gamma(KEY, [a, 2.0])[0]
    np.testing.assert_allclose(
        ad.grad(f)(1.5), ad.grad(lambda a: random.gamma(KEY, np.array([1.0, 0]) * a + [0, 2.0])[0])(1.5)
    )
