"""The checker of derivative, batching and staging rules."""

from autodidax.testing.functions import check_grads, check_jvp, check_vjp
