"""Every elementwise primitive against its NumPy implementation, in each mode, on each of its samples."""

import math

import numpy as np
import pytest

import autodidax
from autodidax import errors
from autodidax.core.avals import is_inexact
from autodidax.core.interpreters import dtype_of, get_aval
from autodidax.core.primitive import registry
from autodidax.primitives import bits, comparison, convert, elementwise, extrema, rounding, trigonometric
from autodidax.primitives.elementwise import integer_pow, pow_operator, power
from autodidax.primitives.reductions import reduce_sum
from autodidax.primitives.select import where

MODULES = (elementwise, comparison, convert, extrema, trigonometric, rounding, bits)


def cases(modules):
    """(primitive, sample) for all samples of the primitives of these modules, with readable ids."""
    return [
        pytest.param(p, s, id=f"{p.name}-{k}{'-' + s.name if s.name else ''}")
        for module in modules
        for p in registry.in_module(module.__name__)
        for k, s in enumerate(p.samples(np.random.default_rng(7)))
    ]


def outputs(p, out):
    return list(out) if p.multiple_results else [out]


def active_operands(p, s, constant=()):
    if p.nondifferentiable or p.zero_derivative:
        return []
    return [k for k, x in enumerate(s.args) if is_inexact(dtype_of(x)) and k not in constant]


def function_of(p, s, active):
    """The primitive as a function of its active operands, giving the list of its inexact results."""

    def f(*values):
        args = list(s.args)
        for k, v in zip(active, values, strict=True):
            args[k] = v
        return [y for y in outputs(p, p.bind(*args, **s.params)) if is_inexact(dtype_of(y))]

    return f


def is_double(x):
    return dtype_of(x).kind not in "fc" or dtype_of(x) in (np.float64, np.complex128)


def random_like(rng, x):
    t = rng.normal(size=np.shape(x))
    if dtype_of(x).kind == "c":
        t = t + 1j * rng.normal(size=np.shape(x))
    return np.asarray(t, dtype_of(x))[()] if not isinstance(x, float) else float(t)


def numeric_derivative(f, primals, tangents, h=1e-3):
    """Directional derivative from extrapolated central differences: error O(h**4)."""

    def difference(h):
        ahead = f(*[x + h * t for x, t in zip(primals, tangents, strict=True)])
        behind = f(*[x - h * t for x, t in zip(primals, tangents, strict=True)])
        return [(a - b) / (2 * h) for a, b in zip(ahead, behind, strict=True)]

    return [(4 * fine - coarse) / 3 for fine, coarse in zip(difference(h / 2), difference(h), strict=True)]


def assert_close(got, want, rtol=2e-7, atol=2e-8):
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=rtol, atol=atol)
        assert np.shape(g) == np.shape(w)


def assert_aval(p, s):
    """Abstract evaluation gives the shape, dtype and weak type of the implementation."""
    with np.errstate(all="ignore"):
        outs = outputs(p, p.impl(*s.args, **s.params))
    avals = p.out_avals(*map(get_aval, s.args), **s.params)
    for out, aval in zip(outs, avals, strict=True):
        assert get_aval(out) == aval
        assert not isinstance(out, np.ndarray) or out.ndim > 0


def assert_derivatives(p, s, constant=()):
    """Forward mode against central differences, reverse against forward, and both once more on the derivative."""
    active = active_operands(p, s, constant)
    f = function_of(p, s, active)
    if not active or s.nonsmooth or not all(map(is_double, (*s.args, *f(*[s.args[k] for k in active])))):
        return
    rng = np.random.default_rng(1)
    primals = tuple(s.args[k] for k in active)
    tangents = tuple(random_like(rng, x) for x in primals)
    out, t_out = autodidax.jvp(f, primals, tangents)
    assert_close(out, f(*primals), 0, 0)
    assert_close(t_out, numeric_derivative(f, primals, tangents))
    assert_adjoint(f, primals, tangents, rng)

    others = tuple(random_like(rng, x) for x in primals)

    def slope(*primals):
        return [t for t in autodidax.jvp(f, primals, tangents)[1] if is_inexact(dtype_of(t))]

    assert_close(autodidax.jvp(slope, primals, others)[1], numeric_derivative(slope, primals, others), atol=1e-6)
    assert_adjoint(slope, primals, others, rng)


