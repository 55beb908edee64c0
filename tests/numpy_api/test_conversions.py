"""No object array is built in silence, no derivative is dropped: each call gives the right derivative or an error."""

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import errors

X = np.array([0.3, 1.2, -0.7])
plain = np.array([1.0, 2.0, 3.0])
matrix = np.arange(9.0).reshape(3, 3)


def assign(x):
    plain.copy()[0] = x[0]
    return x


def augment(x):
    total = np.zeros(3)
    total += x
    return total


def augment_item(x):
    total = np.zeros(3)
    total[0] += x[0]
    return total


def fill_diagonal(x):
    a = np.eye(3)
    np.fill_diagonal(a, x)
    return a


#: calls that work: function and the derivative of the sum of its result
DERIVATIVES = {
    "np.dot(a, x)": (lambda x: np.dot(matrix, x), matrix.sum(0)),
    "a @ x": (lambda x: matrix @ x, matrix.sum(0)),
    "x @ a": (lambda x: x @ matrix, matrix.sum(1)),
    "a * x": (lambda x: plain * x, plain),
    "np.float64 * x": (lambda x: np.float64(2.0) * x, 2.0 * np.ones(3)),
    "list * x": (lambda x: [1.0, 2.0, 3.0] * x, plain),
    "x * list": (lambda x: x * [1.0, 2.0, 3.0], plain),
    "np.multiply(list, x)": (lambda x: np.multiply([1.0, 2.0, 3.0], x), plain),
    "np.multiply(x, list of x)": (lambda x: np.multiply(x, [x[0], x[0], x[0]]), np.array([2 * 0.3 + 0.5, 0.3, 0.3])),
    "np.concatenate": (lambda x: np.concatenate([x, plain]), np.ones(3)),
    "np.stack of entries": (lambda x: np.stack([x[0], x[2]]), np.array([1.0, 0.0, 1.0])),
    "np.hstack of entries": (lambda x: np.hstack([x[0], x]), np.array([2.0, 1.0, 1.0])),
    "anp.array": (lambda x: anp.array([x[0], [1.0, 2.0][0], x[1]]), np.array([1.0, 1.0, 0.0])),
    "anp.array, nested": (lambda x: anp.array([[x[0], 1.0], [2, x[0]]]), np.array([2.0, 0.0, 0.0])),
    "anp.full": (lambda x: anp.full((2, 3), x), 2 * np.ones(3)),
    "anp.asarray": (lambda x: anp.asarray(x), np.ones(3)),
    "anp.sum of a list": (lambda x: anp.sum([x, plain]), np.ones(3)),
    "np.nan_to_num": (lambda x: np.nan_to_num(x), np.ones(3)),
    "np.where": (lambda x: np.where(x > 0, x, 0.0), np.array([1.0, 1.0, 0.0])),
    "np.einsum": (lambda x: np.einsum("ij,j", matrix, x), matrix.sum(0)),
    "np.linalg.norm": (lambda x: np.linalg.norm(x), X / np.linalg.norm(X)),
    "np.copy": (lambda x: np.copy(x), np.ones(3)),
    "np.add.reduce": (lambda x: np.add.reduce(x), np.ones(3)),
    "np.linspace": (lambda x: np.linspace(x[0], x[1], 3), np.array([1.5, 1.5, 0.0])),
    "sum()": (lambda x: sum(x), np.ones(3)),
    "max()": (lambda x: max(x), np.array([0.0, 1.0, 0.0])),
    "abs()": (lambda x: abs(x), np.sign(X)),
    "np.iscomplexobj": (lambda x: x if not np.iscomplexobj(x) and np.isrealobj(x) else 0 * x, np.ones(3)),
    "np.shape, ndim, size": (lambda x: x * np.shape(x)[0] * np.ndim(x) * np.size(x), 9 * np.ones(3)),
    "np.result_type": (lambda x: x.astype(np.result_type(x, np.float32)), np.ones(3)),
    "np.zeros_like": (lambda x: np.zeros_like(x) + x, np.ones(3)),
    "np.argmax": (lambda x: x[np.argmax(x)], np.array([0.0, 1.0, 0.0])),
    "concrete mask": (lambda x: x[x > 0], np.array([1.0, 1.0, 0.0])),
    "np.nonzero": (lambda x: x[np.nonzero(x > 0)], np.array([1.0, 1.0, 0.0])),
}  # fmt: skip
#: calls that cannot work, the class of their error, and what its message names
ERRORS = {
    "float": (lambda x: float(x[0]), errors.ConcretizationTypeError, "has_aux"),
    "complex": (lambda x: complex(x[0]), errors.ConcretizationTypeError, "complex"),
    "int": (lambda x: int(x[0]), errors.TracerIntegerConversionError, "astype"),
    "index": (lambda x: [1, 2, 3][x[0]], errors.TracerIntegerConversionError, r"anp\.at"),
    "range": (lambda x: range(x[0]), errors.TracerIntegerConversionError, "argnums|fori_loop"),
    "round()": (lambda x: round(x[0]), errors.ConcretizationTypeError, "mend"),
    "math.sin": (lambda x: math.sin(x[0]), errors.ConcretizationTypeError, "math"),
    "math.floor": (lambda x: math.floor(x[0]), errors.ConcretizationTypeError, "math"),
    "np.array(x)": (lambda x: np.array(x), errors.TracerArrayConversionError, "anp.array"),
    "np.array([x, y])": (lambda x: np.array([x[0], x[1]]), errors.TracerArrayConversionError, "anp.array"),
    "np.array([x, 1])": (lambda x: np.array([1.0, x[1]]), errors.TracerArrayConversionError, "anp.array"),
    "np.asarray": (lambda x: np.asarray(x), errors.TracerArrayConversionError, "anp.asarray"),
    "np.array(x, object)": (lambda x: np.array(x, dtype=object), errors.TracerArrayConversionError, "anp"),
    "np.full": (lambda x: np.full(3, x[0]), (errors.TracerArrayConversionError, errors.MutationError), "anp.full"),
    "np.r_": (lambda x: np.r_[x], errors.TracerArrayConversionError, "anp"),
    "np.c_": (lambda x: np.c_[x, x], errors.TracerArrayConversionError, "anp"),
    "np.sum of a list": (lambda x: np.sum([x[0], x[1]]), errors.TracerArrayConversionError, "anp"),
    "np.sin of a list": (lambda x: np.sin([x[0], x[1]]), errors.TracerArrayConversionError, "anp"),
    "a.dot(x)": (lambda x: plain.dot(x), errors.TracerArrayConversionError, "anp.dot"),
    "a.searchsorted(x)": (lambda x: plain.searchsorted(x), errors.TracerArrayConversionError, "anp"),
    "a.fill(x)": (lambda x: np.zeros(3).fill(x[0]), (errors.AutodidaxError, ValueError), "."),
    "a[x]": (lambda x: plain[x], (errors.AutodidaxError, IndexError), "."),
    "np.arange": (lambda x: np.arange(x[0]), errors.TracerArrayConversionError, r"np\.arange"),
    "anp.arange": (lambda x: anp.arange(x[0]), errors.ConcretizationTypeError, "linspace"),
    "np.random": (lambda x: np.random.default_rng(0).normal(x), errors.TracerArrayConversionError, "rng.normal"),
    "np.random, legacy": (lambda x: np.random.RandomState(0).normal(x), errors.TracerArrayConversionError, "rng"),
    "np.vectorize": (lambda x: np.vectorize(lambda v: v * 2)(x), errors.TracerArrayConversionError, "vmap"),
    "np.frompyfunc": (lambda x: np.frompyfunc(abs, 1, 1)(x), errors.UnsupportedError, "ufunc"),
    "np.save": (lambda x: np.save("nowhere", x), errors.UnsupportedError, "has_aux"),
    "np.shares_memory": (lambda x: np.shares_memory(x, x), errors.UnsupportedError, "shares_memory"),
    "np.tofile": (lambda x: x.tofile("nowhere"), errors.UnsupportedError, "memory"),
    "x.view": (lambda x: x.view(np.int64), errors.UnsupportedError, "astype"),
    "x.item": (lambda x: x[0].item(), errors.ConcretizationTypeError, "has_aux"),
    "x.tolist": (lambda x: x.tolist(), errors.ConcretizationTypeError, "has_aux"),
    "x.flat": (lambda x: x.flat, errors.UnsupportedError, "ravel"),
    "x.nothing": (lambda x: x.nothing, AttributeError, "nothing"),
    "pickle": (lambda x: pickle.dumps(x), errors.UnsupportedError, "pickle"),
    "masked array": (lambda x: np.add(x, np.ma.array(plain, mask=[0, 1, 0])), errors.DtypeError, "mask"),
    # writing
    "x[0] = v": (lambda x: x.__setitem__(0, 1.0), errors.MutationError, r"anp\.at"),
    "del x[0]": (lambda x: x.__delitem__(0), errors.MutationError, "keep"),
    "x.sort": (lambda x: x.sort(), errors.MutationError, "np.sort"),
    "x.fill": (lambda x: x.fill(0.0), errors.MutationError, "full_like"),
    "x.put": (lambda x: x.put(0, 1.0), errors.MutationError, r"anp\.at"),
    "x.resize": (lambda x: x.resize(2), errors.MutationError, "resize"),
    "total += x": (augment, errors.MutationError, "total = total \\+ x"),
    "out=": (lambda x: np.sin(x, out=np.zeros(3)), errors.MutationError, "leave out= away"),
    "out= of a sum": (lambda x: np.sum(x, out=np.zeros(())), errors.MutationError, "out"),
    "out= of anp": (lambda x: anp.sin(x, out=np.zeros(3)), errors.MutationError, "out"),
    "out, by position": (lambda x: anp.sin(x, np.zeros(3)), errors.MutationError, "out"),
    "out= of a method": (lambda x: x.sum(out=np.zeros(())), errors.MutationError, "out"),
    "np.add.at": (lambda x: np.add.at(np.zeros(3), [0], x[0]), errors.MutationError, r"anp\.at\(a\)\[index\]\.add"),
    "np.copyto": (lambda x: np.copyto(np.zeros(3), x), errors.MutationError, "copyto"),
    "np.put": (lambda x: np.put(np.zeros(3), [0], x), (errors.MutationError, errors.TracerArrayConversionError), "anp"),
    "np.place": (lambda x: np.place(np.zeros(3), plain > 1, x), errors.MutationError, "where"),
    "np.putmask": (lambda x: np.putmask(np.zeros(3), plain > 1, x), errors.MutationError, "where"),
    "np.fill_diagonal": (fill_diagonal, (errors.MutationError, errors.TracerArrayConversionError), "anp"),
    "np.put_along_axis": (
        lambda x: np.put_along_axis(np.zeros(3), np.array([0]), x[:1], 0), errors.MutationError, r"anp\.at",
    ),
}  # fmt: skip
#: NumPy answers these with its own ValueError, and ours is its cause
CHAINED = {"a[0] = x[0]": assign, "a[0] += x[0]": augment_item}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_the_derivative_is_right(name):
    f, want = DERIVATIVES[name]
    loss = lambda x: anp.sum(f(x))
    np.testing.assert_allclose(autodidax.grad(loss)(X), want, rtol=1e-12)
    forward = [autodidax.jvp(loss, (X,), (row,))[1] for row in np.eye(3)]
    np.testing.assert_allclose(forward, want, rtol=1e-12)


