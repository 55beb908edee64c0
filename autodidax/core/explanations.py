"""What the errors of Python, NumPy and SciPy mean where it was a traced value that met them."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from autodidax import errors


class MissingAttributeError(errors.UnsupportedError, AttributeError):
    """An attribute that traced values, or the plain arrays beside them, do not have."""


class LinearAlgebraError(errors.AutodidaxError, np.linalg.LinAlgError):
    """A matrix that has no such inverse, factorization or solution."""


class IntegerRangeError(errors.DtypeError, OverflowError):
    """A Python integer that the dtype beside it does not hold."""


_AT = "write anp.at(a)[i].set(v), with autodidax.numpy as anp, which takes plain and traced arrays"
_SHAPE_WORDS = ("shape", "dimension", "axis", "axes", "size", "broadcast", "array")
# for errors of NumPy about shapes: part of the text, what to do
_SHAPE_MENDS = {
    "could not broadcast": "add axes of size 1, or give a shape that ends with that of the array",
    "could not be broadcast": "transpose one operand, or add an axis of size 1",
    "must match exactly": "bring the arrays to one size in all axes but the one that is joined",
    "must have the same shape": "bring the arrays to one shape",
    "must have same number of dimensions": "bring the arrays to one rank, e.g. with x[None]",
    "zero-dimensional arrays": "use np.stack for numbers alone, np.atleast_1d(x) for a number among vectors",
    "cannot reshape": "give sizes whose product is the size of the array, or -1 for one of them",
    "zero-size array": "give initial=, or leave empty arrays out",
}
_LINALG_MENDS = {
    "square": "give an array of shape (..., n, n); np.linalg.lstsq and pinv take rectangles",
    "Singular": "use np.linalg.lstsq or pinv, or add a small multiple of the identity: a + 1e-6 * np.eye(n)",
    "positive definite": "give a symmetric positive definite matrix, e.g. a @ a.T + 1e-6 * np.eye(n)",
}
_ELSEWHERE = "a plain value: stop_gradient(x) under grad, pure_callback or debug.callback under jit and vmap"


def explanation(error: BaseException, holds_arrays: bool) -> errors.AutodidaxError | None:
    """The package's own error for one of Python's or NumPy's that a traced value caused; None where there is none.
    `holds_arrays`: whether an open transform write-protects arrays of the user's."""
    kind = type(error)
    if isinstance(error, ValueError) and isinstance(error.__cause__, errors.ConcretizationTypeError):
        if error.__cause__.called is not None:  # a call such as np.sum(a, initial=x), not an assignment
            return error.__cause__
        written = error.__cause__.mend or ""
        if "anp.at(" not in written:
            written = "write a = anp.at(a)[i].set(x), with autodidax.numpy as anp"
        return errors.MutationError(
            "a traced value cannot be written into a plain array: its derivative would be lost",
            where=error.__cause__.where,
            mend=f"{written}; or collect values with anp.array([x, y])",
        )
    explain = _BY_TYPE.get(kind)
    return None if explain is None else explain(error, str(error), holds_arrays)


def _mend(table: dict[str, str], text: str, otherwise: str) -> str:
    return next((mend for words, mend in table.items() if words in text), otherwise)


def _of_value_error(error: BaseException, text: str, holds_arrays: bool) -> errors.AutodidaxError | None:
    where = errors.user_frame_of(error) or ""
    if holds_arrays and "read-only" in text:
        return errors.MutationError(
            f"a write into an array that the open transform keeps for its backward pass ({text})",
            where=where,
            mend="write y = y + 1 in place of y += 1, or keep a copy: y = y.copy() before the first use",
        )
    if text == "Error setting single item of array.":  # a.flat[0] = x
        return errors.MutationError(
            "a traced value cannot be written into a plain array: its derivative would be lost",
            where=where,
            mend="write a = anp.at(a.ravel())[i].set(x).reshape(a.shape), with autodidax.numpy as anp",
        )
    name = errors.own_function_of(error)
    if name is None:
        return None
    shapes = any(word in text for word in _SHAPE_WORDS)
    check = f"check the {'shapes and axes' if shapes else 'arguments'} against what numpy.{name} takes"
    cls = errors.ShapeError if shapes else errors.ArgumentError
    return cls(f"{name}: {text.strip()}", where=where, mend=_mend(_SHAPE_MENDS, text, check))


def _of_linalg_error(error: BaseException, text: str, holds_arrays: bool) -> errors.AutodidaxError | None:
    name = errors.own_function_of(error)
    return LinearAlgebraError(
        f"{name}: {text}" if name else text,
        where=errors.user_frame_of(error) or "",
        mend=_mend(_LINALG_MENDS, text, "check the matrix, with np.linalg.cond and np.linalg.matrix_rank"),
    )


