"""Conversions of traced values to Python's and NumPy's own: which are possible, and what the others say."""

from __future__ import annotations

from typing import Any, NoReturn

from autodidax import errors
from autodidax.core import interpreters
from autodidax.core.interpreters import Trace, Tracer, innermost_staging, is_ended, peel
from autodidax.numpy import callers
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
        raise errors.UnexpectedTracerError(
            f"a value traced by {x._trace.transform} of {x._trace.fun_name} was used after that transform had ended",
            mend=f"return the value from {x._trace.fun_name} (use has_aux=True for extras) instead of storing it",
        )


def concrete(x: Tracer) -> Any:
    """The plain value under jvp and reverse mode, or the tracer below them whose value is not known.

    While a program is being staged, the value of an enclosing transform counts as not known: it is an operand of the
    program, which may run again with another value.
    """
    refuse_ended(x)
    if interpreters.stagings_open and innermost_staging(x._trace.level) is not None:
        return x
    return peel(x)


def argument_of(x: Tracer) -> str | None:
    """The name of the argument that a value of a staged program is, or is computed from alone."""
    if not isinstance(x, StageTracer):
        return None
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
    return " and ".join(sorted(found)) if found else None


def _where_from(x: Tracer) -> tuple[str, Trace]:
    """How a message names a value, and the trace on account of which its value is not known."""
    refuse_ended(x)
    staging = innermost_staging(x._trace.level) if interpreters.stagings_open else None
    below = peel(x)
    trace = staging or (below._trace if isinstance(below, Tracer) else x._trace)
    name = argument_of(below if isinstance(below, Tracer) else x)
    of = f", which depends on {name} of {trace.fun_name}," if name else ""
    return f"a traced value ({x.aval!r}){of}", trace


def refuse_bool(x: Tracer) -> NoReturn:
    what, trace = _where_from(x)
    raise errors.TracerBoolConversionError(
        f"the truth value of {what} is not known under {trace.describe()}",
        mend="use where(condition, a, b), or lax.cond for branches that must not both run; if the argument is the "
        "same for many calls, make it static (static_argnums) under jit",
    )


def refuse_python(x: Tracer, kind: str) -> NoReturn:
    what, trace = _where_from(x)
    name, listed = callers.caller()
    if name is not None:
        mend = callers.mend_for(name, listed)
    else:
        mend = (
            f"leave {kind}() and functions of math and statistics away, and use those of autodidax.numpy or numpy; "
            "write into a plain array with anp.at(a)[i].set(x); stop_gradient and has_aux=True bring plain values out"
        )
    raise errors.ConcretizationTypeError(
        f"{_by(name)}{what} under {trace.describe()} cannot become a Python {kind}: its derivative would be lost",
        mend=mend,
    )


def _by(name: str | None) -> str:
    return "" if name is None else f"{name}: "


def _indexing_mend() -> str:
    array, index, axes = callers.indexed_array() or ("table", "i", 1)
    take = f"anp.take({array}, {index}) or " if axes == 1 else ""
    return f"index a plain array with {take}anp.at({array})[{index}].get()"


def refuse_integer(x: Tracer) -> NoReturn:
    what, trace = _where_from(x)
    raise errors.TracerIntegerConversionError(
        f"{what} under {trace.describe()} cannot become a Python integer",
        mend=f"{_indexing_mend()}; make sizes and counts of loops static (static_argnums), or close over them",
    )


def refuse_array(x: Tracer) -> NoReturn:
    what, trace = _where_from(x)
    name, listed = callers.caller()
    indexing = name is None and callers.indexed_array() is not None
    if name is not None:
        mend = callers.mend_for(name, listed)
    elif indexing or x.dtype.kind in "iu":
        mend = (
            f"{_indexing_mend()}, and write into one with anp.at(a)[i].set(x); elsewhere call the function of "
            "autodidax.numpy (as anp), e.g. anp.array([x, y])"
        )
    else:
        mend = (
            "call the function of autodidax.numpy (as anp) with the same name, e.g. anp.array([x, y]), anp.full, "
            "anp.asarray, anp.dot(a, x) for a.dot(x), A.toarray() @ x for a sparse A; write into a plain array with "
            "anp.at(a)[i].set(x)"
        )
    if indexing:
        what = f"the index of a plain array: {what}"
    raise errors.TracerArrayConversionError(
        f"{_by(name)}{what} under {trace.describe()} cannot become a plain NumPy array"
        + ("" if x.dtype.kind in "iub" else ": its derivative would be lost"),
        mend=mend,
    )
