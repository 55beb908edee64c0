"""numpy.fft, differentiable: the same names, signatures and results."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy.dispatch import axis_of, function_for, operand, refuse_out
from autodidax.numpy.norms import inexact
from autodidax.primitives import fourier, rearrange
from autodidax.primitives.convert import astype, conj
from autodidax.primitives.fourier import OPPOSITE, require_real
from autodidax.primitives.shape import AxisError


def fft_function(traced: Callable[..., Any]) -> Callable[..., Any]:
    """numpy.fft's function of the same name where no argument is traced, else `traced`."""
    return function_for(getattr(np.fft, traced.__name__))(traced)


# transforms along one axis


@fft_function
def fft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """Discrete Fourier transform along one axis: (..., m, ...) -> (..., n, ...), complex.

    Source: numpy.fft.fft.
    """
    return _complex("fft", a, n, axis, norm, out, inverse=False)


@fft_function
def ifft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """Inverse discrete Fourier transform along one axis: (..., m, ...) -> (..., n, ...), complex.

    Source: numpy.fft.ifft.
    """
    return _complex("ifft", a, n, axis, norm, out, inverse=True)


@fft_function
def rfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """Frequencies 0 to n // 2 of real signals along one axis: (..., m, ...) -> (..., n // 2 + 1, ...), complex.

    Source: numpy.fft.rfft.
    """
    return _from_real("rfft", a, n, axis, _norm("rfft", norm), out)


@fft_function
def irfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """Real signals with the frequencies 0 to n // 2 along one axis: (..., m, ...) -> (..., n, ...), n = 2 (m - 1).

    Source: numpy.fft.irfft.
    """
    return _to_real("irfft", a, n, axis, _norm("irfft", norm), out)


@fft_function
def hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """Real spectra of signals with Hermitian symmetry, of which the first half is given along one axis:
    (..., m, ...) -> (..., n, ...), n = 2 (m - 1).

    Source: numpy.fft.hfft.
    """
    return _to_real("hfft", conj(operand(a)), n, axis, OPPOSITE[_norm("hfft", norm)], out)


@fft_function
def ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """The first half of the signals with Hermitian symmetry that have real spectra, along one axis:
    (..., m, ...) -> (..., n // 2 + 1, ...), complex.

    Source: numpy.fft.ihfft.
    """
    return conj(_from_real("ihfft", a, n, axis, OPPOSITE[_norm("ihfft", norm)], out))


# transforms along several axes


@fft_function
def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """Discrete Fourier transform along several axes, all of them by default; complex.

    Source: numpy.fft.fftn.
    """
    return _complex_along_axes("fftn", a, s, axes, norm, out, inverse=False)


@fft_function
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """Inverse discrete Fourier transform along several axes, all of them by default; complex.

    Source: numpy.fft.ifftn.
    """
    return _complex_along_axes("ifftn", a, s, axes, norm, out, inverse=True)


@fft_function
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """Discrete Fourier transform of real arrays along several axes, all of them by default; of the last one the
    frequencies 0 to n // 2.

    Source: numpy.fft.rfftn.
    """
    return _from_real_along_axes("rfftn", a, s, axes, norm, out)


@fft_function
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """Real arrays with these frequencies along several axes, all of them by default; of the last one 0 to n // 2.

    Source: numpy.fft.irfftn.
    """
    return _to_real_along_axes("irfftn", a, s, axes, norm, out)


@fft_function
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """Discrete Fourier transform along two axes: (..., n, m) -> (..., n, m), complex.

    Source: numpy.fft.fft2.
    """
    return _complex_along_axes("fft2", a, s, axes, norm, out, inverse=False)


@fft_function
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """Inverse discrete Fourier transform along two axes: (..., n, m) -> (..., n, m), complex.

    Source: numpy.fft.ifft2.
    """
    return _complex_along_axes("ifft2", a, s, axes, norm, out, inverse=True)


