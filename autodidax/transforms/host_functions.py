"""Functions of the host: a user's own Python function as a program calls it, on plain values, and over rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.core.avals import PYTHON_SCALARS, ShapedArray, ShapeDtypeStruct
from autodidax.core.interpreters import Tracer
from autodidax.transforms.boundary import as_output, as_value, described, leaf_names, name_of
from autodidax.transforms.staging import struct_aval

Rows = tuple[tuple[int, tuple[bool, ...]], ...]
"""The batch axes of a call, outermost first: each one's size, and which operands have it (in front, in this order)."""

VECTORIZED = ("expand_dims", "broadcast_all", "legacy_vectorized")


def sizes_of(rows: Rows) -> tuple[int, ...]:
    return tuple(size for size, _ in rows)


def with_rows(rows: Rows, size: int, dims: Sequence[Any]) -> Rows:
    """One more batch axis, outside of the others."""
    return ((size, tuple(d is not None for d in dims)), *rows)


def row_avals(avals: Sequence[ShapedArray], rows: Rows) -> list[ShapedArray]:
    """What one row's operands are."""
    depth = [sum(flags[k] for _, flags in rows) for k in range(len(avals))]
    return [a.update(shape=a.shape[n:]) if n else a for a, n in zip(avals, depth, strict=True)]


def over_rows(
    what: str,
    fun: Callable[..., list[Any]],
    args: Sequence[Any],
    rows: Rows,
    out_avals: Callable[[], Sequence[ShapedArray]],
) -> list[Any]:
    """The results of `fun`, which messages call `what`, for each row, one after the other, stacked; `out_avals` are
    those of one row."""
    if not rows:
        return fun(*args)
    (size, flags), rest = rows[0], rows[1:]
    if not size:
        return [np.zeros((*sizes_of(rows), *a.shape), a.dtype) for a in out_avals()]
    each = [
        over_rows(what, fun, [a[i] if on else a for a, on in zip(args, flags, strict=True)], rest, out_avals)
        for i in range(size)
    ]
    return [_stacked(what, column) for column in zip(*each, strict=True)]


def _stacked(what: str, column: Sequence[Any]) -> np.ndarray:
    shapes = {np.shape(x) for x in column}
    if len(shapes) > 1:
        raise errors.ShapeError(
            f"{what} returns rows of the shapes {' and '.join(map(str, sorted(shapes)))} under vmap",
            mend="return the same shape for every row, e.g. padded with zeros",
        )
    return np.stack(column)


def vectorized(args: Sequence[Any], rows: Rows, method: str) -> list[Any]:
    """The operands of one call for all rows: those without a batch axis get one of size 1 ("expand_dims"), or of full
    size ("broadcast_all"), or stay as they are ("legacy_vectorized"). Python scalars stay as they are."""
    if method == "legacy_vectorized":
        return list(args)
    result = []
    for k, a in enumerate(args):
        if type(a) in PYTHON_SCALARS or type(a) is bool:
            result.append(a)
            continue
        lead = tuple(size if flags[k] else 1 for size, flags in rows)
        own = np.shape(a)[sum(flags[k] for _, flags in rows) :]
        a = np.reshape(a, (*lead, *own))
        result.append(np.broadcast_to(a, (*sizes_of(rows), *own)) if method == "broadcast_all" else a)
    return result


def declared_avals(what: str, declared: Any) -> tuple[list[ShapedArray], tree.PyTreeDef]:
    """The avals of a declared tree of shapes and dtypes."""
    leaves, treedef = tree.flatten(declared)
    for x in leaves:
        if isinstance(x, type | np.dtype | str):
            raise errors.ArgumentError(
                f"{what}: {x!r} says nothing of the result's shape",
                mend="give autodidax.ShapeDtypeStruct(shape, dtype), or an array like the result",
            )
    avals = [struct_aval(x, lambda: f"{what}: a declared result") for x in leaves]
    return [ShapedArray(a.shape, a.dtype) for a in avals], treedef


