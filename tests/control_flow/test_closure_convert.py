"""closure_convert: closed-over traced values as arguments."""

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors, grad, jit, jvp, vmap

X = np.array([0.3, -0.7])


def scaled(a, n=2):
    """Closes over a traced float, and a traced integer where n is one; calls the converted function elsewhere."""
    f = lambda x, y: np.sin(a * x) * n + y["z"]
    g, consts = ad.closure_convert(f, X, {"z": 1.0})
    return g, consts


@pytest.mark.parametrize("wrap", [lambda f: f, jit, grad, lambda f: jit(grad(f)), lambda f: vmap(f)],
                         ids=["eager", "jit", "grad", "jit of grad", "vmap"])  # fmt: skip
def test_equals_the_function(wrap):
    def converted(a):
        g, consts = scaled(a)
        return np.sum(g(X, {"z": 2.0}, *consts))

    arg = X if wrap(abs).__name__.startswith("vmap") else 1.3
    np.testing.assert_allclose(wrap(converted)(arg), wrap(lambda a: np.sum(np.sin(a * X) * 2 + 2.0))(arg))


def test_constants_are_arguments():
    def f(a):
        g, consts = scaled(a)
        assert len(consts) == 1
        return np.sum(g(X, {"z": 0.0}, 2.0 * consts[0]))

    want = grad(lambda a: np.sum(np.sin(2.0 * a * X) * 2))(1.3)
    assert grad(f)(1.3) == pytest.approx(want) and jit(grad(f))(1.3) == pytest.approx(want)


def test_nothing_traced_is_left_in_place():
    g, consts = ad.closure_convert(lambda x: x * X, X)
    assert consts == []
    np.testing.assert_array_equal(g(X), X * X)


def test_traced_integers_stay_closed_over():
    def f(a, n):
        g, consts = scaled(a, n)
        assert [c.dtype for c in consts] == [np.float64]
        return np.sum(g(X, {"z": 0.0}, *consts))

    assert jit(f)(1.3, 3) == pytest.approx(np.sum(np.sin(1.3 * X) * 3))


def test_in_a_custom_rule():
    """A rule that takes the constants as arguments gives their derivatives."""

    def twice(fun, x):
        g, consts = ad.closure_convert(fun, x)

        @ad.custom_vjp
        def apply(x, *consts):
            return 2.0 * g(x, *consts)

        def fwd(x, *consts):
            out, pull = ad.vjp(g, x, *consts)
            return 2.0 * out, pull

        apply.defvjp(fwd, lambda pull, ct: tuple(7.0 * c for c in pull(ct)))
        return apply(x, *consts)

    f = lambda a: twice(lambda x: np.sin(a * x), 0.5)
    assert f(1.3) == pytest.approx(2.0 * np.sin(0.65))
    assert grad(f)(1.3) == pytest.approx(7.0 * 0.5 * np.cos(0.65))


def test_derivative_in_the_arguments():
    g, _ = ad.closure_convert(np.sin, 0.5)
    assert jvp(g, (0.5,), (1.0,))[1] == pytest.approx(np.cos(0.5)) and grad(grad(g))(0.5) == pytest.approx(-np.sin(0.5))


@pytest.mark.parametrize("args", [(), (1.0, 2.0), ({"a": 1.0},)], ids=["too few", "too many", "another tree"])
def test_other_arguments(args):
    g, _ = ad.closure_convert(np.sin, 0.5)
    with pytest.raises(errors.TreeError, match="takes 1 arguments"):
        g(*args)
