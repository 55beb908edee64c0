"""Values and what is said of them: errors of every size, whole Jacobians, order 2, noise, overflow, extreme sizes."""

import numpy as np
import pytest

import autodidax.numpy as anp
from autodidax import custom_jvp, errors, stop_gradient
from autodidax.test_util import check_grads, check_jvp, check_vjp
from tests.testing.outcomes import Calls, first_failure, report_of

V = np.array([0.4, -1.3, 0.7, 2.2])
W = np.array([1.5, 0.3, -0.6, 0.9])
M = np.arange(1.0, 13.0).reshape(3, 4) / 5
RANDOM = np.random.default_rng(0)
FLAT = {"form": "flat", "points": "given"}


def both(slope):
    """The two rules of an elementwise function, in one."""
    return lambda x, v: slope(x) * v


# value

SINGLE = [np.float32, np.complex64]


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
@pytest.mark.parametrize("error", [1e-10, 1e-8, 1e-6, 1e-3, -2.0])
def test_relative_errors_in_double_precision(check, error):
    for x in (V, 0.4, V + 1j * W, M):
        for seed in range(3):
            rule = lambda x, v: np.cos(x) * v * (1 + error)
            assert first_failure(check, np.sin, rule, (x,), seed=seed, **FLAT).layer == "value"


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
@pytest.mark.parametrize("error", [1e-5, 1e-3, -2.0])
@pytest.mark.parametrize("dtype", SINGLE)
def test_relative_errors_in_single_precision(check, error, dtype):
    x = V.astype(dtype)
    right = lambda x, v: np.cos(x) * v
    wrong = lambda x, v: np.cos(x) * v * dtype(1 + error)
    for seed in range(3):
        report = report_of(check, np.sin, right, (x,), seed=seed, form="flat")
        assert report.ok and not report.inconclusive
        assert first_failure(check, np.sin, wrong, (x,), seed=seed, **FLAT).layer == "value"


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
@pytest.mark.parametrize("mixed", [(V.astype(np.float32), W), (V, W.astype(np.float32))], ids=["first", "second"])
def test_errors_beside_an_argument_in_single_precision(check, mixed):
    cast = lambda v, x: np.asarray(v, x.dtype)
    for wrong in (1.0, 1.001):
        if check is check_jvp:
            rule = lambda a, b, ta, tb, wrong=wrong: ta * b + a * tb * a.dtype.type(wrong)
        else:
            rule = lambda a, b, ct, wrong=wrong: (cast(ct * b, a), cast(ct * a * wrong, b))
        report = report_of(check, np.multiply, rule, mixed, **FLAT)
        assert report.ok is (wrong == 1.0)


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
def test_one_wrong_entry_among_many(check):
    n = 10_000
    x = np.random.default_rng(0).uniform(0.5, 2.0, n)
    d = np.ones(n)
    d[7123] = -1.0
    assert first_failure(check, np.sin, lambda x, v: np.cos(x) * v * d, (x,), **FLAT).layer == "value"
    assert check(np.sin, both(np.cos), (x,), **FLAT).ok


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
@pytest.mark.parametrize("share", [1e-6, 1e-9, 1e-12])
def test_an_argument_of_little_weight_is_looked_at_alone(check, share):
    """Its contribution vanishes beside the other's; where it is beyond the reach of the numeric derivative, that is
    said."""
    f = lambda a, b: np.sin(a) + share * np.cos(b)
    for factor in (1.0, -1.0):
        if check is check_jvp:
            rule = lambda a, b, ta, tb, c=factor: np.cos(a) * ta - c * share * np.sin(b) * tb
        else:
            rule = lambda a, b, ct, c=factor: (np.cos(a) * ct, -c * share * np.sin(b) * ct)
        report = report_of(check, f, rule, (V, W), **FLAT)
        if factor == 1.0:
            assert report.ok, str(report)
        else:
            assert not report.ok or (share < 1e-8 and report.inconclusive)


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
@pytest.mark.parametrize("share", [1e-6, 1e-12, 1e-30])
@pytest.mark.parametrize("fast", [True, False], ids=["fast", "whole Jacobian"])
def test_an_argument_of_little_weight_with_an_output_of_its_own(check, share, fast):
    f = lambda a, b: (np.sin(a), share * b * b)
    for factor in (1.0, 1.001):
        if check is check_jvp:
            rule = lambda a, b, ta, tb, c=factor: (np.cos(a) * ta, 2 * c * share * b * tb)
        else:
            rule = lambda a, b, ct, c=factor: (np.cos(a) * ct[0], 2 * c * share * b * ct[1])
        report = report_of(check, f, rule, (V, W), fast=fast, **FLAT)
        assert report.ok is (factor == 1.0), str(report)


