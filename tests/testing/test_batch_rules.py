"""check_vmap: right batching rules pass, wrong ones are caught, whichever arguments are mapped and over which axes."""

import itertools

import numpy as np
import pytest

import autodidax.numpy as anp
from autodidax import errors, tree, vmap
from autodidax.test_util import check_vmap
from tests.testing.outcomes import first_failure, report_of

V = np.array([0.5, 1.5, 0.7])
M = np.arange(1.0, 7.0).reshape(2, 3)
A = np.array([[2.0, 0.3, 0.1], [0.2, 1.0, -0.4], [0.5, 0.1, 3.0]])


def size_of(args, axes):
    return next(tree.leaves(a)[0].shape[axis] for a, axis in zip(args, axes, strict=True) if axis is not None)


def rows_of(args, axes):
    """The arguments of every row, by moving or repeating: the plainest right rule there is."""
    for i in range(size_of(args, axes)):
        yield [a if axis is None else tree.map(lambda x, axis=axis, i=i: np.take(x, i, axis=axis), a)
               for a, axis in zip(args, axes, strict=True)]  # fmt: skip


def stacked(f):
    """The rule that runs f on each row and stacks the results."""

    def rule(args, axes):
        outs = [f(*row) for row in rows_of(args, axes)]
        return tree.map(lambda *ys: np.stack([np.asarray(y) for y in ys]), *outs)

    return rule


def moved(args, axes):
    return [a if axis is None else np.moveaxis(a, axis, 0) for a, axis in zip(args, axes, strict=True)]


