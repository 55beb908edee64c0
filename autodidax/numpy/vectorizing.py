"""Functions of single numbers applied to every entry of arrays: `vectorize` and `frompyfunc`.

On plain arguments they are NumPy's. On traced ones the function is mapped, as by vmap; a function that needs values
(`if x > 0`) is called once an entry, where values are known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, dtype_of, frames, shape_of
from autodidax.numpy.concreteness import known_value
from autodidax.numpy.dispatch import NoValue, holds_tracer, operand, strong
from autodidax.numpy.joining import stack
from autodidax.numpy.shaping import broadcast_to
from autodidax.primitives.convert import astype
from autodidax.primitives.shape import reshape
from autodidax.transforms.vmap import vmap

_NEEDS_VALUES = (
    errors.ConcretizationTypeError, errors.TracerArrayConversionError, errors.TracerBoolConversionError,
    errors.TracerIntegerConversionError,
)  # fmt: skip
_DIMENSIONS = re.compile(r"\(([^()]*)\)")


class vectorize(np.vectorize):
    """A function applied over broadcast arrays: an entry of each at a time, or with a signature a block of each.

    Results are what NumPy gives, of the dtype of the first result (or of otypes). The function is called once for all
    entries, on traced values, if it can be; else once for each.

    Source: numpy.vectorize, jax.numpy.vectorize.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's results for all entries."""
        undecorated: Any = self.pyfunc  # not given yet, where this is a decorator with arguments
        if undecorated is NoValue or not (frames() or holds_tracer([*args, *kwargs.values()])):
            return super().__call__(*args, **kwargs)
        excluded = self.excluded
        at = [k for k in range(len(args)) if k not in excluded]
        names = [name for name in kwargs if name not in excluded]

        def call(*entries: Any) -> Any:
            full, named = list(args), dict(kwargs)
            for k, x in zip(at, entries[: len(at)], strict=True):
                full[k] = x
            named.update(zip(names, entries[len(at) :], strict=True))
            return self.pyfunc(*full, **named)

        cores = self._cores(len(at) + len(names), bool(kwargs))
        arrays = [operand(x) for x in (*(args[k] for k in at), *(kwargs[name] for name in names))]
        return mapped(call, arrays, cores, self.otypes)

    def _cores(self, count: int, named: bool) -> list[list[str]]:
        """The names of the axes of a block of each argument: none without a signature."""
        signature = self.signature
        if signature is None:
            return [[]] * count
        if named:
            raise TypeError("cannot use keyword arguments with a signature")
        inputs = _DIMENSIONS.findall(signature.partition("->")[0])
        if len(inputs) != count:
            raise TypeError(f"wrong number of positional arguments: expected {len(inputs)}, got {count}")
        return [[name.strip() for name in dims.split(",") if name.strip()] for dims in inputs]


def mapped(function: Callable[..., Any], arrays: Sequence[Any], cores: Sequence[Sequence[str]], otypes: Any) -> Any:
    """A function of blocks applied over the broadcast leading axes of arrays: one result, or a tuple."""
    lead = _leading_shape(arrays, cores)
    count = int(np.prod(lead))
    rows = []
    for x, core in zip(arrays, cores, strict=True):
        block = shape_of(x)[len(shape_of(x)) - len(core) :]
        rows.append(reshape(broadcast_to(x, (*lead, *block)), shape=(count, *block)))
    if not count:
        if not otypes:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        empty = tuple(np.zeros(lead, dtype) for dtype in otypes)
        return empty if len(empty) > 1 else empty[0]
    results, single = _results(function, rows, count, otypes)
    results = [reshape(y, shape=(*lead, *shape_of(y)[1:])) for y in results]
    return results[0] if single else tuple(results)


