"""Avals, bind, the registry, jaxprs with their checker and printer, and primitives that a user defines."""

import copy
import pickle

import numpy as np
import pytest

import autodidax as ad
from autodidax import Primitive, errors, grad, jit, jvp, make_jaxpr, vjp, vmap
from autodidax.core import jaxpr as ir
from autodidax.core.avals import ShapedArray, UnknownSize, broadcast_shapes, plain_aval
from autodidax.core.interpreters import frames, get_aval
from autodidax.core.primitive import linear, multilinear, pointwise, registry, sample

F64 = np.dtype(np.float64)


class TestAvals:
    def test_printing_and_equality(self):
        a = ShapedArray((3, 4), np.float32)
        assert repr(a) == "f32[3,4]" and a.ndim == 2 and a.size == 12
        assert a == ShapedArray((3, 4), "float32") and hash(a) == hash(ShapedArray((3, 4), "f4"))
        assert a != ShapedArray((3, 4), np.float64) and a != ShapedArray((3, 4), np.float32, True)
        assert a.update(shape=(2,)) == ShapedArray((2,), np.float32)

    @pytest.mark.parametrize(
        "value, shape, dtype, weak",
        [
            (1.0, (), "f8", True), (1, (), "i8", True), (1j, (), "c16", True), (True, (), "?", False),
            (np.float64(1), (), "f8", False), (np.float32(1), (), "f4", False),
            (np.ones((2, 3), "f4"), (2, 3), "f4", False), ([1.0, 2.0], (2,), "f8", False),
        ],
    )  # fmt: skip
    def test_of_plain_values(self, value, shape, dtype, weak):
        assert plain_aval(value) == ShapedArray(shape, dtype, weak)

    @pytest.mark.parametrize("value", ["a", None, {}, np.array(["a"])], ids=repr)
    def test_of_no_numbers(self, value):
        with pytest.raises(errors.DtypeError):
            plain_aval(value)

    def test_unknown_size(self):
        a, b = UnknownSize(), UnknownSize()
        assert a == a and a != b and a != 1 and len({a, b}) == 2 and repr(a) == "?"
        assert repr(ShapedArray((a, 3), F64)) == "f64[?,3]"
        assert broadcast_shapes("f", (a, 3), (3,)) == (a, 3)
        with pytest.raises(errors.ShapeError):
            broadcast_shapes("f", (a,), (b,))

    def test_broadcast(self):
        assert broadcast_shapes("f", (3, 1), (1, 4), ()) == (3, 4)
        with pytest.raises(errors.ShapeError, match=r"f: shapes \(3, 4\) and \(4, 3\).*axis -1 has 4 and 3"):
            broadcast_shapes("f", (3, 4), (4, 3))

    def test_struct(self):
        s = ad.ShapeDtypeStruct([2, 3], np.float32)
        assert s.shape == (2, 3) and repr(s) == "ShapeDtypeStruct(shape=(2, 3), dtype=float32)"
        assert ad.typeof(s) == s and get_aval(np.ones((2, 3), "f4")) == ShapedArray((2, 3), "f4")


class TestDispatch:
    def test_plain_operands_run_at_once_inside_a_trace(self):
        kinds = []

        def f(x):
            kinds.append(type(np.sin(np.ones(2))))
            kinds.append(type(ad.numpy.sin(2.0)))
            return x

        jit(f)(1.0)
        assert kinds == [np.ndarray, np.float64]

    def test_frames_name_the_open_transforms(self):
        seen = []
        grad(lambda x: vmap(lambda y: [seen.extend(t.describe() for t in frames()), y * x][1])(np.ones(2))[0])(1.0)
        assert seen[0].startswith("grad of") and seen[1].startswith("vmap of") and "size 2" in seen[1]
        assert frames() == ()

    def test_operand_of_an_outer_trace_inside_staging(self):
        def f(x):
            program = make_jaxpr(lambda y: y * x)(2.0)
            assert len(program.in_avals) == 2  # x is captured, not computed on
            return x

        assert grad(f)(3.0) == 1.0


def program_of(f, *args):
    return make_jaxpr(f)(*args).jaxpr


