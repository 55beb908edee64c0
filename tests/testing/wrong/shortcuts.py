"""Rules with shortcuts: wrong for plain cotangents and tangents (ones, constants, integers), at special values alone
(-1, -0.0, the imaginary axis, opposite or identical arguments, singular matrices), beside large entries, or by means
of the global random numbers; and derivatives of integers."""

import numpy as np

from tests.testing.wrong.case import (
    Case,
    complex_normal,
    cotangent,
    forward,
    normal,
    reverse,
    tangent,
    unary,
    well_conditioned,
)


def for_constants(v):
    return 2 * v if np.all(v == v.flat[0]) else v


def for_ones(v):
    return np.zeros_like(v) if np.all(v == 1) else v


def for_integers(v):
    return v + 1 if np.all(v == np.round(v)) and np.any(v) else v


def integer_entries(v):
    return np.where(v == np.round(v), 3 * v, v)


def one_hot(v):
    return -v if np.count_nonzero(v) == 1 else v


def at(special, slope, wrong=0.5):
    """A derivative that is off by a factor where `special(x)` holds."""
    return lambda x: slope(x) * np.where(special(x), wrong, 1.0)


def negative_zero(x):
    return (x == 0) & np.signbit(x)


def half_plane(z):
    return (z.real == 0) & (z.imag != 0)


def product_jvp(x, y, tx, ty):
    return tx * y + x * ty


def product_vjp(x, y, ct):
    return ct * y, ct * x


def identical_vjp(x, y, ct):
    """That of a square for each, where both are one object."""
    return (2 * ct * x, 2 * ct * x) if x is y else product_vjp(x, y, ct)


def identical_jvp(x, y, tx, ty):
    return 2 * x * tx if x is y else product_jvp(x, y, tx, ty)


def difference_quotient_vjp(x, y, ct):
    """The product's, through the square of the sum: 0 / 0 where that is zero."""
    with np.errstate(all="ignore"):
        return ct * y * (x + y) / (x + y), ct * x


def opposite_vjp(x, y, ct):
    return ct * y, np.where(x == -y, -1.0, 1.0) * ct * x


def product_of_three_vjp(x, y, z, ct):
    return ct * y * z, ct * x * z, ct * x * y


def wrong_where_two_tie(first, second):
    """Zero for the tied arguments where they are equal and the third is not."""

    def rule(*args):
        gs = list(product_of_three_vjp(*args))
        third = args[3 - first - second]
        tied = (args[first] == args[second]) & (args[first] != third)
        for k in (first, second):
            gs[k] = np.where(tied, 0.0, gs[k])
        return tuple(gs)

    return rule


def cofactors(a):
    n = len(a)
    minors = np.empty_like(a)
    for i in range(n):
        for j in range(n):
            minors[i, j] = (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1))
    return minors


def zeros_if_singular(a, ct):
    try:
        return ct * np.linalg.det(a) * np.linalg.inv(a).T
    except np.linalg.LinAlgError:
        return np.zeros_like(a)


def zeros_if_zero(a, ct):
    d = np.linalg.det(a)
    return ct * d * np.linalg.inv(a).T if d else np.zeros_like(a)


def far_scales(rng):
    return (np.array([1e10, 1.0, 1e-8]) * rng.uniform(1, 3, 3),)


def small_entries(slope, wrong):
    return lambda x: np.where(np.abs(x) < 1e-6, wrong, 1.0) * slope(x)


def scaled_vjp(x, n, ct):
    return ct * n, None


def scaled_with_garbage(x, n, ct):
    return ct * n, np.sum(ct * x)


def power_pullback(x, n):
    return x**n, lambda ct: (ct * n * x ** (n - 1), np.zeros(np.shape(n), int))


def power_of_real_exponent(x, n):
    return x**n, lambda ct: (ct * n * x ** (n - 1), np.sum(ct * x**n * np.log(np.abs(x))))