def assert_adjoint(f, primals, tangents, rng):
    """The pullback is the transpose: sum of ct * (J t) = sum of (J^T ct) * t, real parts for real operands."""
    out, pullback = autodidax.vjp(f, *primals)
    cts = [random_like(rng, y) for y in out]
    gs = pullback(cts)
    ts = autodidax.jvp(f, primals, tangents)[1]
    forward = sum(np.sum(ct * t) for ct, t in zip(cts, ts, strict=True))
    reverse = sum(np.sum(g * t) for g, t in zip(gs, tangents, strict=True))
    np.testing.assert_allclose(np.real(forward), np.real(reverse), rtol=1e-9, atol=1e-9)
    for g, x in zip(gs, primals, strict=True):
        assert g.dtype == dtype_of(x)
        assert g.shape == np.shape(x)


def assert_single_precision(p, s, constant=()):
    """With float32 operands the results, tangents and gradients are those of double precision, in their own dtypes."""
    active = active_operands(p, s, constant)
    if not active or s.nonsmooth or not any(dtype_of(x) in (np.float32, np.complex64) for x in s.args):
        return
    f = function_of(p, s, active)
    rng = np.random.default_rng(2)
    primals = tuple(s.args[k] for k in active)
    tangents = tuple(random_like(rng, x) for x in primals)
    out, t_out = autodidax.jvp(f, primals, tangents)
    _, pullback = autodidax.vjp(f, *primals)
    gs = pullback([np.ones_like(y) for y in out])
    assert [dtype_of(t) for t in t_out] == [dtype_of(y) for y in out]
    assert [dtype_of(g) for g in gs] == [dtype_of(x) for x in primals]
    wide = [np.asarray(x, np.result_type(dtype_of(x), np.float64))[()] for x in primals]
    wide_t = [np.asarray(t, dtype_of(x))[()] for t, x in zip(tangents, wide, strict=True)]
    if "dtype" not in s.params:
        assert_close(t_out, autodidax.jvp(f, wide, wide_t)[1], 2e-5, 2e-5)


def batch_of(x, rows, rng):
    """Several of x, each scaled a little where x is no integer."""
    x = np.stack([np.asarray(x)] * rows)
    if x.dtype.kind not in "fc":
        return x
    return x * rng.uniform(0.9, 1.0, (rows,) + (1,) * (x.ndim - 1)).astype(x.real.dtype)


def assert_batched(p, s):
    """vmap over each set of operands equals the loop."""
    rng = np.random.default_rng(3)
    rows = 3
    for subset in range(1, 2 ** len(s.args)):
        mapped = [bool(subset >> k & 1) and not isinstance(x, int) for k, x in enumerate(s.args)]
        if not any(mapped):
            continue
        args = [batch_of(x, rows, rng) if m else x for x, m in zip(s.args, mapped, strict=True)]
        f = lambda *xs: outputs(p, p.bind(*xs, **s.params))
        with np.errstate(all="ignore"):
            got = autodidax.vmap(f, in_axes=tuple(0 if m else None for m in mapped))(*args)
            want = [f(*[x[i] if m else x for x, m in zip(args, mapped, strict=True)]) for i in range(rows)]
        for g, w in zip(got, map(np.stack, zip(*want, strict=True)), strict=True):
            np.testing.assert_allclose(g, w, rtol=1e-6 if g.dtype.itemsize < 8 else 1e-13, atol=0)
            assert g.dtype == w.dtype


@pytest.mark.parametrize(("p", "s"), cases(MODULES))
def test_abstract_evaluation(p, s):
    assert_aval(p, s)


@pytest.mark.parametrize(("p", "s"), cases(MODULES))
def test_derivatives(p, s):
    assert_derivatives(p, s)


@pytest.mark.parametrize(
    "p", [p for m in MODULES for p in registry.in_module(m.__name__) if p.zero_derivative], ids=str
)
def test_zero_derivatives(p):
    """A piecewise constant function has no tangent at all, and a gradient of zeros."""
    s = next(p.samples(np.random.default_rng(7)))
    if not any(is_inexact(dtype_of(x)) for x in s.args):
        return
    f = lambda *args: p.bind(*args, **s.params) * 1.0
    _, t = autodidax.jvp(f, s.args, tuple(random_like(np.random.default_rng(1), x) for x in s.args))
    assert not np.any(np.asarray(t) if dtype_of(t).kind == "f" else False)
    out, pullback = autodidax.vjp(f, *s.args)
    assert not any(np.any(g) for g in pullback(np.ones_like(out)))


@pytest.mark.parametrize(("p", "s"), cases(MODULES))
def test_single_precision(p, s):
    assert_single_precision(p, s)


@pytest.mark.parametrize(("p", "s"), cases(MODULES))
def test_batching(p, s):
    assert_batched(p, s)


