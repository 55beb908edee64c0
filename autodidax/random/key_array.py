"""Arrays of random keys: the type that `key` and `split` return, a pytree node around 32-bit words.

A key array has the shape, indexing, iteration and rearrangements of an array, and no arithmetic. Its only leaf is the
array of its words, u32[*shape, w], so that it passes through every transform, loop and branch.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from autodidax import errors
from autodidax.core.interpreters import Tracer, shape_of
from autodidax.numpy.dispatch import axis_of
from autodidax.primitives.comparison import equal
from autodidax.primitives.indexing import getitem
from autodidax.primitives.random_bits import GENERATORS
from autodidax.primitives.reductions import reduce_and
from autodidax.primitives.select import where
from autodidax.primitives.shape import broadcast_to, concatenate, expand_dims, reshape, stack, transpose
from autodidax.tree import register_pytree_with_keys
from autodidax.tree.keys import GetAttrKey


class KeyDtype:
    """The dtype of a key array: it names the generator.

    >>> KeyDtype("threefry2x32")
    key<fry>
    """

    __slots__ = ("generator",)

    def __init__(self, generator: str):
        self.generator = generator

    @property
    def name(self) -> str:
        return f"key<{GENERATORS[self.generator].TAG}>"

    @property
    def itemsize(self) -> int:
        return 4 * int(GENERATORS[self.generator].WORDS)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeyDtype) and self.generator == other.generator

    def __hash__(self) -> int:
        return hash((KeyDtype, self.generator))

    def __repr__(self) -> str:
        return self.name


_USE = "draw numbers from it, e.g. random.normal(key, shape), or take its words: random.key_data(key)"


def no_number(doing: str) -> errors.DtypeError:
    return errors.DtypeError(f"{doing}: a random key is no number", mend=_USE)


class KeyArray:
    """An array of random keys.

    >>> from autodidax import random
    >>> keys = random.split(random.key(0), 3)
    >>> keys.shape, keys.dtype, keys[1:].shape
    ((3,), key<fry>, (2,))
    """

    __slots__ = ("_data", "_generator", "__weakref__")
    __hash__ = None  # type: ignore[assignment]  # equality is elementwise

    _data: Any
    _generator: str

    def __init__(self, data: Any, generator: str):
        self._data = data
        self._generator = generator

    # what it is

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of(self._data)[:-1]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def dtype(self) -> KeyDtype:
        return KeyDtype(self._generator)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def T(self) -> KeyArray:
        return self.transpose()

    def __len__(self) -> int:
        if not self.shape:
            raise errors.ShapeError("a single random key has no length", mend="split it: keys = random.split(key, n)")
        return self.shape[0]

    def __iter__(self) -> Iterator[KeyArray]:
        if not self.shape:
            raise errors.ShapeError(
                "a single random key cannot be iterated over", mend="split it: k1, k2 = random.split(key)"
            )
        return (KeyArray(self._data[i], self._generator) for i in range(self.shape[0]))

    def __repr__(self) -> str:
        if isinstance(self._data, Tracer):
            return f"KeyArray({self.shape}, dtype={self.dtype}, traced)"
        return f"KeyArray({self.shape}, dtype={self.dtype}): {np.array2string(np.asarray(self._data), separator=', ')}"

    # parts and rearrangements

    def __getitem__(self, index: Any) -> KeyArray:
        items = index if isinstance(index, tuple) else (index,)
        used = sum(_axes_used(item) for item in items)
        if used > self.ndim:
            raise errors.OutOfBoundsError(
                f"an array of random keys of shape {self.shape} is indexed along {errors.counted(used, 'axis')}",
                mend="split a single key to have several: keys = random.split(key, n)"
                if not self.shape
                else f"give at most {errors.counted(self.ndim, 'index')}".replace("indexs", "indices"),
            )
        rest = (slice(None),) if any(item is Ellipsis for item in items) else (Ellipsis, slice(None))
        return KeyArray(getitem(self._data, (*items, *rest)), self._generator)

    def reshape(self, *shape: Any) -> KeyArray:
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        new = [operator.index(n) for n in sizes]
        known = math.prod(n for n in new if n >= 0)
        if new.count(-1) == 1 and known and self.size % known == 0:
            new[new.index(-1)] = self.size // known
        if min(new, default=0) < 0 or math.prod(new) != self.size:
            raise errors.ShapeError(
                f"an array of {errors.counted(self.size, 'random key')} cannot have the shape {tuple(sizes)}",
                mend="give sizes whose product is the number of keys",
            )
        return KeyArray(reshape(self._data, shape=(*new, self._words)), self._generator)

    def ravel(self) -> KeyArray:
        return self.reshape(self.size)

    def flatten(self) -> KeyArray:
        return self.ravel()

    def transpose(self, *axes: Any) -> KeyArray:
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
        permutation = [axis_of(k, self.ndim) for k in order] or list(reversed(range(self.ndim)))
        return KeyArray(transpose(self._data, permutation=(*permutation, self.ndim)), self._generator)

    def swapaxes(self, axis1: int, axis2: int) -> KeyArray:
        order = list(range(self.ndim))
        i, j = axis_of(axis1, self.ndim), axis_of(axis2, self.ndim)
        order[i], order[j] = j, i
        return self.transpose(order)

    def squeeze(self, axis: Any = None) -> KeyArray:
        given = axis if isinstance(axis, tuple) else (axis,)
        ones = [k for k, n in enumerate(self.shape) if n == 1]
        axes = ones if axis is None else [axis_of(k, self.ndim) for k in given]
        return self.reshape(tuple(n for k, n in enumerate(self.shape) if k not in axes))

    def copy(self) -> KeyArray:
        return KeyArray(self._data if isinstance(self._data, Tracer) else self._data.copy(), self._generator)

    @property
    def _words(self) -> int:
        return int(GENERATORS[self._generator].WORDS)

    # comparison

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, KeyArray):
            return _unequal(other)
        if other._generator != self._generator:
            raise errors.DtypeError(
                f"keys of dtypes {self.dtype} and {other.dtype} cannot be compared",
                mend="compare keys of one generator",
            )
        return reduce_and(equal(*_together([self, other])), axes=(max(self.ndim, other.ndim),))

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return same if same is NotImplemented else ~same if not isinstance(same, bool) else not same

    # no numbers

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise no_number("np.asarray")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if ufunc in (np.equal, np.not_equal) and method == "__call__" and len(inputs) == 2:
            one, other = inputs if isinstance(inputs[0], KeyArray) else inputs[::-1]
            same = one == other
            if same is not NotImplemented:
                return same if ufunc is np.equal else one != other
        raise no_number(f"np.{ufunc.__name__}")

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        rule = _FUNCTIONS.get(func)
        if rule is None:
            raise no_number(f"np.{func.__name__}")
        return rule(*args, **kwargs)

    def __bool__(self) -> NoReturn:
        raise no_number("bool")

    def __int__(self) -> NoReturn:
        raise no_number("int")

    def __float__(self) -> NoReturn:
        raise no_number("float")

    def __index__(self) -> NoReturn:
        raise no_number("an index")


def _unequal(other: object) -> Any:
    """What a key array is when compared with something else: unequal to None and texts, an error beside numbers."""
    if other is None or isinstance(other, str):
        return NotImplemented
    raise no_number("==")


def _axes_used(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    is_mask = isinstance(item, np.ndarray | Tracer) and item.dtype.kind == "b"
    return item.ndim if is_mask else 1


def _refuse(name: str) -> Callable[..., NoReturn]:
    def method(self: KeyArray, *_: Any) -> NoReturn:
        raise no_number(name)

    return method


for _text, _names in {
    "+": ("add", "radd"), "-": ("sub", "rsub"), "*": ("mul", "rmul"), "/": ("truediv", "rtruediv"),
    "//": ("floordiv", "rfloordiv"), "%": ("mod", "rmod"), "**": ("pow", "rpow"), "@": ("matmul", "rmatmul"),
    "&": ("and", "rand"), "|": ("or", "ror"), "^": ("xor", "rxor"), "<<": ("lshift", "rlshift"),
    ">>": ("rshift", "rrshift"), "<": ("lt",), "<=": ("le",), ">": ("gt",), ">=": ("ge",), "-key": ("neg",),
    "+key": ("pos",), "abs": ("abs",), "~": ("invert",),
}.items():  # fmt: skip
    for _name in _names:
        setattr(KeyArray, f"__{_name}__", _refuse(_text))

register_pytree_with_keys(
    KeyArray,
    lambda keys: (((GetAttrKey("data"), keys._data),), keys._generator),
    lambda generator, children: KeyArray(next(iter(children)), generator),
    lambda keys: ((keys._data,), keys._generator),
)

# NumPy's functions that rearrange


def _together(keys: Any) -> list[Any]:
    """The words of several key arrays, with axes of size 1 in front of those of fewer axes."""
    keys = list(keys)
    others = {type(k).__name__ for k in keys if not isinstance(k, KeyArray)}
    if others:
        raise no_number(f"an array of keys and {', '.join(sorted(others))}")
    if len({k._generator for k in keys}) > 1:
        names = " and ".join(sorted({str(k.dtype) for k in keys}))
        raise errors.DtypeError(f"keys of dtypes {names} do not fit into one array", mend="use one generator")
    rank = max(k.ndim for k in keys)
    return [expand_dims(k._data, tuple(range(rank - k.ndim))) if k.ndim < rank else k._data for k in keys]


def _stack(arrays: Any, axis: int = 0) -> KeyArray:
    keys = list(arrays)
    data = _together(keys)
    return KeyArray(stack(*data, axis=axis_of(axis, keys[0].ndim + 1)), keys[0]._generator)


def _concatenate(arrays: Any, axis: int = 0) -> KeyArray:
    keys = list(arrays)
    data = _together(keys)
    return KeyArray(concatenate(*data, axis=axis_of(axis, keys[0].ndim)), keys[0]._generator)


def _where(condition: Any, x: Any, y: Any) -> KeyArray:
    data = _together([x, y])
    return KeyArray(where(expand_dims(condition, (len(shape_of(condition)),)), *data), x._generator)


def _expand_dims(a: KeyArray, axis: Any) -> KeyArray:
    given = axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(axis_of(k, a.ndim + len(given)) for k in given)
    return KeyArray(expand_dims(a._data, axes), a._generator)


def _broadcast_to(array: KeyArray, shape: Any) -> KeyArray:
    sizes = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    return KeyArray(broadcast_to(array._data, shape=(*sizes, array._words)), array._generator)


def _moveaxis(a: KeyArray, source: int, destination: int) -> KeyArray:
    order = [k for k in range(a.ndim) if k != axis_of(source, a.ndim)]
    order.insert(axis_of(destination, a.ndim), axis_of(source, a.ndim))
    return a.transpose(order)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.stack: _stack,
    np.concatenate: _concatenate,
    np.where: _where,
    np.expand_dims: _expand_dims,
    np.broadcast_to: _broadcast_to,
    np.moveaxis: _moveaxis,
    np.reshape: lambda a, shape: a.reshape(shape),
    np.ravel: lambda a: a.ravel(),
    np.squeeze: lambda a, axis=None: a.squeeze(axis),
    np.transpose: lambda a, axes=None: a.transpose(*() if axes is None else (axes,)),
    np.swapaxes: lambda a, axis1, axis2: a.swapaxes(axis1, axis2),
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a: a.size,
}
