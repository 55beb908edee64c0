"""numpy.fft: values, derivatives, vmap and staging of calls in both namespaces, and what is refused."""

import inspect
import warnings

import numpy as np
import pytest

import autodidax
import autodidax.numpy as anp
from autodidax import errors, lax
from autodidax.numpy import fft, protocols
from tests.numpy_api.agreement import (
    Case,
    assert_same,
    check_derivatives,
    check_second_derivatives,
    check_staged,
    check_vmap,
)

RNG = np.random.default_rng(0)
REAL_ONLY = {"rfft", "ihfft", "rfftn", "rfft2"}
LINES = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
PLANES = ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]
NORMS = (None, "backward", "ortho", "forward")


def draw(*shape, kind="real"):
    x = RNG.normal(size=shape)
    return x + 1j * RNG.normal(size=shape) if kind == "complex" else x


def kinds(name):
    return ("real",) if name in REAL_ONLY else ("real", "complex")


LINE_KEYWORDS = [
    *[dict(norm=norm) for norm in NORMS[1:]],
    dict(n=7), dict(n=8, norm="ortho"), dict(n=2, norm="forward"), dict(n=3), dict(n=1),
    dict(axis=0), dict(n=5, axis=0, norm="ortho"), dict(n=np.int64(4), axis=-2, norm="forward"),
]  # fmt: skip
PLANE_KEYWORDS = [
    {}, dict(norm="ortho"), dict(norm="forward"), dict(axes=(0, 1)), dict(axes=[2, 0]), dict(axes=(-1,)),
    dict(axes=(1, 1), norm="ortho"), dict(s=(3, 5), axes=(1, 2)), dict(s=(4, -1), axes=(0, -2)),
    dict(s=np.array([1, 2]), axes=(2, 1)),
]  # fmt: skip

CASES = [
    *[Case(f"fft.{name}", draw(4), label=name) for name in LINES],
    *[Case(f"fft.{name}", draw(5), label=name) for name in LINES],
    *[Case(f"fft.{f}", draw(3, 4, kind=kind), **kw) for f in LINES for kind in kinds(f) for kw in LINE_KEYWORDS],
    *[Case(f"fft.{f}", draw(2, 3, 4, kind=kind), **kw) for f in PLANES for kind in kinds(f) for kw in PLANE_KEYWORDS],
    *[Case(f"fft.{f}", draw(3, 4, kind="complex")) for f in ("fftshift", "ifftshift")],
    *[Case(f"fft.{f}", draw(5, 4), axes=axes) for f in ("fftshift", "ifftshift") for axes in (0, -1, (0,), [1, 0])],
    *[Case(f"fft.{f}", draw(5)) for f in ("fftshift", "ifftshift")],
    *[Case(f"fft.{f}", draw(3, 0), axes=0) for f in ("fftshift", "ifftshift")],
    *[Case(f"fft.{f}", n, 0.3, wrt=(1,)) for f in ("fftfreq", "rfftfreq") for n in (1, 4, 5)],
]


def primal(call, case):
    """The result of a call while it is differentiated."""
    (k,) = case.wrt
    return autodidax.jvp(lambda x: call(*case.args[:k], x, *case.args[k + 1 :]), *[(case.args[k],)] * 2)[0]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_a_call_on_traced_values(case):
    plain = case.call(np)
    assert_same(case.call(anp), plain, exact=True)
    for namespace in (np, anp):

        def call(*args, namespace=namespace):
            return case.call(namespace, args)

        assert_same(primal(call, case), plain, exact=True)
        check_staged(call, case.args, case.wrt)
        check_vmap(call, case.args, case.wrt)
    check_derivatives(call, case.args, case.wrt)


@pytest.mark.parametrize("case", CASES[::5], ids=repr)
def test_second_derivatives(case):
    check_second_derivatives(lambda *args: case.call(np, args), case.args, case.wrt)


def power(x):
    return np.sum(np.abs(np.fft.fftn(x)) ** 2)


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("transform", [lambda f: f, autodidax.jit], ids=["eager", "jit"])
def test_the_gradient_of_the_power(kind, transform):
    """By Parseval's theorem the power is the number of entries times their squared moduli."""
    x = draw(3, 4, kind=kind)
    np.testing.assert_allclose(transform(autodidax.grad(power))(x), 2 * x.size * np.conj(x), rtol=1e-12)


def test_the_derivative_of_a_convolution_by_its_transform():
    x, y = draw(5), draw(5)

    def convolved(y):
        return np.fft.irfft(np.fft.rfft(x) * np.fft.rfft(y), n=5)

    circulant = np.transpose([np.roll(x, k) for k in range(5)])
    for jacobian in (autodidax.jacfwd, autodidax.jacrev):
        np.testing.assert_allclose(jacobian(convolved)(y), circulant, atol=1e-13)
    hessian = autodidax.hessian(lambda y: np.sum(convolved(y) ** 2))(y)
    np.testing.assert_allclose(hessian, 2 * circulant.T @ circulant, atol=1e-12)