@pytest.mark.parametrize("share", [1.0, 1e-6, 1e-12, 1e-30])
def test_entries_of_little_weight_beside_others_that_do_not_move(share):
    """In reverse mode the error bounds of the first half hide the second, but for those that do not move at all."""
    f = lambda a, b: np.concatenate([np.sin(a), share * b * b])
    for factor in (1.0, 1.001):
        rule = lambda a, b, ct, c=factor: (np.cos(a) * ct[:4], 2 * c * share * b * ct[4:])
        report = report_of(check_vjp, f, rule, (V, W), **FLAT)
        assert report.ok is (factor == 1.0), str(report)


@pytest.mark.parametrize("n", [3, 5, 6, 7])
@pytest.mark.parametrize("fast", [True, False], ids=["fast", "whole Jacobian"])
def test_what_the_conditioning_of_the_function_explains_is_no_error(n, fast):
    """Another factorization of the same matrix rounds otherwise, however often it is asked."""
    matrix = 1 / (np.arange(n)[:, None] + np.arange(n) + 1.0)
    transposed = matrix.T.copy()
    rules = {
        "solve": lambda b, ct: np.linalg.solve(transposed, ct),
        "inverse": lambda b, ct: np.linalg.inv(matrix) @ ct,
    }
    f = lambda b: np.linalg.solve(matrix, b)
    for rule in rules.values():
        for seed in range(4):
            b = np.random.default_rng(seed).standard_normal(n)
            report = report_of(check_vjp, f, rule, (b,), fast=fast, seed=seed, **FLAT)
            assert report.ok, str(report)
            wrong = lambda b, ct, rule=rule: rule(b, ct) * (1 + 1e-5)
            assert not report_of(check_vjp, f, wrong, (b,), fast=fast, seed=seed, **FLAT).ok


# whole Jacobians

N = 200
ANGLES = np.linspace(0.5, 2.5, N)
OFF = np.where(np.arange(N) == 120, 1 + 1e-9, 1.0)


def total(x):
    return np.sum(np.sin(x))


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
def test_whole_jacobians_find_an_entry_that_vanishes_in_the_sum_of_the_others(check):
    if check is check_jvp:
        right, wrong = lambda x, t: np.sum(np.cos(x) * t), lambda x, t: np.sum(np.cos(x) * OFF * t)
    else:
        right, wrong = lambda x, ct: np.cos(x) * ct, lambda x, ct: np.cos(x) * OFF * ct
    for rule, fast, ok in ((right, True, True), (right, False, True), (wrong, True, True), (wrong, False, False)):
        report = report_of(check, total, rule, (ANGLES,), fast=fast, **FLAT)
        assert report.ok is ok, str(report)
    assert report.failures[0].layer == "jacobian"


WEIGHTS = np.array([1.0, 1e-12, 1.0, 1.0])


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
@pytest.mark.parametrize("error", [-2.0, 1e-2, 1e-5])
def test_whole_jacobians_find_an_entry_of_little_weight(check, error):
    """d f[1] / d x[1] is 1e-12 of the other entries."""
    f = lambda x: np.sin(x) * WEIGHTS
    off = np.array([1.0, 1 + error, 1.0, 1.0])
    assert check(f, both(lambda x: np.cos(x) * WEIGHTS), (V,), fast=False, **FLAT).ok
    failure = first_failure(check, f, both(lambda x: np.cos(x) * WEIGHTS * off), (V,), fast=False, **FLAT)
    assert failure.layer in ("value", "jacobian")


