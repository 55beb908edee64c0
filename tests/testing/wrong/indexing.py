"""Wrong indices: gathers, scatters, sorts, permutations, triangles, diagonals."""

import numpy as np

from tests.testing.wrong.case import Case, linear, normal, reverse

DUPLICATES = np.array([0, 2, 2, 3, 0, 2])
ROWS = np.array([[0, 1, 1], [2, 2, 0], [1, 0, 1]])
CYCLE = np.array([2, 0, 3, 1, 4])  # not its own inverse
LABELS = np.array([1, 0, 2, 1, 0])


def zeros_with(x, index, values):
    g = np.zeros_like(x)
    g[index] = values
    return g


def zeros_plus(x, index, values):
    g = np.zeros_like(x)
    np.add.at(g, index, values)
    return g


def rows_vjp(x, ct):
    return zeros_plus(x, (np.arange(3)[:, None], ROWS), ct)


def rows_vjp_wrong(x, ct):
    g = np.zeros_like(x)
    np.put_along_axis(g, ROWS, ct, axis=1)
    return g


def replaced(x, v):
    y = x.copy()
    y[[1, 3]] = v
    return y


def replaced_twice(x, v):
    y = x.copy()
    y[[1, 3, 1]] = v  # the last one wins
    return y


def added(x, v):
    y = x.copy()
    np.add.at(y, DUPLICATES, v)
    return y


def cleared(ct, index):
    g = ct.copy()
    g[index] = 0.0
    return g


def sorted_rows_vjp(x, ct, *, axis=1):
    order = np.argsort(x, axis=axis)
    g = np.zeros_like(x)
    np.put_along_axis(g, order, ct, axis=axis)
    return g


def descending(x):
    return np.sort(x)[::-1]


def largest(x):
    return np.sort(x)[-2:]


def running_maximum_vjp(x, ct):
    leaders = np.maximum.accumulate(np.where(x == np.maximum.accumulate(x), np.arange(x.size), 0))
    return zeros_plus(x, leaders, ct)