FUNCTIONS = {
    "elementwise": (np.sin, (V,)),
    "0-d": (np.sin, (np.float64(0.5),)),
    "two arguments": (lambda a, b: a * b, (M, V)),
    "three arguments": (lambda a, b, c: a * b + c, (M, V, M + 1)),
    "matrix and vector": (lambda a, b: a @ b, (M, V)),
    "solve": (np.linalg.solve, (A, V)),
    "reduction": (lambda x: np.sum(x, axis=0), (M,)),
    "several outputs": (lambda x: (np.sin(x), np.sum(x), x[0] > 0), (M,)),
    "tree": (lambda p, x: {"y": p["a"] @ x, "z": [p["b"]]}, ({"a": M, "b": V}, V)),
    "integers": (lambda x, i: x[i], (V, np.array([0, 2]))),
    "booleans": (lambda m, x: np.where(m, x, 2 * x), (np.array([True, False, True]), V)),
    "complex": (lambda z: z * np.conj(z[::-1]), (V + 1j * V[::-1],)),
    "float32": (np.exp, (V.astype(np.float32),)),
    "empty": (np.sin, (np.zeros((0, 3)),)),
    "Python scalar beside": (lambda x, c: c * x, (V, 2.0)),
    "None beside": (lambda x, b: 2 * x, (V, None)),
    "five arguments": (lambda *xs: sum(xs), (V, V, V, V, V)),
    "not a number": (np.log, (-V,)),
    "square root near its edge": (lambda x: np.sqrt(x), (np.full(3, 1e-8),)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("mapped", ["each", "all"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_loop_itself_passes(name, mapped, seed):
    f, args = FUNCTIONS[name]
    with np.errstate(all="ignore"):
        report = report_of(check_vmap, f, stacked(f), args, mapped=mapped, seed=seed)
    assert report.ok, str(report)
    assert report.checks["vmap"] >= 2


@pytest.mark.parametrize(
    "f", [anp.sin, lambda a: anp.linalg.inv(a), lambda a: anp.sort(a, axis=0)], ids=["sin", "inv", "sort"]
)
def test_our_own_vmap_passes(f):
    assert check_vmap(f, lambda args, axes: vmap(f, in_axes=tuple(axes))(*args), (A,)).ok


def _seen(f, args, **options):
    calls = []
    right = stacked(f)

    def rule(given, axes):
        calls.append((size_of(given, axes), tuple(axes)))
        return right(given, axes)

    check_vmap(f, rule, args, **options)
    return calls


def test_every_choice_of_mapped_arguments_is_tried():
    calls = _seen(lambda a, b, c: a * b * c, (M, V, V))
    choices = {tuple(a is not None for a in axes) for _, axes in calls}
    assert choices == set(itertools.product((True, False), repeat=3)) - {(False, False, False)}


def test_each_argument_of_many_is_mapped_and_not_mapped():
    calls = _seen(lambda *xs: sum(xs), (V,) * 6)
    choices = {tuple(a is not None for a in axes) for _, axes in calls}
    for k in range(6):
        assert {choice[k] for choice in choices} == {True, False}


def test_mapped_all_maps_all():
    calls = _seen(lambda a, b: a * b, (M, V), mapped="all")
    assert {tuple(a is not None for a in axes) for _, axes in calls} == {(True, True)}


def test_axes_come_first_last_and_differ():
    axes = {axes for _, axes in _seen(lambda a, b: a * b, (M, M))}
    assert {(0, 0), (2, 2)} <= axes and any(a != b and None not in (a, b) for a, b in axes)
    assert all(a is None or 0 <= a <= 2 for pair in axes for a in pair)


def test_sizes_are_one_three_and_that_of_another_axis():
    assert {size for size, _ in _seen(lambda a: 2 * a, (np.ones((5, 4)),))} >= {1, 3, 4}
    assert {size for size, _ in _seen(lambda a: 2 * a, (np.ones(()),))} == {1, 3}


def test_python_scalars_and_none_are_not_mapped():
    calls = _seen(lambda x, c, b: c * x, (V, 2.0, None))
    assert {axes[1:] for _, axes in calls} == {(None, None)}


def test_nothing_that_could_be_mapped_is_no_pass():
    """A check that compares nothing says so."""
    try:
        report = check_vmap(lambda x: 2 * x, lambda args, axes: 1 / 0, (2.0,))
    except errors.AutodidaxError:
        return
    assert report.inconclusive or report.skipped


def test_all_leaves_of_a_tree_have_one_axis_within_their_rank():
    f = lambda p: p["a"].sum() + p["b"]
    report = check_vmap(f, stacked(f), ({"a": M, "b": np.array(2.0)},))
    assert report.ok


def test_the_batch_axis_of_a_single_array_may_be_told():
    for axis in (0, 1, -1):
        right = lambda args, axes, axis=axis: (np.moveaxis(np.sin(np.moveaxis(args[0], axes[0], 0)), 0, axis), axis)
        assert check_vmap(np.sin, right, (M,)).ok
        wrong = lambda args, axes, axis=axis, right=right: (right(args, axes)[0], (axis + 1) % 3)
        assert not report_of(check_vmap, np.sin, wrong, (np.ones((3, 3)) + np.eye(3),)).ok


def test_a_result_of_two_arrays_is_no_array_with_its_axis():
    f = lambda x: (np.sin(x), 1)
    assert check_vmap(f, lambda args, axes: (np.sin(moved(args, axes)[0]), np.ones(size_of(args, axes), int)), (V,)).ok
    assert first_failure(check_vmap, f, lambda args, axes: (np.sin(args[0]), 1), (V,)).layer in ("structure", "loop")


WRONG = {
    "axis ignored": (np.sin, lambda args, axes: np.sin(args[0]), (V,)),
    "batch left last": (np.sin, lambda args, axes: np.moveaxis(np.sin(moved(args, axes)[0]), 0, -1), (M,)),
    "None not handled": (
        lambda a, b: a * b, lambda args, axes: np.stack([x * y for x, y in zip(*moved(args, axes), strict=True)]),
        (V, V)),
    "mapped arguments not aligned": (lambda a, b: a @ b, lambda args, axes: np.matmul(*moved(args, axes)), (A, V)),
    "broadcast against the batch": (
        lambda a, b: a + b, lambda args, axes: np.add(*moved(args, axes)), (M, V)),
    "reduced over the batch": (
        lambda x: np.sum(x, axis=0), lambda args, axes: np.broadcast_to(
            np.sum(moved(args, axes)[0], axis=0), moved(args, axes)[0].shape), (V,)),
    "wrong axis of a reduction": (
        lambda x: np.cumsum(x, axis=0), lambda args, axes: np.cumsum(moved(args, axes)[0], axis=0), (V,)),
    "first row for all": (
        np.sin, lambda args, axes: (lambda x: np.sin(np.broadcast_to(x[:1], x.shape)))(moved(args, axes)[0]), (V,)),
    "rows in another order": (np.sin, lambda args, axes: np.sin(moved(args, axes)[0])[::-1], (V,)),
    "mean over rows": (
        np.sin, lambda args, axes: (lambda x: np.broadcast_to(np.sin(x).mean(0), x.shape))(moved(args, axes)[0]), (V,)),
    "statistics of the batch": (
        lambda x: x - x.mean(), lambda args, axes: (lambda x: x - x.mean())(moved(args, axes)[0]), (V,)),
    "float32": (np.sin, lambda args, axes: np.sin(moved(args, axes)[0]).astype(np.float32), (V,)),
    "float64 of float32": (np.sin, lambda args, axes: np.sin(moved(args, axes)[0]).astype(float),
                           (V.astype(np.float32),)),
    "without its batch": (np.sin, lambda args, axes: np.sin(moved(args, axes)[0])[0], (V,)),
    "extra axis": (np.sin, lambda args, axes: np.sin(moved(args, axes)[0])[:, None], (V,)),
    "one output of two": (lambda x: (x, 2 * x), lambda args, axes: (moved(args, axes)[0],), (V,)),
    "outputs swapped": (
        lambda x: (x, 2 * x), lambda args, axes: (2 * moved(args, axes)[0], moved(args, axes)[0]), (V,)),
    "other names of outputs": (
        lambda x: {"a": x, "b": x}, lambda args, axes: {"a": moved(args, axes)[0], "c": moved(args, axes)[0]}, (V,)),
    "None": (np.sin, lambda args, axes: None, (V,)),
    "a relative error of 1e-9": (np.sin, lambda args, axes: np.sin(moved(args, axes)[0]) * (1 + 1e-9), (V,)),
    "indices of the first row": (
        lambda i: np.arange(10.0)[i], lambda args, axes: np.stack(
            [np.arange(10.0)[moved(args, axes)[0][0]]] * size_of(args, axes)), (np.array([3, 1, 2]),)),
    "mask of the first row": (
        lambda m, x: np.where(m, x, 2 * x), lambda args, axes: np.stack(
            [np.where(next(rows_of(args, axes))[0], x, 2 * x) for _, x in rows_of(args, axes)]),
        (np.array([True, False, True]), V)),
    "None not handled in the fifth of five": (
        lambda *xs: sum(xs), lambda args, axes: sum(np.moveaxis(x, a, 0) for x, a in zip(args, axes, strict=True)),
        (V,) * 5),
    "wrong for a batch of one": (
        np.sin, lambda args, axes: (lambda x: np.sin(x) if len(x) > 1 else np.sin(x) + 1)(moved(args, axes)[0]), (V,)),
    "squeezes a batch of one": (np.sin, lambda args, axes: np.squeeze(np.sin(moved(args, axes)[0])), (V,)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules_are_caught(name):
    f, rule, args = WRONG[name]
    for seed in range(3):
        failure = first_failure(check_vmap, f, rule, args, seed=seed)
        assert (failure.mode, failure.rule) == ("vmap", "batch")
        assert failure.layer in ("structure", "loop", "runs")


def _changes(args, axes):
    args[0][...] += 1
    return np.sin(np.moveaxis(args[0] - 1, axes[0], 0))


def _raises(args, axes):
    raise KeyError("no rule")


LAYERS = {
    "purity": (_changes, "changed its arguments in place"),
    "runs": (_raises, "the rule raised KeyError: 'no rule'"),
    "structure": (lambda args, axes: np.sin(args[0])[None], "wrong shape or dtype"),
    "loop": (lambda args, axes: 2 * np.sin(np.moveaxis(args[0], axes[0], 0)), "differs from the loop in 3 of 3 rows"),
}


@pytest.mark.parametrize("layer", LAYERS)
def test_layers_and_messages(layer):
    rule, message = LAYERS[layer]
    failure = first_failure(check_vmap, np.sin, rule, (V,))
    assert failure.layer == layer and message in failure.message
    text = str(failure)
    assert len(text.split("\n")) <= 15
    assert "batch of 3 rows along axes (0,)" in text and "seed 0" in text
    with pytest.raises(errors.CheckError, match="sin"):
        check_vmap(np.sin, rule, (V,))


def test_a_rule_that_is_wrong_at_later_calls_is_caught():
    calls = []

    def rule(args, axes):
        calls.append(axes)
        return np.sin(moved(args, axes)[0]) * (1 if len(calls) < 3 else 2)

    assert first_failure(check_vmap, np.sin, rule, (V,)).layer == "loop"


def test_a_rule_that_gives_out_one_buffer_twice_is_caught():
    buffers = {}

    def rule(args, axes):
        x = moved(args, axes)[0]
        return np.sin(x, out=buffers.setdefault(x.shape, np.empty(x.shape)))

    assert first_failure(check_vmap, np.sin, rule, (V,)).layer == "purity"


def test_a_noisy_function_accuses_nobody():
    rng = np.random.default_rng(0)
    f = lambda x: np.sin(x) + 0.1 * rng.standard_normal()
    report = report_of(check_vmap, f, lambda args, axes: np.sin(moved(args, axes)[0]), (V,))
    assert report.ok and report.inconclusive


def test_arguments_are_left_alone():
    x = V.copy()
    check_vmap(np.sin, stacked(np.sin), (x,))
    np.testing.assert_array_equal(x, V)


def test_rows_differ_and_the_first_is_the_one_given():
    seen = []

    def rule(args, axes):
        seen.append(moved(args, axes)[0].copy())
        return np.sin(seen[-1])

    check_vmap(np.sin, rule, (V,))
    for rows in seen:
        np.testing.assert_array_equal(rows[0], V)
        assert len({row.tobytes() for row in rows}) == len(rows)


def _rows_seen(f, args):
    """The values of each mapped argument in all rows of all batches."""
    seen = [[] for _ in args]

    def rule(given, axes):
        for values, row in zip(seen, zip(*rows_of(given, axes), strict=True), strict=True):
            values.extend(row)
        return stacked(f)(given, axes)

    report = check_vmap(f, rule, args)
    return seen, report


def test_rows_are_negated_in_another_order_and_large():
    [rows], _ = _rows_seen(np.sin, (np.array([1.0, 2.0, 4.0]),))
    assert any(np.all(row < 0) for row in rows)
    assert any(np.max(np.abs(row)) > 1000 for row in rows)
    assert len({tuple(np.argsort(row)) for row in rows}) > 2


def test_rows_outside_of_the_domain_are_not_taken():
    [rows], _ = _rows_seen(np.log, (np.array([1.0, 2.0, 4.0]),))
    assert all(np.all(row > 0) for row in rows) and any(np.max(row) > 1000 for row in rows)
    [rows], _ = _rows_seen(np.exp, (np.array([1.0, 2.0, 4.0]),))
    assert all(np.all(np.isfinite(np.exp(row))) for row in rows) and any(np.all(row < 0) for row in rows)


def test_single_integers_and_booleans_differ_from_row_to_row():
    (_, indices), report = _rows_seen(lambda x, i: x[i], (V, np.array(1)))
    assert {int(i) for i in indices} == {0, 1, 2} and not report.inconclusive
    (_, flags), report = _rows_seen(lambda x, b: x if b else -x, (V, np.bool_(True)))
    assert {bool(b) for b in flags} == {False, True} and not report.inconclusive
    (_, indices), _ = _rows_seen(lambda x, i: x[i], (V, np.array([2, 2])))
    assert len({int(i) for pair in indices for i in pair}) > 1


def test_an_integer_that_has_to_be_the_same_is_not_compared():
    f = lambda x, n: np.zeros(int(n)) + x[0]
    report = check_vmap(f, stacked(f), (V, np.array(3)))
    assert report.ok and "'n' was the same in all rows" in "".join(report.inconclusive)


def test_rounding_of_large_rows_is_no_error():
    """The sine of a sum of 200 terms, 1000 times as large, that is taken in another order."""
    x = np.random.default_rng(0).normal(size=200)
    rule = lambda args, axes: np.sin(moved(args, axes)[0][:, ::-1].cumsum(axis=1)[:, -1])
    assert check_vmap(lambda x: np.sin(np.sum(x)), rule, (x,)).ok


def test_rows_stay_in_the_domain():
    def f(x):
        if np.any(x < 0):
            raise ValueError("negative")
        return np.sqrt(x)

    assert check_vmap(f, stacked(f), (np.array([0.0, 1e-9, 1.0]),)).ok


BAD = {
    "f is no function": lambda: check_vmap(3, np.sin, (V,)),
    "the rule is no function": lambda: check_vmap(np.sin, None, (V,)),
    "args is an array": lambda: check_vmap(np.sin, np.sin, V),
    "unknown mapped": lambda: check_vmap(np.sin, np.sin, (V,), mapped="some"),
    "text": lambda: check_vmap(np.sin, np.sin, ("text",)),
}


@pytest.mark.parametrize("call", BAD.values(), ids=BAD)
def test_bad_usage(call):
    with pytest.raises(errors.AutodidaxError):
        call()


def test_a_function_that_raises_raises_itself():
    with pytest.raises(ZeroDivisionError):
        check_vmap(lambda x: 1 / 0, np.sin, (V,))
