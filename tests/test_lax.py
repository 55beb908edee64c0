"""jax.lax's names: values against NumPy, derivatives by check_grads, the same under jit and vmap."""

import itertools
from functools import partial

import numpy as np
import pytest
import scipy.special as sp

import autodidax as ad
from autodidax import errors, lax
from autodidax.test_util import check_grads

rng = np.random.default_rng(0)
V = rng.normal(size=4)
W = rng.normal(size=4)
P = rng.uniform(0.5, 2.0, 4)
PAIRS = V[:-1] + V[1:]
SIDES = np.stack([np.append(V[1:], -9.0), np.append(-9.0, V[:-1])])  # the neighbours of each entry of V
M = rng.normal(size=(3, 4))
T = rng.normal(size=(2, 3, 4))
BITS = np.array([0, 1, 6, 255, -3], np.int32)
UBITS = BITS.view(np.uint32)
SMALL = np.full(3, 100, np.int8)


def case(name, *args, expect, check=True, **kwargs):
    """Arrays among the arguments are differentiated where they are floating."""
    shown = [str(np.shape(a)) if isinstance(a, np.ndarray) else str(getattr(a, "__name__", a)) for a in args]
    label = f"{name}({', '.join(shown)}{kwargs or ''})"
    return pytest.param(name, args, kwargs, np.asarray(expect), check, id=label[:70])


def padded(x, value, config):
    """What lax.pad means, entry by entry."""
    sizes = [lo + n + max(n - 1, 0) * gap + hi for n, (lo, hi, gap) in zip(x.shape, config, strict=True)]
    out = np.full(sizes, value, x.dtype)
    for i in np.ndindex(x.shape):
        j = tuple(lo + k * (gap + 1) for k, (lo, _, gap) in zip(i, config, strict=True))
        if all(0 <= a < n for a, n in zip(j, sizes, strict=True)):
            out[j] = x[i]
    return out


SAME_AS_NUMPY = {
    "abs": np.abs, "acos": lambda x: np.arccos(x / 3), "add": np.add, "asinh": np.arcsinh, "atan": np.arctan,
    "atan2": np.arctan2, "cbrt": np.cbrt, "conj": np.conj, "cos": np.cos, "cosh": np.cosh, "exp": np.exp,
    "exp2": np.exp2, "expm1": np.expm1, "imag": np.imag, "log": np.log, "log1p": np.log1p, "max": np.maximum,
    "min": np.minimum, "mul": np.multiply, "neg": np.negative, "pow": np.power, "real": np.real,
    "reciprocal": np.reciprocal, "sin": np.sin, "sinh": np.sinh, "sqrt": np.sqrt, "square": np.square,
    "sub": np.subtract, "tan": np.tan, "tanh": np.tanh, "rem": np.fmod, "erf": sp.erf, "erfc": sp.erfc,
    "lgamma": sp.gammaln, "digamma": sp.digamma, "logistic": sp.expit, "bessel_i0e": sp.i0e, "bessel_i1e": sp.i1e,
}  # fmt: skip
BINARY = {"add", "atan2", "max", "min", "mul", "pow", "sub", "rem"}
PIECEWISE = {"ceil": np.ceil, "floor": np.floor, "sign": np.sign, "is_finite": np.isfinite}
COMPARISONS = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip

