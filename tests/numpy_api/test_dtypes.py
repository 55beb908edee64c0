"""The dtype of T(f)(x) is the dtype of f(x), for the primal of jvp, for vmap and for jit, Python scalars included."""

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp

ARRAYS = {
    "float64": np.array([0.3, 0.7]),
    "float32": np.array([0.3, 0.7], np.float32),
    "float16": np.array([0.3, 0.7], np.float16),
    "complex64": np.array([0.3 + 0.1j, 0.7], np.complex64),
    "complex128": np.array([0.3 + 0.1j, 0.7]),
    "int64": np.array([1, 2]),
    "int32": np.array([1, 2], np.int32),
    "bool": np.array([True, False]),
}
SCALARS = {
    "float": 0.3,
    "int": 2,
    "complex": 0.3 + 0.1j,
    "np.float64": np.float64(0.3),
    "np.float32": np.float32(0.3),
    "np.int64": np.int64(2),
    "0-d": np.array(0.3, np.float32),
}
single = np.array([0.5, 0.25], np.float32)

FUNCTIONS = {
    "x + 1": lambda x: x + 1,
    "x + 1.5": lambda x: x + 1.5,
    "x * 2": lambda x: 2 * x,
    "x / 2": lambda x: x / 2,
    "x ** 2": lambda x: x**2,
    "x ** 2.5": lambda x: x**2.5,
    "-x": lambda x: x - 3 * x,
    "abs(x)": lambda x: abs(x),
    "x * single": lambda x: x * single,
    "x + x * single": lambda x: (x + x) * single,
    "(x / 3) * single": lambda x: (x / 3) * single,
    "(x ** 2) * single": lambda x: (x**2) * single,
    "abs(x) * single": lambda x: abs(x) * single,
    "np.multiply(x, 2.0) * single": lambda x: np.multiply(x, 2.0) * single,
    "np.add(x, x) * single": lambda x: np.add(x, x) * single,
    "np.square(x) * single": lambda x: np.square(x) * single,
    "np.power(x, 2) * single": lambda x: np.power(x, 2) * single,
    "np.absolute(x) * single": lambda x: np.absolute(x) * single,
    "np.positive(x) * single": lambda x: np.positive(x) * single,
    "np.conj(x) * single": lambda x: np.conj(x) * single,
    "np.real(x) * single": lambda x: anp.real(x) * single,
    "np.imag(x) * single": lambda x: anp.imag(x) * single,
    "np.angle(x) * single": lambda x: anp.angle(x) * single,
    "np.maximum(x, 0.5)": lambda x: np.maximum(anp.real(x), 0.5),
    "np.sin(x) * single": lambda x: np.sin(x) * single,
    "np.exp": lambda x: np.exp(x),
    "np.sqrt": lambda x: np.sqrt(x),
    "np.arctan": lambda x: np.arctan(x),
    "np.sum": lambda x: anp.sum(x),
    "np.mean": lambda x: anp.mean(x),
    "np.prod": lambda x: anp.prod(x),
    "np.max": lambda x: anp.max(x),
    "np.var": lambda x: anp.var(x),
    "np.std": lambda x: anp.std(x),
    "np.median": lambda x: anp.median(x),
    "np.any": lambda x: anp.any(x),
    "np.argmax": lambda x: anp.argmax(x),
    "np.cumsum": lambda x: anp.cumsum(x),
    "np.cumprod": lambda x: anp.cumprod(x),
    "np.sort": lambda x: anp.sort(anp.atleast_1d(x)),
    "np.where": lambda x: anp.where(anp.real(x) > 0.5, x, 0),
    "np.where, float": lambda x: anp.where(anp.real(x) > 0.5, x, 1.5),
    "np.clip": lambda x: anp.clip(anp.real(x), 0, 1),
    "np.stack": lambda x: anp.stack([x, x]),
    "np.concatenate": lambda x: anp.concatenate([anp.atleast_1d(x), single]),
    "np.array": lambda x: anp.array([x, x]),
    "np.array, mixed": lambda x: anp.array([x, x + 1]),
    "np.asarray * single": lambda x: anp.asarray(x) * single,
    "np.copy * single": lambda x: anp.copy(x) * single,
    "np.transpose * single": lambda x: anp.transpose(x) * single,
    "np.squeeze * single": lambda x: anp.squeeze(x) * single,
    "np.ravel * single": lambda x: anp.ravel(x)[:1] * single,
    "np.full": lambda x: anp.full((2,), x),
    "np.linspace": lambda x: anp.linspace(x, x + 1, 3),
    "np.zeros_like": lambda x: anp.zeros_like(x) + 0 * x,
    "np.nan_to_num * single": lambda x: anp.nan_to_num(x) * single,
    "np.broadcast_to * single": lambda x: anp.broadcast_to(x, (2, 2)) * single,
    "np.isfinite": lambda x: anp.isfinite(x),
    "np.float_power": lambda x: anp.float_power(x, 2),
    "np.average": lambda x: anp.average(anp.atleast_1d(x)),
    "np.diff": lambda x: anp.diff(anp.stack([x, x + 1])),
    "x.astype(f4)": lambda x: anp.asarray(x).real.astype(np.float32),
    "x == x": lambda x: x == x,
    "x[0]": lambda x: anp.atleast_1d(x)[0],
    "x @ x": lambda x: anp.atleast_1d(x) @ anp.atleast_1d(x),
}


