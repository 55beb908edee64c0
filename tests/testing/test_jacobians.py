"""numerical_jvp and numerical_jacobian: right values, honest errors, trees and dtypes of every kind."""

import itertools

import numpy as np
import pytest
from scipy import special

from autodidax import errors, tree
from autodidax.test_util import numerical_jacobian, numerical_jvp

V = np.array([0.5, 1.5, 0.7])
INF = np.inf
EPS = np.finfo(float).eps

# real functions with their derivatives, and where they are asked for
FUNCTIONS = {
    "sin": (np.sin, np.cos, (-20, 20)),
    "exp": (np.exp, np.exp, (-300, 300)),
    "log": (np.log, lambda x: 1 / x, (1e-3, 1e3)),
    "log1p": (np.log1p, lambda x: 1 / (1 + x), (-0.9, 5)),
    "sqrt": (np.sqrt, lambda x: 0.5 / np.sqrt(x), (1e-3, 1e3)),
    "cube": (lambda x: x**3, lambda x: 3 * x * x, (-5, 5)),
    "line": (lambda x: 3 * x + 1, lambda x: 3 + 0 * x, (-5, 5)),
    "constant": (lambda x: 0 * x + 2, lambda x: 0 * x, (-5, 5)),
    "reciprocal": (lambda x: 1 / x, lambda x: -1 / x**2, (1e-2, 10)),
    "tanh": (np.tanh, lambda x: 1 / np.cosh(x) ** 2, (-5, 5)),
    "arcsin": (np.arcsin, lambda x: 1 / np.sqrt(1 - x * x), (-0.99, 0.99)),
    "logistic": (special.expit, lambda x: special.expit(x) * special.expit(-x), (-15, 15)),
    "erf": (special.erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x), (-3, 3)),
    "Gaussian": (lambda x: np.exp(-x * x), lambda x: -2 * x * np.exp(-x * x), (-4, 4)),
    "narrow bump": (lambda x: np.exp(-((100 * x) ** 2)), lambda x: -2e4 * x * np.exp(-((100 * x) ** 2)), (-0.02, 0.02)),
    "fast oscillation": (lambda x: np.sin(200 * x), lambda x: 200 * np.cos(200 * x), (-2, 2)),
    "large offset": (lambda x: 1e6 + np.sin(x), np.cos, (-3, 3)),
    "cancellation": (lambda x: (1 - np.cos(x)) / x, lambda x: (np.sin(x) * x - 1 + np.cos(x)) / x**2, (0.1, 3)),
    "tiny factor": (lambda x: 1e-150 * np.sin(x), lambda x: 1e-150 * np.cos(x), (-3, 3)),
    "huge factor": (lambda x: 1e150 * np.sin(x), lambda x: 1e150 * np.cos(x), (-3, 3)),
    "kink elsewhere": (lambda x: np.abs(x - 0.25), lambda x: np.sign(x - 0.25), (0.3, 3)),
    "steps elsewhere": (lambda x: x + np.floor(x), lambda x: 1 + 0 * x, (0.1, 0.9)),
    "pole nearby": (lambda x: 1 / (x - 0.25), lambda x: -1 / (x - 0.25) ** 2, (0.26, 1)),
    "single precision inside": (lambda x: np.sin(np.float32(x)).astype(float), np.cos, (0.1, 3)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_error_is_within_its_bound(name):
    f, slope, (low, high) = FUNCTIONS[name]
    rng = np.random.default_rng(1)
    for n in (1, 1, 1, 5, 50):
        x = rng.uniform(low, high, n)
        t = rng.standard_normal(n)
        value, error = numerical_jvp(f, (x,), (t,))
        want = slope(x) * t
        assert np.all(np.abs(value - want) <= 8 * error + 8 * EPS * np.abs(want))
    if name != "single precision inside":
        assert np.all(np.isfinite(error))


@pytest.mark.parametrize("name", ["sin", "exp", "log", "sqrt", "cube", "line", "tanh", "erf", "huge factor", "arcsin"])
def test_smooth_functions_are_known_to_ten_digits(name):
    f, slope, _ = FUNCTIONS[name]
    x = np.linspace(0.5, 0.9, 7)
    value, error = numerical_jvp(f, (x,), (np.ones(7),))
    np.testing.assert_allclose(value, slope(x), rtol=1e-10)
    assert np.all(error <= 1e-10 * np.abs(slope(x)))


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-20, 1e-8, 1.0, 1e8, 1e20, 1e200, 1e300], ids="{:.0e}".format)
@pytest.mark.parametrize("name", ["sin", "log", "cube", "line"])
def test_tiny_and_huge_tangents(name, size):
    """The derivative is linear in the tangent, whatever the tangent's size."""
    f, slope, _ = FUNCTIONS[name]
    t = np.array([1.0, -0.3, 0.6]) * size
    value, error = numerical_jvp(f, (V,), (t,))
    np.testing.assert_allclose(value, slope(V) * t, rtol=1e-10)
    assert np.all(error <= 1e-10 * np.abs(slope(V) * t))


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-100, 1e-10, 1e10, 1e100, 1e200, 1e300], ids="{:.0e}".format)
def test_tiny_and_huge_arguments(size):
    """The derivative of c f(x / c) at c x is that of f at x."""
    value, error = numerical_jvp(lambda x: np.sin(x / size), (size * V,), (size * np.ones(3),))
    np.testing.assert_allclose(value, np.cos(V), rtol=1e-9)
    assert np.all(error < 1e-9)
    value, error = numerical_jacobian(lambda x: np.sin(x / size) * size, (size * V,))
    np.testing.assert_allclose(value[0], np.diag(np.cos(V)), rtol=1e-9, atol=1e-12)