CASES = [
    *(
        case(name, *((P, P[::-1].copy()) if name in BINARY else (P,)), expect=f(P, P[::-1]) if name in BINARY else f(P))
        for name, f in SAME_AS_NUMPY.items()
        if name != "acos"
    ),
    *(case(name, V, expect=f(V), check=False) for name, f in PIECEWISE.items()),
    *(case(name, V, W, expect=f(V, W), check=False) for name, f in COMPARISONS.items()),
    case("acos", 0.2 * V, expect=np.arccos(0.2 * V)),
    case("erf_inv", 0.2 * V, expect=sp.erfinv(0.2 * V)),
    case("polygamma", 1, P, expect=sp.polygamma(1, P)),
    case("zeta", 2.5, P, expect=sp.zeta(2.5, P)),
    case("rsqrt", P, expect=P**-0.5),
    case("integer_pow", V, 3, expect=V**3),
    case("complex", V, W, expect=V + 1j * W, check=False),
    case("div", V, P, expect=V / P),
    case("div", np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2]), expect=[3, -3, -3, 3], check=False),
    case("rem", np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2]), expect=[1, -1, 1, -1], check=False),
    case("round", np.array([0.5, -0.5, 1.5, 2.5, 0.49999999999999994]), expect=[1.0, -1, 2, 3, 0], check=False),
    case("round", np.array([0.5, 1.5, 2.5]), lax.RoundingMethod.TO_NEAREST_EVEN, expect=[0.0, 2, 2], check=False),
    case("clamp", -0.5, V, 0.5, expect=np.clip(V, -0.5, 0.5)),
    case("clamp", -P, V, P, expect=np.clip(V, -P, P)),
    case("select", V > 0, V, W, expect=np.where(V > 0, V, W)),
    case("select_n", V > 0, V, W, expect=np.where(V > 0, W, V)),
    case("select_n", np.array([0, 2, 1, 0]), V, W, P, expect=np.choose([0, 2, 1, 0], [V, W, P])),
    case("select_n", np.int64(2), V, W, P, expect=P),
    case("bitwise_and", BITS, 6, expect=BITS & np.int32(6), check=False),
    case("bitwise_or", BITS, 6, expect=BITS | np.int32(6), check=False),
    case("bitwise_xor", BITS, 6, expect=BITS ^ np.int32(6), check=False),
    case("bitwise_not", BITS, expect=~BITS, check=False),
    case("shift_left", BITS, np.int32(3), expect=BITS << np.int32(3), check=False),
    case("shift_right_arithmetic", BITS, np.int32(1), expect=BITS >> np.int32(1), check=False),
    case("shift_right_arithmetic", UBITS, np.uint32(1), expect=(BITS >> np.int32(1)).view(np.uint32), check=False),
    case("shift_right_logical", BITS, np.int32(1), expect=(UBITS >> np.uint32(1)).view(np.int32), check=False),
    case("population_count", BITS, expect=np.array([0, 1, 2, 8, 31], np.int32), check=False),
    case("clz", BITS, expect=np.array([32, 31, 29, 24, 0], np.int32), check=False),
    case("nextafter", V, W, expect=np.nextafter(V, W), check=False),
    case("convert_element_type", V, np.float32, expect=V.astype(np.float32), check=False),
    # shapes
    case("broadcast", V, (2, 3), expect=np.broadcast_to(V, (2, 3, 4))),
    case("broadcast_in_dim", V, (4, 3), (0,), expect=np.repeat(V[:, None], 3, axis=1)),
    case("broadcast_in_dim", M[:, :1], (2, 3, 5), (1, 2), expect=np.broadcast_to(M[:, :1], (2, 3, 5))),
    case("broadcast_in_dim", np.float64(2.0), (2, 2), (), expect=np.full((2, 2), 2.0)),
    case("broadcast_to_rank", V, 3, expect=V[None, None]),
    case("reshape", M, (2, 6), expect=M.reshape(2, 6)),
    case("reshape", M, (2, 6), (1, 0), expect=M.T.reshape(2, 6)),
    case("collapse", T, 0, 2, expect=T.reshape(6, 4)),
    case("collapse", T, 1, expect=T.reshape(2, 12)),
    case("expand_dims", M, (0, -1), expect=M[None, :, :, None]),
    case("squeeze", M[None, :, :, None], (0, -1), expect=M),
    case("transpose", T, (2, 0, 1), expect=T.transpose(2, 0, 1)),
    case("rev", T, (0, 2), expect=T[::-1, :, ::-1]),
    case("tile", M, (2, 1), expect=np.tile(M, (2, 1))),
    case("slice", M, (1, 0), (3, 4), (1, 2), expect=M[1:3, 0:4:2]),
    case("slice_in_dim", M, -3, None, 2, 1, expect=M[:, -3::2]),
    case("index_in_dim", M, -1, 1, expect=M[:, -1:]),
    case("index_in_dim", M, 0, keepdims=False, expect=M[0]),
    case("dynamic_slice", M, (1, 1), (2, 2), expect=M[1:3, 1:3]),
    case("dynamic_slice", M, (2, 9), (2, 2), expect=M[1:3, 2:4]),
    case("dynamic_slice", M, (-1, -4), (1, 2), expect=M[2:3, :2]),
    case("dynamic_slice", M, (-1, -1), (1, 2), allow_negative_indices=False, expect=M[:1, :2]),
    case("dynamic_slice_in_dim", M, 1, 2, 1, expect=M[:, 1:3]),
    case("dynamic_index_in_dim", M, 1, 0, False, expect=M[1]),
    case("dynamic_update_slice", M, M[:2, :2], (1, 2), expect=np.block([[M[:1]], [np.hstack([M[1:, :2], M[:2, :2]])]])),
    case("dynamic_update_slice_in_dim", V, W[:2], 1, 0, expect=np.array([V[0], W[0], W[1], V[3]])),
    case("dynamic_update_index_in_dim", M, V, 1, 0, expect=np.stack([M[0], V, M[2]])),
    *(
        case("pad", M, value, config, expect=padded(M, value, config))
        for value, config in [
            (0.0, [(1, 2, 0), (0, 0, 0)]), (1.5, [(1, 0, 0), (2, 1, 0)]), (0.5, [(0, 0, 1), (1, 1, 2)]),
            (0.5, [(-1, 0, 0), (0, -2, 0)]), (2.0, [(-1, 1, 1), (1, -3, 2)]), (0.0, [(-2, -1, 0), (0, 0, 0)]),
        ]
    ),
    case("full_like", M, 2.0, expect=np.full((3, 4), 2.0), check=False),
    # reductions
    case("reduce_sum", T, (0, 2), expect=T.sum((0, 2))),
    case("reduce_sum", T, (), expect=T),
    case("reduce_prod", T, (1,), expect=T.prod(1)),
    case("reduce_max", T, (0, 1), expect=T.max((0, 1))),
    case("reduce_min", T, (-1,), expect=T.min(-1)),
    case("reduce_and", M > -1, (0,), expect=(M > -1).all(0), check=False),
    case("reduce_or", M > 1, (1,), expect=(M > 1).any(1), check=False),
    case("reduce_xor", M > 0, (0, 1), expect=np.logical_xor.reduce(M > 0, axis=None), check=False),
    case("reduce_and", BITS, (0,), expect=np.bitwise_and.reduce(BITS), check=False),
    case("reduce_or", BITS, (0,), expect=np.bitwise_or.reduce(BITS), check=False),
    case("reduce_xor", BITS, (0,), expect=np.bitwise_xor.reduce(BITS), check=False),
    case("reduce", T, 0.0, lax.add, (0, 2), expect=T.sum((0, 2))),
    case("reduce", M, 1.0, lax.mul, (0,), expect=M.prod(0)),
    case("reduce", M, -9.0, lax.max, (0, 1), expect=M.max()),
    case("reduce_window", M, 0.0, lax.add, (2, 2), expect=M[:-1, :-1] + M[1:, :-1] + M[:-1, 1:] + M[1:, 1:]),
    case("reduce_window", V, -9.0, lax.max, (3,), (1,), "SAME", expect=np.maximum(*np.maximum([V, V], SIDES))),
    case("reduce_window", V, 0.0, lax.add, (2,), (2,), [(1, 1)], expect=[V[0], V[1] + V[2], V[3]]),
    case("reduce_window", V, 0.0, lax.add, (2,), None, "VALID", (2,), (2,), expect=np.insert(PAIRS, [1, 2], 0)),
    case("argmax", M, 1, np.int32, expect=M.argmax(1).astype(np.int32), check=False),
    case("argmin", M, -2, np.int64, expect=M.argmin(0), check=False),
    case("cumsum", M, 1, expect=M.cumsum(1)),
    case("cumsum", M, 1, True, expect=M[:, ::-1].cumsum(1)[:, ::-1]),
    case("cumprod", M, expect=M.cumprod(0)),
    case("cummax", M, 1, expect=np.maximum.accumulate(M, 1)),
    case("cummin", M, 1, True, expect=np.minimum.accumulate(M[:, ::-1], 1)[:, ::-1]),
    case("cumlogsumexp", M, -1, expect=np.logaddexp.accumulate(M, 1)),
    case("associative_scan", lax.add, M, axis=1, expect=M.cumsum(1), check=False),
    case("sort", M, expect=np.sort(M)),
    case("sort", M, 0, expect=np.sort(M, 0)),
    # contractions
    case("dot", V, W, expect=V @ W),
    case("dot", M, V, expect=M @ V),
    case("batch_matmul", T, T.transpose(0, 2, 1), expect=T @ T.transpose(0, 2, 1)),
    case("dot_general", T, M, (((2,), (1,)), ((), ())), expect=np.einsum("abc,dc->abd", T, M)),
    case("dot_general", T, T, (((2,), (2,)), ((0,), (0,))), expect=np.einsum("abc,adc->abd", T, T)),
    case("dot_general", T, M, (((), ()), ((1, 2), (0, 1))), expect=np.einsum("abc,bc->bca", T, M)),
    case("dot_general", SMALL, SMALL, (((0,), (0,)), ((), ())), None, np.int32, expect=np.int32(30000), check=False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "kwargs", "expected", "check"), CASES)
