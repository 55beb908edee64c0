"""The walks over a record: backward (cotangents) and forward (tangents), and transposition of linear records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import Masked, shapes_agree
from autodidax.core.interpreters import Tracer, dtype_of, get_aval, quietly, shape_of
from autodidax.core.primitive import by_code, partial1, products
from autodidax.core.sources import Mark, given
from autodidax.primitives.comparison import logical_and, logical_or
from autodidax.primitives.convert import convert_element_type, real, zeros_of
from autodidax.primitives.reductions import reduce_or, reduce_sum
from autodidax.primitives.select import where
from autodidax.primitives.shape import broadcast_to, reshape
from autodidax.transforms.reverse import LinearTrace, NotedTape

ndarray = np.ndarray
_NOT_PLAIN = (Tracer, Masked)


def backward(tape: list[Any], n_inputs: int, cts: list[Any], *, keep_masks: bool = False) -> list[Any]:
    """Cotangents of the inputs, from `cts`: one entry a node of the record, None for zero. `cts` is used up.

    Runs with floating-point warnings off: a cotangent of inf or nan says itself what happened.
    """
    with quietly():
        walk_record(tape, n_inputs, cts)
    return cts[:n_inputs] if keep_masks else [g.val if type(g) is Masked else g for g in cts[:n_inputs]]


node_watch: Callable[..., None] | None = None  # what `debug_nans` puts around the processing of a record's node


def walk_record(tape: list[Any], n_inputs: int, cts: list[Any]) -> None:
    """Pull cotangents back through a record, to its inputs."""
    if type(tape) is list and node_watch is None:
        _walk(tape, n_inputs, cts, len(tape))
        return
    token = given.set(given.get())
    try:
        for i in range(len(tape) - 1, n_inputs - 1, -1):
            if cts[i] is not None:
                mark, name = origin(tape, i)
                given.set((mark if mark is None or mark[3] else (*mark[:3], name), name))
                if node_watch is None:
                    _walk(tape, i, cts, i + 1)
                else:
                    node_watch(tape, i, cts, lambda i=i: _walk(tape, i, cts, i + 1))
    finally:
        given.reset(token)


def origin(tape: list[Any], i: int) -> tuple[Mark | None, str]:
    """Mark and primitive of a record's node; None where it was not noted."""
    if type(tape) is NotedTape and i < len(tape.notes):
        return tape.notes[i]
    code = tape[i][0]
    return None, by_code[code].name if type(code) is int else "call"


def _walk(tape: list[Any], n_inputs: int, cts: list[Any], i: int) -> None:
    """From node i, exclusive, down to the inputs."""
    owned: set[int] = set()  # nodes whose cotangent is an array made here, so that it may be added to in place
    while i > n_inputs:
        i -= 1
        ct = cts[i]
        if ct is None:
            continue
        cts[i] = None
        node = tape[i]
        kind = len(node)
        if kind == 7:
            code, nx, ny, x, y, out, fit = node
            if type(ct) is Masked:
                _pull_masked(ct, products[code], (nx, ny), (x, y), out, fit, cts)
                continue
            px, py = products[code]
            if nx >= 0:
                g = px(ct, out, x, y)
                if fit is not None and fit[0] is not None:
                    g = fit_ct(g, *fit[0])
                have = cts[nx]
                cts[nx] = g if have is None else add_cts(have, g)
            if ny >= 0:
                g = py(ct, out, x, y)
                if fit is not None and fit[1] is not None:
                    g = fit_ct(g, *fit[1])
                have = cts[ny]
                cts[ny] = g if have is None else add_cts(have, g)
        elif kind == 4:
            code, n, x, out = node
            if type(ct) is Masked:
                _pull_masked(ct, products[code], (n,), (x,), out, None, cts)
                continue
            d = partial1[code]
            g = ct * d(out, x) if d is not None else products[code][0](ct, out, x)
            have = cts[n]
            cts[n] = g if have is None else add_cts(have, g)
        elif kind == 5:
            _pull_index(node, ct, cts, owned)
        elif kind == 2:
            k, main = node
            slots = cts[main]
            if slots is None:
                slots = cts[main] = [None] * _count(tape[main])
            slots[k] = ct
        elif kind == 3:
            call, ins, _ = node
            _add_all(cts, ins, call.pull(ct if call.takes_masks else _dense(ct)))
        else:
            code, ins, operands, out, params, _ = node
            p = by_code[code]
            for n, v, g in zip(ins, operands, pull_general(p, ct, ins, operands, out, params), strict=True):
                if n >= 0 and g is not None:
                    g = fit_ct(g, shape_of(v), dtype_of(v))
                    have = cts[n]
                    cts[n] = g if have is None else add_cts(have, g)


def _count(node: Any) -> int:
    return node[2] if len(node) == 3 else node[5]


