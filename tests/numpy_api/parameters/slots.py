"""Calls of NumPy's functions with plain arguments, and the parameters of each that a traced value can be put into."""

import inspect
import linecache
import warnings
import zlib

import numpy as np

from autodidax import tree

MODULES = {"": np, "linalg.": np.linalg, "fft.": np.fft}
M23 = np.array([[0.3, 1.2, -0.7], [0.9, -1.6, 2.1]])
MASK23 = np.array([[True, False, True], [True, True, False]])


class Also:
    """The value of a parameter in a call that needs other arguments beside it; `base` replaces the first arguments, or
    all of them (`alone`)."""

    def __init__(self, value, *base, symmetric=False, alone=False, **others):
        self.value, self.base, self.symmetric, self.alone, self.others = value, base, symmetric, alone, others

    def args(self, base):
        return list(self.base) if self.alone else [*self.base, *base[len(self.base) :]]


#: what a parameter gets where the call does not say: a value that differs from the default
OPTIONS = {
    "axis": 0, "keepdims": True, "where": MASK23, "initial": 0.5, "dtype": np.float32, "order": "C", "subok": True,
    "ddof": 1, "correction": 1.0, "casting": "same_kind", "copy": True, "device": "cpu",
    "like": np.zeros(2), "n": 4, "norm": "ortho", "offset": 1,  "k": 1, "rcond": 1e-9,
    "rtol": 1e-9, "hermitian": True, "UPLO": "U", "stable": True, "kind": "stable", "equal_nan": True,
    "overwrite_input": True, "method": "linear", "mode": "full", "shape": (2, 2), "signature": "d->d",
    "decimals": 1, "axes": (0, 1), "axis1": Also(1, axis2=0), "axis2": Also(0, axis1=1),
}  # fmt: skip


class Call:
    """A valid call of a function, and examples of values for the parameters that it leaves at their defaults.

    `then` is what a user does with the result, where that is no array; `symmetric` is for functions that read one
    triangle of their first argument: it is made symmetric before.
    """

    def __init__(self, *base, then="{}", symmetric=False, **options):
        self.base, self.then, self.symmetric, self.options = base, then, symmetric, options


def function(namespace, name):
    for part in name.split("."):
        namespace = getattr(namespace, part)
    return namespace


def public_functions():
    """The functions of the three modules by name; classes are not among them."""
    return {
        prefix + name: getattr(module, name)
        for prefix, module in MODULES.items()
        for name in dir(module)
        if name[0] != "_" and callable(getattr(module, name)) and not isinstance(getattr(module, name), type)
    }


def parameters(name, call):
    """The names of the parameters in order; those of *args are numbered, and **kwargs are what the call gives."""
    found = []
    for p in inspect.signature(function(np, name)).parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            found += [f"{p.name}{k}" for k in range(len(call.base) - len(found))]
        elif p.kind is not p.VAR_KEYWORD:
            found.append(p.name)
    return found + [k for k in call.options if k not in found]


