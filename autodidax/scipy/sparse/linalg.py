"""The names of jax.scipy.sparse.linalg: iterative solutions of linear systems, differentiable."""

from autodidax.control_flow.iterative import bicgstab, cg, gmres

__all__ = ["bicgstab", "cg", "gmres"]
