"""What happens where values enter and leave a transform: checks, names for messages, copies, zeros."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from autodidax import errors, tree
from autodidax.core.avals import PYTHON_SCALARS, float0, is_inexact
from autodidax.core.interpreters import Tracer, dtype_of, redefines_arithmetic, shape_of
from autodidax.core.tracebacks import entrance
from autodidax.primitives.convert import zeros_like
from autodidax.transforms.backward import cast
from autodidax.transforms.reverse import SMALL

ndarray = np.ndarray


def name_of(fun: Any) -> str:
    """The name of a function, for messages."""
    name = getattr(fun, "__name__", None)
    if name is None:
        inner = getattr(fun, "func", None)
        name = name_of(inner) if inner is not None else type(fun).__name__
    return name


def wrapping(wrapper: Any, fun: Any, transform: str = "", summary: str = "", *, outermost: bool = True) -> Any:
    """`wrapper` presented as what a transform makes of `fun`: its name, docstring and `__wrapped__`. The
    outermost one is an entrance from user code, with tidy tracebacks."""
    if outermost:
        wrapper = entrance(wrapper)
    wrapper.__name__ = wrapper.__qualname__ = f"{transform}_{name_of(fun)}" if transform else name_of(fun)
    documentation = getattr(fun, "__doc__", None)
    wrapper.__doc__ = f"{summary} {name_of(fun)}. {documentation or ''}".strip() if summary else documentation
    wrapper.__wrapped__ = fun
    return wrapper


# how transforms are called that are not of the form transform(f)(x)
_CALLS = {
    "scan": "scan(f, init, xs)", "map": "map(f, xs)", "while_loop": "while_loop(cond_fun, body_fun, init_val)",
    "fori_loop": "fori_loop(lower, upper, body_fun, init_val)", "jvp": "jvp(f, (x,), (tx,))", "vjp": "vjp(f, x)",
    "linearize": "linearize(f, x)", "linear_transpose": "linear_transpose(f, x)", "hvp": "hvp(f, (x,), (v,))",
}  # fmt: skip


def check_callable(transform: str, fun: Any) -> None:
    if callable(fun):
        return
    got = described(fun)
    if transform in _CALLS:
        raise errors.ArgumentError(
            f"{transform} takes a function here, got {got}", mend=f"the call is {_CALLS[transform]}"
        )
    raise errors.ArgumentError(
        f"{transform} takes a function as its first argument, got {got}",
        mend=f"write {transform}(f)(x) for a function f, not {transform}(f(x))",
    )


def check_arity(error: TypeError, transform: str, *calls: tuple[Any, str, int]) -> None:
    """Raise ArgumentError for Python's own error of a function that does not take the arguments that a transform calls
    it with; `calls` are the user's functions, how they are called, and with how many arguments."""
    text = str(error)
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if type(error) is not TypeError or "argument" not in text or traceback is None:
        return
    if errors.is_user_code(traceback.tb_frame):  # the user's code made the call
        return
    for fun, call, n in calls:
        name = getattr(fun, "__qualname__", name_of(fun))
        if text.startswith(f"{name}() ") and not _takes(fun, n):
            raise errors.ArgumentError(
                f"{transform}: {name_of(fun)} is called as {call}: {text.removeprefix(f'{name}() ')}",
                mend=f"define it with the arguments of {call}",
            ) from None


