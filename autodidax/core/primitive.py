"""Primitives: what an operation knows, in one block, and the registry of all of them.

Four kinds of derivative, from which both modes follow:

- `Pointwise`: one product a operand, `product(t, out, *operands)` = t times the partial derivative; the same formula
  serves forward and reverse mode.
- `linear = True`: linear in all operands jointly; its jvp is itself; `transpose` is given.
- `multilinear = True`: linear in each operand separately; `transpose` is given, the product rule derived.
- `linear_in = (k, ...)`: linear in these operands jointly while the others stay; `transpose` for those and a rule
  `jvp` for all.
- a general rule `jvp(out, primals, tangents, **params)`; reverse mode runs it on linear-recording tracers and
  transposes the record. An optional `vjp(ct, out, primals, active, **params)` beside it where that is faster.
- `zero_derivative = True`: piecewise constant; or `nondifferentiable = "the reason"`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from autodidax import errors
from autodidax.core.avals import PYTHON_SCALARS, ShapedArray, broadcast_shapes
from autodidax.core.interpreters import Tracer, bind, op1, op2

by_code: list[Any] = []  # primitives by their integer code; records hold the code, which the collector need not follow
partial1: list[Callable[..., Any] | None] = []  # code -> d(out, x) of a unary pointwise primitive
products: list[tuple[Callable[..., Any], ...]] = []  # code -> products of a pointwise primitive


class Sample:
    """Arguments and parameters that exercise a primitive; `nonsmooth` marks a point where finite differences fail."""

    __slots__ = ("args", "params", "nonsmooth", "name")

    def __init__(self, args: tuple[Any, ...], params: dict[str, Any], nonsmooth: bool = False, name: str = ""):
        self.args = args
        self.params = params
        self.nonsmooth = nonsmooth
        self.name = name

    def __repr__(self) -> str:
        shapes = ", ".join(f"{np.asarray(a).dtype}{list(np.shape(a))}" for a in self.args)
        params = "".join(f", {k}={v!r}" for k, v in self.params.items())
        return f"{self.name + ': ' if self.name else ''}({shapes}{params})"


def sample(*args: Any, nonsmooth: bool = False, name: str = "", **params: Any) -> Sample:
    """A sample of a primitive: operands by position, parameters by keyword."""
    return Sample(args, params, nonsmooth, name)


class Registry:
    """All primitives, by name, NumPy function or module; iterates in the order of registration.

    >>> import autodidax
    >>> autodidax.registry["sin"]
    sin
    """

    def __init__(self) -> None:
        self._by_name: dict[str, Primitive] = {}
        self._by_function: dict[Any, Primitive] = {}

    def add(self, p: Primitive) -> None:
        if p.name in self._by_name:
            raise errors.RegistryError(
                f"a primitive named {p.name!r} exists already, in {self._by_name[p.name].module}",
                mend="give the new primitive another name, e.g. with your package's name in front",
            )
        self._by_name[p.name] = p
        if p.numpy_function is not None:
            self._by_function.setdefault(p.numpy_function, p)

    def remove(self, p: Primitive) -> None:
        """Take a primitive out again (tests of user primitives do)."""
        self._by_name.pop(p.name, None)
        if p.numpy_function is not None and self._by_function.get(p.numpy_function) is p:
            del self._by_function[p.numpy_function]

    def __getitem__(self, key: Any) -> Primitive:
        p = self.get(key)
        if p is None:
            raise errors.RegistryError(f"no primitive {key!r}", mend="list the names with `list(autodidax.registry)`")
        return p

    def get(self, key: Any) -> Primitive | None:
        if isinstance(key, str):
            return self._by_name.get(key)
        return self._by_function.get(key) if isinstance(key, Hashable) else None

    def in_module(self, module: str) -> list[Primitive]:
        return [p for p in self if p.module == module or p.module.startswith(module + ".")]

    def __contains__(self, key: Any) -> bool:
        return self.get(key) is not None

    def __iter__(self) -> Iterator[Primitive]:
        return iter(list(self._by_name.values()))

    def __len__(self) -> int:
        return len(self._by_name)


registry = Registry()


class Primitive:
    """An operation that every transform knows how to handle. Subclass it, set the class attributes, define the rules,
    and instantiate it once with its name.

    >>> class Double(Primitive):
    ...     linear = True
    ...     def impl(self, x): return x + x
    ...     def abstract_eval(self, x): return x
    ...     def transpose(self, ct, x): return [ct + ct]
    ...     def batch(self, args, dims): return self(*args), 0
    """

    name: str
    module: str
    numpy_function: Any = None
    multiple_results = False
    linear = False
    multilinear = False
    linear_in: tuple[int, ...] = ()
    structural = False  # a linear primitive that only moves or copies entries: cotangent masks pass through it
    zero_derivative = False
    nondifferentiable: str | None = None
    vjp: Any = None
    effect = False  # does something beside computing its results: its equations are kept, once each, and in order
    stages_itself = False  # writes its own equations (custom rules stage their functions first)
    higher_order = False  # carries jaxprs or callables; handles the traces itself
    inlined: Any = None  # params -> the program that a call runs, which the compiler may write in its place, or None
    costly = False  # its values take long: the default check looks at few samples, and at no points beside them
    checked: bool | str = True  # the rule checker goes over its samples; a text says why it does not
    invariants: Any = None  # (outs, **params) -> what does not depend on choices, such as the signs of vectors
    hermitian_operands: tuple[int, ...] = ()  # operands of which one triangle is read, differentiated as Hermitian

    def __init__(self, name: str, *, module: str | None = None, numpy_function: Any = None, register: bool = True):
        self.name = name
        self.module = module if module is not None else type(self).__module__
        if numpy_function is not None:
            self.numpy_function = numpy_function
        self.code = len(by_code)
        by_code.append(self)
        partial1.append(None)
        products.append(())
        if register:
            registry.add(self)

    def __call__(self, *args: Any, **params: Any) -> Any:
        for a in args:
            if isinstance(a, Tracer):
                return bind(self, *args, **params)
        return self.impl(*args, **params)

    bind = __call__

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        return (_lookup, (self.name,))

    # the rules; each subclass gives those of its kind

    def impl(self, *args: Any, **params: Any) -> Any:
        """The NumPy implementation."""
        raise self._missing("implementation (impl)")

    def abstract_eval(self, *avals: ShapedArray, **params: Any) -> Any:
        """Avals of the results from avals of the operands."""
        raise self._missing("abstract evaluation rule (abstract_eval)")

    def jvp(self, out: Any, primals: Any, tangents: Any, **params: Any) -> Any:
        """Tangent of the output; a tangent that is None is zero."""
        raise self._missing("derivative rule (jvp)")

    def transpose(self, ct: Any, *args: Any, **params: Any) -> Any:
        """One cotangent an operand; the linear operands are given as avals."""
        raise self._missing("transpose rule")

    def batch(self, args: Any, dims: Any, **params: Any) -> Any:
        """Result and its batch dimension (0 or None); a mapped operand has its batch axis first (dim 0)."""
        raise self._missing("batching rule (batch)")

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        return iter(())

    def _missing(self, rule: str) -> errors.AutodidaxError:
        return errors.UnsupportedError(
            f"primitive {self.name} has no {rule}",
            mend=f"define it on {type(self).__name__} in {self.module}",
        )

    def operand_error(self, avals: Sequence[ShapedArray], params: dict[str, Any]) -> str | None:
        """What the checker of jaxprs says of operands that the programs in the parameters do not take, if anything."""
        return None

    def is_linear_in(self, k: int) -> bool:
        return self.linear or self.multilinear or k in self.linear_in

    def out_avals(self, *avals: ShapedArray, **params: Any) -> list[ShapedArray]:
        out = self.abstract_eval(*avals, **params)
        return list(out) if self.multiple_results else [out]


def _lookup(name: str) -> Primitive:
    return registry[name]


def params_of(partial: Callable[..., Any]) -> tuple[bool, ...]:
    """Which of (out, operands...) a partial derivative uses: a parameter whose name begins with _ is not kept."""
    code = partial.__code__
    return tuple(not name.startswith("_") for name in code.co_varnames[: code.co_argcount])


def no_share(_t: Any, _out: Any, *_operands: Any) -> None:
    """The product of an operand that the output does not depend on, almost everywhere: none, so that this zero stays
    structural, as a computed one does not."""


class Pointwise(Primitive):
    """An elementwise function of broadcasting operands, with its partial derivatives.

    Each partial is a function of (out, *operands); name a parameter with a leading underscore where the formula does
    not use it, and the record will not keep that value. `products` may be given instead of partials: functions of
    (t, out, *operands) that return t times the partial, for linear operations.
    """

    products: tuple[Callable[..., Any], ...]
    keep: tuple[int, ...]
    op: Callable[..., Any]

    def __init__(
        self,
        name: str,
        fun: Callable[..., Any],
        *partials: Callable[..., Any],
        nin: int = 1,
        products: tuple[Callable[..., Any], ...] | None = None,
        impl: Callable[..., Any] | None = None,
        linear: bool = False,
        multilinear: bool = False,
        linear_in: tuple[int, ...] = (),
        zero_derivative: bool = False,
        nondifferentiable: str | None = None,
        domain: Any = (-2.0, 2.0),
        samples: Callable[[Any], Iterator[Sample]] | None = None,
        complex_ok: bool | None = None,
        module: str | None = None,
        register: bool = True,
    ):
        impl = impl or fun
        _check_partials(name, partials, nin, products is not None or zero_derivative or nondifferentiable is not None)
        if complex_ok is None:
            complex_ok = _takes_complex(name, impl, nin)
        super().__init__(name, module=module, numpy_function=fun, register=register)
        self.fun = fun
        self.impl = impl  # type: ignore[method-assign]  # an instance's own implementation
        self.evaluate = self.impl  # the same under a name that no class attribute shadows: faster to look up
        self.nin = nin
        self.linear, self.multilinear, self.linear_in = linear, multilinear, linear_in
        self.zero_derivative, self.nondifferentiable = zero_derivative, nondifferentiable
        self.partials = partials
        self.domain = domain
        self.complex_ok = complex_ok
        self._samples = samples
        self._dtypes: dict[Any, Any] = {}
        _install_products(self, partials, products)
        differentiable = not (zero_derivative or nondifferentiable or no_share in self.products)
        if nin == 1 and differentiable:
            self.op = op1(self, self.impl)
        elif nin == 2 and differentiable:
            self.op = op2(self, self.impl)
        else:
            self.op = _generic_op(self, nin)
        self.op.__name__ = self.op.__qualname__ = name
        self.op.__doc__ = f"The primitive {name}: elementwise, with broadcasting."

    def __call__(self, *args: Any) -> Any:
        return self.op(*args)

    def bind(self, *args: Any) -> Any:
        return self.op(*args)

    def abstract_eval(self, *avals: ShapedArray) -> ShapedArray:
        key = tuple((a.dtype, a.weak_type) for a in avals)
        known = self._dtypes.get(key)
        if known is None:
            known = self._dtypes[key] = _probe_dtype(self.impl, avals)
        shape = broadcast_shapes(self.name, *[a.shape for a in avals])
        return ShapedArray(shape, known[0], known[1] and not shape)

    def batch(self, args: Any, dims: Any) -> Any:
        return self.op(*align_batch(args, dims)), 0

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        if self._samples is not None:
            yield from self._samples(rng)
            return
        domains = self.domain if isinstance(self.domain, list) else [self.domain] * self.nin

        def draw(shape: Any, dtype: Any = np.float64, only: int | None = None) -> list[Any]:
            shapes = shape if isinstance(shape, list) else [shape] * self.nin
            return [rng.uniform(lo, hi, s).astype(dtype) for (lo, hi), s in zip(domains, shapes, strict=True)]

        for shape in [(), (3,), (2, 3), (0, 2), (1,)]:
            yield sample(*draw(shape))
        if self.nin == 2:
            for pair in [[(3, 1), (1, 4)], [(), (3,)], [(2, 3), (3,)], [(0, 1), (1, 2)]]:
                yield sample(*draw(pair))
        yield sample(*draw((4,), np.float32))
        yield sample(*[np.asarray(a).T for a in draw((3, 2))], name="transposed")
        if self.complex_ok:
            yield sample(*[a + 0.5j * b for a, b in zip(draw((3,)), draw((3,)), strict=True)], name="complex")


def _takes_complex(name: str, impl: Callable[..., Any], nin: int) -> bool:
    """Whether an implementation computes on complex numbers; an error where it has several results."""
    outs = [_tried(impl, [np.full(1, 0.5 + 0.5j)] * nin)]
    takes = outs[0] is not None
    if not takes:
        outs.append(_tried(impl, [np.full(1, 0.5)] * nin))
    if getattr(impl, "nout", 1) > 1 or any(isinstance(out, tuple | list) for out in outs):
        raise errors.ArgumentError(
            f"pointwise {name!r}: its function returns several results",
            mend=f"write primitive_from(fun, name={name!r}, jvp=..., multiple_results=True), or return one of them",
        )
    return takes


def _tried(impl: Callable[..., Any], args: list[Any]) -> Any:
    """What an implementation returns, None where it raises."""
    try:
        with np.errstate(all="ignore"):
            return impl(*args)
    except Exception:  # of whatever kind: the function is the user's
        return None


def _check_partials(name: str, partials: tuple[Callable[..., Any], ...], nin: int, other: bool) -> None:
    if len(partials) != (0 if other else nin):
        raise errors.ArgumentError(
            f"pointwise {name!r} of {nin} operand{'s' * (nin != 1)} was given {len(partials)} partial derivatives",
            mend="give one function of (out, *operands) for each operand, or zero_derivative=True, or "
            "nondifferentiable='the reason'",
        )
    for k, partial in enumerate(partials):
        code = getattr(partial, "__code__", None)
        if code is None or (code.co_argcount != nin + 1 and not code.co_flags & 4):
            raise errors.ArgumentError(
                f"pointwise {name!r}: partial derivative {k} must be a function of the output and {nin} "
                f"operand{'s' * (nin != 1)}",
                mend="write lambda out, x: ...; a name that begins with _ marks a value that is not used",
            )


def _generic_op(p: Pointwise, nin: int) -> Callable[..., Any]:
    """The function of a pointwise primitive that traces do not handle on the short path."""
    impl = p.impl
    if nin == 1:
        return lambda x: bind(p, x) if isinstance(x, Tracer) else impl(x)
    if nin == 2:
        return lambda x, y: bind(p, x, y) if isinstance(x, Tracer) or isinstance(y, Tracer) else impl(x, y)
    return lambda *args: bind(p, *args)


def _install_products(p: Any, partials: tuple[Callable[..., Any], ...], given: Any) -> None:
    """Fill the tables that records and the backward walk read: products, and what each operand's product needs."""
    if given is None:
        given = tuple(_product(d) for d in partials)
        uses = [params_of(d) for d in partials]
        if p.nin == 1 and partials:
            partial1[p.code] = partials[0]
    else:
        uses = [params_of(f)[1:] for f in given]
    products[p.code] = given
    p.products = given
    # bit 1, 2, 4, ...: the operands; the highest bit: the output
    p.keep = tuple(sum(1 << (k - 1 if k else p.nin) for k, used in enumerate(use) if used) for use in uses)


