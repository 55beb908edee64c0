"""Rematerialization under JAX's module name: checkpoint, names and policies, and what is kept."""

from autodidax.transforms import checkpoint_policies
from autodidax.transforms.checkpoint import checkpoint
from autodidax.transforms.names import checkpoint_name
from autodidax.transforms.residuals import print_saved_residuals, saved_residuals

__all__ = ["checkpoint", "checkpoint_name", "checkpoint_policies", "print_saved_residuals", "saved_residuals"]
