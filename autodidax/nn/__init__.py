"""Functions of neural networks under the names of jax.nn: activations, normalizations, attention, initializers.

The scaled matrix products of low-precision hardware (`scaled_matmul`, `scaled_dot_general`) are left out.
"""

from __future__ import annotations

import importlib
from typing import Any

from autodidax.nn.activations import (
    celu,
    elu,
    gelu,
    glu,
    hard_sigmoid,
    hard_silu,
    hard_swish,
    hard_tanh,
    identity,
    leaky_relu,
    log1mexp,
    log_sigmoid,
    mish,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    soft_sign,
    softplus,
    sparse_plus,
    sparse_sigmoid,
    squareplus,
    swish,
    tanh,
)
from autodidax.nn.attention import dot_product_attention
from autodidax.nn.encoding import one_hot
from autodidax.nn.normalization import log_softmax, logmeanexp, logsumexp, softmax, standardize

__all__ = [
    "celu", "dot_product_attention", "elu", "gelu", "glu", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh",
    "identity", "initializers", "leaky_relu", "log1mexp", "log_sigmoid", "log_softmax", "logmeanexp", "logsumexp",
    "mish", "one_hot", "relu", "relu6", "selu", "sigmoid", "silu", "soft_sign", "softmax", "softplus", "sparse_plus",
    "sparse_sigmoid", "squareplus", "standardize", "swish", "tanh",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "initializers":  # it loads the random numbers
        return importlib.import_module("autodidax.nn.initializers")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
