"""What each ufunc does on traced operands: the table that `__array_ufunc__` and the public functions look into.

Ufuncs are matched by identity. Those of NumPy are found through the registry at import; SciPy's, and those of a user's
own primitives, on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from autodidax import errors
from autodidax.core.avals import PYTHON_SCALARS, ShapedArray
from autodidax.core.interpreters import Tracer, ValueTracer, dtype_of
from autodidax.core.primitive import registry
from autodidax.numpy import contraction as products
from autodidax.numpy.callers import ALTERNATIVES
from autodidax.numpy.dispatch import check_casting, holds_tracer, operand, refuse_out, refuse_texts, strong
from autodidax.primitives import bits, comparison, rounding, trigonometric
from autodidax.primitives import elementwise as ew
from autodidax.primitives.convert import astype, conj
from autodidax.transforms.nan_checks import entry_point

FAMILIES = (ew, bits, comparison, rounding, trigonometric)  # where the primitives of NumPy's ufuncs are
calls: dict[Any, Callable[..., Any]] = {}
load_scipy: list[Callable[[], Any]] = []  # loads SciPy's primitives; the package puts it here

#: types of operands that are no arrays yet, and may hold traced values
NOT_READY = {list, tuple}
ndarray = np.ndarray


def lookup(ufunc: np.ufunc) -> Callable[..., Any]:
    """The function of traced operands that a ufunc stands for."""
    call = calls.get(ufunc)
    if call is None:
        p = registry.get(ufunc)
        if p is None and getattr(np, ufunc.__name__, None) is not ufunc:
            for load in load_scipy:
                load()
            p = registry.get(ufunc)
        if p is None:
            raise unsupported_ufunc(ufunc)
        call = calls[ufunc] = call_of(p, ufunc.nin)
    return call


def unsupported_ufunc(ufunc: np.ufunc) -> errors.AutodidaxError:
    name = ufunc.__name__
    module = "numpy." if getattr(np, name, None) is ufunc else ""
    if name.endswith(" (vectorized)"):
        name, mend = f"{name} of np.frompyfunc", "make it with anp.frompyfunc, with autodidax.numpy as anp"
    else:
        define = f"autodidax.pointwise({name!r}, {module}{name}, derivative)"
        if ufunc.nout > 1:
            define = f"autodidax.primitive_from({module}{name}, name={name!r}, jvp=derivatives, multiple_results=True)"
        other = f"apply it to stop_gradient(x), compute it outside, or define a rule: {define}"
        mend = ALTERNATIVES.get(ufunc, other)
    return errors.UnsupportedError(
        f"the ufunc {module}{name} has no rule for traced values",
        mend=mend,
    )


def call_of(p: Any, nin: int) -> Callable[..., Any]:
    """The function of a primitive, with NumPy's dtypes: a ufunc of Python scalars alone gives a NumPy scalar."""
    op: Callable[..., Any] = getattr(p, "op", p)
    if p.multiple_results:
        return lambda *operands: tuple(op(*operands))
    return strengthened(op) if _may_be_weak(p, nin) else op


def _may_be_weak(p: Any, nin: int) -> bool:
    for dtype in map(np.dtype, (float, int)):
        try:
            return bool(p.abstract_eval(*[ShapedArray((), dtype, True)] * nin).weak_type)
        except TypeError:  # a ufunc of integers alone, or none of numbers
            continue
    return False


def strengthened(op: Callable[..., Any]) -> Callable[..., Any]:
    """The same function; where it gives a Python scalar (a weak type), it gives a NumPy scalar."""

    def call(*operands: Any) -> Any:
        out = op(*operands)
        value = out
        while isinstance(value, ValueTracer):
            value = value.val
        t = type(value)
        if t is ndarray:
            return out
        return strong(out) if t in PYTHON_SCALARS or isinstance(value, Tracer) else out

    return call


def _divmod(x: Any, y: Any) -> tuple[Any, Any]:
    return calls[np.floor_divide](x, y), calls[np.remainder](x, y)


def _power(x: Any, y: Any) -> Any:
    if type(y) is int and dtype_of(x).kind == "b":
        x = astype(x, np.int64)  # as numpy.power promotes them; the operator ** of booleans gives int8
    return ew.pow_operator(x, y)


def _conjugate(x: Any) -> Any:
    return strong(astype(x, np.int8) if dtype_of(x).kind == "b" else conj(x))


def _absolute(x: Any) -> Any:
    return astype(x, np.bool_) if dtype_of(x).kind == "b" else ew.absolute.op(x)  # abs(True) is an integer


def _float_power(x: Any, y: Any) -> Any:
    inputs = (dtype_of(x), dtype_of(y))
    dtype = np.complex128 if any(d.kind == "c" for d in inputs) else np.float64
    return ew.power(astype(x, dtype), astype(y, dtype))


# ufuncs on vectors and matrices, which have keywords of their own
_CONTRACTIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.matmul: products.matmul, np.matvec: products.matvec, np.vecdot: products.vecdot, np.vecmat: products.vecmat,
}  # fmt: skip


def _fill() -> None:
    calls.update({ufunc: getattr(f, "__wrapped__", f) for ufunc, f in _CONTRACTIONS.items()})
    calls[np.power] = strengthened(_power)
    calls[np.conjugate] = _conjugate
    calls[np.absolute] = strengthened(_absolute)
    calls[np.float_power] = _float_power
    calls[np.divmod] = _divmod
    for p in registry:  # those of ew, of the families below, and of what they import
        if isinstance(p.numpy_function, np.ufunc):
            calls.setdefault(p.numpy_function, call_of(p, p.numpy_function.nin))