def _product(partial: Callable[..., Any]) -> Callable[..., Any]:
    return lambda t, *values: t * partial(*values)


def _probe_dtype(impl: Callable[..., Any], avals: tuple[ShapedArray, ...]) -> tuple[np.dtype, bool]:
    """Dtype and weakness of a pointwise function's result, found by running it on ones: NumPy is the authority."""
    ones = [a.dtype.type(1).item() if a.weak_type else np.ones((1,), a.dtype) for a in avals]
    with np.errstate(all="ignore"):
        out = impl(*ones)
    return np.asarray(out).dtype, type(out) in PYTHON_SCALARS


def align_batch(args: Any, dims: Any) -> list[Any]:
    """Operands of a broadcasting operation with the batch axis first in all that are mapped: (B, 1, ..., *shape)."""
    ranks = [np.ndim(a) if not hasattr(a, "ndim") else a.ndim for a in args]
    rank = max(r - (d is not None) for r, d in zip(ranks, dims, strict=True))
    out = []
    for a, d, r in zip(args, dims, ranks, strict=True):
        if d is not None and r - 1 < rank:
            shape = a.shape
            a = a.reshape((shape[0], *(1,) * (rank - r + 1), *shape[1:]))
        out.append(a)
    return out


def pointwise(name: str, fun: Callable[..., Any], *partials: Callable[..., Any], **kwargs: Any) -> Pointwise:
    """A pointwise primitive from its NumPy function and its partial derivatives, one a operand.

    Parameters
    ----------
    name : unique in the registry.
    fun : the NumPy implementation, elementwise and broadcasting; a ufunc is also dispatched from plain NumPy calls.
    partials : functions of (out, *operands), written with traceable operations; a parameter named with a leading
        underscore is not kept by the record.
    domain : (low, high), or a list of those, that the samples are drawn from.
    nin : the number of operands, where there are no partials to tell.
    impl : an implementation to run in the place of `fun`.
    products : in the place of partials, functions of (t, out, *operands) that return t times the partial derivative;
        with linear=True, multilinear=True or linear_in=(k, ...) for operations that are linear in their operands.
    zero_derivative : True for a piecewise constant function.
    nondifferentiable : the reason why the function has no derivative.
    samples : a function of a random generator that yields `sample(...)`s, in the place of draws from `domain`.
    complex_ok : whether the samples include complex numbers (default: where the implementation takes them).

    >>> import numpy as np
    >>> import autodidax
    >>> softsign = pointwise("softsign_doc", lambda x: x / (1 + abs(x)), lambda y, x: (1 - abs(y)) ** 2)
    >>> float(autodidax.grad(softsign)(1.0))
    0.25
    """
    if not all(map(callable, (fun, *partials))):
        raise errors.RegistryError(
            f"pointwise {name!r} takes a NumPy function and its partial derivatives, one a operand",
            mend='write pointwise("tanh", np.tanh, lambda y, x: 1 - y * y)',
        )
    kwargs.setdefault("nin", max(len(partials), 1))
    if "module" not in kwargs:
        kwargs["module"] = getattr(fun if not partials else partials[0], "__module__", None)
    return Pointwise(name, fun, *partials, **kwargs)


