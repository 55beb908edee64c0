"""primitive_from: a primitive of somebody's NumPy function, with rules written in this package's operations."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import ShapedArray, is_inexact
from autodidax.core.interpreters import Tracer, dtype_of, get_aval, shape_of
from autodidax.core.primitive import Primitive, Sample
from autodidax.primitives.shape import reduce_sum
from autodidax.transforms.backward import fit_ct, transpose_record
from autodidax.transforms.boundary import as_output, called, check_callable, described, is_float0, name_of, zero_tangent
from autodidax.transforms.calls import spread
from autodidax.transforms.custom_calls import by_rows
from autodidax.transforms.host_functions import (
    Rows,
    checked_result,
    declared_avals,
    over_rows,
    row_avals,
    sizes_of,
    vectorized,
    with_rows,
)
from autodidax.transforms.reverse import LinearTrace

METHODS = ("loop", "expand_dims", "broadcast_all")
_NOT_TRACEABLE = (errors.NotLinearError, errors.ConcretizationTypeError, errors.TracerArrayConversionError)


class FromFunction(Primitive):
    """A primitive made by `primitive_from`. Its rules see one row: the batch axes of vmap are kept in `_rows`."""

    def __init__(
        self, name: str, fun: Callable[..., Any], *, jvp: Any, vjp: Any, vmap: Any, avals: Any, multiple_results: bool,
        samples: Any, module: str, register: bool,
    ):  # fmt: skip
        super().__init__(name, module=module, register=register)
        self.fun = fun
        self.__name__ = name
        self.__doc__ = fun.__doc__
        self.multiple_results = multiple_results
        self.method = vmap
        self._jvp, self._vjp = jvp, vjp
        self._declared = avals
        self._samples = samples
        self._avals: dict[Any, list[ShapedArray]] = {}
        if jvp is None and vjp is None:
            self.nondifferentiable = "primitive_from was given neither jvp= nor vjp= for it"
        else:
            self.vjp = self._pull

    def __call__(self, *args: Any, **params: Any) -> Any:
        for name, value in params.items():
            if isinstance(value, Tracer):
                raise errors.ArgumentError(
                    f"{self.name}: the keyword argument {name!r} is {described(value)}",
                    mend="pass arrays by position: keyword arguments are static parameters",
                )
        return super().__call__(*args, **params)

    bind = __call__

    # values and avals

    def impl(self, *args: Any, _rows: Rows = (), **params: Any) -> Any:
        if _rows and self.method != "loop":
            expected = self._result_avals(row_avals([get_aval(a) for a in args], _rows), params)
            outs = self._results(self.fun(*vectorized(args, _rows, self.method), **params), expected, sizes_of(_rows))
        else:
            expect = lambda: self._result_avals(row_avals([get_aval(a) for a in args], _rows), params)
            outs = over_rows(self.name, lambda *row: self._run(row, params), args, _rows, expect)
        return outs if self.multiple_results else outs[0]

    def _run(self, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        if self._declared is not None:
            expected: Any = self._result_avals([get_aval(a) for a in args], params)
        else:
            expected = self._avals.get(_signature([get_aval(a) for a in args], params)) if self._avals else None
        return self._results(self.fun(*args, **params), expected)

    def _results(self, out: Any, expected: Sequence[ShapedArray] | None, lead: tuple[int, ...] = ()) -> list[Any]:
        """The function's results as arrays of their own."""
        if self.multiple_results != isinstance(out, tuple | list):
            raise errors.TreeError(
                f"{self.name} returned {described(out)}, with multiple_results={self.multiple_results}",
                mend="return one array, or a tuple or list of arrays with multiple_results=True",
            )
        outs = list(out) if self.multiple_results else [out]
        if expected is None:
            return [np.array(as_output(x, lambda: f"a result of {self.name}"))[()] for x in outs]
        if len(outs) != len(expected):
            raise errors.TreeError(
                f"{self.name} returned {len(outs)} results, {len(expected)} were expected",
                mend="return as many results for all arguments, and declare as many",
            )
        return [
            checked_result(f"{self.name}: result {k}", x, a.update(shape=(*lead, *a.shape)))
            for k, (x, a) in enumerate(zip(outs, expected, strict=True))
        ]

    def abstract_eval(self, *avals: ShapedArray, _rows: Rows = (), **params: Any) -> Any:
        lead = sizes_of(_rows)
        outs = [a.update(shape=(*lead, *a.shape)) for a in self._result_avals(row_avals(avals, _rows), params)]
        return outs if self.multiple_results else outs[0]

    def _result_avals(self, avals: Sequence[ShapedArray], params: dict[str, Any]) -> list[ShapedArray]:
        """The results' avals from those of one row: as declared, or found by a run on zeros."""
        if self._declared is not None:
            declared = self._declared(*avals, **params) if callable(self._declared) else self._declared
            outs, _ = declared_avals(self.name, declared)
            if len(outs) != 1 and not self.multiple_results:
                raise errors.ArgumentError(
                    f"{self.name}: {len(outs)} results are declared",
                    mend="declare one, or give multiple_results=True",
                )
            return outs
        key = _signature(avals, params)
        found = self._avals.get(key)
        if found is None:
            found = self._probe(avals, params)
            if key is not None:
                self._avals[key] = found
        return found

    def _probe(self, avals: Sequence[ShapedArray], params: dict[str, Any]) -> list[ShapedArray]:
        zeros = [a.dtype.type(0).item() if a.weak_type else np.zeros(a.shape, a.dtype)[()] for a in avals]
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outs = self._results(self.fun(*zeros, **params), None)
        except errors.TreeError:
            raise
        except Exception as e:  # whatever the user's function raises
            raise errors.ArgumentError(
                f"{self.name}: the shape of its result was to be found by a run on zeros of {list(avals)}, which "
                f"raised {type(e).__name__}: {e}",
                mend="give primitive_from result_shape_dtypes= or abstract_eval=",
            ) from e
        return [ShapedArray(shape_of(x), dtype_of(x)) for x in outs]

    # vmap

    def batch(self, args: Any, dims: Any, _rows: Rows = (), **params: Any) -> Any:
        if callable(self.method):
            return self.method(args, dims, **params)
        size = next(shape_of(a)[0] for a, d in zip(args, dims, strict=True) if d is not None)
        out = self.bind(*args, _rows=with_rows(_rows, size, dims), **params)
        return out, (0,) * len(out) if self.multiple_results else 0

    # derivatives

    def jvp(self, out: Any, primals: Any, tangents: Any, _rows: Rows = (), **params: Any) -> Any:
        outs = list(out) if self.multiple_results else [out]
        ts = self._push_rows(outs, primals, tangents, _rows, params)
        return ts if self.multiple_results else ts[0]

    def _push_rows(self, outs: Any, primals: Any, tangents: Any, rows: Rows, params: dict[str, Any]) -> list[Any]:
        if not rows:
            return self._pushed(outs, primals, tangents, params)
        (size, flags), m, n = rows[0], len(outs), len(primals)
        own = [0 if on else None for on in flags]

        def row(*values: Any) -> list[Any]:
            return self._push_rows(values[:m], values[m : m + n], values[m + n :], rows[1:], params)

        return by_rows(row, size, None, [0] * m + own + own)(*outs, *primals, *tangents)

    def _pushed(self, outs: Any, primals: Any, tangents: Any, params: dict[str, Any]) -> list[Any]:
        """Tangents of the results (None: zero) by the rule, or by the transpose of vjp."""
        if self._jvp is None:
            return self._transposed_vjp(outs, primals, tangents, params)
        ts = [zero_tangent(x) if t is None else t for x, t in zip(primals, tangents, strict=True)]
        values = self._out(outs), tuple(primals), tuple(ts)
        result = called(self.name, "jvp(out, primals, tangents)", self._jvp, *values, **params)
        found = self._listed("jvp", result, len(outs)) if self.multiple_results else [result]
        return [None if t is None or is_float0(t) else self._tangent(t, o) for t, o in zip(found, outs, strict=True)]

    def _tangent(self, t: Any, out: Any) -> Any:
        t = as_output(t, lambda: f"{self.name}: the tangent that its jvp returned")
        if shape_of(t) != shape_of(out):
            raise errors.ShapeError(
                f"{self.name}: its jvp returned a tangent of shape {shape_of(t)} for a result of shape {shape_of(out)}",
                mend="return a tangent of the result's shape from the function that was given as jvp=",
            )
        return fit_ct(t, shape_of(out), dtype_of(out))

    def _pull(self, ct: Any, out: Any, primals: Any, active: Any, _rows: Rows = (), **params: Any) -> list[Any]:
        cts, outs = (list(ct), list(out)) if self.multiple_results else ([ct], [out])
        return self._pull_rows(cts, outs, primals, active, _rows, params)

    def _pull_rows(
        self, cts: Any, outs: Any, primals: Any, active: Any, rows: Rows, params: dict[str, Any]
    ) -> list[Any]:
        if not rows:
            return self._pulled(cts, outs, primals, active, params)
        (size, flags), m = rows[0], len(outs)

        def row(*values: Any) -> list[Any]:
            return self._pull_rows(values[:m], values[m : 2 * m], values[2 * m :], active, rows[1:], params)

        dims = [0] * (2 * m) + [0 if on else None for on in flags]
        gs = by_rows(row, size, None, dims)(*cts, *outs, *primals)
        return [g if g is None or on else reduce_sum(g, axes=(0,)) for g, on in zip(gs, flags, strict=True)]

    def _pulled(self, cts: Any, outs: Any, primals: Any, active: Any, params: dict[str, Any]) -> list[Any]:
        """Cotangents of the operands (None: zero) by the rule, or by the transpose of jvp."""
        if self._vjp is None:
            return self._transposed_jvp(cts, outs, primals, active, params)
        cts = [zero_tangent(o) if c is None else c for c, o in zip(cts, outs, strict=True)]
        values = self._out(cts), self._out(outs), tuple(primals)
        result = called(self.name, "vjp(ct, out, primals)", self._vjp, *values, **params)
        gs = self._listed("vjp", result, len(primals))
        shapes = {shape_of(o) for o in outs}
        return [
            None if g is None or not on or is_float0(g) else self._ct(g, k, x, shapes)
            for k, (g, x, on) in enumerate(zip(gs, primals, active, strict=True))
        ]

    def _ct(self, g: Any, k: int, x: Any, out_shapes: set[tuple[int, ...]]) -> Any:
        """The cotangent of operand k. One of a result's shape is summed over the axes along which the operand was
        broadcast."""
        g = as_output(g, lambda: f"{self.name}: the cotangent that its vjp returned")
        shape, own = shape_of(x), shape_of(g)
        if own != shape and not (own in out_shapes and _broadcasts(shape, own)):
            raise errors.ShapeError(
                f"{self.name}: its vjp returned a cotangent of shape {own} for operand {k}, which has shape {shape}",
                mend="return a cotangent of the operand's shape from the function that was given as vjp=",
            )
        return fit_ct(g, shape, dtype_of(x))

    def _out(self, outs: Sequence[Any]) -> Any:
        return list(outs) if self.multiple_results else outs[0]

    def _listed(self, rule: str, result: Any, count: int) -> list[Any]:
        if not isinstance(result, tuple | list) or len(result) != count:
            got = f"{len(result)} values" if isinstance(result, tuple | list) else described(result)
            wanted = f"one entry for each {'operand' if rule == 'vjp' else 'result'}, here {count}"
            raise errors.TreeError(
                f"{self.name}: its {rule} must return a list with {wanted}, it returned {got}",
                mend=f"return a list from the function that was given as {rule}=, with None for zeros",
            )
        return list(result)

    def _transposed_vjp(self, outs: Any, primals: Any, tangents: Any, params: dict[str, Any]) -> list[Any]:
        on = [is_inexact(dtype_of(o)) for o in outs]
        active = [t is not None for t in tangents]
        with LinearTrace("the transpose of vjp", self.name, affine=True) as linear:
            cts = [linear.input(o) if f else None for o, f in zip(outs, on, strict=True)]
            try:
                gs = self._pulled(cts, outs, primals, active, params)
            except _NOT_TRACEABLE as e:
                raise self._no_transpose("forward", "vjp", "cotangent", "jvp", e) from e
            tape = linear.tape
        pairs = [(g, t) for g, t in zip(gs, tangents, strict=True) if t is not None and g is not None]
        return spread(transpose_record(linear, tape, sum(on), pairs), on)

    def _transposed_jvp(self, cts: Any, outs: Any, primals: Any, active: Any, params: dict[str, Any]) -> list[Any]:
        with LinearTrace("the transpose of jvp", self.name, affine=True) as linear:
            tangents = [linear.input(x) if on else None for x, on in zip(primals, active, strict=True)]
            try:
                ts = self._pushed(outs, primals, tangents, params)
            except _NOT_TRACEABLE as e:
                raise self._no_transpose("reverse", "jvp", "tangents", "vjp", e) from e
            tape = linear.tape
        return spread(transpose_record(linear, tape, sum(active), zip(ts, cts, strict=True)), active)

    def _no_transpose(self, mode: str, given: str, what: str, wanted: str, error: Exception) -> errors.NotLinearError:
        return errors.NotLinearError(
            f"{self.name} in {mode} mode: its {given} cannot be transposed: {str(error).splitlines()[0]}",
            mend=f"write {given} with traceable operations that are linear in the {what}, or give {wanted}= too",
        )

    # checks

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        given = self._samples(rng) if callable(self._samples) else self._samples or ()
        for entry in given:
            yield entry if isinstance(entry, Sample) else Sample(tuple(entry), {})


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, to) == to
    except ValueError:
        return False


