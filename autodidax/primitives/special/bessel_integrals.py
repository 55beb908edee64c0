"""Integrals of Bessel functions, and Wright's generalization of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc

from autodidax.core.primitive import Pointwise, pointwise, sample
from autodidax.primitives.comparison import less
from autodidax.primitives.elementwise import absolute, exp
from autodidax.primitives.select import where
from autodidax.primitives.special.bessel import i0, i1, j0, j1, k0, y0
from autodidax.primitives.special.polynomials import constant_in
from autodidax.primitives.special.several_results import SeveralResults, argument_samples
from autodidax.primitives.special.struve import mean_between


def _over_argument(slope: Any, difference: Any, x: Any) -> Any:
    """F(x)/x for F with F(0) = 0, by the mean of its slope close to 0."""
    near = less(absolute(x), 1.0)
    large = where(near, 1.0, x)
    return where(near, mean_between(slope, where(near, x, 0.5)), difference(large) / large)


_RANGE = sample(np.array([0.01, 6.0]), name="small, large")

itj0y0 = SeveralResults(
    "itj0y0", sc.itj0y0, lambda _, x: [j0(x), y0(x)], samples=argument_samples(0.5, 4.0, _RANGE), module=__name__
)
iti0k0 = SeveralResults(
    "iti0k0", sc.iti0k0, lambda _, x: [i0(x), k0(x)], samples=argument_samples(0.5, 4.0, _RANGE), module=__name__
)
it2j0y0 = SeveralResults(
    "it2j0y0", sc.it2j0y0, lambda _, x: [_over_argument(j1, lambda y: 1.0 - j0(y), x), -y0(x) / x],
    samples=argument_samples(0.5, 4.0, _RANGE), module=__name__,
)  # fmt: skip
it2i0k0 = SeveralResults(
    "it2i0k0", sc.it2i0k0, lambda _, x: [_over_argument(i1, lambda y: i0(y) - 1.0, x), -k0(x) / x],
    samples=argument_samples(0.5, 4.0, _RANGE), module=__name__,
)  # fmt: skip
it2i0k0.checked = "for large arguments SciPy computes it to a few digits only, its derivatives to all"


def _three_samples(first: Any, second: Any) -> Any:
    def samples(rng):
        for shapes in [((), (), ()), ((3,), (3,), (3,)), ((2, 1), (1,), (3,)), ((0, 2), (), ())]:
            yield sample(*first(rng, shapes))
        yield sample(*[a.astype(np.float32) if a.dtype.kind == "f" else a for a in first(rng, ((2,),) * 3)])
        yield from second

    return samples


def _wright_draw(rng: Any, shapes: Any) -> Any:
    return rng.integers(0, 2, shapes[0]), rng.integers(1, 3, shapes[1]), rng.uniform(0.1, 3.0, shapes[2])


wright_bessel: Pointwise = pointwise(
    "wright_bessel", sc.wright_bessel, nin=3, module=__name__,
    samples=_three_samples(_wright_draw, [sample(1, 2, np.array([0.0, 20.0]), name="at 0, large")]),
    products=(
        constant_in("wright_bessel", "first parameter", 3),
        constant_in("wright_bessel", "second parameter", 3),
        lambda t, _z, a, b, x: t * wright_bessel(a, a + b, x),
    ),
)  # fmt: skip

if hasattr(sc, "log_wright_bessel"):  # SciPy 1.14
    log_wright_bessel: Pointwise = pointwise(
        "log_wright_bessel", sc.log_wright_bessel, nin=3, module=__name__,
        samples=_three_samples(_wright_draw, [sample(1, 2, np.array([0.0, 1e3]), name="at 0, large")]),
        products=(
            constant_in("log_wright_bessel", "first parameter", 3),
            constant_in("log_wright_bessel", "second parameter", 3),
            lambda t, z, a, b, x: t * exp(log_wright_bessel(a, a + b, x) - z),
        ),
    )  # fmt: skip
