"""Checks of derivatives, under the names of jax.test_util, and what goes beyond those."""

from autodidax.testing.batch_rules import check_vmap
from autodidax.testing.functions import check_grads, check_jvp, check_vjp
from autodidax.testing.jacobians import numerical_jacobian, numerical_jvp

__all__ = ["check_grads", "check_jvp", "check_vjp", "check_vmap", "numerical_jacobian", "numerical_jvp"]
