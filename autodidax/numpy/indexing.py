"""`at(x)[index]`: updated copies of arrays, in the place of item assignment, which traced values do not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax.core.interpreters import Tracer, dtype_of, shape_of
from autodidax.primitives.elementwise import pow_operator
from autodidax.primitives.gather import getitem_mode
from autodidax.primitives.indexing import scatter_add, scatter_set
from autodidax.primitives.scatter import scatter_max, scatter_min, scatter_mul, update_at


class IndexUpdater:
    """`at(x)`: awaits the index."""

    __slots__ = ("array",)

    def __init__(self, array: Any):
        self.array = array

    def __getitem__(self, index: Any) -> IndexedPart:
        return IndexedPart(self.array, index)

    def __repr__(self) -> str:
        return f"at({self.array!r})"


class IndexedPart:
    """`at(x)[index]`: its methods return copies of x that differ at the index.

    Updates broadcast to x[index] and take the dtype of x. An entry that the index names several times gets every
    update of `add`, `subtract`, `multiply`, `divide`, `min` and `max`; of those of `set` the last one, and only its
    derivative is not zero.

    mode : what happens to an index out of bounds. None (the default here) raises an IndexError; "drop" (also called
        "fill") leaves the update out, "clip" takes the nearest entry, "wrap" counts modulo the size,
        "promise_in_bounds" is None. In JAX the default is "drop".
    indices_are_sorted, unique_indices : accepted as in JAX; results do not depend on them.
    """

    __slots__ = ("array", "index")

    def __init__(self, array: Any, index: Any):
        self.array = array
        self.index = index

    def __repr__(self) -> str:
        return f"at({self.array!r})[{self.index!r}]"

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        fill_value: Any = None,
    ) -> Any:
        """x[index]; where `mode` is "fill", entries out of bounds are `fill_value` (nan, or an extreme integer)."""
        return getitem_mode(self.array, self.index, mode, fill_value)

    def set(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None
    ) -> Any:
        """x[index] = values."""
        return update_at(scatter_set, self.array, self.index, values, mode)

    def add(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None
    ) -> Any:
        """x[index] += values, once for each mention of an entry (as numpy.add.at)."""
        return update_at(scatter_add, self.array, self.index, values, mode)

    def subtract(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None
    ) -> Any:
        """x[index] -= values, once for each mention of an entry."""
        values = values if isinstance(values, Tracer) else np.asarray(values)
        return update_at(scatter_add, self.array, self.index, -values, mode)

    def multiply(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None
    ) -> Any:
        """x[index] *= values, once for each mention of an entry."""
        return update_at(scatter_mul, self.array, self.index, values, mode)

    mul = multiply

    def divide(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None
    ) -> Any:
        """x / d, where d is 1 but for the product of the values at the index; integers become floats."""
        return self.array / update_at(scatter_mul, _ones_like(self.array), self.index, values, mode)

    def power(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None
    ) -> Any:
        """x ** p, where p is 1 but for the product of the values at the index."""
        return pow_operator(self.array, update_at(scatter_mul, _ones_like(self.array), self.index, values, mode))

    def min(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None
    ) -> Any:
        """The smaller of x[index] and values; entries that tie share the derivative."""
        return update_at(scatter_min, self.array, self.index, values, mode)

    def max(
        self, values: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None
    ) -> Any:
        """The larger of x[index] and values; entries that tie share the derivative."""
        return update_at(scatter_max, self.array, self.index, values, mode)

    def apply(
        self,
        function: Callable[[Any], Any],
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
    ) -> Any:
        """x[index] = function(x[index]), once for each entry (JAX applies it once for each mention)."""
        inside = "clip" if mode in ("drop", "fill") else mode
        return self.set(function(self.get(mode=inside)), mode=mode)


def _ones_like(x: Any) -> np.ndarray:
    return np.ones(shape_of(x), dtype_of(x))


def at(x: Any) -> IndexUpdater:
    """The start of an updated copy: `at(x)[index].set(values)` is x with x[index] = values, and x stays as it is.

    x may be an array, a traced value, or what numpy.asarray takes. Source: jax.Array.at.

    >>> import numpy as np
    >>> at(np.zeros(3))[1].set(5.0)
    array([0., 5., 0.])
    >>> at(np.zeros(3))[np.array([0, 0, 2])].add(1.0)
    array([2., 0., 1.])
    >>> at(np.arange(3.0))[[1, 7]].get(mode="fill", fill_value=-1.0)
    array([ 1., -1.])
    """
    return IndexUpdater(x if isinstance(x, Tracer) else np.asarray(x))
