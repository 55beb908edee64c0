"""Attention of queries to keys by their scalar products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import dtype_of, shape_of
from autodidax.numpy.contraction import einsum
from autodidax.numpy.dispatch import operand
from autodidax.primitives.comparison import less, logical_and
from autodidax.primitives.convert import astype, stop_gradient_p
from autodidax.primitives.normalization import softmax
from autodidax.primitives.reductions import logsumexp
from autodidax.primitives.select import where
from autodidax.primitives.shape import expand_dims, reshape, transpose

# what stands in the place of the logit of a key that is left out: finite, so that a query without keys has weights
_FAR_BELOW = -0.7 * float(np.finfo(np.float32).max)


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: Any = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """softmax(scale query key^T + bias) value, of each head: (b, t, n, h), (b, s, k, h), (b, s, k, h) -> (b, t, n, h).

    The batch axis b may be left away. Heads n are grouped: n is a multiple of k, and n/k heads in a row share a key and
    a value. The softmax runs in the dtype of the query, half precision in single.

    bias, mask : broadcast to (b, n, t, s), the axis of heads 1 or n; the mask is boolean, and true where attention is
        paid. A query that may attend to nothing attends to all keys equally, as in JAX.
    scale : 1/sqrt(h) by default.
    is_causal : query i attends to the keys up to i.
    query_seq_lengths, key_value_seq_lengths : integers (b,), how many queries and keys count; the result is 0 for the
        other queries.
    local_window_size : (left, right), or one number for both: query i attends to the keys from i - left to i + right.
    implementation : None or "xla", which say nothing here.
    return_residual : return the logsumexp of what the softmax is taken of too, (b, t, n), without derivative.

    Source: jax.nn.dot_product_attention.

    Raises
    ------
    ShapeError, DtypeError : where the operands do not fit together.
    UnsupportedError : for another implementation.
    """
    if implementation not in (None, "xla"):
        raise errors.UnsupportedError(
            f"dot_product_attention: there is no implementation {implementation!r}, as NumPy computes it",
            mend="leave implementation= away",
        )
    query, key, value = operand(query), operand(key), operand(value)
    out_shape = shape_of(query)
    query, key, value = _with_batch(query), _with_batch(key), _with_batch(value)
    _check(query, key, value)
    batch, n_queries, heads, size = shape_of(query)
    n_keys, groups = shape_of(key)[1:3]
    wide = np.promote_types(dtype_of(query), np.float32)

    grouped = reshape(query, shape=(batch, n_queries, groups, heads // groups, size))
    logits = einsum("btkgh,bskh->bkgts", astype(grouped, wide), astype(key, wide))
    logits = logits * (1.0 / math.sqrt(size) if scale is None else scale)
    if bias is not None:
        logits = astype(logits + _by_group("bias", operand(bias), heads, groups), wide)
    allowed = _positions_allowed(n_queries, n_keys, is_causal, local_window_size)
    queries_count = _counted("query_seq_lengths", query_seq_lengths, batch, n_queries)
    keys_count = _counted("key_value_seq_lengths", key_value_seq_lengths, batch, n_keys)
    for more in (
        None if mask is None else _by_group("mask", _boolean(operand(mask)), heads, groups),
        None if queries_count is None else expand_dims(queries_count, (1, 2, 4)),
        None if keys_count is None else expand_dims(keys_count, (1, 2, 3)),
    ):
        if more is not None:
            allowed = more if allowed is None else logical_and(allowed, more)
    if allowed is not None:
        logits = where(allowed, logits, _FAR_BELOW)

    weights = astype(softmax(logits, axes=(4,)), dtype_of(key))
    out = einsum("bkgts,bskh->btkgh", weights, value)
    if queries_count is not None:
        out = where(expand_dims(queries_count, (2, 3, 4)), out, 0)
    out = reshape(out, shape=out_shape)
    if not return_residual:
        return out
    total = astype(stop_gradient_p(logsumexp(logits, axes=(4,))), dtype_of(key))
    return out, reshape(transpose(total, permutation=(0, 3, 1, 2)), shape=out_shape[:-1])


def _with_batch(x: Any) -> Any:
    """An operand with the four axes: a leading one of size 1 where the batch was left away."""
    shape = shape_of(x)
    if len(shape) not in (3, 4):
        raise errors.ShapeError(
            f"dot_product_attention: an operand of shape {shape}, in the place of (b, t, n, h) or (t, n, h)",
            mend="give query, key and value an axis of positions, one of heads and one of entries",
        )
    return reshape(x, shape=(1, *shape)) if len(shape) == 3 else x


def _check(query: Any, key: Any, value: Any) -> None:
    """Raise where queries, keys and values do not fit together."""
    (b, _, n, h), keys, values = shape_of(query), shape_of(key), shape_of(value)
    if keys != values or (keys[0], keys[3]) != (b, h) or keys[2] == 0 or n % keys[2]:
        raise errors.ShapeError(
            f"dot_product_attention: query of shape {shape_of(query)}, key of {keys} and value of {values}",
            mend="give shapes (b, t, n, h), (b, s, k, h) and (b, s, k, h), n a multiple of k",
        )
    dtypes = [dtype_of(x) for x in (query, key, value)]
    if len(set(dtypes)) > 1 or dtypes[0].kind != "f":
        raise errors.DtypeError(
            f"dot_product_attention: query, key and value are {', '.join(map(str, dtypes))}",
            mend="give all of them one floating dtype",
        )


def _boolean(mask: Any) -> Any:
    if dtype_of(mask).kind != "b":
        raise errors.DtypeError(
            f"dot_product_attention: the mask is {dtype_of(mask)}",
            mend="give booleans; what is to be added goes to bias=",
        )
    return mask


def _by_group(name: str, x: Any, heads: int, groups: int) -> Any:
    """(b, n, t, s) as (b, k, n/k, t, s), an axis of size 1 as two."""
    shape = (1,) * (4 - len(shape_of(x))) + tuple(shape_of(x))
    if len(shape) != 4 or shape[1] not in (1, heads):
        raise errors.ShapeError(
            f"dot_product_attention: {name} of shape {shape_of(x)}, in the place of (b, n, t, s) with {heads} heads",
            mend=f"give {name} a shape that broadcasts to the heads, queries and keys",
        )
    by_group = (1, 1) if shape[1] == 1 else (groups, heads // groups)
    return reshape(x, shape=(shape[0], *by_group, *shape[2:]))


def _positions_allowed(n_queries: int, n_keys: int, is_causal: bool, window: Any) -> np.ndarray | None:
    """Which key a query may attend to by their positions: bool[t, s]; None for all."""
    ahead = np.arange(n_keys) - np.arange(n_queries)[:, None]
    allowed = ahead <= 0 if is_causal else None
    if window is not None:
        left, right = window if isinstance(window, tuple | list) else (window, window)
        near = (ahead >= -left) & (ahead <= right)
        allowed = near if allowed is None else allowed & near
    return allowed


def _counted(name: str, lengths: Any, batch: int, size: int) -> Any:
    """Which positions count: bool[b, size]; None for all."""
    if lengths is None:
        return None
    lengths = operand(lengths)
    if shape_of(lengths) != (batch,) or dtype_of(lengths).kind not in "iu":
        raise errors.ShapeError(
            f"dot_product_attention: {name} is {dtype_of(lengths)} of shape {shape_of(lengths)}",
            mend=f"give integers of shape ({batch},), one an entry of the batch",
        )
    return less(np.arange(size), expand_dims(lengths, (1,)))


__all__ = ["dot_product_attention"]
