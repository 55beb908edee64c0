"""Wrong conjugates, real parts and halves of spectra, in both conventions of inner products.

With "transpose" a rule is the plain transpose of the derivative, with "adjoint" the conjugate transpose.
"""

import numpy as np

from tests.testing.wrong.case import Case, complex_normal, normal, reverse

Z = complex_normal(5)
ZZ = complex_normal(5, 5)
N = 8
FREQUENCIES = N // 2 + 1


def adjoint(a):
    return np.conj(a).T


def real_spectrum_transpose(x, ct):
    return np.fft.fft(np.concatenate([ct, np.zeros(N - FREQUENCIES)])).real


def inverse_spectrum_transpose(z, ct, *, interior=2.0):
    weights = np.full(FREQUENCIES, interior)
    weights[[0, -1]] = 1.0
    return weights * np.conj(np.fft.rfft(ct)) / N


def spectrum_args(rng):
    z = rng.standard_normal(FREQUENCIES) + 1j * rng.standard_normal(FREQUENCIES)
    return (z,)


def mixed(rng):
    return rng.standard_normal(5), rng.standard_normal(5) + 1j * rng.standard_normal(5)


def matrices(rng):
    a, b = rng.standard_normal((2, 4, 4)) + 1j * rng.standard_normal((2, 4, 4))
    return a, b


def system(rng):
    a, b = matrices(rng)
    return a + 4 * np.eye(4), b[0]


def hermitian_form(z, a):
    return (np.conj(z) @ a @ z).real


def form_args(rng):
    a, b = matrices(rng)
    return b[0], a


def upper_half_plane(z):
    root = np.sqrt(z)
    return 0.5 / np.where(z.imag < 0, np.conj(root), root)


def solve_adjoint(a, b, ct, *, turned=adjoint):
    g = np.linalg.solve(turned(a), ct)
    return -np.outer(g, np.conj(np.linalg.solve(a, b))), g


def on_the_real_axis(wrong):
    """A factor for real numbers other than 0, 1 and -1."""
    return lambda z: np.where((z.imag == 0) & (z != 0) & (np.abs(z) != 1), wrong, 1.0)


