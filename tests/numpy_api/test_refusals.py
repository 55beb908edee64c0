"""What traced values refuse, and that the message names what was called and what to write in its place."""

import statistics
import warnings

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.sparse
import scipy.special

import autodidax
import autodidax.numpy as anp
from autodidax import errors

X = np.array([0.3, 1.2, -0.7])
table = np.arange(5.0)
square = np.eye(3)
sparse = scipy.sparse.csr_array(square)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    matrix = np.asmatrix(square)


class Metres(np.ndarray):
    """An array with a multiplication of its own."""

    def __mul__(self, other):
        return "square metres"


metres = np.ones(3).view(Metres)
UNDER = {
    "grad": lambda f: autodidax.grad(lambda x: anp.sum(f(x)))(X),
    "jit": lambda f: autodidax.jit(f)(X),
    "vmap": lambda f: autodidax.vmap(f)(np.stack([X, X])),
}


def write_flat(x):
    a = np.zeros(3)
    a.flat[0] = x[0]
    return a


def write_slice(x):
    a = np.zeros(3)
    a[:2] = x[:2]
    return a


REFUSED = {
    "matrix * x": (lambda x: matrix * x, errors.DtypeError, r"np\.asarray"),
    "x * matrix": (lambda x: x * matrix, errors.DtypeError, r"np\.asarray"),
    "x @ matrix": (lambda x: x @ matrix, errors.DtypeError, r"np\.asarray"),
    "np.multiply(x, matrix)": (lambda x: np.multiply(x, matrix), errors.DtypeError, r"np\.asarray"),
    "x * metres": (lambda x: x * metres, errors.DtypeError, r"Metres.*\n.*\n.*np\.asarray"),
    "float into integers, add": (lambda x: anp.at(np.zeros(3, int))[0].add(x[0]), errors.DtypeError, "float"),
    "float into integers, set": (lambda x: anp.at(np.zeros(3, int))[0].set(x[0]), errors.DtypeError, "float"),
    "float into integers, mul": (lambda x: anp.at(np.ones(3, int))[:].mul(x), errors.DtypeError, "float"),
    "float into booleans": (lambda x: anp.at(np.zeros(3, bool))[0].set(x[0]), errors.DtypeError, "float"),
    "full_like of integers": (lambda x: anp.full_like(np.arange(3), x), errors.DtypeError, "float"),
    "float start of a sum": (lambda x: anp.sum(np.arange(3), initial=x[0]), errors.DtypeError, "float"),
    "float start of a max": (lambda x: anp.max(np.arange(3), initial=x[0]), errors.DtypeError, "float"),
    "float ends of ediff1d": (lambda x: anp.ediff1d(np.arange(3), to_end=x), errors.DtypeError, "float"),
    "float padding": (lambda x: anp.pad(np.arange(3), 1, constant_values=x[0]), errors.DtypeError, "float"),
    "polyval of a number": (lambda x: np.polyval(x[0], x), errors.ShapeError, "vector"),
    "vander of a number": (lambda x: np.vander(x[0]), errors.ShapeError, "vector"),
    "vander of a matrix": (lambda x: np.vander(x[None]), errors.ShapeError, "vector"),
    "trace of a vector": (lambda x: np.trace(x), errors.ShapeError, "two axes"),
    "solve_triangular": (
        lambda x: scipy.linalg.solve_triangular(square, x), errors.TracerArrayConversionError,
        r"autodidax\.scipy\.linalg\.solve_triangular",
    ),
    "logsumexp": (
        lambda x: scipy.special.logsumexp(x), errors.TracerArrayConversionError,
        r"autodidax\.scipy\.special\.logsumexp",
    ),
    "simpson": (
        lambda x: scipy.integrate.simpson(x), errors.TracerArrayConversionError,
        r"scipy\.integrate\.simpson.*\n.*\n.*primitive_from\(scipy\.integrate\.simpson.*(stop_gradient|pure_callback)",
    ),
    "quad": (
        lambda x: scipy.integrate.quad(lambda t: t * x[0], 0, 1)[0], errors.ConcretizationTypeError,
        r"scipy\.integrate\.quad",
    ),
    "max of a list": (lambda x: np.max([x[0], x[1]]), TypeError, r"numpy\.max: .*\n.*\n.*anp\.max"),
    "exp of a list": (lambda x: np.exp([x[0], x[1]]), TypeError, r"numpy\.exp: .*\n.*\n.*anp\.array"),
    "dot of a list": (lambda x: np.dot([x[0], x[1], x[2]], X), errors.TracerArrayConversionError, r"numpy\.dot"),
    "a.dot": (lambda x: table[:3].dot(x), errors.TracerArrayConversionError, r"anp\.dot"),
    "np.r_": (lambda x: np.r_[x, 1.0], errors.TracerArrayConversionError, r"anp\.r_"),
    "x @ sparse": (lambda x: x @ sparse, errors.AutodidaxError, r"A\.toarray\(\)"),
    "sparse @ x": (lambda x: sparse @ x, errors.AutodidaxError, r"A\.toarray\(\)"),
    "x * sparse": (lambda x: x * sparse, errors.AutodidaxError, r"A\.toarray\(\)"),
    "a.flat[0] = x": (write_flat, errors.MutationError, r"anp\.at"),
    "a[:2] = x": (write_slice, TypeError, r"anp\.at\(a\)\[:2\]\.set"),
    "statistics.mean": (lambda x: statistics.mean(list(x)), errors.ConcretizationTypeError, "statistics"),
    "x(3)": (lambda x: x(3), TypeError, "called like a function"),
    "ddof and correction": (lambda x: np.std(x, ddof=1, correction=1), errors.ArgumentError, "one of the two"),
    "kind and stable": (lambda x: np.sort(x, kind="quicksort", stable=True), errors.ArgumentError, "one of the two"),
    "no such kind": (lambda x: np.argsort(x, kind="bogo"), errors.ArgumentError, "bogo"),
    "geomspace from 0": (lambda x: np.geomspace(0.0, x, 3), errors.ArgumentError, "not 0"),
    "r_ of a range": (lambda x: anp.r_[0 : x[0]], errors.ConcretizationTypeError, "range"),
    "ix_ of a matrix": (lambda x: anp.ix_(x[None]), errors.ShapeError, "vectors"),
}  # fmt: skip
SHAPES = {
    "reshape": lambda x: x.reshape(2, 2),
    "np.reshape": lambda x: np.reshape(x, (5,)),
    "stack": lambda x: np.stack([x, x[:2]]),
    "concatenate": lambda x: np.concatenate([x, x[None]]),
    "concatenate of a number": lambda x: np.concatenate([x[0], x]),
    "repeat": lambda x: np.repeat(x, [1, 2]),
    "repeat, negative": lambda x: np.repeat(x, -1),
    "pad": lambda x: np.pad(x, ((1, 1), (1, 1))),
    "broadcast_to": lambda x: np.broadcast_to(x, (2,)),
    "squeeze": lambda x: np.squeeze(x, 0),
    "transpose": lambda x: np.transpose(x[None], (0, 0)),
    "block": lambda x: np.block([[x[None], x[None, :2]], [x[None], x[None]]]),
    "diag": lambda x: np.diag(x[None, None]),
}
AXES = {
    "sum": lambda x: np.sum(x, axis=1),
    "sort": lambda x: np.sort(x, axis=3),
    "swapaxes": lambda x: np.swapaxes(x, 0, 1),
    "moveaxis": lambda x: np.moveaxis(x, 0, 2),
    "flip": lambda x: np.flip(x, 2),
    "median": lambda x: np.median(x, axis=2),
    "cumsum": lambda x: x.cumsum(axis=-2),
    "take": lambda x: np.take(x, [0], axis=2),
    "stack": lambda x: np.stack([x], axis=3),
}
INDEXED = {
    "table[i]": lambda i: table[i],
    "square[i, 0]": lambda i: square[i, 0],
    "list[i]": lambda i: [1.0, 2.0, 3.0][i],
}


