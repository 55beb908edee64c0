"""scipy.sparse: its part `linalg`, on dense matrices, functions and trees."""

from autodidax.scipy.sparse import linalg

__all__ = ["linalg"]
