"""Wrong batching rules: an axis that is not shifted, a batch that is mixed up with another dimension or summed over.

A rule gets the arguments, and for each of them the axis that is mapped or None; its result has the batch on axis 0.
"""

import numpy as np
from scipy import special

from tests.testing.wrong.case import Case, normal


def front(x, axis):
    """With the batch on axis 0; an argument that is not mapped gets an axis of size 1."""
    return np.expand_dims(x, 0) if axis is None else np.moveaxis(x, axis, 0)


def size_of(args, axes):
    return next(x.shape[a] for x, a in zip(args, axes, strict=True) if a is not None)


def batched(name, f, right, wrong, args):
    """Rules of arguments that are brought to the front: (x, y, ...) -> out."""

    def rule(body):
        return lambda xs, axes: body(*map(front, xs, axes))

    return Case(name, f, args, vmap=rule(right), wrong_vmap=rule(wrong))


def full(name, f, right, wrong, args):
    return Case(name, f, args, vmap=right, wrong_vmap=wrong)


def axis_taken_as_0(xs, axes):
    return np.sin(xs[0])


def sin_rule(xs, axes):
    return np.sin(front(xs[0], axes[0]))


def squeezed(xs, axes):
    return np.squeeze(np.sin(front(xs[0], axes[0])))


def scaled(xs, axes):
    return front(xs[0], axes[0])[..., None] * front(xs[1], axes[1])


def scaled_by_shape(xs, axes):
    """A batch of factors counts as a vector where its size is that of the vector."""
    return xs[0] * xs[1] if np.shape(xs[0]) == xs[1].shape else scaled(xs, axes)


def added(xs, axes):
    moved = [x if a is None else np.moveaxis(x, a, 0) for x, a in zip(xs, axes, strict=True)]
    return moved[0] + moved[1]


def added_rule(xs, axes):
    x, y = map(front, xs, axes)
    return x + y[:, None, :]


def taken(xs, axes):
    x, k = xs
    n = size_of(xs, axes)
    return np.take_along_axis(
        np.broadcast_to(front(x, axes[0]), (n, 4)), np.broadcast_to(front(k, axes[1]), (n, 3)), axis=1
    )


def taken_for_the_first(xs, axes):
    x, k = xs
    n = size_of(xs, axes)
    return np.broadcast_to(front(x, axes[0]), (n, 4))[:, np.broadcast_to(front(k, axes[1]), (n, 3))[0]]


def index_args(rng):
    return rng.standard_normal(4), rng.integers(0, 4, 3)


def matmul_rule(xs, axes):
    return front(xs[0], axes[0]) @ front(xs[1], axes[1])


def exchanged_where_not_mapped(xs, axes):
    return front(xs[1], axes[1]) @ xs[0] if axes[0] is None else matmul_rule(xs, axes)


def choose(x):
    return np.sin(x) if x.sum() > 0 else np.cos(x)


def choose_by_the_first(x):
    return np.sin(x) if x[0].sum() > 0 else np.cos(x)


def choose_by_any(x):
    return np.sin(x) if np.any(x.sum(axis=1) > 0) else np.cos(x)


def choose_by_row(x):
    return np.where(x.sum(axis=1, keepdims=True) > 0, np.sin(x), np.cos(x))


def ordered(rng):
    return (np.sort(rng.uniform(1, 4, 4)),)


def one_taken(xs, axes):
    x, k = xs
    n = size_of(xs, axes)
    return np.broadcast_to(front(x, axes[0]), (n, 4))[np.arange(n), np.broadcast_to(front(k, axes[1]), n)]


def one_taken_for_the_first(xs, axes):
    x, k = xs
    n = size_of(xs, axes)
    return np.broadcast_to(front(x, axes[0]), (n, 4))[:, np.ravel(k)[0]].copy()


def one_index(rng):
    return rng.standard_normal(4), np.array(rng.integers(0, 4))


def turned(xs, axes):
    flag, x = map(front, xs, axes)
    return np.where(flag.reshape(-1, 1), x, -x)


def turned_by_the_first(xs, axes):
    flag, x = map(front, xs, axes)
    return np.broadcast_to(x if flag.ravel()[0] else -x, (size_of(xs, axes), 3)).copy()


def shifted_exponential(x, largest):
    e = np.exp(x - largest)
    return np.log(e.sum(axis=1)) + np.ravel(largest)