@pytest.mark.parametrize("transform", UNDER)
@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_a_mend(name, transform):
    f, cls, text = REFUSED[name]
    with pytest.raises(cls, match=text) as caught:
        UNDER[transform](f)
    assert "Tracer object" not in str(caught.value)


@pytest.mark.parametrize("transform", UNDER)
@pytest.mark.parametrize("name", SHAPES)
def test_shapes_that_do_not_fit(name, transform):
    with pytest.raises(errors.ShapeError) as caught:
        UNDER[transform](SHAPES[name])
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize("transform", UNDER)
@pytest.mark.parametrize("name", AXES)
def test_axes_that_do_not_exist(name, transform):
    with pytest.raises(np.exceptions.AxisError) as caught:
        UNDER[transform](AXES[name])
    assert isinstance(caught.value, errors.ShapeError)
    assert isinstance(caught.value, IndexError)
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize("transform", [autodidax.jit, lambda f: lambda i: autodidax.vmap(f)(np.array([i, i]))])
@pytest.mark.parametrize("name", INDEXED)
def test_a_plain_array_at_a_traced_position(name, transform):
    with pytest.raises(TypeError, match=r"anp\.at\(.*\)\[i.*\]\.get\(\)") as caught:
        transform(INDEXED[name])(1)
    if name == "table[i]":
        assert "anp.take(table, i)" in str(caught.value)
        assert "derivative" not in str(caught.value)


