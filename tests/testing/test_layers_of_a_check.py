"""Each layer of a check: what it sees, under its own name, and whom it does not accuse."""

import numpy as np
import pytest

import autodidax.numpy as anp
from autodidax import Primitive
from autodidax.test_util import check_grads, check_jvp, check_vjp
from tests.testing.outcomes import first_failure, report_of

V = np.array([0.4, -1.3, 0.7, 2.2])
W = np.array([1.5, 0.3, -0.6, 0.9])
M = np.arange(1.0, 13.0).reshape(3, 4) / 5
FLAT = {"form": "flat", "points": "given"}


def both(slope):
    """The two rules of an elementwise function, in one."""
    return lambda x, v: slope(x) * v


# purity


def _changes_argument(x, ct):
    x *= 1.0 + 1e-3
    return np.cos(x) * ct


def _changes_cotangent(x, ct):
    ct *= 2
    return np.cos(x) * ct / 2


def _changes_its_last_result(kept):
    def rule(x, ct):
        kept.setdefault("out", np.empty_like(x))
        return np.multiply(np.cos(x), ct, out=kept["out"])

    return rule


PURITY = {"argument": lambda: _changes_argument, "cotangent": lambda: _changes_cotangent,
          "shared buffer": lambda: _changes_its_last_result({})}  # fmt: skip


@pytest.mark.parametrize("name", PURITY)
@pytest.mark.parametrize("check", [check_jvp, check_vjp])
@pytest.mark.parametrize("inner", ["transpose", "adjoint"])
def test_purity_of_rules(name, check, inner):
    failure = first_failure(check, np.sin, PURITY[name](), (V.copy(),), inner=inner, **FLAT)
    assert failure.layer == "purity"


def test_a_pullback_that_changes_a_complex_cotangent():
    z = V + 1j * W

    def rule(x, ct):
        ct *= 2
        return x * ct

    for inner in ("transpose", "adjoint"):
        assert first_failure(check_vjp, lambda z: z * z / 2, rule, (z,), inner=inner, **FLAT).layer == "purity"


def _adds_in_place(x):
    x += 1.0
    return np.sin(x)


def _reuses_its_buffer(kept):
    return lambda x: np.sin(x, out=kept.setdefault(x.dtype, np.empty_like(x)))


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
def test_purity_of_the_function(check):
    failure = first_failure(check, _adds_in_place, both(np.cos), (V.copy(),), **FLAT)
    assert (failure.mode, failure.layer) == ("impl", "purity")
    failure = first_failure(check, _reuses_its_buffer({}), both(np.cos), (V.copy(),), **FLAT)
    assert (failure.mode, failure.layer) == ("impl", "purity")


def test_a_view_of_the_argument_is_no_fault():
    for f, rule in (
        (lambda x: x, lambda x, ct: ct),
        (lambda x: x[::-1], lambda x, ct: ct[::-1]),
        (lambda x: x.reshape(2, 2), lambda x, ct: ct.reshape(4)),
    ):
        assert check_vjp(f, rule, (V,), form="flat").ok


# determinism: state between calls


def _nth_call(n):
    calls = []

    def rule(x, ct):
        calls.append(0)
        return np.cos(x) * ct * (2 if len(calls) == n else 1)

    return rule


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("check", [check_jvp, check_vjp])
def test_a_rule_that_is_wrong_at_its_nth_call(n, check):
    failure = first_failure(check, np.sin, _nth_call(n), (V,), form="flat")
    assert failure.layer in ("determinism", "homogeneity", "additivity", "layout", "value", "purity")


def _from_nth_call(n):
    calls = []

    def rule(x, ct):
        calls.append(0)
        return np.cos(x) * ct * (2 if len(calls) >= n else 1)

    return rule


@pytest.mark.parametrize("n", range(2, 12))
@pytest.mark.parametrize("check", [check_jvp, check_vjp])
def test_a_rule_that_is_wrong_from_its_nth_call_on(n, check):
    assert first_failure(check, np.sin, _from_nth_call(n), (V,), form="flat")


def test_a_residual_that_a_later_call_overwrites():
    kept = {}

    def rule(x):
        kept["x"] = x.copy()
        return np.sin(x), lambda ct: (np.cos(kept["x"]) * ct,)

    failure = first_failure(check_vjp, np.sin, rule, (V,), points="given")
    assert (failure.layer, failure.mode) == ("determinism", "rev")


