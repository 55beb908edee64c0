"""Bitwise and other integer functions; integers have no derivative, so all of these have the derivative zero."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.elementwise import keeping_python


def _samples(rng):
    for one, other in [((), ()), ((3,), (3,)), ((2, 1), (3,)), ((0,), ()), ((2, 3), ())]:
        yield sample(rng.integers(0, 50, one), rng.integers(0, 5, other))
    yield sample(rng.integers(0, 50, 3).astype(np.uint8), rng.integers(0, 5, 3).astype(np.uint8))
    yield sample(rng.integers(-50, 50, 3).astype(np.int32), 3, name="Python scalar")


def _logic_samples(rng):
    yield from _samples(rng)
    yield sample(rng.random(4) < 0.5, rng.random(4) < 0.5)


def _unary_samples(rng):
    for shape in [(), (3,), (2, 3), (0,)]:
        yield sample(rng.integers(-50, 50, shape))
    yield sample(rng.integers(0, 50, 3).astype(np.uint8))


def _invert_samples(rng):
    yield from _unary_samples(rng)
    yield sample(rng.random(4) < 0.5)


def _integer(name: str, ufunc: np.ufunc, op: Callable[..., Any] | None = None, samples: Any = _samples) -> Pointwise:
    return pointwise(
        name, ufunc, nin=2, zero_derivative=True, module=__name__, samples=samples,
        impl=ufunc if op is None else keeping_python(op, ufunc),
    )  # fmt: skip


bitwise_and = _integer("bitwise_and", np.bitwise_and, operator.and_, _logic_samples)
bitwise_or = _integer("bitwise_or", np.bitwise_or, operator.or_, _logic_samples)
bitwise_xor = _integer("bitwise_xor", np.bitwise_xor, operator.xor, _logic_samples)
left_shift = _integer("shift_left", np.left_shift, operator.lshift)
right_shift = _integer("shift_right", np.right_shift, operator.rshift)
gcd = _integer("gcd", np.gcd)
lcm = _integer("lcm", np.lcm)
invert = pointwise(
    "bitwise_not", np.invert, zero_derivative=True, impl=operator.invert, module=__name__, samples=_invert_samples
)
bitwise_count = pointwise(
    "population_count", np.bitwise_count, zero_derivative=True, module=__name__, samples=_unary_samples
)
