"""Dtype conversion, complex parts, and arrays of zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray, broadcast_shapes, is_inexact
from autodidax.core.interpreters import Tracer, dtype_of, get_aval
from autodidax.core.primitive import Primitive, align_batch, sample


class ConvertElementType(Primitive):
    """Cast to another dtype: (...) -> (...); real to complex is linear, complex to real drops the imaginary part."""

    linear = True
    structural = True

    def impl(self, x, *, dtype):
        x = np.asarray(x)
        if x.dtype.kind == "c" and dtype.kind not in "cb":
            x = x.real
        return x.astype(dtype)[()]

    def abstract_eval(self, x, *, dtype):
        return ShapedArray(x.shape, dtype)

    def transpose(self, ct, x, *, dtype):
        if not is_inexact(x.dtype):
            return [None]
        if dtype_of(ct).kind == "c" and x.dtype.kind != "c":
            ct = real(ct)
        return [convert_element_type(ct, dtype=x.dtype)]

    def batch(self, args, dims, *, dtype):
        return self(*args, dtype=dtype), 0

    def samples(self, rng):
        yield sample(rng.normal(size=(2, 3)), dtype=np.dtype(np.float32))
        yield sample(rng.normal(size=(3,)).astype(np.float32), dtype=np.dtype(np.float64))
        yield sample(rng.normal(size=(3,)), dtype=np.dtype(np.complex128))
        yield sample(rng.normal(size=(3,)) + 1j, dtype=np.dtype(np.complex64))
        yield sample(rng.normal(size=(3,)) + 1j, dtype=np.dtype(np.float64))
        yield sample(rng.normal(size=(3,)) * 5, dtype=np.dtype(np.int64))
        yield sample(rng.normal(size=(3,)) + 1j, dtype=np.dtype(bool))
        yield sample(np.arange(3), dtype=np.dtype(np.float64))
        yield sample(1.5, dtype=np.dtype(np.float32), name="Python scalar")
        yield sample(rng.normal(), dtype=np.dtype(np.float32))
        yield sample(rng.normal(size=(0, 2)), dtype=np.dtype(np.float32))


convert_element_type = ConvertElementType("convert_element_type")


def astype(x: Any, dtype: Any) -> Any:
    """`x` in another dtype; the same object where it has that dtype already.

    Raises: DtypeError for a traced value and a dtype that is not one of numbers, such as that of texts: numbers could
    be made of it again, without their derivatives.
    """
    dtype = np.dtype(dtype)
    if dtype_of(x) == dtype and not get_aval(x).weak_type:
        return x
    if dtype.kind not in "biufc" and isinstance(x, Tracer):
        raise errors.DtypeError(
            f"a traced value cannot be converted to the dtype {dtype.name}: its derivative would be lost",
            mend="keep it a number; convert stop_gradient(x), or what the transformed function returns",
        )
    return convert_element_type(x, dtype=dtype)


def _real_dtype(dtype: np.dtype) -> np.dtype:
    return np.empty(0, dtype).real.dtype


def _complex_samples(rng):
    for shape in [(), (3,), (2, 3), (0,)]:
        yield sample(rng.normal(size=shape) + 1j * rng.normal(size=shape))
    yield sample((rng.normal(size=3) + 1j).astype(np.complex64))
    yield sample(0.5 - 1.5j, name="Python scalar")


class _ComplexPart(Primitive):
    linear = True

    def abstract_eval(self, x):
        return ShapedArray(x.shape, _real_dtype(x.dtype), x.weak_type)

    def batch(self, args, dims):
        return self(*args), 0

    def samples(self, rng):
        yield from _complex_samples(rng)


class Real(_ComplexPart):
    """Real part of a complex array: c128[...] -> f64[...]."""

    structural = True

    def impl(self, x):
        return x.real if type(x) is complex else np.array(np.real(x))[()]

    def transpose(self, ct, x):
        return [convert_element_type(ct, dtype=x.dtype)]


class Imag(_ComplexPart):
    """Imaginary part of a complex array: c128[...] -> f64[...]; transposed without a conjugate: ct -> -i ct."""

    def impl(self, x):
        return x.imag if type(x) is complex else np.array(np.imag(x))[()]

    def transpose(self, ct, x):
        return [make_complex(zeros_like(ct), -ct)]


class MakeComplex(Primitive):
    """Complex array of a real and an imaginary part of one dtype: f64[...], f64[...] -> c128[...], without arithmetic.

    Source: jax.lax.complex.
    """

    linear = True

    def impl(self, x, y):
        dtype = np.result_type(x, y)
        out = np.empty(np.broadcast_shapes(np.shape(x), np.shape(y)), np.result_type(dtype, np.complex64))
        out.real, out.imag = x, y
        return out[()]

    def abstract_eval(self, x, y):
        dtype = np.result_type(*(a.dtype.type(0).item() if a.weak_type else a.dtype for a in (x, y)))
        return ShapedArray(broadcast_shapes("complex", x.shape, y.shape), np.result_type(dtype, np.complex64))

    def transpose(self, ct, x, y):
        return [real(ct), -imag(ct)]

    def batch(self, args, dims):
        return self(*align_batch(args, dims)), 0

    def samples(self, rng):
        for one, other in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0,), ())]:
            yield sample(rng.normal(size=one), rng.normal(size=other))
        yield sample(rng.normal(size=3).astype(np.float32), rng.normal(size=3).astype(np.float32))


class Conj(Primitive):
    """Complex conjugate of a complex array; linear over the reals, its own transpose."""

    linear = True
    structural = True
    numpy_function = np.conjugate

    def impl(self, x):
        return np.conjugate(x)

    def abstract_eval(self, x):
        return ShapedArray(x.shape, x.dtype)

    def transpose(self, ct, x):
        return [conj(ct)]

    def batch(self, args, dims):
        return self(*args), 0

    def samples(self, rng):
        yield from _complex_samples(rng)


real_complex = Real("real")
imag_complex = Imag("imag")
conj_complex = Conj("conj")
make_complex = MakeComplex("complex")


def real(x: Any) -> Any:
    """Real part; a real array is returned as it is."""
    return real_complex(x) if dtype_of(x).kind == "c" else x


def imag(x: Any) -> Any:
    """Imaginary part; zeros for a real array."""
    return imag_complex(x) if dtype_of(x).kind == "c" else zeros_like(x)


def conj(x: Any) -> Any:
    """Complex conjugate; a real array is returned as it is."""
    return conj_complex(x) if dtype_of(x).kind == "c" else x


def zeros_of(aval: Any) -> Any:
    """Plain zeros of an aval's shape and dtype."""
    return np.zeros(aval.shape, aval.dtype)[()]


def zeros_like(x: Any) -> Any:
    """Plain zeros of the shape and dtype of any value, traced or not."""
    return zeros_of(get_aval(x))


class StopGradient(Primitive):
    """The identity, with derivative zero."""

    zero_derivative = True

    def impl(self, x):
        return x

    def abstract_eval(self, x):
        return x

    def batch(self, args, dims):
        return self(*args), 0

    def samples(self, rng):
        yield sample(rng.normal(size=(2, 3)))


stop_gradient_p = StopGradient("stop_gradient")


def is_traced(x: Any) -> bool:
    """Whether a value belongs to an open transform."""
    return isinstance(x, Tracer)