def test_function(name, args, kwargs, expected, check):
    f = partial(_call, name, args, kwargs)
    arrays = [a for a in args if isinstance(a, np.ndarray | np.generic)]
    out = f(*arrays)
    assert out.dtype == expected.dtype and out.shape == expected.shape
    np.testing.assert_allclose(out, expected, rtol=1e-13)
    np.testing.assert_allclose(ad.jit(f)(*arrays), expected, rtol=1e-12)
    rows = [np.stack([a, a[::-1] if np.ndim(a) else a]) for a in arrays]
    looped = [f(*row) for row in zip(*rows, strict=True)]
    np.testing.assert_allclose(ad.vmap(f)(*rows), np.stack(looped), rtol=1e-12)
    if check:
        floating = [k for k, a in enumerate(arrays) if a.dtype.kind == "f"]
        fixed = lambda *xs: f(*(xs[floating.index(k)] if k in floating else a for k, a in enumerate(arrays)))
        check_grads(fixed, tuple(arrays[k] for k in floating), order=2)


def _call(name, args, kwargs, *arrays):
    given = iter(arrays)
    return getattr(lax, name)(*[next(given) if isinstance(a, np.ndarray | np.generic) else a for a in args], **kwargs)


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("concatenate", ([M, 2 * M], 1), np.hstack([M, 2 * M])),
        ("stack", ([V, W], 1), np.stack([V, W], 1)),
        ("unstack", (M, 1), tuple(M.T)),
        ("split", (V, (1, 3)), [V[:1], V[1:]]),
        ("sort", ((np.array([2, 1, 2, 1]), V), 0, True, 2), None),
        ("sort_key_val", (V, W), (np.sort(V), W[np.argsort(V)])),
        ("top_k", (V, 2), (np.sort(V)[:1:-1], np.argsort(V)[:1:-1])),
        ("iota", (np.float32, 3), np.arange(3, dtype=np.float32)),
        ("broadcasted_iota", (np.int32, (2, 3), 1), np.array([[0, 1, 2]] * 2, np.int32)),
        ("full", ((2, 3), 1.5, np.float32), np.full((2, 3), 1.5, np.float32)),
        ("broadcast_shapes", ((2, 1), (3,)), (2, 3)),
        ("padtype_to_pads", ((5, 6), (2, 3), (2, 2), "SAME"), [(0, 1), (0, 1)]),
        ("padtype_to_pads", ((5, 6), (2, 3), (2, 2), "SAME_LOWER"), [(1, 0), (1, 0)]),
        ("dtype", (np.float32(1.0),), np.dtype(np.float32)),
        ("optimization_barrier", ((V, 1),), (V, 1)),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_other_results(name, args, expected):
    out = getattr(lax, name)(*args)
    if expected is None:
        order = np.lexsort((V, args[0][0]))
        expected = (args[0][0][order], V[order])
    for a, b in zip(ad.tree.leaves(out), ad.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(a, b)
        if isinstance(b, np.ndarray):
            assert a.dtype == b.dtype


# convolutions, against the definition


def convolved(x, kernel, strides, pads, x_dilation, k_dilation, by_feature, by_batch):
    """(batch, features, *space) by (out, in, *space), entry by entry."""
    gap = lambda d: [(0, 0, 0), (0, 0, 0), *[(lo, hi, k - 1) for (lo, hi), k in zip(pads, d, strict=True)]]
    x = padded(x, 0.0, gap(x_dilation))
    zero = [(0, 0, 0)] * 2 + [(0, 0, d - 1) for d in k_dilation]
    kernel = padded(kernel, 0.0, zero)
    sizes = [(n - w) // s + 1 for n, w, s in zip(x.shape[2:], kernel.shape[2:], strides, strict=True)]
    batch, outputs, inputs = x.shape[0] // by_batch, kernel.shape[0], kernel.shape[1]
    out = np.zeros((batch, outputs, *sizes))
    group = outputs // (by_feature * by_batch)
    for n, o, place in itertools.product(range(batch), range(outputs), np.ndindex(*sizes)):
        g = o // group
        row, first = (n + batch * g, 0) if by_batch > 1 else (n, inputs * g)
        window = tuple(slice(p * s, p * s + w) for p, s, w in zip(place, strides, kernel.shape[2:], strict=True))
        out[(n, o, *place)] = np.sum(x[(row, slice(first, first + inputs), *window)] * kernel[o])
    return out


CONVOLUTIONS = {
    "plain": ((2, 3, 7), (4, 3, 3), (1,), [(0, 0)], (1,), (1,), 1, 1),
    "strides and padding": ((2, 3, 7), (4, 3, 3), (2,), [(1, 2)], (1,), (1,), 1, 1),
    "both dilated": ((1, 2, 5), (2, 2, 2), (1,), [(2, 1)], (2,), (3,), 1, 1),
    "negative padding": ((1, 2, 7), (2, 2, 2), (1,), [(-1, -2)], (1,), (1,), 1, 1),
    "feature groups": ((2, 4, 6), (6, 2, 3), (1,), [(1, 1)], (1,), (1,), 2, 1),
    "batch groups": ((4, 2, 6), (6, 2, 3), (1,), [(0, 0)], (1,), (1,), 1, 2),
    "two axes": ((2, 2, 5, 6), (3, 2, 2, 3), (1, 2), [(1, 0), (0, 2)], (1, 2), (2, 1), 1, 1),
    "no space": ((2, 3), (4, 3), (), [], (), (), 1, 1),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolution(name):
    x_shape, k_shape, strides, pads, x_dilation, k_dilation, by_feature, by_batch = CONVOLUTIONS[name]
    x, kernel = rng.normal(size=x_shape), rng.normal(size=k_shape)
    f = lambda x, k: lax.conv_general_dilated(
        x, k, strides, pads, x_dilation, k_dilation, feature_group_count=by_feature, batch_group_count=by_batch
    )
    expected = convolved(x, kernel, strides, pads, x_dilation, k_dilation, by_feature, by_batch)
    np.testing.assert_allclose(f(x, kernel), expected, atol=1e-12)
    np.testing.assert_allclose(ad.jit(f)(x, kernel), expected, atol=1e-12)
    xs = np.stack([x, 2 * x])
    np.testing.assert_allclose(ad.vmap(f, in_axes=(0, None))(xs, kernel), [expected, 2 * expected], atol=1e-12)
    check_grads(f, (x, kernel), order=2)


def test_convolution_with_named_axes_and_padding():
    x, kernel = rng.normal(size=(2, 5, 6, 3)), rng.normal(size=(3, 2, 3, 4))
    numbers = ("NHWC", "HWIO", "NHWC")
    out = lax.conv_general_dilated(x, kernel, (2, 1), "SAME", dimension_numbers=numbers)
    pads = lax.padtype_to_pads((5, 6), (3, 2), (2, 1), "SAME")
    straight = convolved(x.transpose(0, 3, 1, 2), kernel.transpose(3, 2, 0, 1), (2, 1), pads, (1, 1), (1, 1), 1, 1)
    np.testing.assert_allclose(out, straight.transpose(0, 2, 3, 1), atol=1e-12)
    spec = lax.conv_dimension_numbers(x.shape, kernel.shape, numbers)
    np.testing.assert_allclose(lax.conv_general_dilated(x, kernel, (2, 1), "SAME", dimension_numbers=spec), out, atol=0)
    moved = x.transpose(0, 3, 1, 2), kernel.transpose(3, 2, 0, 1)
    np.testing.assert_allclose(lax.conv(*moved, (2, 1), "SAME"), straight, atol=1e-12)
    np.testing.assert_allclose(lax.conv_with_general_padding(*moved, (2, 1), pads, None, None), straight, atol=1e-12)


def test_float32_stays():
    x, k = rng.normal(size=(1, 2, 5)).astype(np.float32), rng.normal(size=(2, 2, 2)).astype(np.float32)
    f = lambda x: np.sum(lax.conv(x, k, (1,), "SAME") ** 2) + np.sum(lax.rsqrt(lax.pad(x, 1.0, [(1, 1, 1)] * 3) ** 2))
    assert f(x).dtype == np.float32 and ad.grad(f)(x).dtype == np.float32


# traced indices, collectives, scans


def test_traced_starts():
    f = lambda x, i: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i, 0), (2, 2)) * 2, (i, 1))
    for i in (-3, 0, 1, 5):
        expected = f(M, i)
        np.testing.assert_array_equal(ad.jit(f)(M, i), expected)
        check_grads(lambda x, i=i: f(x, i), (M,), order=2)
    starts = np.array([-3, 0, 1, 5])
    np.testing.assert_array_equal(ad.vmap(f, in_axes=(None, 0))(M, starts), [f(M, i) for i in starts])


