"""while_loop, fori_loop, scan and map."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.control_flow.loop import loop_p
from autodidax.control_flow.operands import (
    cast_outputs,
    concrete,
    flat_operands,
    is_staging,
    join_avals,
    leaf_names,
    stage_flat,
)
from autodidax.core.avals import ShapedArray, UnknownSize
from autodidax.core.explanations import IntegerRangeError
from autodidax.core.interpreters import Tracer, dtype_of, get_aval, shape_of
from autodidax.core.jaxpr import ClosedJaxpr, has_effects
from autodidax.core.tracebacks import boundary
from autodidax.primitives.convert import convert_element_type
from autodidax.primitives.indexing import getitem_p
from autodidax.primitives.shape import concatenate, reshape, stack
from autodidax.transforms.boundary import (
    as_output,
    as_value,
    check_arity,
    check_callable,
    described,
    name_of,
    own_copy,
    structure_text,
    unshared,
)
from autodidax.transforms.callbacks import performed_once
from autodidax.transforms.vmap import vmap

INT = np.iinfo(np.int64)


@boundary
def while_loop(cond_fun: Callable[..., Any], body_fun: Callable[..., Any], init_val: Any) -> Any:
    """Applies `body_fun` to the carry while `cond_fun` of it holds.

    As long as the condition's value is known, the loop is plain Python. Under jit and vmap the condition and the body
    are staged once: the body must return the carry's tree, shapes and dtypes. Reverse mode works, with any trip count.

    Source: jax.lax.while_loop (which has no reverse mode).

    >>> float(while_loop(lambda x: x > 1.0, lambda x: 0.5 * x, 10.0))
    0.625
    """
    check_callable("while_loop", cond_fun)
    check_callable("while_loop", body_fun)
    try:
        return _while("while_loop", cond_fun, body_fun, init_val)
    except TypeError as error:
        check_arity(error, "while_loop", (cond_fun, "cond_fun(val)", 1), (body_fun, "body_fun(val)", 1))
        raise


def _while(transform: str, cond_fun: Any, body_fun: Any, init_val: Any) -> Any:
    val, stepped = init_val, False
    test = None
    if not is_staging():
        while True:
            test = _predicate(cond_fun(val))
            known = concrete(test)
            if known is None:
                break
            if not known:
                return unshared(val if stepped else _never_stepped(transform, body_fun, val), init_val)
            if stepped:
                val = body_fun(val)
            else:
                val, stepped = _first_step(transform, body_fun, lambda v: (body_fun(v), None), val)[0], True
    return _staged_while(transform, cond_fun, body_fun, val, test)


def _never_stepped(transform: str, body_fun: Any, init: Any) -> Any:
    """The carry that a loop of no steps returns: Python scalars in it have the dtype that the body would give them,
    which is found by staging it, if it can be staged."""
    leaves, in_tree = flat_operands(transform, init, "init")
    if not any(get_aval(x).weak_type for x in leaves):
        return init
    same = lambda out_tree: (out_tree, in_tree, None)
    try:
        leaves = _fixed_carry(transform, body_fun, leaves, tree.treedef_tuple([in_tree]), same, ())[0]
    except Exception:  # a body that asks for values, in whatever way, runs as plain Python alone
        return init
    return in_tree.unflatten(leaves)


def _predicate(x: Any) -> Any:
    value = as_output(x, lambda: "while_loop: the condition's result") if tree.all_leaves([x]) else None
    if value is None or shape_of(value) or dtype_of(value).kind != "b":
        raise _no_predicate(described(x), x is None)
    return x


def _no_predicate(returned: str, nothing: bool = False) -> errors.AutodidaxError:
    return errors.ShapeError(
        f"while_loop: the condition must return one boolean scalar, it returned {returned}",
        mend="return the test: is a return missing?"
        if nothing
        else "compare (x > 0 for x), reduce arrays with all() or any(), and join several tests with &",
    )


def _first_step(transform: str, fun: Any, step: Callable[[Any], tuple[Any, Any]], init: Any) -> tuple[Any, Any]:
    """The first step of a loop in plain Python, `step(carry) -> (carry, rest)`. The carry is held to what a staged loop
    demands of it, and Python scalars in it take the dtype that the body gives them."""
    leaves, carry_tree = flat_operands(transform, init, "init")
    with performed_once() as effects:
        while True:
            # the body may write into its carry, which is the caller's
            try:
                carry, rest = step(carry_tree.unflatten([own_copy(x) for x in leaves]))
            except OverflowError as error:  # of a Python integer beside a small dtype
                found = re.fullmatch(r"Python integer (-?\d+) out of bounds for (\w+)", str(error))
                if found is None or int(found[1]) not in [x for x in leaves if type(x) is int]:
                    raise
                raise _out_of_range(transform, int(found[1]), found[2]) from None
            outs, own_tree = tree.flatten(carry)
            outs = [as_output(x, lambda: f"{transform}: the carry that {name_of(fun)} returned") for x in outs]
            _check_carry_tree(transform, fun, carry_tree, own_tree)
            avals = [get_aval(x) for x in leaves]
            joined = _join_carry(transform, fun, carry_tree, avals, [get_aval(x) for x in outs])
            if all(a.dtype == j.dtype for a, j in zip(avals, joined, strict=True)):
                return carry, rest
            leaves = _converted(transform, leaves, avals, joined)
            effects.rewind()


def _converted(
    transform: str, leaves: list[Any], avals: Sequence[ShapedArray], joined: Sequence[ShapedArray]
) -> list[Any]:
    """Leaves of a carry in the types that they have in common with what the body returns."""
    for x, j in zip(leaves, joined, strict=True):
        if type(x) is int and j.dtype.kind in "iu" and not np.iinfo(j.dtype).min <= x <= np.iinfo(j.dtype).max:
            raise _out_of_range(transform, x, j.dtype)
    return [
        x if a.dtype == j.dtype and a.weak_type == j.weak_type else convert_element_type(x, dtype=j.dtype)
        for x, a, j in zip(leaves, avals, joined, strict=True)
    ]


def _out_of_range(transform: str, x: int, dtype: Any) -> errors.AutodidaxError:
    return IntegerRangeError(
        f"{transform}: the carry starts with {x}, and comes out as {dtype}, which does not hold it",
        mend="start from a value of a wider dtype, e.g. np.int64(0), and compute with that dtype in the body",
    )


def _check_carry_tree(transform: str, fun: Any, carry_tree: tree.PyTreeDef, own_tree: tree.PyTreeDef) -> None:
    if own_tree == carry_tree:
        return
    if transform == "fori_loop":  # whose carry is the pair of the counter and the user's
        carry_tree, own_tree = tree.treedef_children(carry_tree)[1], tree.treedef_children(own_tree)[1]
    raise errors.TreeError(
        f"{transform}: {name_of(fun)} returns a carry of another tree than it takes: "
        f"{tree.describe_mismatch(carry_tree, own_tree)}",
        mend=f"return the structure that the loop starts with: {structure_text(carry_tree)}",
    )


def _staged_while(transform: str, cond_fun: Any, body_fun: Any, init: Any, first_test: Any = None) -> Any:
    """The loop as one operation; `first_test` is what the condition said of `init`, where it has been evaluated."""
    leaves, in_tree = flat_operands(transform, init, "init")
    args_tree = tree.treedef_tuple([in_tree])
    same = lambda out_tree: (out_tree, in_tree, None)
    leaves, body, captured, _ = _fixed_carry(transform, body_fun, leaves, args_tree, same, ())
    avals = [get_aval(x) for x in leaves]
    test, test_captured, test_tree = stage_flat(transform, cond_fun, args_tree, avals)
    if test_tree != tree.LEAF:
        raise _no_predicate(f"the tree {structure_text(test_tree)}", test_tree == tree.structure(None))
    if test.out_avals[0].shape or test.out_avals[0].dtype.kind != "b":
        raise _no_predicate(repr(test.out_avals[0]))
    if first_test is not None and has_effects(test):  # which are not to happen twice: the carry holds the test's result

        def step(carry: tuple[Any, Any]) -> tuple[Any, Any]:
            val = body_fun(carry[1])
            return cond_fun(val), val

        held = (first_test, init)
        return _staged_while("while_loop", lambda carry: carry[0], _named_as(body_fun, step), held)[1]
    outs = loop_p(
        *test_captured, *captured, *leaves, cond=test, body=body, n_cond=len(test_captured), n_const=len(captured),
        n_carry=len(leaves), length=UnknownSize(), reverse=False, counted=False,
    )  # fmt: skip
    return in_tree.unflatten(outs[1:])


def _fixed_carry(
    transform: str,
    fun: Any,
    leaves: list[Any],
    in_tree: tree.PyTreeDef,
    split_out: Any,
    row_avals: Sequence[ShapedArray],
) -> tuple[list[Any], ClosedJaxpr, list[Any], Any]:
    """Stage a body whose output carry has the input carry's types: Python scalars in the carry take the dtype that the
    body gives them; any other difference is an error that shows it. `split_out` gives the carry's part of the output
    tree, what it should be, and the rest."""
    n = len(leaves)
    while True:
        avals = [get_aval(x) for x in leaves]
        program, captured, out_tree = stage_flat(transform, fun, in_tree, [*avals, *row_avals])
        own_tree, carry_tree, rest = split_out(out_tree)
        _check_carry_tree(transform, fun, carry_tree, own_tree)
        joined = _join_carry(transform, fun, carry_tree, avals, program.out_avals[:n])
        if all(a.dtype == j.dtype and a.weak_type == j.weak_type for a, j in zip(avals, joined, strict=True)):
            return leaves, cast_outputs(program, [*avals, *program.out_avals[n:]]), captured, rest
        leaves = _converted(transform, leaves, avals, joined)


def _join_carry(
    transform: str, fun: Any, carry_tree: tree.PyTreeDef, avals: Sequence[ShapedArray], out_avals: Sequence[ShapedArray]
) -> list[ShapedArray]:
    joined: list[ShapedArray] = []
    wrong: list[int] = []
    for k, (a, b) in enumerate(zip(avals, out_avals, strict=True)):
        common = join_avals(a, b)
        if common is None or (common.dtype != a.dtype and not a.weak_type):
            wrong.append(k)
        else:
            joined.append(common)
    if wrong:
        names = leaf_names(transform, carry_tree, "carry")
        listed = [f"{names[k]} is {avals[k]!r} going in and {out_avals[k]!r} coming out" for k in wrong[:3]]
        shapes = any(avals[k].shape != out_avals[k].shape for k in wrong)
        first = out_avals[wrong[0]].dtype
        raise (errors.ShapeError if shapes else errors.DtypeError)(
            f"{transform}: {name_of(fun)} changes the carry: {', '.join(listed)}" + (", ..." if len(wrong) > 3 else ""),
            mend="keep the shape: start from the final size, e.g. np.zeros, and fill it with anp.at(x)[i].set(v)"
            if shapes
            else f"start from the dtype that comes out, as x.astype(np.{first}), or convert the result with astype",
        )
    return joined


@boundary
def fori_loop(lower: Any, upper: Any, body_fun: Callable[..., Any], init_val: Any, *, unroll: Any = None) -> Any:
    """`for i in range(lower, upper): val = body_fun(i, val)`; the bounds may be traced.

    Source: jax.lax.fori_loop.

    >>> float(fori_loop(0, 3, lambda i, x: x + i, 0.0))
    3.0
    """
    check_callable("fori_loop", body_fun)
    _check_unroll("fori_loop", unroll)
    for name, bound in (("lower", lower), ("upper", upper)):
        bound = as_value(bound, lambda name=name: f"fori_loop: the {name} bound")
        if shape_of(bound) or dtype_of(bound).kind not in "iu":
            raise errors.ArgumentError(
                f"fori_loop: the {name} bound must be an integer, it is {get_aval(bound)!r}",
                mend="use // in place of /, or convert it with int() or astype(int)",
            )
    lo, hi = concrete(lower), concrete(upper)

    def step(carry: tuple[Any, Any]) -> tuple[Any, Any]:
        return carry[0] + 1, body_fun(carry[0], carry[1])

    try:
        if lo is None or hi is None:
            test = lambda carry: carry[0] < upper
            return _while("fori_loop", test, _named_as(body_fun, step), (_counter(lower, upper), init_val))[1]
        if not is_staging() and lo < hi:
            lo, hi = int(lo), int(hi)
            (_, val), _ = _first_step("fori_loop", body_fun, lambda carry: (step(carry), None), (lo, init_val))
            for i in range(lo + 1, hi):
                val = body_fun(i, val)
            return unshared(val, init_val)
        by_row = _named_as(body_fun, lambda carry, _: (step(carry), None))
        return _scan("fori_loop", by_row, (int(lo), init_val), None, max(int(hi) - int(lo), 0), False)[0][1]
    except TypeError as error:
        check_arity(error, "fori_loop", (body_fun, "body_fun(i, val)", 2))
        raise


def _counter(lower: Any, upper: Any) -> Any:
    """The start of a counter that reaches the upper bound. A known start is a Python integer, as in a loop that runs as
    plain Python; of a traced one the dtype must hold both bounds."""
    known, last = concrete(lower), concrete(upper)
    if known is not None and int(known) <= INT.max:
        return int(known)
    own = np.iinfo(dtype_of(lower))
    if get_aval(lower).weak_type or (last is not None and int(last) <= own.max):
        return lower
    common = np.promote_types(own.dtype, dtype_of(upper))
    return convert_element_type(lower, dtype=common if common.kind in "iu" else INT.dtype)


def _named_as(fun: Any, wrapper: Any) -> Any:
    """A wrapper that messages call by the name of the user's function."""
    wrapper.__name__ = name_of(fun)
    if wrapper is not fun:
        wrapper.__wrapped__ = fun
    return wrapper


