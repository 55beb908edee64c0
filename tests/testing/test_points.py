"""Points beside the given one: what they are, that each can be had alone, and what is said of rules there."""

import numpy as np
import pytest

import autodidax.numpy as anp
import autodidax.scipy.special as special
from autodidax import custom_jvp, errors
from autodidax.test_util import check_grads, check_jvp, check_vjp
from autodidax.testing import POINTS
from autodidax.testing.points import point_names, points_beside
from tests.testing.outcomes import first_failure, report_of

V = np.array([0.4, -1.3, 0.7, 2.2])
P = np.array([0.3, 0.6, 0.8])
ALL = tuple(POINTS)
OF_SOME = {"imaginary", "real", "singular", "rows exchanged"}  # complex numbers and square matrices alone have them
KINDS = {
    "array": (V,),
    "two arrays": (V, V[::-1].copy()),
    "three arrays": (V, V + 1, V[:2]),
    "float32": (V.astype(np.float32),),
    "complex": (V + 1j * V[::-1],),
    "complex64": ((V - 0.5j).astype(np.complex64),),
    "Python float": (0.7,),
    "Python complex": (0.7 - 0.2j,),
    "NumPy scalar": (np.float32(0.7),),
    "square matrix": (np.arange(9.0).reshape(3, 3),),
    "stack of square matrices": (np.arange(8.0).reshape(2, 2, 2),),
    "matrix": (np.arange(1.0, 7.0).reshape(2, 3),),
    "integers beside": (V, np.arange(4), 3, True),
    "empty": (np.zeros((0, 3)), V),
    "size 1": (np.ones((1, 1)) * 0.3,),
    "all zeros": (np.zeros(3),),
    "not finite": (np.array([np.inf, np.nan, 1.0]),),
    "Fortran order": (np.asfortranarray(np.arange(6.0).reshape(2, 3)),),
    "read-only": (np.broadcast_to(np.float64(0.3), (3,)),),
}


def _points(xs, seed=(0,), names=ALL):
    return list(points_beside(list(xs), seed, names))


def _equal(xs, ys):
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(xs, ys, strict=True))


@pytest.mark.parametrize("xs", KINDS.values(), ids=KINDS)
def test_shapes_dtypes_and_python_types_stay(xs):
    kept = [np.array(x) for x in xs]
    for name, values, _ in _points(xs):
        for x, v in zip(xs, values, strict=True):
            assert np.shape(v) == np.shape(x), name
            assert np.asarray(v).dtype == np.asarray(x).dtype, name
            assert (type(v) in (int, float, complex, bool)) == (type(x) in (int, float, complex, bool)), name
            if np.asarray(x).dtype.kind in "iub":
                assert v is x, name
    assert _equal(kept, xs), "the arguments were changed"


@pytest.mark.parametrize("xs", KINDS.values(), ids=KINDS)
def test_points_differ_from_the_given_one_and_from_each_other(xs):
    found = [list(xs)] + [values for _, values, _ in _points(xs)]
    assert not any(_equal(a, b) and _equal(*map(_signs, (a, b))) for i, a in enumerate(found) for b in found[:i])


