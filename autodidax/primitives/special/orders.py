"""Functions of an order or a parameter and a variable: their samples, and what is said where one has no derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.primitive import sample


def not_in(name: str, operand: str) -> Callable[..., Any]:
    """The product of an operand in which a function is not differentiable here."""

    def product(_t, _z, _x, _y):
        raise errors.NondifferentiableError(
            f"{name} has no derivative in its {operand}: SciPy has no function for it",
            mend=f"keep the {operand} constant, e.g. by stop_gradient",
        )

    return product


def order_samples(low, high):
    def samples(rng):
        for order in (0, 1, 3):
            yield sample(order, rng.uniform(low, high, (2, 3)))
        yield sample(2, rng.uniform(low, high))
        yield sample(1, rng.uniform(low, high, 3).astype(np.float32))
        yield sample(rng.permutation(3)[:, None], rng.uniform(low, high, 4), name="array of orders")
        yield sample(np.array(1), rng.uniform(low, high, (0, 2)))

    return samples