@fft_function
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """Discrete Fourier transform of real arrays along two axes: (..., n, m) -> (..., n, m // 2 + 1), complex.

    Source: numpy.fft.rfft2.
    """
    return _from_real_along_axes("rfft2", a, s, axes, norm, out)


@fft_function
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """Real arrays with these frequencies along two axes: (..., n, m) -> (..., n, 2 (m - 1)).

    Source: numpy.fft.irfft2.
    """
    return _to_real_along_axes("irfft2", a, s, axes, norm, out)


# frequencies and their order


@function_for(np.fft.fftfreq, ("dtype",))
def fftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
    """Frequencies of `fft` for n samples at distance d: (n,).

    Source: numpy.fft.fftfreq, jax.numpy.fft.fftfreq.
    """
    return _frequencies(np.fft.fftfreq(_count("fftfreq", n), d, device), dtype)


@function_for(np.fft.rfftfreq, ("dtype",))
def rfftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
    """Frequencies of `rfft` for n samples at distance d: (n // 2 + 1,).

    Source: numpy.fft.rfftfreq, jax.numpy.fft.rfftfreq.
    """
    return _frequencies(np.fft.rfftfreq(_count("rfftfreq", n), d, device), dtype)


def _frequencies(found: Any, dtype: Any) -> Any:
    return found if dtype is None else astype(found, np.dtype(dtype))


def _count(name: str, n: Any) -> int:
    """A number of samples, which is not 0."""
    if not isinstance(n, int | np.integer):
        raise errors.ArgumentError(f"{name}: n should be an integer, not {n!r}", mend="give the number of samples")
    if n == 0:
        raise ZeroDivisionError(f"{name}: n is 0; give the number of samples")
    return int(n)


@fft_function
def fftshift(x: Any, axes: Any = None) -> Any:
    """Frequency 0 moved from the start to the middle of these axes, of all by default; same shape.

    Source: numpy.fft.fftshift.
    """
    return _shifted(operand(x), axes, 1)


@fft_function
def ifftshift(x: Any, axes: Any = None) -> Any:
    """Frequency 0 moved from the middle to the start of these axes, of all by default: undoes `fftshift`.

    Source: numpy.fft.ifftshift.
    """
    return _shifted(operand(x), axes, -1)


