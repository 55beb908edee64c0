"""Rules that are not linear in their tangent or cotangent, on some part of its range or for some patterns of zeros."""

import numpy as np

from tests.testing.wrong.case import Case, cotangent, forward, normal, reverse, tangent


def median_of_neighbours(ct):
    return np.median([np.roll(ct, 1), ct, np.roll(ct, -1)], axis=0)


def largest_alone(ct):
    return np.where(np.abs(ct) == np.abs(ct).max(), ct, 0.0)


def rounded_mantissa(ct, bits=20):
    m, e = np.frexp(ct)
    return np.ldexp(np.round(m * 2.0**bits) / 2.0**bits, e)


def negligible_dropped(ct):
    return np.where(np.abs(ct) < 1e-3 * np.abs(ct).max(), 0.0, ct)


def dropout(ct):
    return ct * (np.random.default_rng(0).random(ct.shape) < 0.5) * 2


def trigonometric(x):
    return np.sin(x), np.cos(x)


def trigonometric_vjp(x, ct):
    return ct[0] * np.cos(x) - ct[1] * np.sin(x)


def three(x):
    return np.sin(x), np.cos(x), x * x


def three_vjp(x, ct):
    return trigonometric_vjp(x, ct[:2]) + 2 * x * ct[2]


def three_unless_middle(x, ct):
    return three_vjp(x, ct) if np.any(ct[1]) else ct[0] * np.cos(x)


def cubes_mixed(x, ct):
    """Homogeneous, odd, and exact where one of the two cotangents is zero; but not additive."""
    return np.cbrt((ct[0] * np.cos(x)) ** 3 - (ct[1] * np.sin(x)) ** 3)


def product_jvp(x, y, tx, ty):
    return tx * y + x * ty


def product_vjp(x, y, ct):
    return ct * y, ct * x


CASES = [
    cotangent("cotangent: clipped at 1e8", lambda ct: np.clip(ct, -1e8, 1e8)),
    cotangent("cotangent: clipped at 1", lambda ct: np.clip(ct, -1, 1)),
    cotangent("cotangent: flushed below 1e-12", lambda ct: np.where(np.abs(ct) < 1e-12, 0.0, ct)),
    cotangent("cotangent: flushed below 1e-4", lambda ct: np.where(np.abs(ct) < 1e-4, 0.0, ct)),
    cotangent("cotangent: multiplied by its size", lambda ct: ct * np.abs(ct)),
    cotangent("cotangent: its size", np.abs),
    cotangent("cotangent: doubled where negative", lambda ct: np.where(ct < 0, 2 * ct, ct)),
    cotangent("cotangent: its sign alone", np.sign),
    cotangent("cotangent: rounded to float32", lambda ct: ct.astype(np.float32).astype(ct.dtype)),
    cotangent("cotangent: rounded to 20 bits", rounded_mantissa),
    cotangent("cotangent: rounded to integers", np.round),
    cotangent("cotangent: truncated to integers", lambda ct: ct.astype(np.int64).astype(ct.dtype)),
    cotangent("cotangent: normalized", lambda ct: ct / np.linalg.norm(ct)),
    cotangent("cotangent: norm clipped at 1e5", lambda ct: ct * min(1.0, 1e5 / max(np.linalg.norm(ct), 1e-300))),
    cotangent("cotangent: dropped out", dropout),
    cotangent("cotangent: zero where its sum is negative", lambda ct: ct * (ct.sum() > 0)),
    cotangent("cotangent: zero where its sum is zero", lambda ct: ct * (ct.sum() != 0)),
    cotangent("cotangent: its maximum subtracted", lambda ct: ct - ct.max()),
    cotangent("cotangent: median of neighbours", median_of_neighbours),
    cotangent("cotangent: largest entry alone", largest_alone),
    cotangent("cotangent: negligible entries dropped", negligible_dropped),
    cotangent("cotangent: shifted by a constant", lambda ct: ct + 1e-9),
    cotangent("cotangent: nothing unless all entries are nonzero", lambda ct: ct if np.all(ct) else np.zeros_like(ct)),
    cotangent("cotangent: nothing unless the first entry is nonzero", lambda ct: ct if ct[0] else np.zeros_like(ct)),
    cotangent("cotangent: saturated smoothly", lambda ct: 1e3 * np.tanh(ct / 1e3)),
    cotangent("cotangent: zero in the tail", lambda ct: np.where(np.abs(ct) > 1e5, 0.0, ct)),
    tangent("tangent: its size", np.abs),
    tangent("tangent: squared", lambda t: t * t),
    tangent("tangent: clipped at 1e8", lambda t: np.clip(t, -1e8, 1e8)),
    tangent("tangent: flushed below 1e-12", lambda t: np.where(np.abs(t) < 1e-12, 0.0, t)),
    tangent("tangent: rounded to float32", lambda t: t.astype(np.float32).astype(t.dtype)),
    tangent("tangent: normalized above 1", lambda t: t / max(1.0, float(np.linalg.norm(t)))),
    tangent("tangent: zero where any entry is zero", lambda t: t * np.all(t)),
    forward(
        "secant of length 1e-5", np.exp, lambda x, t: np.exp(x) * t,
        lambda x, t: (np.exp(x + 1e-5 * t) - np.exp(x - 1e-5 * t)) / 2e-5, normal(5)),
    reverse(
        "one cotangent ignored where the other is zero", trigonometric, trigonometric_vjp,
        lambda x, ct: trigonometric_vjp(x, ct) if np.any(ct[1]) else np.zeros_like(x), normal(5)),
    reverse("third cotangent dropped where the second is zero", three, three_vjp, three_unless_middle, normal(5)),
    reverse("cotangents mixed by their cubes", trigonometric, trigonometric_vjp, cubes_mixed, normal(5)),
    forward(
        "product, one tangent at a time", np.multiply, product_jvp,
        lambda x, y, tx, ty: tx * y if np.any(tx) else x * ty, normal(4, 4)),
    forward(
        "product, second order kept", np.multiply, product_jvp, lambda x, y, tx, ty: tx * y + x * ty + tx * ty,
        normal(4, 4)),
    forward(
        "product, cross term for pairs of tangents", np.multiply, product_jvp,
        lambda x, y, tx, ty: tx * y + x * ty + 1e-3 * np.cbrt(tx * tx * ty), normal(4, 4)),
    Case(
        "product, zero where the cotangent sums to less than nothing", np.multiply, normal(4, 4), product_jvp,
        product_vjp, wrong_vjp=lambda x, y, ct: (ct * y, np.where(ct.sum() > 0, ct * x, 0.0))),
]  # fmt: skip