def _signature(avals: Sequence[ShapedArray], params: dict[str, Any]) -> Any:
    """A call's avals and parameters as a hashable key, None where there is none."""
    key = tuple(avals), tuple(sorted(params.items()))
    try:
        hash(key)
    except TypeError:
        return None
    return key


def primitive_from(
    fun: Callable[..., Any],
    *,
    name: str | None = None,
    jvp: Callable[..., Any] | None = None,
    vjp: Callable[..., Any] | None = None,
    vmap: str | Callable[..., Any] = "loop",
    result_shape_dtypes: Any = None,
    abstract_eval: Callable[..., Any] | None = None,
    multiple_results: bool = False,
    samples: Any = None,
    module: str | None = None,
    register: bool = True,
) -> FromFunction:
    """A primitive of a function of plain NumPy arrays, which this package cannot look into (a C library's, say).

    The primitive is called as the function is: arrays by position, static parameters by keyword.

    Parameters
    ----------
    fun : returns an array, or with multiple_results a tuple or list of arrays. It must not write into its operands.
    name : unique in the registry; by default the function's.
    jvp : `jvp(out, primals, tangents, **params)` returns the tangent of the result (with multiple_results: a list);
        the tangents of operands that do not vary are zeros (float0 for integers), and None may be returned for zero.
    vjp : `vjp(ct, out, primals, **params)` returns a list with one cotangent for each operand, None for zero: of the
        operand's shape, or of that of a result to which the operand was broadcast (it is then summed).
        Rules are written with traceable operations (operators, autodidax.numpy, other primitives): then derivatives of
        all orders follow. If one of the two is given, the other is its transpose, for which it must be linear in the
        tangents (or in the cotangent). They see one row at a time, whatever `vmap` is. With neither, there is no
        derivative, and differentiating says so, but for results of integers or booleans, whose derivative is zero.
    vmap : "loop" calls `fun` row by row; the others call it once, with a batch axis in front of what is mapped, and of
        size 1 ("expand_dims") or of full size ("broadcast_all") in front of what is not (Python scalars stay as they
        are); a function `vmap(args, dims, **params) -> (out, dim)` is the batching rule itself: a mapped operand has
        its batch axis first (dim 0, else None).
    result_shape_dtypes : a ShapeDtypeStruct (or an array) like the result, or a list of them, where it is always the
        same.
    abstract_eval : `abstract_eval(*avals, **params)` returns that from the operands' shapes and dtypes. Where neither
        is given, a program that is staged calls `fun` on zeros to find out, once for each combination of shapes, dtypes
        and parameters.
    samples : tuples of arguments or `sample(...)`s that the checker goes over, in a list or from a function of a random
        generator: `python -m autodidax check package.module:name`.
    module : the module that it belongs to; by default that of its rule or of the function.
    register : whether the registry holds it.

    >>> import numpy as np
    >>> import autodidax
    >>> def cube_root(x):  # NumPy's cbrt, as if it were a C library's
    ...     return np.frompyfunc(lambda v: float(v) ** (1 / 3), 1, 1)(x).astype(float)
    >>> cube_root = primitive_from(
    ...     cube_root, name="cube_root_doc", jvp=lambda y, primals, tangents: tangents[0] / (3.0 * y * y),
    ...     samples=[(np.array([1.0, 2.0]),)],
    ... )
    >>> autodidax.elementwise_grad(cube_root)(np.array([1.0, 8.0])).round(6)
    array([0.333333, 0.083333])
    >>> autodidax.jit(autodidax.vmap(cube_root))(np.array([[1.0], [8.0]])).ravel().round(6)
    array([1., 2.])
    """
    check_callable("primitive_from", fun)
    if not (callable(vmap) or vmap in METHODS):
        raise errors.ArgumentError(
            f"primitive_from: there is no vmap {vmap!r}", mend=f"give a batching rule, or one of {', '.join(METHODS)}"
        )
    for option, rule in (("jvp", jvp), ("vjp", vjp), ("abstract_eval", abstract_eval)):
        if rule is not None:
            check_callable(f"primitive_from: {option}", rule)
    if abstract_eval is not None and result_shape_dtypes is not None:
        raise errors.ArgumentError(
            "primitive_from was given both abstract_eval and result_shape_dtypes", mend="give one of them"
        )
    name = name_of(fun) if name is None else name
    if name.startswith("<"):
        raise errors.ArgumentError(f"primitive_from: {name!r} is no name", mend='give one: name="my_function"')
    avals = abstract_eval if abstract_eval is not None else result_shape_dtypes
    home = next((f.__module__ for f in (jvp, vjp, fun) if getattr(f, "__module__", None)), "__main__")
    return FromFunction(
        name, fun, jvp=jvp, vjp=vjp, vmap=vmap, avals=avals, multiple_results=multiple_results, samples=samples,
        module=home if module is None else module, register=register,
    )  # fmt: skip
