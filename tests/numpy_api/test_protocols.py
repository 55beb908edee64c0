"""`__array_ufunc__` and `__array_function__`: keywords, methods of ufuncs, SciPy's ufuncs, what is refused."""

import subprocess
import sys

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import errors
from tests.numpy_api.agreement import assert_same, check_derivatives, check_staged, check_vmap

rng = np.random.default_rng(5)
m34, n34, v3, v4 = rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), rng.normal(size=3), rng.normal(size=4)
boolean = m34 > 0

CALLS = {
    "add.reduce": ((m34,), lambda x: np.add.reduce(x)),
    "add.reduce, axis": ((m34,), lambda x: np.add.reduce(x, axis=1, keepdims=True)),
    "add.reduce, axes": ((m34,), lambda x: np.add.reduce(x, axis=(0, 1))),
    "add.reduce, None": ((m34,), lambda x: np.add.reduce(x, axis=None)),
    "add.reduce, initial": ((m34,), lambda x: np.add.reduce(x, initial=2.0)),
    "add.reduce, where": ((m34,), lambda x: np.add.reduce(x, where=boolean)),
    "add.reduce, dtype": ((m34,), lambda x: np.add.reduce(x, dtype=complex)),
    "multiply.reduce": ((m34,), lambda x: np.multiply.reduce(x, axis=1)),
    "maximum.reduce": ((m34,), lambda x: np.maximum.reduce(x)),
    "minimum.reduce": ((m34,), lambda x: np.minimum.reduce(x, axis=-1)),
    "logical_and.reduce": ((m34,), lambda x: np.logical_and.reduce(x)),
    "logical_or.reduce": ((m34,), lambda x: np.logical_or.reduce(x, axis=1)),
    "logaddexp.reduce": ((m34,), lambda x: np.logaddexp.reduce(x, axis=1)),
    "add.accumulate": ((m34,), lambda x: np.add.accumulate(x)),
    "multiply.accumulate": ((m34,), lambda x: np.multiply.accumulate(x, axis=1)),
    "maximum.accumulate": ((m34,), lambda x: np.maximum.accumulate(x, axis=1)),
    "minimum.accumulate": ((m34,), lambda x: np.minimum.accumulate(x)),
    "multiply.outer": ((m34, v3), lambda x, y: np.multiply.outer(x, y)),
    "subtract.outer": ((v3, v4), lambda x, y: np.subtract.outer(x, y)),
    "outer, one plain": ((v4,), lambda y: np.arctan2.outer(v3, y)),
    "dtype": ((v3,), lambda x: np.add(x, 1, dtype=complex)),
    "casting": ((v3,), lambda x: np.sin(x, dtype=np.float64, casting="same_kind")),
    "where=True": ((v3,), lambda x: np.sin(x, where=True)),
    "order, subok": ((v3,), lambda x: np.multiply(x, 2.0, order="K", subok=True)),
    "anp keywords": ((v3,), lambda x: anp.multiply(x, 2.0, dtype=np.float64)),
    "matmul": ((m34, v4), lambda x, y: np.matmul(x, y)),
    "vecdot": ((m34, v4), lambda x, y: np.vecdot(x, y)),
    "vecdot, axis": ((m34, v3), lambda x, y: np.vecdot(x, y[:, None], axis=0)),
    "matvec": ((m34, v4), lambda x, y: np.matvec(x, y)),
    "vecmat": ((v3, m34), lambda x, y: np.vecmat(x, y)),
    "modf": ((v3,), lambda x: np.modf(x)),
    "frexp": ((v3,), lambda x: np.frexp(x)[0]),
    "divmod": ((v3,), lambda x: np.divmod(x, 0.37)),
}


@pytest.mark.parametrize("name", CALLS)
def test_call(name):
    args, f = CALLS[name]
    wrt = tuple(range(len(args)))
    check_derivatives(f, args, wrt)
    check_vmap(f, args, wrt)
    check_staged(f, args, wrt)
    primal, _ = autodidax.jvp(f, args, tuple(map(np.zeros_like, args)))
    assert_same(primal, f(*args), exact=False)