class TestChecker:
    def test_accepts(self):
        ir.check_jaxpr(program_of(lambda x: np.sum(np.sin(x) * x), np.ones(3)))

    def jaxpr(self):
        return program_of(lambda x: np.sin(x) * x, np.ones(3))

    def test_order(self):
        bad = self.jaxpr()
        bad.eqns.reverse()
        with pytest.raises(errors.JaxprError, match="before it is bound"):
            ir.check_jaxpr(bad)

    def test_bound_twice(self):
        bad = self.jaxpr()
        bad.eqns.append(bad.eqns[0])
        with pytest.raises(errors.JaxprError, match="bound twice"):
            ir.check_jaxpr(bad)
        bad = self.jaxpr()
        bad.invars = bad.invars * 2
        with pytest.raises(errors.JaxprError, match="bound twice"):
            ir.check_jaxpr(bad)

    def test_unbound_output(self):
        bad = self.jaxpr()
        bad.outvars = [ir.Var(ShapedArray((3,), F64))]
        with pytest.raises(errors.JaxprError, match="output"):
            ir.check_jaxpr(bad)

    @pytest.mark.parametrize("aval", [ShapedArray((4,), F64), ShapedArray((3,), np.float32)], ids=repr)
    def test_wrong_aval(self, aval):
        bad = self.jaxpr()
        old = bad.eqns[0].outvars[0]
        new = ir.Var(aval)
        bad.eqns[0].outvars = [new]
        bad.eqns[1].invars = [new if v is old else v for v in bad.eqns[1].invars]
        with pytest.raises(errors.JaxprError, match=r"equation 0 \(sin\): outputs are"):
            ir.check_jaxpr(bad)

    def test_wrong_number_of_outputs(self):
        bad = self.jaxpr()
        bad.eqns[0].outvars = [*bad.eqns[0].outvars, ir.Var(ShapedArray((3,), F64))]
        with pytest.raises(errors.JaxprError, match="outputs are"):
            ir.check_jaxpr(bad)

    def test_literal_that_is_no_scalar(self):
        bad = self.jaxpr()
        bad.eqns[1].invars = [bad.eqns[1].invars[0], ir.Literal(np.ones(3))]
        with pytest.raises(errors.JaxprError, match="no scalar"):
            ir.check_jaxpr(bad)

    def test_inside_a_parameter(self):
        bad = program_of(lambda x: jit(lambda y: np.sin(y) * y)(x), np.ones(3))
        (inner,) = ir.subjaxprs(bad.eqns[0].params)
        inner.jaxpr.eqns.reverse()
        with pytest.raises(errors.JaxprError, match="before it is bound"):
            ir.check_jaxpr(bad)


class TestEvaluation:
    def test_values_and_tracers(self):
        closed = make_jaxpr(lambda x, y: (x * y, np.sin(x)))(1.0, 2.0)
        assert ad.eval_jaxpr(closed.jaxpr, closed.consts, 3.0, 4.0) == [12.0, np.sin(3.0)]
        assert grad(lambda x: ad.eval_jaxpr(closed.jaxpr, closed.consts, x, 4.0)[0])(3.0) == 4.0
        assert ir.jaxpr_as_fun(closed)(3.0, 4.0)[0] == 12.0

    def test_wrong_number_of_inputs(self):
        closed = make_jaxpr(lambda x: x)(1.0)
        with pytest.raises(errors.ArgumentError, match="1 inputs, 2 were given"):
            ad.eval_jaxpr(closed.jaxpr, closed.consts, 1.0, 2.0)


class TestPrinter:
    def test_names_after_z(self):
        def f(x):
            for _ in range(30):
                x = np.sin(x)
            return x

        assert "ae:f64[] = sin ad" in str(make_jaxpr(f)(1.0))

    def test_nested_and_several_outputs(self):
        text = str(make_jaxpr(lambda x: jit(lambda y: (y, 2.0 * y))(x))(1.0))
        assert text.splitlines()[0] == "{ lambda ; a:f64[]. let"
        assert "jit[" in text and "name=<lambda>" in text and text.rstrip().endswith("}")

    def test_no_equations(self):
        assert str(make_jaxpr(lambda x: (x, 1.0))(1.0)).splitlines()[-1] == "  in (a, 1.0:f64[]) }"


@pytest.fixture
def own():
    """Registers what a test defines, and takes it out of the registry again."""
    before = set(registry._by_name)
    yield
    for name in set(registry._by_name) - before:
        registry.remove(registry[name])


class Roll(Primitive):
    """Entries moved by one along the last axis: (..., n) -> (..., n)."""

    linear = True

    def impl(self, x, *, by):
        return np.roll(x, by, axis=-1)

    def abstract_eval(self, x, *, by):
        return ShapedArray(x.shape, x.dtype)

    def transpose(self, ct, x, *, by):
        return [self(ct, by=-by)]

    def batch(self, args, dims, *, by):
        return self(*args, by=by), 0

    def samples(self, rng):
        yield sample(rng.normal(size=(2, 3)), by=1)


class SumOfSquares(Primitive):
    """Sum of squares over the last axis, by a general rule: (..., n) -> (...)."""

    def impl(self, x):
        return np.sum(x * x, axis=-1)

    def abstract_eval(self, x):
        return ShapedArray(x.shape[:-1], x.dtype)

    def jvp(self, out, primals, tangents):
        return np.sum(2.0 * primals[0] * tangents[0], axis=-1)

    def batch(self, args, dims):
        return self(*args), 0


