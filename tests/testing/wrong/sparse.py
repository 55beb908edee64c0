"""Rules that are wrong in one entry of many, in one output of several, in the last block, or in a cross term."""

import numpy as np

from tests.testing.wrong.case import Case, forward, normal, reverse, unary

N = 10_000
MANY = normal(N)
DENSE = np.random.default_rng(5).standard_normal((100, 100))
EXTRA = np.zeros((100, 100))
EXTRA[17, 63] = 1.0


def at(k, factor):
    def d(x):
        y = np.cos(x)
        y[k] *= factor
        return y

    return d


def largest_wrong(x):
    y = np.cos(x)
    y[np.argmax(x)] *= 1.5
    return y


def last_block_dropped(x):
    y = np.cos(x)
    y[x.size - x.size % 8 :] = 0.0
    return y


def stencil(x):
    return np.concatenate([[x[1] - x[0]], x[2:] - 2 * x[1:-1] + x[:-2], [x[-2] - x[-1]]])


def five(x):
    return np.sin(x), np.cos(x), np.exp(x), x * x, np.tanh(x)


def five_slopes(x):
    return np.cos(x), -np.sin(x), np.exp(x), 2 * x, 1 - np.tanh(x) ** 2


def five_jvp(x, t):
    return tuple(t * d for d in five_slopes(x))


def five_jvp_wrong(x, t):
    *most, last = five_jvp(x, t)
    return (*most, last * 0.5)


def five_vjp(x, ct, *, wrong=1.0):
    a, b, c, d, e = five_slopes(x)
    return ct[0] * a + ct[1] * b + ct[2] * c * wrong + ct[3] * d + ct[4] * e


def form(x, y):
    return x * x + y * y + x * y


def matrix_vjp(a, b, ct, *, spoiled=False):
    g = a.T @ ct
    if spoiled:
        g[41, 7] *= -1
    return ct @ b.T, g


CASES = [
    unary("one of 10000, sign, reverse", np.sin, np.cos, at(777, -1.0), MANY, modes=("rev",)),
    unary("one of 10000, sign, forward", np.sin, np.cos, at(9_999, -1.0), MANY, modes=("fwd",)),
    unary("one of 10000, zero, both", np.sin, np.cos, at(0, 0.0), MANY),
    unary("one of 10000, a thousandth off, both", np.sin, np.cos, at(5_000, 1.001), MANY),
    unary("one of 600, doubled, reverse", np.sin, np.cos, at(599, 2.0), normal(600), modes=("rev",)),
    unary("the largest entry", np.sin, np.cos, largest_wrong, normal(1000), modes=("rev",)),
    unary("the last block of 8 unfinished", np.sin, np.cos, last_block_dropped, normal(1003)),
    Case(
        "one coupling of 10000 missing", lambda x: DENSE @ x, normal(100), lambda x, t: DENSE @ t,
        lambda x, ct: DENSE.T @ ct, wrong_jvp=lambda x, t: DENSE @ t - DENSE[3, 5] * np.eye(100)[3] * t[5],
        wrong_vjp=lambda x, ct: DENSE.T @ ct - DENSE[3, 5] * np.eye(100)[5] * ct[3]),
    Case(
        "one coupling of 10000 too many", lambda x: DENSE @ x, normal(100), lambda x, t: DENSE @ t,
        lambda x, ct: DENSE.T @ ct, wrong_jvp=lambda x, t: (DENSE + EXTRA) @ t,
        wrong_vjp=lambda x, ct: (DENSE + EXTRA).T @ ct),
    reverse(
        "one entry of a product of matrices", np.matmul, matrix_vjp,
        lambda a, b, ct: matrix_vjp(a, b, ct, spoiled=True), normal((60, 50), (50, 40))),
    reverse(
        "stencil, wrong at one end", stencil, lambda x, ct: stencil(ct),
        lambda x, ct: np.append(stencil(ct)[:-1], -ct[-1]), normal(50)),
    forward("one output of five", five, five_jvp, five_jvp_wrong, normal(4)),
    reverse("one cotangent of five", five, five_vjp, lambda x, ct: five_vjp(x, ct, wrong=0.9), normal(4)),
    forward(
        "cross terms", form, lambda x, y, tx, ty: tx * (2 * x + y) + ty * (2 * y + x),
        lambda x, y, tx, ty: tx * 2 * x + ty * 2 * y, normal(4, 4)),
    reverse(
        "cross terms for one argument", form, lambda x, y, ct: (ct * (2 * x + y), ct * (2 * y + x)),
        lambda x, y, ct: (ct * (2 * x + y), ct * 2 * y), normal(4, 4)),
    reverse(
        "off the diagonal", lambda x: x * np.sum(x), lambda x, ct: ct * x.sum() + ct @ x,
        lambda x, ct: ct * x.sum() + ct * x, normal(5)),
    reverse(
        "the diagonal", lambda x: x * np.sum(x), lambda x, ct: ct * x.sum() + ct @ x,
        lambda x, ct: ct * x.sum() + ct @ x - ct * x, normal(5)),
    reverse(
        "a small part of a sum", lambda x: 1e6 * x[0] + np.sum(np.sin(x[1:])),
        lambda x, ct: ct * np.append(1e6, np.cos(x[1:])), lambda x, ct: ct * np.append(1e6, np.cos(x[1:]) * 1.1),
        normal(6)),
    reverse(
        "a small argument beside a large one", lambda x, y: x.sum() * 1e7 + np.sin(y).sum(),
        lambda x, y, ct: (ct * 1e7 * np.ones_like(x), ct * np.cos(y)),
        lambda x, y, ct: (ct * 1e7 * np.ones_like(x), -ct * np.cos(y)), normal(4, 4)),
    reverse(
        "a small output beside a large one", lambda x: (1e8 * np.sin(x), 1e-8 * np.cos(x)),
        lambda x, ct: ct[0] * 1e8 * np.cos(x) - ct[1] * 1e-8 * np.sin(x),
        lambda x, ct: ct[0] * 1e8 * np.cos(x) + ct[1] * 1e-8 * np.sin(x), normal(4)),
    forward(
        "a small entry of the output beside large ones", lambda x: np.sin(x) * 10.0 ** np.arange(-6, 6, 2),
        lambda x, t: t * np.cos(x) * 10.0 ** np.arange(-6, 6, 2),
        lambda x, t: t * np.cos(x) * np.where(np.arange(6) == 0, -1, 1) * 10.0 ** np.arange(-6, 6, 2), normal(6)),
]  # fmt: skip