def test_select_keeps_the_case_not_taken_out_of_the_gradient():
    f = lambda x: np.sum(lax.select(x > 0, lax.log(x), x))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(ad.grad(f)(np.array([0.0, 2.0])), [1.0, 0.5])


def test_associative_scan_of_a_tree():
    def combine(first, second):  # affine maps x -> a x + b, one after the other
        return first[0] * second[0], second[0] * first[1] + second[1]

    a, b = rng.normal(size=(2, 6))
    for reverse in (False, True):
        scales, shifts = lax.associative_scan(combine, (a, b), reverse=reverse)
        order = range(5, -1, -1) if reverse else range(6)
        scale, shift = 1.0, 0.0
        for k in order:
            scale, shift = combine((scale, shift), (a[k], b[k]))
            np.testing.assert_allclose([scales[k], shifts[k]], [scale, shift])
    check_grads(lambda a, b: lax.associative_scan(combine, (a, b)), (a, b), order=2)


def test_reduce_of_a_tree():
    index = np.broadcast_to(np.arange(4), (3, 4))

    def larger(x, y):
        first = x[0] >= y[0]
        return lax.select(first, x[0], y[0]), lax.select(first, x[1], y[1])

    values, places = lax.reduce((M, index), (-np.inf, -1), larger, (1,))
    np.testing.assert_array_equal(values, M.max(1))
    np.testing.assert_array_equal(places, M.argmax(1))
    assert lax.reduce(np.zeros((0, 2)), 3.0, lax.add, (0,)).tolist() == [3.0, 3.0]


