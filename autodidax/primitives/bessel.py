"""NumPy's modified Bessel function; its derivatives are SciPy's, so this module is imported on first use only."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.special.bessel import i1


def _i0(x: Any) -> Any:
    return np.i0(x)[()]  # NumPy gives an array without axes


def _samples(rng):
    for shape in [(), (3,), (2, 3), (0, 2)]:
        yield sample(rng.uniform(-4.0, 4.0, shape))
    yield sample(np.array([-20.0, -7.9, 0.0, 8.1]), name="both of NumPy's expansions")
    yield sample(rng.uniform(-4.0, 4.0, 3).astype(np.float32))
    yield sample(np.array([1, 2]), name="integers")


numpy_i0: Pointwise = pointwise(
    "numpy_i0", np.i0, lambda _, x: i1(x), impl=_i0, samples=_samples, complex_ok=False, module=__name__
)