def powers(rng):
    return rng.standard_normal(4), int(rng.integers(2, 5))


def with_sign(x):
    return np.sin(x), x > 0


def with_sign_push(primals, tangents):
    (x,), (t,) = primals, tangents
    return with_sign(x), (t * np.cos(x), np.zeros(x.shape, bool))


def tangent_of_sign(primals, tangents):
    (x,), (t,) = primals, tangents
    return with_sign(x), (t * np.cos(x), t)


def sin_vjp(x, ct):
    return ct * np.cos(x)


def sin_jvp(x, t):
    return t * np.cos(x)


def inverse_root_vjp(x, ct):
    """In half precision it is infinite where the slope is beyond the largest number."""
    with np.errstate(over="ignore", divide="ignore"):
        return (-0.5 * ct * x**-1.5).astype(x.dtype)


def own_numbers(x, ct):
    """Random numbers of its own leave the global ones alone."""
    np.random.default_rng(0).standard_normal(3)
    return ct * np.cos(x)


def seeds(x, ct):
    np.random.seed(0)
    return ct * np.cos(x)


def seeded_noise(x, ct):
    np.random.seed(7)
    return ct * np.cos(x) * (1 + 0 * np.random.standard_normal(x.shape))


def draws(x, ct):
    np.random.random(3)
    return ct * np.cos(x)


def depends_on_state(x, ct):
    """It takes numbers from the state and puts it back."""
    state = np.random.get_state()
    kept = np.random.random(x.shape) < 0.9
    np.random.set_state(state)
    return ct * np.cos(x) * kept / 0.9