def test_a_cache_of_the_first_call():
    for check in (check_jvp, check_vjp):
        kept = {}
        rule = lambda x, v, kept=kept: kept.setdefault(x.shape, np.cos(x)) * v
        assert first_failure(check, np.sin, rule, (V,), form="flat").layer in ("value", "determinism")


def test_a_rule_that_changes_once_it_was_elsewhere():
    state = []

    def rule(x, v):
        if np.all(x == 16 * V):
            state.append(0)
        return np.cos(x) * v * (1.001 if state and np.all(x == V) else 1.0)

    for check in (check_jvp, check_vjp):
        state.clear()
        failure = first_failure(check, np.sin, rule, (V,), form="flat")
        assert failure.layer == "determinism" and "after" in failure.message


def test_a_random_rule():
    rng = np.random.default_rng(0)
    for check in (check_jvp, check_vjp):
        rule = lambda x, v: np.cos(x) * v * (1 + 1e-6 * rng.standard_normal())
        assert not report_of(check, np.sin, rule, (V,), form="flat").ok


def test_memoising_by_value_is_no_fault():
    kept = {}
    rule = lambda x, ct: kept.setdefault(x.tobytes(), np.cos(x)) * ct
    assert check_vjp(np.sin, rule, (V,), form="flat").ok


# homogeneity and additivity