def test_arguments_of_far_sizes():
    for decades in (4, 8, 12):
        x = np.logspace(-decades, decades, 5)
        with np.errstate(all="ignore"):
            value, error = (np.diag(m[0]) for m in numerical_jacobian(np.log, (x,)))
        assert np.all((error == INF) | (np.abs(value - 1 / x) <= 8 * error + 8 * EPS / x))
        value, error = numerical_jvp(np.log, (x,), (x,))
        np.testing.assert_allclose(value, 1.0, rtol=1e-9)
        assert np.all(error < 1e-9)


@pytest.mark.parametrize("t", [None, 0.0 * V, -0.0 * V], ids=["None", "zeros", "negative zeros"])
def test_zero_tangents(t):
    f = lambda x: {"a": np.sin(x), "n": (3, x > 0), "s": np.sum(x)}
    value, error = numerical_jvp(f, (V,), (t,))
    assert tree.structure(value) == tree.structure(f(V)) == tree.structure(error)
    for leaf, like in zip(tree.leaves((value, error)), 2 * tree.leaves(f(V)), strict=True):
        assert np.shape(leaf) == np.shape(like) and not np.any(leaf)


def test_tangents_of_some_arguments():
    f = lambda a, b: a * b
    value, _ = numerical_jvp(f, (V, V + 1), (None, V))
    np.testing.assert_allclose(value, V * V)
    value, _ = numerical_jvp(lambda p: p["a"] * p["b"], ({"a": V, "b": V + 1},), ({"a": V, "b": None},))
    np.testing.assert_allclose(value, V * (V + 1))


KINKS = {
    "abs": (np.abs, 0.0),
    "relu": (lambda x: np.maximum(x, 0), 0.0),
    "two slopes": (lambda x: np.where(x > 1, 3 * x, x + 2), 1.0),
    "max": (lambda x: np.maximum(x, 2 * x - 1), 1.0),
    "square root": (np.sqrt, 0.0),
    "edge of the domain": (np.arccos, 1.0),
    "logarithm": (lambda x: np.log(np.where(x > 0, x, np.nan)), 0.0),
}


@pytest.mark.parametrize("name", KINKS)
def test_at_a_kink_the_error_is_infinite(name):
    f, x = KINKS[name]
    with np.errstate(all="ignore"):
        assert numerical_jvp(f, (x,), (0.7,))[1] == INF
        assert numerical_jacobian(f, (np.array([x, 0.6]),))[1][0][0, 0] == INF


def test_a_kink_in_one_entry_leaves_the_others_alone():
    value, error = numerical_jacobian(np.abs, (np.array([0.0, 1.0]),))
    assert error[0][0, 0] == INF and error[0][1, 1] < 1e-12 and np.all(error[0][[0, 1], [1, 0]] < 1e-12)
    np.testing.assert_allclose(value[0][1], [0, 1], atol=1e-12)


@pytest.mark.parametrize(
    "f",
    [np.floor, np.sign, np.cbrt, lambda x: x + 1e-3 * np.sin(1e12 * x), lambda x: np.floor(1e6 * x) / 1e6],
    ids=["floor", "sign", "infinite slope", "noise", "fine staircase"],
)
def test_what_has_no_derivative_is_not_said_to_be_known(f):
    value, error = numerical_jvp(f, (np.array([0.0]),), (np.array([1.0]),))
    assert error[0] > 1e-4 * abs(value[0])


def test_a_random_function_is_not_said_to_be_known():
    rng = np.random.default_rng(0)
    value, error = numerical_jvp(lambda x: x + 1e-4 * rng.standard_normal(3), (V,), (np.ones(3),))
    assert np.all(np.abs(value - 1) <= 8 * error)
    assert np.all(error > 1e-6)


# kinds of arguments and results


