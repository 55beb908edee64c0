"""check_primitive on small primitives of every kind: the right ones pass, and each wrong rule is named."""

import numpy as np
import pytest

from autodidax.core.avals import ShapedArray
from autodidax.core.primitive import Primitive, pointwise, sample
from autodidax.primitives.comparison import equal
from autodidax.primitives.elementwise import cos, exp, sin
from autodidax.primitives.select import where
from autodidax.primitives.shape import flip
from autodidax.testing.completeness import missing_rules
from autodidax.testing.primitives import check_primitive


class Scale(Primitive):
    """Linear: 3 x."""

    linear = True

    def impl(self, x):
        return 3 * x

    def abstract_eval(self, x):
        return ShapedArray(x.shape, x.dtype)

    def transpose(self, ct, x):
        return [3 * ct]

    def batch(self, args, dims):
        return self(*args), 0

    def samples(self, rng):
        yield sample(rng.normal(size=(2, 3)))
        yield sample(rng.normal(size=3).astype(np.float32))
        yield sample(rng.normal(size=2) + 1j)


class SinCos(Primitive):
    """General, with two outputs and a vjp beside the jvp."""

    multiple_results = True

    def impl(self, x):
        return [np.sin(x), np.cos(x)]

    def abstract_eval(self, x):
        return [ShapedArray(x.shape, x.dtype)] * 2

    def jvp(self, out, primals, tangents):
        (x,), (t,) = primals, tangents
        return [t * cos(x), -(t * sin(x))]

    def vjp(self, ct, out, primals, active):
        (x,) = primals
        total = None
        for c, d in zip(ct, (cos(x), -sin(x)), strict=True):
            if c is not None:
                total = c * d if total is None else total + c * d
        return [total]

    def batch(self, args, dims):
        return self(*args), [0, 0]

    def samples(self, rng):
        yield sample(rng.normal(size=(2, 3)))
        yield sample(rng.normal(size=3).astype(np.float32))


@pytest.mark.parametrize("kind", [Scale, SinCos])
def test_right_primitives_pass_in_every_mode(kind):
    report = check_primitive(kind("right", register=False))
    assert report.ok, str(report)
    assert not report.missing
    assert {"impl", "fwd", "rev", "vmap", "jit"} <= set(report.checks)


def _in_place(self, x):
    x *= 3
    return x.copy()


def _vjp_of_the_first(self, ct, out, primals, active):
    return [None if ct[0] is None else ct[0] * cos(primals[0])]


