"""A function together with all its partial derivatives, as one primitive: the order is a parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray, broadcast_shapes, plain_aval
from autodidax.core.primitive import Primitive, align_batch, sample


class Partials(Primitive):
    """The partial derivative, of one order an operand, of a function of broadcasting operands.

    A subclass gives `ufunc`, which is the value and decides the dtype, and `evaluate(*args, orders=...)`, the
    derivative on flat arrays of double precision. A function that SciPy does not have gives `like` in its place, a
    ufunc that has the dtypes, and is evaluated at order 0 as well. Where a derivative in an operand is known in other
    terms, the subclass gives `slope(k, out, args, orders)` in traceable operations, else the order of that operand
    rises by one.

    `constant` says for operands in which there is no derivative why; the functions are piecewise constant in `steps`.
    """

    costly = True  # series and quadratures
    ufunc: np.ufunc | None = None
    like: np.ufunc | None = None
    nin = 1
    constant: dict[int, str] = {}
    steps: tuple[int, ...] = ()

    def __init__(self, name: str, **kwargs: Any):
        super().__init__(name, module=type(self).__module__, **kwargs)
        self._dtypes: dict[Any, np.dtype] = {}
        self._zeros = (0,) * self.nin
        self.op = self._function()

    def _function(self) -> Callable[..., Any]:
        """The function itself, at order 0, as SciPy's ufunc is called."""

        def op(*args: Any) -> Any:
            if len(args) != self.nin:
                raise TypeError(f"{self.name}() takes {errors.counted(self.nin, 'argument')}, {len(args)} given")
            return self(*args)

        op.__name__ = op.__qualname__ = self.name
        return op

    def dtype_for(self, avals: Sequence[ShapedArray]) -> np.dtype:
        """The dtype of the result: the ufunc's own."""
        key = tuple((a.dtype, a.weak_type) for a in avals)
        known = self._dtypes.get(key)
        if known is None:
            known = self._dtypes[key] = self.found_dtype(avals)
        return known

    def found_dtype(self, avals: Sequence[ShapedArray]) -> np.dtype:
        """As the ufunc itself tells, without a call: some warn of real numbers where they expect integers."""
        ufunc = self.ufunc or self.like
        assert ufunc is not None
        own = [type(a.dtype.type(1).item()) if a.weak_type else a.dtype for a in avals]
        return ufunc.resolve_dtypes((*own, *[None] * ufunc.nout))[ufunc.nin]

    def evaluate(self, *args: np.ndarray, orders: tuple[int, ...]) -> np.ndarray:
        raise NotImplementedError

    def impl(self, *args: Any, orders: tuple[int, ...] | None = None) -> Any:
        if orders is None or orders == self._zeros:
            if self.ufunc is not None:
                return self.ufunc(*args)
            orders = self._zeros
        dtype = self.dtype_for([plain_aval(x) for x in args])
        wide = [np.asarray(x, np.complex128 if np.asarray(x).dtype.kind == "c" else np.float64) for x in args]
        full = np.broadcast_arrays(*wide)
        flat = [x.ravel() for x in full]
        out = np.empty(flat[0].shape, dtype)
        with np.errstate(all="ignore"):
            for start in range(0, out.size, CHUNK):
                here = slice(start, start + CHUNK)
                out[here] = self.evaluate(*[x[here] for x in flat], orders=orders)
        return out.reshape(full[0].shape)[()]

    def abstract_eval(self, *avals: ShapedArray, orders: tuple[int, ...] | None = None) -> ShapedArray:
        return ShapedArray(broadcast_shapes(self.name, *[a.shape for a in avals]), self.dtype_for(avals))

    def slope(self, k: int, out: Any, args: Any, orders: tuple[int, ...]) -> Any:
        """The derivative in operand k."""
        return self(*args, orders=tuple(n + (i == k) for i, n in enumerate(orders)))

    def jvp(self, out: Any, primals: Any, tangents: Any, *, orders: tuple[int, ...] | None = None) -> Any:
        total = None
        for k, t in enumerate(tangents):
            if t is None or k in self.steps:
                continue
            if k in self.constant:
                raise errors.NondifferentiableError(
                    f"{self.name} has no derivative in its {ORDINALS[k]} operand: {self.constant[k]}",
                    mend="keep that operand constant, e.g. by stop_gradient",
                )
            term = t * self.slope(k, out, primals, orders or self._zeros)
            total = term if total is None else total + term
        return total

    def batch(self, args: Any, dims: Any, **params: Any) -> Any:
        return self(*align_batch(args, dims), **params), 0


ORDINALS = ("first", "second", "third", "fourth")
CHUNK = 4096  # points that are evaluated at a time, which bounds the memory that quadratures take


def draws(rng: np.random.Generator, domains: Sequence[tuple[float, float]], *params: dict[str, Any]) -> Any:
    """Samples of operands from these domains, at each of the parameters."""

    def draw(shape: Any, dtype: Any = np.float64) -> list[Any]:
        return [np.asarray(rng.uniform(lo, hi, shape)).astype(dtype)[()] for lo, hi in domains]

    for values in params or ({},):
        yield sample(*draw((3,)), **values)
    values = (params or ({},))[-1]
    yield sample(*draw(()), **values)
    yield sample(*draw((0, 2)), **values)
    if len(domains) > 1:
        yield sample(draw((2, 1))[0], *draw((3,))[1:], **values)
    yield sample(*draw((2,), np.float32), **values)


__all__ = ["ORDINALS", "Partials", "draws"]
