"""check_grads, check_jvp, check_vjp: right rules pass, wrong ones raise with a report, in every kind of argument."""

import numpy as np
import pytest

from autodidax import errors
from autodidax.core.primitive import Primitive, pointwise
from autodidax.primitives.convert import stop_gradient_p
from autodidax.primitives.elementwise import absolute, cos, exp, log, maximum, sin, sqrt, tanh
from autodidax.primitives.shape import reduce_sum
from autodidax.test_util import check_grads, check_jvp, check_vjp, check_vmap

RNG = np.random.default_rng(7)
V = RNG.uniform(0.5, 2.0, 5)
M = RNG.uniform(0.5, 2.0, (3, 4))


def _total(x):
    return reduce_sum(x, axes=tuple(range(x.ndim)))


CORRECT = {
    "one array": (lambda x: sin(x) * x, (V,)),
    "scalar": (lambda x: exp(x) / x, (0.7,)),
    "two arguments": (lambda x, y: x * y + tanh(y), (V, V[::-1].copy())),
    "broadcast": (lambda x, y: x * y, (M, M[:, :1])),
    "reduction": (lambda x: _total(x * x), (M,)),
    "tree": (lambda p: {"a": p["w"] * p["b"][0], "b": [sin(p["b"][0])]}, ({"w": M, "b": (M[0],)},)),
    "several outputs": (lambda x: (sin(x), cos(x), x), (V,)),
    "integer argument": (lambda x, n: x * n, (V, 3)),
    "integer array": (lambda x, n: x * n, (V, np.arange(5))),
    "boolean output": (lambda x: (x > 1.0, x * x), (V,)),
    "float32": (lambda x: sin(x) * x, (V.astype(np.float32),)),
    "float32 and float64": (lambda x, y: x * y, (V.astype(np.float32), V)),
    "complex": (lambda x: x * x * exp(x), (V + 1j * V[::-1],)),
    "complex modulus": (lambda x: absolute(x), (V + 1j * V[::-1],)),
    "complex64": (lambda x: x * x, ((V + 1j * V[::-1]).astype(np.complex64),)),
    "real to complex": (lambda x: x * (1 + 2j), (V,)),
    "constant": (lambda x: np.ones(3), (V,)),
    "identity": (lambda x: x, (V,)),
    "empty": (lambda x: sin(x), (np.zeros((0, 3)),)),
    "large and tiny": (lambda x: log(x), (np.array([1e-8, 1e-3, 1.0, 1e8]),)),
    "tiny scale": (lambda x: sin(x * 1e8), (V * 1e-8,)),
    "cancellation": (lambda x: (1.0 - cos(x * 1e-3)) * 1e6, (V,)),
}


@pytest.mark.parametrize("name", CORRECT)
@pytest.mark.parametrize("modes", ["fwd", "rev", ("fwd", "rev")], ids=str)
def test_correct_functions_pass(name, modes):
    f, args = CORRECT[name]
    for seed in range(3):
        report = check_grads(f, args, order=2, modes=modes, seed=seed)
        assert report.ok
        assert not report.inconclusive


def test_third_order():
    report = check_grads(lambda x: sin(x) * x, (V,), order=3)
    assert report.ok
    assert report.checks["fwd"] >= 7  # the point, and two maps at each order


def test_jax_calls_it_by_position():
    assert check_grads(sin, (V,), 2, ["fwd", "rev"], 1e-6, 1e-6).overrides == {"atol": 1e-6, "rtol": 1e-6}
    assert check_grads(sin, (V,), order=1, modes=["rev"], eps=1e-3).overrides == {"eps": 1e-3}


def test_curried_form():
    assert check_grads(lambda x, y: x * y, order=2)(V, V).ok


def test_kinks_are_counted_and_shown():
    report = check_grads(lambda x: maximum(x, 0.0), (np.array([0.0, 1.0]),), order=1)
    assert report.ok
    assert len(report.inconclusive) == 1
    assert "1 of 2 entries" in str(report)
    assert "1 at a kink" in str(report)


def _wrong(name, **rules):
    """A primitive sin with a wrong rule."""
    body = {
        "impl": staticmethod(np.sin),
        "abstract_eval": staticmethod(lambda x: x),
        "jvp": staticmethod(lambda out, primals, tangents: tangents[0] * cos(primals[0])),
        **{rule: staticmethod(f) for rule, f in rules.items()},
    }
    return type("Sin", (Primitive,), body)(name, register=False)


class _Detached(Primitive):
    """exp whose derivative holds a residual that is cut off: right at order 1, wrong at order 2."""

    def impl(self, x):
        return np.exp(x)

    def abstract_eval(self, x):
        return x

    def jvp(self, out, primals, tangents):
        return tangents[0] * stop_gradient_p(out)