A = np.array([0.5, 1.0, 2.0])
KINDS = {
    "pointwise": (
        lambda: pointwise("own_softplus", lambda x: np.log1p(np.exp(x)), lambda y, x: 1.0 - np.exp(-y)),
        lambda x: np.log1p(np.exp(x)),
    ),
    "pointwise of two": (
        lambda: (lambda p: lambda x: p(x, np.cos(x)))(
            pointwise("own_product_plus", lambda x, y: x * y + y, lambda _z, _x, y: y, lambda _z, x, _y: x + 1.0)
        ),
        lambda x: x * np.cos(x) + np.cos(x),
    ),
    "linear": (
        lambda: linear(
            "own_double", lambda x: x + x, lambda ct, x: [ct + ct], batch=lambda args, dims: (args[0] * 2.0, 0)
        ),
        lambda x: x + x,
    ),
    "multilinear": (
        lambda: (lambda p: lambda x: p(x, np.sin(x)))(
            multilinear(
                "own_outer", lambda x, y: x * y,
                lambda ct, x, y: [ct * y, None] if isinstance(x, ShapedArray) else [None, ct * x],
                batch=lambda args, dims: (args[0] * args[1], 0),
            )
        ),
        lambda x: x * np.sin(x),
    ),
    "linear subclass": (lambda: (lambda p: lambda x: p(x, by=1))(Roll("own_roll")), lambda x: x[np.array([2, 0, 1])]),
    "general subclass": (lambda: SumOfSquares("own_sum_of_squares"), lambda x: np.sum(x * x)),
}  # fmt: skip
total = lambda f: lambda x: np.sum(np.sin(f(x)))
USES = {
    "value": lambda f: f(A),
    "jvp": lambda f: jvp(f, (A,), (A * 2.0,))[1],
    "vjp": lambda f: vjp(f, A)[1](f(A))[0],
    "grad": lambda f: grad(total(f))(A),
    "hessian": lambda f: ad.hessian(total(f))(A),
    "reverse twice": lambda f: ad.jacrev(ad.jacrev(total(f)))(A),
    "vmap": lambda f: vmap(f)(np.stack([A, -A])),
    "vmap of grad": lambda f: vmap(grad(total(f)))(np.stack([A, -A])),
    "jit": lambda f: jit(f)(A),
    "jit of hessian": lambda f: jit(ad.hessian(total(f)))(A),
    "linearize": lambda f: ad.linearize(f, A)[1](A),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", KINDS)
def test_users_primitive(kind, use, own):
    make, plain = KINDS[kind]
    np.testing.assert_allclose(USES[use](make()), USES[use](plain), atol=1e-12)


class TestRegistry:
    def test_lookup(self):
        assert registry["sin"] is registry[np.sin] and "sin" in registry and np.sin in registry
        assert "no such" not in registry and [1] not in registry
        assert len(registry) == len(list(registry)) > 100
        assert registry["sin"] in registry.in_module("autodidax.primitives")

    @pytest.mark.parametrize("key", ["no such", np.save, [1]], ids=["name", "function", "list"])
    def test_unknown(self, key):
        with pytest.raises(errors.RegistryError, match="no primitive"):
            registry[key]

    def test_duplicate(self, own):
        Roll("own_name")
        with pytest.raises(errors.RegistryError, match=r"'own_name' exists already, in"):
            SumOfSquares("own_name")
        assert isinstance(registry["own_name"], Roll)

    def test_primitives_are_single(self):
        sin = registry["sin"]
        assert pickle.loads(pickle.dumps(sin)) is sin and copy.deepcopy(sin) is sin and repr(sin) == "sin"

    @pytest.mark.parametrize(
        "use, rule", [("grad", "derivative"), ("vmap", "batching"), ("jit", "abstract evaluation")], ids=lambda v: v
    )
    def test_missing_rule_is_named(self, use, rule, own):
        class Bare(Primitive):
            def impl(self, x):
                return x * 2.0

            if use != "jit":

                def abstract_eval(self, x):
                    return x

        bare = Bare("own_bare")
        with pytest.raises(errors.UnsupportedError, match=f"primitive own_bare has no {rule}"):
            {"grad": grad, "vmap": vmap, "jit": jit}[use](bare)(A if use != "grad" else 1.0)

    @pytest.mark.parametrize("fun", [np.frexp, lambda x: (np.sin(x), np.cos(x)), lambda x: [x.real, np.spacing(x)]])
    def test_a_pointwise_function_of_several_results(self, fun):
        with pytest.raises(errors.ArgumentError, match=r"(?s)several results.*multiple_results=True"):
            pointwise("own_pair", fun, lambda out, x: x)
        assert "own_pair" not in registry

    def test_reason_of_a_nondifferentiable_one(self, own):
        spacing = pointwise("own_spacing", np.spacing, nondifferentiable="it measures the number format")
        with pytest.raises(errors.NondifferentiableError, match="it measures the number format"):
            grad(spacing)(1.0)
        assert spacing(1.0) == np.spacing(1.0)
