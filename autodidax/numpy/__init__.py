"""NumPy's functions, differentiable, under their own names."""

from __future__ import annotations

from autodidax.numpy import operators as _operators