def called(transform: str, how: str, fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`fun(*args, **kwargs)`; a function that does not take these arguments is told of `how` it is called."""
    try:
        return fun(*args, **kwargs)
    except TypeError as error:
        check_arity(error, transform, (fun, how, len(args)))
        raise


def _takes(fun: Any, n: int) -> bool:
    """Whether a function takes n positional arguments, as far as its signature shows."""
    try:
        inspect.signature(fun).bind(*[None] * n)
    except TypeError:
        return False
    except ValueError:  # no signature to be had
        return False
    return True


def structure_text(treedef: tree.PyTreeDef) -> str:
    """A structure as messages show it, with * for each leaf."""
    text = repr(treedef).removeprefix("PyTreeDef(").removesuffix(")")
    return "* (one array or number)" if text == "*" else text


def parameter_names(fun: Any) -> tuple[str, ...]:
    """Names of a function's positional parameters, as far as they can be told without running it."""
    while hasattr(fun, "__wrapped__"):
        fun = fun.__wrapped__
    code = getattr(fun, "__code__", None)
    if code is None:
        method = getattr(fun, "__func__", None) or type(fun).__call__
        code = getattr(method, "__code__", None)
        if code is None:
            return ()
        return code.co_varnames[1 : code.co_argcount]
    skip = 1 if getattr(fun, "__self__", None) is not None else 0
    return code.co_varnames[skip : code.co_argcount]


def argument_name(fun: Any, k: int | str) -> str:
    """How a message calls the argument at position (or keyword) k."""
    if isinstance(k, str):
        return f"argument {k!r}"
    names = parameter_names(fun)
    return f"argument {names[k]!r}" if k < len(names) else f"argument {k}"


def leaf_names(fun: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> list[str]:
    """A name with its path for every leaf of (args, kwargs), in flattening order."""
    names = []
    for k, arg in enumerate(args):
        base = argument_name(fun, k)
        names += [base + tree.keystr(path) for path, _ in tree.leaves_with_path(arg)]
    for name in sorted(kwargs):
        names += [f"argument {name!r}" + tree.keystr(path) for path, _ in tree.leaves_with_path(kwargs[name])]
    return names


def dtype_name(dtype: np.dtype) -> str:
    """A dtype as messages show it."""
    return "float0" if dtype == float0 else str(dtype)


def described(x: Any) -> str:
    """What a value is, for messages: tracers are called by what they stand for."""
    if isinstance(x, Tracer):
        return f"a traced value ({x.aval!r})"
    if isinstance(x, ndarray):
        return f"an array of shape {x.shape} and dtype {x.dtype}"
    name = type(x).__name__
    return "None" if x is None else f"{'an' if name[0] in 'aeiouAEIO' and name != 'ufunc' else 'a'} {name}"


_INPUTS = "pass numbers or arrays of numbers, or trees of them; close over other values"
STATIC_INPUTS = "pass numbers or arrays of numbers; make other arguments static (static_argnums), or close over them"
_OUTPUTS = "return numbers or arrays of numbers, or trees of them"


def _mend_of(x: Any, otherwise: str) -> str:
    """What to do about a leaf that cannot be traced."""
    if hasattr(x, "toarray"):
        return "give the dense array, x.toarray(), or close over it"
    if hasattr(x, "to_numpy"):
        return "give x.to_numpy()"
    if otherwise is not _OUTPUTS:
        return otherwise
    if inspect.iscoroutine(x):
        x.close()  # or Python warns that it was never awaited
        return "give a plain function, without async"
    if inspect.isgenerator(x):
        return "return a tuple in place of yielding values"
    return otherwise


def as_value(x: Any, what: Callable[[], str], mend: str = _INPUTS) -> Any:
    """A leaf as a value that can be traced; `what` names it in the error otherwise."""
    t = type(x)
    if t is ndarray:
        if x.dtype.kind in "fciub" or x.dtype == float0:
            # NumPy computes faster on its scalars than on 0-d arrays
            return x if x.ndim or x.dtype == float0 else x[()]
    elif (
        t in PYTHON_SCALARS
        or t is bool
        or isinstance(x, Tracer)
        or (isinstance(x, np.generic) and x.dtype.kind in "fciub")
    ):
        return x
    elif isinstance(x, np.ma.MaskedArray):
        raise errors.DtypeError(
            f"{what()} is a masked array, whose mask would be lost",
            mend="pass x.filled(value) and the mask as separate arrays",
        )
    elif redefines_arithmetic(x):
        raise errors.DtypeError(
            f"{what()} is a {t.__name__}, whose operators are not those of arrays", mend="pass np.asarray(x)"
        )
    elif isinstance(x, ndarray) and x.dtype.kind in "fciub":
        return np.asarray(x)
    elif hasattr(x, "__array__") and not isinstance(x, np.generic | type):
        return as_value(np.asarray(x), what, mend)
    raise errors.DtypeError(f"{what()} is {described(x)}, which cannot be traced", mend=_mend_of(x, mend))


def as_output(x: Any, what: Callable[[], str]) -> Any:
    """A leaf that a user's function returned as a value that can be traced."""
    return as_value(x, what, _OUTPUTS)


def own_copy(x: Any) -> Any:
    """A value that the user cannot change later."""
    return x.copy() if type(x) is ndarray else x


def fresh_outputs(outs: list[Any], inputs: Iterable[Any] = (), *, always: bool = False) -> list[Any]:
    """Outputs as a transform returns them: plain arrays are writeable and share memory with nothing else."""
    seen = {id(x) for x in inputs}
    result = []
    for x in outs:
        if type(x) is ndarray:
            if always or x.base is not None or id(x) in seen or not x.flags.writeable:
                x = x.copy()
            else:
                seen.add(id(x))
            if x.ndim == 0 and x.dtype != float0:
                x = x[()]
        result.append(x)
    return result


def unshared(out: Any, operands: Any) -> Any:
    """What a user's function returned when it was run as plain Python: its arrays are copied where they share memory
    with the operands or with each other."""
    leaves, treedef = tree.flatten(out)
    if not any(type(x) is ndarray for x in leaves):
        return out
    return treedef.unflatten(fresh_outputs(leaves, tree.leaves(operands)))


def enter(trace: Any, guard: Any, x: Any) -> Any:
    """A differentiated input: boxed, with its value safe from later mutation."""
    if type(x) is ndarray:
        x = x.copy() if x.nbytes <= SMALL or not guard.protect or x.base is not None else guard.hold(x)
    return trace.input(x)


def zero_tangent(x: Any) -> Any:
    """The zero tangent that goes with a primal: float0 for integers and booleans."""
    dtype = dtype_of(x)
    if not is_inexact(dtype):
        return np.zeros(shape_of(x), float0)
    return zeros_like(x)


def is_float0(x: Any) -> bool:
    return type(x) is ndarray and x.dtype == float0


def as_gradient(g: Any, x: Any) -> Any:
    """A cotangent as the gradient with respect to x: its dtype and shape, zeros where there is none."""
    if g is None:
        return zeros_like(x)
    g = cast(g, dtype_of(x))
    return np.float64(g) if type(g) is float else np.complex128(g) if type(g) is complex else g


def one_like(x: Any) -> Any:
    """The seed of a scalar output's gradient."""
    return 1.0 if type(x) is float else dtype_of(x).type(1)


def check_tangent(t: Any, primal: Any, what: Callable[[], str], of: str = "its primal") -> Any:
    """A tangent (or cotangent) that fits its primal, None if it is zero; errors name it, and what it belongs to."""
    dtype, shape = dtype_of(primal), shape_of(primal)
    if t is None or is_float0(t):
        if t is not None and is_inexact(dtype):
            raise errors.DtypeError(
                f"{what()} has dtype float0, {of} has dtype {dtype}",
                mend="float0 belongs to integer and boolean primals; pass zeros of the primal's dtype",
            )
        if t is not None and t.shape != shape:
            raise errors.ShapeError(f"{what()} has shape {t.shape}, {of} {shape}", mend="give both one shape")
        return None
    t = as_value(t, what)
    if shape_of(t) != shape:
        raise errors.ShapeError(
            f"{what()} has shape {shape_of(t)}, {of} has shape {shape}", mend="give both the same shape"
        )
    own = dtype_of(t)
    if not is_inexact(dtype):
        if not isinstance(t, Tracer) and not np.any(t):
            return None
        raise errors.DtypeError(
            f"{what()} is not zero, and {of} has dtype {dtype}, which has no derivative",
            mend="pass None or np.zeros(shape, autodidax.float0), or convert the value to float",
        )
    if own.kind == "c" and dtype.kind != "c":
        raise errors.DtypeError(
            f"{what()} has dtype {own}, {of} has dtype {dtype}", mend="pass its real part, or make both complex"
        )
    if type(primal) is float and type(t) in (int, float, np.float64):
        return float(t)
    return own_copy(cast(t, dtype))
