"""Checks of derivatives, under the names of jax.test_util."""

from autodidax.testing.functions import check_grads, check_jvp, check_vjp

__all__ = ["check_grads", "check_jvp", "check_vjp"]
