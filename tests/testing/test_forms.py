"""Hand-written rules in every form and inner product: on trees, several outputs, integers, complex numbers."""

from typing import NamedTuple

import numpy as np
import pytest

import autodidax.numpy as anp
from autodidax import Primitive, errors, stop_gradient, tree
from autodidax.core.avals import float0
from autodidax.test_util import check_grads, check_jvp, check_vjp
from autodidax.testing.forms import FORMS, INNERS, in_words
from tests.testing.outcomes import first_failure, report_of

V = np.array([0.4, -1.3, 0.7])
M = np.arange(1.0, 7.0).reshape(2, 3) / 4
Z = V + 1j * V[::-1]
W = np.array([1.0 - 0.5j, 0.3 + 0.2j, -0.7 + 1j])


class Line(NamedTuple):
    slope: np.ndarray
    offset: np.ndarray


class Case(NamedTuple):
    """f, its rules `jvp(primals, tangents)` and `vjp(primals, ct)`, the plain transpose, and its arguments.

    `vjp` returns a tuple with one cotangent an argument.
    """

    f: object
    jvp: object
    vjp: object
    args: tuple


def _sign(z):
    size = np.abs(z)
    return z / np.where(size == 0, 1, size)


CASES = {
    "array": Case(np.sin, lambda p, t: np.cos(p[0]) * t[0], lambda p, ct: (np.cos(p[0]) * ct,), (V,)),
    "scalar": Case(np.sin, lambda p, t: np.cos(p[0]) * t[0], lambda p, ct: (np.cos(p[0]) * ct,), (0.4,)),
    "two arguments": Case(lambda a, b: a * b, lambda p, t: t[0] * p[1] + p[0] * t[1],
                          lambda p, ct: (ct * p[1], ct * p[0]), (V, V + 2)),
    "broadcast": Case(lambda a, b: a * b, lambda p, t: t[0] * p[1] + p[0] * t[1],
                      lambda p, ct: (ct * p[1], np.sum(ct * p[0], axis=0)), (M, V)),
    "to a scalar": Case(lambda x: x @ x, lambda p, t: 2 * p[0] @ t[0], lambda p, ct: (2 * ct * p[0],), (V,)),
    "several outputs": Case(
        lambda x: (np.sin(x), np.sum(x)), lambda p, t: (np.cos(p[0]) * t[0], np.sum(t[0])),
        lambda p, ct: (np.cos(p[0]) * ct[0] + ct[1],), (V,)),
    "tuple of one output": Case(lambda x: (2 * x,), lambda p, t: (2 * t[0],), lambda p, ct: (2 * ct[0],), (V,)),
    "list of outputs": Case(lambda x: [2 * x, x * x], lambda p, t: [2 * t[0], 2 * p[0] * t[0]],
                            lambda p, ct: (2 * ct[0] + 2 * p[0] * ct[1],), (V,)),
    "tree to tree": Case(
        lambda p: {"y": p["a"] * p["b"][0], "z": (p["b"][0],)},
        lambda p, t: {"y": t[0]["a"] * p[0]["b"][0] + p[0]["a"] * t[0]["b"][0], "z": (t[0]["b"][0],)},
        lambda p, ct: ({"a": ct["y"] * p[0]["b"][0], "b": [ct["y"] * p[0]["a"] + ct["z"][0]]},),
        ({"a": V, "b": [V + 1]},)),
    "a tuple as the argument": Case(lambda p: p[0] * p[1], lambda p, t: t[0][0] * p[0][1] + p[0][0] * t[0][1],
                                    lambda p, ct: ((ct * p[0][1], ct * p[0][0]),), ((V, V + 1),)),
    "a tuple of one as the argument": Case(lambda p: p[0] ** 2, lambda p, t: 2 * p[0][0] * t[0][0],
                                           lambda p, ct: ((2 * p[0][0] * ct,),), ((V,),)),
    "named tuple": Case(
        lambda line, x: line.slope * x + line.offset,
        lambda p, t: t[0].slope * p[1] + p[0].slope * t[1] + t[0].offset,
        lambda p, ct: (Line(ct * p[1], ct), ct * p[0].slope), (Line(V, V + 1), V - 1)),
    "nested trees of two arguments": Case(
        lambda p, q: [p["w"][0] * q[1]["x"]], lambda p, t: [t[0]["w"][0] * p[1][1]["x"] + p[0]["w"][0] * t[1][1]["x"]],
        lambda p, ct: ({"w": (ct[0] * p[1][1]["x"],)}, [np.zeros(2), {"x": ct[0] * p[0]["w"][0]}]),
        ({"w": (V,)}, [np.ones(2), {"x": V + 1}])),
    "integer argument": Case(lambda x, n: x**n, lambda p, t: p[1] * p[0] ** (p[1] - 1) * t[0],
                             lambda p, ct: (p[1] * p[0] ** (p[1] - 1) * ct, None), (V, 3)),
    "integer array": Case(lambda x, i: x[i], lambda p, t: t[0][p[1]],
                          lambda p, ct: (np.bincount(p[1], ct, minlength=3), None), (V, np.array([0, 2, 2]))),
    "boolean array": Case(lambda m, x: np.where(m, x, 2 * x), lambda p, t: np.where(p[0], t[1], 2 * t[1]),
                          lambda p, ct: (None, np.where(p[0], ct, 2 * ct)), (np.array([True, False, True]), V)),
    "None argument": Case(lambda x, b: 2 * x, lambda p, t: 2 * t[0], lambda p, ct: (2 * ct, None), (V, None)),
    "integer and boolean outputs": Case(
        lambda x: (x * x, np.argmax(x), x > 0), lambda p, t: (2 * p[0] * t[0], None, None),
        lambda p, ct: (2 * p[0] * ct[0],), (V,)),
    "None for zero": Case(lambda x, y: 2 * x, lambda p, t: 2 * t[0], lambda p, ct: (2 * ct, None), (V, V)),
    "empty": Case(np.sin, lambda p, t: np.cos(p[0]) * t[0], lambda p, ct: (np.cos(p[0]) * ct,), (np.zeros((0, 3)),)),
    "empty beside": Case(lambda x, y: 2 * x, lambda p, t: 2 * t[0], lambda p, ct: (2 * ct, np.zeros(0)),
                         (V, np.zeros(0))),
    "float32": Case(np.sin, lambda p, t: np.cos(p[0]) * t[0], lambda p, ct: (np.cos(p[0]) * ct,),
                    (V.astype(np.float32),)),
    "float32 and float64": Case(lambda a, b: a * b, lambda p, t: t[0] * p[1] + p[0] * t[1],
                                lambda p, ct: ((ct * p[1]).astype(np.float32), ct * p[0]), (V.astype(np.float32), V)),
    "holomorphic": Case(lambda z: z * z, lambda p, t: 2 * p[0] * t[0], lambda p, ct: (2 * p[0] * ct,), (Z,)),
    "complex product": Case(lambda a, b: a * b, lambda p, t: t[0] * p[1] + p[0] * t[1],
                            lambda p, ct: (ct * p[1], ct * p[0]), (Z, W)),
    "complex scalar": Case(lambda z: z * z, lambda p, t: 2 * p[0] * t[0], lambda p, ct: (2 * p[0] * ct,), (0.4 + 1j,)),
    "complex64": Case(lambda z: z * z, lambda p, t: 2 * p[0] * t[0], lambda p, ct: (2 * p[0] * ct,),
                      (Z.astype(np.complex64),)),
    "conjugate": Case(np.conj, lambda p, t: np.conj(t[0]), lambda p, ct: (np.conj(ct),), (Z,)),
    "modulus": Case(np.abs, lambda p, t: np.real(np.conj(_sign(p[0])) * t[0]),
                    lambda p, ct: (ct * np.conj(_sign(p[0])),), (Z,)),
    "real part": Case(np.real, lambda p, t: np.real(t[0]), lambda p, ct: (ct + 0j,), (Z,)),
    "imaginary part": Case(np.imag, lambda p, t: np.imag(t[0]), lambda p, ct: (-1j * ct,), (Z,)),
    "real to complex": Case(lambda x: (1 + 2j) * x, lambda p, t: (1 + 2j) * t[0],
                            lambda p, ct: (np.real((1 + 2j) * ct),), (V,)),
    "real times complex": Case(lambda x, z: x * z, lambda p, t: t[0] * p[1] + p[0] * t[1],
                               lambda p, ct: (np.real(ct * p[1]), ct * p[0]), (V, Z)),
    "complex tree": Case(lambda p: (p["z"] * p["x"], np.abs(p["z"]) ** 2),
                         lambda p, t: (t[0]["z"] * p[0]["x"] + p[0]["z"] * t[0]["x"],
                                       2 * np.real(np.conj(p[0]["z"]) * t[0]["z"])),
                         lambda p, ct: ({"x": np.real(ct[0] * p[0]["z"]),
                                         "z": ct[0] * p[0]["x"] + 2 * np.conj(p[0]["z"]) * ct[1]},),
                         ({"x": V, "z": Z},)),
}  # fmt: skip
COMPLEX = [name for name in CASES if name.startswith(("holo", "complex", "conj", "modulus", "real", "imag"))]
ORDINARY = [name for name in CASES if name not in COMPLEX]