def derivatives(f, x, order):
    """f(x), f'(x), ... up to an order, by reverse mode."""
    values = [f(x)]
    for _ in range(order):
        f = autodidax.grad(f)
        values.append(f(x))
    return [float(v) for v in values]


def tangent_of(f):
    return lambda x: autodidax.jvp(f, (x,), (1.0,))[1]


def forward_derivatives(f, x, order):
    values = [f(x)]
    for _ in range(order):
        f = tangent_of(f)
        values.append(f(x))
    return [float(v) for v in values]


inf, nan = np.inf, np.nan

# function, point, value and derivatives there
POINTS = {
    "x**2 at 0": (lambda x: x**2, 0.0, [0, 0, 2, 0, 0]),
    "x**2.0 at 0": (lambda x: x**2.0, 0.0, [0, 0, 2, 0, 0]),
    "x**3 at 0": (lambda x: x**3, 0.0, [0, 0, 0, 6, 0]),
    "x**0 at 0": (lambda x: power(x, np.array(0)), 0.0, [1, 0, 0]),
    "x**1 at 0": (lambda x: power(x, np.array(1.0)), 0.0, [0, 1, 0, 0]),
    "x**2 at 0, array exponent": (lambda x: power(x, np.array(2.0)), 0.0, [0, 0, 2, 0]),
    "x**-1": (lambda x: x**-1, -2.0, [-0.5, -0.25, -0.25]),
    "2**x": (lambda x: 2**x, 3.0, [8, 8 * math.log(2), 8 * math.log(2) ** 2]),
    "0**x": (lambda x: 0**x, 2.0, [0, 0, 0]),
    "(-2)**n": (lambda x: power(x, np.array(3)), -2.0, [-8, 12, -12, 6, 0]),
    "abs at 0": (elementwise.absolute, 0.0, [0, 0, 0]),
    "sqrt at 0": (elementwise.sqrt, 0.0, [0, inf]),
    "cbrt at 0": (elementwise.cbrt, 0.0, [0, inf]),
    "hypot at the origin": (lambda x: elementwise.hypot(x, 0.0 * x), 0.0, [0, 0, 0]),
    "maximum at a tie": (lambda x: elementwise.maximum(x, 0.0), 0.0, [0, 0.5, 0]),
    "minimum at a tie": (lambda x: elementwise.minimum(x, 1.0), 1.0, [1, 0.5, 0]),
    "x*maximum(x, 0) at 0": (lambda x: x * elementwise.maximum(x, 0.0), 0.0, [0, 0, 1]),
    "maximum with nan": (lambda x: elementwise.maximum(x, nan), 1.0, [nan, 0]),
    "fmax with nan": (lambda x: elementwise.fmax(x, nan), 1.0, [1, 1]),
    "clip at its lower bound": (lambda x: elementwise.clip(x, -1.0, 1.0), -1.0, [-1, 0.5]),
    "clip inside": (lambda x: elementwise.clip(x, -1.0, 1.0), 0.3, [0.3, 1, 0]),
    "clip outside": (lambda x: elementwise.clip(x, -1.0, 1.0), 3.0, [1, 0, 0]),
    "arctan2 far out": (lambda y: elementwise.arctan2(y, 1e200), 1e200, [math.pi / 4, 5e-201]),
    "arcsinh far out": (trigonometric.arcsinh, 1e200, [math.log(2e200), 1e-200]),
    "arcsin near 1": (trigonometric.arcsin, 1 - 2.0**-50, [math.asin(1 - 2.0**-50), (2.0**-49 - 2.0**-100) ** -0.5]),
    "sinc at 0": (trigonometric.sinc, 0.0, [1, 0, -(math.pi**2) / 3, 0, math.pi**4 / 5]),
    "expm1 in the tail": (elementwise.expm1, -50.0, [math.expm1(-50), math.exp(-50), math.exp(-50)]),
    "log1p in the tail": (elementwise.log1p, 1e-20, [1e-20, 1, -1]),
    "logaddexp(-inf, x)": (lambda x: elementwise.logaddexp(-inf, x), 2.0, [2, 1, 0]),
    "logaddexp(x, 800)": (lambda x: elementwise.logaddexp(x, 800.0), 0.0, [800, 0, 0]),
    "logaddexp(x, x) at -inf": (lambda x: elementwise.logaddexp(x, -inf), -inf, [-inf, 0]),
    "logaddexp2": (lambda x: elementwise.logaddexp2(x, 0.0), 0.0, [1, 0.5, math.log(2) / 4]),
    "copysign at 0": (lambda x: rounding.copysign(x, -1.0), 0.0, [0, 0]),
    "heaviside at 0": (lambda y: rounding.heaviside(0.0, y), 0.3, [0.3, 1, 0]),
    "floor": (rounding.floor, 1.5, [1, 0, 0]),
    "remainder in y": (lambda y: rounding.remainder(-7.0, y), 2.0, [1, 4, 0]),
    "fmod in y": (lambda y: rounding.fmod(-7.0, y), 2.0, [-1, 3, 0]),
    "fmod, rounding quotient": (lambda y: rounding.fmod(1.0, y), 0.1, [math.fmod(1.0, 0.1), -9, 0]),
    "nan_to_num of nan": (rounding.nan_to_num, nan, [0, 0, 0]),
    "nan_to_num of inf": (rounding.nan_to_num, inf, [np.finfo(float).max, 0]),
    "nan_to_num of a number": (lambda x: rounding.nan_to_num(x * x), 3.0, [9, 6, 2]),
    "1/x at 0": (lambda x: elementwise.divide(1.0, x), 0.0, [inf, -inf]),
    "log at 0": (elementwise.log, 0.0, [-inf, inf]),
}


