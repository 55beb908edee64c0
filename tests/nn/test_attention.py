"""dot_product_attention: against its definition, head by head, and JAX."""

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors, nn
from autodidax.test_util import check_grads

RNG = np.random.default_rng(0)
B, T, S, N, K, H = 2, 3, 5, 4, 2, 3
Q, KEY, VALUE = RNG.normal(size=(B, T, N, H)), RNG.normal(size=(B, S, K, H)), RNG.normal(size=(B, S, K, H))
CALLS = {
    "plain": {},
    "bias": {"bias": RNG.normal(size=(B, N, T, S))},
    "one bias": {"bias": RNG.normal(size=(1, 1, T, S))},
    "mask": {"mask": RNG.random((B, N, T, S)) < 0.6},
    "one mask": {"mask": RNG.random((B, 1, 1, S)) < 0.6},
    "causal": {"is_causal": True},
    "scale": {"scale": 0.3},
    "window": {"local_window_size": 1},
    "windows, causal": {"local_window_size": (1, 0), "is_causal": True},
    "queries": {"query_seq_lengths": np.array([1, 3], np.int32)},
    "lengths": {"query_seq_lengths": np.array([2, 3], np.int32), "key_value_seq_lengths": np.array([4, 2], np.int32)},
}


def by_definition(
    q, k, v, bias=0.0, mask=True, scale=None, is_causal=False, local_window_size=None, query_seq_lengths=(T, T),
    key_value_seq_lengths=(S, S),
):  # fmt: skip
    bias, mask = np.broadcast_to(bias, (B, N, T, S)), np.broadcast_to(mask, (B, N, T, S))
    left, right = (S, S) if local_window_size is None else np.broadcast_to(local_window_size, 2)
    out = np.zeros((B, T, N, H))
    for b, t, n in np.ndindex(B, T, N):
        if t >= query_seq_lengths[b]:
            continue
        head = n // (N // K)
        logits = k[b, :, head] @ q[b, t, n] * (H**-0.5 if scale is None else scale) + bias[b, n, t]
        s = np.arange(S)
        seen = mask[b, n, t] & (s < key_value_seq_lengths[b]) & (s >= t - left) & (s <= t + right)
        seen = seen & (s <= t) if is_causal else seen
        weights = np.exp(logits - logits[seen].max()) * seen if seen.any() else np.ones(S)
        out[b, t, n] = weights / weights.sum() @ v[b, :, head]
    return out


@pytest.mark.parametrize("kwargs", CALLS.values(), ids=CALLS)
def test_values(kwargs):
    out = nn.dot_product_attention(Q, KEY, VALUE, **kwargs)
    np.testing.assert_allclose(out, by_definition(Q, KEY, VALUE, **kwargs), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        ad.jit(lambda *a: nn.dot_product_attention(*a, **kwargs))(Q, KEY, VALUE), out, rtol=1e-12
    )


@pytest.mark.parametrize("kwargs", CALLS.values(), ids=CALLS)
def test_derivatives(kwargs):
    check_grads(lambda *a: nn.dot_product_attention(*a, **kwargs), (Q, KEY, VALUE), order=1, points="given")


def test_second_order_and_bias():
    f = lambda q, k, v, bias: nn.dot_product_attention(q, k, v, bias, is_causal=True)
    check_grads(f, (Q[:1, :2], KEY[:1, :2], VALUE[:1, :2], RNG.normal(size=(1, N, 2, 2))), order=2, points="given")


def test_without_a_batch_and_under_vmap():
    out = nn.dot_product_attention(Q, KEY, VALUE)
    np.testing.assert_allclose(nn.dot_product_attention(Q[0], KEY[0], VALUE[0]), out[0], rtol=1e-13)
    np.testing.assert_allclose(ad.vmap(nn.dot_product_attention)(Q, KEY, VALUE), out, rtol=1e-13)
    assert nn.dot_product_attention(*(x.astype(np.float32) for x in (Q, KEY, VALUE))).dtype == np.float32


def test_residual():
    attend = lambda q: nn.dot_product_attention(q, KEY, VALUE, return_residual=True)[1]
    logits = np.einsum("btkgh,bskh->btkgs", Q.reshape(B, T, K, N // K, H), KEY) * H**-0.5
    np.testing.assert_allclose(attend(Q), np.log(np.sum(np.exp(logits), -1)).reshape(B, T, N), rtol=1e-13)
    assert not ad.grad(lambda q: ad.numpy.sum(nn.dot_product_attention(q, KEY, VALUE, return_residual=True)[1]))(
        Q
    ).any()


BAD = {
    "implementation": (dict(implementation="cudnn"), errors.UnsupportedError),
    "mask": (dict(mask=np.ones((B, N, T, S))), errors.DtypeError),
    "bias": (dict(bias=np.ones((B, 3, T, S))), errors.ShapeError),
    "lengths": (dict(query_seq_lengths=np.array([1])), errors.ShapeError),
}


@pytest.mark.parametrize(("kwargs", "error"), BAD.values(), ids=BAD)
def test_bad_keywords(kwargs, error):
    with pytest.raises(error):
        nn.dot_product_attention(Q, KEY, VALUE, **kwargs)


def test_bad_operands():
    with pytest.raises(errors.ShapeError):
        nn.dot_product_attention(Q, KEY[:, :, :1], VALUE)
    with pytest.raises(errors.ShapeError):
        nn.dot_product_attention(Q[0, 0], KEY, VALUE)
    with pytest.raises(errors.DtypeError):
        nn.dot_product_attention(Q.astype(np.float32), KEY, VALUE)


@pytest.mark.slow
@pytest.mark.parametrize("kwargs", CALLS.values(), ids=CALLS)
def test_jax(kwargs):
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    jax.config.update("jax_enable_x64", True)
    want = jax.nn.dot_product_attention(Q, KEY, VALUE, return_residual=True, **kwargs)
    got = nn.dot_product_attention(Q, KEY, VALUE, return_residual=True, **kwargs)
    for a, b in zip(got, want, strict=True):  # its softmax runs in single precision
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