def linear(
    name: str, impl: Callable[..., Any], transpose: Callable[..., Any], *, abstract_eval: Any = None, **rules: Any
) -> Primitive:
    """A linear primitive from functions: impl(*args, **params), transpose(ct, *args, **params) -> [ct, ...]."""
    return _from_functions(
        name, dict(linear=True), impl=impl, transpose=transpose, abstract_eval=abstract_eval, **rules
    )


def multilinear(
    name: str, impl: Callable[..., Any], transpose: Callable[..., Any], *, abstract_eval: Any = None, **rules: Any
) -> Primitive:
    """A primitive linear in each operand separately, from functions; `transpose` gets the aval of the operand asked
    for and the values of the others, and returns a list with None for those."""
    return _from_functions(
        name, dict(multilinear=True), impl=impl, transpose=transpose, abstract_eval=abstract_eval, **rules
    )


def _from_functions(name: str, kind: dict[str, Any], module: str | None = None, **rules: Any) -> Primitive:
    impl = rules["impl"]
    body: dict[str, Any] = dict(kind)
    for rule, f in rules.items():
        if f is not None:
            body[rule] = staticmethod(f)
    if rules.get("abstract_eval") is None:
        body["abstract_eval"] = staticmethod(lambda *avals, **params: probe_aval(impl, avals, params))
    cls = type(name, (Primitive,), body)
    return cls(name, module=module or getattr(impl, "__module__", "__main__"))


def probe_aval(impl: Callable[..., Any], avals: Any, params: dict[str, Any]) -> ShapedArray:
    """The aval of impl's result, found by running it on ones."""
    with np.errstate(all="ignore"):
        out = np.asarray(impl(*[np.ones(a.shape, a.dtype) for a in avals], **params))
    return ShapedArray(out.shape, out.dtype)