UNDER = {
    "grad": lambda f: autodidax.grad(f)(X),
    "jvp": lambda f: autodidax.jvp(f, (X,), (np.ones(3),)),
    "vmap": lambda f: autodidax.vmap(f)(np.stack([X, X])),
    "jit": lambda f: autodidax.jit(f)(X),
    "vmap of grad": lambda f: autodidax.vmap(autodidax.grad(f))(np.stack([X, X])),
}


@pytest.mark.parametrize("transform", UNDER)
@pytest.mark.parametrize("name", ERRORS)
def test_the_error_has_the_mend(name, transform):
    f, cls, text = ERRORS[name]
    with pytest.raises(cls, match=text) as caught:
        UNDER[transform](f)
    if isinstance(caught.value, errors.AutodidaxError):
        assert caught.value.mend
        assert "Tracer object" not in str(caught.value)


@pytest.mark.parametrize("name", CHAINED)
def test_assignment_into_a_plain_array(name):
    with pytest.raises((errors.AutodidaxError, ValueError)) as caught:
        autodidax.grad(lambda x: anp.sum(CHAINED[name](x)))(X)
    error = caught.value if isinstance(caught.value, errors.AutodidaxError) else caught.value.__cause__
    assert isinstance(error, errors.AutodidaxError)
    assert "anp.at" in str(error)