OUTPUTS = {
    "two arrays": (lambda x: (anp.sin(x), x * x), (V,)),
    "array and scalar": (lambda x: (anp.sin(x), anp.sum(x * x)), (V,)),
    "scalar and array": (lambda x: (anp.sum(x * x), anp.sin(x)), (V,)),
    "integers between": (lambda x: (anp.sin(x), anp.argmax(x), x * x), (V,)),
    "two arguments": (lambda a, b: (a * b, anp.sum(a)), (V, W)),
    "integer argument": (lambda x, n: x**n, (V, 3)),
    "tree": (lambda p: {"y": p["a"] * p["b"][0], "z": p["a"]}, ({"a": V, "b": [W]},)),
    "complex": (lambda z: z * anp.conj(z) * z, (V + 1j * W,)),
    "complex to real": (lambda z: anp.abs(z), (V + 1j * W,)),
    "real to complex": (lambda x: (x * (1 + 2j), x), (V,)),
    "float32": (lambda x: anp.sin(x) * x, (V.astype(np.float32),)),
    "scalar": (lambda x: anp.sin(x), (0.4,)),
    "empty": (lambda x: anp.sin(x), (np.zeros((0, 3)),)),
    "empty output beside": (lambda x: (x[:0], anp.sin(x)), (V,)),
    "ill-conditioned solve": (
        lambda b: anp.linalg.solve(1 / (np.arange(6)[:, None] + np.arange(6) + 1.0), b),
        (np.arange(1.0, 7.0),),
    ),
    "inverse of a badly conditioned matrix": (
        anp.linalg.inv,
        (np.diag([1.0, 1e-4, 1e-8]) + 1e-9 * np.arange(9.0).reshape(3, 3),),
    ),
    "matrix product": (lambda a, b: a @ b, (M, M.T)),
    "decades": (lambda x: anp.log(x), (np.logspace(-6, 6, 5),)),
    "large offset": (lambda x: 1e6 + 1e-3 * anp.sin(x), (V,)),
}


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize("modes", ["fwd", "rev", ("fwd", "rev")], ids=str)
def test_whole_jacobians_of_right_rules(name, modes):
    f, args = OUTPUTS[name]
    report = report_of(check_grads, f, args, order=1, modes=modes, fast=False, points="given")
    assert report.ok, str(report)


def test_whole_jacobians_of_wrong_rules_of_two_outputs():
    f = lambda x: (np.sin(x), total(x))
    wrong = lambda x, ct: np.cos(x) * (ct[0] + ct[1] * OFF)
    failure = first_failure(check_vjp, f, wrong, (ANGLES,), fast=False, **FLAT)
    assert failure.layer == "jacobian" and "output 1" in failure.where


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
def test_the_cost_grows_with_the_entries_of_whole_jacobians_only(check):
    def evaluations(n, fast):
        calls = Calls()
        check(calls.of(np.sin), both(np.cos), (np.linspace(0.5, 2.0, n),), fast=fast, **FLAT)
        return calls.count

    assert evaluations(400, True) <= evaluations(10, True) + 20
    assert evaluations(40, False) >= evaluations(10, False) + 30 * 3
    assert evaluations(10, False) > evaluations(10, True)


# order 2


def test_a_detached_residual_is_right_at_first_order_only():
    @custom_jvp
    def exp(x):
        return anp.exp(x)

    exp.defjvp(lambda p, t: (exp(*p), stop_gradient(exp(*p)) * t[0]))
    assert check_grads(exp, (V,), order=1).ok
    for modes in ("fwd", "rev", ("fwd", "rev")):
        failure = first_failure(check_grads, exp, (V,), order=2, modes=modes)
        assert (failure.layer, failure.order) == ("value", 2) and failure.path.startswith("of ")


def test_the_path_names_the_maps():
    assert check_grads(anp.sin, (0.4,), order=3, points="given").ok

    @custom_jvp
    def slope(x):
        return anp.cos(x)

    slope.defjvp(lambda p, t: (slope(*p), -2 * anp.sin(p[0]) * t[0]))

    @custom_jvp
    def sine(x):
        return anp.sin(x)

    sine.defjvp(lambda p, t: (sine(*p), slope(p[0]) * t[0]))
    failure = first_failure(check_grads, lambda x: sine(x), (V,), order=2, points="given")
    assert (failure.order, failure.path) == (2, "of jvp")


# strict, overrides, what cannot be judged