def plain(f, x):
    with np.errstate(all="ignore"):
        try:
            return f(x)
        except (TypeError, np.exceptions.ComplexWarning):
            return None  # NumPy has no such function of this dtype


def expect(got, want):
    assert np.asarray(got).dtype == np.asarray(want).dtype
    assert np.shape(got) == np.shape(want)
    loose = np.asarray(want).dtype in (np.float16, np.float32, np.complex64)
    np.testing.assert_allclose(got, want, rtol=2e-3 if loose else 1e-12, atol=1e-3 if loose else 1e-12)


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_dtype_on_arrays(name, kind):
    f, x = FUNCTIONS[name], ARRAYS[kind]
    want = plain(f, x)
    if want is None:
        return
    with np.errstate(all="ignore"):
        expect(autodidax.jit(f)(x), want)
        expect(autodidax.vmap(f)(np.stack([x, x])), np.stack([want, want]))
        if x.dtype.kind in "fc":
            primal, tangent = autodidax.jvp(f, (x,), (np.zeros_like(x),))
            expect(primal, want)
            if np.asarray(want).dtype.kind in "fc":
                assert np.asarray(tangent).dtype == np.asarray(want).dtype
            gradient = autodidax.grad(lambda x: anp.sum(anp.real(f(x))).astype(float), holomorphic=False)(x)
            assert gradient.dtype == x.dtype


@pytest.mark.parametrize("kind", SCALARS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_dtype_on_scalars(name, kind):
    f, x = FUNCTIONS[name], SCALARS[kind]
    want = plain(f, x)
    if want is None:
        return
    with np.errstate(all="ignore"):
        expect(autodidax.jit(f)(x), want)
        if isinstance(x, float | complex) or getattr(x, "dtype", np.dtype(int)).kind in "fc":
            zero = 0.0 * x if not isinstance(x, np.ndarray) else np.zeros_like(x)
            primal, _ = autodidax.jvp(f, (x,), (zero,))
            expect(primal, want)


def test_result_type_of_weak_and_strong_values():
    seen = []

    def f(x):
        seen.append(np.result_type(x, np.float32))
        seen.append(np.result_type(np.sin(x), np.float32))
        seen.append(np.can_cast(x, np.float32))
        return x

    autodidax.grad(f)(1.0)
    assert seen == [np.float32, np.float64, False]