def _of_type_error(error: BaseException, text: str, holds_arrays: bool) -> errors.AutodidaxError | None:
    where = errors.user_frame_of(error) or ""
    if "Traced<" in text and "integer" in text:
        value = re.search(r"Traced<(.*?)> by ([^']*)", text)
        shown = f"a traced value ({value[1]})" if value else "a traced value"
        return errors.TracerIntegerConversionError(
            f"{errors.called_by(error)}{shown} was used as a size or a shape, which must be known",
            where=where,
            mend="make it static (static_argnums under jit, functools.partial before eval_shape), or take it from a "
            "shape, as x.shape[0]",
        )
    attribute = errors.called_by(error, any_function=True).removesuffix(": ")
    if "object is not callable" in text and attribute.rpartition(".")[2] in ("shape", "size", "ndim"):
        axis = "[i]" if attribute.endswith("shape") else ""
        return errors.ArgumentError(
            f"{attribute} of an array is no method", where=where, mend=f"write {attribute}{axis}, without a call"
        )
    if "'Traced' object is not callable" in text:
        return errors.ArgumentError(
            f"{errors.called_by(error)}a traced value was called like a function",
            where=where,
            mend="write x[i] for an entry, x * y for a product; close over functions, or make them static arguments",
        )
    if "Traced" in text:
        return errors.ConcretizationTypeError(
            f"{errors.called_by(error, any_function=True)}a traced value was given to what takes plain values alone: "
            f"{text}",
            where=where,
            mend="draw random numbers outside of the transformed function, from a plain seed, and give it the numbers"
            if "SeedSequence" in text
            else f"give it {_ELSEWHERE}",
        )
    ufunc = re.search(r"ufunc '(\w+)' not supported for the input types", text)
    if ufunc is not None:
        return errors.DtypeError(
            f"{ufunc[1]} does not take the dtypes of its operands", where=where, mend=dtype_mend(ufunc[1])
        )
    operands = re.match(r"unsupported operand type\(s\) for (\S+): '(\w+)' and '(\w+)'", text)
    if operands is not None and operands[1] in ("<<", ">>", "&", "|", "^"):
        return errors.DtypeError(
            f"{operands[1]} does not take {operands[2]} and {operands[3]}", where=where, mend=dtype_mend("bitwise_and")
        )
    of_tree = re.match(r"loop of ufunc does not support argument \d of type (\w+) which has no callable (\w+)", text)
    if of_tree is not None:
        return errors.DtypeError(
            f"{of_tree[2]} takes arrays, it was given a {of_tree[1]}",
            where=where,
            mend=f"apply it to every leaf: autodidax.tree.map(np.{of_tree[2]}, x)",
        )
    return None


def dtype_mend(name: str, *dtypes: np.dtype) -> str:
    """What to do where an operation does not take the dtypes of its operands, as far as they are known."""
    kinds = {d.kind for d in dtypes}
    if kinds == {"b"}:
        return "booleans are combined with &, | and ^: write x ^ y, or convert with astype(int)"
    if name.startswith(("and", "or", "xor", "not", "shift", "bitwise", "invert", "left_shift", "right_shift")):
        return "bits are those of integers and booleans: compare first, (x > 0) & (y > 0), or convert with astype(int)"
    if kinds and "c" not in kinds:
        return "convert one with astype"
    return "apply it to np.real(z) and np.imag(z) where operands are complex, else convert them with astype"


def _of_overflow_error(error: BaseException, text: str, holds_arrays: bool) -> errors.AutodidaxError | None:
    found = re.fullmatch(r"Python integer (-?\d+) out of bounds for (\w+)", text)
    if found is None:
        return None
    return IntegerRangeError(
        f"the Python integer {found[1]} stands beside a value of dtype {found[2]}, which does not hold it",
        where=errors.user_frame_of(error) or "",
        mend="convert the value first, e.g. with astype(np.int64)",
    )


def _of_attribute_error(error: BaseException, text: str, holds_arrays: bool) -> errors.AutodidaxError | None:
    if "'Traced' object" in text:  # of an assignment: a question for an attribute has an answer of the package's own
        return errors.MutationError(
            f"{errors.called_by(error)}an attribute of a traced value cannot be assigned or deleted ({text})",
            where=errors.user_frame_of(error) or "",
            mend="give the name a new value, x = ..., or keep what belongs to it beside it: return (x, extra)",
        )
    if text != "'numpy.ndarray' object has no attribute 'at'":
        return None
    return MissingAttributeError(
        "a plain array has no attribute 'at'", where=errors.user_frame_of(error) or "", mend=_AT
    )


_BY_TYPE: dict[type[BaseException], Callable[[BaseException, str, bool], errors.AutodidaxError | None]] = {
    ValueError: _of_value_error, TypeError: _of_type_error, AttributeError: _of_attribute_error,
    OverflowError: _of_overflow_error, np.linalg.LinAlgError: _of_linalg_error,
}  # fmt: skip
