"""What a failure says: the kind of error, where it is, the numbers, in few lines, and a call that fails again."""

import numpy as np
import pytest

import autodidax.numpy as anp
from autodidax import custom_jvp, errors, stop_gradient, tree
from autodidax.test_util import check_grads, check_jvp, check_vjp
from autodidax.testing.diagnosis import guess
from autodidax.testing.point import AFFORDABLE
from tests.testing.outcomes import first_failure, report_of

V = np.array([0.4, -1.3, 0.7])
W = np.array([1.5, 0.3, -0.6])
A = np.arange(1.0, 10.0).reshape(3, 3) / 4 + np.eye(3)
B = np.cos(np.arange(9.0)).reshape(3, 3)
Z = V + 1j * W
LINES = 15

# name: (function, wrong reverse rule, arguments, what the guess says)
PRODUCT = (lambda a, b: a * b, (V, W))
MATMUL = (lambda a, b: a @ b, (A, B))
REVERSE = {
    "sign": (np.sin, lambda x, ct: -ct * np.cos(x), (V,), "the sign is flipped"),
    "factor": (np.sin, lambda x, ct: 2 * ct * np.cos(x), (V,), "2 times what it should be"),
    "half": (np.square, lambda x, ct: ct * x, (V,), "0.5 times what it should be"),
    "relative error": (np.sin, lambda x, ct: ct * np.cos(x) * (1 + 1e-6), (V,), "a relative error of 1e-06"),
    "zero": (lambda a, b: a * b, lambda a, b, ct: (ct * b, 0 * ct), (V, W), "'b' is missing"),
    "None": (lambda a, b: a * b, lambda a, b, ct: (None, ct * a), (V, W), "'a' is missing"),
    "swapped": (*PRODUCT[:1], lambda a, b, ct: (ct * a, ct * b), PRODUCT[1], "swapped arguments"),
    "swapped difference": (np.subtract, lambda a, b, ct: (-ct, ct), (V, W), "sign"),
    "transposed cotangent": (*MATMUL[:1], lambda a, b, ct: ((ct @ b.T).T, a.T @ ct), MATMUL[1], "is transposed"),
    "transposed Jacobian": (lambda x: A @ x, lambda x, ct: A @ ct, (V,), "the Jacobian is transposed"),
    "permutation": (lambda x: x[[2, 0, 1]], lambda x, ct: ct, (V,), "another order"),
    "sum over the wrong axis": (
        lambda a: np.cumsum(a, axis=1), lambda a, ct: np.cumsum(ct[::-1], axis=0)[::-1], (A,), "another order"),
    "not a number": (np.sin, lambda x, ct: ct * np.cos(x) * np.nan, (V,), ""),
    "infinite": (np.sin, lambda x, ct: np.full_like(x, np.inf), (V,), ""),
    "conjugate": (lambda z: z * z, lambda z, ct: 2 * np.conj(z) * ct, (Z,), "the conjugate"),
    "complex sign": (lambda z: z * z, lambda z, ct: -2 * z * ct, (Z,), "the sign is flipped"),
    "complex factor": (lambda z: z * z, lambda z, ct: z * ct, (Z,), "0.5 times what it should be"),
    "sign of a conjugate": (np.conj, lambda z, ct: -np.conj(ct), (Z,), "the sign is flipped"),
    "sign of what is not holomorphic": (
        lambda z: z * z * np.conj(z), lambda z, ct: -(2 * z * np.conj(z) * ct + np.conj(z * z * ct)), (Z,),
        "the sign is flipped"),
    "sign of one argument": (*PRODUCT[:1], lambda a, b, ct: (ct * b, -ct * a), PRODUCT[1], "the sign is flipped"),
    "something else": (np.sin, lambda x, ct: ct * (np.cos(x) + x**2), (V,), ""),
}  # fmt: skip
FORWARD = {
    "sign": (np.sin, lambda x, t: -t * np.cos(x), (V,), "the sign is flipped"),
    "factor": (np.sin, lambda x, t: 3 * t * np.cos(x), (V,), "3 times what it should be"),
    "relative error": (np.sin, lambda x, t: t * np.cos(x) * (1 + 1e-6), (V,), "a relative error of 1e-06"),
    "zero": (np.sin, lambda x, t: 0 * t, (V,), "missing"),
    "missing argument": (*PRODUCT[:1], lambda a, b, ta, tb: ta * b, PRODUCT[1], "'b' is missing"),
    "swapped": (*PRODUCT[:1], lambda a, b, ta, tb: ta * a + tb * b, PRODUCT[1], "swapped arguments"),
    "transposed Jacobian": (lambda x: A @ x, lambda x, t: A.T @ t, (V,), "the Jacobian is transposed"),
    "permutation": (lambda x: x[[2, 0, 1]], lambda x, t: t[[0, 1, 2]], (V,), "another order"),
    "conjugate": (lambda z: z * z, lambda z, t: np.conj(2 * z * t), (Z,), "the conjugate"),
    "something else": (np.sin, lambda x, t: t * (np.cos(x) + x**2), (V,), ""),
}