@pytest.mark.parametrize("xs", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("seed", [(0,), (3, 1)], ids=str)
def test_a_point_comes_out_the_same_alone(xs, seed):
    for name, values, _ in _points(xs, seed):
        alone = {n: v for n, v, _ in _points(xs, seed, (name,))}
        assert all(n == name or n.startswith(name + " of ") for n in alone)
        assert _equal(alone[name], values), name


def test_a_point_has_the_same_random_numbers_alone():
    xs = (V, V + 1)
    drawn = {name: rng.random(3) for name, _, rng in points_beside(list(xs), (0,), ALL)}
    for name, numbers in drawn.items():
        [again] = [rng.random(3) for n, _, rng in points_beside(list(xs), (0,), (name,)) if n == name]
        assert np.array_equal(again, numbers), name


def test_seeds_change_the_random_points_only():
    one, other = ({name: values for name, values, _ in _points((V,), (seed,))} for seed in (0, 1))
    same = {name for name in one if _equal(one[name], other[name])}
    assert same >= {"zeros", "ones", "negated", "times 16", "tiny", "integers", "ties"}
    assert "perturbed" not in same


def _signs(xs):
    return [np.signbit(part) for x in xs for part in (np.real(x), np.imag(x))]


def _values(xs, name):
    [values] = [v for n, v, _ in _points(xs) if n == name]
    return values


def test_what_the_points_are():
    x, y = V, V + 1
    assert _equal(_values((x,), "zeros"), [np.zeros(4)])
    assert _equal(_values((x,), "ones"), [np.ones(4)])
    assert _equal(_values((x,), "negated"), [-x])
    assert _equal(_values((x,), "times 16"), [16 * x])
    assert np.all(np.abs(_values((x,), "tiny")[0]) < 1e-5)
    assert np.all(_values((x,), "integers")[0] % 1 == 0)
    assert np.sum(_values((x,), "one entry zero")[0] == 0) == 1
    tied = _values((x,), "ties")[0]
    assert np.array_equal(tied[1::2], tied[::2])
    assert _equal(_values((np.arange(9.0).reshape(3, 3),), "ties"), [np.eye(3)])
    assert _equal(_values((x, y), "ties of arguments"), [x, x])
    assert _equal(_values((x, y, x + 2), "negated of arguments"), [x, -x, x])
    assert _equal(_values((x,), "minus ones"), [-np.ones(4)])
    assert _equal(_values((x + 1j * y,), "imaginary"), [1j * y])
    assert _equal(_values((x + 1j * y,), "real"), [x + 0j])
    assert _equal(_values((np.arange(9.0).reshape(3, 3),), "rows exchanged"), [np.arange(9.0).reshape(3, 3)[[1, 0, 2]]])
    assert _equal(
        _values((np.arange(9.0).reshape(3, 3),), "singular"), [np.diag([1, 1, 0]) @ np.arange(9.0).reshape(3, 3)]
    )
    assert _equal(_values((x, y), "zeros of 0"), [np.zeros(4), y])
    assert _equal(_values((x, y), "zeros of 1"), [x, np.zeros(4)])


def test_arguments_of_other_kinds_do_not_tie():
    xs = (V, V.astype(np.float32), V[:2], 0.5)
    assert "ties of arguments" not in [name for name, _, _ in _points(xs)]


def test_arguments_that_tie_are_one_object():
    x, y, z = _values((V, V + 1, 2 * V), "ties of arguments")
    assert x is y is z
    assert len({id(v) for v in _values((V, V + 1), "ones")}) == 2


def test_pairs_of_three_and_four_arguments_tie():
    x, y, z = V, V + 1, 2 * V
    assert _equal(_values((x, y, z), "ties of 0 and 2"), [x, y, x])
    pairs = lambda xs: [name[8:] for name, _, _ in _points(xs) if name.startswith("ties of ") and " and " in name]
    assert pairs((x, y)) == []
    assert pairs((x, y, z)) == ["0 and 1", "0 and 2", "1 and 2"]
    assert pairs((x, 3, y, V[:2])) == []  # that is "ties of arguments"
    assert pairs((x, y, z, V[:2])) == ["0 and 1", "0 and 2", "1 and 2"]
    assert len(pairs((x, y, z, 3 * V))) == 6
    assert pairs((x, y, z, 3 * V, 4 * V)) == []


def test_zeros_of_both_signs():
    assert _signs(_values((V,), "zeros"))[0].tolist() == [False, True, False, True]
    assert _signs(_values((0.7, 0.3), "one entry zero of negative sign"))[::2] == [True, True]
    assert np.all(_signs(_values((0.7 - 0.2j,), "one entry zero of negative sign")))
    assert "one entry zero of negative sign" not in [name for name, _, _ in _points((V, 0.3))]


@pytest.mark.parametrize(
    ("asked", "names"),
    [("all", ALL), ("given", ()), ("zeros", ("zeros",)), (("ones", "ties"), ("ones", "ties")), ([], ()),
     ("zeros of 1", ("zeros of 1",)), ("ties of 0 and 2", ("ties of 0 and 2",)), (("given",), ("given",))],
    ids=str,
)  # fmt: skip
def test_names_of_points(asked, names):
    assert point_names(asked) == names


@pytest.mark.parametrize("asked", ["zero", ("zeros", "tied"), "", "All", 3, None, (3,)], ids=repr)
def test_unknown_names_raise(asked):
    with pytest.raises(errors.ArgumentError):
        check_grads(anp.sin, (V,), points=asked)


@pytest.mark.parametrize(
    "asked", ["zeros of 7", "zeros of x", "perturbed of 0", ("ones", "ties of 1"), "ties of 0 and 1"], ids=repr
)
def test_names_of_parts_that_there_are_not_raise(asked):
    with pytest.raises(errors.ArgumentError):
        check_grads(anp.multiply, (V, V), points=asked)


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
def test_masked_arrays_raise(check):
    with pytest.raises(errors.DtypeError, match="masked array"):
        check(np.sum, lambda x, v: v, (np.ma.array(V, mask=V > 0),), form="flat")


def test_the_report_counts_what_was_judged():
    assert not check_grads(anp.sin, (V,), order=1, points="given").points
    assert dict(check_grads(anp.sin, (V,), order=1, points=("zeros", "ties")).points) == {"zeros": 1, "ties": 1}
    assert dict(check_grads(anp.sin, (V,), order=1).points) == dict.fromkeys(set(POINTS) - OF_SOME, 1)


def test_points_of_complex_numbers_and_of_square_matrices_alone():
    assert not OF_SOME & {name for name, _, _ in _points((V, np.ones((2, 3))))}
    assert {"imaginary", "real"} <= {name for name, _, _ in _points((V + 1j,))}
    assert {"singular", "rows exchanged"} <= {name for name, _, _ in _points((np.arange(8.0).reshape(2, 2, 2),))}


def test_rows_exchanged_change_the_sign_of_determinants():
    a = np.random.default_rng(0).normal(size=(2, 3, 3))
    [exchanged] = _values((a,), "rows exchanged")
    assert np.array_equal(np.sign(np.linalg.det(exchanged)), -np.sign(np.linalg.det(a)))


@pytest.mark.parametrize("n", range(2, 7))
def test_a_singular_matrix_is_so_exactly(n):
    for seed in range(5):
        [a] = _values((np.random.default_rng(seed).normal(size=(n, n)),), "singular")
        with pytest.raises(np.linalg.LinAlgError):
            np.linalg.inv(a)
        assert np.linalg.matrix_rank(a) == n - 1


SPECIAL = {
    "zeros": lambda x, y: x == 0,
    "ones": lambda x, y: x == 1,
    "integers": lambda x, y: x % 1 == 0,
    "ties of arguments": lambda x, y: x == y,
    "ties within": lambda x, y: np.append(False, x[1:] == x[:-1]),
}


@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_a_rule_that_is_wrong_at_special_values_alone_is_caught(name, mode):
    """It is right one unit in the last place beside them, so that moving inputs by that much is no measure of noise."""
    off = lambda x, y: np.where(SPECIAL[name](x, y), 1.5, 1.0)
    if mode == "fwd":
        rule = lambda x, y, tx, ty: off(x, y) * tx + ty
        failure = first_failure(check_jvp, np.add, rule, (V, V + 1), form="flat")
    else:
        rule = lambda x, y, ct: (off(x, y) * ct, ct)
        failure = first_failure(check_vjp, np.add, rule, (V, V + 1), form="flat")
    assert failure.layer == "value" and failure.point


# where f is not defined

DOMAINS = {
    "log": (anp.log, (P,), {"zeros", "negated", "one entry zero"}),
    "sqrt": (anp.sqrt, (P,), {"negated"}),
    "arccos": (anp.arccos, (P,), {"times 16"}),
    "arctanh": (anp.arctanh, (P,), {"ones", "times 16"}),
    "cholesky": (lambda a: anp.linalg.cholesky((a + a.T) / 2), (np.eye(2) + 0.3,), {"zeros", "negated"}),
    "inv": (anp.linalg.inv, (np.array([[2.0, 0.3], [0.1, 1.0]]),), {"zeros", "ones"}),
    "solve": (anp.linalg.solve, (np.array([[2.0, 0.3], [0.1, 1.0]]), P[:2]), {"ones"}),
    "power": (anp.power, (P, P + 1), {"negated"}),
    "log of the determinant": (lambda a: anp.linalg.slogdet(a)[1], (np.eye(2) + 0.1,), {"zeros", "ones"}),
    "gammaln": (special.gammaln, (P,), {"zeros"}),
}


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("modes", ["fwd", "rev", ("fwd", "rev")], ids=str)
def test_points_outside_of_the_domain_are_passed_over(name, modes):
    f, args, outside = DOMAINS[name]
    report = check_grads(f, args, order=1, modes=modes)
    assert report.ok and not report.inconclusive and not report.warnings
    if len(args) == 1:
        assert not outside & {p for p in report.points if p != "one entry zero"}
    assert {"perturbed", "tiny"} & set(report.points)


def test_a_function_that_raises_outside_of_its_domain_is_passed_over_there():
    def f(x):
        if np.any(x <= 0):
            raise ArithmeticError("x has to be positive")
        return np.log(x)

    report = check_vjp(f, lambda x, ct: ct / x, (P,), form="flat")
    assert report.ok and "negated" not in report.points and "ones" in report.points


def test_a_function_that_raises_at_the_given_point_is_not_passed_over():
    with pytest.raises(errors.CheckError, match="the function itself raises") as caught:
        check_vjp(lambda x: 1 / 0, lambda x, ct: ct, (P,), form="flat")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_rule_that_raises_beside_the_given_point_warns():
    def rule(x, ct):
        if np.any(x == 0):
            raise ValueError("x is zero")
        return ct * np.cos(x)

    report = check_vjp(np.sin, rule, (V,), form="flat")
    assert report.ok
    assert {(w.layer, w.point) for w in report.warnings} == {("runs", "zeros"), ("runs", "one entry zero")}
    assert "ValueError: x is zero" in report.warnings[0].message
    assert first_failure(check_vjp, np.sin, rule, (V,), form="flat", strict=True).layer == "runs"


def test_a_rule_may_refuse_a_point_on_purpose():
    def rule(x, ct):
        if np.any(x == 0):
            raise errors.NondifferentiableError("not at zero")
        return ct * np.cos(x)

    report = check_vjp(np.sin, rule, (V,), form="flat", strict=True)
    assert report.ok and "zeros" not in report.points


def test_a_rule_may_raise_where_the_function_has_a_kink():
    def rule(x, ct):
        if np.any(x == 0):
            raise ValueError("x is zero")
        return ct * np.sign(x)

    assert check_vjp(np.abs, rule, (V,), form="flat", strict=True).ok


def test_a_rule_that_raises_at_the_given_point_fails():
    failure = first_failure(check_vjp, np.sin, lambda x, ct: 1 / 0, (V,), form="flat")
    assert failure.layer == "runs" and "ZeroDivisionError: division by zero" in failure.message


# rules that are not a number where the function is smooth

UNDEFINED = {
    "3 x**3 / x": (lambda x: x**3, lambda x: 3 * x**3 / x),
    "x / x": (lambda x: 1.0 * x, lambda x: x / x),
    "x |x|": (lambda x: x * np.abs(x), lambda x: 2 * np.abs(x) ** 2 / np.abs(x)),
    "swish": (lambda x: x / (1 + np.exp(-x)), lambda x: (y := x / (1 + np.exp(-x))) / x * (1 + x - y)),
    "cos by its logarithm": (np.sin, lambda x: np.cos(x) * np.exp(np.log(x * x) - np.log(x * x))),
}  # fmt: skip


@pytest.mark.parametrize("name", UNDEFINED)
@pytest.mark.parametrize("check", [check_jvp, check_vjp])
@pytest.mark.parametrize("x", [V, 0.7], ids=["array", "scalar"])
def test_a_rule_that_is_nan_where_the_function_is_smooth_fails(name, check, x):
    f, slope = UNDEFINED[name]
    with np.errstate(all="ignore"):
        rule = lambda x, v: v * slope(np.asarray(x))[()]
        failure = first_failure(check, f, rule, (x,), form="flat")
    assert failure.layer == "value" and failure.point in ("zeros", "one entry zero")
    assert "not a number" in failure.guess or "not finite" in failure.guess


# kinks and other places without a derivative: no right rule is accused

EYE = np.eye(3)
KINKS = {
    "abs": (anp.abs, np.array([0.0, 1.0])),
    "modulus": (anp.abs, np.array([0j, 1 + 1j])),
    "relu": (lambda x: anp.maximum(x, 0), np.array([0.0, 1.0])),
    "clip": (lambda x: anp.clip(x, 0, 1), np.array([0.0, 1.0, 0.5])),
    "where": (lambda x: anp.where(x > 0, x, 2 * x), np.array([0.0, 1.0])),
    "max at ties": (anp.max, np.array([1.0, 1.0, 0.5])),
    "all entries tie for the maximum": (anp.max, np.zeros(3)),
    "sort at ties": (anp.sort, np.array([1.0, 1.0, 1.0, 2.0])),
    "middle of three ties": (lambda x: anp.sort(x)[1], np.ones(3)),
    "median at ties": (anp.median, np.array([1.0, 1.0, 1.0, 2.0, 0.0])),
    "norm at zero": (anp.linalg.norm, np.zeros(3)),
    "eigenvalues of the identity": (lambda a: anp.linalg.eigvalsh((a + a.T) / 2), EYE),
    "eigenvectors of the identity": (lambda a: anp.linalg.eigh((a + a.T) / 2)[1], EYE),
    "singular values of the identity": (lambda a: anp.linalg.svd(a, compute_uv=False), EYE),
    "square root at zero": (anp.sqrt, np.array([0.0, 1.0])),
    "cube root at zero": (anp.cbrt, np.array([0.0, 1.0])),
    "standard deviation of a constant": (anp.std, np.ones(3)),
    "floor at a step": (anp.floor, np.array([1.0, 2.5])),
    "sign at zero": (anp.sign, np.array([0.0, 2.5])),
    "angle at the origin": (lambda x: anp.arctan2(x, x), np.zeros(2)),
}
SMOOTH_OR_WEAKLY_SINGULAR = {
    "x |x| at zero": (lambda x: x * anp.abs(x), np.zeros(2)),
    "|x|**1.5 at zero": (lambda x: anp.abs(x) ** 1.5, np.zeros(2)),
    "product of zeros": (anp.prod, np.zeros(3)),
    "cumulative product of zeros": (anp.cumprod, np.zeros(3)),
    "determinant of a singular matrix": (anp.linalg.det, np.ones((3, 3))),
    "third power of a matrix of zeros": (lambda a: anp.linalg.matrix_power(a, 3), np.zeros((2, 2))),
    "sinc at zero": (anp.sinc, np.array([0.0, 0.5])),
    "variance of a constant": (anp.var, np.ones(3)),
    "cholesky of the identity": (lambda a: anp.linalg.cholesky((a + a.T) / 2), EYE),
    "logsumexp at ties": (special.logsumexp, np.zeros(3)),
}


@pytest.mark.parametrize("name", KINKS)
@pytest.mark.parametrize("modes", ["fwd", "rev"])
def test_a_kink_at_the_point_is_not_accused(name, modes):
    f, x = KINKS[name]
    report = report_of(check_grads, f, (x,), order=1, modes=modes, points="given")
    assert report.ok, str(report)


@pytest.mark.parametrize("name", ["abs", "modulus", "relu", "clip", "where", "max at ties", "norm at zero",
                                  "square root at zero", "cube root at zero", "sign at zero"])  # fmt: skip
@pytest.mark.parametrize("modes", ["fwd", "rev"])
def test_a_kink_is_inconclusive_and_no_pass(name, modes):
    f, x = KINKS[name]
    assert report_of(check_grads, f, (x,), order=1, modes=modes, points="given").inconclusive


@pytest.mark.parametrize("name", KINKS)
@pytest.mark.parametrize("modes", ["fwd", "rev"])
def test_a_kink_at_the_point_is_not_accused_by_whole_jacobians(name, modes):
    f, x = KINKS[name]
    report = report_of(check_grads, f, (x,), order=1, modes=modes, fast=False, points="given")
    assert report.ok, str(report)


@pytest.mark.parametrize("name", KINKS)
def test_a_kink_is_no_loss_of_digits(name):
    f, x = KINKS[name]
    for seed in range(2):
        report = report_of(check_grads, f, (x,), order=1, strict=True, seed=seed, points="given")
        assert report.ok, str(report)


@pytest.mark.parametrize("name", ["abs", "relu", "max at ties", "norm at zero", "clip", "where"])
def test_a_kink_is_named(name):
    f, x = KINKS[name]
    report = report_of(check_grads, f, (x,), order=1, modes="fwd", points="given")
    assert "at a kink (output 0" in str(report)


@pytest.mark.parametrize("name", ["abs", "relu", "max at ties", "norm at zero", "clip", "where"])
def test_a_kink_is_named_in_reverse_mode_too(name):
    f, x = KINKS[name]
    report = report_of(check_grads, f, (x,), order=1, modes="rev", points="given")
    assert "at a kink (output 0" in str(report)


@pytest.mark.parametrize("name", ["abs", "relu", "max at ties", "norm at zero", "eigenvalues of the identity",
                                  "singular values of the identity", "square root at zero"])  # fmt: skip
def test_a_kink_is_not_accused_at_second_order(name):
    f, x = KINKS[name]
    report = report_of(check_grads, f, (x,), order=2, points="given")
    assert report.ok, str(report)


@pytest.mark.parametrize("name", SMOOTH_OR_WEAKLY_SINGULAR)
@pytest.mark.parametrize("fast", [True, False], ids=["fast", "whole Jacobian"])
def test_right_rules_pass_at_degenerate_points(name, fast):
    f, x = SMOOTH_OR_WEAKLY_SINGULAR[name]
    report = report_of(check_grads, f, (x,), order=1, fast=fast, points="given")
    assert report.ok, str(report)


@pytest.mark.parametrize("check", [check_jvp, check_vjp])
def test_a_rule_that_is_wrong_beside_a_kink_is_caught(check):
    """The entries that are not at the kink are judged."""
    rule = lambda x, v: v * np.where(x > 0, 1.001, 0)
    relu = lambda x: np.maximum(x, 0)
    assert first_failure(check, relu, rule, (np.array([0.0, 1.0]),), form="flat", points="given").layer == "value"


def test_a_custom_rule_that_is_wrong_at_ties_is_caught():
    @custom_jvp
    def difference(x, y):
        return x * x - y

    difference.defjvp(lambda p, t: (difference(*p), 2 * p[0] * t[0] - t[1] * anp.where(p[0] == p[1], 2.0, 1.0)))
    failure = first_failure(check_grads, difference, (V, V + 1), order=1)
    assert failure.point.startswith("ties") or failure.point in ("ones", "zeros")
