"""Wrong axes, broadcasts and orders in memory; most with equal sizes, so that no shape gives them away."""

import numpy as np
from scipy import special

from tests.testing.wrong.case import Case, linear, normal, reverse

SQUARE = normal((4, 4))


def fortran(rng):
    return (np.asfortranarray(rng.standard_normal((3, 4))),)


def in_memory_order(x, v):
    """cos(x) v, computed in the order in which the entries lie in memory."""
    return (np.cos(x).ravel("K") * v.ravel("K")).reshape(x.shape)


def max_rows(x):
    return x.max(axis=1)


def max_vjp(x, ct, *, axis=1):
    g = np.zeros_like(x)
    np.put_along_axis(g, np.expand_dims(x.argmax(axis=axis), axis), np.expand_dims(ct, axis), axis)
    return g


def softmax_vjp(x, ct, *, axis=1):
    s = special.softmax(x, axis=1)
    return s * (ct - (s * ct).sum(axis=axis, keepdims=True))


def padded(x):
    return np.pad(x, (2, 1))


def differences_vjp(x, ct):
    g = np.zeros_like(x)
    g[1:] += ct
    g[:-1] -= ct
    return g


def window_sums(x):
    return np.lib.stride_tricks.sliding_window_view(x, 3).sum(axis=-1)


def window_vjp(x, ct):
    g = np.zeros_like(x)
    for k in range(3):
        g[k : k + ct.size] += ct
    return g