# kind, wrong rules, (rule named, mode, layer)
WRONG = {
    "transpose scaled": (Scale, {"transpose": lambda self, ct, x: [3.0001 * ct]}, ("transpose", "rev", "adjoint")),
    "transpose flipped": (
        Scale, {"transpose": lambda self, ct, x: [flip(3 * ct, axes=(len(ct.shape) - 1,))]},
        ("transpose", "rev", "adjoint")),
    "transpose conjugated": (
        Scale, {"transpose": lambda self, ct, x: [ct * 3 * (1 if x.dtype.kind == "f" else 1j)]},
        ("transpose", "rev", "adjoint")),
    "transpose of another shape": (
        Scale, {"transpose": lambda self, ct, x: [(3 * ct).reshape((-1,))]}, ("transpose", "rev", "runs")),
    "not linear": (Scale, {"impl": lambda self, x: 3 * x + x * x}, ("impl", "fwd", "value")),
    "affine": (Scale, {"impl": lambda self, x: 3 * x + 1}, ("impl", "fwd", "value")),
    "impl in place": (Scale, {"impl": _in_place}, ("impl", "impl", "purity")),
    "impl returns its operand": (Scale, {"impl": lambda self, x: x}, ("impl", "impl", "purity")),
    "impl raises": (Scale, {"impl": lambda self, x: 1 / 0}, ("impl", "impl", "runs")),
    "aval of another dtype": (
        Scale, {"abstract_eval": lambda self, x: ShapedArray(x.shape, np.float64)},
        ("abstract_eval", "impl", "structure")),
    "aval of another shape": (
        Scale, {"abstract_eval": lambda self, x: ShapedArray((*x.shape, 1), x.dtype)},
        ("abstract_eval", "impl", "structure")),
    "aval weak": (
        Scale, {"abstract_eval": lambda self, x: ShapedArray(x.shape, x.dtype, True)},
        ("abstract_eval", "impl", "structure")),
    "batch reversed": (
        Scale, {"batch": lambda self, args, dims: (flip(self(*args), axes=(0,)), 0)}, ("batch", "vmap", "loop")),
    "batch dimension": (Scale, {"batch": lambda self, args, dims: (self(*args), None)}, ("batch", "vmap", "structure")),
    "batch dimension 1": (Scale, {"batch": lambda self, args, dims: (self(*args), 1)}, ("batch", "vmap", "structure")),
    "jvp drops an output": (
        SinCos, {"jvp": lambda self, out, p, t: [t[0] * cos(p[0]), None]}, ("jvp", "fwd", "value")),
    "jvp in float64": (
        SinCos, {"jvp": lambda self, out, p, t: [t[0] * cos(p[0]) * np.float64(1), -(t[0] * sin(p[0]))]},
        ("jvp", "fwd", "dtype")),
    "vjp forgets an output": (SinCos, {"vjp": _vjp_of_the_first}, ("vjp", "rev", "adjoint")),
    "declared zero": (SinCos, {"zero_derivative": True}, ("zero_derivative", "fwd", "value")),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_each_wrong_rule_is_named(name):
    kind, rules, expected = WRONG[name]
    wrong = type("Wrong", (kind,), rules)("wrong", register=False)
    report = check_primitive(wrong)
    named = {(f.rule, f.mode, f.layer) for f in report.failures}
    assert expected in named, str(report)
    assert all(f.sample for f in report.failures)


# kind, the rule that it lacks, the modes that can be checked all the same
LACKING = {
    "batch": (Scale, {"batch": Primitive.batch}, {"impl", "fwd", "rev", "jit"}),
    "transpose": (Scale, {"transpose": Primitive.transpose}, {"impl", "vmap", "jit"}),
    "jvp": (SinCos, {"jvp": Primitive.jvp}, {"impl", "vmap", "jit"}),
    "abstract_eval": (Scale, {"abstract_eval": Primitive.abstract_eval}, set()),
    "impl": (Scale, {"impl": Primitive.impl}, set()),
}


@pytest.mark.parametrize("rule", LACKING)
def test_a_missing_rule_is_named_once_and_the_others_are_checked(rule):
    kind, rules, modes = LACKING[rule]
    lacking = type("Lacking", (kind,), rules)("lacking", register=False)
    report = check_primitive(lacking)
    assert report.ok and report.missing == [rule] and set(report.checks) == modes
    [failure] = check_primitive(lacking, require_complete=True).failures
    assert (failure.rule, failure.layer) == (rule, "complete")
    assert failure.message == f"define {rule} on Lacking, in {__name__}"


@pytest.mark.parametrize("factor", [1.5, -1.0, 1 + 1e-7], ids=["factor", "sign", "seven digits"])
@pytest.mark.parametrize("operand", [0, 1])
def test_partial_derivatives(factor, operand):
    partials = [lambda _, x, y: 2 * x * y, lambda _, x, y: x * x]
    right = partials[operand]
    partials[operand] = lambda out, x, y: right(out, x, y) * factor
    p = pointwise("product", lambda x, y: x * x * y, *partials, register=False)
    failures = check_primitive(p).failures
    assert failures
    assert {f.rule for f in failures if f.mode == "fwd"} == {"products"}
    assert f"operand {operand}" in failures[-1].argument + failures[0].argument


def test_kinks_are_checked_without_the_numeric_side():
    def samples(rng):
        yield sample(np.array([0.0, 1.0, -1.0]), nonsmooth=True)

    right = pointwise("relu", lambda x: np.maximum(x, 0), lambda _, x: (x > 0) * 1.0, samples=samples, register=False)
    report = check_primitive(right)
    assert report.ok, str(report)
    assert not report.inconclusive


def test_a_primitive_without_derivative_has_to_refuse():
    def samples(rng):
        yield sample(rng.normal(size=3))

    p = pointwise("spacing", np.spacing, nondifferentiable="a property of the format", samples=samples, register=False)
    report = check_primitive(p)
    assert report.ok, str(report)
    assert report.checks["fwd"] == report.checks["rev"] == 1


def test_what_is_missing_is_reported_and_fails_where_asked():
    class Bare(Primitive):
        def impl(self, x):
            return x + 1

    bare = Bare("bare", register=False)
    assert missing_rules(bare) == ["abstract_eval", "samples", "batch", "jvp"]
    assert check_primitive(bare).ok
    assert check_primitive(bare).missing == missing_rules(bare)
    assert len(check_primitive(bare, require_complete=True).failures) == 4


def test_unchecked_primitives_are_skipped_with_the_reason():
    p = Scale("unchecked", register=False)
    p.checked = False
    report = check_primitive(p)
    assert (report.ok, report.samples, len(report.skipped)) == (True, 0, 1)


def test_fail_fast_stops_at_the_first_failure():
    wrong = type("Wrong", (Scale,), {"transpose": lambda self, ct, x: [ct]})("wrong", register=False)
    assert len(check_primitive(wrong).failures) > 1
    assert len(check_primitive(wrong, fail_fast=True).failures) == 1


def test_modes_are_chosen():
    report = check_primitive(Scale("right", register=False), modes=("vmap",))
    assert set(report.checks) == {"impl", "vmap"}


def test_order_2_is_checked_at_zeros():
    """x exp(y) has right first derivatives here, and at y = 0 alone its mixed one is lost."""

    def product(slope):
        return pointwise(
            "product", lambda x, y: x * np.exp(y), slope, lambda _, x, y: x * exp(y), samples=_pairs, register=False
        )

    assert check_primitive(product(lambda _, _x, y: exp(y))).ok
    report = check_primitive(product(lambda _, _x, y: where(equal(y, 0), 1.0, exp(y))))
    assert {(f.order, f.point) for f in report.failures} <= {(2, "zeros"), (2, "zeros of 1")}
    assert report.failures


def _pairs(rng):
    yield sample(rng.normal(size=3), rng.normal(size=3))
    yield sample(rng.normal(size=2), rng.normal(size=2))