def _lossy(x):
    """cos(x), of which rounding leaves eleven digits."""
    return (np.cos(x) + 1e5) - 1e5


def _noisy(x):
    """cos(x), with an error that moves with the last digits of x."""
    return np.cos(x) * (1 + 1e-9 * np.sin(1e17 * x + 1))


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
@pytest.mark.parametrize("slope", [_lossy, _noisy])
def test_lost_digits_are_a_warning_and_a_failure_of_strict_checks(check, slope):
    report = report_of(check, np.sin, both(slope), (V,), **FLAT)
    assert report.ok, str(report)
    assert {(w.layer, w.point) for w in report.warnings} == {("precision", "")}
    assert "digits" in report.warnings[0].message and "imprecise" in str(report.warnings[0])
    strict = report_of(check, np.sin, both(slope), (V,), strict=True, **FLAT)
    assert not strict.ok and not strict.warnings
    assert strict.failures[0].layer == "precision"


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_rule_that_loses_six_digits_is_noticed_for_nearly_every_seed(check, n):
    lossy = lambda x: (np.cos(x) + 1e6) - 1e6
    warned = 0
    for seed in range(40):
        x = np.random.default_rng(seed).uniform(0.3, 1.2, n)
        report = report_of(check, np.sin, both(lossy), (x,), seed=seed, **FLAT)
        warned += report.ok and bool(report.warnings)
    assert warned >= 38


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
def test_cancellation_at_large_arguments_is_a_loss_of_digits_and_no_error(check):
    f = lambda x: 1 / (np.sqrt(x + 1) + np.sqrt(x))
    rule = both(lambda x: 0.5 / np.sqrt(x + 1) - 0.5 / np.sqrt(x))
    warned = 0
    for seed in range(20):
        x = np.random.default_rng(seed).uniform(1e3, 1e5, 3)
        report = report_of(check, f, rule, (x,), form="flat", seed=seed)
        assert report.ok, str(report)
        warned += bool(report.warnings)
        assert first_failure(check, f, rule, (x,), form="flat", seed=seed, strict=True).layer == "precision"
    assert warned == 20


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
def test_well_conditioned_rules_have_no_warnings(check):
    for f, slope in ((np.sin, np.cos), (np.exp, np.exp), (np.tanh, lambda x: 1 / np.cosh(x) ** 2),
                     (lambda x: x**3, lambda x: 3 * x * x)):  # fmt: skip
        for seed in range(3):
            assert check(f, both(slope), (V,), form="flat", seed=seed, strict=True).ok


@pytest.mark.parametrize(
    ("given", "listed"),
    [({"atol": 1e-3}, {"atol": 1e-3}), ({"rtol": 1e-2}, {"rtol": 1e-2}), ({"eps": 1e-3}, {"eps": 1e-3}),
     ({"atol": 0.0, "rtol": 1e-3, "eps": 1e-2}, {"atol": 0.0, "rtol": 1e-3, "eps": 1e-2}), ({}, {})],
    ids=str,
)  # fmt: skip
def test_overrides_are_listed(given, listed):
    for report in (
        check_grads(anp.sin, (V,), order=1, **given),
        check_jvp(np.sin, both(np.cos), (V,), form="flat", **given),
        check_vjp(np.sin, both(np.cos), (V,), form="flat", **given),
    ):
        assert report.overrides == listed
        for name, value in listed.items():
            assert f"override: {name}={value}" in str(report)


def test_tolerances_that_are_given_hold():
    wrong = both(lambda x: np.cos(x) * 1.001)
    for check in (check_jvp, check_vjp):
        assert not report_of(check, np.sin, wrong, (V,), form="flat").ok
        assert report_of(check, np.sin, wrong, (V,), rtol=1e-2, form="flat").ok
        assert report_of(check, np.sin, wrong, (V,), atol=0.1, form="flat", points="given").ok
        assert not report_of(check, np.sin, wrong, (V,), rtol=1e-4, form="flat").ok
        assert not report_of(check, np.sin, both(np.cos), (V,), rtol=1e-20, form="flat").ok