@boundary
def scan(
    f: Callable[..., Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: Any = 1,
    _split_transpose: bool = False,
) -> tuple[Any, Any]:
    """`carry, y = f(carry, x)` for the rows x of xs; returns the last carry and the rows y stacked.

    Parameters
    ----------
    xs : a tree of arrays of shape (n, ...), or None with `length`.
    reverse : from the last row to the first; the rows y stand in the places of their x.
    unroll : accepted for JAX's sake, without effect.

    Outside of jit this is a plain Python loop; inside, the body is staged once.

    Source: jax.lax.scan.

    >>> import numpy as np
    >>> scan(lambda c, x: (c + x, c), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([0., 1., 3.]))
    """
    check_callable("scan", f)
    _check_unroll("scan", unroll)
    try:
        return _scan("scan", f, init, xs, length, reverse)
    except TypeError as error:
        check_arity(error, "scan", (f, "f(carry, x)", 2))
        raise


def _check_unroll(transform: str, unroll: Any) -> None:
    """Raise where it is none of the values that JAX takes."""
    if unroll is None or type(unroll) is bool or (isinstance(unroll, int | np.integer) and unroll > 0):
        return
    shown = described(unroll) if isinstance(unroll, Tracer) else repr(unroll)
    raise errors.ArgumentError(
        f"{transform}: unroll is {shown}",
        mend="give True, False or a positive integer, or leave it out: it has no effect",
    )


def _scan(transform: str, f: Any, init: Any, xs: Any, length: int | None, reverse: bool) -> tuple[Any, Any]:
    rows, rows_tree = flat_operands(transform, xs, "xs")
    n = _length(transform, rows, rows_tree, length)
    if is_staging() or n == 0:
        return _staged_scan(transform, f, init, rows, rows_tree, n, reverse)
    order = range(n - 1, -1, -1) if reverse else range(n)

    def step(carry: Any, i: int) -> tuple[Any, Any]:
        return _pair(f, f(carry, rows_tree.unflatten([row_of(x, i) for x in rows])))

    carry, y = _first_step(transform, f, lambda c: step(c, order[0]), init)
    ys, y_tree = tree.flatten(y)
    collected = [[own_copy(v) for v in ys]]  # the body may use one buffer for all rows
    for i in order[1:]:
        carry, y = step(carry, i)
        ys, own_tree = tree.flatten(y)
        if own_tree != y_tree:
            raise errors.TreeError(
                f"{transform}: {name_of(f)} returns another tree of y for row {i} than for row {order[0]}: "
                f"{tree.describe_mismatch(y_tree, own_tree)}",
                mend="return the same structure for every row",
            )
        collected.append([own_copy(v) for v in ys])
    if reverse:
        collected.reverse()
    ys = [_stacked(transform, f, column) for column in zip(*collected, strict=True)]
    return unshared(carry, (init, xs)), y_tree.unflatten(ys)


def row_of(x: Any, i: int) -> Any:
    """Row i of an array, traced or not."""
    return own_copy(x[i]) if type(x) is np.ndarray else getitem_p(x, index=(i,))


def _stacked(transform: str, f: Any, column: Sequence[Any]) -> Any:
    """The values of one output of the body as the rows of an array."""
    rows = [as_output(x, lambda: f"{transform}: an output of {name_of(f)}") for x in column]
    shapes = {shape_of(x) for x in rows}
    if len(shapes) > 1:
        raise errors.ShapeError(
            f"{transform}: {name_of(f)} returns rows of the shapes {' and '.join(str(s) for s in sorted(shapes))}",
            mend="return the same shape for every row, e.g. padded with zeros",
        )
    return stack(*rows, axis=0)


def _pair(f: Any, out: Any) -> tuple[Any, Any]:
    if not isinstance(out, tuple | list) or len(out) != 2:
        raise errors.TreeError(
            f"scan: {name_of(f)} must return a pair (carry, y), it returned {described(out)}",
            mend="return (carry, y), with None for y if there is nothing to stack",
        )
    return out[0], out[1]


def _length(transform: str, rows: list[Any], rows_tree: tree.PyTreeDef, length: int | None) -> int:
    for k, x in enumerate(rows):
        if not shape_of(x):
            raise errors.ShapeError(
                f"{transform}: {leaf_names(transform, rows_tree, 'xs')[k]} is a scalar, which has no rows",
                mend="give arrays with a leading axis; close over a value that all rows share, or carry it along",
            )
    sizes = {shape_of(x)[0] for x in rows}
    if length is not None:
        try:
            sizes.add(operator.index(length))
        except TypeError as e:
            if isinstance(e, errors.AutodidaxError):
                raise
            raise errors.ArgumentError(
                f"{transform}: length must be an integer, it is {described(length)}", mend="give the number of rows"
            ) from None
    if length is not None and operator.index(length) < 0:
        raise errors.ArgumentError(
            f"{transform}: length is {length}", mend="give the number of rows, which is 0 or more"
        )
    if not sizes:
        raise errors.ShapeError(
            f"{transform}: neither xs nor length is given", mend="give arrays for xs, or length=n for a number of steps"
        )
    if len(sizes) != 1:
        names = leaf_names(transform, rows_tree, "xs")
        listed = [f"{name} has {shape_of(x)[0]}" for name, x in zip(names[:4], rows, strict=False)]
        listed += ["..."] * (len(rows) > 4) + [f"length is {length}"] * (length is not None)
        raise errors.ShapeError(
            f"{transform}: the numbers of rows are {sorted(sizes)}: {', '.join(listed)}",
            mend="give all leaves of xs one leading size, equal to length where both are given",
        )
    return sizes.pop()


def _staged_scan(
    transform: str, f: Any, init: Any, rows: list[Any], rows_tree: Any, n: int, reverse: bool
) -> tuple[Any, Any]:
    leaves, carry_tree = flat_operands(transform, init, "init")
    row_avals = [ShapedArray(shape_of(x)[1:], x.dtype) for x in rows]
    n_carry = len(leaves)

    step = _named_as(f, lambda carry, x: _pair(f, f(carry, x)))

    def split_out(out_tree: Any) -> tuple[Any, Any, Any]:
        own_tree, y_tree = tree.treedef_children(out_tree)
        return own_tree, carry_tree, y_tree

    args_tree = tree.treedef_tuple([carry_tree, rows_tree])
    leaves, body, captured, y_tree = _fixed_carry(transform, step, leaves, args_tree, split_out, row_avals)
    outs = loop_p(
        *captured, *leaves, *rows, cond=None, body=body, n_cond=0, n_const=len(captured), n_carry=n_carry, length=n,
        reverse=reverse, counted=False,
    )  # fmt: skip
    return carry_tree.unflatten(outs[:n_carry]), y_tree.unflatten(outs[n_carry:])


@boundary
def map(f: Callable[..., Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """`f` of each row of xs, one after the other, the results stacked.

    With `batch_size` so many rows at a time go through vmap(f), and what is left over at the end together: faster where
    f has many small operations, for the memory of a batch.

    Source: jax.lax.map.

    >>> import numpy as np
    >>> map(lambda x: x * x, np.array([1.0, 2.0, 3.0]), batch_size=2)
    array([1., 4., 9.])
    """
    check_callable("map", f)
    one_row = _named_as(f, lambda _, x: (None, f(x)))
    try:
        if batch_size is None:
            return _scan("map", one_row, None, xs, None, False)[1]
        return _map_in_batches(f, xs, _batch_size(batch_size))
    except TypeError as error:
        check_arity(error, "map", (f, "f(x)", 1))
        raise


def _map_in_batches(f: Callable[..., Any], xs: Any, size: int) -> Any:
    rows, rows_tree = flat_operands("map", xs, "xs")
    count = _length("map", rows, rows_tree, None)
    whole = count - count % size
    many = vmap(_named_as(f, f))
    parts = []
    if whole:
        batches = rows_tree.unflatten([reshape(x[:whole], shape=(whole // size, size, *shape_of(x)[1:])) for x in rows])
        batched = _scan("map", _named_as(f, lambda _, x: (None, many(x))), None, batches, None, False)[1]
        parts.append(tree.map(lambda y: reshape(y, shape=(whole, *shape_of(y)[2:])), batched))
    if whole < count or not parts:
        parts.append(many(rows_tree.unflatten([x[whole:] for x in rows])))
    return parts[0] if len(parts) == 1 else tree.map(lambda *ys: concatenate(*ys, axis=0), *parts)


def _batch_size(given: Any) -> int:
    try:
        size = operator.index(given)
    except TypeError:
        size = 0
    if size < 1:
        raise errors.ArgumentError(
            f"map: batch_size must be a positive integer, it is {given!r}",
            mend="give how many rows go together",
        )
    return size