REFUSED = {
    "where=": (lambda x: np.sin(x, where=v3 > 0), errors.UnsupportedError, "where"),
    "casting": (lambda x: np.sin(x + 0j, dtype=np.float64), errors.DtypeError, "cast"),
    "signature": (lambda x: np.add(x, 1.0, signature="dd->d"), errors.UnsupportedError, "signature"),
    "subtract.reduce": (lambda x: np.subtract.reduce(x), errors.UnsupportedError, "subtract.reduce"),
    "arctan2.accumulate": (lambda x: np.arctan2.accumulate(x), errors.UnsupportedError, "accumulate"),
    "reduceat": (lambda x: np.add.reduceat(x, [0, 1]), errors.UnsupportedError, "reduceat"),
    "at": (lambda x: np.multiply.at(x, [0], 2.0), errors.MutationError, "multiply"),
    "reduce, out": (lambda x: np.add.reduce(x, out=np.zeros(())), errors.MutationError, "out"),
    "mode of pad": (lambda x: np.pad(x, 1, lambda *args: None), errors.UnsupportedError, "mode"),
    "keyword of sort": (lambda x: np.sort(x, order="f"), errors.UnsupportedError, "order"),
    "quantile, method": (lambda x: np.quantile(x, 0.5, method="middle"), errors.ArgumentError, "middle"),
    "cross in the plane": (lambda x: np.cross(x[:2], x[:2]), errors.ShapeError, "3"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    f, cls, text = REFUSED[name]
    for transform in (autodidax.grad(lambda x: anp.sum(f(x))), autodidax.jit(f), autodidax.vmap(f)):
        with pytest.raises(cls, match=text):
            transform(v3 if transform.__name__ != "vmap_<lambda>" else np.stack([v3, v3]))


def test_refused_in_numpys_words():
    """Mistakes that NumPy itself would call a mistake raise its exceptions."""
    for f, cls in [
        (lambda x: np.sum(x, axis=3), np.exceptions.AxisError),
        (lambda x: np.sum(x, axis=(0, 0)), ValueError),
        (lambda x: np.reshape(x, (2, 2)), ValueError),
        (lambda x: np.concatenate([x, x[0]]), ValueError),
        (lambda x: np.squeeze(x, 0), ValueError),
        (lambda x: np.max(x[:0]), ValueError),
        (lambda x: np.transpose(x, (0, 0)), ValueError),
        (lambda x: x + np.ones(4), ValueError),
        (lambda x: x[7], IndexError),
        (lambda x: x[0, 0], IndexError),
    ]:
        with pytest.raises(cls):
            autodidax.grad(lambda x, f=f: anp.sum(f(x)))(v3)


def test_scipys_ufuncs_load_on_first_use():
    code = """
import sys, numpy as np, autodidax
f = autodidax.grad(lambda x: np.sum(np.sin(x) + np.linalg.norm(x)))
f(np.ones(3))
assert not any(m.startswith("scipy") for m in sys.modules), "SciPy was loaded too early"
import scipy.special
print(float(autodidax.grad(lambda x: scipy.special.gammaln(x))(3.0)))
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert abs(float(out) - 0.9227843350984671) < 1e-12


def test_a_users_primitive_is_found_by_its_ufunc():
    import scipy.special

    p = autodidax.pointwise("exprel_of_test", scipy.special.exprel, lambda y, x: (np.exp(x) - y) / x)
    try:
        check_derivatives(lambda x: scipy.special.exprel(x), (np.array([0.5, 1.5]),), (0,))
    finally:
        autodidax.registry.remove(p)


def test_functions_are_found_by_identity():
    """A function that only bears a name of NumPy's is called as it is."""

    def concatenate(arrays):
        return arrays[0] * 2.0

    assert autodidax.grad(lambda x: concatenate([x]))(1.0) == 2.0


def test_public_ufuncs_bear_their_names():
    assert anp.sin.__name__ == "sin" and anp.multiply.nin == 2
    assert "numpy.sin" in anp.sin.__doc__