@pytest.mark.parametrize(("f", "x", "want"), POINTS.values(), ids=POINTS)
@pytest.mark.parametrize("mode", [derivatives, forward_derivatives], ids=["reverse", "forward"])
def test_singular_and_special_points(f, x, want, mode):
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(mode(f, x, len(want) - 1), want, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("x", [1e-6, 0.01, 0.3, 0.9, 1.5, 7.3])
def test_sinc_to_order_5(x):
    """f(u) = sin(u)/u satisfies u f^(n) + n f^(n-1) = sin^(n)(u)."""
    u = math.pi * x
    scaled = [trigonometric.sinc_derivative(x, order=n) / math.pi**n for n in range(6)]
    for n in range(1, 6):
        sine = math.sin(u + n * math.pi / 2)
        np.testing.assert_allclose(u * scaled[n] + n * scaled[n - 1], sine, rtol=1e-13, atol=1e-14)


def test_integer_exponents_at_zero():
    n = np.arange(0, 4)
    total = lambda z: reduce_sum(z**n, axes=(0,))
    assert derivatives(total, 0.0, 2) == [1.0, 1.0, 2.0]
    assert derivatives(total, 1.0, 2) == [4.0, 6.0, 8.0]
    np.testing.assert_array_equal(autodidax.jacfwd(lambda z: z**n)(0.0), [0, 1, 0, 0])
    rows = autodidax.vmap(autodidax.grad(lambda z, n: z**n), in_axes=(None, 0))(0.0, n)
    np.testing.assert_array_equal(rows, [0, 1, 0, 0])


def test_complex_powers_at_zero():
    n = np.arange(0, 4)
    for z in (0j, 1.5 - 0.5j):
        _, t = autodidax.jvp(lambda z: z**n, (z,), (1.0 + 0j,))
        np.testing.assert_allclose(t, [0, 1, 2 * z, 3 * z**2])


PYTHON_SCALARS = {
    "1.0/0.0": (lambda: elementwise.divide(1.0, 0.0), inf, float),
    "1/0": (lambda: elementwise.divide(1, 0), inf, float),
    "1.0//0.0": (lambda: rounding.floor_divide(1.0, 0.0), inf, float),
    "1.0%0.0": (lambda: rounding.remainder(1.0, 0.0), nan, float),
    "10.0**400": (lambda: pow_operator(10.0, 400), inf, float),
    "10.0**400.0": (lambda: pow_operator(10.0, 400.0), inf, float),
    "0.0**-1": (lambda: pow_operator(0.0, -1), inf, float),
    "0**-1": (lambda: pow_operator(0, -1), inf, float),
    "(-8.0)**0.5": (lambda: pow_operator(-8.0, 0.5), nan, float),
}


@pytest.mark.parametrize(("run", "want", "kind"), PYTHON_SCALARS.values(), ids=PYTHON_SCALARS)
def test_python_scalars_give_what_numpy_gives_with_its_warning(run, want, kind):
    with pytest.warns(RuntimeWarning):
        got = run()
    assert type(got) is kind
    np.testing.assert_equal(got, want)


@pytest.mark.parametrize(
    ("run", "want"),
    [
        (lambda: elementwise.add(1, 2), 3),
        (lambda: elementwise.divide(1, 2), 0.5),
        (lambda: pow_operator(2, 3), 8),
        (lambda: pow_operator(2, -1), 0.5),
        (lambda: pow_operator(2.0, 0.5), math.sqrt(2.0)),
        (lambda: pow_operator(1j, 2), -1 + 0j),
        (lambda: rounding.remainder(-7, 3), 2),
        (lambda: rounding.floor_divide(-7.0, 3.0), -3.0),
        (lambda: elementwise.absolute(-3), 3),
        (lambda: elementwise.negative(1.5), -1.5),
        (lambda: bits.bitwise_and(6, 3), 2),
        (lambda: integer_pow(1.5, 3), 3.375),
    ],
)
def test_python_scalars_stay_python_scalars(run, want):
    got = run()
    assert type(got) is type(want)
    assert got == want


def test_where_maximum_wins_structural_zeros():
    """The operand that loses takes nothing, though its own derivative is infinite."""
    f = lambda x: elementwise.maximum(elementwise.sqrt(x), 1.0)
    assert derivatives(f, 0.0, 1) == [1.0, 0.0]
    g = lambda x: elementwise.clip(elementwise.log(x), -1.0, 1.0)
    with np.errstate(divide="ignore"):
        assert derivatives(g, 0.0, 1) == [-1.0, 0.0]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: pow_operator(x, -1),
        lambda x: power(x, -1.5),
        lambda x: elementwise.log(convert.astype(x, np.float32)),
        lambda x: convert.real(elementwise.log(convert.conj(convert.astype(x, np.complex128)))),
        lambda x: elementwise.sqrt(convert.astype(elementwise.sqrt(x), np.float32)),
    ],
    ids=["x**-1", "x**-1.5", "float32", "complex", "two casts"],
)
@pytest.mark.parametrize("mode", [derivatives, forward_derivatives], ids=["reverse", "forward"])
def test_the_branch_not_taken_poisons_nothing(f, mode):
    with np.errstate(all="ignore"):
        assert mode(lambda x: where(x > 0, f(x), 2.0 * x), 0.0, 1) == [0.0, 2.0]