NOT_LINEAR = {
    "square": (lambda v: v * v, "homogeneity"),
    "absolute value": (np.abs, "homogeneity"),
    "negative ones dropped": (lambda v: np.maximum(v, 0), "homogeneity"),
    "clipped": (lambda v: np.clip(v, -10, 10), "homogeneity"),
    "clipped far out": (lambda v: np.clip(v, -1e10, 1e10), "homogeneity"),
    "small ones flushed": (lambda v: np.where(np.abs(v) < 1e-10, 0, v), "homogeneity"),
    "a small number added": (lambda v: v + 1e-12, "homogeneity"),
    "normalised": (lambda v: v / np.linalg.norm(v), "homogeneity"),
    "norm of the whole": (lambda v: v + 1e-3 * np.linalg.norm(v), "homogeneity"),
    "size of the sum": (lambda v: v + 1e-3 * np.abs(np.sum(v)), None),
    "size of the largest entry": (lambda v: v + 1e-6 * np.max(np.abs(v)), "homogeneity"),
    "rounded": (lambda v: v.astype(np.float32).astype(v.dtype), None),
    "odd and homogeneous": (lambda v: np.cbrt(np.sum(v**3)) * np.ones_like(v), "additivity"),
    "largest alone": (lambda v: np.where(np.abs(v) == np.abs(v).max(), v, 0), "additivity"),
    "zero where a zero is": (lambda v: v * np.all(v != 0), "additivity"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_LINEAR)
@pytest.mark.parametrize("check", [check_jvp, check_vjp])
def test_rules_that_are_not_linear(name, check):
    bend, layer = NOT_LINEAR[name]
    for seed in range(3):
        failure = first_failure(check, np.sin, lambda x, v: np.cos(x) * bend(v), (M.ravel(),), seed=seed, form="flat")
        if layer is not None:
            assert failure.layer == layer
            assert {check_jvp: "tangent", check_vjp: "cotangent"}[check] in failure.message


def test_parts_of_several_outputs_add_up():
    f = lambda x: (np.sin(x), x * x)
    right = lambda x, ct: np.cos(x) * ct[0] + 2 * x * ct[1]
    assert check_vjp(f, right, (V,), form="flat").ok
    wrong = lambda x, ct: right(x, ct) * (1 if np.any(ct[0]) and np.any(ct[1]) else 0.5)
    assert first_failure(check_vjp, f, wrong, (V,), **FLAT).layer == "additivity"


def test_parts_of_several_arguments_add_up():
    right = lambda a, b, ta, tb: ta * b + a * tb
    assert check_jvp(np.multiply, right, (V, W), form="flat").ok
    wrong = lambda a, b, ta, tb: right(a, b, ta, tb) * (1 if np.any(ta) and np.any(tb) else 0.5)
    assert first_failure(check_jvp, np.multiply, wrong, (V, W), **FLAT).layer == "additivity"


def test_infinite_slopes_are_no_break_of_linearity():
    x = np.array([0.0, 1.0])
    with np.errstate(all="ignore"):
        for check in (check_jvp, check_vjp):
            assert check(np.sqrt, lambda x, v: v / (2 * np.sqrt(x)), (x,), form="flat").ok


def test_rounding_is_no_break_of_linearity():
    """Sums of many terms that cancel, solves of ill-conditioned systems."""
    rng = np.random.default_rng(0)
    hilbert = 1 / (np.arange(4)[:, None] + np.arange(4) + 1.0)
    for f, rule, x in (
        (lambda x: np.sum(x) * 1.0, lambda x, ct: np.full_like(x, ct), rng.standard_normal(10_000) * 1e6),
        (lambda b: np.linalg.solve(hilbert, b), lambda b, ct: np.linalg.solve(hilbert.T, ct), rng.standard_normal(4)),
        (np.cumsum, lambda x, ct: np.cumsum(ct[::-1])[::-1], rng.standard_normal(1000)),
        (lambda x: np.fft.ifft(np.fft.fft(x)).real, lambda x, ct: np.fft.ifft(np.fft.fft(ct)).real, V),
    ):
        for seed in range(3):
            report = report_of(check_vjp, f, rule, (x,), seed=seed, **FLAT)
            assert report.ok, str(report)


# memory layout


def test_a_rule_that_reads_memory_in_its_order():
    f = lambda x: 2 * x
    for check in (check_jvp, check_vjp):
        wrong = lambda x, v: 2 * (v if v.flags.c_contiguous else v[::-1])
        failure = first_failure(check, f, wrong, (M,), **FLAT)
        assert failure.layer == "layout"
        assert "strides" in failure.message


def test_a_rule_that_depends_on_the_layout_of_the_argument():
    wrong = lambda x, ct: ct * np.cos(x) * (1 if x.flags.c_contiguous else 2)
    assert first_failure(check_vjp, np.sin, wrong, (M,), **FLAT).layer == "layout"


def test_a_function_that_depends_on_the_layout_is_not_the_rule_s_fault():
    f = lambda x: x * (2 if x.flags.c_contiguous else 3)
    rule = lambda x, ct: ct * (2 if x.flags.c_contiguous else 3)
    report = report_of(check_vjp, f, rule, (M,), **FLAT)
    assert report.ok, str(report)


@pytest.mark.parametrize(
    "x", [M[:, ::-1], M[::2, 1::2], np.asfortranarray(M), np.broadcast_to(V, (3, 4)), M.T], ids=range(5)
)
def test_arguments_in_any_layout(x):
    for check in (check_jvp, check_vjp):
        assert check(np.sin, both(np.cos), (x,), form="flat").ok
        assert not check_grads(anp.sin, (x,)).inconclusive


# adjoint: the two modes of one function


def primitive(**rules):
    body = {
        "impl": staticmethod(np.sin),
        "abstract_eval": staticmethod(lambda x: x),
        "jvp": staticmethod(lambda out, primals, tangents: tangents[0] * anp.cos(primals[0])),
        **{name: staticmethod(rule) for name, rule in rules.items()},
    }
    return type("Sine", (Primitive,), body)("sine", register=False)


@pytest.mark.parametrize("error", [1.0, 1e-6, 1e-10, 1e-12])
def test_reverse_mode_is_held_to_forward_mode_to_rounding(error):
    wrong = primitive(vjp=lambda ct, out, primals, active: [ct * anp.cos(primals[0]) * (1 + error)])
    for x in (V, 0.4, M):
        failure = first_failure(check_grads, wrong, (x,), points="given")
        assert (failure.layer, failure.mode) == ("adjoint", "rev")
        assert "(forward)" in failure.expected and "(reverse)" in failure.got


def test_a_vjp_that_is_not_finite():
    wrong = primitive(vjp=lambda ct, out, primals, active: [ct * anp.cos(primals[0]) * np.nan])
    failure = first_failure(check_grads, wrong, (V,), points="given")
    assert failure.mode == "rev" and failure.layer in ("adjoint", "homogeneity", "additivity")


def test_which_argument_of_the_adjoint_is_wrong():
    def vjp(ct, out, primals, active):
        return [ct * primals[1], ct * primals[0] * 1.5]

    body = {"impl": staticmethod(np.multiply), "abstract_eval": staticmethod(lambda x, y: x), "vjp": staticmethod(vjp),
            "jvp": staticmethod(lambda out, p, t: (t[0] * p[1] if t[0] is not None else 0.0)
                                + (p[0] * t[1] if t[1] is not None else 0.0))}  # fmt: skip
    p = type("Product", (Primitive,), body)("product", register=False)

    def area(width, height):
        return p(width, height)

    failure = first_failure(check_grads, area, (V, W), points="given")
    assert "height" in failure.argument and "width" not in failure.argument
