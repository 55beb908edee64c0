"""jvp, vjp, linearize, linear_transpose, grad and its kin, Jacobians and Hessians: values, trees, dtypes, options."""

import numpy as np
import pytest

import autodidax as ad
from autodidax import (
    elementwise_grad,
    float0,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linear_transpose,
    linearize,
    tree,
    value_and_grad,
    vjp,
)

X = np.array([0.5, -1.0, 2.0])
Y = np.array([1.5, 0.25, -0.5])
Z = np.array([0.5 + 1.0j, -1.0 + 0.5j])
A = np.arange(9.0).reshape(3, 3) / 4 - 1


def same(got, want, rtol=1e-12):
    """Equal trees of arrays with equal shapes, dtypes and values."""
    assert tree.structure(got) == tree.structure(want)
    for a, b in zip(tree.leaves(got), tree.leaves(want), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape and a.dtype == b.dtype, (a.shape, b.shape, a.dtype, b.dtype)
        if a.dtype != float0:
            np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-13)


class TestJVP:
    def test_trees(self):
        f = lambda d, y: {"p": d["a"] * y, "q": [np.sin(d["b"])]}
        got = jvp(f, ({"a": X, "b": 2.0}, Y), ({"a": Y, "b": 3.0}, X))
        want = {"p": X * Y, "q": [np.sin(2.0)]}, {"p": Y * Y + X * X, "q": [3 * np.cos(2.0)]}
        same(got, want)

    def test_aux(self):
        same(jvp(lambda x: (x * x, {"k": x}), (3.0,), (2.0,), has_aux=True), (9.0, 12.0, {"k": 3.0}))

    @pytest.mark.parametrize("tangent", [None, np.zeros((), float0), 0], ids=["None", "float0", "zero"])
    def test_integer_primal(self, tangent):
        same(jvp(lambda n, x: n * x, (3, 2.0), (tangent, 1.0)), (6.0, 3.0))

    def test_integer_output(self):
        y, t = jvp(lambda x: (np.argmax(x), x > 0), (X,), (Y,))
        assert y[0] == 2 and t[0].dtype == float0 and t[1].dtype == float0 and t[1].shape == (3,)

    def test_none_is_a_zero_tangent(self):
        same(jvp(lambda x, y: x * y, (2.0, 3.0), (None, 1.0)), (6.0, 2.0))

    def test_complex(self):
        same(jvp(lambda z: z * z, (Z,), (Z,)), (Z * Z, 2 * Z * Z))
        same(jvp(lambda z: np.abs(z) ** 2, (Z,), (Z,))[1], 2 * np.abs(Z) ** 2)

    def test_dtype_is_the_primal_s(self):
        y, t = jvp(lambda x: x * 2.0, (X.astype("f4"),), (Y,))
        assert y.dtype == t.dtype == np.float32
        assert type(jvp(lambda x: x * x, (3,), (None,))[0]) is int

    def test_constant_output(self):
        same(jvp(lambda x: (X, 1.0, x), (2.0,), (3.0,)), ((X, 1.0, 2.0), (np.zeros(3), 0.0, 3.0)))


