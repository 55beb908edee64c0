"""Discrete Fourier transforms along one axis: of complex signals, of real signals, and back to real signals.

Each is linear over the reals. `n` is the length of the transform, to which the operand is cut or padded with zeros at
its end; `norm` says which way the factor 1 / n goes ("backward", "forward"), or 1 / sqrt(n) both ways ("ortho").
Transforms over several axes are one equation an axis, as NumPy computes them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.core.primitive import Primitive, sample
from autodidax.primitives.convert import conj
from autodidax.primitives.rearrange import along
from autodidax.primitives.shape import pad

#: the norm of the inverse transform that has the same factor as the transform with this norm
OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


class _Fourier(Primitive):
    """A transform of length n along one axis."""

    linear = True

    def batch(self, args, dims, *, axis, **params):
        return self(args[0], axis=axis + 1, **params), 0


class FFT(_Fourier):
    """Discrete Fourier transform, or with `inverse` that with the other sign: (..., m, ...) -> (..., n, ...), complex.

    Source: numpy.fft.fft, numpy.fft.ifft.
    """

    def impl(self, x, *, n, axis, inverse, norm):
        return (np.fft.ifft if inverse else np.fft.fft)(x, n, axis, norm)

    def abstract_eval(self, x, *, n, axis, inverse, norm):
        return ShapedArray(_with_size(x.shape, axis, n), np.result_type(x.dtype, 1j))

    def transpose(self, ct, x, *, n, axis, inverse, norm):  # the matrix is symmetric
        return [_resized(fft(ct, n=n, axis=axis, inverse=inverse, norm=norm), axis, x.shape[axis])]

    def samples(self, rng):
        def draw(*shape):
            return rng.normal(size=shape) + 1j * rng.normal(size=shape)

        for inverse in (False, True):
            yield sample(draw(5), n=5, axis=0, inverse=inverse, norm="backward")
            yield sample(draw(2, 4), n=4, axis=1, inverse=inverse, norm="ortho")
            yield sample(draw(3, 2), n=5, axis=0, inverse=inverse, norm="forward", name="padded")
            yield sample(draw(2, 5, 2), n=3, axis=1, inverse=inverse, norm="backward", name="cut")
        yield sample(draw(1), n=1, axis=0, inverse=False, norm="backward", name="one entry")
        yield sample(rng.normal(size=(2, 4)), n=4, axis=1, inverse=False, norm="ortho", name="real")
        yield sample(rng.normal(size=3).astype(np.float32), n=3, axis=0, inverse=True, norm="forward", name="float32")
        yield sample(draw(3).astype(np.complex64), n=4, axis=0, inverse=False, norm="ortho", name="complex64")
        yield sample(draw(0, 2), n=3, axis=0, inverse=False, norm="backward", name="nothing, padded")
        yield sample(draw(0, 2), n=2, axis=1, inverse=False, norm="backward", name="empty beside")


class RFFT(_Fourier):
    """Frequencies 0 to n // 2 of a real signal: (..., m, ...) -> (..., n // 2 + 1, ...), complex.

    Source: numpy.fft.rfft.
    """

    def impl(self, x, *, n, axis, norm):
        return np.fft.rfft(x, n, axis, norm)

    def abstract_eval(self, x, *, n, axis, norm):
        require_real("rfft", x.dtype)
        return ShapedArray(_with_size(x.shape, axis, n // 2 + 1), np.result_type(x.dtype, 1j))

    def transpose(self, ct, x, *, n, axis, norm):
        # Re sum(ct_k e^(-2 pi i j k / n)): irfft of the conjugates, which counts the inner frequencies twice
        halves = _multiplicity(n, ct, axis, 0.5)
        return [_resized(irfft(conj(ct) * halves, n=n, axis=axis, norm=OPPOSITE[norm]), axis, x.shape[axis])]

    def samples(self, rng):
        yield sample(rng.normal(size=5), n=5, axis=0, norm="backward")
        yield sample(rng.normal(size=(2, 6)), n=6, axis=1, norm="ortho")
        yield sample(rng.normal(size=(3, 2)), n=4, axis=0, norm="forward", name="padded")
        yield sample(rng.normal(size=(2, 6, 2)), n=3, axis=1, norm="backward", name="cut")
        yield sample(rng.normal(size=2), n=2, axis=0, norm="forward", name="two entries")
        yield sample(rng.normal(size=1), n=1, axis=0, norm="backward", name="one entry")
        yield sample(rng.normal(size=(2, 4)).astype(np.float32), n=4, axis=1, norm="ortho", name="float32")
        yield sample(rng.normal(size=(0, 2)), n=3, axis=0, norm="backward", name="nothing, padded")
        yield sample(rng.normal(size=(0, 2)), n=2, axis=1, norm="backward", name="empty beside")


class IRFFT(_Fourier):
    """The real signal of length n with the frequencies 0 to n // 2: (..., m, ...) -> (..., n, ...), real.

    The imaginary part of frequency 0 counts for nothing, nor does that of n / 2 for even n.

    Source: numpy.fft.irfft.
    """

    def impl(self, x, *, n, axis, norm):
        if not x.shape[axis]:  # NumPy reads a first entry all the same, and so gives what the memory happens to hold
            x = np.zeros(_with_size(x.shape, axis, 1), x.dtype)
        return np.fft.irfft(x, n, axis, norm)

    def abstract_eval(self, x, *, n, axis, norm):
        dtype = np.empty(0, x.dtype).real.dtype
        return ShapedArray(_with_size(x.shape, axis, n), np.result_type(dtype, 1.0))

    def transpose(self, ct, x, *, n, axis, norm):  # each inner frequency stands for its conjugate at n - k as well
        spectrum = conj(rfft(ct, n=n, axis=axis, norm=OPPOSITE[norm]))
        return [_resized(spectrum * _multiplicity(n, spectrum, axis, 2.0), axis, x.shape[axis])]

    def samples(self, rng):
        def draw(*shape):
            return rng.normal(size=shape) + 1j * rng.normal(size=shape)

        yield sample(draw(3), n=5, axis=0, norm="backward")
        yield sample(draw(2, 4), n=6, axis=1, norm="ortho")
        yield sample(draw(2, 2), n=6, axis=0, norm="forward", name="padded")
        yield sample(draw(2, 5, 2), n=4, axis=1, norm="backward", name="cut")
        yield sample(draw(2), n=2, axis=0, norm="forward", name="two entries")
        yield sample(draw(1), n=1, axis=0, norm="backward", name="one entry")
        yield sample(rng.normal(size=(2, 3)), n=4, axis=1, norm="backward", name="real")
        yield sample(rng.normal(size=3).astype(np.float32), n=5, axis=0, norm="ortho", name="float32")
        yield sample(draw(3).astype(np.complex64), n=4, axis=0, norm="forward", name="complex64")
        yield sample(draw(0, 2), n=3, axis=0, norm="backward", name="nothing, padded")
        yield sample(draw(0, 2), n=2, axis=1, norm="backward", name="empty beside")


fft = FFT("fft", numpy_function=np.fft.fft)
rfft = RFFT("rfft", numpy_function=np.fft.rfft)
irfft = IRFFT("irfft", numpy_function=np.fft.irfft)


def require_real(name: str, dtype: np.dtype) -> None:
    """Raise DtypeError where a transform of real signals is given complex ones."""
    if dtype.kind == "c":
        raise errors.DtypeError(
            f"{name}: the signal is complex ({dtype})",
            mend="take its real part, or use fft, which gives all frequencies of a complex signal",
        )


def _with_size(shape: tuple[int, ...], axis: int, size: int) -> tuple[int, ...]:
    return (*shape[:axis], size, *shape[axis + 1 :])


def _resized(x: Any, axis: int, size: int) -> Any:
    """x cut, or padded with zeros at its end, to a size along one axis."""
    shape = shape_of(x)
    more = size - shape[axis]
    if more < 0:
        return x[along(axis, slice(0, size))]
    return pad(x, widths=tuple((0, more if k == axis else 0) for k in range(len(shape)))) if more else x


def _multiplicity(n: int, spectrum: Any, axis: int, inner: float) -> np.ndarray:
    """Factors for the frequencies 0 to n // 2, along one axis: 1 for 0 and n / 2, `inner` for the others, which occur
    twice among all n, as conjugates."""
    factors = np.full(n // 2 + 1, inner, np.finfo(dtype_of(spectrum)).dtype)
    factors[0] = 1.0
    if n % 2 == 0:
        factors[-1] = 1.0
    return factors.reshape((-1, *(1,) * (len(shape_of(spectrum)) - axis - 1)))