WRONG = {
    "factor": (_wrong("f1", jvp=lambda out, p, t: t[0] * cos(p[0]) * (1 + 1e-7)), "fwd", "value", 1),
    "sign": (_wrong("f2", jvp=lambda out, p, t: -(t[0] * cos(p[0]))), "fwd", "value", 1),
    "zero": (_wrong("f3", jvp=lambda out, p, t: None), "fwd", "value", 1),
    "vjp alone": (
        _wrong("f4", vjp=lambda ct, out, p, active: [ct * cos(p[0]) * (1 + 1e-10)]), "rev", "adjoint", 1),
    "vjp not linear": (_wrong("f5", vjp=lambda ct, out, p, active: [ct * ct * cos(p[0])]), "rev", "homogeneity", 1),
    "jvp raises": (_wrong("f6", jvp=lambda out, p, t: 1 / 0), "fwd", "runs", 1),
    "detached residual": (_Detached("f7", register=False), "fwd", "value", 2),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules_raise_with_a_report(name):
    f, mode, layer, order = WRONG[name]
    if order == 2:
        assert check_grads(f, (V,), order=1).ok
    with pytest.raises(errors.CheckError) as caught:
        check_grads(f, (V,), order=2)
    failure = caught.value.report.failures[0]
    assert (failure.mode, failure.layer, failure.order) == (mode, layer, order)
    assert f.name in str(caught.value)


def test_the_message_names_function_mode_order_argument_and_numbers():
    bad = pointwise("bad_product", np.multiply, lambda _, x, y: y, lambda _, x, y: x * 1.5, register=False)

    def area(width, height):
        return bad(width, height)

    with pytest.raises(errors.CheckError) as caught:
        check_grads(area, (V, V + 1))
    text = str(caught.value)
    for part in ("area", "jvp is wrong", "value, fwd, order 1", "'height'", "expected:", "with an error of at most"):
        assert part in text
    assert "'width'" not in text
    assert "error.report" in text


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: check_grads(sin, V), errors.ArgumentError),
        (lambda: check_grads(sin, (np.arange(3),)), errors.DtypeError),
        (lambda: check_grads(sin, (V,), modes=["forward"]), errors.ArgumentError),
        (lambda: check_grads(sin, (V,), order=0), errors.ArgumentError),
        (lambda: check_grads(3, (V,)), errors.ArgumentError),
        (lambda: check_grads(sin, ("text",)), errors.DtypeError),
    ],
    ids=["args is no tuple", "integers only", "unknown mode", "order 0", "no function", "text"],
)
def test_bad_usage(call, error):
    with pytest.raises(error):
        call()


def test_arguments_are_left_alone():
    x = V.copy()
    check_grads(lambda x: sin(x), (x,))
    np.testing.assert_array_equal(x, V)


def test_the_numeric_side_sees_plain_arrays_only():
    seen = []
    check_jvp(lambda x: [seen.append(type(x)), np.sin(x)][1], lambda p, t: (np.sin(p[0]), np.cos(p[0]) * t[0]), (V,))
    assert set(seen) <= {np.ndarray, np.float64}


# hand-written rules, in JAX's forms


def test_check_jvp_on_trees():
    f = lambda p: {"y": p["a"] * p["b"]}

    def f_jvp(primals, tangents):
        ((p,), (t,)) = primals, tangents
        return f(p), {"y": t["a"] * p["b"] + p["a"] * t["b"]}

    assert check_jvp(f, f_jvp, ({"a": V, "b": V + 1},)).ok
    with pytest.raises(errors.CheckError, match="jvp is wrong"):
        check_jvp(f, lambda p, t: (f(*p), {"y": t[0]["a"] * p[0]["b"]}), ({"a": V, "b": V + 1},))


def test_check_vjp_with_integer_arguments_and_none():
    f = lambda x, n: x**n
    right = lambda x, n: (x**n, lambda ct: (ct * n * x ** (n - 1), None))
    assert check_vjp(f, right, (V, 3)).ok
    with pytest.raises(errors.CheckError, match="vjp is wrong"):
        check_vjp(f, lambda x, n: (x**n, lambda ct: (ct * x ** (n - 1), None)), (V, 3))