class TestVJP:
    def test_trees(self):
        y, pullback = vjp(lambda d, s: (d["a"] * d["b"], d["a"] * s), {"a": X, "b": Y}, 2.0)
        same(y, (X * Y, 2 * X))
        same(pullback((X, Y)), ({"a": X * Y + 2 * Y, "b": X * X}, np.float64(X @ Y)))

    def test_aux(self):
        y, pullback, aux = vjp(lambda x: (x * x, {"k": x + 1}), 3.0, has_aux=True)
        same((y, aux, pullback(1.0)), (9.0, {"k": 4.0}, (np.float64(6.0),)))

    def test_integer_argument(self):
        (g, n) = vjp(lambda x, n: x * n, X, 3)[1](Y)
        same(g, 3 * Y)
        assert n.dtype == float0 and n.shape == ()

    def test_float0_goes_round(self):
        f = ad.jit(lambda n, x: (n * x, n))
        n, g = vjp(f, 3, 2.0)[1]((1.0, None))
        assert n.dtype == float0 and isinstance(n, np.ndarray) and g == 3.0
        _, (_, t) = jvp(f, (3, 2.0), (n, 1.0))
        assert t.dtype == float0
        assert vjp(f, 3, 2.0)[1]((1.0, t))[1] == 3.0

    def test_no_conjugate(self):
        same(vjp(lambda z: z * (1 + 2j), Z)[1](Z)[0], Z * (1 + 2j))
        same(vjp(lambda x: x * (1 + 2j), X[:2])[1](Z)[0], np.real(Z * (1 + 2j)))
        same(vjp(np.real, Z)[1](X[:2])[0], X[:2] + 0j)
        same(vjp(np.imag, Z)[1](X[:2])[0], -1j * X[:2])

    def test_none_and_repeated_outputs(self):
        _, pullback = vjp(lambda x: (x, x, 2 * x), X)
        same(pullback((X, None, Y))[0], X + 2 * Y)
        same(pullback((None, None, None))[0], np.zeros(3))

    def test_pullback_many_times_and_under_transforms(self):
        _, pullback = vjp(lambda x: np.sin(x) * x, X)
        d = np.sin(X) + X * np.cos(X)
        for _ in range(3):
            same(pullback(Y)[0], Y * d)
        same(ad.vmap(pullback)(np.eye(3))[0], np.diag(d))
        same(grad(lambda ct: np.sum(pullback(ct)[0] ** 2))(Y), 2 * Y * d * d)
        same(ad.jit(pullback)(Y)[0], Y * d)


class TestLinearize:
    def test_values(self):
        y, push = linearize(lambda x, y: {"o": np.sin(x) * np.sum(y)}, X, Y)
        same(y, {"o": np.sin(X) * np.sum(Y)})
        same(push(Y, X), {"o": np.cos(X) * Y * np.sum(Y) + np.sin(X) * np.sum(X)})
        same(push(Y, None), {"o": np.cos(X) * Y * np.sum(Y)})

    def test_runs_the_function_once(self):
        calls = []
        _, push = linearize(lambda x: [calls.append(1), x * x][1], 3.0)
        assert [push(1.0), push(2.0)] == [6.0, 12.0] and calls == [1]

    def test_aux_and_integers(self):
        y, push, aux = linearize(lambda x, n: (x * n, n + 1), 2.0, 3, has_aux=True)
        same((y, aux, push(1.0, None)), (6.0, 4, np.float64(3.0)))

    def test_is_transformable(self):
        _, push = linearize(lambda x: np.sin(x) * x, X)
        d = np.diag(np.sin(X) + X * np.cos(X))
        same(ad.vmap(push)(np.eye(3)), d)
        same(jacrev(push)(Y), d)
        same(ad.jit(push)(Y), d @ Y)


class TestLinearTranspose:
    def test_shapes_alone(self):
        f = linear_transpose(lambda x: A @ x, ad.ShapeDtypeStruct((3,), np.float64))
        same(f(X), (A.T @ X,))

    def test_several_arguments_and_trees(self):
        f = linear_transpose(lambda d, y: {"o": d["a"][0] * 2 + y, "s": np.sum(y)}, {"a": X}, 1.0)
        same(f({"o": 3.0, "s": 4.0}), ({"a": np.array([6.0, 0.0, 0.0])}, np.float64(7.0)))

    def test_dtypes(self):
        f = linear_transpose(lambda x: x * (1 + 1j), ad.ShapeDtypeStruct((2,), np.float32))
        same(f(Z.astype("c8")), (np.real(Z * (1 + 1j)).astype("f4"),), rtol=1e-6)

    def test_never_runs_on_values(self):
        f = linear_transpose(lambda x: np.cumsum(x[::-1]) + 2 * x, ad.ShapeDtypeStruct((3,), np.float64))
        matrix = np.tril(np.ones((3, 3)))[:, ::-1] + 2 * np.eye(3)
        same(f(X)[0], matrix.T @ X)


f3 = lambda x, y, z: np.sum(x * y**2 * z**3)
G3 = (Y**2 * X**3, 2 * X * Y * X**3, 3 * X * Y**2 * X**2)  # at (X, Y, X)