CASES = [
    reverse(
        "matmul, first of the batch for its sum", np.matmul,
        lambda a, b, ct: (ct @ b.T, (np.swapaxes(a, 1, 2) @ ct).sum(axis=0)),
        lambda a, b, ct: (ct @ b.T, (np.swapaxes(a, 1, 2) @ ct)[0]), normal((3, 3, 3), (3, 3))),
    reverse(
        "bias, summed over the features", np.add, lambda x, b, ct: (ct, ct.sum(axis=0)),
        lambda x, b, ct: (ct, ct.sum(axis=1)), normal((4, 4), 4)),
    reverse(
        "row, summed over its own axis", np.multiply, lambda x, y, ct: ((ct * y).sum(axis=0, keepdims=True), ct * x),
        lambda x, y, ct: ((ct * y).sum(axis=1).reshape(1, 4), ct * x), normal((1, 4), (4, 4))),
    reverse(
        "broadcast operand, averaged", np.multiply, lambda x, y, ct: (np.sum(ct * y), ct * x),
        lambda x, y, ct: (np.mean(ct * y), ct * x), lambda rng: (rng.standard_normal(), rng.standard_normal(5))),
    reverse(
        "broadcast operand, last entry alone", lambda x: x + np.zeros((4, 4)), lambda x, ct: ct.sum(axis=0),
        lambda x, ct: ct[-1].copy(), normal(4)),
    reverse("maximum of rows, put into columns", max_rows, max_vjp, lambda x, ct: max_vjp(x, ct, axis=0), SQUARE),
    linear(
        "transpose, the same permutation back", lambda x: np.transpose(x, (1, 2, 0)),
        lambda x, ct: np.transpose(ct, (2, 0, 1)), lambda x, ct: np.transpose(ct, (1, 2, 0)), normal((3, 3, 3))),
    linear(
        "roll, the same way", lambda x: np.roll(x, 2), lambda x, ct: np.roll(ct, -2), lambda x, ct: np.roll(ct, 2),
        normal(7)),
    linear("flip of the other axis", lambda x: x[::-1], lambda x, ct: ct[::-1], lambda x, ct: ct[:, ::-1], SQUARE),
    linear("rot90, the same way", np.rot90, lambda x, ct: np.rot90(ct, -1), lambda x, ct: np.rot90(ct), SQUARE),
    Case(
        "concatenate, parts swapped", lambda x, y: np.concatenate([x, y]), normal(4, 4),
        lambda x, y, tx, ty: np.concatenate([tx, ty]), lambda x, y, ct: (ct[:4].copy(), ct[4:].copy()),
        wrong_vjp=lambda x, y, ct: (ct[4:].copy(), ct[:4].copy())),
    reverse(
        "stack, taken apart along the other axis", lambda x, y: np.stack([x, y], axis=1),
        lambda x, y, ct: (ct[:, 0], ct[:, 1]), lambda x, y, ct: (ct[0], ct[1]), normal(2, 2)),
    linear(
        "tile, folded as repeat", lambda x: np.tile(x, 3), lambda x, ct: ct.reshape(3, 3).sum(axis=0),
        lambda x, ct: ct.reshape(3, 3).sum(axis=1), normal(3)),
    linear(
        "repeat, folded as tile", lambda x: np.repeat(x, 3), lambda x, ct: ct.reshape(3, 3).sum(axis=1),
        lambda x, ct: ct.reshape(3, 3).sum(axis=0), normal(3)),
    linear("pad, off by one", padded, lambda x, ct: ct[2:-1], lambda x, ct: ct[1:-2], normal(5)),
    linear(
        "differences, the first term missing", np.diff, differences_vjp,
        lambda x, ct: np.concatenate([[0.0], ct]) - np.concatenate([[0.0], ct[1:], [0.0]]), normal(6)),
    linear(
        "window sums, windows not overlapping", window_sums, window_vjp,
        lambda x, ct: np.concatenate([ct, ct[-1:], ct[-1:]]), normal(7)),
    reverse(
        "einsum, second operand not transposed", lambda a, b: np.einsum("ij,kj->ik", a, b),
        lambda a, b, ct: (ct @ b, ct.T @ a), lambda a, b, ct: (ct @ b, ct @ a), normal((4, 4), (4, 4))),
    reverse(
        "logsumexp, weights along the other axis", lambda x: special.logsumexp(x, axis=1),
        lambda x, ct: ct[:, None] * special.softmax(x, axis=1), lambda x, ct: ct[:, None] * special.softmax(x, axis=0),
        SQUARE),
    reverse(
        "softmax, projected along the other axis", lambda x: special.softmax(x, axis=1), softmax_vjp,
        lambda x, ct: softmax_vjp(x, ct, axis=0), SQUARE),
    linear(
        "cumulative sum, reversed along the other axis", lambda x: np.cumsum(x, axis=0),
        lambda x, ct: np.cumsum(ct[::-1], axis=0)[::-1], lambda x, ct: np.cumsum(ct[:, ::-1], axis=1)[:, ::-1], SQUARE),
    linear(
        "ravel of columns, read back as rows", lambda x: x.ravel(order="F"), lambda x, ct: ct.reshape(4, 4, order="F"),
        lambda x, ct: ct.reshape(4, 4), SQUARE),
    linear(
        "reshape with a moved axis", lambda x: x.swapaxes(0, 1).reshape(4, 4),
        lambda x, ct: ct.reshape(2, 2, 4).swapaxes(0, 1), lambda x, ct: ct.reshape(2, 2, 4), normal((2, 2, 4))),
    linear(
        "mean of two axes, one of them divided by", lambda x: x.mean(axis=(0, 2)),
        lambda x, ct: np.broadcast_to(ct[None, :, None] / 6, (2, 3, 3)),
        lambda x, ct: np.broadcast_to(ct[None, :, None] / 3, (2, 3, 3)), normal((2, 3, 3))),
    Case(
        "in the order of memory, given a Fortran array", np.sin, fortran, lambda x, t: np.cos(x) * t,
        lambda x, ct: np.cos(x) * ct, wrong_jvp=in_memory_order, wrong_vjp=in_memory_order),
    Case(
        "in the order of memory, given a C array", np.sin, normal((3, 4)), lambda x, t: np.cos(x) * t,
        lambda x, ct: np.cos(x) * ct, wrong_jvp=in_memory_order, wrong_vjp=in_memory_order),
]  # fmt: skip