def checked_result(what: str, x: Any, aval: ShapedArray, where: Any = None) -> Any:
    """A result of the user's as an array of its own, of the declared shape and dtype; a Python number takes the dtype
    of the declaration."""
    x = as_output(x, lambda: what)
    if isinstance(x, Tracer):
        raise errors.UnexpectedTracerError(
            f"{what} is {described(x)}, from outside of the function",
            mend="pass the value as an argument: the function runs on the host, on plain values",
        )
    weak = type(x) in PYTHON_SCALARS and "biufc".index(np.asarray(x).dtype.kind) <= "biufc".index(aval.dtype.kind)
    array = np.array(x, aval.dtype if weak else None)
    if array.shape != aval.shape:
        raise errors.ShapeError(
            f"{what} has shape {array.shape}, expected was {aval.shape}",
            where=where,
            mend="return an array of that shape, or declare the shape that it has",
        )
    if array.dtype != aval.dtype:
        raise errors.DtypeError(
            f"{what} has dtype {array.dtype}, expected was {aval.dtype}",
            where=where,
            mend=f"return x.astype(np.{aval.dtype}), or declare np.{array.dtype}",
        )
    return array[()]


class HostFunction:
    """A user's function of trees as one of flat plain values: `host(*values) -> [results]`.

    It is given copies, which it may keep or overwrite (0-d values as NumPy scalars), and its results are copied and
    held to `out_avals`; None there stands for a function whose result is ignored. `where` is the user's line.
    """

    __slots__ = ("__name__", "fun", "what", "in_tree", "fixed", "out_avals", "out_tree", "where")

    def __init__(
        self, what: str, fun: Callable[..., Any], in_tree: tree.PyTreeDef, fixed: dict[int, Any],
        declared: tuple[list[ShapedArray], tree.PyTreeDef] | None,
    ):  # fmt: skip
        self.__name__ = name_of(fun)
        self.fun = fun
        self.what = f"{what} of {self.__name__}"
        self.in_tree = in_tree
        self.fixed = fixed
        self.out_avals: list[ShapedArray] = []
        self.out_tree: tree.PyTreeDef | None = None
        if declared is not None:
            self.out_avals, self.out_tree = declared
        self.where = errors.user_frame()

    def __call__(self, *values: Any, lead: tuple[int, ...] = ()) -> list[Any]:
        """The results; `lead` are batch axes in front of the declared shapes."""
        args, kwargs = self.join([np.array(x)[()] for x in values])
        try:
            out = self.fun(*args, **kwargs)
        except Exception as error:
            self._note(error)
            raise
        if self.out_tree is None:
            return []
        leaves, treedef = tree.flatten(out)
        if treedef != self.out_tree:
            stand_ins = self.out_tree.unflatten([ShapeDtypeStruct(a.shape, a.dtype) for a in self.out_avals])
            raise errors.TreeError(
                f"{self.what}: the result is of another tree than the declared one: "
                f"{tree.describe_mismatch(stand_ins, out)}",
                where=self.where,
                mend="return what was declared (None where nothing was), or declare what it returns",
            )
        return [
            checked_result(f"{self.what}: result {k}", x, a.update(shape=(*lead, *a.shape)), self.where)
            for k, (x, a) in enumerate(zip(leaves, self.out_avals, strict=True))
        ]

    def _note(self, error: BaseException) -> None:
        """Have an error say which callback raised it, and the line of the program that calls it."""
        place = "" if self.where is None else f" ({os.path.basename(self.where[0])}:{self.where[1]})"
        error.add_note(f"raised by the callback of a program: {self.what}{place}")

    def join(self, values: Sequence[Any]) -> tuple[Any, dict[str, Any]]:
        """The user's args and kwargs: the values in their trees, with what was set aside."""
        given = iter(values)
        return self.in_tree.unflatten(
            [self.fixed[k] if k in self.fixed else next(given) for k in range(self.in_tree.num_leaves)]
        )


def host_function(
    what: str, fun: Callable[..., Any], args: Any, kwargs: dict[str, Any], declared: Any, *, ignore_result: bool = False
) -> tuple[HostFunction, list[Any]]:
    """A user's function as the host runs it, and the values to call it on. Where its result is ignored, leaves that are
    no values (strings, say) are set aside, as parts of the function."""
    leaves, in_tree = tree.flatten((args, kwargs))
    values: list[Any] = []
    fixed: dict[int, Any] = {}
    for k, x in enumerate(leaves):
        try:
            values.append(as_value(x, lambda k=k: f"{what}: {leaf_names(fun, args, kwargs)[k]} of {name_of(fun)}"))
        except errors.DtypeError:
            if not ignore_result:
                raise
            fixed[k] = x
    results = None if ignore_result else declared_avals(what, declared)
    return HostFunction(what, fun, in_tree, fixed, results), values