class TestGrad:
    @pytest.mark.parametrize("argnums", [0, 1, 2, -1, -3, (0,), (0, 2), (2, 0), (-1, 0), [0, 1], np.int64(1)], ids=repr)
    def test_argnums(self, argnums):
        got = grad(f3, argnums)(X, Y, X)
        want = tuple(G3[k] for k in argnums) if isinstance(argnums, tuple | list) else G3[argnums]
        same(got, want)
        value, again = value_and_grad(f3, argnums)(X, Y, X)
        same((value, again), (f3(X, Y, X), want))

    @pytest.mark.parametrize(
        "options, want",
        [
            (dict(argnames="y"), G3[1]),
            (dict(argnames=("y",)), (G3[1],)),
            (dict(argnames=("z", "x")), (G3[2], G3[0])),
            (dict(argnums=0, argnames="z"), (G3[0], G3[2])),
            (dict(argnums=(1,), argnames=["z"]), (G3[1], G3[2])),
        ],
        ids=repr,
    )
    def test_argnames(self, options, want):
        same(grad(f3, **options)(X, Y, z=X), want)
        same(grad(f3, **options)(X, Y, X), want)
        same(jacrev(f3, **options)(X, Y, z=X), want)
        same(jacfwd(f3, **options)(X, Y, z=X), want)
        same(elementwise_grad(lambda x, y, z: x * y**2 * z**3, **options)(X, Y, z=X), want)

    def test_keyword_only_argument(self):
        assert grad(lambda x, *, k: x * k**2, argnames="k")(2.0, k=3.0) == 12.0

    def test_tree_and_none(self):
        same(grad(lambda p: np.sum(p["w"] @ X) + p["b"][0])({"w": A, "b": (1.0, None)}), {
            "w": np.tile(X, (3, 1)), "b": (np.float64(1.0), None),
        })  # fmt: skip

    def test_aux(self):
        same(grad(lambda x: (x * x, {"k": x}), has_aux=True)(3.0), (np.float64(6.0), {"k": 3.0}))
        same(value_and_grad(lambda x: (x * x, {"k": x}), has_aux=True)(3.0), ((9.0, {"k": 3.0}), np.float64(6.0)))

    def test_aux_of_an_outer_trace_keeps_its_derivative(self):
        f = lambda x: grad(lambda y: (x * y, x * x), has_aux=True)(1.0)[1]
        assert grad(f)(3.0) == 6.0

    def test_aux_need_not_be_arrays(self):
        extras = ["text", None, {"k": print}]
        assert grad(lambda x: (x * x, extras), has_aux=True)(3.0) == (6.0, extras)

    def test_complex(self):
        # real function of a + ib: df/da - i df/db
        same(grad(lambda z: np.sum(np.abs(z) ** 2))(Z), 2 * np.conj(Z))
        same(grad(lambda z: np.sum(np.real(z * z)))(Z), 2 * Z)
        same(grad(lambda z: z**3, holomorphic=True)(1 + 2j), np.complex128(3 * (1 + 2j) ** 2))

    def test_allow_int(self):
        g = grad(lambda n, x: n * x, argnums=(0, 1), allow_int=True)(3, 2.0)
        assert g[0].dtype == float0 and g[0].shape == () and g[1] == 3.0

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble, np.complex64])
    def test_dtype(self, dtype):
        x = X.astype(dtype)
        value, g = value_and_grad(lambda x: np.sum(np.real(np.sin(x) * x * 1.5)))(x)
        assert g.dtype == dtype and g.shape == x.shape
        assert value.dtype == np.sum(np.real(np.sin(x) * x * 1.5)).dtype

    def test_scalars_come_back_as_numpy_scalars(self):
        assert type(grad(lambda x: x * x)(3.0)) is np.float64
        assert type(grad(lambda x: np.float64(1.0))(3.0)) is np.float64
        assert type(grad(lambda x: 1.0)(np.ones(()))) is np.float64

    def test_extra_arguments_are_left_alone(self):
        f = lambda x, kind, table=None: x * (2.0 if kind == "double" else 1.0) * len(table)
        assert grad(f)(1.0, "double", table=["a", "b", "c"]) == 6.0

    def test_elementwise(self):
        same(elementwise_grad(np.tanh)(X), 1 - np.tanh(X) ** 2)
        same(elementwise_grad(elementwise_grad(lambda x: x**4))(A), 12 * A**2)
        same(elementwise_grad(lambda x, y: x * y, 1)(2.0, X), np.full(3, 2.0))

    def test_hvp(self):
        f = lambda x: np.sum(x**3) + x[0] * x[1]
        h = hessian(f)(X)
        same(hvp(f, (X,), (Y,)), (grad(f)(X), h @ Y), rtol=1e-10)
        got = hvp(lambda x, d: np.sum(x * d["k"] ** 2), (X, {"k": Y}), (Y, {"k": X}))
        same(got, ((Y**2, {"k": 2 * X * Y}), (2 * Y * X, {"k": 2 * X * X + 2 * Y * Y})))

    def test_names_and_docstrings(self):
        def loss(x):
            """The loss."""
            return x * x

        g = grad(loss)
        assert g.__name__ == "grad_loss" and "The loss." in g.__doc__ and g.__wrapped__ is loss
        for wrap in (value_and_grad, jacfwd, jacrev, hessian, elementwise_grad, ad.vmap, ad.jit, ad.checkpoint):
            assert "loss" in wrap(loss).__name__ and "The loss." in wrap(loss).__doc__