@pytest.mark.parametrize("conjugate", [False, True], ids=["plain transpose", "adjoint"])
def test_complex_rules_are_plain_transposes(conjugate):
    a, b = V + 1j * V[::-1], V - 0.5j

    def f_vjp(a, b):
        turn = np.conj if conjugate else lambda z: z
        return a * b, lambda ct: (ct * turn(b), ct * turn(a))

    if conjugate:
        with pytest.raises(errors.CheckError):
            check_vjp(lambda a, b: a * b, f_vjp, (a, b))
    else:
        assert check_vjp(lambda a, b: a * b, f_vjp, (a, b)).ok


def test_sqrt_at_zero_is_inconclusive():
    report = check_grads(sqrt, (np.array([0.0, 1.0]),), order=1)
    assert report.ok
    assert report.inconclusive


def _softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def _softmax_vjp(x, ct):
    p = _softmax(x)
    return p * (ct - p @ ct)


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=lambda d: d.__name__)
@pytest.mark.parametrize("logits", [[0, 40], [3, 50, -2], [0, 20], [0, 100]], ids=str)
def test_a_saturated_softmax_is_not_accused(logits, dtype):
    for seed in range(3):
        assert check_vjp(_softmax, _softmax_vjp, (np.array(logits, dtype),), form="flat", seed=seed).ok


@pytest.mark.parametrize("f", [np.argmax, lambda x: x > 0, lambda x: None], ids=["integer", "boolean", "none"])
def test_outputs_without_a_derivative_are_inconclusive(f):
    report = check_vjp(f, lambda x, ct: 0 * x, (V,), form="flat")
    assert report.ok and "nothing was compared" in report.inconclusive[0]


@pytest.mark.parametrize("override", [{"atol": -1.0}, {"rtol": np.nan}, {"eps": 0.0}], ids=str)
def test_overrides_are_numbers_that_mean_something(override):
    with pytest.raises(errors.ArgumentError):
        check_grads(sin, (V,), **override)


@pytest.mark.parametrize("seed", [-1, 1.5, None, True], ids=str)
def test_a_seed_is_a_number_that_is_not_negative(seed):
    calls = [lambda: check_grads(sin, (V,), seed=seed), lambda: check_vmap(np.sin, np.sin, (V,), seed=seed)]
    for call in calls:
        with pytest.raises(errors.ArgumentError, match=f"seed is {seed}"):
            call()


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
def test_a_rule_that_is_no_function(check):
    with pytest.raises(errors.ArgumentError, match="takes a rule as its second argument, got int"):
        check(np.sin, 3, (V,))


def _raising(x):
    raise KeyError("of the function")


@pytest.mark.parametrize(
    "call",
    [lambda: check_grads(_raising, (V,)), lambda: check_vjp(_raising, lambda x, ct: ct, (V,), form="flat"),
     lambda: check_jvp(_raising, lambda x, t: t, (V,), form="flat")],
    ids=["grads", "vjp", "jvp"],
)  # fmt: skip
def test_a_function_that_raises_is_told_from_a_rule_that_does(call):
    with pytest.raises(errors.CheckError, match="_raising: the function itself raises") as caught:
        call()
    assert "at the given point, before any rule was run, it raised KeyError" in str(caught.value)
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.report.failures[0].rule == "impl"


def test_a_function_that_raises_beside_the_given_point_only_is_counted_and_no_failure():
    def f(x):
        if np.any(x <= 0):
            raise ValueError("positive numbers only")
        return np.log(x)

    report = check_vjp(f, lambda x, ct: ct / x, (V,), form="flat")
    assert report.ok
    assert report.outside["zeros"] == report.outside["negated"] == 1
    assert report.points["ones"] and not report.points["zeros"]
    assert "the function raises at: zeros 1" in str(report)


def test_a_function_that_is_finite_nowhere_is_not_called_ok():
    report = check_vjp(lambda x: x * np.nan, lambda x, ct: ct * np.nan, (V,), form="flat", points="given")
    assert "not judged, since the function's result is not finite" in str(report) and report.inconclusive


def test_single_precision_from_double_is_compared_as_such_and_said():
    single = lambda x: np.sin(x).astype(np.float32)
    report = check_vjp(single, lambda x, ct: ct * np.cos(x), (V,), form="flat")
    assert report.ok and "float32 results for float64 arguments" in report.notes[0]
    with pytest.raises(errors.CheckError, match="note: the function gives float32 results"):
        check_vjp(single, lambda x, ct: ct * np.cos(x) * 1.001, (V,), form="flat")
    for f, x in ((np.sin, V), (single, V.astype(np.float32))):
        assert not check_vjp(f, lambda x, ct: ct * np.cos(x), (x,), form="flat", points="given").notes


def test_a_lambda_is_told_by_its_place():
    report = check_grads(lambda x: sin(x), (V,), points="given")
    assert report.subject.startswith("<lambda> (test_functions.py:")