def middle(x, ct, *, shift=0):
    return zeros_with(x, np.argsort(x)[x.size // 2 + shift], ct)


def middle_pair(x, ct, *, share=0.5):
    return zeros_with(x, np.argsort(x)[x.size // 2 - 1 : x.size // 2 + 1], ct * share)


def lookup(x):
    """Rows of a table, where row 0 stands for padding and reads as zero."""
    return np.where((DUPLICATES == 0)[:, None], 0.0, x[DUPLICATES])


LOWER = np.tril_indices(4)

CASES = [
    linear(
        "gather with duplicates, assigned", lambda x: x[DUPLICATES], lambda x, ct: zeros_plus(x, DUPLICATES, ct),
        lambda x, ct: zeros_with(x, DUPLICATES, ct), normal(5)),
    linear(
        "gather along an axis, assigned", lambda x: np.take_along_axis(x, ROWS, axis=1), rows_vjp, rows_vjp_wrong,
        normal((3, 3))),
    reverse(
        "replaced entries, which still get a cotangent", replaced, lambda x, v, ct: (cleared(ct, [1, 3]), ct[[1, 3]]),
        lambda x, v, ct: (ct, ct[[1, 3]]), normal(5, 2)),
    reverse(
        "replaced twice, the first value counts too", replaced_twice,
        lambda x, v, ct: (cleared(ct, [1, 3]), np.array([0.0, ct[3], ct[1]])),
        lambda x, v, ct: (cleared(ct, [1, 3]), ct[[1, 3, 1]]), normal(5, 3)),
    reverse(
        "added entries, in sorted order", added, lambda x, v, ct: (ct, ct[DUPLICATES]),
        lambda x, v, ct: (ct, ct[np.sort(DUPLICATES)]), normal(5, 6)),
    reverse(
        "added entries, cleared as if replaced", added, lambda x, v, ct: (ct, ct[DUPLICATES]),
        lambda x, v, ct: (cleared(ct, DUPLICATES), ct[DUPLICATES]), normal(5, 6)),
    reverse(
        "maximum, put where the minimum is", np.max, lambda x, ct: zeros_with(x, np.argmax(x), ct),
        lambda x, ct: zeros_with(x, np.argmin(x), ct), normal(6)),
    reverse(
        "descending sort, cotangent not reversed", descending, lambda x, ct: zeros_with(x, np.argsort(x)[::-1], ct),
        lambda x, ct: zeros_with(x, np.argsort(x), ct), normal(6)),
    reverse(
        "sorted rows, permuted along columns", lambda x: np.sort(x, axis=1), sorted_rows_vjp,
        lambda x, ct: sorted_rows_vjp(x, ct, axis=0), normal((4, 4))),
    reverse(
        "two largest, exchanged", largest, lambda x, ct: zeros_with(x, np.argsort(x)[-2:], ct),
        lambda x, ct: zeros_with(x, np.argsort(x)[:-3:-1], ct), normal(6)),
    linear(
        "permutation, not inverted", lambda x: x[CYCLE], lambda x, ct: ct[np.argsort(CYCLE)], lambda x, ct: ct[CYCLE],
        normal(5)),
    linear(
        "every other entry, the odd ones", lambda x: x[::2], lambda x, ct: zeros_with(x, np.s_[::2], ct),
        lambda x, ct: zeros_with(x, np.s_[1::2], ct), normal(6)),
    linear(
        "backward slice, put forward", lambda x: x[4:1:-1], lambda x, ct: zeros_with(x, np.s_[4:1:-1], ct),
        lambda x, ct: zeros_with(x, np.s_[2:5], ct), normal(6)),
    linear(
        "mask, packed to the front", lambda x: x[[False, True, True, False, True]],
        lambda x, ct: zeros_with(x, [False, True, True, False, True], ct), lambda x, ct: zeros_with(x, np.s_[:3], ct),
        normal(5)),
    linear(
        "lower triangle, without its diagonal", np.tril, lambda x, ct: np.tril(ct), lambda x, ct: np.tril(ct, -1),
        normal((4, 4))),
    linear(
        "diagonal above, put below", lambda x: np.diag(x, 1), lambda x, ct: np.diag(ct, 1),
        lambda x, ct: np.diag(ct, -1), normal((4, 4))),
    linear(
        "packed triangle, unpacked by columns", lambda x: x[LOWER], lambda x, ct: zeros_with(x, LOWER, ct),
        lambda x, ct: zeros_with(x, np.triu_indices(4)[::-1], ct), normal((4, 4))),
    reverse(
        "running maximum, each entry to itself", np.maximum.accumulate, running_maximum_vjp,
        lambda x, ct: ct * (x == np.maximum.accumulate(x)), normal(7)),
    reverse("median, one beside the middle", np.median, middle, lambda x, ct: middle(x, ct, shift=-1), normal(7)),
    reverse(
        "median of an even number, not halved", np.median, middle_pair, lambda x, ct: middle_pair(x, ct, share=1.0),
        normal(6)),
    linear(
        "lookup, padding gets a cotangent", lookup,
        lambda x, ct: zeros_plus(x, DUPLICATES[DUPLICATES > 0], ct[DUPLICATES > 0]),
        lambda x, ct: zeros_plus(x, DUPLICATES, ct), normal((4, 2))),
    linear(
        "sums by label, read in sorted order", lambda x: np.bincount(LABELS, x), lambda x, ct: ct[LABELS],
        lambda x, ct: ct[np.sort(LABELS)], normal(5)),
    Case(
        "smallest entries, index taken from the tangent", lambda x: np.sort(x)[:3], normal(6),
        lambda x, t: t[np.argsort(x)[:3]], lambda x, ct: zeros_with(x, np.argsort(x)[:3], ct),
        wrong_jvp=lambda x, t: np.sort(t)[:3]),
]  # fmt: skip
