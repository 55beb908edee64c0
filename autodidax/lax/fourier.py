"""lax's Fourier transform, over the last axes, without padding and with NumPy's default factors."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from autodidax import errors
from autodidax.core.interpreters import shape_of
from autodidax.numpy import fft as transforms
from autodidax.numpy.dispatch import operand


class FftType(enum.IntEnum):
    """Which transform `fft` computes."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


_TRANSFORMS = {
    FftType.FFT: transforms.fftn, FftType.IFFT: transforms.ifftn,
    FftType.RFFT: transforms.rfftn, FftType.IRFFT: transforms.irfftn,
}  # fmt: skip


def fft(x: Any, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Any:
    """The transform of the last axes, whose sizes (those of the real signal) are `fft_lengths`.

    Source: jax.lax.fft.
    """
    kind, lengths, x = _kind(fft_type), tuple(fft_lengths), operand(x)
    shape = shape_of(x)
    expected = (*lengths[:-1], lengths[-1] // 2 + 1) if kind is FftType.IRFFT and lengths else lengths
    if shape[len(shape) - len(lengths) :] != expected or len(lengths) > len(shape):
        raise errors.ShapeError(
            f"fft: shape {shape} does not end in {expected}, which {kind.name} takes for the lengths {lengths}",
            mend="cut or pad the operand, or use autodidax.numpy.fft, whose functions do",
        )
    return _TRANSFORMS[kind](x, s=lengths, axes=tuple(range(-len(lengths), 0)))


def _kind(fft_type: FftType | str) -> FftType:
    if isinstance(fft_type, FftType):
        return fft_type
    if isinstance(fft_type, str) and fft_type.upper() in FftType.__members__:
        return FftType[fft_type.upper()]
    raise errors.ArgumentError(
        f"fft: fft_type is {fft_type!r}", mend="give an FftType, or 'FFT', 'IFFT', 'RFFT' or 'IRFFT'"
    )