def test_weak_integers_to_negative_powers():
    assert autodidax.jit(lambda n: n**-1)(2) == 0.5


def test_arctan2_at_the_origin_is_nan():
    assert math.isnan(autodidax.grad(elementwise.arctan2)(0.0, 0.0))


def test_nextafter_says_why_it_has_no_derivative():
    with pytest.raises(errors.NondifferentiableError, match="grid of floating-point numbers"):
        autodidax.grad(rounding.nextafter)(1.0, 2.0)


@pytest.mark.parametrize("p", [elementwise.sign, elementwise.absolute], ids=str)
def test_sign_and_modulus_of_complex_numbers_are_not_holomorphic(p):
    z, t = 3 + 4j, 1 - 2j
    _, got = autodidax.jvp(p, (z,), (t,))
    np.testing.assert_allclose(got, numeric_derivative(lambda z: [p(z)], (z,), (t,))[0], rtol=1e-9)
    assert autodidax.jvp(p, (0j,), (t,))[1] == 0


def test_imaginary_part_keeps_an_infinite_cotangent_apart():
    _, pullback = autodidax.vjp(convert.imag, 1 + 2j)
    (g,) = pullback(inf)
    assert g.imag == -inf
    assert g.real == 0


UFUNCS = sorted(
    {f for f in vars(np).values() if isinstance(f, np.ufunc)}
    - {np.matmul, np.matvec, np.vecmat, np.vecdot, np.isnat, np.float_power, np.divmod},
    key=lambda f: f.__name__,
)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda f: f.__name__)
def test_every_elementwise_ufunc_has_a_primitive(ufunc):
    """float_power and divmod are made of two others; dates and products of matrices are no elementwise numbers."""
    assert registry.get(ufunc) is not None


def test_mixed_derivatives_of_a_power_at_exponent_zero():
    by_base = lambda y: autodidax.grad(lambda x: x**y)(2.0)
    by_exponent = lambda x: autodidax.grad(lambda y: x**y)(0.0)
    assert autodidax.grad(by_base)(0.0) == pytest.approx(0.5)
    assert autodidax.grad(by_exponent)(2.0) == pytest.approx(0.5)
    for n in range(4):  # integer powers at 0, in every order
        exponent = np.array(n)
        f = lambda x, exponent=exponent: x**exponent
        assert [f(0.0), autodidax.grad(f)(0.0), autodidax.grad(autodidax.grad(f))(0.0)] == [
            float(n == 0),
            float(n == 1),
            2.0 * (n == 2),
        ]
