"""A valid call of every function of numpy, numpy.linalg and numpy.fft, and values for its optional parameters."""

import numpy as np

from tests.numpy_api.parameters.slots import M23, MASK23, Also, Call

rng = np.random.default_rng(11)
v3, w3, v4 = np.array([0.3, 1.2, -0.7]), rng.normal(size=3), rng.normal(size=4)
p3, u3 = rng.uniform(0.5, 1.5, 3), rng.uniform(-0.9, 0.9, 3)
n23, m33, m34 = rng.normal(size=(2, 3)), rng.normal(size=(3, 3)), rng.normal(size=(3, 4))
m24, t224 = rng.normal(size=(2, 4)), rng.normal(size=(2, 2, 4))
z3 = v3 + 1j * w3
spd = m33 @ m33.T + 3 * np.eye(3)
holes = np.array([[1.0, np.nan, 3.0], [4.0, 5.5, np.nan]])
i3, j3 = np.array([3, 1, 2]), np.array([2, 4, 1])
b3 = np.array([True, False, True])
sorted4 = np.array([-2.0, -0.5, 0.6, 2.0])
bytes3 = np.array([3, 200, 17], np.uint8)


def unary(x, **options):
    kept = dict(where=Also(b3, out=np.zeros(3)), signature="d->d")
    return Call(x, **{**kept, **options})


def binary(x, y, **options):
    kept = dict(where=Also(b3, out=np.zeros(3)), signature="dd->d")
    return Call(x, y, **{**kept, **options})


def boolean(x, *more, **options):
    signature = "d" * (1 + len(more)) + "->?"
    return Call(x, *more, where=Also(b3, out=np.zeros(3, bool)), dtype=bool, signature=signature, **options)


def integral(x, *more):
    return Call(x, *more, where=Also(b3, out=np.zeros(3, int)), dtype=np.int32, signature="l" * (1 + len(more)) + "->l")


UNARY = {
    "negative": v3, "positive": v3, "reciprocal": p3, "square": v3, "sqrt": p3, "cbrt": p3, "absolute": v3, "abs": v3,
    "fabs": v3, "sign": v3, "exp": v3, "exp2": v3, "expm1": v3, "log": p3, "log2": p3, "log10": p3, "log1p": p3,
    "sin": v3, "cos": v3, "tan": v3, "arcsin": u3, "arccos": u3, "arctan": v3, "asin": u3, "acos": u3, "atan": v3,
    "sinh": v3, "cosh": v3, "tanh": v3, "arcsinh": v3, "arccosh": p3 + 1, "arctanh": u3, "asinh": v3, "acosh": p3 + 1,
    "atanh": u3, "degrees": v3, "radians": v3, "deg2rad": v3, "rad2deg": v3, "floor": v3, "ceil": v3, "trunc": v3,
    "rint": v3, "spacing": v3, "conj": v3, "conjugate": v3,
}  # fmt: skip
BINARY = {
    "add": (v3, w3), "subtract": (v3, w3), "multiply": (v3, w3), "divide": (v3, p3), "true_divide": (v3, p3),
    "power": (p3, w3), "pow": (p3, v3), "float_power": (p3, v3), "floor_divide": (7 * v3, p3), "remainder": (v3, p3),
    "mod": (v3, p3), "fmod": (7 * v3, p3), "arctan2": (v3, w3), "atan2": (v3, w3), "hypot": (v3, w3),
    "logaddexp": (v3, w3), "logaddexp2": (v3, w3), "maximum": (v3, w3), "minimum": (v3, w3), "fmax": (v3, w3),
    "fmin": (v3, w3), "copysign": (v3, w3), "heaviside": (v3, p3), "nextafter": (v3, w3),
}  # fmt: skip
COMPARED = ["greater", "greater_equal", "less", "less_equal", "equal", "not_equal", "logical_and", "logical_or",
            "logical_xor"]  # fmt: skip
BITS = ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "bitwise_left_shift",
        "bitwise_right_shift", "gcd", "lcm"]  # fmt: skip
