"""Conversions of traced values to Python's and NumPy's own: which are possible, and what the others say."""

from __future__ import annotations

from typing import Any, NoReturn

from autodidax import errors
from autodidax.core import interpreters
from autodidax.core.interpreters import Trace, Tracer, innermost_staging, is_ended, leaked, peel
from autodidax.numpy import callers, mends
from autodidax.transforms.stage import StageTracer


def describe(x: Any) -> str:
    """A traced value as messages and repr show it: `Traced<f64[3]> by grad of loss`; never fails."""
    try:
        return f"Traced<{x.aval!r}> by {x._trace.describe()}"
    except Exception:  # a repr has to work in a debugger, whatever state the value is in
        return "Traced<?>"


def refuse_ended(x: Tracer) -> None:
    """Raise UnexpectedTracerError for a value that is used after its transform has returned."""
    if is_ended(x._trace):
        raise leaked(x._trace)


def concrete(x: Tracer) -> Any:
    """The plain value under jvp and reverse mode, or the tracer below them whose value is not known.

    While a program is being staged, the value of an enclosing transform counts as not known: it is an operand of the
    program, which may run again with another value.
    """
    refuse_ended(x)
    if interpreters.stagings_open and innermost_staging(x._trace.level) is not None:
        return x
    return peel(x)


def known_value(x: Any) -> Any:
    """The plain value of an operand, None where it is not known."""
    value = concrete(x) if isinstance(x, Tracer) else x
    return None if isinstance(value, Tracer) else value


def arguments_of(x: Any) -> list[str]:
    """The names of the arguments that a value of a staged program is, or is computed from alone."""
    if not isinstance(x, StageTracer):
        return []
    trace = x._trace
    names = dict(zip(trace.inputs, trace.arg_names, strict=False))
    made_by = {v: eqn for eqn in trace.eqns for v in eqn.outvars}
    found: set[str] = set()
    todo, seen = [x.node], set()
    while todo:
        v = todo.pop()
        if v in seen:
            continue
        seen.add(v)
        if v in names:
            found.add(names[v])
        elif v in made_by:
            todo += [a for a in made_by[v].invars if hasattr(a, "aval") and not hasattr(a, "val")]
    return sorted(found)


def _where_from(x: Tracer) -> tuple[str, Trace, str | None]:
    """How a message names a value, the trace on account of which its value is not known, and how to make the argument
    that it comes from a static one (None where that is no way)."""
    refuse_ended(x)
    staging = innermost_staging(x._trace.level) if interpreters.stagings_open else None
    below = peel(x)
    trace = staging or (below._trace if isinstance(below, Tracer) else x._trace)
    names = arguments_of(below if isinstance(below, Tracer) else x)
    of = f", which depends on {' and '.join(names)} of {trace.fun_name}," if names else ""
    return f"a traced value ({x.aval!r}){of}", trace, _static(trace, names)


def _static(trace: Any, names: list[str]) -> str | None:
    if trace.transform not in ("jit", "checkpoint", "make_jaxpr", "eval_shape") or len(names) != 1:
        return None
    argument = names[0].removeprefix("argument ")
    avals = [v.aval for v, name in zip(trace.inputs, trace.arg_names, strict=False) if name == names[0]]
    if "[" in argument or not argument.startswith("'") or avals[0].shape or avals[0].dtype.kind not in "bi":
        return None
    if trace.transform == "checkpoint":
        return f"make {argument} static (static_argnums)"
    fun = trace.fun_name if trace.fun_name.isidentifier() else "f"
    if trace.transform == "eval_shape":
        return f"fix {argument}: eval_shape(functools.partial({fun}, {argument[1:-1]}=...), ...)"
    return f"make {argument} static: {trace.transform}({fun}, static_argnames={argument})"


def refuse_bool(x: Tracer) -> NoReturn:
    what, trace, static = _where_from(x)
    raise errors.TracerBoolConversionError(
        f"the truth value of {what} is not known under {trace.describe()}",
        mend=mends.for_truth(static, x.shape, boolean=x.dtype.kind == "b"),
    )


def refuse_python(x: Tracer, kind: str) -> NoReturn:
    what, trace, _ = _where_from(x)
    name, listed = callers.caller()
    if name is not None:
        by, mend = f"{name}: ", callers.mend_for(name, listed, _is_known(x))
    elif callers.writes(callers.frames()[0]):  # a[i] = x: NumPy asks for the number
        by, mend = "", mends.for_write("a")
    else:
        by, mend = mends.for_python(kind, _is_known(x))
    raise errors.ConcretizationTypeError(
        f"{by}{what} cannot become a Python {kind} under {trace.describe()}: {_loss(x)}", mend=mend
    )


def _is_known(x: Tracer) -> bool:
    """Whether a value exists, though it must not become a plain one."""
    return not isinstance(concrete(x), Tracer)


def _loss(x: Tracer) -> str:
    return "its derivative would be lost" if _is_known(x) else "it has no value yet"


def refuse_hash(x: Tracer) -> NoReturn:
    static, unknown_integer = None, False
    if not is_ended(x._trace):
        _, _, static = _where_from(x)
        unknown_integer = x.dtype.kind in "iu" and not x.shape and not _is_known(x)
    raise errors.ConcretizationTypeError(
        f"{describe(x)} has no hash: as a key of a dict or an entry of a set it would be told apart from its value",
        mend=mends.for_key(unknown_integer, static),
    )


def refuse_integer(x: Tracer) -> NoReturn:
    what, trace, static = _where_from(x)
    by, mend = mends.for_integer(static, _is_known(x))
    raise errors.TracerIntegerConversionError(
        f"{by}{what} cannot become a Python integer under {trace.describe()}", mend=mend
    )


def refuse_array(x: Tracer) -> NoReturn:
    what, trace, static = _where_from(x)
    name, listed = callers.caller()
    place = callers.indexed_array() if name is None else None
    under = f"under {trace.describe()}"
    if name is not None:
        mend = callers.mend_for(name, listed, _is_known(x))
        if not _is_known(x) and name in callers.SIZES:
            mend = callers.SIZES[name] + (f"; or {static}" if static is not None else "")
    elif place is not None:
        array, index, axes = place
        if x.dtype.kind == "b":
            raise errors.NonConcreteBooleanIndexError(
                f"the mask of a plain array: {what} is not known {under}, and the size of the result depends on it",
                mend=f"select with np.where({index}, {array}, 0.0), which keeps the shape",
            )
        take = f"anp.take({array}, {index}) or " if axes == 1 else ""
        raise errors.TracerArrayConversionError(
            f"the index of a plain array: {what} cannot become a plain NumPy array {under}",
            mend=f"write {take}anp.at({array})[{index}].get(), with autodidax.numpy as anp",
        )
    elif callers.writes(callers.frames()[0]):
        raise errors.MutationError(
            f"{what} cannot take part in a write into a plain array {under}: {_loss(x)}",
            mend=mends.for_write("a", masked=x.dtype.kind == "b"),
        )
    else:
        mend = (
            "call the function of autodidax.numpy (as anp) with the same name, e.g. anp.array([x, y]); "
            "where there is none, give it stop_gradient(x) or a plain value"
        )
    by = "" if name is None else f"{name}: "
    raise errors.TracerArrayConversionError(
        f"{by}{what} cannot become a plain NumPy array {under}: {_loss(x)}", mend=mend
    )