g2 = lambda x, y: np.sin(x) * (A @ y)
JX, JY = np.diag(np.cos(X) * (A @ Y)), np.sin(X)[:, None] * A  # at (X, Y)


@pytest.mark.parametrize("jac", [jacfwd, jacrev, jacobian], ids=["jacfwd", "jacrev", "jacobian"])
class TestJacobians:
    @pytest.mark.parametrize(
        "argnums, want", [(0, JX), (1, JY), (-1, JY), ((0, 1), (JX, JY)), ((1,), (JY,)), ((1, 0), (JY, JX))], ids=repr
    )
    def test_argnums(self, jac, argnums, want):
        same(jac(g2, argnums)(X, Y), want)

    def test_trees(self, jac):
        f = lambda d, s: {"p": d["a"] * s, "q": (np.sum(d["a"] ** 2),)}
        got = jac(f, (0, 1))({"a": X}, 2.0)
        want = {"p": ({"a": 2 * np.eye(3)}, X), "q": (({"a": 2 * X}, np.float64(0.0)),)}
        same(got, want)

    def test_matrix(self, jac):
        e = np.eye(3)
        want = np.einsum("ip,qj->ijpq", e, A) + np.einsum("ip,qj->ijpq", A, e)
        same(jac(lambda m: m @ m)(A), want)

    def test_scalar_and_empty(self, jac):
        same(jac(lambda x: x**3)(2.0), np.float64(12.0))
        same(jac(lambda x: x**3)(np.ones(0)), np.ones((0, 0)))

    def test_aux(self, jac):
        same(jac(lambda x: (x**2, {"k": x}), has_aux=True)(X), (np.diag(2 * X), {"k": X}))

    def test_holomorphic(self, jac):
        same(jac(lambda z: z**2 * z[0], holomorphic=True)(Z), np.diag(2 * Z * Z[0]) + np.outer(Z**2, [1, 0]))

    def test_dtype(self, jac):
        assert jac(lambda x: x**2)(X.astype("f4")).dtype == np.float32

    def test_nested(self, jac):
        same(jac(jac(lambda x: x**3))(X), np.einsum("i,ij,ik->ijk", 6 * X, np.eye(3), np.eye(3)))


class TestHessian:
    def test_trees_and_tuples(self):
        f = lambda d, s: np.sum(d["a"] ** 2) * s + s**3
        got = hessian(f, (0, 1))({"a": X}, 2.0)
        # the argument's tree and the tuple of argnums stand inside of those
        want = ({"a": ({"a": 4 * np.eye(3)}, 2 * X)}, ({"a": 2 * X}, np.float64(12.0)))
        same(got, want)

    def test_vector_output(self):
        same(hessian(lambda x: x**3)(X), np.einsum("i,ij,ik->ijk", 6 * X, np.eye(3), np.eye(3)))

    def test_aux_and_holomorphic(self):
        same(hessian(lambda x: (np.sum(x**3), x), has_aux=True)(X), (np.diag(6 * X), X))
        same(hessian(lambda z: np.sum(z**3), holomorphic=True)(Z), np.diag(6 * Z))

    def test_is_symmetric(self):
        h = hessian(lambda x: np.exp(np.sum(np.outer(x, x) * A)))(X)
        np.testing.assert_allclose(h, h.T, atol=1e-12)