def test_all_gather():
    x = rng.normal(size=(3, 2))
    together = lambda f: ad.vmap(f, axis_name="rows")(x)
    np.testing.assert_array_equal(together(lambda r: lax.all_gather(r, "rows")), [x] * 3)
    np.testing.assert_array_equal(together(lambda r: lax.all_gather(r, "rows", axis=1)), [x.T] * 3)
    np.testing.assert_array_equal(together(lambda r: lax.all_gather(r, "rows", tiled=True)), [x.ravel()] * 3)
    check_grads(lambda x: ad.vmap(lambda r: np.sin(lax.all_gather(r, "rows")), axis_name="rows")(x), (x,), order=2)


def test_ppermute():
    x = rng.normal(size=3)
    shift = lambda r: lax.ppermute(r, "rows", [(0, 1), (1, 2)])
    np.testing.assert_array_equal(ad.vmap(shift, axis_name="rows")(x), [0.0, x[0], x[1]])
    g = ad.grad(lambda x: np.sum(ad.vmap(shift, axis_name="rows")(x) * np.array([1.0, 2.0, 3.0])))(x)
    np.testing.assert_array_equal(g, [2.0, 3.0, 0.0])


def test_platform_dependent():
    assert lax.platform_dependent(2.0, cpu=lambda x: x + 1, default=lambda x: x) == 3.0
    assert lax.platform_dependent(2.0, tpu=lambda x: x + 1, default=lambda x: x) == 2.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: lax.slice(M, (0, 0), (4, 4)),
        lambda: lax.slice(M, (0,), (1,)),
        lambda: lax.broadcast_in_dim(V, (3, 4), (0,)),
        lambda: lax.select_n(V > 0, V, W, P),
        lambda: lax.select(M > 0, V, W),
        lambda: lax.clamp(M, V, 1.0),
        lambda: lax.split(V, (1, 1)),
        lambda: lax.pad(V, 0.0, [(0, 0, -1)]),
        lambda: lax.pad(V, 0.0, [(-3, -2, 0)]),
        lambda: lax.dot_general(M, M, (((0,), (1,)), ((), ()))),
        lambda: lax.dot(T, V),
        lambda: lax.batch_matmul(T, M),
        lambda: lax.index_in_dim(V, 4),
        lambda: lax.conv(np.ones((1, 2, 5)), np.ones((3, 1, 2)), (1,), "VALID"),
        lambda: lax.conv(np.ones((1, 2, 5)), np.ones((3, 2, 2)), (1,), "ALMOST"),
        lambda: lax.conv_general_dilated(np.ones((1, 2, 5)), np.ones((3, 2, 2)), (1,), "SAME", (2,)),
        lambda: lax.conv_dimension_numbers((1, 2, 3), (1, 2, 3), ("NCX", "OIH", "NCX")),
        lambda: lax.reduce_xor(np.zeros((0, 2), int), (0,)),
    ],
)
def test_bad_input(call):
    with pytest.raises(errors.AutodidaxError):
        call()


def test_missing_names_say_where_to_look():
    with pytest.raises(AttributeError, match="limits"):
        lax.ragged_dot


def test_public_names_exist():
    assert [name for name in lax.__all__ if not hasattr(lax, name)] == []
