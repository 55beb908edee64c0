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


days = np.array([1, 3, 4], "m8[D]")
dates = np.array("2020-01-01", "M8[D]") + days
mask = np.array([True, False, True])
draws = np.random.default_rng(0)


def shuffled(x):
    with warnings.catch_warnings():  # NumPy's own, that this may go wrong
        warnings.simplefilter("ignore")
        draws.shuffle(x)
    return x


def with_out_and_where(x):
    y = np.sqrt(x, out=np.ones(3), where=x > 0)
    return y


REFUSED = {
    "x * durations": (lambda x: x * days, errors.DtypeError, r"t / np\.timedelta64"),
    "durations * x": (lambda x: days * x, errors.DtypeError, r"t / np\.timedelta64"),
    "durations / x": (lambda x: days / x, errors.DtypeError, r"t / np\.timedelta64"),
    "np.multiply(durations, x)": (lambda x: np.multiply(days, x), errors.DtypeError, r"t / np\.timedelta64"),
    "dates + x": (lambda x: dates + x, errors.DtypeError, r"\(t - t\[0\]\) / np\.timedelta64"),
    "np.trapezoid(x, dates)": (lambda x: np.trapezoid(x, dates), errors.DtypeError, r"np\.timedelta64"),
    "x.astype(str)": (lambda x: x.astype(str), errors.DtypeError, "dtype str: its derivative would be lost"),
    "x.astype(object)": (lambda x: x.astype(object), errors.DtypeError, "dtype object: its derivative"),
    "x.astype(durations)": (lambda x: x.astype("m8[D]"), errors.DtypeError, "its derivative would be lost"),
    "anp.asarray(x, bytes)": (lambda x: anp.asarray(x, "S5"), errors.DtypeError, "its derivative would be lost"),
    "anp.full of durations": (lambda x: anp.full(3, x, "m8[D]"), errors.DtypeError, "its derivative would be lost"),
    "masked array": (lambda x: np.ma.array(x, mask=mask), errors.TracerArrayConversionError, "keep the mask apart"),
    "masked_where": (lambda x: np.ma.masked_where(mask, x), errors.TracerArrayConversionError, "keep the mask apart"),
    "assert_allclose": (
        lambda x: np.testing.assert_allclose(x, X), errors.TracerArrayConversionError, "compare plain values",
    ),
    "as_strided": (
        lambda x: np.lib.stride_tricks.as_strided(x, (2,)), errors.TracerArrayConversionError, "sliding_window_view",
    ),
    "shuffle": (shuffled, errors.MutationError, r"x\[rng\.permutation\(len\(x\)\)\]"),
    "out= with where=": (
        with_out_and_where, errors.MutationError, r"result: np\.where\(x > 0, np\.sqrt\(x\), np\.ones\(3\)\)",
    ),
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


series, fitted = np.polynomial.polynomial, np.polynomial.Polynomial.fit(np.arange(5.0), np.arange(5.0) ** 2, 2)
T = np.linspace(-1.0, 1.0, 3)
#: a call of numpy.polynomial, the mend that the message names, and the mend itself
SERIES = {
    "polyval": (lambda c: series.polyval(0.3, c), "np.polyval(c[::-1], x)", lambda c: np.polyval(c[::-1], 0.3)),
    "a polynomial at x": (lambda x: fitted(x), "np.polyval(p.convert(kind=np.polynomial.Polynomial).coef[::-1], x)",
                          lambda x: np.polyval(fitted.convert(kind=np.polynomial.Polynomial).coef[::-1], x)),
    "a polynomial of c": (lambda c: np.polynomial.Polynomial(c)(0.3), "np.polyval(c[::-1], x)",
                          lambda c: np.polyval(c[::-1], 0.3)),
    "polyfit": (lambda y: series.polyfit(T, y, 1), "np.polyfit(x, y, deg)[::-1]", lambda y: np.polyfit(T, y, 1)[::-1]),
    "polymul": (lambda c: series.polymul(c, c), "np.polymul(c1[::-1], c2[::-1])[::-1]",
                lambda c: np.polymul(c[::-1], c[::-1])[::-1]),
    "polyder": (lambda c: series.polyder(c), "np.polyder(c[::-1], m)[::-1]", lambda c: np.polyder(c[::-1], 1)[::-1]),
    "polyint": (lambda c: series.polyint(c), "np.polyint(c[::-1], m)[::-1]", lambda c: np.polyint(c[::-1], 1)[::-1]),
    "polyfromroots": (lambda r: series.polyfromroots(r), "np.poly(roots)[::-1]", lambda r: np.poly(r)[::-1]),
    "polyvander": (lambda x: series.polyvander(x, 2), "np.vander(x, deg + 1, increasing=True)",
                   lambda x: np.vander(x, 3, increasing=True)),
    "chebval": (lambda c: np.polynomial.chebyshev.chebval(T, c), "chebvander(x, len(c) - 1) @ c",
                lambda c: np.polynomial.chebyshev.chebvander(T, len(c) - 1) @ c),
    "legfit": (lambda y: np.polynomial.legendre.legfit(T, y, 1), "np.linalg.lstsq(legvander(x, deg), y)[0]",
               lambda y: np.linalg.lstsq(np.polynomial.legendre.legvander(T, 1), y)[0]),
}  # fmt: skip


@pytest.mark.parametrize("name", SERIES)
def test_series_of_polynomials(name):
    call, text, mend = SERIES[name]
    with pytest.raises(errors.TracerArrayConversionError) as raised:
        autodidax.grad(lambda x: anp.sum(call(x)))(X)
    assert text in str(raised.value)
    value, _ = autodidax.vjp(mend, X)
    np.testing.assert_allclose(value, call(X), rtol=1e-9, atol=1e-12)