def _conjugated(values):
    return tree.map(lambda v: np.conj(v) if np.iscomplexobj(v) else v, values)


def _reverse(case, form, inner, wrong=lambda gs: gs):
    """The reverse rule of a case in a form and for an inner product."""

    def pull(args, ct):
        if inner == "adjoint":
            return wrong(tuple(None if g is None else _conjugated(g) for g in case.vjp(args, _conjugated(ct))))
        return wrong(case.vjp(args, ct))

    if form == "flat":
        return lambda *given: pull(given[:-1], given[-1])
    return lambda *args: (case.f(*args), lambda ct: pull(args, ct))


def _forward(case, form, wrong=lambda t: t):
    n = len(case.args)
    if form == "flat":
        return lambda *given: wrong(case.jvp(given[:n], given[n:]))
    return lambda primals, tangents: (case.f(*primals), wrong(case.jvp(primals, tangents)))


def _scaled(values, factor):
    """Every array of a tree times a factor, None and integers left alone."""
    return tree.map(lambda v: v if np.asarray(v).dtype.kind not in "fc" else (v * factor).astype(v.dtype), values)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("form", FORMS)
def test_right_forward_rules_pass(name, form):
    case = CASES[name]
    options = {"form": form, "strict": True, "points": "all" if form == "flat" else "given"}
    report = report_of(check_jvp, case.f, _forward(case, form), case.args, **options)
    assert report.ok, str(report)
    assert report.checks["fwd"] and not report.inconclusive


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("inner", INNERS)
def test_right_reverse_rules_pass(name, form, inner):
    case = CASES[name]
    options = {
        "form": form,
        "inner": inner,
        "strict": True,
        "points": "all" if (form, inner) == ("flat", "adjoint") else "given",
    }
    report = report_of(check_vjp, case.f, _reverse(case, form, inner), case.args, **options)
    assert report.ok, str(report)
    assert report.checks["rev"] and not report.inconclusive