@pytest.mark.parametrize("name", REVERSE)
def test_guesses_of_reverse_rules(name):
    f, rule, args, said = REVERSE[name]
    for seed in range(2):
        failure = first_failure(check_vjp, f, rule, args, form="flat", points="given", seed=seed)
        assert said in failure.guess, str(failure)
        if name == "something else":
            assert failure.guess == ""


@pytest.mark.parametrize("name", FORWARD)
def test_guesses_of_forward_rules(name):
    f, rule, args, said = FORWARD[name]
    for seed in range(2):
        failure = first_failure(check_jvp, f, rule, args, form="flat", points="given", seed=seed)
        assert said in failure.guess, str(failure)
        if name == "something else":
            assert failure.guess == ""


def power_rule(x, k, t, tk):
    return t * 2 * x


OF_EACH = {
    "factor and missing": (
        check_jvp, lambda x, k: x**k, power_rule, (np.full(3, 1.5), 3.0),
        "argument 'x': 0.4444444444 times what it should be; argument 'k' is missing: its derivative is zero"),
    "sign and factor": (
        check_vjp, *PRODUCT[:1], lambda a, b, ct: (-ct * b, 2 * ct * a), PRODUCT[1],
        "argument 'a': the sign is flipped; argument 'b': 2 times what it should be"),
    "sign and something else": (
        check_vjp, *PRODUCT[:1], lambda a, b, ct: (ct * b**2, -ct * a), PRODUCT[1],
        "argument 'b': the sign is flipped"),
    "both alike": (
        check_vjp, *PRODUCT[:1], lambda a, b, ct: (-ct * b, -ct * a), PRODUCT[1], "the sign is flipped"),
    "many": (
        check_vjp, lambda a, b, c, d, e: a + b + c + d + e, lambda a, b, c, d, e, ct: (0 * ct,) * 5, (V,) * 5,
        "; ".join(f"argument {name!r} is missing: its derivative is zero" for name in "abcd") + "; and 1 more"),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_EACH)
def test_guesses_are_of_each_argument(name):
    check, f, rule, args, said = OF_EACH[name]
    assert first_failure(check, f, rule, args, form="flat", points="given").guess == said


def _eigenvalues_vjp(a, ct):
    v = np.linalg.eigh(a)[1]
    return np.conj((v * ct[..., None, :]) @ np.conj(np.swapaxes(v, -1, -2)))


def _eigenvalues_jvp(a, t):
    v = np.linalg.eigh(a)[1]
    return np.einsum("...ji,...jk,...ki->...i", np.conj(v), t, v).real


def _cholesky_vjp(a, ct):
    lower = np.linalg.cholesky(a)
    inverse = np.linalg.inv(lower)
    inner = np.tril(lower.T @ ct) * (1 - np.eye(3) / 2)
    return inverse.T @ inner @ inverse


SYMMETRIC, HERMITIAN = B + B.T, B + B.T + 1j * (A - A.T)
TRIANGLE = {
    "eigvalsh": (check_vjp, np.linalg.eigvalsh, _eigenvalues_vjp, SYMMETRIC, "f((a + a.T) / 2)"),
    "forward": (check_jvp, np.linalg.eigvalsh, _eigenvalues_jvp, SYMMETRIC, "f((a + a.T) / 2)"),
    "complex": (check_vjp, np.linalg.eigvalsh, _eigenvalues_vjp, HERMITIAN, "f((a + a.conj().T) / 2)"),
    "stacked": (check_vjp, np.linalg.eigvalsh, _eigenvalues_vjp, np.stack([SYMMETRIC] * 2), "f((a + a.mT) / 2)"),
    "cotangent of no symmetry": (
        check_vjp, np.linalg.cholesky, _cholesky_vjp, B @ B.T + np.eye(3),
        "f((a + a.T) / 2), and take the symmetric part of the rule's cotangent too"),
}  # fmt: skip