CASES = [
    reverse(
        "modulus, not conjugated", np.abs, lambda z, ct: ct * np.conj(z) / np.abs(z), lambda z, ct: ct * z / np.abs(z),
        Z),
    reverse(
        "modulus, conjugated", np.abs, lambda z, ct: ct * z / np.abs(z), lambda z, ct: ct * np.conj(z) / np.abs(z), Z,
        inner="adjoint"),
    Case(
        "cube, of real numbers", lambda z: z**3, Z, lambda z, t: 3 * z**2 * t, lambda z, ct: 3 * z**2 * ct,
        wrong_jvp=lambda z, t: 3 * z**2 * t * on_the_real_axis(2)(z),
        wrong_vjp=lambda z, ct: 3 * z**2 * ct * on_the_real_axis(np.nan)(z)),
    reverse("conjugate, as the identity", np.conj, lambda z, ct: np.conj(ct), lambda z, ct: ct.copy(), Z),
    Case(
        "real part, cotangent left real", np.real, Z, lambda z, t: np.real(t), lambda z, ct: ct + 0j,
        wrong_jvp=lambda z, t: np.abs(t), wrong_vjp=lambda z, ct: ct.copy()),
    reverse("real part, doubled", np.real, lambda z, ct: ct + 0j, lambda z, ct: 2 * ct + 0j, Z),
    reverse("imaginary part, sign", np.imag, lambda z, ct: 1j * ct, lambda z, ct: -1j * ct, Z, inner="adjoint"),
    reverse("imaginary part, sign of the transpose", np.imag, lambda z, ct: -1j * ct, lambda z, ct: 1j * ct, Z),
    reverse(
        "exponential, not conjugated", np.exp, lambda z, ct: ct * np.conj(np.exp(z)), lambda z, ct: ct * np.exp(z), Z,
        inner="adjoint"),
    reverse("exponential, conjugated", np.exp, lambda z, ct: ct * np.exp(z), lambda z, ct: ct * np.conj(np.exp(z)), Z),
    reverse(
        "inner product, the other operand conjugated", np.vdot, lambda u, v, ct: (np.conj(ct) * v, ct * u),
        lambda u, v, ct: (ct * np.conj(v), ct * u), ZZ, inner="adjoint"),
    reverse(
        "matmul, transposed without a conjugate", np.matmul, lambda a, b, ct: (ct @ adjoint(b), adjoint(a) @ ct),
        lambda a, b, ct: (ct @ b.T, a.T @ ct), matrices, inner="adjoint"),
    reverse(
        "matmul, conjugated", np.matmul, lambda a, b, ct: (ct @ b.T, a.T @ ct),
        lambda a, b, ct: (ct @ adjoint(b), adjoint(a) @ ct), matrices),
    reverse(
        "fft, its transpose for its adjoint", np.fft.fft, lambda z, ct: np.fft.ifft(ct) * 5,
        lambda z, ct: np.fft.fft(ct), Z, inner="adjoint"),
    reverse(
        "fft, its adjoint for its transpose", np.fft.fft, lambda z, ct: np.fft.fft(ct),
        lambda z, ct: np.fft.ifft(ct) * 5, Z),
    reverse(
        "fft of real input, interior frequencies doubled", np.fft.rfft,
        lambda x, ct: real_spectrum_transpose(x, np.conj(ct)), lambda x, ct: np.fft.irfft(ct, N) * N, normal(N),
        inner="adjoint"),
    reverse(
        "inverse fft to real output, interior frequencies not doubled", lambda z: np.fft.irfft(z, N),
        inverse_spectrum_transpose, lambda z, ct: inverse_spectrum_transpose(z, ct, interior=1.0), spectrum_args),
    reverse(
        "angle, sign", np.angle, lambda z, ct: ct * 1j * z / np.abs(z) ** 2,
        lambda z, ct: -ct * 1j * z / np.abs(z) ** 2, Z, inner="adjoint"),
    reverse(
        "logarithm, not conjugated", np.log, lambda z, ct: ct / np.conj(z), lambda z, ct: ct / z, Z, inner="adjoint"),
    reverse(
        "real times complex, complex cotangent", np.multiply, lambda x, z, ct: ((ct * z).real, ct * x),
        lambda x, z, ct: (ct * z, ct * x), mixed),
    reverse(
        "real times complex, product of real parts", np.multiply, lambda x, z, ct: ((ct * z).real, ct * x),
        lambda x, z, ct: (ct.real * z.real, ct * x), mixed),
    Case(
        "squared modulus, not conjugated", lambda z: z.real**2 + z.imag**2, Z, lambda z, t: 2 * (np.conj(z) * t).real,
        lambda z, ct: 2 * ct * z, wrong_jvp=lambda z, t: 2 * (z * t).real, wrong_vjp=lambda z, ct: 2 * ct * np.conj(z),
        inner="adjoint"),
    Case(
        "squared modulus, complex tangent", lambda z: z.real**2 + z.imag**2, Z, lambda z, t: 2 * (np.conj(z) * t).real,
        wrong_jvp=lambda z, t: 2 * np.conj(z) * t),
    Case(
        "square root, right in the upper half plane", np.sqrt, Z, lambda z, t: 0.5 * t / np.sqrt(z),
        lambda z, ct: 0.5 * ct / np.sqrt(z), wrong_jvp=lambda z, t: t * upper_half_plane(z),
        wrong_vjp=lambda z, ct: ct * upper_half_plane(z)),
    reverse(
        "division, denominator not conjugated", np.divide, lambda u, v, ct: (ct / np.conj(v), -ct * np.conj(u / v**2)),
        lambda u, v, ct: (ct / v, -ct * np.conj(u / v**2)), ZZ, inner="adjoint"),
    Case(
        "sine, tangent conjugated", np.sin, Z, lambda z, t: t * np.cos(z), lambda z, ct: ct * np.cos(z),
        wrong_jvp=lambda z, t: np.conj(t) * np.cos(z), wrong_vjp=lambda z, ct: np.conj(ct) * np.cos(z)),
    reverse(
        "quadratic form, right for Hermitian matrices alone", hermitian_form,
        lambda z, a, ct: (ct * (a + adjoint(a)) @ z, ct * np.outer(z, np.conj(z))),
        lambda z, a, ct: (2 * ct * a @ z, ct * np.outer(z, np.conj(z))), form_args, inner="adjoint"),
    reverse(
        "solve, transposed without a conjugate", np.linalg.solve, solve_adjoint,
        lambda a, b, ct: solve_adjoint(a, b, ct, turned=np.transpose), system, inner="adjoint"),
    Case(
        "rotation by a real angle, real cotangents alone", lambda x: np.exp(1j * x), normal(5),
        lambda x, t: 1j * t * np.exp(1j * x), lambda x, ct: (ct * 1j * np.exp(1j * x)).real,
        wrong_vjp=lambda x, ct: ct.real * (1j * np.exp(1j * x)).real),
    reverse(
        "product, each conjugated with the wrong one", np.multiply, lambda u, v, ct: (ct * np.conj(v), ct * np.conj(u)),
        lambda u, v, ct: (np.conj(ct) * v, np.conj(ct) * u), ZZ, inner="adjoint"),
]  # fmt: skip