@pytest.mark.parametrize("name", [name for name in CASES if name != "empty"])
@pytest.mark.parametrize(("form", "factor"), [("pullback", -1.0), ("flat", 1.001)], ids=["sign", "factor"])
def test_wrong_rules_are_caught(name, form, factor):
    case = CASES[name]
    wrong = lambda v: _scaled(v, factor)
    failure = first_failure(check_jvp, case.f, _forward(case, form, wrong), case.args, form=form, points="given")
    assert (failure.layer, failure.mode) == ("value", "fwd")
    for inner in INNERS:
        rule = _reverse(case, form, inner, wrong)
        failure = first_failure(check_vjp, case.f, rule, case.args, form=form, inner=inner, points="given")
        assert (failure.layer, failure.mode) == ("value", "rev")


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("form", FORMS)
def test_a_rule_for_the_other_inner_product_is_wrong_where_they_differ(name, form):
    case = CASES[name]
    differ = name not in ("conjugate", "real part")
    for inner, other in (INNERS, INNERS[::-1]):
        rule = _reverse(case, form, other)
        report = report_of(check_vjp, case.f, rule, case.args, form=form, inner=inner, points="given")
        assert report.ok is not differ


@pytest.mark.parametrize("n", [1, 100], ids=["small", "large"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["holomorphic", "complex product", "modulus", "real times complex", "complex64"])
def test_a_rule_for_the_other_inner_product_is_told(name, form, n):
    case = CASES[name]
    case = case._replace(args=tuple(np.tile(x, n) for x in case.args))
    for inner, other in (INNERS, INNERS[::-1]):
        failure = first_failure(check_vjp, case.f, _reverse(case, form, other), case.args, form=form, inner=inner)
        assert failure.guess.endswith(f'give inner="{other}": the rule agrees so, and not with inner="{inner}"')


SLOPES = {
    "factor": lambda z: 3 * z,
    "factor of the conjugate": lambda z: 3 * np.conj(z),
    "something else": lambda z: 2 * z + z.real,
    "little": lambda z: 2 * z * (1 + 1e-8),  # the other convention is no better
}


@pytest.mark.parametrize("slope", SLOPES.values(), ids=SLOPES)
@pytest.mark.parametrize("inner", INNERS)
def test_a_rule_that_is_wrong_for_both_inner_products_gets_no_hint(slope, inner):
    turn = np.conj if inner == "adjoint" else np.asarray
    rule = lambda z, ct: ct * turn(slope(z))
    failure = first_failure(check_vjp, lambda z: z * z, rule, (Z,), form="flat", inner=inner, points="given")
    assert "inner=" not in failure.guess


@pytest.mark.parametrize("form", FORMS)
def test_the_inner_product_makes_no_difference_to_real_rules(form):
    for name in ("array", "two arguments", "several outputs"):
        case = CASES[name]
        for inner in INNERS:
            assert check_vjp(case.f, _reverse(case, form, "transpose"), case.args, form=form, inner=inner).ok


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
@pytest.mark.parametrize("bad", [{"form": "jax"}, {"inner": "hermitian"}, {"form": None}, {"inner": 1}], ids=str)
def test_unknown_forms_and_inner_products_raise(check, bad):
    with pytest.raises(errors.ArgumentError, match="give "):
        check(np.sin, lambda x, v: v, (V,), **bad)


# what a rule may return

LENIENT = {
    "list for the tuple of cotangents": (lambda a, b: a * b, lambda a, b, ct: [ct * b, ct * a], (V, V + 1)),
    "cotangent alone of one argument": (np.sin, lambda x, ct: ct * np.cos(x), (V,)),
    "tuple of one of one argument": (np.sin, lambda x, ct: (ct * np.cos(x),), (V,)),
    "list for a tuple as the argument": (lambda p: p[0] * p[1], lambda p, ct: [ct * p[1], ct * p[0]], ((V, V + 1),)),
    "None alone where f is constant": (lambda x: np.ones(2), lambda x, ct: None, (V,)),
    "None for a tree": (lambda p, x: 2 * x, lambda p, x, ct: (None, 2 * ct), ({"a": V, "b": V}, V)),
    "None in a tree": (lambda p: 2 * p["a"], lambda p, ct: {"a": 2 * ct, "b": None}, ({"a": V, "b": V},)),
    "zeros for an integer": (lambda x, n: x * n, lambda x, n, ct: (n * ct, 0.0), (V, 3)),
    "float0 for an integer": (lambda x, n: x * n, lambda x, n, ct: (n * ct, np.zeros((), float0)), (V, 3)),
    "0-d array for a scalar": (np.sin, lambda x, ct: np.asarray(ct * np.cos(x)), (0.4,)),
    "Python float for a scalar": (np.sin, lambda x, ct: float(ct * np.cos(x)), (0.4,)),
    "broadcast view": (np.sum, lambda x, ct: np.broadcast_to(ct, (3,)), (V,)),
    "the cotangent itself": (lambda x: x + 1, lambda x, ct: ct, (V,)),
    "None where an argument has an unused None": (
        lambda p: 2 * p["w"], lambda p, ct: {"w": 2 * ct, "b": None}, ({"w": V, "b": None},)),
}  # fmt: skip


@pytest.mark.parametrize("name", LENIENT)
def test_what_a_reverse_rule_may_return(name):
    f, rule, args = LENIENT[name]
    report = report_of(check_vjp, f, rule, args, form="flat")
    assert report.ok, str(report)


def test_a_result_may_hold_none():
    f = lambda x: {"y": 2 * x, "extra": None}
    report = report_of(check_jvp, f, lambda x, t: {"y": 2 * t, "extra": None}, (V,), form="flat")
    assert report.ok, str(report)
    assert report_of(check_vjp, f, lambda x, ct: 2 * ct["y"], (V,), form="flat").ok


def test_a_forward_rule_may_return_none_for_zero_and_lists_for_tuples():
    assert check_jvp(lambda x: np.ones(2), lambda x, t: None, (V,), form="flat").ok
    assert check_jvp(lambda x: (2 * x, np.ones(2)), lambda x, t: [2 * t, None], (V,), form="flat").ok
    assert check_jvp(np.sin, lambda p, t: [np.sin(p[0]), np.cos(p[0]) * t[0]], (V,)).ok


# wrong structures

ONE = (np.sin, (V,))
TWO = (lambda a, b: a * b, (V, V + 1))
REVERSE = {
    "too few": (TWO, lambda a, b, ct: (ct * b,)),
    "too many": (TWO, lambda a, b, ct: (ct * b, ct * a, ct)),
    "alone for two arguments": (TWO, lambda a, b, ct: ct * b),
    "a pair for one argument": (ONE, lambda x, ct: (ct * np.cos(x), None)),
    "a dict for a tuple": (TWO, lambda a, b, ct: {"a": ct * b, "b": ct * a}),
    "scalar for array": (ONE, lambda x, ct: np.sum(ct * np.cos(x))),
    "zero for array": ((lambda x, y: 2 * x, (V, V)), lambda x, y, ct: (2 * ct, 0.0)),
    "extra axis": (ONE, lambda x, ct: (ct * np.cos(x))[None]),
    "not summed over a broadcast axis": ((lambda a, b: a * b, (M, V)), lambda a, b, ct: (ct * b, ct * a)),
    "size 1 for scalar": ((np.sin, (0.4,)), lambda x, ct: np.atleast_1d(ct * np.cos(x))),
    "transposed": ((np.transpose, (M,)), lambda x, ct: ct),
    "float32 for float64": (ONE, lambda x, ct: (ct * np.cos(x)).astype(np.float32)),
    "float64 for float32": ((np.sin, (V.astype(np.float32),)), lambda x, ct: (ct * np.cos(x)).astype(np.float64)),
    "complex for real": (ONE, lambda x, ct: ct * np.cos(x) + 0j),
    "real for complex": ((lambda z: z * z, (Z,)), lambda z, ct: np.real(2 * z * ct)),
    "complex for a real argument of a complex result": (
        (lambda x: x * (1 + 2j), (V,)), lambda x, ct: ct * (1 + 2j)),
    "integers": (ONE, lambda x, ct: np.zeros(3, int)),
    "empty of another shape": ((np.sin, (np.zeros((0, 3)),)), lambda x, ct: np.zeros((3, 0))),
    "another tree": ((lambda p: p["a"] * 2, ({"a": V},)), lambda p, ct: {"b": 2 * ct}),
    "leaf for a tree of two": ((lambda p: p["a"] * p["b"], ({"a": V, "b": V},)), lambda p, ct: ct),
}  # fmt: skip
FORWARD = {
    "scalar for array": (ONE, lambda x, t: np.sum(t * np.cos(x))),
    "extra axis": (ONE, lambda x, t: (t * np.cos(x))[None]),
    "float32 for float64": (ONE, lambda x, t: (t * np.cos(x)).astype(np.float32)),
    "float64 for float32": ((np.sin, (V.astype(np.float32),)), lambda x, t: (t * np.cos(x)).astype(np.float64)),
    "complex for real": (ONE, lambda x, t: t * np.cos(x) + 0j),
    "real for complex": ((lambda z: z * z, (Z,)), lambda z, t: np.real(2 * z * t)),
    "too few outputs": ((lambda x: (x, 2 * x), (V,)), lambda x, t: (t,)),
    "too many outputs": ((lambda x: (x, 2 * x), (V,)), lambda x, t: (t, 2 * t, t)),
    "pair for one output": (ONE, lambda x, t: (t * np.cos(x), t)),
    "alone for two outputs": ((lambda x: (x, 2 * x), (V,)), lambda x, t: t),
    "not broadcast": ((lambda a, b: a + b, (M, V)), lambda a, b, ta, tb: tb),
    "another tree": ((lambda x: {"a": 2 * x, "b": x}, (V,)), lambda x, t: {"a": 2 * t, "c": t}),
}


@pytest.mark.parametrize("name", REVERSE)
@pytest.mark.parametrize("form", FORMS)
def test_wrong_structures_of_reverse_rules(name, form):
    (f, args), rule = REVERSE[name]
    if form == "pullback":
        rule = lambda *xs, rule=rule: (f(*xs), lambda ct: rule(*xs, ct))
    failure = first_failure(check_vjp, f, rule, args, form=form)
    assert (failure.layer, failure.mode, failure.point) == ("structure", "rev", "")


@pytest.mark.parametrize("name", FORWARD)
@pytest.mark.parametrize("form", FORMS)
def test_wrong_structures_of_forward_rules(name, form):
    (f, args), rule = FORWARD[name]
    if form == "pullback":
        rule = lambda primals, tangents, rule=rule: (f(*primals), rule(*primals, *tangents))
    failure = first_failure(check_jvp, f, rule, args, form=form)
    assert (failure.layer, failure.mode, failure.point) == ("structure", "fwd", "")


PAIRS = {
    "no pair": lambda y, derivative: derivative,
    "three": lambda y, derivative: (y, derivative, None),
    "None": lambda y, derivative: None,
    "primal of another shape": lambda y, derivative: (y[:2], derivative),
    "primal of another dtype": lambda y, derivative: (y.astype(np.float32), derivative),
    "no primal": lambda y, derivative: (None, derivative),
    "two primals": lambda y, derivative: ((y, y), derivative),
}


@pytest.mark.parametrize("name", PAIRS)
def test_wrong_pairs(name):
    pair = PAIRS[name]
    forward = lambda p, t: pair(np.sin(p[0]), np.cos(p[0]) * t[0])
    failure = first_failure(check_jvp, np.sin, forward, (V,))
    assert (failure.layer, failure.mode) == ("structure", "fwd")
    reverse = lambda x: pair(np.sin(x), lambda ct: (np.cos(x) * ct,))
    failure = first_failure(check_vjp, np.sin, reverse, (V,))
    assert (failure.layer, failure.mode) == ("structure", "rev")


def test_a_pullback_that_is_no_function_is_reported():
    failure = first_failure(check_vjp, np.sin, lambda x: (np.sin(x), 3), (V,))
    assert failure.layer in ("runs", "structure")


@pytest.mark.parametrize("off", [1e-9, 1.0], ids=["little", "much"])
def test_a_wrong_primal_output_is_named(off):
    failure = first_failure(check_jvp, np.sin, lambda p, t: (np.sin(p[0]) + off, np.cos(p[0]) * t[0]), (V,))
    assert (failure.layer, failure.mode) == ("primal", "fwd")
    failure = first_failure(check_vjp, np.sin, lambda x: (np.sin(x) + off, lambda ct: (np.cos(x) * ct,)), (V,))
    assert (failure.layer, failure.mode) == ("primal", "rev")


# order 2 of hand-written rules

SECOND = {
    "exp": (anp.exp, lambda x: anp.exp(x)),
    "sin": (anp.sin, lambda x: anp.cos(x)),
    "cube": (lambda x: x**3, lambda x: 3 * x**2),
    "complex": (lambda z: z * z * z, lambda z: 3 * z * z),
}


@pytest.mark.parametrize("name", SECOND)
@pytest.mark.parametrize("form", FORMS)
def test_second_order_of_hand_written_rules(name, form):
    f, slope = SECOND[name]
    x = Z if name == "complex" else V
    for cut, right in ((lambda v: v, True), (stop_gradient, False)):
        if form == "flat":
            forward = lambda x, t, cut=cut: cut(slope(x)) * t
            reverse = lambda x, ct, cut=cut: cut(slope(x)) * ct
        else:
            forward = lambda p, t, cut=cut: (f(p[0]), cut(slope(p[0])) * t[0])
            reverse = lambda x, cut=cut: (f(x), lambda ct, x=x, cut=cut: (cut(slope(x)) * ct,))
        for check, rule, mode in ((check_jvp, forward, "jvp"), (check_vjp, reverse, "vjp")):
            assert report_of(check, f, rule, (x,), form=form, points="given").ok
            if right:
                report = report_of(check, f, rule, (x,), form=form, order=2, points="given")
                assert report.ok, str(report)
                assert report.checks["fwd"] and report.checks["rev"]
            else:
                failure = first_failure(check, f, rule, (x,), form=form, order=2, points="given")
                assert (failure.layer, failure.order, failure.path) == ("value", 2, f"of {mode}")


@pytest.mark.parametrize("inner", INNERS)
def test_second_order_of_complex_rules(inner):
    slope = lambda z: 3 * z * z
    turn = anp.conj if inner == "adjoint" else lambda v: v
    right = lambda z, ct: turn(slope(z)) * ct
    report = report_of(check_vjp, lambda z: z * z * z, right, (Z,), form="flat", inner=inner, order=2, points="given")
    assert report.ok, str(report)
    cut = lambda z, ct: turn(stop_gradient(slope(z))) * ct
    failure = first_failure(
        check_vjp, lambda z: z * z * z, cut, (Z,), form="flat", inner=inner, order=2, points="given"
    )  # fmt: skip
    assert failure.order == 2


def test_a_detached_cotangent_is_caught():
    failure = first_failure(
        check_vjp, anp.sin, lambda x, ct: anp.cos(x) * stop_gradient(ct), (V,), form="flat", order=2, points="given"
    )  # fmt: skip
    assert failure.order == 2 and "cotangent" in failure.argument


def test_a_rule_that_cannot_be_traced_is_named_at_order_2():
    failure = first_failure(
        check_vjp, anp.sin, lambda x, ct: np.array([np.cos(float(v)) for v in x]) * ct, (V,), form="flat", order=2
    )  # fmt: skip
    assert (failure.layer, failure.order) == ("runs", 2)


@pytest.mark.parametrize("order", [0, -1, 1.0, True, None, "2"], ids=repr)
def test_orders_that_there_are_not(order):
    for call in (lambda: check_grads(anp.sin, (V,), order=order), lambda: check_vjp(np.sin, np.sin, (V,), order=order)):
        with pytest.raises(errors.ArgumentError, match="order"):
            call()


# modes


class _WrongReverse(Primitive):
    """sin, whose reverse rule is twice what it should be."""

    def impl(self, x):
        return np.sin(x)

    def abstract_eval(self, x):
        return x

    def jvp(self, out, primals, tangents):
        return tangents[0] * anp.cos(primals[0])

    def vjp(self, ct, out, primals, active):
        return [2 * ct * anp.cos(primals[0])]


WRONG_REVERSE = _WrongReverse("sine", register=False)


@pytest.mark.parametrize("modes", ["fwd", "rev", ("fwd", "rev"), ("rev", "fwd"), ["rev"]], ids=str)
def test_only_the_modes_that_are_asked_for_are_checked(modes):
    asked = {modes} if isinstance(modes, str) else set(modes)
    assert set(check_grads(anp.sin, (V,), order=2, modes=modes).checks) == asked
    assert report_of(check_grads, WRONG_REVERSE, (V,), order=1, modes=modes, points="given").ok is (asked == {"fwd"})


@pytest.mark.parametrize("modes", ["forward", (), ("fwd", "reverse"), 3, None], ids=repr)
def test_unknown_modes_raise(modes):
    with pytest.raises(errors.ArgumentError, match="modes"):
        check_grads(anp.sin, (V,), modes=modes)


def test_both_modes_take_turns_at_order_2():
    report = check_grads(anp.sin, (V,), order=2, points="given")
    rev = check_grads(anp.sin, (V,), order=2, modes="rev", points="given")
    fwd = check_grads(anp.sin, (V,), order=2, modes="fwd", points="given")
    assert set(fwd.checks) == {"fwd"} and set(rev.checks) == {"rev"}
    assert report.checks["fwd"] > fwd.checks["fwd"] and report.checks["rev"] > rev.checks["rev"]


COSINE = lambda x, t: t * np.cos(x)
FLAT_OF = {
    "one argument": (np.sin, (np.array([0.3, 1.2, -0.7]),), COSINE, COSINE),
    "a number": (np.sin, (0.3,), COSINE, COSINE),
    "two arguments": (
        np.multiply, (np.ones(2), np.arange(2.0)), lambda a, b, ct: (ct * b, ct * a),
        lambda a, b, ta, tb: ta * b + a * tb),
}  # fmt: skip


def _in_pullback_form(f, vjp, jvp):
    return lambda *xs: (f(*xs), lambda ct: vjp(*xs, ct)), lambda xs, ts: (f(*xs), jvp(*xs, *ts))


@pytest.mark.parametrize("name", FLAT_OF)
@pytest.mark.parametrize("right", ["flat", "pullback"])
def test_a_rule_in_the_other_form_is_told(name, right):
    f, args, *rules = FLAT_OF[name]
    rules, wrong = (rules, "pullback") if right == "flat" else (_in_pullback_form(f, *rules), "flat")
    for check, rule in zip((check_vjp, check_jvp), rules, strict=True):
        assert check(f, rule, args, form=right).ok
        with pytest.raises(errors.CheckError, match=f'give form="{right}": the rule works so'):
            check(f, rule, args, form=wrong)


def test_a_rule_that_raises_in_both_forms_gets_no_hint():
    def rule(x, ct):
        raise TypeError("of the rule")

    with pytest.raises(errors.CheckError) as caught:
        check_vjp(np.sin, rule, (np.ones(2),), form="flat")
    assert "of the rule" in str(caught.value) and "give form" not in str(caught.value)


WORDS = {
    "a list of 2 arrays": [1.0, 2.0],
    "a tuple of 1 array": (1.0,),
    "a dict of 'a': an array, 'b': a tuple of 2 arrays": {"a": 1.0, "b": (1.0, 2.0)},
}


@pytest.mark.parametrize("words", WORDS)
def test_a_structure_in_words(words):
    assert in_words(tree.structure(WORDS[words])) == words