@pytest.mark.parametrize("name", TRIANGLE)
def test_a_function_that_reads_one_triangle_is_told(name):
    check, f, rule, a, said = TRIANGLE[name]
    guess = first_failure(check, f, rule, (a,), form="flat").guess
    assert guess.startswith("the function reads one triangle of argument 'a', and the rule is right for symmetric")
    assert guess.endswith(": wrap the function as " + said)

    def wrapped(a):
        return f((a + np.conj(a).mT) / 2)

    if "too" not in said:
        assert check(wrapped, rule, (a,), form="flat", points="given").ok


NO_TRIANGLE = {
    "wrong for symmetric changes too": (np.linalg.eigvalsh, lambda a, ct: 2 * _eigenvalues_vjp(a, ct)),
    "transposed": (lambda a: a @ B, lambda a, ct: (ct @ B.T).T),
    "a triangle meant": (lambda a: np.tril(a) @ B, lambda a, ct: ct @ B.T),
    "the diagonal alone": (lambda a: np.diag(a) ** 2, lambda a, ct: 2 * ct * a),
}


@pytest.mark.parametrize("name", NO_TRIANGLE)
def test_what_has_another_reason_is_not_called_a_matter_of_triangles(name):
    f, rule = NO_TRIANGLE[name]
    assert "triangle" not in first_failure(check_vjp, f, rule, (SYMMETRIC,), form="flat", points="given").guess


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_nan_where_the_function_is_smooth_is_told(mode):
    rule = lambda x, v: v * 3 * x**3 / x
    with np.errstate(all="ignore"):
        failure = first_failure(
            {"fwd": check_jvp, "rev": check_vjp}[mode], lambda x: x**3, rule, (V,), form="flat"
        )  # fmt: skip
    assert "not a number" in failure.guess or "not finite" in failure.guess


@pytest.mark.parametrize(
    ("got", "want", "said"),
    [
        ([1.0, -2.0], [-1.0, 2.0], "the sign is flipped"),
        ([0.0, 0.0], [1.0, 2.0], "zero"),
        ([np.nan, np.nan], [1.0, 2.0], "not a number"),
        ([1 + 1e-7, 2.0], [1.0, 2.0], "a relative error of 1e-07"),
        ([2.0, 4.0], [1.0, 2.0], "2 times what it should be"),
        ([1j, 2.0], [-1j, 2.0], "the conjugate"),
        ([1j, 2j], [1.0, 2.0], "1j times what it should be"),
        ([3.0, 4.0], [1.0, 2.0], ""),
        ([1.5], [1.0], "1.5 times what it should be"),
        ([-2.0 / 3], [1.0], "-0.6666666667 times what it should be"),
        ([1.2345, 1.2345], [1.0, 1.0], ""),
        ([1.2345, 2.469], [1.0, 2.0], "1.2345 times what it should be"),
        ([1e-12, 3e-12], [2e-12, 1e-12], ""),
        ([5.0, 2.0], [0.0, 1.0], ""),
        ([np.inf, 2.0], [1.0, 1.0], ""),
    ],
    ids=str,
)
def test_guesses_of_numbers(got, want, said):
    got, want = np.array(got), np.array(want)
    assert (
        said in guess(got, want, np.ones(len(got), bool)) if said else guess(got, want, np.ones(len(got), bool)) == ""
    )
    assert guess(got, want, np.zeros(len(got), bool)) == ""


def test_one_argument_with_the_derivative_of_another_is_not_called_swapped():
    rule = lambda a, b, ct: (ct * 1.0, ct)
    failure = first_failure(check_vjp, lambda a, b: 2.5 * a + b, rule, (V, W), form="flat", points="given")
    assert "swapped" not in failure.guess


def test_guesses_look_at_wrong_entries_only():
    assert guess(np.array([1.0, -2.0]), np.array([1.0, 2.0]), np.array([False, True])) == "the sign is flipped"