def _shifted(x: Any, axes: Any, sign: int) -> Any:
    shape = shape_of(x)
    if axes is None:
        axes = range(len(shape))
    axes = tuple(axis_of(k, len(shape)) for k in (axes if np.iterable(axes) else (axes,)))
    return rearrange.roll(x, [sign * (shape[k] // 2) for k in axes], axes)


# the equations behind them


def _norm(name: str, norm: Any) -> str:
    if norm is None:
        return "backward"
    if not isinstance(norm, str) or norm not in OPPOSITE:
        raise errors.ArgumentError(f"{name}: norm is {norm!r}", mend="give 'backward', 'ortho' or 'forward'")
    return norm


def _signal(name: str, a: Any, out: Any) -> Any:
    refuse_out(name, out)
    return operand(a)


def _along(name: str, p: Any, a: Any, n: Any, axis: int, **params: Any) -> Any:
    """One primitive transform of length n, integers becoming float64."""
    axis, n = axis_of(axis, len(shape_of(a))), operator.index(n)
    if n < 1:
        raise errors.ShapeError(
            f"{name}: a transform of {n} points, along axis {axis} of shape {shape_of(a)}",
            mend="give an array with entries along that axis, or the number of points (n= or s=) as 1 or more",
        )
    return p(astype(a, inexact(dtype_of(a))), n=n, axis=axis, **params)


def _size(a: Any, axis: int) -> int:
    shape = shape_of(a)
    return shape[axis_of(axis, len(shape))]


def _complex(name: str, a: Any, n: Any, axis: int, norm: Any, out: Any, *, inverse: bool) -> Any:
    a, norm = _signal(name, a, out), _norm(name, norm)
    return _along(name, fourier.fft, a, _size(a, axis) if n is None else n, axis, inverse=inverse, norm=norm)


def _from_real(name: str, a: Any, n: Any, axis: int, norm: str, out: Any) -> Any:
    a = _signal(name, a, out)
    require_real(name, dtype_of(a))
    return _along(name, fourier.rfft, a, _size(a, axis) if n is None else n, axis, norm=norm)


def _to_real(name: str, a: Any, n: Any, axis: int, norm: str, out: Any) -> Any:
    a = _signal(name, a, out)
    return _along(name, fourier.irfft, a, 2 * (_size(a, axis) - 1) if n is None else n, axis, norm=norm)


def _complex_along_axes(name: str, a: Any, s: Any, axes: Any, norm: Any, out: Any, *, inverse: bool) -> Any:
    a, norm = _signal(name, a, out), _norm(name, norm)
    for axis, n in reversed(_steps(name, a, s, axes)):
        a = _along(name, fourier.fft, a, n, axis, inverse=inverse, norm=norm)
    return a


def _from_real_along_axes(name: str, a: Any, s: Any, axes: Any, norm: Any, out: Any) -> Any:
    a, norm = _signal(name, a, out), _norm(name, norm)
    require_real(name, dtype_of(a))
    *others, (axis, n) = _one_or_more(name, _steps(name, a, s, axes))
    a = _along(name, fourier.rfft, a, n, axis, norm=norm)
    for axis, n in reversed(others):
        a = _along(name, fourier.fft, a, n, axis, inverse=False, norm=norm)
    return a


def _to_real_along_axes(name: str, a: Any, s: Any, axes: Any, norm: Any, out: Any) -> Any:
    a, norm = _signal(name, a, out), _norm(name, norm)
    *others, (axis, n) = _one_or_more(name, _steps(name, a, s, axes))
    for other, size in others:
        a = _along(name, fourier.fft, a, size, other, inverse=True, norm=norm)
    return _along(name, fourier.irfft, a, 2 * (n - 1) if s is None else n, axis, norm=norm)


def _steps(name: str, a: Any, s: Any, axes: Any) -> list[tuple[int, Any]]:
    """The axes to transform, each with its length; -1 stands for the size of the axis."""
    rank = len(shape_of(a))
    sizes = None if s is None else _several(name, "s", s)
    if axes is not None:
        axes = [axis_of(k, rank) for k in _several(name, "axes", axes)]
    elif sizes is None:
        axes = range(rank)
    else:
        warnings.warn(
            f"{name}: `axes` should not be `None` if `s` is not `None`: NumPy deprecates it; the last {len(sizes)} "
            "axes are transformed",
            DeprecationWarning,
            stacklevel=5,
        )
        axes = [axis_of(k, rank) for k in range(-len(sizes), 0)]
    if sizes is None:
        return [(k, shape_of(a)[k]) for k in axes]
    if len(sizes) != len(axes):
        raise errors.ShapeError(
            f"{name}: s={tuple(sizes)} gives {len(sizes)} lengths for {len(axes)} axes",
            mend="give one length for each axis; -1 stands for the size of the axis",
        )
    return [(k, shape_of(a)[k] if n == -1 else n) for k, n in zip(axes, sizes, strict=True)]


def _several(name: str, keyword: str, value: Any) -> list[Any]:
    if not np.iterable(value):
        raise errors.ArgumentError(
            f"{name}: {keyword}={value!r} is not a sequence", mend=f"give {keyword}=({value!r},)"
        )
    return list(value)


def _one_or_more(name: str, steps: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    if not steps:
        raise AxisError(f"{name}: no axis to transform", mend="name an axis, and give an array that has one")
    return steps


test = vars(np.fft)["test"]  # NumPy's own tests; its stubs leave the name out

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn", "test",
]  # fmt: skip