CORE = dict(axis=0, dtype=np.float32, signature="dd->d")

UFUNCS = {
    **{name: unary(x) for name, x in UNARY.items()},
    **{name: binary(*xs) for name, xs in BINARY.items()},
    **{name: boolean(v3) for name in ("isnan", "isinf", "isfinite", "signbit", "logical_not")},
    **{name: boolean(v3, w3) for name in COMPARED},
    **{name: integral(i3, j3) for name in BITS},
    **{name: integral(i3) for name in ("invert", "bitwise_not", "bitwise_invert")},
    "bitwise_count": Call(i3, where=Also(b3, out=np.zeros(3, np.uint8)), dtype=np.uint8, signature="l->B"),
    "isnat": Call(
        np.array(["2020-01-01"], "M8[D]"),
        out=np.zeros(1, bool),
        where=Also([True], out=np.zeros(1, bool)),
        dtype=bool,
        signature="M->?",
    ),
    "ldexp": Call(v3, i3, where=Also(b3, out=np.zeros(3)), signature="dl->d"),
    "frexp": Call(v3, where=Also(b3, out=(np.zeros(3), np.zeros(3, np.int32))), signature="d->di"),
    "modf": Call(v3, where=Also(b3, out=(np.zeros(3), np.zeros(3))), signature="d->dd"),
    "divmod": Call(v3, p3, where=Also(b3, out=(np.zeros(3), np.zeros(3))), signature="dd->dd"),
    "matmul": Call(M23, m34, **{**CORE, "axes": [(-2, -1), (-2, -1), (-2, -1)]}),
    "vecdot": Call(M23, n23, **{**CORE, "axis": 0, "axes": [(0,), (0,), ()], "keepdims": True}),
    "matvec": Call(M23, v3, **{**CORE, "axes": [(-2, -1), (-1,), (-1,)]}),
    "vecmat": Call(v3, m34, **{**CORE, "axes": [(-1,), (-2, -1), (-1,)]}),
}

