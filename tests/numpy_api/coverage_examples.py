"""A small call of every function of NumPy that notes/coverage.md says to work on traced values, and of every one that
it says to be refused."""

import importlib
import io

import numpy as np

import autodidax
import autodidax.numpy as anp
from tests.numpy_api.agreement import Case

rng = np.random.default_rng(3)
v3, w3, v4 = rng.normal(size=3), rng.normal(size=3), rng.normal(size=4)
p3 = rng.uniform(0.5, 1.5, 3)
m23, m33 = rng.normal(size=(2, 3)), rng.normal(size=(3, 3))
z3 = rng.normal(size=3) + 1j * rng.normal(size=3)
i3, j3 = np.array([3, 1, 2]), np.array([1, 4, 2])
b3 = np.array([True, False, True])
turning = np.array([[1.0, -2.0], [1.5, 0.5]])  # complex eigenvalues


class Call(Case):
    """A call that is more than a name and arguments: function(namespace, *args)."""

    def __init__(self, name, function, *args, wrt=None):
        super().__init__(name, *args, wrt=wrt)
        self.function = function

    def call(self, namespace, args=None):
        return self.function(namespace, *(self.args if args is None else args))


#: tables of calls that other tests have; the first call of a name that is differentiated stands for it
FAMILIES = ("functions", "linalg", "fft", "applying", "histograms", "nan_statistics", "polynomials", "sets", "signals")

#: calls of what stands in none of them, or stands there where its derivative is zero
OWN = [
    Case("angle", z3), Case("imag", z3), Case("frexp", p3), Case("ldexp", v3, i3), Case("ix_", v3, v4),
    Case("heaviside", np.array([0.0, 1.0, 0.0]), w3, wrt=(1,)), Case("matvec", m23, v3), Case("vecmat", v3, m33),
    Case("asarray_chkfinite", v3), Case("require", [v3[0], v3[1]]), Case("row_stack", [v3, w3]),
    Case("fill_diagonal", m33, p3, inplace=False), Case("place", v4, np.array([True, False, True, True]), v3[:2],
                                                        inplace=False),
    Case("put", v4, np.array([1, 3]), p3[:2], inplace=False),
    Case("put_along_axis", m23, np.array([[1], [2]]), v3[:1], 1, inplace=False),
    Case("unravel_index", 5.25, (3, 4)), Case("fft.fftfreq", 4, 0.5), Case("fft.rfftfreq", 5, 0.5),
    Call("kaiser", lambda n, beta: n.kaiser(5, beta), 3.0),
    Call("c_", lambda n, x, y: n.c_[x, y], v3, w3), Call("r_", lambda n, x, y: n.r_[x, 1.0, y], v3, v4),
    Call("mgrid", lambda n, x: n.mgrid[0:x:3j], 0.7), Call("ogrid", lambda n, x: n.ogrid[0:x:3j, x:1:2j][0], 0.7),
    Call("fromfunction", lambda n, x: n.fromfunction(lambda i, j: i * x + j, (2, 3)), 0.7),
    Call("vectorize", lambda n, x, y: n.vectorize(lambda a, b: a * b + a)(x, y), p3, m23),
    Call("frompyfunc", lambda n, x, y: n.frompyfunc(lambda a, b: a * b + a, 2, 1)(x, y).astype(float), v3, m23),
    Call("trim_zeros", lambda n, x: n.trim_zeros(n.concatenate([np.zeros(1), x, np.zeros(2)])), v3),
    Call("linalg.cholesky", lambda n, x: n.linalg.cholesky(x @ x.T + np.eye(3)), m33),
    Call("linalg.eigh", lambda n, x: n.linalg.eigh(x + x.T), m33),
    Call("linalg.eigvalsh", lambda n, x: n.linalg.eigvalsh(x + x.T), m33),
    Case("linalg.eig", turning), Case("linalg.eigvals", turning),
    Case("linalg.lstsq", m33[:, :2], v3), Case("real_if_close", z3), Case("cumprod", v3),
    Case("astype", v3, np.complex128),
    *(Call(name, lambda n, x, name=name: getattr(n, name)(n.concatenate([x, x[1:]])), v3)
      for name in ("unique", "unique_all", "unique_counts", "unique_inverse", "unique_values")),
    *(Call(name, lambda n, x, y, name=name: getattr(n, name)(n.concatenate([x, y]), x[1:]), v3, w3)
      for name in ("intersect1d", "setdiff1d", "setxor1d", "union1d")),
]  # fmt: skip