def _leading_shape(arrays: Sequence[Any], cores: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """The broadcast shape of what comes before the blocks; blocks have to agree in the axes that they share."""
    leads, sizes = [], dict[str, int]()
    for x, core in zip(arrays, cores, strict=True):
        shape = shape_of(x)
        if len(shape) < len(core):
            raise ValueError(f"{len(shape)}-dimensional argument does not have enough dimensions for {tuple(core)}")
        cut = len(shape) - len(core)
        leads.append(shape[:cut])
        for name, n in zip(core, shape[cut:], strict=True):
            if sizes.setdefault(name, n) != n:
                raise ValueError(f"inconsistent size for core dimension {name!r}: {n} and {sizes[name]}")
    return np.broadcast_shapes(*leads)


def _results(function: Callable[..., Any], rows: list[Any], count: int, otypes: Any) -> tuple[list[Any], bool]:
    """The results for all rows, (count, ...) each, and whether the function returns one rather than a tuple."""
    single = True

    def results_of(*entries: Any) -> tuple[Any, ...]:
        nonlocal single
        out = function(*entries)
        single = not isinstance(out, tuple)
        return tuple(strong(operand(y)) for y in ((out,) if single else out))

    found: Sequence[Any]
    if any(isinstance(x, Tracer) for x in rows):
        try:
            found = vmap(results_of)(*rows)
        except _NEEDS_VALUES:
            if any(known_value(x) is None for x in rows):
                raise
            found = _one_by_one(results_of, rows, count, otypes)
    else:  # the function may close over traced values
        found = _one_by_one(results_of, rows, count, otypes)
    if otypes:
        found = [astype(y, dtype) for y, dtype in zip(found, otypes, strict=True)]
    return list(found), single


def _one_by_one(results_of: Callable[..., tuple[Any, ...]], rows: list[Any], count: int, otypes: Any) -> list[Any]:
    """The results of a call for each row, in the dtypes that are given or else those of the first results."""
    columns = [x.tolist() if isinstance(x, np.ndarray) and x.ndim == 1 else x for x in rows]
    calls = [results_of(*(x[k] for x in columns)) for k in range(count)]
    dtypes = [np.dtype(t) for t in otypes] if otypes else [dtype_of(y) for y in calls[0]]
    found = []
    for ys, dtype in zip(zip(*calls, strict=True), dtypes, strict=True):
        if not otypes and dtype.kind in "iub" and any(isinstance(y, Tracer) and dtype_of(y).kind in "fc" for y in ys):
            raise errors.DtypeError(
                f"vectorize: the first result has dtype {dtype}, in which later ones would lose their fractions and "
                "their derivatives",
                mend="give otypes=[float], or let the function return floats alone, as 0.0 for 0",
            )
        found.append(stack([astype(y, dtype) for y in ys]))
    return found


class frompyfunc:
    """A function of numbers as a ufunc. On plain arguments it is NumPy's, with results of dtype object; on traced ones
    it is mapped over the entries, with results of their own dtype, and `reduce`, `accumulate` and `outer` work.

    Source: numpy.frompyfunc, jax.numpy.frompyfunc.
    """

    def __init__(self, func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None):
        self._function = func
        self._ufunc = np.frompyfunc(func, nin, nout, identity=identity)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ufunc, name)

    def __repr__(self) -> str:
        return repr(self._ufunc)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's results for all entries."""
        if not frames() and not holds_tracer(args):
            return self._ufunc(*args, **kwargs)
        if kwargs or len(args) != self.nin:
            raise errors.UnsupportedError(
                f"{self.__name__}: {len(args)} arguments and the keywords {sorted(kwargs)} on traced values",
                mend=f"give {self.nin} arguments, and no keyword",
            )
        return mapped(self._function, [operand(x) for x in args], [[]] * len(args), None)

    def reduce(self, array: Any, axis: int = 0, **kwargs: Any) -> Any:
        """The function applied to the first two slices along an axis, to the result and the third, ..."""
        if not holds_tracer(array):
            return self._ufunc.reduce(array, axis, **kwargs)
        return self._steps("reduce", array, axis, kwargs)[-1]

    def accumulate(self, array: Any, axis: int = 0, **kwargs: Any) -> Any:
        """All that `reduce` computes on its way: (..., n, ...) -> same shape."""
        if not holds_tracer(array):
            return self._ufunc.accumulate(array, axis, **kwargs)
        return stack(self._steps("accumulate", array, axis, kwargs), axis=axis)

    def outer(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """The function of all pairs of entries: (...), (...) -> (..., ...)."""
        if not holds_tracer([x, y]):
            return self._ufunc.outer(x, y, **kwargs)
        x, y = operand(x), operand(y)
        return self(reshape(x, shape=(*shape_of(x), *(1,) * len(shape_of(y)))), y, **kwargs)

    def _steps(self, method: str, array: Any, axis: int, kwargs: dict[str, Any]) -> list[Any]:
        if kwargs or not isinstance(axis, int):
            raise errors.UnsupportedError(
                f"{self.__name__}.{method}: axis={axis!r} and the keywords {sorted(kwargs)} on traced values",
                mend="name one axis, and give no other keyword",
            )
        array = operand(array)
        k = axis % max(len(shape_of(array)), 1)
        slices = [array[(*(slice(None),) * k, i)] for i in range(shape_of(array)[k])]
        steps = slices[:1]
        for x in slices[1:]:
            steps.append(self(steps[-1], x))
        return steps


__all__ = ["frompyfunc", "vectorize"]