# where


def test_the_first_wrong_entry_of_the_jacobian_and_how_many():
    off = np.array([1.0, 1.0, 2.0])
    for check in (check_jvp, check_vjp):
        failure = first_failure(check, np.sin, lambda x, v: v * np.cos(x) * off, (V,), form="flat", points="given")
        assert "1 of 9 entries" in failure.where and "output 0 [2]" in failure.where
        assert f"is {np.cos(0.7):.8g}, the rule says {2 * np.cos(0.7):.8g}" in failure.where


def test_the_wrong_argument_output_and_leaf_are_named():
    f = lambda p, c: (p["w"] * c, p["b"][0] + c)
    rule = lambda p, c, ct: ({"w": ct[0] * c, "b": [3 * ct[1]]}, ct[0] * p["w"] + ct[1])
    failure = first_failure(check_vjp, f, rule, ({"w": V, "b": [W]}, W + 1), form="flat", points="given")
    assert "'p'" in failure.argument and "['b'][0]" in failure.argument
    assert "output 1" in failure.where
    assert failure.guess == "3 times what it should be"


@pytest.mark.parametrize("wrong", ["width", "height"])
@pytest.mark.parametrize("check", [check_jvp, check_vjp])
def test_the_wrong_argument_is_blamed_alone(wrong, check):
    a, b = (1.5, 1.0) if wrong == "width" else (1.0, 1.5)

    def area(width, height):
        return width * height

    if check is check_jvp:
        rule = lambda x, y, tx, ty: a * tx * y + b * x * ty
    else:
        rule = lambda x, y, ct: (a * ct * y, b * ct * x)
    failure = first_failure(check, area, rule, (V, W), form="flat", points="given")
    assert failure.argument == f"argument '{wrong}'"


def test_large_jacobians_are_not_taken():
    n = AFFORDABLE + 1
    x = np.linspace(0.5, 2, n)
    failure = first_failure(check_jvp, np.sin, lambda x, t: -t * np.cos(x), (x,), form="flat", points="given")
    assert "Jacobian" not in failure.where and failure.guess == "the sign is flipped"
    assert f"{n} of {n} entries" in failure.where


def test_expected_has_an_error_bound_and_a_table_of_steps():
    failure = first_failure(check_jvp, np.sin, lambda x, t: -t * np.cos(x), (0.4,), form="flat", points="given")
    value, error = failure.expected.split(" with an error of at most ")
    assert float(value) == pytest.approx(-float(failure.got)) and 0 < float(error) < 1e-10
    assert [part.split(":")[0] for part in failure.table.split(", ")] == [
        "step 0.1", "step 0.01", "step 0.001", "step 0.0001"]  # fmt: skip
    assert float(failure.table.split(": ")[-1]) == pytest.approx(float(value), rel=1e-6)


# messages


def _failures():
    for table, check in ((REVERSE, check_vjp), (FORWARD, check_jvp)):
        for f, rule, args, _ in table.values():
            yield check, f, rule, args
    yield check_vjp, np.sin, lambda x, ct: 1 / 0, (V,)
    yield check_vjp, np.sin, lambda x, ct: ct[None], (V,)
    yield check_vjp, np.sin, lambda x, ct: ct * ct, (V,)
    yield check_vjp, np.sin, lambda x, ct: (_ for _ in ()).throw(ValueError("line\n" * 40)), (V,)
    yield check_vjp, lambda *xs: sum(xs), lambda *xs: tuple(2 * xs[-1] for _ in xs[:-1]), (V,) * 6
    x = np.arange(1.0, 1001.0)
    yield check_vjp, np.sin, lambda x, ct: 2 * ct * np.cos(x), (x,)
    yield check_vjp, np.sin, lambda x, ct: ct * ct, (x,)


def test_a_failure_has_at_most_15_lines():
    for check, f, rule, args in _failures():
        report = report_of(check, f, rule, args, form="flat", points="given")
        assert not report.ok
        for failure in report.failures:
            lines = str(failure).split("\n")
            assert len(lines) <= LINES
            assert all(len(line) < 400 for line in lines)