REDUCED = {
    "sum": Call(M23), "prod": Call(M23), "mean": Call(M23), "any": Call(M23), "all": Call(M23),
    "nansum": Call(holes), "nanprod": Call(holes), "nanmean": Call(holes),
    **{name: Call(M23, where=Also(MASK23, initial=-9.0), initial=Also(1.0, axis=0)) for name in ("max", "amax")},
    **{name: Call(M23, where=Also(MASK23, initial=9.0), initial=Also(0.1, axis=0)) for name in ("min", "amin")},
    "nanmax": Call(holes, where=Also(MASK23, initial=-9.0), initial=Also(4.5, axis=0)),
    "nanmin": Call(holes, where=Also(MASK23, initial=9.0), initial=Also(2.5, axis=0)),
    **{name: Call(M23, mean=Also(np.array([[0.4], [0.5]]), axis=1, keepdims=True)) for name in ("var", "std")},
    **{name: Call(holes, axis=1, mean=Also(np.array([[2.2], [4.4]]), axis=1, keepdims=True))
       for name in ("nanvar", "nanstd")},
    "ptp": Call(M23), "count_nonzero": Call(M23), "argmax": Call(M23), "argmin": Call(M23),
    "nanargmax": Call(holes, keepdims=True), "nanargmin": Call(holes),
    "cumsum": Call(M23), "cumprod": Call(M23), "nancumsum": Call(holes), "nancumprod": Call(holes),
    "cumulative_sum": Call(v3, include_initial=True), "cumulative_prod": Call(v3, include_initial=True),
    "median": Call(M23), "nanmedian": Call(holes),
    "quantile": Call(M23, 0.3, weights=Also(p3, v3, method="inverted_cdf", axis=0)),
    "percentile": Call(M23, 30.0, weights=Also(p3, v3, method="inverted_cdf", axis=0)),
    "nanquantile": Call(holes, 0.3, weights=Also(p3, v3, method="inverted_cdf", axis=0)),
    "nanpercentile": Call(holes, np.array([30.0, 55.0]), weights=Also(p3, v3, method="inverted_cdf", axis=0)),
    "average": Call(M23, weights=np.abs(n23), axis=1, returned=True),
    "cov": Call(M23, y=v3, rowvar=False, bias=True, fweights=i3, aweights=p3, dtype=np.float32),
    "corrcoef": Call(M23, y=v3, rowvar=False),
    "trapezoid": Call(v3, x=np.array([0.1, 0.7, 2.0]), dx=0.3),
    "diff": Call(M23, prepend=0.4, append=n23, n=2),
    "ediff1d": Call(v3, to_end=np.array([0.2, 0.3]), to_begin=0.7),
    "gradient": Call(v4, 0.3, edge_order=2, axis=0),
    "cross": Call(m33, v3, axisa=0, axisb=0, axisc=0),
    "unwrap": Call(np.array([0.2, 4.4, 1.2, 7.1]), discont=3.3, period=5.0),
    "i0": Call(v3), "sinc": Call(v3), "angle": Call(z3, deg=True), "real": Call(z3), "imag": Call(z3),
    "fix": Call(v3), "round": Call(v3), "around": Call(v3), "real_if_close": Call(v3, tol=200.0),
    "nan_to_num": Call(np.array([np.nan, 1.0, np.inf, -np.inf]), nan=0.7, posinf=9.0, neginf=-9.0),
    "clip": Call(v3, -0.5, 0.9, min=Also(-0.5, v3, alone=True), max=Also(0.9, v3, alone=True), dtype=np.float32,
                 where=Also(b3, out=np.zeros(3))),
    "convolve": Call(v4, v3, mode="same"), "correlate": Call(v4, v3, mode="full"),
    "interp": Call(np.array([0.2, 1.4, -3.0, 3.0]), sorted4, v4, left=-1.5, right=2.5, period=4.5),
    "trim_zeros": Call(np.array([0.0, 1.5, 0.0]), trim="f", axis=0),
    "histogram": Call(v3, bins=np.array([-1.0, 0.5, 2.0]), range=(-1.0, 2.0), density=True, weights=p3),
    "histogram2d": Call(v3, w3, bins=[np.array([-3.0, 0.5, 3.0])] * 2, range=[[-3.0, 3.0], [-3.0, 3.0]], density=True,
                        weights=p3),
    "histogramdd": Call(M23.T, bins=(np.array([-3.0, 0.5, 3.0]),) * 2, range=[(-3.0, 3.0), (-3.0, 3.0)], density=True,
                        weights=p3),
    "histogram_bin_edges": Call(v3, bins=4, range=(-1.0, 2.0), weights=p3),
    "bincount": Call(i3, weights=p3, minlength=6),
    "digitize": Call(v3, sorted4, right=True), "searchsorted": Call(sorted4, v3, side="right", sorter=np.arange(4)),
}  # fmt: skip

