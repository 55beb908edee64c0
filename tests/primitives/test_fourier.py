"""Fourier transforms along one axis: their rules, and their derivatives against the matrices that they stand for."""

import itertools

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors
from autodidax.core.avals import ShapedArray
from autodidax.primitives import fourier
from autodidax.primitives.fourier import OPPOSITE, fft, irfft, rfft
from autodidax.testing.primitives import check_primitive

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("p", ad.registry.in_module(fourier.__name__), ids=str)
def test_all_rules_agree(p):
    check_primitive(p, require_complete=True, strict=True).raise_if_failed()


def draw(size, kind="complex"):
    x = RNG.normal(size=size)
    return x + 1j * RNG.normal(size=size) if kind == "complex" else x


def fourier_matrix(n, sign, factor):
    return factor * np.exp(sign * 2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)


SIZES = [(m, n) for m, n in itertools.product((1, 2, 3, 4, 6), (1, 2, 3, 4, 5, 6))]
NORMS = {"backward": lambda n: 1, "ortho": lambda n: 1 / np.sqrt(n), "forward": lambda n: 1 / n}


@pytest.mark.parametrize(("m", "n"), SIZES, ids=str)
@pytest.mark.parametrize("norm", NORMS)
def test_against_the_matrix(m, n, norm):
    x, size = draw(m), np.eye(n, m)  # size @ x is x cut to n entries, or padded with zeros
    transform = fourier_matrix(n, -1, NORMS[norm](n)) @ size
    inverse = fourier_matrix(n, 1, NORMS[OPPOSITE[norm]](n)) @ size
    half = n // 2 + 1
    for matrix, is_inverse in ((transform, False), (inverse, True)):
        got, pull = ad.vjp(lambda x, i=is_inverse: fft(x, n=n, axis=0, inverse=i, norm=norm), x)
        ct = draw(n)
        np.testing.assert_allclose(got, matrix @ x, atol=1e-12)
        np.testing.assert_allclose(pull(ct)[0], matrix.T @ ct, atol=1e-12)

    got, pull = ad.vjp(lambda x: rfft(x, n=n, axis=0, norm=norm), x.real)
    ct = draw(half)
    np.testing.assert_allclose(got, (transform @ x.real)[:half], atol=1e-12)
    np.testing.assert_allclose(pull(ct)[0], (transform[:half].T @ ct).real, atol=1e-12)

    # what irfft does to the real and to the imaginary parts of the frequencies, of which it takes the first `half`
    columns = [irfft(e, n=n, axis=0, norm=norm) for e in (*np.eye(m, dtype=complex), *(1j * np.eye(m)))]
    by_real, by_imaginary = np.transpose(columns[:m]), np.transpose(columns[m:])
    got, pull = ad.vjp(lambda x: irfft(x, n=n, axis=0, norm=norm), x)
    ct = draw(n, "real")
    np.testing.assert_allclose(got, by_real @ x.real + by_imaginary @ x.imag, atol=1e-12)
    np.testing.assert_allclose(pull(ct)[0], by_real.T @ ct - 1j * (by_imaginary.T @ ct), atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_the_derivative_of_a_real_spectrum_and_back_is_the_identity(n):
    x = draw(n, "real")

    def there_and_back(x):
        return irfft(rfft(x, n=n, axis=0, norm="ortho"), n=n, axis=0, norm="ortho")

    np.testing.assert_allclose(ad.jacfwd(there_and_back)(x), np.eye(n), atol=1e-14)
    np.testing.assert_allclose(ad.jacrev(there_and_back)(x), np.eye(n), atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float64, np.complex128], ids=lambda d: d.__name__)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_signal_without_entries_is_padded_with_zeros(dtype, n):
    for p, params in ((fft, dict(inverse=False)), (irfft, {})):
        got = p(np.empty((0, 3), dtype), n=n, axis=0, norm="backward", **params)
        aval = p.abstract_eval(ShapedArray((0, 3), dtype), n=n, axis=0, norm="backward", **params)
        np.testing.assert_array_equal(got, np.zeros(aval.shape, aval.dtype), strict=True)


def test_rfft_of_a_complex_signal_is_refused_while_staging():
    with pytest.raises(errors.DtypeError, match="rfft: the signal is complex"):
        ad.make_jaxpr(lambda x: rfft(x, n=3, axis=0, norm="backward"))(draw(3))


def test_one_equation_a_transform():
    closed = ad.make_jaxpr(ad.vmap(lambda x: fft(x, n=4, axis=1, inverse=False, norm="ortho")))(draw((5, 2, 3)))
    (eqn,) = closed.jaxpr.eqns
    assert eqn.primitive is fft and eqn.params["axis"] == 2
    assert eqn.outvars[0].aval.shape == (5, 2, 4)