#: calls with a size, for vmap and jit
SIZED = [
    Case("argwhere", v3, size=4), Case("flatnonzero", v3, size=2), Case("nonzero", v3, size=4, fill_value=-1),
    Case("where", v3, size=4), Case("compress", b3, m23, 1, size=2, wrt=(1,)), Case("extract", b3, v3, size=2),
    *(Call(name, lambda n, x, name=name: getattr(anp, name)(n.concatenate([x, x[1:]]), size=4), v3)
      for name in ("unique", "unique_all", "unique_counts", "unique_inverse", "unique_values")),
    *(Call(name, lambda n, x, y, name=name: getattr(anp, name)(n.concatenate([x, y]), x[1:], size=5), v3, w3)
      for name in ("intersect1d", "setdiff1d", "setxor1d", "union1d")),
    Call("mask_indices", lambda n, x: n.mask_indices(3, lambda ones, k: n.tril(ones, k) * x, size=7), 2.0),
]  # fmt: skip


def _calls(names, *args, **kwargs):
    return [Case(name, *args, **kwargs) for name in names.split()]


#: calls of what is piecewise constant, or has results that are no real numbers
CONSTANT = [
    *_calls("all any argmax argmin argsort argwhere around ceil count_nonzero fix flatnonzero iscomplex "
            "iscomplexobj isfinite isinf isnan isneginf isposinf isreal isrealobj isscalar iterable logical_not "
            "min_scalar_type nanargmax nanargmin ndim nonzero ones_like rint round shape sign signbit size spacing "
            "trunc zeros_like floor", v3),
    *_calls("allclose array_equal array_equiv equal floor_divide greater greater_equal isclose isin less less_equal "
            "logical_and logical_or logical_xor not_equal nextafter result_type common_type", v3, p3),
    *_calls("bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor gcd lcm left_shift "
            "right_shift", i3, j3),
    *_calls("bitwise_count bitwise_invert bitwise_not invert", i3),
    *_calls("diag_indices_from tril_indices_from triu_indices_from linalg.matrix_rank", m33),
    Call("empty_like", lambda n, x: n.empty_like(x).shape, v3), Case("argpartition", v4, 1),
    Case("can_cast", v3, np.float64), Case("digitize", v3, np.sort(v4), wrt=(0,)),
    Case("einsum_path", "ij,jk->ik", m23, m33), Case("lexsort", (v3, w3)),
    Call("mask_indices", lambda n, x: n.mask_indices(2, lambda ones, k: n.tril(ones, k) * x), 2.0),
    Case("packbits", b3), Case("unpackbits", np.array([3, 200], np.uint8)),
    Case("ravel_multi_index", (i3, j3), (5, 6), mode="wrap"), Case("searchsorted", np.sort(v4), v3, wrt=(1,)),
]  # fmt: skip
#: as the predicates that raise where the answer depends on values, under vmap and jit, and need a size
NEEDS_VALUES = {"argwhere", "flatnonzero", "nonzero", "mask_indices", "can_cast"}