def test_missing_names(monkeypatch):
    monkeypatch.setattr(np, "brand_new", abs, raising=False)
    with pytest.raises(AttributeError, match=r"numpy has it.*coverage\.md"):
        anp.brand_new
    with pytest.raises(AttributeError, match="neither has numpy"):
        anp.nothing


def test_a_leaked_value_is_refused():
    kept = []
    autodidax.grad(lambda x: [kept.append(x), x.sum()][1])(X)
    for use in (lambda x: x + 1, lambda x: np.sin(x), lambda x: bool(x), lambda x: x[0], lambda x: anp.sum(x)):
        with pytest.raises(errors.UnexpectedTracerError):
            use(kept[0])


class RefusesUfuncs:
    __array_ufunc__ = None

    def __mul__(self, other):
        return "mine"

    __rmul__ = __mul__


ODD_OPERANDS = {
    "Fraction": Fraction(1, 2),
    "Decimal": Decimal(2),
    "None": None,
    "str": "a",
    "dict": {},
    "object": object(),
    "array of objects": np.array([1, 2, 3], object),
    "masked array": np.ma.array(plain, mask=[0, 1, 0]),
    "datetime": np.datetime64("2020"),
}
COMBINE = {
    "x * o": lambda x, o: x * o,
    "o + x": lambda x, o: o + x,
    "x ** o": lambda x, o: x**o,
    "np.multiply": lambda x, o: np.multiply(x, o),
    "anp.arctan2": lambda x, o: anp.arctan2(o, x),
    "np.where": lambda x, o: np.where(x > 0, x, o),
    "x @ o": lambda x, o: x @ o,
}


@pytest.mark.parametrize("transform", UNDER)
@pytest.mark.parametrize("combination", COMBINE)
@pytest.mark.parametrize("kind", ODD_OPERANDS)
def test_operands_that_are_no_numbers_are_refused(kind, combination, transform):
    with pytest.raises((TypeError, ValueError)):
        UNDER[transform](lambda x: anp.sum(COMBINE[combination](x, ODD_OPERANDS[kind])))


def test_operands_that_refuse_ufuncs_answer_themselves():
    seen = []

    def f(x):
        seen.extend([x * RefusesUfuncs(), RefusesUfuncs() * x])
        with pytest.raises(TypeError):
            np.multiply(x, RefusesUfuncs())
        with pytest.raises(TypeError):
            anp.multiply(x, RefusesUfuncs())
        return x.sum()

    autodidax.grad(f)(X)
    assert seen == ["mine", "mine"]


def test_comparison_with_none_and_strings():
    assert autodidax.jit(lambda x: (x == None, x != None, x == "a"))(1.0) == (False, True, False)  # noqa: E711  # what is tested