@pytest.mark.parametrize("order", ["inner", "outer"])
def test_vmap_in_every_order(order):
    x = draw(3, 4)

    def loss(x):
        return np.sum(np.abs(np.fft.rfft(x, n=5)) ** 3)

    want = np.stack([autodidax.grad(loss)(row) for row in x])
    if order == "inner":
        got = autodidax.grad(lambda x: np.sum(autodidax.vmap(loss)(x)))(x)
    else:
        got = autodidax.vmap(autodidax.grad(loss))(x)
    np.testing.assert_allclose(got, want, rtol=1e-12)
    across = autodidax.vmap(autodidax.grad(loss), in_axes=1, out_axes=1)(x.T)
    np.testing.assert_allclose(across, want.T, rtol=1e-12)


DTYPES = [np.float32, np.complex64, np.float16, np.int64, np.int8, np.uint8, bool, np.float64, np.complex128]
TAKEN = [
    (name, dtype)
    for name in [*LINES, *PLANES, "fftshift", "ifftshift"]
    for dtype in DTYPES
    if not (name in REAL_ONLY and np.dtype(dtype).kind == "c")
]


@pytest.mark.parametrize(("name", "dtype"), TAKEN, ids=lambda x: x if isinstance(x, str) else x.__name__)
def test_dtypes_are_numpys(name, dtype):
    x = np.array([[1, 0, 1], [0, 1, 1]]).astype(dtype)
    want = getattr(np.fft, name)(x)
    for namespace in (np.fft, fft):
        function = getattr(namespace, name)
        assert_same(autodidax.jit(function)(x), want, exact=True)
        assert_same(autodidax.vmap(function, in_axes=2, out_axes=2)(np.stack([x, x], 2))[:, :, 1], want, exact=True)
        aval = autodidax.eval_shape(function, x)
        assert (aval.shape, aval.dtype) == (want.shape, want.dtype)
    if x.dtype.kind in "fc":
        primal, tangent = autodidax.jvp(function, (x,), (x,))
        assert primal.dtype == tangent.dtype == want.dtype
        gradient = autodidax.grad(lambda x: np.sum(np.real(function(x)) ** 2))
        assert gradient(x).dtype == autodidax.jvp(gradient, (x,), (x,))[1].dtype == dtype


def test_all_functions_have_numpys_signatures_and_are_found_by_the_protocol():
    assert sorted(fft.__all__) == sorted({*np.fft.__all__, "test"})
    for name in set(fft.__all__) - {"test"}:
        plain, ours = getattr(np.fft, name), getattr(fft, name)
        assert ours.numpy_function is plain
        assert protocols.functions[plain] is ours.__wrapped__
        got, want = list(inspect.signature(ours).parameters.values()), inspect.signature(plain).parameters.values()
        assert [(p.name, p.default) for p in got[: len(want)]] == [(p.name, p.default) for p in want]
        assert [p.name for p in got[len(want) :]] == (["dtype"] if name.endswith("fftfreq") else [])  # JAX's


def test_traced_values_in_a_list():
    got = autodidax.grad(lambda a: anp.fft.rfft([a, 2.0, a])[1].real)(3.0)
    np.testing.assert_allclose(got, np.fft.rfft([1.0, 0.0, 1.0])[1].real)


def test_a_plain_array_is_transformed_at_once():
    x = draw(4)
    closed = autodidax.make_jaxpr(lambda y: y * np.fft.fft(x))(x)
    assert [eqn.primitive.name for eqn in closed.jaxpr.eqns] == ["mul"]
    out = np.empty(4, complex)
    assert fft.fft(x, out=out) is out


@pytest.mark.parametrize("name", ["fftn", "rfftn", "irfftn"])
def test_lengths_without_axes_are_deprecated_as_in_numpy(name):
    x = draw(2, 3, 4)
    with pytest.warns(DeprecationWarning, match="axes"):
        want = getattr(np.fft, name)(x, s=(2, 3))
    for function in (getattr(np.fft, name), getattr(fft, name)):
        with pytest.warns(DeprecationWarning, match="axes") as record:
            got, _ = autodidax.jvp(lambda x, f=function: f(x, s=(2, 3)), (x,), (x,))
        assert_same(got, want)
        assert record[0].filename == __file__


BAD_CALLS = {
    "no points": (draw(4), dict(n=0)),
    "negative points": (draw(4), dict(n=-1)),
    "no entries": (draw(0), {}),
    "a float of points": (draw(4), dict(n=4.0)),
    "norm": (draw(4), dict(norm="unitary")),
    "axis": (draw(4), dict(axis=1)),
    "axis and points": (draw(4), dict(axis=-2, n=3)),
    "one number": (np.float64(1.0), {}),
}
BAD_CALLS_OF_AXES = {
    "axes": (draw(3, 4), dict(axes=(0, 2))),
    "axes and lengths": (draw(3, 4), dict(axes=(0, 2), s=(3, 3))),
    "fewer lengths": (draw(3, 4), dict(s=(3,), axes=(0, 1))),
    "no points": (draw(3, 4), dict(s=(3, 0), axes=(0, 1))),
    "axes no sequence": (draw(3, 4), dict(axes=1)),
    "s no sequence": (draw(3, 4), dict(s=4, axes=(0,))),
    "norm": (draw(3, 4), dict(norm="unitary")),
    "no entries": (draw(3, 0), {}),
}


