"""Reading and writing parts of arrays: every rule at every sample, then the functions over them."""

import numpy as np
import pytest

import autodidax as ad
from autodidax import errors
from autodidax.numpy.indexing import at
from autodidax.primitives import gather, indexing, scatter
from autodidax.primitives.indexing import Slot, canonical_index, getitem
from tests.primitives import rule_checks as rules

PRIMITIVES = [
    indexing.getitem_p, indexing.scatter_add, indexing.scatter_set, scatter.scatter_mul, scatter.scatter_max,
    scatter.scatter_min, gather.dynamic_slice_p, gather.dynamic_update_slice_p,
]  # fmt: skip
ALL = rules.samples_of(*PRIMITIVES)
X = np.random.default_rng(3).normal(size=(4, 5, 3))
I = np.array([2, 0, -1])


@pytest.mark.parametrize("check", [rules.check_aval, rules.check_staged, rules.check_vmap, rules.check_derivatives])
@pytest.mark.parametrize("p, sample", **ALL)
def test_rules(p, sample, check):
    check(p, sample)


INDICES = {
    "integer": 2,
    "NumPy integer": np.int8(-1),
    "slice with NumPy bounds": slice(np.int64(1), None, np.int64(2)),
    "list": [0, 0, 3],
    "nested list": [[0, 1], [2, 3]],
    "empty list": [],
    "tuple of lists": ([0, 1], [4, 4]),
    "mask": X > 0,
    "mask of one axis": (slice(None), np.array([True, False, True, True, False])),
    "mask as list": [True, False, True, True],
    "mask behind Ellipsis": (Ellipsis, np.array([[True, False, True]] * 5)),
    "mask and array": (np.array([True, False, True, True]), I),
    "0-d mask": np.True_,
    "0-d false": np.array(False),
    "None": None,
    "empty tuple": (),
    "separated": (I, slice(None), I),
    "separated by None": (I, None, I),
    "separated by an Ellipsis of no axis": (slice(None), I, Ellipsis, I),
    "unsigned": I.astype(np.uint8) % 3,
    "0-d array": np.array(1),
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES.keys())
def test_getitem_is_numpys(index):
    want = X[index]
    out, pull = ad.vjp(lambda x: getitem(x, index), X)
    np.testing.assert_array_equal(out, want)
    ct = np.random.default_rng(4).normal(size=want.shape)
    expected = np.zeros_like(X)
    np.add.at(expected, index, ct)
    np.testing.assert_allclose(pull(ct)[0], expected, rtol=1e-14)
    rows = np.stack([X, 2 * X])
    np.testing.assert_array_equal(ad.vmap(lambda x: getitem(x, index))(rows), np.stack([r[index] for r in rows]))


def _random_index(rng, shape):
    """An index of integers, slices, None, Ellipsis and arrays that broadcast."""
    common = tuple(rng.integers(1, 4, size=rng.integers(0, 3)))
    items, axis, ellipsis = [], 0, False
    while axis < len(shape) and rng.random() < 0.85:
        n = shape[axis]
        kind = rng.choice(["integer", "slice", "None", "Ellipsis", "array", "array"])
        if kind == "Ellipsis" and not ellipsis:
            ellipsis = True
            items.append(Ellipsis)
            axis += int(rng.integers(0, len(shape) - axis + 1))
        elif kind == "None":
            items.append(None)
        elif kind == "integer":
            items.append(int(rng.integers(-n, n)))
            axis += 1
        elif kind == "slice":
            a, b = (None if rng.random() < 0.4 else int(rng.integers(-n - 1, n + 2)) for _ in range(2))
            items.append(slice(a, b, int(rng.choice([1, 2, -1]))))
            axis += 1
        elif kind == "array":
            own = tuple(1 if rng.random() < 0.25 else m for m in common)[int(rng.integers(0, len(common) + 1)) :]
            items.append(rng.integers(-n, n, size=own))
            axis += 1
    return tuple(items)


