"""Methods and attributes of traced values: those of numpy.ndarray."""

import copy
import operator

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import errors
from tests.numpy_api.agreement import assert_same, check_derivatives, check_staged, check_vmap

rng = np.random.default_rng(3)
m34, t234, v4 = rng.normal(size=(3, 4)), rng.normal(size=(2, 3, 4)), rng.normal(size=4)
z3 = rng.normal(size=3) + 1j * rng.normal(size=3)

METHODS = {
    "T": (t234, lambda x: x.T),
    "mT": (t234, lambda x: x.mT),
    "real": (z3, lambda x: x.real),
    "imag": (z3, lambda x: x.imag),
    "conj": (z3, lambda x: x.conj()),
    "conjugate": (z3, lambda x: x.conjugate()),
    "real of real": (v4, lambda x: x.real),
    "sum": (t234, lambda x: x.sum()),
    "sum, axis": (t234, lambda x: x.sum(1)),
    "sum, keepdims": (t234, lambda x: x.sum(axis=(0, 2), keepdims=True)),
    "mean": (t234, lambda x: x.mean(-1)),
    "std": (t234, lambda x: x.std(0)),
    "var": (t234, lambda x: x.var(ddof=1)),
    "prod": (m34, lambda x: x.prod(axis=0)),
    "min": (m34, lambda x: x.min(1)),
    "max": (m34, lambda x: x.max()),
    "argmin": (m34, lambda x: x.argmin(1)),
    "argmax": (m34, lambda x: x.argmax()),
    "cumsum": (m34, lambda x: x.cumsum(1)),
    "cumprod": (m34, lambda x: x.cumprod()),
    "any": (m34, lambda x: x.any(0)),
    "all": (m34, lambda x: x.all()),
    "reshape": (m34, lambda x: x.reshape(4, 3)),
    "reshape, tuple": (m34, lambda x: x.reshape((2, -1))),
    "reshape, order": (m34, lambda x: x.reshape(6, 2, order="F")),
    "reshape, int": (m34, lambda x: x.reshape(-1)),
    "ravel": (m34, lambda x: x.ravel()),
    "flatten": (m34, lambda x: x.flatten("F")),
    "transpose": (t234, lambda x: x.transpose()),
    "transpose, axes": (t234, lambda x: x.transpose(1, 0, 2)),
    "transpose, tuple": (t234, lambda x: x.transpose((2, 0, 1))),
    "transpose, None": (t234, lambda x: x.transpose(None)),
    "swapaxes": (t234, lambda x: x.swapaxes(0, 2)),
    "squeeze": (v4[None], lambda x: x.squeeze()),
    "squeeze, axis": (v4[None], lambda x: x.squeeze(0)),
    "astype": (v4, lambda x: x.astype(complex)),
    "copy": (v4, lambda x: x.copy()),
    "dot": (m34, lambda x: x.dot(v4)),
    "clip": (m34, lambda x: x.clip(-0.5, 0.5)),
    "clip, max": (m34, lambda x: x.clip(max=0.5)),
    "round": (m34, lambda x: x.round(1)),
    "take": (m34, lambda x: x.take([1, 1, 0], axis=1)),
    "argsort": (m34, lambda x: x.argsort()),
    "repeat": (v4, lambda x: x.repeat(2)),
    "diagonal": (m34, lambda x: x.diagonal(1)),
    "searchsorted": (np.sort(v4), lambda x: x.searchsorted(0.1)),
    "compress": (m34, lambda x: x.compress([True, False, True], axis=0)),
    "choose": (np.array([0, 1, 1, 0]), lambda x: x.choose([v4, 2 * v4])),
    "len": (m34, lambda x: x * len(x)),
    "iteration": (m34, lambda x: sum(row.sum() * k for k, row in enumerate(x))),
    "unpacking": (m34, lambda x: [row * 2 for row in x]),
    "reversed": (v4, lambda x: anp.stack(list(reversed(x)))),
    "copy.copy": (v4, lambda x: copy.copy(x) * copy.deepcopy(x)),
    "attributes": (m34, lambda x: x * (x.ndim + x.size + x.nbytes + x.itemsize + x.shape[0])),
    "getitem": (t234, lambda x: x[0, ..., -1] + x[1, :, 0]),
    "getitem, newaxis": (m34, lambda x: x[:, None, ::-2]),
    "getitem, list": (m34, lambda x: x[[0, 2]]),
    "getitem, arrays": (m34, lambda x: x[np.array([0, 2]), np.array([[1], [3]])]),
    "getitem, mask": (m34, lambda x: x[m34 > 0]),
    "block_until_ready": (v4, lambda x: x if type(x) is np.ndarray else x.block_until_ready()),
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_method(name):
    x, f = METHODS[name]
    if x.dtype.kind in "fc":
        check_derivatives(f, (x,), (0,))
        primal, _ = autodidax.jvp(f, (x,), (np.zeros_like(x),))
        assert_same(primal, f(x), exact=False)
        check_vmap(f, (x,), (0,))
    check_staged(f, (x,), (0,))


ASSIGNED = {
    "real": "x.imag", "imag": "x.real", "T": "np.transpose", "mT": "matrix_transpose", "shape": "reshape",
    "dtype": "astype", "name": "beside it", "flat": "beside it", "sum": "beside it", "at": "beside it",
}  # fmt: skip


@pytest.mark.parametrize("transform", [autodidax.grad, autodidax.jit, autodidax.vmap], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", ASSIGNED)
def test_attributes_cannot_be_assigned(name, transform):
    def f(x):
        setattr(x, name, 1.0)
        return x

    with pytest.raises(errors.MutationError, match=ASSIGNED[name]):
        transform(f)(v4)


OPERATORS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv, "pow": operator.pow,
    "floordiv": operator.floordiv, "mod": operator.mod, "divmod": divmod, "matmul": operator.matmul,
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip
BITS = {
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "lshift": operator.lshift, "rshift": operator.rshift,
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("other", [np.array([0.7, 1.3, 2.1]), np.float64(1.7), 2.5, 2], ids=lambda v: type(v).__name__)
def test_binary_operator(name, other):
    op = OPERATORS[name]
    x = np.array([0.45, 1.9, 2.6])
    if name == "matmul" and np.ndim(other) == 0:
        return
    for f in (lambda x: op(x, other), lambda x: op(other, x), lambda x: op(x, x + 1)):
        check_derivatives(f, (x,), (0,))
        check_vmap(f, (x,), (0,))
        check_staged(f, (x,), (0,))
        assert_same(autodidax.jvp(f, (x,), (x,))[0], f(x))


@pytest.mark.parametrize("name", BITS)
def test_operator_on_integers(name):
    x, y = np.array([1, 2, 7]), np.array([3, 0, 1])
    op = BITS[name]
    for f in (lambda x: op(x, y), lambda x: op(y, x), lambda x: op(x, 1)):
        assert_same(autodidax.vmap(f)(np.stack([x, x])), np.stack([f(x), f(x)]))
        check_staged(f, (x,), (0,))


@pytest.mark.parametrize("op", [operator.neg, operator.pos, operator.abs], ids=["neg", "pos", "abs"])
def test_unary_operator(op):
    x = np.array([0.4, -1.9, 2.6])
    check_derivatives(op, (x,), (0,))
    check_vmap(op, (x,), (0,))
    check_staged(op, (x,), (0,))


def test_invert():
    x = np.array([True, False])
    assert_same(autodidax.jit(lambda x: ~x)(x), ~x)
    assert_same(autodidax.vmap(lambda x: ~x)(x), ~x)


def test_augmented_assignment_rebinds():
    def f(x):
        y = x + 0.0
        y += 1.0
        y *= x
        y -= x[0]
        y /= 2.0
        y **= 2
        return y.sum()

    check_derivatives(f, (np.array([0.4, 1.9]),), (0,))


def test_powers_at_zero():
    for n, want in [(0, 0.0), (1, 1.0), (2, 0.0), (3, 0.0)]:
        assert autodidax.grad(lambda x, n=n: x**n)(0.0) == want
    assert autodidax.grad(autodidax.grad(lambda x: x**2))(0.0) == 2.0


def test_truth_is_that_of_the_value_under_grad():
    def f(x):
        if x > 1.0 and not x < 0.0:
            return x**2
        while x < 1.0:
            x = x * 2.0
        return x

    assert autodidax.grad(f)(3.0) == 6.0
    assert autodidax.grad(f)(0.3) == 4.0
    assert autodidax.grad(lambda x: x if 2.0 in x * np.array([1.0, 2.0]) else 0.0 * x)(1.0) == 1.0
    assert autodidax.grad(lambda x: x.sum() if x.sum() else 0.0)(np.ones(2)).tolist() == [1.0, 1.0]


def test_truth_of_several_entries_is_numpys_error():
    with pytest.raises(ValueError, match="ambiguous"):
        autodidax.grad(lambda x: x.sum() if x else 0.0)(np.ones(2))


def relu(potential, scale=1.0):
    return scale * potential if potential > 0 else 0.0 * potential


def test_truth_under_jit_names_function_and_argument():
    with pytest.raises(errors.TracerBoolConversionError, match=r"potential.*relu"):
        autodidax.jit(relu)(1.0)
    with pytest.raises(errors.TracerBoolConversionError, match="where"):
        autodidax.make_jaxpr(relu)(1.0)


def test_truth_under_vmap_names_the_function():
    with pytest.raises(errors.TracerBoolConversionError, match="vmap of relu"):
        autodidax.vmap(relu)(np.ones(2))
    with pytest.raises(errors.TracerBoolConversionError, match="vmap of"):
        autodidax.vmap(autodidax.grad(relu))(np.ones(2))


def test_truth_of_an_outer_value_is_not_baked_into_a_staged_program():
    with pytest.raises(errors.TracerBoolConversionError):
        autodidax.grad(lambda x: autodidax.jit(lambda y: y if x else 0.0 * y)(x))(1.0)


def test_length_and_iteration_of_a_scalar():
    with pytest.raises(TypeError, match="unsized"):
        autodidax.grad(lambda x: len(x) * x)(1.0)
    with pytest.raises(TypeError, match="0-d"):
        autodidax.grad(lambda x: sum(x))(1.0)


def test_repr_and_format():
    seen = []

    def loss(x):
        seen.extend([repr(x), str(x[0]), f"{x}", f"{x[0]:.2f}"])
        return x.sum()

    autodidax.grad(loss)(np.ones(3))
    assert seen == ["Traced<f64[3]> by grad of loss", "Traced<f64[]> by grad of loss",
                    "Traced<f64[3]> by grad of loss", "1.00"]  # fmt: skip
    kept = []
    autodidax.grad(lambda x: [kept.append(x), x.sum()][1])(np.ones(3))
    assert repr(kept[0]).startswith("Traced<")


def test_array_namespace():
    assert autodidax.grad(lambda x: x.__array_namespace__().sin(x))(0.3) == np.cos(0.3)


def test_array_type():
    assert isinstance(np.ones(2), anp.ndarray) and isinstance(np.float64(1.0), anp.ndarray)
    assert not isinstance([1.0], anp.ndarray) and not isinstance(1.0, anp.ndarray)
    seen = []
    autodidax.grad(lambda x: [seen.append(isinstance(x, anp.ndarray)), x][1])(1.0)
    assert seen == [True]
    with pytest.raises(TypeError):
        anp.ndarray((2,))


def test_every_attribute_of_ndarray_is_there_or_says_why():
    refused = set()

    def f(x):
        for name in dir(np.ndarray):
            if not name.startswith("_"):
                try:
                    getattr(x, name)
                except errors.UnsupportedError as e:
                    assert e.mend
                    refused.add(name)
        return x.sum()

    autodidax.grad(f)(np.ones((2, 2)))
    assert refused == {"base", "ctypes", "data", "flags", "flat", "strides"}


def test_star_import():
    names = {}
    exec("from autodidax.numpy import *", names)
    assert {"sin", "linalg", "array", "pi", "at", "float32"} <= set(names)
    assert not {"Any", "annotations", "operators", "methods"} & set(names)


@pytest.mark.parametrize("look_up", [lambda x: {1.0: 10.0}.get(x, 0.0) * x, lambda x: {x}, lambda x: {x: x}])
@pytest.mark.parametrize("transform", [autodidax.grad, autodidax.jit, autodidax.vmap])
def test_traced_values_have_no_hash(look_up, transform):
    with pytest.raises(autodidax.errors.ConcretizationTypeError, match="list"):
        transform(look_up)(np.ones(2)[0] if transform is not autodidax.vmap else np.ones(2))