def test_the_trees_are_those_of_the_result():
    f = lambda p, n: {"a": p["x"] * n, "b": (p["y"][0] > 0, [np.sum(p["x"])])}
    args = ({"x": V, "y": [2.0]}, 3)
    value, error = numerical_jvp(f, args, ({"x": np.ones(3), "y": [1.0]}, None))
    assert tree.structure(value) == tree.structure(error) == tree.structure(f(*args))
    np.testing.assert_allclose(value["a"], 3 * np.ones(3))
    assert value["b"][0] == 0 and error["b"][0] == 0
    np.testing.assert_allclose(value["b"][1][0], 3.0)

    value, error = numerical_jacobian(f, args)
    assert value["a"][0]["x"].shape == (3, 3) and value["a"][0]["y"][0].shape == (3,)
    np.testing.assert_allclose(value["a"][0]["x"], 3 * np.eye(3), atol=1e-12)
    assert not np.any(value["a"][1]) and not np.any(error["a"][1])  # the integer argument stays
    assert value["b"][1][0][0]["x"].shape == (3,)
    assert not np.any(value["b"][0][0]["x"])


SHAPES = [(), (1,), (3,), (0,), (2, 3), (0, 3), (1, 1)]


@pytest.mark.parametrize(("rows", "columns"), list(itertools.product(SHAPES, SHAPES)), ids=str)
def test_shapes_of_jacobians(rows, columns):
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((*rows, *columns))
    x = rng.standard_normal(columns)
    f = lambda x: np.tensordot(matrix, x, axes=len(columns))[()]
    value, error = numerical_jacobian(f, (x,))
    assert value[0].shape == error[0].shape == (*rows, *columns)
    np.testing.assert_allclose(value[0], matrix, atol=1e-11)
    t = rng.standard_normal(columns)
    value, error = numerical_jvp(f, (x,), (t,))
    assert np.shape(value) == np.shape(error) == rows
    np.testing.assert_allclose(value, f(t), atol=1e-11)


@pytest.mark.parametrize("x", [0.5, np.float64(0.5), np.float32(0.5), np.array(0.5)], ids=repr)
def test_scalars(x):
    value, error = numerical_jvp(np.sin, (x,), (2.0,))
    assert isinstance(value, np.float64) and isinstance(error, np.float64)
    assert abs(value - 2 * np.cos(0.5)) <= 8 * error < 1e-10
    value, _ = numerical_jacobian(np.sin, (x,))
    assert isinstance(value[0], np.float64)


def test_float32_arguments_are_evaluated_in_double_precision():
    seen = set()

    def f(x):
        seen.add(x.dtype)
        return np.exp(x)

    x = V.astype(np.float32)
    value, _ = numerical_jvp(f, (x,), (np.ones(3, np.float32),))
    assert seen == {np.dtype(np.float64)} and value.dtype == np.float64
    np.testing.assert_allclose(value, np.exp(x.astype(float)), rtol=1e-10)


def test_integers_and_booleans_stay():
    f = lambda x, n, m: np.where(m, x**n, x)
    mask = np.array([True, False, True])
    for tangents in ((np.ones(3), None, None), (np.ones(3), 5, mask), (np.ones(3), 1.5, np.ones(3))):
        value, _ = numerical_jvp(f, (V, 2, mask), tangents)
        np.testing.assert_allclose(value, np.where(mask, 2 * V, 1))
    value, error = numerical_jvp(lambda n: n * n, (3,), (1.0,))
    assert value == 0 and error == 0


