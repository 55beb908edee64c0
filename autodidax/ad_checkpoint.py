"""Rematerialization under JAX's module name: checkpoint, and names for the values that its policies choose."""

from autodidax.transforms.checkpoint import checkpoint
from autodidax.transforms.names import checkpoint_name

__all__ = ["checkpoint", "checkpoint_name"]