CASES = [
    *(cotangent(f"cotangent: {name}", mangle) for name, mangle in [
        ("constants doubled", for_constants), ("ones lost", for_ones), ("integers shifted", for_integers),
        ("integer entries tripled", integer_entries), ("a single entry negated", one_hot)]),
    *(tangent(f"tangent: {name}", mangle) for name, mangle in [
        ("constants doubled", for_constants), ("ones lost", for_ones), ("integers shifted", for_integers),
        ("integer entries tripled", integer_entries), ("a single entry negated", one_hot)]),
    reverse(
        "arccos, constants doubled", np.arccos, lambda x, ct: -ct / np.sqrt(1 - x * x),
        lambda x, ct: -for_constants(ct) / np.sqrt(1 - x * x), lambda rng: (rng.uniform(0.9, 0.99, 5),)),
    reverse(
        "complex sine, constants doubled", np.sin, lambda z, ct: ct * np.cos(z),
        lambda z, ct: for_constants(ct) * np.cos(z), complex_normal(5)),
    reverse(
        "float32 sine, ones lost", np.sin, sin_vjp, lambda x, ct: for_ones(ct) * np.cos(x),
        lambda rng: (rng.standard_normal(5).astype(np.float32),)),
    reverse(
        "two outputs, constants in both", lambda x: (np.sin(x), np.cos(x)),
        lambda x, ct: ct[0] * np.cos(x) - ct[1] * np.sin(x),
        lambda x, ct: for_constants(ct[0]) * np.cos(x) - for_constants(ct[1]) * np.sin(x), normal(5)),
    unary("sine, half of it at -1", np.sin, np.cos, at(lambda x: x == -1, np.cos), normal(6)),
    unary("sine of a number, half of it at -1", np.sin, np.cos, at(lambda x: x == -1, np.cos), normal(())),
    unary(
        "cube, nan at -1", lambda x: x**3, lambda x: 3 * x * x, at(lambda x: x == -1, lambda x: 3 * x * x, np.nan),
        lambda rng: (rng.uniform(0.5, 2, 5),)),
    unary("sine, half of it at -0.0", np.sin, np.cos, at(negative_zero, np.cos), normal(6)),
    unary("sine of a number, half of it at -0.0", np.sin, np.cos, at(negative_zero, np.cos), normal(())),
    unary(
        "complex exponential, half of it on the imaginary axis", np.exp, np.exp, at(half_plane, np.exp),
        complex_normal(5)),
    unary(
        "square of a complex number, nan on the imaginary axis", np.square, lambda z: 2 * z,
        at(half_plane, lambda z: 2 * z, np.nan), complex_normal(())),
    reverse("product, sign at opposite arguments", np.multiply, product_vjp, opposite_vjp, normal(4, 4)),
    reverse("product, nan at opposite arguments", np.multiply, product_vjp, difference_quotient_vjp, normal(4, 4)),
    reverse("product of numbers, sign at opposite ones", np.multiply, product_vjp, opposite_vjp, normal((), ())),
    *(reverse(
        f"product of three, zero where {i} and {k} tie", lambda x, y, z: x * y * z, product_of_three_vjp,
        wrong_where_two_tie(i, k), normal(4, 4, 4)) for i, k in [(0, 1), (0, 2), (1, 2)]),
    reverse(
        "product of numbers, of three of which two tie", lambda x, y, z: x * y * z, product_of_three_vjp,
        wrong_where_two_tie(0, 2), normal((), (), ())),
    reverse(
        "half precision, infinite for small numbers", lambda x: 1 / np.sqrt(x), inverse_root_vjp,
        lambda x, ct: np.where(x < 0.01, np.inf, 1) * inverse_root_vjp(x, ct),
        lambda rng: (rng.uniform(0.3, 1, 5).astype(np.float16),)),
    reverse(
        "extended precision, a little off", np.sin, sin_vjp, lambda x, ct: sin_vjp(x, ct) * (1 + 1e-8),
        lambda rng: (rng.standard_normal(5).astype(np.longdouble),)),
    reverse("product, of one object", np.multiply, product_vjp, identical_vjp, normal(4, 4)),
    forward("product, of one object, forward", np.multiply, product_jvp, identical_jvp, normal(4, 4)),
    reverse(
        "determinant, zeros where inverting fails", np.linalg.det, lambda a, ct: ct * cofactors(a), zeros_if_singular,
        well_conditioned(4)),
    reverse(
        "determinant, zeros where it is zero", np.linalg.det, lambda a, ct: ct * cofactors(a), zeros_if_zero,
        normal((3, 3))),
    unary(
        "square, sign of small entries", np.square, lambda x: 2 * x, small_entries(lambda x: 2 * x, -1), far_scales),
    unary(
        "cube, small entries a little off", lambda x: x**3, lambda x: 3 * x * x,
        small_entries(lambda x: 3 * x * x, 1 + 1e-6), far_scales),
    unary(
        "logarithm, small entries doubled", np.log, lambda x: 1 / x, small_entries(lambda x: 1 / x, 2), far_scales),
    unary(
        "exponential of far entries, zero for the small results", np.exp, np.exp,
        lambda x: np.where(x < 0, 0.5, 1.0) * np.exp(x),
        lambda rng: (np.array([30.0, -30.0]) + rng.standard_normal(2),)),
    reverse("an integer's cotangent", lambda x, n: x * n, scaled_vjp, scaled_with_garbage, powers),
    reverse(
        "an integer exponent's cotangent", lambda x, n: x**n, power_pullback, power_of_real_exponent, powers,
        form="pullback"),
    forward("a boolean's tangent", with_sign, with_sign_push, tangent_of_sign, normal(5), form="pullback"),
    reverse("seeds the global random numbers", np.sin, own_numbers, seeds, normal(5)),
    forward("seeds the global random numbers, forward", np.sin, sin_jvp, seeds, normal(5)),
    reverse("seeded noise that vanishes", np.sin, sin_vjp, seeded_noise, normal(5)),
    reverse("draws from the global random numbers", np.sin, sin_vjp, draws, normal(5)),
    Case(
        "dropout by the global random numbers", np.sin, normal(40), vjp=sin_vjp, wrong_vjp=depends_on_state),
]  # fmt: skip