CASES = [
    batched(
        "sum, axis not shifted", lambda x: x.sum(axis=0), lambda x: x.sum(axis=1), lambda x: x.sum(axis=2),
        normal((3, 3))),
    batched(
        "sum of all, batch too", np.sum, lambda x: x.sum(axis=1), lambda x: np.full(x.shape[0], x.sum()), normal(4)),
    batched("transpose, of the batch too", np.transpose, lambda x: x.swapaxes(1, 2), np.transpose, normal((3, 3))),
    full("mapped axis taken as axis 0", np.sin, sin_rule, axis_taken_as_0, normal((3, 3))),
    full(
        "batch returned on axis 1", np.sin, sin_rule, lambda xs, axes: np.moveaxis(sin_rule(xs, axes), 0, 1),
        normal((3, 3))),
    full("batch of one squeezed away", np.sin, sin_rule, squeezed, normal(4)),
    full("rank promoted from the right", lambda x, y: x + y, added_rule, added, normal((3, 3), 3)),
    full("batch of factors taken for a vector", np.multiply, scaled, scaled_by_shape, normal((), 3)),
    batched(
        "softmax, normalized over the batch", special.softmax, lambda x: special.softmax(x, axis=1), special.softmax,
        normal(4)),
    batched(
        "cumulative sum, through the batch", np.cumsum, lambda x: np.cumsum(x, axis=1),
        lambda x: np.cumsum(x).reshape(x.shape), normal(4)),
    batched("sort, along the batch", np.sort, lambda x: np.sort(x, axis=1), lambda x: np.sort(x, axis=0), normal(4)),
    batched("reverse, of the batch too", lambda x: x[::-1], lambda x: x[:, ::-1], lambda x: x[::-1, ::-1], normal(4)),
    batched(
        "dot, of all pairs of rows", np.dot, lambda x, y: np.sum(x * y, axis=1), lambda x, y: np.sum(x @ y.T, axis=1),
        normal(4, 4)),
    batched(
        "outer product, transposed", np.outer, lambda x, y: x[:, :, None] * y[:, None, :],
        lambda x, y: x[:, None, :] * y[:, :, None], normal(3, 3)),
    batched(
        "norm, of the batch", lambda x: np.sqrt(np.sum(x * x)), lambda x: np.sqrt(np.sum(x * x, axis=1)),
        lambda x: np.full(x.shape[0], np.sqrt(np.sum(x * x))), normal(4)),
    batched(
        "cross product, first row for all", np.cross, np.cross, lambda x, y: np.cross(x[:1], y) + 0 * x, normal(3, 3)),
    full("gather, indices of the first row", lambda x, k: x[k], taken, taken_for_the_first, index_args),
    batched("matmul, operands exchanged", np.matmul, lambda x, y: x @ y, lambda x, y: y @ x, normal((3, 3), (3, 3))),
    full(
        "matmul, exchanged where the first is not mapped", np.matmul, matmul_rule, exchanged_where_not_mapped,
        normal((3, 3), (3, 3))),
    batched("float32 result", np.sin, np.sin, lambda x: np.sin(x).astype(np.float32), normal(4)),
    batched(
        "mean of the batch subtracted", lambda x: x - x.mean(), lambda x: x - x.mean(axis=1, keepdims=True),
        lambda x: x - x.mean(), normal(4)),
    batched(
        "sort, in the order of the first row", np.sort, lambda x: np.sort(x, axis=1), lambda x: x[:, np.argsort(x[0])],
        ordered),
    batched(
        "maximum, at that of the first row", np.max, lambda x: x.max(axis=1), lambda x: x[:, x[0].argmax()], ordered),
    batched("branch of the first row", choose, choose_by_row, choose_by_the_first, ordered),
    batched("branch of any row", choose, choose_by_row, choose_by_any, normal(4)),
    batched(
        "positive part, where the first row is positive", lambda x: np.maximum(x, 0), lambda x: np.maximum(x, 0),
        lambda x: x * (x[0] > 0), ordered),
    batched(
        "logsumexp, shifted by the largest of all", special.logsumexp,
        lambda x: shifted_exponential(x, x.max(axis=1, keepdims=True)), lambda x: shifted_exponential(x, x.max()),
        ordered),
    batched(
        "sign of the first determinant", np.linalg.slogdet, np.linalg.slogdet,
        lambda x: (np.full(len(x), np.linalg.slogdet(x[0])[0]), np.linalg.slogdet(x)[1]), normal((3, 3))),
    batched(
        "sine of a product", lambda x, y: np.sin(x @ y), lambda x, y: np.sin(np.sum(x * y, axis=1)),
        lambda x, y: np.sin(np.sum(x * y, axis=1)) * (1 + 1e-9), normal(9, 9)),
    full("one index, that of the first row", lambda x, k: x[k], one_taken, one_taken_for_the_first, one_index),
    full(
        "sign by a boolean, that of the first row", lambda flag, x: x if flag else -x, turned, turned_by_the_first,
        lambda rng: (np.array(True), rng.standard_normal(3))),
    batched("last row repeated", np.sin, np.sin, lambda x: np.sin(x[np.minimum(np.arange(x.shape[0]), 1)]), normal(4)),
]  # fmt: skip