_fill()


def apply(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A ufunc on operands of which some are traced, with its keywords."""
    name = ufunc.__name__
    kwargs = dict(kwargs)
    refuse_texts(name, kwargs)
    refuse_out(name, kwargs.pop("out", None))
    if ufunc.signature is not None and ufunc in _CONTRACTIONS:
        return _CONTRACTIONS[ufunc](*inputs, **kwargs)
    if kwargs.pop("where", True) is not True:
        raise errors.UnsupportedError(
            f"{name}: where= leaves the other entries without a value, as no out= can be given on traced values",
            mend=f"write where(mask, {name}(...), other)",
        )
    dtype, casting = kwargs.pop("dtype", None), kwargs.pop("casting", "same_kind")
    check_casting(casting)
    kwargs.pop("order", None)
    kwargs.pop("subok", None)
    if kwargs:
        raise errors.UnsupportedError(
            f"{name}: the keyword {next(iter(kwargs))} is not supported on traced values",
            mend="leave it away, or convert the operands with astype",
        )
    call = lookup(ufunc)
    operands = [operand(x) for x in inputs]
    if dtype is not None:
        operands = _in_dtype(ufunc, operands, np.dtype(dtype), casting)
    return call(*operands)


def _refuses(name: str, *operands: Any) -> NoReturn:
    kinds = [type(x).__name__ for x in operands if not isinstance(x, Tracer)]
    raise errors.DtypeError(f"{name}: an operand of type {kinds[0]} refuses ufuncs", mend="use an operator on it")


def _in_dtype(ufunc: np.ufunc, operands: list[Any], dtype: np.dtype, casting: str) -> list[Any]:
    """The operands in the dtypes of the loop that gives this dtype; NumPy's own error where there is none."""
    own = [type(x) if type(x) in (int, float, complex) else dtype_of(x) for x in operands]
    signature = (*[None] * ufunc.nin, *[dtype] * ufunc.nout)
    try:
        loop = ufunc.resolve_dtypes((*own, *[None] * ufunc.nout), signature=signature, casting=casting)  # type: ignore[arg-type]  # any text
    except TypeError:
        for x in operands:
            cast(ufunc.__name__, x, dtype, casting)
        raise
    return [cast(ufunc.__name__, x, d, casting) for x, d in zip(operands, loop, strict=False)]


def cast(name: str, x: Any, dtype: np.dtype, casting: str) -> Any:
    """An operand in another dtype, where the rule allows to cast it there."""
    own: Any = type(x)(1) if type(x) in PYTHON_SCALARS else dtype_of(x)
    kind = np.min_scalar_type(own) if type(x) in PYTHON_SCALARS else own
    if not np.can_cast(kind, dtype, casting=casting):  # type: ignore[arg-type]  # any text
        raise errors.DtypeError(
            f"{name}: an operand of dtype {dtype_of(x)} cannot be cast to {dtype} with casting={casting!r}",
            mend="convert it with astype first",
        )
    return astype(x, dtype)


def public(ufunc: np.ufunc) -> Callable[..., Any]:
    """The ufunc itself on plain arguments, its primitive on traced ones; `reduce` and the like as NumPy has them."""
    make = {1: _public1, 2: _public2}[ufunc.nin]
    function = make(ufunc, calls.get(ufunc) or (lambda *operands: lookup(ufunc)(*operands)))
    function.__name__ = function.__qualname__ = ufunc.__name__
    function.__doc__ = f"numpy.{ufunc.__name__}: elementwise, with broadcasting; differentiable where it can be."
    function.numpy_function = ufunc  # type: ignore[attr-defined]  # what it stands for
    entry_point(function)
    for name in ("nin", "nout"):
        setattr(function, name, getattr(ufunc, name))
    return function


def _public1(ufunc: np.ufunc, call: Callable[..., Any]) -> Callable[..., Any]:
    plain: Callable[..., Any] = ufunc

    def function(x: Any, /, *args: Any, **kwargs: Any) -> Any:
        if not args and not kwargs:
            if isinstance(x, Tracer):
                return call(x)
            if type(x) not in NOT_READY:
                return plain(x)
        return _unusual(ufunc, plain, (x, *args), kwargs)

    return function


def _public2(ufunc: np.ufunc, call: Callable[..., Any]) -> Callable[..., Any]:
    plain: Callable[..., Any] = ufunc

    def function(x: Any, y: Any, /, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs or type(x) in NOT_READY or type(y) in NOT_READY:
            return _unusual(ufunc, plain, (x, y, *args), kwargs)
        if isinstance(x, Tracer) or isinstance(y, Tracer):
            out = call(x, y)
            return out if out is not NotImplemented else _refuses(ufunc.__name__, x, y)
        return plain(x, y)

    return function


def _unusual(ufunc: np.ufunc, plain: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call with keywords, an out argument by position, or lists."""
    if not holds_tracer([*args, *kwargs.values()]):
        return plain(*args, **kwargs)
    if len(args) > ufunc.nin:
        kwargs = {"out": args[ufunc.nin :], **kwargs}
    return apply(ufunc, args[: ufunc.nin], kwargs)