def _dense(ct: Any) -> Any:
    if type(ct) is Masked:
        return ct.val
    if type(ct) is list:
        return [c.val if type(c) is Masked else c for c in ct]
    return ct


def _add_all(cts: list[Any], ins: Any, gs: Any) -> None:
    for n, g in zip(ins, gs, strict=True):
        if n >= 0 and g is not None:
            have = cts[n]
            cts[n] = g if have is None else add_cts(have, g)


def add_cts(a: Any, b: Any) -> Any:
    """Sum of two cotangents of one value; an entry stays a structural zero only where it is one in both."""
    if type(a) is Masked:
        if type(b) is Masked:
            return Masked(a.val + b.val, logical_or(a.mask, b.mask))
        return a.val + b
    return a + (b.val if type(b) is Masked else b)


def fit_ct(g: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Bring a cotangent back to its operand: summed over broadcast axes, real part for a real operand, its dtype."""
    if type(g) is Masked:
        mask = g.mask
        if shape_of(mask) != shape_of(g.val):
            mask = broadcast_to(mask, shape=shape_of(g.val))
        return Masked(fit_ct(g.val, shape, dtype), _unbroadcast(mask, shape, reduce_or))
    if shape_of(g) != shape:
        g = _unbroadcast(g, shape, reduce_sum)
    return cast(g, dtype)


def cast(g: Any, dtype: np.dtype) -> Any:
    own = dtype_of(g)
    if own == dtype:
        return g
    if own.kind == "c" and dtype.kind != "c":
        g = real(g)
    return convert_element_type(g, dtype=dtype) if dtype_of(g) != dtype else g


def _unbroadcast(g: Any, shape: tuple[int, ...], reduce: Any) -> Any:
    own = shape_of(g)
    if shapes_agree(own, shape):
        return g
    extra = len(own) - len(shape)
    if extra < 0 or any(m != n and n != 1 for m, n in zip(own[extra:], shape, strict=True)):
        raise errors.ShapeError(
            f"a derivative rule returned a cotangent of shape {own} for an operand of shape {shape}",
            mend="make the rule return the operand's shape; `python -m autodidax check` names the rule",
        )
    axes = (*range(extra), *(k + extra for k, n in enumerate(shape) if own[k + extra] != n))
    g = reduce(g, axes=axes)
    return reshape(g, shape=shape) if shape_of(g) != shape else g


def fit_tangent(t: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Broadcast and cast a tangent to the aval of the output it belongs to."""
    own = shape_of(t)
    if own != shape and not shapes_agree(own, shape):
        t = broadcast_to(t, shape=shape)
    return cast(t, dtype)


def masked_product(product: Any, ct: Masked, values: Any) -> Any:
    """The product with a masked cotangent: structural zeros stay zero against inf and nan."""
    g = product(ct.val, *values)
    if g is None:
        return None
    if type(g) is Masked:
        return Masked(where(ct.mask, g.val, 0.0), logical_and(g.mask, ct.mask))
    return Masked(where(ct.mask, g, 0.0), ct.mask)


def _pull_masked(ct: Masked, prods: Any, ins: Any, operands: Any, out: Any, fit: Any, cts: list[Any]) -> None:
    for k, n in enumerate(ins):
        if n >= 0:
            g = masked_product(prods[k], ct, (out, *operands))
            if fit is not None and fit[k] is not None:
                g = fit_ct(g, *fit[k])
            have = cts[n]
            cts[n] = g if have is None else add_cts(have, g)


def _pull_index(node: Any, ct: Any, cts: list[Any], owned: set[int]) -> None:
    """Basic indexing: the cotangent is added into the indexed part of a zero array, in place where it is plain."""
    code, n, index, shape, dtype = node
    have = cts[n]
    if isinstance(ct, _NOT_PLAIN) or isinstance(have, _NOT_PLAIN):
        g = by_code[code].pull(ct, index, shape, dtype)
        cts[n] = g if have is None else add_cts(have, g)
        return
    if have is None:
        have = cts[n] = np.zeros(shape, dtype)
        owned.add(n)
    elif n not in owned or type(have) is not ndarray:
        have = cts[n] = np.array(have, dtype)
        owned.add(n)
    have[index] += ct


def pull_general(p: Any, ct: Any, ins: Any, operands: Any, out: Any, params: dict[str, Any]) -> Any:
    """One cotangent an operand of a general node."""
    if p.structural and type(ct) is Masked:
        gs = pull_general(p, ct.val, ins, operands, out, params)
        masks = pull_general(p, ct.mask, ins, operands, out, params)
        return [None if g is None else _with_mask(g, m) for g, m in zip(gs, masks, strict=True)]
    if products[p.code]:
        return _pull_products(p, ct, ins, operands, out)
    active = [k for k, n in enumerate(ins) if n >= 0]
    partly_linear = p.linear_in and set(active) <= set(p.linear_in)
    if not (p.linear or p.multilinear or partly_linear or p.vjp is not None):
        return transpose_jvp(p, ct, active, operands, out, params)
    ct = _dense(ct)
    if p.multiple_results and p.linear and any(c is None for c in ct):
        ct = [zeros_of(a) if c is None else c for c, a in zip(ct, p.out_avals(*operands, **params), strict=True)]
    if p.linear:
        return p.transpose(ct, *operands, **params)
    if p.multilinear:
        gs = [None] * len(ins)
        for k in active:
            stubs = [get_aval(v) if i == k else v for i, v in enumerate(operands)]
            gs[k] = p.transpose(ct, *stubs, **params)[k]
        return gs
    if partly_linear:
        stubs = [get_aval(v) if i in active else v for i, v in enumerate(operands)]
        return p.transpose(ct, *stubs, **params)
    return p.vjp(ct, out, operands, tuple(n >= 0 for n in ins), **params)


def _with_mask(g: Any, m: Any) -> Any:
    mask = m.val if type(m) is Masked else m
    if dtype_of(mask).kind != "b":
        mask = mask != 0
    return Masked(g.val if type(g) is Masked else g, mask)


def _pull_products(p: Any, ct: Any, ins: Any, operands: Any, out: Any) -> list[Any]:
    gs: list[Any] = [None] * len(ins)
    for k, n in enumerate(ins):
        if n >= 0:
            product = products[p.code][k]
            gs[k] = masked_product(product, ct, (out, *operands)) if type(ct) is Masked else product(ct, out, *operands)
    return gs


def transpose_jvp(p: Any, ct: Any, active: list[int], operands: Any, out: Any, params: dict[str, Any]) -> list[Any]:
    """Run the jvp rule on linear tracers and transpose its record: reverse mode from the forward rule."""
    with LinearTrace("transpose", p.name) as trace:
        tangents: list[Any] = [None] * len(operands)
        for k in active:
            tangents[k] = trace.input(operands[k])
        t_out = p.jvp(out, operands, tangents, **params)
        tape = trace.tape
    pairs = zip(t_out, ct, strict=True) if p.multiple_results else [(t_out, ct)]
    gs = _transposed(trace, tape, len(active), pairs)
    result: list[Any] = [None] * len(operands)
    for k, g in zip(active, gs, strict=True):
        result[k] = g
    return result


def transpose_record(trace: Any, tape: list[Any], n_inputs: int, pairs: Any) -> list[Any]:
    """Cotangents of the inputs of a linear record from pairs (linear output or None, cotangent or None)."""
    return [g.val if type(g) is Masked else g for g in _transposed(trace, tape, n_inputs, pairs)]


def _transposed(trace: Any, tape: list[Any], n_inputs: int, pairs: Any) -> list[Any]:
    """As `transpose_record`, with the structural zeros of the cotangents still marked."""
    cts: list[Any] = [None] * len(tape)
    for t, ct in pairs:
        if ct is not None and isinstance(t, Tracer) and t._trace is trace:
            have = cts[t.node]
            ct = Masked(cast(ct.val, t.dtype), ct.mask) if type(ct) is Masked else cast(ct, t.dtype)
            cts[t.node] = ct if have is None else add_cts(have, ct)
    walk_record(tape, n_inputs, cts)
    return cts[:n_inputs]


def replay(tape: list[Any], inputs: list[Any]) -> list[Any]:
    """Run the linear operations of a LinearTrace's record on actual tangents: one value a node."""
    values: list[Any] = list(inputs)
    if type(tape) is list and replay_watch is None:
        _replay(tape[len(inputs) :], values)
        return values
    token = given.set(given.get())
    try:
        for i in range(len(inputs), len(tape)):
            given.set(origin(tape, i))
            if replay_watch is None:
                _replay(tape[i : i + 1], values)
            else:
                replay_watch(tape, i, values, lambda i=i: _replay(tape[i : i + 1], values))
    finally:
        given.reset(token)
    return values


replay_watch: Callable[..., None] | None = None  # likewise, around the replay of a node


def _replay(nodes: list[Any], values: list[Any]) -> None:
    for node in nodes:
        kind = len(node)
        if kind == 2:
            values.append(values[node[1]][node[0]])
        elif kind == 3:
            values.append(node[0].push(*[values[n] for n in node[1]]))
        elif kind == 4:
            values.append(by_code[node[0]].op(values[node[1]]))
        elif kind == 7:
            code, nx, ny, x, y, _, _ = node
            values.append(by_code[code].op(values[nx] if nx >= 0 else x, values[ny] if ny >= 0 else y))
        else:
            code, ins, operands, _, params, _ = node
            args = [values[n] if n >= 0 else v for n, v in zip(ins, operands, strict=True)]
            values.append(by_code[code].bind(*args, **params))


errors.evaluators.update((walk_record.__code__, replay.__code__))