@pytest.mark.parametrize("seed", range(40))
def test_random_indices(seed):
    """Reading, its transpose and both under vmap, with x, the index arrays, or both mapped."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 5, size=rng.integers(1, 5)))
    rows = rng.normal(size=(3, *shape))
    x = rows[0]
    index = _random_index(rng, shape)
    try:
        want = x[index]
    except IndexError:  # an Ellipsis may have left too few axes
        with pytest.raises(IndexError):
            getitem(x, index)
        return
    template, arrays = canonical_index(shape, index)
    moved = [np.stack([a, np.flip(a), a]) for a in arrays]
    read = lambda x, *arrays: indexing.getitem_p(x, *arrays, index=template)
    loop = lambda f, *columns: np.stack([f(*row) for row in zip(*columns, strict=True)])
    np.testing.assert_array_equal(read(x, *arrays), want)
    np.testing.assert_array_equal(ad.vmap(read)(rows, *moved), loop(read, rows, *moved))
    if arrays:
        fixed = lambda *arrays: read(x, *arrays)
        np.testing.assert_array_equal(ad.vmap(fixed)(*moved), loop(fixed, *moved))
    updates = rng.normal(size=(3, *want.shape))
    for p in (indexing.scatter_add, indexing.scatter_set):
        write = lambda x, u, *arrays, p=p: p(x, u, *arrays, index=template)
        pull = lambda x, u, *arrays, write=write: ad.vjp(lambda x, u: write(x, u, *arrays), x, u)[1](x)[1]
        np.testing.assert_allclose(ad.vmap(write)(rows, updates, *moved), loop(write, rows, updates, *moved))
        np.testing.assert_allclose(ad.vmap(pull)(rows, updates, *moved), loop(pull, rows, updates, *moved))


ERRORS = {
    "integer": (4, errors.OutOfBoundsError, r"index 4 is out of bounds for axis 0 of size 4"),
    "negative, second axis": ((0, -6), errors.OutOfBoundsError, r"index -6 is out of bounds for axis 1 of size 5"),
    "array": ((slice(None), np.array([0, 7])), errors.OutOfBoundsError, r"index 7 .* axis 1 of size 5"),
    "too many": ((0, 0, 0, 0), errors.OutOfBoundsError, "4 indices"),
    "two Ellipses": ((Ellipsis, Ellipsis), errors.OutOfBoundsError, "one Ellipsis"),
    "mask of another shape": (np.array([True, False]), errors.OutOfBoundsError, r"mask of shape \(2,\)"),
    "float": (1.0, errors.DtypeError, "indexed with float"),
    "float array": (np.array([1.0]), errors.DtypeError, "indexed with float64"),
    "string": ("a", errors.DtypeError, "indexed with str"),
}


@pytest.mark.parametrize("index, error, message", ERRORS.values(), ids=ERRORS.keys())
def test_errors(index, error, message):
    with pytest.raises(error, match=message):
        ad.vjp(lambda x: getitem(x, index), X)


def test_traced_masks_and_bounds_are_refused():
    with pytest.raises(errors.NonConcreteBooleanIndexError, match="where"):
        ad.vmap(lambda x: getitem(x, x > 0))(np.ones((2, 3)))
    with pytest.raises(errors.TracerIntegerConversionError, match="dynamic_slice"):
        ad.vmap(lambda k: getitem(np.ones(3), slice(k, None)))(np.array([0, 1]))


def test_a_mask_of_known_values_is_taken_under_grad():
    x = np.array([1.0, -2.0, 3.0])
    got = ad.grad(lambda x: ad.registry["reduce_sum"](getitem(x, x > 0) * 2.0, axes=(0,)))(x)
    np.testing.assert_array_equal(got, [2.0, 0.0, 2.0])


def test_list_of_traced_integers():
    got = ad.vmap(lambda i, j: getitem(X, [i, j, 0]))(np.array([1, 2]), np.array([3, 0]))
    np.testing.assert_array_equal(got, X[np.array([[1, 3, 0], [2, 0, 0]])])


@pytest.mark.parametrize("mode", ["clip", "fill", "drop", "wrap"])
@pytest.mark.parametrize("index", [np.array([0, 9, -1, -7]), 9, (slice(1, 3), np.array([[5, 1]]))], ids=repr)
def test_modes_of_get(index, mode):
    """Against a gather from an array that has been extended by what the mode reads."""
    place = 1 if isinstance(index, tuple) else 0
    raw = index[1] if place else np.asarray(index)
    n = X.shape[place]
    counted = np.where(raw < 0, raw + n, raw)
    inside = (counted >= 0) & (counted < n)
    nearest = raw % n if mode == "wrap" else np.clip(counted, 0, n - 1)
    want = X[(index[0], nearest) if place else nearest]
    if mode in ("fill", "drop"):
        want = np.where(inside.reshape(inside.shape + (1,) * (X.ndim - 1 - place)), want, -5.0)
    got, pull = ad.vjp(lambda x: at(x)[index].get(mode=mode, fill_value=-5.0), X)
    np.testing.assert_array_equal(got, want)
    shares = pull(np.ones_like(got))[0]
    assert shares.sum() == (want != -5.0).sum()


FILLS = [(np.float32, np.nan), (np.int8, -128), (np.uint8, 255), (bool, True), (np.complex64, np.nan)]


@pytest.mark.parametrize("dtype, value", FILLS, ids=lambda v: getattr(v, "__name__", ""))
def test_default_fill_value(dtype, value):
    got = at(np.zeros(2, dtype))[[0, 5]].get(mode="fill")
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.array([0, value]).astype(dtype))


OPERATIONS = {
    "set": lambda x, i, u: x.__setitem__(i, u),
    "add": lambda x, i, u: np.add.at(x, i, u),
    "subtract": lambda x, i, u: np.subtract.at(x, i, u),
    "multiply": lambda x, i, u: np.multiply.at(x, i, u),
    "divide": lambda x, i, u: np.divide.at(x, i, u),
    "power": lambda x, i, u: np.power.at(x, i, u),
    "min": lambda x, i, u: np.minimum.at(x, i, u),
    "max": lambda x, i, u: np.maximum.at(x, i, u),
}
PLACES = {
    "integer": 1,
    "slice": slice(1, 3),
    "reversed": slice(None, None, -2),
    "repeated": np.array([0, 2, 2, 0]),
    "separated": (np.array([0, 1]), slice(None), np.array([[2], [0]])),
    "mask": X > 0.5,
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
@pytest.mark.parametrize("operation", OPERATIONS)
def test_updates(operation, place):
    rng = np.random.default_rng(5)
    x = np.abs(X) + 0.5
    kept = x.copy()
    u = rng.uniform(0.6, 1.9, x[place].shape)
    want = x.copy()
    OPERATIONS[operation](want, place, u)
    f = lambda x, u: getattr(at(x)[place], operation)(u)
    np.testing.assert_allclose(f(x, u), want, rtol=1e-13)
    np.testing.assert_array_equal(x, kept)
    rules.check_function(f, (x, u))
    both = (np.stack([x, x + 0.1]), np.stack([u, u + 0.1]))
    loop = np.stack([f(a, b) for a, b in zip(*both, strict=True)])
    np.testing.assert_allclose(ad.vmap(f)(*both), loop, rtol=1e-13)


@pytest.mark.parametrize("operation", ["set", "add", "multiply", "min", "max"])
def test_dropped_updates(operation):
    x, u = np.array([1.0, 2.0, 3.0]), np.array([5.0, 0.5, 7.0, 0.25])
    index = np.array([2, 0, 3, -4])
    f = lambda x, u: getattr(at(x)[index], operation)(u, mode="drop")
    np.testing.assert_array_equal(f(x, u), getattr(at(x)[index[:2]], operation)(u[:2]))
    rules.check_function(f, (x, u))
    rows = ad.vmap(lambda i: getattr(at(x)[i], operation)(u, mode="drop"))(np.stack([index, index[::-1]]))
    np.testing.assert_array_equal(rows[0], f(x, u))


def test_set_and_drop_keep_apart():
    """An update that is left out does not undo one of the last entry."""
    np.testing.assert_array_equal(at(np.zeros(3))[[2, 5]].set([4.0, 9.0], mode="drop"), [0.0, 0.0, 4.0])


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_last_of_several_updates_counts(order):
    """In C order of the updates, whatever their layout in memory; it alone has a derivative."""
    index = np.array([[0, 1, 0], [1, 0, 2]])
    u = np.asarray(np.arange(6.0).reshape(2, 3), order=order)
    out, pull = ad.vjp(lambda u: at(np.zeros(4))[index].set(u), u)
    np.testing.assert_array_equal(out, [4.0, 3.0, 5.0, 0.0])
    np.testing.assert_array_equal(pull(np.array([1.0, 2.0, 3.0, 4.0]))[0], [[0, 0, 0], [2.0, 1.0, 3.0]])


def test_extrema_share_among_ties():
    _, pull = ad.vjp(lambda x, u: at(x)[[0, 0, 1]].max(u), np.array([3.0, 1.0]), np.array([3.0, 3.0, 0.0]))
    gx, gu = pull(np.array([6.0, 1.0]))
    np.testing.assert_allclose(gx, [2.0, 1.0])
    np.testing.assert_allclose(gu, [2.0, 2.0, 0.0])


def test_repeated_products_with_zeros_to_third_order():
    index, u = np.array([0, 0, 0]), np.array([0.0, 0.0, 3.0])
    f = lambda u: at(np.array([2.0, 5.0]))[index].multiply(u)[0]
    np.testing.assert_array_equal(ad.grad(f)(u), np.zeros(3))
    np.testing.assert_array_equal(ad.hessian(f)(u), [[0, 6.0, 0], [6.0, 0, 0], [0, 0, 0]])
    third = ad.jacfwd(ad.hessian(f))(u)
    assert third[0, 1, 2] == third[2, 1, 0] == 2.0


def test_overwritten_entries_are_structural_zeros():
    """The root at 0 that `set` overwrites does not poison the gradient."""
    f = lambda x: ad.registry["reduce_sum"](at(ad.registry["sqrt"](x))[0].set(1.0), axes=(0,))
    np.testing.assert_array_equal(ad.grad(f)(np.array([0.0, 4.0])), [0.0, 0.25])


def test_updates_take_the_dtype_of_the_array():
    x = np.zeros(3, np.float32)
    assert at(x)[0].set(1.5).dtype == at(x)[[0, 0]].add(np.ones(2)).dtype == np.float32
    assert ad.grad(lambda v: at(x)[0].add(v)[0])(2.0).dtype == np.float64
    with pytest.raises(errors.DtypeError, match="imaginary"):
        at(x)[0].set(1j)
    with pytest.raises(errors.ShapeError):
        at(x)[:2].set(np.ones(3))


def test_apply_and_python_values():
    np.testing.assert_array_equal(at([1.0, 2.0, 3.0])[1:].apply(np.square), [1.0, 4.0, 9.0])
    np.testing.assert_array_equal(at(np.ones(2))[[0, 5]].apply(lambda v: v + 1, mode="drop"), [2.0, 1.0])
    assert at(np.float64(1.0))[()].add(1.0) == 2.0


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take(mode, axis):
    indices = np.array([[0, 2], [-1, 1]]) if mode == "raise" else np.array([[0, 7], [-9, 1]])
    got, pull = ad.vjp(lambda x: gather.take(x, indices, axis, mode), X)
    want = np.take(X, indices, axis, mode=mode)
    np.testing.assert_array_equal(got, want)
    numbers = np.take(np.arange(X.size).reshape(X.shape), indices, axis, mode=mode)
    counts = np.bincount(numbers.ravel(), minlength=X.size).reshape(X.shape)
    np.testing.assert_array_equal(pull(np.ones_like(want))[0], counts)


def test_take_raises_out_of_bounds():
    with pytest.raises(IndexError, match="axis 1 of size 5"):
        gather.take(X, [5], 1)


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_along_axis(axis):
    order = np.argsort(X, axis=axis)
    np.testing.assert_array_equal(gather.take_along_axis(X, order, axis), np.take_along_axis(X, order, axis))
    values = np.broadcast_to(np.float64(7.0), order.shape) + np.arange(order.size).reshape(order.shape)
    want = X.copy()
    np.put_along_axis(want, order, values, axis)
    np.testing.assert_array_equal(gather.put_along_axis(X, order, values, axis), want)


@pytest.mark.parametrize("starts, corner", [((0, 0), (0, 0)), ((-1, 2), (2, 2)), ((-9, 9), (0, 2)), ((3, 1), (2, 1))])
def test_dynamic_slices(starts, corner):
    x, update = X[:, :, 0], np.ones((2, 3))
    window = np.s_[corner[0] : corner[0] + 2, corner[1] : corner[1] + 3]
    np.testing.assert_array_equal(gather.dynamic_slice(x, starts, (2, 3)), x[window])
    want = x.copy()
    want[window] = update
    np.testing.assert_array_equal(gather.dynamic_update_slice(x, update, starts), want)
    both = np.array([starts, (1, 1)])
    got = ad.vmap(lambda s: gather.dynamic_slice(x, s, (2, 3)))(both)
    np.testing.assert_array_equal(got, [x[window], x[1:3, 1:4]])


def test_an_index_is_hashable_and_readable():
    assert repr((Slot(0), 1)) == "([0], 1)"
    assert {Slot(1): "a"}[Slot(1)] == "a"


UPDATES = {
    "set": lambda part, v: part.set(v),
    "add": lambda part, v: part.add(v),
    "subtract": lambda part, v: part.subtract(v),
    "multiply": lambda part, v: part.multiply(v),
    "divide": lambda part, v: part.divide(v),
    "power": lambda part, v: part.power(v),
    "min": lambda part, v: part.min(v),
    "max": lambda part, v: part.max(v),
}


@pytest.mark.parametrize("value", ["number", "row"])
@pytest.mark.parametrize("update", UPDATES)
def test_a_mask_that_is_not_known_takes_one_value_for_all_its_places(update, value):
    x = 1.5 + np.random.default_rng(8).normal(size=(4, 3)) ** 2
    v = np.float64(2.0) if value == "number" else np.array([0.5, 2.0, 3.0])

    def f(x, v):
        mask = x > 2.0 if value == "number" else x[:, 0] > 2.0
        return UPDATES[update](at(x)[mask], v)

    np.testing.assert_allclose(ad.jit(f)(x, v), f(x, v))
    np.testing.assert_allclose(ad.vmap(f, in_axes=(0, None))(np.stack([x, x + 1.0]), v), [f(x, v), f(x + 1.0, v)])
    total = lambda x, v: np.sum(np.sin(f(x, v)))
    for staged, plain in zip(*[wrap(ad.grad(total, (0, 1)))(x, v) for wrap in (ad.jit, lambda g: g)], strict=True):
        np.testing.assert_allclose(staged, plain)
    staged = ad.jit(ad.jacfwd(f))(x, v)
    np.testing.assert_allclose(staged, ad.jacfwd(f)(x, v))


def test_a_mask_that_is_not_known_keeps_the_dtype_and_refuses_values_for_single_places():
    f = lambda x, v: at(x)[x > 1].set(v)
    x = np.arange(3, dtype=np.float32)
    assert ad.jit(f)(x, 5.0).dtype == np.float32
    with pytest.raises(errors.NonConcreteBooleanIndexError):
        ad.jit(f)(x, np.ones(1))