@pytest.mark.parametrize("use", [np.asarray, float, bool, int, len, list, np.sum, hash], ids=lambda f: f.__name__)
def test_a_value_that_outlived_its_transform(use):
    kept = []
    autodidax.grad(lambda x: [kept.append(x), x.sum()][1])(X)
    with pytest.raises(errors.ConcretizationTypeError if use is hash else errors.UnexpectedTracerError):
        use(kept[0])


@pytest.mark.parametrize("transform", ["grad", "jvp", "vjp"])
def test_a_matrix_as_an_input(transform):
    call = {
        "grad": lambda: autodidax.grad(lambda m: (m * m).sum())(matrix),
        "jvp": lambda: autodidax.jvp(lambda m: m * m, (matrix,), (square,)),
        "vjp": lambda: autodidax.vjp(lambda m: m * m, matrix),
    }[transform]
    with pytest.raises(errors.DtypeError, match=r"np\.asarray"):
        call()


def test_explicit_conversions_into_integers_stay():
    def f(x):
        return anp.sum(x) + anp.at(np.zeros(3, int))[0].add(x[0].astype(int)).sum()

    np.testing.assert_array_equal(autodidax.grad(f)(X), np.ones(3))


JOINED = {
    "r_": lambda ns, x: ns.r_[x, 1.0, x[0]],
    "r_ of lists and ranges": lambda ns, x: ns.r_[0:3, x, [2, 3]],
    "r_ by rows": lambda ns, x: ns.r_["0,2", x, x],
    "r_ by columns": lambda ns, x: ns.r_["1,2,0", x, x],
    "r_ along the last axis": lambda ns, x: ns.r_["-1", x[None], x[None]],
    "c_": lambda ns, x: ns.c_[x, 2 * x],
    "c_ of a matrix": lambda ns, x: ns.c_[square, x],
    "ix_": lambda ns, x: ns.ix_((10 * x).astype(int), [0, 2]),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", JOINED)
def test_arrays_written_with_brackets(name, dtype):
    f, x = JOINED[name], X.astype(dtype)
    want = f(np, x)
    for got in (f(anp, x), autodidax.jit(lambda x: f(anp, x))(x), autodidax.jvp(lambda x: f(anp, x), (x,), (x,))[0]):
        for g, w in zip(got if name == "ix_" else [got], want if name == "ix_" else [want], strict=True):
            np.testing.assert_array_equal(g, w)
            assert g.dtype == w.dtype


def test_the_derivative_of_arrays_written_with_brackets():
    weights = np.arange(5.0)
    got = autodidax.grad(lambda x: weights @ anp.r_[x, 1.0, x[0]])(X)
    np.testing.assert_array_equal(got, [4.0, 1.0, 2.0])
    np.testing.assert_array_equal(autodidax.grad(lambda x: anp.c_[x, x][:, 1] @ weights[:3])(X), weights[:3])
