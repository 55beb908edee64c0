"""Functions with several results, such as airy and fresnel: how their derivatives are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray, broadcast_shapes
from autodidax.core.primitive import Primitive, Sample, align_batch, sample


class SeveralResults(Primitive):
    """An elementwise function of broadcasting operands with several results: (...), ... -> (...), ...

    For each operand there is a function of (outs, *operands), in traceable operations, that gives the derivative of
    every result in it (None where there is none), or a text that says why the operand has to stay constant.
    """

    multiple_results = True

    def __init__(
        self,
        name: str,
        ufunc: Any,
        *slopes: Callable[..., list[Any]] | str,
        samples: Callable[[np.random.Generator], Iterator[Sample]],
        module: str,
    ):
        self.ufunc, self.slopes, self._samples = ufunc, slopes, samples
        self.constant_operands = tuple(k for k, s in enumerate(slopes) if isinstance(s, str))
        super().__init__(name, module=module, numpy_function=ufunc)

    def impl(self, *args):
        return list(self.ufunc(*args))

    def abstract_eval(self, *avals):
        ones = [a.dtype.type(1).item() if a.weak_type else np.ones(1, a.dtype) for a in avals]
        with np.errstate(all="ignore"):
            dtypes = [x.dtype for x in self.ufunc(*ones)]
        shape = broadcast_shapes(self.name, *[a.shape for a in avals])
        return [ShapedArray(shape, dtype) for dtype in dtypes]

    def jvp(self, out, primals, tangents):
        totals: list[Any] = [None] * len(out)
        for slopes, t in zip(self.slopes, tangents, strict=True):
            if t is None:
                continue
            if isinstance(slopes, str):
                raise errors.NondifferentiableError(
                    f"{self.name} {slopes}", mend="keep that operand constant, e.g. by stop_gradient"
                )
            for k, slope in enumerate(slopes(out, *primals)):
                if slope is not None:
                    totals[k] = t * slope if totals[k] is None else totals[k] + t * slope
        return totals

    def batch(self, args, dims):
        return self(*align_batch(args, dims)), [0] * self.ufunc.nout

    def samples(self, rng):
        yield from self._samples(rng)


def argument_samples(low: float, high: float, *extra: Sample, complex_ok: bool = False) -> Callable[..., Any]:
    """Samples of a function of one variable."""

    def samples(rng):
        for shape in [(), (3,), (2, 3), (0, 2)]:
            yield sample(rng.uniform(low, high, shape))
        yield sample(rng.uniform(low, high, 3).astype(np.float32))
        if complex_ok:
            yield sample(rng.uniform(low, high, 3) + 1j * rng.uniform(-1.0, 1.0, 3), name="complex")
        yield from extra

    return samples


def parameter_samples(
    parameters: tuple[Any, ...], low: float, high: float, *extra: Sample, single: bool = True
) -> Callable[..., Any]:
    """Samples of a function of constant parameters and one variable, which comes last."""

    def samples(rng):
        for shape in [(), (3,), (2, 3), (0, 2)]:
            yield sample(*parameters, rng.uniform(low, high, shape))
        if single:
            yield sample(*parameters, rng.uniform(low, high, 2).astype(np.float32))
        rows = [np.full((2, 1), p) for p in parameters]
        yield sample(*rows, rng.uniform(low, high, 3), name="broadcast")
        yield from extra

    return samples