def test_the_exception_shows_the_first_failure_and_counts_the_others():
    with pytest.raises(errors.CheckError) as caught:
        check_vjp(np.sin, lambda x, ct: 2 * ct * ct, (V,), form="flat")
    assert str(caught.value).startswith(str(caught.value.report.failures[0]).split("\n")[0])
    assert isinstance(caught.value, AssertionError)
    more = len(caught.value.report.failures) - 1
    assert (f"and {more} more" in str(caught.value)) is (more > 0)


def test_parts_of_a_message():
    def wave(x):
        return np.sin(x)

    text = str(first_failure(check_vjp, wave, lambda x, ct: -ct * np.cos(x), (V,), form="flat", seed=3))
    for part in ("wave: vjp is wrong (value, rev, order 1)", "seed 3", "argument 'x'", "expected:", "got:", "where:",
                 "guess:", "the sign is flipped", "again:"):  # fmt: skip
        assert part in text


def test_a_raised_exception_is_reported_in_each_place():
    place = test_a_raised_exception_is_reported_in_each_place.__code__.co_firstlineno + 7

    class Odd(Exception):
        pass

    def fails(*_):
        raise Odd("what went wrong")

    for failure in (
        first_failure(check_vjp, np.sin, fails, (V,), form="flat"),
        first_failure(check_vjp, np.sin, fails, (V,)),
        first_failure(check_vjp, np.sin, lambda x: (np.sin(x), fails), (V,)),
        first_failure(check_jvp, np.sin, fails, (V,)),
        first_failure(check_jvp, np.sin, fails, (V,), form="flat"),
    ):
        assert failure.layer == "runs" and f"Odd: what went wrong (test_diagnosis.py:{place})" in failure.message


def test_the_user_can_stop_a_check():
    def interrupts(x, ct):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_vjp(np.sin, interrupts, (V,), form="flat")


# the call that fails again

SCOPE = {"np": np, "anp": anp, "check_grads": check_grads, "check_jvp": check_jvp, "check_vjp": check_vjp}


def sine(x, *_):
    return np.sin(x)


def product(a, b):
    return a * b


def doubled(x, ct):
    return 2 * ct * np.cos(x)


def doubled_at_zero(x, ct):
    return ct * np.where(x == 0, 2.0, np.cos(x))


def doubled_where_b_is_zero(a, b, ct):
    return ct * b, ct * a * (1.0 if np.any(b) else 2.0)


def doubled_where_equal(a, b, ct):
    return ct * b, ct * a * (2.0 if np.array_equal(a, b) and not np.all(a == a[0]) else 1.0)


def conjugated(z, ct):
    return np.conj(ct * np.cos(z))


def adds_one(x, ct):
    return ct * np.cos(x) + 1


def transposed_shape(x, ct):
    return np.zeros(np.shape(x)[::-1])


def ignores_the_rest(x, y, ct):
    return 2 * ct * np.cos(x), None


def tree_function(p):
    return p["a"] * p["b"][0]


def tree_rule(p, ct):
    return {"a": ct * p["b"][0], "b": [2 * ct * p["a"]]}


def pair_forward(primals, tangents):
    return np.sin(primals[0]), 2 * np.cos(primals[0]) * tangents[0]


def pair_reverse(x):
    return np.sin(x), lambda ct: (2 * np.cos(x) * ct,)


def detached(x, ct):
    return ct * stop_gradient(anp.cos(x))


def loses_digits(x, ct):
    return ct * np.cos(x) * (1 + 1e-9 * np.sin(1e17 * x + 1))


def raises_at_zero(x, ct):
    if not np.all(x):
        raise ValueError("zero")
    return ct * np.cos(x)


def total(x):
    return np.sum(np.sin(x) * WEIGHTS)


def one_entry_off(x, ct):
    return ct * np.cos(x) * WEIGHTS * np.array([1.0, 1.0, 1 + 1e-3])


WEIGHTS = np.array([1.0, 1.0, 1e-9])


@custom_jvp
def exponential(x):
    return anp.exp(x)


exponential.defjvp(lambda p, t: (exponential(*p), stop_gradient(exponential(*p)) * t[0]))


def through_exponential(x):
    return exponential(x)


