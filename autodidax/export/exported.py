"""Exported functions: programs with the trees of their arguments and results, to be called, stored and loaded."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autodidax import errors, tree
from autodidax.compile.program import compiled
from autodidax.core.avals import PYTHON_SCALARS, ShapedArray
from autodidax.core.interpreters import Tracer, get_aval
from autodidax.core.jaxpr import ClosedJaxpr, Jaxpr
from autodidax.core.tracebacks import boundary
from autodidax.export.container import pack
from autodidax.export.decoding import Decoder, decoded
from autodidax.export.encoding import Encoder
from autodidax.export.trees import decode_tree, encode_tree
from autodidax.export.values import NotStorable
from autodidax.primitives.convert import convert_element_type
from autodidax.transforms.boundary import as_value, described, fresh_outputs, name_of
from autodidax.transforms.calls import jit_p, waits_for_program
from autodidax.transforms.program import without_weak_inputs
from autodidax.version import __version__

ORDER = 2
"""Up to which order the rules of custom_jvp and custom_vjp are stored, unless another is asked for."""
_KINDS = "biufc"
_PYTHON_TYPES: dict[Any, Any] = {dtype: t for t, dtype in PYTHON_SCALARS.items()}


class Exported:
    """A function's program for arguments of one signature.

    `fun_name`, `in_tree`, `in_avals`, `out_tree`, `out_avals`: the function's name, and the structure, shapes and
    dtypes of (args, kwargs) and of what it returns; `jaxpr`: the program.

    Source: jax.export.Exported.
    """

    __slots__ = ("fun_name", "in_tree", "out_tree", "jaxpr")

    def __init__(self, fun_name: str, in_tree: tree.PyTreeDef, out_tree: tree.PyTreeDef, jaxpr: ClosedJaxpr):
        self.fun_name = fun_name
        self.in_tree = in_tree
        self.out_tree = out_tree
        self.jaxpr = jaxpr

    @property
    def in_avals(self) -> tuple[ShapedArray, ...]:
        return tuple(self.jaxpr.in_avals)

    @property
    def out_avals(self) -> tuple[ShapedArray, ...]:
        return tuple(self.jaxpr.out_avals)

    def __repr__(self) -> str:
        ins, outs = (", ".join(map(repr, avals)) for avals in (self.in_avals, self.out_avals))
        return f"Exported({self.fun_name}: ({ins}) -> ({outs}))"

    @boundary
    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result. It may be differentiated, batched and staged, as the function itself.

        Raises TreeError, ShapeError or DtypeError for arguments of another signature.
        """
        leaves, in_tree = tree.flatten((args, kwargs))
        if in_tree != self.in_tree:
            raise errors.TreeError(
                f"exported {self.fun_name}: the arguments have another structure than those it was exported for: "
                f"{tree.describe_mismatch(self.in_tree, in_tree)}",
                mend="pass the same trees, without static arguments; or export the function for these",
            )
        names = self._leaf_names()
        leaves = [as_value(x, lambda k=k: f"exported {self.fun_name}: {names[k]}") for k, x in enumerate(leaves)]
        weak = all(type(x) in PYTHON_SCALARS for x, a in zip(leaves, self.in_avals, strict=True) if a.weak_type)
        leaves = [self._fitted(x, a, weak, name) for x, a, name in zip(leaves, self.in_avals, names, strict=True)]
        program = self.jaxpr if weak else self._strong()
        if any(isinstance(x, Tracer) for x in leaves) or waits_for_program(program):
            outs = jit_p(*leaves, jaxpr=program, name=self.fun_name)
        else:
            outs = fresh_outputs(compiled(program)(*leaves), leaves)
        return self.out_tree.unflatten(outs)

    def _leaf_names(self) -> list[str]:
        places = self.in_tree.unflatten(range(self.in_tree.num_leaves))
        paths = [path for path, _ in tree.leaves_with_path(places)]
        return [f"argument {'' if path[0].idx == 0 else 'by keyword '}{tree.keystr(path[1:])}" for path in paths]

    def _strong(self) -> ClosedJaxpr:
        """The program for values that are not weak in the places of Python scalars: entries of a batch, say."""
        derived = self.jaxpr.derived
        if "strong" not in derived:
            derived["strong"] = without_weak_inputs(self.jaxpr)
        return derived["strong"]

    def _fitted(self, x: Any, want: ShapedArray, weak: bool, name: str) -> Any:
        """An argument of the dtype that the program takes: a Python scalar is converted, all else must have it. `weak`:
        the program takes Python scalars, where it was exported for them."""
        got = get_aval(x)
        if got.shape != want.shape:
            raise errors.ShapeError(
                f"exported {self.fun_name}: {name} has shape {got.shape}, it was exported for {want!r}",
                mend="pass that shape, map over an additional axis with vmap, or export the function for this shape",
            )
        yields = got.weak_type and _KINDS.index(got.dtype.kind) <= _KINDS.index(want.dtype.kind)
        if got.dtype != want.dtype and not yields:
            raise errors.DtypeError(
                f"exported {self.fun_name}: {name} has dtype {got.dtype}, it was exported for {want!r}",
                mend=f"convert it, with astype({str(want.dtype)!r}), or export the function for this dtype",
            )
        if not got.weak_type:
            return x
        if weak and want.weak_type:
            return _PYTHON_TYPES[want.dtype](x)
        return convert_element_type(x, dtype=want.dtype) if isinstance(x, Tracer) else want.dtype.type(x)

    @boundary
    def serialize(self, vjp_order: int = ORDER) -> bytes:
        """The function as bytes, which `deserialize` loads; they hold no code that loading would run.

        `vjp_order`: how often functions with rules of their own (custom_jvp, custom_vjp) can be differentiated when
        they are loaded; beyond that their derivative raises. All else can be differentiated as often as one likes.

        Raises ExportError for what no file can hold: a function of the host, an effect, a rule that cannot be traced.

        Source: jax.export.Exported.serialize, whose program cannot be differentiated beyond `vjp_order`, by default 0.
        """
        if type(vjp_order) is not int or vjp_order < 0:
            raise errors.ArgumentError(
                f"serialize: vjp_order is a number of derivatives, got {vjp_order!r}",
                mend="give 0 for values alone, 1 for gradients of functions with custom rules, 2 for Hessians",
            )

        def trees(encoder: Encoder) -> dict[str, Any]:
            def key(x: Any) -> Any:
                try:
                    return encoder.value(x)
                except NotStorable:
                    raise errors.ExportError(
                        f"{self.fun_name}: a dictionary among the arguments or results has the key {x!r}, which cannot "
                        "be stored",
                        mend="use texts or numbers as keys",
                    ) from None

            in_tree, out_tree = encode_tree(self.in_tree, key), encode_tree(self.out_tree, key)
            return {"name": self.fun_name, "in_tree": in_tree, "out_tree": out_tree}

        return _packed("exported function", self.jaxpr, vjp_order, trees)

    @boundary
    def save(self, path: str | os.PathLike[str], vjp_order: int = ORDER) -> None:
        """Write `serialize(vjp_order)` to a file, which `load` reads."""
        data = self.serialize(vjp_order)
        Path(path).write_bytes(data)

    def __reduce__(self) -> Any:
        return deserialize, (self.serialize(),)