COMPLEX = {
    "square": (lambda z: z * z, lambda z, t: 2 * z * t, True),
    "exponential": (np.exp, lambda z, t: np.exp(z) * t, True),
    "conjugate": (np.conj, lambda z, t: np.conj(t), False),
    "modulus": (np.abs, lambda z, t: np.real(np.conj(z) * t) / np.abs(z), False),
    "real part": (np.real, lambda z, t: np.real(t), False),
    "modulus squared times z": (
        lambda z: z * z * np.conj(z), lambda z, t: 2 * z * np.conj(z) * t + z * z * np.conj(t), False),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_functions(name):
    f, push, holomorphic = COMPLEX[name]
    z = V + 1j * V[::-1]
    for t in (np.ones(3), 1j * np.ones(3), V - 2j):
        value, error = numerical_jvp(f, (z,), (t,))
        assert np.all(np.abs(value - push(z, t)) <= 8 * error + 8 * EPS * np.abs(push(z, t)))
        assert np.all(error < 1e-9)
        assert error.dtype == np.float64
    along_real, error = numerical_jacobian(f, (z,))
    np.testing.assert_allclose(np.diag(along_real[0]), push(z, np.ones(3)), rtol=1e-9)
    assert error[0].dtype == np.float64
    if holomorphic:
        np.testing.assert_allclose(along_real[0] @ t, push(z, t), rtol=1e-9)


def test_a_complex_result_of_a_real_argument():
    value, _ = numerical_jvp(lambda x: np.exp(1j * x), (V,), (np.ones(3),))
    np.testing.assert_allclose(value, 1j * np.exp(1j * V), rtol=1e-10)


def _symmetric(a):
    return (a + a.T) / 2


MATRICES = {
    "inverse": (np.linalg.inv, lambda a, t: -np.linalg.inv(a) @ t @ np.linalg.inv(a)),
    "determinant": (np.linalg.det, lambda a, t: np.linalg.det(a) * np.trace(np.linalg.solve(a, t))),
    "square": (lambda a: a @ a, lambda a, t: a @ t + t @ a),
    "eigenvalues": (lambda a: np.linalg.eigvalsh(_symmetric(a)),
                    lambda a, t: (lambda u: np.diag(u.T @ _symmetric(t) @ u))(np.linalg.eigh(_symmetric(a))[1])),
    "norm": (np.linalg.norm, lambda a, t: np.sum(a * t) / np.linalg.norm(a)),
}  # fmt: skip


@pytest.mark.parametrize("name", MATRICES)
def test_functions_of_matrices(name):
    f, push = MATRICES[name]
    rng = np.random.default_rng(0)
    for _ in range(5):
        a, t = 0.3 * rng.standard_normal((3, 3)) + np.diag([1.0, 2.0, 4.0]), rng.standard_normal((3, 3))
        value, error = numerical_jvp(f, (a,), (t,))
        assert np.all(np.abs(value - push(a, t)) <= 8 * error + 64 * EPS * np.max(np.abs(push(a, t))))
        assert np.all(error <= 1e-8 * np.max(np.abs(value)))
        jacobian, _ = numerical_jacobian(f, (a,))
        np.testing.assert_allclose(np.tensordot(jacobian[0], t, 2), value, atol=1e-8 * np.max(np.abs(value)))


def test_arguments_of_every_layout_are_left_alone():
    for x in (V.copy(), V[::-1], np.asfortranarray(np.outer(V, V)), np.broadcast_to(0.5, (3,))):
        kept = x.copy()
        numerical_jvp(np.sin, (x,), (x,))
        numerical_jacobian(np.sin, (x,))
        np.testing.assert_array_equal(x, kept)


def test_an_edge_of_the_domain_nearby_costs_accuracy_only():
    for gap in (1e-2, 1e-4, 1e-6):
        value, error = numerical_jvp(np.log, (np.array([gap, 1.0]),), (np.ones(2),))
        assert np.all(np.abs(value - [1 / gap, 1]) <= 8 * error)
        assert np.all(error <= 1e-6 * value)


def test_a_function_that_raises_nearby():
    def f(x):
        if x > 1.0001:
            raise ValueError("outside")
        return x * x

    value, error = numerical_jvp(f, (1.0,), (1.0,))
    assert abs(value - 2) <= 8 * error < 1e-5


def test_a_function_that_raises_at_the_point_raises_itself():
    f = lambda x: 1 / 0
    for call in (lambda: numerical_jvp(f, (1.0,), (1.0,)), lambda: numerical_jacobian(f, (1.0,))):
        with pytest.raises(ZeroDivisionError):
            call()


BAD = {
    "args is an array": lambda: numerical_jvp(np.sin, V, V),
    "too few tangents": lambda: numerical_jvp(np.multiply, (V, V), (V,)),
    "too many tangents": lambda: numerical_jvp(np.sin, (V,), (V, V)),
    "another shape": lambda: numerical_jvp(np.sin, (V,), (V[:2],)),
    "scalar for array": lambda: numerical_jvp(np.sin, (V,), (1.0,)),
    "another tree": lambda: numerical_jvp(lambda p: p["a"], ({"a": V},), ({"a": V, "b": V},)),
    "text": lambda: numerical_jvp(np.sin, (V,), ("text",)),
    "text as the argument": lambda: numerical_jvp(np.sin, ("text",), (V,)),
    "text as the result": lambda: numerical_jvp(lambda x: "text", (V,), (V,)),
    "complex tangent of a real argument": lambda: numerical_jvp(np.sin, (V,), (1j * V,)),
    "infinite tangent": lambda: numerical_jvp(np.sin, (V,), (V * np.inf,)),
    "no function": lambda: numerical_jvp(3, (V,), (V,)),
    "jacobian of an array": lambda: numerical_jacobian(np.sin, V),
    "jacobian of no function": lambda: numerical_jacobian(3, (V,)),
    "tangents are no tuple": lambda: numerical_jvp(np.sin, (V,), 3),
}


@pytest.mark.parametrize("call", BAD.values(), ids=BAD)
def test_bad_usage(call):
    with pytest.raises(errors.AutodidaxError):
        call()