FLAT = {"form": "flat"}
AGAIN = {
    "array": (check_vjp, sine, doubled, (V,), FLAT),
    "given point alone": (check_vjp, sine, doubled, (V,), {**FLAT, "points": "given"}),
    "seed": (check_vjp, sine, doubled, (V,), {**FLAT, "seed": 7}),
    "pullback": (check_vjp, sine, pair_reverse, (V,), {}),
    "pair": (check_jvp, sine, pair_forward, (V,), {}),
    "forward": (check_jvp, sine, doubled, (V,), FLAT),
    "Python float": (check_vjp, sine, doubled, (0.4,), FLAT),
    "NumPy scalar": (check_vjp, sine, doubled, (np.float64(0.4),), FLAT),
    "0-d array": (check_vjp, sine, doubled, (np.array(0.4),), FLAT),
    "complex": (check_vjp, sine, doubled, (Z,), FLAT),
    "Python complex": (check_vjp, sine, doubled, (0.4 + 1j,), FLAT),
    "adjoint": (check_vjp, sine, doubled, (Z,), {**FLAT, "inner": "adjoint"}),
    "float32": (check_vjp, sine, doubled, (V.astype(np.float32),), FLAT),
    "complex64": (check_vjp, sine, doubled, (Z.astype(np.complex64),), FLAT),
    "matrix": (check_vjp, sine, doubled, (A,), FLAT),
    "integers": (check_vjp, sine, ignores_the_rest, (V, np.arange(3)), FLAT),
    "small integers": (check_vjp, sine, ignores_the_rest, (V, np.arange(3, dtype=np.int8)), FLAT),
    "booleans": (check_vjp, sine, ignores_the_rest, (V, np.array([True, False])), FLAT),
    "Python integer": (check_vjp, sine, ignores_the_rest, (V, 3), FLAT),
    "Python boolean": (check_vjp, sine, ignores_the_rest, (V, True), FLAT),
    "None": (check_vjp, sine, ignores_the_rest, (V, None), FLAT),
    "not finite": (check_vjp, sine, ignores_the_rest, (V, np.array([np.nan, np.inf, -np.inf])), FLAT),
    "Python infinity": (check_vjp, sine, ignores_the_rest, (V, float("inf")), FLAT),
    "complex infinity": (check_vjp, sine, ignores_the_rest, (V, np.array([complex(np.inf, 1.0)])), FLAT),
    "tree": (check_vjp, tree_function, tree_rule, ({"a": V, "b": [W]},), FLAT),
    "empty": (check_vjp, sine, transposed_shape, (np.zeros((0, 3)),), FLAT),
    "empty beside": (check_vjp, sine, ignores_the_rest, (V, np.zeros((2, 0))), FLAT),
    "structure": (check_vjp, sine, transposed_shape, (A[:2],), FLAT),
    "homogeneity": (check_vjp, sine, adds_one, (V,), FLAT),
    "zeros": (check_vjp, sine, doubled_at_zero, (V,), FLAT),
    "zeros of the second": (check_vjp, product, doubled_where_b_is_zero, (V, W), FLAT),
    "ties of arguments": (check_vjp, product, doubled_where_equal, (V, W), FLAT),
    "whole Jacobians": (check_vjp, total, one_entry_off, (V,), {**FLAT, "fast": False}),
    "overrides": (check_vjp, sine, doubled, (V,), {**FLAT, "atol": 1e-3, "rtol": 1e-2, "eps": 0.01}),
    "strict": (check_vjp, sine, loses_digits, (V,), {**FLAT, "strict": True}),
    "strict, raises": (check_vjp, sine, raises_at_zero, (V,), {**FLAT, "strict": True}),
    "order 2": (check_grads, through_exponential, None, (V,), {}),
    "order 2 of one mode": (check_grads, through_exponential, None, (V,), {"modes": "rev"}),
    "order 2 of a rule": (check_vjp, anp.sin, detached, (V,), {**FLAT, "order": 2}),
}


def _call(check, f, rule, args, options):
    return first_failure(check, f, *([] if rule is None else [rule]), args, **options)


@pytest.mark.parametrize("name", AGAIN)
def test_the_call_can_be_pasted_and_fails_again(name):
    """It finds the same failure, down to the numbers."""
    check, f, rule, args, options = AGAIN[name]
    failure = _call(check, f, rule, args, options)
    scope = SCOPE | {g.__name__: g for g in (f, rule) if g is not None}
    again = first_failure(eval, failure.again, scope)
    assert (again.layer, again.mode, again.order, again.path, again.point, again.seed) == (
        failure.layer, failure.mode, failure.order, failure.path, failure.point, failure.seed)  # fmt: skip
    assert (again.expected, again.got, again.message) == (failure.expected, failure.got, failure.message)