ARRANGED = {
    "reshape": Call(M23, (3, 2), order="F", copy=True), "ravel": Call(M23, order="F"),
    "transpose": Call(M23, axes=(1, 0)), "permute_dims": Call(M23, axes=(1, 0)), "matrix_transpose": Call(M23),
    "swapaxes": Call(M23, 0, 1), "moveaxis": Call(M23, 0, 1), "rollaxis": Call(M23, 1, start=0),
    "squeeze": Call(v3[None], axis=0), "expand_dims": Call(v3, 0), "broadcast_to": Call(v3, (2, 3)),
    "broadcast_arrays": Call(v3, M23), "atleast_1d": Call(1.5, v3), "atleast_2d": Call(v3), "atleast_3d": Call(v3),
    "flip": Call(M23, axis=(0, 1)), "flipud": Call(M23), "fliplr": Call(M23), "rot90": Call(M23, k=3, axes=(1, 0)),
    "roll": Call(M23, 1, axis=1), "repeat": Call(M23, 2), "tile": Call(v3, (2, 1)), "resize": Call(v3, (2, 2)),
    "pad": Call(v3, 2, mode="constant", constant_values=0.7, end_values=Also((0.2, 0.4), mode="linear_ramp"),
                stat_length=Also(2, mode="mean"), reflect_type=Also("odd", mode="reflect")),
    "diag": Call(v3), "diagflat": Call(M23), "diagonal": Call(m33), "trace": Call(m33), "tril": Call(m33),
    "triu": Call(m33),
    "concatenate": Call([v3, w3]), "concat": Call([v3, w3]), "stack": Call([v3, w3]),
    "hstack": Call([v3, w3]), "vstack": Call([v3, w3]), "dstack": Call([v3, w3]), "column_stack": Call([v3, M23.T]),
    "row_stack": Call([v3, w3]), "block": Call([[M23, n23], [n23, M23]]), "append": Call(M23, n23, axis=1),
    "split": Call(v4, 2), "array_split": Call(v3, 2), "hsplit": Call(v4, 2), "vsplit": Call(M23, 2),
    "dsplit": Call(t224, 2), "unstack": Call(M23, axis=1), "delete": Call(v3, 1, axis=0),
    "insert": Call(v3, 1, 0.7, axis=0), "meshgrid": Call(v3, w3, sparse=True, indexing="ij"),
    "take": Call(M23, np.array([1, 0]), mode="wrap", axis=1, out=np.zeros(2)),
    "take_along_axis": Call(M23, np.array([[1], [0]]), axis=1),
    "choose": Call(np.array([0, 1, 0]), [v3, w3], mode="clip"), "compress": Call(b3, v3),
    "extract": Call(b3, v3), "select": Call([b3, b3], [v3, w3], default=0.7), "where": Call(b3, v3, w3),
    "piecewise": Call(v3, [b3], [0.7, 1.1]), "argwhere": Call(v3), "flatnonzero": Call(v3), "nonzero": Call(v3),
    "copyto": Call(v3, w3, where=b3), "put": Call(v3, [0, 1], w3[:2], mode="wrap"), "place": Call(v3, b3, w3[:2]),
    "putmask": Call(v3, b3, w3), "put_along_axis": Call(M23, np.array([[1], [0]]), 0.7, 1),
    "fill_diagonal": Call(m33, 0.7, wrap=True),
    "sort": Call(M23, order="f"), "argsort": Call(M23, order="f"),
    "partition": Call(M23, 1, kind="introselect", order="f"),
    "argpartition": Call(M23, 1, kind="introselect", order="f"),
    "lexsort": Call([v3, w3]), "sort_complex": Call(z3),
    "unique": Call(v3, return_index=True, return_inverse=True, return_counts=True, sorted=True),
    **{name: Call(v3) for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values")},
    "union1d": Call(v3, w3), "intersect1d": Call(v3, v3[:2], assume_unique=True, return_indices=True),
    "setdiff1d": Call(v3, v3[:2], assume_unique=True), "setxor1d": Call(v3, v3[:2], assume_unique=True),
    "isin": Call(v3, v3[:2], assume_unique=True, invert=True, kind="sort"),
    "ix_": Call(i3, j3), "indices": Call((2, 3), dtype=float, sparse=True),
    "apply_along_axis": Call(np.sum, 0, M23, keepdims=True), "apply_over_axes": Call(np.sum, M23, (0,)),
    "packbits": Call(bytes3 > 9, bitorder="little"), "unpackbits": Call(bytes3, count=9, bitorder="little"),
    "unravel_index": Call(i3, (4, 5)), "ravel_multi_index": Call((i3, j3), (4, 5), mode="wrap", order="F"),
    "isclose": Call(v3, w3, atol=0.3), "allclose": Call(v3, w3, atol=0.3), "array_equal": Call(v3, w3),
    "array_equiv": Call(v3, w3), "isreal": Call(v3), "iscomplex": Call(v3), "isposinf": Call(v3, out=np.zeros(3, bool)),
    "isneginf": Call(v3, out=np.zeros(3, bool)), "isrealobj": Call(v3), "iscomplexobj": Call(v3), "iterable": Call(v3),
    "isfortran": Call(M23), "ndim": Call(v3), "shape": Call(v3), "size": Call(M23),
    "result_type": Call(v3, 1.5, then="np.zeros(0, {})"),
    "can_cast": Call(np.float32, np.float64, casting="no"), "common_type": Call(v3, w3, then="np.zeros(0, {})"),
    "min_scalar_type": Call(v3, then="np.zeros(0, {})"),
    "shares_memory": Call(v3, w3, max_work=1), "may_share_memory": Call(v3, w3, max_work=1),
}  # fmt: skip

MADE = {
    "array": Call(v3, ndmin=2, ndmax=1), "asarray": Call(v3), "asanyarray": Call(v3), "ascontiguousarray": Call(v3),
    "asfortranarray": Call(v3), "asarray_chkfinite": Call(v3), "require": Call(v3, requirements="C"),
    "copy": Call(v3), "astype": Call(v3, np.float32), "asmatrix": Call(v3, then="np.asarray({})"),
    "bmat": Call([[M23, n23]], ldict=Also({"a": M23, "b": n23}, "a, b", gdict={}),
                 gdict=Also({"a": M23, "b": n23}, "a, b", ldict={})),
    "zeros": Call(3), "ones": Call(3), "empty": Call(0), "full": Call(3, 0.7), "eye": Call(3, M=2), "identity": Call(3),
    "tri": Call(3, M=2), "zeros_like": Call(v3), "ones_like": Call(v3),
    "empty_like": Call(v3, then="np.full(np.shape({}), 0.5)"),
    "full_like": Call(v3, 0.7), "arange": Call(0.5, stop=4.7, step=0.7),
    "linspace": Call(0.3, 2.0, num=5, endpoint=False, retstep=True),
    "logspace": Call(0.3, 1.0, num=5, endpoint=False, base=3.0),
    "geomspace": Call(0.3, 2.0, num=5, endpoint=False),
    "vander": Call(v3, N=4, increasing=True),
    "bartlett": Call(4), "blackman": Call(4), "hamming": Call(4), "hanning": Call(4), "kaiser": Call(4, 2.5),
    "diag_indices": Call(3, ndim=3), "diag_indices_from": Call(m33), "tril_indices": Call(3, m=2),
    "triu_indices": Call(3, m=2), "tril_indices_from": Call(m33), "triu_indices_from": Call(m33),
    "mask_indices": Call(3, np.triu), "fromfunction": Call(lambda i, j: i + 2 * j, (2, 3)),
    "fromiter": Call([0.3, 0.7], float, count=2), "broadcast_shapes": Call((2, 1), (1, 3)),
    "poly": Call(v3), "polyadd": Call(v3, v4), "polysub": Call(v3, v4), "polymul": Call(v3, v4),
    "polydiv": Call(v4, v3), "polyder": Call(v4, m=2), "polyint": Call(v4, m=2, k=np.array([0.3, 0.4])),
    "polyval": Call(v4, v3),
    # complex roots: real ones come as complex numbers too where values are not known
    "roots": Call(np.array([1.0, 0.5, 2.0, -1.5])),
    "polyfit": Call(np.array([0.1, 0.9, 1.7, 2.2, 3.1]), np.array([1.0, 0.2, 0.4, 1.5, 2.2]), 2, full=True,
                    w=np.array([1.0, 2.0, 0.7, 0.9, 1.1]), cov=True),
}  # fmt: skip

PRODUCTS = {
    "dot": Call(M23, m34), "inner": Call(M23, n23), "outer": Call(v3, w3), "vdot": Call(v3, w3), "kron": Call(M23, v3),
    "tensordot": Call(M23, n23, axes=Also(1, M23, m34)),
    "einsum": Call("ij,jk->ik", M23, m34, optimize=True, casting="safe", order="C", dtype=np.float64),
    "einsum_path": Call("ij,jk->ik", M23, m34, optimize="optimal", einsum_call=False, then="np.zeros(0 * len({}))"),
    "linalg.matmul": Call(M23, m34), "linalg.outer": Call(v3, w3), "linalg.cross": Call(m33, m33[::-1], axis=0),
    "linalg.tensordot": Call(M23, n23, axes=Also(1, M23, m34)), "linalg.vecdot": Call(M23, n23),
    "linalg.trace": Call(m33),
    "linalg.diagonal": Call(m33), "linalg.matrix_transpose": Call(M23), "linalg.multi_dot": Call([M23, m33, m34]),
    "linalg.matrix_power": Call(m33, 3), "linalg.det": Call(m33), "linalg.slogdet": Call(m33),
    "linalg.inv": Call(m33), "linalg.pinv": Call(m34, hermitian=Also(True, spd, symmetric=True)),
    "linalg.solve": Call(m33, v3), "linalg.lstsq": Call(m34.T, v4),
    "linalg.cholesky": Call(spd, symmetric=True, upper=True),
    "linalg.qr": Call(m34.T, mode="r"),
    "linalg.svd": Call(m34, full_matrices=False, compute_uv=False, hermitian=Also(True, spd, symmetric=True)),
    "linalg.svdvals": Call(m34), "linalg.eig": Call(m33), "linalg.eigvals": Call(m33),
    "linalg.eigh": Call(spd, symmetric=True),
    "linalg.eigvalsh": Call(spd, symmetric=True), "linalg.cond": Call(m33, p=1.0), "linalg.norm": Call(M23, ord=1.0),
    "linalg.matrix_norm": Call(M23, ord=1.0), "linalg.vector_norm": Call(v3, ord=3.0),
    "linalg.matrix_rank": Call(m33, tol=0.1, hermitian=Also(True, spd, symmetric=True)),
    "linalg.tensorinv": Call(rng.normal(size=(2, 3, 6)), ind=2),
    "linalg.tensorsolve": Call(rng.normal(size=(2, 3, 6)), n23, axes=Also((0,), rng.normal(size=(6, 2, 3)))),
}  # fmt: skip

FOURIER = {
    **{f"fft.{name}": Call(v4) for name in ("fft", "ifft", "rfft", "ihfft", "irfft", "hfft")},
    **{f"fft.{name}": Call(m24, s=(2, 4), axes=(0, 1)) for name in ("fft2", "ifft2", "rfft2", "irfft2")},
    **{f"fft.{name}": Call(m24, s=Also((2, 4), axes=(0, 1)), axes=(0, 1))
       for name in ("fftn", "ifftn", "rfftn", "irfftn")},
    "fft.fftshift": Call(v4, axes=0), "fft.ifftshift": Call(v4, axes=0),
    "fft.fftfreq": Call(4, d=0.7), "fft.rfftfreq": Call(4, d=0.7),
}  # fmt: skip

CALLS = {**UFUNCS, **REDUCED, **ARRANGED, **MADE, **PRODUCTS, **FOURIER}

#: functions that have no parameter for numbers to compute with, and why
NOT_CALLED = {
    "text for people": [
        "array2string", "array_repr", "array_str", "base_repr", "binary_repr", "format_float_positional",
        "format_float_scientific", "info", "typename", "mintypecode", "datetime_as_string", "datetime_data",
    ],
    "settings": [
        "get_include", "get_printoptions", "getbufsize", "geterr", "geterrcall", "printoptions", "set_printoptions",
        "setbufsize", "seterr", "seterrcall", "show_config", "show_runtime", "test", "linalg.test", "fft.test",
    ],
    "files and buffers": [
        "fromfile", "fromregex", "genfromtxt", "load", "loadtxt", "save", "savetxt", "savez", "savez_compressed",
        "frombuffer", "fromstring", "from_dlpack",
    ],
    "calendars": ["busday_count", "busday_offset", "is_busday"],
    "dtypes alone": ["isdtype", "issubdtype", "promote_types"],
    "about the type of an object: a traced number is none of NumPy's scalars": ["isscalar"],
    "makers of functions and iterators": ["frompyfunc", "nested_iters"],
}  # fmt: skip