def _packed(kind: str, program: Any, vjp_order: int, more: Callable[[Encoder], dict[str, Any]]) -> bytes:
    encoder = Encoder(vjp_order)
    main = encoder.open(program) if isinstance(program, Jaxpr) else encoder.closed(program)
    head = {"kind": kind, "autodidax": __version__, "main": main}
    return pack(head | more(encoder) | encoder.table(), encoder.arrays)


@boundary
def export(fun: Callable[..., Any]) -> Callable[..., Exported]:
    """A function that returns the program of a jitted function for its arguments, as an `Exported` that can be called,
    stored and loaded.

    Arguments may be ShapeDtypeStructs; static ones become parts of the program, and are left out of its calls.

    Raises
    ------
    ArgumentError : for what is not the result of `jit`, or closes over values of an open transform.

    Source: jax.export.export.

    >>> import numpy as np
    >>> import autodidax
    >>> exported = export(autodidax.jit(lambda x: np.sum(np.sin(x))))(np.zeros(3))
    >>> loaded = deserialize(exported.serialize())
    >>> loaded
    Exported(<lambda>: (f64[3]) -> (f64[]))
    >>> autodidax.grad(loaded.call)(np.zeros(3))
    array([1., 1., 1.])
    """
    lower = getattr(fun, "lower", None)
    if lower is None or not callable(fun):
        what = f"the function {name_of(fun)}" if callable(fun) else described(fun)
        raise errors.ArgumentError(f"export takes what jit returns, got {what}", mend="write export(jit(f))(x)")

    @boundary
    def export_f(*args: Any, **kwargs: Any) -> Exported:
        lowered = lower(*args, **kwargs)
        if lowered._captured:
            raise errors.ArgumentError(
                f"export: {name_of(fun)} closes over {described(lowered._captured[0])} of an open transform",
                mend="export the function outside of the transform, or pass the value as an argument",
            )
        return Exported(name_of(fun), lowered._in_tree, lowered._out_tree, lowered.jaxpr())

    return export_f


@boundary
def deserialize(data: bytes | bytearray | memoryview) -> Exported:
    """The function whose `serialize` gave these bytes. Nothing in them is run by loading them: the program is checked,
    and what runs on a call are the primitives that are registered here.

    Raises ExportError for bytes that hold no program, are damaged or of a newer version of the format, or whose program
    calls a primitive that is not registered here.

    Source: jax.export.deserialize.
    """
    return decoded(data, "exported function", _read)


def _read(decoder: Decoder, table: dict[str, Any]) -> Exported:
    in_tree, out_tree = (decode_tree(table[key], decoder.value) for key in ("in_tree", "out_tree"))
    program = decoder.main(ClosedJaxpr)
    if (in_tree.num_leaves, out_tree.num_leaves) != (len(program.in_avals), len(program.out_avals)):
        raise ValueError("the trees have other leaves than the program")
    if type(table["name"]) is not str:
        raise ValueError("the function has no name")
    return Exported(table["name"], in_tree, out_tree, program)


@boundary
def load(path: str | os.PathLike[str]) -> Exported:
    """The function that `Exported.save` wrote to a file; errors as `deserialize` has them."""
    return deserialize(Path(path).read_bytes())


def reduced(program: ClosedJaxpr | Jaxpr) -> Any:
    """What pickle keeps of a jaxpr: the bytes of the same format, which `load_jaxpr` reads."""
    return load_jaxpr, (_packed("jaxpr", program, ORDER, lambda _: {}),)


def load_jaxpr(data: bytes) -> ClosedJaxpr | Jaxpr:
    """The jaxpr of its pickle's bytes."""
    return decoded(data, "jaxpr", lambda decoder, table: decoder.main((ClosedJaxpr, Jaxpr)))