def test_the_call_finds_a_rule_that_changes_once_it_was_elsewhere():
    state = []

    def remembers(x, ct):
        if np.all(x == 16 * V):
            state.append(0)
        return ct * np.cos(x) * (1.001 if state and np.all(x == V) else 1.0)

    failure = first_failure(check_vjp, sine, remembers, (V,), form="flat")
    assert failure.layer == "determinism"
    state.clear()
    again = first_failure(eval, failure.again, SCOPE | {"sine": sine, "remembers": remembers})
    assert again.layer == "determinism"


# a smaller case


def scaled_product(a, b):
    return 3.0 * (a @ b)


def half_wrong(a, b, ct):
    return 3.0 * (ct @ b.T), 6.0 * (a.T @ ct)


def wrong_beyond_two(x, ct):
    return ct * np.cos(x) * (2.0 if len(x) > 2 else 1.0)


def off_at_zero(x, ct):
    return ct * np.where(x == 0, 2.0, np.cos(x))


RNG = np.random.default_rng(0)
SMALLER = {
    "matrices": (scaled_product, half_wrong, (RNG.normal(size=(5, 4)), RNG.normal(size=(4, 7))), [(1, 1), (1, 1)]),
    "what is wrong for long ones only": (sine, wrong_beyond_two, (np.linspace(0.5, 2, 9),), [(9,)]),
    "at a point beside": (sine, off_at_zero, (np.linspace(0.5, 2, 9),), [(1,)]),
    "tree": (tree_function, tree_rule, ({"a": V, "b": [W]},), [(1,), (1,)]),
    "integers beside": (sine, ignores_the_rest, (V, np.arange(3)), [(1,), (1,)]),
    "float32": (sine, doubled, (np.linspace(0.5, 2, 9).astype(np.float32),), [(1,)]),
    "Python float": (sine, doubled, (0.123,), [()]),
}


@pytest.mark.parametrize("name", SMALLER)
def test_a_smaller_case_is_told_that_fails_in_the_same_way(name):
    f, rule, args, shapes = SMALLER[name]
    failure = first_failure(check_vjp, f, rule, args, form="flat")
    seen = []
    check = lambda f, rule, args, **options: seen.extend(tree.leaves(args)) or check_vjp(f, rule, args, **options)
    again = first_failure(eval, failure.smaller, SCOPE | {g.__name__: g for g in (f, rule)} | {"check_vjp": check})
    assert (again.layer, again.mode, again.point) == (failure.layer, failure.mode, "")
    assert [np.shape(x) for x in seen] == shapes
    assert [np.asarray(x).dtype for x in seen] == [np.asarray(x).dtype for x in tree.leaves(args)]
    for x in seen:
        np.testing.assert_array_equal(x, np.round(x, 1))
    assert "smaller:" in str(failure)


def test_there_is_no_smaller_case_of_the_smallest():
    assert not first_failure(check_vjp, sine, doubled, (np.array([0.4]),), form="flat").smaller


def test_what_a_rule_raises_for_a_smaller_case_is_not_told():
    def needs_nine(x, ct):
        if len(x) != 9:
            raise ValueError("nine entries are due")
        return 2 * ct * np.cos(x)

    failure = first_failure(check_vjp, sine, needs_nine, (np.linspace(0.5, 2, 9),), form="flat")
    assert failure.layer == "value" and "entries are due" not in str(failure) and "0.7, " in failure.smaller


def test_large_arguments_are_called_args():
    x = np.linspace(0.5, 2.0, 100)
    failure = first_failure(check_vjp, sine, doubled, (x,), form="flat")
    assert "check_vjp(sine, doubled, args, " in failure.again
    again = first_failure(eval, failure.again, SCOPE | {"sine": sine, "doubled": doubled, "args": (x,)})
    assert again.got == failure.got


def test_options_that_are_default_are_left_out():
    failure = first_failure(check_vjp, sine, doubled, (V,), form="flat")
    for word in ("inner", "order", "fast", "strict", "atol"):
        assert word not in failure.again