NOISY = {
    "random": lambda rng: lambda x: np.sin(x) + 1e-3 * rng.standard_normal(np.shape(x)),
    "a little random": lambda rng: lambda x: np.sin(x) + 1e-12 * rng.standard_normal(np.shape(x)),
    "deterministic": lambda rng: lambda x: np.sin(x) + 1e-3 * np.sin(1e12 * x),
}


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
@pytest.mark.parametrize(
    ("name", "order"),
    [("random", 1), ("random", 2), ("a little random", 1), ("a little random", 2), ("deterministic", 1)],
)
def test_a_noisy_function_is_neither_passed_nor_accused(name, check, order):
    f = NOISY[name](np.random.default_rng(0))
    rule = lambda x, v: anp.cos(x) * v
    report = report_of(check, f, rule, (V,), order=order, form="flat")
    assert report.ok, str(report)
    assert report.inconclusive


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
@pytest.mark.parametrize("slope", [np.cos, np.zeros_like], ids=["right", "zero"])
def test_what_the_rounding_of_the_function_hides_is_neither_passed_nor_accused(check, slope):
    report = report_of(check, lambda x: 1e13 + np.sin(x), both(slope), (V,), **FLAT)
    assert report.ok and report.inconclusive


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
@pytest.mark.parametrize("offset", [1e8, 1e9, 1e10])
@pytest.mark.parametrize("factor", [-1.0, 0.0, 2.0])
def test_what_is_far_off_is_wrong_by_an_estimate_of_few_digits(check, offset, factor):
    f = lambda x: offset + np.sin(x)
    for seed in range(3):
        failure = first_failure(check, f, both(lambda x: factor * np.cos(x)), (V,), seed=seed, **FLAT)
        assert failure.layer == "value"
        assert report_of(check, f, both(np.cos), (V,), seed=seed, **FLAT).ok


def test_points_that_are_named_are_checked_to_all_orders():
    @custom_jvp
    def cube(x):
        return x**3

    cube.defjvp(lambda p, t: (cube(*p), 3 * anp.where(p[0] < 0, stop_gradient(p[0]), p[0]) ** 2 * t[0]))
    x = np.abs(V)
    assert check_grads(cube, (x,)).ok
    failure = first_failure(check_grads, cube, (x,), points=("negated",))
    assert (failure.order, failure.point) == (2, "negated")


@pytest.mark.parametrize("modes", ["fwd", "rev", ("fwd", "rev")], ids=str)
@pytest.mark.parametrize("order", [1, 2])
def test_a_random_function_of_this_package(modes, order):
    rng = np.random.default_rng(0)
    report = report_of(check_grads, lambda x: anp.sin(x) + rng.standard_normal(), (V,), order=order, modes=modes)
    assert report.ok and report.inconclusive
    assert "noisy" in report.inconclusive[0]


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
def test_a_function_that_overflows(check):
    """Entries that are finite are judged; the others never count as passes."""
    x = np.array([1.0, 800.0, -800.0])
    for factor in (1.0, 1.5):
        rule = both(lambda x, c=factor: c * np.exp(x))
        with np.errstate(all="ignore"):
            report = report_of(check, np.exp, rule, (x,), form="flat")
        assert report.ok is (factor == 1.0), str(report)


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
@pytest.mark.parametrize(
    ("f", "slope", "x"),
    [(np.exp, np.exp, 1000.0), (np.log, lambda x: 1 / x, -1.0), (lambda x: 1 / x, lambda x: -1 / x**2, 0.0)],
    ids=["overflow", "not a number", "pole"],
)
def test_where_the_function_is_not_finite_nothing_has_passed(check, f, slope, x):
    with np.errstate(all="ignore"):
        report = report_of(check, f, both(slope), (np.array([x]),), **FLAT)
    assert report.ok
    assert "1 of 1 entries of the function's result are not finite" in report.inconclusive[0]


@pytest.mark.parametrize("modes", ["fwd", "rev", ("fwd", "rev")], ids=str)
def test_entries_that_are_not_finite_are_told_and_no_pass(modes):
    x = np.array([1.0, 800.0, -800.0])
    with np.errstate(all="ignore"):
        report = report_of(check_grads, anp.exp, (x,), order=1, modes=modes, points="given")
    assert report.ok and "1 of 3 entries of the function's result are not finite" in str(report)