#: calls of what is refused
REFUSED = {
    "arange": lambda n, x: n.arange(x[0]),
    "array2string": lambda n, x: n.array2string(x),
    "array_repr": lambda n, x: n.array_repr(x),
    "array_str": lambda n, x: n.array_str(x),
    "asmatrix": lambda n, x: n.asmatrix(x),
    "bmat": lambda n, x: n.bmat([[x]]),
    "broadcast": lambda n, x: n.broadcast(x, x),
    "copyto": lambda n, x: n.copyto(np.zeros(3), x),
    "format_float_positional": lambda n, x: n.format_float_positional(x[0]),
    "format_float_scientific": lambda n, x: n.format_float_scientific(x[0]),
    "from_dlpack": lambda n, x: n.from_dlpack(x),
    "fromiter": lambda n, x: n.fromiter(x, float),
    "isfortran": lambda n, x: n.isfortran(x),
    "isnat": lambda n, x: n.isnat(x),
    "matrix": lambda n, x: n.matrix(x),
    "may_share_memory": lambda n, x: n.may_share_memory(x, x),
    "ndenumerate": lambda n, x: list(n.ndenumerate(x)),
    "nditer": lambda n, x: n.nditer([x, np.zeros(3)]),
    "nested_iters": lambda n, x: n.nested_iters(x, [[0], [1]]),
    "putmask": lambda n, x: n.putmask(np.zeros(3), x > 0, x),
    "save": lambda n, x: n.save(io.BytesIO(), x),
    "savetxt": lambda n, x: n.savetxt(io.BytesIO(), x),
    "savez": lambda n, x: n.savez(io.BytesIO(), x),
    "savez_compressed": lambda n, x: n.savez_compressed(io.BytesIO(), x),
    "shares_memory": lambda n, x: n.shares_memory(x, x),
}
#: NumPy's own refuses these, in words of its own, before it asks
NUMPY_REFUSES = {"nditer", "nested_iters"}


def in_place(operator):
    """What `x op= y` leaves in x."""
    code = compile(f"x {operator} y", "in place", "exec")

    def function(x, y):
        names = {"x": x, "y": y}
        exec(code, names)
        return names["x"]

    return function


#: operators and members of arrays, by their names: function(*args), args
MEMBERS = {
    "__abs__": (abs, v3), "__neg__": (lambda x: -x, v3), "__pos__": (lambda x: +x, v3),
    "__add__": (lambda x, y: x + y, v3, w3), "__sub__": (lambda x, y: x - y, v3, w3),
    "__mul__": (lambda x, y: x * y, v3, w3), "__truediv__": (lambda x, y: x / y, v3, p3),
    "__pow__": (lambda x, y: x**y, p3, w3), "__mod__": (lambda x, y: x % y, v3, p3),
    "__divmod__": (lambda x, y: divmod(x, y)[1], v3, p3), "__matmul__": (lambda x, y: x @ y, m23, v3),
    "__radd__": (lambda x: 2.0 + x, v3), "__rsub__": (lambda x: p3 - x, v3), "__rmul__": (lambda x: p3 * x, v3),
    "__rtruediv__": (lambda x: 2.0 / x, p3), "__rpow__": (lambda x: p3**x, v3), "__rmod__": (lambda x: w3 % x, p3),
    "__rdivmod__": (lambda x: divmod(w3, x)[1], p3), "__rmatmul__": (lambda x: m23 @ x, v3),
    "__iadd__": (in_place("+="), v3, w3), "__isub__": (in_place("-="), v3, w3), "__imul__": (in_place("*="), v3, w3),
    "__itruediv__": (in_place("/="), v3, p3), "__ipow__": (in_place("**="), p3, w3),
    "__imod__": (in_place("%="), v3, p3), "__imatmul__": (in_place("@="), m23, m33),
    "__getitem__": (lambda x: x[::2] * x[1], v3), "__iter__": (lambda x: list(x)[1], v3),
    "__copy__": (lambda x: x.__copy__(), v3), "__deepcopy__": (lambda x: x.__deepcopy__({}), v3),
    "T": (lambda x: x.T, m23), "mT": (lambda x: x.mT, m23), "flatten": (lambda x: x.flatten(), m23),
    "to_device": (lambda x: x.to_device("cpu"), v3), "real": (lambda x: x.real, z3), "imag": (lambda x: x.imag, z3),
    "choose": (lambda x, y: autodidax.jit(lambda i: i.choose([x, y]))(np.array([1, 0, 1])), v3, w3),
    "clip": (lambda x: x.clip(-0.5, 0.5), v3), "compress": (lambda x: x.compress([True, False, True]), v3),
}  # fmt: skip


def differentiable():
    """Name -> a call of it that has a derivative."""
    examples = {case.name: case for case in OWN}
    for family in FAMILIES:
        for case in importlib.import_module(f"tests.numpy_api.test_{family}").CASES:
            if case.wrt:
                examples.setdefault(case.name, case)
    return examples