def numpys_class(function, x, kwargs):
    """The class that a NumPy user would catch."""
    with pytest.raises((ValueError, IndexError, TypeError)) as caught:
        function(x, **kwargs)
    return next(c for c in (IndexError, ValueError, TypeError) if isinstance(caught.value, c))


@pytest.mark.parametrize("label", BAD_CALLS)
@pytest.mark.parametrize("name", LINES)
def test_bad_calls_along_one_axis_raise_numpys_class(name, label):
    x, kwargs = BAD_CALLS[label]
    check_raises(name, x, kwargs)


@pytest.mark.parametrize("label", BAD_CALLS_OF_AXES)
@pytest.mark.parametrize("name", PLANES)
def test_bad_calls_along_axes_raise_numpys_class(name, label):
    x, kwargs = BAD_CALLS_OF_AXES[label]
    check_raises(name, x, kwargs)


@pytest.mark.parametrize("name", ["rfftn", "irfftn"])
def test_a_transform_over_no_axis_raises_numpys_class(name):
    check_raises(name, draw(3, 4), dict(axes=()))
    check_raises(name, np.float64(1.0), {})


def check_raises(name, x, kwargs):
    expected = numpys_class(getattr(np.fft, name), x, kwargs)
    for function in (getattr(np.fft, name), getattr(fft, name)):
        for transform in (lambda f: autodidax.jvp(f, (x,), (x,)), lambda f: autodidax.jit(f)(x)):
            with pytest.raises(expected):
                transform(lambda x, f=function: f(x, **kwargs))


def test_a_transform_over_no_axis_changes_nothing():
    x = draw(3)
    assert_same(autodidax.jvp(lambda x: np.fft.fftn(x, axes=()), (x,), (x,))[0], np.fft.fftn(x, axes=()))


REFUSED = {
    "traced out": (errors.MutationError, lambda x: fft.fft(np.ones(2), out=x)),
    "rfft of complex": (errors.DtypeError, lambda x: np.fft.rfft(x + 1j)),
    "ihfft of complex": (errors.DtypeError, lambda x: np.fft.ihfft(x + 1j)),
    "rfft2 of complex": (errors.DtypeError, lambda x: np.fft.rfft2(x + 1j)),
    "traced number of points": (errors.AutodidaxError, lambda x: fft.fft(np.ones(3), n=x[0, 0])),
    "traced number of frequencies": (errors.AutodidaxError, lambda x: fft.fftfreq(x[0, 0])),
    "shift of an axis": (IndexError, lambda x: np.fft.fftshift(x, axes=2)),
}


@pytest.mark.parametrize(("error", "call"), REFUSED.values(), ids=REFUSED)
def test_refused(error, call):
    with pytest.raises(error):
        autodidax.jvp(call, (np.eye(2),), (np.eye(2),))


@pytest.mark.parametrize("name", [*LINES, *PLANES])
def test_out_is_refused(name):
    out = np.empty((2, 2), complex)
    for function in (getattr(np.fft, name), getattr(fft, name)):
        with pytest.raises(errors.MutationError, match=f"{name}: .*out"):
            autodidax.jvp(lambda x, f=function: f(x, out=out), (np.eye(2),), (np.eye(2),))


def test_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        autodidax.hessian(lambda x: np.sum(np.real(np.fft.irfft2(x)) ** 2))(draw(2, 3))


LAX = [
    ("FFT", draw(2, 3, 4, kind="complex"), (4,), "fftn"),
    ("fft", draw(2, 3, 4), (3, 4), "fftn"),
    (lax.FftType.IFFT, draw(2, 3, kind="complex"), (2, 3), "ifftn"),
    ("RFFT", draw(2, 3, 4), (2, 3, 4), "rfftn"),
    (lax.FftType.IRFFT, draw(2, 3, kind="complex"), (2, 5), "irfftn"),
    ("IRFFT", draw(2, 3, kind="complex"), [4], "irfftn"),
]


@pytest.mark.parametrize(("kind", "x", "lengths", "name"), LAX, ids=str)
def test_laxs_transform(kind, x, lengths, name):
    def call(x):
        return lax.fft(x, kind, lengths)

    want = getattr(np.fft, name)(x, s=lengths, axes=tuple(range(-len(lengths), 0)))
    assert_same(call(x), want)
    check_staged(call, (x,), (0,))
    check_vmap(call, (x,), (0,))
    check_derivatives(call, (x,), (0,))


@pytest.mark.parametrize(
    ("kind", "lengths", "error"),
    [
        ("FFT", (4,), ValueError), ("FFT", (2, 2, 3), ValueError), ("IRFFT", (3,), ValueError),
        ("FHT", (3,), ValueError), (0, (3,), TypeError), ("RFFT", (2,), ValueError),
    ],
    ids=str,
)  # fmt: skip
def test_laxs_transform_takes_the_sizes_of_its_operand(kind, lengths, error):
    with pytest.raises(error):
        lax.fft(draw(2, 3), kind, lengths)