@pytest.mark.parametrize("f", [lambda x: anp.log(x), lambda x: anp.sin(x) + RANDOM.standard_normal()],
                         ids=["not finite", "noisy"])  # fmt: skip
def test_order_2_ends_where_there_is_nothing_to_judge(f):
    report = report_of(check_grads, f, (-np.abs(V),), order=2, points="given")
    assert report.ok and report.inconclusive
    assert not any("(of " in line for line in report.inconclusive)


def test_what_is_inconclusive_is_shown():
    report = check_grads(anp.abs, (np.array([0.0, 1.0]),), order=1, points="given")
    assert "1 inconclusive" in str(report) and "inconclusive: fwd" in str(report)


# extreme sizes


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-100, 1e-30, 1e30, 1e100, 1e200, 1e300], ids="{:.0e}".format)
@pytest.mark.parametrize("check", [check_jvp, check_vjp])
def test_arguments_of_any_size(size, check):
    f = lambda x: np.sin(x / size)
    for factor in (1.0, 1.001):
        rule = both(lambda x, c=factor: c * np.cos(x / size) / size)
        report = report_of(check, f, rule, (size * V,), **FLAT)
        assert report.ok is (factor == 1.0), str(report)
        assert not report.inconclusive


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-100, 1e100, 1e200, 1e300], ids="{:.0e}".format)
@pytest.mark.parametrize("check", [check_jvp, check_vjp])
def test_results_of_any_size(size, check):
    f = lambda x: size * np.sin(x)
    for factor in (1.0, 1.001):
        report = report_of(check, f, both(lambda x, c=factor: c * size * np.cos(x)), (V,), **FLAT)
        assert report.ok is (factor == 1.0), str(report)
        assert not report.inconclusive


EMPTY = [np.zeros(0), np.zeros((0, 3)), np.zeros((3, 0)), np.zeros((2, 0, 3))]


@pytest.mark.parametrize("x", EMPTY, ids=lambda x: str(x.shape))
@pytest.mark.parametrize("fast", [True, False])
def test_empty_arrays(x, fast):
    for check in (check_jvp, check_vjp):
        report = check(np.sin, both(np.cos), (x,), form="flat", fast=fast)
        assert report.ok and not report.inconclusive
    report = check_grads(lambda x, y: (anp.sum(x) + y, x), (x, 0.5), fast=fast)
    assert report.ok and not report.inconclusive


@pytest.mark.parametrize(
    "x", [0.5, np.float64(0.5), np.array(0.5), np.float32(0.5), 0.5 + 1j, np.complex64(1j)], ids=repr
)
@pytest.mark.parametrize("fast", [True, False])
def test_scalars(x, fast):
    right = lambda x, v: 2 * x * v
    wrong = lambda x, v: 3 * x * v
    for check in (check_jvp, check_vjp):
        report = check(lambda x: x * x, right, (x,), form="flat", fast=fast)
        assert report.ok and not report.inconclusive
        assert not report_of(check, lambda x: x * x, wrong, (x,), form="flat", fast=fast).ok


def test_nothing_to_differentiate_raises():
    for args in ((3,), (np.arange(3),), (np.array([True]), 2), ()):
        with pytest.raises(errors.AutodidaxError):
            check_vjp(lambda *xs: 1.0, lambda *xs: None, args, form="flat")


def test_warnings_of_numpy_do_not_escape():
    """They are errors here; the points beside the given one make many."""
    for check in (check_jvp, check_vjp):
        assert check(lambda x: np.log(x) / x, both(lambda x: (1 - np.log(x)) / x**2), (np.abs(V),), form="flat").ok


def test_a_result_that_is_not_finite_at_a_kink_beside_is_a_warning():
    def rule(x, ct):
        with np.errstate(all="ignore"):
            return ct * x / np.abs(x)

    report = report_of(check_vjp, np.abs, rule, (V,), form="flat")
    assert report.ok
    assert {(w.layer, w.point) for w in report.warnings} >= {("infinite at a kink", "zeros")}
    assert "is not finite" in str(report.warnings[0])
    assert not report_of(check_vjp, np.abs, rule, (V,), form="flat", strict=True).ok
    assert first_failure(check_vjp, np.abs, rule, (0 * V,), form="flat").layer == "kink"