class Slot:
    """One parameter of one call: `run(namespace, value)` calls the function with that value in it.

    `key` is the parameter's name; "a=[]" is the parameter `a` with its array written as a list of traced rows, and
    "a|axis" the first parameter in a call that gives the option `axis` too.
    """

    def __init__(self, name, key, args, kwargs, place, value, then="{}", text=False, symmetric=False):
        self.name, self.key, self.args, self.kwargs, self.place, self.value = name, key, args, kwargs, place, value
        self.symmetric = symmetric
        self.then, self.text = then, text  # the parameter takes no number: a text, a dtype, a function

    def __repr__(self):
        return f"{self.name}:{self.key}"

    def user_function(self, namespace):
        """The call as a user writes it, e.g. `np.sum(a0, axis=value)`: messages are made from the source."""
        shown = ["value" if k == self.place else f"a{k}" for k in range(len(self.args))]
        shown += [f"{k}=value" if k == self.place else f"{k}={k}_" for k in self.kwargs]
        if self.symmetric and self.place == 0:
            shown[0] = "(value + value.T) / 2"
        alias = "np" if namespace is np else "anp"
        file = f"<call {zlib.crc32(repr(self).encode())} {alias}>"  # does not name what messages have to name
        text = self.then.format(f"{alias}.{self.name}({', '.join(shown)})")
        lines = ["def f(value):\n", f"    return {text}\n"]
        linecache.cache[file] = (len("".join(lines)), None, lines, file)
        names = {"np": np, alias: namespace}
        exec(compile("".join(lines), file, "exec"), names)
        f = names["f"]

        def call(value):
            names.update({f"a{k}": x for k, x in enumerate(own(self.args))})
            names.update({f"{k}_": x for k, x in own(self.kwargs).items()})
            return f(value)

        return f, call

    def plain(self, value):
        return self.user_function(np)[1](value)

    def plain_result(self, value=None):
        """The result with plain arguments, or the exception."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                if self.text and self.key in ("dtype", "from_", "to"):
                    return self.plain(np.dtype(float))  # NumPy takes the attribute dtype of any object
                return self.plain(own(self.value if value is None else value))
            except Exception as error:
                return error


def numeric(value):
    """Whether a value consists of numbers alone, which can be traced."""
    leaves = tree.leaves(value)
    kinds = (bool, int, float, complex, np.ndarray, np.generic)
    return bool(leaves) and all(isinstance(x, kinds) and np.asarray(x).dtype.kind in "biufc" for x in leaves)


def own(args):
    """Arguments of which the function may overwrite the arrays."""
    return tree.map(lambda x: x.copy() if isinstance(x, np.ndarray) else x, args)


def slots(name, call):
    """Every parameter of a function, with a traced value in it, or several in a list."""
    names = parameters(name, call)
    base = list(call.base)
    for k, value in enumerate(base):
        yield from _variants(name, call, names[k], base, {}, k, value)
    for option in names[len(base) :]:
        value = call.options[option] if option in call.options else OPTIONS.get(option, LookupError)
        if option == "out" and value is LookupError:
            value = _room_for_the_result(name, names, base)
        if value is LookupError:
            raise LookupError(f"{name}: no example of a value for the parameter {option!r}")
        args, others, symmetric = base, {}, call.symmetric
        if isinstance(value, Also):
            symmetric = symmetric or value.symmetric
            args, others, value = value.args(base), value.others, value.value
        kwargs = {**others, option: value}
        yield from _variants(name, call, option, args, kwargs, option, value)
        first = next((k for k, x in enumerate(args) if numeric(x)), None)
        if first is not None:
            yield Slot(
                name, f"{names[first]}|{option}", args, kwargs, first, args[first], call.then, symmetric=symmetric
            )


def _room_for_the_result(name, names, base):
    """A value for out=: an array of axes, as a number would not do."""
    result = function(np, name)(*own(base))
    others = {"axis": 0} if np.ndim(result) == 0 and "axis" in names[len(base) :] else {}
    result = function(np, name)(*own(base), **others)
    return Also(tuple(map(_blank, result)) if isinstance(result, tuple | list) else _blank(result), **others)


def _blank(x):
    return np.zeros(np.shape(x), np.asarray(x).dtype)


def _variants(name, call, key, args, kwargs, place, value):
    if not numeric(value):
        yield Slot(name, key, args, kwargs, place, 1.5, call.then, text=True)
        return
    yield Slot(name, key, args, kwargs, place, value, call.then, symmetric=call.symmetric)
    if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "fc" and key not in ("out", "like"):
        listed = Slot(name, f"{key}=[]", args, kwargs, place, list(value), call.then, symmetric=call.symmetric)
        if not isinstance(listed.plain_result(), Exception):  # an exception: NumPy takes no list here
            yield listed
